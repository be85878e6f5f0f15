/* Cumulative links (McCullagh 1980): a loss of the linear predictor alone, as the cuts between the
   classes are optimal at each. The loss of a row of class k is -log(F(u) - F(l)), with u = a_k - f,
   l = a_(k-1) - f, l of the first class -INFINITY and u of the last INFINITY. */
#include "l1-ordinal.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* A step of the cuts is the last once it promises so little, relative to the weight
   of all rows. It then leaves about the square of that. */
#define ORDINAL_ENOUGH 1e-18

/* What is added to the curvature by a cut, relative to the weight of its classes, so that there is
   a step where no row is near the cut. */
#define ORDINAL_FLAT 1e-14

/* Normal probabilities of classes narrower than this are by the density in their middle. */
#define ORDINAL_NARROW 1e-5

enum { ORDINAL_STEPS = 100, ORDINAL_HALVINGS = 60, ORDINAL_PARTS = 7 };

/* A row: minus the derivative of its loss by u and the derivative by l, and how much of the second
   derivatives by u and by l goes with f. The rest of these, which is that by u and l with the other
   sign, is the product of both slopes, since -log has it for any F. */
struct ordinal_row {
  double above, below, bent_above, bent_below;
  double dual; /* the loss + above u - below l, of links whose conjugate has no closed form */
};

/* Returns the loss of a row; width is u - l before rounding. */
typedef double ordinal_link(double u, double l, double width, struct ordinal_row *row);

/* Returns log(1 + exp(x)); s := 1 / (1 + exp(-x)). */
static double ordinal_term(double x, double *s) {
  const double t = exp(-fabs(x));
  *s = (x > 0 ? 1 : t) / (1 + t);
  return fmax(x, 0) + log1p(t);
}

/* F(x) = s(x) = 1 / (1 + exp(-x)): two terms of a logistic regression, and -log(1 - exp(l - u)),
   which f is not in. */
static double ordinal_logit(double u, double l, double width, struct ordinal_row *row) {
  double above = 0, below = 0, lean = 0, loss = 0;
  if (u < INFINITY)
    loss += ordinal_term(-u, &above);
  if (l > -INFINITY)
    loss += ordinal_term(l, &below);
  if (width < INFINITY) {
    lean = 1 / expm1(width);
    loss -= log(-expm1(-width));
  }
  *row = (struct ordinal_row){.above = above + lean,
      .below = below + lean,
      .bent_above = above * (1 - above),
      .bent_below = below * (1 - below)};
  return loss;
}

/* The root of 1 / 2, and the logarithm of the root of 2 pi. */
#define ROOT_HALF 0.70710678118654752440
#define LOG_ROOT 0.91893853320467274178

/* log F(x) of a standard normal deviate: far below 0 by its asymptotic series. */
static double ordinal_log_normal(double x) {
  if (x > -30)
    return log(erfc(-x * ROOT_HALF) / 2);
  const double t = 1 / (x * x);
  return -x * x / 2 - log(-x) - LOG_ROOT + log1p(-t * (1 - t * (3 - t * (15 - 105 * t))));
}

/* F of a standard normal deviate, by the tail in which its digits are, or by its density where the
   class is narrow. */
static double ordinal_probit(double u, double l, double width, struct ordinal_row *row) {
  const double high = l > 0 ? -l : u, low = l > 0 ? -u : l;
  double loss = high < INFINITY ? -ordinal_log_normal(high) : 0;
  if (width < ORDINAL_NARROW)
    loss = (u + l) * (u + l) / 8 + LOG_ROOT - log(width);
  else if (low > -INFINITY)
    loss -= log1p(-exp(ordinal_log_normal(low) + loss));
  const double above = u < INFINITY ? exp(loss - u * u / 2 - LOG_ROOT) : 0;
  const double below = l > -INFINITY ? exp(loss - l * l / 2 - LOG_ROOT) : 0;
  *row = (struct ordinal_row){.above = above, .below = below, .dual = loss};
  if (above > 0) {
    row->bent_above = above * (above - below + u);
    row->dual += above * u;
  }
  if (below > 0) {
    row->bent_below = below * (below - above - l);
    row->dual -= below * l;
  }
  return loss;
}

/* Classes and cuts count from 0: class k is between the cuts k - 1 and k. */
struct ordinal {
  ptrdiff_t m, cuts;
  const double *y;
  ordinal_link *link;
  double *weight; /* cuts + 1, of the rows of each class */
  double *cut, *next;
  double *slope, *step;    /* cuts */
  double *pivot, *beside;  /* of the second derivative by the cuts, which is tridiagonal: L D L' */
  struct ordinal_row *row; /* m */
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

static struct ordinal ordinal_at(ptrdiff_t m, const double *y, ordinal_link *link, double *memo) {
  struct ordinal o = {.m = m, .cuts = ordinal_cuts(m, y), .y = y, .link = link};
  double **parts[ORDINAL_PARTS] = {
      &o.weight, &o.cut, &o.next, &o.slope, &o.step, &o.pivot, &o.beside};
  for (int k = 0; k < ORDINAL_PARTS; k++)
    *parts[k] = memo + k * (o.cuts + 1);
  o.row = (struct ordinal_row *)(memo + ORDINAL_PARTS * (o.cuts + 1));
  return o;
}

ptrdiff_t l1_ordinal_memo(const struct problem *pb) {
  const ptrdiff_t each = sizeof(struct ordinal_row) / sizeof(double);
  return each * pb->m + ORDINAL_PARTS * (ordinal_cuts(pb->m, pb->response) + 1);
}

/* The loss with the cuts `next`, INFINITY where they do not ascend; the rows are of these cuts. */
static double ordinal_loss(struct ordinal *o, const double *w, const double *f) {
  double loss = 0;
  for (ptrdiff_t k = 1; k < o->cuts; k++)
    if (!(o->next[k] > o->next[k - 1]))
      return INFINITY;
  for (ptrdiff_t i = 0; i < o->m; i++) {
    const ptrdiff_t k = ordinal_class(o->y, i);
    const double high = k < o->cuts ? o->next[k] : INFINITY;
    const double low = k > 0 ? o->next[k - 1] : -INFINITY;
    loss += w[i] * o->link(high - f[i], low - f[i], high - low, o->row + i);
  }
  return loss;
}

/* slope := minus the gradient by the cuts; pivot and beside := the factor of the curvature, which
   far from f there may be none of. */
static void ordinal_derive(struct ordinal *o, const double *w) {
  double *across = o->beside; /* minus the second derivative by the cuts k - 1 and k */
  for (ptrdiff_t k = 0; k < o->cuts; k++) {
    o->slope[k] = across[k] = 0;
    o->pivot[k] = ORDINAL_FLAT * (o->weight[k] + o->weight[k + 1]);
  }
  for (ptrdiff_t i = 0; i < o->m; i++) {
    const ptrdiff_t k = ordinal_class(o->y, i);
    const struct ordinal_row row = o->row[i];
    const double both = row.above * row.below;
    if (k < o->cuts) {
      o->slope[k] += w[i] * row.above;
      o->pivot[k] += w[i] * (row.bent_above + both);
      across[k] += w[i] * both;
    }
    if (k > 0) {
      o->slope[k - 1] -= w[i] * row.below;
      o->pivot[k - 1] += w[i] * (row.bent_below + both);
    }
  }
  for (ptrdiff_t k = 1; k < o->cuts; k++) {
    const double off = -across[k];
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

static double ordinal_evaluate(
    const struct likelihood_rows *rows, ordinal_link *link, const double *f, double *v, double *h) {
  struct ordinal o = ordinal_at(rows->m, rows->y, link, rows->memo);
  const double loss = ordinal_optimise(&o, rows->w, f);
  for (ptrdiff_t i = 0; i < o.m; i++) {
    v[i] = rows->w[i] * (o.row[i].below - o.row[i].above);
    h[i] = rows->w[i] * (o.row[i].bent_above + o.row[i].bent_below);
  }
  return loss;
}

double l1_ordinal_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  return ordinal_evaluate(rows, ordinal_logit, f, v, h);
}

double l1_probit_evaluate(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  return ordinal_evaluate(rows, ordinal_probit, f, v, h);
}

/* The cuts move by x when f moves by t, so that the balance between the classes stays. */
void l1_ordinal_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out) {
  (void)h;
  const struct ordinal o = ordinal_at(rows->m, rows->y, NULL, rows->memo);
  double *x = o.step;
  memset(x, 0, (size_t)o.cuts * sizeof(double));
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const ptrdiff_t k = ordinal_class(o.y, i);
    if (k < o.cuts)
      x[k] += rows->w[i] * o.row[i].bent_above * t[i];
    if (k > 0)
      x[k - 1] += rows->w[i] * o.row[i].bent_below * t[i];
  }
  ordinal_solve(&o, x);
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const ptrdiff_t k = ordinal_class(o.y, i);
    const double above = k < o.cuts ? o.row[i].bent_above * (t[i] - x[k]) : 0;
    const double below = k > 0 ? o.row[i].bent_below * (t[i] - x[k - 1]) : 0;
    out[i] = rows->w[i] * (above + below);
  }
}

/* With A = s below and B = s above and q (q + 1) = A B it is the sum of w (H(A - q) + H(B - q) +
   (1 + q) log(1 + q) - q log q), H the entropy of two classes. */
double l1_ordinal_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)r;
  const struct ordinal o = ordinal_at(pb->m, pb->response, NULL, memo);
  double value = 0;
  for (ptrdiff_t i = 0; i < o.m; i++) {
    const double A = s * o.row[i].below, B = s * o.row[i].above;
    const double q = 2 * A * B / (sqrt(1 + 4 * A * B) + 1);
    const double width = q > 0 ? (1 + q) * log1p(q) - q * log(q) : 0;
    value += case_weight(pb, i) * (likelihood_entropy(fmax(0, fmin(A - q, 1))) +
                                      likelihood_entropy(fmax(0, fmin(B - q, 1))) + width);
  }
  return value;
}

/* The conjugate is 0 at 0 and convex, so that the value of s r is at least s times the value of r,
   the sum of the values of its rows. */
double l1_probit_value(const struct problem *pb, double *memo, const double *r, double s) {
  (void)r;
  const struct ordinal o = ordinal_at(pb->m, pb->response, NULL, memo);
  double value = 0;
  for (ptrdiff_t i = 0; i < o.m; i++)
    value += case_weight(pb, i) * o.row[i].dual;
  return s * value;
}

/* With v = r / divisor, the difference of below and above, the most that it can be: the first class
   has no below. */
double l1_ordinal_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  const double v = fabs(r[i] / pb->divisor[i]);
  return fmax(0, ordinal_class(pb->response, i) == 0 ? v * (1 - v) : (1 - v * v) / 2);
}
