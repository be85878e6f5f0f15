/* Any rows held out of a ridge model in its eigen coordinates, basis vectors too.

   Pahikkala, Suominen and Boberg 2012, Proposition 1, by F = KB'Q alone: the printed U = F_H -
   K_HE Q_E cancels where the kernel matrix is ill-conditioned, and (J's R) Q_E = 0 makes it
   redundant. Covariates are the columns of Z that carry no penalty. */
#include "blas.h"
#include "ridge.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

enum { HOLDOUT_QR_WORK = 32 }; /* doubles for each column of lapack_qr() */

/* One set of h rows, e of them basis vectors to be removed. */
struct holdout_set {
  ptrdiff_t h, e, first; /* first: its index in `order` */
  const int *rows;
};

static struct holdout_set holdout_get_set(const struct heldout *heldout, ptrdiff_t s) {
  struct holdout_set set = {.h = heldout->start[s + 1] - heldout->start[s],
      .first = heldout->start[s],
      .rows = heldout->order + heldout->start[s]};
  for (ptrdiff_t i = 0; i < set.h; i++)
    set.e += heldout->basis[set.rows[i]] >= 0;
  return set;
}

/* ---- the two forms and what they cost ---- */

static double holdout_cost_per_lambda(
    const struct spectrum *sp, struct holdout_set set, ptrdiff_t c) {
  const double r = (double)sp->r, h = (double)set.h, e = (double)set.e;
  return (double)c * ((h + e) * (h + e) * r + h * h * h / 3 + 2 * r * e * e + 3 * (h + e) * r);
}

static double holdout_cost_per_fold(
    const struct spectrum *sp, struct holdout_set set, ptrdiff_t c) {
  const double r = (double)sp->r, h = (double)set.h, q = (double)sp->q, e = (double)set.e;
  const double solutions = (double)(c * sp->L);
  return r * r * (h + q + 10 * r + 4 * e + 2 * solutions) + 2 * h * r * solutions;
}

/* A complete F has no use for the eigenproblem of a fold: it would cost more, and cancel. */
static int holdout_is_per_fold(
    const struct spectrum *sp, struct holdout_set set, ptrdiff_t c, enum holdout_form form) {
  return !sp->complete && (form == HOLDOUT_PER_FOLD || holdout_cost_per_fold(sp, set, c) <
                                                           holdout_cost_per_lambda(sp, set, c));
}

/* ---- workspace ---- */

/* What every set shares: T = (values + lambda)^(-1/2), times lambda^(1/2) when F is complete, and T
   t, for each lambda. */
struct holdout_shrinkage {
  double *T;  /* r x c */
  double *Tt; /* r x L x c */
};

static struct holdout_shrinkage holdout_lay_out_shrinkage(
    const struct spectrum *sp, ptrdiff_t c, struct arena *arena) {
  return (struct holdout_shrinkage){
      .T = alloc_doubles(arena, sp->r * c), .Tt = alloc_doubles(arena, sp->r * sp->L * c)};
}

/* Of the form per lambda. */
struct holdout_system {
  double *W;        /* r x (e + h), Q_E' and F_H' */
  double *E;        /* r x (e + h), T W, the first e columns made orthonormal */
  double *Z;        /* h x q, Z_H */
  double *G;        /* h x h, I - J and its Cholesky factor */
  double *residual; /* h x L */
  double *along;    /* e x h */
  double *R, *tau, *qr;
};

static struct holdout_system holdout_lay_out_system(
    const struct spectrum *sp, struct holdout_set set, struct arena *arena) {
  const ptrdiff_t r = sp->r, h = set.h, e = set.e;
  return (struct holdout_system){.W = alloc_doubles(arena, r * (e + h)),
      .E = alloc_doubles(arena, r * (e + h)),
      .Z = alloc_doubles(arena, h * sp->q),
      .G = alloc_doubles(arena, h * h),
      .residual = alloc_doubles(arena, h * sp->L),
      .along = alloc_doubles(arena, e * h),
      .R = alloc_doubles(arena, e * e),
      .tau = alloc_doubles(arena, e),
      .qr = alloc_doubles(arena, HOLDOUT_QR_WORK * e)};
}

/* Of the form per fold: the ridge problem of the rows not held out, in the same coordinates.
   Covariates are estimated anew without H, which removes q rows more: L^-1 Z_H'F_H with LL' = I -
   Z_H'Z_H. */
struct holdout_fold {
  double *W;                   /* r x (h + q), the rows removed */
  double *y;                   /* (h + q) x L, their responses */
  double *Z;                   /* h x q, Z_H */
  double *D;                   /* q x q, L' */
  double *M;                   /* r x r, F'F of the other rows */
  double *b;                   /* r x L, F'y of the other rows */
  double *E;                   /* r x e, Q_E', then an orthonormal basis of it */
  double *along;               /* e x (L + c L) */
  double *ME, *EME;            /* r x e, e x e */
  double *R, *tau, *qr;        /* a QR factorisation of E */
  double *values, *eigen;      /* r, and the workspace of an eigenproblem */
  double *Vb;                  /* r x L */
  double *shrunk, *C, *f, *Zf; /* r, r, h and q x L x c */
};

static struct holdout_fold holdout_lay_out_fold(
    const struct spectrum *sp, struct holdout_set set, ptrdiff_t c, struct arena *arena) {
  const ptrdiff_t r = sp->r, h = set.h, e = set.e, L = sp->L, q = sp->q, cL = c * L;
  return (struct holdout_fold){.W = alloc_doubles(arena, r * (h + q)),
      .y = alloc_doubles(arena, (h + q) * L),
      .Z = alloc_doubles(arena, h * q),
      .D = alloc_doubles(arena, q * q),
      .M = alloc_doubles(arena, r * r),
      .b = alloc_doubles(arena, r * L),
      .E = alloc_doubles(arena, r * e),
      .along = alloc_doubles(arena, e * (L + cL)),
      .ME = alloc_doubles(arena, r * e),
      .EME = alloc_doubles(arena, e * e),
      .R = alloc_doubles(arena, e * e),
      .tau = alloc_doubles(arena, e),
      .qr = alloc_doubles(arena, HOLDOUT_QR_WORK * e),
      .values = alloc_doubles(arena, r),
      .eigen = alloc_doubles(arena, (ptrdiff_t)lapack_eigen_work(r)),
      .Vb = alloc_doubles(arena, r * L),
      .shrunk = alloc_doubles(arena, r * cL),
      .C = alloc_doubles(arena, r * cL),
      .f = alloc_doubles(arena, h * cL),
      .Zf = alloc_doubles(arena, q * cL)};
}

/* Bytes that each thread needs, whichever sets it is given. */
static size_t holdout_thread_work(
    const struct spectrum *sp, const struct heldout *heldout, ptrdiff_t c, enum holdout_form form) {
  size_t bytes = 0;
  for (ptrdiff_t s = 0; s < heldout->sets; s++) {
    const struct holdout_set set = holdout_get_set(heldout, s);
    struct arena arena = arena_over(NULL);
    if (holdout_is_per_fold(sp, set, c, form))
      holdout_lay_out_fold(sp, set, c, &arena);
    else
      holdout_lay_out_system(sp, set, &arena);
    bytes = arena.used > bytes ? arena.used : bytes;
  }
  return bytes;
}

size_t holdout_work(const struct spectrum *sp, const struct heldout *heldout, ptrdiff_t c,
    enum holdout_form form, int threads) {
  struct arena arena = arena_over(NULL);
  holdout_lay_out_shrinkage(sp, c, &arena);
  arena_alloc(&arena, threads, holdout_thread_work(sp, heldout, c, form));
  return arena.used;
}

/* ---- parts of F, Q, Z and y that belong to a set ---- */

/* out (r x h) := F_H', a column for each row held out. */
static void holdout_rows(const struct spectrum *sp, struct holdout_set set, double *out) {
  for (ptrdiff_t j = 0; j < sp->r; j++)
    for (ptrdiff_t i = 0; i < set.h; i++)
      out[j + i * sp->r] = sp->F[set.rows[i] + j * sp->m];
}

/* out (r x e) := Q_E', a column for each basis vector removed. */
static void holdout_basis(
    const struct spectrum *sp, const struct heldout *heldout, struct holdout_set set, double *out) {
  for (ptrdiff_t i = 0; i < set.h; i++) {
    const int b = heldout->basis[set.rows[i]];
    for (ptrdiff_t j = 0; b >= 0 && j < sp->r; j++)
      out[j] = sp->Q[b + j * sp->n];
    out += b >= 0 ? sp->r : 0;
  }
}

/* out (h x columns, leading dimension ld) := the rows H of A (m x columns). */
static void holdout_gather(ptrdiff_t m, ptrdiff_t columns, const double *A, struct holdout_set set,
    double *out, ptrdiff_t ld) {
  for (ptrdiff_t j = 0; j < columns; j++)
    for (ptrdiff_t i = 0; i < set.h; i++)
      out[i + j * ld] = A[set.rows[i] + j * m];
}

/* B (r x c) := B - E E'B for the e orthonormal columns of E; `along` holds e x c. */
static void holdout_project_out(
    ptrdiff_t r, ptrdiff_t e, const double *E, ptrdiff_t c, double *B, double *along) {
  if (e == 0)
    return;
  if (e == r) { /* all basis vectors are removed */
    memset(B, 0, (size_t)(r * c) * sizeof(double));
    return;
  }
  blas_gemm(1, e, c, r, 1, E, r, B, r, 0, along, e);
  blas_gemm(0, r, c, e, -1, E, r, along, e, 1, B, r);
}

static void holdout_identity(ptrdiff_t n, double *A) {
  memset(A, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t j = 0; j < n; j++)
    A[j + j * n] = 1;
}

/* out (r x columns) := diag(d) A */
static void holdout_scale_rows(
    ptrdiff_t r, ptrdiff_t columns, const double *d, const double *A, double *out) {
  for (ptrdiff_t i = 0; i < columns; i++)
    for (ptrdiff_t j = 0; j < r; j++)
      out[j + i * r] = d[j] * A[j + i * r];
}

/* Fills T and T t for every lambda. */
static void holdout_shrink(const struct spectrum *sp, const double *lambda, ptrdiff_t c,
    const struct holdout_shrinkage *all) {
  const ptrdiff_t r = sp->r, L = sp->L;
  for (ptrdiff_t l = 0; l < c; l++) {
    double *T = all->T + r * l;
    for (ptrdiff_t j = 0; j < r; j++)
      T[j] = sqrt((sp->complete ? lambda[l] : 1) / (sp->values[j] + lambda[l]));
    holdout_scale_rows(r, L, T, sp->t, all->Tt + r * L * l);
  }
}

/* ---- small sets: one system of h equations for each lambda ---- */

/* residual = (I - J)^-1 (y - yhat)_H with J = F_H R F_H' and R = T (I - E E') T, T^2 = (values +
   lambda)^-1, E an orthonormal basis of T Q_E'. Covariates take Z_H Z_H' besides. When F is
   complete, I - J = F_H diag(lambda / (values + lambda)) F_H' and nothing is subtracted. */
static int holdout_per_lambda(const struct spectrum *sp, const struct heldout *heldout,
    struct holdout_set set, const struct holdout_shrinkage *all, ptrdiff_t c, struct arena *arena,
    double *out, ptrdiff_t total) {
  const ptrdiff_t r = sp->r, h = set.h, e = set.e, L = sp->L, q = sp->q;
  const double sign = sp->complete ? 1 : -1;
  const struct holdout_system work = holdout_lay_out_system(sp, set, arena);
  double *W = work.W, *E = work.E, *S = E + r * e, *G = work.G, *residual = work.residual;
  holdout_basis(sp, heldout, set, W);
  holdout_rows(sp, set, W + r * e);
  holdout_gather(sp->m, q, sp->Z, set, work.Z, h);
  for (ptrdiff_t l = 0; l < c; l++) {
    holdout_scale_rows(r, e + h, all->T + r * l, W, E);
    if (e > 0 && lapack_qr(r, e, E, r, work.R, e, work.tau, work.qr, HOLDOUT_QR_WORK * e) != 0)
      return 0;
    holdout_project_out(r, e, E, h, S, work.along);
    if (sp->complete) {
      memset(G, 0, (size_t)(h * h) * sizeof(double));
      memset(residual, 0, (size_t)(h * L) * sizeof(double));
    } else {
      holdout_identity(h, G);
      blas_syrk(0, h, q, -1, work.Z, h, 1, G);
      holdout_gather(sp->m, L, sp->y, set, residual, h);
    }
    blas_syrk(1, h, r, sign, S, r, 1, G);
    blas_gemm(1, h, L, r, sign, S, r, all->Tt + r * L * l, r, 1, residual, h);
    if (lapack_cholesky(h, G) != 0)
      return 0;
    if (!sp->complete && lapack_min_pivot(h, G) < fmax(HOLDOUT_SMALLEST, heldout->singular))
      return 0;
    blas_solve("L", 1, h, L, G, residual, h);
    blas_solve("L", 0, h, L, G, residual, h);
    for (ptrdiff_t i = 0; i < L; i++)
      memcpy(out + total * (i + L * l), residual + i * h, (size_t)h * sizeof(double));
  }
  return 1;
}

/* ---- large sets: one eigenproblem for all lambdas ---- */

/* The ridge problem without the rows of a set. 0 where digits are lost. */
static int holdout_without_rows(const struct spectrum *sp, const struct heldout *heldout,
    struct holdout_set set, const struct holdout_fold *fold) {
  const ptrdiff_t r = sp->r, h = set.h, L = sp->L, q = sp->q, k = h + q;
  double *W = fold->W, *y = fold->y, *Z = fold->Z, *D = fold->D;
  holdout_rows(sp, set, W);
  holdout_gather(sp->m, L, sp->y, set, y, k);
  memcpy(fold->b, sp->t, (size_t)(r * L) * sizeof(double));
  if (q > 0) {
    holdout_gather(sp->m, q, sp->Z, set, Z, h);
    holdout_identity(q, D);
    blas_syrk(1, q, h, -1, Z, h, 1, D);
    if (lapack_cholesky(q, D) != 0 ||
        lapack_min_pivot(q, D) < fmax(HOLDOUT_ALIASED, heldout->outweighed))
      return 0;
    blas_gemm(0, r, q, h, 1, W, r, Z, h, 0, W + r * h, r);
    blas_solve("R", 0, r, q, D, W + r * h, r);
    blas_gemm(1, q, L, h, 1, Z, h, y, k, 0, y + h, k);
    blas_solve("L", 1, q, L, D, y + h, k);
  }
  holdout_identity(r, fold->M);
  for (ptrdiff_t j = 0; j < r; j++)
    fold->M[j + j * r] = sp->values[j];
  blas_syrk(0, r, k, -1, W, r, 1, fold->M);
  double trace = 0, all = 0;
  for (ptrdiff_t j = 0; j < r; j++) {
    trace += fold->M[j + j * r];
    all += sp->values[j];
  }
  if (heldout->outweighed > 0 && trace < heldout->outweighed * all)
    return 0;
  blas_gemm(0, r, L, k, -1, W, r, y, k, 1, fold->b, r);
  return 1;
}

/* M := P M P and b := P b with P = I - E E', E an orthonormal basis of Q_E': the problem without
   the basis vectors of a set. */
static int holdout_without_basis(
    const struct spectrum *sp, struct holdout_set set, const struct holdout_fold *fold) {
  const ptrdiff_t r = sp->r, e = set.e;
  double *M = fold->M, *E = fold->E, *ME = fold->ME, *EME = fold->EME;
  if (e == 0)
    return 1;
  if (lapack_qr(r, e, E, r, fold->R, e, fold->tau, fold->qr, HOLDOUT_QR_WORK * e) != 0)
    return 0;
  holdout_project_out(r, e, E, sp->L, fold->b, fold->along);
  for (ptrdiff_t j = 0; j < r; j++)
    for (ptrdiff_t i = 0; i < j; i++)
      M[j + i * r] = M[i + j * r];
  blas_gemm(0, r, e, r, 1, M, r, E, r, 0, ME, r);
  blas_gemm(1, e, e, r, 1, E, r, ME, r, 0, EME, e);
  blas_gemm(0, r, e, e, -0.5, E, r, EME, e, 1, ME, r);
  blas_gemm_trans_b(r, r, e, -1, ME, r, E, r, 1, M, r);
  blas_gemm_trans_b(r, r, e, -1, E, r, ME, r, 1, M, r);
  return 1;
}

/* out := y - f - Z_H b for every lambda, b the covariates' coefficients without H. 0 where digits
   are lost. */
static int holdout_all_lambdas(const struct spectrum *sp, const struct heldout *heldout,
    struct holdout_set set, const struct holdout_fold *fold, const double *lambda, ptrdiff_t c,
    double *out, ptrdiff_t total) {
  const ptrdiff_t r = sp->r, h = set.h, L = sp->L, q = sp->q, cL = c * L;
  double *values = fold->values, *Vb = fold->Vb, *shrunk = fold->shrunk, *C = fold->C;
  double *f = fold->f, *Zf = fold->Zf;
  double min_lambda = lambda[0], max_value = 0;
  for (ptrdiff_t l = 1; l < c; l++)
    min_lambda = fmin(min_lambda, lambda[l]);
  for (ptrdiff_t j = 0; j < r; j++)
    max_value = fmax(max_value, sp->values[j]);
  if (lapack_eigen(r, fold->M, values, fold->eigen) != 0)
    return 0;
  /* the smallest `e` values are those of the basis vectors removed */
  if (set.e < r && fmax(values[set.e], 0) + min_lambda < heldout->singular * max_value)
    return 0;
  blas_gemm(1, r, L, r, 1, fold->M, r, fold->b, r, 0, Vb, r);
  for (ptrdiff_t l = 0; l < c; l++)
    for (ptrdiff_t i = 0; i < L; i++)
      for (ptrdiff_t j = 0; j < r; j++)
        shrunk[j + r * (i + L * l)] = Vb[j + i * r] / (fmax(values[j], 0) + lambda[l]);
  blas_gemm(0, r, cL, r, 1, fold->M, r, shrunk, r, 0, C, r);
  holdout_project_out(r, set.e, fold->E, cL, C, fold->along);
  for (ptrdiff_t i = 0; i < cL; i++)
    memcpy(f + h * i, fold->y + (h + q) * (i % L), (size_t)h * sizeof(double));
  blas_gemm(1, h, cL, r, -1, fold->W, r, C, r, 1, f, h);
  if (q > 0) {
    blas_gemm(1, q, cL, h, 1, fold->Z, h, f, h, 0, Zf, q);
    blas_solve("L", 1, q, cL, fold->D, Zf, q);
    blas_solve("L", 0, q, cL, fold->D, Zf, q);
    blas_gemm(0, h, cL, q, 1, fold->Z, h, Zf, q, 1, f, h);
  }
  for (ptrdiff_t i = 0; i < cL; i++)
    memcpy(out + total * i, f + h * i, (size_t)h * sizeof(double));
  return 1;
}

static int holdout_per_fold(const struct spectrum *sp, const struct heldout *heldout,
    struct holdout_set set, const double *lambda, ptrdiff_t c, struct arena *arena, double *out,
    ptrdiff_t total) {
  const struct holdout_fold fold = holdout_lay_out_fold(sp, set, c, arena);
  holdout_basis(sp, heldout, set, fold.E);
  return holdout_without_rows(sp, heldout, set, &fold) && holdout_without_basis(sp, set, &fold) &&
         holdout_all_lambdas(sp, heldout, set, &fold, lambda, c, out, total);
}

/* ---- all sets ---- */

/* Whether the residuals of set s are done. */
static int holdout_one_set(const struct spectrum *sp, const struct heldout *heldout, ptrdiff_t s,
    const double *lambda, const struct holdout_shrinkage *all, ptrdiff_t c, enum holdout_form form,
    void *work, double *residual) {
  struct arena arena = arena_over(work);
  const struct holdout_set set = holdout_get_set(heldout, s);
  const ptrdiff_t total = heldout->start[heldout->sets];
  double *out = residual + set.first;
  const int done = holdout_is_per_fold(sp, set, c, form)
                       ? holdout_per_fold(sp, heldout, set, lambda, c, &arena, out, total)
                       : holdout_per_lambda(sp, heldout, set, all, c, &arena, out, total);
  for (ptrdiff_t i = 0; i < c * sp->L && done; i++)
    for (ptrdiff_t k = 0; k < set.h; k++)
      out[k + total * i] /= sp->root_w[set.rows[k]];
  return done;
}

/* How many sets each thread is given between two polls of the host: about a tenth of a second of
   work. */
static ptrdiff_t holdout_sets_per_poll(
    const struct spectrum *sp, const struct heldout *heldout, ptrdiff_t c, enum holdout_form form) {
  double max_cost = 1;
  for (ptrdiff_t s = 0; s < heldout->sets; s++) {
    const struct holdout_set set = holdout_get_set(heldout, s);
    max_cost =
        fmax(max_cost, holdout_is_per_fold(sp, set, c, form) ? holdout_cost_per_fold(sp, set, c)
                                                             : holdout_cost_per_lambda(sp, set, c));
  }
  return max_cost < 1e8 ? (ptrdiff_t)(1e8 / max_cost) : 1;
}

enum status holdout(const struct spectrum *sp, const struct heldout *heldout, const double *lambda,
    ptrdiff_t c, enum holdout_form form, struct host *host, void *work, double *residual,
    int *done) {
  const ptrdiff_t threads = host->threads;
  const ptrdiff_t wave = threads * holdout_sets_per_poll(sp, heldout, c, form);
  const size_t bytes = holdout_thread_work(sp, heldout, c, form);
  struct arena arena = arena_over(work);
  const struct holdout_shrinkage all = holdout_lay_out_shrinkage(sp, c, &arena);
  char *thread_work = arena_alloc(&arena, threads, bytes);
  holdout_shrink(sp, lambda, c, &all);
  for (ptrdiff_t from = 0; from < heldout->sets; from += wave) {
    const ptrdiff_t to = heldout->sets - from < wave ? heldout->sets : from + wave;
    if (host->stop(host, (double)from, (double)heldout->sets))
      return INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
#endif
    for (ptrdiff_t thread = 0; thread < threads; thread++)
      for (ptrdiff_t s = from + thread; s < to; s += threads)
        done[s] = holdout_one_set(
            sp, heldout, s, lambda, &all, c, form, thread_work + (size_t)thread * bytes, residual);
  }
  return COMPLETE;
}
