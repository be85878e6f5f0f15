/* The look-ahead of a greedy search that skips candidates: guesses the selections to come, so that
   x is read once for several of them. */
#include "greedy-lazy.h"
#include <math.h>
#include <string.h>

enum { MAX_TRIES = 8 };

/* Brings the `max` listed columns with the smallest keys to the front, in any order: quickselect.
 */
static void lookahead_select(int *list, ptrdiff_t count, ptrdiff_t max, const double *key) {
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
    if (max <= j)
      to = j;
    else if (max >= i)
      from = i;
    else
      return;
  }
}

/* A greedy search within the shortlist. Its moves are kept where the search itself will put its
   moves: columns of C behind lazy->c, with lazy->inverse_kappa and lazy->gamma. Columns are
   numbered by their position in the shortlist. */
struct lookahead {
  int count;         /* of the shortlist */
  int *chosen;       /* count, whether a column has been chosen ahead */
  double *kappa, *g; /* count, L x count */
  double *rows;      /* of count, products with columns as far as W is known */
  int row_count;     /* how many rows there are */
  int *row;          /* count, which is whose, -1: none */
  const double
      *v[1 + MAX_BATCH]; /* count, products with the moves ahead, the one under way first */
  int moves;             /* how many are ahead */
  int tries;             /* candidates compared by their leave-one-out error */
};

/* What a gain of column i counts: at a price in proportion to it, and nothing beyond the budget or
   where what it asks for is missing. */
static double lookahead_worth(const struct greedy *s, ptrdiff_t i, double gain) {
  if (!greedy_can_add(s, i))
    return 0;
  return s->price == NULL ? gain : gain / fmax(s->price[i], 1);
}

/* The columns of the shortlist, at most `max`, whose addition lowers the training error most, best
   first; returns how many. */
static int lookahead_best(
    const struct greedy *s, const struct lookahead *ahead, int max, int *best) {
  const ptrdiff_t L = s->pb->L;
  double gains[MAX_TRIES];
  int found = 0;
  for (int p = 0; p < ahead->count; p++) {
    double gain = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += ahead->g[l + p * L] * ahead->g[l + p * L];
    gain = lookahead_worth(s, s->lazy->shortlist[p], gain / ahead->kappa[p]);
    if (ahead->chosen[p] || !(ahead->kappa[p] > 0) || (found == max && !(gain > gains[max - 1])))
      continue;
    int pos = found < max ? found++ : max - 1;
    for (; pos > 0 && gain > gains[pos - 1]; pos--) {
      gains[pos] = gains[pos - 1];
      best[pos] = best[pos - 1];
    }
    gains[pos] = gain;
    best[pos] = p;
  }
  return found;
}

/* Makes rows for column p, -1: the move under way, and for those that may be chosen soon: products
   come SIDES at a time for little more than one. */
static enum status lookahead_make_rows(struct greedy *s, struct lookahead *ahead, int p) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n;
  int best[SIDES], few[SIDES] = {p}, columns[SIDES], count = 1;
  const int found = lookahead_best(s, ahead, SIDES, best);
  for (int l = 0; l < found && count < SIDES; l++)
    if (best[l] != p && ahead->row[best[l]] < 0)
      few[count++] = best[l];
  const int first = p < 0; /* that has its column already */
  for (int l = first; l < count; l++)
    columns[l] = lazy->shortlist[few[l]];
  lazy_update_columns(s, columns + first, count - first);
  for (int l = 0; l < count; l++) {
    lazy->v[l] = l < first ? lazy->c + lazy->moves * m : greedy_column(s, columns[l]);
    lazy->out[l] = lazy->products + l * n;
    for (int i = 0; i < ahead->count; i++)
      lazy->out[l][lazy->shortlist[i]] = 0;
  }
  if (lazy_add_products(s, lazy->shortlist, ahead->count, count) != COMPLETE)
    return INTERRUPTED;
  for (int l = 0; l < count; l++, ahead->row_count++) {
    if (l >= first)
      ahead->row[few[l]] = ahead->row_count;
    for (int i = 0; i < ahead->count; i++)
      ahead->rows[i + ahead->row_count * ahead->count] = lazy->out[l][lazy->shortlist[i]];
  }
  return COMPLETE;
}

/* Updates kappa and g of the shortlist by the move of column p, -1: by the move under way. */
static enum status lookahead_move(struct greedy *s, struct lookahead *ahead, int p) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L;
  const int to = lazy->moves + ahead->moves;
  if ((p < 0 || ahead->row[p] < 0) && lookahead_make_rows(s, ahead, p) != COMPLETE)
    return INTERRUPTED;
  double *v = ahead->rows + (p < 0 ? 0 : ahead->row[p]) * ahead->count;
  for (int l = 0; p >= 0 && l < ahead->moves; l++)
    simd->shift(
        ahead->count, v, lazy->inverse_kappa[lazy->moves + l] * ahead->v[l][p], ahead->v[l]);
  ahead->v[ahead->moves++] = v;
  for (int i = 0; i < ahead->count; i++) {
    ahead->kappa[i] -= lazy->inverse_kappa[to] * v[i] * v[i];
    for (ptrdiff_t l = 0; l < L; l++)
      ahead->g[l + i * L] -= lazy->gamma[l + to * L] * v[i];
  }
  return COMPLETE;
}

/* Takes the scalars of column p as those of the next move. */
static void lookahead_set_scalars(struct greedy *s, const struct lookahead *ahead, int p) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L, to = lazy->moves + ahead->moves;
  lazy->inverse_kappa[to] = 1 / ahead->kappa[p];
  for (ptrdiff_t l = 0; l < L; l++)
    lazy->gamma[l + to * L] = lazy->inverse_kappa[to] * ahead->g[l + p * L];
}

/* Takes column p, brought up to date, and its scalars as those of the next move. */
static void lookahead_set_column(struct greedy *s, const struct lookahead *ahead, int p) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m;
  const int i = lazy->shortlist[p], to = lazy->moves + ahead->moves;
  double *c = lazy->c + to * m;
  lazy_update_columns(s, &i, 1);
  memcpy(c, greedy_column(s, i), (size_t)m * sizeof(double));
  for (int l = 0; l < ahead->moves; l++)
    lazy->f[l + lazy->moves] = lazy->inverse_kappa[l + lazy->moves] * ahead->v[l][p];
  const struct lazy_downdate downdate = {.count = 1, .x = {c}, .from = {lazy->moves}, .to = to};
  lazy_apply(s, &downdate);
  lookahead_set_scalars(s, ahead, p);
}

/* Of the few columns with the lowest training error, takes the one with the lowest leave-one-out
   error as the next move: the more the members, the more the two errors differ. */
static int lookahead_compare(
    struct greedy *s, const struct lookahead *ahead, const int *few, int count) {
  const struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, to = lazy->moves + ahead->moves;
  double best = INFINITY;
  int next = few[0];
  for (int l = 0; l < count; l++) {
    lookahead_set_column(s, ahead, few[l]);
    const double e = simd->score(m, L, lazy->c + to * m, lazy->a_ahead, m, lazy->d_ahead,
        lazy->inverse_kappa[to], lazy->gamma + to * L);
    if (e < best) {
      best = e;
      next = few[l];
    }
  }
  lookahead_set_column(s, ahead, next);
  return next;
}

/* Updates a and d by the newest of the moves ahead. */
static void lookahead_update_rows(struct greedy *s, const struct lookahead *ahead) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, to = lazy->moves + ahead->moves - 1;
  for (ptrdiff_t l = 0; l < L; l++)
    simd->shift(m, lazy->a_ahead + l * m, lazy->gamma[l + to * L], lazy->c + to * m);
  simd->shift_squares(m, lazy->d_ahead, lazy->inverse_kappa[to], lazy->c + to * m);
}

/* The look-ahead begins with the move under way, of which W is not known yet. */
static struct lookahead lookahead_begin(struct greedy *s, int count) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, n = s->pb->n, L = s->pb->L;
  struct lookahead ahead = {.count = count,
      .chosen = lazy->heap,
      .row = lazy->shortlist_row,
      .kappa = lazy->kappa_ahead,
      .g = lazy->g_ahead,
      .rows = lazy->rows_ahead,
      .tries = (int)greedy_min(MAX_TRIES, 1 + 40 * (ptrdiff_t)s->size / m)};
  for (int p = 0; p < count; p++) {
    ahead.chosen[p] = 0;
    ahead.row[p] = -1;
    ahead.kappa[p] = lazy->bounds.kappa[lazy->shortlist[p]];
    for (ptrdiff_t l = 0; l < L; l++)
      ahead.g[l + p * L] = lazy->bounds.g[lazy->shortlist[p] + l * n];
  }
  if (ahead.tries > 1) {
    memcpy(lazy->a_ahead, s->a, (size_t)(m * L) * sizeof(double));
    memcpy(lazy->d_ahead, s->d, (size_t)m * sizeof(double));
  }
  return ahead;
}

/* Writes the columns that the moves ahead need and that have no row of products, at most `max`, to
   list; returns how many, or -1: interrupted. */
static int lookahead_run(struct greedy *s, struct lookahead *ahead, int *list, int max) {
  const struct lazy *lazy = s->lazy;
  const int moves = (int)greedy_min(MAX_BATCH, s->control->k - s->size);
  int found = 0, next = -1;
  while (ahead->moves < moves && found < max) {
    if (lookahead_move(s, ahead, next) != COMPLETE)
      return -1;
    if (ahead->tries > 1 && next >= 0)
      lookahead_update_rows(s, ahead);
    int few[MAX_TRIES];
    const int count = lookahead_best(s, ahead, ahead->tries, few);
    if (count == 0)
      break;
    next = few[0];
    if (ahead->tries > 1)
      next = lookahead_compare(s, ahead, few, count);
    else
      lookahead_set_scalars(s, ahead, next);
    ahead->chosen[next] = 1;
    if (!lazy_has_products(s, lazy->shortlist[next]))
      list[found++] = lazy->shortlist[next];
  }
  return found;
}

/* Makes the shortlist: the columns that would have lowered the training error most before the move
   under way; returns how many. Overwrites lazy->bound, which every step computes afresh. */
static int lookahead_shortlist(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, count = lazy_list_candidates(s, lazy->heap);
  const ptrdiff_t max = greedy_min(count, lazy_shortlist_size(n));
  for (ptrdiff_t p = 0; p < count; p++) {
    const int i = lazy->heap[p];
    double gain = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      gain += lazy->bounds.g[i + l * n] * lazy->bounds.g[i + l * n];
    lazy->bound[i] = gain > 0 ? -lookahead_worth(s, i, gain / lazy->bounds.kappa[i]) : 0;
  }
  lookahead_select(lazy->heap, count, max, lazy->bound);
  memcpy(lazy->shortlist, lazy->heap, (size_t)max * sizeof(int));
  return (int)max;
}

/* The candidates that lower the errors of the worst groups most, in all, in the step before. Taking
   turns, these groups are the worst in the next steps. */
static int lookahead_worst(struct greedy *s, int *list, int max) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t count = lazy_list_candidates(s, lazy->heap);
  const int few = (int)greedy_min(count, max);
  int found = 0;
  lookahead_select(lazy->heap, count, few, lazy->part_sum);
  for (int p = 0; p < few; p++)
    if (!lazy_has_products(s, lazy->heap[p]))
      list[found++] = lazy->heap[p];
  return found;
}

int lazy_lookahead(struct greedy *s, int *list, int max) {
  if (s->lazy->parts > 1)
    return lookahead_worst(s, list, max);
  struct lookahead ahead = lookahead_begin(s, lookahead_shortlist(s));
  return lookahead_run(s, &ahead, list, max);
}
