/* The greedy search that skips candidates: what its files share. greedy-lazy.c is the engine,
   greedy-bounds.c bounds the candidates, greedy-columns.c keeps columns of C, greedy-lookahead.c
   guesses the selections to come. */
#ifndef SPARSELS_GREEDY_LAZY_H
#define SPARSELS_GREEDY_LAZY_H

#include "greedy-state.h"
#include "simd.h"

enum {
  MIN_BATCH = 4, /* rows of products that one pass over x makes */
  MAX_BATCH = 32,
  SIDES = 4,          /* products come in tiles of so many rows */
  MIN_SHORTLIST = 32, /* candidates among which the next selections are looked for */
  MAX_SHORTLIST = 512,
  CHUNK = 8,     /* candidates scored together, whatever the number of threads */
  MIN_SLOTS = 64 /* columns of C that there is memory for, at least */
};

struct lazy {
  /* columns of C: slots in s->C, which holds all or some of them */
  ptrdiff_t slots, next_slot;
  int *slot_owner; /* slots, the column in it, -1: none */
  int *version;    /* n, how many moves the column in C has taken part in */

  /* the moves, one for each member */
  double *c;             /* m x k, the column of C that was chosen */
  double *inverse_kappa; /* k, 1 / kappa_b */
  double *gamma;         /* L x k, t_b / kappa_b */
  double **W;            /* k rows of n, x_i'c */
  double *U;             /* k x k, unit upper triangular: c = X_S U */
  double *c_ref;         /* L, products of the newest c with w_ref */
  int moves;             /* of which W is known */

  /* rows of products of x with columns of C: those of W, and of columns that may be chosen next */
  double *rows;     /* n x (k + MAX_BATCH) */
  int *row;         /* n, which is column i's, -1: none */
  int *row_owner;   /* k + MAX_BATCH, -1: none */
  int *row_version; /* k + MAX_BATCH, how many moves the column had taken part in */
  int next_row;
  int batch, batch_used; /* how many to make next; how many of those made last were used */

  /* candidates */
  struct greedy_bounds bounds;
  double *bound; /* n, of the sum of squares; the sum itself once computed */

  /* what bounds need of a, d and w */
  double *w, *w_ref, *Gw;              /* m x L */
  double *theta0, *theta1, *rest_norm; /* L each, w = theta0 w_ref + theta1 a + rho */
  double P, max_d, w_norm;
  double y_norm2;       /* |y|^2, the covariates' part subtracted */
  double growth;        /* D: how much the moves have amplified rounding */
  double inverse_norm2; /* sum of the squared entries of (X_S'X_S + lambda I)^-1 */
  int exact;            /* the products with w itself are known, rho is 0 */

  const double **v; /* vectors and rows of products of one pass */
  double **out;
  double *products;   /* n x SIDES, or the outputs if they are more */
  double *f;          /* k x CHUNK, multiples of a downdate */
  double *beta;       /* k x L, coefficients of the members */
  double *alpha;      /* L x CHUNK */
  double *block_sums; /* sums over the rows of a block, sums_per_block for each */
  ptrdiff_t sums_per_block;
  int *scored_at;      /* n, the size at which a column was scored last */
  double *best;        /* keep + 1 smallest sums of squares of this step */
  int best_count;      /* of these */
  int *list, *heap;    /* n */
  void *products_work; /* for column_products() */
  /* of the last steps, a bit each: too many candidates remained; x was read */
  unsigned crowded, missed;

  /* of greedy-lookahead.c */
  int *shortlist, *shortlist_row; /* columns of the shortlist; the row of each, -1: none */
  double *kappa_ahead, *g_ahead;  /* of the shortlist, after the moves ahead */
  double *rows_ahead;             /* products of the shortlist with columns of C */
  double *a_ahead, *d_ahead;      /* m x L and m, a and d after the moves ahead */
};

/* Small beside n, so that a step ahead costs a fraction of a row of products. */
static inline ptrdiff_t lazy_shortlist_size(ptrdiff_t n) {
  return greedy_min(n, greedy_min(greedy_max(n / 16, MIN_SHORTLIST), MAX_SHORTLIST));
}

static inline int lazy_is_candidate(const struct greedy *s, ptrdiff_t i) {
  return s->pb->usable[i] && !s->member[i];
}

/* Where the block of rows that begins at `row` keeps its sums. */
static inline double *lazy_sums(const struct lazy *lazy, ptrdiff_t row) {
  return lazy->block_sums + row / ROWS * lazy->sums_per_block;
}

/* ---- greedy-bounds.c ---- */

/* A sum over all rows, in the order of the blocks whichever thread made them. */
double lazy_total(const struct greedy *s, ptrdiff_t which);

/* How much of a product may be rounding: that of a sum of m terms, times what the moves have
   amplified it. */
double lazy_rounding(const struct greedy *s);

/* w, P, max d and c'w_ref of the current model. */
void lazy_update_w(struct greedy *s);

/* Gw := G w for each output. */
void lazy_multiply_w(struct greedy *s);

/* w_ref := w, when the products with w have been computed. */
void lazy_refer_to_w(struct greedy *s);

/* Splits w into theta0 w_ref + theta1 a + rho for each output. */
void lazy_split_w(struct greedy *s);

/* lazy->bound := the lower bounds. */
void lazy_evaluate_bounds(struct greedy *s);

/* Raises the bounds of the columns listed by the products C_i'w_l = x_i'G w_l themselves. */
enum status lazy_sharpen(struct greedy *s, const int *list, ptrdiff_t count);

/* beta (ld x L) := the working coefficients of the members, in the order chosen. */
void lazy_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld);

/* ---- greedy-columns.c ---- */

/* Writes all candidates to list; returns how many. */
ptrdiff_t lazy_list_candidates(const struct greedy *s, int *list);

/* Adds the products of the columns listed with r vectors lazy->v to lazy->out. */
enum status lazy_add_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r);

/* lazy->out := those products. */
enum status lazy_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r);

/* A row of products for the last of the columns listed, `others` come before it. */
void lazy_assign_row(struct greedy *s, const int *list, int others);

/* A deferred low-rank update of vectors of m: x[p] := x[p] - sum_l f_l c_l for the moves from[p] <=
   l < to, the multiples in lazy->f, k for each vector. */
struct lazy_downdate {
  int count, to;
  double *x[CHUNK];
  int from[CHUNK];
};

void lazy_apply(struct greedy *s, const struct lazy_downdate *downdate);

/* Brings the listed columns of C, fewer than MIN_SLOTS, as far as W is known. */
void lazy_update_columns(struct greedy *s, const int *list, int count);

/* kappa and g of the listed columns from the columns themselves, which are up to date in C. */
void lazy_recompute(struct greedy *s, const int *list, int count);

/* lazy->bound := the sums of squares of up to CHUNK models, each with one more of the columns
   listed. */
void lazy_score_columns(struct greedy *s, const int *list, int count);

/* Puts the columns of members into C. */
void lazy_set_members(struct greedy *s);

/* ---- greedy-lookahead.c ---- */

/* Guesses the selections to come after the move under way, by greedy search within a shortlist of
   candidates: at most `max` that have no row of products, into list; returns how many, or -1:
   interrupted. A wrong guess costs time and nothing else. */
int lazy_lookahead(struct greedy *s, int *list, int max);

#endif
