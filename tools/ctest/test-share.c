/* Paths of problems with the same x that share passes over it, against each on its own. */
#include "ctest.h"
#include "l1-state.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATHS = 3, LAMBDAS = 14 };

/* Problems whose weights, covariates, responses, centres and scales differ. */
struct family {
  struct made made[PATHS];
  double top[PATHS]; /* a lambda from which on the model is null */
};

static struct family make_family(struct shape shape) {
  struct family family;
  for (int i = 0; i < PATHS; i++) {
    struct made *made = family.made + i;
    *made = make(shape);
    memcpy(made->x, family.made[0].x, (size_t)(shape.m * shape.n) * sizeof(double));
    made->pb.x = family.made[0].pb.x;
    int *usable = room((size_t)shape.n * sizeof(int), 0);
    memcpy(usable, made->pb.usable, (size_t)shape.n * sizeof(int));
    usable[7 + i] = 0;
    made->parts[made->count++] = usable;
    made->pb.usable = usable;
    measure_columns(made);
    family.top[i] = 0;
    for (ptrdiff_t j = 0; j < shape.n; j++)
      family.top[i] = fmax(family.top[i], fabs(made->pb.products[j]));
  }
  return family;
}

static void discard_family(struct family *family) {
  for (int i = 0; i < PATHS; i++)
    discard(family->made + i);
}

static double lambda_at(const struct family *family, int i, int step) {
  return family->top[i] * pow(0.01, (step + 1.0) / LAMBDAS);
}

struct path {
  void *work;
  struct l1_state *state;
  int done;
  double primal[LAMBDAS], *r; /* m x LAMBDAS */
};

static struct path begin(
    const struct family *family, int i, enum loss loss, int shares, struct host *host) {
  const struct problem *pb = &family->made[i].pb;
  const struct l1_control control = {.loss = loss,
      .tolerance = 1e-11,
      .max_active = (int)pb->n,
      .lambdas = LAMBDAS,
      .shares = shares};
  struct path path = {.work = room(l1_work(pb, &control, host), 0xFF), .done = 0};
  path.state = l1_begin(pb, &control, host, path.work);
  path.r = room((size_t)(pb->m * LAMBDAS) * sizeof(double), 0);
  return path;
}

static void end(struct path *path) {
  free(path->work);
  free(path->r);
}

/* Goes on until the end, or until something else than a solution comes. */
static enum status advance(struct path *path, const struct family *family, int i) {
  const ptrdiff_t m = family->made[i].pb.m;
  enum status status = COMPLETE;
  while (path->done < LAMBDAS && status == COMPLETE) {
    status = l1_solve(path->state, path->done, lambda_at(family, i, path->done), -INFINITY);
    if (status != COMPLETE)
      break;
    const struct l1_solution model = l1_solution(path->state);
    path->primal[path->done] = model.primal;
    memcpy(path->r + path->done * m, model.r, (size_t)m * sizeof(double));
    path->done++;
  }
  return status;
}

/* After a pass the products of all columns with the present residual are known. */
static void check_products(const struct problem *pb, const struct l1_state *state) {
  double *v = room((size_t)pb->m * sizeof(double), 0), length = 0;
  const double sum = l1_weigh_rows(pb, state->r, v);
  for (ptrdiff_t j = 0; j < pb->m; j++)
    length += v[j] * v[j];
  for (ptrdiff_t k = 0; k < pb->n; k++) {
    CHECK(l1_is_fresh(state, k) == (pb->usable[k] != 0));
    if (pb->usable[k])
      CHECK(fabs(state->corr[k] - l1_column_product(pb, k, v, sum)) <=
            1e-13 * sqrt(length * pb->squares[k]));
  }
  free(v);
}

static int advance_together(struct path *together, const struct family *family, struct host *host) {
  void *work = room(l1_share_work(&family->made[0].pb, PATHS, host->threads), 0xFF);
  int passes = 0;
  for (int waiting = PATHS; waiting > 0; passes++) {
    struct l1_state *states[PATHS];
    int which[PATHS];
    waiting = 0;
    for (int i = 0; i < PATHS; i++) {
      const enum status status = advance(together + i, family, i);
      CHECK(status == COMPLETE || status == WAITING);
      if (status == WAITING) {
        CHECK(l1_solution(together[i].state).size <= (int)family->made[i].pb.n);
        which[waiting] = i;
        states[waiting++] = together[i].state;
      }
    }
    if (waiting > 0)
      CHECK(l1_share_products(states, waiting, host, work) == COMPLETE);
    for (int l = 0; l < waiting; l++)
      check_products(&family->made[which[l]].pb, states[l]);
  }
  free(work);
  return passes - 1;
}

static void check_family(struct shape shape, enum loss loss, int threads) {
  struct family family = make_family(shape);
  struct polls polls = {0, -1};
  struct host host = {.threads = threads, .stop = poll, .self = &polls};
  struct path alone[PATHS], together[PATHS];
  for (int i = 0; i < PATHS; i++) {
    alone[i] = begin(&family, i, loss, 0, &host);
    together[i] = begin(&family, i, loss, 1, &host);
    CHECK(advance(alone + i, &family, i) == COMPLETE);
  }
  CHECK(advance_together(together, &family, &host) > 2);
  for (int i = 0; i < PATHS; i++) {
    const double null = l1_solution(alone[i].state).null_objective;
    for (int l = 0; l < LAMBDAS; l++)
      CHECK(fabs(alone[i].primal[l] - together[i].primal[l]) <= 2e-11 * null);
    for (ptrdiff_t p = 0; p < shape.m * LAMBDAS; p++) /* within the ball that the gap allows */
      CHECK(fabs(alone[i].r[p] - together[i].r[p]) <= 2e-5 * sqrt(null));
    end(alone + i);
    end(together + i);
  }
  discard_family(&family);
}

TEST(share_lasso) {
  for (int run = 0; run < 8; run++) {
    seed((unsigned long long)run + 1);
    check_family(
        (struct shape){
            .m = 64, .n = 300, .L = 1, .q = 1 + run % 3, .weights = run % 2, .sparse = run / 4},
        LEAST_SQUARES, 1 + run % 2);
  }
}

TEST(share_logistic) {
  for (int run = 0; run < 8; run++) {
    seed((unsigned long long)run + 1);
    check_family((struct shape){.m = 64,
                     .n = 300,
                     .L = 1,
                     .q = 1 + run % 3,
                     .weights = run % 2,
                     .sparse = run / 4,
                     .classes = 1},
        LOGISTIC, 1 + run % 2);
  }
}

/* A pass that is stopped says so. */
TEST(share_interruption) {
  seed(3);
  struct family family = make_family((struct shape){.m = 64, .n = 300, .L = 1, .q = 1});
  struct polls polls = {0, -1};
  struct host host = {.threads = 1, .stop = poll, .self = &polls};
  struct path paths[PATHS];
  struct l1_state *states[PATHS];
  for (int i = 0; i < PATHS; i++) {
    paths[i] = begin(&family, i, LEAST_SQUARES, 1, &host);
    CHECK(advance(paths + i, &family, i) == WAITING);
    states[i] = paths[i].state;
  }
  void *work = room(l1_share_work(&family.made[0].pb, PATHS, 1), 0xFF);
  polls = (struct polls){0, 1};
  CHECK(l1_share_products(states, PATHS, &host, work) == INTERRUPTED);
  free(work);
  for (int i = 0; i < PATHS; i++)
    end(paths + i);
  discard_family(&family);
}
