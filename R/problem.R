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
#' A formula may use `.`, transformations and interactions, and `offset()` as a term by itself; the
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
#' **Penalty factors.** With `penalty`, a factor \eqn{p_j} for each column, the penalty is
#' \eqn{\lambda \sum_j p_j \beta_j^2}{lambda sum_j p_j beta_j^2}, and
#' \eqn{\lambda \sum_j p_j |\beta_j|}{lambda sum_j p_j |beta_j|} for methods with an l1 penalty,
#' where \eqn{\beta_j}{beta_j} is the coefficient of the standardised column. They are the
#' `penalty.factor` of glmnet, but are *not* rescaled: glmnet makes their sum the number of columns,
#' which divides them by their mean (those of columns that are never used counting as 1). A column
#' of factor 0 has no penalty and becomes a covariate: it is in every model under its own name,
#' beside the intercept, and new data must have it. A column of factor `Inf` is never used. Other
#' factors need a penalty: searches with `lambda = 0` refuse them, and methods with kernels refuse
#' `penalty` altogether.
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
#' @param within For a ranking, the query of each row, within which alone rows are compared: a
#'   vector with one value per row, the name of a column of `data`, or a one-sided formula such as
#'   `~ query`; with a formula `x` also an expression of variables in `data`. Variables that say the
#'   query are left out of `.`. See Ranking.
#' @param assay For an experiment, the name or number of the assay; not needed where there is only
#'   one. For a `MultiAssayExperiment`, names of one or several experiments.
#' @param make_unique Logical: in a matrix or an experiment, are names that occur more than once
#'   made unique, as [make.unique()] does (`TP53`, `TP53.1`)? Otherwise they are an error.
#' @param missing What is done about missing values of `x`: `"error"`, the default, or `"mean"`,
#'   which replaces them by the weighted means of their columns, see Details. Missing values of the
#'   response, the weights and the covariates are errors.
#' @param penalty Factors by which the penalty of each column is multiplied, numbers of at least 0:
#'   one for each column, in their order, or some named by columns or by terms, such as
#'   `c(age = 0, stage = 0)`, where all others are 1. 0: without penalty, in every model; `Inf`:
#'   never used. They are not rescaled, see Details. `NULL`: all are 1.
#' @param columns_group Groups of columns, see there: a vector with the group of each column, a name
#'   or number, in order or by the names of the columns, `NA` or `""` being none; or a named list of
#'   groups, each given by the names or numbers of its columns. `NULL`, the default: the columns of
#'   a factor are a group. `FALSE`: there are no groups.
#' @param group_rule Whether the columns of a group are in a model `"together"`, the default, or at
#'   most `"one"` of them is.
#' @param hierarchy Which columns ask for others, see Hierarchy: `"none"`, the default; `"strong"`,
#'   the interactions of a formula for their main effects; or a named list of what columns ask for,
#'   such as `list(both = c("first", "second"))`, names being those of columns or of terms, for what
#'   is asked for also numbers of columns.
#' @param class_weights For classes, `NULL`, `"balanced"` or a named numeric vector with a positive
#'   value for every class, by which the case weights are multiplied. `"balanced"` makes the classes
#'   weigh the same together: W / (K W_c) for a class of weight W_c among K classes and W together;
#'   wherever a method is trained on some of the rows it is computed anew from these. Models and
#'   their errors are those of the weighted rows, so that with `"balanced"` the error rate of a
#'   fit is the balanced one; for probabilities see [class_probabilities].
#' @param offset `NULL`, or a part of a numeric response that is known: a number for each row, or a
#'   matrix with a column for each response. Models are fitted to the response less the offset, and
#'   `predict()` adds that of the new rows, `newoffset`. In a formula also by `offset(...)`, whose
#'   variables `.` leaves out. Not for classes and censored times.
#' @param standardize_response Logical: are several numeric responses put on a common scale, each
#'   divided by its weighted standard deviation? Which columns and sizes are chosen does not depend
#'   on their units then, and errors are shares of the variances; coefficients, predictions and
#'   residuals are in the units of the responses. One response and classes stay as they are.
#' @param threads Number of OpenMP threads for the means and sums of squares of the columns of a
#'   dense matrix. The result does not depend on it.
#'
#' @return A list of class `sparsels_problem` with, for m rows, n columns, L responses and q
#'   covariates: `x` (m x n, a matrix of doubles, integers or logicals, a `float_matrix` or
#'   `file_matrix` as given, or a `dgCMatrix`; complete with `missing = "mean"`),
#'   `y` (m x L, coded), `task` (`"regression"`, `"binary"` or `"multiclass"`), `levels`, `survival`
#'   (`NULL`, or a data frame of `time` and `event`), `query` (of a ranking a factor, the query of
#'   each row, otherwise `NULL`), `response` (its name), `weights` (m), `z` (m x
#'   q, the covariates, intercept first), `names` and `named` (column names, and whether they were
#'   given), `row_names`, and, each of length n, `centre`,
#'   `squares` (weighted sums of squares about `centre`), `rss` (weighted residual sums of squares
#'   of the columns given the covariates), `scale` and `usable` (`FALSE` for an excluded column);
#'   `penalty` (n factors, or `NULL`; `scale` has their roots as factors); `offset` (m x L) and
#'   `response_scale` (L), or `NULL`: `y` is the response less the one, divided by the other;
#'   further `products` (n x L, weighted cross products of columns and responses given the
#'   covariates), `column_groups` (`NULL`, or `of`, the number of each column's group, 0 for none,
#'   and the groups' `names` and `rule`), `hierarchy` (`NULL`, or by number `column` and a column
#'   that each `needs`), `intercept`, `standardize`, and `design`, `adjust_design`,
#'   `assay` and `renamed`, which turn new data into columns. With `class_weights`, else `NULL`:
#'   `class_weights` (as given) and `case_weights` (m, without them). With `missing = "mean"`, else
#'   `NULL`: `fill` (n, what missing values are replaced by), `missing` (n, how many of each column)
#'   and `gaps` (where they were, a sparse m x n pattern; `NULL` where there are none or `x` is read
#'   in place).
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
#' @section Groups of columns:
#' Columns that say one thing together, such as the indicators of a factor, the probes of a gene or
#' the genes of a pathway, can be chosen as a group: [greedy_rls()] takes all of them into the model
#' or none. With `group_rule = "one"` it takes one at most, such as the best probe of each gene. A
#' column is in one group at most: where pathways overlap, say in which of them a gene counts.
#' Columns without a group are chosen by themselves. Excluded columns are left out of their group.
#'
#' In a data frame or formula the columns of a factor of three levels or more are a group by
#' default, and so are those of each interaction with a factor. `columns_group = FALSE` takes levels
#' one by one, and a `columns_group` that is given replaces these groups. Models with all columns or
#' with kernels, such as those of [rls()], do not depend on groups. Methods that choose single
#' columns, such as [l1_path()] and [omp()], refuse groups that were given; factors they take level
#' by level, and say so in a message of class `sparsels_message_groups`.
#'
#' @section Hierarchy:
#' An interaction without its main effects is hard to read, and what it says depends on where the
#' zeros of its variables are. With `hierarchy = "strong"` an interaction of a formula is in a model
#' only beside all columns of the terms that it contains: `a:b` beside `a` and `b`, `a:b:c` also
#' beside `a:b`, `a:c` and `b:c` (*strong heredity*, or marginality; Nelder 1977, Bien et al. 2013).
#' [greedy_rls()] adds an interaction only when these are in, by any `search`, and drops none of
#' them as long as the interaction is in. All of these terms must be in the formula, as in
#' `y ~ a * b` or `y ~ .^2`, or among the covariates.
#'
#' A list asks for columns of any data: `list("a:b" = c("a", "b"))`, `list(late = "early")`. What is
#' asked for brings what it asks for itself. Columns that a search cannot choose, covariates (also
#' by `penalty` 0) and columns that are excluded as constant or as a combination of the covariates,
#' count as members of every model, and columns that `problem[, cols]` leaves out are not asked for
#' any more. A group of columns that moves together asks for what any of its columns asks for. Of a
#' factor whose levels are taken one by one, by `columns_group = FALSE`, all levels must be in
#' before an interaction with it.
#'
#' Models with all columns or with kernels do not depend on a hierarchy, and [random_selection()]
#' draws columns that meet it. All other methods that choose columns, and [exchange()], refuse it.
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
#' @section Ranking:
#' With `within`, rows are compared within their query alone: documents of a search, offers made to
#' one customer, samples of one batch or plate. Grades or other numbers, or two classes of which the
#' second is above the first, are ranked by *pairwise least squares* (Pahikkala et al. 2009): with
#' \eqn{V_g} the sum of the weights in query \eqn{g}, scores \eqn{f} minimise
#' \deqn{\sum_g \frac{1}{V_g} \sum_{i<j \in g} w_i w_j ((y_i - y_j) - (f_i - f_j))^2 +
#' \lambda \| B \|_F^2.}{sum_g 1 / V_g sum_(i<j in g) w_i w_j ((y_i - y_j) - (f_i - f_j))^2 +
#' lambda ||B||_F^2.}
#' This is the regression of the response on columns and covariates that are all centred by the
#' weighted means of their queries, and is computed so, in O(m) a column: pairs are never written
#' out, and `x` stays as it is, sparse or in a file. The scale of a column is that of what varies
#' within queries.
#'
#' * There is no intercept: scores have no level, and only their differences within a query mean
#'   something. `predict()` gives scores of new rows, to be sorted within their query. Fitted and
#'   held-out scores of the rows of a fit are about the mean of their query.
#' * Columns and queries that cannot move a comparison do not: a column that is constant within
#'   every query is excluded, and a query of a single row carries nothing.
#' * Rows are held out by whole queries: `folds = "loo"` leaves out one query at a time,
#'   `folds = 10` a tenth of them, and folds that have rows of one query apart are an error. The
#'   criterion `"squared"` is then the squared loss of the pairs of the queries held out, exactly,
#'   divided by the sum of the weights; `"concordance"` is the share of pairs of different responses
#'   in the right order (0.5 is chance).
#' * [cross_validate()] and its kin measure the concordance, or NDCG: `measure = "ndcg"`, of the
#'   first ten rows of each query `"ndcg@10"`. A row of grade y gains \eqn{2^y - 1} (of two classes
#'   0 or 1), discounted by \eqn{\log_2(1 + rank)}{log2(1 + rank)}; the sum is divided by its
#'   largest possible value and averaged over the queries that have any gain, each counting alike.
#'
#' Rankings are for [greedy_rls()], [rls()], [kernel_rls()] and [random_selection()], and for
#' [cross_validate()], [compare_methods()], [permutation_test()] (which permutes within queries),
#' [exchange()] and [verify()] with these. All other methods refuse them. To rank all rows as one
#' query leave out `within` and search by `criterion = "concordance"`.
#'
#' @references Pahikkala, T., Tsivtsivadze, E., Airola, A., Jarvinen, J., Boberg, J. (2009). An
#' efficient algorithm for learning to rank from preference graphs. *Machine Learning* 75, 129-165.
#' \doi{10.1007/s10994-008-5097-z}
#'
#' Nelder, J. A. (1977). A reformulation of linear models. *Journal of the Royal Statistical
#' Society A* 140, 48-77. \doi{10.2307/2344517}
#'
#' Bien, J., Taylor, J., Tibshirani, R. (2013). A lasso for hierarchical interactions. *Annals of
#' Statistics* 41, 1111-1141. \doi{10.1214/13-AOS1096}
#'
#' Buckley, J. and James, I. (1979). Linear regression with censored data. *Biometrika*
#' 66, 429-436. \doi{10.1093/biomet/66.3.429}
#'
#' @section Errors:
#' Of class `sparsels_error_input`, each naming the argument and the position: missing or infinite
#' values, lengths that differ, fewer than two rows, no column or only constant ones, a response
#' that does not suit `task`, is constant or has one class, character matrices, column names that
#' are not unique, negative weights, weights that leave fewer than two rows, covariates that are
#' linearly dependent, penalty factors that are negative or of no column, a hierarchy in which a
#' column asks for itself or for what can never be in a model, values too large or too
#' small to square, times that are not above 0 or not right-censored, no event in the rows trained
#' on, and queries without two rows or without any two different responses. Of class
#' `sparsels_error_ranking`: `within` for a method that cannot rank.
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
#' as_problem(tumour ~ age * gene1 + age * gene2, d, hierarchy = "strong")
#'
#' query <- rep(1:4, each = 3)
#' as_problem(x, d$age, within = query)
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
                       within = NULL, assay = NULL, make_unique = FALSE, missing = "error",
                       penalty = NULL, columns_group = NULL, group_rule = "together",
                       hierarchy = "none", class_weights = NULL, offset = NULL,
                       standardize_response = TRUE, threads = 1) {
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
  check_sealed(x)
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
                        omitted = NULL, penalty = NULL, columns_group = NULL,
                        group_rule = "together", hierarchy = "none") {
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
  if (!is.null(penalty)) problem <- with_penalty(problem, penalty, column_names(x))
  problem <- put_columns(problem, x, called[["x"]], threads)
  covariate_basis(problem)
  problem <- with_column_groups(problem, columns_group, group_rule)
  problem <- with_hierarchy(problem, hierarchy)
  if (!any(problem$usable)) {
    stop_input(sprintf("every column of `%s` is %s%s", called[["x"]], excluded_words(problem),
                       if (is.null(problem$penalty)) "" else ", or has `penalty` 0 or Inf"))
  }
  problem
}

column_names <- function(x) if (is.null(colnames(x))) numbered_names(ncol(x)) else colnames(x)

# a problem without x, to be completed by put_columns()
response_side <- function(rows, y, response, data = NULL, weights = NULL, adjust = NULL,
                          intercept = TRUE, standardize = TRUE, task = NULL, within = NULL,
                          design = NULL, row_names = NULL, called = c(x = "x", y = "y"),
                          missing = "error", class_weights = NULL, offset = NULL,
                          standardize_response = TRUE) {
  check_flag(intercept, "intercept")
  check_flag(standardize, "standardize")
  check_choice(missing, "missing", c("error", "mean"))
  check_flag(standardize_response, "standardize_response")
  # grades are no codes of classes
  if (!is.null(within) && is.null(task) && is.numeric(y)) task <- "regression"
  coded <- code_response(y, rows, called, task)
  query <- query_of_rows(within, data, rows)
  if (!is.null(query)) {
    coded <- code_ranked(coded, called[["y"]])
    intercept <- FALSE # the means of queries take its place
  }
  weights <- check_weights(weights, rows)
  check_class_weights(class_weights, coded$levels)
  offset <- check_offset(offset, coded, rows)
  if (!is.null(offset)) coded$y <- coded$y - offset
  coded <- with_working_times(c(coded, list(weights = weights)), called[["y"]])
  check_trained_response(coded, weights, called[["y"]])
  check_response_size(coded$y, weights, called[["y"]])
  covariates <- adjust_columns(adjust, data, rows, intercept)
  check_covariate_squares(covariates$z, weights)
  problem <- structure(list(
    x = NULL, y = coded$y, task = coded$task, levels = coded$levels, survival = coded$survival,
    query = query, response = response,
    weights = weights, z = covariates$z, names = NULL, named = NULL,
    row_names = row_names, centre = NULL, squares = NULL, rss = NULL, products = NULL,
    scale = NULL, usable = NULL, intercept = intercept, standardize = standardize, design = design,
    adjust_design = covariates$design
  ), class = "sparsels_problem")
  if (missing == "mean") problem$fill <- numeric()
  problem$classes <- coded$classes
  problem$class_weights <- class_weights
  problem <- put_weights(problem, weights)
  if (is_ranked(problem)) check_ranking(problem, called[["y"]])
  problem$offset <- offset
  centred <- centre_within(problem, problem$y)
  problem$response_scale <- response_scales(centred, weights, problem$task, standardize_response,
                                            intercept)
  if (!is.null(problem$response_scale)) {
    problem$y <- problem$y / rep(problem$response_scale, each = rows)
  }
  covariate_basis(problem)
  problem
}

put_columns <- function(problem, x, called = "x", threads = 1L) {
  problem$gaps <- NULL
  problem$x <- x
  problem$named <- !is.null(colnames(x))
  problem$names <- column_names(x)
  measure_columns(problem, called, threads)
}

# Methods -----------------------------------------------------------------------------------------

#' @export
dim.sparsels_problem <- function(x) c(length(x$weights), length(x$names))

#' @export
`[.sparsels_problem` <- function(x, i, j, ...) {
  check_sealed(x)
  if (nargs() != 3L) stop_input("a problem has rows and columns: `pb[rows, ]`, `pb[, cols]`")
  if (is.null(x$x)) stop_input("this is the problem stored in a fit, which has no data matrix")
  rows <- if (missing(i)) seq_len(nrow(x)) else positions(i, nrow(x), x$row_names, "row")
  cols <- if (missing(j)) seq_len(ncol(x)) else positions(j, ncol(x), x$names, "column")
  if (anyDuplicated(cols)) {
    stop_input(sprintf("column '%s' is chosen twice", x$names[cols[anyDuplicated(cols)]]))
  }
  x <- without_covariates(x, setdiff(unpenalised(x), cols))
  x <- part_of_x(x, rows, cols)
  x$y <- x$y[rows, , drop = FALSE]
  x$z <- x$z[rows, , drop = FALSE]
  x <- put_weights(x, case_weights(x)[rows])
  x["survival"] <- list(times_of(x, rows))
  x["query"] <- list(queries_of(x, rows))
  if (!is.null(x$offset)) x$offset <- x$offset[rows, , drop = FALSE]
  x["row_names"] <- list(x$row_names[rows])
  if (!is.null(x$formula) && !missing(j)) x$formula <- column_formula(x, cols)
  x$names <- x$names[cols]
  x["design"] <- list(subset_design(x$design, cols))
  x$penalty <- x$penalty[cols]
  x$column_groups <- some_column_groups(x$column_groups, cols)
  x$hierarchy <- some_hierarchy(x$hierarchy, cols)
  measure_columns(with_working_times(x))
}

#' @export
print.sparsels_problem <- function(x, ...) {
  check_sealed(x)
  say("<sparsels problem> ", data_words(x), if (inherits(x$x, "dgCMatrix")) ", sparse")
  print_design(x)
  if (!x$intercept && !is_ranked(x)) cat("no intercept\n")
  if (length(x$renamed)) {
    say(sprintf("made unique: the names of %s (%s)", counted(length(x$renamed), "column"),
                some_of(names(x$renamed), 5L, "")))
  }
  excluded <- x$names[!x$usable & !is_set_apart(x)]
  if (length(excluded)) {
    say(sprintf("excluded: %s, %s (%s)", counted(length(excluded), "column"), excluded_words(x),
                some_of(excluded, 5L, "")))
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
  if (is_ranked(problem)) say(queries_words(problem))
  covariates <- setdiff(given_covariates(problem), "(Intercept)")
  if (length(covariates)) say("adjusted for: ", some_of(covariates, 8L, ""))
  print_penalty(problem)
  w <- case_weights(problem)
  if (any(w != 1)) cat(sprintf("weights of the rows: %s to %s\n", shown(min(w)), shown(max(w))))
  if (!is.null(problem$class_weights)) say(class_weights_words(problem))
  omitted <- problem$na.action
  if (length(omitted)) {
    say(sprintf("left out: %s with missing values (%s)", counted(length(omitted), "row"),
                some_of(names(omitted), 5L, "")))
  }
  if (any(problem$missing > 0L)) say(missing_words(problem$missing))
  if (!is.null(problem$column_groups)) say(column_groups_words(problem))
  if (!is.null(problem$hierarchy)) say(hierarchy_words(problem))
}

print_response <- function(problem) {
  say("response: ", response_words(problem))
  print_units(problem)
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
  if (!is.null(problem$classes)) {
    above <- short_class(problem$classes)
    return(sprintf("%s, '%s' to be above '%s'", response, above[2L], above[1L]))
  }
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

# the problem as a fit stores it, without the data matrix
without_x <- function(problem) {
  problem[c("x", "products")] <- list(NULL)
  problem$gaps <- NULL
  problem
}

# The problem of a fitter --------------------------------------------------------------------------

# the problem of a fitter, from the fitter's own x, y, ... and data; `ranks`: whether it can rank
# within queries
fitter_problem <- function(x, y, ..., data = NULL, ranks = FALSE) {
  check_given(x, "x")
  fitter <- setdiff(names(formals(sys.function(sys.parent()))), c("x", "y"))
  threads <- if ("threads" %in% fitter) parent.frame()$threads else 1L
  check_dots(..., known = unique(c(problem_arguments, fitter)), allowed = problem_arguments)
  problem <- as_problem(x, y, ..., data = data, threads = threads)
  if (!ranks) refuse_ranking(problem)
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
