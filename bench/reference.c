/* The paper's Algorithm 3 as it is printed, to measure against: greedy RLS with the leave-one-out
   criterion and squared loss, one output, no weights, no intercept.

   Pahikkala, Airola, Salakoski (2010), Linear time feature selection for regularized least-squares.
   Of the print, mended: line 10 is u = C_i / (1 + v'C_i) with v transposed; lines 9 to 17 work on
   copies (a and d of the tentative model); C is stored m x n, column i belongs to feature i.

   Each step makes three passes: over all candidates (x_i, C_i) to evaluate them, over C for v'C,
   and over C to update it. Written for reading; O(kmn) time, m x n + O(m + n) doubles besides x.

   Beside it reference_read(): one pass over x and nothing else, the least time in which anything
   can be said of all columns. */
#include <R.h>
#include <Rinternals.h>
#include <string.h>

static double dot(R_xlen_t m, const double *x, const double *y) {
  double sum = 0;
  for (R_xlen_t j = 0; j < m; j++)
    sum += x[j] * y[j];
  return sum;
}

/* X (m x n), y (m), k, lambda, tolerance -> list(S, e): the features in the order chosen, counted
   from 1, and the sum of squared leave-one-out errors after each step. Of sums that differ by no
   more than the tolerance the first candidate's is taken; 0 is the print. */
SEXP reference_greedy_rls(SEXP X_, SEXP y_, SEXP k_, SEXP lambda_, SEXP tolerance_) {
  const R_xlen_t m = nrows(X_), n = ncols(X_);
  const int k = asInteger(k_);
  const double lambda = asReal(lambda_), tolerance = asReal(tolerance_);
  const double *X = REAL(X_), *y = REAL(y_);
  SEXP S_ = PROTECT(allocVector(INTSXP, k)), e_ = PROTECT(allocVector(REALSXP, k));
  double *a = (double *)R_alloc(m, sizeof(double)), *d = (double *)R_alloc(m, sizeof(double));
  double *u = (double *)R_alloc(m, sizeof(double)), *a_tilde = (double *)R_alloc(m, sizeof(double));
  double *vC = (double *)R_alloc(n, sizeof(double));
  double *C = (double *)R_alloc(m * n, sizeof(double));
  int *chosen = (int *)R_alloc(n, sizeof(int));
  memset(chosen, 0, n * sizeof(int));

  for (R_xlen_t j = 0; j < m; j++) { /* lines 1 to 4 */
    a[j] = y[j] / lambda;
    d[j] = 1 / lambda;
  }
  for (R_xlen_t p = 0; p < m * n; p++)
    C[p] = X[p] / lambda;

  for (int size = 0; size < k; size++) {
    double e = R_PosInf;
    R_xlen_t b = -1;
    for (R_xlen_t i = 0; i < n; i++) { /* lines 8 to 22: every candidate */
      if (chosen[i])
        continue;
      const double *v = X + i * m, *Ci = C + i * m;
      const double denominator = 1 + dot(m, v, Ci);
      for (R_xlen_t j = 0; j < m; j++)
        u[j] = Ci[j] / denominator;
      const double va = dot(m, v, a);
      for (R_xlen_t j = 0; j < m; j++)
        a_tilde[j] = a[j] - u[j] * va;
      double ei = 0;
      for (R_xlen_t j = 0; j < m; j++) {
        const double d_tilde = d[j] - u[j] * Ci[j];
        const double p = y[j] - a_tilde[j] / d_tilde;
        ei += (y[j] - p) * (y[j] - p);
      }
      if (ei < e - tolerance) {
        e = ei;
        b = i;
      }
    }

    const double *v = X + b * m, *Cb = C + b * m; /* lines 23 to 28 */
    const double denominator = 1 + dot(m, v, Cb);
    for (R_xlen_t j = 0; j < m; j++)
      u[j] = Cb[j] / denominator;
    const double va = dot(m, v, a);
    for (R_xlen_t j = 0; j < m; j++) {
      a[j] -= u[j] * va;
      d[j] -= u[j] * Cb[j];
    }

    for (R_xlen_t i = 0; i < n; i++) /* line 29: C := C - u (v'C) */
      vC[i] = dot(m, v, C + i * m);
    for (R_xlen_t i = 0; i < n; i++)
      for (R_xlen_t j = 0; j < m; j++)
        C[j + i * m] -= u[j] * vC[i];

    chosen[b] = 1; /* line 30 */
    INTEGER(S_)[size] = (int)b + 1;
    REAL(e_)[size] = e;
    R_CheckUserInterrupt();
  }

  SEXP out = PROTECT(allocVector(VECSXP, 2)), names = PROTECT(allocVector(STRSXP, 2));
  SET_VECTOR_ELT(out, 0, S_);
  SET_VECTOR_ELT(out, 1, e_);
  SET_STRING_ELT(names, 0, mkChar("S"));
  SET_STRING_ELT(names, 1, mkChar("e"));
  setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(4);
  return out;
}

/* ---- the floor: x read once ---- */

/* The sum of x in four streams side by side, since one alone does not fill the bus, with loads of
   `width` doubles. */
#define SUM(name, width, target)                                                                   \
  target static double name(R_xlen_t count, const double *x) {                                     \
    typedef double vector __attribute__((vector_size(8 * width), aligned(8), may_alias));          \
    const R_xlen_t quarter = count / (4 * width) * width;                                          \
    const double *x1 = x + quarter, *x2 = x1 + quarter, *x3 = x2 + quarter;                        \
    vector s0 = {0}, s1 = s0, s2 = s0, s3 = s0;                                                    \
    for (R_xlen_t j = 0; j < quarter; j += width) {                                                \
      s0 += *(const vector *)(x + j);                                                              \
      s1 += *(const vector *)(x1 + j);                                                             \
      s2 += *(const vector *)(x2 + j);                                                             \
      s3 += *(const vector *)(x3 + j);                                                             \
    }                                                                                              \
    s0 += s1 + s2 + s3;                                                                            \
    double sum = 0;                                                                                \
    for (int l = 0; l < width; l++)                                                                \
      sum += s0[l];                                                                                \
    for (R_xlen_t j = 4 * quarter; j < count; j++)                                                 \
      sum += x[j];                                                                                 \
    return sum;                                                                                    \
  }

SUM(sum_two, 2, )
#ifdef __x86_64__
SUM(sum_four, 4, __attribute__((target("avx2"))))
#endif

/* Loads of 32 bytes where the processor has them (of 64 are no faster). */
static double sum_all(R_xlen_t count, const double *x) {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2"))
    return sum_four(count, x);
#endif
  return sum_two(count, x);
}

/* X, threads -> the sum of its values. */
SEXP reference_read(SEXP X, SEXP threads_) {
  const int threads = asInteger(threads_);
  const R_xlen_t count = XLENGTH(X), own = count / threads;
  const double *x = REAL(X);
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
#endif
  for (int t = 0; t < threads; t++)
    sum += sum_all(t + 1 < threads ? own : count - t * own, x + t * own);
  return ScalarReal(sum);
}

/* X, threads, times -> the same so many times, which the threads share. */
SEXP reference_reread(SEXP X, SEXP threads_, SEXP times_) {
  const int threads = asInteger(threads_), times = asInteger(times_);
  const R_xlen_t count = XLENGTH(X);
  const double *x = REAL(X);
  double sum = 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) reduction(+ : sum) schedule(static)
#endif
  for (int i = 0; i < times; i++)
    sum += sum_all(count - (sum == 0.5), x); /* which the compiler cannot do once for all */
  return ScalarReal(sum);
}
