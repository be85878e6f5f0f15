/* Points of the Newton engine: the loss at a model, and the covariates' coefficients, which are
   optimal at every point that the engine keeps. */
#include "l1-newton.h"
#include "blas.h"
#include "simd.h"
#include <math.h>
#include <string.h>

double newton_sum(ptrdiff_t m, const double *x) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    sum += x[i];
  return sum;
}

void newton_add_constant(ptrdiff_t m, double *x, double constant) {
  if (constant != 0)
    for (ptrdiff_t i = 0; i < m; i++)
      x[i] += constant;
}

double newton_penalty(
    const struct newton_fit *fit, const struct newton_point *point, double lambda) {
  return lambda * point->l1 + fit->ridge * point->squares / 2;
}

double newton_covariate_penalty(
    const struct l1_state *state, const struct newton_fit *fit, const struct newton_point *point) {
  return fit->covariate_ridge / 2 * simd->dot(state->pb->q, point->u, point->u);
}

void newton_predict(const struct newton_fit *fit, struct newton_point *point) {
  double offset = 0;
  point->l1 = point->squares = 0;
  memset(point->base, 0, (size_t)fit->local.m * sizeof(double));
  for (int k = 0; k < fit->count; k++)
    if (point->beta[k] != 0) {
      l1_add_column(&fit->local, newton_index(fit, k), point->beta[k], point->base, &offset);
      point->l1 += fabs(point->beta[k]);
      point->squares += point->beta[k] * point->beta[k];
    }
  newton_add_constant(fit->local.m, point->base, offset);
}

void newton_evaluate(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point) {
  const ptrdiff_t m = state->pb->m;
  memcpy(fit->f, point->base, (size_t)m * sizeof(double));
  for (ptrdiff_t l = 0; l < state->pb->q; l++)
    simd->shift(m, fit->f, -point->u[l], fit->B + l * m);
  if (state->pb->offset != NULL)
    simd->shift(m, fit->f, -1, state->pb->offset);
  point->loss = l1_loss_of(state)->evaluate(&fit->rows, fit->f, fit->v, fit->h) +
                newton_covariate_penalty(state, fit, point);
}

void newton_curve(
    const struct l1_state *state, const struct newton_fit *fit, const double *t, double *out) {
  const struct l1_loss *loss = l1_loss_of(state);
  if (loss->curve != NULL)
    loss->curve(&fit->rows, fit->h, t, out);
  else
    for (ptrdiff_t i = 0; i < fit->rows.m; i++)
      out[i] = fit->h[i] * t[i];
}

/* ---- covariates ---- */

int newton_factor_covariates(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = state->pb->m, q = state->pb->q;
  for (ptrdiff_t l = 0; l < q; l++) {
    double *column = fit->HB + l * m;
    newton_curve(state, fit, fit->B + l * m, column);
    for (ptrdiff_t k = 0; k <= l; k++)
      fit->BHB[k + l * q] = simd->dot(m, fit->B + k * m, column);
    fit->BHB[l + l * q] += fit->covariate_ridge;
  }
  if (q == 0 || lapack_cholesky(q, fit->BHB) == 0)
    return 0;
  for (ptrdiff_t l = 0; l < q * q; l++)
    fit->BHB[l] = l % (q + 1) == 0 ? INFINITY : 0;
  return 1;
}

int newton_is_separated(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t q = state->pb->q;
  if (newton_factor_covariates(state, fit) != 0)
    return 1;
  for (ptrdiff_t l = 0; l < q; l++)
    if (fit->BHB[l + l * q] * fit->BHB[l + l * q] < NEWTON_SEPARATED * fit->unit)
      return 1;
  return 0;
}

void newton_solve_covariates(
    const struct l1_state *state, const struct newton_fit *fit, double *x) {
  const ptrdiff_t q = state->pb->q;
  for (ptrdiff_t j = 0; j < q; j++) {
    for (ptrdiff_t k = 0; k < j; k++)
      x[j] -= fit->BHB[k + j * q] * x[k];
    x[j] /= fit->BHB[j + j * q];
  }
  for (ptrdiff_t j = q - 1; j >= 0; j--) {
    x[j] /= fit->BHB[j + j * q];
    for (ptrdiff_t k = 0; k < j; k++)
      x[k] -= fit->BHB[k + j * q] * x[j];
  }
}

double newton_covariate_slopes(
    const struct l1_state *state, struct newton_fit *fit, const double *x, const double *u) {
  const ptrdiff_t m = state->pb->m, q = state->pb->q;
  for (ptrdiff_t l = 0; l < q; l++) {
    fit->g[l] = simd->dot(m, fit->B + l * m, x);
    if (u != NULL)
      fit->g[l] -= fit->covariate_ridge * u[l];
  }
  return sqrt(simd->dot(q, fit->g, fit->g));
}

/* Newton steps on the covariates, and halvings of each, at most. */
enum { NEWTON_COVARIATE_STEPS = 60, NEWTON_COVARIATE_HALVINGS = 40 };

void newton_optimise_covariates(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point) {
  const ptrdiff_t q = state->pb->q;
  double length = 0, loss = INFINITY, before = INFINITY, *step = fit->g;
  for (ptrdiff_t i = 0; i < state->pb->m; i++)
    length += fit->w[i];
  length = fit->unit * sqrt(length);
  newton_evaluate(state, fit, point);
  for (int i = 0; i < NEWTON_COVARIATE_STEPS && q > 0; i++) {
    const double slope = newton_covariate_slopes(state, fit, fit->v, point->u);
    if (slope <= NEWTON_BALANCED * length ||
        (slope <= NEWTON_NEARLY_BALANCED * length && slope > before / 2) ||
        newton_factor_covariates(state, fit) != 0)
      return;
    before = slope;
    loss = point->loss;
    newton_solve_covariates(state, fit, step);
    for (ptrdiff_t l = 0; l < q; l++)
      point->u[l] += step[l];
    newton_evaluate(state, fit, point);
    for (int halved = 0; point->loss > loss * (1 + RISE) && halved < NEWTON_COVARIATE_HALVINGS;
         halved++) {
      for (ptrdiff_t l = 0; l < q; l++)
        point->u[l] -= step[l] /= 2;
      newton_evaluate(state, fit, point);
    }
  }
}
