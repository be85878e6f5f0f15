/* Rows held out by folds in the greedy search that skips candidates.

   Adding column i, with c = C_i, changes the held-out residuals g_H of a fold to g_H - alpha_H q_H,

     q_H = M_H c_H,   eta_H = c_H'q_H,   alpha_H = (x_i'a - g_H'c_H) / (kappa_i - eta_H),

   M_H = (G_HH)^-1, so that the error is known without q_H: sum_H |g_H|^2 - 2 alpha_H c_H'w_H +
   alpha_H^2 |q_H|^2, w_H = M_H g_H. With U the rows H of an orthonormal basis Q of the covariates
   and of the scaled columns chosen, G_HH = I - UU' and q_H = c_H + U y, y = E^-1 U'c_H, E = I - U'U
   = LL'. A move appends a row to L, or adds a multiple of qq' to M; nothing is factored again.
   docs/greedy-skipping.md derives it. */
#include "blas.h"
#include "greedy-lazy.h"
#include "tolerance.h"
#include "triangle.h"
#include <float.h>
#include <string.h>

enum { FEW_ROWS = 8 };

/* ---- workspace ---- */

static ptrdiff_t fold_rows(const int *start, int f) {
  return start[f + 1] - start[f];
}

/* Doubles that the factor of a fold takes: M itself where that is smaller. */
static ptrdiff_t fold_factor_size(ptrdiff_t h, ptrdiff_t max_rank) {
  return h <= max_rank ? h * h : max_rank * max_rank;
}

/* Numbers, rows and memory of the folds of all repeats. */
static struct lazy_folds fold_count(const struct greedy *s, ptrdiff_t *factors) {
  struct lazy_folds folds = {
      .repeats = s->folds->repeats, .max_rank = s->pb->q + s->control->k, .rank = s->pb->q};
  const int *start = s->folds->start;
  *factors = 0;
  for (int r = 0; r < s->folds->repeats; start += s->folds->count[r] + 1, r++)
    for (int f = 0; f < s->folds->count[r]; f++) {
      const ptrdiff_t h = fold_rows(start, f);
      folds.max_h = greedy_max(folds.max_h, h);
      folds.count++;
      *factors += fold_factor_size(h, folds.max_rank);
    }
  folds.stride = 3 + 3 * s->pb->L + 2 * folds.max_rank;
  folds.work_size = folds.max_h + 3 * folds.max_rank;
  return folds;
}

/* Hands the parts of U, w, Mq and the factors to the folds. */
static void fold_share_out(
    struct greedy *s, struct lazy_folds *folds, double *U, double *w, double *Mq, double *factor) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  struct lazy_fold *fold = folds->fold;
  for (int r = 0; r < s->parts; r++, U += m * folds->max_rank, w += m * L, Mq += m) {
    const struct greedy_partition *part = s->part + r;
    for (int f = 0; f < part->count; f++, fold++) {
      const ptrdiff_t from = part->start[f], h = fold_rows(part->start, f);
      *fold = (struct lazy_fold){.h = h,
          .rows = part->order + from,
          .direct = h <= folds->max_rank,
          .factor = factor,
          .U = U + from * folds->max_rank,
          .g = part->g + from,
          .w = w + from,
          .c = part->c + from,
          .q = part->q + from,
          .Mq = Mq + from,
          .eta = part->eta + f,
          .pivot = part->pivot + f};
      factor += fold_factor_size(h, folds->max_rank);
    }
  }
}

double fold_dense_size(const struct problem *pb, const struct folds *folds) {
  return (double)pb->m * (double)pb->n * (1 + folds->repeats);
}

static void fold_lay_out(struct greedy *s, int threads, struct arena *arena) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  ptrdiff_t factors;
  struct lazy_folds folds = fold_count(s, &factors), *place;
  const int rereads = s->control->rereads;
  folds.can_sweep =
      !s->control->shard && (rereads || (lazy_count_slots(s->pb) == s->pb->n &&
                                            fold_dense_size(s->pb, s->folds) <= FOLD_MOST_VALUES));
  lazy_lay_out(s, threads, arena);
  greedy_lay_out_parts(s, rereads ? 1 : folds.can_sweep ? s->pb->n : 0, arena);
  const ptrdiff_t rows = m * folds.repeats;
  place = arena_alloc(arena, 1, sizeof folds);
  folds.fold = arena_alloc(arena, folds.count, sizeof *folds.fold);
  folds.fold_of = alloc_ints(arena, rows);
  folds.move = alloc_doubles(arena, folds.stride * folds.count);
  folds.weight = alloc_doubles(arena, folds.count);
  folds.P = alloc_doubles(arena, folds.count);
  folds.inverse_null = alloc_doubles(arena, folds.count);
  folds.sums = alloc_doubles(arena, CHUNK * folds.count);
  const ptrdiff_t wL = L * lazy_part_count(s);
  folds.phi = alloc_doubles(arena, wL);
  folds.top_phi = alloc_doubles(arena, wL);
  folds.nu = alloc_doubles(arena, wL);
  double *U = alloc_doubles(arena, rows * folds.max_rank), *w = alloc_doubles(arena, rows * L);
  double *Mq = alloc_doubles(arena, rows), *factor = alloc_doubles(arena, factors);
  tile_lay_out(s, &folds, threads, arena);
  recur_lay_out(s, &folds, arena);
  s->scratch_size = (size_t)(m + folds.work_size + recurrence_numbers(L));
  s->max_start = greedy_max(s->max_start, s->control->k);
  if (arena->base == NULL)
    return;
  fold_share_out(s, &folds, U, w, Mq, factor);
  *place = folds;
  s->lazy->folds = place;
}

/* ---- the inverse of one fold ---- */

/* a'b. A few rows are not worth a call of a loop over vectors. */
static inline double fold_dot(ptrdiff_t h, const double *a, const double *b) {
  double sum = 0;
  if (h > FEW_ROWS)
    return simd->dot(h, a, b);
  for (ptrdiff_t p = 0; p < h; p++)
    sum += a[p] * b[p];
  return sum;
}

/* out (h) := M v, where M is kept. */
static void fold_multiply(const struct lazy_fold *fold, const double *v, double *out) {
  const ptrdiff_t h = fold->h;
  if (h > FEW_ROWS)
    simd->dots(h, v, h, fold->factor, h, out);
  for (ptrdiff_t p = 0; p < h && h <= FEW_ROWS; p++)
    out[p] = fold_dot(h, v, fold->factor + p * h);
}

/* c'q and |q|^2 of q = M c. By the factor only positive terms are added up, and z := L^-1 U'c, y :=
   E^-1 U'c; where M is kept y (h) := q. */
static struct fold_dots fold_dots_of(const struct lazy_folds *folds, const struct lazy_fold *fold,
    const double *c, double *z, double *y) {
  const ptrdiff_t h = fold->h, rank = folds->rank;
  if (fold->direct) {
    fold_multiply(fold, c, y);
    return (struct fold_dots){fold_dot(h, c, y), fold_dot(h, y, y)};
  }
  simd->dots(h, c, rank, fold->U, h, z);
  solve_transposed(rank, fold->factor, folds->max_rank, z);
  memcpy(y, z, (size_t)rank * sizeof(double));
  solve_upper(rank, fold->factor, folds->max_rank, y);
  const double eta = fold_dot(h, c, c) + simd->dot(rank, z, z);
  return (struct fold_dots){eta, eta + simd->dot(rank, y, y)};
}

void fold_numbers(const struct greedy *s, const struct lazy_fold *fold, const double *c,
    double *work, double *numbers) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t h = fold->h, m = s->pb->m;
  double *z = work + h, *y = z + folds->max_rank;
  for (ptrdiff_t p = 0; p < h; p++)
    work[p] = c[fold->rows[p]];
  const struct fold_dots dots = fold_dots_of(folds, fold, work, z, y);
  numbers[0] = dots.cq;
  numbers[1] = dots.qq;
  for (ptrdiff_t l = 0; l < s->pb->L; l++) {
    numbers[2 + 2 * l] = fold_dot(h, fold->g + l * m, work);
    numbers[3 + 2 * l] = fold_dot(h, fold->w + l * m, work);
  }
}

/* ---- scores ---- */

/* What adding column i, whose numbers these are, adds to the error of a fold. */
static double fold_change(const struct greedy *s, ptrdiff_t i, const double *numbers) {
  const struct greedy_bounds *bounds = &s->lazy->bounds;
  const double inverse = 1 / (bounds->kappa[i] - numbers[0]);
  double change = 0;
  for (ptrdiff_t l = 0; l < s->pb->L; l++) {
    const double alpha = (bounds->g[i + l * s->pb->n] - numbers[2 + 2 * l]) * inverse;
    change += alpha * (alpha * numbers[1] - 2 * numbers[3 + 2 * l]);
  }
  return change;
}

double fold_total(const struct greedy *s, const double *change, ptrdiff_t stride) {
  const struct lazy_folds *folds = s->lazy->folds;
  struct ratio_tally tally = {0};
  double sum = s->lazy->P;
  for (ptrdiff_t f = 0; f < folds->count; f++) {
    sum += change[f * stride];
    if (lazy_is_of_groups(s) && folds->inverse_null[f] > 0)
      criterion_tally(&tally, folds->inverse_null[f] * (folds->P[f] + change[f * stride]));
  }
  return lazy_is_of_groups(s) ? lazy_weight(s) * criterion_of_tally(s->control->criterion, &tally)
                              : sum;
}

/* Each fold's changes are one thread's; they are added up in the order of the folds. */
static void fold_score(struct greedy *s, const int *list, const struct lazy_downdate *downdate) {
  const struct lazy_folds *folds = s->lazy->folds;
  const int threads = s->host->threads, count = downdate->count;
  const ptrdiff_t products = s->pb->m * (folds->rank + 3) * folds->repeats * count;
  lazy_apply(s, downdate);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && products > PARALLEL_FROM)
#endif
  for (int t = 0; t < threads; t++) {
    double *work = s->scratch + (size_t)t * s->scratch_size, *numbers = work + folds->work_size;
    for (ptrdiff_t f = t; f < folds->count; f += threads)
      for (int p = 0; p < count; p++) {
        fold_numbers(s, folds->fold + f, downdate->x[p], work, numbers);
        folds->sums[p + f * CHUNK] = fold_change(s, list[p], numbers);
      }
  }
  (void)products;
  for (int p = 0; p < count; p++)
    s->lazy->bound[list[p]] = fold_total(s, folds->sums + p, CHUNK);
}

/* ---- a move ---- */

/* q := M c and Mq, one block of rows after the other, of a fold with a factor; y := U'q on entry
   E^-1 U'c, which is the same, and y2 := U'Mq. */
static void fold_multiply_twice(
    const struct lazy_folds *folds, struct lazy_fold *fold, double *y, double *y2) {
  const ptrdiff_t h = fold->h, rank = folds->rank;
  memcpy(y2, y, (size_t)rank * sizeof(double));
  solve_transposed(rank, fold->factor, folds->max_rank, y2);
  solve_upper(rank, fold->factor, folds->max_rank, y2);
  for (ptrdiff_t l = 0; l < rank; l++) { /* shift_all() subtracts */
    y[l] = -y[l];
    y2[l] = -y2[l];
  }
  for (ptrdiff_t row = 0; row < h; row += ROWS) {
    const ptrdiff_t rows = greedy_min(h - row, ROWS);
    memcpy(fold->q + row, fold->c + row, (size_t)rows * sizeof(double));
    simd->shift_all(rows, fold->q + row, rank, fold->U + row, h, y);
    memcpy(fold->Mq + row, fold->q + row, (size_t)rows * sizeof(double));
    simd->shift_all(rows, fold->Mq + row, rank, fold->U + row, h, y2);
  }
  for (ptrdiff_t l = 0; l < rank; l++) {
    y[l] = -y[l];
    y2[l] = -y2[l];
  }
}

/* U, M and the moments of its eigenvalues follow a move. z: L^-1 U'c; scale: 1 / (kappa - eta). */
static void fold_update_inverse(const struct greedy *s, struct lazy_fold *fold, const double *z,
    struct fold_dots dots, double scale) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t h = fold->h, rank = folds->rank;
  const double root = sqrt(1 / s->kappa_b), qMq = fold_dot(h, fold->q, fold->Mq);
  fold->trace += scale * dots.qq;
  fold->square += scale * (2 * (qMq - dots.qq) + scale * dots.qq * dots.qq);
  for (ptrdiff_t p = 0; p < h; p++)
    fold->U[p + rank * h] = root * fold->c[p];
  if (fold->direct) {
    for (ptrdiff_t p = 0; p < h; p++)
      simd->shift(h, fold->factor + p * h, -scale * fold->q[p], fold->q);
    return;
  }
  double *row = fold->factor + rank * folds->max_rank;
  for (ptrdiff_t l = 0; l < rank; l++)
    row[l] = -root * z[l];
  row[rank] = sqrt(fmax(1 - dots.cq / s->kappa_b, DBL_EPSILON)); /* rounding may leave nothing */
}

/* One fold: what the recurrences need of the move; g, w, U and M follow it. work: 3 max_rank. */
static void fold_commit_one(struct greedy *s, ptrdiff_t f, double *work) {
  const struct lazy_folds *folds = s->lazy->folds;
  struct lazy_fold *fold = folds->fold + f;
  const ptrdiff_t h = fold->h, m = s->pb->m, L = s->pb->L, rank = folds->rank;
  double *z = work, *y = z + folds->max_rank, *y2 = y + folds->max_rank;
  double *move = folds->move + f * folds->stride;
  for (ptrdiff_t p = 0; p < h; p++)
    fold->c[p] = s->c_b[fold->rows[p]];
  const struct fold_dots dots = fold_dots_of(folds, fold, fold->c, z, fold->direct ? fold->q : y);
  if (fold->direct) {
    fold_multiply(fold, fold->q, fold->Mq);
    simd->dots(h, fold->q, rank, fold->U, h, y);
    simd->dots(h, fold->Mq, rank, fold->U, h, y2);
  } else {
    fold_multiply_twice(folds, fold, y, y2);
  }
  *fold->eta = s->kappa_b - dots.cq;
  if (*fold->eta == 0) /* all digits are lost */
    *fold->eta = DBL_EPSILON * s->kappa_b;
  const double scale = 1 / *fold->eta, share = *fold->eta / s->kappa_b;
  if (share < GREEDY_FOLD_SCALE)
    *fold->pivot = fmin(1, *fold->pivot * share);
  move[0] = scale;
  move[1] = dots.cq;
  move[2] = dots.qq;
  for (ptrdiff_t l = 0; l < L; l++) {
    double *g = fold->g + l * m, *w = fold->w + l * m, *output = move + 3 + 3 * l;
    output[0] = fold_dot(h, g, fold->c);
    output[1] = fold_dot(h, w, fold->c);
    output[2] = scale * (s->t_b[l] - output[0]);
    /* M follows by scale qq': w is M g for both */
    simd->shift(h, g, output[2], fold->q);
    simd->shift(h, w, output[2], fold->Mq);
    simd->shift(h, w, -scale * (output[1] - output[2] * dots.qq), fold->q);
  }
  for (ptrdiff_t l = 0; l < rank; l++) {
    move[3 + 3 * L + 2 * l] = y[l];
    move[4 + 3 * L + 2 * l] = y2[l];
  }
  fold_update_inverse(s, fold, z, dots, scale);
}

static void fold_commit(struct greedy *s) {
  struct lazy_folds *folds = s->lazy->folds;
  const int threads = s->host->threads;
  const ptrdiff_t products = s->pb->m * folds->repeats * (8 + 3 * folds->rank);
  greedy_commit_rows(s);
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)                                                      \
    schedule(static) if (threads > 1 && products > PARALLEL_FROM)
#endif
  for (int t = 0; t < threads; t++)
    for (ptrdiff_t f = t; f < folds->count; f += threads)
      fold_commit_one(s, f, s->scratch + (size_t)t * s->scratch_size);
  (void)products;
  folds->rank++;
}

/* ---- what bounds need of the folds ---- */

/* Bounds of the eigenvalues of M: all but `rank` are 1, and those have a known sum and a known sum
   of squares (Samuelson's inequality). */
static void fold_bound_eigenvalues(const struct lazy_folds *folds, struct lazy_fold *fold) {
  const double rank = (double)greedy_min(fold->h, folds->rank);
  fold->min_eigen = fold->max_eigen = 1;
  if (rank == 0)
    return;
  const double mean = fold->trace / rank, variance = fold->square / rank - mean * mean;
  const double reach = sqrt((rank - 1) * fmax(variance, 0));
  fold->max_eigen = (1 + mean + reach) * (1 + FOLD_EIGEN_MARGIN);
  if (fold->h <= folds->rank)
    fold->min_eigen = fmax(1, (1 + mean - reach) * (1 - FOLD_EIGEN_MARGIN));
}

/* Of one output: phi = |g||Mg| - g'Mg, which is 0 where M is a multiple of I, and nu, by which its
   root grows with the length of a change of g. */
static void fold_bound_output(
    const struct greedy *s, const struct lazy_fold *fold, ptrdiff_t l, double *phi, double *nu) {
  const ptrdiff_t h = fold->h, m = s->pb->m;
  const double *g = fold->g + l * m, *w = fold->w + l * m;
  const double length = sqrt(fold_dot(h, g, g)), product = sqrt(fold_dot(h, w, w));
  const double tau = length > 0 ? product / length : fold->max_eigen;
  const double off = fmax(fold->max_eigen - tau, tau - fold->min_eigen);
  *phi = fmax(0, length * product * (1 + FOLD_EIGEN_MARGIN) - fold_dot(h, g, w));
  *nu = h == 1 ? 0 : fold->max_eigen * fmax(0, off) / sqrt(2 * tau);
  if (h == 1)
    *phi = 0;
}

void fold_put_w(const struct greedy *s, ptrdiff_t H, ptrdiff_t l, double *v) {
  const struct lazy_fold *fold = s->lazy->folds->fold + H;
  memset(v, 0, (size_t)s->pb->m * sizeof(double));
  for (ptrdiff_t p = 0; p < fold->h; p++)
    v[fold->rows[p]] = fold->w[p + l * s->pb->m];
}

void fold_split_w(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double rest = 0;
  lazy->w_norm = 0;
  for (ptrdiff_t i = 0; i < L * lazy->parts; i++) {
    const struct lazy_fold *fold = lazy->folds->fold + i / L;
    const double *w = fold->w + i % L * m, *w_ref = lazy->w_ref + i % L * m;
    double along = 0, square = 0, off = 0;
    for (ptrdiff_t p = 0; p < fold->h; p++) {
      along += w[p] * w_ref[fold->rows[p]];
      square += w_ref[fold->rows[p]] * w_ref[fold->rows[p]];
    }
    const double theta = lazy->exact ? 1 : square > 0 ? along / square : 0;
    for (ptrdiff_t p = 0; p < fold->h && !lazy->exact; p++)
      off += pow(w[p] - theta * w_ref[fold->rows[p]], 2);
    lazy->theta0[i] = theta;
    lazy->theta1[i] = 0;
    lazy->rest_norm[i] = sqrt(off);
    rest += lazy->rest_norm[i];
    lazy->w_norm += fabs(theta) * sqrt(square);
  }
  lazy->exact |= rest <= BOUNDS_NO_REST * lazy->w_norm;
  lazy->w_norm += rest;
}

/* w in the order of the rows, added up over the repeats. */
static void fold_gather_w(struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  double *w = s->lazy->w;
  memset(w, 0, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t f = 0; f < folds->count; f++) {
    const struct lazy_fold *fold = folds->fold + f;
    for (ptrdiff_t l = 0; l < L; l++)
      for (ptrdiff_t p = 0; p < fold->h; p++)
        w[fold->rows[p] + l * m] += fold->w[p + l * m];
  }
}

/* The error of each fold of its own. */
static void fold_measure_each(struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  for (ptrdiff_t f = 0; f < folds->count; f++) {
    const struct lazy_fold *fold = folds->fold + f;
    folds->P[f] = 0;
    for (ptrdiff_t l = 0; l < s->pb->L; l++)
      folds->P[f] += fold_dot(fold->h, fold->g + l * s->pb->m, fold->g + l * s->pb->m);
  }
}

/* c_ref of the newest move. */
static void fold_refer_c(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  memset(lazy->c_ref, 0, (size_t)(L * lazy->parts) * sizeof(double));
  for (ptrdiff_t l = 0; l < L && s->size > 0 && lazy->parts == 1; l++)
    lazy->c_ref[l] = simd->dot(m, s->c_b, lazy->w_ref + l * m);
  for (ptrdiff_t i = 0; i < L * lazy->parts && s->size > 0 && lazy->parts > 1; i++) {
    const struct lazy_fold *fold = lazy->folds->fold + i / L;
    for (ptrdiff_t p = 0; p < fold->h; p++)
      lazy->c_ref[i] += fold->c[p] * lazy->w_ref[fold->rows[p] + i % L * m];
  }
}

static void fold_measure(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  struct lazy_folds *folds = lazy->folds;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  lazy->P = 0;
  for (int r = 0; r < s->parts; r++)
    lazy->P += simd->dot(m * L, s->part[r].g, s->part[r].g);
  if (lazy_is_of_groups(s))
    fold_measure_each(s);
  folds->min_eigen = INFINITY;
  folds->max_eigen = 1;
  const size_t phis = (size_t)(L * lazy->parts) * sizeof(double);
  memset(folds->phi, 0, phis);
  memset(folds->top_phi, 0, phis);
  memset(folds->nu, 0, phis);
  for (ptrdiff_t f = 0; f < folds->count; f++) {
    fold_bound_eigenvalues(folds, folds->fold + f);
    folds->min_eigen = fmin(folds->min_eigen, folds->fold[f].min_eigen);
    folds->max_eigen = fmax(folds->max_eigen, folds->fold[f].max_eigen);
  }
  for (ptrdiff_t l = 0; l < L; l++)
    for (int r = 0, f = 0; r < s->parts; r++) {
      double top = 0;
      for (const int end = f + s->part[r].count; f < end; f++) {
        const ptrdiff_t at = lazy->parts > 1 ? l + f * L : l;
        double phi, nu;
        fold_bound_output(s, folds->fold + f, l, &phi, &nu);
        folds->phi[at] += phi;
        folds->nu[at] = fmax(folds->nu[at], nu);
        top = fmax(top, phi);
      }
      folds->top_phi[l] += top;
    }
  lazy->inverse_d2 = folds->min_eigen * folds->min_eigen * (double)folds->repeats;
  fold_gather_w(s);
  fold_refer_c(s);
  lazy->exact = 0;
}

/* ---- the empty set ---- */

/* E = I - Q'Q or G_HH = I - QQ' on the rows of a fold, factored; or M itself. Not zero where the
   covariates are not determined without the fold. */
static int fold_start_inverse(const struct lazy_folds *folds, struct lazy_fold *fold) {
  const ptrdiff_t h = fold->h, rank = folds->rank, order = fold->direct ? h : rank;
  double *E = fold->factor;
  *fold->pivot = 1;
  if (order == 0)
    return 0;
  for (ptrdiff_t j = 0; j < order; j++)
    for (ptrdiff_t i = 0; i < order; i++)
      E[i + j * order] = i == j;
  blas_syrk(!fold->direct, order, fold->direct ? rank : h, -1, fold->U, h, 1, E);
  if (lapack_cholesky(order, E) != 0)
    return 1;
  *fold->pivot = lapack_min_pivot(order, E);
  if (fold->direct)
    lapack_cholesky_inverse(order, E);
  else /* the rows of L are the columns of the upper factor */
    for (ptrdiff_t j = order - 1; j > 0; j--)
      memmove(E + j * folds->max_rank, E + j * order, (size_t)order * sizeof(double));
  return 0;
}

/* The moments of the eigenvalues of M - I, from M itself or from E^-1 - I, which has the same but
   for those that are 0. y: rank. */
static void fold_start_moments(const struct lazy_folds *folds, struct lazy_fold *fold, double *y) {
  const ptrdiff_t order = fold->direct ? fold->h : folds->rank;
  fold->trace = fold->square = 0;
  for (ptrdiff_t j = 0; j < order; j++) {
    const double *column = fold->factor + j * order;
    if (!fold->direct) {
      memset(y, 0, (size_t)order * sizeof(double));
      y[j] = 1;
      solve_transposed(folds->rank, fold->factor, folds->max_rank, y);
      solve_upper(folds->rank, fold->factor, folds->max_rank, y);
      column = y;
    }
    fold->trace += column[j] - 1;
    fold->square += simd->dot(order, column, column) - 2 * column[j] + 1;
  }
}

/* out := M v. */
static void fold_apply(const struct lazy_folds *folds, const struct lazy_fold *fold,
    const double *v, double *out, double *work) {
  const ptrdiff_t h = fold->h;
  double *y = work + folds->max_rank;
  if (fold->direct) {
    fold_multiply(fold, v, out);
    return;
  }
  fold_dots_of(folds, fold, v, work, y);
  memcpy(out, v, (size_t)h * sizeof(double));
  for (ptrdiff_t l = 0; l < folds->rank; l++)
    simd->shift(h, out, -y[l], fold->U + l * h);
}

/* U, M, g := M a_H and w := M g. */
static int fold_start(struct greedy *s, struct lazy_fold *fold) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t h = fold->h, m = s->pb->m;
  for (ptrdiff_t l = 0; l < s->pb->q; l++)
    for (ptrdiff_t p = 0; p < h; p++)
      fold->U[p + l * h] = s->pb->held[fold->rows[p] + l * m];
  if (fold_start_inverse(folds, fold) != 0)
    return 1;
  fold_start_moments(folds, fold, s->scratch);
  for (ptrdiff_t l = 0; l < s->pb->L; l++) {
    double *g = fold->g + l * m, *w = fold->w + l * m;
    for (ptrdiff_t p = 0; p < h; p++)
      w[p] = s->a[fold->rows[p] + l * m];
    fold_apply(folds, fold, w, g, s->scratch);
    fold_apply(folds, fold, g, w, s->scratch);
  }
  return 0;
}

/* Whether the products with the parts of w are made while the lengths of the columns are: one
   reading adds up the products with all outputs and with the covariate. */
static int fold_multiplies_parts(const struct greedy *s) {
  return s->lazy->parts > 1 && s->pb->q <= 1 && s->pb->L <= 2 && s->control->shared == NULL;
}

/* What a tile is multiplied with: the covariate, and w of up to two outputs; folds->sums := the
   products of the covariate with the parts of w. */
static void fold_fill_parts(struct greedy *s) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m, count = folds->count;
  double *sums = folds->v_sums, *along = folds->sums;
  memset(sums, 0, (size_t)(2 * count + 1) * sizeof(double));
  memset(along, 0, (size_t)(2 * count) * sizeof(double));
  memset(folds->v, 0, (size_t)(3 * m) * sizeof(double));
  for (ptrdiff_t f = 0; f < count; f++)
    for (ptrdiff_t p = 0; p < folds->fold[f].h; p++) {
      const ptrdiff_t row = folds->fold[f].rows[p];
      const double root_w = s->pb->root_w[row], q = s->pb->q > 0 ? s->pb->Q[row] : 0;
      sums[2 * count] += folds->v[3 * row] = root_w * q;
      for (ptrdiff_t l = 0; l < s->pb->L; l++) {
        const double w = folds->fold[f].w[p + l * m];
        sums[2 * f + l] += folds->v[3 * row + 1 + l] = root_w * w;
        along[2 * f + l] += q * w;
      }
    }
}

/* The products of all candidates with the parts of w, as they are before any move, or what these
   will be made of. */
static enum status fold_begin_parts(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t count = lazy_list_candidates(s, lazy->list);
  lazy_refer_to_w(s);
  if (fold_multiplies_parts(s)) {
    const ptrdiff_t values = s->pb->n * s->pb->L * lazy->parts;
    memset(lazy->bounds.Cw, 0, (size_t)values * sizeof(double));
    fold_fill_parts(s);
    return COMPLETE;
  }
  return lazy_products(s, lazy->list, count, lazy_aim_at_w(s, 0, lazy->bounds.Cw));
}

/* Products of the candidates of a tile with the parts of w. */
static void fold_multiply_tile(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, columns = greedy_min(FOLD_TILE, n - from);
  tile_products(s, from, scratch);
  for (ptrdiff_t i = 0; i < columns; i++)
    for (ptrdiff_t at = 0; at < L * folds->count && lazy_is_candidate(s, from + i); at++) {
      const ptrdiff_t sum = 2 * (at / L) + at % L;
      s->lazy->bounds.Cw[from + i + at * n] =
          scratch->sums[i + sum * FOLD_TILE] - folds->sums[sum] * scratch->total[i];
    }
}

/* fold_norm := the largest length of a column's rows of one fold, as they are read. */
static void fold_measure_tile(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch) {
  const struct lazy_folds *folds = s->lazy->folds;
  double *norm = s->lazy->bounds.fold_norm + from, *sums = scratch->sums;
  const ptrdiff_t columns = greedy_min(FOLD_TILE, s->pb->n - from);
  tile_squares(s, from, scratch);
  for (ptrdiff_t i = 0; i < columns; i++) {
    norm[i] = 0;
    for (ptrdiff_t f = 0; f < folds->count; f++)
      norm[i] = fmax(norm[i], sums[i + f * FOLD_TILE]);
    norm[i] = sqrt(norm[i]);
  }
  if (fold_multiplies_parts(s))
    fold_multiply_tile(s, from, scratch);
}

/* The covariates take from the rows of a fold no more than the root of 1 - 1 / max_eigen of all
   that they take from the column. */
static enum status fold_measure_columns(struct greedy *s) {
  const struct problem *pb = s->pb;
  const double share = sqrt(1 - 1 / s->lazy->folds->max_eigen);
  struct greedy_shared *shared = s->control->shared;
  double *norm = s->lazy->bounds.fold_norm;
  if (shared != NULL && shared->measured) {
    memcpy(norm, shared->fold_norm, (size_t)pb->n * sizeof(double));
    return COMPLETE;
  }
  if (tile_each(s, (double)pb->m, fold_measure_tile) != COMPLETE)
    return INTERRUPTED;
  s->out->work.columns_read += (double)s->usable_count;
  for (ptrdiff_t i = 0; i < pb->n; i++)
    norm[i] =
        (1 + FOLD_EIGEN_MARGIN) * (norm[i] + share * sqrt(fmax(0, pb->squares[i] - pb->rss[i])));
  if (shared != NULL) {
    memcpy(shared->fold_norm, norm, (size_t)pb->n * sizeof(double));
    shared->measured = 1;
  }
  return COMPLETE;
}

/* What divides the error of a fold that is a group. */
static void fold_start_null(const struct greedy *s, ptrdiff_t f) {
  const struct row_groups *groups = &s->control->row_groups;
  const struct lazy_folds *folds = s->lazy->folds;
  const double null = groups->count > 0 ? groups->null[groups->of[folds->fold[f].rows[0]]] : 0;
  folds->inverse_null[f] = null > 0 ? 1 / (null * (double)s->pb->L) : 0;
}

static const struct lazy_rows fold_held_out = {
    .commit = fold_commit, .measure = fold_measure, .score = fold_score};

static enum status fold_begin(struct greedy *s) {
  struct lazy_folds *folds = s->lazy->folds;
  const ptrdiff_t m = s->pb->m;
  if (lazy_begin(s) != COMPLETE)
    return INTERRUPTED;
  s->lazy->held_out = &fold_held_out;
  for (ptrdiff_t r = 0, f = 0; r < s->parts; r++)
    for (const ptrdiff_t end = f + s->part[r].count; f < end; f++) {
      const struct lazy_fold *fold = folds->fold + f;
      folds->weight[f] = 0;
      fold_start_null(s, f);
      for (ptrdiff_t p = 0; p < fold->h; p++) {
        folds->fold_of[fold->rows[p] + r * m] = (int)f;
        folds->weight[f] += case_weight(s->pb, fold->rows[p]);
      }
      if (fold_start(s, folds->fold + f) != 0)
        return NOT_POSITIVE;
    }
  fold_measure(s);
  const int parts = s->lazy->parts > 1, groups = lazy_is_of_groups(s);
  const int at_once = s->control->skipping == SKIP_BY_RECURRENCE || (groups && !parts);
  if (at_once && folds->can_recur)
    return recur_begin(s);
  if (parts && fold_begin_parts(s) != COMPLETE)
    return INTERRUPTED;
  return fold_measure_columns(s);
}

const struct greedy_engine greedy_lazy_folds = {.lay_out = fold_lay_out,
    .begin = fold_begin,
    .sweep = lazy_sweep,
    .commit = lazy_commit,
    .coefficients = lazy_coefficients,
    .hold_out = greedy_folds_hold_out,
    .keep_residuals = greedy_folds_keep_residuals,
    .min_pivot = greedy_folds_min_pivot};
