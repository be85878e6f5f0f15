/* The greedy choice of the centres of a kernel expansion by held-out error.

   With P = X_R'X_R + lambda K_RR for the centres R chosen, Delta_h = P^-1 (X_R'x_h + lambda K_Rh),
   every candidate h keeps C_h = x_h - X_R Delta_h, its Schur complement s_h in P and g_h = C_h'y.
   Adding b with tau_h = x_b'C_h + lambda (K_bh - K_bR Delta_h), the eliminated entry (b, h) of P,
     C_h -= C_b tau_h / s_b   s_h -= tau_h^2 / s_b   g_h -= g_b tau_h / s_b
     Delta_h -= Delta_b tau_h / s_b, and one entry more, tau_h / s_b
   so that the penalty, which changes with the set, costs k multiply-adds a candidate.

   With folds, D_H = G_HH^-1 C_H for the residual maker G of the model and each fold H. A fold has a
   view of C, s and g of its own where its rows are centres that go with them: that of the model
   without these centres. Otherwise it shares those of all rows. */
#include "blas.h"
#include "ridge.h"
#include "simd.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* A row with such a d adds nothing to a sum of squares of residuals divided by d. */
static const double centres_no_row = 1e30;

struct centres_state {
  const struct centres *ct;
  struct centres_result *result;
  ptrdiff_t size;    /* centres in P; dependent ones are not */
  int *centre;       /* k, those in P */
  int *taken;        /* n */
  double *x_b, *c_b; /* m each, of the centre being added */
  double *penalty_b; /* k, K_bR */
  double *C;         /* m x n */
  double *s;         /* n */
  double *g;         /* n x L, the outputs of a candidate side by side */
  double *Delta;     /* n x k, the entries of a candidate side by side */
  double *a;         /* m x L, residuals of the model */
  double *d;         /* m, 1 - leverage */
  double *A;         /* k x L, coefficients, the outputs of a centre side by side */
  double *alpha;     /* n x L, coefficients that candidates would have; workspace */
  double *score;     /* n */
  /* leave-one-out with centres removed */
  double *d_rest; /* m, d, or centres_no_row for a row that is a centre */
  double *pi;     /* k, (P^-1)_ii */
  double *rho;    /* k, (X P^-1)_ii, in the row of the centre */
  /* folds */
  ptrdiff_t views;        /* folds with centres removed, else 1 */
  int *fold;              /* m */
  double *D;              /* m x n */
  double *view_C;         /* m x n, each fold in its own view */
  double *view_s;         /* n x views */
  double *view_g;         /* n x views x L */
  double *held;           /* m x L, g_H = G_HH^-1 a_H: held-out residuals */
  double *c_H, *q_H;      /* m each, columns b of view_C and D */
  double *eta;            /* folds */
  double *inverse;        /* k x k, P^-1 */
  double *u;              /* k, (P^-1)_EE^-1 Delta_Eb for the centres E of each fold */
  double *E;              /* k x k, a factor of (P^-1)_EE */
  int *in_fold;           /* k, centres fold by fold */
  int *fold_start;        /* folds + 1, where those of each begin */
  double *along, *factor; /* q x max(n, L) and q x q, for the covariates of a fold */
};

static double centres_penalty(const struct centres *ct, ptrdiff_t h) {
  return ct->penalty[h + h * ct->n] + ct->shift;
}

static ptrdiff_t centres_max(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

static struct centres_state centres_lay_out(const struct centres *ct, struct arena *arena) {
  const ptrdiff_t m = ct->m, n = ct->n, L = ct->L, k = ct->k, q = ct->q, folds = ct->folds;
  struct centres_state st = {.ct = ct,
      .centre = alloc_ints(arena, k),
      .taken = alloc_ints(arena, n),
      .x_b = alloc_doubles(arena, m),
      .c_b = alloc_doubles(arena, m),
      .penalty_b = alloc_doubles(arena, k),
      .C = alloc_doubles(arena, m * n),
      .s = alloc_doubles(arena, n),
      .g = alloc_doubles(arena, n * L),
      .Delta = alloc_doubles(arena, n * k),
      .a = alloc_doubles(arena, m * L),
      .d = alloc_doubles(arena, m),
      .A = alloc_doubles(arena, k * L),
      .alpha = alloc_doubles(arena, n * L),
      .score = alloc_doubles(arena, n),
      .d_rest = alloc_doubles(arena, m),
      .pi = alloc_doubles(arena, k),
      .rho = alloc_doubles(arena, k),
      .views = 1};
  st.view_C = st.C;
  st.view_s = st.s;
  st.view_g = st.g;
  if (folds == 0)
    return st;
  st.fold = alloc_ints(arena, m);
  st.D = alloc_doubles(arena, m * n);
  st.held = alloc_doubles(arena, m * L);
  st.c_H = alloc_doubles(arena, m);
  st.q_H = alloc_doubles(arena, m);
  st.eta = alloc_doubles(arena, folds);
  st.along = alloc_doubles(arena, q * centres_max(n, L));
  st.factor = alloc_doubles(arena, q * q);
  st.in_fold = alloc_ints(arena, k);
  st.fold_start = alloc_ints(arena, folds + 1);
  if (!ct->removed)
    return st;
  st.views = folds;
  st.view_C = alloc_doubles(arena, m * n);
  st.view_s = alloc_doubles(arena, n * folds);
  st.view_g = alloc_doubles(arena, n * folds * L);
  st.inverse = alloc_doubles(arena, k * k);
  st.u = alloc_doubles(arena, k);
  st.E = alloc_doubles(arena, k * k);
  return st;
}

size_t centres_work(const struct centres *ct) {
  struct arena arena = arena_over(NULL);
  centres_lay_out(ct, &arena);
  return arena.used;
}

/* ---- the state of the model without centres ---- */

/* out (m) := the working column of candidate h. */
static void centres_column(const struct centres *ct, ptrdiff_t h, double *out) {
  const double *K = ct->K + h * ct->m;
  for (ptrdiff_t j = 0; j < ct->m; j++)
    out[j] = ct->root_w[j] * K[j];
  for (int pass = 0; pass < 2; pass++)
    for (ptrdiff_t l = 0; l < ct->q; l++) {
      const double *Z = ct->Z + l * ct->m;
      simd->shift(ct->m, out, simd->dot(ct->m, Z, out), Z);
    }
}

/* B (h x columns, in the rows of A, m apart) := G_HH^-1 A_H for the model of covariates alone. 0
   where they cannot be estimated without H. */
static int centres_begin_fold(
    struct centres_state *st, ptrdiff_t f, ptrdiff_t columns, const double *A, double *B) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, q = ct->q, from = ct->start[f], h = ct->start[f + 1] - from;
  const double *Z = ct->Z + from;
  for (ptrdiff_t i = 0; i < columns; i++)
    memcpy(B + from + i * m, A + from + i * m, (size_t)h * sizeof(double));
  if (q == 0)
    return 1;
  memset(st->factor, 0, (size_t)(q * q) * sizeof(double));
  for (ptrdiff_t l = 0; l < q; l++)
    st->factor[l + l * q] = 1;
  blas_gemm(1, q, q, h, -1, Z, m, Z, m, 1, st->factor, q);
  if (lapack_cholesky(q, st->factor) != 0 || lapack_min_pivot(q, st->factor) < HOLDOUT_ALIASED)
    return 0;
  blas_gemm(1, q, columns, h, 1, Z, m, A + from, m, 0, st->along, q);
  blas_solve("L", 1, q, columns, st->factor, st->along, q);
  blas_solve("L", 0, q, columns, st->factor, st->along, q);
  blas_gemm(0, h, columns, q, 1, Z, m, st->along, q, 1, B + from, m);
  return 1;
}

static int centres_begin(struct centres_state *st) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, n = ct->n, L = ct->L;
  for (ptrdiff_t h = 0; h < n; h++) {
    double *C = st->C + h * m;
    centres_column(ct, h, C);
    st->taken[h] = 0;
    st->s[h] = simd->dot(m, C, C) + ct->lambda * centres_penalty(ct, h);
    for (ptrdiff_t l = 0; l < L; l++)
      st->g[h * L + l] = simd->dot(m, C, ct->y + l * m);
  }
  memcpy(st->a, ct->y, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t j = 0; j < m; j++) {
    st->d[j] = 1;
    for (ptrdiff_t l = 0; l < ct->q; l++)
      st->d[j] -= ct->Z[j + l * m] * ct->Z[j + l * m];
  }
  memcpy(st->d_rest, st->d, (size_t)m * sizeof(double));
  for (ptrdiff_t f = 0; f < ct->folds; f++) {
    for (ptrdiff_t j = ct->start[f]; j < ct->start[f + 1]; j++)
      st->fold[j] = (int)f;
    if (!centres_begin_fold(st, f, n, st->C, st->D) ||
        !centres_begin_fold(st, f, L, st->a, st->held))
      return 0;
  }
  if (st->view_C != st->C) {
    memcpy(st->view_C, st->C, (size_t)(m * n) * sizeof(double));
    for (ptrdiff_t h = 0; h < n; h++)
      for (ptrdiff_t f = 0; f < st->views; f++) {
        st->view_s[h * st->views + f] = st->s[h];
        memcpy(st->view_g + (h * st->views + f) * L, st->g + h * L, (size_t)L * sizeof(double));
      }
  }
  return 1;
}

/* ---- scores ---- */

/* Sum of squares over rows from .. to of the leave-one-out residuals with candidate h. */
static double centres_rows_score(const struct centres_state *st, ptrdiff_t h, const double *alpha,
    const double *d, ptrdiff_t from, ptrdiff_t to) {
  const ptrdiff_t m = st->ct->m;
  return simd->score(
      to - from, st->ct->L, st->C + h * m + from, st->a + from, m, d + from, 1 / st->s[h], alpha);
}

/* The square of the leave-one-out residual of the row of centre i, which goes with it, in the model
   with candidate h. */
static double centres_member_score(
    const struct centres_state *st, ptrdiff_t i, ptrdiff_t h, const double *alpha) {
  const struct centres *ct = st->ct;
  const ptrdiff_t row = ct->row[st->centre[i]];
  const double s = st->s[h], delta = st->Delta[h * ct->k + i], c = st->C[row + h * ct->m];
  const double pi = st->pi[i] + delta * delta / s, rho = st->rho[i] - c * delta / s;
  const double d = st->d[row] - c * c / s + rho * rho / pi;
  double square = 0;
  for (ptrdiff_t l = 0; l < ct->L; l++) {
    const double A = st->A[i * ct->L + l] - delta * alpha[l];
    const double r = st->a[row + l * ct->m] - alpha[l] * c + rho * A / pi;
    square += r * r;
  }
  return square / (d * d);
}

/* That of a row that no centre stands on, or none that counts, in the model as it is. */
static double centres_row_square(const struct centres_state *st, ptrdiff_t row) {
  double square = 0;
  for (ptrdiff_t l = 0; l < st->ct->L; l++) {
    const double r = st->a[row + l * st->ct->m] / st->d[row];
    square += r * r;
  }
  return square;
}

static double centres_loo_score(const struct centres_state *st, ptrdiff_t h) {
  const struct centres *ct = st->ct;
  double *alpha = st->alpha + h * ct->L;
  for (ptrdiff_t l = 0; l < ct->L; l++)
    alpha[l] = st->g[h * ct->L + l] / st->s[h];
  if (!ct->removed)
    return centres_rows_score(st, h, alpha, st->d, 0, ct->m);
  const ptrdiff_t own = ct->row[h];
  double score = 0;
  if (own >= 0) {
    score = centres_rows_score(st, h, alpha, st->d_rest, 0, own) + centres_row_square(st, own);
    score += centres_rows_score(st, h, alpha, st->d_rest, own + 1, ct->m);
  } else {
    score = centres_rows_score(st, h, alpha, st->d_rest, 0, ct->m);
  }
  for (ptrdiff_t i = 0; i < st->size; i++)
    if (ct->row[st->centre[i]] >= 0)
      score += centres_member_score(st, i, h, alpha);
  return score;
}

/* Where a fold keeps the s of a candidate in its view, and, times L, its g. */
static ptrdiff_t centres_view(const struct centres_state *st, ptrdiff_t h, ptrdiff_t f) {
  return h * st->views + (st->views > 1 ? f : 0);
}

/* Whether the candidate goes with the rows of a fold. */
static int centres_goes(const struct centres_state *st, ptrdiff_t h, ptrdiff_t f) {
  const int row = st->ct->row[h];
  return st->ct->removed && row >= 0 && st->fold[row] == f;
}

static double centres_fold_score(const struct centres_state *st, ptrdiff_t h, ptrdiff_t f) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, from = ct->start[f], rows = ct->start[f + 1] - from;
  const double *held = st->held + from;
  double score = 0;
  if (centres_goes(st, h, f)) {
    for (ptrdiff_t l = 0; l < ct->L; l++)
      score += simd->dot(rows, held + l * m, held + l * m);
    return score;
  }
  const double *C = st->view_C + from + h * m, *D = st->D + from + h * m;
  const ptrdiff_t view = centres_view(st, h, f);
  const double eta = st->view_s[view] - simd->dot(rows, C, D);
  if (!(eta > 0))
    return INFINITY;
  for (ptrdiff_t l = 0; l < ct->L; l++) {
    const double g = st->view_g[view * ct->L + l] - simd->dot(rows, C, held + l * m);
    score += simd->rest_square(rows, held + l * m, g / eta, D, 0, D);
  }
  return score;
}

static int centres_is_dependent(const struct centres *ct, const double *s, ptrdiff_t h) {
  return !(s[h] >= CENTRES_DEPENDENT * centres_penalty(ct, h));
}

static double centres_score(const struct centres_state *st, ptrdiff_t h) {
  const struct centres *ct = st->ct;
  if (st->taken[h] || centres_is_dependent(ct, st->s, h))
    return INFINITY;
  double score = 0;
  if (ct->folds == 0)
    score = centres_loo_score(st, h);
  for (ptrdiff_t f = 0; f < ct->folds; f++)
    score += centres_fold_score(st, h, f);
  return isnan(score) ? INFINITY : score;
}

/* ---- a centre is added ---- */

/* The rows: residuals, leverages, and what their own centres are to them. */
static void centres_add_to_rows(struct centres_state *st, ptrdiff_t b) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, L = ct->L, size = st->size;
  const double s = st->s[b], *delta = st->Delta + b * ct->k, *g = st->g + b * L;
  for (ptrdiff_t l = 0; l < L; l++)
    simd->shift(m, st->a + l * m, g[l] / s, st->c_b);
  simd->shift_squares(m, st->d, 1 / s, st->c_b);
  for (ptrdiff_t i = 0; i < size; i++) {
    const int row = ct->row[st->centre[i]];
    st->pi[i] += delta[i] * delta[i] / s;
    st->rho[i] -= row < 0 ? 0 : st->c_b[row] * delta[i] / s;
    for (ptrdiff_t l = 0; l < L; l++)
      st->A[i * L + l] -= delta[i] * g[l] / s;
  }
  st->pi[size] = 1 / s;
  st->rho[size] = ct->row[b] < 0 ? 0 : st->c_b[ct->row[b]] / s;
  for (ptrdiff_t l = 0; l < L; l++)
    st->A[size * L + l] = g[l] / s;
  memcpy(st->d_rest, st->d, (size_t)m * sizeof(double));
  for (ptrdiff_t i = 0; i <= size; i++) {
    const int row = ct->row[i < size ? st->centre[i] : b];
    if (row >= 0)
      st->d_rest[row] = centres_no_row;
  }
}

/* u := (P^-1)_EE^-1 Delta_Eb for the centres E of each fold. 0 where that has no digits. */
static int centres_solve_folds(struct centres_state *st, ptrdiff_t b) {
  const struct centres *ct = st->ct;
  const ptrdiff_t k = ct->k;
  int next = 0;
  for (ptrdiff_t f = 0; f < ct->folds; f++) {
    st->fold_start[f] = next;
    for (ptrdiff_t i = 0; i < st->size; i++)
      if (centres_goes(st, st->centre[i], f))
        st->in_fold[next++] = (int)i;
    const int *in = st->in_fold + st->fold_start[f];
    const ptrdiff_t e = next - st->fold_start[f];
    double *u = st->u + st->fold_start[f];
    for (ptrdiff_t j = 0; j < e; j++) {
      u[j] = st->Delta[b * k + in[j]];
      for (ptrdiff_t i = 0; i < e; i++)
        st->E[i + j * e] = st->inverse[in[i] + in[j] * k];
    }
    if (e == 0)
      continue;
    if (lapack_cholesky(e, st->E) != 0)
      return 0;
    blas_solve("L", 1, e, 1, st->E, u, e);
    blas_solve("L", 0, e, 1, st->E, u, e);
  }
  st->fold_start[ct->folds] = next;
  return 1;
}

/* P^-1 of one centre more. */
static void centres_extend_inverse(struct centres_state *st, ptrdiff_t b) {
  const ptrdiff_t k = st->ct->k, size = st->size;
  const double s = st->s[b], *delta = st->Delta + b * k;
  for (ptrdiff_t j = 0; j < size; j++) {
    simd->shift(size, st->inverse + j * k, -delta[j] / s, delta);
    st->inverse[size + j * k] = st->inverse[j + size * k] = -delta[j] / s;
  }
  st->inverse[size + size * k] = 1 / s;
}

/* What is held out of each fold, and the columns b by which candidates follow. */
static void centres_add_to_folds(struct centres_state *st, ptrdiff_t b) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, L = ct->L;
  memcpy(st->c_H, st->view_C + b * m, (size_t)m * sizeof(double));
  memcpy(st->q_H, st->D + b * m, (size_t)m * sizeof(double));
  for (ptrdiff_t f = 0; f < ct->folds; f++) {
    const ptrdiff_t from = ct->start[f], rows = ct->start[f + 1] - from;
    const ptrdiff_t view = centres_view(st, b, f);
    const double *c = st->c_H + from, *q = st->q_H + from;
    st->eta[f] = st->view_s[view] - simd->dot(rows, c, q);
    if (centres_goes(st, b, f))
      continue;
    for (ptrdiff_t l = 0; l < L; l++) {
      double *held = st->held + from + l * m;
      const double g = st->view_g[view * L + l] - simd->dot(rows, held, c);
      simd->shift(rows, held, g / st->eta[f], q);
    }
  }
}

/* ---- candidates follow ---- */

/* The entry (b, h) of P once the centres are eliminated. */
static double centres_product(const struct centres_state *st, ptrdiff_t b, ptrdiff_t h) {
  const struct centres *ct = st->ct;
  const double *delta = st->Delta + h * ct->k;
  const double penalty = ct->penalty[b + h * ct->n] - simd->dot(st->size - 1, st->penalty_b, delta);
  return simd->dot(ct->m, st->x_b, st->C + h * ct->m) + ct->lambda * penalty;
}

/* D_H, and the fold's own view of C, s and g where it has one. */
static void centres_follow_in_fold(
    struct centres_state *st, ptrdiff_t b, ptrdiff_t h, ptrdiff_t f, double tau) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m, L = ct->L, from = ct->start[f], rows = ct->start[f + 1] - from;
  double v = tau;
  if (centres_goes(st, b, f))
    return;
  if (st->views > 1)
    for (int i = st->fold_start[f]; i < st->fold_start[f + 1]; i++)
      v += st->Delta[h * ct->k + st->in_fold[i]] * st->u[i];
  double *D = st->D + from + h * m;
  const double *c = st->c_H + from;
  simd->shift(rows, D, (v - simd->dot(rows, c, D)) / st->eta[f], st->q_H + from);
  if (st->views == 1)
    return;
  const ptrdiff_t of_h = centres_view(st, h, f), of_b = centres_view(st, b, f);
  const double part = v / st->view_s[of_b];
  simd->shift(rows, st->view_C + from + h * m, part, c);
  st->view_s[of_h] -= part * v;
  for (ptrdiff_t l = 0; l < L; l++)
    st->view_g[of_h * L + l] -= part * st->view_g[of_b * L + l];
}

/* Candidate h follows the last centre b, which stays as it was before. */
static void centres_follow(struct centres_state *st, ptrdiff_t b, ptrdiff_t h) {
  const struct centres *ct = st->ct;
  const ptrdiff_t before = st->size - 1, L = ct->L;
  double *delta = st->Delta + h * ct->k;
  const double tau = centres_product(st, b, h), part = tau / st->s[b];
  for (ptrdiff_t f = 0; f < ct->folds; f++)
    centres_follow_in_fold(st, b, h, f, tau);
  simd->shift(ct->m, st->C + h * ct->m, part, st->c_b);
  st->s[h] -= part * tau;
  for (ptrdiff_t l = 0; l < L; l++)
    st->g[h * L + l] -= part * st->g[b * L + l];
  simd->shift(before, delta, part, st->Delta + b * ct->k);
  delta[before] = part;
}

/* How many candidates follow between two polls of the host: about a tenth of a second of work. */
static ptrdiff_t centres_per_poll(const struct centres *ct, int threads) {
  const double work = (double)ct->m * (ct->folds > 0 ? 8 : 4) + (double)ct->k;
  return threads * (1 + (ptrdiff_t)(1e8 / work));
}

/* Brings all candidates up to date with the last centre b, or with none (b < 0), and scores them. 0
   where the host wants to stop. */
static int centres_sweep(struct centres_state *st, ptrdiff_t b, struct host *host) {
  const ptrdiff_t n = st->ct->n, wave = centres_per_poll(st->ct, host->threads);
  for (ptrdiff_t from = 0; from < n; from += wave) {
    const ptrdiff_t to = n - from < wave ? n : from + wave;
    if (host->stop(host, st->result->size + (double)from / (double)n, st->ct->k))
      return 0;
#ifdef _OPENMP
#pragma omp parallel for num_threads(host->threads) schedule(static) if (host->threads > 1)
#endif
    for (ptrdiff_t h = from; h < to; h++) {
      if (b >= 0 && !st->taken[h])
        centres_follow(st, b, h);
      st->score[h] = centres_score(st, h);
    }
  }
  return 1;
}

/* The first candidate whose score ties with the smallest; where none has a score the first that is
   not taken. */
static ptrdiff_t centres_best(const struct centres_state *st, double slack) {
  const ptrdiff_t n = st->ct->n;
  double least = INFINITY;
  for (ptrdiff_t h = 0; h < n; h++)
    least = fmin(least, st->score[h]);
  for (ptrdiff_t h = 0; h < n; h++)
    if (!st->taken[h] && st->score[h] <= least + slack)
      return h;
  return -1;
}

/* 0 where the centres of a fold have lost their digits. */
static int centres_add(struct centres_state *st, ptrdiff_t b) {
  const struct centres *ct = st->ct;
  const ptrdiff_t m = ct->m;
  centres_column(ct, b, st->x_b);
  memcpy(st->c_b, st->C + b * m, (size_t)m * sizeof(double));
  for (ptrdiff_t i = 0; i < st->size; i++)
    st->penalty_b[i] = ct->penalty[b + st->centre[i] * ct->n];
  if (st->views > 1) {
    if (!centres_solve_folds(st, b))
      return 0;
    centres_extend_inverse(st, b);
  }
  centres_add_to_rows(st, b);
  if (ct->folds > 0)
    centres_add_to_folds(st, b);
  st->centre[st->size++] = (int)b;
  return 1;
}

enum status choose_centres(
    const struct centres *ct, struct host *host, void *work, struct centres_result *result) {
  struct arena arena = arena_over(work);
  struct centres_state st = centres_lay_out(ct, &arena);
  st.result = result;
  st.size = 0;
  result->size = 0;
  if (!centres_begin(&st))
    return NOT_POSITIVE;
  double slack = 0;
  for (ptrdiff_t l = 0; l < ct->L; l++)
    slack += TIE * simd->dot(ct->m, ct->y + l * ct->m, ct->y + l * ct->m);
  ptrdiff_t added = -1;
  while (result->size < ct->k) {
    if (!centres_sweep(&st, added, host))
      return INTERRUPTED;
    const ptrdiff_t b = centres_best(&st, slack);
    const int counts = !centres_is_dependent(ct, st.s, b);
    if (counts && !centres_add(&st, b))
      return NOT_POSITIVE;
    added = counts ? b : -1;
    st.taken[b] = 1;
    result->chosen[result->size] = (int)b;
    result->error[result->size++] = st.score[b];
  }
  return COMPLETE;
}
