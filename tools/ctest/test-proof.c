/* Proofs of best subsets: the dual bound and the tree against all sets of small problems. */
#include "ctest.h"
#include "subset-proof.h"
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
  return (struct proof_terms){
      .gram =
          {.n = of->n, .L = of->L, .diagonal = of->diagonal, .b = of->b, .full = of->C, .m = of->m},
      .units = of->units,
      .unit = of->unit,
      .total = of->total,
      .max_cached = 1};
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
