/* Half the deviance of Cox's partial likelihood: log sums over the rows at risk at each moment with
   an event, by Breslow or Efron where events are tied, in strata, with late entry. At a moment with
   n tied events of weight W, Efron has n sums of weight W / n, the r-th with the share 1 - r / n of
   these events; Breslow has one sum with all of them. */
#include "likelihood-cox.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* A sum over the rows at risk below this, where the largest term of the stratum is about 1, has
   lost all other terms: the loss is then taken for infinite. */
#define COX_LOST 1e-290

ptrdiff_t likelihood_cox_memo(ptrdiff_t m, const struct risk_sets *risk) {
  return 3 * m + 11 * risk->moments;
}

struct cox cox_at(const struct risk_sets *risk, ptrdiff_t m, double *memo) {
  const ptrdiff_t moments = risk->moments;
  double *part = memo + 3 * m;
  return (struct cox){.risk = risk,
      .f = memo,
      .a = memo + m,
      .rows = memo + 2 * m,
      .level = part,
      .decay = part + moments,
      .weight = part + 2 * moments,
      .tied = part + 3 * moments,
      .full = part + 4 * moments,
      .own = part + 5 * moments,
      .hazard = part + 6 * moments,
      .x = part + 7 * moments,
      .y = part + 8 * moments,
      .tree = part + 9 * moments};
}

/* ---- sums over risk sets ---- */

ptrdiff_t cox_last(const struct risk_sets *risk, ptrdiff_t i) {
  if (risk->event[i] >= 0)
    return risk->event[i];
  return risk->from[i] < risk->to[i] ? risk->to[i] - 1 : -1;
}

/* Adds z to the nodes of the tree that make up the moments of row i. */
static void cox_hang(const struct cox *cox, ptrdiff_t i, double z) {
  ptrdiff_t from = cox->risk->from[i] + cox->risk->moments;
  ptrdiff_t to = cox->risk->to[i] + cox->risk->moments;
  for (; from < to; from /= 2, to /= 2) {
    if (from % 2)
      cox->tree[from++] += z;
    if (to % 2)
      cox->tree[--to] += z;
  }
}

/* Where rows enter late the sums are made by a tree, so that nothing is subtracted. */
void cox_sum_rows(const struct cox *cox, ptrdiff_t m, const double *z, double *full, double *own) {
  const struct risk_sets *risk = cox->risk;
  const ptrdiff_t moments = risk->moments;
  memset(own, 0, (size_t)moments * sizeof(double));
  memset(full, 0, (size_t)moments * sizeof(double));
  memset(cox->tree, 0, 2 * (size_t)moments * sizeof(double));
  for (ptrdiff_t i = 0; i < m; i++) {
    if (risk->event[i] >= 0)
      own[risk->event[i]] += z[i];
    else if (!risk->late && risk->from[i] < risk->to[i])
      full[risk->to[i] - 1] += z[i];
    if (risk->late)
      cox_hang(cox, i, z[i]);
  }
  if (!risk->late) {
    for (ptrdiff_t t = moments - 2; t >= 0; t--)
      full[t] += cox->decay[t] * (full[t + 1] + own[t + 1]);
    return;
  }
  for (ptrdiff_t t = 1; t < moments; t++) {
    cox->tree[2 * t] += cox->tree[t];
    cox->tree[2 * t + 1] += cox->tree[t];
  }
  memcpy(full, cox->tree + moments, (size_t)moments * sizeof(double));
}

/* Makes the tree of z (moments), or its sums up to each moment, for cox_sum_moments(). */
static void cox_plant(const struct cox *cox, const double *z) {
  const ptrdiff_t moments = cox->risk->moments;
  double *tree = cox->tree;
  if (!cox->risk->late) {
    memcpy(tree, z, (size_t)moments * sizeof(double));
    for (ptrdiff_t t = 1; t < moments; t++)
      tree[t] += cox->decay[t - 1] * tree[t - 1];
    return;
  }
  memcpy(tree + moments, z, (size_t)moments * sizeof(double));
  for (ptrdiff_t t = moments - 1; t > 0; t--)
    tree[t] = tree[2 * t] + tree[2 * t + 1];
}

/* The sum of z over the moments at which row i is at risk, but for the moment of its own event. */
static double cox_sum_moments(const struct cox *cox, ptrdiff_t i) {
  const struct risk_sets *risk = cox->risk;
  ptrdiff_t from = risk->from[i], to = risk->to[i];
  double sum = 0;
  if (!risk->late && risk->event[i] > 0)
    return cox->decay[risk->event[i] - 1] * cox->tree[risk->event[i] - 1];
  if (!risk->late)
    return from < to ? cox->tree[to - 1] : 0;
  for (from += risk->moments, to += risk->moments; from < to; from /= 2, to /= 2) {
    if (from % 2)
      sum += cox->tree[from++];
    if (to % 2)
      sum += cox->tree[--to];
  }
  return sum;
}

/* ---- the sums of a moment ---- */

ptrdiff_t cox_sums(const struct cox *cox, ptrdiff_t t) {
  return cox->risk->efron || !(cox->tied[t] > 0) ? (ptrdiff_t)cox->tied[t] : 1;
}

double cox_share(const struct cox *cox, ptrdiff_t t, ptrdiff_t r) {
  return 1 - (double)r / cox->tied[t];
}

/* The last moment at which a row with a weight is at risk, -1 of other rows. */
static ptrdiff_t cox_last_weighted(
    const struct cox *cox, const struct likelihood_rows *rows, ptrdiff_t i) {
  return rows->w[i] > 0 ? cox_last(cox->risk, i) : -1;
}

static double cox_larger(double a, double b) {
  return a > b ? a : b;
}

/* Fills level and decay. Moments without a row have the level 0. */
static void cox_set_levels(struct cox *cox, const struct likelihood_rows *rows, const double *f) {
  const struct risk_sets *risk = cox->risk;
  double *level = cox->level;
  for (ptrdiff_t t = 0; t < risk->moments; t++)
    level[t] = -INFINITY;
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const ptrdiff_t last = cox_last_weighted(cox, rows, i);
    if (last >= 0)
      level[last] = cox_larger(level[last], f[i]);
  }
  for (ptrdiff_t t = risk->moments - 2; t >= 0; t--)
    if (risk->first[t] == risk->first[t + 1])
      level[t] = cox_larger(level[t], level[t + 1]);
  for (ptrdiff_t t = 1; t < risk->moments && risk->late; t++)
    level[t] = level[risk->first[t]];
  for (ptrdiff_t t = 0; t < risk->moments; t++) {
    const int goes_on = t + 1 < risk->moments && risk->first[t] == risk->first[t + 1];
    cox->decay[t] = goes_on && level[t + 1] > -INFINITY ? exp(level[t + 1] - level[t]) : 0;
  }
  for (ptrdiff_t t = 0; t < risk->moments; t++)
    level[t] = level[t] > -INFINITY ? level[t] : 0;
}

/* Fills all that is kept of a point but the temporary parts. */
static void cox_fill(struct cox *cox, const struct likelihood_rows *rows, const double *f) {
  const struct risk_sets *risk = cox->risk;
  cox_set_levels(cox, rows, f);
  memset(cox->weight, 0, (size_t)risk->moments * sizeof(double));
  memset(cox->tied, 0, (size_t)risk->moments * sizeof(double));
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const ptrdiff_t last = cox_last_weighted(cox, rows, i);
    cox->f[i] = last >= 0 ? f[i] - cox->level[last] : 0;
    cox->a[i] = last >= 0 ? rows->w[i] * exp(cox->f[i]) : 0;
    if (last >= 0 && risk->event[i] >= 0) {
      cox->weight[last] += rows->w[i];
      cox->tied[last]++;
    }
  }
  for (ptrdiff_t t = risk->moments - 1; t >= 0; t--)
    cox->level[t] -= cox->level[risk->first[t]];
  cox_sum_rows(cox, rows->m, cox->a, cox->full, cox->own);
}

/* The value of the sums of moment t; hazard and y := the sum of their weights divided by the sums,
   for full rows and for the moment's events. */
static double cox_measure(struct cox *cox, ptrdiff_t t) {
  const ptrdiff_t sums = cox_sums(cox, t);
  const double W = cox->weight[t], part = W / (double)sums;
  double value = 0;
  cox->hazard[t] = cox->y[t] = 0;
  for (ptrdiff_t r = 0; r < sums; r++) {
    const double share = cox_share(cox, t, r), S = cox->full[t] + share * cox->own[t];
    if (!(S > COX_LOST))
      return INFINITY;
    cox->hazard[t] += part / S;
    cox->y[t] += part * share / S;
    value += part * log(S / (W * share));
  }
  return value;
}

double likelihood_cox(const struct likelihood_rows *rows, const double *f, double *v, double *h) {
  struct cox cox = cox_at(rows->risk, rows->m, rows->memo);
  const int *event = cox.risk->event;
  double value = 0;
  cox_fill(&cox, rows, f);
  for (ptrdiff_t t = 0; t < cox.risk->moments; t++)
    value += cox_measure(&cox, t);
  cox_plant(&cox, cox.hazard);
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const double own = event[i] >= 0 ? cox.y[event[i]] : 0;
    const double died = event[i] >= 0 ? rows->w[i] : 0;
    h[i] = cox.a[i] * (cox_sum_moments(&cox, i) + own);
    v[i] = died - h[i];
    value -= died * cox.f[i];
  }
  if (isfinite(value))
    return value;
  memset(v, 0, (size_t)rows->m * sizeof(double));
  memset(h, 0, (size_t)rows->m * sizeof(double));
  return INFINITY;
}

void likelihood_cox_curve(
    const struct likelihood_rows *rows, const double *h, const double *t, double *out) {
  struct cox cox = cox_at(rows->risk, rows->m, rows->memo);
  const int *event = cox.risk->event;
  for (ptrdiff_t i = 0; i < rows->m; i++)
    out[i] = cox.a[i] * t[i];
  cox_sum_rows(&cox, rows->m, out, cox.x, cox.y);
  for (ptrdiff_t k = 0; k < cox.risk->moments; k++) {
    const ptrdiff_t sums = cox_sums(&cox, k);
    const double part = cox.weight[k] / (double)sums, full = cox.x[k], own = cox.y[k];
    cox.hazard[k] = cox.y[k] = 0;
    for (ptrdiff_t r = 0; r < sums; r++) {
      const double share = cox_share(&cox, k, r), S = cox.full[k] + share * cox.own[k];
      const double mean = (full + share * own) / S;
      cox.hazard[k] += part / S * mean;
      cox.y[k] += part * share / S * mean;
    }
  }
  cox_plant(&cox, cox.hazard);
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const double own = event[i] >= 0 ? cox.y[event[i]] : 0;
    out[i] = h[i] * t[i] - cox.a[i] * (cox_sum_moments(&cox, i) + own);
  }
}
