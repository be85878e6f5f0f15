/* The lasso on many columns: coordinate descent, which finds the signs, and between its sweeps
   Newton's step for those signs by conjugate gradients. Neither needs the columns' products with
   each other. */
#include "simd.h"
#include "l1-active.h"
#include <math.h>
#include <string.h>

/* v := v less w (x_j - centre_j) step, up to a multiple of w for a sparse column: an intercept
   takes no notice of it. *sum is that of v. */
static void shift_rows(const struct problem *pb, ptrdiff_t j, double step, double *v, double *sum) {
  const struct matrix *x = &pb->x;
  const double f = step * pb->inv_scale[j];
  if (x->p == NULL) {
    double less = 0;
    for (ptrdiff_t i = 0; i < pb->m; i++) {
      const double d = f * pb->root_w[i] * pb->root_w[i] * (x->x[i + j * pb->m] - pb->centre[j]);
      v[i] -= d;
      less += d;
    }
    *sum -= less;
    return;
  }
  for (int k = x->p[j]; k < x->p[j + 1]; k++) {
    const double w = pb->root_w[x->i[k]], d = f * w * w * x->x[k];
    v[x->i[k]] -= d;
    *sum -= d;
  }
}

static double soft(double value, double lambda) {
  return value > lambda ? value - lambda : value < -lambda ? value + lambda : 0;
}

/* r := v / root_w, less what the covariates explain of it; v follows. */
static double balance(struct l1 *at, double *v) {
  const struct problem *pb = at->pb;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    at->r[i] = v[i] / pb->root_w[i];
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * pb->m;
    simd->shift(pb->m, at->r, simd->dot(pb->m, q, at->r), q);
  }
  return weigh_rows(pb, at->r, v);
}

/* One sweep over the columns in hand, r and v = root_w r with it; returns the most it can have
   gained. */
static double sweep(struct l1 *at, struct hand *hand, double lambda, double *sum) {
  const struct problem *pb = at->pb;
  double gained = 0;
  for (int i = 0; i < hand->count; i++) {
    const int k = hand->column[i];
    const double h = at->norm[k] * at->norm[k], old = hand->beta[i];
    const double new = soft(column_product(pb, k, hand->v, *sum) + h * old, lambda) / h;
    if (new == old)
      continue;
    hand->beta[i] = new;
    gained += h * (new - old) * (new - old);
    shift_rows(pb, k, new - old, hand->v, sum);
  }
  *sum = balance(at, hand->v);
  return gained;
}

/* out := the products of the columns of the support with the model of coefficients p. */
static void multiply(struct l1 *at, struct hand *hand, const double *p, double *out) {
  const struct problem *pb = at->pb;
  predict_rows(pb, hand->count, hand->column, p, hand->f);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    hand->a[i] = pb->root_w[i] * hand->f[i];
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * pb->m;
    simd->shift(pb->m, hand->a, simd->dot(pb->m, q, hand->a), q);
  }
  const double sum = weigh_rows(pb, hand->a, hand->v);
  for (int i = 0; i < hand->count; i++)
    out[i] = hand->beta[i] != 0 ? column_product(pb, hand->column[i], hand->v, sum) : 0;
}

/* hand->target := Newton's step on the support with its signs, by preconditioned conjugate
   gradients until the residual has fallen by `fall`. */
static void newton_step(struct l1 *at, struct hand *hand, double lambda, double fall) {
  enum { MOST_STEPS = 100 };
  const struct problem *pb = at->pb;
  double *d = hand->target, *left = hand->l, *p = hand->c, *Hp = hand->s, rz = 0, first = 0;
  const double sum = weigh_rows(pb, at->r, hand->v);
  for (int i = 0; i < hand->count; i++) {
    const double beta = hand->beta[i], h = at->norm[hand->column[i]];
    d[i] = p[i] = left[i] = 0;
    if (beta == 0)
      continue;
    left[i] = column_product(pb, hand->column[i], hand->v, sum) - copysign(lambda, beta);
    p[i] = left[i] / (h * h);
    rz += left[i] * p[i];
  }
  first = rz;
  for (int step = 0; step < MOST_STEPS && rz > fall * fall * first; step++) {
    multiply(at, hand, p, Hp);
    const double pHp = simd->dot(hand->count, p, Hp), alpha = rz / pHp;
    if (!(pHp > 0))
      return;
    double new_rz = 0;
    for (int i = 0; i < hand->count; i++) {
      const double h = at->norm[hand->column[i]];
      d[i] += alpha * p[i];
      left[i] -= alpha * Hp[i];
      new_rz += left[i] * left[i] / (h * h);
    }
    for (int i = 0; i < hand->count; i++) {
      const double h = at->norm[hand->column[i]];
      p[i] = left[i] / (h * h) + new_rz / rz * p[i];
    }
    rz = new_rz;
  }
}

static double objective(const struct l1 *at, const struct hand *hand, double lambda) {
  double l1 = 0;
  for (int i = 0; i < hand->count; i++)
    l1 += fabs(hand->beta[i]);
  return simd->dot(at->pb->m, at->r, at->r) / 2 + lambda * l1;
}

/* beta := old + step, where that changes a sign 0. */
static void move(struct hand *hand, const double *old, double step) {
  for (int i = 0; i < hand->count; i++) {
    const double after = old[i] + step * hand->target[i];
    hand->beta[i] = old[i] * after > 0 ? after : 0;
  }
}

/* Takes Newton's step, or a shorter one that lowers the objective, or none. */
static void take_step(struct l1 *at, struct hand *hand, double lambda) {
  double *old = hand->l, step = 1;
  const double before = objective(at, hand, lambda);
  memcpy(old, hand->beta, (size_t)hand->count * sizeof(double));
  for (int tries = 0; tries < 4; tries++, step /= 4) {
    move(hand, old, step);
    make_residual(at, hand);
    if (objective(at, hand, lambda) < before)
      return;
  }
  memcpy(hand->beta, old, (size_t)hand->count * sizeof(double));
  make_residual(at, hand);
}

/* Sweeps between two Newton steps, and rounds of both at most. */
enum { SWEEPS = 4, MOST_ROUNDS = 1000 };

enum status descend(struct l1 *at, struct hand *hand, double lambda, double enough) {
  make_residual(at, hand);
  for (int round = 0; round < MOST_ROUNDS; round++) {
    double sum = weigh_rows(at->pb, at->r, hand->v);
    for (int i = 0; i < SWEEPS; i++)
      if (sweep(at, hand, lambda, &sum) <= enough)
        return COMPLETE;
    newton_step(at, hand, lambda, 0.3);
    take_step(at, hand, lambda);
    if (at->host->stop(at->host, at->done, at->total))
      return INTERRUPTED;
  }
  return COMPLETE;
}
