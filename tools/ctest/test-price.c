/* Greedy search at a price: that each step adds the column that gains most per price, by retraining
   for every candidate, and that skipping candidates, threads and the workspace change nothing. */
#include "runs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 80 };

struct prices {
  double price[MOST_COLUMNS], budget;
  int assay[MOST_COLUMNS];
};

/* Prices from 1 to 5; of `assays` assays every third column. */
static struct prices draw_prices(ptrdiff_t n, int assays, double budget) {
  struct prices prices = {.budget = budget};
  for (ptrdiff_t i = 0; i < n; i++) {
    prices.assay[i] = assays > 0 && i % 3 == 0 ? any(0, assays - 1) : -1;
    prices.price[i] = prices.assay[i] >= 0 ? 2 + prices.assay[i] : 3 + 2 * uniform();
  }
  return prices;
}

static int is_member(const int *set, int size, int i) {
  int found = 0;
  for (int p = 0; p < size; p++)
    found += set[p] == i;
  return found;
}

/* What column i costs in addition to a set. */
static double added_price(const struct prices *prices, const int *set, int size, int i) {
  for (int p = 0; p < size; p++)
    if (prices->assay[i] >= 0 && prices->assay[set[p]] == prices->assay[i])
      return 0;
  return prices->price[i];
}

static double retrained_loss(
    const struct made *made, double lambda, const int *set, int size, double *r) {
  double sum = 0;
  for (int repeat = 0; repeat < made->folds.repeats; repeat++) {
    retrain(made, lambda, set, size, repeat, r);
    sum += criterion_value(&made->pb, SQUARED, r) / made->folds.repeats;
  }
  return sum;
}

/* Where a column comes in the order of choice: before others with the same place the one with the
   larger `value`. */
struct choice {
  int place; /* 0: free and gains, 1: gains, 2: does not */
  double value;
};

static struct choice choice_of(double gain, double price) {
  if (gain <= 1e-10)
    return (struct choice){2, fmin(gain, 0)};
  return price == 0 ? (struct choice){0, gain} : (struct choice){1, gain / price};
}

static void check_steps(const struct made *made, const struct greedy_control *control,
    const struct prices *prices, const struct run *run) {
  const struct greedy_result *out = &run->result;
  double *r = room((size_t)(made->pb.m * made->pb.L) * sizeof(double), 0), spent = 0;
  int set[MOST_COLUMNS];
  for (int move = 1; move <= out->moves; move++) {
    const int size = move - 1, chosen = out->feature[move];
    const double price = added_price(prices, set, size, chosen);
    const double now = out->loss[move - 1], gain = now - out->loss[move];
    const struct choice best = choice_of(gain, price);
    CHECK(spent + price <= prices->budget + 1e-9);
    for (int i = 0; i < made->pb.n && move > control->given_count; i++) {
      const double more = added_price(prices, set, size, i);
      if (!made->pb.usable[i] || is_member(set, size, i) || i == chosen ||
          spent + more > prices->budget + 1e-9)
        continue;
      set[size] = i;
      const double loss = retrained_loss(made, control->lambda, set, size + 1, r);
      const struct choice other = choice_of(now - loss, more);
      CHECK(best.place <= other.place);
      if (best.place == other.place)
        CHECK(best.value >= other.value - 1e-8);
    }
    set[size] = chosen;
    spent += price;
    CHECK_NEAR(out->loss[move], retrained_loss(made, control->lambda, set, size + 1, r), 1e-8);
  }
  if (out->moves < control->k) /* the budget allows no other */
    for (int i = 0; i < made->pb.n; i++)
      CHECK(!made->pb.usable[i] || is_member(set, out->moves, i) ||
            spent + added_price(prices, set, out->moves, i) > prices->budget - 1e-9);
  free(r);
}

static void check_same(const struct run *run, const struct run *other) {
  CHECK(run->status == COMPLETE && other->status == COMPLETE);
  CHECK(run->result.moves == other->result.moves);
  for (int move = 0; move <= run->result.moves; move++) {
    CHECK(run->result.feature[move] == other->result.feature[move]);
    CHECK_NEAR(run->result.loss[move], other->result.loss[move], 1e-9);
  }
#ifdef SPARSELS_CHECK_BOUNDS
  CHECK(run->result.work.broken == 0);
#endif
}

/* The two usable columns with the highest numbers, which every third search begins with. */
static int give_columns(const struct made *made, int *given) {
  int count = 0;
  for (int i = (int)made->pb.n - 1; i >= 0 && count < 2; i--)
    if (made->pb.usable[i])
      given[count++] = i;
  return any(0, 2) == 0 ? count : 0;
}

static void check_prices(struct shape shape, int assays, double budget, int keep, int by_hand) {
  struct made made = make(shape);
  int given[2];
  const int given_count = give_columns(&made, given);
  const struct prices prices = draw_prices(shape.n, assays, budget);
  struct greedy_control control = {.lambda = 0.7,
      .k = 6,
      .keep = keep,
      .max_moves = 6,
      .search = FORWARD,
      .criterion = SQUARED,
      .given = given,
      .given_count = given_count,
      .price = prices.price,
      .assay = prices.assay,
      .budget = prices.budget};
  const struct run every = run_kernel(&made, &control, 1, 0xFF, quiet);
  CHECK(every.result.moves > 0);
  if (by_hand)
    check_steps(&made, &control, &prices, &every);
  for (int skipping = SKIP_BY_BOUNDS; skipping <= SKIP_BY_RECURRENCE; skipping++) {
    control.skipping = (enum skipping)skipping;
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    check_same(&run, &every);
    const struct run two = run_kernel(&made, &control, 2, 0, quiet);
    CHECK(memcmp(run.block, two.block, run.used) == 0);
    free(run.block);
    free(two.block);
  }
  free(every.block);
  discard(&made);
}

TEST(price_by_hand) {
  static const struct shape shapes[] = {
      {.m = 14, .n = 9, .L = 1, .q = 1},
      {.m = 12, .n = 14, .L = 2, .q = 2, .weights = 1},
      {.m = 15, .n = 12, .L = 1, .q = 1, .classes = 1, .folds = 4, .repeats = 1, .sparse = 1},
      {.m = 16, .n = 10, .L = 3, .q = 2, .classes = 1, .folds = 3, .repeats = 2, .weights = 1},
  };
  for (int i = 0; i < 16; i++) {
    seed(300 + (unsigned long long)i);
    check_prices(shapes[i % 4], i / 4 % 2 * 2, i < 8 ? INFINITY : 11, i % 3, 1);
  }
}

TEST(price_skipping) {
  static const enum columns columns[] = {UNRELATED, ANY, BLOCKS, SIGNALS, HEAVY};
  for (int i = 0; i < 60; i += every(11)) {
    seed(400 + (unsigned long long)i);
    const struct shape shape = {.m = 40,
        .n = MOST_COLUMNS,
        .L = 1 + i % 2,
        .q = i % 3,
        .weights = i % 2,
        .sparse = i % 5 == 4,
        .folds = i % 4 < 2 ? 0 : 2 + i % 7,
        .repeats = 1 + i % 3 % 2,
        .columns = columns[i % 5]};
    check_prices(shape, i % 3 * 2, i % 2 ? INFINITY : 14, i % 4, 0);
  }
}
