/* Splines: their values at the knots, their second derivatives, and lines beyond the knots. */
#include "ctest.h"
#include "spline.h"
#include <math.h>

enum { KNOTS = 5, FUNCTIONS = 3 };

static double one_of(const struct splines *splines, double x, ptrdiff_t l) {
  double out[FUNCTIONS];
  spline_values(splines, 1, &x, out);
  return out[l];
}

/* Of a cubic the second differences are second derivatives. */
static double bend(const struct splines *splines, double x, double step, ptrdiff_t l) {
  const double sides = one_of(splines, x - step, l) + one_of(splines, x + step, l);
  return (sides - 2 * one_of(splines, x, l)) / (step * step) * splines->unit * splines->unit;
}

/* Products over values within the knots and beyond them. */
static void check_products(const struct splines *splines) {
  enum { M = 30 };
  double x[M], w[M], out[M * FUNCTIONS], sums[16 * (KNOTS - 1)], products[FUNCTIONS * FUNCTIONS];
  for (int p = 0; p < M; p++) {
    x[p] = 5 * uniform() + 1;
    w[p] = 1 + uniform();
  }
  spline_values(splines, M, x, out);
  spline_products(splines, M, x, w, sums, products);
  for (int i = 0; i < FUNCTIONS; i++)
    for (int l = 0; l < FUNCTIONS; l++) {
      double sum = 0;
      for (int p = 0; p < M; p++)
        sum += w[p] * out[p + i * M] * out[p + l * M];
      CHECK_NEAR(products[i + l * FUNCTIONS], sum, 1e-10);
    }
}

TEST(splines) {
  static const double at[KNOTS] = {-2, -0.5, 1, 1.5, 4};
  for (int i = 0; i < 20; i++) {
    double values[KNOTS * FUNCTIONS], second[KNOTS * FUNCTIONS];
    for (int p = 0; p < KNOTS * FUNCTIONS; p++) {
      values[p] = uniform();
      second[p] = p % KNOTS == 0 || p % KNOTS == KNOTS - 1 ? 0 : uniform();
    }
    const struct splines splines = {.knots = KNOTS,
        .count = FUNCTIONS,
        .at = at,
        .unit = 2 + uniform(),
        .values = values,
        .second = second};
    double out[KNOTS * FUNCTIONS];
    spline_values(&splines, KNOTS, at, out);
    check_products(&splines);
    for (int l = 0; l < FUNCTIONS; l++) {
      for (int p = 0; p < KNOTS; p++)
        CHECK_NEAR(out[p + l * KNOTS], values[p + l * KNOTS], 1e-14);
      for (int p = 0; p + 1 < KNOTS; p++) {
        const double middle = (at[p] + at[p + 1]) / 2, *ends = second + p + l * KNOTS;
        CHECK_NEAR(bend(&splines, middle, 0.2, l), (ends[0] + ends[1]) / 2, 1e-11);
      }
      for (int side = 0; side < 2; side++) { /* one line from a little within the knots on */
        const double end = at[side ? KNOTS - 1 : 0], out_of = side ? 1 : -1;
        const double slope = one_of(&splines, end + out_of, l) - one_of(&splines, end, l);
        const double near = one_of(&splines, end, l) - one_of(&splines, end - 1e-4 * out_of, l);
        CHECK_NEAR(
            (one_of(&splines, end + 3 * out_of, l) - one_of(&splines, end, l)) / 3, slope, 1e-12);
        CHECK_NEAR(near / 1e-4, slope, 1e-6);
      }
    }
  }
  const struct splines none = {
      .knots = 2, .count = 1, .at = at, .unit = 1, .values = at, .second = at};
  double out;
  spline_values(&none, 1, &(double){NAN}, &out);
  CHECK(isnan(out));
}
