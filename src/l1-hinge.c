/* The l1-norm support vector machine as a linear programme, by a dual simplex. The programme is
   the dual one: the largest sum of alpha with 0 <= alpha <= w, where the product of r = y alpha /
   root_w with a covariate is 0 and with a column at most lambda on either side. It holds a row for
   every covariate and for every column of the working set; rows are added until no column is
   violated. The rows' multipliers are the model, and d = 1 - y f are the reduced costs of alpha.

   Everything is bounded, so that any basis is dual feasible once each variable that is not basic
   lies at the right bound. In a basis some rows are tight, and as many alpha are basic, which are
   the rows of data on the margin; all there is to factor is H, the inverse of the tight rows at
   the basic alpha. */
#include "l1-hinge.h"
#include <math.h>
#include <string.h>

void *hinge_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena) {
  (void)threads;
  const ptrdiff_t m = pb->m, n = pb->n, k = control->max_active;
  const ptrdiff_t max_rows = pb->q + (k < n ? k : n), max_tight = max_rows < m ? max_rows : m;
  const ptrdiff_t keys = n > m + max_rows ? n : m + max_rows;
  struct hinge_programme *lp = arena_alloc(arena, 1, sizeof(struct hinge_programme));
  const struct hinge_programme parts = {.m = m,
      .q = pb->q,
      .max_rows = max_rows,
      .max_tight = max_tight,
      .A = alloc_doubles(arena, m * max_rows),
      .feature = alloc_ints(arena, max_rows),
      .has_row = alloc_ints(arena, n),
      .w = alloc_doubles(arena, m),
      .y = alloc_doubles(arena, m),
      .cost = alloc_doubles(arena, m),
      .d = alloc_doubles(arena, m),
      .alpha = alloc_doubles(arena, m),
      .v = alloc_doubles(arena, max_rows),
      .beta = alloc_doubles(arena, max_rows),
      .max_entry = alloc_doubles(arena, max_rows),
      .max_value = alloc_doubles(arena, max_rows),
      .R = alloc_ints(arena, max_tight),
      .B = alloc_ints(arena, max_tight),
      .in_R = alloc_ints(arena, max_rows),
      .in_B = alloc_ints(arena, m),
      .H = alloc_doubles(arena, max_tight * max_tight),
      .edge_alpha = alloc_doubles(arena, max_tight),
      .edge_row = alloc_doubles(arena, max_rows),
      .barred = alloc_ints(arena, m + max_rows),
      .rho = alloc_doubles(arena, max_tight),
      .kappa = alloc_doubles(arena, max_tight),
      .shift = alloc_doubles(arena, max_tight),
      .row = alloc_doubles(arena, m),
      .step = alloc_doubles(arena, m),
      .moved = alloc_doubles(arena, m),
      .turn = alloc_doubles(arena, m),
      .flipped = alloc_ints(arena, m),
      .heap = arena_alloc(arena, keys, sizeof(struct hinge_key)),
      .lapack_work = alloc_doubles(arena, max_tight),
      .lapack_pivots = alloc_ints(arena, max_tight),
      .model = alloc_ints(arena, max_rows),
      .coefficient = alloc_doubles(arena, max_rows),
      .f = alloc_doubles(arena, m),
      .old_r = alloc_doubles(arena, m)};
  if (arena->base != NULL)
    *lp = parts;
  return lp;
}

/* ---- the model ---- */

/* model and coefficient := the model of the multipliers; returns its size. */
static int hinge_read_model(struct hinge_programme *lp) {
  int size = 0;
  for (ptrdiff_t c = 0; c < lp->tight; c++) {
    const ptrdiff_t k = lp->R[c];
    if (lp->feature[k] < 0 || fabs(lp->beta[k]) * lp->max_entry[k] <= HINGE_ZERO)
      continue;
    lp->model[size] = lp->feature[k];
    lp->coefficient[size++] = lp->beta[k];
  }
  return size;
}

/* r := y alpha / root_w, alpha brought within its bounds where rounding left it outside. */
static void hinge_residual(const struct hinge_programme *lp, const struct problem *pb, double *r) {
  for (ptrdiff_t i = 0; i < lp->m; i++)
    r[i] = lp->y[i] * fmin(fmax(lp->alpha[i], 0), lp->w[i]) / pb->divisor[i];
}

/* f (m) := the values of the model; returns its objective. */
static double hinge_objective(struct hinge_programme *lp, const struct problem *pb, int size) {
  double sum = 0;
  l1_predict_model(pb, size, lp->model, lp->coefficient, lp->beta, lp->f);
  for (ptrdiff_t i = 0; i < lp->m; i++)
    sum += lp->w[i] * fmax(0, 1 - lp->y[i] * lp->f[i]);
  for (int k = 0; k < size; k++)
    sum += lp->lambda * fabs(lp->coefficient[k]);
  return sum;
}

/* The model of this size becomes the solution. */
static void hinge_store(struct l1_state *state, struct hinge_programme *lp, int size) {
  state->size = size;
  memcpy(state->feature, lp->model, (size_t)size * sizeof(int));
  memcpy(state->beta, lp->coefficient, (size_t)size * sizeof(double));
  memcpy(state->u, lp->beta, (size_t)lp->q * sizeof(double));
}

void hinge_begin(struct l1_state *state) {
  const struct problem *pb = state->pb;
  struct hinge_programme *lp = state->engine;
  memset(lp->has_row, 0, (size_t)pb->n * sizeof(int));
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    lp->w[i] = case_weight(pb, i);
    lp->y[i] = lp->w[i] > 0 ? pb->response[i] : 0;
    lp->max_weight = fmax(lp->max_weight, lp->w[i]);
  }
  hinge_clear_basis(lp);
  for (ptrdiff_t l = 0; l < lp->q; l++) {
    double *a = hinge_row(lp, l);
    for (ptrdiff_t i = 0; i < lp->m; i++)
      a[i] = lp->y[i] * pb->Q[i + l * lp->m] / pb->divisor[i];
    hinge_append_row(lp, -1);
  }
  hinge_invert(lp);
  hinge_optimise(lp, state);
  hinge_residual(lp, pb, state->r);
  state->primal = state->null_objective = hinge_objective(lp, pb, 0);
  state->dual = l1_loss_of(state)->value(pb, state->memo, state->r, 1);
  hinge_store(state, lp, 0);
}

enum status hinge_start(struct l1_state *state) {
  struct hinge_programme *lp = state->engine;
  for (int k = 0; k < state->size; k++)
    hinge_append_column(lp, state->pb, state->feature[k]);
  state->size = 0; /* r and the objective are those of the null model */
  return COMPLETE;
}

/* ---- one lambda ---- */

/* heap := the violated columns that have no row, the worst first; returns how many. */
static ptrdiff_t hinge_list_violated(const struct l1_state *state, struct hinge_programme *lp) {
  ptrdiff_t count = 0;
  for (ptrdiff_t l = 0; l < state->fresh_count; l++) {
    const int k = state->fresh[l];
    if (!state->excluded[k] && !lp->has_row[k] &&
        fabs(state->corr[k]) > lp->lambda * (1 + HINGE_VIOLATED))
      lp->heap[count++] = (struct hinge_key){-fabs(state->corr[k]), k};
  }
  hinge_order_heap(lp->heap, count);
  return count;
}

/* Adds rows for the worst of the violated columns that are not excluded. When they do not fit, rows
   that are not tight are first dropped, but not twice at one optimal value, or it might go on for
   ever. */
static enum status hinge_add_violated(
    struct l1_state *state, struct hinge_programme *lp, double value, double *dropped) {
  ptrdiff_t count = hinge_list_violated(state, lp);
  const ptrdiff_t batch = lp->rows / 4 > 20 ? lp->rows / 4 : 20;
  const ptrdiff_t wanted = count < batch ? count : batch;
  if (lp->rows + wanted > lp->max_rows && value < *dropped * (1 - HINGE_PROGRESS)) {
    *dropped = value;
    hinge_drop_rows(lp);
  }
  if (wanted > 0 && lp->rows == lp->max_rows)
    return WORKSPACE_FULL;
  for (ptrdiff_t k = 0; k < wanted && lp->rows < lp->max_rows; k++)
    hinge_append_column(lp, state->pb, hinge_pop(lp->heap, &count).id);
  return COMPLETE;
}

/* Column generation: solves with the present rows and adds violated ones, until there are none or
   the gap is small enough. *size := the model's. */
static enum status hinge_generate_columns(
    struct l1_state *state, struct hinge_programme *lp, int *size) {
  const struct problem *pb = state->pb;
  double dropped = INFINITY;
  for (;;) {
    if (hinge_optimise(lp, state) != COMPLETE)
      return INTERRUPTED;
    hinge_residual(lp, pb, state->r);
    if (l1_correlate(state, lp->lambda, NULL) != COMPLETE)
      return INTERRUPTED;
    *size = hinge_read_model(lp);
    state->primal = hinge_objective(lp, pb, *size);
    const double value = l1_loss_of(state)->value(pb, state->memo, state->r, 1);
    state->dual = value * fmin(1, lp->lambda / state->max_abs_corr);
    const double gap = state->primal - state->dual;
    if (hinge_list_violated(state, lp) == 0 ||
        gap <= state->control.tolerance * state->null_objective)
      return COMPLETE;
    if (l1_screen_gap(state, lp->lambda, lp->f) != COMPLETE)
      return INTERRUPTED;
    if (hinge_add_violated(state, lp, value, &dropped) != COMPLETE)
      return WORKSPACE_FULL;
  }
}

enum status hinge_solve(struct l1_state *state, double lambda) {
  struct hinge_programme *lp = state->engine;
  const struct l1_state last = *state;
  int size;
  memcpy(lp->old_r, state->r, (size_t)lp->m * sizeof(double));
  lp->lambda = state->lambda = lambda;
  for (ptrdiff_t c = 0; c < lp->tight; c++)
    lp->v[lp->R[c]] = copysign(hinge_row_bound(lp, lp->R[c]), lp->v[lp->R[c]]);
  const enum status status = hinge_generate_columns(state, lp, &size);
  if (status == COMPLETE) {
    hinge_store(state, lp, size);
    return COMPLETE;
  }
  memcpy(state->r, lp->old_r, (size_t)lp->m * sizeof(double));
  state->primal = last.primal;
  state->dual = last.dual;
  state->max_abs_corr = last.max_abs_corr;
  state->lambda = last.lambda;
  return status;
}
