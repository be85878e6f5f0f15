/* Lists by name: what R gives, and answers. */
#include "r.h"

#include "column.h"
#include <string.h>

SEXP field(SEXP list, const char *name) {
  SEXP names = getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < xlength(list); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return VECTOR_ELT(list, i);
  error("internal: no field '%s'", name);
}

int int_field(SEXP list, const char *name) {
  return asInteger(field(list, name));
}

double real_field(SEXP list, const char *name) {
  return asReal(field(list, name));
}

const double *real_or_null(SEXP list, const char *name) {
  SEXP part = field(list, name);
  return isNull(part) ? NULL : REAL(part);
}

static int has_field(SEXP list, const char *name) {
  SEXP names = getAttrib(list, R_NamesSymbol);
  for (R_xlen_t i = 0; i < xlength(names); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return 1;
  return 0;
}

int choice_field(SEXP list, const char *name, const char *const *words, int count) {
  const char *word = CHAR(STRING_ELT(field(list, name), 0));
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], word) == 0)
      return i;
  error("internal: no %s '%s'", name, word);
}

enum criterion unpack_criterion(SEXP name) {
  const int kind =
      isString(name) && length(name) == 1 ? criterion_named(CHAR(STRING_ELT(name, 0))) : -1;
  if (kind < 0)
    error("internal: no such criterion");
  return (enum criterion)kind;
}

/* ---- answers ---- */

enum { MAX_PARTS = 20 };

struct answer new_answer(void) {
  SEXP list = PROTECT(allocVector(VECSXP, MAX_PARTS));
  setAttrib(list, R_NamesSymbol, allocVector(STRSXP, MAX_PARTS));
  UNPROTECT(1);
  return (struct answer){list, 0};
}

static SEXP add_part(struct answer *answer, const char *name, SEXPTYPE type, size_t length) {
  if (answer->parts == MAX_PARTS)
    error("internal: no place for '%s'", name);
  SEXP part = allocVector(type, (R_xlen_t)length);
  SET_VECTOR_ELT(answer->list, answer->parts, part);
  SET_STRING_ELT(getAttrib(answer->list, R_NamesSymbol), answer->parts++, mkChar(name));
  return part;
}

int *add_int(struct answer *answer, const char *name, size_t length) {
  return INTEGER(add_part(answer, name, INTSXP, length));
}

double *add_real(struct answer *answer, const char *name, size_t length) {
  return REAL(add_part(answer, name, REALSXP, length));
}

void add_status(struct answer *answer, enum status status) {
  static const struct {
    enum status status;
    const char *word;
  } words[] = {{COMPLETE, "complete"}, {EARLY_STOP, "early_stop"}, {INTERRUPTED, "interrupted"},
      {MOVE_LIMIT, "move_limit"}, {NOT_POSITIVE, "not_positive"},
      {WORKSPACE_FULL, "workspace_full"}};
  int i = 0;
  while (words[i].status != status)
    i++;
  SET_STRING_ELT(add_part(answer, "status", STRSXP, 1), 0, mkChar(words[i].word));
}

SEXP answer_list(const struct answer *answer) {
  SEXP list = lengthgets(PROTECT(answer->list), answer->parts);
  UNPROTECT(1);
  return list;
}

/* ---- views ---- */

/* A file_matrix or a float_matrix, which may carry what stands for its missing values. */
static struct matrix unpack_in_place(SEXP x) {
  struct matrix view = {.element = FLOATS};
  if (inherits(x, "file_matrix"))
    view = unpack_file(x);
  else
    view.dense = RAW(field(x, "bytes"));
  const double *fill = has_field(x, "fill") ? real_or_null(x, "fill") : NULL;
  return fill == NULL ? view : fill_missing(view, fill);
}

struct matrix unpack_matrix(SEXP x) {
  switch (TYPEOF(x)) {
  case REALSXP:
    return (struct matrix){.element = DOUBLES, .dense = REAL(x)};
  case INTSXP:
    return (struct matrix){.element = INTEGERS, .dense = INTEGER(x)};
  case LGLSXP:
    return (struct matrix){.element = INTEGERS, .dense = LOGICAL(x)};
  case VECSXP:
    return unpack_in_place(x);
  default:
    return (struct matrix){.x = REAL(R_do_slot(x, install("x"))),
        .i = INTEGER(R_do_slot(x, install("i"))),
        .p = INTEGER(R_do_slot(x, install("p")))};
  }
}

/* The rows of each query, which count from 1. */
struct queries unpack_queries(SEXP query) {
  const int m = length(query), *id = INTEGER(query);
  int count = 0;
  for (int j = 0; j < m; j++)
    count = id[j] > count ? id[j] : count;
  int *order = (int *)R_alloc((size_t)m, sizeof(int));
  int *start = (int *)R_alloc((size_t)count + 1, sizeof(int));
  memset(start, 0, ((size_t)count + 1) * sizeof(int));
  for (int j = 0; j < m; j++)
    start[id[j] - 1]++;
  for (int g = 0; g < count; g++)
    start[g + 1] += start[g];
  for (int j = m; j-- > 0;) /* ends of queries become starts */
    order[--start[id[j] - 1]] = j;
  return (struct queries){count, order, start};
}

struct problem unpack_problem(SEXP problem) {
  SEXP y = field(problem, "y"), Q = field(problem, "q"), query = field(problem, "query");
  return (struct problem){.m = nrows(y),
      .n = length(field(problem, "usable")),
      .L = ncols(y),
      .q = ncols(Q),
      .x = unpack_matrix(field(problem, "x")),
      .centre = REAL(field(problem, "centre")),
      .inv_scale = REAL(field(problem, "inv_scale")),
      .squares = REAL(field(problem, "squares")),
      .rss = REAL(field(problem, "rss")),
      .products = REAL(field(problem, "products")),
      .usable = INTEGER(field(problem, "usable")),
      .root_w = REAL(field(problem, "root_w")),
      .divisor = REAL(field(problem, "divisor")),
      .Q = REAL(Q),
      .y = REAL(y),
      .response = REAL(field(problem, "response")),
      .query = isNull(query) ? NULL : INTEGER(query),
      .queries = isNull(query) ? (struct queries){0, NULL, NULL} : unpack_queries(query)};
}

/* ids (m x repeats) count folds from 1; the rows of a fold are in the order of `rows` (m), if that
   is given. */
struct folds unpack_folds(SEXP folds) {
  SEXP ids = field(folds, "ids");
  const int *rows = has_field(folds, "rows") ? INTEGER(field(folds, "rows")) : NULL;
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
    for (int p = m; p-- > 0;) { /* ends of folds become starts */
      const int j = rows == NULL ? p : rows[p] - 1;
      order[--start[id[j] - 1]] = j;
    }
    start += count[r] + 1;
  }
  return out;
}

struct gram unpack_gram(SEXP terms) {
  SEXP b = field(terms, "b"), whole = field(terms, "whole"), X = field(terms, "X");
  struct gram gram = {.n = nrows(b),
      .L = ncols(b),
      .diagonal = REAL(field(terms, "diagonal")),
      .b = REAL(b),
      .full = real_or_null(terms, "whole"),
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
