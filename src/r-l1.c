/* What R calls for an l1 penalty: paths, and bounds of safe tests. */
#include "r.h" /* first: it makes `error` another name */

#include "l1.h"
#include <limits.h>
#include <string.h>

static const char *const screens[] = {[LAZY] = "lazy",
    [NO_SCREEN] = "none",
    [SAFE_ONE] = "safe1",
    [SAFE_TWO] = "safe2",
    [GAP_SAFE] = "gap"};

static enum loss loss_of(SEXP name) {
  expect(isString(name) && length(name) == 1, "loss");
  const int loss = l1_loss_named(CHAR(STRING_ELT(name, 0)));
  expect(loss >= 0, "loss");
  return (enum loss)loss;
}

static enum loss unpack_loss(SEXP control) {
  return loss_of(field(control, "loss"));
}

/* The loss at each column of f (rows x any). */
SEXP C_l1_losses(SEXP rows, SEXP name, SEXP f) {
  const enum loss loss = loss_of(name);
  const int m = length(field(rows, "root_w")), count = isMatrix(f) ? ncols(f) : 1;
  const struct problem pb = {.m = m,
      .root_w = double_field(rows, "root_w", m),
      .response = double_field(rows, "response", m),
      .risk = unpack_risk(field(rows, "risk"), m)};
  expect(loss != LEAST_SQUARES && l1_loss_is_smooth(loss) && l1_loss_takes(loss, &pb), "loss");
  const double *scores = finite_values(f, "f", (double)m * count);
  SEXP out = PROTECT(allocVector(REALSXP, count));
  l1_losses(&pb, loss, count, scores, R_alloc(l1_losses_work(&pb, loss), 1), REAL(out));
  UNPROTECT(1);
  return out;
}

/* ---- paths ---- */

/* A solution as R keeps it: the numbers of coefficients count from 1, with r if that is wanted. */
static SEXP solution_list(const struct problem *pb, struct l1_solution model, int with_r) {
  const size_t size = (size_t)model.size, d = sizeof(double);
  struct answer out = new_answer();
  PROTECT(out.list);
  int *feature = add_int(&out, "features", size);
  for (size_t k = 0; k < size; k++)
    feature[k] = model.feature[k] + 1;
  memcpy(add_real(&out, "beta", size), model.beta, size * d);
  const size_t covariates = (size_t)(pb->q * pb->L), values = (size_t)(pb->m * pb->L);
  memcpy(add_real(&out, "u", covariates), model.u, covariates * d);
  if (with_r)
    memcpy(add_real(&out, "r", values), model.r, values * d);
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
static double l1_explained(const struct problem *pb, const struct l1_control *ctl, double lambda,
    struct l1_solution model) {
  const double penalty = l1_norms(pb, ctl, model.size, model.beta);
  return 1 - (model.primal - lambda * penalty) / model.null_objective;
}

/* How many columns have a coefficient; seen (n) is 0 before and after. */
static int l1_columns(const struct problem *pb, struct l1_solution model, int *seen) {
  int columns = 0;
  for (int k = 0; k < model.size; k++)
    columns += seen[model.feature[k] / pb->L]++ == 0;
  for (int k = 0; k < model.size; k++)
    seen[model.feature[k] / pb->L] = 0;
  return columns;
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
         (fallen && change < real_field(control, "least_change") * fabs(explained[last]));
}

/* One of several paths side by side. */
struct l1_run {
  struct problem pb;
  struct l1_control control;
  struct l1_state *state;
  SEXP path;            /* the solutions, NULL where there is none yet */
  double *explained;    /* by each solution */
  int *seen;            /* n, as l1_columns() wants it */
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
    index_values(features, "features", size, 1, (int)(run->pb.n * run->pb.L));
    expect(!run->control.grouped || size % run->pb.L == 0, "features");
    expect(size == 0 || run->control.max_active > 0, "max_active");
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
  run->explained[step] = l1_explained(&run->pb, &run->control, lambda[step], model);
  run->done++;
  run->early_end = l1_columns(&run->pb, model, run->seen) > int_field(control, "max_size") ||
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

static struct l1_control unpack_l1(SEXP control) {
  const int count = length(field(control, "lambda"));
  double_field(control, "lambda", count);
  const double *bound = double_values(field(control, "bound"), "bound", count);
  for (int i = 0; i < count; i++)
    expect(!ISNAN(bound[i]), "bound");
  expect(count > 0, "lambda");
  return (struct l1_control){.loss = unpack_loss(control),
      .screen = (enum screen)CHOICE(control, "screen", screens),
      .tolerance = real_field(control, "tolerance"),
      .max_active = count_field(control, "max_active"),
      .lambdas = count,
      .ridge = real_field(control, "ridge"),
      .grouped = int_field(control, "grouped")};
}

/* Not where missing values are replaced, which is by other means in each problem. */
static int is_same_x(const struct problem *a, const struct problem *b) {
  return a->n == b->n && a->x.dense == b->x.dense && a->x.x == b->x.x && a->x.fill == NULL &&
         b->x.fill == NULL;
}

/* One run for each problem. The solutions of a path go into an element of `out`. */
static struct l1_run *unpack_runs(
    SEXP problems, SEXP control, const struct l1_control *ctl, SEXP out) {
  const int paths = length(problems);
  struct l1_run *run = (struct l1_run *)R_alloc((size_t)paths, sizeof(struct l1_run));
  for (int i = 0; i < paths; i++) {
    SET_VECTOR_ELT(out, i, allocVector(VECSXP, ctl->lambdas));
    run[i] = (struct l1_run){.pb = unpack_problem(VECTOR_ELT(problems, i), 1),
        .control = *ctl,
        .path = VECTOR_ELT(out, i),
        .explained = (double *)R_alloc((size_t)ctl->lambdas, sizeof(double))};
    run[i].pb.parameter = real_field(control, "parameter");
    const struct problem *pb = &run[i].pb;
    expect((double)pb->n * (double)pb->L <= INT_MAX, "y");
    expect(l1_loss_takes(ctl->loss, pb), "loss");
    run[i].seen = (int *)R_alloc((size_t)pb->n, sizeof(int));
    memset(run[i].seen, 0, (size_t)pb->n * sizeof(int));
    run[i].control.shares =
        paths > 1 && l1_loss_is_smooth(ctl->loss) && is_same_x(&run[i].pb, &run[0].pb);
  }
  return run;
}

/* Solves for all paths, which share passes over x where they wait. */
static void l1_advance_all(
    struct l1_run *run, int paths, SEXP workspaces, SEXP control, struct host *host) {
  struct l1_state **open = (struct l1_state **)R_alloc((size_t)paths, sizeof(struct l1_state *));
  void *work = R_alloc(l1_share_work(&run[0].pb, paths, host->threads), 1);
  enum status status = COMPLETE;
  for (int waiting = paths; waiting > 0 && status != INTERRUPTED;) {
    waiting = 0;
    for (int i = 0; i < paths && status != INTERRUPTED; i++) {
      status = l1_advance(run + i, workspaces, i, control, host);
      if (status == WAITING)
        open[waiting++] = run[i].state;
    }
    if (waiting > 0 && status != INTERRUPTED)
      status = l1_share_products(open, waiting, host, work);
  }
}

/* For each of some problems a solution for every lambda, up to where Ctrl-C stopped them. Paths
   with the same x share passes over it. The attribute "ended" of a path says whether it ended
   before the last lambda, after a solution with more than max_size columns or where later ones
   would explain little more. */
SEXP C_l1_paths(SEXP problems, SEXP control) {
  const int paths = length(problems);
  expect(isNewList(problems) && paths > 0, "problems");
  const struct l1_control ctl = unpack_l1(control);
  SEXP out = PROTECT(allocVector(VECSXP, paths));
  SEXP workspaces = PROTECT(allocVector(VECSXP, paths));
  struct l1_run *run = unpack_runs(problems, control, &ctl, out);
  struct r_host r;
  struct host host = make_host(&r, control, 0, run[0].pb.n);
  for (int i = 0; i < paths; i++)
    l1_open(run + i, workspaces, i, field(control, "start"), &host);
  l1_advance_all(run, paths, workspaces, control, &host);
  for (int i = 0; i < paths; i++) {
    release_workspace(VECTOR_ELT(workspaces, i));
    setAttrib(run[i].path, install("ended"), ScalarLogical(run[i].early_end));
  }
  if (final_status(COMPLETE, &r) == INTERRUPTED) /* by which R knows */
    SET_VECTOR_ELT(run[paths - 1].path, ctl.lambdas - 1, R_NilValue);
  UNPROTECT(2);
  return out;
}

/* ---- safe tests ---- */

/* T of every column: from a lower bound of the optimum, as far as it takes to know on which side of
   `enough` it is; from a bound that is linear between knots, with the lambda from which on the
   column is out; or from a model of hinge. */
static enum status bound_columns(
    const struct problem *pb, SEXP control, struct host *host, struct answer *out) {
  enum { BOUNDS, REACH, HINGE_GAP };
  static const char *const kernels[] = {
      [BOUNDS] = "bounds", [REACH] = "reach", [HINGE_GAP] = "hinge_gap"};
  const int kernel = CHOICE(control, "kernel", kernels);
  const enum loss loss = unpack_loss(control);
  double *T = add_real(out, "bounds", (size_t)pb->n);
  void *work = R_alloc(safe_work(pb, loss, host->threads), 1);
  if (kernel == BOUNDS)
    return safe_bounds(
        pb, loss, real_field(control, "gamma"), real_field(control, "enough"), NULL, host, work, T);
  if (kernel == HINGE_GAP)
    return safe_hinge_gap_bounds(pb, double_field(control, "f", (double)pb->m),
        real_field(control, "gap"), NULL, host, work, T);
  const int knots = length(field(control, "knots"));
  expect(knots > 0, "knots");
  const struct safe_knots bound = {.count = knots,
      .lambda = double_field(control, "knots", knots),
      .value = double_field(control, "values", knots)};
  double *reach = add_real(out, "reach", (size_t)pb->n);
  return safe_thresholds(pb, loss, &bound, real_field(control, "lambda"),
      real_field(control, "top"), host, work, T, reach);
}

SEXP C_safe_bounds(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem, 1);
  struct answer out = new_answer();
  PROTECT(out.list);
  struct r_host r;
  struct host host = make_host(&r, control, 0, pb.n);
  add_status(&out, bound_columns(&pb, control, &host, &out));
  UNPROTECT(1);
  return answer_list(&out);
}
