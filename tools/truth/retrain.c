/* Ridge regression retrained without each fold in long doubles, for truth.R. */
#include <R.h>
#include <float.h>
#include <math.h>
#include <string.h>

typedef long double real;

static void *space(size_t count, size_t size) {
  return R_alloc(count > 0 ? count : 1, (int)size);
}

/* Rows of A (r x c) and B (r x L) in the order of their largest element, the largest first: QR then
   has small errors in small rows, too. */
static void sort_rows(int r, int c, int L, real *A, real *B) {
  for (int i = 0; i < r; i++) {
    int first = i;
    real most = -1;
    for (int p = i; p < r; p++) {
      real size = 0;
      for (int j = 0; j < c; j++)
        size = fmaxl(size, fabsl(A[p + j * r]));
      if (size > most) {
        most = size;
        first = p;
      }
    }
    for (int j = 0; j < c + L; j++) {
      real *column = j < c ? A + j * r : B + (j - c) * r, t = column[i];
      column[i] = column[first];
      column[first] = t;
    }
  }
}

/* B (first c rows) := the least squares solution, by Householder's reflections. */
static void least_squares(int r, int c, int L, real *A, real *B) {
  sort_rows(r, c, L, A, B);
  for (int j = 0; j < c; j++) {
    real *v = A + j * r, norm = 0;
    for (int i = j; i < r; i++)
      norm = hypotl(norm, v[i]);
    if (norm == 0)
      continue;
    const real diagonal = v[j] > 0 ? -norm : norm;
    v[j] -= diagonal;
    real square = 0;
    for (int i = j; i < r; i++)
      square += v[i] * v[i];
    for (int k = j + 1; k < c + L; k++) {
      real *u = k < c ? A + k * r : B + (k - c) * r, dot = 0;
      for (int i = j; i < r; i++)
        dot += v[i] * u[i];
      for (int i = j; i < r; i++)
        u[i] -= 2 * dot / square * v[i];
    }
    for (int i = j; i < r; i++)
      v[i] = i == j ? diagonal : 0;
  }
  for (int l = 0; l < L; l++)
    for (int j = c - 1; j >= 0; j--) {
      for (int k = j + 1; k < c; k++)
        B[j + l * r] -= A[j + k * r] * B[k + l * r];
      B[j + l * r] /= A[j + j * r];
    }
}

/* The model from the rows that are not of the fold, 0 for all rows: b in its first q rows, then the
   s coefficients of the columns. Returns its leading dimension. */
static int train(int m, int s, int q, int L, const double *x, const double *z, const double *y,
    const double *w, double lambda, const int *ids, int fold, real *A, real *B) {
  int r = s;
  for (int i = 0; i < m; i++)
    r += ids[i] != fold;
  memset(A, 0, (size_t)(r * (q + s)) * sizeof(real));
  memset(B, 0, (size_t)(r * L) * sizeof(real));
  for (int i = 0, p = 0; i < m; i++) {
    if (ids[i] == fold)
      continue;
    const real root = sqrtl((real)w[i]);
    for (int j = 0; j < q; j++)
      A[p + j * r] = root * z[i + j * m];
    for (int j = 0; j < s; j++)
      A[p + (q + j) * r] = root * x[i + j * m];
    for (int l = 0; l < L; l++)
      B[p + l * r] = root * y[i + l * m];
    p++;
  }
  for (int j = 0; j < s; j++)
    A[r - s + j + (q + j) * r] = sqrtl((real)lambda);
  least_squares(r, q + s, L, A, B);
  return r;
}

/* size: m, s, q, L, folds; residual (m x L), held out; beta (s x L), from all rows. */
void ridge_held_out(const int *size, const double *x, const double *z, const double *y,
    const double *w, const double *lambda, const int *ids, double *residual, double *beta) {
  const int m = size[0], s = size[1], q = size[2], L = size[3], folds = size[4];
  real *A = space((size_t)((m + s) * (q + s)), sizeof(real));
  real *B = space((size_t)((m + s) * L), sizeof(real));
  for (int fold = 0; fold <= folds; fold++) {
    const int r = train(m, s, q, L, x, z, y, w, *lambda, ids, fold, A, B);
    for (int l = 0; l < L; l++) {
      for (int j = 0; j < s && fold == 0; j++)
        beta[j + l * s] = (double)B[q + j + l * r];
      for (int i = 0; i < m; i++) {
        real left = y[i + l * m];
        for (int j = 0; j < q; j++)
          left -= z[i + j * m] * B[j + l * r];
        for (int j = 0; j < s; j++)
          left -= x[i + j * m] * B[q + j + l * r];
        if (ids[i] == fold)
          residual[i + l * m] = (double)left;
      }
    }
  }
}

/* b := A^-1 b by elimination with pivots, n x n. */
static void solve(int n, real *A, real *b) {
  for (int j = 0; j < n; j++) {
    int pivot = j;
    for (int i = j; i < n; i++)
      if (fabsl(A[i + j * n]) > fabsl(A[pivot + j * n]))
        pivot = i;
    for (int k = 0; k <= n; k++) {
      real *column = k < n ? A + k * n : b, t = column[j];
      column[j] = column[pivot];
      column[pivot] = t;
    }
    for (int i = j + 1; i < n; i++) {
      const real f = A[i + j * n] / A[j + j * n];
      for (int k = j; k < n; k++)
        A[i + k * n] -= f * A[j + k * n];
      b[i] -= f * b[j];
    }
  }
  for (int j = n - 1; j >= 0; j--) {
    for (int k = j + 1; k < n; k++)
      b[j] -= A[j + k * n] * b[k];
    b[j] /= A[j + j * n];
  }
}

/* Kernel ridge regression with the matrix K (m x m) and one response; size: m, q, folds. */
void kernel_held_out(const int *size, const double *K, const double *z, const double *y,
    const double *w, const double *lambda, const int *ids, double *residual) {
  const int m = size[0], q = size[1], folds = size[2], most = m + q;
  real *A = space((size_t)(most * most), sizeof(real)), *b = space((size_t)most, sizeof(real));
  int *row = space((size_t)m, sizeof(int));
  for (int fold = 1; fold <= folds; fold++) {
    int r = 0;
    for (int i = 0; i < m; i++)
      if (ids[i] != fold)
        row[r++] = i;
    const int n = r + q;
    memset(A, 0, (size_t)(n * n) * sizeof(real));
    memset(b, 0, (size_t)n * sizeof(real));
    for (int i = 0; i < r; i++) {
      for (int j = 0; j < r; j++)
        A[i + j * n] = K[row[i] + row[j] * m];
      A[i + i * n] += (real)*lambda / w[row[i]];
      for (int j = 0; j < q; j++)
        A[i + (r + j) * n] = A[r + j + i * n] = z[row[i] + j * m];
      b[i] = y[row[i]];
    }
    solve(n, A, b);
    for (int i = 0; i < m; i++) {
      if (ids[i] != fold)
        continue;
      real left = y[i];
      for (int p = 0; p < r; p++)
        left -= K[i + row[p] * m] * b[p];
      for (int j = 0; j < q; j++)
        left -= z[i + j * m] * b[r + j];
      residual[i] = (double)left;
    }
  }
}

/* How many bits a long double has. */
void digits(int *bits) {
  *bits = LDBL_MANT_DIG;
}
