/* Fixed-size machines against systems made anew without each fold. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- machines ---- */

struct machine {
  struct fixed_size fs;
  double *K, *Z, *own, *y, *response, *root_w;
  int *start;
};

enum folds_kind { NONE, UNEQUAL, ONE_EACH, PAIRS };

static struct machine empty_machine(ptrdiff_t m, ptrdiff_t n, ptrdiff_t q, ptrdiff_t L) {
  const size_t real = sizeof(double), rows = (size_t)m;
  struct machine made = {.fs = {.m = m, .n = n, .q = q, .L = L, .nu = 1e-8},
      .K = room(rows * (size_t)n * real, 0),
      .Z = room(rows * (size_t)q * real, 0),
      .own = room((size_t)(n * n) * real, 0),
      .y = room(rows * (size_t)L * real, 0),
      .response = room(rows * (size_t)L * real, 0),
      .root_w = room(rows * real, 0),
      .start = room((rows + 1) * sizeof(int), 0)};
  made.fs.K = made.K;
  made.fs.Z = made.Z;
  made.fs.K_prototypes = made.own;
  made.fs.y = made.y;
  made.fs.response = made.response;
  made.fs.root_w = made.root_w;
  made.fs.start = made.start;
  return made;
}

static void discard_machine(struct machine *made) {
  free(made->K);
  free(made->Z);
  free(made->own);
  free(made->y);
  free(made->response);
  free(made->root_w);
  free(made->start);
}

static void set_folds(struct machine *made, enum folds_kind kind) {
  const int m = (int)made->fs.m, unequal = m < 5 ? m : 5;
  const int count = kind == NONE ? 0 : kind == UNEQUAL ? unequal : kind == PAIRS ? m / 2 : m;
  for (int f = 0; f <= count; f++)
    made->start[f] = kind == UNEQUAL ? m * f * (f + 1) / (count * (count + 1))
                     : count > 0     ? m * f / count
                                     : 0;
  made->fs.folds = count;
}

static double kernel(double width, const double *a, const double *b) {
  return exp(-((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1])) / width);
}

/* Weights, columns and response of m points and n prototypes, the first of which are points. */
static void fill(struct machine *made, double width, const double *point, const double *prototype,
    int weights, int classes) {
  const struct fixed_size *fs = &made->fs;
  const ptrdiff_t m = fs->m, n = fs->n;
  for (ptrdiff_t i = 0; i < m; i++) {
    made->root_w[i] = weights ? sqrt(1.25 + 0.75 * uniform()) : 1;
    for (ptrdiff_t j = 0; j < n; j++)
      made->K[i + j * m] = made->root_w[i] * kernel(width, point + 2 * i, prototype + 2 * j);
    for (ptrdiff_t l = 0; l < fs->q; l++)
      made->Z[i + l * m] = made->root_w[i] * (l == 0 ? 1 : uniform());
    const double signal = sin(3 * point[2 * i]) + point[2 * i + 1] * point[2 * i + 1] - 0.3;
    for (ptrdiff_t l = 0; l < fs->L; l++) {
      double value = signal * ((double)l + 1) + 0.3 * uniform() + (double)l;
      if (classes)
        value = fs->L == 1 ? (value > 0 ? 1 : -1) : ((int)(3 * signal + 9) % fs->L == l ? 1 : -1);
      made->response[i + l * m] = value;
      made->y[i + l * m] = made->root_w[i] * value;
    }
  }
  for (ptrdiff_t i = 0; i < n; i++)
    for (ptrdiff_t j = 0; j < n; j++)
      made->own[i + j * n] = kernel(width, prototype + 2 * i, prototype + 2 * j);
}

struct shape_of {
  ptrdiff_t m, n, q, L;
  enum folds_kind folds;
  int weights, classes, twice;
};

/* Random points; when `twice` every third prototype is the one before it once more. */
static struct machine make_machine(struct shape_of shape) {
  struct machine made = empty_machine(shape.m, shape.n, shape.q, shape.L);
  const ptrdiff_t count = shape.m + shape.n;
  double *point = room((size_t)(2 * count) * sizeof(double), 0);
  for (ptrdiff_t i = 0; i < 2 * count; i++)
    point[i] = uniform();
  for (ptrdiff_t j = 0; j < shape.n; j++) { /* every other is a row */
    double *prototype = point + 2 * (shape.m + j);
    if (shape.twice && j % 3 == 2)
      memcpy(prototype, prototype - 2, 2 * sizeof(double));
    else if (j % 2 == 0)
      memcpy(prototype, point + 2 * (j * 7 % shape.m), 2 * sizeof(double));
  }
  fill(&made, 0.2, point, point + 2 * shape.m, shape.weights, shape.classes);
  set_folds(&made, shape.folds);
  free(point);
  return made;
}

/* ---- one run ---- */

/* Results in one block, so that two runs can be compared byte by byte. */
struct run {
  enum status status;
  struct fixed_size_result result;
  char *block;
  size_t used;
  int polls;
};

static void *take(struct run *run, ptrdiff_t count, size_t size) {
  void *part = run->block == NULL ? NULL : run->block + run->used;
  run->used += ((size_t)count * size + 7) / 8 * 8;
  return part;
}

static void lay_out(struct run *run, const struct fixed_size *fs, ptrdiff_t k, ptrdiff_t count) {
  const size_t real = sizeof(double), whole = sizeof(int);
  run->used = 0;
  run->result = (struct fixed_size_result){.size = take(run, count, whole),
      .chosen = take(run, k * count, whole),
      .factor = take(run, k * k * count, real),
      .z = take(run, k * fs->L * count, real),
      .squared = take(run, k * count, real),
      .se = take(run, k * count, real),
      .error = take(run, k * count, real),
      .residual = take(run, fs->m * fs->L * k * count, real)};
}

/* Room of exactly the size it asked for, filled with `byte`; the results begin as NAN. */
static struct run run_kernel(const struct fixed_size *fs, const double *lambda, int count,
    const struct fixed_size_control *control, int threads, int byte, int stop_at) {
  struct run run = {.block = NULL};
  lay_out(&run, fs, control->pursuit.k, count);
  run.block = room(run.used, 0xFF);
  lay_out(&run, fs, control->pursuit.k, count);
  struct polls polls = {.stop_at = stop_at};
  struct host host = {.threads = threads, .stop = poll, .self = &polls};
  void *work = room(fixed_size_work(fs, control, count), byte);
  run.status = fixed_size(fs, lambda, count, control, &host, work, &run.result);
  run.polls = polls.count;
  free(work);
  return run;
}

/* ---- the slow twin ---- */

/* The system of the rows that are not in a fold, with the fold's rows below; fold -1: of all. */
struct slow {
  struct system system;
  struct twin twin;
  double *A, *b;
  ptrdiff_t from;
  int ended;
};

static double entry(const struct fixed_size *fs, ptrdiff_t i, ptrdiff_t j) {
  return j < fs->n ? fs->K[i + j * fs->m] : fs->Z[i + (j - fs->n) * fs->m];
}

static void begin_slow(struct slow *slow, const struct fixed_size *fs, double lambda, int fold) {
  const ptrdiff_t D = fs->n + fs->q, m = fs->m;
  const ptrdiff_t from = fold < 0 ? m : fs->start[fold], to = fold < 0 ? m : fs->start[fold + 1];
  const ptrdiff_t rows = D + to - from;
  double *A = room((size_t)(rows * D) * sizeof(double), 0);
  double *b = room((size_t)(D * fs->L) * sizeof(double), 0);
  for (ptrdiff_t j = 0; j < D; j++) {
    for (ptrdiff_t i = 0; i < D; i++) {
      for (ptrdiff_t r = 0; r < m; r++)
        A[i + j * rows] += r < from || r >= to ? entry(fs, r, i) * entry(fs, r, j) : 0;
      if (i < fs->n && j < fs->n)
        A[i + j * rows] += lambda * fs->K_prototypes[i + j * fs->n];
      else if (i == j)
        A[i + j * rows] += fs->nu;
    }
    for (ptrdiff_t r = from; r < to; r++)
      A[D + r - from + j * rows] = entry(fs, r, j);
    for (ptrdiff_t l = 0; l < fs->L; l++)
      for (ptrdiff_t r = 0; r < m; r++)
        b[j + l * D] += r < from || r >= to ? entry(fs, r, j) * fs->y[r + l * m] : 0;
  }
  slow->system = (struct system){.D = D, .L = fs->L, .extra = to - from, .b = b};
  slow->A = A;
  slow->b = b;
  slow->from = from;
  slow->ended = 0;
  slow->twin = twin_begin(&slow->system, A);
}

static void end_slow(struct slow *slow) {
  twin_discard(&slow->twin);
  free(slow->A);
  free(slow->b);
}

/* Held-out residuals (m x L) in the user's units. */
static void miss(const struct fixed_size *fs, const struct slow *slow, double *residual) {
  const ptrdiff_t extra = slow->system.extra;
  for (ptrdiff_t l = 0; l < fs->L; l++)
    for (ptrdiff_t i = 0; i < extra; i++) {
      const ptrdiff_t at = slow->from + i + l * fs->m;
      residual[at] =
          fs->response[at] - slow->twin.value[i + l * extra] / fs->root_w[slow->from + i];
    }
}

static int is_wrong(const struct fixed_size *fs, const double *residual, ptrdiff_t row) {
  ptrdiff_t top = 0, truth = 0;
  double highest = -INFINITY;
  for (ptrdiff_t l = 0; l < fs->L; l++) {
    const double response = fs->response[row + l * fs->m];
    const double value = response - residual[row + l * fs->m];
    if (fs->L == 1)
      return (value > 1e-10) != (response > 0);
    if (value > highest + 1e-10) {
      highest = value;
      top = l;
    }
    truth = response > 0 ? l : truth;
  }
  return top != truth;
}

struct figures {
  double squared, se, error;
};

static struct figures evaluate_plainly(const struct fixed_size *fs, const double *residual) {
  struct figures out = {0, 0, 0};
  double weight = 0, spread = 0, *mean = room((size_t)fs->folds * sizeof(double), 0);
  double *weights = room((size_t)fs->folds * sizeof(double), 0);
  for (int f = 0; f < fs->folds; f++) {
    for (ptrdiff_t i = fs->start[f]; i < fs->start[f + 1]; i++) {
      const double w = fs->root_w[i] * fs->root_w[i];
      for (ptrdiff_t l = 0; l < fs->L; l++)
        mean[f] += w * pow(residual[i + l * fs->m], 2) / (double)fs->L;
      weights[f] += w;
      out.error += w * is_wrong(fs, residual, i);
    }
    weight += weights[f];
    out.squared += mean[f];
    mean[f] /= weights[f];
  }
  out.squared /= weight;
  out.error /= weight;
  for (int f = 0; f < fs->folds; f++)
    spread += weights[f] * pow(mean[f] - out.squared, 2);
  out.se = fs->folds > 1 ? sqrt(spread / weight / (fs->folds - 1)) : NAN;
  free(mean);
  free(weights);
  return out;
}

static double distance(ptrdiff_t count, const double *values, const double *truth) {
  double worst = 0;
  for (ptrdiff_t i = 0; i < count; i++) {
    const double off = fabs(values[i] - truth[i]) / fmax(1, fabs(truth[i]));
    worst = off <= worst ? worst : off;
  }
  return worst;
}

/* L and z of the pursuit on all rows: A_SS = LL', Lz = b_S. */
static void check_factor(const struct slow *slow, ptrdiff_t k, const double *L, const double *z) {
  const struct twin *twin = &slow->twin;
  const ptrdiff_t D = slow->system.D;
  double worst = 0;
  for (ptrdiff_t i = 0; i < k; i++)
    for (ptrdiff_t j = 0; j < k; j++) {
      if (i >= twin->size || j > i) {
        CHECK(isnan(L[i + j * k]));
        continue;
      }
      double sum = 0;
      for (ptrdiff_t p = 0; p <= j; p++)
        sum += L[i + p * k] * L[j + p * k];
      worst = fmax(worst, distance(1, &sum, slow->A + twin->chosen[i] + twin->chosen[j] * D));
    }
  for (ptrdiff_t l = 0; l < slow->system.L; l++)
    for (ptrdiff_t i = 0; i < twin->size; i++) {
      double sum = 0;
      for (ptrdiff_t j = 0; j <= i; j++)
        sum += L[i + j * k] * z[j + l * k];
      worst = fmax(worst, distance(1, &sum, slow->b + twin->chosen[i] + l * D));
    }
  CHECK_NEAR(worst, 0, 1e-9);
}

/* Whether the mean of the `window` errors before the last is as near as that to it; those of the
   forced terms do not count. */
static int has_levelled(const struct fixed_size_control *control, const double *squared, int size) {
  double before = 0;
  if (control->change <= 0 || size - control->pursuit.forced <= control->window)
    return 0;
  for (int s = size - control->window; s < size; s++)
    before += squared[s - 1] / control->window;
  return fabs(before / squared[size - 1] - 1) < control->change;
}

/* Follows the path of lambda number g and compares; `used` marks the terms that any run took. */
static void follow_slowly(const struct fixed_size *fs, double lambda, ptrdiff_t g,
    const struct fixed_size_control *control, const struct run *run, int *used) {
  const struct scdp_control *pursuit = &control->pursuit;
  const struct fixed_size_result *out = &run->result;
  const ptrdiff_t k = pursuit->k, mL = fs->m * fs->L, D = fs->n + fs->q;
  struct slow *slow = room((size_t)(fs->folds + 1) * sizeof *slow, 0);
  double *residual = room((size_t)mL * sizeof(double), 0);
  for (int v = 0; v <= fs->folds; v++)
    begin_slow(slow + v, fs, lambda, v - 1);
  int levelled = 0;
  struct twin *all = &slow[0].twin;
  while (all->size < k && !levelled) {
    for (int v = 0; v <= fs->folds; v++) {
      const ptrdiff_t s = slow[v].ended ? -1 : twin_choose(&slow[v].twin, pursuit);
      slow[v].ended = s < 0;
      if (s >= 0) {
        twin_take(&slow[v].twin, s);
        used[s] = 1;
      }
      if (v > 0)
        miss(fs, slow + v, residual);
    }
    if (slow[0].ended)
      break;
    const ptrdiff_t place = all->size - 1 + g * k;
    if (fs->folds == 0)
      continue;
    const struct figures truth = evaluate_plainly(fs, residual);
    CHECK_NEAR(out->squared[place], truth.squared, 1e-8);
    if (isnan(truth.se))
      CHECK(isnan(out->se[place]));
    else
      CHECK_NEAR(out->se[place], truth.se, 1e-8);
    CHECK(control->classes ? fabs(out->error[place] - truth.error) < 1e-12
                           : isnan(out->error[place]));
    if (out->residual != NULL)
      CHECK_NEAR(distance(mL, out->residual + mL * place, residual), 0, 1e-8);
    levelled = has_levelled(control, out->squared + g * k, all->size);
  }
  CHECK(out->size[g] == all->size);
  CHECK(memcmp(out->chosen + g * k, all->chosen, (size_t)all->size * sizeof(int)) == 0);
  check_factor(slow, k, out->factor + g * k * k, out->z + g * k * fs->L);
  for (ptrdiff_t s = fs->folds > 0 ? all->size : 0; s < k; s++) { /* nothing beyond */
    CHECK(isnan(out->squared[s + g * k]) && isnan(out->se[s + g * k]));
    CHECK(isnan(out->error[s + g * k]));
    for (ptrdiff_t i = 0; i < mL && out->residual != NULL; i++)
      CHECK(isnan(out->residual[i + mL * (s + g * k)]));
  }
  for (ptrdiff_t i = 0; i < D; i++)
    CHECK(used[i] == 0 || used[i] == 1);
  for (int v = 0; v <= fs->folds; v++)
    end_slow(slow + v);
  free(slow);
  free(residual);
}

static const double lambdas[] = {0.3, 0.01, 4};

/* Against the twin, once more with these threads and other bytes in the room, and one lambda at a
   time. */
static void check_machine(
    const struct fixed_size *fs, const struct fixed_size_control *control, int count, int threads) {
  const ptrdiff_t k = control->pursuit.k, L = fs->L, mL = fs->m * L, D = fs->n + fs->q;
  struct run run = run_kernel(fs, lambdas, count, control, 1, 0xFF, 0);
  CHECK(run.status == COMPLETE);
  int *used = room((size_t)D * sizeof(int), 0), columns = 0;
  for (int g = 0; g < count; g++)
    follow_slowly(fs, lambdas[g], g, control, &run, used);
  for (ptrdiff_t i = 0; i < D; i++)
    columns += used[i];
  CHECK(run.result.columns == columns);
  free(used);
  struct run again = run_kernel(fs, lambdas, count, control, threads, 0, 0);
  CHECK(again.status == COMPLETE && memcmp(again.block, run.block, run.used) == 0);
  CHECK(again.result.columns == run.result.columns && again.polls == run.polls);
  free(again.block);
  for (int g = 0; g < count && count > 1; g++) {
    struct run one = run_kernel(fs, lambdas + g, 1, control, 1, 0xFF, 0);
    const struct fixed_size_result *a = &one.result, *b = &run.result;
    const int size = a->size[0];
    CHECK(size == b->size[g] && a->columns <= b->columns);
    CHECK(memcmp(a->chosen, b->chosen + g * k, (size_t)size * sizeof(int)) == 0);
    for (int s = 0; s < size; s++) {
      for (ptrdiff_t i = s; i < size; i++)
        CHECK_NEAR(a->factor[i + s * k], b->factor[i + s * k + g * k * k], 1e-10);
      for (ptrdiff_t l = 0; l < L; l++)
        CHECK_NEAR(a->z[s + l * k], b->z[s + l * k + g * k * L], 1e-10);
      if (fs->folds == 0)
        continue;
      CHECK_NEAR(a->squared[s], b->squared[s + g * k], 1e-10);
      CHECK_NEAR(distance(mL, a->residual + mL * s, b->residual + mL * (s + g * k)), 0, 1e-9);
    }
    free(one.block);
  }
  free(run.block);
}

static const struct shape_of shapes[] = {
    {.m = 6, .n = 1, .q = 0, .L = 1, .folds = ONE_EACH},
    {.m = 12, .n = 5, .q = 1, .L = 1, .folds = ONE_EACH, .weights = 1},
    {.m = 25, .n = 8, .q = 0, .L = 2, .folds = UNEQUAL, .weights = 1},
    {.m = 30, .n = 10, .q = 2, .L = 1, .folds = UNEQUAL, .weights = 1, .classes = 1},
    {.m = 31, .n = 11, .q = 1, .L = 3, .folds = UNEQUAL, .classes = 1, .twice = 1},
    {.m = 24, .n = 9, .q = 2, .L = 2, .folds = PAIRS, .weights = 1, .twice = 1},
    {.m = 20, .n = 12, .q = 1, .L = 2, .folds = NONE, .weights = 1, .twice = 1},
    {.m = 9, .n = 14, .q = 1, .L = 1, .folds = ONE_EACH}, /* more prototypes than rows */
};

TEST(fixed_size_against_twin) {
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
    for (int score = RESIDUAL; score <= OLS; score++)
      for (int way = 0; way < 3; way++) {
        const ptrdiff_t n = shapes[i].n, q = shapes[i].q, D = n + q;
        seed(500 + 10 * i + (unsigned long long)(100 * score + way));
        struct machine made = make_machine(shapes[i]);
        struct fixed_size_control control = {
            .pursuit = {.k = (int)(D < 7 ? D + 1 : 7), .score = (enum scdp_score)score},
            .classes = shapes[i].classes};
        control.pursuit.dependent = 1e-12;
        const int first[] = {(int)n, (int)n + 1};
        int *lists = NULL;
        if (way == 1) { /* covariates first */
          control.pursuit.forced = (int)q;
          control.pursuit.first = first;
        }
        if (way == 2) { /* candidates: every second term, from some place on */
          control.pursuit.drawn = 3;
          control.pursuit.width = (int)(D < 9 ? D : 9);
          lists = room((size_t)(control.pursuit.width * control.pursuit.k) * sizeof(int), 0);
          for (int s = 0, p = 0; s < control.pursuit.k; s++)
            for (int l = 0; l < control.pursuit.width; l++)
              lists[p++] = (int)((s * 5 + l) % D);
          control.pursuit.candidates = lists;
        }
        check_machine(&made.fs, &control, 1 + way, way == (int)i % 3 && score == OLS ? 2 : 1);
        free(lists);
        discard_machine(&made);
      }
}

/* Covariates that are one and the same, all of them forced: the copies are passed over, and what
   comes in their place still has room. */
TEST(fixed_size_forced_copies) {
  seed(30);
  struct machine made =
      make_machine((struct shape_of){.m = 20, .n = 9, .q = 3, .L = 1, .folds = NONE});
  for (ptrdiff_t l = 1; l < 3; l++)
    memcpy(made.Z + l * 20, made.Z, 20 * sizeof(double));
  made.fs.nu = 0;
  const int first[] = {9, 10, 11};
  for (int k = 1; k < 5; k++) {
    const struct fixed_size_control control = {
        .pursuit = {.k = k, .dependent = 1e-12, .forced = 3, .first = first}};
    check_machine(&made.fs, &control, 1, 2);
  }
  discard_machine(&made);
}

/* Every run wants a prototype of its own at once: more than are formed together. */
TEST(fixed_size_many_columns) {
  struct machine made = empty_machine(20, 20, 0, 1);
  seed(31);
  for (ptrdiff_t i = 0; i < 20; i++) {
    made.root_w[i] = made.response[i] = made.y[i] = 1;
    made.own[i + i * 20] = 1;
    for (ptrdiff_t j = 0; j < 20; j++)
      made.K[i + j * 20] = (i == j ? -5 : 1) + 0.01 * uniform();
  }
  set_folds(&made, ONE_EACH);
  for (int k = 1; k < 4; k++) {
    const struct fixed_size_control control = {.pursuit = {.k = k, .dependent = 1e-12}};
    check_machine(&made.fs, &control, 1, 2);
    struct run run = run_kernel(&made.fs, lambdas, 1, &control, 2, 0, 0);
    CHECK(run.result.columns == 20);
    free(run.block);
  }
  discard_machine(&made);
}

/* More rows and terms than are gone through together. */
TEST(fixed_size_large) {
  seed(32);
  struct machine made = make_machine(
      (struct shape_of){.m = 2060, .n = 69, .q = 1, .L = 1, .folds = UNEQUAL, .weights = 1});
  made.start[1] = made.start[2]; /* two folds, one of which has but a few rows */
  made.start[2] = 2060;
  made.fs.folds = 2;
  const struct fixed_size_control control = {.pursuit = {.k = 4, .dependent = 1e-12}};
  check_machine(&made.fs, &control, 1, 2);
  discard_machine(&made);
}

/* A fold without rows counts for nothing; one with all of them leaves a model of 0. */
TEST(fixed_size_odd_folds) {
  seed(33);
  struct machine made = make_machine(
      (struct shape_of){.m = 15, .n = 6, .q = 1, .L = 1, .folds = UNEQUAL, .weights = 1});
  const struct fixed_size_control control = {.pursuit = {.k = 4, .dependent = 1e-12}};
  struct run before = run_kernel(&made.fs, lambdas, 1, &control, 1, 0, 0);
  memmove(made.start + 3, made.start + 2, 4 * sizeof(int));
  made.fs.folds = 6;
  struct run with = run_kernel(&made.fs, lambdas, 1, &control, 1, 0, 0);
  CHECK(with.status == COMPLETE && memcmp(with.block, before.block, before.used) == 0);
  made.start[1] = 15;
  made.fs.folds = 1;
  struct run whole = run_kernel(&made.fs, lambdas, 1, &control, 1, 0, 0);
  CHECK(whole.status == COMPLETE && whole.result.size[0] == 4 && isnan(whole.result.se[3]));
  CHECK(memcmp(whole.result.residual + 45, made.response, 15 * sizeof(double)) == 0 ||
        distance(15, whole.result.residual + 45, made.response) < 1e-15);
  free(before.block);
  free(with.block);
  free(whole.block);
  discard_machine(&made);
}

/* (38), for several windows, with and without terms that come first. */
TEST(fixed_size_level) {
  static const double changes[] = {0.02, 0.1, 0.3, 10};
  static const int first[] = {14, 15};
  int ended = 0;
  for (int i = 0; i < 24; i++) {
    const int window = i % 3 + 1, forced = i / 12 * 2;
    seed(34);
    struct machine made = make_machine(
        (struct shape_of){.m = 40, .n = 14, .q = 2, .L = 1, .folds = UNEQUAL, .classes = 1});
    struct fixed_size_control control = {
        .pursuit = {.k = 9, .dependent = 1e-12, .forced = forced, .first = first},
        .classes = 1,
        .window = window,
        .change = changes[i / 3 % 4]};
    check_machine(&made.fs, &control, 2, 1);
    struct run run = run_kernel(&made.fs, lambdas, 1, &control, 1, 0, 0);
    const int size = run.result.size[0], least = forced + window + 1;
    CHECK(size >= least && (control.change < 10 || size == least));
    ended += size < 9 && size > least;
    control.change = 0;
    struct run whole = run_kernel(&made.fs, lambdas, 1, &control, 1, 0, 0);
    CHECK(whole.result.size[0] == 9);
    CHECK(memcmp(whole.result.squared, run.result.squared, (size_t)size * sizeof(double)) == 0);
    CHECK(memcmp(whole.result.chosen, run.result.chosen, (size_t)size * sizeof(int)) == 0);
    free(run.block);
    free(whole.block);
    discard_machine(&made);
  }
  CHECK(ended > 0); /* some of them on the way */
}

/* Without room for residuals the figures are the same. */
TEST(fixed_size_no_residuals) {
  seed(35);
  struct machine made = make_machine(
      (struct shape_of){.m = 20, .n = 6, .q = 1, .L = 2, .folds = UNEQUAL, .weights = 1});
  const struct fixed_size_control control = {.pursuit = {.k = 4, .dependent = 1e-12}};
  struct run with = run_kernel(&made.fs, lambdas, 2, &control, 1, 0, 0);
  struct run without = {.block = NULL};
  lay_out(&without, &made.fs, 4, 2);
  without.block = room(without.used, 0xFF);
  lay_out(&without, &made.fs, 4, 2);
  const size_t before = (size_t)((char *)without.result.residual - without.block);
  without.result.residual = NULL;
  struct polls polls = {0};
  struct host host = {.threads = 2, .stop = poll, .self = &polls};
  void *work = room(fixed_size_work(&made.fs, &control, 2), 0);
  CHECK(fixed_size(&made.fs, lambdas, 2, &control, &host, work, &without.result) == COMPLETE);
  CHECK(memcmp(with.block, without.block, before) == 0);
  free(work);
  free(with.block);
  free(without.block);
  discard_machine(&made);
}

/* What is there when it was stopped is what would have been there, and nothing else. */
TEST(fixed_size_stops) {
  seed(36);
  struct machine made = make_machine((struct shape_of){
      .m = 18, .n = 7, .q = 1, .L = 2, .folds = UNEQUAL, .weights = 1, .classes = 1});
  const struct fixed_size *fs = &made.fs;
  const ptrdiff_t k = 4, L = 2, mL = 36;
  const struct fixed_size_control control = {
      .pursuit = {.k = (int)k, .dependent = 1e-12}, .classes = 1};
  for (int threads = 1; threads < 3; threads++) {
    struct run whole = run_kernel(fs, lambdas, 3, &control, threads, 0xFF, 0);
    CHECK(whole.status == COMPLETE && whole.polls == 12);
    for (int at = 1; at <= whole.polls; at += threads) {
      struct run part = run_kernel(fs, lambdas, 3, &control, threads, 0xFF, at);
      const struct fixed_size_result *a = &part.result, *b = &whole.result;
      CHECK(part.status == INTERRUPTED && part.polls == at);
      CHECK(a->columns > 0 || at == 1);
      CHECK(a->columns <= b->columns);
      for (int g = 0; g < 3; g++) {
        const int size = at - 1 > 4 * (g + 1) ? 4 : at - 1 > 4 * g ? at - 1 - 4 * g : 0;
        const size_t real = sizeof(double), done = (size_t)size * real;
        CHECK(a->size[g] == size);
        CHECK(memcmp(a->chosen + g * k, b->chosen + g * k, (size_t)size * sizeof(int)) == 0);
        CHECK(memcmp(a->squared + g * k, b->squared + g * k, done) == 0);
        CHECK(memcmp(a->se + g * k, b->se + g * k, done) == 0);
        CHECK(memcmp(a->error + g * k, b->error + g * k, done) == 0);
        CHECK(memcmp(a->residual + mL * g * k, b->residual + mL * g * k, (size_t)mL * done) == 0);
        for (ptrdiff_t l = 0; l < L; l++)
          CHECK(memcmp(a->z + (l + g * L) * k, b->z + (l + g * L) * k, done) == 0);
        for (ptrdiff_t j = 0; j < size; j++)
          for (ptrdiff_t i = j; i < size; i++)
            CHECK(a->factor[i + (j + g * k) * k] == b->factor[i + (j + g * k) * k]);
        for (ptrdiff_t s = size; s < k; s++)
          CHECK(isnan(a->squared[s + g * k]) && isnan(a->residual[mL * (s + g * k)]));
      }
      free(part.block);
    }
    free(whole.block);
  }
  discard_machine(&made);
}

/* A kernel that is none. */
TEST(fixed_size_not_positive) {
  struct machine made = empty_machine(4, 2, 0, 1);
  for (ptrdiff_t i = 0; i < 4; i++) {
    made.root_w[i] = made.response[i] = made.y[i] = 1;
    made.K[i] = 0.1;
    made.K[i + 4] = 0.05;
  }
  made.own[0] = made.own[3] = 1;
  made.own[1] = made.own[2] = 3;
  for (int folds = NONE; folds <= ONE_EACH; folds++) {
    set_folds(&made, (enum folds_kind)folds);
    const struct fixed_size_control control = {.pursuit = {.k = 2, .dependent = 1e-12}};
    struct run run = run_kernel(&made.fs, lambdas, 1, &control, 2, 0, 0);
    CHECK(run.status == NOT_POSITIVE);
    free(run.block);
  }
  discard_machine(&made);
}

/* Without a fold the system may be indefinite: its run goes on with what can be taken. */
TEST(fixed_size_indefinite_fold) {
  static const double own[] = {1, 2, 0, 2, 1, 0, 0, 0, 1};
  static const int first[] = {0, 2};
  struct machine made = empty_machine(6, 3, 0, 1);
  seed(38);
  memcpy(made.own, own, sizeof own);
  for (ptrdiff_t i = 0; i < 6; i++) {
    made.root_w[i] = made.response[i] = made.y[i] = 1;
    for (ptrdiff_t j = 0; j < 3; j++)
      made.K[i + j * 6] = i < 2 ? 3 * (i == j) : 0.1 * uniform() + (j == 2);
  }
  made.start[1] = 2;
  made.start[2] = 6;
  made.fs.folds = 2;
  const struct fixed_size_control control = {
      .pursuit = {.k = 3, .dependent = 1e-12, .forced = 2, .first = first}};
  check_machine(&made.fs, &control, 1, 2);
  discard_machine(&made);
}

/* Rows far apart, pairs of prototypes by some of them, and next to no penalty: without the one row
   near it, a prototype's own entry is the penalty alone, and it is all there. */
TEST(fixed_size_lost_digits) {
  static const double small[] = {1e-5, 1e-7, 1e-9};
  static const int first[] = {0, 1, 2, 3};
  double point[24] = {0}, prototype[16];
  seed(37);
  for (int i = 0; i < 12; i++)
    point[2 * i] = 5 * i;
  for (int i = 0; i < 16; i++)
    prototype[i] = point[i / 4 * 2 + i % 2] + 0.4 * uniform();
  for (int i = 0; i < 3; i++) {
    struct machine made = empty_machine(12, 8, 1, 1);
    fill(&made, 1, point, prototype, 1, 1);
    set_folds(&made, ONE_EACH);
    const struct fixed_size_control control = {
        .pursuit = {.k = 4, .dependent = 1e-12, .forced = 4, .first = first}};
    struct run run = run_kernel(&made.fs, small + i, 1, &control, 1, 0, 0);
    CHECK(run.status == COMPLETE);
    int used[9] = {0};
    follow_slowly(&made.fs, small[i], 0, &control, &run, used);
    free(run.block);
    discard_machine(&made);
  }
}

/* A pair of prototypes that is hardly two, by a row of its own: without that row rounding may leave
   a negative pivot, of which the kernel is not to blame. */
TEST(fixed_size_rounded_pivots) {
  const double lambda = 1e-10;
  for (unsigned long long trial = 0; trial < 10; trial++) {
    struct machine made = empty_machine(40, 20, 1, 1);
    double point[80], prototype[40];
    seed(5000 + trial);
    for (int i = 0; i < 80; i++)
      point[i] = 30 * uniform();
    for (int i = 0; i < 40; i++)
      prototype[i] = point[i / 4 * 2 + i % 2] + 1e-4 * uniform();
    fill(&made, 1, point, prototype, 0, 1);
    set_folds(&made, ONE_EACH);
    const struct fixed_size_control control = {.pursuit = {.k = 20, .dependent = 1e-12}};
    struct run run = run_kernel(&made.fs, &lambda, 1, &control, 1, 0, 0);
    CHECK(run.status == COMPLETE);
    for (int s = 0; s < run.result.size[0]; s++)
      CHECK(isfinite(run.result.squared[s]));
    free(run.block);
    discard_machine(&made);
  }
}

/* ---- numbers ---- */

/* 24 rows, folds i mod 4, prototypes 1 18 3 5 17 8, sigma^2 = 0.1, gamma = 10 */
TEST(fixed_size_numbers) {
  static const int prototypes[] = {1, 18, 3, 5, 17, 8}, order[] = {3, 7, 2, 4, 1, 6, 5};
  static const double squared[] = {1.04623760588, 0.933874978834, 0.695636405285, 0.64604460017,
      0.653340685225, 0.601827256626, 0.588776299799};
  static const double at_three[] = {-2.12580304598, 0.600009876979, -1.79602139841};
  static const double at_seven[] = {1.66701194217, -0.344944813765, -0.425189472383, 2.20450672457,
      -0.11266653459, 0.666406229687, -0.885597595334};
  const double lambda = 0.1;
  struct machine made = empty_machine(24, 6, 1, 1);
  for (int fold = 0, row = 0; fold < 4; fold++)
    for (int i = 1; i <= 24; i++) {
      const double x[] = {3 * i % 11 / 11.0, 5 * i % 13 / 13.0};
      if (i % 4 != fold)
        continue;
      for (int j = 0; j < 6; j++) {
        const int p = prototypes[j];
        const double at[] = {3 * p % 11 / 11.0, 5 * p % 13 / 13.0};
        made.K[row + 24 * j] = kernel(0.1, x, at);
        for (int l = 0; l < 6; l++) {
          const int o = prototypes[l];
          const double other[] = {3 * o % 11 / 11.0, 5 * o % 13 / 13.0};
          made.own[j + 6 * l] = kernel(0.1, at, other);
        }
      }
      made.Z[row] = made.root_w[row] = 1;
      made.y[row] = made.response[row] = sin(6 * x[0]) + x[1] > 0.5 ? 1 : -1;
      row++;
    }
  for (int f = 0; f <= 4; f++)
    made.start[f] = 6 * f;
  made.fs.folds = 4;
  for (int k = 3; k <= 7; k += 4) {
    const struct fixed_size_control control = {
        .pursuit = {.k = k, .dependent = 1e-12}, .classes = 1};
    struct run run = run_kernel(&made.fs, &lambda, 1, &control, 2, 0xFF, 0);
    double beta[7];
    CHECK(run.status == COMPLETE && run.result.size[0] == k);
    for (int i = k - 1; i >= 0; i--) {
      double sum = run.result.z[i];
      for (int j = i + 1; j < k; j++)
        sum -= run.result.factor[j + i * k] * beta[j];
      beta[i] = sum / run.result.factor[i + i * k];
      CHECK(run.result.chosen[i] + 1 == order[i]);
      CHECK_NEAR(beta[i], k == 3 ? at_three[i] : at_seven[order[i] - 1], 1e-9);
      CHECK_NEAR(run.result.squared[i], squared[i], 1e-9);
    }
    if (k == 7) /* of four equal folds */
      CHECK_NEAR(run.result.se[6] * 2, 0.430843343101, 1e-9);
    free(run.block);
  }
  discard_machine(&made);
}
