/* What the safe tests of the losses share: the data and its columns.

   A dual point of classes is kept as alpha = -theta, 0 <= alpha <= w, and a column with the labels
   folded in, v = y x, so that v'alpha is its product. With an intercept the dual point balances:
   y'alpha = 0. Bounds are rounded up: they are never below the exact value. */
#ifndef SPARSELS_L1_SAFE_H
#define SPARSELS_L1_SAFE_H

#include "l1-state.h"
#include <float.h>

/* A value of a folded column, and the weight of the rows that have it. */
struct safe_piece {
  double x, w;
};

/* A row whose alpha had better not be where the model has it. */
struct safe_item {
  double density; /* |v| / |h|, the gain for each unit of the gap */
  ptrdiff_t row;
};

/* What one thread has for a column. */
struct safe_buffer {
  double *x, *w, *y;           /* m each */
  struct safe_piece *piece[2]; /* 2 m + 2 each, of hinge */
  struct safe_item *item;      /* m, of hinge */
};

struct safe_data {
  const struct problem *pb;
  enum loss loss;
  int balanced;               /* whether y'alpha = 0 */
  int relative;               /* see struct l1_loss */
  double *w;                  /* m, case weights */
  const double *y;            /* m, the labels */
  double *h;                  /* m L, 1 - y f for safe_hinge_gap_bounds(), curvature for
                                 safe_local_bounds() */
  double weights[2];          /* sum of w of each class, +1 first */
  double yy;                  /* y'y of squares */
  double gap;                 /* for both */
  struct safe_buffer *buffer; /* one for each thread */
};

/* A column without its labels: d rows that are not 0, and the weight of the others by class. */
struct safe_column {
  ptrdiff_t d;
  const double *x, *w, *y;
  double rest[2];
  double mean, square; /* weighted mean, weighted sum of squares about it (about 0 if unbalanced) */
  double size;         /* sum of w |x|, what rounding is relative to */
};

/* A bound for one gamma, and for any other: value + slope (gamma' - gamma), as it is concave. */
struct safe_line {
  double gamma, value, slope;
};

/* What rounding may have taken from a sum of d terms whose absolute values add up to `size`. */
static inline double safe_rounding(ptrdiff_t d, double size) {
  return 4 * DBL_EPSILON * (double)(d + 8) * size;
}

/* ---- l1-safe-hinge.c ---- */

/* Folds the labels into the column: sorted pieces by class, or when unbalanced of all rows in
   piece[0]; count[0] and count[1] are their numbers. */
void safe_hinge_fold(const struct safe_data *s, const struct safe_column *column,
    const struct safe_buffer *buffer, ptrdiff_t *count);

/* The most of sign v'alpha when the sum of alpha is at least gamma, (20). */
struct safe_line safe_hinge_line(const struct safe_data *s, const struct safe_buffer *buffer,
    const ptrdiff_t *count, int sign, double gamma);

/* The most of sign v'alpha for any alpha within s->gap of the model that s->h belongs to. */
double safe_hinge_knapsack(
    const struct safe_data *s, const struct safe_column *column, int sign, struct safe_item *heap);

/* ---- l1-safe-logistic.c ---- */

/* The multipliers of the two constraints: the entropy's (mu) and the balance's (nu). */
struct safe_multipliers {
  double mu, nu;
  double g; /* of a search's last point: how far gamma was below the largest entropy */
};

/* The most of sign v'alpha when the entropy of alpha is at least gamma, (27); or with a finite
   `enough` any bound that is not above it, INFINITY where the least one is, by what the slopes
   promise. Begins at *point when its g is above 0, and leaves the last point there. */
struct safe_line safe_logistic_line(const struct safe_data *s, const struct safe_column *column,
    int sign, double gamma, double enough, struct safe_multipliers *point);

#endif
