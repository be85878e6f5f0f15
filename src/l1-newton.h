/* The Newton engine: its working set, points and quadratic model. */
#ifndef SPARSELS_L1_NEWTON_H
#define SPARSELS_L1_NEWTON_H

#include "column.h"
#include "l1-state.h"

/* Rounds of coordinate descent before a Newton step. */
enum { NEWTON_EPOCHS = 3 };

/* A model: its values are f = base + B u, of each output. In what follows m stands for m L with L
   outputs, q for q L, and n for the coefficients, n L. */
struct newton_point {
  double *beta;    /* max_active, of the working set */
  double *base;    /* m */
  double *u;       /* q */
  double loss, l1; /* with the ridge of u; the sum of |beta|, or of the norms of units */
  double squares;  /* the sum of beta^2 */
};

/* The second derivatives of a loss at a point: see struct newton_fit. */
struct newton_curvature {
  double *h, *HB, *BHB, *memo;
};

/* The matrix K of the quadratic model at an earlier point, of coefficients in slots. */
struct newton_gram {
  int max, order;             /* the most slots, and those in use */
  int *number;                /* max, the coefficient in a slot */
  int *slot;                  /* max, of each coefficient of the working set */
  double *K;                  /* max x max, without the ridge */
  double *centre, *inv_scale; /* max, of the columns */
  double *slope;              /* max, temporary */
  double *before;             /* max, corr of the working set before the last step */
  double *change;             /* max, temporary */
  double *block, *tile;       /* temporary */
  struct newton_curvature at; /* the point */
  int excess;                 /* steps that a fresh matrix might have saved */
};

struct newton_fit {
  double ridge;                 /* the penalty has ridge / 2 times the sum of beta^2 */
  double covariate_ridge;       /* of u, 0 where no rows are separated */
  double lambda, lambda_before; /* of the last two solutions, 0 if unknown */

  /* How far the search at one lambda has come, which a wait for shared products may divide: the gap
     that the working set may leave, what came of solving for it, and the working sets so far. */
  double inner;
  enum status inside;
  int round;

  /* The working set: the coefficients that are optimised, in units of which all are in a row. */
  int count, width;     /* width of a unit: see l1_width() */
  int *number;          /* max_active, which coefficients they are */
  int *place;           /* n, the place of a coefficient in the set, -1 where it is not in it */
  struct problem local; /* the problem; of a sparse x only the set's columns, copied to: */
  struct l1_copy copy;
  struct newton_point now, next;
  int *violated;       /* n, the first coefficients of units that come into the working set */
  double *beta_before; /* max_active, coefficients in the last solution but one */
  double *corr;        /* max_active, products with v, or slopes of the quadratic model */
  int correlated;      /* whether r of the state is of the point evaluated last, and l1_is_fresh()
                          says which of the state's products are */

  double primal, dual, max_abs_corr; /* of the last solution, for where the next one fails */

  double *w;        /* case weights of the rows */
  double *response; /* m, with the offset */
  double *known;    /* what the loss takes from it */
  struct likelihood_rows rows;
  double unit;      /* about how large the response is, 1 for classes */
  double *B;        /* Q / root_w, the same for all outputs */
  double *f, *v;    /* m, of the last point evaluated: f, and minus the gradient of the loss */
  double *h;        /* m, its second derivatives or what they are below; H has them */
  double *HB;       /* m x q */
  double *BHB;      /* q x q, upper Cholesky factor of B'HB and the ridge of u */
  double *g;        /* q, temporary */
  double *constant; /* L, of newton_begin_values() */

  /* The quadratic model. Its second derivatives are those of the loss with u following the columns'
     coefficients: K = Z'(H - HB (B'HB)^-1 B'H) Z + ridge I with the set's columns Z. */
  double *s;              /* m, minus the model's gradient: v less H times the change of f */
  double *curvature;      /* max_active, diagonal of K */
  double *xh;             /* max_active, x_k'h of sparse columns */
  double *h_sum, *HB_sum; /* L and L x q, sums of h and HB over the rows, by output */
  double *sigma, *sum;    /* L, see struct newton_gradient */
  double *b, *e;          /* q x max_active, B'H z_k and (B'HB)^-1 of it */
  int *support;           /* max_active, places of the columns whose coefficient is not zero */
  double *d;              /* max_active, the step of each */
  double *residual;       /* max_active, the slope of each less that of the penalty */
  double *z, *p, *Kp;     /* max_active, of conjugate gradients */
  double *t, *Ht;         /* m, temporary */
  double *Ht_sum;         /* L, sums of Ht over the rows */

  int by_gram; /* whether `gram` stands for the model */
  struct newton_gram gram;

  /* The preconditioner: a factor of K for the columns of some earlier support. */
  int max_factored;
  int factored;       /* its order, 0 when there is none */
  int *factor_number; /* max_factored, its coefficients */
  int *factor_row;    /* max_active, where a coefficient of the working set is in K, or -1 */
  double *K;          /* factored x factored, upper Cholesky factor */
  double *y;          /* max_factored, temporary */
  double excess;      /* conjugate gradient steps that a fresh factor would have saved */
};

/* ---- l1-newton-point.c ---- */

double newton_sum(ptrdiff_t m, const double *x);

/* sum (L) := the sums of x (m x L) over the rows. */
void newton_sums(const struct newton_fit *fit, const double *x, double *sum);

/* lambda l1 + ridge / 2 squares */
double newton_penalty(
    const struct newton_fit *fit, const struct newton_point *point, double lambda);

/* The ridge of u, which is in the loss of a point and not in the objective of a solution. */
double newton_covariate_penalty(
    const struct l1_state *state, const struct newton_fit *fit, const struct newton_point *point);

/* The column in fit->local of the k-th coefficient of the working set, and its output. */
static inline ptrdiff_t newton_index(const struct newton_fit *fit, int k) {
  return is_sparse(&fit->local.x) ? k : l1_column_of(&fit->local, fit->number[k]);
}

static inline ptrdiff_t newton_output(const struct newton_fit *fit, int k) {
  return l1_output_of(&fit->local, fit->number[k]);
}

/* The product of the k-th coefficient's column with v (m), whose sums are `sum`. */
static inline double newton_product(
    const struct newton_fit *fit, int k, const double *v, const double *sum) {
  return l1_output_product(&fit->local, newton_index(fit, k), newton_output(fit, k), v, sum);
}

/* x (m) := a sum of columns times coefficients, each added between begin and end; constants that
   sparse columns leave come at the end. */
void newton_begin_values(const struct newton_fit *fit, double *x);
void newton_add_values(const struct newton_fit *fit, int k, double beta, double *x);
void newton_end_values(const struct newton_fit *fit, double *x);

/* x := x + factor B u */
void newton_add_covariates(const struct newton_fit *fit, double factor, const double *u, double *x);

/* u := HB'x */
void newton_curved_slopes(const struct newton_fit *fit, const double *x, double *u);

/* The place where the unit of place k begins. */
static inline int newton_unit(const struct newton_fit *fit, int k) {
  return fit->width == 1 ? k : k - k % fit->width;
}

/* The norm of the unit of `beta` that begins at place k. */
static inline double newton_norm(const struct newton_fit *fit, const double *beta, int k) {
  return l1_unit_norm(fit->width, beta + k);
}

/* l1 and squares of a point, from its beta. */
void newton_measure_penalty(const struct newton_fit *fit, struct newton_point *point);

/* base, l1 and squares of a point, from its beta. */
void newton_predict(const struct newton_fit *fit, struct newton_point *point);

/* f, v, h and the loss of a point. O(mq) */
void newton_evaluate(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point);

/* out (m) := H t at the point evaluated last. O(m) */
void newton_curve(
    const struct l1_state *state, const struct newton_fit *fit, const double *t, double *out);

/* BHB := the factor of B'HB. Returns not 0 where there is none; solves with it then leave u where
   it is. Of several outputs, steps of u sum to 0: what they have in common changes no loss. O(mq^2)
 */
int newton_factor_covariates(const struct l1_state *state, struct newton_fit *fit);

/* Whether covariates separate some rows, at the null model. O(mq^2) */
int newton_is_separated(const struct l1_state *state, struct newton_fit *fit);

/* x (q) := (B'HB)^-1 x */
void newton_solve_covariates(const struct l1_state *state, const struct newton_fit *fit, double *x);

/* g := B'x, less the slopes of their ridge at u, which may be NULL; returns its length. */
double newton_covariate_slopes(
    const struct l1_state *state, struct newton_fit *fit, const double *x, const double *u);

/* t (m) := v - H B (B'HB)^-1 B'v of the point evaluated last, so that B't = 0: v is a dual point
   only as far as it is orthogonal to the covariates. Each row moves by its own curvature, so that t
   is in the domain of the dual where the change B (B'HB)^-1 B'v of f is at most 1, of several
   outputs 1/2. Returns 0 where it is more, B'HB has no factor or the loss ties rows together, whose
   dual value is of the point. O(mq^2) */
int newton_balance(const struct l1_state *state, struct newton_fit *fit);

/* Optimises u for the point's base, and evaluates the point: Newton's method, where a step is
   halved while it leads upwards. */
void newton_optimise_covariates(
    const struct l1_state *state, struct newton_fit *fit, struct newton_point *point);

/* ---- l1-newton-model.c: the quadratic model at the point `now`, which has been evaluated ----
 */

/* Takes next.beta through a few rounds of coordinate descent. Columns without a coefficient take
   part when |corr| >= level. corr := the slopes there of the columns that then have a coefficient.
   `exact`: by a curvature that is not diagonal, rather than by the diagonal above it. */
void newton_descend(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double level, int exact);

/* What became of the signs of the coefficients in a step: all kept; every coefficient that changed
   its sign set to zero; or the step shortened first, as those were too many for that. */
enum newton_signs { SIGNS_KEPT, ALL_TRUNCATED, SOME_TRUNCATED };

/* Moves the coefficients that are not zero to about the model's minimum with their signs. `enough`:
   what the slopes may miss. corr holds the slopes at next. */
enum newton_signs newton_step(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double enough);

/* Ends and projects t, and makes Ht with its sums. Returns t'Ht. */
double newton_apply_hessian(const struct l1_state *state, struct newton_fit *fit);

/* ---- l1-newton-gram.c: the model by its matrix at an earlier point ---- */

struct newton_gram newton_layout_gram(
    const struct problem *pb, const struct l1_control *control, struct arena *arena);

/* Whether rows are many enough for the working set. */
int newton_gram_serves(const struct newton_fit *fit);

/* Completes the matrix for the working set, or makes it anew; is_poor: the step before left much of
   the gap. O(m) for each product of two columns. */
enum status newton_gram_prepare(struct l1_state *state, struct newton_fit *fit, int is_poor);

/* Gives K the curvature along the step from next to now that corr shows beside gram.before: the
   update of Broyden, Fletcher, Goldfarb and Shanno, where columns outside of the working set follow
   the old K. O(order^2) */
void newton_gram_learn(struct newton_fit *fit);

/* As newton_descend() and as newton_multiply(), without the ridge. O(order) for each column. */
void newton_gram_descend(struct newton_fit *fit, double lambda, double level);
void newton_gram_multiply(struct newton_fit *fit, int size, const double *x, double *out);

#endif
