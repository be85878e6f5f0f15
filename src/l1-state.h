/* What the engines of l1_path() share: the state, products with columns left as the user has them,
   and what is known of all columns' products with the residual without computing them. */
#ifndef SPARSELS_L1_STATE_H
#define SPARSELS_L1_STATE_H

#include "l1.h"

/* Room that is handed out; at NULL it is only counted. */
struct room {
  char *at;
  size_t used;
};

/* Room for `count` things of `size` bytes, aligned as any of them may want. */
static inline void *hand_out(struct room *room, ptrdiff_t count, size_t size) {
  void *part = room->at == NULL ? NULL : room->at + room->used;
  room->used += ((size_t)count * size + 15) / 16 * 16;
  return part;
}

struct l1 {
  const struct problem *pb;
  struct host *host;
  struct l1_control control;

  /* The solution that stands, as struct l1_solution says; after l1_start() a model to begin with.
   */
  int size;
  int *feature; /* room */
  double *beta; /* room */
  double *u;    /* q */
  double *r;    /* m */
  double primal, dual, most, null;
  double lambda; /* what it solves; INFINITY for the model without columns */
  int rounds;
  double products;

  double done, total; /* how far the path has come, for host->stop() */
  int *out;           /* n, not 0: the column is in no solution at this lambda, or set aside */
  double *norm;       /* n, of the working columns, never too small */
  double *c;          /* n, a_k'r when it was last computed */

  /* correlations.c: no |a_k'r| exceeds base[k] + norm[k] travelled. The products with a few
     directions that r had are known, so that what r has along them needs no column. */
  double *base; /* n */
  int *pass;    /* n, when c was computed, as at->passes counts */
  int passes;
  double travelled;
  double *seen; /* m, r when it last was looked at */
  double *v;    /* m, root_w r */
  int *list;    /* n + 1, room for the columns to be computed */
  int directions, most_directions;
  double *basis; /* m x most_directions, orthonormal */
  double *known; /* most_directions x n, its products with the columns */
  double *share; /* most_directions, of r */
  double *rest;  /* m, r less its share */

  /* with a safe test */
  double *f;          /* m, the model's values */
  double *bound;      /* n */
  double *null_c;     /* n, products with r of the model without columns */
  double *points;     /* m x count, dual points */
  double *point_most; /* count, no less than any |a_k'r| of each */
  ptrdiff_t count;
  void *safe_room;

  void *engine; /* room of the loss's own engine */
};

/* ---- correlations.c ---- */

/* v (m) := root_w r; returns the sum of v. */
double weigh_rows(const struct problem *pb, const double *r, double *v);

/* a_j'r for r with Q'r = 0, from v and its sum. O(m) or the nonzeros. */
double column_product(const struct problem *pb, ptrdiff_t j, const double *v, double sum);

/* f (m) += beta (x_j - centre_j) / scale_j, less a constant that is added to *offset: of a sparse
   column only the nonzeros are touched. */
void add_column(const struct problem *pb, ptrdiff_t j, double beta, double *f, double *offset);

/* f (m) := the sum of beta (x_j - centre_j) / scale_j over the columns of a model. */
void predict_rows(
    const struct problem *pb, int size, const int *feature, const double *beta, double *f);

/* norm (n) := length of each working column, rounded up; 0 for one that is set aside. O(n). */
void column_norms(const struct problem *pb, double *norm);

/* How many directions of r have their products kept. */
int directions_kept(const struct problem *pb, const struct l1_control *control);

/* Brings c up to date after r has moved: for every column not out, or with LAZY for those alone
   whose |a_k'r| may exceed `level`, told from what is known of each. Then no |a_k'r| of any column
   not out exceeds at->most. Counts a round. */
enum status correlate(struct l1 *at, double level);

/* Whether c[k] is that of the present r. */
static inline int is_fresh(const struct l1 *at, ptrdiff_t k) {
  return at->pass[k] == at->passes;
}

/* l1.c. The dual value of s r, as the loss says. O(m). */
double dual_at(const struct problem *pb, enum loss loss, const double *r, double s);

/* l1.c. With GAP_SAFE: takes out what the point in the state rules out at lambda: r, c, most,
   primal and dual must be those of one another; f (m) is the model's values, which hinge alone
   looks at. An engine may call it after every full round; otherwise it does nothing. */
enum status screen_again(struct l1 *at, double lambda, const double *f);

/* ---- the engines: lasso.c, logistic.c, hinge.c ---- */

/* Each carves its room (engine_work() bytes) when it begins and sets null, primal, dual, u and r of
   the model without columns. start() takes over at->feature and at->beta; the state is then that
   of this model, with the lambda that counts in its primal, or with size 0 still that of the model
   without columns. solve() leaves the solution for lambda in the state. */
size_t lasso_work(const struct problem *pb, const struct l1_control *control);
void lasso_begin(struct l1 *at);
enum status lasso_start(struct l1 *at);
enum status lasso_solve(struct l1 *at, double lambda);

size_t logistic_work(const struct problem *pb, const struct l1_control *control);
void logistic_begin(struct l1 *at);
enum status logistic_start(struct l1 *at);
enum status logistic_solve(struct l1 *at, double lambda);

size_t hinge_work(const struct problem *pb, const struct l1_control *control);
void hinge_begin(struct l1 *at);
enum status hinge_start(struct l1 *at);
enum status hinge_solve(struct l1 *at, double lambda);

#endif
