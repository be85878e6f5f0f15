/* Proofs of best subsets: the dual bound and the tree against all sets of small problems. */
#include "ctest.h"
#include "blas.h"
#include "subset-tree.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 16, MAX_L = 3, MAX_M = 40 };

/* A problem in working coordinates, its terms, and where its units begin. */
struct proof_case {
  int m, n, L, units, k;
  double X[MAX_M * MAX_N], Y[MAX_M * MAX_L], h[MAX_M];
  double C[MAX_N * MAX_N], b[MAX_N * MAX_L], diagonal[MAX_N], total;
  int unit[MAX_N + 1];
};

static void project_mean(int m, double *v) {
  double mean = 0;
  for (int i = 0; i < m; i++)
    mean += v[i] / m;
  for (int i = 0; i < m; i++)
    v[i] -= mean;
}

/* The terms of X and Y, each column a unit. */
static void find_terms(struct proof_case *of) {
  const int m = of->m, n = of->n, L = of->L;
  for (int j = 0; j < n; j++)
    project_mean(m, of->X + j * m);
  for (int l = 0; l < L; l++)
    project_mean(m, of->Y + l * m);
  for (int i = 0; i < m; i++)
    of->h[i] = 1.0 / m;
  of->total = 0;
  for (int i = 0; i < m * L; i++)
    of->total += of->Y[i] * of->Y[i];
  for (int j = 0; j < n; j++) {
    for (int p = 0; p < n; p++) {
      of->C[p + j * n] = 0;
      for (int i = 0; i < m; i++)
        of->C[p + j * n] += of->X[i + p * m] * of->X[i + j * m];
    }
    for (int l = 0; l < L; l++) {
      of->b[j + l * n] = 0;
      for (int i = 0; i < m; i++)
        of->b[j + l * n] += of->X[i + j * m] * of->Y[i + l * m];
    }
    of->diagonal[j] = of->C[j + j * n];
  }
  of->units = n;
  for (int j = 0; j <= n; j++)
    of->unit[j] = j;
}

/* The problem of the page of formulas: 12 rows, 8 columns, an intercept and lambda = 1. */
static struct proof_case unit_case(void) {
  struct proof_case of = {.m = 12, .n = 8, .L = 1};
  for (int i = 0; i < 12; i++) {
    const int r = i + 1;
    const double row[8] = {sin(r), cos(2 * r), (r % 5) / 5.0, sin(3 * r), cos(r), (r * r % 7) / 7.0,
        sin(r / 2.0), 3 * (r % 4) / 4.0};
    for (int j = 0; j < 8; j++)
      of.X[i + j * 12] = row[j];
    of.Y[i] = (7 * r % 11) / 3.0;
  }
  find_terms(&of);
  return of;
}

static struct proof_terms terms_of(const struct proof_case *of) {
  struct proof_terms terms = {
      .units = of->units, .unit = of->unit, .total = of->total, .max_cached = 1};
  terms.gram = (struct gram){.n = of->n, .L = of->L, .m = of->m};
  terms.gram.diagonal = of->diagonal;
  terms.gram.b = of->b;
  terms.gram.full = of->C;
  terms.gram.X = of->X;
  return terms;
}

static int never(struct host *host, double done, double total) {
  (void)host;
  CHECK(done >= 0 && done <= total);
  return 0;
}

struct relaxed {
  enum status status;
  int steps;
  double share[MAX_N], gain[MAX_N], beta[MAX_N * MAX_L], value, bound;
};

static struct relaxed relax_terms(
    const struct proof_terms *terms, int k, const double *share, double tolerance, int max_steps) {
  const struct dual_control control = {
      .k = k, .share = share, .tolerance = tolerance, .max_steps = max_steps};
  struct relaxed out;
  struct dual_result result = {.share = out.share, .gain = out.gain, .beta = out.beta};
  struct host host = {.threads = 1, .stop = never};
  void *work = room(subset_dual_work(terms, &control), 0xFF);
  out.status = subset_dual(terms, &control, &host, work, &result);
  free(work);
  out.steps = result.steps;
  out.value = result.value;
  out.bound = result.bound;
  return out;
}

static struct relaxed relax(const struct proof_case *of, int k) {
  const struct proof_terms terms = terms_of(of);
  return relax_terms(&terms, k, NULL, 1e-12 * of->total, 200);
}

TEST(proof_dual_unit_numbers) {
  const struct proof_case of = unit_case();
  CHECK_NEAR(of.total, 12.6296296296, 1e-10);
  const double best[] = {3.8963931872, 3.0400834572, 2.8202499077, 2.7182909223};
  for (int k = 1; k <= 4; k++) {
    const struct relaxed found = relax(&of, k);
    CHECK(found.status == COMPLETE);
    CHECK_NEAR(found.value, best[k - 1], 1e-9);
    CHECK_NEAR(found.bound, best[k - 1], 1e-9);
    CHECK(found.steps < 15);
  }
  const struct relaxed one = relax(&of, 1), three = relax(&of, 3);
  CHECK_NEAR(one.share[1], .8271797267, 1e-6);
  CHECK_NEAR(one.share[6], .1728202733, 1e-6);
  const double share[] = {.3844309543, 1, 0, .1628349890, .1230110243, 0, .9764194697, .3533035628};
  for (int j = 0; j < 8; j++)
    CHECK_NEAR(three.share[j], share[j], 1e-5);
}

/* The bound of any residual A, by its plain formula. */
static double bound_at(const struct proof_case *of, const double *A, int k) {
  double gain[MAX_N], bound = 0;
  for (int i = 0; i < of->m * of->L; i++)
    bound += 2 * A[i] * of->Y[i] - A[i] * A[i];
  for (int g = 0; g < of->units; g++) {
    gain[g] = 0;
    for (int j = of->unit[g]; j < of->unit[g + 1]; j++)
      for (int l = 0; l < of->L; l++) {
        double dot = 0;
        for (int i = 0; i < of->m; i++)
          dot += of->X[i + j * of->m] * A[i + l * of->m];
        gain[g] += dot * dot;
      }
  }
  for (int s = 0; s < k; s++) {
    int most = 0;
    for (int g = 1; g < of->units; g++)
      most = gain[g] > gain[most] ? g : most;
    bound -= gain[most];
    gain[most] = -1;
  }
  return bound;
}

/* The bound is the plain formula at the residual that the coefficients leave. */
static void check_residual(const struct proof_case *of, const struct relaxed *found, int k) {
  double A[MAX_M * MAX_L];
  memcpy(A, of->Y, sizeof(double) * (size_t)(of->m * of->L));
  for (int l = 0; l < of->L; l++)
    for (int j = 0; j < of->n; j++)
      for (int i = 0; i < of->m; i++)
        A[i + l * of->m] -= of->X[i + j * of->m] * found->beta[j + l * of->n];
  CHECK_NEAR(found->bound / of->total, bound_at(of, A, k) / of->total, 1e-12);
}

TEST(proof_any_residual_gives_a_bound) {
  const struct proof_case of = unit_case();
  const double expected[] = {-4.4295944700, -6.1960327922, -6.5064489261, -6.7968501606};
  double A[MAX_M];
  for (int i = 0; i < 12; i++)
    A[i] = of.Y[i] / 2;
  for (int k = 1; k <= 4; k++) {
    CHECK_NEAR(bound_at(&of, A, k), expected[k - 1], 1e-9);
    for (int steps = 0; steps < 4; steps++) {
      const struct proof_terms terms = terms_of(&of);
      const struct relaxed found = relax_terms(&terms, k, NULL, 0, steps);
      check_residual(&of, &found, k);
      CHECK(found.bound <= found.value * (1 + 1e-14));
    }
  }
}

/* ---- problems at random ---- */

/* Columns that have much or little in common, some of them copies or nearly copies of others, and a
   response that depends on three of them. The penalty is m times 10^-2 to 10^1.3. */
static struct proof_case random_case(int most_units, int width, int L) {
  struct proof_case of = {.m = any(8, 24), .L = L};
  const int units = any(1, most_units);
  int unit[MAX_N + 1] = {0};
  for (int g = 0; g < units; g++)
    unit[g + 1] = unit[g] + any(1, width);
  of.n = unit[units];
  const double shared = any(0, 2) * .8, noise = .1 + any(0, 2);
  for (int i = 0; i < of.m; i++) {
    const double common = shared * uniform();
    for (int j = 0; j < of.n; j++)
      of.X[i + j * of.m] = uniform() + common;
  }
  const int kind = any(0, 3); /* 1: a copy, 2: nearly a copy */
  for (int i = 0; i < of.m && of.n > 2 && kind > 0 && kind < 3; i++)
    of.X[i + (of.n - 1) * of.m] = of.X[i] + (kind == 2) * 1e-9 * uniform();
  for (int l = 0; l < L; l++)
    for (int i = 0; i < of.m; i++) {
      of.Y[i + l * of.m] = noise * uniform();
      for (int j = 0; j < 3 && j < of.n; j++)
        of.Y[i + l * of.m] += of.X[i + j * of.m] * (1 + (j + l) % 2);
    }
  const double root = sqrt(of.m * pow(10, -.35 + 1.65 * uniform()));
  for (int i = 0; i < of.m * of.n; i++)
    of.X[i] /= root;
  find_terms(&of);
  of.units = units;
  memcpy(of.unit, unit, sizeof unit);
  of.k = any(1, units < 4 ? units : 4);
  return of;
}

/* The coefficients (columns x L) of the columns listed with A = C + shift on the diagonal, by
   elimination. */
static void solve_plainly(const struct proof_case *of, double shift, int count, const int *column,
    double *A, double *beta) {
  const int n = of->n;
  for (int j = 0; j < count; j++) {
    for (int i = 0; i < count; i++)
      A[i + j * count] = of->C[column[i] + column[j] * n] + (i == j) * shift;
    for (int l = 0; l < of->L; l++)
      beta[j + l * count] = of->b[column[j] + l * n];
  }
  for (int j = 0; j < count; j++)
    for (int i = 0; i < count; i++) {
      const double f = A[i + j * count] / A[j + j * count];
      if (i == j)
        continue;
      for (int p = j; p < count; p++)
        A[i + p * count] -= f * A[j + p * count];
      for (int l = 0; l < of->L; l++)
        beta[i + l * count] -= f * beta[j + l * count];
    }
  for (int j = 0; j < count; j++)
    for (int l = 0; l < of->L; l++)
      beta[j + l * count] /= A[j + j * count];
}

static int columns_of_mask(const struct proof_case *of, unsigned mask, int *column) {
  int count = 0;
  for (int g = 0; g < of->units; g++)
    for (int j = of->unit[g]; mask >> g & 1 && j < of->unit[g + 1]; j++)
      column[count++] = j;
  return count;
}

static double penalised(const struct proof_case *of, double shift, unsigned mask) {
  int column[MAX_N];
  double A[MAX_N * MAX_N], beta[MAX_N * MAX_L], value = of->total;
  const int count = columns_of_mask(of, mask, column);
  solve_plainly(of, shift, count, column, A, beta);
  for (int j = 0; j < count; j++)
    for (int l = 0; l < of->L; l++)
      value -= beta[j + l * count] * of->b[column[j] + l * of->n];
  return value;
}

/* Trains without each row, an intercept in the model, and predicts it. */
static double held_out(const struct proof_case *of, unsigned mask) {
  static struct proof_case without;
  double sum = 0;
  for (int out = 0; out < of->m; out++) {
    int column[MAX_N];
    double A[MAX_N * MAX_N], beta[MAX_N * MAX_L], mean[MAX_N + MAX_L] = {0};
    const int count = columns_of_mask(of, mask, column), m = of->m - 1;
    without = (struct proof_case){.m = m, .n = of->n, .L = of->L};
    for (int i = 0, row = 0; i < of->m; i++) {
      if (i == out)
        continue;
      for (int j = 0; j < of->n; j++)
        mean[j] += (without.X[row + j * m] = of->X[i + j * of->m]) / m;
      for (int l = 0; l < of->L; l++)
        mean[MAX_N + l] += (without.Y[row + l * m] = of->Y[i + l * of->m]) / m;
      row++;
    }
    find_terms(&without);
    solve_plainly(&without, 1, count, column, A, beta);
    for (int l = 0; l < of->L; l++) {
      double r = of->Y[out + l * of->m] - mean[MAX_N + l];
      for (int j = 0; j < count; j++)
        r -= (of->X[out + column[j] * of->m] - mean[column[j]]) * beta[j + l * count];
      sum += r * r;
    }
  }
  return sum;
}

static int bits_of(unsigned mask) {
  int count = 0;
  for (; mask > 0; mask &= mask - 1)
    count++;
  return count;
}

static unsigned mask_of(int count, const int *unit) {
  unsigned mask = 0;
  for (int i = 0; i < count; i++)
    mask |= 1u << unit[i];
  return mask;
}

enum { MAX_SETS = 1 << 12 };

/* All sets of k units that have the given ones, and their values. */
struct all_sets {
  int count, best;
  unsigned mask[MAX_SETS];
  double value[MAX_SETS];
};

static struct all_sets sets;

static void find_all(const struct proof_case *of, int k, unsigned given, double shift, int held) {
  sets.count = sets.best = 0;
  for (unsigned mask = 0; mask < 1u << of->units; mask++) {
    if (bits_of(mask) != k || (mask & given) != given)
      continue;
    sets.mask[sets.count] = mask;
    sets.value[sets.count] = held ? held_out(of, mask) : penalised(of, shift, mask);
    if (sets.value[sets.count] < sets.value[sets.best])
      sets.best = sets.count;
    sets.count++;
  }
}

static double value_of_mask(unsigned mask) {
  for (int i = 0; i < sets.count; i++)
    if (sets.mask[i] == mask)
      return sets.value[i];
  return INFINITY;
}

/* ---- the tree ---- */

enum { KEPT = 300 };

struct found {
  enum status status;
  struct tree_result result;
  int set[MAX_N], sets[KEPT * MAX_N];
  double values[KEPT], trace[3 * TREE_TRACE];
};

static struct found found; /* of the last search */

static void search(
    const struct proof_terms *terms, struct tree_control control, struct host *host) {
  found.result = (struct tree_result){
      .set = found.set, .sets = found.sets, .values = found.values, .trace = found.trace};
  if (control.capacity == 0)
    control.capacity = any(1, 30);
  if (control.nodes == 0)
    control.nodes = 1e6;
  void *work = room(subset_tree_work(terms, &control), 0xFF);
  found.status = subset_tree(terms, &control, host, work, &found.result);
  free(work);
}

static void search_case(const struct proof_case *of, struct tree_control control) {
  const struct proof_terms terms = terms_of(of);
  struct host host = {.threads = 1, .stop = never};
  search(&terms, control, &host);
}

static void check_trace(void) {
  const double *row = found.trace;
  for (int i = 1; i < found.result.traced; i++, row += 3)
    CHECK(row[3] >= row[0] && row[4] >= row[1] && row[5] <= row[2]);
}

/* The search found the best of all sets, and says so. */
static void check_least(double scale) {
  const double best = sets.value[sets.best];
  CHECK(found.status == COMPLETE && found.result.open == 0);
  CHECK(found.result.bound == found.result.value);
  CHECK(found.result.margin <= 1e-9 * scale);
  CHECK(fabs(found.result.value - best) <= 1e-10 * scale);
  const double told = value_of_mask(mask_of(found.result.size, found.set));
  CHECK(fabs(told - found.result.value) <= 1e-10 * scale);
  check_trace();
}

TEST(proof_tree_unit_numbers) {
  const struct proof_case of = unit_case();
  const double best[] = {4.2675855662, 3.2282009799, 2.9939029353, 2.8187607832};
  const int set[][4] = {{1}, {1, 6}, {0, 1, 6}, {0, 1, 6, 7}};
  for (int k = 1; k <= 4; k++) {
    search_case(&of, (struct tree_control){.k = k, .cutoff = INFINITY});
    find_all(&of, k, 0, 1, 0);
    check_least(of.total);
    CHECK_NEAR(found.result.value, best[k - 1], 1e-9);
    CHECK(memcmp(found.set, set[k - 1], (size_t)k * sizeof(int)) == 0);
  }
  const double within[] = {.01, .05, .1};
  const double counts[] = {2, 6, 8};
  for (int i = 0; i < 3; i++) {
    const double cutoff = best[2] + within[i] * (of.total - best[2]);
    search_case(
        &of, (struct tree_control){.task = ALL_WITHIN, .k = 3, .cutoff = cutoff, .kept = KEPT});
    CHECK(found.result.count == counts[i] && found.result.listed == counts[i]);
  }
}

#ifndef PROBLEMS
#define PROBLEMS 1000
#endif

/* A set of k units that has the given ones. */
static void random_set(int units, int k, int given, const int *given_unit, int *set) {
  unsigned mask = mask_of(given, given_unit);
  memcpy(set, given_unit, (size_t)given * sizeof(int));
  for (int i = given; i < k; i++) {
    do
      set[i] = any(0, units - 1);
    while (mask >> set[i] & 1);
    mask |= 1u << set[i];
  }
}

/* The dual bound is below every set; s is feasible; the bound is the plain formula. */
static void check_dual(const struct proof_case *of) {
  const struct relaxed point = relax(of, of->k);
  double sum = 0;
  CHECK(point.bound <= sets.value[sets.best] + 1e-10 * of->total);
  CHECK(point.value >= point.bound - 1e-12 * of->total);
  CHECK(point.value - point.bound <= 1e-6 * of->total);
  for (int g = 0; g < of->units; g++) {
    sum += point.share[g];
    CHECK(point.share[g] >= 0 && point.share[g] <= 1);
  }
  CHECK(fabs(sum - of->k) < 1e-9);
  check_residual(of, &point, of->k);
}

/* The least of all sets from nowhere, from a set at random, and with units given. */
static void check_searches(const struct proof_case *of, enum tree_task task) {
  int given[MAX_N], known[MAX_N];
  const int held = task == LEAST_HELD_OUT;
  struct tree_control control = {.task = task, .k = of->k, .cutoff = INFINITY, .given_unit = given};
  if (held) {
    control.Y = of->Y;
    control.h = of->h;
  }
  control.known_set = known;
  for (int part = 0; part < 2; part++) {
    control.given = part == 0 ? 0 : any(0, of->k);
    random_set(of->units, control.given, 0, given, given);
    control.known = any(0, 1) * of->k;
    random_set(of->units, control.known, control.known > 0 ? control.given : 0, given, known);
    find_all(of, of->k, mask_of(control.given, given), 1, held);
    if (part == 0 && !held)
      check_dual(of);
    search_case(of, control);
    check_least(of->total);
  }
}

/* A search with a limit of nodes: its bound is right, and no search that goes on has a lower one.
 */
static void check_limits(const struct proof_case *of, enum tree_task task) {
  struct tree_control control = {
      .task = task, .k = of->k, .cutoff = INFINITY, .capacity = 20, .Y = of->Y, .h = of->h};
  double before = -INFINITY;
  for (int nodes = 1; nodes < 16; nodes += 5) {
    control.nodes = nodes;
    search_case(of, control);
    CHECK(found.result.nodes <= nodes);
    CHECK(found.result.bound <= sets.value[sets.best] + 1e-10 * of->total);
    CHECK(found.result.bound >= before && found.result.bound <= found.result.value);
    CHECK((found.status == COMPLETE) == (found.result.open == 0));
    before = found.result.bound;
  }
}

/* Whether some set is below a cut-off that lies between two values. */
static double random_cutoff(double total) {
  const double value = sets.value[any(0, sets.count - 1)];
  const double cutoff = value + (uniform() < 0 ? -1 : 1) * 1e-6 * total;
  for (int i = 0; i < sets.count; i++)
    if (fabs(sets.value[i] - cutoff) < 1e-9 * total)
      return cutoff + 1e-8 * total * (1 + uniform());
  return cutoff;
}

static void check_decision(const struct proof_case *of, enum tree_task task) {
  const double cutoff = random_cutoff(of->total);
  search_case(
      of, (struct tree_control){
              .task = task, .k = of->k, .cutoff = cutoff, .first = 1, .Y = of->Y, .h = of->h});
  CHECK(found.status == COMPLETE);
  CHECK((found.result.value <= cutoff) == (sets.value[sets.best] <= cutoff));
  CHECK(found.result.bound <= fmax(sets.value[sets.best], cutoff) + 1e-10 * of->total);
}

TEST(proof_tree_of_penalised_errors) {
  for (int problem = 0; problem < PROBLEMS; problem += every(7)) {
    const struct proof_case of = random_case(14, 1, 1);
    check_searches(&of, LEAST_PENALISED);
    find_all(&of, of.k, 0, 1, 0);
    check_decision(&of, LEAST_PENALISED);
    check_limits(&of, LEAST_PENALISED);
  }
}

TEST(proof_tree_of_several_responses) {
  for (int problem = 0; problem < PROBLEMS; problem += every(7)) {
    const struct proof_case of = random_case(9, 1, any(2, MAX_L));
    check_searches(&of, LEAST_PENALISED);
  }
}

TEST(proof_tree_of_units) {
  for (int problem = 0; problem < PROBLEMS; problem += every(7)) {
    const struct proof_case of = random_case(8, 2, any(1, 2));
    check_searches(&of, LEAST_PENALISED);
    find_all(&of, of.k, 0, 1, 0);
    check_limits(&of, LEAST_PENALISED);
  }
}

/* ---- leave-one-out ---- */

TEST(proof_held_out_unit_numbers) {
  const struct proof_case of = unit_case();
  CHECK_NEAR(held_out(&of, 1u << 0 | 1u << 1 | 1u << 6), 3.0567740195, 1e-9);
  search_case(&of, (struct tree_control){
                       .task = LEAST_HELD_OUT, .k = 3, .cutoff = INFINITY, .Y = of.Y, .h = of.h});
  CHECK_NEAR(found.result.value, 2.7750837101, 1e-9);
  CHECK(mask_of(3, found.set) == (1u << 1 | 1u << 6 | 1u << 7));
  search_case(&of,
      (struct tree_control){
          .task = LEAST_HELD_OUT, .k = 3, .cutoff = INFINITY, .nodes = 1, .Y = of.Y, .h = of.h});
  CHECK(found.result.bound > .94 && found.result.bound < 1.3);
}

/* The bound is the least of its formula over F, up to a percent, and never more. */
TEST(proof_held_out_bound_is_the_least_of_its_formula) {
  for (int problem = 0; problem < 300; problem += every(7)) {
    enum { M = 20, GRID = 20000 };
    double d[M], A[M], Y[M], lower[HELD_INTERVALS], from[HELD_INTERVALS], width[HELD_INTERVALS];
    double Q = 0, e = 0, g = 0, square = 0, yy = 0, least = INFINITY;
    const double noise = problem % 3 * .3;
    for (int i = 0; i < M; i++) {
      d[i] = .55 + .4 * uniform();
      Y[i] = uniform();
      A[i] = .7 * Y[i] + noise * uniform();
      Q += d[i] * d[i] * Y[i] * Y[i];
      e = fmax(e, 1 / d[i]);
      g += A[i] * Y[i];
      square += A[i] * A[i] / (d[i] * d[i]);
      yy += Y[i] * Y[i];
    }
    const double D = (.4 + .3 * uniform()) * yy, limit = D + (.3 + .2 * uniform()) * yy;
    const double z = sqrt(fmax(square - g * g / Q, 0));
    for (int i = 0; i <= GRID; i++) {
      const double F = D + (limit - D) * i / GRID;
      const double ball = e * e * (F - D) - (F - g) * (F - g) / Q;
      const double rest = fmax(z - sqrt(fmax(ball, 0)), 0);
      least = fmin(least, F * F / Q + rest * rest);
    }
    const struct proof_terms terms = {.gram = {.m = M, .L = 1}};
    const struct tree_control control = {.task = LEAST_HELD_OUT, .Y = Y};
    struct tree t = {.terms = &terms,
        .control = &control,
        .d = d,
        .A = A,
        .Q = Q,
        .lower = lower,
        .from = from,
        .width = width};
    const double bound = held_bound(&t, D, limit);
    CHECK(bound <= least * (1 + 1e-6) && bound >= .99 * least);
  }
}

TEST(proof_tree_of_held_out_errors) {
  for (int problem = 0; problem < PROBLEMS; problem += every(7)) {
    const struct proof_case of = random_case(8, 1, any(1, 2));
    check_searches(&of, LEAST_HELD_OUT);
    find_all(&of, of.k, 0, 1, 1);
    check_decision(&of, LEAST_HELD_OUT);
    check_limits(&of, LEAST_HELD_OUT);
  }
}

/* A small penalty, with which trees have many nodes. */
static struct proof_case deep_case(int units) {
  struct proof_case of;
  do
    of = random_case(units, 1, 1);
  while (of.units < units);
  for (int i = 0; i < of.m * of.n; i++)
    of.X[i] *= 10;
  find_terms(&of);
  of.k = 4;
  return of;
}

TEST(proof_deep_trees) {
  double nodes = 0;
  for (int problem = 0; problem < 40; problem += every(3)) {
    const struct proof_case of = deep_case(problem % 4 == 0 ? 10 : MAX_N);
    const enum tree_task task = problem % 4 == 0 ? LEAST_HELD_OUT : LEAST_PENALISED;
    check_searches(&of, task);
    nodes = fmax(nodes, found.result.nodes);
    find_all(&of, of.k, 0, 1, task == LEAST_HELD_OUT);
    check_limits(&of, task);
  }
  CHECK(nodes > 100);
}

/* ---- all sets within a cut-off ---- */

/* As many sets as there are, each of them once, up to what is kept. */
static void check_list(const struct proof_case *of, double cutoff, int kept) {
  static unsigned listed[KEPT];
  int count = 0;
  for (int i = 0; i < sets.count; i++)
    count += sets.value[i] <= cutoff;
  CHECK(found.status == COMPLETE && found.result.count == count);
  CHECK(found.result.listed == (count < kept ? count : kept));
  for (int i = 0; i < found.result.listed; i++) {
    listed[i] = mask_of(of->k, found.sets + i * of->k);
    CHECK(fabs(value_of_mask(listed[i]) - found.values[i]) <= 1e-10 * of->total);
    CHECK(found.values[i] <= cutoff);
    for (int j = 0; j < i; j++)
      CHECK(listed[i] != listed[j]);
  }
}

TEST(proof_lists_of_sets) {
  for (int problem = 0; problem < PROBLEMS; problem += every(7)) {
    const struct proof_case of = random_case(8, any(1, 2), any(1, 2));
    const int kept = any(0, 2) > 0 ? KEPT : any(0, 5);
    find_all(&of, of.k, 0, 1, 0);
    const double cutoff = random_cutoff(of.total);
    search_case(
        &of, (struct tree_control){.task = ALL_WITHIN, .k = of.k, .cutoff = cutoff, .kept = kept});
    check_list(&of, cutoff, kept);
    check_decision(&of, LEAST_PENALISED);
  }
}

/* ---- other ways to give the columns ---- */

static int same_search(const struct found *a, const struct found *b, int k) {
  return a->status == b->status && a->result.value == b->result.value &&
         memcmp(a->set, b->set, (size_t)k * sizeof(int)) == 0;
}

TEST(proof_columns_made_when_needed) {
  for (int problem = 0; problem < 100; problem++) {
    const struct proof_case of = random_case(8, any(1, 2), any(1, 2));
    struct proof_terms terms = terms_of(&of);
    struct host host = {.threads = 1, .stop = never};
    struct tree_control control = {
        .k = of.k, .cutoff = INFINITY, .capacity = 10, .Y = of.Y, .h = of.h};
    control.task = problem % 2 == 0 ? LEAST_PENALISED : LEAST_HELD_OUT;
    search(&terms, control, &host);
    const struct found whole = found;
    const struct relaxed point = relax(&of, of.k);
    terms.gram.full = NULL;
    terms.max_cached = any(1, of.n);
    search(&terms, control, &host);
    CHECK(same_search(&found, &whole, of.k) ||
          fabs(found.result.value - whole.result.value) < 1e-12 * of.total);
    const struct relaxed other = relax_terms(&terms, of.k, NULL, 1e-12 * of.total, 200);
    CHECK(fabs(other.bound - point.bound) <= 1e-10 * of.total);
    check_residual(&of, &other, of.k);
  }
}

/* Least squares, with a share of the least eigenvalue of X'X taken out of it: only C, b and total
   are known. */
TEST(proof_tree_of_least_squares) {
  static double C[MAX_N * MAX_N], b[MAX_N * MAX_L], diagonal[MAX_N], vectors[MAX_N * MAX_N];
  double values[MAX_N];
  int solved = 0;
  for (int problem = 0; solved < PROBLEMS / every(7); problem++) {
    const struct proof_case of = random_case(7, 1, any(1, 2));
    double *work = room(lapack_eigen_work(of.n) * sizeof(double), 0);
    memcpy(vectors, of.C, sizeof(double) * (size_t)(of.n * of.n));
    const int failed = lapack_eigen(of.n, vectors, values, work);
    free(work);
    if (failed || values[0] < 1e-6 * values[of.n - 1])
      continue;
    solved++;
    const double D = .999 * values[0];
    for (int j = 0; j < of.n; j++) {
      for (int i = 0; i < of.n; i++)
        C[i + j * of.n] = (of.C[i + j * of.n] - (i == j) * D) / D;
      for (int l = 0; l < of.L; l++)
        b[j + l * of.n] = of.b[j + l * of.n] / sqrt(D);
      diagonal[j] = C[j + j * of.n];
    }
    struct proof_terms terms = terms_of(&of);
    terms.gram.full = C;
    terms.gram.b = b;
    terms.gram.diagonal = diagonal;
    terms.gram.X = NULL;
    struct host host = {.threads = 1, .stop = never};
    find_all(&of, of.k, 0, 0, 0);
    search(&terms, (struct tree_control){.k = of.k, .cutoff = INFINITY}, &host);
    check_least(of.total);
    const struct relaxed point = relax_terms(&terms, of.k, NULL, 1e-12 * of.total, 200);
    CHECK(point.bound <= sets.value[sets.best] + 1e-10 * of.total);
  }
}

/* ---- interrupts ---- */

TEST(proof_keeps_its_bound_when_interrupted) {
  for (int problem = 0; problem < 200; problem++) {
    const struct proof_case of = random_case(14, 1, 1);
    const struct proof_terms terms = terms_of(&of);
    find_all(&of, of.k, 0, 1, 0);
    for (int stop_at = 1; stop_at < 8; stop_at += 3) {
      struct polls polls = {0, stop_at};
      struct host host = {.threads = 1, .stop = poll, .self = &polls};
      search(&terms, (struct tree_control){.k = of.k, .cutoff = INFINITY}, &host);
      CHECK(found.status == (polls.count == stop_at ? INTERRUPTED : COMPLETE));
      CHECK(found.result.bound <= sets.value[sets.best] + 1e-10 * of.total);
      CHECK(found.result.value >= sets.value[sets.best] - 1e-10 * of.total);
      CHECK((found.result.open > 0) == (found.status == INTERRUPTED));
    }
  }
}
