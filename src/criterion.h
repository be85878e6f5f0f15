/* How good is a model, by its held-out residuals. */
#ifndef SPARSELS_CRITERION_H
#define SPARSELS_CRITERION_H

#include "problem.h"

enum criterion { SQUARED = 0, ERROR = 1, ABSOLUTE = 2, AUC = 3, USER = 4 };

struct figure {
  double value; /* smaller is better */
  double se;    /* standard error over folds, NAN where there is none */
};

/* Criterion of the residuals r (m x L, user's units) over one partition; rows of fold f are
   order[start[f] .. start[f + 1]). O(mL); AUC: O(sum of positive x negative pairs within folds). */
struct figure judge_folds(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count);

/* Loss of a pair of scores: 0 in the right order, 1 in the wrong one, a tie counts half. */
double pair_loss(double positive, double negative);

/* The same value without its standard error, for the many candidates of a step. */
double judge_rows(const struct problem *pb, enum criterion kind, const double *r);

#endif
