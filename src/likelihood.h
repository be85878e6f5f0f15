/* Losses that are half of a deviance, row by row, as functions of a linear predictor. */
#ifndef SPARSELS_LIKELIHOOD_H
#define SPARSELS_LIKELIHOOD_H

#include <stddef.h>

/* v (m) := minus the gradient of the loss at the linear predictor f, h (m) := its curvature.
   Returns the loss, which is 0 for the saturated model: half of the deviance. y are the responses
   and w their weights. The third derivative along a direction is at most its largest step of a row
   times the second. */
typedef double likelihood_rows(double theta, ptrdiff_t m, const double *y, const double *w,
    const double *f, double *v, double *h);

/* A loss with its parameter, if it has one. */
struct likelihood {
  likelihood_rows *rows;
  double theta;
};

/* Counts with the means exp(f), Poisson or negative binomial with the variance mean + mean^2 /
   theta, and shares y of w trials with the means 1 / (1 + exp(-f)). */
likelihood_rows likelihood_counts, likelihood_dispersed, likelihood_shares;

/* The loss of that name, NULL for none. */
likelihood_rows *likelihood_named(const char *name);

/* -p log p - (1 - p) log(1 - p), 0 at 0 and 1 */
double likelihood_entropy(double p);

#endif
