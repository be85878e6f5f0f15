/* The quadratic model of a step of the dual: minimise slope'x + x'Hx / 2 over sum x = 0 and
   0 <= s + x <= 1, by exchanges between pairs of units and then by Newton steps off the bounds. */
#include "simd.h"
#include "subset-dual.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>

enum { DUAL_NEWTON_ROUNDS = 12 };

static void model_shift(struct dual *d, ptrdiff_t i, double step) {
  d->moved[i] += step;
  simd->shift(d->active, d->slope, -step, d->H + i * d->active);
}

/* Moves share from one unit to another, the pair that gains most with the steepest. 0 at the end.
   O(a) */
static int model_exchange(struct dual *d) {
  const ptrdiff_t a = d->active;
  ptrdiff_t up = -1, down = -1;
  double steepest = INFINITY, most = 0, step = 0;
  for (ptrdiff_t i = 0; i < a; i++)
    if (d->slope[i] < steepest && d->moved[i] < 1) {
      steepest = d->slope[i];
      up = i;
    }
  if (up < 0)
    return 0;
  const double *H = d->H + up * a;
  for (ptrdiff_t j = 0; j < a; j++) {
    const double fall = d->slope[j] - steepest, bend = H[up] + d->H[j + j * a] - 2 * H[j];
    /* fall^2 / bend, the gain of a whole step, is above `most` */
    if (fall > 0 && d->moved[j] > 0 && fall * fall > most * bend) {
      step = bend > DBL_MIN ? fall / bend : 1;
      most = fall * step;
      down = j;
    }
  }
  if (down < 0)
    return 0;
  step = fmin(step, fmin(1 - d->moved[up], d->moved[down]));
  model_shift(d, up, step);
  model_shift(d, down, -step);
  return step > 0;
}

/* Newton's direction of the inner units in d->solution. O(a^3) */
static void model_direction(struct dual *d, ptrdiff_t inner) {
  const ptrdiff_t a = d->active;
  double *x = d->solution, *one = d->solution + inner, largest = 0, sum_x = 0, sum_one = 0;
  for (ptrdiff_t j = 0; j < inner; j++) {
    const double *H = d->H + d->inner[j] * a;
    for (ptrdiff_t i = j; i < inner; i++)
      d->rows[i + j * inner] = H[d->inner[i]];
    largest = fmax(largest, H[d->inner[j]]);
    x[j] = -d->slope[d->inner[j]];
    one[j] = 1;
  }
  factor_in_place(inner, d->rows, inner, DUAL_FLAT * largest + DBL_MIN);
  for (ptrdiff_t c = 0; c < 2; c++) {
    solve_transposed(inner, d->rows, inner, x + c * inner);
    solve_upper(inner, d->rows, inner, x + c * inner);
  }
  for (ptrdiff_t j = 0; j < inner; j++) {
    sum_x += x[j];
    sum_one += one[j];
  }
  for (ptrdiff_t j = 0; j < inner; j++)
    x[j] -= one[j] * sum_x / sum_one;
}

/* A Newton step on the units off their bounds, cut at the first bound. 0 when it was not cut. */
static int model_newton(struct dual *d) {
  ptrdiff_t inner = 0;
  for (ptrdiff_t i = 0; i < d->active; i++)
    if (d->moved[i] > 0 && d->moved[i] < 1)
      d->inner[inner++] = (int)i;
  if (inner < 2)
    return 0;
  model_direction(d, inner);
  double length = 1;
  ptrdiff_t stop = -1;
  for (ptrdiff_t j = 0; j < inner; j++) {
    const double x = d->solution[j], share = d->moved[d->inner[j]],
                 room = x > 0 ? 1 - share : share;
    if (fabs(x) * length > room) {
      length = room / fabs(x);
      stop = j;
    }
  }
  for (ptrdiff_t j = 0; j < inner; j++)
    model_shift(d, d->inner[j], length * d->solution[j]);
  if (stop < 0)
    return 0;
  d->moved[d->inner[stop]] = d->solution[stop] > 0;
  return 1;
}

void dual_minimise_model(struct dual *d) {
  for (int i = 0; i < d->active; i++) {
    d->slope[i] = -d->gain[d->unit[i]];
    d->moved[i] = d->share[d->unit[i]];
  }
  for (int round = 0; round < 2 * d->active && model_exchange(d); round++)
    ;
  for (int round = 0; round < DUAL_NEWTON_ROUNDS && model_newton(d); round++)
    ;
  for (int i = 0; i < d->active; i++)
    d->change[i] = d->moved[i] - d->share[d->unit[i]];
}
