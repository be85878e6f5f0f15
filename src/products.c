/* Products of many columns with several vectors in one reading of x. */
#include "greedy.h"
#include "lanes.h"
#include <string.h>

enum { ROWS = 512, TILE = 4 }; /* a tile of x that stays in the nearest cache */
enum { LINE = 64 };            /* bytes that memory gives at a time */

size_t products_room(const struct problem *pb, ptrdiff_t r, int threads) {
  const size_t turned = pb->x.p == NULL ? 0 : (size_t)(r * (pb->m + 1));
  return turned + (size_t)threads * TILE * ROWS;
}

static void scaled_block(
    const struct problem *pb, ptrdiff_t i, ptrdiff_t from, ptrdiff_t rows, double *out) {
  const ptrdiff_t at = from + i * pb->m;
  const double centre = pb->centre[i], f = pb->inv_scale[i], *w = pb->root_w + from;
  if (pb->x.whole != NULL)
    lanes->centred_whole(rows, out, pb->x.whole + at, centre, f, w);
  else
    lanes->centred(rows, out, pb->x.x + at, centre, f, w);
}

void centred_column(const struct problem *pb, ptrdiff_t i, double *out) {
  if (pb->x.p == NULL) {
    scaled_block(pb, i, 0, pb->m, out);
    return;
  }
  const double f = pb->inv_scale[i];
  for (ptrdiff_t j = 0; j < pb->m; j++)
    out[j] = -f * pb->root_w[j] * pb->centre[i];
  for (int k = pb->x.p[i]; k < pb->x.p[i + 1]; k++)
    out[pb->x.i[k]] += f * pb->root_w[pb->x.i[k]] * pb->x.x[k];
}

#ifdef __GNUC__
#define PREFETCH(address) __builtin_prefetch(address, 0, 2)
#else
#define PREFETCH(address) ((void)(address))
#endif

/* Where a block of column i begins. */
static const char *block_at(const struct problem *pb, ptrdiff_t i, ptrdiff_t from) {
  const ptrdiff_t at = from + i * pb->m;
  return pb->x.whole != NULL ? (const char *)(pb->x.whole + at) : (const char *)(pb->x.x + at);
}

/* Columns list[from .. to), one block of rows after the other. */
static void dense_products(
    const struct reading *read, ptrdiff_t from, ptrdiff_t to, double *block) {
  const struct problem *pb = read->pb;
  const ptrdiff_t m = pb->m, r = read->r;
  const ptrdiff_t size = pb->x.whole != NULL ? sizeof(int) : sizeof(double);
  memset(read->out + from * r, 0, (size_t)((to - from) * r) * sizeof(double));
  for (ptrdiff_t p = from; p < to && read->squares != NULL; p++)
    read->squares[p] = 0;
  for (ptrdiff_t row = 0; row < m; row += ROWS) {
    const ptrdiff_t rows = m - row < ROWS ? m - row : ROWS;
    for (ptrdiff_t p = from; p < to; p += TILE) {
      const ptrdiff_t columns = to - p < TILE ? to - p : TILE;
      for (ptrdiff_t i = 0; i < columns; i++) {
        double *one = block + i * ROWS;
        scaled_block(pb, read->list[p + i], row, rows, one);
        if (read->squares != NULL)
          read->squares[p + i] += lanes->dot(rows, one, one);
      }
      /* the next tile comes from memory while this one is multiplied */
      for (ptrdiff_t next = p + TILE; next < p + 2 * TILE && next < to; next++) {
        const char *at = block_at(pb, read->list[next], row);
        for (ptrdiff_t byte = 0; byte < rows * size; byte += LINE)
          PREFETCH(at + byte);
      }
      lanes->products(rows, columns, block, ROWS, r, read->V + row, m, read->out + p * r);
    }
  }
}

/* The same from the nonzeros; turned is V by rows, sums the sums of root_w v. */
static void sparse_products(const struct reading *read, ptrdiff_t from, ptrdiff_t to,
    const double *turned, const double *sums) {
  const struct problem *pb = read->pb;
  const ptrdiff_t r = read->r;
  double weights = 0;
  for (ptrdiff_t j = 0; j < pb->m && read->squares != NULL; j++)
    weights += pb->root_w[j] * pb->root_w[j];
  for (ptrdiff_t p = from; p < to; p++) {
    const ptrdiff_t i = read->list[p];
    const int first = pb->x.p[i], count = pb->x.p[i + 1] - first;
    const double *x = pb->x.x + first, c = pb->centre[i];
    const int *row = pb->x.i + first;
    double *out = read->out + p * r, f = pb->inv_scale[i], square = weights * c * c;
    for (ptrdiff_t l = 0; l < r; l++)
      out[l] = -c * sums[l];
    lanes->sparse_products(count, x, row, pb->root_w, r, turned, r, out);
    for (ptrdiff_t l = 0; l < r; l++)
      out[l] *= f;
    for (int k = 0; k < count && read->squares != NULL; k++)
      square += pb->root_w[row[k]] * pb->root_w[row[k]] * x[k] * (x[k] - 2 * c);
    if (read->squares != NULL)
      read->squares[p] = square * f * f;
  }
}

static void turn(const struct reading *read, double *turned, double *sums) {
  const ptrdiff_t m = read->pb->m, r = read->r;
  for (ptrdiff_t l = 0; l < r; l++) {
    const double *v = read->V + l * m;
    for (ptrdiff_t j = 0; j < m; j++)
      turned[l + j * r] = v[j];
    sums[l] = lanes->dot(m, read->pb->root_w, v);
  }
}

enum status column_products(const struct reading *read, struct host *host, double *room) {
  const struct problem *pb = read->pb;
  const ptrdiff_t r = read->r, m = pb->m;
  const int sparse = pb->x.p != NULL, threads = host->threads;
  double *turned = room, *sums = room + r * m, *blocks = sparse ? NULL : room;
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
        sparse_products(read, from, to, turned, sums);
      else
        dense_products(read, from, to, blocks + t * TILE * ROWS);
    }
    if (host->stop(host, read->done, read->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}
