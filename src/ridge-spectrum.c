/* Ridge regression on a kernel expansion, turned into its eigen coordinates. */
#include "blas.h"
#include "ridge.h"
#include <string.h>

enum { PANEL = 128 }; /* rows at a time, between two questions to the host */

static ptrdiff_t panel_rows(ptrdiff_t m, ptrdiff_t from) {
  return m - from < PANEL ? m - from : PANEL;
}

size_t kernel_spectrum_work(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q) {
  const size_t rows = (size_t)(m < PANEL ? m : PANEL), order = (size_t)n;
  return order * order + lapack_eigen_room(n) + rows * order + (size_t)q * order;
}

/* F := diag(root_w) F, less its projection on Z, twice for rounding. */
static void into_working(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
    const double *Z, double *along, double *F) {
  for (ptrdiff_t j = 0; j < n; j++)
    for (ptrdiff_t i = 0; i < m; i++)
      F[i + j * m] *= root_w[i];
  for (int pass = 0; pass < 2 && q > 0; pass++) {
    blas_gemm(1, q, n, m, 1, Z, m, F, m, 0, along, q);
    blas_gemm(0, m, n, q, -1, Z, m, along, q, 1, F, m);
  }
}

enum status kernel_spectrum(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
    const double *Z, struct host *host, double *work, double *F, double *R, double *values) {
  double *V = work, *eigen = V + n * n, *panel = eigen + lapack_eigen_room(n);
  double *along = panel + (m < PANEL ? m : PANEL) * n;
  into_working(m, n, q, root_w, Z, along, F);
  memset(V, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t from = 0; from < m; from += PANEL) {
    const ptrdiff_t rows = panel_rows(m, from);
    if (host->stop(host, (double)from, 2.0 * (double)m))
      return INTERRUPTED;
    blas_solve("R", 0, rows, n, R, F + from, m);
    blas_syrk(1, n, rows, 1, F + from, m, 1, V);
  }
  if (lapack_eigen(n, V, values, eigen) != 0)
    return NOT_POSITIVE;
  for (ptrdiff_t j = 0; j < n; j++)
    values[j] = values[j] > 0 ? values[j] : 0;
  for (ptrdiff_t from = 0; from < m; from += PANEL) {
    const ptrdiff_t rows = panel_rows(m, from);
    if (host->stop(host, (double)(m + from), 2.0 * (double)m))
      return INTERRUPTED;
    for (ptrdiff_t j = 0; j < n; j++)
      memcpy(panel + j * rows, F + from + j * m, (size_t)rows * sizeof(double));
    blas_gemm(0, rows, n, n, 1, panel, rows, V, n, 0, F + from, m);
  }
  blas_solve("L", 0, n, n, R, V, n);
  memcpy(R, V, (size_t)(n * n) * sizeof(double));
  return COMPLETE;
}
