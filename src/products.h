/* Products of many columns with several vectors in one pass over x, and with each other by folds.
 */
#ifndef SPARSELS_PRODUCTS_H
#define SPARSELS_PRODUCTS_H

#include "problem.h"
#include "triangle.h"

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

/* out (m x L) := the sum of the n listed columns of a dense X (m rows) times their coefficients B
   (n x L), by blocks of rows. Four columns are left out of four scores where all their coefficients
   are 0. O(m n L). */
void linear_scores(ptrdiff_t m, const struct matrix *X, ptrdiff_t n, const int *list, ptrdiff_t L,
    const double *B, double *out);

/* ---- by folds ---- */

/* Products of the variables with each other: columns, centred and scaled but not residualised, the
   covariates of Q and the responses y, in this order. Whatever depends on the squared errors of
   rows held out by these folds follows from them without the rows. */
struct fold_products {
  int folds;
  ptrdiff_t order;
  const double *of;     /* packed x (folds + 1), of the rows of each fold, then of all rows */
  const double *weight; /* folds + 1, the sums of their case weights */
};

/* The packed products of a fold, `folds` being all rows. */
static inline const double *products_of_fold(const struct fold_products *products, int fold) {
  return products->of + fold * packed_size(products->order);
}

/* of and weight := products of the columns of a dense x of doubles by the folds of one partition;
   work: fold_products_work() bytes. Each product is summed by one thread in one order. O(m (n + q +
   L)^2 / 2), x is read once for each fold. */
size_t fold_products_work(const struct problem *pb);
enum status fold_products(const struct problem *pb, const struct folds *folds, struct host *host,
    void *work, double *of, double *weight);

/* Columns of a dense x (m x n), and some vectors v (m x count). */
struct weighted_columns {
  ptrdiff_t m, n, count;
  struct matrix x;
  const double *v;
  int (*stop)(void); /* asked now and then: not zero means that the rest is not wanted */
};

/* products (n x n x count) := X' diag(v) X for each v; work: weighted_products_work() bytes. O(m
   n^2 count / 2), x is read once. */
size_t weighted_products_work(ptrdiff_t n);
enum status weighted_products(const struct weighted_columns *columns, void *work, double *products);

#endif
