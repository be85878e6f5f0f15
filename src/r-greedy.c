/* What R calls for greedy search: as a whole, for many responses, and in steps. */
#include "r.h" /* first: it makes `error` another name */

#include "column.h"
#include "greedy.h"
#include "products.h"
#include "work.h"
#include <math.h>
#include <string.h>

static const char *const skippings[] = {
    [SKIP_NONE] = "none", [SKIP_BY_BOUNDS] = "bounds", [SKIP_BY_RECURRENCE] = "recurrence"};

static const char *const searches[] = {[FORWARD] = "forward",
    [BACKWARD] = "backward",
    [FLOATING] = "floating",
    [FORWARD_BACKWARD] = "forward_backward"};

static const char *const group_rules[] = {
    [NO_GROUPS] = "none", [MOVE_TOGETHER] = "together", [AT_MOST_ONE] = "one"};

/* Whether the columns of each group are of that group, and no model of k groups has more than
   most_columns columns. Groups that move together have two columns or more. */
static int groups_fit(
    const struct column_groups *groups, const struct problem *pb, int k, int most_columns) {
  int *size = (int *)R_alloc((size_t)groups->count, sizeof(int)), fit = 1, left = k, most = 0;
  for (int g = 0; g < groups->count; g++) {
    size[g] = groups->start[g + 1] - groups->start[g];
    for (int p = groups->start[g]; p < groups->start[g + 1]; p++)
      fit = fit && groups->of[groups->columns[p]] == g;
  }
  if (groups->rule != MOVE_TOGETHER)
    return fit && most_columns >= k;
  R_isort(size, groups->count);
  for (int g = groups->count; g-- > 0 && left > 0; left--)
    most += size[g];
  for (ptrdiff_t j = 0; j < pb->n && left > 0; j++)
    if (pb->usable[j] && groups->of[j] < 0) {
      most++;
      left--;
    }
  return fit && most_columns >= most;
}

/* Groups of n columns. */
static struct column_groups unpack_groups(SEXP control, int n) {
  const enum group_rule rule = (enum group_rule)CHOICE(control, "group_rule", group_rules);
  SEXP start = field(control, "group_start"), columns = field(control, "group_columns");
  const int count = length(start) - 1, members = length(columns);
  return (struct column_groups){.rule = rule,
      .count = count,
      .of = index_field(control, "group_of", rule == NO_GROUPS ? 0 : n, -1, count - 1),
      .start = start_values(start, "group_start", count, members),
      .columns = index_values(columns, "group_columns", members, 0, n - 1)};
}

static struct column_needs unpack_needs(SEXP control, int n) {
  SEXP start = field(control, "needs_start"), needs = field(control, "needs");
  const int count = length(needs);
  return (struct column_needs){
      .start = length(start) > 0 ? start_values(start, "needs_start", n, count) : NULL,
      .columns = index_values(needs, "needs", count, 0, n - 1)};
}

/* Groups of m rows, none for other criteria. */
static struct row_groups unpack_row_groups(SEXP control, int m) {
  SEXP null = field(control, "row_null");
  const int count = length(null);
  return (struct row_groups){.count = count,
      .of = index_field(control, "row_group", count > 0 ? m : 0, 0, count - 1),
      .null = finite_values(null, "row_null", count)};
}

/* What is known of the rows of a problem that has none, in memory of R_alloc(). */
static struct greedy_products unpack_products(SEXP control, const struct problem *pb) {
  SEXP given = field(control, "products");
  if (isNull(given))
    return (struct greedy_products){.of = NULL, .without = -1};
  struct fold_products *of = (struct fold_products *)R_alloc(1, sizeof *of);
  const SEXP values = field(given, "of"), turn = field(given, "turn");
  expect(isMatrix(values), "of");
  const double size = nrows(values);
  *of = (struct fold_products){
      .folds = count_field(given, "folds"), .order = (ptrdiff_t)sqrt(2 * size)};
  expect(packed_size(of->order) == nrows(values), "of");
  /* which C_fold_products() made, so that no search need look for what is not finite */
  of->of = double_values(values, "of", size * (of->folds + 1));
  of->weight = double_field(given, "weight", of->folds + 1);
  const int *without = index_field(given, "without", 1, 0, of->folds);
  const ptrdiff_t width = isNull(turn) ? 0 : nrows(turn);
  return (struct greedy_products){.of = of,
      .without = *without - 1,
      .fold_sizes = count_field(given, "fold_sizes"),
      .variable =
          index_field(given, "variable", (double)(pb->n + pb->q + pb->L), 0, (int)of->order - 1),
      .turn = isNull(turn) ? NULL : double_values(turn, "turn", (double)(width * pb->n)),
      .width = width};
}

/* Whether such a problem is searched as these products allow. */
static int products_fit(const struct greedy_control *control, const struct problem *pb) {
  const struct greedy_products *products = &control->products;
  if (products->of == NULL)
    return 1;
  for (int g = 0; g < control->given_count; g++)
    if (!pb->usable[control->given[g]])
      return 0;
  return control->search == FORWARD && control->criterion == SQUARED && !control->classes &&
         !control->rereads && control->skipping == SKIP_NONE && products->of->folds > 0 &&
         products->fold_sizes <= control->k + 1 &&
         (products->turn == NULL || products->width >= greedy_largest_group(&control->groups));
}

/* With `others` columns of other shards have numbers from n on. */
static struct greedy_control unpack_greedy(SEXP control, const struct problem *pb, int others) {
  const int n = (int)pb->n, k = count_field(control, "k");
  SEXP given = field(control, "given"), price = field(control, "price");
  const struct greedy_control out = {.lambda = real_field(control, "lambda"),
      .nu = real_field(control, "nu"),
      .k = k,
      .patience = count_field(control, "patience"),
      .keep = count_field(control, "keep"),
      .max_moves = count_field(control, "limit"),
      .search = (enum search)CHOICE(control, "search", searches),
      .criterion = unpack_criterion(field(control, "criterion")),
      .row_groups = unpack_row_groups(control, (int)pb->m),
      .group_folds = int_field(control, "group_folds"),
      .given = index_values(given, "given", length(given), 0, others ? INT_MAX : n - 1),
      .given_count = length(given),
      .price = double_or_null(control, "price", n),
      .assay = isNull(price) ? NULL : index_field(control, "assay", n, -1, n - 1),
      .budget = real_field(control, "budget"),
      .classes = int_field(control, "classes"),
      .skipping = (enum skipping)CHOICE(control, "skipping", skippings),
      .rereads = int_field(control, "rereads"),
      .groups = unpack_groups(control, n),
      .most_columns = count_field(control, "most_columns"),
      .needs = unpack_needs(control, n),
      .products = unpack_products(control, pb),
      .ceiling = double_or_null(control, "ceiling", k + 1)};
  expect(products_fit(&out, pb), "products");
  expect(out.search == BACKWARD || out.given_count <= k, "given");
  expect(!criterion_is_of_groups(out.criterion) || out.row_groups.count > 0, "row_null");
  expect(out.criterion != USER || isFunction(field(control, "user_loss")), "user_loss");
  expect(groups_fit(&out.groups, pb, k, out.most_columns), "most_columns");
  return out;
}

/* Memory for what a search finds, in parts of the answer. */
static struct greedy_result new_result(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *ctl, struct answer *out) {
  const size_t k = (size_t)ctl->k, moves = (size_t)ctl->max_moves + 1;
  const size_t mL = (size_t)(pb->m * pb->L), columns = (size_t)greedy_most_columns(ctl);
  const size_t of_beta = columns * (size_t)pb->L, of_u = (size_t)(pb->q * pb->L);
  const struct greedy_products *by = &ctl->products;
  const int by_products = by->of != NULL;
  const size_t fold_models = by_products ? (size_t)(by->of->folds * by->fold_sizes) : 0;
  const size_t gram = (size_t)greedy_given_products(pb, folds, ctl);
  return (struct greedy_result){.feature = add_int(out, "feature", moves),
      .size = add_int(out, "size", moves),
      .loss = add_real(out, "loss", moves),
      .se = add_real(out, "se", moves),
      .squared = add_real(out, "squared", moves),
      .error = add_real(out, "error", moves),
      .model_entry = add_int(out, "model_entry", k + 1),
      .model = add_int(out, "model", columns * (k + 1)),
      .model_columns = add_int(out, "model_columns", k + 1),
      .beta = add_real(out, "beta", of_beta * (k + 1)),
      .covariates = by_products ? add_real(out, "u", of_u * (k + 1)) : NULL,
      .fold_beta = by_products ? add_real(out, "fold_beta", of_beta * fold_models) : NULL,
      .fold_covariates = by_products ? add_real(out, "fold_u", of_u * fold_models) : NULL,
      .held_out = add_real(out, "held_out", mL),
      .fitted = add_real(out, "fitted", mL),
      .runner_up = add_int(out, "other", moves * (size_t)ctl->keep),
      .runner_up_loss = add_real(out, "other_loss", moves * (size_t)ctl->keep),
      .gram = gram > 0 ? add_real(out, "gram", gram) : NULL,
      .pivot = add_real(out, "pivot", moves)};
}

static SEXP finish_result(
    struct answer *out, const struct greedy_result *result, enum status status) {
  add_status(out, status);
  *add_int(out, "moves", 1) = result->moves;
  *add_int(out, "best", 1) = result->best;
  double *done = add_real(out, "work", 6);
  done[0] = result->work.candidates;
  done[1] = result->work.evaluated;
  done[2] = result->work.columns_read;
  done[3] = result->work.recurrence_from;
  done[4] = result->work.dense_from;
  done[5] = result->work.reread_from;
  return answer_list(out);
}

/* One search as a list; work: greedy_work() bytes. */
static SEXP run_greedy(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *ctl, struct host *host, void *work) {
  struct answer out = new_answer();
  PROTECT(out.list);
  struct greedy_result result = new_result(pb, folds, ctl, &out);
  const enum status status = greedy_rls(pb, folds, ctl, host, work, &result);
  SEXP answer = finish_result(&out, &result, final_status(status, host->self));
  UNPROTECT(1);
  return answer;
}

/* Products of the columns by the folds of one partition. NULL where Ctrl-C ended it. */
SEXP C_fold_products(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem, 1);
  const struct folds folds = unpack_folds(field(control, "folds"), pb.m);
  expect(pb.x.p == NULL && (pb.x.element == DOUBLES || pb.x.element == COMPUTED), "x");
  expect(folds.repeats == 1, "folds");
  const size_t count = (size_t)folds.count[0] + 1;
  const size_t size = (size_t)packed_size(pb.n + pb.q + pb.L);
  struct r_host r;
  struct host host = make_host(&r, control, 0, pb.n);
  struct answer out = new_answer();
  PROTECT(out.list);
  *add_int(&out, "folds", 1) = folds.count[0];
  double *of = add_real(&out, "of", size * count);
  double *weight = add_real(&out, "weight", count);
  void *work;
  SEXP workspace = PROTECT(alloc_workspace(fold_products_work(&pb), &work));
  const enum status status = fold_products(&pb, &folds, &host, work, of, weight);
  release_workspace(workspace);
  SEXP answer = PROTECT(status == COMPLETE ? answer_list(&out) : R_NilValue);
  if (status == COMPLETE) {
    expect_finite(of + (count - 1) * size, size, "products");
    SEXP dim = PROTECT(allocVector(INTSXP, 2));
    INTEGER(dim)[0] = (int)size;
    INTEGER(dim)[1] = (int)count;
    setAttrib(field(answer, "of"), R_DimSymbol, dim);
    UNPROTECT(1);
  }
  UNPROTECT(3);
  return answer;
}

SEXP C_greedy_rls(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem, 1);
  const struct folds folds = isNull(field(control, "products"))
                                 ? unpack_folds(field(control, "folds"), pb.m)
                                 : (struct folds){.repeats = 0};
  struct greedy_control ctl = unpack_greedy(control, &pb, 0);
  const ptrdiff_t gram = greedy_given_products(&pb, &folds, &ctl);
  ctl.gram = gram > 0 ? double_or_null(control, "gram", (double)gram) : NULL;
  struct r_host r;
  struct host host = make_host(&r, control, (size_t)(pb.m * pb.L), pb.n + pb.m);
  void *work;
  SEXP workspace = PROTECT(alloc_workspace(greedy_work(&pb, &folds, &ctl, host.threads), &work));
  SEXP answer = PROTECT(run_greedy(&pb, &folds, &ctl, &host, work));
  release_workspace(workspace);
  UNPROTECT(2);
  return answer;
}

/* Products of n columns, none of which is made yet, in `rows` (n x capacity). */
static struct greedy_shared new_shared(ptrdiff_t n, int capacity, double *rows) {
  const struct greedy_shared shared = {.capacity = capacity,
      .rows = rows,
      .place = (int *)R_alloc((size_t)n, sizeof(int)),
      .fold_norm = (double *)R_alloc((size_t)n, sizeof(double))};
  for (ptrdiff_t i = 0; i < n; i++)
    shared.place[i] = -1;
  return shared;
}

/* A search for each of some responses, whose products with the columns of x go into `products`.
   Searches that Ctrl-C leaves out are NULL. */
static SEXP run_responses(const struct problem *all, int searches, const struct folds *folds,
    const struct greedy_control *ctl, struct host *host, double *products) {
  const struct r_host *r = host->self;
  struct problem pb = *all;
  pb.L = all->L / searches;
  const size_t needed = greedy_work(&pb, folds, ctl, host->threads);
  const size_t before = problem_products_work(all, host->threads);
  void *work;
  SEXP answers = PROTECT(allocVector(VECSXP, searches));
  SEXP workspace = PROTECT(alloc_workspace(needed > before ? needed : before, &work));
  problem_products(all, host, work, products);
  for (int one = 0; one < searches && !r->stopped; one++) {
    pb.y = all->y + one * pb.m * pb.L;
    pb.response = all->response + one * pb.m * pb.L;
    pb.products = products + one * pb.n * pb.L;
    SET_VECTOR_ELT(answers, one, run_greedy(&pb, folds, ctl, host, work));
  }
  release_workspace(workspace);
  UNPROTECT(2);
  return answers;
}

/* A search for each of many responses on one x, of which y and response (m x L x searches) have
   all; the answer is a list of lists. */
SEXP C_greedy_responses(SEXP problem, SEXP control) {
  const int searches = count_field(control, "searches");
  expect(searches > 0, "searches");
  const struct problem all = unpack_problem(problem, searches);
  const struct folds folds = unpack_folds(field(control, "folds"), all.m);
  const ptrdiff_t n = all.n, capacity = count_field(control, "shared_rows");
  void *kept;
  SEXP memory = PROTECT(alloc_workspace((size_t)(n * (capacity + all.L)) * sizeof(double), &kept));
  struct greedy_shared shared = new_shared(n, (int)capacity, (double *)kept + n * all.L);
  struct greedy_control ctl = unpack_greedy(control, &all, 0);
  ctl.shared = &shared;
  struct r_host r;
  struct host host = make_host(&r, control, (size_t)(all.m * (all.L / searches)), n + all.m);
  SEXP answers = PROTECT(run_responses(&all, searches, &folds, &ctl, &host, kept));
  release_workspace(memory);
  UNPROTECT(2);
  return answers;
}

/* ---- by a likelihood ---- */

static const struct likelihood *unpack_likelihood(SEXP control, const struct problem *pb) {
  SEXP name = field(control, "loss");
  expect(isString(name) && length(name) == 1, "loss");
  const struct likelihood *loss = likelihood_named(CHAR(STRING_ELT(name, 0)));
  expect(loss != NULL, "loss");
  expect(loss->memo == NULL || pb->risk.moments > 0, "risk");
  return loss;
}

static struct likelihood_control unpack_likelihood_control(SEXP control, const struct problem *pb) {
  SEXP given = field(control, "given");
  const struct column_groups groups = unpack_groups(control, (int)pb->n);
  const struct likelihood_control out = {.loss = unpack_likelihood(control, pb),
      .lambda = real_field(control, "lambda"),
      .k = count_field(control, "k"),
      .refits = count_field(control, "refits"),
      .patience = count_field(control, "patience"),
      .given = index_values(given, "given", length(given), 0, (int)pb->n - 1),
      .given_count = length(given),
      .groups = groups,
      .most_columns = count_field(control, "most_columns"),
      .ceiling = double_field(control, "ceiling", (double)count_field(control, "k") + 1),
      .response = double_field(control, "observed", (double)pb->m),
      .start = double_field(control, "start", (double)pb->q),
      .ridge = real_field(control, "ridge"),
      .unit = real_field(control, "unit")};
  expect(out.ridge >= 0 && out.unit > 0, "ridge");
  expect(out.given_count <= out.k, "given");
  for (int i = 0; i < out.given_count; i++)
    expect(stands_for_group(&groups, out.given[i]), "given");
  expect(groups_fit(&groups, pb, out.k, out.most_columns), "group_columns");
  expect(out.lambda > 0, "lambda");
  expect(out.refits > 0, "refits");
  return out;
}

static struct likelihood_result new_likelihood_result(const struct problem *pb,
    const struct folds *folds, const struct likelihood_control *ctl, struct answer *out) {
  const size_t m = (size_t)pb->m, most = (size_t)ctl->most_columns, sizes = (size_t)ctl->k + 1;
  return (struct likelihood_result){.feature = add_int(out, "feature", sizes),
      .columns = add_int(out, "columns", sizes),
      .members = add_int(out, "members", most),
      .refits = add_int(out, "refits", sizes),
      .exact = add_int(out, "exact", sizes),
      .objective = add_real(out, "objective", sizes),
      .beta = add_real(out, "beta", most * sizes),
      .u = add_real(out, "u", (size_t)pb->q * sizes),
      .fitted = add_real(out, "fitted", m * sizes),
      .held_out = add_real(out, "held_out", m * (size_t)folds->repeats * sizes),
      .loss = add_real(out, "loss", sizes),
      .deviance = add_real(out, "deviance", (size_t)all_folds(folds) * sizes)};
}

/* A forward search by a likelihood. Columns count from 0, sizes that it did not come to are left at
   0. */
SEXP C_greedy_likelihood(SEXP problem, SEXP control) {
  struct problem pb = unpack_problem(problem, 1);
  pb.parameter = real_field(control, "parameter");
  const struct folds folds = unpack_folds(field(control, "folds"), pb.m);
  const struct likelihood_control ctl = unpack_likelihood_control(control, &pb);
  expect(pb.L == 1, "y");
  struct r_host r;
  struct host host = make_host(&r, control, (size_t)pb.m, pb.n + pb.m);
  struct answer out = new_answer();
  PROTECT(out.list);
  struct likelihood_result result = new_likelihood_result(&pb, &folds, &ctl, &out);
  void *work;
  SEXP workspace =
      PROTECT(alloc_workspace(greedy_likelihood_work(&pb, &folds, &ctl, host.threads), &work));
  const enum status status = greedy_likelihood(&pb, &folds, &ctl, &host, work, &result);
  release_workspace(workspace);
  add_status(&out, final_status(status, &r));
  *add_int(&out, "moves", 1) = result.moves;
  UNPROTECT(2);
  return answer_list(&out);
}

/* ---- the search in steps ---- */

/* A search that lives between calls, behind an external pointer to a workspace that begins with
   this. R's vectors of which there are views are kept with the pointer. */
struct session {
  struct problem pb;
  struct folds folds;
  struct greedy_control control;
  struct r_host r;
  struct host host;
  struct answer out;
  struct greedy_result result;
  struct greedy *search;
  enum status status;
};

static const size_t session_size =
    (sizeof(struct session) + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;

/* What is kept with the pointer. */
enum {
  KEPT_PROBLEM,
  KEPT_CONTROL,
  KEPT_ANSWER,
  KEPT_FOLD_ORDER,
  KEPT_FOLD_START,
  KEPT_FOLD_COUNT,
  KEPT_QUERY_ORDER,
  KEPT_QUERY_START,
  KEPT
};

static struct session *session_of(SEXP pointer) {
  if (TYPEOF(pointer) != EXTPTRSXP || R_ExternalPtrAddr(pointer) == NULL)
    error("internal: the search is closed");
  return workspace_begin(pointer);
}

/* The same integers in a vector of R, which is kept. */
static const int *keep_ints(SEXP kept, int place, const int *values, ptrdiff_t count) {
  SEXP copy = allocVector(INTSXP, count);
  SET_VECTOR_ELT(kept, place, copy);
  if (count > 0)
    memcpy(INTEGER(copy), values, (size_t)count * sizeof(int));
  return INTEGER(copy);
}

/* Folds and queries in memory that lasts beyond the call, unlike memory of R_alloc(). */
static void keep_rows(struct session *s, SEXP kept) {
  const ptrdiff_t m = s->pb.m, repeats = s->folds.repeats, queries = s->pb.queries.count;
  s->folds.order = keep_ints(kept, KEPT_FOLD_ORDER, s->folds.order, m * repeats);
  s->folds.start = keep_ints(kept, KEPT_FOLD_START, s->folds.start, (m + 1) * repeats);
  s->folds.count = keep_ints(kept, KEPT_FOLD_COUNT, s->folds.count, repeats);
  if (queries == 0)
    return;
  s->pb.queries.order = keep_ints(kept, KEPT_QUERY_ORDER, s->pb.queries.order, m);
  s->pb.queries.start = keep_ints(kept, KEPT_QUERY_START, s->pb.queries.start, queries + 1);
}

/* A search that has not begun, on the columns from control$first on (counted from 0) of problem$x,
   as many as problem$usable has. */
static struct session unpack_session(SEXP problem, SEXP control, SEXP kept) {
  struct session s = {.pb = unpack_problem(problem, 1)};
  s.out = new_answer();
  SET_VECTOR_ELT(kept, KEPT_ANSWER, s.out.list);
  SET_VECTOR_ELT(kept, KEPT_PROBLEM, problem);
  SET_VECTOR_ELT(kept, KEPT_CONTROL, control);
  s.folds = unpack_folds(field(control, "folds"), s.pb.m);
  keep_rows(&s, kept);
  s.control = unpack_greedy(control, &s.pb, 1);
  s.control.shard = 1;
  s.result = new_result(&s.pb, &s.folds, &s.control, &s.out);
  const int first = count_field(control, "first");
  if (first > 0) {
    expect(s.pb.x.p == NULL, "x");
    expect(size_of(field(problem, "x")).columns >= first + s.pb.n, "x");
    s.pb.x.dense = column_at(&s.pb.x, s.pb.m, first, 0);
  }
  return s;
}

SEXP C_greedy_open(SEXP problem, SEXP control) {
  SEXP kept = PROTECT(allocVector(VECSXP, KEPT));
  const struct session start = unpack_session(problem, control, kept);
  const ptrdiff_t m = start.pb.m, parts = start.pb.n + m;
  const int threads = threads_here(field(control, "threads"), parts);
  const size_t bytes = greedy_work(&start.pb, &start.folds, &start.control, threads);
  void *begin;
  SEXP pointer = PROTECT(alloc_workspace(session_size + bytes, &begin));
  R_SetExternalPtrProtected(pointer, kept);
  struct session *session = begin;
  *session = start;
  session->host = make_host(&session->r, control, (size_t)(m * start.pb.L), parts);
  session->search = greedy_open(&session->pb, &session->folds, &session->control, &session->host,
      (char *)begin + session_size, &session->result, &session->status);
  UNPROTECT(2);
  return pointer;
}

/* The least criterion of the moves to come, infinite if there is none; NULL where the search cannot
   go on. */
SEXP C_greedy_score(SEXP pointer) {
  struct session *session = session_of(pointer);
  double best = R_PosInf;
  if (session->status == COMPLETE)
    session->status = greedy_score_moves(session->search, &best);
  return session->status == COMPLETE ? ScalarReal(best) : R_NilValue;
}

/* The lowest column, from 1, that ties with the best of all shards; 0: none. */
SEXP C_greedy_first_tie(SEXP pointer, SEXP best) {
  const struct session *session = session_of(pointer);
  return ScalarInteger((int)greedy_first_tie(session->search, real_value(best, "best")) + 1);
}

/* What other shards need to add a column, from 1. */
SEXP C_greedy_column(SEXP pointer, SEXP column) {
  struct session *session = session_of(pointer);
  const int *own = index_values(column, "column", 1, 1, (int)session->pb.n);
  struct answer out = new_answer();
  PROTECT(out.list);
  double *x = add_real(&out, "x", (size_t)session->pb.m);
  *add_real(&out, "read_norm2", 1) = greedy_read_column(session->search, *own - 1, x);
  UNPROTECT(1);
  return answer_list(&out);
}

/* Adds a column of this shard, from 1, or, that being 0, one of another; whether the search goes
   on. */
SEXP C_greedy_add(SEXP pointer, SEXP column, SEXP x, SEXP read_norm2) {
  struct session *session = session_of(pointer);
  const int own = *index_values(column, "column", 1, 0, (int)session->pb.n);
  const double *other = own > 0 ? NULL : finite_values(x, "x", (double)session->pb.m);
  const double norm2 = own > 0 ? 0 : real_value(read_norm2, "read_norm2");
  const int on = session->status != COMPLETE ? 0
                 : own > 0 ? greedy_move(session->search, own - 1, &session->status)
                           : greedy_move_other(session->search, other, norm2, &session->status);
  return ScalarLogical(on);
}

/* What the search has found, as C_greedy_rls() gives it. It ends here. */
SEXP C_greedy_close(SEXP pointer) {
  struct session *session = session_of(pointer);
  SEXP answer = PROTECT(
      finish_result(&session->out, &session->result, final_status(session->status, &session->r)));
  R_SetExternalPtrProtected(pointer, R_NilValue);
  release_workspace(pointer);
  UNPROTECT(1);
  return answer;
}
