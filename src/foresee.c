/* Foreseeing the next selections of a lazy search, so that x is read once for several of them. */
#include "lazy.h"
#include <math.h>
#include <string.h>

/* Brings the `most` listed columns with the smallest keys to the front, in any order (Hoare). */
static void select_smallest(int *list, ptrdiff_t count, ptrdiff_t most, const double *key) {
  ptrdiff_t from = 0, to = count - 1;
  while (from < to) {
    const double pivot = key[list[from + (to - from) / 2]];
    ptrdiff_t i = from, j = to;
    while (i <= j) {
      while (key[list[i]] < pivot)
        i++;
      while (key[list[j]] > pivot)
        j--;
      if (i <= j) {
        const int one = list[i];
        list[i++] = list[j];
        list[j--] = one;
      }
    }
    if (most <= j)
      to = j;
    else if (most >= i)
      from = i;
    else
      return;
  }
}

/* What a search within the pool foresees. Its moves are kept where the search itself will put its
   own: columns of C behind z->c, with z->inverse and z->gamma. */
struct foresight {
  int count;          /* of the pool */
  int *gone;          /* those chosen */
  double *square, *g; /* count, L x count */
  double *v; /* count x (1 + BATCH), products with the moves ahead, the one under way first */
  int moves; /* how many are ahead */
};

/* What is known of the pool after the newest of the moves ahead. */
static enum status foresee_move(struct state *s, struct foresight *f) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L;
  const int at = z->moves + f->moves++;
  double *v = f->v + (at - z->moves) * f->count;
  z->v[0] = z->c + at * s->pb->m;
  z->out[0] = z->products;
  for (int p = 0; p < f->count; p++)
    z->products[z->pool[p]] = 0;
  if (read_columns(s, z->pool, f->count, 1) != COMPLETE)
    return INTERRUPTED;
  for (int p = 0; p < f->count; p++) {
    v[p] = z->products[z->pool[p]];
    f->square[p] -= z->inverse[at] * v[p] * v[p];
    for (ptrdiff_t l = 0; l < L; l++)
      f->g[l + p * L] -= z->gamma[l + at * L] * v[p];
  }
  return COMPLETE;
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

/* Puts column p of the pool, brought up to date, in the place of the next move. */
static void foresee_column(struct state *s, const struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const int i = z->pool[p], at = z->moves + f->moves;
  double *c = z->c + at * m;
  make_columns(s, &i, 1);
  memcpy(c, column(s, i), (size_t)m * sizeof(double));
  for (int l = z->moves; l < at; l++)
    z->f[l] = z->inverse[l] * f->v[p + (l - z->moves) * f->count];
  const struct taking taking = {.count = 1, .x = {c}, .from = {z->moves}, .to = at};
  take_out(s, &taking);
  z->inverse[at] = 1 / f->square[p];
  for (ptrdiff_t l = 0; l < L; l++)
    z->gamma[l + at * L] = z->inverse[at] * f->g[l + p * L];
}

/* The next move: of the few columns with the lowest training error the one with the lowest
   leave-one-out error, as the more the members, the more the two differ. */
static int foresee_next(struct state *s, struct foresight *f) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  enum { MOST = 8 };
  const ptrdiff_t tries = smaller(MOST, 1 + 40 * (ptrdiff_t)s->size / m), at = z->moves + f->moves;
  double best = INFINITY;
  int next = foresee_best(s, f), tried[MOST], count = 0;
  for (int p = next; p >= 0 && tries > 1 && count < tries; p = foresee_best(s, f)) {
    foresee_column(s, f, p);
    const double e =
        lanes->score(m, L, z->c + at * m, z->a, m, z->d, z->inverse[at], z->gamma + at * L);
    if (e < best) {
      best = e;
      next = p;
    }
    f->gone[p] = 1;
    tried[count++] = p;
  }
  while (count > 0)
    f->gone[tried[--count]] = 0;
  if (next >= 0)
    foresee_column(s, f, next);
  return next;
}

/* From the move under way on, of which W is not known yet. */
static struct foresight start_foresight(struct state *s, int count) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L;
  struct foresight f = {.count = count,
      .gone = z->heap,
      .square = z->foreseen,
      .g = z->foreseen + count,
      .v = z->foreseen + (1 + L) * count};
  for (int p = 0; p < count; p++) {
    f.gone[p] = 0;
    f.square[p] = z->at.square[z->pool[p]];
    for (ptrdiff_t l = 0; l < L; l++)
      f.g[l + p * L] = z->at.g[z->pool[p] + l * n];
  }
  memcpy(z->a, s->a, (size_t)(m * L) * sizeof(double));
  memcpy(z->d, s->d, (size_t)m * sizeof(double));
  return f;
}

/* Into list the columns that the moves ahead need and that have no row of products, at most `most`;
   how many, or -1: interrupted. */
static int look_ahead(struct state *s, struct foresight *f, int *list, int most) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L;
  const int moves = (int)smaller(BATCH, s->control->k - s->size);
  int found = 0;
  while (f->moves < moves && found < most) {
    if (foresee_move(s, f) != COMPLETE)
      return -1;
    const int next = foresee_next(s, f);
    if (next < 0)
      break;
    f->gone[next] = 1;
    if (z->row[z->pool[next]] < 0)
      list[found++] = z->pool[next];
    const int at = z->moves + f->moves;
    const double *c = z->c + at * m;
    for (ptrdiff_t l = 0; l < L; l++)
      lanes->shift(m, z->a + l * m, z->gamma[l + at * L], c);
    lanes->shift_squares(m, z->d, z->inverse[at], c);
  }
  return found;
}

/* Into the pool the columns that would have lowered the training error most before the move under
   way; how many. Takes z->bound, which is made afresh in every step. */
static int fill_pool(struct state *s) {
  struct lazy *z = s->lazy;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, count = list_candidates(s, z->heap);
  const ptrdiff_t most = smaller(count, pool_size(n));
  for (ptrdiff_t p = 0; p < count; p++) {
    const int i = z->heap[p];
    double gain = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += z->at.g[i + l * n] * z->at.g[i + l * n];
    z->bound[i] = gain > 0 ? -gain / z->at.square[i] : 0;
  }
  select_smallest(z->heap, count, most, z->bound);
  memcpy(z->pool, z->heap, (size_t)most * sizeof(int));
  return (int)most;
}

int foresee(struct state *s, int *list, int most) {
  struct foresight f = start_foresight(s, fill_pool(s));
  return look_ahead(s, &f, list, most);
}
