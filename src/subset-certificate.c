/* A proof needs no solution: any A bounds the values of all sets from below. Here the bound is
   computed in long double, and what rounding may have cost is taken off. */
#include "subset-certificate.h"
#include <float.h>
#include <math.h>

/* A number that is no smaller, or no larger, as a double. */
static double certificate_above(long double value) {
  return nextafter((double)value, INFINITY);
}

static double certificate_below(long double value) {
  return nextafter((double)value, -INFINITY);
}

/* A sum of `terms` products differs from the exact one by at most this share of the sum of their
   sizes (Higham 2002, section 3.1). */
static long double certificate_rounding(ptrdiff_t terms) {
  return (long double)(terms + 8) * LDBL_EPSILON;
}

/* At least |x'a|. The products of rows need no more room than the lengths of x and a. */
static long double certificate_product(ptrdiff_t m, const double *x, const double *a) {
  long double sum = 0, size = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const long double product = (long double)x[i] * a[i];
    sum += product;
    size += fabsl(product);
  }
  return fabsl(sum) + certificate_rounding(m) * size;
}

void certificate_gains(
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t L, const double *X, const double *A, double *gain) {
  for (ptrdiff_t j = 0; j < n; j++) {
    long double sum = 0;
    for (ptrdiff_t l = 0; l < L; l++) {
      const long double product = certificate_product(m, X + j * m, A + l * m);
      sum += product * product;
    }
    gain[j] = certificate_above(sum * (1 + certificate_rounding(L)));
  }
}

double certificate_constant(ptrdiff_t m, ptrdiff_t L, const double *A, const double *Y) {
  long double sum = 0, size = 0;
  for (ptrdiff_t i = 0; i < m * L; i++) {
    const long double term = (2 * (long double)Y[i] - A[i]) * A[i];
    sum += term;
    size += fabsl(term) + fabsl((long double)A[i] * A[i]);
  }
  return certificate_below(sum - certificate_rounding(m * L) * size);
}
