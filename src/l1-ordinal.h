/* Ordered classes by cumulative links, logit and probit, as losses of l1 paths: see struct l1_loss.
 */
#ifndef SPARSELS_L1_ORDINAL_H
#define SPARSELS_L1_ORDINAL_H

#include "l1-state.h"

/* The loss of classes 1, 2, .. at f is the least sum of -w log (s(a_k - f) - s(a_(k-1) - f)) over
   the rows, k their classes, for any cuts a_1 < a_2 < .., with s(x) = 1 / (1 + exp(-x)) or the
   normal distribution function. */
double l1_ordinal_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h);
double l1_probit_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h);
void l1_ordinal_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out);
ptrdiff_t l1_ordinal_memo(const struct problem *pb);

/* The conjugate, of probit a lower bound that is sharp at s = 1. */
double l1_ordinal_value(const struct problem *pb, double *memo, const double *r, double s);
double l1_probit_value(const struct problem *pb, double *memo, const double *r, double s);

/* An upper bound of the curvature of logit for given cuts. The curvature of probit is nowhere
   above 1. */
double l1_ordinal_curvature(const struct problem *pb, const double *r, ptrdiff_t i);

#endif
