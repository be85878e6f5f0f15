/* What the engines of l1_path() share: tolerances, the state, products of columns with the
   residual, bounds of products that are not made, dual values and safe tests. */
#ifndef SPARSELS_L1_STATE_H
#define SPARSELS_L1_STATE_H

#include "l1.h"
#include "work.h"

/* ---- tolerances: name, what it is relative to, and why ---- */

/* Safety: what keeps a bound on the safe side of rounding. */

/* Of the null objective: primal and dual values are not told apart closer than that. */
#define L1_VALUE_NOISE 1e-12
/* Of a bound: beside what rounding the sums behind it may cost. Lambda must exceed it by as much.
 */
#define L1_BOUND_MARGIN 1e-10
/* Of a column's sum of squares, for each row: its norm is rounded up by that. */
#define L1_NORM_ROUNDING 1e-14
/* Of the length of a move of r: rounding of that length. */
#define L1_DRIFT_ROUNDING 1e-12
/* Rounding of one term of a dot product, a little more than 2^-52. */
#define L1_DOT_ROUNDING 2.3e-16

/* Lazy products: what one more direction is worth. */

/* Of lambda: a known part of a product below it leaves the product to the unknown part. */
#define L1_AVOIDABLE 0.9
/* Of the columns: where one more direction would spare as many, its products are made. */
#define L1_DIRECTION_PAYS 0.06

/* The lasso. */

/* Of a column's sum of squares: when the active columns leave less, it is dependent on them. */
#define LASSO_DEPENDENT 1e-20
/* Of a column's sum of squares: when they leave less, differences of squares have lost digits. */
#define LASSO_ILL_CONDITIONED 1e-6
/* Of lambda: a product above it by less is no violation. */
#define LASSO_VIOLATED 1e-9
/* Of |a_k| |r|: a product of a dependent column above lambda by less is rounding. */
#define LASSO_EXCHANGE 1e-9
/* Of the null objective: a fall by less is rounding. */
#define LASSO_PROGRESS 1e-15
/* Of the first slope: where conjugate gradients end between sweeps, that only have to find signs.
 */
#define LASSO_NEWTON_RESIDUAL 0.3

/* Logistic regression. */

/* Of the gap wanted: what the columns of the working set may leave of it. */
#define LOGISTIC_INNER_GAP 0.3
/* Of the gap: a fall of the objective by less is no progress. */
#define LOGISTIC_PROGRESS 1e-3
/* Of null objective / lambda, what ||beta||_1 can be at most: it counts as no less when the gap is
   shared out to slopes. */
#define LOGISTIC_SMALL_MODEL 1e-3
/* Of a column's square: curvature below it is rounding. */
#define LOGISTIC_DEPENDENT 1e-12
/* Of the root of the sum of weights: a slope along covariates that is nothing, and one that is
   nothing when it does not fall any more. */
#define LOGISTIC_BALANCED 1e-15
#define LOGISTIC_NEARLY_BALANCED 1e-12
/* Of the loss: a rise by less is rounding. */
#define LOGISTIC_LOSS_ROUNDING 1e-12
/* Of a diagonal entry: added before the preconditioner is factored, so that there is a factor. */
#define LOGISTIC_RIDGE 1e-9
/* Of the diagonal's square: curvature of a direction below it is none. */
#define LOGISTIC_FLAT 1e-14
/* Of a coefficient before a step: one that is smaller after it is zero. */
#define LOGISTIC_ZERO 1e-14

/* The hinge loss. */

/* Of the largest value of a variable: outside its bounds by less is inside. */
#define HINGE_FEASIBLE 1e-11
/* Of what a row's value can be at most: rounding of its sum. */
#define HINGE_ROW_ROUNDING 1e-15
/* Of margins, which are about 1: a reduced cost of the wrong sign. */
#define HINGE_OPTIMAL 1e-12
/* Of costs, which are 1: how unequal they are made at first. */
#define HINGE_UNEQUAL 1e-8
/* Of lambda: a product above it by less is no violation. */
#define HINGE_VIOLATED 1e-10
/* Of what rows can be at most: by how much a good inverse misses the values of tight rows. */
#define HINGE_MISSED 1e-12
/* Of the largest entry of a pivot row, and of the largest term behind it: entries below are
   rounding. */
#define HINGE_SMALL_ENTRY 1e-9
#define HINGE_ENTRY_ROUNDING 1e-12
/* Of the largest entry: the pivot element is sought above the first, and any above the second is
   good. */
#define HINGE_WEAK_PIVOT 1e-7
#define HINGE_GOOD_PIVOT 1e-5
/* Of the pivot element: how far row and column may differ about it. */
#define HINGE_PIVOT_ERROR 1e-7
/* Of margins: a column whose contribution is smaller everywhere has no coefficient. */
#define HINGE_ZERO 1e-13
/* Of the optimal value: a fall by less is none. */
#define HINGE_PROGRESS 1e-9

/* Safe bounds. */

/* Of the sum of weights: when less than that of root_w is left by Q, there is an intercept. */
#define SAFE_INTERCEPT 1e-24
/* Of the largest entropy: gamma stays below it by as much. */
#define SAFE_ENTROPY_ROUNDING 1e-14
/* Of F: what Newton's method, and the search along one variable, may still promise. */
#define SAFE_NEWTON_GAIN 1e-10
#define SAFE_BRACKET_GAIN 1e-11
/* Of F: a rise by less is rounding. */
#define SAFE_RISE 1e-12
/* Of a lambda: thresholds are rounded up by that. */
#define SAFE_THRESHOLD_ROUNDING 1e-12
/* Of the largest lambda: thresholds are searched for to that. */
#define SAFE_THRESHOLD_ERROR 1e-6
/* Of a bound: what one more tangent of the knapsack must gain. */
#define SAFE_TANGENT_GAIN 1e-3

/* ---- the state ---- */

struct l1_state {
  const struct problem *pb;
  struct host *host;
  struct l1_control control;

  /* The last solution, as struct l1_solution says; after l1_start() the model to begin with. */
  int size;
  int *feature; /* max_active */
  double *beta; /* max_active */
  double *u;    /* q */
  double *r;    /* m */
  double primal, dual, max_abs_corr, null_objective;
  double lambda; /* of the solution; INFINITY for the null model */
  int rounds;
  double products;

  double done, total; /* how far the path has come, for host->stop() */
  int *excluded;      /* n, not 0: the column is in no solution at this lambda, or not usable */
  double *norm;       /* n, of the working columns, rounded up */
  double *corr;       /* n, a_k'r when it was last computed */

  /* l1-correlations.c: no |a_k'r| exceeds bound_base[k] + norm[k] drift. The products of all
     columns with a few directions are known, so that only the rest of r is uncertain. */
  double *bound_base; /* n */
  int *pass;          /* n, the pass that computed corr, -1 for none */
  int passes;
  double drift;  /* length of the way of r so far */
  double *old_r; /* m, r at the last pass */
  double *v;     /* m, root_w r */
  int *list;     /* n + 1, the columns to be computed */
  int directions, max_directions;
  double *basis;          /* m x max_directions, orthonormal */
  double *direction_corr; /* max_directions x n, products of the columns with it */
  double *along;          /* max_directions, r's components along the basis */
  double *rest;           /* m, what they leave of r */

  /* l1-screen.c, with a safe test */
  double *f;           /* m, the model's values */
  double *safe_bound;  /* n */
  double *null_corr;   /* n, products with r of the null model */
  double *points;      /* m x point_count, dual points */
  double *point_bound; /* point_count, no |a_k'r| of each exceeds it */
  ptrdiff_t point_count;
  void *safe_work;

  void *engine; /* workspace of the loss's own engine */
};

/* ---- l1-correlations.c ---- */

/* v (m) := root_w r; returns the sum of v. */
double l1_weigh_rows(const struct problem *pb, const double *r, double *v);

/* a_j'r for r with Q'r = 0, from v and its sum. O(m) or the nonzeros. */
double l1_column_product(const struct problem *pb, ptrdiff_t j, const double *v, double sum);

/* f (m) += beta (x_j - centre_j) / scale_j, less a constant that is added to *offset: of a sparse
   column only the nonzeros are touched. */
void l1_add_column(const struct problem *pb, ptrdiff_t j, double beta, double *f, double *offset);

/* f (m) := the sum of beta (x_j - centre_j) / scale_j over the columns of a model. */
void l1_predict_rows(
    const struct problem *pb, int size, const int *feature, const double *beta, double *f);

/* norm (n) := length of each working column, rounded up; 0 for an unusable one. O(n). */
void l1_column_norms(const struct problem *pb, double *norm);

/* How many directions have their products with all columns kept. */
int l1_max_directions(const struct problem *pb, const struct l1_control *control);

/* Brings corr up to date after r has moved: of every column not excluded, or with LAZY of those
   alone whose |a_k'r| may exceed `level`, as far as their bounds tell. Then no |a_k'r| of a column
   not excluded exceeds state->max_abs_corr. Counts a round. */
enum status l1_correlate(struct l1_state *state, double level);

/* Whether corr[k] is that of the present r. */
static inline int l1_is_fresh(const struct l1_state *state, ptrdiff_t k) {
  return state->pass[k] == state->passes;
}

/* ---- l1-factor.c: R is upper triangular, its columns ld apart ---- */

/* x (order) := R'^-1 x */
void l1_solve_lower(int order, const double *R, ptrdiff_t ld, double *x);

/* x (order) := R^-1 x */
void l1_solve_upper(int order, const double *R, ptrdiff_t ld, double *x);

/* ---- l1-dual.c ---- */

/* -p log p - (1 - p) log(1 - p), 0 at 0 and 1 */
double l1_binary_entropy(double p);

/* The dual value of s r, whose alpha must be within bounds for classes. O(m) */
double l1_dual_value(const struct problem *pb, enum loss loss, const double *r, double s);

/* The dual ball: no optimal dual point is farther from a feasible one with that gap. Hinge, whose
   dual is not strongly concave, has none. */
double l1_dual_radius(enum loss loss, double gap);

/* ---- l1-screen.c ---- */

/* How many dual points are kept: the null one, and with SAFE_TWO one for each lambda. */
ptrdiff_t l1_max_points(const struct l1_control *control);

/* Whether there is a safe test. */
int l1_is_safe(enum screen screen);

/* Keeps the present dual point, no |a_k'r| of which exceeds max_abs_corr. */
void l1_keep_point(struct l1_state *state, double max_abs_corr);

/* Excludes what can be excluded before lambda is solved for, given a lower bound of the optimum. */
enum status l1_screen(struct l1_state *state, double lambda, double bound);

/* With GAP_SAFE: excludes what the gap of the present point rules out at lambda. r, corr,
   max_abs_corr, primal and dual must belong together; f (m) is the model's values, which only hinge
   looks at. Engines may call it after every full round; with another screen it does nothing. */
enum status l1_screen_gap(struct l1_state *state, double lambda, const double *f);

/* No |a_k'r| of any column exceeds it, be it excluded or not. */
double l1_max_abs_corr(const struct l1_state *state);

/* ---- the engines: l1-lasso.c, l1-logistic.c, l1-hinge.c ---- */

/* layout() lays out an engine. begin() solves for the null model and sets null_objective, primal,
   dual, u and r. start() takes over the model in state->feature and state->beta; the solution in
   the state stays the null model. solve() leaves the solution for lambda in the state; where it
   fails, size, feature, beta and u are still those of the last solution. */
void *lasso_layout(const struct problem *pb, const struct l1_control *control, struct arena *arena);
void lasso_begin(struct l1_state *state);
enum status lasso_start(struct l1_state *state);
enum status lasso_solve(struct l1_state *state, double lambda);

void *logistic_layout(
    const struct problem *pb, const struct l1_control *control, struct arena *arena);
void logistic_begin(struct l1_state *state);
enum status logistic_start(struct l1_state *state);
enum status logistic_solve(struct l1_state *state, double lambda);

void *hinge_layout(const struct problem *pb, const struct l1_control *control, struct arena *arena);
void hinge_begin(struct l1_state *state);
enum status hinge_start(struct l1_state *state);
enum status hinge_solve(struct l1_state *state, double lambda);

#endif
