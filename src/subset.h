/* The best subset of columns: Pareto optimisation, and branch and bound. */
#ifndef SPARSELS_SUBSET_H
#define SPARSELS_SUBSET_H

#include "gram.h"

struct poss_control {
  double lambda;
  int max_size;        /* of the sets that are archived, 2k - 1 */
  int isolated;        /* whether only sets with the same first column are compared */
  int exchanged;       /* whether a set is mutated by exchanges, instead of flips of columns */
  const double *price; /* n, by which sets are compared instead of by their size; or NULL */
  const int *assay;    /* n, the assay that has the column, -1: none; its price is paid once */
  double max_price;    /* sets that cost as much are not archived */
  int islands;
  int capacity;      /* how many sets an island can archive */
  int max_cached;    /* how many columns of X'X each thread may cache when it is not given full */
  double iterations; /* of each island */
};

/* The archives, from which a search begins and in which it ends. */
struct poss_state {
  int *random;  /* 8 x islands, 256 bits for each generator */
  int *count;   /* islands, the sets archived */
  int *size;    /* capacity x islands */
  int *columns; /* max_size x capacity x islands, ascending */
  double *gain; /* capacity x islands, b'(C + lambda I)^-1 b of each; result only */
  double *done; /* iterations of each island; result only */
};

size_t poss_work(const struct gram *gram, const struct poss_control *control, int threads);

/* Qian, Yu and Zhou 2015, Algorithm 2, on independent islands. O(1) to O(k^2) for each iteration
   once the entries of X'X are known. Exchanges, which know no prices, replace its flips by another
   mutation: O(n k^2) for each iteration, O(nk) for each swap, and the products of the columns that
   come in. */
enum status poss(const struct gram *gram, const struct poss_control *control, struct host *host,
    void *work, struct poss_state *state);

struct best_control {
  double lambda;
  int k;        /* sizes 1..k */
  double nodes; /* at most, for each size */
  double total; /* tr(y'y), what no gain exceeds */
};

struct best_result {
  int sizes;     /* how many sizes there are: k, or fewer when the columns are dependent */
  int *set;      /* k x k, column s - 1 holds the s columns of size s, ascending */
  double *gain;  /* k, tr(b_S'(C_SS + lambda I)^-1 b_S) */
  double *bound; /* k, no set of that size gains more */
  double *nodes; /* k, sets that were branched from */
};

size_t best_work(const struct gram *gram, const struct best_control *control);

/* Branch and bound for the set with the largest gain, one size after the other, of the full X'X.
   Exponential in k at worst. MOVE_LIMIT when `nodes` ran out for a size: bound is then above gain.
   */
enum status best_subset(const struct gram *gram, const struct best_control *control,
    struct host *host, void *work, struct best_result *result);

#endif
