/* The losses of rows by a likelihood, a table. */
#include "likelihood.h"
#include "simd.h"
#include <math.h>
#include <string.h>

double likelihood_counts(
    ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h) {
  return simd->poisson(m, y, w, f, v, h);
}

/* -p log p, 0 at 0 */
static double entropy_term(double p) {
  return p > 0 ? -p * log(p) : 0;
}

double binary_entropy(double p) {
  return entropy_term(p) + (p < 1 ? -(1 - p) * log1p(-p) : 0);
}

double likelihood_shares(
    ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double t = exp(-fabs(f[i])), small = t / (1 + t), large = 1 / (1 + t);
    v[i] = w[i] * (y[i] - (f[i] > 0 ? large : small));
    h[i] = w[i] * small * large;
    sum += w[i] * (fmax(f[i], 0) - y[i] * f[i] + log1p(t) - binary_entropy(y[i]));
  }
  return sum;
}

likelihood_rows *likelihood_named(const char *name) {
  static const struct {
    const char *name;
    likelihood_rows *rows;
  } losses[] = {{"poisson", likelihood_counts}, {"binomial", likelihood_shares}};
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (strcmp(losses[i].name, name) == 0)
      return losses[i].rows;
  return NULL;
}
