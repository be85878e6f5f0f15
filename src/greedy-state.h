/* The state of greedy RLS, shared by greedy.c, which moves it; start.c, which makes it from a set;
   and lazy.c, which does without most of it. */
#ifndef SPARSELS_GREEDY_STATE_H
#define SPARSELS_GREEDY_STATE_H

#include "greedy.h"
#include "work.h"

enum {
  PANEL = 64,    /* columns that pass through BLAS together */
  ROWS = 512,    /* rows of a block, of which a few columns stay in the nearest cache */
  SHARED = 16000 /* products for which a second thread is worth waking */
};

/* What is held for each partition into folds of more than one row, in fold order. */
struct partition {
  int count;
  const int *order, *start;
  double *D;     /* m x n, (G_HH)^-1 C_H */
  double *g;     /* m x L, held-out residuals */
  double *q;     /* m, column of D of the move under way */
  double *c;     /* m, column of C of the move under way */
  double *eta;   /* count */
  double *pivot; /* count, about the smallest eigenvalue of G_HH, as far as digits went with it */
  double ss;     /* sum of squares of g */
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
  int *place;        /* where each column is in C, -1: nowhere; NULL: where it is in X */
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
  ptrdiff_t usable; /* columns that are not set aside */
  int *positive, *negative, positives, negatives;

  /* the move under way, applied to each column by the next sweep */
  ptrdiff_t b;
  double kappa_b, factor_b;
  double *x_b, *c_b, *t_b;       /* m, m, L, before the move */
  int dropped;                   /* whether b leaves the set */
  double x_b_square, c_b_square; /* in searches that drop */

  /* P = (X_S'X_S + lambda I)^-1 in the order of the members, of searches that drop */
  double *inverse;         /* inverse_order x inverse_order */
  ptrdiff_t inverse_order; /* the largest set it is held for, at most m */
  int inverse_held;        /* whether it is that of the members */
  double *inverse_b;       /* n, column b of P before b is dropped, by column of x */

  struct score *score; /* n, of moving each column */
  int *scored;         /* n, the columns whose score is up to date, in any order */
  ptrdiff_t scored_count;
  double *gain;       /* n + 1, what the last addition to reach a size brought */
  struct score *seen; /* n + 1, best score met at each size */
  struct score tolerance, best;
  double total_weight; /* L times the sum of the weights */
  double *residual;    /* m x L */
  double *scratch;     /* threads x scratch_size */
  size_t scratch_size;
  double *room;      /* for start() */
  int held;          /* whether the state comes from G itself: a and d have all their digits */
  int since_start;   /* columns dropped since the state was made afresh */
  struct lazy *lazy; /* NULL when every candidate is scored */
};

/* Column i of C. */
static inline double *column(const struct state *s, ptrdiff_t i) {
  return s->C + (s->place == NULL ? i : s->place[i]) * s->pb->m;
}

/* A column that may still be added or dropped. */
static inline int in_play(const struct state *s, ptrdiff_t i) {
  return s->pb->usable[i] && (s->control->search != BACKWARD || s->member[i]);
}

/* Doubles of room that start() needs for sets of up to `size` columns. */
size_t start_room(const struct problem *pb, const struct folds *folds, ptrdiff_t size);

/* Makes C, a, d, kappa, t, D and g afresh from X and the set order[0 .. size). */
enum status start(struct state *s);

/* The part of the state that belongs to no column, a and d, without any feature. */
void start_rows(struct state *s);

/* Calls work(s, with, row, rows) for one block of rows after the other, in parallel where there is
   enough to do: `passes` products with every row. A block is always the same thread's, so its part
   of a, d and the columns chosen stays in the cache of that processor. */
typedef void block_work(struct state *s, const void *with, ptrdiff_t row, ptrdiff_t rows);
void each_block(struct state *s, ptrdiff_t passes, block_work *work, const void *with);

/* ---- lazy.c ---- */

/* Whether candidates can be skipped: forward search by the leave-one-out squared error. */
int can_skip(const struct folds *folds, const struct greedy_control *control);

void lay_out_lazy(struct state *s, int threads, struct arena *room);

/* The state of the empty set. */
void start_lazy(struct state *s);

/* Scores the candidates that may win. Where most have to be scored it scores all and brings the
   whole state up to date, and s->lazy is NULL from there on. */
enum status sweep_lazy(struct state *s);

/* Keeps what later sweeps need of the move under way, and puts c_b where its column will stay. */
void commit_lazy(struct state *s);

/* beta (ld x L) := the working coefficients of the members, in the order chosen. */
void lazy_coefficients(const struct state *s, double *beta, ptrdiff_t ld);

/* ---- products.c ---- */

/* What column_products() makes of x, for the columns listed, each but once */
struct reading {
  const struct problem *pb;
  const int *list;
  ptrdiff_t count, r;
  const double *const *v; /* r vectors of m, within the span of working columns */
  double *const *out;     /* r times n, out[l][i] += v_l'x_i of working column x_i */
  double done, total;     /* for the host */
};

/* Reads each listed column once, in place. O(m r) a column, O(nonzeros r) if sparse. Each column is
   summed by one thread in one order. */
enum status column_products(const struct reading *read, struct host *host, double *room);

/* Doubles of room that takes for r vectors. */
size_t products_room(const struct problem *pb, ptrdiff_t r, int threads);

/* Calls work(s, i, scratch) for the columns that are in play, in parallel, and polls the host
   between blocks of columns. Not zero: interrupted. */
int each_column(
    struct state *s, double cost, void (*work)(struct state *s, ptrdiff_t column, double *scratch));

#endif
