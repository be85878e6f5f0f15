/* What R calls for sparse conjugate directions pursuit: on a system, and for fixed-size machines.
 */
#include "r.h" /* first: it makes `error` another name */

#include "column.h"
#include "pursuit.h"
#include <string.h>

static const char *const scores[] = {
    [RESIDUAL] = "residual", [NORMALISED] = "normalised", [OLS] = "ols"};

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

/* ---- a system ---- */

/* Where the columns of a system come from: a matrix, X'X + ridge of a problem, or an R function. */
struct source {
  struct matrix A;
  struct gram gram;
  double ridge;
  double *dense; /* m, workspace for a column of a sparse x */
  SEXP function;
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
  if (given)
    memcpy(out, finite_values(column, "columns", (double)system->D),
        (size_t)system->D * sizeof(double));
  UNPROTECT(3);
  return !given;
}

static struct system unpack_system(SEXP given, struct source *source) {
  SEXP b = matrix_field(given, "b", ANY, ANY), columns = field(given, "columns");
  const int D = nrows(b);
  struct system system = {.D = D,
      .L = ncols(b),
      .b = REAL(b),
      .diagonal = double_or_null(given, "diagonal", D),
      .self = source};
  if (isFunction(columns)) {
    *source = (struct source){.function = columns};
    system.column = function_column;
  } else if (isNull(columns)) {
    *source = (struct source){.gram = unpack_gram(given), .ridge = real_field(given, "ridge")};
    source->dense = (double *)R_alloc((size_t)source->gram.m, sizeof(double));
    system.column = gram_plus_ridge;
  } else {
    *source = (struct source){.A = unpack_matrix(columns, D, D)};
    system.column = matrix_column;
  }
  return system;
}

/* The components that a pursuit has chosen, `worst` counted from 1. */
static SEXP pursuit_list(
    const struct pursuit *path, const struct system *system, enum status status) {
  const size_t k = (size_t)path->k, L = (size_t)system->L;
  struct answer out = new_answer();
  PROTECT(out.list);
  int *chosen = add_int(&out, "chosen", k);
  pursuit_path(path, system, chosen, add_real(&out, "factor", k * k));
  memcpy(add_real(&out, "z", k * L), path->z, k * L * sizeof(double));
  memcpy(add_real(&out, "resid_norm", k), path->resid_norm, k * sizeof(double));
  *add_int(&out, "size", 1) = path->size;
  *add_int(&out, "worst", 1) = (int)path->worst + 1;
  *add_real(&out, "pivot", 1) = path->pivot;
  add_status(&out, status);
  UNPROTECT(1);
  return answer_list(&out);
}

SEXP C_scdp(SEXP given, SEXP control) {
  struct source source;
  struct system system = unpack_system(given, &source);
  const struct scdp_control ctl = unpack_pursuit(control, (int)system.D);
  expect(ctl.score == RESIDUAL || system.diagonal != NULL, "diagonal");
  struct r_host r;
  struct host host = make_host(&r, control, 0, 1);
  struct pursuit path = scdp_begin(&system, &ctl, R_alloc(scdp_work(&system, &ctl), 1));
  const enum status status = scdp(&path, &system, &ctl, &host);
  return pursuit_list(&path, &system, final_status(status, &r));
}

/* ---- fixed-size machines ---- */

static struct fixed_size unpack_machine(SEXP machine) {
  SEXP y = matrix_field(machine, "y", ANY, ANY), start = field(machine, "start");
  const int m = nrows(y), L = ncols(y), folds = length(start) - 1;
  SEXP K = matrix_field(machine, "K", m, ANY), Z = matrix_field(machine, "z", m, ANY);
  const int n = ncols(K);
  const struct fixed_size out = {.m = m,
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
  expect(folds == 0 || out.start[folds] == m, "start");
  return out;
}

/* Memory for `count` paths in parts of the answer. Errors are NA until a step has some. */
static struct fixed_size_result new_paths(const struct fixed_size *fs,
    const struct fixed_size_control *ctl, size_t count, int residuals, struct answer *out) {
  const size_t k = (size_t)ctl->pursuit.k, sizes = k * count;
  const size_t held_out = residuals ? (size_t)(fs->m * fs->L) * sizes : 0;
  struct fixed_size_result result = {.size = add_int(out, "size", count),
      .chosen = add_int(out, "chosen", sizes),
      .factor = add_real(out, "factor", sizes * k),
      .z = add_real(out, "z", sizes * (size_t)fs->L),
      .squared = add_real(out, "squared", sizes),
      .se = add_real(out, "se", sizes),
      .error = add_real(out, "error", ctl->classes ? sizes : 0),
      .residual = add_real(out, "residual", held_out)};
  for (size_t s = 0; s < sizes; s++)
    result.squared[s] = result.se[s] = NA_REAL;
  for (size_t s = 0; ctl->classes && s < sizes; s++)
    result.error[s] = NA_REAL;
  if (!residuals)
    result.residual = NULL;
  return result;
}

SEXP C_fixed_size(SEXP machine, SEXP control) {
  const struct fixed_size fs = unpack_machine(machine);
  const struct fixed_size_control ctl = {.pursuit = unpack_pursuit(control, (int)(fs.n + fs.q)),
      .classes = int_field(control, "classes"),
      .window = count_field(control, "window"),
      .change = real_field(control, "change")};
  const int count = length(field(control, "lambda"));
  const double *lambda = double_field(control, "lambda", count);
  struct answer out = new_answer();
  PROTECT(out.list);
  struct fixed_size_result result =
      new_paths(&fs, &ctl, (size_t)count, int_field(control, "residuals"), &out);
  struct r_host r;
  struct host host = make_host(&r, control, 0, fs.m);
  void *work = R_alloc(fixed_size_work(&fs, &ctl, count), 1);
  const enum status status = fixed_size(&fs, lambda, count, &ctl, &host, work, &result);
  add_status(&out, final_status(status, &r));
  *add_real(&out, "columns", 1) = result.columns;
  UNPROTECT(1);
  return answer_list(&out);
}
