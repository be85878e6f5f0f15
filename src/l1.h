/* Models with an l1 penalty, for one lambda after the other, and the columns that are in no
   solution.

   A loss with L outputs, such as the classes of a softmax, has L values f for each row and L
   coefficients for each column. Coefficient L j + l is of column j and output l. Vectors of values
   (m x L) have one output after the other. Squares, hinge and the other losses have one output. */
#ifndef SPARSELS_L1_H
#define SPARSELS_L1_H

#include "problem.h"

/* The losses with safe tests of their own. The others have the numbers of l1_loss_named(). */
enum loss { LEAST_SQUARES = 0, LOGISTIC = 1, HINGE = 2 };

/* The loss of a name, or -1. */
int l1_loss_named(const char *name);

/* Whether a problem has the outputs, the parameter and the risk sets that a loss is of. */
int l1_loss_takes(enum loss loss, const struct problem *pb);

/* Whether r of a solution is the residual of its model: see l1_control.shares. */
int l1_loss_is_smooth(enum loss loss);

/* How products of columns with the residual are saved: by bounds from earlier products (LAZY), not
   at all, by a safe test with one dual point or with one of every lambda so far, or by a safe test
   around the current model. */
enum screen { LAZY = 0, NO_SCREEN = 1, SAFE_ONE = 2, SAFE_TWO = 3, GAP_SAFE = 4 };

struct l1_control {
  enum loss loss;
  enum screen screen;
  double tolerance; /* largest duality gap of a solution, as a share of the null objective */
  int max_active;   /* capacity of an engine's active or working set, in coefficients */
  int lambdas;      /* how many lambdas will be solved for */
  double ridge;     /* of the elastic net: see l1_solve(); 0 for the l1 norm alone, and for hinge */
  int grouped;      /* the penalty has the l2 norm of each column's coefficients, summed over the
                       columns, instead of their absolute values; Newton engine */
  int shares;       /* waits for l1_share_products() rather than read all of x for itself; LAZY
                       alone, and for smooth losses */
};

/* The loss at `count` linear predictors f (m x count), in one call: `rows` have m, response,
   offset, root_w and, of times, risk. */
size_t l1_losses_work(const struct problem *rows, enum loss loss);
void l1_losses(const struct problem *rows, enum loss loss, ptrdiff_t count, const double *f,
    void *work, double *out);

/* The state that the engines share, in l1-state.h. */
struct l1_state;

/* Bytes of workspace for l1_begin(). */
size_t l1_work(const struct problem *pb, const struct l1_control *control, struct host *host);

/* Lays out the state in `work` and solves for the null model, the one with covariates alone. */
struct l1_state *l1_begin(
    const struct problem *pb, const struct l1_control *control, struct host *host, void *work);

/* Sets the model to start from: the numbers (from 0) of `size` coefficients, and their values in
   working coordinates. With control.grouped all of a column are in a row. */
enum status l1_start(struct l1_state *state, int size, const int *feature, const double *beta);

/* Solves for one lambda, from the solution of the last one:
     min over beta and u of
       sum_j w_j loss(y_j, f_j) + lambda (||beta||_1 + control.ridge / 2 ||beta||_2^2),
     f = A beta / root_w + Q u / root_w  with the working columns A before they are projected on Q,
     loss(y, f) = (y - f)^2 / 2, log(1 + exp(-y f)), (1 - y f)_+, or with offsets o
     exp(o + f) - y + y (log y - o - f), half of a Poisson deviance, or half the deviance of a
   share or of dispersed counts; the sum of losses may also be half the deviance of Cox's partial
   likelihood, or of classes, with log(exp(f_1) + .. + exp(f_L)) - f_k for class k of L, where beta
   and u are of all outputs. El Ghaoui, Viallon and Rabbani 2010, (2), (25) and (17). `bound` is a
   lower bound of the optimum known from elsewhere (-INFINITY when there is none), for SAFE_ONE and
   SAFE_TWO. WORKSPACE_FULL: more coefficients are needed than control.max_active; begin again with
   a larger number, from the last model. WAITING, where control.shares: to be called again for the
   same lambda once l1_share_products() was. */
enum status l1_solve(struct l1_state *state, int step, double lambda, double bound);

/* Makes the products that several waiting paths want, in one pass over x, in which their problems
   differ in nothing. O(m) a column and path. */
size_t l1_share_work(const struct problem *pb, int paths, int threads);
enum status l1_share_products(
    struct l1_state *const *states, int paths, struct host *host, void *work);

/* The last solution, or the null model before there is one; its parts belong to the state. */
struct l1_solution {
  int size;            /* coefficients that are not zero, or with control.grouped of such columns */
  const int *feature;  /* their numbers, from 0, in the order they entered */
  const double *beta;  /* their values in working coordinates */
  const double *u;     /* q x L; of several outputs they sum to 0 */
  const double *r;     /* m x L: root_w (y - mean) for numbers and for softmax, y alpha / root_w for
                          two classes; Q'r = 0 */
  double primal;       /* objective */
  double dual;         /* lower bound of the optimum, from r scaled to be feasible */
  double max_abs_corr; /* no |a_k'r - lambda control.ridge beta_k| exceeds it, with control.grouped
                          no l2 norm of it over a column's coefficients */
  double null_objective; /* the objective of the null model */
  int rounds;            /* passes over the columns */
  double products;       /* products of a column with a residual */
  int kept;              /* columns that the safe test did not exclude */
};

struct l1_solution l1_solution(const struct l1_state *state);

/* The penalty of `size` coefficients of a solution, for a lambda of 1. */
double l1_norms(
    const struct problem *pb, const struct l1_control *control, int size, const double *beta);

/* ---- safe tests ---- */

/* Lower bound of the optimum at lambda: the best value of a multiple s r of a residual r (m, as in
   struct l1_solution, Q'r = 0) with |s| max_abs_corr <= lambda, where no |a_k'r| exceeds
   max_abs_corr. El Ghaoui and others, (8). With a ridge, max_abs_corr is that of a_k'r - pull_k for
   some pull (n), and `tail` is |pull|^2 / (lambda ridge), otherwise 0. O(m) for squares and hinge,
   a few times that for logistic. */
double l1_dual_bound(const struct problem *pb, enum loss loss, const double *r, double max_abs_corr,
    double tail, double lambda);

/* Bytes of workspace for the functions below; `threads` is that of their host. */
size_t safe_work(const struct problem *pb, enum loss loss, int threads);

/* T[j] (n) := the largest |theta'x_j| of any theta whose dual value is at least `gamma` and whose
   covariates balance: at any lambda above T[j] for which the optimum is at least gamma, column j is
   in no solution. T is rounded up, so that lambda > T[j] needs no further margin. Columns with
   skip[j] != 0 are left alone (skip may be NULL), unusable ones have 0. With a finite `enough` the
   search for T ends where it is known on which side of it T is: T is then no more than `enough`, or
   +INFINITY. With covariates beyond an intercept, T is that of the column less its projection on
   them. El Ghaoui and others, (5), (10), (20), (27). O(m) a column, O(m log m) for hinge, O(mq)
   with more covariates; else the nonzeros of a sparse column. */
enum status safe_bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, struct host *host, void *work, double *T);

/* A lower bound of the optimum that never falls as lambda grows: linear between knots, their
   lambda ascending from 0, and constant after the last. */
struct safe_knots {
  ptrdiff_t count;
  const double *lambda, *value;
};

/* For logistic and hinge: T[j] (n), as safe_bounds() makes it, from the bound at lambda; and
   threshold[j] (n) := the lambda from which on, up to `top`, column j is in no solution. Theorem 3
   for hinge. Costs a few times T of logistic, and hardly more than T of hinge. */
enum status safe_thresholds(const struct problem *pb, enum loss loss,
    const struct safe_knots *bound, double lambda, double top, struct host *host, void *work,
    double *T, double *threshold);

/* For hinge: T[j] (n) := the largest |theta'x_j| of any theta that can be optimal when the model
   with the values f (m, the user's units) is within `gap` of the optimum, by Fenchel's inequality
   row by row: a fractional knapsack. O(m log m) a column. */
enum status safe_hinge_gap_bounds(const struct problem *pb, const double *f, double gap,
    const int *skip, struct host *host, void *work, double *T);

/* For losses whose third derivative is at most the second times the largest step of a row: T (n L)
   := the largest |theta_l'x_j| of any theta that can be optimal when a model is within `gap` of the
   optimum. c (n L) are the products with its residual and h (m x L) its second derivatives by row.
   It is |c| + sqrt(2 V gap) + R gap / 3 with V the sum of h x_j^2 and R the largest |x_j|, after
   x_j has given up its projection on the covariates. With `grouped` it is of the l2 norm over the
   outputs, where V is the sum of theirs, or if less twice the largest, and R sqrt(2) times as
   large. O(m (q + L)) a column. */
enum status safe_local_bounds(const struct problem *pb, enum loss loss, int grouped,
    const double *c, const double *h, double gap, const int *skip, struct host *host, void *work,
    double *T);

#endif
