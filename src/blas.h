/* The only place that spells a Fortran call. Matrices are column-major. */
#ifndef SPARSELS_BLAS_H
#define SPARSELS_BLAS_H

#ifndef USE_FC_LEN_T
#define USE_FC_LEN_T
#endif
#include <Rconfig.h>
#include <R_ext/BLAS.h>
#include <R_ext/Lapack.h>
#include <math.h>
#include <stddef.h>
#ifndef FCONE
#define FCONE
#endif

/* C (r x c) := alpha op(A) B + beta C, inner dimension k; op(A) = A' when trans_a. */
static inline void blas_gemm(int trans_a, ptrdiff_t r, ptrdiff_t c, ptrdiff_t k, double alpha,
    const double *A, ptrdiff_t lda, const double *B, ptrdiff_t ldb, double beta, double *C,
    ptrdiff_t ldc) {
  const int ri = (int)r, ci = (int)c, ki = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
  F77_CALL(dgemm)
  (trans_a ? "T" : "N", "N", &ri, &ci, &ki, &alpha, A, &la, B, &lb, &beta, C, &lc FCONE FCONE);
}

/* C (r x c) := alpha A B' + beta C, inner dimension k. */
static inline void blas_gemm_trans_b(ptrdiff_t r, ptrdiff_t c, ptrdiff_t k, double alpha,
    const double *A, ptrdiff_t lda, const double *B, ptrdiff_t ldb, double beta, double *C,
    ptrdiff_t ldc) {
  const int ri = (int)r, ci = (int)c, ki = (int)k, la = (int)lda, lb = (int)ldb, lc = (int)ldc;
  F77_CALL(dgemm)
  ("N", "T", &ri, &ci, &ki, &alpha, A, &la, B, &lb, &beta, C, &lc FCONE FCONE);
}

/* Upper triangle of C (n x n) := alpha A A' + beta C (A is n x k), or alpha A'A + beta C (A is k x
 * n). */
static inline void blas_syrk(int trans, ptrdiff_t n, ptrdiff_t k, double alpha, const double *A,
    ptrdiff_t lda, double beta, double *C) {
  const int ni = (int)n, ki = (int)k, la = (int)lda;
  F77_CALL(dsyrk)("U", trans ? "T" : "N", &ni, &ki, &alpha, A, &la, &beta, C, &ni FCONE FCONE);
}

/* B (r x c) := op(R)^-1 B for side "L", B op(R)^-1 for side "R"; op(R) = R' when trans. R is upper
 * triangular. */
static inline void blas_solve(const char *side, int trans, ptrdiff_t r, ptrdiff_t c,
    const double *R, double *B, ptrdiff_t ldb) {
  const int ri = (int)r, ci = (int)c, order = *side == 'L' ? ri : ci, lb = (int)ldb;
  const double one = 1;
  F77_CALL(dtrsm)
  (side, "U", trans ? "T" : "N", "N", &ri, &ci, &one, R, &order, B, &lb FCONE FCONE FCONE FCONE);
}

/* The length of a workspace as LAPACK takes it, which may be less than there is. */
static inline int lapack_length(ptrdiff_t length) {
  return length > 1 << 30 ? 1 << 30 : (int)length;
}

/* A (r x c, r >= c) := its orthonormal factor, upper triangle of R (c x c) := the triangular one.
   tau holds c, work `length` doubles. Zero on success. */
static inline int lapack_qr(ptrdiff_t r, ptrdiff_t c, double *A, ptrdiff_t lda, double *R,
    ptrdiff_t ldr, double *tau, double *work, ptrdiff_t length) {
  const int ri = (int)r, ci = (int)c, la = (int)lda, lwork = lapack_length(length);
  int info = 0;
  F77_CALL(dgeqrf)(&ri, &ci, A, &la, tau, work, &lwork, &info);
  if (info != 0)
    return info;
  for (ptrdiff_t j = 0; j < c; j++)
    for (ptrdiff_t i = 0; i <= j; i++)
      R[i + j * ldr] = A[i + j * lda];
  F77_CALL(dorgqr)(&ri, &ci, &ci, A, &la, tau, work, &lwork, &info);
  return info;
}

/* Upper triangle of A (r x c) := the triangular factor of its QR decomposition, the rest is lost.
   tau holds the smaller of r and c, work `length` doubles. Zero on success. */
static inline int lapack_triangle(
    ptrdiff_t r, ptrdiff_t c, double *A, double *tau, double *work, ptrdiff_t length) {
  const int ri = (int)r, ci = (int)c, lwork = lapack_length(length);
  int info = 0;
  F77_CALL(dgeqrf)(&ri, &ci, A, &ri, tau, work, &lwork, &info);
  return info;
}

/* Upper triangle of A (n x n) := its Cholesky factor. Zero on success. */
static inline int lapack_cholesky(ptrdiff_t n, double *A) {
  const int ni = (int)n;
  int info = 0;
  F77_CALL(dpotrf)("U", &ni, A, &ni, &info FCONE);
  return info;
}

/* Doubles of workspace for lapack_eigen(), whose integers fit in the last 3 + 5 n. */
static inline size_t lapack_eigen_work(ptrdiff_t n) {
  const size_t order = (size_t)n;
  return 1 + 6 * order + 2 * order * order + (3 + 5 * order);
}

/* A (n x n, upper triangle given) := its orthonormal eigenvectors, values (n) := its eigenvalues,
   ascending. work holds lapack_eigen_work(n) doubles. Zero on success. */
static inline int lapack_eigen(ptrdiff_t n, double *A, double *values, double *work) {
  const int ni = (int)n, liwork = 3 + 5 * ni;
  const ptrdiff_t doubles = (ptrdiff_t)lapack_eigen_work(n) - liwork;
  const int lwork = lapack_length(doubles);
  int *iwork = (int *)(void *)(work + doubles), info = 0;
  F77_CALL(dsyevd)
  ("V", "U", &ni, A, &ni, values, work, &lwork, iwork, &liwork, &info FCONE FCONE);
  return info;
}

/* The smallest pivot, at most 1: of the squared diagonal of a Cholesky factor R (n x n). */
static inline double lapack_min_pivot(ptrdiff_t n, const double *R) {
  double pivot = 1;
  for (ptrdiff_t j = 0; j < n; j++)
    pivot = fmin(pivot, R[j + j * n] * R[j + j * n]);
  return pivot;
}

/* Cholesky factor in A (n x n) := the inverse of what was factored, both triangles. */
static inline void lapack_cholesky_inverse(ptrdiff_t n, double *A) {
  const int ni = (int)n;
  int info = 0;
  F77_CALL(dpotri)("U", &ni, A, &ni, &info FCONE);
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < j; i++)
      A[j + i * n] = A[i + j * n];
}

/* A (n x n) := its inverse. pivots holds n, work `length` doubles, n or more. Zero on success. */
static inline int lapack_invert(
    ptrdiff_t n, double *A, ptrdiff_t lda, int *pivots, double *work, ptrdiff_t length) {
  const int ni = (int)n, la = (int)lda, lwork = lapack_length(length);
  int info = 0;
  F77_CALL(dgetrf)(&ni, &ni, A, &la, pivots, &info);
  if (info == 0)
    F77_CALL(dgetri)(&ni, A, &la, pivots, work, &lwork, &info);
  return info;
}

#endif
