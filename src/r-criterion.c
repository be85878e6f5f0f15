/* What R calls for criteria: losses of rows, and pairs of rows in the right order. */
#include "r.h"
#include "simd.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* The number of models whose residuals (m x L x models) these are. */
static ptrdiff_t count_models(const struct problem *pb, SEXP residual) {
  const ptrdiff_t values = pb->m * pb->L, models = values > 0 ? xlength(residual) / values : 0;
  if (xlength(residual) != values * models)
    error("internal: response and residuals must be of one size");
  return models;
}

static struct problem with_response(SEXP response) {
  return (struct problem){.m = nrows(response),
      .L = ncols(response),
      .response = finite_values(response, "response", (double)xlength(response))};
}

/* loss (m) := the loss of every row of model k. */
static void losses_of_model(
    const struct problem *pb, SEXP name, const double *residual, ptrdiff_t k, double *loss) {
  if (!criterion_row_losses(pb, unpack_criterion(name), residual + k * pb->m * pb->L, loss))
    error("internal: not a criterion of single rows");
}

/* The loss of every row of a criterion of single rows (m x models), from the response (m x L) and
   the residuals of models (m x L x models). A residual may be missing. */
SEXP C_row_losses(SEXP name, SEXP response, SEXP residual) {
  const struct problem pb = with_response(response);
  const ptrdiff_t models = count_models(&pb, residual);
  const double *r = double_values(residual, "residual", (double)xlength(residual));
  SEXP loss = PROTECT(allocVector(REALSXP, pb.m * models));
  for (ptrdiff_t k = 0; k < models; k++)
    losses_of_model(&pb, name, r, k, REAL(loss) + k * pb.m);
  UNPROTECT(1);
  return loss;
}

/* The weighted sum of these losses for each model, missing where a residual is. */
SEXP C_row_loss_sums(SEXP name, SEXP response, SEXP residual, SEXP weight) {
  struct problem pb = with_response(response);
  const ptrdiff_t models = count_models(&pb, residual), size = pb.m * pb.L;
  const double *r = double_values(residual, "residual", (double)xlength(residual));
  const double *w = finite_values(weight, "weight", (double)pb.m);
  double *loss = (double *)R_alloc((size_t)pb.m, sizeof(double));
  double *root_w = (double *)R_alloc((size_t)pb.m, sizeof(double));
  for (ptrdiff_t row = 0; row < pb.m; row++)
    root_w[row] = sqrt(w[row]);
  pb.root_w = root_w;
  SEXP sums = PROTECT(allocVector(REALSXP, models));
  for (ptrdiff_t k = 0; k < models; k++) {
    double sum = 0;
    if (isfinite(simd->dot(size, r + k * size, r + k * size))) {
      sum = criterion_loss(&pb, unpack_criterion(name), r + k * size);
    } else {
      losses_of_model(&pb, name, r, k, loss);
      sum = simd->dot(pb.m, w, loss);
    }
    REAL(sums)[k] = sum;
  }
  UNPROTECT(1);
  return sums;
}

/* loss (m) := the squared lengths of the residuals of rows (m x L) in a unit, and beyond the square
   of a limit the linear function that continues them. huber: the limit and the unit. */
static void huber_of_model(
    ptrdiff_t m, ptrdiff_t L, const double *r, const double *huber, double *loss) {
  const double limit = huber[0], unit = huber[1];
  for (ptrdiff_t row = 0; row < m; row++) {
    loss[row] = 0;
    for (ptrdiff_t l = 0; l < L; l++)
      loss[row] += (r[row + l * m] / unit) * (r[row + l * m] / unit);
    if (loss[row] > limit * limit)
      loss[row] = 2 * limit * sqrt(loss[row]) - limit * limit;
  }
}

/* These losses of models (m x models) from their residuals (m x L x models). */
SEXP C_huber_losses(SEXP residual, SEXP huber) {
  const int *dim = index_values(getAttrib(residual, R_DimSymbol), "residual", 3, 0, INT_MAX);
  const ptrdiff_t m = dim[0], L = dim[1], models = dim[2];
  const double *r = double_values(residual, "residual", (double)xlength(residual));
  SEXP losses = PROTECT(allocMatrix(REALSXP, (int)m, (int)models));
  for (ptrdiff_t k = 0; k < models; k++)
    huber_of_model(m, L, r + k * m * L, double_values(huber, "huber", 2), REAL(losses) + k * m);
  UNPROTECT(1);
  return losses;
}

/* The sums of the gains of a model over the first, of their squares and of their cubes, and the
   number of rows that have a weight (4), from the losses of rows. */
static void moments_of_gains(
    ptrdiff_t m, const double *first, const double *loss, const double *w, double *out) {
  long double sum = 0, squares = 0, cubes = 0;
  ptrdiff_t count = 0;
  for (ptrdiff_t row = 0; row < m; row++) {
    const double gain = w[row] * (first[row] - loss[row]), square = gain * gain;
    const int counted = w[row] > 0;
    sum += counted ? gain : 0;
    squares += counted ? square : 0;
    cubes += counted ? square * gain : 0;
    count += counted;
  }
  out[0] = (double)sum;
  out[1] = (double)squares;
  out[2] = (double)cubes;
  out[3] = (double)count;
}

/* These moments of models (4 x models), from the losses of rows (m x models), or from residuals (m
   x L x models) and their Huber losses. */
SEXP C_gain_moments(SEXP losses, SEXP weight, SEXP huber) {
  SEXP dim = getAttrib(losses, R_DimSymbol);
  const ptrdiff_t m = nrows(losses), L = isNull(huber) ? 1 : ncols(losses);
  const ptrdiff_t models = isNull(dim) ? 1 : INTEGER(dim)[length(dim) - 1];
  const double *values = double_values(losses, "losses", (double)(m * L * models));
  const double *w = finite_values(weight, "weight", (double)m);
  double *first = (double *)R_alloc((size_t)(2 * m), sizeof(double)), *loss = first + m;
  SEXP moments = PROTECT(allocMatrix(REALSXP, 4, (int)models));
  for (ptrdiff_t k = 0; k < models; k++) {
    const double *own = values + k * m * L;
    if (!isNull(huber))
      huber_of_model(m, L, own, double_values(huber, "huber", 2), loss);
    else
      memcpy(loss, own, (size_t)m * sizeof(double));
    if (k == 0)
      memcpy(first, loss, (size_t)m * sizeof(double));
    moments_of_gains(m, first, loss, w, REAL(moments) + 4 * k);
  }
  UNPROTECT(1);
  return moments;
}

/* The loss of pairs of scores, missing where one of the two is. */
SEXP C_pair_losses(SEXP positive, SEXP negative) {
  const R_xlen_t count = xlength(positive);
  if (xlength(negative) != count)
    error("internal: pairs need as many scores of one kind as of the other");
  const double *p = double_values(positive, "score", (double)count);
  const double *n = double_values(negative, "score", (double)count);
  SEXP loss = PROTECT(allocVector(REALSXP, count));
  for (R_xlen_t i = 0; i < count; i++)
    REAL(loss)[i] = ISNAN(p[i]) || ISNAN(n[i]) ? p[i] + n[i] : criterion_pair_loss(p[i], n[i]);
  UNPROTECT(1);
  return loss;
}

/* The values of one vector and then those of another. */
static double *joined(const double *first, R_xlen_t count, const double *second, R_xlen_t more) {
  double *all = (double *)R_alloc((size_t)(count + more), sizeof(double));
  memcpy(all, first, (size_t)count * sizeof(double));
  memcpy(all + count, second, (size_t)more * sizeof(double));
  return all;
}

/* NA where one of the scores is missing, else 0. */
static double missing_score(const double *score, R_xlen_t count) {
  double missing = 0;
  for (R_xlen_t i = 0; i < count; i++)
    missing += ISNAN(score[i]) ? NA_REAL : 0;
  return missing;
}

/* The weight of pairs in the right order, and of all pairs. */
static SEXP pair_weights(double right, double all) {
  SEXP weights = allocVector(REALSXP, 2);
  REAL(weights)[0] = right;
  REAL(weights)[1] = all;
  return weights;
}

/* Pairs are of a positive and a negative score. A tie counts half. The weight of pairs in the right
   order is missing where a score is. */
SEXP C_pair_sum(SEXP positive, SEXP positive_weights, SEXP negative, SEXP negative_weights) {
  const R_xlen_t p = xlength(positive), n = xlength(negative), count = p + n;
  const double *score = joined(double_values(positive, "score", (double)p), p,
      double_values(negative, "score", (double)n), n);
  const double *weight = joined(finite_values(positive_weights, "weights", (double)p), p,
      finite_values(negative_weights, "weights", (double)n), n);
  double *work = (double *)R_alloc(criterion_work(count), sizeof(double));
  const struct criterion_sum sum = criterion_pair_sum(score, weight, p, count, work);
  return pair_weights(sum.weight - sum.loss + missing_score(score, count), sum.weight);
}

/* Rows are query by query, the highest response of a query first. Pairs are of two rows of a query
   with different responses, in the right order when their scores are in the order of their
   responses. A tie counts half. */
SEXP C_ordered_sum(SEXP response, SEXP score, SEXP weight, SEXP query) {
  const R_xlen_t m = xlength(response);
  const double *y = finite_values(response, "response", (double)m);
  const double *f = double_values(score, "score", (double)m);
  const double *w = finite_values(weight, "weights", (double)m);
  const int *id = index_values(query, "query", (double)m, 1, INT_MAX);
  double *work = (double *)R_alloc(criterion_work(m), sizeof(double));
  double loss = 0, all = 0;
  for (R_xlen_t from = 0, to; from < m; from = to) {
    for (to = from; to < m && id[to] == id[from];)
      to++;
    const struct criterion_sum sum =
        criterion_ordered_sum(y + from, f + from, w + from, to - from, work);
    loss += sum.loss + missing_score(f + from, to - from);
    all += sum.weight;
  }
  return pair_weights(all - loss, all);
}
