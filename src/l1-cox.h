/* Cox's partial likelihood as a loss of l1 paths: see struct l1_loss. */
#ifndef SPARSELS_L1_COX_H
#define SPARSELS_L1_COX_H

#include "l1-state.h"

/* How many doubles likelihood_cox() keeps. */
ptrdiff_t l1_cox_memo(const struct problem *pb);

/* The conjugate, or a lower bound of it where rows enter late or ties are Efron's. */
double l1_cox_value(const struct problem *pb, double *memo, const double *r, double s);

/* Of a diagonal matrix that is nowhere below the curvature. */
double l1_cox_curvature(const struct problem *pb, const double *r, ptrdiff_t i);

#endif
