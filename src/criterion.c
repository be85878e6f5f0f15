/* The criteria, a table of losses. Residuals r are m x L in the user's units; scores are
   response - r. */
#include "criterion.h"
#include "simd.h"
#include "tolerance.h"
#include "work.h"
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

/* Of a response coded -1 and +1 and its score, at an element of y and r. */
static double criterion_margin(const struct problem *pb, const double *r, ptrdiff_t at) {
  return pb->response[at] * (pb->response[at] - r[at]);
}

static double criterion_logistic(const struct problem *pb, const double *r, ptrdiff_t row) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++) {
    const double margin = criterion_margin(pb, r, row + l * pb->m);
    sum += fmax(-margin, 0) + log1p(exp(-fabs(margin)));
  }
  return sum / (double)pb->L;
}

static double criterion_hinge(const struct problem *pb, const double *r, ptrdiff_t row) {
  double sum = 0;
  for (ptrdiff_t l = 0; l < pb->L; l++)
    sum += fmax(1 - criterion_margin(pb, r, row + l * pb->m), 0);
  return sum / (double)pb->L;
}

static double pair_loss(double positive, double negative, double tie) {
  return positive > negative + tie ? 0 : positive < negative - tie ? 1 : 0.5;
}

double criterion_pair_loss(double positive, double negative) {
  return pair_loss(positive, negative, CRITERION_TIE);
}

/* ---- the same of all rows at once ---- */

static struct loss_sums all_squared(const struct problem *pb, const double *r, double centre) {
  return simd->losses(pb->m, pb->L, r, pb->root_w, centre);
}

static struct loss_sums all_absolute(const struct problem *pb, const double *r, double centre) {
  return simd->absolute_losses(pb->m, pb->L, r, pb->root_w, centre);
}

static struct loss_sums all_errors(const struct problem *pb, const double *r, double centre) {
  return simd->error_losses(pb->m, pb->L, pb->response, r, CRITERION_TIE, pb->root_w, centre);
}

/* ---- pairs of rows, by sorting one class into buckets ---- */

enum { FEW = 16, MOST = 256 }; /* scores that are sorted by insertion, buckets of a round */

/* Memory of criterion_pair_sum(), over which other scores are counted. */
struct pair_work {
  double *score, *weight, *before, *other_score, *other_weight;
  int *bucket, *start;
};

static struct pair_work pair_lay_out(ptrdiff_t scores, struct arena *arena) {
  return (struct pair_work){.score = alloc_doubles(arena, scores + SIMD_PAD),
      .weight = alloc_doubles(arena, scores + SIMD_PAD),
      .before = alloc_doubles(arena, scores + 1),
      .other_score = alloc_doubles(arena, scores),
      .other_weight = alloc_doubles(arena, scores),
      .bucket = alloc_ints(arena, scores),
      .start = alloc_ints(arena, scores + 2)};
}

/* to := the scores with their weights, bucket by bucket; start (count + 2) := where each begins. */
static void pair_distribute(ptrdiff_t scores, const double *score, const double *weight,
    const int *bucket, ptrdiff_t count, int *start, double *to_score, double *to_weight) {
  memset(start, 0, (size_t)(count + 2) * sizeof *start);
  for (ptrdiff_t j = 0; j < scores; j++)
    start[bucket[j] + 2]++;
  for (ptrdiff_t b = 2; b <= count; b++)
    start[b] += start[b - 1];
  for (ptrdiff_t j = 0; j < scores; j++) {
    const int place = start[bucket[j] + 1]++;
    to_score[place] = score[j];
    to_weight[place] = weight[j];
  }
}

static void pair_insert(ptrdiff_t scores, double *score, double *weight) {
  for (ptrdiff_t i = 1; i < scores; i++) {
    const double s = score[i], w = weight[i];
    ptrdiff_t p = i;
    for (; p > 0 && score[p - 1] > s; p--) {
      score[p] = score[p - 1];
      weight[p] = weight[p - 1];
    }
    score[p] = s;
    weight[p] = w;
  }
}

static struct score_buckets pair_buckets(ptrdiff_t scores, const double *score, ptrdiff_t count) {
  const struct range range = simd->range(scores, score);
  const double scale = (double)count / (range.high - range.low);
  return (struct score_buckets){.count = count, .low = range.low, .scale = scale};
}

/* Sorts scores that lie from `at` on. Each round divides their range: two are enough for scores of
   a few levels that differ by rounding. */
static void pair_sort(ptrdiff_t scores, ptrdiff_t at, const struct pair_work *work) {
  double *score = work->score + at, *weight = work->weight + at;
  const ptrdiff_t count = scores < MOST ? scores : MOST;
  const struct score_buckets buckets =
      scores > FEW ? pair_buckets(scores, score, count) : (struct score_buckets){.scale = 0};
  if (!(buckets.scale > 0 && buckets.scale < INFINITY)) {
    pair_insert(scores, score, weight);
    return;
  }
  int start[MOST + 2];
  simd->find_buckets(scores, score, &buckets, work->bucket);
  memcpy(work->other_score, score, (size_t)scores * sizeof *score);
  memcpy(work->other_weight, weight, (size_t)scores * sizeof *weight);
  pair_distribute(
      scores, work->other_score, work->other_weight, work->bucket, count, start, score, weight);
  for (ptrdiff_t b = 0; b < count; b++)
    if (start[b + 1] - start[b] > 1)
      pair_sort(start[b + 1] - start[b], at + start[b], work);
}

/* before_j := sum of the weights before j, four at a time; returns the sum of all. */
static double pair_accumulate(ptrdiff_t count, const double *weight, double *before) {
  double sum = 0;
  ptrdiff_t j = 0;
  for (; j + 4 <= count; j += 4) {
    const double two = weight[j] + weight[j + 1], rest = weight[j + 2] + weight[j + 3];
    before[j] = sum;
    before[j + 1] = sum + weight[j];
    before[j + 2] = sum + two;
    before[j + 3] = sum + (two + weight[j + 2]);
    sum += two + rest;
  }
  for (; j < count; j++) {
    before[j] = sum;
    sum += weight[j];
  }
  before[count] = sum;
  return sum;
}

/* The negative scores in as many buckets; those of a bucket that is not soon looked through are
   sorted. */
static struct score_buckets pair_sort_buckets(
    ptrdiff_t scores, const double *score, const double *weight, const struct pair_work *work) {
  struct score_buckets buckets = pair_buckets(scores, score, scores);
  simd->find_buckets(scores, score, &buckets, work->bucket);
  pair_distribute(
      scores, score, weight, work->bucket, scores, work->start, work->score, work->weight);
  for (ptrdiff_t b = 0; b < scores; b++)
    if (work->start[b + 1] - work->start[b] > SIMD_PAD)
      pair_sort(work->start[b + 1] - work->start[b], work->start[b], work);
  for (ptrdiff_t j = scores; j < scores + SIMD_PAD; j++) {
    work->score[j] = INFINITY;
    work->weight[j] = 0;
  }
  buckets.total = pair_accumulate(scores, work->weight, work->before);
  buckets.start = work->start;
  buckets.score = work->score;
  buckets.weight = work->weight;
  buckets.before = work->before;
  return buckets;
}

/* criterion_pair_sum() of scores that are equal where they are nearer than `tie`. */
static struct criterion_sum pair_sum(const double *score, const double *weight, ptrdiff_t positives,
    ptrdiff_t count, double tie, double *work) {
  const ptrdiff_t negatives = count - positives;
  if (positives == 0 || negatives == 0)
    return (struct criterion_sum){0, 0};
  struct arena arena = arena_over(work);
  const struct pair_work memory = pair_lay_out(negatives, &arena);
  const struct score_buckets buckets =
      pair_sort_buckets(negatives, score + positives, weight + positives, &memory);
  const struct pair_sums sum = simd->bucket_losses(positives, score, tie, weight, &buckets);
  return (struct criterion_sum){sum.loss, sum.weight};
}

struct criterion_sum criterion_pair_sum(
    const double *score, const double *weight, ptrdiff_t positives, ptrdiff_t count, double *work) {
  return pair_sum(score, weight, positives, count, CRITERION_TIE, work);
}

/* Of pairs of a positive and a negative row. */
static struct criterion_sum criterion_pairs(
    const struct problem *pb, const double *r, const int *rows, ptrdiff_t count, double *work) {
  double *score = work, *weight = score + count;
  ptrdiff_t positives = 0, negatives = 0;
  for (ptrdiff_t p = 0; p < count; p++)
    positives += pb->response[rows[p]] > 0;
  for (ptrdiff_t p = 0, next = 0; p < count; p++) {
    const ptrdiff_t row = rows[p], place = pb->response[row] > 0 ? next++ : positives + negatives++;
    score[place] = pb->response[row] - r[row];
    weight[place] = case_weight(pb, row);
  }
  return criterion_pair_sum(score, weight, positives, count, weight + count);
}

size_t criterion_work(ptrdiff_t rows) {
  struct arena arena = arena_over(NULL);
  pair_lay_out(rows, &arena);
  return 3 * (size_t)rows + arena.used / sizeof(double);
}

double criterion_auc(
    const struct problem *pb, const double *r, const int *start, int count, double *work) {
  struct criterion_sum sum = {0, 0};
  for (int f = 0; f < count; f++) {
    const ptrdiff_t from = start[f], rows = start[f + 1] - from;
    const double *response = pb->response + from;
    double *score = work, *weight = score + rows;
    ptrdiff_t positives = 0;
    while (positives < rows && response[positives] > 0)
      positives++;
    memcpy(score, response, (size_t)rows * sizeof(double));
    simd->shift(rows, score, 1, r + from);
    simd->weighted(rows, weight, pb->root_w + from, pb->root_w + from);
    const struct criterion_sum fold =
        criterion_pair_sum(score, weight, positives, rows, weight + rows);
    sum.loss += fold.loss;
    sum.weight += fold.weight;
  }
  return sum.weight > 0 ? sum.loss / sum.weight : 0;
}

/* ---- pairs of rows in the order of the response ---- */

enum { FEW_ORDERED = 32 }; /* rows of which every pair is looked at */

static struct criterion_sum ordered_few(const double *response, const double *score,
    const double *weight, ptrdiff_t count, double tie) {
  struct criterion_sum sum = {0, 0};
  for (ptrdiff_t low = 1; low < count; low++)
    for (ptrdiff_t high = 0; high < low && response[high] > response[low]; high++) {
      const double w = weight[high] * weight[low];
      sum.loss += w * pair_loss(score[high], score[low], tie);
      sum.weight += w;
    }
  return sum;
}

/* Where another response begins, as near to the middle as there is such a place. */
static ptrdiff_t ordered_middle(const double *response, ptrdiff_t count) {
  ptrdiff_t before = count / 2, behind = count / 2;
  while (before > 0 && response[before - 1] == response[before])
    before--;
  while (behind < count && response[behind - 1] == response[behind])
    behind++;
  return before > 0 && (behind == count || count / 2 - before <= behind - count / 2) ? before
                                                                                     : behind;
}

/* The pairs of an upper and a lower row are those of two classes; both halves have their own. */
static struct criterion_sum ordered_sum(const double *response, const double *score,
    const double *weight, ptrdiff_t count, double tie, double *work) {
  if (count < 2 || response[0] == response[count - 1])
    return (struct criterion_sum){0, 0};
  if (count <= FEW_ORDERED)
    return ordered_few(response, score, weight, count, tie);
  const ptrdiff_t upper = ordered_middle(response, count), lower = count - upper;
  const struct criterion_sum across = pair_sum(score, weight, upper, count, tie, work);
  const struct criterion_sum above = ordered_sum(response, score, weight, upper, tie, work);
  const struct criterion_sum below =
      ordered_sum(response + upper, score + upper, weight + upper, lower, tie, work);
  return (struct criterion_sum){
      across.loss + above.loss + below.loss, across.weight + above.weight + below.weight};
}

struct criterion_sum criterion_ordered_sum(const double *response, const double *score,
    const double *weight, ptrdiff_t count, double *work) {
  if (count < 2)
    return (struct criterion_sum){0, 0};
  const double high = response[0], low = response[count - 1];
  const double tie = CRITERION_TIE * (high - low) + SCORE_ROUNDING * fmax(fabs(high), fabs(low));
  return ordered_sum(response, score, weight, count, tie, work);
}

/* Rows of one fold, rows[0 .. count) or the first `count`; those of a query are ordered. */
static struct criterion_sum criterion_ordered(
    const struct problem *pb, const double *r, const int *rows, ptrdiff_t count, double *work) {
  double *response = work, *score = response + count, *weight = score + count;
  struct criterion_sum sum = {0, 0};
  for (ptrdiff_t p = 0, first = 0, end = 0; p < count; p++) {
    const ptrdiff_t row = rows == NULL ? p : rows[p];
    if (case_weight(pb, row) > 0) { /* the others have no say in the units either */
      response[end] = pb->response[row];
      score[end] = response[end] - r[row];
      weight[end++] = case_weight(pb, row);
    }
    const ptrdiff_t next = p + 1 == count ? -1 : rows == NULL ? p + 1 : rows[p + 1];
    if (next >= 0 && (pb->query == NULL || pb->query[next] == pb->query[row]))
      continue;
    const struct criterion_sum query = criterion_ordered_sum(
        response + first, score + first, weight + first, end - first, weight + count);
    sum.loss += query.loss;
    sum.weight += query.weight;
    first = end;
  }
  return sum;
}

/* Of rows from .. to. */
static struct criterion_sum criterion_ordered_part(
    const struct problem *pb, const double *r, ptrdiff_t from, ptrdiff_t to, double *work) {
  const struct problem rows = {.response = pb->response + from,
      .root_w = pb->root_w + from,
      .query = pb->query == NULL ? NULL : pb->query + from};
  return criterion_ordered(&rows, r + from, NULL, to - from, work);
}

double criterion_concordance(
    const struct problem *pb, const double *r, const int *start, int count, double *work) {
  struct criterion_sum sum = {0, 0};
  for (int f = 0; f < count; f++) {
    const struct criterion_sum fold = criterion_ordered_part(pb, r, start[f], start[f + 1], work);
    sum.loss += fold.loss;
    sum.weight += fold.weight;
  }
  return sum.weight > 0 ? sum.loss / sum.weight : 0;
}

/* ---- groups of rows ---- */

static double groups_worst(const struct ratio_tally *tally) {
  return tally->largest;
}

static double groups_mean_sd(const struct ratio_tally *tally) {
  return tally->mean + (tally->count > 1 ? sqrt(tally->spread / (tally->count - 1)) : 0);
}

/* ---- the table ---- */

/* A criterion is the weighted mean of a loss: of single rows, or of what else there is to count in
   rows that were held out together. A new criterion is an entry here and its name in R. */
static const struct criterion_record {
  const char *name;
  double (*row_loss)(const struct problem *pb, const double *r, ptrdiff_t row);
  /* the same of all rows, in vectors; NULL: row by row */
  struct loss_sums (*losses)(const struct problem *pb, const double *r, double centre);
  struct criterion_sum (*rows_loss)(
      const struct problem *pb, const double *r, const int *rows, ptrdiff_t count, double *work);
  int balanced; /* whether classes count alike, whatever their weights */
  double (*of_groups)(const struct ratio_tally *tally); /* of the ratios of groups; NULL: none */
} criterion_records[] = {
    [SQUARED] = {.name = "squared", .row_loss = criterion_squared, .losses = all_squared},
    [ERROR] = {.name = "error", .row_loss = criterion_error, .losses = all_errors},
    [ABSOLUTE] = {.name = "absolute", .row_loss = criterion_absolute, .losses = all_absolute},
    [AUC] = {.name = "auc", .rows_loss = criterion_pairs},
    [USER] = {.name = "user"},
    [BALANCED] = {.name = "balanced",
        .row_loss = criterion_error,
        .losses = all_errors,
        .balanced = 1},
    [LOGISTIC_LOSS] = {.name = "logistic", .row_loss = criterion_logistic},
    [HINGE_LOSS] = {.name = "hinge", .row_loss = criterion_hinge},
    [CONCORDANCE] = {.name = "concordance", .rows_loss = criterion_ordered},
    [WORST] = {.name = "worst", .row_loss = criterion_squared, .of_groups = groups_worst},
    [WORST_ERROR] = {.name = "worst_error", .row_loss = criterion_error, .of_groups = groups_worst},
    [WORST_ABSOLUTE] = {.name = "worst_absolute",
        .row_loss = criterion_absolute,
        .of_groups = groups_worst},
    [MEAN_SD] = {.name = "mean_sd", .row_loss = criterion_squared, .of_groups = groups_mean_sd},
    [MEAN_SD_ERROR] = {.name = "mean_sd_error",
        .row_loss = criterion_error,
        .of_groups = groups_mean_sd},
    [MEAN_SD_ABSOLUTE] = {.name = "mean_sd_absolute",
        .row_loss = criterion_absolute,
        .of_groups = groups_mean_sd},
    [WORST_CONCORDANCE] = {.name = "worst_concordance",
        .rows_loss = criterion_ordered,
        .of_groups = groups_worst},
    [MEAN_SD_CONCORDANCE] = {.name = "mean_sd_concordance",
        .rows_loss = criterion_ordered,
        .of_groups = groups_mean_sd},
};

int criterion_named(const char *name) {
  const int count = (int)(sizeof criterion_records / sizeof *criterion_records);
  for (int kind = 0; kind < count; kind++)
    if (strcmp(criterion_records[kind].name, name) == 0)
      return kind;
  return -1;
}

int criterion_is_of_groups(enum criterion kind) {
  return criterion_records[kind].of_groups != NULL;
}

int criterion_is_of_squares(enum criterion kind) {
  return criterion_records[kind].row_loss == criterion_squared;
}

double criterion_of_tally(enum criterion kind, const struct ratio_tally *tally) {
  return criterion_records[kind].of_groups(tally);
}

/* The ratios of pairs of each group. */
static struct ratio_tally criterion_group_pairs(
    const struct problem *pb, const double *r, const int *order, double *work) {
  struct ratio_tally tally = {0};
  for (ptrdiff_t from = 0, to; from < pb->m; from = to) {
    const int group = pb->groups.of[order == NULL ? from : order[from]];
    for (to = from; to < pb->m && pb->groups.of[order == NULL ? to : order[to]] == group;)
      to++;
    if (pb->groups.null[group] > 0)
      criterion_tally(&tally, order == NULL
                                  ? criterion_ordered_part(pb, r, from, to, work).loss
                                  : criterion_ordered(pb, r, order + from, to - from, work).loss);
  }
  return tally;
}

double criterion_groups(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, double *work) {
  const struct criterion_record *record = criterion_records + kind;
  struct ratio_tally tally = {0};
  if (record->rows_loss != NULL) {
    tally = criterion_group_pairs(pb, r, order, work);
    return criterion_of_tally(kind, &tally);
  }
  memset(work, 0, (size_t)pb->groups.count * sizeof(double));
  for (ptrdiff_t j = 0; j < pb->m; j++)
    if (pb->root_w[j] > 0)
      work[pb->groups.of[j]] += case_weight(pb, j) * record->row_loss(pb, r, j);
  for (int g = 0; g < pb->groups.count; g++)
    if (pb->groups.null[g] > 0)
      criterion_tally(&tally, work[g]);
  return criterion_of_tally(kind, &tally);
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
  for (ptrdiff_t row = 0; criterion_is_of_groups(kind) && row < pb->m; row++) {
    const double null = pb->groups.null[pb->groups.of[row]];
    const double root = criterion_is_of_pairs(kind) ? sqrt(sqrt(null)) : sqrt(null);
    root_w[row] = null > 0 ? pb->root_w[row] / root : 0;
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
    const double *r, const int *rows, ptrdiff_t count, double *work) {
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

/* Of single rows: the weighted sum of their losses, and of the squares about a centre. */
static struct loss_sums criterion_losses(
    const struct problem *pb, enum criterion kind, const double *r, double centre) {
  const struct criterion_record *record = criterion_records + kind;
  if (record->losses != NULL)
    return record->losses(pb, r, centre);
  struct loss_sums sums = {0, 0};
  for (ptrdiff_t j = 0; j < pb->m; j++) {
    const double w = case_weight(pb, j), loss = record->row_loss(pb, r, j), off = loss - centre;
    sums.sum += w * loss;
    sums.spread += w * off * off;
  }
  return sums;
}

/* A power of two near a loss, by which losses are divided before they are squared. */
static double exact_unit(double loss) {
  int exponent = 0;
  if (loss > 0 && isfinite(loss))
    frexp(loss, &exponent);
  return ldexp(1, exponent);
}

/* Losses that differ by rounding alone have no standard error. */
static struct estimate estimate_of(double mean, double se) {
  return (struct estimate){mean, se <= TIE * fabs(mean) ? 0 : se};
}

/* Every row is a fold. */
static struct estimate criterion_of_each(
    const struct problem *pb, enum criterion kind, const double *r) {
  const ptrdiff_t m = pb->m;
  const double mean = criterion_value(pb, kind, r), weight = simd->dot(m, pb->root_w, pb->root_w);
  const int usual = mean == 0 || (mean > 1e-70 && mean < 1e70);
  const double unit = usual ? 1 : exact_unit(mean);
  double spread = usual ? criterion_losses(pb, kind, r, mean).spread : 0;
  ptrdiff_t scored = 0;
  for (ptrdiff_t j = 0; j < m; j++) {
    scored += pb->root_w[j] > 0;
    if (!usual) {
      const double off = (criterion_records[kind].row_loss(pb, r, j) - mean) / unit;
      spread += case_weight(pb, j) * off * off;
    }
  }
  return estimate_of(mean, unit * sqrt(spread / weight / (double)(scored - 1)));
}

void criterion_tally_fold(struct fold_tally *tally, double loss, double weight) {
  if (weight == 0)
    return;
  const double value = loss / weight, off = value - tally->mean;
  if (tally->scored == 0)
    tally->unit = exact_unit(value);
  tally->weight += weight;
  tally->mean += off * weight / tally->weight;
  tally->spread += weight * (off / tally->unit) * ((value - tally->mean) / tally->unit);
  tally->scored++;
}

struct estimate criterion_of_folds(const struct fold_tally *tally) {
  const double variance = tally->spread / tally->weight / (tally->scored - 1);
  return estimate_of(tally->mean, tally->scored > 1 ? tally->unit * sqrt(variance) : NAN);
}

struct estimate criterion_estimate(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count, double *work) {
  if (criterion_is_of_groups(kind))
    return (struct estimate){criterion_groups(pb, kind, r, order, work), NAN};
  if (count == pb->m && criterion_records[kind].row_loss != NULL)
    return criterion_of_each(pb, kind, r);
  struct fold_tally tally = {0};
  for (int f = 0; f < count; f++) {
    const struct criterion_sum sum =
        criterion_rows(pb, kind, r, order + start[f], start[f + 1] - start[f], work);
    criterion_tally_fold(&tally, sum.loss, sum.weight);
  }
  return criterion_of_folds(&tally);
}

double criterion_loss(const struct problem *pb, enum criterion kind, const double *r) {
  return criterion_losses(pb, kind, r, 0).sum;
}

double criterion_value(const struct problem *pb, enum criterion kind, const double *r) {
  return criterion_loss(pb, kind, r) / simd->dot(pb->m, pb->root_w, pb->root_w);
}
