/* Names of columns that were given none: V1, V2 and so on, each made when it is looked at, as those
   of many million columns would take more memory than a search of them. */
#include "r.h"
#include <R_ext/Altrep.h>
#include <stdio.h>

static R_altrep_class_t numbered_names;

/* Of such a vector data1 is how many names it has, a double. data2 is an ordinary vector of them
   once R has asked for one, by their address or by changing one, else NULL. */

static R_xlen_t numbered_length(SEXP x) {
  return (R_xlen_t)REAL(R_altrep_data1(x))[0];
}

static SEXP make_name(R_xlen_t i) {
  char name[32];
  snprintf(name, sizeof name, "V%.0f", (double)i + 1);
  return mkChar(name);
}

static SEXP numbered_element(SEXP x, R_xlen_t i) {
  SEXP made = R_altrep_data2(x);
  return made == R_NilValue ? make_name(i) : STRING_ELT(made, i);
}

static SEXP made_names(SEXP x) {
  if (R_altrep_data2(x) == R_NilValue) {
    SEXP made = PROTECT(allocVector(STRSXP, numbered_length(x)));
    for (R_xlen_t i = 0; i < XLENGTH(made); i++)
      SET_STRING_ELT(made, i, make_name(i));
    R_set_altrep_data2(x, made);
    UNPROTECT(1);
  }
  return R_altrep_data2(x);
}

static void set_numbered_element(SEXP x, R_xlen_t i, SEXP value) {
  SET_STRING_ELT(made_names(x), i, value);
}

static void *numbered_address(SEXP x, Rboolean writable) {
  (void)writable;
  return (void *)STRING_PTR_RO(made_names(x));
}

static const void *numbered_address_or_null(SEXP x) {
  return R_altrep_data2(x) == R_NilValue ? NULL : (const void *)STRING_PTR_RO(R_altrep_data2(x));
}

SEXP C_numbered_names(SEXP count) {
  const double names = real_value(count, "count");
  expect(names >= 0 && names <= (double)R_XLEN_T_MAX, "count");
  return R_new_altrep(numbered_names, ScalarReal(names), R_NilValue);
}

/* Whether names are those of numbered_names that nothing has made an ordinary vector yet. */
SEXP C_are_numbered(SEXP names) {
  return ScalarLogical(ALTREP(names) && R_altrep_inherits(names, numbered_names) &&
                       R_altrep_data2(names) == R_NilValue);
}

void make_numbered_class(DllInfo *dll) {
  numbered_names = R_make_altstring_class("numbered_names", "sparsels", dll);
  R_set_altrep_Length_method(numbered_names, numbered_length);
  R_set_altvec_Dataptr_method(numbered_names, numbered_address);
  R_set_altvec_Dataptr_or_null_method(numbered_names, numbered_address_or_null);
  R_set_altstring_Elt_method(numbered_names, numbered_element);
  R_set_altstring_Set_elt_method(numbered_names, set_numbered_element);
}
