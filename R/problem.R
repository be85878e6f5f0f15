#' Prepare data for the methods of the package
#'
#' Checks the data once and stores them in the form that every method of the package takes:
#' candidate columns, coded response, case weights and unpenalised covariates.
#'
#' With weights \eqn{w_j}, unpenalised covariates \eqn{z_j} (the intercept is one of them) and
#' chosen columns \eqn{S}, the methods minimise
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2,}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2,}
#' where \eqn{\tilde x}{xs} is `x` with each column centred and divided by its scale. The scale is
#' the weighted root mean square deviation \eqn{\sqrt{\sum_j w_j (x_j - c)^2 / \sum_j w_j}}{
#' sqrt(sum_j w_j (x_j - c)^2 / sum_j w_j)} about the weighted mean \eqn{c} (about 0 without
#' intercept), and 1 with `standardize = FALSE`. It is estimated on all rows of the problem,
#' including those that a method holds out; `cross_validate()` estimates it anew on each outer
#' training set. Coefficients and predictions always come back on the user's scale.
#'
#' Columns that are constant, zero or collinear with the covariates are excluded: no method chooses
#' them, and `print()` lists them. They are not an error.
#'
#' Logical values count as 0 and 1. In a data frame or formula, factor and character variables
#' become indicator columns with treatment contrasts, named as [stats::model.matrix()] names them.
#' A formula may use `.`, transformations and interactions; `offset()` is not supported and the
#' intercept is removed by `intercept = FALSE` only. Formulas that only add and remove variables,
#' such as `y ~ .`, are fast with many thousands of columns.
#'
#' **Missing values** of `x` are an error by default, which names the first. With
#' `missing = "mean"` each (`NA` or `NaN`; an infinite value remains an error) is replaced by the
#' weighted mean of the values that its column has in the training rows, those of positive weight.
#' A column without any is excluded as constant. `print()` says how many values were replaced.
#' Columns of factors have no mean: missing values of factors remain errors, and in new data `NA` is
#' predicted for them. A mean says nothing of its row, and replacing by it assumes that whether a
#' value is missing has nothing to do with the response.
#'
#' Wherever a method is trained on other rows or weights the means are computed anew, of these rows
#' alone: in `problem[rows, ]`, in each training set of [cross_validate()], [learning_curve()],
#' [compare_methods()] and [stability_selection()], in each fold of [l1_path()], and in each
#' repetition of a search for the choice of size (`size_folds`). The rows held out there get the
#' means of the rows trained on, and so do new data in `predict()`: what is predicted has no part in
#' the means. The exact shortcuts are not so strict. Leave-one-out and fold errors *within* one
#' search, one kernel fit, [exchange()] or [panel_error()] hold out rows of the completed `x`, whose
#' means are those of all training rows, as its scale is. The errors of `cross_validate()` and those
#' of the choice of size are free of that.
#'
#' `problem[rows, cols]` is a problem on a subset, with centre and scale estimated on the rows
#' chosen; rows and columns are chosen by number, by name or by a logical vector.
#'
#' Time is O(m n (1 + q)) for m rows, n columns and q covariates, or O(nonzeros) for sparse `x`. A
#' matrix of doubles, integers or logicals is not copied; working memory beyond `x` is about a
#' hundred thousand doubles. With `missing = "mean"` and values that are missing a matrix in memory
#' is copied once, as doubles, and the places of the missing values take 4 bytes each.
#'
#' @param x One of:
#'   * a numeric, integer or logical matrix, rows are observations (m x n);
#'   * a sparse matrix of the Matrix package, kept sparse as `dgCMatrix`;
#'   * a `DelayedMatrix`, which is read into memory unless it is large, see Bioconductor;
#'   * a [float_matrix()] or a [file_matrix()], which are read in place;
#'   * the path of a `.bed` file of PLINK, see [bed_matrix()], or a matrix of bigstatsr or
#'     bigmemory, see [as_file_matrix()], which are read in place, too;
#'   * a data frame of candidate variables;
#'   * a formula `response ~ columns`, with `data`;
#'   * an experiment of Bioconductor (genes x samples), which is transposed: a
#'     `SummarizedExperiment`, `SingleCellExperiment`, `ExpressionSet`, `DGEList` or
#'     `MultiAssayExperiment`, see Bioconductor;
#'   * an earlier problem, which is returned as it is.
#' @param y The response, one value per row: a numeric vector (regression); a factor, character or
#'   logical vector with two values (coded -1 and +1, the second level is +1) or more (one -1/+1
#'   column per class); a numeric matrix or data frame with one column per response (m x L);
#'   censored times, `Surv(time, status)` of the survival package, see Survival. For classes given
#'   as numbers see `task`. For an experiment also the name of a column of its sample
#'   data (`colData`, `pData`, `samples`), or a formula such as `~ group` or `~ log(age)` on them.
#'   Must not be given with a formula `x`.
#' @param ... Must be empty: the arguments below are given by name; an unknown name is an error.
#' @param data A data frame with the variables of the formulas `x` and `adjust`; with a formula it
#'   may also come second, as in `as_problem(y ~ ., d)`.
#' @param weights Non-negative case weights, a numeric vector of length m; all 1 by default. Weights
#'   are not rescaled: doubling them all is the same as halving `lambda`. Rows of weight 0 are
#'   neither trained on nor scored; they are predicted like new data.
#'   With a formula they may be an expression of variables in `data`, which `.` then leaves out.
#' @param subset With a formula, the rows of `data` to use: a logical vector, row numbers or names,
#'   or an expression of variables in `data` such as `age > 50`. For other data use
#'   `problem[rows, ]`.
#' @param na.action With a formula, what to do with rows where a variable that is used, a weight or
#'   a covariate is missing: [stats::na.fail], the default, is an error, and [stats::na.omit] leaves
#'   them out; `print()` counts them and [stats::na.action()] lists them.
#' @param adjust Covariates that enter every model unpenalised, such as age, sex or batch: a
#'   numeric vector, a numeric matrix, a data frame, or a one-sided formula such as
#'   `~ age + batch`, evaluated in `data` or in the sample data of an experiment. Variables of that
#'   formula are left out of `.` in the formula `x`.
#' @param intercept Logical: does every model have an unpenalised intercept?
#' @param standardize Logical: are columns divided by their scale, see Details?
#' @param task `"regression"`, `"classification"`, or `NULL` to decide by the kind of `y`. Classes
#'   given as numbers, such as 0 and 1, need `"classification"`: their levels are the values in
#'   ascending order. With `NULL` a vector of at most 10 different whole numbers, fewer than half
#'   the rows, is taken for regression, with a message of class `sparsels_message_task`, which
#'   `"regression"` leaves out.
#' @param assay For an experiment, the name or number of the assay; not needed where there is only
#'   one. For a `MultiAssayExperiment`, names of one or several experiments.
#' @param make_unique Logical: in a matrix or an experiment, are names that occur more than once
#'   made unique, as [make.unique()] does (`TP53`, `TP53.1`)? Otherwise they are an error.
#' @param missing What is done about missing values of `x`: `"error"`, the default, or `"mean"`,
#'   which replaces them by the weighted means of their columns, see Details. Missing values of the
#'   response, the weights and the covariates are errors.
#' @param threads Number of OpenMP threads for the means and sums of squares of the columns of a
#'   dense matrix. The result does not depend on it.
#'
#' @return A list of class `sparsels_problem` with, for m rows, n columns, L responses and q
#'   covariates: `x` (m x n, a matrix of doubles, integers or logicals, a `float_matrix` or
#'   `file_matrix` as given, or a `dgCMatrix`; complete with `missing = "mean"`),
#'   `y` (m x L, coded), `task` (`"regression"`, `"binary"` or `"multiclass"`), `levels`, `survival`
#'   (`NULL`, or a data frame of `time` and `event`), `response` (its name), `weights` (m), `z` (m x
#'   q, the covariates, intercept first), `names` and `named` (column names, and whether they were
#'   given), `row_names`, and, each of length n, `centre`,
#'   `squares` (weighted sums of squares about `centre`), `rss` (weighted residual sums of squares
#'   of the columns given the covariates), `scale` and `usable` (`FALSE` for an excluded column);
#'   further `products` (n x L, weighted cross products of columns and responses given the
#'   covariates), `intercept`, `standardize`, and `design`, `adjust_design`, `assay` and `renamed`,
#'   which turn new data into columns. With `missing = "mean"`, else `NULL`: `fill` (n, what missing
#'   values are replaced by), `missing` (n, how many of each column) and `gaps` (where they were, a
#'   sparse m x n pattern; `NULL` where there are none or `x` is read in place).
#'
#' @section Bioconductor:
#' Experiments have genes, or other features, in rows and samples in columns. The problem has the
#' samples in rows: `as_problem(se, "group", assay = "logcounts")` is
#' `as_problem(t(assay(se, "logcounts")), se$group)`. What takes data of a problem takes experiments
#' directly, as in `greedy_rls(se, "group", assay = "logcounts")`, and `predict()` takes new ones:
#' the assay is found by its name (by its number if it has no name), genes by theirs.
#'
#' * Of several assays none is taken by default; `print()` says which one was. Linear models are for
#'   values on a log scale: prefer `logcounts`, `vst` or `rlog` to counts.
#' * A `SingleCellExperiment` is a `SummarizedExperiment`; its `altExps` are not used.
#' * An `ExpressionSet` has its sample data in `pData(x)`.
#' * A `DGEList` is read as log2 counts per million, `edgeR::cpm(x, log = TRUE)`, with the
#'   normalisation factors that it has; the assay is called `logCPM`. The prior count in them
#'   depends on the library sizes of all samples of the list, so that the value of a sample changes
#'   slightly with the samples beside it, also in new data.
#' * Of a `MultiAssayExperiment`, `assay = c("rna", "protein")` puts experiments side by side. Every
#'   sample (row of `colData`) must have one column in each; `intersectColumns()` keeps those that
#'   have. With several experiments, features are always called `rna.TP53`, `protein.TP53`; with one
#'   they keep their names. `assay = c(rna = "logcounts", "protein")` also says which assay of an
#'   experiment. If one of several experiments is sparse, the problem is.
#' * A `DelayedMatrix`, such as an assay in an HDF5 file, is read in blocks of columns up to 1e8
#'   values, 800 MB, and a larger one is an error: keep fewer features first, or call `as.matrix()`
#'   on it. A sparse one stays sparse, and only its values that are not 0 count.
#'   [safe_screen()] can read one of any size.
#' * Features of the same name are an error unless `make_unique = TRUE`. New data must then have the
#'   name as often and in the same order, or unique names.
#'
#' @section Survival:
#' Right-censored times, `Surv(time, status)` of the survival package, also as the left side of a
#' formula, are turned into a working response, to which every method applies unchanged: minus the
#' logarithm of the time of an event, and for a censored row minus the mean logarithm of the times
#' beyond its own by the Kaplan-Meier curve of the rows (after Buckley and James 1979, without their
#' iteration). What the curve leaves after the last event is put on the largest time. A higher
#' prediction is a higher risk, as in a Cox model: an earlier event; minus it is a logarithm of
#' time, so that a coefficient of 0.7 halves the time.
#'
#' The Kaplan-Meier curve is that of the rows that are trained on: `problem[rows, ]`, the training
#' parts of [cross_validate()] and those in which [greedy_rls()] and its kin choose the size have
#' working responses of their own. Within one search leave-one-out and fold errors are exact for the
#' working response of all its rows. Models are judged by the *concordance*: the share of comparable
#' pairs of rows in which the higher risk had the earlier event, ties counting half, as
#' [survival::concordance()] has it (0.5 is chance). It is the default measure of
#' [cross_validate()] and its kin, and `print()` shows it; [risk_groups()] draws the curves.
#'
#' With heavy censoring most of the response is imputed, and Cox's partial likelihood, as in glmnet
#' with `family = "cox"`, uses the data better.
#'
#' @references Buckley, J. and James, I. (1979). Linear regression with censored data. *Biometrika*
#' 66, 429-436. \doi{10.1093/biomet/66.3.429}
#'
#' @section Errors:
#' Of class `sparsels_error_input`, each naming the argument and the position: missing or infinite
#' values, lengths that differ, fewer than two rows, no column or only constant ones, a response
#' that does not suit `task`, is constant or has one class, character matrices, column names that
#' are not unique, negative weights, weights that leave fewer than two rows, covariates that are
#' linearly dependent, values too large or too small to square, times that are not above 0 or not
#' right-censored, and no event in the rows trained on.
#'
#' @examples
#' x <- matrix(rnorm(60), 12, 5, dimnames = list(NULL, paste0("gene", 1:5)))
#' tumour <- factor(rep(c("no", "yes"), 6))
#' as_problem(x, tumour)
#'
#' d <- data.frame(tumour, age = 31:42, x)
#' pb <- as_problem(tumour ~ ., data = d, adjust = ~ age)
#' pb[1:8, c("gene1", "gene4")]
#'
#' if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
#'   se <- SummarizedExperiment::SummarizedExperiment(
#'     list(counts = t(round(exp(x + 5))), logcounts = t(x + 5)),
#'     colData = data.frame(tumour, age = 31:42)
#'   )
#'   as_problem(se, "tumour", assay = "logcounts", adjust = ~ age)
#' }
#' @export
as_problem <- function(x, y = NULL, ..., data = NULL, weights = NULL, subset = NULL,
                       na.action = NULL, # nolint: object_name_linter.
                       adjust = NULL, intercept = TRUE, standardize = TRUE, task = NULL,
                       assay = NULL, make_unique = FALSE, missing = "error", threads = 1) {
  check_given(x, "x")
  check_dots(..., known = c("x", "y", "data", problem_arguments, "threads"))
  if (!inherits(x, "formula")) check_without_formula(missing(subset), missing(na.action))
  check_container(x, assay, check_flag(make_unique, "make_unique"))
  UseMethod("as_problem")
}

# Refuses arguments that go with a formula, where there is none.
check_without_formula <- function(no_subset, no_action) {
  if (!no_subset) {
    stop_input("`subset` is for a formula `x`: take `problem[rows, ]` of any problem",
               "sparsels_error_argument")
  }
  if (!no_action) {
    stop_input("`na.action` is for a formula `x`: leave out rows with missing values yourself",
               "sparsels_error_argument")
  }
}

#' @export
as_problem.matrix <- function(x, y = NULL, ...) {
  new_problem(as_values(x), y, response_name(substitute(y)), ...,
              unique_by = unique_hint("colnames(x)"))
}

#' @export
as_problem.Matrix <- as_problem.matrix

#' @export
as_problem.DelayedMatrix <- as_problem.matrix

#' @export
as_problem.float_matrix <- as_problem.matrix

#' @export
as_problem.file_matrix <- as_problem.matrix

# nolint start: object_name_linter. Classes of other packages.

#' @export
as_problem.FBM <- as_problem.matrix

#' @export
as_problem.FBM.code256 <- as_problem.matrix

#' @export
as_problem.big.matrix <- as_problem.matrix

#' @export
as_problem.big.matrix.descriptor <- as_problem.matrix

# nolint end

#' @export
as_problem.character <- function(x, y = NULL, ...) { # nolint: object_name_linter.
  if (!is_bed_path(x)) return(as_problem.default(x))
  new_problem(as_values(x), y, response_name(substitute(y)), ...,
              unique_by = "`make_unique = TRUE` numbers them")
}

#' @export
as_problem.data.frame <- function(x, y = NULL, ..., intercept = TRUE) {
  design <- frame_design(x, check_flag(intercept, "intercept"))
  new_problem(design_matrix(design, x, "x"), y, response_name(substitute(y)), ...,
              intercept = intercept, design = design, row_names = given_row_names(x))
}

#' @export
as_problem.sparsels_problem <- function(x, y = NULL, ..., threads = 1) {
  check_object(x)
  given <- c(list(y = y), list(...))
  given <- names(Filter(Negate(is.null), given))
  if (length(given)) {
    stop_input(sprintf("`x` is a problem already: %s cannot be given again",
                       some_of(given, Inf, "`")))
  }
  if (is.null(x$x)) stop_input("`x` is the problem stored in a fit, which has no data matrix")
  x
}

#' @export
as_problem.default <- function(x, y = NULL, ...) {
  stop_input(sprintf(
    "`x` must be a matrix, data frame, formula, SummarizedExperiment or problem, not %s%s",
    describe(x), drop_hint(x)
  ))
}

# The one constructor -----------------------------------------------------------------------------

new_problem <- function(x, y, response, ..., assay = NULL, make_unique = FALSE, threads = 1,
                        row_names = rownames(x), called = c(x = "x", y = "y"),
                        features = c(called[["x"]], "column"), unique_by = NULL, formula = NULL,
                        omitted = NULL) {
  check_count(threads, "threads")
  check_size(x, called[["x"]])
  renamed <- if (make_unique) repeated_names(colnames(x))
  if (length(renamed)) colnames(x) <- make.unique(colnames(x))
  check_names(colnames(x), features[1L], features[2L], unique_by)
  problem <- response_side(nrow(x), y, response, ..., row_names = row_names, called = called)
  problem$assay <- assay
  problem$renamed <- renamed
  problem$formula <- formula
  problem$na.action <- omitted
  problem <- put_columns(problem, x, called[["x"]], threads)
  if (!any(problem$usable)) {
    stop_input(sprintf("every column of `%s` is constant or collinear with the covariates",
                       called[["x"]]))
  }
  problem
}

# a problem without x, to be completed by put_columns()
response_side <- function(rows, y, response, data = NULL, weights = NULL, adjust = NULL,
                          intercept = TRUE, standardize = TRUE, task = NULL, design = NULL,
                          row_names = NULL, called = c(x = "x", y = "y"), missing = "error") {
  check_flag(intercept, "intercept")
  check_flag(standardize, "standardize")
  check_choice(missing, "missing", c("error", "mean"))
  coded <- code_response(y, rows, called, task)
  weights <- check_weights(weights, rows)
  coded <- with_working_times(c(coded, list(weights = weights)), called[["y"]])
  check_trained_response(coded, weights, called[["y"]])
  check_response_size(coded$y, weights, called[["y"]])
  covariates <- adjust_columns(adjust, data, rows, intercept)
  check_covariate_squares(covariates$z, weights)
  problem <- structure(list(
    x = NULL, y = coded$y, task = coded$task, levels = coded$levels, survival = coded$survival,
    response = response,
    weights = weights, z = covariates$z, names = NULL, named = NULL,
    row_names = row_names, centre = NULL, squares = NULL, rss = NULL, products = NULL,
    scale = NULL, usable = NULL, intercept = intercept, standardize = standardize, design = design,
    adjust_design = covariates$design
  ), class = "sparsels_problem")
  if (missing == "mean") problem$fill <- numeric()
  covariate_basis(problem)
  problem
}

put_columns <- function(problem, x, called = "x", threads = 1L) {
  problem$gaps <- NULL
  problem$x <- x
  problem$named <- !is.null(colnames(x))
  problem$names <- if (problem$named) colnames(x) else paste0("V", seq_len(ncol(x)))
  measure_columns(problem, called, threads)
}

# x -----------------------------------------------------------------------------------------------

# any matrix as a plain numeric or logical matrix, or a dgCMatrix; a plain matrix is not copied
as_values <- function(x, called = "x") {
  if (inherits(x, "DelayedMatrix")) x <- read_delayed(x, called)
  x <- opened_file(x)
  x <- as_valid(x, called)
  if (inherits(x, "dgCMatrix")) return(x)
  if (inherits(x, "sparseMatrix")) {
    return(methods::as(methods::as(methods::as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (is_float_matrix(x)) return(sound_float(x, called))
  if (is_file_matrix(x)) return(sound_file(x, called))
  if (isS4(x)) x <- as.matrix(x)
  if (!is.numeric(x) && !is.logical(x)) {
    stop_input(sprintf("`%s` must be a numeric matrix, not %s%s", called, describe(x),
                       if (is.character(x)) ": give factors in a data frame" else ""))
  }
  # arithmetic on a class of integers, such as integer64, may differ from that of integers
  if (is.object(x)) as_doubles(x) else x
}

# a dense matrix converted to doubles, since integer arithmetic may overflow
as_doubles <- function(x) {
  if (is_float_matrix(x) || is_file_matrix(x)) return(x[, , drop = FALSE])
  if (is.matrix(x) && !is.double(x)) storage.mode(x) <- "double"
  x
}

# Refuses a matrix of the Matrix package whose slots are inconsistent, since C reads memory by them;
# other classes have their own checks.
as_valid <- function(x, called) {
  if (!inherits(x, c("Matrix", "sparseVector"))) return(x)
  said <- methods::validObject(x, test = TRUE)
  if (!isTRUE(said)) {
    stop_input(sprintf("`%s` is not a valid %s: %s", called, class(x), said[1L]))
  }
  x
}

check_values <- function(x, called) {
  check_size(x, called)
  check_finite(x, called)
}

check_size <- function(x, called) {
  if (ncol(x) < 1L) stop_input(sprintf("`%s` must have at least one column to choose from", called))
  if (nrow(x) < 2L) {
    stop_input(sprintf("`%s` must have at least 2 rows, not %d", called, nrow(x)))
  }
}

# Refuses missing and infinite values; with `gaps` only infinite ones.
check_finite <- function(x, called, gaps = FALSE, hint = NULL) {
  bad <- if (inherits(x, "dgCMatrix")) sparse_not_finite(x, gaps) else dense_not_finite(x, gaps)
  if (!bad$count) return(invisible(x))
  column <- if (is.null(colnames(x))) bad$column else sprintf("'%s'", colnames(x)[bad$column])
  kind <- if (gaps) "infinite value" else "missing or infinite value"
  stop_input(sprintf("`%s` has %s (first: row %d, column %s)%s", called,
                     counted(bad$count, kind), bad$row, column,
                     if (bad$missing && !is.null(hint)) paste0(": ", hint) else ""))
}

# what may be done about missing values
missing_hint <- function(called) {
  paste0(if (called == "data") "`na.action = na.omit` leaves out rows with missing values, ",
         "`missing = \"mean\"` replaces missing numbers by the mean of their column")
}

# whether values are infinite or, without `gaps`, missing
not_finite <- function(gaps) if (gaps) is.infinite else function(values) !is.finite(values)

# The number and the first place of missing and infinite values. Missing ones are counted in C, and
# only columns whose mean is not finite (an infinite or a very large value) are searched, so that x
# is not copied. With `gaps` missing values do not count.
dense_not_finite <- function(x, gaps = FALSE) {
  found <- dense_means(x, rep(1, nrow(x)))
  missing <- if (gaps) 0 * found$missing else found$missing
  infinite <- 0 * missing
  odd <- which(!is.finite(found$mean) & found$missing < nrow(x))
  infinite[odd] <- vapply(odd, function(j) sum(is.infinite(x[, j])), 0L)
  column <- which(missing + infinite > 0)[1L]
  row <- if (!is.na(column)) which(not_finite(gaps)(x[, column]))[1L]
  list(count = sum(missing + infinite), row = row, column = column, missing = any(missing > 0))
}

sparse_not_finite <- function(x, gaps = FALSE) {
  bad <- which(not_finite(gaps)(x@x))
  list(count = length(bad), row = x@i[bad[1L]] + 1L, column = findInterval(bad[1L] - 1L, x@p),
       missing = anyNA(x@x[bad]))
}

# `unit` is what the names are of: the columns of a matrix, or the rows of an experiment
check_names <- function(names, called, unit = "column", unique_by = NULL) {
  if (is.null(names)) return(invisible())
  empty <- which(is.na(names) | names == "")
  if (length(empty)) {
    stop_input(sprintf("`%s` has %s without a name (first: %s %d): name all or none",
                       called, counted(length(empty), unit), unit, empty[1L]))
  }
  twice <- anyDuplicated(names)
  if (twice) {
    if (is.null(unique_by)) {
      unique_by <- sprintf("make.unique(colnames(%s)) gives unique names", called)
    }
    stop_input(sprintf("`%s` has two %ss named '%s' (%d and %d): %s", called, unit, names[twice],
                       match(names[twice], names), twice, unique_by))
  }
}

unique_hint <- function(names) {
  sprintf("`make_unique = TRUE` numbers them, as %s <- make.unique(%s) does", names, names)
}

# The names that occur more than once, by the names that make.unique() gives the columns.
repeated_names <- function(names) {
  repeated <- names %in% names[duplicated(names)]
  if (any(repeated)) stats::setNames(names[repeated], make.unique(names)[repeated])
}

given_row_names <- function(data) {
  if (is.data.frame(data) && .row_names_info(data) > 0L) row.names(data)
}

# y -----------------------------------------------------------------------------------------------

# list(y = m x L coded, task, levels)
code_response <- function(y, rows, called, task = NULL) {
  name <- called[["y"]]
  if (!is.null(task)) check_choice(task, "task", c("regression", "classification"))
  if (is.null(y)) stop_input(sprintf("`%s` is missing: the response is needed", name))
  y <- single_column(y, name)
  if (NROW(y) != rows) {
    stop_input(sprintf("`%s` must have one value for each of the %d rows of `%s`, not %d",
                       name, rows, called[["x"]], NROW(y)))
  }
  check_response_values(if (inherits(y, "Surv")) unclass(y) else y, name)
  if (inherits(y, "Surv")) return(code_times(y, name, task))
  check_task(y, name, task)
  if (is.numeric(y) && !identical(task, "classification")) return(code_numbers(y, name))
  code_classes(y, name)
}

# Refuses a response that does not suit the task, and says which task was assumed of numbers that
# may be codes of classes.
check_task <- function(y, name, task) {
  if (identical(task, "regression") && !is.numeric(y)) {
    stop_input(sprintf("`task = \"regression\"` needs numbers, but `%s` is %s: %s", name,
                       describe(y), "leave out `task` for classes, or make it numeric"))
  }
  if (identical(task, "classification") && length(dim(y)) == 2L) {
    stop_input(sprintf("`task = \"classification\"` needs one column, but `%s` has %d: %s", name,
                       ncol(y), "give the classes as one vector"))
  }
  if (is.null(task) && is.numeric(y) && is.null(dim(y)) && has_few_codes(y)) {
    codes <- sort(unique(as.vector(y)))
    message_sparsels(sprintf(
      "`%s` is numeric (%d values: %s), so regression is assumed: %s, %s", name, length(codes),
      some_of(codes, 10L, ""), "for classes give `task = \"classification\"` or a factor",
      "for numbers `task = \"regression\"`"
    ), "sparsels_message_task")
  }
}

# Whether numbers may be codes of classes: at most ten different values, all whole, that come twice
# or more on average.
has_few_codes <- function(y) {
  codes <- unique(as.vector(y))
  length(codes) > 1L && length(codes) <= 10L && 2L * length(codes) < length(y) &&
    all(codes == round(codes))
}

# the vector in a matrix or data frame of one column; anything else unchanged
single_column <- function(y, name) {
  if (inherits(y, "Surv")) return(y)
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  if (is.data.frame(y) && all(vapply(y, is.numeric, NA))) y <- as.matrix(y)
  if (is.matrix(y) && ncol(y) == 1L && !is.object(y)) y <- y[, 1L]
  if (length(dim(y)) == 2L && !ncol(y)) {
    stop_input(sprintf("`%s` must have at least one column", name))
  }
  is_numeric_response <- is.numeric(y) && length(dim(y)) %in% c(0L, 2L)
  is_class_response <- is.null(dim(y)) && (is.factor(y) || is.character(y) || is.logical(y))
  if (!is_numeric_response && !is_class_response) {
    stop_input(sprintf("`%s` must be numeric, a factor, character, logical or Surv(), not %s",
                       name, describe(y)))
  }
  y
}

check_response_values <- function(y, name) {
  fine <- if (is.numeric(y)) is.finite(y) else !is.na(y)
  if (all(fine)) return(invisible())
  bad <- which(rowSums(!as.matrix(fine)) > 0)
  kind <- if (is.numeric(y)) "missing or infinite value" else "missing value"
  stop_input(sprintf("`%s` has %s (first: row %d)", name, counted(length(bad), kind), bad[1L]))
}

code_numbers <- function(y, name) {
  y <- as.matrix(y)
  storage.mode(y) <- "double"
  constant <- which(vapply(seq_len(ncol(y)), function(l) all(y[, l] == y[1L, l]), NA))
  if (length(constant)) {
    where <- if (ncol(y) == 1L) "" else sprintf(" of column %d", constant[1L])
    stop_input(sprintf("`%s` must vary, but is %s in every row%s", name,
                       format(y[1L, constant[1L]]), where))
  }
  dimnames(y) <- if (!is.null(colnames(y))) list(NULL, colnames(y))
  list(y = y, task = "regression", levels = NULL)
}

code_classes <- function(y, name) {
  y <- droplevels(as.factor(y))
  classes <- levels(y)
  if (length(classes) < 2L) {
    stop_input(sprintf("`%s` must have at least two classes, but every row is '%s'", name, classes))
  }
  coded <- 2 * outer(as.integer(y), seq_along(classes), "==") - 1
  colnames(coded) <- classes
  if (length(classes) > 2L) return(list(y = coded, task = "multiclass", levels = classes))
  list(y = unname(coded[, 2L, drop = FALSE]), task = "binary", levels = classes)
}

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(rep(1, rows))
  if (!is.numeric(weights) || is.object(weights)) {
    stop_input(sprintf("`weights` must be a numeric vector of values of at least 0, not %s",
                       describe(weights)))
  }
  if (length(weights) != rows) {
    stop_input(sprintf("`weights` must have one value for each of the %d rows, not %d",
                       rows, length(weights)))
  }
  bad <- which(!(is.finite(weights) & weights >= 0))
  if (length(bad)) {
    stop_input(sprintf("`weights` must be finite and at least 0, but weight %d is %s",
                       bad[1L], format(weights[bad[1L]])))
  }
  bad <- which(weights > 0 & (weights < 1e-100 | weights > 1e100))
  if (length(bad)) {
    stop_input(sprintf("`weights` above 0 must be between 1e-100 and 1e+100, but weight %d is %s",
                       bad[1L], format(weights[bad[1L]])))
  }
  if (sum(weights > 0) < 2L) {
    stop_input(sprintf("`weights` must leave at least 2 rows to train on, but %s above 0",
                       if (any(weights > 0)) "only 1 is" else "none is"))
  }
  as.double(weights)
}

# Refuses a response that varies only in rows of weight 0.
check_trained_response <- function(coded, weights, name) {
  y <- coded$y[weights > 0, , drop = FALSE]
  varies <- vapply(seq_len(ncol(y)), function(l) any(y[, l] != y[1L, l]), NA)
  if (coded$task == "multiclass" && any(varies) || all(varies)) return(invisible())
  stop_input(sprintf("`%s` must vary in the rows with a positive weight, but is the same in all",
                     name))
}

# Refuses responses whose sum of squares overflows or loses digits to underflow.
check_response_size <- function(y, weights, name) {
  rows <- weights > 0
  centred <- y[rows, , drop = FALSE] - rep(y[which(rows)[1L], ], each = sum(rows))
  squares <- colSums(weights[rows] * centred^2)
  large <- !all(is.finite(squares)) || any(squares > 1 / smallest_square) || any(abs(y) > 1e150)
  if (large || any(squares < smallest_square)) {
    stop_input(sprintf("`%s` has values too %s to square: rescale it", name,
                       if (large) "large" else "small"))
  }
}

# The number of rows a model is trained on. A row of weight 0 is zero in working coordinates: it
# does not influence the model and is predicted like new data.
trained_rows <- function(problem) sum(problem$weights > 0)

trained_places <- function(problem) which(problem$weights > 0)

# Refuses weights of 0, for methods that cannot leave rows out of training.
check_all_trained <- function(problem) {
  untrained <- sum(problem$weights == 0)
  if (untrained) {
    stop_input(sprintf("`weights` must be positive for this method: leave out the %s of weight 0",
                       counted(untrained, "row")))
  }
}

# the problem restricted to the rows of positive weight, with centre and scale unchanged
weighted_rows <- function(problem) {
  rows <- problem$weights > 0
  if (all(rows)) return(problem)
  scored_rows(part_of_x(problem, which(rows), seq_len(ncol(problem))), rows)
}

# names, response, covariates and weights of some rows, which is what scoring uses
scored_rows <- function(problem, rows) {
  problem$y <- problem$y[rows, , drop = FALSE]
  problem$z <- problem$z[rows, , drop = FALSE]
  problem$weights <- problem$weights[rows]
  problem["survival"] <- list(times_of(problem, rows))
  problem["row_names"] <- list(problem$row_names[rows])
  problem
}

# the problem with other case weights; centre and scale, and what stands for censored times, are
# computed anew
reweighted <- function(problem, weights, threads = 1L) {
  problem$weights <- weights
  measure_columns(with_working_times(problem), threads = threads)
}

# Covariates --------------------------------------------------------------------------------------

# list(z = m x q with the intercept first, design)
adjust_columns <- function(adjust, data, rows, intercept) {
  design <- adjust_design(adjust, data, intercept)
  none <- !is.null(design) && !length(design$names) && !NROW(design$columns)
  if (none) stop_input("`adjust` must have at least one column")
  if (inherits(adjust, "formula")) {
    z <- design_matrix(design, data, "data", environment(adjust))
  } else {
    z <- adjust_values(design, adjust, rows)
  }
  if (!is.null(design)) check_covariates(z, rows)
  list(z = with_intercept(z, rows, intercept), design = design)
}

# the form in which `adjust` was given: a design for a formula or frame, the names for a matrix
adjust_design <- function(adjust, data, intercept) {
  if (is.null(adjust)) return(NULL)
  if (inherits(adjust, "formula")) {
    if (length(adjust) != 2L) stop_input("the formula `adjust` must be one-sided, such as `~ age`")
    env <- environment(adjust)
    design <- formula_design(adjust[[2L]], env, data, names(data), intercept, "data")
    return(c(design, kind = "formula"))
  }
  if (is.data.frame(adjust)) return(c(frame_design(adjust, intercept, "adjust"), kind = "frame"))
  z <- adjust_matrix(adjust)
  check_names(colnames(z), "adjust")
  list(names = matrix_names(z), kind = "matrix")
}

adjust_matrix <- function(adjust) {
  if (!is.numeric(adjust) && !is.logical(adjust) || is.object(adjust)) {
    stop_input(sprintf("`adjust` must be numeric, a data frame or a one-sided formula, not %s",
                       describe(adjust)))
  }
  as.matrix(adjust) + 0
}

matrix_names <- function(z) {
  if (!is.null(colnames(z)) || !ncol(z)) return(colnames(z))
  if (ncol(z) == 1L) "adjust" else paste0("adjust", seq_len(ncol(z)))
}

# covariates from a matrix or a frame with the variables of the design
adjust_values <- function(design, adjust, rows) {
  if (is.null(design)) return(matrix(0, rows, 0L))
  if (design$kind != "matrix") return(design_matrix(design, adjust, "adjust"))
  z <- adjust_matrix(adjust)
  colnames(z) <- matrix_names(z)
  if (!all(design$names %in% colnames(z)) || anyDuplicated(colnames(z))) {
    stop_newdata("`adjust` must have the columns %s, each once", some_of(design$names, Inf))
  }
  z[, design$names, drop = FALSE]
}

check_covariates <- function(z, rows) {
  if (nrow(z) != rows) {
    stop_input(sprintf("`adjust` must have %d rows, one per observation, not %d", rows, nrow(z)))
  }
  bad <- which(rowSums(!is.finite(z)) > 0)
  if (length(bad)) {
    stop_input(sprintf("`adjust` has %s with missing or infinite values (first: row %d)",
                       counted(length(bad), "row"), bad[1L]))
  }
}

# Refuses covariates whose weighted sum of squares overflows.
check_covariate_squares <- function(z, weights) {
  large <- which(!is.finite(colSums(weights * z^2)))
  if (length(large)) {
    stop_input(sprintf("`adjust` has values too large to square (first: column '%s')",
                       colnames(z)[large[1L]]))
  }
}

with_intercept <- function(z, rows, intercept) {
  rownames(z) <- NULL
  if (!intercept) return(z)
  cbind("(Intercept)" = rep(1, rows), z)
}

# sqrt(w) Z = Q R: list(basis = Q, m x q and orthonormal; factor = R)
covariate_parts <- function(problem, strict = TRUE) {
  if (!ncol(problem$z)) return(list(basis = problem$z, factor = matrix(0, 0L, 0L)))
  weighted <- sqrt(problem$weights) * problem$z
  if (ncol(weighted) == problem$intercept) {
    length <- sqrt(sum(problem$weights))
    return(list(basis = unname(weighted) / length, factor = matrix(length)))
  }
  decomposed <- qr(weighted, tol = 1e-10)
  if (strict) stop_aliased(decomposed, problem$z)
  list(basis = qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE],
       factor = qr.R(decomposed))
}

covariate_basis <- function(problem, strict = TRUE) covariate_parts(problem, strict)$basis

stop_aliased <- function(decomposed, z, where = "") {
  if (decomposed$rank == ncol(z)) return(invisible())
  aliased <- colnames(z)[decomposed$pivot[seq.int(decomposed$rank + 1L, ncol(z))]]
  stop_input(sprintf(
    "the covariates in `adjust` are not linearly independent%s: %s follow%s from the others",
    where, some_of(aliased), if (length(aliased) == 1L) "s" else ""
  ))
}

# A function of columns of x (m x any): their weighted least-squares coefficients on the covariates.
covariate_solver <- function(problem) {
  none <- function(x, columns = seq_len(ncol(x))) matrix(0, 0L, length(columns))
  if (!ncol(problem$z)) return(none)
  parts <- covariate_parts(problem)
  root_w <- sqrt(problem$weights)
  function(x, columns = seq_len(ncol(x))) {
    weighted <- root_w * x[, columns, drop = FALSE]
    backsolve(parts$factor, as.matrix(Matrix::crossprod(parts$basis, weighted)))
  }
}

# Centre, scale, usable ---------------------------------------------------------------------------

# Centre, scale and cross products of all columns in one pass over x, which also finds values that
# are not finite. With `missing = "mean"` x is completed first.
measure_columns <- function(problem, called = "x", threads = 1L) {
  problem <- complete_columns(problem, called, threads)
  basis <- covariate_basis(problem, strict = FALSE)
  root_w <- sqrt(problem$weights)
  response <- root_w * working_response(problem, basis, root_w)
  # columns are centred: their products with the intercept are nothing
  covariates <- root_w * basis[, seq_len(ncol(basis)) > problem$intercept, drop = FALSE]
  moments <- column_moments(problem$x, problem$weights, problem$intercept,
                            cbind(response, covariates), threads)
  if (!all(is.finite(moments$squares))) {
    check_finite(problem$x, called, hint = missing_hint(called))
  }
  check_squares(problem, moments$squares, called)
  problem[c("centre", "squares")] <- moments[c("centre", "squares")]
  of_response <- seq_len(ncol(response))
  problem$products <- moments$products[, of_response, drop = FALSE]
  problem$scale <- rep(1, ncol(problem))
  problem$rss <- column_rss(problem, basis, moments$products[, -of_response, drop = FALSE])
  problem$usable <- is_usable(problem)
  if (problem$standardize) {
    rms <- sqrt(problem$squares / sum(problem$weights))
    problem$scale[problem$usable] <- rms[problem$usable]
  }
  problem
}

# The problem with the means of its rows for missing values, if it is to have means.
complete_columns <- function(problem, called, threads) {
  if (is.null(problem$fill)) return(problem)
  found <- column_means(problem, threads)
  if (!all(is.finite(found$mean))) check_finite(as_given(problem)$x, called, gaps = TRUE)
  problem$missing <- as.integer(found$missing)
  check_coded(problem, called)
  # a column without values is constant; sums that overflow are refused with the squares
  put_means(problem, ifelse(is.finite(found$mean), found$mean, 0))
}

# Refuses columns whose sum of squares underflows, or overflows when two of them are multiplied.
# Standardised columns are not multiplied on their own scale, so that their bound is wider.
check_squares <- function(problem, squares, called) {
  large <- if (problem$standardize) 1 / smallest_square else 1 / sqrt(smallest_square)
  fine <- squares == 0 | squares >= smallest_square & squares <= large
  bad <- which(is.na(fine) | !fine)
  if (length(bad)) {
    too_large <- !isTRUE(squares[bad[1L]] < smallest_square)
    stop_input(sprintf("`%s` has values too %s to square (first: column '%s'): %s", called,
                       if (too_large) "large" else "small", problem$names[bad[1L]],
                       "rescale it"))
  }
}

# list(centre: weighted mean, 0 without intercept; squares: weighted sum of squares about it;
# products: x'v for v (m x L), whose columns sum to 0 if there is an intercept)
column_moments <- function(x, w, intercept, v = matrix(0, nrow(x), 0L), threads = 1L) {
  if (inherits(x, "dgCMatrix")) return(sparse_moments(x, w, intercept, v))
  moments <- .Call(C_column_moments, x, w, intercept, v, threads)
  if (is.null(moments)) raise_interrupt()
  dim(moments$products) <- c(ncol(x), ncol(v))
  moments
}

# The same of a sparse x, some columns at a time.
sparse_moments <- function(x, w, intercept, v) {
  blocks <- split(seq_len(ncol(x)), x@p[-1L] %/% most_stored)
  if (length(blocks) < 2L) return(moments_of_stored(x, w, intercept, v))
  parts <- lapply(blocks, function(block) {
    moments_of_stored(x[, block, drop = FALSE], w, intercept, v)
  })
  gather <- function(name, bind) do.call(bind, unname(lapply(parts, `[[`, name)))
  list(centre = gather("centre", c), squares = gather("squares", c),
       products = gather("products", rbind))
}

# so many stored values at a time, of which a few copies are made
most_stored <- 1e7

moments_of_stored <- function(x, w, intercept, v) {
  row_w <- w[x@i + 1L]
  stored <- diff(x@p)
  column <- rep.int(seq_len(ncol(x)), stored)
  sums <- function(values) {
    x@x <- values
    Matrix::colSums(x)
  }
  # the weight of the zeros of a column; exactly 0 where it has none
  zeros <- ifelse(stored == nrow(x), 0, pmax(sum(w) - sums(row_w), 0))
  centre <- numeric(ncol(x))
  if (intercept) {
    for (pass in 1:2) {
      centre <- centre + (sums(row_w * (x@x - centre[column])) - zeros * centre) / sum(w)
    }
  }
  squares <- sums(row_w * (x@x - centre[column])^2) + zeros * centre^2
  products <- as.matrix(Matrix::crossprod(x, v)) - outer(centre, colSums(v))
  list(centre = unname(centre), squares = unname(squares), products = unname(products))
}

# A column is usable when its residual norm given the covariates exceeds rounding error: 1e-10 of
# the norm of the centred column, and 1e-13 of that of the column itself, so that 1e6 + noise is
# usable and a column of 0.1 is not.
is_usable <- function(problem) {
  sqrt(problem$rss) > 1e-10 * sqrt(problem$squares) + 1e-13 * sqrt(raw_squares(problem))
}

# the weighted sum of squares of each column as it was given
raw_squares <- function(problem) problem$squares + sum(problem$weights) * problem$centre^2

# Weighted residual sum of squares of each column given the covariates, from its products with their
# basis; from the residuals themselves where the difference of sums of squares would lose digits.
column_rss <- function(problem, basis, products) {
  if (!ncol(products)) return(problem$squares)
  rss <- problem$squares - rowSums(products^2)
  doubtful <- which(rss <= 1e-4 * problem$squares | rss <= 1e-6 * raw_squares(problem))
  for (block in column_blocks(nrow(problem), length(doubtful))) {
    rss[doubtful[block]] <- colSums(working_matrix(problem, doubtful[block], basis)^2)
  }
  rss
}

# For the kernels ---------------------------------------------------------------------------------

working <- function(problem) {
  basis <- covariate_basis(problem)
  root_w <- sqrt(problem$weights)
  # vectors of very many columns are not copied to be divided by 1
  by <- if (all(problem$scale == 1)) 1 else problem$scale
  per <- function(values, by) if (identical(by, 1)) values else values / by
  list(
    x = problem$x, root_w = root_w, divisor = weight_divisor(problem),
    centre = problem$centre,
    inv_scale = if (identical(by, 1)) problem$scale else 1 / by,
    squares = per(problem$squares, by^2), rss = per(problem$rss, by^2),
    products = per(problem$products, by),
    usable = as.integer(problem$usable), q = basis, y = working_response(problem, basis, root_w)
  )
}

# Divisor that takes a residual in working coordinates to the user's scale. Residuals of rows of
# weight 0 are 0 in working coordinates and stay so.
weight_divisor <- function(problem) {
  ifelse(problem$weights > 0, sqrt(problem$weights), 1)
}

# the response in working coordinates: sqrt(w) y, residualised on the covariates
working_response <- function(problem, basis = covariate_basis(problem),
                             root_w = sqrt(problem$weights)) {
  project_out(root_w * problem$y, basis)
}

# columns in working coordinates, dense: sqrt(w) (x - centre) / scale, residualised on the
# covariates
working_matrix <- function(problem, cols = which(problem$usable),
                           basis = covariate_basis(problem)) {
  x <- as.matrix(problem$x[, cols, drop = FALSE])
  m <- nrow(x)
  check_still_finite(problem, colSums(x))
  x <- (x - rep(problem$centre[cols], each = m)) * rep(1 / problem$scale[cols], each = m)
  project_out(unname(sqrt(problem$weights) * x), basis)
}

# Refuses values that became missing or infinite by an edit of the problem after as_problem() had
# checked them; `products` are computed from all of them.
check_still_finite <- function(problem, products) {
  if (!all(is.finite(products))) check_finite(problem$x, "x")
}

# residuals of `values` on an orthonormal basis; the second pass makes them orthogonal to it to
# machine precision
project_out <- function(values, basis) {
  if (!ncol(basis)) return(values)
  for (pass in 1:2) values <- values - basis %*% crossprod(basis, values)
  values
}

# Methods -----------------------------------------------------------------------------------------

#' @export
dim.sparsels_problem <- function(x) c(length(x$weights), length(x$names))

#' @export
`[.sparsels_problem` <- function(x, i, j, ...) {
  check_object(x)
  if (nargs() != 3L) stop_input("a problem has rows and columns: `pb[rows, ]`, `pb[, cols]`")
  if (is.null(x$x)) stop_input("this is the problem stored in a fit, which has no data matrix")
  rows <- if (missing(i)) seq_len(nrow(x)) else positions(i, nrow(x), x$row_names, "row")
  cols <- if (missing(j)) seq_len(ncol(x)) else positions(j, ncol(x), x$names, "column")
  if (anyDuplicated(cols)) {
    stop_input(sprintf("column '%s' is chosen twice", x$names[cols[anyDuplicated(cols)]]))
  }
  x <- part_of_x(x, rows, cols)
  x$y <- x$y[rows, , drop = FALSE]
  x$z <- x$z[rows, , drop = FALSE]
  x$weights <- x$weights[rows]
  x["survival"] <- list(times_of(x, rows))
  x["row_names"] <- list(x$row_names[rows])
  if (!is.null(x$formula) && !missing(j)) x$formula <- column_formula(x, cols)
  x$names <- x$names[cols]
  x["design"] <- list(subset_design(x$design, cols))
  measure_columns(with_working_times(x))
}

# the row or column numbers an index means
positions <- function(index, size, names, what) {
  known <- is.numeric(index) && !inherits(index, "Surv") || is.character(index) ||
    is.logical(index) || is.factor(index)
  if (!known) {
    stop_input(sprintf("%ss are chosen by number, name or a logical vector, not by %s",
                       what, describe(index)))
  }
  if (is.logical(index) && length(index) != size) {
    stop_input(sprintf("a logical choice of %ss must have length %d, not %d",
                       what, size, length(index)))
  }
  if (is.factor(index)) index <- as.character(index)
  mixed <- function(index) any(index < 0, na.rm = TRUE) && any(is.na(index) | index > 0)
  if (is.numeric(index) && mixed(index)) {
    stop_input(sprintf("a choice of %ss cannot mix positive and negative numbers", what))
  }
  if (is.numeric(index) && any(index != round(index), na.rm = TRUE)) {
    stop_input(sprintf("a choice of %ss must be whole numbers, not %s", what,
                       format(index[index != round(index)][1L])))
  }
  chosen <- if (is.character(index)) match(index, names) else seq_len(size)[index]
  bad <- which(is.na(chosen))
  if (length(bad)) {
    stop_input(sprintf("no %s %s: the problem has %s", what, show_value(index[index != 0][bad[1L]]),
                       counted(size, what)))
  }
  if (!length(chosen)) stop_input(sprintf("the choice of %ss is empty", what))
  chosen
}

#' @export
print.sparsels_problem <- function(x, ...) {
  check_object(x)
  say("<sparsels problem> ", data_words(x), if (inherits(x$x, "dgCMatrix")) ", sparse")
  print_design(x)
  if (!x$intercept) cat("no intercept\n")
  if (length(x$renamed)) {
    say(sprintf("made unique: the names of %s (%s)", counted(length(x$renamed), "column"),
                some_of(names(x$renamed), 5L, "")))
  }
  excluded <- x$names[!x$usable]
  if (length(excluded)) {
    say(sprintf("excluded: %s, constant or collinear with the covariates (%s)",
                counted(length(excluded), "column"), some_of(excluded, 5L, "")))
  }
  invisible(x)
}

print_data <- function(problem) {
  cat("data: ", data_words(problem), "\n", sep = "")
  print_design(problem)
}

# The response, and what else the models of a problem are about.
print_design <- function(problem) {
  if (!is.null(problem$assay)) say("assay: ", assay_words(problem$assay))
  print_response(problem)
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  if (length(covariates)) say("adjusted for: ", some_of(covariates, 8L, ""))
  w <- problem$weights
  if (any(w != 1)) cat(sprintf("weights of the rows: %s to %s\n", shown(min(w)), shown(max(w))))
  omitted <- problem$na.action
  if (length(omitted)) {
    say(sprintf("left out: %s with missing values (%s)", counted(length(omitted), "row"),
                some_of(names(omitted), 5L, "")))
  }
  if (any(problem$missing > 0L)) say(missing_words(problem$missing))
}

print_response <- function(problem) {
  say("response: ", response_words(problem))
  if (problem$task == "regression") return(invisible())
  lone <- names(which(class_counts(problem, problem$weights > 0) == 1L))
  if (length(lone)) {
    remark(sprintf("%s %s a single row: models trained without it never predict the class",
                   if (length(lone) == 1L) "class" else "each of the classes",
                   paste(some_of(short_class(lone), 3L), "has")))
  }
}

data_words <- function(problem) {
  sprintf("%s x %s", counted(nrow(problem), "row"), counted(ncol(problem), "column"))
}

response_words <- function(problem) {
  if (is_survival(problem)) return(survival_words(problem))
  response <- shortened(problem$response, 60L)
  if (problem$task == "regression") {
    responses <- if (ncol(problem$y) > 1L) sprintf(", %d responses", ncol(problem$y)) else ""
    return(paste0(response, ", numeric", responses))
  }
  counts <- class_counts(problem)
  sprintf("%s, %d classes (rows): %s", response, length(counts), counts_words(counts))
}

# "normal (22), tumour (40)"; where not all fit two lines, the largest classes and how many more
counts_words <- function(counts) {
  each <- function(counts) sprintf("%s (%d)", short_class(names(counts)), counts)
  space <- max(2L * getOption("width") - 60L, 30L)
  if (sum(nchar(each(counts)) + 2L) <= space) return(paste(each(counts), collapse = ", "))
  counts <- sort(counts, decreasing = TRUE)
  fit <- max(1L, sum(cumsum(nchar(each(counts)) + 2L) <= space))
  others <- counts[-seq_len(fit)]
  if (!length(others)) return(each(counts))
  sprintf("%s and %d more of %s", paste(each(counts)[seq_len(fit)], collapse = ", "),
          length(others), counted_range(range(others), "row"))
}

# the class of each row as 1, 2, ...; NULL for a numeric response
class_index <- function(problem) {
  switch(problem$task,
    binary = 1L + (problem$y[, 1L] > 0),
    multiclass = max.col(problem$y, "first")
  )
}

# the number of rows of each class, of all rows or of those that are `counted`
class_counts <- function(problem, counted = TRUE) {
  counts <- tabulate(class_index(problem)[counted], length(problem$levels))
  stats::setNames(counts, problem$levels)
}

# the problem as a fit stores it, without the data matrix
without_x <- function(problem) {
  problem[c("x", "products")] <- list(NULL)
  problem$gaps <- NULL
  problem
}

# New data ----------------------------------------------------------------------------------------

# new data as a matrix of doubles or a dgCMatrix, with the problem's columns `columns` in that
# order; missing values are replaced if the problem has means for them
new_data_matrix <- function(problem, newdata, columns) {
  complete_new(problem, new_values(problem, newdata, columns), columns)
}

new_values <- function(problem, newdata, columns) {
  if (inherits(newdata, "sparsels_problem")) newdata <- problem_x(newdata)
  if (is_experiment(newdata)) newdata <- read_experiment(newdata, problem$assay, "newdata")$values
  newdata <- as_valid(newdata, "newdata")
  if (is.data.frame(newdata)) return(new_frame_matrix(problem, newdata, columns))
  if (length(dim(newdata)) != 2L) {
    stop_newdata("`newdata` must be a matrix or data frame, not %s%s", describe(newdata),
                 drop_hint(newdata))
  }
  # evaluated outside `[`, whose S4 methods would replace the class of an error in its arguments
  chosen <- new_positions(problem, newdata, columns)
  as_doubles(as_values(newdata[, chosen, drop = FALSE], "newdata"))
}

# the data matrix of a problem given as new data, as given; the problem stored in a fit has none
problem_x <- function(problem) {
  check_object(problem)
  if (is.null(problem$x)) {
    stop_newdata("`newdata` is the problem stored in a fit, which has no data matrix")
  }
  as_given(problem)$x
}

# positions in newdata of the wanted columns: by name where both have names, by position otherwise
new_positions <- function(problem, newdata, columns) {
  present <- colnames(newdata)
  if (problem$named && !is.null(present)) {
    needed <- problem$names[columns]
    present <- renamed_columns(present, problem$renamed, needed)
    check_present(needed, present, "newdata")
    twice <- intersect(needed, present[duplicated(present)])
    if (length(twice)) {
      stop_newdata("`newdata` has two columns named '%s'", twice[1L])
    }
    return(match(needed, present))
  }
  if (ncol(newdata) != ncol(problem)) {
    stop_newdata("`newdata` must have the %d columns of the fit, not %d: %s", ncol(problem),
                 ncol(newdata), "without names they are matched by position")
  }
  columns
}

# The names of new columns, those that the problem's data had more than once numbered as there. New
# data whose names are unique already stay as they are.
renamed_columns <- function(present, renamed, needed) {
  for (name in unique(renamed[names(renamed) %in% needed])) {
    numbered <- names(renamed)[renamed == name]
    same <- which(present == name)
    if (length(same) == length(numbered)) {
      present[same] <- numbered
    } else if (length(same) != 1L || !all(numbered %in% present)) {
      stop_newdata("`newdata` has '%s' %s, the data of the fit had it %s: %s", name,
                   counted(length(same), "time"), counted(length(numbered), "time"),
                   "give the same features in the same order, or features of unique names")
    }
  }
  present
}

new_frame_matrix <- function(problem, newdata, columns) {
  if (!is.null(problem$design)) {
    return(design_matrix(subset_design(problem$design, columns), newdata, "newdata"))
  }
  chosen <- unclass(newdata)[new_positions(problem, newdata, columns)]
  names(chosen) <- problem$names[columns]
  design_matrix(plain_design(names(chosen)), list2DF(chosen, nrow(newdata)), "newdata")
}

# covariates z (rows x q) of new data; `adjust` as for as_problem(), a formula's variables from
# newdata
new_covariates <- function(problem, newdata, adjust = NULL) {
  if (inherits(newdata, "sparsels_problem")) return(problem_covariates(problem, newdata))
  if (is_experiment(newdata)) newdata <- experiment_samples(newdata)
  rows <- nrow(newdata)
  design <- problem$adjust_design
  if (is.null(design) && !is.null(adjust)) {
    stop_newdata("the fit has no covariates: `adjust` cannot be given")
  }
  z <- if (is.null(design)) matrix(0, rows, 0L) else new_adjust(design, newdata, adjust)
  if (nrow(z) != rows) {
    stop_newdata("`adjust` must have %d rows, as `newdata` has, not %d", rows, nrow(z))
  }
  with_intercept(z, rows, problem$intercept)
}

# the covariates of a problem given as new data, matched by name
problem_covariates <- function(problem, newdata) {
  needed <- setdiff(colnames(problem$z), "(Intercept)")
  lacking <- setdiff(needed, colnames(newdata$z))
  if (length(lacking)) {
    stop_newdata("`newdata` is a problem that is not adjusted for %s, as the fit is",
                 some_of(lacking))
  }
  with_intercept(newdata$z[, needed, drop = FALSE], nrow(newdata), problem$intercept)
}

new_adjust <- function(design, newdata, adjust) {
  if (inherits(adjust, "formula")) {
    if ("." %in% all.vars(adjust) && !is.data.frame(newdata)) {
      stop_newdata("`adjust` has a `.`, which needs a data frame as `newdata`")
    }
    adjust <- stats::get_all_vars(adjust, if (is.data.frame(newdata)) newdata)
  }
  if (!is.null(adjust)) {
    if (design$kind == "matrix" || is.data.frame(adjust)) return(adjust_values(design, adjust))
    stop_newdata("`adjust` must be a data frame, as when fitted, not %s", describe(adjust))
  }
  if (design$kind == "formula") {
    if (is.data.frame(newdata)) return(design_matrix(design, newdata, "newdata"))
  }
  names <- if (design$kind == "matrix") design$names else design$columns$name
  stop_newdata("`adjust` must be given for new data: the fit is adjusted for %s", some_of(names))
}

# The problem of a fitter --------------------------------------------------------------------------

problem_arguments <- c("weights", "subset", "na.action", "adjust", "intercept", "standardize",
                       "task", "assay", "make_unique", "missing")

# the problem of a fitter, from the fitter's own x, y, ... and data
fitter_problem <- function(x, y, ..., data = NULL) {
  check_given(x, "x")
  fitter <- setdiff(names(formals(sys.function(sys.parent()))), c("x", "y"))
  threads <- if ("threads" %in% fitter) parent.frame()$threads else 1L
  check_dots(..., known = unique(c(problem_arguments, fitter)), allowed = problem_arguments)
  problem <- as_problem(x, y, ..., data = data, threads = threads)
  # as_problem() saw the fitter's name for the response; the user's expression is one call up
  if (problem$response == "y" && !inherits(x, "formula")) {
    problem$response <- response_name(do.call(substitute, list(quote(y), parent.frame())))
  }
  problem
}

# how the response is printed: the user's expression when it is a short one
response_name <- function(expression) {
  if (!is.symbol(expression) && !is.call(expression)) return("y")
  text <- deparse1(expression)
  if (nchar(text) <= 40L) text else "y"
}

# The value of `intercept` or `standardize`, or NULL if x is a problem and the argument was not
# given: it is then taken from the problem.
unless_stated <- function(x, value, by_default) {
  if (!(by_default && inherits(x, "sparsels_problem"))) value
}
