/* Products of many columns with several vectors against a plain loop. */
#include "ctest.h"
#include "greedy.h"
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
  double *out, *squares; /* r x count, count */
  int polls;
};

static void discard_products(struct products *products) {
  free(products->out);
  free(products->squares);
}

/* In room of exactly the size that was asked for; squares only if they are wanted. */
static struct products read_products(const struct made *made, const int *list, ptrdiff_t count,
    ptrdiff_t r, const double *V, int squares, int threads, int stop_at) {
  const size_t size = products_room(&made->pb, r, threads) * sizeof(double);
  struct products products = {room((size_t)(r * count) * sizeof(double), 0xFF),
      squares ? room((size_t)count * sizeof(double), 0xFF) : NULL, 0};
  const struct reading read = {.pb = &made->pb,
      .list = list,
      .count = count,
      .r = r,
      .V = V,
      .out = products.out,
      .squares = products.squares,
      .done = 1,
      .total = 2};
  struct polls polls = {0, stop_at};
  struct host host = {threads, poll, NULL, 0, &polls};
  double *work = room(size, 0xFF);
  const enum status status = column_products(&read, &host, work);
  CHECK(status == (stop_at > 0 ? INTERRUPTED : COMPLETE));
  products.polls = polls.count;
  free(work);
  return products;
}

/* Any columns in any order, the same one more than once. */
static void check_reading(const struct made *made, ptrdiff_t count, ptrdiff_t r) {
  const ptrdiff_t m = made->pb.m;
  int *list = room((size_t)count * sizeof(int), 0);
  double *V = room((size_t)(m * r) * sizeof(double), 0);
  double *x = room((size_t)m * sizeof(double), 0), *got = room((size_t)m * sizeof(double), 0);
  for (ptrdiff_t p = 0; p < count; p++)
    list[p] = (int)((uniform() + 1) / 2 * (double)made->pb.n) % (int)made->pb.n;
  for (ptrdiff_t p = 0; p < m * r; p++)
    V[p] = uniform();
  const struct products with = read_products(made, list, count, r, V, 1, 1, 0);
  struct products without = read_products(made, list, count, r, V, 0, 1, 0);
  struct products two = read_products(made, list, count, r, V, 1, 2, 0);
  const size_t products_size = (size_t)(r * count) * sizeof(double);
  CHECK(memcmp(with.out, without.out, products_size) == 0);
  CHECK(memcmp(with.out, two.out, products_size) == 0);
  CHECK(memcmp(with.squares, two.squares, (size_t)count * sizeof(double)) == 0);
  double worst = 0, worst_column = 0;
  for (ptrdiff_t p = 0; p < count; p++) {
    plain_column(made, list[p], x);
    centred_column(&made->pb, list[p], got);
    /* a sparse column is read without its centre, which cancels afterwards */
    const double centre = made->pb.centre[list[p]] * made->pb.inv_scale[list[p]];
    double square = 0, reach = 1;
    for (ptrdiff_t j = 0; j < m; j++) {
      square += x[j] * x[j];
      reach += x[j] * x[j] + made->w[j] * centre * centre;
    }
    for (ptrdiff_t j = 0; j < m; j++)
      worst_column = fmax(worst_column, fabs(got[j] - x[j]) / sqrt(reach));
    worst = fmax(worst, fabs(with.squares[p] - square) / reach);
    for (ptrdiff_t l = 0; l < r; l++) {
      double sum = 0;
      for (ptrdiff_t j = 0; j < m; j++)
        sum += x[j] * V[j + l * m];
      worst = fmax(worst, fabs(with.out[l + p * r] - sum) / sqrt(reach));
    }
  }
  CHECK_NEAR(worst, 0, 1e-13);
  CHECK_NEAR(worst_column, 0, 1e-14);
  struct products all = with;
  discard_products(&all);
  discard_products(&without);
  discard_products(&two);
  free(list);
  free(V);
  free(x);
  free(got);
}

/* So many columns that the host is asked in between. */
static void check_polls(void) {
  enum { M = 1000, COUNT = 53000, R = 19 };
  struct made made = make((struct shape){.m = M, .n = 4, .L = 1, .sparse = 1, .weights = 1});
  int *list = room(COUNT * sizeof(int), 0), *p = (int *)made.pb.x.p;
  double *V = room(M * R * sizeof(double), 0);
  for (int j = 0; j <= 4; j++) /* a few nonzeros are enough */
    p[j] = 3 * j;
  for (int i = 0; i < COUNT; i++)
    list[i] = i % 4;
  for (int i = 0; i < M * R; i++)
    V[i] = uniform();
  struct products one = read_products(&made, list, COUNT, R, V, 1, 1, 0);
  struct products two = read_products(&made, list, COUNT, R, V, 1, 2, 0);
  CHECK(one.polls == 3 && two.polls == 2);
  CHECK(memcmp(one.out, two.out, (size_t)R * COUNT * sizeof(double)) == 0);
  CHECK(memcmp(one.squares, two.squares, COUNT * sizeof(double)) == 0);
  for (int at = 1; at <= one.polls; at++) {
    struct products part = read_products(&made, list, COUNT, R, V, 1, 1, at);
    CHECK(part.polls == at);
    CHECK(memcmp(part.out, one.out, (size_t)(at * (COUNT / 3)) * sizeof(double)) == 0);
    discard_products(&part);
  }
  discard_products(&one);
  discard_products(&two);
  discard(&made);
  free(list);
  free(V);
}

void test_column_products(void) {
  static const ptrdiff_t rows[] = {1, 7, 511, 512, 513, 1100};
  static const ptrdiff_t counts[] = {0, 1, 2, 3, 4, 5, 9, 11};
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
            check_reading(&made, counts[c], r);
        discard(&made);
      }
  check_polls();
}
