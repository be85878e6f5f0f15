/* Ridge regression in its eigen coordinates, and any rows held out of it. */
#ifndef SPARSELS_RIDGE_H
#define SPARSELS_RIDGE_H

#include "problem.h"

/* F (m x n) := K R^-1 less its projection on Z, turned by V so that F'F is diagonal; that diagonal
   in values (n), ascending; R := R^-1 V. K comes in F, its rows still without their weights; R is
   the upper Cholesky factor of the basis vectors' own kernel matrix.
   Pahikkala, Suominen and Boberg 2012, (14) to (17). O(m n^2). */
enum status kernel_spectrum(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
    const double *Z, struct host *host, double *work, double *F, double *R, double *values);

/* How many doubles of work room it needs. */
size_t kernel_spectrum_work(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q);

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
struct held {
  ptrdiff_t sets;
  const int *order;
  const int *start;
  const int *basis; /* m, the basis vector to be removed with each row, -1 where there is none */
  /* PER_FOLD gives up, with done 0, on rows left whose share is less: of what there is of
     covariates or of F, of which they have then lost the digits; and, lambda included, of the
     smallest eigenvalue of their F'F in the largest of all rows, as F was squared. 0: never. */
  double outweighed, singular;
};

enum form { CHEAPER = 0, PER_FOLD = 1 };

/* residual (start[sets] x L x c) := what the model trained without a set misses of its rows, for
   every set, output and lambda, in the user's units. Pahikkala, Suominen and Boberg 2012,
   Proposition 1. done[s] := 1, or 0 where the cheaper form would lose too many digits: that set
   wants PER_FOLD. No set is empty, the rows left tell the covariates apart, and with a complete F
   no basis vector is removed. Each set costs the less of c h^2 r and h r^2 + O(r^3) for h rows,
   with a complete F the former. */
enum status holdout(const struct spectrum *sp, const struct held *held, const double *lambda,
    ptrdiff_t c, enum form form, struct host *host, void *work, double *residual, int *done);

/* How many bytes of work room it needs. */
size_t holdout_work(
    const struct spectrum *sp, const struct held *held, ptrdiff_t c, enum form form, int threads);

#endif
