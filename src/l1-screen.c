/* The safe tests of l1_path(): bounds of every column's product with the optimal dual point, from a
   lower bound of the optimum or from the gap of the present point, and what they exclude. */
#include "l1-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

int l1_is_safe(enum screen screen) {
  return screen == SAFE_ONE || screen == SAFE_TWO || screen == GAP_SAFE;
}

ptrdiff_t l1_max_points(const struct l1_control *control) {
  return control->screen == SAFE_TWO ? control->lambdas + 1 : l1_is_safe(control->screen);
}

void l1_keep_point(struct l1_state *state, double max_abs_corr) {
  const ptrdiff_t m = state->pb->m;
  memcpy(state->points + state->point_count * m, state->r, (size_t)m * sizeof(double));
  state->point_pull[state->point_count] = state->pull_square;
  state->point_unbalanced[state->point_count] = state->unbalanced;
  state->point_bound[state->point_count++] = max_abs_corr;
}

/* Excludes the columns whose bound is below lambda by more than rounding. */
static void l1_exclude(struct l1_state *state, double lambda) {
  state->kept = 0;
  for (ptrdiff_t k = 0; k < state->pb->n; k++) {
    state->excluded[k] =
        state->excluded[k] || lambda > state->safe_bound[k] * (1 + L1_BOUND_MARGIN);
    state->kept += !state->excluded[k];
  }
}

/* safe_bound (n) := |s c_k| + radius |a_k|, no product with a dual point in the ball about s r,
   where c (n) are the products with r. */
static void l1_bound_by_ball(struct l1_state *state, double s, const double *c, double radius) {
  for (ptrdiff_t k = 0; k < state->pb->n; k++)
    state->safe_bound[k] = fabs(s * c[k]) + radius * state->norm[k];
}

/* ---- from a lower bound of the optimum ---- */

/* The largest of `bound` and the lower bounds that the kept dual points give at lambda. */
static double l1_lower_bound(const struct l1_state *state, double lambda, double bound) {
  const struct problem *pb = state->pb;
  for (ptrdiff_t k = 0; k < state->point_count; k++) {
    const double value =
        l1_dual_bound(pb, state->control.loss, state->points + k * pb->m, state->point_bound[k],
            l1_tail(state, state->point_pull[k], state->point_unbalanced[k], lambda), lambda);
    bound = fmax(bound, value - L1_VALUE_NOISE * state->null_objective);
  }
  return bound;
}

/* SAFE, with a lower bound gamma of the optimum. For squares the optimal dual point is in the ball
   about the null model's residual, whose products with all columns are known. */
static enum status l1_screen_bound(struct l1_state *state, double lambda, double gamma) {
  const enum loss loss = state->control.loss;
  if (loss == LEAST_SQUARES)
    l1_bound_by_ball(
        state, 1, state->null_corr, l1_dual_radius(loss, fmax(0, state->null_objective - gamma)));
  else if (safe_bounds(state->pb, loss, gamma, lambda, state->excluded, state->host,
               state->safe_work, state->safe_bound) != COMPLETE)
    return INTERRUPTED;
  l1_exclude(state, lambda);
  return COMPLETE;
}

/* ---- from the gap of the present point ---- */

/* The scale that makes r a feasible dual point at some lambda, and the duality gap it has there,
   with a margin for rounding. */
struct l1_gap {
  double scale, gap;
};

static struct l1_gap l1_gap_at(const struct l1_state *state, double lambda) {
  const struct problem *pb = state->pb;
  const double max_abs_corr = state->max_abs_corr;
  const double tail = l1_tail(state, state->pull_square, state->unbalanced, lambda);
  double norms = 0, scale = max_abs_corr > lambda ? lambda / max_abs_corr : 1;
  for (int k = 0; k < state->size; k++)
    norms += fabs(state->beta[k]) + state->control.ridge / 2 * state->beta[k] * state->beta[k];
  const double change = state->size > 0 ? (lambda - state->lambda) * norms : 0;
  if (state->control.loss == LEAST_SQUARES) {
    const double best =
        simd->dot(pb->m, pb->y, state->r) / (simd->dot(pb->m, state->r, state->r) + tail);
    const double widest = max_abs_corr > 0 ? lambda / max_abs_corr : INFINITY;
    scale = fmax(-widest, fmin(best, widest));
  }
  const double gap = state->primal + change + scale * scale * tail / 2 -
                     l1_dual_value(pb, state->control.loss, state->r, scale);
  return (struct l1_gap){scale, fmax(gap, 0) + L1_VALUE_NOISE * state->null_objective};
}

enum status l1_screen_gap(struct l1_state *state, double lambda, const double *f) {
  const enum loss loss = state->control.loss;
  if (state->control.screen != GAP_SAFE)
    return COMPLETE;
  const struct l1_gap at = l1_gap_at(state, lambda);
  if (loss != HINGE)
    l1_bound_by_ball(state, at.scale, state->corr, l1_dual_radius(loss, at.gap));
  else if (safe_hinge_gap_bounds(state->pb, f, at.gap, state->excluded, state->host,
               state->safe_work, state->safe_bound) != COMPLETE)
    return INTERRUPTED;
  l1_exclude(state, lambda);
  return COMPLETE;
}

/* ---- every lambda ---- */

void l1_keep_all(struct l1_state *state) {
  state->kept = 0;
  for (ptrdiff_t k = 0; k < state->pb->n; k++) {
    state->excluded[k] = !state->pb->usable[k];
    state->kept += !state->excluded[k];
  }
}

enum status l1_screen(struct l1_state *state, double lambda, double bound) {
  if (l1_is_safe(state->control.screen))
    l1_keep_all(state);
  switch (state->control.screen) {
  case LAZY:
  case NO_SCREEN:
    return COMPLETE;
  case SAFE_ONE:
  case SAFE_TWO:
    return l1_screen_bound(state, lambda, l1_lower_bound(state, lambda, bound));
  case GAP_SAFE:
    if (l1_correlate(state, lambda, NULL) != COMPLETE)
      return INTERRUPTED;
    if (state->control.loss == HINGE)
      l1_predict_model(state->pb, state->size, state->feature, state->beta, state->u, state->f);
    return l1_screen_gap(state, lambda, state->f);
  }
  return COMPLETE;
}

/* No excluded column has a product above lambda with the optimal dual point, from which r is no
   farther than the gap says. With hinge there is no such ball; only the dual value counts there,
   which is a lower bound even without the excluded columns. */
double l1_max_abs_corr(const struct l1_state *state) {
  const enum loss loss = state->control.loss;
  if (!l1_is_safe(state->control.screen))
    return state->max_abs_corr;
  double longest = 0;
  for (ptrdiff_t k = 0; k < state->pb->n; k++)
    if (state->excluded[k] && state->pb->usable[k])
      longest = fmax(longest, state->norm[k]);
  if (longest == 0)
    return state->max_abs_corr;
  const double radius =
      loss == HINGE ? 0 : l1_dual_radius(loss, l1_gap_at(state, state->lambda).gap);
  return fmax(state->max_abs_corr, state->lambda) + radius * longest;
}
