/* Greedy search where columns ask for others: every choice by retraining all moves that were
   allowed, the same path with and without skipping, and whether columns are kept or read again. */
#include "runs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80, NEEDS = 3 };

struct drawn_needs {
  int start[MOST + 1], columns[MOST * NEEDS];
};

/* Of two columns about one asks for up to three lower ones, whatever these ask for. */
static struct drawn_needs draw_needs(const struct problem *pb) {
  struct drawn_needs drawn = {.start = {0}};
  for (int i = 0; i < pb->n; i++) {
    int count = i > 0 && pb->usable[i] && any(0, 1) ? any(1, NEEDS) : 0;
    drawn.start[i + 1] = drawn.start[i];
    for (; count > 0; count--) {
      const int lower = any(0, i - 1);
      if (pb->usable[lower])
        drawn.columns[drawn.start[i + 1]++] = lower;
    }
  }
  return drawn;
}

/* Whether every column of a set has what it asks for. */
static int is_met(const struct drawn_needs *drawn, const int *set, int size) {
  for (int p = 0; p < size; p++)
    for (int q = drawn->start[set[p]]; q < drawn->start[set[p] + 1]; q++)
      if (!has(set, size, drawn->columns[q]))
        return 0;
  return 1;
}

/* A set with column i moved into or out of it; returns its size. */
static int toggle(const int *set, int size, int i, int *other) {
  int with = 0;
  for (int p = 0; p < size; p++)
    if (set[p] != i)
      other[with++] = set[p];
  if (with == size)
    other[with++] = i;
  return with;
}

/* Each model has what its columns ask for and its criterion by retraining, and no other move in the
   same direction that leaves such a model is better. */
static void check_moves(const struct made *made, const struct greedy_control *control,
    const struct drawn_needs *drawn, const struct run *run) {
  const struct greedy_result *out = &run->result;
  int set[MOST], size = 0;
  for (int i = 0; i < made->pb.n && control->search == BACKWARD; i++)
    if (made->pb.usable[i])
      set[size++] = i;
  for (int move = 1; move <= out->moves; move++) {
    int other[MOST];
    for (int i = 0; i < made->pb.n; i++) {
      const int with = toggle(set, size, i, other), same = with - size;
      if (!made->pb.usable[i] || same != out->size[move] - out->size[move - 1])
        continue;
      if (is_met(drawn, other, with) && move > control->given_count)
        CHECK(retrained(made, control, other, with) >= out->loss[move] - 1e-8);
    }
    size = toggle(set, size, out->feature[move], other);
    memcpy(set, other, sizeof set);
    CHECK(is_met(drawn, set, size));
    CHECK_NEAR(out->loss[move], retrained(made, control, set, size), 1e-8);
  }
}

static const struct shape shapes[] = {
    {.m = 14, .n = 12, .L = 1, .q = 1, .classes = 1},
    {.m = 12, .n = 14, .L = 2, .q = 2, .weights = 1},
    {.m = 16, .n = 12, .L = 1, .q = 1, .classes = 1, .folds = 4, .repeats = 1, .sparse = 1},
    {.m = 16, .n = 12, .L = 3, .q = 2, .classes = 1, .folds = 3, .repeats = 2, .weights = 1},
    {.m = 20, .n = 15, .L = 1, .q = 0, .weights = 1, .folds = 5, .repeats = 1, .columns = ANY},
    {.m = 10, .n = 18, .L = 1, .q = 1, .columns = BLOCKS},
};

static struct greedy_control control_of(
    enum search search, int k, const struct drawn_needs *drawn) {
  return (struct greedy_control){.lambda = 0.6,
      .nu = 0.5,
      .k = k,
      .max_moves = 40,
      .search = search,
      .criterion = SQUARED,
      .needs = {drawn->start, drawn->columns}};
}

TEST(hierarchy_by_hand) {
  for (int i = 0; i < 96; i++) {
    seed(1300 + (unsigned long long)i);
    struct made made = make(shapes[i % 6]);
    const struct drawn_needs drawn = draw_needs(&made.pb);
    const enum search search = (enum search)(i / 6 % 4);
    const int k = search == BACKWARD ? usable_columns(&made) : 5;
    struct greedy_control control = control_of(search, k, &drawn);
    control.rereads = i / 24 % 2;
    const struct run one = run_kernel(&made, &control, 1, 0xFF, quiet);
    const struct run two = run_kernel(&made, &control, 2, 0, quiet);
    CHECK(one.status == COMPLETE || one.status == MOVE_LIMIT);
    CHECK(one.result.moves >= k);
    check_moves(&made, &control, &drawn, &one);
    CHECK(same_run(&one, &two));
    free(one.block);
    free(two.block);
    discard(&made);
  }
}

/* What is given first is not chosen, and what asks for it may follow. */
TEST(hierarchy_given) {
  for (int i = 0; i < 12; i++) {
    seed(1400 + (unsigned long long)i);
    struct made made = make(shapes[i % 6]);
    const struct drawn_needs drawn = draw_needs(&made.pb);
    struct greedy_control control = control_of(FORWARD, 5, &drawn);
    const struct run first = run_kernel(&made, &control, 1, 0xFF, quiet);
    int given[3];
    memcpy(given, first.result.feature + 1, sizeof given);
    control.given = given;
    control.given_count = 3;
    control.search = i % 2 ? FORWARD : FLOATING;
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    check_moves(&made, &control, &drawn, &run);
    free(first.block);
    free(run.block);
    discard(&made);
  }
}

/* The paths of searches that skip candidates, in which many columns wait for others. */
TEST(hierarchy_skipping) {
  for (int i = 0; i < 48; i += every(7)) {
    seed(1500 + (unsigned long long)i);
    struct shape shape = shapes[i % 6];
    shape.m = 40;
    shape.n = MOST;
    shape.columns = i % 4 == 3 ? SIGNALS : shape.columns;
    struct made made = make(shape);
    const struct drawn_needs drawn = draw_needs(&made.pb);
    double price[MOST];
    int assay[MOST];
    for (int j = 0; j < MOST; j++) {
      price[j] = any(1, 4);
      assay[j] = -1;
    }
    struct greedy_control control = control_of(FORWARD, 12, &drawn);
    control.keep = i % 3;
    if (i % 5 == 4) {
      control.price = price;
      control.assay = assay;
      control.budget = 20;
    }
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    CHECK(run.status == COMPLETE && run.result.moves > 0);
    for (int skipping = SKIP_BY_BOUNDS; skipping <= SKIP_BY_RECURRENCE; skipping++)
      for (int rereads = 0; rereads < 2; rereads++) {
        control.skipping = (enum skipping)skipping;
        control.rereads = rereads;
        const struct run skips = run_kernel(&made, &control, 1, 0xFF, quiet);
        CHECK(skips.result.moves == run.result.moves);
        int set[MOST];
        for (int move = 1; move <= run.result.moves; move++) {
          set[move - 1] = skips.result.feature[move];
          CHECK_NEAR(skips.result.loss[move], run.result.loss[move], 1e-9);
          CHECK(is_met(&drawn, set, move));
        }
#ifdef SPARSELS_CHECK_BOUNDS
        CHECK(skips.result.work.broken == 0);
#endif
        free(skips.block);
      }
    free(run.block);
    discard(&made);
  }
}
