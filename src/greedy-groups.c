/* Scores of columns that move together.

   Moving a group is to move its columns one after the other: each of them follows the moves of
   those before it as any column of C and of D does, and is then a single move. So the criterion
   comes from copies of a, d and the folds' g on which these moves are made; kappa is computed from
   the columns themselves, so that collinear columns of one group lose no digits but those that a
   model of them must lose. For h columns O(m h^2), for each repeat of folds as much. The engines of
   greedy-sweep.c keep C and D and make the move that is chosen. */
#include "criterion.h"
#include "greedy-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* The moves of one group, of h columns at most. */
struct group_moves {
  int count, dropped;
  const int *columns;
  double *x;     /* m x FOLLOWED, working columns */
  double *C;     /* m x h, the columns of C, each after the moves before it */
  double *v;     /* h x h, products of each column of x (second index) with those of C before it */
  double *kappa; /* h */
  double *t;     /* L x h */
  double *P;     /* h x h, the part of (X_S'X_S + lambda I)^-1, of members */
  double *a;     /* m x L, after all of the moves */
  double *d;     /* m, the same */
  double *pairs; /* positives x negatives, the same */
  double *c, *q; /* m x h each, columns of C and of D in fold order */
  double *g;     /* m x L */
  double *eta;   /* h, of one fold */
};

ptrdiff_t greedy_largest_group(const struct column_groups *groups) {
  ptrdiff_t largest = 0;
  for (int g = 0; g < groups->count; g++)
    largest = greedy_max(largest, groups->start[g + 1] - groups->start[g]);
  return largest;
}

static struct group_moves group_lay_out(const struct greedy *s, struct arena *arena) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, h = greedy_largest_group(&s->control->groups);
  const ptrdiff_t loo = s->folds->loo ? m : 0, folds = m - loo;
  return (struct group_moves){.x = alloc_doubles(arena, m * FOLLOWED),
      .C = alloc_doubles(arena, m * h),
      .v = alloc_doubles(arena, h * h),
      .kappa = alloc_doubles(arena, h),
      .t = alloc_doubles(arena, L * h),
      .P = alloc_doubles(arena, greedy_drops(s) ? h * h : 0),
      .a = alloc_doubles(arena, m * L),
      .d = alloc_doubles(arena, loo),
      .pairs = alloc_doubles(arena, (ptrdiff_t)s->positives * s->negatives),
      .c = alloc_doubles(arena, folds * h),
      .q = alloc_doubles(arena, folds * h),
      .g = alloc_doubles(arena, folds * L),
      .eta = alloc_doubles(arena, h)};
}

void greedy_lay_out_groups(struct greedy *s, int threads, struct arena *arena) {
  if (s->control->groups.rule != MOVE_TOGETHER)
    return;
  struct arena count = arena_over(NULL);
  group_lay_out(s, &count);
  s->group_scratch_size = (count.used + sizeof(double) - 1) / sizeof(double);
  s->group_scratch = alloc_doubles(arena, threads * (ptrdiff_t)s->group_scratch_size);
}

static struct group_moves group_moves_of(const struct greedy *s, int group, int thread) {
  const struct column_groups *groups = &s->control->groups;
  struct arena arena = arena_over(s->group_scratch + (size_t)thread * s->group_scratch_size);
  struct group_moves moves = group_lay_out(s, &arena);
  moves.columns = groups->columns + groups->start[group];
  moves.count = groups->start[group + 1] - groups->start[group];
  moves.dropped = s->member[moves.columns[0]];
  return moves;
}

/* ---- the moves ---- */

/* The members of the group in P. */
static void group_gather_inverse(const struct greedy *s, struct group_moves *moves) {
  const ptrdiff_t h = moves->count;
  for (ptrdiff_t j = 0; j < h; j++) {
    ptrdiff_t column = 0;
    while (s->order[column] != moves->columns[j])
      column++;
    for (ptrdiff_t i = 0; i < h; i++) {
      ptrdiff_t row = 0;
      while (s->order[row] != moves->columns[i])
        row++;
      moves->P[i + j * h] = s->inverse[row + column * s->inverse_order];
    }
  }
}

/* P without its column j. */
static void group_drop_from_inverse(struct group_moves *moves, ptrdiff_t j) {
  const ptrdiff_t h = moves->count;
  double *P = moves->P;
  for (ptrdiff_t i = j + 1; i < h; i++)
    for (ptrdiff_t l = j + 1; l < h; l++)
      P[l + i * h] -= P[l + j * h] * (P[i + j * h] / P[j + j * h]);
}

static int group_by_inverse(const struct greedy *s, const struct group_moves *moves) {
  return moves->dropped && s->inverse_valid;
}

/* Column j of C, kappa and t before any move; x: m, := the working column. */
static void group_begin_move(
    const struct greedy *s, struct group_moves *moves, ptrdiff_t j, double *x) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, i = moves->columns[j];
  working_column(s->pb, i, x);
  memcpy(moves->C + j * m, greedy_column(s, i), (size_t)m * sizeof(double));
  memcpy(moves->t + j * L, s->t + i * L, (size_t)L * sizeof(double));
  moves->kappa[j] = s->kappa[i];
}

/* Column j, whose working column is x, follows move l. */
static void group_follow_move(
    const struct greedy *s, struct group_moves *moves, ptrdiff_t j, ptrdiff_t l, const double *x) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, h = moves->count;
  const double *c_l = moves->C + l * m;
  double *v = moves->v + l + j * h;
  *v = group_by_inverse(s, moves) ? moves->v[j + l * h] : simd->dot(m, x, c_l);
  const double f = *v / moves->kappa[l];
  simd->shift(m, moves->C + j * m, f, c_l);
  moves->kappa[j] -= *v * f;
  for (ptrdiff_t r = 0; r < L; r++)
    moves->t[r + j * L] -= f * moves->t[r + l * L];
}

/* Column j has followed those before it. Members have O(lambda) products, of which P knows the
   digits. */
static void group_end_move(
    const struct greedy *s, struct group_moves *moves, ptrdiff_t j, const double *x) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, h = moves->count;
  const double lambda = s->control->lambda;
  if (!moves->dropped) {
    moves->kappa[j] = lambda + simd->dot(m, x, moves->C + j * m);
    for (ptrdiff_t r = 0; r < L; r++)
      moves->t[r + j * L] = simd->dot(m, x, moves->a + r * m);
  } else if (group_by_inverse(s, moves)) {
    moves->kappa[j] = -lambda * lambda * moves->P[j + j * h];
    for (ptrdiff_t l = j + 1; l < h; l++) /* for the columns that follow */
      moves->v[l + j * h] = -lambda * lambda * moves->P[l + j * h];
    group_drop_from_inverse(moves, j);
  }
  for (ptrdiff_t r = 0; r < L; r++)
    simd->shift(m, moves->a + r * m, moves->t[r + j * L] / moves->kappa[j], moves->C + j * m);
}

/* All moves, on a copy of a. A few columns follow an earlier move while its column is in the
   processor's cache. */
static void group_make_moves(const struct greedy *s, struct group_moves *moves) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memcpy(moves->a, s->a, (size_t)(m * L) * sizeof(double));
  if (group_by_inverse(s, moves))
    group_gather_inverse(s, moves);
  for (ptrdiff_t from = 0; from < moves->count; from += FOLLOWED) {
    const ptrdiff_t to = greedy_min(from + FOLLOWED, moves->count);
    double *x = moves->x - from * m;
    for (ptrdiff_t j = from; j < to; j++)
      group_begin_move(s, moves, j, x + j * m);
    for (ptrdiff_t l = 0; l < from; l++)
      for (ptrdiff_t j = from; j < to; j++)
        group_follow_move(s, moves, j, l, x + j * m);
    for (ptrdiff_t j = from; j < to; j++) {
      for (ptrdiff_t l = from; l < j; l++)
        group_follow_move(s, moves, j, l, x + j * m);
      group_end_move(s, moves, j, x + j * m);
    }
  }
}

/* ---- leave-one-out ---- */

/* The leave-pair-out loss; c: m. */
static double group_pair_loss(const struct greedy *s, struct group_moves *moves, double *work) {
  const ptrdiff_t m = s->pb->m, positives = s->positives;
  double *c = moves->x;
  memcpy(moves->pairs, s->pairs, (size_t)(positives * s->negatives) * sizeof(double));
  for (ptrdiff_t j = 0; j < moves->count; j++) {
    const double *column = moves->C + j * m;
    for (ptrdiff_t p = 0; p < positives; p++)
      c[p] = column[s->positive[p]];
    for (ptrdiff_t n = 0; n < s->negatives; n++)
      simd->shift(
          positives, moves->pairs + n * positives, column[s->negative[n]] / moves->kappa[j], c);
  }
  struct greedy moved = *s;
  moved.a = moves->a;
  moved.d = moves->d;
  moved.pairs = moves->pairs;
  struct pair_candidate none = {c, 1, 0, 0};
  memset(c, 0, (size_t)m * sizeof(double));
  greedy_evaluate_pairs(&moved, &none, 1, work);
  return none.loss;
}

static struct greedy_score group_loo_score(
    const struct greedy *s, struct group_moves *moves, double *scratch) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, L = pb->L;
  const enum criterion kind = s->control->criterion;
  memcpy(moves->d, s->d, (size_t)m * sizeof(double));
  for (ptrdiff_t j = 0; j < moves->count; j++)
    simd->shift_squares(m, moves->d, 1 / moves->kappa[j], moves->C + j * m);
  double sum = 0;
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t r = 0; r < m; r++) {
      const double residual = moves->a[r + l * m] / moves->d[r];
      sum += residual * residual;
      scratch[r + l * m] = residual / pb->divisor[r];
    }
  const double tie = sum / s->total_weight;
  if (kind == SQUARED)
    return (struct greedy_score){tie, tie};
  if (greedy_by_pairs(s))
    return (struct greedy_score){group_pair_loss(s, moves, greedy_criterion_work(s, scratch)), tie};
  if (kind == USER)
    return (struct greedy_score){s->host->user_loss(s->host, scratch, 0), tie};
  return (struct greedy_score){criterion_loss(&s->weighted, kind, scratch) / s->weight, tie};
}

/* ---- folds ---- */

/* The rows of one fold: the columns of D follow the moves before them, and g all moves. */
static void group_move_fold(
    const struct greedy *s, const struct greedy_partition *part, int f, struct group_moves *moves) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, h = moves->count;
  const ptrdiff_t from = part->start[f], rows = part->start[f + 1] - from;
  for (ptrdiff_t j = 0; j < h; j++) {
    const double *c = moves->c + from + j * m;
    double *q = moves->q + from + j * m;
    for (ptrdiff_t l = 0; l < j; l++) {
      const double product = simd->dot(rows, moves->c + from + l * m, q);
      simd->shift(
          rows, q, (moves->v[l + j * h] - product) / moves->eta[l], moves->q + from + l * m);
    }
    moves->eta[j] = moves->kappa[j] - simd->dot(rows, c, q);
    for (ptrdiff_t l = 0; l < L; l++) {
      double *g = moves->g + from + l * m;
      simd->shift(rows, g, (moves->t[l + j * L] - simd->dot(rows, g, c)) / moves->eta[j], q);
    }
  }
}

static struct greedy_score group_folds_score(
    const struct greedy *s, int repeat, struct group_moves *moves, double *scratch) {
  const struct greedy_partition *part = s->part + repeat;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memcpy(moves->g, part->g, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t j = 0; j < moves->count; j++) {
    memcpy(moves->q + j * m, part->D + moves->columns[j] * m, (size_t)m * sizeof(double));
    for (ptrdiff_t p = 0; p < m; p++)
      moves->c[p + j * m] = moves->C[part->order[p] + j * m];
  }
  for (int f = 0; f < part->count; f++)
    group_move_fold(s, part, f, moves);
  const double sum = simd->dot(m * L, moves->g, moves->g);
  if (s->control->criterion == SQUARED)
    return (struct greedy_score){sum, sum};
  const double *divisor = part->rows + (L + 1) * m;
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t p = 0; p < m; p++)
      scratch[p + l * m] = moves->g[p + l * m] / divisor[p];
  return (struct greedy_score){greedy_folds_evaluate(s, scratch, repeat), sum};
}

/* ---- all groups ---- */

static struct greedy_score group_score(
    const struct greedy *s, struct group_moves *moves, double *scratch) {
  group_make_moves(s, moves);
  if (s->parts == 0)
    return group_loo_score(s, moves, scratch);
  struct greedy_score sum = {0, 0};
  for (int r = 0; r < s->parts; r++) {
    const struct greedy_score one = group_folds_score(s, r, moves, scratch);
    sum.value += one.value;
    sum.tie += one.tie;
  }
  return greedy_folds_mean(s, sum);
}

/* The groups of several columns from `from` on among those scored, up to `cost` products: their
   first columns in `list`, as many as are returned, *cost being what they cost; *end := where the
   next ones begin. */
static int group_next(
    const struct greedy *s, ptrdiff_t from, double most, ptrdiff_t *end, int *list, double *cost) {
  double products = 0;
  int found = 0;
  for (; from < s->scored_count && products < most && found < PANEL; from++) {
    int count;
    if (columns_together(&s->control->groups, s->scored[from], &count) == NULL || count == 1)
      continue;
    products += (double)s->pb->m * count * count * (1 + s->parts);
    list[found++] = s->scored[from];
  }
  *end = from;
  *cost = products;
  return found;
}

enum status greedy_score_groups(struct greedy *s) {
  const int threads = s->control->criterion == USER ? 1 : s->host->threads;
  ptrdiff_t from = 0;
  if (s->control->groups.rule != MOVE_TOGETHER)
    return COMPLETE;
  while (from < s->scored_count) {
    int list[PANEL];
    double cost;
    const int found = group_next(s, from, 4e6 * threads, &from, list, &cost);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(dynamic) if (threads > 1 && found > 1 && cost > PARALLEL_FROM)
#endif
    for (int p = 0; p < found; p++) {
#ifdef _OPENMP
      const int thread = omp_get_thread_num();
#else
      const int thread = 0;
#endif
      struct group_moves moves = group_moves_of(s, greedy_group_of(s, list[p]), thread);
      s->score[list[p]] = group_score(s, &moves, s->scratch + (size_t)thread * s->scratch_size);
    }
    for (int p = 0, count; p < found; p++) {
      columns_together(&s->control->groups, list[p], &count);
      s->out->work.columns_read += count;
    }
    if (found > 0 && greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}
