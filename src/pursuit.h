/* Sparse conjugate directions pursuit, on any system and for fixed-size least-squares support
   vector machines. */
#ifndef SPARSELS_PURSUIT_H
#define SPARSELS_PURSUIT_H

#include "problem.h"

/* A symmetric positive (semi)definite system A W = B of order D with L right sides, known by its
   columns. `extra` more rows may hang below each column: what they would predict is followed
   without entering A. */
struct system {
  ptrdiff_t D, L, extra;
  const double *b;        /* D x L */
  const double *diagonal; /* D; NULL when only columns are known */
  /* out (D + extra) := column j; not zero: it was not to be had. */
  int (*column)(struct system *system, ptrdiff_t j, double *out);
  void *self;
};

/* Which component comes next, by its residual c = A W - B: the largest |c_i| (the paper's), c_i^2 /
   A_ii (orthogonal matching pursuit with atoms of unit norm), or c_i^2 / d_i, twice what the
   objective falls by, with d_i what the chosen ones leave of A_ii (orthogonal least squares). The
   last two need the diagonal. */
enum scdp_score { RESIDUAL = 0, NORMALISED = 1, OLS = 2 };

struct scdp_control {
  int k; /* components at most */
  enum scdp_score score;
  double dependent;      /* a component of which no more than this share of A_ii is left is never
                            chosen */
  int forced;            /* the first components, */
  const int *first;      /*   in this order; a dependent one is passed over */
  int drawn;             /* 0, or how many candidates there are at each step: */
  int width;             /*   the first of a list that are not chosen yet, */
  const int *candidates; /*   width x k, a list for each step; of all when it has none */
};

/* The state after `size` steps. With A_SS = LL' over the chosen components, row i of F is f_i, L^-1
   times the entries of A between them and i; it is 0 from the place on where i was chosen itself,
   so that L_ij is F at the i-th chosen component and step j. */
struct pursuit {
  int k, size;
  int *chosen;     /* k */
  int *blocked;    /* D, 0 for one that may be chosen */
  double *F;       /* (D + extra) x k */
  double *z;       /* k x L, L^-1 B_S */
  double *c;       /* D x L, residual A W - B */
  double *d;       /* D, what the chosen leave of the diagonal; unused when that is not known */
  double *value;   /* extra x L, what the rows below predict */
  double *left;    /* k, the norm of c after each step */
  double *row;     /* k, room */
  double least;    /* the smallest pivot, as a share of its A_ii */
  ptrdiff_t worst; /* after NOT_POSITIVE: the component whose pivot is negative, */
  double pivot;    /*   and that pivot */
};

size_t scdp_work(const struct system *system, const struct scdp_control *control);

/* The state of no component, carved out of `work`, which scdp_work() measured. */
struct pursuit scdp_begin(
    const struct system *system, const struct scdp_control *control, void *work);

/* The component that comes next, -1 when none is left that would change anything. O(D L). */
ptrdiff_t scdp_choose(
    const struct pursuit *at, const struct system *system, const struct scdp_control *control);

/* Takes component s in, whose column stands in column `size` of F: COMPLETE; EARLY_STOP when it
   depends on the chosen ones, which is remembered; NOT_POSITIVE when its pivot, or any on the
   diagonal, is negative beyond rounding. Karsmakers and others 2011, Algorithm 3, as a left-looking
   Cholesky factorisation. O((D + extra) size). */
enum status scdp_take(struct pursuit *at, const struct system *system,
    const struct scdp_control *control, ptrdiff_t s);

/* scdp_choose() and scdp_take() until there are k components: COMPLETE; EARLY_STOP when none is
   left that changes anything; NOT_POSITIVE; or INTERRUPTED, also when a column was not to be had.
   O((D + extra) k^2) and k columns. */
enum status scdp(struct pursuit *at, struct system *system, const struct scdp_control *control,
    struct host *host);

/* The components chosen, in order, and the lower triangle of L (k x k). O(size^2). */
void pursuit_path(
    const struct pursuit *at, const struct system *system, int *chosen, double *factor);

/* m rows, those of a fold together; terms are n prototypes and then q covariates. */
struct fixed_size {
  ptrdiff_t m, n, q, L;
  const double *K;        /* m x n, kernel values of rows and prototypes, times root_w */
  const double *Z;        /* m x q, covariates times root_w */
  const double *own;      /* n x n, kernel matrix of the prototypes */
  const double *y;        /* m x L, coded response times root_w */
  const double *response; /* m x L, coded response */
  const double *root_w;   /* m */
  int folds;              /* 0 for none */
  const int *start;       /* folds + 1 */
  double nu;              /* what is added to the diagonal of the covariates */
};

struct fixed_size_control {
  struct scdp_control pursuit;
  int classes; /* whether errors are counted */
  int window; /* the path ends when the error is within the share `change` of the mean of so many */
  double change; /*   before it; never when that is 0 */
};

/* For each lambda: the pursuit on all rows, and the held-out figures of every size from those
   without a fold. */
struct fixed_size_result {
  int *size;       /* count, steps done */
  int *chosen;     /* k x count, terms */
  double *factor;  /* k x k x count, L of A_SS = LL', its upper triangle left alone */
  double *z;       /* k x L x count, L^-1 B_S */
  double *squared; /* k x count, weighted mean squared held-out residual of sizes 1, 2, ... */
  double *se;      /* k x count, its standard error over folds */
  double *error;   /* k x count, share in the wrong class; for classes */
  double
      *residual;  /* m x L x k x count, held-out residuals in the user's units; NULL: not wanted */
  double columns; /* columns of the system that were formed */
};

size_t fixed_size_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count);

/* Karsmakers and others 2011, Algorithm 4 with (34) and (36) to (38), for each lambda = 1 / gamma
   (count), in lock step over the folds. A column of the system is formed when a pursuit first
   chooses its term, O(m (n + q)), once for all folds and lambdas; a step takes O((n + q + fold)
   size) for each fold and O(m (n + q)) for all of them. To begin with, each fold's diagonal and
   right side take O(m (n + q)). */
enum status fixed_size(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, struct host *host, void *work,
    struct fixed_size_result *result);

#endif
