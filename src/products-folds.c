/* Products of columns, covariates and responses with each other, fold by fold.

   A few rows of one fold at a time are laid out column by column, so that a panel of them stays in
   the cache while its columns are multiplied with each other. */
#include "products.h"
#include "column.h"
#include "work.h"
#include <string.h>

enum {
  PANEL_ROWS = 256,       /* rows that are laid out together */
  PANEL = 64,             /* variables that are multiplied with the others together */
  TILE = 4,               /* variables that simd->products() takes together */
  BETWEEN_POLLS = 1 << 28 /* multiplications */
};

struct panel {
  ptrdiff_t order;
  double *values;   /* PANEL_ROWS x order */
  double *weighted; /* PANEL_ROWS x order, what they are multiplied with */
  double *zero, *one;
  int *place; /* order, of each variable in a row of products: its number */
};

/* Of so many variables, which are multiplied with each other, with weights or without. */
static struct panel panel_lay_out(ptrdiff_t order, int weights, struct arena *arena) {
  struct panel panel = {.order = order,
      .values = alloc_doubles(arena, PANEL_ROWS * order),
      .zero = alloc_doubles(arena, order),
      .one = alloc_doubles(arena, order),
      .place = alloc_ints(arena, order)};
  panel.weighted = weights ? alloc_doubles(arena, PANEL_ROWS * order) : panel.values;
  for (ptrdiff_t j = 0; j < order && arena->base != NULL; j++) {
    panel.zero[j] = 0;
    panel.one[j] = 1;
    panel.place[j] = (int)j;
  }
  return panel;
}

static ptrdiff_t variables_of(const struct problem *pb) {
  return pb->n + pb->q + pb->L;
}

size_t fold_products_work(const struct problem *pb) {
  struct arena count = arena_over(NULL);
  panel_lay_out(variables_of(pb), 0, &count);
  return count.used;
}

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

/* out := these rows of column j of a dense x of doubles, or of functions of them. */
static void panel_values(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, const int *row, ptrdiff_t rows, double *out) {
  if (x->element == DOUBLES) {
    const double *values = column_at(x, m, j, 0);
    for (ptrdiff_t p = 0; p < rows; p++)
      out[p] = values[row[p]];
    return;
  }
  double source[2][PANEL_ROWS];
  struct column column = column_from(x, m, j, 0);
  for (int i = 0; i < 2 && column.of[i] != NULL; i++) {
    for (ptrdiff_t p = 0; p < rows; p++)
      source[i][p] = column.of[i][row[p]];
    column.of[i] = source[i];
  }
  loops_of(x)->gather(rows, out, column);
}

/* out := these rows of variable j. */
static void panel_column(
    const struct problem *pb, ptrdiff_t j, const int *row, ptrdiff_t rows, double *out) {
  const ptrdiff_t m = pb->m, n = pb->n;
  if (j < n) {
    const double centre = pb->centre[j], scale = pb->inv_scale[j];
    panel_values(&pb->x, m, j, row, rows, out);
    for (ptrdiff_t p = 0; p < rows; p++)
      out[p] = scale * pb->root_w[row[p]] * (out[p] - centre);
    return;
  }
  const double *v = j < n + pb->q ? pb->Q + (j - n) * m : pb->y + (j - n - pb->q) * m;
  for (ptrdiff_t p = 0; p < rows; p++)
    out[p] = v[row[p]];
}

/* Adds the products of variables [from, from + PANEL) with those up to them to a packed triangle:
   each is one thread's. The square on the diagonal is multiplied apart, as half of it has no place.
 */
static void panel_multiply(
    const struct panel *panel, ptrdiff_t from, ptrdiff_t rows, double *products) {
  const ptrdiff_t to = smaller(from + PANEL, panel->order);
  double square[PANEL * PANEL] = {0}, *above[PANEL], *within[PANEL];
  for (ptrdiff_t l = from; l < to; l++) {
    above[l - from] = products + packed_size(l);
    within[l - from] = square + (l - from) * PANEL;
  }
  for (ptrdiff_t i = 0; i < to; i += TILE) {
    const int is_above = i < from;
    struct tile tile = {.count = smaller(to - i, TILE),
        .at = panel->place + (is_above ? i : i - from),
        .centre = panel->zero,
        .scale = panel->one};
    for (ptrdiff_t p = 0; p < TILE; p++) {
      tile.x[p] = panel->values + smaller(i + p, to - 1) * PANEL_ROWS;
      tile.next[p] = (const char *)tile.x[p];
    }
    simd->products(rows, &tile, to - from, panel->weighted + from * PANEL_ROWS, PANEL_ROWS,
        is_above ? above : within);
  }
  for (ptrdiff_t l = from; l < to; l++)
    simd->shift(l - from + 1, above[l - from] + from, -1, within[l - from]);
}

/* Adds the products of some rows of one fold. */
static void panel_add(const struct problem *pb, const struct panel *panel, const int *row,
    ptrdiff_t rows, int threads, double *products) {
  const ptrdiff_t order = panel->order;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1 && order > PANEL)
#endif
  for (ptrdiff_t j = 0; j < order; j++)
    panel_column(pb, j, row, rows, panel->values + j * PANEL_ROWS);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(dynamic) if (threads > 1 && order > PANEL)
#endif
  for (ptrdiff_t from = 0; from < order; from += PANEL)
    panel_multiply(panel, from, rows, products);
  (void)threads;
}

/* The sums over the folds. */
static void fold_products_finish(ptrdiff_t size, int folds, double *of, double *weight) {
  double *all = of + folds * size;
  memset(all, 0, (size_t)size * sizeof(double));
  weight[folds] = 0;
  for (int f = 0; f < folds; f++) {
    simd->shift(size, all, -1, of + f * size);
    weight[folds] += weight[f];
  }
}

enum status fold_products(const struct problem *pb, const struct folds *folds, struct host *host,
    void *work, double *of, double *weight) {
  struct arena arena = arena_over(work);
  const struct panel panel = panel_lay_out(variables_of(pb), 0, &arena);
  const ptrdiff_t size = packed_size(panel.order);
  const double each = (double)PANEL_ROWS * (double)size;
  double since = 0;
  memset(of, 0, (size_t)(folds->count[0] * size) * sizeof(double));
  for (int f = 0; f < folds->count[0]; f++) {
    weight[f] = 0;
    for (ptrdiff_t p = folds->start[f]; p < folds->start[f + 1]; p += PANEL_ROWS, since += each) {
      const int *row = folds->order + p;
      const ptrdiff_t rows = smaller(folds->start[f + 1] - p, PANEL_ROWS);
      if (since > BETWEEN_POLLS) {
        since = 0;
        if (host->stop(host, (double)p, (double)pb->m))
          return INTERRUPTED;
      }
      for (ptrdiff_t r = 0; r < rows; r++)
        weight[f] += case_weight(pb, row[r]);
      panel_add(pb, &panel, row, rows, host->threads, of + f * size);
    }
  }
  fold_products_finish(size, folds->count[0], of, weight);
  return COMPLETE;
}

/* Both triangles of a packed one, in its place. */
static void unpack(ptrdiff_t order, double *products) {
  for (ptrdiff_t j = order - 1; j > 0; j--)
    memmove(products + j * order, products + packed_size(j), (size_t)(j + 1) * sizeof(double));
  for (ptrdiff_t j = 0; j < order; j++)
    for (ptrdiff_t i = 0; i < j; i++)
      products[j + i * order] = products[i + j * order];
}

size_t weighted_products_work(ptrdiff_t n) {
  struct arena count = arena_over(NULL);
  panel_lay_out(n, 1, &count);
  return count.used;
}

enum status weighted_products(
    const struct weighted_columns *columns, void *work, double *products) {
  struct arena arena = arena_over(work);
  const ptrdiff_t m = columns->m, n = columns->n;
  const struct panel panel = panel_lay_out(n, 1, &arena);
  const double each = (double)PANEL_ROWS * (double)(n * n * columns->count) / 2;
  double since = 0;
  memset(products, 0, (size_t)(n * n * columns->count) * sizeof(double));
  for (ptrdiff_t row = 0; row < m; row += PANEL_ROWS, since += each) {
    const ptrdiff_t rows = smaller(m - row, PANEL_ROWS);
    if (since > BETWEEN_POLLS) {
      since = 0;
      if (columns->stop())
        return INTERRUPTED;
    }
    for (ptrdiff_t j = 0; j < n; j++)
      loops_of(&columns->x)
          ->gather(rows, panel.values + j * PANEL_ROWS, column_from(&columns->x, m, j, row));
    for (ptrdiff_t l = 0; l < columns->count; l++) {
      const double *v = columns->v + l * m + row;
      for (ptrdiff_t j = 0; j < n; j++)
        for (ptrdiff_t p = 0; p < rows; p++)
          panel.weighted[p + j * PANEL_ROWS] = v[p] * panel.values[p + j * PANEL_ROWS];
      for (ptrdiff_t from = 0; from < n; from += PANEL)
        panel_multiply(&panel, from, rows, products + l * n * n);
    }
  }
  for (ptrdiff_t l = 0; l < columns->count; l++)
    unpack(n, products + l * n * n);
  return COMPLETE;
}
