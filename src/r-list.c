/* Lists by name: what R gives, each field checked before it is read, and answers. */
#include "r.h"

#include <math.h>
#include <string.h>

/* ---- fields ---- */

void call_r(const char *name, SEXP x) {
  PROTECT(x);
  SEXP package = PROTECT(mkString("sparsels"));
  SEXP space = PROTECT(R_FindNamespace(package));
  SEXP call = PROTECT(lang2(install(name), x));
  eval(call, space);
  UNPROTECT(4);
}

void expect(_Bool holds, const char *name) {
  if (!holds)
    call_r("stop_edited", mkString(name));
}

/* The place of the field, -1 if there is none of the name. */
static R_xlen_t place_of(SEXP list, const char *name) {
  SEXP names = TYPEOF(list) == VECSXP ? getAttrib(list, R_NamesSymbol) : R_NilValue;
  for (R_xlen_t i = 0; i < xlength(names); i++)
    if (strcmp(CHAR(STRING_ELT(names, i)), name) == 0)
      return i;
  return -1;
}

SEXP field(SEXP list, const char *name) {
  const R_xlen_t i = place_of(list, name);
  expect(i >= 0, name);
  return VECTOR_ELT(list, i);
}

int has_field(SEXP list, const char *name) {
  return place_of(list, name) >= 0;
}

int int_value(SEXP x, const char *name) {
  expect(isNumeric(x) || isLogical(x), name);
  expect(length(x) == 1 && asInteger(x) != NA_INTEGER, name);
  return asInteger(x);
}

double real_value(SEXP x, const char *name) {
  expect(isNumeric(x) && length(x) == 1 && !isnan(asReal(x)), name);
  return asReal(x);
}

int int_field(SEXP list, const char *name) {
  return int_value(field(list, name), name);
}

int count_field(SEXP list, const char *name) {
  const int count = int_field(list, name);
  expect(count >= 0, name);
  return count;
}

double real_field(SEXP list, const char *name) {
  return real_value(field(list, name), name);
}

SEXP function_or_null(SEXP list, const char *name) {
  SEXP x = field(list, name);
  expect(isNull(x) || isFunction(x), name);
  return x;
}

const double *double_values(SEXP x, const char *name, double length) {
  expect(isReal(x) && (double)xlength(x) == length, name);
  return REAL(x);
}

void expect_finite(const double *value, size_t count, const char *name) {
  int infinite = 0;
  for (size_t i = 0; i < count; i++)
    infinite |= !isfinite(value[i]);
  expect(!infinite, name);
}

const double *finite_values(SEXP x, const char *name, double length) {
  const double *value = double_values(x, name, length);
  expect_finite(value, (size_t)length, name);
  return value;
}

const double *double_field(SEXP list, const char *name, double length) {
  return finite_values(field(list, name), name, length);
}

const double *double_or_null(SEXP list, const char *name, double length) {
  return isNull(field(list, name)) ? NULL : double_field(list, name, length);
}

SEXP matrix_field(SEXP list, const char *name, ptrdiff_t rows, ptrdiff_t columns) {
  SEXP x = field(list, name);
  expect(isReal(x), name);
  expect((rows == ANY || nrows(x) == rows) && (columns == ANY || ncols(x) == columns), name);
  finite_values(x, name, (double)xlength(x));
  return x;
}

const int *index_values(SEXP x, const char *name, double length, int from, int to) {
  expect((isInteger(x) || isFactor(x)) && (double)xlength(x) == length, name);
  const int *value = INTEGER(x);
  int outside = 0;
  for (R_xlen_t i = 0; i < xlength(x); i++)
    outside |= value[i] < from || value[i] > to;
  expect(!outside, name);
  return value;
}

const int *index_field(SEXP list, const char *name, double length, int from, int to) {
  return index_values(field(list, name), name, length, from, to);
}

const int *start_values(SEXP x, const char *name, double parts, int end) {
  expect(parts >= 0, name);
  const int *start = index_values(x, name, parts + 1, 0, end);
  int falls = start[0] != 0;
  for (R_xlen_t i = 1; i < xlength(x); i++)
    falls |= start[i] < start[i - 1];
  expect(!falls, name);
  return start;
}

int choice_field(SEXP list, const char *name, const char *const *words, int count) {
  SEXP given = field(list, name);
  expect(isString(given) && length(given) == 1, name);
  for (int i = 0; i < count; i++)
    if (strcmp(words[i], CHAR(STRING_ELT(given, 0))) == 0)
      return i;
  error("internal: no %s '%s'", name, CHAR(STRING_ELT(given, 0)));
}

enum criterion unpack_criterion(SEXP name) {
  const int kind =
      isString(name) && length(name) == 1 ? criterion_named(CHAR(STRING_ELT(name, 0))) : -1;
  if (kind < 0)
    error("internal: no such criterion");
  return (enum criterion)kind;
}

/* ---- answers ---- */

enum { MAX_PARTS = 24 };

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
