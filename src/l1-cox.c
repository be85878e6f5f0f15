/* Dual values of half the deviance of Cox's partial likelihood, see likelihood-cox.c. */
#include "l1-cox.h"
#include "likelihood-cox.h"
#include "simd.h"
#include <math.h>
#include <string.h>

/* Moments with more tied events than this have a lower bound of their dual value by its concavity,
   in time linear in their number. */
enum { COX_MANY_TIED = 200 };

ptrdiff_t l1_cox_memo(const struct problem *pb) {
  return likelihood_cox_memo(pb->m, &pb->risk);
}

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

/* What the events of a moment have in common, of sums that each of them has the share `a + b x` in:
   x from the place `from` on, and the sums of the logarithms of its share of the saturated model,
   and of their products with x. */
static void cox_mix_sums(struct cox *cox) {
  ptrdiff_t from = 0;
  for (ptrdiff_t t = 0; t < cox->risk->moments; t++) {
    const ptrdiff_t sums = cox_sums(cox, t) > COX_MANY_TIED ? 0 : cox_sums(cox, t);
    const double part = cox->weight[t] / (double)sums;
    double *x = cox->rows + from;
    cox->hazard[t] = (double)from;
    cox->x[t] = cox->y[t] = 0;
    for (ptrdiff_t r = 0; r < sums; r++) {
      const double share = part * cox_share(cox, t, r), own = log(share);
      x[r] = share / (cox->full[t] + cox_share(cox, t, r) * cox->own[t]);
      cox->x[t] += own;
      cox->y[t] += own * x[r];
    }
    from += sums;
  }
}

/* The part of an event of weight w. */
static double cox_mix_event(const struct cox *cox, ptrdiff_t i, double w, double s) {
  const ptrdiff_t t = cox->risk->event[i], sums = cox_sums(cox, t);
  if (sums > COX_MANY_TIED)
    return 0;
  const double a = (1 - s) / (double)sums, b = s * exp(cox->f[i]);
  return w * (simd->mixture_entropy(sums, a, b, cox->rows + (ptrdiff_t)cox->hazard[t]) +
                 a * cox->x[t] + b * cox->y[t]);
}

static double cox_mixture(struct cox *cox, const struct problem *pb, double s) {
  const struct risk_sets *risk = cox->risk;
  double value = 0, *logs = cox->rows;
  cox_mix_sums(cox);
  for (ptrdiff_t i = 0; i < pb->m; i++)
    if (risk->event[i] >= 0)
      value += cox_mix_event(cox, i, case_weight(pb, i), s);
  for (ptrdiff_t i = 0; i < pb->m; i++) {
    const ptrdiff_t last = cox_last(risk, i);
    logs[i] = last >= 0 ? cox->a[i] * (cox->f[i] + cox->level[last]) : 0;
  }
  cox_sum_rows(cox, pb->m, logs, cox->x, cox->y);
  for (ptrdiff_t t = 0; t < risk->moments; t++)
    value += cox_mix_moment(cox, t, cox->x[t], cox->y[t], s);
  return value;
}

double l1_cox_value(const struct problem *pb, double *memo, const double *r, double s) {
  struct cox cox = cox_at(&pb->risk, pb->m, memo);
  double moved = 0;
  if (s <= 0)
    return 0;
  for (ptrdiff_t i = 0; i < pb->m && pb->offset != NULL; i++)
    moved += pb->root_w[i] * r[i] * pb->offset[i];
  return (pb->risk.efron || pb->risk.late ? cox_mixture(&cox, pb, s)
                                          : cox_conjugate(&cox, pb, r, s)) -
         s * moved;
}

double l1_cox_curvature(const struct problem *pb, const double *r, ptrdiff_t i) {
  return fmax(0, (pb->risk.event[i] >= 0) - r[i] / pb->divisor[i]);
}
