/* Softmax regression of classes with an l1 penalty, separate or grouped by columns. A solution is
   certified by its duality gap, worked out anew from the coefficients alone by sums over dense
   columns. */
#include "ctest.h"
#include "l1-state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAMBDAS = 6, CLASSES = 6 };

static const double shares[LAMBDAS] = {1.1, 0.8, 0.5, 0.2, 0.03, 1e-4};

struct setting {
  int grouped;
  double ridge, tolerance;
  enum screen screen;
  int threads, max_active, shares;
};

struct run {
  struct polls polls;
  struct host host;
  struct l1_control control;
  void *work;
  struct l1_state *state;
};

static struct run *begin(const struct made *made, const char *loss, struct setting setting) {
  struct run *run = room(sizeof(struct run), 0);
  run->polls = (struct polls){0, -1};
  run->host = (struct host){.threads = setting.threads, .stop = poll, .self = &run->polls};
  run->control = (struct l1_control){.loss = (enum loss)l1_loss_named(loss),
      .screen = setting.screen,
      .tolerance = setting.tolerance,
      .max_active = setting.max_active > 0 ? setting.max_active : (int)l1_coefficients(&made->pb),
      .lambdas = LAMBDAS,
      .ridge = setting.ridge,
      .grouped = setting.grouped,
      .shares = setting.shares};
  run->work = room(l1_work(&made->pb, &run->control, &run->host), 0xff);
  run->state = l1_begin(&made->pb, &run->control, &run->host, run->work);
  return run;
}

static void end(struct run *run) {
  free(run->work);
  free(run);
}

/* ---- the problem in plain sums ---- */

static double entry(const struct made *made, ptrdiff_t i, ptrdiff_t j) {
  return (made->x[i + j * made->pb.m] - made->pb.centre[j]) * made->pb.inv_scale[j];
}

/* p (CLASSES) := the shares of the classes in row i; returns the loss of the row. */
static double row_shares(
    const struct made *made, const struct l1_solution *at, ptrdiff_t i, double *p) {
  const struct problem *pb = &made->pb;
  double sum = 0, own = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    double f = 0;
    for (int k = 0; k < at->size; k++)
      if (at->feature[k] % pb->L == l)
        f += at->beta[k] * entry(made, i, at->feature[k] / pb->L);
    for (ptrdiff_t k = 0; k < pb->q; k++)
      f += at->u[k + l * pb->q] * pb->Q[i + k * pb->m] / pb->divisor[i];
    p[l] = exp(f);
    sum += p[l];
    own += pb->response[i + l * pb->m] > 0 ? f : 0;
  }
  for (ptrdiff_t l = 0; l < pb->L; l++)
    p[l] /= sum;
  return log(sum) - own;
}

static double coefficient(const struct l1_solution *at, ptrdiff_t number) {
  for (int k = 0; k < at->size; k++)
    if (at->feature[k] == number)
      return at->beta[k];
  return 0;
}

/* The norm over the outputs, or the largest absolute value. */
static double norm_of(ptrdiff_t L, int grouped, const double *c) {
  double square = 0, most = 0;
  for (ptrdiff_t l = 0; l < L; l++) {
    square += c[l] * c[l];
    most = fmax(most, fabs(c[l]));
  }
  return grouped ? sqrt(square) : most;
}

/* What r, the residual of the shares p, gives column j, less the ridge's part. */
static void products_of(
    const struct made *made, const struct l1_solution *at, double ridge, ptrdiff_t j, double *c) {
  const struct problem *pb = &made->pb;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    c[l] = -ridge * coefficient(at, j * pb->L + l);
    for (ptrdiff_t i = 0; i < pb->m; i++)
      c[l] += pb->root_w[i] * entry(made, i, j) * at->r[i + l * pb->m];
  }
}

static double largest_product(
    const struct made *made, const struct l1_solution *at, int grouped, double ridge) {
  double most = 0, c[CLASSES];
  for (ptrdiff_t j = 0; j < made->pb.n; j++)
    if (made->pb.usable[j]) {
      products_of(made, at, ridge, j, c);
      most = fmax(most, norm_of(made->pb.L, grouped, c));
    }
  return most;
}

static double entropy(double a) {
  return a > 0 ? -a * log(a) : 0;
}

/* All that a solution must be. */
static void check_solution(
    const struct made *made, struct setting setting, const struct l1_solution *at, double lambda) {
  const struct problem *pb = &made->pb;
  const ptrdiff_t L = pb->L;
  const double ridge = lambda * setting.ridge, null = at->null_objective;
  const double most = largest_product(made, at, setting.grouped, ridge);
  const double s = most > lambda ? lambda / most : 1;
  double primal = 0, dual = 0, p[CLASSES], balance[4 * CLASSES] = {0}, total = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double w = pb->root_w[i] * pb->root_w[i];
    primal += w * row_shares(made, at, i, p);
    total += w;
    for (ptrdiff_t l = 0; l < L; l++) {
      const double y = pb->response[i + l * pb->m] > 0, r = at->r[i + l * pb->m];
      CHECK_NEAR(r, pb->root_w[i] * (y - p[l]), 1e-11);
      dual += w * entropy(y - s * r / pb->divisor[i]);
      for (ptrdiff_t k = 0; k < pb->q; k++)
        balance[k + l * pb->q] += pb->Q[i + k * pb->m] * r;
    }
  }
  for (ptrdiff_t k = 0; k < L * pb->q; k++)
    CHECK(fabs(balance[k]) <= 1e-12 * sqrt(total));
  for (ptrdiff_t k = 0; k < pb->q; k++) {
    double sum = 0, size = 0;
    for (ptrdiff_t l = 0; l < L; l++) {
      sum += at->u[k + l * pb->q];
      size += fabs(at->u[k + l * pb->q]);
    }
    CHECK(fabs(sum) <= 1e-10 * (1 + size));
  }
  double squares = 0, norms = 0;
  for (int k = 0; k < at->size; k++) {
    squares += at->beta[k] * at->beta[k];
    norms += setting.grouped ? 0 : fabs(at->beta[k]);
    CHECK(pb->usable[at->feature[k] / L]);
  }
  for (ptrdiff_t j = 0; j < pb->n && setting.grouped; j++) {
    double beta[CLASSES];
    for (ptrdiff_t l = 0; l < L; l++)
      beta[l] = coefficient(at, j * L + l);
    norms += norm_of(L, 1, beta);
  }
  primal += lambda * norms + ridge / 2 * squares;
  dual -= s * s * ridge * squares / 2;
  CHECK(fabs(primal - at->primal) <= 1e-12 * null);
  CHECK(primal - dual >= -1e-12 * null);
  CHECK(primal - dual <= (setting.tolerance + 1e-12) * null);
  CHECK(at->primal - at->dual <= setting.tolerance * null);
  CHECK_NEAR(l1_norms(pb, &(struct l1_control){.ridge = setting.ridge, .grouped = setting.grouped},
                 at->size, at->beta),
      norms + setting.ridge / 2 * squares, 1e-12);
}

/* ---- paths ---- */

static double top_lambda(const struct made *made, struct run *run, int grouped) {
  const struct l1_solution at = l1_solution(run->state);
  return largest_product(made, &at, grouped, 0);
}

static void check_path(const struct made *made, struct setting setting, double *found) {
  struct run *run = begin(made, "multinomial", setting);
  const double top = top_lambda(made, run, setting.grouped);
  for (int i = 0; i < LAMBDAS; i++) {
    CHECK(l1_solve(run->state, i, top * shares[i], -INFINITY) == COMPLETE);
    const struct l1_solution at = l1_solution(run->state);
    check_solution(made, setting, &at, top * shares[i]);
    CHECK((at.size == 0) == (i == 0));
    CHECK(!setting.grouped || at.size % made->pb.L == 0);
    found[i] = at.primal;
  }
  end(run);
}

/* Room for a few coefficients, doubled whenever it is not enough. */
static void check_room(const struct made *made, struct setting setting) {
  int refusals = 0;
  setting.max_active = (int)made->pb.L;
  struct run *run = begin(made, "multinomial", setting);
  struct l1_solution at = l1_solution(run->state);
  const double top = top_lambda(made, run, setting.grouped);
  for (int i = 0; i < LAMBDAS;) {
    const enum status status = l1_solve(run->state, i, top * shares[i], -INFINITY);
    at = l1_solution(run->state);
    if (status == COMPLETE) {
      check_solution(made, setting, &at, top * shares[i++]);
      continue;
    }
    CHECK(status == WORKSPACE_FULL && refusals < 20);
    if (status != WORKSPACE_FULL || refusals++ >= 20)
      break;
    setting.max_active *= 2;
    struct run *next = begin(made, "multinomial", setting);
    CHECK(l1_start(next->state, at.size, at.feature, at.beta) == COMPLETE);
    end(run);
    run = next;
  }
  CHECK(refusals > 0);
  end(run);
}

/* The same to the last bit with two threads. */
static void check_threads(const struct made *made, struct setting setting) {
  struct run *one = begin(made, "multinomial", setting);
  setting.threads = 2;
  struct run *two = begin(made, "multinomial", setting);
  const double top = top_lambda(made, one, setting.grouped);
  for (int i = 0; i < LAMBDAS; i++) {
    CHECK(l1_solve(one->state, i, top * shares[i], -INFINITY) == COMPLETE);
    CHECK(l1_solve(two->state, i, top * shares[i], -INFINITY) == COMPLETE);
    const struct l1_solution a = l1_solution(one->state), b = l1_solution(two->state);
    CHECK(a.size == b.size && a.primal == b.primal && a.dual == b.dual);
    CHECK(memcmp(a.beta, b.beta, (size_t)a.size * sizeof(double)) == 0);
  }
  end(one);
  end(two);
}

/* Stopped at any poll, the last solution stands. */
static void check_stop(const struct made *made, struct setting setting) {
  int stopped = 1;
  for (int last = 1; stopped; last++) {
    struct run *run = begin(made, "multinomial", setting);
    const double top = top_lambda(made, run, setting.grouped);
    CHECK(l1_solve(run->state, 0, top / 2, -INFINITY) == COMPLETE);
    run->polls = (struct polls){0, last};
    const enum status status = l1_solve(run->state, 1, top / 8, -INFINITY);
    stopped = status != COMPLETE;
    CHECK(status == (stopped ? INTERRUPTED : COMPLETE) && last < 100);
    const struct l1_solution at = l1_solution(run->state);
    check_solution(made, setting, &at, stopped ? top / 2 : top / 8);
    end(run);
  }
}

TEST(softmax_paths) {
  static const double ridges[] = {0, 0, 0.05, 0, 2};
  for (int round = 0; round < 48; round += every(7)) {
    seed(3000 + (unsigned long long)round);
    const struct shape shape = {.m = 24 + round,
        .n = 8 + (11 * round) % 50,
        .L = 3 + round % 3,
        .q = round % 5 == 3 ? 0 : 1 + round % 3,
        .weights = round % 2,
        .sparse = round % 4 == 1,
        .whole = round % 4 == 2,
        .classes = 1,
        .folds = 2,
        .repeats = 1,
        .columns = round % 3 == 1 ? BLOCKS : UNRELATED};
    struct made made = make(shape);
    double lazy[LAMBDAS], other[LAMBDAS];
    struct setting setting = {.grouped = round / 2 % 2,
        .ridge = ridges[round % 5],
        .tolerance = 1e-9,
        .screen = LAZY,
        .threads = 1};
    check_path(&made, setting, lazy);
    setting.screen = round % 2 ? GAP_SAFE : NO_SCREEN;
    check_path(&made, setting, other);
    for (int i = 0; i < LAMBDAS; i++)
      CHECK_NEAR(lazy[i], other[i], 4e-9);
    if (round % 4 == 0) {
      check_room(&made, setting);
      check_threads(&made, setting);
      check_stop(&made, setting);
    }
    discard(&made);
  }
}

/* The difference of the coefficients of two classes is the coefficient of the logistic model at the
   same lambda, or at lambda / sqrt(2) with a grouped penalty, where they are of opposite signs. */
TEST(softmax_of_two_classes) {
  for (int round = 0; round < 8; round++) {
    seed(3100 + (unsigned long long)round);
    struct shape shape = {.m = 40,
        .n = 12,
        .L = 1,
        .q = 2,
        .weights = 1,
        .classes = 1,
        .folds = 2,
        .repeats = 1,
        .columns = SIGNALS};
    struct made one = make(shape);
    double *response = room(80 * sizeof(double), 0), *y = room(80 * sizeof(double), 0);
    double *products = room(24 * sizeof(double), 0);
    struct made two = one;
    for (ptrdiff_t i = 0; i < 80; i++) {
      response[i] = (i < 40 ? -1 : 1) * one.pb.response[i % 40];
      y[i] = (i < 40 ? -1 : 1) * one.pb.y[i % 40];
    }
    for (ptrdiff_t j = 0; j < 24; j++)
      products[j] = (j < 12 ? -1 : 1) * one.pb.products[j % 12];
    two.pb.L = 2;
    two.pb.response = response;
    two.pb.y = y;
    two.pb.products = products;
    const struct setting plain = {.tolerance = 1e-13, .threads = 1};
    struct setting setting = plain;
    setting.grouped = round % 2;
    struct run *logistic = begin(&one, "logistic", plain),
               *softmax = begin(&two, "multinomial", setting);
    for (int i = 0; i < LAMBDAS; i++) {
      const double lambda = 8 * shares[i];
      CHECK(l1_solve(logistic->state, i, lambda, -INFINITY) == COMPLETE);
      CHECK(l1_solve(softmax->state, i, setting.grouped ? lambda * sqrt(2) : lambda, -INFINITY) ==
            COMPLETE);
      const struct l1_solution a = l1_solution(logistic->state), b = l1_solution(softmax->state);
      CHECK_NEAR(a.primal, b.primal, 1e-12);
      for (ptrdiff_t j = 0; j < 12; j++) {
        const double low = coefficient(&b, 2 * j), high = coefficient(&b, 2 * j + 1);
        CHECK_NEAR(high - low, coefficient(&a, j), 1e-5);
        CHECK(!setting.grouped || fabs(high + low) <= 1e-6);
      }
    }
    end(logistic);
    end(softmax);
    discard(&one);
    free(response);
    free(y);
    free(products);
  }
}

/* Paths with the same x and other weights share passes over it. */
TEST(softmax_shares) {
  enum { PATHS = 3 };
  for (int round = 0; round < 4; round++) {
    seed(3200 + (unsigned long long)round);
    const struct shape shape = {.m = 40,
        .n = 300,
        .L = 3,
        .q = 1,
        .weights = 1,
        .sparse = round % 2,
        .classes = 1,
        .folds = 2,
        .repeats = 1,
        .columns = UNRELATED};
    const struct setting alone = {.tolerance = 1e-11, .threads = 1, .grouped = round / 2};
    struct setting together = alone;
    together.shares = 1;
    struct made made[PATHS];
    struct run *run[PATHS];
    double expected[PATHS][LAMBDAS], top[PATHS];
    int done[PATHS] = {0}, passes = 0;
    for (int i = 0; i < PATHS; i++) {
      made[i] = make(shape);
      memcpy(made[i].x, made[0].x, (size_t)(shape.m * shape.n) * sizeof(double));
      made[i].pb.x = made[0].pb.x;
      measure_columns(made + i);
      check_path(made + i, alone, expected[i]);
      run[i] = begin(made + i, "multinomial", together);
      top[i] = top_lambda(made + i, run[i], together.grouped);
    }
    void *work = room(l1_share_work(&made[0].pb, PATHS, 1), 0xff);
    for (int waiting = PATHS; waiting > 0;) {
      struct l1_state *states[PATHS];
      waiting = 0;
      for (int i = 0; i < PATHS; i++) {
        enum status status = COMPLETE;
        while (status == COMPLETE && done[i] < LAMBDAS) {
          status = l1_solve(run[i]->state, done[i], top[i] * shares[done[i]], -INFINITY);
          if (status != COMPLETE)
            break;
          const struct l1_solution at = l1_solution(run[i]->state);
          CHECK_NEAR(at.primal, expected[i][done[i]], 1e-10);
          done[i]++;
        }
        CHECK(status == COMPLETE || status == WAITING);
        if (status == WAITING)
          states[waiting++] = run[i]->state;
      }
      passes += waiting > 0;
      if (waiting > 0)
        CHECK(l1_share_products(states, waiting, &run[0]->host, work) == COMPLETE);
    }
    CHECK(passes > 1);
    free(work);
    for (int i = 0; i < PATHS; i++) {
      CHECK(done[i] == LAMBDAS);
      end(run[i]);
    }
    for (int i = PATHS; i-- > 0;)
      discard(made + i);
  }
}
