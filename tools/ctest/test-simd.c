/* Every function of every set of hot loops against a plain loop. */
#include "ctest.h"
#include "simd.h"
#include <float.h>
#include <limits.h>
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

static struct column plain(const void *at) {
  return (struct column){.at = at, .fill = NAN};
}

/* ---- vectors ---- */

static void check_dots(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, m), *y = draw(&pile, m), *w = draw(&pile, m);
  const double centre = uniform();
  const struct column_loops *doubles = simd->columns + DOUBLES;
  double dot = 0, centred = 0, square = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    dot += x[j] * y[j];
    centred += (x[j] - centre) * y[j];
    square += w[j] * (x[j] - centre) * (x[j] - centre);
  }
  CHECK_NEAR(simd->dot(m, x, y), dot, summed);
  CHECK_NEAR(doubles->centred_dot(m, plain(x), centre, y), centred, summed);
  CHECK_NEAR(doubles->centred_square(m, plain(x), centre, w), square, summed);
  clear(&pile);
}

/* Means and spreads: of four columns about their centres, of losses; sums of products. */
static void check_moments(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, 4 * m), *w = draw(&pile, m), *centre = draw(&pile, 4);
  const double *four[] = {x, x + m, x + 2 * m, x + 3 * m};
  double sums[4], squares[4], products[4], largest = 0;
  simd->moments(m, four, centre, w, x, sums, squares, products);
  for (int i = 0; i < 4; i++) {
    double sum = 0, square = 0, product = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      sum += w[j] * (x[j + i * m] - centre[i]);
      square += w[j] * pow(x[j + i * m] - centre[i], 2);
      product += x[j] * (x[j + i * m] - centre[i]);
    }
    CHECK_NEAR(products[i], product, summed);
    CHECK_NEAR(sums[i], sum, summed);
    CHECK_NEAR(squares[i], square, summed);
  }
  for (ptrdiff_t L = 1; L <= 3; L++) {
    const struct loss_sums got = simd->losses(m, L, x, w, centre[0]);
    double sum = 0, spread = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      double e = 0;
      for (ptrdiff_t l = 0; l < L; l++)
        e += x[j + l * m] * x[j + l * m] / (double)L;
      sum += w[j] * w[j] * e;
      spread += w[j] * w[j] * pow(e - centre[0], 2);
    }
    CHECK_NEAR(got.sum, sum, summed);
    CHECK_NEAR(got.spread, spread, summed);
  }
  const double *a = x + m, *b = x + 2 * m;
  double got[W_PRODUCTS], truth[W_PRODUCTS] = {0}, rest = 0, excess = 0;
  simd->w_products(m, x, a, b, got);
  for (ptrdiff_t j = 0; j < m; j++) {
    truth[WW0] += x[j] * a[j];
    truth[WA] += x[j] * b[j];
    truth[W0W0] += a[j] * a[j];
    truth[W0A] += a[j] * b[j];
    truth[AA] += b[j] * b[j];
    rest += pow(x[j] - centre[0] * a[j] - centre[1] * b[j], 2);
    largest = x[j] > largest ? x[j] : largest;
    excess += fabs(x[j]) > 0.4 ? pow(fabs(x[j]) - 0.4, 2) : 0;
  }
  for (int p = 0; p < W_PRODUCTS; p++)
    CHECK_NEAR(got[p], truth[p], summed);
  CHECK_NEAR(simd->rest_square(m, x, centre[0], a, centre[1], b), rest, summed);
  CHECK_NEAR(simd->excess_square(m, x, 0.4), excess, summed);
  CHECK(simd->max_entry(m, x) == largest);
  clear(&pile);
}

static void check_quotients(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *a = draw(&pile, m);
  double *b = draw(&pile, m), *c = draw(&pile, m), *out = draw(&pile, m), *truth = draw(&pile, m);
  double sum = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    b[j] += 2;
    c[j] -= 2;
    truth[j] = a[j] / (b[j] * c[j]);
  }
  simd->quotient(m, out, a, b, c);
  CHECK(apart(out, truth, m) <= rounded);
  for (ptrdiff_t j = 0; j < m; j++) {
    truth[j] = a[j] / (b[j] * b[j]);
    sum += a[j] * a[j] / (b[j] * b[j]);
  }
  CHECK_NEAR(simd->weigh(m, a, b, out), sum, summed);
  CHECK(apart(out, truth, m) <= rounded);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] = b[j] * c[j];
  simd->weighted(m, out, b, c);
  CHECK(apart(out, truth, m) == 0);
  clear(&pile);
}

static void check_updates(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *x = draw(&pile, m), *c = draw(&pile, m), *w = draw(&pile, m), f = uniform();
  const double centre = uniform();
  double *out = copy(&pile, x, m), *truth = copy(&pile, x, m);
  simd->shift(m, out, f, c);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] -= f * c[j];
  CHECK(apart(out, truth, m) <= rounded);
  simd->shift_squares(m, out, f, c);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] -= f * c[j] * c[j];
  CHECK(apart(out, truth, m) <= 2 * rounded);
  const struct column_loops *doubles = simd->columns + DOUBLES;
  doubles->add_centred(m, out, f, plain(c), centre);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] += f * (c[j] - centre);
  CHECK(apart(out, truth, m) <= 3 * rounded);
  doubles->shift_weighted(m, out, f, w, plain(c), centre);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] -= f * w[j] * (c[j] - centre);
  CHECK(apart(out, truth, m) <= 6 * rounded);
  doubles->centred(m, out, plain(x), centre, f, w);
  for (ptrdiff_t j = 0; j < m; j++)
    truth[j] = f * w[j] * (x[j] - centre);
  CHECK(apart(out, truth, m) <= rounded);
  clear(&pile);
}

/* ---- columns of other kinds ---- */

/* Whether the loops over a column of another kind do what they do over the same values as doubles,
   to the last bit. */
static void check_element(
    ptrdiff_t m, enum element element, struct column column, const double *values) {
  struct pile pile = {.count = 0};
  const struct column_loops *loops = simd->columns + element, *doubles = simd->columns + DOUBLES;
  const double *v = draw(&pile, m), *w = draw(&pile, m), centre = uniform(), f = uniform();
  const struct column x = plain(values);
  double *out = copy(&pile, v, m), *truth = copy(&pile, v, m);
  loops->gather(m, out, column);
  CHECK(apart(out, values, m) == 0);
  CHECK(loops->centred_dot(m, column, centre, v) == doubles->centred_dot(m, x, centre, v));
  CHECK(loops->centred_square(m, column, centre, w) == doubles->centred_square(m, x, centre, w));
  loops->centred(m, out, column, centre, f, w);
  doubles->centred(m, truth, x, centre, f, w);
  CHECK(apart(out, truth, m) == 0);
  loops->add_centred(m, out, f, column, centre);
  doubles->add_centred(m, truth, f, x, centre);
  CHECK(apart(out, truth, m) == 0);
  loops->shift_weighted(m, out, f, w, column, centre);
  doubles->shift_weighted(m, truth, f, w, x, centre);
  CHECK(apart(out, truth, m) == 0);
  clear(&pile);
}

static void *bytes(struct pile *pile, size_t count) {
  return pile->parts[pile->count++] = room(count, 0);
}

/* Numbers, none of which is missing. */
static void check_numbers(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  double *x = draw(&pile, m);
  int *integers = bytes(&pile, (size_t)m * sizeof(int));
  float *floats = bytes(&pile, (size_t)m * sizeof(float));
  short *shorts = bytes(&pile, (size_t)m * sizeof(short));
  unsigned short *unsigned_shorts = bytes(&pile, (size_t)m * sizeof(short));
  unsigned char *small = bytes(&pile, (size_t)m);
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = floats[j] = (float)x[j];
  check_element(m, FLOATS, plain(floats), x);
  check_element(m, FILLED_FLOATS, plain(floats), x);
  check_element(m, FILLED_DOUBLES, plain(x), x);
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = integers[j] = (int)(1e9 * x[j]);
  check_element(m, INTEGERS, plain(integers), x);
  check_element(m, FILLED_INTEGERS, plain(integers), x);
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = shorts[j] = (short)(32767 * uniform());
  check_element(m, SHORTS, plain(shorts), x);
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = unsigned_shorts[j] = (unsigned short)(65535 * fabs(uniform()));
  check_element(m, UNSIGNED_SHORTS, plain(unsigned_shorts), x);
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = small[j] = (unsigned char)(255 * fabs(uniform()));
  check_element(m, BYTES, plain(small), x);
  clear(&pile);
}

/* A third of the values is missing and counts as `fill`. */
static void check_filled(ptrdiff_t m, double fill) {
  struct pile pile = {.count = 0};
  double *x = draw(&pile, m), *given = draw(&pile, m);
  int *integers = bytes(&pile, (size_t)m * sizeof(int));
  float *floats = bytes(&pile, (size_t)m * sizeof(float));
  short *shorts = bytes(&pile, (size_t)m * sizeof(short));
  for (ptrdiff_t j = 0; j < m; j++) {
    const int missing = fabs(uniform()) < .3;
    const double whole = floor(20 * x[j]);
    integers[j] = missing ? INT_MIN : (int)whole;
    floats[j] = missing ? NAN : (float)whole;
    shorts[j] = missing ? SHRT_MIN : (short)whole;
    given[j] = missing ? NAN : whole;
    x[j] = missing ? fill : whole;
  }
  check_element(m, FILLED_INTEGERS, (struct column){.at = integers, .fill = fill}, x);
  check_element(m, FILLED_FLOATS, (struct column){.at = floats, .fill = fill}, x);
  check_element(m, FILLED_SHORTS, (struct column){.at = shorts, .fill = fill}, x);
  check_element(m, FILLED_DOUBLES, (struct column){.at = given, .fill = fill}, x);
  clear(&pile);
}

/* Codes of a byte and of two bits, of which one stands for a missing value. */
static void check_codes(ptrdiff_t m, double fill) {
  struct pile pile = {.count = 0};
  double *x = draw(&pile, m), *codes = draw(&pile, 256);
  unsigned char *coded = bytes(&pile, (size_t)m), *calls = bytes(&pile, (size_t)(m + 3) / 4);
  codes[1] = NAN;
  for (ptrdiff_t j = 0; j < m; j++) {
    coded[j] = fabs(uniform()) < .2 ? 1 : (unsigned char)(255 * fabs(uniform()));
    x[j] = coded[j] == 1 ? fill : codes[coded[j]];
  }
  check_element(m, CODED, (struct column){.at = coded, .codes = codes, .fill = fill}, x);
  for (ptrdiff_t j = 0; j < m; j += 4)
    calls[j / 4] = (unsigned char)(255 * fabs(uniform())); /* also beyond the last row */
  for (ptrdiff_t j = 0; j < m; j++) {
    const int code = calls[j / 4] >> 2 * (j % 4) & 3;
    x[j] = code == 1 ? fill : codes[code];
  }
  codes = copy(&pile, codes, 4);
  check_element(m, CALLS, (struct column){.at = calls, .codes = codes, .fill = fill}, x);
  clear(&pile);
}

/* The value of a function in pieces. */
static double value_of(const struct piecewise *f, double x) {
  const double inside = fmin(fmax(x, f->low), f->high);
  ptrdiff_t k = 0;
  while (k + 1 < f->count && inside >= f->start[k + 1])
    k++;
  double sum = 0, power = 1;
  for (int p = 0; p < 4; p++, power *= inside - f->start[k])
    sum += f->cubic[k + p * f->count] * power;
  return sum;
}

/* A function of a column in so many pieces, and the product of two, of which some are missing. */
static void check_computed(ptrdiff_t m, double fill, int pieces) {
  struct pile pile = {.count = 0};
  double start[24];
  for (int k = 0; k < pieces; k++)
    start[k] = -.8 + 1.6 * k / pieces;
  double *x = draw(&pile, m), *first = draw(&pile, m), *second = draw(&pile, m);
  const struct piecewise by[] = {
      {.low = -.8, .high = .9, .count = pieces, .start = start, .cubic = draw(&pile, 4 * pieces)},
      {.low = -.3, .high = .6, .count = 2, .start = start + 1, .cubic = draw(&pile, 8)}};
  if (m > 3)
    first[3] = NAN;
  for (int two = 0; two <= 1; two++) {
    const struct column column = {.by = by, .of = {first, two ? second : NULL}, .fill = fill};
    simd->columns[COMPUTED].gather(m, x, column);
    for (ptrdiff_t j = 0; j < m; j++) {
      const double value = value_of(by, first[j]) * (two ? value_of(by + 1, second[j]) : 1);
      CHECK(isnan(first[j]) ? x[j] == fill : fabs(x[j] - value) < 1e-14);
    }
    check_element(m, COMPUTED, column, x);
  }
  clear(&pile);
}

/* What is read where nothing was given for missing values. */
static void check_missing(void) {
  const int integers[] = {3, INT_MIN, 5};
  const unsigned char coded[] = {0, 1, 2}, calls[] = {0x24};
  double codes[256] = {7, NAN, 9}, out[3];
  const struct {
    enum element element;
    const void *at;
  } columns[] = {{FILLED_INTEGERS, integers}, {CODED, coded}, {CALLS, calls}};
  for (int c = 0; c < 3; c++) {
    const struct column x = {.at = columns[c].at, .codes = codes, .fill = NAN};
    simd->columns[columns[c].element].gather(3, out, x);
    CHECK(out[0] == (c == 0 ? 3 : 7) && isnan(out[1]) && out[2] == (c == 0 ? 5 : 9));
  }
}

static void check_present(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  double *x = draw(&pile, m), count = 0, weight = 0, sum = 0;
  const double *w = draw(&pile, m), centre = uniform();
  for (ptrdiff_t j = 0; j < m; j++) {
    x[j] = fabs(uniform()) < .3 ? NAN : x[j];
    count += isnan(x[j]) ? 0 : 1;
    weight += isnan(x[j]) ? 0 : w[j];
    sum += isnan(x[j]) ? 0 : w[j] * (x[j] - centre);
  }
  const struct present_sums got = simd->present(m, x, centre, w);
  CHECK(got.count == count);
  CHECK_NEAR(got.weight, weight, summed);
  CHECK_NEAR(got.sum, sum, summed);
  clear(&pile);
}

/* k columns, ld apart, of m rows. */
static void check_columns(ptrdiff_t m, ptrdiff_t k, ptrdiff_t ld) {
  struct pile pile = {.count = 0};
  const double *C = draw(&pile, k > 0 ? ld * (k - 1) + m : 0), *f = draw(&pile, k);
  const double *x = draw(&pile, m);
  double *out = copy(&pile, x, m), *truth = copy(&pile, x, m);
  double *dots = draw(&pile, k), *sums = draw(&pile, k);
  simd->dots(m, x, k, C, ld, dots);
  simd->shift_all(m, out, k, C, ld, f);
  for (ptrdiff_t i = 0; i < k; i++) {
    sums[i] = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      sums[i] += C[j + i * ld] * x[j];
      truth[j] -= f[i] * C[j + i * ld];
    }
  }
  CHECK(apart(dots, sums, k) <= summed);
  CHECK(apart(out, truth, m) <= 1e-14);
  clear(&pile);
}

/* The same of one to four vectors at a time. */
static void check_four(ptrdiff_t m, ptrdiff_t k, ptrdiff_t ld) {
  for (ptrdiff_t count = 1; count <= 4; count++) {
    struct pile pile = {.count = 0};
    const double *C = draw(&pile, k > 0 ? ld * (k - 1) + m : 0), *F = draw(&pile, (k + 2) * count);
    const double *X = draw(&pile, ld * count);
    double *out = copy(&pile, X, ld * count), *truth = copy(&pile, X, ld * count);
    simd->shift_four(m, count, out, ld, k, C, ld, F, k + 2);
    for (ptrdiff_t l = 0; l < count; l++)
      for (ptrdiff_t i = 0; i < k; i++)
        for (ptrdiff_t j = 0; j < m; j++)
          truth[j + l * ld] -= F[i + l * (k + 2)] * C[j + i * ld];
    CHECK(apart(out, truth, ld * count) <= 1e-14);
    clear(&pile);
  }
}

/* Rows that a bound does not rule out, and their products with a vector. */
static void check_lists(ptrdiff_t n, ptrdiff_t k, ptrdiff_t ld) {
  struct pile pile = {.count = 0};
  double *base = draw(&pile, n), *out = draw(&pile, n);
  const double *a = draw(&pile, n), *b = draw(&pile, n), *C = draw(&pile, n * ld),
               *v = draw(&pile, k);
  int *list = pile.parts[pile.count++] = room((size_t)n * sizeof(int), 0);
  const double level = 0.25;
  if (n > 2) {
    base[0] = INFINITY;
    base[1] = -INFINITY;
    base[2] = NAN; /* in no list */
  }
  for (double f = -1; f <= 2; f += 1.5) {
    const ptrdiff_t count = simd->list_above(n, base, f, a, f / 2, b, level, list);
    ptrdiff_t l = 0;
    for (ptrdiff_t j = 0; j < n; j++)
      if (base[j] + f * a[j] + f / 2 * b[j] > level)
        CHECK(l < count && list[l++] == j);
    CHECK(l == count);
    simd->row_dots(count, list, k, C, ld, v, out);
    for (l = 0; l < count; l++) {
      double dot = 0;
      for (ptrdiff_t i = 0; i < k; i++)
        dot += C[i + list[l] * ld] * v[i];
      CHECK_NEAR(out[l], dot, summed);
    }
  }
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
    const double loss = simd->logistic(m, y, w, f, v, h);
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

/* Shares of 0, of 1 and between, small ones too, near to and far from their means. */
static void check_shares(ptrdiff_t m) {
  static const double most[] = {1e-6, 1, 30, 800};
  for (int far = 0; far < 4; far++) {
    struct pile pile = {.count = 0};
    double *f = draw(&pile, m), *w = draw(&pile, m), *y = draw(&pile, m);
    double *v = draw(&pile, m), *h = draw(&pile, m), *entropy = draw(&pile, m);
    long double sum = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      y[j] = j % 5 < 2 ? j % 5 : fabs(y[j]) * (j % 5 == 2 ? 1e-6 : 1);
      y[j] = fmin(y[j], 1);
      w[j] += 1.5;
      const double level = y[j] > 0 && y[j] < 1 ? log(y[j] / (1 - y[j])) : 0;
      f[j] = level + most[far] * f[j];
      const long double p = y[j], x = f[j];
      const long double even = (p > 0 ? p * logl(p) : 0) + (p < 1 ? (1 - p) * log1pl(-p) : 0);
      sum += w[j] * (fmaxl(x, 0) + log1pl(expl(-fabsl(x))) - p * x + even);
      entropy[j] = (double)-even;
    }
    CHECK_NEAR(simd->shares(m, y, entropy, w, f, v, h), (double)sum, far == 0 ? 1e-8 : 1e-12);
    for (ptrdiff_t j = 0; j < m; j++) {
      const double mean = 1 / (1 + exp(-f[j])), rest = 1 / (1 + exp(f[j]));
      CHECK_NEAR((v[j] - w[j] * (y[j] - mean)) / w[j], 0, 1e-14);
      CHECK_NEAR((h[j] - w[j] * mean * rest) / w[j], 0, 1e-14);
    }
    clear(&pile);
  }
}

/* Counts of 0 and others near to and far from their means; f beyond 300 counts as 300. */
static void check_poisson(ptrdiff_t m) {
  static const double most[] = {1e-6, 1, 30, 800};
  for (int far = 0; far < 4; far++) {
    struct pile pile = {.count = 0};
    double *f = draw(&pile, m), *w = draw(&pile, m), *y = draw(&pile, m);
    double *v = draw(&pile, m), *h = draw(&pile, m), *log_y = draw(&pile, m);
    double sum = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      y[j] = j % 3 == 0 ? 0 : 1e3 * fabs(y[j]);
      w[j] += 1.5;
      const double level = log_y[j] = y[j] > 0 ? log(y[j]) : 0, x = most[far] * f[j];
      f[j] = level + x;
      const double to = fmin(f[j], 300) - level;
      sum += w[j] * (y[j] == 0 ? exp(to)
                        : fabs(to) < 1e-3
                            ? y[j] * to * to * (0.5 + to * (1.0 / 6 + to * (1.0 / 24 + to / 120)))
                            : y[j] * (expm1(to) - to));
    }
    CHECK_NEAR(simd->poisson(m, y, log_y, w, f, v, h), sum, far == 0 ? 1e-8 : 1e-12);
    for (ptrdiff_t j = 0; j < m; j++) {
      const double mean = exp(fmin(f[j], 300)), size = w[j] * fmax(1, fmax(mean, y[j]));
      CHECK_NEAR((v[j] - w[j] * (y[j] - mean)) / size, 0, 1e-13);
      CHECK_NEAR((h[j] - w[j] * mean) / size, 0, 1e-13);
    }
    clear(&pile);
  }
}

/* Entropies of probabilities near 0, near 1, and outside of them, where terms are 0. */
static void check_entropy(ptrdiff_t m) {
  static const double near[] = {1, 1e-3, 1e-10, 1e-300, 3};
  for (int i = 0; i < 5; i++) {
    struct pile pile = {.count = 0};
    double *r = draw(&pile, m), *root_w = draw(&pile, m), *y = draw(&pile, m);
    double *divisor = draw(&pile, m), sum = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      y[j] = y[j] > 0 ? 1 : -1;
      root_w[j] = j % 5 == 4 ? 0 : root_w[j] + 1.5;
      divisor[j] = root_w[j] > 0 ? root_w[j] : 1;
      const double p = j % 3 == 0 ? near[i] * fabs(r[j]) : 1 - near[i] * fabs(r[j]);
      r[j] = 2 * y[j] * divisor[j] * p;
      const double here = 0.5 * y[j] * r[j] / divisor[j];
      if (here > 0)
        sum -= root_w[j] * root_w[j] * here * log(here);
      if (here < 1)
        sum -= root_w[j] * root_w[j] * (1 - here) * log(1 - here);
    }
    CHECK_NEAR(simd->entropy(m, 0.5, y, r, divisor, root_w), sum, 1e-12);
    sum = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      r[j] = j % 5 == 4 ? 0 : fabs(r[j]);
      const double q = near[i] / 4 + 0.5 * r[j];
      sum -= q * log(q);
    }
    CHECK_NEAR(simd->mixture_entropy(m, near[i] / 4, 0.5, r), sum, 1e-12);
    clear(&pile);
  }
}

/* The same of differences of entropies, of probabilities of 0 and 1 among them. */
static void check_entropy_gain(ptrdiff_t m) {
  static const double near[] = {1, 1e-3, 1e-10, 1e-300};
  for (int i = 0; i < 4; i++) {
    struct pile pile = {.count = 0};
    double *w = draw(&pile, m), *p = draw(&pile, m), *q = draw(&pile, m), sum = 0;
    for (ptrdiff_t j = 0; j < m; j++) {
      w[j] = j % 7 == 6 ? 0 : w[j] + 1.5;
      p[j] = fmin(1, near[i] * fabs(p[j]));
      q[j] = j % 3 == 0 ? 0 : j % 3 == 1 ? 1 : fmin(1, fabs(q[j]));
      const double both[2] = {p[j], q[j]};
      for (int k = 0; k < 2; k++)
        for (int other = 0; other < 2; other++) {
          const double one = other ? 1 - both[k] : both[k];
          sum -= one > 0 ? (k ? -1 : 1) * w[j] * one * log(one) : 0;
        }
    }
    CHECK_NEAR(simd->entropy_gain(m, w, p, q), sum, 1e-12);
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
    d[j] = 3 + uniform(); /* above moved^2 / kappa, at most 4 / 3 */
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
  CHECK_NEAR(simd->score(m, L, x, a, m, d, 1 / kappa, alpha), before, summed);
  CHECK_NEAR(simd->shift_and_score(m, L, out, f, c, a, d, 1 / kappa, alpha), after, summed);
  CHECK(apart(out, moved, m) <= rounded);
  double *again = copy(&pile, x, m), *r = draw(&pile, m * L), worst = 0;
  CHECK_NEAR(simd->shift_and_hold_out(m, L, again, f, c, a, d, 1 / kappa, alpha, root_w, r), after,
      summed);
  CHECK(apart(again, moved, m) <= rounded);
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t j = 0; j < m; j++) {
      const double under = d[j] - moved[j] * moved[j] / kappa; /* which may have lost digits */
      const double held = (a[j + l * m] - moved[j] * alpha[l]) / under;
      worst = fmax(worst, fabs(r[j + l * m] - held / root_w[j]) * fmin(1, under * under));
    }
  CHECK_NEAR(worst, 0, 1e-14);
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
  const struct fold_dots fold = simd->fold(h, q, f, b, c);
  CHECK(apart(q, moved, h) <= rounded);
  CHECK_NEAR(fold.cq, cq, summed);
  CHECK_NEAR(fold.qq, qq, summed);
  const struct pair_dots pair = simd->pair(h, g, c, q);
  CHECK_NEAR(pair.gc, gc, summed);
  CHECK_NEAR(pair.gq, gq, summed);
  clear(&pile);
}

/* ---- criteria ---- */

static void check_criteria(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const double *g = draw(&pile, m), *q = draw(&pile, m), alpha = uniform();
  double *w = draw(&pile, m), *out = draw(&pile, m), *truth = draw(&pile, m);
  int *bucket = pile.parts[pile.count++] = room((size_t)m * sizeof(int), 0);
  struct range range = {INFINITY, -INFINITY};
  double sum = 0, spread = 0, wrong = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    const double ww = (w[j] += 2) * w[j];
    truth[j] = (g[j] - alpha * q[j]) / w[j];
    range.low = fmin(range.low, g[j]);
    range.high = fmax(range.high, g[j]);
    sum += ww * fabs(g[j]);
    spread += ww * pow(fabs(g[j]) - alpha, 2);
    wrong += (q[j] - g[j] > 0.1) != (q[j] > 0) ? ww : 0;
  }
  simd->shifted_quotient(m, out, g, alpha, q, w);
  CHECK(apart(out, truth, m) <= rounded);
  const struct range got = simd->range(m, g);
  CHECK(got.low == range.low && got.high == range.high);
  const struct loss_sums absolute = simd->absolute_losses(m, 1, g, w, alpha);
  CHECK_NEAR(absolute.sum, sum, 10 * summed);
  CHECK_NEAR(absolute.spread, spread, 10 * summed);
  CHECK_NEAR(simd->error_losses(m, 1, q, g, 0.1, w, 0).sum, wrong, 10 * summed);

  const struct score_buckets buckets = {.count = 7, .low = 0.1, .scale = 10};
  simd->find_buckets(m, g, &buckets, bucket);
  for (ptrdiff_t j = 0; j < m; j++)
    CHECK(bucket[j] == (int)fmin(6, fmax(0, 10 * (g[j] - 0.1))));
  clear(&pile);
}

static struct class_rows draw_class(struct pile *pile, ptrdiff_t count, double response) {
  double *v[6];
  for (int i = 0; i < 6; i++) {
    v[i] = draw(pile, count + SIMD_PAD);
    for (ptrdiff_t j = 0; j < SIMD_PAD; j++)
      v[i][count + j] = 0;
  }
  for (ptrdiff_t j = 0; j < count; j++) {
    v[1][j] = j % 4 == 0 ? 0 : v[1][j];
    v[2][j] = 1.5 + 0.5 * v[2][j];
    v[3][j] = j % 3 == 0 ? 0 : response;
    v[4][j] = 1.5 + 0.5 * v[4][j];
    v[5][j] = j % 5 == 0 ? 0 : fabs(v[5][j]);
  }
  return (struct class_rows){count, v[0], v[1], v[2], v[3], v[4], v[5]};
}

/* Pairs held out together, by the inverse of each 2 x 2 block; some scores tie. */
static void check_held_out(ptrdiff_t positives, ptrdiff_t negatives) {
  struct pile pile = {.count = 0};
  const struct class_rows p = draw_class(&pile, positives, 1), n = draw_class(&pile, negatives, -1);
  double *G = draw(&pile, positives * negatives), loss = 0, all = 0;
  const double kappa = 10 + uniform();
  for (ptrdiff_t j = 0; j < negatives; j++)
    for (ptrdiff_t i = 0; i < positives; i++) {
      double *part = G + i + j * positives;
      *part /= 2;                   /* so that determinants are positive */
      if (i % 4 == 0 && j % 4 == 0) /* with no residuals, scores are the responses */
        *part = p.c[i] * n.c[j] / kappa;
      const double g = *part - p.c[i] * n.c[j] / kappa, det = p.d[i] * n.d[j] - g * g;
      const double of_p = p.response[i] - p.unit[i] * (p.a[i] * n.d[j] - n.a[j] * g) / det;
      const double of_n = n.response[j] - n.unit[j] * (n.a[j] * p.d[i] - p.a[i] * g) / det;
      const double w = p.weight[i] * n.weight[j], apart = of_p - of_n;
      loss += apart > 1e-10 ? 0 : apart < -1e-10 ? w : w / 2;
      all += w;
    }
  CHECK_NEAR(simd->held_out_pairs(&p, &n, G, positives, kappa, 1e-10), loss, 1e-13 * (1 + all));
  clear(&pile);
}

/* ---- products of columns with right sides ---- */

/* `count` of six columns of m + 3 rows and r vectors v, ldv apart; what is not theirs stays. */
static void check_products(ptrdiff_t m, ptrdiff_t count, ptrdiff_t r) {
  struct pile pile = {.count = 0};
  static const int at[] = {4, 1, 5, 2};
  const ptrdiff_t n = 6, ldx = m + 3, ldv = m + 1;
  const double *x = draw(&pile, ldx * (n - 1) + m), *v = draw(&pile, ldv * (r - 1) + m + r);
  const double *centre = draw(&pile, n), *scale = draw(&pile, n);
  double *out = draw(&pile, n * r), *truth = copy(&pile, out, n * r);
  double **rows = pile.parts[pile.count++] = room((size_t)r * sizeof(double *), 0);
  struct tile columns = {.count = count,
      .at = at,
      .centre = centre,
      .scale = scale,
      .line = (ptrdiff_t)(8 * sizeof(double))};
  for (ptrdiff_t i = 0; i < 4; i++) {
    columns.x[i] = x + at[i < count ? i : count - 1] * ldx;
    columns.next[i] = (const char *)columns.x[i];
  }
  for (ptrdiff_t l = 0; l < r; l++) {
    rows[l] = out + l * n;
    for (ptrdiff_t i = 0; i < count; i++)
      for (ptrdiff_t j = 0; j < m; j++)
        truth[at[i] + l * n] +=
            scale[at[i]] * (x[j + at[i] * ldx] - centre[at[i]]) * v[j + l * ldv];
  }
  simd->products(m, &columns, r, v, ldv, rows);
  CHECK(apart(out, truth, n * r) <= summed);

  /* x_0 as every third nonzero of a longer vector, v by rows */
  const double *w = draw(&pile, 3 * m), *turned = draw(&pile, 3 * m * (r + 2));
  int *row = pile.parts[pile.count++] = room((size_t)m * sizeof(int), 0);
  out = copy(&pile, v, r);
  truth = copy(&pile, v, r);
  for (ptrdiff_t k = 0; k < m; k++) {
    row[k] = (int)(3 * k + k % 3);
    for (ptrdiff_t l = 0; l < r; l++)
      truth[l] += w[row[k]] * x[k] * turned[l + row[k] * (r + 2)];
  }
  simd->sparse_products(m, x, row, w, r, turned, r + 2, out);
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

/* Eight columns whose rows are in folds anywhere. */
static void check_fold_sums(ptrdiff_t m) {
  struct pile pile = {.count = 0};
  const ptrdiff_t folds = 3;
  const double *x = draw(&pile, FOLD_TILE * m), *centre = draw(&pile, FOLD_TILE);
  const double *v = draw(&pile, 3 * m), *root_w = near(&pile, m, 1);
  double *total = draw(&pile, FOLD_TILE), *totals = copy(&pile, total, FOLD_TILE);
  double *sums = draw(&pile, 2 * FOLD_TILE * folds);
  double *sums_twin = copy(&pile, sums, 2 * FOLD_TILE * folds);
  double *squares = draw(&pile, FOLD_TILE * folds);
  double *squares_twin = copy(&pile, squares, FOLD_TILE * folds);
  int *fold = room((size_t)m * sizeof(int), 0);
  struct fold_tile tile = {.centre = centre};
  for (ptrdiff_t j = 0; j < m; j++)
    fold[j] = (int)(j * j % folds);
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    tile.x[i] = x + i * m;
    for (ptrdiff_t j = 0; j < m; j++) {
      const double value = x[j + i * m] - centre[i], weighted = root_w[j] * value;
      totals[i] += value * v[3 * j];
      sums_twin[i + FOLD_TILE * 2 * fold[j]] += value * v[3 * j + 1];
      sums_twin[i + FOLD_TILE * (2 * fold[j] + 1)] += value * v[3 * j + 2];
      squares_twin[i + FOLD_TILE * fold[j]] += weighted * weighted;
    }
  }
  simd->fold_products(m, &tile, v, fold, total, sums);
  simd->fold_squares(m, &tile, root_w, fold, squares);
  CHECK(apart(total, totals, FOLD_TILE) <= 1e-12);
  CHECK(apart(sums, sums_twin, 2 * FOLD_TILE * folds) <= 1e-12);
  CHECK(apart(squares, squares_twin, FOLD_TILE * folds) <= 1e-12);
  free(fold);
  clear(&pile);
}

/* The recurrences as they are stated, one candidate and fold at a time, and the errors. */
static void check_recurrence(ptrdiff_t folds, ptrdiff_t L, ptrdiff_t rank) {
  struct pile pile = {.count = 0};
  const ptrdiff_t T = FOLD_TILE, stride = 4 + 3 * L + 2 * rank, numbers = recurrence_numbers(L);
  const double *of_fold = draw(&pile, stride * folds), *t = draw(&pile, T), inverse = 0.7;
  const double *sums = draw(&pile, 2 * T * folds), *along = draw(&pile, T * rank);
  const double *kappa = near(&pile, T, 40), *products = draw(&pile, T * L); /* more than any c'q */
  double *state = draw(&pile, T * numbers * folds), error[FOLD_TILE], worst[FOLD_TILE] = {0};
  double *twin = copy(&pile, state, T * numbers * folds);
  const struct recurrence_move move = {folds, L, rank, stride, of_fold, inverse};
  const struct recurrence_tile tile = {t, sums, along, kappa, products, state};
  simd->recur(&move, &tile);
  simd->recurred_error(folds, L, &tile, error, worst);
  for (ptrdiff_t i = 0; i < T; i++) {
    double sum = 0, top = 0;
    for (ptrdiff_t H = 0; H < folds; H++) {
      const double *moved = of_fold + H * stride, f = t[i] * inverse;
      double *own = twin + H * numbers * T + i;
      double psi = sums[i + 2 * H * T], xi = sums[i + (2 * H + 1) * T];
      for (ptrdiff_t l = 0; l < rank; l++) {
        psi -= moved[3 + 3 * L + 2 * l] * along[i + l * T];
        xi -= moved[4 + 3 * L + 2 * l] * along[i + l * T];
      }
      const double phi = moved[0] * (psi - t[i]), eta = moved[1], qq = moved[2];
      own[0] += (phi - f) * psi - f * phi * eta;
      own[T] += phi * (2 * xi + phi * qq);
      top = fmax(top, 1 / (kappa[i] - own[0]));
      for (ptrdiff_t l = 0; l < L; l++) {
        const double *output = moved + 3 + 3 * l;
        double *gc = own + (2 + 2 * l) * T, *gq = gc + T;
        *gc -= output[2] * psi + f * (output[0] - output[2] * eta);
        *gq += phi * (output[1] - output[2] * qq) - output[2] * xi;
        const double alpha = (products[i + l * T] - *gc) / (kappa[i] - own[0]);
        sum += alpha * alpha * own[T] - 2 * alpha * *gq;
      }
    }
    CHECK_NEAR(error[i], sum, 1e-11);
    CHECK_NEAR(worst[i], top, 1e-12);
  }
  CHECK(apart(state, twin, T * numbers * folds) <= 1e-12);
  clear(&pile);
}

/* The mean of the ratios of groups, the squares about it and the largest ratio. */
static void check_tally(ptrdiff_t groups) {
  struct pile pile = {.count = 0};
  const double *error = draw(&pile, FOLD_TILE * groups), *inverse_null = near(&pile, groups, 2);
  struct tile_tally tally = {0};
  for (ptrdiff_t g = 0; g < groups; g++)
    simd->tally(inverse_null[g], 0.3, error + g * FOLD_TILE, &tally);
  for (ptrdiff_t i = 0; i < FOLD_TILE; i++) {
    double mean = 0, spread = 0, largest = -INFINITY;
    for (ptrdiff_t g = 0; g < groups; g++) {
      const double ratio = inverse_null[g] * (0.3 + error[i + g * FOLD_TILE]);
      mean += ratio / (double)groups;
      largest = fmax(largest, ratio);
    }
    for (ptrdiff_t g = 0; g < groups; g++)
      spread += pow(inverse_null[g] * (0.3 + error[i + g * FOLD_TILE]) - mean, 2);
    CHECK_NEAR(tally.mean[i], mean, 1e-13);
    CHECK_NEAR(tally.spread[i], spread, 1e-12);
    CHECK_NEAR(tally.largest[i], largest, 1e-15);
  }
  CHECK(tally.count == (double)groups);
  clear(&pile);
}

/* What a move does to n candidates with L outputs, and the bounds, of single rows and of folds;
   every fifth is excluded and every seventh has lost its digits, unless none has. */
static void check_bounds(ptrdiff_t n, ptrdiff_t L, int all_known, int by_folds) {
  struct pile pile = {.count = 0};
  double *kappa = near(&pile, n, 6), *g = draw(&pile, n * L), *Cw = draw(&pile, n * L);
  double *norm = near(&pile, n, 3.5), *read_norm2 = near(&pile, n, 2), *excluded = draw(&pile, n);
  double *bound = draw(&pile, n), *block_min = draw(&pile, n / BOUNDS_BLOCK + 1);
  double *kappas = copy(&pile, kappa, n);
  double *gs = copy(&pile, g, n * L), *Cws = copy(&pile, Cw, n * L);
  const double *t = draw(&pile, n), *gamma = draw(&pile, L), *c_ref = draw(&pile, L);
  const double *theta0 = draw(&pile, L), *theta1 = draw(&pile, L), *rest_norm = near(&pile, L, 1);
  const double P = 50, lambda = 2, inverse_d2 = 1.5, max_eigen = 0.3, rounding = 1e-3;
  int right = 1;
  for (ptrdiff_t i = 0; i < n; i++) {
    excluded[i] = i % 5 == 4 ? INFINITY : 0;
    kappa[i] = kappas[i] = !all_known && i % 7 == 3 ? (i % 2 == 0 ? -1 : 1e-9) : kappa[i];
  }
  const double *fold_norm = near(&pile, n, 1), *phi = near(&pile, L, 2);
  const double *top_phi = near(&pile, L, 1.5), *nu = near(&pile, L, 1);
  const struct greedy_bounds at = {.n = n,
      .L = L,
      .kappa = kappa,
      .g = g,
      .Cw = Cw,
      .norm = norm,
      .fold_norm = (double *)fold_norm,
      .read_norm2 = read_norm2,
      .excluded = excluded,
      .block_min = block_min};
  const struct greedy_bounds_move move = {.inverse = 0.3, .t = t, .gamma = gamma, .c_ref = c_ref};
  simd->bounds_update(&at, &move);
  for (ptrdiff_t i = 0; i < n; i++) {
    /* C := C - t c / kappa and a := a - gamma c, with 1 / kappa = 0.3 */
    kappas[i] -= 0.3 * t[i] * t[i];
    for (ptrdiff_t l = 0; l < L; l++) {
      gs[i + l * n] -= gamma[l] * t[i];
      Cws[i + l * n] -= 0.3 * t[i] * c_ref[l];
    }
  }
  CHECK(apart(kappa, kappas, n) <= 1e-14);
  CHECK(apart(g, gs, n * L) <= 1e-14);
  CHECK(apart(Cw, Cws, n * L) <= 1e-14);

  const struct greedy_bounds_folds folds = {
      .max_eigen = 1.4, .repeats = 2, .rounding = 1e-4, .phi = phi, .top_phi = top_phi, .nu = nu};
  const struct greedy_bounds_rows rows = {P, lambda, inverse_d2, max_eigen, rounding, theta0,
      theta1, rest_norm, by_folds ? &folds : NULL};
  simd->bounds_evaluate(&at, &rows, bound);
  for (ptrdiff_t i = 0; i < n; i++) {
    const double beta = 1 / kappa[i], xC = kappa[i] - lambda, xx = norm[i] * norm[i];
    const double held = fmax(xC, 0), left = fmax(xx - held, 0);
    const double b = fmin(sqrt(held), fold_norm[i] + sqrt((1 - 1 / 1.4) * left));
    const double least = kappa[i] - fmin(held, 1.4 * b * b);
    const double more = by_folds ? 1e-4 * kappa[i] / least : 0;
    const double margin = 1e-13 * P + (rounding + more) * (1 + read_norm2[i] * beta);
    const double N = fmax(xC - max_eigen * (xx - xC), xC * xC / xx);
    double value = P - margin;
    for (ptrdiff_t l = 0; l < L; l++) {
      const double alpha = beta * g[i + l * n];
      const double along = alpha * (theta0[l] * Cw[i + l * n] + theta1[l] * g[i + l * n]);
      const double term =
          sqrt(fmin(b * b * phi[l], held * top_phi[l])) + fabs(alpha) * nu[l] * b * sqrt(2 * held);
      value += alpha * alpha * N * inverse_d2 - 2 * (along + fabs(alpha) * norm[i] * rest_norm[l]);
      value -= by_folds ? term * term / least : 0;
    }
    if (excluded[i] > 0)
      right = right && bound[i] == INFINITY;
    else if (kappa[i] <= 0 || margin > 1e-3 * P)
      right = right && bound[i] <= -DBL_MAX;
    else
      right = right && fabs(bound[i] - value) <= 1e-12 * (1 + fabs(value));
  }
  for (ptrdiff_t from = 0; from < n; from += BOUNDS_BLOCK) {
    double min = INFINITY;
    for (ptrdiff_t i = from; i < n && i < from + BOUNDS_BLOCK; i++)
      min = fmin(min, bound[i]);
    right = right && block_min[from / BOUNDS_BLOCK] == min;
  }
  CHECK(right);
  clear(&pile);
}

/* |C|^2 of a column x with parts in eigenspaces of G, g their eigenvalues, is no less than the
   bound. */
TEST(simd_min_norm2) {
  for (int trial = 0; trial < 2000; trial++) {
    double xC = 0, xx = 0, norm2 = 0, max_eigen = 0;
    const int parts = 1 + trial % 6;
    for (int i = 0; i < parts; i++) {
      const double part = pow(uniform(), 2), g = trial % 3 == 0 && i == 0 ? 1 : fabs(uniform());
      xx += part;
      xC += g * part;
      norm2 += g * g * part;
      max_eigen = g < 1 ? fmax(max_eigen, g) : max_eigen;
    }
    CHECK(bounds_min_norm2(xC, xx, max_eigen) <= norm2 * (1 + 1e-14));
    if (parts == 1)
      CHECK_NEAR(bounds_min_norm2(xC, xx, max_eigen), norm2, 1e-14);
  }
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
  for (ptrdiff_t l = (j + 1) / SIMD_PAD * SIMD_PAD; l < p; l++)
    if (l != j && scan->d[l] > scan->floor[l])
      most = fmax(most, pair_gain(scan, j, l));
  return most;
}

/* p candidates that are columns of m rows; the first of them is in already unless alone. */
static void check_pairs(ptrdiff_t p, ptrdiff_t L, int alone) {
  struct pile pile = {.count = 0};
  const ptrdiff_t m = p + 6, ld = (p + SIMD_PAD - 1) / SIMD_PAD * SIMD_PAD;
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
      right = right && simd->pair_above(&scan, from, p) == first;
      right = right && simd->pair_above(&scan, from, first) == first;
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
    check_moments(m);
    check_quotients(m);
    check_updates(m);
    check_numbers(m);
    check_filled(m, uniform());
    check_codes(m, uniform());
    for (int pieces = 4; pieces <= 24; pieces += 4)
      check_computed(m, uniform(), pieces);
    check_present(m);
    check_logistic(m);
    check_poisson(m);
    check_shares(m);
    check_entropy(m);
    check_entropy_gain(m);
    check_folds(m);
    check_criteria(m);
    check_held_out(m, i % 13);
    for (ptrdiff_t L = 1; L <= 3; L++)
      check_scores(m, L);
    for (ptrdiff_t L = 1; L <= 3; L++)
      for (int kind = 0; kind < 4; kind++)
        check_bounds(m, L, kind % 2, kind / 2);
    check_fold_sums(m);
    for (ptrdiff_t k = 0; k <= 9; k++) {
      check_columns(m, k, m + k % 3);
      check_four(m, k, m + k % 3);
    }
    for (ptrdiff_t k = 0; k <= 17; k += 1 + m % 3)
      check_lists(m, k, 17);
    for (ptrdiff_t columns = 1; columns <= 4; columns++)
      for (ptrdiff_t r = 1; r <= 20; r++)
        if (m < 20 || (r + m) % 5 == 0)
          check_products(m, columns, r);
  }
  for (ptrdiff_t folds = 1; folds <= 5; folds++) {
    check_tally(folds);
    for (ptrdiff_t L = 1; L <= 3; L++)
      check_recurrence(folds, L, 2 * folds - 2);
  }
  for (ptrdiff_t p = 2; p <= 34; p++)
    for (ptrdiff_t L = 1; L <= 3; L++)
      for (int alone = 0; alone <= 1; alone++)
        check_pairs(p, L, alone);
  check_missing();
}

TEST(simd_sets) {
  const struct simd *widest = simd;
  int before = 0;
  for (int width = 1; width <= 8; width *= 2) {
    simd = simd_for(width);
    CHECK(simd->width <= width && simd->width >= before);
    if (simd->width > before) { /* a set not met yet */
      seed(2);
      check_set();
    }
    before = simd->width;
  }
  CHECK(simd_for(8) == simd);
  simd = widest;
}
