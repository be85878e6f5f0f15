/* The hot loops, as a set of functions for each instruction set: plain C, and on x86-64 vectors of
   two, four and eight doubles. lanes.c compiles lanes-set.h once for each. Sums are taken in
   another order by each set, so results agree to rounding. */
#ifndef SPARSELS_LANES_H
#define SPARSELS_LANES_H

#include <stddef.h>

struct fold_dots {
  double cq, qq;
};

struct pair_dots {
  double gc, gq;
};

/* Candidates of a best-subset search that are to be added in pairs after candidate i, whose row of
   C is a. Matrices have ld entries in a row, a multiple of LANES_PAD; where there is no candidate,
   floor is positive and the rest 0. */
enum { LANES_PAD = 8 };
struct pair_scan {
  ptrdiff_t ld, L;
  const double *C;     /* rows of ld, before i is in */
  const double *a;     /* ld */
  double inverse;      /* 1 / a_i, 0 when there is no i */
  const double *d, *r; /* ld and ld x L: the diagonal and X'y once i is in */
  const double *floor; /* ld, a smaller pivot is dependence */
  double need;         /* what a pair must gain more than */
};

#define LEAST_LENGTH 1e-150 /* in the place of 0, by which nothing can be divided */

/* What is known of n candidates of a greedy search (lazy.c); arrays have n entries, or n x L. */
struct outlook {
  ptrdiff_t n, L;
  double *square;       /* lambda + x'C */
  double *N;            /* |C|^2 */
  double *length;       /* |C| or a little more */
  double *g;            /* n x L, x'a */
  double *A;            /* n x L, C'a */
  double *z;            /* n x L, C'w_ref */
  const double *reach2; /* square of the norm of what is read of the column */
  const double *aside;  /* 0, or infinite for a column that is no candidate */
};

/* What a move does to them: t = x'c, q = C'c; of each output gamma, c'a, c'w_ref. Rounding is how
   far N may be off, as a share of reach2. */
struct outlook_move {
  double inverse, cc, rounding;
  const double *t, *q;
  const double *gamma, *c_a, *c_ref;
};

/* What bounds are made of besides: the error that stands, the inverse square of the largest d, the
   share of w that lies along w_ref and a and what is left of it, for each output, and the rounding
   that a column of reach2 = 0 has. */
struct outlook_rows {
  double P, inverse_d2, rounding;
  const double *theta0, *theta1, *rest;
};

struct lanes {
  int width; /* doubles in a vector */

  /* x'y */
  double (*dot)(ptrdiff_t m, const double *x, const double *y);

  /* x := x - f c */
  void (*shift)(ptrdiff_t m, double *x, double f, const double *c);

  /* x := x - C f, C (m x k) with columns ld apart */
  void (*shift_all)(
      ptrdiff_t m, double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, const double *f);

  /* x := x - C f, y := y - C g in one reading of C */
  void (*shift_both)(ptrdiff_t m, double *x, double *y, ptrdiff_t k, const double *C, ptrdiff_t ld,
      const double *f, const double *g);

  /* out (k) := C'x, C (m x k) with columns ld apart */
  void (*dots)(
      ptrdiff_t m, const double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, double *out);

  /* sum_j (x_j - centre) v_j */
  double (*centred_dot)(ptrdiff_t m, const double *x, double centre, const double *v);

  /* sum_j w_j (x_j - centre)^2 */
  double (*centred_square)(ptrdiff_t m, const double *x, double centre, const double *w);

  /* f := f + step (x - centre) */
  void (*add_centred)(ptrdiff_t m, double *f, double step, const double *x, double centre);

  /* s := s - step h (x - centre) */
  void (*shift_weighted)(
      ptrdiff_t m, double *s, double step, const double *h, const double *x, double centre);

  /* The logistic loss: v := w y / (1 + exp(y f)), h := its second derivative; returns the sum of
     w log(1 + exp(-y f)). */
  double (*logistic)(
      ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h);

  /* The leave-one-out sum of squares of the model that moves column x, a is m x L:
     sum_jl ((a_jl - alpha_l x_j) / (d_j - beta x_j^2))^2 */
  double (*score)(ptrdiff_t m, ptrdiff_t L, const double *x, const double *a, const double *d,
      double beta, const double *alpha);

  /* x := x - f c, and that sum for it, in one pass. */
  double (*shift_and_score)(ptrdiff_t m, ptrdiff_t L, double *x, double f, const double *c,
      const double *a, const double *d, double beta, const double *alpha);

  /* out := f w (x - centre), x of doubles or of integers */
  void (*centred)(
      ptrdiff_t m, double *out, const double *x, double centre, double f, const double *w);
  void (*centred_whole)(
      ptrdiff_t m, double *out, const int *x, double centre, double f, const double *w);

  /* out[l + r i] += x_i'v_l for up to four columns x_i, ldx apart, and r columns v_l, ldv apart */
  void (*products)(ptrdiff_t m, ptrdiff_t columns, const double *x, ptrdiff_t ldx, ptrdiff_t r,
      const double *v, ptrdiff_t ldv, double *out);

  /* out[l] += sum_k w[row_k] x_k v[l + ldv row_k], l < r */
  void (*sparse_products)(ptrdiff_t count, const double *x, const int *row, const double *w,
      ptrdiff_t r, const double *v, ptrdiff_t ldv, double *out);

  void (*outlook_advance)(const struct outlook *outlook, const struct outlook_move *move);

  /* Lower bounds of the sums of squares, less what rounding may have done to them; -DBL_MAX where
     that could be much. */
  void (*outlook_bounds)(
      const struct outlook *outlook, const struct outlook_rows *rows, double *bound);

  /* The leave-one-out residuals of that model for one output, in the user's units:
     r_j := (a_j kappa - x_j t) / ((d_j kappa - x_j^2) root_w_j). */
  void (*residual)(ptrdiff_t m, double *r, const double *x, const double *a, const double *d,
      double kappa, double t, const double *root_w);

  /* For one fold: q := q + f b, then the dot products of the candidate's c and q. */
  struct fold_dots (*fold)(ptrdiff_t h, double *q, double f, const double *b, const double *c);

  /* g'c and g'q in one pass. */
  struct pair_dots (*pair)(ptrdiff_t h, const double *g, const double *c, const double *q);

  /* The first candidate j in [from, to) such that j and a candidate in j's block or a later one
     gain more than `need`, else `to`. */
  ptrdiff_t (*pair_above)(const struct pair_scan *scan, ptrdiff_t from, ptrdiff_t to);
};

/* The set in use. The border chooses it when the package is loaded. */
extern const struct lanes *lanes;

/* The set of the widest vectors of no more than `width` doubles that this processor has. */
const struct lanes *lanes_for(int width);

#endif
