/* The functions of one set of lanes.h. Loops that the compiler makes vectors of by itself are left
   to it (LANES); where sums go side by side or rows share a division, vectors are written out.

   lanes.c includes this once for each set, with WIDTH, the doubles in a vector; TARGET, the
   attribute that lets the compiler use them; and NAME(f), the name of f in this set. */

#if WIDTH == 1
#define vector double
#else
typedef double NAME(vector) __attribute__((vector_size(WIDTH * 8), aligned(8), may_alias));
#define vector NAME(vector)
#endif

/* the vector that begins at p, which need not be aligned */
#define AT(p) (*(const vector *)(p))

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

TARGET static double NAME(dot)(ptrdiff_t m, const double *x, const double *y) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += x[j] * y[j];
  return sum;
}

TARGET static void NAME(shift)(ptrdiff_t m, double *x, double f, const double *c) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] -= f * c[j];
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
      LANES
      for (ptrdiff_t j = 0; j < rows; j++)
        xb[j] -= (fa * a[j] + fb * b[j]) + (fc * c[j] + fd * d[j]);
    }
    for (; i < k; i++)
      NAME(shift)(rows, xb, f[i], C + from + i * ld);
  }
}

TARGET static void NAME(shift_both)(ptrdiff_t m, double *x, double *y, ptrdiff_t k, const double *C,
    ptrdiff_t ld, const double *f, const double *g) {
  for (ptrdiff_t from = 0; from < m; from += 4 * BLOCK) {
    const ptrdiff_t rows = m - from < 4 * BLOCK ? m - from : 4 * BLOCK;
    double *xb = x + from, *yb = y + from;
    ptrdiff_t i = 0;
    for (; i + 4 <= k; i += 4) {
      const double *a = C + from + i * ld, *b = a + ld, *c = b + ld, *d = c + ld;
      const double fa = f[i], fb = f[i + 1], fc = f[i + 2], fd = f[i + 3];
      const double ga = g[i], gb = g[i + 1], gc = g[i + 2], gd = g[i + 3];
      LANES
      for (ptrdiff_t j = 0; j < rows; j++) {
        xb[j] -= (fa * a[j] + fb * b[j]) + (fc * c[j] + fd * d[j]);
        yb[j] -= (ga * a[j] + gb * b[j]) + (gc * c[j] + gd * d[j]);
      }
    }
    for (; i < k; i++) {
      NAME(shift)(rows, xb, f[i], C + from + i * ld);
      NAME(shift)(rows, yb, g[i], C + from + i * ld);
    }
  }
}

TARGET static void NAME(dots)(
    ptrdiff_t m, const double *x, ptrdiff_t k, const double *C, ptrdiff_t ld, double *out) {
  ptrdiff_t i = 0;
  for (; i + 4 <= k; i += 4) {
    const double *a = C + i * ld, *b = a + ld, *c = b + ld, *d = c + ld;
    double sa = 0, sb = 0, sc = 0, sd = 0;
    LANES_SUM(sa, sb, sc, sd)
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

TARGET static double NAME(centred_dot)(
    ptrdiff_t m, const double *x, double centre, const double *v) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += (x[j] - centre) * v[j];
  return sum;
}

TARGET static double NAME(centred_square)(
    ptrdiff_t m, const double *x, double centre, const double *w) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += w[j] * (x[j] - centre) * (x[j] - centre);
  return sum;
}

TARGET static void NAME(add_centred)(
    ptrdiff_t m, double *f, double step, const double *x, double centre) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    f[j] += step * (x[j] - centre);
}

TARGET static void NAME(shift_weighted)(
    ptrdiff_t m, double *s, double step, const double *h, const double *x, double centre) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    s[j] -= step * h[j] * (x[j] - centre);
}

TARGET static double NAME(logistic)(
    ptrdiff_t m, const double *y, const double *w, const double *f, double *v, double *h) {
  double sum = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    const double margin = y[j] * f[j], t = exp(-fabs(margin)), inverse = 1 / (1 + t);
    v[j] = y[j] * w[j] * (margin > 0 ? t * inverse : inverse);
    h[j] = w[j] * t * inverse * inverse;
    sum += w[j] * (log1p(t) + (margin > 0 ? 0 : -margin));
  }
  return sum;
}

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

TARGET static double NAME(score_whole)(ptrdiff_t m, ptrdiff_t L, const double *x, const double *a,
    const double *d, double beta, const double *alpha) {
  return NAME(score)(m, L, x, a, m, d, beta, alpha);
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

TARGET static void NAME(residual)(ptrdiff_t m, double *r, const double *x, const double *a,
    const double *d, double kappa, double t, const double *root_w) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    r[j] = (a[j] * kappa - x[j] * t) / ((d[j] * kappa - x[j] * x[j]) * root_w[j]);
}

TARGET static struct fold_dots NAME(fold)(
    ptrdiff_t h, double *q, double f, const double *b, const double *c) {
  double cq = 0, qq = 0;
  LANES_SUM(cq, qq)
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
  LANES_SUM(gc, gq)
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
    double need = scan->need, top[LANES_PAD] = {0}, above = 0;
    for (ptrdiff_t o = 0; o < L; o++)
      need -= r[j + o * ld] * r[j + o * ld] * inverse;
    if (need <= 0)
      return j;
    if (L == 1) {
      const double h = r[j] * inverse;
      for (ptrdiff_t l = (j + 1) / LANES_PAD * LANES_PAD; l < ld; l += LANES_PAD) {
        LANES
        for (ptrdiff_t u = 0; u < LANES_PAD; u++) {
          const double c = row[l + u] - f * a[l + u], v = r[l + u] - h * c;
          double e = d[l + u] - inverse * c * c;
          e = e > floor[l + u] ? e : floor[l + u];
          const double more = v * v - need * e;
          top[u] = more > top[u] ? more : top[u];
        }
      }
    } else {
      for (ptrdiff_t l = (j + 1) / LANES_PAD * LANES_PAD; l < ld; l += LANES_PAD) {
        double more[LANES_PAD], c[LANES_PAD];
        LANES
        for (ptrdiff_t u = 0; u < LANES_PAD; u++) {
          c[u] = row[l + u] - f * a[l + u];
          const double e = d[l + u] - inverse * c[u] * c[u];
          more[u] = -need * (e > floor[l + u] ? e : floor[l + u]);
        }
        for (ptrdiff_t o = 0; o < L; o++) {
          const double *ro = r + o * ld + l, h = r[j + o * ld] * inverse;
          LANES
          for (ptrdiff_t u = 0; u < LANES_PAD; u++)
            more[u] += (ro[u] - h * c[u]) * (ro[u] - h * c[u]);
        }
        LANES
        for (ptrdiff_t u = 0; u < LANES_PAD; u++)
          top[u] = more[u] > top[u] ? more[u] : top[u];
      }
    }
    for (ptrdiff_t u = 0; u < LANES_PAD; u++)
      above = top[u] > above ? top[u] : above;
    if (above > 0)
      return j;
  }
  return to;
}

TARGET static void NAME(centred)(
    ptrdiff_t m, double *out, const double *x, double centre, double f, const double *w) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    out[j] = f * w[j] * (x[j] - centre);
}

TARGET static void NAME(centred_whole)(
    ptrdiff_t m, double *out, const int *x, double centre, double f, const double *w) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    out[j] = f * w[j] * (x[j] - centre);
}

/* Tiles of four columns x and two columns v. */
TARGET static void NAME(products)(ptrdiff_t m, ptrdiff_t columns, const double *x, ptrdiff_t ldx,
    ptrdiff_t r, const double *v, ptrdiff_t ldv, double *out) {
  const ptrdiff_t last = columns - 1;
  const double *x0 = x, *x1 = x + (last < 1 ? last : 1) * ldx,
               *x2 = x + (last < 2 ? last : 2) * ldx;
  const double *x3 = x + last * ldx;
  for (ptrdiff_t l = 0; l < r; l += 2) {
    const int two = l + 1 < r;
    const double *v0 = v + l * ldv, *v1 = v0 + two * ldv;
    vector s00 = {0}, s10 = {0}, s20 = {0}, s30 = {0}, s01 = {0}, s11 = {0}, s21 = {0}, s31 = {0};
    double sum[8] = {0};
    ptrdiff_t j = 0;
    for (; j + WIDTH <= m; j += WIDTH) {
      const vector a = AT(v0 + j), b = AT(v1 + j);
      const vector c0 = AT(x0 + j), c1 = AT(x1 + j), c2 = AT(x2 + j), c3 = AT(x3 + j);
      s00 += c0 * a;
      s01 += c0 * b;
      s10 += c1 * a;
      s11 += c1 * b;
      s20 += c2 * a;
      s21 += c2 * b;
      s30 += c3 * a;
      s31 += c3 * b;
    }
    for (; j < m; j++) {
      const double row[] = {x0[j], x1[j], x2[j], x3[j]};
      for (int i = 0; i < 4; i++) {
        sum[2 * i] += row[i] * v0[j];
        sum[2 * i + 1] += row[i] * v1[j];
      }
    }
    const vector all[] = {s00, s01, s10, s11, s20, s21, s30, s31};
    for (int i = 0; i < 8; i++)
      sum[i] += NAME(across)((const double *)&all[i]);
    for (ptrdiff_t i = 0; i < columns; i++) {
      out[l + i * r] += sum[2 * i];
      if (two)
        out[l + 1 + i * r] += sum[2 * i + 1];
    }
  }
}

TARGET static void NAME(sparse_products)(ptrdiff_t count, const double *x, const int *row,
    const double *w, ptrdiff_t r, const double *v, ptrdiff_t ldv, double *out) {
  for (ptrdiff_t k = 0; k < count; k++) {
    const double *at = v + row[k] * ldv, value = w[row[k]] * x[k];
    LANES
    for (ptrdiff_t l = 0; l < r; l++)
      out[l] += value * at[l];
  }
}

TARGET static void NAME(outlook_advance)(
    const struct outlook *outlook, const struct outlook_move *move) {
  const ptrdiff_t n = outlook->n;
  const double inverse = move->inverse, cc = move->cc, *t = move->t, *q = move->q;
  double *square = outlook->square, *N = outlook->N, *length = outlook->length;
  const double *reach2 = outlook->reach2, rounding = move->rounding;
  LANES
  for (ptrdiff_t i = 0; i < n; i++) {
    const double step = inverse * t[i], left = N[i] + step * (step * cc - 2 * q[i]);
    square[i] -= step * t[i];
    N[i] = left > 0 ? left : 0;
    /* a step of Newton's to the root of what N may be, which is never below it */
    length[i] = 0.5 * (length[i] + (N[i] + rounding * reach2[i]) / length[i]) + LEAST_LENGTH;
  }
  for (ptrdiff_t l = 0; l < outlook->L; l++) {
    const double gamma = move->gamma[l], along = inverse * (move->c_a[l] - gamma * cc);
    const double ref = inverse * move->c_ref[l];
    double *g = outlook->g + l * n, *A = outlook->A + l * n, *z = outlook->z + l * n;
    LANES
    for (ptrdiff_t i = 0; i < n; i++) {
      A[i] -= gamma * q[i] + along * t[i];
      z[i] -= ref * t[i];
      g[i] -= gamma * t[i];
    }
  }
}

TARGET static void NAME(outlook_bounds)(
    const struct outlook *outlook, const struct outlook_rows *rows, double *bound) {
  const ptrdiff_t n = outlook->n;
  const double P = rows->P, inverse_d2 = rows->inverse_d2, rounding = rows->rounding;
  for (ptrdiff_t from = 0; from < n; from += BLOCK) {
    const ptrdiff_t count = n - from < BLOCK ? n - from : BLOCK;
    const double *square = outlook->square + from, *N = outlook->N + from;
    const double *length = outlook->length + from, *reach2 = outlook->reach2 + from;
    const double *aside = outlook->aside + from;
    double along[BLOCK] = {0}, alphas[BLOCK] = {0}, beta[BLOCK], *out = bound + from;
    LANES
    for (ptrdiff_t i = 0; i < count; i++)
      beta[i] = 1 / square[i];
    for (ptrdiff_t l = 0; l < outlook->L; l++) {
      const double *g = outlook->g + from + l * n, *A = outlook->A + from + l * n;
      const double *z = outlook->z + from + l * n;
      const double theta0 = rows->theta0[l], theta1 = rows->theta1[l], rest = rows->rest[l];
      LANES
      for (ptrdiff_t i = 0; i < count; i++) {
        const double alpha = beta[i] * g[i];
        along[i] += alpha * (theta0 * z[i] + theta1 * A[i]) + fabs(alpha) * length[i] * rest;
        alphas[i] += alpha * alpha;
      }
    }
    LANES
    for (ptrdiff_t i = 0; i < count; i++) {
      const double margin = 1e-13 * P + rounding * (1 + reach2[i] * beta[i]);
      const double value = P - 2 * along[i] + alphas[i] * N[i] * inverse_d2 - margin;
      /* what is no number is not known; what is set aside is infinite either way */
      const double sure = beta[i] > 0 && margin <= 1e-3 * P ? value : -DBL_MAX;
      const double known = sure > -DBL_MAX ? sure : -DBL_MAX;
      out[i] = known + aside[i];
    }
  }
}

static const struct lanes NAME(set) = {.width = WIDTH,
    .dot = NAME(dot),
    .shift = NAME(shift),
    .shift_all = NAME(shift_all),
    .shift_both = NAME(shift_both),
    .dots = NAME(dots),
    .centred_dot = NAME(centred_dot),
    .centred_square = NAME(centred_square),
    .add_centred = NAME(add_centred),
    .shift_weighted = NAME(shift_weighted),
    .logistic = NAME(logistic),
    .score = NAME(score_whole),
    .shift_and_score = NAME(shift_and_score),
    .centred = NAME(centred),
    .centred_whole = NAME(centred_whole),
    .products = NAME(products),
    .sparse_products = NAME(sparse_products),
    .outlook_advance = NAME(outlook_advance),
    .outlook_bounds = NAME(outlook_bounds),
    .residual = NAME(residual),
    .fold = NAME(fold),
    .pair = NAME(pair),
    .pair_above = NAME(pair_above)};

#undef WIDTH
#undef TARGET
#undef NAME
#undef vector
#undef AT
