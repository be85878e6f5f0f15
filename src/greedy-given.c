/* The engine of a search whose moves are all given, as those of a refit are, on many rows.

   With K = X'X + lambda I = R'R of the working columns in the order of the moves, column l of C as
   it was when it moved is R_ll times column l of V = X R^-1, kappa_l is R_ll^2, and the
   coefficients of the first p columns are R^-1 V'y of their rows and columns. V is made by blocks
   of rows, whose columns stay in the processor's cache, so that the time is that of m n^2 products
   in place of as many readings of m doubles from memory. */
#include "blas.h"
#include "greedy-state.h"
#include "simd.h"
#include "triangle.h"
#include <string.h>

/* Sums over rows are made of so many parts, whatever the number of threads. */
enum { GIVEN_PARTS = 4 };

/* The digits of R_ll^2 are those of lambda beside the squares of a column. */
#define GIVEN_LEAST_LAMBDA 1e-4

/* Products that are worth it. */
#define GIVEN_LEAST_PRODUCTS 1e5

struct given {
  ptrdiff_t count;
  int *columns; /* count, in the order of the moves */
  double *V;    /* m x count */
  double *R;    /* count x count */
  double *z;    /* count x L, V'y */
  double *part; /* GIVEN_PARTS x count x (count + 1) */
};

/* The columns in the order of the moves, unless `columns` is NULL. Returns how many there are. */
static ptrdiff_t given_columns(const struct greedy *s, int *columns) {
  const struct greedy_control *control = s->control;
  ptrdiff_t count = 0;
  for (int g = 0; g < control->given_count; g++) {
    int together;
    const int *list = greedy_together(s, control->given[g], &together);
    for (int p = 0; p < together; p++, count++)
      if (columns != NULL)
        columns[count] = list == NULL ? control->given[g] : list[p];
  }
  return count;
}

int given_are_all(const struct greedy *s) {
  const struct greedy_control *control = s->control;
  const struct problem *pb = s->pb;
  if (control->search != FORWARD || control->given_count < control->k || !s->folds->loo ||
      greedy_by_pairs(s) || control->price != NULL)
    return 0;
  const double count = (double)given_columns(s, NULL), m = (double)pb->m;
  if (m < 4 * count || m * count * count < GIVEN_LEAST_PRODUCTS)
    return 0;
  for (int g = 0; g < control->given_count; g++) {
    int together;
    const int *list = greedy_together(s, control->given[g], &together);
    for (int p = 0; p < together; p++)
      if (!(control->lambda >=
              GIVEN_LEAST_LAMBDA * pb->rss[list == NULL ? control->given[g] : list[p]]))
        return 0;
  }
  return 1;
}

static void given_lay_out(struct greedy *s, int threads, struct arena *arena) {
  const ptrdiff_t count = given_columns(s, NULL);
  (void)threads;
  s->given = arena_alloc(arena, 1, sizeof(struct given));
  const struct given given = {.count = count,
      .columns = alloc_ints(arena, count),
      .V = alloc_doubles(arena, s->pb->m * count),
      .R = alloc_doubles(arena, count * count),
      .z = alloc_doubles(arena, count * s->pb->L),
      .part = alloc_doubles(arena, GIVEN_PARTS * count * (count + 1))};
  if (arena->base != NULL) {
    *s->given = given;
    given_columns(s, given.columns);
  }
}

/* Upper triangle of `part` (count x count) := X'X of the rows from `from` to `to`; a column more is
   temporary. */
static void given_multiply(const struct greedy *s, ptrdiff_t from, ptrdiff_t to, double *part) {
  const struct given *given = s->given;
  const ptrdiff_t m = s->pb->m, count = given->count;
  double *products = part + count * count;
  memset(part, 0, (size_t)(count * count) * sizeof(double));
  for (ptrdiff_t row = from; row < to; row += ROWS) {
    const double *X = given->V + row;
    for (ptrdiff_t j = 0; j < count; j++) {
      simd->dots(greedy_min(to - row, ROWS), X + j * m, j + 1, X, m, products);
      simd->shift(j + 1, part + j * count, -1, products);
    }
  }
}

/* R := the factor of K, V being X; 0 where it has none. */
static int given_factor(struct greedy *s) {
  const struct given *given = s->given;
  const ptrdiff_t m = s->pb->m, count = given->count, square = count * count;
  const ptrdiff_t size = square + count, rows = (m / GIVEN_PARTS / ROWS + 1) * ROWS;
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->host->threads) schedule(static) if (s->host->threads > 1)
#endif
  for (int p = 0; p < GIVEN_PARTS; p++) {
    const ptrdiff_t from = greedy_min(p * rows, m), to = greedy_min(from + rows, m);
    given_multiply(s, from, to, given->part + p * size);
  }
  memset(given->R, 0, (size_t)square * sizeof(double));
  for (int p = 0; p < GIVEN_PARTS; p++)
    simd->shift(square, given->R, -1, given->part + p * size);
  for (ptrdiff_t j = 0; j < count; j++)
    given->R[j + j * count] += s->control->lambda;
  return lapack_cholesky(count, given->R) == 0;
}

/* V := X R^-1 in a block of rows. */
static void given_solve_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct given *given = s->given;
  const ptrdiff_t m = s->pb->m, count = given->count;
  (void)with;
  for (ptrdiff_t j = 0; j < count; j++) {
    const double *R = given->R + j * count, unit = 1 / R[j];
    double *v = given->V + row + j * m;
    simd->shift_all(rows, v, j, given->V + row, m, R);
    for (ptrdiff_t r = 0; r < rows; r++)
      v[r] *= unit;
  }
}

static enum status given_begin(struct greedy *s) {
  const struct problem *pb = s->pb;
  const struct given *given = s->given;
  const ptrdiff_t m = pb->m, count = given->count;
  greedy_start_rows(s);
  for (ptrdiff_t j = 0; j < count; j++)
    working_column(pb, given->columns[j], given->V + j * m);
  s->out->work.columns_read += (double)count;
  if (!given_factor(s))
    return NOT_POSITIVE;
  if (greedy_stopped(s))
    return INTERRUPTED;
  greedy_each_block(s, count * count, given_solve_block, NULL);
  for (ptrdiff_t l = 0; l < pb->L; l++)
    for (ptrdiff_t j = 0; j < count; j++)
      given->z[j + l * count] = simd->dot(m, given->V + j * m, pb->y + l * m);
  return COMPLETE;
}

/* No candidate is scored. */
static enum status given_sweep(struct greedy *s) {
  return greedy_stopped(s) ? INTERRUPTED : COMPLETE;
}

/* C_b, t_b and kappa_b in units of the pivot of the column. */
static void given_commit(struct greedy *s) {
  const struct given *given = s->given;
  const ptrdiff_t m = s->pb->m, column = s->size;
  s->kappa_b = 1;
  memcpy(s->c_b, given->V + column * m, (size_t)m * sizeof(double));
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    s->t_b[l] = given->z[column + l * given->count];
  greedy_commit_rows(s);
}

static void given_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld) {
  const struct given *given = s->given;
  for (ptrdiff_t l = 0; l < s->pb->L; l++) {
    memcpy(beta + l * ld, given->z + l * given->count, (size_t)s->size * sizeof(double));
    solve_upper(s->size, given->R, given->count, beta + l * ld);
  }
}

const struct greedy_engine greedy_given = {.lay_out = given_lay_out,
    .begin = given_begin,
    .sweep = given_sweep,
    .commit = given_commit,
    .coefficients = given_coefficients,
    .hold_out = greedy_loo_hold_out,
    .keep_residuals = greedy_loo_keep_residuals,
    .min_pivot = greedy_loo_min_pivot};
