/* (K + lambda I)^-1 of a kernel expansion on all rows, as a factor of it. Panels of columns are
   solved by dot products of columns, which are contiguous in R and in its inverse. */
#include "ridge.h"
#include "simd.h"
#include "triangle.h"
#include <math.h>
#include <string.h>

enum {
  FACTOR_PANEL = 64, /* columns solved together */
  FACTOR_ROWS = 256, /* rows of a panel that stay in the cache */
  FACTOR_TILE = 4    /* columns in a tile of simd->products() */
};

struct factor_state {
  ptrdiff_t n;
  double *R;      /* n x n, the upper Cholesky factor of K + lambda I */
  double *centre; /* n, 0 */
  double *scale;  /* n, -1 */
};

static struct factor_state factor_lay_out(ptrdiff_t n, struct arena *arena) {
  return (struct factor_state){.n = n,
      .R = alloc_doubles(arena, n * n),
      .centre = alloc_doubles(arena, n),
      .scale = alloc_doubles(arena, n)};
}

size_t kernel_factor_work(ptrdiff_t n) {
  struct arena arena = arena_over(NULL);
  factor_lay_out(n, &arena);
  return arena.used;
}

static ptrdiff_t factor_min(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

/* Rows i .. to of X (n x columns) -= their columns of R, from row `from` to row i, times X. */
static void factor_update(const struct factor_state *st, ptrdiff_t from, ptrdiff_t i, ptrdiff_t to,
    ptrdiff_t columns, double *X) {
  double *out[FACTOR_PANEL];
  for (ptrdiff_t l = 0; l < columns; l++)
    out[l] = X + l * st->n;
  for (ptrdiff_t k = from; k < i; k += FACTOR_ROWS) {
    const ptrdiff_t rows = factor_min(FACTOR_ROWS, i - k);
    for (ptrdiff_t first = i; first < to; first += FACTOR_TILE) {
      int at[FACTOR_TILE];
      struct tile tile = {.count = factor_min(FACTOR_TILE, to - first),
          .at = at,
          .centre = st->centre,
          .scale = st->scale,
          .line = 8 * sizeof(double)};
      for (ptrdiff_t c = 0; c < FACTOR_TILE; c++) {
        const ptrdiff_t own = factor_min(first + c, to - 1);
        const ptrdiff_t next = factor_min(own + FACTOR_TILE, to - 1);
        at[c] = (int)own;
        tile.x[c] = st->R + k + own * st->n;
        tile.next[c] = (const char *)(st->R + k + next * st->n);
      }
      simd->products(rows, &tile, columns, X + k, st->n, out);
    }
  }
}

/* Rows from .. to of X (n x columns) := those of R'^-1 X, rows before `from` being 0. */
static void factor_solve(
    const struct factor_state *st, ptrdiff_t from, ptrdiff_t to, ptrdiff_t columns, double *X) {
  for (ptrdiff_t i = from; i < to; i += FACTOR_PANEL) {
    const ptrdiff_t count = factor_min(FACTOR_PANEL, to - i);
    factor_update(st, from, i, i + count, columns, X);
    for (ptrdiff_t l = 0; l < columns; l++)
      solve_transposed(count, st->R + i + i * st->n, st->n, X + i + l * st->n);
  }
}

/* Columns j .. j + columns of R. 0 where a squared pivot is no more than `floor`. */
static int factor_add_panel(
    const struct factor_state *st, ptrdiff_t j, ptrdiff_t columns, double floor) {
  double *panel = st->R + j * st->n, *own = panel + j;
  factor_solve(st, 0, j, columns, panel);
  factor_update(st, 0, j, j + columns, columns, panel);
  factor_in_place(columns, own, st->n, floor);
  for (ptrdiff_t c = 0; c < columns; c++)
    if (!(own[c + c * st->n] > sqrt(floor)))
      return 0;
  return 1;
}

/* F (n x n, lower triangular) := scale F' */
static void factor_transpose(ptrdiff_t n, double scale, double *F) {
  for (ptrdiff_t j = 0; j < n; j++) {
    F[j + j * n] *= scale;
    for (ptrdiff_t i = j + 1; i < n; i++) {
      F[j + i * n] = scale * F[i + j * n];
      F[i + j * n] = 0;
    }
  }
}

enum status kernel_factor(
    ptrdiff_t n, const double *K, double lambda, struct host *host, void *work, double *F) {
  struct arena arena = arena_over(work);
  const struct factor_state st = factor_lay_out(n, &arena);
  memcpy(st.R, K, (size_t)(n * n) * sizeof(double));
  memset(F, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t j = 0; j < n; j++) {
    st.R[j + j * n] += lambda;
    F[j + j * n] = 1;
    st.centre[j] = 0;
    st.scale[j] = -1;
  }
  for (ptrdiff_t j = 0; j < n; j += FACTOR_PANEL) {
    if (host->stop(host, (double)j, 2.0 * (double)n))
      return INTERRUPTED;
    if (!factor_add_panel(&st, j, factor_min(FACTOR_PANEL, n - j), lambda / 2))
      return NOT_POSITIVE;
  }
  for (ptrdiff_t j = 0; j < n; j += FACTOR_PANEL) {
    if (host->stop(host, (double)(n + j), 2.0 * (double)n))
      return INTERRUPTED;
    factor_solve(&st, j, n, factor_min(FACTOR_PANEL, n - j), F + j * n);
  }
  factor_transpose(n, sqrt(lambda), F);
  return COMPLETE;
}
