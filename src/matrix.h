/* A matrix as the user holds it. */
#ifndef SPARSELS_MATRIX_H
#define SPARSELS_MATRIX_H

#include <stddef.h>

/* What a dense x is made of: numbers; codes of values, a byte each (CODED) or two bits each
   (CALLS), the lowest bits of a byte first, where each column begins with a new byte; numbers of
   which some stand for a missing value (FILLED_*): NAN, and the lowest whole number; or functions
   of other columns (COMPUTED), of which NAN is missing. */
enum element {
  DOUBLES,
  INTEGERS,
  FLOATS,
  SHORTS,
  UNSIGNED_SHORTS,
  BYTES,
  CODED,
  CALLS,
  FILLED_SHORTS,
  FILLED_DOUBLES,
  FILLED_INTEGERS,
  FILLED_FLOATS,
  COMPUTED,
  ELEMENTS
};

/* A function of one variable in pieces, as R/data-curves.R has them: the variable is moved into
   [low, high]. From each `start` on the value is a cubic polynomial of the distance from it.
   Without pieces it is the variable. */
struct piecewise {
  double low, high;
  ptrdiff_t count;
  const double *start; /* count, ascending */
  const double *cubic; /* count x 4: constants, then the factors of each power */
};

/* A column that is a function of a column of doubles, or the product of two. */
struct computed {
  const double *of[2]; /* the second is NULL for a single function */
  struct piecewise by[2];
};

/* Dense, column-major; or compressed sparse columns when `p` is not NULL. column.h reads it. */
struct matrix {
  enum element element;
  const void *dense;   /* m x n */
  const double *codes; /* 256 (CODED) or 4 (CALLS), the value of each code, NAN for a missing one */
  const double *fill;  /* n, what stands for a missing value of each column; NULL: NAN does */
  const struct computed *computed; /* n (COMPUTED) */
  const double *x;                 /* the nonzeros, in the order of their columns */
  const int *i;                    /* row of each nonzero */
  const int *p;                    /* first nonzero of each column, n + 1 of them */
};

#endif
