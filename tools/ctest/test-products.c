/* Products of many columns with several vectors against a plain loop. */
#include "ctest.h"
#include "column.h"
#include "products.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Working column i before the covariates are taken out of it. */
static void plain_column(const struct made *made, ptrdiff_t i, double *out) {
  const struct problem *pb = &made->pb;
  for (ptrdiff_t j = 0; j < pb->m; j++)
    out[j] = sqrt(made->w[j]) * (made->x[j + i * pb->m] - pb->centre[i]) * pb->inv_scale[i];
}

struct products {
  double *out; /* n x r */
  int polls;
};

static void discard_products(struct products *products) {
  free(products->out);
}

/* In a workspace of exactly the size that was asked for, added to l in row l of out. */
static struct products run_pass(const struct problem *pb, const int *list, ptrdiff_t count,
    ptrdiff_t r, const double *V, int threads, int stop_at) {
  const ptrdiff_t n = pb->n;
  const size_t size = column_products_work(pb, r, threads);
  struct products products = {room((size_t)(r * n) * sizeof(double), 0xFF), 0};
  const double **v = room((size_t)r * sizeof(double *), 0);
  double **out = room((size_t)r * sizeof(double *), 0);
  for (ptrdiff_t l = 0; l < r; l++) {
    v[l] = V + l * pb->m;
    out[l] = products.out + l * n;
    for (ptrdiff_t i = 0; i < n; i++)
      out[l][i] = (double)l;
  }
  const struct column_pass pass = {
      .pb = pb, .list = list, .count = count, .r = r, .v = v, .out = out, .done = 1, .total = 2};
  struct polls polls = {0, stop_at};
  struct host host = {.threads = threads, .stop = poll, .self = &polls};
  void *work = room(size, 0xFF);
  const enum status status = column_products(&pass, &host, work);
  CHECK(status == (stop_at > 0 ? INTERRUPTED : COMPLETE));
  products.polls = polls.count;
  free(work);
  free(v);
  free(out);
  return products;
}

/* Some columns in any order. */
static void check_pass(const struct made *made, ptrdiff_t count, ptrdiff_t r) {
  const ptrdiff_t m = made->pb.m, n = made->pb.n;
  const size_t bytes = (size_t)(r * n) * sizeof(double);
  int *list = room((size_t)n * sizeof(int), 0);
  double *V = room((size_t)(m * r) * sizeof(double), 0);
  double *x = room((size_t)m * sizeof(double), 0), *got = room((size_t)m * sizeof(double), 0);
  for (int i = 0; i < n; i++)
    list[i] = i;
  for (ptrdiff_t i = n - 1; i > 0; i--) {
    const ptrdiff_t with = (ptrdiff_t)((uniform() + 1) / 2 * (double)i);
    const int one = list[i];
    list[i] = list[with];
    list[with] = one;
  }
  for (ptrdiff_t p = 0; p < m * r; p++)
    V[p] = uniform();
  struct products one = run_pass(&made->pb, list, count, r, V, 1, 0);
  struct products two = run_pass(&made->pb, list, count, r, V, 2, 0);
  CHECK(memcmp(one.out, two.out, bytes) == 0);
  double worst = 0, worst_column = 0;
  int untouched = 1;
  for (ptrdiff_t p = 0; p < n; p++) {
    const int i = list[p];
    for (ptrdiff_t l = 0; l < r && p >= count; l++)
      untouched = untouched && one.out[i + l * n] == (double)l;
    if (p >= count)
      continue;
    plain_column(made, i, x);
    centred_column(&made->pb, i, got);
    /* a sparse column is read without its centre, which cancels afterwards */
    const double centre = made->pb.centre[i] * made->pb.inv_scale[i];
    double read_norm2 = 1;
    for (ptrdiff_t j = 0; j < m; j++)
      read_norm2 += x[j] * x[j] + made->w[j] * centre * centre;
    for (ptrdiff_t j = 0; j < m; j++)
      worst_column = fmax(worst_column, fabs(got[j] - x[j]) / sqrt(read_norm2));
    for (ptrdiff_t l = 0; l < r; l++) {
      double sum = (double)l;
      for (ptrdiff_t j = 0; j < m; j++)
        sum += x[j] * V[j + l * m];
      worst = fmax(worst, fabs(one.out[i + l * n] - sum) / sqrt(read_norm2));
    }
  }
  CHECK(untouched);
  CHECK_NEAR(worst, 0, 1e-13);
  CHECK_NEAR(worst_column, 0, 1e-14);
  discard_products(&one);
  discard_products(&two);
  free(list);
  free(V);
  free(x);
  free(got);
}

/* So many columns, of three nonzeros, that the host is asked in between. */
TEST(column_products_polls) {
  enum { M = 1000, COUNT = 53000, R = 19 };
  struct made made = make((struct shape){.m = M, .n = 4, .L = 1, .sparse = 1, .weights = 1});
  int *list = room(COUNT * sizeof(int), 0), *p = room((COUNT + 1) * sizeof(int), 0);
  int *row = room(3 * COUNT * sizeof(int), 0);
  double *x = room(3 * COUNT * sizeof(double), 0), *one = room(COUNT * sizeof(double), 0);
  double *V = room(M * R * sizeof(double), 0);
  for (int i = 0; i < COUNT; i++) {
    list[i] = i;
    p[i] = 3 * i;
    one[i] = 1;
    for (int k = 0; k < 3; k++) {
      row[3 * i + k] = (i + 7 * k) % (M / 3) + k * (M / 3);
      x[3 * i + k] = uniform();
    }
  }
  p[COUNT] = 3 * COUNT;
  for (int i = 0; i < M * R; i++)
    V[i] = uniform();
  struct problem pb = made.pb;
  pb.n = COUNT;
  pb.x = (struct matrix){.x = x, .i = row, .p = p};
  pb.centre = pb.inv_scale = one;
  struct products alone = run_pass(&pb, list, COUNT, R, V, 1, 0);
  struct products two = run_pass(&pb, list, COUNT, R, V, 2, 0);
  CHECK(alone.polls == 7 && two.polls == 4);
  CHECK(memcmp(alone.out, two.out, (size_t)R * COUNT * sizeof(double)) == 0);
  for (int at = 1; at <= alone.polls; at++) {
    struct products part = run_pass(&pb, list, COUNT, R, V, 1, at);
    CHECK(part.polls == at);
    CHECK(memcmp(part.out, alone.out, (size_t)(at * (COUNT / alone.polls)) * sizeof(double)) == 0);
    discard_products(&part);
  }
  discard_products(&alone);
  discard_products(&two);
  discard(&made);
  free(list);
  free(p);
  free(row);
  free(x);
  free(one);
  free(V);
}

TEST(column_products) {
  static const ptrdiff_t rows[] = {1, 7, 511, 512, 513, 1100};
  static const ptrdiff_t counts[] = {0, 1, 2, 3, 4, 5, 8, 9};
  seed(60);
  for (int i = 0; i < 6; i++)
    for (int form = 0; form < 3; form++)
      for (int any = 0; any < 2; any++) {
        struct made made = make((struct shape){.m = rows[i],
            .n = 9,
            .L = 1,
            .q = rows[i] > 1,
            .weights = any,
            .columns = any ? ANY : UNRELATED,
            .sparse = form == 1,
            .whole = form == 2});
        for (int c = 0; c < 8; c++)
          for (ptrdiff_t r = 1; r <= 20; r += rows[i] < 100 ? 1 : 6)
            check_pass(&made, counts[c], r);
        discard(&made);
      }
}

TEST(linear_scores) {
  enum { M = 700, N = 9, ALL = 12, L = 3 };
  const int list[N] = {11, 0, 1, 2, 3, 7, 5, 6, 10};
  double *X = room(M * ALL * sizeof(double), 0), *out = room(M * L * sizeof(double), 0xFF),
         B[N * L];
  for (int p = 0; p < M * ALL; p++)
    X[p] = uniform();
  for (int p = 0; p < N * L; p++)
    B[p] = p % N < 5 && p / N == 1 ? 0 : uniform();
  linear_scores(M, &(struct matrix){.element = DOUBLES, .dense = X}, N, list, L, B, out);
  for (int l = 0; l < L; l++)
    for (int j = 0; j < M; j++) {
      double sum = 0;
      for (int i = 0; i < N; i++)
        sum += X[j + list[i] * M] * B[i + l * N];
      CHECK_NEAR(out[j + l * M], sum, 1e-13);
    }
  /* the same to the last bit of elements that become doubles block by block */
  int *whole = room(M * ALL * sizeof(int), 0);
  double *again = room(M * L * sizeof(double), 0xFF);
  for (int p = 0; p < M * ALL; p++)
    X[p] = whole[p] = any(-9, 9);
  linear_scores(M, &(struct matrix){.element = DOUBLES, .dense = X}, N, list, L, B, out);
  linear_scores(M, &(struct matrix){.element = INTEGERS, .dense = whole}, N, list, L, B, again);
  CHECK(memcmp(out, again, M * L * sizeof(double)) == 0);
  /* and of products of functions, which columns share */
  double start[FACTORS + 2], cubic[4 * (FACTORS + 2)];
  struct piecewise by[FACTORS + 2];
  struct computed computed[ALL];
  for (int f = 0; f < FACTORS + 2; f++) {
    for (int p = 0; p < 4; p++)
      cubic[4 * f + p] = uniform();
    by[f] = (struct piecewise){-9, 9, 1, start + f, cubic + 4 * f};
    start[f] = 0;
  }
  for (int i = 0; i < ALL; i++) {
    const int f = any(0, FACTORS + 1), g = i % 5 == 0 ? f : i % (FACTORS + 2);
    computed[i] = (struct computed){{X + i % 3 * M, X + i % 2 * M}, {by[f], by[g]}};
  }
  const struct matrix shared = {.element = COMPUTED, .computed = computed};
  double *values = room(M * ALL * sizeof(double), 0);
  for (int i = 0; i < ALL; i++)
    gather_column(&shared, M, i, values + i * M);
  linear_scores(M, &(struct matrix){.element = DOUBLES, .dense = values}, N, list, L, B, out);
  linear_scores(M, &shared, N, list, L, B, again);
  CHECK(memcmp(out, again, M * L * sizeof(double)) == 0);
  free(values);
  free(whole);
  free(again);
  free(X);
  free(out);
}
