/* The hot loops, as a set of functions for each instruction set: plain C, and on x86-64 vectors of
   two, four and eight doubles. simd.c compiles simd-set.h once for each. Sums are taken in
   another order by each set, so results agree to rounding. */
#ifndef SPARSELS_SIMD_H
#define SPARSELS_SIMD_H

#include "matrix.h"

struct fold_dots {
  double cq, qq;
};

struct loss_sums {
  double sum, spread;
};

enum { WW0, WA, W0W0, W0A, AA, W_PRODUCTS }; /* of w, w0 and a */

struct pair_dots {
  double gc, gq;
};

/* Over the rows that have a value. */
struct present_sums {
  double count, weight, sum;
};

/* Candidates of a best-subset search that are to be added in pairs after candidate i, whose row of
   C is a. Matrices have ld entries in a row, a multiple of SIMD_PAD; where there is no candidate,
   floor is positive and the rest 0. */
enum { SIMD_PAD = 8 };
struct pair_scan {
  ptrdiff_t ld, L;
  const double *C;     /* rows of ld, before i is in */
  const double *a;     /* ld */
  double inverse;      /* 1 / a_i, 0 when there is no i */
  const double *d, *r; /* ld and ld x L: the diagonal and X'y once i is in */
  const double *floor; /* ld, a smaller pivot is dependence */
  double need;         /* what a pair must gain more than */
};

/* One to four columns, with the centre and the scale of column at[i]; and where the columns that
   will be read next are, of which eight rows take `line` bytes. */
struct tile {
  ptrdiff_t count;
  const double *x[4];
  const int *at;
  const double *centre, *scale;
  const char *next[4];
  ptrdiff_t line;
};

enum { BOUNDS_BLOCK = 256 };

/* Lower bounds of the leave-one-out error of n candidates of a greedy search, and what they are
   made of (greedy-lazy.c derives them); arrays have n entries, or n x L. */
struct greedy_bounds {
  ptrdiff_t n, L;
  double *kappa;      /* lambda + x'C */
  double *g;          /* n x L, x'a */
  double *Cw;         /* n x L, C'w_ref; as many for each part of w */
  double *norm;       /* |x|, the covariates taken out, or a little more */
  double *fold_norm;  /* the same of the rows of the fold where it is largest, with folds */
  double *read_norm2; /* no less than |x|^2 as the column is read, the covariates in it */
  double *excluded;   /* 0, or infinite for a column that is no candidate */
  double *block_min;  /* the smallest bound of each BOUNDS_BLOCK columns in turn */
};

/* A move as it changes them: t = x'c; of each output gamma and c'w_ref. */
struct greedy_bounds_move {
  double inverse; /* 1 / kappa of the column moved */
  const double *t;
  const double *gamma, *c_ref;
};

/* The part of the bounds that is the same for all candidates. */
struct greedy_bounds_rows {
  double P, lambda;                          /* the error of the model */
  double inverse_d2;                         /* 1 / (max d)^2 */
  double max_eigen;                          /* of G across the members */
  double rounding;                           /* of a column with read_norm2 = 0 */
  const double *theta0, *theta1, *rest_norm; /* L each: w = theta0 w_ref + theta1 a + a rest */
  const struct greedy_bounds_folds *folds;   /* NULL: single rows are held out */
};

/* With folds, M being their (G_HH)^-1, also what the growth of leverage may add (greedy-bounds.c);
   of each output phi, its sum over the folds, top_phi, the largest of each repeat, and nu. */
struct greedy_bounds_folds {
  double max_eigen; /* of M */
  double repeats, rounding;
  const double *phi, *top_phi, *nu;
};

/* Groups whose errors are bounded one by one, each a fold H with a part of w that has its rows
   alone. Of each of all groups P, its error, and inverse_null, by which that is multiplied, and by
   the weight; theta0, rest_norm, phi and nu are L for each. */
struct greedy_bounds_parts {
  ptrdiff_t count;
  const int *part; /* count, which */
  const double *P, *inverse_null;
  double weight;
  int more; /* others have been evaluated */
};

/* The least that |C|^2 can be, C = G x: the eigenvalues of G are 1 and others up to max_eigen. */
static inline double bounds_min_norm2(double xC, double xx, double max_eigen) {
  const double linear = xC - max_eigen * (xx - xC), square = xC * xC / xx;
  return linear > square ? linear : square;
}

/* ---- rows held out by folds, eight candidates side by side ---- */

enum { FOLD_TILE = 8 };

/* A block of rows of FOLD_TILE columns, and their centres. */
struct fold_tile {
  const double *x[FOLD_TILE];
  const double *centre;
};

/* What greedy-recurrence.c keeps of a candidate and fold H: c'q, |q|^2 and, of each output, g'c and
   g'q, where c and g are the rows H of its column of C and of the held-out residuals, q =
   (G_HH)^-1 c. */
static inline ptrdiff_t recurrence_numbers(ptrdiff_t L) {
  return 2 + 2 * L;
}

/* A move as it changes them. Of each fold `stride` numbers: 1 / (kappa - c'q), c'q, |q|^2; of each
   output g'c, g'q and alpha; then of each of `rank` directions u two coefficients, u'q and
   u'(G_HH)^-1 q, all of the column that moved and before it did. */
struct recurrence_move {
  ptrdiff_t folds, L, rank, stride;
  const double *fold; /* stride x folds */
  double inverse;     /* 1 / kappa */
};

/* FOLD_TILE candidates. */
struct recurrence_tile {
  const double *t;        /* x'c of the column that moved */
  const double *sums;     /* for each fold x_H'q and x_H'(G_HH)^-1 q of that column */
  const double *along;    /* x'u of each direction */
  const double *kappa;    /* lambda + x'C, after the move */
  const double *products; /* L rows, x'a after the move */
  double *state;          /* for each fold recurrence_numbers() rows */
};

/* The ratios of groups of FOLD_TILE candidates, counted as struct ratio_tally counts them. */
struct tile_tally {
  double count, mean[FOLD_TILE], spread[FOLD_TILE], largest[FOLD_TILE];
};

/* ---- criteria ---- */

/* Scores sorted into buckets of equal width: a score x is in bucket scale (x - low), rounded down
   and kept within 0 to count - 1. Those of bucket b are entries start[b] to start[b + 1], in order
   where they are more than SIMD_PAD. SIMD_PAD infinite scores of weight 0 follow the last one. */
struct score_buckets {
  ptrdiff_t count;
  double low, scale;
  const int *start; /* count + 1 */
  const double *score;
  const double *weight;
  const double *before; /* weight of the entries before each one */
  double total;         /* weight of them all */
};

/* Rows of one class, by G of the model: c, column of a candidate; a and d, G y and the diagonal
   with it in the model; the response, one over the divisor and the case weight. SIMD_PAD more
   entries can be read after the last one. */
struct class_rows {
  ptrdiff_t count;
  const double *c, *a, *d, *response, *unit, *weight;
};

/* Losses of pairs times their weights, and those weights. */
struct pair_sums {
  double loss, weight;
};

struct range {
  double low, high;
};

/* A dense column from some row on: its elements, the values of codes, what it is a function of, and
   what a missing value counts as. */
struct column {
  const void *at;
  const double *codes;
  const struct piecewise *by;
  const double *of[2]; /* as of struct computed */
  double fill;
};

/* Loops over one dense column x of m elements of one kind. */
struct column_loops {
  int bits; /* of an element */

  /* out := x */
  void (*gather)(ptrdiff_t m, double *out, struct column x);

  /* sum_j (x_j - centre) v_j */
  double (*centred_dot)(ptrdiff_t m, struct column x, double centre, const double *v);

  /* sum_j w_j (x_j - centre)^2 */
  double (*centred_square)(ptrdiff_t m, struct column x, double centre, const double *w);

  /* f := f + step (x - centre) */
  void (*add_centred)(ptrdiff_t m, double *f, double step, struct column x, double centre);

  /* s := s - step h (x - centre) */
  void (*shift_weighted)(
      ptrdiff_t m, double *s, double step, const double *h, struct column x, double centre);

  /* out := f w (x - centre) */
  void (*centred)(
      ptrdiff_t m, double *out, struct column x, double centre, double f, const double *w);
};

struct simd {
  int width; /* doubles in a vector */
  struct column_loops columns[ELEMENTS];

  /* x'y */
  double (*dot)(ptrdiff_t m, const double *x, const double *y);

  /* x := x - f c */
  void (*shift)(ptrdiff_t m, double *x, double f, const double *c);

  /* x := x - f c^2, entry by entry */
  void (*shift_squares)(ptrdiff_t m, double *x, double f, const double *c);

  /* x := x - C f, C (m x k) with columns ld apart */
  void (*shift_all)(
      ptrdiff_t m, double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, const double *f);

  /* X := X - C F, X (m x count), count from 1 to 4, C (m x k) and F (k x count) with columns ldx,
     ldc and ldf apart. Each entry of C is read once. O(m k count). */
  void (*shift_four)(ptrdiff_t m, ptrdiff_t count, double *X, ptrdiff_t ldx, ptrdiff_t k,
      const double *C, ptrdiff_t ldc, const double *F, ptrdiff_t ldf);

  /* out (k) := C'x, C (m x k) with columns ld apart */
  void (*dots)(
      ptrdiff_t m, const double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, double *out);

  /* The largest x_j, or 0 if none is positive. */
  double (*max_entry)(ptrdiff_t m, const double *x);

  /* Sum of the squares by which |x_j| exceeds level, >= 0 */
  double (*excess_square)(ptrdiff_t m, const double *x, double level);

  /* list := the j where base_j + f a_j + g b_j > level, ascending; returns how many. */
  ptrdiff_t (*list_above)(ptrdiff_t n, const double *base, double f, const double *a, double g,
      const double *b, double level, int *list);

  /* out_l := sum_i C_i v_i, i < k, of row list[l] of C, where rows are ld apart */
  void (*row_dots)(ptrdiff_t count, const int *list, ptrdiff_t k, const double *C, ptrdiff_t ld,
      const double *v, double *out);

  /* out := a / (b c), entry by entry */
  void (*quotient)(ptrdiff_t m, double *out, const double *a, const double *b, const double *c);

  /* w := a / d^2, entry by entry; returns the sum of (a_j / d_j)^2 */
  double (*weigh)(ptrdiff_t m, const double *a, const double *d, double *w);

  /* out (W_PRODUCTS) := the inner products of w, w0 and a with w0 and a */
  void (*w_products)(ptrdiff_t m, const double *w, const double *w0, const double *a, double *out);

  /* sum_j (w_j - f w0_j - g a_j)^2 */
  double (*rest_square)(
      ptrdiff_t m, const double *w, double f, const double *w0, double g, const double *a);

  /* Of e_j = sum_l r_jl^2 / L, r is m x L: sum_j w_j^2 e_j and sum_j w_j^2 (e_j - centre)^2 */
  struct loss_sums (*losses)(
      ptrdiff_t m, ptrdiff_t L, const double *r, const double *w, double centre);

  /* Of four columns: sum_j w_j (x_ij - centre_i), sum_j w_j (x_ij - centre_i)^2 and
     sum_j v_j (x_ij - centre_i) */
  void (*moments)(ptrdiff_t m, const double *const *x, const double *centre, const double *w,
      const double *v, double *sum, double *square, double *product);

  /* Of the rows where x_j is no NAN: their number, sum_j w_j and sum_j w_j (x_j - centre). */
  struct present_sums (*present)(ptrdiff_t m, const double *x, double centre, const double *w);

  /* The logistic loss: v := w y / (1 + exp(y f)), h := its second derivative; returns the sum of
     w log(1 + exp(-y f)). */
  double (*logistic)(
      ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h);

  /* The Poisson loss, half of the deviance, with the logarithm of the mean in f and log y, 0 for a
     y of 0, in log_y: v := w (y - exp(f)), h := w exp(f); returns the sum of w (exp(f) - y + y (log
     y - f)). f above 300 counts as 300. */
  double (*poisson)(ptrdiff_t m, const double *y, const double *log_y, const double *w,
      const double *f, double *v, double *h);

  /* The binomial loss, half of the deviance, of shares y with the logit of the mean in f and what
     log(1 + exp(f)) - y f is where the mean is y in entropy: v := w (y - mean), h := w mean (1 -
     mean); returns the sum of w (log(1 + exp(f)) - y f - entropy). */
  double (*shares)(ptrdiff_t m, const double *y, const double *entropy, const double *w,
      const double *f, double *v, double *h);

  /* The sum of root_w_j^2 (-p log p - (1 - p) log(1 - p)), p = s y_j r_j / divisor_j: each term is
     0 where its logarithm has no argument. */
  double (*entropy)(ptrdiff_t m, double s, const double *y, const double *r, const double *divisor,
      const double *root_w);

  /* The sum of w_j (H(p_j) - H(q_j)), H(p) = -p log p - (1 - p) log(1 - p), likewise. */
  double (*entropy_gain)(ptrdiff_t m, const double *w, const double *p, const double *q);

  /* The sum of -q log q, q = a + b x_j, likewise. */
  double (*mixture_entropy)(ptrdiff_t n, double a, double b, const double *x);

  /* The leave-one-out sum of squares of the model that moves column x, a is m x L with columns lda
     apart: sum_jl ((a_jl - alpha_l x_j) / (d_j - beta x_j^2))^2 */
  double (*score)(ptrdiff_t m, ptrdiff_t L, const double *x, const double *a, ptrdiff_t lda,
      const double *d, double beta, const double *alpha);

  /* x := x - f c, and that sum for it, in one pass. */
  double (*shift_and_score)(ptrdiff_t m, ptrdiff_t L, double *x, double f, const double *c,
      const double *a, const double *d, double beta, const double *alpha);

  /* The same, and r (m x L) := the leave-one-out residuals of that model in the user's units, which
     are divided by the divisor. */
  double (*shift_and_hold_out)(ptrdiff_t m, ptrdiff_t L, double *x, double f, const double *c,
      const double *a, const double *d, double beta, const double *alpha, const double *divisor,
      double *r);

  /* out := w v, entry by entry */
  void (*weighted)(ptrdiff_t m, double *out, const double *w, const double *v);

  /* out[l][at[i]] += scale sum_j (x_ij - centre) v_lj for r vectors v_l, ldv apart */
  void (*products)(ptrdiff_t m, const struct tile *x, ptrdiff_t r, const double *v, ptrdiff_t ldv,
      double *const *out);

  /* out[l] += sum_k w[row_k] x_k v[l + ldv row_k], l < r */
  void (*sparse_products)(ptrdiff_t count, const double *x, const int *row, const double *w,
      ptrdiff_t r, const double *v, ptrdiff_t ldv, double *out);

  /* What the bounds are made of, after a move. */
  void (*bounds_update)(const struct greedy_bounds *bounds, const struct greedy_bounds_move *move);

  /* bound (n) := lower bounds of the sums of squares, lowered by what rounding may have done to
     them; -DBL_MAX where that may be much. */
  void (*bounds_evaluate)(
      const struct greedy_bounds *bounds, const struct greedy_bounds_rows *rows, double *bound);

  /* bound (n) := the largest of the lower bounds of the parts' errors, sum (n) := their sum. */
  void (*bounds_of_parts)(const struct greedy_bounds *bounds, const struct greedy_bounds_rows *rows,
      const struct greedy_bounds_parts *parts, double *sum, double *bound);

  /* For one fold: q := q + f b, then the dot products of the candidate's c and q. */
  struct fold_dots (*fold)(ptrdiff_t h, double *q, double f, const double *b, const double *c);

  /* Of FOLD_TILE columns, centred: total += sum_j x_j v_j0; for the fold of each row two sums,
     += x_j v_j1 and += x_j v_j2. v has three numbers for each row. */
  void (*fold_products)(ptrdiff_t rows, const struct fold_tile *tile, const double *v,
      const int *fold, double *total, double *sums);

  /* Of FOLD_TILE columns, centred, for the fold of each row: sums += (root_w_j x_j)^2. */
  void (*fold_squares)(ptrdiff_t rows, const struct fold_tile *tile, const double *root_w,
      const int *fold, double *sums);

  /* The state of FOLD_TILE candidates follows a move. */
  void (*recur)(const struct recurrence_move *move, const struct recurrence_tile *tile);

  /* error (FOLD_TILE) := what adding the candidate adds to the sum of squares, worst := the largest
     of worst and all 1 / (kappa - c'q), infinite where one is not positive. */
  void (*recurred_error)(ptrdiff_t folds, ptrdiff_t L, const struct recurrence_tile *tile,
      double *error, double *worst);

  /* Counts the ratio inverse_null (P + error) of one group. */
  void (*tally)(double inverse_null, double P, const double *error, struct tile_tally *tally);

  /* g'c and g'q in one pass. */
  struct pair_dots (*pair)(ptrdiff_t h, const double *g, const double *c, const double *q);

  /* The first candidate j in [from, to) such that j and a candidate in j's block or a later one
     gain more than `need`, else `to`. */
  ptrdiff_t (*pair_above)(const struct pair_scan *scan, ptrdiff_t from, ptrdiff_t to);

  /* ---- criteria ---- */

  /* As losses(), of e_j = sum_l |r_jl| / L */
  struct loss_sums (*absolute_losses)(
      ptrdiff_t m, ptrdiff_t L, const double *r, const double *w, double centre);

  /* As losses(), with e_j = 1 where the class of row j is not the one that the scores y - r tell:
     the sign of the only one, more than `tie` being positive, or the first that is no more than the
     tie below the largest of L. y is m x L, of -1 and 1. */
  struct loss_sums (*error_losses)(ptrdiff_t m, ptrdiff_t L, const double *y, const double *r,
      double tie, const double *w, double centre);

  /* r := (g - alpha q) / divisor, entry by entry */
  void (*shifted_quotient)(ptrdiff_t m, double *r, const double *g, double alpha, const double *q,
      const double *divisor);

  /* The smallest and the largest x_j that are numbers; m = 0: infinite, in the wrong order. */
  struct range (*range)(ptrdiff_t m, const double *x);

  /* bucket (m) := that of each x_j, NAN in the first one */
  void (*find_buckets)(
      ptrdiff_t m, const double *x, const struct score_buckets *buckets, int *bucket);

  /* Of pairs of a score x_j of weight w_j and one in the buckets: a pair costs 1 where x_j is less
     by more than the tie, half where they differ by no more. */
  struct pair_sums (*bucket_losses)(ptrdiff_t m, const double *x, double tie, const double *w,
      const struct score_buckets *buckets);

  /* The losses of pairs, times their weights, of rows that are held out together. G (positives x
     negatives, columns ld apart) is that of the model without the candidate, whose part in it is
     c c' / kappa. */
  double (*held_out_pairs)(const struct class_rows *positive, const struct class_rows *negative,
      const double *G, ptrdiff_t ld, double kappa, double tie);
};

/* The set in use: plain C until another is chosen. */
extern const struct simd *simd;

/* The set of the widest vectors of no more than `width` doubles that this processor has. */
const struct simd *simd_for(int width);

#endif
