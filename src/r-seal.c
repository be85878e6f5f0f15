/* The shape of an object: types, lengths, dimensions and names of all its parts, in a number for
   each field, and which values of short vectors are missing. In a second number the values of short
   vectors as well. */
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

static uint64_t shape(SEXP x, int with_values);

/* Attributes in any order. R and Matrix change some of them of themselves, and the seal is one. */
static uint64_t shape_of_attributes(SEXP x, int with_values) {
  uint64_t hash = 0;
  for (SEXP part = ATTRIB(x); part != R_NilValue; part = CDR(part)) {
    const char *name = CHAR(PRINTNAME(TAG(part)));
    if (strcmp(name, "row.names") == 0 || strcmp(name, "factors") == 0 || strcmp(name, "seal") == 0)
      continue;
    const int by_value = strcmp(name, "class") == 0 || strcmp(name, "dim") == 0 ||
                         strcmp(name, "Dim") == 0 || (strcmp(name, "names") == 0 && isNewList(x));
    hash +=
        mixed(hash_word(name), by_value ? hash_values(CAR(part)) : shape(CAR(part), with_values));
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

static uint64_t hash_value(SEXP x, R_xlen_t i) {
  uint64_t bits = 0;
  switch (TYPEOF(x)) {
  case LGLSXP:
    return (uint64_t)LOGICAL_ELT(x, i);
  case INTSXP:
    return (uint64_t)INTEGER_ELT(x, i);
  case REALSXP: {
    const double value = REAL_ELT(x, i);
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  case STRSXP:
    return hash_word(CHAR(STRING_ELT(x, i)));
  default:
    return 0;
  }
}

static uint64_t hash_short(SEXP x, int with_values) {
  uint64_t hash = 0;
  for (R_xlen_t i = 0; isVectorAtomic(x) && xlength(x) <= SHORT && i < xlength(x); i++) {
    if (is_missing(x, i))
      hash = mixed(hash, (uint64_t)i + 1);
    else if (with_values)
      hash = mixed(hash, hash_value(x, i));
  }
  return hash;
}

/* Of functions, environments, formulas and calls the type alone. A field `call` may be anything. */
static uint64_t shape(SEXP x, int with_values) {
  const uint64_t type = (uint64_t)TYPEOF(x);
  if (!isVector(x) && !IS_S4_OBJECT(x))
    return mixed(type, 0);
  uint64_t hash = mixed(type, isVector(x) ? (uint64_t)xlength(x) : 0);
  if (TYPEOF(x) == VECSXP) {
    SEXP names = getAttrib(x, R_NamesSymbol);
    for (R_xlen_t i = 0; i < xlength(x); i++)
      hash = mixed(hash, is_call_field(names, i) ? 0 : shape(VECTOR_ELT(x, i), with_values));
  }
  return mixed(mixed(hash, hash_short(x, with_values)), shape_of_attributes(x, with_values));
}

static SEXP shapes_of_fields(SEXP x, SEXP names, int with_values) {
  SEXP out = PROTECT(allocVector(INTSXP, xlength(x)));
  int *shapes = INTEGER(out);
  for (R_xlen_t i = 0; i < xlength(x); i++)
    shapes[i] = is_call_field(names, i) ? 0 : (int)(shape(VECTOR_ELT(x, i), with_values) >> 33);
  setAttrib(out, R_NamesSymbol, names);
  UNPROTECT(1);
  return out;
}

/* The shape of each field of a list, by name, with the shapes that have values as the attribute
   "values"; NULL for anything else. */
SEXP C_shape(SEXP x) {
  SEXP names = TYPEOF(x) == VECSXP ? getAttrib(x, R_NamesSymbol) : R_NilValue;
  if (!isString(names))
    return R_NilValue;
  SEXP out = PROTECT(shapes_of_fields(x, names, 0));
  SEXP values = PROTECT(shapes_of_fields(x, names, 1));
  setAttrib(out, install("values"), values);
  UNPROTECT(2);
  return out;
}
