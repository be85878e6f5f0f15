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

/* out (count x count) := their products with each other, summed over x with weights w (m); sums:
   16 for each piece. O(m knots). */
void spline_products(const struct splines *splines, ptrdiff_t m, const double *x, const double *w,
    double *sums, double *out);

/* Values x (m) with weights w, in ascending `order` by numbers from 1. */
struct quantiles {
  ptrdiff_t m, most;
  const double *x, *w;
  const int *order;
  double low, high;
};

/* Of each different value, m at most. */
struct quantile_work {
  double *value, *weight;
};

/* knots (most + 1) := all different values if they are `most` or fewer. Otherwise the values of
   more than a share 1 / (most - 1) of the weight and, of the other values, those whose weight up to
   them first reaches shares from `low` to `high`, unsorted and with duplicates. The number of them.
   O(m). */
ptrdiff_t quantile_knots(const struct quantiles *of, struct quantile_work work, double *knots);

#endif
