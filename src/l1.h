/* Models with an l1 penalty, for one lambda after the other, and the columns that no solution has.
 */
#ifndef SPARSELS_L1_H
#define SPARSELS_L1_H

#include "problem.h"

enum loss { LEAST_SQUARES = 0, LOGISTIC = 1, HINGE = 2 };

/* How columns are kept from being looked at: by what is known of their products with the residual
   (LAZY), by a safe test, or not at all. */
enum screen { LAZY = 0, NO_SCREEN = 1, SAFE_ONE = 2, SAFE_TWO = 3, GAP_SAFE = 4 };

struct l1_control {
  enum loss loss;
  enum screen screen;
  double tolerance; /* a solution is one when its duality gap is at most this times the null
                       objective, that of no columns */
  int room;         /* how many columns an engine may have in hand */
  int lambdas;      /* how many lambdas will be solved for */
};

/* The engines' shared state, in l1.h. */
struct l1;

size_t l1_work(const struct problem *pb, const struct l1_control *control, struct host *host);

/* Carves the state out of `work`, which l1_work() measured, and stands at the model without
   columns: its objective and residual are the null ones. */
struct l1 *l1_begin(
    const struct problem *pb, const struct l1_control *control, struct host *host, void *work);

/* Takes over a model to start from: `size` columns (from 0) and their working coefficients. */
enum status l1_start(struct l1 *at, int size, const int *feature, const double *beta);

/* Solves for one lambda, from where the last one left off:
     min over beta and u of  sum_j w_j loss(y_j, f_j) + lambda ||beta||_1,
     f = A beta / root_w + Q u / root_w  with the working columns A before they are projected on Q,
     loss(y, f) = (y - f)^2 / 2, log(1 + exp(-y f)) or (1 - y f)_+.
   El Ghaoui, Viallon and Rabbani 2010, (2), (25) and (17). `bound` is a lower bound of the optimum
   known from elsewhere (-INFINITY when there is none), which SAFE_TWO may use.
   NO_ROOM: the engine needs more room than control.room; begin again with more, from the last
   model. */
enum status l1_solve(struct l1 *at, int step, double lambda, double bound);

/* The solution that stands; parts belong to the state. */
struct l1_solution {
  int size;           /* columns with a coefficient that is not zero */
  const int *feature; /* from 0, in the order they came in */
  const double *beta; /* working coefficients */
  const double *u;    /* q */
  const double *r;    /* m: root_w (y - f) for squares, y theta / -root_w for classes; Q'r = 0 */
  double primal;      /* objective */
  double dual;        /* of r scaled so that no |a_k'r| exceeds lambda: a lower bound */
  double most;        /* no |a_k'r| exceeds it */
  double null;        /* the objective without columns */
  int rounds;         /* passes over the columns */
  double products;    /* columns that were multiplied with r */
  int kept;           /* columns that the safe test left */
};

struct l1_solution l1_solution(const struct l1 *at);

/* Lower bound of the optimum at lambda: the best value of a multiple s r of a residual r (m, as in
   struct l1_solution, Q'r = 0) with |s| most <= lambda, `most` being no less than any |a_k'r|.
   El Ghaoui and others, (8). O(m) for squares and hinge, a few times that for logistic. */
double dual_bound(
    const struct problem *pb, enum loss loss, const double *r, double most, double lambda);

size_t safe_work(const struct problem *pb, enum loss loss, int threads);

/* T[j] (n) := the largest |theta'x_j| of any theta whose dual value is at least `gamma` and whose
   covariates balance: at any lambda above it, and with phi(lambda) >= gamma, column j is in no
   solution; rounded up, so that lambda > T[j] needs no further margin. Columns with skip[j] != 0
   are left alone (skip may be NULL), those set aside have 0. With a finite `enough` the search for
   T ends where it is known on which side of it T is: T is then no more than `enough`, or +INFINITY.
   With covariates beyond an intercept, T is that of the column less its projection on them. El
   Ghaoui and others, (5), (10), (20), (27). O(m) a column, O(m log m) for hinge, O(mq) with more
   covariates; else the nonzeros of a sparse column. */
enum status safe_bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, struct host *host, void *work, double *T);

/* A lower bound of the optimum that never falls as lambda grows: linear between knots, their
   lambda ascending from 0, and constant after the last. */
struct knots {
  ptrdiff_t count;
  const double *lambda, *value;
};

/* For logistic and hinge: T[j] (n) as above for the bound at lambda; reach[j] (n) := the lambda
   from which on, up to `top`, column j is in no solution. Theorem 3 for hinge. Costs a few times T
   of logistic, and hardly more than T of hinge. */
enum status safe_reach(const struct problem *pb, enum loss loss, const struct knots *bound,
    double lambda, double top, struct host *host, void *work, double *T, double *reach);

/* The same for hinge from a model: T[j] := the largest |theta'x_j| of any theta that can be optimal
   when the model with the values f (m, the user's units) is within `gap` of the optimum, by
   Fenchel's inequality row by row: a fractional knapsack. O(m log m) a column. */
enum status hinge_gap_bounds(const struct problem *pb, const double *f, double gap, const int *skip,
    struct host *host, void *work, double *T);

#endif
