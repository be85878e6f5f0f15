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
  return (struct matrix){x, i, p};
}

/* v := v less its part along the q orthonormal columns of Q, twice for rounding */
static void project_out(const double *Q, ptrdiff_t m, ptrdiff_t q, double *v) {
  for (ptrdiff_t l = 0; l < 2 * q; l++) {
    const double *column = Q + l % q * m;
    double dot = 0;
    for (ptrdiff_t r = 0; r < m; r++)
      dot += column[r] * v[r];
    for (ptrdiff_t r = 0; r < m; r++)
      v[r] -= dot * column[r];
  }
}

static void make_columns(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m, n = shape.n;
  double *x = made->x = doubles(made, m * n);
  for (ptrdiff_t i = 0; i < m * n; i++) {
    x[i] = 2 * uniform();
    if (shape.sparse && fabs(x[i]) < 1)
      x[i] = 0;
  }
  int *usable = ints(made, n);
  double *centre = doubles(made, n), *inv_scale = doubles(made, n);
  for (ptrdiff_t j = 0; j < n; j++) {
    usable[j] = j != 3; /* one column is set aside */
    centre[j] = uniform();
    inv_scale[j] = 1 + uniform() / 2;
  }
  if (n > 5) { /* and two are the same */
    memcpy(x + 5 * m, x + m, (size_t)m * sizeof(double));
    centre[5] = centre[1];
    inv_scale[5] = inv_scale[1];
  }
  made->pb.usable = usable;
  made->pb.centre = centre;
  made->pb.inv_scale = inv_scale;
  made->pb.x = shape.sparse ? compress(made, m, n) : (struct matrix){x, NULL, NULL};
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
    project_out(Q, m, l, Q + l * m);
    for (ptrdiff_t r = 0; r < m; r++)
      norm += Q[r + l * m] * Q[r + l * m];
    for (ptrdiff_t r = 0; r < m; r++)
      Q[r + l * m] /= sqrt(norm);
  }
  made->pb.root_w = root_w;
  made->pb.Q = Q;
}

static void make_response(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m, L = shape.L;
  double *response = doubles(made, m * L), *y = doubles(made, m * L);
  for (ptrdiff_t r = 0; r < m; r++)
    for (ptrdiff_t l = 0; l < L; l++) {
      double value = made->x[r] - made->x[r + (1 + l) * m] + uniform();
      if (shape.classes)
        value = L == 1 ? (value > 0 ? 1 : -1) : (r % L == l ? 1 : -1);
      response[r + l * m] = value;
      y[r + l * m] = made->pb.root_w[r] * value;
    }
  for (ptrdiff_t l = 0; l < L; l++)
    project_out(made->pb.Q, m, shape.q, y + l * m);
  made->pb.response = response;
  made->pb.y = y;
}

/* Folds of unequal size, other rows in each repeat. */
static void make_folds(struct made *made, struct shape shape) {
  const ptrdiff_t m = shape.m;
  const int loo = shape.folds == 0, count = loo ? (int)m : shape.folds;
  const int repeats = loo ? 1 : shape.repeats;
  int *order = ints(made, m * repeats), *counts = ints(made, repeats);
  int *start = ints(made, (ptrdiff_t)repeats * (count + 1));
  for (int r = 0; r < repeats; r++) {
    int *at = start + r * (count + 1);
    for (int f = 0; f <= count; f++)
      at[f] = loo ? f : (int)(m * f * (f + 1) / (count * (count + 1)));
    for (ptrdiff_t p = 0; p < m; p++)
      order[p + r * m] = loo ? (int)p : (int)((p * 7 + r * 3) % m);
    counts[r] = count;
  }
  made->folds = (struct folds){loo, repeats, order, counts, start};
}

struct made make(struct shape shape) {
  struct made made = {.pb = {.m = shape.m, .n = shape.n, .L = shape.L, .q = shape.q}};
  make_columns(&made, shape);
  make_covariates(&made, shape);
  make_response(&made, shape);
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
