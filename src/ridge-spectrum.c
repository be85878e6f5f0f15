/* Ridge regression on a kernel expansion, in its eigen coordinates. */
#include "blas.h"
#include "ridge.h"
#include <string.h>

enum { SPECTRUM_PANEL = 128 }; /* rows between two polls of the host */

static ptrdiff_t spectrum_panel_rows(ptrdiff_t m, ptrdiff_t from) {
  return m - from < SPECTRUM_PANEL ? m - from : SPECTRUM_PANEL;
}

struct spectrum_work {
  double *V, *eigen; /* n x n, and the workspace of an eigenproblem */
  double *panel;     /* SPECTRUM_PANEL x n, or m x n */
  double *along;     /* q x n */
};

static struct spectrum_work spectrum_lay_out(
    ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, struct arena *arena) {
  return (struct spectrum_work){.V = alloc_doubles(arena, n * n),
      .eigen = alloc_doubles(arena, (ptrdiff_t)lapack_eigen_work(n)),
      .panel = alloc_doubles(arena, spectrum_panel_rows(m, 0) * n),
      .along = alloc_doubles(arena, q * n)};
}

size_t kernel_spectrum_work(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q) {
  struct arena arena = arena_over(NULL);
  spectrum_lay_out(m, n, q, &arena);
  return arena.used;
}

/* F := diag(root_w) F, less its projection on Z, twice for rounding. */
static void spectrum_project_out(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
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
    const double *Z, struct host *host, void *work, double *F, double *R, double *values) {
  struct arena arena = arena_over(work);
  const struct spectrum_work part = spectrum_lay_out(m, n, q, &arena);
  double *V = part.V, *panel = part.panel;
  spectrum_project_out(m, n, q, root_w, Z, part.along, F);
  memset(V, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t from = 0; from < m; from += SPECTRUM_PANEL) {
    const ptrdiff_t rows = spectrum_panel_rows(m, from);
    if (host->stop(host, (double)from, 2.0 * (double)m))
      return INTERRUPTED;
    blas_solve("R", 0, rows, n, R, F + from, m);
    blas_syrk(1, n, rows, 1, F + from, m, 1, V);
  }
  if (lapack_eigen(n, V, values, part.eigen) != 0)
    return NOT_POSITIVE;
  for (ptrdiff_t j = 0; j < n; j++)
    values[j] = values[j] > 0 ? values[j] : 0;
  for (ptrdiff_t from = 0; from < m; from += SPECTRUM_PANEL) {
    const ptrdiff_t rows = spectrum_panel_rows(m, from);
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
