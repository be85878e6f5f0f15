/* The leave-one-out error of sets, and what it cannot fall below in a node.

   With G_S = (I + X_S X_S')^-1, A_S = G_S Y and d(S) = diag(G_S) - h, the sum of squared
   leave-one-out residuals is |Z|^2, Z = A_S / d(S). If S contains I, then d(S) <= d(I) =: d. With
   any A, D <= F(S) the dual bound at A, and F = F(S) = <A_S, Y>, |A_S - A|^2 <= F - D. Along d Y,
   of length sqrt(Q), A_S / d has the component F / sqrt(Q); the rest of it is near the rest of A /
   d:

     |Z|^2 >= F^2 / Q + (z - sqrt(e^2 (F - D) - (F - g)^2 / Q))^2

   with e = 1 / min d, g = <A, Y> and z^2 = |A / d|^2 - g^2 / Q; the square counts where z is larger
   than the root. */
#include "simd.h"
#include "subset-tree.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

/* V := X_S R^-1 with R'R = I + X_S'X_S, so that G = I - V V'. Returns the number of columns. */
static ptrdiff_t held_factor(struct tree *t, int count, const int *unit) {
  const struct gram *gram = &t->terms->gram;
  const ptrdiff_t m = gram->m;
  ptrdiff_t p = 0;
  for (int s = 0; s < count; s++)
    for (int j = t->terms->unit[unit[s]]; j < t->terms->unit[unit[s] + 1]; j++, p++) {
      double *v = t->V + p * m, *R = t->solved;
      memcpy(v, gram->X + j * m, (size_t)m * sizeof(double));
      for (ptrdiff_t i = 0; i < p; i++)
        R[i] = simd->dot(m, t->V + i * m, v);
      /* V'x = R'^-1 X_S'x, of which R holds the part above its diagonal */
      double pivot = 1 + simd->dot(m, v, v) - simd->dot(p, R, R);
      simd->shift_all(m, v, p, t->V, m, R);
      for (ptrdiff_t i = 0; i < m; i++)
        v[i] /= sqrt(pivot);
    }
  return p;
}

ptrdiff_t held_rows(struct tree *t, int count, const int *unit) {
  const struct gram *gram = &t->terms->gram;
  const ptrdiff_t m = gram->m, p = held_factor(t, count, unit);
  for (ptrdiff_t i = 0; i < m; i++)
    t->d[i] = 1 - t->control->h[i];
  for (ptrdiff_t j = 0; j < p; j++)
    simd->shift_squares(m, t->d, 1, t->V + j * m);
  t->Q = 0;
  for (ptrdiff_t l = 0; l < gram->L; l++)
    for (ptrdiff_t i = 0; i < m; i++) {
      const double dy = t->d[i] * t->control->Y[i + l * m];
      t->Q += dy * dy;
    }
  return p;
}

/* The sum of squares of A / d. */
static double held_square(const struct tree *t) {
  const ptrdiff_t m = t->terms->gram.m;
  double sum = 0;
  for (ptrdiff_t l = 0; l < t->terms->gram.L; l++)
    for (ptrdiff_t i = 0; i < m; i++) {
      const double z = t->A[i + l * m] / t->d[i];
      sum += t->A[i + l * m] == 0 ? 0 : z * z;
    }
  return sum;
}

double held_least(const struct tree *t) {
  double least = 1;
  for (ptrdiff_t i = 0; i < t->terms->gram.m; i++)
    least = fmin(least, t->d[i]);
  return least;
}

double held_value(struct tree *t, int count, const int *unit) {
  const ptrdiff_t m = t->terms->gram.m, L = t->terms->gram.L;
  const ptrdiff_t p = held_rows(t, count, unit);
  if (held_least(t) <= HELD_ALIASED)
    return INFINITY;
  memcpy(t->A, t->control->Y, (size_t)(m * L) * sizeof(double));
  for (ptrdiff_t l = 0; l < L; l++)
    for (ptrdiff_t j = 0; j < p; j++)
      simd->shift(m, t->A + l * m, simd->dot(m, t->V + j * m, t->control->Y + l * m), t->V + j * m);
  return held_square(t);
}

/* ---- the bound ---- */

struct held_bound {
  double D, Q, e, g, z;
};

/* The least of the formula for F from `from` to `to`: its terms at their least one by one. */
static double least_between(const struct held_bound *of, double from, double to) {
  const double steepest = fmin(fmax(of->g + of->e * of->e * of->Q / 2, from), to);
  const double along = steepest - of->g;
  const double ball = of->e * of->e * (steepest - of->D) - along * along / of->Q;
  const double rest = fmax(of->z - sqrt(fmax(ball, 0)), 0);
  return from * from / of->Q + rest * rest;
}

/* The least of the formula over all F: the interval with the least bound is halved again and again.
 */
static double least_over(
    const struct tree *t, const struct held_bound *of, double from, double to) {
  double *lower = t->lower, *begin = t->from, *width = t->width;
  begin[0] = from;
  width[0] = to - from;
  lower[0] = least_between(of, from, to);
  int least = 0;
  for (int count = 1; count < HELD_INTERVALS; count++) {
    width[least] /= 2;
    begin[count] = begin[least] + width[least];
    width[count] = width[least];
    lower[least] = least_between(of, begin[least], begin[count]);
    lower[count] = least_between(of, begin[count], begin[count] + width[count]);
    least = 0;
    for (int i = 1; i <= count; i++)
      if (lower[i] < lower[least])
        least = i;
  }
  return lower[least];
}

/* Rounding in d is below `rounding`, and makes z no larger and e no smaller. */
double held_bound(struct tree *t, double bound, double limit) {
  const ptrdiff_t m = t->terms->gram.m, length = m * t->terms->gram.L;
  if (bound > limit)
    return INFINITY;
  const double rounding = 4 * ROUNDING_UNIT * (double)m;
  const double least = held_least(t) - rounding, from = fmax(bound, 0);
  if (least <= HELD_ALIASED)
    return from * from / t->Q;
  struct held_bound of = {.D = bound, .Q = t->Q, .e = 1 / least};
  const double square = held_square(t);
  of.g = simd->dot(length, t->A, t->control->Y);
  of.z = sqrt(fmax(square - of.g * of.g / of.Q, 0)) - rounding / least * sqrt(square);
  return least_over(t, &of, from, fmax(from, limit));
}
