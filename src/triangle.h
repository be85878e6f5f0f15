/* Cholesky factors of small dense matrices: R is upper triangular, its columns ld apart. */
#ifndef SPARSELS_TRIANGLE_H
#define SPARSELS_TRIANGLE_H

#include <stddef.h>

/* Upper triangle of A (n x n, lower triangle given, columns ld apart) := the Cholesky factor R,
   lower triangle := R'. A squared pivot is at least `floor`. O(n^3) */
void factor_in_place(ptrdiff_t n, double *A, ptrdiff_t ld, double floor);

/* x := R'^-1 x and R^-1 x. O(n^2) */
void solve_transposed(ptrdiff_t n, const double *R, ptrdiff_t ld, double *x);
void solve_upper(ptrdiff_t n, const double *R, ptrdiff_t ld, double *x);

/* A symmetric matrix whose upper triangle is packed by columns: the number of its entries, where
   column `order` of a larger one begins, and the place of an entry. */
static inline ptrdiff_t packed_size(ptrdiff_t order) {
  return order * (order + 1) / 2;
}

static inline ptrdiff_t packed_place(ptrdiff_t i, ptrdiff_t j) {
  return i <= j ? i + packed_size(j) : j + packed_size(i);
}

#endif
