/* The error of every candidate of a greedy search by folds, by recurrence.

   Of a candidate and a fold H four kinds of numbers give its error: eta = c'q, |q|^2 and, of each
   output, g'c and g'q, where c = C_i and g are taken at the rows of H and q = (G_HH)^-1 c. A move
   by column b, with t = x_i'c_b, f = t / kappa_b and s = 1 / (kappa_b - eta_b), changes them by

     psi = c'q_b, xi = c'(G_HH)^-1 q_b, phi = s (psi - t)
     eta  += (phi - f) psi - f phi eta_b          |q|^2 += phi (2 xi + phi |q_b|^2)
     g'c  -= alpha_b psi + f (g'c_b - alpha_b eta_b)
     g'q  += phi (g'q_b - alpha_b |q_b|^2) - alpha_b xi

   and psi and xi are sums over the rows of H of x_i with two vectors, less products that are known:
   c = x_i - QQ'x_i - sum_l (t_l / kappa_l) c_l. So one reading of x a move gives every error, and
   candidates are computed from their columns only where rounding leaves a doubt.
   docs/greedy-skipping.md derives it. */
#include "greedy-lazy.h"
#include "tolerance.h"
#include <float.h>
#include <string.h>

static size_t recur_state_size(const struct problem *pb, ptrdiff_t folds) {
  const ptrdiff_t columns = (pb->n + FOLD_TILE - 1) / FOLD_TILE * FOLD_TILE;
  return (size_t)(columns * recurrence_numbers(pb->L) * folds);
}

int recur_fits(const struct problem *pb, const struct folds *folds) {
  const double numbers = (double)(recurrence_numbers(pb->L) * all_folds(folds) * pb->n);
  /* products with U are those with Q; no more than what the engine takes that scores every
   * candidate
   */
  return pb->held == pb->Q && numbers <= fold_dense_size(pb, folds) && numbers <= FOLD_MOST_VALUES;
}

void recur_lay_out(const struct greedy *s, struct lazy_folds *folds, struct arena *arena) {
  folds->can_recur = recur_fits(s->pb, s->folds);
  folds->state =
      alloc_doubles(arena, folds->can_recur ? (ptrdiff_t)recur_state_size(s->pb, folds->count) : 0);
  folds->QX = alloc_doubles(arena, folds->can_recur ? s->pb->n * s->pb->q : 0);
}

/* The state of the tile that begins at column `from`. */
static double *recur_state(const struct greedy *s, ptrdiff_t from) {
  const struct lazy_folds *folds = s->lazy->folds;
  return folds->state + from * recurrence_numbers(s->pb->L) * folds->count;
}

/* ---- from the columns themselves ---- */

static void recur_begin_column(struct greedy *s, ptrdiff_t i, double *scratch) {
  const struct lazy *lazy = s->lazy;
  const struct lazy_folds *folds = lazy->folds;
  const ptrdiff_t m = s->pb->m, count = recurrence_numbers(s->pb->L);
  double *c = scratch, *work = c + m, *numbers = work + folds->work_size, *f = work;
  double *state = recur_state(s, i / FOLD_TILE * FOLD_TILE) + i % FOLD_TILE;
  if (!lazy_is_candidate(s, i))
    return;
  working_column(s->pb, i, c);
  for (int l = 0; l < s->size; l++)
    f[l] = lazy->inverse_kappa[l] * lazy->W[l][i];
  simd->shift_all(m, c, s->size, lazy->c, m, f);
  for (ptrdiff_t H = 0; H < folds->count; H++) {
    fold_numbers(s, folds->fold + H, c, work, numbers);
    for (ptrdiff_t p = 0; p < count; p++)
      state[FOLD_TILE * (p + count * H)] = numbers[p];
  }
}

/* By how much an error in the sum of squares of one fold changes the criterion, at the most. */
static double recur_slope(const struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  double slope = lazy_is_of_groups(s) ? 0 : 1;
  for (ptrdiff_t H = 0; H < folds->count && lazy_is_of_groups(s); H++)
    slope = fmax(slope, GROUPS_SLOPE * lazy_weight(s) * folds->inverse_null[H]);
  return slope;
}

enum status recur_begin(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  struct lazy_folds *folds = lazy->folds;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, q = s->pb->q;
  const ptrdiff_t count = lazy_list_candidates(s, lazy->list);
  folds->recurring = 1;
  folds->slope = recur_slope(s);
  s->out->work.recurrence_from = s->size + 1;
  for (ptrdiff_t l = 0; l < q; l++) {
    lazy->v[l] = s->pb->Q + l * m;
    lazy->out[l] = folds->QX + l * n;
  }
  memset(folds->state, 0, recur_state_size(s->pb, folds->count) * sizeof(double));
  if (q > 0 && lazy_products(s, lazy->list, count, q) != COMPLETE)
    return INTERRUPTED;
  s->out->work.columns_read += (double)count;
  return greedy_each_column(
      s, (double)(m * (2 + folds->repeats) * (1 + folds->rank)), recur_begin_column);
}

/* ---- a move ---- */

/* The vectors that x is multiplied with: c_b, q_b and (G_HH)^-1 q_b, weighted as its rows are. */
static void recur_fill_vectors(struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m;
  double *sums = folds->v_sums;
  for (ptrdiff_t r = 0, f = 0; r < folds->repeats; r++)
    for (const ptrdiff_t end = f + s->part[r].count; f < end; f++) {
      const struct lazy_fold *fold = folds->fold + f;
      sums[2 * f] = sums[2 * f + 1] = 0;
      for (ptrdiff_t p = 0; p < fold->h; p++) {
        const ptrdiff_t row = fold->rows[p];
        const double w = s->pb->root_w[row];
        double *v = folds->v + 3 * (row + r * m);
        v[0] = w * fold->c[p];
        sums[2 * f] += v[1] = w * fold->q[p];
        sums[2 * f + 1] += v[2] = w * fold->Mq[p];
      }
    }
  sums[2 * folds->count] = simd->dot(m, s->pb->root_w, s->c_b);
}

static void recur_gather(const double *t, double times, ptrdiff_t columns, double *along) {
  for (ptrdiff_t i = 0; i < columns; i++)
    along[i] = times * t[i];
}

/* The products of a tile with the columns of U as they were before the move: known ones. */
static void recur_gather_along(const struct greedy *s, ptrdiff_t from, double *along) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t n = s->pb->n, q = s->pb->q, columns = greedy_min(FOLD_TILE, n - from);
  if (columns < FOLD_TILE)
    memset(along, 0, (size_t)(FOLD_TILE * (q + s->size - 1)) * sizeof(double));
  for (ptrdiff_t l = 0; l < q; l++)
    recur_gather(lazy->folds->QX + from + l * n, 1, columns, along + l * FOLD_TILE);
  for (ptrdiff_t l = 0; l < s->size - 1; l++)
    recur_gather(
        lazy->W[l] + from, sqrt(lazy->inverse_kappa[l]), columns, along + (q + l) * FOLD_TILE);
}

/* t of the move, kappa and g of a tile, and the recurrences. */
static void recur_move_tile(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const struct lazy *lazy = s->lazy;
  const struct lazy_folds *folds = lazy->folds;
  const struct greedy_bounds *bounds = &lazy->bounds;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, columns = greedy_min(FOLD_TILE, n - from);
  const int last = s->size - 1;
  const double inverse = lazy->inverse_kappa[last], *gamma = lazy->gamma + last * L;
  tile_products(s, from, scratch);
  recur_gather_along(s, from, scratch->along);
  for (ptrdiff_t i = 0; i < columns; i++) {
    const double t = scratch->total[i];
    lazy->W[last][from + i] = t;
    bounds->kappa[from + i] -= inverse * t * t;
    for (ptrdiff_t l = 0; l < L; l++)
      bounds->g[from + i + l * n] -= gamma[l] * t;
  }
  const struct recurrence_move move = {.folds = folds->count,
      .L = L,
      .rank = folds->rank - 1,
      .stride = folds->stride,
      .fold = folds->move,
      .inverse = inverse};
  const struct recurrence_tile tile = {.t = scratch->total,
      .sums = scratch->sums,
      .along = scratch->along,
      .state = recur_state(s, from)};
  simd->recur(&move, &tile);
}

/* ---- errors ---- */

/* value := the criterion of groups times lazy_weight(), from the errors of the folds one by one. */
static void recur_groups_tile(
    const struct greedy *s, const struct recurrence_tile *tile, double *value, double *worst) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t L = s->pb->L, numbers = recurrence_numbers(L) * FOLD_TILE;
  struct tile_tally tally = {0};
  double error[FOLD_TILE];
  for (ptrdiff_t H = 0; H < folds->count; H++) {
    struct recurrence_tile fold = *tile;
    fold.state = tile->state + H * numbers;
    simd->recurred_error(1, L, &fold, error, worst);
    if (folds->inverse_null[H] > 0)
      simd->tally(folds->inverse_null[H], folds->P[H], error, &tally);
  }
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    const struct ratio_tally ratios = {.count = tally.count,
        .mean = tally.mean[i],
        .spread = tally.spread[i],
        .largest = tally.largest[i]};
    value[i] = lazy_weight(s) * criterion_of_tally(s->control->criterion, &ratios);
  }
}

/* Errors from the state, lowered by what rounding may have done to them; -DBL_MAX where that may be
   much. */
static void recur_bound_tile(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const struct lazy *lazy = s->lazy;
  const struct lazy_folds *folds = lazy->folds;
  const struct greedy_bounds *bounds = &lazy->bounds;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, columns = greedy_min(FOLD_TILE, n - from);
  const double y_norm = lazy_y_norm(s), lambda = s->control->lambda, P = lazy->P;
  const double rounding =
      2 * lazy_rounding(s) * folds->max_eigen * folds->max_eigen * y_norm * (sqrt(P) + y_norm);
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    scratch->kappa[i] = i < columns ? bounds->kappa[from + i] : 1;
    for (ptrdiff_t l = 0; l < L; l++)
      scratch->products[i + l * FOLD_TILE] = i < columns ? bounds->g[from + i + l * n] : 0;
  }
  const struct recurrence_tile tile = {
      .kappa = scratch->kappa, .products = scratch->products, .state = recur_state(s, from)};
  memset(scratch->worst, 0, FOLD_TILE * sizeof(double));
  const double slope = folds->slope, base = lazy_is_of_groups(s) ? 0 : P;
  if (lazy_is_of_groups(s))
    recur_groups_tile(s, &tile, scratch->error, scratch->worst);
  else
    simd->recurred_error(folds->count, L, &tile, scratch->error, scratch->worst);
  for (ptrdiff_t i = 0; i < columns; i++) {
    const double kappa = scratch->kappa[i], worst = kappa * scratch->worst[i];
    const double read_norm2 = bounds->read_norm2[from + i];
    const double margin =
        slope * (BOUNDS_MARGIN * P + rounding * (1 + read_norm2 / kappa) * worst * worst);
    const double value = base + scratch->error[i] - margin;
    const int sure = kappa > GREEDY_KAPPA_LOST * (lambda + read_norm2) &&
                     margin <= BOUNDS_MAX_ROUNDING * P && value > -DBL_MAX;
    lazy->bound[from + i] = (sure ? value : -DBL_MAX) + bounds->excluded[from + i];
  }
}

static void recur_advance_tile(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  recur_move_tile(s, from, scratch);
  recur_bound_tile(s, from, scratch);
}

void recur_find_minima(const struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t n = s->pb->n;
  for (ptrdiff_t from = 0; from < n; from += BOUNDS_BLOCK) {
    double min = INFINITY;
    for (ptrdiff_t i = from; i < greedy_min(n, from + BOUNDS_BLOCK); i++)
      min = lazy->merit[i] < min ? lazy->merit[i] : min;
    lazy->bounds.block_min[from / BOUNDS_BLOCK] = min;
  }
}

enum status recur_bounds(struct greedy *s, int moved) {
  struct lazy *lazy = s->lazy;
  const struct lazy_folds *folds = lazy->folds;
  const ptrdiff_t n = s->pb->n;
  const int last = s->size - 1, b = (int)s->b;
  for (ptrdiff_t i = 0; i < n; i++)
    lazy->bound[i] = INFINITY; /* of tiles without a candidate */
  if (moved) {
    if (lazy->row[b] < 0)
      lazy_assign_row(s, &b, 0);
    lazy->W[last] = lazy->rows + lazy->row[b] * n;
    recur_fill_vectors(s);
    s->out->work.columns_read += (double)(s->usable_count - s->own_members);
  }
  const double cost =
      (double)(s->pb->m * folds->repeats) + (double)(folds->count * folds->rank) / FOLD_TILE;
  if (tile_each(s, cost, moved ? recur_advance_tile : recur_bound_tile) != COMPLETE)
    return INTERRUPTED;
  if (moved)
    lazy->moves = s->size;
  recur_find_minima(s);
  return COMPLETE;
}
