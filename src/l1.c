/* Models with an l1 penalty, for one lambda after the other: the state, the safe tests between two
   lambdas, and the loss's own engine. */
#include "l1-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

struct engine {
  size_t (*work)(const struct problem *pb, const struct l1_control *control);
  void (*begin)(struct l1 *at);
  enum status (*start)(struct l1 *at);
  enum status (*solve)(struct l1 *at, double lambda);
};

static const struct engine engines[] = {
    [LEAST_SQUARES] = {lasso_work, lasso_begin, lasso_start, lasso_solve},
    [LOGISTIC] = {logistic_work, logistic_begin, logistic_start, logistic_solve},
    [HINGE] = {hinge_work, hinge_begin, hinge_start, hinge_solve},
};

/* A column is thrown out when lambda is above its bound by more than rounding. */
static int is_above(double lambda, double bound) {
  return lambda > bound * (1 + 1e-10);
}

/* ---- the state ---- */

static int is_safe(enum screen screen) {
  return screen == SAFE_ONE || screen == SAFE_TWO || screen == GAP_SAFE;
}

/* How many dual points are kept: the null one, and with SAFE_TWO one for each lambda. */
static ptrdiff_t points_kept(const struct l1_control *control) {
  return control->screen == SAFE_TWO ? control->lambdas + 1 : is_safe(control->screen);
}

static void lay_out(struct l1 *at, struct room *room) {
  const struct problem *pb = at->pb;
  const ptrdiff_t m = pb->m, n = pb->n, columns = at->control.room;
  const ptrdiff_t points = points_kept(&at->control);
  const int safe = is_safe(at->control.screen);
  at->feature = hand_out(room, columns, sizeof(int));
  at->beta = hand_out(room, columns, sizeof(double));
  at->u = hand_out(room, pb->q, sizeof(double));
  at->r = hand_out(room, m, sizeof(double));
  at->out = hand_out(room, n, sizeof(int));
  at->norm = hand_out(room, n, sizeof(double));
  at->c = hand_out(room, n, sizeof(double));
  at->most_directions = directions_kept(pb, &at->control);
  const ptrdiff_t directions = at->most_directions;
  at->base = hand_out(room, n, sizeof(double));
  at->pass = hand_out(room, n, sizeof(int));
  at->basis = hand_out(room, m * directions, sizeof(double));
  at->known = hand_out(room, n * directions, sizeof(double));
  at->share = hand_out(room, directions, sizeof(double));
  at->rest = hand_out(room, m, sizeof(double));
  at->seen = hand_out(room, m, sizeof(double));
  at->v = hand_out(room, m, sizeof(double));
  at->list = hand_out(room, n + 1, sizeof(int));
  at->f = hand_out(room, safe ? m : 0, sizeof(double));
  at->bound = hand_out(room, safe ? n : 0, sizeof(double));
  at->null_c = hand_out(room, safe ? n : 0, sizeof(double));
  at->points = hand_out(room, points * m, sizeof(double));
  at->point_most = hand_out(room, points, sizeof(double));
  at->safe_room = hand_out(room, safe, safe_work(pb, at->control.loss, at->host->threads));
  at->engine = hand_out(room, 1, engines[at->control.loss].work(pb, &at->control));
}

size_t l1_work(const struct problem *pb, const struct l1_control *control, struct host *host) {
  struct l1 at = {.pb = pb, .control = *control, .host = host};
  struct room room = {NULL, sizeof(struct l1) + 16};
  lay_out(&at, &room);
  return room.used;
}

/* Remembers the dual point that stands, and the largest product any column can have with it. */
static void keep_point(struct l1 *at, double most) {
  memcpy(at->points + at->count * at->pb->m, at->r, (size_t)at->pb->m * sizeof(double));
  at->point_most[at->count++] = most;
}

struct l1 *l1_begin(
    const struct problem *pb, const struct l1_control *control, struct host *host, void *work) {
  struct l1 *at = work;
  *at = (struct l1){.pb = pb, .control = *control, .host = host, .lambda = INFINITY, .total = 1};
  struct room room = {work, (sizeof(struct l1) + 15) / 16 * 16};
  lay_out(at, &room);
  column_norms(pb, at->norm);
  for (ptrdiff_t k = 0; k < pb->n; k++) {
    at->c[k] = 0;
    at->base[k] = pb->usable[k] ? INFINITY : -INFINITY;
    at->pass[k] = -1;
    at->out[k] = !pb->usable[k];
  }
  memset(at->seen, 0, (size_t)pb->m * sizeof(double));
  engines[control->loss].begin(at);
  if (is_safe(control->screen) && correlate(at, 0) == COMPLETE) {
    memcpy(at->null_c, at->c, (size_t)pb->n * sizeof(double));
    keep_point(at, at->most);
  }
  return at;
}

enum status l1_start(struct l1 *at, int size, const int *feature, const double *beta) {
  if (size > at->control.room)
    return NO_ROOM;
  at->size = size;
  memcpy(at->feature, feature, (size_t)size * sizeof(int));
  memcpy(at->beta, beta, (size_t)size * sizeof(double));
  return engines[at->control.loss].start(at);
}

/* ---- dual values ---- */

/* -x log x, 0 at 0 */
static double entropy(double x) {
  return x > 0 ? -x * log(x) : 0;
}

double dual_at(const struct problem *pb, enum loss loss, const double *r, double s) {
  double value = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const double w = pb->root_w[i] * pb->root_w[i];
    const double alpha = s * pb->response[i] * r[i] * pb->root_w[i];
    switch (loss) {
    case LEAST_SQUARES:
      value += s * r[i] * (pb->y[i] - s * r[i] / 2);
      break;
    case LOGISTIC:
      value += w * (entropy(alpha / w) + entropy(1 - alpha / w));
      break;
    case HINGE:
      value += alpha;
      break;
    }
  }
  return value;
}

/* ---- safe tests ---- */

static double best_bound(const struct l1 *at, double lambda, double bound) {
  const double margin = 1e-12 * at->null;
  for (ptrdiff_t k = 0; k < at->count; k++) {
    const double own =
        dual_bound(at->pb, at->control.loss, at->points + k * at->pb->m, at->point_most[k], lambda);
    bound = fmax(bound, own - margin);
  }
  return bound;
}

/* SAFE with a lower bound gamma of the optimum. Of squares all products are there already. */
static enum status screen_by_bound(struct l1 *at, double lambda, double gamma) {
  const struct problem *pb = at->pb;
  if (at->control.loss == LEAST_SQUARES) {
    const double radius = sqrt(fmax(0, 2 * (at->null - gamma)));
    for (ptrdiff_t k = 0; k < pb->n; k++)
      at->bound[k] = fabs(at->null_c[k]) + radius * at->norm[k];
  } else if (safe_bounds(pb, at->control.loss, gamma, lambda, at->out, at->host, at->safe_room,
                 at->bound) != COMPLETE) {
    return INTERRUPTED;
  }
  for (ptrdiff_t k = 0; k < pb->n; k++)
    at->out[k] = at->out[k] || is_above(lambda, at->bound[k]);
  return COMPLETE;
}

/* No optimal dual point is farther from a feasible one with that gap. */
static double sphere(enum loss loss, double gap) {
  return sqrt(loss == LOGISTIC ? gap / 2 : 2 * gap);
}

/* The values of the model in the state, in the user's units. */
static void predict_model(const struct l1 *at, double *f) {
  const struct problem *pb = at->pb;
  predict_rows(pb, at->size, at->feature, at->beta, f);
  for (ptrdiff_t l = 0; l < pb->q; l++)
    for (ptrdiff_t i = 0; i < pb->m; i++)
      f[i] += at->u[l] * pb->Q[i + l * pb->m] / pb->root_w[i];
}

/* The point in the state seen from another lambda: its dual point scaled by s, its gap there. */
struct seen_from {
  double s, gap;
};

static struct seen_from see_from(const struct l1 *at, double lambda) {
  const struct problem *pb = at->pb;
  double l1 = 0, s = at->most > lambda ? lambda / at->most : 1;
  for (int k = 0; k < at->size; k++)
    l1 += fabs(at->beta[k]);
  const double change = at->size > 0 ? (lambda - at->lambda) * l1 : 0;
  if (at->control.loss == LEAST_SQUARES) {
    const double best = simd->dot(pb->m, pb->y, at->r) / simd->dot(pb->m, at->r, at->r);
    const double most = at->most > 0 ? lambda / at->most : INFINITY;
    s = fmax(-most, fmin(best, most));
  }
  const double gap = at->primal + change - dual_at(pb, at->control.loss, at->r, s);
  return (struct seen_from){s, fmax(gap, 0) + 1e-12 * at->null};
}

enum status screen_again(struct l1 *at, double lambda, const double *f) {
  const struct problem *pb = at->pb;
  if (at->control.screen != GAP_SAFE)
    return COMPLETE;
  const struct seen_from from = see_from(at, lambda);
  if (at->control.loss == HINGE) {
    if (hinge_gap_bounds(pb, f, from.gap, at->out, at->host, at->safe_room, at->bound) != COMPLETE)
      return INTERRUPTED;
  } else {
    const double radius = sphere(at->control.loss, from.gap);
    for (ptrdiff_t k = 0; k < pb->n; k++)
      at->bound[k] = fabs(from.s * at->c[k]) + radius * at->norm[k];
  }
  for (ptrdiff_t k = 0; k < pb->n; k++)
    at->out[k] = at->out[k] || is_above(lambda, at->bound[k]);
  return COMPLETE;
}

/* Before lambda is solved for: what can be told from what is known. */
static enum status screen_columns(struct l1 *at, double lambda, double bound) {
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    at->out[k] = !at->pb->usable[k];
  switch (at->control.screen) {
  case LAZY:
  case NO_SCREEN:
    return COMPLETE;
  case SAFE_ONE:
  case SAFE_TWO:
    return screen_by_bound(at, lambda, best_bound(at, lambda, bound));
  case GAP_SAFE:
    if (correlate(at, lambda) != COMPLETE)
      return INTERRUPTED;
    if (at->control.loss == HINGE)
      predict_model(at, at->f);
    return screen_again(at, lambda, at->f);
  }
  return COMPLETE;
}

/* The columns that were out have no product above lambda with the optimal dual point, and this one
   is as near to it as the gap says. Of hinge only the value counts, which is a lower bound even
   when those columns are left aside. */
static double most_of_all(const struct l1 *at) {
  double longest = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    if (at->out[k] && at->pb->usable[k])
      longest = fmax(longest, at->norm[k]);
  if (longest == 0)
    return at->most;
  const double radius =
      at->control.loss == HINGE ? 0 : sphere(at->control.loss, see_from(at, at->lambda).gap);
  return fmax(at->most, at->lambda) + radius * longest;
}

struct l1_solution l1_solution(const struct l1 *at) {
  int kept = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    kept += !at->out[k];
  return (struct l1_solution){.size = at->size,
      .feature = at->feature,
      .beta = at->beta,
      .u = at->u,
      .r = at->r,
      .primal = at->primal,
      .dual = at->dual,
      .most = most_of_all(at),
      .null = at->null,
      .rounds = at->rounds,
      .products = at->products,
      .kept = kept};
}

enum status l1_solve(struct l1 *at, int step, double lambda, double bound) {
  at->done = step;
  at->total = at->control.lambdas;
  at->rounds = 0;
  at->products = 0;
  enum status status = screen_columns(at, lambda, bound);
  at->lambda = lambda;
  if (status == COMPLETE)
    status = engines[at->control.loss].solve(at, lambda);
  if (status != COMPLETE)
    return status;
  if (at->control.screen == SAFE_TWO && at->count < points_kept(&at->control))
    keep_point(at, most_of_all(at));
  return COMPLETE;
}
