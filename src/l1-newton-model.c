/* The quadratic model of a loss at a point: coordinate descent finds out which
   coefficients are zero, and Newton's step, by preconditioned conjugate gradients, solves for the
   others. */
#include "column.h"
#include "l1-newton.h"
#include "blas.h"
#include "simd.h"
#include <math.h>
#include <string.h>

enum {
  NEWTON_EPOCHS = 3,    /* of coordinate descent before a Newton step */
  NEWTON_CG_STEPS = 300 /* of conjugate gradients, at most */
};

/* ---- products with H ---- */

/* t := t less its projection on B in the metric of H. */
static void newton_project(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = state->pb->m, q = state->pb->q;
  for (ptrdiff_t l = 0; l < q; l++)
    fit->g[l] = simd->dot(m, fit->HB + l * m, fit->t);
  newton_solve_covariates(state, fit, fit->g);
  for (ptrdiff_t l = 0; l < q; l++)
    simd->shift(m, fit->t, fit->g[l], fit->B + l * m);
}

/* Projects t, which comes as a sum of columns less the constant `offset`, and makes Ht. Returns
   t'Ht, and leaves the sum of H t in *sum. */
static double newton_apply_hessian(
    const struct l1_state *state, struct newton_fit *fit, double offset, double *sum) {
  double square = 0, total = 0;
  newton_add_constant(state->pb->m, fit->t, offset);
  newton_project(state, fit);
  newton_curve(state, fit, fit->t, fit->Ht);
  for (ptrdiff_t i = 0; i < state->pb->m; i++) {
    square += fit->Ht[i] * fit->t[i];
    total += fit->Ht[i];
  }
  *sum = total;
  return square;
}

/* ---- coordinate descent ---- */

/* Minus the gradient of the model is s + sigma h: what the centres of sparse columns contribute is
   left to sigma. Its sum, and its products with B, are kept up to date. */
struct newton_gradient {
  double sigma, sum, *tau;
};

/* Sets curvature, b, e and xh of column k of the working set; sum_h is the sum of h. */
static void newton_measure_column(
    const struct l1_state *state, struct newton_fit *fit, int k, double sum_h) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t m = pb->m, q = pb->q, j = newton_index(fit, k);
  const double inv = pb->inv_scale[j], centre = pb->centre[j], *h = fit->h;
  double *b = fit->b + k * q, *e = fit->e + k * q, square;
  if (!is_sparse(x)) {
    square = column_square(x, m, j, centre, h);
    for (ptrdiff_t l = 0; l < q; l++)
      b[l] = column_dot(x, m, j, centre, fit->HB + l * m, 0) * inv;
  } else {
    double xh = 0, xxh = 0;
    for (int i = x->p[j]; i < x->p[j + 1]; i++) {
      xh += x->x[i] * h[x->i[i]];
      xxh += x->x[i] * x->x[i] * h[x->i[i]];
    }
    fit->xh[k] = xh;
    square = xxh - centre * (2 * xh - centre * sum_h);
    for (ptrdiff_t l = 0; l < q; l++) {
      b[l] = column_dot(x, m, j, centre, fit->HB + l * m, fit->g[l]) * inv; /* g = HB'1 */
    }
  }
  square *= inv * inv;
  memcpy(e, b, (size_t)q * sizeof(double));
  if (q > 0)
    newton_solve_covariates(state, fit, e);
  fit->curvature[k] = square;
  for (ptrdiff_t l = 0; l < q; l++)
    fit->curvature[k] -= b[l] * e[l];
  fit->curvature[k] = l1_larger(fit->curvature[k], NEWTON_DEPENDENT * square) + fit->ridge;
}

/* Sets them for all columns of the working set. O(mq) each, or q times the nonzeros. */
static void newton_measure_columns(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = state->pb->m;
  const double sum_h = newton_sum(m, fit->h);
  for (ptrdiff_t l = 0; l < state->pb->q; l++)
    fit->g[l] = newton_sum(m, fit->HB + l * m);
  for (int k = 0; k < fit->count; k++)
    newton_measure_column(state, fit, k, sum_h);
}

/* Minus the derivative at next along column k of the working set, u following. */
static double newton_slope(
    const struct newton_fit *fit, int k, const struct newton_gradient *gradient) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t j = newton_index(fit, k);
  const double *s = fit->s, *e = fit->e + k * pb->q;
  double dot = 0;
  if (!is_sparse(x))
    dot = column_dot(x, pb->m, j, pb->centre[j], s, 0);
  else
    dot = column_sparse_dot(x, j, s) + gradient->sigma * fit->xh[k] - pb->centre[j] * gradient->sum;
  dot *= pb->inv_scale[j];
  for (ptrdiff_t l = 0; l < pb->q; l++)
    dot -= e[l] * gradient->tau[l];
  return dot - fit->ridge * fit->next.beta[k];
}

/* Moves by delta along column k of the working set, u following. */
static void newton_move(
    struct newton_fit *fit, int k, double delta, struct newton_gradient *gradient, double sum_h) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t j = newton_index(fit, k);
  const double step = delta * pb->inv_scale[j];
  if (!is_sparse(x)) {
    column_shift_weighted(x, pb->m, j, pb->centre[j], step, fit->h, fit->s);
  } else {
    for (int i = x->p[j]; i < x->p[j + 1]; i++)
      fit->s[x->i[i]] -= step * x->x[i] * fit->h[x->i[i]];
    gradient->sigma += step * pb->centre[j];
    gradient->sum -= step * (fit->xh[k] - pb->centre[j] * sum_h);
  }
  for (ptrdiff_t l = 0; l < pb->q; l++)
    gradient->tau[l] -= delta * fit->b[l + k * pb->q];
  fit->next.beta[k] += delta;
}

/* The minimum over x of curve (x - beta)^2 / 2 - slope (x - beta) + lambda |x|. */
static double newton_shrink(double beta, double slope, double curve, double lambda) {
  const double z = curve * beta + slope;
  return l1_soft_threshold(z, lambda) / curve;
}

/* corr := the slopes at next by H itself, which coordinate descent has taken for diag(h), of the
   columns that have a coefficient there. */
static void newton_renew_slopes(const struct l1_state *state, struct newton_fit *fit) {
  const struct problem *local = &fit->local;
  const ptrdiff_t q = local->q;
  double offset = 0, sum;
  memset(fit->t, 0, (size_t)local->m * sizeof(double));
  for (int k = 0; k < fit->count; k++)
    if (fit->next.beta[k] != fit->now.beta[k])
      l1_add_column(
          local, newton_index(fit, k), fit->next.beta[k] - fit->now.beta[k], fit->t, &offset);
  newton_apply_hessian(state, fit, offset, &sum);
  for (ptrdiff_t i = 0; i < local->m; i++)
    fit->s[i] = fit->v[i] - fit->Ht[i];
  sum = newton_sum(local->m, fit->s);
  newton_covariate_slopes(state, fit, fit->v, fit->now.u);
  for (int k = 0; k < fit->count; k++)
    if (fit->next.beta[k] != 0)
      fit->corr[k] = l1_column_product(local, newton_index(fit, k), fit->s, sum) -
                     simd->dot(q, fit->e + k * q, fit->g) - fit->ridge * fit->next.beta[k];
    else
      fit->corr[k] = 0;
}

/* The rounds of newton_descend() by H itself: each move costs a product with it. */
static void newton_descend_exactly(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double level) {
  const struct problem *local = &fit->local;
  double sum = newton_sum(local->m, fit->s), along;
  for (int round = 0; round <= NEWTON_EPOCHS; round++)
    for (int k = 0; k < fit->count; k++) {
      const ptrdiff_t j = newton_index(fit, k);
      const double beta = fit->next.beta[k];
      if (beta == 0 && (round == NEWTON_EPOCHS || fabs(fit->corr[k]) < level))
        continue;
      const double slope = l1_column_product(local, j, fit->s, sum) - fit->ridge * beta;
      if (round == NEWTON_EPOCHS) {
        fit->corr[k] = slope;
        continue;
      }
      if (beta == 0 && fabs(slope) <= lambda)
        continue;
      double offset = 0;
      memset(fit->t, 0, (size_t)local->m * sizeof(double));
      l1_add_column(local, j, 1, fit->t, &offset);
      const double least = NEWTON_DEPENDENT * fit->curvature[k];
      fit->curvature[k] =
          l1_larger(newton_apply_hessian(state, fit, offset, &along), least) + fit->ridge;
      if (!(fit->curvature[k] > 0))
        continue;
      const double change = newton_shrink(beta, slope, fit->curvature[k], lambda) - beta;
      fit->next.beta[k] += change;
      simd->shift(local->m, fit->s, change, fit->Ht);
      sum -= change * along;
    }
}

void newton_descend(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double level, int exact) {
  const ptrdiff_t m = state->pb->m;
  const double sum_h = newton_sum(m, fit->h);
  struct newton_gradient gradient = {0, newton_sum(m, fit->v), fit->g};
  newton_measure_columns(state, fit);
  memcpy(fit->s, fit->v, (size_t)m * sizeof(double));
  if (exact) {
    newton_descend_exactly(state, fit, lambda, level);
    return;
  }
  newton_covariate_slopes(state, fit, fit->v, fit->now.u);
  for (int epoch = 0; epoch < NEWTON_EPOCHS; epoch++)
    for (int k = 0; k < fit->count; k++) {
      const double beta = fit->next.beta[k];
      if (beta == 0 && fabs(fit->corr[k]) < level)
        continue;
      const double slope = newton_slope(fit, k, &gradient);
      const double to =
          fit->curvature[k] > 0 ? newton_shrink(beta, slope, fit->curvature[k], lambda) : beta;
      if (to != beta)
        newton_move(fit, k, to - beta, &gradient, sum_h);
    }
  if (l1_loss_of(state)->curve != NULL)
    newton_renew_slopes(state, fit);
  else
    for (int k = 0; k < fit->count; k++)
      fit->corr[k] = fit->next.beta[k] != 0 ? newton_slope(fit, k, &gradient) : 0;
}

/* ---- products with K ---- */

/* out := K x on the support; returns x'Kx. */
static double newton_multiply(
    const struct l1_state *state, struct newton_fit *fit, int size, const double *x, double *out) {
  const struct problem *local = &fit->local;
  double offset = 0, sum;
  memset(fit->t, 0, (size_t)local->m * sizeof(double));
  for (int i = 0; i < size; i++)
    l1_add_column(local, newton_index(fit, fit->support[i]), x[i], fit->t, &offset);
  const double square = newton_apply_hessian(state, fit, offset, &sum);
  for (int i = 0; i < size; i++)
    out[i] = l1_column_product(local, newton_index(fit, fit->support[i]), fit->Ht, sum) +
             fit->ridge * x[i];
  return square + fit->ridge * simd->dot(size, x, x);
}

/* ---- the preconditioner ---- */

/* What a product of all columns of the support with a vector costs; a step through the nonzeros is
   taken for four of a dense loop. */
static double newton_product_cost(const struct newton_fit *fit, int size) {
  const int *p = fit->local.x.p;
  double filled = 0;
  if (p == NULL)
    return (double)fit->local.m * size;
  for (int i = 0; i < size; i++)
    filled += p[fit->support[i] + 1] - p[fit->support[i]];
  return 4 * filled + 4 * (double)fit->local.m;
}

/* Makes the factor of K on the support. */
static void newton_factor_support(const struct l1_state *state, struct newton_fit *fit, int size) {
  const struct problem *local = &fit->local;
  for (int j = 0; j < size; j++) {
    double offset = 0, sum, *column = fit->K + (ptrdiff_t)j * size;
    memset(fit->t, 0, (size_t)local->m * sizeof(double));
    l1_add_column(local, newton_index(fit, fit->support[j]), 1, fit->t, &offset);
    newton_apply_hessian(state, fit, offset, &sum);
    for (int i = 0; i <= j; i++)
      column[i] = l1_column_product(local, newton_index(fit, fit->support[i]), fit->Ht, sum);
    column[j] = column[j] * (1 + NEWTON_RIDGE) + fit->ridge;
    fit->factor_column[j] = fit->column[fit->support[j]];
  }
  fit->factored = lapack_cholesky(size, fit->K) == 0 ? size : 0;
  fit->excess = 0;
}

/* Whether a fresh factor pays: the steps that were lost for want of one would have made it. */
static int newton_factor_pays(const struct newton_fit *fit, int size) {
  if (size > fit->max_factored)
    return 0;
  const double work = newton_product_cost(fit, size), order = size;
  return fit->excess * 2 * work > work * order / 2 + order * order * order / 3;
}

/* factor_row := where each column of the working set is in the factor. */
static void newton_find_rows(struct newton_fit *fit) {
  for (int k = 0; k < fit->count; k++)
    fit->factor_row[k] = -1;
  for (int r = 0; r < fit->factored; r++)
    if (fit->place[fit->factor_column[r]] >= 0)
      fit->factor_row[fit->place[fit->factor_column[r]]] = r;
}

/* z := M^-1 residual: the factor's inverse for its columns, the inverse diagonal for the others. */
static void newton_precondition(struct newton_fit *fit, int size) {
  const int order = fit->factored;
  for (int r = 0; r < order; r++)
    fit->y[r] = 0;
  for (int i = 0; i < size; i++)
    if (fit->factor_row[fit->support[i]] >= 0)
      fit->y[fit->factor_row[fit->support[i]]] = fit->residual[i];
  l1_solve_lower(order, fit->K, order, fit->y);
  l1_solve_upper(order, fit->K, order, fit->y);
  for (int i = 0; i < size; i++) {
    const int k = fit->support[i];
    fit->z[i] =
        fit->factor_row[k] >= 0 ? fit->y[fit->factor_row[k]] : fit->residual[i] / fit->curvature[k];
  }
}

/* ---- conjugate gradients ---- */

static double newton_max_abs(int size, const double *x) {
  double max = 0;
  for (int i = 0; i < size; i++)
    max = l1_larger(max, fabs(x[i]));
  return max;
}

/* Extends d along p to where the first coefficient is zero, unless one changes its sign within d.
 */
static void newton_extend_to_zero(struct newton_fit *fit, int size) {
  double step = INFINITY;
  for (int i = 0; i < size; i++) {
    const double beta = fit->next.beta[fit->support[i]], after = beta + fit->d[i];
    if (beta * after <= 0)
      return;
    if (fit->p[i] * after < 0)
      step = fmin(step, -after / fit->p[i]);
  }
  if (step < INFINITY)
    simd->shift(size, fit->d, -step, fit->p);
}

/* d := about K^-1 residual, up to where no entry of the residual exceeds `enough`; it is updated.
   Along a direction without curvature, d goes to the first zero. */
static void newton_conjugate_gradients(
    const struct l1_state *state, struct newton_fit *fit, int size, double enough) {
  double *d = fit->d, *residual = fit->residual, *p = fit->p, *Kp = fit->Kp;
  const ptrdiff_t n = size;
  double before = 0;
  int steps = 0;
  if (newton_factor_pays(fit, size))
    newton_factor_support(state, fit, size);
  newton_find_rows(fit);
  memset(d, 0, (size_t)size * sizeof(double));
  for (; steps < NEWTON_CG_STEPS && newton_max_abs(size, residual) > enough; steps++) {
    newton_precondition(fit, size);
    const double now = simd->dot(n, residual, fit->z);
    for (int i = 0; i < size; i++)
      p[i] = fit->z[i] + (steps > 0 ? now / before * p[i] : 0);
    before = now;
    const double square = newton_multiply(state, fit, size, p, Kp);
    double scale = 0;
    for (int i = 0; i < size; i++)
      scale += p[i] * p[i] * fit->curvature[fit->support[i]];
    if (!(square > NEWTON_FLAT * scale)) {
      newton_extend_to_zero(fit, size);
      break;
    }
    const double step = simd->dot(n, residual, p) / square;
    simd->shift(n, d, -step, p);
    simd->shift(n, residual, step, Kp);
  }
  if (steps > 2)
    fit->excess += steps - 2;
}

/* ---- Newton's step ---- */

/* Lists the places of the coefficients at next that are not zero; returns how many. */
static int newton_list_support(struct newton_fit *fit) {
  int size = 0;
  for (int k = 0; k < fit->count; k++)
    if (fit->next.beta[k] != 0)
      fit->support[size++] = k;
  return size;
}

/* How far d goes before a coefficient is zero, 1 at most. */
static double newton_first_zero(const struct newton_fit *fit, int size) {
  double first = 1;
  for (int i = 0; i < size; i++) {
    const double beta = fit->next.beta[fit->support[i]];
    if (beta * (beta + fit->d[i]) <= 0)
      first = fmin(first, -beta / fit->d[i]);
  }
  return first;
}

/* p := step d, its entries ending at zero where they would change a coefficient's sign. */
static void newton_truncate(struct newton_fit *fit, int size, double step) {
  for (int i = 0; i < size; i++) {
    const double beta = fit->next.beta[fit->support[i]], d = step * fit->d[i];
    fit->p[i] = beta * (beta + d) <= 0 ? -beta : d;
  }
}

/* residual := the slopes at next less those of the penalty; returns the largest in absolute value.
 */
static double newton_penalised_slopes(struct newton_fit *fit, int size, double lambda) {
  double max = 0;
  for (int i = 0; i < size; i++) {
    const int k = fit->support[i];
    fit->residual[i] = fit->corr[k] - (fit->next.beta[k] > 0 ? lambda : -lambda);
    max = l1_larger(max, fabs(fit->residual[i]));
  }
  return max;
}

enum newton_signs newton_step(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double enough) {
  const int size = newton_list_support(fit);
  const double max = newton_penalised_slopes(fit, size, lambda);
  if (max <= enough)
    return SIGNS_KEPT;
  newton_conjugate_gradients(state, fit, size, fmax(enough, fmin(0.1, 5 * max / lambda) * max));
  const double first = newton_first_zero(fit, size);
  double step = 1;
  newton_truncate(fit, size, step);
  if (first < 1)
    newton_penalised_slopes(fit, size, lambda);
  while (step > first) {
    const double square = newton_multiply(state, fit, size, fit->p, fit->Kp);
    if (simd->dot(size, fit->residual, fit->p) >= square / 2)
      break;
    step = fmax(step / 4, first);
    newton_truncate(fit, size, step);
  }
  for (int i = 0; i < size; i++) {
    double *beta = fit->next.beta + fit->support[i];
    const double to = *beta + fit->p[i];
    *beta = fabs(to) < NEWTON_ZERO * fabs(*beta) ? 0 : to;
  }
  return first == 1 ? SIGNS_KEPT : step == 1 ? ALL_TRUNCATED : SOME_TRUNCATED;
}
