/* Natural cubic splines. */
#ifndef SPARSELS_SPLINE_H
#define SPARSELS_SPLINE_H

#include <stddef.h>

/* Functions of one variable with the same knots, by what they are there. */
struct splines {
  ptrdiff_t knots, count;
  const double *at;     /* knots, ascending */
  double unit;          /* what second derivatives are measured in */
  const double *values; /* knots x count */
  const double *second; /* knots x count, second derivatives, 0 at both ends */
};

/* out (m x count) := the functions at x (m), lines beyond the knots. O(m (knots + count)). */
void spline_values(const struct splines *splines, ptrdiff_t m, const double *x, double *out);

#endif
