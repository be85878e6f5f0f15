/* A matrix as the user holds it. */
#ifndef SPARSELS_MATRIX_H
#define SPARSELS_MATRIX_H

#include <stddef.h>

/* What a dense x is made of. */
enum element { DOUBLES = 0, INTEGERS = 1, FLOATS = 2, SHORTS = 3, BYTES = 4, ELEMENTS = 5 };

/* Dense, column-major; or compressed sparse columns when `p` is not NULL. column.h reads it. */
struct matrix {
  enum element element;
  const void *dense; /* m x n */
  const double *x;   /* the nonzeros, in the order of their columns */
  const int *i;      /* row of each nonzero */
  const int *p;      /* first nonzero of each column, n + 1 of them */
};

#endif
