/* Safe bounds for the logistic loss, (27): min over mu > 0 and nu of
   F = -gamma mu + mu sum w log(1 + exp(t)),  t = y (sign x + nu) / mu,
   any of which is a bound of the product with alpha. */
#include "l1-safe.h"
#include <math.h>

/* ---- F and its derivatives ---- */

/* Sums over the rows at one (mu, nu), p = 1 / (1 + exp(-t)), q = p (1 - p). */
struct safe_sums {
  double loss;       /* sum of w log(1 + exp(t)) */
  double balance;    /* sum of w y p */
  double entropy;    /* sum of w H(p) */
  double q, qt, qtt; /* sums of w q, w q y t, w q t^2 */
};

/* Adds a row with t, label y and weight w. */
static void safe_add_rows(struct safe_sums *sums, double t, double y, double w) {
  const double e = exp(-fabs(t)), large = 1 / (1 + e), p = t > 0 ? large : e * large;
  const double loss = fmax(t, 0) + log1p(e), q = e * large * large;
  sums->loss += w * loss;
  sums->balance += w * y * p;
  sums->entropy += w * (loss - t * p);
  sums->q += w * q;
  sums->qt += w * q * y * t;
  sums->qtt += w * q * t * t;
}

static struct safe_sums safe_sum_rows(
    const struct safe_column *column, int sign, double mu, double nu) {
  struct safe_sums sums = {0};
  for (ptrdiff_t k = 0; k < column->d; k++) {
    const double y = column->y[k];
    safe_add_rows(&sums, y * (sign * column->x[k] + nu) / mu, y, column->w[k]);
  }
  for (int c = 0; c < 2; c++)
    if (column->rest[c] > 0)
      safe_add_rows(&sums, (c == 0 ? nu : -nu) / mu, c == 0 ? 1 : -1, column->rest[c]);
  return sums;
}

/* Newton's step for F; when unbalanced nu stays. *gain := twice what it promises. */
static struct safe_multipliers safe_newton_step(
    const struct safe_sums *sums, double gamma, int balanced, double mu, double *gain) {
  const double g_nu = sums->balance, g_mu = sums->entropy - gamma;
  struct safe_multipliers step = {0, 0, 0};
  if (!balanced) {
    step.mu = -mu * g_mu / sums->qtt;
  } else {
    const double det = sums->q * sums->qtt - sums->qt * sums->qt;
    step.nu = -mu * (sums->qtt * g_nu + sums->qt * g_mu) / det;
    step.mu = -mu * (sums->qt * g_nu + sums->q * g_mu) / det;
  }
  *gain = -(step.nu * g_nu + step.mu * g_mu);
  return step;
}

/* ---- the search ---- */

/* What the entropy of an alpha can be at most. */
static double safe_largest_entropy(const struct safe_data *s) {
  const double all = s->weights[0] + s->weights[1];
  return all * (s->balanced ? likelihood_entropy(s->weights[0] / all) : log(2));
}

/* Where F is least to the second order about the alpha of largest entropy, which is g above gamma:
   its shares are those of the classes, its products all alike up to the column's. From a point
   where F was least for another g, mu goes with the inverse root of g. */
static struct safe_multipliers safe_start(const struct safe_data *s,
    const struct safe_column *column, int sign, double g, struct safe_multipliers last) {
  const double all = s->weights[0] + s->weights[1];
  const double plus = s->balanced ? s->weights[1] / all : 0.5, odds = log(plus / (1 - plus));
  struct safe_multipliers point = {.g = g};
  if (last.g > 0) {
    point.mu = last.mu * sqrt(last.g / g);
    point.nu = s->balanced ? last.nu + odds * (point.mu - last.mu) : 0;
  } else {
    point.mu = sqrt(plus * (1 - plus) * column->square / (2 * g));
    point.nu = s->balanced ? odds * point.mu - sign * column->mean : 0;
  }
  return point;
}

/* The search for the least F of one sign. */
struct safe_search {
  const struct safe_data *s;
  const struct safe_column *column;
  int sign;
  double gamma, enough;
  double best, mu; /* the least F so far, rounding added, and its mu */
};

/* F at a point; keeps the least. */
static double safe_evaluate(
    struct safe_search *search, struct safe_multipliers point, struct safe_sums *sums) {
  *sums = safe_sum_rows(search->column, search->sign, point.mu, point.nu);
  const double slack = safe_rounding(search->column->d, point.mu * (sums->loss + search->gamma));
  const double F = point.mu * (sums->loss - search->gamma);
  if (F + slack < search->best) {
    search->best = F + slack;
    search->mu = point.mu;
  }
  return F;
}

/* Whether the best F already tells that the bound is not above `enough`. */
static int safe_is_enough(const struct safe_search *search) {
  return search->enough < INFINITY && search->best <= search->enough;
}

enum { SAFE_NEWTON_STEPS = 30, SAFE_BRACKET_STEPS = 80 };

/* Newton's method from a point for which F is nearly quadratic. Returns 0 when it makes no
   progress: where gamma is far below the largest entropy F has almost an edge. */
static int safe_newton_search(struct safe_search *search, struct safe_multipliers *point) {
  struct safe_sums sums;
  double F = safe_evaluate(search, *point, &sums);
  for (int i = 0; i < SAFE_NEWTON_STEPS && !safe_is_enough(search); i++) {
    double gain;
    const struct safe_multipliers step =
        safe_newton_step(&sums, search->gamma, search->s->balanced, point->mu, &gain);
    if (gain <= SAFE_NEWTON_GAIN * fabs(F))
      return 1;
    const struct safe_multipliers next = {point->mu + step.mu, point->nu + step.nu, point->g};
    if (!(next.mu > 0.1 * point->mu && next.mu < 10 * point->mu))
      return 0;
    if (F - gain > search->enough) {
      search->best = INFINITY;
      return 1;
    }
    const double value = safe_evaluate(search, next, &sums);
    if (!(value <= F + RISE * fabs(F)))
      return 0;
    *point = next;
    F = value;
  }
  return safe_is_enough(search);
}

/* The best nu for a mu: between ends that are known, where the classes balance. Returns F. */
static double safe_best_nu(
    struct safe_search *search, struct safe_multipliers *point, struct safe_sums *sums) {
  const struct safe_column *column = search->column;
  const double odds = fabs(log(search->s->weights[0] / search->s->weights[1]));
  double low = INFINITY, high = -INFINITY;
  for (ptrdiff_t k = 0; k < column->d; k++) {
    low = fmin(low, -search->sign * column->x[k]);
    high = fmax(high, -search->sign * column->x[k]);
  }
  if (column->rest[0] + column->rest[1] > 0) {
    low = fmin(low, 0);
    high = fmax(high, 0);
  }
  low -= point->mu * odds;
  high += point->mu * odds;
  for (int i = 0;; i++) {
    const double F = safe_evaluate(search, *point, sums), slope = sums->balance;
    *(slope > 0 ? &high : &low) = point->nu;
    if (i == SAFE_BRACKET_STEPS || !search->s->balanced ||
        fabs(slope) * (high - low) <= SAFE_BRACKET_GAIN * fabs(F))
      return F;
    point->nu -= slope * point->mu / sums->q;
    if (!(point->nu > low && point->nu < high))
      point->nu = (low + high) / 2;
  }
}

/* The least F along mu, with the best nu of each: convex, its slope the entropy less gamma. */
static void safe_bracket_search(struct safe_search *search, struct safe_multipliers *point) {
  double low = 0, high = INFINITY;
  for (int i = 0; i < SAFE_BRACKET_STEPS && !safe_is_enough(search); i++) {
    struct safe_sums sums;
    const double F = safe_best_nu(search, point, &sums), slope = sums.entropy - search->gamma;
    *(slope > 0 ? &high : &low) = point->mu;
    const double gain = fabs(slope) * (slope > 0 ? point->mu - low : high - point->mu);
    if (gain <= SAFE_BRACKET_GAIN * fabs(F))
      return;
    if (F - gain > search->enough) {
      search->best = INFINITY;
      return;
    }
    const double curve = sums.qtt - (search->s->balanced ? sums.qt * sums.qt / sums.q : 0);
    const double newton = point->mu - slope * point->mu / curve, old = point->mu;
    const double middle = high == INFINITY ? 10 * low : low == 0 ? high / 10 : sqrt(low * high);
    point->mu = newton > low && newton < high ? newton : middle;
    point->nu *= point->mu / old;
  }
}

struct safe_line safe_logistic_line(const struct safe_data *s, const struct safe_column *column,
    int sign, double gamma, double enough, struct safe_multipliers *point) {
  const double bar = safe_largest_entropy(s);
  gamma = fmin(gamma, bar * (1 - SAFE_ENTROPY_ROUNDING - 4 * DBL_EPSILON * (double)column->d));
  struct safe_search search = {s, column, sign, gamma, enough, INFINITY, 0};
  *point = safe_start(s, column, sign, bar - gamma, *point);
  if (!safe_newton_search(&search, point))
    safe_bracket_search(&search, point);
  return (struct safe_line){gamma, search.best, -search.mu};
}
