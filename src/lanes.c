#include "lanes.h"
#include <math.h>

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__)
#define EACH_INSTRUCTION_SET __attribute__((target_clones("avx512f", "fma", "default")))
#else
#define EACH_INSTRUCTION_SET
#endif

#ifdef _OPENMP
#define PRAGMA(text) _Pragma(#text)
#define LANES_SUM(...) PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#define LANES PRAGMA(omp simd)
#else
#define LANES_SUM(...)
#define LANES
#endif

enum { BLOCK = 256 }; /* rows whose denominators are held while the outputs pass by */

EACH_INSTRUCTION_SET
double lanes_dot(ptrdiff_t m, const double *x, const double *y) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += x[j] * y[j];
  return sum;
}

EACH_INSTRUCTION_SET
void lanes_shift(ptrdiff_t m, double *x, double f, const double *c) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] -= f * c[j];
}

/* Four columns at a time, so that x is read and written once for all four. */
EACH_INSTRUCTION_SET
void lanes_shift_all(
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
      lanes_shift(rows, xb, f[i], C + from + i * ld);
  }
}

EACH_INSTRUCTION_SET
void lanes_dots(
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
    out[i] = lanes_dot(m, x, C + i * ld);
}

EACH_INSTRUCTION_SET
double lanes_centred_dot(ptrdiff_t m, const double *x, double centre, const double *v) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += (x[j] - centre) * v[j];
  return sum;
}

EACH_INSTRUCTION_SET
double lanes_centred_square(ptrdiff_t m, const double *x, double centre, const double *w) {
  double sum = 0;
  LANES_SUM(sum)
  for (ptrdiff_t j = 0; j < m; j++)
    sum += w[j] * (x[j] - centre) * (x[j] - centre);
  return sum;
}

EACH_INSTRUCTION_SET
void lanes_add_centred(ptrdiff_t m, double *f, double step, const double *x, double centre) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    f[j] += step * (x[j] - centre);
}

EACH_INSTRUCTION_SET
void lanes_shift_weighted(
    ptrdiff_t m, double *s, double step, const double *h, const double *x, double centre) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    s[j] -= step * h[j] * (x[j] - centre);
}

EACH_INSTRUCTION_SET
double lanes_logistic(
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

EACH_INSTRUCTION_SET
double lanes_shift_and_score(ptrdiff_t m, ptrdiff_t L, double *x, double f, const double *c,
    const double *a, const double *d, double kappa, const double *t) {
  double inv_eta[BLOCK], total = 0;
  for (ptrdiff_t from = 0; from < m; from += BLOCK) {
    const ptrdiff_t rows = m - from < BLOCK ? m - from : BLOCK;
    double *xb = x + from;
    const double *cb = c + from, *db = d + from;
    LANES
    for (ptrdiff_t j = 0; j < rows; j++) {
      const double v = xb[j] - f * cb[j];
      xb[j] = v;
      inv_eta[j] = 1 / (db[j] * kappa - v * v);
    }
    for (ptrdiff_t l = 0; l < L; l++) {
      const double *ab = a + l * m + from, tl = t[l];
      double sum = 0;
      LANES_SUM(sum)
      for (ptrdiff_t j = 0; j < rows; j++) {
        const double r = (ab[j] * kappa - xb[j] * tl) * inv_eta[j];
        sum += r * r;
      }
      total += sum;
    }
  }
  return total;
}

EACH_INSTRUCTION_SET
void lanes_residual(ptrdiff_t m, double *r, const double *x, const double *a, const double *d,
    double kappa, double t, const double *root_w) {
  LANES
  for (ptrdiff_t j = 0; j < m; j++)
    r[j] = (a[j] * kappa - x[j] * t) / ((d[j] * kappa - x[j] * x[j]) * root_w[j]);
}

EACH_INSTRUCTION_SET
struct fold_dots lanes_fold(ptrdiff_t h, double *q, double f, const double *b, const double *c) {
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

EACH_INSTRUCTION_SET
struct pair_dots lanes_pair(ptrdiff_t h, const double *g, const double *c, const double *q) {
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
EACH_INSTRUCTION_SET
ptrdiff_t lanes_pair_above(const struct pair_scan *scan, ptrdiff_t from, ptrdiff_t to) {
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
