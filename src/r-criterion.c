/* What R calls for criteria: losses of rows, and pairs of rows in the right order. */
#include "r.h"

#include <string.h>

/* The loss of every row of a criterion of single rows (m x models), from the response (m x L) and
   the residuals of models (m x L x models). A residual may be missing. */
SEXP C_row_losses(SEXP name, SEXP response, SEXP residual) {
  const ptrdiff_t m = nrows(response), L = ncols(response);
  const ptrdiff_t values = m * L, models = values > 0 ? xlength(residual) / values : 0;
  if (xlength(residual) != values * models)
    error("internal: response and residuals must be of one size");
  const struct problem pb = {
      .m = m, .L = L, .response = finite_values(response, "response", (double)values)};
  const double *r = double_values(residual, "residual", (double)xlength(residual));
  SEXP loss = PROTECT(allocVector(REALSXP, m * models));
  for (ptrdiff_t k = 0; k < models; k++)
    if (!criterion_row_losses(&pb, unpack_criterion(name), r + k * values, REAL(loss) + k * m))
      error("internal: not a criterion of single rows");
  UNPROTECT(1);
  return loss;
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
