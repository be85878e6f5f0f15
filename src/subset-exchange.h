/* Exchanges of columns: what adding, dropping or swapping a column of a set does to its gain, for
   all columns at once. */
#ifndef SPARSELS_SUBSET_EXCHANGE_H
#define SPARSELS_SUBSET_EXCHANGE_H

#include "gram.h"

/* A set S with A = C_SS + lambda I and, for all columns, what is left of them given the set.
   Entries of members are 0. */
struct exchange {
  const struct gram *gram;
  struct gram_cache *cache;
  double lambda;
  int max_size, size;
  int given;       /* the first columns of the set, which no swap takes out */
  int *column;     /* max_size, in no order */
  double gain;     /* b_S'A^-1 b_S */
  double *W;       /* n x max_size, A^-1 C_S' */
  double *d;       /* n, the diagonal of C + lambda I - C_S W' */
  double *r;       /* n x L, b - C_S beta */
  double *inverse; /* max_size x max_size, A^-1 */
  double *beta;    /* max_size x L, A^-1 b_S */
  double *product; /* n, workspace: a column of X'X that is not cached */
};

struct exchange exchange_alloc(
    const struct gram *gram, double lambda, int max_size, struct arena *arena);

void exchange_clear(struct exchange *x);

/* Adds a column unless the set explains it, which 0 says. O(n size), and its products. */
int exchange_add(struct exchange *x, int j);

/* Drops the column at an index of the set. O(n size) */
void exchange_drop(struct exchange *x, int index);

/* The column that adds most; -1 when none adds more than rounding. O(n) */
int exchange_best_addition(const struct exchange *x);

/* The index of the column that is missed least, and what dropping it costs. */
int exchange_best_drop(const struct exchange *x, double *loss);

/* Makes the best swap of a member for another column, again and again, until none gains. O(n size)
   for each. */
void exchange_descend(struct exchange *x);

#endif
