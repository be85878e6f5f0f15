/* The dual bound of a proof in extended precision, with margins for its own rounding. */
#ifndef SPARSELS_SUBSET_CERTIFICATE_H
#define SPARSELS_SUBSET_CERTIFICATE_H

#include <stddef.h>

/* gain (n) := at least |x_j'A|^2 for X (m x n) and A (m x L) as they are stored. O(m n L) */
void certificate_gains(
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t L, const double *X, const double *A, double *gain);

/* At most 2 <A, Y> - |A|^2, for A and Y (m x L) as they are stored. O(m L) */
double certificate_constant(ptrdiff_t m, ptrdiff_t L, const double *A, const double *Y);

#endif
