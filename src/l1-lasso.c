/* The lasso by an active set: for given signs of the active columns the solution is a linear
   system, so that only which columns are active, and with which signs, is searched for. Sets too
   large for a factor are solved by l1-descent.c. */
#include "column.h"
#include "l1-active.h"
#include "products.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* A factor costs the square of its columns for each that comes or goes, and with a ridge, which
   changes with lambda, the cube of them for every lambda; a sweep over sparse ones costs no more
   than their nonzeros. */
static int lasso_max_factored(const struct problem *pb, const struct l1_control *control) {
  const int most = control->ridge > 0 ? 512 : 2048;
  if (!is_sparse(&pb->x))
    return most;
  const double filled = 4.0 * pb->x.p[pb->n] / (double)pb->n;
  return filled < 256 ? 256 : filled < most ? (int)filled : most;
}

void *lasso_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena) {
  const int limit = lasso_max_factored(pb, control), k = control->max_active;
  const int order = k < limit ? k : limit;
  const ptrdiff_t m = pb->m, n = pb->n;
  struct lasso_active *active = arena_alloc(arena, 1, sizeof(struct lasso_active));
  struct lasso_active parts = {.max_factored = order,
      .factored = 1,
      .column = alloc_ints(arena, k),
      .square = alloc_doubles(arena, k),
      .sign = alloc_doubles(arena, k),
      .beta = alloc_doubles(arena, k),
      .last = alloc_doubles(arena, k),
      .lambda = INFINITY,
      .last_lambda = INFINITY,
      .target = alloc_doubles(arena, k),
      .product = alloc_doubles(arena, k),
      .G = control->ridge > 0 ? alloc_doubles(arena, (ptrdiff_t)order * order) : NULL,
      .R = alloc_doubles(arena, (ptrdiff_t)order * order),
      .weighted_sum = alloc_doubles(arena, is_sparse(&pb->x) ? k : 0),
      .l = alloc_doubles(arena, k),
      .c = alloc_doubles(arena, k),
      .s = alloc_doubles(arena, k),
      .a = alloc_doubles(arena, m),
      .v = alloc_doubles(arena, m),
      .rest = alloc_doubles(arena, m),
      .f = alloc_doubles(arena, m),
      .is_active = alloc_ints(arena, n),
      .violated = alloc_ints(arena, n)};
  for (int i = 0; i < LASSO_SWEEPS; i++)
    parts.way[i] = alloc_doubles(arena, k > order ? k : 0);
  parts.local = l1_layout_copy(pb, k, &parts.copy, arena);
  for (int b = 0; b < LASSO_BATCH; b++) {
    parts.batch.a[b] = alloc_doubles(arena, m);
    parts.batch.product[b] = alloc_doubles(arena, n);
  }
  parts.batch.work = arena_alloc(arena, 1, column_products_work(pb, LASSO_BATCH, threads));
  if (arena->base != NULL)
    *active = parts;
  return active;
}

/* u := the covariates' coefficients: Q' of the response less the model's values. */
static void lasso_covariates(struct l1_state *state, struct lasso_active *active) {
  const struct problem *pb = state->pb;
  for (ptrdiff_t i = 0; i < pb->m; i++)
    active->a[i] = pb->root_w[i] * pb->response[i] - active->f[i];
  for (ptrdiff_t l = 0; l < pb->q; l++)
    state->u[l] = simd->dot(pb->m, pb->Q + l * pb->m, active->a);
}

void lasso_begin(struct l1_state *state) {
  struct lasso_active *active = state->engine;
  memset(active->is_active, 0, (size_t)state->pb->n * sizeof(int));
  lasso_residual(state, active);
  lasso_covariates(state, active);
  state->null_objective = state->primal = state->dual =
      simd->dot(state->pb->m, state->r, state->r) / 2;
}

enum status lasso_start(struct l1_state *state) {
  struct lasso_active *active = state->engine;
  active->factored = state->size <= active->max_factored;
  /* until the first lambda, one that leaves no column dependent on others */
  double ridge = 0;
  for (int i = 0; i < state->size; i++)
    ridge += state->norm[state->feature[i]] * state->norm[state->feature[i]];
  lasso_set_ridge(active, ridge);
  for (int i = 0; i < state->size; i++)
    lasso_activate(state, active, state->feature[i], state->beta[i] > 0 ? 1 : -1, state->beta[i]);
  state->size = 0; /* r and the objective are those of the null model */
  return COMPLETE;
}

/* ---- the solution for given columns ---- */

/* target := the coefficients for lambda and the present signs. In an ill-conditioned set they are
   the present ones and a correction from the residual: a step of iterative refinement. */
static void lasso_solve_signs(struct l1_state *state, struct lasso_active *active, double lambda) {
  const int refine = active->ill_conditioned;
  double *target = active->target;
  if (refine)
    lasso_residual(state, active);
  const double sum = refine ? l1_weigh_rows(state->pb, state->r, active->v) : 0;
  for (int i = 0; i < active->count; i++)
    target[i] = (refine ? l1_column_product(state->pb, active->column[i], active->v, sum)
                        : active->product[i]) -
                lambda * active->sign[i] - (refine ? active->ridge * active->beta[i] : 0);
  solve_transposed(active->count, active->R, active->max_factored, target);
  solve_upper(active->count, active->R, active->max_factored, target);
  if (refine)
    simd->shift(active->count, target, -1, active->beta);
}

/* beta := the coefficients for lambda and the present signs; columns whose coefficients reach zero
   on the way are deactivated. */
static void lasso_optimise(struct l1_state *state, struct lasso_active *active, double lambda) {
  for (;;) {
    const double *target = active->target;
    lasso_solve_signs(state, active, lambda);
    double step = 1;
    int first = -1;
    for (int i = 0; i < active->count; i++) {
      const double before = fabs(active->beta[i]), beyond = -active->sign[i] * target[i];
      if (beyond >= 0 && before <= step * (before + beyond)) {
        step = before + beyond > 0 ? before / (before + beyond) : 0;
        first = i;
      }
    }
    if (first < 0) {
      memcpy(active->beta, target, (size_t)active->count * sizeof(double));
      return;
    }
    for (int i = 0; i < active->count; i++)
      active->beta[i] += step * (target[i] - active->beta[i]);
    lasso_deactivate(active, first);
  }
}

static enum status lasso_solve_active(
    struct l1_state *state, struct lasso_active *active, double lambda, double allowed) {
  if (!active->factored)
    return lasso_descend(state, active, lambda, allowed);
  lasso_optimise(state, active, lambda);
  lasso_residual(state, active);
  return COMPLETE;
}

/* ---- the search for columns ---- */

/* Activates column k, which is dependent on the active ones (active->l = R'^-1 A'a_k), in place of
   one of them: along the direction that leaves the model's values alone the penalty falls, up to
   where the first coefficient is zero. It does not fall when columns that came just before are
   still at zero; k then stays out for now. */
static void lasso_exchange(
    struct l1_state *state, struct lasso_active *active, int k, double sign) {
  solve_upper(active->count, active->R, active->max_factored, active->l);
  int first = -1;
  double step = INFINITY, gain = -1;
  for (int i = 0; i < active->count; i++) {
    const double fall = sign * active->l[i] * active->sign[i];
    gain += fall;
    if (fall > 0 && fabs(active->beta[i]) < step * fall) {
      step = fabs(active->beta[i]) / fall;
      first = i;
    }
  }
  if (!(gain > 0 && step > 0 && first >= 0)) /* or not a number */
    return;
  for (int i = 0; i < active->count; i++)
    active->beta[i] -= step * sign * active->l[i];
  lasso_deactivate(active, first);
  lasso_activate(state, active, k, sign, step * sign);
  lasso_residual(state, active); /* which descent takes for that of the model */
}

/* violated := the columns that break the optimality conditions, with a factor the worst of them,
   the worst first; returns how many. */
static int lasso_find_violated(
    const struct l1_state *state, struct lasso_active *active, double lambda) {
  const double *c = state->corr, level = lambda * (1 + LASSO_VIOLATED);
  const int limit = active->factored ? 8 + active->count / 4 : 0;
  int *violated = active->violated, count = 0;
  for (ptrdiff_t l = 0; l < state->fresh_count; l++) {
    const int k = state->fresh[l];
    if (fabs(c[k]) <= level || state->excluded[k] || active->is_active[k])
      continue;
    if (!active->factored) {
      violated[count++] = k;
      continue;
    }
    if (count == limit && fabs(c[violated[limit - 1]]) >= fabs(c[k]))
      continue;
    int p = count < limit ? count++ : limit - 1;
    for (; p > 0 && fabs(c[violated[p - 1]]) < fabs(c[k]); p--)
      violated[p] = violated[p - 1];
    violated[p] = k;
  }
  return count;
}

/* Column k stays out for this lambda. */
static void lasso_refuse(struct lasso_active *active, int k) {
  active->is_active[k] = -1;
  active->has_refused = 1;
}

static void lasso_admit_refused(struct l1_state *state, struct lasso_active *active) {
  for (ptrdiff_t k = 0; active->has_refused && k < state->pb->n; k++)
    active->is_active[k] = active->is_active[k] > 0;
  active->has_refused = 0;
}

/* Activates columns that are violated, or exchanges them for dependent ones. */
static enum status lasso_activate_columns(struct l1_state *state, struct lasso_active *active,
    double lambda, int count, const int *column) {
  const double length = sqrt(simd->dot(state->pb->m, state->r, state->r));
  for (int i = 0; i < count; i++) {
    const int k = column[i];
    const double sign = state->corr[k] > 0 ? 1 : -1;
    if (active->count == state->control.max_active)
      return WORKSPACE_FULL;
    active->factored = active->factored && active->count < active->max_factored;
    if (lasso_activate(state, active, k, sign, 0))
      continue;
    if (fabs(state->corr[k]) > lambda + LASSO_EXCHANGE * state->norm[k] * length)
      lasso_exchange(state, active, k, sign);
    else
      lasso_refuse(active, k); /* dependent, and not violated beyond rounding */
  }
  return COMPLETE;
}

/* Activates the first `count` violated columns, a batch at a time. */
static enum status lasso_activate_violated(
    struct l1_state *state, struct lasso_active *active, double lambda, int count) {
  enum status status = COMPLETE;
  for (int from = 0; from < count && status == COMPLETE; from += LASSO_BATCH) {
    const int *column = active->violated + from;
    const int some = count - from < LASSO_BATCH ? count - from : LASSO_BATCH;
    if (active->factored && some > 1)
      status = lasso_begin_batch(state, active, some, column);
    if (status == COMPLETE)
      status = lasso_activate_columns(state, active, lambda, some, column);
    lasso_end_batch(active);
  }
  return status;
}

/* primal and dual := the objective of the active columns' model, and its dual value, which here
   follows from two dot products. */
static void lasso_evaluate(
    struct l1_state *state, const struct lasso_active *active, double lambda) {
  const struct problem *pb = state->pb;
  const double rr = simd->dot(pb->m, state->r, state->r), yr = simd->dot(pb->m, pb->y, state->r);
  const double squares = rr + active->ridge * simd->dot(active->count, active->beta, active->beta);
  const double widest = state->max_abs_corr > lambda ? lambda / state->max_abs_corr : 1;
  const double scale = squares > 0 ? fmax(-widest, fmin(yr / squares, widest)) : 0;
  double l1 = 0;
  for (int i = 0; i < active->count; i++)
    l1 += fabs(active->beta[i]);
  state->primal = squares / 2 + lambda * l1;
  state->dual = scale * (yr - scale * squares / 2);
}

/* After descent: deactivates the columns without a coefficient, but those among the first, after
   which all would be copied again, only where there are many. */
static void lasso_drop_zeros(struct lasso_active *active) {
  const int settled = active->settled < active->count ? active->settled : active->count;
  int zeros = 0;
  for (int i = 0; i < settled; i++)
    zeros += active->beta[i] == 0;
  const int from = zeros > settled / 16 ? 0 : settled;
  for (int i = active->count - 1; i >= from; i--)
    if (active->beta[i] == 0)
      lasso_deactivate(active, i);
  active->settled = active->count;
}

/* Stores the active columns with a coefficient as the solution. */
static void lasso_store(struct l1_state *state, struct lasso_active *active) {
  if (!active->factored)
    lasso_drop_zeros(active);
  state->size = 0;
  for (int i = 0; i < active->count; i++)
    if (active->beta[i] != 0) {
      state->feature[state->size] = active->column[i];
      state->beta[state->size++] = active->beta[i];
    }
  if (!active->factored)
    lasso_residual(state, active); /* of the values that the covariates are made from */
  lasso_covariates(state, active);
}

/* How often a solution without violated columns is refined when its gap is still too large; how
   many rounds may lower the objective by nothing but rounding; and how many rounds there may be. */
enum { LASSO_REFINEMENTS = 10, LASSO_PATIENCE = 20, LASSO_ROUNDS = 1000 };

/* Before the products of all columns are made: solves with the columns that are likely to break the
   optimality conditions, and with some that nearly do. It spares products, of which there are few
   where many columns are active. */
static enum status lasso_descend_likely(
    struct l1_state *state, struct lasso_active *active, double lambda, double allowed) {
  const int before = active->count;
  if (before > state->pb->n / 4)
    return COMPLETE;
  const ptrdiff_t likely = l1_list_likely(state, LASSO_LIKELY * lambda);
  for (ptrdiff_t l = 0; l < likely && active->count < state->control.max_active; l++)
    if (!active->is_active[state->list[l]])
      lasso_activate(state, active, state->list[l], 1, 0);
  if (active->count == before)
    return COMPLETE;
  return lasso_descend(state, active, lambda, allowed);
}

/* Makes the products that lambda asks for; *count := how many columns break the optimality
   conditions. With a factor the products of the active columns, which solve their equations, are
   made where no column does, or `all` are asked for. */
static enum status lasso_correlate(
    struct l1_state *state, struct lasso_active *active, double lambda, int all, int *count) {
  const int *left_out = active->factored ? active->is_active : NULL;
  const enum status status = l1_correlate(state, lambda, left_out);
  if (status != COMPLETE)
    return status;
  *count = lasso_find_violated(state, active, lambda);
  if (left_out == NULL || (*count > 0 && !all))
    return COMPLETE;
  return l1_correlate_columns(state, active->count, active->column);
}

/* Brings the model of the last solution to lambda. */
static enum status lasso_go_on(
    struct l1_state *state, struct lasso_active *active, double lambda, double allowed) {
  int current = active->lambda < INFINITY; /* whether r is that of the active columns' model */
  lasso_admit_refused(state, active);
  for (int i = active->count - 1; i >= 0; i--)
    if (state->excluded[active->column[i]]) {
      current = 0;
      lasso_deactivate(active, i);
    }
  if (!active->factored && !current)
    lasso_residual(state, active);
  lasso_set_ridge(active, lambda * state->control.ridge);
  lasso_extrapolate(state, active, lambda);
  if (!active->factored)
    return lasso_descend_likely(state, active, lambda, allowed);
  lasso_optimise(state, active, lambda);
  lasso_residual(state, active);
  return COMPLETE;
}

enum status lasso_solve(struct l1_state *state, double lambda) {
  struct lasso_active *active = state->engine;
  struct lasso_search *search = &active->search;
  const double allowed = state->control.tolerance * state->null_objective;
  if (!state->resumed) {
    *search = (struct lasso_search){.share = LASSO_SHARE, .lowest = INFINITY};
    if (lasso_go_on(state, active, lambda, search->share * allowed) != COMPLETE)
      return INTERRUPTED;
  }
  for (int count;; search->round++) {
    const int give_up = search->idle >= LASSO_PATIENCE || search->round >= LASSO_ROUNDS;
    l1_set_pull(state, active->count, active->column, active->beta);
    const enum status status = lasso_correlate(state, active, lambda, give_up, &count);
    if (status != COMPLETE)
      return status;
    lasso_evaluate(state, active, lambda);
    if (l1_screen_gap(state, lambda, NULL) != COMPLETE)
      return INTERRUPTED;
    const double gap = state->primal - state->dual;
    const double enough = search->lowest - LASSO_PROGRESS * state->null_objective;
    search->idle = state->primal < enough ? 0 : search->idle + 1;
    search->lowest = fmin(search->lowest, state->primal);
    if (count > 0 && !give_up) {
      const enum status activated = lasso_activate_violated(state, active, lambda, count);
      if (activated != COMPLETE)
        return activated;
    } else if (gap <= allowed || give_up || search->refined++ == LASSO_REFINEMENTS) {
      lasso_store(state, active);
      return COMPLETE;
    } else if (active->factored) {
      active->ill_conditioned = 1;
    } else {
      search->share *= LASSO_LESS;
    }
    if (lasso_solve_active(state, active, lambda, search->share * allowed) != COMPLETE)
      return INTERRUPTED;
  }
}
