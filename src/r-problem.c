/* What R calls for columns: moments, means, squares within queries, products, and symmetry. */
#include "r.h"

#include "products.h"
#include "simd.h"
#include "spline.h"

/* NULL where Ctrl-C ended it. */
SEXP C_column_moments(SEXP x, SEXP w, SEXP centred, SEXP v, SEXP threads) {
  const ptrdiff_t m = nrows(v), n = size_of(x).columns, L = ncols(v);
  struct answer out = new_answer();
  PROTECT(out.list);
  const struct moments moments = {.m = m,
      .n = n,
      .L = L,
      .x = unpack_matrix(x, m, n),
      .w = finite_values(w, "weights", (double)m),
      .v = finite_values(v, "v", (double)m * (double)L),
      .centred = int_value(centred, "centred"),
      .centre = add_real(&out, "centre", (size_t)n),
      .squares = add_real(&out, "squares", (size_t)n),
      .products = add_real(&out, "products", (size_t)(n * L)),
      .stop = is_interrupted};
  const enum status status = column_moments(&moments, threads_here(threads, n));
  UNPROTECT(1);
  return status == COMPLETE ? answer_list(&out) : R_NilValue;
}

/* Products of the columns of a dense x with each other, by each column of v (n x n x columns of v).
   NULL where Ctrl-C ended it. */
SEXP C_weighted_products(SEXP x, SEXP v) {
  const ptrdiff_t m = nrows(v), n = size_of(x).columns, count = ncols(v);
  SEXP products = PROTECT(alloc3DArray(REALSXP, (int)n, (int)n, (int)count));
  const struct weighted_columns columns = {.m = m,
      .n = n,
      .count = count,
      .x = unpack_matrix(x, m, n),
      .v = finite_values(v, "v", (double)m * (double)count),
      .stop = is_interrupted};
  expect(columns.x.p == NULL, "x");
  void *work;
  SEXP workspace = PROTECT(alloc_workspace(weighted_products_work(n), &work));
  const enum status status = weighted_products(&columns, work, REAL(products));
  release_workspace(workspace);
  UNPROTECT(2);
  return status == COMPLETE ? products : R_NilValue;
}

/* Sums of squares of the columns of x about their weighted means of each query. NULL where Ctrl-C
   ended it. */
SEXP C_within_squares(SEXP x, SEXP centre, SEXP root_w, SEXP query, SEXP threads) {
  const int m = length(root_w), n = length(centre);
  const struct problem pb = {.m = m,
      .n = n,
      .x = unpack_matrix(x, m, n),
      .centre = finite_values(centre, "centre", n),
      .root_w = finite_values(root_w, "weights", m),
      .queries = unpack_queries(query, m)};
  const int count = threads_here(threads, pb.n);
  SEXP squares = PROTECT(allocVector(REALSXP, pb.n));
  const struct within_squares within = {.pb = &pb,
      .scratch = (double *)R_alloc((size_t)(count * pb.m), sizeof(double)),
      .squares = REAL(squares),
      .stop = is_interrupted};
  const enum status status = column_within_squares(&within, count);
  UNPROTECT(1);
  return status == COMPLETE ? squares : R_NilValue;
}

/* Of a dense x. NULL where Ctrl-C ended it. */
SEXP C_column_means(SEXP x, SEXP w, SEXP threads) {
  const ptrdiff_t m = length(w), n = size_of(x).columns;
  struct answer out = new_answer();
  PROTECT(out.list);
  const struct present_means means = {.m = m,
      .n = n,
      .x = unpack_matrix(x, m, n),
      .w = finite_values(w, "weights", (double)m),
      .mean = add_real(&out, "mean", (size_t)n),
      .missing = add_real(&out, "missing", (size_t)n),
      .stop = is_interrupted};
  expect(means.x.p == NULL, "x");
  const enum status status = column_means(&means, threads_here(threads, n));
  UNPROTECT(1);
  return status == COMPLETE ? answer_list(&out) : R_NilValue;
}

static struct splines unpack_splines(SEXP knots, SEXP unit, SEXP values, SEXP second) {
  const int count = ncols(values), at = length(knots);
  expect(at > 1 && nrows(values) == at, "knots");
  return (struct splines){.knots = at,
      .count = count,
      .at = finite_values(knots, "knots", at),
      .unit = real_value(unit, "scale"),
      .values = finite_values(values, "values", (double)at * count),
      .second = finite_values(second, "second", (double)at * count)};
}

/* The functions at x, which has one column for each. */
SEXP C_spline_values(SEXP x, SEXP knots, SEXP unit, SEXP values, SEXP second) {
  const struct splines splines = unpack_splines(knots, unit, values, second);
  const double *points = double_values(x, "x", (double)xlength(x));
  SEXP out = PROTECT(allocMatrix(REALSXP, length(x), (int)splines.count));
  spline_values(&splines, length(x), points, REAL(out));
  UNPROTECT(1);
  return out;
}

/* Their products with each other over x with these weights. */
SEXP C_spline_products(SEXP x, SEXP w, SEXP knots, SEXP unit, SEXP values, SEXP second) {
  const struct splines splines = unpack_splines(knots, unit, values, second);
  const int m = length(x), count = (int)splines.count;
  const double *points = finite_values(x, "x", m), *weights = finite_values(w, "weights", m);
  SEXP out = PROTECT(allocMatrix(REALSXP, count, count));
  double *sums = (double *)R_alloc((size_t)(16 * (splines.knots - 1)), sizeof(double));
  spline_products(&splines, m, points, weights, sums, REAL(out));
  UNPROTECT(1);
  return out;
}

/* Knots of x with these weights, in ascending order by numbers from 1. */
SEXP C_quantile_knots(SEXP x, SEXP w, SEXP order, SEXP most, SEXP ends) {
  const int m = length(x);
  const struct quantiles of = {.m = m,
      .most = (ptrdiff_t)real_value(most, "most"),
      .x = finite_values(x, "x", m),
      .w = finite_values(w, "weights", m),
      .order = index_values(order, "order", m, 1, m),
      .low = finite_values(ends, "ends", 2)[0],
      .high = REAL(ends)[1]};
  const struct quantile_work work = {.value = (double *)R_alloc((size_t)m, sizeof(double)),
      .weight = (double *)R_alloc((size_t)m, sizeof(double))};
  SEXP found = PROTECT(allocVector(REALSXP, of.most + 1));
  SEXP knots = PROTECT(xlengthgets(found, quantile_knots(&of, work, REAL(found))));
  UNPROTECT(2);
  return knots;
}

/* X B + Z C with these columns of X, which count from 0, rows x models, without the search for
   missing values that R's product makes. X may be read in place or computed as it is read. */
SEXP C_linear_scores(SEXP X, SEXP columns, SEXP B, SEXP Z, SEXP C) {
  const struct size size = size_of(X);
  const struct matrix x = unpack_matrix(X, size.rows, size.columns);
  const int n = length(columns);
  const int *list = index_values(columns, "columns", n, 0, (int)size.columns - 1);
  expect(x.p == NULL && isReal(B) && n == nrows(B), "x");
  expect(isReal(Z) && isReal(C) && size.rows == nrows(Z) && ncols(Z) == nrows(C) &&
             ncols(B) == ncols(C),
      "z");
  SEXP out = PROTECT(allocVector(REALSXP, (R_xlen_t)size.rows * ncols(B)));
  double *scores = REAL(out);
  linear_scores(size.rows, &x, n, list, ncols(B), REAL(B), scores);
  for (ptrdiff_t l = 0; l < ncols(B); l++, scores += size.rows)
    for (ptrdiff_t j = 0; j < ncols(Z); j++)
      simd->shift(size.rows, scores, -REAL(C)[j + l * ncols(Z)], REAL(Z) + j * size.rows);
  UNPROTECT(1);
  return out;
}

/* X'V, without the search for missing values that R's crossprod() makes in X each time. */
SEXP C_cross_columns(SEXP X, SEXP V) {
  expect(isReal(X) && isReal(V) && nrows(X) == nrows(V), "x");
  const ptrdiff_t m = nrows(X), n = ncols(X);
  SEXP out = PROTECT(allocMatrix(REALSXP, (int)n, ncols(V)));
  for (ptrdiff_t l = 0; l < ncols(V); l++)
    gram_products(m, n, REAL(X), REAL(V) + l * m, REAL(out) + l * n);
  UNPROTECT(1);
  return out;
}

/* Row and column, from 1, of an entry unlike its mirror image, or one that is not finite. NULL when
   there is none. */
SEXP C_asymmetry(SEXP A, SEXP root, SEXP share) {
  const ptrdiff_t n = ncols(A);
  const double *values = double_values(A, "x", (double)n * (double)n);
  const double *roots = double_values(root, "x", (double)n);
  const ptrdiff_t place = asymmetric_entry(n, values, roots, real_value(share, "share"));
  if (place < 0)
    return R_NilValue;
  SEXP at = PROTECT(allocVector(INTSXP, 2));
  INTEGER(at)[0] = (int)(place % n) + 1;
  INTEGER(at)[1] = (int)(place / n) + 1;
  UNPROTECT(1);
  return at;
}
