/* Greedy search by a likelihood: models by their slopes, steps by trying all columns, rows held out
   by models that never had them. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct counts {
  struct made made;
  double *response, *offset, *start, *ceiling;
  int *rows;   /* of times: see add_times() */
  int *groups; /* see add_groups() */
  struct likelihood_control control;
};

enum { TIMES = 3 };
static const char *const losses[] = {"poisson", "binomial", "negbin", [TIMES] = "cox"};

/* Times of two rows each, of which two thirds have events; every fifth row enters late. */
static void add_times(struct counts *counts, int efron, int late) {
  struct problem *pb = &counts->made.pb;
  const int m = (int)pb->m;
  int *first = counts->rows, *from = first + m, *to = from + m, *event = to + m, moments = 0;
  for (int i = 0; i < m; i += 2) {
    const int events = (i % 3 > 0) + (i + 1 < m && (i + 1) % 3 > 0);
    for (int k = i; k < i + 2 && k < m; k++) {
      event[k] = k % 3 > 0 ? moments : -1;
      to[k] = moments + (events > 0 && event[k] < 0);
      from[k] = late && k % 5 == 4 ? to[k] / 2 : 0;
      counts->response[k] = event[k] >= 0;
    }
    if (events > 0)
      first[moments++] = 0;
  }
  pb->risk = (struct risk_sets){.moments = moments,
      .efron = efron,
      .late = late,
      .first = first,
      .from = from,
      .to = to,
      .event = event};
}

/* Two groups of usable columns, each fourth from the first and from the second on. */
static void add_groups(struct counts *counts, enum group_rule rule) {
  const struct problem *pb = &counts->made.pb;
  int *of = counts->groups, *start = of + pb->n, *columns = start + 3, used = 0, most = 0;
  for (int j = 0; j < pb->n; j++)
    of[j] = -1;
  start[0] = 0;
  for (int g = 0; g < 2; g++) {
    for (int j = g; j < pb->n; j += 4)
      if (pb->usable[j]) {
        columns[used++] = j;
        of[j] = g;
      }
    start[g + 1] = used;
    most = used - start[g] > most ? used - start[g] : most;
  }
  counts->control.groups = (struct column_groups){
      .rule = rule, .count = 2, .of = of, .start = start, .columns = columns};
  counts->control.most_columns *= rule == MOVE_TOGETHER ? most : 1;
}

/* A problem whose response is one of this loss, and a search for k columns. */
static struct counts make_counts(struct shape shape, int loss, double lambda, int k) {
  struct counts counts = {.made = make(shape)};
  const ptrdiff_t m = shape.m;
  counts.response = room((size_t)m * sizeof(double), 0);
  counts.offset = room((size_t)m * sizeof(double), 0);
  counts.start = room((size_t)(shape.q + 1) * sizeof(double), 0);
  counts.ceiling = room((size_t)(k + 1) * sizeof(double), 0);
  counts.rows = room(4 * (size_t)m * sizeof(int), 0);
  counts.groups = room((2 * (size_t)shape.n + 3) * sizeof(int), 0);
  for (int size = 0; size <= k; size++)
    counts.ceiling[size] = INFINITY;
  for (ptrdiff_t i = 0; i < m; i++) {
    counts.offset[i] = uniform() / 2;
    const double f = fmax(-3, fmin(counts.made.pb.response[i] / 2 + counts.offset[i], 4));
    counts.response[i] =
        loss == 1 ? floor(4.99 / (1 + exp(-f))) / 4 : floor(exp(f) * (1.5 + uniform()));
  }
  counts.made.pb.offset = counts.offset;
  counts.made.pb.parameter = strcmp(losses[loss], "negbin") == 0 ? 1.5 : 0;
  counts.control = (struct likelihood_control){.loss = likelihood_named(losses[loss]),
      .lambda = lambda,
      .k = k,
      .most_columns = k,
      .refits = 5,
      .ceiling = counts.ceiling,
      .response = counts.response,
      .start = counts.start,
      .unit = 1};
  if (loss == TIMES)
    add_times(&counts, k % 2, shape.m % 2);
  return counts;
}

static void discard_counts(struct counts *counts) {
  free(counts->response);
  free(counts->offset);
  free(counts->start);
  free(counts->ceiling);
  free(counts->rows);
  free(counts->groups);
  discard(&counts->made);
}

struct found {
  enum status status;
  struct likelihood_result result;
  char *block;
  size_t used;
};

static void *take(struct found *found, ptrdiff_t count, size_t size) {
  void *part = found->block == NULL ? NULL : found->block + found->used;
  found->used += ((size_t)count * size + 7) / 8 * 8;
  return part;
}

static void lay_out(struct found *found, const struct counts *counts) {
  const ptrdiff_t m = counts->made.pb.m, q = counts->made.pb.q, sizes = counts->control.k + 1;
  const ptrdiff_t most = counts->control.most_columns;
  found->used = 0;
  found->result = (struct likelihood_result){.feature = take(found, sizes, sizeof(int)),
      .columns = take(found, sizes, sizeof(int)),
      .members = take(found, most, sizeof(int)),
      .refits = take(found, sizes, sizeof(int)),
      .exact = take(found, sizes, sizeof(int)),
      .objective = take(found, sizes, sizeof(double)),
      .beta = take(found, most * sizes, sizeof(double)),
      .u = take(found, q * sizes, sizeof(double)),
      .fitted = take(found, m * sizes, sizeof(double)),
      .held_out = take(found, m * counts->made.folds.repeats * sizes, sizeof(double)),
      .loss = take(found, sizes, sizeof(double)),
      .deviance = take(found, all_folds(&counts->made.folds) * sizes, sizeof(double))};
}

static struct found run_search(const struct counts *counts, int threads, int byte, int stop_at) {
  struct found found = {.used = 0};
  lay_out(&found, counts);
  found.block = room(found.used, 0);
  lay_out(&found, counts);
  struct polls polls = {.stop_at = stop_at};
  struct host host = {.threads = threads, .stop = poll, .self = &polls};
  void *work =
      room(greedy_likelihood_work(&counts->made.pb, &counts->made.folds, &counts->control, threads),
          byte);
  found.status = greedy_likelihood(
      &counts->made.pb, &counts->made.folds, &counts->control, &host, work, &found.result);
  free(work);
  return found;
}

static double entry(const struct counts *counts, ptrdiff_t i, ptrdiff_t j) {
  const struct problem *pb = &counts->made.pb;
  return (counts->made.x[i + j * pb->m] - pb->centre[j]) * pb->inv_scale[j];
}

/* Whether a row is at risk at moment t, and the share of it in the r-th of the moment's sums. */
static double share_at(const struct risk_sets *risk, ptrdiff_t i, int t, int r, int tied) {
  if (risk->event[i] == t)
    return 1 - (double)r / tied;
  return risk->from[i] <= t && t < risk->to[i];
}

/* Minus the derivative of the loss of events by f_i. */
static double slope_of_times(const struct counts *counts, ptrdiff_t i, const double *f) {
  const struct risk_sets *risk = &counts->made.pb.risk;
  const double *w = counts->made.w, *o = counts->offset;
  double slope = risk->event[i] >= 0 ? w[i] : 0;
  for (int t = 0; t < risk->moments; t++) {
    int tied = 0;
    double weight = 0;
    for (ptrdiff_t j = 0; j < counts->made.pb.m; j++) {
      tied += risk->event[j] == t;
      weight += risk->event[j] == t ? w[j] : 0;
    }
    for (int r = 0; r < (risk->efron ? tied : 1); r++) {
      double sum = 0;
      for (ptrdiff_t j = 0; j < counts->made.pb.m; j++)
        sum += w[j] * share_at(risk, j, t, r, tied) * exp(f[j] + o[j]);
      slope -= weight / (risk->efron ? tied : 1) * w[i] * share_at(risk, i, t, r, tied) *
               exp(f[i] + o[i]) / sum;
    }
  }
  return slope;
}

/* Minus the derivative of the loss of a row by f. */
static double slope_of(const struct counts *counts, int loss, ptrdiff_t i, double f) {
  const double y = counts->response[i], w = counts->made.w[i];
  if (loss == 1)
    return w * (y - 1 / (1 + exp(-f)));
  return w * (y - exp(f)) / (loss == 0 ? 1 : 1 + exp(f) / 1.5);
}

/* The slopes along the covariates are 0, and those along the columns lambda times their
   coefficients. */
static void check_slopes(
    const struct counts *counts, int loss, const struct found *found, int size) {
  const struct problem *pb = &counts->made.pb;
  const double *fitted = found->result.fitted + size * pb->m;
  for (ptrdiff_t c = 0; c < pb->q + found->result.columns[size]; c++) {
    double slope = 0, scale = 1;
    for (ptrdiff_t i = 0; i < pb->m; i++) {
      const double x = c < pb->q ? counts->made.z[i + c * pb->m]
                                 : entry(counts, i, found->result.members[c - pb->q]);
      slope += x * (loss == TIMES ? slope_of_times(counts, i, fitted)
                                  : slope_of(counts, loss, i, fitted[i] + counts->offset[i]));
      scale += fabs(x) * counts->made.w[i] * (1 + counts->response[i]);
    }
    if (c >= pb->q)
      slope -= counts->control.lambda *
               found->result.beta[c - pb->q + size * (ptrdiff_t)counts->control.most_columns];
    CHECK(fabs(slope) <= 1e-11 * scale);
  }
}

/* Whether column j is no candidate beside the first `size` of the path. */
static int is_out(const struct counts *counts, const struct found *found, int size, int j) {
  const struct column_groups *groups = &counts->control.groups;
  int out = !counts->made.pb.usable[j] || !stands_for_group(groups, j);
  for (int k = 1; k <= size; k++) {
    const int in = found->result.feature[k];
    out = out || in == j ||
          (groups->rule == AT_MOST_ONE && groups->of[j] >= 0 && groups->of[j] == groups->of[in]);
  }
  return out;
}

/* No column or group but the chosen one has a smaller objective after the given ones. */
static void check_exact(struct counts *counts, const struct found *found, int size) {
  const struct problem *pb = &counts->made.pb;
  struct counts one = *counts;
  int given[16];
  for (int k = 0; k + 1 < size; k++)
    given[k] = found->result.feature[k + 1];
  one.control.k = one.control.given_count = size;
  one.control.given = given;
  for (int j = 0; j < pb->n; j++) {
    if (is_out(counts, found, size - 1, j) || j == found->result.feature[size])
      continue;
    given[size - 1] = j;
    struct found other = run_search(&one, 1, 0x3C, 0);
    CHECK(other.result.objective[size] >=
          found->result.objective[size] - 1e-11 * found->result.objective[0]);
    free(other.block);
  }
}

/* Models that have never had the rows of a fold, as these have no weight, predict them alike. */
static void check_held_out(struct counts *counts, const struct found *found) {
  const ptrdiff_t m = counts->made.pb.m;
  const struct folds *folds = &counts->made.folds;
  struct counts without = *counts;
  double *root_w = room((size_t)m * sizeof(double), 0);
  without.control.given = found->result.feature + 1;
  without.control.k = without.control.given_count = found->result.moves;
  without.made.pb.root_w = root_w;
  for (int f = 0; f < folds->count[0]; f++) {
    memcpy(root_w, counts->made.pb.root_w, (size_t)m * sizeof(double));
    for (int p = folds->start[f]; p < folds->start[f + 1]; p++)
      root_w[folds->order[p]] = 0;
    struct found other = run_search(&without, 1, 0x77, 0);
    CHECK(other.result.moves == found->result.moves);
    for (int size = 0; size <= found->result.moves; size++)
      for (int p = folds->start[f]; p < folds->start[f + 1]; p++)
        CHECK_NEAR(found->result.held_out[folds->order[p] + size * m * folds->repeats],
            other.result.fitted[folds->order[p] + size * m], 1e-9);
    free(other.block);
  }
  free(root_w);
}

TEST(likelihood_steps_models_and_rows_held_out) {
  int proven = 0, steps = 0;
  for (int kind = 0; kind < 48; kind++) {
    const int loss = kind % 4;
    const struct shape shape = {.m = 24 + kind % 5,
        .n = 9 + kind % 4,
        .L = 1,
        .q = loss == TIMES ? 0 : 1 + kind % 2,
        .weights = kind % 4 == 1,
        .sparse = kind % 5 == 2,
        .whole = kind % 5 == 3,
        .folds = kind % 6 == 5 ? 0 : 4,
        .repeats = 1 + kind % 2,
        .columns = kind % 7 == 6 ? BLOCKS : UNRELATED};
    const int k = 2 + kind / 4 % 2;
    struct counts counts = make_counts(shape, loss, kind % 8 == 3 ? 0.5 : 30, k);
    if (kind % 3 > 0)
      add_groups(&counts, kind % 3 == 1 ? MOVE_TOGETHER : AT_MOST_ONE);
    struct found found = run_search(&counts, 1, 0, 0);
    CHECK(found.status == COMPLETE && found.result.moves == k);
    for (int size = 1; size <= k; size++)
      CHECK(!is_out(&counts, &found, size - 1, found.result.feature[size]));
    for (int size = 0; size <= found.result.moves; size++) {
      check_slopes(&counts, loss, &found, size);
      steps += size > 0;
      proven += size > 0 && found.result.exact[size];
      if (size > 0 && found.result.exact[size])
        check_exact(&counts, &found, size);
      CHECK(size == 0 || found.result.objective[size] <= found.result.objective[size - 1]);
    }
    check_held_out(&counts, &found);
    struct found again = run_search(&counts, 2, 0xA5, 0);
    CHECK(memcmp(found.block, again.block, found.used) == 0);
    free(again.block);
    free(found.block);
    discard_counts(&counts);
  }
  CHECK(proven > steps / 2);
}

/* Columns that are given again have the same models at the sizes that are of use, up to the last
   digits. A size is left where its deviance is above the ceiling, for any number of threads. */
TEST(likelihood_ceilings) {
  for (int kind = 0; kind < 32; kind++) {
    const int loss = kind % 4, k = 4;
    struct counts counts = make_counts((struct shape){.m = 26 + kind % 3,
                                           .n = 9,
                                           .L = 1,
                                           .q = loss == TIMES ? 0 : 1 + kind % 2,
                                           .weights = kind % 3 == 1,
                                           .folds = kind % 5 == 4 ? 0 : 4,
                                           .repeats = 1 + kind / 4 % 2},
        loss, 4, k);
    struct found whole = run_search(&counts, 1, 0, 0);
    counts.control.given = whole.result.feature + 1;
    counts.control.given_count = k;
    for (int size = 0; size <= k; size++)
      counts.ceiling[size] = (size + kind) % 3 == 0 ? -1 : uniform() * 2 * whole.result.loss[size];
    struct found some = run_search(&counts, 1, 0x11, 0);
    struct found again = run_search(&counts, 2, 0xEE, 0);
    CHECK(some.status == COMPLETE && some.result.moves == k);
    for (int size = 0; size <= k; size++) {
      CHECK(some.result.loss[size] == again.result.loss[size]);
      if (size > 0 && whole.result.loss[size] > counts.ceiling[size]) {
        CHECK(some.result.loss[size] == INFINITY);
        continue;
      }
      CHECK_NEAR(some.result.loss[size], whole.result.loss[size], 1e-9 * whole.result.loss[size]);
      CHECK_NEAR(some.result.objective[size], whole.result.objective[size],
          1e-12 * whole.result.objective[0]);
      for (ptrdiff_t i = 0; i < counts.made.pb.m * counts.made.folds.repeats; i++)
        CHECK_NEAR(some.result.held_out[i + size * counts.made.pb.m * counts.made.folds.repeats],
            whole.result.held_out[i + size * counts.made.pb.m * counts.made.folds.repeats], 1e-8);
    }
    free(whole.block);
    free(some.block);
    free(again.block);
    discard_counts(&counts);
  }
}

/* Stopped at any poll it leaves the first models of the whole search. */
TEST(likelihood_interrupted) {
  struct counts counts = make_counts(
      (struct shape){.m = 30, .n = 12, .L = 1, .q = 2, .folds = 3, .repeats = 2}, 0, 5, 4);
  struct found whole = run_search(&counts, 1, 0, 0);
  for (int stop_at = 1;; stop_at++) {
    struct found part = run_search(&counts, 1, 0, stop_at);
    const int moves = part.result.moves;
    CHECK(part.status == INTERRUPTED || moves == 4);
    for (int size = 0; size <= moves; size++)
      CHECK(part.result.objective[size] == whole.result.objective[size] &&
            part.result.loss[size] == whole.result.loss[size]);
    free(part.block);
    if (moves == 4)
      break;
  }
  free(whole.block);
  discard_counts(&counts);
}

/* A search without patience ends so many models after the best one. */
TEST(likelihood_patience) {
  struct counts counts = make_counts(
      (struct shape){.m = 26, .n = 14, .L = 1, .q = 1, .folds = 5, .repeats = 1}, 2, 0.1, 12);
  counts.control.patience = 2;
  struct found found = run_search(&counts, 1, 0, 0);
  int best = 0;
  for (int size = 0; size <= found.result.moves; size++)
    if (found.result.loss[size] < found.result.loss[best])
      best = size;
  CHECK(found.status == EARLY_STOP && found.result.moves == best + 2);
  free(found.block);
  discard_counts(&counts);
}
