/* The engines of a greedy search that score every candidate: one sweep over C for each move.

   A sweep brings each column up to date with the last move and, while it is in the processor's
   cache, scores moving that column next. Adding and dropping are one formula with the sign of
   lambda turned. */
#include "greedy-state.h"
#include "criterion.h"
#include "simd.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

/* ---- one column follows the last move ---- */

/* Nearly collinear candidates lose the digits of kappa in the recurrence. */
static int sweep_digits_lost(const struct greedy *s, ptrdiff_t i) {
  return !s->member[i] && s->kappa[i] < GREEDY_KAPPA_LOST * s->kappa_ref[i];
}

/* kappa_i and t_i from column i itself; x: m, for working column i. */
static void sweep_recompute(struct greedy *s, ptrdiff_t i, double *x) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  working_column(s->pb, i, x);
  s->kappa[i] = s->control->lambda + simd->dot(m, x, greedy_column(s, i));
  s->kappa_ref[i] = s->kappa[i];
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[i * L + l] = simd->dot(m, x, s->a + l * m);
#ifdef _OPENMP
#pragma omp atomic
#endif
  s->out->work.columns_read++;
}

/* x_i'C_b for a member i that stays while b is dropped: -lambda^2 (P)_ib, which is O(lambda^2),
   while the dot product has rounding errors of the size of |C_i| |x_b|, O(lambda). The form with
   the smaller error is taken, that of P being of the size of (kappa_i kappa_b)^1/2. */
static double sweep_product_of_members(const struct greedy *s, ptrdiff_t i) {
  const ptrdiff_t m = s->pb->m;
  const double lambda = s->control->lambda, *C = greedy_column(s, i);
  const double of_dot = simd->dot(m, C, C) * s->x_b_square;
  if (s->inverse_valid && s->kappa[i] * s->kappa_b < of_dot)
    return -lambda * lambda * s->inverse_b[i];
  return simd->dot(m, C, s->x_b);
}

/* x_i'C_b = C_i'x_b of the move under way. Of a member that is dropped C_b is O(lambda), and the
   first form keeps the digits of it. x: m, for working column i. */
static double sweep_product_with_moved(const struct greedy *s, ptrdiff_t i, double *x) {
  const ptrdiff_t m = s->pb->m;
  if (s->dropped && s->member[i])
    return sweep_product_of_members(s, i);
  if (!s->dropped || s->c_b_square > GREEDY_SHORT_COLUMN * s->x_b_square)
    return simd->dot(m, greedy_column(s, i), s->x_b);
  working_column(s->pb, i, x);
  return simd->dot(m, x, s->c_b);
}

/* Updates kappa_i and t_i; returns the multiple of c_b to subtract from C_i and, in v, x_i'C_b. */
static double sweep_update_scalars(struct greedy *s, ptrdiff_t i, double *v, double *x) {
  const ptrdiff_t L = s->pb->L;
  *v = sweep_product_with_moved(s, i, x);
  if (s->products != NULL)
    s->products[s->size - 1 + i * greedy_most_members(s)] = *v;
  const double f = *v / s->kappa_b;
  s->kappa[i] -= *v * f;
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[i * L + l] -= f * s->t_b[l];
  return f;
}

/* The moved column itself, by the closed form: C_b, D_b and t_b shrink, kappa_b turns its sign. */
static void sweep_update_moved(struct greedy *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, b = s->b;
  const double lambda = s->control->lambda, signed_lambda = s->factor_b * s->kappa_b;
  double *C = greedy_column(s, b);
  for (ptrdiff_t j = 0; j < m; j++)
    C[j] *= s->factor_b;
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[b * L + l] *= s->factor_b;
  s->kappa[b] = -lambda * lambda / s->kappa_b;
  s->kappa_ref[b] = s->kappa[b];
  for (int r = 0; r < s->parts; r++) {
    const struct greedy_partition *part = s->part + r;
    for (int f = 0; f < part->count; f++)
      for (ptrdiff_t p = part->start[f]; p < part->start[f + 1]; p++)
        part->D[p + b * m] *= signed_lambda / part->eta[f];
  }
}

/* ---- what both engines score and count ---- */

/* Whether moving column i, with its group, may come next. */
static int sweep_may_move(const struct greedy *s, ptrdiff_t i) {
  if (greedy_next_is_given(s) || s->within_group)
    return 0;
  return s->member[i] ? greedy_drops(s) && greedy_can_drop(s, i) : greedy_can_add(s, i);
}

int greedy_is_scored(const struct greedy *s, ptrdiff_t i) {
  int count;
  columns_together(&s->control->groups, i, &count);
  return count == 1 && sweep_may_move(s, i);
}

void greedy_list_scored(struct greedy *s) {
  s->scored_count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    if (greedy_in_play(s, i) && sweep_may_move(s, i) && stands_for_group(&s->control->groups, i))
      s->scored[s->scored_count++] = (int)i;
  s->out->work.candidates += (double)s->scored_count;
  s->out->work.evaluated += (double)s->scored_count;
}

/* x_i'a for a member, the move under way included, although its column follows in the next sweep
   only. */
static double sweep_member_t(const struct greedy *s, ptrdiff_t i, ptrdiff_t l) {
  const ptrdiff_t m = s->pb->m;
  const double t = s->t[i * s->pb->L + l];
  if (s->b < 0)
    return t;
  if (i == s->b)
    return t * s->factor_b;
  const double v =
      s->dropped ? sweep_product_of_members(s, i) : simd->dot(m, greedy_column(s, i), s->x_b);
  return t - v * s->t_b[l] / s->kappa_b;
}

/* The coefficients of one response, of members that do not follow: U beta = t, where row p of U has
   kappa of move p and the products of the members after it. */
static void sweep_solve(const struct greedy *s, ptrdiff_t l, double *beta) {
  const ptrdiff_t L = s->pb->L, most = greedy_most_members(s);
  for (ptrdiff_t p = s->size - 1; p >= 0; p--) {
    double sum = s->moved_t[l + L * p];
    for (ptrdiff_t q = p + 1; q < s->size; q++)
      sum -= s->products[p + s->order[q] * most] * beta[q];
    beta[p] = sum / s->moved_kappa[p];
  }
}

void greedy_sweep_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld) {
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    if (s->products != NULL)
      sweep_solve(s, l, beta + ld * l);
    else
      for (ptrdiff_t p = 0; p < s->size; p++)
        beta[p + ld * l] = sweep_member_t(s, s->order[p], l) / s->control->lambda;
}

static void sweep_commit_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const double *c = s->c_b + row;
  (void)with;
  for (ptrdiff_t l = 0; l < L; l++)
    simd->shift(rows, s->a + row + l * m, s->t_b[l] / s->kappa_b, c);
  simd->shift_squares(rows, s->d + row, 1 / s->kappa_b, c);
}

void greedy_commit_rows(struct greedy *s) {
  greedy_each_block(s, 2 + 2 * s->pb->L, sweep_commit_block, NULL);
}

static void sweep_commit(struct greedy *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  working_column(s->pb, s->b, s->x_b);
  s->out->work.columns_read++;
  s->kappa_b = s->kappa[s->b];
  memcpy(s->t_b, s->t + s->b * L, (size_t)L * sizeof(double));
  memcpy(s->c_b, greedy_column(s, s->b), (size_t)m * sizeof(double));
  if (s->products != NULL) {
    s->moved_kappa[s->size] = s->kappa_b;
    memcpy(s->moved_t + L * s->size, s->t_b, (size_t)L * sizeof(double));
  }
  greedy_commit_rows(s);
}

/* ---- leave-one-out ---- */

/* Candidates that share the reading of G, and the tile of it that stays in a cache meanwhile. */
enum { PAIR_CANDIDATES = 8, PAIR_POSITIVES = 512, PAIR_NEGATIVES = 64 };
enum { OF_ROW = 6 }; /* vectors of struct class_rows */

/* Doubles for one candidate. */
static ptrdiff_t loo_pairs_size(const struct greedy *s) {
  return OF_ROW * (s->positives + s->negatives + (ptrdiff_t)2 * SIMD_PAD);
}

size_t greedy_pairs_work(const struct greedy *s) {
  return PAIR_CANDIDATES * (size_t)loo_pairs_size(s);
}

/* The rows listed, in memory of OF_ROW (count + SIMD_PAD). */
static struct class_rows loo_class_rows(const struct greedy *s, const int *list, ptrdiff_t count,
    const struct pair_candidate *of, double *memory) {
  const struct problem *pb = s->pb;
  const ptrdiff_t ld = count + SIMD_PAD;
  double *c = memory, *a = c + ld, *d = a + ld, *response = d + ld, *unit = response + ld,
         *weight = unit + ld;
  memset(memory, 0, (size_t)(OF_ROW * ld) * sizeof(double));
  for (ptrdiff_t p = 0; p < count; p++) {
    const ptrdiff_t row = list[p];
    c[p] = of->c[row];
    a[p] = s->a[row] - c[p] * of->t / of->kappa;
    d[p] = s->d[row] - c[p] * c[p] / of->kappa;
    response[p] = pb->response[row];
    unit[p] = 1 / pb->divisor[row];
    weight[p] = case_weight(pb, row);
  }
  return (struct class_rows){count, c, a, d, response, unit, weight};
}

/* `count` of them from row `from` on. */
static struct class_rows loo_some_rows(
    const struct class_rows *rows, ptrdiff_t from, ptrdiff_t count) {
  return (struct class_rows){count, rows->c + from, rows->a + from, rows->d + from,
      rows->response + from, rows->unit + from, rows->weight + from};
}

static double loo_class_weight(const struct class_rows *rows) {
  double sum = 0;
  for (ptrdiff_t p = 0; p < rows->count; p++)
    sum += rows->weight[p];
  return sum;
}

void greedy_evaluate_pairs(
    const struct greedy *s, struct pair_candidate *candidate, int count, double *work) {
  const ptrdiff_t size = loo_pairs_size(s), positives = s->positives, negatives = s->negatives;
  struct class_rows positive[PAIR_CANDIDATES], negative[PAIR_CANDIDATES];
  for (int i = 0; i < count; i++, work += size) {
    candidate[i].loss = 0;
    positive[i] = loo_class_rows(s, s->positive, positives, candidate + i, work);
    negative[i] = loo_class_rows(
        s, s->negative, negatives, candidate + i, work + OF_ROW * (positives + SIMD_PAD));
  }
  for (ptrdiff_t n = 0; n < negatives; n += PAIR_NEGATIVES)
    for (ptrdiff_t p = 0; p < positives; p += PAIR_POSITIVES)
      for (int i = 0; i < count; i++) {
        const struct class_rows some = loo_some_rows(
                                    positive + i, p, greedy_min(positives - p, PAIR_POSITIVES)),
                                others = loo_some_rows(
                                    negative + i, n, greedy_min(negatives - n, PAIR_NEGATIVES));
        candidate[i].loss += simd->held_out_pairs(&some, &others, s->pairs + p + n * positives,
            positives, candidate[i].kappa, CRITERION_TIE);
      }
  for (int i = 0; i < count; i++)
    candidate[i].loss /= loo_class_weight(positive) * loo_class_weight(negative);
}

/* Of PAIR_CANDIDATES columns in turn, the first that is in play evaluates those that are scored. */
static void loo_evaluate_columns(struct greedy *s, ptrdiff_t i, double *scratch) {
  const ptrdiff_t from = i - i % PAIR_CANDIDATES;
  const ptrdiff_t to = greedy_min(from + PAIR_CANDIDATES, s->pb->n);
  struct pair_candidate candidate[PAIR_CANDIDATES];
  int count = 0, column[PAIR_CANDIDATES];
  for (ptrdiff_t j = from; j < i; j++)
    if (greedy_in_play(s, j))
      return;
  for (ptrdiff_t j = i; j < to; j++)
    if (greedy_in_play(s, j) && greedy_is_scored(s, j)) {
      candidate[count] = (struct pair_candidate){greedy_column(s, j), s->kappa[j], s->t[j], 0};
      column[count++] = (int)j;
    }
  greedy_evaluate_pairs(s, candidate, count, greedy_criterion_work(s, scratch));
  for (int j = 0; j < count; j++)
    s->score[column[j]].value = candidate[j].loss;
}

static void loo_lay_out(struct greedy *s, int threads, struct arena *arena) {
  (void)threads;
  s->C = alloc_doubles(arena, s->pb->m * s->pb->n);
  s->pairs = alloc_doubles(arena, (ptrdiff_t)s->positives * s->negatives);
}

struct greedy_score greedy_loo_score(
    struct greedy *s, ptrdiff_t i, double *c, double f, double *scratch) {
  const struct problem *pb = s->pb;
  const enum criterion kind = s->control->criterion;
  const ptrdiff_t m = pb->m, L = pb->L;
  const double kappa = s->kappa[i], *t = s->t + i * L, *c_b = s->c_b;
  double *alpha = scratch + m * L;
  for (ptrdiff_t l = 0; l < L; l++)
    alpha[l] = t[l] / kappa;
  if (kind == SQUARED || greedy_by_pairs(s)) {
    const double sum = simd->shift_and_score(m, L, c, f, c_b, s->a, s->d, 1 / kappa, alpha);
    return (struct greedy_score){sum / s->total_weight, sum / s->total_weight};
  }
  const double sum =
      simd->shift_and_hold_out(m, L, c, f, c_b, s->a, s->d, 1 / kappa, alpha, pb->divisor, scratch);
  const double tie = sum / s->total_weight;
  if (kind == USER)
    return (struct greedy_score){s->host->user_loss(s->host, scratch, 0), tie};
  return (struct greedy_score){criterion_loss(&s->weighted, kind, scratch) / s->weight, tie};
}

static void loo_sweep_column(struct greedy *s, ptrdiff_t i, double *scratch) {
  const ptrdiff_t m = s->pb->m;
  double f = 0, v;
  if (i == s->b)
    sweep_update_moved(s);
  else if (s->b >= 0)
    f = sweep_update_scalars(s, i, &v, scratch);
  if (sweep_digits_lost(s, i)) {
    simd->shift(m, greedy_column(s, i), f, s->c_b);
    f = 0;
    sweep_recompute(s, i, scratch);
  }
  if (!greedy_is_scored(s, i)) {
    simd->shift(m, greedy_column(s, i), f, s->c_b);
    return;
  }
  s->score[i] = greedy_loo_score(s, i, greedy_column(s, i), f, scratch);
}

static enum status loo_sweep(struct greedy *s) {
  const double pairs = (double)s->positives * s->negatives;
  greedy_list_scored(s);
  const enum status status =
      greedy_each_column(s, (double)s->pb->m * (double)s->pb->L, loo_sweep_column);
  if (status != COMPLETE)
    return status;
  if (greedy_by_pairs(s) && greedy_each_column(s, pairs, loo_evaluate_columns) != COMPLETE)
    return INTERRUPTED;
  return greedy_score_groups(s);
}

static void loo_commit(struct greedy *s) {
  sweep_commit(s);
  double *c = s->scratch;
  for (ptrdiff_t p = 0; p < s->positives; p++)
    c[p] = s->c_b[s->positive[p]];
  for (ptrdiff_t n = 0; n < s->negatives; n++)
    simd->shift(s->positives, s->pairs + n * s->positives, s->c_b[s->negative[n]] / s->kappa_b, c);
}

static void loo_residual_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    simd->quotient(
        rows, s->residual + row + l * m, s->a + row + l * m, s->d + row, s->pb->divisor + row);
}

void greedy_loo_hold_out(struct greedy *s, int repeat) {
  (void)repeat;
  greedy_each_block(s, 4 * s->pb->L, loo_residual_block, NULL);
}

static void loo_keep_block(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  (void)with;
  for (ptrdiff_t l = 0, from = row; l < s->pb->L; l++, from += s->pb->m) {
    memcpy(s->out->held_out + from, s->residual + from, (size_t)rows * sizeof(double));
    simd->weighted(rows, s->out->fitted + from, s->d + row, s->residual + from);
  }
}

void greedy_loo_keep_residuals(struct greedy *s) {
  greedy_each_block(s, 4 * s->pb->L, loo_keep_block, NULL);
}

/* d has the rounding errors of a difference from 1, unless it comes from G itself. */
double greedy_loo_min_pivot(const struct greedy *s) {
  double min = 1;
  for (ptrdiff_t j = 0; j < s->pb->m && !s->from_G; j++)
    if (s->d[j] < min)
      min = s->d[j];
  return min;
}

const struct greedy_engine greedy_leave_one_out = {.lay_out = loo_lay_out,
    .begin = greedy_start,
    .sweep = loo_sweep,
    .follow = loo_sweep_column,
    .commit = loo_commit,
    .coefficients = greedy_sweep_coefficients,
    .hold_out = greedy_loo_hold_out,
    .keep_residuals = greedy_loo_keep_residuals,
    .min_pivot = greedy_loo_min_pivot};

/* ---- folds ---- */

void greedy_lay_out_parts(struct greedy *s, ptrdiff_t columns, struct arena *arena) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const int rereads = s->control->rereads;
  const int *start = s->folds->start;
  s->parts = s->folds->repeats;
  s->part = arena_alloc(arena, s->parts, sizeof(struct greedy_partition));
  for (int r = 0; r < s->parts; r++) {
    const int count = s->folds->count[r];
    const struct greedy_partition part = {.count = count,
        .order = alloc_ints(arena, m),
        .start = start,
        .rows = alloc_doubles(arena, m * (L + 2)),
        .query = s->pb->query == NULL ? NULL : alloc_ints(arena, m),
        .group = alloc_ints(arena, s->control->row_groups.count > 0 ? m : 0),
        .D = alloc_doubles(arena, m * columns),
        .M = alloc_doubles(arena, rereads ? m * s->M_width : 0),
        .direct = alloc_ints(arena, rereads ? count : 0),
        .g = alloc_doubles(arena, m * L),
        .q = alloc_doubles(arena, m),
        .c = alloc_doubles(arena, m),
        .eta = alloc_doubles(arena, count),
        .pivot = alloc_doubles(arena, count)};
    if (arena->base != NULL)
      s->part[r] = part;
    start += count + 1;
  }
}

static void folds_lay_out(struct greedy *s, int threads, struct arena *arena) {
  (void)threads;
  s->C = alloc_doubles(arena, s->pb->m * s->pb->n);
  greedy_lay_out_parts(s, s->pb->n, arena);
}

/* Puts the positive rows of each fold before the negative ones. */
static void folds_part_classes(const struct problem *pb, struct greedy_partition *part) {
  for (int f = 0; f < part->count; f++)
    for (ptrdiff_t p = part->start[f], next = p; p < part->start[f + 1]; p++)
      if (pb->response[part->order[p]] > 0) {
        const int row = part->order[p];
        part->order[p] = part->order[next];
        part->order[next++] = row;
      }
}

void greedy_order_rows(struct greedy *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  for (int r = 0; r < s->parts; r++) {
    struct greedy_partition *part = s->part + r;
    memcpy(part->order, s->folds->order + r * m, (size_t)m * sizeof(int));
    if (s->control->criterion == AUC)
      folds_part_classes(s->pb, part);
    for (ptrdiff_t p = 0; p < m; p++) {
      const ptrdiff_t row = part->order[p];
      for (ptrdiff_t l = 0; l < L; l++)
        part->rows[p + l * m] = s->pb->response[row + l * m];
      part->rows[p + L * m] = s->weighted.root_w[row];
      part->rows[p + (L + 1) * m] = s->pb->divisor[row];
      if (s->pb->query != NULL)
        part->query[p] = s->pb->query[row];
      if (s->control->row_groups.count > 0)
        part->group[p] = s->control->row_groups.of[row];
    }
  }
}

double greedy_folds_evaluate(const struct greedy *s, double *scratch, int repeat) {
  const enum criterion kind = s->control->criterion;
  const struct greedy_partition *part = s->part + repeat;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  struct problem rows = {.m = m,
      .L = L,
      .response = part->rows,
      .root_w = part->rows + L * m,
      .query = part->query,
      .groups = s->control->row_groups};
  double *work = greedy_criterion_work(s, scratch);
  rows.groups.of = part->group;
  if (criterion_is_of_groups(kind))
    return criterion_groups(&rows, kind, scratch, NULL, work);
  if (kind == AUC)
    return criterion_auc(&rows, scratch, part->start, part->count, work);
  if (kind == CONCORDANCE)
    return criterion_concordance(&rows, scratch, part->start, part->count, work);
  if (kind != USER)
    return criterion_loss(&rows, kind, scratch) / s->weight;
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t p = 0; p < m; p++)
      work[part->order[p] + l * m] = scratch[p + l * m];
  return s->host->user_loss(s->host, work, repeat);
}

/* Brings D_i up to date, then r_H = g_H - q_H alpha with alpha = (t - g_H'c_H) / (kappa -
   c_H'q_H), c and q being columns i of C and D; v: x_i'C_b. Squares are summed by dot products,
   other criteria need the residuals. */
struct greedy_score greedy_folds_score(struct greedy *s, int repeat, ptrdiff_t i, const double *C,
    double *q, double v, double *scratch) {
  const struct greedy_partition *part = s->part + repeat;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const int moved = s->b >= 0 && i != s->b;
  const int evaluated = s->control->criterion != SQUARED && greedy_is_scored(s, i);
  const double kappa = s->kappa[i], *t = s->t + i * L;
  const double *divisor = part->rows + (L + 1) * m;
  double *residual = scratch, *c = scratch + m * L, sum = part->ss;
  for (ptrdiff_t p = 0; p < m; p++)
    c[p] = C[part->order[p]];
  for (int f = 0; f < part->count; f++) {
    const ptrdiff_t from = part->start[f], h = part->start[f + 1] - from;
    const double shift = moved ? (simd->dot(h, part->c + from, q + from) - v) / part->eta[f] : 0;
    const struct fold_dots dots = simd->fold(h, q + from, shift, part->q + from, c + from);
    for (ptrdiff_t l = 0; l < L; l++) {
      const double *g = part->g + from + l * m;
      const struct pair_dots with_g = simd->pair(h, g, c + from, q + from);
      const double alpha = (t[l] - with_g.gc) / (kappa - dots.cq);
      sum += alpha * (alpha * dots.qq - 2 * with_g.gq);
      if (evaluated)
        simd->shifted_quotient(h, residual + from + l * m, g, alpha, q + from, divisor + from);
    }
  }
  return (struct greedy_score){evaluated ? greedy_folds_evaluate(s, scratch, repeat) : sum, sum};
}

struct greedy_score greedy_folds_mean(const struct greedy *s, struct greedy_score sum) {
  const double tie = sum.tie / s->parts / s->total_weight;
  const double value = s->control->criterion == SQUARED ? tie : sum.value / s->parts;
  return (struct greedy_score){value, tie};
}

static void folds_sweep_column(struct greedy *s, ptrdiff_t i, double *scratch) {
  const ptrdiff_t m = s->pb->m;
  double v = 0;
  if (i == s->b) {
    sweep_update_moved(s);
  } else if (s->b >= 0) {
    const double f = sweep_update_scalars(s, i, &v, scratch);
    simd->shift(m, greedy_column(s, i), f, s->c_b);
    if (sweep_digits_lost(s, i))
      sweep_recompute(s, i, scratch);
  }
  struct greedy_score sum = {0, 0};
  for (int r = 0; r < s->parts; r++) {
    const struct greedy_score one =
        greedy_folds_score(s, r, i, greedy_column(s, i), s->part[r].D + i * m, v, scratch);
    sum.value += one.value;
    sum.tie += one.tie;
  }
  s->score[i] = greedy_folds_mean(s, sum);
}

double greedy_folds_cost(const struct greedy *s) {
  const double of_row = (double)s->pb->L + (criterion_is_of_pairs(s->control->criterion) ? 10 : 0);
  return (double)s->pb->m * (1 + s->parts * of_row);
}

void greedy_folds_sum_squares(struct greedy *s) {
  for (int r = 0; r < s->parts; r++) {
    struct greedy_partition *part = s->part + r;
    part->ss = simd->dot(s->pb->m * s->pb->L, part->g, part->g);
  }
}

static enum status folds_sweep(struct greedy *s) {
  greedy_list_scored(s);
  greedy_folds_sum_squares(s);
  const enum status status = greedy_each_column(s, greedy_folds_cost(s), folds_sweep_column);
  return status == COMPLETE ? greedy_score_groups(s) : status;
}

static void folds_commit_partition(struct greedy *s, struct greedy_partition *part) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const double *D = s->reread == NULL ? part->D + s->b * m : part->D;
  memcpy(part->q, D, (size_t)m * sizeof(double));
  for (ptrdiff_t p = 0; p < m; p++)
    part->c[p] = s->c_b[part->order[p]];
  for (int f = 0; f < part->count; f++) {
    const ptrdiff_t from = part->start[f], h = part->start[f + 1] - from;
    const double *c = part->c + from, *q = part->q + from;
    part->eta[f] = s->kappa_b - simd->dot(h, c, q);
    const double ratio = part->eta[f] / s->kappa_b;
    if (ratio < GREEDY_FOLD_SCALE || ratio > 1 / GREEDY_FOLD_SCALE)
      part->pivot[f] = fmin(1, part->pivot[f] * ratio);
    for (ptrdiff_t l = 0; l < L; l++) {
      double *g = part->g + from + l * m;
      simd->shift(h, g, (s->t_b[l] - simd->dot(h, g, c)) / part->eta[f], q);
    }
  }
}

static void folds_commit(struct greedy *s) {
  sweep_commit(s);
  for (int r = 0; r < s->parts; r++)
    folds_commit_partition(s, s->part + r);
}

void greedy_folds_hold_out(struct greedy *s, int repeat) {
  const ptrdiff_t m = s->pb->m;
  const struct greedy_partition *part = s->part + repeat;
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    for (ptrdiff_t p = 0; p < m; p++) {
      const ptrdiff_t row = part->order[p];
      s->residual[row + l * m] = part->g[p + l * m] / s->pb->divisor[row];
    }
}

void greedy_folds_keep_residuals(struct greedy *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memset(s->out->held_out, 0, (size_t)(m * L) * sizeof(double));
  for (int r = 0; r < s->parts; r++) {
    greedy_folds_hold_out(s, r);
    simd->shift(m * L, s->out->held_out, -1.0 / s->parts, s->residual);
  }
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t j = 0; j < m; j++)
      s->out->fitted[j + l * m] = s->a[j + l * m] / s->pb->divisor[j];
}

double greedy_folds_min_pivot(const struct greedy *s) {
  double min = 1;
  for (int r = 0; r < s->parts; r++)
    for (int f = 0; f < s->part[r].count; f++)
      min = fmin(min, s->part[r].pivot[f]);
  return min;
}

const struct greedy_engine greedy_folds = {.lay_out = folds_lay_out,
    .begin = greedy_start,
    .sweep = folds_sweep,
    .follow = folds_sweep_column,
    .commit = folds_commit,
    .coefficients = greedy_sweep_coefficients,
    .hold_out = greedy_folds_hold_out,
    .keep_residuals = greedy_folds_keep_residuals,
    .min_pivot = greedy_folds_min_pivot};
