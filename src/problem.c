/* Working coordinates: weights, covariates, centre and scale are met here and nowhere else. */
#include "problem.h"
#include "simd.h"
#include "column.h"
#include <math.h>

/* Column j about its centre alone. */
static void weighted_column(const struct problem *pb, ptrdiff_t j, double *out) {
  column_centred(&pb->x, pb->m, j, pb->centre[j], pb->inv_scale[j], pb->root_w, out);
}

/* A second time, as the first leaves a rounding error of what was there before. */
void centre_within(const struct queries *queries, const double *root_w, double *v) {
  for (ptrdiff_t g = 0; g < queries->count; g++) {
    const int *row = queries->order + queries->start[g];
    const ptrdiff_t rows = queries->start[g + 1] - queries->start[g];
    for (int pass = 0; pass < 2; pass++) {
      double weight = 0, sum = 0;
      for (ptrdiff_t p = 0; p < rows; p++) {
        weight += root_w[row[p]] * root_w[row[p]];
        sum += root_w[row[p]] * v[row[p]];
      }
      const double mean = weight > 0 ? sum / weight : 0;
      for (ptrdiff_t p = 0; p < rows; p++)
        v[row[p]] -= mean * root_w[row[p]];
    }
  }
}

void project_out(const struct problem *pb, double *v) {
  centre_within(&pb->queries, pb->root_w, v);
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * pb->m;
    simd->shift(pb->m, v, simd->dot(pb->m, q, v), q);
  }
}

void working_column(const struct problem *pb, ptrdiff_t j, double *out) {
  weighted_column(pb, j, out);
  project_out(pb, out);
}

void centred_column(const struct problem *pb, ptrdiff_t j, double *out) {
  weighted_column(pb, j, out);
  centre_within(&pb->queries, pb->root_w, out);
}

/* ---- moments ---- */

enum { BLOCK_ROWS = 512, SIDE_BY_SIDE = 4 }; /* rows that stay in the nearest cache; columns */

/* Four columns side by side, as one stream alone does not keep memory busy; the last one again
   where there are fewer. Sums are weighted, about the centre. */
struct four_columns {
  ptrdiff_t from, count;
  double centre[SIDE_BY_SIDE], sum[SIDE_BY_SIDE], square[SIDE_BY_SIDE];
};

/* The products of a block of rows with the second vector and those after it. */
static void add_products(const struct moments *moments, const struct four_columns *four,
    const double *const *x, ptrdiff_t row, ptrdiff_t rows) {
  enum { SIDES = 4 };
  static const int index[] = {0, 1, 2, 3};
  static const double scale[] = {1, 1, 1, 1};
  struct tile tile = {.count = four->count, .at = index, .centre = four->centre, .scale = scale};
  for (int i = 0; i < SIDE_BY_SIDE; i++) {
    tile.x[i] = x[i];
    tile.next[i] = (const char *)x[i];
  }
  for (ptrdiff_t l = 1; l < moments->L; l += SIDES) {
    const ptrdiff_t r = moments->L - l < SIDES ? moments->L - l : SIDES;
    double *out[SIDES];
    for (ptrdiff_t o = 0; o < r; o++)
      out[o] = moments->products + four->from + (l + o) * moments->n;
    simd->products(rows, &tile, r, moments->v + row + l * moments->m, moments->m, out);
  }
}

/* The sums over all rows, with the products if they are asked for: one pass. */
static void sum_rows(const struct moments *moments, struct four_columns *four, int products) {
  const ptrdiff_t m = moments->m;
  double copy[SIDE_BY_SIDE][BLOCK_ROWS];
  struct factors known = {.next = 0};
  for (int i = 0; i < SIDE_BY_SIDE; i++)
    four->sum[i] = four->square[i] = 0;
  for (ptrdiff_t row = 0; row < m; row += BLOCK_ROWS) {
    const ptrdiff_t rows = m - row < BLOCK_ROWS ? m - row : BLOCK_ROWS;
    const double *x[SIDE_BY_SIDE];
    /* simd->moments() wants a second vector in any case */
    const double *v = products ? moments->v : moments->w;
    double sum[SIDE_BY_SIDE], square[SIDE_BY_SIDE], product[SIDE_BY_SIDE];
    for (ptrdiff_t i = 0; i < SIDE_BY_SIDE; i++) {
      const ptrdiff_t j = four->from + (i < four->count ? i : four->count - 1);
      x[i] = column_rows_by(&known, &moments->x, m, j, row, rows, copy[i]);
    }
    simd->moments(rows, x, four->centre, moments->w + row, v + row, sum, square, product);
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
      four->sum[i] += sum[i];
      four->square[i] += square[i];
    }
    for (ptrdiff_t i = 0; products && i < four->count; i++)
      moments->products[four->from + i] += product[i];
    if (products)
      add_products(moments, four, x, row, rows);
  }
}

struct weighted_moments {
  struct moments moments;
  double weights; /* summed */
};

static void measure_four(const void *data, ptrdiff_t from, ptrdiff_t to, int thread) {
  (void)thread;
  const struct weighted_moments *all = data;
  const struct moments *moments = &all->moments;
  const double weights = all->weights;
  enum { MAX = SIDE_BY_SIDE };
  struct four_columns four = {.from = from, .count = to - from < MAX ? to - from : MAX};
  const int products = moments->L > 0, centred = moments->centred;
  sum_rows(moments, &four, products && !centred);
  if (centred) {
    for (int i = 0; i < SIDE_BY_SIDE; i++)
      four.centre[i] = four.sum[i] / weights;
    /* the second pass leaves an error in the last place of the mean only */
    sum_rows(moments, &four, products);
    for (int i = 0; i < SIDE_BY_SIDE; i++) {
      four.centre[i] += four.sum[i] / weights;
      const double square = four.square[i] - four.sum[i] * four.sum[i] / weights;
      four.square[i] = square < 0 ? 0 : square; /* of a constant column; NAN stays NAN */
    }
  }
  for (ptrdiff_t i = 0; i < four.count; i++) {
    moments->centre[from + i] = four.centre[i];
    moments->squares[from + i] = four.square[i];
  }
}

/* The weighted sum of column j about `centre`, of whose zeros together the weight is `zeros`; with
 *square its sum of squares. O(the nonzeros) */
static double sum_stored(
    const struct moments *moments, ptrdiff_t j, double centre, double zeros, double *square) {
  const struct matrix *x = &moments->x;
  double sum = -zeros * centre;
  *square = zeros * centre * centre;
  for (int k = x->p[j]; k < x->p[j + 1]; k++) {
    const double d = x->x[k] - centre, weighted = moments->w[x->i[k]] * d;
    sum += weighted;
    *square += weighted * d;
  }
  return sum;
}

/* The product of column j about `centre` with v, whose sum is nothing if there is a centre. */
static double multiply_stored(
    const struct matrix *x, ptrdiff_t j, double centre, double zeros, const double *v) {
  double product = 0, sum = 0;
  for (int k = x->p[j]; k < x->p[j + 1]; k++) {
    product += (x->x[k] - centre) * v[x->i[k]];
    sum += v[x->i[k]];
  }
  return zeros > 0 ? product + centre * sum : product;
}

/* Columns of a sparse x. */
static void measure_stored(const void *data, ptrdiff_t from, ptrdiff_t end, int thread) {
  (void)thread;
  const struct weighted_moments *all = data;
  const struct moments *moments = &all->moments;
  const struct matrix *x = &moments->x;
  const ptrdiff_t m = moments->m, to = end - from < SIDE_BY_SIDE ? end : from + SIDE_BY_SIDE;
  for (ptrdiff_t j = from; j < to; j++) {
    double centre = 0, square, stored = 0;
    for (int k = x->p[j]; k < x->p[j + 1]; k++)
      stored += moments->w[x->i[k]];
    /* exactly 0 where no value is left out */
    const double zeros = x->p[j + 1] - x->p[j] == m ? 0 : fmax(all->weights - stored, 0);
    for (int pass = 0; moments->centred && pass < 2; pass++)
      centre += sum_stored(moments, j, centre, zeros, &square) / all->weights;
    sum_stored(moments, j, centre, zeros, &square);
    moments->centre[j] = centre;
    moments->squares[j] = square;
    for (ptrdiff_t l = 0; l < moments->L; l++)
      moments->products[j + l * moments->n] =
          multiply_stored(x, j, centre, zeros, moments->v + l * m);
  }
}

/* Measures columns from `from` on, four at most and none from `to` on; `thread` is the caller's. */
typedef void measure_columns(const void *data, ptrdiff_t from, ptrdiff_t to, int thread);

/* Has `measure` do all of n columns of m rows, four at a time, and looks at stop() now and then. */
static enum status over_columns(ptrdiff_t m, ptrdiff_t n, int threads, int (*stop)(void),
    measure_columns *measure, const void *data) {
  const ptrdiff_t all = (n + threads - 1) / threads;
  /* a slow disk gives so many in a second */
  const ptrdiff_t some = SIDE_BY_SIDE * (2000000 / (m + 1) + 1);
  const ptrdiff_t share = some < all ? some : all;
  for (ptrdiff_t begin = 0; begin < n; begin += share * threads) {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) {
      const ptrdiff_t first = begin + t * share, to = first + share < n ? first + share : n;
      for (ptrdiff_t from = first; from < to; from += SIDE_BY_SIDE)
        measure(data, from, to, t);
    }
    if (stop != NULL && stop())
      return INTERRUPTED;
  }
  return COMPLETE;
}

enum status column_moments(const struct moments *given, int threads) {
  struct weighted_moments all = {.moments = *given, .weights = 0};
  all.moments.x = read_missing(given->x);
  for (ptrdiff_t r = 0; r < given->m; r++)
    all.weights += given->w[r];
  memset(given->products, 0, (size_t)(given->n * given->L) * sizeof(double));
  return over_columns(given->m, given->n, threads, given->stop,
      is_sparse(&given->x) ? measure_stored : measure_four, &all);
}

/* ---- means of the values that are there ---- */

/* Over all rows of column j. */
static struct present_sums sum_present(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre, const double *w) {
  struct present_sums all = {0, 0, 0};
  double copy[BLOCK_ROWS];
  for (ptrdiff_t row = 0; row < m; row += BLOCK_ROWS) {
    const ptrdiff_t rows = m - row < BLOCK_ROWS ? m - row : BLOCK_ROWS;
    const double *values = column_rows(x, m, j, row, rows, copy);
    const struct present_sums block = simd->present(rows, values, centre, w + row);
    all.count += block.count;
    all.weight += block.weight;
    all.sum += block.sum;
  }
  return all;
}

static void mean_of_four(const void *data, ptrdiff_t from, ptrdiff_t end, int thread) {
  const struct present_means *means = data;
  (void)thread;
  const ptrdiff_t to = end - from < SIDE_BY_SIDE ? end : from + SIDE_BY_SIDE;
  for (ptrdiff_t j = from; j < to; j++) {
    const struct present_sums raw = sum_present(&means->x, means->m, j, 0, means->w);
    const double centre = raw.weight > 0 ? raw.sum / raw.weight : NAN;
    const struct present_sums centred = sum_present(&means->x, means->m, j, centre, means->w);
    means->mean[j] = centre + centred.sum / raw.weight;
    means->missing[j] = (double)means->m - raw.count;
  }
}

enum status column_means(const struct present_means *given, int threads) {
  struct present_means means = *given;
  means.x = read_missing(given->x);
  return over_columns(means.m, means.n, threads, means.stop, mean_of_four, &means);
}

/* ---- within queries ---- */

static void within_of_four(const void *data, ptrdiff_t from, ptrdiff_t end, int thread) {
  const struct within_squares *within = data;
  const struct problem *pb = within->pb;
  const ptrdiff_t to = end - from < SIDE_BY_SIDE ? end : from + SIDE_BY_SIDE;
  double *column = within->scratch + thread * pb->m;
  for (ptrdiff_t j = from; j < to; j++) {
    column_centred(&pb->x, pb->m, j, pb->centre[j], 1, pb->root_w, column);
    centre_within(&pb->queries, pb->root_w, column);
    within->squares[j] = simd->dot(pb->m, column, column);
  }
}

enum status column_within_squares(const struct within_squares *within, int threads) {
  const struct problem *pb = within->pb;
  return over_columns(pb->m, pb->n, threads, within->stop, within_of_four, within);
}

/* ---- symmetry ---- */

ptrdiff_t asymmetric_entry(ptrdiff_t n, const double *A, const double *root, double share) {
  enum { TILE = 64 }; /* so that neither half is read across its columns from afar */
  for (ptrdiff_t first = 0; first < n; first += TILE)
    for (ptrdiff_t top = first; top < n; top += TILE)
      for (ptrdiff_t j = first; j < first + TILE && j < n; j++)
        for (ptrdiff_t i = top > j ? top : j + 1; i < top + TILE && i < n; i++)
          if (!(fabs(A[i + j * n] - A[j + i * n]) <= share * root[i] * root[j]))
            return i + j * n;
  return -1;
}
