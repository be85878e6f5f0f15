/* The engine of a search whose moves are all given, such as a refit, on many rows.

   With K = X'X + lambda I = R'R of the working columns in the order of the moves, column l of C at
   its move is R_ll times column l of V = X R^-1, kappa_l is R_ll^2, and the coefficients of the
   first p columns are R^-1 V'y of their rows and columns. V is made by blocks of rows, whose
   columns stay in the processor's cache. X'X and X'y do not depend on lambda. With R they have the
   training error of each size, which is no larger than the error held out: V ends with the last
   size whose training error is below its ceiling. O(m n^2) */
#include "blas.h"
#include "greedy-state.h"
#include "simd.h"
#include "tolerance.h"
#include "triangle.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* Sums over rows have so many parts, whatever the number of threads. */
enum { GIVEN_PARTS = 4 };

/* Fewer products than this take no time in any engine. */
#define GIVEN_LEAST_PRODUCTS 1e5

struct given {
  ptrdiff_t count;
  int *columns; /* count, in the order of the moves */
  double *V;    /* m x count */
  double *R;    /* count x count */
  double *z;    /* count x L, V'y */
  double *gram; /* count x (count + L), the upper triangle of X'X, and X'y */
  double *part; /* GIVEN_PARTS x count x (count + 1) */
};

/* The columns in the order of the moves, unless `columns` is NULL. Returns how many there are, and
   the largest sum of squares of one. */
static ptrdiff_t given_columns(const struct greedy *s, int *columns, double *largest) {
  ptrdiff_t count = 0;
  *largest = 0;
  for (int g = 0; g < s->control->given_count; g++) {
    const int first = s->control->given[g];
    int together;
    const int *list = columns_together(&s->control->groups, first, &together);
    for (int p = 0; p < together; p++, count++) {
      const int column = list == NULL ? first : list[p];
      *largest = fmax(*largest, s->pb->rss[column]);
      if (columns != NULL)
        columns[count] = column;
    }
  }
  return count;
}

int given_are_all(const struct greedy *s) {
  const struct greedy_control *control = s->control;
  if (control->search != FORWARD || control->given_count < control->k || !s->folds->loo ||
      greedy_by_pairs(s))
    return 0;
  double largest;
  const double count = (double)given_columns(s, NULL, &largest), m = (double)s->pb->m;
  return m >= 4 * count && m * count * count >= GIVEN_LEAST_PRODUCTS &&
         control->lambda >= GREEDY_GIVEN_LAMBDA * largest;
}

ptrdiff_t given_products_of(const struct greedy *s) {
  double largest;
  const ptrdiff_t count = given_columns(s, NULL, &largest);
  return s->engine == &greedy_given ? count * (count + s->pb->L) : 0;
}

static void given_lay_out(struct greedy *s, int threads, struct arena *arena) {
  double largest;
  const ptrdiff_t count = given_columns(s, NULL, &largest);
  (void)threads;
  s->given = arena_alloc(arena, 1, sizeof(struct given));
  const struct given given = {.count = count,
      .columns = alloc_ints(arena, count),
      .V = alloc_doubles(arena, s->pb->m * count),
      .R = alloc_doubles(arena, count * count),
      .z = alloc_doubles(arena, count * s->pb->L),
      .gram = alloc_doubles(arena, count * (count + s->pb->L)),
      .part = alloc_doubles(arena, GIVEN_PARTS * count * (count + 1))};
  if (arena->base != NULL) {
    *s->given = given;
    given_columns(s, given.columns, &largest);
  }
}

/* Rows between two polls of the host, which take a tenth of a second at most. */
static ptrdiff_t given_rows_between_polls(ptrdiff_t count) {
  const ptrdiff_t least = GIVEN_PARTS * ROWS;
  const double wanted = 1e8 / ((double)least * (double)count * (double)count);
  return least * (wanted < 1 ? 1 : wanted > 1e6 ? 1000000 : (ptrdiff_t)wanted);
}

/* Adds X'X of some rows to the upper triangle of `part` (count x count), behind which count doubles
   are temporary. */
static void given_multiply(
    const struct given *given, ptrdiff_t m, ptrdiff_t row, ptrdiff_t rows, double *part) {
  const ptrdiff_t count = given->count;
  const double *X = given->V + row;
  double *products = part + count * count;
  for (ptrdiff_t j = 0; j < count; j++) {
    simd->dots(rows, X + j * m, j + 1, X, m, products);
    simd->shift(j + 1, part + j * count, -1, products);
  }
}

/* X'X and X'y, V being X. */
static enum status given_products(struct greedy *s) {
  const struct given *given = s->given;
  const ptrdiff_t m = s->pb->m, count = given->count, square = count * count;
  const ptrdiff_t size = square + count, chunk = given_rows_between_polls(count);
  memset(given->part, 0, (size_t)(GIVEN_PARTS * size) * sizeof(double));
  for (ptrdiff_t from = 0; from < m; from += chunk) {
    const ptrdiff_t to = greedy_min(from + chunk, m);
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->host->threads)                                             \
    schedule(static) if (s->host->threads > 1 && to - from > ROWS)
#endif
    for (int p = 0; p < GIVEN_PARTS; p++)
      for (ptrdiff_t row = from + p * ROWS; row < to; row += GIVEN_PARTS * ROWS)
        given_multiply(given, m, row, greedy_min(to - row, ROWS), given->part + p * size);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  memset(given->gram, 0, (size_t)square * sizeof(double));
  for (int p = 0; p < GIVEN_PARTS; p++)
    simd->shift(square, given->gram, -1, given->part + p * size);
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    for (ptrdiff_t j = 0; j < count; j++)
      given->gram[square + j + l * count] = simd->dot(m, given->V + j * m, s->pb->y + l * m);
  return COMPLETE;
}

/* R := the factor of K. */
static enum status given_factor(const struct greedy *s) {
  const struct given *given = s->given;
  const ptrdiff_t count = given->count;
  memcpy(given->R, given->gram, (size_t)(count * count) * sizeof(double));
  for (ptrdiff_t j = 0; j < count; j++)
    given->R[j + j * count] += s->control->lambda;
  return lapack_cholesky(count, given->R) == 0 ? COMPLETE : NOT_POSITIVE;
}

/* The squares of the coefficients of the first `size` columns; work: size. */
static double given_penalty(const struct greedy *s, ptrdiff_t size, double *work) {
  const struct given *given = s->given;
  double sum = 0;
  for (ptrdiff_t l = 0; l < s->pb->L; l++) {
    memcpy(work, given->z + l * given->count, (size_t)size * sizeof(double));
    solve_upper(size, given->R, given->count, work);
    sum += simd->dot(size, work, work);
  }
  return sum;
}

/* The sizes behind the last whose training error is below its ceiling are left. Returns how many
   columns the last has. */
static ptrdiff_t given_leave_sizes(struct greedy *s) {
  const struct given *given = s->given;
  const struct greedy_control *control = s->control;
  const ptrdiff_t count = given->count, L = s->pb->L;
  const double total = simd->dot(s->pb->m * L, s->pb->y, s->pb->y);
  double error = total * (1 - CEILING_MARGIN);
  ptrdiff_t columns = 0, size = 0;
  if (control->ceiling == NULL || criterion_is_of_groups(control->criterion))
    return count;
  memcpy(given->z, given->gram + count * count, (size_t)(count * L) * sizeof(double));
  for (ptrdiff_t l = 0; l < L; l++)
    solve_transposed(count, given->R, count, given->z + l * count);
  s->given_count = 0;
  for (int g = 0; g < control->given_count; g++) {
    const double most = control->ceiling[g + 1] * s->total_weight;
    int together;
    columns_together(&control->groups, control->given[g], &together);
    for (int p = 0; p < together; p++, size++)
      for (ptrdiff_t l = 0; l < L; l++)
        error -= given->z[size + l * count] * given->z[size + l * count];
    if (most >= 0 && error - control->lambda * given_penalty(s, size, given->part) <= most) {
      s->given_count = g + 1;
      columns = size;
    }
  }
  for (int g = s->given_count; g < control->given_count; g++)
    s->out->loss[g + 1] = s->out->squared[g + 1] = DBL_MAX;
  return columns;
}

/* The first `columns` of V := X R^-1 in a block of rows. */
static void given_solve(
    const struct given *given, ptrdiff_t columns, ptrdiff_t m, ptrdiff_t row, ptrdiff_t rows) {
  for (ptrdiff_t j = 0; j < columns; j++) {
    const double *R = given->R + j * given->count, unit = 1 / R[j];
    double *v = given->V + row + j * m;
    simd->shift_all(rows, v, j, given->V + row, m, R);
    for (ptrdiff_t r = 0; r < rows; r++)
      v[r] *= unit;
  }
}

static enum status given_solve_rows(struct greedy *s, ptrdiff_t columns) {
  const ptrdiff_t m = s->pb->m, chunk = given_rows_between_polls(s->given->count);
  for (ptrdiff_t from = 0; from < m; from += chunk) {
    const ptrdiff_t to = greedy_min(from + chunk, m);
#ifdef _OPENMP
#pragma omp parallel for num_threads(s->host->threads)                                             \
    schedule(static) if (s->host->threads > 1 && to - from > ROWS)
#endif
    for (ptrdiff_t row = from; row < to; row += ROWS)
      given_solve(s->given, columns, m, row, greedy_min(to - row, ROWS));
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

static enum status given_begin(struct greedy *s) {
  const struct problem *pb = s->pb;
  const struct given *given = s->given;
  const ptrdiff_t m = pb->m, count = given->count;
  greedy_start_rows(s);
  for (ptrdiff_t j = 0; j < count; j++) {
    working_column(pb, given->columns[j], given->V + j * m);
    s->out->work.columns_read++;
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  const size_t products = (size_t)(count * (count + pb->L)) * sizeof(double);
  enum status status = COMPLETE;
  if (s->control->gram != NULL)
    memcpy(given->gram, s->control->gram, products);
  else
    status = given_products(s);
  if (s->out->gram != NULL)
    memcpy(s->out->gram, given->gram, products);
  if (status == COMPLETE)
    status = given_factor(s);
  if (status != COMPLETE)
    return status;
  const ptrdiff_t columns = given_leave_sizes(s);
  status = given_solve_rows(s, columns);
  for (ptrdiff_t l = 0; l < pb->L && status == COMPLETE; l++)
    for (ptrdiff_t j = 0; j < columns; j++)
      given->z[j + l * count] = simd->dot(m, given->V + j * m, pb->y + l * m);
  return status;
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
