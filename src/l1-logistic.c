/* Logistic regression with an l1 penalty: Newton's method on the columns in hand. Each step takes
   the loss for the quadratic it looks like from the present point, lets coordinate descent find out
   which coefficients are zero, and solves for the others by conjugate gradients. The covariates'
   coefficients are exact at every point, so only the columns' are searched for. */
#include "l1-state.h"
#include "blas.h"
#include "simd.h"
#include <math.h>
#include <string.h>

enum {
  DIRECT = 600,  /* most columns that a Cholesky factor is made for */
  EPOCHS = 3,    /* of coordinate descent before the signs are taken for settled */
  LONGEST = 300, /* steps of conjugate gradients */
  STEPS = 1000,  /* Newton steps for one set of columns in hand, at most */
  ROUNDS = 100,  /* sets of columns in hand, at most */
  PATIENCE = 8,  /* steps without progress before rounding is held responsible */
  BATCH = 50     /* columns that come in at a time, or as many as have a coefficient */
};

static const double less = 0.3;    /* of the gap wanted is what the columns in hand may leave */
static const double noise = 1e-12; /* of the null objective: no two values closer are told apart */
static const double dependent = 1e-12; /* less than this of a column's square is nothing */

/* A model: f = base + B u. */
struct point {
  double *beta;    /* room, of the columns in hand */
  double *base;    /* m */
  double *u;       /* q */
  double loss, l1; /* l1: the sum of |beta| */
};

struct hand {
  double lambda, before; /* what the solution at hand and the one before solve, 0 if unknown */
  int count;
  int *column;        /* room */
  int *place;         /* n, where a column is in hand, -1 where it is not */
  struct problem own; /* the problem, or when x is sparse its columns in hand side by side: */
  struct {
    double *x, *centre, *inv_scale;
    int *i, *p;
  } copy;
  struct point now, next;
  double *last; /* room, their coefficients in the solution before */
  double *c;    /* room, their products with v */

  double *w;     /* m, case weights */
  double *B;     /* m x q, Q / root_w */
  double *f, *v; /* m, of the last point looked at: f, and minus the gradient of the loss */
  double *h;     /* m, its second derivatives */
  double *HB;    /* m x q */
  double *BHB;   /* q x q, the upper Cholesky factor of B'HB */
  double *g;     /* q, room */

  double *s;     /* m, v less H times the change of f on the way through the quadratic model */
  double *curve; /* room, second derivative along each column, u following */
  double *xh;    /* room, x_k'h of sparse columns */
  double *b, *e; /* q x room, B'H z_k and (B'HB)^-1 of it */

  int *support;       /* room, places of the columns that have a coefficient */
  double *d;          /* room, the step of each */
  double *left;       /* room, what the slope of each leaves to the penalty */
  double *z, *p, *Kp; /* room, of conjugate gradients */
  double *t;          /* m, room */

  int factored;  /* the preconditioner's columns, 0 when there is none */
  int *kept;     /* limit, which they are */
  int *row;      /* room, where a column in hand is in K, -1 where it is not */
  double *K;     /* factored x factored, at most limit x limit: upper Cholesky factor */
  double *y;     /* limit */
  double excess; /* conjugate gradient steps that a fresh factor would have saved */
  int limit;
};

/* ---- room ---- */

static void lay_out_point(
    struct point *point, struct room *room, ptrdiff_t m, ptrdiff_t k, ptrdiff_t q) {
  point->beta = hand_out(room, k, sizeof(double));
  point->base = hand_out(room, m, sizeof(double));
  point->u = hand_out(room, q, sizeof(double));
}

/* How many nonzeros any `most` columns can have together. */
static ptrdiff_t nonzeros(const struct problem *pb, ptrdiff_t most) {
  int longest = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++)
    if (longest < pb->x.p[j + 1] - pb->x.p[j])
      longest = pb->x.p[j + 1] - pb->x.p[j];
  const ptrdiff_t all = pb->x.p[pb->n];
  return most * longest < all ? most * longest : all;
}

static void lay_out_copy(
    struct hand *hand, struct room *room, const struct problem *pb, ptrdiff_t most) {
  hand->own = *pb;
  if (pb->x.p == NULL)
    return;
  const ptrdiff_t filled = nonzeros(pb, most);
  hand->copy.x = hand_out(room, filled, sizeof(double));
  hand->copy.i = hand_out(room, filled, sizeof(int));
  hand->copy.p = hand_out(room, most + 1, sizeof(int));
  hand->copy.centre = hand_out(room, most, sizeof(double));
  hand->copy.inv_scale = hand_out(room, most, sizeof(double));
  hand->own.x = (struct matrix){.x = hand->copy.x, .i = hand->copy.i, .p = hand->copy.p};
  hand->own.centre = hand->copy.centre;
  hand->own.inv_scale = hand->copy.inv_scale;
}

static void lay_out(struct hand *hand, struct room *room, const struct problem *pb,
    const struct l1_control *control) {
  const ptrdiff_t m = pb->m, k = control->room, q = pb->q, order = k < DIRECT ? k : DIRECT;
  const size_t d = sizeof(double);
  hand->limit = (int)order;
  lay_out_copy(hand, room, pb, k);
  hand->column = hand_out(room, k, sizeof(int));
  hand->place = hand_out(room, pb->n, sizeof(int));
  lay_out_point(&hand->now, room, m, k, q);
  lay_out_point(&hand->next, room, m, k, q);
  hand->last = hand_out(room, k, d);
  hand->c = hand_out(room, k, d);
  hand->w = hand_out(room, m, d);
  hand->B = hand_out(room, m * q, d);
  hand->f = hand_out(room, m, d);
  hand->v = hand_out(room, m, d);
  hand->h = hand_out(room, m, d);
  hand->HB = hand_out(room, m * q, d);
  hand->BHB = hand_out(room, q * q, d);
  hand->g = hand_out(room, q, d);
  hand->s = hand_out(room, m, d);
  hand->curve = hand_out(room, k, d);
  hand->xh = hand_out(room, k, d);
  hand->b = hand_out(room, q * k, d);
  hand->e = hand_out(room, q * k, d);
  hand->support = hand_out(room, k, sizeof(int));
  hand->d = hand_out(room, k, d);
  hand->left = hand_out(room, k, d);
  hand->z = hand_out(room, k, d);
  hand->p = hand_out(room, k, d);
  hand->Kp = hand_out(room, k, d);
  hand->t = hand_out(room, m, d);
  hand->kept = hand_out(room, order, sizeof(int));
  hand->row = hand_out(room, k, sizeof(int));
  hand->K = hand_out(room, order * order, d);
  hand->y = hand_out(room, order, d);
}

size_t logistic_work(const struct problem *pb, const struct l1_control *control) {
  struct hand hand;
  struct room room = {NULL, sizeof(struct hand) + 16};
  lay_out(&hand, &room, pb, control);
  return room.used;
}

/* ---- the loss ---- */

/* f, v and h of a point, and its loss. O(mq) */
static void look_at(const struct l1 *at, struct hand *hand, struct point *point) {
  const ptrdiff_t m = at->pb->m;
  memcpy(hand->f, point->base, (size_t)m * sizeof(double));
  for (ptrdiff_t l = 0; l < at->pb->q; l++)
    simd->shift(m, hand->f, -point->u[l], hand->B + l * m);
  point->loss = simd->logistic(m, at->pb->response, hand->w, hand->f, hand->v, hand->h);
}

/* BHB := the factor of B'HB. When there is none u stays where it is: not zero. O(mq^2) */
static int factor_covariates(const struct l1 *at, struct hand *hand) {
  const ptrdiff_t m = at->pb->m, q = at->pb->q;
  for (ptrdiff_t l = 0; l < q; l++) {
    double *column = hand->HB + l * m;
    for (ptrdiff_t i = 0; i < m; i++)
      column[i] = hand->h[i] * hand->B[i + l * m];
    for (ptrdiff_t k = 0; k <= l; k++)
      hand->BHB[k + l * q] = simd->dot(m, hand->B + k * m, column);
  }
  if (q == 0 || lapack_cholesky(q, hand->BHB) == 0)
    return 0;
  for (ptrdiff_t l = 0; l < q * q; l++)
    hand->BHB[l] = l % (q + 1) == 0 ? INFINITY : 0;
  return 1;
}

/* x (q) := (B'HB)^-1 x */
static void solve_covariates(const struct l1 *at, const struct hand *hand, double *x) {
  const ptrdiff_t q = at->pb->q;
  for (ptrdiff_t j = 0; j < q; j++) {
    for (ptrdiff_t k = 0; k < j; k++)
      x[j] -= hand->BHB[k + j * q] * x[k];
    x[j] /= hand->BHB[j + j * q];
  }
  for (ptrdiff_t j = q - 1; j >= 0; j--) {
    x[j] /= hand->BHB[j + j * q];
    for (ptrdiff_t k = 0; k < j; k++)
      x[k] -= hand->BHB[k + j * q] * x[j];
  }
}

/* g := B'x; returns its length. */
static double covariate_products(const struct l1 *at, struct hand *hand, const double *x) {
  double square = 0;
  for (ptrdiff_t l = 0; l < at->pb->q; l++) {
    hand->g[l] = simd->dot(at->pb->m, hand->B + l * at->pb->m, x);
    square += hand->g[l] * hand->g[l];
  }
  return sqrt(square);
}

/* Takes the covariates' coefficients to their optimum and looks at the point: Newton's method, a
   step being halved while it leads upwards. */
static void settle(const struct l1 *at, struct hand *hand, struct point *point) {
  const ptrdiff_t q = at->pb->q;
  double length = 0, loss = INFINITY, before = INFINITY, *step = hand->g;
  for (ptrdiff_t i = 0; i < at->pb->m; i++)
    length += hand->w[i];
  length = sqrt(length);
  look_at(at, hand, point);
  for (int i = 0; i < 60 && q > 0; i++) {
    const double slope = covariate_products(at, hand, hand->v);
    if (slope <= 1e-15 * length || (slope <= 1e-12 * length && slope > before / 2) ||
        factor_covariates(at, hand) != 0)
      return;
    before = slope;
    loss = point->loss;
    solve_covariates(at, hand, step);
    for (ptrdiff_t l = 0; l < q; l++)
      point->u[l] += step[l];
    look_at(at, hand, point);
    for (int halved = 0; point->loss > loss * (1 + 1e-12) && halved < 40; halved++) {
      for (ptrdiff_t l = 0; l < q; l++)
        point->u[l] -= step[l] /= 2;
      look_at(at, hand, point);
    }
  }
}

/* ---- the columns in hand ---- */

/* The number of column k in hand in hand->own. */
static ptrdiff_t own_number(const struct hand *hand, int k) {
  return hand->own.x.p != NULL ? k : hand->column[k];
}

static void copy_column(const struct problem *pb, struct hand *hand, int k, ptrdiff_t j) {
  const int from = pb->x.p[j], count = pb->x.p[j + 1] - from, to = k > 0 ? hand->copy.p[k] : 0;
  memcpy(hand->copy.x + to, pb->x.x + from, (size_t)count * sizeof(double));
  memcpy(hand->copy.i + to, pb->x.i + from, (size_t)count * sizeof(int));
  hand->copy.p[k] = to;
  hand->copy.p[k + 1] = to + count;
  hand->copy.centre[k] = pb->centre[j];
  hand->copy.inv_scale[k] = pb->inv_scale[j];
}

/* Takes a column in hand, with its coefficient and the one it had before. */
static void take(const struct l1 *at, struct hand *hand, int column, double beta, double last) {
  const int k = hand->count++;
  hand->column[k] = column;
  hand->place[column] = k;
  hand->now.beta[k] = beta;
  hand->last[k] = last;
  if (at->pb->x.p != NULL)
    copy_column(at->pb, hand, k, column);
}

/* x (m) := x + the constant, which add_column() leaves of sparse columns */
static void add_constant(ptrdiff_t m, double *x, double constant) {
  if (constant != 0)
    for (ptrdiff_t i = 0; i < m; i++)
      x[i] += constant;
}

/* base and l1 of a point, from its coefficients */
static void combine(const struct hand *hand, struct point *point) {
  double offset = 0;
  point->l1 = 0;
  memset(point->base, 0, (size_t)hand->own.m * sizeof(double));
  for (int k = 0; k < hand->count; k++)
    if (point->beta[k] != 0) {
      add_column(&hand->own, own_number(hand, k), point->beta[k], point->base, &offset);
      point->l1 += fabs(point->beta[k]);
    }
  add_constant(hand->own.m, point->base, offset);
}

/* Puts away the columns that are out, and with `zeros` those without a coefficient. */
static void put_away(const struct l1 *at, struct hand *hand, int zeros) {
  const int count = hand->count;
  int changed = 0;
  hand->count = 0;
  for (int k = 0; k < count; k++) {
    const int column = hand->column[k];
    const double beta = hand->now.beta[k], last = hand->last[k];
    hand->place[column] = -1;
    if (at->out[column] || (zeros && beta == 0))
      changed |= beta != 0;
    else
      take(at, hand, column, beta, last);
  }
  if (changed) {
    combine(hand, &hand->now);
    settle(at, hand, &hand->now);
  }
}

static int support_size(const struct hand *hand) {
  int size = 0;
  for (int k = 0; k < hand->count; k++)
    size += hand->now.beta[k] != 0;
  return size;
}

/* Columns not in hand with |c_k| > level, and with `fresh` only if that is up to date. */
static int count_above(const struct l1 *at, const struct hand *hand, double level, int fresh) {
  int count = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    count +=
        fabs(at->c[k]) > level && hand->place[k] < 0 && !at->out[k] && (!fresh || is_fresh(at, k));
  return count;
}

/* The level above which there are at most so many of them, but one at least if there is any above
   `low`; nearly equal ones may all stay below or above. */
static double raise_level(
    const struct l1 *at, const struct hand *hand, double low, int fresh, int *count) {
  const int size = support_size(hand), most = size > BATCH ? size : BATCH;
  double high = low, best = low;
  *count = count_above(at, hand, low, fresh);
  if (*count <= most)
    return low;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    if (hand->place[k] < 0 && !at->out[k] && (!fresh || is_fresh(at, k)))
      high = fmax(high, fabs(at->c[k]));
  for (int i = 0; i < 30 && *count > most; i++) {
    const double middle = low + (high - low) / 2;
    const int above = count_above(at, hand, middle, fresh);
    if (above == 0) {
      high = middle;
    } else {
      low = best = middle;
      *count = above;
    }
  }
  return best;
}

/* Takes in the columns with |c_k| > level, or the foremost of them. Returns how many came; -1 when
   there is no room for all of these. */
static int take_in(const struct l1 *at, struct hand *hand, double level, int fresh) {
  int count;
  level = raise_level(at, hand, level, fresh, &count);
  if (count > at->control.room - hand->count) {
    put_away(at, hand, 1);
    count = count_above(at, hand, level, fresh);
  }
  if (count > at->control.room - hand->count)
    return -1;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    if (fabs(at->c[k]) > level && hand->place[k] < 0 && !at->out[k] && (!fresh || is_fresh(at, k)))
      take(at, hand, (int)k, 0, 0);
  return count;
}

/* ---- the quadratic model: coordinate descent ---- */

/* What remains of v on the way is s + sigma h: sparse columns leave their centre to sigma. Its sum,
   and its products with B, are kept up to date. */
struct rest {
  double sigma, sum, *tau;
};

/* Second derivative along column k in hand and its products with H and B, for one look. */
static void measure_column(const struct l1 *at, struct hand *hand, int k, double sum_h) {
  const struct problem *pb = &hand->own;
  const struct matrix *x = &pb->x;
  const ptrdiff_t m = pb->m, q = pb->q, j = own_number(hand, k);
  const double inv = pb->inv_scale[j], centre = pb->centre[j], *h = hand->h;
  double *b = hand->b + k * q, *e = hand->e + k * q, square;
  if (x->p == NULL) {
    square = simd->centred_square(m, x->x + j * m, centre, h);
    for (ptrdiff_t l = 0; l < q; l++)
      b[l] = simd->centred_dot(m, x->x + j * m, centre, hand->HB + l * m) * inv;
  } else {
    double xh = 0, xxh = 0;
    for (int i = x->p[j]; i < x->p[j + 1]; i++) {
      xh += x->x[i] * h[x->i[i]];
      xxh += x->x[i] * x->x[i] * h[x->i[i]];
    }
    hand->xh[k] = xh;
    square = xxh - centre * (2 * xh - centre * sum_h);
    for (ptrdiff_t l = 0; l < q; l++) {
      const double *HB = hand->HB + l * m;
      double dot = 0;
      for (int i = x->p[j]; i < x->p[j + 1]; i++)
        dot += x->x[i] * HB[x->i[i]];
      b[l] = (dot - centre * hand->g[l]) * inv; /* g = HB'1 */
    }
  }
  square *= inv * inv;
  memcpy(e, b, (size_t)q * sizeof(double));
  if (q > 0)
    solve_covariates(at, hand, e);
  hand->curve[k] = square;
  for (ptrdiff_t l = 0; l < q; l++)
    hand->curve[k] -= b[l] * e[l];
  hand->curve[k] = fmax(hand->curve[k], dependent * square);
}

static double sum_of(ptrdiff_t m, const double *x) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    sum += x[i];
  return sum;
}

/* Of all columns in hand. O(mq) each, or q times the nonzeros. */
static void measure_columns(const struct l1 *at, struct hand *hand) {
  const ptrdiff_t m = at->pb->m;
  const double sum_h = sum_of(m, hand->h);
  for (ptrdiff_t l = 0; l < at->pb->q; l++)
    hand->g[l] = sum_of(m, hand->HB + l * m);
  for (int k = 0; k < hand->count; k++)
    measure_column(at, hand, k, sum_h);
}

/* Minus the derivative along column k in hand, u following. */
static double slope_along(const struct hand *hand, int k, const struct rest *rest) {
  const struct problem *pb = &hand->own;
  const struct matrix *x = &pb->x;
  const ptrdiff_t j = own_number(hand, k);
  const double *s = hand->s, *e = hand->e + k * pb->q;
  double dot = 0;
  if (x->p == NULL) {
    dot = simd->centred_dot(pb->m, x->x + j * pb->m, pb->centre[j], s);
  } else {
    for (int i = x->p[j]; i < x->p[j + 1]; i++)
      dot += x->x[i] * s[x->i[i]];
    dot += rest->sigma * hand->xh[k] - pb->centre[j] * rest->sum;
  }
  dot *= pb->inv_scale[j];
  for (ptrdiff_t l = 0; l < pb->q; l++)
    dot -= e[l] * rest->tau[l];
  return dot;
}

/* Moves by delta along column k in hand. */
static void move_along(struct hand *hand, int k, double delta, struct rest *rest, double sum_h) {
  const struct problem *pb = &hand->own;
  const struct matrix *x = &pb->x;
  const ptrdiff_t j = own_number(hand, k);
  const double step = delta * pb->inv_scale[j];
  if (x->p == NULL) {
    simd->shift_weighted(pb->m, hand->s, step, hand->h, x->x + j * pb->m, pb->centre[j]);
  } else {
    for (int i = x->p[j]; i < x->p[j + 1]; i++)
      hand->s[x->i[i]] -= step * x->x[i] * hand->h[x->i[i]];
    rest->sigma += step * pb->centre[j];
    rest->sum -= step * (hand->xh[k] - pb->centre[j] * sum_h);
  }
  for (ptrdiff_t l = 0; l < pb->q; l++)
    rest->tau[l] -= delta * hand->b[l + k * pb->q];
  hand->next.beta[k] += delta;
}

/* The minimum of curve (x - beta)^2 / 2 - slope (x - beta) + lambda |x| */
static double shrink(double beta, double slope, double curve, double lambda) {
  const double z = curve * beta + slope;
  return z > lambda ? (z - lambda) / curve : z < -lambda ? (z + lambda) / curve : 0;
}

/* Takes next.beta through a few rounds of coordinate descent; columns without a coefficient take
   part when |c_k| >= level. c := the slopes there of the columns that have a coefficient then. */
static void descend(const struct l1 *at, struct hand *hand, double lambda, double level) {
  const ptrdiff_t m = at->pb->m;
  const double sum_h = sum_of(m, hand->h);
  struct rest rest = {0, sum_of(m, hand->v), hand->g};
  measure_columns(at, hand);
  memcpy(hand->s, hand->v, (size_t)m * sizeof(double));
  covariate_products(at, hand, hand->v);
  for (int epoch = 0; epoch < EPOCHS; epoch++)
    for (int k = 0; k < hand->count; k++) {
      const double beta = hand->next.beta[k];
      if (beta == 0 && fabs(hand->c[k]) < level)
        continue;
      const double slope = slope_along(hand, k, &rest);
      const double to = hand->curve[k] > 0 ? shrink(beta, slope, hand->curve[k], lambda) : beta;
      if (to != beta)
        move_along(hand, k, to - beta, &rest, sum_h);
    }
  for (int k = 0; k < hand->count; k++)
    hand->c[k] = hand->next.beta[k] != 0 ? slope_along(hand, k, &rest) : 0;
}

/* ---- the quadratic model: conjugate gradients on the support ---- */

/* t := t less its projection on B as H sees it */
static void project_weighted(const struct l1 *at, struct hand *hand) {
  const ptrdiff_t m = at->pb->m, q = at->pb->q;
  for (ptrdiff_t l = 0; l < q; l++)
    hand->g[l] = simd->dot(m, hand->HB + l * m, hand->t);
  solve_covariates(at, hand, hand->g);
  for (ptrdiff_t l = 0; l < q; l++)
    simd->shift(m, hand->t, hand->g[l], hand->B + l * m);
}

/* t := H t; returns t'Ht before, and the sum of t after. */
static double weigh(const struct hand *hand, ptrdiff_t m, double *sum) {
  double square = 0, total = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double ht = hand->h[i] * hand->t[i];
    square += ht * hand->t[i];
    total += hand->t[i] = ht;
  }
  *sum = total;
  return square;
}

/* Column k in hand less its projection on B, or a sum of such columns, comes in t; t := H t. */
static double weigh_projected(const struct l1 *at, struct hand *hand, double offset, double *sum) {
  add_constant(at->pb->m, hand->t, offset);
  project_weighted(at, hand);
  return weigh(hand, at->pb->m, sum);
}

/* out := K x on the support, K = Z'(H - HB (B'HB)^-1 B'H) Z; returns x'Kx. */
static double multiply(
    const struct l1 *at, struct hand *hand, int size, const double *x, double *out) {
  const struct problem *own = &hand->own;
  double offset = 0, sum;
  memset(hand->t, 0, (size_t)own->m * sizeof(double));
  for (int i = 0; i < size; i++)
    add_column(own, own_number(hand, hand->support[i]), x[i], hand->t, &offset);
  const double square = weigh_projected(at, hand, offset, &sum);
  for (int i = 0; i < size; i++)
    out[i] = column_product(own, own_number(hand, hand->support[i]), hand->t, sum);
  return square;
}

/* What a product of all columns of the support with a vector costs; a step through the nonzeros is
   taken for four of a dense loop. */
static double work_of(const struct hand *hand, int size) {
  const int *p = hand->own.x.p;
  double filled = 0;
  if (p == NULL)
    return (double)hand->own.m * size;
  for (int i = 0; i < size; i++)
    filled += p[hand->support[i] + 1] - p[hand->support[i]];
  return 4 * filled + 4 * (double)hand->own.m;
}

/* K := the factor of the support's own K. */
static void factor_support(const struct l1 *at, struct hand *hand, int size) {
  const struct problem *own = &hand->own;
  for (int j = 0; j < size; j++) {
    double offset = 0, sum, *column = hand->K + (ptrdiff_t)j * size;
    memset(hand->t, 0, (size_t)own->m * sizeof(double));
    add_column(own, own_number(hand, hand->support[j]), 1, hand->t, &offset);
    weigh_projected(at, hand, offset, &sum);
    for (int i = 0; i <= j; i++)
      column[i] = column_product(own, own_number(hand, hand->support[i]), hand->t, sum);
    column[j] *= 1 + 1e-9;
    hand->kept[j] = hand->column[hand->support[j]];
  }
  hand->factored = lapack_cholesky(size, hand->K) == 0 ? size : 0;
  hand->excess = 0;
}

/* Whether a fresh factor pays: the steps that were lost for want of one would have made it. */
static int factor_pays(const struct hand *hand, int size) {
  if (size > hand->limit)
    return 0;
  const double work = work_of(hand, size), order = size;
  return hand->excess * 2 * work > work * order / 2 + order * order * order / 3;
}

/* row := where each column in hand is in the factor */
static void find_rows(struct hand *hand) {
  for (int k = 0; k < hand->count; k++)
    hand->row[k] = -1;
  for (int r = 0; r < hand->factored; r++)
    if (hand->place[hand->kept[r]] >= 0)
      hand->row[hand->place[hand->kept[r]]] = r;
}

/* z := M^-1 left: the factor's inverse for the columns it knows, the diagonal for the others. */
static void precondition(struct hand *hand, int size) {
  const int order = hand->factored;
  for (int r = 0; r < order; r++)
    hand->y[r] = 0;
  for (int i = 0; i < size; i++)
    if (hand->row[hand->support[i]] >= 0)
      hand->y[hand->row[hand->support[i]]] = hand->left[i];
  for (int j = 0; j < order; j++) {
    const double *column = hand->K + (ptrdiff_t)j * order;
    hand->y[j] = (hand->y[j] - simd->dot(j, column, hand->y)) / column[j];
  }
  for (int j = order - 1; j >= 0; j--) {
    const double *column = hand->K + (ptrdiff_t)j * order;
    hand->y[j] /= column[j];
    simd->shift(j, hand->y, hand->y[j], column);
  }
  for (int i = 0; i < size; i++) {
    const int k = hand->support[i];
    hand->z[i] = hand->row[k] >= 0 ? hand->y[hand->row[k]] : hand->left[i] / hand->curve[k];
  }
}

static double largest(int size, const double *x) {
  double most = 0;
  for (int i = 0; i < size; i++)
    most = fmax(most, fabs(x[i]));
  return most;
}

/* Goes on from d along p to where the first coefficient is zero, unless d has led one through it.
 */
static void go_to_zero(struct hand *hand, int size) {
  double step = INFINITY;
  for (int i = 0; i < size; i++) {
    const double beta = hand->next.beta[hand->support[i]], at = beta + hand->d[i];
    if (beta * at <= 0)
      return;
    if (hand->p[i] * at < 0)
      step = fmin(step, -at / hand->p[i]);
  }
  if (step < INFINITY)
    simd->shift(size, hand->d, -step, hand->p);
}

/* d := about K^-1 left, up to where no entry of what remains exceeds `enough`; left := what
   remains. Along a direction that K does not see, d goes to the first zero. */
static void conjugate_gradients(const struct l1 *at, struct hand *hand, int size, double enough) {
  double *d = hand->d, *left = hand->left, *p = hand->p, *Kp = hand->Kp;
  const ptrdiff_t n = size;
  double before = 0;
  int steps = 0;
  if (factor_pays(hand, size))
    factor_support(at, hand, size);
  find_rows(hand);
  memset(d, 0, (size_t)size * sizeof(double));
  for (; steps < LONGEST && largest(size, left) > enough; steps++) {
    precondition(hand, size);
    const double now = simd->dot(n, left, hand->z);
    for (int i = 0; i < size; i++)
      p[i] = hand->z[i] + (steps > 0 ? now / before * p[i] : 0);
    before = now;
    const double square = multiply(at, hand, size, p, Kp);
    double scale = 0;
    for (int i = 0; i < size; i++)
      scale += p[i] * p[i] * hand->curve[hand->support[i]];
    if (!(square > 1e-14 * scale)) {
      go_to_zero(hand, size);
      break;
    }
    const double step = simd->dot(n, left, p) / square;
    simd->shift(n, d, -step, p);
    simd->shift(n, left, step, Kp);
  }
  if (steps > 2)
    hand->excess += steps - 2;
}

/* Lists the places of next's coefficients. */
static int list_support(struct hand *hand) {
  int size = 0;
  for (int k = 0; k < hand->count; k++)
    if (hand->next.beta[k] != 0)
      hand->support[size++] = k;
  return size;
}

/* How far d goes before a coefficient is zero, 1 at most. */
static double first_zero(const struct hand *hand, int size) {
  double first = 1;
  for (int i = 0; i < size; i++) {
    const double beta = hand->next.beta[hand->support[i]];
    if (beta * (beta + hand->d[i]) <= 0)
      first = fmin(first, -beta / hand->d[i]);
  }
  return first;
}

/* p := step d, ending where it would lead through zero. */
static void cut(struct hand *hand, int size, double step) {
  for (int i = 0; i < size; i++) {
    const double beta = hand->next.beta[hand->support[i]], d = step * hand->d[i];
    hand->p[i] = beta * (beta + d) <= 0 ? -beta : d;
  }
}

/* left := what the slopes at next leave to the penalty; returns the largest. */
static double remainder_at(struct hand *hand, int size, double lambda) {
  double most = 0;
  for (int i = 0; i < size; i++) {
    const int k = hand->support[i];
    hand->left[i] = hand->c[k] - (hand->next.beta[k] > 0 ? lambda : -lambda);
    most = fmax(most, fabs(hand->left[i]));
  }
  return most;
}

/* What was in the way of a step: nothing, coefficients that all became zero, or too many for that.
 */
enum way { FREE, ALL_CUT, SOME_CUT };

/* Moves the coefficients that are not zero to about the model's minimum, their signs kept: those in
   the way become zero, all of them or as many as the model allows without rising. `enough`: what
   the slopes may miss. c holds the slopes at next. */
static enum way newton(const struct l1 *at, struct hand *hand, double lambda, double enough) {
  const int size = list_support(hand);
  const double most = remainder_at(hand, size, lambda);
  if (most <= enough)
    return FREE;
  conjugate_gradients(at, hand, size, fmax(enough, fmin(0.1, 5 * most / lambda) * most));
  const double first = first_zero(hand, size);
  double step = 1;
  cut(hand, size, step);
  if (first < 1)
    remainder_at(hand, size, lambda);
  while (step > first) {
    const double square = multiply(at, hand, size, hand->p, hand->Kp);
    if (simd->dot(size, hand->left, hand->p) >= square / 2)
      break;
    step = fmax(step / 4, first);
    cut(hand, size, step);
  }
  for (int i = 0; i < size; i++) {
    double *beta = hand->next.beta + hand->support[i];
    const double to = *beta + hand->p[i];
    *beta = fabs(to) < 1e-14 * fabs(*beta) ? 0 : to;
  }
  return first == 1 ? FREE : step == 1 ? ALL_CUT : SOME_CUT;
}

/* ---- steps ---- */

/* The slope of the objective at next on the way from now, as it arrives. */
static double slope_at_end(const struct hand *hand, ptrdiff_t m, double lambda) {
  const struct point *now = &hand->now, *next = &hand->next;
  double slope = 0;
  for (int k = 0; k < hand->count; k++) {
    const double sign = next->beta[k] != 0 ? next->beta[k] : now->beta[k];
    slope += lambda * copysign(1, sign) * (next->beta[k] - now->beta[k]);
  }
  for (ptrdiff_t i = 0; i < m; i++)
    slope -= hand->v[i] * (next->base[i] - now->base[i]);
  return slope;
}

/* The change of u from now to next that the quadratic model asks for. */
static void follow_covariates(const struct l1 *at, struct hand *hand) {
  const ptrdiff_t m = at->pb->m, q = at->pb->q;
  for (ptrdiff_t i = 0; i < m; i++)
    hand->t[i] = hand->next.base[i] - hand->now.base[i];
  for (ptrdiff_t l = 0; l < q; l++)
    hand->g[l] = simd->dot(m, hand->HB + l * m, hand->t);
  solve_covariates(at, hand, hand->g);
  for (ptrdiff_t l = 0; l < q; l++)
    hand->next.u[l] = hand->now.u[l] - hand->g[l];
}

/* next := halfway back to now */
static void go_back(struct hand *hand, ptrdiff_t m, ptrdiff_t q) {
  const struct point *now = &hand->now;
  struct point *next = &hand->next;
  next->l1 = 0;
  for (int k = 0; k < hand->count; k++) {
    next->beta[k] -= (next->beta[k] - now->beta[k]) / 2;
    next->l1 += fabs(next->beta[k]);
  }
  for (ptrdiff_t i = 0; i < m; i++)
    next->base[i] -= (next->base[i] - now->base[i]) / 2;
  for (ptrdiff_t l = 0; l < q; l++)
    next->u[l] -= (next->u[l] - now->u[l]) / 2;
}

/* Moves from now to next, or not so far: the objective must fall, and not have been much lower on
   the way. A fall that rounding hides is one. Not zero when there is none. */
static int improve(const struct l1 *at, struct hand *hand, double lambda) {
  const ptrdiff_t m = at->pb->m;
  struct point *now = &hand->now, *next = &hand->next;
  const double before = now->loss + lambda * now->l1, hidden = noise * at->null;
  combine(hand, next);
  follow_covariates(at, hand);
  for (int halved = 0; halved < 60; halved++) {
    settle(at, hand, next);
    const double fall = before - next->loss - lambda * next->l1 + hidden;
    if (fall >= 0 && slope_at_end(hand, m, lambda) <= 2 * fall) {
      const struct point point = *now;
      *now = *next;
      *next = point;
      return 0;
    }
    go_back(hand, m, at->pb->q);
  }
  look_at(at, hand, now);
  return 1;
}

/* What scaling the dual point by s < 1 costs it, to second order; `product` is beta'c. */
static double cost_of_scaling(const struct hand *hand, ptrdiff_t m, double s, double product) {
  double curve = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double alpha = fabs(hand->v[i]);
    if (alpha > 0)
      curve += alpha * alpha / fmax(hand->h[i], alpha * (1 - s));
  }
  return (1 - s) * (product + (1 - s) * curve / 2);
}

/* Goes on from the last two solutions in a straight line, signs kept. */
static void extrapolate(const struct l1 *at, struct hand *hand, double lambda) {
  const double ahead = (lambda - hand->lambda) / (hand->lambda - hand->before);
  for (int k = 0; k < hand->count; k++) {
    const double beta = hand->now.beta[k], to = beta + ahead * (beta - hand->last[k]);
    hand->next.beta[k] = beta * to > 0 && hand->last[k] != 0 ? to : beta;
    hand->last[k] = beta;
  }
  if (ahead > 0 && ahead < 2) {
    factor_covariates(at, hand);
    improve(at, hand, lambda);
  }
}

/* Brings c up to date for the columns in hand and returns about what the gap would be without the
   other columns. *zeros: the largest |c_k| without a coefficient. */
static double gap_in_hand(const struct l1 *at, struct hand *hand, double lambda, double *zeros) {
  const double sum = sum_of(at->pb->m, hand->v);
  double most = lambda, product = 0;
  *zeros = 0;
  for (int k = 0; k < hand->count; k++) {
    const double c = column_product(&hand->own, own_number(hand, k), hand->v, sum);
    hand->c[k] = c;
    most = fmax(most, fabs(c));
    product += c * hand->now.beta[k];
    if (hand->now.beta[k] == 0)
      *zeros = fmax(*zeros, fabs(c));
  }
  const double gap = lambda * hand->now.l1 - product;
  return most > lambda ? gap + cost_of_scaling(hand, at->pb->m, lambda / most, product) : gap;
}

/* Minimises over the columns in hand until about that gap is left. EARLY_STOP when rounding is in
   the way. Where too many coefficients came at once for Newton's step to keep their signs, fewer
   come the next time: those that break the optimality conditions worst. For small lambda a slope
   that misses it by little costs the dual point much, so the slopes are asked for more digits as
   long as the gap does not fall. */
static enum status solve_in_hand(struct l1 *at, struct hand *hand, double lambda, double goal) {
  double best = INFINITY, value = INFINITY, share = 1, slack = 1, zeros;
  enum way way = ALL_CUT;
  int waited = 0;
  for (int step = 0; step < STEPS && waited < PATIENCE; step++) {
    if (at->host->stop(at->host, at->done, at->total))
      return INTERRUPTED;
    const double gap = gap_in_hand(at, hand, lambda, &zeros);
    if (gap <= goal)
      return COMPLETE;
    const double now = hand->now.loss + lambda * hand->now.l1;
    waited = gap < best / 2 || now < value - 1e-3 * gap || way == SOME_CUT ? 0 : waited + 1;
    if (waited > 0)
      slack /= 10;
    best = fmin(best, gap);
    value = now;
    factor_covariates(at, hand);
    memcpy(hand->next.beta, hand->now.beta, (size_t)hand->count * sizeof(double));
    const int came = way == ALL_CUT || (way == FREE && zeros > lambda);
    if (came)
      descend(at, hand, lambda, share < 1 ? zeros - share * fmax(zeros - lambda, 0) : 0);
    const double enough = goal / (2 * fmax(hand->now.l1, at->null / lambda * 1e-3));
    way = newton(at, hand, lambda, slack * enough);
    if (came)
      share = way == SOME_CUT ? share / 4 : fmin(1, 2 * share);
    if (improve(at, hand, lambda) != 0)
      return EARLY_STOP;
  }
  return EARLY_STOP;
}

/* ---- the engine ---- */

/* The model in the state becomes the point at hand. */
static void adopt(struct l1 *at, struct hand *hand) {
  hand->count = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    hand->place[k] = -1;
  for (int k = 0; k < at->size; k++)
    take(at, hand, at->feature[k], at->beta[k], 0);
  memcpy(hand->now.u, at->u, (size_t)at->pb->q * sizeof(double));
  combine(hand, &hand->now);
  settle(at, hand, &hand->now);
}

static void give_residual(struct l1 *at, const struct hand *hand) {
  for (ptrdiff_t i = 0; i < at->pb->m; i++)
    at->r[i] = hand->v[i] / at->pb->root_w[i];
}

/* The point at hand becomes the solution. */
static void give_model(struct l1 *at, const struct hand *hand) {
  at->size = 0;
  for (int k = 0; k < hand->count; k++)
    if (hand->now.beta[k] != 0) {
      at->feature[at->size] = hand->column[k];
      at->beta[at->size++] = hand->now.beta[k];
    }
  memcpy(at->u, hand->now.u, (size_t)at->pb->q * sizeof(double));
}

void logistic_begin(struct l1 *at) {
  const struct problem *pb = at->pb;
  const ptrdiff_t m = pb->m;
  struct hand *hand = at->engine;
  struct room room = {at->engine, (sizeof(struct hand) + 15) / 16 * 16};
  *hand = (struct hand){.count = 0};
  lay_out(hand, &room, pb, &at->control);
  for (ptrdiff_t i = 0; i < m; i++)
    hand->w[i] = pb->root_w[i] * pb->root_w[i];
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    at->u[l] = 0;
    for (ptrdiff_t i = 0; i < m; i++)
      hand->B[i + l * m] = pb->Q[i + l * m] / pb->root_w[i];
  }
  adopt(at, hand);
  give_residual(at, hand);
  give_model(at, hand);
  at->null = at->primal = at->dual = hand->now.loss;
}

/* The solution that stands stays that without columns. */
enum status logistic_start(struct l1 *at) {
  adopt(at, at->engine);
  at->size = 0;
  return COMPLETE;
}

/* The objective at the point at hand, and the value of its dual point. */
static double measure(struct l1 *at, const struct hand *hand, double lambda) {
  const double s = at->most > lambda ? lambda / at->most : 1;
  at->primal = hand->now.loss + lambda * hand->now.l1;
  at->dual = dual_at(at->pb, LOGISTIC, at->r, s);
  return at->primal - at->dual;
}

static enum status solve_rounds(struct l1 *at, struct hand *hand, double lambda) {
  const double goal = at->control.tolerance * at->null;
  double inner = goal * less;
  for (int round = 0; round < ROUNDS; round++) {
    const enum status inside = solve_in_hand(at, hand, lambda, inner);
    give_residual(at, hand);
    if (inside == INTERRUPTED || correlate(at, lambda) == INTERRUPTED)
      return INTERRUPTED;
    const double gap = measure(at, hand, lambda);
    if (gap <= goal)
      return COMPLETE;
    if (screen_again(at, lambda, hand->f) != COMPLETE)
      return INTERRUPTED;
    put_away(at, hand, 0);
    const int came = take_in(at, hand, lambda, 1);
    if (came < 0)
      return NO_ROOM;
    if (came == 0 && inside == EARLY_STOP)
      return COMPLETE;
    inner = came > 0 ? fmax(goal * less, gap / 1000) : fmin(inner / 10, goal * less);
  }
  return COMPLETE;
}

enum status logistic_solve(struct l1 *at, double lambda) {
  struct hand *hand = at->engine;
  const double primal = at->primal, dual = at->dual, most = at->most;
  put_away(at, hand, 1);
  if (lambda < hand->lambda)
    take_in(at, hand, fmax(0, 2 * lambda - hand->lambda), 0);
  extrapolate(at, hand, lambda);
  hand->before = hand->lambda;
  hand->lambda = 0;
  const enum status status = solve_rounds(at, hand, lambda);
  if (status == COMPLETE) {
    give_model(at, hand);
    hand->lambda = lambda;
    return COMPLETE;
  }
  at->primal = primal;
  at->dual = dual;
  at->most = most;
  hand->before = 0;
  adopt(at, hand);
  give_residual(at, hand);
  return status;
}
