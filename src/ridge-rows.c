/* The triangle of many rows, made block by block: what a ridge problem needs of them. */
#include "blas.h"
#include "ridge.h"
#include <string.h>

enum { TRIANGLE_PANEL = 64 }; /* doubles of workspace for each column */

struct triangle_work {
  double *stacked;    /* (above + rows) x p */
  double *tau, *work; /* p and TRIANGLE_PANEL p */
};

static struct triangle_work triangle_lay_out(ptrdiff_t rows, ptrdiff_t p, struct arena *arena) {
  return (struct triangle_work){.stacked = alloc_doubles(arena, rows * p),
      .tau = alloc_doubles(arena, p),
      .work = alloc_doubles(arena, TRIANGLE_PANEL * p)};
}

size_t triangle_work(ptrdiff_t rows, ptrdiff_t p) {
  struct arena arena = arena_over(NULL);
  triangle_lay_out(rows, p, &arena);
  return arena.used;
}

int triangle(ptrdiff_t p, ptrdiff_t above, const double *A, ptrdiff_t below, const double *B,
    void *work, double *R) {
  const ptrdiff_t rows = above + below, kept = rows < p ? rows : p;
  struct arena arena = arena_over(work);
  const struct triangle_work part = triangle_lay_out(rows, p, &arena);
  for (ptrdiff_t j = 0; j < p; j++) {
    memcpy(part.stacked + j * rows, A + j * above, (size_t)above * sizeof(double));
    memcpy(part.stacked + j * rows + above, B + j * below, (size_t)below * sizeof(double));
  }
  memset(R, 0, (size_t)(p * p) * sizeof(double));
  if (rows == 0 || p == 0)
    return 0;
  const int failed =
      lapack_triangle(rows, p, part.stacked, part.tau, part.work, TRIANGLE_PANEL * p);
  for (ptrdiff_t j = 0; j < p; j++)
    for (ptrdiff_t i = 0; i <= j && i < kept; i++)
      R[i + j * p] = part.stacked[i + j * rows];
  return failed;
}
