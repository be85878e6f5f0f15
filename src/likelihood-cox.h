/* What likelihood-cox.c keeps of a point of the partial likelihood, for its dual values too. */
#ifndef SPARSELS_LIKELIHOOD_COX_H
#define SPARSELS_LIKELIHOOD_COX_H

#include "likelihood.h"

/* What is kept of a point. Where rows enter late the level of a moment is the largest f of its
   stratum, otherwise of the rows at risk, so that no sum over these is lost. */
struct cox {
  const struct risk_sets *risk;
  double *f;     /* m, less the level of the row's last moment */
  double *a;     /* m, w exp(f) */
  double *rows;  /* m, temporary */
  double *level; /* moments, less the level of the first of the stratum */
  double *decay; /* moments, exp() of how much less the level of the next one is, 0 for the last
                    of a stratum */
  double *weight, *tied; /* moments: the weight and the number of its events */
  double *full, *own; /* moments: the sum of a over the rows at risk but its events; over these */
  double *hazard, *x, *y; /* moments, temporary */
  double *tree;           /* 2 moments, temporary */
};

/* The layout of `memo`, of likelihood_cox_memo() doubles. */
struct cox cox_at(const struct risk_sets *risk, ptrdiff_t m, double *memo);

/* The last moment at which a row is at risk, -1 of a row that never is. */
ptrdiff_t cox_last(const struct risk_sets *risk, ptrdiff_t i);

/* full (moments) := the sum of z (m), which has the factor a, over the rows at risk at each moment
   but for its own events, and own (moments) := the sum over these. O(m) or O(m log moments) */
void cox_sum_rows(const struct cox *cox, ptrdiff_t m, const double *z, double *full, double *own);

/* How many sums moment t has, and the share of its events in the r-th. */
ptrdiff_t cox_sums(const struct cox *cox, ptrdiff_t t);
double cox_share(const struct cox *cox, ptrdiff_t t, ptrdiff_t r);

#endif
