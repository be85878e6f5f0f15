/* Greedy regularised least-squares: one sweep over the cache for each move.

   A sweep brings each column up to date with the last move and, while it is in the processor's
   cache, scores moving that column next. Adding and dropping are one formula with the sign of
   lambda turned. */
#include "greedy-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---- room ---- */

/* The largest set that start() is asked for. */
static ptrdiff_t largest_start(const struct problem *pb, const struct greedy_control *control) {
  switch (control->search) {
  case BACKWARD:
    return pb->n;
  case FLOATING:
  case FORWARD_BACKWARD:
    return control->k;
  default:
    return 0;
  }
}

/* Whether the search can drop columns. */
static int drops(const struct greedy_control *control) {
  return control->search != FORWARD && control->search != GIVEN;
}

static int leave_pair_out(const struct state *s) {
  return s->folds->loo && s->control->criterion == AUC;
}

static void lay_out(struct state *s, int threads, struct arena *room) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  if (s->control->lazy && can_skip(s->folds, s->control))
    lay_out_lazy(s, threads, room);
  else
    s->C = alloc_doubles(room, m * n);
  s->a = alloc_doubles(room, m * L);
  s->d = alloc_doubles(room, m);
  s->kappa = alloc_doubles(room, n);
  s->kappa_ref = alloc_doubles(room, n);
  s->t = alloc_doubles(room, L * n);
  s->x_b = alloc_doubles(room, m);
  s->c_b = alloc_doubles(room, m);
  s->t_b = alloc_doubles(room, L);
  s->residual = alloc_doubles(room, m * L);
  s->gain = alloc_doubles(room, n + 1);
  s->score = arena_alloc(room, n, sizeof(struct score));
  s->scored = alloc_ints(room, n);
  s->seen = arena_alloc(room, n + 1, sizeof(struct score));
  s->member = alloc_ints(room, n);
  s->order = alloc_ints(room, n);
  s->positive = alloc_ints(room, m);
  s->negative = alloc_ints(room, m);
  s->scratch_size = (size_t)(m * (L + 2) + L);
  s->scratch = alloc_doubles(room, threads * (ptrdiff_t)s->scratch_size);
  s->room = alloc_doubles(room, (ptrdiff_t)start_room(pb, s->folds, largest_start(pb, s->control)));
  const ptrdiff_t members = largest_start(pb, s->control);
  s->inverse_order = members < m ? members : m;
  s->inverse = alloc_doubles(room, s->inverse_order * s->inverse_order);
  s->inverse_b = alloc_doubles(room, members > 0 ? n : 0);
  s->parts = s->folds->loo ? 0 : s->folds->repeats;
  s->part = arena_alloc(room, s->parts, sizeof(struct partition));
  const int *start = s->folds->start;
  for (int r = 0; r < s->parts; r++) {
    const int count = s->folds->count[r];
    const struct partition part = {count, s->folds->order + r * m, start,
        alloc_doubles(room, m * n), alloc_doubles(room, m * L), alloc_doubles(room, m),
        alloc_doubles(room, m), alloc_doubles(room, count), alloc_doubles(room, count), 0};
    if (room->base != NULL)
      s->part[r] = part;
    start += count + 1;
  }
  for (ptrdiff_t j = 0; leave_pair_out(s) && j < m; j++)
    if (pb->response[j] > 0)
      s->positives++;
    else
      s->negatives++;
  s->pairs = alloc_doubles(room, (ptrdiff_t)s->positives * s->negatives);
}

size_t greedy_work(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, int threads) {
  struct state s = {.pb = pb, .folds = folds, .control = control};
  struct arena count = {NULL, 0};
  lay_out(&s, threads, &count);
  return count.used;
}

/* ---- columns in parallel ---- */

/* Blocks are sized so that the host is asked every few milliseconds; a column is one thread's work.
 */
int each_column(struct state *s, double cost,
    void (*work)(struct state *s, ptrdiff_t column, double *scratch)) {
  const double wanted = 4e6 / cost;
  const ptrdiff_t n = s->pb->n;
  const int user = s->control->criterion == USER, threads = user ? 1 : s->host->threads;
  ptrdiff_t block = wanted < threads ? threads : wanted > 1e6 ? 1000000 : (ptrdiff_t)wanted;
  if (user)
    block = 1;
  for (ptrdiff_t from = 0; from < n; from += block) {
    const ptrdiff_t to = from + block < n ? from + block : n;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
    for (ptrdiff_t i = from; i < to; i++) {
#ifdef _OPENMP
      double *scratch = s->scratch + (size_t)omp_get_thread_num() * s->scratch_size;
#else
      double *scratch = s->scratch;
#endif
      if (in_play(s, i))
        work(s, i, scratch);
    }
    if (s->host->stop(s->host, s->out->moves, s->control->k))
      return 1;
  }
  return 0;
}

/* ---- rows in parallel ---- */

void each_block(struct state *s, ptrdiff_t passes, block_work *work, const void *with) {
  const ptrdiff_t m = s->pb->m;
#ifdef _OPENMP
  const int threads = s->host->threads;
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && passes * m > SHARED)
#endif
  for (ptrdiff_t row = 0; row < m; row += ROWS)
    work(s, with, row, m - row < ROWS ? m - row : ROWS);
  (void)passes;
}

/* ---- scores ---- */

static int better(struct score x, struct score y, struct score tolerance) {
  if (x.value < y.value - tolerance.value)
    return 1;
  return x.value <= y.value + tolerance.value && x.tie < y.tie - tolerance.tie;
}

/* ---- one column: bring it up to date with the last move, then score moving it ---- */

/* Nearly collinear candidates lose the digits of kappa in the recurrence (the guard of pivoted QR).
 */
static int digits_lost(const struct state *s, ptrdiff_t i) {
  return !s->member[i] && s->kappa[i] < 1e-3 * s->kappa_ref[i];
}

static void recompute_scalars(struct state *s, ptrdiff_t i, double *x) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  working_column(s->pb, i, x);
  s->kappa[i] = s->control->lambda + simd->dot(m, x, column(s, i));
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
static double product_of_members(const struct state *s, ptrdiff_t i) {
  const ptrdiff_t m = s->pb->m;
  const double lambda = s->control->lambda, *C = column(s, i);
  const double of_dot = simd->dot(m, C, C) * s->x_b_square;
  if (s->inverse_held && s->kappa[i] * s->kappa_b < of_dot)
    return -lambda * lambda * s->inverse_b[i];
  return simd->dot(m, C, s->x_b);
}

/* x_i'C_b = C_i'x_b of the move under way. Of a member that is dropped C_b is O(lambda), and the
   first form keeps the digits of it. x: m, for working column i. */
static double product_with_moved(const struct state *s, ptrdiff_t i, double *x) {
  const ptrdiff_t m = s->pb->m;
  if (s->dropped && s->member[i])
    return product_of_members(s, i);
  if (!s->dropped || s->c_b_square > 0.01 * s->x_b_square)
    return simd->dot(m, column(s, i), s->x_b);
  working_column(s->pb, i, x);
  return simd->dot(m, x, s->c_b);
}

/* kappa_i, t_i; returns the multiple of c_b to take from C_i and, in v, x_i'C_b. */
static double advance_scalars(struct state *s, ptrdiff_t i, double *v, double *x) {
  const ptrdiff_t L = s->pb->L;
  *v = product_with_moved(s, i, x);
  const double f = *v / s->kappa_b;
  s->kappa[i] -= *v * f;
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[i * L + l] -= f * s->t_b[l];
  return f;
}

/* The moved column itself, by the closed form: C_b, D_b and t_b shrink, kappa_b turns its sign. */
static void advance_moved(struct state *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, b = s->b;
  const double lambda = s->control->lambda, signed_lambda = s->factor_b * s->kappa_b;
  double *C = column(s, b);
  for (ptrdiff_t j = 0; j < m; j++)
    C[j] *= s->factor_b;
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[b * L + l] *= s->factor_b;
  s->kappa[b] = -lambda * lambda / s->kappa_b;
  s->kappa_ref[b] = s->kappa[b];
  for (int r = 0; r < s->parts; r++) {
    const struct partition *part = s->part + r;
    for (int f = 0; f < part->count; f++)
      for (ptrdiff_t p = part->start[f]; p < part->start[f + 1]; p++)
        part->D[p + b * m] *= signed_lambda / part->eta[f];
  }
}

static double judge_residual(const struct state *s, const double *residual, int repeat) {
  const enum criterion kind = s->control->criterion;
  if (kind == USER)
    return s->host->judge(s->host, residual, repeat);
  if (kind != AUC)
    return judge_rows(s->pb, kind, residual);
  const struct partition *part = s->part + repeat;
  return judge_folds(s->pb, kind, residual, part->order, part->start, part->count).value;
}

/* Leave-pair-out AUC loss of the model given by a, d and pairs after taking out c c' / kappa. Both
   rows of a pair are held out together: residuals solve the 2 x 2 system in G. O(positives x
   negatives). */
static double judge_pairs(const struct state *s, const double *c, double kappa, double t) {
  const struct problem *pb = s->pb;
  double loss = 0, weight = 0;
  for (int n = 0; n < s->negatives; n++) {
    const ptrdiff_t j = s->negative[n];
    const double a_n = s->a[j] - c[j] * t / kappa, d_n = s->d[j] - c[j] * c[j] / kappa;
    for (int p = 0; p < s->positives; p++) {
      const ptrdiff_t i = s->positive[p];
      const double a_p = s->a[i] - c[i] * t / kappa, d_p = s->d[i] - c[i] * c[i] / kappa;
      const double G = s->pairs[p + (ptrdiff_t)n * s->positives] - c[i] * c[j] / kappa;
      const double det = d_p * d_n - G * G;
      const double f_p = pb->response[i] - (a_p * d_n - a_n * G) / det / pb->divisor[i];
      const double f_n = pb->response[j] - (a_n * d_p - a_p * G) / det / pb->divisor[j];
      const double w = pb->root_w[i] * pb->root_w[i] * pb->root_w[j] * pb->root_w[j];
      loss += w * pair_loss(f_p, f_n);
      weight += w;
    }
  }
  return loss / weight;
}

/* Members are scored by searches that drop, candidates by those that choose. */
static int is_scored(const struct state *s, ptrdiff_t i) {
  switch (s->control->search) {
  case FORWARD:
    return !s->member[i];
  case GIVEN:
    return 0;
  default:
    return 1;
  }
}

/* Leave-one-out: r_j = (a_j kappa - c_j t) / (d_j kappa - c_j^2). */
static void sweep_loo(struct state *s, ptrdiff_t i, double *scratch) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, L = pb->L;
  double *c = column(s, i), f = 0, v;
  if (i == s->b)
    advance_moved(s);
  else if (s->b >= 0)
    f = advance_scalars(s, i, &v, scratch);
  if (digits_lost(s, i)) {
    simd->shift(m, c, f, s->c_b);
    f = 0;
    recompute_scalars(s, i, scratch);
  }
  if (!is_scored(s, i)) {
    simd->shift(m, c, f, s->c_b);
    return;
  }
  const double kappa = s->kappa[i], *t = s->t + i * L;
  double *alpha = scratch + m * L;
  for (ptrdiff_t l = 0; l < L; l++)
    alpha[l] = t[l] / kappa;
  s->score[i].tie =
      simd->shift_and_score(m, L, c, f, s->c_b, s->a, s->d, 1 / kappa, alpha) / s->total_weight;
  s->score[i].value = s->score[i].tie;
  if (s->control->criterion == SQUARED)
    return;
  if (leave_pair_out(s)) {
    s->score[i].value = judge_pairs(s, c, kappa, t[0]);
    return;
  }
  for (ptrdiff_t l = 0; l < L; l++)
    simd->residual(m, scratch + l * m, c, s->a + l * m, s->d, kappa, t[l], pb->divisor);
  s->score[i].value = judge_residual(s, scratch, 0);
}

/* One partition: D_i up to date, then r_H = g_H - q_H alpha with alpha = (t - g_H'c_H) / (kappa -
   c_H'q_H). Squares are summed by dot products; other criteria get the residuals. */
static struct score score_partition(
    struct state *s, int repeat, ptrdiff_t i, double v, double *scratch) {
  const struct problem *pb = s->pb;
  const struct partition *part = s->part + repeat;
  const ptrdiff_t m = pb->m, L = pb->L;
  const int squared = s->control->criterion == SQUARED, moved = s->b >= 0 && i != s->b;
  const double kappa = s->kappa[i], *t = s->t + i * L, *C = column(s, i);
  double *residual = scratch, *c = scratch + m * L, *q = part->D + i * m, sum = part->ss;
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
      for (ptrdiff_t p = 0; !squared && p < h; p++) {
        const ptrdiff_t row = part->order[from + p];
        residual[row + l * m] = (g[p] - q[from + p] * alpha) / pb->divisor[row];
      }
    }
  }
  const int judged = !squared && is_scored(s, i);
  return (struct score){judged ? judge_residual(s, residual, repeat) : sum, sum};
}

static void sweep_folds(struct state *s, ptrdiff_t i, double *scratch) {
  const ptrdiff_t m = s->pb->m;
  double v = 0;
  if (i == s->b) {
    advance_moved(s);
  } else if (s->b >= 0) {
    const double f = advance_scalars(s, i, &v, scratch);
    simd->shift(m, column(s, i), f, s->c_b);
    if (digits_lost(s, i))
      recompute_scalars(s, i, scratch);
  }
  struct score sum = {0, 0};
  for (int r = 0; r < s->parts; r++) {
    const struct score one = score_partition(s, r, i, v, scratch);
    sum.value += one.value;
    sum.tie += one.tie;
  }
  s->score[i].tie = sum.tie / s->parts / s->total_weight;
  s->score[i].value = s->control->criterion == SQUARED ? s->score[i].tie : sum.value / s->parts;
}

/* Lists the columns that could be moved. */
static void list_scored(struct state *s) {
  s->scored_count = 0;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    if (in_play(s, i) && is_scored(s, i))
      s->scored[s->scored_count++] = (int)i;
}

static int sweep(struct state *s) {
  struct greedy_work_done *work = &s->out->work;
  const double m = (double)s->pb->m;
  if (s->lazy != NULL) {
    const enum status status = sweep_lazy(s);
    work->candidates += (double)(s->usable - s->size);
    work->evaluated += (double)s->scored_count;
    return status != COMPLETE;
  }
  list_scored(s);
  work->candidates += (double)s->scored_count;
  work->evaluated += (double)s->scored_count;
  for (int r = 0; r < s->parts; r++) {
    struct partition *part = s->part + r;
    part->ss = simd->dot(s->pb->m * s->pb->L, part->g, part->g);
  }
  if (s->parts == 0) {
    const double pairs = (double)s->positives * s->negatives;
    return each_column(s, m * (double)s->pb->L + pairs, sweep_loo);
  }
  double cost = m * (1 + s->parts * (double)s->pb->L);
  for (int r = 0; r < s->parts && s->control->criterion == AUC; r++)
    for (int f = 0; f < s->part[r].count; f++) {
      const double h = s->part[r].start[f + 1] - s->part[r].start[f];
      cost += h * h;
    }
  return each_column(s, cost, sweep_folds);
}

/* ---- commit a move ---- */

static void toggle_member(struct state *s, ptrdiff_t b) {
  if (!s->member[b]) {
    s->member[b] = 1;
    s->order[s->size++] = (int)b;
    return;
  }
  int p = 0;
  while (s->order[p] != b)
    p++;
  memmove(s->order + p, s->order + p + 1, (size_t)(s->size - p - 1) * sizeof(int));
  s->member[b] = 0;
  s->size--;
  s->since_start++;
}

static void commit_partition(struct state *s, struct partition *part) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memcpy(part->q, part->D + s->b * m, (size_t)m * sizeof(double));
  for (ptrdiff_t p = 0; p < m; p++)
    part->c[p] = s->c_b[part->order[p]];
  for (int f = 0; f < part->count; f++) {
    const ptrdiff_t from = part->start[f], h = part->start[f + 1] - from;
    const double *c = part->c + from, *q = part->q + from;
    part->eta[f] = s->kappa_b - simd->dot(h, c, q);
    const double ratio = part->eta[f] / s->kappa_b;
    if (ratio < 0.01 || ratio > 100)
      part->pivot[f] = fmin(1, part->pivot[f] * ratio);
    for (ptrdiff_t l = 0; l < L; l++) {
      double *g = part->g + from + l * m;
      simd->shift(h, g, (s->t_b[l] - simd->dot(h, g, c)) / part->eta[f], q);
    }
  }
}

static void commit_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double *c = s->c_b + row;
  (void)with;
  memcpy(c, column(s, s->b) + row, (size_t)rows * sizeof(double));
  for (ptrdiff_t l = 0; l < L; l++)
    simd->shift(rows, s->a + row + l * m, s->t_b[l] / s->kappa_b, c);
  simd->shift_squares(rows, s->d + row, 1 / s->kappa_b, c);
}

/* P := that of the members and b, by the inverse of a bordered matrix; u = P X_S'x_b = C_S'x_b /
   lambda. O(m size) */
static void border_inverse(struct state *s) {
  const ptrdiff_t ld = s->inverse_order, k = s->size;
  double *P = s->inverse, *u = P + k * ld;
  if (k == ld) {
    s->inverse_held = 0;
    return;
  }
  for (ptrdiff_t p = 0; p < k; p++)
    u[p] = simd->dot(s->pb->m, column(s, s->order[p]), s->x_b) / s->control->lambda;
  for (ptrdiff_t p = 0; p < k; p++)
    simd->shift(k, P + p * ld, -u[p] / s->kappa_b, u);
  for (ptrdiff_t p = 0; p < k; p++)
    P[k + p * ld] = u[p] /= -s->kappa_b;
  u[k] = 1 / s->kappa_b;
}

/* P := that of the members without b, and column b of it, by column of x. O(size^2) */
static void cut_inverse(struct state *s) {
  const ptrdiff_t ld = s->inverse_order, k = s->size;
  double *P = s->inverse, *out = P;
  ptrdiff_t at = 0;
  while (s->order[at] != s->b)
    at++;
  const double *moved = P + at * ld;
  for (ptrdiff_t p = 0; p < k; p++)
    s->inverse_b[s->order[p]] = moved[p];
  const double own = moved[at];
  for (ptrdiff_t p = 0; p < k; p++) {
    if (p == at)
      continue;
    const double f = s->inverse_b[s->order[p]] / own;
    for (ptrdiff_t r = 0, to = 0; r < k; r++)
      if (r != at)
        out[to++] = P[r + p * ld] - f * s->inverse_b[s->order[r]];
    out += ld;
  }
}

/* Everything of size m or less moves now; the columns follow in the next sweep. */
static void commit(struct state *s, ptrdiff_t b) {
  const ptrdiff_t L = s->pb->L;
  const double sign = s->member[b] ? -1 : 1;
  s->b = b;
  s->kappa_b = s->kappa[b];
  s->factor_b = sign * s->control->lambda / s->kappa_b;
  memcpy(s->t_b, s->t + b * L, (size_t)L * sizeof(double));
  if (s->lazy != NULL) {
    commit_lazy(s);
  } else {
    working_column(s->pb, b, s->x_b);
    s->out->work.columns_read++;
  }
  each_block(s, 2 + 2 * L, commit_rows, NULL);
  for (int r = 0; r < s->parts; r++)
    commit_partition(s, s->part + r);
  for (int n = 0; n < s->negatives; n++)
    for (int p = 0; p < s->positives; p++)
      s->pairs[p + (ptrdiff_t)n * s->positives] -=
          s->c_b[s->positive[p]] * s->c_b[s->negative[n]] / s->kappa_b;
  s->dropped = s->member[b];
  if (drops(s->control)) {
    s->x_b_square = simd->dot(s->pb->m, s->x_b, s->x_b);
    s->c_b_square = simd->dot(s->pb->m, s->c_b, s->c_b);
    if (s->inverse_held && s->dropped)
      cut_inverse(s);
    else if (s->inverse_held)
      border_inverse(s);
  }
  toggle_member(s, b);
}

/* ---- record the model that stands ---- */

static void leave_one_out_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  const ptrdiff_t m = s->pb->m;
  (void)with;
  for (ptrdiff_t l = 0; l < s->pb->L; l++)
    simd->quotient(
        rows, s->residual + row + l * m, s->a + row + l * m, s->d + row, s->pb->divisor + row);
}

/* Held-out residuals of one repeat in the user's units, in s->residual. */
static void hold_out(struct state *s, int repeat) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m;
  if (s->parts == 0) {
    each_block(s, 4 * pb->L, leave_one_out_rows, NULL);
    return;
  }
  for (ptrdiff_t l = 0; l < pb->L; l++)
    for (ptrdiff_t p = 0; p < m; p++) {
      const ptrdiff_t row = s->part[repeat].order[p];
      s->residual[row + l * m] = s->part[repeat].g[p + l * m] / pb->divisor[row];
    }
}

static struct figure judge_model(const struct state *s, const double *residual, int repeat) {
  const enum criterion kind = s->control->criterion;
  if (kind == USER)
    return (struct figure){s->host->judge(s->host, residual, repeat), NAN};
  if (leave_pair_out(s)) {
    memset(s->scratch, 0, (size_t)s->pb->m * sizeof(double));
    return (struct figure){judge_pairs(s, s->scratch, 1, 0), NAN};
  }
  const int *start = s->folds->start;
  for (int r = 0; r < repeat; r++)
    start += s->folds->count[r] + 1;
  return judge_folds(
      s->pb, kind, residual, s->folds->order + repeat * s->pb->m, start, s->folds->count[repeat]);
}

/* x_i'a for a member, the move under way included: its column comes up to date in the next sweep
 * only. */
static double member_t(const struct state *s, ptrdiff_t i, ptrdiff_t l) {
  const ptrdiff_t m = s->pb->m;
  const double t = s->t[i * s->pb->L + l];
  if (s->b < 0)
    return t;
  if (i == s->b)
    return t * s->factor_b;
  const double v = s->dropped ? product_of_members(s, i) : simd->dot(m, column(s, i), s->x_b);
  return t - v * s->t_b[l] / s->kappa_b;
}

static void keep_model(struct state *s, int entry) {
  const ptrdiff_t k = s->control->k, L = s->pb->L, size = s->size;
  s->out->model_entry[size] = entry;
  double *beta = s->out->beta + k * L * size;
  memcpy(s->out->model + size * k, s->order, (size_t)size * sizeof(int));
  if (s->lazy != NULL)
    lazy_coefficients(s, beta, k);
  for (ptrdiff_t l = 0; l < L && s->lazy == NULL; l++)
    for (ptrdiff_t p = 0; p < size; p++)
      beta[p + k * l] = member_t(s, s->order[p], l) / s->control->lambda;
}

static void keep_rows(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows) {
  (void)with;
  for (ptrdiff_t l = 0, at = row; l < s->pb->L; l++, at += s->pb->m) {
    memcpy(s->out->held_out + at, s->residual + at, (size_t)rows * sizeof(double));
    simd->weighted(rows, s->out->fitted + at, s->d + row, s->residual + at);
  }
}

/* s->residual are the held-out residuals of the last repeat. */
static void keep_residuals(struct state *s) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const int repeats = s->folds->repeats;
  if (s->parts == 0) {
    each_block(s, 4 * L, keep_rows, NULL);
    return;
  }
  memset(s->out->held_out, 0, (size_t)(m * L) * sizeof(double));
  for (int r = 0; r < repeats; r++) {
    hold_out(s, r);
    simd->shift(m * L, s->out->held_out, -1.0 / repeats, s->residual);
  }
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t j = 0; j < m; j++)
      s->out->fitted[j + l * m] = s->a[j + l * m] / s->pb->divisor[j];
}

/* What held-out residuals are divided by, at the least. It has the rounding errors of a difference
   from 1, unless it comes from G itself. */
static double smallest_pivot(const struct state *s) {
  double least = 1;
  if (s->parts == 0 && !s->held)
    for (ptrdiff_t j = 0; j < s->pb->m; j++)
      least = fmin(least, s->d[j]);
  for (int r = 0; r < s->parts; r++)
    for (int f = 0; f < s->part[r].count; f++)
      least = fmin(least, s->part[r].pivot[f]);
  return least;
}

/* Writes entry `moves` of the path; returns 1 when this is the best model so far. Of equals the
 * smaller wins. */
static int record(struct state *s, ptrdiff_t feature) {
  struct greedy_result *out = s->out;
  const int entry = out->moves, repeats = s->folds->repeats, size = s->size;
  const struct score none = {0, 0};
  struct score now = {0, 0};
  double se = 0, error = 0;
  for (int r = 0; r < repeats; r++) {
    hold_out(s, r);
    const struct figure figure = judge_model(s, s->residual, r);
    now.value += figure.value / repeats;
    const int squared = s->control->criterion == SQUARED;
    now.tie += (squared ? figure.value : judge_rows(s->pb, SQUARED, s->residual)) / repeats;
    se += figure.se / repeats;
    if (s->control->classes)
      error += judge_rows(s->pb, ERROR, s->residual) / repeats;
  }
  out->feature[entry] = (int)feature;
  out->size[entry] = size;
  out->loss[entry] = now.value;
  out->se[entry] = se;
  out->squared[entry] = now.tie;
  out->error[entry] = error;
  out->pivot[entry] = smallest_pivot(s);
  if (better(now, s->seen[size], none))
    s->seen[size] = now;
  if (size > s->control->k || !isfinite(now.value))
    return 0;
  const int old = out->model_entry[size];
  if (old < 0 || better(now, (struct score){out->loss[old], out->squared[old]}, none))
    keep_model(s, entry);
  if (!better(now, s->best, none) && (better(s->best, now, none) || size >= out->best))
    return 0;
  s->best = now;
  out->best = size;
  keep_residuals(s);
  return 1;
}

/* Whether column i is better than column o, or as good and the lower one. */
static int before(const struct state *s, int i, int o) {
  const struct score none = {0, 0};
  return better(s->score[i], s->score[o], none) ||
         (!better(s->score[o], s->score[i], none) && i < o);
}

/* The `keep` best additions that were not chosen, best first. */
static void record_others(struct state *s, ptrdiff_t chosen) {
  const int keep = s->control->keep;
  int *other = s->out->other + (ptrdiff_t)keep * s->out->moves, held = 0;
  double *loss = s->out->other_loss + (ptrdiff_t)keep * s->out->moves;
  for (ptrdiff_t at = 0; at < s->scored_count; at++) {
    const int i = s->scored[at];
    if (s->member[i] || i == chosen)
      continue;
    int p = held;
    while (p > 0 && before(s, i, other[p - 1]))
      p--;
    if (p == keep)
      continue;
    held += held < keep;
    memmove(other + p + 1, other + p, (size_t)(held - p - 1) * sizeof(int));
    other[p] = i;
  }
  for (int p = 0; p < keep; p++) {
    loss[p] = p < held ? s->score[other[p]].value : NAN;
    other[p] = p < held ? other[p] : -1;
  }
}

/* ---- search ---- */

/* Whether x is no worse than the best by more than a tie. */
static int ties(struct score x, struct score best, struct score tolerance) {
  return x.value <= best.value + tolerance.value && x.tie <= best.tie + tolerance.tie;
}

/* The best column to add (member = 0) or to drop (member = 1); of ties the lowest index; -1 if
   there is none. */
static ptrdiff_t best_move(const struct state *s, int member) {
  struct score best = {INFINITY, INFINITY};
  ptrdiff_t first = -1, lowest = -1; /* of those that tie, of all */
  for (ptrdiff_t p = 0; p < s->scored_count; p++)
    if (s->member[s->scored[p]] == member && s->score[s->scored[p]].value < best.value)
      best.value = s->score[s->scored[p]].value;
  for (ptrdiff_t p = 0; p < s->scored_count; p++) {
    const struct score one = s->score[s->scored[p]];
    if (s->member[s->scored[p]] == member && one.tie < best.tie &&
        one.value <= best.value + s->tolerance.value)
      best.tie = one.tie;
  }
  for (ptrdiff_t p = 0; p < s->scored_count; p++) {
    const ptrdiff_t i = s->scored[p];
    if (s->member[i] != member)
      continue;
    if (lowest < 0 || i < lowest)
      lowest = i;
    if (ties(s->score[i], best, s->tolerance) && (first < 0 || i < first))
      first = i;
  }
  return first < 0 ? lowest : first;
}

/* Floating: drop while that beats the best model of the smaller size seen so far. */
static int floating_drops(struct state *s, ptrdiff_t i) {
  struct score *seen = s->seen + s->size - 1;
  if (s->size < 2 || !better(s->score[i], *seen, s->tolerance))
    return 0;
  *seen = s->score[i];
  return 1;
}

/* Zhang 2009: drop when it costs at most nu times what the last addition to this size gained. */
static int forward_backward_drops(const struct state *s, ptrdiff_t i) {
  const double now = s->out->loss[s->out->moves], gain = s->gain[s->size];
  return s->size > 1 && gain > s->tolerance.value &&
         s->score[i].value - now <= s->control->nu * gain;
}

/* The column to move next, -1 when the search is over. */
static ptrdiff_t next_move(struct state *s) {
  const struct greedy_control *control = s->control;
  if (control->search == GIVEN)
    return s->size < control->k ? control->given[s->size] : -1;
  if (control->search == BACKWARD)
    return best_move(s, 1);
  const ptrdiff_t drop = best_move(s, 1);
  if (control->search == FLOATING && drop >= 0 && floating_drops(s, drop))
    return drop;
  if (control->search == FORWARD_BACKWARD && drop >= 0 && forward_backward_drops(s, drop))
    return drop;
  return s->size < control->k ? best_move(s, 0) : -1;
}

/* A move into or out of a nearly singular model loses digits, which later drops magnify: a nearly
   collinear column, or a fold without which the column is nearly interpolated. */
static int digits_at_risk(const struct state *s) {
  const double lambda = s->control->lambda, ill = 1e-3;
  const double left = s->member[s->b] ? s->kappa_b : -lambda * lambda / s->kappa_b;
  if (left < ill * (simd->dot(s->pb->m, s->x_b, s->x_b) + lambda))
    return 1;
  for (int r = 0; r < s->parts; r++)
    for (int f = 0; f < s->part[r].count; f++) {
      const double ratio = s->part[r].eta[f] / s->kappa_b;
      if (ratio < ill || ratio > 1 / ill)
        return 1;
    }
  return 0;
}

/* Searches that drop make the state afresh when digits are at risk, when the members become few
   enough for P, and from time to time in any case. */
static enum status refresh(struct state *s) {
  if (!drops(s->control))
    return COMPLETE;
  const int due = (s->since_start >= 8 && s->since_start >= s->size) ||
                  (!s->inverse_held && s->size <= s->inverse_order);
  if (!due && !digits_at_risk(s))
    return COMPLETE;
  s->b = -1;
  return start(s);
}

/* Nothing can follow, so the columns need not be brought up to date. */
static int finished(const struct state *s) {
  switch (s->control->search) {
  case FORWARD:
  case GIVEN:
    return s->size == s->control->k;
  case BACKWARD:
    return s->size == 0;
  default:
    return 0;
  }
}

static enum status search(struct state *s) {
  int since_best = 0;
  for (;;) {
    if (sweep(s))
      return INTERRUPTED;
    const ptrdiff_t b = next_move(s);
    if (b < 0)
      return COMPLETE;
    if (s->out->moves == s->control->limit)
      return MOVE_LIMIT;
    const double before = s->out->loss[s->out->moves];
    s->out->moves++;
    record_others(s, b);
    commit(s, b);
    const enum status status = refresh(s);
    if (status != COMPLETE) {
      s->out->moves--;
      return status;
    }
    since_best = record(s, b) ? 0 : since_best + 1;
    if (!isfinite(s->out->loss[s->out->moves])) {
      s->out->moves--;
      return s->control->criterion == USER ? INTERRUPTED : NOT_POSITIVE;
    }
    if (s->member[b])
      s->gain[s->size] = before - s->out->loss[s->out->moves];
    if (s->control->patience > 0 && since_best >= s->control->patience)
      return EARLY_STOP;
    if (finished(s))
      return COMPLETE;
  }
}

static void prepare(struct state *s) {
  const struct problem *pb = s->pb;
  const double inf = INFINITY;
  s->b = -1;
  s->best = (struct score){inf, inf};
  s->out->moves = 0;
  s->out->best = -1;
  for (ptrdiff_t i = 0; i < pb->n; i++) {
    s->usable += pb->usable[i] != 0;
    s->member[i] = s->control->search == BACKWARD && pb->usable[i];
    if (s->member[i])
      s->order[s->size++] = (int)i;
  }
  for (ptrdiff_t i = 0; i <= pb->n; i++) {
    s->seen[i] = s->best;
    s->gain[i] = 0;
  }
  for (int i = 0; i <= s->control->k; i++)
    s->out->model_entry[i] = -1;
  for (ptrdiff_t j = 0, p = 0, n = 0; j < pb->m && s->positives > 0; j++)
    if (pb->response[j] > 0)
      s->positive[p++] = (int)j;
    else
      s->negative[n++] = (int)j;
  /* no move is under way: sweeps take nothing from the columns */
  memset(s->c_b, 0, (size_t)pb->m * sizeof(double));
  for (int r = 0; r < s->parts; r++)
    memset(s->part[r].q, 0, (size_t)pb->m * sizeof(double));
  for (ptrdiff_t j = 0; j < pb->m; j++)
    s->total_weight += pb->root_w[j] * pb->root_w[j] * (double)pb->L;
}

enum status greedy_rls(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result) {
  struct state s = {.pb = pb, .folds = folds, .control = control, .host = host, .out = result};
  struct arena room = {work, 0};
  lay_out(&s, host->threads, &room);
  prepare(&s);
  result->work = (struct greedy_work_done){.dense_from = s.lazy == NULL ? 1 : -1};
  enum status status = COMPLETE;
  if (s.lazy != NULL)
    start_lazy(&s);
  else
    status = start(&s);
  if (status != COMPLETE)
    return status;
  record(&s, -1);
  /* a tie: a difference below 1e-12 of what there is to explain */
  s.tolerance.tie = 1e-12 * simd->dot(pb->m * pb->L, pb->y, pb->y) / s.total_weight;
  s.tolerance.value =
      control->criterion == SQUARED ? s.tolerance.tie : 1e-12 * fabs(result->loss[0]);
  return search(&s);
}
