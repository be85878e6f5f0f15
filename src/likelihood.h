/* Losses that are half of a deviance as functions of a linear predictor. */
#ifndef SPARSELS_LIKELIHOOD_H
#define SPARSELS_LIKELIHOOD_H

#include "problem.h"

/* The rows that a loss is of. */
struct likelihood_rows {
  ptrdiff_t m, L;
  const double *y, *w;          /* m x L, the response with the offset, and m, the case weights */
  const double *known;          /* m, what the loss takes from the response alone */
  double parameter;             /* of the loss, above 0, and 0 of a loss without one */
  const struct risk_sets *risk; /* of times */
  double *memo;                 /* what a loss keeps of the last point */
};

/* v (m) := minus the gradient of the loss at the linear predictor f, h (m) := its curvature, or
   where that is not diagonal a diagonal matrix that is nowhere below it. Returns the loss, which is
   0 for the saturated model: half of the deviance. */
typedef double likelihood_loss(
    const struct likelihood_rows *rows, const double *f, double *v, double *h);

/* known (m) := what a loss takes from the response of the rows alone. */
typedef void likelihood_know(const struct likelihood_rows *rows, double *known);

/* Counts with the means exp(f) by Poisson. Shares y of w trials with the means 1 / (1 + exp(-f)),
   or with the parameter theta counts y as shares y / (y + theta) of y + theta trials, theta being
   their odds at f = 0: negative binomial with the variance mean + mean^2 / theta. */
likelihood_loss likelihood_counts, likelihood_shares;
likelihood_know likelihood_know_counts, likelihood_know_shares;

/* Times, by Cox's partial likelihood: O(m), or O(m log moments) where rows enter late. Rows without
   a weight are in no risk set. */
likelihood_loss likelihood_cox;
void likelihood_cox_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out);
ptrdiff_t likelihood_cox_memo(ptrdiff_t m, const struct risk_sets *risk);

/* What is known of a loss. */
struct likelihood {
  const char *name;
  likelihood_loss *evaluate;
  likelihood_know *know; /* NULL: nothing */

  /* Of a loss that ties rows together: out (m) := the product of t (m) with the curvature at the
     point that was evaluated last, and how many doubles are kept of a point. NULL where the
     curvature is diagonal. */
  void (*curve)(const struct likelihood_rows *rows, const double *h, const double *t, double *out);
  ptrdiff_t (*memo)(ptrdiff_t m, const struct risk_sets *risk);

  /* The third derivative along a direction is at most so many times its largest step of a row times
     the second. */
  double reach;
};

/* The loss of that name, NULL for none. */
const struct likelihood *likelihood_named(const char *name);

/* -p log p - (1 - p) log(1 - p), 0 at 0 and 1 */
double likelihood_entropy(double p);

#endif
