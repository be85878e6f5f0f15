/* One column of x, whatever x is made of. Methods never ask which. */
#ifndef SPARSELS_COLUMN_H
#define SPARSELS_COLUMN_H

#include "problem.h"
#include "simd.h"
#include <math.h>
#include <string.h>

static inline int is_sparse(const struct matrix *x) {
  return x->p != NULL;
}

/* x with what stands for the missing values of each column; NULL: NAN does. */
static inline struct matrix fill_missing(struct matrix x, const double *fill) {
  x.fill = fill;
  if (x.element == DOUBLES)
    x.element = FILLED_DOUBLES;
  else if (x.element == INTEGERS)
    x.element = FILLED_INTEGERS;
  else if (x.element == FLOATS)
    x.element = FILLED_FLOATS;
  return x;
}

/* x with all its missing values read as NAN, or as what was given for them. */
static inline struct matrix read_missing(struct matrix x) {
  return x.element == INTEGERS ? fill_missing(x, NULL) : x;
}

static inline const struct column_loops *loops_of(const struct matrix *x) {
  return simd->columns + x->element;
}

/* Where row `row` of column j of a dense x is, `row` being a multiple of 4. */
static inline const void *column_at(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, ptrdiff_t row) {
  const ptrdiff_t bits = loops_of(x)->bits;
  return (const char *)x->dense + j * ((m * bits + 7) / 8) + row * bits / 8;
}

/* Column j of a dense x from that row on. */
static inline struct column column_from(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, ptrdiff_t row) {
  const double fill = x->fill == NULL ? (double)NAN : x->fill[j];
  if (x->element == COMPUTED) {
    const struct computed *one = x->computed + j;
    return (struct column){.by = one->by,
        .of = {one->of[0] + row, one->of[1] == NULL ? NULL : one->of[1] + row},
        .fill = fill};
  }
  return (struct column){.at = column_at(x, m, j, row), .codes = x->codes, .fill = fill};
}

/* Rows [row, row + rows) of column j of a dense x as doubles: in place, or copied into `copy`;
   `row` is a multiple of 4. */
static inline const double *column_rows(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, ptrdiff_t row, ptrdiff_t rows, double *copy) {
  if (x->element == DOUBLES)
    return column_at(x, m, j, row);
  loops_of(x)->gather(rows, copy, column_from(x, m, j, row));
  return copy;
}

enum { FACTORS = 8, FACTOR_ROWS = 512 };

/* The functions of columns that were computed last, in up to FACTOR_ROWS rows. Columns that are
   products often share them. */
struct factors {
  const double *of[FACTORS]; /* where the rows begin */
  const struct piecewise *by[FACTORS];
  double values[FACTORS][FACTOR_ROWS];
  int next;
};

/* The values of a factor of a product in those rows, which the next call leaves as they are. */
static inline const double *factor_rows(
    struct factors *known, const double *of, const struct piecewise *by, ptrdiff_t rows) {
  int place = 0;
  while (place < FACTORS &&
         (known->of[place] != of || known->by[place]->cubic != by->cubic ||
             known->by[place]->low != by->low || known->by[place]->high != by->high))
    place++;
  if (place == FACTORS) {
    const struct column one = {.by = by, .of = {of, NULL}, .fill = (double)NAN};
    place = known->next;
    known->of[place] = of;
    known->by[place] = by;
    simd->columns[COMPUTED].gather(rows, known->values[place], one);
  }
  if (place == known->next)
    known->next = (place + 1) % FACTORS;
  return known->values[place];
}

/* column_rows() of a block of rows after the other, the same rows of several columns. */
static inline const double *column_rows_by(struct factors *known, const struct matrix *x,
    ptrdiff_t m, ptrdiff_t j, ptrdiff_t row, ptrdiff_t rows, double *copy) {
  if (x->element != COMPUTED || x->computed[j].of[1] == NULL)
    return column_rows(x, m, j, row, rows, copy);
  const struct column column = column_from(x, m, j, row);
  const double *a = factor_rows(known, column.of[0], column.by, rows);
  simd->weighted(rows, copy, a, factor_rows(known, column.of[1], column.by + 1, rows));
  for (ptrdiff_t r = 0; r < rows && !isnan(column.fill); r++)
    copy[r] = isnan(copy[r]) ? column.fill : copy[r];
  return copy;
}

/* out (m) := column j. */
static inline void gather_column(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double *out) {
  if (!is_sparse(x)) {
    loops_of(x)->gather(m, out, column_from(x, m, j, 0));
    return;
  }
  memset(out, 0, (size_t)m * sizeof(double));
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = x->x[k];
}

/* Sum over rows of x_j v, x sparse, in four running sums: one would wait for each addition. */
static inline double column_sparse_dot(const struct matrix *x, ptrdiff_t j, const double *v) {
  const int *i = x->i, end = x->p[j + 1];
  const double *value = x->x;
  double a = 0, b = 0, c = 0, d = 0;
  int k = x->p[j];
  for (; k + 3 < end; k += 4) {
    a += value[k] * v[i[k]];
    b += value[k + 1] * v[i[k + 1]];
    c += value[k + 2] * v[i[k + 2]];
    d += value[k + 3] * v[i[k + 3]];
  }
  for (; k < end; k++)
    a += value[k] * v[i[k]];
  return (a + b) + (c + d);
}

/* Sum over rows of w (x_j - centre)^2, x dense. */
static inline double column_square(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre, const double *w) {
  return loops_of(x)->centred_square(m, column_from(x, m, j, 0), centre, w);
}

/* s (m) -= step h (x_j - centre), x dense. */
static inline void column_shift_weighted(const struct matrix *x, ptrdiff_t m, ptrdiff_t j,
    double centre, double step, const double *h, double *s) {
  loops_of(x)->shift_weighted(m, s, step, h, column_from(x, m, j, 0), centre);
}

/* Sum over rows of (x_j - centre) v, `sum` being that of v. */
static inline double column_dot(
    const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre, const double *v, double sum) {
  if (!is_sparse(x))
    return loops_of(x)->centred_dot(m, column_from(x, m, j, 0), centre, v);
  return column_sparse_dot(x, j, v) - centre * sum;
}

/* f (m) += step (x_j - centre), less a constant that is added to *offset: of a sparse column only
   the nonzeros are touched. */
static inline void column_add(const struct matrix *x, ptrdiff_t m, ptrdiff_t j, double centre,
    double step, double *f, double *offset) {
  if (!is_sparse(x)) {
    loops_of(x)->add_centred(m, f, step, column_from(x, m, j, 0), centre);
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
    loops_of(x)->centred(m, out, column_from(x, m, j, 0), centre, f, w);
    return;
  }
  for (ptrdiff_t r = 0; r < m; r++)
    out[r] = -f * w[r] * centre;
  for (int k = x->p[j]; k < x->p[j + 1]; k++)
    out[x->i[k]] = f * w[x->i[k]] * (x->x[k] - centre);
}

#endif
