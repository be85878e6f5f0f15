/* What R calls for ridge regression: the spectrum of a kernel expansion, rows held out of it, the
   choice of centres, triangles of rows. */
#include "r.h" /* first: it makes `error` another name */

#include "ridge.h"
#include <string.h>

static const char *const forms[] = {[HOLDOUT_CHEAPER] = "cheaper", [HOLDOUT_PER_FOLD] = "per_fold"};

/* K (m x n), R (n x n), root_w, Z -> F (phi in R, where F is FALSE), values, Q */
SEXP C_kernel_spectrum(SEXP problem, SEXP control) {
  SEXP K = matrix_field(problem, "K", ANY, ANY);
  const ptrdiff_t m = nrows(K), n = ncols(K);
  SEXP R = matrix_field(problem, "R", n, n), Z = matrix_field(problem, "z_basis", m, ANY);
  const double *root_w = double_field(problem, "root_w", (double)m);
  const ptrdiff_t q = ncols(Z);
  const size_t order = (size_t)n;
  struct answer out = new_answer();
  PROTECT(out.list);
  double *F = add_real(&out, "phi", (size_t)m * order);
  double *values = add_real(&out, "values", order);
  double *Q = add_real(&out, "Q", order * order);
  memcpy(F, REAL(K), (size_t)m * order * sizeof(double));
  memcpy(Q, REAL(R), order * order * sizeof(double));
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work = R_alloc(kernel_spectrum_work(m, n, q), 1);
  add_status(&out, kernel_spectrum(m, n, q, root_w, REAL(Z), &host, work, F, Q, values));
  UNPROTECT(1);
  return answer_list(&out);
}

/* K (n x n) and control$lambda -> phi */
SEXP C_kernel_factor(SEXP K, SEXP control) {
  expect(isReal(K) && nrows(K) == ncols(K), "K");
  const ptrdiff_t n = nrows(K);
  struct answer out = new_answer();
  PROTECT(out.list);
  double *F = add_real(&out, "phi", (size_t)(n * n));
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work = R_alloc(kernel_factor_work(n), 1);
  add_status(&out, kernel_factor(n, REAL(K), real_field(control, "lambda"), &host, work, F));
  UNPROTECT(1);
  return answer_list(&out);
}

static struct spectrum unpack_spectrum(SEXP spectrum) {
  SEXP F = matrix_field(spectrum, "phi", ANY, ANY);
  const int m = nrows(F), r = ncols(F);
  SEXP y = matrix_field(spectrum, "y", m, ANY), Z = matrix_field(spectrum, "z_basis", m, ANY);
  SEXP Q = matrix_field(spectrum, "back", ANY, r);
  return (struct spectrum){.m = m,
      .r = r,
      .q = ncols(Z),
      .L = ncols(y),
      .complete = int_field(spectrum, "complete"),
      .F = REAL(F),
      .values = double_field(spectrum, "values", r),
      .t = REAL(matrix_field(spectrum, "t", r, ncols(y))),
      .y = REAL(y),
      .Z = REAL(Z),
      .root_w = double_field(spectrum, "root_w", m),
      .Q = REAL(Q),
      .n = nrows(Q)};
}

/* Sets of rows of a spectrum. */
static struct heldout unpack_heldout(SEXP control, const struct spectrum *sp) {
  SEXP start = field(control, "start"), order = field(control, "order");
  const int sets = length(start) - 1, held = length(order);
  return (struct heldout){.sets = sets,
      .order = index_values(order, "order", held, 0, (int)sp->m - 1),
      .start = start_values(start, "start", sets, held),
      .basis = index_field(control, "basis", (double)sp->m, -1, (int)sp->n - 1),
      .outweighed = real_field(control, "outweighed"),
      .singular = real_field(control, "singular")};
}

SEXP C_holdout(SEXP spectrum, SEXP control) {
  const struct spectrum sp = unpack_spectrum(spectrum);
  const struct heldout heldout = unpack_heldout(control, &sp);
  const enum holdout_form form = (enum holdout_form)CHOICE(control, "form", forms);
  const ptrdiff_t c = length(field(control, "lambda"));
  const double *lambdas = double_field(control, "lambda", (double)c);
  const size_t rows = (size_t)heldout.start[heldout.sets];
  struct answer out = new_answer();
  PROTECT(out.list);
  double *residual = add_real(&out, "residual", rows * (size_t)(sp.L * c));
  int *done = add_int(&out, "done", (size_t)heldout.sets);
  struct r_host r;
  struct host host = make_host(&r, control, 0, heldout.sets);
  void *work = R_alloc(holdout_work(&sp, &heldout, c, form, host.threads), 1);
  add_status(&out, holdout(&sp, &heldout, lambdas, c, form, &host, work, residual, done));
  UNPROTECT(1);
  return answer_list(&out);
}

/* The rows that candidates are, which R counts from 1, 0 for none. */
static const int *unpack_rows(SEXP given, int candidates, int m) {
  const int *row = index_field(given, "row", candidates, 0, m);
  int *from_zero = (int *)R_alloc((size_t)candidates, sizeof(int));
  for (int h = 0; h < candidates; h++)
    from_zero[h] = row[h] - 1;
  return from_zero;
}

/* Rows are fold by fold, `start` is empty for leave-one-out. */
static struct centres unpack_centres(SEXP given, SEXP control) {
  SEXP K = matrix_field(given, "K", ANY, ANY), start = field(control, "start");
  const int m = nrows(K), n = ncols(K), folds = length(start) > 0 ? length(start) - 1 : 0;
  SEXP Z = matrix_field(given, "z_basis", m, ANY), y = matrix_field(given, "y", m, ANY);
  const struct centres out = {.m = m,
      .n = n,
      .q = ncols(Z),
      .L = ncols(y),
      .K = REAL(K),
      .penalty = REAL(matrix_field(given, "penalty", n, n)),
      .shift = real_field(given, "shift"),
      .Z = REAL(Z),
      .root_w = double_field(given, "root_w", m),
      .y = REAL(y),
      .lambda = real_field(control, "lambda"),
      .row = unpack_rows(given, n, m),
      .folds = folds,
      .start = folds > 0 ? start_values(start, "start", folds, m) : NULL,
      .removed = int_field(control, "removed"),
      .k = count_field(control, "k")};
  expect(folds == 0 || out.start[folds] == m, "start");
  expect(out.k <= n, "k");
  return out;
}

/* The centres chosen count from 1. */
SEXP C_choose_centres(SEXP given, SEXP control) {
  const struct centres ct = unpack_centres(given, control);
  struct answer out = new_answer();
  PROTECT(out.list);
  struct centres_result result = {.chosen = add_int(&out, "chosen", (size_t)ct.k),
      .error = add_real(&out, "error", (size_t)ct.k)};
  struct r_host r;
  struct host host = make_host(&r, control, 0, ct.n);
  void *work = R_alloc(centres_work(&ct), 1);
  add_status(&out, final_status(choose_centres(&ct, &host, work, &result), &r));
  *add_int(&out, "size", 1) = result.size;
  for (int i = 0; i < result.size; i++)
    result.chosen[i]++;
  UNPROTECT(1);
  return answer_list(&out);
}

/* The triangle of two matrices, one on top of the other. */
SEXP C_triangle(SEXP above, SEXP below) {
  expect(isReal(above) && isReal(below) && ncols(above) == ncols(below), "triangle");
  const ptrdiff_t p = ncols(above), a = nrows(above), b = nrows(below);
  SEXP out = PROTECT(allocMatrix(REALSXP, (int)p, (int)p));
  void *work = R_alloc(triangle_work(a + b, p), 1);
  if (triangle(p, a, REAL(above), b, REAL(below), work, REAL(out)) != 0)
    error("LAPACK's dgeqrf failed");
  UNPROTECT(1);
  return out;
}
