/* Columns of x, eight at a time, multiplied with rows held out by folds: one reading gives the sums
   of every fold, wherever its rows are. Each tile of columns is one thread's. */
#include "column.h"
#include "greedy-lazy.h"
#include <string.h>

/* ---- workspace ---- */

static struct tile_scratch tile_lay_out_scratch(
    const struct greedy *s, const struct lazy_folds *folds, struct arena *arena) {
  const int copied = !is_sparse(&s->pb->x) && s->pb->x.element != DOUBLES;
  return (struct tile_scratch){.sums = alloc_doubles(arena, 2 * FOLD_TILE * folds->count),
      .total = alloc_doubles(arena, FOLD_TILE),
      .along = alloc_doubles(arena, FOLD_TILE * folds->max_rank),
      .kappa = alloc_doubles(arena, FOLD_TILE),
      .products = alloc_doubles(arena, FOLD_TILE * s->pb->L),
      .error = alloc_doubles(arena, FOLD_TILE),
      .worst = alloc_doubles(arena, FOLD_TILE),
      .block = alloc_doubles(arena, copied ? FOLD_TILE * ROWS : 0)};
}

void tile_lay_out(
    const struct greedy *s, struct lazy_folds *folds, int threads, struct arena *arena) {
  struct arena count = arena_over(NULL);
  tile_lay_out_scratch(s, folds, &count);
  folds->tile_size = count.used;
  folds->tile_scratch = arena_alloc(arena, threads, folds->tile_size);
  folds->v = alloc_doubles(arena, 3 * s->pb->m * folds->repeats);
  folds->v_sums = alloc_doubles(arena, 2 * folds->count + 1);
}

/* ---- all tiles ---- */

static int tile_has_candidate(const struct greedy *s, ptrdiff_t from, ptrdiff_t to) {
  for (ptrdiff_t i = from; i < to; i++)
    if (lazy_is_candidate(s, i))
      return 1;
  return 0;
}

enum status tile_each(struct greedy *s, double cost, tile_work *work) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t n = s->pb->n;
  const int threads = s->host->threads;
  /* a tenth of a second of work between two polls */
  const double wanted = fmin(1e8 / cost, POLLED_VALUES / (double)s->pb->m) / FOLD_TILE;
  const ptrdiff_t share = FOLD_TILE * threads * (wanted > 1e6 ? 1000000 : 1 + (ptrdiff_t)wanted);
  for (ptrdiff_t begin = 0; begin < n; begin += share) {
    const ptrdiff_t end = greedy_min(begin + share, n);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) {
      struct arena arena = arena_over((char *)folds->tile_scratch + (size_t)t * folds->tile_size);
      struct tile_scratch scratch = tile_lay_out_scratch(s, folds, &arena);
      for (ptrdiff_t from = begin + t * FOLD_TILE; from < end; from += threads * FOLD_TILE)
        if (tile_has_candidate(s, from, greedy_min(from + FOLD_TILE, n)))
          work(s, from, &scratch);
    }
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* ---- one tile ---- */

/* Column i of a tile, of which the last has fewer columns: its last one is taken again. */
static ptrdiff_t tile_column(const struct greedy *s, ptrdiff_t from, ptrdiff_t i) {
  return greedy_min(from + i, s->pb->n - 1);
}

static void tile_centre(const struct greedy *s, ptrdiff_t from, double *centre) {
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++)
    centre[i] = s->pb->centre[tile_column(s, from, i)];
}

/* A block of rows of a dense x. */
static struct fold_tile tile_rows(const struct greedy *s, ptrdiff_t from, ptrdiff_t row,
    ptrdiff_t rows, const double *centre, struct tile_scratch *scratch) {
  struct fold_tile tile = {.centre = centre};
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++)
    tile.x[i] = column_rows(&s->pb->x, s->pb->m, tile_column(s, from, i), row, rows,
        scratch->block + (scratch->block == NULL ? 0 : i * ROWS));
  return tile;
}

static void tile_scale(const struct greedy *s, ptrdiff_t from, double *rows, ptrdiff_t count) {
  double scale[FOLD_TILE];
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++)
    scale[i] = s->pb->inv_scale[tile_column(s, from, i)];
  for (ptrdiff_t r = 0; r < count; r++)
    for (ptrdiff_t i = 0; i < FOLD_TILE; i++)
      rows[i + r * FOLD_TILE] *= scale[i];
}

static void tile_squares_dense(
    const struct greedy *s, ptrdiff_t from, const double *centre, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m;
  for (ptrdiff_t row = 0; row < m; row += ROWS) {
    const ptrdiff_t rows = greedy_min(m - row, ROWS);
    const struct fold_tile tile = tile_rows(s, from, row, rows, centre, scratch);
    for (ptrdiff_t r = 0; r < folds->repeats; r++)
      simd->fold_squares(
          rows, &tile, s->pb->root_w + row, folds->fold_of + row + r * m, scratch->sums);
  }
}

/* Rows that are zero have the square of the centre. */
static void tile_squares_sparse(
    const struct greedy *s, ptrdiff_t from, const double *centre, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  const struct matrix *x = &s->pb->x;
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    const ptrdiff_t column = tile_column(s, from, i);
    const double c = centre[i];
    double *sums = scratch->sums + i;
    for (ptrdiff_t f = 0; f < folds->count; f++)
      sums[f * FOLD_TILE] = folds->weight[f] * c * c;
    for (int k = x->p[column]; k < x->p[column + 1]; k++)
      for (ptrdiff_t r = 0; r < folds->repeats; r++)
        sums[folds->fold_of[x->i[k] + r * s->pb->m] * FOLD_TILE] +=
            case_weight(s->pb, x->i[k]) * x->x[k] * (x->x[k] - 2 * c);
  }
}

void tile_squares(const struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const ptrdiff_t count = s->lazy->folds->count;
  double centre[FOLD_TILE];
  tile_centre(s, from, centre);
  memset(scratch->sums, 0, (size_t)(FOLD_TILE * count) * sizeof(double));
  if (is_sparse(&s->pb->x))
    tile_squares_sparse(s, from, centre, scratch);
  else
    tile_squares_dense(s, from, centre, scratch);
  tile_scale(s, from, scratch->sums, count);
  tile_scale(s, from, scratch->sums, count);
}

static void tile_products_dense(
    const struct greedy *s, ptrdiff_t from, const double *centre, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m;
  double again[FOLD_TILE]; /* the total by the folds of another repeat */
  for (ptrdiff_t row = 0; row < m; row += ROWS) {
    const ptrdiff_t rows = greedy_min(m - row, ROWS);
    const struct fold_tile tile = tile_rows(s, from, row, rows, centre, scratch);
    for (ptrdiff_t r = 0, at = row; r < folds->repeats; r++, at += m) {
      memset(again, 0, sizeof again);
      simd->fold_products(rows, &tile, folds->v + 3 * at, folds->fold_of + at,
          r == 0 ? scratch->total : again, scratch->sums);
    }
  }
}

static void tile_products_sparse(
    const struct greedy *s, ptrdiff_t from, const double *centre, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  const struct matrix *x = &s->pb->x;
  const double *v_sums = folds->v_sums;
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    const ptrdiff_t column = tile_column(s, from, i);
    double *sums = scratch->sums + i, total = -centre[i] * v_sums[2 * folds->count];
    for (ptrdiff_t f = 0; f < 2 * folds->count; f++)
      sums[f * FOLD_TILE] = -centre[i] * v_sums[f];
    for (int k = x->p[column]; k < x->p[column + 1]; k++) {
      ptrdiff_t at = x->i[k];
      total += x->x[k] * folds->v[3 * at];
      for (ptrdiff_t r = 0; r < folds->repeats; r++, at += s->pb->m) {
        double *sum = sums + 2 * FOLD_TILE * folds->fold_of[at];
        sum[0] += x->x[k] * folds->v[3 * at + 1];
        sum[FOLD_TILE] += x->x[k] * folds->v[3 * at + 2];
      }
    }
    scratch->total[i] = total;
  }
}

void tile_products(const struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const ptrdiff_t count = 2 * s->lazy->folds->count;
  double centre[FOLD_TILE];
  tile_centre(s, from, centre);
  memset(scratch->total, 0, FOLD_TILE * sizeof(double));
  memset(scratch->sums, 0, (size_t)(FOLD_TILE * count) * sizeof(double));
  if (is_sparse(&s->pb->x))
    tile_products_sparse(s, from, centre, scratch);
  else
    tile_products_dense(s, from, centre, scratch);
  tile_scale(s, from, scratch->total, 1);
  tile_scale(s, from, scratch->sums, count);
}
