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
  NEWTON_CG_STEPS = 300 /* of conjugate gradients, at most */
};

/* ---- products with H ---- */

/* t := t less its projection on B in the metric of H. */
static void newton_project(const struct l1_state *state, struct newton_fit *fit) {
  newton_curved_slopes(fit, fit->t, fit->g);
  newton_solve_covariates(state, fit, fit->g);
  newton_add_covariates(fit, -1, fit->g, fit->t);
}

double newton_apply_hessian(const struct l1_state *state, struct newton_fit *fit) {
  double square = 0;
  newton_end_values(fit, fit->t);
  newton_project(state, fit);
  newton_curve(state, fit, fit->t, fit->Ht);
  for (ptrdiff_t i = 0; i < l1_length(state->pb); i++)
    square += fit->Ht[i] * fit->t[i];
  newton_sums(fit, fit->Ht, fit->Ht_sum);
  return square;
}

/* ---- coordinate descent ---- */

/* Minus the gradient of the model is s + sigma h, by output: what the centres of sparse columns
   contribute is left to sigma. Its sums, and its products with B, are kept up to date. */
struct newton_gradient {
  double *sigma, *sum, *tau;
};

static struct newton_gradient newton_begin_gradient(
    const struct l1_state *state, struct newton_fit *fit) {
  memcpy(fit->s, fit->v, (size_t)l1_length(state->pb) * sizeof(double));
  memset(fit->sigma, 0, (size_t)state->pb->L * sizeof(double));
  newton_sums(fit, fit->v, fit->sum);
  newton_covariate_slopes(state, fit, fit->v, fit->now.u);
  return (struct newton_gradient){fit->sigma, fit->sum, fit->g};
}

/* The sum of h x^2 of coefficient k of the working set; sets its b, and xh where x is sparse. */
static double newton_curved_square(struct newton_fit *fit, int k) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t m = pb->m, L = pb->L, q = pb->q * L;
  const ptrdiff_t j = newton_index(fit, k), output = newton_output(fit, k);
  const double inv = pb->inv_scale[j], centre = pb->centre[j], *h = fit->h + output * m;
  for (ptrdiff_t l = 0; l < q; l++)
    fit->b[l + k * q] = inv * column_dot(x, m, j, centre, fit->HB + (l * L + output) * m,
                                  fit->HB_sum[l * L + output]);
  if (!is_sparse(x))
    return column_square(x, m, j, centre, h) * inv * inv;
  double xh = 0, xxh = 0;
  for (int i = x->p[j]; i < x->p[j + 1]; i++) {
    xh += x->x[i] * h[x->i[i]];
    xxh += x->x[i] * x->x[i] * h[x->i[i]];
  }
  fit->xh[k] = xh;
  return (xxh - centre * (2 * xh - centre * fit->h_sum[output])) * inv * inv;
}

/* Sets curvature, b, e and xh of coefficient k. That of units of several is an upper bound, as
   their outputs move together. */
static void newton_measure_column(const struct l1_state *state, struct newton_fit *fit, int k) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  const double *b = fit->b + k * q, square = newton_curved_square(fit, k);
  double *e = fit->e + k * q, curvature = square;
  memcpy(e, b, (size_t)q * sizeof(double));
  if (q > 0)
    newton_solve_covariates(state, fit, e);
  for (ptrdiff_t l = 0; l < q && fit->width == 1; l++)
    curvature -= b[l] * e[l];
  fit->curvature[k] = l1_larger(curvature, NEWTON_DEPENDENT * square) + fit->ridge;
}

/* Sets them for the working set. O(mq) each, or q times the nonzeros. */
static void newton_measure_columns(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = state->pb->m, L = state->pb->L;
  newton_sums(fit, fit->h, fit->h_sum);
  for (ptrdiff_t l = 0; l < state->pb->q * L * L; l++)
    fit->HB_sum[l] = newton_sum(m, fit->HB + l * m);
  for (int k = 0; k < fit->count; k++)
    newton_measure_column(state, fit, k);
}

/* Minus the derivative at next along coefficient k of the working set, u following. */
static double newton_slope(
    const struct newton_fit *fit, int k, const struct newton_gradient *gradient) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t q = pb->q * pb->L, j = newton_index(fit, k), output = newton_output(fit, k);
  const double *s = fit->s + output * pb->m, *e = fit->e + k * q;
  double dot = 0;
  if (!is_sparse(x))
    dot = column_dot(x, pb->m, j, pb->centre[j], s, 0);
  else
    dot = column_sparse_dot(x, j, s) + gradient->sigma[output] * fit->xh[k] -
          pb->centre[j] * gradient->sum[output];
  dot *= pb->inv_scale[j];
  for (ptrdiff_t l = 0; l < q; l++)
    dot -= e[l] * gradient->tau[l];
  return dot - fit->ridge * fit->next.beta[k];
}

/* Moves by delta along coefficient k of the working set, u following. */
static void newton_move(
    struct newton_fit *fit, int k, double delta, struct newton_gradient *gradient) {
  const struct problem *pb = &fit->local;
  const struct matrix *x = &pb->x;
  const ptrdiff_t q = pb->q * pb->L, j = newton_index(fit, k), output = newton_output(fit, k);
  const double step = delta * pb->inv_scale[j], *h = fit->h + output * pb->m;
  double *s = fit->s + output * pb->m;
  if (!is_sparse(x)) {
    column_shift_weighted(x, pb->m, j, pb->centre[j], step, h, s);
  } else {
    for (int i = x->p[j]; i < x->p[j + 1]; i++)
      s[x->i[i]] -= step * x->x[i] * h[x->i[i]];
    gradient->sigma[output] += step * pb->centre[j];
    gradient->sum[output] -= step * (fit->xh[k] - pb->centre[j] * fit->h_sum[output]);
  }
  for (ptrdiff_t l = 0; l < q; l++)
    gradient->tau[l] -= delta * fit->b[l + k * q];
  fit->next.beta[k] += delta;
}

/* to (width) := the minimum over x of curve |x - beta|^2 / 2 - slope'(x - beta) + lambda |x|, where
   it comes as the slope. */
static void newton_shrink(int width, const double *beta, double curve, double lambda, double *to) {
  for (int l = 0; l < width; l++)
    to[l] += curve * beta[l];
  const double norm = l1_unit_norm(width, to);
  for (int l = 0; l < width; l++)
    to[l] = width == 1 ? l1_soft_threshold(to[l], lambda) / curve
                       : to[l] * fmax(1 - lambda / norm, 0) / curve;
}

/* Moves the unit that begins at place k to where the model is least, with a curvature above its
   own; p is temporary. */
static void newton_descend_unit(
    struct newton_fit *fit, int k, double lambda, struct newton_gradient *gradient) {
  const int width = fit->width;
  double *to = fit->p, curvature = 0;
  for (int l = 0; l < width; l++) {
    curvature = l1_larger(curvature, fit->curvature[k + l]);
    to[l] = newton_slope(fit, k + l, gradient);
  }
  if (!(curvature > 0))
    return;
  newton_shrink(width, fit->next.beta + k, curvature, lambda, to);
  for (int l = 0; l < width; l++)
    if (to[l] != fit->next.beta[k + l])
      newton_move(fit, k + l, to[l] - fit->next.beta[k + l], gradient);
}

/* The median of x (L), the lower one of two; x is sorted. */
static double newton_median(ptrdiff_t L, double *x) {
  for (ptrdiff_t i = 1; i < L; i++) {
    const double own = x[i];
    ptrdiff_t at = i;
    for (; at > 0 && x[at - 1] > own; at--)
      x[at] = x[at - 1];
    x[at] = own;
  }
  return x[(L - 1) / 2];
}

/* What the coefficients of a column have in common over all outputs changes no loss: it goes to
   where the l1 norm is least, so that a coefficient is 0. Otherwise K would have no curvature
   there. */
static void newton_remove_common_part(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t L = state->pb->L;
  double *beta = fit->next.beta, *values = fit->constant;
  if (L == 1 || fit->width > 1 || fit->ridge > 0)
    return;
  for (int k = 0; k < fit->count; k++) {
    const int *place = fit->place + fit->number[k];
    ptrdiff_t l = 0;
    if (newton_output(fit, k) != 0)
      continue;
    for (; l < L && place[l] >= 0 && beta[place[l]] != 0; l++)
      values[l] = beta[place[l]];
    const double common = l == L ? newton_median(L, values) : 0;
    for (l = 0; l < L && common != 0; l++)
      beta[place[l]] -= common;
  }
}

/* corr := the slopes at next by H itself, which coordinate descent has taken for diag(h), of the
   units that have a coefficient there. */
static void newton_renew_slopes(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  newton_begin_values(fit, fit->t);
  for (int k = 0; k < fit->count; k++)
    if (fit->next.beta[k] != fit->now.beta[k])
      newton_add_values(fit, k, fit->next.beta[k] - fit->now.beta[k], fit->t);
  newton_apply_hessian(state, fit);
  for (ptrdiff_t i = 0; i < l1_length(state->pb); i++)
    fit->s[i] = fit->v[i] - fit->Ht[i];
  newton_sums(fit, fit->s, fit->sum);
  newton_covariate_slopes(state, fit, fit->v, fit->now.u);
  for (int k = 0; k < fit->count; k++)
    if (newton_norm(fit, fit->next.beta, newton_unit(fit, k)) != 0)
      fit->corr[k] = newton_product(fit, k, fit->s, fit->sum) -
                     simd->dot(q, fit->e + k * q, fit->g) - fit->ridge * fit->next.beta[k];
}

/* The rounds of newton_descend() by H itself, of one output: each move costs a product with it. */
static void newton_descend_exactly(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double level) {
  for (int round = 0; round <= NEWTON_EPOCHS; round++)
    for (int k = 0; k < fit->count; k++) {
      double *beta = fit->next.beta + k;
      if (*beta == 0 && (round == NEWTON_EPOCHS || fabs(fit->corr[k]) < level))
        continue;
      const double slope = newton_product(fit, k, fit->s, fit->sum) - fit->ridge * *beta;
      if (round == NEWTON_EPOCHS) {
        fit->corr[k] = slope;
        continue;
      }
      if (*beta == 0 && fabs(slope) <= lambda)
        continue;
      newton_begin_values(fit, fit->t);
      newton_add_values(fit, k, 1, fit->t);
      const double least = NEWTON_DEPENDENT * fit->curvature[k];
      fit->curvature[k] = l1_larger(newton_apply_hessian(state, fit), least) + fit->ridge;
      if (!(fit->curvature[k] > 0))
        continue;
      double to = slope;
      newton_shrink(1, beta, fit->curvature[k], lambda, &to);
      const double change = to - *beta;
      *beta = to;
      simd->shift(state->pb->m, fit->s, change, fit->Ht);
      fit->sum[0] -= change * fit->Ht_sum[0];
    }
}

void newton_descend(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double level, int exact) {
  const double *beta = fit->next.beta;
  if (fit->by_gram) {
    newton_gram_descend(fit, lambda, level);
    return;
  }
  newton_measure_columns(state, fit);
  struct newton_gradient gradient = newton_begin_gradient(state, fit);
  if (exact) {
    newton_descend_exactly(state, fit, lambda, level);
    return;
  }
  for (int epoch = 0; epoch < NEWTON_EPOCHS; epoch++)
    for (int k = 0; k < fit->count; k += fit->width)
      if (newton_norm(fit, beta, k) != 0 || newton_norm(fit, fit->corr, k) >= level)
        newton_descend_unit(fit, k, lambda, &gradient);
  newton_remove_common_part(state, fit);
  if (l1_loss_of(state)->curve != NULL)
    newton_renew_slopes(state, fit);
  else
    for (int k = 0; k < fit->count; k++)
      fit->corr[k] = beta[k] != 0 ? newton_slope(fit, k, &gradient) : 0;
}

/* ---- products with K ---- */

/* The sum over the unit of the support that begins with entry i of beta x, where beta is at next.
 */
static double newton_along(const struct newton_fit *fit, int i, const double *x) {
  const double *beta = fit->next.beta + fit->support[i];
  double along = 0;
  for (int l = 0; l < fit->width; l++)
    along += beta[l] * x[i + l];
  return along;
}

/* The second derivatives of the penalty on the units of the support: out += D x, with D for each of
   them lambda (I - n n') / |beta| where n is beta / |beta|. Returns x'Dx. */
static double newton_bend(
    const struct l1_state *state, struct newton_fit *fit, int size, const double *x, double *out) {
  const int width = fit->width;
  double square = 0;
  for (int i = 0; i < size && width > 1; i += width) {
    const double *beta = fit->next.beta + fit->support[i], norm = l1_unit_norm(width, beta);
    const double along = newton_along(fit, i, x) / (norm * norm);
    for (int l = 0; l < width; l++) {
      const double bent = state->lambda * (x[i + l] - along * beta[l]) / norm;
      out[i + l] += bent;
      square += bent * x[i + l];
    }
  }
  return square;
}

/* out := (K + D) x on the support; returns x'(K + D)x. */
static double newton_multiply(
    const struct l1_state *state, struct newton_fit *fit, int size, const double *x, double *out) {
  double square;
  if (fit->by_gram) {
    newton_gram_multiply(fit, size, x, out);
    square = simd->dot(size, x, out);
  } else {
    newton_begin_values(fit, fit->t);
    for (int i = 0; i < size; i++)
      if (x[i] != 0)
        newton_add_values(fit, fit->support[i], x[i], fit->t);
    square = newton_apply_hessian(state, fit);
    for (int i = 0; i < size; i++)
      out[i] = newton_product(fit, fit->support[i], fit->Ht, fit->Ht_sum);
  }
  simd->shift(size, out, -fit->ridge, x);
  return square + fit->ridge * simd->dot(size, x, x) + newton_bend(state, fit, size, x, out);
}

/* ---- the preconditioner ---- */

/* What a product of all columns of the support with a vector costs; a step through the nonzeros is
   taken for four of a dense loop. */
static double newton_product_cost(const struct newton_fit *fit, int size) {
  const int *p = fit->local.x.p;
  double filled = 0;
  if (fit->by_gram)
    return (double)fit->gram.order * size;
  if (p == NULL)
    return (double)fit->local.m * size;
  for (int i = 0; i < size; i++)
    filled += p[fit->support[i] + 1] - p[fit->support[i]];
  return 4 * filled + 4 * (double)fit->local.m;
}

/* Makes the factor of K + D on the support; z is temporary. */
static void newton_factor_support(const struct l1_state *state, struct newton_fit *fit, int size) {
  memset(fit->z, 0, (size_t)size * sizeof(double));
  for (int j = 0; j < size; j++) {
    double *column = fit->K + (ptrdiff_t)j * size;
    fit->z[j] = 1;
    newton_multiply(state, fit, j + 1, fit->z, column);
    fit->z[j] = 0;
    column[j] = (column[j] - fit->ridge) * (1 + NEWTON_RIDGE) + fit->ridge;
    fit->factor_number[j] = fit->number[fit->support[j]];
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

/* factor_row := where each coefficient of the working set is in the factor. */
static void newton_find_rows(struct newton_fit *fit) {
  for (int k = 0; k < fit->count; k++)
    fit->factor_row[k] = -1;
  for (int r = 0; r < fit->factored; r++)
    if (fit->place[fit->factor_number[r]] >= 0)
      fit->factor_row[fit->place[fit->factor_number[r]]] = r;
}

/* z := M^-1 residual: the factor's inverse for its coefficients, the inverse diagonal for the
 * others.
 */
static void newton_precondition(const struct l1_state *state, struct newton_fit *fit, int size) {
  const int order = fit->factored;
  for (int r = 0; r < order; r++)
    fit->y[r] = 0;
  for (int i = 0; i < size; i++)
    if (fit->factor_row[fit->support[i]] >= 0)
      fit->y[fit->factor_row[fit->support[i]]] = fit->residual[i];
  solve_transposed(order, fit->K, order, fit->y);
  solve_upper(order, fit->K, order, fit->y);
  for (int i = 0; i < size; i++) {
    const int k = fit->support[i];
    const double bent =
        fit->width > 1 ? state->lambda / newton_norm(fit, fit->next.beta, newton_unit(fit, k)) : 0;
    fit->z[i] = fit->factor_row[k] >= 0 ? fit->y[fit->factor_row[k]]
                                        : fit->residual[i] / (fit->curvature[k] + bent);
  }
}

/* ---- conjugate gradients ---- */

static double newton_max_abs(int size, const double *x) {
  double max = 0;
  for (int i = 0; i < size; i++)
    max = l1_larger(max, fabs(x[i]));
  return max;
}

/* A unit has turned where its coefficients and those before make no product above 0: one
   coefficient has changed its sign. */

/* Extends d along p to where the first unit turns, unless one turns within d. */
static void newton_extend_to_zero(struct newton_fit *fit, int size) {
  const double *beta = fit->next.beta;
  double step = INFINITY;
  for (int i = 0; i < size; i += fit->width) {
    const double norm = newton_norm(fit, beta, fit->support[i]);
    const double after = norm * norm + newton_along(fit, i, fit->d);
    const double slope = newton_along(fit, i, fit->p);
    if (after <= 0)
      return;
    if (slope < 0)
      step = fmin(step, -after / slope);
  }
  if (step < INFINITY)
    simd->shift(size, fit->d, -step, fit->p);
}

/* d := about (K + D)^-1 residual, up to where no entry of the residual exceeds `enough`; it is
   updated. Along a direction without curvature, d goes to the first zero. */
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
    newton_precondition(state, fit, size);
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

/* Lists the places of the units at next that are not zero; returns how many. */
static int newton_list_support(struct newton_fit *fit) {
  int size = 0;
  for (int k = 0; k < fit->count; k++)
    if (newton_norm(fit, fit->next.beta, newton_unit(fit, k)) != 0)
      fit->support[size++] = k;
  return size;
}

/* How far d goes before a unit turns, 1 at most. */
static double newton_first_zero(const struct newton_fit *fit, int size) {
  double first = 1;
  for (int i = 0; i < size; i += fit->width) {
    const double norm = newton_norm(fit, fit->next.beta, fit->support[i]);
    const double along = newton_along(fit, i, fit->d);
    if (norm * norm + along <= 0)
      first = fmin(first, -norm * norm / along);
  }
  return first;
}

/* p := step d, its units ending at zero where they would turn. */
static void newton_truncate(struct newton_fit *fit, int size, double step) {
  for (int i = 0; i < size; i += fit->width) {
    const double *beta = fit->next.beta + fit->support[i], norm = l1_unit_norm(fit->width, beta);
    const int turns = norm * norm + step * newton_along(fit, i, fit->d) <= 0;
    for (int l = 0; l < fit->width; l++)
      fit->p[i + l] = turns ? -beta[l] : step * fit->d[i + l];
  }
}

/* residual := the slopes at next less those of the penalty; returns the largest in absolute value.
 */
static double newton_penalised_slopes(struct newton_fit *fit, int size, double lambda) {
  double max = 0;
  for (int i = 0; i < size; i++) {
    const int k = fit->support[i];
    const double norm = newton_norm(fit, fit->next.beta, newton_unit(fit, k));
    fit->residual[i] = fit->corr[k] - lambda * (fit->next.beta[k] / norm);
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
  for (int i = 0; i < size; i += fit->width) {
    double *beta = fit->next.beta + fit->support[i], *to = fit->p + i;
    for (int l = 0; l < fit->width; l++)
      to[l] += beta[l];
    const int is_zero = l1_unit_norm(fit->width, to) < NEWTON_ZERO * l1_unit_norm(fit->width, beta);
    for (int l = 0; l < fit->width; l++)
      beta[l] = is_zero ? 0 : to[l];
  }
  return first == 1 ? SIGNS_KEPT : step == 1 ? ALL_TRUNCATED : SOME_TRUNCATED;
}
