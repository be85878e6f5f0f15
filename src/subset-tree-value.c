/* Sets of a tree: their values, the best one known, and lists of all that are good enough. */
#include "simd.h"
#include "subset-set.h"
#include "subset-tree.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

double tree_target(const struct tree *t) {
  return fmin(t->result->value, t->control->cutoff);
}

/* ---- values ---- */

/* The columns of some units, in t->column; returns how many. */
static ptrdiff_t list_columns(struct tree *t, int count, const int *unit) {
  ptrdiff_t columns = 0;
  for (int i = 0; i < count; i++)
    for (int j = t->terms->unit[unit[i]]; j < t->terms->unit[unit[i] + 1]; j++)
      t->column[columns++] = j;
  return columns;
}

double tree_penalised(struct tree *t, int count, const int *unit) {
  const struct gram *gram = &t->terms->gram;
  const ptrdiff_t p = list_columns(t, count, unit);
  for (ptrdiff_t j = 0; j < p; j++) {
    const double *C = dual_take_column(&t->dual, t->column[j]);
    for (ptrdiff_t i = j + 1; i < p; i++)
      t->factor[i + j * p] = C[t->column[i]];
    t->factor[j + j * p] = 1 + gram->diagonal[t->column[j]];
  }
  factor_in_place(p, t->factor, p, DBL_MIN);
  double value = t->terms->total;
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    for (ptrdiff_t j = 0; j < p; j++)
      t->solved[j] = gram->b[t->column[j] + l * gram->n];
    solve_transposed(p, t->factor, p, t->solved);
    value -= simd->dot(p, t->solved, t->solved);
  }
  return value;
}

static double tree_value(struct tree *t, int count, const int *unit) {
  return t->control->task == LEAST_HELD_OUT ? held_value(t, count, unit)
                                            : tree_penalised(t, count, unit);
}

/* ---- the best set ---- */

double tree_bound(const struct tree *t) {
  return fmin(tree_target(t), fmin(t->in_hand, store_least(&t->store)));
}

void tree_note(struct tree *t) {
  struct tree_result *result = t->result;
  if (result->traced == TREE_TRACE)
    return;
  double *row = result->trace + 3 * result->traced++;
  row[0] = result->nodes;
  row[1] = tree_bound(t);
  row[2] = result->value;
}

void tree_offer(struct tree *t) {
  struct tree_result *result = t->result;
  subset_sort(t->trial, t->control->k);
  const double value = tree_value(t, t->control->k, t->trial);
  if (!(value < result->value))
    return;
  memcpy(result->set, t->trial, (size_t)t->control->k * sizeof(int));
  result->size = t->control->k;
  result->value = value;
  tree_note(t);
}

/* ---- exchanges of units of one column ---- */

static int is_single(const struct tree *t) {
  return t->terms->units == t->terms->gram.n;
}

/* The given units, with which every set begins. */
static void exchange_given(struct tree *t) {
  struct exchange *x = &t->exchange;
  exchange_clear(x);
  x->given = 0;
  for (int i = 0; i < t->control->given; i++)
    x->given += exchange_add(x, t->control->given_unit[i]);
}

/* Offers the set of the exchange if it is whole. */
static void offer_exchanged(struct tree *t) {
  if (t->exchange.size < t->control->k || t->exchange.given < t->control->given)
    return;
  exchange_descend(&t->exchange);
  memcpy(t->trial, t->exchange.column, (size_t)t->control->k * sizeof(int));
  tree_offer(t);
}

static void forward_columns(struct tree *t) {
  struct exchange *x = &t->exchange;
  exchange_given(t);
  int next = 0;
  while (x->size < t->control->k && (next = exchange_best_addition(x)) >= 0)
    exchange_add(x, next);
  offer_exchanged(t);
}

static void exchange_columns(struct tree *t) {
  const int given = t->control->given;
  exchange_given(t);
  for (int i = 0; i < t->control->k; i++)
    if (subset_index(t->control->given_unit, given, t->trial[i]) < 0)
      exchange_add(&t->exchange, t->trial[i]);
  offer_exchanged(t);
}

/* ---- exchanges of units of several columns, among the likely ones ---- */

/* What member g adds to the fixed units of the dual: b'(I + C)^-1 b of its columns, the fixed ones
   taken out. O(p^3) for p columns */
static double unit_gain(struct tree *t, int g) {
  struct dual *d = &t->dual;
  const ptrdiff_t first = d->first[g], p = d->first[g + 1] - first, ld = d->max_columns;
  for (ptrdiff_t j = 0; j < p; j++) {
    const double *C = dual_take_column(d, d->at[first + j]);
    for (ptrdiff_t i = j + 1; i < p; i++)
      t->factor[i + j * p] = C[d->at[first + i]];
    t->factor[j + j * p] = 1 + t->terms->gram.diagonal[d->at[first + j]];
    for (ptrdiff_t r = 0; r < d->fixed; r++)
      simd->shift(
          p - j, t->factor + j + j * p, d->V[first + j + r * ld], d->V + first + j + r * ld);
  }
  factor_in_place(p, t->factor, p, DBL_MIN);
  double gain = 0;
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
    memcpy(t->solved, d->b + first + l * ld, (size_t)p * sizeof(double));
    solve_transposed(p, t->factor, p, t->solved);
    gain += simd->dot(p, t->solved, t->solved);
  }
  return gain;
}

/* The likely unit that lowers F most beside `count` units, and the F that it leads to; -1 when
   there is none. */
static int best_addition(struct tree *t, int count, const int *unit, double *value) {
  struct dual *d = &t->dual;
  ptrdiff_t columns = 0;
  int members = 0, best = -1;
  for (int i = 0; i < t->likely; i++) {
    const int g = t->likely_unit[i];
    columns += t->terms->unit[g + 1] - t->terms->unit[g];
    if (columns <= d->max_columns && subset_index(unit, count, g) < 0)
      t->member[members++] = g;
  }
  dual_begin(d, count, unit, members, t->member, 1);
  *value = INFINITY;
  for (int g = 0; g < members; g++) {
    const double with = d->total - unit_gain(t, g);
    if (with < *value) {
      *value = with;
      best = t->member[g];
    }
  }
  return best;
}

/* Makes the best exchange of a unit that is not given, in t->swap. 0 when none lowers F. */
static int exchange_unit(struct tree *t, double *value) {
  const int k = t->control->k;
  double least = *value - TIE * t->terms->total;
  int place = -1, unit = -1;
  for (int i = t->control->given; i < k; i++) {
    double with;
    const int last = t->swap[k - 1], out = t->swap[i];
    t->swap[i] = last;
    const int g = best_addition(t, k - 1, t->swap, &with);
    t->swap[i] = out;
    if (g >= 0 && g != out && with < least) {
      least = with;
      place = i;
      unit = g;
    }
  }
  if (place < 0)
    return 0;
  t->swap[place] = unit;
  *value = least;
  return 1;
}

/* Offers what exchanges make of the set in t->swap, which begins with the given units. */
static void exchange_units(struct tree *t) {
  const int k = t->control->k;
  double value = tree_penalised(t, k, t->swap);
  while (exchange_unit(t, &value))
    ;
  memcpy(t->trial, t->swap, (size_t)k * sizeof(int));
  tree_offer(t);
}

static void forward_units(struct tree *t) {
  const int given = t->control->given;
  double value;
  int count = given;
  for (int i = 0; i < given; i++)
    t->swap[i] = t->control->given_unit[i];
  for (; count < t->control->k; count++)
    if ((t->swap[count] = best_addition(t, count, t->swap, &value)) < 0)
      return;
  exchange_units(t);
}

/* t->swap := the trial, the given units first. */
static void swap_trial(struct tree *t) {
  const int given = t->control->given;
  int count = given;
  for (int i = 0; i < given; i++)
    t->swap[i] = t->control->given_unit[i];
  for (int i = 0; i < t->control->k; i++)
    if (subset_index(t->swap, given, t->trial[i]) < 0)
      t->swap[count++] = t->trial[i];
}

/* ---- sets that the search begins with, and those that it comes by ---- */

void tree_offer_forward(struct tree *t) {
  int count = t->control->given;
  for (int i = 0; i < count; i++)
    t->trial[i] = t->control->given_unit[i];
  for (int g = 0; count < t->control->k; g++)
    if (subset_index(t->trial, count, g) < 0)
      t->trial[count++] = g;
  tree_offer(t);
  if (is_single(t))
    forward_columns(t);
  else
    forward_units(t);
}

void tree_offer_rounded(struct tree *t, const struct tree_node *node, int polished) {
  const int k = t->control->k;
  memcpy(t->trial, node->in, (size_t)node->ins * sizeof(int));
  int count = node->ins;
  const int chosen = list_largest(node->support, node->share, k - node->ins, t->order);
  for (int i = 0; i < chosen; i++)
    t->trial[count++] = node->unit[t->order[i]];
  for (int f = 0; count < k; f++)
    if (subset_index(t->trial, count, node->free[f]) < 0)
      t->trial[count++] = node->free[f];
  tree_offer(t);
  if (!polished)
    return;
  if (is_single(t)) {
    exchange_columns(t);
  } else {
    swap_trial(t);
    exchange_units(t);
  }
}

/* ---- all sets of a node ---- */

static double combinations(int n, int k) {
  double count = 1;
  for (int i = 1; i <= k; i++)
    count = count * (n - k + i) / i;
  return rint(count);
}

/* The next choice of k of n, ascending; 0 after the last one. */
static int next_choice(int n, int k, int *choice) {
  int i = k - 1;
  while (i >= 0 && choice[i] == n - k + i)
    i--;
  if (i < 0)
    return 0;
  choice[i]++;
  for (int j = i + 1; j < k; j++)
    choice[j] = choice[j - 1] + 1;
  return 1;
}

static void list_set(struct tree *t) {
  struct tree_result *result = t->result;
  const int k = t->control->k;
  tree_offer(t);
  memcpy(result->sets + (ptrdiff_t)result->listed * k, t->trial, (size_t)k * sizeof(int));
  result->values[result->listed++] = tree_value(t, k, t->trial);
}

void tree_list_all(struct tree *t, const struct tree_node *node) {
  const int k = t->control->k, more = k - node->ins;
  t->result->count += combinations(node->frees, more);
  for (int i = 0; i < more; i++)
    t->order[i] = i;
  int left = 1;
  while (left && t->result->listed < t->control->kept) {
    memcpy(t->trial, node->in, (size_t)node->ins * sizeof(int));
    for (int i = 0; i < more; i++)
      t->trial[node->ins + i] = node->free[t->order[i]];
    list_set(t);
    left = next_choice(node->frees, more, t->order);
  }
}
