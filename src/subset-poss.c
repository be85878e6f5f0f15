/* POSS: subset selection as a search with two objectives, gain and size. Qian, Yu and Zhou 2015,
   Algorithm 2, for the gain b_S'(C_SS + lambda I)^-1 b_S. */
#include "subset.h"
#include "subset-set.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FLIPS = 16 };   /* more are not drawn: their probability is below 1e-13 */
enum { CHUNK = 4096 }; /* iterations of an island between two questions to the host */
static const double DEPENDENT =
    1e-10;                       /* a column that adds less than this share of itself adds 0 */
static const double TIE = 1e-12; /* of the gain: a set that is worse by less may be a tie */

/* A set with the upper Cholesky factor R of C_SS + lambda I, z = R'^-1 b_S and its gain |z|^2. */
struct subset {
  int size;
  int *column; /* most */
  double *R;   /* most x most */
  double *z;   /* most x L */
  double gain;
};

/* An archived set. Its columns ascend, so that its figures depend on nothing but the set. */
struct member {
  struct subset set;
  double *loss;    /* most, what deleting each column costs */
  uint64_t *tried; /* n bits, flips of one column that are dominated, now and for good */
};

struct island {
  struct member *member; /* capacity */
  int *order;            /* capacity, numbers of members: the archive, then the others */
  int *at;               /* (most + 1) x classes, the member of each size, -1 if none */
  int count;
  uint64_t *random; /* 4 */
  struct subset child;
  double *inverse; /* most x most, room */
};

/* What the islands of one thread share. */
struct shared {
  const struct gram *gram;
  const struct poss_control *control;
  struct gram_cache cache;
  double cdf[FLIPS]; /* of the number of flips */
};

/* ---- random numbers: xoshiro256++ of Blackman and Vigna ---- */

static uint64_t rotate(uint64_t x, int by) {
  return (x << by) | (x >> (64 - by));
}

static uint64_t random_bits(uint64_t *s) {
  const uint64_t out = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= t;
  s[3] = rotate(s[3], 45);
  return out;
}

static int below(uint64_t *s, ptrdiff_t n) {
  return (int)(((random_bits(s) >> 32) * (uint64_t)n) >> 32);
}

static double unit(uint64_t *s) {
  return (double)(random_bits(s) >> 11) * 0x1p-53;
}

/* How many of n columns are flipped when each is with probability 1 / n: at most all of them,
   however the sum is rounded. */
static void flip_distribution(ptrdiff_t n, double *cdf) {
  double mass = pow(1 - 1 / (double)n, (double)n), sum = 0;
  for (int c = 0; c < FLIPS; c++) {
    sum += mass;
    cdf[c] = c < n ? sum : 1;
    mass *= (double)(n - c) / ((double)(c + 1) * fmax(1, (double)n - 1));
  }
}

/* The columns to flip, all different; their number. */
static int draw_flips(const struct shared *search, uint64_t *random, int *flip) {
  const double u = unit(random);
  int c = 0;
  while (c < FLIPS - 1 && u >= search->cdf[c])
    c++;
  for (int i = 0; i < c; i++) {
    flip[i] = below(random, search->gram->n);
    for (int p = 0; p < i; p++)
      if (flip[p] == flip[i]) {
        i--;
        break;
      }
  }
  return c;
}

/* ---- gains ---- */

/* What column j adds to the gain of a set: its column r of R and, with stride `most`, row z of z.
 */
static double border(struct shared *search, const struct subset *set, int j, double *r, double *z) {
  const struct gram *gram = search->gram;
  const ptrdiff_t most = search->control->most, s = set->size;
  const double own = gram->diagonal[j] + search->control->lambda;
  double left = own, gain = 0;
  for (ptrdiff_t i = 0; i < s; i++) {
    const double *R = set->R + i * most;
    double sum = gram_entry(gram, &search->cache, set->column[i], j);
    for (ptrdiff_t p = 0; p < i; p++)
      sum -= R[p] * r[p];
    r[i] = sum / R[i];
    left -= r[i] * r[i];
  }
  r[s] = left > DEPENDENT * own ? sqrt(left) : INFINITY; /* an infinite pivot takes no part */
  for (ptrdiff_t l = 0; l < gram->L; l++) {
    double sum = gram->b[j + l * gram->n];
    for (ptrdiff_t p = 0; p < s; p++)
      sum -= r[p] * set->z[p + l * most];
    z[l * most] = sum / r[s];
    gain += z[l * most] * z[l * most];
  }
  return gain;
}

static void append(struct shared *search, struct subset *set, int j) {
  const ptrdiff_t s = set->size;
  set->gain += border(search, set, j, set->R + s * search->control->most, set->z + s);
  set->column[s] = j;
  set->size++;
}

/* The first `size` columns of another set. */
static void copy_head(
    const struct shared *search, const struct subset *from, int size, struct subset *to) {
  const ptrdiff_t most = search->control->most;
  to->size = size;
  to->gain = 0;
  memcpy(to->column, from->column, (size_t)size * sizeof(int));
  for (ptrdiff_t i = 0; i < size; i++)
    memcpy(to->R + i * most, from->R + i * most, (size_t)(i + 1) * sizeof(double));
  for (ptrdiff_t l = 0; l < search->gram->L; l++)
    for (ptrdiff_t i = 0; i < size; i++) {
      const double z = from->z[i + l * most];
      to->z[i + l * most] = z;
      to->gain += z * z;
    }
}

/* What deleting each column of a member costs: alpha_p^2 over the diagonal of (C + lambda I)^-1,
   alpha = R^-1 z. With an infinite pivot another column may step in: then no cost is sure. */
static void deletion_losses(const struct shared *search, struct member *member, double *inverse) {
  const struct subset *set = &member->set;
  const ptrdiff_t most = search->control->most, s = set->size;
  for (ptrdiff_t i = 0; i < s; i++)
    if (isinf(set->R[i + i * most])) {
      memset(member->loss, 0, (size_t)s * sizeof(double));
      return;
    }
  for (ptrdiff_t j = 0; j < s; j++) { /* R^-1, column by column */
    double *v = inverse + j * most;
    v[j] = 1 / set->R[j + j * most];
    for (ptrdiff_t i = j - 1; i >= 0; i--) {
      double sum = 0;
      for (ptrdiff_t p = i + 1; p <= j; p++)
        sum += set->R[i + p * most] * v[p];
      v[i] = -sum / set->R[i + i * most];
    }
  }
  for (ptrdiff_t i = 0; i < s; i++) {
    double diagonal = 0, square = 0;
    for (ptrdiff_t p = i; p < s; p++)
      diagonal += inverse[i + p * most] * inverse[i + p * most];
    for (ptrdiff_t l = 0; l < search->gram->L; l++) {
      double alpha = 0;
      for (ptrdiff_t p = i; p < s; p++)
        alpha += inverse[i + p * most] * set->z[p + l * most];
      square += alpha * alpha;
    }
    member->loss[i] = square / diagonal;
  }
}

/* The child of a member: the columns before the first that is deleted stay as they are, the rest
   are appended anew. -1 when no archive would take it for its size. */
static int make_child(struct shared *search, const struct member *parent, const int *flip, int c,
    struct subset *child) {
  const struct subset *set = &parent->set;
  int head = set->size, deleted = 0;
  for (int i = 0; i < c; i++) {
    const int place = place_of(set->column, set->size, flip[i]);
    if (place >= 0) {
      deleted++;
      head = place < head ? place : head;
    }
  }
  const int size = set->size + c - 2 * deleted;
  if (size == 0 || size > search->control->most)
    return -1;
  copy_head(search, set, head, child);
  for (int i = head; i < set->size; i++) {
    int stays = 1;
    for (int f = 0; f < c; f++)
      stays = stays && flip[f] != set->column[i];
    if (stays)
      append(search, child, set->column[i]);
  }
  for (int f = 0; f < c; f++)
    if (place_of(set->column, set->size, flip[f]) < 0)
      append(search, child, flip[f]);
  return size;
}

/* ---- the archive: for each class at most one set of each size, the larger the better ---- */

/* Sets are compared when they have the same first column; without isolation all are. */
static ptrdiff_t class_of(const struct shared *search, const struct subset *set) {
  if (!search->control->isolated || set->size == 0)
    return 0;
  int first = set->column[0];
  for (int i = 1; i < set->size; i++)
    first = set->column[i] < first ? set->column[i] : first;
  return 1 + first;
}

static int *sizes_of(const struct shared *search, const struct island *island, ptrdiff_t class) {
  return island->at + class * (search->control->most + 1);
}

/* Whether an archived set dominates strictly one of this size and gain. `for_good` := whether it
   still would if the gain were better by rounding: archives only improve. */
static int is_dominated(
    const struct island *island, const int *at, int size, double gain, int *for_good) {
  int s = size;
  while (s > 0 && at[s] < 0)
    s--;
  *for_good = 0;
  if (s == 0) /* nothing, or the empty set, whose gain counts as none at all */
    return 0;
  const double best = island->member[at[s]].set.gain;
  *for_good = best - gain > TIE * best;
  return s == size ? best > gain : best >= gain;
}

static void drop_member(struct island *island, int *at, int size) {
  const int number = at[size];
  at[size] = -1;
  int place = 0;
  while (island->order[place] != number)
    place++;
  island->count--;
  memmove(island->order + place, island->order + place + 1,
      (size_t)(island->count - place) * sizeof(int));
  island->order[island->count] = number;
}

static int same_columns(const struct subset *a, const struct subset *b) {
  return a->size == b->size && memcmp(a->column, b->column, (size_t)a->size * sizeof(int)) == 0;
}

/* The member made of a set's columns in order, so that rounding cannot make a set beat itself. */
static void make_member(
    struct shared *search, struct island *island, const struct subset *set, struct member *member) {
  int *column = island->child.column; /* of this set, or of nobody */
  if (column != set->column && set->size > 0)
    memcpy(column, set->column, (size_t)set->size * sizeof(int));
  sort_columns(column, set->size);
  member->set.size = 0;
  member->set.gain = 0;
  for (int i = 0; i < set->size; i++)
    append(search, &member->set, column[i]);
}

/* Archives a set unless it is dominated, in place of what it dominates. */
static void archive(struct shared *search, struct island *island, const struct subset *set) {
  const int size = set->size, number = island->order[island->count];
  struct member *member = island->member + number;
  int *at = sizes_of(search, island, class_of(search, set)), for_good;
  make_member(search, island, set, member);
  if (at[size] >= 0 && same_columns(&island->member[at[size]].set, &member->set))
    return;
  if (is_dominated(island, at, size, member->set.gain, &for_good))
    return;
  island->count++;
  for (int s = size; s <= search->control->most; s++)
    if (at[s] >= 0 && island->member[at[s]].set.gain <= member->set.gain)
      drop_member(island, at, s);
  at[size] = number;
  memset(member->tried, 0, (size_t)(search->gram->n / 64 + 1) * sizeof(uint64_t));
  deletion_losses(search, member, island->inverse);
}

/* ---- the search ---- */

/* One column flipped: most children are told from figures of the parent alone, and those found
   dominated are not looked at again. */
static void flip_one(struct shared *search, struct island *island, struct member *parent, int j) {
  const struct subset *set = &parent->set;
  uint64_t *tried = parent->tried + j / 64;
  const uint64_t bit = (uint64_t)1 << (j % 64);
  if (*tried & bit)
    return;
  const int place = place_of(set->column, set->size, j), size = set->size + (place < 0 ? 1 : -1);
  if (size == 0 || size > search->control->most)
    return;
  int first = set->size > 0 ? set->column[0] : j;
  if (place == 0)
    first = set->column[1];
  else if (place < 0 && j < first)
    first = j;
  double gain = set->gain;
  if (place < 0)
    gain += border(search, set, j, island->child.R, island->child.z);
  else
    gain -= parent->loss[place];
  int for_good;
  const int *at = sizes_of(search, island, search->control->isolated ? 1 + first : 0);
  if (is_dominated(island, at, size, gain, &for_good)) {
    if (for_good)
      *tried |= bit;
    return;
  }
  make_child(search, parent, &j, 1, &island->child);
  archive(search, island, &island->child);
}

static void flip_several(
    struct shared *search, struct island *island, struct member *parent, const int *flip, int c) {
  struct subset *child = &island->child;
  const int size = make_child(search, parent, flip, c, child);
  int for_good;
  if (size < 0 || is_dominated(island, sizes_of(search, island, class_of(search, child)), size,
                      child->gain, &for_good))
    return;
  archive(search, island, child);
}

static void run_island(struct shared *search, struct island *island, double iterations) {
  int flip[FLIPS];
  for (double t = 0; t < iterations; t++) {
    struct member *parent = island->member + island->order[below(island->random, island->count)];
    const int c = draw_flips(search, island->random, flip);
    if (c == 1)
      flip_one(search, island, parent, flip[0]);
    else if (c > 1)
      flip_several(search, island, parent, flip, c);
  }
}

/* ---- room ---- */

static size_t padded(size_t count, size_t size) {
  return (count * size + 63) / 64 * 64;
}

static void *take(char **work, size_t count, size_t size) {
  void *part = *work;
  *work += padded(count, size);
  return part;
}

static size_t subset_bytes(size_t most, size_t L) {
  return padded(most, sizeof(int)) + padded(most * most, sizeof(double)) +
         padded(most * L, sizeof(double));
}

static struct subset take_subset(char **work, size_t most, size_t L) {
  return (struct subset){.column = take(work, most, sizeof(int)),
      .R = take(work, most * most, sizeof(double)),
      .z = take(work, most * L, sizeof(double))};
}

static size_t classes(const struct gram *gram, const struct poss_control *control) {
  return control->isolated ? (size_t)gram->n + 1 : 1;
}

static size_t island_bytes(const struct gram *gram, const struct poss_control *control) {
  const size_t most = (size_t)control->most, capacity = (size_t)control->capacity;
  const size_t subset = subset_bytes(most, (size_t)gram->L);
  return padded(capacity, sizeof(struct member)) + padded(capacity, sizeof(int)) +
         padded((most + 1) * classes(gram, control), sizeof(int)) + padded(4, sizeof(uint64_t)) +
         subset + padded(most * most, sizeof(double)) +
         capacity * (subset + padded(most, sizeof(double)) +
                        padded((size_t)gram->n / 64 + 1, sizeof(uint64_t)));
}

static struct island take_island(
    const struct gram *gram, const struct poss_control *control, char **work) {
  const size_t most = (size_t)control->most, capacity = (size_t)control->capacity;
  const size_t L = (size_t)gram->L;
  struct island island = {.member = take(work, capacity, sizeof(struct member)),
      .order = take(work, capacity, sizeof(int)),
      .at = take(work, (most + 1) * classes(gram, control), sizeof(int)),
      .random = take(work, 4, sizeof(uint64_t)),
      .child = take_subset(work, most, L),
      .inverse = take(work, most * most, sizeof(double))};
  for (size_t i = 0; i < capacity; i++)
    island.member[i] = (struct member){.set = take_subset(work, most, L),
        .loss = take(work, most, sizeof(double)),
        .tried = take(work, (size_t)gram->n / 64 + 1, sizeof(uint64_t))};
  return island;
}

static size_t search_bytes(const struct gram *gram, const struct poss_control *control) {
  const size_t n = (size_t)gram->n;
  return 2 * padded(n, sizeof(int)) + padded(n * (size_t)control->kept, sizeof(double)) +
         padded((size_t)gram->m, sizeof(double));
}

static struct shared take_search(
    const struct gram *gram, const struct poss_control *control, char **work) {
  const size_t n = (size_t)gram->n;
  struct shared search = {.gram = gram,
      .control = control,
      .cache = {.capacity = control->kept,
          .slot = take(work, n, sizeof(int)),
          .asked = take(work, n, sizeof(int)),
          .columns = take(work, n * (size_t)control->kept, sizeof(double)),
          .dense = take(work, (size_t)gram->m, sizeof(double))}};
  gram_forget(gram, &search.cache);
  flip_distribution(gram->n, search.cdf);
  return search;
}

size_t poss_work(const struct gram *gram, const struct poss_control *control, int threads) {
  const size_t islands = (size_t)control->islands;
  return padded(islands, sizeof(struct island)) + padded((size_t)threads, sizeof(struct shared)) +
         islands * island_bytes(gram, control) + (size_t)threads * search_bytes(gram, control);
}

/* ---- the archives in and out ---- */

/* The empty set and the sets of an earlier archive, in its order. */
static void found(struct shared *search, struct island *island, const struct poss_state *state,
    ptrdiff_t number) {
  const struct poss_control *control = search->control;
  const ptrdiff_t most = control->most, capacity = control->capacity;
  for (size_t i = 0; i < ((size_t)most + 1) * classes(search->gram, control); i++)
    island->at[i] = -1;
  for (int i = 0; i < control->capacity; i++)
    island->order[i] = i;
  island->count = 0;
  const uint32_t *bits = (const uint32_t *)state->random + 8 * number;
  for (int i = 0; i < 4; i++)
    island->random[i] = (uint64_t)bits[2 * i] << 32 | bits[2 * i + 1];
  struct subset set = {.size = 0};
  archive(search, island, &set);
  for (ptrdiff_t i = 0; i < state->count[number]; i++) {
    set.size = state->size[i + capacity * number];
    set.column = state->columns + most * (i + capacity * number);
    archive(search, island, &set);
  }
}

static void leave(const struct island *island, const struct poss_control *control,
    struct poss_state *state, ptrdiff_t number) {
  const ptrdiff_t most = control->most, capacity = control->capacity;
  uint32_t *bits = (uint32_t *)state->random + 8 * number;
  for (int i = 0; i < 4; i++) {
    bits[2 * i] = (uint32_t)(island->random[i] >> 32);
    bits[2 * i + 1] = (uint32_t)island->random[i];
  }
  state->count[number] = island->count - 1;
  for (ptrdiff_t i = 0; i + 1 < island->count; i++) { /* the first is the empty set */
    const struct subset *set = &island->member[island->order[i + 1]].set;
    const ptrdiff_t place = i + capacity * number;
    state->size[place] = set->size;
    state->gain[place] = set->gain;
    memcpy(state->columns + most * place, set->column, (size_t)set->size * sizeof(int));
  }
}

enum status poss(const struct gram *gram, const struct poss_control *control, struct host *host,
    void *work, struct poss_state *state) {
  const ptrdiff_t threads = host->threads, islands = control->islands;
  char *room = work;
  struct island *island = take(&room, (size_t)islands, sizeof(struct island));
  struct shared *search = take(&room, (size_t)threads, sizeof(struct shared));
  for (ptrdiff_t thread = 0; thread < threads; thread++)
    search[thread] = take_search(gram, control, &room);
  for (ptrdiff_t i = 0; i < islands; i++) {
    island[i] = take_island(gram, control, &room);
    found(search, island + i, state, i);
  }
  enum status status = COMPLETE;
  double done = 0;
  while (done < control->iterations && status == COMPLETE) {
    const double chunk = fmin(CHUNK, control->iterations - done);
#ifdef _OPENMP
#pragma omp parallel for num_threads((int)threads) schedule(static, 1)
#endif
    for (ptrdiff_t thread = 0; thread < threads; thread++)
      for (ptrdiff_t i = thread; i < islands; i += threads)
        run_island(search + thread, island + i, chunk);
    done += chunk;
    if (host->stop(host, done, control->iterations))
      status = INTERRUPTED;
  }
  for (ptrdiff_t i = 0; i < islands; i++)
    leave(island + i, control, state, i);
  *state->done = done;
  return status;
}
