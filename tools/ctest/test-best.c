/* The best subsets against all subsets, with limits and interrupts. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct watch {
  int polls, stop_at;
  double before;
};

static int watch_polls(struct host *host, double done, double total) {
  struct watch *watch = host->self;
  CHECK(done >= watch->before && done <= total * (1 + 1e-12));
  watch->before = done;
  return ++watch->polls == watch->stop_at;
}

struct sets {
  int m, n, L, k, kind;
  double lambda;
};

/* kind 1: column 4 is column 1 again and column 3 is -2 column 0; kind 2: the response is that of
   columns 1 and 2 without noise; kind 3: much in common */
static const struct sets cases[] = {{20, 8, 1, 8, 0, 0}, {20, 8, 1, 6, 0, 0.7}, {20, 9, 3, 6, 0, 0},
    {20, 9, 2, 5, 0, 2}, {20, 9, 1, 9, 1, 0}, {20, 9, 1, 7, 1, 1}, {20, 9, 2, 9, 1, 0},
    {20, 9, 1, 7, 2, 0}, {6, 10, 1, 4, 0, 0}, {6, 10, 2, 7, 0, 0.1}, {30, 11, 1, 8, 3, 0},
    {30, 17, 1, 4, 3, 0}, {5, 1, 1, 1, 0, 0}, {9, 2, 1, 2, 0, 0}, {9, 3, 2, 3, 0, 1}};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

struct data {
  struct gram gram;
  double *full, *b, *diagonal, total;
};

static struct data make_data(const struct sets *of) {
  const int m = of->m, n = of->n, L = of->L;
  double *x = room((size_t)(m * n) * sizeof(double), 0);
  double *y = room((size_t)(m * L) * sizeof(double), 0);
  struct data data = {.full = room((size_t)(n * n) * sizeof(double), 0),
      .b = room((size_t)(n * L) * sizeof(double), 0),
      .diagonal = room((size_t)n * sizeof(double), 0)};
  for (int i = 0; i < m; i++) {
    const double common = of->kind == 3 ? uniform() : 0;
    for (int j = 0; j < n; j++)
      x[i + j * m] = uniform() + common;
    if (of->kind == 1) {
      x[i + 4 * m] = x[i + m];
      x[i + 3 * m] = -2 * x[i];
    }
    for (int l = 0; l < L; l++) {
      y[i + l * m] = of->kind == 2 ? 0 : uniform();
      for (int j = 0; j < n && j < 3 && n > 2; j++)
        y[i + l * m] += of->kind == 2 && j == 0 ? 0 : x[i + j * m];
      data.total += y[i + l * m] * y[i + l * m];
    }
  }
  for (int j = 0; j < n; j++) {
    for (int p = 0; p < n; p++)
      for (int i = 0; i < m; i++)
        data.full[p + j * n] += x[i + p * m] * x[i + j * m];
    for (int l = 0; l < L; l++)
      for (int i = 0; i < m; i++)
        data.b[j + l * n] += x[i + j * m] * y[i + l * m];
    data.diagonal[j] = data.full[j + j * n];
  }
  data.gram =
      (struct gram){.n = n, .L = L, .diagonal = data.diagonal, .b = data.b, .full = data.full};
  free(x);
  free(y);
  return data;
}

static void discard_data(struct data *data) {
  free(data->full);
  free(data->b);
  free(data->diagonal);
}

/* Gain of the columns whose bits are set, by elimination; a dependent column is left out. */
static double gain_of_mask(const struct data *data, double lambda, unsigned mask) {
  const ptrdiff_t n = data->gram.n, L = data->gram.L;
  const size_t entries = (size_t)(n * (n + L));
  double *A = room(entries * sizeof(double), 0), gain = 0;
  memcpy(A, data->full, (size_t)(n * n) * sizeof(double));
  memcpy(A + n * n, data->b, (size_t)(n * L) * sizeof(double));
  for (ptrdiff_t j = 0; j < n; j++)
    A[j + j * n] += lambda;
  for (ptrdiff_t j = 0; j < n; j++) {
    const double pivot = A[j + j * n];
    if (!(mask >> j & 1) || pivot <= 1e-10 * (data->diagonal[j] + lambda))
      continue;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += A[j + (n + l) * n] * A[j + (n + l) * n] / pivot;
    for (ptrdiff_t i = j + 1; i < n; i++) {
      const double f = A[i + j * n] / pivot;
      for (ptrdiff_t p = 0; p < n + L; p++)
        A[i + p * n] -= f * A[j + p * n];
    }
  }
  free(A);
  return gain;
}

static int bits(unsigned mask) {
  int count = 0;
  for (; mask > 0; mask &= mask - 1)
    count++;
  return count;
}

struct found {
  enum status status;
  struct best_result result;
};

static struct found find(
    const struct data *data, const struct sets *of, double nodes, int stop_at) {
  const struct best_control control = {
      .lambda = of->lambda, .k = of->k, .nodes = nodes, .total = data->total};
  const size_t k = (size_t)of->k;
  struct found found = {.result = {.set = room(k * k * sizeof(int), 0xFF),
                            .gain = room(k * sizeof(double), 0xFF),
                            .bound = room(k * sizeof(double), 0xFF),
                            .nodes = room(k * sizeof(double), 0xFF)}};
  struct watch watch = {.stop_at = stop_at};
  struct host host = {.threads = 1, .stop = watch_polls, .self = &watch};
  const size_t bytes = best_work(&data->gram, &control);
  char *work = room(bytes + 8, 0xFF);
  found.status = best_subset(&data->gram, &control, &host, work, &found.result);
  if (stop_at == 0) { /* where the room begins makes no difference */
    struct best_result again = {.set = room(k * k * sizeof(int), 0xFF),
        .gain = room(k * sizeof(double), 0xFF),
        .bound = room(k * sizeof(double), 0xFF),
        .nodes = room(k * sizeof(double), 0xFF)};
    watch = (struct watch){.stop_at = 0};
    best_subset(&data->gram, &control, &host, work + 8, &again);
    CHECK(again.sizes == found.result.sizes);
    CHECK(memcmp(again.gain, found.result.gain, (size_t)again.sizes * sizeof(double)) == 0);
    CHECK(memcmp(again.set, found.result.set, k * (size_t)again.sizes * sizeof(int)) == 0);
    free(again.set);
    free(again.gain);
    free(again.bound);
    free(again.nodes);
  }
  free(work);
  return found;
}

static void forget(struct found *found) {
  free(found->result.set);
  free(found->result.gain);
  free(found->result.bound);
  free(found->result.nodes);
}

/* A run that may have been cut short: sets of the right size, their gains, and bounds that hold. */
static void check_found(
    const struct data *data, const struct sets *of, const struct found *found, const double *most) {
  const double slack = 1e-9 * data->total;
  for (int s = 1; s <= found->result.sizes; s++) {
    const int *set = found->result.set + (s - 1) * of->k;
    const double gain = found->result.gain[s - 1], bound = found->result.bound[s - 1];
    unsigned mask = 0;
    for (int i = 0; i < s; i++) {
      CHECK(set[i] >= 0 && set[i] < of->n && (i == 0 || set[i] > set[i - 1]));
      mask |= 1u << set[i];
    }
    CHECK_NEAR(gain / data->total, gain_of_mask(data, of->lambda, mask) / data->total, 1e-9);
    CHECK(gain <= most[s] + slack && bound >= most[s] - slack && bound >= gain);
    CHECK(bound <= data->total * (1 + 1e-9));
    if (found->status == COMPLETE) {
      CHECK_NEAR(gain / data->total, most[s] / data->total, 1e-9);
      CHECK(bound == gain && found->result.nodes[s - 1] >= 1);
    }
    if (of->kind == 1 && of->lambda <= 0) /* of identical columns the first */
      CHECK(!(mask >> 3 & 1) && !(mask >> 4 & 1));
    if (of->kind == 1) /* column 4 only beside column 1 */
      CHECK(!(mask >> 4 & 1) || (mask >> 1 & 1));
  }
}

TEST(best_subset) {
  for (int c = 0; c < CASES; c++) {
    const struct sets *of = cases + c;
    seed(300 + (unsigned long long)c);
    struct data data = make_data(of);
    double most[32] = {0};
    for (unsigned mask = 1; mask < 1u << of->n; mask++)
      if (bits(mask) <= of->k)
        most[bits(mask)] = fmax(most[bits(mask)], gain_of_mask(&data, of->lambda, mask));
    struct found found = find(&data, of, INFINITY, 0);
    CHECK(found.status == COMPLETE);
    CHECK(found.result.sizes == (of->kind == 1 && of->lambda <= 0 ? 7 : of->k));
    check_found(&data, of, &found, most);
    double largest = 0;
    for (int s = 0; s < found.result.sizes; s++)
      largest = fmax(largest, found.result.nodes[s]);
    forget(&found);

    for (double nodes = 1; nodes < 2 * largest; nodes *= 2) {
      found = find(&data, of, nodes, 0);
      CHECK(found.status == (nodes < largest ? MOVE_LIMIT : COMPLETE));
      check_found(&data, of, &found, most);
      forget(&found);
    }
    for (int stop_at = 1, status = INTERRUPTED; status == INTERRUPTED; stop_at++) {
      found = find(&data, of, INFINITY, stop_at);
      status = (int)found.status;
      check_found(&data, of, &found, most);
      forget(&found);
    }
    discard_data(&data);
  }
}
