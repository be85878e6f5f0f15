/* The shape of an object: types, lengths, dimensions and names of all its parts, in a number for
   each field. Values are not looked at, except which of a short vector are missing. */
#include "r.h"
#include <stdint.h>
#include <string.h>

static uint64_t mixed(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
  return hash ^ (hash >> 29);
}

static uint64_t hash_word(const char *word) {
  uint64_t hash = 1;
  for (; *word != '\0'; word++)
    hash = mixed(hash, (unsigned char)*word);
  return hash;
}

/* The values of what is short and says what an object is: names, classes and dimensions. */
static uint64_t hash_values(SEXP x) {
  uint64_t hash = mixed((uint64_t)TYPEOF(x), (uint64_t)xlength(x));
  for (R_xlen_t i = 0; i < xlength(x); i++)
    hash = mixed(hash, isString(x)    ? hash_word(CHAR(STRING_ELT(x, i)))
                       : isInteger(x) ? (uint64_t)INTEGER(x)[i]
                                      : 0);
  return hash;
}

static uint64_t shape(SEXP x);

/* Attributes in any order. R and Matrix change some of them of themselves, and the seal is one. */
static uint64_t shape_of_attributes(SEXP x) {
  uint64_t hash = 0;
  for (SEXP part = ATTRIB(x); part != R_NilValue; part = CDR(part)) {
    const char *name = CHAR(PRINTNAME(TAG(part)));
    if (strcmp(name, "row.names") == 0 || strcmp(name, "factors") == 0 || strcmp(name, "seal") == 0)
      continue;
    const int by_value = strcmp(name, "class") == 0 || strcmp(name, "dim") == 0 ||
                         strcmp(name, "Dim") == 0 || (strcmp(name, "names") == 0 && isNewList(x));
    hash += mixed(hash_word(name), by_value ? hash_values(CAR(part)) : shape(CAR(part)));
  }
  return hash;
}

static int is_call_field(SEXP names, R_xlen_t i) {
  return isString(names) && strcmp(CHAR(STRING_ELT(names, i)), "call") == 0;
}

static int is_missing(SEXP x, R_xlen_t i) {
  switch (TYPEOF(x)) {
  case LGLSXP:
    return LOGICAL_ELT(x, i) == NA_LOGICAL;
  case INTSXP:
    return INTEGER_ELT(x, i) == NA_INTEGER;
  case REALSXP:
    return ISNAN(REAL_ELT(x, i));
  case STRSXP:
    return STRING_ELT(x, i) == NA_STRING;
  default:
    return 0;
  }
}

enum { SHORT = 1000 }; /* values, so that a look at them takes no time */

static uint64_t hash_missing(SEXP x) {
  uint64_t hash = 0;
  for (R_xlen_t i = 0; isVectorAtomic(x) && xlength(x) <= SHORT && i < xlength(x); i++)
    if (is_missing(x, i))
      hash = mixed(hash, (uint64_t)i + 1);
  return hash;
}

/* Of functions, environments, formulas and calls the type alone. A field `call` may be anything. */
static uint64_t shape(SEXP x) {
  const uint64_t type = (uint64_t)TYPEOF(x);
  if (!isVector(x) && !IS_S4_OBJECT(x))
    return mixed(type, 0);
  uint64_t hash = mixed(type, isVector(x) ? (uint64_t)xlength(x) : 0);
  if (TYPEOF(x) == VECSXP) {
    SEXP names = getAttrib(x, R_NamesSymbol);
    for (R_xlen_t i = 0; i < xlength(x); i++)
      hash = mixed(hash, is_call_field(names, i) ? 0 : shape(VECTOR_ELT(x, i)));
  }
  return mixed(mixed(hash, hash_missing(x)), shape_of_attributes(x));
}

/* The shape of each field of a list, by name; NULL for anything else. */
SEXP C_shape(SEXP x) {
  SEXP names = TYPEOF(x) == VECSXP ? getAttrib(x, R_NamesSymbol) : R_NilValue;
  if (!isString(names))
    return R_NilValue;
  SEXP out = PROTECT(allocVector(INTSXP, xlength(x)));
  for (R_xlen_t i = 0; i < xlength(x); i++)
    INTEGER(out)[i] = is_call_field(names, i) ? 0 : (int)(shape(VECTOR_ELT(x, i)) >> 33);
  setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(1);
  return out;
}
