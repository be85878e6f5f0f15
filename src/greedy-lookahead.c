/* Foreseeing the next selections of a lazy search, so that x is read once for several of them. */
#include "greedy-lazy.h"
#include <math.h>
#include <string.h>

enum { MOST_TRIES = 8 };

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
  int count;                  /* of the pool */
  int *gone;                  /* those chosen */
  double *square, *g;         /* count, L x count */
  double *rows;               /* of count, products with columns as far as W is known */
  int made;                   /* how many rows are */
  int *row;                   /* count, which is whose, -1: none */
  const double *v[1 + BATCH]; /* count, products with the moves ahead, the one under way first */
  int moves;                  /* how many are ahead */
  int tries;                  /* candidates told apart by their leave-one-out error */
};

/* The columns of the pool, at most `most`, whose addition lowers the training error most, best
   first; how many. */
static int foresee_best(const struct state *s, const struct foresight *f, int most, int *best) {
  const ptrdiff_t L = s->pb->L;
  double gains[MOST_TRIES];
  int found = 0;
  for (int p = 0; p < f->count; p++) {
    double gain = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += f->g[l + p * L] * f->g[l + p * L];
    gain /= f->square[p];
    if (f->gone[p] || !(f->square[p] > 0) || (found == most && !(gain > gains[most - 1])))
      continue;
    int at = found < most ? found++ : most - 1;
    for (; at > 0 && gain > gains[at - 1]; at--) {
      gains[at] = gains[at - 1];
      best[at] = best[at - 1];
    }
    gains[at] = gain;
    best[at] = p;
  }
  return found;
}

/* Rows for column p of the pool, -1: the move under way, and for those that may be chosen soon:
   products come SIDES at a time for little more than one. */
static enum status make_rows(struct state *s, struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n;
  int best[SIDES], few[SIDES] = {p}, of[SIDES], count = 1;
  const int found = foresee_best(s, f, SIDES, best);
  for (int l = 0; l < found && count < SIDES; l++)
    if (best[l] != p && f->row[best[l]] < 0)
      few[count++] = best[l];
  const int first = p < 0; /* that has its column already */
  for (int l = first; l < count; l++)
    of[l] = z->pool[few[l]];
  make_columns(s, of + first, count - first);
  for (int l = 0; l < count; l++) {
    z->v[l] = l < first ? z->c + z->moves * m : column(s, of[l]);
    z->out[l] = z->products + l * n;
    for (int i = 0; i < f->count; i++)
      z->out[l][z->pool[i]] = 0;
  }
  if (read_columns(s, z->pool, f->count, count) != COMPLETE)
    return INTERRUPTED;
  for (int l = 0; l < count; l++, f->made++) {
    if (l >= first)
      f->row[few[l]] = f->made;
    for (int i = 0; i < f->count; i++)
      f->rows[i + f->made * f->count] = z->out[l][z->pool[i]];
  }
  return COMPLETE;
}

/* What is known of the pool after column p of it is chosen, -1: after the move under way. */
static enum status foresee_move(struct state *s, struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L;
  const int at = z->moves + f->moves;
  if ((p < 0 || f->row[p] < 0) && make_rows(s, f, p) != COMPLETE)
    return INTERRUPTED;
  double *v = f->rows + (p < 0 ? 0 : f->row[p]) * f->count;
  for (int l = 0; p >= 0 && l < f->moves; l++)
    simd->shift(f->count, v, z->inverse[z->moves + l] * f->v[l][p], f->v[l]);
  f->v[f->moves++] = v;
  for (int i = 0; i < f->count; i++) {
    f->square[i] -= z->inverse[at] * v[i] * v[i];
    for (ptrdiff_t l = 0; l < L; l++)
      f->g[l + i * L] -= z->gamma[l + at * L] * v[i];
  }
  return COMPLETE;
}

/* The scalars of column p of the pool as those of the next move. */
static void foresee_scalars(struct state *s, const struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t L = s->pb->L, at = z->moves + f->moves;
  z->inverse[at] = 1 / f->square[p];
  for (ptrdiff_t l = 0; l < L; l++)
    z->gamma[l + at * L] = z->inverse[at] * f->g[l + p * L];
}

/* Puts column p of the pool, brought up to date, in the place of the next move. */
static void foresee_column(struct state *s, const struct foresight *f, int p) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m;
  const int i = z->pool[p], at = z->moves + f->moves;
  double *c = z->c + at * m;
  make_columns(s, &i, 1);
  memcpy(c, column(s, i), (size_t)m * sizeof(double));
  for (int l = 0; l < f->moves; l++)
    z->f[l + z->moves] = z->inverse[l + z->moves] * f->v[l][p];
  const struct taking taking = {.count = 1, .x = {c}, .from = {z->moves}, .to = at};
  take_out(s, &taking);
  foresee_scalars(s, f, p);
}

/* Of the few columns with the lowest training error the one with the lowest leave-one-out error,
   whose column is put in its place: the more the members, the more the two differ. */
static int tell_apart(struct state *s, const struct foresight *f, const int *few, int count) {
  const struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, at = z->moves + f->moves;
  double best = INFINITY;
  int next = few[0];
  for (int l = 0; l < count; l++) {
    foresee_column(s, f, few[l]);
    const double e =
        simd->score(m, L, z->c + at * m, z->a, m, z->d, z->inverse[at], z->gamma + at * L);
    if (e < best) {
      best = e;
      next = few[l];
    }
  }
  foresee_column(s, f, next);
  return next;
}

/* a and d after the newest of the moves ahead. */
static void foresee_rows(struct state *s, const struct foresight *f) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, at = z->moves + f->moves - 1;
  for (ptrdiff_t l = 0; l < L; l++)
    simd->shift(m, z->a + l * m, z->gamma[l + at * L], z->c + at * m);
  simd->shift_squares(m, z->d, z->inverse[at], z->c + at * m);
}

/* From the move under way on, of which W is not known yet. */
static struct foresight start_foresight(struct state *s, int count) {
  struct lazy *z = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L;
  struct foresight f = {.count = count,
      .gone = z->heap,
      .row = z->pool_row,
      .square = z->foreseen,
      .g = z->foreseen + count,
      .rows = z->foreseen + (1 + L) * count,
      .tries = (int)smaller(MOST_TRIES, 1 + 40 * (ptrdiff_t)s->size / m)};
  for (int p = 0; p < count; p++) {
    f.gone[p] = 0;
    f.row[p] = -1;
    f.square[p] = z->at.square[z->pool[p]];
    for (ptrdiff_t l = 0; l < L; l++)
      f.g[l + p * L] = z->at.g[z->pool[p] + l * n];
  }
  if (f.tries > 1) {
    memcpy(z->a, s->a, (size_t)(m * L) * sizeof(double));
    memcpy(z->d, s->d, (size_t)m * sizeof(double));
  }
  return f;
}

/* Into list the columns that the moves ahead need and that have no row of products, at most `most`;
   how many, or -1: interrupted. */
static int look_ahead(struct state *s, struct foresight *f, int *list, int most) {
  const struct lazy *z = s->lazy;
  const int moves = (int)smaller(BATCH, s->control->k - s->size);
  int found = 0, next = -1;
  while (f->moves < moves && found < most) {
    if (foresee_move(s, f, next) != COMPLETE)
      return -1;
    if (f->tries > 1 && next >= 0)
      foresee_rows(s, f);
    int few[MOST_TRIES];
    const int count = foresee_best(s, f, f->tries, few);
    if (count == 0)
      break;
    next = few[0];
    if (f->tries > 1)
      next = tell_apart(s, f, few, count);
    else
      foresee_scalars(s, f, next);
    f->gone[next] = 1;
    if (z->row[z->pool[next]] < 0)
      list[found++] = z->pool[next];
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
