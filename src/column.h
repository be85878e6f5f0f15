/* A column of x: doubles, integers or compressed sparse. Methods never ask which. */
#ifndef SPARSELS_COLUMN_H
#define SPARSELS_COLUMN_H

#include "problem.h"
#include <string.h>

/* out (m) := column j. */
static inline void gather_column(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double *out) {
  if (x->whole != NULL) {
    const int *column = x->whole + j * m;
    for (ptrdiff_t r = 0; r < m; r++)
      out[r] = column[r];
  } else if (x->p == NULL) {
    memcpy(out, x->x + j * m, (size_t)m * sizeof(double));
  } else {
    memset(out, 0, (size_t)m * sizeof(double));
    for (int k = x->p[j]; k < x->p[j + 1]; k++)
      out[x->i[k]] = x->x[k];
  }
}

#endif
