/* The lasso's active set and its Cholesky factor, updated as columns come and go. */
#include "column.h"
#include "l1-active.h"
#include "products.h"
#include "simd.h"
#include <float.h>
#include <math.h>
#include <string.h>

void lasso_copy_columns(const struct problem *pb, struct lasso_active *active) {
  struct l1_copy *copy = &active->copy;
  for (; is_sparse(&pb->x) && active->copied < active->count; active->copied++) {
    const int i = active->copied;
    double sum = 0;
    l1_copy_column(pb, copy, i, active->column[i]);
    for (int k = copy->p[i]; k < copy->p[i + 1]; k++) {
      const double w = pb->root_w[copy->i[k]];
      copy->x[k] *= w;
      sum += copy->x[k] * w;
    }
    active->weighted_sum[i] = sum;
  }
}

void lasso_fitted_rows(
    const struct problem *pb, struct lasso_active *active, const double *h, double *out) {
  const int has_weights = is_sparse(&pb->x);
  double offset = 0;
  lasso_copy_columns(pb, active);
  memset(out, 0, (size_t)pb->m * sizeof(double));
  for (int i = 0; i < active->count; i++)
    if (h[i] != 0)
      l1_add_column(&active->local, lasso_index(active, i), h[i], out, &offset);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    out[i] = has_weights ? out[i] + offset * pb->root_w[i] : out[i] * pb->root_w[i];
}

/* a (m) := a less the active columns' model with coefficients h, in working coordinates. */
static void lasso_subtract_model(
    struct l1_state *state, struct lasso_active *active, const double *h, double *a) {
  lasso_fitted_rows(state->pb, active, h, active->f);
  simd->shift(state->pb->m, a, 1, active->f);
  project_out(state->pb, a);
}

void lasso_residual(struct l1_state *state, struct lasso_active *active) {
  memcpy(state->r, state->pb->y, (size_t)state->pb->m * sizeof(double));
  lasso_subtract_model(state, active, active->beta, state->r);
}

/* ---- a column comes ---- */

/* out := A'a */
static void lasso_products(
    struct l1_state *state, struct lasso_active *active, const double *a, double *out) {
  const double sum = l1_weigh_rows(state->pb, a, active->v);
  for (int i = 0; i < active->count; i++)
    out[i] = l1_column_product(state->pb, active->column[i], active->v, sum);
}

enum status lasso_begin_batch(
    struct l1_state *state, struct lasso_active *active, int count, const int *column) {
  struct lasso_batch *batch = &active->batch;
  for (int b = 0; b < count; b++) {
    working_column(state->pb, column[b], batch->a[b]);
    for (int i = 0; i < active->count; i++)
      batch->product[b][active->column[i]] = 0;
  }
  const struct column_pass pass = {.pb = state->pb,
      .list = active->column,
      .count = active->count,
      .r = count,
      .v = (const double *const *)batch->a,
      .out = batch->product,
      .done = state->done,
      .total = state->total};
  batch->column = column;
  batch->count = count;
  return column_products(&pass, state->host, batch->work);
}

void lasso_end_batch(struct lasso_active *active) {
  active->batch.count = 0;
}

/* The place of column k in the batch, -1 where it is not in it. */
static int lasso_batch_place(const struct lasso_batch *batch, int k) {
  int b = batch->count - 1;
  while (b >= 0 && batch->column[b] != k)
    b--;
  return b;
}

/* a := column k in working coordinates, l := A'a. */
static void lasso_load_column(struct l1_state *state, struct lasso_active *active, int k) {
  const struct lasso_batch *batch = &active->batch;
  const ptrdiff_t m = state->pb->m;
  const int b = lasso_batch_place(batch, k);
  if (b < 0) {
    working_column(state->pb, k, active->a);
    lasso_products(state, active, active->a, active->l);
    return;
  }
  memcpy(active->a, batch->a[b], (size_t)m * sizeof(double));
  for (int i = 0; i < active->count; i++) {
    const int other = lasso_batch_place(batch, active->column[i]);
    active->l[i] = other < 0 ? batch->product[b][active->column[i]]
                             : simd->dot(m, batch->a[b], batch->a[other]);
  }
}

/* The square of the pivot of a column, active->a, by the rest that the active columns leave of it,
   which is projected a second time; active->l = R'^-1 A'a. With a ridge the columns have rows of
   their own below those of x, in which the rest is 1 for the column and -target for the others. */
static double lasso_rest_square(struct l1_state *state, struct lasso_active *active) {
  const ptrdiff_t m = state->pb->m;
  double *l = active->l, *more = active->c, *h = active->s, *target = active->target;
  memcpy(active->rest, active->a, (size_t)m * sizeof(double));
  memcpy(more, l, (size_t)active->count * sizeof(double));
  memset(target, 0, (size_t)active->count * sizeof(double));
  for (int pass = 0; pass < 2; pass++) {
    if (pass > 0) {
      lasso_products(state, active, active->rest, more);
      simd->shift(active->count, more, active->ridge, target);
      solve_transposed(active->count, active->R, active->max_factored, more);
      simd->shift(active->count, l, -1, more);
    }
    memcpy(h, more, (size_t)active->count * sizeof(double));
    solve_upper(active->count, active->R, active->max_factored, h);
    lasso_subtract_model(state, active, h, active->rest);
    simd->shift(active->count, target, -1, h);
  }
  return simd->dot(m, active->rest, active->rest) +
         active->ridge * (1 + simd->dot(active->count, target, target));
}

/* The pivot that column k adds to R, 0 where it is dependent on the active columns; active->l :=
   R'^-1 A'a_k, active->a := a_k. Where the active columns leave little of a_k, a difference of
   squares has lost its digits. */
static double lasso_next_pivot(struct l1_state *state, struct lasso_active *active, int k) {
  const int j = active->count;
  double *l = active->l;
  lasso_load_column(state, active, k);
  double square = simd->dot(state->pb->m, active->a, active->a);
  if (active->G != NULL) {
    double *column = active->G + j * (ptrdiff_t)active->max_factored;
    memcpy(column, l, (size_t)j * sizeof(double));
    column[j] = square;
  }
  square += active->ridge;
  solve_transposed(j, active->R, active->max_factored, l);
  double schur = square - simd->dot(j, l, l);
  if (schur < LASSO_ILL_CONDITIONED * square) {
    schur = lasso_rest_square(state, active);
    active->ill_conditioned = 1;
  }
  return schur > LASSO_DEPENDENT * square ? sqrt(schur) : 0;
}

void lasso_set_ridge(struct lasso_active *active, double ridge) {
  const ptrdiff_t ld = active->max_factored;
  if (active->G == NULL)
    return;
  active->ridge = ridge;
  if (!active->factored)
    return;
  active->ill_conditioned = 0;
  for (int j = 0; j < active->count; j++) {
    double *column = active->R + j * ld;
    memcpy(column, active->G + j * ld, (size_t)j * sizeof(double));
    solve_transposed(j, active->R, ld, column);
    const double square = active->G[j + j * ld] + ridge, l = simd->dot(j, column, column);
    active->ill_conditioned |= square - l < LASSO_ILL_CONDITIONED * square;
    column[j] = sqrt(fmax(square - l, DBL_EPSILON * square));
  }
}

int lasso_activate(
    struct l1_state *state, struct lasso_active *active, int k, double sign, double beta) {
  const int j = active->count;
  if (active->factored) {
    const double pivot = lasso_next_pivot(state, active, k);
    if (pivot <= 0)
      return 0;
    double *column = active->R + j * (ptrdiff_t)active->max_factored;
    memcpy(column, active->l, (size_t)j * sizeof(double));
    column[j] = pivot;
    active->product[j] = simd->dot(state->pb->m, active->a, state->pb->y);
  }
  active->count++;
  active->column[j] = k;
  active->square[j] = state->norm[k] * state->norm[k];
  active->sign[j] = sign;
  active->beta[j] = beta;
  active->last[j] = 0;
  active->is_active[k] = 1;
  return 1;
}

/* ---- a column goes ---- */

/* Removes row and column p from the columns' products. */
static void lasso_forget_products(struct lasso_active *active, int p) {
  const ptrdiff_t ld = active->max_factored;
  for (int j = p; j < active->count - 1; j++) {
    double *column = active->G + j * ld;
    memcpy(column, column + ld, (size_t)p * sizeof(double));
    memcpy(column + p, column + ld + p + 1, (size_t)(j + 1 - p) * sizeof(double));
  }
}

/* Later columns of R move up and are made triangular again by rotations. */
static void lasso_downdate(struct lasso_active *active, int p) {
  const ptrdiff_t ld = active->max_factored;
  if (active->G != NULL)
    lasso_forget_products(active, p);
  const int last = --active->count;
  for (int j = p; j < last; j++) {
    double *column = active->R + j * ld;
    memcpy(column, column + ld, (size_t)(j + 2) * sizeof(double));
    for (int i = p; i < j; i++) {
      const double upper = column[i], lower = column[i + 1];
      column[i] = active->c[i] * upper + active->s[i] * lower;
      column[i + 1] = active->c[i] * lower - active->s[i] * upper;
    }
    const double length = hypot(column[j], column[j + 1]);
    active->c[j] = column[j] / length;
    active->s[j] = column[j + 1] / length;
    column[j] = length;
    active->column[j] = active->column[j + 1];
    active->square[j] = active->square[j + 1];
    active->sign[j] = active->sign[j + 1];
    active->beta[j] = active->beta[j + 1];
    active->last[j] = active->last[j + 1];
    active->target[j] = active->target[j + 1];
    active->product[j] = active->product[j + 1];
  }
}

void lasso_deactivate(struct lasso_active *active, int p) {
  active->is_active[active->column[p]] = 0;
  active->copied = active->copied < p ? active->copied : p;
  if (active->factored) {
    lasso_downdate(active, p);
    return;
  }
  const int last = --active->count;
  active->column[p] = active->column[last];
  active->square[p] = active->square[last];
  active->sign[p] = active->sign[last];
  active->beta[p] = active->beta[last];
  active->last[p] = active->last[last];
}
