/* Views of what R gives. All that a kernel reads by them was checked, so that no object that a user
   edited, or a file damaged, makes it read beyond the memory of a vector. */
#include "r.h"

#include "column.h"
#include <math.h>
#include <string.h>

/* ---- matrices ---- */

struct size size_of(SEXP x) {
  SEXP dim = IS_S4_OBJECT(x)       ? R_do_slot(x, install("Dim"))
             : TYPEOF(x) == VECSXP ? field(x, "dim")
                                   : getAttrib(x, R_DimSymbol);
  const int *size = index_values(dim, "x", 2, 0, INT_MAX);
  return (struct size){size[0], size[1]};
}

/* A function in pieces: a list of its `range`, `start` and `pieces`. */
static struct piecewise unpack_pieces(SEXP f) {
  const double *range = double_field(f, "range", 2);
  const ptrdiff_t count = length(field(f, "start"));
  return (struct piecewise){.low = range[0],
      .high = range[1],
      .count = count,
      .start = double_field(f, "start", (double)count),
      .cubic = double_field(f, "pieces", 4. * (double)count)};
}

/* A computed_matrix: the columns of its `source` that each column is a function `of`, and the
   numbers `by` of these functions, 0 for none (2 x n). */
static struct matrix unpack_computed(SEXP x, struct size size) {
  const ptrdiff_t n = size.columns;
  SEXP functions = field(x, "functions"), source = field(x, "source");
  expect(isReal(source) && isMatrix(source) && nrows(source) == size.rows, "source");
  const int count = length(functions);
  struct piecewise *each = (struct piecewise *)R_alloc((size_t)count + 1, sizeof *each);
  each[0] = (struct piecewise){.low = -INFINITY, .high = INFINITY};
  for (int f = 0; f < count; f++)
    each[f + 1] = unpack_pieces(VECTOR_ELT(functions, f));
  const int *of = index_field(x, "of", 2. * (double)n, 0, ncols(source));
  const int *by = index_field(x, "by", 2. * (double)n, 0, count);
  struct computed *columns = (struct computed *)R_alloc((size_t)n, sizeof *columns);
  for (ptrdiff_t j = 0; j < n; j++, of += 2, by += 2) {
    expect(of[0] > 0, "of");
    const double *first = REAL(source) + (of[0] - 1) * size.rows;
    columns[j] =
        (struct computed){.of = {first, of[1] > 0 ? REAL(source) + (of[1] - 1) * size.rows : NULL},
            .by = {each[by[0]], each[by[1]]}};
  }
  return (struct matrix){.element = COMPUTED, .computed = columns};
}

/* A file_matrix, a float_matrix or a computed_matrix, which may carry what stands for the missing
   values of the n columns that are read. */
static struct matrix unpack_in_place(SEXP x, struct size size, ptrdiff_t n) {
  struct matrix view = {.element = FLOATS};
  if (inherits(x, "file_matrix")) {
    view = unpack_file(x, size);
  } else if (inherits(x, "computed_matrix")) {
    view = unpack_computed(x, size);
  } else {
    SEXP bytes = field(x, "bytes");
    expect(TYPEOF(bytes) == RAWSXP, "bytes");
    expect((double)xlength(bytes) == 4. * (double)size.rows * (double)size.columns, "bytes");
    view.dense = RAW(bytes);
  }
  const double *fill = has_field(x, "fill") ? double_or_null(x, "fill", (double)n) : NULL;
  return fill == NULL ? view : fill_missing(view, fill);
}

static struct matrix unpack_sparse(SEXP x, struct size size) {
  SEXP value = R_do_slot(x, install("x")), i = R_do_slot(x, install("i"));
  const int *p =
      start_values(R_do_slot(x, install("p")), "x", (double)size.columns, (int)XLENGTH(i));
  expect(isReal(value) && XLENGTH(value) == XLENGTH(i), "x");
  return (struct matrix){.x = REAL(value),
      .i = index_values(i, "x", (double)XLENGTH(i), 0, (int)size.rows - 1),
      .p = p};
}

struct matrix unpack_matrix(SEXP x, ptrdiff_t m, ptrdiff_t n) {
  const struct size size = size_of(x);
  expect(size.rows == m && size.columns >= n, "x");
  switch (TYPEOF(x)) {
  case REALSXP:
    return (struct matrix){.element = DOUBLES, .dense = REAL(x)};
  case INTSXP:
    return (struct matrix){.element = INTEGERS, .dense = INTEGER(x)};
  case LGLSXP:
    return (struct matrix){.element = INTEGERS, .dense = LOGICAL(x)};
  case VECSXP:
    return unpack_in_place(x, size, n);
  default:
    return unpack_sparse(x, size);
  }
}

/* ---- rows ---- */

/* The rows of each query, which count from 1. */
struct queries unpack_queries(SEXP query, int m) {
  const int *id = index_values(query, "query", m, 1, m);
  int count = 0;
  for (int j = 0; j < m; j++)
    count = id[j] > count ? id[j] : count;
  int *order = (int *)R_alloc((size_t)m, sizeof(int));
  int *start = (int *)R_alloc((size_t)count + 1, sizeof(int));
  memset(start, 0, ((size_t)count + 1) * sizeof(int));
  for (int j = 0; j < m; j++)
    start[id[j] - 1]++;
  for (int g = 0; g < count; g++)
    start[g + 1] += start[g];
  for (int j = m; j-- > 0;) /* ends of queries become starts */
    order[--start[id[j] - 1]] = j;
  return (struct queries){count, order, start};
}

/* Whether each of the rows, from 1 to m, comes once. */
static int are_permuted(const int *row, int m) {
  char *seen = R_alloc((size_t)m, 1);
  memset(seen, 0, (size_t)m);
  int twice = 0;
  for (int p = 0; p < m; p++) {
    twice |= seen[row[p] - 1];
    seen[row[p] - 1] = 1;
  }
  return !twice;
}

/* ids (m x repeats) count folds from 1; the rows of a fold are in the order of `rows` (m), if that
   is given. No fold is empty. */
struct folds unpack_folds(SEXP folds, ptrdiff_t rows_of_x) {
  const int m = (int)rows_of_x, loo = int_field(folds, "loo");
  SEXP ids = field(folds, "ids");
  const int *id = index_values(ids, "ids", (double)xlength(ids), 1, m);
  expect(nrows(ids) == m && ncols(ids) > 0, "ids");
  const int repeats = ncols(ids);
  const int *rows = has_field(folds, "rows") ? index_field(folds, "rows", m, 1, m) : NULL;
  expect(rows == NULL || are_permuted(rows, m), "rows");
  int *order = (int *)R_alloc((size_t)m * (size_t)repeats, sizeof(int));
  int *start = (int *)R_alloc(((size_t)m + 1) * (size_t)repeats, sizeof(int));
  int *count = (int *)R_alloc((size_t)repeats, sizeof(int));
  const struct folds out = {loo, repeats, order, count, start};
  for (int r = 0; r < repeats; r++, order += m, id += m) {
    count[r] = 0;
    for (int j = 0; j < m; j++)
      count[r] = id[j] > count[r] ? id[j] : count[r];
    memset(start, 0, ((size_t)count[r] + 1) * sizeof(int));
    for (int j = 0; j < m; j++)
      start[id[j] - 1]++;
    for (int f = 0; f < count[r]; f++) {
      expect(start[f] > 0, "ids");
      start[f + 1] += start[f];
    }
    expect(!loo || count[r] == m, "loo");
    for (int p = m; p-- > 0;) { /* ends of folds become starts */
      const int j = rows == NULL ? p : rows[p] - 1;
      order[--start[id[j] - 1]] = j;
    }
    start += count[r] + 1;
  }
  return out;
}

/* ---- problems ---- */

/* The rows at risk of a response of times. */
struct risk_sets unpack_risk(SEXP risk, int m) {
  if (isNull(risk))
    return (struct risk_sets){.moments = 0};
  const int moments = length(field(risk, "first"));
  return (struct risk_sets){.moments = moments,
      .efron = int_field(risk, "efron"),
      .late = int_field(risk, "late"),
      .first = index_field(risk, "first", moments, 0, moments - 1),
      .from = index_field(risk, "from", m, 0, moments),
      .to = index_field(risk, "to", m, 0, moments),
      .event = index_field(risk, "event", m, -1, moments - 1)};
}

struct problem unpack_problem(SEXP problem, int searches) {
  SEXP y = matrix_field(problem, "y", ANY, ANY), query = field(problem, "query");
  SEXP Q = matrix_field(problem, "q", nrows(y), ANY), usable = field(problem, "usable");
  const int m = nrows(y), n = length(usable), L = ncols(y);
  const double columns = n;
  expect(L % searches == 0, "y");
  return (struct problem){.m = m,
      .n = n,
      .L = L,
      .q = ncols(Q),
      .x = unpack_matrix(field(problem, "x"), m, n),
      .centre = double_field(problem, "centre", columns),
      .inv_scale = double_field(problem, "inv_scale", columns),
      .squares = double_field(problem, "squares", columns),
      .rss = double_field(problem, "rss", columns),
      .products = double_field(problem, "products", columns * (L / searches)),
      .usable = index_values(usable, "usable", columns, 0, 1),
      .root_w = double_field(problem, "root_w", m),
      .divisor = double_field(problem, "divisor", m),
      .Q = REAL(Q),
      .held = REAL(has_field(problem, "held") ? matrix_field(problem, "held", m, ncols(Q)) : Q),
      .y = REAL(y),
      .response = REAL(matrix_field(problem, "response", m, L)),
      .offset = double_or_null(problem, "offset", m * L),
      .risk = unpack_risk(has_field(problem, "risk") ? field(problem, "risk") : R_NilValue, m),
      .query = isNull(query) ? NULL : INTEGER(query),
      .queries = isNull(query) ? (struct queries){0, NULL, NULL} : unpack_queries(query, m)};
}

struct gram unpack_gram(SEXP terms) {
  SEXP b = matrix_field(terms, "b", ANY, ANY);
  const int n = nrows(b), m = count_field(terms, "m");
  const double columns = n;
  struct gram gram = {.n = n,
      .L = ncols(b),
      .diagonal = double_field(terms, "diagonal", columns),
      .b = REAL(b),
      .full = double_or_null(terms, "whole", columns * columns),
      .m = m,
      .X = double_or_null(terms, "X", (double)m * columns)};
  if (gram.full == NULL && gram.X == NULL) {
    gram.x = unpack_matrix(field(terms, "x"), m, n);
    expect(gram.x.p != NULL, "x");
    gram.w = double_field(terms, "w", m);
    gram.scale = double_field(terms, "scale", columns);
    gram.G = REAL(matrix_field(terms, "G", ANY, n));
    gram.q = nrows(field(terms, "G"));
  }
  return gram;
}
