/* Exchanges of columns by the sweep operator: O(n) for each column of the set and move. */
#include "subset-exchange.h"
#include "simd.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

struct exchange exchange_alloc(
    const struct gram *gram, double lambda, int max_size, struct arena *arena) {
  const ptrdiff_t n = gram->n, L = gram->L;
  return (struct exchange){.gram = gram,
      .lambda = lambda,
      .max_size = max_size,
      .column = alloc_ints(arena, max_size),
      .W = alloc_doubles(arena, n * max_size),
      .d = alloc_doubles(arena, n),
      .r = alloc_doubles(arena, n * L),
      .inverse = alloc_doubles(arena, (ptrdiff_t)max_size * max_size),
      .beta = alloc_doubles(arena, max_size * L),
      .product = alloc_doubles(arena, n)};
}

void exchange_clear(struct exchange *x) {
  const struct gram *gram = x->gram;
  x->size = 0;
  x->gain = 0;
  for (ptrdiff_t j = 0; j < gram->n; j++)
    x->d[j] = gram->diagonal[j] + x->lambda;
  memcpy(x->r, gram->b, (size_t)(gram->n * gram->L) * sizeof(double));
  memset(x->beta, 0, (size_t)(x->max_size * gram->L) * sizeof(double));
}

/* A pivot that is no larger is dependence. */
static double exchange_floor(const struct exchange *x, ptrdiff_t j) {
  return SUBSET_DEPENDENT * (x->gram->diagonal[j] + x->lambda);
}

/* The sum of squares over outputs of r_j + w beta, of a row of beta. */
static inline double exchange_square(
    const struct exchange *x, ptrdiff_t j, double w, const double *beta) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < x->gram->L; l++) {
    const double r = x->r[j + l * x->gram->n] + w * beta[l * x->max_size];
    sum += r * r;
  }
  return sum;
}

static void exchange_clear_member(struct exchange *x, ptrdiff_t j) {
  const ptrdiff_t n = x->gram->n;
  for (ptrdiff_t p = 0; p < x->size; p++)
    x->W[j + p * n] = 0;
  x->d[j] = 0;
  for (ptrdiff_t l = 0; l < x->gram->L; l++)
    x->r[j + l * n] = 0;
}

int exchange_add(struct exchange *x, int j) {
  const ptrdiff_t n = x->gram->n, max_size = x->max_size, s = x->size;
  const double pivot = x->d[j];
  if (pivot <= exchange_floor(x, j))
    return 0;
  const double *product = gram_take_column(x->gram, x->cache, j, x->product);
  double *share = x->W + s * n; /* the row of the new column of A^-1 C_S' */
  memcpy(share, product, (size_t)n * sizeof(double));
  for (ptrdiff_t p = 0; p < s; p++)
    simd->shift(n, share, product[x->column[p]], x->W + p * n);
  for (ptrdiff_t p = 0; p < s; p++)
    share[x->column[p]] = 0;
  for (ptrdiff_t i = 0; i < n; i++) {
    const double u = share[i];
    share[i] = u / pivot;
    x->d[i] -= u * share[i];
  }
  for (ptrdiff_t l = 0; l < x->gram->L; l++) {
    double *beta = x->beta + l * max_size;
    const double r = x->r[j + l * n];
    simd->shift(n, x->r + l * n, r, share);
    beta[s] = r / pivot;
    for (ptrdiff_t p = 0; p < s; p++)
      beta[p] -= x->W[j + p * n] * beta[s];
    x->gain += r * beta[s];
  }
  for (ptrdiff_t p = 0; p < s; p++) {
    const double w = x->W[j + p * n];
    for (ptrdiff_t q = 0; q < s; q++)
      x->inverse[q + p * max_size] += w * x->W[j + q * n] / pivot;
    x->inverse[s + p * max_size] = x->inverse[p + s * max_size] = -w / pivot;
  }
  x->inverse[s + s * max_size] = 1 / pivot;
  for (ptrdiff_t p = 0; p < s; p++)
    simd->shift(n, x->W + p * n, x->W[j + p * n], share);
  x->column[x->size++] = j;
  exchange_clear_member(x, j);
  return 1;
}

/* Column `from` of the set takes the place of column `to`. */
static void exchange_move_member(struct exchange *x, ptrdiff_t from, ptrdiff_t to) {
  const ptrdiff_t n = x->gram->n, max_size = x->max_size;
  if (from == to)
    return;
  x->column[to] = x->column[from];
  memcpy(x->W + to * n, x->W + from * n, (size_t)n * sizeof(double));
  for (ptrdiff_t l = 0; l < x->gram->L; l++)
    x->beta[to + l * max_size] = x->beta[from + l * max_size];
  for (ptrdiff_t q = 0; q <= from; q++)
    x->inverse[q + to * max_size] = x->inverse[q + from * max_size];
  for (ptrdiff_t q = 0; q <= from; q++)
    x->inverse[to + q * max_size] = x->inverse[from + q * max_size];
}

void exchange_drop(struct exchange *x, int index) {
  const ptrdiff_t n = x->gram->n, max_size = x->max_size, L = x->gram->L;
  const double own = x->inverse[index + index * max_size];
  const int column = x->column[index];
  double *out = x->W + index * n;
  for (ptrdiff_t i = 0; i < n; i++)
    x->d[i] += out[i] * out[i] / own;
  x->d[column] = 1 / own;
  for (ptrdiff_t l = 0; l < L; l++) {
    double *beta = x->beta + l * max_size;
    const double r = beta[index] / own;
    simd->shift(n, x->r + l * n, -r, out);
    x->r[column + l * n] = r;
    x->gain -= r * beta[index];
    for (ptrdiff_t q = 0; q < x->size; q++)
      if (q != index)
        beta[q] -= x->inverse[q + index * max_size] * r;
  }
  for (ptrdiff_t q = 0; q < x->size; q++) {
    const double share = x->inverse[q + index * max_size] / own;
    if (q == index)
      continue;
    simd->shift(n, x->W + q * n, share, out);
    x->W[column + q * n] = -share;
    for (ptrdiff_t p = 0; p < x->size; p++)
      if (p != index)
        x->inverse[p + q * max_size] -= x->inverse[p + index * max_size] * share;
  }
  exchange_move_member(x, x->size - 1, index);
  x->size--;
}

int exchange_best_addition(const struct exchange *x) {
  int best = -1;
  double gain = TIE * x->gain;
  for (ptrdiff_t j = 0; j < x->gram->n; j++) {
    const double square = exchange_square(x, j, 0, x->beta);
    if (square > gain * x->d[j] && x->d[j] > exchange_floor(x, j)) {
      best = (int)j;
      gain = square / x->d[j];
    }
  }
  return best;
}

/* What dropping the member at an index costs. */
static double exchange_loss(const struct exchange *x, ptrdiff_t index) {
  double square = 0;
  for (ptrdiff_t l = 0; l < x->gram->L; l++)
    square += x->beta[index + l * x->max_size] * x->beta[index + l * x->max_size];
  return square / x->inverse[index + index * x->max_size];
}

int exchange_best_drop(const struct exchange *x, double *loss) {
  int best = -1;
  *loss = INFINITY;
  for (int index = 0; index < x->size; index++) {
    const double cost = exchange_loss(x, index);
    if (cost < *loss) {
      best = index;
      *loss = cost;
    }
  }
  return best;
}

struct swap {
  int index, column;
  double gain;
};

/* *best := the best swap of the member at an index, if it gains more. Dropping it would cost
   `loss`, and leave of a column with coefficient w on it d + w^2 / own and r + w beta / own. */
static void exchange_scan(const struct exchange *x, int index, struct swap *best) {
  const ptrdiff_t n = x->gram->n;
  const double *w = x->W + index * n, *beta = x->beta + index;
  const double scale = 1 / x->inverse[index + index * x->max_size];
  const double loss = exchange_loss(x, index);
  double need = loss + best->gain;
  for (ptrdiff_t j = 0; j < n; j++) {
    const double pivot = x->d[j] + w[j] * w[j] * scale;
    const double square = exchange_square(x, j, w[j] * scale, beta);
    if (square > need * pivot && pivot > exchange_floor(x, j)) {
      need = square / pivot;
      *best = (struct swap){index, (int)j, need - loss};
    }
  }
}

void exchange_descend(struct exchange *x) {
  for (double before = -1; x->gain > before;) { /* rounding may lower it */
    struct swap best = {.column = -1, .gain = TIE * x->gain};
    for (int index = x->given; index < x->size; index++)
      exchange_scan(x, index, &best);
    if (best.column < 0)
      return;
    before = x->gain;
    exchange_drop(x, best.index);
    exchange_add(x, best.column);
  }
}
