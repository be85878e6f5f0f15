/* Cholesky factors and triangular systems of small dense matrices. */
#include "triangle.h"
#include "simd.h"
#include <math.h>

void factor_in_place(ptrdiff_t n, double *A, ptrdiff_t ld, double floor) {
  for (ptrdiff_t j = 0; j < n; j++) {
    double *L = A + j + j * ld;
    simd->shift_all(n - j, L, j, A + j, ld, A + j * ld);
    const double pivot = sqrt(fmax(*L, floor));
    for (ptrdiff_t i = 1; i < n - j; i++)
      L[i * ld] = L[i] /= pivot;
    *L = pivot;
  }
}

void solve_transposed(ptrdiff_t n, const double *R, ptrdiff_t ld, double *x) {
  for (ptrdiff_t i = 0; i < n; i++)
    x[i] = (x[i] - simd->dot(i, R + i * ld, x)) / R[i + i * ld];
}

void solve_upper(ptrdiff_t n, const double *R, ptrdiff_t ld, double *x) {
  for (ptrdiff_t i = n - 1; i >= 0; i--) {
    x[i] /= R[i + i * ld];
    simd->shift(i, x, x[i], R + i * ld);
  }
}
