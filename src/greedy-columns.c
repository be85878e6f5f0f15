/* The columns of C of a greedy search that skips candidates: few are in C, and each is as old as
   the last step that asked for it. Also the lists of columns that one pass over x multiplies. */
#include "greedy-lazy.h"
#include "products.h"
#include "tolerance.h"
#include <string.h>

/* ---- passes over x ---- */

ptrdiff_t lazy_list_candidates(const struct greedy *s, int *list) {
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    if (lazy_is_candidate(s, i))
      list[count++] = (int)i;
  return count;
}

ptrdiff_t lazy_list_usable(const struct greedy *s, int *list) {
  ptrdiff_t count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    if (s->pb->usable[i])
      list[count++] = (int)i;
  return count;
}

enum status lazy_add_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r) {
  const struct lazy *lazy = s->lazy;
  const struct column_pass pass = {.pb = s->pb,
      .list = list,
      .count = count,
      .r = r,
      .v = lazy->v,
      .out = lazy->out,
      .done = s->out->moves,
      .total = s->control->k};
  s->out->work.columns_read += (double)count;
  return column_products(&pass, s->host, lazy->products_work);
}

enum status lazy_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r) {
  for (ptrdiff_t l = 0; l < r; l++)
    memset(s->lazy->out[l], 0, (size_t)s->pb->n * sizeof(double));
  return lazy_add_products(s, list, count, r);
}

static int lazy_is_listed(const int *list, int count, int i) {
  for (int p = 0; p < count; p++)
    if (list[p] == i)
      return 1;
  return 0;
}

int lazy_has_products(const struct greedy *s, ptrdiff_t i) {
  const struct greedy_shared *shared = s->control->shared;
  return s->lazy->row[i] >= 0 || (shared != NULL && shared->place[i] >= 0);
}

/* A row for the last of the columns listed: one without an owner, else the one assigned longest
   ago to a candidate that is none of the others listed. */
void lazy_assign_row(struct greedy *s, const int *list, int others) {
  struct lazy *lazy = s->lazy;
  const int *owner = lazy->row_owner, i = list[others], rows = lazy_row_count(s);
  int p = 0;
  while (p < rows && owner[p] >= 0)
    p++;
  if (p == rows) {
    while (s->member[owner[lazy->next_row]] || lazy_is_listed(list, others, owner[lazy->next_row]))
      lazy->next_row = (lazy->next_row + 1) % rows;
    p = lazy->next_row;
    lazy->next_row = (p + 1) % rows;
    lazy->row[owner[p]] = -1;
  }
  lazy->row_owner[p] = i;
  lazy->row_version[p] = lazy->moves;
  lazy->row[i] = p;
}

/* ---- columns of C ---- */

/* A slot for column i: one without an owner, else the one assigned longest ago to a column that is
   none of those listed. */
static void lazy_assign_slot(struct greedy *s, int i, const int *list, int count) {
  struct lazy *lazy = s->lazy;
  if (s->slot[i] >= 0)
    return;
  while (lazy->slot_owner[lazy->next_slot] >= 0 &&
         lazy_is_listed(list, count, lazy->slot_owner[lazy->next_slot]))
    lazy->next_slot = (lazy->next_slot + 1) % lazy->slots;
  const ptrdiff_t p = lazy->next_slot;
  lazy->next_slot = (p + 1) % lazy->slots;
  if (lazy->slot_owner[p] >= 0)
    s->slot[lazy->slot_owner[p]] = -1;
  lazy->slot_owner[p] = i;
  s->slot[i] = (int)p;
  lazy->version[i] = -1;
}

/* The c of a block are read from memory once for all columns. */
static void lazy_downdate_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const struct lazy_downdate *downdate = with;
  const ptrdiff_t m = s->pb->m, k = s->control->k;
  for (int p = 0; p < downdate->count; p++) {
    const int from = downdate->from[p];
    simd->shift_all(rows, downdate->x[p] + row, downdate->to - from, lazy->c + from * m + row, m,
        lazy->f + p * k + from);
  }
}

/* How many times a move is subtracted from a vector. */
static ptrdiff_t lazy_count_moves(const struct lazy_downdate *downdate) {
  ptrdiff_t moves = 0;
  for (int p = 0; p < downdate->count; p++)
    moves += downdate->to - downdate->from[p];
  return moves;
}

void lazy_apply(struct greedy *s, const struct lazy_downdate *downdate) {
  greedy_each_block(s, lazy_count_moves(downdate), lazy_downdate_block, downdate);
}

/* The downdate that brings up to CHUNK columns that have a slot as far as W is known; those that
   are not in C are read first. */
static struct lazy_downdate lazy_plan_downdate(struct greedy *s, const int *list, int count) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t k = s->control->k;
  struct lazy_downdate downdate = {.count = count, .to = lazy->moves};
  for (int p = 0; p < count; p++) {
    const int i = list[p];
    downdate.x[p] = greedy_column(s, i);
    downdate.from[p] = lazy->version[i];
    if (lazy->version[i] < 0) {
      working_column(s->pb, i, downdate.x[p]);
      s->out->work.columns_read++;
      downdate.from[p] = 0;
    }
    for (int l = downdate.from[p]; l < lazy->moves; l++)
      lazy->f[l + p * k] = lazy->inverse_kappa[l] * lazy->W[l][i];
    lazy->version[i] = lazy->moves;
  }
  return downdate;
}

void lazy_update_columns(struct greedy *s, const int *list, int count) {
  for (int p = 0; p < count; p++)
    lazy_assign_slot(s, list[p], list, count);
  for (int from = 0; from < count; from += CHUNK) {
    const struct lazy_downdate downdate =
        lazy_plan_downdate(s, list + from, (int)greedy_min(CHUNK, count - from));
    lazy_apply(s, &downdate);
  }
}

/* Nearly collinear candidates lose the digits of kappa and g in the recurrences. */
static int lazy_digits_lost(const struct greedy *s, ptrdiff_t i) {
  const struct lazy *lazy = s->lazy;
  return lazy->bounds.kappa[i] <
         GREEDY_KAPPA_LOST * (s->control->lambda + lazy->bounds.read_norm2[i]);
}

void lazy_recompute(struct greedy *s, const int *list, int count) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, L = pb->L;
  const int threads = s->host->threads;
  s->out->work.columns_read += count;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && 4 * m * (count - 1) > PARALLEL_FROM)
#endif
  for (int t = 0; t < threads; t++)
    for (int p = t; p < count; p += threads) {
      const ptrdiff_t i = list[p];
      double *x = s->scratch + (size_t)t * s->scratch_size;
      centred_column(pb, i, x);
      s->lazy->bounds.kappa[i] = s->control->lambda + simd->dot(m, x, greedy_column(s, i));
      for (ptrdiff_t l = 0; l < L; l++)
        s->lazy->bounds.g[i + l * pb->n] = simd->dot(m, x, s->a + l * m);
    }
}

/* Computes kappa and g anew for those of the columns listed whose digits are lost. */
static void lazy_recompute_lost(struct greedy *s, const int *list, int count) {
  int lost[CHUNK], lost_count = 0;
  for (int p = 0; p < count; p++)
    if (lazy_digits_lost(s, list[p]))
      lost[lost_count++] = list[p];
  if (lost_count == 0)
    return;
  lazy_update_columns(s, lost, lost_count);
  lazy_recompute(s, lost, lost_count);
}

/* Columns to be brought up to date and scored, one block of rows after the other. */
struct lazy_chunk {
  const int *list;
  struct lazy_downdate downdate;
};

static void lazy_score_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const struct lazy *lazy = s->lazy;
  const struct lazy_chunk *chunk = with;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  lazy_downdate_block(s, &chunk->downdate, row, rows);
  for (int p = 0; p < chunk->downdate.count; p++)
    lazy_sums(lazy, row)[p] = simd->score(rows, L, chunk->downdate.x[p] + row, s->a + row, m,
        s->d + row, 1 / lazy->bounds.kappa[chunk->list[p]], lazy->alpha + p * L);
}

void lazy_score_rows(struct greedy *s, const int *list, const struct lazy_downdate *downdate) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L, n = s->pb->n;
  const int count = downdate->count;
  for (int p = 0; p < count; p++)
    for (ptrdiff_t l = 0; l < L; l++)
      lazy->alpha[l + p * L] = lazy->bounds.g[list[p] + l * n] / lazy->bounds.kappa[list[p]];
  const struct lazy_chunk chunk = {.list = list, .downdate = *downdate};
  greedy_each_block(s, lazy_count_moves(downdate) + 8 * count, lazy_score_block, &chunk);
  for (int p = 0; p < count; p++)
    lazy->bound[list[p]] = lazy_total(s, p);
}

void lazy_score_columns(struct greedy *s, const int *list, int count) {
  struct lazy *lazy = s->lazy;
  for (int p = 0; p < count; p++)
    lazy_assign_slot(s, list[p], list, count);
  lazy_recompute_lost(s, list, count);
  const struct lazy_downdate downdate = lazy_plan_downdate(s, list, count);
  lazy->held_out->score(s, list, &downdate);
}

/* C_j = lambda sum_l U_jl c_l / kappa_l for member j. */
void lazy_set_members(struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, k = s->control->k;
  const double lambda = s->control->lambda;
  for (int j = 0; j < s->size; j++) {
    const ptrdiff_t i = s->order[j];
    double square = 0;
    for (int l = j; l < s->size; l++) {
      const double u = lazy->U[j + l * k];
      square += u * u * lazy->inverse_kappa[l];
      lazy->f[l] = -lambda * u * lazy->inverse_kappa[l];
    }
    lazy_assign_slot(s, (int)i, NULL, 0);
    double *C = greedy_column(s, i);
    memset(C, 0, (size_t)m * sizeof(double));
    simd->shift_all(m, C, s->size - j, lazy->c + j * m, m, lazy->f + j);
    s->kappa[i] = s->kappa_ref[i] = -lambda * lambda * square;
  }
}
