/* The pursuit against one that solves the system of the chosen components anew at every step. */
#include "ctest.h"
#include "simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the slow twin ---- */

/* x (k x count) := A^-1 x by elimination, A positive definite; A (k x k) is lost. */
static void eliminate(ptrdiff_t k, double *A, ptrdiff_t count, double *x) {
  for (ptrdiff_t p = 0; p < k; p++)
    for (ptrdiff_t i = 0; i < k; i++) {
      const double f = A[i + p * k] / A[p + p * k];
      if (i == p)
        continue;
      for (ptrdiff_t j = p; j < k; j++)
        A[i + j * k] -= f * A[p + j * k];
      for (ptrdiff_t j = 0; j < count; j++)
        x[i + j * k] -= f * x[p + j * k];
    }
  for (ptrdiff_t j = 0; j < count; j++)
    for (ptrdiff_t i = 0; i < k; i++)
      x[i + j * k] /= A[i + i * k];
}

/* w, c, d and value of the components it has. */
static void solve_anew(struct twin *twin) {
  const struct system *system = twin->system;
  const ptrdiff_t D = system->D, L = system->L, extra = system->extra, k = twin->size;
  const ptrdiff_t rows = D + extra;
  const double *A = twin->A;
  double *M = room((size_t)(k * k) * sizeof(double), 0);
  double *x = room((size_t)(k * (L + D)) * sizeof(double), 0);
  for (ptrdiff_t p = 0; p < k; p++) {
    const int s = twin->chosen[p];
    for (ptrdiff_t j = 0; j < k; j++)
      M[p + j * k] = A[s + twin->chosen[j] * rows];
    for (ptrdiff_t l = 0; l < L; l++)
      x[p + l * k] = system->b[s + l * D];
    for (ptrdiff_t i = 0; i < D; i++)
      x[p + (L + i) * k] = A[s + i * rows];
  }
  eliminate(k, M, L + D, x);
  for (ptrdiff_t l = 0; l < L; l++) {
    double *w = twin->w + l * D;
    memset(w, 0, (size_t)D * sizeof(double));
    for (ptrdiff_t p = 0; p < k; p++)
      w[twin->chosen[p]] = x[p + l * k];
    for (ptrdiff_t i = 0; i < rows; i++) {
      double sum = i < D ? -system->b[i + l * D] : 0;
      for (ptrdiff_t j = 0; j < D; j++)
        sum += A[i + j * rows] * w[j];
      *(i < D ? twin->c + i + l * D : twin->value + i - D + l * extra) = sum;
    }
  }
  for (ptrdiff_t i = 0; i < D; i++) {
    twin->d[i] = A[i + i * rows];
    for (ptrdiff_t p = 0; p < k; p++)
      twin->d[i] -= x[p + (L + i) * k] * A[twin->chosen[p] + i * rows];
  }
  free(M);
  free(x);
}

struct twin twin_begin(const struct system *system, const double *A) {
  const size_t D = (size_t)system->D, L = (size_t)system->L, real = sizeof(double);
  struct twin twin = {.system = system,
      .A = A,
      .chosen = room(D * sizeof(int), 0),
      .w = room(D * L * real, 0),
      .c = room(D * L * real, 0),
      .d = room(D * real, 0),
      .value = room((size_t)system->extra * L * real, 0)};
  solve_anew(&twin);
  return twin;
}

void twin_discard(struct twin *twin) {
  free(twin->chosen);
  free(twin->w);
  free(twin->c);
  free(twin->d);
  free(twin->value);
}

int twin_has(const struct twin *twin, ptrdiff_t i) {
  for (int p = 0; p < twin->size; p++)
    if (twin->chosen[p] == i)
      return 1;
  return 0;
}

static int is_free(const struct twin *twin, ptrdiff_t i) {
  const double whole = twin->A[i + i * (twin->system->D + twin->system->extra)];
  return !twin_has(twin, i) && twin->d[i] > 1e-11 * whole;
}

/* Made of what was computed anew; 0 for one that cannot come or is solved already. */
static double plain_score(const struct twin *twin, enum scdp_score kind, ptrdiff_t i) {
  const struct system *system = twin->system;
  double square = 0;
  for (ptrdiff_t l = 0; l < system->L; l++)
    square += pow(twin->c[i + l * system->D], 2);
  if (!is_free(twin, i) || square < 1e-24)
    return 0;
  const double whole = twin->A[i + i * (system->D + system->extra)];
  return kind == RESIDUAL ? square : kind == NORMALISED ? square / whole : square / twin->d[i];
}

ptrdiff_t twin_choose(const struct twin *twin, const struct scdp_control *control) {
  for (int i = 0; i < control->forced; i++)
    if (is_free(twin, control->first[i]))
      return control->first[i];
  const ptrdiff_t D = twin->system->D;
  double highest = 0;
  ptrdiff_t best = -1;
  if (control->drawn > 0)
    for (int l = 0, seen = 0; l < control->width && seen < control->drawn; l++) {
      const int i = control->candidates[l + twin->size * control->width];
      const double score = plain_score(twin, control->score, i);
      seen += !twin_has(twin, i);
      if (score > highest * (1 + 1e-9)) {
        highest = score;
        best = i;
      }
    }
  for (ptrdiff_t i = 0; i < D && (control->drawn == 0 || highest == 0); i++)
    if (plain_score(twin, control->score, i) > highest * (1 + 1e-9)) {
      if (control->drawn > 0) /* none on the list would do: all are looked at */
        return twin_choose(twin, &(struct scdp_control){.score = control->score});
      highest = plain_score(twin, control->score, i);
      best = i;
    }
  return best;
}

void twin_take(struct twin *twin, ptrdiff_t s) {
  twin->chosen[twin->size++] = (int)s;
  solve_anew(twin);
}

/* ---- systems ---- */

struct source {
  struct system system;
  double *A; /* (D + extra) x D */
  double *b, *diagonal;
  int asked, fail_at; /* columns given, and the one that fails */
};

static int give_column(struct system *system, ptrdiff_t j, double *out) {
  struct source *source = system->self;
  const size_t bytes = (size_t)(system->D + system->extra) * sizeof(double);
  CHECK(j >= 0 && j < system->D);
  if (++source->asked == source->fail_at) {
    memset(out, 0xFF, bytes); /* half done, whatever */
    return 1;
  }
  memcpy(out, source->A + j * (system->D + system->extra), bytes);
  return 0;
}

static struct source empty_source(ptrdiff_t D, ptrdiff_t L, ptrdiff_t extra) {
  struct source source = {.system = {.D = D, .L = L, .extra = extra, .column = give_column},
      .A = room((size_t)((D + extra) * D) * sizeof(double), 0),
      .b = room((size_t)(D * L) * sizeof(double), 0),
      .diagonal = room((size_t)D * sizeof(double), 0)};
  source.system.b = source.b;
  source.system.diagonal = source.diagonal;
  return source;
}

static void take_diagonal(struct source *source) {
  for (ptrdiff_t i = 0; i < source->system.D; i++)
    source->diagonal[i] = source->A[i + i * (source->system.D + source->system.extra)];
}

/* A = X'X + ridge I of `rank` random rows, scaled by component; every third component is once more
   the one before it when `twice`. */
static struct source random_source(
    ptrdiff_t D, ptrdiff_t L, ptrdiff_t extra, ptrdiff_t rank, double ridge, int twice) {
  struct source source = empty_source(D, L, extra);
  const ptrdiff_t rows = D + extra, high = rank + extra;
  double *X = room((size_t)(high * D) * sizeof(double), 0);
  for (ptrdiff_t j = 0; j < D; j++) {
    const double scale = 1.5 + uniform();
    for (ptrdiff_t i = 0; i < high; i++)
      X[i + j * high] = twice && j % 3 == 2 ? X[i + (j - 1) * high] : scale * uniform();
  }
  for (ptrdiff_t j = 0; j < D; j++) {
    for (ptrdiff_t i = 0; i < D; i++)
      for (ptrdiff_t r = 0; r < rank; r++)
        source.A[i + j * rows] += X[r + i * high] * X[r + j * high];
    source.A[j + j * rows] += ridge;
    for (ptrdiff_t e = 0; e < extra; e++)
      source.A[D + e + j * rows] = X[rank + e + j * high];
  }
  for (ptrdiff_t i = 0; i < D * L; i++) /* not in the range when the rank is low */
    source.b[i] = 3 * uniform();
  free(X);
  take_diagonal(&source);
  return source;
}

static void discard_source(struct source *source) {
  free(source->A);
  free(source->b);
  free(source->diagonal);
}

/* ---- one step after the other ---- */

/* Pursuits that have begun and their blocks. */
static struct {
  const double *F;
  void *block;
} begun[4];
enum { MAX_BEGUN = sizeof begun / sizeof *begun };

static struct pursuit begin(struct source *source, const struct scdp_control *control, int byte) {
  int place = 0;
  while (place < MAX_BEGUN - 1 && begun[place].block != NULL)
    place++;
  source->system.self = source;
  source->asked = 0;
  void *block = room(scdp_work(&source->system, control), byte);
  const struct pursuit at = scdp_begin(&source->system, control, block);
  begun[place].F = at.F;
  begun[place].block = block;
  return at;
}

static void end(struct pursuit *at) {
  for (int place = 0; place < MAX_BEGUN; place++)
    if (begun[place].F == at->F) {
      free(begun[place].block);
      begun[place].block = NULL;
      begun[place].F = NULL;
    }
}

/* The largest difference, against the larger of 1 and what it should be. */
static double apart(ptrdiff_t count, const double *values, const double *truth) {
  double worst = 0;
  for (ptrdiff_t i = 0; i < count; i++) {
    const double off = fabs(values[i] - truth[i]) / fmax(1, fabs(truth[i]));
    worst = off <= worst ? worst : off; /* also NAN */
  }
  return worst;
}

/* L and z: A_SS = LL', Lz = b_S, L'w = z; and what lies above the diagonal is nobody's. */
static void check_factor(const struct pursuit *at, const struct twin *twin) {
  const struct system *system = twin->system;
  const ptrdiff_t k = at->k, size = at->size, D = system->D, rows = D + system->extra;
  const size_t bytes = (size_t)(k * k) * sizeof(double);
  double *factor = room(bytes, 0xFF), worst = 0;
  int *chosen = room((size_t)size * sizeof(int), 0);
  pursuit_path(at, system, chosen, factor);
  CHECK(memcmp(chosen, twin->chosen, (size_t)size * sizeof(int)) == 0);
  for (ptrdiff_t i = 0; i < k; i++)
    for (ptrdiff_t j = 0; j < k; j++) {
      if (i >= size || j > i) {
        CHECK(isnan(factor[i + j * k]));
        continue;
      }
      double sum = 0, truth = twin->A[chosen[i] + chosen[j] * rows];
      for (ptrdiff_t p = 0; p <= j; p++)
        sum += factor[i + p * k] * factor[j + p * k];
      worst = fmax(worst, apart(1, &sum, &truth));
    }
  for (ptrdiff_t l = 0; l < system->L; l++)
    for (ptrdiff_t i = 0; i < size; i++) {
      double down = 0, up = 0;
      for (ptrdiff_t j = 0; j <= i; j++)
        down += factor[i + j * k] * at->z[j + l * k];
      for (ptrdiff_t j = i; j < size; j++)
        up += factor[j + i * k] * twin->w[chosen[j] + l * D];
      worst = fmax(worst, apart(1, &down, system->b + chosen[i] + l * D));
      worst = fmax(worst, apart(1, &up, at->z + i + l * k));
    }
  CHECK_NEAR(worst, 0, 1e-8);
  /* row i of F: L^-1 times the entries of A between the chosen and i, nothing after its own */
  worst = 0;
  for (ptrdiff_t i = 0; i < rows; i++)
    for (ptrdiff_t p = 0, own = size; p < size; p++) {
      double sum = 0;
      own = chosen[p] == i ? p : own;
      for (ptrdiff_t j = 0; j <= p; j++)
        sum += factor[p + j * k] * at->F[i + j * rows];
      if (p <= own)
        worst = fmax(worst, apart(1, &sum, twin->A + i + chosen[p] * rows));
      else
        CHECK(at->F[i + p * rows] == 0);
    }
  CHECK_NEAR(worst, 0, 1e-8);
  free(factor);
  free(chosen);
}

static void check_state(const struct pursuit *at, const struct twin *twin) {
  const struct system *system = twin->system;
  const ptrdiff_t D = system->D, L = system->L;
  CHECK(at->size == twin->size);
  CHECK_NEAR(apart(D * L, at->c, twin->c), 0, 1e-8);
  CHECK_NEAR(apart(system->extra * L, at->predicted, twin->value), 0, 1e-8);
  if (system->diagonal != NULL)
    CHECK_NEAR(apart(D, at->d, twin->d), 0, 1e-8);
  double square = 0;
  for (ptrdiff_t i = 0; i < D * L; i++)
    square += twin->c[i] * twin->c[i];
  if (at->size > 0)
    CHECK_NEAR(at->resid_norm[at->size - 1], sqrt(square), 1e-8);
  for (ptrdiff_t i = 0; i < D; i++) {
    CHECK(!twin_has(twin, i) || at->blocked[i]);
    for (ptrdiff_t l = 0; l < L && twin_has(twin, i); l++)
      CHECK(at->c[i + l * D] == 0);
  }
  check_factor(at, twin);
}

/* What two runs of the same pursuit have done, bit by bit, up to `size`. */
static int same_steps(
    const struct pursuit *a, const struct pursuit *b, const struct system *system, int size) {
  const size_t real = sizeof(double), rows = (size_t)(system->D + system->extra);
  int same = memcmp(a->chosen, b->chosen, (size_t)size * sizeof(int)) == 0 &&
             memcmp(a->F, b->F, (size_t)size * rows * real) == 0 &&
             memcmp(a->resid_norm, b->resid_norm, (size_t)size * real) == 0;
  for (ptrdiff_t l = 0; l < system->L; l++)
    same = same && memcmp(a->z + l * a->k, b->z + l * b->k, (size_t)size * real) == 0;
  return same;
}

static int same_state(
    const struct pursuit *a, const struct pursuit *b, const struct system *system) {
  const size_t real = sizeof(double), D = (size_t)system->D, L = (size_t)system->L;
  return a->size == b->size && same_steps(a, b, system, a->size) &&
         memcmp(a->c, b->c, D * L * real) == 0 &&
         memcmp(a->predicted, b->predicted, (size_t)system->extra * L * real) == 0 &&
         (system->diagonal == NULL || memcmp(a->d, b->d, D * real) == 0);
}

static struct host host_with(struct polls *polls) {
  return (struct host){.threads = 1, .stop = poll, .self = polls};
}

/* Step by step against the twin, and then at once. */
static void follow_twin(struct source *source, const struct scdp_control *control) {
  struct system *system = &source->system;
  struct pursuit at = begin(source, control, 0xFF);
  struct twin twin = twin_begin(system, source->A);
  const ptrdiff_t rows = system->D + system->extra;
  int refused = 0, taking = 1;
  while (taking && at.size < control->k) {
    const ptrdiff_t s = scdp_choose(&at, system, control);
    const ptrdiff_t truth = twin_choose(&twin, control);
    taking = s >= 0;
    if (!taking) {
      CHECK(truth < 0);
      break;
    }
    give_column(system, s, at.F + at.size * rows);
    const enum status status = scdp_activate(&at, system, control, s);
    if (status == EARLY_STOP) { /* it depends on the others, and no diagonal had told */
      CHECK(!is_free(&twin, s) && at.blocked[s] && system->diagonal == NULL);
      refused++;
      continue;
    }
    CHECK(status == COMPLETE && s == truth);
    if (s != truth)
      break;
    twin_take(&twin, s);
    check_state(&at, &twin);
  }
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit whole = begin(source, control, 0);
  const enum status status = scdp(&whole, system, control, &host);
  CHECK(status == (at.size == control->k ? COMPLETE : EARLY_STOP));
  CHECK(same_state(&whole, &at, system));
  CHECK(polls.count == at.size + refused + !taking && source->asked == at.size + refused);
  end(&whole);
  end(&at);
  twin_discard(&twin);
}

static void shuffle(int count, int *order) {
  for (int i = 0; i < count; i++)
    order[i] = i;
  for (int i = count - 1; i > 0; i--) {
    const int j = (int)((uniform() + 1) / 2 * (i + 1)), swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

/* ---- the pursuit ---- */

static const struct {
  ptrdiff_t D, L, extra, rank;
  double ridge;
  int twice;
} cases[] = {
    {1, 1, 0, 2, 0.1, 0},
    {1, 3, 2, 2, 0, 0},
    {2, 1, 1, 4, 0, 0},
    {5, 2, 0, 9, 0, 0},
    {9, 1, 3, 5, 0, 0}, /* five components are all there is */
    {10, 3, 7, 20, 0.5, 0},
    {11, 1, 0, 14, 0, 1},
    {12, 2, 4, 6, 0, 1},
    {14, 2, 1, 30, 0.01, 1}, /* the same but for a ridge */
    {30, 1, 2, 40, 0, 0},
};

TEST(scdp_against_twin) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int score = RESIDUAL; score <= OLS; score++)
      for (int way = 0; way < 5; way++) {
        const ptrdiff_t D = cases[i].D;
        seed(3000 + 100 * i + (unsigned long long)(10 * score + way));
        struct source source = random_source(
            D, cases[i].L, cases[i].extra, cases[i].rank, cases[i].ridge, cases[i].twice);
        struct scdp_control control = {
            .k = (int)D + (way == 1), .score = (enum scdp_score)score, .dependent = 1e-12};
        int *first = room((size_t)D * sizeof(int), 0), *lists = NULL;
        shuffle((int)D, first);
        if (way == 1 || way == 3) { /* some or all in a given order */
          control.forced = way == 3 ? (int)D : (int)(D + 1) / 2;
          control.first = first;
        }
        if (way == 2 || way == 4) { /* candidates, of all components or of some */
          control.k = (int)(D + 1) / 2;
          control.drawn = way == 2 ? 3 : 1;
          control.width = (int)(way == 2 ? D : D < 3 ? D : 3);
          lists = room((size_t)(control.width * control.k) * sizeof(int), 0);
          int *order = room((size_t)D * sizeof(int), 0);
          for (int s = 0; s < control.k; s++) {
            shuffle((int)D, order);
            memcpy(lists + s * control.width, order, (size_t)control.width * sizeof(int));
          }
          control.candidates = lists;
          free(order);
        }
        follow_twin(&source, &control);
        source.system.diagonal = NULL;
        if (score == RESIDUAL && (way < 2 || way == 3))
          follow_twin(&source, &control);
        free(first);
        free(lists);
        discard_source(&source);
      }
}

/* Components that are the same: the first of them comes, and no other. */
TEST(scdp_duplicates) {
  for (int known = 0; known < 2; known++) {
    seed(40);
    struct source source = random_source(12, 1, 0, 30, 0, 1);
    for (ptrdiff_t i = 2; i < 12; i += 3)
      source.b[i] = source.b[i - 1];
    const struct scdp_control control = {.k = 12, .dependent = 1e-12};
    if (!known)
      source.system.diagonal = NULL;
    struct polls polls = {0};
    struct host host = host_with(&polls);
    struct pursuit at = begin(&source, &control, 0);
    CHECK(scdp(&at, &source.system, &control, &host) == EARLY_STOP);
    CHECK(at.size == 8); /* 2 5 8 11 are copies */
    for (int s = 0; s < at.size; s++)
      CHECK(at.chosen[s] % 3 != 2);
    end(&at);
    discard_source(&source);
  }
}

/* A list on which nothing would change anything does not end the pursuit. */
TEST(scdp_idle_list) {
  struct source source = empty_source(6, 1, 0);
  for (ptrdiff_t i = 0; i < 6; i++)
    source.A[i + i * 6] = 2;
  source.b[1] = 1;
  source.b[4] = -3;
  take_diagonal(&source);
  const int lists[] = {
      0, 2, 3, 0, 2, 4, 5, 1, 3}; /* the last step's: all solved but nothing on it */
  const struct scdp_control control = {
      .k = 3, .dependent = 1e-12, .drawn = 2, .width = 3, .candidates = lists};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit at = begin(&source, &control, 0xFF);
  CHECK(scdp(&at, &source.system, &control, &host) == EARLY_STOP);
  CHECK(at.size == 2 && at.chosen[0] == 4 && at.chosen[1] == 1 && at.resid_norm[1] == 0);
  end(&at);
  discard_source(&source);
}

/* Only as many candidates are looked at as were asked for, those that have come not counted. */
TEST(scdp_drawn) {
  struct source source = empty_source(5, 1, 0);
  for (ptrdiff_t i = 0; i < 5; i++) {
    source.A[i + i * 5] = 1;
    source.b[i] = (double)i + 1;
  }
  take_diagonal(&source);
  const int lists[] = {1, 0, 4, 3, 2, 1, 0, 2, 4, 3};
  const struct scdp_control control = {
      .k = 2, .dependent = 1e-12, .drawn = 2, .width = 5, .candidates = lists};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit at = begin(&source, &control, 0xFF);
  CHECK(scdp(&at, &source.system, &control, &host) == COMPLETE);
  CHECK(at.chosen[0] == 1 && at.chosen[1] == 2);
  end(&at);
  discard_source(&source);
}

/* However components are scaled, one that is solved does not end the pursuit for the others. */
TEST(scdp_scales) {
  for (int score = RESIDUAL; score <= OLS; score++) {
    struct source source = empty_source(3, 1, 0);
    const double own[] = {1, 1e-40, 1e40}, b[] = {1, 1e-17, 1e10};
    for (ptrdiff_t i = 0; i < 3; i++) {
      source.A[i + i * 3] = own[i];
      source.b[i] = b[i];
    }
    take_diagonal(&source);
    const struct scdp_control control = {
        .k = 3, .score = (enum scdp_score)score, .dependent = 1e-12};
    struct polls polls = {0};
    struct host host = host_with(&polls);
    struct pursuit at = begin(&source, &control, 0xFF);
    CHECK(scdp(&at, &source.system, &control, &host) == EARLY_STOP);
    CHECK(at.size == 2 && at.chosen[0] == (score == RESIDUAL ? 2 : 0));
    end(&at);
    discard_source(&source);
  }
}

/* A pivot is what the diagonal says, which may know better than the column. */
TEST(scdp_diagonal) {
  struct source source = empty_source(2, 1, 0);
  source.A[0] = source.A[3] = 5;
  source.A[1] = source.A[2] = 2;
  source.diagonal[0] = source.diagonal[1] = 4;
  source.b[0] = 3;
  source.b[1] = 1;
  const struct scdp_control control = {.k = 2, .dependent = 1e-12};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit at = begin(&source, &control, 0xFF);
  CHECK(scdp(&at, &source.system, &control, &host) == COMPLETE);
  int chosen[2];
  double factor[4];
  pursuit_path(&at, &source.system, chosen, factor);
  CHECK(chosen[0] == 0 && factor[0] == 2 && factor[1] == 1);
  CHECK_NEAR(factor[3], sqrt(3), 1e-15);
  end(&at);
  discard_source(&source);
}

/* Scores that differ by rounding are a tie, and the first component wins it. */
TEST(scdp_ties) {
  struct source source = empty_source(4, 1, 0);
  const double b[] = {0.5, 1, 1 + 1e-13, 1 + 1e-10};
  for (ptrdiff_t i = 0; i < 4; i++) {
    source.A[i + i * 4] = 1;
    source.b[i] = b[i];
  }
  take_diagonal(&source);
  const struct scdp_control control = {.k = 4, .dependent = 1e-12};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit at = begin(&source, &control, 0xFF);
  CHECK(scdp(&at, &source.system, &control, &host) == COMPLETE);
  const int truth[] = {3, 1, 2, 0};
  CHECK(memcmp(at.chosen, truth, sizeof truth) == 0);
  end(&at);
  discard_source(&source);
}

/* ---- systems that are not positive semidefinite ---- */

TEST(scdp_indefinite) {
  for (int known = 0; known < 2; known++) {
    struct source source = empty_source(2, 1, 0);
    const double A[] = {1, 2, 2, 1};
    memcpy(source.A, A, sizeof A);
    source.b[0] = 2;
    source.b[1] = 1;
    take_diagonal(&source);
    if (!known)
      source.system.diagonal = NULL;
    const struct scdp_control control = {.k = 2, .dependent = 1e-12};
    struct polls polls = {0};
    struct host host = host_with(&polls);
    struct pursuit at = begin(&source, &control, 0xFF);
    CHECK(scdp(&at, &source.system, &control, &host) == NOT_POSITIVE);
    CHECK(at.size == 1 && at.chosen[0] == 0 && at.worst == 1);
    CHECK_NEAR(at.pivot, -3, 1e-14);
    CHECK(polls.count == (known ? 1 : 2)); /* the diagonal tells at once */
    end(&at);
    discard_source(&source);
  }
  struct source source = empty_source(1, 1, 0); /* negative from the start */
  source.A[0] = -1;
  source.b[0] = 1;
  source.system.diagonal = NULL;
  const struct scdp_control control = {.k = 1, .dependent = 1e-12};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit at = begin(&source, &control, 0xFF);
  CHECK(scdp(&at, &source.system, &control, &host) == NOT_POSITIVE);
  CHECK(at.size == 0 && at.worst == 0 && at.pivot == -1);
  end(&at);
  discard_source(&source);
}

/* How far below 0 a pivot may be told from rounding: what the smallest pivot before it magnifies.
 */
TEST(scdp_small_pivots) {
  static const double second[] = {1, 1e-10, 1e-10}, third[] = {-1e-5, -1e-5, -1e-3};
  static const int first[] = {0, 1};
  for (int known = 0; known < 2; known++)
    for (int i = 0; i < 3; i++) {
      const double p = second[i];
      const double A[] = {1, 1, 0, 1, 1 + p, sqrt(p), 0, sqrt(p), 1 + third[i]};
      struct source source = empty_source(3, 1, 0);
      memcpy(source.A, A, sizeof A);
      source.b[2] = 1;
      take_diagonal(&source);
      if (!known)
        source.system.diagonal = NULL;
      const struct scdp_control control = {.k = 3, .dependent = 1e-12, .forced = 2, .first = first};
      struct polls polls = {0};
      struct host host = host_with(&polls);
      struct pursuit at = begin(&source, &control, 0xFF);
      const enum status status = scdp(&at, &source.system, &control, &host);
      CHECK(status == (i == 1 ? EARLY_STOP : NOT_POSITIVE));
      CHECK(at.size == 2 && (i == 1 || at.worst == 2));
      end(&at);
      discard_source(&source);
    }
}

/* A random system with a negative direction is found out where the twin's d first goes below 0; one
   that is negative by rounding alone is not. */
TEST(scdp_random_indefinite) {
  for (unsigned long long trial = 0; trial < 20; trial++) {
    seed(60 + trial);
    struct source source = random_source(8, 1, 2, 12, 0, 0);
    double v[8];
    const double depth = trial < 10 ? 3 : 1e-13;
    for (int i = 0; i < 8; i++)
      v[i] = uniform();
    for (int i = 0; i < 8; i++)
      for (int j = 0; j < 8; j++)
        source.A[i + j * 10] -= depth * v[i] * v[j];
    take_diagonal(&source);
    const struct scdp_control control = {.k = 8, .score = OLS, .dependent = 1e-12};
    struct polls polls = {0};
    struct host host = host_with(&polls);
    struct pursuit at = begin(&source, &control, 0xFF);
    const enum status status = scdp(&at, &source.system, &control, &host);
    struct twin twin = twin_begin(&source.system, source.A);
    ptrdiff_t worst = -1;
    for (int s = 0; s < at.size; s++) {
      CHECK(worst < 0);
      twin_take(&twin, at.chosen[s]);
      for (ptrdiff_t i = 7; i >= 0; i--)
        if (!twin_has(&twin, i) && twin.d[i] < -1e-8 * fabs(source.diagonal[i]))
          worst = i;
    }
    CHECK((status == NOT_POSITIVE) == (worst >= 0));
    if (status == NOT_POSITIVE) {
      CHECK(at.worst == worst);
      CHECK_NEAR(at.pivot, twin.d[worst], 1e-9);
    }
    CHECK(trial < 10 || status == COMPLETE);
    twin_discard(&twin);
    end(&at);
    discard_source(&source);
  }
}

/* ---- interruptions ---- */

TEST(scdp_stops) {
  seed(70);
  struct source source = random_source(9, 2, 3, 15, 0.1, 0);
  struct system *system = &source.system;
  const struct scdp_control control = {.k = 7, .score = OLS, .dependent = 1e-12};
  struct polls polls = {0};
  struct host host = host_with(&polls);
  struct pursuit whole = begin(&source, &control, 0xFF);
  CHECK(scdp(&whole, system, &control, &host) == COMPLETE && polls.count == 7);
  for (int at = 1; at <= 7; at++) {
    polls = (struct polls){.stop_at = at};
    struct pursuit stopped = begin(&source, &control, 0xFF);
    CHECK(scdp(&stopped, system, &control, &host) == INTERRUPTED);
    CHECK(stopped.size == at - 1 && source.asked == at - 1 && polls.count == at);
    CHECK(same_steps(&stopped, &whole, system, at - 1));
    /* a column that is not to be had leaves the same */
    polls = (struct polls){0};
    struct pursuit failed = begin(&source, &control, 0xFF);
    source.fail_at = at;
    CHECK(scdp(&failed, system, &control, &host) == INTERRUPTED);
    CHECK(source.asked == at && same_state(&failed, &stopped, system));
    /* and both go on from there */
    source.fail_at = 0;
    CHECK(scdp(&failed, system, &control, &host) == COMPLETE);
    polls = (struct polls){0};
    CHECK(scdp(&stopped, system, &control, &host) == COMPLETE);
    CHECK(same_state(&failed, &whole, system) && same_state(&stopped, &whole, system));
    end(&stopped);
    end(&failed);
  }
  end(&whole);
  discard_source(&source);
}

/* ---- numbers ---- */

/* X_ij = ((i j) mod 7) / 7 + [i = j], y_i = (i^2 mod 5) - 1.5, A = X'X + 0.01 I; the rows below are
   those of X, so that they give the fit. */
TEST(scdp_numbers) {
  static const int orders[][5] = {{2, 1, 3, 4, 5}, {3, 1, 2, 4, 5}, {3, 1, 4, 5, 2}};
  static const double w[][5] = {{0, 1.36166392339, 0, 0, 0},
      {-1.58762196163, 2.2089657833, 0, 0, 0}, {-2.2620816232, 0.780436281367, 2.24108164769, 0, 0},
      {-1.91282834452, 0.500251612132, 2.71420956021, -0.574710530174, 0},
      {-2.10197903911, -1.91460184953, 6.45170510212, -4.57552170073, 2.80068624102}};
  static const double rss[] = {
      20.3950454262, 15.2786994823, 11.0538432761, 10.8033318665, 8.2982765675};
  struct source source = empty_source(5, 1, 8);
  double y[8];
  for (int i = 0; i < 8; i++) {
    y[i] = (i + 1) * (i + 1) % 5 - 1.5;
    for (int j = 0; j < 5; j++)
      source.A[5 + i + j * 13] = (i + 1) * (j + 1) % 7 / 7.0 + (i == j);
  }
  for (int j = 0; j < 5; j++)
    for (int r = 0; r < 8; r++) {
      source.b[j] += source.A[5 + r + j * 13] * y[r];
      for (int i = 0; i < 5; i++)
        source.A[i + j * 13] +=
            source.A[5 + r + i * 13] * source.A[5 + r + j * 13] + (i == j) * 0.01 / 8;
    }
  take_diagonal(&source);
  for (int score = RESIDUAL; score <= OLS; score++)
    for (int k = 1; k <= 5; k++) {
      const struct scdp_control control = {
          .k = k, .score = (enum scdp_score)score, .dependent = 1e-12};
      struct polls polls = {0};
      struct host host = host_with(&polls);
      struct pursuit at = begin(&source, &control, 0xFF);
      CHECK(scdp(&at, &source.system, &control, &host) == COMPLETE);
      double factor[25], beta[5] = {0}, square = 0;
      int chosen[5];
      pursuit_path(&at, &source.system, chosen, factor);
      for (int i = k - 1; i >= 0; i--) {
        CHECK(chosen[i] + 1 == orders[score][i]);
        double sum = at.z[i];
        for (int j = i + 1; j < k; j++)
          sum -= factor[j + i * k] * beta[chosen[j]];
        beta[chosen[i]] = sum / factor[i + i * k];
      }
      for (int r = 0; r < 8; r++)
        square += (y[r] - at.predicted[r]) * (y[r] - at.predicted[r]);
      if (score == RESIDUAL || k == 5) {
        CHECK_NEAR(square, rss[k - 1], 1e-9);
        for (int j = 0; j < 5; j++)
          CHECK_NEAR(beta[j], w[k - 1][j], 1e-9);
      }
      end(&at);
    }
  discard_source(&source);
}

/* ---- simd ---- */

/* Columns ld apart, with something between them that is not to be touched or read. */
static void check_simd(ptrdiff_t m, ptrdiff_t k, ptrdiff_t ld) {
  const size_t real = sizeof(double), length = (size_t)(k > 0 ? ld * (k - 1) + m : 0);
  double *C = room(length * real, 0xFF), *f = room((size_t)k * real, 0);
  double *x = room((size_t)m * real, 0), *truth = room((size_t)m * real, 0);
  double *dots = room((size_t)k * real, 0xFF), worst = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    x[j] = truth[j] = uniform();
  for (ptrdiff_t i = 0; i < k; i++) {
    double dot = 0;
    f[i] = uniform();
    for (ptrdiff_t j = 0; j < m; j++) {
      C[j + i * ld] = uniform();
      truth[j] -= f[i] * C[j + i * ld];
    }
    for (ptrdiff_t j = 0; j < m; j++)
      dot += C[j + i * ld] * x[j];
    simd->dots(m, x, k, C, ld, dots); /* with NAN in the columns to come */
    worst = fmax(worst, apart(1, dots + i, &dot));
  }
  simd->shift_all(m, x, k, C, ld, f);
  CHECK_NEAR(fmax(worst, apart(m, x, truth)), 0, 1e-12);
  free(C);
  free(f);
  free(x);
  free(truth);
  free(dots);
}

TEST(scdp_simd) {
  seed(90);
  for (ptrdiff_t m = 0; m < 34; m++)
    for (ptrdiff_t k = 0; k < 14; k++)
      for (ptrdiff_t ld = m; ld < m + 3; ld++)
        check_simd(m, k, ld);
  for (ptrdiff_t m = 1020; m < 1030; m++) /* rows go by in blocks */
    for (ptrdiff_t k = 3; k < 10; k++)
      check_simd(m, k, m + 1);
  check_simd(2500, 6, 2500);
}
