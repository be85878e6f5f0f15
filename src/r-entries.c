/* What R calls. An entry unpacks (problem, control), allocates the answer and the workspace so that
   a jump leaks nothing, and calls one kernel. */
#include "r.h" /* first: it makes `error` another name */

#include "column.h"
#include "l1.h"
#include "pursuit.h"
#include "ridge.h"
#include "simd.h"
#include "subset.h"
#include <string.h>

/* ---- choices, in R's words ---- */

static const char *const losses[] = {
    [LEAST_SQUARES] = "squared", [LOGISTIC] = "logistic", [HINGE] = "hinge"};
static const char *const screens[] = {[LAZY] = "lazy",
    [NO_SCREEN] = "none",
    [SAFE_ONE] = "safe1",
    [SAFE_TWO] = "safe2",
    [GAP_SAFE] = "gap"};
static const char *const scores[] = {
    [RESIDUAL] = "residual", [NORMALISED] = "normalised", [OLS] = "ols"};
static const char *const forms[] = {[HOLDOUT_CHEAPER] = "cheaper", [HOLDOUT_PER_FOLD] = "per_fold"};

/* ---- criteria ---- */

/* The loss of every row of a criterion of single rows, from the response and residuals (m x L). */
SEXP C_row_losses(SEXP name, SEXP response, SEXP residual) {
  const enum criterion kind = unpack_criterion(name);
  const int fits = isReal(response) && isReal(residual) && isMatrix(response) &&
                   isMatrix(residual) && nrows(response) == nrows(residual) &&
                   ncols(response) == ncols(residual);
  if (!fits)
    error("internal: response and residuals must be matrices of doubles of one size");
  const struct problem pb = {
      .m = nrows(response), .L = ncols(response), .response = REAL(response)};
  SEXP loss = PROTECT(allocVector(REALSXP, nrows(response)));
  if (!criterion_row_losses(&pb, kind, REAL(residual), REAL(loss)))
    error("internal: not a criterion of single rows");
  UNPROTECT(1);
  return loss;
}

/* The loss of pairs of scores, missing where one of the two is. */
SEXP C_pair_losses(SEXP positive, SEXP negative) {
  if (!isReal(positive) || !isReal(negative) || xlength(positive) != xlength(negative))
    error("internal: scores of pairs must be doubles, as many of one kind as of the other");
  SEXP loss = PROTECT(allocVector(REALSXP, xlength(positive)));
  for (R_xlen_t i = 0; i < xlength(loss); i++) {
    const double p = REAL(positive)[i], n = REAL(negative)[i];
    REAL(loss)[i] = ISNAN(p) || ISNAN(n) ? p + n : criterion_pair_loss(p, n);
  }
  UNPROTECT(1);
  return loss;
}

/* Weight of the pairs of a positive and a negative score in the right order, a tie counting half,
   and of all pairs; missing where a score is. */
SEXP C_pair_sum(SEXP positive, SEXP positive_weights, SEXP negative, SEXP negative_weights) {
  const SEXP scores[] = {positive, negative}, weights[] = {positive_weights, negative_weights};
  const R_xlen_t count = xlength(positive) + xlength(negative);
  double *score = (double *)R_alloc((size_t)count, sizeof(double));
  double *weight = (double *)R_alloc((size_t)count, sizeof(double));
  double *work = (double *)R_alloc(criterion_work(count), sizeof(double));
  double missing = 0;
  R_xlen_t next = 0;
  for (int class = 0; class < 2; class ++) {
    if (!isReal(scores[class]) || !isReal(weights[class]) ||
        xlength(scores[class]) != xlength(weights[class]))
      error("internal: scores must be doubles, with a weight for each");
    for (R_xlen_t i = 0; i < xlength(scores[class]); i++) {
      score[next] = REAL(scores[class])[i];
      weight[next++] = REAL(weights[class])[i];
      missing += ISNAN(REAL(scores[class])[i]) ? NA_REAL : 0;
    }
  }
  const struct criterion_sum sum =
      criterion_pair_sum(score, weight, xlength(positive), count, work);
  SEXP answer = PROTECT(allocVector(REALSXP, 2));
  REAL(answer)[0] = sum.weight - sum.loss + missing;
  REAL(answer)[1] = sum.weight;
  UNPROTECT(1);
  return answer;
}

/* Of rows query by query, the highest response of a query first: weight of the pairs of rows of one
   query whose scores are in the order of their responses, a tie counting half, and of all pairs of
   different responses. */
SEXP C_ordered_sum(SEXP response, SEXP score, SEXP weight, SEXP query) {
  const R_xlen_t m = xlength(response);
  if (!isReal(response) || !isReal(score) || !isReal(weight) || !isInteger(query) ||
      xlength(score) != m || xlength(weight) != m || xlength(query) != m)
    error("internal: ordered rows must have a response, a score, a weight and a query each");
  const double *y = REAL(response), *f = REAL(score), *w = REAL(weight);
  double *work = (double *)R_alloc(criterion_work(m), sizeof(double));
  double loss = 0, all = 0;
  for (R_xlen_t from = 0, to; from < m; from = to) {
    double missing = 0;
    for (to = from; to < m && INTEGER(query)[to] == INTEGER(query)[from]; to++)
      missing += ISNAN(f[to]) ? NA_REAL : 0;
    const struct criterion_sum sum =
        criterion_ordered_sum(y + from, f + from, w + from, to - from, work);
    loss += sum.loss + missing;
    all += sum.weight;
  }
  SEXP answer = PROTECT(allocVector(REALSXP, 2));
  REAL(answer)[0] = all - loss;
  REAL(answer)[1] = all;
  UNPROTECT(1);
  return answer;
}

/* ---- ridge regression ---- */

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

SEXP C_holdout(SEXP spectrum, SEXP control) {
  const struct spectrum sp = unpack_spectrum(spectrum);
  SEXP start = field(control, "start"), lambda = field(control, "lambda");
  SEXP order = field(control, "order");
  const int sets = length(start) - 1, held = length(order);
  const struct heldout heldout = {.sets = sets,
      .order = index_values(order, "order", held, 0, (int)sp.m - 1),
      .start = start_values(start, "start", sets, held),
      .basis = index_field(control, "basis", (double)sp.m, -1, (int)sp.n - 1),
      .outweighed = real_field(control, "outweighed"),
      .singular = real_field(control, "singular")};
  const double *lambdas = finite_values(lambda, "lambda", length(lambda));
  const ptrdiff_t c = length(lambda);
  const enum holdout_form form = (enum holdout_form)CHOICE(control, "form", forms);
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

/* Rows are fold by fold, `start` is empty for leave-one-out; candidates and their rows count from
   1, 0 for none. */
SEXP C_choose_centres(SEXP given, SEXP control) {
  SEXP K = matrix_field(given, "K", ANY, ANY), start = field(control, "start");
  const int m = nrows(K), n = ncols(K), folds = length(start) > 0 ? length(start) - 1 : 0;
  SEXP Z = matrix_field(given, "z_basis", m, ANY), y = matrix_field(given, "y", m, ANY);
  const int *row = index_field(given, "row", n, 0, m), k = count_field(control, "k");
  int *from_zero = (int *)R_alloc((size_t)n, sizeof(int));
  for (int h = 0; h < n; h++)
    from_zero[h] = row[h] - 1;
  expect(k <= n, "k");
  const struct centres ct = {.m = m,
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
      .row = from_zero,
      .folds = folds,
      .start = folds > 0 ? start_values(start, "start", folds, m) : NULL,
      .removed = int_field(control, "removed"),
      .k = k};
  struct answer out = new_answer();
  PROTECT(out.list);
  struct centres_result result = {.chosen = add_int(&out, "chosen", (size_t)ct.k),
      .error = add_real(&out, "error", (size_t)ct.k)};
  struct r_host r;
  struct host host = make_host(&r, control, 0, n);
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

/* ---- subsets ---- */

/* X'V, without the look for missing values that R's crossprod() takes at X each time. */
SEXP C_cross_columns(SEXP X, SEXP V) {
  expect(isReal(X) && isReal(V) && nrows(X) == nrows(V), "x");
  const ptrdiff_t m = nrows(X), n = ncols(X);
  SEXP out = PROTECT(allocMatrix(REALSXP, (int)n, ncols(V)));
  for (ptrdiff_t l = 0; l < ncols(V); l++)
    gram_products(m, n, REAL(X), REAL(V) + l * m, REAL(out) + l * n);
  UNPROTECT(1);
  return out;
}

/* A part of the answer that begins as R gave it, so many integers from `from` to `to`, for a kernel
   to change. */
static int *copy_int(
    struct answer *out, const char *name, SEXP control, double length, int from, int to) {
  const int *given = index_field(control, name, length, from, to);
  int *copy = add_int(out, name, (size_t)length);
  memcpy(copy, given, (size_t)length * sizeof(int));
  return copy;
}

SEXP C_poss(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  const int islands = length(field(control, "count")), n = (int)gram.n;
  SEXP price = field(control, "price");
  struct r_host r;
  struct host host = make_host(&r, control, 0, islands);
  const struct poss_control ctl = {.lambda = real_field(control, "lambda"),
      .max_size = count_field(control, "max_size"),
      .isolated = int_field(control, "isolated"),
      .exchanged = int_field(control, "exchanged"),
      .price = double_or_null(control, "price", n),
      .assay = isNull(price) ? NULL : index_field(control, "assay", n, -1, INT_MAX),
      .max_price = real_field(control, "max_price"),
      .islands = islands,
      .capacity = count_field(control, "capacity"),
      .max_cached = count_field(control, "kept") / host.threads,
      .iterations = real_field(control, "iterations")};
  const double sets = (double)ctl.capacity * islands;
  struct answer out = new_answer();
  PROTECT(out.list);
  struct poss_state state = {
      .random = copy_int(&out, "random", control, 8. * islands, INT_MIN, INT_MAX),
      .count = copy_int(&out, "count", control, islands, 0, ctl.capacity),
      .size = copy_int(&out, "size", control, sets, 0, ctl.max_size),
      .columns = copy_int(&out, "columns", control, sets * ctl.max_size, 0, n - 1),
      .gain = add_real(&out, "gain", (size_t)ctl.capacity * (size_t)islands),
      .done = add_real(&out, "done", 1)};
  void *work = R_alloc(poss_work(&gram, &ctl, host.threads), 1);
  add_status(&out, final_status(poss(&gram, &ctl, &host, work, &state), &r));
  UNPROTECT(1);
  return answer_list(&out);
}

SEXP C_best_subset(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  expect(gram.full != NULL, "whole");
  const struct best_control ctl = {.lambda = real_field(control, "lambda"),
      .k = count_field(control, "k"),
      .nodes = real_field(control, "nodes"),
      .total = real_field(terms, "total")};
  const size_t k = (size_t)ctl.k;
  struct answer out = new_answer();
  PROTECT(out.list);
  struct best_result result = {.set = add_int(&out, "set", k * k),
      .gain = add_real(&out, "gain", k),
      .bound = add_real(&out, "bound", k),
      .nodes = add_real(&out, "nodes", k)};
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  void *work = R_alloc(best_work(&gram, &ctl), 1);
  add_status(&out, final_status(best_subset(&gram, &ctl, &host, work, &result), &r));
  *add_int(&out, "sizes", 1) = result.sizes;
  UNPROTECT(1);
  return answer_list(&out);
}

/* NULL where Ctrl-C ended it. */
SEXP C_column_moments(SEXP x, SEXP w, SEXP centred, SEXP v, SEXP threads) {
  expect(isReal(v), "v");
  const ptrdiff_t m = nrows(v), n = size_of(x).columns, L = ncols(v);
  struct answer out = new_answer();
  PROTECT(out.list);
  const struct moments moments = {.m = m,
      .n = n,
      .L = L,
      .x = unpack_matrix(x, m, n),
      .w = finite_values(w, "weights", (double)m),
      .v = REAL(v),
      .centred = asLogical(centred),
      .centre = add_real(&out, "centre", (size_t)n),
      .squares = add_real(&out, "squares", (size_t)n),
      .products = add_real(&out, "products", (size_t)(n * L)),
      .stop = is_interrupted};
  const enum status status = column_moments(&moments, threads_here(threads, n));
  UNPROTECT(1);
  if (status != COMPLETE)
    return R_NilValue;
  return answer_list(&out);
}

/* Sums of squares of the columns of x about their weighted means of each query; NULL where Ctrl-C
   ended it. */
SEXP C_within_squares(SEXP x, SEXP centre, SEXP root_w, SEXP query, SEXP threads) {
  const int m = length(root_w), n = length(centre);
  const struct problem pb = {.m = m,
      .n = n,
      .x = unpack_matrix(x, m, n),
      .centre = finite_values(centre, "centre", n),
      .root_w = finite_values(root_w, "weights", m),
      .queries = unpack_queries(query, m)};
  const int count = threads_here(threads, pb.n);
  SEXP squares = PROTECT(allocVector(REALSXP, pb.n));
  const struct within_squares within = {.pb = &pb,
      .scratch = (double *)R_alloc((size_t)(count * pb.m), sizeof(double)),
      .squares = REAL(squares),
      .stop = is_interrupted};
  const enum status status = column_within_squares(&within, count);
  UNPROTECT(1);
  return status == COMPLETE ? squares : R_NilValue;
}

/* NULL where Ctrl-C ended it. */
SEXP C_column_means(SEXP x, SEXP w, SEXP threads) {
  const ptrdiff_t m = length(w), n = size_of(x).columns;
  struct answer out = new_answer();
  PROTECT(out.list);
  const struct present_means means = {.m = m,
      .n = n,
      .x = unpack_matrix(x, m, n),
      .w = finite_values(w, "weights", (double)m),
      .mean = add_real(&out, "mean", (size_t)n),
      .missing = add_real(&out, "missing", (size_t)n),
      .stop = is_interrupted};
  const enum status status = column_means(&means, threads_here(threads, n));
  UNPROTECT(1);
  return status == COMPLETE ? answer_list(&out) : R_NilValue;
}

/* Row and column, from 1, of an entry unlike its mirror image; NULL when there is none. */
SEXP C_asymmetry(SEXP A, SEXP root, SEXP share) {
  const ptrdiff_t n = ncols(A);
  expect(isReal(A) && nrows(A) == n && isReal(root) && length(root) == n, "x");
  const ptrdiff_t place = asymmetric_entry(n, REAL(A), REAL(root), asReal(share));
  if (place < 0)
    return R_NilValue;
  SEXP at = PROTECT(allocVector(INTSXP, 2));
  INTEGER(at)[0] = (int)(place % n) + 1;
  INTEGER(at)[1] = (int)(place / n) + 1;
  UNPROTECT(1);
  return at;
}

/* ---- models with an l1 penalty ---- */

/* A solution as R keeps it: features count from 1, with r if that is wanted. */
static SEXP solution_list(const struct problem *pb, struct l1_solution model, int with_r) {
  const size_t size = (size_t)model.size, d = sizeof(double);
  struct answer out = new_answer();
  PROTECT(out.list);
  int *feature = add_int(&out, "features", size);
  for (size_t k = 0; k < size; k++)
    feature[k] = model.feature[k] + 1;
  memcpy(add_real(&out, "beta", size), model.beta, size * d);
  memcpy(add_real(&out, "u", (size_t)pb->q), model.u, (size_t)pb->q * d);
  if (with_r)
    memcpy(add_real(&out, "r", (size_t)pb->m), model.r, (size_t)pb->m * d);
  *add_real(&out, "objective", 1) = model.primal;
  *add_real(&out, "gap", 1) = model.primal - model.dual;
  *add_real(&out, "max_abs_corr", 1) = model.max_abs_corr;
  *add_int(&out, "rounds", 1) = model.rounds;
  *add_real(&out, "products", 1) = model.products;
  *add_int(&out, "kept", 1) = model.kept;
  *add_real(&out, "null", 1) = model.null_objective;
  UNPROTECT(1);
  return answer_list(&out);
}

/* The share of the null model's objective that a solution's losses are less. */
static double l1_explained(const struct l1_control *ctl, double lambda, struct l1_solution model) {
  double penalty = 0;
  for (int k = 0; k < model.size; k++)
    penalty += fabs(model.beta[k]) + ctl->ridge / 2 * model.beta[k] * model.beta[k];
  return 1 - (model.primal - lambda * penalty) / model.null_objective;
}

/* Whether solutions have no more to say: more than `enough` is explained, or the fall of lambda by
   a third has added less than a share of `least_change`. *from, the last lambda before that fall,
   begins as 0. */
static int l1_path_ends(
    SEXP control, const double *lambda, const double *explained, int last, int *from) {
  while (*from < last && lambda[*from + 1] >= 1.5 * lambda[last])
    ++*from;
  const int fallen = lambda[*from] >= 1.5 * lambda[last];
  const double change = explained[last] - explained[*from];
  return explained[last] > real_field(control, "enough") ||
         (fallen && change < real_field(control, "least_change") * explained[last]);
}

/* One of several paths side by side. */
struct l1_run {
  struct problem pb;
  struct l1_control control;
  struct l1_state *state;
  SEXP path;            /* the solutions, NULL where there is none yet */
  double *explained;    /* by each solution */
  int done, from;       /* solutions; what l1_path_ends() keeps */
  int early_end, ended; /* before the last lambda, as C_l1_paths() says; or there, too */
};

/* Lays out the state of run i to go on from a solution, or from the null model. */
static void l1_open(struct l1_run *run, SEXP workspaces, int i, SEXP from, struct host *host) {
  for (;; run->control.max_active *= 2) {
    void *begin;
    if (!isNull(VECTOR_ELT(workspaces, i)))
      release_workspace(VECTOR_ELT(workspaces, i));
    SET_VECTOR_ELT(workspaces, i, alloc_workspace(l1_work(&run->pb, &run->control, host), &begin));
    run->state = l1_begin(&run->pb, &run->control, host, begin);
    if (isNull(from))
      return;
    SEXP features = PROTECT(duplicate(field(from, "features")));
    const int size = length(features);
    index_values(features, "features", size, 1, (int)run->pb.n);
    for (int k = 0; k < size; k++)
      INTEGER(features)[k]--;
    const enum status status =
        l1_start(run->state, size, INTEGER(features), double_field(from, "beta", size));
    UNPROTECT(1);
    if (status != WORKSPACE_FULL)
      return;
  }
}

/* Solves for the next lambda; where max_active is too small with twice as many columns from the
   last solution. */
static enum status l1_next(
    struct l1_run *run, SEXP workspaces, int i, SEXP control, struct host *host) {
  const double *lambda = REAL(field(control, "lambda")), *bound = REAL(field(control, "bound"));
  const int step = run->done;
  enum status status;
  while ((status = l1_solve(run->state, step, lambda[step], bound[step])) == WORKSPACE_FULL) {
    run->control.max_active *= 2;
    l1_open(run, workspaces, i,
        step > 0 ? VECTOR_ELT(run->path, step - 1) : field(control, "start"), host);
  }
  if (status != COMPLETE)
    return status;
  const struct l1_solution model = l1_solution(run->state);
  SET_VECTOR_ELT(run->path, step, solution_list(&run->pb, model, int_field(control, "with_r")));
  run->explained[step] = l1_explained(&run->control, lambda[step], model);
  run->done++;
  run->early_end = model.size > int_field(control, "max_size") ||
                   l1_path_ends(control, lambda, run->explained, step, &run->from);
  run->ended = run->early_end || run->done == run->control.lambdas;
  return COMPLETE;
}

/* Solves for one lambda after the other, up to where the path ends or waits. */
static enum status l1_advance(
    struct l1_run *run, SEXP workspaces, int i, SEXP control, struct host *host) {
  enum status status = COMPLETE;
  while (!run->ended && status == COMPLETE)
    status = l1_next(run, workspaces, i, control, host);
  return status;
}

/* Not where missing values are replaced, which is by other means in each problem. */
static int is_same_x(const struct matrix *a, const struct matrix *b) {
  return a->dense == b->dense && a->x == b->x && a->fill == NULL && b->fill == NULL;
}

/* For each of some problems a solution for every lambda, up to where Ctrl-C stopped them; where
   they have the same x, they share passes over it. The attribute "ended" of a path says whether it
   ended of itself, after a solution with more than max_size columns or with no more to say. */
SEXP C_l1_paths(SEXP problems, SEXP control) {
  const int paths = length(problems), count = length(field(control, "lambda"));
  double_field(control, "lambda", count);
  expect(isReal(field(control, "bound")) && length(field(control, "bound")) == count, "bound");
  expect(paths > 0 && count > 0, "lambda");
  const struct l1_control ctl = {.loss = (enum loss)CHOICE(control, "loss", losses),
      .screen = (enum screen)CHOICE(control, "screen", screens),
      .tolerance = real_field(control, "tolerance"),
      .max_active = count_field(control, "max_active"),
      .lambdas = count,
      .ridge = real_field(control, "ridge")};
  struct l1_run *run = (struct l1_run *)R_alloc((size_t)paths, sizeof(struct l1_run));
  struct l1_state **open = (struct l1_state **)R_alloc((size_t)paths, sizeof(struct l1_state *));
  SEXP out = PROTECT(allocVector(VECSXP, paths));
  SEXP workspaces = PROTECT(allocVector(VECSXP, paths));
  for (int i = 0; i < paths; i++) {
    SET_VECTOR_ELT(out, i, allocVector(VECSXP, count));
    run[i] = (struct l1_run){.pb = unpack_problem(VECTOR_ELT(problems, i), 1),
        .control = ctl,
        .path = VECTOR_ELT(out, i),
        .explained = (double *)R_alloc((size_t)count, sizeof(double))};
    run[i].control.shares = paths > 1 && ctl.loss != HINGE && is_same_x(&run[i].pb.x, &run[0].pb.x);
  }
  struct r_host r;
  struct host host = make_host(&r, control, 0, run[0].pb.n);
  for (int i = 0; i < paths; i++)
    l1_open(run + i, workspaces, i, field(control, "start"), &host);
  void *work = R_alloc(l1_share_work(&run[0].pb, paths, host.threads), 1);
  enum status status = COMPLETE;
  for (int waiting = paths; waiting > 0 && status != INTERRUPTED;) {
    waiting = 0;
    for (int i = 0; i < paths && status != INTERRUPTED; i++) {
      status = l1_advance(run + i, workspaces, i, control, &host);
      if (status == WAITING)
        open[waiting++] = run[i].state;
    }
    if (waiting > 0 && status != INTERRUPTED)
      status = l1_share_products(open, waiting, &host, work);
  }
  for (int i = 0; i < paths; i++) {
    release_workspace(VECTOR_ELT(workspaces, i));
    setAttrib(run[i].path, install("ended"), ScalarLogical(run[i].early_end));
  }
  if (final_status(COMPLETE, &r) == INTERRUPTED) /* by which R knows */
    SET_VECTOR_ELT(run[paths - 1].path, count - 1, R_NilValue);
  UNPROTECT(2);
  return out;
}

/* ---- safe tests ---- */

/* T of every column: from a lower bound of the optimum, as far as it takes to know on which side of
   `enough` it is; with the lambda from which on the column is out; or from a model of hinge. */
SEXP C_safe_bounds(SEXP problem, SEXP control) {
  enum { BOUNDS, REACH, HINGE_GAP };
  static const char *const kernels[] = {
      [BOUNDS] = "bounds", [REACH] = "reach", [HINGE_GAP] = "hinge_gap"};
  const struct problem pb = unpack_problem(problem, 1);
  const enum loss loss = (enum loss)CHOICE(control, "loss", losses);
  const int kernel = CHOICE(control, "kernel", kernels);
  struct answer out = new_answer();
  PROTECT(out.list);
  double *T = add_real(&out, "bounds", (size_t)pb.n);
  struct r_host r;
  struct host host = make_host(&r, control, 0, pb.n);
  void *work = R_alloc(safe_work(&pb, loss, host.threads), 1);
  if (kernel == BOUNDS) {
    const double gamma = real_field(control, "gamma"), enough = real_field(control, "enough");
    add_status(&out, safe_bounds(&pb, loss, gamma, enough, NULL, &host, work, T));
  } else if (kernel == REACH) {
    const int knots = length(field(control, "knots"));
    const struct safe_knots bound = {.count = knots,
        .lambda = double_field(control, "knots", knots),
        .value = double_field(control, "values", knots)};
    double *reach = add_real(&out, "reach", (size_t)pb.n);
    add_status(&out, safe_thresholds(&pb, loss, &bound, real_field(control, "lambda"),
                         real_field(control, "top"), &host, work, T, reach));
  } else {
    add_status(&out, safe_hinge_gap_bounds(&pb, double_field(control, "f", (double)pb.m),
                         real_field(control, "gap"), NULL, &host, work, T));
  }
  UNPROTECT(1);
  return answer_list(&out);
}

/* ---- sparse solutions of systems ---- */

/* Where the columns of a system come from: a matrix, X'X + ridge of a problem, or an R function. */
struct source {
  struct matrix A;
  struct gram gram;
  double ridge;
  double *dense; /* m, workspace for a column of a sparse x */
  SEXP function;
  struct r_host *r;
};

static int matrix_column(struct system *system, ptrdiff_t j, double *out) {
  const struct source *source = system->self;
  gather_column(&source->A, system->D, j, out);
  return 0;
}

static int gram_plus_ridge(struct system *system, ptrdiff_t j, double *out) {
  const struct source *source = system->self;
  gram_column(&source->gram, j, source->dense, out);
  out[j] += source->ridge;
  return 0;
}

static int function_column(struct system *system, ptrdiff_t j, double *out) {
  const struct source *source = system->self;
  SEXP which = PROTECT(ScalarInteger((int)j + 1));
  SEXP call = PROTECT(lang2(source->function, which));
  SEXP column = PROTECT(eval_interruptible(call));
  const int given = !isNull(column);
  expect(!given || (isReal(column) && xlength(column) == system->D), "columns");
  if (given)
    memcpy(out, REAL(column), (size_t)system->D * sizeof(double));
  UNPROTECT(3);
  return !given;
}

/* Of a system of D components. */
static struct scdp_control unpack_pursuit(SEXP control, int D) {
  SEXP first = field(control, "first"), candidates = field(control, "candidates");
  const int forced = length(first), width = nrows(candidates);
  const struct scdp_control out = {.k = count_field(control, "k"),
      .score = (enum scdp_score)CHOICE(control, "score", scores),
      .dependent = real_field(control, "dependent"),
      .forced = forced,
      .first = index_values(first, "first", forced, 0, D - 1),
      .drawn = count_field(control, "drawn"),
      .width = width,
      .candidates = index_values(candidates, "candidates", (double)xlength(candidates), 0, D - 1)};
  expect(out.drawn == 0 || ncols(candidates) >= out.k, "candidates");
  return out;
}

SEXP C_scdp(SEXP given, SEXP control) {
  SEXP b = matrix_field(given, "b", ANY, ANY), columns = field(given, "columns");
  const int D = nrows(b);
  const struct scdp_control ctl = unpack_pursuit(control, D);
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  struct source source = {.function = columns, .r = &r};
  struct system system = {.D = D,
      .L = ncols(b),
      .b = REAL(b),
      .diagonal = double_or_null(given, "diagonal", D),
      .self = &source};
  if (isFunction(columns)) {
    system.column = function_column;
  } else if (isNull(columns)) {
    source.gram = unpack_gram(given);
    source.ridge = real_field(given, "ridge");
    source.dense = (double *)R_alloc((size_t)source.gram.m, sizeof(double));
    system.column = gram_plus_ridge;
  } else {
    source.A = unpack_matrix(columns, D, D);
    system.column = matrix_column;
  }
  const size_t k = (size_t)ctl.k, L = (size_t)system.L;
  struct answer out = new_answer();
  PROTECT(out.list);
  int *chosen = add_int(&out, "chosen", k);
  double *factor = add_real(&out, "factor", k * k), *z = add_real(&out, "z", k * L);
  double *resid_norm = add_real(&out, "resid_norm", k), *pivot = add_real(&out, "pivot", 1);
  int *size = add_int(&out, "size", 1), *worst = add_int(&out, "worst", 1);
  struct pursuit path = scdp_begin(&system, &ctl, R_alloc(scdp_work(&system, &ctl), 1));
  add_status(&out, final_status(scdp(&path, &system, &ctl, &host), &r));
  pursuit_path(&path, &system, chosen, factor);
  memcpy(z, path.z, k * L * sizeof(double));
  memcpy(resid_norm, path.resid_norm, k * sizeof(double));
  *size = path.size;
  *worst = (int)path.worst + 1;
  *pivot = path.pivot;
  UNPROTECT(1);
  return answer_list(&out);
}

SEXP C_fixed_size(SEXP machine, SEXP control) {
  SEXP y = matrix_field(machine, "y", ANY, ANY), start = field(machine, "start");
  const int m = nrows(y), L = ncols(y), folds = length(start) - 1;
  SEXP K = matrix_field(machine, "K", m, ANY), Z = matrix_field(machine, "z", m, ANY);
  SEXP lambda = field(control, "lambda");
  const int n = ncols(K);
  const struct fixed_size fs = {.m = m,
      .n = n,
      .q = ncols(Z),
      .L = L,
      .K = REAL(K),
      .Z = REAL(Z),
      .K_prototypes = REAL(matrix_field(machine, "K_prototypes", n, n)),
      .y = REAL(y),
      .response = REAL(matrix_field(machine, "response", m, L)),
      .root_w = double_field(machine, "root_w", m),
      .folds = folds,
      .start = start_values(start, "start", folds, m),
      .nu = real_field(machine, "nu")};
  const struct fixed_size_control ctl = {.pursuit = unpack_pursuit(control, n + ncols(Z)),
      .classes = int_field(control, "classes"),
      .window = count_field(control, "window"),
      .change = real_field(control, "change")};
  const double *lambdas = finite_values(lambda, "lambda", length(lambda));
  const size_t k = (size_t)ctl.pursuit.k, count = (size_t)length(lambda), sizes = k * count;
  const size_t mL = (size_t)(fs.m * fs.L) * (size_t)count_field(control, "residuals");
  struct answer out = new_answer();
  PROTECT(out.list);
  struct fixed_size_result result = {.size = add_int(&out, "size", count),
      .chosen = add_int(&out, "chosen", sizes),
      .factor = add_real(&out, "factor", sizes * k),
      .z = add_real(&out, "z", sizes * (size_t)fs.L),
      .squared = add_real(&out, "squared", sizes),
      .se = add_real(&out, "se", sizes),
      .error = add_real(&out, "error", ctl.classes ? sizes : 0),
      .residual = add_real(&out, "residual", mL * sizes)};
  for (size_t s = 0; s < sizes; s++)
    result.squared[s] = result.se[s] = NA_REAL;
  for (size_t s = 0; ctl.classes && s < sizes; s++)
    result.error[s] = NA_REAL;
  if (mL == 0)
    result.residual = NULL;
  struct r_host r;
  struct host host = make_host(&r, control, 0, fs.m);
  void *work = R_alloc(fixed_size_work(&fs, &ctl, (int)count), 1);
  add_status(
      &out, final_status(fixed_size(&fs, lambdas, (int)count, &ctl, &host, work, &result), &r));
  *add_real(&out, "columns", 1) = result.columns;
  UNPROTECT(1);
  return answer_list(&out);
}

/* How many threads a call gets that asks for `threads`, with so many parts to share. */
SEXP C_threads_here(SEXP threads, SEXP parts) {
  return ScalarInteger(threads_here(threads, asInteger(parts)));
}

/* Uses the instruction set of vectors of at most `width` doubles, NULL: leaves it; gives the width
   there was. */
SEXP C_use_simd(SEXP width) {
  const int before = simd->width;
  if (!isNull(width))
    simd = simd_for(asInteger(width));
  return ScalarInteger(before);
}
