/* The hot loops, compiled once for each instruction set that the compiler can choose between at run
   time and as plain C elsewhere. Sums are taken in another order on each, so results agree to
   rounding. */
#ifndef SPARSELS_LANES_H
#define SPARSELS_LANES_H

#include <stddef.h>

/* x'y */
double lanes_dot(ptrdiff_t m, const double *x, const double *y);

/* x := x - f c */
void lanes_shift(ptrdiff_t m, double *x, double f, const double *c);

/* x := x - C f, C (m x k) with columns ld apart */
void lanes_shift_all(
    ptrdiff_t m, double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, const double *f);

/* out (k) := C'x, C (m x k) with columns ld apart */
void lanes_dots(
    ptrdiff_t m, const double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, double *out);

/* sum_j (x_j - centre) v_j */
double lanes_centred_dot(ptrdiff_t m, const double *x, double centre, const double *v);

/* sum_j w_j (x_j - centre)^2 */
double lanes_centred_square(ptrdiff_t m, const double *x, double centre, const double *w);

/* f := f + step (x - centre) */
void lanes_add_centred(ptrdiff_t m, double *f, double step, const double *x, double centre);

/* s := s - step h (x - centre) */
void lanes_shift_weighted(
    ptrdiff_t m, double *s, double step, const double *h, const double *x, double centre);

/* The logistic loss: v := w y / (1 + exp(y f)), h := its second derivative; returns the sum of
   w log(1 + exp(-y f)). */
double lanes_logistic(
    ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h);

/* x := x - f c, and the leave-one-out sum of squares of the model that moves column x:
   sum_jl ((a_jl kappa - x_j t_l) / (d_j kappa - x_j^2))^2;  a is m x L, t is L with stride. */
double lanes_shift_and_score(ptrdiff_t m, ptrdiff_t L, double *x, double f, const double *c,
    const double *a, const double *d, double kappa, const double *t);

/* The leave-one-out residuals of that model for one output, in the user's units:
   r_j := (a_j kappa - x_j t) / ((d_j kappa - x_j^2) root_w_j). */
void lanes_residual(ptrdiff_t m, double *r, const double *x, const double *a, const double *d,
    double kappa, double t, const double *root_w);

/* For one fold: q := q + f b, then the dot products of the candidate's c and q. */
struct fold_dots {
  double cq, qq;
};
struct fold_dots lanes_fold(ptrdiff_t h, double *q, double f, const double *b, const double *c);

/* g'c and g'q in one pass. */
struct pair_dots {
  double gc, gq;
};
struct pair_dots lanes_pair(ptrdiff_t h, const double *g, const double *c, const double *q);

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

/* The first candidate j in [from, to) such that j and a candidate in j's block or a later one gain
   more than `need`, else `to`. */
ptrdiff_t lanes_pair_above(const struct pair_scan *scan, ptrdiff_t from, ptrdiff_t to);

#endif
