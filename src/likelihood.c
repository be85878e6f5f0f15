/* Losses by a likelihood, a table. */
#include "likelihood.h"
#include "simd.h"
#include <math.h>
#include <string.h>

double likelihood_counts(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  return simd->poisson(rows->m, rows->y, rows->w, f, v, h);
}

/* -p log p, 0 at 0 */
static double entropy_term(double p) {
  return p > 0 ? -p * log(p) : 0;
}

double likelihood_entropy(double p) {
  return entropy_term(p) + (p < 1 ? -(1 - p) * log1p(-p) : 0);
}

/* A row of a share y from f, for a weight of 1. */
static inline double share_row(double y, double f, double *v, double *h) {
  const double t = exp(-fabs(f)), small = t / (1 + t), large = 1 / (1 + t);
  *v = y - (f > 0 ? large : small);
  *h = small * large;
  return fmax(f, 0) - y * f + log1p(t) - likelihood_entropy(y);
}

double likelihood_shares(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const double w = rows->w[i];
    sum += w * share_row(rows->y[i], f[i], v + i, h + i);
    v[i] *= w;
    h[i] *= w;
  }
  return sum;
}

/* With theta given it is the loss of shares y / (y + theta) of y + theta trials, theta being their
   odds at f = 0. */
double likelihood_dispersed(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  const double odds = log(rows->theta);
  double sum = 0;
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const double trials = rows->y[i] + rows->theta, weight = rows->w[i] * trials;
    sum += weight * share_row(rows->y[i] / trials, f[i] - odds, v + i, h + i);
    v[i] *= weight;
    h[i] *= weight;
  }
  return sum;
}

const struct likelihood *likelihood_named(const char *name) {
  static const struct likelihood losses[] = {
      {.name = "poisson", .evaluate = likelihood_counts, .reach = 1},
      {.name = "binomial", .evaluate = likelihood_shares, .reach = 1},
      {.name = "negbin", .evaluate = likelihood_dispersed, .reach = 1},
      {.name = "cox",
          .evaluate = likelihood_cox,
          .curve = likelihood_cox_curve,
          .memo = likelihood_cox_memo,
          .reach = 2},
  };
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (strcmp(losses[i].name, name) == 0)
      return losses + i;
  return NULL;
}
