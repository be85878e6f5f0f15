/* Models with an l1 penalty, for one lambda after the other: the state, the safe test before each
   lambda, and the engine of the loss. */
#include "l1-state.h"
#include "simd.h"
#include <math.h>
#include <string.h>

static struct l1_state *l1_layout(const struct problem *pb, const struct l1_control *control,
    struct host *host, struct arena *arena) {
  const ptrdiff_t m = l1_length(pb), n = l1_coefficients(pb);
  const ptrdiff_t directions = l1_max_directions(pb, control), points = l1_max_points(control);
  const int safe = l1_is_safe(control->screen);
  double *norm = alloc_doubles(arena, n);
  struct l1_state *state = arena_alloc(arena, 1, sizeof(struct l1_state));
  const struct l1_state parts = {.pb = pb,
      .host = host,
      .control = *control,
      .feature = alloc_ints(arena, control->max_active),
      .beta = alloc_doubles(arena, control->max_active),
      .u = alloc_doubles(arena, pb->q * pb->L),
      .r = alloc_doubles(arena, m),
      .memo = alloc_doubles(arena, l1_memo(pb, control->loss)),
      .lambda = INFINITY,
      .total = 1,
      .excluded = alloc_ints(arena, n),
      .norm = norm,
      .corr = alloc_doubles(arena, n),
      .bound_base = alloc_doubles(arena, n),
      .reach = is_sparse(&pb->x) ? alloc_doubles(arena, n) : norm,
      .sum = is_sparse(&pb->x) ? alloc_doubles(arena, n) : norm,
      .pull = control->ridge > 0 ? alloc_doubles(arena, n) : NULL,
      .pass = alloc_ints(arena, n),
      .fresh = alloc_ints(arena, n),
      .old_r = alloc_doubles(arena, m),
      .v = alloc_doubles(arena, m),
      .v_sum = alloc_doubles(arena, pb->L),
      .list = alloc_ints(arena, n),
      .uncertain =
          arena_alloc(arena, n / l1_list_step(pb, control) + 1, sizeof(struct l1_uncertain)),
      .max_directions = (int)directions,
      .basis = alloc_doubles(arena, m * directions),
      .direction_corr = alloc_doubles(arena, n * directions),
      .along = alloc_doubles(arena, directions),
      .rest = alloc_doubles(arena, m),
      .f = alloc_doubles(arena, safe ? m : 0),
      .safe_bound = alloc_doubles(arena, safe ? n : 0),
      .null_corr = alloc_doubles(arena, safe ? n : 0),
      .points = alloc_doubles(arena, points * m),
      .point_bound = alloc_doubles(arena, points),
      .point_pull = alloc_doubles(arena, points),
      .point_unbalanced = alloc_doubles(arena, points),
      .safe_work = arena_alloc(arena, safe, safe_work(pb, control->loss, host->threads)),
      .engine = l1_loss_record(control->loss)->engine.layout(pb, control, host->threads, arena)};
  if (arena->base != NULL)
    *state = parts;
  return state;
}

size_t l1_work(const struct problem *pb, const struct l1_control *control, struct host *host) {
  struct arena arena = arena_over(NULL);
  l1_layout(pb, control, host, &arena);
  return arena.used;
}

/* Whether output l of r is a multiple of y there; corr := the products that this implies. */
static int l1_take_output(struct l1_state *state, ptrdiff_t l) {
  const struct problem *pb = state->pb;
  const double *y = pb->y + l * pb->m, *r = state->r + l * pb->m;
  const double yy = simd->dot(pb->m, y, y), rr = simd->dot(pb->m, r, r);
  if (!(yy > 0) || !(rr > 0))
    return 0;
  const double times = simd->dot(pb->m, y, r) / yy;
  double apart = 0;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    apart = fmax(apart, fabs(r[i] - times * y[i]));
  for (ptrdiff_t j = 0; j < pb->n; j++)
    state->corr[j * pb->L + l] = times * pb->products[j + l * pb->n];
  return apart <= L1_SAME_DIRECTION * sqrt(rr);
}

/* The products of all columns with r of the null model, where r is a multiple of y, whose products
   the problem has: for least squares, and for classes with an intercept alone as covariate. */
static void l1_take_products(struct l1_state *state) {
  const struct problem *pb = state->pb;
  const ptrdiff_t m = l1_length(pb), n = l1_coefficients(pb);
  const double length = sqrt(simd->dot(m, state->r, state->r));
  int same = l1_loss_of(state)->smooth;
  for (ptrdiff_t l = 0; l < pb->L && same; l++)
    same = l1_take_output(state, l);
  if (!same)
    return;
  memcpy(state->old_r, state->r, (size_t)m * sizeof(double));
  state->passes = 1;
  for (ptrdiff_t k = 0; k < n; k++)
    if (pb->usable[l1_column_of(pb, k)]) {
      state->bound_base[k] = fabs(state->corr[k]);
      state->pass[k] = state->passes;
      state->fresh[state->fresh_count++] = (int)k;
    }
  if (state->max_directions == 0)
    return;
  state->directions = 1;
  for (ptrdiff_t i = 0; i < m; i++)
    state->basis[i] = state->r[i] / length;
  for (ptrdiff_t k = 0; k < n; k++)
    state->direction_corr[k * state->max_directions] = state->corr[k] / length;
}

struct l1_state *l1_begin(
    const struct problem *pb, const struct l1_control *control, struct host *host, void *work) {
  struct arena arena = arena_over(work);
  struct l1_state *state = l1_layout(pb, control, host, &arena);
  l1_column_norms(pb, state->norm);
  l1_set_reach(state);
  for (ptrdiff_t k = 0; k < l1_coefficients(pb); k++) {
    state->corr[k] = 0;
    state->bound_base[k] = pb->usable[l1_column_of(pb, k)] ? INFINITY : -INFINITY;
    state->pass[k] = -1;
  }
  memset(state->old_r, 0, (size_t)l1_length(pb) * sizeof(double));
  l1_keep_all(state);
  l1_set_pull(state, 0, NULL, NULL);
  l1_loss_of(state)->engine.begin(state);
  l1_take_products(state);
  if (l1_is_safe(control->screen) && l1_correlate(state, 0, NULL) == COMPLETE) {
    memcpy(state->null_corr, state->corr, (size_t)l1_coefficients(pb) * sizeof(double));
    l1_keep_point(state, state->max_abs_corr);
  }
  return state;
}

enum status l1_start(struct l1_state *state, int size, const int *feature, const double *beta) {
  if (size > state->control.max_active)
    return WORKSPACE_FULL;
  state->size = size;
  memcpy(state->feature, feature, (size_t)size * sizeof(int));
  memcpy(state->beta, beta, (size_t)size * sizeof(double));
  return l1_loss_of(state)->engine.start(state);
}

struct l1_solution l1_solution(const struct l1_state *state) {
  return (struct l1_solution){.size = state->size,
      .feature = state->feature,
      .beta = state->beta,
      .u = state->u,
      .r = state->r,
      .primal = state->primal,
      .dual = state->dual > state->primal ? state->primal : state->dual, /* by rounding */
      .max_abs_corr = l1_max_abs_corr(state),
      .null_objective = state->null_objective,
      .rounds = state->rounds,
      .products = state->products,
      .kept = state->kept};
}

double l1_norms(
    const struct problem *pb, const struct l1_control *control, int size, const double *beta) {
  const int width = l1_width(pb, control);
  double norms = 0;
  for (int k = 0; k < size; k += width) {
    const double norm = l1_unit_norm(width, beta + k);
    norms += norm + control->ridge / 2 * norm * norm;
  }
  return norms;
}

enum status l1_solve(struct l1_state *state, int step, double lambda, double bound) {
  enum status status = COMPLETE;
  state->resumed = state->waiting;
  state->waiting = 0;
  if (!state->resumed) {
    state->done = step;
    state->total = state->control.lambdas;
    state->rounds = 0;
    state->products = 0;
    status = l1_screen(state, lambda, bound);
    state->lambda = lambda;
  }
  if (status == COMPLETE)
    status = l1_loss_of(state)->engine.solve(state, lambda);
  if (status == COMPLETE && state->control.screen == SAFE_TWO &&
      state->point_count < l1_max_points(&state->control))
    l1_keep_point(state, l1_max_abs_corr(state));
  return status;
}
