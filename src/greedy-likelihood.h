/* What the files of a greedy search by a likelihood share: the state, models of a set, candidates.

   A model of the columns C (m x p), of which the first q, the covariates, have no penalty, has the
   linear predictor f = offset + C b and minimises half of the deviance of f plus lambda / 2 times
   the squares of the penalised b. K = C'HC + lambda I of its curvature H, which is diag(h) unless
   the loss ties rows together, is kept as the upper triangle R with R'R = K.

   Rows that do not determine the covariates, or that the covariates separate, leave a direction of
   their coefficients without an optimum. Then the objective also has ridge / 2 times the squares of
   these coefficients less `towards`: 0 in a model of all rows, in a model without a fold the
   coefficients of the model of all rows. */
#ifndef SPARSELS_GREEDY_LIKELIHOOD_H
#define SPARSELS_GREEDY_LIKELIHOOD_H

#include "greedy.h"
#include "simd.h"
#include "work.h"

struct likelihood_model {
  double objective, ridge;
  double *towards;   /* q */
  double *b;         /* most */
  double *f, *v, *h; /* m: the linear predictor, minus the gradient of the loss, its curvature */
  double *memo;      /* what the loss keeps of f */
  double *R;         /* most x most */
  double *step;      /* most */
  double *moved;     /* m, -C step */
};

/* Rows of a fold that are laid out together. */
enum { PART_ROWS = 256 };

/* Memory of one thread. */
struct likelihood_scratch {
  struct likelihood_model model; /* of a fold */
  double *w;                     /* m, the weights without a fold */
  double *part;                  /* 6 x m, the rows of a fold: y, w, known, f, v, h */
  double *rows;                  /* PART_ROWS x (most + 1), some rows of C */
  double *columns;               /* m x wide, of a candidate */
  double *curved;                /* m */
  double *along;                 /* most x wide, the columns that they add to R */
  double *step, *reach;          /* wide */
};

struct likelihood_search {
  const struct problem *pb;
  const struct folds *folds;
  const struct likelihood_control *control;
  struct host *host;
  struct likelihood_result *result;
  ptrdiff_t m;                  /* rows, with rows of weight 0 that fill the last vector */
  ptrdiff_t most;               /* columns that C can have, q + most_columns */
  ptrdiff_t wide;               /* columns of the largest group */
  ptrdiff_t memo;               /* doubles that the loss keeps of a point */
  double *y, *w, *known;        /* m, the response, case weights, what the loss knows of it */
  double *C;                    /* m x most */
  double *K;                    /* most x most, upper triangle, of the present model */
  int *flat;                    /* folds, whether the rows without it leave a direction of the
                                   covariates flat */
  double *base;                 /* m, c_i'K^-1 c_i of each row */
  double most_base;             /* the largest of a row with a weight */
  struct likelihood_model now;  /* of the present set */
  struct likelihood_model best; /* the best candidate of a step so far */
  struct likelihood_model next; /* another one */
  double unit;                  /* the objective of the null model */
  double done, total;           /* for the host */

  /* of a candidate, which is a column or the first of a group A that moves together */
  int *taken;          /* n, not 0: in the set, or no candidate */
  double *slope;       /* n, |A'v| */
  double *score;       /* n, the root of v'A (lambda I + V)^-1 A'v; below 0 where it is not known */
  double *bound;       /* n, no less than what A takes off the objective; below 0: minus a coarse
                          bound */
  double *product;     /* n, a_j'v of every column */
  int *list;           /* n */
  void *products_work; /* of column_products() */
  struct likelihood_scratch *scratch; /* one for each thread */
};

/* The number of rows with those that fill the last vector. */
static inline ptrdiff_t likelihood_filled(ptrdiff_t rows) {
  return (rows + SIMD_PAD - 1) / SIMD_PAD * SIMD_PAD;
}

/* ---- greedy-likelihood-model.c ---- */

/* The last entries of x (m), which belong to no row, := 0. */
void likelihood_fill(const struct likelihood_search *s, double *x);

/* out (m) := H x at the point where the model was evaluated last. Changes what is temporary in its
   memo. */
void likelihood_curve(const struct likelihood_search *s, const double *w,
    const struct likelihood_model *model, const double *x, double *out);

/* Upper triangle K (p x p) := C'HC + lambda I, with the ridge of the covariates. O(m p^2). */
void likelihood_curvature(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    const struct likelihood_model *model, double *K);

/* The loss at f for the weights w, with v, h and the memo of the model. */
double likelihood_loss_at(
    const struct likelihood_search *s, const double *w, struct likelihood_model *model);

/* The upper triangle := its Cholesky factor; 0 where it has none. */
int likelihood_factor(const struct likelihood_search *s, ptrdiff_t p, double *R);

/* objective, v and h at f, for the first p columns of C and the weights w. */
void likelihood_evaluate(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model);

/* f := offset + C b */
void likelihood_predict(
    const struct likelihood_search *s, ptrdiff_t p, struct likelihood_model *model);

/* Newton's method for the first p columns of C and the weights w from b and f, which belong
   together and were evaluated, until no more than `share` of the null objective is left to gain.
   `factored`: R is the factor of a point nearby, which serves as long as the steps shrink fast.
   NOT_POSITIVE where the rows do not determine the covariates. O(m p^2) a renewal of R, O(m p) a
   step. */
enum status likelihood_minimise(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model, int factored, double share);

/* What the ridge of the covariates adds to the objective. */
double likelihood_pull(const struct likelihood_search *s, const struct likelihood_model *model);

/* to := from, of p columns, without R, the memo and the ridge. */
void likelihood_copy(const struct likelihood_search *s, ptrdiff_t p,
    const struct likelihood_model *from, struct likelihood_model *to);

/* ---- greedy-likelihood-moves.c ---- */

/* X (m apart) := the columns that move with column j, centred and scaled. Returns how many. */
int likelihood_columns(const struct likelihood_search *s, ptrdiff_t j, double *X);

/* The best candidate to add to the first p columns, whose model is s->now with its factor R: leaves
   it in s->best, and its columns in C. *refits := the candidates whose models were made, *exact :=
   whether no other one can take more off the objective. -1 where there is none. */
int likelihood_choose(
    struct likelihood_search *s, ptrdiff_t p, int *refits, int *exact, enum status *status);

#endif
