/* Greedy regularised least-squares. */
#ifndef SPARSELS_GREEDY_H
#define SPARSELS_GREEDY_H

#include "criterion.h"
#include "likelihood.h"
#include "products.h"

/* None, by lower bounds as long as they pay, or at once by errors that follow the moves where rows
   are held out by folds. */
enum skipping { SKIP_NONE = 0, SKIP_BY_BOUNDS = 1, SKIP_BY_RECURRENCE = 2 };

enum search { FORWARD = 0, BACKWARD = 1, FLOATING = 2, FORWARD_BACKWARD = 3 };

/* What searches on one x, with the same weights, covariates and folds, share, whatever their
   response and lambda: products of working columns with each other, which one search makes and the
   others find; and, by folds, how long the columns are. */
struct greedy_shared {
  int capacity, count; /* of rows of products */
  int *place;          /* n, which row is the column's, -1: none */
  double *rows;        /* n x capacity */
  double *fold_norm;   /* n, the largest length of a column's rows of one fold */
  int measured;        /* whether that is known */
};

/* Groups of columns: those of one group move together, or one of them at most is a member. */
enum group_rule { NO_GROUPS = 0, MOVE_TOGETHER = 1, AT_MOST_ONE = 2 };

struct column_groups {
  enum group_rule rule;
  int count;
  const int *of;      /* n, the group of each column, -1: on its own */
  const int *start;   /* count + 1, where the columns of each group begin in `columns` */
  const int *columns; /* usable columns, group by group, the lowest first */
};

/* The columns that move with column i, itself among them: as many as *count. NULL: no other does.
 */
static inline const int *columns_together(
    const struct column_groups *groups, ptrdiff_t i, int *count) {
  const int group = groups->rule == MOVE_TOGETHER ? groups->of[i] : -1;
  *count = group < 0 ? 1 : groups->start[group + 1] - groups->start[group];
  return group < 0 ? NULL : groups->columns + groups->start[group];
}

/* Whether column i stands for its group: the first of those that move together. */
static inline int stands_for_group(const struct column_groups *groups, ptrdiff_t i) {
  int count;
  const int *columns = columns_together(groups, i, &count);
  return columns == NULL || columns[0] == i;
}

/* How many columns the largest group has. */
ptrdiff_t greedy_largest_group(const struct column_groups *groups);

/* What columns ask for: column i is a member only beside all of the columns needs[start[i] ..
   start[i + 1]), and these stay as long as it is one. Of columns that move together the first asks,
   and is asked for, in the name of its group. */
struct column_needs {
  const int *start; /* n + 1; NULL: no column asks for any */
  const int *columns;
};

/* Rows that are known by their products alone, of a problem without rows (m = 0): forward search by
   the squared error of its folds. */
struct greedy_products {
  const struct fold_products *of; /* NULL: rows are known */
  int without;                    /* the fold that is not in the training set, -1: none */
  int fold_sizes;      /* how many sizes, from 0 on, have the coefficients without each fold */
  const int *variable; /* n + q + L, the columns, covariates and responses among the ones of `of` */
  const double *turn;  /* width x n, by which column i multiplies the columns of its unit, in their
                          order; NULL: columns are the ones of `of` */
  ptrdiff_t width;
};

struct greedy_control {
  double lambda;
  double nu; /* forward-backward: drop when it costs at most nu times the last gain at this size */
  int k;     /* models of size 0..k are kept; size counts groups, a column on its own is one */
  int patience; /* stop after so many moves without improvement; 0: never */
  int keep;     /* runners-up kept at each step */
  int max_moves;
  enum search search;
  enum criterion criterion;
  struct row_groups row_groups; /* of a criterion of groups, each of which is within a fold */
  int group_folds;              /* whether each of these is a fold, of a single partition */
  const int *given;       /* columns that a search adds first, in this order, those of other shards
                             numbered n or higher; those that a backward search begins with, all usable
                             ones if none are given */
  int given_count;        /* at most k, unless backward */
  const double *price;    /* n, at least 1, of a forward search by gains per price; or NULL */
  const int *assay;       /* n, the assay that has the column, -1: none; its price is paid once */
  double budget;          /* the most that the columns chosen may cost together */
  int classes;            /* the response has classes, whose zero-one errors are wanted */
  enum skipping skipping; /* of candidates that provably cannot win, where that can be done */
  struct greedy_shared *shared; /* by bounds, or NULL */
  int rereads; /* where every candidate is evaluated, columns of C are made from x at each step and
                  not kept */
  int shard;   /* whether other processes have other columns */
  struct column_groups
      groups;       /* MOVE_TOGETHER where every candidate is evaluated and columns are kept */
  int most_columns; /* that k groups have, at the most; 0: k */
  struct column_needs needs; /* that the given columns meet; of the columns of one process */
  struct greedy_products products;
  const double *ceiling; /* k + 1, with all columns given, by products or on many rows: the mean
                            squared error above which a size from 1 on is of no use; NULL: none */
  const double *gram;    /* greedy_given_products(), as an earlier search has them; NULL: to make */
};

struct greedy;

/* What a search took. */
struct greedy_work_done {
  double candidates;   /* columns that could have been moved, summed over the steps */
  double evaluated;    /* of these, those whose criterion was computed */
  double columns_read; /* columns of x read, the same one as often as it was */
  int recurrence_from; /* the step from which errors followed the moves; -1: never */
  int dense_from;      /* the step from which every candidate was evaluated; -1: never */
  int reread_from;     /* the same, each of them from its column of x; -1: never */
#ifdef SPARSELS_CHECK_BOUNDS
  double bounds, broken; /* bounds that were compared with what they bound; those above it */
#endif
};

/* Filled by the kernel. Criteria are losses: smaller is better. Residuals are in the user's units.
   Columns count from 0. */
struct greedy_result {
  int moves;         /* path entries 0..moves, entry 0 is the start */
  int best;          /* size of the best model, -1 if none */
  int *feature;      /* max_moves + 1, column of each move, of a group the first; -1 at the start */
  int *size;         /* max_moves + 1, size after the move */
  double *loss, *se; /* max_moves + 1 each, the criterion; DBL_MAX where the ceiling of the size is
                        sure to be exceeded */
  double *squared;   /* max_moves + 1, weighted mean squared held-out residual */
  double *error;     /* max_moves + 1, zero-one error; 0 without classes */
  double *pivot;     /* max_moves + 1, the least that held-out residuals are divided by, or 1: they
                        have lost as many digits */
  int *model_entry;  /* k + 1, path entry of the best model of each size, -1 if none */
  int *model; /* c x (k + 1), c being the most columns of a model: column s holds the features
                 of size s in the order chosen */
  int *model_columns; /* k + 1, how many these are; s without groups */
  double *beta;       /* c x L x (k + 1), their working coefficients */
  double *covariates; /* q x L x (k + 1), by products: coefficients of Q beside centred columns */
  double *fold_beta,
      *fold_covariates; /* c or q x L x folds x fold_sizes, the same without each fold */
  double *held_out;     /* m x L, held-out residuals of the best model, mean over repeats */
  double *fitted;       /* m x L, its residuals on the training rows */
  int *runner_up;       /* keep x (max_moves + 1), of each move, -1 where there are fewer */
  double *runner_up_loss;
  double *gram; /* greedy_given_products(); NULL: not kept */
  struct greedy_work_done work;
};

/* The most columns of a model of k groups. */
static inline int greedy_most_columns(const struct greedy_control *control) {
  return control->most_columns > 0 ? control->most_columns : control->k;
}

/* How many numbers the products of the given columns with each other and with y are, which a search
   at another lambda can use again; 0 where the search makes none. */
ptrdiff_t greedy_given_products(
    const struct problem *pb, const struct folds *folds, const struct greedy_control *control);

/* Bytes of workspace that greedy_rls() needs. */
size_t greedy_work(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, int threads);

/* Selects features by the exact cross-validated error of the ridge model on them.
   Pahikkala, Airola and Salakoski 2010, Algorithm 3, for any partition, covariates, weights and
   several outputs, adding and dropping. O(mn) a move with LOO and for each repeat of any N-fold
   partition. */
enum status greedy_rls(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result);

/* ---- the same search in steps, for columns that several processes share ----

   Each of the processes, the shards, has some columns of x and all of the rest, and runs the search
   with every column that is chosen, its own or another's. One more has no columns at all: its path
   is the result. A move depends on the working column alone (lazy_commit()), so it is the same to
   the bit in every shard, and in the one that greedy_rls() is. Only forward search by the squared
   error that skips candidates, without prices. */

/* Begins a search; *status is COMPLETE if it can go on. What it is given must last as long as the
   search does, which lives in `work`. */
struct greedy *greedy_open(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result, enum status *status);

/* Scores the columns of this shard, unless the next one is given; *best := the least criterion,
   infinite if there is none. */
enum status greedy_score_moves(struct greedy *s, double *best);

/* The lowest column of this shard whose score ties with `best`, the least of all shards, -1: none.
   All that tie have been scored, as bounds leave out none that ties with the shard's own best. */
ptrdiff_t greedy_first_tie(const struct greedy *s, double best);

/* x (m) := working column i; returns the square by which rounding in products with it is measured.
 */
double greedy_read_column(struct greedy *s, ptrdiff_t i, double *x);

/* Moves column i, or adds another shard's working column x (m), and records the model. Returns
   whether the search goes on; else *status is how it ended. */
int greedy_move(struct greedy *s, ptrdiff_t i, enum status *status);
int greedy_move_other(struct greedy *s, const double *x, double read_norm2, enum status *status);

/* ---- search by a likelihood ---- */

struct likelihood_control {
  const struct likelihood *loss;
  double lambda;
  int k;            /* columns, or groups, of the largest model */
  int refits;       /* candidates of a step whose models are made, at most */
  int patience;     /* stop after so many moves without improvement; 0: never */
  const int *given; /* columns that are added first, in this order, of a group the first */
  int given_count;  /* at most k */
  struct column_groups groups;
  int most_columns;       /* that k groups have, at the most */
  const double *ceiling;  /* k + 1, the mean deviance above which a size from 1 on is of no use */
  const double *response; /* m, as it was observed, the offset in it */
  const double *start;    /* q, coefficients of Q near the null model */
  double ridge;           /* of the coefficients of Q, 0 where they have an optimum without */
  double unit;            /* about how large the response is */
};

/* Filled by the kernel. Models of sizes 0..k count columns, or groups that move together. Arrays
   hold one part for each size. Of a size above its ceiling `loss` is infinite, and the other parts
   are incomplete. */
struct likelihood_result {
  int moves;         /* models 0..moves are there */
  int *feature;      /* k + 1, the column added for each size, of a group the first */
  int *columns;      /* k + 1, how many columns the model has */
  int *members;      /* most_columns, all columns in the order added */
  int *refits;       /* k + 1, candidates whose models were made; 0 for a given column */
  int *exact;        /* k + 1, whether no other candidate was better, proved by bounds */
  double *objective; /* k + 1, half of the deviance plus lambda / 2 |b|^2 */
  double *beta;      /* most_columns x (k + 1), of the members */
  double *u;         /* q x (k + 1), of Q / divisor */
  double *fitted;    /* m x (k + 1), linear predictors less the offset */
  double *held_out;  /* m x repeats x (k + 1), the same by models without the row's fold */
  double *loss;      /* k + 1, the mean deviance of the rows held out */
  double *deviance;  /* all folds of all partitions x (k + 1), their parts of it as sums; of a loss
                        that ties rows together the deviance of all rows less the deviance of the
                        others, by the model of the others */
};

/* Bytes of workspace that greedy_likelihood() needs. */
size_t greedy_likelihood_work(const struct problem *pb, const struct folds *folds,
    const struct likelihood_control *control, int threads);

/* Forward selection by the deviance plus lambda |b|^2. Every model, also without each fold, is
   trained by Newton's method until nothing is left to gain. Candidates are ranked by the gain of
   one step, and the models of those are made whose bound of the gain is above the best gain. A
   size is left where its deviance is sure to exceed the ceiling, and a given column with a ceiling
   below 0 is added without a model. Columns of a group move together. O(mn) a move, O(m p) a
   candidate that is ranked with p columns in the set, O(m p^2) a model. */
enum status greedy_likelihood(const struct problem *pb, const struct folds *folds,
    const struct likelihood_control *control, struct host *host, void *work,
    struct likelihood_result *result);

#endif
