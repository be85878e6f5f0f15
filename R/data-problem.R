#' Prepare data for the methods of the package
#'
#' Checks the data once and stores them in the form that every method of the package takes:
#' candidate columns, coded response, case weights and unpenalised covariates. Every method also
#' takes the data and the arguments of `as_problem()` directly.
#'
#' The methods penalise coefficients of standardised columns: each column of `x` is centred and
#' divided by its scale. The scale is the weighted root mean square deviation \eqn{\sqrt{\sum_j w_j
#' (x_j - c)^2 / \sum_j w_j}}{sqrt(sum_j w_j (x_j - c)^2 / sum_j w_j)} from the weighted mean
#' \eqn{c} (from 0 without intercept), and 1 with `standardize = FALSE`. Both are estimated on all
#' rows of the problem, including rows that a method holds out. [cross_validate()] estimates them on
#' each outer training set. Coefficients and predictions are on the scale of the data.
#'
#' Two classes become -1 and +1, the second level being +1. More classes have a column of such codes
#' each.
#'
#' Columns that are constant, zero or collinear with the covariates are excluded: no method selects
#' them, and `print()` lists them. Columns that range over orders of magnitude, as counts do,
#' give a message of class `sparsels_message_counts`.
#'
#' `problem[rows, cols]`, by numbers, names or logical vectors, is a problem on a subset, with
#' centre and scale estimated on these rows.
#'
#' Time is O(m n (1 + q)) for q covariates, or O(nonzeros) for a sparse `x`. A matrix of doubles,
#' integers or logicals is not copied.
#'
#' **Topic pages:** [formulas] and data frames, [Bioconductor][bioconductor], [covariates] and
#' offsets, [missing_values], [penalty_factors], [column_groups], [curves], [hierarchy] of
#' columns, [survival_times], [ranking], [class weights][class_probabilities].
#'
#' @param x One of:
#'   * a numeric, integer or logical matrix, rows are observations (m x n);
#'   * a sparse matrix of the Matrix package, kept sparse as `dgCMatrix`;
#'   * a [float_matrix()] or a [file_matrix()], the path of a `.bed` file of PLINK ([bed_matrix()]),
#'     or a matrix of bigstatsr or bigmemory ([as_file_matrix()]), which are read in place;
#'   * a data frame of candidate variables;
#'   * a formula `response ~ columns`, with `data`, see [formulas];
#'   * an experiment of [Bioconductor][bioconductor] or a `DelayedMatrix`;
#'   * an earlier problem, which is returned as it is.
#' @param y The response, one value per row: a numeric vector (regression); a factor, character or
#'   logical vector (classification); a numeric matrix or data frame with one column per response;
#'   or `Surv(time, status)` or `Surv(start, stop, status)`, see [survival_times]. For an
#'   experiment also the name of a column of its sample data or a formula such as `~ group`. Not
#'   with a formula `x`.
#' @param ... Must be empty: the arguments below are given by name.
#' @param data A data frame with the variables of formulas. It may come second, as in
#'   `as_problem(y ~ ., d)`.
#' @param weights Non-negative case weights, all 1 by default, given as `groups` are. They are not
#'   rescaled: doubling them all is the same as halving `lambda`. Rows of weight 0 are neither
#'   trained on nor scored, only predicted. A row is held out with all of its weight: if weights
#'   count rows, give a row for each.
#' @param subset With a formula, the rows of `data` to use: a logical vector, row numbers or names,
#'   or an expression such as `age > 50`.
#' @param na.action [stats::na.fail] (the default) or [stats::na.pass], or [stats::na.omit] or
#'   [stats::na.exclude], which leave out rows with missing values of the response, covariates and
#'   other arguments with a value for each row, and of `x` unless `missing` replaces them. See
#'   [formulas].
#' @param adjust Covariates that enter every model unpenalised, such as age or batch: a
#'   vector, a factor, a matrix, a data frame, a one-sided formula such as
#'   `~ age + batch`, or names of variables. See [covariates].
#' @param intercept Logical: does every model have an unpenalised intercept?
#' @param standardize Logical: are columns divided by their scale, see Details?
#' @param task `"regression"`, `"classification"`, or `NULL` to decide by the kind of `y`. Classes
#'   given as numbers, such as 0 and 1, require `"classification"`, unless the `loss` is of classes.
#'   With `NULL`, few different whole numbers give a message of class `sparsels_message_task`.
#' @param within For a ranking, the query of each row, given as `groups` are. See [ranking].
#' @param groups Groups of rows that belong together, such as the samples of a patient, which every
#'   partition keeps whole: a vector with one value per row, the name of a column of `data` (of the
#'   sample data of an experiment), or a one-sided formula such as `~ patient`. With a formula `x`
#'   also an expression. `FALSE`: none. See [row_groups].
#' @param center_groups `"none"` (the default); `"columns"`, columns are centred within each group
#'   of rows; or `"scale"`, they are also divided by their standard deviation there, see
#'   [center_groups].
#' @param strata For censored times, strata with baseline hazards of their own, given as `groups`
#'   are, or in a formula `x` by a term `strata(hospital)`. For Cox models alone, see
#'   [survival_times].
#' @param assay For an experiment of [Bioconductor][bioconductor], the name or number of the assay.
#' @param make_unique Logical: are repeated names of a matrix or an experiment made unique (`TP53`,
#'   `TP53.1`)? Otherwise they are an error.
#' @param missing `"error"` (the default), or `"mean"`, which replaces missing values of `x` by
#'   weighted column means, see [missing_values].
#' @param penalty Factors of at least 0 that multiply the penalty of each column: one for each in
#'   order, or some by name, such as `c(age = 0)`. `NULL`: all are 1. See [penalty_factors].
#' @param columns_group Groups of columns: a vector with the group of each column, or a named list
#'   of groups. `NULL`, the default: the columns of a term are a group. `FALSE`: no groups. See
#'   [column_groups].
#' @param smooth Columns with curves: `TRUE`, names, a number of degrees of freedom, or numbers by
#'   name, such as `c(age = 4)`. In a formula `x` terms `s(age)`. See [curves].
#' @param smooth_basis The functions of columns with curves: `"curve"` (splines), `"steps"`,
#'   `"hinges"`, `"curve+steps"` or `"curve+hinges"`, or some of these by name, such as
#'   `c(age = "steps")`. In a formula `x` terms `s(age, basis = "steps")`. See [curves].
#' @param interactions Pairs of columns: `TRUE`, how many of all pairs are offered, or a list of
#'   pairs of names, with an element `df` for more functions of each column than 2. In a formula `x`
#'   terms `s(age, dose)` or `s(age, dose, df = 4)`. See [curves].
#' @param group_rule Whether a model has all columns of a group, `"together"` (the default), or at
#'   most `"one"` of them.
#' @param hierarchy Which columns require other columns: `"none"`, the default; `"strong"`,
#'   interactions require their main effects; or a named list. See [hierarchy].
#' @param class_weights For classes, `NULL`, `"balanced"` or a named vector with a positive value
#'   for every class, by which the case weights are multiplied. See [class_probabilities].
#' @param offset `NULL`, or a known part of a numeric response or of the risk of a Cox model, given
#'   as `groups` are, or a matrix with a column for each response. Models are fitted to the response
#'   minus the offset, or with the offset in their linear predictor, and `predict()` adds
#'   `newoffset`. See [covariates].
#' @param standardize_response Logical: is each of several numeric responses divided by its weighted
#'   standard deviation? Selected columns then do not depend on the units, and errors are shares of
#'   the variances. Predictions keep the units.
#' @param threads Number of OpenMP threads over columns. Results are the same for any number.
#'
#' @return A list of class `sparsels_problem`, whose fields are on the page [sparsels_problem].
#'
#' @section Errors:
#' Class `sparsels_error_input`, with the argument and the position: missing or infinite values,
#' lengths that differ, fewer than two rows with positive weight, no usable column, a response that
#' is constant or does not suit `task`, repeated column names, linearly dependent covariates, values
#' too large or too small to square.
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
#' as_problem(x, d$age, within = rep(1:4, each = 3))
#' @srrstats {G2.4e} `?as_problem`: levels in their order. `as_classes()` back
#' @srrstats {G2.7} `as_problem()`: matrix, data frame and its kinds, sparse matrix, experiments of
#'   Bioconductor, files
#' @srrstats {G2.8} `as_problem()` is the one way in
#' @srrstats {G2.9} messages of `as_problem()` about names made unique, rows left out and assumed
#'   classes
#' @srrstats {G2.14} `missing` and `na.action` of `as_problem()`
#' @srrstats {G2.14a} the default
#' @srrstats {RE1.2} `?as_problem`
#' @srrstats {RE2.0} `standardize`, `intercept`, `task` of `as_problem()`
#' @srrstats {RE2.3} `standardize`, `intercept`, `offset`
#' @srrstats {RE2.4} see below
#' @srrstats {RE2.4a} identical columns are valid input of a ridge penalty. Combinations of
#'   covariates are set aside and listed. A message names copies of rows
#' @srrstats {RE4.1} a problem is checked before anything is fitted, and is given to many methods
#' @srrstats {ML2.0} `as_problem()`
#' @srrstats {ML2.0a} every fitter takes a problem
#' @srrstats {ML2.2} In part: `standardize` is on or off. Other scales are columns rescaled by the
#'   user
#' @srrstats {ML2.2a} `?as_problem`
#' @srrstats {ML2.4} `?as_problem`
#' @srrstats {ML2.5} `standardize = FALSE`, `intercept = FALSE`
#' @srrstats {ML2.6} In part: `smooth` and `standardize` are arguments, not functions
#' @srrstats {ML2.7} In part: coefficients are in the user's units, so nothing has to be reversed
#' @srrstats {ML3.0b} fitters take problems
#' @export
as_problem <- function(x, y = NULL, ..., data = NULL, weights = NULL, subset = NULL,
                       na.action = NULL, # nolint: object_name_linter.
                       adjust = NULL, intercept = TRUE, standardize = TRUE, task = NULL,
                       within = NULL, assay = NULL, make_unique = FALSE, missing = "error",
                       penalty = NULL, columns_group = NULL, group_rule = "together",
                       hierarchy = "none", class_weights = NULL, offset = NULL,
                       standardize_response = TRUE, groups = NULL, center_groups = "none",
                       strata = NULL, smooth = NULL, smooth_basis = NULL, interactions = NULL,
                       threads = 1) {
  check_given(x, "x")
  check_dots(..., known = c("x", "y", "data", problem_arguments, "threads"))
  # the argument `missing` may be a function
  stop_argument_if(!inherits(x, "formula") && !base::missing(subset),
                   "`subset` is for a formula `x`: take `problem[rows, ]` of any problem")
  stop_input_if(inherits(x, "rset"), "`x` is resamples: give these as `folds`, their data as `x`")
  stop_input_if(!is_experiment(x) && !is.null(assay) && !inherits(x, "sparsels_problem"),
                "`assay` is for an experiment, such as a SummarizedExperiment, not for %s",
                describe(x))
  stop_input_if(check_flag(make_unique, "make_unique") && inherits(x, c("data.frame", "formula")),
                "`make_unique` is for a matrix or an experiment, not for %s: %s", describe(x),
                "names(data) <- make.unique(names(data)) numbers variables")
  # a matrix with a class of its own, such as a table or I(matrix), is a matrix
  UseMethod("as_problem", if (is_classed_matrix(x)) matrix() else x)
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
as_problem.matrix_in_place <- as_problem.matrix

#' @export
as_problem.FBM <- as_problem.matrix

#' @export
as_problem.FBM.code256 <- as_problem.matrix

#' @export
as_problem.big.matrix <- as_problem.matrix

#' @export
as_problem.big.matrix.descriptor <- as_problem.matrix

#' @export
as_problem.character <- function(x, y = NULL, ...) {
  if (!is_bed_path(x)) return(as_problem.default(x))
  new_problem(as_values(x), y, response_name(substitute(y)), ...,
              unique_by = "`make_unique = TRUE` numbers them")
}

#' @export
as_problem.data.frame <- function(x, y = NULL, ..., data = NULL, intercept = TRUE, within = NULL,
                                  groups = NULL, strata = NULL, adjust = NULL, weights = NULL,
                                  offset = NULL, missing = "error") {
  x <- as_frame(x)
  check_names(names(x), "x")
  stop_input_if(inherits(evaluated_response(x, y), "formula"), "`y` must be a response: %s",
                "a formula and its data are given as in greedy_rls(y ~ ., data)")
  if (is.null(data)) adjust <- named_adjust(adjust, x)
  of_rows <- list(within, groups, strata, weights, offset, if (is.null(data)) adjust)
  candidates <- x[setdiff(names(x), label_variables(of_rows))]
  if (is.null(data)) data <- x
  design <- frame_design(candidates, check_flag(intercept, "intercept"),
                         gaps = identical(missing, "mean"))
  new_problem(design_matrix(design, candidates, "x"), y, response_name(substitute(y)), ...,
              data = data, intercept = intercept, within = within, groups = groups,
              strata = strata, adjust = adjust, weights = weights, offset = offset,
              missing = missing, design = design,
              row_names = given_row_names(x))
}

#' @exportS3Method
as_problem.DataFrame <- as_problem.data.frame

#' @export
as_problem.sparsels_problem <- function(x, y = NULL, ..., groups = NULL, threads = 1) {
  check_sealed(x)
  given <- names(without_null(c(list(y = y), list(...))))
  stop_input_if(length(given), "`x` is a problem already: %s cannot be given again",
                some_of(given, Inf, "`"))
  check_has_x(x)
  if (is.null(groups)) return(x)
  stop_input_if(!is.null(x$coding$center_groups),
                "`x` is a problem whose columns are centred within groups: %s",
                "give other `groups` where the problem is made")
  seal_again(with_row_groups(x, groups))
}

#' @export
as_problem.default <- function(x, y = NULL, ..., data = NULL, assay = NULL) {
  stop_input_if(
    !is_experiment(x),
    "`x` must be a matrix, data frame, formula, SummarizedExperiment or problem, not %s%s",
    describe(x), matrix_hint(x)
  )
  words <- experiment_words[[Find(function(class) inherits(x, class), names(experiment_words))]]
  stop_input_if(!is.null(data), "`data` is not used with %s: see its %s", describe(x),
                words[["samples"]])
  samples <- row_data(x)
  name <- response_name(substitute(y))
  response <- sample_response(evaluated_response(x, y), name, samples, words[["samples"]])
  read <- read_experiment(x, assay)
  unique_by <- unique_hint(words[["names"]])
  if (is.na(words[["names"]])) unique_by <- "`make_unique = TRUE` numbers them"
  new_problem(as_values(read$values, words[["values"]]), response$y, response$name, ...,
              data = samples, assay = read$assay, features = c("x", "row"), unique_by = unique_by,
              called = c(x = words[["values"]], y = response$called))
}

# The value of the argument y. R does not look for its variables in the data x.
evaluated_response <- function(x, y) {
  tryCatch(y, simpleError = function(e) {
    columns <- if (is_experiment(x)) "about the samples are given as `y = ~ %s`, a formula" else
      if (is.data.frame(x)) "of `x` are given in a formula, as in (%s ~ ., x)"
    if (is.null(columns)) stop(e)
    stop_input("`y` has no value, %s: variables %s", conditionMessage(e),
               sprintf(columns, "Surv(time, status)"))
  })
}

# The response of an experiment, with its printed form and its name in messages: the name of a
# column, a one-sided formula, or one value per sample. `where` says where the columns are.
sample_response <- function(y, expression, samples, where) {
  if (inherits(y, "formula")) return(formula_sample_response(y, samples, where))
  if (is.character(y) && length(y) == 1L && y %in% names(samples)) {
    return(list(y = samples[[y]], name = y, called = y))
  }
  if (is.null(y) || is.character(y) && length(y) == 1L) {
    columns <- if (length(samples)) paste(", one of", some_of(names(samples), 30L)) else ""
    stop_input("`y` must name a column of %s%s, %s, not %s", where, columns,
               "or be a vector with a value for every sample", describe(y))
  }
  stop_input_if(NROW(y) != nrow(samples),
                "`y` must have one value for each of the %d samples of `x`, not %d%s",
                nrow(samples), NROW(y), named_columns_hint(y, where, "~ %s"))
  check_row_order(y, rownames(samples), "y", where, "samples")
  list(y = y, name = expression, called = "y")
}

formula_sample_response <- function(formula, samples, where) {
  terms <- tryCatch(stats::terms(formula, data = samples), error = function(e) NULL)
  term <- attr(terms, "term.labels")
  stop_input_if(length(formula) != 2L || length(term) != 1L,
                "the formula `y` must be one-sided with one variable, %s, not %s",
                sprintf("such as `~ %s`", if (length(formula) == 3L) deparse1(formula[[2L]]) else
                  c(names(samples), "group")[1L]), deparse1(formula))
  code <- str2lang(term)
  unknown <- unknown_variables(code, samples, environment(formula))
  stop_input_if(length(unknown), "no variable %s in %s: it has %s", some_of(unknown), where,
                some_of(names(samples), 30L))
  y <- eval(code, samples, environment(formula))
  list(y = y, name = deparse1(code), called = deparse1(code))
}

# The one constructor -----------------------------------------------------------------------------

new_problem <- function(x, y, response, ..., assay = NULL, make_unique = FALSE, threads = 1,
                        row_names = rownames(x), called = c(x = "x", y = "y"),
                        features = c(called[["x"]], "column"), unique_by = NULL, formula = NULL,
                        omitted = NULL, kept = NULL, penalty = NULL, columns_group = NULL,
                        group_rule = "together", hierarchy = "none", groups = NULL, data = NULL,
                        na.action = NULL, # nolint: object_name_linter.
                        weights = NULL, adjust = NULL, within = NULL, strata = NULL, offset = NULL,
                        missing = "error", row_codes = list(
                          offset = row_code(offset, data),
                          strata = row_code(strata, data, of_formula = crossed_terms)
                        ), smooth = NULL, smooth_basis = NULL, interactions = NULL,
                        center_groups = "none") {
  check_count(threads, "threads")
  check_size(x, called[["x"]])
  say_missing_phenotypes(x, y, called[["y"]])
  of_rows <- list(y = y, weights = weights, adjust = adjust, within = within, groups = groups,
                  strata = strata, offset = offset)
  omit <- omits_missing(na.action)
  if (!is.null(omit) && NROW(y) == nrow(x)) {
    cut <- complete_rows(x, of_rows, as_frame(data), row_names, identical(missing, "error"), omit)
    x <- cut$x
    of_rows <- cut$of_rows
    data <- cut$data
    row_names <- cut$row_names
    omitted <- cut$omitted
    kept <- cut$kept
  }
  named <- filled_names(colnames(x))
  if (!identical(named, colnames(x))) colnames(x) <- named
  # the names that occur more than once, by the names that the columns get
  renamed <- if (make_unique && anyDuplicated(named)) {
    colnames(x) <- make.unique(named)
    repeated <- named %in% named[duplicated(named)]
    stats::setNames(named[repeated], colnames(x)[repeated])
  }
  check_names(colnames(x), features[1L], features[2L], unique_by)
  problem <- response_side(nrow(x), of_rows$y, response, ..., data = data, row_names = row_names,
                           called = called, columns = ncol(x), weights = of_rows$weights,
                           adjust = of_rows$adjust, within = of_rows$within,
                           strata = of_rows$strata, offset = of_rows$offset, missing = missing)
  made_from <- c(list(assay = assay, renamed = renamed, formula = formula), row_codes)
  problem$coding <- c(problem$coding, without_null(made_from))
  problem$na.action <- omitted
  problem$kept <- kept
  x <- centered_in_groups(x, of_rows$groups, data, center_groups, called[["x"]])
  problem$coding$center_groups <- if (center_groups != "none") center_groups
  problem <- put_columns(problem, x, called[["x"]], threads, penalty, smooth, smooth_basis,
                         interactions)
  decomposed_covariates(problem)
  problem <- with_column_relations(problem, columns_group, group_rule, hierarchy)
  check_row_order(of_rows$groups, row_names, "groups", called[["x"]])
  problem <- with_row_groups(problem, of_rows$groups, data)
  if (is.null(of_rows$groups)) {
    say_copied_rows(problem)
    say_counted_rows(problem)
  }
  stop_input_if(!any(problem$columns$usable), "every column of `%s` is %s%s", called[["x"]],
                excluded_words(problem),
                if (any(is_set_apart(problem))) ", or has `penalty` 0 or Inf" else "")
  say_counts(problem, called[["x"]])
  seal(problem)
}

# Refuses values of rows that have the names of the rows in another order.
check_row_order <- function(values, row_names, called, where, what = "rows") {
  if (inherits(values, "big.matrix")) check_attached(values, called)
  is_table <- length(dim(values)) == 2L
  names <- if (is.data.frame(values)) given_row_names(values) else
    if (is_table) rownames(values) else names(values)
  turned <- !is.null(row_names) && setequal(names, row_names) && !identical(names, row_names)
  stop_input_if(turned, "`%s` has the names of the %s in another order: give %s[rownames(%s)%s]",
                called, what, called, where, if (is_table) ", " else "")
}

# a problem without x, to be completed by put_columns()
response_side <- function(rows, y, response, data = NULL, weights = NULL, adjust = NULL,
                          intercept = TRUE, standardize = TRUE, task = NULL, within = NULL,
                          strata = NULL, design = NULL, row_names = NULL,
                          called = c(x = "x", y = "y"), missing = "error",
                          class_weights = NULL, offset = NULL,
                          standardize_response = TRUE, columns = 0L) {
  check_encoding(row_names, sprintf("a row name of `%s`", called[["x"]]), "row")
  of_rows <- list(weights = weights, offset = offset, within = within, strata = strata,
                  adjust = adjust)
  of_rows[[called[["y"]]]] <- y
  for (name in names(of_rows)) check_row_order(of_rows[[name]], row_names, name, called[["x"]])
  check_flag(intercept, "intercept")
  check_flag(standardize, "standardize")
  check_choice(missing, "missing", c("error", "mean"))
  check_flag(standardize_response, "standardize_response")
  # grades are not codes of classes
  if (!is.null(within) && is.null(task) && is.numeric(y)) task <- "regression"
  centred <- intercept || !is.null(within)
  coded <- code_response(y, rows, called, task, columns, centred)
  query <- read_row_labels(within, "within", data, rows)
  if (!is.null(query)) {
    coded <- code_ranked(coded, called[["y"]])
    intercept <- FALSE # the means of queries take its place
  }
  weights <- check_weights(labels_in(data, weights, "weights"), rows)
  # such as 1 / table(y)
  if (is.table(class_weights) || is.list(class_weights)) {
    class_weights <- unlist(as.list(class_weights))
  }
  check_class_weights(class_weights, coded$levels)
  offset <- check_offset(labels_in(data, offset, "offset"), coded, rows)
  if (!is.null(offset) && is.null(coded$times)) coded$y <- coded$y - offset
  stratum <- read_row_labels(strata, "strata", data, rows)
  stop_input_if(!is.null(stratum) && is.null(coded$times),
                "`strata` are for censored times, Surv(time, status), but `%s` has none: %s",
                called[["y"]], "give them as `adjust`")
  if (!is.null(coded$times)) {
    coded$y <- coded_times(coded$times, weights, called[["y"]], isTRUE(coded$no_logs))
  }
  check_trained_response(coded, weights, called[["y"]], centred)
  covariates <- adjust_columns(adjust, data, rows, intercept)
  large <- which(!is.finite(colSums(weights * covariates$z^2)))
  stop_input_if(length(large), "`adjust` has values too large to square (first: column '%s')",
                colnames(covariates$z)[large[1L]])
  problem <- structure(list(
    x = NULL,
    rows = new_table(c(list(y = coded$y, weight = weights, query = query, stratum = stratum,
                            offset = offset, name = row_names), coded$times), rows),
    columns = NULL, z = covariates$z,
    coding = list(task = coded$task, levels = coded$levels, response = response,
                  intercept = intercept, standardize = standardize, missing = missing,
                  design = design, adjust_design = covariates$design)
  ), class = c("sparsels_problem", "sparsels_object"))
  problem$coding$classes <- coded$classes
  problem$coding$ordered <- coded$ordered
  problem$coding$no_logs <- coded$no_logs
  problem$coding$class_weights <- class_weights
  problem <- put_weights(problem, weights)
  check_ranking(problem, called[["y"]])
  scales <- response_scales(scores_of(problem, residual = 0), weights, coded$task,
                            standardize_response)
  problem$coding$response_scale <- scales
  if (!is.null(scales)) problem$rows$y <- problem$rows$y / rep(scales, each = rows)
  problem <- compile_rows(problem)
  aliased <- problem$compiled$covariates$aliased
  if (!length(aliased)) return(problem)
  # what rows of weight 0 alone determine, as a level of them, is left out, which fitters say
  stop_aliased(if (all(weights > 0)) aliased else
    aliased_columns(qr(problem$z, tol = 1e-10), problem$z), problem)
  with_left_out(without_dependent(problem))$value
}

# The problem with these candidate columns in place of its own.
put_columns <- function(problem, x, called = "x", threads = 1L, penalty = NULL, smooth = NULL,
                        smooth_basis = NULL, interactions = NULL) {
  problem <- with_x(problem, x)
  if (!is.null(penalty)) {
    factors <- check_penalty(penalty, problem$columns$name, column_term_names(problem))
    problem <- put_factors(problem, factors)
  }
  if (!is.null(smooth) || !is.null(smooth_basis) || !is.null(interactions)) {
    stop_missing(problem, called, gaps = problem$coding$missing == "mean")
    problem <- with_curves(problem, smooth, smooth_basis, called)
    problem <- with_pair_places(problem, interactions, called)
  }
  measure_columns(problem, called, threads)
}

# The problem with the rows of some columns in another order, against the response, the covariates
# and the other columns.
permuted_columns <- function(problem, columns, order) {
  problem <- as_given(settled_covariates(problem))
  x <- as_doubles(problem$x)
  if (length(columns) == sum(problem$columns$usable)) {
    problem$x <- x[order, , drop = FALSE]
  } else {
    x[, columns] <- x[order, columns, drop = FALSE]
    problem$x <- x
  }
  measure_columns(problem)
}

# Methods -----------------------------------------------------------------------------------------

#' @export
dim.sparsels_problem <- function(x) c(.row_names_info(x$rows, 2L), .row_names_info(x$columns, 2L))

#' @export
`[.sparsels_problem` <- function(x, i, j, ...) {
  check_sealed(x)
  if (nargs() != 3L) stop_input("a problem has rows and columns: `pb[rows, ]`, `pb[, cols]`")
  check_has_x(x, "this")
  rows <- if (missing(i)) seq_len(nrow(x)) else positions(i, nrow(x), x$rows$name, "row")
  cols <- if (missing(j)) seq_len(ncol(x)) else positions(j, ncol(x), x$columns$name, "column")
  stop_input_if(anyDuplicated(cols), "column '%s' is chosen twice",
                x$columns$name[cols[anyDuplicated(cols)]])
  check_lines(x, cols)
  x <- settled_pairs(x, cols)
  x$z <- x$z[, colnames(x$z) %in% c(given_covariates(x), x$columns$name[cols]), drop = FALSE]
  if (!is.null(x$coding$formula) && !missing(j)) x$coding$formula <- column_formula(x, cols)
  x <- part_of(x, rows, cols)
  x$coding["design"] <- list(subset_design(x$coding$design, cols))
  x$hierarchy <- some_hierarchy(x$hierarchy, cols)
  # fitters say what is left out, as these rows may be new data
  seal_again(with_left_out(reweighted(x, case_weights(x)))$value)
}

# Refuses the problem stored in a fit, where the data matrix is used.
check_has_x <- function(problem, called = "`x`") {
  stop_input_if(is.null(problem$x), "%s is the problem stored in a fit, which has no data matrix",
                called)
  check_sound_x(problem)
}

# The seal has no values. A data matrix that was edited into none that can be computed with is
# refused.
check_sound_x <- function(problem) {
  x <- problem$x
  if (is_working_copy(problem) || is.list(x)) return(invisible())
  values <- if (isS4(x)) x@x else x
  largest <- if (length(values)) max(abs(range(values))) else 0
  sound <- isTRUE(largest < sqrt(.Machine$double.xmax)) &&
    (!isS4(x) || isTRUE(methods::validObject(x, test = TRUE)))
  if (!sound) stop_edited("x", "an object of class 'sparsels_problem'")
}

# the problem as a fit stores it, without the data matrix
without_x <- function(problem) {
  problem["x"] <- list(NULL)
  problem$columns$products <- NULL
  problem[c("gaps", "source", "compiled")] <- NULL
  seal(problem)
}

# The problem with other case weights. Centre, scale and the working response of censored times are
# computed again.
reweighted <- function(problem, weights, threads = 1L) {
  problem <- put_weights(problem, weights)
  if (is_survival(problem)) problem$rows$y <- response_of_times(problem)
  measure_columns(problem, threads = threads, part = TRUE)
}

# the label of the response: the user's expression if it is short
response_name <- function(expression) {
  if (!is.symbol(expression) && !is.call(expression)) return("y")
  text <- deparse1(expression)
  if (nchar(text) <= 40L) text else "y"
}

# New data -----------------------------------------------------------------------------------------

# New data of any form: a file opened, and a list of variables, as model functions take it, as a
# data frame.
as_new_data <- function(newdata) {
  variables <- is.vector(newdata, "list") && length(newdata) && !is.null(names(newdata))
  if (!variables) return(opened_file(newdata))
  rows <- vapply(newdata, NROW, 0L)
  odd <- which(rows != rows[1L])[1L]
  stop_newdata_if(!is.na(odd),
                  "the variables of the list `newdata` must have equally many values, not %s",
                  sprintf("%d of '%s' and %d of '%s'", rows[1L], names(newdata)[1L], rows[odd],
                          names(newdata)[odd]))
  structure(newdata, class = "data.frame", row.names = seq_len(rows[[1L]]))
}

# New data for a problem: columns of x by name, and covariates.

# New data as a matrix of doubles or a dgCMatrix, with the problem's columns `columns` in that
# order. Missing values are replaced if the problem has means for them.
new_data_matrix <- function(problem, newdata, columns) {
  x <- new_values(problem, newdata, columns)
  # the rows that a fold holds out are a problem
  if (!inherits(newdata, "sparsels_problem")) say_beyond(problem, x, columns)
  complete_new(problem, x, columns)
}

# New data of the columns that these columns are functions of, at their read_places(), centred
# within cohorts if the problem is.
new_values <- function(problem, newdata, columns) {
  data <- if (inherits(newdata, "sparsels_problem")) problem_x(newdata) else newdata
  if (is_experiment(data)) data <- read_experiment(data, problem$coding$assay, "newdata")$values
  data <- as_valid(as_frame(data), "newdata")
  if (is.data.frame(data)) {
    x <- new_frame_matrix(problem, data, columns)
  } else {
    stop_newdata_if(length(dim(data)) != 2L, "`newdata` must be a matrix or data frame, not %s%s",
                    describe(data), matrix_hint(data))
    # evaluated outside `[`, whose S4 methods would replace the class of an error in its arguments
    chosen <- new_positions(problem, data, columns)
    x <- as_doubles(as_values(data[, chosen, drop = FALSE], "newdata"))
  }
  if (is.null(problem$coding$center_groups)) x else centered_cohorts(problem, newdata, x)
}

# the data matrix of a problem given as new data, which a problem stored in a fit does not have
problem_x <- function(problem) {
  check_sealed(problem)
  stop_newdata_if(is.null(problem$x),
                  "`newdata` is the problem stored in a fit, which has no data matrix")
  check_sound_x(problem)
  x <- as_given(problem)$x
  # columns that are functions of others are no data
  data <- match(data_names(problem), problem$columns$name)
  if (ncol(x) > length(data)) x[, data, drop = FALSE] else x
}

# positions in newdata of the wanted columns: by name where both have names, by position otherwise
new_positions <- function(problem, newdata, columns) {
  present <- filled_names(colnames(newdata))
  places <- read_places(problem, columns)
  sources <- data_names(problem)
  if (problem$coding$named && !is.null(present)) {
    needed <- problem$columns$name[places]
    present <- renamed_columns(present, problem$coding$renamed, needed)
    check_present(needed, present, "newdata")
    return(match(needed, present))
  }
  stop_newdata_if(ncol(newdata) != length(sources),
                  "`newdata` must have the %d columns of the fit, not %d: %s", length(sources),
                  ncol(newdata), "without names they are matched by position")
  match(problem$columns$name[places], sources)
}

# The names of new columns. Names that the problem's data had more than once are numbered in the
# same way. New data with unique names are not changed.
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
  places <- read_places(problem, columns)
  if (!is.null(problem$coding$design)) {
    return(design_matrix(subset_design(problem$coding$design, places), newdata, "newdata"))
  }
  names <- problem$columns$name[places]
  chosen <- stats::setNames(unclass(newdata)[new_positions(problem, newdata, columns)], names)
  level <- rep(NA_character_, length(names))
  columns <- data.frame(variable = names, level = level, name = names)
  design <- list(columns = columns, levels = list())
  # several columns may be functions of one
  design_matrix(design, list2DF(chosen[!duplicated(names)], nrow(newdata)), "newdata")
}

# Covariates z (rows x q) of new data, with the columns without penalty among them. `adjust` is as
# for as_problem(), and newdata holds the variables of a formula.
new_covariates <- function(problem, newdata, adjust = NULL) {
  z <- if (inherits(newdata, "sparsels_problem")) problem_covariates(problem, newdata) else
    new_given_covariates(problem, newdata, adjust)
  z <- with_intercept(z, nrow(z), problem$coding$intercept)
  of_columns <- setdiff(colnames(problem$z), colnames(z))
  if (length(of_columns)) {
    values <- as.matrix(new_data_matrix(problem, newdata, match(of_columns, problem$columns$name)))
    dimnames(values) <- list(NULL, of_columns)
    z <- cbind(z, values)
  }
  z[, colnames(problem$z), drop = FALSE]
}

# The values of new rows, by their name among the rows of a problem or by their code in the data
# about the rows. NULL where the data do not have them.
found_values <- function(newdata, name, code) {
  if (inherits(newdata, "sparsels_problem")) return(newdata$rows[[name]])
  data <- row_data(newdata)
  found <- is.data.frame(data) && !is.null(code) && all(all.vars(code) %in% names(data))
  if (found) eval(code, data, globalenv())
}

# The offset of new data, which a fit with an offset requires.
new_offset <- function(problem, newdata, newoffset, rows) {
  if (is.null(problem$rows$offset)) {
    if (is.null(newoffset)) return(NULL)
    stop_argument("the fit has no offset: `newoffset` cannot be given")
  }
  if (is.null(newoffset)) newoffset <- found_values(newdata, "offset", problem$coding$offset)
  stop_argument_if(is.null(newoffset),
                   "the fit has an offset: give the offset of the new rows as `newoffset`")
  if (is_number(newoffset)) newoffset <- rep(newoffset, rows)
  offset_matrix(newoffset, "newoffset", rows, ncol(problem$rows$y), gaps = TRUE)
}

# covariates of new data that are not columns of x
new_given_covariates <- function(problem, newdata, adjust) {
  newdata <- row_data(newdata)
  rows <- nrow(newdata)
  design <- problem$coding$adjust_design
  stop_newdata_if(is.null(design) && !is.null(adjust),
                  "the fit has no covariates: `adjust` cannot be given")
  z <- if (is.null(design)) matrix(0, rows, 0L) else new_adjust(design, newdata, adjust)
  stop_newdata_if(nrow(z) != rows, "`adjust` must have %d rows, as `newdata` has, not %d", rows,
                  nrow(z))
  z
}

# the covariates of a problem given as new data, matched by name
problem_covariates <- function(problem, newdata) {
  needed <- setdiff(given_covariates(problem), "(Intercept)")
  newdata$z <- cbind(newdata$z, newdata$left_out)
  lacking <- setdiff(needed, colnames(newdata$z))
  stop_newdata_if(length(lacking),
                  "`newdata` is a problem that is not adjusted for %s, as the fit is",
                  some_of(lacking))
  newdata$z[, match(needed, colnames(newdata$z)), drop = FALSE]
}

new_adjust <- function(design, newdata, adjust) {
  adjust <- as_frame(adjust)
  if (inherits(adjust, "formula")) {
    stop_newdata_if("." %in% all.vars(adjust) && !is.data.frame(newdata),
                    "`adjust` has a `.`, which needs a data frame as `newdata`")
    adjust <- stats::get_all_vars(adjust, if (is.data.frame(newdata)) newdata)
  }
  if (!is.null(adjust)) {
    # without names at the fit, one column is matched by its place
    if (isTRUE(design$unnamed)) adjust <- plain_variable(adjust)
    if (design$kind == "matrix" && is.data.frame(adjust)) adjust <- as.matrix(adjust)
    classes <- is.null(dim(adjust)) && (is.factor(adjust) || is.character(adjust))
    if (design$kind == "matrix" || is.data.frame(adjust) || classes) {
      return(adjust_values(design, adjust))
    }
    stop_newdata("`adjust` must be a data frame, as when fitted, not %s", describe(adjust))
  }
  stop_newdata_if(design$kind != "formula" || !is.data.frame(newdata),
                  "`adjust` must be given for new data: the fit is adjusted for %s",
                  some_of(adjust_names(design)))
  design_matrix(design, newdata, "newdata")
}
