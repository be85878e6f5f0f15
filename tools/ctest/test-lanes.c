/* Every function of every set of hot loops against a plain loop. */
#include "ctest.h"
#include "lanes.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- vectors that end where they end ---- */

struct pile {
  void *parts[32];
  int count;
};

static double *draw(struct pile *pile, ptrdiff_t count) {
  double *v = pile->parts[pile->count++] = room((size_t)count * sizeof(double), 0);
  for (ptrdiff_t j = 0; j < count; j++)
    v[j] = uniform();
  return v;
}

static double *copy(struct pile *pile, const double *from, ptrdiff_t count) {
  double *v = pile->parts[pile->count++] = room((size_t)count * sizeof(double), 0);
  return memcpy(v, from, (size_t)count * sizeof(double));
}

static void clear(struct pile *pile) {
  while (pile->count > 0)
    free(pile->parts[--pile->count]);
}

/* The largest difference of two vectors, infinite where one is not a number. */
static double apart(const double *a, const double *b, ptrdiff_t count) {
  double worst = 0;
  for (ptrdiff_t j = 0; j < count; j++)
    worst = fabs(a[j] - b[j]) <= worst ? worst : isnan(a[j] - b[j]) ? INFINITY : fabs(a[j] - b[j]);
  return worst;
}

/* What rounding may do to a value of about one, and to the sum of a few thousand of them. */
static const double rounded = 4e-16, summed = 1e-12;

/* ---- vectors ---- */

static void check_dots(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, m), *y = draw(&pile, m), *w = draw(&pile, m);
  const double centre = uniform();
  double dot = 0, centred = 0, square = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    dot += x[j] * y[j];
    centred += (x[j] - centre) * y[j];
    square += w[j] * (x[j] - centre) * (x[j] - centre);
  }
  CHECK_NEAR(lanes->dot(m, x, y), dot, summed);
  CHECK_NEAR(lanes->centred_dot(m, x, centre, y), centred, summed);
  CHECK_NEAR(lanes->centred_square(m, x, centre, w), square, summed);
  clear(&pile);
}

static void check_updates(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, m), *c = draw(&pile, m), *w = draw(&pile, m), f = uniform();
  const double centre = uniform();
  double *out = copy(&pile, x, m), *truth = copy(&pile, x, m);
  lanes->shift(m, out, f, c);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] -= f * c[j];
  CHECK(apart(out, truth, m) <= rounded);
  lanes->add_centred(m, out, f, c, centre);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] += f * (c[j] - centre);
  CHECK(apart(out, truth, m) <= 3 * rounded);
  lanes->shift_weighted(m, out, f, w, c, centre);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] -= f * w[j] * (c[j] - centre);
  CHECK(apart(out, truth, m) <= 6 * rounded);

  lanes->centred(m, out, x, centre, f, w);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] = f * w[j] * (x[j] - centre);
  CHECK(apart(out, truth, m) <= rounded);
  int *whole = pile.parts[pile.count++] = room((size_t)m * sizeof(int), 0);
  for (ptrdiff_t j = 0; j < m; j++)
    whole[j] = (int)(1e9 * uniform());
  lanes->centred_whole(m, out, whole, 1e9 * centre, 1e-9 * f, w);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] = f * w[j] * (1e-9 * whole[j] - centre);
  CHECK(apart(out, truth, m) <= 3 * rounded);
  clear(&pile);
}

/* k columns, ld apart, of m rows. */
static void check_columns(ptrdiff_t m, ptrdiff_t k, ptrdiff_t ld) {
  struct pile pile = {.count = 0};
  const double *C = draw(&pile, k > 0 ? ld * (k - 1) + m : 0), *f = draw(&pile, k);
  const double *g = draw(&pile, k), *x = draw(&pile, m);
  double *out = copy(&pile, x, m), *truth = copy(&pile, x, m);
  double *both = copy(&pile, x, m), *other = copy(&pile, x, m), *second = copy(&pile, x, m);
  double *dots = draw(&pile, k), *sums = draw(&pile, k);
  lanes->dots(m, x, k, C, ld, dots);
  lanes->shift_all(m, out, k, C, ld, f);
  lanes->shift_both(m, both, other, k, C, ld, f, g);
  for (ptrdiff_t i = 0; i < k; i++) {
    sums[i] = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      sums[i] += C[j + i * ld] * x[j];
      truth[j] -= f[i] * C[j + i * ld];
      second[j] -= g[i] * C[j + i * ld];
    }
  }
  CHECK(apart(dots, sums, k) <= summed);
  CHECK(apart(out, truth, m) <= 1e-14);
  CHECK(apart(both, truth, m) <= 1e-14 && apart(other, second, m) <= 1e-14);
  clear(&pile);
}

static void check_logistic(ptrdiff_t m) {
  static const double most[] = {1, 30, 800};
  for (int far = 0; far < 3; far++) {
    struct pile pile = {.count = 0};
    double *f = draw(&pile, m), *w = draw(&pile, m), *y = draw(&pile, m);
    double *v = draw(&pile, m), *h = draw(&pile, m);
    double sum = 0, worst = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      f[j] *= most[far];
      w[j] += 1.5;
      y[j] = y[j] > 0 ? 1 : -1;
      const double margin = y[j] * f[j];
      sum += w[j] * (margin < -700 ? -margin : log1p(exp(-margin)));
    }
    const double loss = lanes->logistic(m, y, w, f, v, h);
    CHECK_NEAR(loss, sum, 1e-13);
    for (ptrdiff_t j = 0; j < m; j++) {
      const double p = 1 / (1 + exp(y[j] * f[j])), other = 1 / (1 + exp(-y[j] * f[j]));
      worst = fmax(worst, fabs(v[j] - w[j] * y[j] * p));
      worst = fmax(worst, fabs(h[j] - w[j] * p * other));
    }
    CHECK_NEAR(worst, 0, 1e-14);
    clear(&pile);
  }
}

/* ---- the leave-one-out errors of a candidate ---- */

static void check_scores(ptrdiff_t m, ptrdiff_t L) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, m), *c = draw(&pile, m), *a = draw(&pile, m * L);
  double *d = draw(&pile, m), *root_w = draw(&pile, m), *t = draw(&pile, L);
  double *alpha = draw(&pile, L), *moved = copy(&pile, x, m), *out = copy(&pile, x, m);
  const double f = uniform(), kappa = 3;
  double before = 0, after = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    d[j] = 2 + uniform();
    root_w[j] += 2;
    moved[j] = x[j] - f * c[j];
  }
  for (ptrdiff_t l = 0; l < L; l++) {
    alpha[l] = t[l] / kappa;
    for (ptrdiff_t j = 0; j < m; j++) {
      const double aj = a[j + l * m];
      before += pow((aj * kappa - x[j] * t[l]) / (d[j] * kappa - x[j] * x[j]), 2);
      after += pow((aj * kappa - moved[j] * t[l]) / (d[j] * kappa - moved[j] * moved[j]), 2);
    }
  }
  CHECK_NEAR(lanes->score(m, L, x, a, d, 1 / kappa, alpha), before, summed);
  CHECK_NEAR(lanes->shift_and_score(m, L, out, f, c, a, d, 1 / kappa, alpha), after, summed);
  CHECK(apart(out, moved, m) <= rounded);
  for (ptrdiff_t l = 0; l < L; l++) {
    double worst = 0;
    lanes->residual(m, out, x, a + l * m, d, kappa, t[l], root_w);
    for (ptrdiff_t j = 0; j < m; j++) {
      const double r = (a[j + l * m] - x[j] * alpha[l]) / (d[j] - x[j] * x[j] / kappa);
      worst = fmax(worst, fabs(out[j] - r / root_w[j]));
    }
    CHECK_NEAR(worst, 0, 1e-14);
  }
  clear(&pile);
}

static void check_folds(ptrdiff_t h) {
  struct pile pile = {.count = 0};
  const double *b = draw(&pile, h), *c = draw(&pile, h), *g = draw(&pile, h), f = uniform();
  double *q = draw(&pile, h), *moved = draw(&pile, h), cq = 0, qq = 0, gc = 0, gq = 0;
  for (ptrdiff_t j = 0; j < h; j++) {
    moved[j] = q[j] + f * b[j];
    cq += c[j] * moved[j];
    qq += moved[j] * moved[j];
    gc += g[j] * c[j];
    gq += g[j] * moved[j];
  }
  const struct fold_dots fold = lanes->fold(h, q, f, b, c);
  CHECK(apart(q, moved, h) <= rounded);
  CHECK_NEAR(fold.cq, cq, summed);
  CHECK_NEAR(fold.qq, qq, summed);
  const struct pair_dots pair = lanes->pair(h, g, c, q);
  CHECK_NEAR(pair.gc, gc, summed);
  CHECK_NEAR(pair.gq, gq, summed);
  clear(&pile);
}

/* ---- products of columns with right sides ---- */

/* `columns` vectors x, ldx apart, and r vectors v, ldv apart; out is added to. */
static void check_products(ptrdiff_t m, ptrdiff_t columns, ptrdiff_t r) {
  struct pile pile = {.count = 0};
  const ptrdiff_t ldx = m + 3, ldv = m + 1;
  const double *x = draw(&pile, ldx * (columns - 1) + m), *v = draw(&pile, ldv * (r - 1) + m);
  double *out = draw(&pile, r * columns), *truth = copy(&pile, out, r * columns);
  for (ptrdiff_t i = 0; i < columns; i++)
    for (ptrdiff_t l = 0; l < r; l++)
      for (ptrdiff_t j = 0; j < m; j++)
        truth[l + i * r] += x[j + i * ldx] * v[j + l * ldv];
  lanes->products(m, columns, x, ldx, r, v, ldv, out);
  CHECK(apart(out, truth, r * columns) <= summed);

  /* x_0 as every third nonzero of a longer vector, v by rows */
  const double *w = draw(&pile, 3 * m), *turned = draw(&pile, 3 * m * (r + 2));
  int *row = pile.parts[pile.count++] = room((size_t)m * sizeof(int), 0);
  memcpy(truth, out, (size_t)r * sizeof(double));
  for (ptrdiff_t k = 0; k < m; k++) {
    row[k] = (int)(3 * k + k % 3);
    for (ptrdiff_t l = 0; l < r; l++)
      truth[l] += w[row[k]] * x[k] * turned[l + row[k] * (r + 2)];
  }
  lanes->sparse_products(m, x, row, w, r, turned, r + 2, out);
  CHECK(apart(out, truth, r) <= summed);
  clear(&pile);
}

/* ---- the candidates of a greedy search ---- */

static double *near(struct pile *pile, ptrdiff_t count, double centre) {
  double *v = draw(pile, count);
  for (ptrdiff_t j = 0; j < count; j++)
    v[j] += centre;
  return v;
}

/* What a move does to n candidates with L outputs, and the bounds; every fifth is set aside and
   every seventh has lost its digits, unless none has. */
static void check_outlook(ptrdiff_t n, ptrdiff_t L, int all_known) {
  struct pile pile = {.count = 0};
  double *square = near(&pile, n, 6), *N = near(&pile, n, 1.5), *length = near(&pile, n, 1);
  double *g = draw(&pile, n * L), *A = draw(&pile, n * L), *z = draw(&pile, n * L);
  double *reach2 = near(&pile, n, 2), *aside = draw(&pile, n), *bound = draw(&pile, n);
  double *least_N = copy(&pile, N, n), *squares = copy(&pile, square, n);
  double *gs = copy(&pile, g, n * L), *As = copy(&pile, A, n * L), *zs = copy(&pile, z, n * L);
  const double *t = draw(&pile, n), *q = draw(&pile, n), *gamma = draw(&pile, L);
  const double *c_a = draw(&pile, L), *c_ref = draw(&pile, L), *theta0 = draw(&pile, L);
  const double *theta1 = draw(&pile, L), *rest = near(&pile, L, 1);
  const double P = 50, inverse_d2 = 1.5, rounding = 1e-3;
  double lengths = 0, off = 0;
  int right = 1;
  for (ptrdiff_t i = 0; i < n; i++) {
    length[i] = sqrt(N[i]);
    aside[i] = i % 5 == 4 ? INFINITY : 0;
    square[i] = squares[i] = !all_known && i % 7 == 3 ? (i % 2 == 0 ? -1 : 1e-9) : square[i];
  }
  const struct outlook at = {n, L, square, N, length, g, A, z, reach2, aside};
  const struct outlook_move move = {
      .inverse = 0.3, .cc = 2, .t = t, .q = q, .gamma = gamma, .c_a = c_a, .c_ref = c_ref};
  lanes->outlook_advance(&at, &move);
  for (ptrdiff_t i = 0; i < n; i++) {
    /* C := C - t c / kappa and a := a - gamma c, with c'c = 2 and 1 / kappa = 0.3 */
    least_N[i] = fmax(least_N[i] - 2 * 0.3 * t[i] * q[i] + pow(0.3 * t[i], 2) * 2, 0);
    squares[i] -= 0.3 * t[i] * t[i];
    lengths = fmax(lengths, sqrt(N[i]) - length[i]);
    for (ptrdiff_t l = 0; l < L; l++) {
      gs[i + l * n] -= gamma[l] * t[i];
      As[i + l * n] += -gamma[l] * q[i] - 0.3 * t[i] * (c_a[l] - gamma[l] * 2);
      zs[i + l * n] -= 0.3 * t[i] * c_ref[l];
    }
  }
  off = fmax(apart(N, least_N, n), apart(square, squares, n));
  off = fmax(off, fmax(apart(g, gs, n * L), fmax(apart(A, As, n * L), apart(z, zs, n * L))));
  CHECK_NEAR(off, 0, 1e-14);
  CHECK(lengths <= 1e-15);

  const struct outlook_rows rows = {P, inverse_d2, rounding, theta0, theta1, rest};
  lanes->outlook_bounds(&at, &rows, bound);
  for (ptrdiff_t i = 0; i < n; i++) {
    const double beta = 1 / square[i], margin = 1e-13 * P + rounding * (1 + reach2[i] * beta);
    double value = P - margin;
    for (ptrdiff_t l = 0; l < L; l++) {
      const double alpha = beta * g[i + l * n];
      const double along = alpha * (theta0[l] * z[i + l * n] + theta1[l] * A[i + l * n]);
      value += alpha * alpha * N[i] * inverse_d2 - 2 * (along + fabs(alpha) * length[i] * rest[l]);
    }
    if (aside[i] > 0)
      right = right && bound[i] == INFINITY;
    else if (square[i] <= 0 || margin > 1e-3 * P)
      right = right && bound[i] <= -DBL_MAX;
    else
      right = right && fabs(bound[i] - value) <= 1e-12 * (1 + fabs(value));
  }
  CHECK(right);
  clear(&pile);
}

/* ---- pairs of a best-subset search ---- */

/* r'A^-1 r, A = [d, c; c, e], summed over outputs. */
static double pair_gain(const struct pair_scan *scan, ptrdiff_t j, ptrdiff_t l) {
  const double d = scan->d[j], e = scan->d[l];
  const double c = scan->C[l + j * scan->ld] - scan->a[j] * scan->inverse * scan->a[l];
  double gain = 0;
  for (ptrdiff_t o = 0; o < scan->L; o++) {
    const double s = scan->r[j + o * scan->ld], t = scan->r[l + o * scan->ld];
    gain += (s * s * e - 2 * s * t * c + t * t * d) / (d * e - c * c);
  }
  return gain;
}

/* The largest gain of j, alone or with one that it is scanned with. */
static double best_gain(const struct pair_scan *scan, ptrdiff_t p, ptrdiff_t j) {
  double most = 0;
  if (scan->d[j] <= scan->floor[j])
    return 0;
  for (ptrdiff_t o = 0; o < scan->L; o++)
    most += scan->r[j + o * scan->ld] * scan->r[j + o * scan->ld] / scan->d[j];
  for (ptrdiff_t l = (j + 1) / LANES_PAD * LANES_PAD; l < p; l++)
    if (l != j && scan->d[l] > scan->floor[l])
      most = fmax(most, pair_gain(scan, j, l));
  return most;
}

/* p candidates that are columns of m rows; the first of them is in already unless alone. */
static void check_pairs(ptrdiff_t p, ptrdiff_t L, int alone) {
  struct pile pile = {.count = 0};
  const ptrdiff_t m = p + 6, ld = (p + LANES_PAD - 1) / LANES_PAD * LANES_PAD;
  const double *x = draw(&pile, m * p), *y = draw(&pile, m * L);
  double *C = draw(&pile, ld * ld), *a = draw(&pile, ld), *d = draw(&pile, ld);
  double *r = draw(&pile, ld * L), *floor = draw(&pile, ld), *most = draw(&pile, p);
  memset(C, 0, (size_t)(ld * ld) * sizeof(double));
  memset(r, 0, (size_t)(ld * L) * sizeof(double));
  memset(a, 0, (size_t)ld * sizeof(double));
  for (ptrdiff_t j = 0; j < p; j++)
    for (ptrdiff_t l = 0; l < p; l++)
      for (ptrdiff_t row = 0; row < m; row++)
        C[l + j * ld] += x[row + j * m] * x[row + l * m];
  for (ptrdiff_t l = 0; l < p && !alone; l++)
    a[l] = C[l];
  const double inverse = alone ? 0 : 1 / C[0];
  for (ptrdiff_t l = 0; l < ld; l++) {
    floor[l] = l < p ? 1e-10 * C[l + l * ld] : 1;
    d[l] = C[l + l * ld] - a[l] * a[l] * inverse;
  }
  for (ptrdiff_t o = 0; o < L; o++) {
    for (ptrdiff_t l = 0; l < p; l++)
      for (ptrdiff_t row = 0; row < m; row++)
        r[l + o * ld] += x[row + l * m] * y[row + o * m];
    const double h = r[o * ld] * inverse;
    for (ptrdiff_t l = 0; l < p; l++)
      r[l + o * ld] -= h * a[l];
  }
  struct pair_scan scan = {ld, L, C, a, inverse, d, r, floor, 0};
  const ptrdiff_t from = alone ? 0 : 1;
  for (ptrdiff_t j = from; j < p; j++)
    most[j] = best_gain(&scan, p, j);
  int right = 1;
  for (ptrdiff_t level = from; level < p; level++)
    for (int side = -1; side <= 1; side += 2) {
      scan.need = most[level] * (1 + side * 1e-7);
      ptrdiff_t first = from;
      while (first < p && !(most[first] > scan.need))
        first++;
      right = right && lanes->pair_above(&scan, from, p) == first;
      right = right && lanes->pair_above(&scan, from, first) == first;
    }
  CHECK(right);
  clear(&pile);
}

/* ---- all of them ---- */

static void check_set(void) {
  static const ptrdiff_t longer[] = {255, 256, 257, 300, 511, 1023, 1024, 1025, 1100, 2200};
  enum { SHORT = 71, LENGTHS = SHORT + sizeof longer / sizeof *longer };
  for (int i = 0; i < LENGTHS; i++) {
    const ptrdiff_t m = i < SHORT ? i : longer[i - SHORT];
    check_dots(m);
    check_updates(m);
    check_logistic(m);
    check_folds(m);
    for (ptrdiff_t L = 1; L <= 3; L++)
      check_scores(m, L);
    for (ptrdiff_t L = 1; L <= 3; L++)
      for (int all_known = 0; all_known <= 1; all_known++)
        check_outlook(m, L, all_known);
    for (ptrdiff_t k = 0; k <= 9; k++)
      check_columns(m, k, m + k % 3);
    for (ptrdiff_t columns = 1; columns <= 4; columns++)
      for (ptrdiff_t r = 1; r <= 20; r++)
        if (m < 20 || (r + m) % 5 == 0)
          check_products(m, columns, r);
  }
  for (ptrdiff_t p = 2; p <= 34; p++)
    for (ptrdiff_t L = 1; L <= 3; L++)
      for (int alone = 0; alone <= 1; alone++)
        check_pairs(p, L, alone);
}

void test_hot_loops(void) {
  const struct lanes *widest = lanes;
  int before = 0;
  for (int width = 1; width <= 8; width *= 2) {
    lanes = lanes_for(width);
    CHECK(lanes->width <= width && lanes->width >= before);
    if (lanes->width > before) { /* a set not met yet */
      seed(2);
      check_set();
    }
    before = lanes->width;
  }
  CHECK(lanes_for(8) == lanes);
  lanes = widest;
}
