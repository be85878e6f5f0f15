/* The greedy kernel against retraining from scratch, and when it is interrupted. */
#include "runs.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- against retraining ---- */

static int without(const int *set, int size, int feature, int *out) {
  int kept = 0;
  for (int p = 0; p < size; p++)
    if (set[p] != feature)
      out[kept++] = set[p];
  return kept;
}

static int is_in(const int *set, int size, int feature) {
  for (int p = 0; p < size; p++)
    if (set[p] == feature)
      return 1;
  return 0;
}

/* Criterion of a set, squares and error too, averaged over repeats. */
struct truth {
  double loss, squared, error;
};

static struct truth evaluate_set(
    const struct made *made, const struct greedy_control *control, const int *set, int size) {
  const struct folds *folds = &made->folds;
  double *r = room((size_t)(made->pb.m * made->pb.L) * sizeof(double), 0);
  struct truth truth = {0, 0, 0};
  for (int repeat = 0; repeat < folds->repeats; repeat++) {
    retrain(made, control->lambda, set, size, repeat, r);
    double loss = 0;
    double *work = room(criterion_work(made->pb.m) * sizeof(double), 0);
    if (control->criterion == USER)
      for (ptrdiff_t j = 0; j < made->pb.m * made->pb.L; j++)
        loss = fmax(loss, fabs(r[j]));
    else
      loss =
          criterion_estimate(&made->pb, control->criterion, r, folds->order + repeat * made->pb.m,
              folds->start + repeat * (folds->count[repeat] + 1), folds->count[repeat], work)
              .value;
    free(work);
    truth.loss += loss / folds->repeats;
    truth.squared += criterion_value(&made->pb, SQUARED, r) / folds->repeats;
    truth.error += criterion_value(&made->pb, ERROR, r) / folds->repeats;
  }
  free(r);
  return truth;
}

/* No other column would have been better to move the same way; the kernel's runners-up are exact.
 */
static void check_choice(const struct made *made, const struct greedy_control *control,
    const struct run *run, int move, const int *set, int size) {
  const int feature = run->result.feature[move], adding = run->result.size[move] > size;
  int other[32];
  for (int i = 0; i < made->pb.n; i++) {
    if (!made->pb.usable[i] || is_in(set, size, i) == adding || i == feature)
      continue;
    memcpy(other, set, (size_t)size * sizeof(int));
    other[size] = i;
    const int count = adding ? size + 1 : without(set, size, i, other);
    const struct truth truth = evaluate_set(made, control, other, count);
    CHECK(truth.loss >= run->result.loss[move] - 1e-9);
    if (control->criterion == SQUARED && i < feature)
      CHECK(truth.loss > run->result.loss[move]);
    for (int p = 0; p < control->keep && adding; p++)
      if (run->result.runner_up[p + move * control->keep] == i)
        CHECK_NEAR(run->result.runner_up_loss[p + move * control->keep], truth.loss, 1e-9);
  }
}

static void check_best(
    const struct made *made, const struct greedy_control *control, const struct run *run) {
  const struct greedy_result *out = &run->result;
  const ptrdiff_t mL = made->pb.m * made->pb.L, k = control->k, L = made->pb.L;
  double *r = room((size_t)mL * sizeof(double), 0), *mean = room((size_t)mL * sizeof(double), 0);
  double beta[32 * 3], worst = 0;
  for (int s = 0; s <= k; s++) {
    if (out->model_entry[s] < 0)
      continue;
    CHECK(out->size[out->model_entry[s]] == s);
    train(made, control->lambda, out->model + s * k, s, r, beta);
    for (ptrdiff_t l = 0; l < L; l++)
      for (int p = 0; p < s; p++)
        worst = fmax(worst, fabs(beta[p + l * s] - out->beta[p + k * (l + L * s)]));
    if (s != out->best)
      continue;
    for (ptrdiff_t j = 0; j < mL; j++)
      worst = fmax(worst, fabs(r[j] - out->fitted[j]));
    for (int repeat = 0; repeat < made->folds.repeats; repeat++) {
      retrain(made, control->lambda, out->model + s * k, s, repeat, r);
      for (ptrdiff_t j = 0; j < mL; j++)
        mean[j] += r[j] / made->folds.repeats;
    }
    for (ptrdiff_t j = 0; j < mL; j++)
      worst = fmax(worst, fabs(mean[j] - out->held_out[j]));
  }
  CHECK_NEAR(worst, 0, 1e-8);
  free(r);
  free(mean);
}

static void check_path(const struct made *made, const struct greedy_control *control) {
  const struct run run = run_kernel(made, control, 1, 0xFF, quiet);
  int set[32], size = 0;
  const int chosen = control->given_count > 0,
            most = chosen ? control->given_count : (int)made->pb.n;
  for (int p = 0; p < most && control->search == BACKWARD; p++)
    if (made->pb.usable[chosen ? control->given[p] : p])
      set[size++] = chosen ? control->given[p] : p;
  CHECK(run.status == COMPLETE);
  for (int move = 0; move <= run.result.moves; move++) {
    const int feature = run.result.feature[move];
    if (move > 0) {
      if (move > control->given_count || control->search == BACKWARD)
        check_choice(made, control, &run, move, set, size);
      if (run.result.size[move] > size)
        set[size++] = feature;
      else
        size = without(set, size, feature, set);
    }
    CHECK(run.result.size[move] == size);
    const struct truth truth = evaluate_set(made, control, set, size);
    CHECK_NEAR(run.result.loss[move], truth.loss, 1e-9);
    CHECK_NEAR(run.result.squared[move], truth.squared, 1e-9);
    CHECK_NEAR(run.result.error[move], truth.error, 1e-9);
  }
  check_best(made, control, &run);

  /* what was in the workspace does not matter, nor do threads */
  const struct run zeros = run_kernel(made, control, 1, 0, quiet);
  CHECK(memcmp(run.block, zeros.block, run.used) == 0);
  const struct run two = run_kernel(made, control, 2, 0xFF, quiet);
  CHECK(memcmp(run.block, two.block, run.used) == 0);
  free(run.block);
  free(zeros.block);
  free(two.block);
}

static struct greedy_control control_of(enum search search, enum criterion criterion, int n) {
  const int k = 4, one_way = search == FORWARD;
  return (struct greedy_control){.lambda = 0.5,
      .nu = 0.5,
      .k = k,
      .keep = 3,
      .max_moves = one_way              ? k
                   : search == BACKWARD ? n
                                        : 20 * k + 100,
      .search = search,
      .criterion = criterion,
      .classes = 1,
      .skipping = SKIP_BY_BOUNDS};
}

static const struct shape shapes[] = {
    {.m = 14, .n = 8, .L = 1, .q = 0},
    {.m = 14, .n = 8, .L = 1, .q = 1, .weights = 1, .classes = 1},
    {.m = 9, .n = 12, .L = 2, .q = 2, .weights = 1},
    {.m = 15, .n = 7, .L = 1, .q = 1, .classes = 1, .folds = 4, .repeats = 1, .sparse = 1},
    {.m = 16, .n = 7, .L = 3, .q = 2, .classes = 1, .folds = 3, .repeats = 2, .weights = 1},
    {.m = 10, .n = 14, .L = 1, .q = 0, .folds = 4, .repeats = 2, .weights = 1},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

TEST(greedy_paths) {
  static const int given[] = {4, 0, 2, 6};
  for (int i = 0; i < SHAPES; i++) {
    seed(10 + (unsigned long long)i);
    struct made made = make(shapes[i]);
    for (int search = FORWARD; search <= FORWARD_BACKWARD; search++)
      for (int criterion = SQUARED; criterion <= USER; criterion++) {
        const int two_classes = shapes[i].classes && shapes[i].L == 1;
        if ((criterion == AUC && (!two_classes || made.folds.loo)) ||
            (criterion == ERROR && !shapes[i].classes))
          continue;
        struct greedy_control control =
            control_of((enum search)search, (enum criterion)criterion, (int)shapes[i].n);
        control.given = given;
        for (int which = 0; which < 6; which++) {
          control.given_count = which / 2 * 2;
          control.rereads = which % 2;
          check_path(&made, &control);
        }
      }
    discard(&made);
  }
}

/* ---- all moves given ---- */

enum { GIVEN = 24 };

/* The products of the given columns, as a search keeps them. */
static double *kept_products(const struct made *made, const struct greedy_control *control) {
  const ptrdiff_t count = greedy_given_products(&made->pb, &made->folds, control);
  struct run run = empty_run(&made->pb, control);
  struct polls polls = {0, 0};
  struct host host = {.threads = 1, .stop = poll, .self = &polls};
  void *work = room(greedy_work(&made->pb, &made->folds, control, 1), 0xFF);
  CHECK(count == GIVEN * (GIVEN + made->pb.L));
  run.result.gram = room((size_t)count * sizeof(double), 0xFF);
  CHECK(greedy_rls(&made->pb, &made->folds, control, &host, work, &run.result) == COMPLETE);
  free(work);
  free(run.block);
  return run.result.gram;
}

/* With products of an earlier search at another lambda, sizes are left behind the last whose
   ceiling is above its error, and the others have the same errors and models. */
static void check_given_ceilings(
    const struct made *made, const struct greedy_control *control, const struct run *whole) {
  struct greedy_control known = *control, other = *control;
  double ceiling[GIVEN + 1];
  int left = 0;
  other.lambda = 3 * control->lambda;
  known.gram = kept_products(made, &other);
  known.ceiling = ceiling;
  for (int kind = 0; kind < 6; kind++) {
    int last = 0;
    for (int size = 0; size <= known.k; size++) {
      ceiling[size] = (size + kind) % 3 == 0 ? -1 : uniform() * 2 * whole->result.squared[size];
      if (kind == 5 || (kind > 2 && size > known.k / 2))
        ceiling[size] = kind == 3 ? 0 : kind == 4 ? -1 : DBL_MAX;
      if (size > 0 && ceiling[size] >= whole->result.squared[size])
        last = size;
    }
    const struct run run = run_kernel(made, &known, 1 + kind % 2, 0xFF, quiet);
    const int moves = run.result.moves;
    CHECK(run.status == COMPLETE);
    CHECK(moves >= last);
    CHECK(kind < 3 || kind == 5 || moves <= known.k / 2);
    left += known.k - moves;
    for (int size = 0; size <= known.k; size++)
      CHECK(run.result.squared[size] == (size <= moves ? whole->result.squared[size] : DBL_MAX));
    const ptrdiff_t place = (ptrdiff_t)moves * control->most_columns * made->pb.L;
    CHECK(memcmp(run.result.beta + place, whole->result.beta + place,
              (size_t)run.result.model_columns[moves] * sizeof(double)) == 0);
    free(run.block);
  }
  CHECK(left > 0);
  free((void *)known.gram);
}

/* Some models of a path whose moves are the first columns in turn, `together` at a time. */
static void check_given(const struct made *made, struct greedy_control control, int together) {
  int columns[GIVEN], first[GIVEN], of[GIVEN], start[GIVEN + 1];
  for (int p = 0; p < GIVEN; p++) {
    columns[p] = p;
    of[p] = p / together;
  }
  for (int g = 0; g <= GIVEN / together; g++)
    start[g] = g * together;
  for (int g = 0; g < GIVEN / together; g++)
    first[g] = start[g];
  control.given = first;
  control.given_count = control.k = control.max_moves = GIVEN / together;
  if (together > 1)
    control.groups = (struct column_groups){.rule = MOVE_TOGETHER,
        .count = GIVEN / together,
        .of = of,
        .start = start,
        .columns = columns};
  control.most_columns = GIVEN;
  const struct run run = run_kernel(made, &control, 1, 0xFF, quiet);
  CHECK(run.status == COMPLETE);
  CHECK(run.result.moves == control.k);
  CHECK(run.result.work.columns_read == GIVEN);
  for (int move = 0; move <= control.k; move += control.k / 2) {
    const int size = move * together;
    const struct truth truth = evaluate_set(made, &control, columns, size);
    CHECK(run.result.size[move] == move);
    CHECK_NEAR(run.result.loss[move], truth.loss, 1e-9);
    CHECK_NEAR(run.result.squared[move], truth.squared, 1e-9);
    CHECK_NEAR(run.result.error[move], control.classes ? truth.error : 0, 1e-9);
  }
  if (together == 1)
    check_best(made, &control, &run);
  check_given_ceilings(made, &control, &run);
  const struct run two = run_kernel(made, &control, 2, 0, quiet);
  CHECK(memcmp(run.block, two.block, run.used) == 0);
  free(run.block);
  free(two.block);
  stop_everywhere(made, &control);
}

TEST(greedy_given) {
  static const struct shape tall[] = {
      {.m = 200, .n = GIVEN, .L = 1, .q = 1, .weights = 1, .classes = 1},
      {.m = 180, .n = GIVEN, .L = 2, .q = 2},
  };
  for (int i = 0; i < 2; i++) {
    seed(20 + (unsigned long long)i);
    struct made made = make(tall[i]);
    for (int criterion = SQUARED; criterion <= ABSOLUTE; criterion += ABSOLUTE) {
      struct greedy_control control = control_of(FORWARD, (enum criterion)criterion, GIVEN);
      control.classes = tall[i].classes;
      control.skipping = SKIP_NONE;
      check_given(&made, control, 1);
      check_given(&made, control, 4);
    }
    discard(&made);
  }
}

/* ---- leave-pair-out, by making the pair a fold ---- */

enum { PAIR_ROWS = 12 };

static double leave_pairs_out(const struct made *made, double lambda, const int *set, int size) {
  int order[PAIR_ROWS], start[] = {0, 2, PAIR_ROWS}, count = 2;
  double r[PAIR_ROWS], loss = 0, weight = 0;
  const double *response = made->pb.response;
  struct made pair = *made;
  pair.folds = (struct folds){0, 1, order, &count, start};
  for (int i = 0; i < PAIR_ROWS; i++)
    for (int j = 0; j < PAIR_ROWS; j++) {
      if (response[i] < 0 || response[j] > 0)
        continue;
      order[0] = i;
      order[1] = j;
      for (int p = 2, row = 0; row < PAIR_ROWS; row++)
        if (row != i && row != j)
          order[p++] = row;
      retrain(&pair, lambda, set, size, 0, r);
      const double w = made->w[i] * made->w[j];
      loss += w * criterion_pair_loss(response[i] - r[i], response[j] - r[j]);
      weight += w;
    }
  return loss / weight;
}

/* The models of the path, and the additions that were nearly chosen. */
static void check_pairs(int rereads) {
  enum { COLUMNS = 11 };
  seed(30);
  struct made made = make(
      (struct shape){.m = PAIR_ROWS, .n = COLUMNS, .L = 1, .q = 1, .weights = 1, .classes = 1});
  struct greedy_control control = control_of(FLOATING, AUC, COLUMNS);
  control.rereads = rereads;
  const struct run run = run_kernel(&made, &control, 2, 0xFF, quiet);
  int set[COLUMNS + 1], size = 0;
  for (int move = 0; move <= run.result.moves; move++) {
    const int adding = move > 0 && run.result.size[move] > size, keep = control.keep;
    for (int p = 0; adding && p < keep && run.result.runner_up[p + move * keep] >= 0; p++) {
      set[size] = run.result.runner_up[p + move * keep];
      CHECK_NEAR(run.result.runner_up_loss[p + move * keep],
          leave_pairs_out(&made, control.lambda, set, size + 1), 1e-9);
    }
    if (adding)
      set[size++] = run.result.feature[move];
    else if (move > 0)
      size = without(set, size, run.result.feature[move], set);
    CHECK_NEAR(run.result.loss[move], leave_pairs_out(&made, control.lambda, set, size), 1e-9);
    CHECK(isnan(run.result.se[move]));
  }
  free(run.block);
  discard(&made);
}

TEST(greedy_pairs) {
  check_pairs(0);
  check_pairs(1);
}

/* ---- interrupts and other ends ---- */

TEST(greedy_interrupts) {
  for (int i = 0; i < SHAPES; i++) {
    seed(40 + (unsigned long long)i);
    struct made made = make(shapes[i]);
    for (int search = FORWARD; search <= FORWARD_BACKWARD; search++) {
      struct greedy_control control = control_of((enum search)search, SQUARED, (int)shapes[i].n);
      stop_everywhere(&made, &control);
      control.rereads = 1;
      stop_everywhere(&made, &control);
    }
    struct greedy_control control = control_of(FORWARD, USER, (int)shapes[i].n);
    control.k = control.max_moves = 2;
    stop_everywhere(&made, &control);
    discard(&made);
  }
}

TEST(greedy_other_ends) {
  seed(50);
  struct made made = make(shapes[5]);
  struct greedy_control control = control_of(FORWARD, SQUARED, 14);
  control.patience = 1;
  control.k = control.max_moves = 10;
  struct run run = run_kernel(&made, &control, 1, 0xFF, quiet);
  CHECK(run.status == EARLY_STOP);
  CHECK(run.result.loss[run.result.moves] >= run.result.loss[run.result.moves - 1]);
  free(run.block);
  control = control_of(FLOATING, SQUARED, 14);
  control.max_moves = 2;
  run = run_kernel(&made, &control, 1, 0xFF, quiet);
  CHECK(run.status == MOVE_LIMIT && run.result.moves == 2);
  free(run.block);
  control = control_of(BACKWARD, SQUARED, 14);
  control.lambda = NAN;
  run = run_kernel(&made, &control, 1, 0xFF, quiet);
  CHECK(run.status == NOT_POSITIVE);
  free(run.block);
  discard(&made);
}
