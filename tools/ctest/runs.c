/* Runs of the greedy kernel, in a workspace of exactly the size it asked for. */
#include "runs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct counter quiet = {0, 0, 0, 0};

static int count_polls(struct host *host, double done, double total) {
  struct counter *counter = host->self;
  (void)done;
  (void)total;
  return ++counter->polls == counter->stop_at;
}

/* The largest absolute residual; infinite when the user interrupts. */
static double largest_residual(struct host *host, const double *residual, int repeat) {
  struct counter *counter = host->self;
  (void)repeat;
  double largest = 0;
  for (size_t j = 0; j < host->residual_length; j++)
    largest = fmax(largest, fabs(residual[j]));
  return ++counter->evaluated == counter->fail_at ? INFINITY : largest;
}

/* ---- the result ---- */

static void *take(struct run *run, ptrdiff_t count, size_t size) {
  void *part = run->block == NULL ? NULL : run->block + run->used;
  run->used += ((size_t)count * size + 7) / 8 * 8;
  return part;
}

static void lay_out(
    struct run *run, const struct problem *pb, const struct greedy_control *control) {
  const ptrdiff_t moves = control->max_moves + 1, k = control->k, mL = pb->m * pb->L;
  const ptrdiff_t columns = greedy_most_columns(control);
  const struct greedy_products *known = &control->products;
  const ptrdiff_t folds = known->of == NULL ? 0 : known->of->folds * known->fold_sizes;
  const size_t real = sizeof(double), whole = sizeof(int);
  run->used = 0;
  run->result = (struct greedy_result){.feature = take(run, moves, whole),
      .size = take(run, moves, whole),
      .loss = take(run, moves, real),
      .se = take(run, moves, real),
      .squared = take(run, moves, real),
      .pivot = take(run, moves, real),
      .error = take(run, moves, real),
      .model_entry = take(run, k + 1, whole),
      .model = take(run, columns * (k + 1), whole),
      .model_columns = take(run, k + 1, whole),
      .beta = take(run, columns * pb->L * (k + 1), real),
      .covariates = take(run, pb->q * pb->L * (k + 1), real),
      .fold_beta = take(run, columns * pb->L * folds, real),
      .fold_covariates = take(run, pb->q * pb->L * folds, real),
      .held_out = take(run, mL, real),
      .fitted = take(run, mL, real),
      .runner_up = take(run, control->keep * moves, whole),
      .runner_up_loss = take(run, control->keep * moves, real)};
}

/* ---- a run ---- */

struct run empty_run(const struct problem *pb, const struct greedy_control *control) {
  struct run run = {.counter = quiet};
  lay_out(&run, pb, control);
  run.block = room(run.used, 0);
  lay_out(&run, pb, control);
  return run;
}

static struct run run_in(const struct made *made, const struct greedy_control *control, int threads,
    void *work, struct counter counter) {
  struct run run = empty_run(&made->pb, control);
  run.counter = counter;
  struct host host = {.threads = threads,
      .stop = count_polls,
      .user_loss = largest_residual,
      .residual_length = (size_t)(made->pb.m * made->pb.L),
      .self = &run.counter};
  run.status = greedy_rls(&made->pb, &made->folds, control, &host, work, &run.result);
  return run;
}

enum { GUARD = 64, FENCE = 0x5A };

struct run run_fenced(const struct made *made, const struct greedy_control *control, int threads,
    int byte, struct counter counter) {
  const size_t size = greedy_work(&made->pb, &made->folds, control, threads);
  unsigned char *work = room(size + 2 * GUARD, FENCE);
  memset(work + GUARD, byte, size);
  const struct run run = run_in(made, control, threads, work + GUARD, counter);
  int whole = 1;
  for (size_t i = 0; i < GUARD; i++)
    whole = whole && work[i] == FENCE && work[GUARD + size + i] == FENCE;
  CHECK(whole);
  free(work);
  return run;
}

int same_run(const struct run *a, const struct run *b) {
  return a->status == b->status && a->used == b->used && memcmp(a->block, b->block, a->used) == 0;
}

struct run run_kernel(const struct made *made, const struct greedy_control *control, int threads,
    int byte, struct counter counter) {
  const struct run run = run_fenced(made, control, threads, byte, counter);
  /* the same without a fence: the sanitizer's own begins at the last byte */
  void *exact = room(greedy_work(&made->pb, &made->folds, control, threads), byte);
  const struct run again = run_in(made, control, threads, exact, counter);
  CHECK(same_run(&run, &again));
  free(again.block);
  free(exact);
  return run;
}

/* ---- interrupts ---- */

/* A run that ended early holds the first moves of the whole one, to the last bit. */
static void check_prefix(const struct run *whole, const struct run *part) {
  const struct greedy_result *a = &whole->result, *b = &part->result;
  CHECK(part->status == INTERRUPTED);
  CHECK(b->moves <= a->moves);
  if (b->best < 0)
    return; /* nothing was recorded yet */
  const size_t entries = (size_t)b->moves + 1;
  CHECK(memcmp(a->feature, b->feature, entries * sizeof(int)) == 0);
  CHECK(memcmp(a->size, b->size, entries * sizeof(int)) == 0);
  CHECK(memcmp(a->loss, b->loss, entries * sizeof(double)) == 0);
  CHECK(memcmp(a->squared, b->squared, entries * sizeof(double)) == 0);
  CHECK(b->model_entry[b->best] >= 0 && b->model_entry[b->best] <= b->moves);
}

void stop_everywhere(const struct made *made, const struct greedy_control *control) {
  const struct run whole = run_kernel(made, control, 1, 0xFF, quiet);
  const int polls = whole.counter.polls;
  CHECK(polls > 0);
  for (int at = 1; at <= polls; at++) {
    const struct run part = run_kernel(made, control, 1, 0xFF, (struct counter){.stop_at = at});
    CHECK(part.counter.polls == at);
    check_prefix(&whole, &part);
    free(part.block);
  }
  for (int at = 1; control->criterion == USER && at <= whole.counter.evaluated; at++) {
    const struct run part = run_kernel(made, control, 1, 0xFF, (struct counter){.fail_at = at});
    if (part.status == INTERRUPTED)
      check_prefix(&whole, &part);
    free(part.block);
  }
  free(whole.block);
}

int has(const int *set, int size, int i) {
  for (int p = 0; p < size; p++)
    if (set[p] == i)
      return 1;
  return 0;
}

double retrained(
    const struct made *made, const struct greedy_control *control, const int *set, int size) {
  const struct problem *pb = &made->pb;
  double *r = room((size_t)(pb->m * pb->L) * sizeof(double), 0), sum = 0;
  double *work = room(criterion_work(pb->m) * sizeof(double), 0);
  const int *start = made->folds.start;
  for (int repeat = 0; repeat < made->folds.repeats; repeat++) {
    retrain(made, control->lambda, set, size, repeat, r);
    sum += criterion_estimate(pb, control->criterion, r, made->folds.order + repeat * pb->m, start,
               made->folds.count[repeat], work)
               .value /
           made->folds.repeats;
    start += made->folds.count[repeat] + 1;
  }
  free(r);
  free(work);
  return sum;
}
