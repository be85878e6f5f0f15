/* What the engines of l1_path() share: the state, products of columns with the residual, bounds of
   products that are not made, dual values and safe tests. */
#ifndef SPARSELS_L1_STATE_H
#define SPARSELS_L1_STATE_H

#include "column.h"
#include "l1.h"
#include "likelihood.h"
#include "tolerance.h"
#include "triangle.h"
#include "work.h"
#include <math.h>

/* Columns whose bounds are looked at by one thread. */
enum { L1_LIST_BLOCK = 1024 };

/* What their bounds say: how many products must be made, and how many of these one more direction
   would have spared. */
struct l1_uncertain {
  int count, avoidable;
};

/* What is known of a vector: it is one whose entries are at most `level`, and one of that length.
   A column with few nonzeros has more to do with its entries than with its length. */
struct l1_part {
  double length, level;
};

/* ---- the state ---- */

struct l1_state {
  const struct problem *pb;
  struct host *host;
  struct l1_control control;

  /* In what follows m stands for m L with several outputs, and n for the coefficients, n L. */

  /* The last solution, as struct l1_solution says; after l1_start() the model to begin with. */
  int size;
  int *feature; /* max_active */
  double *beta; /* max_active */
  double *u;    /* q */
  double *r;    /* m */
  double *memo; /* what the loss keeps of the point that r belongs to */
  double primal, dual, max_abs_corr, null_objective;
  double lambda; /* of the solution; INFINITY for the null model */
  int waiting;   /* for l1_share_products(), in the middle of l1_solve() */
  int resumed;   /* the present l1_solve() goes on from there */
  int rounds;
  double products;

  double done, total; /* how far the path has come, for host->stop() */
  int *excluded;      /* n, not 0: the column is in no solution at this lambda, or not usable */
  int kept;           /* columns of which not all coefficients are excluded */
  double *norm;       /* n, of the working columns, rounded up */
  double *corr;       /* n, a_k'r when it was last computed */

  /* l1-correlations.c: no |a_k'r| exceeds bound_base[k] + reach[k] drift.length + sum[k]
     drift.level. The products of all columns with a few directions are known, so that only the rest
     of r is uncertain. */
  double *bound_base; /* n */
  double *reach;      /* n, no less than the length of each working column; norm for a dense x */
  double *sum;        /* n, no less than its sum of absolute values; norm for a dense x */
  double ratio;       /* of sum to reach on the whole; 0 for a dense x, whose levels are 0 */
  double *pull;       /* n with a ridge, lambda ridge beta_k of the model that r belongs to, which
                         the penalty takes from a_k'r; otherwise NULL */
  double pull_square; /* its square's sum */
  double unbalanced;  /* |Q'r|^2 / ridge + ridge |u|^2, where covariates have a ridge */
  int *pass;          /* n, the pass that computed corr, -1 for none */
  int passes;
  int *fresh; /* n, the columns whose corr is that of the present r */
  ptrdiff_t fresh_count;
  struct l1_part drift;           /* the way of r so far */
  double *old_r;                  /* m, r at the last pass */
  double *v;                      /* m, root_w r */
  double *v_sum;                  /* L, its sums */
  int *list;                      /* n, the columns to be computed */
  struct l1_uncertain *uncertain; /* of each L1_LIST_BLOCK columns */
  int directions, max_directions;
  double *basis;          /* m x max_directions, orthonormal */
  double *direction_corr; /* max_directions x n, products of the columns with it */
  double *along;          /* max_directions, r's components along the basis */
  double *rest;           /* m, what they leave of r */

  /* l1-screen.c, with a safe test */
  double *f;                /* m, the model's values */
  double *safe_bound;       /* n */
  double *null_corr;        /* n, products with r of the null model */
  double *points;           /* m x point_count, dual points */
  double *point_bound;      /* point_count, no |a_k'r - pull_k| of each exceeds it */
  double *point_pull;       /* point_count, pull_square of each */
  double *point_unbalanced; /* point_count */
  ptrdiff_t point_count;
  void *safe_work;

  void *engine; /* workspace of the loss's own engine */
};

/* ---- coefficients ---- */

/* The length of vectors of values, and the number of coefficients. */
static inline ptrdiff_t l1_length(const struct problem *pb) {
  return pb->m * pb->L;
}

static inline ptrdiff_t l1_coefficients(const struct problem *pb) {
  return pb->n * pb->L;
}

/* The column and the output of a coefficient. Divisions are slow, and mostly there is one output.
 */
static inline ptrdiff_t l1_column_of(const struct problem *pb, ptrdiff_t number) {
  return pb->L == 1 ? number : number / pb->L;
}

static inline ptrdiff_t l1_output_of(const struct problem *pb, ptrdiff_t number) {
  return pb->L == 1 ? 0 : number % pb->L;
}

/* r (m x L) := v / divisor */
static inline void l1_divide_rows(const struct problem *pb, const double *v, double *r) {
  for (ptrdiff_t l = 0; l < pb->L; l++)
    for (ptrdiff_t i = 0; i < pb->m; i++)
      r[i + l * pb->m] = v[i + l * pb->m] / pb->divisor[i];
}

/* How many coefficients in a row share a norm in the penalty: a unit begins at each multiple. */
static inline int l1_width(const struct problem *pb, const struct l1_control *control) {
  return control->grouped ? (int)pb->L : 1;
}

/* The norm of a unit of so many coefficients. */
static inline double l1_unit_norm(int width, const double *beta) {
  double square = 0;
  if (width == 1)
    return fabs(*beta);
  for (int l = 0; l < width; l++)
    square += beta[l] * beta[l];
  return sqrt(square);
}

/* ---- l1-correlations.c ---- */

/* v (m) := root_w r; returns the sum of v. */
double l1_weigh_rows(const struct problem *pb, const double *r, double *v);

/* a_j'r for r with Q'r = 0, from v and its sum. O(m) or the nonzeros. */
static inline double l1_column_product(
    const struct problem *pb, ptrdiff_t j, const double *v, double sum) {
  return column_dot(&pb->x, pb->m, j, pb->centre[j], v, sum) * pb->inv_scale[j];
}

/* The same for output l of v (m x L), whose sums are `sum` (L). */
static inline double l1_output_product(
    const struct problem *pb, ptrdiff_t j, ptrdiff_t l, const double *v, const double *sum) {
  return l1_column_product(pb, j, v + l * pb->m, sum[l]);
}

/* f (m) += beta (x_j - centre_j) / scale_j, less a constant that is added to *offset: of a sparse
   column only the nonzeros are touched. */
static inline void l1_add_column(
    const struct problem *pb, ptrdiff_t j, double beta, double *f, double *offset) {
  column_add(&pb->x, pb->m, j, pb->centre[j], beta * pb->inv_scale[j], f, offset);
}

/* For loops, where fmax(), which looks for NaN, is a call each time. */
static inline double l1_larger(double a, double b) {
  return a > b ? a : b;
}

/* value moved by lambda towards zero, where it ends; without branches, as the sign is anyone's
   guess. */
static inline double l1_soft_threshold(double value, double lambda) {
  const double above = fabs(value) - lambda;
  return copysign(above > 0 ? above : 0, value);
}

/* f (m) := the sum of beta (x_j - centre_j) / scale_j over the columns of a model. */
void l1_predict_rows(
    const struct problem *pb, int size, const int *feature, const double *beta, double *f);

/* f (m) := the values of a model with covariates, in the user's units. */
void l1_predict_model(const struct problem *pb, int size, const int *feature, const double *beta,
    const double *u, double *f);

/* norm (n L) := length of the working column of each coefficient, rounded up; 0 for an unusable
   one. O(n L). */
void l1_column_norms(const struct problem *pb, double *norm);

/* reach and sum of sparse columns, for bounds of products with vectors that Q takes nothing from.
 */
void l1_set_reach(struct l1_state *state);

/* How many directions have their products with all columns kept. */
int l1_max_directions(const struct problem *pb, const struct l1_control *control);

/* How many coefficients are listed together: L1_LIST_BLOCK, or whole units of about as many. */
static inline ptrdiff_t l1_list_step(const struct problem *pb, const struct l1_control *control) {
  const int width = l1_width(pb, control);
  return width > L1_LIST_BLOCK ? width : width * (L1_LIST_BLOCK / width);
}

/* With a ridge, says which model r belongs to: `count` columns with their coefficients. */
void l1_set_pull(struct l1_state *state, int count, const int *column, const double *beta);

/* Takes note that corr has the products of some coefficients' columns with r, which has moved. */
void l1_note_products(struct l1_state *state, int count, const int *column);

/* Brings corr up to date after r has moved: of every column not excluded, or with LAZY of those
   alone whose |a_k'r| may exceed `level`, as far as their bounds tell. Then no |a_k'r - pull_k| of
   a column not excluded exceeds state->max_abs_corr. Counts a round, unless it returns WAITING.
   With LAZY, columns whose entry of left_out (n) is above 0 are left out, of max_abs_corr as well,
   until l1_correlate_columns() is called for them; NULL: none is. */
enum status l1_correlate(struct l1_state *state, double level, const int *left_out);

/* Makes the products with the same r of columns that were left out, and takes them into
   max_abs_corr. */
enum status l1_correlate_columns(struct l1_state *state, int count, const int *column);

/* list := the columns whose |a_k'r| is likely to exceed `level`, by the part of it that is known
   from the directions; returns how many. With another screen than LAZY there is none. */
ptrdiff_t l1_list_likely(struct l1_state *state, double level);

/* list := the columns that are not excluded; returns how many. */
ptrdiff_t l1_list_all(struct l1_state *state);

/* Adds a direction to the basis, in three steps. l1_next_direction() makes what the basis leaves of
   r the next one, d: v := root_w d and sum (L) := the sums of v; returns how long the rest was. A
   full basis is first emptied, so that its first direction is r itself. Then corr[k] must be a_k'd
   of the `count` columns of list, which are all that are not excluded. l1_keep_direction() makes it
   a_k'r, and l1_mark_fresh() takes note that it is. */
double l1_next_direction(struct l1_state *state, double *v, double *sum);
void l1_keep_direction(struct l1_state *state, ptrdiff_t count, double rest);
void l1_mark_fresh(struct l1_state *state, ptrdiff_t count);

/* Whether corr[k] is that of the present r. */
static inline int l1_is_fresh(const struct l1_state *state, ptrdiff_t k) {
  return state->pass[k] == state->passes;
}

/* ---- l1-copy.c ---- */

struct l1_copy {
  double *x, *centre, *inv_scale;
  int *i, *p;
};

/* The problem with a copy of up to k columns as its columns; a dense x stays as it is, and the
   columns keep their numbers. */
struct problem l1_layout_copy(
    const struct problem *pb, ptrdiff_t k, struct l1_copy *copy, struct arena *arena);

/* Makes column j of a sparse x the k-th of the copy, which has all those before it. */
void l1_copy_column(const struct problem *pb, struct l1_copy *copy, int k, ptrdiff_t j);

/* ---- l1-loss.c ---- */

/* The functions of an engine. layout() lays it out, for so many threads. begin() solves for the
   null model and sets null_objective, primal, dual, u and r. start() takes over the model in
   state->feature and state->beta; the solution in the state stays the null model. solve() leaves
   the solution for lambda in the state; where it fails, size, feature, beta and u are still those
   of the last solution. Where l1_correlate() was WAITING, so is solve(), and goes on from there
   when it is called again. */
struct l1_engine {
  void *(*layout)(
      const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena);
  void (*begin)(struct l1_state *state);
  enum status (*start)(struct l1_state *state);
  enum status (*solve)(struct l1_state *state, double lambda);
};

/* The scale that makes r a feasible dual point at some lambda, and the duality gap it has there,
   with a margin for rounding. */
struct l1_gap {
  double scale, gap;
};

/* All that is known of a loss. */
struct l1_loss {
  const char *name;
  struct l1_engine engine;
  int smooth;     /* whether r is the residual of the model, which paths side by side can share */
  int joint;      /* whether it has several outputs */
  int parametric; /* whether it has a parameter */
  int timed;      /* whether it is of risk sets */

  /* Of the Newton engine: the constant to begin with (NULL: 0); from f the value of the loss, v
     (m), minus its gradient, and h (m), its curvature; and where that is not diagonal its product
     with t (m) at the point that was evaluated last. diag(h) is then nowhere below the curvature.
   */
  double (*start)(const struct likelihood_rows *rows, const double *offset);
  double (*evaluate)(const struct likelihood_rows *rows, const double *f, double *v, double *h);
  likelihood_know *know; /* NULL: nothing */
  void (*curve)(const struct likelihood_rows *rows, const double *h, const double *t, double *out);

  /* How many doubles evaluate() keeps of a point for curve() and value(); NULL: none. */
  ptrdiff_t (*memo)(const struct problem *pb);

  /* The dual value of s r, or a lower bound of it, which must be in the domain of the dual; `memo`
     is of the point that r belongs to, and may have its temporary parts changed. O(m) */
  double (*value)(const struct problem *pb, double *memo, const double *r, double s);
  /* The s of the best value, |s| <= widest, less s^2 tail / 2; NULL: 1, or widest. */
  double (*scale)(const struct problem *pb, const double *r, double tail, double widest);
  /* About the best value of s r less s^2 tail / 2, rounded down. */
  double (*bound)(const struct problem *pb, const double *r, double tail, double widest);

  /* safe_bound := from a lower bound gamma of the optimum, or from the gap of the present point. */
  enum status (*screen_value)(struct l1_state *state, double lambda, double gamma);
  enum status (*screen_gap)(struct l1_state *state, struct l1_gap at, const double *f);
  double ball;  /* of screen_gap: see l1_dual_radius() */
  int relative; /* whether adding a constant to f, of all rows or of a stratum, changes nothing */
  /* The second derivative of row i for a weight of 1, or an upper bound of it, at the model whose
     residual is r; for l1_screen_local(). */
  double (*curvature)(const struct problem *pb, const double *r, ptrdiff_t i);
};

const struct l1_loss *l1_loss_record(enum loss loss);

/* How many doubles a loss keeps of a point. */
ptrdiff_t l1_memo(const struct problem *pb, enum loss loss);

static inline const struct l1_loss *l1_loss_of(const struct l1_state *state) {
  return l1_loss_record(state->control.loss);
}

/* What the ridges take from the dual value of s r, times 2 / s^2. */
static inline double l1_tail(
    const struct l1_state *state, double pull_square, double unbalanced, double lambda) {
  return unbalanced + (pull_square > 0 ? pull_square / (lambda * state->control.ridge) : 0);
}

/* The dual ball: no optimal dual point is farther from a feasible one with that gap. Losses whose
   dual is not strongly concave have none, and 0 for its radius. */
static inline double l1_dual_radius(const struct l1_loss *loss, double gap) {
  return sqrt(loss->ball * gap);
}

/* ---- l1-screen.c ---- */

/* How many dual points are kept: the null one, and with SAFE_TWO one for each lambda. */
ptrdiff_t l1_max_points(const struct l1_control *control);

/* Whether there is a safe test. */
int l1_is_safe(enum screen screen);

/* Keeps the present dual point, no |a_k'r - pull_k| of which exceeds max_abs_corr. */
void l1_keep_point(struct l1_state *state, double max_abs_corr);

/* Excludes the columns that are not usable alone. */
void l1_keep_all(struct l1_state *state);

/* Excludes what can be excluded before lambda is solved for, given a lower bound of the optimum. */
enum status l1_screen(struct l1_state *state, double lambda, double bound);

/* Ways to fill safe_bound: by the dual ball about the null model's residual, whose products with
   all columns are known; by the bounds of safe_bounds(); by the dual ball about the present point;
   by safe_local_bounds(); by safe_hinge_gap_bounds(). */
enum status l1_screen_null_ball(struct l1_state *state, double lambda, double gamma);
enum status l1_screen_bounds(struct l1_state *state, double lambda, double gamma);
enum status l1_screen_ball(struct l1_state *state, struct l1_gap at, const double *f);
enum status l1_screen_local(struct l1_state *state, struct l1_gap at, const double *f);
enum status l1_screen_knapsack(struct l1_state *state, struct l1_gap at, const double *f);

/* With GAP_SAFE: excludes what the gap of the present point rules out at lambda. r, corr,
   max_abs_corr, primal and dual must belong together; f (m) is the model's values, NULL for those
   of the last solution. Engines may call it after every full round; with another screen it does
   nothing. */
enum status l1_screen_gap(struct l1_state *state, double lambda, const double *f);

/* No |a_k'r - pull_k| of any column exceeds it, be it excluded or not. */
double l1_max_abs_corr(const struct l1_state *state);

/* ---- the engines: l1-lasso.c, l1-newton.c, l1-hinge.c ---- */

void *lasso_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena);
void lasso_begin(struct l1_state *state);
enum status lasso_start(struct l1_state *state);
enum status lasso_solve(struct l1_state *state, double lambda);

void *newton_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena);
void newton_begin(struct l1_state *state);
enum status newton_start(struct l1_state *state);
enum status newton_solve(struct l1_state *state, double lambda);

void *hinge_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena);
void hinge_begin(struct l1_state *state);
enum status hinge_start(struct l1_state *state);
enum status hinge_solve(struct l1_state *state, double lambda);

#endif
