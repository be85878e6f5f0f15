/* Greedy forward selection that skips the candidates that provably cannot win.

   With leave-one-out a candidate's error has a lower bound that takes O(1): the denominators d_j -
   beta_i C_ji^2 are positive and no larger than d_j, so that

     e_i >= P - 2 sum_l alpha_il C_i'w_l + sum_l alpha_il^2 |C_i|^2 / (max d)^2,   w_l = a_l / d^2,

   P the error of the current model, l the outputs, alpha_il = beta_i x_i'a_l and beta_i = 1 /
   (lambda + x_i'C_i). The products C_i'w_l are known of the w_ref of an earlier step; with w_l =
   theta0 w_ref + theta1 a + rho_l the rest is at most |x_i| |rho_l|, and |C_i|^2 is little less
   than x_i'C_i. A column of C is made for a candidate whose bound does not rule it out, and for no
   other; what the bounds need follows from products of x with the columns chosen, which are made
   for several columns to come in one pass over x.

   Pahikkala, Airola and Salakoski 2010 for the search; docs/greedy-skipping.md derives the rest. */
#include "column.h"
#include "greedy-lazy.h"
#include "products.h"
#include "tolerance.h"
#include <float.h>
#include <math.h>
#include <string.h>

int lazy_can_skip(const struct greedy *s) {
  const struct greedy_control *control = s->control;
  if (control->skipping == SKIP_NONE || control->search != FORWARD)
    return 0;
  if (criterion_is_of_groups(control->criterion))
    return criterion_is_of_squares(control->criterion) && control->group_folds &&
           control->price == NULL && recur_fits(s->pb, s->folds);
  return control->criterion == SQUARED;
}

/* ---- workspace ---- */

ptrdiff_t lazy_count_slots(const struct problem *pb) {
  const ptrdiff_t values = (ptrdiff_t)1 << 28;
  return greedy_min(pb->n, greedy_max(MIN_SLOTS, values / pb->m));
}

void lazy_lay_out(struct greedy *s, int threads, struct arena *arena) {
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L, k = s->control->k, slots = lazy_count_slots(pb);
  const ptrdiff_t sums = greedy_max(greedy_max(CHUNK, k), greedy_max(2 + L, W_PRODUCTS * L));
  const ptrdiff_t parts = lazy_part_count(s), wL = L * parts, shortlist = lazy_shortlist_size(n);
  const ptrdiff_t sides = greedy_max(MAX_BATCH + 1 + wL, pb->q);
  s->C = alloc_doubles(arena, m * slots);
  s->slot = alloc_ints(arena, n);
  s->lazy = arena_alloc(arena, 1, sizeof(struct lazy));
  const struct lazy lazy = {.slots = slots,
      .slot_owner = alloc_ints(arena, slots),
      .version = alloc_ints(arena, n),
      .c = alloc_doubles(arena, m * k),
      .inverse_kappa = alloc_doubles(arena, k),
      .gamma = alloc_doubles(arena, L * k),
      .W = arena_alloc(arena, k, sizeof(double *)),
      .U = alloc_doubles(arena, k * k),
      .c_ref = alloc_doubles(arena, wL),
      .rows = alloc_doubles(arena, n * lazy_row_count(s)),
      .row = alloc_ints(arena, n + k),
      .row_owner = alloc_ints(arena, lazy_row_count(s)),
      .row_version = alloc_ints(arena, lazy_row_count(s)),
      .bounds = {.n = n,
          .L = L,
          .kappa = alloc_doubles(arena, n),
          .g = alloc_doubles(arena, n * L),
          .Cw = alloc_doubles(arena, n * wL),
          .norm = alloc_doubles(arena, n),
          .fold_norm = alloc_doubles(arena, n),
          .read_norm2 = alloc_doubles(arena, n),
          .excluded = alloc_doubles(arena, n),
          .block_min = alloc_doubles(arena, n / BOUNDS_BLOCK + 1)},
      .bound = alloc_doubles(arena, n),
      .shared_columns = alloc_doubles(arena, s->control->shared == NULL ? 0 : m * MAX_BATCH),
      .parts = parts,
      .w = alloc_doubles(arena, m * L),
      .w_ref = alloc_doubles(arena, m * L),
      .Gw = alloc_doubles(arena, m * wL),
      .theta0 = alloc_doubles(arena, wL),
      .theta1 = alloc_doubles(arena, wL),
      .rest_norm = alloc_doubles(arena, wL),
      .part_sum = alloc_doubles(arena, parts > 1 ? n : 0),
      .v = arena_alloc(arena, sides, sizeof(double *)),
      .out = arena_alloc(arena, sides, sizeof(double *)),
      .products = alloc_doubles(arena, n * greedy_max(SIDES, wL)),
      .few = alloc_doubles(arena, BOUNDS_BLOCK * (7 + L + wL)),
      .f = alloc_doubles(arena, k * CHUNK),
      .beta = alloc_doubles(arena, k * L),
      .alpha = alloc_doubles(arena, CHUNK * L),
      .block_sums = alloc_doubles(arena, sums * (m / ROWS + 1)),
      .sums_per_block = sums,
      .scored_at = alloc_ints(arena, n),
      .best = alloc_doubles(arena, s->control->keep + 1),
      .list = alloc_ints(arena, n + 1),
      .heap = alloc_ints(arena, n + 1),
      .products_work = arena_alloc(arena, 1, column_products_work(pb, sides, threads)),
      .shortlist = alloc_ints(arena, shortlist),
      .shortlist_row = alloc_ints(arena, shortlist),
      .kappa_ahead = alloc_doubles(arena, shortlist),
      .g_ahead = alloc_doubles(arena, shortlist * L),
      .rows_ahead = alloc_doubles(arena, shortlist * SIDES * (1 + MAX_BATCH)),
      .a_ahead = alloc_doubles(arena, m * L),
      .d_ahead = alloc_doubles(arena, m)};
  double *merit = s->control->price == NULL ? lazy.bound : alloc_doubles(arena, n);
  if (s->control->rereads)
    reread_lay_out(s, threads, arena);
  if (arena->base == NULL)
    return;
  *s->lazy = lazy;
  s->lazy->merit = merit;
}

/* ---- the empty set ---- */

/* So many rows of products, or a few more: as many as fill whole tiles together with those of w. */
static int lazy_batch_size(const struct greedy *s, ptrdiff_t rows) {
  const ptrdiff_t wL = s->pb->L * s->lazy->parts, all = (rows + wL + SIDES - 1) / SIDES * SIDES;
  return (int)greedy_max(MIN_BATCH, greedy_min(MAX_BATCH, all) - wL);
}

/* A bound of the squared norm of column i as it is read, by which rounding in its products is
   measured: of a sparse column the centre is subtracted from the products. */
static double lazy_read_norm2(const struct greedy *s, ptrdiff_t i, double weights) {
  const struct problem *pb = s->pb;
  if (!is_sparse(&pb->x))
    return pb->squares[i];
  const double centre = pb->centre[i] * pb->inv_scale[i];
  return 4 * (pb->squares[i] + centre * centre * weights);
}

static const struct lazy_rows lazy_single_rows = {
    .commit = greedy_commit_rows, .measure = lazy_update_w, .score = lazy_score_rows};

/* The state of the empty set. */
enum status lazy_begin(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const struct problem *pb = s->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  struct greedy_bounds *bounds = &lazy->bounds;
  lazy->held_out = &lazy_single_rows;
  for (ptrdiff_t i = 0; i < n; i++) {
    bounds->fold_norm[i] = 0;
    lazy->merit[i] = INFINITY;
    s->slot[i] = lazy->version[i] = lazy->scored_at[i] = -1;
    bounds->excluded[i] = lazy_is_candidate(s, i) ? 0 : INFINITY;
    bounds->kappa[i] = bounds->norm[i] = bounds->read_norm2[i] = 1; /* of excluded columns */
  }
  for (ptrdiff_t i = 0; i < n + s->control->k; i++)
    lazy->row[i] = -1;
  for (ptrdiff_t p = 0; p < lazy->slots; p++)
    lazy->slot_owner[p] = -1;
  for (int p = 0; p < lazy_row_count(s); p++)
    lazy->row_owner[p] = -1;
  /* as many as can be guessed: a move changes what is known of the others by about 1 / sqrt(m) */
  lazy->batch = lazy_batch_size(s, greedy_min(m, n) / 16);
  lazy->growth = 4;
  lazy->sharpened = 0;
  greedy_start_rows(s);
  lazy->y_norm2 = simd->dot(m * L, s->a, s->a);
  memcpy(lazy->w_ref, s->a, (size_t)(m * L) * sizeof(double));
  memcpy(bounds->g, pb->products, (size_t)(n * L) * sizeof(double));
  memcpy(bounds->Cw, pb->products, (size_t)(n * L) * sizeof(double));
  double weights = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    weights += pb->root_w[j] * pb->root_w[j];
  for (ptrdiff_t i = 0; i < n; i++) {
    if (!lazy_is_candidate(s, i))
      continue;
    bounds->read_norm2[i] = lazy_read_norm2(s, i, weights);
    bounds->norm[i] = sqrt(pb->rss[i] + lazy_rounding(s) * bounds->read_norm2[i]) + BOUNDS_MIN_NORM;
    bounds->kappa[i] = s->control->lambda + pb->rss[i];
  }
  return COMPLETE;
}

/* ---- a heap of candidates, the best on top ---- */

static int lazy_is_before(const struct lazy *lazy, int i, int j) {
  return lazy->merit[i] < lazy->merit[j] || (lazy->merit[i] == lazy->merit[j] && i < j);
}

static void lazy_sift_down(const struct lazy *lazy, ptrdiff_t pos, ptrdiff_t count) {
  const int i = lazy->heap[pos];
  for (ptrdiff_t child = 2 * pos + 1; child < count; child = 2 * pos + 1) {
    if (child + 1 < count && lazy_is_before(lazy, lazy->heap[child + 1], lazy->heap[child]))
      child++;
    if (!lazy_is_before(lazy, lazy->heap[child], i))
      break;
    lazy->heap[pos] = lazy->heap[child];
    pos = child;
  }
  lazy->heap[pos] = i;
}

static void lazy_make_heap(const struct lazy *lazy, ptrdiff_t count) {
  for (ptrdiff_t pos = count / 2 - 1; pos >= 0; pos--)
    lazy_sift_down(lazy, pos, count);
}

static int lazy_pop(const struct lazy *lazy, ptrdiff_t *count) {
  const int top = lazy->heap[0];
  lazy->heap[0] = lazy->heap[--*count];
  lazy_sift_down(lazy, 0, *count);
  return top;
}

/* ---- rows of products ---- */

/* The columns to come that are given: at most `max` that have no row of products. */
static int lazy_list_given(const struct greedy *s, int *list, int max) {
  const int *given = s->control->given;
  int found = 0;
  for (int p = s->size; p < s->control->given_count && found < max; p++)
    if (given[p] < s->pb->n && !lazy_has_products(s, given[p]))
      list[found++] = given[p];
  return found;
}

/* Whether the products of so many more columns are made for all searches on this x. */
static int lazy_may_share(const struct greedy *s, int found) {
  const struct greedy_shared *shared = s->control->shared;
  return shared != NULL && shared->count + found <= shared->capacity;
}

/* The next pass multiplies x with the columns of C that are listed. */
static void lazy_aim_at_rows(struct greedy *s, int found) {
  struct lazy *lazy = s->lazy;
  lazy_update_columns(s, lazy->list + 1, found - 1);
  for (int p = 0; p < found; p++) {
    lazy_assign_row(s, lazy->list, p);
    lazy->v[p] = p == 0 ? lazy->c + (s->size - 1) * s->pb->m : greedy_column(s, lazy->list[p]);
    lazy->out[p] = lazy->rows + lazy->row[lazy->list[p]] * s->pb->n;
  }
}

/* The next pass multiplies x with the working columns listed themselves. */
static void lazy_aim_at_shared(struct greedy *s, int found) {
  struct lazy *lazy = s->lazy;
  struct greedy_shared *shared = s->control->shared;
  for (int p = 0; p < found; p++) {
    double *x = lazy->shared_columns + p * s->pb->m;
    working_column(s->pb, lazy->list[p], x);
    shared->place[lazy->list[p]] = shared->count++;
    lazy->v[p] = x;
    lazy->out[p] = shared->rows + shared->place[lazy->list[p]] * s->pb->n;
  }
}

/* One pass over x: its products with the column of the move under way, with the columns that the
   look-ahead expects and with w; with its parts if they have been sharpened for as many columns. */
static enum status lazy_read_batch(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t n = s->pb->n;
  const int free_rows = lazy_row_count(s) - s->size; /* beside that of the last member */
  lazy->list[0] = (int)s->b;
  const int found =
      1 + (greedy_next_is_given(s)
                  ? lazy_list_given(s, lazy->list + 1, (int)greedy_min(MAX_BATCH - 1, free_rows))
                  : lazy_lookahead(s, lazy->list + 1, (int)greedy_min(lazy->batch - 1, free_rows)));
  if (found == 0)
    return INTERRUPTED;
  const int shares = lazy_may_share(s, found);
  if (shares)
    lazy_aim_at_shared(s, found);
  else
    lazy_aim_at_rows(s, found);
  lazy->batch_used = 0;
  const ptrdiff_t count =
      shares ? lazy_list_usable(s, lazy->list) : lazy_list_candidates(s, lazy->list);
  const int renews = lazy->parts == 1 || lazy->sharpened > n;
  const ptrdiff_t vectors = found + (renews ? lazy_aim_at_w(s, found, lazy->bounds.Cw) : 0);
  if (lazy_products(s, lazy->list, count, vectors) != COMPLETE)
    return INTERRUPTED;
  if (renews)
    lazy_refer_to_w(s);
  return COMPLETE;
}

/* ---- a move ---- */

double greedy_read_column(struct greedy *s, ptrdiff_t i, double *x) {
  working_column(s->pb, i, x);
  s->out->work.columns_read++;
  return s->lazy->bounds.read_norm2[i];
}

/* Column b is no candidate any more, nor are those that it keeps out. */
static void lazy_exclude(struct greedy *s, ptrdiff_t b) {
  const struct column_groups *groups = &s->control->groups;
  const int group = greedy_group_of(s, b);
  s->lazy->bounds.excluded[b] = INFINITY;
  if (group < 0)
    return;
  for (int p = groups->start[group]; p < groups->start[group + 1]; p++)
    s->lazy->bounds.excluded[groups->columns[p]] = INFINITY;
}

/* The column of the move under way and what follows from it: c_b, put where it will stay, its
   multiples of the columns before it in lazy->f, kappa_b and t_b. Nothing else goes into them: not
   what is known of the candidates, of which some have been scored and some not, nor which shard has
   the column. So the path depends on the columns chosen alone. */
static void lazy_make_column(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t m = s->pb->m, L = s->pb->L, b = s->b;
  if (b < s->pb->n) {
    s->read_norm2_b = greedy_read_column(s, b, s->x_b);
    lazy_exclude(s, b);
  }
  s->c_b = lazy->c + s->size * m;
  memcpy(s->c_b, s->x_b, (size_t)m * sizeof(double));
  lazy_multiply_G(s, s->c_b);
  s->kappa_b = s->control->lambda + simd->dot(m, s->x_b, s->c_b);
  for (ptrdiff_t l = 0; l < L; l++)
    s->t_b[l] = simd->dot(m, s->x_b, s->a + l * m);
}

/* Makes the move under way, keeps what later sweeps need of it, and moves it into a, d and the
   folds. */
void lazy_commit(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L, k = s->control->k;
  const int size = s->size;
  lazy_make_column(s);
  double *u = lazy->U + size * k, *f = lazy->f, inverse = 1 / s->kappa_b, spread = 0;
  lazy->inverse_kappa[size] = inverse;
  lazy->growth += 1 + s->read_norm2_b * inverse;
  memset(u, 0, (size_t)size * sizeof(double));
  for (int l = 0; l < size; l++)
    simd->shift(l + 1, u, f[l], lazy->U + l * k);
  u[size] = 1;
  for (int l = 0; l < size; l++) {
    const double along = simd->dot(l + 1, lazy->U + l * k, u);
    spread += lazy->inverse_kappa[l] * along * along;
  }
  const double uu = simd->dot(size + 1, u, u);
  lazy->inverse_norm2 += inverse * (2 * spread + inverse * uu * uu);
  for (ptrdiff_t l = 0; l < L; l++)
    lazy->gamma[l + size * L] = s->t_b[l] * inverse;
  lazy->held_out->commit(s);
}

/* The products of the column under way, as they were before any move. */
static void lazy_take_shared(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const struct greedy_shared *shared = s->control->shared;
  const ptrdiff_t n = s->pb->n;
  const int b = (int)s->b;
  lazy_assign_row(s, &b, 0);
  lazy->row_version[lazy->row[b]] = 0;
  memcpy(lazy->rows + lazy->row[b] * n, shared->rows + shared->place[b] * n,
      (size_t)n * sizeof(double));
}

/* W of the move under way, and with it what the bounds of all candidates are made of. */
static enum status lazy_advance(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t n = s->pb->n, L = s->pb->L, b = s->b;
  const int last = s->size - 1, missed = !lazy_has_products(s, b);
  lazy->missed = lazy->missed << 1 | (unsigned)(missed && b < n);
  if (missed) {
    if (s->size > 1)
      lazy->batch = lazy_batch_size(s, lazy->batch_used + 3);
    if (lazy_read_batch(s) != COMPLETE)
      return INTERRUPTED;
  }
  if (lazy->row[b] < 0)
    lazy_take_shared(s);
  double *t = lazy->rows + lazy->row[b] * n;
  for (int l = lazy->row_version[lazy->row[b]]; l < last; l++)
    simd->shift(n, t, lazy->inverse_kappa[l] * lazy->W[l][b], lazy->W[l]);
  lazy->W[last] = t;
  lazy->moves = s->size;
  lazy->batch_used++;
  const struct greedy_bounds_move move = {.inverse = lazy->inverse_kappa[last],
      .t = t,
      .gamma = lazy->gamma + last * L,
      .c_ref = lazy->c_ref};
  simd->bounds_update(&lazy->bounds, &move);
  for (ptrdiff_t l = L; l < L * lazy->parts; l++)
    simd->shift(n, lazy->bounds.Cw + l * n, lazy->inverse_kappa[last] * lazy->c_ref[l], t);
  return COMPLETE;
}

/* ---- a step ---- */

/* A candidate whose merit is at best above this can neither win nor tie, nor be one of the
   runners-up that are kept. At a price, what ties allow is in the merits. */
static double lazy_limit(const struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  if (lazy->best_count <= s->control->keep)
    return INFINITY;
  const double tie = s->price == NULL ? s->tolerance.value * lazy_weight(s) : 0;
  return lazy->best[s->control->keep] + tie;
}

/* The merits that candidates have at best, by their bounds; the bounds themselves without prices.
 */
static void lazy_price_bounds(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  if (s->price == NULL)
    return;
  for (ptrdiff_t i = 0; i < s->pb->n; i++)
    lazy->merit[i] = greedy_can_add(s, i)
                         ? greedy_merit_of_tie(s, i, lazy->bound[i] / lazy_weight(s))
                         : INFINITY;
  recur_find_minima(s);
}

/* Puts e among the `max` smallest merits of this step. */
static void lazy_rank(struct lazy *lazy, double e, int max) {
  if (lazy->best_count == max && !(e < lazy->best[max - 1]))
    return;
  int pos = lazy->best_count < max ? lazy->best_count++ : max - 1;
  for (; pos > 0 && e < lazy->best[pos - 1]; pos--)
    lazy->best[pos] = lazy->best[pos - 1];
  lazy->best[pos] = e;
}

/* kappa_i and t_i for a commit of column i. */
static void lazy_store_scalars(struct greedy *s, ptrdiff_t i) {
  const ptrdiff_t L = s->pb->L;
  s->kappa[i] = s->lazy->bounds.kappa[i];
  for (ptrdiff_t l = 0; l < L; l++)
    s->t[l + i * L] = s->lazy->bounds.g[i + l * s->pb->n];
}

static void lazy_score_and_rank(struct greedy *s, const int *list, int count) {
  struct lazy *lazy = s->lazy;
  lazy_score_columns(s, list, count);
  for (int p = 0; p < count; p++) {
    const double e = lazy->bound[list[p]];
    s->score[list[p]] = (struct greedy_score){e / lazy_weight(s), e / lazy_weight(s)};
    s->scored[s->scored_count++] = list[p];
    lazy->scored_at[list[p]] = s->size;
    lazy_rank(lazy, s->price == NULL ? e : greedy_merit(s, list[p], s->score[list[p]].value),
        s->control->keep + 1);
    lazy_store_scalars(s, list[p]);
  }
}

#ifdef SPARSELS_CHECK_BOUNDS
/* Compares all bounds with the sums of squares themselves. */
static void lazy_check_bounds(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  for (int i = 0; i < s->pb->n; i++) {
    const double bound = lazy->bound[i];
    if (lazy->bounds.excluded[i] > 0 || lazy->scored_at[i] == s->size)
      continue;
    lazy_score_columns(s, &i, 1);
    s->out->work.bounds++;
    s->out->work.broken += bound > lazy->bound[i];
    lazy->bound[i] = bound;
  }
}
#else
static void lazy_check_bounds(struct greedy *s) {
  (void)s;
}
#endif

/* Puts the candidates that the limit does not rule out into the heap, in any order; returns how
   many. */
static ptrdiff_t lazy_filter(const struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  /* the merits of excluded columns are infinite */
  const double max = fmin(lazy_limit(s), DBL_MAX), *merit = lazy->merit;
  const ptrdiff_t n = s->pb->n;
  int *heap = lazy->heap;
  ptrdiff_t count = 0;
  for (ptrdiff_t from = 0; from < n; from += BOUNDS_BLOCK) {
    const ptrdiff_t to = greedy_min(n, from + BOUNDS_BLOCK);
    for (ptrdiff_t i = lazy->bounds.block_min[from / BOUNDS_BLOCK] > max ? to : from; i < to; i++) {
      heap[count] = (int)i;
      count += merit[i] <= max;
    }
  }
  return count;
}

/* Returns the candidate with the least merit, which becomes infinite. */
static int lazy_pop_min(const struct lazy *lazy) {
  const ptrdiff_t n = lazy->bounds.n;
  double *merit = lazy->merit, *block_min = lazy->bounds.block_min;
  ptrdiff_t block = 0;
  for (ptrdiff_t p = 1; p * BOUNDS_BLOCK < n; p++)
    if (block_min[p] < block_min[block])
      block = p;
  const ptrdiff_t from = block * BOUNDS_BLOCK, to = greedy_min(n, from + BOUNDS_BLOCK);
  ptrdiff_t i = from;
  while (merit[i] > block_min[block])
    i++;
  merit[i] = block_min[block] = INFINITY;
  for (ptrdiff_t j = from; j < to; j++)
    block_min[block] = fmin(block_min[block], merit[j]);
  return (int)i;
}

/* Scores so many candidates with the least merits, which gives the limit. */
static void lazy_score_promising(struct greedy *s, ptrdiff_t count) {
  struct lazy *lazy = s->lazy;
  for (ptrdiff_t p = 0; p < count; p++)
    lazy->list[p] = lazy_pop_min(lazy);
  for (ptrdiff_t from = 0; from < count; from += CHUNK)
    lazy_score_and_rank(s, lazy->list + from, (int)greedy_min(CHUNK, count - from));
}

static int lazy_is_recurring(const struct lazy *lazy) {
  return lazy->folds != NULL && lazy->folds->recurring;
}

/* How many of the last `steps` have their bit set. */
static int lazy_count_bits(unsigned bits, int steps) {
  int count = 0;
  for (int i = 0; i < steps; i++)
    count += (int)(bits >> i & 1);
  return count;
}

/* Whether bounds do not pay. To go over to another engine takes about as long as to compute every
   candidate once from its column, as many operations for each row as there are members. That is
   worth it where more than a quarter of the candidates remained in two of the last three steps, or
   more if only two or three steps are left; or, holding out single rows, where x was read in six of
   the last eight and there are as many steps left as members. Where columns are not kept, it takes
   as long at every step: it is worth it where more than half of the candidates remained. Errors by
   recurrence read x at every step, and leave one candidate unless digits are lost for good. */
static int lazy_bounds_fail(const struct greedy *s, ptrdiff_t remaining, ptrdiff_t candidates) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t left = s->control->k - s->size;
  const ptrdiff_t worth = s->control->rereads ? 2 : greedy_min(4, left);
  const int many = worth * remaining > candidates;
  if (lazy_is_recurring(lazy))
    return many && remaining > CHUNK;
  lazy->crowded = lazy->crowded << 1 | (unsigned)many;
  return lazy_count_bits(lazy->crowded, 3) >= 2 ||
         (lazy->folds == NULL && left >= s->size && lazy_count_bits(lazy->missed, 8) >= 6);
}

/* What scores every candidate from here on; the path goes on as it was. */
static enum status lazy_sweep_dense(struct greedy *s) {
  return greedy_leave_one_out.sweep(s);
}

static enum status lazy_sweep_dense_folds(struct greedy *s) {
  return greedy_folds.sweep(s);
}

static const struct greedy_engine lazy_dense = {.sweep = lazy_sweep_dense,
    .commit = lazy_commit,
    .coefficients = lazy_coefficients,
    .hold_out = greedy_loo_hold_out,
    .keep_residuals = greedy_loo_keep_residuals,
    .min_pivot = greedy_loo_min_pivot};

static const struct greedy_engine lazy_dense_folds = {.sweep = lazy_sweep_dense_folds,
    .commit = lazy_commit,
    .coefficients = lazy_coefficients,
    .hold_out = greedy_folds_hold_out,
    .keep_residuals = greedy_folds_keep_residuals,
    .min_pivot = greedy_folds_min_pivot};

/* Scores every candidate and leaves those of the rest of the search to the engine that always does.
 */
static enum status lazy_sweep_all(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t L = s->pb->L, k = s->control->k, count = lazy_list_candidates(s, lazy->list);
  s->scored_count = 0;
  for (ptrdiff_t from = 0; from < count; from += CHUNK) {
    const int part = (int)greedy_min(CHUNK, count - from);
    lazy_score_and_rank(s, lazy->list + from, part);
    lazy_recompute(s, lazy->list + from, part);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  for (ptrdiff_t p = 0; p < count; p++) {
    lazy_store_scalars(s, lazy->list[p]);
    s->kappa_ref[lazy->list[p]] = s->kappa[lazy->list[p]];
  }
  lazy_set_members(s);
  lazy_coefficients(s, lazy->beta, k);
  for (ptrdiff_t l = 0; l < L; l++)
    for (int j = 0; j < s->size; j++)
      s->t[l + s->order[j] * L] = s->control->lambda * lazy->beta[j + l * k];
  s->out->work.dense_from = s->size + 1;
  s->engine = &lazy_dense;
  return COMPLETE;
}

/* Leaves the candidates of the rest of the search by folds to the engine that scores every one, on
   a state made afresh; a, d and what is held out are not part of that, so their new values go into
   memory that is not used any more. */
static enum status lazy_sweep_all_folds(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  double *const a = s->a, *const d = s->d;
  s->slot = NULL;
  s->b = -1;
  s->out->work.dense_from = s->size + 1;
  s->engine = &lazy_dense_folds;
  s->a = lazy->a_ahead;
  s->d = lazy->d_ahead;
  for (int r = 0; r < s->parts; r++) {
    s->part[r].g = lazy->Gw;
    s->part[r].pivot = lazy->w;
  }
  const enum status status = greedy_start(s);
  s->a = a;
  s->d = d;
  for (int r = 0, f = 0; r < s->parts; f += s->part[r++].count) {
    s->part[r].g = lazy->folds->fold[f].g;
    s->part[r].pivot = lazy->folds->fold[f].pivot;
  }
  return status == COMPLETE ? s->engine->sweep(s) : status;
}

/* Whether an engine that scores every candidate can go on: it has all columns, members included,
   and memory for them, and by folds the state can be made afresh, as rounding has not left it
   singular. */
static int lazy_can_sweep_all(const struct greedy *s) {
  const struct lazy *lazy = s->lazy;
  if (lazy->folds == NULL)
    return !s->control->shard && (s->control->rereads || lazy->slots == s->pb->n);
  return lazy->folds->can_sweep && s->engine->min_pivot(s) > GREEDY_FOLD_SINGULAR;
}

/* Candidates whose needs are not met have infinite bounds: they follow the moves like any other. */
static void lazy_exclude_unmet(struct greedy *s) {
  for (ptrdiff_t i = 0; s->needed != NULL && i < s->pb->n; i++)
    if (lazy_is_candidate(s, i))
      s->lazy->bounds.excluded[i] = greedy_needs_are_met(s, i) ? 0 : INFINITY;
}

/* lazy->bound := what rules candidates out, unless the next column is given. */
static enum status lazy_bound_candidates(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  lazy_exclude_unmet(s);
  if (lazy_is_recurring(lazy))
    return recur_bounds(s, s->size > 0);
  if (s->size > 0 && lazy_advance(s) != COMPLETE)
    return INTERRUPTED;
  if (greedy_next_is_given(s))
    return COMPLETE;
  lazy_split_w(s);
  lazy_evaluate_bounds(s);
  return COMPLETE;
}

/* Takes up to CHUNK candidates that may win from the heap, the lowest bounds first, and scores
   them. */
static void lazy_score_chunk(struct greedy *s, ptrdiff_t *remaining) {
  struct lazy *lazy = s->lazy;
  int list[CHUNK], count = 0;
  while (count < CHUNK && (*remaining) > 0 && !(lazy->merit[lazy->heap[0]] > lazy_limit(s))) {
    list[count] = lazy_pop(lazy, remaining);
    count += lazy->scored_at[list[count]] != s->size;
  }
  lazy_score_and_rank(s, list, count);
}

/* The candidates that are left by the best scores of a few, in lazy->heap; returns how many, -1:
   interrupted. */
static ptrdiff_t lazy_remaining(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  ptrdiff_t remaining = lazy_filter(s);
  if (remaining <= CHUNK || lazy_is_recurring(lazy))
    return remaining;
  if (!lazy->exact) {
    if (lazy_sharpen(s, lazy->heap, remaining) != COMPLETE)
      return -1;
    lazy_check_bounds(s);
    lazy_price_bounds(s);
    remaining = lazy_filter(s);
  }
  lazy_make_heap(lazy, remaining);
  lazy_score_chunk(s, &remaining);
  return lazy_filter(s);
}

/* From here on errors follow the moves. The best of the candidates that are not scored yet tells
   how few may win. */
static enum status lazy_go_over_to_recurrence(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  if (recur_begin(s) != COMPLETE || recur_bounds(s, 0) != COMPLETE)
    return INTERRUPTED;
  lazy_check_bounds(s);
  lazy_price_bounds(s);
  for (ptrdiff_t p = 0; p < s->scored_count; p++)
    lazy->merit[s->scored[p]] = INFINITY;
  recur_find_minima(s);
  const ptrdiff_t unscored = greedy_count_candidates(s) - s->scored_count;
  lazy_score_promising(s, greedy_min(unscored, s->control->keep + 1));
  return COMPLETE;
}

/* Scores the candidates that may win, or be among the runners-up. */
static enum status lazy_score_step(struct greedy *s) {
  struct lazy *lazy = s->lazy;
  const ptrdiff_t candidates = greedy_count_candidates(s);
  s->scored_count = 0;
  lazy->best_count = 0;
  lazy->held_out->measure(s);
  if (lazy_bound_candidates(s) != COMPLETE)
    return INTERRUPTED;
  if (greedy_next_is_given(s) || candidates == 0)
    return COMPLETE;
  lazy_check_bounds(s);
  lazy_price_bounds(s);
  lazy_score_promising(s, greedy_min(candidates, s->control->keep + 1));
  ptrdiff_t remaining = lazy_remaining(s);
  if (remaining < 0)
    return INTERRUPTED;
  int fail = lazy_bounds_fail(s, remaining, candidates);
  if (fail && lazy->folds != NULL && lazy->folds->can_recur && !lazy->folds->recurring) {
    if (lazy_go_over_to_recurrence(s) != COMPLETE)
      return INTERRUPTED;
    remaining = lazy_filter(s);
    fail = lazy_bounds_fail(s, remaining, candidates);
  }
  if (fail && lazy_can_sweep_all(s)) {
    if (s->control->rereads)
      return reread_take_over(s);
    return lazy->folds == NULL ? lazy_sweep_all(s) : lazy_sweep_all_folds(s);
  }
  lazy_make_heap(lazy, remaining);
  while (remaining > 0 && !(lazy->merit[lazy->heap[0]] > lazy_limit(s))) {
    lazy_score_chunk(s, &remaining);
    if (greedy_stopped(s))
      return INTERRUPTED;
  }
  return COMPLETE;
}

enum status lazy_sweep(struct greedy *s) {
  const struct greedy_work_done before = s->out->work;
  const enum status status = lazy_score_step(s);
  s->out->work.candidates = before.candidates;
  if (!greedy_next_is_given(s))
    s->out->work.candidates += (double)greedy_count_candidates(s);
  s->out->work.evaluated = before.evaluated + (double)s->scored_count;
  return status;
}

const struct greedy_engine greedy_lazy = {.lay_out = lazy_lay_out,
    .begin = lazy_begin,
    .sweep = lazy_sweep,
    .commit = lazy_commit,
    .coefficients = lazy_coefficients,
    .hold_out = greedy_loo_hold_out,
    .keep_residuals = greedy_loo_keep_residuals,
    .min_pivot = greedy_loo_min_pivot};
