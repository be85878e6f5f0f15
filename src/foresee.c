/* Foreseeing the next selections of a lazy search, so that their rows of X'X are made together. */
#include "lazy.h"
#include <math.h>
#include <string.h>

/* The columns with the smallest bounds of the last step, and their number. */
static int fill_pool(const struct state *s) {
  const struct lazy *z = s->lazy;
  ptrdiff_t left = list_candidates(s, z->heap);
  const ptrdiff_t most = smaller(left, pool_size(s->pb->n));
  make_heap(z, left);
  for (ptrdiff_t p = 0; p < most; p++)
    z->pool[p] = pop(z, &left);
  return (int)most;
}

/* The state of a search within the pool, from the move under way on. */
struct foresight {
  int count;          /* of the pool */
  int *gone;          /* those chosen */
  double *square, *g; /* count, L x count */
  double *v;          /* count, products with the newest column chosen */
  double *a, *d;      /* m x L, m */
  double *c;          /* m x BATCH, columns of C chosen */
  double *inverse, *gamma;
  int ahead; /* how many */
};

/* What is foreseen after one more move, by column c; the products are the work of threads. */
static void foresee_move(const struct state *s, struct foresight *f, const double *c,
    double inverse, const double *gamma) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const double *x = s->lazy->V;
  const int threads = s->host->threads;
  const int own = (f->count / threads + 4) / 4 * 4; /* fours, whatever the number of threads */
  const int shared = threads > 1 && f->count * m > SHARED;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads) schedule(static) if (shared)
#endif
  for (int t = 0; t < threads; t++) {
    const int from = t * own, to = from + own < f->count ? from + own : f->count;
    if (from < to)
      lanes->dots(m, c, to - from, x + from * m, m, f->v + from);
  }
  (void)shared;
  for (int p = 0; p < f->count; p++) {
    f->square[p] -= inverse * f->v[p] * f->v[p];
    for (ptrdiff_t l = 0; l < L; l++)
      f->g[l + p * L] -= gamma[l] * f->v[p];
  }
}

/* The column of the pool whose addition lowers the training error most, -1: none. */
static int foresee_best(const struct state *s, const struct foresight *f) {
  const ptrdiff_t L = s->pb->L;
  double best = -1;
  int next = -1;
  for (int p = 0; p < f->count; p++) {
    double gain = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += f->g[l + p * L] * f->g[l + p * L];
    if (!f->gone[p] && f->square[p] > 0 && gain > best * f->square[p]) {
      best = gain / f->square[p];
      next = p;
    }
  }
  return next;
}

/* Column p of the pool brought up to date, as the next of f->c. */
static const double *foresee_column(struct state *s, const struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n;
  const int last = s->size - 1;
  const double *x = z->V + p * m;
  double *c = f->c + f->ahead * m;
  memcpy(c, x, (size_t)m * sizeof(double));
  for (int l = 0; l < last; l++)
    z->f[l] = z->inverse[l] * z->W[z->pool[p] + l * n];
  z->f[last] = z->inverse[last] * lanes->dot(m, x, z->c + last * m);
  lanes->shift_all(m, c, s->size, z->c, m, z->f);
  for (int l = 0; l < f->ahead; l++)
    lanes->shift(m, c, f->inverse[l] * lanes->dot(m, x, f->c + l * m), f->c + l * m);
  return c;
}

/* Of the few columns with the lowest training error the one with the lowest leave-one-out error:
   the more the members, the more the two differ. */
static int foresee_next(struct state *s, struct foresight *f) {
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  enum { MOST = 8 };
  const ptrdiff_t tries = smaller(MOST, 1 + 40 * (ptrdiff_t)s->size / m);
  double best = INFINITY;
  int next = foresee_best(s, f), tried[MOST], count = 0;
  if (next < 0 || tries == 1)
    return next;
  for (int p = next; p >= 0 && count < tries; p = foresee_best(s, f)) {
    const double beta = 1 / f->square[p];
    for (ptrdiff_t l = 0; l < L; l++)
      f->gamma[l] = beta * f->g[l + p * L];
    const double e = lanes->score(m, L, foresee_column(s, f, p), f->a, f->d, beta, f->gamma);
    if (e < best) {
      best = e;
      next = p;
    }
    f->gone[p] = 1;
    tried[count++] = p;
  }
  while (count > 0)
    f->gone[tried[--count]] = 0;
  return next;
}

static struct foresight start_foresight(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L, count = fill_pool(s);
  struct foresight f = {.count = (int)count,
      .gone = z->heap,
      .square = z->out,
      .v = z->out + count,
      .g = z->out + 2 * count,
      .gamma = z->out + (2 + L) * count,
      .inverse = z->out + (2 + L) * count + L,
      .a = z->a,
      .d = z->rest,
      .c = z->ahead};
  memcpy(f.a, s->a, (size_t)(m * L) * sizeof(double));
  memcpy(f.d, s->d, (size_t)m * sizeof(double));
  for (ptrdiff_t p = 0; p < count; p++) {
    const int i = z->pool[p];
    working_column(s->pb, i, z->V + p * m);
    f.gone[p] = 0;
    f.square[p] = z->at.square[i];
    for (ptrdiff_t l = 0; l < L; l++)
      f.g[l + p * L] = z->at.g[i + l * n];
  }
  s->out->work.columns_read += (double)count;
  return f;
}

int foresee(struct state *s, int most) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, last = s->size - 1;
  const int steps = (int)smaller(BATCH, s->control->k - s->size);
  struct foresight f = start_foresight(s);
  int found = 1;
  z->list[0] = (int)s->b;
  foresee_move(s, &f, z->c + last * m, z->inverse[last], z->gamma + last * L);
  while (f.ahead < steps && found < most) {
    const int next = foresee_next(s, &f);
    if (next < 0)
      break;
    f.gone[next] = 1;
    if (z->row[z->pool[next]] < 0)
      z->list[found++] = z->pool[next];
    const double *c = foresee_column(s, &f, next), inverse = 1 / f.square[next];
    f.inverse[f.ahead++] = inverse;
    for (ptrdiff_t l = 0; l < L; l++) {
      f.gamma[l] = inverse * f.g[l + next * L];
      lanes->shift(m, f.a + l * m, f.gamma[l], c);
    }
    for (ptrdiff_t j = 0; j < m; j++)
      f.d[j] -= inverse * c[j] * c[j];
    foresee_move(s, &f, c, inverse, f.gamma);
  }
  return found;
}
