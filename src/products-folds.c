/* Products of columns, covariates and responses with each other, fold by fold.

   A few rows of one fold at a time are laid out column by column, so that a panel of them stays in
   the cache while its columns are multiplied with each other. */
#include "products.h"
#include "simd.h"
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
  double *values; /* PANEL_ROWS x order */
  double *zero, *one;
  int *place; /* order, of each variable in a row of products: its number */
};

static struct panel panel_lay_out(const struct problem *pb, struct arena *arena) {
  const ptrdiff_t order = pb->n + pb->q + pb->L;
  return (struct panel){.order = order,
      .values = alloc_doubles(arena, PANEL_ROWS * order),
      .zero = alloc_doubles(arena, order),
      .one = alloc_doubles(arena, order),
      .place = alloc_ints(arena, order)};
}

size_t fold_products_work(const struct problem *pb) {
  struct arena count = arena_over(NULL);
  panel_lay_out(pb, &count);
  return count.used;
}

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

/* out := these rows of variable j. */
static void panel_column(
    const struct problem *pb, ptrdiff_t j, const int *row, ptrdiff_t rows, double *out) {
  const ptrdiff_t m = pb->m, n = pb->n;
  if (j < n) {
    const double *x = (const double *)pb->x.dense + j * m;
    const double centre = pb->centre[j], scale = pb->inv_scale[j];
    for (ptrdiff_t p = 0; p < rows; p++)
      out[p] = scale * pb->root_w[row[p]] * (x[row[p]] - centre);
    return;
  }
  const double *v = j < n + pb->q ? pb->Q + (j - n) * m : pb->y + (j - n - pb->q) * m;
  for (ptrdiff_t p = 0; p < rows; p++)
    out[p] = v[row[p]];
}

/* The products of variables [from, from + PANEL) with those up to them: each is one thread's. */
static void panel_multiply(
    const struct panel *panel, ptrdiff_t from, ptrdiff_t rows, double *products) {
  const ptrdiff_t to = smaller(from + PANEL, panel->order);
  double *out[PANEL];
  for (ptrdiff_t l = from; l < to; l++)
    out[l - from] = products + l * panel->order;
  for (ptrdiff_t i = 0; i < to; i += TILE) {
    struct tile tile = {.count = smaller(to - i, TILE),
        .at = panel->place + i,
        .centre = panel->zero,
        .scale = panel->one};
    for (ptrdiff_t p = 0; p < TILE; p++) {
      tile.x[p] = panel->values + smaller(i + p, to - 1) * PANEL_ROWS;
      tile.next[p] = (const char *)tile.x[p];
    }
    simd->products(rows, &tile, to - from, panel->values + from * PANEL_ROWS, PANEL_ROWS, out);
  }
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

/* The other triangle of the products of each fold, and the sums over the folds. */
static void fold_products_finish(ptrdiff_t order, int folds, double *of, double *weight) {
  const ptrdiff_t size = order * order;
  double *all = of + folds * size;
  memset(all, 0, (size_t)size * sizeof(double));
  weight[folds] = 0;
  for (int f = 0; f < folds; f++) {
    double *products = of + f * size;
    for (ptrdiff_t j = 0; j < order; j++)
      for (ptrdiff_t i = 0; i < j; i++)
        products[j + i * order] = products[i + j * order];
    simd->shift(size, all, -1, products);
    weight[folds] += weight[f];
  }
}

enum status fold_products(const struct problem *pb, const struct folds *folds, struct host *host,
    void *work, double *of, double *weight) {
  struct arena arena = arena_over(work);
  const struct panel panel = panel_lay_out(pb, &arena);
  const ptrdiff_t order = panel.order, size = order * order;
  const double each = (double)PANEL_ROWS * (double)size / 2;
  double since = 0;
  memset(of, 0, (size_t)(folds->count[0] * size) * sizeof(double));
  for (ptrdiff_t j = 0; j < order; j++) {
    panel.zero[j] = 0;
    panel.one[j] = 1;
    panel.place[j] = (int)j;
  }
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
  fold_products_finish(order, folds->count[0], of, weight);
  return COMPLETE;
}
