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
  const ptrdiff_t m = l1_length(state->pb);
  memcpy(state->points + state->point_count * m, state->r, (size_t)m * sizeof(double));
  state->point_pull[state->point_count] = state->pull_square;
  state->point_unbalanced[state->point_count] = state->unbalanced;
  state->point_bound[state->point_count++] = max_abs_corr;
}

static void l1_count_kept(struct l1_state *state) {
  state->kept = 0;
  for (ptrdiff_t j = 0; j < state->pb->n; j++) {
    int kept = 0;
    for (ptrdiff_t l = 0; l < state->pb->L; l++)
      kept |= !state->excluded[j * state->pb->L + l];
    state->kept += kept;
  }
}

/* Excludes the coefficients whose bound is below lambda by more than rounding. */
static void l1_exclude(struct l1_state *state, double lambda) {
  for (ptrdiff_t k = 0; k < l1_coefficients(state->pb); k++)
    state->excluded[k] =
        state->excluded[k] || lambda > state->safe_bound[k] * (1 + L1_BOUND_MARGIN);
  l1_count_kept(state);
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

enum status l1_screen_null_ball(struct l1_state *state, double lambda, double gamma) {
  (void)lambda;
  const double radius = l1_dual_radius(l1_loss_of(state), fmax(0, state->null_objective - gamma));
  l1_bound_by_ball(state, 1, state->null_corr, radius);
  return COMPLETE;
}

enum status l1_screen_bounds(struct l1_state *state, double lambda, double gamma) {
  return safe_bounds(state->pb, state->control.loss, gamma, lambda, state->excluded, state->host,
      state->safe_work, state->safe_bound);
}

/* ---- from the gap of the present point ---- */

static struct l1_gap l1_gap_at(const struct l1_state *state, double lambda) {
  const struct problem *pb = state->pb;
  const struct l1_loss *loss = l1_loss_of(state);
  const double max_abs_corr = state->max_abs_corr;
  const double tail = l1_tail(state, state->pull_square, state->unbalanced, lambda);
  const double widest = max_abs_corr > 0 ? lambda / max_abs_corr : INFINITY;
  const double norms = l1_norms(pb, &state->control, state->size, state->beta);
  const double change = state->size > 0 ? (lambda - state->lambda) * norms : 0;
  const double scale =
      loss->scale != NULL ? loss->scale(pb, state->r, tail, widest) : fmin(1, widest);
  const double gap = state->primal + change + scale * scale * tail / 2 -
                     loss->value(pb, state->memo, state->r, scale);
  return (struct l1_gap){scale, fmax(gap, 0) + L1_VALUE_NOISE * state->null_objective};
}

enum status l1_screen_ball(struct l1_state *state, struct l1_gap at, const double *f) {
  (void)f;
  l1_bound_by_ball(state, at.scale, state->corr, l1_dual_radius(l1_loss_of(state), at.gap));
  return COMPLETE;
}

enum status l1_screen_local(struct l1_state *state, struct l1_gap at, const double *f) {
  (void)f;
  const struct problem *pb = state->pb;
  for (ptrdiff_t i = 0; i < l1_length(pb); i++)
    state->f[i] = case_weight(pb, i % pb->m) * l1_loss_of(state)->curvature(pb, state->r, i);
  return safe_local_bounds(pb, state->control.loss, state->control.grouped, state->corr, state->f,
      at.gap, state->excluded, state->host, state->safe_work, state->safe_bound);
}

enum status l1_screen_knapsack(struct l1_state *state, struct l1_gap at, const double *f) {
  if (f == NULL)
    l1_predict_model(state->pb, state->size, state->feature, state->beta, state->u, state->f);
  return safe_hinge_gap_bounds(state->pb, f == NULL ? state->f : f, at.gap, state->excluded,
      state->host, state->safe_work, state->safe_bound);
}

enum status l1_screen_gap(struct l1_state *state, double lambda, const double *f) {
  if (state->control.screen != GAP_SAFE)
    return COMPLETE;
  if (l1_loss_of(state)->screen_gap(state, l1_gap_at(state, lambda), f) != COMPLETE)
    return INTERRUPTED;
  l1_exclude(state, lambda);
  return COMPLETE;
}

/* ---- every lambda ---- */

void l1_keep_all(struct l1_state *state) {
  for (ptrdiff_t k = 0; k < l1_coefficients(state->pb); k++)
    state->excluded[k] = !state->pb->usable[l1_column_of(state->pb, k)];
  l1_count_kept(state);
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
    if (l1_loss_of(state)->screen_value(state, lambda, l1_lower_bound(state, lambda, bound)) !=
        COMPLETE)
      return INTERRUPTED;
    l1_exclude(state, lambda);
    return COMPLETE;
  case GAP_SAFE:
    if (l1_correlate(state, lambda, NULL) != COMPLETE)
      return INTERRUPTED;
    return l1_screen_gap(state, lambda, NULL);
  }
  return COMPLETE;
}

/* How far the product of any column of length 1 with r may be from its product with an optimal dual
   point, for a gap. Without a ball it is what l1_screen_local() says for the largest curvature, in
   norms over the outputs sqrt(2) times that. */
static double l1_distance(const struct l1_state *state, double gap) {
  const struct problem *pb = state->pb;
  const struct l1_loss *loss = l1_loss_of(state);
  double steepest = 0, lightest = INFINITY;
  if (loss->curvature == NULL)
    return l1_dual_radius(loss, gap);
  for (ptrdiff_t i = 0; i < l1_length(pb); i++)
    if (pb->root_w[i % pb->m] > 0) {
      steepest = fmax(steepest, loss->curvature(pb, state->r, i));
      lightest = fmin(lightest, pb->root_w[i % pb->m]);
    }
  const double distance =
      sqrt(2 * gap * steepest) + (loss->relative ? sqrt(2) : 1) * gap / (3 * lightest);
  return state->control.grouped ? sqrt(2) * distance : distance;
}

/* No excluded column has a product above lambda with the optimal dual point, from which r is no
   farther than the gap says. With hinge there is no such ball; only the dual value counts there,
   which is a lower bound even without the excluded columns. */
double l1_max_abs_corr(const struct l1_state *state) {
  if (!l1_is_safe(state->control.screen))
    return state->max_abs_corr;
  double longest = 0;
  for (ptrdiff_t k = 0; k < l1_coefficients(state->pb); k++)
    if (state->excluded[k] && state->pb->usable[l1_column_of(state->pb, k)])
      longest = fmax(longest, state->norm[k]);
  if (longest == 0)
    return state->max_abs_corr;
  const double radius = l1_distance(state, l1_gap_at(state, state->lambda).gap);
  return fmax(state->max_abs_corr, state->lambda) + radius * longest;
}
