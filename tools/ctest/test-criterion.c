/* The criteria by hand, and columns. */
#include "ctest.h"
#include "simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Classes that count alike, losses of scores, sums over some rows, and names. */
TEST(criteria_of_classes) {
  const double response[] = {1, -1, 1, 1, -1, -1}, root_w[] = {1, 1, 1, 2, 1, 0};
  const double r[] = {0.5, -2, -1, 1.5, 0, -0.5}; /* scores 0.5 1 2 -0.5 -1 -0.5 */
  struct problem pb = {.m = 6, .L = 1, .root_w = root_w, .response = response};
  const int order[] = {0, 1, 2, 3, 4, 5}, start[] = {0, 3, 6};
  double balanced[6];
  CHECK_NEAR(criterion_value(&pb, LOGISTIC_LOSS, r),
      (log1p(exp(-0.5)) + log1p(exp(1)) + log1p(exp(-2)) + 4 * log1p(exp(0.5)) + log1p(exp(-1))) /
          8,
      1e-14);
  CHECK_NEAR(criterion_value(&pb, HINGE_LOSS, r), (0.5 + 2 + 0 + 4 * 1.5 + 0) / 8, 1e-14);

  /* losses of rows know nothing of weights, and a missing residual leaves the loss missing */
  const double missing[] = {0.5, -2, NAN, 1.5, 0, -0.5}, wrong_rows[] = {0, 1, NAN, 1, 0, 0};
  double loss[6];
  CHECK(criterion_row_losses(&pb, BALANCED, missing, loss));
  for (int j = 0; j < 6; j++)
    CHECK(loss[j] == wrong_rows[j] || (j == 2 && isnan(loss[j])));
  CHECK(!criterion_row_losses(&pb, AUC, r, loss) && !criterion_row_losses(&pb, USER, r, loss));

  criterion_weights(&pb, ERROR, balanced);
  for (int j = 0; j < 6; j++)
    CHECK(balanced[j] == root_w[j]);
  criterion_weights(&pb, BALANCED, balanced);
  pb.root_w = balanced; /* 4 of 6 positive ones are wrong, and 1 of 2 negative ones */
  CHECK_NEAR(criterion_value(&pb, BALANCED, r), (4 / 6.0 + 1 / 2.0) / 2, 1e-14);
  CHECK_NEAR(criterion_estimate(&pb, BALANCED, r, order, start, 2, NULL).value,
      (4 / 6.0 + 1 / 2.0) / 2, 1e-14);

  /* three classes, of which one has no rows; the only row of the second is wrong */
  const double three[] = {1, 1, 1, -1, /**/ -1, -1, -1, 1, /**/ -1, -1, -1, -1};
  const double wrong[12] = {[3] = -3};
  pb = (struct problem){.m = 4, .L = 3, .root_w = root_w, .response = three};
  criterion_weights(&pb, BALANCED, balanced);
  pb.root_w = balanced;
  CHECK_NEAR(criterion_value(&pb, BALANCED, wrong), 0.5, 1e-14);

  CHECK(criterion_named("squared") == SQUARED && criterion_named("auc") == AUC);
  CHECK(criterion_named("hinge") == HINGE_LOSS && criterion_named("none") == -1);
}

/* Pairs within groups: of the first 2 of 5 are in the wrong order by weight, of the second a tie
   counts half of 2. The third has no pair. */
TEST(criteria_of_pairs_in_groups) {
  const double response[] = {4, 3, 9, 2, 5, 1, 4}, root_w[] = {1, sqrt(2), 1, 1, 1, 1, 1};
  const double score[] = {7, 1, 0, 2, 7, 0, 1}, null[] = {2.5, 1, 0};
  const int of[] = {1, 0, 2, 0, 1, 0, 1}, order[] = {1, 3, 5, 4, 0, 6, 2};
  struct problem pb = {.m = 7, .L = 1, .root_w = root_w, .response = response};
  pb.groups = (struct row_groups){.count = 3, .of = of, .null = null};
  double r[7], weights[7], *work = room(criterion_work(7) * sizeof(double), 0);
  for (int j = 0; j < 7; j++)
    r[j] = response[j] - score[j];
  criterion_weights(&pb, WORST_CONCORDANCE, weights);
  CHECK(weights[2] == 0);
  pb.root_w = weights;
  const double mean_sd = (0.8 + 0.5) / 2 + 0.3 / sqrt(2);
  CHECK_NEAR(criterion_groups(&pb, WORST_CONCORDANCE, r, order, work), 0.8, 1e-14);
  CHECK_NEAR(criterion_groups(&pb, MEAN_SD_CONCORDANCE, r, order, work), mean_sd, 1e-14);

  /* the same rows in this order */
  double moved[3][7];
  int group[7];
  for (int p = 0; p < 7; p++) {
    moved[0][p] = response[order[p]];
    moved[1][p] = weights[order[p]];
    moved[2][p] = r[order[p]];
    group[p] = of[order[p]];
  }
  pb.response = moved[0];
  pb.root_w = moved[1];
  pb.groups.of = group;
  CHECK_NEAR(criterion_groups(&pb, MEAN_SD_CONCORDANCE, moved[2], NULL, work), mean_sd, 1e-14);
  free(work);
}

/* Six rows, two classes; scores = response - residual. */
TEST(criteria) {
  const double response[] = {1, -1, 1, 1, -1, -1}, root_w[] = {1, 1, 1, 2, 1, 1};
  const double score[] = {0.5, 1, 2, -0.5, -1, -0.5};
  const int order[] = {0, 1, 2, 3, 4, 5}, start[] = {0, 3, 6};
  double r[6];
  double *work = room(criterion_work(6) * sizeof(double), 0);
  for (int j = 0; j < 6; j++)
    r[j] = response[j] - score[j];
  const struct problem pb = {.m = 6, .L = 1, .root_w = root_w, .response = response};

  /* squares 0.25 4 1 | 4 x 2.25 0 0.25, weights 3 | 6 */
  struct estimate f = criterion_estimate(&pb, SQUARED, r, order, start, 2, NULL);
  CHECK_NEAR(f.value, 14.5 / 9, 1e-14);
  const double a = 5.25 / 3 - 14.5 / 9, b = 9.25 / 6 - 14.5 / 9;
  CHECK_NEAR(f.se, sqrt((3 * a * a + 6 * b * b) / 9), 1e-14);
  CHECK_NEAR(criterion_value(&pb, SQUARED, r), 14.5 / 9, 1e-14);

  CHECK_NEAR(criterion_value(&pb, ABSOLUTE, r), (0.5 + 2 + 1 + 4 * 1.5 + 0 + 0.5) / 9, 1e-14);
  CHECK_NEAR(criterion_value(&pb, ERROR, r), (1 + 4) / 9.0, 1e-14);

  /* pairs: (0,1) wrong, (2,1) right | (3,4) right, (3,5) a tie; weights 1 1 | 4 4 */
  f = criterion_estimate(&pb, AUC, r, order, start, 2, work);
  CHECK_NEAR(f.value, (1 + 2) / 10.0, 1e-14);
  CHECK_NEAR(f.se, sqrt((2 * 0.04 + 8 * 0.0025) / 10), 1e-14);

  /* a fold of one class counts no pair; a single fold with pairs has no standard error */
  const int classes[] = {0, 2, 1, 4, 3, 5}, parts[] = {0, 2, 4, 6};
  f = criterion_estimate(&pb, AUC, r, classes, parts, 3, work);
  CHECK_NEAR(f.value, 0.5, 1e-14);
  CHECK(isnan(f.se));
  free(work);

  CHECK(criterion_pair_loss(1, 0) == 0 && criterion_pair_loss(0, 1) == 1 &&
        criterion_pair_loss(1, 1 + 1e-14) == 0.5);

  /* three classes: the largest score, the first of equals, loss averaged over the outputs */
  const double three[] = {1, -1, -1, /**/ -1, 1, -1, /**/ -1, -1, 1};
  const double scores[] = {0.2, 0.1, 0.3, /**/ 0.2 + 1e-14, 0.5, 0.3, /**/ 0, 0.6, 0.3};
  double r3[9], sum = 0;
  for (int j = 0; j < 9; j++) {
    r3[j] = three[j] - scores[j];
    sum += r3[j] * r3[j];
  }
  const struct problem pb3 = {.m = 3, .L = 3, .root_w = root_w, .response = three};
  CHECK_NEAR(criterion_value(&pb3, ERROR, r3), 2.0 / 3, 1e-14);
  CHECK_NEAR(criterion_value(&pb3, SQUARED, r3), sum / 9, 1e-14);
}

/* Means and sums of squares by hand, on more threads than columns need. */
TEST(moments_by_hand) {
  const double x[] = {1, 2, 3, 6, 4, 4, 4, 4}, w[] = {1, 1, 1, 1};
  double centre[2], squares[2], products[1] = {0};
  const struct moments find = {.m = 4,
      .n = 2,
      .x = {.dense = x},
      .w = w,
      .v = w,
      .centred = 1,
      .centre = centre,
      .squares = squares,
      .products = products};
  column_moments(&find, 2);
  CHECK(centre[0] == 3 && squares[0] == 14 && centre[1] == 4 && squares[1] == 0);
}

TEST(columns) {
  seed(2);
  struct made made =
      make((struct shape){.m = 9, .n = 6, .L = 1, .q = 2, .weights = 1, .sparse = 1});
  struct problem dense = made.pb;
  dense.x = (struct matrix){.dense = made.x};
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

/* 0 to count - 1. */
static double draw_level(int count) {
  return floor(count * fabs(uniform()));
}

/* A score as a draw has them: spread evenly, of a few levels, nearly equal, with long tails, over
   all powers of 2, now and then infinite. */
static double draw_score(int draw) {
  const double u = fabs(uniform());
  switch (draw % 7) {
  case 0:
    return draw_level(5) / 5;
  case 1:
    return draw_level(5) / 5 + 3e-11 * draw_level(9);
  case 2:
    return draw_level(2) + 1e-16 * draw_level(9);
  case 3:
    return 1e-6 / (u + 1e-9);
  case 4:
    return ldexp(1, -(int)(1070 * u));
  case 5:
    return u < 0.02 ? -INFINITY : u < 0.05 ? INFINITY : u;
  default:
    return u;
  }
}

/* The loss of every pair of a fold in turn. */
static struct criterion_sum all_pairs(
    const struct problem *pb, const double *r, const int *rows, int count) {
  struct criterion_sum sum = {0, 0};
  for (int p = 0; p < count; p++)
    for (int n = 0; n < count; n++) {
      const int i = rows[p], j = rows[n];
      if (pb->response[i] < 0 || pb->response[j] > 0)
        continue;
      const double w = case_weight(pb, i) * case_weight(pb, j);
      sum.loss += w * criterion_pair_loss(pb->response[i] - r[i], pb->response[j] - r[j]);
      sum.weight += w;
    }
  return sum;
}

/* Buckets count what every pair in turn counts: few and many rows, ties, near ties, weights of 0,
   folds of one class. Rows that lie fold by fold give the same. */
static void check_pair_sums(void) {
  enum { MOST = 300 };
  double response[MOST], root_w[MOST], r[MOST], lying[3 * MOST];
  int order[MOST];
  double *work = room(criterion_work(MOST) * sizeof(double), 0);
  for (int draw = 0; draw < 700; draw++) {
    const int m = 1 + draw % MOST, start[] = {0, m / 3, m};
    for (int j = 0; j < m; j++) {
      order[j] = m - 1 - j;
      response[j] = fabs(uniform()) < (draw % 8 == 0 ? 0.02 : 0.4) ? 1 : -1;
      root_w[j] = draw % 2 == 0 ? 1 : draw % 3 == 0 ? fabs(uniform()) : draw_level(3);
      r[j] = response[j] - draw_score(draw);
    }
    const struct problem pb = {.m = m, .L = 1, .root_w = root_w, .response = response};
    const struct criterion_sum first = all_pairs(&pb, r, order, m / 3),
                               second = all_pairs(&pb, r, order + m / 3, m - m / 3);
    const double weight = first.weight + second.weight,
                 truth = weight > 0 ? (first.loss + second.loss) / weight : 0;
    CHECK_NEAR(criterion_estimate(&pb, AUC, r, order, start, 2, work).value, truth, 1e-13);
    for (int f = 0, next = 0; f < 2; f++)
      for (int class = 1; class >= -1; class -= 2)
        for (int p = start[f]; p < start[f + 1]; p++)
          if (response[order[p]] == class) {
            lying[next] = class;
            lying[m + next] = root_w[order[p]];
            lying[2 * m + next++] = r[order[p]];
          }
    const struct problem by_fold = {.m = m, .L = 1, .root_w = lying + m, .response = lying};
    CHECK_NEAR(criterion_auc(&by_fold, lying + 2 * m, start, 2, work), truth, 1e-13);
  }
  free(work);
}

TEST(criterion_pairs) {
  const struct simd *widest = simd;
  for (int width = 1; width <= 8; width *= 2) {
    simd = simd_for(width);
    check_pair_sums();
  }
  simd = widest;
}

/* Scores that are missing are no harm: R makes the sum missing. */
TEST(criterion_pairs_missing) {
  enum { COUNT = 100 };
  double score[COUNT], weight[COUNT];
  double *work = room(criterion_work(COUNT) * sizeof(double), 0);
  for (int draw = 0; draw < 50; draw++) {
    for (int j = 0; j < COUNT; j++) {
      score[j] = fabs(uniform()) < 0.02 * draw ? NAN : draw_score(draw);
      weight[j] = 1;
    }
    const struct criterion_sum sum = criterion_pair_sum(score, weight, 40, COUNT, work);
    CHECK(sum.weight == 40 * 60 && sum.loss >= 0 && sum.loss <= 40 * 60);
  }
  free(work);
}

/* Losses of all rows at once are those of the rows one by one: scores that tie or nearly do,
   weights of 0, several outputs. */
static void check_row_losses(void) {
  static const enum criterion kinds[] = {SQUARED, ERROR, ABSOLUTE, BALANCED, LOGISTIC_LOSS};
  enum { MOST = 600, OUTPUTS = 4 };
  double response[MOST * OUTPUTS], root_w[MOST], r[MOST * OUTPUTS], loss[MOST];
  int order[MOST], start[MOST + 1];
  for (int j = 0; j <= MOST; j++)
    start[j] = j < MOST ? order[j] = j : j;
  for (int draw = 0; draw < 1000; draw++) {
    const int m = 1 + draw * 7 % MOST, L = 1 + draw % OUTPUTS;
    for (int j = 0; j < m; j++) {
      const int class = (int)(draw_level(4));
      root_w[j] = draw % 2 == 0 ? 1 : draw_level(3) / 2;
      for (int l = 0; l < L; l++) {
        response[j + l * m] = (L == 1 ? class < 2 : class % L == l) ? 1 : -1;
        const double score = draw % 3 == 0   ? draw_level(5) - 2
                             : draw % 3 == 1 ? 3e-11 * (draw_level(9) - 4)
                                             : 4 * uniform() - 2;
        r[j + l * m] = response[j + l * m] - score;
      }
    }
    root_w[0] = 1;
    const struct problem pb = {.m = m, .L = L, .root_w = root_w, .response = response};
    for (int k = 0; k < (L == 1 ? 5 : 4); k++) {
      double sum = 0, weight = 0, spread = 0;
      int scored = 0;
      CHECK(criterion_row_losses(&pb, kinds[k], r, loss));
      for (int j = 0; j < m; j++) {
        sum += case_weight(&pb, j) * loss[j];
        weight += case_weight(&pb, j);
        scored += root_w[j] > 0;
      }
      for (int j = 0; j < m; j++)
        spread += case_weight(&pb, j) * pow(loss[j] - sum / weight, 2);
      CHECK_NEAR(criterion_value(&pb, kinds[k], r), sum / weight, 1e-13);
      const struct estimate each = criterion_estimate(&pb, kinds[k], r, order, start, m, NULL);
      CHECK_NEAR(each.value, sum / weight, 1e-13);
      if (scored > 1)
        CHECK_NEAR(each.se, sqrt(spread / weight / (scored - 1)), 1e-7);
    }
  }
}

TEST(criterion_losses_of_rows) {
  const struct simd *widest = simd;
  for (int width = 1; width <= 8; width *= 2) {
    simd = simd_for(width);
    check_row_losses();
  }
  simd = widest;
}
