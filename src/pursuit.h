/* Sparse conjugate directions pursuit, on any system and for fixed-size least-squares support
   vector machines. */
#ifndef SPARSELS_PURSUIT_H
#define SPARSELS_PURSUIT_H

#include "problem.h"
#include "work.h"

/* A symmetric positive (semi)definite system A W = B of order D with L right sides, known by its
   columns. Each column may have `extra` more rows below it: what is predicted for them is kept up
   to date, without them entering A. */
struct system {
  ptrdiff_t D, L, extra;
  const double *b;        /* D x L */
  const double *diagonal; /* D; NULL when only columns are known */
  /* out (D + extra) := column j; not zero: it failed. */
  int (*column)(struct system *system, ptrdiff_t j, double *out);
  void *self;
};

/* Which component comes next, by its residual c = A W - B: the largest |c_i| (the paper's), c_i^2 /
   A_ii (orthogonal matching pursuit with atoms of unit norm), or c_i^2 / d_i, twice what the
   objective falls by, with d_i the Schur complement of A_ii given the chosen ones (orthogonal least
   squares). The last two need the diagonal. */
enum scdp_score { RESIDUAL = 0, NORMALISED = 1, OLS = 2 };

struct scdp_control {
  int k; /* components at most */
  enum scdp_score score;
  double dependent;      /* a component whose pivot is at most this share of A_ii depends on the
                            chosen ones, and is never chosen */
  int forced;            /* the first components, */
  const int *first;      /*   in this order; a dependent one is passed over */
  int drawn;             /* how many candidates there are at each step, 0: all components; */
  int width;             /*   the first of a list that are not chosen yet, */
  const int *candidates; /*   width x k, a list for each step; all when none of a list will do */
};

/* The state after `size` steps. With A_SS = LL' over the chosen components, row i of F is f_i, L^-1
   times the entries of A between them and i; it is 0 from the place on where i was chosen itself,
   so that L_ij is F at the i-th chosen component and step j. */
struct pursuit {
  int k, size;
  double *F;          /* (D + extra) x k */
  double *z;          /* k x L, L^-1 B_S */
  double *c;          /* D x L, residual A W - B */
  double *d;          /* D, the diagonal's Schur complements given the chosen */
  double *predicted;  /* extra x L, what is predicted for the rows below */
  double *resid_norm; /* k, the norm of c after each step */
  double *row;        /* k, workspace: a row of L */
  int *chosen;        /* k */
  int *blocked;       /* D, 0 for one that may be chosen */
  double min_pivot;   /* the smallest pivot so far, as a share of its A_ii */
  ptrdiff_t worst;    /* after NOT_POSITIVE: the component whose pivot is negative, */
  double pivot;       /*   and that pivot */
};

size_t scdp_work(const struct system *system, const struct scdp_control *control);

/* The state of no component, in a workspace of scdp_work() bytes. */
struct pursuit scdp_begin(
    const struct system *system, const struct scdp_control *control, void *work);

/* The component that comes next, -1 when none remains that would change anything. O(D L). */
ptrdiff_t scdp_choose(
    const struct pursuit *path, const struct system *system, const struct scdp_control *control);

/* Adds component s, whose column is in column `size` of F, to the chosen: COMPLETE; EARLY_STOP when
   it depends on the chosen ones, and is then blocked; NOT_POSITIVE when its pivot, or any on the
   diagonal, is negative beyond rounding. Karsmakers and others 2011, Algorithm 3, as a left-looking
   Cholesky factorisation. O((D + extra) size). */
enum status scdp_activate(struct pursuit *path, const struct system *system,
    const struct scdp_control *control, ptrdiff_t s);

/* scdp_choose() and scdp_activate() until there are k components: COMPLETE; EARLY_STOP when
   none remains that changes anything; NOT_POSITIVE; or INTERRUPTED, also when a column failed.
   O((D + extra) k^2) and k columns. */
enum status scdp(struct pursuit *path, struct system *system, const struct scdp_control *control,
    struct host *host);

/* The components chosen, in order, and the lower triangle of L (k x k). O(size^2). */
void pursuit_path(
    const struct pursuit *path, const struct system *system, int *chosen, double *factor);

/* m rows, those of a fold together; terms are n prototypes and then q covariates. */
struct fixed_size {
  ptrdiff_t m, n, q, L;
  const double *K;            /* m x n, kernel values of rows and prototypes, times root_w */
  const double *Z;            /* m x q, covariates times root_w */
  const double *K_prototypes; /* n x n, kernel matrix of the prototypes */
  const double *y;            /* m x L, coded response times root_w */
  const double *response;     /* m x L, coded response */
  const double *root_w;       /* m */
  int folds;                  /* 0 for none */
  const int *start;           /* folds + 1 */
  double nu;                  /* penalty of the covariates, added to their diagonal */
};

struct fixed_size_control {
  struct scdp_control pursuit;
  int classes;   /* whether errors are counted */
  int window;    /* the path ends when the error differs from the mean of so many before it */
  double change; /*   by less than this share; 0: never */
};

/* For each lambda: the pursuit on all rows, and estimates for every size from the rows of the
   folds, each predicted by the pursuit without its fold. */
struct fixed_size_result {
  int *size;        /* count, steps done */
  int *chosen;      /* k x count, terms */
  double *factor;   /* k x k x count, L of A_SS = LL'; its upper triangle is not written */
  double *z;        /* k x L x count, L^-1 B_S */
  double *squared;  /* k x count, weighted mean squared held-out residual of sizes 1, 2, ... */
  double *se;       /* k x count, its standard error over folds */
  double *error;    /* k x count, share in the wrong class; for classes */
  double *residual; /* m x L x k x count, held-out residuals in the user's units; or NULL */
  double columns;   /* columns of the system that were formed */
};

size_t fixed_size_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count);

/* Karsmakers and others 2011, Algorithm 4 with (34) and (36) to (38), for each lambda = 1 / gamma
   (count), in lock step over the folds. A column of the system is formed when a pursuit first
   chooses its term, O(m (n + q)), once for all folds and lambdas; a step is O((n + q + fold) size)
   for each fold and O(m (n + q)) for all of them. The diagonals and right sides of each fold are
   O(m (n + q)). */
enum status fixed_size(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, struct host *host, void *work,
    struct fixed_size_result *result);

#endif
