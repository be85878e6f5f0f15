/* The loops over one dense column x of m elements, for one instruction set and one type of element:
   simd-set.h includes this once for each type, with ELEMENT, the type; MISSING(x), whether an
   element stands for a missing value and is no NAN; COLUMN(f), the name of f; and what simd-set.h
   was given. */

TARGET static void COLUMN(gather)(ptrdiff_t m, double *out, const void *column) {
  const ELEMENT *x = column;
  SIMD for (ptrdiff_t j = 0; j < m; j++) out[j] = x[j];
}

TARGET static int COLUMN(has_missing)(ptrdiff_t m, const void *column) {
  const ELEMENT *x = column;
  int missing = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    missing |= MISSING(x[j]);
  return missing;
}

/* Sums go over vectors that are written out, so that their terms are added in one order whatever
   the elements are. */
#if WIDTH == 1
#define ELEMENTS_AT(p) (*(p))
#else
typedef ELEMENT COLUMN(elements)
    __attribute__((vector_size(WIDTH * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));
#define ELEMENTS_AT(p) __builtin_convertvector(*(const COLUMN(elements) *)(p), vector)
#endif

TARGET static double COLUMN(centred_dot)(
    ptrdiff_t m, const void *column, double centre, const double *v) {
  const ELEMENT *x = column;
  vector total = {0}, other = {0};
  ptrdiff_t j = 0;
  for (; j + 2 * WIDTH <= m; j += 2 * WIDTH) {
    total += (ELEMENTS_AT(x + j) - centre) * AT(v + j);
    other += (ELEMENTS_AT(x + j + WIDTH) - centre) * AT(v + j + WIDTH);
  }
  if (j + WIDTH <= m) {
    total += (ELEMENTS_AT(x + j) - centre) * AT(v + j);
    j += WIDTH;
  }
  total += other;
  double sum = NAME(across)((const double *)&total);
  for (; j < m; j++)
    sum += (x[j] - centre) * v[j];
  return sum;
}

TARGET static double COLUMN(centred_square)(
    ptrdiff_t m, const void *column, double centre, const double *w) {
  const ELEMENT *x = column;
  vector total = {0};
  ptrdiff_t j = 0;
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector off = ELEMENTS_AT(x + j) - centre;
    total += AT(w + j) * off * off;
  }
  double sum = NAME(across)((const double *)&total);
  for (; j < m; j++)
    sum += w[j] * (x[j] - centre) * (x[j] - centre);
  return sum;
}

TARGET static void COLUMN(add_centred)(
    ptrdiff_t m, double *f, double step, const void *column, double centre) {
  const ELEMENT *x = column;
  SIMD for (ptrdiff_t j = 0; j < m; j++) f[j] += step * (x[j] - centre);
}

TARGET static void COLUMN(shift_weighted)(
    ptrdiff_t m, double *s, double step, const double *h, const void *column, double centre) {
  const ELEMENT *x = column;
  SIMD for (ptrdiff_t j = 0; j < m; j++) s[j] -= step * h[j] * (x[j] - centre);
}

TARGET static void COLUMN(centred)(
    ptrdiff_t m, double *out, const void *column, double centre, double f, const double *w) {
  const ELEMENT *x = column;
  SIMD for (ptrdiff_t j = 0; j < m; j++) out[j] = f * w[j] * (x[j] - centre);
}

#undef ELEMENT
#undef MISSING
#undef COLUMN
#undef ELEMENTS_AT
