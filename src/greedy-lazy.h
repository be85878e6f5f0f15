/* What lazy.c and foresee.c share. */
#ifndef SPARSELS_GREEDY_LAZY_H
#define SPARSELS_GREEDY_LAZY_H

#include "greedy-state.h"
#include "simd.h"

enum {
  BATCH = 32, /* rows of products made in one reading, at most and at least */
  LEAST_BATCH = 4,
  SIDES = 4,       /* products come in tiles of so many rows */
  LEAST_POOL = 32, /* candidates among which the next selections are foreseen */
  MOST_POOL = 512,
  CHUNK = 8,       /* candidates scored together, whatever the number of threads */
  LEAST_SLOTS = 64 /* columns of C in hand, at least */
};

struct lazy {
  /* columns of C in hand */
  ptrdiff_t slots;
  ptrdiff_t next_slot;
  int *owner;   /* slots, the column in it, -1: none */
  int *version; /* n, how many moves the column in hand has taken part in */

  /* the moves, one for each member */
  double *c;       /* m x k, the column of C that was chosen */
  double *inverse; /* k, 1 / kappa_b */
  double *gamma;   /* L x k, t_b / kappa_b */
  double **W;      /* k rows of n, x_i'c */
  double *U;       /* k x k, unit upper triangular: c = X_S U */
  double *c_ref;   /* L, products of the newest c with w_ref */
  int moves;       /* of which W is known */

  /* rows of products of x with columns of C: those of W, and of columns that may be chosen next */
  double *rows;     /* n x (k + BATCH) */
  int *row;         /* n, which is column i's, -1: none */
  int *row_owner;   /* k + BATCH, -1: none */
  int *row_version; /* k + BATCH, how many moves the column had taken part in */
  int next_row;
  int wanted, used; /* how many to make next; how many of those made last were used */

  /* candidates */
  struct outlook at;
  double *length, *reach2, *aside, *lowest; /* of the outlook */
  double *bound; /* n, of the sum of squares; the sum itself once computed */

  /* rows */
  double *w, *w_ref, *Gw;         /* m x L */
  double *a, *d;                  /* m x L and m, foreseen */
  double *theta0, *theta1, *left; /* L each, w = theta0 w_ref + theta1 a + what is left */
  double P, largest_d, explained, w_norm, drift; /* explained: what there is to explain */
  double inverse2; /* squares of the entries of the inverse of X_S'X_S + lambda I, their sum */
  int fresh;       /* the products with w are known, nothing is left of it */

  const double **v; /* vectors and rows of products of one reading */
  double **out;
  double *products; /* n x SIDES, or the outputs if they are more */
  double *foreseen; /* what foreseeing knows of the pool */
  double *f;        /* k x CHUNK, multiples of what is taken away */
  double *beta;     /* k x L, coefficients of the members */
  double *alpha;    /* L x CHUNK */
  double *part;     /* sums over the rows of a block, `sums` for each block */
  ptrdiff_t sums;
  int *scored;          /* n, the size at which a column was scored last */
  double *best;         /* keep + 1 smallest sums of squares of this step */
  int found;            /* of these */
  int *list, *heap;     /* n */
  int *pool, *pool_row; /* the columns among which foreseeing searches, its row of each, -1: none */
  double *room;         /* for column_products() */
  /* of the last steps, a bit each: too many candidates were left; x was read */
  unsigned crowded, unforeseen;
};

static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

/* Small beside n, so that foreseeing a step costs a fraction of a row of products. */
static inline ptrdiff_t pool_size(ptrdiff_t n) {
  return smaller(n, smaller(larger(n / 16, LEAST_POOL), MOST_POOL));
}

static inline int is_candidate(const struct state *s, ptrdiff_t i) {
  return s->pb->usable[i] && !s->member[i];
}

/* All candidates into list; returns how many. */
ptrdiff_t list_candidates(const struct state *s, int *list);

/* Brings the columns of C listed, fewer than LEAST_SLOTS, into hand and as far as W is known. */
void make_columns(struct state *s, const int *list, int count);

/* Moves from[p] to `to` that are to be taken out of x[p], vectors of m; the multiples are in z->f,
   k for each. */
struct taking {
  int count, to;
  double *x[CHUNK];
  int from[CHUNK];
};

void take_out(struct state *s, const struct taking *taking);

/* Adds the products of the columns listed with r vectors z->v to z->out. */
enum status read_columns(struct state *s, const int *list, ptrdiff_t count, ptrdiff_t r);

/* ---- foresee.c ---- */

/* The selections to come after the move under way, foreseen by greedy search among a few
   candidates: at most `most` that have no row of products, into list; returns how many, or -1:
   interrupted. A wrong guess costs time and nothing else. */
int foresee(struct state *s, int *list, int most);

#endif
