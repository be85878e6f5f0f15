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

void newton_sums(const struct newton_fit *fit, const double *x, double *sum) {
  for (ptrdiff_t l = 0; l < fit->local.L; l++)
    sum[l] = newton_sum(fit->local.m, x + l * fit->local.m);
}

/* ---- values ---- */

void newton_begin_values(const struct newton_fit *fit, double *x) {
  memset(x, 0, (size_t)l1_length(&fit->local) * sizeof(double));
  memset(fit->constant, 0, (size_t)fit->local.L * sizeof(double));
}

void newton_add_values(const struct newton_fit *fit, int k, double beta, double *x) {
  const ptrdiff_t l = newton_output(fit, k);
  l1_add_column(&fit->local, newton_index(fit, k), beta, x + l * fit->local.m, fit->constant + l);
}

void newton_end_values(const struct newton_fit *fit, double *x) {
  const ptrdiff_t m = fit->local.m;
  for (ptrdiff_t l = 0; l < fit->local.L; l++)
    for (ptrdiff_t i = l * m; i < (l + 1) * m && fit->constant[l] != 0; i++)
      x[i] += fit->constant[l];
}

void newton_add_covariates(
    const struct newton_fit *fit, double factor, const double *u, double *x) {
  const ptrdiff_t m = fit->local.m, q = fit->local.q;
  for (ptrdiff_t k = 0; k < q * fit->local.L; k++)
    simd->shift(m, x + k / q * m, -factor * u[k], fit->B + k % q * m);
}

void newton_curved_slopes(const struct newton_fit *fit, const double *x, double *u) {
  const ptrdiff_t m = l1_length(&fit->local), q = fit->local.q * fit->local.L;
  for (ptrdiff_t k = 0; k < q; k++)
    u[k] = simd->dot(m, fit->HB + k * m, x);
}

/* ---- points ---- */

double newton_penalty(
    const struct newton_fit *fit, const struct newton_point *point, double lambda) {
  return lambda * point->l1 + fit->ridge * point->squares / 2;
}

double newton_covariate_penalty(
    const struct l1_state *state, const struct newton_fit *fit, const struct newton_point *point) {
  return fit->covariate_ridge / 2 * simd->dot(state->pb->q * state->pb->L, point->u, point->u);
}

void newton_measure_penalty(const struct newton_fit *fit, struct newton_point *point) {
  point->l1 = point->squares = 0;
  for (int k = 0; k < fit->count; k += fit->width)
    point->l1 += newton_norm(fit, point->beta, k);
  for (int k = 0; k < fit->count; k++)
    point->squares += point->beta[k] * point->beta[k];
}

void newton_predict(const struct newton_fit *fit, struct newton_point *point) {
  newton_measure_penalty(fit, point);
  newton_begin_values(fit, point->base);
  for (int k = 0; k < fit->count; k++)
    if (point->beta[k] != 0)
      newton_add_values(fit, k, point->beta[k], point->base);
  newton_end_values(fit, point->base);
}

void newton_evaluate(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point) {
  const ptrdiff_t m = l1_length(state->pb);
  memcpy(fit->f, point->base, (size_t)m * sizeof(double));
  newton_add_covariates(fit, 1, point->u, fit->f);
  if (state->pb->offset != NULL)
    simd->shift(m, fit->f, -1, state->pb->offset);
  point->loss = l1_loss_of(state)->evaluate(&fit->rows, fit->f, fit->v, fit->h) +
                newton_covariate_penalty(state, fit, point);
  fit->correlated = 0;
}

void newton_curve(
    const struct l1_state *state, const struct newton_fit *fit, const double *t, double *out) {
  const struct l1_loss *loss = l1_loss_of(state);
  if (loss->curve != NULL)
    loss->curve(&fit->rows, fit->h, t, out);
  else
    for (ptrdiff_t i = 0; i < l1_length(state->pb); i++)
      out[i] = fit->h[i] * t[i];
}

/* ---- covariates ---- */

/* Adds to BHB, at the same two covariates of any two outputs, what they have on average within one:
   then nothing is flat, and what sums to 0 over the outputs still does when it is solved for. */
static void newton_hold_common_part(const struct newton_fit *fit) {
  const ptrdiff_t one = fit->local.q, L = fit->local.L, q = one * L;
  for (ptrdiff_t k = 0; k < one * one; k++) {
    const ptrdiff_t low = k % one, high = k / one;
    double mean = 0;
    for (ptrdiff_t l = 0; l < L && low <= high; l++)
      mean += fit->BHB[low + l * one + (high + l * one) * q] / (double)(L * L);
    for (ptrdiff_t l = 0; l < L * L && low <= high; l++) {
      const ptrdiff_t a = l % L * one, b = l / L * one;
      if (low + a <= high + b)
        fit->BHB[low + a + (high + b) * q] += mean;
      if (low != high && high + a <= low + b)
        fit->BHB[high + a + (low + b) * q] += mean;
    }
  }
}

int newton_factor_covariates(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = state->pb->m, one = state->pb->q, L = state->pb->L, q = one * L;
  for (ptrdiff_t l = 0; l < q; l++) {
    double *column = fit->HB + l * m * L;
    memset(fit->t, 0, (size_t)(m * L) * sizeof(double));
    memcpy(fit->t + l / one * m, fit->B + l % one * m, (size_t)m * sizeof(double));
    newton_curve(state, fit, fit->t, column);
    for (ptrdiff_t k = 0; k <= l; k++)
      fit->BHB[k + l * q] = simd->dot(m, fit->B + k % one * m, column + k / one * m);
    fit->BHB[l + l * q] += fit->covariate_ridge;
  }
  if (L > 1)
    newton_hold_common_part(fit);
  if (q == 0 || lapack_cholesky(q, fit->BHB) == 0)
    return 0;
  for (ptrdiff_t l = 0; l < q * q; l++)
    fit->BHB[l] = l % (q + 1) == 0 ? INFINITY : 0;
  return 1;
}

int newton_is_separated(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  if (newton_factor_covariates(state, fit) != 0)
    return 1;
  for (ptrdiff_t l = 0; l < q; l++)
    if (fit->BHB[l + l * q] * fit->BHB[l + l * q] < NEWTON_SEPARATED * fit->unit)
      return 1;
  return 0;
}

void newton_solve_covariates(
    const struct l1_state *state, const struct newton_fit *fit, double *x) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
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
  const ptrdiff_t m = state->pb->m, one = state->pb->q, q = one * state->pb->L;
  for (ptrdiff_t l = 0; l < q; l++) {
    fit->g[l] = simd->dot(m, fit->B + l % one * m, x + l / one * m);
    if (u != NULL)
      fit->g[l] -= fit->covariate_ridge * u[l];
  }
  return sqrt(simd->dot(q, fit->g, fit->g));
}

int newton_balance(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = l1_length(state->pb);
  const double ridge = fit->covariate_ridge;
  double largest = 0;
  if (l1_loss_of(state)->relative)
    return 0;
  fit->covariate_ridge = 0;
  const int failed = newton_factor_covariates(state, fit);
  fit->covariate_ridge = ridge;
  if (failed)
    return 0;
  newton_covariate_slopes(state, fit, fit->v, NULL);
  newton_solve_covariates(state, fit, fit->g);
  memset(fit->t, 0, (size_t)m * sizeof(double));
  newton_add_covariates(fit, 1, fit->g, fit->t);
  for (ptrdiff_t i = 0; i < m; i++)
    largest = fmax(largest, fabs(fit->t[i]));
  if (!(largest * (state->pb->L > 1 ? 2 : 1) <= NEWTON_BALANCE_CHANGE))
    return 0;
  newton_curve(state, fit, fit->t, fit->Ht);
  for (ptrdiff_t i = 0; i < m; i++)
    fit->t[i] = fit->v[i] - fit->Ht[i];
  return 1;
}

/* Newton steps on the covariates, halvings of each, and the change of f by each, at most. Where f
   is far from its optimum a loss has hardly any curvature, and a step would lead much too far. */
enum { NEWTON_COVARIATE_STEPS = 60, NEWTON_COVARIATE_HALVINGS = 40, NEWTON_COVARIATE_CHANGE = 16 };

/* Solves for the step of u, from the slopes in fit->g, with a root mean square change of f that is
   not too large for `weight`, the sum of the weights. */
static void newton_covariate_step(
    const struct l1_state *state, struct newton_fit *fit, double weight) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  newton_solve_covariates(state, fit, fit->g);
  const double length = sqrt(simd->dot(q, fit->g, fit->g));
  const double longest = NEWTON_COVARIATE_CHANGE * sqrt(weight);
  for (ptrdiff_t l = 0; l < q && length > longest; l++)
    fit->g[l] *= longest / length;
}

void newton_optimise_covariates(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  double loss = INFINITY, before = INFINITY, *step = fit->g;
  const double weight = newton_sum(state->pb->m, fit->w), length = fit->unit * sqrt(weight);
  newton_evaluate(state, fit, point);
  for (int i = 0; i < NEWTON_COVARIATE_STEPS && q > 0; i++) {
    const double slope = newton_covariate_slopes(state, fit, fit->v, point->u);
    if (slope <= NEWTON_BALANCED * length ||
        (slope <= NEWTON_NEARLY_BALANCED * length && slope > before / 2) ||
        newton_factor_covariates(state, fit) != 0)
      return;
    before = slope;
    loss = point->loss;
    newton_covariate_step(state, fit, weight);
    for (ptrdiff_t l = 0; l < q; l++)
      point->u[l] += step[l];
    newton_evaluate(state, fit, point);
    for (int halved = 0; !(point->loss <= loss * (1 + RISE)) && halved < NEWTON_COVARIATE_HALVINGS;
         halved++) {
      for (ptrdiff_t l = 0; l < q; l++)
        point->u[l] -= step[l] /= 2;
      newton_evaluate(state, fit, point);
    }
  }
}
