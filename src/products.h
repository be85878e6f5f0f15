/* Products of many columns with several vectors in one pass over x. */
#ifndef SPARSELS_PRODUCTS_H
#define SPARSELS_PRODUCTS_H

#include "problem.h"

/* One pass over x: the products of the columns listed, each but once, with r vectors. */
struct column_pass {
  const struct problem *pb;
  const int *list;
  ptrdiff_t count, r;
  const double *const *v; /* r vectors of m, within the span of working columns */
  double *const *out;     /* r times n, out[l][i] += v_l'x_i of working column x_i */
  double done, total;     /* for the host */
};

/* Reads each listed column once, in place. O(m r) a column, O(nonzeros r) if sparse. Each column is
   summed by one thread in one order. */
enum status column_products(const struct column_pass *pass, struct host *host, void *work);

/* Bytes of workspace that column_products() needs for r vectors. */
size_t column_products_work(const struct problem *pb, ptrdiff_t r, int threads);

/* products (n x L) := those of the usable working columns with y, several at a time; work:
   problem_products_work() bytes. O(mn) for each output, x is read once for 32 of them. */
size_t problem_products_work(const struct problem *pb, int threads);
enum status problem_products(
    const struct problem *pb, struct host *host, void *work, double *products);

#endif
