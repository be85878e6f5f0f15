/* Greedy forward selection that skips the candidates that provably cannot win.

   With leave-one-out a candidate's error has a lower bound that takes O(1): the denominators d_j -
   beta_i C_ji^2 are positive and no larger than d_j, so that

     e_i >= P - 2 sum_l alpha_il C_i'w_l + sum_l alpha_il^2 |C_i|^2 / (max d)^2,   w_l = a_l / d^2,

   P the error that stands, l the outputs, alpha_il = beta_i x_i'a_l and beta_i = 1 / (lambda +
   x_i'C_i). The products C_i'w_l are known of the w_ref of an earlier step; with w_l = theta0 w_ref
   + theta1 a + rho the rest is at most |x_i| |rho_l|, and |C_i|^2 is little less than x_i'C_i. A
   column of C is made for a candidate whose bound does not rule it out, and for no other; what the
   bounds need follows from products of x with the columns chosen, which are made for several
   columns to come in one reading of x.

   Pahikkala, Airola and Salakoski 2010 for the search; docs/greedy-skipping.md derives the rest. */
#include "greedy-lazy.h"
#include <float.h>
#include <math.h>
#include <string.h>

int can_skip(const struct folds *folds, const struct greedy_control *control) {
  return folds->loo && control->search == FORWARD && control->criterion == SQUARED;
}

/* ---- room ---- */

/* How many columns of C are kept: all, or as many as take two gigabytes. */
static ptrdiff_t count_slots(const struct problem *pb) {
  const ptrdiff_t values = (ptrdiff_t)1 << 28;
  return smaller(pb->n, larger(LEAST_SLOTS, values / pb->m));
}

void lay_out_lazy(struct state *s, int threads, struct arena *room) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L, k = s->control->k, slots = count_slots(pb);
  const ptrdiff_t sums = larger(larger(CHUNK, k), larger(2 + L, SHARES * L));
  const ptrdiff_t sides = BATCH + 1 + L, pool = pool_size(n);
  s->C = alloc_doubles(room, m * slots);
  s->place = alloc_ints(room, n);
  struct lazy *z = arena_alloc(room, 1, sizeof(struct lazy));
  struct lazy parts = {.slots = slots,
      .owner = alloc_ints(room, slots),
      .version = alloc_ints(room, n),
      .c = alloc_doubles(room, m * k),
      .inverse = alloc_doubles(room, k),
      .gamma = alloc_doubles(room, L * k),
      .W = arena_alloc(room, k, sizeof(double *)),
      .U = alloc_doubles(room, k * k),
      .c_ref = alloc_doubles(room, L),
      .rows = alloc_doubles(room, n * (k + BATCH)),
      .row = alloc_ints(room, n),
      .row_owner = alloc_ints(room, k + BATCH),
      .row_version = alloc_ints(room, k + BATCH),
      .at = {.n = n,
          .L = L,
          .square = alloc_doubles(room, n),
          .g = alloc_doubles(room, n * L),
          .z = alloc_doubles(room, n * L)},
      .length = alloc_doubles(room, n),
      .reach2 = alloc_doubles(room, n),
      .aside = alloc_doubles(room, n),
      .lowest = alloc_doubles(room, n / OUTLOOK_BLOCK + 1),
      .bound = alloc_doubles(room, n),
      .w = alloc_doubles(room, m * L),
      .w_ref = alloc_doubles(room, m * L),
      .Gw = alloc_doubles(room, m * L),
      .a = alloc_doubles(room, m * L),
      .d = alloc_doubles(room, m),
      .theta0 = alloc_doubles(room, L),
      .theta1 = alloc_doubles(room, L),
      .left = alloc_doubles(room, L),
      .v = arena_alloc(room, sides, sizeof(double *)),
      .out = arena_alloc(room, sides, sizeof(double *)),
      .products = alloc_doubles(room, n * larger(SIDES, L)),
      .foreseen = alloc_doubles(room, pool * (1 + L + SIDES * (1 + BATCH))),
      .f = alloc_doubles(room, k * CHUNK),
      .beta = alloc_doubles(room, k * L),
      .alpha = alloc_doubles(room, CHUNK * L),
      .part = alloc_doubles(room, sums * (m / ROWS + 1)),
      .sums = sums,
      .scored = alloc_ints(room, n),
      .best = alloc_doubles(room, s->control->keep + 1),
      .list = alloc_ints(room, n),
      .heap = alloc_ints(room, n),
      .pool = alloc_ints(room, pool),
      .pool_row = alloc_ints(room, pool),
      .room = alloc_doubles(room, (ptrdiff_t)products_room(pb, sides, threads))};
  if (room->base == NULL)
    return;
  parts.at.length = parts.length;
  parts.at.reach2 = parts.reach2;
  parts.at.aside = parts.aside;
  parts.at.lowest = parts.lowest;
  *z = parts;
  s->lazy = z;
}

/* ---- rows: what a, d and w say ---- */

/* How much of a product may be rounding: that of a sum of m terms, the more so the worse the model
   is conditioned. */
static double rounding_of(const struct state *s) {
  return 2.3e-16 * (8 + sqrt((double)s->pb->m)) * s->lazy->drift;
}

/* Where a block keeps its sums. */
static double *sums_of(const struct lazy *z, ptrdiff_t row) {
  return z->part + row / ROWS * z->sums;
}

/* The sum over all rows, in the order of the blocks whichever thread made them. */
static double add_up(const struct state *s, ptrdiff_t which) {
  double sum = 0;
  for (ptrdiff_t row = 0; row < s->pb->m; row += ROWS)
    sum += sums_of(s->lazy, row)[which];
  return sum;
}

static void dots_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const double *v = with;
  simd->dots(rows, v + row, s->size, z->c + row, s->pb->m, sums_of(z, row));
}

/* v := G v = v - QQ'v - sum_l kappa_l c_l (c_l'v); the c are not orthogonal. O(m (size + q)). */
static void project(struct state *s, double *v) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m;
  each_block(s, s->size, dots_rows, v);
  for (int l = 0; l < s->size; l++)
    z->f[l] = z->inverse[l] * add_up(s, l);
  for (ptrdiff_t l = 0; l < s->pb->q; l++)
    simd->shift(m, v, simd->dot(m, s->pb->Q + l * m, v), s->pb->Q + l * m);
  const struct taking taking = {.count = 1, .x = {v}, .to = s->size};
  take_out(s, &taking);
}

static void project_w(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memcpy(z->Gw, z->w, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t l = 0; l < L; l++)
    project(s, z->Gw + l * m);
}

static void measure_block(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double *sums = sums_of(z, row), P = 0;
  (void)with;
  sums[0] = simd->largest(rows, s->d + row);
  for (ptrdiff_t l = 0, at = row; l < L; l++, at += m) {
    P += simd->weigh(rows, s->a + at, s->d + row, z->w + at);
    sums[2 + l] = s->size > 0 ? simd->dot(rows, s->c_b + row, z->w_ref + at) : 0;
  }
  sums[1] = P;
}

/* w and the figures of the model that stands. */
static void measure_rows(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  each_block(s, 1 + 4 * L, measure_block, NULL);
  z->largest_d = 0;
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    z->largest_d = fmax(z->largest_d, sums_of(z, row)[0]);
  z->P = add_up(s, 1);
  for (ptrdiff_t l = 0; l < L; l++)
    z->c_ref[l] = add_up(s, 2 + l);
  z->fresh = 0;
}

/* The products with w_ref are those with w from now on. */
static void refer_to_w(struct state *s) {
  struct lazy *z = s->lazy;
  memcpy(z->w_ref, z->w, (size_t)(s->pb->m * s->pb->L) * sizeof(double));
  z->fresh = 1;
}

/* a'(I - G)a of output l: with (X_S'X_S + lambda I)^-1 = U kappa U' and X_S'a = lambda beta it is
   lambda^2 sum_j kappa_j (U'beta)_j^2. */
static double kept_of_a(const struct state *s, ptrdiff_t l) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t k = s->control->k;
  const double lambda = s->control->lambda;
  double sum = 0;
  for (int j = 0; j < s->size; j++) {
    const double along = simd->dot(j + 1, z->U + j * k, z->beta + l * k);
    sum += z->inverse[j] * along * along;
  }
  return lambda * lambda * sum;
}

static void shares_block(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0, at = row; l < s->pb->L; l++, at += m)
    simd->shares(rows, z->w + at, z->w_ref + at, s->a + at, sums_of(z, row) + SHARES * l);
}

static void rest_block(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0, at = row; l < s->pb->L; l++, at += m)
    sums_of(z, row)[l] =
        simd->rest(rows, z->w + at, z->theta0[l], z->w_ref + at, z->theta1[l], s->a + at);
}

/* theta0 and theta1 of each output by least squares, and how much longer than |x_i| x_i'(G w -
   theta0 G w_ref - theta1 a) can be: what is left of w, and theta1 (I - G) a. */
static void split_w(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L;
  z->w_norm = 0;
  lazy_coefficients(s, z->beta, s->control->k);
  each_block(s, 3 * L, shares_block, NULL);
  for (ptrdiff_t l = 0; l < L; l++) {
    double of[SHARES];
    for (int p = 0; p < SHARES; p++)
      of[p] = add_up(s, p + SHARES * l);
    double theta0 = 1, theta1 = 0;
    if (!z->fresh) {
      const double det = of[W0W0] * of[AA] - of[W0A] * of[W0A];
      const int apart = det > 1e-10 * of[W0W0] * of[AA];
      theta0 = apart          ? (of[WW0] * of[AA] - of[WA] * of[W0A]) / det
               : of[W0W0] > 0 ? of[WW0] / of[W0W0]
                              : 0;
      theta1 = apart ? (of[WA] * of[W0W0] - of[WW0] * of[W0A]) / det : 0;
    }
    z->theta0[l] = theta0;
    z->theta1[l] = theta1;
    z->left[l] = 0;
    z->w_norm += fabs(theta0) * sqrt(of[W0W0]) + fabs(theta1) * sqrt(of[AA]);
  }
  if (z->fresh)
    return;
  each_block(s, 3 * L, rest_block, NULL);
  double left = 0;
  for (ptrdiff_t l = 0; l < L; l++) {
    z->left[l] = sqrt(add_up(s, l) + z->theta1[l] * z->theta1[l] * kept_of_a(s, l));
    left += z->left[l];
  }
  z->fresh = left <= 1e-8 * z->w_norm;
  z->w_norm += left;
}

/* ---- reading x ---- */

ptrdiff_t list_candidates(const struct state *s, int *list) {
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    if (is_candidate(s, i))
      list[count++] = (int)i;
  return count;
}

enum status read_columns(struct state *s, const int *list, ptrdiff_t count, ptrdiff_t r) {
  const struct lazy *z = s->lazy;
  const struct reading read = {.pb = s->pb,
      .list = list,
      .count = count,
      .r = r,
      .v = z->v,
      .out = z->out,
      .done = s->out->moves,
      .total = s->control->k};
  s->out->work.columns_read += (double)count;
  return column_products(&read, s->host, z->room);
}

/* The same, with nothing in z->out before. */
static enum status read_afresh(struct state *s, const int *list, ptrdiff_t count, ptrdiff_t r) {
  for (ptrdiff_t l = 0; l < r; l++)
    memset(s->lazy->out[l], 0, (size_t)s->pb->n * sizeof(double));
  return read_columns(s, list, count, r);
}

/* A bound of the squared norm of what is read of a column: rounding in its products is measured by
   it. Of a sparse column the centre is taken out of the products. */
static double reach2_of(const struct state *s, ptrdiff_t i, double weights) {
  const struct problem *pb = s->pb;
  if (pb->x.p == NULL)
    return pb->squares[i];
  const double centre = pb->centre[i] * pb->inv_scale[i];
  return 4 * (pb->squares[i] + centre * centre * weights);
}

/* So many rows of products, or a few more, as go with those of w in one reading without waste. */
static int whole_tiles(const struct state *s, ptrdiff_t rows) {
  const ptrdiff_t L = s->pb->L, all = (rows + L + SIDES - 1) / SIDES * SIDES;
  return (int)larger(LEAST_BATCH, smaller(BATCH, all) - L);
}

void start_lazy(struct state *s) {
  struct lazy *z = s->lazy;
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  for (ptrdiff_t i = 0; i < n; i++) {
    s->place[i] = z->row[i] = z->version[i] = z->scored[i] = -1;
    z->aside[i] = is_candidate(s, i) ? 0 : INFINITY;
    z->at.square[i] = z->length[i] = z->reach2[i] = 1; /* of columns set aside */
  }
  for (ptrdiff_t p = 0; p < z->slots; p++)
    z->owner[p] = -1;
  for (int p = 0; p < s->control->k + BATCH; p++)
    z->row_owner[p] = -1;
  /* how far one can see, as a move changes what is known of the others by about 1 / sqrt(m); and
     how much is to be gained */
  z->wanted = whole_tiles(s, smaller(m, n) / 16);
  z->drift = 4;
  start_rows(s);
  z->explained = simd->dot(m * L, s->a, s->a);
  memcpy(z->w_ref, s->a, (size_t)(m * L) * sizeof(double));
  memcpy(z->at.g, pb->products, (size_t)(n * L) * sizeof(double));
  memcpy(z->at.z, pb->products, (size_t)(n * L) * sizeof(double));
  double weights = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    weights += pb->root_w[j] * pb->root_w[j];
  for (ptrdiff_t i = 0; i < n; i++) {
    if (!is_candidate(s, i))
      continue;
    z->reach2[i] = reach2_of(s, i, weights);
    z->length[i] = sqrt(pb->rss[i] + rounding_of(s) * z->reach2[i]) + LEAST_LENGTH;
    z->at.square[i] = s->control->lambda + pb->rss[i];
  }
}

/* ---- a heap of candidates, the smallest bound on top ---- */

static int before(const struct lazy *z, int i, int j) {
  return z->bound[i] < z->bound[j] || (z->bound[i] == z->bound[j] && i < j);
}

static void sink(const struct lazy *z, ptrdiff_t at, ptrdiff_t count) {
  const int i = z->heap[at];
  for (ptrdiff_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && before(z, z->heap[child + 1], z->heap[child]))
      child++;
    if (!before(z, z->heap[child], i))
      break;
    z->heap[at] = z->heap[child];
    at = child;
  }
  z->heap[at] = i;
}

static void make_heap(const struct lazy *z, ptrdiff_t count) {
  for (ptrdiff_t at = count / 2 - 1; at >= 0; at--)
    sink(z, at, count);
}

static int pop(const struct lazy *z, ptrdiff_t *count) {
  const int top = z->heap[0];
  z->heap[0] = z->heap[--*count];
  sink(z, 0, *count);
  return top;
}

static int is_in(const int *list, int count, int i) {
  for (int p = 0; p < count; p++)
    if (list[p] == i)
      return 1;
  return 0;
}

/* ---- columns of C ---- */

/* A slot for column i: one never used or the one given out longest ago, unless its column is among
   those listed. */
static void place_column(struct state *s, int i, const int *list, int count) {
  struct lazy *z = s->lazy;
  if (s->place[i] >= 0)
    return;
  while (z->owner[z->next_slot] >= 0 && is_in(list, count, z->owner[z->next_slot]))
    z->next_slot = (z->next_slot + 1) % z->slots;
  const ptrdiff_t p = z->next_slot;
  z->next_slot = (p + 1) % z->slots;
  if (z->owner[p] >= 0)
    s->place[z->owner[p]] = -1;
  z->owner[p] = i;
  s->place[i] = (int)p;
  z->version[i] = -1;
}

/* The c of a block are read from memory once for all columns. */
static void take_out_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const struct taking *taking = with;
  const ptrdiff_t m = s->pb->m, k = s->control->k;
  for (int p = 0; p < taking->count; p++) {
    const int from = taking->from[p];
    simd->shift_all(
        rows, taking->x[p] + row, taking->to - from, z->c + from * m + row, m, z->f + p * k + from);
  }
}

/* How many times a move is taken out of a vector. */
static ptrdiff_t count_moves(const struct taking *taking) {
  ptrdiff_t moves = 0;
  for (int p = 0; p < taking->count; p++)
    moves += taking->to - taking->from[p];
  return moves;
}

void take_out(struct state *s, const struct taking *taking) {
  each_block(s, count_moves(taking), take_out_rows, taking);
}

/* Up to CHUNK columns that have a slot, and what is to be taken out of them to bring them as far as
   W is known. */
static struct taking begin_chunk(struct state *s, const int *list, int count) {
  struct lazy *z = s->lazy;
  const ptrdiff_t k = s->control->k;
  struct taking taking = {.count = count, .to = z->moves};
  for (int p = 0; p < count; p++) {
    const int i = list[p];
    taking.x[p] = column(s, i);
    taking.from[p] = z->version[i];
    if (z->version[i] < 0) {
      working_column(s->pb, i, taking.x[p]);
      s->out->work.columns_read++;
      taking.from[p] = 0;
    }
    for (int l = taking.from[p]; l < z->moves; l++)
      z->f[l + p * k] = z->inverse[l] * z->W[l][i];
    z->version[i] = z->moves;
  }
  return taking;
}

void make_columns(struct state *s, const int *list, int count) {
  for (int p = 0; p < count; p++)
    place_column(s, list[p], list, count);
  for (int from = 0; from < count; from += CHUNK) {
    const struct taking taking = begin_chunk(s, list + from, (int)smaller(CHUNK, count - from));
    take_out(s, &taking);
  }
}

/* x_i'C_i and x_i'a have lost digits in the recurrences (the guard of pivoted QR). */
static int digits_lost(const struct state *s, ptrdiff_t i) {
  const struct lazy *z = s->lazy;
  return z->at.square[i] < 1e-3 * (s->control->lambda + z->reach2[i]);
}

/* Both from the columns themselves, which are in hand. */
static void measure_columns(struct state *s, const int *list, int count) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, L = pb->L;
  const int threads = s->host->threads;
  s->out->work.columns_read += count;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && 4 * m * (count - 1) > SHARED)
#endif
  for (int t = 0; t < threads; t++)
    for (int p = t; p < count; p += threads) {
      const ptrdiff_t i = list[p];
      double *x = s->scratch + (size_t)t * s->scratch_size;
      centred_column(pb, i, x);
      s->lazy->at.square[i] = s->control->lambda + simd->dot(m, x, column(s, i));
      for (ptrdiff_t l = 0; l < L; l++)
        s->lazy->at.g[i + l * pb->n] = simd->dot(m, x, s->a + l * m);
    }
}

/* Those of the columns listed whose digits are lost are measured. */
static void measure_lost(struct state *s, const int *list, int count) {
  int lost[CHUNK], lost_count = 0;
  for (int p = 0; p < count; p++)
    if (digits_lost(s, list[p]))
      lost[lost_count++] = list[p];
  if (lost_count == 0)
    return;
  make_columns(s, lost, lost_count);
  measure_columns(s, lost, lost_count);
}

/* Columns to be brought up to date and scored. */
struct scoring {
  const int *list;
  struct taking taking;
};

static void score_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *z = s->lazy;
  const struct scoring *scoring = with;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  take_out_rows(s, &scoring->taking, row, rows);
  for (int p = 0; p < scoring->taking.count; p++)
    sums_of(z, row)[p] = simd->score(rows, L, scoring->taking.x[p] + row, s->a + row, m, s->d + row,
        1 / z->at.square[scoring->list[p]], z->alpha + p * L);
}

/* The sums of squares of up to CHUNK models, each with one more of the columns listed, in z->bound.
 */
static void score_columns(struct state *s, const int *list, int count) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L, n = s->pb->n;
  for (int p = 0; p < count; p++)
    place_column(s, list[p], list, count);
  measure_lost(s, list, count);
  for (int p = 0; p < count; p++)
    for (ptrdiff_t l = 0; l < L; l++)
      z->alpha[l + p * L] = z->at.g[list[p] + l * n] / z->at.square[list[p]];
  const struct scoring scoring = {.list = list, .taking = begin_chunk(s, list, count)};
  each_block(s, count_moves(&scoring.taking) + 8 * count, score_rows, &scoring);
  for (int p = 0; p < count; p++)
    z->bound[list[p]] = add_up(s, p);
}

/* ---- rows of products ---- */

/* A row for the last of the columns listed: one that is nobody's, else the one that has waited
   longest of a candidate that is none of the others listed. */
static void place_row(struct state *s, const int *list, int others) {
  struct lazy *z = s->lazy;
  const int *owner = z->row_owner, i = list[others], rows = s->control->k + BATCH;
  int p = 0;
  while (p < rows && owner[p] >= 0)
    p++;
  if (p == rows) {
    while (s->member[owner[z->next_row]] || is_in(list, others, owner[z->next_row]))
      z->next_row = (z->next_row + 1) % rows;
    p = z->next_row;
    z->next_row = (p + 1) % rows;
    z->row[owner[p]] = -1;
  }
  z->row_owner[p] = i;
  z->row_version[p] = z->moves;
  z->row[i] = p;
}

/* Reads x once: its products with the column of the move under way, with the columns foreseen and
   with w. */
static enum status fetch(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L;
  z->list[0] = (int)s->b;
  const int found = 1 + foresee(s, z->list + 1, z->wanted - 1);
  if (found == 0)
    return INTERRUPTED;
  make_columns(s, z->list + 1, found - 1);
  for (int p = 0; p < found; p++) {
    place_row(s, z->list, p);
    z->v[p] = p == 0 ? z->c + (s->size - 1) * m : column(s, z->list[p]);
    z->out[p] = z->rows + z->row[z->list[p]] * n;
  }
  project_w(s);
  for (ptrdiff_t l = 0; l < L; l++) {
    z->v[found + l] = z->Gw + l * m;
    z->out[found + l] = z->at.z + l * n;
  }
  z->used = 0;
  return read_afresh(s, z->list, list_candidates(s, z->list), found + L);
}

/* ---- a move ---- */

void commit_lazy(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, k = s->control->k, b = s->b;
  const int size = s->size;
  double *u = z->U + size * k, *f = z->f, inverse = 1 / s->kappa_b, spread = 0;
  const int i = (int)b;
  if (s->place[b] < 0) /* its slot was needed */
    make_columns(s, &i, 1);
  s->c_b = z->c + size * m;
  z->inverse[size] = inverse;
  z->drift += 1 + z->reach2[b] * inverse;
  z->aside[b] = INFINITY;
  for (int l = 0; l < size; l++)
    f[l] = z->inverse[l] * z->W[l][b];
  memset(u, 0, (size_t)size * sizeof(double));
  for (int l = 0; l < size; l++)
    simd->shift(l + 1, u, f[l], z->U + l * k);
  u[size] = 1;
  for (int l = 0; l < size; l++) {
    const double along = simd->dot(l + 1, z->U + l * k, u);
    spread += z->inverse[l] * along * along;
  }
  const double uu = simd->dot(size + 1, u, u);
  z->inverse2 += inverse * (2 * spread + inverse * uu * uu);
  for (ptrdiff_t l = 0; l < L; l++)
    z->gamma[l + size * L] = s->t_b[l] * inverse;
}

/* W of the move under way, and with it what is known of every candidate. */
static enum status advance(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, b = s->b;
  const int last = s->size - 1, unforeseen = z->row[b] < 0;
  z->unforeseen = z->unforeseen << 1 | (unsigned)unforeseen;
  if (unforeseen) {
    if (s->size > 1)
      z->wanted = whole_tiles(s, z->used + 3);
    if (fetch(s) != COMPLETE)
      return INTERRUPTED;
    refer_to_w(s);
    memset(z->c_ref, 0, (size_t)L * sizeof(double)); /* the products with w are up to date */
  }
  double *t = z->rows + z->row[b] * n;
  for (int l = z->row_version[z->row[b]]; l < last; l++)
    simd->shift(n, t, z->inverse[l] * z->W[l][b], z->W[l]);
  z->W[last] = t;
  z->moves = s->size;
  z->used++;
  const struct outlook_move move = {
      .inverse = z->inverse[last], .t = t, .gamma = z->gamma + last * L, .c_ref = z->c_ref};
  simd->outlook_advance(&z->at, &move);
  return COMPLETE;
}

/* ---- bounds ---- */

static struct outlook_rows rows_of(const struct state *s) {
  const struct lazy *z = s->lazy;
  const double inverse_d2 = 1 / (z->largest_d * z->largest_d), size = sqrt(z->explained);
  /* no eigenvalue of lambda (X_S'X_S + lambda I)^-1 is larger than the root of all their squares */
  const double kept = (1 + 1e-6) * s->control->lambda * sqrt(z->inverse2);
  return (struct outlook_rows){.P = z->P,
      .lambda = s->control->lambda,
      .inverse_d2 = inverse_d2,
      .kept = kept < 1 ? kept : 1,
      .rounding = 2 * rounding_of(s) * size * (z->w_norm + size * inverse_d2),
      .theta0 = z->theta0,
      .theta1 = z->theta1,
      .rest = z->left};
}

/* With the products C_i'w_l = x_i'G w_l themselves, for the columns listed. */
static enum status sharpen(struct state *s, const int *list, ptrdiff_t count) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L;
  project_w(s);
  for (ptrdiff_t l = 0; l < L; l++) {
    z->v[l] = z->Gw + l * m;
    z->out[l] = z->products + l * n;
  }
  if (read_afresh(s, list, count, L) != COMPLETE)
    return INTERRUPTED;
  const struct outlook_rows rows = rows_of(s);
  for (ptrdiff_t p = 0; p < count; p++) {
    const ptrdiff_t i = list[p];
    const double beta = 1 / z->at.square[i], all = z->length[i] * z->length[i];
    const double N = least_norm2(z->at.square[i] - rows.lambda, all, rows.kept);
    double value = z->P - 1e-13 * z->P - rows.rounding * (1 + z->reach2[i] * beta);
    for (ptrdiff_t l = 0; l < L; l++) {
      const double alpha = beta * z->at.g[i + l * n];
      value += alpha * (alpha * N * rows.inverse_d2 - 2 * z->products[i + l * n]);
    }
    if (z->bound[i] > -DBL_MAX)
      z->bound[i] = fmax(z->bound[i], value);
  }
  return COMPLETE;
}

/* ---- a step ---- */

/* A candidate whose bound is above this can neither win nor tie, nor be one of the runners-up that
   are kept. */
static double limit(const struct state *s) {
  const struct lazy *z = s->lazy;
  if (z->found <= s->control->keep)
    return INFINITY;
  return z->best[s->control->keep] + s->tolerance.value * s->total_weight;
}

/* Puts e among the smallest of this step. */
static void rank(struct lazy *z, double e, int most) {
  if (z->found == most && !(e < z->best[most - 1]))
    return;
  int at = z->found < most ? z->found++ : most - 1;
  for (; at > 0 && e < z->best[at - 1]; at--)
    z->best[at] = z->best[at - 1];
  z->best[at] = e;
}

/* kappa_i and t_i, where the rest of the search looks for them. */
static void keep_scalars(struct state *s, ptrdiff_t i) {
  const ptrdiff_t L = s->pb->L;
  s->kappa[i] = s->lazy->at.square[i];
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[l + i * L] = s->lazy->at.g[i + l * s->pb->n];
}

static void score_and_rank(struct state *s, const int *list, int count) {
  struct lazy *z = s->lazy;
  score_columns(s, list, count);
  for (int p = 0; p < count; p++) {
    const double e = z->bound[list[p]];
    s->score[list[p]] = (struct score){e / s->total_weight, e / s->total_weight};
    s->scored[s->scored_count++] = list[p];
    z->scored[list[p]] = s->size;
    rank(z, e, s->control->keep + 1);
    keep_scalars(s, list[p]);
  }
}

#ifdef SPARSELS_CHECK_BOUNDS
/* Compares all bounds with the sums of squares themselves. */
static void check_bounds(struct state *s) {
  struct lazy *z = s->lazy;
  for (int i = 0; i < s->pb->n; i++) {
    const double bound = z->bound[i];
    if (!is_candidate(s, i) || z->scored[i] == s->size)
      continue;
    score_columns(s, &i, 1);
    s->out->work.bounds++;
    s->out->work.broken += bound > z->bound[i];
    z->bound[i] = bound;
  }
}
#else
static void check_bounds(struct state *s) {
  (void)s;
}
#endif

/* Candidates that the limit does not rule out, onto the heap. */
static ptrdiff_t sift(const struct state *s) {
  const struct lazy *z = s->lazy;
  const double most = fmin(limit(s), DBL_MAX), *bound = z->bound; /* set aside: beyond that */
  const ptrdiff_t n = s->pb->n;
  int *heap = z->heap;
  ptrdiff_t left = 0;
  for (ptrdiff_t from = 0; from < n; from += OUTLOOK_BLOCK) {
    const ptrdiff_t to = smaller(n, from + OUTLOOK_BLOCK);
    for (ptrdiff_t i = z->lowest[from / OUTLOOK_BLOCK] > most ? to : from; i < to; i++) {
      heap[left] = (int)i;
      left += bound[i] <= most;
    }
  }
  return left;
}

/* The candidate with the lowest bound, which is infinite from then on. */
static int take_lowest(const struct lazy *z) {
  ptrdiff_t block = 0;
  for (ptrdiff_t p = 1; p * OUTLOOK_BLOCK < z->at.n; p++)
    if (z->lowest[p] < z->lowest[block])
      block = p;
  const ptrdiff_t from = block * OUTLOOK_BLOCK, to = smaller(z->at.n, from + OUTLOOK_BLOCK);
  ptrdiff_t i = from;
  while (z->bound[i] > z->lowest[block])
    i++;
  z->bound[i] = z->lowest[block] = INFINITY;
  for (ptrdiff_t j = from; j < to; j++)
    z->lowest[block] = fmin(z->lowest[block], z->bound[j]);
  return (int)i;
}

/* Scores so many candidates with the lowest bounds, which gives the limit. */
static void score_promising(struct state *s, ptrdiff_t count) {
  struct lazy *z = s->lazy;
  for (ptrdiff_t p = 0; p < count; p++)
    z->list[p] = take_lowest(z);
  for (ptrdiff_t from = 0; from < count; from += CHUNK)
    score_and_rank(s, z->list + from, (int)smaller(CHUNK, count - from));
}

/* How many of the last `steps` have their bit set. */
static int count_bits(unsigned bits, int steps) {
  int count = 0;
  for (int i = 0; i < steps; i++)
    count += (int)(bits >> i & 1);
  return count;
}

/* More than a quarter of the candidates left in two of the last three steps, or x read in six of
   the last eight: bounds do not pay. */
static int bounds_fail(struct lazy *z, ptrdiff_t left, ptrdiff_t candidates) {
  z->crowded = z->crowded << 1 | (4 * left > candidates);
  return count_bits(z->crowded, 3) >= 2 || count_bits(z->unforeseen, 8) >= 6;
}

/* Columns of members: C_j = lambda sum_l kappa_l U_jl c_l. */
static void set_members(struct state *s) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, k = s->control->k;
  const double lambda = s->control->lambda;
  for (int j = 0; j < s->size; j++) {
    const ptrdiff_t i = s->order[j];
    double square = 0;
    for (int l = j; l < s->size; l++) {
      const double u = z->U[j + l * k];
      square += u * u * z->inverse[l];
      z->f[l] = -lambda * u * z->inverse[l];
    }
    place_column(s, (int)i, NULL, 0);
    double *C = column(s, i);
    memset(C, 0, (size_t)m * sizeof(double));
    simd->shift_all(m, C, s->size - j, z->c + j * m, m, z->f + j);
    s->kappa[i] = s->kappa_ref[i] = -lambda * lambda * square;
  }
}

/* Scores every candidate, now and from here on. */
static enum status sweep_all(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L, k = s->control->k, count = list_candidates(s, z->list);
  s->scored_count = 0;
  for (ptrdiff_t from = 0; from < count; from += CHUNK) {
    const int part = (int)smaller(CHUNK, count - from);
    score_and_rank(s, z->list + from, part);
    measure_columns(s, z->list + from, part);
    if (s->host->stop(s->host, s->out->moves, s->control->k))
      return INTERRUPTED;
  }
  for (ptrdiff_t p = 0; p < count; p++) {
    keep_scalars(s, z->list[p]);
    s->kappa_ref[z->list[p]] = s->kappa[z->list[p]];
  }
  set_members(s);
  lazy_coefficients(s, z->beta, k);
  for (ptrdiff_t l = 0; l < L; l++)
    for (int j = 0; j < s->size; j++)
      s->t[l + s->order[j] * L] = s->control->lambda * z->beta[j + l * k];
  s->out->work.dense_from = s->size + 1;
  s->lazy = NULL;
  return COMPLETE;
}

enum status sweep_lazy(struct state *s) {
  struct lazy *z = s->lazy;
  s->scored_count = 0;
  z->found = 0;
  measure_rows(s);
  if (s->size > 0 && advance(s) != COMPLETE)
    return INTERRUPTED;
  split_w(s);
  const struct outlook_rows rows = rows_of(s);
  simd->outlook_bounds(&z->at, &rows, z->bound);
  check_bounds(s);
  const ptrdiff_t candidates = s->usable - s->size;
  if (candidates == 0)
    return COMPLETE;
  score_promising(s, smaller(candidates, s->control->keep + 1));
  ptrdiff_t left = sift(s);
  if (left > CHUNK && !z->fresh) {
    if (sharpen(s, z->heap, left) != COMPLETE)
      return INTERRUPTED;
    check_bounds(s);
    left = sift(s);
  }
  if (bounds_fail(z, left, candidates) && z->slots == s->pb->n)
    return sweep_all(s);
  make_heap(z, left);
  while (left > 0 && !(z->bound[z->heap[0]] > limit(s))) {
    int list[CHUNK], count = 0;
    while (count < CHUNK && left > 0 && !(z->bound[z->heap[0]] > limit(s))) {
      list[count] = pop(z, &left);
      count += z->scored[list[count]] != s->size;
    }
    score_and_rank(s, list, count);
    if (s->host->stop(s->host, s->out->moves, s->control->k))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* X_S beta = c gamma and c = X_S U, where the columns are lengthened by what the ridge adds. */
void lazy_coefficients(const struct state *s, double *beta, ptrdiff_t ld) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L, k = s->control->k;
  for (ptrdiff_t o = 0; o < L; o++) {
    memset(beta + o * ld, 0, (size_t)s->size * sizeof(double));
    for (int l = 0; l < s->size; l++)
      simd->shift(l + 1, beta + o * ld, -z->gamma[o + l * L], z->U + l * k);
  }
}
