/* Products of the residual r with all working columns, made from x as the user gave it. With LAZY a
   product is made only where its bound does not rule it out. */
#include "column.h"
#include "l1-state.h"
#include <math.h>
#include <string.h>

double l1_weigh_rows(const struct problem *pb, const double *r, double *v) {
  simd->weighted(pb->m, v, pb->root_w, r);
  return simd->dot(pb->m, pb->root_w, r);
}

void l1_predict_rows(
    const struct problem *pb, int size, const int *feature, const double *beta, double *f) {
  double offset = 0;
  memset(f, 0, (size_t)pb->m * sizeof(double));
  for (int k = 0; k < size; k++)
    l1_add_column(pb, feature[k], beta[k], f, &offset);
  if (offset != 0)
    for (ptrdiff_t i = 0; i < pb->m; i++)
      f[i] += offset;
}

void l1_predict_model(const struct problem *pb, int size, const int *feature, const double *beta,
    const double *u, double *f) {
  l1_predict_rows(pb, size, feature, beta, f);
  for (ptrdiff_t l = 0; l < pb->q; l++)
    for (ptrdiff_t i = 0; i < pb->m; i++)
      f[i] += u[l] * pb->Q[i + l * pb->m] / pb->divisor[i];
}

/* out (n L) := value, for all coefficients of column j. */
static void l1_repeat(const struct problem *pb, ptrdiff_t j, double value, double *out) {
  for (ptrdiff_t l = 0; l < pb->L; l++)
    out[j * pb->L + l] = value;
}

void l1_column_norms(const struct problem *pb, double *norm) {
  const double rounding = L1_NORM_ROUNDING * (double)pb->m;
  for (ptrdiff_t j = 0; j < pb->n; j++)
    l1_repeat(pb, j, pb->usable[j] ? sqrt(pb->rss[j] + rounding * pb->squares[j]) : 0, norm);
}

/* ---- lazy products ---- */

/* A column is taken as the user gave it: what centring takes from it, Q takes as well. */
void l1_set_reach(struct l1_state *state) {
  const struct problem *pb = state->pb;
  const double weights = simd->dot(pb->m, pb->root_w, pb->root_w);
  double reach = 0, sum = 0;
  for (ptrdiff_t j = 0; is_sparse(&pb->x) && j < pb->n; j++) {
    const double centre = pb->centre[j] * pb->inv_scale[j];
    const double square = pb->squares[j] + weights * centre * centre;
    const int nonzeros = pb->x.p[j + 1] - pb->x.p[j];
    const double length = pb->usable[j] ? sqrt(square * (1 + L1_NORM_ROUNDING * (double)pb->m)) : 0;
    l1_repeat(pb, j, length, state->reach);
    l1_repeat(pb, j, sqrt(nonzeros) * length, state->sum);
    reach += length;
    sum += sqrt(nonzeros) * length;
  }
  state->ratio = reach > 0 ? sum / reach : 0;
}

/* The length of the longest output of v. */
static double l1_longest(const struct problem *pb, const double *v) {
  double square = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++)
    square = fmax(square, simd->dot(pb->m, v + l * pb->m, v + l * pb->m));
  return sqrt(square);
}

/* The same of the parts by which entries exceed the level. */
static double l1_longest_excess(const struct problem *pb, const double *v, double level) {
  double square = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++)
    square = fmax(square, simd->excess_square(pb->m, v + l * pb->m, level));
  return sqrt(square);
}

/* Each output of v in two parts, by which columns of x are bounded best on the whole. The levels
   are multiples of its root mean square: of normal entries one in eight exceeds the first, one in
   2000 the last. */
static struct l1_part l1_divide(const struct l1_state *state, const double *v) {
  static const double levels[] = {1.5, 2.5, 3.5};
  const ptrdiff_t m = state->pb->m;
  struct l1_part best = {.length = l1_longest(state->pb, v), .level = 0};
  const double root_mean_square = best.length / sqrt((double)m);
  double least = best.length;
  for (size_t i = 0; state->ratio > 0 && i < sizeof levels / sizeof *levels; i++) {
    const double level = levels[i] * root_mean_square;
    const double length = l1_longest_excess(state->pb, v, level);
    const double bound = length + state->ratio * level;
    if (bound < least) {
      least = bound;
      best = (struct l1_part){.length = length, .level = level};
    }
  }
  best.length *= 1 + L1_DRIFT_ROUNDING;
  best.level *= 1 + L1_DRIFT_ROUNDING;
  return best;
}

/* |a_k'v| is at most that for each v with those parts. */
static inline double l1_reach(const struct l1_state *state, ptrdiff_t k, struct l1_part part) {
  return state->reach[k] * part.length + state->sum[k] * part.level;
}

/* A direction costs a pass over all columns, where a value that is stored with its row takes about
   two of a dense column, and its products take n doubles. */
int l1_max_directions(const struct problem *pb, const struct l1_control *control) {
  if (control->screen != LAZY)
    return 0;
  const ptrdiff_t values = is_sparse(&pb->x) ? 2 * (ptrdiff_t)pb->x.p[pb->n] / pb->n : pb->m;
  return values < 16 ? 1 : values > 256 ? 16 : (int)(values / 16);
}

/* Takes note of how far r has moved since it was last looked at, rounded up; if it has, no product
   is fresh. */
static void l1_follow_residual(struct l1_state *state) {
  const ptrdiff_t m = l1_length(state->pb);
  for (ptrdiff_t i = 0; i < m; i++)
    state->rest[i] = state->r[i] - state->old_r[i];
  memcpy(state->old_r, state->r, (size_t)m * sizeof(double));
  const struct l1_part way = l1_divide(state, state->rest);
  state->drift.length += way.length;
  state->drift.level += way.level;
  if (way.length + way.level > 0 || state->passes == 0) {
    state->passes++;
    state->fresh_count = 0;
  }
}

/* along := the components of r along the basis, rest := the rest of r. */
static void l1_split_residual(struct l1_state *state) {
  const ptrdiff_t m = l1_length(state->pb);
  memcpy(state->rest, state->r, (size_t)m * sizeof(double));
  memset(state->along, 0, (size_t)state->directions * sizeof(double));
  /* twice, so that rest is orthogonal to rounding */
  for (int l = 0; l < 2 * state->directions; l++) {
    const int j = l % state->directions;
    const double part = simd->dot(m, state->basis + j * m, state->rest);
    simd->shift(m, state->rest, part, state->basis + j * m);
    state->along[j] += part;
  }
}

/* known (count) := a_k'(r - rest) of the columns listed, which count from `from`, from their
   products with the basis */
static void l1_known_products(
    const struct l1_state *state, ptrdiff_t from, ptrdiff_t count, const int *list, double *known) {
  simd->row_dots(count, list, state->directions,
      state->direction_corr + from * state->max_directions, state->max_directions, state->along,
      known);
}

/* Sets the bound of |a_k'r| for the present r; it grows with the drift. */
static void l1_set_bound(struct l1_state *state, ptrdiff_t k, double bound) {
  state->bound_base[k] = bound - l1_reach(state, k, state->drift);
}

/* Whether |a_k'r| may exceed `level`, by the known part of the product and rest. */
static int l1_may_exceed(struct l1_state *state, ptrdiff_t k, double known, double level,
    struct l1_part rest, double rounding) {
  if (state->directions == 0)
    return 1;
  const double bound = fabs(known) + l1_reach(state, k, rest);
  if (bound < state->bound_base[k] + l1_reach(state, k, state->drift))
    l1_set_bound(state, k, bound);
  return bound + state->reach[k] * rounding > level;
}

void l1_set_pull(struct l1_state *state, int count, const int *column, const double *beta) {
  if (state->pull == NULL)
    return;
  memset(state->pull, 0, (size_t)l1_coefficients(state->pb) * sizeof(double));
  state->pull_square = 0;
  for (int i = 0; i < count; i++) {
    const double pull = state->lambda * state->control.ridge * beta[i];
    state->pull[column[i]] = pull;
    state->pull_square += pull * pull;
    state->bound_base[column[i]] = INFINITY; /* its product is wanted, however small it is */
  }
}

static inline double l1_pull(const struct l1_state *state, ptrdiff_t k) {
  return state->pull == NULL ? 0 : state->pull[k];
}

/* What rounding may do to a bound, for a column of length 1. */
static double l1_rounding(const struct l1_state *state) {
  const ptrdiff_t rows = l1_length(state->pb);
  const double m = (double)rows;
  const double length = sqrt(simd->dot(rows, state->r, state->r));
  const double drift = state->drift.length + sqrt(m) * state->drift.level;
  return ROUNDING_UNIT * (m * (1 + state->directions) * length + 4 * drift);
}

ptrdiff_t l1_list_all(struct l1_state *state) {
  const ptrdiff_t n = l1_coefficients(state->pb);
  ptrdiff_t count = 0;
  for (ptrdiff_t k = 0; k < n; k++)
    if (!state->excluded[k])
      state->list[count++] = (int)k;
  return count;
}

/* list (from `from` on) := those of the columns from .. to - 1 whose product must be made. */
static struct l1_uncertain l1_list_block(struct l1_state *state, ptrdiff_t from, ptrdiff_t to,
    double level, const int *left_out, struct l1_part rest, double rounding) {
  struct l1_uncertain found = {0, 0};
  double known[L1_LIST_BLOCK];
  int above[L1_LIST_BLOCK], *list = state->list + from;
  const ptrdiff_t count =
      simd->list_above(to - from, state->bound_base + from, state->drift.length + rounding,
          state->reach + from, state->drift.level, state->sum + from, level, above);
  l1_known_products(state, from, count, above, known);
  for (ptrdiff_t l = 0; l < count; l++) {
    const ptrdiff_t k = from + above[l];
    if (l1_pull(state, k) == 0 && !l1_may_exceed(state, k, known[l], level, rest, rounding))
      continue;
    if (state->excluded[k] || l1_is_fresh(state, k) || (left_out != NULL && left_out[k] > 0))
      continue;
    found.avoidable += fabs(known[l]) < L1_AVOIDABLE * level;
    list[found.count++] = (int)k;
  }
  return found;
}

/* The bound of |a_k'r| with what the directions tell of it; *known is their part. */
static double l1_tightened_bound(
    struct l1_state *state, int k, struct l1_part rest, double rounding, double *known) {
  *known = 0;
  if (state->directions > 0) {
    l1_known_products(state, 0, 1, &k, known);
    l1_may_exceed(state, k, *known, 0, rest, rounding);
  }
  return state->bound_base[k] + l1_reach(state, k, state->drift) + state->reach[k] * rounding;
}

/* l1_list_block() for units that share a norm. */
static struct l1_uncertain l1_list_units(struct l1_state *state, ptrdiff_t from, ptrdiff_t to,
    double level, struct l1_part rest, double rounding) {
  const int width = l1_width(state->pb, &state->control);
  struct l1_uncertain found = {0, 0};
  int *list = state->list + from;
  for (ptrdiff_t first = from; first < to; first += width) {
    double square = 0, known_square = 0;
    int is_pulled = 0;
    if (state->excluded[first] || l1_is_fresh(state, first))
      continue;
    for (int l = 0; l < width; l++) {
      double known;
      const double bound = l1_tightened_bound(state, (int)first + l, rest, rounding, &known);
      is_pulled |= l1_pull(state, first + l) != 0;
      square += bound * bound;
      known_square += known * known;
    }
    if (!is_pulled && square <= level * level)
      continue;
    if (known_square < L1_AVOIDABLE * level * L1_AVOIDABLE * level)
      found.avoidable += width;
    for (int l = 0; l < width; l++)
      list[found.count++] = (int)first + l;
  }
  return found;
}

ptrdiff_t l1_list_likely(struct l1_state *state, double level) {
  ptrdiff_t count = 0;
  if (state->directions == 0)
    return 0;
  l1_split_residual(state);
  const ptrdiff_t all = l1_list_all(state);
  for (ptrdiff_t from = 0; from < all; from += L1_LIST_BLOCK) {
    const ptrdiff_t columns = all - from < L1_LIST_BLOCK ? all - from : L1_LIST_BLOCK;
    int *list = state->list + from;
    double known[L1_LIST_BLOCK];
    l1_known_products(state, 0, columns, list, known);
    for (ptrdiff_t l = 0; l < columns; l++)
      if (fabs(known[l]) > level)
        state->list[count++] = list[l];
  }
  return count;
}

/* list := the columns whose product must be made; returns how many. *avoidable counts those that
   one more direction would have spared. */
static ptrdiff_t l1_list_columns(
    struct l1_state *state, double level, const int *left_out, ptrdiff_t *avoidable) {
  const ptrdiff_t n = l1_coefficients(state->pb);
  const ptrdiff_t step = l1_list_step(state->pb, &state->control);
  const int grouped = state->control.grouped;
  ptrdiff_t count = 0;
  *avoidable = 0;
  if (state->control.screen != LAZY) {
    for (ptrdiff_t k = 0; k < n; k++)
      if (!state->excluded[k] && !l1_is_fresh(state, k))
        state->list[count++] = (int)k;
    return count;
  }
  l1_split_residual(state);
  const struct l1_part rest = l1_divide(state, state->rest);
  const double rounding = l1_rounding(state);
  struct l1_uncertain *found = state->uncertain;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(state->host->threads) if (n > L1_LIST_BLOCK)
#endif
  for (ptrdiff_t from = 0; from < n; from += step) {
    const ptrdiff_t to = from + step < n ? from + step : n;
    found[from / step] = grouped ? l1_list_units(state, from, to, level, rest, rounding)
                                 : l1_list_block(state, from, to, level, left_out, rest, rounding);
  }
  for (ptrdiff_t from = 0; from < n; from += step, found++) {
    memmove(state->list + count, state->list + from, (size_t)found->count * sizeof(int));
    count += found->count;
    *avoidable += found->avoidable;
  }
  if (rest.length + rest.level == 0) /* another direction would have no length */
    *avoidable = 0;
  return count;
}

/* More columns than that are worth several threads. */
enum { L1_SERIAL_COLUMNS = 256 };

/* v := root_w x, with its sums. */
static void l1_weigh_outputs(const struct problem *pb, const double *x, double *v, double *sum) {
  for (ptrdiff_t l = 0; l < pb->L; l++)
    sum[l] = l1_weigh_rows(pb, x + l * pb->m, v + l * pb->m);
}

/* corr[k] := a_k'v for the first `count` coefficients of list. The coefficients of a column
   follow each other there. */
static enum status l1_make_products(struct l1_state *state, ptrdiff_t count) {
  const struct problem *pb = state->pb;
  const ptrdiff_t block = 1 + (is_sparse(&pb->x) ? 200000 : 4000000 / (pb->m + 1));
  for (ptrdiff_t from = 0; from < count; from += block) {
    const ptrdiff_t to = from + block < count ? from + block : count;
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(state->host->threads) if (to - from > L1_SERIAL_COLUMNS)
#endif
    for (ptrdiff_t l = from; l < to; l++) {
      const int k = state->list[l];
      state->corr[k] =
          l1_output_product(pb, l1_column_of(pb, k), l1_output_of(pb, k), state->v, state->v_sum);
    }
    if (state->host->stop(state->host, state->done, state->total))
      return INTERRUPTED;
  }
  state->products += (double)count;
  return COMPLETE;
}

double l1_next_direction(struct l1_state *state, double *v, double *sum) {
  if (state->directions == state->max_directions)
    state->directions = 0;
  const ptrdiff_t m = l1_length(state->pb);
  l1_split_residual(state);
  const double rest = sqrt(simd->dot(m, state->rest, state->rest));
  double *direction = state->basis + state->directions * m;
  for (ptrdiff_t i = 0; i < m; i++)
    direction[i] = state->rest[i] / rest;
  l1_weigh_outputs(state->pb, direction, v, sum);
  return rest;
}

void l1_keep_direction(struct l1_state *state, ptrdiff_t count, double rest) {
#ifdef _OPENMP
#pragma omp parallel for schedule(static)                                                          \
    num_threads(state->host->threads) if (count > L1_LIST_BLOCK)
#endif
  for (ptrdiff_t from = 0; from < count; from += L1_LIST_BLOCK) {
    const ptrdiff_t columns = count - from < L1_LIST_BLOCK ? count - from : L1_LIST_BLOCK;
    const int *list = state->list + from;
    double known[L1_LIST_BLOCK];
    l1_known_products(state, 0, columns, list, known);
    for (ptrdiff_t l = 0; l < columns; l++) {
      double *corr = state->corr + list[l];
      state->direction_corr[list[l] * (ptrdiff_t)state->max_directions + state->directions] = *corr;
      *corr = known[l] + rest * *corr;
    }
  }
  state->directions++;
}

void l1_mark_fresh(struct l1_state *state, ptrdiff_t count) {
  for (ptrdiff_t l = 0; l < count; l++) {
    const int k = state->list[l];
    if (!l1_is_fresh(state, k))
      state->fresh[state->fresh_count++] = k;
    state->pass[k] = state->passes;
    l1_set_bound(state, k, fabs(state->corr[k]));
  }
}

void l1_note_products(struct l1_state *state, int count, const int *column) {
  l1_follow_residual(state);
  memcpy(state->list, column, (size_t)count * sizeof(int));
  l1_mark_fresh(state, count);
}

/* list := all columns, corr := their products with r, from those with one more direction. */
static enum status l1_add_direction(struct l1_state *state, ptrdiff_t *count) {
  const double rest = l1_next_direction(state, state->v, state->v_sum);
  *count = l1_list_all(state);
  if (l1_make_products(state, *count) != COMPLETE)
    return INTERRUPTED;
  l1_keep_direction(state, *count, rest);
  return COMPLETE;
}

/* |a_k'r - pull_k|, or its norm over the unit that begins with k. */
static double l1_unit_product(const struct l1_state *state, int k, int width) {
  double square = 0;
  if (width == 1)
    return fabs(state->corr[k] - l1_pull(state, k));
  for (int l = k; l < k + width; l++)
    square += pow(state->corr[l] - l1_pull(state, l), 2);
  return sqrt(square);
}

/* Takes note of the products with r that were made of the first `count` columns of list. */
static void l1_take_fresh(struct l1_state *state, ptrdiff_t count) {
  const int width = l1_width(state->pb, &state->control);
  l1_mark_fresh(state, count);
  for (ptrdiff_t l = 0; l < state->fresh_count; l += width) {
    const int k = state->fresh[l];
    const double corr = l1_unit_product(state, k, width);
    if (corr > state->max_abs_corr && !state->excluded[k])
      state->max_abs_corr = corr;
  }
}

enum status l1_correlate(struct l1_state *state, double level, const int *left_out) {
  const struct problem *pb = state->pb;
  ptrdiff_t avoidable;
  l1_follow_residual(state);
  ptrdiff_t count = l1_list_columns(state, level, left_out, &avoidable);
  const int pays = (double)avoidable >
                   L1_DIRECTION_PAYS * (double)l1_coefficients(pb) + (double)state->fresh_count;
  if (pays && state->control.shares) {
    state->waiting = 1;
    return WAITING;
  }
  if (!pays)
    l1_weigh_outputs(pb, state->r, state->v, state->v_sum);
  const enum status status =
      pays ? l1_add_direction(state, &count) : l1_make_products(state, count);
  if (status != COMPLETE)
    return INTERRUPTED;
  state->rounds++;
  /* with LAZY, products that were not made are at most level */
  state->max_abs_corr = state->control.screen == LAZY ? level : 0;
  l1_take_fresh(state, count);
  return COMPLETE;
}

enum status l1_correlate_columns(struct l1_state *state, int count, const int *column) {
  ptrdiff_t listed = 0;
  for (int i = 0; i < count; i++)
    if (!l1_is_fresh(state, column[i]))
      state->list[listed++] = column[i];
  l1_weigh_outputs(state->pb, state->r, state->v, state->v_sum);
  if (l1_make_products(state, listed) != COMPLETE)
    return INTERRUPTED;
  l1_take_fresh(state, listed);
  return COMPLETE;
}
