/* The logistic, the Poisson and the binomial loss and their dual values, for one set of simd.h,
   with exponentials and logarithms of whole vectors: by argument reduction and series, all digits
   but the last one or two. */

#if WIDTH > 1
typedef unsigned long long NAME(bits)
    __attribute__((vector_size(WIDTH * 8), aligned(8), may_alias));
#define bits NAME(bits)

/* An integer that is added to this number is in its last bits. */
#define INTEGERS_FROM 6755399441055744.0 /* 1.5 times 2^52 */

/* exp(x) for x <= 708, 0 below -708: x = k log 2 + r, exp(r) by its series. The digits of log 2
   that are multiplied with k first are few enough for the product to be exact. */
TARGET static inline vector NAME(exp_of)(vector x) {
  const vector shifted = x * 1.4426950408889634 + INTEGERS_FROM, k = shifted - INTEGERS_FROM;
  const vector r = x - k * 6.93147180369123816490e-01 - k * 1.90821492927058770002e-10;
  vector p = (vector){0} + 1.0 / 6227020800;
  p = p * r + 1.0 / 479001600;
  p = p * r + 1.0 / 39916800;
  p = p * r + 1.0 / 3628800;
  p = p * r + 1.0 / 362880;
  p = p * r + 1.0 / 40320;
  p = p * r + 1.0 / 5040;
  p = p * r + 1.0 / 720;
  p = p * r + 1.0 / 120;
  p = p * r + 1.0 / 24;
  p = p * r + 1.0 / 6;
  p = p * r + 0.5;
  p = p * r + 1;
  p = p * r + 1;
  const bits power = ((bits)shifted << 52) + 0x3ff0000000000000;
  return OR_ELSE(x < -708, 0.0, p * (vector)power);
}

/* log((1 + s) / (1 - s)), |s| < 0.172, by its series */
TARGET static inline vector NAME(log_ratio)(vector s) {
  const vector z = s * s;
  vector p = (vector){0} + 1.0 / 19;
  p = p * z + 1.0 / 17;
  p = p * z + 1.0 / 15;
  p = p * z + 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  return 2 * s + 2 * s * (z * p);
}

/* log(1 + t), 0 <= t <= 1: of 1 + t, or of half of it and log 2. */
TARGET static inline vector NAME(log1p_of)(vector t) {
  const vector zero = {0};
  const vector top = OR_ELSE(t > 0.4142135623730950, t - 1, t);
  const vector bottom = OR_ELSE(t > 0.4142135623730950, t + 3, t + 2);
  return OR_ELSE(t > 0.4142135623730950, 0.6931471805599453, zero) + NAME(log_ratio)(top / bottom);
}

/* log(x) for a positive x with all its digits: x = 2^k z, z from the root of 1/2 to that of 2. */
TARGET static inline vector NAME(log_of)(vector x) {
  const bits above = (bits)x - 0x3fe6a09e667f3bcd + 0x3ff0000000000000; /* k + 1023, first bits */
  const vector k = (vector)(above >> 52 | 0x4330000000000000) - 4503599627371519.0;
  const vector z = (vector)((bits)x - (above & 0xfff0000000000000) + 0x3ff0000000000000);
  return k * 0.6931471805599453 + NAME(log_ratio)((z - 1) / (z + 1));
}

/* -p log p; 0 for p that is not positive, or has not all its digits. */
TARGET static inline vector NAME(entropy_terms)(vector p) {
  return WHERE(p >= DBL_MIN, -p * NAME(log_of)(OR_ELSE(p < DBL_MIN, 1.0, p)));
}

/* -p log p - (1 - p) log(1 - p), likewise. */
TARGET static inline vector NAME(entropies)(vector p) {
  return NAME(entropy_terms)(p) + NAME(entropy_terms)(1 - p);
}
#endif

/* -p log p, as entropy_terms() makes it. */
TARGET static inline double NAME(entropy_term)(double p) {
  return p >= DBL_MIN ? -p * log(p) : 0;
}

TARGET static inline double NAME(entropy_of)(double p) {
  return NAME(entropy_term)(p) + NAME(entropy_term)(1 - p);
}

TARGET static double NAME(entropy_gain)(
    ptrdiff_t m, const double *w, const double *p, const double *q) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= m; j += WIDTH)
    total += AT(w + j) * (NAME(entropies)(AT(p + j)) - NAME(entropies)(AT(q + j)));
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < m; j++)
    sum += w[j] * (NAME(entropy_of)(p[j]) - NAME(entropy_of)(q[j]));
  return sum;
}

TARGET static double NAME(logistic)(
    ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector y_j = AT(y + j), w_j = AT(w + j), margin = y_j * AT(f + j);
    const vector opposite = OR_ELSE(margin > 0, -margin, margin);
    const vector t = NAME(exp_of)(opposite), inverse = 1 / (1 + t);
    PUT(v + j) = y_j * w_j * OR_ELSE(margin > 0, t * inverse, inverse);
    PUT(h + j) = w_j * t * inverse * inverse;
    total += w_j * (NAME(log1p_of)(t) - WHERE(margin < 0, margin));
  }
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < m; j++) {
    const double margin = y[j] * f[j], t = exp(-fabs(margin)), inverse = 1 / (1 + t);
    v[j] = y[j] * w[j] * (margin > 0 ? t * inverse : inverse);
    h[j] = w[j] * t * inverse * inverse;
    sum += w[j] * (log1p(t) + (margin > 0 ? 0 : -margin));
  }
  return sum;
}

#if WIDTH > 1
/* exp(x) - 1 - x, |x| <= 700: near 0 by its series, as the difference has no digits there. */
TARGET static inline vector NAME(exp_less)(vector x, vector exp_x) {
  vector p = (vector){0} + 1.0 / 3628800;
  p = p * x + 1.0 / 362880;
  p = p * x + 1.0 / 40320;
  p = p * x + 1.0 / 5040;
  p = p * x + 1.0 / 720;
  p = p * x + 1.0 / 120;
  p = p * x + 1.0 / 24;
  p = p * x + 1.0 / 6;
  p = p * x + 0.5;
  const vector near = OR_ELSE(x < 0, -x, x);
  return OR_ELSE(near < 0.1, x * x * p, exp_x - 1 - x);
}
#endif

TARGET static inline double NAME(exp_less_one)(double x) {
  if (fabs(x) >= 0.1)
    return exp(x) - 1 - x;
  double p = 1.0 / 3628800;
  p = p * x + 1.0 / 362880;
  p = p * x + 1.0 / 40320;
  p = p * x + 1.0 / 5040;
  p = p * x + 1.0 / 720;
  p = p * x + 1.0 / 120;
  p = p * x + 1.0 / 24;
  p = p * x + 1.0 / 6;
  return x * x * (p * x + 0.5);
}

/* With b the count, or 1 for a count of 0, and x = f - log b the mean is b exp(x). */
TARGET static double NAME(poisson)(ptrdiff_t m, const double *y, const double *log_y,
    const double *w, const double *f, double *v, double *h) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector y_j = AT(y + j), w_j = AT(w + j), f_j = AT(f + j), b = OR_ELSE(y_j <= 0, 1.0, y_j);
    const vector x = OR_ELSE(f_j > 300, 300.0, f_j) - AT(log_y + j), e = NAME(exp_of)(x);
    PUT(v + j) = w_j * (y_j - b * e);
    PUT(h + j) = w_j * b * e;
    total += w_j * OR_ELSE(y_j > 0, b * NAME(exp_less)(x, e), e);
  }
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < m; j++) {
    const double b = y[j] > 0 ? y[j] : 1, x = fmin(f[j], 300) - log_y[j], e = exp(x);
    v[j] = w[j] * (y[j] - b * e);
    h[j] = w[j] * b * e;
    sum += w[j] * (y[j] > 0 ? b * NAME(exp_less_one)(x) : e);
  }
  return sum;
}

TARGET static double NAME(shares)(ptrdiff_t m, const double *y, const double *entropy,
    const double *w, const double *f, double *v, double *h) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector y_j = AT(y + j), w_j = AT(w + j), f_j = AT(f + j);
    const vector t = NAME(exp_of)(OR_ELSE(f_j > 0, -f_j, f_j)), inverse = 1 / (1 + t);
    PUT(v + j) = w_j * (y_j - OR_ELSE(f_j > 0, inverse, t * inverse));
    PUT(h + j) = w_j * t * inverse * inverse;
    total += w_j * (WHERE(f_j > 0, f_j) - y_j * f_j + NAME(log1p_of)(t) - AT(entropy + j));
  }
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < m; j++) {
    const double t = exp(-fabs(f[j])), inverse = 1 / (1 + t);
    v[j] = w[j] * (y[j] - (f[j] > 0 ? inverse : t * inverse));
    h[j] = w[j] * t * inverse * inverse;
    sum += w[j] * (fmax(f[j], 0) - y[j] * f[j] + log1p(t) - entropy[j]);
  }
  return sum;
}

TARGET static double NAME(entropy)(ptrdiff_t m, double s, const double *y, const double *r,
    const double *divisor, const double *root_w) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= m; j += WIDTH) {
    const vector p = s * AT(y + j) * AT(r + j) / AT(divisor + j), root = AT(root_w + j);
    total += root * root * NAME(entropies)(p);
  }
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < m; j++) {
    const double p = s * y[j] * r[j] / divisor[j];
    sum += root_w[j] * root_w[j] * NAME(entropy_of)(p);
  }
  return sum;
}

TARGET static double NAME(mixture_entropy)(ptrdiff_t n, double a, double b, const double *x) {
  double sum = 0;
  ptrdiff_t j = 0;
#if WIDTH > 1
  vector total = {0};
  for (; j + WIDTH <= n; j += WIDTH)
    total += NAME(entropy_terms)(a + b * AT(x + j));
  sum = NAME(across)((const double *)&total);
#endif
  for (; j < n; j++)
    sum += NAME(entropy_term)(a + b * x[j]);
  return sum;
}

#undef bits
#undef INTEGERS_FROM
