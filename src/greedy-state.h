/* The state of a greedy search and what the files of the family share: greedy.c chooses the moves,
   an engine carries them out. greedy-sweep.c has the engines that score every candidate, on a state
   that greedy-cache.c makes from a set; greedy-lazy.c and greedy-folds.c have those that skip
   candidates; greedy-groups.c scores columns that move together. */
#ifndef SPARSELS_GREEDY_STATE_H
#define SPARSELS_GREEDY_STATE_H

#include "greedy.h"
#include "work.h"

/* The price of a column whose assay is paid for: so little that the least gain counts more than the
   largest at a price. */
#define FREE_PRICE 1e-30

/* Products for which a second thread is worth waking, and waiting for the next ones: by OpenMP's
   default a thread without work stays awake for milliseconds. */
#ifndef PARALLEL_FROM
#define PARALLEL_FROM 250000
#endif

enum {
  PANEL = 64,   /* columns that pass through BLAS together */
  FOLLOWED = 8, /* moves, or columns that move together, that stay in a cache */
  ROWS = 512    /* rows of a block, of which a few columns stay in the nearest cache */
};

/* The state that belongs to one partition into folds of more than one row, in fold order. */
struct greedy_partition {
  int count;
  int *order; /* m, the rows fold by fold; for an AUC the positive ones of a fold first */
  const int *start;
  double *rows;  /* m x (L + 2): response, root_w of `weighted` and divisor */
  int *query;    /* m, NULL without queries */
  int *group;    /* m, of a criterion of groups */
  double *D;     /* m x n, (G_HH)^-1 C_H; where columns are not kept, that of the move under way */
  double *M;     /* m x M_width where columns are not kept, what makes D, fold by fold */
  int *direct;   /* count, whether that is (G_HH)^-1 itself; else it is I + MM' */
  double *g;     /* m x L, held-out residuals */
  double *q;     /* m, column of D of the move under way */
  double *c;     /* m, column of C of the move under way */
  double *eta;   /* count */
  double *pivot; /* count, about the smallest eigenvalue of G_HH, as far as digits went with it */
  double ss;     /* sum of squares of g */
};

/* What a move is chosen by: the criterion, and of equal ones the squared error. */
struct greedy_score {
  double value, tie;
};

struct greedy;

/* How the state follows a move and candidates are scored: leave-one-out or folds of several rows,
   either of them with candidates skipped or all scored. */
struct greedy_engine {
  /* Lays out the parts of the state that only this engine has. */
  void (*lay_out)(struct greedy *s, int threads, struct arena *arena);

  /* Makes the state of the set that the search starts from. */
  enum status (*begin)(struct greedy *s);

  /* Brings the columns up to date with the last move and scores moving them next: s->score of the
     columns s->scored. */
  enum status (*sweep)(struct greedy *s);

  /* Brings column i up to date with the move under way; `scratch` is a thread's. NULL where columns
     never move together. */
  void (*follow)(struct greedy *s, ptrdiff_t i, double *scratch);

  /* Moves column s->b into or out of what has m entries or fewer: x_b and what follows of the move
     under way, a, d and the folds. */
  void (*commit)(struct greedy *s);

  /* beta (ld x L) := the working coefficients of the members, in the order chosen. */
  void (*coefficients)(const struct greedy *s, double *beta, ptrdiff_t ld);

  /* The criterion of the current model; NULL: by its held-out residuals. */
  struct estimate (*estimate)(const struct greedy *s);

  /* s->residual (m x L) := the held-out residuals of one repeat, user's units. */
  void (*hold_out)(struct greedy *s, int repeat);

  /* Writes the residuals of the best model to the result: held out, mean over repeats, and in
     sample. s->residual are the held-out ones of the last repeat. */
  void (*keep_residuals)(struct greedy *s);

  /* What held-out residuals are divided by, at the least, beside 1. */
  double (*min_pivot)(const struct greedy *s);
};

extern const struct greedy_engine greedy_leave_one_out, greedy_folds;
extern const struct greedy_engine greedy_given;                       /* that chooses nothing */
extern const struct greedy_engine greedy_lazy, greedy_lazy_folds;     /* that skip candidates */
extern const struct greedy_engine greedy_reread, greedy_reread_folds; /* that keep no columns */
extern const struct greedy_engine greedy_by_products;                 /* that has no rows */

/* Letters as in the paper, scaled by lambda: G is lambda (XX' + lambda I)^-1 less its part along
   the covariates. */
struct greedy {
  const struct problem *pb;
  struct problem weighted; /* the same with the weights by which the criterion counts rows */
  const struct folds *folds;
  const struct greedy_control *control;
  const struct greedy_engine *engine;
  struct host *host;
  struct greedy_result *out;

  double *weights;   /* m, root_w of `weighted` */
  double *C;         /* m x n, G X */
  int *slot;         /* where each column is in C, -1: nowhere; NULL: where it is in X */
  double *a;         /* m x L, G y */
  double *d;         /* m, diagonal of G */
  double *kappa;     /* n, x_i'C_i + lambda for a candidate, x_i'C_i - lambda for a member */
  double *kappa_ref; /* n, kappa when it was last computed directly */
  double *t;         /* L x n, x_i'a; lambda times the coefficient for a member */
  double *pairs;     /* positives x negatives of G, for leave-pair-out */
  struct greedy_partition *part;
  int parts; /* 0 for leave-one-out */

  /* Columns of other shards that have joined are numbered behind the n of this one. */
  int *member; /* n + k */
  int *order;  /* the members in the order chosen */
  int size;
  int groups;             /* of the members, a column on its own being one */
  int *taken;             /* how many members each group has */
  int within_group;       /* whether other columns of the group of the last move are to follow it */
  int *needed;            /* n, how many members ask for each column; NULL where none can */
  ptrdiff_t usable_count; /* columns that are usable */
  ptrdiff_t own_members;  /* members among the n */
  int *positive, *negative, positives, negatives;

  /* the move under way, applied to each column by the next sweep */
  ptrdiff_t b; /* -1: none */
  double kappa_b, factor_b;
  double *x_b, *c_b, *t_b;       /* m, m, L, before the move; x_b is filled by the caller where b is
                                    a column of another shard */
  double read_norm2_b;           /* so is this: the square by which rounding in
                                    products with it is measured */
  int dropped;                   /* whether b leaves the set */
  double x_b_square, c_b_square; /* in searches that drop */

  /* P = (X_S'X_S + lambda I)^-1 in the order of the members, of searches that drop */
  double *inverse;         /* inverse_order x inverse_order */
  ptrdiff_t inverse_order; /* the largest set that it has memory for, at most m */
  int inverse_valid;       /* whether it is that of the members */
  double *inverse_b;       /* n, column b of P before b is dropped, by column of x */

  struct greedy_score *score; /* n, of moving each column */
  int *scored;                /* n, the columns whose score is up to date, in any order */
  ptrdiff_t scored_count;
  double *gain; /* one more than members at most, what the last addition to reach a size brought */
  struct greedy_score *seen; /* as many, best score met at each size */
  struct greedy_score tolerance, best;
  double now;          /* criterion of the current model */
  double *price;       /* n, what each column costs in addition to the members; or NULL */
  double spent;        /* what the members cost */
  double total_weight; /* L times the sum of the weights */
  double weight;       /* sum of those by which the criterion counts rows */
  double *residual;    /* m x L */
  double *scratch;     /* threads x scratch_size */
  size_t scratch_size;
  ptrdiff_t max_start; /* the largest set that the state is made of from scratch */
  void *start_work;    /* for greedy_start() */
  int from_G;          /* whether a and d were made from G itself, and have all their digits */
  int since_start;     /* columns dropped since the state was made afresh */
  int since_best;      /* moves without improvement */
  struct given *given; /* of the engine whose moves are all given */
  int given_count;     /* given columns that join, fewer where sizes are left */
  struct lazy *lazy;   /* of the engines that skip candidates */
  struct products_state *state; /* of the one that has no rows */
  struct reread *reread; /* of those that keep no columns of C but the members'; M_width: of a fold
                            of h rows M has h times as many numbers, at most */
  ptrdiff_t M_width;
  struct greedy *queue; /* FOLLOWED, the state at moves that the columns have yet to follow, all of
                           which move together; NULL without such, or in searches that drop */
  int queued;
  double *products; /* most members x n, x_i'C_b of each move in turn, of columns that followed it
                       as candidates: members then need not follow; NULL in searches that drop */
  double *moved_kappa;   /* most members, of each move */
  double *moved_t;       /* L x most members, of each move */
  double *group_scratch; /* threads x group_scratch_size, of columns that move together */
  size_t group_scratch_size;
};

static inline ptrdiff_t greedy_min(ptrdiff_t a, ptrdiff_t b) {
  return a < b ? a : b;
}

static inline ptrdiff_t greedy_max(ptrdiff_t a, ptrdiff_t b) {
  return a > b ? a : b;
}

/* Column i of C. */
static inline double *greedy_column(const struct greedy *s, ptrdiff_t i) {
  return s->C + (s->slot == NULL ? i : s->slot[i]) * s->pb->m;
}

/* The group of column i, -1: none. */
static inline int greedy_group_of(const struct greedy *s, ptrdiff_t i) {
  return s->control->groups.rule == NO_GROUPS ? -1 : s->control->groups.of[i];
}

/* Whether another column of its group keeps column i out. */
static inline int greedy_is_kept_out(const struct greedy *s, ptrdiff_t i) {
  const int group = s->control->groups.rule == AT_MOST_ONE ? greedy_group_of(s, i) : -1;
  return group >= 0 && s->taken[group] > 0 && !s->member[i];
}

/* Whether the columns that column i asks for are members. */
static inline int greedy_needs_are_met(const struct greedy *s, ptrdiff_t i) {
  const struct column_needs *needs = &s->control->needs;
  if (needs->start == NULL)
    return 1;
  for (int p = needs->start[i]; p < needs->start[i + 1]; p++)
    if (!s->member[needs->columns[p]])
      return 0;
  return 1;
}

/* A column that may still be added or dropped. */
static inline int greedy_in_play(const struct greedy *s, ptrdiff_t i) {
  switch (s->control->search) {
  case FORWARD:
    return s->pb->usable[i] && !greedy_is_kept_out(s, i) && (s->products == NULL || !s->member[i]);
  case BACKWARD:
    return s->pb->usable[i] && s->member[i];
  default:
    return s->pb->usable[i];
  }
}

/* Whether the next column to add is given, so that no candidate needs a score. */
static inline int greedy_next_is_given(const struct greedy *s) {
  return s->control->search != BACKWARD && s->out->moves < s->given_count;
}

/* Whether column i could be added: it is no member, none of its group keeps it out, what it asks
   for is there, and it is not beyond the budget. */
static inline int greedy_can_add(const struct greedy *s, ptrdiff_t i) {
  return s->pb->usable[i] && !s->member[i] && !greedy_is_kept_out(s, i) &&
         greedy_needs_are_met(s, i) &&
         (s->price == NULL || s->spent + s->price[i] <= s->control->budget);
}

/* Whether column i could be dropped: it is a member for which no other asks. */
static inline int greedy_can_drop(const struct greedy *s, ptrdiff_t i) {
  return s->member[i] && (s->needed == NULL || s->needed[i] == 0);
}

/* What column i is chosen by when adding it makes the criterion `value`, the least being best: that
   or, at a price, the change for the price. Of columns that do not lower the criterion the price
   does not count. It does not fall as the value rises. */
static inline double greedy_merit(const struct greedy *s, ptrdiff_t i, double value) {
  if (s->price == NULL)
    return value;
  const double loss = value - s->now;
  return loss > 0 ? loss : loss >= -s->tolerance.value ? 0 : loss / s->price[i];
}

/* The same, the value lowered by what ties allow. */
static inline double greedy_merit_of_tie(const struct greedy *s, ptrdiff_t i, double value) {
  return greedy_merit(s, i, value - s->tolerance.value);
}

/* Whether the search can drop columns. */
static inline int greedy_drops(const struct greedy *s) {
  return s->control->search != FORWARD;
}

/* Whether pairs of rows are held out together: leave-one-out by the area under the curve. */
static inline int greedy_by_pairs(const struct greedy *s) {
  return s->folds->loo && s->control->criterion == AUC;
}

/* Asks the host whether to stop. */
static inline int greedy_stopped(const struct greedy *s) {
  s->host->columns_read = s->out->work.columns_read;
  return s->host->stop(s->host, s->out->moves, s->control->k);
}

/* ---- greedy.c ---- */

/* The most members that the search may have. */
ptrdiff_t greedy_most_members(const struct greedy *s);

/* How many columns could be added. */
ptrdiff_t greedy_count_candidates(const struct greedy *s);

/* ---- greedy-blocks.c: loops over columns and over blocks of rows ---- */

/* The end of a thread's scratch, for a criterion. */
static inline double *greedy_criterion_work(const struct greedy *s, double *scratch) {
  return scratch + s->pb->m * (s->pb->L + 2) + s->pb->L;
}

/* Calls work(s, i, scratch) for the columns that are in play, in parallel, and polls the host
   between groups of columns; cost: products that a column takes. */
typedef void greedy_column_work(struct greedy *s, ptrdiff_t column, double *scratch);
enum status greedy_each_column(struct greedy *s, double cost, greedy_column_work *work);

/* Calls work(s, with, row, rows) for one block of rows after the other, in parallel where there is
   enough to do: `passes` products with every row. A block is always the same thread's, so its part
   of a, d and the columns chosen stays in the cache of that processor. */
typedef void greedy_block_work(struct greedy *s, const void *with, ptrdiff_t row, ptrdiff_t rows);
void greedy_each_block(
    struct greedy *s, ptrdiff_t passes, greedy_block_work *work, const void *with);

/* ---- greedy-cache.c: the state from scratch ---- */

/* Bytes of workspace that greedy_start() needs for sets of up to `size` columns. */
size_t greedy_start_work(const struct problem *pb, const struct folds *folds, ptrdiff_t size);

/* Makes C, a, d, kappa, t, P and the folds' D and g afresh from X and the set order[0 .. size). */
enum status greedy_start(struct greedy *s);

/* What makes the columns of C of a set: T (m x size) with G = I - QQ' - TT', and the triangular
   factor R of X_S = TR; of more than m columns G itself. */
struct greedy_set {
  const double *T, *square;
};

/* Makes a, d, P, the folds' g and M, and of the members C and kappa afresh from the set order[0 ..
   size), whose columns are in C as they are in X; of more than m members C stays as it is. */
enum status greedy_start_set(struct greedy *s, struct greedy_set *set);

/* (G_HH)^-1 of the h rows of a fold. */
struct greedy_fold_inverse {
  int direct; /* `factor` is that of G_HH; else (G_HH)^-1 = I + UU' */
  ptrdiff_t h, rank;
  const double *factor, *U;
};

/* The part of the state that belongs to no column, a and d, of the empty set. */
void greedy_start_rows(struct greedy *s);

/* Moves column s->b into or out of P. Only in searches that drop. */
void greedy_commit_inverse(struct greedy *s);

/* ---- greedy-sweep.c: the engines that score every candidate ---- */

/* Moves column s->b, whose column of C is s->c_b, into or out of a and d. */
void greedy_commit_rows(struct greedy *s);

/* Whether column i is scored: members by searches that drop, candidates by those that choose. */
int greedy_is_scored(const struct greedy *s, ptrdiff_t i);

/* Lists the columns that are scored, and counts them. */
void greedy_list_scored(struct greedy *s);

/* The criterion of moving column i, whose column of C becomes c less f c_b; pairs apart. */
struct greedy_score greedy_loo_score(
    struct greedy *s, ptrdiff_t i, double *c, double f, double *scratch);

/* The same by the folds of one repeat, summed over rows; q is the column of D, which follows the
   last move if there is one, v being x_i'C_b. */
struct greedy_score greedy_folds_score(struct greedy *s, int repeat, ptrdiff_t i, const double *c,
    double *q, double v, double *scratch);

/* The score of all repeats from the sum over them. */
struct greedy_score greedy_folds_mean(const struct greedy *s, struct greedy_score sum);

/* Products that a column takes by folds: ordering a row for pairs takes the time of ten. */
double greedy_folds_cost(const struct greedy *s);

/* part->ss of all repeats. */
void greedy_folds_sum_squares(struct greedy *s);

/* beta (ld x L) := the working coefficients of the members, the move under way included. */
void greedy_sweep_coefficients(const struct greedy *s, double *beta, ptrdiff_t ld);

/* A model given by a less c t / kappa, d and pairs less c c' / kappa, and its leave-pair-out AUC
   loss. */
struct pair_candidate {
  const double *c;
  double kappa, t, loss;
};

/* Evaluates up to eight of them. O(positives x negatives) each. `work`: as many doubles as
   greedy_pairs_work() tells. */
void greedy_evaluate_pairs(
    const struct greedy *s, struct pair_candidate *candidate, int count, double *work);
size_t greedy_pairs_work(const struct greedy *s);

/* The criterion of one repeat from residuals in fold order at the beginning of `scratch`. */
double greedy_folds_evaluate(const struct greedy *s, double *scratch, int repeat);

/* Of the engine for leave-one-out; the one that skips candidates has them, too. */
void greedy_loo_hold_out(struct greedy *s, int repeat);
void greedy_loo_keep_residuals(struct greedy *s);
double greedy_loo_min_pivot(const struct greedy *s);

/* Of the engine for folds, which the others share. columns: of D that are kept. */
void greedy_lay_out_parts(struct greedy *s, ptrdiff_t columns, struct arena *arena);
void greedy_order_rows(struct greedy *s); /* once, after s->weighted */
void greedy_folds_hold_out(struct greedy *s, int repeat);
void greedy_folds_keep_residuals(struct greedy *s);
double greedy_folds_min_pivot(const struct greedy *s);

/* ---- greedy-groups.c: columns that move together ---- */

/* Lays out what their scores need. */
void greedy_lay_out_groups(struct greedy *s, int threads, struct arena *arena);

/* Scores moving each group of two columns or more, the columns being up to date. */
enum status greedy_score_groups(struct greedy *s);

/* ---- greedy-reread.c: the engines that score every candidate and keep no columns ---- */

/* Lays out what they need. */
void reread_lay_out(struct greedy *s, int threads, struct arena *arena);

/* Leaves the rest of the search to them and scores every candidate. */
enum status reread_take_over(struct greedy *s);

/* Keeps the inverse of fold f in part->M; its factor, if it has one, is lost. */
void reread_keep_fold(const struct greedy *s, struct greedy_partition *part, int f,
    const struct greedy_fold_inverse *inverse, double *factor);

/* ---- greedy-products.c: the engine that has no rows ---- */

/* y'y of the training set, and the sum of its case weights. */
double greedy_products_total(const struct greedy *s);
double greedy_products_weight(const struct greedy *s);

/* ---- greedy-given.c: the engine whose moves are all given ---- */

/* Whether the moves of a forward search by leave-one-out are all given, on so many rows and at so
   large a lambda that the factor of products of columns serves it. */
int given_are_all(const struct greedy *s);

/* How many numbers the products of the given columns are; 0 in other engines. */
ptrdiff_t given_products_of(const struct greedy *s);

/* ---- greedy-lazy.c: the engine that skips candidates ---- */

/* Whether candidates can be skipped: forward search by the squared error, or by the squared errors
   of groups of rows that are folds, if the errors of folds can follow the moves. */
int lazy_can_skip(const struct greedy *s);

#endif
