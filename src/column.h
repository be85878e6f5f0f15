/* One column of x, whatever x is made of. Methods never ask which. */
#ifndef SPARSELS_COLUMN_H
#define SPARSELS_COLUMN_H

#include "problem.h"
#include "simd.h"
#include <string.h>

static inline int is_sparse(const struct matrix *x) {
  return x->p != NULL;
}

/* Where row `row` of column j of a dense x is. */
static inline const void *column_at(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, ptrdiff_t row) {
  const size_t at = (size_t)(j * m + row);
  return (const char *)x->dense + at * simd->columns[x->element].bytes;
}

/* Rows [row, row + rows) of column j of a dense x as doubles: in place, or copied into `copy`. */
static inline const double *column_rows(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, ptrdiff_t row, ptrdiff_t rows, double *copy) {
  const void *at = column_at(x, m, j, row);
  if (x->element == DOUBLES)
    return at;
  simd->columns[x->element].gather(rows, copy, at);
  return copy;
}

/* Whether column j of a dense x has an element that stands for a missing value and is not NAN. */
static inline int column_has_missing(const struct matrix *x, ptrdiff_t m, ptrdiff_t j) {
  return simd->columns[x->element].has_missing(m, column_at(x, m, j, 0));
}

/* out (m) := column j. */
static inline void gather_column(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double *out) {
  if (!is_sparse(x)) {
    simd->columns[x->element].gather(m, out, column_at(x, m, j, 0));
    return;
  }
  memset(out, 0, (size_t)m * sizeof(double));
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = x->x[k];
}

/* Sum over rows of x_j v, x sparse, in two running sums: one alone would wait for each addition. */
static inline double column_sparse_dot(const struct matrix *x, ptrdiff_t j, const double *v) {
  const int *i = x->i, end = x->p[j + 1];
  const double *value = x->x;
  double dot = 0, other = 0;
  int k = x->p[j];
  for (; k + 1 < end; k += 2) {
    dot += value[k] * v[i[k]];
    other += value[k + 1] * v[i[k + 1]];
  }
  return k < end ? dot + value[k] * v[i[k]] + other : dot + other;
}

/* Sum over rows of (x_j - centre) v, `sum` being that of v. */
static inline double column_dot(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre, const double *v, double sum) {
  if (!is_sparse(x))
    return simd->columns[x->element].centred_dot(m, column_at(x, m, j, 0), centre, v);
  return column_sparse_dot(x, j, v) - centre * sum;
}

/* f (m) += step (x_j - centre), less a constant that is added to *offset: of a sparse column only
   the nonzeros are touched. */
static inline void column_add(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre,
    double step, double *f, double *offset) {
  if (!is_sparse(x)) {
    simd->columns[x->element].add_centred(m, f, step, column_at(x, m, j, 0), centre);
    return;
  }
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    f[x->i[k]] += step * x->x[k];
  *offset -= step * centre;
}

/* out (m) := f w (x_j - centre). */
static inline void column_centred(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre,
    double f, const double *w, double *out) {
  if (!is_sparse(x)) {
    simd->columns[x->element].centred(m, out, column_at(x, m, j, 0), centre, f, w);
    return;
  }
  for (ptrdiff_t r = 0; r < m; r++)
    out[r] = -f * w[r] * centre;
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = f * w[x->i[k]] * (x->x[k] - centre);
}

#endif
