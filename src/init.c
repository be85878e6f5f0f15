/* The border: every SEXP, the registration table and all entries. An entry unpacks (problem,
   control), allocates the answer and the room so that a jump leaks nothing, and calls one
   kernel. */
#ifdef _OPENMP
#include <omp.h> /* before R's headers, which define `match` */
#endif
#include <R.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <Rinternals.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#ifndef _WIN32
#include <sys/mman.h>
#include <unistd.h>
#endif

#include "kernels.h"
#include "lanes.h"
#include "matrix.h"

/* ---- instruction sets ---- */

enum { WIDEST = 8 };
const struct lanes *lanes;

/* Uses the set of at most `width` doubles, NULL: leaves it; gives the width there was. */
static SEXP C_use_lanes(SEXP width) {
  const int before = lanes->width;
  if (!isNull(width))
    lanes = lanes_for(asInteger(width));
  return ScalarInteger(before);
}

/* ---- lists by name ---- */

static SEXP field(SEXP list, const char *name) {
  SEXP names = getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < xlength(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return VECTOR_ELT(list, i);
  error("internal: no field '%s'", name);
}

static int int_field(SEXP list, const char *name) {
  return asInteger(field(list, name));
}

/* A part of an answer: allocated into slot i of a protected list, and named. */
static SEXP answer(SEXP list, int i, const char *name, SEXPTYPE type, size_t length) {
  SEXP part = allocVector(type, (R_xlen_t)length);
  SET_VECTOR_ELT(list, i, part);
  SET_STRING_ELT(getAttrib(list, R_NamesSymbol), i, mkChar(name));
  return part;
}

static SEXP named_list(int length) {
  SEXP list = PROTECT(allocVector(VECSXP, length));
  setAttrib(list, R_NamesSymbol, allocVector(STRSXP, length));
  UNPROTECT(1);
  return list;
}

static double *real_answer(SEXP list, int i, const char *name, size_t length) {
  return REAL(answer(list, i, name, REALSXP, length));
}

static int *int_answer(SEXP list, int i, const char *name, size_t length) {
  return INTEGER(answer(list, i, name, INTSXP, length));
}

/* ---- problem and folds ---- */

/* A matrix of doubles, integers or logicals, or a dgCMatrix. */
static struct matrix unpack_matrix(SEXP x) {
  switch (TYPEOF(x)) {
  case REALSXP:
    return (struct matrix){.x = REAL(x)};
  case INTSXP:
    return (struct matrix){.whole = INTEGER(x)};
  case LGLSXP:
    return (struct matrix){.whole = LOGICAL(x)};
  default:
    return (struct matrix){.x = REAL(R_do_slot(x, install("x"))),
        .i = INTEGER(R_do_slot(x, install("i"))),
        .p = INTEGER(R_do_slot(x, install("p")))};
  }
}

static struct problem unpack_problem(SEXP problem) {
  SEXP y = field(problem, "y"), Q = field(problem, "q");
  return (struct problem){.m = nrows(y),
      .n = length(field(problem, "usable")),
      .L = ncols(y),
      .q = ncols(Q),
      .x = unpack_matrix(field(problem, "x")),
      .centre = REAL(field(problem, "centre")),
      .inv_scale = REAL(field(problem, "inv_scale")),
      .squares = REAL(field(problem, "squares")),
      .left = REAL(field(problem, "left")),
      .products = REAL(field(problem, "products")),
      .usable = INTEGER(field(problem, "usable")),
      .root_w = REAL(field(problem, "root_w")),
      .divisor = REAL(field(problem, "divisor")),
      .Q = REAL(Q),
      .y = REAL(y),
      .response = REAL(field(problem, "response"))};
}

/* Rows fold by fold; ids (m x repeats) count folds from 1. */
static struct folds unpack_folds(SEXP folds) {
  SEXP ids = field(folds, "ids");
  const int m = nrows(ids), repeats = ncols(ids);
  int *order = (int *)R_alloc((size_t)m * (size_t)repeats, sizeof(int));
  int *start = (int *)R_alloc(((size_t)m + 1) * (size_t)repeats, sizeof(int));
  int *count = (int *)R_alloc((size_t)repeats, sizeof(int));
  const struct folds out = {int_field(folds, "loo"), repeats, order, count, start};
  for (int r = 0; r < repeats; r++, order += m) {
    const int *id = INTEGER(ids) + (ptrdiff_t)r * m;
    count[r] = 0;
    for (int j = 0; j < m; j++)
      count[r] = id[j] > count[r] ? id[j] : count[r];
    memset(start, 0, ((size_t)count[r] + 1) * sizeof(int));
    for (int j = 0; j < m; j++)
      start[id[j] - 1]++;
    for (int f = 0; f < count[r]; f++)
      start[f + 1] += start[f];
    for (int j = m; j-- > 0;) /* ends of folds become starts */
      order[--start[id[j] - 1]] = j;
    start += count[r] + 1;
  }
  return out;
}

/* ---- host: interrupts, progress, the user's criterion, threads ---- */

struct lent {
  SEXP progress, judge; /* R functions or NULL */
  double asked;         /* when stop() last asked R, in seconds */
  double done, total;
  int stopped;
};

static double seconds(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void ask_r(void *data) {
  struct lent *lent = data;
  R_CheckUserInterrupt();
  if (isFunction(lent->progress)) {
    SEXP done = PROTECT(ScalarReal(lent->done)), total = PROTECT(ScalarReal(lent->total));
    SEXP call = PROTECT(lang3(lent->progress, done, total));
    eval(call, R_BaseEnv);
    UNPROTECT(3);
  }
}

/* Asks R at most ten times a second. */
static int host_stop(struct host *host, double done, double total) {
  struct lent *lent = host->self;
  const double now = seconds();
  if (lent->stopped || now - lent->asked < 0.1)
    return lent->stopped;
  lent->done = done;
  lent->total = total;
  lent->stopped = !R_ToplevelExec(ask_r, lent);
  lent->asked = seconds();
  return lent->stopped;
}

static void look_for_keys(void *nothing) {
  (void)nothing;
  R_CheckUserInterrupt();
}

/* What a kernel that keeps its work when it is interrupted came to. Ctrl-C since R was last asked
   counts, too: if R saw it first, all would be lost. */
static enum status outcome(enum status status, const struct lent *lent) {
  const int stopped = lent->stopped || !R_ToplevelExec(look_for_keys, NULL);
  return stopped && status >= COMPLETE ? INTERRUPTED : status;
}

static SEXP evaluate(void *call) {
  return eval(call, R_BaseEnv);
}

static SEXP give_nothing(SEXP condition, void *data) {
  (void)condition;
  (void)data;
  return R_NilValue;
}

/* R_tryCatch() holds Ctrl-C back outside the user's function, so that nothing can jump past the
   kernel but the function's own errors. */
static double host_judge(struct host *host, const double *residual, int repeat) {
  struct lent *lent = host->self;
  const R_xlen_t length = (R_xlen_t)host->residual_length;
  SEXP r = PROTECT(allocVector(REALSXP, length)), which = PROTECT(ScalarInteger(repeat + 1));
  memcpy(REAL(r), residual, (size_t)length * sizeof(double));
  SEXP call = PROTECT(lang3(lent->judge, r, which));
  SEXP classes = PROTECT(mkString("interrupt"));
  SEXP value = R_tryCatch(evaluate, call, classes, give_nothing, NULL, NULL, NULL);
  lent->stopped = lent->stopped || isNull(value);
  const double loss = isNull(value) ? R_PosInf : asReal(value);
  UNPROTECT(4);
  return loss;
}

/* ---- threads ---- */

static int loaded_in; /* the process that loaded the package, 0: a forked one */

static int process(void) {
#ifdef _WIN32
  return 0;
#else
  return (int)getpid();
#endif
}

/* Whether this process was forked from another and has not been replaced by a program of its own.
   Linux tells it by a flag, the ninth word of /proc/self/stat; elsewhere it is not known. */
static int is_forked(void) {
  const unsigned forked_without_exec = 0x40;
  unsigned flags = 0;
  FILE *file = fopen("/proc/self/stat", "r");
  if (file == NULL)
    return 0;
  char line[512];
  const char *after_name = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
  fclose(file);
  if (after_name == NULL || sscanf(after_name + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
    return 0;
  return (flags & forked_without_exec) != 0;
}

/* A forked child gets one thread: OpenMP's threads do not survive fork(), whichever package of the
   parent has started them. Elsewhere no more than there is work for, nor than a few for each
   processor, which keeps a slip from exhausting memory. */
static int threads_here(SEXP threads, ptrdiff_t parts) {
#ifdef _OPENMP
  enum { PER_PROCESSOR = 4 };
  const int processors = omp_get_num_procs(), limit = omp_get_thread_limit();
  ptrdiff_t count = asInteger(threads);
  if (process() != loaded_in || count < 1 || parts < 1)
    return 1;
  count = count < parts ? count : parts;
  count = count < limit ? count : limit;
  return (int)(count < PER_PROCESSOR * processors ? count : PER_PROCESSOR * processors);
#else
  (void)threads;
  (void)parts;
  return 1;
#endif
}

/* How many threads a call gets that asks for `threads`, with so many parts to share. */
static SEXP C_threads_here(SEXP threads, SEXP parts) {
  return ScalarInteger(threads_here(threads, asInteger(parts)));
}

/* `parts`: among how many threads the work can be shared at most. */
static struct host make_host(
    struct lent *lent, SEXP control, size_t residual_length, ptrdiff_t parts) {
  *lent = (struct lent){.progress = field(control, "progress"), .judge = field(control, "judge")};
  lent->asked = seconds();
  return (struct host){.threads = threads_here(field(control, "threads"), parts),
      .stop = host_stop,
      .judge = host_judge,
      .residual_length = residual_length,
      .self = lent};
}

/* ---- room ---- */

/* What a block of memory for room begins with. */
struct block {
  size_t bytes;
};

/* The block released last, if it is small: making its pages afresh takes a millisecond or two. */
static struct block *spare;
enum { MOST_SPARE = 1 << 26 };

static void release(SEXP room) {
  struct block *block = R_ExternalPtrAddr(room);
  R_ClearExternalPtr(room);
  if (block != NULL && spare == NULL && block->bytes <= MOST_SPARE)
    spare = block;
  else
    free(block);
}

static struct block *take_block(size_t bytes) {
  struct block *block = spare;
  spare = NULL;
  if (block != NULL && block->bytes >= bytes)
    return block;
  free(block);
  block = malloc(bytes);
  if (block != NULL)
    block->bytes = bytes;
  return block;
}

/* Raises the package's own error. */
static void stop_memory(size_t bytes) {
  SEXP space = PROTECT(R_FindNamespace(mkString("sparsels")));
  SEXP call = PROTECT(lang2(install("stop_memory"), ScalarReal((double)bytes)));
  eval(call, space);
  UNPROTECT(2);
}

/* Memory that R does not count, as much of it may never be touched, in large pages where the system
   has them. To be released; R's collector does it where an error went past that. */
static SEXP take_room(size_t bytes, void **begin) {
  const size_t page = (size_t)1 << 21;
  SEXP room = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
  R_RegisterCFinalizer(room, release);
  struct block *block = take_block(bytes + page);
  if (block == NULL)
    stop_memory(bytes);
  R_SetExternalPtrAddr(room, block);
  *begin = (char *)block + (page - (uintptr_t)block % page);
#ifdef MADV_HUGEPAGE
  madvise(*begin, bytes, MADV_HUGEPAGE);
#endif
  UNPROTECT(1);
  return room;
}

/* ---- entries ---- */

static SEXP C_greedy_rls(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem);
  const struct folds folds = unpack_folds(field(control, "folds"));
  const struct greedy_control ctl = {.lambda = asReal(field(control, "lambda")),
      .nu = asReal(field(control, "nu")),
      .k = int_field(control, "k"),
      .patience = int_field(control, "patience"),
      .keep = int_field(control, "keep"),
      .limit = int_field(control, "limit"),
      .search = (enum search)int_field(control, "search"),
      .criterion = (enum criterion)int_field(control, "criterion"),
      .given = INTEGER(field(control, "given")),
      .classes = int_field(control, "classes"),
      .lazy = int_field(control, "lazy")};
  const size_t k = (size_t)ctl.k, moves = (size_t)ctl.limit + 1, mL = (size_t)(pb.m * pb.L);
  SEXP out = PROTECT(named_list(16));
  struct greedy_result result = {.feature = int_answer(out, 0, "feature", moves),
      .size = int_answer(out, 1, "size", moves),
      .loss = real_answer(out, 2, "loss", moves),
      .se = real_answer(out, 3, "se", moves),
      .squared = real_answer(out, 4, "squared", moves),
      .error = real_answer(out, 5, "error", moves),
      .model_entry = int_answer(out, 6, "model_entry", k + 1),
      .model = int_answer(out, 7, "model", k * (k + 1)),
      .beta = real_answer(out, 8, "beta", k * (size_t)pb.L * (k + 1)),
      .held_out = real_answer(out, 9, "held_out", mL),
      .fitted = real_answer(out, 10, "fitted", mL),
      .other = int_answer(out, 11, "other", moves * (size_t)ctl.keep),
      .other_loss = real_answer(out, 12, "other_loss", moves * (size_t)ctl.keep),
      .pivot = real_answer(out, 15, "pivot", moves)};
  struct lent lent;
  struct host host = make_host(&lent, control, mL, pb.n + pb.m);
  void *work;
  SEXP room = PROTECT(take_room(greedy_work(&pb, &folds, &ctl, host.threads), &work));
  const enum status status = greedy_rls(&pb, &folds, &ctl, &host, work, &result);
  release(room);
  int *ends = int_answer(out, 13, "ends", 3);
  ends[0] = (int)outcome(status, &lent);
  ends[1] = result.moves;
  ends[2] = result.best;
  double *done = real_answer(out, 14, "work", 4);
  done[0] = result.work.candidates;
  done[1] = result.work.evaluated;
  done[2] = result.work.columns_read;
  done[3] = result.work.dense_from;
  UNPROTECT(2);
  return out;
}

/* K (m x n), R (n x n), root_w, Z -> F (phi in R, where F is FALSE), values, Q */
static SEXP C_kernel_spectrum(SEXP problem, SEXP control) {
  SEXP K = field(problem, "K"), R = field(problem, "R"), Z = field(problem, "z_basis");
  const ptrdiff_t m = nrows(K), n = ncols(K), q = ncols(Z);
  const size_t order = (size_t)n;
  SEXP out = PROTECT(named_list(4));
  double *F = real_answer(out, 0, "phi", (size_t)m * order);
  double *values = real_answer(out, 1, "values", order);
  double *Q = real_answer(out, 2, "Q", order * order);
  memcpy(F, REAL(K), (size_t)m * order * sizeof(double));
  memcpy(Q, REAL(R), order * order * sizeof(double));
  struct lent lent;
  struct host host = make_host(&lent, control, 0, 1);
  double *work = (double *)(void *)R_alloc(kernel_spectrum_work(m, n, q), sizeof(double));
  *int_answer(out, 3, "status", 1) = (int)kernel_spectrum(
      m, n, q, REAL(field(problem, "root_w")), REAL(Z), &host, work, F, Q, values);
  UNPROTECT(1);
  return out;
}

static struct spectrum unpack_spectrum(SEXP spectrum) {
  SEXP F = field(spectrum, "phi"), y = field(spectrum, "y"), Z = field(spectrum, "z_basis");
  SEXP Q = field(spectrum, "back");
  return (struct spectrum){.m = nrows(F),
      .r = ncols(F),
      .q = ncols(Z),
      .L = ncols(y),
      .complete = int_field(spectrum, "complete"),
      .F = REAL(F),
      .values = REAL(field(spectrum, "values")),
      .t = REAL(field(spectrum, "t")),
      .y = REAL(y),
      .Z = REAL(Z),
      .root_w = REAL(field(spectrum, "root_w")),
      .Q = REAL(Q),
      .n = nrows(Q)};
}

static SEXP C_holdout(SEXP spectrum, SEXP control) {
  const struct spectrum sp = unpack_spectrum(spectrum);
  SEXP start = field(control, "start"), lambda = field(control, "lambda");
  const struct held held = {.sets = length(start) - 1,
      .order = INTEGER(field(control, "order")),
      .start = INTEGER(start),
      .basis = INTEGER(field(control, "basis")),
      .outweighed = asReal(field(control, "outweighed")),
      .singular = asReal(field(control, "singular"))};
  const ptrdiff_t c = length(lambda);
  const enum form form = (enum form)int_field(control, "form");
  const size_t rows = (size_t)held.start[held.sets];
  SEXP out = PROTECT(named_list(3));
  double *residual = real_answer(out, 0, "residual", rows * (size_t)(sp.L * c));
  int *done = int_answer(out, 1, "done", (size_t)held.sets);
  struct lent lent;
  struct host host = make_host(&lent, control, 0, held.sets);
  void *work = R_alloc(holdout_work(&sp, &held, c, form, host.threads), 1);
  *int_answer(out, 2, "status", 1) =
      (int)holdout(&sp, &held, REAL(lambda), c, form, &host, work, residual, done);
  UNPROTECT(1);
  return out;
}

/* ---- subsets ---- */

static const double *real_or_null(SEXP list, const char *name) {
  SEXP part = field(list, name);
  return isNull(part) ? NULL : REAL(part);
}

static struct gram unpack_gram(SEXP terms) {
  SEXP b = field(terms, "b"), whole = field(terms, "whole"), X = field(terms, "X");
  struct gram gram = {.n = nrows(b),
      .L = ncols(b),
      .diagonal = REAL(field(terms, "diagonal")),
      .b = REAL(b),
      .whole = real_or_null(terms, "whole"),
      .m = int_field(terms, "m"),
      .X = real_or_null(terms, "X")};
  if (isNull(whole) && isNull(X)) {
    gram.x = unpack_matrix(field(terms, "x"));
    gram.w = REAL(field(terms, "w"));
    gram.scale = REAL(field(terms, "scale"));
    gram.G = REAL(field(terms, "G"));
    gram.q = nrows(field(terms, "G"));
  }
  return gram;
}

/* X'V, without the look for missing values that R's crossprod() takes at X each time. */
static SEXP C_cross_columns(SEXP X, SEXP V) {
  const ptrdiff_t m = nrows(X), n = ncols(X);
  SEXP out = PROTECT(allocMatrix(REALSXP, (int)n, ncols(V)));
  for (ptrdiff_t l = 0; l < ncols(V); l++)
    cross_columns(m, n, REAL(X), REAL(V) + l * m, REAL(out) + l * n);
  UNPROTECT(1);
  return out;
}

static SEXP C_poss(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  SEXP random = field(control, "random"), count = field(control, "count");
  SEXP size = field(control, "size"), columns = field(control, "columns");
  struct lent lent;
  struct host host = make_host(&lent, control, 0, length(count));
  const struct poss_control ctl = {.lambda = asReal(field(control, "lambda")),
      .most = int_field(control, "most"),
      .isolated = int_field(control, "isolated"),
      .islands = length(count),
      .capacity = int_field(control, "capacity"),
      .kept = int_field(control, "kept") / host.threads,
      .iterations = asReal(field(control, "iterations"))};
  const size_t places = (size_t)ctl.capacity * (size_t)ctl.islands;
  SEXP out = PROTECT(named_list(7));
  struct poss_state state = {.random = int_answer(out, 0, "random", (size_t)length(random)),
      .count = int_answer(out, 1, "count", (size_t)length(count)),
      .size = int_answer(out, 2, "size", places),
      .columns = int_answer(out, 3, "columns", places * (size_t)ctl.most),
      .gain = real_answer(out, 4, "gain", places),
      .done = real_answer(out, 5, "done", 1)};
  memcpy(state.random, INTEGER(random), (size_t)length(random) * sizeof(int));
  memcpy(state.count, INTEGER(count), (size_t)length(count) * sizeof(int));
  memcpy(state.size, INTEGER(size), (size_t)length(size) * sizeof(int));
  memcpy(state.columns, INTEGER(columns), (size_t)length(columns) * sizeof(int));
  void *work = R_alloc(poss_work(&gram, &ctl, host.threads), 1);
  const enum status status = poss(&gram, &ctl, &host, work, &state);
  *int_answer(out, 6, "status", 1) = (int)outcome(status, &lent);
  UNPROTECT(1);
  return out;
}

static SEXP C_best_subset(SEXP terms, SEXP control) {
  const struct gram gram = unpack_gram(terms);
  const struct best_control ctl = {.lambda = asReal(field(control, "lambda")),
      .k = int_field(control, "k"),
      .nodes = asReal(field(control, "nodes")),
      .total = asReal(field(terms, "total"))};
  const size_t k = (size_t)ctl.k;
  SEXP out = PROTECT(named_list(5));
  struct best_result result = {.set = int_answer(out, 0, "set", k * k),
      .gain = real_answer(out, 1, "gain", k),
      .bound = real_answer(out, 2, "bound", k),
      .nodes = real_answer(out, 3, "nodes", k)};
  struct lent lent;
  struct host host = make_host(&lent, control, 0, 1);
  void *work = R_alloc(best_work(&gram, &ctl), 1);
  const enum status status = best_subset(&gram, &ctl, &host, work, &result);
  int *ends = int_answer(out, 4, "ends", 2);
  ends[0] = (int)outcome(status, &lent);
  ends[1] = result.sizes;
  UNPROTECT(1);
  return out;
}

static SEXP C_column_moments(SEXP x, SEXP w, SEXP centred, SEXP v, SEXP threads) {
  const ptrdiff_t m = nrows(x), n = ncols(x), L = ncols(v);
  const int woken = threads_here(threads, n);
  SEXP out = PROTECT(named_list(3));
  const struct moments find = {.m = m,
      .n = n,
      .L = L,
      .x = unpack_matrix(x),
      .w = REAL(w),
      .v = REAL(v),
      .centred = asLogical(centred),
      .centre = real_answer(out, 0, "centre", (size_t)n),
      .squares = real_answer(out, 1, "squares", (size_t)n),
      .products = real_answer(out, 2, "products", (size_t)(n * L))};
  const ptrdiff_t block = find.x.whole == NULL ? 0 : 4 * m * woken;
  column_moments(&find, woken, (double *)(void *)R_alloc((size_t)block, sizeof(double)));
  UNPROTECT(1);
  return out;
}

/* Row and column, from 1, of an entry unlike its mirror image; NULL when there is none. */
static SEXP C_asymmetry(SEXP A, SEXP root, SEXP share) {
  const ptrdiff_t n = ncols(A), place = asymmetric_entry(n, REAL(A), REAL(root), asReal(share));
  if (place < 0)
    return R_NilValue;
  SEXP at = PROTECT(allocVector(INTSXP, 2));
  INTEGER(at)[0] = (int)(place % n) + 1;
  INTEGER(at)[1] = (int)(place / n) + 1;
  UNPROTECT(1);
  return at;
}

/* ---- models with an l1 penalty ---- */

/* A solution as R keeps it: features count from 1. */
static SEXP solution_list(const struct problem *pb, struct l1_solution at) {
  const size_t size = (size_t)at.size, d = sizeof(double);
  SEXP out = PROTECT(named_list(11));
  int *feature = int_answer(out, 0, "features", size);
  for (size_t k = 0; k < size; k++)
    feature[k] = at.feature[k] + 1;
  memcpy(real_answer(out, 1, "beta", size), at.beta, size * d);
  memcpy(real_answer(out, 2, "u", (size_t)pb->q), at.u, (size_t)pb->q * d);
  memcpy(real_answer(out, 3, "r", (size_t)pb->m), at.r, (size_t)pb->m * d);
  *real_answer(out, 4, "objective", 1) = at.primal;
  *real_answer(out, 5, "gap", 1) = at.primal - at.dual;
  *real_answer(out, 6, "most", 1) = at.most;
  *int_answer(out, 7, "rounds", 1) = at.rounds;
  *real_answer(out, 8, "products", 1) = at.products;
  *int_answer(out, 9, "kept", 1) = at.kept;
  *real_answer(out, 10, "null", 1) = at.null;
  UNPROTECT(1);
  return out;
}

/* A solution for every lambda, up to where Ctrl-C stopped it; where the engine's room is too small
   it goes on with twice as much from the last solution. */
static SEXP C_l1_path(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem);
  SEXP lambda = field(control, "lambda"), start = field(control, "start");
  const double *bound = REAL(field(control, "bound"));
  const int count = length(lambda);
  struct l1_control ctl = {.loss = (enum loss)int_field(control, "loss"),
      .screen = (enum screen)int_field(control, "screen"),
      .tolerance = asReal(field(control, "tolerance")),
      .room = int_field(control, "room"),
      .lambdas = count};
  struct lent lent;
  struct host host = make_host(&lent, control, 0, pb.n);
  SEXP path = PROTECT(allocVector(VECSXP, count));
  int done = 0;
  while (done < count) {
    const void *mark = vmaxget();
    struct l1 *at = l1_begin(&pb, &ctl, &host, R_alloc(l1_work(&pb, &ctl, &host), 1));
    enum status status = COMPLETE;
    SEXP from = done > 0 ? VECTOR_ELT(path, done - 1) : start;
    if (!isNull(from)) {
      SEXP features = PROTECT(duplicate(field(from, "features")));
      for (int k = 0; k < length(features); k++)
        INTEGER(features)[k]--;
      status = l1_start(at, length(features), INTEGER(features), REAL(field(from, "beta")));
      UNPROTECT(1);
    }
    for (; status == COMPLETE && done < count; done += status == COMPLETE) {
      status = l1_solve(at, done, REAL(lambda)[done], bound[done]);
      if (status == COMPLETE)
        SET_VECTOR_ELT(path, done, solution_list(&pb, l1_solution(at)));
    }
    vmaxset(mark);
    if (status != NO_ROOM)
      break;
    ctl.room *= 2;
  }
  if (outcome(COMPLETE, &lent) == INTERRUPTED && done == count)
    SET_VECTOR_ELT(path, count - 1, R_NilValue); /* by which R knows */
  UNPROTECT(1);
  return path;
}

/* ---- safe tests ---- */

static void *safe_room(const struct problem *pb, enum loss loss, const struct host *host) {
  return R_alloc(safe_work(pb, loss, host->threads), 1);
}

/* T of every column, as far as it takes to know on which side of `enough` it is. */
static SEXP C_safe_bounds(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem);
  const enum loss loss = (enum loss)int_field(control, "loss");
  SEXP out = PROTECT(named_list(2));
  double *T = real_answer(out, 0, "bounds", (size_t)pb.n);
  struct lent lent;
  struct host host = make_host(&lent, control, 0, pb.n);
  void *work = safe_room(&pb, loss, &host);
  *int_answer(out, 1, "status", 1) = (int)safe_bounds(&pb, loss, asReal(field(control, "gamma")),
      asReal(field(control, "enough")), NULL, &host, work, T);
  UNPROTECT(1);
  return out;
}

/* T of every column, and from which lambda on it is out. */
static SEXP C_safe_reach(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem);
  const enum loss loss = (enum loss)int_field(control, "loss");
  const struct knots bound = {.count = length(field(control, "knots")),
      .lambda = REAL(field(control, "knots")),
      .value = REAL(field(control, "values"))};
  SEXP out = PROTECT(named_list(3));
  double *T = real_answer(out, 0, "bounds", (size_t)pb.n);
  double *reach = real_answer(out, 1, "reach", (size_t)pb.n);
  struct lent lent;
  struct host host = make_host(&lent, control, 0, pb.n);
  void *work = safe_room(&pb, loss, &host);
  *int_answer(out, 2, "status", 1) = (int)safe_reach(&pb, loss, &bound,
      asReal(field(control, "lambda")), asReal(field(control, "top")), &host, work, T, reach);
  UNPROTECT(1);
  return out;
}

/* T of every column from a model of the hinge loss. */
static SEXP C_hinge_gap_bounds(SEXP problem, SEXP control) {
  const struct problem pb = unpack_problem(problem);
  SEXP out = PROTECT(named_list(2));
  double *T = real_answer(out, 0, "bounds", (size_t)pb.n);
  struct lent lent;
  struct host host = make_host(&lent, control, 0, pb.n);
  void *work = safe_room(&pb, HINGE, &host);
  *int_answer(out, 1, "status", 1) = (int)hinge_gap_bounds(
      &pb, REAL(field(control, "f")), asReal(field(control, "gap")), NULL, &host, work, T);
  UNPROTECT(1);
  return out;
}

/* Where the columns of a system come from: a matrix, X'X + ridge of a problem, or an R function. */
struct source {
  struct matrix A;
  struct gram gram;
  double ridge;
  double *dense; /* m, room for a column of a sparse x */
  SEXP function;
  struct lent *lent;
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

/* Ctrl-C is held back outside the user's function, as in host_judge(). */
static int function_column(struct system *system, ptrdiff_t j, double *out) {
  const struct source *source = system->self;
  SEXP which = PROTECT(ScalarInteger((int)j + 1));
  SEXP call = PROTECT(lang2(source->function, which)), classes = PROTECT(mkString("interrupt"));
  SEXP column = PROTECT(R_tryCatch(evaluate, call, classes, give_nothing, NULL, NULL, NULL));
  const int given = !isNull(column);
  if (given)
    memcpy(out, REAL(column), (size_t)system->D * sizeof(double));
  UNPROTECT(4);
  return !given;
}

static struct scdp_control unpack_pursuit(SEXP control) {
  SEXP first = field(control, "first"), candidates = field(control, "candidates");
  return (struct scdp_control){.k = int_field(control, "k"),
      .score = (enum scdp_score)int_field(control, "score"),
      .dependent = asReal(field(control, "dependent")),
      .forced = length(first),
      .first = INTEGER(first),
      .drawn = int_field(control, "drawn"),
      .width = nrows(candidates),
      .candidates = INTEGER(candidates)};
}

static SEXP C_scdp(SEXP given, SEXP control) {
  const struct scdp_control ctl = unpack_pursuit(control);
  SEXP b = field(given, "b"), columns = field(given, "columns");
  struct lent lent;
  struct host host = make_host(&lent, control, 0, 1);
  struct source source = {.function = columns, .lent = &lent};
  struct system system = {.D = nrows(b),
      .L = ncols(b),
      .b = REAL(b),
      .diagonal = real_or_null(given, "diagonal"),
      .self = &source};
  if (isFunction(columns)) {
    system.column = function_column;
  } else if (isNull(columns)) {
    source.gram = unpack_gram(given);
    source.ridge = asReal(field(given, "ridge"));
    source.dense = (double *)R_alloc((size_t)source.gram.m, sizeof(double));
    system.column = gram_plus_ridge;
  } else {
    source.A = unpack_matrix(columns);
    system.column = matrix_column;
  }
  const size_t k = (size_t)ctl.k, L = (size_t)system.L;
  SEXP out = PROTECT(named_list(8));
  int *chosen = int_answer(out, 0, "chosen", k);
  double *factor = real_answer(out, 1, "factor", k * k), *z = real_answer(out, 2, "z", k * L);
  double *left = real_answer(out, 3, "left", k), *pivot = real_answer(out, 4, "pivot", 1);
  int *size = int_answer(out, 5, "size", 1), *worst = int_answer(out, 6, "worst", 1);
  struct pursuit at = scdp_begin(&system, &ctl, R_alloc(scdp_work(&system, &ctl), 1));
  const enum status status = scdp(&at, &system, &ctl, &host);
  *int_answer(out, 7, "status", 1) = (int)outcome(status, &lent);
  pursuit_path(&at, &system, chosen, factor);
  memcpy(z, at.z, k * L * sizeof(double));
  memcpy(left, at.left, k * sizeof(double));
  *size = at.size;
  *worst = (int)at.worst + 1;
  *pivot = at.pivot;
  UNPROTECT(1);
  return out;
}

static SEXP C_fixed_size(SEXP machine, SEXP control) {
  SEXP y = field(machine, "y"), Z = field(machine, "z"), start = field(machine, "start");
  SEXP lambda = field(control, "lambda");
  const struct fixed_size fs = {.m = nrows(y),
      .n = ncols(field(machine, "K")),
      .q = ncols(Z),
      .L = ncols(y),
      .K = REAL(field(machine, "K")),
      .Z = REAL(Z),
      .own = REAL(field(machine, "own")),
      .y = REAL(y),
      .response = REAL(field(machine, "response")),
      .root_w = REAL(field(machine, "root_w")),
      .folds = length(start) - 1,
      .start = INTEGER(start),
      .nu = asReal(field(machine, "nu"))};
  const struct fixed_size_control ctl = {.pursuit = unpack_pursuit(control),
      .classes = int_field(control, "classes"),
      .window = int_field(control, "window"),
      .change = asReal(field(control, "change"))};
  const size_t k = (size_t)ctl.pursuit.k, count = (size_t)length(lambda), sizes = k * count;
  const size_t mL = (size_t)(fs.m * fs.L) * (size_t)int_field(control, "residuals");
  SEXP out = PROTECT(named_list(10));
  struct fixed_size_result result = {.size = int_answer(out, 0, "size", count),
      .chosen = int_answer(out, 1, "chosen", sizes),
      .factor = real_answer(out, 2, "factor", sizes * k),
      .z = real_answer(out, 3, "z", sizes * (size_t)fs.L),
      .squared = real_answer(out, 4, "squared", sizes),
      .se = real_answer(out, 5, "se", sizes),
      .error = real_answer(out, 6, "error", ctl.classes ? sizes : 0),
      .residual = real_answer(out, 7, "residual", mL * sizes)};
  for (size_t s = 0; s < sizes; s++)
    result.squared[s] = result.se[s] = NA_REAL;
  for (size_t s = 0; ctl.classes && s < sizes; s++)
    result.error[s] = NA_REAL;
  if (mL == 0)
    result.residual = NULL;
  struct lent lent;
  struct host host = make_host(&lent, control, 0, fs.m);
  void *work = R_alloc(fixed_size_work(&fs, &ctl, (int)count), 1);
  const enum status status = fixed_size(&fs, REAL(lambda), (int)count, &ctl, &host, work, &result);
  *int_answer(out, 8, "status", 1) = (int)outcome(status, &lent);
  *real_answer(out, 9, "columns", 1) = result.columns;
  UNPROTECT(1);
  return out;
}

#define ENTRY(name, arguments)                                                                     \
  { #name, (DL_FUNC)(void (*)(void))name, arguments }

static const R_CallMethodDef entries[] = {
    ENTRY(C_greedy_rls, 2),
    ENTRY(C_kernel_spectrum, 2),
    ENTRY(C_holdout, 2),
    ENTRY(C_poss, 2),
    ENTRY(C_cross_columns, 2),
    ENTRY(C_best_subset, 2),
    ENTRY(C_l1_path, 2),
    ENTRY(C_column_moments, 5),
    ENTRY(C_asymmetry, 3),
    ENTRY(C_safe_bounds, 2),
    ENTRY(C_safe_reach, 2),
    ENTRY(C_hinge_gap_bounds, 2),
    ENTRY(C_scdp, 2),
    ENTRY(C_fixed_size, 2),
    ENTRY(C_threads_here, 2),
    ENTRY(C_use_lanes, 1),
    {NULL, NULL, 0},
};

void attribute_visible R_init_sparsels(DllInfo *dll) {
  loaded_in = is_forked() ? 0 : process();
  lanes = lanes_for(WIDEST);
  R_registerRoutines(dll, NULL, entries, NULL, NULL);
  R_useDynamicSymbols(dll, FALSE);
  R_forceSymbols(dll, TRUE);
}
