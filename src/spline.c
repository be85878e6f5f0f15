/* Natural cubic splines. */
#include "spline.h"
#include <math.h>

/* The piece that has a value within the knots: from knot `from` to the next one. */
static ptrdiff_t piece_of(const struct splines *splines, double x) {
  ptrdiff_t from = 0;
  while (from < splines->knots - 2 && x >= splines->at[from + 1])
    from++;
  return from;
}

/* Each function is a sum of its values and second derivatives at both ends of a piece. Beyond the
   knots its slope at the end goes on. */
void spline_values(const struct splines *splines, ptrdiff_t m, const double *x, double *out) {
  const double *at = splines->at, last = at[splines->knots - 1];
  for (ptrdiff_t p = 0; p < m; p++) {
    const double inside = x[p] < at[0] ? at[0] : x[p] > last ? last : x[p];
    const ptrdiff_t from = piece_of(splines, inside);
    const double h = (at[from + 1] - at[from]) / splines->unit;
    const double right = (at[from + 1] - inside) / splines->unit;
    const double left = (inside - at[from]) / splines->unit;
    const double beyond = (x[p] - inside) / splines->unit;
    const double first = right / h - beyond / h, next = left / h + beyond / h;
    const double bend = beyond * h / 6;
    const double first_bend = (right * right / h - h) * right / 6 + (beyond > 0 ? bend : 0);
    const double next_bend = (left * left / h - h) * left / 6 - (beyond < 0 ? bend : 0);
    for (ptrdiff_t l = 0; l < splines->count; l++) {
      const double *value = splines->values + from + l * splines->knots;
      const double *second = splines->second + from + l * splines->knots;
      out[p + l * m] =
          first * value[0] + next * value[1] + first_bend * second[0] + next_bend * second[1];
    }
  }
}
