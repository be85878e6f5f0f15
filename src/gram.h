/* X'X of the usable working columns, none of them constant, whole or an entry at a time. */
#ifndef SPARSELS_GRAM_H
#define SPARSELS_GRAM_H

#include "problem.h"

struct gram {
  ptrdiff_t n, L;
  const double *diagonal; /* n, x_j'x_j */
  const double *b;        /* n x L, X'y */
  const double *whole;    /* n x n; NULL: made from the columns when asked for */
  ptrdiff_t m;
  const double *X; /* m x n, the working columns; NULL when x is sparse: */
  ptrdiff_t q;
  struct matrix x;     /* m x n, as the user gave it */
  const double *w;     /* m, case weights */
  const double *scale; /* n, what divides each column */
  const double *G;     /* q x n, what the covariates explain: Q'(sqrt(w) x_j) / scale_j */
};

/* Columns of X'X that were asked for often, kept by one thread. An entry off the diagonal has the
   same bits whether it comes from here or not. */
struct gram_cache {
  int capacity, used;
  int *slot;       /* n, where a column is, -1 if it is not */
  int *asked;      /* n, how many of its entries were computed one by one */
  double *columns; /* n x capacity */
  double *dense;   /* m, room for one column of x */
};

void gram_forget(const struct gram *gram, struct gram_cache *cache);

/* x_i'x_j. O(1) when it is there, else O(m) or the nonzeros of both. */
double gram_entry(const struct gram *gram, struct gram_cache *cache, ptrdiff_t i, ptrdiff_t j);

/* out (n) := X'x_j. O(mn) or the nonzeros. */
void gram_column(const struct gram *gram, ptrdiff_t j, double *dense, double *out);

/* out (n) := X'v for dense X (m x n) and v (m). O(mn). */
void cross_columns(ptrdiff_t m, ptrdiff_t n, const double *X, const double *v, double *out);

#endif
