/* Dual values of a residual, the best of its multiples, and how near it is to the optimal one. */
#include "l1-state.h"
#include "simd.h"
#include <float.h>
#include <math.h>

/* -p log p, 0 at 0 */
static double l1_entropy_term(double p) {
  return p > 0 ? -p * log(p) : 0;
}

double l1_binary_entropy(double p) {
  return l1_entropy_term(p) + (p < 1 ? -(1 - p) * log1p(-p) : 0);
}

double l1_dual_value(const struct problem *pb, enum loss loss, const double *r, double s) {
  const ptrdiff_t m = pb->m;
  if (loss == LOGISTIC)
    return simd->entropy(m, s, pb->response, r, pb->divisor, pb->root_w);
  double value = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    value += s * r[i] * (loss == HINGE ? pb->response[i] * pb->root_w[i] : pb->y[i] - s * r[i] / 2);
  return value;
}

double l1_dual_radius(enum loss loss, double gap) {
  return sqrt(loss == LOGISTIC ? gap / 2 : 2 * gap);
}

/* ---- the best multiple ---- */

/* alpha_i / w_i of r */
static double l1_share(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(0, pb->response[i] * r[i] / pb->divisor[i]);
}

/* The logistic dual value of s r. The optimum's lower bound takes it with log1p, which has all
   digits where alpha is small. */
static double l1_entropy(const struct problem *pb, const double *r, double s) {
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += case_weight(pb, i) * l1_binary_entropy(s * l1_share(pb, r, i));
  return value;
}

/* The slope of l1_entropy() less s^2 tail / 2 along s. */
static double l1_entropy_slope(const struct problem *pb, const double *r, double tail, double s) {
  double slope = -tail * s;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double p = l1_share(pb, r, i);
    if (p > 0)
      slope += case_weight(pb, i) * p * (log1p(-fmin(s * p, 1)) - log(s * p));
  }
  return slope;
}

/* The s, 0 < s <= top, with the largest entropy of s r less s^2 tail / 2. That is concave, and flat
   where it is largest, so that half of all digits of s are enough. */
static double l1_best_multiple(const struct problem *pb, const double *r, double tail, double top) {
  if (l1_entropy_slope(pb, r, tail, top) >= 0)
    return top;
  double low = 0, high = top;
  for (int i = 0; i < 30; i++) {
    const double s = (low + high) / 2;
    if (l1_entropy_slope(pb, r, tail, s) > 0)
      low = s;
    else
      high = s;
  }
  return low > 0 ? low : high;
}

/* For squares s y'r - s^2 (r'r + tail) / 2 at the best |s| <= widest, rounded down. */
static double l1_best_square(
    const struct problem *pb, const double *r, double tail, double widest) {
  const double rr = simd->dot(pb->m, r, r) + tail, yr = simd->dot(pb->m, pb->y, r);
  const double s = fmax(-widest, fmin(rr > 0 ? yr / rr : 0, widest));
  const double rounding = DBL_EPSILON * (double)pb->m * (fabs(s * yr) + s * s * rr);
  return s * yr - s * s * rr / 2 - rounding;
}

double l1_dual_bound(const struct problem *pb, enum loss loss, const double *r, double max_abs_corr,
    double tail, double lambda) {
  const double widest = max_abs_corr > 0 ? lambda / max_abs_corr : DBL_MAX;
  if (loss == LEAST_SQUARES)
    return l1_best_square(pb, r, tail, widest);
  double total = 0, largest = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    total += case_weight(pb, i) * l1_share(pb, r, i);
    largest = fmax(largest, l1_share(pb, r, i));
  }
  if (largest == 0)
    return 0;
  const double top = fmin(widest, 1 / largest), rounding = DBL_EPSILON * (double)(pb->m + 8);
  if (loss == HINGE)
    return top * total * (1 - rounding);
  const double s = l1_best_multiple(pb, r, tail, top);
  return l1_entropy(pb, r, s) * (1 - rounding) - s * s * tail / 2 * (1 + rounding);
}
