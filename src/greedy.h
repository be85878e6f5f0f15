/* The state of greedy RLS, shared by greedy.c, which moves it, and start.c, which makes it from a
 * set. */
#ifndef SPARSELS_GREEDY_H
#define SPARSELS_GREEDY_H

#include "kernels.h"

enum { PANEL = 64 }; /* columns that pass through BLAS together */

/* What is held for each partition into folds of more than one row, in fold order. */
struct partition {
  int count;
  const int *order, *start;
  double *D;   /* m x n, (G_HH)^-1 C_H */
  double *g;   /* m x L, held-out residuals */
  double *q;   /* m, column of D of the move under way */
  double *c;   /* m, column of C of the move under way */
  double *eta; /* count */
  double ss;   /* sum of squares of g */
};

struct score {
  double value, tie;
};

/* Letters as in the paper, scaled by lambda: G is lambda (XX' + lambda I)^-1 less its part along
 * the covariates. */
struct state {
  const struct problem *pb;
  const struct folds *folds;
  const struct greedy_control *control;
  struct host *host;
  struct greedy_result *out;

  double *C;         /* m x n, G X */
  double *a;         /* m x L, G y */
  double *d;         /* m, diagonal of G */
  double *kappa;     /* n, x_i'C_i + lambda for a candidate, x_i'C_i - lambda for a member */
  double *kappa_ref; /* n, kappa when it was last computed directly */
  double *t;         /* L x n, x_i'a; lambda times the coefficient for a member */
  double *pairs;     /* positives x negatives of G, for leave-pair-out */
  struct partition *part;
  int parts; /* 0 for leave-one-out */

  int *member; /* n */
  int *order;  /* n, the members in the order chosen */
  int size;
  int *positive, *negative, positives, negatives;

  /* the move under way, applied to each column by the next sweep */
  ptrdiff_t b;
  double kappa_b, factor_b;
  double *x_b, *c_b, *t_b; /* m, m, L, before the move */

  struct score *score; /* n, of moving each column */
  double *gain;        /* n + 1, what the last addition to reach a size brought */
  struct score *seen;  /* n + 1, best score met at each size */
  struct score tolerance, best;
  double total_weight; /* L times the sum of the weights */
  double *residual;    /* m x L */
  double *scratch;     /* threads x scratch_size */
  size_t scratch_size;
  double *room;    /* for start() */
  int since_start; /* columns dropped since the state was made afresh */
};

/* A column that may still be added or dropped. */
static inline int in_play(const struct state *s, ptrdiff_t i) {
  return s->pb->usable[i] && (s->control->search != BACKWARD || s->member[i]);
}

/* Doubles of room that start() needs for sets of up to `size` columns. */
size_t start_room(const struct problem *pb, const struct folds *folds, ptrdiff_t size);

/* Makes C, a, d, kappa, t, D and g afresh from X and the set order[0 .. size). */
enum status start(struct state *s);

/* Calls work(s, i, scratch) for the columns that are in play, in parallel, and polls the host
   between blocks of columns. Not zero: interrupted. */
int each_column(
    struct state *s, double cost, void (*work)(struct state *s, ptrdiff_t column, double *scratch));

#endif
