/* Working coordinates: weights, covariates, centre and scale are met here and nowhere else. */
#include "kernels.h"
#include "lanes.h"
#include "matrix.h"
#include <limits.h>
#include <math.h>

void centred_column(const struct problem *pb, ptrdiff_t j, double *out) {
  const ptrdiff_t m = pb->m;
  const struct matrix *x = &pb->x;
  const double centre = pb->centre[j], f = pb->inv_scale[j], *w = pb->root_w;
  if (x->whole != NULL) {
    lanes->centred_whole(m, out, x->whole + j * m, centre, f, w);
    return;
  }
  if (x->p == NULL) {
    lanes->centred(m, out, x->x + j * m, centre, f, w);
    return;
  }
  for (ptrdiff_t r = 0; r < m; r++)
    out[r] = -f * w[r] * centre;
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = f * w[x->i[k]] * (x->x[k] - centre);
}

void working_column(const struct problem *pb, ptrdiff_t j, double *out) {
  const ptrdiff_t m = pb->m;
  centred_column(pb, j, out);
  for (ptrdiff_t l = 0; l < pb->q; l++) {
    const double *q = pb->Q + l * m;
    lanes->shift(m, out, lanes->dot(m, q, out), q);
  }
}

/* Whether a column of integers lacks a value. */
static int lacks_value(ptrdiff_t m, const int *column) {
  int lacks = 0;
  for (ptrdiff_t r = 0; r < m; r++)
    lacks |= column[r] == INT_MIN;
  return lacks;
}

/* Four columns side by side, as one stream alone does not keep memory busy; the last ones again
   where there are fewer. */
static void four_moments(ptrdiff_t m, const double *const *x, const double *w, double weights,
    int centred, double *c, double *squares) {
  double sums[4];
  lanes->moments(m, x, c, w, sums, squares);
  if (!centred)
    return;
  for (int i = 0; i < 4; i++)
    c[i] = sums[i] / weights;
  /* the second pass leaves an error in the last place of the mean only */
  lanes->moments(m, x, c, w, sums, squares);
  for (int i = 0; i < 4; i++) {
    c[i] += sums[i] / weights;
    squares[i] -= sums[i] * sums[i] / weights;
  }
}

/* Four columns from `from` on, or what is left of those before `to`. */
static void measure_four(ptrdiff_t m, ptrdiff_t from, ptrdiff_t to, const struct matrix *x,
    const double *w, double weights, int centred, double *room, double *centre, double *squares) {
  const double *four[4];
  double c[4] = {0}, square[4];
  for (ptrdiff_t i = 0; i < 4; i++) {
    const ptrdiff_t j = from + i < to ? from + i : to - 1;
    four[i] = x->whole != NULL ? room + i * m : x->x + j * m;
    if (x->whole != NULL)
      gather_column(x, m, j, room + i * m);
  }
  four_moments(m, four, w, weights, centred, c, square);
  for (ptrdiff_t j = from; j < from + 4 && j < to; j++) {
    const int lacks = x->whole != NULL && lacks_value(m, x->whole + j * m);
    centre[j] = c[j - from];
    squares[j] = lacks ? NAN : square[j - from];
  }
}

void column_moments(ptrdiff_t m, ptrdiff_t n, const struct matrix *x, const double *w, int centred,
    int threads, double *room, double *centre, double *squares) {
  double weights = 0;
  for (ptrdiff_t r = 0; r < m; r++)
    weights += w[r];
  const ptrdiff_t own = (n + threads - 1) / threads;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
#endif
  for (int t = 0; t < threads; t++) {
    const ptrdiff_t to = (t + 1) * own < n ? (t + 1) * own : n;
    for (ptrdiff_t from = t * own; from < to; from += 4)
      measure_four(m, from, to, x, w, weights, centred, room + t * 4 * m, centre, squares);
  }
}

ptrdiff_t asymmetric_entry(ptrdiff_t n, const double *A, const double *root, double share) {
  enum { TILE = 32 }; /* so that neither half is read across its columns from afar */
  for (ptrdiff_t left = 0; left < n; left += TILE)
    for (ptrdiff_t top = left; top < n; top += TILE)
      for (ptrdiff_t j = left; j < left + TILE && j < n; j++)
        for (ptrdiff_t i = top > j ? top : j + 1; i < top + TILE && i < n; i++)
          if (fabs(A[i + j * n] - A[j + i * n]) > share * root[i] * root[j])
            return i + j * n;
  return -1;
}
