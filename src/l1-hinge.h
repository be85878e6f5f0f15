/* The hinge engine: the linear programme and its basis. */
#ifndef SPARSELS_L1_HINGE_H
#define SPARSELS_L1_HINGE_H

#include "l1-state.h"

/* A variable and the key it is ordered by. */
struct hinge_key {
  double key;
  ptrdiff_t id;
};

struct hinge_programme {
  ptrdiff_t m, q;
  ptrdiff_t max_rows, rows; /* covariates first */
  ptrdiff_t max_tight;      /* and the row length of H */
  double lambda, max_weight;

  double *A;    /* m x max_rows, a row's coefficients one after the other */
  int *feature; /* max_rows, the column a row belongs to, -1 for a covariate */
  int *has_row; /* n, whether there is a row for a column */

  double *w, *y, *cost, *d; /* m; y, cost: 0 where w is; d: reduced costs of alpha */
  double *alpha;            /* m, exactly 0 or w unless basic */
  double *v;                /* max_rows, value of each row, exactly at its bound when tight */
  double *beta;             /* max_rows, multipliers, 0 unless tight */
  double *max_entry;        /* max_rows, the largest of a row's coefficients */
  double *max_value;        /* max_rows, what a row's value can never exceed */

  ptrdiff_t tight;
  int *R, *B;         /* max_tight, tight rows and basic alpha */
  int *in_R, *in_B;   /* max_rows, m: the place in R or B, or -1 */
  double *H;          /* max_tight x max_tight, a row for each basic alpha: A at (R, B) inverted */
  double *edge_alpha; /* max_tight, squares of the rows of the inverse basis, of basic alpha, */
  double *edge_row;   /* max_rows, and of rows that are not tight: dual steepest edge */
  int *barred;        /* m + max_rows, not to leave the basis until hinge_recompute() */
  ptrdiff_t pivots;   /* since H was inverted */
  int recomputed;     /* whether there was none since hinge_recompute() */

  /* Of one pivot: its row and column seen from the tight rows and from alpha, and moves. */
  double *rho, *kappa, *shift;       /* max_tight */
  double *row, *step, *moved, *turn; /* m */
  int *flipped;                      /* m */
  struct hinge_key *heap;            /* n or m + max_rows */
  double *lapack_work;               /* max_tight */
  int *lapack_pivots;                /* max_tight */

  /* The model, its values, and the residual of the last solution. */
  int *model;          /* max_rows */
  double *coefficient; /* max_rows */
  double *f, *old_r;   /* m */
};

/* ---- l1-hinge-basis.c ---- */

/* heap (count) := a heap with the smallest key first; ties by id. */
void hinge_order_heap(struct hinge_key *heap, ptrdiff_t count);

/* Takes the first of a heap out. */
struct hinge_key hinge_pop(struct hinge_key *heap, ptrdiff_t *count);

/* The coefficients of row k. */
static inline double *hinge_row(const struct hinge_programme *lp, ptrdiff_t k) {
  return lp->A + k * lp->m;
}

/* The row of H that belongs to the s-th basic alpha. */
static inline double *hinge_inverse_row(const struct hinge_programme *lp, ptrdiff_t s) {
  return lp->H + s * lp->max_tight;
}

/* What the absolute value of row k may be at most. */
static inline double hinge_row_bound(const struct hinge_programme *lp, ptrdiff_t k) {
  return lp->feature[k] < 0 ? 0 : lp->lambda;
}

/* Whether a variable that is not basic belongs at its upper bound: it stays at the bound it is at,
   unless its reduced cost has the other sign. */
static inline int hinge_at_upper(double d, int at_upper) {
  return at_upper ? d >= -HINGE_OPTIMAL : d > HINGE_OPTIMAL;
}

/* rho (tight) := the row of the inverse basis that gives the value of row k, which is not tight;
   its square, a 1 for the row itself included, is returned. */
double hinge_row_in_basis(const struct hinge_programme *lp, ptrdiff_t k, double *rho);

/* Adds the row whose coefficients are already in place. */
void hinge_append_row(struct hinge_programme *lp, int feature);

/* Adds the row of column j. */
void hinge_append_column(struct hinge_programme *lp, const struct problem *pb, ptrdiff_t j);

/* Drops the columns whose rows are not tight. */
void hinge_drop_rows(struct hinge_programme *lp);

/* The basis without a tight row, every alpha at its upper bound. */
void hinge_clear_basis(struct hinge_programme *lp);

/* Inverts H from its entries; a singular basis is cleared. */
void hinge_invert(struct hinge_programme *lp);

/* Computes costs and values from the basis, and H too where it has lost too many digits. */
void hinge_recompute(struct hinge_programme *lp);

/* ---- l1-hinge-simplex.c ---- */

/* The optimum with the present rows. */
enum status hinge_optimise(struct hinge_programme *lp, struct l1_state *state);

#endif
