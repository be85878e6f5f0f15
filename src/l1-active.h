/* The columns of a lasso solution and those about to join it. */
#ifndef SPARSELS_L1_ACTIVE_H
#define SPARSELS_L1_ACTIVE_H

#include "l1-state.h"

struct hand {
  int count;
  int most;          /* how many can be factored */
  int delicate;      /* whether digits matter: a column was nearly dependent, or a gap too wide */
  int descends;      /* whether there are too many for that */
  int *column;       /* room */
  double *sign;      /* room, of the coefficient each is to have */
  double *beta;      /* room, zero or of that sign */
  double *target;    /* room, where beta goes */
  double *product;   /* room, a_k'y */
  double *R;         /* most x most, upper Cholesky factor of their products with each other */
  double *l, *c, *s; /* room each */
  double *a, *v, *f, *rest; /* m each */
  int *held;                /* n, 1 for a column in hand, -1 for one that is none but in name */
  int *waiting;             /* n, columns that want in, the worst first */
};

/* r := y - root_w f for the model in hand, less what the covariates explain of it. */
void make_residual(struct l1 *at, struct hand *hand);

/* descent.c: lowers the objective of the columns in hand until a sweep over them gains less than
   `enough`, or the host stops it. */
enum status descend(struct l1 *at, struct hand *hand, double lambda, double enough);

#endif
