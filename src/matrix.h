/* A matrix as the user holds it. */
#ifndef SPARSELS_MATRIX_H
#define SPARSELS_MATRIX_H

#include <stddef.h>

/* What a dense x is made of: numbers; codes of values, a byte each (CODED) or two bits each
   (CALLS), the lowest bits of a byte first, where each column begins with a new byte; numbers of
   which some stand for a missing value (FILLED_*): NAN, and the lowest whole number. */
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
  ELEMENTS
};

/* Dense, column-major; or compressed sparse columns when `p` is not NULL. column.h reads it. */
struct matrix {
  enum element element;
  const void *dense;   /* m x n */
  const double *codes; /* 256 (CODED) or 4 (CALLS), the value of each code, NAN for a missing one */
  const double *fill;  /* n, what stands for a missing value of each column; NULL: NAN does */
  const double *x;     /* the nonzeros, in the order of their columns */
  const int *i;        /* row of each nonzero */
  const int *p;        /* first nonzero of each column, n + 1 of them */
};

#endif
