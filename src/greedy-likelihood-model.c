/* Models of a greedy search by a likelihood: Newton's method for the columns of a set. */
#include "greedy-likelihood.h"
#include "simd.h"
#include "tolerance.h"
#include "triangle.h"
#include <math.h>
#include <string.h>

/* Steps of a model, and halvings of each, at most; what the loss of a row costs, in products. */
enum { LIKELIHOOD_STEPS = 200, LIKELIHOOD_HALVINGS = 40, LIKELIHOOD_ROW_COST = 8 };

void likelihood_fill(const struct likelihood_search *s, double *x) {
  memset(x + s->pb->m, 0, (size_t)(s->m - s->pb->m) * sizeof(double));
}

static struct likelihood_rows likelihood_rows_of(
    const struct likelihood_search *s, const double *w, const struct likelihood_model *model) {
  return (struct likelihood_rows){.m = s->control->loss->curve == NULL ? s->m : s->pb->m,
      .L = 1,
      .y = s->y,
      .w = w,
      .known = s->known,
      .parameter = s->pb->parameter,
      .risk = &s->pb->risk,
      .memo = model->memo};
}

void likelihood_curve(const struct likelihood_search *s, const double *w,
    const struct likelihood_model *model, const double *x, double *out) {
  const struct likelihood *loss = s->control->loss;
  const struct likelihood_rows rows = likelihood_rows_of(s, w, model);
  if (loss->curve == NULL)
    simd->weighted(s->m, out, model->h, x);
  else {
    loss->curve(&rows, model->h, x, out);
    likelihood_fill(s, out);
  }
}

void likelihood_curvature(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    const struct likelihood_model *model, double *K) {
  const ptrdiff_t m = s->m;
  for (ptrdiff_t j = 0; j < p; j++) {
    double *column = K + j * s->most;
    likelihood_curve(s, w, model, s->C + j * m, model->moved);
    simd->dots(m, model->moved, j + 1, s->C, m, column);
    column[j] += j < s->pb->q ? model->ridge : s->control->lambda;
  }
}

int likelihood_factor(const struct likelihood_search *s, ptrdiff_t p, double *R) {
  for (ptrdiff_t j = 0; j < p; j++) {
    double *column = R + j * s->most;
    const double square = column[j];
    solve_transposed(j, R, s->most, column);
    const double pivot = square - simd->dot(j, column, column);
    if (!(pivot > LIKELIHOOD_SINGULAR * square))
      return 0;
    column[j] = sqrt(pivot);
  }
  return 1;
}

/* ---- points ---- */

void likelihood_predict(
    const struct likelihood_search *s, ptrdiff_t p, struct likelihood_model *model) {
  const ptrdiff_t m = s->m;
  memset(model->f, 0, (size_t)m * sizeof(double));
  if (s->pb->offset != NULL)
    memcpy(model->f, s->pb->offset, (size_t)s->pb->m * sizeof(double));
  for (ptrdiff_t j = 0; j < p; j++)
    simd->shift(m, model->f, -model->b[j], s->C + j * m);
}

double likelihood_loss_at(
    const struct likelihood_search *s, const double *w, struct likelihood_model *model) {
  const struct likelihood_rows rows = likelihood_rows_of(s, w, model);
  const double loss = s->control->loss->evaluate(&rows, model->f, model->v, model->h);
  likelihood_fill(s, model->v);
  likelihood_fill(s, model->h);
  return loss;
}

double likelihood_pull(const struct likelihood_search *s, const struct likelihood_model *model) {
  double squares = 0;
  for (ptrdiff_t l = 0; l < s->pb->q; l++)
    squares += (model->b[l] - model->towards[l]) * (model->b[l] - model->towards[l]);
  return model->ridge / 2 * squares;
}

void likelihood_evaluate(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model) {
  const ptrdiff_t q = s->pb->q;
  const double squares = simd->dot(p - q, model->b + q, model->b + q);
  model->objective = likelihood_loss_at(s, w, model) + s->control->lambda / 2 * squares +
                     likelihood_pull(s, model);
}

/* ---- Newton's method ---- */

/* step := K^-1 times minus the gradient; returns their product, twice what the step promises. */
static double likelihood_direction(
    const struct likelihood_search *s, ptrdiff_t p, struct likelihood_model *model) {
  const ptrdiff_t m = s->m, q = s->pb->q;
  simd->dots(m, model->v, p, s->C, m, model->step);
  simd->shift(p - q, model->step + q, s->control->lambda, model->b + q);
  for (ptrdiff_t l = 0; l < q; l++)
    model->step[l] -= model->ridge * (model->b[l] - model->towards[l]);
  solve_transposed(p, model->R, s->most, model->step);
  const double decrement = simd->dot(p, model->step, model->step);
  solve_upper(p, model->R, s->most, model->step);
  return decrement;
}

/* Moves b and f by the step. */
static void likelihood_take_step(
    const struct likelihood_search *s, ptrdiff_t p, struct likelihood_model *model) {
  const ptrdiff_t m = s->m;
  memset(model->moved, 0, (size_t)m * sizeof(double));
  simd->shift_all(m, model->moved, p, s->C, m, model->step);
  simd->shift(m, model->f, 1, model->moved);
  simd->shift(p, model->b, -1, model->step);
}

/* Moves the model along its step, by half, a quarter and so on where it would rise; returns whether
   it moved by the whole step. */
static int likelihood_move(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model) {
  const ptrdiff_t m = s->m;
  const double before = model->objective;
  int halved = 0;
  likelihood_take_step(s, p, model);
  likelihood_evaluate(s, w, p, model);
  for (double by = 0.5;
       !(model->objective <= before + RISE * fabs(before)) && halved < LIKELIHOOD_HALVINGS;
       by /= 2, halved++) {
    simd->shift(m, model->f, -by, model->moved);
    simd->shift(p, model->b, by, model->step);
    likelihood_evaluate(s, w, p, model);
  }
  return halved == 0;
}

static int likelihood_renew(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model) {
  likelihood_curvature(s, w, p, model, model->R);
  return likelihood_factor(s, p, model->R);
}

/* Whether a factor of another point costs more than a new one, from the last decrements. Steps with
   it shrink the decrement by about the same share each, with a new one two more are enough. */
static int likelihood_is_slow(ptrdiff_t p, double decrement, double before, double goal) {
  if (decrement >= before)
    return 1;
  const double left = decrement > goal ? log(goal / decrement) / log(decrement / before) : 0;
  const double step = 2 * (double)p + LIKELIHOOD_ROW_COST, factor = (double)(p * (p + 3)) / 2;
  return (left - 2) * step > factor;
}

enum status likelihood_minimise(const struct likelihood_search *s, const double *w, ptrdiff_t p,
    struct likelihood_model *model, int factored, double share) {
  double before = INFINITY;
  const double unit = s->unit > 0 ? s->unit : model->objective, goal = share * unit;
  for (int i = 0; i < LIKELIHOOD_STEPS && p > 0; i++) {
    int renewed = !factored;
    if (renewed && !likelihood_renew(s, w, p, model))
      return NOT_POSITIVE;
    double decrement = likelihood_direction(s, p, model);
    if (!renewed && likelihood_is_slow(p, decrement, before, goal)) {
      renewed = 1;
      if (!likelihood_renew(s, w, p, model))
        return NOT_POSITIVE;
      decrement = likelihood_direction(s, p, model);
    }
    const int stalled = renewed && decrement > before / 4 && decrement <= LIKELIHOOD_STALLED * unit;
    const double left = i == 0 ? decrement : decrement * fmin(1, decrement / before);
    if (left <= goal || stalled) {
      likelihood_take_step(s, p, model);
      return COMPLETE;
    }
    before = decrement;
    factored = likelihood_move(s, w, p, model);
  }
  return COMPLETE;
}

void likelihood_copy(const struct likelihood_search *s, ptrdiff_t p,
    const struct likelihood_model *from, struct likelihood_model *to) {
  const size_t rows = (size_t)s->m * sizeof(double);
  memcpy(to->b, from->b, (size_t)p * sizeof(double));
  memcpy(to->f, from->f, rows);
  memcpy(to->v, from->v, rows);
  memcpy(to->h, from->h, rows);
  to->objective = from->objective;
}
