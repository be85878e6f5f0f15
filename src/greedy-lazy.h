/* The greedy search that skips candidates: what its files share. greedy-lazy.c is the engine and
   holds out single rows, greedy-folds.c holds out folds. greedy-bounds.c bounds the candidates by a
   few scalars of each, greedy-recurrence.c by the error itself, which follows the moves.
   greedy-columns.c keeps columns of C, greedy-lookahead.c guesses the selections to come. */
#ifndef SPARSELS_GREEDY_LAZY_H
#define SPARSELS_GREEDY_LAZY_H

#include "greedy-state.h"
#include "simd.h"
#include <math.h>

enum {
  MIN_BATCH = 4, /* rows of products that one pass over x makes */
  MAX_BATCH = 32,
  MAX_PARTS = 16,     /* groups whose errors are bounded one by one, times outputs */
  SHORT_MOVES = 8,    /* by how much lambda is larger than the columns' squares at the least, where
                         moves change the products with w little */
  SPARE_ROWS = 8,     /* rows of products kept beside those of the members, at the least */
  SIDES = 4,          /* products come in tiles of so many rows */
  MIN_SHORTLIST = 32, /* candidates among which the next selections are looked for */
  MAX_SHORTLIST = 512,
  CHUNK = 8,     /* candidates scored together, whatever the number of threads */
  MIN_SLOTS = 64 /* columns of C that there is memory for, at least */
};

/* With folds, what is kept for every candidate takes at most so many doubles, four gigabytes. */
#define FOLD_MOST_VALUES 0x1p29

/* Rows of products kept: those of the members, and beside them MAX_BATCH, or as many as take 32 MB,
   but SPARE_ROWS at the least. */
static inline int lazy_row_count(const struct greedy *s) {
  const ptrdiff_t spare = greedy_min(MAX_BATCH, ((ptrdiff_t)1 << 22) / greedy_max(s->pb->n, 1));
  return s->control->k + (int)greedy_max(SPARE_ROWS, spare);
}

/* A deferred low-rank update of vectors of m: x[p] := x[p] - sum_l f_l c_l for the moves from[p] <=
   l < to, the multiples in lazy->f, k for each vector. */
struct lazy_downdate {
  int count, to;
  double *x[CHUNK];
  int from[CHUNK];
};

/* How rows are held out: one by one, or by folds. */
struct lazy_rows {
  /* Moves the column under way into what belongs to the rows. */
  void (*commit)(struct greedy *s);

  /* P, w, c_ref and what else the bounds need of the model. */
  void (*measure)(struct greedy *s);

  /* lazy->bound := the sums of squares of up to CHUNK models, each with one more of the columns
     listed, whose scalars are up to date and whose columns become so by the downdate. */
  void (*score)(struct greedy *s, const int *list, const struct lazy_downdate *downdate);
};

/* One fold H, of m rows in all or of the m of another repeat. M = (G_HH)^-1 is kept as it is where
   H has few rows, else by the factor L of E = I - U'U = LL', with M = I + U E^-1 U'. */
struct lazy_fold {
  ptrdiff_t h;
  const int *rows;             /* h */
  int direct;                  /* M itself is kept */
  double *factor;              /* M (h x h), or L by rows, max_rank apart */
  double *U;                   /* h x max_rank, the rows H of Q and of each sqrt(1 / kappa_l) c_l */
  double *g, *w;               /* h x L, outputs m apart: held-out residuals and M times them */
  double *c, *q, *Mq;          /* h, of the move under way c_H, M c_H and M M c_H */
  double *eta, *pivot;         /* see struct greedy_partition */
  double trace, square;        /* sums of the eigenvalues of M - I and of their squares */
  double min_eigen, max_eigen; /* bounds of the eigenvalues of M */
};

struct lazy_folds {
  ptrdiff_t count, repeats, max_h; /* folds of all repeats; the most rows of one */
  ptrdiff_t rank, max_rank;        /* columns of U: q and one for each move */
  ptrdiff_t stride, work_size;     /* of `move`; of the work of one fold */
  struct lazy_fold *fold;          /* count */
  int *fold_of;                    /* m x repeats, the fold of each row */
  double *weight;                  /* count, sum of the case weights */
  double *P, *inverse_null;    /* count each, of folds that are groups of a criterion: the sum of
                                  squares of g, and 1 / the null model's, 0: the group does not
                                  count */
  double *move;                /* stride x count, see struct recurrence_move */
  double *sums;                /* CHUNK x count */
  double min_eigen, max_eigen; /* of M over all folds */
  int can_sweep;               /* there is memory for the engine that scores every candidate */
  double *phi, *top_phi, *nu;  /* L x parts, see struct greedy_bounds_folds */

  /* of greedy-tiles.c */
  double *v, *v_sums; /* 3 x m x repeats, what x is multiplied with, and 2 x count + 1 sums */
  void *tile_scratch; /* tile_size bytes for each thread */
  size_t tile_size;

  /* of greedy-recurrence.c */
  int recurring; /* the errors of all candidates follow the moves */
  int can_recur; /* there is memory for that */
  double slope;  /* how much an error in the squares of a fold changes the criterion at the most */
  double *state; /* for each tile of candidates FOLD_TILE x recurrence_numbers() x count */
  double *QX;    /* n x q, products of x with Q */
};

struct lazy {
  const struct lazy_rows *held_out;
  struct lazy_folds *folds; /* NULL: single rows are held out */

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
  double *c_ref;         /* L x parts, products of the newest c with w_ref */
  int moves;             /* of which W is known */

  /* rows of products of x with columns of C: those of W, and of columns that may be chosen next */
  double *rows;     /* n x lazy_row_count() */
  int *row;         /* n + k, which is column i's, -1: none */
  int *row_owner;   /* lazy_row_count(), -1: none */
  int *row_version; /* lazy_row_count(), how many moves the column had taken part in */
  int next_row;
  double *shared_columns; /* m x MAX_BATCH, working columns whose products are shared */
  int batch, batch_used;  /* how many to make next; how many of those made last were used */

  /* candidates */
  struct greedy_bounds bounds;
  double *bound; /* n, of the sum of squares; the sum itself once computed */
  double *merit; /* n, what the candidate is at best chosen by: the bound, or at a price what
                    follows from it; infinite where it cannot be chosen */

  /* what bounds need of a, d and w */
  ptrdiff_t parts;                     /* of w, the rows of each group, bounded by itself; or 1 */
  double *w, *w_ref, *Gw;              /* m x L, of Gw for each part */
  double *theta0, *theta1, *rest_norm; /* L x parts, w = theta0 w_ref + theta1 a + rho */
  double *part_sum;                    /* n where there are several parts, of their bounds */
  double P, w_norm;
  double inverse_d2;    /* 1 / (max d)^2; of folds the square of the smallest eigenvalue of any M,
                           times the repeats */
  double y_norm2;       /* |y|^2, the covariates' part subtracted */
  double growth;        /* D: how much the moves have amplified rounding */
  double inverse_norm2; /* sum of the squared entries of (X_S'X_S + lambda I)^-1 */
  int exact;            /* the products with w itself are known, rho is 0 */
  ptrdiff_t sharpened;  /* columns whose products with a later w were made */

  const double **v; /* vectors and rows of products of one pass */
  double **out;
  double *products;   /* n x SIDES, or the outputs of all parts if they are more */
  double *few;        /* what bounds are made of for BOUNDS_BLOCK columns */
  double *f;          /* k x CHUNK, multiples of a downdate */
  double *beta;       /* k x L, coefficients of the members */
  double *alpha;      /* L x CHUNK */
  double *block_sums; /* sums over the rows of a block, sums_per_block for each */
  ptrdiff_t sums_per_block;
  int *scored_at;      /* n, the size at which a column was scored last */
  double *best;        /* keep + 1 smallest sums of squares of this step */
  int best_count;      /* of these */
  int *list, *heap;    /* n + 1 */
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
  return s->pb->usable[i] && !s->member[i] && !greedy_is_kept_out(s, i);
}

/* Where the block of rows that begins at `row` keeps its sums. */
static inline double *lazy_sums(const struct lazy *lazy, ptrdiff_t row) {
  return lazy->block_sums + row / ROWS * lazy->sums_per_block;
}

/* The weight by which sums of squares are divided: they are added up over the repeats. */
static inline double lazy_weight(const struct greedy *s) {
  return s->total_weight * s->folds->repeats;
}

/* Whether the criterion is of the folds' own errors, as groups of rows. */
static inline int lazy_is_of_groups(const struct greedy *s) {
  return criterion_is_of_groups(s->control->criterion);
}

/* A bound of the squared length of y beside which products with the rows round. */
static inline double lazy_y_norm(const struct greedy *s) {
  return sqrt(s->lazy->y_norm2 * s->folds->repeats);
}

/* ---- greedy-lazy.c ---- */

/* How many columns of C are kept: all, or as many as take two gigabytes. */
ptrdiff_t lazy_count_slots(const struct problem *pb);

void lazy_lay_out(struct greedy *s, int threads, struct arena *arena);
enum status lazy_begin(struct greedy *s);
enum status lazy_sweep(struct greedy *s);
void lazy_commit(struct greedy *s);

/* ---- greedy-tiles.c ---- */

/* What a thread has for a tile of columns. */
struct tile_scratch {
  double *sums;     /* for each fold one or two rows of FOLD_TILE */
  double *total;    /* FOLD_TILE */
  double *along;    /* max_rank rows of FOLD_TILE, products with the columns of U */
  double *kappa;    /* FOLD_TILE */
  double *products; /* L rows of FOLD_TILE */
  double *error, *worst;
  double *block; /* FOLD_TILE x ROWS, of elements that are not doubles */
};

void tile_lay_out(
    const struct greedy *s, struct lazy_folds *folds, int threads, struct arena *arena);

/* Calls work(s, from, scratch) for each tile of columns from .. from + FOLD_TILE in turn, in
   parallel, and polls the host; cost: products that a column takes. */
typedef void tile_work(struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch);
enum status tile_each(struct greedy *s, double cost, tile_work *work);

/* scratch->sums := for each fold the sum of squares of its rows, the columns centred, scaled and
   weighted. */
void tile_squares(const struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch);

/* scratch->total := products with the first of three vectors folds->v; scratch->sums := for each
   fold those with the other two. */
void tile_products(const struct greedy *s, ptrdiff_t from, struct tile_scratch *scratch);

/* ---- greedy-recurrence.c ---- */

/* Whether there is memory for the errors of all candidates, and they can follow the moves. */
int recur_fits(const struct problem *pb, const struct folds *folds);

/* Lays out what errors that follow the moves need. */
void recur_lay_out(const struct greedy *s, struct lazy_folds *folds, struct arena *arena);

/* From the columns themselves, the state of every candidate. */
enum status recur_begin(struct greedy *s);

/* Brings all candidates up to date with the move under way, if `moved`, and lazy->bound := their
   errors, lowered by what rounding may have done to them. */
enum status recur_bounds(struct greedy *s, int moved);

/* The smallest merit of each block of candidates. */
void recur_find_minima(const struct greedy *s);

/* ---- greedy-folds.c ---- */

/* How many doubles the columns of C and D take, of which the engine that scores every candidate has
   all. */
double fold_dense_size(const struct problem *pb, const struct folds *folds);

/* The criterion of squares, or of groups, times lazy_weight(): of a model with these changes of the
   error of each fold, `stride` apart. */
double fold_total(const struct greedy *s, const double *change, ptrdiff_t stride);

/* v (m) := the rows of w of fold H, the others being 0; of output l. */
void fold_put_w(const struct greedy *s, ptrdiff_t H, ptrdiff_t l, double *v);

/* Splits the parts of w into theta0 w_ref + rho. */
void fold_split_w(struct greedy *s);

/* The numbers of one fold of a candidate whose column of C is c (m): recurrence_numbers() of them.
   work: work_size. */
void fold_numbers(const struct greedy *s, const struct lazy_fold *fold, const double *c,
    double *work, double *numbers);

/* ---- greedy-bounds.c ---- */

/* How many groups bounds are made for, one by one: their largest error is no less than the bound of
   any of them. 1: bounds are of the sum over all rows. */
ptrdiff_t lazy_part_count(const struct greedy *s);

/* A sum over all rows, in the order of the blocks whichever thread made them. */
double lazy_total(const struct greedy *s, ptrdiff_t which);

/* How much of a product may be rounding: that of a sum of m terms, times what the moves have
   amplified it. */
double lazy_rounding(const struct greedy *s);

/* v (m) := G v. O(m (size + q)). */
void lazy_multiply_G(struct greedy *s, double *v);

/* The next pass multiplies x with G w as well, of each output of each part, and puts the products
   into `out`, n for each; `before` vectors come before these. Returns how many they are. */
ptrdiff_t lazy_aim_at_w(struct greedy *s, ptrdiff_t before, double *out);

/* w_ref := w, when the products with w have been computed. */
void lazy_refer_to_w(struct greedy *s);

/* Splits w into theta0 w_ref + theta1 a + rho for each output. */
void lazy_split_w(struct greedy *s);

/* w, P, inverse_d2 and c'w_ref of the current model, single rows being held out. */
void lazy_update_w(struct greedy *s);

/* lazy->bound := the lower bounds. */
void lazy_evaluate_bounds(struct greedy *s);

/* Raises the bounds of the columns listed by the products C_i'w_l = x_i'G w_l themselves. */
enum status lazy_sharpen(struct greedy *s, const int *list, ptrdiff_t count);

/* beta (ld x L) := the working coefficients of the members, in the order chosen. */
void lazy_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld);

/* ---- greedy-columns.c ---- */

/* Writes all candidates to list; returns how many. */
ptrdiff_t lazy_list_candidates(const struct greedy *s, int *list);

/* The same of all usable columns, members among them. */
ptrdiff_t lazy_list_usable(const struct greedy *s, int *list);

/* Adds the products of the columns listed with r vectors lazy->v to lazy->out. */
enum status lazy_add_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r);

/* lazy->out := those products. */
enum status lazy_products(struct greedy *s, const int *list, ptrdiff_t count, ptrdiff_t r);

/* Whether the products of column i with those of this shard are known, of some version. */
int lazy_has_products(const struct greedy *s, ptrdiff_t i);

/* A row of products for the last of the columns listed, `others` come before it. */
void lazy_assign_row(struct greedy *s, const int *list, int others);

void lazy_apply(struct greedy *s, const struct lazy_downdate *downdate);

/* Brings the listed columns of C, fewer than MIN_SLOTS, as far as W is known. */
void lazy_update_columns(struct greedy *s, const int *list, int count);

/* kappa and g of the listed columns from the columns themselves, which are up to date in C. */
void lazy_recompute(struct greedy *s, const int *list, int count);

/* The scores of single rows, see struct lazy_rows. */
void lazy_score_rows(struct greedy *s, const int *list, const struct lazy_downdate *downdate);

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
