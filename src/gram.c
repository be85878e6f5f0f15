/* Entries of X'X. Every dot product is taken in one order, so that an entry has the same bits
   however it was come by. */
#include "simd.h"
#include "gram.h"
#include "column.h"
#include <string.h>

void gram_forget(const struct gram *gram, struct gram_cache *cache) {
  cache->used = 0;
  memset(cache->asked, 0, (size_t)gram->n * sizeof(int));
  for (ptrdiff_t j = 0; j < gram->n; j++)
    cache->slot[j] = -1;
}

/* Sparse columns: what the covariates, an intercept among them, explain of both is taken away. */
static double beyond_covariates(const struct gram *gram, double dot, ptrdiff_t i, ptrdiff_t j) {
  dot /= gram->scale[i] * gram->scale[j];
  for (ptrdiff_t l = 0; l < gram->q; l++)
    dot -= gram->G[l + i * gram->q] * gram->G[l + j * gram->q];
  return dot;
}

static double sparse_dot(const struct gram *gram, ptrdiff_t i, ptrdiff_t j) {
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

void cross_columns(ptrdiff_t m, ptrdiff_t n, const double *X, const double *v, double *out) {
  for (ptrdiff_t j = 0; j < n; j++)
    out[j] = simd->dot(m, X + j * m, v);
}

void gram_column(const struct gram *gram, ptrdiff_t j, double *dense, double *out) {
  const ptrdiff_t n = gram->n, m = gram->m;
  if (gram->whole != NULL) {
    memcpy(out, gram->whole + j * n, (size_t)n * sizeof(double));
    return;
  }
  if (gram->X != NULL) {
    cross_columns(m, n, gram->X, gram->X + j * m, out);
    return;
  }
  gather_column(&gram->x, m, j, dense);
  for (ptrdiff_t i = 0; i < n; i++) {
    double dot = 0;
    for (int a = gram->x.p[i]; a < gram->x.p[i + 1]; a++)
      dot += gram->w[gram->x.i[a]] * (gram->x.x[a] * dense[gram->x.i[a]]);
    out[i] = beyond_covariates(gram, dot, i, j);
  }
}

/* A column is worth its room when this share of it has been asked for. */
enum { SHARE = 16 };

static const double *kept_column(const struct gram *gram, struct gram_cache *cache, ptrdiff_t j) {
  if (cache->slot[j] < 0) {
    if (cache->used == cache->capacity || ++cache->asked[j] <= gram->n / SHARE)
      return NULL;
    cache->slot[j] = cache->used++;
    gram_column(gram, j, cache->dense, cache->columns + cache->slot[j] * gram->n);
  }
  return cache->columns + cache->slot[j] * gram->n;
}

double gram_entry(const struct gram *gram, struct gram_cache *cache, ptrdiff_t i, ptrdiff_t j) {
  if (gram->whole != NULL)
    return gram->whole[i + j * gram->n];
  if (i == j)
    return gram->diagonal[i];
  if (cache->slot[j] >= 0)
    return cache->columns[cache->slot[j] * gram->n + i];
  const double *column = kept_column(gram, cache, i);
  if (column != NULL)
    return column[j];
  if (gram->X != NULL)
    return simd->dot(gram->m, gram->X + i * gram->m, gram->X + j * gram->m);
  return beyond_covariates(gram, sparse_dot(gram, i, j), i, j);
}
