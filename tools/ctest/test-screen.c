/* Safe bounds against linear programs solved by enumeration and against the
 * maximum itself. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int never(struct host *host, double done, double total) {
  (void)host;
  CHECK(done <= total);
  return 0;
}

static int at_once(struct host *host, double done, double total) {
  (void)done, (void)total;
  return host->self == NULL;
}

static struct host lend(int threads) {
  return (struct host){.threads = threads, .stop = never};
}

/* Room filled with a pattern, of the size that was asked for. */
static double *bounds(const struct problem *pb, enum loss loss, double gamma, double enough,
    const int *skip, int threads) {
  struct host host = lend(threads);
  double *T = room((size_t)pb->n * sizeof(double), 0);
  void *work = room(safe_work(pb, loss, threads), 0x5a);
  for (ptrdiff_t j = 0; j < pb->n; j++)
    T[j] = -7;
  CHECK(safe_bounds(pb, loss, gamma, enough, skip, &host, work, T) == COMPLETE);
  free(work);
  return T;
}

static double weight(const struct problem *pb, ptrdiff_t i) {
  return pb->root_w[i] * pb->root_w[i];
}

static int with_intercept(const struct problem *pb) {
  return pb->q > 0;
}

/* v (m) := column j with the labels folded in; projected when there are
   covariates beyond an intercept. */
static void folded_column(const struct made *made, ptrdiff_t j, double *v) {
  const struct problem *pb = &made->pb;
  if (pb->q > 1)
    working_column(pb, j, v);
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double x = (made->x[i + j * pb->m] - pb->centre[j]) * pb->inv_scale[j];
    v[i] = pb->response[i] * (pb->q > 1 ? v[i] / pb->root_w[i] : x);
  }
}

/* ---- max v'alpha, 0 <= alpha <= w, y'alpha = 0 (when balanced), c'alpha >= b:
   at a vertex all but two alpha are at an end ---- */

struct program {
  ptrdiff_t m;
  int balanced;
  const double *v, *w, *y, *c;
  double b;
};

static double value_if_feasible(const struct program *lp, const double *alpha) {
  double v = 0, y = 0, c = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    if (alpha[i] < -1e-12 || alpha[i] > lp->w[i] + 1e-12)
      return -INFINITY;
    v += lp->v[i] * alpha[i];
    y += lp->y[i] * alpha[i];
    c += lp->c[i] * alpha[i];
  }
  return (lp->balanced && fabs(y) > 1e-10) || c < lp->b - 1e-10 ? -INFINITY : v;
}

/* The rows f and g are set so that y'alpha = 0 and c'alpha = b, or f alone,
   when it is g too, for one of both. */
static double with_free(const struct program *lp, double *alpha, ptrdiff_t f, ptrdiff_t g) {
  double y = 0, c = 0;
  alpha[f] = alpha[g] = 0;
  for (ptrdiff_t i = 0; i < lp->m; i++) {
    y += lp->y[i] * alpha[i];
    c += lp->c[i] * alpha[i];
  }
  if (f == g) {
    alpha[f] = -y / lp->y[f];
    const double best = value_if_feasible(lp, alpha);
    alpha[f] = (lp->b - c) / lp->c[f];
    return fmax(best, value_if_feasible(lp, alpha));
  }
  const double det = lp->y[f] * lp->c[g] - lp->y[g] * lp->c[f];
  if (det == 0)
    return -INFINITY;
  alpha[f] = (-y * lp->c[g] - (lp->b - c) * lp->y[g]) / det;
  alpha[g] = (lp->y[f] * (lp->b - c) + lp->c[f] * y) / det;
  return value_if_feasible(lp, alpha);
}

static double solve_program(const struct program *lp) {
  double best = -INFINITY, *alpha = room((size_t)lp->m * sizeof(double), 0);
  for (int ends = 0; ends < 1 << lp->m; ends++)
    for (ptrdiff_t f = -1; f < lp->m; f++)
      for (ptrdiff_t g = f < 0 ? 0 : f; g < (f < 0 ? 1 : lp->m); g++) {
        if (f >= 0 && (ends >> f & 1 || ends >> g & 1))
          continue; /* where they are does not depend on an end */
        for (ptrdiff_t i = 0; i < lp->m; i++)
          alpha[i] = ends >> i & 1 ? lp->w[i] : 0;
        best = fmax(best, f < 0 ? value_if_feasible(lp, alpha) : with_free(lp, alpha, f, g));
      }
  free(alpha);
  return best;
}

static double solve_both_signs(struct program *lp, double *v) {
  double best = solve_program(lp);
  for (ptrdiff_t i = 0; i < lp->m; i++)
    v[i] = -v[i];
  best = fmax(best, solve_program(lp));
  return best;
}

static const struct shape small[] = {
    {.m = 7, .n = 6, .L = 1, .q = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 1, .weights = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 1, .weights = 1, .sparse = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 0, .weights = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 0, .sparse = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 3, .weights = 1, .classes = 1},
    {.m = 7, .n = 6, .L = 1, .q = 2, .sparse = 1, .classes = 1},
};
enum { SMALL = sizeof(small) / sizeof(small[0]) };

/* Labels with as many of one class as asked. */
static void relabel(struct made *made, ptrdiff_t positive) {
  double *y = (double *)made->pb.response;
  for (ptrdiff_t i = 0; i < made->pb.m; i++)
    y[i] = i * 3 % made->pb.m < positive ? 1 : -1;
}

static double class_weight(const struct problem *pb, double label) {
  double sum = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    sum += pb->response[i] == label ? weight(pb, i) : 0;
  return sum;
}

static double entropy_by_hand(double p) {
  return (p > 0 ? -p * log(p) : 0) + (p < 1 ? -(1 - p) * log(1 - p) : 0);
}

static double largest_entropy(const struct problem *pb) {
  const double plus = class_weight(pb, 1), all = plus + class_weight(pb, -1);
  return all * (with_intercept(pb) ? entropy_by_hand(plus / all) : log(2));
}

/* The largest dual value of all alpha that balance, and of all r. */
static double null_value(const struct problem *pb, enum loss loss) {
  double yy = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    yy += pb->y[i] * pb->y[i];
  if (loss == LEAST_SQUARES)
    return yy / 2;
  if (loss == LOGISTIC)
    return largest_entropy(pb);
  const double plus = class_weight(pb, 1), minus = class_weight(pb, -1);
  return with_intercept(pb) ? 2 * fmin(plus, minus) : plus + minus;
}

static void hinge_is_the_program(struct shape shape, ptrdiff_t positive) {
  struct made made = make(shape);
  const struct problem *pb = &made.pb;
  relabel(&made, positive);
  double *v = room((size_t)pb->m * sizeof(double), 0);
  double *ones = room((size_t)pb->m * sizeof(double), 0);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    ones[i] = 1;
  const double part[] = {0, 0.2, 0.55, 0.83, 1};
  for (int p = 0; p < 5; p++) {
    const double gamma = part[p] * null_value(pb, HINGE);
    double *T = bounds(pb, HINGE, gamma, INFINITY, NULL, 1);
    for (ptrdiff_t j = 0; j < pb->n; j++) {
      if (!pb->usable[j]) {
        CHECK(T[j] == 0);
        continue;
      }
      folded_column(&made, j, v);
      struct program lp = {pb->m, with_intercept(pb), v, made.w, pb->response, ones, gamma};
      const double exact = solve_both_signs(&lp, v);
      CHECK(T[j] >= exact - 1e-13);
      CHECK_NEAR(T[j], exact, 1e-9);
    }
    free(T);
  }
  free(v);
  free(ones);
  discard(&made);
}

/* The knapsack around a model, with the dual points that balance alone; how
   many columns had such a point. */
static int knapsack_is_the_program(struct shape shape, ptrdiff_t positive, double gap) {
  struct made made = make(shape);
  const struct problem *pb = &made.pb;
  const ptrdiff_t m = pb->m;
  relabel(&made, positive);
  double *v = room((size_t)m * sizeof(double), 0), *f = room((size_t)m * sizeof(double), 0);
  double *c = room((size_t)m * sizeof(double), 0);
  double *T = room((size_t)pb->n * sizeof(double), 0), b = -gap;
  int feasible = 0;
  for (ptrdiff_t i = 0; i < m; i++) {
    const double h = i == 2 ? 0 : uniform();
    f[i] = pb->response[i] * (1 - h);
    c[i] = h; /* sum of |h| |alpha - hat| = sum of (h > 0) h w - h alpha <= gap */
    b += h > 0 ? h * weight(pb, i) : 0;
  }
  struct host host = lend(1);
  void *work = room(safe_work(pb, HINGE, 1), 0x5a);
  CHECK(safe_hinge_gap_bounds(pb, f, gap, NULL, &host, work, T) == COMPLETE);
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    if (!pb->usable[j])
      continue;
    folded_column(&made, j, v);
    struct program lp = {m, with_intercept(pb), v, made.w, pb->response, c, b};
    const double exact = solve_both_signs(&lp, v);
    feasible += exact > 0;
    CHECK(exact == -INFINITY || T[j] >= exact - 1e-13);
    CHECK(exact == -INFINITY || T[j] <= exact * (1 + 3e-3) + 1e-9);
  }
  free(v), free(f), free(c), free(T), free(work);
  discard(&made);
  return feasible;
}

/* ---- logistic ---- */

/* alpha of the maximum for one mu, balanced by nu; its entropy. */
static double entropy_for(const struct problem *pb, const double *v, double mu, double *alpha) {
  double low = -1e4, high = 1e4, entropy = 0;
  for (int round = 0; round < (with_intercept(pb) ? 60 : 1); round++) {
    const double nu = with_intercept(pb) ? (low + high) / 2 : 0;
    double balance = 0;
    for (ptrdiff_t i = 0; i < pb->m; i++) {
      alpha[i] = weight(pb, i) / (1 + exp(-(v[i] + nu * pb->response[i]) / mu));
      balance += pb->response[i] * alpha[i];
    }
    *(balance > 0 ? &high : &low) = nu;
  }
  for (ptrdiff_t i = 0; i < pb->m; i++)
    entropy += weight(pb, i) * entropy_by_hand(alpha[i] / weight(pb, i));
  return entropy;
}

static double logistic_maximum(const struct problem *pb, const double *v, double gamma) {
  double *alpha = room((size_t)pb->m * sizeof(double), 0), value = 0;
  double low = log(1e-3), high = log(1e7);
  for (int round = 0; round < 60; round++) {
    const double mu = exp((low + high) / 2);
    *(entropy_for(pb, v, mu, alpha) > gamma ? &high : &low) = log(mu);
  }
  entropy_for(pb, v, exp(high), alpha);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    value += v[i] * alpha[i];
  free(alpha);
  return value;
}

static void logistic_is_the_maximum(struct shape shape, ptrdiff_t positive) {
  struct made made = make(shape);
  const struct problem *pb = &made.pb;
  relabel(&made, positive);
  double *v = room((size_t)pb->m * sizeof(double), 0);
  const double part[] = {0.3, 0.8, 0.99, 1 - 1e-7};
  for (int p = 0; p < 4; p++) {
    const double gamma = part[p] * largest_entropy(pb);
    double *T = bounds(pb, LOGISTIC, gamma, INFINITY, NULL, 1);
    for (ptrdiff_t j = 0; j < pb->n; j++) {
      if (!pb->usable[j])
        continue;
      folded_column(&made, j, v);
      double exact = logistic_maximum(pb, v, gamma);
      for (ptrdiff_t i = 0; i < pb->m; i++)
        v[i] = -v[i];
      exact = fmax(exact, logistic_maximum(pb, v, gamma));
      CHECK(T[j] >= exact * (1 - 1e-12) - 1e-12);
      CHECK_NEAR(T[j], exact, 1e-7);
    }
    free(T);
  }
  free(v);
  discard(&made);
}

/* At the largest entropy there is one alpha; without a bound all are allowed.
 */
TEST(screen_logistic_ends) {
  seed(76);
  struct made made = make((struct shape){.m = 40, .n = 6, .L = 1, .q = 1, .classes = 1});
  const struct problem *pb = &made.pb;
  relabel(&made, 9);
  double *v = room((size_t)pb->m * sizeof(double), 0), most = largest_entropy(pb);
  double *ones = room((size_t)pb->m * sizeof(double), 0), zero = 0;
  double *T = bounds(pb, LOGISTIC, most, INFINITY, NULL, 1);
  double *all = bounds(pb, LOGISTIC, zero, INFINITY, NULL, 1);
  double *hinge = bounds(pb, HINGE, zero, INFINITY, NULL, 1);
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    if (!pb->usable[j])
      continue;
    double product = 0;
    folded_column(&made, j, v);
    for (ptrdiff_t i = 0; i < pb->m; i++)
      product += v[i] * (pb->response[i] > 0 ? 31 : 9) / 40.0;
    CHECK(T[j] >= fabs(product));
    CHECK_NEAR(T[j], fabs(product), 1e-4);
    CHECK(all[j] >= hinge[j] * (1 - 1e-9));
    CHECK_NEAR(all[j], hinge[j], 0.02);
  }
  free(v), free(ones), free(T), free(all), free(hinge);
  discard(&made);
}

/* ---- squares ---- */

/* The farthest r in the direction of a column that has the dual value gamma. */
static void squares_are_the_maximum(struct shape shape) {
  struct made made = make(shape);
  const struct problem *pb = &made.pb;
  double *a = room((size_t)pb->m * sizeof(double), 0), yy = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    yy += pb->y[i] * pb->y[i];
  for (int p = 0; p < 4; p++) {
    const double gamma = yy / 2 * p / 4;
    double *T = bounds(pb, LEAST_SQUARES, gamma, INFINITY, NULL, 1);
    for (ptrdiff_t j = 0; j < pb->n; j++) {
      if (!pb->usable[j])
        continue;
      double aa = 0, ay = 0, value = 0, product = 0;
      working_column(pb, j, a);
      for (ptrdiff_t i = 0; i < pb->m; i++) {
        aa += a[i] * a[i];
        ay += a[i] * pb->y[i];
      }
      const double step = (ay < 0 ? -1 : 1) * sqrt((yy - 2 * gamma) / aa);
      for (ptrdiff_t i = 0; i < pb->m; i++) {
        const double r = pb->y[i] + step * a[i];
        value += r * pb->y[i] - r * r / 2;
        product += a[i] * r;
      }
      CHECK_NEAR(value, gamma, 1e-10);
      CHECK(T[j] >= fabs(product) * (1 - 1e-13));
      CHECK_NEAR(T[j], fabs(product), 1e-8);
    }
    free(T);
  }
  free(a);
  discard(&made);
}

/* ---- dual values ---- */

static double dual_of(const struct problem *pb, enum loss loss, const double *r, double s) {
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double w = weight(pb, i), alpha = s * pb->response[i] * r[i] * pb->root_w[i];
    if (loss == LEAST_SQUARES)
      value += s * r[i] * pb->y[i] - s * s * r[i] * r[i] / 2;
    else if (alpha < 0 || alpha > w * (1 + 1e-14))
      return -INFINITY;
    else
      value += loss == HINGE ? alpha : w * entropy_by_hand(alpha / w);
  }
  return value;
}

static void dual_bound_is_best(enum loss loss) {
  const int squares = loss == LEAST_SQUARES;
  struct made made =
      make((struct shape){.m = 20, .n = 3, .L = 1, .q = 1, .weights = 1, .classes = !squares});
  const struct problem *pb = &made.pb;
  double *r = room((size_t)pb->m * sizeof(double), 0);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    r[i] =
        squares ? pb->y[i] + uniform() : pb->response[i] * pb->root_w[i] * (0.35 + 0.3 * uniform());
  const double lambda[] = {0.01, 0.2, 1, 1.3, 5, 100};
  for (int l = 0; l < 6; l++) {
    const double value = l1_dual_bound(pb, loss, r, 1, 0, lambda[l]);
    double best = 0;
    for (int grid = -20000; grid <= 20000; grid++) {
      const double s = lambda[l] * grid / 20000;
      if (squares || s >= 0)
        best = fmax(best, dual_of(pb, loss, r, s));
      const double finer = 3.0 * grid / 20000;
      if (fabs(finer) <= lambda[l] && (squares || finer >= 0))
        best = fmax(best, dual_of(pb, loss, r, finer));
    }
    CHECK(value >= best * (1 - 1e-13));
    CHECK_NEAR(value, best, loss == HINGE ? 1e-3 : 1e-6);
  }
  memset(r, 0, (size_t)pb->m * sizeof(double));
  CHECK(l1_dual_bound(pb, loss, r, 0, 0, 1) == 0);
  free(r);
  discard(&made);
}

/* ---- the same bounds however they are asked for ---- */

static void many_columns(enum loss loss, int sparse, ptrdiff_t q, double part) {
  struct made made = make((struct shape){.m = 60,
      .n = 90,
      .L = 1,
      .q = q,
      .weights = 1,
      .sparse = sparse,
      .classes = loss != LEAST_SQUARES});
  struct problem *pb = &made.pb;
  int *skip = room((size_t)pb->n * sizeof(int), 0);
  const double base = part * null_value(pb, loss);
  for (ptrdiff_t j = 0; j < pb->n; j++)
    skip[j] = j % 5 == 0;
  double *whole = bounds(pb, loss, base, INFINITY, NULL, 1);
  double *threads = bounds(pb, loss, base, INFINITY, NULL, 2);
  CHECK(memcmp(whole, threads, (size_t)pb->n * sizeof(double)) == 0);
  double enough = 0;
  int above = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++)
    enough += whole[j] / (double)pb->n;
  double *some = bounds(pb, loss, base, enough, skip, 1);
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    if (skip[j])
      CHECK(some[j] == -7);
    else
      CHECK((some[j] <= enough) == (whole[j] <= enough) && some[j] >= whole[j] * (1 - 1e-10));
    above += !skip[j] && some[j] > enough;
  }
  CHECK(above > 5 && above < 70);
  pb->x = (struct matrix){.dense = made.x};
  double *dense = bounds(pb, loss, base, INFINITY, NULL, 1);
  for (ptrdiff_t j = 0; j < pb->n; j++)
    CHECK_NEAR(whole[j], dense[j], 1e-8);
  free(skip), free(whole), free(threads), free(some), free(dense);
  discard(&made);
}

static double value_between(const double *at, const double *value, int count, double lambda) {
  for (int k = 1; k < count; k++)
    if (lambda <= at[k])
      return value[k - 1] + (value[k] - value[k - 1]) * (lambda - at[k - 1]) / (at[k] - at[k - 1]);
  return value[count - 1];
}

/* Below reach the column is not out, above it is; T is that at lambda. */
static void reach_is_the_root(enum loss loss, ptrdiff_t q, int sparse) {
  struct made made = make((struct shape){
      .m = 50, .n = 40, .L = 1, .q = q, .weights = 1, .sparse = sparse, .classes = 1});
  const struct problem *pb = &made.pb;
  const double null = null_value(pb, loss), top = 60, lambda = 37;
  const double at[] = {0, 10, 20, 30, 45, 60};
  const double value[] = {0, 0.5 * null, 0.55 * null, 0.75 * null, 0.8 * null, null};
  const struct safe_knots knots = {6, at, value};
  struct host host = lend(2);
  void *work = room(safe_work(pb, loss, 2), 0x5a);
  double *T = room((size_t)pb->n * sizeof(double), 0);
  double *reach = room((size_t)pb->n * sizeof(double), 0);
  int *others = room((size_t)pb->n * sizeof(int), 0);
  for (ptrdiff_t j = 0; j < pb->n; j++)
    others[j] = 1;
  CHECK(safe_thresholds(pb, loss, &knots, lambda, top, &host, work, T, reach) == COMPLETE);
  double *own = bounds(pb, loss, value_between(at, value, 6, lambda), INFINITY, NULL, 1);
  int inside = 0;
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    CHECK_NEAR(T[j], own[j], 1e-9);
    others[j] = 0;
    for (int side = -1; side <= 1 && pb->usable[j]; side += 2) {
      const double l = reach[j] * (1 + side * 1e-6);
      const double gamma = value_between(at, value, 6, l);
      double *there = bounds(pb, loss, gamma, INFINITY, others, 1);
      if (side > 0)
        CHECK(reach[j] == top || l >= there[j]);
      else
        CHECK(l <= there[j]);
      free(there);
    }
    others[j] = 1;
    inside += reach[j] > 0 && reach[j] < top;
  }
  CHECK(inside > 10);
  free(work), free(T), free(reach), free(own), free(others);
  discard(&made);
}

TEST(screen_stops) {
  seed(77);
  struct made made = make((struct shape){.m = 10, .n = 5, .L = 1, .q = 1, .classes = 1});
  struct host host = {.threads = 1, .stop = at_once};
  void *work = room(safe_work(&made.pb, HINGE, 1), 0);
  double T[5];
  CHECK(safe_bounds(&made.pb, HINGE, 1, 1, NULL, &host, work, T) == INTERRUPTED);
  CHECK(safe_hinge_gap_bounds(&made.pb, made.pb.y, 1, NULL, &host, work, T) == INTERRUPTED);
  free(work);
  discard(&made);
}

/* The size of a block of columns is a product with the number of threads. */
TEST(screen_many_threads) {
#ifndef _OPENMP
  seed(78);
  struct made made = make((struct shape){.m = 5, .n = 3, .L = 1, .q = 1, .classes = 1});
  double *one = bounds(&made.pb, HINGE, 1, 1, NULL, 1);
  double *many = bounds(&made.pb, HINGE, 1, 1, NULL, 20000);
  CHECK(memcmp(one, many, 3 * sizeof(double)) == 0);
  free(one), free(many);
  discard(&made);
#endif
}

TEST(screen_programs) {
  int feasible = 0;
  seed(71);
  for (int s = 0; s < SMALL; s++)
    for (ptrdiff_t positive = 2; positive < 5; positive++) {
      hinge_is_the_program(small[s], positive);
      logistic_is_the_maximum(small[s], positive);
      for (int g = 0; g < 4; g++)
        feasible += knapsack_is_the_program(small[s], positive, 0.05 * g * g);
    }
  CHECK(feasible > 100);
}

TEST(screen_many_columns) {
  seed(72);
  for (int q = 0; q < 3; q++)
    for (int loss = 0; loss < 3; loss++)
      for (int sparse = 0; sparse < 2; sparse++)
        for (int part = 0; part < 2; part++)
          many_columns((enum loss)loss, sparse, q, part ? 0.3 : 0.7);
}

TEST(screen_squares) {
  seed(73);
  for (int q = 0; q < 3; q++)
    squares_are_the_maximum((struct shape){.m = 15, .n = 6, .L = 1, .q = q, .weights = 1});
}

TEST(screen_dual_bound) {
  seed(74);
  for (int loss = 0; loss < 3; loss++)
    dual_bound_is_best((enum loss)loss);
}

TEST(screen_reach) {
  seed(75);
  for (int loss = 1; loss < 3; loss++)
    for (int q = 0; q < 3; q++)
      for (int sparse = 0; sparse < 2; sparse++)
        reach_is_the_root((enum loss)loss, q, sparse);
}
