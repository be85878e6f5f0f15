/* Products of many columns with several vectors in one pass over x. */
#include "products.h"
#include "column.h"
#include "work.h"
#include <math.h>
#include <string.h>

enum {
  MOST_VECTORS = 32, /* that one pass of problem_products() multiplies x with */
  ROWS = 512,        /* rows of a block, of which a few columns stay in the nearest cache */
  TILE = 4,          /* columns that are read together */
  SCORED_ROWS = 256, /* rows of a block of scores, which stay in the nearest cache */
  SCORED_COLUMNS = 16,
  AHEAD = 4 * TILE /* where short columns come from memory in time */
};

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

struct products_work {
  double *by_row;        /* r x m, the vectors by rows, of a sparse x */
  double *sums;          /* r, sums of root_w v, of a sparse x */
  double *thread;        /* for each thread thread_size */
  ptrdiff_t thread_size; /* r vectors and a tile of a block of rows; of a sparse x r products */
};

static struct products_work products_lay_out(
    const struct problem *pb, ptrdiff_t r, int threads, struct arena *arena) {
  const int sparse = is_sparse(&pb->x);
  const ptrdiff_t thread_size = sparse ? r : (TILE + r) * ROWS;
  return (struct products_work){.by_row = alloc_doubles(arena, sparse ? r * pb->m : 0),
      .sums = alloc_doubles(arena, sparse ? r : 0),
      .thread = alloc_doubles(arena, threads * thread_size),
      .thread_size = thread_size};
}

size_t column_products_work(const struct problem *pb, ptrdiff_t r, int threads) {
  struct arena count = arena_over(NULL);
  products_lay_out(pb, r, threads, &count);
  return count.used;
}

/* The tile of columns listed from p on, a block of rows from `row` on; elements of other types
   become doubles in `block`. */
static struct tile products_tile(const struct column_pass *pass, ptrdiff_t p, ptrdiff_t to,
    ptrdiff_t row, ptrdiff_t rows, double *block) {
  const struct problem *pb = pass->pb;
  const struct matrix *x = &pb->x;
  const ptrdiff_t last = to - 1;
  struct tile tile = {.count = smaller(to - p, TILE),
      .at = pass->list + p,
      .centre = pb->centre,
      .scale = pb->inv_scale,
      .line = simd->columns[x->element].bits};
  for (ptrdiff_t i = 0; i < TILE; i++) {
    const ptrdiff_t here = smaller(p + i, last), there = smaller(p + AHEAD + i, last);
    tile.x[i] = column_rows(x, pb->m, pass->list[here], row, rows, block + i * ROWS);
    tile.next[i] = column_at(x, pb->m, pass->list[there], row);
  }
  return tile;
}

/* The products of columns list[from .. to), one block of rows after the other; work: r vectors and
   a tile of ROWS. */
static void products_dense(
    const struct column_pass *pass, ptrdiff_t from, ptrdiff_t to, double *work) {
  const struct problem *pb = pass->pb;
  const ptrdiff_t m = pb->m, r = pass->r;
  double *v = work, *block = work + r * ROWS;
  for (ptrdiff_t row = 0; row < m; row += ROWS) {
    const ptrdiff_t rows = smaller(m - row, ROWS);
    for (ptrdiff_t l = 0; l < r; l++)
      simd->weighted(rows, v + l * ROWS, pb->root_w + row, pass->v[l] + row);
    for (ptrdiff_t p = from; p < to; p += TILE) {
      const struct tile tile = products_tile(pass, p, to, row, rows, block);
      simd->products(rows, &tile, r, v, ROWS, pass->out);
    }
  }
}

/* The products of columns list[from .. to) from their nonzeros; one: r, for those of a column. */
static void products_sparse(const struct column_pass *pass, ptrdiff_t from, ptrdiff_t to,
    const struct products_work *work, double *one) {
  const struct problem *pb = pass->pb;
  const ptrdiff_t r = pass->r;
  for (ptrdiff_t p = from; p < to; p++) {
    const ptrdiff_t i = pass->list[p];
    const int first = pb->x.p[i], count = pb->x.p[i + 1] - first;
    const double *x = pb->x.x + first, c = pb->centre[i];
    const int *row = pb->x.i + first;
    const double f = pb->inv_scale[i];
    for (ptrdiff_t l = 0; l < r; l++)
      one[l] = -c * work->sums[l];
    simd->sparse_products(count, x, row, pb->root_w, r, work->by_row, r, one);
    for (ptrdiff_t l = 0; l < r; l++)
      pass->out[l][i] += f * one[l];
  }
}

static void products_by_row(const struct column_pass *pass, const struct products_work *work) {
  const ptrdiff_t m = pass->pb->m, r = pass->r;
  for (ptrdiff_t l = 0; l < r; l++) {
    const double *v = pass->v[l];
    for (ptrdiff_t j = 0; j < m; j++)
      work->by_row[l + j * r] = v[j];
    work->sums[l] = simd->dot(m, pass->pb->root_w, v);
  }
}

enum status column_products(const struct column_pass *pass, struct host *host, void *work) {
  const struct problem *pb = pass->pb;
  const int sparse = is_sparse(&pb->x), threads = host->threads;
  struct arena arena = arena_over(work);
  const struct products_work parts = products_lay_out(pb, pass->r, threads, &arena);
  if (sparse)
    products_by_row(pass, &parts);
  /* a tenth of a second of work between two polls, or so much of a file that is read from a disk */
  const double wanted =
      fmin(5e8 / ((double)pb->m * (double)(pass->r + 1)), POLLED_VALUES / (double)pb->m);
  const ptrdiff_t share = wanted < TILE ? TILE : wanted > 1e6 ? 1000000 : (ptrdiff_t)wanted;
  const double read_before = host->columns_read;
  for (ptrdiff_t begin = 0; begin < pass->count; begin += share * threads) {
    const ptrdiff_t end = smaller(begin + share * threads, pass->count);
    const ptrdiff_t per_thread = (end - begin + threads - 1) / threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) {
      const ptrdiff_t from = begin + t * per_thread, to = smaller(from + per_thread, end);
      double *scratch = parts.thread + t * parts.thread_size;
      if (from >= to)
        continue;
      if (sparse)
        products_sparse(pass, from, to, &parts, scratch);
      else
        products_dense(pass, from, to, scratch);
    }
    host->columns_read = read_before + (double)end;
    if (host->stop(host, pass->done, pass->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* ---- the products of a problem ---- */

struct problem_products {
  int *list;
  const double **v;
  double **out;
  void *work;
};

static struct problem_products problem_lay_out(
    const struct problem *pb, int threads, struct arena *arena) {
  return (struct problem_products){.list = alloc_ints(arena, pb->n),
      .v = arena_alloc(arena, MOST_VECTORS, sizeof(double *)),
      .out = arena_alloc(arena, MOST_VECTORS, sizeof(double *)),
      .work = arena_alloc(arena, 1, column_products_work(pb, MOST_VECTORS, threads))};
}

size_t problem_products_work(const struct problem *pb, int threads) {
  struct arena count = arena_over(NULL);
  problem_lay_out(pb, threads, &count);
  return count.used;
}

enum status problem_products(
    const struct problem *pb, struct host *host, void *work, double *products) {
  struct arena arena = arena_over(work);
  const struct problem_products parts = problem_lay_out(pb, host->threads, &arena);
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < pb->n; i++)
    if (pb->usable[i])
      parts.list[count++] = (int)i;
  memset(products, 0, (size_t)(pb->n * pb->L) * sizeof(double));
  for (ptrdiff_t from = 0; from < pb->L; from += MOST_VECTORS) {
    const ptrdiff_t r = smaller(MOST_VECTORS, pb->L - from);
    for (ptrdiff_t l = 0; l < r; l++) {
      parts.v[l] = pb->y + (from + l) * pb->m;
      parts.out[l] = products + (from + l) * pb->n;
    }
    const struct column_pass pass = {.pb = pb,
        .list = parts.list,
        .count = count,
        .r = r,
        .v = parts.v,
        .out = parts.out,
        .done = (double)from,
        .total = (double)pb->L};
    if (column_products(&pass, host, parts.work) != COMPLETE)
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* ---- scores ---- */

/* out (rows x count, m apart) += columns X (rows x n) times B (n x count, ldb apart), but for four
   columns whose coefficients are all 0. */
static void add_scores(ptrdiff_t rows, ptrdiff_t n, const double *X, ptrdiff_t count,
    const double *B, ptrdiff_t ldb, double *out, ptrdiff_t m) {
  double less[SCORED_COLUMNS * TILE] = {0};
  ptrdiff_t from = 0;
  for (ptrdiff_t i = 0; i < n; i += TILE) {
    int used = 0;
    for (ptrdiff_t p = i; p < i + TILE && p < n; p++)
      for (ptrdiff_t l = 0; l < count; l++) {
        less[p + l * SCORED_COLUMNS] = -B[p + l * ldb];
        used |= B[p + l * ldb] != 0;
      }
    if (used && i + TILE < n)
      continue;
    const ptrdiff_t to = used ? n : i;
    if (to > from && count > 1)
      simd->shift_four(rows, count, out, m, to - from, X + from * SCORED_ROWS, SCORED_ROWS,
          less + from, SCORED_COLUMNS);
    else if (to > from)
      simd->shift_all(rows, out, to - from, X + from * SCORED_ROWS, SCORED_ROWS, less + from);
    from = to + TILE;
    if (used)
      return;
  }
}

void linear_scores(ptrdiff_t m, const struct matrix *X, ptrdiff_t n, const int *list, ptrdiff_t L,
    const double *B, double *out) {
  double copy[SCORED_COLUMNS * SCORED_ROWS];
  struct factors known = {.next = 0};
  memset(out, 0, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t row = 0; row < m; row += SCORED_ROWS) {
    const ptrdiff_t rows = smaller(m - row, SCORED_ROWS);
    for (ptrdiff_t j = 0; j < n; j += SCORED_COLUMNS) {
      const ptrdiff_t count = smaller(n - j, SCORED_COLUMNS);
      for (ptrdiff_t i = 0; i < count; i++) {
        double *at = copy + i * SCORED_ROWS;
        const double *x = column_rows_by(&known, X, m, list[j + i], row, rows, at);
        if (x != at)
          memcpy(at, x, (size_t)rows * sizeof(double));
      }
      for (ptrdiff_t l = 0; l < L; l += TILE)
        add_scores(rows, count, copy, smaller(L - l, TILE), B + j + l * n, n, out + row + l * m, m);
    }
  }
}
