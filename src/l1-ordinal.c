/* Proportional odds (McCullagh 1980): a loss of the linear predictor alone, as the cuts between the
   classes are optimal at each. The row of class k has two terms of a logistic regression,
   log(1 + exp(f - a_k)) and log(1 + exp(a_(k-1) - f)), of which the first class lacks the second
   and the last class the first, and -log(1 - exp(a_(k-1) - a_k)), which f is not in. */
#include "l1-ordinal.h"
#include "simd.h"
#include <math.h>
#include <string.h>

enum { ORDINAL_STEPS = 100, ORDINAL_HALVINGS = 60, ORDINAL_PARTS = 8 };

/* Classes and cuts count from 0: class k is between the cuts k - 1 and k. */
struct ordinal {
  ptrdiff_t m, cuts;
  const double *y;
  double *weight; /* cuts + 1, of the rows of each class */
  double *cut, *next;
  double *lean; /* cuts + 1, 1 / (exp(width) - 1) of each class, 0 of the first and the last */
  double *slope, *step;   /* cuts */
  double *pivot, *beside; /* of the second derivative by the cuts, which is tridiagonal: L D L' */
  double *above, *below;  /* m, s(f - a_k) and s(a_(k-1) - f) */
};

static ptrdiff_t ordinal_class(const double *y, ptrdiff_t i) {
  return (ptrdiff_t)y[i] - 1;
}

static ptrdiff_t ordinal_cuts(ptrdiff_t m, const double *y) {
  ptrdiff_t last = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    if (ordinal_class(y, i) > last)
      last = ordinal_class(y, i);
  return last;
}

static struct ordinal ordinal_at(ptrdiff_t m, const double *y, double *memo) {
  struct ordinal o = {.m = m, .cuts = ordinal_cuts(m, y), .y = y};
  double **parts[ORDINAL_PARTS] = {
      &o.weight, &o.cut, &o.next, &o.lean, &o.slope, &o.step, &o.pivot, &o.beside};
  for (int k = 0; k < ORDINAL_PARTS; k++)
    *parts[k] = memo + k * (o.cuts + 1);
  o.above = memo + ORDINAL_PARTS * (o.cuts + 1);
  o.below = o.above + m;
  return o;
}

ptrdiff_t l1_ordinal_memo(const struct problem *pb) {
  return 2 * pb->m + ORDINAL_PARTS * (ordinal_cuts(pb->m, pb->response) + 1);
}

/* Returns log(1 + exp(x)); s := 1 / (1 + exp(-x)). */
static double ordinal_term(double x, double *s) {
  const double t = exp(-fabs(x));
  *s = (x > 0 ? 1 : t) / (1 + t);
  return fmax(x, 0) + log1p(t);
}

/* The loss with the cuts `next`, INFINITY where they do not ascend; above, below and lean are of
   these cuts. */
static double ordinal_loss(struct ordinal *o, const double *w, const double *f) {
  double loss = 0;
  for (ptrdiff_t k = 1; k < o->cuts; k++) {
    const double width = o->next[k] - o->next[k - 1];
    if (!(width > 0))
      return INFINITY;
    o->lean[k] = 1 / expm1(width);
    loss -= o->weight[k] * log(-expm1(-width));
  }
  for (ptrdiff_t i = 0; i < o->m; i++) {
    const ptrdiff_t k = ordinal_class(o->y, i);
    o->above[i] = o->below[i] = 0;
    if (k < o->cuts)
      loss += w[i] * ordinal_term(f[i] - o->next[k], o->above + i);
    if (k > 0)
      loss += w[i] * ordinal_term(o->next[k - 1] - f[i], o->below + i);
  }
  return loss;
}

/* slope := minus the gradient by the cuts; pivot and beside := the factor of the curvature, which
   far from f there may be none of. */
static void ordinal_derive(struct ordinal *o, const double *w) {
  for (ptrdiff_t k = 0; k < o->cuts; k++) {
    const double lean = o->lean[k], next = o->lean[k + 1];
    o->slope[k] = o->weight[k] * lean - o->weight[k + 1] * next;
    o->pivot[k] = o->weight[k] * lean * (1 + lean) + o->weight[k + 1] * next * (1 + next) +
                  ORDINAL_FLAT * (o->weight[k] + o->weight[k + 1]);
  }
  for (ptrdiff_t i = 0; i < o->m; i++) {
    const ptrdiff_t k = ordinal_class(o->y, i);
    const double above = o->above[i], below = o->below[i];
    if (k < o->cuts) {
      o->slope[k] += w[i] * above;
      o->pivot[k] += w[i] * above * (1 - above);
    }
    if (k > 0) {
      o->slope[k - 1] -= w[i] * below;
      o->pivot[k - 1] += w[i] * below * (1 - below);
    }
  }
  for (ptrdiff_t k = 1; k < o->cuts; k++) {
    const double off = -o->weight[k] * o->lean[k] * (1 + o->lean[k]);
    o->beside[k] = off / o->pivot[k - 1];
    o->pivot[k] -= off * o->beside[k];
  }
}

/* x (cuts) := the inverse of the curvature by the cuts times x */
static void ordinal_solve(const struct ordinal *o, double *x) {
  for (ptrdiff_t k = 1; k < o->cuts; k++)
    x[k] -= o->beside[k] * x[k - 1];
  for (ptrdiff_t k = o->cuts - 1; k >= 0; k--) {
    x[k] /= o->pivot[k];
    if (k + 1 < o->cuts)
      x[k] -= o->beside[k + 1] * x[k + 1];
  }
}

/* next := the cuts of the classes' shares about the mean of f; returns the weight of all rows. */
static double ordinal_begin(struct ordinal *o, const double *w, const double *f) {
  double total = 0, mean = 0, below = 0;
  memset(o->weight, 0, (size_t)(o->cuts + 1) * sizeof(double));
  o->lean[0] = o->lean[o->cuts] = 0;
  for (ptrdiff_t i = 0; i < o->m; i++) {
    o->weight[ordinal_class(o->y, i)] += w[i];
    total += w[i];
    mean += w[i] * f[i];
  }
  for (ptrdiff_t k = 0; k < o->cuts; k++) {
    below += o->weight[k];
    o->next[k] = log(below / (total - below)) + mean / total;
  }
  return total;
}

/* Newton's method for the cuts, with steps that are halved while they lead upwards; returns the
   loss. Once little is promised, the last step gives all digits. */
static double ordinal_optimise(struct ordinal *o, const double *w, const double *f) {
  const size_t size = (size_t)o->cuts * sizeof(double);
  const double total = ordinal_begin(o, w, f);
  double loss = ordinal_loss(o, w, f), promise = INFINITY;
  ordinal_derive(o, w);
  for (int i = 0; i < ORDINAL_STEPS && promise > ORDINAL_ENOUGH * total; i++) {
    double after = INFINITY, by = 1;
    memcpy(o->cut, o->next, size);
    memcpy(o->step, o->slope, size);
    ordinal_solve(o, o->step);
    promise = simd->dot(o->cuts, o->step, o->slope);
    for (int halved = 0; halved < ORDINAL_HALVINGS && !(after <= loss * (1 + RISE)); halved++) {
      for (ptrdiff_t k = 0; k < o->cuts; k++)
        o->next[k] = o->cut[k] + by * o->step[k];
      after = ordinal_loss(o, w, f);
      by /= 2;
    }
    loss = after;
    ordinal_derive(o, w);
  }
  return loss;
}

double l1_ordinal_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  struct ordinal o = ordinal_at(rows->m, rows->y, rows->memo);
  const double loss = ordinal_optimise(&o, rows->w, f);
  for (ptrdiff_t i = 0; i < o.m; i++) {
    v[i] = rows->w[i] * (o.below[i] - o.above[i]);
    h[i] = rows->w[i] * (o.below[i] * (1 - o.below[i]) + o.above[i] * (1 - o.above[i]));
  }
  return loss;
}

/* The cuts move by x when f moves by t, so that the balance between the classes stays. */
void l1_ordinal_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out) {
  (void)h;
  const struct ordinal o = ordinal_at(rows->m, rows->y, rows->memo);
  double *x = o.step;
  memset(x, 0, (size_t)o.cuts * sizeof(double));
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const ptrdiff_t k = ordinal_class(o.y, i);
    const double w = rows->w[i];
    if (k < o.cuts)
      x[k] += w * o.above[i] * (1 - o.above[i]) * t[i];
    if (k > 0)
      x[k - 1] += w * o.below[i] * (1 - o.below[i]) * t[i];
  }
  ordinal_solve(&o, x);
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const ptrdiff_t k = ordinal_class(o.y, i);
    const double above = k < o.cuts ? o.above[i] * (1 - o.above[i]) * (t[i] - x[k]) : 0;
    const double below = k > 0 ? o.below[i] * (1 - o.below[i]) * (t[i] - x[k - 1]) : 0;
    out[i] = rows->w[i] * (above + below);
  }
}

/* With A = s (s(a_(k-1) - f) + e) and B = s (s(f - a_k) + e), e the lean of the row's class, and
   q (q + 1) = A B it is the sum of w (H(A - q) + H(B - q) + (1 + q) log(1 + q) - q log q), H the
   entropy of two classes. */
double l1_ordinal_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)r;
  const struct ordinal o = ordinal_at(pb->m, pb->response, memo);
  double value = 0;
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const double lean = o.lean[ordinal_class(o.y, i)];
    const double A = s * (o.below[i] + lean), B = s * (o.above[i] + lean);
    const double q = 2 * A * B / (sqrt(1 + 4 * A * B) + 1);
    const double width = q > 0 ? (1 + q) * log1p(q) - q * log(q) : 0;
    value += case_weight(pb, i) * (likelihood_entropy(fmax(0, fmin(A - q, 1))) +
                                      likelihood_entropy(fmax(0, fmin(B - q, 1))) + width);
  }
  return value;
}

/* With v = r / divisor, the difference of below and above, the most that it can be: the first class
   has no below. */
double l1_ordinal_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  const double v = fabs(r[i] / pb->divisor[i]);
  return fmax(0, ordinal_class(pb->response, i) == 0 ? v * (1 - v) : (1 - v * v) / 2);
}
