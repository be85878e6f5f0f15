/* The relaxation that gives the largest dual bound, for one node of a tree of sets.

   Every set has the fixed units; k more are taken from the members. Given the fixed ones, with
   R'R = I + C_II, V = R'^-1 C_I. and z = R'^-1 b_I, the members are a problem of the same form with
   C - V'V, b - V'z and total - |z|^2. Columns of C - V'V are made when they are first used. For
   every beta

     bound = total - tr(beta'C beta) - (sum of the k largest c_g),  c_g = |b_g - C_g beta|^2

   is no larger than the value of any set. */
#ifndef SPARSELS_SUBSET_DUAL_H
#define SPARSELS_SUBSET_DUAL_H

#include "subset-proof.h"
#include "triangle.h"

/* The search ends when bound >= limit or value - bound <= max(tolerance, slack (limit - value)). */
struct dual_goal {
  double limit, slack, tolerance;
  int max_steps;
};

struct dual {
  const struct proof_terms *terms;
  struct gram_cache cache;
  ptrdiff_t max_fixed, max_columns, max_support, max_made; /* numbers of columns */
  double *column;                                          /* n, one column of X'X */

  /* the fixed units */
  int fixed;
  int *fixed_column;
  double *factor; /* max_fixed x max_fixed, R */
  double *root_b; /* max_fixed x L, z */

  /* the members */
  int members, columns, k;
  int whole;           /* whether they are all columns in their order, so that C is X'X as it is */
  int *first;          /* members + 1, where the columns of each member begin */
  int *at;             /* columns, of the gram */
  double total;        /* what the fixed units leave */
  double *V;           /* max_columns x max_fixed, V' */
  double *row;         /* fixed, one column of V */
  double *b;           /* max_columns x L */
  const double **made; /* columns, those of C - V'V; NULL: not yet */
  double *store;       /* max_columns x max_made */
  int stored;

  /* the point */
  double *share; /* members, s */
  int q;
  int *support; /* q columns with s > 0 */
  double *root; /* q, the roots of their s */
  double *R;    /* q x q, R'R = I + S^.5 C S^.5, columns max_support apart */
  double *u;    /* q x L, R'^-1 S^.5 b */
  double *beta; /* q x L */
  double *t;    /* max_columns x L, b - C beta */
  double *gain; /* members, c */
  double value, bound;

  /* a step: the active units a and a quadratic model of f over them */
  int active;
  int *unit;        /* a, members */
  double *H;        /* a x a */
  double *slope;    /* a, the gradient of the model */
  double *moved;    /* a, their shares after the step */
  double *change;   /* a, the step */
  double *trial;    /* members */
  int *order;       /* columns */
  double *W;        /* W', a row for each column of the active units, columns max_support apart */
  double *rows;     /* a x a factor */
  double *solution; /* a x 2 */
  int *inner;       /* columns */
};

/* Columns of the widest unit, at least 1. */
ptrdiff_t widest_unit(const struct proof_terms *terms);

/* Room for so many fixed columns, and so many columns of members. */
struct dual dual_alloc(const struct proof_terms *terms, ptrdiff_t max_fixed, ptrdiff_t max_members,
    ptrdiff_t max_columns, struct arena *arena);

/* The columns of X'X (n): in it, in the cache, or computed; until the next one is taken. */
const double *dual_take_column(struct dual *d, ptrdiff_t j);

/* Begins a problem: its units as lists. O(columns fixed^2) and what dual_take_column() costs. */
void dual_begin(
    struct dual *d, int fixed, const int *fixed_unit, int members, const int *member, int k);

int dual_reached(const struct dual *d, const struct dual_goal *goal);

/* A step of Newton's method. 0 when f does not fall: the point is as good as rounding lets it be.
   O(q^3 + a q^2 + a^2 q + q n) with a active units. */
int dual_step(struct dual *d);

/* Steps from d->share, which sums to k, until the goal is reached. */
void dual_minimise(struct dual *d, const struct dual_goal *goal);

/* value, beta, t, gain and bound at d->share. */
void dual_evaluate(struct dual *d);

/* H := second derivatives of f over the active units. */
void dual_hessian(struct dual *d);

/* change := about the best step of the active units, by the model. O(a^3) */
void dual_minimise_model(struct dual *d);

/* Coefficients of the fixed columns (fixed x L, columns max_fixed apart) at the point. */
void dual_fixed_beta(const struct dual *d, double *beta);

/* Moves shares of `count` units, within 0 to 1, so that they sum to k <= count. */
void dual_fit_shares(int count, double *share, int k);

/* order := the indices of the m largest of n values, descending, ties to the lowest; returns how
   many there are. O(n + m^2) mostly. */
int list_largest(ptrdiff_t n, const double *value, int m, int *order);

#endif
