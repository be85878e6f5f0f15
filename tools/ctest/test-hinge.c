/* l1_path() with hinge loss: every solution is proven by a primal and a dual point whose objectives
   agree, both made here from the columns as they are. */
#include "ctest.h"
#include "l1-state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the problem is made into. */
enum twist { NONE, ROUNDED, DUPLICATES, UNBALANCED, TWISTS };

static void twist_problem(struct made *made, enum twist twist) {
  const ptrdiff_t m = made->pb.m, n = made->pb.n;
  double *response = room((size_t)m * sizeof(double), 0);
  made->parts[made->count++] = response;
  memcpy(response, made->pb.response, (size_t)m * sizeof(double));
  made->pb.response = response;
  double *inv_scale = room((size_t)n * sizeof(double), 0);
  made->parts[made->count++] = inv_scale;
  memcpy(inv_scale, made->pb.inv_scale, (size_t)n * sizeof(double));
  double *centre = room((size_t)n * sizeof(double), 0);
  made->parts[made->count++] = centre;
  memcpy(centre, made->pb.centre, (size_t)n * sizeof(double));
  for (ptrdiff_t j = 0; j < n; j++)
    switch (twist) {
    case ROUNDED:
      for (ptrdiff_t i = 0; i < m; i++)
        made->x[i + j * m] = floor(made->x[i + j * m]);
      inv_scale[j] = 1;
      centre[j] = rint(centre[j]);
      break;
    case DUPLICATES: /* each third column once more, or its opposite */
      if (j % 3 == 0)
        break;
      for (ptrdiff_t i = 0; i < m; i++)
        made->x[i + j * m] = (j % 2 ? 1 : -1) * made->x[i + (j - j % 3) * m];
      centre[j] = (j % 2 ? 1 : -1) * centre[j - j % 3];
      inv_scale[j] = inv_scale[j - j % 3];
      break;
    default:
      break;
    }
  if (twist == UNBALANCED)
    for (ptrdiff_t i = 0; i < m; i++)
      response[i] = i % 9 == 2 ? 1 : -1;
  made->pb.inv_scale = inv_scale;
  made->pb.centre = centre;
  measure_columns(made);
}

static double entry(const struct made *made, ptrdiff_t i, ptrdiff_t j) {
  return (made->x[i + j * made->pb.m] - made->pb.centre[j]) * made->pb.inv_scale[j];
}

/* The objective of a model, by its definition. */
static double objective(const struct made *made, struct l1_solution model, double lambda) {
  const struct problem *pb = &made->pb;
  double sum = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    double f = 0;
    for (int k = 0; k < model.size; k++)
      f += model.beta[k] * entry(made, i, model.feature[k]);
    for (ptrdiff_t l = 0; l < pb->q; l++)
      f += model.u[l] * pb->Q[i + l * pb->m] / pb->root_w[i];
    sum += made->w[i] * fmax(0, 1 - pb->response[i] * f);
  }
  for (int k = 0; k < model.size; k++)
    sum += lambda * fabs(model.beta[k]);
  return sum;
}

/* The largest product of a usable column with r: for the r of the null model a lambda from
   which on there is no better one. */
static double largest_product(const struct made *made, const double *r) {
  double most = 0;
  for (ptrdiff_t j = 0; j < made->pb.n; j++) {
    double dot = 0;
    for (ptrdiff_t i = 0; i < made->pb.m && made->pb.usable[j]; i++)
      dot += entry(made, i, j) * made->pb.root_w[i] * r[i];
    most = fmax(most, fabs(dot));
  }
  return most;
}

/* The sum of alpha, which is a lower bound when alpha is feasible; how far it is from that. */
static double dual_objective(const struct made *made, const double *r, double lambda, double *off) {
  const struct problem *pb = &made->pb;
  double sum = 0;
  *off = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double alpha = pb->response[i] * r[i] * pb->root_w[i];
    *off = fmax(*off, fmax(-alpha, alpha - made->w[i]));
    sum += alpha;
  }
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    double dot = 0;
    for (ptrdiff_t i = 0; i < pb->m; i++)
      dot += made->z[i + l * pb->m] * pb->root_w[i] * r[i];
    *off = fmax(*off, fabs(dot));
  }
  *off = fmax(*off, largest_product(made, r) - lambda);
  return sum;
}

static void prove(const struct made *made, struct l1_solution model, double lambda) {
  double off, total = 0;
  for (ptrdiff_t i = 0; i < made->pb.m; i++)
    total += made->w[i];
  const double primal = objective(made, model, lambda);
  const double dual = dual_objective(made, model.r, lambda, &off);
  CHECK(off <= 1e-12 * total);
  CHECK(primal - dual <= 1e-12 * total);
  CHECK_NEAR(model.primal, primal, 1e-12);
  CHECK_NEAR(model.dual, dual, 1e-9);
  CHECK(model.primal - model.dual <= 1e-12 * total);
  for (int k = 0; k < model.size; k++) {
    CHECK(model.beta[k] != 0 && made->pb.usable[model.feature[k]]);
    for (int l = 0; l < k; l++)
      CHECK(model.feature[l] != model.feature[k]);
  }
}

/* The same for what l1_solve() left, which says how large products are too. */
static void prove_solved(const struct made *made, struct l1_solution model, double lambda) {
  prove(made, model, lambda);
  CHECK(model.max_abs_corr >= largest_product(made, model.r) * (1 - 1e-12) - 1e-12);
  CHECK(model.max_abs_corr <= lambda * (1 + 1e-9));
}

/* The objective of the null model with an intercept alone or none, from the classes' weights. */
static double null_objective(const struct made *made) {
  double weight[2] = {0, 0};
  for (ptrdiff_t i = 0; i < made->pb.m; i++)
    weight[made->pb.response[i] > 0] += made->w[i];
  return made->pb.q == 0 ? weight[0] + weight[1] : 2 * fmin(weight[0], weight[1]);
}

/* A path down to a hundredth of where it begins, with more room whenever it is too small. The
   objectives are left in `value`, unless they are there to be compared with. */
enum { STEPS = 12 };

static int follow(
    const struct made *made, enum screen screen, int columns, double *value, int compare) {
  const int all = screen == LAZY || screen == NO_SCREEN; /* no column is excluded */
  struct polls polls = {0, -1};
  struct host host = {.threads = 1, .stop = poll, .self = &polls};
  struct l1_control control = {
      .loss = HINGE, .screen = screen, .tolerance = 1e-12, .max_active = columns, .lambdas = STEPS};
  int refused = 0, step = 0, size = 0;
  int *feature = room((size_t)made->pb.n * sizeof(int), 0);
  double *beta = room((size_t)made->pb.n * sizeof(double), 0), first = 0;
  while (step < STEPS) {
    void *work = room(l1_work(&made->pb, &control, &host), 0xFF);
    struct l1_state *state = l1_begin(&made->pb, &control, &host, work);
    struct l1_solution model = l1_solution(state);
    if (step == 0) {
      first = fmax(1.3 * largest_product(made, model.r), 0.1); /* 0 when they leave nothing */
      prove(made, model, first);
      CHECK(model.size == 0 && model.primal == model.null_objective);
      if (made->pb.q < 2)
        CHECK_NEAR(model.null_objective, null_objective(made), 1e-12);
    }
    enum status status = l1_start(state, size, feature, beta);
    for (double last = 0; status == COMPLETE && step < STEPS; step++) {
      const double lambda = first * pow(0.01, (double)step / (STEPS - 1));
      status = l1_solve(state, step, lambda, -INFINITY);
      model = l1_solution(state);
      if (status != COMPLETE) {
        if (all && last > 0)
          prove_solved(made, model, last);
        break;
      }
      last = lambda;
      if (all)
        prove_solved(made, model, lambda);
      CHECK(step > 0 || model.size == 0);
      if (compare)
        CHECK_NEAR(model.primal, value[step], 1e-9);
      value[step] = model.primal;
      size = model.size;
      memcpy(feature, model.feature, (size_t)size * sizeof(int));
      memcpy(beta, model.beta, (size_t)size * sizeof(double));
    }
    CHECK(status == COMPLETE || status == WORKSPACE_FULL);
    CHECK(status == COMPLETE || control.max_active < made->pb.n);
    refused += status == WORKSPACE_FULL;
    control.max_active *= 2;
    free(work);
  }
  free(feature);
  free(beta);
  return refused;
}

TEST(hinge_paths) {
  const ptrdiff_t rows[] = {12, 30, 60}, columns[] = {7, 40, 90}, covariates[] = {0, 1, 3};
  int refused = 0;
  for (int run = 0; run < 135; run += every(7)) {
    struct shape shape = {.m = rows[run % 3],
        .n = columns[run / 3 % 3],
        .L = 1,
        .q = covariates[run / 9 % 3],
        .weights = run % 2,
        .classes = 1};
    const enum twist twist = (enum twist)(run / 27 % (TWISTS + 1));
    shape.sparse = twist == TWISTS;
    seed((unsigned long long)run + 1);
    struct made made = make(shape);
    twist_problem(&made, twist);
    double value[STEPS];
    follow(&made, LAZY, (int)shape.n + 5, value, 0);
    refused += follow(&made, NO_SCREEN, 3, value, 1);
    follow(&made, GAP_SAFE, (int)shape.n, value, 1);
    discard(&made);
  }
  CHECK(refused > 60 / every(7));
}

/* Stopped at any poll, the solution before it still stands. */
TEST(hinge_interruption) {
  seed(5);
  struct made made = make((struct shape){.m = 40, .n = 60, .L = 1, .q = 1, .classes = 1});
  twist_problem(&made, NONE);
  struct l1_control control = {
      .loss = HINGE, .screen = LAZY, .tolerance = 1e-12, .max_active = 60, .lambdas = 2};
  int stopped = 0;
  for (int stop_at = 1; stop_at < 10; stop_at++) {
    struct polls polls = {0, -1};
    struct host host = {.threads = 1, .stop = poll, .self = &polls};
    void *work = room(l1_work(&made.pb, &control, &host), 0xFF);
    struct l1_state *state = l1_begin(&made.pb, &control, &host, work);
    const double most = largest_product(&made, l1_solution(state).r);
    CHECK(l1_solve(state, 0, most / 4, -INFINITY) == COMPLETE);
    polls = (struct polls){0, stop_at};
    const enum status status = l1_solve(state, 1, most / 20, -INFINITY);
    prove_solved(&made, l1_solution(state), status == COMPLETE ? most / 20 : most / 4);
    stopped += status == INTERRUPTED;
    free(work);
  }
  CHECK(stopped >= 2);
  discard(&made);
}
