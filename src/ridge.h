/* Ridge regression in its eigen coordinates, and any rows held out of it. */
#ifndef SPARSELS_RIDGE_H
#define SPARSELS_RIDGE_H

#include "problem.h"
#include "work.h"

/* F (m x n) := K R^-1 less its projection on Z, turned by V so that F'F is diagonal; that diagonal
   in values (n), ascending; R := R^-1 V. F holds K before, its rows not yet weighted, and R the
   upper Cholesky factor of the kernel matrix of the basis vectors.
   Pahikkala, Suominen and Boberg 2012, (14) to (17). O(m n^2). */
enum status kernel_spectrum(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
    const double *Z, struct host *host, void *work, double *F, double *R, double *values);

size_t kernel_spectrum_work(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q);

/* F (n x n, upper triangular) := a factor, F F' = lambda (K + lambda I)^-1, for a positive
   semidefinite K (n x n). NOT_POSITIVE where a pivot of K + lambda I is no more than lambda / 2.
   n^3 / 3 multiply-adds. */
enum status kernel_factor(
    ptrdiff_t n, const double *K, double lambda, struct host *host, void *work, double *F);

size_t kernel_factor_work(ptrdiff_t n);

/* R (p x p) := the triangular factor of the QR decomposition of A (above x p) on top of B (below x
   p), zero rows where these have fewer than p. Zero on success. O((above + below) p^2). */
int triangle(ptrdiff_t p, ptrdiff_t above, const double *A, ptrdiff_t below, const double *B,
    void *work, double *R);

size_t triangle_work(ptrdiff_t rows, ptrdiff_t p); /* rows: above + below */

/* A ridge problem with r directions; docs/objects.md says what each part is. */
struct spectrum {
  ptrdiff_t m, r, q, L;
  int complete;         /* F is orthonormal, and with Z it spans all of R^m */
  const double *F;      /* m x r */
  const double *values; /* r */
  const double *t;      /* r x L, F'y */
  const double *y;      /* m x L, working response */
  const double *Z;      /* m x q, orthonormal basis of the weighted covariates */
  const double *root_w; /* m */
  const double *Q;      /* n x r, a row for each basis vector that can be removed */
  ptrdiff_t n;
};

/* Sets of rows to hold out, one after the other: set s is order[start[s] .. start[s + 1]). */
struct heldout {
  ptrdiff_t sets;
  const int *order;
  const int *start;
  const int *basis; /* m, the basis vector to be removed with each row, -1 where there is none */
  /* Where HOLDOUT_PER_FOLD has lost the digits it gives up, with done 0. `outweighed`: when the
     rows not held out have less than this share of a covariate, or of the squares of F. `singular`:
     when the smallest eigenvalue of their F'F, plus lambda, is less than this share of the largest
     of all rows; I - J must exceed it, too. 0: never. */
  double outweighed, singular;
};

enum holdout_form { HOLDOUT_CHEAPER = 0, HOLDOUT_PER_FOLD = 1 };

/* residual (start[sets] x L x c) := the residuals of each set's rows in the model trained without
   them, for every output and lambda, in the user's units. Pahikkala, Suominen and Boberg 2012,
   Proposition 1. done[s] := 1, or 0 where the cheaper form would lose too many digits: that set
   needs HOLDOUT_PER_FOLD. No set is empty, the covariates are independent over the rows not held
   out, and with a complete F no basis vector is removed. Each set costs the less of c h^2 r and h
   r^2 + O(r^3) for h rows, with a complete F the former. */
enum status holdout(const struct spectrum *sp, const struct heldout *heldout, const double *lambda,
    ptrdiff_t c, enum holdout_form form, struct host *host, void *work, double *residual,
    int *done);

size_t holdout_work(const struct spectrum *sp, const struct heldout *heldout, ptrdiff_t c,
    enum holdout_form form, int threads);

/* The choice of basis vectors, called centres here, among n candidates. */
struct centres {
  ptrdiff_t m, n, q, L;
  const double *K;       /* m x n, kernel of the rows with the candidates, not yet weighted */
  const double *penalty; /* n x n, kernel of the candidates with each other */
  double shift;          /* added to its diagonal */
  const double *Z;       /* m x q, orthonormal basis of the weighted covariates */
  const double *root_w;  /* m */
  const double *y;       /* m x L, working response */
  double lambda;
  const int *row;   /* n, the row that a candidate is, -1 where it is none */
  ptrdiff_t folds;  /* 0: leave-one-out */
  const int *start; /* folds + 1, rows start[f] .. start[f + 1] are held out together */
  int removed;      /* whether the centres among rows held out go with them */
  int k;            /* how many are chosen */
};

struct centres_result {
  int *chosen;   /* k, candidates in the order chosen */
  double *error; /* k, held-out sum of squares of the model after each */
  int size;      /* how many there are */
};

/* Adds k times the candidate with the smallest held-out sum of squares, the first of those that
   tie. A candidate that is dependent on the centres is added only when all are. Without folds 2 m
   n + 2 k n operations for each, with folds 4 m n, with folds and centres removed 6 m n + 2 k n.
   The answer is the same for any number of threads. */
enum status choose_centres(
    const struct centres *ct, struct host *host, void *work, struct centres_result *result);

/* m n doubles, k n more; with folds m n more, with folds and centres removed 2 m n. */
size_t centres_work(const struct centres *ct);

#endif
