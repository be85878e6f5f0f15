/* The loops over one dense column of m elements, for one instruction set and one kind of element:
   simd-set.h includes this once for each kind, with COLUMN(f), the name of f; and what simd-set.h
   was given. A kind of numbers has ELEMENT, their type, and, where some stand for a missing value,
   MISSING(v), whether v does. Any other has READER, what its loops read; OPEN(column), which makes
   it of a struct column; and the functions COLUMN(values) and COLUMN(value). */

#ifdef ELEMENT

#define READER struct column
#define OPEN(column) (column)

#ifdef MISSING
#define OR_FILL(v) OR_ELSE(MISSING(v), x->fill, v)
#define ONE_OR_FILL(v) (MISSING(v) ? x->fill : (v))
#else
#define OR_FILL(v) (v)
#define ONE_OR_FILL(v) (v)
#endif

/* The value in row j. */
TARGET static inline double COLUMN(value)(const struct column *x, ptrdiff_t j) {
  const double value = ((const ELEMENT *)x->at)[j];
  return ONE_OR_FILL(value);
}

#if WIDTH > 1
typedef ELEMENT COLUMN(elements)
    __attribute__((vector_size(WIDTH * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));

/* The values in row j, a multiple of WIDTH, and those after it. */
TARGET static inline vector COLUMN(values)(const struct column *x, ptrdiff_t j) {
  const void *at = (const ELEMENT *)x->at + j;
  const vector values = __builtin_convertvector(*(const COLUMN(elements) *)at, vector);
  return OR_FILL(values);
}
#endif

#undef OR_FILL
#undef ONE_OR_FILL
#endif

#define VALUE(j) COLUMN(value)(&x, j)
#if WIDTH == 1
#define VALUES(j) VALUE(j)
#else
#define VALUES(j) COLUMN(values)(&x, j)
#endif

/* Where rows do not meet, the compiler makes vectors by itself, but not of codes and what may be
   missing: GROUP rows are taken together, GROUP_AT(p) those at p, to be written GROUP_PUT(p). */
#if WIDTH == 1 || (defined(ELEMENT) && !defined(MISSING))
#define GROUP 1
#define GROUP_AT(p) (*(p))
#define GROUP_PUT(p) (*(p))
#define GROUP_VALUES(j) VALUE(j)
#define EACH SIMD
#else
#define GROUP WIDTH
#define GROUP_AT(p) AT(p)
#define GROUP_PUT(p) PUT(p)
#define GROUP_VALUES(j) VALUES(j)
#define EACH
#endif

TARGET static void COLUMN(gather)(ptrdiff_t m, double *out, struct column column) {
  const READER x = OPEN(column);
  const ptrdiff_t whole = m - m % GROUP;
  EACH for (ptrdiff_t j = 0; j < whole; j += GROUP) GROUP_PUT(out + j) = GROUP_VALUES(j);
  for (ptrdiff_t j = whole; j < m; j++)
    out[j] = VALUE(j);
}

/* Sums go over vectors that are written out, so that their terms are added in one order whatever
   the elements are. */

TARGET static double COLUMN(centred_dot)(
    ptrdiff_t m, struct column column, double centre, const double *v) {
  const READER x = OPEN(column);
  vector total = {0}, other = {0};
  ptrdiff_t j = 0;
  for (; j + 2 * WIDTH <= m; j += 2 * WIDTH) {
    total += (VALUES(j) - centre) * AT(v + j);
    other += (VALUES(j + WIDTH) - centre) * AT(v + j + WIDTH);
  }
  if (j + WIDTH <= m) {
    total += (VALUES(j) - centre) * AT(v + j);
    j += WIDTH;
  }
  total += other;
  double sum = NAME(across)((const double *)&total);
  for (; j < m; j++)
    sum += (VALUE(j) - centre) * v[j];
  return sum;
}

TARGET static double COLUMN(centred_square)(
    ptrdiff_t m, struct column column, double centre, const double *w) {
  const READER x = OPEN(column);
  vector total = {0};
  ptrdiff_t j = 0;
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector off = VALUES(j) - centre;
    total += AT(w + j) * off * off;
  }
  double sum = NAME(across)((const double *)&total);
  for (; j < m; j++) {
    const double off = VALUE(j) - centre;
    sum += w[j] * off * off;
  }
  return sum;
}

TARGET static void COLUMN(add_centred)(
    ptrdiff_t m, double *f, double step, struct column column, double centre) {
  const READER x = OPEN(column);
  const ptrdiff_t whole = m - m % GROUP;
  EACH for (ptrdiff_t j = 0; j < whole; j += GROUP) GROUP_PUT(f + j) +=
      step * (GROUP_VALUES(j) - centre);
  for (ptrdiff_t j = whole; j < m; j++)
    f[j] += step * (VALUE(j) - centre);
}

TARGET static void COLUMN(shift_weighted)(
    ptrdiff_t m, double *s, double step, const double *h, struct column column, double centre) {
  const READER x = OPEN(column);
  const ptrdiff_t whole = m - m % GROUP;
  EACH for (ptrdiff_t j = 0; j < whole; j += GROUP) GROUP_PUT(s + j) -=
      step * GROUP_AT(h + j) * (GROUP_VALUES(j) - centre);
  for (ptrdiff_t j = whole; j < m; j++)
    s[j] -= step * h[j] * (VALUE(j) - centre);
}

TARGET static void COLUMN(centred)(
    ptrdiff_t m, double *out, struct column column, double centre, double f, const double *w) {
  const READER x = OPEN(column);
  const ptrdiff_t whole = m - m % GROUP;
  EACH for (ptrdiff_t j = 0; j < whole; j += GROUP) GROUP_PUT(out + j) =
      f * GROUP_AT(w + j) * (GROUP_VALUES(j) - centre);
  for (ptrdiff_t j = whole; j < m; j++)
    out[j] = f * w[j] * (VALUE(j) - centre);
}

#undef ELEMENT
#undef MISSING
#undef COLUMN
#undef READER
#undef OPEN
#undef VALUES
#undef VALUE
#undef EACH
#undef GROUP
#undef GROUP_AT
#undef GROUP_PUT
#undef GROUP_VALUES
