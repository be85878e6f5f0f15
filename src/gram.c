/* Entries of X'X. Every dot product is taken in one order, so that an entry has the same bits
   whichever way it is made. */
#include "simd.h"
#include "gram.h"
#include "column.h"
#include <string.h>

struct gram_cache gram_cache_alloc(const struct gram *gram, int capacity, struct arena *arena) {
  return (struct gram_cache){.capacity = capacity,
      .slot = alloc_ints(arena, gram->n),
      .requests = alloc_ints(arena, gram->n),
      .columns = alloc_doubles(arena, gram->n * capacity),
      .dense = alloc_doubles(arena, gram->m)};
}

void gram_cache_clear(const struct gram *gram, struct gram_cache *cache) {
  cache->used = 0;
  memset(cache->requests, 0, (size_t)gram->n * sizeof(int));
  for (ptrdiff_t j = 0; j < gram->n; j++)
    cache->slot[j] = -1;
}

/* The product of two columns of sparse x, less what the covariates (the intercept among them)
   explain of both. */
static double gram_residual(const struct gram *gram, double dot, ptrdiff_t i, ptrdiff_t j) {
  dot /= gram->scale[i] * gram->scale[j];
  for (ptrdiff_t l = 0; l < gram->q; l++)
    dot -= gram->G[l + i * gram->q] * gram->G[l + j * gram->q];
  return dot;
}

static double gram_sparse_dot(const struct gram *gram, ptrdiff_t i, ptrdiff_t j) {
  const int *row = gram->x.i;
  int a = gram->x.p[i], b = gram->x.p[j];
  const int a_end = gram->x.p[i + 1], b_end = gram->x.p[j + 1];
  double dot = 0;
  while (a < a_end && b < b_end) {
    if (row[a] == row[b]) {
      dot += gram->w[row[a]] * (gram->x.x[a] * gram->x.x[b]);
      a++, b++;
    } else if (row[a] < row[b]) {
      a++;
    } else {
      b++;
    }
  }
  return dot;
}

void gram_products(ptrdiff_t m, ptrdiff_t n, const double *X, const double *v, double *out) {
  for (ptrdiff_t j = 0; j < n; j++)
    out[j] = simd->dot(m, X + j * m, v);
}

void gram_column(const struct gram *gram, ptrdiff_t j, double *dense, double *out) {
  const ptrdiff_t n = gram->n, m = gram->m;
  if (gram->full != NULL) {
    memcpy(out, gram->full + j * n, (size_t)n * sizeof(double));
    return;
  }
  if (gram->X != NULL) {
    gram_products(m, n, gram->X, gram->X + j * m, out);
    return;
  }
  gather_column(&gram->x, m, j, dense);
  for (ptrdiff_t i = 0; i < n; i++) {
    double dot = 0;
    for (int a = gram->x.p[i]; a < gram->x.p[i + 1]; a++)
      dot += gram->w[gram->x.i[a]] * (gram->x.x[a] * dense[gram->x.i[a]]);
    out[i] = gram_residual(gram, dot, i, j);
  }
}

static const double *gram_into_cache(
    const struct gram *gram, struct gram_cache *cache, ptrdiff_t j) {
  cache->slot[j] = cache->used++;
  double *column = cache->columns + cache->slot[j] * gram->n;
  gram_column(gram, j, cache->dense, column);
  return column;
}

static const double *gram_cached_column(
    const struct gram *gram, struct gram_cache *cache, ptrdiff_t j) {
  if (cache->slot[j] < 0) {
    if (cache->used == cache->capacity || ++cache->requests[j] <= gram->n / GRAM_CACHE_SHARE)
      return NULL;
    return gram_into_cache(gram, cache, j);
  }
  return cache->columns + cache->slot[j] * gram->n;
}

const double *gram_take_column(
    const struct gram *gram, struct gram_cache *cache, ptrdiff_t j, double *out) {
  if (gram->full != NULL)
    return gram->full + j * gram->n;
  if (cache->slot[j] >= 0)
    return cache->columns + cache->slot[j] * gram->n;
  if (cache->used < cache->capacity)
    return gram_into_cache(gram, cache, j);
  gram_column(gram, j, cache->dense, out);
  return out;
}

double gram_entry(const struct gram *gram, struct gram_cache *cache, ptrdiff_t i, ptrdiff_t j) {
  if (gram->full != NULL)
    return gram->full[i + j * gram->n];
  if (i == j)
    return gram->diagonal[i];
  if (cache->slot[j] >= 0)
    return cache->columns[cache->slot[j] * gram->n + i];
  const double *column = gram_cached_column(gram, cache, i);
  if (column != NULL)
    return column[j];
  if (gram->X != NULL)
    return simd->dot(gram->m, gram->X + i * gram->m, gram->X + j * gram->m);
  return gram_residual(gram, gram_sparse_dot(gram, i, j), i, j);
}
