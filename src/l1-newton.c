/* Smooth losses with an l1 penalty: Newton's method on a working set of coefficients. Each step
   takes the loss for its quadratic model at the present point, lets coordinate descent find out
   which coefficients are zero, and solves for the others by conjugate gradients. The covariates'
   coefficients are exact at every point, so only the columns' are searched for. */
#include "l1-newton.h"
#include "simd.h"
#include <math.h>
#include <string.h>

enum {
  NEWTON_MAX_FACTORED = 600, /* order of the preconditioner's factor, at most */
  NEWTON_STEPS = 1000,       /* Newton steps for one working set, at most */
  NEWTON_ROUNDS = 100,       /* working sets for one lambda, at most */
  NEWTON_PATIENCE = 8,       /* steps without progress before rounding is held responsible */
  NEWTON_BATCH = 50,         /* columns added at a time, or as many as have a coefficient */
  NEWTON_LEVEL_STEPS = 30,   /* bisections for the level that takes in so many columns */
  NEWTON_POOR = 10,          /* a step is poor that leaves more of the gap, one part in so many */
  NEWTON_HALVINGS = 60,      /* of a step, at most */
  NEWTON_CHEAP = 10000       /* entries of a working set that is cheap to multiply */
};

/* ---- workspace ---- */

static struct newton_point newton_layout_point(
    struct arena *arena, ptrdiff_t m, ptrdiff_t k, ptrdiff_t q) {
  return (struct newton_point){.beta = alloc_doubles(arena, k),
      .base = alloc_doubles(arena, m),
      .u = alloc_doubles(arena, q)};
}

void *newton_layout(
    const struct problem *pb, const struct l1_control *control, int threads, struct arena *arena) {
  (void)threads;
  const ptrdiff_t L = pb->L, m = pb->m * L, q = pb->q * L, k = control->max_active;
  const ptrdiff_t order = k < NEWTON_MAX_FACTORED ? k : NEWTON_MAX_FACTORED;
  struct newton_fit *fit = arena_alloc(arena, 1, sizeof(struct newton_fit));
  struct newton_fit parts = {.width = l1_width(pb, control),
      .number = alloc_ints(arena, k),
      .place = alloc_ints(arena, pb->n * L),
      .violated = alloc_ints(arena, pb->n * L),
      .now = newton_layout_point(arena, m, k, q),
      .next = newton_layout_point(arena, m, k, q),
      .beta_before = alloc_doubles(arena, k),
      .corr = alloc_doubles(arena, k),
      .w = alloc_doubles(arena, pb->m),
      .response = alloc_doubles(arena, m),
      .known = alloc_doubles(arena, pb->m),
      .B = alloc_doubles(arena, pb->m * pb->q),
      .f = alloc_doubles(arena, m),
      .v = alloc_doubles(arena, m),
      .h = alloc_doubles(arena, m),
      .HB = alloc_doubles(arena, m * q),
      .BHB = alloc_doubles(arena, q * q),
      .g = alloc_doubles(arena, q),
      .constant = alloc_doubles(arena, L),
      .s = alloc_doubles(arena, m),
      .curvature = alloc_doubles(arena, k),
      .xh = alloc_doubles(arena, k),
      .h_sum = alloc_doubles(arena, L),
      .HB_sum = alloc_doubles(arena, L * q),
      .sigma = alloc_doubles(arena, L),
      .sum = alloc_doubles(arena, L),
      .b = alloc_doubles(arena, q * k),
      .e = alloc_doubles(arena, q * k),
      .support = alloc_ints(arena, k),
      .d = alloc_doubles(arena, k),
      .residual = alloc_doubles(arena, k),
      .z = alloc_doubles(arena, k),
      .p = alloc_doubles(arena, k),
      .Kp = alloc_doubles(arena, k),
      .t = alloc_doubles(arena, m),
      .Ht = alloc_doubles(arena, m),
      .Ht_sum = alloc_doubles(arena, L),
      .max_factored = (int)order,
      .factor_number = alloc_ints(arena, order),
      .factor_row = alloc_ints(arena, k),
      .K = alloc_doubles(arena, order * order),
      .y = alloc_doubles(arena, order),
      .gram = newton_layout_gram(pb, control, arena)};
  parts.rows = (struct likelihood_rows){.m = pb->m,
      .L = L,
      .y = parts.response,
      .w = parts.w,
      .known = parts.known,
      .parameter = pb->parameter,
      .risk = &pb->risk,
      .memo = alloc_doubles(arena, l1_memo(pb, control->loss))};
  parts.local = l1_layout_copy(pb, k, &parts.copy, arena);
  if (arena->base != NULL)
    *fit = parts;
  return fit;
}

/* ---- the working set ---- */

/* Adds a coefficient to the working set, with its value and the one it had before. */
static void newton_add(
    const struct l1_state *state, struct newton_fit *fit, int number, double beta, double before) {
  const int k = fit->count++;
  fit->number[k] = number;
  fit->place[number] = k;
  fit->now.beta[k] = beta;
  fit->beta_before[k] = before;
  if (is_sparse(&state->pb->x))
    l1_copy_column(state->pb, &fit->copy, k, l1_column_of(state->pb, number));
}

/* Removes the excluded units from the working set, and with `zeros` those with coefficients 0.
   Those before the first that goes stay where they are. */
static void newton_remove(const struct l1_state *state, struct newton_fit *fit, int zeros) {
  const int count = fit->count;
  int changed = 0;
  fit->count = 0;
  for (int k = 0; k < count; k++) {
    const int number = fit->number[k], first = newton_unit(fit, k);
    const double norm = newton_norm(fit, fit->now.beta, first);
    const int goes = state->excluded[number] || (zeros && norm == 0);
    if (goes) {
      fit->place[number] = -1;
      changed |= norm != 0;
    } else if (fit->count == k) {
      fit->count++;
    } else {
      newton_add(state, fit, number, fit->now.beta[k], fit->beta_before[k]);
    }
  }
  if (changed) {
    newton_predict(fit, &fit->now);
    newton_optimise_covariates(state, fit, &fit->now);
  }
}

/* How many units have coefficients. */
static int newton_support_size(const struct newton_fit *fit) {
  int size = 0;
  for (int k = 0; k < fit->count; k += fit->width)
    size += newton_norm(fit, fit->now.beta, k) != 0;
  return size;
}

/* The norm of corr over the unit of a coefficient outside the working set. */
static double newton_outer_norm(
    const struct l1_state *state, const struct newton_fit *fit, int number) {
  return l1_unit_norm(fit->width, state->corr + number);
}

/* violated := the units outside the working set with |corr| > level, with `fresh` those alone whose
   corr is up to date; returns how many. */
static int newton_list_violated(
    const struct l1_state *state, struct newton_fit *fit, double level, int fresh) {
  const ptrdiff_t listed = fresh ? state->fresh_count : l1_coefficients(state->pb);
  int count = 0;
  for (ptrdiff_t l = 0; l < listed; l += fit->width) {
    const int k = fresh ? state->fresh[l] : (int)l;
    if (newton_outer_norm(state, fit, k) > level && fit->place[k] < 0 && !state->excluded[k])
      fit->violated[count++] = k;
  }
  return count;
}

/* Keeps the largest of `count` violated units, at most NEWTON_BATCH or as many as the support has,
   but one at least; returns how many. */
static int newton_keep_largest(
    const struct l1_state *state, struct newton_fit *fit, int count, double low) {
  const int size = newton_support_size(fit);
  const int limit = size > NEWTON_BATCH ? size : NEWTON_BATCH;
  double high = low, level = low;
  for (int l = 0; l < count; l++)
    high = l1_larger(high, newton_outer_norm(state, fit, fit->violated[l]));
  int kept = count;
  for (int i = 0; kept > limit && i < NEWTON_LEVEL_STEPS; i++) {
    const double middle = low + (high - low) / 2;
    int above = 0;
    for (int l = 0; l < count; l++)
      above += newton_outer_norm(state, fit, fit->violated[l]) > middle;
    if (above == 0) {
      high = middle;
    } else {
      low = level = middle;
      kept = above;
    }
  }
  kept = 0;
  for (int l = 0; l < count; l++)
    if (newton_outer_norm(state, fit, fit->violated[l]) > level)
      fit->violated[kept++] = fit->violated[l];
  return kept;
}

/* Adds the units with |corr| > level, or the units with the largest. Returns how many, and -1 where
   max_active is too small for them. */
static int newton_add_violated(
    struct l1_state *state, struct newton_fit *fit, double level, int fresh) {
  int count = newton_list_violated(state, fit, level, fresh);
  count = newton_keep_largest(state, fit, count, level);
  const double wanted = (double)count * fit->width;
  if (wanted > state->control.max_active - fit->count)
    newton_remove(state, fit, 1);
  if (wanted > state->control.max_active - fit->count)
    return -1;
  for (int l = 0; l < count; l++)
    for (int k = 0; k < fit->width; k++)
      newton_add(state, fit, fit->violated[l] + k, 0, 0);
  return count;
}

/* ---- steps ---- */

/* The slope of the objective at next in the direction from now to next. */
static double newton_end_slope(const struct newton_fit *fit, ptrdiff_t m, double lambda) {
  const struct newton_point *now = &fit->now, *next = &fit->next;
  double slope = 0;
  for (int k = 0; k < fit->count; k++) {
    const int first = newton_unit(fit, k);
    const double after = newton_norm(fit, next->beta, first);
    const double before = newton_norm(fit, now->beta, first);
    const double sign = after > 0 ? next->beta[k] / after : before > 0 ? now->beta[k] / before : 0;
    slope += (lambda * sign + fit->ridge * next->beta[k]) * (next->beta[k] - now->beta[k]);
  }
  for (ptrdiff_t i = 0; i < m; i++)
    slope -= fit->v[i] * (next->base[i] - now->base[i]);
  return slope;
}

/* next.u := the u that the quadratic model asks for with next.base. */
static void newton_follow_covariates(const struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t m = l1_length(state->pb), q = state->pb->q * state->pb->L;
  for (ptrdiff_t i = 0; i < m; i++)
    fit->t[i] = fit->next.base[i] - fit->now.base[i];
  newton_curved_slopes(fit, fit->t, fit->g);
  newton_solve_covariates(state, fit, fit->g);
  for (ptrdiff_t l = 0; l < q; l++)
    fit->next.u[l] = fit->now.u[l] - fit->g[l];
}

/* next := the middle between now and next. */
static void newton_halve_step(struct newton_fit *fit, ptrdiff_t m, ptrdiff_t q) {
  const struct newton_point *now = &fit->now;
  struct newton_point *next = &fit->next;
  for (int k = 0; k < fit->count; k++)
    next->beta[k] -= (next->beta[k] - now->beta[k]) / 2;
  newton_measure_penalty(fit, next);
  for (ptrdiff_t i = 0; i < m; i++)
    next->base[i] -= (next->base[i] - now->base[i]) / 2;
  for (ptrdiff_t l = 0; l < q; l++)
    next->u[l] -= (next->u[l] - now->u[l]) / 2;
}

/* now := next, or a point between them: the objective must fall, and must not have been much lower
   on the way. A rise that rounding may hide is allowed. Returns not 0 where no point will do. */
static int newton_line_search(const struct l1_state *state, struct newton_fit *fit, double lambda) {
  const ptrdiff_t m = l1_length(state->pb), q = state->pb->q * state->pb->L;
  struct newton_point *now = &fit->now, *next = &fit->next;
  const double before = now->loss + newton_penalty(fit, now, lambda);
  const double hidden = L1_VALUE_NOISE * state->null_objective;
  newton_predict(fit, next);
  newton_follow_covariates(state, fit);
  for (int halved = 0; halved < NEWTON_HALVINGS; halved++) {
    newton_optimise_covariates(state, fit, next);
    const double fall = before - next->loss - newton_penalty(fit, next, lambda) + hidden;
    if (fall >= 0 && newton_end_slope(fit, m, lambda) <= 2 * fall) {
      const struct newton_point point = *now;
      *now = *next;
      *next = point;
      return 0;
    }
    newton_halve_step(fit, m, q);
  }
  newton_evaluate(state, fit, now);
  return 1;
}

/* What the dual point of the point `now` is worth when it is scaled by s; t is temporary. */
static double newton_dual_value(const struct l1_state *state, struct newton_fit *fit, double s) {
  const struct problem *pb = state->pb;
  l1_divide_rows(pb, fit->v, fit->t);
  return l1_loss_of(state)->value(pb, fit->rows.memo, fit->t, s) -
         s * s * fit->ridge * fit->now.squares / 2;
}

/* Moves on from the last two solutions in a straight line to lambda, signs kept. Where the model
   has its matrix a Newton step from the last one goes as far, and knows which columns come. */
static void newton_extrapolate(
    const struct l1_state *state, struct newton_fit *fit, double lambda) {
  const double ahead = (lambda - fit->lambda) / (fit->lambda - fit->lambda_before);
  for (int first = 0; first < fit->count; first += fit->width) {
    const double *now = fit->now.beta + first, before = newton_norm(fit, fit->beta_before, first);
    double *next = fit->next.beta + first, along = 0;
    for (int l = 0; l < fit->width; l++) {
      next[l] = now[l] + ahead * (now[l] - fit->beta_before[first + l]);
      along += now[l] * next[l];
    }
    if (!(along > 0 && before > 0))
      memcpy(next, now, (size_t)fit->width * sizeof(double));
    memcpy(fit->beta_before + first, now, (size_t)fit->width * sizeof(double));
  }
  if (ahead > 0 && ahead < 2 && !newton_gram_serves(fit)) {
    newton_factor_covariates(state, fit);
    newton_line_search(state, fit, lambda);
  }
}

/* ---- one working set ---- */

/* Brings corr up to date for the working set and returns what the gap would be without the other
   columns. *zeros: the largest |corr| of a unit without a coefficient. */
static double newton_set_gap(
    const struct l1_state *state, struct newton_fit *fit, double lambda, double *zeros) {
  const double *beta = fit->now.beta;
  double max = lambda, product = 0;
  *zeros = 0;
  newton_sums(fit, fit->v, fit->sum);
  for (int k = 0; k < fit->count; k++) {
    const int number = fit->number[k];
    const double known = fit->correlated && l1_is_fresh(state, number)
                             ? state->corr[number]
                             : newton_product(fit, k, fit->v, fit->sum);
    fit->corr[k] = known - fit->ridge * beta[k];
    product += fit->corr[k] * beta[k];
  }
  for (int k = 0; k < fit->count; k += fit->width) {
    const double c = newton_norm(fit, fit->corr, k);
    max = l1_larger(max, c);
    if (newton_norm(fit, beta, k) == 0)
      *zeros = l1_larger(*zeros, c);
  }
  if (max <= lambda)
    return lambda * fit->now.l1 - product;
  return fit->now.loss + newton_penalty(fit, &fit->now, lambda) -
         newton_dual_value(state, fit, lambda / max);
}

/* Minimises over the working set until about the gap `goal` is left. EARLY_STOP when rounding is in
   the way. Where too many coefficients came at once for Newton's step to keep their signs, fewer
   come the next time: those that break the optimality conditions worst. For small lambda a slope
   that misses it by little costs the dual point much, so the slopes are asked for more digits as
   long as the gap does not fall. `exact`: see newton_descend(). */
static enum status newton_minimise_set(
    struct l1_state *state, struct newton_fit *fit, double lambda, double goal, int exact) {
  double best = INFINITY, value = INFINITY, share = 1, slack = 1, zeros;
  enum newton_signs signs = ALL_TRUNCATED;
  int waited = 0;
  for (int step = 0; step < NEWTON_STEPS && waited < NEWTON_PATIENCE; step++) {
    if (state->host->stop(state->host, state->done, state->total))
      return INTERRUPTED;
    const double gap = newton_set_gap(state, fit, lambda, &zeros);
    if (gap <= goal)
      return COMPLETE;
    if (fit->by_gram && step > 0)
      newton_gram_learn(fit);
    const double now = fit->now.loss + newton_penalty(fit, &fit->now, lambda);
    waited = gap < best / 2 || now < value - NEWTON_PROGRESS * gap || signs == SOME_TRUNCATED
                 ? 0
                 : waited + 1;
    if (waited > 0)
      slack /= 10;
    const int is_poor = gap > best / NEWTON_POOR;
    best = fmin(best, gap);
    value = now;
    newton_factor_covariates(state, fit);
    if (fit->by_gram && newton_gram_prepare(state, fit, is_poor) != COMPLETE)
      return INTERRUPTED;
    memcpy(fit->next.beta, fit->now.beta, (size_t)fit->count * sizeof(double));
    const int came = signs == ALL_TRUNCATED || (signs == SIGNS_KEPT && zeros > lambda);
    if (came)
      newton_descend(
          state, fit, lambda, share < 1 ? zeros - share * fmax(zeros - lambda, 0) : 0, exact);
    const double enough = NEWTON_SLOPES_GAP * goal /
                          fmax(fit->now.l1, state->null_objective / lambda * NEWTON_SMALL_MODEL);
    signs =
        newton_step(state, fit, lambda, slack * (fit->by_gram ? NEWTON_GRAM_SLOPES : 1) * enough);
    if (came)
      share = signs == SOME_TRUNCATED ? share / 4 : fmin(1, 2 * share);
    if (newton_line_search(state, fit, lambda) != 0)
      return EARLY_STOP;
  }
  return EARLY_STOP;
}

/* The same, where a curvature of one output that is not diagonal is taken as it is if that costs
   little, or if the diagonal above it leads nowhere, such as where each event all but falls to one
   row. */
static enum status newton_solve_set(
    struct l1_state *state, struct newton_fit *fit, double lambda, double goal) {
  fit->by_gram = newton_gram_serves(fit);
  if (fit->by_gram) {
    const enum status status = newton_minimise_set(state, fit, lambda, goal, 0);
    fit->by_gram = 0;
    if (status != EARLY_STOP)
      return status;
  }
  const int may = l1_loss_of(state)->curve != NULL && state->pb->L == 1;
  const int exact = may && state->pb->m * fit->count <= NEWTON_CHEAP;
  const enum status status = newton_minimise_set(state, fit, lambda, goal, exact);
  if (status != EARLY_STOP || !may || exact)
    return status;
  return newton_minimise_set(state, fit, lambda, goal, 1);
}

/* ---- the engine ---- */

/* now := the model in the state, its columns the working set. */
static void newton_load(struct l1_state *state, struct newton_fit *fit) {
  fit->count = 0;
  for (ptrdiff_t k = 0; k < l1_coefficients(state->pb); k++)
    fit->place[k] = -1;
  for (int k = 0; k < state->size; k++)
    newton_add(state, fit, state->feature[k], state->beta[k], 0);
  memcpy(fit->now.u, state->u, (size_t)(state->pb->q * state->pb->L) * sizeof(double));
  newton_predict(fit, &fit->now);
  newton_optimise_covariates(state, fit, &fit->now);
}

/* r := v, less what makes B'v of the dual point 0 where it is worth more than rounding; returns
   whether it was. What cannot be made 0 is counted, where covariates have a ridge. */
static int newton_store_residual(struct l1_state *state, struct newton_fit *fit) {
  const ptrdiff_t q = state->pb->q * state->pb->L;
  const struct newton_point *now = &fit->now;
  l1_divide_rows(state->pb, fit->v, state->r);
  memcpy(state->memo, fit->rows.memo,
      (size_t)l1_memo(state->pb, state->control.loss) * sizeof(double));
  const double slope = newton_covariate_slopes(state, fit, fit->v, NULL);
  const double ridge = fit->covariate_ridge, length = sqrt(simd->dot(q, now->u, now->u));
  state->unbalanced = 0;
  if (!(slope * length > L1_VALUE_NOISE * state->null_objective))
    return 0;
  if (newton_balance(state, fit)) {
    l1_divide_rows(state->pb, fit->t, state->r);
    return 1;
  }
  if (ridge > 0)
    state->unbalanced = slope * slope / ridge + 2 * newton_covariate_penalty(state, fit, now);
  return 0;
}

/* The model at the point `now` becomes the solution. */
static void newton_store_model(struct l1_state *state, const struct newton_fit *fit) {
  state->size = 0;
  for (int k = 0; k < fit->count; k++)
    if (newton_norm(fit, fit->now.beta, newton_unit(fit, k)) != 0) {
      state->feature[state->size] = fit->number[k];
      state->beta[state->size++] = fit->now.beta[k];
    }
  memcpy(state->u, fit->now.u, (size_t)(state->pb->q * state->pb->L) * sizeof(double));
}

void newton_begin(struct l1_state *state) {
  const struct problem *pb = state->pb;
  const ptrdiff_t m = pb->m, q = pb->q;
  struct newton_fit *fit = state->engine;
  double total = 0, square = 0;
  for (ptrdiff_t i = 0; i < m; i++)
    fit->w[i] = case_weight(pb, i);
  for (ptrdiff_t i = 0; i < l1_length(pb); i++) {
    fit->response[i] = pb->response[i] + (pb->offset == NULL ? 0 : pb->offset[i]);
    total += fit->w[i % m];
    square += fit->w[i % m] * fit->response[i] * fit->response[i];
  }
  fit->unit = sqrt(square / total);
  const struct l1_loss *loss = l1_loss_of(state);
  if (loss->know != NULL)
    loss->know(&fit->rows, fit->known);
  const double start = loss->start == NULL ? 0 : loss->start(&fit->rows, pb->offset);
  for (ptrdiff_t l = 0; l < q * pb->L; l++)
    state->u[l] = start == 0 ? 0 : start * simd->dot(m, pb->Q + l % q * m, pb->root_w);
  for (ptrdiff_t i = 0; i < m * q; i++)
    fit->B[i] = pb->Q[i] / pb->divisor[i % m];
  fit->covariate_ridge = 0;
  fit->gram.order = 0;
  newton_load(state, fit);
  if (newton_is_separated(state, fit)) {
    fit->covariate_ridge = NEWTON_COVARIATE_RIDGE * fit->unit;
    newton_load(state, fit);
  }
  newton_store_residual(state, fit);
  newton_store_model(state, fit);
  state->null_objective = state->primal = state->dual =
      fit->now.loss - newton_covariate_penalty(state, fit, &fit->now);
}

enum status newton_start(struct l1_state *state) {
  newton_load(state, state->engine);
  state->size = 0; /* r and the objective are those of the null model */
  return COMPLETE;
}

/* primal and dual := the objective at the point `now` and the value of its dual point; returns the
   gap. */
static double newton_update_gap(
    struct l1_state *state, const struct newton_fit *fit, double lambda) {
  const double s = state->max_abs_corr > lambda ? lambda / state->max_abs_corr : 1;
  state->primal = fit->now.loss - newton_covariate_penalty(state, fit, &fit->now) +
                  newton_penalty(fit, &fit->now, lambda);
  state->dual = l1_loss_of(state)->value(state->pb, state->memo, state->r, s) -
                s * s * (fit->ridge * fit->now.squares + state->unbalanced) / 2;
  return state->primal - state->dual;
}

/* l1_correlate(), for which the products of the working set are known where it is solved for. */
static enum status newton_correlate(struct l1_state *state, struct newton_fit *fit, double lambda) {
  const int balanced = newton_store_residual(state, fit);
  l1_set_pull(state, fit->count, fit->number, fit->now.beta);
  if (fit->inside == INTERRUPTED)
    return INTERRUPTED;
  if (fit->inside == COMPLETE && !balanced) {
    for (int k = 0; k < fit->count; k++)
      state->corr[fit->number[k]] = fit->corr[k] + fit->ridge * fit->now.beta[k];
    l1_note_products(state, fit->count, fit->number);
  }
  const enum status status = l1_correlate(state, lambda, NULL);
  fit->correlated = status == COMPLETE && !balanced;
  return status;
}

/* Adds violated columns to the working set and solves for it, until the gap is small enough. */
static enum status newton_solve_rounds(
    struct l1_state *state, struct newton_fit *fit, double lambda) {
  const double goal = state->control.tolerance * state->null_objective;
  if (!state->resumed) {
    fit->inner = goal * NEWTON_INNER_GAP;
    fit->round = 0;
  }
  for (int resumed = state->resumed; fit->round < NEWTON_ROUNDS; fit->round++, resumed = 0) {
    if (!resumed)
      fit->inside = newton_solve_set(state, fit, lambda, fit->inner);
    const enum status status = newton_correlate(state, fit, lambda);
    if (status != COMPLETE)
      return status;
    const double gap = newton_update_gap(state, fit, lambda);
    if (gap <= goal)
      return COMPLETE;
    if (l1_screen_gap(state, lambda, fit->f) != COMPLETE)
      return INTERRUPTED;
    newton_remove(state, fit, 0);
    const int came = newton_add_violated(state, fit, lambda, 1);
    if (came < 0)
      return WORKSPACE_FULL;
    if (came == 0 && fit->inside == EARLY_STOP)
      return COMPLETE;
    fit->inner = came > 0 ? fmax(goal * NEWTON_INNER_GAP, gap / 1000)
                          : fmin(fit->inner / 10, goal * NEWTON_INNER_GAP);
  }
  return COMPLETE;
}

/* Brings the model of the last solution to lambda. */
static void newton_go_on(struct l1_state *state, struct newton_fit *fit, double lambda) {
  fit->primal = state->primal;
  fit->dual = state->dual;
  fit->max_abs_corr = state->max_abs_corr;
  fit->ridge = lambda * state->control.ridge;
  newton_remove(state, fit, 1);
  if (lambda < fit->lambda)
    newton_add_violated(state, fit, fmax(0, 2 * lambda - fit->lambda), 0);
  newton_extrapolate(state, fit, lambda);
  fit->lambda_before = fit->lambda;
  fit->lambda = 0;
}

enum status newton_solve(struct l1_state *state, double lambda) {
  struct newton_fit *fit = state->engine;
  if (!state->resumed)
    newton_go_on(state, fit, lambda);
  const enum status status = newton_solve_rounds(state, fit, lambda);
  if (status == WAITING)
    return WAITING;
  if (status == COMPLETE) {
    newton_store_model(state, fit);
    fit->lambda = lambda;
    return COMPLETE;
  }
  state->primal = fit->primal;
  state->dual = fit->dual;
  state->max_abs_corr = fit->max_abs_corr;
  fit->lambda_before = 0;
  newton_load(state, fit);
  newton_store_residual(state, fit);
  l1_set_pull(state, fit->count, fit->number, fit->now.beta);
  return status;
}
