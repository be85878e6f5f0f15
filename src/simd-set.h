/* The functions of one set of simd.h. Loops that the compiler makes vectors of by itself are left
   to it (SIMD); where sums go side by side or rows share a division, vectors are written out.

   simd.c includes this once for each set, with WIDTH, the doubles in a vector; TARGET, the
   attribute that lets the compiler use them; and NAME(f), the name of f in this set. */

#if WIDTH == 1
#define vector double
#else
typedef double NAME(vector) __attribute__((vector_size(WIDTH * 8), aligned(8), may_alias));
#define vector NAME(vector)
#endif

/* the vector that begins at p, which need not be aligned, to read and to write */
#define AT(p) (*(const vector *)(p))
#define PUT(p) (*(vector *)(p))

/* w where a comparison is true, else 0 */
#if WIDTH == 1
#define WHERE(comparison, w) ((comparison) ? (w) : 0)
#else
#define WHERE(comparison, w) ((vector)((comparison) & (__typeof__(comparison))(w)))
#endif

/* f where a comparison is true, else v */
#if WIDTH == 1
#define OR_ELSE(comparison, f, v) ((comparison) ? (f) : (v))
#else
#define OR_ELSE(comparison, f, v)                                                                  \
  ((vector)(((comparison) & (__typeof__(comparison))((f) - (vector){0})) |                         \
            (~(comparison) & (__typeof__(comparison))(v))))
#endif

/* the square roots of a vector */
#if WIDTH == 8
#define ROOT(v) ((vector)_mm512_sqrt_pd((__m512d)(v)))
#elif WIDTH == 4
#define ROOT(v) ((vector)_mm256_sqrt_pd((__m256d)(v)))
#elif WIDTH == 2
#define ROOT(v) ((vector)_mm_sqrt_pd((__m128d)(v)))
#else
#define ROOT(v) sqrt(v)
#endif

/* the entries where a comparison is true, as bits */
#if WIDTH == 8
#define BITS(comparison)                                                                           \
  ((unsigned)_mm512_test_epi64_mask((__m512i)(comparison), (__m512i)(comparison)))
#elif WIDTH == 4
#define BITS(comparison) ((unsigned)_mm256_movemask_pd((__m256d)(comparison)))
#elif WIDTH == 2
#define BITS(comparison) ((unsigned)_mm_movemask_pd((__m128d)(comparison)))
#endif

/* The sum of a vector in memory, halves first. */
TARGET static inline double NAME(across)(const double *v) {
#if WIDTH == 8
  return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
#elif WIDTH == 4
  return (v[0] + v[2]) + (v[1] + v[3]);
#elif WIDTH == 2
  return v[0] + v[1];
#else
  return v[0];
#endif
}

/* In four sums, as one alone would wait for each addition. */
TARGET static double NAME(dot)(ptrdiff_t m, const double *x, const double *y) {
  vector a = {0}, b = {0}, c = {0}, d = {0};
  ptrdiff_t j = 0;
  for (; j + 4 * WIDTH <= m; j += 4 * WIDTH) {
    a += AT(x + j) * AT(y + j);
    b += AT(x + j + WIDTH) * AT(y + j + WIDTH);
    c += AT(x + j + 2 * WIDTH) * AT(y + j + 2 * WIDTH);
    d += AT(x + j + 3 * WIDTH) * AT(y + j + 3 * WIDTH);
  }
  for (; j + WIDTH <= m; j += WIDTH)
    a += AT(x + j) * AT(y + j);
  const vector all = (a + b) + (c + d);
  double sum = NAME(across)((const double *)&all);
  for (; j < m; j++)
    sum += x[j] * y[j];
  return sum;
}

TARGET static void NAME(shift)(ptrdiff_t m, double *x, double f, const double *c) {
  SIMD for (ptrdiff_t j = 0; j < m; j++) x[j] -= f * c[j];
}

TARGET static void NAME(shift_squares)(ptrdiff_t m, double *x, double f, const double *c) {
  SIMD for (ptrdiff_t j = 0; j < m; j++) x[j] -= f * (c[j] * c[j]);
}

/* Four columns at a time, so that x is read and written once for all four. */
TARGET static void NAME(shift_all)(
    ptrdiff_t m, double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, const double *f) {
  for (ptrdiff_t from = 0; from < m; from += 4 * BLOCK) {
    const ptrdiff_t rows = m - from < 4 * BLOCK ? m - from : 4 * BLOCK;
    double *xb = x + from;
    ptrdiff_t i = 0;
    for (; i + 4 <= k; i += 4) {
      const double *a = C + from + i * ld, *b = a + ld, *c = b + ld, *d = c + ld;
      const double fa = f[i], fb = f[i + 1], fc = f[i + 2], fd = f[i + 3];
      SIMD for (ptrdiff_t j = 0; j < rows; j++) xb[j] -=
          (fa * a[j] + fb * b[j]) + (fc * c[j] + fd * d[j]);
    }
    for (; i < k; i++)
      NAME(shift)(rows, xb, f[i], C + from + i * ld);
  }
}

TARGET static void NAME(dots)(
    ptrdiff_t m, const double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, double *out) {
  ptrdiff_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const double *a = C + i * ld, *b = a + ld, *c = b + ld, *d = c + ld;
    double sa = 0, sb = 0, sc = 0, sd = 0;
    SIMD_SUM(sa, sb, sc, sd)
    for (ptrdiff_t j = 0; j < m; j++) {
      sa += x[j] * a[j];
      sb += x[j] * b[j];
      sc += x[j] * c[j];
      sd += x[j] * d[j];
    }
    out[i] = sa;
    out[i + 1] = sb;
    out[i + 2] = sc;
    out[i + 3] = sd;
  }
  for (; i < k; i++)
    out[i] = NAME(dot)(m, x, C + i * ld);
}

TARGET static double NAME(max_entry)(ptrdiff_t m, const double *x) {
  double top[SIMD_PAD] = {0}, max = 0;
  ptrdiff_t j = 0;
  for (; j + SIMD_PAD <= m; j += SIMD_PAD) {
    SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) top[u] = x[j + u] > top[u] ? x[j + u] : top[u];
  }
  for (; j < m; j++)
    max = x[j] > max ? x[j] : max;
  for (ptrdiff_t u = 0; u < SIMD_PAD; u++)
    max = top[u] > max ? top[u] : max;
  return max;
}

TARGET static double NAME(excess_square)(ptrdiff_t m, const double *x, double level) {
  double sum = 0;
  SIMD_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++) {
    const double excess = fabs(x[j]) - level;
    sum += excess > 0 ? excess * excess : 0;
  }
  return sum;
}

TARGET static ptrdiff_t NAME(list_above)(ptrdiff_t n, const double *base, double f, const double *a,
    double g, const double *b, double level, int *list) {
  ptrdiff_t count = 0, j = 0;
#if WIDTH > 1
  for (; j + WIDTH <= n; j += WIDTH) {
    unsigned above = BITS(AT(base + j) + f * AT(a + j) + g * AT(b + j) > level);
    for (; above != 0; above &= above - 1)
      list[count++] = (int)j + __builtin_ctz(above);
  }
#endif
  for (; j < n; j++) {
    list[count] = (int)j;
    count += base[j] + f * a[j] + g * b[j] > level;
  }
  return count;
}

TARGET static void NAME(row_dots)(ptrdiff_t count, const int *list, ptrdiff_t k, const double *C,
    ptrdiff_t ld, const double *v, double *out) {
  enum { AHEAD = 16 };
  for (ptrdiff_t l = 0; l < count; l++) {
    const double *later = C + list[l + AHEAD < count ? l + AHEAD : l] * ld;
    PREFETCH(later);
    PREFETCH(later + k / 2);
    out[l] = NAME(dot)(k, C + list[l] * ld, v);
  }
}

TARGET static void NAME(quotient)(
    ptrdiff_t m, double *out, const double *a, const double *b, const double *c) {
  SIMD for (ptrdiff_t j = 0; j < m; j++) out[j] = a[j] / (b[j] * c[j]);
}

TARGET static double NAME(weigh)(ptrdiff_t m, const double *a, const double *d, double *w) {
  double sum = 0;
  SIMD_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++) {
    const double inverse = 1 / d[j], r = a[j] * inverse;
    w[j] = r * inverse;
    sum += r * r;
  }
  return sum;
}

TARGET static void NAME(w_products)(
    ptrdiff_t m, const double *w, const double *w0, const double *a, double *out) {
  double ww0 = 0, wa = 0, w0w0 = 0, w0a = 0, aa = 0;
  SIMD_SUM(ww0, wa, w0w0, w0a, aa)
  for (ptrdiff_t j = 0; j < m; j++) {
    ww0 += w[j] * w0[j];
    wa += w[j] * a[j];
    w0w0 += w0[j] * w0[j];
    w0a += w0[j] * a[j];
    aa += a[j] * a[j];
  }
  out[WW0] = ww0;
  out[WA] = wa;
  out[W0W0] = w0w0;
  out[W0A] = w0a;
  out[AA] = aa;
}

TARGET static double NAME(rest_square)(
    ptrdiff_t m, const double *w, double f, const double *w0, double g, const double *a) {
  double sum = 0;
  SIMD_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++) {
    const double rest = w[j] - f * w0[j] - g * a[j];
    sum += rest * rest;
  }
  return sum;
}

TARGET static struct loss_sums NAME(losses)(
    ptrdiff_t m, ptrdiff_t L, const double *r, const double *w, double centre) {
  double sum = 0, spread = 0;
  const double share = 1 / (double)L;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    double e[BLOCK] = {0};
    for (ptrdiff_t l = 0; l < L; l++) {
      SIMD for (ptrdiff_t j = 0; j < rows; j++) e[j] += r[from + j + l * m] * r[from + j + l * m];
    }
    SIMD_SUM(sum, spread)
    for (ptrdiff_t j = 0; j < rows; j++) {
      const double ww = w[from + j] * w[from + j], off = share * e[j] - centre;
      sum += ww * (share * e[j]);
      spread += ww * off * off;
    }
  }
  return (struct loss_sums){sum, spread};
}

TARGET static void NAME(moments)(ptrdiff_t m, const double *const *x, const double *centre,
    const double *w, const double *v, double *sum, double *square, double *product) {
  const double *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
  const double c0 = centre[0], c1 = centre[1], c2 = centre[2], c3 = centre[3];
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
  double p0 = 0, p1 = 0, p2 = 0, p3 = 0;
  SIMD_SUM(s0, s1, s2, s3, q0, q1, q2, q3, p0, p1, p2, p3)
  for (ptrdiff_t j = 0; j < m; j++) {
    const double d0 = x0[j] - c0, d1 = x1[j] - c1, d2 = x2[j] - c2, d3 = x3[j] - c3;
    s0 += w[j] * d0;
    s1 += w[j] * d1;
    s2 += w[j] * d2;
    s3 += w[j] * d3;
    q0 += w[j] * d0 * d0;
    q1 += w[j] * d1 * d1;
    q2 += w[j] * d2 * d2;
    q3 += w[j] * d3 * d3;
    p0 += v[j] * d0;
    p1 += v[j] * d1;
    p2 += v[j] * d2;
    p3 += v[j] * d3;
  }
  const double sums[] = {s0, s1, s2, s3}, squares[] = {q0, q1, q2, q3},
               products[] = {p0, p1, p2, p3};
  for (int i = 0; i < 4; i++) {
    sum[i] = sums[i];
    square[i] = squares[i];
    product[i] = products[i];
  }
}

#include "simd-log.h"

/* The terms n / e of four vectors share one division: numerators and denominators are brought
   together in pairs first. */
TARGET static double NAME(score)(ptrdiff_t m, ptrdiff_t L, const double *x, const double *a,
    ptrdiff_t lda, const double *d, double beta, const double *alpha) {
  vector total = {0};
  ptrdiff_t j = 0;
  for (; j + 4 * WIDTH <= m; j += 4 * WIDTH) {
    vector n0, n1, n2, n3, e0, e1, e2, e3;
    SQUARES(n0, e0, j);
    SQUARES(n1, e1, j + WIDTH);
    SQUARES(n2, e2, j + 2 * WIDTH);
    SQUARES(n3, e3, j + 3 * WIDTH);
    const vector n01 = n0 * e1 + n1 * e0, e01 = e0 * e1, n23 = n2 * e3 + n3 * e2, e23 = e2 * e3;
    total += (n01 * e23 + n23 * e01) / (e01 * e23);
  }
  for (; j + WIDTH <= m; j += WIDTH) {
    vector n, e;
    SQUARES(n, e, j);
    total += n / e;
  }
  double sum = 0;
  for (; j < m; j++) {
    double n = 0;
    const double e = d[j] - beta * x[j] * x[j];
    for (ptrdiff_t l = 0; l < L; l++) {
      const double r = a[j + l * lda] - alpha[l] * x[j];
      n += r * r;
    }
    sum += n / (e * e);
  }
  return sum + NAME(across)((const double *)&total);
}

TARGET static double NAME(shift_and_score)(ptrdiff_t m, ptrdiff_t L, double *x, double f,
    const double *c, const double *a, const double *d, double beta, const double *alpha) {
  double total = 0;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    NAME(shift)(rows, x + from, f, c + from);
    total += NAME(score)(rows, L, x + from, a + from, m, d + from, beta, alpha);
  }
  return total;
}

TARGET static double NAME(shift_and_hold_out)(ptrdiff_t m, ptrdiff_t L, double *x, double f,
    const double *c, const double *a, const double *d, double beta, const double *alpha,
    const double *divisor, double *r) {
  double total = 0;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    const double *cb = c + from, *db = d + from, *ub = divisor + from;
    double inverse[BLOCK], *xb = x + from;
    SIMD for (ptrdiff_t j = 0; j < rows; j++) {
      const double moved = xb[j] - f * cb[j];
      xb[j] = moved;
      inverse[j] = 1 / ((db[j] - beta * moved * moved) * ub[j]);
    }
    for (ptrdiff_t l = 0; l < L; l++) {
      const double *al = a + from + l * m, alpha_l = alpha[l];
      double *rl = r + from + l * m;
      SIMD_SUM(total)
      for (ptrdiff_t j = 0; j < rows; j++) {
        const double rj = (al[j] - alpha_l * xb[j]) * inverse[j], held = rj * ub[j];
        rl[j] = rj;
        total += held * held;
      }
    }
  }
  return total;
}

TARGET static struct fold_dots NAME(fold)(
    ptrdiff_t h, double *q, double f, const double *b, const double *c) {
  double cq = 0, qq = 0;
  SIMD_SUM(cq, qq)
  for (ptrdiff_t j = 0; j < h; j++) {
    const double v = q[j] + f * b[j];
    q[j] = v;
    cq += c[j] * v;
    qq += v * v;
  }
  return (struct fold_dots){cq, qq};
}

TARGET static struct pair_dots NAME(pair)(
    ptrdiff_t h, const double *g, const double *c, const double *q) {
  double gc = 0, gq = 0;
  SIMD_SUM(gc, gq)
  for (ptrdiff_t j = 0; j < h; j++) {
    gc += g[j] * c[j];
    gq += g[j] * q[j];
  }
  return (struct pair_dots){gc, gq};
}

/* With c the entry of C once i is in, a pair gains r_j^2 / d_j + (r_l - c r_j / d_j)^2 / e with
   e = d_l - c^2 / d_j; no division is needed to tell whether that is enough. */
TARGET static ptrdiff_t NAME(pair_above)(
    const struct pair_scan *scan, ptrdiff_t from, ptrdiff_t to) {
  const ptrdiff_t ld = scan->ld, L = scan->L;
  const double *restrict a = scan->a, *restrict d = scan->d, *restrict r = scan->r;
  const double *restrict floor = scan->floor;
  for (ptrdiff_t j = from; j < to; j++) {
    if (d[j] <= floor[j])
      continue;
    const double *restrict row = scan->C + j * ld;
    const double inverse = 1 / d[j], f = a[j] * scan->inverse;
    double need = scan->need, top[SIMD_PAD] = {0}, above = 0;
    for (ptrdiff_t o = 0; o < L; o++)
      need -= r[j + o * ld] * r[j + o * ld] * inverse;
    if (need <= 0)
      return j;
    if (L == 1) {
      const double h = r[j] * inverse;
      for (ptrdiff_t l = (j + 1) / SIMD_PAD * SIMD_PAD; l < ld; l += SIMD_PAD) {
        SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) {
          const double c = row[l + u] - f * a[l + u], v = r[l + u] - h * c;
          double e = d[l + u] - inverse * c * c;
          e = e > floor[l + u] ? e : floor[l + u];
          const double more = v * v - need * e;
          top[u] = more > top[u] ? more : top[u];
        }
      }
    } else {
      for (ptrdiff_t l = (j + 1) / SIMD_PAD * SIMD_PAD; l < ld; l += SIMD_PAD) {
        double more[SIMD_PAD], c[SIMD_PAD];
        SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) {
          c[u] = row[l + u] - f * a[l + u];
          const double e = d[l + u] - inverse * c[u] * c[u];
          more[u] = -need * (e > floor[l + u] ? e : floor[l + u]);
        }
        for (ptrdiff_t o = 0; o < L; o++) {
          const double *ro = r + o * ld + l, h = r[j + o * ld] * inverse;
          SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) more[u] +=
              (ro[u] - h * c[u]) * (ro[u] - h * c[u]);
        }
        SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) top[u] = more[u] > top[u] ? more[u] : top[u];
      }
    }
    for (ptrdiff_t u = 0; u < SIMD_PAD; u++)
      above = top[u] > above ? top[u] : above;
    if (above > 0)
      return j;
  }
  return to;
}

/* ---- columns of each kind ---- */

TARGET static inline double NAME(value_coded)(const struct column *x, ptrdiff_t j) {
  const double value = x->codes[((const unsigned char *)x->at)[j]];
  return isnan(value) ? x->fill : value;
}

TARGET static inline double NAME(value_calls)(const struct calls *x, ptrdiff_t j) {
  return x->value[x->at[j / 4] >> 2 * (j % 4) & 3];
}

#if WIDTH > 1
TARGET static inline vector NAME(values_coded)(const struct column *x, ptrdiff_t j) {
  const unsigned char *at = (const unsigned char *)x->at + j;
  const double *code = x->codes;
#if WIDTH == 8
  const vector values = {code[at[0]], code[at[1]], code[at[2]], code[at[3]], code[at[4]],
      code[at[5]], code[at[6]], code[at[7]]};
#elif WIDTH == 4
  const vector values = {code[at[0]], code[at[1]], code[at[2]], code[at[3]]};
#else
  const vector values = {code[at[0]], code[at[1]]};
#endif
  return OR_ELSE(values != values, x->fill, values);
}

TARGET static inline vector NAME(values_calls)(const struct calls *x, ptrdiff_t j) {
  const unsigned char *at = x->at + j / 4;
#if WIDTH == 8
  const __m512i places = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
  const __m512i codes = _mm512_srlv_epi64(_mm512_set1_epi64(at[0] | at[1] << 8), places);
  return (vector)_mm512_permutexvar_pd(codes, (__m512d)AT(x->value));
#elif WIDTH == 4
  /* each value is looked up as two halves, 2 code and 2 code + 1 */
  const __m256i places = _mm256_set_epi32(6, 6, 4, 4, 2, 2, 0, 0), even = _mm256_set1_epi32(6);
  const __m256i second = _mm256_set_epi32(1, 0, 1, 0, 1, 0, 1, 0);
  const __m256i codes = _mm256_srlv_epi32(_mm256_set1_epi32(at[0] << 1), places);
  const __m256i halves = _mm256_or_si256(_mm256_and_si256(codes, even), second);
  return (vector)_mm256_permutevar8x32_epi32((__m256i)AT(x->value), halves);
#else
  const int codes = at[0] >> 2 * (j % 4);
  return (vector){x->value[codes & 3], x->value[codes >> 2 & 3]};
#endif
}
#endif

#if WIDTH == 8
/* Of up to 16 numbers those at these places. */
TARGET static inline vector NAME(looked_up)(const double *v, ptrdiff_t count, __m512i places) {
  const __m512d first = _mm512_maskz_loadu_pd((__mmask8)((1 << (count < 8 ? count : 8)) - 1), v);
  if (count <= 8)
    return (vector)_mm512_permutexvar_pd(places, first);
  const __m512d second = _mm512_maskz_loadu_pd((__mmask8)((1 << (count - 8)) - 1), v + 8);
  return (vector)_mm512_permutex2var_pd(first, places, second);
}

/* The value of a function of up to 16 pieces at x. */
TARGET static inline vector NAME(few_pieces)(const struct piecewise *f, vector x) {
  const ptrdiff_t count = f->count;
  const __m512i one = _mm512_set1_epi64(1);
  __m512i piece = _mm512_setzero_si512();
  for (ptrdiff_t k = 1; k < count; k++)
    piece = _mm512_mask_add_epi64(
        piece, _mm512_cmp_pd_mask((__m512d)x, _mm512_set1_pd(f->start[k]), _CMP_GE_OQ), piece, one);
  const double *cubic = f->cubic;
  const vector t = x - NAME(looked_up)(f->start, count, piece);
  const vector d = NAME(looked_up)(cubic + 3 * count, count, piece);
  const vector c = NAME(looked_up)(cubic + 2 * count, count, piece);
  const vector b = NAME(looked_up)(cubic + count, count, piece);
  return ((d * t + c) * t + b) * t + NAME(looked_up)(cubic, count, piece);
}
#endif

/* The value of a function at x, NAN where x is. */
TARGET static inline vector NAME(piecewise)(const struct piecewise *f, vector x) {
  x = OR_ELSE(x < f->low, f->low, x);
  x = OR_ELSE(x > f->high, f->high, x);
  if (f->count == 0)
    return x;
  const double *start = f->start, *c0 = f->cubic, *c1 = c0 + f->count, *c2 = c1 + f->count,
               *c3 = c2 + f->count;
#if WIDTH == 8
  if (f->count <= 2 * WIDTH)
    return NAME(few_pieces)(f, x);
#endif
  const vector zero = {0};
  vector from = zero + *start, a = zero + *c0, b = zero + *c1, c = zero + *c2, d = zero + *c3;
  for (ptrdiff_t k = 1; k < f->count; k++) {
    a = OR_ELSE(x >= start[k], c0[k], a);
    b = OR_ELSE(x >= start[k], c1[k], b);
    c = OR_ELSE(x >= start[k], c2[k], c);
    d = OR_ELSE(x >= start[k], c3[k], d);
    from = OR_ELSE(x >= start[k], start[k], from);
  }
  const vector t = x - from;
  return ((d * t + c) * t + b) * t + a;
}

/* The values in row j and those after it. */
TARGET static inline vector NAME(values_computed)(const struct column *x, ptrdiff_t j) {
  vector values = NAME(piecewise)(x->by, AT(x->of[0] + j));
  if (x->of[1] != NULL)
    values *= NAME(piecewise)(x->by + 1, AT(x->of[1] + j));
  return OR_ELSE(values != values, x->fill, values);
}

#if WIDTH > 1
TARGET static inline double NAME(value_computed)(const struct column *x, ptrdiff_t j) {
  double first[WIDTH], second[WIDTH], values[WIDTH];
  for (int u = 0; u < WIDTH; u++) {
    first[u] = x->of[0][j];
    second[u] = x->of[1] == NULL ? 0 : x->of[1][j];
  }
  const struct column one = {
      .by = x->by, .of = {first, x->of[1] == NULL ? NULL : second}, .fill = x->fill};
  PUT(values) = NAME(values_computed)(&one, 0);
  return values[0];
}
#else
static inline double NAME(value_computed)(const struct column *x, ptrdiff_t j) {
  return NAME(values_computed)(x, j);
}
#endif

#define COLUMN(f) NAME(f##_computed)
#define READER struct column
#define OPEN(column) (column)
#include "simd-columns.h"

#define COLUMN(f) NAME(f##_coded)
#define READER struct column
#define OPEN(column) (column)
#include "simd-columns.h"

#define COLUMN(f) NAME(f##_calls)
#define READER struct calls
#define OPEN(column) open_calls(column)
#include "simd-columns.h"

#define ELEMENT double
#define COLUMN(f) NAME(f##_doubles)
#include "simd-columns.h"

#define ELEMENT int
#define COLUMN(f) NAME(f##_integers)
#include "simd-columns.h"

#define ELEMENT float
#define COLUMN(f) NAME(f##_floats)
#include "simd-columns.h"

#define ELEMENT short
#define COLUMN(f) NAME(f##_shorts)
#include "simd-columns.h"

#define ELEMENT unsigned short
#define COLUMN(f) NAME(f##_unsigned_shorts)
#include "simd-columns.h"

#define ELEMENT unsigned char
#define COLUMN(f) NAME(f##_bytes)
#include "simd-columns.h"

#define ELEMENT double
#define MISSING(v) ((v) != (v))
#define COLUMN(f) NAME(f##_filled_doubles)
#include "simd-columns.h"

#define ELEMENT int
#define MISSING(v) ((v) == (double)INT_MIN)
#define COLUMN(f) NAME(f##_filled_integers)
#include "simd-columns.h"

#define ELEMENT float
#define MISSING(v) ((v) != (v))
#define COLUMN(f) NAME(f##_filled_floats)
#include "simd-columns.h"

#define ELEMENT short
#define MISSING(v) ((v) == (double)SHRT_MIN)
#define COLUMN(f) NAME(f##_filled_shorts)
#include "simd-columns.h"

TARGET static struct present_sums NAME(present)(
    ptrdiff_t m, const double *x, double centre, const double *w) {
  double count = 0, weight = 0, sum = 0;
  SIMD_SUM(count, weight, sum)
  for (ptrdiff_t j = 0; j < m; j++) {
    count += isnan(x[j]) ? 0 : 1;
    weight += isnan(x[j]) ? 0 : w[j];
    sum += isnan(x[j]) ? 0 : w[j] * (x[j] - centre);
  }
  return (struct present_sums){count, weight, sum};
}

/* ---- products of several columns ---- */

#if WIDTH == 8
#define SIDES 4
#define SUMS SUMS_OF(0), SUMS_OF(1), SUMS_OF(2), SUMS_OF(3)
#define ALL ALL_OF(0), ALL_OF(1), ALL_OF(2), ALL_OF(3)
#define ADD_MORE(LOAD, j)                                                                          \
  ADD(2, LOAD(v2 + (j)));                                                                          \
  ADD(3, LOAD(v3 + (j)))
#else
#define SIDES 2
#define SUMS SUMS_OF(0), SUMS_OF(1)
#define ALL ALL_OF(0), ALL_OF(1)
#define ADD_MORE(LOAD, j)
#endif
#define BEGINNING(p) NAME(beginning)(p, m - j)

/* The first numbers of a vector at p, fewer than WIDTH, and zeros. */
TARGET static inline vector NAME(beginning)(const double *p, ptrdiff_t count) {
#if WIDTH == 8
  return (vector)_mm512_maskz_loadu_pd((__mmask8)((1 << count) - 1), p);
#elif WIDTH == 4
  const __m256i places = _mm256_set_epi64x(3, 2, 1, 0);
  return (vector)_mm256_maskload_pd(p, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), places));
#elif WIDTH == 2
  return (vector){count > 0 ? p[0] : 0, 0};
#else
  return count > 0 ? p[0] : 0;
#endif
}

/* The numbers at p, of which `count` are left, as far as they fill a vector. */
TARGET static inline vector NAME(rest)(const double *p, ptrdiff_t count) {
  return count < WIDTH ? NAME(beginning)(p, count) : AT(p);
}

TARGET static inline void NAME(put_rest)(double *p, ptrdiff_t count, vector values) {
  double each[WIDTH];
  PUT(each) = values;
  memcpy(p, each, (size_t)(count < WIDTH ? count : WIDTH) * sizeof(double));
}

/* Where there are fewer than four columns, the last one is taken again. */
TARGET static void NAME(shift_four)(ptrdiff_t m, ptrdiff_t count, double *X, ptrdiff_t ldx,
    ptrdiff_t k, const double *C, ptrdiff_t ldc, const double *F, ptrdiff_t ldf) {
  const ptrdiff_t last = count - 1, i1 = last < 1 ? last : 1, i2 = last < 2 ? last : 2;
  double *x0 = X, *x1 = X + i1 * ldx, *x2 = X + i2 * ldx, *x3 = X + last * ldx;
  const double *f0 = F, *f1 = F + i1 * ldf, *f2 = F + i2 * ldf, *f3 = F + last * ldf;
  ptrdiff_t j = 0;
  for (; j + 2 * WIDTH <= m; j += 2 * WIDTH) {
    vector a0 = AT(x0 + j), a1 = AT(x1 + j), a2 = AT(x2 + j), a3 = AT(x3 + j);
    vector b0 = AT(x0 + j + WIDTH), b1 = AT(x1 + j + WIDTH);
    vector b2 = AT(x2 + j + WIDTH), b3 = AT(x3 + j + WIDTH);
    const double *c = C + j;
    for (ptrdiff_t l = 0; l < k; l++, c += ldc) {
      const vector a = AT(c), b = AT(c + WIDTH);
      a0 -= f0[l] * a, b0 -= f0[l] * b;
      a1 -= f1[l] * a, b1 -= f1[l] * b;
      a2 -= f2[l] * a, b2 -= f2[l] * b;
      a3 -= f3[l] * a, b3 -= f3[l] * b;
    }
    PUT(x0 + j) = a0, PUT(x1 + j) = a1, PUT(x2 + j) = a2, PUT(x3 + j) = a3;
    PUT(x0 + j + WIDTH) = b0, PUT(x1 + j + WIDTH) = b1;
    PUT(x2 + j + WIDTH) = b2, PUT(x3 + j + WIDTH) = b3;
  }
  for (; j < m; j += WIDTH) {
    vector a0 = NAME(rest)(x0 + j, m - j), a1 = NAME(rest)(x1 + j, m - j);
    vector a2 = NAME(rest)(x2 + j, m - j), a3 = NAME(rest)(x3 + j, m - j);
    const double *c = C + j;
    for (ptrdiff_t l = 0; l < k; l++, c += ldc) {
      const vector a = NAME(rest)(c, m - j);
      a0 -= f0[l] * a, a1 -= f1[l] * a, a2 -= f2[l] * a, a3 -= f3[l] * a;
    }
    NAME(put_rest)(x0 + j, m - j, a0);
    NAME(put_rest)(x1 + j, m - j, a1);
    NAME(put_rest)(x2 + j, m - j, a2);
    NAME(put_rest)(x3 + j, m - j, a3);
  }
}

/* across() of WIDTH vectors. */
TARGET static inline vector NAME(each_across)(const vector *v) {
#if WIDTH == 8
  vector half[4], quarter[2];
  UNROLL for (int i = 0; i < 4; i++) half[i] =
      SHUFFLE(v[2 * i], v[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
      SHUFFLE(v[2 * i], v[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
  UNROLL for (int i = 0; i < 2; i++) quarter[i] =
      SHUFFLE(half[2 * i], half[2 * i + 1], 0, 1, 4, 5, 8, 9, 12, 13) +
      SHUFFLE(half[2 * i], half[2 * i + 1], 2, 3, 6, 7, 10, 11, 14, 15);
  return SHUFFLE(quarter[0], quarter[1], 0, 2, 4, 6, 8, 10, 12, 14) +
         SHUFFLE(quarter[0], quarter[1], 1, 3, 5, 7, 9, 11, 13, 15);
#elif WIDTH == 4
  const vector one = SHUFFLE(v[0], v[1], 0, 1, 4, 5) + SHUFFLE(v[0], v[1], 2, 3, 6, 7);
  const vector two = SHUFFLE(v[2], v[3], 0, 1, 4, 5) + SHUFFLE(v[2], v[3], 2, 3, 6, 7);
  return SHUFFLE(one, two, 0, 2, 4, 6) + SHUFFLE(one, two, 1, 3, 5, 7);
#elif WIDTH == 2
  return SHUFFLE(v[0], v[1], 0, 2) + SHUFFLE(v[0], v[1], 1, 3);
#else
  return v[0];
#endif
}

/* The rows at j of four columns times those of a tile of vectors; LOAD(p): the rows at p. */
#define ADD_ROWS(LOAD, j)                                                                          \
  do {                                                                                             \
    const vector c0 = LOAD(x0 + (j)) - m0, c1 = LOAD(x1 + (j)) - m1;                               \
    const vector c2 = LOAD(x2 + (j)) - m2, c3 = LOAD(x3 + (j)) - m3;                               \
    ADD(0, LOAD(v0 + (j)));                                                                        \
    ADD(1, LOAD(v1 + (j)));                                                                        \
    ADD_MORE(LOAD, j);                                                                             \
  } while (0)

/* Where there are fewer than four columns, or fewer vectors than a tile has, the last one is taken
   again. The next columns come from memory while these are multiplied, a share of them with each
   tile. */
TARGET static void NAME(products)(ptrdiff_t m, const struct tile *x, ptrdiff_t r, const double *v,
    ptrdiff_t ldv, double *const *out) {
  enum { LINE = 8 };
  const ptrdiff_t last = x->count - 1, i1 = last < 1 ? last : 1, i2 = last < 2 ? last : 2;
  const ptrdiff_t tiles = (r + SIDES - 1) / SIDES, lines = m / LINE;
  const int *at = x->at;
  const double *x0 = x->x[0], *x1 = x->x[i1], *x2 = x->x[i2], *x3 = x->x[last];
  const double m0 = x->centre[at[0]], m1 = x->centre[at[i1]], m2 = x->centre[at[i2]];
  const double m3 = x->centre[at[last]];
  for (ptrdiff_t tile = 0; tile < tiles; tile++) {
    const ptrdiff_t l = tile * SIDES, first = 4 * tile / tiles, end = 4 * (tile + 1) / tiles;
    const ptrdiff_t count = r - l < SIDES ? r - l : SIDES;
    const double *v0 = v + l * ldv, *v1 = v0 + (count > 1 ? ldv : 0);
#if SIDES == 4
    const double *v2 = v1 + (count > 2 ? ldv : 0), *v3 = v2 + (count > 3 ? ldv : 0);
#endif
    const char *next0 = first < end ? x->next[first] : (const char *)v0;
    const char *next1 = first + 1 < end ? x->next[first + 1] : next0;
    vector SUMS;
    ptrdiff_t j = 0;
    for (ptrdiff_t line = 0; line < lines; line++) {
      PREFETCH(next0 + line * x->line);
      PREFETCH(next1 + line * x->line);
      for (; j < LINE * (line + 1); j += WIDTH)
        ADD_ROWS(AT, j);
    }
    for (; j + WIDTH <= m; j += WIDTH)
      ADD_ROWS(AT, j);
    if (j < m)
      ADD_ROWS(BEGINNING, j);
    const vector all[4 * SIDES] = {ALL};
    double sum[4 * SIDES];
    UNROLL for (int i = 0; i < 4 * SIDES; i += WIDTH) PUT(sum + i) = NAME(each_across)(all + i);
    for (ptrdiff_t o = 0; o < count; o++)
      for (ptrdiff_t i = 0; i <= last; i++)
        out[l + o][at[i]] += x->scale[at[i]] * sum[i + 4 * o];
  }
  for (ptrdiff_t i = 2 * tiles; i < 4 && tiles < 2; i++)
    for (ptrdiff_t line = 0; line < lines; line++)
      PREFETCH(x->next[i] + line * x->line);
}

#undef SIDES
#undef SUMS
#undef ALL
#undef ADD_MORE
#undef ADD_ROWS
#undef BEGINNING

TARGET static void NAME(weighted)(ptrdiff_t m, double *out, const double *w, const double *v) {
  SIMD for (ptrdiff_t j = 0; j < m; j++) out[j] = w[j] * v[j];
}

TARGET static void NAME(sparse_products)(ptrdiff_t count, const double *x, const int *row,
    const double *w, ptrdiff_t r, const double *v, ptrdiff_t ldv, double *out) {
  for (ptrdiff_t k = 0; k < count; k++) {
    const double *at = v + row[k] * ldv, value = w[row[k]] * x[k];
    SIMD for (ptrdiff_t l = 0; l < r; l++) out[l] += value * at[l];
  }
}

TARGET static void NAME(bounds_update)(
    const struct greedy_bounds *bounds, const struct greedy_bounds_move *move) {
  const ptrdiff_t n = bounds->n;
  const double inverse = move->inverse, *t = move->t;
  double *kappa = bounds->kappa;
  SIMD for (ptrdiff_t i = 0; i < n; i++) kappa[i] -= inverse * t[i] * t[i];
  for (ptrdiff_t l = 0; l < bounds->L; l++) {
    const double gamma = move->gamma[l], ref = inverse * move->c_ref[l];
    double *g = bounds->g + l * n, *Cw = bounds->Cw + l * n;
    SIMD for (ptrdiff_t i = 0; i < n; i++) {
      g[i] -= gamma * t[i];
      Cw[i] -= ref * t[i];
    }
  }
}

/* v := its square roots; v holds whole vectors. Compilers leave roots alone, which may set
   errno. */
TARGET static void NAME(roots)(ptrdiff_t count, double *v) {
  for (ptrdiff_t i = 0; i < count; i += WIDTH)
    PUT(v + i) = ROOT(AT(v + i));
}

/* Of a column with s = kappa - lambda: root := s^1/2; b, which its rows c of any fold are no longer
   than; scale := 1 / (kappa - min(s, max_eigen b^2)). */
TARGET static inline void NAME(bounds_reach)(const struct greedy_bounds *bounds,
    const struct greedy_bounds_rows *rows, ptrdiff_t from, ptrdiff_t count, double *root, double *b,
    double *scale) {
  const double *kappa = bounds->kappa + from, *norm = bounds->norm + from;
  const double *fold_norm = bounds->fold_norm + from;
  const double lambda = rows->lambda, max_eigen = rows->folds->max_eigen, share = 1 - 1 / max_eigen;
  double s[BOUNDS_BLOCK], away[BOUNDS_BLOCK] = {0};
  SIMD for (ptrdiff_t i = 0; i < count; i++) {
    s[i] = root[i] = kappa[i] > lambda ? kappa[i] - lambda : 0;
    const double left = norm[i] * norm[i] - s[i];
    away[i] = left > 0 ? share * left : 0;
  }
  NAME(roots)(count, root);
  NAME(roots)(count, away);
  SIMD for (ptrdiff_t i = 0; i < count; i++) {
    const double longest = fold_norm[i] + away[i];
    b[i] = longest < root[i] ? longest : root[i];
    const double eta = max_eigen * b[i] * b[i];
    scale[i] = 1 / (kappa[i] - (eta < s[i] ? eta : s[i]));
  }
}

/* With these
   growth := sum_l (min(b^2 phi, s top_phi)^1/2 + |alpha| nu b (repeats s)^1/2)^2 / (kappa - min(s,
   max_eigen b^2)) */
TARGET static void NAME(bounds_growth)(const struct greedy_bounds *bounds,
    const struct greedy_bounds_rows *rows, ptrdiff_t from, ptrdiff_t count, const double *beta,
    double *growth, double *rounding) {
  const struct greedy_bounds_folds *folds = rows->folds;
  const double *kappa = bounds->kappa + from;
  const double root_repeats = sqrt(folds->repeats);
  double root[BOUNDS_BLOCK] = {0}, b[BOUNDS_BLOCK], scale[BOUNDS_BLOCK], term[BOUNDS_BLOCK] = {0};
  NAME(bounds_reach)(bounds, rows, from, count, root, b, scale);
  SIMD for (ptrdiff_t i = 0; i < count; i++) rounding[i] = folds->rounding * kappa[i] * scale[i];
  for (ptrdiff_t l = 0; l < bounds->L; l++) {
    const double *g = bounds->g + from + l * bounds->n;
    const double phi = folds->phi[l], top_phi = folds->top_phi[l];
    const double nu = folds->nu[l] * root_repeats;
    SIMD for (ptrdiff_t i = 0; i < count; i++) {
      const double sum = b[i] * b[i] * phi, top = root[i] * root[i] * top_phi;
      term[i] = sum < top ? sum : top;
    }
    NAME(roots)(count, term);
    SIMD for (ptrdiff_t i = 0; i < count; i++) {
      const double all = term[i] + fabs(beta[i] * g[i]) * nu * b[i] * root[i];
      growth[i] += scale[i] * all * all;
    }
  }
}

TARGET static void NAME(bounds_evaluate)(
    const struct greedy_bounds *bounds, const struct greedy_bounds_rows *rows, double *bound) {
  const ptrdiff_t n = bounds->n;
  const double P = rows->P, lambda = rows->lambda, max_eigen = rows->max_eigen;
  const double inverse_d2 = rows->inverse_d2, rounding = rows->rounding;
  for (ptrdiff_t from = 0; from < n; from += BOUNDS_BLOCK) {
    const ptrdiff_t count = n - from < BOUNDS_BLOCK ? n - from : BOUNDS_BLOCK;
    const double *kappa = bounds->kappa + from, *norm = bounds->norm + from;
    const double *read_norm2 = bounds->read_norm2 + from, *excluded = bounds->excluded + from;
    double growth[BOUNDS_BLOCK] = {0}, more_rounding[BOUNDS_BLOCK] = {0};
    double along[BOUNDS_BLOCK] = {0}, alphas[BOUNDS_BLOCK] = {0}, beta[BOUNDS_BLOCK],
           *out = bound + from;
    SIMD for (ptrdiff_t i = 0; i < count; i++) beta[i] = 1 / kappa[i];
    for (ptrdiff_t l = 0; l < bounds->L; l++) {
      const double *g = bounds->g + from + l * n, *Cw = bounds->Cw + from + l * n;
      const double theta0 = rows->theta0[l], theta1 = rows->theta1[l],
                   rest_norm = rows->rest_norm[l];
      SIMD for (ptrdiff_t i = 0; i < count; i++) {
        const double alpha = beta[i] * g[i];
        along[i] += alpha * (theta0 * Cw[i] + theta1 * g[i]) + fabs(alpha) * norm[i] * rest_norm;
        alphas[i] += alpha * alpha;
      }
    }
    if (rows->folds != NULL)
      NAME(bounds_growth)(bounds, rows, from, count, beta, growth, more_rounding);
    SIMD for (ptrdiff_t i = 0; i < count; i++) {
      const double N = bounds_min_norm2(kappa[i] - lambda, norm[i] * norm[i], max_eigen);
      const double margin =
          BOUNDS_MARGIN * P + (rounding + more_rounding[i]) * (1 + read_norm2[i] * beta[i]);
      const double value = P - 2 * along[i] + alphas[i] * N * inverse_d2 - growth[i] - margin;
      /* a value that is not a number gives no bound; an excluded column has an infinite one */
      const double sure = beta[i] > 0 && margin <= BOUNDS_MAX_ROUNDING * P ? value : -DBL_MAX;
      const double known = sure > -DBL_MAX ? sure : -DBL_MAX;
      out[i] = known + excluded[i];
    }
    double min = INFINITY;
    for (ptrdiff_t i = 0; i < count; i++)
      min = out[i] < min ? out[i] : min;
    bounds->block_min[from / BOUNDS_BLOCK] = min;
  }
}

/* The same of each part alone, without the least of |C|^2, which may lie in other rows. */
TARGET static void NAME(bounds_of_parts)(const struct greedy_bounds *bounds,
    const struct greedy_bounds_rows *rows, const struct greedy_bounds_parts *parts, double *sum,
    double *bound) {
  const ptrdiff_t n = bounds->n, L = bounds->L;
  for (ptrdiff_t from = 0; from < n; from += BOUNDS_BLOCK) {
    const ptrdiff_t count = n - from < BOUNDS_BLOCK ? n - from : BOUNDS_BLOCK;
    const double *kappa = bounds->kappa + from, *read_norm2 = bounds->read_norm2 + from;
    const double *excluded = bounds->excluded + from;
    double root[BOUNDS_BLOCK] = {0}, b[BOUNDS_BLOCK], scale[BOUNDS_BLOCK], beta[BOUNDS_BLOCK];
    double rounding[BOUNDS_BLOCK], min = INFINITY, *all = sum + from, *out = bound + from;
    NAME(bounds_reach)(bounds, rows, from, count, root, b, scale);
    SIMD for (ptrdiff_t i = 0; i < count; i++) {
      beta[i] = 1 / kappa[i];
      rounding[i] = (rows->rounding + rows->folds->rounding * kappa[i] * scale[i]) *
                    (1 + read_norm2[i] * beta[i]);
    }
    for (ptrdiff_t p = 0; p < parts->count; p++) {
      const ptrdiff_t H = parts->part[p];
      const double P = parts->P[H], times = parts->weight * parts->inverse_null[H];
      const int first = p == 0 && !parts->more;
      double along[BOUNDS_BLOCK] = {0}, growth[BOUNDS_BLOCK] = {0};
      for (ptrdiff_t l = 0; l < L; l++) {
        const double theta = rows->theta0[l + H * L], rest = rows->rest_norm[l + H * L];
        const double root_phi = sqrt(rows->folds->phi[l + H * L]), nu = rows->folds->nu[l + H * L];
        const double *g = bounds->g + from + l * n, *Cw = bounds->Cw + from + (l + H * L) * n;
        SIMD for (ptrdiff_t i = 0; i < count; i++) {
          const double alpha = beta[i] * g[i];
          const double turn = b[i] * (root_phi + fabs(alpha) * nu * root[i]);
          along[i] += alpha * theta * Cw[i] + fabs(alpha) * b[i] * rest;
          growth[i] += turn * turn;
        }
      }
      SIMD for (ptrdiff_t i = 0; i < count; i++) {
        const double margin = BOUNDS_MARGIN * P + rounding[i];
        const double value = P - 2 * along[i] - scale[i] * growth[i] - margin;
        const int known = beta[i] > 0 && margin <= BOUNDS_MAX_ROUNDING * P;
        const double sure = known ? times * value : -DBL_MAX;
        const double ratio = (sure > -DBL_MAX ? sure : -DBL_MAX) + excluded[i];
        all[i] = first ? ratio : all[i] + ratio;
        out[i] = first || ratio > out[i] ? ratio : out[i];
      }
    }
    for (ptrdiff_t i = 0; i < count; i++)
      min = out[i] < min ? out[i] : min;
    bounds->block_min[from / BOUNDS_BLOCK] = min;
  }
}

#include "simd-folds.h"

/* ---- criteria ---- */

/* Adds the losses of up to BLOCK rows, four quarters of them side by side: one sum would wait for
   each addition. */
TARGET static inline void NAME(add_losses)(
    ptrdiff_t rows, const double *e, const double *w, double centre, struct loss_sums *sums) {
  const ptrdiff_t quarter = rows / 4;
  const double *e1 = e + quarter, *e2 = e1 + quarter, *e3 = e2 + quarter;
  const double *w1 = w + quarter, *w2 = w1 + quarter, *w3 = w2 + quarter;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0, q0 = 0, q1 = 0, q2 = 0, q3 = 0;
  SIMD_SUM(s0, s1, s2, s3, q0, q1, q2, q3)
  for (ptrdiff_t j = 0; j < quarter; j++) {
    const double ww0 = w[j] * w[j], ww1 = w1[j] * w1[j];
    const double ww2 = w2[j] * w2[j], ww3 = w3[j] * w3[j];
    s0 += ww0 * e[j];
    s1 += ww1 * e1[j];
    s2 += ww2 * e2[j];
    s3 += ww3 * e3[j];
    q0 += ww0 * (e[j] - centre) * (e[j] - centre);
    q1 += ww1 * (e1[j] - centre) * (e1[j] - centre);
    q2 += ww2 * (e2[j] - centre) * (e2[j] - centre);
    q3 += ww3 * (e3[j] - centre) * (e3[j] - centre);
  }
  for (ptrdiff_t j = 4 * quarter; j < rows; j++) {
    s0 += w[j] * w[j] * e[j];
    q0 += w[j] * w[j] * (e[j] - centre) * (e[j] - centre);
  }
  sums->sum += (s0 + s1) + (s2 + s3);
  sums->spread += (q0 + q1) + (q2 + q3);
}

TARGET static struct loss_sums NAME(absolute_losses)(
    ptrdiff_t m, ptrdiff_t L, const double *r, const double *w, double centre) {
  struct loss_sums sums = {0, 0};
  const double share = 1 / (double)L;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    double e[BLOCK];
    SIMD for (ptrdiff_t j = 0; j < rows; j++) e[j] = share * fabs(r[from + j]);
    for (ptrdiff_t l = 1; l < L; l++) {
      const double *rl = r + from + l * m;
      SIMD for (ptrdiff_t j = 0; j < rows; j++) e[j] += share * fabs(rl[j]);
    }
    NAME(add_losses)(rows, e, w + from, centre, &sums);
  }
  return sums;
}

/* Whether the one score tells the wrong class. */
TARGET static inline void NAME(wrong_of_two)(
    ptrdiff_t rows, const double *y, const double *r, double tie, double *wrong) {
  SIMD for (ptrdiff_t j = 0; j < rows; j++) {
    const double told = y[j] - r[j] > tie ? 1 : 0, is = y[j] > 0 ? 1 : 0;
    wrong[j] = fabs(told - is);
  }
}

/* Whether L scores, m apart, do: the class told is the first that is high enough. */
TARGET static inline void NAME(wrong_of_many)(ptrdiff_t rows, ptrdiff_t L, ptrdiff_t m,
    const double *y, const double *r, double tie, double *wrong) {
  double highest[BLOCK], told[BLOCK] = {0}; /* y of the class told */
  SIMD for (ptrdiff_t j = 0; j < rows; j++) highest[j] = -INFINITY;
  for (ptrdiff_t l = 0; l < L; l++) {
    const double *yl = y + l * m, *rl = r + l * m;
    SIMD for (ptrdiff_t j = 0; j < rows; j++) {
      const double score = yl[j] - rl[j];
      highest[j] = score > highest[j] ? score : highest[j];
    }
  }
  for (ptrdiff_t l = L - 1; l >= 0; l--) {
    const double *yl = y + l * m, *rl = r + l * m;
    SIMD for (ptrdiff_t j = 0; j < rows; j++) told[j] =
        yl[j] - rl[j] < highest[j] - tie ? told[j] : yl[j];
  }
  SIMD for (ptrdiff_t j = 0; j < rows; j++) wrong[j] = (1 - told[j]) / 2;
}

TARGET static struct loss_sums NAME(error_losses)(ptrdiff_t m, ptrdiff_t L, const double *y,
    const double *r, double tie, const double *w, double centre) {
  struct loss_sums sums = {0, 0};
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    double wrong[BLOCK];
    if (L == 1)
      NAME(wrong_of_two)(rows, y + from, r + from, tie, wrong);
    else
      NAME(wrong_of_many)(rows, L, m, y + from, r + from, tie, wrong);
    NAME(add_losses)(rows, wrong, w + from, centre, &sums);
  }
  return sums;
}

TARGET static void NAME(shifted_quotient)(
    ptrdiff_t m, double *r, const double *g, double alpha, const double *q, const double *divisor) {
  SIMD for (ptrdiff_t j = 0; j < m; j++) r[j] = (g[j] - q[j] * alpha) / divisor[j];
}

TARGET static struct range NAME(range)(ptrdiff_t m, const double *x) {
  double low[SIMD_PAD], high[SIMD_PAD];
  struct range range = {INFINITY, -INFINITY};
  for (ptrdiff_t u = 0; u < SIMD_PAD; u++)
    low[u] = INFINITY, high[u] = -INFINITY;
  ptrdiff_t j = 0;
  for (; j + SIMD_PAD <= m; j += SIMD_PAD) {
    SIMD for (ptrdiff_t u = 0; u < SIMD_PAD; u++) {
      low[u] = x[j + u] < low[u] ? x[j + u] : low[u];
      high[u] = x[j + u] > high[u] ? x[j + u] : high[u];
    }
  }
  for (; j < m; j++) {
    low[0] = x[j] < low[0] ? x[j] : low[0];
    high[0] = x[j] > high[0] ? x[j] : high[0];
  }
  for (ptrdiff_t u = 0; u < SIMD_PAD; u++) {
    range.low = low[u] < range.low ? low[u] : range.low;
    range.high = high[u] > range.high ? high[u] : range.high;
  }
  return range;
}

TARGET static void NAME(find_buckets)(
    ptrdiff_t m, const double *x, const struct score_buckets *buckets, int *bucket) {
  const double low = buckets->low, scale = buckets->scale, last = (double)(buckets->count - 1);
  SIMD for (ptrdiff_t j = 0; j < m; j++) {
    double at = (x[j] - low) * scale;
    at = at > 0 ? at : 0; /* which NAN is not */
    bucket[j] = (int)(at < last ? at : last);
  }
}

/* The first of SIMD_PAD entries such that all before them are below x, and none after them is; or
   no more than x with `equal`. */
TARGET static inline ptrdiff_t NAME(first_near)(
    const struct score_buckets *buckets, int bucket, double x, int equal) {
  ptrdiff_t from = buckets->start[bucket], to = buckets->start[bucket + 1];
  while (to - from > SIMD_PAD) {
    const ptrdiff_t middle = from + (to - from) / 2;
    const int below = equal ? buckets->score[middle] <= x : buckets->score[middle] < x;
    from = below ? middle : from;
    to = below ? to : middle;
  }
  return from;
}

TARGET static struct pair_sums NAME(bucket_losses)(ptrdiff_t m, const double *x, double tie,
    const double *w, const struct score_buckets *buckets) {
  const double *score = buckets->score, *weight = buckets->weight;
  enum { NEAR = SIMD_PAD / WIDTH };
  vector low_sum[NEAR] = {0}, high_sum[NEAR] = {0};
  double below = 0, sum = 0;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    double low[BLOCK], high[BLOCK];
    int low_bucket[BLOCK], high_bucket[BLOCK];
    SIMD for (ptrdiff_t j = 0; j < rows; j++) {
      low[j] = x[from + j] - tie;
      high[j] = x[from + j] + tie;
    }
    NAME(find_buckets)(rows, low, buckets, low_bucket);
    NAME(find_buckets)(rows, high, buckets, high_bucket);
    for (ptrdiff_t j = 0; j < rows; j++) {
      const ptrdiff_t i = NAME(first_near)(buckets, low_bucket[j], low[j], 0);
      const ptrdiff_t k = NAME(first_near)(buckets, high_bucket[j], high[j], 1);
      const double w_j = w[from + j];
      sum += w_j;
      below += w_j * (buckets->before[i] + buckets->before[k]);
      const vector w_all = w_j - (vector){0}, low_all = low[j] - (vector){0},
                   high_all = high[j] - (vector){0};
      UNROLL for (int u = 0; u < NEAR; u++) {
        const double *si = score + i + u * WIDTH, *wi = weight + i + u * WIDTH;
        const double *sk = score + k + u * WIDTH, *wk = weight + k + u * WIDTH;
        low_sum[u] += w_all * WHERE(AT(si) < low_all, AT(wi));
        high_sum[u] += w_all * WHERE(AT(sk) <= high_all, AT(wk));
      }
    }
  }
  for (int u = 0; u < NEAR; u++) {
    const vector both = low_sum[u] + high_sum[u];
    below += NAME(across)((const double *)&both);
  }
  const double all = sum * buckets->total;
  return (struct pair_sums){all - below / 2, all};
}

/* One negative row and what its pairs have cost. */
struct NAME(negative_row) {
  double c_kappa, a, d, response, unit, weight;
  vector loss;
};

TARGET static inline struct NAME(negative_row)
    NAME(take_negative)(const struct class_rows *rows, ptrdiff_t j, double kappa) {
  return (struct NAME(negative_row)){.c_kappa = rows->c[j] / kappa,
      .a = rows->a[j],
      .d = rows->d[j],
      .response = rows->response[j],
      .unit = rows->unit[j],
      .weight = rows->weight[j]};
}

/* Adds the losses of a vector of positive rows from row i on, of weights w. Residuals solve the
   2 x 2 system in G; scores are compared times its determinant, which is positive, so that nothing
   is divided. A score that is not a number is wrong. */
TARGET static inline void NAME(add_held_out)(const struct class_rows *p, ptrdiff_t i, vector G,
    vector w, double tie, struct NAME(negative_row) * n) {
  const vector a = AT(p->a + i), d = AT(p->d + i), unit = AT(p->unit + i);
  const vector g = G - AT(p->c + i) * n->c_kappa, det = d * n->d - g * g, near = tie * det;
  const vector higher = (AT(p->response + i) - n->response) * det - unit * (a * n->d - n->a * g) +
                        n->unit * (n->a * d - a * g);
  n->loss += w - 0.5 * (WHERE(higher > near, w) + WHERE(higher >= -near, w));
}

/* Two negative rows share the reading of the positive ones. */
TARGET static double NAME(held_out_pairs)(const struct class_rows *positive,
    const struct class_rows *negative, const double *G, ptrdiff_t ld, double kappa, double tie) {
  const ptrdiff_t positives = positive->count, negatives = negative->count;
  double loss = 0;
  for (ptrdiff_t j = 0; j < negatives; j += 2) {
    const ptrdiff_t k = j + 1 < negatives ? j + 1 : j;
    struct NAME(negative_row) one = NAME(take_negative)(negative, j, kappa);
    struct NAME(negative_row) two = NAME(take_negative)(negative, k, kappa);
    const double *one_G = G + j * ld, *two_G = G + k * ld;
    ptrdiff_t i = 0;
    for (; i + WIDTH <= positives; i += WIDTH) {
      const vector w = AT(positive->weight + i);
      NAME(add_held_out)(positive, i, AT(one_G + i), w, tie, &one);
      NAME(add_held_out)(positive, i, AT(two_G + i), w, tie, &two);
    }
    if (i < positives) {
      const size_t rest = (size_t)(positives - i) * sizeof(double);
      double one_rest[WIDTH] = {0}, two_rest[WIDTH] = {0}, weight[WIDTH] = {0};
      memcpy(one_rest, one_G + i, rest);
      memcpy(two_rest, two_G + i, rest);
      memcpy(weight, positive->weight + i, rest);
      NAME(add_held_out)(positive, i, AT(one_rest), AT(weight), tie, &one);
      NAME(add_held_out)(positive, i, AT(two_rest), AT(weight), tie, &two);
    }
    loss += one.weight * NAME(across)((const double *)&one.loss);
    if (k > j)
      loss += two.weight * NAME(across)((const double *)&two.loss);
  }
  return loss;
}

static const struct simd NAME(set) = {.width = WIDTH,
    .columns = {[DOUBLES] = COLUMN_LOOPS(64, doubles),
        [INTEGERS] = COLUMN_LOOPS(32, integers),
        [FLOATS] = COLUMN_LOOPS(32, floats),
        [SHORTS] = COLUMN_LOOPS(16, shorts),
        [UNSIGNED_SHORTS] = COLUMN_LOOPS(16, unsigned_shorts),
        [BYTES] = COLUMN_LOOPS(8, bytes),
        [CODED] = COLUMN_LOOPS(8, coded),
        [CALLS] = COLUMN_LOOPS(2, calls),
        [FILLED_DOUBLES] = COLUMN_LOOPS(64, filled_doubles),
        [FILLED_INTEGERS] = COLUMN_LOOPS(32, filled_integers),
        [FILLED_FLOATS] = COLUMN_LOOPS(32, filled_floats),
        [FILLED_SHORTS] = COLUMN_LOOPS(16, filled_shorts),
        [COMPUTED] = COLUMN_LOOPS(64, computed)},
    .dot = NAME(dot),
    .shift = NAME(shift),
    .shift_squares = NAME(shift_squares),
    .shift_all = NAME(shift_all),
    .shift_four = NAME(shift_four),
    .dots = NAME(dots),
    .max_entry = NAME(max_entry),
    .excess_square = NAME(excess_square),
    .list_above = NAME(list_above),
    .row_dots = NAME(row_dots),
    .quotient = NAME(quotient),
    .weigh = NAME(weigh),
    .w_products = NAME(w_products),
    .rest_square = NAME(rest_square),
    .losses = NAME(losses),
    .moments = NAME(moments),
    .present = NAME(present),
    .logistic = NAME(logistic),
    .poisson = NAME(poisson),
    .shares = NAME(shares),
    .entropy = NAME(entropy),
    .entropy_gain = NAME(entropy_gain),
    .mixture_entropy = NAME(mixture_entropy),
    .score = NAME(score),
    .shift_and_score = NAME(shift_and_score),
    .weighted = NAME(weighted),
    .products = NAME(products),
    .sparse_products = NAME(sparse_products),
    .bounds_update = NAME(bounds_update),
    .bounds_evaluate = NAME(bounds_evaluate),
    .bounds_of_parts = NAME(bounds_of_parts),
    .shift_and_hold_out = NAME(shift_and_hold_out),
    .fold = NAME(fold),
    .fold_products = NAME(fold_products),
    .fold_squares = NAME(fold_squares),
    .recur = NAME(recur),
    .recurred_error = NAME(recurred_error),
    .tally = NAME(tally),
    .pair = NAME(pair),
    .pair_above = NAME(pair_above),
    .absolute_losses = NAME(absolute_losses),
    .error_losses = NAME(error_losses),
    .shifted_quotient = NAME(shifted_quotient),
    .range = NAME(range),
    .find_buckets = NAME(find_buckets),
    .bucket_losses = NAME(bucket_losses),
    .held_out_pairs = NAME(held_out_pairs)};

#undef WIDTH
#undef TARGET
#undef NAME
#undef vector
#undef AT
#undef PUT
#undef ROOT
#undef WHERE
#undef OR_ELSE
#undef BITS
