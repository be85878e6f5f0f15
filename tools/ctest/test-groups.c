/* Greedy search over groups of columns: every choice by retraining all groups that could have
   moved, and scores against the same moves made; at most one of a group, with and without skipping.
 */
#include "runs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 80 };

/* Groups as the kernel takes them. */
struct drawn {
  int of[MOST], start[MOST + 1], columns[MOST], count, most;
};

static int descending(const void *a, const void *b) {
  return *(const int *)b - *(const int *)a;
}

/* About n / mean groups; some columns are on their own. A group of one usable column is none. */
static struct drawn draw_groups(const struct problem *pb, int mean, int k) {
  struct drawn drawn = {.count = 0};
  int label[MOST], sizes[MOST], units = 0;
  const int labels = (int)pb->n / mean;
  for (int i = 0; i < pb->n; i++) {
    label[i] = any(0, labels);
    drawn.of[i] = -1;
  }
  for (int l = 0, used = 0; l < labels; l++) {
    int count = 0;
    for (int i = 0; i < pb->n; i++)
      count += label[i] == l && pb->usable[i];
    if (count < 2)
      continue;
    drawn.start[drawn.count] = used;
    for (int i = 0; i < pb->n; i++)
      if (label[i] == l && pb->usable[i]) {
        drawn.columns[used++] = i;
        drawn.of[i] = drawn.count;
      }
    drawn.start[++drawn.count] = used;
    sizes[units++] = count;
  }
  for (int i = 0; i < pb->n; i++)
    if (pb->usable[i] && drawn.of[i] < 0)
      sizes[units++] = 1;
  qsort(sizes, (size_t)units, sizeof(int), descending);
  for (int u = 0; u < units && u < k; u++)
    drawn.most += sizes[u];
  return drawn;
}

static int count_units(const struct problem *pb, const struct drawn *drawn) {
  int units = drawn->count;
  for (int i = 0; i < pb->n; i++)
    units += pb->usable[i] && drawn->of[i] < 0;
  return units;
}

static struct column_groups groups_of(const struct drawn *drawn, enum group_rule rule) {
  return (struct column_groups){.rule = rule,
      .count = drawn->count,
      .of = drawn->of,
      .start = drawn->start,
      .columns = drawn->columns};
}

/* Moves column i and its group into or out of a set; returns its new size. */
static int toggle(const struct drawn *drawn, int *set, int size, int i) {
  const int group = drawn->of[i], from = group < 0 ? 0 : drawn->start[group];
  const int count = group < 0 ? 1 : drawn->start[group + 1] - from;
  int kept = 0, dropped = 0;
  for (int p = 0; p < size; p++) {
    const int same = set[p] == i || (group >= 0 && drawn->of[set[p]] == group);
    dropped += same;
    if (!same)
      set[kept++] = set[p];
  }
  for (int p = 0; p < count && dropped == 0; p++)
    set[kept++] = group < 0 ? i : drawn->columns[from + p];
  return kept;
}

/* Whether column i stands for a group, or for itself, that could have been added to a set. */
static int could_add(const struct made *made, const struct drawn *drawn, enum group_rule rule,
    const int *set, int size, int i) {
  const int group = drawn->of[i];
  if (!made->pb.usable[i] || has(set, size, i))
    return 0;
  if (rule == MOVE_TOGETHER)
    return group < 0 || drawn->columns[drawn->start[group]] == i;
  for (int p = 0; p < size && group >= 0; p++)
    if (drawn->of[set[p]] == group)
      return 0;
  return 1;
}

/* Each model's criterion is that of retraining, and no other move in the same direction is better.
   A drop of a floating search is the best one, too. */
static void check_moves(const struct made *made, const struct greedy_control *control,
    const struct drawn *drawn, const struct run *run) {
  const struct greedy_result *out = &run->result;
  const enum group_rule rule = control->groups.rule;
  const struct drawn alone = {.of = {0}};
  const int backward = control->search == BACKWARD;
  int set[MOST], size = 0;
  for (int i = 0; i < made->pb.n && backward; i++)
    if (made->pb.usable[i])
      set[size++] = i;
  (void)alone;
  for (int move = 1; move <= out->moves; move++) {
    const int dropping = out->size[move] < out->size[move - 1];
    for (int i = 0; i < made->pb.n; i++) {
      const int group = drawn->of[i];
      const int first = group < 0 || drawn->columns[drawn->start[group]] == i;
      const int may =
          dropping ? has(set, size, i) && first : could_add(made, drawn, rule, set, size, i);
      if (!may || i == out->feature[move] || move <= control->given_count)
        continue;
      int other[MOST];
      memcpy(other, set, sizeof other);
      int with = size;
      if (rule == MOVE_TOGETHER)
        with = toggle(drawn, other, size, i);
      else
        other[with++] = i;
      CHECK(retrained(made, control, other, with) >= out->loss[move] - 1e-8);
    }
    if (rule == MOVE_TOGETHER)
      size = toggle(drawn, set, size, out->feature[move]);
    else
      set[size++] = out->feature[move];
    CHECK_NEAR(out->loss[move], retrained(made, control, set, size), 1e-8);
    const int entry = out->model_entry[out->size[move]];
    if (entry == move) {
      const int most = greedy_most_columns(control);
      CHECK(out->model_columns[out->size[move]] == size);
      for (int p = 0; p < size; p++)
        CHECK(has(set, size, out->model[out->size[move] * most + p]));
    }
  }
}

static struct greedy_control control_of(enum search search, enum criterion criterion, int k,
    int moves, const struct drawn *drawn, enum group_rule rule) {
  return (struct greedy_control){.lambda = 0.6,
      .nu = 0.5,
      .k = k,
      .most_columns = rule == MOVE_TOGETHER ? drawn->most : 0,
      .max_moves = moves,
      .search = search,
      .criterion = criterion,
      .classes = 1,
      .groups = groups_of(drawn, rule)};
}

static void check_threads(const struct made *made, const struct greedy_control *control) {
  const struct run one = run_kernel(made, control, 1, 0xFF, quiet);
  const struct run two = run_kernel(made, control, 2, 0, quiet);
  CHECK(same_run(&one, &two));
  free(one.block);
  free(two.block);
}

static const struct shape shapes[] = {
    {.m = 14, .n = 12, .L = 1, .q = 1, .classes = 1},
    {.m = 12, .n = 14, .L = 2, .q = 2, .weights = 1},
    {.m = 16, .n = 12, .L = 1, .q = 1, .classes = 1, .folds = 4, .repeats = 1, .sparse = 1},
    {.m = 16, .n = 12, .L = 3, .q = 2, .classes = 1, .folds = 3, .repeats = 2, .weights = 1},
    {.m = 20, .n = 15, .L = 1, .q = 0, .weights = 1, .folds = 5, .repeats = 1, .columns = ANY},
    {.m = 10, .n = 18, .L = 1, .q = 1, .columns = BLOCKS},
};

TEST(groups_by_hand) {
  static const enum criterion criteria[] = {SQUARED, ERROR, ABSOLUTE, SQUARED, BALANCED};
  for (int i = 0; i < 72; i++) {
    seed(700 + (unsigned long long)i);
    struct made made = make(shapes[i % 6]);
    const int classes = shapes[i % 6].classes;
    const enum criterion criterion = classes ? criteria[i / 6 % 5] : SQUARED;
    const struct drawn drawn = draw_groups(&made.pb, 3, 4);
    const int k = count_units(&made.pb, &drawn) < 4 ? count_units(&made.pb, &drawn) : 4;
    const struct greedy_control control =
        control_of(i % 4 == 3 ? FLOATING : FORWARD, criterion, k, 20, &drawn, MOVE_TOGETHER);
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    CHECK(run.status == COMPLETE || run.status == MOVE_LIMIT);
    CHECK(run.result.moves > 0);
    if (control.criterion == SQUARED)
      check_moves(&made, &control, &drawn, &run);
    check_threads(&made, &control);
    free(run.block);
    discard(&made);
  }
}

TEST(groups_backward) {
  for (int i = 0; i < 36; i++) {
    seed(800 + (unsigned long long)i);
    struct made made = make(shapes[i % 5]);
    struct drawn drawn = draw_groups(&made.pb, 3, MOST);
    const int units = count_units(&made.pb, &drawn);
    const struct greedy_control control =
        control_of(BACKWARD, SQUARED, units, units, &drawn, MOVE_TOGETHER);
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    CHECK(run.status == COMPLETE && run.result.moves == units);
    check_moves(&made, &control, &drawn, &run);
    check_threads(&made, &control);
    free(run.block);
    discard(&made);
  }
}

/* The score of a runner-up is the criterion of the search that makes its move. */
TEST(groups_scores) {
  static const enum criterion criteria[] = {SQUARED, AUC, ERROR, ABSOLUTE, USER, BALANCED};
  for (int i = 0; i < 48; i++) {
    seed(900 + (unsigned long long)i);
    const struct shape shape = {.m = 18,
        .n = 14,
        .L = 1,
        .q = 1,
        .classes = 1,
        .weights = i % 2,
        .folds = i % 4 < 2 ? 0 : 3,
        .repeats = 1 + i % 3 % 2};
    struct made made = make(shape);
    const struct drawn drawn = draw_groups(&made.pb, 3, 2);
    struct greedy_control control =
        control_of(FORWARD, criteria[i % 6], 2, 2, &drawn, MOVE_TOGETHER);
    control.keep = 3;
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    for (int p = 0; p < 3; p++) {
      int given[2] = {run.result.feature[1], run.result.runner_up[control.keep * 2 + p]};
      if (given[1] < 0)
        continue;
      struct greedy_control other = control;
      other.given = given;
      other.given_count = 2;
      const struct run made_so = run_kernel(&made, &other, 1, 0xFF, quiet);
      CHECK_NEAR(run.result.runner_up_loss[control.keep * 2 + p], made_so.result.loss[2], 1e-9);
      free(made_so.block);
    }
    free(run.block);
    discard(&made);
  }
}

/* Groups of one column each are no groups, to the last bit; nor are copies within a group lost. */
TEST(groups_of_one) {
  for (int i = 0; i < 24; i++) {
    seed(1000 + (unsigned long long)i);
    struct made made = make(shapes[i % 6]);
    struct drawn drawn = {.count = 0};
    for (int j = 0; j < made.pb.n; j++)
      drawn.of[j] = -1;
    struct greedy_control control =
        control_of(i % 3 == 0 ? FLOATING : FORWARD, SQUARED, 4, 30, &drawn, MOVE_TOGETHER);
    const struct run grouped = run_kernel(&made, &control, 1, 0xFF, quiet);
    control.groups.rule = NO_GROUPS;
    const struct run plain = run_kernel(&made, &control, 1, 0xFF, quiet);
    CHECK(same_run(&grouped, &plain));
    free(grouped.block);
    free(plain.block);
    discard(&made);
  }
}

TEST(groups_interrupts) {
  for (int i = 0; i < 4; i++) {
    seed(1100 + (unsigned long long)i);
    struct made made = make(shapes[i % 2 + 2]);
    const struct drawn drawn = draw_groups(&made.pb, 3, 3);
    const struct greedy_control control =
        control_of(FLOATING, i < 2 ? SQUARED : USER, 3, 20, &drawn, MOVE_TOGETHER);
    stop_everywhere(&made, &control);
    discard(&made);
  }
}

TEST(groups_at_most_one) {
  for (int i = 0; i < 48; i++) {
    seed(1200 + (unsigned long long)i);
    struct shape shape = shapes[i % 6];
    if (i >= 24) {
      shape.m = 40;
      shape.n = MOST;
    }
    struct made made = make(shape);
    const struct drawn drawn = draw_groups(&made.pb, 4, 4);
    const int units = count_units(&made.pb, &drawn), k = units < 4 ? units : 4;
    struct greedy_control control =
        control_of(i % 5 == 4 ? FLOATING : FORWARD, SQUARED, k, 20, &drawn, AT_MOST_ONE);
    const struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
    CHECK(run.status == COMPLETE);
    if (control.search == FORWARD) {
      if (i < 24)
        check_moves(&made, &control, &drawn, &run);
      for (int skipping = SKIP_BY_BOUNDS; skipping <= SKIP_BY_RECURRENCE; skipping++) {
        control.skipping = (enum skipping)skipping;
        const struct run skips = run_kernel(&made, &control, 1, 0xFF, quiet);
        CHECK(skips.result.moves == run.result.moves);
        for (int move = 0; move <= run.result.moves; move++)
          CHECK_NEAR(skips.result.loss[move], run.result.loss[move], 1e-9);
        free(skips.block);
      }
    }
    for (int size = 2; size <= k; size++)
      for (int p = 0; p < size; p++)
        for (int o = 0; o < p; o++) {
          const int *set = run.result.model + size * k;
          CHECK(drawn.of[set[p]] < 0 || drawn.of[set[p]] != drawn.of[set[o]]);
        }
    free(run.block);
    discard(&made);
  }
}
