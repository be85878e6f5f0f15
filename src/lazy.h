/* What lazy.c and foresee.c share. */
#ifndef SPARSELS_LAZY_H
#define SPARSELS_LAZY_H

#include "greedy.h"
#include "lanes.h"

enum {
  BATCH = 32, /* rows of X'X made in one reading, at most and at least */
  LEAST_BATCH = 4,
  LEAST_POOL = 32, /* candidates among which the next selections are foreseen */
  MOST_POOL = 1024,
  ROWS = 48,        /* rows of X'X kept for later */
  CHUNK = 8,        /* candidates scored together, whatever the number of threads */
  LEAST_SLOTS = 64, /* columns of C in hand, at least */
  SHARED = 100000   /* products for which a second thread is worth waking */
};

struct lazy {
  /* columns of C in hand */
  ptrdiff_t slots;
  ptrdiff_t next_slot;
  int *owner;   /* slots, the column in it, -1: none */
  int *version; /* n, how many moves the column in hand has taken part in */

  /* the moves, one for each member */
  double *c;           /* m x k, the column of C that was chosen */
  double *inverse;     /* k, 1 / kappa_b */
  double *gamma;       /* L x k, t_b / kappa_b */
  double *W;           /* n x k, x_i'c */
  double *U;           /* k x k, unit upper triangular: X_S = c U */
  double *beta;        /* k x L, their coefficients when every candidate is to be scored */
  double *c_dots;      /* k, products of the newest c with all of them */
  double *c_a, *c_ref; /* L each, its products with a before the move and w_ref */

  /* rows of X'X for columns that may be chosen next */
  double *gram;   /* n x ROWS */
  int *row;       /* n, which is column i's, -1: none */
  int *row_owner; /* ROWS, -1: none */
  int next_row;
  int wanted, used; /* how many to make next; how many of those made last were used */

  /* candidates */
  struct outlook at;
  double *reach2, *aside; /* n, of the outlook */
  double *q;              /* n, C_i'c of the move under way */
  double *bound;          /* n, of the sum of squares; the sum itself once it was computed */

  /* rows */
  double *w, *w_ref;              /* m x L */
  double *rest;                   /* m */
  double *a;                      /* m x L, foreseen */
  double *theta0, *theta1, *left; /* L each, w = theta0 w_ref + theta1 a + what is left */
  double P, largest_d, explained, w_norm, drift; /* explained: what there is to explain */
  int fresh;                                     /* w_ref is w */

  double *V;               /* m x (the most vectors of one reading) */
  double *out;             /* their products */
  double *ahead;           /* m x BATCH, columns of C that may be chosen next */
  double *f, *f2;          /* k x CHUNK, k: multiples of what is taken away */
  int *scored;             /* n, the size at which a column was scored last */
  double *best;            /* keep + 1 smallest sums of squares of this step */
  int found;               /* of these */
  int *list, *heap, *pool; /* n, n, pool */
  double *room;            /* for column_products() */
  /* of the last steps, a bit each: too many candidates were left; x was read */
  unsigned crowded, unforeseen;
};

static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

/* Small beside n, so that foreseeing a step costs a fraction of a row of X'X. */
static inline ptrdiff_t pool_size(ptrdiff_t n) {
  return smaller(n, smaller(larger(n / 16, LEAST_POOL), MOST_POOL));
}

static inline int is_candidate(const struct state *s, ptrdiff_t i) {
  return s->pb->usable[i] && !s->member[i];
}

/* All candidates into list; returns how many. */
ptrdiff_t list_candidates(const struct state *s, int *list);

/* Orders z->heap by bounds, and takes the candidate with the smallest from its top. */
void make_heap(const struct lazy *z, ptrdiff_t count);
int pop(const struct lazy *z, ptrdiff_t *count);

/* ---- foresee.c ---- */

/* The selections to come, foreseen by greedy search among the candidates with the smallest bounds
   of the last step: column b of the move under way and at most most - 1 others that have no row of
   X'X, into z->list; returns how many. A wrong guess costs time and nothing else. */
int foresee(struct state *s, int most);

#endif
