/* The columns of a matrix, whatever they are made of, against the same values as doubles. */
#include "column.h"
#include "ctest.h"
#include "problem.h"
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 1031, N = 6, L = 3 }; /* rows in more than one block, the last byte of calls not full */

static const double codes[256] = {2, NAN, 1, 0};

/* One matrix in four forms, a tenth missing: codes of two bits, codes of a byte, integers, and
   functions of doubles; and as doubles with and without what was given for the missing ones. */
struct forms {
  struct computed computed[N];
  unsigned char calls[N * ((M + 3) / 4)], coded[M * N];
  int integers[M * N];
  double gaps[M * N], filled[M * N], fill[N], w[M], v[M * L];
};

static struct forms *make_forms(void) {
  struct forms *f = room(sizeof *f, 0);
  for (ptrdiff_t j = 0; j < N; j++) {
    f->fill[j] = 1 + uniform() / 3;
    f->computed[j].of[0] = f->gaps + j * M;
    f->computed[j].by[0] = (struct piecewise){.low = -INFINITY, .high = INFINITY};
  }
  for (ptrdiff_t i = 0; i < M * N; i++) {
    const int code = uniform() < -.8 ? 1 : (int)(3 * fabs(uniform())) * 5 % 4;
    const ptrdiff_t row = i % M, j = i / M;
    f->calls[j * ((M + 3) / 4) + row / 4] |= (unsigned char)(code << 2 * (row % 4));
    f->coded[i] = (unsigned char)code;
    f->gaps[i] = codes[code];
    f->filled[i] = isnan(codes[code]) ? f->fill[j] : codes[code];
    f->integers[i] = isnan(codes[code]) ? INT_MIN : (int)codes[code];
  }
  for (ptrdiff_t r = 0; r < M; r++)
    f->w[r] = r % 7 == 0 ? 0 : 1.5 + uniform();
  for (ptrdiff_t i = 0; i < M * L; i++)
    f->v[i] = uniform();
  return f;
}

static struct matrix form(const struct forms *f, int which) {
  const struct matrix forms[] = {{.element = DOUBLES, .dense = f->gaps},
      {.element = CALLS, .dense = f->calls, .codes = codes},
      {.element = CODED, .dense = f->coded, .codes = codes},
      {.element = INTEGERS, .dense = f->integers}, {.element = COMPUTED, .computed = f->computed}};
  return forms[which];
}

struct found {
  double centre[N], squares[N], products[N * L];
};

static struct found find_moments(const struct forms *f, struct matrix x, int centred, int threads) {
  struct found found;
  const struct moments moments = {.m = M,
      .n = N,
      .L = L,
      .x = x,
      .w = f->w,
      .v = f->v,
      .centred = centred,
      .centre = found.centre,
      .squares = found.squares,
      .products = found.products};
  column_moments(&moments, threads);
  return found;
}

static void check_filled_columns(const struct forms *f, struct matrix x) {
  const struct matrix plain = {.dense = f->filled}, filled = fill_missing(x, f->fill);
  double out[M], copy[M];
  for (ptrdiff_t j = 0; j < N; j++) {
    const double *truth = f->filled + j * M;
    gather_column(&filled, M, j, out);
    CHECK(memcmp(out, truth, sizeof out) == 0);
    for (ptrdiff_t row = 0; row < M; row += 300)
      CHECK(column_rows(&filled, M, j, row, M - row, copy)[M - row - 1] == truth[M - 1] &&
            copy[0] == truth[row]);
    CHECK(column_dot(&filled, M, j, .7, f->v, 0) == column_dot(&plain, M, j, .7, f->v, 0));
    CHECK(column_square(&filled, M, j, .7, f->w) == column_square(&plain, M, j, .7, f->w));
  }
  for (int centred = 0; centred <= 1; centred++) {
    const struct found got = find_moments(f, filled, centred, 2);
    const struct found truth = find_moments(f, plain, centred, 1);
    CHECK(memcmp(&got, &truth, sizeof got) == 0);
  }
}

/* Missing values without anything for them leave sums that are not finite. */
static void check_gaps(const struct forms *f, struct matrix x) {
  const struct found got = find_moments(f, x, 1, 1);
  for (ptrdiff_t j = 0; j < N; j++)
    CHECK(isnan(got.squares[j]));
}

static void check_means(const struct forms *f, struct matrix x) {
  double mean[2][N], missing[2][N];
  for (int t = 0; t < 2; t++) {
    const struct present_means means = {
        .m = M, .n = N, .x = x, .w = f->w, .mean = mean[t], .missing = missing[t]};
    column_means(&means, t + 1);
  }
  CHECK(memcmp(mean[0], mean[1], sizeof mean[0]) == 0);
  CHECK(memcmp(missing[0], missing[1], sizeof missing[0]) == 0);
  for (ptrdiff_t j = 0; j < N; j++) {
    double sum = 0, weight = 0, count = 0;
    for (ptrdiff_t r = 0; r < M; r++) {
      const double value = f->gaps[r + j * M];
      count += isnan(value);
      weight += isnan(value) ? 0 : f->w[r];
      sum += isnan(value) ? 0 : f->w[r] * value;
    }
    CHECK_NEAR(mean[0][j], sum / weight, 1e-14);
    CHECK(missing[0][j] == count);
  }
}

TEST(columns_of_every_kind) {
  const struct simd *widest = simd;
  for (int width = 1; width <= 8; width *= 2) {
    struct forms *f = make_forms();
    simd = simd_for(width);
    for (int which = 0; which < 5; which++) {
      check_filled_columns(f, form(f, which));
      check_gaps(f, form(f, which));
      check_means(f, form(f, which));
    }
    free(f);
  }
  simd = widest;
}

TEST(columns_without_any_value) {
  const double x[] = {NAN, NAN, 4, NAN}, w[] = {1, 2, 0, 1};
  double mean, missing;
  const struct present_means means = {
      .m = 4, .n = 1, .x = {.dense = x}, .w = w, .mean = &mean, .missing = &missing};
  column_means(&means, 1);
  CHECK(isnan(mean) && missing == 3);
}
