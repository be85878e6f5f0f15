/* Rows in queries: columns about the means of each, and pairs in the order of their responses. */
#include "ctest.h"
#include "simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { M = 90, N = 5, QUERIES = 7 };

/* A problem whose rows lie in queries in no order, one of them without weight. */
struct ranked {
  double x[M * N], centre[N], inv_scale[N], root_w[M];
  int query[M], order[M], start[QUERIES + 1];
};

static struct problem make_ranked(struct ranked *r) {
  int next = 0;
  for (int j = 0; j < M; j++) {
    r->query[j] = (j * j + j / 3) % QUERIES;
    r->root_w[j] = r->query[j] == 2 ? 0 : 1 + uniform() / 2;
    for (int i = 0; i < N; i++)
      r->x[j + i * M] = i == 0 ? 0.1 * r->query[j] : uniform() + 100 * r->query[j];
  }
  for (int i = 0; i < N; i++) {
    r->centre[i] = 300;
    r->inv_scale[i] = 1 + i;
  }
  for (int g = 0; g < QUERIES; g++) {
    r->start[g] = next;
    for (int j = 0; j < M; j++)
      if (r->query[j] == g)
        r->order[next++] = j;
  }
  r->start[QUERIES] = next;
  return (struct problem){.m = M,
      .n = N,
      .x = {.dense = r->x},
      .centre = r->centre,
      .inv_scale = r->inv_scale,
      .root_w = r->root_w,
      .query = r->query,
      .queries = {QUERIES, r->order, r->start}};
}

static double mean_of_query(const struct ranked *r, const double *x, int query) {
  double sum = 0, weight = 0;
  for (int j = 0; j < M; j++)
    if (r->query[j] == query) {
      sum += r->root_w[j] * r->root_w[j] * x[j];
      weight += r->root_w[j] * r->root_w[j];
    }
  return weight > 0 ? sum / weight : 0;
}

TEST(columns_within_queries) {
  struct ranked r;
  const struct problem pb = make_ranked(&r);
  double out[M], same[M], squares[2][N];
  double *scratch = room(2 * M * sizeof(double), 0);
  for (int t = 0; t < 2; t++) {
    const struct within_squares within = {.pb = &pb, .scratch = scratch, .squares = squares[t]};
    CHECK(column_within_squares(&within, t + 1) == COMPLETE);
  }
  CHECK(memcmp(squares[0], squares[1], sizeof squares[0]) == 0);
  for (int i = 0; i < N; i++) {
    double square = 0;
    centred_column(&pb, i, out);
    working_column(&pb, i, same);
    CHECK(memcmp(out, same, sizeof out) == 0);
    for (int j = 0; j < M; j++) {
      const double off = r.x[j + i * M] - mean_of_query(&r, r.x + i * M, r.query[j]);
      CHECK_NEAR(out[j], r.root_w[j] * off * r.inv_scale[i], 1e-12);
      square += r.root_w[j] * r.root_w[j] * off * off;
    }
    CHECK_NEAR(squares[0][i], square, 1e-11);
  }
  CHECK(squares[0][0] < 1e-26);
  free(scratch);
}

/* Every pair. */
static struct criterion_sum all_pairs(int from, int to, const double *response, const double *score,
    const double *root_w, const int *query) {
  struct criterion_sum sum = {0, 0};
  for (int i = from; i < to; i++)
    for (int j = from; j < to; j++)
      if (response[i] > response[j] && (query == NULL || query[i] == query[j])) {
        const double w = root_w[i] * root_w[i] * root_w[j] * root_w[j];
        sum.weight += w;
        sum.loss += w * criterion_pair_loss(score[i], score[j]);
      }
  return sum;
}

/* Rows of each of two queries, the highest response first; ties among responses and scores. */
static void fill_ordered(
    int m, int levels, double *response, double *r, double *score, double *root_w, int *query) {
  for (int j = 0; j < m; j++) {
    const int first = j < m / 3, place = first ? j : j - m / 3, rows = first ? m / 3 : m - m / 3;
    query[j] = !first;
    response[j] = levels - place * levels / rows;
    score[j] = floor(response[j] + levels * uniform());
    r[j] = response[j] - score[j];
    root_w[j] = j % 7 == 3 ? 0 : 1 + uniform() / 2;
  }
}

TEST(criterion_concordance_of_all_pairs) {
  enum { MOST = 700 };
  double response[MOST], r[MOST], score[MOST], root_w[MOST];
  int query[MOST], order[MOST];
  const int sizes[] = {2, 6, 33, 90, MOST}, levels[] = {1, 2, 3, 40, 1000};
  CHECK(criterion_named("concordance") == CONCORDANCE);
  for (int s = 0; s < 5; s++)
    for (int l = 0; l < 5; l++) {
      const int m = sizes[s], start[] = {0, m};
      double *work = room(criterion_work(m) * sizeof(double), 0);
      fill_ordered(m, levels[l], response, r, score, root_w, query);
      const struct problem pb = {
          .m = m, .L = 1, .response = response, .root_w = root_w, .query = query};
      const struct criterion_sum truth = all_pairs(0, m, response, score, root_w, query);
      const double value = truth.weight > 0 ? truth.loss / truth.weight : 0;
      CHECK_NEAR(criterion_concordance(&pb, r, start, 1, work), value, 1e-12);
      for (int j = 0; j < m; j++)
        order[j] = j;
      CHECK_NEAR(
          criterion_estimate(&pb, CONCORDANCE, r, order, start, 1, work).value, value, 1e-12);
      /* the rows in two folds, which compare nothing across, and without queries */
      const int parts[] = {0, m / 3, m};
      const struct criterion_sum top = all_pairs(0, m / 3, response, score, root_w, NULL);
      const struct criterion_sum rest = all_pairs(m / 3, m, response, score, root_w, NULL);
      const struct problem plain = {.m = m, .L = 1, .response = response, .root_w = root_w};
      const double weight = top.weight + rest.weight;
      CHECK_NEAR(criterion_concordance(&plain, r, parts, 2, work),
          weight > 0 ? (top.loss + rest.loss) / weight : 0, 1e-12);
      free(work);
    }
}
