/* The losses of rows by a likelihood, a table. */
#include "likelihood.h"
#include "simd.h"
#include <math.h>
#include <string.h>

double likelihood_counts(double theta, ptrdiff_t m, const double *y, const double *w,
    const double *f, double *v, double *h) {
  (void)theta;
  return simd->poisson(m, y, w, f, v, h);
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

double likelihood_shares(double theta, ptrdiff_t m, const double *y, const double *w,
    const double *f, double *v, double *h) {
  (void)theta;
  double sum = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    sum += w[i] * share_row(y[i], f[i], v + i, h + i);
    v[i] *= w[i];
    h[i] *= w[i];
  }
  return sum;
}

/* With theta given it is the loss of shares y / (y + theta) of y + theta trials, theta being their
   odds at f = 0. */
double likelihood_dispersed(double theta, ptrdiff_t m, const double *y, const double *w,
    const double *f, double *v, double *h) {
  const double odds = log(theta);
  double sum = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double trials = y[i] + theta, weight = w[i] * trials;
    sum += weight * share_row(y[i] / trials, f[i] - odds, v + i, h + i);
    v[i] *= weight;
    h[i] *= weight;
  }
  return sum;
}

likelihood_rows *likelihood_named(const char *name) {
  static const struct {
    const char *name;
    likelihood_rows *rows;
  } losses[] = {{"poisson", likelihood_counts}, {"binomial", likelihood_shares},
      {"negbin", likelihood_dispersed}};
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (strcmp(losses[i].name, name) == 0)
      return losses[i].rows;
  return NULL;
}
