/* Working coordinates: weights, covariates, centre and scale are met here and nowhere else. */
#include "problem.h"
#include "simd.h"
#include "column.h"
#include <limits.h>
#include <math.h>

void centred_column(const struct problem *pb, ptrdiff_t j, double *out) {
  const ptrdiff_t m = pb->m;
  const struct matrix *x = &pb->x;
  const double centre = pb->centre[j], f = pb->inv_scale[j], *w = pb->root_w;
  if (x->whole != NULL) {
    simd->centred_whole(m, out, x->whole + j * m, centre, f, w);
    return;
  }
  if (x->p == NULL) {
    simd->centred(m, out, x->x + j * m, centre, f, w);
    return;
  }
  for (ptrdiff_t r = 0; r < m; r++)
    out[r] = -f * w[r] * centre;
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = f * w[x->i[k]] * (x->x[k] - centre);
}

void working_column(const struct problem *pb, ptrdiff_t j, double *out) {
  const ptrdiff_t m = pb->m;
  centred_column(pb, j, out);
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * m;
    simd->shift(m, out, simd->dot(m, q, out), q);
  }
}

/* Whether a column of integers lacks a value. */
static int lacks_value(ptrdiff_t m, const int *column) {
  int lacks = 0;
  for (ptrdiff_t r = 0; r < m; r++)
    lacks |= column[r] == INT_MIN;
  return lacks;
}

/* Four columns side by side, as one stream alone does not keep memory busy; the last ones again
   where there are fewer. Sums are weighted, about the centre. */
struct four {
  ptrdiff_t from, count;
  const double *x[4];
  double centre[4], sum[4], square[4];
};

/* The products of a block of rows with the second vector and those after it, which are still in the
   nearest cache. */
static void add_products(
    const struct moments *find, const struct four *four, ptrdiff_t row, ptrdiff_t rows) {
  enum { SIDES = 4 };
  static const int at[] = {0, 1, 2, 3};
  static const double scale[] = {1, 1, 1, 1};
  struct tile tile = {.count = four->count, .at = at, .centre = four->centre, .scale = scale};
  for (int i = 0; i < 4; i++) {
    tile.x[i] = four->x[i] + row;
    tile.next[i] = (const char *)tile.x[i];
  }
  for (ptrdiff_t l = 1; l < find->L; l += SIDES) {
    const ptrdiff_t r = find->L - l < SIDES ? find->L - l : SIDES;
    double *out[SIDES];
    for (ptrdiff_t o = 0; o < r; o++)
      out[o] = find->products + four->from + (l + o) * find->n;
    simd->products(rows, &tile, r, find->v + row + l * find->m, find->m, out);
  }
}

/* The sums over all rows, with the products if they are asked for: one reading. */
static void add_rows(const struct moments *find, struct four *four, int products) {
  enum { ROWS = 512 }; /* that stay in the nearest cache meanwhile */
  for (int i = 0; i < 4; i++)
    four->sum[i] = four->square[i] = 0;
  for (ptrdiff_t row = 0; row < find->m; row += ROWS) {
    const ptrdiff_t rows = find->m - row < ROWS ? find->m - row : ROWS;
    const double *x[4], *v = products ? find->v : find->w; /* one goes along */
    double sum[4], square[4], product[4];
    for (int i = 0; i < 4; i++)
      x[i] = four->x[i] + row;
    simd->moments(rows, x, four->centre, find->w + row, v + row, sum, square, product);
    for (int i = 0; i < 4; i++) {
      four->sum[i] += sum[i];
      four->square[i] += square[i];
    }
    for (ptrdiff_t i = 0; products && i < four->count; i++)
      find->products[four->from + i] += product[i];
    if (products)
      add_products(find, four, row, rows);
  }
}

static void measure_four(const struct moments *find, struct four *four, double weights) {
  const int products = find->L > 0;
  add_rows(find, four, products && !find->centred);
  if (!find->centred)
    return;
  for (int i = 0; i < 4; i++)
    four->centre[i] = four->sum[i] / weights;
  /* the second reading leaves an error in the last place of the mean only */
  add_rows(find, four, products);
  for (int i = 0; i < 4; i++) {
    four->centre[i] += four->sum[i] / weights;
    const double square = four->square[i] - four->sum[i] * four->sum[i] / weights;
    four->square[i] = square < 0 ? 0 : square; /* of a constant column; not a number stays so */
  }
}

/* Four columns from `from` on, or what is left of those before `to`. */
static void measure_columns(
    const struct moments *find, ptrdiff_t from, ptrdiff_t to, double weights, double *room) {
  const ptrdiff_t m = find->m;
  const struct matrix *x = &find->x;
  struct four four = {.from = from, .count = to - from < 4 ? to - from : 4};
  for (ptrdiff_t i = 0; i < 4; i++) {
    const ptrdiff_t j = i < four.count ? from + i : to - 1;
    four.x[i] = x->whole != NULL ? room + i * m : x->x + j * m;
    if (x->whole != NULL)
      gather_column(x, m, j, room + i * m);
  }
  measure_four(find, &four, weights);
  for (ptrdiff_t i = 0; i < four.count; i++) {
    const int lacks = x->whole != NULL && lacks_value(m, x->whole + (from + i) * m);
    find->centre[from + i] = four.centre[i];
    find->squares[from + i] = lacks ? NAN : four.square[i];
  }
}

void column_moments(const struct moments *find, int threads, double *room) {
  const ptrdiff_t m = find->m, n = find->n, own = (n + threads - 1) / threads;
  double weights = 0;
  for (ptrdiff_t r = 0; r < m; r++)
    weights += find->w[r];
  memset(find->products, 0, (size_t)(n * find->L) * sizeof(double));
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (int t = 0; t < threads; t++) {
    const ptrdiff_t to = (t + 1) * own < n ? (t + 1) * own : n;
    double *part = find->x.whole != NULL ? room + t * 4 * m : NULL;
    for (ptrdiff_t from = t * own; from < to; from += 4)
      measure_columns(find, from, to, weights, part);
  }
}

ptrdiff_t asymmetric_entry(ptrdiff_t n, const double *A, const double *root, double share) {
  enum { TILE = 32 }; /* so that neither half is read across its columns from afar */
  for (ptrdiff_t left = 0; left < n; left += TILE)
    for (ptrdiff_t top = left; top < n; top += TILE)
      for (ptrdiff_t j = left; j < left + TILE && j < n; j++)
        for (ptrdiff_t i = top > j ? top : j + 1; i < top + TILE && i < n; i++)
          if (fabs(A[i + j * n] - A[j + i * n]) > share * root[i] * root[j])
            return i + j * n;
  return -1;
}
