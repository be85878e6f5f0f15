/* The active set of the lasso: its columns, their coefficients, and a Cholesky factor of their
   products. */
#ifndef SPARSELS_L1_ACTIVE_H
#define SPARSELS_L1_ACTIVE_H

#include "column.h"
#include "l1-state.h"

/* Columns that come together: the active ones are read once for all of them. */
enum { LASSO_BATCH = 8 };
struct lasso_batch {
  int count; /* 0 while columns come one by one */
  const int *column;
  double *a[LASSO_BATCH];       /* m each, the working columns */
  double *product[LASSO_BATCH]; /* n each, with those that were active before them */
  void *work;
};

/* Sweeps of coordinate descent between two extrapolations. */
enum { LASSO_SWEEPS = 8 };

/* How far the search at one lambda has come, which a wait for shared products may divide. */
struct lasso_search {
  double share;  /* how far the active columns are solved for, as a multiple of the gap allowed */
  double lowest; /* objective so far */
  int round, idle, refined;
};

struct lasso_active {
  int count;
  int settled;         /* how many there were when the last solution was stored */
  int max_factored;    /* the most columns that are factored */
  int factored;        /* whether R is kept; where there are too many columns, descent serves */
  int ill_conditioned; /* whether solutions with R need refinement to be accurate */
  int *column;         /* max_active */
  double *square;      /* max_active, of the column's norm */
  double *sign;        /* max_active, of each coefficient */
  double *beta;        /* max_active, 0 or of that sign */
  double *last;        /* max_active, the coefficients of the solution before the last */
  double lambda, last_lambda; /* of the last solution and of that before, INFINITY for none */
  double *target;  /* max_active, coefficients for lambda and the signs, or a step to them */
  double *product; /* max_active, a_k'y */
  double ridge;    /* added to the columns' products with themselves, 0 without one */
  double *G;       /* max_factored x max_factored with a ridge, A'A; otherwise NULL */
  double *R;       /* max_factored x max_factored, upper Cholesky factor of A'A + ridge I */

  /* The problem; of a sparse x only the active columns, with root_w already in their values, of
     which the first `copied` are in the copy. */
  struct problem local;
  struct l1_copy copy;
  int copied;
  double *weighted_sum; /* max_active, of the values in the copy, times root_w */

  struct lasso_batch batch;
  struct lasso_search search;

  double *way[LASSO_SWEEPS]; /* max_active each, how far each of the last sweeps went */

  double *l, *c, *s;    /* max_active each, temporary */
  double *a, *v, *rest; /* m each, temporary */
  double *f;            /* m, the model's values, times root_w, at the last lasso_residual() */
  int *is_active;       /* n, 1 for an active column, -1 for one that is dependent on them */
  int has_refused;      /* whether there is a -1 */
  int *violated;        /* n, columns that break the optimality conditions, the worst first */
};

/* The number of the i-th active column in active->local. */
static inline ptrdiff_t lasso_index(const struct lasso_active *active, int i) {
  return is_sparse(&active->local.x) ? i : active->column[i];
}

/* Copies the active columns of a sparse x that are not in the copy yet. */
void lasso_copy_columns(const struct problem *pb, struct lasso_active *active);

/* out (m) := root_w times the values of the active columns' model with coefficients h. */
void lasso_fitted_rows(
    const struct problem *pb, struct lasso_active *active, const double *h, double *out);

/* r := y - f for the active columns' model, projected on what Q leaves. */
void lasso_residual(struct l1_state *state, struct lasso_active *active);

/* Sets the ridge, and with a factor makes it anew. */
void lasso_set_ridge(struct lasso_active *active, double ridge);

/* Makes the products of up to LASSO_BATCH columns with the active ones, for the factor that they
   come into next; the batch ends with lasso_end_batch(). */
enum status lasso_begin_batch(
    struct l1_state *state, struct lasso_active *active, int count, const int *column);
void lasso_end_batch(struct lasso_active *active);

/* Adds column k to the active set, and to the factor if there is one. Returns 0, and adds nothing,
   where the column is dependent on those in the factor; active->l is then R'^-1 A'a_k. */
int lasso_activate(
    struct l1_state *state, struct lasso_active *active, int k, double sign, double beta);

/* Removes the p-th active column; without a factor the last one takes its place. */
void lasso_deactivate(struct lasso_active *active, int p);

/* l1-descent.c: takes the step from the last solution towards that for lambda on the line through
   the last two, as the path is piecewise linear, or a part of it that lowers the objective; without
   a factor r is that of the model before and after. With one the step is noted alone. */
void lasso_extrapolate(struct l1_state *state, struct lasso_active *active, double lambda);

/* l1-descent.c: lowers the objective of the active columns, r being that of their model, until a
   sweep over them finds no |a_k'r - lambda sign(beta_k)| above `allowed` / |beta|_1, or the host
   stops it. Scaled to be feasible, r then has a gap of hardly more than `allowed` for these
   columns. r is kept up to date. */
enum status lasso_descend(
    struct l1_state *state, struct lasso_active *active, double lambda, double allowed);

#endif
