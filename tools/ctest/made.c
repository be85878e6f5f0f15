/* Problems made at random, and ridge regression written for reading. */
#include "ctest.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *part(struct made *made, ptrdiff_t count, size_t size) {
  return made->parts[made->count++] = room((size_t)count * size, 0);
}

static double *doubles(struct made *made, ptrdiff_t count) {
  return part(made, count, sizeof(double));
}

static int *ints(struct made *made, ptrdiff_t count) {
  return part(made, count, sizeof(int));
}

void discard(struct made *made) {
  while (made->count > 0)
    free(made->parts[--made->count]);
}

struct matrix compress(struct made *made, ptrdiff_t m, ptrdiff_t n) {
  double *x = doubles(made, m * n);
  int *i = ints(made, m * n), *p = ints(made, n + 1), count = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    for (ptrdiff_t r = 0; r < m; r++)
      if (made->x[r + j * m] != 0) {
        x[count] = made->x[r + j * m];
        i[count++] = (int)r;
      }
    p[j + 1] = count;
  }
  return (struct matrix){.x = x, .i = i, .p = p};
}

/* v := v less its part along the q orthonormal columns of Q, twice for rounding */
static void orthogonalise(const double *Q, ptrdiff_t m, ptrdiff_t q, double *v) {
  for (ptrdiff_t l = 0; l < 2 * q; l++) {
    const double *column = Q + l % q * m;
    double dot = 0;
    for (ptrdiff_t r = 0; r < m; r++)
      dot += column[r] * v[r];
    for (ptrdiff_t r = 0; r < m; r++)
      v[r] -= dot * column[r];
  }
}

/* ---- columns ---- */

static int below(int n) {
  const int i = (int)((uniform() + 1) / 2 * n);
  return i < n ? i : n - 1;
}

static double heavy(void) {
  const double u = uniform();
  return uniform() / (u * u + 1e-4);
}

/* What column j of a block of eight has in common with the others. */
static double in_block(const double *x, ptrdiff_t m, ptrdiff_t row, ptrdiff_t j) {
  return j % 8 == 0 ? uniform() : x[row + (j - j % 8) * m] + 0.2 * uniform();
}

/* Column j >= 2 of any kind; those that are made of others come of earlier ones. */
static void fill_any(double *x, ptrdiff_t m, ptrdiff_t j) {
  const int kind = below(12);
  const double *a = x + below((int)j) * m, *b = x + below((int)j) * m, f = 3 * uniform();
  for (ptrdiff_t r = 0; r < m; r++) {
    const double u = uniform(), h = heavy(),
                 choice[] = {2 * u, 100 * u, 0, a[r], a[r] + 1e-6 * u, a[r] + b[r], floor(4 * u), h,
                     u > 0, 1 + 1e-3 * u, f * a[r], a[r] - b[r] + 1e-3 * u};
    x[r + j * m] = choice[kind];
  }
}

static void fill_columns(double *x, struct shape shape) {
  const ptrdiff_t m = shape.m, n = shape.n;
  for (ptrdiff_t j = 0; j < n; j++) {
    for (ptrdiff_t r = 0; r < m; r++)
      x[r + j * m] = shape.columns == HEAVY    ? heavy()
                     : shape.columns == BLOCKS ? in_block(x, m, r, j)
                     : shape.columns == FAINT  ? 1e-6 * uniform()
                                               : 2 * uniform();
    if (shape.columns == ANY && j > 1)
      fill_any(x, m, j);
    if ((shape.columns == BLOCKS || shape.columns == SIGNALS) && j == 7) /* and one of zeros */
      memset(x + j * m, 0, (size_t)m * sizeof(double));
  }
  for (ptrdiff_t i = 0; i < m * n; i++) {
    if (shape.sparse && fabs(x[i]) < 1)
      x[i] = 0;
    if (shape.whole)
      x[i] = floor(2 * x[i]);
  }
}

/* Centre and scale are any numbers, and for half of the problems with columns of other kinds what
   the border makes them: the mean, and the root of the mean square about it. */
static void scale_columns(const double *x, struct shape shape, double *centre, double *inv_scale) {
  const ptrdiff_t m = shape.m;
  const int as_border = shape.columns != UNRELATED && uniform() > 0;
  for (ptrdiff_t j = 0; j < shape.n; j++, x += m) {
    centre[j] = shape.columns == UNRELATED ? uniform() : 0;
    inv_scale[j] = shape.columns == UNRELATED ? 1 + uniform() / 2 : 1;
    if (!as_border)
      continue;
    double square = 0;
    for (ptrdiff_t r = 0; r < m; r++)
      centre[j] += x[r] / (double)m;
    for (ptrdiff_t r = 0; r < m; r++)
      square += (x[r] - centre[j]) * (x[r] - centre[j]) / (double)m;
    inv_scale[j] = square > 0 ? 1 / sqrt(square) : 1;
  }
}

static struct matrix in_integers(struct made *made, ptrdiff_t count) {
  int *whole = ints(made, count);
  for (ptrdiff_t i = 0; i < count; i++)
    whole[i] = (int)made->x[i];
  return (struct matrix){.element = INTEGERS, .dense = whole};
}

static void make_columns(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m, n = shape.n;
  double *x = made->x = doubles(made, m * n);
  double *centre = doubles(made, n), *inv_scale = doubles(made, n);
  fill_columns(x, shape);
  scale_columns(x, shape, centre, inv_scale);
  if (n > 5 && shape.columns == UNRELATED) { /* two are the same */
    memcpy(x + 5 * m, x + m, (size_t)m * sizeof(double));
    centre[5] = centre[1];
    inv_scale[5] = inv_scale[1];
  }
  made->pb.centre = centre;
  made->pb.inv_scale = inv_scale;
  made->pb.x = shape.sparse  ? compress(made, m, n)
               : shape.whole ? in_integers(made, m * n)
                             : (struct matrix){.dense = x};
}

static double sum_products(ptrdiff_t m, const double *x, const double *y) {
  long double sum = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    sum += (long double)x[j] * y[j];
  return (double)sum;
}

void measure_columns(struct made *made) {
  struct problem *pb = &made->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  double *squares = doubles(made, n), *rss = doubles(made, n), *products = doubles(made, n * L);
  double *x = doubles(made, m);
  for (ptrdiff_t j = 0; j < n; j++) {
    centred_column(pb, j, x);
    squares[j] = sum_products(m, x, x);
    working_column(pb, j, x);
    rss[j] = sum_products(m, x, x);
    for (ptrdiff_t l = 0; l < L; l++)
      products[j + l * n] = sum_products(m, x, pb->y + l * m);
  }
  pb->squares = squares;
  pb->rss = rss;
  pb->products = products;
}

/* One column is set aside, and those that the covariates explain; columns of zeros are not. */
static void choose_usable(struct made *made) {
  const ptrdiff_t m = made->pb.m, n = made->pb.n;
  int *usable = ints(made, n);
  struct problem dense = made->pb;
  dense.x = (struct matrix){.dense = made->x};
  double *left = room((size_t)m * sizeof(double), 0);
  for (ptrdiff_t j = 0; j < n; j++) {
    double square = 0, own = 0;
    working_column(&dense, j, left);
    for (ptrdiff_t r = 0; r < m; r++) {
      const double x = made->pb.root_w[r] * made->x[r + j * m] * made->pb.inv_scale[j];
      own += x * x;
      square += left[r] * left[r];
    }
    usable[j] = j != 3 && (square == 0 || square > 1e-12 * own);
  }
  free(left);
  made->pb.usable = usable;
}

static void make_covariates(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m, q = shape.q;
  double *w = made->w = doubles(made, m), *root_w = doubles(made, m);
  double *z = made->z = doubles(made, m * q), *Q = doubles(made, m * q);
  for (ptrdiff_t r = 0; r < m; r++) {
    w[r] = shape.weights ? 1.25 + uniform() * 0.75 : 1;
    root_w[r] = sqrt(w[r]);
  }
  for (ptrdiff_t l = 0; l < q; l++) {
    double norm = 0;
    for (ptrdiff_t r = 0; r < m; r++) {
      z[r + l * m] = l == 0 ? 1 : uniform();
      Q[r + l * m] = root_w[r] * z[r + l * m];
    }
    orthogonalise(Q, m, l, Q + l * m);
    for (ptrdiff_t r = 0; r < m; r++)
      norm += Q[r + l * m] * Q[r + l * m];
    for (ptrdiff_t r = 0; r < m; r++)
      Q[r + l * m] /= sqrt(norm);
  }
  made->pb.root_w = made->pb.divisor = root_w;
  made->pb.Q = Q;
  made->pb.held = Q;
}

/* What the columns say: the difference of two of them, or a sum of twenty, of all when exact. */
static double signal_at(const struct made *made, struct shape shape, ptrdiff_t row, ptrdiff_t l) {
  const ptrdiff_t m = shape.m, n = shape.n;
  const double *x = made->x + row;
  if (shape.columns == FAINT)
    return uniform();
  if (shape.columns == UNRELATED || shape.columns == ANY)
    return x[0] - x[(1 + l) % n * m];
  const ptrdiff_t terms = shape.exact ? n : 20;
  double sum = 0;
  for (ptrdiff_t p = 0; p < terms; p++)
    sum += x[(p * n / terms + l) % n * m] * (p % 3 == 0 ? -1 : 1 + 2 * (double)p / (double)terms);
  return sum;
}

static void make_response(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m, L = shape.L;
  double *response = doubles(made, m * L), *y = doubles(made, m * L);
  for (ptrdiff_t r = 0; r < m; r++)
    for (ptrdiff_t l = 0; l < L; l++) {
      double value = signal_at(made, shape, r, l) + (shape.exact ? 0 : uniform());
      if (shape.classes)
        value = L == 1 ? (value > 0 ? 1 : -1) : (r % L == l ? 1 : -1);
      response[r + l * m] = value;
      y[r + l * m] = made->pb.root_w[r] * value;
    }
  for (ptrdiff_t l = 0; l < L; l++)
    orthogonalise(made->pb.Q, m, shape.q, y + l * m);
  made->pb.response = response;
  made->pb.y = y;
}

int any(int from, int to) {
  const int i = from + (int)((uniform() + 1) / 2 * (to - from + 1));
  return i < to ? i : to;
}

int usable_columns(const struct made *made) {
  int count = 0;
  for (ptrdiff_t i = 0; i < made->pb.n; i++)
    count += made->pb.usable[i];
  return count;
}

/* A number from 7 on that has no divisor in common with m. */
static ptrdiff_t coprime(ptrdiff_t m) {
  for (ptrdiff_t step = 7;; step++) {
    ptrdiff_t a = m, b = step;
    while (b > 0) {
      const ptrdiff_t rest = a % b;
      a = b;
      b = rest;
    }
    if (a == 1)
      return step;
  }
}

/* Folds of unequal size, none of them empty, other rows in each repeat. */
static void make_folds(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m;
  const int loo = shape.folds == 0, count = loo ? (int)m : shape.folds;
  const int repeats = loo ? 1 : shape.repeats;
  int *order = ints(made, m * repeats), *counts = ints(made, repeats);
  int *start = ints(made, (ptrdiff_t)repeats * (count + 1));
  const ptrdiff_t step = coprime(m);
  for (int r = 0; r < repeats; r++) {
    int *at = start + r * (count + 1);
    for (int f = 0; f <= count; f++)
      at[f] = loo ? f : f + (int)((m - count) * f * (f + 1) / (count * (count + 1)));
    for (ptrdiff_t p = 0; p < m; p++)
      order[p + r * m] = loo ? (int)p : (int)((p * step + r * 3) % m);
    counts[r] = count;
  }
  made->folds = (struct folds){loo, repeats, order, counts, start};
}

struct made make(struct shape shape) {
  struct made made = {.pb = {.m = shape.m, .n = shape.n, .L = shape.L, .q = shape.q}};
  make_columns(&made, shape);
  make_covariates(&made, shape);
  choose_usable(&made);
  make_response(&made, shape);
  measure_columns(&made);
  make_folds(&made, shape);
  return made;
}

/* ---- ridge regression ---- */

enum { MOST = 32 }; /* covariates and features of a model */

static double design(const struct made *made, const int *set, ptrdiff_t row, ptrdiff_t column) {
  const struct problem *pb = &made->pb;
  if (column < pb->q)
    return made->z[row + column * pb->m];
  const int i = set[column - pb->q];
  return (made->x[row + i * pb->m] - pb->centre[i]) * pb->inv_scale[i];
}

/* b := A^-1 b, A symmetric positive definite of order k */
static void solve(int k, double A[MOST][MOST], double *b) {
  for (int i = 0; i < k; i++)
    for (int j = 0; j <= i; j++) {
      double sum = A[i][j];
      for (int l = 0; l < j; l++)
        sum -= A[i][l] * A[j][l];
      A[i][j] = i == j ? sqrt(sum) : sum / A[j][j];
    }
  for (int i = 0; i < k; i++) {
    for (int l = 0; l < i; l++)
      b[i] -= A[i][l] * b[l];
    b[i] /= A[i][i];
  }
  for (int i = k - 1; i >= 0; i--) {
    for (int l = i + 1; l < k; l++)
      b[i] -= A[l][i] * b[l];
    b[i] /= A[i][i];
  }
}

/* Trains without the rows marked in `held` and writes the residuals of those rows. */
static void train_without(const struct made *made, double lambda, const int *set, int size,
    const int *held, int write, double *residual, double *beta) {
  const ptrdiff_t m = made->pb.m, q = made->pb.q;
  const int k = (int)q + size;
  for (ptrdiff_t l = 0; l < made->pb.L; l++) {
    double A[MOST][MOST] = {{0}}, b[MOST] = {0};
    for (int i = 0; i < k; i++) {
      for (ptrdiff_t r = 0; r < m; r++) {
        if (held[r])
          continue;
        const double wd = made->w[r] * design(made, set, r, i);
        b[i] += wd * made->pb.response[r + l * m];
        for (int j = 0; j <= i; j++)
          A[i][j] += wd * design(made, set, r, j);
      }
      A[i][i] += i < q ? 0 : lambda;
    }
    solve(k, A, b);
    for (ptrdiff_t r = 0; r < m; r++) {
      if (held[r] != write)
        continue;
      double fit = 0;
      for (int i = 0; i < k; i++)
        fit += b[i] * design(made, set, r, i);
      residual[r + l * m] = made->pb.response[r + l * m] - fit;
    }
    for (int i = 0; beta != NULL && i < size; i++)
      beta[i + l * size] = b[q + i];
  }
}

void train(const struct made *made, double lambda, const int *set, int size, double *residual,
    double *beta) {
  int *held = room((size_t)made->pb.m * sizeof(int), 0);
  train_without(made, lambda, set, size, held, 0, residual, beta);
  free(held);
}

void retrain(const struct made *made, double lambda, const int *set, int size, int repeat,
    double *residual) {
  const struct folds *folds = &made->folds;
  int *held = room((size_t)made->pb.m * sizeof(int), 0);
  const int *start = folds->start + repeat * (folds->count[repeat] + 1);
  const int *order = folds->order + repeat * made->pb.m;
  for (int f = 0; f < folds->count[repeat]; f++) {
    for (int p = start[f]; p < start[f + 1]; p++)
      held[order[p]] = 1;
    train_without(made, lambda, set, size, held, 1, residual, NULL);
    for (int p = start[f]; p < start[f + 1]; p++)
      held[order[p]] = 0;
  }
  free(held);
}
