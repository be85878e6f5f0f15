/* Natural cubic splines. */
#include "spline.h"
#include <string.h>

/* The piece that has a value within the knots: from knot `from` to the next one. The knots are
   counted without a branch, which values in no order would mislead. */
static ptrdiff_t piece_of(const struct splines *splines, double x) {
  ptrdiff_t from = 0;
  for (ptrdiff_t k = 1; k < splines->knots - 1; k++)
    from += x >= splines->at[k];
  return from;
}

/* What the values and second derivatives at both ends of a piece are multiplied with: in `by` the
   values at `from` and the next knot, then the derivatives. */
struct spline_place {
  ptrdiff_t from;
  double by[4];
};

/* Each function is a sum of its values and second derivatives at both ends of a piece. Beyond the
   knots its slope at the end goes on. */
static struct spline_place spline_place_at(const struct splines *splines, double x) {
  const double *at = splines->at, last = at[splines->knots - 1];
  const double inside = x < at[0] ? at[0] : x > last ? last : x;
  const ptrdiff_t from = piece_of(splines, inside);
  const double h = (at[from + 1] - at[from]) / splines->unit;
  const double right = (at[from + 1] - inside) / splines->unit;
  const double left = (inside - at[from]) / splines->unit;
  const double beyond = (x - inside) / splines->unit;
  const double bend = beyond * h / 6;
  return (struct spline_place){.from = from,
      .by = {right / h - beyond / h, left / h + beyond / h,
          (right * right / h - h) * right / 6 + (beyond > 0 ? bend : 0),
          (left * left / h - h) * left / 6 - (beyond < 0 ? bend : 0)}};
}

/* part (4) := what `by` of spline_place_at() multiplies in function l. */
static void ends_of(const struct splines *splines, ptrdiff_t from, ptrdiff_t l, double *part) {
  const double *value = splines->values + from + l * splines->knots;
  const double *second = splines->second + from + l * splines->knots;
  part[0] = value[0];
  part[1] = value[1];
  part[2] = second[0];
  part[3] = second[1];
}

void spline_values(const struct splines *splines, ptrdiff_t m, const double *x, double *out) {
  for (ptrdiff_t p = 0; p < m; p++) {
    const struct spline_place place = spline_place_at(splines, x[p]);
    for (ptrdiff_t l = 0; l < splines->count; l++) {
      double part[4];
      ends_of(splines, place.from, l, part);
      out[p + l * m] = place.by[0] * part[0] + place.by[1] * part[1] + place.by[2] * part[2] +
                       place.by[3] * part[3];
    }
  }
}

void spline_products(const struct splines *splines, ptrdiff_t m, const double *x, const double *w,
    double *sums, double *out) {
  const ptrdiff_t pieces = splines->knots - 1, count = splines->count;
  memset(sums, 0, (size_t)(pieces * 16) * sizeof(double));
  memset(out, 0, (size_t)(count * count) * sizeof(double));
  for (ptrdiff_t p = 0; p < m; p++) {
    const struct spline_place place = spline_place_at(splines, x[p]);
    double *of_piece = sums + 16 * place.from;
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++)
        of_piece[4 * a + b] += w[p] * place.by[a] * place.by[b];
  }
  for (ptrdiff_t from = 0; from < pieces; from++, sums += 16)
    for (ptrdiff_t i = 0; i < count; i++)
      for (ptrdiff_t l = 0; l < count; l++) {
        double first[4], other[4];
        ends_of(splines, from, i, first);
        ends_of(splines, from, l, other);
        for (int a = 0; a < 4; a++)
          for (int b = 0; b < 4; b++)
            out[i + l * count] += first[a] * sums[4 * a + b] * other[b];
      }
}

ptrdiff_t quantile_knots(const struct quantiles *of, struct quantile_work work, double *knots) {
  long double total = 0, before = 0;
  double sum = 0;
  ptrdiff_t count = 0, found = 0, rest = 0;
  for (ptrdiff_t p = 0; p < of->m; p++) {
    const double x = of->x[of->order[p] - 1];
    total += of->w[of->order[p] - 1];
    if (p + 1 < of->m && of->x[of->order[p + 1] - 1] == x)
      continue;
    work.value[count] = x;
    work.weight[count++] = (double)total - sum;
    sum = (double)total;
  }
  if (count <= of->most) {
    memcpy(knots, work.value, (size_t)count * sizeof(double));
    return count;
  }
  for (ptrdiff_t i = 0; i < count; i++) {
    if (work.weight[i] > sum / (double)(of->most - 1)) {
      knots[found++] = work.value[i];
      continue;
    }
    before += work.weight[i];
    work.value[rest] = work.value[i];
    work.weight[rest++] = (double)before;
  }
  const ptrdiff_t between = of->most - found > 2 ? of->most - found : 2;
  const double by = (of->high - of->low) / (double)(between - 1);
  for (ptrdiff_t i = 0, at = 0; i < between && rest > 0; i++) {
    const double share = i < between - 1 ? of->low + (double)i * by : of->high;
    while (at < rest - 1 && work.weight[at] < share * work.weight[rest - 1] * (1 - 1e-12))
      at++;
    knots[found++] = work.value[at];
  }
  return found;
}
