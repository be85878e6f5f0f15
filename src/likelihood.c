/* Losses by a likelihood, a table. */
#include "likelihood.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* -p log p, 0 at 0 */
static double entropy_term(double p) {
  return p > 0 ? -p * log(p) : 0;
}

double likelihood_entropy(double p) {
  return entropy_term(p) + (p < 1 ? -(1 - p) * log1p(-p) : 0);
}

void likelihood_know_counts(const struct likelihood_rows *rows, double *known) {
  for (ptrdiff_t i = 0; i < rows->m; i++)
    known[i] = rows->y[i] > 0 ? log(rows->y[i]) : 0;
}

double likelihood_counts(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  return simd->poisson(rows->m, rows->y, rows->known, rows->w, f, v, h);
}

/* How many trials row i has for a weight of 1. */
static double likelihood_trials(const struct likelihood_rows *rows, ptrdiff_t i) {
  return rows->parameter > 0 ? rows->y[i] + rows->parameter : 1;
}

void likelihood_know_shares(const struct likelihood_rows *rows, double *known) {
  for (ptrdiff_t i = 0; i < rows->m; i++)
    known[i] = likelihood_entropy(rows->y[i] / likelihood_trials(rows, i));
}

double likelihood_shares(
    const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  if (!(rows->parameter > 0))
    return simd->shares(rows->m, rows->y, rows->known, rows->w, f, v, h);
  enum { BLOCK = 256 };
  double share[BLOCK], weight[BLOCK], logit[BLOCK], sum = 0;
  const double odds = log(rows->parameter);
  for (ptrdiff_t from = 0; from < rows->m; from += BLOCK) {
    const ptrdiff_t count = rows->m - from < BLOCK ? rows->m - from : BLOCK;
    for (ptrdiff_t i = 0; i < count; i++) {
      const double trials = likelihood_trials(rows, from + i);
      share[i] = rows->y[from + i] / trials;
      weight[i] = rows->w[from + i] * trials;
      logit[i] = f[from + i] - odds;
    }
    sum += simd->shares(count, share, rows->known + from, weight, logit, v + from, h + from);
  }
  return sum;
}

const struct likelihood *likelihood_named(const char *name) {
  static const struct likelihood losses[] = {
      {.name = "poisson",
          .evaluate = likelihood_counts,
          .know = likelihood_know_counts,
          .reach = 1},
      {.name = "binomial",
          .evaluate = likelihood_shares,
          .know = likelihood_know_shares,
          .reach = 1},
      {.name = "negbin", .evaluate = likelihood_shares, .know = likelihood_know_shares, .reach = 1},
      {.name = "cox",
          .evaluate = likelihood_cox,
          .curve = likelihood_cox_curve,
          .memo = likelihood_cox_memo,
          .reach = 2},
  };
  for (size_t i = 0; i < sizeof losses / sizeof *losses; i++)
    if (strcmp(losses[i].name, name) == 0)
      return losses + i;
  return NULL;
}
