/* What is known of the columns' products with the residual, against all products made anew; and the
   lasso, whose optimality conditions are checked here from the columns as they are. */
#include "ctest.h"
#include "l1-active.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What the problem is made into. */
enum twist { NONE, ROUNDED, DUPLICATES, TRIPLES, TWISTS };

/* Every third column is the sum of the two before it, or with DUPLICATES one of them or its
   opposite. */
static void twist_column(double *x, ptrdiff_t m, ptrdiff_t j, enum twist twist) {
  double *column = x + j * m;
  for (ptrdiff_t i = 0; i < m; i++)
    if (twist == ROUNDED)
      column[i] = rint(column[i]);
    else if (twist == DUPLICATES && j % 3 == 2)
      column[i] = (j % 2 ? -1 : 1) * column[i - (1 + j % 4 / 2) * m];
    else if (twist == TRIPLES && j % 3 == 2)
      column[i] = column[i - m] + column[i - 2 * m];
}

/* A problem as as_problem() makes it: columns are centred when there is an intercept, and only
   then. Of a sparse x all but a share of the values are 0. */
static struct made make_twisted(struct shape shape, enum twist twist, double filled) {
  struct made made = make(shape);
  const ptrdiff_t m = shape.m, n = shape.n;
  double *centre = made.parts[made.count++] = room((size_t)n * sizeof(double), 0);
  double *inv_scale = made.parts[made.count++] = room((size_t)n * sizeof(double), 0);
  for (ptrdiff_t i = 0; shape.sparse && i < m * n; i++)
    if (uniform() > 2 * filled - 1)
      made.x[i] = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    double sum = 0, total = 0;
    twist_column(made.x, m, j, twist);
    for (ptrdiff_t i = 0; i < m; i++) {
      sum += made.w[i] * made.x[i + j * m];
      total += made.w[i];
    }
    centre[j] = shape.q > 0 ? sum / total : 0;
    inv_scale[j] = twist == NONE ? made.pb.inv_scale[j] : 1;
  }
  made.pb.centre = centre;
  made.pb.inv_scale = inv_scale;
  if (shape.sparse)
    made.pb.x = compress(&made, made.pb.m, made.pb.n);
  measure_columns(&made);
  return made;
}

static double entry(const struct made *made, ptrdiff_t i, ptrdiff_t j) {
  return (made->x[i + j * made->pb.m] - made->pb.centre[j]) * made->pb.inv_scale[j];
}

/* a_j'r, and the length of the raw column */
static double slow_product(const struct made *made, ptrdiff_t j, const double *r, double *length) {
  double dot = 0, square = 0;
  for (ptrdiff_t i = 0; i < made->pb.m; i++) {
    const double a = made->pb.root_w[i] * entry(made, i, j);
    dot += a * r[i];
    square += a * a;
  }
  *length = sqrt(square);
  return dot;
}

/* r := r less its part along the covariates */
static void balance(const struct problem *pb, double *r) {
  for (ptrdiff_t l = 0; l < 2 * pb->q; l++) {
    const double *q = pb->Q + l % pb->q * pb->m;
    double dot = 0;
    for (ptrdiff_t i = 0; i < pb->m; i++)
      dot += q[i] * r[i];
    for (ptrdiff_t i = 0; i < pb->m; i++)
      r[i] -= dot * q[i];
  }
}

static double length_of(const double *r, ptrdiff_t m) {
  double square = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    square += r[i] * r[i];
  return sqrt(square);
}

/* ---- products ---- */

/* Sets r for a step of a walk: near the last one or far from it, in all rows or mostly in one, a
   multiple, or the way of some column, whose product no other step changes as much. */
static void walk(const struct made *made, double *r) {
  const struct problem *pb = &made->pb;
  const double kind = uniform(), size = pow(10, 3 * uniform() - 3), factor = uniform() + 1.5;
  const ptrdiff_t j = (ptrdiff_t)(fabs(uniform()) * (double)pb->n);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    r[i] = kind > 0.9   ? uniform()
           : kind > 0.7 ? factor * r[i]
           : kind > 0.4 ? r[i] + (i == j % pb->m ? 1 : 0.1) * size
           : kind > 0   ? r[i] + size * uniform()
                        : r[i] + size * pb->root_w[i] * entry(made, i, j);
  balance(pb, r);
}

/* Nothing that is said of the products is untrue. Returns how many were not made. */
static int check_products(const struct made *made, const struct l1_state *state, double level) {
  int spared = 0;
  const double own = length_of(state->r, made->pb.m);
  for (ptrdiff_t k = 0; k < made->pb.n; k++) {
    if (state->excluded[k])
      continue;
    double length;
    const double c = slow_product(made, k, state->r, &length), rounding = 1e-14 * length * own;
    CHECK(fabs(c) <= state->max_abs_corr + rounding);
    if (l1_is_fresh(state, k)) {
      CHECK(fabs(state->corr[k] - c) <= 100 * rounding);
    } else {
      spared++;
      CHECK(fabs(c) <= level + rounding);
    }
  }
  return spared;
}

enum { WALK = 40 };

/* *work is to be freed; the state need not stand at its beginning. */
static struct l1_state *begin(
    const struct problem *pb, enum screen screen, struct host *host, void **work) {
  const struct l1_control control = {
      .screen = screen, .tolerance = 1e-12, .max_active = (int)pb->n, .lambdas = WALK};
  *work = room(l1_work(pb, &control, host), 0xFF);
  return l1_begin(pb, &control, host, *work);
}

static int same(const void *a, const void *b, ptrdiff_t n, size_t size) {
  return memcmp(a, b, (size_t)n * size) == 0;
}

static void test_walk(struct shape shape, enum screen screen, int *spared, int *renewed) {
  struct made made = make_twisted(shape, NONE, 0.2);
  const struct problem *pb = &made.pb;
  struct polls polls = {0, -1};
  struct host one = {.threads = 1, .stop = poll, .self = &polls}, two = one;
  two.threads = 2;
  void *work, *other_work;
  struct l1_state *state = begin(pb, screen, &one, &work);
  struct l1_state *other = begin(pb, screen, &two, &other_work);
  for (int step = 0; step < WALK; step++) {
    const int directions = state->directions, passes = state->passes;
    walk(&made, state->r);
    memcpy(other->r, state->r, (size_t)pb->m * sizeof(double));
    /* about as large as the largest products, but not always */
    const double level = (0.1 + 1.5 * fabs(uniform())) * length_of(state->r, pb->m);
    CHECK(l1_correlate(state, level, NULL) == COMPLETE &&
          l1_correlate(other, level, NULL) == COMPLETE);
    CHECK(state->passes >= passes && state->passes <= passes + 1);
    *renewed += state->directions < directions;
    *spared += check_products(&made, state, level);
    CHECK(same(state->corr, other->corr, pb->n, sizeof(double)));
    CHECK(same(state->pass, other->pass, pb->n, sizeof(int)));
    CHECK(state->max_abs_corr == other->max_abs_corr && state->products == other->products);
    if (step % 7 == 0) { /* a lower level asks for more of the same residual */
      CHECK(l1_correlate(state, level / 3, NULL) == COMPLETE &&
            l1_correlate(other, level / 3, NULL) == COMPLETE);
      CHECK(state->passes <= passes + 1);
      check_products(&made, state, level / 3);
    }
  }
  free(work);
  free(other_work);
  discard(&made);
}

TEST(lasso_products) {
  const ptrdiff_t rows[] = {40, 90}, covariates[] = {0, 1, 3};
  int spared = 0, renewed = 0, none = 0;
  for (int run = 0; run < 24; run++) {
    struct shape shape = {.m = rows[run % 2],
        .n = run % 12 == 5 ? 2 * L1_LIST_BLOCK + 60 : 60,
        .L = 1,
        .q = covariates[run % 3],
        .weights = run / 2 % 2,
        .sparse = run / 12};
    seed((unsigned long long)run + 1);
    test_walk(shape, LAZY, &spared, &renewed);
    if (run % 4 == 0)
      test_walk(shape, NO_SCREEN, &none, &none);
  }
  CHECK(spared > 24 * WALK * 10);
  CHECK(renewed > 20);
  CHECK(none == 0);
}

/* ---- solutions ---- */

/* What is true of the model: its objective and residual, and the largest product of any column less
   the ridge's part; the optimality conditions are checked. */
static void prove(const struct made *made, enum screen screen, struct l1_solution model,
    double lambda, double ridge) {
  const struct problem *pb = &made->pb;
  double *r = room((size_t)pb->m * sizeof(double), 0);
  int *place = room((size_t)pb->n * sizeof(int), 0);
  double objective = 0, most = 0, ry = 0, square = 0, tail = 0;
  for (int k = 0; k < model.size; k++) {
    objective += lambda * fabs(model.beta[k]);
    tail += ridge * model.beta[k] * model.beta[k];
    CHECK(model.beta[k] != 0 && place[model.feature[k]] == 0 && pb->usable[model.feature[k]]);
    place[model.feature[k]] = k + 1;
  }
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    double f = 0;
    for (int k = 0; k < model.size; k++)
      f += model.beta[k] * entry(made, i, model.feature[k]);
    for (ptrdiff_t l = 0; l < pb->q; l++)
      f += model.u[l] * pb->Q[i + l * pb->m] / pb->root_w[i];
    r[i] = pb->root_w[i] * (pb->response[i] - f);
    square += r[i] * r[i];
    ry += r[i] * pb->y[i];
  }
  const double scale = sqrt(2 * model.null_objective);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    CHECK(fabs(r[i] - model.r[i]) <= 1e-11 * scale);
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    double dot = 0;
    for (ptrdiff_t i = 0; i < pb->m; i++)
      dot += pb->Q[i + l * pb->m] * r[i];
    CHECK(fabs(dot) <= 1e-12 * scale);
  }
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    double length;
    const double beta = place[j] > 0 ? model.beta[place[j] - 1] : 0;
    const double c = pb->usable[j] ? slow_product(made, j, r, &length) - ridge * beta : 0;
    most = fmax(most, fabs(c));
    CHECK(fabs(c) <= lambda * (1 + 1e-8) + 1e-11 * scale);
    if (beta != 0) /* within what the gap of 1e-12 allows */
      CHECK(c * (beta > 0 ? 1 : -1) >= lambda - 4e-6 * scale * sqrt(length * length + ridge));
  }
  square += tail;
  objective += square / 2;
  const double s = square > 0 ? fmin(ry / square, lambda / most) : 0;
  CHECK(objective - (s * ry - s * s * square / 2) <= 1.1e-12 * model.null_objective);
  CHECK(fabs(objective - model.primal) <= 1e-12 * model.null_objective);
  CHECK(model.primal - model.dual <= 1e-12 * model.null_objective);
  CHECK(screen > NO_SCREEN || model.max_abs_corr >= most * (1 - 1e-12));
  free(r);
  free(place);
}

/* No safe bound is below the product of its column with the optimal residual. GAP_SAFE does not
   keep up those of columns that are out. */
static void check_bounds(const struct made *made, const struct l1_state *state, double first) {
  const double share = fmax(0, 1 - state->lambda / first), null = sqrt(2 * state->null_objective);
  for (ptrdiff_t j = 0; j < made->pb.n; j++) {
    if (!made->pb.usable[j] || (state->excluded[j] && state->control.screen == GAP_SAFE))
      continue;
    double length;
    const double c = fabs(slow_product(made, j, state->r, &length));
    CHECK(state->safe_bound[j] >= c - 1e-9 * length * null);
    if (state->control.screen == SAFE_ONE && made->pb.q < 2) { /* Theorem 1 */
      const double own = fabs(slow_product(made, j, made->pb.y, &length));
      CHECK(fabs(state->safe_bound[j] - own - share * null * length) <= 3e-6 * null * length);
    }
  }
}

/* From the largest lambda down to a share of it, and some of the way up again. */
enum { STEPS = 14, TURN = 10 };

static double lambda_at(double first, double last, int step) {
  const int down = step < TURN ? step : 2 * TURN - step - 3;
  return first * pow(last, (double)down / (TURN - 1));
}

/* Solves for all, with more room whenever it is too small. The objectives are left in `value`,
   unless they are there to be compared with. Returns how often there was no room; *largest is the
   size of the largest model. */
static int follow(const struct made *made, double ridge, enum screen screen, int columns,
    double last, double *value, int compare, int *largest) {
  const struct problem *pb = &made->pb;
  struct polls polls = {0, -1};
  struct host host = {.threads = 1, .stop = poll, .self = &polls};
  struct l1_control control = {.screen = screen,
      .tolerance = 1e-12,
      .max_active = columns,
      .lambdas = STEPS,
      .ridge = ridge};
  int refused = 0, step = 0, size = 0;
  int *feature = room((size_t)pb->n * sizeof(int), 0);
  double *beta = room((size_t)pb->n * sizeof(double), 0), first = 0;
  while (step < STEPS) {
    void *work = room(l1_work(pb, &control, &host), 0xFF);
    struct l1_state *state = l1_begin(pb, &control, &host, work);
    struct l1_solution model = l1_solution(state);
    CHECK(model.size == 0 && model.primal == model.null_objective &&
          model.dual == model.null_objective);
    for (ptrdiff_t j = 0; step == 0 && j < pb->n; j++) {
      double length;
      first = fmax(first, pb->usable[j] ? fabs(slow_product(made, j, model.r, &length)) : 0);
    }
    enum status status = l1_start(state, size, feature, beta);
    while (status == COMPLETE && step < STEPS) {
      const double lambda = lambda_at(1.0001 * first, last, step);
      status = l1_solve(state, step, lambda, -INFINITY);
      model = l1_solution(state);
      if (status != COMPLETE) { /* the columns and coefficients still stand */
        CHECK(model.size <= size);
        break;
      }
      prove(made, screen, model, lambda, lambda * ridge);
      CHECK(model.kept >= model.size);
      if (screen > NO_SCREEN)
        check_bounds(made, state, first);
      CHECK(step > 0 || (model.size == 0 && model.primal == model.null_objective));
      if (compare)
        CHECK(fabs(model.primal - value[step]) <= 2e-12 * model.null_objective);
      value[step++] = model.primal;
      size = model.size;
      memcpy(feature, model.feature, (size_t)size * sizeof(int));
      memcpy(beta, model.beta, (size_t)size * sizeof(double));
      *largest = size > *largest ? size : *largest;
    }
    CHECK(status == COMPLETE || (status == WORKSPACE_FULL && control.max_active < pb->n));
    refused += status == WORKSPACE_FULL;
    control.max_active *= 2;
    free(work);
  }
  free(feature);
  free(beta);
  return refused;
}

/* Problems of all kinds, each with one of so many ridges; returns how many columns were refused. */
static int follow_problems(const double *ridges, int count, int *largest) {
  const ptrdiff_t rows[] = {8, 30, 70}, columns[] = {7, 40, 90}, covariates[] = {0, 1, 3};
  const enum screen screens[] = {NO_SCREEN, SAFE_ONE, SAFE_TWO, GAP_SAFE};
  int refused = 0;
  for (int run = 0; run < 216; run += every(5)) {
    struct shape shape = {.m = rows[run % 3],
        .n = columns[run / 3 % 3],
        .L = 1,
        .q = covariates[run / 9 % 3],
        .weights = run % 2,
        .sparse = run / 108};
    seed((unsigned long long)run + 1);
    struct made made = make_twisted(shape, (enum twist)(run / 27 % TWISTS), 0.3);
    /* safe tests throw out most near the largest lambda */
    const double last = run / 2 % 2 ? 0.2 : 1e-3, ridge = ridges[run / 5 % count];
    double value[STEPS];
    CHECK(follow(&made, ridge, LAZY, (int)shape.n, last, value, 0, largest) == 0);
    refused += follow(&made, ridge, screens[run % 4], 2, last, value, 1, largest);
    follow(&made, ridge, screens[(run / 4 + 1) % 4], (int)shape.n, last, value, 1, largest);
    discard(&made);
  }
  return refused;
}

TEST(lasso_paths) {
  const double none = 0;
  int largest = 0;
  CHECK(follow_problems(&none, 1, &largest) > 200 / every(5));
}

/* Elastic nets, also with hardly any ridge. */
TEST(lasso_elastic_net) {
  const double ridges[] = {0.01, 1, 20, 1e-6};
  int largest = 0;
  CHECK(follow_problems(ridges, 4, &largest) > 200 / every(5));
  CHECK(largest > 80);
}

/* More columns than the factor of a sparse problem takes, at last so few of all that likely ones
   are solved for before products are made. */
TEST(lasso_descent) {
  for (int run = 0; run < 4; run++) {
    struct shape shape = {.m = 330,
        .n = run == 3 ? 1600 : 420,
        .L = 1,
        .q = run % 3,
        .weights = run > 0,
        .sparse = 1};
    seed((unsigned long long)run + 1);
    struct made made = make_twisted(shape, run == 2 ? DUPLICATES : NONE, 0.05);
    double value[STEPS];
    int largest = 0;
    follow(&made, 0, LAZY, (int)shape.n, 5e-3, value, 0, &largest);
    CHECK(largest > 256);
    CHECK(follow(&made, 0, GAP_SAFE, 130, 5e-3, value, 1, &largest) > 0);
    follow(&made, 0.5, LAZY, (int)shape.n, 5e-3, value, 0, &largest);
    CHECK(follow(&made, 0.5, GAP_SAFE, 130, 5e-3, value, 1, &largest) > 0);
    discard(&made);
  }
}

/* Stopped at any poll it says so. */
TEST(lasso_interruption) {
  seed(5);
  struct shape shape = {.m = 330, .n = 420, .L = 1, .q = 1, .sparse = 1};
  struct made made = make_twisted(shape, NONE, 0.05);
  int stopped = 0;
  for (int stop_at = 1; stop_at < 40; stop_at += 6) {
    struct polls polls = {0, -1};
    struct host host = {.threads = 1, .stop = poll, .self = &polls};
    void *work;
    struct l1_state *state = begin(&made.pb, LAZY, &host, &work);
    CHECK(l1_solve(state, 0, 0.3, -INFINITY) == COMPLETE);
    polls = (struct polls){0, stop_at};
    const enum status status = l1_solve(state, 1, 1e-3, -INFINITY);
    CHECK((status == INTERRUPTED) == (polls.count == stop_at));
    stopped += status == INTERRUPTED;
    free(work);
  }
  CHECK(stopped > 2);
  discard(&made);
}
