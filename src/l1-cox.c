/* Half the deviance of Cox's partial likelihood: log sums over the rows at risk at each moment with
   an event, by Breslow or Efron where events are tied, in strata, with late entry. At a moment with
   n tied events of weight W, Efron has n sums of weight W / n, the r-th with the share 1 - r / n of
   these events; Breslow has one sum with all of them. */
#include "l1-cox.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* Moments with more tied events than this have a lower bound of their dual value by its concavity,
   in time linear in their number. */
enum { COX_MANY_TIED = 200 };

/* A sum over the rows at risk below this, where the largest term of the stratum is about 1, has
   lost all other terms: the loss is then taken for infinite. */
#define COX_LOST 1e-290

/* What is kept of a point. Where rows enter late the level of a moment is the largest f of its
   stratum, otherwise of the rows at risk, so that no sum over these is lost. */
struct cox {
  const struct risk_sets *risk;
  double *f;     /* m, less the level of the row's last moment */
  double *a;     /* m, w exp(f) */
  double *rows;  /* m, temporary */
  double *level; /* moments, less the level of the first of the stratum */
  double *decay; /* moments, exp() of how much less the level of the next one is, 0 for the last
                    of a stratum */
  double *weight, *tied; /* moments: the weight and the number of its events */
  double *full, *own; /* moments: the sum of a over the rows at risk but its events; over these */
  double *hazard, *x, *y; /* moments, temporary */
  double *tree;           /* 2 moments, temporary */
};

ptrdiff_t l1_cox_memo(const struct problem *pb) {
  return 3 * pb->m + 11 * pb->risk.moments;
}

static struct cox cox_at(const struct risk_sets *risk, ptrdiff_t m, double *memo) {
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

/* The last moment at which a row is at risk, -1 of a row that never is. */
static ptrdiff_t cox_last(const struct risk_sets *risk, ptrdiff_t i) {
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

/* full (moments) := the sum of z (m), which has the factor a, over the rows at risk at each moment
   but for its own events, and own (moments) := the sum over these. Where rows enter late it is made
   by a tree, so that nothing is subtracted. O(m) or O(m log moments) */
static void cox_sum_rows(
    const struct cox *cox, ptrdiff_t m, const double *z, double *full, double *own) {
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

/* How many sums moment t has, and the share of its events in the r-th. */
static ptrdiff_t cox_sums(const struct cox *cox, ptrdiff_t t) {
  return cox->risk->efron ? (ptrdiff_t)cox->tied[t] : 1;
}

static double cox_share(const struct cox *cox, ptrdiff_t t, ptrdiff_t r) {
  return 1 - (double)r / cox->tied[t];
}

/* Fills level and decay. */
static void cox_set_levels(struct cox *cox, ptrdiff_t m, const double *f) {
  const struct risk_sets *risk = cox->risk;
  double *level = cox->level;
  for (ptrdiff_t t = 0; t < risk->moments; t++)
    level[t] = -INFINITY;
  for (ptrdiff_t i = 0; i < m; i++) {
    const ptrdiff_t last = cox_last(risk, i);
    if (last >= 0)
      level[last] = l1_larger(level[last], f[i]);
  }
  for (ptrdiff_t t = risk->moments - 2; t >= 0; t--)
    if (risk->first[t] == risk->first[t + 1])
      level[t] = l1_larger(level[t], level[t + 1]);
  for (ptrdiff_t t = 1; t < risk->moments && risk->late; t++)
    level[t] = level[risk->first[t]];
  for (ptrdiff_t t = 0; t < risk->moments; t++) {
    const int goes_on = t + 1 < risk->moments && risk->first[t] == risk->first[t + 1];
    cox->decay[t] = goes_on ? exp(level[t + 1] - level[t]) : 0;
  }
}

/* Fills all that is kept of a point but the temporary parts. */
static void cox_fill(struct cox *cox, const struct l1_rows *rows, const double *f) {
  const struct risk_sets *risk = cox->risk;
  cox_set_levels(cox, rows->m, f);
  memset(cox->weight, 0, (size_t)risk->moments * sizeof(double));
  memset(cox->tied, 0, (size_t)risk->moments * sizeof(double));
  for (ptrdiff_t i = 0; i < rows->m; i++) {
    const ptrdiff_t last = cox_last(risk, i);
    cox->f[i] = last >= 0 ? f[i] - cox->level[last] : 0;
    cox->a[i] = last >= 0 ? rows->w[i] * exp(cox->f[i]) : 0;
    if (risk->event[i] >= 0) {
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

double l1_cox_evaluate(const struct l1_rows *rows, const double *f, double *v, double *h) {
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

void l1_cox_curve(const struct l1_rows *rows, const double *h, const double *t, double *out) {
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

/* ---- dual values ---- */

static double cox_log_term(double x) {
  return x > 0 ? x * log(x) : 0;
}

/* The conjugate itself, of one sum a moment and rows that are at risk from the beginning: the
   supremum's sums follow from each other, the last moment first. With the means a = d - s v and
   B_t their sum over the risk set less the weight of later events it is the sum over moments of
   B log B - (B - W) log (B - W) - W log W, less the sum over rows of a log (a / w). */
static double cox_conjugate(struct cox *cox, const struct problem *pb, const double *r, double s) {
  const struct risk_sets *risk = cox->risk;
  double value = 0, rest = 0, *mean = cox->x;
  memset(mean, 0, (size_t)risk->moments * sizeof(double));
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const ptrdiff_t last = cox_last(risk, i);
    const double w = case_weight(pb, i);
    const double a = (risk->event[i] >= 0 ? w : 0) - s * pb->root_w[i] * r[i];
    if (last < 0 || !(a > 0))
      continue;
    mean[last] += a;
    value -= a * log(a / w);
  }
  for (ptrdiff_t t = risk->moments - 1; t >= 0; t--) {
    const int goes_on = t + 1 < risk->moments && risk->first[t] == risk->first[t + 1];
    const double W = cox->weight[t];
    rest = risk->first[t] == t ? 0 : fmax(0, (goes_on ? rest : 0) + mean[t] - W);
    value += cox_log_term(rest + W) - cox_log_term(rest) - cox_log_term(W);
  }
  return value;
}

/* ---- the mixture: a lower bound of the dual value in every case ----

   Of all ways to share each sum's weight among its rows that leave row i the mean d - s v, it takes
   s times the shares at the point and 1 - s times the shares of the saturated model, in which
   events alone have any. It is exact for s = 1. */

/* The part of the rows in full at moment t; `logs` is the sum of a f over them, `own` over the
   moment's events, which are in it where they are many, with an f that is 0 at the largest of the
   stratum. */
static double cox_mix_moment(
    const struct cox *cox, ptrdiff_t t, double logs, double own, double s) {
  const ptrdiff_t sums = cox_sums(cox, t);
  const double W = cox->weight[t], part = W / (double)sums;
  double value = 0;
  logs -= cox->level[t] * cox->full[t];
  own -= cox->level[t] * cox->own[t];
  for (ptrdiff_t r = 0; r < sums; r++) {
    const double share = cox_share(cox, t, r), S = cox->full[t] + share * cox->own[t];
    if (sums > COX_MANY_TIED)
      value += s * part * (log(S / (W * share)) - (logs + share * own) / S);
    else
      value += s * part / S * (log(S / s) * cox->full[t] - logs) - part * log(W * share);
  }
  return value;
}

/* The part of an event of weight w. */
static double cox_mix_event(const struct cox *cox, ptrdiff_t i, double w, double s) {
  const ptrdiff_t t = cox->risk->event[i], sums = cox_sums(cox, t);
  const double part = cox->weight[t] / (double)sums, size = exp(cox->f[i]);
  double value = 0;
  for (ptrdiff_t r = 0; r < sums && sums <= COX_MANY_TIED; r++) {
    const double share = cox_share(cox, t, r), S = cox->full[t] + share * cox->own[t];
    const double q = (1 - s) / (double)sums + s * part * share * size / S;
    value -= w * q * log(q / (share * part));
  }
  return value;
}

static double cox_mixture(struct cox *cox, const struct problem *pb, double s) {
  const struct risk_sets *risk = cox->risk;
  double value = 0, *logs = cox->rows;
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const ptrdiff_t last = cox_last(risk, i);
    logs[i] = last >= 0 ? cox->a[i] * (cox->f[i] + cox->level[last]) : 0;
    if (risk->event[i] >= 0)
      value += cox_mix_event(cox, i, case_weight(pb, i), s);
  }
  cox_sum_rows(cox, pb->m, logs, cox->x, cox->y);
  for (ptrdiff_t t = 0; t < risk->moments; t++)
    value += cox_mix_moment(cox, t, cox->x[t], cox->y[t], s);
  return value;
}

double l1_cox_value(const struct problem *pb, double *memo, const double *r, double s) {
  struct cox cox = cox_at(&pb->risk, pb->m, memo);
  if (s <= 0)
    return 0;
  return pb->risk.efron || pb->risk.late ? cox_mixture(&cox, pb, s) : cox_conjugate(&cox, pb, r, s);
}

double l1_cox_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(0, pb->response[i] - r[i] / pb->divisor[i]);
}
