/* The constants that decide when two numbers count as equal and when too few digits are left: what
   each is relative to, and why it has this size. A section for each family. */
#ifndef SPARSELS_TOLERANCE_H
#define SPARSELS_TOLERANCE_H

/* ---- greedy search ---- */

/* Two moves tie when their criteria differ by no more than this share of the criterion of the model
   that the search starts from, and their squared errors by no more than this share of the mean
   square of y: what rounding in the sums may amount to. */
#define GREEDY_TIE 1e-12

/* A candidate's kappa is computed anew once the recurrence has brought it below this share of the
   last value computed directly, or of lambda + |x|^2: three of its digits have cancelled (the guard
   of pivoted QR). */
#define GREEDY_KAPPA_LOST 1e-3

/* The product of the moved column with another is taken as x_b'C_i, which is in the cache, unless
   |C_b|^2 is below this share of |x_b|^2: rounding in C_i would then cost more than a digit. */
#define GREEDY_SHORT_COLUMN 0.01

/* A move multiplies the determinant of a fold's G_HH by eta / kappa_b. Where that is below this, or
   above its inverse, it counts among the digits that the fold has lost. */
#define GREEDY_FOLD_SCALE 0.01

/* Searches that drop columns make the state afresh after a move whose Schur complement is below
   this share of |x_b|^2 + lambda, or with eta / kappa_b of a fold below it or above its inverse. */
#define GREEDY_NEARLY_SINGULAR 1e-3

/* ---- lower bounds of the greedy search ---- */

/* The distance from 1 to the next double, rounded up: rounding is counted in it. */
#define BOUNDS_UNIT 2.3e-16

/* Bounds are lowered by this share of the error of the model, for rounding in the sums of squares
   themselves. */
#define BOUNDS_MARGIN 1e-13

/* Where rounding may exceed this share of the error of the model, no bound is given. */
#define BOUNDS_MAX_ROUNDING 1e-3

/* The largest eigenvalue of G across the members is raised by this share of it: it comes from
   recurrences, and any larger value is as valid. */
#define BOUNDS_EIGEN_MARGIN 1e-6

/* w_ref and a count as one direction when the determinant of their Gram matrix is below this share
   of the product of its diagonal. */
#define BOUNDS_COLLINEAR 1e-10

/* w counts as a combination of w_ref and a when the rest of it is below this share of its norm;
   bounds would gain nothing from exact products. */
#define BOUNDS_NO_REST 1e-8

/* Added to norms that are divided by. */
#define BOUNDS_MIN_NORM 1e-150

#endif
