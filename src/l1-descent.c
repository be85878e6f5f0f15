/* The lasso on many active columns: coordinate descent, and every few sweeps Anderson's
   extrapolation (Bertrand and Massias 2021). The columns' products with each other are not made. */
#include "blas.h"
#include "column.h"
#include "l1-active.h"
#include <math.h>
#include <string.h>

/* v (m) -= f w (x_j - centre_j), x dense; *sum is that of v. */
static void lasso_shift_dense(
    const struct problem *pb, ptrdiff_t j, double f, double *v, double *sum) {
  enum { ROWS = 512 };
  double total = 0, copy[ROWS];
  for (ptrdiff_t from = 0; from < pb->m; from += ROWS) {
    const ptrdiff_t rows = pb->m - from < ROWS ? pb->m - from : ROWS;
    const double *x_j = column_rows(&pb->x, pb->m, j, from, rows, copy), *w = pb->root_w + from;
    for (ptrdiff_t i = 0; i < rows; i++) {
      const double d = f * w[i] * w[i] * (x_j[i] - pb->centre[j]);
      v[from + i] -= d;
      total += d;
    }
  }
  *sum -= total;
}

/* v (m) := a with the weights that the columns of active->local do not have; returns the sum of
   root_w a. */
static double lasso_weigh_rows(const struct lasso_active *active, const double *a, double *v) {
  const struct problem *pb = &active->local;
  const double sum = l1_weigh_rows(pb, a, v);
  if (is_sparse(&pb->x))
    memcpy(v, a, (size_t)pb->m * sizeof(double));
  return sum;
}

/* a'a_k of the i-th active column, from v and the sum that lasso_weigh_rows() makes of a. */
static inline double lasso_product(
    const struct lasso_active *active, int i, const double *v, double sum) {
  return l1_column_product(&active->local, lasso_index(active, i), v, sum);
}

/* Takes step a_k of the i-th active column from what v and its sum were made of. Of a sparse column
   the multiple of root_w is left out: x is only centred where there is an intercept, which takes up
   any multiple. */
static void lasso_shift_rows(
    const struct lasso_active *active, int i, double step, double *v, double *sum) {
  const struct problem *pb = &active->local;
  const ptrdiff_t j = lasso_index(active, i);
  const double f = step * pb->inv_scale[j];
  double centre = 0;
  if (!is_sparse(&pb->x)) {
    lasso_shift_dense(pb, j, f, v, sum);
    return;
  }
  column_add(&pb->x, pb->m, j, 0, -f, v, &centre);
  *sum -= f * active->weighted_sum[i];
}

/* The curvature along the i-th active column, rounded up. */
static double lasso_curvature(const struct lasso_active *active, int i) {
  return active->square[i] + active->ridge;
}

/* r := what v was made of, projected on what Q leaves; v := that of r; returns its sum. */
static double lasso_update_residual(struct l1_state *state, struct lasso_active *active) {
  const struct problem *pb = state->pb;
  const int weighted = !is_sparse(&pb->x);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    state->r[i] = weighted ? active->v[i] / pb->divisor[i] : active->v[i];
  project_out(pb, state->r);
  return lasso_weigh_rows(active, state->r, active->v);
}

/* One sweep of coordinate descent over the active columns, which updates r and v, made of r; way :=
   how far each coefficient went. Returns by how much a column's product was off its value at the
   optimum when its turn came, at most. */
static double lasso_sweep(
    struct l1_state *state, struct lasso_active *active, double lambda, double *sum, double *way) {
  double worst = 0;
  for (int i = 0; i < active->count; i++) {
    const double old = active->beta[i], curvature = lasso_curvature(active, i);
    const double inverse = 1 / curvature; /* which the product need not wait for */
    const double product = lasso_product(active, i, active->v, *sum) + active->square[i] * old;
    const double new = l1_soft_threshold(product, lambda) * inverse;
    way[i] = new - old;
    if (new == old)
      continue;
    const double off = curvature * fabs(way[i]);
    worst = off > worst ? off : worst;
    active->beta[i] = new;
    lasso_shift_rows(active, i, way[i], active->v, sum);
  }
  *sum = lasso_update_residual(state, active);
  return worst;
}

/* target := the step from where the last sweeps have come to where they lead: of the combinations
   of their ends with weights that sum to 1, the one whose ways cancel best. Returns 0 where there
   is none. */
static int lasso_anderson_step(struct lasso_active *active) {
  double G[LASSO_SWEEPS * LASSO_SWEEPS], weight[LASSO_SWEEPS], trace = 0, sum = 0, before = 0;
  for (int j = 0; j < LASSO_SWEEPS; j++) {
    for (int i = 0; i <= j; i++)
      G[i + j * LASSO_SWEEPS] = simd->dot(active->count, active->way[i], active->way[j]);
    trace += G[j + j * LASSO_SWEEPS];
    weight[j] = 1;
  }
  for (int j = 0; j < LASSO_SWEEPS; j++)
    G[j + j * LASSO_SWEEPS] += LASSO_ANDERSON_RIDGE * trace;
  if (lapack_cholesky(LASSO_SWEEPS, G) != 0)
    return 0;
  solve_transposed(LASSO_SWEEPS, G, LASSO_SWEEPS, weight);
  solve_upper(LASSO_SWEEPS, G, LASSO_SWEEPS, weight);
  for (int j = 0; j < LASSO_SWEEPS; j++)
    sum += weight[j];
  memset(active->target, 0, (size_t)active->count * sizeof(double));
  for (int j = 0; j < LASSO_SWEEPS; j++) { /* the ends of earlier sweeps lack the j-th way */
    simd->shift(active->count, active->target, before / sum, active->way[j]);
    before += weight[j];
  }
  return 1;
}

static double lasso_l1_norm(const struct lasso_active *active) {
  double l1 = 0;
  for (int i = 0; i < active->count; i++)
    l1 += fabs(active->beta[i]);
  return l1;
}

static double lasso_objective(
    const struct l1_state *state, const struct lasso_active *active, double lambda) {
  const double l1 = lasso_l1_norm(active);
  const double squares = simd->dot(active->count, active->beta, active->beta);
  return (simd->dot(state->pb->m, state->r, state->r) + active->ridge * squares) / 2 + lambda * l1;
}

/* beta := old + step target, 0 where that changes the sign. */
static void lasso_move(struct lasso_active *active, const double *old, double step) {
  for (int i = 0; i < active->count; i++) {
    const double after = old[i] + step * active->target[i];
    active->beta[i] = old[i] * after > 0 ? after : 0;
  }
}

/* Takes the step to target, or a part of it that lowers the objective, or none. */
static void lasso_line_search(struct l1_state *state, struct lasso_active *active, double lambda) {
  double *old = active->l, step = 1;
  const double before = lasso_objective(state, active, lambda);
  memcpy(old, active->beta, (size_t)active->count * sizeof(double));
  for (int tries = 0; tries < 4; tries++, step /= 4) {
    lasso_move(active, old, step);
    lasso_residual(state, active);
    if (lasso_objective(state, active, lambda) < before)
      return;
  }
  memcpy(active->beta, old, (size_t)active->count * sizeof(double));
  lasso_residual(state, active);
}

void lasso_extrapolate(struct l1_state *state, struct lasso_active *active, double lambda) {
  const double further = (lambda - active->lambda) / (active->lambda - active->last_lambda);
  for (int i = 0; i < active->count; i++) {
    active->target[i] = further * (active->beta[i] - active->last[i]);
    active->last[i] = active->beta[i];
  }
  active->last_lambda = active->lambda;
  active->lambda = lambda;
  if (!active->factored && further > 0)
    lasso_line_search(state, active, lambda);
}

/* The most rounds of sweeps and extrapolation. */
enum { LASSO_DESCENTS = 1000 };

enum status lasso_descend(
    struct l1_state *state, struct lasso_active *active, double lambda, double allowed) {
  lasso_copy_columns(state->pb, active);
  for (int round = 0; round < LASSO_DESCENTS; round++) {
    double sum = lasso_weigh_rows(active, state->r, active->v);
    for (int i = 0; i < LASSO_SWEEPS; i++)
      if (lasso_sweep(state, active, lambda, &sum, active->way[i]) * lasso_l1_norm(active) <=
          allowed)
        return COMPLETE;
    if (lasso_anderson_step(active))
      lasso_line_search(state, active, lambda);
    if (state->host->stop(state->host, state->done, state->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}
