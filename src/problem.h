/* What every kernel is given: a problem, folds, and what the caller lends.

   Kernels are plain C11. They are handed const input, a workspace and memory for the answer; they
   never allocate, print, raise or know R. What they need of the outside they ask of `host`. */
#ifndef SPARSELS_PROBLEM_H
#define SPARSELS_PROBLEM_H

#include "matrix.h"

/* The rows of each query, within which alone a ranking compares scores. count 0: no queries. */
struct queries {
  ptrdiff_t count;
  const int *order; /* m, the rows query by query */
  const int *start; /* count + 1, where each query begins */
};

/* Groups of rows whose errors a criterion compares, each relative to its null model's. */
struct row_groups {
  int count;
  const int *of;      /* m, the group of each row */
  const double *null; /* count, the weighted sum of the losses of the null model, held out; 0: the
                         group does not count */
};

/* When the rows of a response of times are at risk. The times with an event are `moments`, stratum
   by stratum in the order of time. */
struct risk_sets {
  int moments;      /* 0: no times */
  int efron;        /* how tied events are dealt with: 0 for Breslow */
  int late;         /* whether rows enter after the first moment of their stratum */
  const int *first; /* moments, the first moment of the stratum of each */
  const int *from;  /* m, a row is at risk at the moments from here */
  const int *to;    /* m, to before this one, without the moment of its event */
  const int *event; /* m, the moment of its event, -1 without one */
};

/* A regression problem in working coordinates (ARCHITECTURE.md, "working column"): m rows, n
   columns, L responses, q covariates. With queries the means of each query are covariates, too,
   which Q leaves out. */
struct problem {
  ptrdiff_t m, n, L, q;
  struct queries queries;
  struct risk_sets risk;
  struct matrix x;
  const double *centre;    /* n */
  const double *inv_scale; /* n */
  const double *squares;   /* n, of each working column with the covariates still in it, summed */
  const double *rss;       /* n, their residual sums of squares given the covariates */
  const double *products;  /* n x L, of each working column with y */
  const int *usable;       /* n, 0 for an excluded column: constant, or given by the covariates */
  const double *root_w;    /* m, square roots of the case weights, which may be 0 */
  const double *divisor;   /* m, root_w, or 1 where it is 0: takes residuals to user units */
  const double *Q;         /* m x q, orthonormal basis of the weighted covariates */
  const double *held;      /* m x q, Q without the directions that lie within a fold, along which
                              nothing is known without the fold; Q itself if there are none */
  const double *y;         /* m x L, working response: sqrt(w) y, less its projection on Q */
  const double *response;  /* m x L, the response in the user's units, less the offset */
  const double *offset;    /* m x L, NULL without one */
  double parameter;        /* of the loss, above 0, and 0 of a loss without one */
  const int *query;        /* m, the query of each row, NULL without queries */
  struct row_groups groups;
};

/* One or several partitions of the rows. Leave-one-out is the partition into m folds, with loo = 1.
 */
struct folds {
  int loo, repeats;
  const int *order; /* m x repeats, the rows of each partition, fold by fold */
  const int *count; /* repeats, the number of folds of each */
  const int *start; /* for each repeat its count + 1 fold starts, one repeat after the other */
};

/* The number of folds of all partitions. */
static inline int all_folds(const struct folds *folds) {
  int total = 0;
  for (int r = 0; r < folds->repeats; r++)
    total += folds->count[r];
  return total;
}

/* What the caller lends a kernel. stop() is asked now and then, outside parallel regions: not zero
   means that the kernel must return what it has. user_loss() is the user's own criterion, smaller
   is better. */
struct host {
  int threads;
  int (*stop)(struct host *host, double done, double total);
  double (*user_loss)(struct host *host, const double *held_out_residual, int repeat);
  size_t residual_length; /* of what user_loss() is given, m x L */
  double columns_read;    /* by the kernel until now, if it counts them */
  void *self;
};

/* Values of x that are read between two polls, at most: so many come from a slow disk in a second.
 */
#define POLLED_VALUES 8e6

/* The case weight of a row. */
static inline double case_weight(const struct problem *pb, ptrdiff_t row) {
  return pb->root_w[row] * pb->root_w[row];
}

enum status {
  COMPLETE = 0,
  EARLY_STOP = 1,
  INTERRUPTED = 2,
  MOVE_LIMIT = 3,
  WAITING = 4,
  NOT_POSITIVE = -1,
  WORKSPACE_FULL = -2
};

/* out (m) := root_w (x_j - centre_j) inv_scale_j, about the means of queries if there are any, the
   covariates still in it. O(m). */
void centred_column(const struct problem *pb, ptrdiff_t j, double *out);

/* v (m) := v less its projection on root_w of each query: what v / root_w is about its weighted
   mean of the query. O(m). */
void centre_within(const struct queries *queries, const double *root_w, double *v);

/* v (m) := its residual on the covariates, Q being orthonormal and orthogonal to the means of
   queries. O(m (q + 1)). */
void project_out(const struct problem *pb, double *v);

/* out (m) := working column j: the residual of that on the covariates. O(m (q + 1)). */
void working_column(const struct problem *pb, ptrdiff_t j, double *out);

/* What column_moments() finds of the columns of x (m x n). */
struct moments {
  ptrdiff_t m, n, L;
  struct matrix x;
  const double *w; /* m, weights */
  const double *v; /* m x L; if centred, its columns sum to nothing */
  int centred;
  double *centre;    /* n, weighted means, 0 unless centred */
  double *squares;   /* n, weighted sums of squares about it */
  double *products;  /* n x L, of the columns with v */
  int (*stop)(void); /* asked now and then: not zero means that the rest is not wanted; or NULL */
};

/* A value that is not finite, or missing, leaves squares not finite. The result is the same for any
   number of threads. O(m n (1 + L)) or L + 3 times the nonzeros; a dense x is read once, or twice
   if centred. INTERRUPTED where stop() says so. */
enum status column_moments(const struct moments *moments, int threads);

/* What column_means() finds of the columns of a dense x (m x n). */
struct present_means {
  ptrdiff_t m, n;
  struct matrix x;
  const double *w; /* m, weights */
  double *mean;    /* n, weighted means of the values that are there, NAN where none has a weight */
  double *missing; /* n, number of rows without a value */
  int (*stop)(void);
};

/* The result is the same for any number of threads. O(m n), each column is read twice in a row.
   INTERRUPTED where stop() says so. */
enum status column_means(const struct present_means *means, int threads);

/* Sums of squares of all columns of a problem, about their weighted means of each query; not
   scaled. */
struct within_squares {
  const struct problem *pb;
  double *scratch; /* threads x m */
  double *squares; /* n */
  int (*stop)(void);
};

/* The result is the same for any number of threads. O(m n), x is read once. INTERRUPTED where
   stop() says so. */
enum status column_within_squares(const struct within_squares *within, int threads);

/* Place of an entry below the diagonal of A (n x n) that differs from its mirror image by more than
   share * root_i * root_j, or of which one is not finite; -1 when there is none. O(n^2), A is read
   once. */
ptrdiff_t asymmetric_entry(ptrdiff_t n, const double *A, const double *root, double share);

#endif
