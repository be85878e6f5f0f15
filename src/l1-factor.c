/* Solves with an upper triangular Cholesky factor R. */
#include "l1-state.h"
#include "simd.h"

void l1_solve_lower(int order, const double *R, ptrdiff_t ld, double *x) {
  for (int j = 0; j < order; j++) {
    const double *column = R + j * ld;
    x[j] = (x[j] - simd->dot(j, column, x)) / column[j];
  }
}

void l1_solve_upper(int order, const double *R, ptrdiff_t ld, double *x) {
  for (int j = order - 1; j >= 0; j--) {
    const double *column = R + j * ld;
    x[j] /= column[j];
    simd->shift(j, x, x[j], column);
  }
}
