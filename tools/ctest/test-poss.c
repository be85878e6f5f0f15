/* Entries of X'X against plain sums; the Pareto search against a slow and obvious one. */
#include "ctest.h"
#include "subset-exchange.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- X'X, in each of its forms, and by plain sums ---- */

enum source { WHOLE, DENSE, SPARSE, SOURCES };

struct terms {
  struct gram gram;
  double *C, *b; /* n x n, n x L: X'X and X'y */
  void *parts[12];
  int count;
};

static void *part(struct terms *terms, ptrdiff_t count, size_t size) {
  return terms->parts[terms->count++] = room((size_t)count * size, 0);
}

static double *doubles(struct terms *terms, ptrdiff_t count) {
  return part(terms, count, sizeof(double));
}

static void discard_terms(struct terms *terms) {
  while (terms->count > 0)
    free(terms->parts[--terms->count]);
}

static double dot(ptrdiff_t m, const double *u, const double *v) {
  double sum = 0;
  for (ptrdiff_t r = 0; r < m; r++)
    sum += u[r] * v[r];
  return sum;
}

/* The working columns, made from the dense values whatever the problem holds. */
static double *plain_columns(struct terms *terms, const struct made *made) {
  const struct problem *pb = &made->pb;
  const ptrdiff_t m = pb->m;
  double *X = doubles(terms, m * pb->n);
  for (ptrdiff_t j = 0; j < pb->n; j++) {
    double *v = X + j * m;
    for (ptrdiff_t r = 0; r < m; r++)
      v[r] = pb->root_w[r] * (made->x[r + j * m] - pb->centre[j]) * pb->inv_scale[j];
    for (ptrdiff_t l = 0; l < 2 * pb->q; l++) {
      const double *column = pb->Q + l % pb->q * m, along = dot(m, column, v);
      for (ptrdiff_t r = 0; r < m; r++)
        v[r] -= along * column[r];
    }
  }
  return X;
}

/* The dense values as sparse columns, and what the covariates explain of them. */
static void fill_sparse(struct terms *terms, const struct made *made) {
  const struct problem *pb = &made->pb;
  const ptrdiff_t m = pb->m, n = pb->n, q = pb->q;
  double *x = doubles(terms, m * n), *scale = doubles(terms, n), *G = doubles(terms, q * n);
  int *i = part(terms, m * n, sizeof(int)), *p = part(terms, n + 1, sizeof(int)), count = 0;
  for (ptrdiff_t j = 0; j < n; j++) {
    scale[j] = 1 / pb->inv_scale[j];
    for (ptrdiff_t r = 0; r < m; r++) {
      const double value = made->x[r + j * m];
      if (value == 0)
        continue;
      for (ptrdiff_t l = 0; l < q; l++)
        G[l + j * q] += pb->Q[r + l * m] * pb->root_w[r] * value / scale[j];
      x[count] = value;
      i[count++] = (int)r;
    }
    p[j + 1] = count;
  }
  terms->gram.x = (struct matrix){.x = x, .i = i, .p = p};
  terms->gram.w = made->w;
  terms->gram.scale = scale;
  terms->gram.G = G;
  terms->gram.q = q;
}

static struct terms make_terms(const struct made *made, enum source source) {
  const struct problem *pb = &made->pb;
  const ptrdiff_t m = pb->m, n = pb->n, L = pb->L;
  struct terms terms = {.gram = {.n = n, .L = L, .m = m}};
  const double *X = plain_columns(&terms, made);
  double *C = terms.C = doubles(&terms, n * n), *b = terms.b = doubles(&terms, n * L);
  double *diagonal = doubles(&terms, n);
  for (ptrdiff_t j = 0; j < n; j++) {
    for (ptrdiff_t i = 0; i < n; i++)
      C[i + j * n] = dot(m, X + i * m, X + j * m);
    for (ptrdiff_t l = 0; l < L; l++)
      b[j + l * n] = dot(m, X + j * m, pb->y + l * m);
    diagonal[j] = C[j + j * n];
  }
  terms.gram.diagonal = diagonal;
  terms.gram.b = b;
  if (source == WHOLE)
    terms.gram.full = C;
  else if (source == DENSE)
    terms.gram.X = X;
  else
    fill_sparse(&terms, made);
  return terms;
}

/* A problem without ties; without an intercept nothing is centred, as sparse columns want it. */
static struct made make_untied(struct shape shape) {
  static const double no_centre[128];
  struct made made = make(shape);
  if (shape.q == 0)
    made.pb.centre = no_centre;
  for (ptrdiff_t r = 0; r < shape.m && shape.n > 5; r++) /* it was the same as another */
    made.x[r + 5 * shape.m] = uniform() > 0 ? uniform() : 0;
  return made;
}

static struct gram_cache make_cache(const struct gram *gram, int capacity, void **block) {
  const size_t n = (size_t)gram->n;
  struct gram_cache cache = {.capacity = capacity,
      .slot = room(n * sizeof(int), 0x5A),
      .requests = room(n * sizeof(int), 0x5A),
      .columns = room(n * (size_t)capacity * sizeof(double), 0xFF),
      .dense = room((size_t)gram->m * sizeof(double), 0xFF)};
  block[0] = cache.slot, block[1] = cache.requests, block[2] = cache.columns,
  block[3] = cache.dense;
  gram_cache_clear(gram, &cache);
  return cache;
}

static int same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

/* Asks for all entries, three times over; `first` has those that were given before, anywhere. */
static void check_entries(const struct terms *terms, struct gram_cache *cache, double *first) {
  const ptrdiff_t n = terms->gram.n;
  for (int time = 0; time < 3; time++)
    for (ptrdiff_t a = 0; a < n; a++)
      for (ptrdiff_t c = 0; c < n; c++) {
        const ptrdiff_t i = (a * 7 + time) % n, j = (c * 5 + a) % n; /* prime to n */
        const double entry = gram_entry(&terms->gram, cache, i, j);
        if (isnan(first[i + j * n]))
          first[i + j * n] = first[j + i * n] = entry;
        CHECK(same_bits(entry, first[i + j * n]));
      }
}

static void check_gram(const struct terms *terms) {
  const struct gram *gram = &terms->gram;
  const ptrdiff_t n = gram->n;
  const int kept[] = {0, 1, 3, (int)n};
  double *first = room((size_t)(n * n) * sizeof(double), 0xFF); /* no numbers */
  double *column = room((size_t)n * sizeof(double), 0),
         *dense = room((size_t)gram->m * sizeof(double), 0xFF);
  for (int i = 0; i < 4; i++) {
    void *block[4];
    struct gram_cache cache = make_cache(gram, kept[i], block);
    for (int again = 0; again < 2; again++) {
      CHECK(cache.used == 0);
      check_entries(terms, &cache, first);
      /* beside all others the last column is not needed */
      CHECK(cache.used == (gram->full != NULL ? 0 : kept[i] < n ? kept[i] : n - 1));
      gram_cache_clear(gram, &cache);
    }
    for (int l = 0; l < 4; l++)
      free(block[l]);
  }
  for (ptrdiff_t j = 0; j < n; j++) {
    gram_column(gram, j, dense, column);
    for (ptrdiff_t i = 0; i < n; i++) {
      CHECK_NEAR(first[i + j * n], terms->C[i + j * n], 1e-12);
      CHECK_NEAR(column[i], terms->C[i + j * n], 1e-12);
      CHECK(i == j || same_bits(column[i], first[i + j * n]));
    }
  }
  free(dense);
  free(column);
  free(first);
}

TEST(poss_gram) {
  static const ptrdiff_t sizes[] = {3, 11, 37}; /* several entries of the last before it is kept */
  for (int i = 0; i < 3; i++)
    for (ptrdiff_t q = 0; q < 3; q++)
      for (int source = WHOLE; source < SOURCES; source++) {
        seed(100 + (unsigned long long)(3 * i + q));
        struct made made = make_untied((struct shape){
            .m = 23, .n = sizes[i], .L = 1, .q = q, .weights = q != 1, .sparse = i != 1});
        struct terms terms = make_terms(&made, (enum source)source);
        check_gram(&terms);
        discard_terms(&terms);
        discard(&made);
      }
}

/* ---- one run ---- */

struct run {
  enum status status;
  struct poss_state state;
  int polls, stop_at;
};

static int count_polls(struct host *host, double done, double total) {
  struct run *run = host->self;
  CHECK(done > 0 && done <= total);
  return ++run->polls == run->stop_at;
}

static struct poss_control control_of(
    const struct terms *terms, int k, double lambda, int isolated, double iterations) {
  const int n = (int)terms->gram.n, most = 2 * k - 1 < n ? 2 * k - 1 : n;
  int sets = most;
  for (int first = 0; isolated && first < n; first++) /* most are there already for one of them */
    sets += first == 0 ? 0 : n - first < most ? n - first : most;
  return (struct poss_control){.lambda = lambda,
      .max_size = most,
      .isolated = isolated,
      .islands = 2,
      .capacity = sets + 2, /* the empty set, and the set that comes next */
      .max_cached = n,
      .iterations = iterations};
}

/* Nothing archived, and generators of random bits. */
static struct run fresh(const struct poss_control *control) {
  const size_t islands = (size_t)control->islands, sets = islands * (size_t)control->capacity;
  struct run run = {.state = {.random = room(8 * islands * sizeof(int), 0),
                        .count = room(islands * sizeof(int), 0),
                        .size = room(sets * sizeof(int), 0xFF),
                        .columns = room(sets * (size_t)control->max_size * sizeof(int), 0xFF),
                        .gain = room(sets * sizeof(double), 0xFF),
                        .done = room(sizeof(double), 0xFF)}};
  uint32_t *bits = (uint32_t *)run.state.random;
  for (size_t i = 0; i < 8 * islands; i++)
    bits[i] = (uint32_t)((uniform() + 1) * 2147483648.0);
  return run;
}

static void discard_run(struct run *run) {
  free(run->state.random);
  free(run->state.count);
  free(run->state.size);
  free(run->state.columns);
  free(run->state.gain);
  free(run->state.done);
}

static struct run copy_of(const struct run *from, const struct poss_control *control) {
  const size_t islands = (size_t)control->islands, sets = islands * (size_t)control->capacity;
  struct run run = fresh(control);
  memcpy(run.state.random, from->state.random, 8 * islands * sizeof(int));
  memcpy(run.state.count, from->state.count, islands * sizeof(int));
  memcpy(run.state.size, from->state.size, sets * sizeof(int));
  memcpy(run.state.columns, from->state.columns, sets * (size_t)control->max_size * sizeof(int));
  return run;
}

/* Goes on from what the run holds, in room of exactly the size asked for, filled with `byte`. */
static void go_on(struct run *run, const struct terms *terms, const struct poss_control *control,
    int threads, int byte) {
  struct host host = {.threads = threads, .stop = count_polls, .self = run};
  void *work = room(poss_work(&terms->gram, control, threads), byte);
  run->polls = 0;
  run->status = poss(&terms->gram, control, &host, work, &run->state);
  free(work);
}

/* The set at a place of an island's archive. */
struct set {
  int size;
  const int *columns;
  double gain, price;
};

/* What a set costs, each assay once; without prices its size. */
static double price_of(const struct poss_control *control, const int *columns, int size) {
  double sum = 0;
  if (control->price == NULL)
    return size;
  for (int i = 0; i < size; i++) {
    int first = 1;
    for (int p = 0; p < i; p++)
      first = first && (control->assay[columns[i]] < 0 ||
                           control->assay[columns[i]] != control->assay[columns[p]]);
    sum += first ? control->price[columns[i]] : 0;
  }
  return sum;
}

static struct set set_at(
    const struct run *run, const struct poss_control *control, ptrdiff_t island, ptrdiff_t place) {
  const ptrdiff_t at = place + control->capacity * island;
  const int size = run->state.size[at], *columns = run->state.columns + control->max_size * at;
  return (struct set){size, columns, run->state.gain[at], price_of(control, columns, size)};
}

static int same_columns(struct set a, struct set b) {
  return a.size == b.size && memcmp(a.columns, b.columns, (size_t)a.size * sizeof(int)) == 0;
}

/* The same sets in the same order, their gains to the last bit if `exact`, and generators. */
static int same_runs(
    const struct run *a, const struct run *b, const struct poss_control *control, int exact) {
  const size_t islands = (size_t)control->islands;
  int same = memcmp(a->state.random, b->state.random, 8 * islands * sizeof(int)) == 0 &&
             memcmp(a->state.count, b->state.count, islands * sizeof(int)) == 0;
  for (ptrdiff_t i = 0; same && i < control->islands; i++)
    for (ptrdiff_t place = 0; place < a->state.count[i]; place++) {
      const struct set of_a = set_at(a, control, i, place), of_b = set_at(b, control, i, place);
      same = same && same_columns(of_a, of_b) &&
             (exact ? same_bits(of_a.gain, of_b.gain)
                    : fabs(of_a.gain - of_b.gain) <= 1e-9 * of_a.gain);
    }
  return same;
}

static int has(struct set set, int column) {
  for (int i = 0; i < set.size; i++)
    if (set.columns[i] == column)
      return 1;
  return 0;
}

/* ---- what holds for every archive ---- */

enum { LARGEST = 16 };

/* b'(C + lambda I)^-1 b by elimination; a column that depends on those before takes no part. */
static double plain_gain(const struct terms *terms, double lambda, const int *set, int size) {
  const ptrdiff_t n = terms->gram.n, L = terms->gram.L;
  double A[LARGEST][LARGEST], gain = 0;
  for (ptrdiff_t l = 0; l < L; l++) {
    double b[LARGEST];
    for (int i = 0; i < size; i++) {
      b[i] = terms->b[set[i] + l * n];
      for (int j = 0; j < size; j++)
        A[i][j] = terms->C[set[i] + set[j] * n] + (i == j ? lambda : 0);
    }
    for (int p = 0; p < size; p++) {
      if (A[p][p] <= 1e-10 * (terms->C[set[p] + set[p] * n] + lambda))
        continue;
      gain += b[p] * b[p] / A[p][p];
      for (int i = p + 1; i < size; i++) {
        const double factor = A[i][p] / A[p][p];
        b[i] -= factor * b[p];
        for (int j = p + 1; j < size; j++)
          A[i][j] -= factor * A[p][j];
      }
    }
  }
  return gain;
}

static int dominates(struct set a, struct set b) {
  return (a.gain > b.gain && a.price <= b.price) || (a.gain >= b.gain && a.price < b.price);
}

static void check_archives(
    const struct run *run, const struct terms *terms, const struct poss_control *control) {
  for (ptrdiff_t island = 0; island < control->islands; island++) {
    const int count = run->state.count[island];
    CHECK(count >= 0 && count <= control->capacity - 2);
    for (ptrdiff_t place = 0; place < count; place++) {
      const struct set set = set_at(run, control, island, place);
      CHECK(set.size >= 1 && set.size <= control->max_size);
      CHECK(control->price == NULL || set.price < control->max_price);
      CHECK(set.columns[0] >= 0 && set.columns[set.size - 1] < terms->gram.n);
      for (int i = 1; i < set.size; i++)
        CHECK(set.columns[i - 1] < set.columns[i]);
      CHECK_NEAR(set.gain, plain_gain(terms, control->lambda, set.columns, set.size), 1e-9);
      for (ptrdiff_t other = 0; other < count; other++) {
        const struct set than = set_at(run, control, island, other);
        if (other != place && (!control->isolated || set.columns[0] == than.columns[0]))
          CHECK(!dominates(set, than) && set.price != than.price);
      }
    }
  }
}

/* ---- Algorithm 2, with sets as bits and every gain from scratch ---- */

enum { COLUMNS = 70, SETS = 400 };

struct bits {
  unsigned char bit[COLUMNS];
  int size, first; /* -1 for the empty set */
  double gain, price;
};

struct slow {
  const struct terms *terms;
  const struct poss_control *control;
  uint64_t random[4];
  int count;
  struct bits archive[SETS];
};

/* xoshiro256++ */
static uint64_t next(uint64_t s[4]) {
  const uint64_t sum = s[0] + s[3], out = ((sum << 23) | (sum >> 41)) + s[0], shifted = s[1] << 17;
  s[2] ^= s[0];
  s[3] ^= s[1];
  s[1] ^= s[2];
  s[0] ^= s[3];
  s[2] ^= shifted;
  s[3] = (s[3] << 45) | (s[3] >> 19);
  return out;
}

static int draw(uint64_t s[4], ptrdiff_t count) {
  return (int)((next(s) >> 32) * (uint64_t)count >> 32);
}

static int draw_binomial(uint64_t s[4], ptrdiff_t n) {
  const double u = ldexp((double)(next(s) >> 11), -53), p = 1 / (double)n;
  double choose = 1, below = 0;
  for (int c = 0; c < n; c++) {
    below += choose * pow(p, c) * pow(1 - p, (double)n - c);
    if (u < below)
      return c;
    choose *= ((double)n - c) / (c + 1);
  }
  return (int)n;
}

static int beats(const struct slow *slow, const struct bits *a, const struct bits *b) {
  return (!slow->control->isolated || a->first == b->first) &&
         dominates((struct set){a->size, NULL, a->gain, a->price},
             (struct set){b->size, NULL, b->gain, b->price});
}

static void weigh(const struct slow *slow, struct bits *set) {
  int columns[COLUMNS];
  set->size = 0;
  for (int j = 0; j < slow->terms->gram.n; j++)
    if (set->bit[j])
      columns[set->size++] = j;
  set->first = set->size > 0 ? columns[0] : -1;
  set->gain = -INFINITY;
  set->price = price_of(slow->control, columns, set->size);
  if (slow->control->price != NULL && set->price >= slow->control->max_price)
    return;
  if (set->size > 0 && set->size <= slow->control->max_size)
    set->gain = plain_gain(slow->terms, slow->control->lambda, columns, set->size);
}

static void step(struct slow *slow) {
  const ptrdiff_t n = slow->terms->gram.n;
  struct bits child = slow->archive[draw(slow->random, slow->count)];
  unsigned char flipped[COLUMNS] = {0};
  for (int left = draw_binomial(slow->random, n); left > 0;) {
    const int j = draw(slow->random, n);
    if (flipped[j])
      continue;
    flipped[j] = 1;
    child.bit[j] = !child.bit[j];
    left--;
  }
  weigh(slow, &child);
  if (child.gain == -INFINITY)
    return;
  for (int i = 0; i < slow->count; i++)
    if (memcmp(slow->archive[i].bit, child.bit, COLUMNS) == 0 ||
        beats(slow, &slow->archive[i], &child))
      return;
  int kept = 0;
  for (int i = 0; i < slow->count; i++) {
    const struct bits *old = &slow->archive[i];
    const int competes = !slow->control->isolated || old->first == child.first;
    if (!competes || old->gain > child.gain || old->price < child.price)
      slow->archive[kept++] = *old;
  }
  slow->archive[kept] = child;
  slow->count = kept + 1;
}

/* Takes over the generator of an island and its sets, none of which dominates another. */
static void begin(struct slow *slow, const struct run *run, ptrdiff_t island) {
  const uint32_t *bits = (const uint32_t *)run->state.random + 8 * island;
  for (int i = 0; i < 4; i++)
    slow->random[i] = (uint64_t)bits[2 * i] << 32 | bits[2 * i + 1];
  slow->count = run->state.count[island] + 1;
  for (int place = 0; place < slow->count; place++) {
    struct bits *member = &slow->archive[place];
    *member = (struct bits){.size = 0}; /* the first is empty */
    if (place > 0) {
      const struct set set = set_at(run, slow->control, island, place - 1);
      for (int i = 0; i < set.size; i++)
        member->bit[set.columns[i]] = 1;
    }
    weigh(slow, member);
  }
}

static void check_same(const struct slow *slow, const struct run *run, ptrdiff_t island) {
  CHECK(run->state.count[island] == slow->count - 1);
  if (run->state.count[island] != slow->count - 1)
    return;
  for (int place = 0; place + 1 < slow->count; place++) {
    const struct bits *expected = &slow->archive[place + 1]; /* after the empty set */
    const struct set set = set_at(run, slow->control, island, place);
    int same = set.size == expected->size;
    for (int i = 0; same && i < set.size; i++)
      same = expected->bit[set.columns[i]];
    CHECK(same);
    CHECK_NEAR(set.gain, expected->gain, 1e-9);
  }
  const uint32_t *bits = (const uint32_t *)run->state.random + 8 * island;
  for (int i = 0; i < 4; i++)
    CHECK(slow->random[i] == ((uint64_t)bits[2 * i] << 32 | bits[2 * i + 1]));
}

/* The searches of the kernel, from `run` on, are those of the algorithm. */
static void check_search(
    struct run *run, const struct terms *terms, const struct poss_control *control, int threads) {
  struct slow *slow = room((size_t)control->islands * sizeof(struct slow), 0);
  for (int island = 0; island < control->islands; island++) {
    slow[island].terms = terms;
    slow[island].control = control;
    begin(&slow[island], run, island);
    for (double t = 0; t < control->iterations; t++)
      step(&slow[island]);
  }
  go_on(run, terms, control, threads, 0xFF);
  CHECK(run->status == COMPLETE && *run->state.done == control->iterations);
  check_archives(run, terms, control);
  for (int island = 0; island < control->islands; island++)
    check_same(&slow[island], run, island);
  free(slow);
}

/* All sizes, with and without classes and penalty. */
static void search_all_ways(const struct made *made, enum source source, int k, double iterations) {
  struct terms terms = make_terms(made, source);
  const int n = (int)terms.gram.n, kept[] = {0, 1, n};
  for (int isolated = 0; isolated < 2; isolated++)
    for (int i = 0; i < 2; i++) {
      struct poss_control control = control_of(&terms, k, i == 0 ? 0 : 0.7, isolated, iterations);
      control.max_cached = kept[(n + k + i) % 3];
      struct run run = fresh(&control);
      check_search(&run, &terms, &control, 1 + (n + i) % 3);
      discard_run(&run);
    }
  discard_terms(&terms);
}

TEST(poss_searches) {
  for (int n = 3; n <= 12; n++)
    for (int k = 1; k <= 4; k++)
      for (int L = 1; L <= 2; L++) {
        seed(200 + (unsigned long long)(8 * n + 2 * k + L));
        struct made made = make_untied((struct shape){
            .m = 20, .n = n, .L = L, .q = (n + k) % 3, .weights = k % 2, .sparse = n % 2});
        search_all_ways(&made, (enum source)((n + k + L) % SOURCES), k, 500);
        discard(&made);
      }
  for (int source = WHOLE; source < SOURCES; source++) { /* more columns than bits in a word */
    seed(300 + (unsigned long long)source);
    struct made made = make_untied(
        (struct shape){.m = 30, .n = COLUMNS, .L = 1, .q = 1, .weights = 1, .sparse = 1});
    for (int k = 1; k <= 3; k += 2)
      search_all_ways(&made, (enum source)source, k, 1500);
    discard(&made);
  }
}

/* Prices in whole numbers, so that sums of them are exact, of some columns for an assay. */
TEST(poss_prices) {
  double price[COLUMNS];
  int assay[COLUMNS];
  for (int i = 0; i < 48; i++) {
    seed(350 + (unsigned long long)i);
    const int n = i < 40 ? 4 + i % 9 : COLUMNS, assays = i % 3;
    struct made made = make_untied((struct shape){
        .m = 30, .n = n, .L = 1 + i % 2, .q = i % 3, .weights = i % 2, .sparse = i % 5 == 0});
    struct terms terms = make_terms(&made, (enum source)(i % SOURCES));
    for (int j = 0; j < n; j++) {
      assay[j] = assays > 0 && any(0, 1) ? any(0, assays - 1) : -1;
      price[j] = assay[j] >= 0 ? 3 + assay[j] : any(1, 6);
    }
    struct poss_control control = control_of(&terms, 2 + i % 3, i % 2 ? 0 : 0.7, 0, 1500);
    control.price = price;
    control.assay = assay;
    control.max_price = i % 4 == 0 ? INFINITY : 12;
    control.capacity = SETS - 2;
    struct run run = fresh(&control);
    check_search(&run, &terms, &control, 1 + i % 2);
    check_search(&run, &terms, &control, 1); /* goes on */
    control.capacity = 6; /* no room for all: those that are there do not dominate each other */
    struct run narrow = fresh(&control);
    go_on(&narrow, &terms, &control, 2, 0xFF);
    check_archives(&narrow, &terms, &control);
    discard_run(&run);
    discard_run(&narrow);
    discard_terms(&terms);
    discard(&made);
  }
}

/* One column, in the archive at once. */
TEST(poss_single_column) {
  seed(310);
  struct made made = make((struct shape){.m = 8, .n = 4, .L = 2, .q = 1});
  made.pb.n = 1;
  search_all_ways(&made, DENSE, 1, 50);
  search_all_ways(&made, WHOLE, 3, 50);
  struct terms terms = make_terms(&made, DENSE);
  const struct poss_control control = control_of(&terms, 2, 0, 0, 20);
  struct run run = fresh(&control);
  go_on(&run, &terms, &control, 1, 0);
  CHECK(run.state.count[0] == 1 && set_at(&run, &control, 0, 0).size == 1);
  discard_run(&run);
  discard_terms(&terms);
  discard(&made);
}

/* All 256 bits of a generator come in and go out. */
TEST(poss_generators) {
  seed(320);
  struct made made = make_untied((struct shape){.m = 20, .n = 9, .L = 1, .q = 1});
  struct terms terms = make_terms(&made, WHOLE);
  const struct poss_control control = control_of(&terms, 3, 0, 0, 400);
  static const uint32_t words[] = {0x80000000u, 0xFFFFFFFFu, 0x80000001u, 0xFFFFFFFEu};
  for (int first = 0; first < 4; first++) {
    struct run run = fresh(&control);
    uint32_t *bits = (uint32_t *)run.state.random;
    for (int i = 0; i < 16; i++)
      bits[i] = words[(first + i * (i + 1) / 2) % 4];
    check_search(&run, &terms, &control, 2);
    discard_run(&run);
  }
  discard_terms(&terms);
  discard(&made);
}

/* ---- what a result does not depend on ---- */

/* Threads, columns kept, what was in the room, other islands. */
static void check_same_however(const struct terms *terms, const struct poss_control *control) {
  struct run start = fresh(control);
  struct run one = copy_of(&start, control);
  go_on(&one, terms, control, 1, 0);
  const int kept[] = {0, 1, 2, control->max_cached};
  for (int threads = 1; threads <= 3; threads++)
    for (int i = 0; i < 4; i++) {
      struct poss_control other = *control;
      other.max_cached = kept[i];
      struct run run = copy_of(&start, control);
      go_on(&run, terms, &other, threads, 0xFF);
      CHECK(run.status == COMPLETE && same_runs(&one, &run, control, 1));
      discard_run(&run);
    }
  struct poss_control fewer = *control;
  fewer.islands = 1;
  struct run alone = copy_of(&start, &fewer);
  go_on(&alone, terms, &fewer, 2, 0xFF);
  CHECK(same_runs(&one, &alone, &fewer, 1));
  discard_run(&alone);
  discard_run(&one);
  discard_run(&start);
}

/* However the iterations are divided, and however X'X is come by. */
static void check_same_in_parts(
    const struct made *made, const struct terms *terms, const struct poss_control *control) {
  static const double parts[] = {1, 1233, 2000, 4096};
  struct run start = fresh(control);
  struct run at_once = copy_of(&start, control);
  go_on(&at_once, terms, control, 2, 0);
  for (int i = 0; i < 4; i++) {
    struct poss_control some = *control;
    struct run run = copy_of(&start, control);
    some.iterations = parts[i];
    go_on(&run, terms, &some, 1, 0xFF);
    CHECK(*run.state.done == parts[i]);
    some.iterations = control->iterations - parts[i];
    go_on(&run, terms, &some, 2, 0xFF);
    CHECK(*run.state.done == some.iterations && same_runs(&at_once, &run, control, 1));
    discard_run(&run);
  }
  for (int source = WHOLE; source < SOURCES; source++) {
    struct terms other = make_terms(made, (enum source)source);
    struct run run = copy_of(&start, control);
    go_on(&run, &other, control, 1, 0xFF);
    CHECK(same_runs(&at_once, &run, control, 0));
    discard_run(&run);
    discard_terms(&other);
  }
  discard_run(&at_once);
  discard_run(&start);
}

/* ---- interrupts ---- */

/* What is left behind is what a search of so many iterations leaves, and can be taken up. */
static void check_interrupts(const struct terms *terms, const struct poss_control *control) {
  struct run start = fresh(control);
  struct run whole = copy_of(&start, control);
  go_on(&whole, terms, control, 1, 0);
  const int polls = whole.polls;
  CHECK(polls >= 2);
  for (int at = 1; at <= polls; at++) {
    struct run part = copy_of(&start, control), same = copy_of(&start, control);
    part.stop_at = at;
    go_on(&part, terms, control, 2, 0xFF);
    const double done = *part.state.done;
    CHECK(part.status == INTERRUPTED && part.polls == at);
    CHECK(done > 0 && (done < control->iterations) == (at < polls));
    check_archives(&part, terms, control);
    struct poss_control some = *control;
    some.iterations = done;
    go_on(&same, terms, &some, 1, 0);
    CHECK(same.status == COMPLETE && same_runs(&part, &same, control, 1));
    some.iterations = control->iterations - done;
    part.stop_at = 0;
    go_on(&part, terms, &some, 1, 0);
    CHECK(part.status == COMPLETE && same_runs(&part, &whole, control, 1));
    discard_run(&part);
    discard_run(&same);
  }
  discard_run(&whole);
  discard_run(&start);
}

TEST(poss_same) {
  for (int source = WHOLE; source < SOURCES; source++)
    for (int isolated = 0; isolated < 2; isolated++) {
      seed(330 + (unsigned long long)source);
      struct made made = make_untied((struct shape){
          .m = 25, .n = 20, .L = 2, .q = source, .weights = 1, .sparse = source == SPARSE});
      struct terms terms = make_terms(&made, (enum source)source);
      struct poss_control control = control_of(&terms, 4, isolated * 0.5, isolated, 2000);
      control.islands = 5;
      check_same_however(&terms, &control);
      control.islands = 3;
      control.iterations = 9000;
      check_same_in_parts(&made, &terms, &control);
      check_interrupts(&terms, &control);
      discard_terms(&terms);
      discard(&made);
    }
}

/* ---- exchanges ---- */

/* Gain of the set of an exchange with the member at an index (or none, -1) replaced by a column (or
   none, -1), from scratch. */
static double gain_with(
    const struct exchange *x, const struct terms *terms, double lambda, int index, int column) {
  int set[LARGEST], size = 0;
  for (int i = 0; i < x->size; i++)
    if (i != index)
      set[size++] = x->column[i];
  if (column >= 0)
    set[size++] = column;
  return plain_gain(terms, lambda, set, size);
}

static int in_set(const struct exchange *x, int column) {
  for (int i = 0; i < x->size; i++)
    if (x->column[i] == column)
      return 1;
  return 0;
}

/* What an exchange says of its set, against all sets that differ from it by one column. */
static void check_exchange(const struct exchange *x, const struct terms *terms, double lambda) {
  double most = 0, least = INFINITY, loss;
  const double gain = gain_with(x, terms, lambda, -1, -1);
  CHECK_NEAR(x->gain, gain, 1e-9);
  for (int j = 0; j < terms->gram.n; j++)
    if (!in_set(x, j))
      most = fmax(most, gain_with(x, terms, lambda, -1, j) - gain);
  for (int i = 0; i < x->size; i++)
    least = fmin(least, gain - gain_with(x, terms, lambda, i, -1));
  const int added = exchange_best_addition(x), dropped = exchange_best_drop(x, &loss);
  CHECK((added < 0) == (most <= 1e-12 * gain) && (dropped < 0) == (x->size == 0));
  if (added >= 0)
    CHECK_NEAR(gain_with(x, terms, lambda, -1, added) - gain, most, 1e-9);
  if (dropped >= 0) {
    CHECK_NEAR(loss, least, 1e-8);
    CHECK_NEAR(gain - gain_with(x, terms, lambda, dropped, -1), least, 1e-8);
  }
}

static void check_exchanges(const struct terms *terms, double lambda, int most, int cached) {
  struct arena measured = arena_over(NULL);
  exchange_alloc(&terms->gram, lambda, most, &measured);
  gram_cache_alloc(&terms->gram, cached, &measured);
  void *work = room(measured.used, 0xFF);
  struct arena arena = arena_over(work);
  struct exchange x = exchange_alloc(&terms->gram, lambda, most, &arena);
  struct gram_cache cache = gram_cache_alloc(&terms->gram, cached, &arena);
  gram_cache_clear(&terms->gram, &cache);
  x.cache = &cache;
  exchange_clear(&x);
  for (int move = 0; move < 40; move++) {
    check_exchange(&x, terms, lambda);
    if (x.size == most || (x.size > 0 && any(0, 2) == 0)) {
      exchange_drop(&x, any(0, x.size - 1));
    } else {
      const int j = any(0, (int)terms->gram.n - 1), was_in = in_set(&x, j);
      CHECK(exchange_add(&x, j) == !was_in);
    }
  }
  exchange_descend(&x); /* then no swap gains */
  check_exchange(&x, terms, lambda);
  for (int i = 0; i < x.size; i++)
    for (int j = 0; j < terms->gram.n; j++)
      CHECK(in_set(&x, j) || gain_with(&x, terms, lambda, i, j) <= x.gain * (1 + 1e-9));
  free(work);
}

TEST(poss_exchange_moves) {
  for (int i = 0; i < 24; i++) {
    seed(360 + (unsigned long long)i);
    struct made made = make_untied((struct shape){
        .m = 30, .n = 6 + i % 7, .L = 1 + i % 2, .q = i % 3, .weights = i % 2, .sparse = 1});
    struct terms terms = make_terms(&made, (enum source)(i % SOURCES));
    check_exchanges(&terms, i % 4 == 0 ? 0.7 : 0, 1 + i % 5, i % 3);
    discard_terms(&terms);
    discard(&made);
  }
}

/* The gain of the best set of a size. */
static double best_gain_of(
    const struct terms *terms, double lambda, int size, int from, struct exchange *set) {
  double best = 0;
  if (set->size == size)
    return plain_gain(terms, lambda, set->column, size);
  for (int j = from; j < terms->gram.n; j++) {
    set->column[set->size++] = j;
    best = fmax(best, best_gain_of(terms, lambda, size, j + 1, set));
    set->size--;
  }
  return best;
}

/* Exchanges find the best set of every size, the same ones however they are run. */
TEST(poss_exchanges) {
  for (int i = 0; i < 12; i++) {
    seed(380 + (unsigned long long)i);
    struct made made = make_untied((struct shape){
        .m = 30, .n = 9, .L = 1 + i % 2, .q = i % 3, .weights = i % 2, .sparse = i % 2});
    struct terms terms = make_terms(&made, (enum source)(i % SOURCES));
    const double lambda = i % 4 == 0 ? 0.7 : 0;
    struct poss_control control = control_of(&terms, 3, lambda, i % 5 == 0, 80);
    control.exchanged = 1;
    control.max_cached = i % 3 * 4;
    struct run run = fresh(&control);
    go_on(&run, &terms, &control, 1 + i % 2, 0xFF);
    CHECK(run.status == COMPLETE && *run.state.done == control.iterations);
    check_archives(&run, &terms, &control);
    for (int size = 1; size <= 3; size++) {
      int column[LARGEST];
      double found = 0;
      struct exchange set = {.column = column};
      for (ptrdiff_t island = 0; island < control.islands; island++)
        for (ptrdiff_t place = 0; place < run.state.count[island]; place++)
          if (set_at(&run, &control, island, place).size <= size)
            found = fmax(found, set_at(&run, &control, island, place).gain);
      CHECK_NEAR(found, best_gain_of(&terms, lambda, size, 0, &set), 1e-9);
    }
    control.iterations = 12;
    control.islands = 5;
    check_same_however(&terms, &control);
    check_interrupts(&terms, &control);
    discard_run(&run);
    discard_terms(&terms);
    discard(&made);
  }
}

/* ---- columns that add nothing ---- */

/* Columns 1 and 5 are the same: without a penalty one adds nothing to the other. */
TEST(poss_duplicates) {
  for (int source = WHOLE; source < SOURCES; source++)
    for (int isolated = 0; isolated < 2; isolated++) {
      seed(340 + (unsigned long long)source);
      struct made made = make((struct shape){
          .m = 20, .n = 8, .L = 1, .q = 1, .weights = 1, .sparse = source == SPARSE});
      struct terms terms = make_terms(&made, (enum source)source);
      struct poss_control control = control_of(&terms, 3, 0, isolated, 6000);
      control.islands = 6;
      control.exchanged = source == DENSE;
      control.iterations = control.exchanged ? 60 : 6000;
      struct run run = fresh(&control), penalised = copy_of(&run, &control);
      go_on(&run, &terms, &control, 1, 0xFF);
      check_archives(&run, &terms, &control);
      for (ptrdiff_t island = 0; island < control.islands; island++)
        for (ptrdiff_t place = 0; place < run.state.count[island]; place++) {
          const struct set set = set_at(&run, &control, island, place);
          CHECK(!has(set, 1) || !has(set, 5));
        }
      control.lambda = 0.5;
      go_on(&penalised, &terms, &control, 1, 0xFF);
      check_archives(&penalised, &terms, &control);
      discard_run(&penalised);
      discard_run(&run);
      discard_terms(&terms);
      discard(&made);
    }
}

/* Without a penalty the third of three columns adds nothing when one is the sum of the others. */
TEST(poss_sums) {
  for (int source = WHOLE; source < SOURCES; source++)
    for (int i = 0; i < 10; i++) {
      seed(370 + (unsigned long long)i);
      struct made made =
          make((struct shape){.m = 20, .n = 4, .L = 1, .q = 1, .weights = 1, .sparse = 1});
      made.pb.n = 3;
      for (ptrdiff_t r = 0; r < 20; r++)
        made.x[r + i % 3 * 20] = made.x[r + (i + 1) % 3 * 20] + made.x[r + (i + 2) % 3 * 20];
      struct terms terms = make_terms(&made, (enum source)source);
      struct poss_control control = control_of(&terms, 2, 0, i % 2, 300);
      control.exchanged = i % 3 == 0;
      struct run run = fresh(&control);
      go_on(&run, &terms, &control, 1, 0xFF);
      check_archives(&run, &terms, &control);
      for (ptrdiff_t island = 0; island < control.islands; island++)
        for (ptrdiff_t place = 0; place < run.state.count[island]; place++)
          CHECK(set_at(&run, &control, island, place).size <= 2);
      discard_run(&run);
      discard_terms(&terms);
      discard(&made);
    }
}

/* Of two sets that are as good as each other and as large the newcomer is kept. */
TEST(poss_ties) {
  double ones[] = {1, 1, 1, 1};
  const struct terms terms = {
      .gram = {.n = 2, .L = 1, .diagonal = ones, .b = ones, .full = ones}, .C = ones, .b = ones};
  const struct poss_control control = control_of(&terms, 1, 0, 0, 1);
  seed(348);
  struct run run = fresh(&control);
  int changes = 0, before = -1;
  for (int t = 0; t < 200; t++) {
    go_on(&run, &terms, &control, 1, 0xFF);
    check_archives(&run, &terms, &control);
    changes += before >= 0 && run.state.columns[0] != before;
    before = run.state.count[0] > 0 ? run.state.columns[0] : -1;
  }
  CHECK(changes >= 5);
  discard_run(&run);
}

/* A zero column only stands where nothing better can: in the class that it is first of. */
TEST(poss_zero_column) {
  enum { ZERO = 4 };
  for (int source = WHOLE; source < SOURCES; source++)
    for (int isolated = 0; isolated < 2; isolated++) {
      seed(350 + (unsigned long long)source);
      struct made made = make_untied((struct shape){.m = 20, .n = 7, .L = 1, .sparse = 1});
      memset(made.x + ZERO * 20, 0, 20 * sizeof(double));
      struct terms terms = make_terms(&made, (enum source)source);
      for (int i = 0; i < 2; i++) {
        const struct poss_control control = control_of(&terms, 3, i, isolated, 6000);
        struct run run = fresh(&control);
        go_on(&run, &terms, &control, 2, 0xFF);
        check_archives(&run, &terms, &control);
        for (ptrdiff_t island = 0; island < control.islands; island++)
          for (ptrdiff_t place = 0; place < run.state.count[island]; place++) {
            const struct set set = set_at(&run, &control, island, place);
            CHECK(!has(set, ZERO) || (isolated && set.columns[0] == ZERO));
          }
        discard_run(&run);
      }
      discard_terms(&terms);
      discard(&made);
    }
}

/* ---- sets to start from ---- */

static void put(struct run *run, const struct poss_control *control, const int *set, int size) {
  for (ptrdiff_t island = 0; island < control->islands; island++) {
    const ptrdiff_t at = run->state.count[island]++ + control->capacity * island;
    run->state.size[at] = size;
    memcpy(run->state.columns + control->max_size * at, set, (size_t)size * sizeof(int));
  }
}

/* Whether a set of the class is as good and no larger. */
static int is_matched(
    const struct run *run, const struct poss_control *control, ptrdiff_t island, struct set start) {
  for (ptrdiff_t place = 0; place < run->state.count[island]; place++) {
    const struct set set = set_at(run, control, island, place);
    if (set.size <= start.size && set.gain >= start.gain &&
        (!control->isolated || set.columns[0] == start.columns[0]))
      return 1;
  }
  return 0;
}

/* No iterations change nothing, others improve. */
static void check_starts(const struct terms *terms, int isolated) {
  static const int sets[][3] = {{1, 3, 6}, {3}, {1, 3}, {0, 2}, {0}};
  static const int sizes[] = {3, 1, 2, 2, 1};
  const int count = isolated ? 5 : 3;
  struct poss_control control = control_of(terms, 2, 0, isolated, 0);
  struct run run = fresh(&control);
  for (int i = 0; i < count; i++)
    put(&run, &control, sets[i], sizes[i]);
  struct run before = copy_of(&run, &control);
  go_on(&run, terms, &control, 1, 0xFF);
  CHECK(run.status == COMPLETE && *run.state.done == 0 && run.polls == 0);
  CHECK(memcmp(run.state.random, before.state.random, 16 * sizeof(int)) == 0);
  CHECK(run.state.count[0] == count && run.state.count[1] == count);
  for (ptrdiff_t island = 0; island < 2; island++)
    for (int i = 0; i < count; i++)
      CHECK(same_columns(set_at(&run, &control, island, i), (struct set){sizes[i], sets[i], 0}));
  check_archives(&run, terms, &control);
  struct run later = copy_of(&run, &control);
  control.iterations = 3000;
  check_search(&later, terms, &control, 2);
  for (ptrdiff_t island = 0; island < 2; island++)
    for (int i = 0; i < count; i++)
      CHECK(is_matched(&later, &control, island, set_at(&run, &control, island, i)));
  discard_run(&later);
  discard_run(&before);
  discard_run(&run);
}

/* The better of two remains, whichever comes first; a set comes only once. */
static void check_rivals(const struct terms *terms) {
  const struct poss_control control = control_of(terms, 2, 0.1, 0, 0);
  for (int a = 0; a < terms->gram.n; a++)
    for (int b = 0; b < terms->gram.n; b++) {
      struct run run = fresh(&control);
      put(&run, &control, &a, 1);
      put(&run, &control, &b, 1);
      go_on(&run, terms, &control, 1, 0xFF);
      CHECK(run.state.count[0] == 1);
      const int best = plain_gain(terms, 0.1, &a, 1) > plain_gain(terms, 0.1, &b, 1) ? a : b;
      CHECK(run.state.columns[0] == best);
      discard_run(&run);
    }
}

TEST(poss_starts) {
  for (int source = WHOLE; source < SOURCES; source++) {
    seed(360 + (unsigned long long)source);
    struct made made =
        make_untied((struct shape){.m = 20, .n = 8, .L = 1, .q = 1, .weights = 1, .sparse = 1});
    struct terms terms = make_terms(&made, (enum source)source);
    check_starts(&terms, 0);
    check_starts(&terms, 1);
    check_rivals(&terms);
    discard_terms(&terms);
    discard(&made);
  }
}

/* A number as large as they come flips all columns and no more. */
TEST(poss_largest_number) {
  static const uint32_t words[] = {0xFFFFFFFFu, 0xFFF7FFFFu, 0x0018000Cu, 0x00060003u, 0xFFE7FFF3u,
      0xFFF1FFFDu, 0x0018000Cu, 0x000E0003u}; /* the second number of these is 1 - 2^-53 */
  for (int n = 2; n <= 14; n++) {
    seed(380);
    struct made made = make_untied((struct shape){.m = 20, .n = n < 3 ? 3 : n, .L = 1, .q = 1});
    made.pb.n = n;
    struct terms terms = make_terms(&made, WHOLE);
    const struct poss_control control = control_of(&terms, 2, 0, 0, 1);
    struct run run = fresh(&control);
    memcpy(run.state.random, words, sizeof words);
    check_search(&run, &terms, &control, 1);
    discard_run(&run);
    discard_terms(&terms);
    discard(&made);
  }
}

/* Of two equal columns either can be deleted, whichever of them adds nothing to the other. */
TEST(poss_stand_in) {
  double C[] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, ones[] = {1, 1, 1}, b[] = {1, 1, 0.5};
  const struct terms terms = {
      .gram = {.n = 3, .L = 1, .diagonal = ones, .b = b, .full = C}, .C = C, .b = b};
  const struct poss_control control = control_of(&terms, 2, 0, 0, 1);
  static const int both[] = {0, 1}, weak[] = {2};
  seed(390);
  for (int time = 0; time < 100; time++) {
    struct run run = fresh(&control);
    put(&run, &control, weak, 1);
    put(&run, &control, both, 2);
    check_search(&run, &terms, &control, 1);
    discard_run(&run);
  }
}
