/* Any rows held out of a ridge model in its eigen coordinates, basis vectors too.

   Pahikkala, Suominen and Boberg 2012, Proposition 1, by F = KB'Q alone: the printed U = F_H -
   K_HE Q_E cancels where the kernel matrix is ill-conditioned, and (J's R) Q_E = 0 makes it
   redundant. Covariates are the columns of Z that carry no penalty. */
#include "blas.h"
#include "ridge.h"
#include <math.h>
#include <string.h>

/* Where I - J is smaller, it has lost more than six digits and the fold is solved by itself. */
static const double SMALLEST = 1e-6;

/* Where I - Z_H'Z_H is smaller, the rows left do not tell the covariates apart. */
static const double ALIASED = 1e-10;

enum { QR_ROOM = 32 }; /* doubles for each column of lapack_qr() */

/* One set of h rows, e of them basis vectors to be removed. */
struct set {
  ptrdiff_t h, e, first; /* where it stands in `order` */
  const int *rows;
};

static struct set set_at(const struct held *held, ptrdiff_t s) {
  struct set set = {.h = held->start[s + 1] - held->start[s],
      .first = held->start[s],
      .rows = held->order + held->start[s]};
  for (ptrdiff_t i = 0; i < set.h; i++)
    set.e += held->basis[set.rows[i]] >= 0;
  return set;
}

static double *take(double **work, ptrdiff_t count) {
  double *part = *work;
  *work += count;
  return part;
}

/* ---- the two forms and what they cost ---- */

static double cost_per_lambda(const struct spectrum *sp, struct set set, ptrdiff_t c) {
  const double r = (double)sp->r, h = (double)set.h, e = (double)set.e;
  return (double)c * ((h + e) * (h + e) * r + h * h * h / 3 + 2 * r * e * e + 3 * (h + e) * r);
}

static double cost_per_fold(const struct spectrum *sp, struct set set, ptrdiff_t c) {
  const double r = (double)sp->r, h = (double)set.h, q = (double)sp->q, e = (double)set.e;
  const double solutions = (double)(c * sp->L);
  return r * r * (h + q + 10 * r + 4 * e + 2 * solutions) + 2 * h * r * solutions;
}

/* A complete F has no use for the eigenproblem of a fold: it would cost more, and cancel. */
static int is_per_fold(const struct spectrum *sp, struct set set, ptrdiff_t c, enum form form) {
  return !sp->complete &&
         (form == PER_FOLD || cost_per_fold(sp, set, c) < cost_per_lambda(sp, set, c));
}

static size_t room_per_lambda(const struct spectrum *sp, struct set set) {
  const size_t r = (size_t)sp->r, h = (size_t)set.h, e = (size_t)set.e, L = (size_t)sp->L;
  return 2 * r * (e + h) + h * ((size_t)sp->q + h + L) + e * (h + e + 1 + QR_ROOM);
}

static size_t room_per_fold(const struct spectrum *sp, struct set set, ptrdiff_t c) {
  const size_t r = (size_t)sp->r, h = (size_t)set.h, e = (size_t)set.e, q = (size_t)sp->q;
  const size_t L = (size_t)sp->L, cL = (size_t)c * L;
  return r * (h + q) + (h + q) * L + h * q + q * q + r * r + 2 * r * L + /* struct fold */
         e * (2 * r + 2 * e + 1 + QR_ROOM + L + cL) +                    /* without_basis() */
         r + lapack_eigen_room(sp->r) + (2 * r + h + q) * cL;            /* every_lambda() */
}

static size_t room(
    const struct spectrum *sp, const struct held *held, ptrdiff_t c, enum form form) {
  size_t most = 0;
  for (ptrdiff_t s = 0; s < held->sets; s++) {
    const struct set set = set_at(held, s);
    const size_t need =
        is_per_fold(sp, set, c, form) ? room_per_fold(sp, set, c) : room_per_lambda(sp, set);
    most = need > most ? need : most;
  }
  return most;
}

size_t holdout_work(
    const struct spectrum *sp, const struct held *held, ptrdiff_t c, enum form form, int threads) {
  const size_t shared = (size_t)(sp->r * c * (1 + sp->L)); /* struct shrink */
  return (shared + (size_t)threads * room(sp, held, c, form)) * sizeof(double);
}

/* ---- parts of F, Q, Z and y that belong to a set ---- */

/* out (r x h) := F_H', a column for each row held out. */
static void gather_rows(const struct spectrum *sp, struct set set, double *out) {
  for (ptrdiff_t j = 0; j < sp->r; j++)
    for (ptrdiff_t i = 0; i < set.h; i++)
      out[j + i * sp->r] = sp->F[set.rows[i] + j * sp->m];
}

/* out (r x e) := Q_E', a column for each basis vector removed. */
static void gather_basis(
    const struct spectrum *sp, const struct held *held, struct set set, double *out) {
  for (ptrdiff_t i = 0; i < set.h; i++) {
    const int b = held->basis[set.rows[i]];
    for (ptrdiff_t j = 0; b >= 0 && j < sp->r; j++)
      out[j] = sp->Q[b + j * sp->n];
    out += b >= 0 ? sp->r : 0;
  }
}

/* out (h x columns, leading dimension ld) := the rows H of A (m x columns). */
static void gather(
    ptrdiff_t m, ptrdiff_t columns, const double *A, struct set set, double *out, ptrdiff_t ld) {
  for (ptrdiff_t j = 0; j < columns; j++)
    for (ptrdiff_t i = 0; i < set.h; i++)
      out[i + j * ld] = A[set.rows[i] + j * m];
}

/* B (r x c) := B - E E'B for the e orthonormal columns of E; `along` holds e x c. */
static void remove_along(
    ptrdiff_t r, ptrdiff_t e, const double *E, ptrdiff_t c, double *B, double *along) {
  if (e == 0)
    return;
  if (e == r) { /* no basis vector is left */
    memset(B, 0, (size_t)(r * c) * sizeof(double));
    return;
  }
  blas_gemm(1, e, c, r, 1, E, r, B, r, 0, along, e);
  blas_gemm(0, r, c, e, -1, E, r, along, e, 1, B, r);
}

static void identity(ptrdiff_t n, double *A) {
  memset(A, 0, (size_t)(n * n) * sizeof(double));
  for (ptrdiff_t j = 0; j < n; j++)
    A[j + j * n] = 1;
}

/* Of a Cholesky factor R (n x n): the smallest squared element of its diagonal. */
static double smallest_pivot(ptrdiff_t n, const double *R) {
  double least = 1;
  for (ptrdiff_t j = 0; j < n; j++)
    least = fmin(least, R[j + j * n] * R[j + j * n]);
  return least;
}

static double trace(ptrdiff_t n, const double *A) {
  double trace = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    trace += A[j + j * n];
  return trace;
}

static double sum(ptrdiff_t n, const double *x) {
  double sum = 0;
  for (ptrdiff_t j = 0; j < n; j++)
    sum += x[j];
  return sum;
}

/* out (r x columns) := diag(d) A */
static void scale_rows(
    ptrdiff_t r, ptrdiff_t columns, const double *d, const double *A, double *out) {
  for (ptrdiff_t i = 0; i < columns; i++)
    for (ptrdiff_t j = 0; j < r; j++)
      out[j + i * r] = d[j] * A[j + i * r];
}

/* What every set shares: T = (values + lambda)^(-1/2), times lambda^(1/2) when F is complete, and T
   t, for each lambda. */
struct shrink {
  double *T;  /* r x c */
  double *Tt; /* r x L x c */
};

static struct shrink shrink(
    const struct spectrum *sp, const double *lambda, ptrdiff_t c, double **work) {
  const ptrdiff_t r = sp->r, L = sp->L;
  const struct shrink all = {.T = take(work, r * c), .Tt = take(work, r * L * c)};
  for (ptrdiff_t l = 0; l < c; l++) {
    double *T = all.T + r * l;
    for (ptrdiff_t j = 0; j < r; j++)
      T[j] = sqrt((sp->complete ? lambda[l] : 1) / (sp->values[j] + lambda[l]));
    scale_rows(r, L, T, sp->t, all.Tt + r * L * l);
  }
  return all;
}

/* ---- small sets: one system of h equations for each lambda ---- */

/* residual = (I - J)^-1 (y - yhat)_H with J = F_H R F_H' and R = T (I - E E') T, T^2 = (values +
   lambda)^-1, E an orthonormal basis of T Q_E'. Covariates take Z_H Z_H' besides. When F is
   complete, I - J = F_H diag(lambda / (values + lambda)) F_H' and nothing is subtracted. */
static int per_lambda(const struct spectrum *sp, const struct held *held, struct set set,
    const struct shrink *all, ptrdiff_t c, double *work, double *out, ptrdiff_t total) {
  const ptrdiff_t r = sp->r, h = set.h, e = set.e, L = sp->L, q = sp->q;
  const double sign = sp->complete ? 1 : -1;
  double *W = take(&work, r * (e + h)), *E = take(&work, r * (e + h)), *S = E + r * e;
  double *Z = take(&work, h * q);
  double *G = take(&work, h * h), *residual = take(&work, h * L), *along = take(&work, e * h);
  double *R = take(&work, e * e), *tau = take(&work, e);
  gather_basis(sp, held, set, W);
  gather_rows(sp, set, W + r * e);
  gather(sp->m, q, sp->Z, set, Z, h);
  for (ptrdiff_t l = 0; l < c; l++) {
    scale_rows(r, e + h, all->T + r * l, W, E);
    if (e > 0 && lapack_qr(r, e, E, r, R, e, tau, work, QR_ROOM * e) != 0)
      return 0;
    remove_along(r, e, E, h, S, along);
    if (sp->complete) {
      memset(G, 0, (size_t)(h * h) * sizeof(double));
      memset(residual, 0, (size_t)(h * L) * sizeof(double));
    } else {
      identity(h, G);
      blas_syrk(0, h, q, -1, Z, h, 1, G);
      gather(sp->m, L, sp->y, set, residual, h);
    }
    blas_syrk(1, h, r, sign, S, r, 1, G);
    blas_gemm(1, h, L, r, sign, S, r, all->Tt + r * L * l, r, 1, residual, h);
    if (lapack_cholesky(h, G) != 0)
      return 0;
    if (!sp->complete && smallest_pivot(h, G) < fmax(SMALLEST, held->singular))
      return 0;
    blas_solve("L", 1, h, L, G, residual, h);
    blas_solve("L", 0, h, L, G, residual, h);
    for (ptrdiff_t i = 0; i < L; i++)
      memcpy(out + total * (i + L * l), residual + i * h, (size_t)h * sizeof(double));
  }
  return 1;
}

/* ---- large sets: one eigenproblem for all lambdas ---- */

/* The rows that are left, a ridge problem in the same coordinates. Covariates are estimated anew
   without H, which takes q rows more away: L^-1 Z_H'F_H with LL' = I - Z_H'Z_H. */
struct fold {
  double *W; /* r x (h + q), the rows taken away */
  double *y; /* (h + q) x L, their responses */
  double *Z; /* h x q, Z_H */
  double *D; /* q x q, L' */
  double *M; /* r x r, F'F of the rows left */
  double *b; /* r x L, F'y of the rows left */
};

static int without_rows(
    const struct spectrum *sp, const struct held *held, struct set set, struct fold *fold) {
  const ptrdiff_t r = sp->r, h = set.h, L = sp->L, q = sp->q, k = h + q;
  double *W = fold->W, *y = fold->y, *Z = fold->Z, *D = fold->D;
  gather_rows(sp, set, W);
  gather(sp->m, L, sp->y, set, y, k);
  memcpy(fold->b, sp->t, (size_t)(r * L) * sizeof(double));
  if (q > 0) {
    gather(sp->m, q, sp->Z, set, Z, h);
    identity(q, D);
    blas_syrk(1, q, h, -1, Z, h, 1, D);
    if (lapack_cholesky(q, D) != 0 || smallest_pivot(q, D) < fmax(ALIASED, held->outweighed))
      return 0;
    blas_gemm(0, r, q, h, 1, W, r, Z, h, 0, W + r * h, r);
    blas_solve("R", 0, r, q, D, W + r * h, r);
    blas_gemm(1, q, L, h, 1, Z, h, y, k, 0, y + h, k);
    blas_solve("L", 1, q, L, D, y + h, k);
  }
  identity(r, fold->M);
  for (ptrdiff_t j = 0; j < r; j++)
    fold->M[j + j * r] = sp->values[j];
  blas_syrk(0, r, k, -1, W, r, 1, fold->M);
  if (held->outweighed > 0 && trace(r, fold->M) < held->outweighed * sum(r, sp->values))
    return 0;
  blas_gemm(0, r, L, k, -1, W, r, y, k, 1, fold->b, r);
  return 1;
}

/* M := P M P and b := P b with P = I - E E', E an orthonormal basis of Q_E'. */
static int without_basis(const struct spectrum *sp, struct set set, struct fold *fold, double *E,
    double *along, double *work) {
  const ptrdiff_t r = sp->r, e = set.e;
  double *M = fold->M, *ME = take(&work, r * e), *EME = take(&work, e * e);
  double *R = take(&work, e * e), *tau = take(&work, e);
  if (e == 0)
    return 1;
  if (lapack_qr(r, e, E, r, R, e, tau, work, QR_ROOM * e) != 0)
    return 0;
  remove_along(r, e, E, sp->L, fold->b, along);
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

/* out := y - f - Z_H b for every lambda, b the covariates' coefficients without H. */
static int every_lambda(const struct spectrum *sp, const struct held *held, struct set set,
    const struct fold *fold, const double *E, double *along, const double *lambda, ptrdiff_t c,
    double *work, double *out, ptrdiff_t total) {
  const ptrdiff_t r = sp->r, h = set.h, L = sp->L, q = sp->q, cL = c * L;
  double *values = take(&work, r), *Vb = take(&work, r * L), *shrunk = take(&work, r * cL);
  double *C = take(&work, r * cL), *f = take(&work, h * cL), *Zf = take(&work, q * cL);
  double least = lambda[0], most = 0;
  for (ptrdiff_t l = 1; l < c; l++)
    least = fmin(least, lambda[l]);
  for (ptrdiff_t j = 0; j < r; j++)
    most = fmax(most, sp->values[j]);
  if (lapack_eigen(r, fold->M, values, work) != 0)
    return 0;
  /* the smallest belong to the basis vectors taken away */
  if (set.e < r && fmax(values[set.e], 0) + least < held->singular * most)
    return 0;
  blas_gemm(1, r, L, r, 1, fold->M, r, fold->b, r, 0, Vb, r);
  for (ptrdiff_t l = 0; l < c; l++)
    for (ptrdiff_t i = 0; i < L; i++)
      for (ptrdiff_t j = 0; j < r; j++)
        shrunk[j + r * (i + L * l)] = Vb[j + i * r] / (fmax(values[j], 0) + lambda[l]);
  blas_gemm(0, r, cL, r, 1, fold->M, r, shrunk, r, 0, C, r);
  remove_along(r, set.e, E, cL, C, along);
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

static int per_fold(const struct spectrum *sp, const struct held *held, struct set set,
    const double *lambda, ptrdiff_t c, double *work, double *out, ptrdiff_t total) {
  const ptrdiff_t r = sp->r, h = set.h, e = set.e, L = sp->L, q = sp->q;
  struct fold fold = {.W = take(&work, r * (h + q)),
      .y = take(&work, (h + q) * L),
      .Z = take(&work, h * q),
      .D = take(&work, q * q),
      .M = take(&work, r * r),
      .b = take(&work, r * L)};
  double *E = take(&work, r * e), *along = take(&work, e * (L + c * L));
  gather_basis(sp, held, set, E);
  return without_rows(sp, held, set, &fold) && without_basis(sp, set, &fold, E, along, work) &&
         every_lambda(sp, held, set, &fold, E, along, lambda, c, work, out, total);
}

/* ---- all sets ---- */

static int hold_out(const struct spectrum *sp, const struct held *held, ptrdiff_t s,
    const double *lambda, const struct shrink *all, ptrdiff_t c, enum form form, double *work,
    double *residual) {
  const struct set set = set_at(held, s);
  const ptrdiff_t total = held->start[held->sets];
  double *out = residual + set.first;
  const int done = is_per_fold(sp, set, c, form)
                       ? per_fold(sp, held, set, lambda, c, work, out, total)
                       : per_lambda(sp, held, set, all, c, work, out, total);
  for (ptrdiff_t i = 0; i < c * sp->L && done; i++)
    for (ptrdiff_t k = 0; k < set.h; k++)
      out[k + total * i] /= sp->root_w[set.rows[k]];
  return done;
}

/* How many sets each thread is given between two questions to the host: about a tenth of a second
   of work. */
static ptrdiff_t sets_at_once(
    const struct spectrum *sp, const struct held *held, ptrdiff_t c, enum form form) {
  double most = 1;
  for (ptrdiff_t s = 0; s < held->sets; s++) {
    const struct set set = set_at(held, s);
    most = fmax(most,
        is_per_fold(sp, set, c, form) ? cost_per_fold(sp, set, c) : cost_per_lambda(sp, set, c));
  }
  return most < 1e8 ? (ptrdiff_t)(1e8 / most) : 1;
}

enum status holdout(const struct spectrum *sp, const struct held *held, const double *lambda,
    ptrdiff_t c, enum form form, struct host *host, void *work, double *residual, int *done) {
  const ptrdiff_t threads = host->threads, each = (ptrdiff_t)room(sp, held, c, form);
  const ptrdiff_t wave = threads * sets_at_once(sp, held, c, form);
  double *each_work = work;
  const struct shrink all = shrink(sp, lambda, c, &each_work);
  for (ptrdiff_t from = 0; from < held->sets; from += wave) {
    const ptrdiff_t to = held->sets - from < wave ? held->sets : from + wave;
    if (host->stop(host, (double)from, (double)held->sets))
      return INTERRUPTED;
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
#endif
    for (ptrdiff_t thread = 0; thread < threads; thread++)
      for (ptrdiff_t s = from + thread; s < to; s += threads)
        done[s] = hold_out(sp, held, s, lambda, &all, c, form, each_work + thread * each, residual);
  }
  return COMPLETE;
}
