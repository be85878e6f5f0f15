/* Greedy search by folds that skips candidates, by bounds and by recurrences, against retraining
   without each fold and against the search that scores every candidate; on every instruction set
   and on two threads. */
#include "runs.h"
#include "simd.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PROBLEMS
#define PROBLEMS 300 /* more of them take a compiler's -D */
#endif

enum { MOST_GROUPS = 9 };

/* ---- work ---- */

static struct greedy_work_done total;
static int recurred, dense;

static void add_work(const struct run *run) {
  const struct greedy_work_done *work = &run->result.work;
  total.candidates += work->candidates;
  total.evaluated += work->evaluated;
  recurred += work->recurrence_from > 0;
  dense += work->dense_from > 0;
#ifdef SPARSELS_CHECK_BOUNDS
  total.bounds += work->bounds;
  total.broken += work->broken;
  CHECK(work->broken == 0);
#endif
}

static void report_work(void) {
  printf("%.0f of %.0f candidates were scored; %d runs went over to recurrences, %d to all\n",
      total.evaluated, total.candidates, recurred, dense);
#ifdef SPARSELS_CHECK_BOUNDS
  printf("%.0f bounds were compared, %.0f were broken\n", total.bounds, total.broken);
  CHECK(total.bounds > 0);
#endif
  total = (struct greedy_work_done){0};
  recurred = dense = 0;
}

/* ---- against retraining ---- */

/* The criterion of a set, retrained without each fold, from the errors of the groups themselves. */
static double retrained_error(
    const struct made *made, const struct greedy_control *control, const int *set, int size) {
  const struct problem *pb = &made->pb;
  const struct row_groups *groups = &control->row_groups;
  if (groups->count == 0)
    return retrained(made, control, set, size);
  double *r = room((size_t)(pb->m * pb->L) * sizeof(double), 0), sum[MOST_GROUPS] = {0};
  double mean = 0, spread = 0, worst = 0, count = 0;
  retrain(made, control->lambda, set, size, 0, r);
  for (ptrdiff_t j = 0; j < pb->m * pb->L; j++)
    sum[groups->of[j % pb->m]] += case_weight(pb, j % pb->m) * r[j] * r[j] / (double)pb->L;
  for (int f = 0; f < groups->count; f++)
    if (groups->null[f] > 0) {
      mean += sum[f] / groups->null[f];
      worst = fmax(worst, sum[f] / groups->null[f]);
      count++;
    }
  mean /= count;
  for (int f = 0; f < groups->count; f++)
    if (groups->null[f] > 0)
      spread += pow(sum[f] / groups->null[f] - mean, 2);
  free(r);
  return control->criterion == WORST ? worst : mean + (count > 1 ? sqrt(spread / (count - 1)) : 0);
}

static int is_among(const int *set, int size, int i) {
  for (int p = 0; p < size; p++)
    if (set[p] == i)
      return 1;
  return 0;
}

/* Every error is what retraining gives, and no other candidate would have been better. */
static void check_retrained(const struct made *made, const struct greedy_control *control,
    const struct run *run, double digits) {
  int *set = room((size_t)made->pb.n * sizeof(int), 0);
  const struct greedy_result *out = &run->result;
  for (int move = 0; move <= out->moves; move++) {
    for (int i = 0; i < made->pb.n && move > 0; i++) {
      if (!made->pb.usable[i] || is_among(set, move - 1, i))
        continue;
      set[move - 1] = i;
      const double error = retrained_error(made, control, set, move);
      CHECK(error >= out->loss[move] - digits * fmax(1, error));
      for (int p = 0; p < control->keep; p++)
        if (out->runner_up[p + move * control->keep] == i)
          CHECK_NEAR(out->runner_up_loss[p + move * control->keep], error, digits);
    }
    if (move > 0)
      set[move - 1] = out->feature[move];
    CHECK_NEAR(out->loss[move], retrained_error(made, control, set, move), digits);
  }
  free(set);
}

/* ---- against the search that scores every candidate ---- */

/* The same moves, but where two candidates are equally good to `digits`; what follows may differ.
 */
static void check_same(const struct run *run, const struct run *other, double digits) {
  const struct greedy_result *a = &run->result, *b = &other->result;
  CHECK(run->status == COMPLETE && other->status == COMPLETE && a->moves == b->moves);
  for (int move = 0; move <= a->moves; move++) {
    CHECK_NEAR(a->loss[move], b->loss[move], digits);
    if (!isnan(b->se[move]))
      CHECK_NEAR(a->se[move], b->se[move], digits);
    if (a->feature[move] != b->feature[move])
      return;
  }
}

static void check_problem(
    const struct made *made, struct greedy_control control, double digits, int retrained) {
  const struct simd *widest = simd;
  control.skipping = SKIP_NONE;
  const struct run every = run_fenced(made, &control, 1, 0xFF, quiet);
  for (int skipping = SKIP_BY_BOUNDS; skipping <= SKIP_BY_RECURRENCE; skipping++) {
    control.skipping = (enum skipping)skipping;
    const struct run one = run_kernel(made, &control, 1, 0xFF, quiet);
    const struct run two = run_fenced(made, &control, 2, 0, quiet);
    CHECK(same_run(&one, &two));
    check_same(&one, &every, digits);
    if (retrained)
      check_retrained(made, &control, &one, digits);
    add_work(&one);
    free(one.block);
    free(two.block);
    for (int width = 1; width < widest->width; width *= 2) {
      simd = simd_for(width);
      const struct run narrow = run_fenced(made, &control, 1, 0xFF, quiet);
      check_same(&narrow, &every, digits);
      add_work(&narrow);
      free(narrow.block);
    }
    simd = widest;
  }
  free(every.block);
}

/* ---- problems ---- */

static struct greedy_control control_of(int k, int keep, double lambda) {
  return (struct greedy_control){.lambda = lambda,
      .k = k,
      .keep = keep,
      .max_moves = k,
      .search = FORWARD,
      .criterion = SQUARED,
      .classes = 1};
}

/* The columns and the covariates are determined without any fold: few folds have few rows. */
static void check_any(int small) {
  struct shape shape = {.m = small ? any(8, 24) : any(25, 70), .n = small ? any(1, 9) : any(5, 40)};
  shape.L = any(1, 3);
  shape.q = any(0, 2);
  shape.folds = any(2, (int)shape.m / 2);
  shape.repeats = any(1, 3);
  shape.weights = any(0, 1);
  shape.classes = any(0, 2) == 0;
  shape.columns = any(0, 4) > 0 ? UNRELATED : BLOCKS;
  const int form = any(0, 3);
  shape.sparse = form == 0;
  shape.whole = form == 1;
  if (shape.folds < 4)
    shape.q = shape.q > 1 ? 1 : shape.q;
  const double lambda = pow(10, -1 + 3 * (uniform() + 1) / 2);
  struct made made = make(shape);
  const int usable = usable_columns(&made), most = any(1, small ? 5 : (int)shape.m / 2);
  if (usable > 0)
    check_problem(
        &made, control_of(most < usable ? most : usable, any(0, 1) * 3, lambda), 1e-8, small);
  discard(&made);
}

TEST(lazy_folds_retrained) {
  for (int i = 0; i < PROBLEMS; i += every(7)) {
    seed(3000 + (unsigned long long)i);
    check_any(1);
  }
  report_work();
}

TEST(lazy_folds_problems) {
  for (int i = 0; i < PROBLEMS; i += every(7)) {
    seed(5000 + (unsigned long long)i);
    check_any(0);
  }
  report_work();
}

/* Each fold is a group, the first of which may be left out. At large lambda the groups are bounded
   one by one. */
static void check_groups(int small) {
  const int sparse = any(0, 3) == 0;
  struct made made = make((struct shape){.m = small ? any(12, 24) : any(40, 90),
      .n = small ? any(2, 9) : any(10, 60),
      .L = any(1, 3),
      .q = any(0, 2),
      .folds = any(2, small ? 5 : MOST_GROUPS),
      .repeats = 1,
      .weights = any(0, 1),
      .columns = any(0, 2) > 0 ? UNRELATED : BLOCKS,
      .sparse = sparse,
      .whole = !sparse && any(0, 1)});
  const ptrdiff_t m = made.pb.m;
  double *r = room((size_t)(m * made.pb.L) * sizeof(double), 0), null[MOST_GROUPS] = {0};
  int *of = room((size_t)m * sizeof(int), 0);
  const double lambda = pow(10, 2 * uniform()) * (any(0, 3) > 0 ? 10 : 0.1) * (double)m;
  retrain(&made, lambda, NULL, 0, 0, r);
  for (int f = 0; f < made.folds.count[0]; f++)
    for (int p = made.folds.start[f]; p < made.folds.start[f + 1]; p++) {
      const int row = made.folds.order[p];
      of[row] = f;
      for (ptrdiff_t l = 0; l < made.pb.L; l++)
        null[f] += case_weight(&made.pb, row) * pow(r[row + l * m], 2) / (double)made.pb.L;
    }
  if (made.folds.count[0] > 2 && any(0, 3) == 0)
    null[0] = 0;
  const int usable = usable_columns(&made), most = any(1, small ? 5 : 15);
  struct greedy_control control = control_of(most < usable ? most : usable, any(0, 1) * 3, lambda);
  control.criterion = any(0, 3) > 0 ? WORST : MEAN_SD;
  control.row_groups = (struct row_groups){.count = made.folds.count[0], .of = of, .null = null};
  control.group_folds = 1;
  if (usable > 0)
    check_problem(&made, control, 1e-8, small);
  free(r);
  free(of);
  discard(&made);
}

TEST(lazy_folds_groups) {
  for (int i = 0; i < PROBLEMS; i += every(7)) {
    seed(7000 + (unsigned long long)i);
    check_groups(i % 2);
  }
  CHECK(total.evaluated < total.candidates / 2);
  report_work();
}

/* Larger problems: of folds that are larger than the rank and smaller, that bounds suit and do not;
   and one that loses digits, so that every candidate is scored in the end. */
static const struct larger {
  struct shape shape;
  int k;
  double lambda, digits;
} larger[] = {{{.m = 300,
                   .n = 60,
                   .L = 1,
                   .q = 1,
                   .columns = SIGNALS,
                   .weights = 1,
                   .folds = 5,
                   .repeats = 1},
                  20, 300, 1e-9},
    {{.m = 300, .n = 61, .L = 3, .q = 2, .columns = SIGNALS, .whole = 1, .folds = 12, .repeats = 2},
        20, 30, 1e-9},
    {{.m = 120, .n = 400, .L = 2, .columns = BLOCKS, .sparse = 1, .folds = 40, .repeats = 1}, 20,
        100, 1e-9},
    {{.m = 60, .n = 400, .L = 1, .q = 1, .columns = BLOCKS, .folds = 10, .repeats = 3}, 20, 1,
        1e-8},
    {{.m = 1100, .n = 30, .L = 1, .q = 1, .columns = UNRELATED, .folds = 10, .repeats = 1}, 15, 100,
        1e-9},
    {{.m = 40, .n = 200, .L = 1, .q = 1, .columns = HEAVY, .folds = 8, .repeats = 1}, 25, 1, 1e-6},
    {{.m = 40, .n = 200, .L = 1, .columns = UNRELATED, .folds = 8, .repeats = 1}, 30, 1e-6, 1e-3}};

TEST(lazy_folds_larger) {
  for (int i = 0; i < (int)(sizeof larger / sizeof *larger); i++)
    for (int keep = 0; keep <= 3; keep += 3) {
      seed(70 + (unsigned long long)i);
      struct made made = make(larger[i].shape);
      check_problem(&made, control_of(larger[i].k, keep, larger[i].lambda), larger[i].digits, 0);
      discard(&made);
    }
  CHECK(recurred > 0 && dense > 0);
  report_work();
}

/* Memory that only the engine takes that scores every candidate is bounded. */
TEST(lazy_folds_memory) {
  struct made made = make(
      (struct shape){.m = 1000, .n = 2, .L = 1, .columns = UNRELATED, .folds = 500, .repeats = 30});
  struct greedy_control control = control_of(10, 0, 1);
  made.pb.n = 40000;
  const size_t every = greedy_work(&made.pb, &made.folds, &control, 1);
  control.skipping = SKIP_BY_BOUNDS;
  const size_t bounds = greedy_work(&made.pb, &made.folds, &control, 1);
  made.pb.n = 2;
  CHECK(every > (size_t)9e9 && bounds < (size_t)6e8);
  discard(&made);
}

TEST(lazy_folds_interrupts) {
  static const struct shape shapes[] = {
      {.m = 30, .n = 40, .L = 1, .q = 1, .columns = BLOCKS, .folds = 5, .repeats = 1},
      {.m = 25, .n = 12, .L = 2, .q = 1, .weights = 1, .sparse = 1, .folds = 8, .repeats = 2}};
  for (int i = 0; i < 2; i++)
    for (int skipping = SKIP_BY_BOUNDS; skipping <= SKIP_BY_RECURRENCE; skipping++) {
      seed(90 + (unsigned long long)i);
      struct made made = make(shapes[i]);
      struct greedy_control control = control_of(6, 3, 3);
      control.skipping = (enum skipping)skipping;
      stop_everywhere(&made, &control);
      discard(&made);
    }
}
