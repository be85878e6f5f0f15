/* How good is a model, told from its held-out residuals r (m x L, user's units); the prediction is
 * response - r. */
#include "criterion.h"
#include "simd.h"
#include <math.h>

/* Scores nearer than this are equal, else rounding would decide: the response is -1 or 1. */
static const double TIE = 1e-10;

/* A sum of losses over some rows and the weight it stands for. */
struct tally {
  double loss, weight;
};

static double weight_of(const struct problem *pb, ptrdiff_t row) {
  return pb->root_w[row] * pb->root_w[row];
}

/* One where the predicted class is wrong: the sign of the prediction, or the first of the largest
 * of L outputs. */
static double row_error(const struct problem *pb, const double *r, ptrdiff_t row) {
  const ptrdiff_t m = pb->m;
  if (pb->L == 1)
    return ((pb->response[row] - r[row] > TIE) != (pb->response[row] > 0)) ? 1 : 0;
  ptrdiff_t truth = 0, top = 0;
  double highest = -INFINITY;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    highest = fmax(highest, pb->response[row + l * m] - r[row + l * m]);
    if (pb->response[row + l * m] > 0)
      truth = l;
  }
  while (pb->response[row + top * m] - r[row + top * m] < highest - TIE)
    top++;
  return truth != top ? 1 : 0;
}

static double row_loss(
    const struct problem *pb, enum criterion kind, const double *r, ptrdiff_t row) {
  if (kind == ERROR)
    return row_error(pb, r, row);
  double sum = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    const double e = r[row + l * pb->m];
    sum += kind == SQUARED ? e * e : fabs(e);
  }
  return sum / (double)pb->L;
}

double pair_loss(double positive, double negative) {
  return positive > negative + TIE ? 0 : positive < negative - TIE ? 1 : 0.5;
}

/* Pairs of one positive and one negative row in the wrong order; a tie counts half. */
static struct tally wrong_pairs(
    const struct problem *pb, const double *r, const int *rows, int count) {
  struct tally sum = {0, 0};
  for (int p = 0; p < count; p++) {
    if (pb->response[rows[p]] <= 0)
      continue;
    const double fp = pb->response[rows[p]] - r[rows[p]];
    for (int n = 0; n < count; n++) {
      if (pb->response[rows[n]] > 0)
        continue;
      const double fn = pb->response[rows[n]] - r[rows[n]];
      const double w = weight_of(pb, rows[p]) * weight_of(pb, rows[n]);
      sum.loss += w * pair_loss(fp, fn);
      sum.weight += w;
    }
  }
  return sum;
}

static struct tally fold_tally(
    const struct problem *pb, enum criterion kind, const double *r, const int *rows, int count) {
  if (kind == AUC)
    return wrong_pairs(pb, r, rows, count);
  struct tally sum = {0, 0};
  for (int p = 0; p < count; p++) {
    const double w = weight_of(pb, rows[p]);
    sum.loss += w * row_loss(pb, kind, r, rows[p]);
    sum.weight += w;
  }
  return sum;
}

/* Every row is a fold. */
static struct figure judge_each(const struct problem *pb, enum criterion kind, const double *r) {
  const ptrdiff_t m = pb->m;
  const double mean = judge_rows(pb, kind, r), weight = simd->dot(m, pb->root_w, pb->root_w);
  double spread = 0;
  ptrdiff_t scored = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    scored += pb->root_w[j] > 0;
  if (kind == SQUARED)
    spread = simd->losses(m, pb->L, r, pb->root_w, mean).spread;
  for (ptrdiff_t j = 0; j < m && kind != SQUARED; j++) {
    const double off = row_loss(pb, kind, r, j) - mean;
    spread += weight_of(pb, j) * off * off;
  }
  return (struct figure){mean, sqrt(spread / weight / (double)(scored - 1))};
}

/* Mean and spread of the fold means in one pass (West's update). The standard error is that of a
 * weighted mean. */
struct figure judge_folds(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count) {
  if (count == pb->m && kind != AUC)
    return judge_each(pb, kind, r);
  double mean = 0, weight = 0, spread = 0;
  int scored = 0;
  for (int f = 0; f < count; f++) {
    const struct tally t = fold_tally(pb, kind, r, order + start[f], start[f + 1] - start[f]);
    if (t.weight == 0)
      continue;
    const double off = t.loss / t.weight - mean;
    weight += t.weight;
    mean += off * t.weight / weight;
    spread += t.weight * off * (t.loss / t.weight - mean);
    scored++;
  }
  return (struct figure){mean, scored > 1 ? sqrt(spread / weight / (scored - 1)) : NAN};
}

double judge_rows(const struct problem *pb, enum criterion kind, const double *r) {
  const double weight = simd->dot(pb->m, pb->root_w, pb->root_w);
  if (kind == SQUARED)
    return simd->losses(pb->m, pb->L, r, pb->root_w, 0).sum / weight;
  double loss = 0;
  for (ptrdiff_t j = 0; j < pb->m; j++)
    loss += weight_of(pb, j) * row_loss(pb, kind, r, j);
  return loss / weight;
}
