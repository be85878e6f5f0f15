/* The engines of a greedy search that score every candidate and keep no column of C but those of
   the members, for an x that is too large for that: each sweep makes the state of the set afresh
   and the columns of the candidates from x, a few at a time, and scores them while they are in the
   processor's cache.

   With T of greedy-cache.c the column of a candidate is C_i = x_i - T T'x_i, and x_i'C_i = |C_i|^2
   + lambda |R^-1 T'x_i|^2; of a set of more than m columns it is G x_i. O(mn size) a move, one
   reading of x. */
#include "blas.h"
#include "greedy-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

enum { TOGETHER = 8 }; /* columns that share the reading of T */

struct reread {
  struct greedy_set set;
  double *C;       /* m x slots, the columns of the members and of the move under way */
  double *scratch; /* threads x scratch_size, see struct reread_scratch */
  ptrdiff_t scratch_size;
};

/* What a thread has. */
struct reread_scratch {
  double *C;    /* m x TOGETHER */
  double *q;    /* m, a column of D, or one of X */
  double *row;  /* m, a column of C in the order of the folds */
  double *T_x;  /* most members x TOGETHER */
  double *some; /* most members and covariates */
};

/* ---- workspace ---- */

static struct reread_scratch reread_lay_out_scratch(const struct greedy *s, struct arena *arena) {
  const ptrdiff_t m = s->pb->m, most = greedy_most_members(s);
  return (struct reread_scratch){.C = alloc_doubles(arena, m * TOGETHER),
      .q = alloc_doubles(arena, m),
      .row = alloc_doubles(arena, m),
      .T_x = alloc_doubles(arena, most * TOGETHER),
      .some = alloc_doubles(arena, most + s->pb->q)};
}

/* M of h rows of a fold takes h times as many doubles, at most. */
static ptrdiff_t reread_fold_width(const struct greedy *s) {
  const struct folds *folds = s->folds;
  const ptrdiff_t most = greedy_most_members(s);
  ptrdiff_t h = 0;
  const int *start = folds->start;
  for (int r = 0; r < folds->repeats; start += folds->count[r] + 1, r++)
    for (int f = 0; f < folds->count[r]; f++)
      h = greedy_max(h, start[f + 1] - start[f]);
  return most > s->pb->m ? h : greedy_min(h, s->pb->q + most);
}

void reread_lay_out(struct greedy *s, int threads, struct arena *arena) {
  struct arena count = arena_over(NULL);
  reread_lay_out_scratch(s, &count);
  const ptrdiff_t slots = greedy_most_members(s) + 1;
  const ptrdiff_t size = (ptrdiff_t)(count.used / sizeof(double));
  struct reread *reread = arena_alloc(arena, 1, sizeof *reread);
  const struct reread parts = {.C = alloc_doubles(arena, s->pb->m * slots),
      .scratch = alloc_doubles(arena, threads * size),
      .scratch_size = size};
  s->slot = s->slot == NULL ? alloc_ints(arena, s->pb->n) : s->slot;
  s->max_start = greedy_max(s->max_start, slots - 1);
  s->M_width = reread_fold_width(s);
  s->pairs = alloc_doubles(arena, (ptrdiff_t)s->positives * s->negatives);
  if (arena->base != NULL)
    *reread = parts;
  s->reread = reread;
}

static struct reread_scratch reread_thread_scratch(const struct greedy *s, int thread) {
  const struct reread *reread = s->reread;
  struct arena arena = arena_over(reread->scratch + thread * reread->scratch_size);
  return reread_lay_out_scratch(s, &arena);
}

/* ---- columns of C ---- */

/* v := C_i for v = x_i, of a set of more than m columns. */
static void reread_multiply_G(const struct greedy *s, double *v, double *x) {
  const ptrdiff_t m = s->pb->m;
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = -v[j];
  memset(v, 0, (size_t)m * sizeof(double));
  simd->shift_all(m, v, m, s->reread->set.square, m, x);
}

/* C_i := C_i - T T'x_i of `count` columns in scratch->C, a block of rows after the other;
   scratch->T_x := T'x_i. */
static void reread_project_on_set(
    const struct greedy *s, int count, const struct reread_scratch *scratch) {
  const double *T = s->reread->set.T;
  const ptrdiff_t m = s->pb->m, k = s->size;
  memset(scratch->T_x, 0, (size_t)(k * count) * sizeof(double));
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    for (int p = 0; p < count; p++) {
      simd->dots(greedy_min(m - row, ROWS), scratch->C + p * m + row, k, T + row, m, scratch->some);
      simd->shift(k, scratch->T_x + p * k, -1, scratch->some);
    }
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    for (int p = 0; p < count; p++)
      simd->shift_all(
          greedy_min(m - row, ROWS), scratch->C + p * m + row, k, T + row, m, scratch->T_x + p * k);
}

/* |R^-1 v|^2; v (size) is lost. */
static double reread_solved_square(const struct greedy *s, double *v) {
  const double *R = s->reread->set.square;
  const ptrdiff_t k = s->size;
  for (ptrdiff_t j = k - 1; j >= 0; j--) {
    v[j] /= R[j + j * k];
    simd->shift(j, v, v[j], R + j * k);
  }
  return simd->dot(k, v, v);
}

static void reread_store_t(struct greedy *s, ptrdiff_t i, const double *c) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[i * L + l] = simd->dot(m, c, s->pb->y + l * m);
}

/* C, kappa and t of the columns listed, which are no members. */
static void reread_candidates(
    struct greedy *s, const int *list, int count, const struct reread_scratch *scratch) {
  const ptrdiff_t m = s->pb->m;
  const double lambda = s->control->lambda;
  for (int p = 0; p < count; p++)
    working_column(s->pb, list[p], scratch->C + p * m);
  if (!s->from_G)
    reread_project_on_set(s, count, scratch);
  for (int p = 0; p < count; p++) {
    double *c = scratch->C + p * m;
    if (s->from_G) {
      reread_multiply_G(s, c, scratch->q);
      s->kappa[list[p]] = lambda - simd->dot(m, c, scratch->q);
    } else {
      const double square = reread_solved_square(s, scratch->T_x + p * s->size);
      s->kappa[list[p]] = lambda * (1 + square) + simd->dot(m, c, c);
    }
    reread_store_t(s, list[p], c);
  }
}

/* A member of more than m. */
static void reread_member_by_G(struct greedy *s, ptrdiff_t i, double *x) {
  double *c = greedy_column(s, i);
  reread_multiply_G(s, c, x);
  s->kappa[i] = -s->control->lambda - simd->dot(s->pb->m, c, x);
}

/* ---- columns of D ---- */

void reread_keep_fold(const struct greedy *s, struct greedy_partition *part, int f,
    const struct greedy_fold_inverse *inverse, double *factor) {
  const ptrdiff_t h = inverse->h, columns = inverse->direct ? h : inverse->rank;
  double *M = part->M + part->start[f] * s->M_width;
  part->direct[f] = inverse->direct;
  if (inverse->direct)
    lapack_cholesky_inverse(h, factor);
  memcpy(M, inverse->direct ? factor : inverse->U, (size_t)(h * columns) * sizeof(double));
}

/* q := the column of D that belongs to the column c of C. */
static void reread_column_of_D(const struct greedy *s, const struct greedy_partition *part,
    const double *c, const struct reread_scratch *scratch, double *q) {
  const ptrdiff_t m = s->pb->m, rank = s->pb->q + (s->from_G ? 0 : s->size);
  double *in_order = scratch->row, *some = scratch->some;
  for (ptrdiff_t p = 0; p < m; p++)
    in_order[p] = c[part->order[p]];
  memcpy(q, in_order, (size_t)m * sizeof(double));
  for (int f = 0; f < part->count; f++) {
    const ptrdiff_t from = part->start[f], h = part->start[f + 1] - from;
    const double *M = part->M + from * s->M_width;
    if (part->direct[f]) {
      simd->dots(h, in_order + from, h, M, h, q + from);
      continue;
    }
    simd->dots(h, in_order + from, rank, M, h, some);
    for (ptrdiff_t l = 0; l < rank; l++)
      some[l] = -some[l];
    simd->shift_all(h, q + from, rank, M, h, some);
  }
}

/* ---- scores ---- */

static void reread_score_rows(
    struct greedy *s, const int *list, int count, double *C, double *work) {
  struct pair_candidate candidate[TOGETHER];
  for (int p = 0; p < count; p++) {
    const ptrdiff_t i = list[p];
    double *c = C + p * s->pb->m;
    s->score[i] = greedy_loo_score(s, i, c, 0, work);
    candidate[p] = (struct pair_candidate){c, s->kappa[i], s->t[i], 0};
  }
  if (!greedy_by_pairs(s))
    return;
  greedy_evaluate_pairs(s, candidate, count, greedy_criterion_work(s, work));
  for (int p = 0; p < count; p++)
    s->score[list[p]].value = candidate[p].loss;
}

static void reread_score_folds(struct greedy *s, const int *list, int count, double *C,
    const struct reread_scratch *scratch, double *work) {
  for (int p = 0; p < count; p++) {
    const double *c = C + p * s->pb->m;
    struct greedy_score sum = {0, 0};
    for (int r = 0; r < s->parts; r++) {
      reread_column_of_D(s, s->part + r, c, scratch, scratch->q);
      const struct greedy_score one = greedy_folds_score(s, r, list[p], c, scratch->q, 0, work);
      sum.value += one.value;
      sum.tie += one.tie;
    }
    s->score[list[p]] = greedy_folds_mean(s, sum);
  }
}

static void reread_score(struct greedy *s, const int *list, int count, double *C,
    const struct reread_scratch *scratch, double *work) {
  if (s->parts > 0)
    reread_score_folds(s, list, count, C, scratch, work);
  else
    reread_score_rows(s, list, count, C, work);
}

/* Scores those of the columns from .. from + TOGETHER that can be moved. */
static void reread_score_group(
    struct greedy *s, ptrdiff_t from, const struct reread_scratch *scratch, double *work) {
  const ptrdiff_t to = greedy_min(from + TOGETHER, s->pb->n);
  int list[TOGETHER], count = 0;
  for (ptrdiff_t i = from; i < to; i++) {
    const int member = s->member[i];
    if (!greedy_in_play(s, i) || !greedy_is_scored(s, i))
      continue;
    if (member) {
      const int one = (int)i;
      reread_score(s, &one, 1, greedy_column(s, i), scratch, work);
    } else {
      list[count++] = (int)i;
    }
  }
  reread_candidates(s, list, count, scratch);
  reread_score(s, list, count, scratch->C, scratch, work);
}

/* Products that a column takes. */
static double reread_column_cost(const struct greedy *s) {
  const double m = (double)s->pb->m, L = (double)s->pb->L, k = (double)s->size;
  const double rows = m * (2 + L + (s->from_G ? m : 2 * k));
  if (greedy_by_pairs(s))
    return rows + (double)s->positives * s->negatives;
  return rows + (s->parts > 0 ? greedy_folds_cost(s) + s->parts * m * (double)s->M_width : 0);
}

/* Columns between two polls, of all threads together. A user's criterion is R code. */
static ptrdiff_t reread_share(const struct greedy *s, int threads) {
  const double wanted = fmin(2e7 / reread_column_cost(s), POLLED_VALUES / (double)s->pb->m);
  const double groups = wanted / TOGETHER;
  if (s->control->criterion == USER)
    return TOGETHER;
  return TOGETHER * threads * (groups > 1e5 ? 100000 : 1 + (ptrdiff_t)groups);
}

static enum status reread_score_all(struct greedy *s) {
  const ptrdiff_t n = s->pb->n;
  const int threads = s->control->criterion == USER ? 1 : s->host->threads;
  const ptrdiff_t share = reread_share(s, threads);
  for (ptrdiff_t begin = 0; begin < n; begin += share) {
    const ptrdiff_t end = greedy_min(begin + share, n);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (int t = 0; t < threads; t++) {
      const struct reread_scratch scratch = reread_thread_scratch(s, t);
      double *work = s->scratch + (size_t)t * s->scratch_size;
      for (ptrdiff_t from = begin + t * TOGETHER; from < end; from += threads * TOGETHER)
        reread_score_group(s, from, &scratch, work);
    }
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* ---- the engines ---- */

/* The state of the set as it is, of which the columns are read again. */
static enum status reread_begin(struct greedy *s) {
  struct reread *reread = s->reread;
  const ptrdiff_t m = s->pb->m;
  s->b = -1;
  s->C = reread->C;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    s->slot[i] = -1;
  for (int p = 0; p < s->size; p++) {
    s->slot[s->order[p]] = p;
    working_column(s->pb, s->order[p], s->C + p * m);
  }
  s->out->work.columns_read += s->size;
  const enum status status = greedy_start_set(s, &reread->set);
  if (status != COMPLETE)
    return status;
  const struct reread_scratch scratch = reread_thread_scratch(s, 0);
  for (int p = 0; p < s->size; p++) {
    if (s->from_G)
      reread_member_by_G(s, s->order[p], scratch.q);
    reread_store_t(s, s->order[p], s->C + p * m);
  }
  return COMPLETE;
}

static enum status reread_sweep(struct greedy *s) {
  if (s->b >= 0) {
    const enum status status = reread_begin(s);
    if (status != COMPLETE)
      return status;
  }
  greedy_list_scored(s);
  if (greedy_next_is_given(s)) {
    const struct reread_scratch scratch = reread_thread_scratch(s, 0);
    reread_candidates(s, s->control->given + s->out->moves, 1, &scratch);
    return COMPLETE;
  }
  for (ptrdiff_t p = 0; p < s->scored_count; p++)
    s->out->work.columns_read += !s->member[s->scored[p]];
  greedy_folds_sum_squares(s);
  return reread_score_all(s);
}

static void reread_commit(struct greedy *s) {
  const struct reread_scratch scratch = reread_thread_scratch(s, 0);
  const int b = (int)s->b;
  if (!s->member[b]) {
    s->slot[b] = s->size;
    reread_candidates(s, &b, 1, &scratch);
    memcpy(greedy_column(s, b), scratch.C, (size_t)s->pb->m * sizeof(double));
  }
  for (int r = 0; r < s->parts; r++)
    reread_column_of_D(s, s->part + r, greedy_column(s, b), &scratch, s->part[r].D);
  s->out->work.columns_read++;
  (s->parts > 0 ? &greedy_folds : &greedy_leave_one_out)->commit(s);
}

enum status reread_take_over(struct greedy *s) {
  s->out->work.reread_from = s->size + 1;
  s->engine = s->parts > 0 ? &greedy_reread_folds : &greedy_reread;
  const enum status status = reread_begin(s);
  return status == COMPLETE ? reread_sweep(s) : status;
}

const struct greedy_engine greedy_reread = {.lay_out = reread_lay_out,
    .begin = reread_begin,
    .sweep = reread_sweep,
    .commit = reread_commit,
    .coefficients = greedy_sweep_coefficients,
    .hold_out = greedy_loo_hold_out,
    .keep_residuals = greedy_loo_keep_residuals,
    .min_pivot = greedy_loo_min_pivot};

static void reread_lay_out_folds(struct greedy *s, int threads, struct arena *arena) {
  reread_lay_out(s, threads, arena);
  greedy_lay_out_parts(s, 1, arena);
}

const struct greedy_engine greedy_reread_folds = {.lay_out = reread_lay_out_folds,
    .begin = reread_begin,
    .sweep = reread_sweep,
    .commit = reread_commit,
    .coefficients = greedy_sweep_coefficients,
    .hold_out = greedy_folds_hold_out,
    .keep_residuals = greedy_folds_keep_residuals,
    .min_pivot = greedy_folds_min_pivot};
