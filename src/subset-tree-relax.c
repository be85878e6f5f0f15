/* The relaxation of a node, the prices of its free units, and the units that are certainly in or
   out.

   With the sorted gains c_(1) >= c_(2) >= ... of the free units, of which k are needed, and the
   bound D, a unit is out of every set that is of use if D + c_(k) - c_j exceeds the limit, and in
   if D + c_j - c_(k+1) does. */
#include "simd.h"
#include "subset-tree.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

enum {
  TREE_ADDED = 150, /* units that are added at a time when others have larger gains */
  TREE_ROUNDS = 20,
  TREE_STEPS = 50
};

/* ---- limits ---- */

static int is_inclusive(const struct tree *t) {
  return t->control->task == ALL_WITHIN || t->control->first;
}

/* By how much values must differ to be told apart: rounding in a bound of F moves the bound F^2 / Q
   of a leave-one-out error as its derivative says. */
static double tree_tie(const struct tree *t) {
  double slope = 1;
  if (t->control->task == LEAST_HELD_OUT)
    slope = t->Q > 0 ? 2 * sqrt(fmin(tree_target(t), DBL_MAX) / t->Q) : 0;
  return fmax(TIE * t->scale, 2 * slope * t->margin);
}

/* Sets with larger values are of no use. */
double tree_useful(struct tree *t) {
  if (is_inclusive(t))
    return t->control->cutoff;
  const double tie = tree_tie(t);
  t->result->margin = fmax(t->result->margin, tie);
  return tree_target(t) - tie;
}

/* t->limit := the largest F of a set of the node in hand that is of use: a leave-one-out error is
   at least F^2 / Q. */
void tree_set_limit(struct tree *t) {
  const double useful = tree_useful(t);
  t->limit = t->control->task == LEAST_HELD_OUT ? sqrt(fmax(useful, 0) * t->Q) : useful;
}

/* ---- prices ---- */

static int unit_columns(const struct tree *t, int g) {
  return t->terms->unit[g + 1] - t->terms->unit[g];
}

/* t := t - beta C_j, at the columns listed, or at all where most are. */
static void tree_shift(
    struct tree *t, ptrdiff_t j, const double *beta, ptrdiff_t ld, ptrdiff_t listed) {
  const ptrdiff_t n = t->terms->gram.n;
  const double *C = dual_take_column(&t->dual, j);
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
    double *out = t->t + l * n;
    const double f = beta[l * ld];
    if (4 * listed > n)
      simd->shift(n, out, f, C);
    else
      for (ptrdiff_t i = 0; i < listed; i++)
        out[t->column[i]] -= f * C[t->column[i]];
  }
}

/* The sum over outputs of beta (b - t) of column j, which is added to *length, too. */
static double tree_explained(
    const struct tree *t, ptrdiff_t j, const double *beta, ptrdiff_t ld, double *length) {
  const struct gram *gram = &t->terms->gram;
  double sum = 0, square = 0;
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    sum += beta[l * ld] * (gram->b[j + l * gram->n] - t->t[j + l * gram->n]);
    square += beta[l * ld] * beta[l * ld];
  }
  *length += sqrt(square * gram->diagonal[j]);
  return sum;
}

double tree_gain(const struct tree *t, int g) {
  double sum = 0;
  for (int j = t->terms->unit[g]; j < t->terms->unit[g + 1]; j++)
    for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
      const double v = t->t[j + l * t->terms->gram.n];
      sum += v * v;
    }
  return sum;
}

/* The columns whose prices count: free ones and fixed ones. */
static ptrdiff_t list_priced(struct tree *t, const struct tree_node *node) {
  ptrdiff_t listed = 0;
  for (int i = 0; i < t->dual.fixed; i++)
    t->column[listed++] = t->dual.fixed_column[i];
  for (int f = 0; f < node->frees; f++)
    for (int j = t->terms->unit[node->free[f]]; j < t->terms->unit[node->free[f] + 1]; j++)
      t->column[listed++] = j;
  return listed;
}

void tree_residual(struct tree *t) {
  const struct dual *d = &t->dual;
  const ptrdiff_t m = t->terms->gram.m;
  const double *X = t->terms->gram.X;
  memcpy(t->A, t->control->Y, (size_t)(m * t->terms->gram.L) * sizeof(double));
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++) {
    for (int i = 0; i < d->fixed; i++)
      simd->shift(m, t->A + l * m, t->beta[i + l * d->max_fixed], X + d->fixed_column[i] * m);
    for (ptrdiff_t j = 0; j < d->q; j++)
      simd->shift(m, t->A + l * m, d->beta[j + l * d->max_support], X + d->at[d->support[j]] * m);
  }
}

/* What rounding may do to a bound whose coefficients have columns of this length in all. */
static double tree_rounding(const struct tree *t, double length, double largest_gain) {
  const double columns = (double)t->set_columns, g = ((double)t->terms->gram.m + columns) * 1.1e-16;
  const double y = sqrt(t->terms->total);
  return g * (length * length + 2 * columns * sqrt(largest_gain) * t->longest * (y + length));
}

/* Gains of all free units at the dual's point, and the bound of F with its margin. */
void tree_price(struct tree *t, const struct tree_node *node) {
  const struct gram *gram = &t->terms->gram;
  struct dual *d = &t->dual;
  const ptrdiff_t n = gram->n, listed = list_priced(t, node);
  dual_fixed_beta(d, t->beta);
  for (ptrdiff_t l = 0; l < gram->L; l++)
    for (ptrdiff_t i = 0; i < listed; i++)
      t->t[t->column[i] + l * n] = gram->b[t->column[i] + l * n];
  for (int i = 0; i < d->fixed; i++)
    tree_shift(t, d->fixed_column[i], t->beta + i, d->max_fixed, listed);
  for (ptrdiff_t j = 0; j < d->q; j++)
    tree_shift(t, d->at[d->support[j]], d->beta + j, d->max_support, listed);
  double bound = t->terms->total, length = 0, largest = 0;
  for (int i = 0; i < d->fixed; i++)
    bound -= tree_explained(t, d->fixed_column[i], t->beta + i, d->max_fixed, &length);
  for (ptrdiff_t j = 0; j < d->q; j++)
    bound -= tree_explained(t, d->at[d->support[j]], d->beta + j, d->max_support, &length);
  for (int i = 0; i < node->ins; i++) {
    const double gain = tree_gain(t, node->in[i]);
    largest = fmax(largest, gain);
    bound -= gain;
  }
  for (int f = 0; f < node->frees; f++)
    t->gain[f] = tree_gain(t, node->free[f]);
  const int chosen = list_largest(node->frees, t->gain, needed(t, node), t->order);
  for (int i = 0; i < chosen; i++)
    bound -= t->gain[t->order[i]];
  largest = fmax(largest, chosen > 0 ? t->gain[t->order[0]] : 0);
  t->margin = tree_rounding(t, length, largest);
  t->bound = bound - t->margin;
}

/* ---- relaxations ---- */

static void add_member(struct tree *t, int g, double share) {
  t->member[t->members] = g;
  t->member_share[t->members++] = share;
  t->mark[g] = 1;
}

/* The node's support and likely units, which sum to what is needed. */
void tree_list_members(struct tree *t, const struct tree_node *node) {
  const int more = needed(t, node);
  ptrdiff_t columns = 0;
  t->members = 0;
  memset(t->mark, 1, (size_t)t->terms->units);
  for (int f = 0; f < node->frees; f++)
    t->mark[node->free[f]] = 0;
  for (int i = 0; i < node->support; i++) {
    add_member(t, node->unit[i], node->share[i]);
    columns += unit_columns(t, node->unit[i]);
  }
  int spread = t->members;
  for (int i = 0; i < t->likely; i++) {
    const int g = t->likely_unit[i];
    columns += unit_columns(t, g);
    if (!t->mark[g] && (columns <= TREE_MEMBERS || t->members < more))
      add_member(t, g, 0);
  }
  for (int f = 0; t->members < more; f++)
    if (!t->mark[node->free[f]])
      add_member(t, node->free[f], 0);
  spread = spread < more ? more : spread;
  dual_fit_shares(spread, t->member_share, more);
}

void tree_begin(struct tree *t, const struct tree_node *node) {
  dual_begin(&t->dual, node->ins, node->in, t->members, t->member, needed(t, node));
  memcpy(t->dual.share, t->member_share, (size_t)t->members * sizeof(double));
}

static void tree_take_support(struct tree *t, struct tree_node *node) {
  node->support = 0;
  for (int i = 0; i < t->members; i++) {
    t->member_share[i] = t->dual.share[i];
    if (t->dual.share[i] > 0) {
      node->unit[node->support] = t->member[i];
      node->share[node->support++] = t->dual.share[i];
    }
  }
}

/* Adds the free units that have more gain than one of the support; 0 when there is none. */
static int tree_add_members(struct tree *t, const struct tree_node *node) {
  double least = DBL_MAX;
  ptrdiff_t columns = t->dual.columns;
  for (int i = 0; i < t->members; i++)
    if (t->member_share[i] > 0)
      least = fmin(least, t->dual.gain[i]);
  const int before = t->members;
  const int count = list_largest(node->frees, t->gain, before + TREE_ADDED, t->order);
  for (int i = 0; i < count && t->members < before + TREE_ADDED; i++) {
    const int g = node->free[t->order[i]];
    if (t->gain[t->order[i]] <= least)
      break;
    columns += unit_columns(t, g);
    if (!t->mark[g] && columns <= t->dual.max_columns)
      add_member(t, g, 0);
  }
  return t->members > before;
}

/* Solves the relaxation of a node as far as its bound matters, and prices its free units. */
void tree_relax(struct tree *t, struct tree_node *node) {
  if (t->control->task == LEAST_HELD_OUT)
    held_rows(t, node->ins, node->in);
  tree_set_limit(t);
  const struct dual_goal goal = {.limit = t->limit,
      .slack = TREE_SLACK,
      .tolerance = TREE_ROUNDING * t->terms->total,
      .max_steps = TREE_STEPS};
  tree_list_members(t, node);
  for (int round = 0; round < TREE_ROUNDS; round++) {
    tree_begin(t, node);
    dual_minimise(&t->dual, &goal);
    tree_take_support(t, node);
    tree_price(t, node);
    t->dual.bound = t->bound;
    if (dual_reached(&t->dual, &goal) || !tree_add_members(t, node))
      return;
  }
}

/* ---- tests ---- */

static void drop_support(struct tree *t, struct tree_node *node) {
  int kept = 0;
  for (int i = 0; i < node->support; i++)
    if (!t->mark[node->unit[i]]) {
      node->unit[kept] = node->unit[i];
      node->share[kept++] = node->share[i];
    }
  node->support = kept;
}

/* Moves the units that are certainly in, or out of, every set of use. 0 when the node has no such
   set. */
int tree_settle(struct tree *t, struct tree_node *node) {
  const int more = needed(t, node);
  tree_set_limit(t);
  if (t->bound > t->limit)
    return 0;
  const int count = list_largest(node->frees, t->gain, more + 1, t->order);
  const double last = t->gain[t->order[more - 1]];
  const double next = count > more ? t->gain[t->order[more]] : -INFINITY;
  int kept = 0;
  for (int f = 0; f < node->frees; f++) {
    const int g = node->free[f];
    const double gain = t->gain[f];
    t->mark[g] = 1;
    if (gain > next && t->bound + gain - next > t->limit) {
      node->in[node->ins++] = g;
    } else if (!(gain < last && t->bound + last - gain > t->limit)) {
      t->mark[g] = 0;
      t->gain[kept] = gain;
      node->free[kept++] = g;
    }
  }
  node->frees = kept;
  drop_support(t, node);
  return node->frees >= needed(t, node);
}
