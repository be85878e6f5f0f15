/* X'X of the usable working columns, none of them constant: all of it, or its entries as they are
   asked for. */
#ifndef SPARSELS_GRAM_H
#define SPARSELS_GRAM_H

#include "problem.h"
#include "work.h"

/* A column is cached once this share of its entries has been asked for, 1 / GRAM_CACHE_SHARE. */
enum { GRAM_CACHE_SHARE = 16 };

struct gram {
  ptrdiff_t n, L;
  const double *diagonal; /* n, x_j'x_j */
  const double *b;        /* n x L, X'y */
  const double *full;     /* n x n, X'X; NULL: entries are made from the columns */
  ptrdiff_t m;
  const double *X; /* m x n, the working columns; NULL when x is sparse: */
  ptrdiff_t q;
  struct matrix x;     /* m x n, as the user gave it */
  const double *w;     /* m, case weights */
  const double *scale; /* n, what divides each column */
  const double *G;     /* q x n, what the covariates explain: Q'(sqrt(w) x_j) / scale_j */
};

/* Columns of X'X that were asked for often, cached by one thread. An entry off the diagonal has the
   same bits whether it comes from the cache or not. */
struct gram_cache {
  int capacity, used;
  int *slot;       /* n, which of the cached columns it is, -1 for none */
  int *requests;   /* n, how many entries of a column were computed one by one */
  double *columns; /* n x capacity */
  double *dense;   /* m, one column of x */
};

struct gram_cache gram_cache_alloc(const struct gram *gram, int capacity, struct arena *arena);
void gram_cache_clear(const struct gram *gram, struct gram_cache *cache);

/* x_i'x_j. O(1) when X'X is full or the column cached, else O(m) or the nonzeros of both. */
double gram_entry(const struct gram *gram, struct gram_cache *cache, ptrdiff_t i, ptrdiff_t j);

/* out (n) := X'x_j; dense (m) is workspace. O(mn) or the nonzeros. */
void gram_column(const struct gram *gram, ptrdiff_t j, double *dense, double *out);

/* Column j of X'X (n): in X'X, in the cache, to which it is added if it fits, or made in out
   (n). What it has on the diagonal is for no use. O(1) or as gram_column(). */
const double *gram_take_column(
    const struct gram *gram, struct gram_cache *cache, ptrdiff_t j, double *out);

/* out (n) := X'v for dense X (m x n) and v (m). O(mn). */
void gram_products(ptrdiff_t m, ptrdiff_t n, const double *X, const double *v, double *out);

#endif
