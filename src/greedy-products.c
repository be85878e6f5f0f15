/* Products of many columns with several vectors in one reading of x. */
#include "greedy-state.h"
#include "simd.h"
#include <string.h>

enum { TILE = 4 }; /* columns that are read together */

size_t products_room(const struct problem *pb, ptrdiff_t r, int threads) {
  const ptrdiff_t own = pb->x.p == NULL ? (TILE + r) * ROWS : r; /* of a thread */
  const ptrdiff_t turned = pb->x.p == NULL ? 0 : r * (pb->m + 1);
  return (size_t)(turned + own * threads);
}

/* The tile of columns listed from p on, a block of rows from `row` on; block: room for them. */
static struct tile tile_at(const struct reading *read, ptrdiff_t p, ptrdiff_t to, ptrdiff_t row,
    ptrdiff_t rows, double *block) {
  const struct problem *pb = read->pb;
  const struct matrix *x = &pb->x;
  const ptrdiff_t last = to - 1;
  struct tile tile = {.count = to - p < TILE ? to - p : TILE,
      .at = read->list + p,
      .centre = pb->centre,
      .scale = pb->inv_scale,
      .line = 8 * (ptrdiff_t)(x->whole != NULL ? sizeof(int) : sizeof(double))};
  for (ptrdiff_t i = 0; i < TILE; i++) {
    const ptrdiff_t here = p + i < last ? p + i : last;
    const ptrdiff_t there = p + TILE + i < last ? p + TILE + i : last;
    const ptrdiff_t at = row + read->list[here] * pb->m, next = row + read->list[there] * pb->m;
    if (x->whole == NULL) {
      tile.x[i] = x->x + at;
      tile.next[i] = (const char *)(x->x + next);
    } else {
      simd->doubles(rows, block + i * ROWS, x->whole + at);
      tile.x[i] = block + i * ROWS;
      tile.next[i] = (const char *)(x->whole + next);
    }
  }
  return tile;
}

/* Columns list[from .. to), one block of rows after the other. */
static void dense_products(const struct reading *read, ptrdiff_t from, ptrdiff_t to, double *room) {
  const struct problem *pb = read->pb;
  const ptrdiff_t m = pb->m, r = read->r;
  double *v = room, *block = room + r * ROWS;
  for (ptrdiff_t row = 0; row < m; row += ROWS) {
    const ptrdiff_t rows = m - row < ROWS ? m - row : ROWS;
    for (ptrdiff_t l = 0; l < r; l++)
      simd->weighted(rows, v + l * ROWS, pb->root_w + row, read->v[l] + row);
    for (ptrdiff_t p = from; p < to; p += TILE) {
      const struct tile tile = tile_at(read, p, to, row, rows, block);
      simd->products(rows, &tile, r, v, ROWS, read->out);
    }
  }
}

/* The same from the nonzeros; turned is v by rows, sums the sums of root_w v, one has r entries. */
static void sparse_products(const struct reading *read, ptrdiff_t from, ptrdiff_t to,
    const double *turned, const double *sums, double *one) {
  const struct problem *pb = read->pb;
  const ptrdiff_t r = read->r;
  for (ptrdiff_t p = from; p < to; p++) {
    const ptrdiff_t i = read->list[p];
    const int first = pb->x.p[i], count = pb->x.p[i + 1] - first;
    const double *x = pb->x.x + first, c = pb->centre[i];
    const int *row = pb->x.i + first;
    const double f = pb->inv_scale[i];
    for (ptrdiff_t l = 0; l < r; l++)
      one[l] = -c * sums[l];
    simd->sparse_products(count, x, row, pb->root_w, r, turned, r, one);
    for (ptrdiff_t l = 0; l < r; l++)
      read->out[l][i] += f * one[l];
  }
}

static void turn(const struct reading *read, double *turned, double *sums) {
  const ptrdiff_t m = read->pb->m, r = read->r;
  for (ptrdiff_t l = 0; l < r; l++) {
    const double *v = read->v[l];
    for (ptrdiff_t j = 0; j < m; j++)
      turned[l + j * r] = v[j];
    sums[l] = simd->dot(m, read->pb->root_w, v);
  }
}

enum status column_products(const struct reading *read, struct host *host, double *room) {
  const struct problem *pb = read->pb;
  const ptrdiff_t r = read->r, m = pb->m;
  const int sparse = pb->x.p != NULL, threads = host->threads;
  double *turned = room, *sums = room + r * m; /* if sparse */
  if (sparse)
    turn(read, turned, sums);
  /* a tenth of a second of work between two polls */
  const double wanted = 5e8 / ((double)m * (double)(r + 1));
  const ptrdiff_t share = wanted < TILE ? TILE : wanted > 1e6 ? 1000000 : (ptrdiff_t)wanted;
  for (ptrdiff_t begin = 0; begin < read->count; begin += share * threads) {
    const ptrdiff_t left = read->count - begin,
                    all = left < share * threads ? left : share * threads;
    const ptrdiff_t own = (all + threads - 1) / threads; /* columns of a thread */
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) {
      const ptrdiff_t from = begin + t * own, end = from + own;
      const ptrdiff_t to = end < begin + all ? end : begin + all;
      if (from >= to)
        continue;
      if (sparse)
        sparse_products(read, from, to, turned, sums, room + r * (m + 1) + t * r);
      else
        dense_products(read, from, to, room + t * (TILE + r) * ROWS);
    }
    if (host->stop(host, read->done, read->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}
