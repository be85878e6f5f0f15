/* The criteria, a table of losses. Residuals r are m x L in the user's units; scores are
   response - r. */
#include "criterion.h"
#include "simd.h"
#include "tolerance.h"
#include <math.h>
#include <string.h>

/* ---- losses ---- */

static double criterion_squared(const struct problem *pb, const double *r, ptrdiff_t row) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    const double e = r[row + l * pb->m];
    sum += e * e;
  }
  return sum / (double)pb->L;
}

static double criterion_absolute(const struct problem *pb, const double *r, ptrdiff_t row) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++)
    sum += fabs(r[row + l * pb->m]);
  return sum / (double)pb->L;
}

/* 1 where the predicted class is wrong: the sign of the score, or the first of the largest of L. */
static double criterion_error(const struct problem *pb, const double *r, ptrdiff_t row) {
  const ptrdiff_t m = pb->m;
  if (pb->L == 1)
    return ((pb->response[row] - r[row] > CRITERION_TIE) != (pb->response[row] > 0)) ? 1 : 0;
  ptrdiff_t truth = 0, top = 0;
  double highest = -INFINITY;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    highest = fmax(highest, pb->response[row + l * m] - r[row + l * m]);
    if (pb->response[row + l * m] > 0)
      truth = l;
  }
  while (pb->response[row + top * m] - r[row + top * m] < highest - CRITERION_TIE)
    top++;
  return truth != top ? 1 : 0;
}

static double criterion_logistic(const struct problem *pb, const double *r, ptrdiff_t row) {
  const double margin = pb->response[row] * (pb->response[row] - r[row]);
  return fmax(-margin, 0) + log1p(exp(-fabs(margin)));
}

static double criterion_hinge(const struct problem *pb, const double *r, ptrdiff_t row) {
  return fmax(1 - pb->response[row] * (pb->response[row] - r[row]), 0);
}

double criterion_pair_loss(double positive, double negative) {
  return positive > negative + CRITERION_TIE ? 0 : positive < negative - CRITERION_TIE ? 1 : 0.5;
}

/* Sorts rows by score, by merging runs that double in length; returns the sorted ones, which are
   `rows` or `other`. */
static struct criterion_row *criterion_sort(
    struct criterion_row *rows, struct criterion_row *other, ptrdiff_t count) {
  enum { RUN = 8 };
  for (ptrdiff_t from = 0; from < count; from += RUN)
    for (ptrdiff_t i = from + 1; i < count && i < from + RUN; i++) {
      const struct criterion_row row = rows[i];
      ptrdiff_t p = i;
      for (; p > from && rows[p - 1].score > row.score; p--)
        rows[p] = rows[p - 1];
      rows[p] = row;
    }
  for (ptrdiff_t run = RUN; run < count; run *= 2) {
    for (ptrdiff_t from = 0; from < count; from += 2 * run) {
      const ptrdiff_t middle = from + run < count ? from + run : count,
                      to = middle + run < count ? middle + run : count;
      ptrdiff_t i = from, j = middle, p = from;
      for (; i < middle && j < to; p++) {
        const int second = rows[j].score < rows[i].score;
        other[p] = rows[second ? j : i];
        j += second;
        i += !second;
      }
      memcpy(other + p, rows + i, (size_t)(middle - i) * sizeof *rows);
      memcpy(other + p + (middle - i), rows + j, (size_t)(to - j) * sizeof *rows);
    }
    struct criterion_row *sorted = other;
    other = rows;
    rows = sorted;
  }
  return rows;
}

/* As the positive score rises, so do the numbers of negative ones that are below it and of those
   that are not above it. */
struct criterion_sum criterion_pair_sum(
    struct criterion_row *rows, ptrdiff_t positives, ptrdiff_t count) {
  const ptrdiff_t negatives = count - positives;
  const struct criterion_row *positive = criterion_sort(rows, rows + count, positives),
                             *negative = criterion_sort(
                                 rows + positives, rows + count + positives, negatives);
  struct criterion_sum sum = {0, 0};
  double total = 0, right = 0, not_wrong = 0;
  for (ptrdiff_t n = 0; n < negatives; n++)
    total += negative[n].weight;
  for (ptrdiff_t p = 0, below = 0, reached = 0; p < positives; p++) {
    const double score = positive[p].score, w = positive[p].weight;
    while (below < negatives && criterion_pair_loss(score, negative[below].score) == 0)
      right += negative[below++].weight;
    while (reached < negatives && criterion_pair_loss(score, negative[reached].score) < 1)
      not_wrong += negative[reached++].weight;
    sum.loss += w * (total - (right + not_wrong) / 2);
    sum.weight += w * total;
  }
  return sum;
}

/* Of pairs of a positive and a negative row. */
static struct criterion_sum criterion_pairs(const struct problem *pb, const double *r,
    const int *rows, ptrdiff_t count, struct criterion_row *work) {
  ptrdiff_t positives = 0, negatives = 0;
  for (ptrdiff_t p = 0; p < count; p++)
    positives += pb->response[rows[p]] > 0;
  for (ptrdiff_t p = 0, next = 0; p < count; p++) {
    const ptrdiff_t row = rows[p], place = pb->response[row] > 0 ? next++ : positives + negatives++;
    work[place] = (struct criterion_row){pb->response[row] - r[row], case_weight(pb, row)};
  }
  return criterion_pair_sum(work, positives, count);
}

/* ---- the table ---- */

/* A criterion is the weighted mean of a loss: of single rows, or of what else there is to count in
   rows that were held out together. A new criterion is an entry here and its name in R. */
static const struct criterion_record {
  const char *name;
  double (*row_loss)(const struct problem *pb, const double *r, ptrdiff_t row);
  struct criterion_sum (*rows_loss)(const struct problem *pb, const double *r, const int *rows,
      ptrdiff_t count, struct criterion_row *work);
  int balanced; /* whether classes count alike, whatever their weights */
} criterion_records[] = {
    [SQUARED] = {.name = "squared", .row_loss = criterion_squared},
    [ERROR] = {.name = "error", .row_loss = criterion_error},
    [ABSOLUTE] = {.name = "absolute", .row_loss = criterion_absolute},
    [AUC] = {.name = "auc", .rows_loss = criterion_pairs},
    [USER] = {.name = "user"},
    [BALANCED] = {.name = "balanced", .row_loss = criterion_error, .balanced = 1},
    [LOGISTIC_LOSS] = {.name = "logistic", .row_loss = criterion_logistic},
    [HINGE_LOSS] = {.name = "hinge", .row_loss = criterion_hinge},
};

int criterion_named(const char *name) {
  const int count = (int)(sizeof criterion_records / sizeof *criterion_records);
  for (int kind = 0; kind < count; kind++)
    if (strcmp(criterion_records[kind].name, name) == 0)
      return kind;
  return -1;
}

/* ---- weights ---- */

/* Whether a row is of class c: of two, coded in one column, class 0 is the negative one. */
static int criterion_in_class(const struct problem *pb, ptrdiff_t row, ptrdiff_t c) {
  return pb->L > 1 ? pb->response[row + c * pb->m] > 0 : (pb->response[row] > 0) == c;
}

void criterion_weights(const struct problem *pb, enum criterion kind, double *root_w) {
  const ptrdiff_t classes = pb->L > 1 ? pb->L : 2;
  memcpy(root_w, pb->root_w, (size_t)pb->m * sizeof(double));
  for (ptrdiff_t c = 0; c < classes && criterion_records[kind].balanced; c++) {
    double weight = 0;
    for (ptrdiff_t row = 0; row < pb->m; row++)
      if (criterion_in_class(pb, row, c))
        weight += case_weight(pb, row);
    for (ptrdiff_t row = 0; row < pb->m; row++)
      if (weight > 0 && criterion_in_class(pb, row, c))
        root_w[row] = pb->root_w[row] / sqrt(weight);
  }
}

/* ---- losses, sums and means ---- */

int criterion_row_losses(
    const struct problem *pb, enum criterion kind, const double *r, double *loss) {
  const struct criterion_record *record = criterion_records + kind;
  for (ptrdiff_t row = 0; record->row_loss != NULL && row < pb->m; row++) {
    loss[row] = record->row_loss(pb, r, row);
    for (ptrdiff_t l = 0; l < pb->L; l++)
      if (isnan(r[row + l * pb->m]))
        loss[row] = r[row + l * pb->m];
  }
  return record->row_loss != NULL;
}

/* Of rows that were held out together. */
static struct criterion_sum criterion_rows(const struct problem *pb, enum criterion kind,
    const double *r, const int *rows, ptrdiff_t count, struct criterion_row *work) {
  const struct criterion_record *record = criterion_records + kind;
  struct criterion_sum sum = {0, 0};
  if (record->rows_loss != NULL)
    return record->rows_loss(pb, r, rows, count, work);
  for (ptrdiff_t p = 0; p < count; p++) {
    const double w = case_weight(pb, rows[p]);
    sum.loss += w * record->row_loss(pb, r, rows[p]);
    sum.weight += w;
  }
  return sum;
}

/* Every row is a fold. */
static struct estimate criterion_of_each(
    const struct problem *pb, enum criterion kind, const double *r) {
  const ptrdiff_t m = pb->m;
  const double mean = criterion_value(pb, kind, r), weight = simd->dot(m, pb->root_w, pb->root_w);
  double spread = 0;
  ptrdiff_t scored = 0;
  for (ptrdiff_t j = 0; j < m; j++)
    scored += pb->root_w[j] > 0;
  if (kind == SQUARED)
    spread = simd->losses(m, pb->L, r, pb->root_w, mean).spread;
  for (ptrdiff_t j = 0; j < m && kind != SQUARED; j++) {
    const double off = criterion_records[kind].row_loss(pb, r, j) - mean;
    spread += case_weight(pb, j) * off * off;
  }
  return (struct estimate){mean, sqrt(spread / weight / (double)(scored - 1))};
}

/* Mean and spread of the fold means in one pass (West's update). The standard error is that of a
   weighted mean. */
struct estimate criterion_estimate(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count, struct criterion_row *work) {
  if (count == pb->m && criterion_records[kind].row_loss != NULL)
    return criterion_of_each(pb, kind, r);
  double mean = 0, weight = 0, spread = 0;
  int scored = 0;
  for (int f = 0; f < count; f++) {
    const struct criterion_sum sum =
        criterion_rows(pb, kind, r, order + start[f], start[f + 1] - start[f], work);
    if (sum.weight == 0)
      continue;
    const double off = sum.loss / sum.weight - mean;
    weight += sum.weight;
    mean += off * sum.weight / weight;
    spread += sum.weight * off * (sum.loss / sum.weight - mean);
    scored++;
  }
  return (struct estimate){mean, scored > 1 ? sqrt(spread / weight / (scored - 1)) : NAN};
}

double criterion_value(const struct problem *pb, enum criterion kind, const double *r) {
  const double weight = simd->dot(pb->m, pb->root_w, pb->root_w);
  if (kind == SQUARED)
    return simd->losses(pb->m, pb->L, r, pb->root_w, 0).sum / weight;
  double loss = 0;
  for (ptrdiff_t j = 0; j < pb->m; j++)
    loss += case_weight(pb, j) * criterion_records[kind].row_loss(pb, r, j);
  return loss / weight;
}
