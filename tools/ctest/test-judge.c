/* The criteria by hand, and columns. */
#include "ctest.h"
#include "lanes.h"
#include <math.h>
#include <stdlib.h>

/* Six rows, two classes; scores = response - residual. */
void test_judge(void) {
  const double response[] = {1, -1, 1, 1, -1, -1}, root_w[] = {1, 1, 1, 2, 1, 1};
  const double score[] = {0.5, 1, 2, -0.5, -1, -0.5};
  const int order[] = {0, 1, 2, 3, 4, 5}, start[] = {0, 3, 6};
  double r[6];
  for (int j = 0; j < 6; j++)
    r[j] = response[j] - score[j];
  const struct problem pb = {.m = 6, .L = 1, .root_w = root_w, .response = response};

  /* squares 0.25 4 1 | 4 x 2.25 0 0.25, weights 3 | 6 */
  struct figure f = judge_folds(&pb, SQUARED, r, order, start, 2);
  CHECK_NEAR(f.value, 14.5 / 9, 1e-14);
  const double a = 5.25 / 3 - 14.5 / 9, b = 9.25 / 6 - 14.5 / 9;
  CHECK_NEAR(f.se, sqrt((3 * a * a + 6 * b * b) / 9), 1e-14);
  CHECK_NEAR(judge_rows(&pb, SQUARED, r), 14.5 / 9, 1e-14);

  CHECK_NEAR(judge_rows(&pb, ABSOLUTE, r), (0.5 + 2 + 1 + 4 * 1.5 + 0 + 0.5) / 9, 1e-14);
  CHECK_NEAR(judge_rows(&pb, ERROR, r), (1 + 4) / 9.0, 1e-14);

  /* pairs: (0,1) wrong, (2,1) right | (3,4) right, (3,5) a tie; weights 1 1 | 4 4 */
  f = judge_folds(&pb, AUC, r, order, start, 2);
  CHECK_NEAR(f.value, (1 + 2) / 10.0, 1e-14);
  CHECK_NEAR(f.se, sqrt((2 * 0.04 + 8 * 0.0025) / 10), 1e-14);

  /* a fold of one class counts no pair; a single fold with pairs has no standard error */
  const int classes[] = {0, 2, 1, 4, 3, 5}, parts[] = {0, 2, 4, 6};
  f = judge_folds(&pb, AUC, r, classes, parts, 3);
  CHECK_NEAR(f.value, 0.5, 1e-14);
  CHECK(isnan(f.se));

  CHECK(pair_loss(1, 0) == 0 && pair_loss(0, 1) == 1 && pair_loss(1, 1 + 1e-14) == 0.5);

  /* three classes: the largest score, the first of equals, loss averaged over the outputs */
  const double three[] = {1, -1, -1, /**/ -1, 1, -1, /**/ -1, -1, 1};
  const double scores[] = {0.2, 0.1, 0.3, /**/ 0.2 + 1e-14, 0.5, 0.3, /**/ 0, 0.6, 0.3};
  double r3[9], sum = 0;
  for (int j = 0; j < 9; j++) {
    r3[j] = three[j] - scores[j];
    sum += r3[j] * r3[j];
  }
  const struct problem pb3 = {.m = 3, .L = 3, .root_w = root_w, .response = three};
  CHECK_NEAR(judge_rows(&pb3, ERROR, r3), 2.0 / 3, 1e-14);
  CHECK_NEAR(judge_rows(&pb3, SQUARED, r3), sum / 9, 1e-14);
}

static void test_lanes(ptrdiff_t m, ptrdiff_t L) {
  double *x = room((size_t)m * sizeof(double), 0), *c = room((size_t)m * sizeof(double), 0);
  double *d = room((size_t)m * sizeof(double), 0), *a = room((size_t)(m * L) * sizeof(double), 0);
  double t[4], dot = 0, score = 0;
  const double f = uniform(), kappa = 3;
  for (ptrdiff_t j = 0; j < m; j++) {
    x[j] = uniform();
    c[j] = uniform();
    d[j] = 4 + uniform();
    dot += x[j] * c[j];
  }
  for (ptrdiff_t l = 0; l < L; l++) {
    t[l] = uniform();
    for (ptrdiff_t j = 0; j < m; j++) {
      const double v = x[j] - f * c[j];
      a[j + l * m] = uniform();
      const double r = (a[j + l * m] * kappa - v * t[l]) / (d[j] * kappa - v * v);
      score += r * r;
    }
  }
  CHECK_NEAR(lanes_dot(m, x, c), dot, 1e-12);
  const double first = m > 0 ? x[0] - f * c[0] : 0, last = m > 0 ? x[m - 1] - f * c[m - 1] : 0;
  CHECK_NEAR(lanes_shift_and_score(m, L, x, f, c, a, d, kappa, t), score, 1e-12);
  CHECK(m == 0 || (fabs(x[0] - first) < 1e-15 && fabs(x[m - 1] - last) < 1e-15));
  double cq = 0, qq = 0, gc = 0, gq = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    const double q = x[j] + f * d[j];
    cq += c[j] * q;
    qq += q * q;
    gc += a[j] * c[j];
    gq += a[j] * q;
  }
  const struct fold_dots dots = lanes_fold(m, x, f, d, c);
  CHECK_NEAR(dots.cq, cq, 1e-12);
  CHECK_NEAR(dots.qq, qq, 1e-12);
  const struct pair_dots pair = lanes_pair(m, a, c, x);
  CHECK_NEAR(pair.gc, gc, 1e-12);
  CHECK_NEAR(pair.gq, gq, 1e-12);
  free(x);
  free(c);
  free(d);
  free(a);
}

void test_columns(void) {
  seed(2);
  const ptrdiff_t sizes[] = {0, 1, 2, 7, 8, 63, 255, 256, 257, 600};
  for (int i = 0; i < 10; i++)
    for (ptrdiff_t L = 1; L <= 3; L++)
      test_lanes(sizes[i], L);

  struct made made =
      make((struct shape){.m = 9, .n = 6, .L = 1, .q = 2, .weights = 1, .sparse = 1});
  struct problem dense = made.pb;
  dense.x = (struct matrix){made.x, NULL, NULL};
  double a[9], b[9];
  for (ptrdiff_t j = 0; j < 6; j++) {
    working_column(&made.pb, j, a);
    working_column(&dense, j, b);
    double along = 0, same = 1;
    for (int r = 0; r < 9; r++) {
      same = same && a[r] == b[r];
      along += made.pb.Q[r] * a[r];
    }
    CHECK(same);
    CHECK_NEAR(along, 0, 1e-13);
  }
  discard(&made);
}
