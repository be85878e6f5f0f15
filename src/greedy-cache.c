/* The state of greedy RLS for a given set of columns, from scratch.

   With the QR factors of X_S above sqrt(lambda) I, R and the upper part T = X_S R^-1 of the
   orthonormal one, the scaled G is I - QQ' - TT'. When the set is larger than m the m x m matrix is
   inverted instead. O(mn) for the empty set, O(mn min(m, s)) for s columns, and for each fold H the
   Cholesky factor of the smaller of |H| and s + q. */
#include "blas.h"
#include "greedy-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* Columns that pass through BLAS together: no more than a tenth of a second of work between two
   polls, when each costs rows x inner products. */
static ptrdiff_t start_panel_width(ptrdiff_t rows, ptrdiff_t inner) {
  const double wanted = 5e7 / ((double)rows * (double)inner);
  return wanted < 1 ? 1 : wanted > PANEL ? PANEL : (ptrdiff_t)wanted;
}

static ptrdiff_t start_max_fold(const struct folds *folds) {
  ptrdiff_t h = 0;
  const int *start = folds->start;
  for (int r = 0; r < folds->repeats; start += folds->count[r] + 1, r++)
    for (int f = 0; f < folds->count[r]; f++)
      if (start[f + 1] - start[f] > h)
        h = start[f + 1] - start[f];
  return h;
}

/* The workspace of greedy_start() for a set of s columns. */
struct start_work {
  double *V;              /* m x (q + s), Q and T side by side; m x q when G is formed */
  double *stacked;        /* X_S above sqrt(lambda) I, (m + s) x s */
  double *square;         /* R (s x s), or G (m x m) when s > m */
  double *fold;           /* Cholesky factor of a fold */
  double *U;              /* V of a fold, |H| x (q + s) */
  double *panel, *panel2; /* as many rows as m or q + s, PANEL columns each */
};

static struct start_work start_lay_out(
    const struct problem *pb, const struct folds *folds, ptrdiff_t s, struct arena *arena) {
  const ptrdiff_t m = pb->m, dual = s > m, rank = pb->q + (dual ? 0 : s);
  const ptrdiff_t h = start_max_fold(folds), tall = greedy_max(m, rank) * PANEL;
  const ptrdiff_t order = dual ? m : s, fold = dual ? h : greedy_min(h, rank);
  return (struct start_work){.V = alloc_doubles(arena, m * rank),
      .stacked = alloc_doubles(arena, dual ? 0 : (m + s) * s),
      .square = alloc_doubles(arena, order * order),
      .fold = alloc_doubles(arena, fold * fold),
      .U = alloc_doubles(arena, h * rank),
      .panel = alloc_doubles(arena, tall),
      .panel2 = alloc_doubles(arena, tall)};
}

static size_t start_size(const struct problem *pb, const struct folds *folds, ptrdiff_t s) {
  struct arena count = arena_over(NULL);
  start_lay_out(pb, folds, s, &count);
  return count.used;
}

/* Both forms are measured, since a set of more than m columns may need less than one of m. */
size_t greedy_start_work(const struct problem *pb, const struct folds *folds, ptrdiff_t size) {
  const size_t of_size = start_size(pb, folds, size);
  const size_t of_m = start_size(pb, folds, greedy_min(size, pb->m));
  return of_size > of_m ? of_size : of_m;
}

static void start_column(struct greedy *s, ptrdiff_t i, double *scratch) {
  (void)scratch;
  double *C = s->C + i * s->pb->m;
  working_column(s->pb, i, C);
  s->kappa[i] = s->control->lambda + simd->dot(s->pb->m, C, C);
}

static int start_panel_in_play(const struct greedy *s, ptrdiff_t from, ptrdiff_t to) {
  for (ptrdiff_t i = from; i < to; i++)
    if (greedy_in_play(s, i) && !s->member[i])
      return 1;
  return 0;
}

/* Candidates, |S| <= m: C_i = x_i - T T'x_i and x_i'C_i = |C_i|^2 + lambda |R^-1 T'x_i|^2. */
static enum status start_candidates(struct greedy *s, const double *T, const double *R, double *W) {
  const ptrdiff_t m = s->pb->m, n = s->pb->n, k = s->size;
  const ptrdiff_t width = start_panel_width(m, k);
  const double lambda = s->control->lambda;
  for (ptrdiff_t from = 0; from < n; from += width) {
    const ptrdiff_t columns = greedy_min(n - from, width);
    double *C = s->C + from * m;
    if (!start_panel_in_play(s, from, from + columns))
      continue;
    blas_gemm(1, k, columns, m, 1, T, m, C, m, 0, W, k);
    blas_gemm(0, m, columns, k, -1, T, m, W, k, 1, C, m);
    blas_solve("L", 0, k, columns, R, W, k);
    for (ptrdiff_t i = 0; i < columns; i++)
      s->kappa[from + i] =
          lambda * (1 + simd->dot(k, W + i * k, W + i * k)) + simd->dot(m, C + i * m, C + i * m);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* Members, |S| <= m: C_i = lambda X_S A^-1 e_i = lambda T R^-T e_i and kappa_i = -lambda^2 |R^-T
   e_i|^2, in which nothing cancels however small lambda is. */
static enum status start_members(
    struct greedy *s, const double *T, const double *R, double *W, double *columns_out) {
  const ptrdiff_t m = s->pb->m, k = s->size;
  const ptrdiff_t width = start_panel_width(m, k);
  const double lambda = s->control->lambda;
  for (ptrdiff_t from = 0; from < k; from += width) {
    const ptrdiff_t columns = greedy_min(k - from, width);
    memset(W, 0, (size_t)(k * columns) * sizeof(double));
    for (ptrdiff_t j = 0; j < columns; j++)
      W[from + j + j * k] = 1;
    blas_solve("L", 1, k, columns, R, W, k);
    blas_gemm(0, m, columns, k, lambda, T, m, W, k, 0, columns_out, m);
    for (ptrdiff_t j = 0; j < columns; j++) {
      const ptrdiff_t i = s->order[from + j];
      memcpy(greedy_column(s, i), columns_out + j * m, (size_t)m * sizeof(double));
      s->kappa[i] = -lambda * lambda * simd->dot(k, W + j * k, W + j * k);
    }
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* X_S above sqrt(lambda) I := its orthonormal factor, R := the triangular one. Block Gram-Schmidt,
   each panel projected twice on the columns before it, which is enough; column j is zero below row
   m + j. */
static enum status start_factor(struct greedy *s, const struct start_work *work) {
  const ptrdiff_t m = s->pb->m, k = s->size, tall = m + k, width = start_panel_width(tall, k);
  double *Q = work->stacked, *R = work->square;
  memset(Q, 0, (size_t)(tall * k) * sizeof(double));
  memset(R, 0, (size_t)(k * k) * sizeof(double));
  for (ptrdiff_t from = 0; from < k; from += width) {
    const ptrdiff_t columns = greedy_min(k - from, width);
    double *P = Q + from * tall, *Rp = R + from * k, *S = work->panel;
    for (ptrdiff_t j = 0; j < columns; j++) {
      memcpy(P + j * tall, greedy_column(s, s->order[from + j]), (size_t)m * sizeof(double));
      P[m + from + j + j * tall] = sqrt(s->control->lambda);
    }
    for (int pass = 0; pass < 2 && from > 0; pass++) {
      blas_gemm(1, from, columns, m + from, 1, Q, tall, P, tall, 0, S, from);
      blas_gemm(0, m + from, columns, from, -1, Q, tall, S, from, 1, P, tall);
      for (ptrdiff_t j = 0; j < columns; j++)
        simd->shift(from, Rp + j * k, -1, S + j * from);
    }
    /* the panels are the workspace of LAPACK */
    if (lapack_qr(m + from + columns, columns, P, tall, Rp + from, k, work->panel, work->panel2,
            m * PANEL) != 0)
      return NOT_POSITIVE;
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* P = R^-1 R^-T, for searches that drop. O(s^3) */
static void start_inverse(struct greedy *s, const double *R) {
  const ptrdiff_t k = s->size, ld = s->inverse_order;
  double *P = s->inverse;
  s->inverse_valid = k <= ld;
  if (!s->inverse_valid)
    return;
  memcpy(P, R, (size_t)(k * k) * sizeof(double));
  lapack_cholesky_inverse(k, P);
  for (ptrdiff_t j = k - 1; j > 0 && k < ld; j--)
    memmove(P + j * ld, P + j * k, (size_t)k * sizeof(double));
}

/* The factors of a set of at most m columns, and what follows from them for the rows. */
static enum status start_primal(struct greedy *s, const struct start_work *work) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, k = s->size;
  double *T = work->V + pb->q * m, *R = work->square;
  const enum status status = start_factor(s, work);
  if (status != COMPLETE)
    return status;
  for (ptrdiff_t j = 0; j < k; j++)
    memcpy(T + j * m, work->stacked + j * (m + k), (size_t)m * sizeof(double));
  start_inverse(s, R);
  for (ptrdiff_t j = 0; j < k; j++) {
    const double *Tj = T + j * m;
    for (ptrdiff_t l = 0; l < pb->L; l++)
      simd->shift(m, s->a + l * m, simd->dot(m, Tj, pb->y + l * m), Tj);
    for (ptrdiff_t r = 0; r < m; r++)
      s->d[r] -= Tj[r] * Tj[r];
  }
  return COMPLETE;
}

static enum status start_primal_columns(struct greedy *s, const struct start_work *work) {
  const double *T = work->V + s->pb->q * s->pb->m, *R = work->square;
  const enum status status = start_candidates(s, T, R, work->panel);
  return status == COMPLETE ? start_members(s, T, R, work->panel, work->panel2) : status;
}

/* |S| > m: G = lambda (X_S X_S' + mu QQ' + lambda I)^-1 - lambda / (lambda + mu) QQ', with mu of
   the size of X_S X_S' so that subtracting the covariates' part again costs no digits. */
static enum status start_dual(struct greedy *s, const struct start_work *work) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, k = s->size;
  const double lambda = s->control->lambda;
  double *G = work->square, *panel = work->panel, mu = 0;
  const ptrdiff_t width = start_panel_width(m, m);
  memset(G, 0, (size_t)(m * m) * sizeof(double));
  for (ptrdiff_t from = 0; from < k; from += width) {
    const ptrdiff_t columns = greedy_min(k - from, width);
    for (ptrdiff_t j = 0; j < columns; j++)
      memcpy(panel + j * m, greedy_column(s, s->order[from + j]), (size_t)m * sizeof(double));
    blas_syrk(0, m, columns, 1, panel, m, 1, G);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  for (ptrdiff_t r = 0; r < m; r++)
    mu += G[r + r * m] / (double)m;
  blas_syrk(0, m, pb->q, mu, pb->Q, m, 1, G);
  for (ptrdiff_t r = 0; r < m; r++)
    G[r + r * m] += lambda;
  if (lapack_cholesky(m, G) != 0)
    return NOT_POSITIVE;
  lapack_cholesky_inverse(m, G);
  for (ptrdiff_t r = 0; r < m * m; r++)
    G[r] *= lambda;
  blas_gemm_trans_b(m, m, pb->q, -lambda / (lambda + mu), pb->Q, m, pb->Q, m, 1, G, m);
  if (pb->held != pb->Q) {
    blas_gemm_trans_b(m, m, pb->q, 1, pb->Q, m, pb->Q, m, 1, G, m);
    blas_gemm_trans_b(m, m, pb->q, -1, pb->held, m, pb->held, m, 1, G, m);
  }
  blas_gemm(0, m, pb->L, m, 1, G, m, pb->y, m, 0, s->a, m);
  for (ptrdiff_t r = 0; r < m; r++)
    s->d[r] = G[r + r * m];
  return COMPLETE;
}

static enum status start_dual_columns(struct greedy *s, const struct start_work *work) {
  const ptrdiff_t m = s->pb->m, n = s->pb->n, width = start_panel_width(m, m);
  const double *G = work->square, lambda = s->control->lambda;
  double *panel = work->panel;
  for (ptrdiff_t from = 0; from < n; from += width) {
    const ptrdiff_t columns = greedy_min(n - from, width);
    double *C = s->C + from * m;
    memcpy(panel, C, (size_t)(m * columns) * sizeof(double));
    blas_gemm(0, m, columns, m, 1, G, m, panel, m, 0, C, m);
    for (ptrdiff_t i = 0; i < columns; i++)
      s->kappa[from + i] =
          simd->dot(m, panel + i * m, C + i * m) + (s->member[from + i] ? -lambda : lambda);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* B (h x columns, leading dimension m) := (G_HH)^-1 B, for one fold. */
static enum status start_apply_fold(struct greedy *s, const struct greedy_fold_inverse *f,
    double *B, ptrdiff_t columns, double *panel) {
  const ptrdiff_t ldb = s->pb->m, width = start_panel_width(f->h, f->direct ? f->h : f->rank + 1);
  for (ptrdiff_t from = 0; from < columns; from += width) {
    const ptrdiff_t some = greedy_min(columns - from, width);
    double *P = B + from * ldb;
    if (f->direct) {
      blas_solve("L", 1, f->h, some, f->factor, P, ldb);
      blas_solve("L", 0, f->h, some, f->factor, P, ldb);
    } else if (f->rank > 0) {
      blas_gemm(1, f->rank, some, f->h, 1, f->U, f->h, P, ldb, 0, panel, f->rank);
      blas_gemm(0, f->h, some, f->rank, 1, f->U, f->h, panel, f->rank, 1, P, ldb);
    }
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

/* The inverse of G_HH, which is I - VV' on the fold's rows or a part of G, through the smaller of
   |H| and the rank of V. */
static int start_invert_fold(const struct greedy *s, const struct start_work *work, const int *rows,
    ptrdiff_t h, struct greedy_fold_inverse *f) {
  const ptrdiff_t m = s->pb->m, dual = s->size > m, rank = s->pb->q + (dual ? 0 : s->size);
  double *E = work->fold, *U = work->U;
  *f = (struct greedy_fold_inverse){dual || h <= rank, h, rank, E, U};
  if (!dual)
    for (ptrdiff_t l = 0; l < rank; l++)
      for (ptrdiff_t p = 0; p < h; p++)
        U[p + l * h] = work->V[rows[p] + l * m];
  if (f->direct) {
    for (ptrdiff_t j = 0; j < h; j++)
      for (ptrdiff_t i = 0; i <= j; i++)
        E[i + j * h] = dual ? work->square[rows[i] + rows[j] * m] : i == j;
    if (!dual)
      blas_syrk(0, h, rank, -1, U, h, 1, E);
    return lapack_cholesky(h, E);
  }
  if (rank == 0)
    return 0;
  for (ptrdiff_t j = 0; j < rank; j++)
    for (ptrdiff_t i = 0; i <= j; i++)
      E[i + j * rank] = i == j;
  blas_syrk(1, rank, h, -1, U, h, 1, E);
  const int info = lapack_cholesky(rank, E);
  if (info == 0)
    blas_solve("R", 0, h, rank, E, U, h);
  return info;
}

/* Where the columns of C are kept, those of D are made; else what makes them is kept. */
static enum status start_partition(
    struct greedy *s, const struct start_work *work, struct greedy_partition *part) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L, n = s->reread == NULL ? s->pb->n : 0;
  for (ptrdiff_t i = 0; i < n; i++)
    for (ptrdiff_t p = 0; p < m; p++)
      part->D[p + i * m] = s->C[part->order[p] + i * m];
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t p = 0; p < m; p++)
      part->g[p + l * m] = s->a[part->order[p] + l * m];
  for (int f = 0; f < part->count; f++) {
    const ptrdiff_t from = part->start[f], h = part->start[f + 1] - from;
    struct greedy_fold_inverse inverse;
    if (start_invert_fold(s, work, part->order + from, h, &inverse) != 0)
      return NOT_POSITIVE;
    part->pivot[f] =
        s->from_G ? 1 : lapack_min_pivot(inverse.direct ? h : inverse.rank, work->fold);
    if (start_apply_fold(s, &inverse, part->D + from, n, work->panel) != COMPLETE ||
        start_apply_fold(s, &inverse, part->g + from, L, work->panel) != COMPLETE)
      return INTERRUPTED;
    if (s->reread != NULL)
      reread_keep_fold(s, part, f, &inverse, work->fold);
  }
  return COMPLETE;
}

/* Entries of G between positive and negative rows. */
static void start_pairs(struct greedy *s, const struct start_work *work) {
  const ptrdiff_t m = s->pb->m, dual = s->size > m, rank = s->pb->q + (dual ? 0 : s->size);
  for (ptrdiff_t n = 0; n < s->negatives; n++)
    for (ptrdiff_t p = 0; p < s->positives; p++) {
      const ptrdiff_t i = s->positive[p], j = s->negative[n];
      double sum = dual ? work->square[i + j * m] : 0;
      for (ptrdiff_t l = 0; !dual && l < rank; l++)
        sum -= work->V[i + l * m] * work->V[j + l * m];
      s->pairs[p + n * s->positives] = sum;
    }
}

void greedy_start_rows(struct greedy *s) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m;
  memcpy(s->a, pb->y, (size_t)(m * pb->L) * sizeof(double));
  for (ptrdiff_t r = 0; r < m; r++) {
    s->d[r] = 1;
    for (ptrdiff_t l = 0; l < pb->q; l++)
      s->d[r] -= pb->held[r + l * m] * pb->held[r + l * m];
  }
}

/* The part of the state that needs the columns of the set alone, which are in C as they are in X.
 */
static enum status start_set(struct greedy *s, const struct start_work *work) {
  const ptrdiff_t m = s->pb->m;
  memcpy(work->V, s->pb->held, (size_t)(m * s->pb->q) * sizeof(double));
  greedy_start_rows(s);
  s->inverse_valid = s->size == 0;
  s->from_G = s->size > m;
  s->since_start = 0;
  if (s->size == 0)
    return COMPLETE;
  return s->from_G ? start_dual(s, work) : start_primal(s, work);
}

static enum status start_rows_held_out(struct greedy *s, const struct start_work *work) {
  for (int r = 0; r < s->parts; r++) {
    const enum status status = start_partition(s, work, s->part + r);
    if (status != COMPLETE)
      return status;
  }
  start_pairs(s, work);
  return COMPLETE;
}

enum status greedy_start(struct greedy *s) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  struct arena arena = arena_over(s->start_work);
  const struct start_work work = start_lay_out(pb, s->folds, s->size, &arena);
  memset(s->C, 0, (size_t)(m * n) * sizeof(double));
  if (greedy_each_column(s, (double)m, start_column) != COMPLETE)
    return INTERRUPTED;
  for (ptrdiff_t i = 0; i < n; i++)
    s->out->work.columns_read += greedy_in_play(s, i);
  enum status status = start_set(s, &work);
  if (status == COMPLETE && s->size > 0)
    status = s->from_G ? start_dual_columns(s, &work) : start_primal_columns(s, &work);
  if (status != COMPLETE)
    return status;
  memcpy(s->kappa_ref, s->kappa, (size_t)n * sizeof(double));
  for (ptrdiff_t i = 0; i < n; i++)
    for (ptrdiff_t l = 0; l < L; l++)
      s->t[i * L + l] = simd->dot(m, s->C + i * m, pb->y + l * m);
  return start_rows_held_out(s, &work);
}

enum status greedy_start_set(struct greedy *s, struct greedy_set *set) {
  const ptrdiff_t m = s->pb->m;
  struct arena arena = arena_over(s->start_work);
  const struct start_work work = start_lay_out(s->pb, s->folds, s->size, &arena);
  *set = (struct greedy_set){.T = work.V + s->pb->q * m, .square = work.square};
  enum status status = start_set(s, &work);
  if (status == COMPLETE && s->size > 0 && !s->from_G)
    status = start_members(s, set->T, set->square, work.panel, work.panel2);
  return status == COMPLETE ? start_rows_held_out(s, &work) : status;
}

/* ---- P follows a move ---- */

/* P := that of the members and b, the inverse of a bordered matrix; u = P X_S'x_b = C_S'x_b /
   lambda. O(m size) */
static void inverse_add(struct greedy *s) {
  const ptrdiff_t ld = s->inverse_order, k = s->size;
  double *P = s->inverse, *u = P + k * ld;
  if (k == ld) {
    s->inverse_valid = 0;
    return;
  }
  for (ptrdiff_t p = 0; p < k; p++)
    u[p] = simd->dot(s->pb->m, greedy_column(s, s->order[p]), s->x_b) / s->control->lambda;
  for (ptrdiff_t p = 0; p < k; p++)
    simd->shift(k, P + p * ld, -u[p] / s->kappa_b, u);
  for (ptrdiff_t p = 0; p < k; p++)
    P[k + p * ld] = u[p] /= -s->kappa_b;
  u[k] = 1 / s->kappa_b;
}

/* P := that of the members without b, and its column b by column of x. O(size^2) */
static void inverse_drop(struct greedy *s) {
  const ptrdiff_t ld = s->inverse_order, k = s->size;
  double *P = s->inverse, *out = P;
  ptrdiff_t pos = 0;
  while (s->order[pos] != s->b)
    pos++;
  const double *moved = P + pos * ld;
  for (ptrdiff_t p = 0; p < k; p++)
    s->inverse_b[s->order[p]] = moved[p];
  const double diagonal = moved[pos];
  for (ptrdiff_t p = 0; p < k; p++) {
    if (p == pos)
      continue;
    const double f = s->inverse_b[s->order[p]] / diagonal;
    for (ptrdiff_t r = 0, to = 0; r < k; r++)
      if (r != pos)
        out[to++] = P[r + p * ld] - f * s->inverse_b[s->order[r]];
    out += ld;
  }
}

void greedy_commit_inverse(struct greedy *s) {
  s->x_b_square = simd->dot(s->pb->m, s->x_b, s->x_b);
  s->c_b_square = simd->dot(s->pb->m, s->c_b, s->c_b);
  if (s->inverse_valid && s->dropped)
    inverse_drop(s);
  else if (s->inverse_valid)
    inverse_add(s);
}
