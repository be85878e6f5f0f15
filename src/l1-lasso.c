/* The lasso by an active set: with the signs of the columns in hand the solution is a linear
   system, and only which columns, with which signs, is searched for. Hands too large for a factor
   are left to descent.c. */
#include "l1-active.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* A column is dependent when others leave less than this of its square; it may be when less than
   the second is left. */
static const double dependent = 1e-20, doubtful = 1e-6;

/* A factor costs the square of its columns for each that comes or goes; a sweep over sparse ones,
   next to nothing. */
static int most_factored(const struct problem *pb) {
  return pb->x.p == NULL ? 2048 : 256;
}

/* The hand in its room; with that at NULL only the bytes are counted. */
static struct hand *lay_out(struct room *room, const struct problem *pb, int most) {
  const int factored = most < most_factored(pb) ? most : most_factored(pb);
  const ptrdiff_t m = pb->m, n = pb->n, k = most;
  const size_t d = sizeof(double);
  struct hand *hand = hand_out(room, 1, sizeof(struct hand));
  const struct hand parts = {.most = factored,
      .column = hand_out(room, k, sizeof(int)),
      .sign = hand_out(room, k, d),
      .beta = hand_out(room, k, d),
      .target = hand_out(room, k, d),
      .product = hand_out(room, k, d),
      .R = hand_out(room, (ptrdiff_t)factored * factored, d),
      .l = hand_out(room, k, d),
      .c = hand_out(room, k, d),
      .s = hand_out(room, k, d),
      .a = hand_out(room, m, d),
      .v = hand_out(room, m, d),
      .f = hand_out(room, m, d),
      .rest = hand_out(room, m, d),
      .held = hand_out(room, n, sizeof(int)),
      .waiting = hand_out(room, n, sizeof(int))};
  if (room->at != NULL) {
    *hand = parts;
    memset(hand->held, 0, (size_t)n * sizeof(int));
  }
  return hand;
}

size_t lasso_work(const struct problem *pb, const struct l1_control *control) {
  struct room room = {NULL, 0};
  lay_out(&room, pb, control->room);
  return room.used;
}

void make_residual(struct l1 *at, struct hand *hand) {
  const struct problem *pb = at->pb;
  const ptrdiff_t m = pb->m;
  predict_rows(pb, hand->count, hand->column, hand->beta, hand->f);
  for (ptrdiff_t i = 0; i < m; i++)
    at->r[i] = pb->y[i] - pb->root_w[i] * hand->f[i];
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * m;
    simd->shift(m, at->r, simd->dot(m, q, at->r), q);
  }
}

/* u := the covariates' coefficients, of the response less the model in hand. */
static void make_covariates(struct l1 *at, struct hand *hand) {
  const struct problem *pb = at->pb;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    hand->a[i] = pb->root_w[i] * (pb->response[i] - hand->f[i]);
  for (ptrdiff_t l = 0; l < pb->q; l++)
    at->u[l] = simd->dot(pb->m, pb->Q + l * pb->m, hand->a);
}

void lasso_begin(struct l1 *at) {
  const struct problem *pb = at->pb;
  struct room room = {at->engine, 0};
  struct hand *hand = lay_out(&room, pb, at->control.room);
  make_residual(at, hand);
  make_covariates(at, hand);
  at->null = at->primal = at->dual = simd->dot(pb->m, at->r, at->r) / 2;
}

/* ---- the factor ---- */

/* l := R'^-1 l */
static void solve_lower(const struct hand *hand, double *l) {
  for (int j = 0; j < hand->count; j++) {
    const double *column = hand->R + j * (ptrdiff_t)hand->most;
    l[j] = (l[j] - simd->dot(j, column, l)) / column[j];
  }
}

/* l := R^-1 l */
static void solve_upper(const struct hand *hand, double *l) {
  for (int j = hand->count - 1; j >= 0; j--) {
    const double *column = hand->R + j * (ptrdiff_t)hand->most;
    l[j] /= column[j];
    simd->shift(j, l, l[j], column);
  }
}

/* a := a less the model of the columns in hand with the coefficients h, in working coordinates. */
static void subtract_model(struct l1 *at, struct hand *hand, const double *h, double *a) {
  const struct problem *pb = at->pb;
  predict_rows(pb, hand->count, hand->column, h, hand->f);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    a[i] -= pb->root_w[i] * hand->f[i];
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * pb->m;
    simd->shift(pb->m, a, simd->dot(pb->m, q, a), q);
  }
}

/* l := R'^-1 A'a */
static void project(struct l1 *at, struct hand *hand, const double *a, double *l) {
  const double sum = weigh_rows(at->pb, a, hand->v);
  for (int i = 0; i < hand->count; i++)
    l[i] = column_product(at->pb, hand->column[i], hand->v, sum);
  solve_lower(hand, l);
}

/* hand->l and the pivot := the column that k adds to R; a pivot of 0 where those in hand leave
   nothing of it. Where they leave little, the little is made itself, not as a difference of
   squares, and what it still has along them is taken off once more. Leaves column k in hand->a. */
static double next_pivot(struct l1 *at, struct hand *hand, int k) {
  const ptrdiff_t m = at->pb->m;
  double *l = hand->l, *more = hand->c, *h = hand->s;
  working_column(at->pb, k, hand->a);
  project(at, hand, hand->a, l);
  const double own = simd->dot(m, hand->a, hand->a);
  double left = own - simd->dot(hand->count, l, l);
  if (left < doubtful * own) {
    memcpy(hand->rest, hand->a, (size_t)m * sizeof(double));
    memcpy(more, l, (size_t)hand->count * sizeof(double));
    for (int pass = 0; pass < 2; pass++) {
      if (pass > 0) {
        project(at, hand, hand->rest, more);
        simd->shift(hand->count, l, -1, more);
      }
      memcpy(h, more, (size_t)hand->count * sizeof(double));
      solve_upper(hand, h);
      subtract_model(at, hand, h, hand->rest);
    }
    left = simd->dot(m, hand->rest, hand->rest);
    hand->delicate = 1;
  }
  return left > dependent * own ? sqrt(left) : 0;
}

static void take(struct hand *hand, int k, double sign, double beta) {
  const int j = hand->count++;
  hand->column[j] = k;
  hand->sign[j] = sign;
  hand->beta[j] = beta;
  hand->held[k] = 1;
}

static void append(
    struct l1 *at, struct hand *hand, int k, double pivot, double sign, double beta) {
  double *column = hand->R + hand->count * (ptrdiff_t)hand->most;
  memcpy(column, hand->l, (size_t)hand->count * sizeof(double));
  column[hand->count] = pivot;
  hand->product[hand->count] = simd->dot(at->pb->m, hand->a, at->pb->y);
  take(hand, k, sign, beta);
}

/* Takes the p-th column out of the hand: later columns of R move up and are turned triangular. */
static void drop(struct hand *hand, int p) {
  const ptrdiff_t ld = hand->most;
  const int last = --hand->count;
  hand->held[hand->column[p]] = 0;
  for (int j = p; j < last; j++) {
    double *column = hand->R + j * ld;
    memcpy(column, column + ld, (size_t)(j + 2) * sizeof(double));
    for (int i = p; i < j; i++) {
      const double upper = column[i], lower = column[i + 1];
      column[i] = hand->c[i] * upper + hand->s[i] * lower;
      column[i + 1] = hand->c[i] * lower - hand->s[i] * upper;
    }
    const double length = hypot(column[j], column[j + 1]);
    hand->c[j] = column[j] / length;
    hand->s[j] = column[j + 1] / length;
    column[j] = length;
    hand->column[j] = hand->column[j + 1];
    hand->sign[j] = hand->sign[j + 1];
    hand->beta[j] = hand->beta[j + 1];
    hand->target[j] = hand->target[j + 1];
    hand->product[j] = hand->product[j + 1];
  }
}

/* The same where there may be no factor. */
static void discard(struct hand *hand, int p) {
  if (!hand->descends) {
    drop(hand, p);
    return;
  }
  hand->held[hand->column[p]] = 0;
  const int last = --hand->count;
  hand->column[p] = hand->column[last];
  hand->sign[p] = hand->sign[last];
  hand->beta[p] = hand->beta[last];
}

/* ---- the search ---- */

/* A column in the span of those in hand takes the place of one: along the direction that leaves the
   model's values alone, up to where the first coefficient is zero, the penalty falls. It does not
   when columns that came just before are still at zero: then this one has to wait. */
static void exchange(struct l1 *at, struct hand *hand, int k, double sign) {
  solve_upper(hand, hand->l);
  int first = -1;
  double step = INFINITY, gain = -1;
  for (int i = 0; i < hand->count; i++) {
    const double fall = sign * hand->l[i] * hand->sign[i];
    gain += fall;
    if (fall > 0 && fabs(hand->beta[i]) < step * fall) {
      step = fabs(hand->beta[i]) / fall;
      first = i;
    }
  }
  if (gain <= 0 || step == 0)
    return;
  for (int i = 0; i < hand->count; i++)
    hand->beta[i] -= step * sign * hand->l[i];
  drop(hand, first);
  const double pivot = next_pivot(at, hand, k);
  if (pivot > 0)
    append(at, hand, k, pivot, sign, step * sign);
}

/* hand->target := the coefficients for lambda with the signs in hand. Where the hand is delicate
   they come from what the present ones miss, in which no digits are lost: a step of iterative
   refinement. */
static void aim(struct l1 *at, struct hand *hand, double lambda) {
  double *target = hand->target;
  if (hand->delicate)
    make_residual(at, hand);
  const double sum = hand->delicate ? weigh_rows(at->pb, at->r, hand->v) : 0;
  for (int i = 0; i < hand->count; i++)
    target[i] = (hand->delicate ? column_product(at->pb, hand->column[i], hand->v, sum)
                                : hand->product[i]) -
                lambda * hand->sign[i];
  solve_lower(hand, target);
  solve_upper(hand, target);
  if (hand->delicate)
    simd->shift(hand->count, target, -1, hand->beta);
}

/* The coefficients for lambda with the signs in hand; columns whose coefficient would pass through
   zero on the way leave. */
static void settle(struct l1 *at, struct hand *hand, double lambda) {
  for (;;) {
    const double *target = hand->target;
    aim(at, hand, lambda);
    double step = 1;
    int first = -1;
    for (int i = 0; i < hand->count; i++) {
      const double reach = fabs(hand->beta[i]), beyond = -hand->sign[i] * target[i];
      if (beyond >= 0 && reach <= step * (reach + beyond)) {
        step = reach + beyond > 0 ? reach / (reach + beyond) : 0;
        first = i;
      }
    }
    if (first < 0) {
      memcpy(hand->beta, target, (size_t)hand->count * sizeof(double));
      return;
    }
    for (int i = 0; i < hand->count; i++)
      hand->beta[i] += step * (target[i] - hand->beta[i]);
    drop(hand, first);
  }
}

/* hand->waiting := the `most` columns that break the optimality conditions worst. Returns how many.
 */
static int find_waiting(const struct l1 *at, struct hand *hand, double lambda, int most) {
  const double *c = at->c;
  int *waiting = hand->waiting, count = 0;
  for (ptrdiff_t k = 0; k < at->pb->n; k++) {
    if (at->out[k] || hand->held[k] || !is_fresh(at, k) || fabs(c[k]) <= lambda * (1 + 1e-9))
      continue;
    if (count == most && fabs(c[waiting[most - 1]]) >= fabs(c[k]))
      continue;
    int p = count < most ? count++ : most - 1;
    for (; p > 0 && fabs(c[waiting[p - 1]]) < fabs(c[k]); p--)
      waiting[p] = waiting[p - 1];
    waiting[p] = (int)k;
  }
  return count;
}

static enum status take_in(struct l1 *at, struct hand *hand, double lambda, int count) {
  const double length = sqrt(simd->dot(at->pb->m, at->r, at->r));
  for (int i = 0; i < count; i++) {
    const int k = hand->waiting[i];
    const double sign = at->c[k] > 0 ? 1 : -1;
    if (hand->count == at->control.room)
      return NO_ROOM;
    hand->descends = hand->descends || hand->count == hand->most;
    const double pivot = hand->descends ? 0 : next_pivot(at, hand, k);
    if (hand->descends)
      take(hand, k, sign, 0);
    else if (pivot > 0)
      append(at, hand, k, pivot, sign, 0);
    else if (fabs(at->c[k]) > lambda + 1e-9 * at->norm[k] * length)
      exchange(at, hand, k, sign);
    else
      hand->held[k] = -1; /* it is one of those in hand, to rounding */
  }
  return COMPLETE;
}

/* Objective and dual value of the model in hand. */
static void measure(struct l1 *at, const struct hand *hand, double lambda) {
  const ptrdiff_t m = at->pb->m;
  const double rr = simd->dot(m, at->r, at->r), yr = simd->dot(m, at->pb->y, at->r);
  const double most = at->most > lambda ? lambda / at->most : 1;
  const double s = rr > 0 ? fmax(-most, fmin(yr / rr, most)) : 0;
  double l1 = 0;
  for (int i = 0; i < hand->count; i++)
    l1 += fabs(hand->beta[i]);
  at->primal = rr / 2 + lambda * l1;
  at->dual = s * (yr - s * rr / 2);
}

enum status lasso_start(struct l1 *at) {
  struct hand *hand = at->engine;
  hand->descends = at->size > hand->most;
  for (int i = 0; i < at->size; i++) {
    const int k = at->feature[i];
    const double sign = at->beta[i] > 0 ? 1 : -1,
                 pivot = hand->descends ? 0 : next_pivot(at, hand, k);
    if (hand->descends)
      take(hand, k, sign, at->beta[i]);
    else if (pivot > 0)
      append(at, hand, k, pivot, sign, at->beta[i]);
  }
  /* the residual and the objective that stand are those of the model without columns */
  at->size = 0;
  return COMPLETE;
}

/* Leaves the columns with a coefficient in the hand, and gives them to the state. */
static void hand_over(struct l1 *at, struct hand *hand) {
  for (int i = 0; hand->descends && i < hand->count; i++)
    if (hand->beta[i] == 0)
      discard(hand, i--);
  at->size = 0;
  for (int i = 0; i < hand->count; i++)
    if (hand->beta[i] != 0) {
      at->feature[at->size] = hand->column[i];
      at->beta[at->size++] = hand->beta[i];
    }
  make_covariates(at, hand);
}

/* The solution for the columns in hand. */
static enum status solve_hand(struct l1 *at, struct hand *hand, double lambda, double enough) {
  if (hand->descends)
    return descend(at, hand, lambda, enough);
  settle(at, hand, lambda);
  return COMPLETE;
}

/* How often a solution that no column contradicts is refined when its gap is still too large, and
   how many rounds may lower the objective by nothing but rounding, and may there be at all. */
enum { REFINEMENTS = 10, PATIENCE = 20, ROUNDS = 1000 };

enum status lasso_solve(struct l1 *at, double lambda) {
  struct hand *hand = at->engine;
  const double allowed = at->control.tolerance * at->null;
  double enough = allowed, lowest = INFINITY;
  for (ptrdiff_t k = 0; k < at->pb->n; k++)
    hand->held[k] = hand->held[k] > 0;
  for (int i = hand->count - 1; i >= 0; i--)
    if (at->out[hand->column[i]])
      discard(hand, i);
  if (solve_hand(at, hand, lambda, enough) != COMPLETE)
    return INTERRUPTED;
  for (int refined = 0, idle = 0, round = 0;; round++) {
    make_residual(at, hand);
    if (correlate(at, lambda) != COMPLETE)
      return INTERRUPTED;
    measure(at, hand, lambda);
    if (screen_again(at, lambda, hand->f) != COMPLETE)
      return INTERRUPTED;
    const double gap = at->primal - at->dual;
    idle = at->primal < lowest - 1e-15 * at->null ? 0 : idle + 1;
    lowest = fmin(lowest, at->primal);
    const int count =
        find_waiting(at, hand, lambda, hand->descends ? at->control.room : 8 + hand->count / 4);
    if (count > 0 && idle < PATIENCE && round < ROUNDS) {
      if (take_in(at, hand, lambda, count) != COMPLETE)
        return NO_ROOM;
    } else if (gap <= allowed || idle >= PATIENCE || round >= ROUNDS || refined++ == REFINEMENTS) {
      hand_over(at, hand);
      return COMPLETE;
    } else if (hand->descends) {
      enough /= 30;
    } else {
      hand->delicate = 1;
    }
    if (solve_hand(at, hand, lambda, enough) != COMPLETE)
      return INTERRUPTED;
  }
}
