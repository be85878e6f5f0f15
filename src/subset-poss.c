/* POSS: subset selection as a search with two objectives, gain and size, or gain and price. Qian,
   Yu and Zhou 2015, Algorithm 2, for the gain b_S'(C_SS + lambda I)^-1 b_S. */
#include "subset.h"
#include "subset-exchange.h"
#include "subset-set.h"
#include "tolerance.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { POSS_FLIPS = 16 };   /* more are not drawn: their probability is below 1e-13 */
enum { POSS_CHUNK = 4096 }; /* flips of an island between two questions to the host */

/* A set with the upper Cholesky factor R of C_SS + lambda I, z = R'^-1 b_S and its gain |z|^2. */
struct poss_set {
  int size;
  int *column; /* max_size */
  double *R;   /* max_size x max_size */
  double *z;   /* max_size x L */
  double gain;
  double price; /* of a member, where columns have one */
};

/* An archived set. Its columns ascend, so that its numbers depend on nothing but the set. */
struct poss_member {
  struct poss_set set;
  double *loss;    /* max_size, what deleting each column costs */
  uint64_t *tried; /* n bits: flips of one column whose result is dominated, and will be */
};

struct poss_island {
  struct poss_member *member; /* capacity */
  int *order;                 /* capacity, indices of members: the archive, then the unused ones */
  int *by_size;               /* (max_size + 1) x classes, the member of each size, -1 if none */
  int count;
  uint64_t *random; /* 4 */
  struct poss_set child;
  double *inverse; /* max_size x max_size, workspace of poss_deletion_losses() */
};

/* What the islands of one thread share: X'X with the thread's cache of its columns. */
struct poss_search {
  const struct gram *gram;
  const struct poss_control *control;
  struct gram_cache cache;
  double cdf[POSS_FLIPS];   /* of the number of flips */
  struct exchange exchange; /* only when control->exchanged */
};

struct poss {
  struct poss_island *island; /* islands */
  struct poss_search *search; /* threads */
};

/* ---- random numbers: xoshiro256++ of Blackman and Vigna ---- */

static uint64_t poss_rotate(uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

static uint64_t poss_random(uint64_t *s) {
  const uint64_t out = poss_rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = poss_rotate(s[3], 45);
  return out;
}

static int poss_below(uint64_t *s, ptrdiff_t n) {
  return (int)(((poss_random(s) >> 32) * (uint64_t)n) >> 32);
}

static double poss_unit(uint64_t *s) {
  return (double)(poss_random(s) >> 11) * 0x1p-53;
}

/* How many of n columns are flipped when each is with probability 1 / n: at most all of them,
   however the sum is rounded. */
static void poss_flip_distribution(ptrdiff_t n, double *cdf) {
  double mass = pow(1 - 1 / (double)n, (double)n), sum = 0;
  for (int c = 0; c < POSS_FLIPS; c++) {
    sum += mass;
    cdf[c] = c < n ? sum : 1;
    mass *= (double)(n - c) / ((double)(c + 1) * fmax(1, (double)n - 1));
  }
}

/* The columns to flip, all different; their number. */
static int poss_draw_flips(const struct poss_search *search, uint64_t *random, int *flip) {
  const double u = poss_unit(random);
  int c = 0;
  while (c < POSS_FLIPS - 1 && u >= search->cdf[c])
    c++;
  for (int i = 0; i < c; i++) {
    flip[i] = poss_below(random, search->gram->n);
    for (int p = 0; p < i; p++)
      if (flip[p] == flip[i]) {
        i--;
        break;
      }
  }
  return c;
}

/* ---- gains ---- */

/* What column j adds to the gain of a set, with its column r of R and its row z of the set's z
   (stride max_size). */
static double poss_border(
    struct poss_search *search, const struct poss_set *set, int j, double *r, double *z) {
  const struct gram *gram = search->gram;
  const ptrdiff_t max_size = search->control->max_size, s = set->size;
  const double diagonal = gram->diagonal[j] + search->control->lambda;
  double schur = diagonal, gain = 0;
  for (ptrdiff_t i = 0; i < s; i++) {
    const double *R = set->R + i * max_size;
    double sum = gram_entry(gram, &search->cache, set->column[i], j);
    for (ptrdiff_t p = 0; p < i; p++)
      sum -= R[p] * r[p];
    r[i] = sum / R[i];
    schur -= r[i] * r[i];
  }
  r[s] = schur > SUBSET_DEPENDENT * diagonal ? sqrt(schur) : INFINITY; /* then it adds nothing */
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    double sum = gram->b[j + l * gram->n];
    for (ptrdiff_t p = 0; p < s; p++)
      sum -= r[p] * set->z[p + l * max_size];
    z[l * max_size] = sum / r[s];
    gain += z[l * max_size] * z[l * max_size];
  }
  return gain;
}

static void poss_append(struct poss_search *search, struct poss_set *set, int j) {
  const ptrdiff_t s = set->size;
  set->gain += poss_border(search, set, j, set->R + s * search->control->max_size, set->z + s);
  set->column[s] = j;
  set->size++;
}

/* to := the first `size` columns of another set. */
static void poss_copy_head(
    const struct poss_search *search, const struct poss_set *from, int size, struct poss_set *to) {
  const ptrdiff_t max_size = search->control->max_size;
  to->size = size;
  to->gain = 0;
  memcpy(to->column, from->column, (size_t)size * sizeof(int));
  for (ptrdiff_t i = 0; i < size; i++)
    memcpy(to->R + i * max_size, from->R + i * max_size, (size_t)(i + 1) * sizeof(double));
  for (ptrdiff_t l = 0; l < search->gram->L; l++)
    for (ptrdiff_t i = 0; i < size; i++) {
      const double z = from->z[i + l * max_size];
      to->z[i + l * max_size] = z;
      to->gain += z * z;
    }
}

/* What deleting each column of a member costs: alpha_p^2 over the diagonal of (C + lambda I)^-1,
   alpha = R^-1 z. A column with an infinite pivot may add something once another is deleted: the
   costs are then set to 0, which excludes no deletion. */
static void poss_deletion_losses(
    const struct poss_search *search, struct poss_member *member, double *inverse) {
  const struct poss_set *set = &member->set;
  const ptrdiff_t max_size = search->control->max_size, s = set->size;
  for (ptrdiff_t i = 0; i < s; i++)
    if (isinf(set->R[i + i * max_size])) {
      memset(member->loss, 0, (size_t)s * sizeof(double));
      return;
    }
  for (ptrdiff_t j = 0; j < s; j++) { /* R^-1, column by column */
    double *v = inverse + j * max_size;
    v[j] = 1 / set->R[j + j * max_size];
    for (ptrdiff_t i = j - 1; i >= 0; i--) {
      double sum = 0;
      for (ptrdiff_t p = i + 1; p <= j; p++)
        sum += set->R[i + p * max_size] * v[p];
      v[i] = -sum / set->R[i + i * max_size];
    }
  }
  for (ptrdiff_t i = 0; i < s; i++) {
    double diagonal = 0, square = 0;
    for (ptrdiff_t p = i; p < s; p++)
      diagonal += inverse[i + p * max_size] * inverse[i + p * max_size];
    for (ptrdiff_t l = 0; l < search->gram->L; l++) {
      double alpha = 0;
      for (ptrdiff_t p = i; p < s; p++)
        alpha += inverse[i + p * max_size] * set->z[p + l * max_size];
      square += alpha * alpha;
    }
    member->loss[i] = square / diagonal;
  }
}

/* The child of a member: the columns before the first that is deleted stay as they are, the rest
   are appended anew. The size of the child, -1 when it is empty or too large. */
static int poss_make_child(struct poss_search *search, const struct poss_member *parent,
    const int *flip, int c, struct poss_set *child) {
  const struct poss_set *set = &parent->set;
  int head = set->size, deleted = 0;
  for (int i = 0; i < c; i++) {
    const int index = subset_index(set->column, set->size, flip[i]);
    if (index >= 0) {
      deleted++;
      head = index < head ? index : head;
    }
  }
  const int size = set->size + c - 2 * deleted;
  if (size == 0 || size > search->control->max_size)
    return -1;
  poss_copy_head(search, set, head, child);
  for (int i = head; i < set->size; i++) {
    int stays = 1;
    for (int f = 0; f < c; f++)
      stays = stays && flip[f] != set->column[i];
    if (stays)
      poss_append(search, child, set->column[i]);
  }
  for (int f = 0; f < c; f++)
    if (subset_index(set->column, set->size, flip[f]) < 0)
      poss_append(search, child, flip[f]);
  return size;
}

/* ---- prices ---- */

/* What a set of columns costs, each assay once. */
static double poss_price(const struct poss_control *control, const int *column, int size) {
  const int *assay = control->assay;
  double sum = 0;
  for (int i = 0; i < size; i++) {
    int paid = 0;
    for (int p = 0; p < i && assay[column[i]] >= 0; p++)
      paid = paid || assay[column[p]] == assay[column[i]];
    sum += paid ? 0 : control->price[column[i]];
  }
  return sum;
}

/* The same of an ascending set of which column j is flipped; column: room for one more. */
static double poss_flipped_price(
    const struct poss_control *control, const struct poss_set *set, int j, int *column) {
  int size = 0, added = subset_index(set->column, set->size, j) >= 0;
  for (int i = 0; i < set->size; i++) {
    if (!added && set->column[i] > j) {
      column[size++] = j;
      added = 1;
    }
    if (set->column[i] != j)
      column[size++] = set->column[i];
  }
  if (!added)
    column[size++] = j;
  return poss_price(control, column, size);
}

/* Whether an archived set strictly dominates one of this price and gain; *permanent as below. The
   empty set dominates nothing. */
static int poss_is_dominated_at_price(
    const struct poss_island *island, double price, double gain, int *permanent) {
  double best = 0, cheaper = -1; /* gains at no more than the price, and at less */
  for (int i = 0; i < island->count; i++) {
    const struct poss_set *set = &island->member[island->order[i]].set;
    if (set->size == 0 || set->price > price)
      continue;
    best = fmax(best, set->gain);
    if (set->price < price)
      cheaper = fmax(cheaper, set->gain);
  }
  *permanent = best - gain > TIE * best;
  return best > gain || cheaper >= gain;
}

/* ---- the archive: for each class at most one set of each size, the larger the better; where
   columns have prices, any sets of which none dominates another ---- */

/* Sets are compared when they have the same first column; without isolation all are. */
static ptrdiff_t poss_class(const struct poss_search *search, const struct poss_set *set) {
  if (!search->control->isolated || set->size == 0)
    return 0;
  int first = set->column[0];
  for (int i = 1; i < set->size; i++)
    first = set->column[i] < first ? set->column[i] : first;
  return 1 + first;
}

static int *poss_sizes(
    const struct poss_search *search, const struct poss_island *island, ptrdiff_t class) {
  return island->by_size + class * (search->control->max_size + 1);
}

/* Whether an archived set strictly dominates one of this size and gain. *permanent := whether it
   would even if the gain were better by rounding, and so always will: archives only improve. */
static int poss_is_dominated(
    const struct poss_island *island, const int *by_size, int size, double gain, int *permanent) {
  int s = size;
  while (s > 0 && by_size[s] < 0)
    s--;
  *permanent = 0;
  if (s == 0) /* no set so small is archived but the empty one, which dominates nothing */
    return 0;
  const double best = island->member[by_size[s]].set.gain;
  *permanent = best - gain > TIE * best;
  return s == size ? best > gain : best >= gain;
}

/* Takes the member with this place in the order out of the archive. */
static void poss_drop_place(struct poss_island *island, int index) {
  const int number = island->order[index];
  island->count--;
  memmove(island->order + index, island->order + index + 1,
      (size_t)(island->count - index) * sizeof(int));
  island->order[island->count] = number;
}

static void poss_drop_member(struct poss_island *island, int *by_size, int size) {
  const int number = by_size[size];
  by_size[size] = -1;
  int index = 0;
  while (island->order[index] != number)
    index++;
  poss_drop_place(island, index);
}

static int poss_same_columns(const struct poss_set *a, const struct poss_set *b) {
  return a->size == b->size && memcmp(a->column, b->column, (size_t)a->size * sizeof(int)) == 0;
}

/* member := the set, factorised anew with its columns in order: a set has one gain, however it was
   reached, and cannot dominate itself by rounding. */
static void poss_make_member(struct poss_search *search, struct poss_island *island,
    const struct poss_set *set, struct poss_member *member) {
  int *column = island->child.column; /* the child's list is free, or is this set's own */
  if (column != set->column && set->size > 0)
    memcpy(column, set->column, (size_t)set->size * sizeof(int));
  subset_sort(column, set->size);
  member->set.size = 0;
  member->set.gain = 0;
  for (int i = 0; i < set->size; i++)
    poss_append(search, &member->set, column[i]);
}

/* Whether an archived set is the member's own, or dominates it. */
static int poss_is_superfluous(const struct poss_island *island, const struct poss_set *set) {
  int permanent;
  for (int i = 0; i < island->count; i++)
    if (poss_same_columns(&island->member[island->order[i]].set, set))
      return 1;
  return set->size > 0 && poss_is_dominated_at_price(island, set->price, set->gain, &permanent);
}

static int poss_dominates(const struct poss_set *a, const struct poss_set *b) {
  return b->size > 0 && a->price <= b->price && a->gain >= b->gain;
}

/* The same at a price. A set for which the archive has no room is left out, so that what has once
   been dominated stays so. */
static int poss_archive_at_price(
    struct poss_search *search, struct poss_island *island, const struct poss_set *set) {
  const int number = island->order[island->count];
  struct poss_member *member = island->member + number;
  poss_make_member(search, island, set, member);
  member->set.price = poss_price(search->control, member->set.column, member->set.size);
  if (member->set.price >= search->control->max_price || poss_is_superfluous(island, &member->set))
    return 0;
  int dominated = 0;
  for (int i = 0; i < island->count; i++)
    dominated += poss_dominates(&member->set, &island->member[island->order[i]].set);
  if (island->count + 1 - dominated > search->control->capacity - 1)
    return 0;
  island->count++;
  for (int i = island->count - 2; i >= 0; i--)
    if (poss_dominates(&member->set, &island->member[island->order[i]].set))
      poss_drop_place(island, i);
  memset(member->tried, 0, (size_t)(search->gram->n / 64 + 1) * sizeof(uint64_t));
  poss_deletion_losses(search, member, island->inverse);
  return 1;
}

/* Archives a set unless it is dominated, in place of what it dominates; whether it did. */
static int poss_archive(
    struct poss_search *search, struct poss_island *island, const struct poss_set *set) {
  if (search->control->price != NULL)
    return poss_archive_at_price(search, island, set);
  const int size = set->size, number = island->order[island->count];
  struct poss_member *member = island->member + number;
  int *by_size = poss_sizes(search, island, poss_class(search, set)), permanent;
  poss_make_member(search, island, set, member);
  if (by_size[size] >= 0 && poss_same_columns(&island->member[by_size[size]].set, &member->set))
    return 0;
  if (poss_is_dominated(island, by_size, size, member->set.gain, &permanent))
    return 0;
  island->count++;
  for (int s = size; s <= search->control->max_size; s++)
    if (by_size[s] >= 0 && island->member[by_size[s]].set.gain <= member->set.gain)
      poss_drop_member(island, by_size, s);
  by_size[size] = number;
  memset(member->tried, 0, (size_t)(search->gram->n / 64 + 1) * sizeof(uint64_t));
  poss_deletion_losses(search, member, island->inverse);
  return 1;
}

/* ---- flips ---- */

/* Whether a set is not to be archived: it is dominated, or too dear. */
static int poss_is_worse(const struct poss_search *search, const struct poss_island *island,
    ptrdiff_t class, int size, double price, double gain, int *permanent) {
  if (search->control->price == NULL)
    return poss_is_dominated(island, poss_sizes(search, island, class), size, gain, permanent);
  *permanent = 1;
  return price >= search->control->max_price ||
         poss_is_dominated_at_price(island, price, gain, permanent);
}

/* Flips one column. The gain of the child follows from its parent's numbers, and most children are
   dominated by it alone; those that always will be are not tried again. */
static void poss_flip_one(
    struct poss_search *search, struct poss_island *island, struct poss_member *parent, int j) {
  const struct poss_set *set = &parent->set;
  uint64_t *tried = parent->tried + j / 64;
  const uint64_t bit = (uint64_t)1 << (j % 64);
  if (*tried & bit)
    return;
  const int index = subset_index(set->column, set->size, j);
  const int size = set->size + (index < 0 ? 1 : -1);
  if (size == 0 || size > search->control->max_size)
    return;
  int first = set->size > 0 ? set->column[0] : j;
  if (index == 0)
    first = set->column[1];
  else if (index < 0 && j < first)
    first = j;
  double gain = set->gain;
  if (index < 0)
    gain += poss_border(search, set, j, island->child.R, island->child.z);
  else
    gain -= parent->loss[index];
  int permanent;
  const int class = search->control->isolated ? 1 + first : 0;
  const double price = search->control->price == NULL
                           ? 0
                           : poss_flipped_price(search->control, set, j, island->child.column);
  if (poss_is_worse(search, island, class, size, price, gain, &permanent)) {
    if (permanent)
      *tried |= bit;
    return;
  }
  poss_make_child(search, parent, &j, 1, &island->child);
  poss_archive(search, island, &island->child);
}

static void poss_flip_several(struct poss_search *search, struct poss_island *island,
    struct poss_member *parent, const int *flip, int c) {
  struct poss_set *child = &island->child;
  const int size = poss_make_child(search, parent, flip, c, child);
  int permanent;
  if (size < 0)
    return;
  const double price =
      search->control->price == NULL ? 0 : poss_price(search->control, child->column, size);
  if (poss_is_worse(
          search, island, poss_class(search, child), size, price, child->gain, &permanent))
    return;
  poss_archive(search, island, child);
}

static void poss_flip(struct poss_search *search, struct poss_island *island) {
  int flip[POSS_FLIPS];
  struct poss_member *parent =
      island->member + island->order[poss_below(island->random, island->count)];
  const int c = poss_draw_flips(search, island->random, flip);
  if (c == 1)
    poss_flip_one(search, island, parent, flip[0]);
  else if (c > 1)
    poss_flip_several(search, island, parent, flip, c);
}

/* ---- exchanges ---- */

/* Archives the set of search->exchange, less the member at an index unless that is -1, if it gains
   more than by rounding; whether it did. */
static int poss_archive_exchanged(
    struct poss_search *search, struct poss_island *island, int dropped, double gain) {
  const struct exchange *x = &search->exchange;
  struct poss_set set = {.size = 0, .column = island->child.column};
  for (int i = 0; i < x->size; i++)
    if (i != dropped)
      set.column[set.size++] = x->column[i];
  int permanent;
  return set.size > 0 &&
         !poss_is_worse(
             search, island, poss_class(search, &set), set.size, 0, gain * (1 - TIE), &permanent) &&
         poss_archive(search, island, &set);
}

/* search->exchange := a member with a random number of its columns replaced by random others; a
   random column in place of the empty set. */
static void poss_replace_columns(
    struct poss_search *search, struct poss_island *island, const struct poss_set *set) {
  struct exchange *x = &search->exchange;
  int *column = island->child.column;
  const int replaced = set->size > 0 ? 1 + poss_below(island->random, set->size) : 1;
  memcpy(column, set->column, (size_t)set->size * sizeof(int));
  for (int i = 0; i < replaced && i < set->size; i++) { /* the first in a random order */
    const int other = i + poss_below(island->random, set->size - i), j = column[other];
    column[other] = column[i];
    column[i] = j;
  }
  exchange_clear(x);
  for (int i = replaced; i < set->size; i++)
    exchange_add(x, column[i]);
  for (int i = 0; i < replaced; i++)
    exchange_add(x, poss_below(island->random, search->gram->n));
}

/* Replaces columns of a member at random, improves the result by the best swaps, and archives it,
   the best set with a column less, and those with the best columns added as long as the archive
   takes them. */
static void poss_exchange(struct poss_search *search, struct poss_island *island) {
  struct exchange *x = &search->exchange;
  const int parent = island->order[poss_below(island->random, island->count)];
  poss_replace_columns(search, island, &island->member[parent].set);
  exchange_descend(x);
  poss_archive_exchanged(search, island, -1, x->gain);
  double change;
  const int dropped = exchange_best_drop(x, &change);
  if (dropped >= 0)
    poss_archive_exchanged(search, island, dropped, x->gain - change);
  int added = 0;
  do {
    added = x->size < x->max_size ? exchange_best_addition(x) : -1;
  } while (
      added >= 0 && exchange_add(x, added) && poss_archive_exchanged(search, island, -1, x->gain));
}

static void poss_run_island(
    struct poss_search *search, struct poss_island *island, double iterations) {
  for (double t = 0; t < iterations; t++) {
    if (search->control->exchanged)
      poss_exchange(search, island);
    else
      poss_flip(search, island);
  }
}

/* ---- workspace ---- */

static struct poss_set poss_alloc_set(ptrdiff_t max_size, ptrdiff_t L, struct arena *arena) {
  return (struct poss_set){.column = alloc_ints(arena, max_size),
      .R = alloc_doubles(arena, max_size * max_size),
      .z = alloc_doubles(arena, max_size * L)};
}

static ptrdiff_t poss_classes(const struct gram *gram, const struct poss_control *control) {
  return control->isolated ? gram->n + 1 : 1;
}

static struct poss_island poss_alloc_island(
    const struct gram *gram, const struct poss_control *control, struct arena *arena) {
  const ptrdiff_t max_size = control->max_size, L = gram->L;
  struct poss_island island = {
      .member = arena_alloc(arena, control->capacity, sizeof(struct poss_member)),
      .order = alloc_ints(arena, control->capacity),
      .by_size = alloc_ints(arena, (max_size + 1) * poss_classes(gram, control)),
      .random = arena_alloc(arena, 4, sizeof(uint64_t)),
      .child = poss_alloc_set(max_size, L, arena),
      .inverse = alloc_doubles(arena, max_size * max_size)};
  for (ptrdiff_t i = 0; i < control->capacity; i++) {
    const struct poss_member member = {.set = poss_alloc_set(max_size, L, arena),
        .loss = alloc_doubles(arena, max_size),
        .tried = arena_alloc(arena, gram->n / 64 + 1, sizeof(uint64_t))};
    if (island.member != NULL)
      island.member[i] = member;
  }
  return island;
}

static struct poss poss_lay_out(
    const struct gram *gram, const struct poss_control *control, int threads, struct arena *arena) {
  const struct poss poss = {
      .island = arena_alloc(arena, control->islands, sizeof(struct poss_island)),
      .search = arena_alloc(arena, threads, sizeof(struct poss_search))};
  for (int thread = 0; thread < threads; thread++) {
    struct poss_search search = {.gram = gram,
        .control = control,
        .cache = gram_cache_alloc(gram, control->max_cached, arena)};
    if (control->exchanged)
      search.exchange = exchange_alloc(gram, control->lambda, control->max_size, arena);
    if (poss.search != NULL)
      poss.search[thread] = search;
  }
  for (int i = 0; i < control->islands; i++) {
    const struct poss_island island = poss_alloc_island(gram, control, arena);
    if (poss.island != NULL)
      poss.island[i] = island;
  }
  return poss;
}

size_t poss_work(const struct gram *gram, const struct poss_control *control, int threads) {
  struct arena arena = arena_over(NULL);
  poss_lay_out(gram, control, threads, &arena);
  return arena.used;
}

/* ---- archives loaded and stored ---- */

/* The island begins with the empty set and the sets of an earlier archive, in its order. */
static void poss_load(struct poss_search *search, struct poss_island *island,
    const struct poss_state *state, ptrdiff_t number) {
  const struct poss_control *control = search->control;
  const ptrdiff_t max_size = control->max_size, capacity = control->capacity;
  for (ptrdiff_t i = 0; i < (max_size + 1) * poss_classes(search->gram, control); i++)
    island->by_size[i] = -1;
  for (int i = 0; i < control->capacity; i++)
    island->order[i] = i;
  island->count = 0;
  const uint32_t *bits = (const uint32_t *)state->random + 8 * number;
  for (int i = 0; i < 4; i++)
    island->random[i] = (uint64_t)bits[2 * i] << 32 | bits[2 * i + 1];
  struct poss_set set = {.size = 0};
  poss_archive(search, island, &set);
  for (ptrdiff_t i = 0; i < state->count[number]; i++) {
    set.size = state->size[i + capacity * number];
    set.column = state->columns + max_size * (i + capacity * number);
    poss_archive(search, island, &set);
  }
}

static void poss_store(const struct poss_island *island, const struct poss_control *control,
    struct poss_state *state, ptrdiff_t number) {
  const ptrdiff_t max_size = control->max_size, capacity = control->capacity;
  uint32_t *bits = (uint32_t *)state->random + 8 * number;
  for (int i = 0; i < 4; i++) {
    bits[2 * i] = (uint32_t)(island->random[i] >> 32);
    bits[2 * i + 1] = (uint32_t)island->random[i];
  }
  state->count[number] = island->count - 1;
  for (ptrdiff_t i = 0; i + 1 < island->count; i++) { /* the first is the empty set */
    const struct poss_set *set = &island->member[island->order[i + 1]].set;
    const ptrdiff_t index = i + capacity * number;
    state->size[index] = set->size;
    state->gain[index] = set->gain;
    memcpy(state->columns + max_size * index, set->column, (size_t)set->size * sizeof(int));
  }
}

enum status poss(const struct gram *gram, const struct poss_control *control, struct host *host,
    void *work, struct poss_state *state) {
  const ptrdiff_t threads = host->threads, islands = control->islands;
  struct arena arena = arena_over(work);
  const struct poss poss = poss_lay_out(gram, control, host->threads, &arena);
  for (ptrdiff_t thread = 0; thread < threads; thread++) {
    gram_cache_clear(gram, &poss.search[thread].cache);
    poss_flip_distribution(gram->n, poss.search[thread].cdf);
    poss.search[thread].exchange.cache = &poss.search[thread].cache;
  }
  for (ptrdiff_t i = 0; i < islands; i++)
    poss_load(poss.search, poss.island + i, state, i);
  enum status status = COMPLETE;
  const double most = control->exchanged ? 1 : POSS_CHUNK;
  double done = 0;
  while (done < control->iterations && status == COMPLETE) {
    const double chunk = fmin(most, control->iterations - done);
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
#endif
    for (ptrdiff_t thread = 0; thread < threads; thread++)
      for (ptrdiff_t i = thread; i < islands; i += threads)
        poss_run_island(poss.search + thread, poss.island + i, chunk);
    done += chunk;
    if (host->stop(host, done, control->iterations))
      status = INTERRUPTED;
  }
  for (ptrdiff_t i = 0; i < islands; i++)
    poss_store(poss.island + i, control, state, i);
  *state->done = done;
  return status;
}
