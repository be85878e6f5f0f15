/* How good is a model, by the residuals of rows that it has not seen. */
#ifndef SPARSELS_CRITERION_H
#define SPARSELS_CRITERION_H

#include "problem.h"

/* USER is a function of the caller's, host->user_loss(). BALANCED is the error rate of a problem
   whose weights criterion_weights() has balanced. WORST and its like are the largest of the errors
   of groups of rows, each divided by the null model's, MEAN_SD the mean of these ratios plus their
   standard deviation. */
enum criterion {
  SQUARED = 0,
  ERROR = 1,
  ABSOLUTE = 2,
  AUC = 3,
  USER = 4,
  BALANCED = 5,
  LOGISTIC_LOSS = 6,
  HINGE_LOSS = 7,
  CONCORDANCE = 8,
  WORST = 9,
  WORST_ERROR = 10,
  WORST_ABSOLUTE = 11,
  MEAN_SD = 12,
  MEAN_SD_ERROR = 13,
  MEAN_SD_ABSOLUTE = 14,
  WORST_CONCORDANCE = 15,
  MEAN_SD_CONCORDANCE = 16
};

struct estimate {
  double value; /* smaller is better */
  double se;    /* standard error over folds, NAN where there is none */
};

/* Losses of rows or of pairs, times their weights, and those weights. */
struct criterion_sum {
  double loss, weight;
};

/* The criterion of that name, -1 when there is none. */
int criterion_named(const char *name);

/* root_w (m) := square roots of the weights by which a criterion counts rows: the case weights,
   divided by the weight of the row's class where classes count alike, or by the null model's sum of
   losses of the row's group, so that sums over groups are ratios. Of pairs, whose weights are
   products of two, by the root of this sum. O(m L). */
void criterion_weights(const struct problem *pb, enum criterion kind, double *root_w);

/* loss (m) := that of each row, whatever its weight; where a residual is missing, so is the loss.
   Gives 0 for a criterion that is not one of single rows. O(m L). */
int criterion_row_losses(
    const struct problem *pb, enum criterion kind, const double *r, double *loss);

/* Whether a criterion is one of pairs of rows that are held out together. */
static inline int criterion_is_of_pairs(enum criterion kind) {
  return kind == AUC || kind == CONCORDANCE || kind == WORST_CONCORDANCE ||
         kind == MEAN_SD_CONCORDANCE;
}

/* Doubles of workspace for a criterion of pairs over folds of up to `rows` rows. */
size_t criterion_work(ptrdiff_t rows);

/* Whether a criterion compares groups of rows, and whether it does so by squared errors. */
int criterion_is_of_groups(enum criterion kind);
int criterion_is_of_squares(enum criterion kind);

/* The ratios of groups, one by one. */
struct ratio_tally {
  double count, mean, spread, largest;
};

/* Counts another ratio (West's update). */
static inline void criterion_tally(struct ratio_tally *tally, double ratio) {
  const double off = ratio - tally->mean;
  tally->count++;
  tally->mean += off / tally->count;
  tally->spread += off * (ratio - tally->mean);
  tally->largest = tally->count > 1 && tally->largest > ratio ? tally->largest : ratio;
}

/* The criterion of the ratios counted. If none is off by more than e, it is off by GROUPS_SLOPE e
   at the most. */
#define GROUPS_SLOPE 2.5
double criterion_of_tally(enum criterion kind, const struct ratio_tally *tally);

/* The value of a criterion of groups. `work`: as many doubles as there are groups. O(m L). Of
   pairs: rows order[0 .. m), or all in turn, lie group by group, the highest response of a group
   first. `work`: criterion_work(m). */
double criterion_groups(
    const struct problem *pb, enum criterion kind, const double *r, const int *order, double *work);

/* Folds, one by one; the spread is in squares of `unit`. */
struct fold_tally {
  double mean, weight, spread, unit;
  int scored;
};

/* Counts the loss of a fold, whose rows weigh so much (West's update). */
void criterion_tally_fold(struct fold_tally *tally, double loss, double weight);

/* The weighted mean of the folds, and the standard error of a weighted mean. */
struct estimate criterion_of_folds(const struct fold_tally *tally);

/* Over one partition, from residuals r (m x L) in the user's units; rows of fold f are
   order[start[f] .. start[f + 1]), for a concordance query by query, the highest response of a
   query first, for one of pairs in groups group by group. `work`: criterion_work() for a criterion
   of pairs, otherwise for one of groups as many doubles as there are groups. O(m L). */
struct estimate criterion_estimate(const struct problem *pb, enum criterion kind, const double *r,
    const int *order, const int *start, int count, double *work);

/* The value alone of a criterion of single rows, and the weighted sum of losses that it is the mean
   of, for the many candidates of a step. O(m L). */
double criterion_value(const struct problem *pb, enum criterion kind, const double *r);
double criterion_loss(const struct problem *pb, enum criterion kind, const double *r);

/* The value of an AUC, for rows that lie fold by fold, the positive ones of a fold first. `work`:
   criterion_work() of the largest fold. O(m). */
double criterion_auc(
    const struct problem *pb, const double *r, const int *start, int count, double *work);

/* The value of a concordance, for rows that lie fold by fold, query by query, the highest response
   of a query first. `work`: criterion_work() of the largest fold. O(m log m). */
double criterion_concordance(
    const struct problem *pb, const double *r, const int *start, int count, double *work);

/* Loss of a pair of scores: 0 in the right order, 1 in the wrong one, a tie counts half. */
double criterion_pair_loss(double positive, double negative);

/* Of all pairs of a positive score, which come first, and a negative one. `work`:
   criterion_work(count). O(count), for scores however uneven O(count log count) in practice. */
struct criterion_sum criterion_pair_sum(
    const double *score, const double *weight, ptrdiff_t positives, ptrdiff_t count, double *work);

/* Of all pairs of rows with different responses, which do not rise: the one with the higher
   response should have the higher score. Equal scores are in the units of the responses. `work`:
   criterion_work(count). O(count log count) in practice. */
struct criterion_sum criterion_ordered_sum(const double *response, const double *score,
    const double *weight, ptrdiff_t count, double *work);

#endif
