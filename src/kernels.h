/* The table of contents of the C side: what a kernel is given, and one prototype for each.

   Kernels are plain C11. They are handed const input, room to work in and room for the answer; they
   never allocate, print, raise or know R. What they need of the outside they ask of `host`. */
#ifndef SPARSELS_KERNELS_H
#define SPARSELS_KERNELS_H

#include <stddef.h>

/* x as the user holds it: dense column-major, doubles or, when `whole` is not NULL, integers; or
   compressed sparse columns when `p` is not NULL. */
struct matrix {
  const double *x;  /* m x n, or the nonzeros */
  const int *i;     /* row of each nonzero */
  const int *p;     /* first nonzero of each column, n + 1 of them */
  const int *whole; /* m x n */
};

/* A regression problem in working coordinates (ARCHITECTURE.md): m rows, n columns, L outputs, q
 * covariates. */
struct problem {
  ptrdiff_t m, n, L, q;
  struct matrix x;
  const double *centre;    /* n */
  const double *inv_scale; /* n */
  const double *squares;   /* n, of each working column with the covariates still in it, summed */
  const double *left;      /* n, what the covariates leave of that */
  const double *products;  /* n x L, of each working column with y */
  const int *usable;       /* n, 0 for a column that is set aside */
  const double *root_w;    /* m, square roots of the case weights, which may be 0 */
  const double *divisor;   /* m, root_w, or 1 where it is 0: takes residuals to user units */
  const double *Q;         /* m x q, orthonormal basis of the weighted covariates */
  const double *y;         /* m x L, working response: sqrt(w) y, less its projection on Q */
  const double *response;  /* m x L, the response in the user's units */
};

/* One or several partitions of the rows. Leave-one-out is the partition into m folds, with loo = 1.
 */
struct folds {
  int loo, repeats;
  const int *order; /* m x repeats, the rows of each partition, fold by fold */
  const int *count; /* repeats, the number of folds of each */
  const int *start; /* for each repeat its count + 1 fold starts, one repeat after the other */
};

/* What the caller lends a kernel. stop() is asked now and then, outside parallel regions: not zero
   means that the kernel must return what it has. judge() is the user's own criterion, smaller is
   better. */
struct host {
  int threads;
  int (*stop)(struct host *host, double done, double total);
  double (*judge)(struct host *host, const double *held_out_residual, int repeat);
  size_t residual_length; /* of what judge() is given, m x L */
  void *self;
};

enum status {
  COMPLETE = 0,
  EARLY_STOP = 1,
  INTERRUPTED = 2,
  MOVE_LIMIT = 3,
  NOT_POSITIVE = -1,
  NO_ROOM = -2
};

/* ---- problem.c ---- */

/* out (m) := root_w (x_j - centre_j) inv_scale_j, the covariates still in it. O(m). */
void centred_column(const struct problem *pb, ptrdiff_t j, double *out);

/* out (m) := working column j: what Q leaves of that. O(m q). */
void working_column(const struct problem *pb, ptrdiff_t j, double *out);

/* What column_moments() finds of the columns of a dense x (m x n). */
struct moments {
  ptrdiff_t m, n, L;
  struct matrix x;
  const double *w; /* m, weights */
  const double *v; /* m x L; if centred, its columns sum to nothing */
  int centred;
  double *centre;   /* n, weighted means, 0 unless centred */
  double *squares;  /* n, weighted sums of squares about it */
  double *products; /* n x L, of the columns with v */
};

/* A value that is not finite leaves squares not finite, and so does INT_MIN among integers, which
   stands for none. The result is the same for any number of threads. room: of integers 4 m for each
   thread. O(m n (1 + L)), x is read once. */
void column_moments(const struct moments *find, int threads, double *room);

/* Place of an entry below the diagonal of A (n x n) that differs from its mirror image by more than
   share * root_i * root_j, -1 when there is none. O(n^2). */
ptrdiff_t asymmetric_entry(ptrdiff_t n, const double *A, const double *root, double share);

/* ---- criterion.c: how good is a model, told from its held-out residuals ---- */

enum criterion { SQUARED = 0, ERROR = 1, ABSOLUTE = 2, AUC = 3, USER = 4 };

struct figure {
  double value; /* smaller is better */
  double se;    /* standard error over folds, NAN where there is none */
};

/* Criterion of the residuals r (m x L, user's units) over one partition; rows of fold f are
   order[start[f] .. start[f + 1]). O(mL); AUC: O(sum of positive x negative pairs within folds). */
struct figure judge_folds(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count);

/* Loss of a pair of scores: 0 in the right order, 1 in the wrong one, a tie counts half. */
double pair_loss(double positive, double negative);

/* The same value without its standard error, for the many candidates of a step. */
double judge_rows(const struct problem *pb, enum criterion kind, const double *r);

/* ---- greedy.c: greedy regularised least-squares ---- */

enum search { FORWARD = 0, BACKWARD = 1, FLOATING = 2, FORWARD_BACKWARD = 3, GIVEN = 4 };

struct greedy_control {
  double lambda;
  double
      nu; /* forward-backward: drop when it costs at most nu times the gain of the last addition */
  int k;  /* models of size 0..k are kept */
  int patience; /* stop after so many moves without improvement; 0: never */
  int keep;     /* runners-up kept at each step */
  int limit;    /* moves at most */
  enum search search;
  enum criterion criterion;
  const int *given; /* k columns to add in this order, for GIVEN */
  int classes;      /* the response has classes, whose zero-one errors are wanted */
  int lazy;         /* skip candidates that provably cannot win, where that can be done */
};

/* What a search took. */
struct greedy_work_done {
  double candidates;   /* columns that could have been moved, summed over the steps */
  double evaluated;    /* of these, those whose criterion was computed */
  double columns_read; /* columns of x read, the same one as often as it was */
  int dense_from;      /* the step from which every candidate was evaluated; -1: never */
#ifdef SPARSELS_CHECK_BOUNDS
  double bounds, broken; /* bounds that were compared with what they bound; those above it */
#endif
};

/* Filled by the kernel. Criteria are losses: smaller is better. Columns count from 0. */
struct greedy_result {
  int moves;         /* path entries 0..moves, entry 0 is the start */
  int best;          /* size of the best model, -1 if none */
  int *feature;      /* limit + 1, column of each move, -1 at the start */
  int *size;         /* limit + 1, size after the move */
  double *loss, *se; /* limit + 1 each, the criterion */
  double *squared;   /* limit + 1, weighted mean squared held-out residual */
  double *error;     /* limit + 1, zero-one error; 0 without classes */
  double *pivot;     /* limit + 1, what held-out residuals are divided by, at the least, beside 1:
                        they have lost as many digits */
  int *model_entry;  /* k + 1, path entry of the best model of each size, -1 if none */
  int *model;   /* k x (k + 1), column s holds the s features of that model in the order chosen */
  double *beta; /* k x L x (k + 1), their working coefficients */
  double
      *held_out;  /* m x L, held-out residuals of the best model, mean over repeats, user's units */
  double *fitted; /* m x L, its residuals on the training rows, user's units */
  int *other;     /* keep x (limit + 1), runners-up of each move, -1 where there are fewer */
  double *other_loss;
  struct greedy_work_done work;
};

/* How many bytes of work room greedy_rls() needs. */
size_t greedy_work(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, int threads);

/* Selects features by the exact cross-validated error of the ridge model on them.
   Pahikkala, Airola and Salakoski 2010, Algorithm 3, for any partition, covariates, weights and
   several outputs, adding and dropping. O(mn) a move with LOO and for each repeat of any N-fold
   partition. */
enum status greedy_rls(const struct problem *pb, const struct folds *folds,
    const struct greedy_control *control, struct host *host, void *work,
    struct greedy_result *result);

/* ---- spectrum.c, holdout.c: ridge regression in its eigen coordinates ---- */

/* F (m x n) := K R^-1 less its projection on Z, turned by V so that F'F is diagonal; that diagonal
   in values (n), ascending; R := R^-1 V. K comes in F, its rows still without their weights; R is
   the upper Cholesky factor of the basis vectors' own kernel matrix.
   Pahikkala, Suominen and Boberg 2012, (14) to (17). O(m n^2). */
enum status kernel_spectrum(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, const double *root_w,
    const double *Z, struct host *host, double *work, double *F, double *R, double *values);

/* How many doubles of work room it needs. */
size_t kernel_spectrum_work(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q);

/* A ridge problem with r directions; ARCHITECTURE.md says what each part is. */
struct spectrum {
  ptrdiff_t m, r, q, L;
  int complete;         /* F is orthonormal, and with Z it spans all of R^m */
  const double *F;      /* m x r */
  const double *values; /* r */
  const double *t;      /* r x L, F'y */
  const double *y;      /* m x L, working response */
  const double *Z;      /* m x q, orthonormal basis of the weighted covariates */
  const double *root_w; /* m */
  const double *Q;      /* n x r, a row for each basis vector that can be removed */
  ptrdiff_t n;
};

/* Sets of rows to hold out, one after the other: set s is order[start[s] .. start[s + 1]). */
struct held {
  ptrdiff_t sets;
  const int *order;
  const int *start;
  const int *basis; /* m, the basis vector to be removed with each row, -1 where there is none */
  /* PER_FOLD gives up, with done 0, on rows left whose share is less: of what there is of
     covariates or of F, of which they have then lost the digits; and, lambda included, of the
     smallest eigenvalue of their F'F in the largest of all rows, as F was squared. 0: never. */
  double outweighed, singular;
};

enum form { CHEAPER = 0, PER_FOLD = 1 };

/* residual (start[sets] x L x c) := what the model trained without a set misses of its rows, for
   every set, output and lambda, in the user's units. Pahikkala, Suominen and Boberg 2012,
   Proposition 1. done[s] := 1, or 0 where the cheaper form would lose too many digits: that set
   wants PER_FOLD. No set is empty, the rows left tell the covariates apart, and with a complete F
   no basis vector is removed. Each set costs the less of c h^2 r and h r^2 + O(r^3) for h rows,
   with a complete F the former. */
enum status holdout(const struct spectrum *sp, const struct held *held, const double *lambda,
    ptrdiff_t c, enum form form, struct host *host, void *work, double *residual, int *done);

/* How many bytes of work room it needs. */
size_t holdout_work(
    const struct spectrum *sp, const struct held *held, ptrdiff_t c, enum form form, int threads);

/* ---- gram.c: X'X of the usable working columns, none of them constant, whole or an entry at a
   time ---- */

struct gram {
  ptrdiff_t n, L;
  const double *diagonal; /* n, x_j'x_j */
  const double *b;        /* n x L, X'y */
  const double *whole;    /* n x n; NULL: made from the columns when asked for */
  ptrdiff_t m;
  const double *X; /* m x n, the working columns; NULL when x is sparse: */
  ptrdiff_t q;
  struct matrix x;     /* m x n, as the user gave it */
  const double *w;     /* m, case weights */
  const double *scale; /* n, what divides each column */
  const double *G;     /* q x n, what the covariates explain: Q'(sqrt(w) x_j) / scale_j */
};

/* Columns of X'X that were asked for often, kept by one thread. An entry off the diagonal has the
   same bits whether it comes from here or not. */
struct gram_cache {
  int capacity, used;
  int *slot;       /* n, where a column is, -1 if it is not */
  int *asked;      /* n, how many of its entries were computed one by one */
  double *columns; /* n x capacity */
  double *dense;   /* m, room for one column of x */
};

void gram_forget(const struct gram *gram, struct gram_cache *cache);

/* x_i'x_j. O(1) when it is there, else O(m) or the nonzeros of both. */
double gram_entry(const struct gram *gram, struct gram_cache *cache, ptrdiff_t i, ptrdiff_t j);

/* out (n) := X'x_j. O(mn) or the nonzeros. */
void gram_column(const struct gram *gram, ptrdiff_t j, double *dense, double *out);

/* out (n) := X'v for dense X (m x n) and v (m). O(mn). */
void cross_columns(ptrdiff_t m, ptrdiff_t n, const double *X, const double *v, double *out);

/* ---- poss.c: Pareto optimisation for subset selection ---- */

struct poss_control {
  double lambda;
  int most;     /* largest size that is archived, 2k - 1 */
  int isolated; /* whether only sets with the same first column are compared */
  int islands;
  int capacity;      /* how many sets an island can archive */
  int kept;          /* how many columns of X'X each thread may keep when it is not whole */
  double iterations; /* of each island */
};

/* The archives, taken over and left behind. */
struct poss_state {
  int *random;  /* 8 x islands, 256 bits for each generator */
  int *count;   /* islands, the sets archived */
  int *size;    /* capacity x islands */
  int *columns; /* most x capacity x islands, ascending */
  double *gain; /* capacity x islands, b'(C + lambda I)^-1 b of each; only left behind */
  double *done; /* iterations of each island; only left behind */
};

size_t poss_work(const struct gram *gram, const struct poss_control *control, int threads);

/* Qian, Yu and Zhou 2015, Algorithm 2, on independent islands. O(1) to O(k^2) an iteration once the
   entries of X'X are there. */
enum status poss(const struct gram *gram, const struct poss_control *control, struct host *host,
    void *work, struct poss_state *state);

/* ---- best.c: the best subset of every size, proven ---- */

struct best_control {
  double lambda;
  int k;        /* sizes 1..k */
  double nodes; /* at most, for each size */
  double total; /* tr(y'y), what no gain exceeds */
};

struct best_result {
  int sizes;     /* how many sizes there are: k, or fewer when the columns are dependent */
  int *set;      /* k x k, column s - 1 holds the s columns of size s, ascending */
  double *gain;  /* k, tr(b_S'(C_SS + lambda I)^-1 b_S) */
  double *bound; /* k, no set of that size gains more */
  double *nodes; /* k, sets that were branched from */
};

size_t best_work(const struct gram *gram, const struct best_control *control);

/* Branch and bound for the set with the largest gain, one size after the other, of the whole X'X.
   Exponential in k at worst. MOVE_LIMIT when `nodes` ran out for a size: bound is then above gain.
   */
enum status best_subset(const struct gram *gram, const struct best_control *control,
    struct host *host, void *work, struct best_result *result);

/* ---- l1.c: models with an l1 penalty, for one lambda after the other ---- */

enum loss { LEAST_SQUARES = 0, LOGISTIC = 1, HINGE = 2 };

/* How columns are kept from being looked at: by what is known of their products with the residual
   (LAZY), by a safe test, or not at all. */
enum screen { LAZY = 0, NO_SCREEN = 1, SAFE_ONE = 2, SAFE_TWO = 3, GAP_SAFE = 4 };

struct l1_control {
  enum loss loss;
  enum screen screen;
  double tolerance; /* a solution is one when its duality gap is at most this times the null
                       objective, that of no columns */
  int room;         /* how many columns an engine may have in hand */
  int lambdas;      /* how many lambdas will be solved for */
};

/* The engines' shared state, in l1.h. */
struct l1;

size_t l1_work(const struct problem *pb, const struct l1_control *control, struct host *host);

/* Carves the state out of `work`, which l1_work() measured, and stands at the model without
   columns: its objective and residual are the null ones. */
struct l1 *l1_begin(
    const struct problem *pb, const struct l1_control *control, struct host *host, void *work);

/* Takes over a model to start from: `size` columns (from 0) and their working coefficients. */
enum status l1_start(struct l1 *at, int size, const int *feature, const double *beta);

/* Solves for one lambda, from where the last one left off:
     min over beta and u of  sum_j w_j loss(y_j, f_j) + lambda ||beta||_1,
     f = A beta / root_w + Q u / root_w  with the working columns A before they are projected on Q,
     loss(y, f) = (y - f)^2 / 2, log(1 + exp(-y f)) or (1 - y f)_+.
   El Ghaoui, Viallon and Rabbani 2010, (2), (25) and (17). `bound` is a lower bound of the optimum
   known from elsewhere (-INFINITY when there is none), which SAFE_TWO may use.
   NO_ROOM: the engine needs more room than control.room; begin again with more, from the last
   model. */
enum status l1_solve(struct l1 *at, int step, double lambda, double bound);

/* The solution that stands; parts belong to the state. */
struct l1_solution {
  int size;           /* columns with a coefficient that is not zero */
  const int *feature; /* from 0, in the order they came in */
  const double *beta; /* working coefficients */
  const double *u;    /* q */
  const double *r;    /* m: root_w (y - f) for squares, y theta / -root_w for classes; Q'r = 0 */
  double primal;      /* objective */
  double dual;        /* of r scaled so that no |a_k'r| exceeds lambda: a lower bound */
  double most;        /* no |a_k'r| exceeds it */
  double null;        /* the objective without columns */
  int rounds;         /* passes over the columns */
  double products;    /* columns that were multiplied with r */
  int kept;           /* columns that the safe test left */
};

struct l1_solution l1_solution(const struct l1 *at);

/* ---- screen.c: which columns can no solution have ---- */

/* Lower bound of the optimum at lambda: the best value of a multiple s r of a residual r (m, as in
   struct l1_solution, Q'r = 0) with |s| most <= lambda, `most` being no less than any |a_k'r|.
   El Ghaoui and others, (8). O(m) for squares and hinge, a few times that for logistic. */
double dual_bound(
    const struct problem *pb, enum loss loss, const double *r, double most, double lambda);

size_t safe_work(const struct problem *pb, enum loss loss, int threads);

/* T[j] (n) := the largest |theta'x_j| of any theta whose dual value is at least `gamma` and whose
   covariates balance: at any lambda above it, and with phi(lambda) >= gamma, column j is in no
   solution; rounded up, so that lambda > T[j] needs no further margin. Columns with skip[j] != 0
   are left alone (skip may be NULL), those set aside have 0. With a finite `enough` the search for
   T ends where it is known on which side of it T is: T is then no more than `enough`, or +INFINITY.
   With covariates beyond an intercept, T is that of the column less its projection on them. El
   Ghaoui and others, (5), (10), (20), (27). O(m) a column, O(m log m) for hinge, O(mq) with more
   covariates; else the nonzeros of a sparse column. */
enum status safe_bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, struct host *host, void *work, double *T);

/* A lower bound of the optimum that never falls as lambda grows: linear between knots, their
   lambda ascending from 0, and constant after the last. */
struct knots {
  ptrdiff_t count;
  const double *lambda, *value;
};

/* For logistic and hinge: T[j] (n) as above for the bound at lambda; reach[j] (n) := the lambda
   from which on, up to `top`, column j is in no solution. Theorem 3 for hinge. Costs a few times T
   of logistic, and hardly more than T of hinge. */
enum status safe_reach(const struct problem *pb, enum loss loss, const struct knots *bound,
    double lambda, double top, struct host *host, void *work, double *T, double *reach);

/* The same for hinge from a model: T[j] := the largest |theta'x_j| of any theta that can be optimal
   when the model with the values f (m, the user's units) is within `gap` of the optimum, by
   Fenchel's inequality row by row: a fractional knapsack. O(m log m) a column. */
enum status hinge_gap_bounds(const struct problem *pb, const double *f, double gap, const int *skip,
    struct host *host, void *work, double *T);

/* ---- scdp.c: sparse conjugate directions pursuit ---- */

/* A symmetric positive (semi)definite system A W = B of order D with L right sides, known by its
   columns. `extra` more rows may hang below each column: what they would predict is followed
   without entering A. */
struct system {
  ptrdiff_t D, L, extra;
  const double *b;        /* D x L */
  const double *diagonal; /* D; NULL when only columns are known */
  /* out (D + extra) := column j; not zero: it was not to be had. */
  int (*column)(struct system *system, ptrdiff_t j, double *out);
  void *self;
};

/* Which component comes next, by its residual c = A W - B: the largest |c_i| (the paper's), c_i^2 /
   A_ii (orthogonal matching pursuit with atoms of unit norm), or c_i^2 / d_i, twice what the
   objective falls by, with d_i what the chosen ones leave of A_ii (orthogonal least squares). The
   last two need the diagonal. */
enum scdp_score { RESIDUAL = 0, NORMALISED = 1, OLS = 2 };

struct scdp_control {
  int k; /* components at most */
  enum scdp_score score;
  double dependent;      /* a component of which no more than this share of A_ii is left is never
                            chosen */
  int forced;            /* the first components, */
  const int *first;      /*   in this order; a dependent one is passed over */
  int drawn;             /* 0, or how many candidates there are at each step: */
  int width;             /*   the first of a list that are not chosen yet, */
  const int *candidates; /*   width x k, a list for each step; of all when it has none */
};

/* The state after `size` steps. With A_SS = LL' over the chosen components, row i of F is f_i, L^-1
   times the entries of A between them and i; it is 0 from the place on where i was chosen itself,
   so that L_ij is F at the i-th chosen component and step j. */
struct pursuit {
  int k, size;
  int *chosen;     /* k */
  int *blocked;    /* D, 0 for one that may be chosen */
  double *F;       /* (D + extra) x k */
  double *z;       /* k x L, L^-1 B_S */
  double *c;       /* D x L, residual A W - B */
  double *d;       /* D, what the chosen leave of the diagonal; unused when that is not known */
  double *value;   /* extra x L, what the rows below predict */
  double *left;    /* k, the norm of c after each step */
  double *row;     /* k, room */
  double least;    /* the smallest pivot, as a share of its A_ii */
  ptrdiff_t worst; /* after NOT_POSITIVE: the component whose pivot is negative, */
  double pivot;    /*   and that pivot */
};

size_t scdp_work(const struct system *system, const struct scdp_control *control);

/* The state of no component, carved out of `work`, which scdp_work() measured. */
struct pursuit scdp_begin(
    const struct system *system, const struct scdp_control *control, void *work);

/* The component that comes next, -1 when none is left that would change anything. O(D L). */
ptrdiff_t scdp_choose(
    const struct pursuit *at, const struct system *system, const struct scdp_control *control);

/* Takes component s in, whose column stands in column `size` of F: COMPLETE; EARLY_STOP when it
   depends on the chosen ones, which is remembered; NOT_POSITIVE when its pivot, or any on the
   diagonal, is negative beyond rounding. Karsmakers and others 2011, Algorithm 3, as a left-looking
   Cholesky factorisation. O((D + extra) size). */
enum status scdp_take(struct pursuit *at, const struct system *system,
    const struct scdp_control *control, ptrdiff_t s);

/* scdp_choose() and scdp_take() until there are k components: COMPLETE; EARLY_STOP when none is
   left that changes anything; NOT_POSITIVE; or INTERRUPTED, also when a column was not to be had.
   O((D + extra) k^2) and k columns. */
enum status scdp(struct pursuit *at, struct system *system, const struct scdp_control *control,
    struct host *host);

/* The components chosen, in order, and the lower triangle of L (k x k). O(size^2). */
void pursuit_path(
    const struct pursuit *at, const struct system *system, int *chosen, double *factor);

/* ---- fixed-size.c: the pursuit for fixed-size least-squares support vector machines ---- */

/* m rows, those of a fold together; terms are n prototypes and then q covariates. */
struct fixed_size {
  ptrdiff_t m, n, q, L;
  const double *K;        /* m x n, kernel values of rows and prototypes, times root_w */
  const double *Z;        /* m x q, covariates times root_w */
  const double *own;      /* n x n, kernel matrix of the prototypes */
  const double *y;        /* m x L, coded response times root_w */
  const double *response; /* m x L, coded response */
  const double *root_w;   /* m */
  int folds;              /* 0 for none */
  const int *start;       /* folds + 1 */
  double nu;              /* what is added to the diagonal of the covariates */
};

struct fixed_size_control {
  struct scdp_control pursuit;
  int classes; /* whether errors are counted */
  int window; /* the path ends when the error is within the share `change` of the mean of so many */
  double change; /*   before it; never when that is 0 */
};

/* For each lambda: the pursuit on all rows, and the held-out figures of every size from those
   without a fold. */
struct fixed_size_result {
  int *size;       /* count, steps done */
  int *chosen;     /* k x count, terms */
  double *factor;  /* k x k x count, L of A_SS = LL', its upper triangle left alone */
  double *z;       /* k x L x count, L^-1 B_S */
  double *squared; /* k x count, weighted mean squared held-out residual of sizes 1, 2, ... */
  double *se;      /* k x count, its standard error over folds */
  double *error;   /* k x count, share in the wrong class; for classes */
  double
      *residual;  /* m x L x k x count, held-out residuals in the user's units; NULL: not wanted */
  double columns; /* columns of the system that were formed */
};

size_t fixed_size_work(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count);

/* Karsmakers and others 2011, Algorithm 4 with (34) and (36) to (38), for each lambda = 1 / gamma
   (count), in lock step over the folds. A column of the system is formed when a pursuit first
   chooses its term, O(m (n + q)), once for all folds and lambdas; a step takes O((n + q + fold)
   size) for each fold and O(m (n + q)) for all of them. To begin with, each fold's diagonal and
   right side take O(m (n + q)). */
enum status fixed_size(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, struct host *host, void *work,
    struct fixed_size_result *result);

#endif
