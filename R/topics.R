# Help pages of topics that several functions share. There is no code here.

#' Formulas and data frames
#'
#' How [as_problem()] turns a formula or a data frame into candidate columns.
#'
#' @details Logical values count as 0 and 1. Factor and character variables become indicator columns
#' with treatment contrasts, named as [stats::model.matrix()] names them. A factor of three levels
#' or more is a group of columns, see [column_groups]. A term `s(age)` is a curve, see [curves].
#'
#' A formula may use `.`, transformations and interactions, and `offset()` as a term by itself. As
#' `intercept = FALSE` does, `- 1` or `0 +` removes the intercept. Formulas that only add and remove
#' variables, such as `y ~ .`, are fast with many thousands of columns.
#'
#' These variables of `data` are left out of `.`: the response, the variables of `adjust`, `weights`
#' and `offset`, and the variables that contain the queries of a ranking. `weights`, `subset` and
#' `within` may be expressions of variables in `data`.
#'
#' With `na.action = na.omit` a row is left out if a variable of the formula, a weight or a
#' covariate is missing. `print()` counts these rows, and [stats::na.action()] lists them. With
#' `na.exclude` they are also `NA` in `fitted()`, `residuals()` and `weights()`, as of `lm()`. With
#' `missing = "mean"`, see [missing_values], missing values of candidate variables do not count. In
#' an `x` that is read in place such rows have weight 0, and missing values of `x` do not count.
#'
#' A vector of at most 10 different whole numbers, fewer than half the rows, is a numeric response,
#' with a message of class `sparsels_message_task`. `task = "regression"` suppresses the message,
#' and `task = "classification"` makes the values classes, in ascending order.
#'
#' @seealso [as_problem()], [formula()][formula.sparsels_fit] of a fit
#' @examples
#' d <- data.frame(y = 1:20, age = rnorm(20), stage = gl(3, 1, 20), size = rexp(20))
#' as_problem(y ~ . + log(size) - size, d, adjust = ~ age, subset = size < 4)
#' @srrstats {G2.14b} `na.action = na.omit` leaves rows out and says which
#' @srrstats {RE1.1} `?formulas`
#' @srrstats {RE4.16} new levels are refused by name, or missing with `missing = "mean"`. New groups
#'   of rows need no entry
#' @name formulas
NULL

#' Covariates and offsets
#'
#' Parts of every model that are not selected: covariates with coefficients of their own, and an
#' offset with coefficient 1.
#'
#' @details **Covariates** (`adjust`) enter every model unpenalised, and other columns are selected
#' given them. A formula `adjust` is of variables in `data` or in the sample data of an experiment,
#' whose names may be given, too. With a formula `x`, `adjust` may also be an expression of
#' variables in `data`, such as `batch`. Levels of factors that no row has are dropped. Columns of
#' `x` become covariates by `penalty` 0, see [penalty_factors].
#'
#' **Levels of few rows.** A covariate that training rows do not determine, such as a batch whose
#' rows are all held out, is left out of the model of these rows, which predicts the batch like the
#' first level of its factor. A message of class `sparsels_message_covariates` counts the parts of
#' the rows. Criteria that are computed for all rows at once, such as leave-one-out, do not score
#' what the covariate alone determines: the row of a batch of one row has no error and no held-out
#' prediction (`NA`), as it has no part in the coefficients of the others. Folds of [fs_lssvm()] and
#' [select_basis()] that lose a covariate are an error.
#'
#' **Offsets** are a known part of a numeric response. With a formula `x`, `offset` may also be an
#' expression of variables in `data`, which `predict()` finds in `newdata`. With a likelihood of
#' counts, shares or censored times the offset is a known part of the linear predictor. Classes have
#' no offset: two classes may be given as 0 and 1 with `loss = "binomial"`. Methods that work on the
#' logarithms of times refuse an offset.
#'
#' @seealso [as_problem()], [added_value()]
#' @examples
#' batch <- gl(3, 10)
#' x <- matrix(rnorm(30 * 8), 30)
#' y <- x[, 2] + as.numeric(batch) + rnorm(30)
#' coef(greedy_rls(x, y, adjust = batch, k = 2, size = 1))
#' @name covariates
NULL

#' Experiments of Bioconductor
#'
#' How [as_problem()], and every function that takes data, reads a `SummarizedExperiment`,
#' `SingleCellExperiment`, `ExpressionSet`, `DGEList`, `EList`, `MultiAssayExperiment` or
#' `DelayedMatrix`.
#'
#' @details Experiments have genes, or other features, in rows and samples in columns. The problem
#' has the samples in rows: `as_problem(se, "group", assay = "logcounts")` is
#' `as_problem(t(assay(se, "logcounts")), se$group)`. The response is the name of a column of the
#' sample data (`colData`, `pData`, `samples`, `targets`) or a formula on them, as `~ log(age)`.
#' `predict()` takes new experiments, and finds the assay by its name (by its number if it has none)
#' and genes by their names.
#'
#' * **Assays.** With several assays `assay` is required. `print()` shows which assay was used.
#'   Linear models suit values on a log scale: prefer `logcounts`, `vst` or `rlog` to counts.
#' * **`SingleCellExperiment`.** It is read as a `SummarizedExperiment`. `altExps` are not used.
#' * **`DGEList`.** It is read as log2 counts per million, `edgeR::cpm(x, log = TRUE)`, with its
#'   normalisation factors. The assay is called `logCPM`. The prior count depends on the library
#'   sizes of all samples of the list. The values of a sample therefore change slightly with the
#'   other samples, also in new data.
#' * **`EList`** of limma. It is read as its log expressions `x$E`. The weights of `voom()` are not
#'   used.
#' * **`MultiAssayExperiment`.** `assay = c("rna", "protein")` puts experiments side by side, with
#'   features called `rna.TP53` and `protein.TP53`. With one experiment features keep their names.
#'   `assay = c(rna = "logcounts", "protein")` also names the assay of an experiment. Every sample
#'   (row of `colData`) must have one column in each experiment; `intersectColumns()` keeps only
#'   such samples. If one of several experiments is sparse, the problem is sparse.
#' * **`DelayedMatrix`.** It is read in blocks of columns up to 1e8 values, 800 MB. A larger one is
#'   an error: keep fewer features first, or call `as.matrix()` on it. A sparse one stays sparse,
#'   and only its nonzero values count. [safe_screen()] reads a `DelayedMatrix` of any size.
#' * **Repeated names** of features are an error unless `make_unique = TRUE`. New data must then
#'   have the name as often and in the same order, or unique names.
#'
#' @seealso [as_problem()]
#' @examplesIf requireNamespace("Biobase", quietly = TRUE)
#' samples <- data.frame(tumour = gl(2, 6, labels = c("no", "yes")), age = 31:42)
#' genes <- matrix(rnorm(120), 10, dimnames = list(paste0("gene", 1:10), rownames(samples)))
#' set <- Biobase::ExpressionSet(genes, phenoData = Biobase::AnnotatedDataFrame(samples))
#' as_problem(set, "tumour", adjust = ~ age)
#' @name bioconductor
NULL

#' Missing values of candidate columns
#'
#' What `missing = "mean"` of [as_problem()] does, and which errors are free of information from
#' held-out rows.
#'
#' @details By default a missing value of `x` is an error, which names the first. With `missing =
#' "mean"` each missing value (`NA` or `NaN`) is replaced by the weighted mean of the observed
#' values of its column in the training rows, the rows of positive weight. A column without observed
#' values is excluded as constant. `print()` shows how many values were replaced. A factor
#' gets the level "missing". Infinite values, and missing values of the response, the weights and
#' the covariates remain errors. Without the level, `NA` is predicted for a new row with a missing
#' value of a factor.
#'
#' A column mean contains no information about the row. Replacing by it assumes that whether a value
#' is missing is unrelated to the response.
#'
#' **New training rows.** The means are computed again wherever a method is trained on other rows or
#' weights: in `problem[rows, ]`, in each training set of [cross_validate()], [learning_curve()],
#' [compare_methods()] and [stability_selection()], in each fold of [l1_path()], and in each
#' repetition of a search for the choice of size (`size_folds`). Rows held out there, and new data
#' in `predict()`, are completed with the means of the training rows.
#'
#' **Exact shortcuts.** Leave-one-out and fold errors within one search, one kernel fit,
#' [exchange()] or [panel_error()] hold out rows of the completed `x`. Its means, like its scales,
#' are computed from all training rows, the held-out row included. The errors of [cross_validate()]
#' and of the choice of size do not have this fault.
#'
#' **Memory.** A matrix in memory is copied once, as doubles, if values are missing. The position of
#' each missing value takes 4 bytes.
#'
#' @seealso [as_problem()]
#' @examples
#' x <- matrix(rnorm(60), 20)
#' x[2, 3] <- NA
#' as_problem(x, rnorm(20), missing = "mean")
#' @srrstats {G2.15} missing values are refused or replaced before any computation
#' @srrstats {RE2.1} `missing`, `na.action`. Infinite values are told apart
#' @srrstats {RE2.2} In part: values of columns may be replaced. A row without a response is left
#'   out, and `predict()` has a value for it
#' @srrstats {ML1.6} the default refuses missing values with their place
#' @srrstats {ML1.6a} `?missing_values`
#' @srrstats {ML1.6b} `?missing_values`, `?step_select_sparsels`
#' @srrstats {ML1.7} `?missing_values`
#' @srrstats {ML1.8} means of the training rows replace missing values in new rows
#' @name missing_values
NULL

#' Penalty factors of columns
#'
#' The argument `penalty` of [as_problem()] multiplies the penalty of each column by a factor.
#'
#' @details With a factor \eqn{p_j} for each column the penalty is
#' \eqn{\lambda \sum_j p_j \beta_j^2}{lambda sum_j p_j beta_j^2}, and
#' \eqn{\lambda \sum_j p_j |\beta_j|}{lambda sum_j p_j |beta_j|} for methods with an l1 penalty,
#' where \eqn{\beta_j}{beta_j} is the coefficient of the standardised column. Factors are given for
#' all columns in order, or for some by the names of columns or of terms, such as `c(age = 0, stage
#' = 0)`, where all other factors are 1.
#'
#' * **0**: the column has no penalty and becomes a covariate. It is in every model under its own
#'   name, and new data must have it.
#' * **`Inf`**: the column is never used.
#' * **Other factors** require a penalty: searches with `lambda = 0` refuse them, and methods with
#'   kernels refuse `penalty` altogether.
#'
#' The factors correspond to `penalty.factor` of glmnet, but are *not* rescaled. glmnet divides
#' factors by their mean, in which columns that are never used count as 1.
#'
#' @seealso [as_problem()]; [l1_path()] for adaptive lassos
#' @examples
#' x <- matrix(rnorm(80), 20, dimnames = list(NULL, c("age", "a", "b", "c")))
#' as_problem(x, rnorm(20), penalty = c(age = 0, c = 2))
#' @name penalty_factors
NULL

#' Groups of columns
#'
#' Columns that belong together, such as the indicators of a factor, the probes of a gene or the
#' genes of a pathway, can be selected as a group.
#'
#' @details **Giving groups.** In a data frame or formula the columns of a factor of three levels or
#' more are a group by default. So are the columns of each other term of a formula that makes
#' several columns of vectors, such as `ns(age, 4)`, `poly(dose, 2)` or an interaction with a
#' factor, and the columns of each of the [curves]. The columns of a variable that is a matrix are
#' single columns. The argument `columns_group` of [as_problem()] replaces these groups. It is a
#' vector with the group of each column, a name or number, in order or by the names of the columns,
#' where `NA` or `""` is no group; or a named list of groups, each given by the names or numbers of
#' its columns. `columns_group = FALSE` means no groups. A column is in one group at most, also
#' where pathways overlap. Columns without a group are selected by themselves. Excluded columns are
#' left out of their group.
#'
#' **`group_rule = "together"`**, the default. Each step of [greedy_rls()] adds or drops a whole
#' group: the group with the smallest exact held-out error of all its columns together. Sizes then
#' count groups, and a column without a group counts as one. This holds for `k`, `size`, the size
#' rules, `fit$path$size`, and the `size` of `coef()` and `predict()`. `fit$path` has a row for each
#' group added or dropped: its name in `name`, its first column in `feature` and its number of
#' columns in `columns`. Only the held-out error favours small groups: a large group that explains
#' little more than a small one has a larger error. A group may have collinear columns, among which
#' ridge regression divides the coefficient. `keep` records groups. `start` names groups, variables
#' or columns, of which it adds the whole group. `cost` is refused.
#'
#' **`group_rule = "one"`.** A model has at most one column of each group, such as the best probe of
#' each gene. Sizes count columns. `search = "backward"` is refused.
#'
#' **Other methods.** Models with all columns or with kernels, such as [rls()], do not depend on
#' groups. Methods that select single columns, such as [l1_path()] and [omp()], refuse groups that
#' were given. They select the levels of a factor one by one, with a message of class
#' `sparsels_message_groups`. A `cluster` is refused for all groups.
#'
#' **Time and memory.** With `"together"` every candidate is evaluated, with m x n doubles, and with
#' folds m x n more for each repeat. A group of s columns takes O(m s^2) time to score and 3 m s
#' more doubles for each thread. Adding or dropping it takes s passes over the m x n doubles. A
#' [file_matrix()] or a sparse `x` for which these doubles would be more than 2 GB is an error. With
#' `"one"` the search has the same cost as for single columns.
#'
#' @seealso [as_problem()], [greedy_rls()], [hierarchy]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 50), 40, dimnames = list(NULL, paste0("gene", 1:50)))
#' y <- x[, 7] - x[, 50] + rnorm(40) / 2
#' pathways <- list(repair = 1:5, growth = 6:9, transport = 45:50)
#' greedy_rls(x, y, columns_group = pathways, k = 3)
#' greedy_rls(x, y, columns_group = pathways, group_rule = "one", k = 3)
#' @name column_groups
NULL

#' Curves and pairs: smooth functions of columns
#'
#' A column of numbers may enter a model by a smooth curve instead of a line, and two columns by
#' products of their curves, a pair. The arguments `smooth` and `interactions` of [as_problem()], or
#' terms `s()` of a formula, give columns curves and pairs. [greedy_rls()] then selects whole curves
#' and pairs, each by the exact held-out error of all its columns together.
#'
#' @details **Giving curves.** `smooth = TRUE` is for every column of more than six different
#' values, `smooth = c("age", "dose")` for these, and `smooth = c(age = 4)` also gives the degrees
#' of freedom, which are 6 by default. `smooth = 4` is for all columns with 4 degrees of freedom. In
#' a formula `y ~ s(age) + s(dose, df = 4) + sex` has two curves and a column, and `y ~ s(.)` a
#' curve for each numeric variable. `s()` is known in these formulas only: `k`, `bs` and `by` of
#' other packages are refused. Named columns of three to six values have a value of their own at
#' each. Columns that stay as they are, factors among them, are selected beside the curves.
#'
#' **What a curve is.** A natural cubic spline with knots at quantiles of the column, from the 2nd
#' to the 98th percentile, and at each value of a large share of the rows, such as the zeros of a
#' sparse column. Its columns are the line, which is the column itself, and directions called
#' `age~1`, `age~2` and so on. Each direction is the smallest change of the line with variance 1
#' that is orthogonal to those before it, by the integral of the squared second derivative. With d
#' the integral of a direction, its penalty has the factor sqrt(d / d1), at most 1e4, where d1 is
#' the integral of the first direction. So lines are cheap, and rough curves cost most. The scale of
#' a column has no influence. Beyond the range of the training rows a curve is constant, and a
#' message of class `sparsels_message_beyond` counts such rows of new data. A missing value counts
#' as the mean of each column of its curve.
#'
#' **Steps and hinges.** For data made of thresholds, `smooth_basis = "steps"` gives the columns of
#' `smooth` steps in place of curves, 1 from a threshold on and 0 below it, and `"hinges"` hinges,
#' the distance above a threshold. `smooth_basis = c(age = "steps")` is for some columns, and
#' `s(age, basis = "steps")` is the term of a formula. With `df` degrees of
#' freedom, 16 by default, a column has its line and `df - 1` thresholds: all its values if they are
#' so few, otherwise quantiles of equal distances, and each value of a large share of the rows. A
#' step is halfway between two values. At least five rows are on both sides of a threshold. The
#' columns are called `age>=50.3` (a step) and `age>50` (a hinge). Each is selected by itself, not
#' with the others of its column, so that sizes count thresholds. [selected()], `formula()`,
#' `predict(type = "terms")` and the picture of terms have one term for all thresholds of a column.
#' Thresholds are functions of `x` alone, and are made anew or kept as knots are. A search
#' takes the time and memory of as many ordinary columns: 15 for each column by default. On one set
#' of 11250 rows `df = 64` took over three times as long as 16, for the same error.
#' `"curve+steps"` and `"curve+hinges"` offer the curve of a column, of `df` degrees of freedom, and
#' beside it 15 thresholds. A model may then have either or both, which are one term.
#'
#' **Pairs.** A pair is a part of the model that depends on two columns together. It has four
#' columns: the products of the line and the first direction of one column with the line and the
#' first direction of the other one, all in standard units and clipped at -3 and 3. A column that
#' has no curve by `smooth` has one of 6 degrees of freedom in its pairs, and its line alone if it
#' has at most six different values. The four columns, `age x dose`, `age~1 x dose`, `age x dose~1`
#' and `age~1 x dose~1`, are a group, which does not require the columns by themselves to be in the
#' model. `s(age, dose, df = 4)` is the tensor product of four functions of each column, the line
#' and three directions: 16 columns. `df` is 2 by default, and 4 at most. The penalty of a product
#' has the factors of both of its functions, multiplied. A curve with fewer directions has fewer
#' products. `interactions = TRUE` offers the best 40 of all pairs, `interactions = 60` the best 60,
#' beside the columns and their curves. `interactions = list(c("age", "dose"))` offers these pairs
#' alone, and so does a formula with a term `s(age, dose)`, whose columns are also candidates by
#' themselves: lines, or curves where the formula has `s(age)`, too. An element `df` of the list
#' gives the number of functions, for all pairs or for each: `interactions = list(60, df = 3)`,
#' `list(c("age", "dose"), c("age", "sex"), df = c(4, 2))`, and `list(df = 3)` offers 40 of all
#' pairs. A missing value of one of the two counts as the mean of each column of the pair.
#'
#' **How pairs are screened.** The residuals are the leave-one-out residuals of the ridge model of
#' all other columns, at the best of seven lambdas. For each product c of a pair the weighted
#' covariance with the residuals is compared with its variance by chance, \eqn{(\sum w r c)^2 /
#' (s^2 \sum w (c - \bar c)^2)}{sum(w r c)^2 / (s^2 sum(w (c - mean)^2))}. The sum over the products
#' of the lines and first directions, whatever `df` is, is about chi-squared without an effect, and
#' pairs are offered in the order of this probability.
#' The sums of all pairs are entries of products of matrices, so that no pair is made: time is O(m
#' n^2) for m rows and n columns. Of more than 200 columns all pairs are not screened, but given by
#' name.
#'
#' **What is learned from which rows.** Knots, directions and penalties are computed from the rows
#' of positive weight, as centre and scale are. Pairs are screened by these rows and their
#' responses. Both are made anew for the folds that choose the size, the outer folds of
#' [cross_validate()], permutations, halves and parts of the rows, which may offer other pairs than
#' all rows do. Leave-one-out and the folds of a search use the curves and pairs of all rows, so
#' that their errors are optimistic. `problem[, columns]` with fewer columns keeps its pairs
#' whatever its rows.
#'
#' **Lines, curves or pairs.** The columns of curves and pairs may raise the error of other rows:
#' they are many, and screened pairs are the best of many by the responses. [greedy_rls()] therefore
#' repeats the choice of size and lambda without pairs, and then with lines in place of curves. The
#' simpler model is kept if its cross-validated error is not above the error of the other one by
#' more than one standard error of the difference, nor by more than a twentieth of the gain over the
#' model without columns. `print()` says so, and `fit$cv_with` has the errors with curves and with
#' pairs. Such lines are constant beyond the range of the training rows, as curves are. Pairs given
#' by name remain, and so do all curves if some are given in `start`, if the data have steps or
#' hinges, or if the size is chosen by the criterion alone.
#'
#' **Many rows.** A curve made of 10000 rows or more is `placed`: parts of its rows keep its knots
#' and its range, which are functions of `x` alone. Centre, scale, directions and penalties are
#' still made of the rows of each part. A column of few values, all of which are knots, is not
#' placed. The factors of pairs stay as they are in all rows, too. Pairs are then screened by the
#' residuals of the model of these rows at the lambda of the least generalised cross-validation, not
#' by residuals held out: one row of 10000 moves its own residual by next to nothing. By default
#' [greedy_rls()] then searches by the folds that choose the size in place of leave-one-out, so that
#' `x` is read once for all searches, see [search_cost]. Parts of such data are searched in the same
#' way, unless they have fewer than five rows for each column. On three sets of
#' 10,000 to 12,500 training rows the error of other rows differed by less than 0.0002 from the
#' error by `folds = "loo"` (bench/results/curves-tall.txt).
#'
#' Columns of curves and pairs of more than 1e7 values in all are not stored but computed when they
#' are read. `x` of the problem is then of class `computed_matrix`, which has `dim()`, `as.matrix()`
#' and `x[i, j]`.
#'
#' **Results by term.** Sizes count terms. [selected()] and `formula()` have terms, `coef()` has
#' columns. `predict(type = "terms")` has the part of each term, of mean 0 in the training rows.
#' `print()` of [greedy_rls()] says how the response changes with each term between its 5 % and 95 %
#' points: it rises, falls, peaks, dips or, with several turns, waves. A curve counts as a line
#' where the held-out error without its directions is no higher, at the same lambda. `fit$terms` has
#' these errors relative to the error of the model, and of a pair the error without it. `plot(fit,
#' what = "terms", newdata = )` draws the terms, pairs as areas of equal height where rows of
#' `newdata` are near. `penalty`, `columns_group` and `hierarchy` by the name of the column hold for
#' its curve. `columns_group = FALSE` makes each direction a candidate of its own.
#'
#' **Which data.** Curves are for data with more rows than columns. With many more columns than rows
#' they predict no better than lines, and a message of class `sparsels_message_curves` says so. Few
#' rows for each degree of freedom give a warning. Methods that choose single columns, and kernels,
#' refuse curves and pairs, see [data_properties]. A [float_matrix()] and a [file_matrix()] are
#' refused.
#'
#' **When pairs lose.** On 16 sets of data the mean held-out error, 1 - R-squared or the error rate,
#' was 0.163 with pairs, 0.181 with curves and 0.243 with lines (bench/results/curves.txt). On no
#' set were curves or pairs above lines by more than 0.0005. With pairs offered in place of curves
#' alone the error rose on two sets, by up to 0.003 (`svmguide3`, 0.171 for 0.168). A search that
#' offers pairs takes four to five times as long. Of 100 draws of a shuffled response 95 had no term
#' with curves and 94 none with pairs.
#'
#' **When steps and hinges lose.** On six sets of at most 1200 rows the mean error was 0.155 with
#' curves, higher with steps by 0.012 (standard error over sets 0.004) and with hinges by 0.010
#' (0.005), and lower with steps on one, `ijcnn1` (0.067 for 0.069), with hinges on one, `elevators`
#' (0.160 for 0.165), see bench/results/curves-steps.txt. A sum of thresholds has no interactions:
#' with 11250 rows of `pole_telecomm`, which is made of thresholds, steps had 0.272, hinges 0.267,
#' curves 0.268 and curves with pairs 0.139.
#'
#' Offered beside curves they did not pay, either (bench/results/curves-beside.txt). With hinges
#' beside curves the mean error of six sets that chose was lower than with curves by 0.002 (standard
#' error over sets 0.004), and of ten other sets higher by 0.006 (0.005). It was lower on seven of
#' the 16, most on `ijcnn1` (0.057 for 0.069), and most above on `sonar` (0.202 for 0.159). With
#' steps beside curves it was higher by 0.003 (0.004) and 0.007 (0.005).
#'
#' @return A problem with curves has in `columns` `curve`, the name of the column that each column
#' is a function of (`NA` for columns as they are), `direction`, 0 for the line, and `roughness`,
#' the factor of the penalty. `curves` has for each the `knots`, the `values` of its directions at
#' the knots and their `second` derivatives in units of the `scale`, the integrals `d`, the
#' `factors`, `df`, `basis`, `centre`, `scale`, the `means` of the columns of its directions, the
#' `range` of the rows, and whether it is `placed`. Of steps and hinges `knots` are the thresholds,
#' and beside a curve they have the same parts in `beside`. Where rows of weight 0 are beyond the
#' range, `source` has the columns as given. A problem with pairs has in `columns` `pair`, the place
#' of the pair (`NA` for other columns), and `product`, 1 to 4 of the lines and first directions.
#' `pairs` has for each place the names of the two columns, `first` and `second`, the number of
#' `functions` of each, and `p`, the logarithm of the probability of its score by chance; whether
#' pairs are `screened`; and by the name of each column that may be in a pair its degrees of freedom
#' `df` and its curve (`basis`). Models of other rows, such as the `fold_models` of a fit, have
#' their columns by number and pairs of their own in these places.
#'
#' @references Wood, S. N. (2017). Generalized Additive Models, 2nd edition. CRC Press, section 5.3.
#' @seealso [as_problem()], [column_groups], [formulas], `vignette("curves")`
#' @examples
#' set.seed(1)
#' d <- data.frame(age = runif(200, 20, 80), dose = rexp(200), noise = rnorm(200))
#' d$y <- sin(d$age / 10) + log(1 + d$dose) + rnorm(200) / 3
#' fit <- greedy_rls(y ~ s(.), d)
#' fit
#' formula(fit)
#' head(predict(fit, d, type = "terms"))
#' coef(greedy_rls(y ~ s(age, df = 4) + dose, d))
#' d$y <- 2 * (d$age > 50) + pmax(d$dose - 1, 0) + rnorm(200) / 3
#' greedy_rls(y ~ s(age, basis = "steps") + s(dose, basis = "hinges") + noise, d)
#' d$y <- sin(d$age / 10) * d$noise + rnorm(200) / 3
#' greedy_rls(y ~ s(.), d, interactions = TRUE)
#' formula(greedy_rls(y ~ s(age, noise, df = 4) + s(dose), d))
#' @name curves
NULL

#' Hierarchy of columns: interactions and main effects
#'
#' With a hierarchy a column is in a model only if the columns that it requires are in the model,
#' too.
#'
#' @details An interaction without its main effects is hard to interpret: its coefficient depends on
#' where the zeros of the variables are. With `hierarchy = "strong"` of [as_problem()] an
#' interaction of a formula is in a model only together with all columns of the terms that it
#' contains: `a:b` requires `a` and `b`, and `a:b:c` also requires `a:b`, `a:c` and `b:c`. This is
#' *strong heredity*, or marginality (Nelder 1977, Bien et al. 2013). All of these terms must be in
#' the formula, as in `y ~ a * b` or `y ~ .^2`, or among the covariates.
#'
#' A named list gives a hierarchy for any data, such as `list("a:b" = c("a", "b"))` or `list(late =
#' "early")`. Its names are names of columns or terms. The required columns are names of columns or
#' terms, or column numbers. A required column also brings the columns that it requires.
#'
#' * Covariates (also by `penalty` 0), and columns excluded as constant or collinear with the
#'   covariates, count as members of every model.
#' * Columns that `problem[, cols]` leaves out are no longer required.
#' * With groups that are selected together, a group requires all columns that any of its columns
#'   requires.
#' * With `columns_group = FALSE` all levels of a factor must be in the model before an interaction
#'   with it.
#'
#' **Search.** A step of [greedy_rls()], by any `search`, adds only columns or groups whose required
#' columns are in the model, and drops only columns that no other column of the model requires.
#' `start` must list required columns before the columns that require them. An interaction is found
#' only after its main effects have been selected. If they predict poorly without it, errors may
#' rise on the way to it, and forward search may miss it. `search = "backward"` begins with all
#' columns and can find it.
#'
#' **Other methods.** Models with all columns or with kernels do not depend on a hierarchy, and
#' [random_selection()] draws columns that satisfy it. All other methods that select columns,
#' [exchange()] and a `cluster` refuse it. A hierarchy in which a column requires itself, or a
#' column that can never be in a model, is an error of class `sparsels_error_input`.
#'
#' @references Nelder, J. A. (1977). A reformulation of linear models. *Journal of the Royal
#' Statistical Society A* 140, 48-77. \doi{10.2307/2344517}
#'
#' Bien, J., Taylor, J., Tibshirani, R. (2013). A lasso for hierarchical interactions. *Annals of
#' Statistics* 41, 1111-1141. \doi{10.1214/13-AOS1096}
#'
#' @seealso [as_problem()], [greedy_rls()], [column_groups]
#' @examples
#' set.seed(1)
#' d <- data.frame(a = rnorm(40), b = rnorm(40), c = rnorm(40))
#' d$y <- d$a + d$b + 2 * d$a * d$b + rnorm(40)
#' greedy_rls(y ~ .^2, d, hierarchy = "strong", k = 4)
#' @name hierarchy
NULL

#' Censored survival times
#'
#' Right-censored times, `Surv(time, status)` of the survival package, become a working response, to
#' which every method applies, or are the response of a Cox model of [greedy_rls()] or [l1_path()].
#'
#' @details **A working response.** The times are given as `y`, or as the left side of a formula.
#' The working response of an event is minus the logarithm of its time. The working response of a
#' censored row is minus the mean logarithm of the later times by the Kaplan-Meier curve (after
#' Buckley and James 1979, without their iteration). The probability that the curve leaves after the
#' last event is put on the largest time. A higher prediction is a higher risk, as in a Cox model:
#' an earlier event. Minus the prediction is a log time, so a coefficient of 0.7 halves the time.
#' Times that differ by less than 1.5e-8 of their mean are equal, as in [survival::coxph()].
#'
#' **Training rows.** The Kaplan-Meier curve is estimated on the training rows. `problem[rows, ]`,
#' the training sets of [cross_validate()], and the repetitions of a search that choose its size
#' have working responses of their own. Within one search leave-one-out and fold errors are exact
#' for the working response of all its rows.
#'
#' **Concordance.** Models are judged by the concordance: the share of comparable pairs of rows in
#' which the higher risk had the earlier event, ties counting half, as in [survival::concordance()]
#' (0.5 is chance). It is the default measure of [cross_validate()] and of the other functions with
#' `measure`, and `print()` shows it. [risk_groups()] draws the curves.
#'
#' **Cox models.** With heavy censoring most of the working response is imputed. [greedy_rls()] with
#' `loss = "cox"`, and by default [l1_path()], [l1_size()], [lambda_max()] and [safe_screen()], take
#' the partial likelihood of the events instead, which nothing is imputed for. Cox models alone take
#'
#' * *strata* (argument `strata`, or a term `strata()` of a formula): rows are compared within a
#'   stratum alone, which has a baseline hazard of its own;
#' * *late entry*, `Surv(start, stop, status)`: a row is at risk after its `start`, and up to its
#'   `stop`;
#' * *times of 0*, and times that are all the same, as conditional logistic regression of matched
#'   cases has them: `Surv(rep(1, n), case)` with the sets as `strata`;
#' * an *offset* (argument `offset`, or a term `offset()` of a formula), such as the score of a
#'   known model, which is a part of the linear predictor. Risks, fitted values and held-out
#'   predictions contain it, and hazards are at an offset of 0.
#'
#' [l1_path()] with `loss = "squared"`, and [greedy_rls()] by default, fit least squares to the
#' working response. Over 15 sets (`bench/l1-times.R`) paths of both losses order new rows equally
#' well: of Cox models the concordance was .002 higher (standard error .008), with fewer columns. It
#' was lower on four sets of gene expression (.61 against .64), and higher on simulated data.
#'
#' @section Errors: `sparsels_error_input` for times below 0 or censored in another way, for
#'   intervals that do not end after their start, and for training rows without an event;
#'   `sparsels_error_strata`, `sparsels_error_truncation` and `sparsels_error_input` where a method
#'   on log times gets strata, late entries or an offset.
#'
#' @references Buckley, J. and James, I. (1979). Linear regression with censored data. *Biometrika*
#' 66, 429-436. \doi{10.1093/biomet/66.3.429}
#'
#' @seealso [risk_groups()], [as_problem()], `vignette("survival-and-ranking")`
#' @examplesIf requireNamespace("survival", quietly = TRUE)
#' d <- data.frame(time = rexp(30), status = rep(1:0, 15), a = rnorm(30), b = rnorm(30))
#' as_problem(survival::Surv(time, status) ~ ., d)
#' @name survival_times
NULL

#' Ranking within queries
#'
#' With `within`, rows are compared only with rows of the same query: documents of a search, offers
#' to one customer, samples of one batch or plate.
#'
#' @details Grades or other numbers, or two classes of which the second is above the first, are
#' ranked by *pairwise least squares* (Pahikkala et al. 2009). With \eqn{V_g} the sum of the weights
#' in query \eqn{g}, scores \eqn{f} minimise
#' \deqn{\sum_g \frac{1}{V_g} \sum_{i<j \in g} w_i w_j ((y_i - y_j) - (f_i - f_j))^2 +
#' \lambda \| B \|_F^2.}{sum_g 1 / V_g sum_(i<j in g) w_i w_j ((y_i - y_j) - (f_i - f_j))^2 +
#' lambda ||B||_F^2.}
#' This is the regression of the response on columns and covariates after all are centred by the
#' weighted means of their queries. It is computed so, in O(m) a column: pairs are never formed, and
#' `x` stays as it is, sparse or in a file. The scale of a column is its scale within queries.
#'
#' * **Queries** are a vector with one value per row, the name of a column of `data`, a one-sided
#'   formula such as `~ query`, or with a formula `x` an expression of variables in `data`.
#' * **Scores.** There is no intercept: only differences of scores within a query have a meaning.
#'   `predict()` gives scores of new rows, which are sorted within their query. Fitted and held-out
#'   scores are deviations from the mean of their query.
#' * **Excluded data.** A column that is constant within every query is excluded. A query with one
#'   row does not contribute.
#' * **Folds** hold out whole queries. `folds = "loo"` leaves out one query at a time, and `folds =
#'   10` a tenth of them. Folds that split a query are an error.
#' * **Criteria.** `"squared"` is the squared loss of the pairs of the held-out queries, exactly,
#'   divided by the sum of the weights. `"concordance"` is the share of pairs of different responses
#'   in the right order (0.5 is chance).
#' * **NDCG.** [cross_validate()] and [compare_methods()] measure the concordance, or
#'   with `"ndcg"` the NDCG, and with `"ndcg@10"` the NDCG of the first ten rows of each query. A
#'   row of grade y gains \eqn{2^y - 1} (for two classes 0 or 1), discounted by \eqn{\log_2(1 +
#'   rank)}{log2(1 + rank)}. The sum is divided by its largest possible value and averaged over the
#'   queries with any gain, each counting alike.
#'
#' Rankings are for [greedy_rls()], [rls()], [kernel_rls()] and [random_selection()], and for
#' [cross_validate()], [compare_methods()], [permutation_test()] (which permutes within queries),
#' [exchange()] and [verify()] with these. All other methods refuse them by an error of class
#' `sparsels_error_ranking`. Queries without two rows or without two different responses are an
#' error of class `sparsels_error_input`. To rank all rows as one query leave out `within` and
#' search by `criterion = "concordance"`.
#'
#' @references Pahikkala, T., Tsivtsivadze, E., Airola, A., Jarvinen, J., Boberg, J. (2009). An
#' efficient algorithm for learning to rank from preference graphs. *Machine Learning* 75, 129-165.
#' \doi{10.1007/s10994-008-5097-z}
#'
#' @seealso [as_problem()], `vignette("survival-and-ranking")`
#' @examples
#' x <- matrix(rnorm(60), 12)
#' query <- rep(1:4, each = 3)
#' as_problem(x, x[, 1] + rnorm(12), within = query)
#' @name ranking
NULL

#' Choice of the number of features and of lambda
#'
#' How [greedy_rls()], and other selection methods with `size = "cv"`, choose the size of the model,
#' and how [greedy_rls()] chooses lambda.
#'
#' @details **Why not by the criterion.** The criterion that selected the features has been
#' minimised over all columns, so it is optimistic for every model of the path. With many more
#' columns than rows it tends to 0 even if no column is related to the response.
#'
#' **Repetition.** By default the whole procedure (scaling of the columns, lambda, search and refit)
#' is repeated without each of ten folds, `size_folds`. The models of every size predict the
#' held-out rows, and the size is chosen by their error. `fit$path` has both errors of every size,
#' `criterion` and `cv`. `fit$estimate` is the cross-fitted error of the procedure with its choice
#' of size and lambda: for each fold they are chosen by the errors on the other folds.
#'
#' **The rule `size = "cv"`.** The size is 0, unless the best model is clearly better than the model
#' without features. This is a one-sided t test of its mean gain over rows (groups or queries),
#' transformed for the skewness of the gains as by Hall (1992). The gain of a row is the difference
#' of the two squared held-out errors. For numbers errors above 2.5 robust standard deviations
#' count linearly, as in Huber's loss. The level is 0.015: as the best of many models is tested,
#' features are chosen from noise in about 8 of 100 data sets. With few rows it misses relations
#' that are certain. So the best model also counts as clearly better where the column with the
#' largest correlation is related to a response by Spearman's rank test (the Wilcoxon test for two
#' classes) at the level 0.02 divided by the numbers of columns and responses. Rows of a group are
#' one unit of this test. It is not made with covariates, for rankings, for Cox models or without an
#' intercept. An
#' error below a twentieth of the error without features is clear, too. With 8 rows of noise this
#' happens in fewer than 1 in 100 data sets.
#'
#' Censored times are judged by the held-out concordance instead of the gains, also where the search
#' is by other errors: the pairs in the right order beyond half of all, in standard deviations of
#' scores in a random order within each fold. This number of the best model is tested at a level of
#' 0.00025, and its mean over all models of the path at a level of 0.1. The first level is stricter,
#' as the best of many models is tested. The best model finds the relation of a single feature, the
#' mean a relation of many features with small effects. Features are chosen from noise in about 14
#' of 100 data sets.
#'
#' **A few large groups.** The units of this test are the groups of rows, if there are any. Three to
#' six studies are few units, and the test then seldom finds even strong signals. Where each fold of
#' the size is a group, of which there are at most 10 with 20 rows or more on average, the gain is
#' also clear if it is clear within the groups: for residuals about the mean of their group, by the
#' same test with rows as units, whose variance is multiplied by \eqn{1 + (n - 1) \rho}{1 + (n - 1)
#' rho}, with the mean size \eqn{n} of a group and the correlation \eqn{\rho}{rho} of gains within
#' groups (analysis of variance), and if at most one group in four has a loss. A difference between
#' groups alone does not count there. `bench/study-size.R` of the sources measures this test and
#' others. The queries of a ranking, whose rows are compared within them, are such groups with any
#' number of rows. Features are chosen from noise in 5 to 13 of 100 data sets of 3 to 10 queries
#' with 3 to 8 rows each.
#'
#' **Criteria of groups.** With `"worst"`, `"mean_sd"` and the like (see [worst_study]) a column
#' that predicts in some groups only raises the error of the others. Sizes are therefore left out
#' from the first one on at which the error of a group has clearly risen: its held-out loss is above
#' the smallest loss of a smaller model in this group, by a t test over the rows of the group, at a
#' level of 0.05 for all groups together.
#'
#' Otherwise the size is the smallest size that is not clearly worse than the size with the smallest
#' error. Long curves are flat, and the position of their minimum is unstable.
#'
#' A model is *clearly worse* than the best one if its error is higher by more than two standard
#' errors of the paired difference over folds, or by more than a share of the gain of the best over
#' the model without features: a hundredth for fewer than 20 features, a twentieth from 20 on. With
#' fewer columns n than rows m, the two standard errors are \eqn{2 \sqrt{n / m}}{2 sqrt(n / m)}.
#' `bench/real-sets.R` of the sources measures this rule beside the lasso.
#'
#' With more than 20 folds the searches are almost the same search, and their errors are too much
#' alike for this test. It then uses ten folds.
#'
#' **The largest size.** `k` is between 1 and the number of usable columns. With `k = NULL` it is
#' 20, and is doubled as long as that may pay. If every ten of the new sizes lowered the
#' cross-validated error by as much as the last ten sizes did, it would fall by more than a
#' twentieth of the gain over the model without features. A message of class
#' `sparsels_message_time` tells how long the new sizes will take, if that is half a minute or more.
#' `k` is at most `min(usable columns, m - 1, 100)`. With a number for `size` it is that number.
#' With `size = "criterion"` the search goes up to the maximum, and stops when the criterion has not
#' improved for 10 steps, drops included.
#'
#' **lambda.** With a large lambda the search prefers features that predict well individually, with
#' a small one features that predict well jointly. By default 16 and n / m times the mean sum of
#' squares of a column are tried (which is m for standardised, unweighted columns), for m rows and n
#' usable columns, groups of columns or curves, with n / m at least 1/4 and at most 1. Smaller
#' values follow, each a 64th of the one before, as long as the error of the search at the last one
#' is mostly shrinkage: at most half of the error at the lambda before, or above four times the
#' error of the refitted model while the cross-validated error has not risen from the lambda before
#' by more than a twentieth of the gain over the model without features. The chosen lambda is the
#' largest whose best model has no more features than the best of all and is not clearly worse,
#' unless the best model of another lambda has fewer features and a smaller error. With
#' `size = "criterion"` the default is 16 times the mean sum of squares. `lambda = "full"` is the
#' choice of Pahikkala et al. (2010): the value among the default ones of [rls()] with the smallest
#' leave-one-out squared error of the model with all features. It takes O(mn min(m, n)) time, and is
#' an error where that would be minutes.
#'
#' **Refit.** By default the coefficients of each size are refitted by ridge regression on the
#' selected features alone. Their lambda is the one among `16^(-3:1)` times the mean sum of squares
#' with the smallest held-out squared error, or if that is the smallest, a 16th of it as long as the
#' error falls by a thousandth, down to `16^-7`.
#'
#' **Copies.** A column that equals another one up to sign, scale and rounding, such as the second
#' level of a factor of two levels, is not added by forward searches with a refit: it would only
#' undo the shrinkage of its copy. Nor is a column whose correlation with another one, given the
#' covariates, is above .999995, such as a length in other units, rounded, if their difference does
#' not predict: its t value beside the other column is below 3. `fit$copies` lists these columns
#' (`feature`) with the columns that stand for them (`of`). [certify()] leaves them out, too, and
#' [exchange()] puts none beside its other. A search of single columns with a refit
#' has no column either that is a linear combination of the covariates and of its other columns,
#' such as a total beside its parts or the last level of a factor: `fit$dependent` lists these. A
#' forward search leaves them out once the columns added before determine them. Other searches begin
#' again without them, a backward one without those that the columns it dropped later determine.
#'
#' `bench/defaults.R` in the sources compares these rules with other packages. On 34 real and made
#' data sets (`bench/shorter-lists.R`) the rule chose 11.1 columns on average where the lasso of
#' cross-validated lambda had 17.7, at an error rate or 1 - R-squared higher by .006 (standard error
#' .008). Shorter lists cost more: dropping chosen columns as long as the exact leave-one-out error
#' does not rise left .73 of them and raised the error by .003 (.003), and the smallest size within
#' a twentieth of the gain left .83 of them and raised it by .004 (.004).
#'
#' @references Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for
#' regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#'
#' Hall, P. (1992). On the removal of skewness by transformation. Journal of the Royal Statistical
#' Society B 54, 221-228.
#'
#' @seealso [greedy_rls()], [cross_validate()], [sparse_fit]
#' @name size_rule
NULL

#' A panel for the worst study
#'
#' The criteria `"worst"` and `"mean_sd"` of [greedy_rls()], for rows in groups such as studies,
#' hospitals or batches: a column is chosen for what it does in every group, not on average.
#'
#' @details The groups are given by `groups`, see [row_groups]. With `folds = "loo"`, the default,
#' the search leaves out one group at a time. Other folds keep the groups whole. The relative error
#' of a group \eqn{g} is its held-out error divided by the held-out error of the null model, the
#' model of the covariates alone, on the same rows:
#' \deqn{\rho_g = \sum_{j \in g} w_j \ell(r_j) / \sum_{j \in g} w_j \ell(r_j^0)}{rho_g = sum_(j in
#' g) w_j l(r_j) / sum_(j in g) w_j l(r0_j)}
#' `"worst"` is the largest \eqn{\rho_g}{rho_g}, and `"mean_sd"` is their mean plus their standard
#' deviation, of squared errors. `"worst_error"` and `"mean_sd_error"` are of the misclassification
#' rate, `"worst_absolute"` and `"mean_sd_absolute"` of the absolute error. Each group counts alike,
#' whatever its number of rows. The null model has the value 1. With repeated folds the criterion is
#' a mean over the partitions, and the null error of a group is a mean over the partitions.
#'
#' **Concordance within groups.** With `"worst_concordance"` and `"mean_sd_concordance"`, for one
#' numeric response or two classes, the error of a group is its discordance: of the pairs of its
#' rows with different responses, the share in the wrong order by the predictions, a tie counting
#' half. Of two classes it is 1 minus the area under the ROC curve within the group. Only
#' pairs within a group count: a shift of all predictions of a group, or a larger unit there,
#' changes nothing. Without covariates the null model ties all pairs, and \eqn{\rho_g}{rho_g} is
#' twice the discordance. A group in which no two rows have different responses is left out. Each
#' candidate costs O(m log m), and none is skipped.
#'
#' **Size, lambda and refit** are chosen by the same criterion. The procedure is repeated without
#' each group in turn, whatever number `size_folds` is, which takes as many searches as there are
#' groups. Other `size_folds` must hold out one group at a time. `fit$path$cv` is then the criterion
#' of the groups left out, each with the search without it. A criterion of groups has no standard
#' error, and `size = "1se"` is refused. Whether a model is better at all than no column is tested
#' as [size_rule] says. [exchange()], [panel_error()] and [permutation_test()] use the criterion of
#' the fit or of their argument.
#'
#' **Groups without information.** A group in which the null model has no error has no relative
#' error. It is left out, with a message. For the squared error this is rare. For the error rate it
#' is a group whose rows all have the class that is the most frequent elsewhere. For the squared
#' error a group of one class counts as any other. A message names groups of fewer than five rows:
#' their null errors may be small by chance, and then decide the criterion. Groups of one row each,
#' data without groups, censored times and rankings are refused.
#'
#' **When.** In `bench/worst-study.R` of the sources, 20 decoys follow the response in half of eight
#' studies. Of five columns, chosen by the mean squared error, 93 % are decoys, 2 % by `"worst"` and
#' by `"mean_sd"`, and the error in a ninth study is 61 % and 63 % lower. Several decoys together
#' may cover all studies, so that models with more columns than predict everywhere have decoys by
#' these criteria, too. The default rule for the size therefore ends at a clear rise of the error of
#' a group ([size_rule]). At this size, up to 15 columns, 6 % of the columns are decoys by both
#' criteria and 68 % by the mean, and the error is 37 % and 39 % lower. Where decoys predict in six
#' of the eight studies, 5 % of five columns and 8 % at the default size are decoys by `"worst"`,
#' nearly all are by the mean, and `"mean_sd"` mostly chooses no column at the default size. Of 100
#' decoys in half of the studies 3 % of five columns are decoys by `"worst"`, and about 5 % at the
#' default size by both criteria. Where no column is a decoy, the mean squared error is the more
#' precise criterion: with `"worst"` the error is 4 % to 5 % higher. The size of models of weak
#' effects in small groups also ends sooner.
#'
#' **Real studies** (newsgroups of two subjects, occupations in a census, cohorts of breast cancer)
#' have few such decoys. In nine comparisons there, `"worst"` lowered the largest relative error of
#' a study left out in five, by up to 0.05, and raised it in three, by 0.01, 0.01 and 0.12. Its mean
#' over the studies was lower by 0.03 in one comparison, higher by 0.05, 0.07 and 0.14 in three, and
#' within 0.02 in the others. With `"mean_sd"` it was within 0.02 in six and higher by 0.04 to 0.05
#' in three. Columns centred and scaled within these studies (`center_groups`) gained nothing on
#' average (bench/results/worst-study-real.txt).
#'
#' **Time.** If each group is a fold of a single partition, `"worst"` and `"mean_sd"` skip
#' candidates by the errors of all groups, which follow the moves, see [search_cost]. Otherwise,
#' with folds of several groups or another loss, every candidate is scored.
#'
#' @seealso [greedy_rls()], [row_groups], [transfer()], the errors between studies
#' @examples
#' set.seed(1)
#' study <- rep(1:4, each = 20)
#' x <- matrix(rnorm(80 * 50), 80, dimnames = list(NULL, paste0("gene", 1:50)))
#' y <- x[, 1] + rnorm(80) / 2
#' # gene2 follows the response in two of the four studies
#' x[study < 3, 2] <- y[study < 3] + rnorm(40) / 4
#' selected(greedy_rls(x, y, groups = study, k = 1, size = 1))
#' fit <- greedy_rls(x, y, groups = study, criterion = "worst", k = 3, size = 1)
#' fit
#' selected(fit)
#' @name worst_study
NULL

#' Search directions, given panels and ties
#'
#' The arguments `search` and `start` of [greedy_rls()], and the order of equally good columns.
#'
#' @details **Search.**
#' * `"forward"` only adds features.
#' * `"floating"` drops features after each addition as long as the result beats the best earlier
#'   model of the smaller size.
#' * `"forward_backward"` drops the least useful feature if this costs at most half of the gain of
#'   the last addition (Zhang 2009, with the held-out criterion instead of the training error).
#' * `"backward"` starts from all usable features and drops one at a time until none remains. Its
#'   models of size 0 to `k` are kept.
#'
#' **A given panel.** With `start` the search begins with columns that are known beforehand, such as
#' a published signature. `search = "forward", k = length(start)` scores the panel, a larger `k`
#' extends it, and `search = "backward"` prunes it.
#'
#' All searches except `"backward"` first add the columns of `start` in the order given, whatever
#' they gain. The path has the exact error of the first 1, 2, ... of them. `"floating"` and
#' `"forward_backward"` may then drop some. `"forward_backward"` counts a column that gained nothing
#' when it was added as one that gained 0, and drops it where that costs nothing. `"backward"`
#' begins with the columns of `start` instead of all columns. Other searches require a `k` of at
#' least the number of these columns. A column of `start` that is constant in a training set is left
#' out there.
#'
#' Every repetition in folds begins with the same panel, which is not searched for again. `cv` and
#' `estimate` are therefore honest for a panel from other data. For a panel that was chosen on the
#' same rows they are as optimistic as that choice.
#'
#' **Ties** go to the lowest column. Differences below 1e-12 of the response's mean square are ties.
#' Ties of a criterion other than `"squared"` are broken by the squared error first. Scores within
#' 1e-10 of each other are equal: such a pair counts one half in the AUC, and equal scores predict
#' the first class.
#'
#' @references Zhang, T. (2009). Adaptive forward-backward greedy algorithm for sparse learning with
#' linear models. Advances in Neural Information Processing Systems 21, 1921-1928.
#'
#' @seealso [greedy_rls()], [panel_error()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 50), 40, dimnames = list(NULL, paste0("gene", 1:50)))
#' y <- x[, 7] - x[, 48] + rnorm(40) / 2
#' panel <- c("gene7", "gene9", "gene48")
#' greedy_rls(x, y, start = panel, search = "backward", k = 3)
#' @name search_directions
NULL

#' Prices of columns and assays
#'
#' The arguments `cost` and `budget` of [greedy_rls()]: models with the largest gain per price.
#'
#' @details `cost` contains positive numbers, with the names of the columns or one for each column
#' in order; or a data frame with the columns `cost`, `assay` and `name`, of which the last two are
#' optional. The columns of one assay are measured together. The price of an assay, the same in all
#' its rows, is paid once. A column with assay `NA` is measured alone.
#'
#' **Search.** Each step adds the column with the largest gain divided by its price, among the
#' columns that the rest of `budget` allows. The gain is the present criterion minus the criterion
#' with the column. Once an assay is paid for, its other columns are free: as long as one of them
#' lowers the criterion, the best of these is added before any column with a price. An assay of many
#' columns has many that lower the criterion a little, and each counts towards `k`. If no column
#' lowers the criterion, the column that raises it least is added, whatever its price.
#'
#' **The path** ends at size `k`, or when `budget` allows no other column. `fit$path$price` is the
#' price of each model. The size is chosen by the error as without prices: a smaller size costs no
#' more.
#'
#' Prices are for forward searches of [greedy_rls()] without groups that are selected together, and
#' for [poss()].
#'
#' @seealso [greedy_rls()], [poss()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 60), 40)
#' y <- x[, 7] - x[, 50] + rnorm(40) / 2
#' # genes at 1, and a chip of 30 genes for 3
#' prices <- data.frame(cost = rep(c(1, 3), each = 30), assay = rep(c(NA, "chip"), each = 30))
#' greedy_rls(x, y, cost = prices, budget = 5, k = 6)
#' @name column_prices
NULL

#' Columns spread over a cluster
#'
#' The argument `cluster` of [greedy_rls()] and [l1_path()]: each worker computes on its own range
#' of the columns.
#'
#' @details `cluster` is any cluster that the functions of R's parallel package accept: of processes
#' on this machine or on others (`parallel::makeCluster()`), of MPI processes (packages snow and
#' Rmpi) or of mirai. The workers require this version of the package. `threads` is the number of
#' threads of each worker.
#'
#' **[greedy_rls()]** takes a cluster for forward search by the squared error, by any `folds`,
#' without `cost`, `keep`, groups or a hierarchy. On processors with the same vector instructions
#' the fit equals the fit of one process to the last bit, for any number of workers: the values of
#' a selected column go to all workers. The scores of all column ranges decide which column is
#' selected, with ties to the lowest. Scores may differ in their last digits from the scores in one
#' process, by far less than a tie. `fit$work` has the sums over the workers. The main process
#' searches alone where there are fewer than 64 columns or 25000 values, or by products of columns
#' ([search_cost]).
#'
#' **[l1_path()]** takes a cluster for least squares and logistic regression by `solver = "cd"`,
#' without `folds`, but not for a softmax of three and more classes. The main process solves for a
#' few lambdas on a working set of columns, beginning with the columns that the strong rule keeps.
#' The workers multiply their columns with the residuals of these solutions in one pass. They return
#' the columns that violate the optimality conditions, with which the main process solves again. The
#' gaps are computed from all columns. The solutions equal the solutions of one process to the
#' tolerance, and the path does not end before its last lambda.
#'
#' **Data sent.** A matrix is sent once, each worker receiving its columns. A [file_matrix()] is not
#' sent: each worker opens the file, which must have the same path there. In one step of a search
#' every worker sends its best score, one worker sends its column of m doubles, and every worker
#' receives it. A worker reads its columns once for each column that comes from another worker,
#' about `k` times and more often than a single process. A search of milliseconds runs in the main
#' process, as do refits.
#'
#' **Repetitions.** Permutations, outer folds and other repetitions can run on the same workers,
#' with `future::plan(future::cluster, workers = cl)` and no `cluster` in the call, see
#' [parallel_runs].
#'
#' **Lost workers.** A worker that is lost ends the search as Ctrl-C does, with a warning of class
#' `sparsels_warning_worker` that gives its number, host and process. If there is nothing to return,
#' it is an error of class `sparsels_error_worker`. Later searches run in the main process. The
#' cluster should then be stopped. An error in a worker is one of class `sparsels_error_worker`, or
#' `sparsels_error_memory`, and names it. Ctrl-C waits for the answers to the present step. A second
#' one and a time limit do not wait: the next call with the cluster waits for these answers and
#' discards them. Whatever ends a call, workers keep nothing of it.
#'
#' **Forked processes**, of `parallel::mclapply()`, `future::plan(future::multicore)` or
#' `BiocParallel::MulticoreParam()`, share the connections of a cluster, which is refused there.
#' Workers with another build of the package are refused too.
#'
#' @seealso [greedy_rls()], [l1_path()], `vignette("bigger-than-memory")`
#' @name clusters
NULL

#' Time, memory and accuracy of greedy search
#'
#' What [greedy_rls()] costs, how it avoids computing most candidates, and how many digits its
#' errors have.
#'
#' @details The defaults run 21 searches: two lambdas in ten folds, and the final search on all
#' rows. Each has five refits of O(m k^2). A training set is the same `x` with weight 0 on the
#' held-out rows, so nothing is copied. The rest of this page is about one search.
#'
#' **Bounds.** Forward search by the squared error, the default, computes the error of a candidate
#' only if a lower bound of the error does not exclude the candidate, for any `folds` and `cost`.
#' The bound takes a few operations. The result is the same as without bounds. A few passes over `x`
#' suffice, which is read in place (integer and sparse columns too). The working memory is
#' k m + (k + 8) n doubles, up to 32 MB more, and m doubles for each candidate computed. Folds of
#' more than one row take m (k + q + 12) more for each repeat, with q covariates including the
#' intercept, and two to three times as much if folds have only a few rows or about k. Up to 64 MB
#' of the memory are kept for the next call.
#'
#' **Without bounds.** Bounds exclude few candidates if columns are heavy-tailed, if `lambda` is
#' small and rows are few or folds few and large, and in steps far beyond the best size. With folds,
#' the errors of all candidates are then updated after each step. This takes one pass over `x` and
#' (2 + 2 L) n F doubles, for L responses and F folds in all repeats together. With leave-one-out,
#' if digits are lost, or if the update would take more memory than evaluation, every candidate is
#' evaluated instead. Evaluation takes O(mn) time for a step and m x n doubles besides `x`, with
#' folds m x n more for each repeat. If either would take more than 4 GB, or the m x n doubles
#' alone more than 2 GB, candidates that are not excluded are computed one by one. Backward,
#' floating and forward-backward search, other criteria than `"squared"`, and an `x` of fewer than
#' 64 columns or 25000 values always have every candidate evaluated.
#'
#' **Large `x`.** If `x` is a [file_matrix()] or sparse and m x n doubles would be more than 2 GB,
#' evaluating every candidate reads `x` once for each step and computes each column from the
#' selected features. This takes O(smn) time for the step to s + 1 features, and k m doubles more
#' than the bounds. Errors are the same up to rounding. A backward search keeps m doubles for each
#' column that it begins with, and is an error if these would be more than 2 GB. For groups of
#' columns see [column_groups].
#'
#' **By products.** Let there be five times as many rows as variables (n columns, q covariates and L
#' responses), and as the folds times the columns of the largest group. A forward search by the
#' squared error of the folds of one partition, not leave-one-out, then needs no rows, but the
#' products of these variables with each other in the rows of each fold. Columns may be single,
#' groups that move together, or [curves] that do. `x` is read once, in O(m (n + q + L)^2 / 2) time,
#' less if it is sparse. From 1000 rows on, and for curves from 10000, this is the default of
#' [greedy_rls()]: on 14 sets with 700 to 2000 training rows the error of other rows differed from
#' the error by `folds = "loo"` by -0.0019 to 0.0050, and by -0.0001 on average (standard error
#' 0.0004), and 100,000 x 100 took 0.9 seconds of CPU for 11.5
#' (bench/results/folds-of-search.txt). A step that adds h columns to s takes O(F h (s + h) n) time
#' for F folds, a refit O(F s^3), and neither depends on m. The products are
#' (F + 1) (n + q + L)^2 doubles, half a gigabyte at most. If `folds` and `size_folds` are the same
#' partition, the searches without each fold use the same products. Their columns are combinations
#' of the columns of all rows, with centre, scale and penalties of their own rows. Pairs that are
#' screened anew without each fold are multiplied once for all folds that offer them. If products do
#' not determine these columns (means for missing values, `standardize = FALSE`, weights of balanced
#' classes, curves or pairs that are not `placed`, a column that is constant without the fold), the
#' search without the fold makes its own products. Moves, errors and models are the same
#' up to rounding. An error is a difference of products, and the warning of lost digits compares it
#' with the sum of squares of the response, too.
#'
#' **`fit$work`** counts the operations:
#' * `candidates`: their number, summed over the steps;
#' * `evaluated`: candidates whose error was computed from the column;
#' * `passes`: passes over `x`, columns read divided by n, without the pass of [as_problem()];
#' * `recurrence_from`, `dense_from`, `reread_from`: the steps from which on the errors of all
#'   candidates were updated, evaluated from the m x n doubles, or evaluated from `x` read again.
#'   Each is `NA` if it did not happen;
#' * `by_products`: whether the search needed products alone. `passes` is then 0.
#'
#' **Decompositions.** `"backward"` adds O(mn min(m, n)) for the start, and `lambda = "full"` as
#' much for its choice, in one decomposition by LAPACK that Ctrl-C cannot interrupt.
#'
#' **Ctrl-C** during `size_folds` chooses the size by the completed folds, if there are at least
#' two. During the final search it returns the path found so far, with a warning of class
#' `sparsels_interrupted` and `fit$status == "interrupted"`. Before the first step there is no
#' result. For time limits see [parallel_runs].
#'
#' **Accuracy.** Errors and coefficients equal the results of retraining up to rounding error times
#' the condition number of the model. That is about 1e-12 for usual data and lambda, and 1e-8 for
#' exact duplicates in a model of standardised columns at `lambda = 1e-3`. Searches that drop
#' features recompute their state from `x` when it has lost digits. Held-out errors lose more digits
#' if a row or fold in the training set is fitted almost exactly: with one weight of 1e8 and more
#' among weights of 1, or a model with about as many columns as rows at a tiny `lambda`. If fewer
#' than 10 digits are left, a warning of class `sparsels_warning_precision` gives their number.
#'
#' @seealso [greedy_rls()], [size_rule], [clusters]
#' @srrstats {RE5.0} `?search_cost`, `bench/scale.R`
#' @name search_cost
NULL

#' Losses of paths with an l1 penalty
#'
#' The models of [l1_path()] for classes, ordered classes, counts, shares and censored times.
#'
#' @details
#' **Three and more classes.** With `loss = "multinomial"`, or `"logistic"` and three or more
#' classes, all classes have one softmax model: class k of row j has the probability
#' \eqn{\exp(s_{jk}) / \sum_l \exp(s_{jl})}{exp(s_jk) / sum_l exp(s_jl)} with
#' \eqn{s_{jk} = v_k'z_j + \beta_k'\tilde x_j}{s_jk = v_k'z_j + beta_k'xs_j}, and the loss is minus
#' the logarithm of the probability of the observed class. The penalty is the sum of the absolute
#' values of all coefficients, so that a column may count for some of the classes only. With
#' `grouped = TRUE` it is the sum over the columns of the l2 norm of their coefficients, so that a
#' column counts for all classes or for none. With `alpha = 1` a median of the coefficients of a
#' column over the classes is 0, with `grouped = TRUE` their sum. `predict()` has the probabilities
#' of the model itself for `type = "prob"` and `"response"`, without calibration, and the held-out
#' criterion is the mean multinomial deviance, minus twice the logarithm of the probability. Every
#' fold and training part requires rows of all classes.
#'
#' **Ordered classes.** `loss = "ordinal"` is for three and more classes of an ordered factor, by
#' proportional odds: the probability of class k or a lower one is \eqn{1 / (1 + \exp(s_j - a_k))}{1
#' / (1 + exp(s_j - a_k))} with the linear predictor \eqn{s_j} and cutpoints \eqn{a_1 < a_2 <
#' \ldots}{a_1 < a_2 < ...}, as in `MASS::polr()`. The sum of losses is minus the log likelihood
#' with the cutpoints that are best for the linear predictors. They are not penalised and take the
#' place of an intercept. `fit$cutpoints` is a matrix with a column for each lambda. Higher linear
#' predictors are of higher classes, and coefficients are logarithms of odds ratios. `predict(type =
#' "prob")` has the probabilities of the classes and `type = "class"` the most probable class. The
#' held-out criterion is the mean deviance, twice the loss of the rows held out with the cutpoints
#' of the training rows, and `path` also has the held-out `concordance`. The measures of
#' [cross_validate()] are `"concordance"`, the default, `"deviance"`, `"error"` and `"absolute"`,
#' the mean number of classes between the predicted and the observed one. Every fold and training
#' part requires rows of all classes. `class_weights` are refused. With `loss = "ordinal(probit)"`
#' the probability is the normal distribution function of \eqn{a_k - s_j}{a_k - s_j}, and
#' coefficients are shifts of a normal variable behind the classes.
#'
#' **Several models.** With `"squared"` and `"hinge"` and more than two classes, one model is fitted
#' for each class (+1) against the rest (-1), on the same lambdas. [class_probabilities] describes
#' the predicted class. Several numeric responses have one model each, too. The objective and the
#' gap are sums over the models, the columns of a lambda have a coefficient in any model, and
#' held-out losses are means. Numeric responses are standardised by default (`standardize_response`
#' of [as_problem()]): otherwise a response in small units would have no column at lambdas that suit
#' a response in large units.
#'
#' **Counts and shares.** `loss = "poisson"` is for one response of counts, whose mean has the
#' linear predictor as its logarithm. A known exposure (time, area, reads) is given as `offset`, its
#' logarithm: rates are then modelled, and `predict()` requires the `newoffset` of new rows. `loss =
#' "negbin(2)"` is for counts that vary more, with the variance \eqn{\mu + \mu^2 / \theta}{mu + mu^2
#' / theta} and a theta of 2, which `greedy_rls(loss = "negbin")` can estimate. `loss = "binomial"`
#' is for shares of successes, from 0 to 1, with the numbers of trials as `weights`; the linear
#' predictor is the logit of the mean. `predict(type = "response")`, `fitted()` and `residuals()`
#' are on the scale of the response, `type = "link"` is the linear predictor. The held-out criterion
#' is the mean deviance (twice the loss), also by default in [cross_validate()]; `squared` compares
#' responses with their predicted means.
#'
#' **Censored times.** `loss = "cox"`, the default for `Surv(time, status)` and `Surv(start, stop,
#' status)`, see [survival_times]. The sum of losses is then half of the deviance of Cox's partial
#' likelihood,
#' \deqn{\sum_t \frac{W_t}{n_t} \sum_{r} \log \frac{\sum_{j \in R_t} w_j c_{jr} e^{s_j}}{W_t (1 -
#' r/n_t)} - \sum_j w_j d_j s_j}{sum_t W_t/n_t sum_r log(sum_(j in R_t) w_j c_jr exp(s_j) / (W_t (1
#' - r/n_t))) - sum_j w_j d_j s_j} with the rows \eqn{R_t} at risk at the time \eqn{t} of \eqn{n_t}
#' events of weight \eqn{W_t}, events \eqn{d_j}, and for `ties = "efron"` \eqn{r = 0, ..., n_t - 1}
#' and \eqn{c_{jr} = 1 - r/n_t}{c_jr = 1 - r/n_t} for the events of the time and 1 for other rows;
#' `"breslow"` has \eqn{r = 0} alone, with the weight \eqn{W_t}. There is no intercept. Coefficients
#' are logarithms of hazard ratios. The held-out criterion is the partial deviance per event: twice
#' the loss of all rows less the loss of the training rows, at the model without a fold (Verweij and
#' van Houwelingen), divided by the weight of the events held out. `path` also has the held-out
#' `concordance`. `predict(type = "risk")` is the linear predictor less its value at the means of
#' the training rows and an offset of 0, the logarithm of a hazard ratio, and `type = "survival"`
#' the probability of no event up to each of `times`, by Breslow's baseline hazard of the training
#' rows with the same ties. `fit$baseline` has the cumulative hazards of the strata (`stratum`,
#' `time`, `hazard`) at the means of the training rows and an offset of 0. Held-out linear
#' predictors are about the mean of the rows that the model was trained on. `residuals()` are
#' martingale residuals. The gap is of the dual value in closed form for `"breslow"` without late
#' entry, otherwise of a lower bound of it that is tight at the optimum.
#'
#' @section Errors: A response that the loss does not have, such as negative counts (counts that are
#'   not whole are accepted with a message); offsets of counts or shares beyond 300; folds that hold
#'   out all counts above 0, all events, or all rows of a class of a softmax model or of ordered
#'   classes; `size = "cv"` with `loss = "cox"`; `grouped` with two classes or another loss than
#'   `"multinomial"`.
#'
#' @references Cox, D. R. (1972). Regression models and life-tables. Journal of the Royal
#' Statistical Society B 34, 187-220. \doi{10.1111/j.2517-6161.1972.tb00899.x}
#'
#' McCullagh, P. (1980). Regression models for ordinal data. Journal of the Royal Statistical
#' Society B 42, 109-142. \doi{10.1111/j.2517-6161.1980.tb01109.x}
#'
#' Verweij, P. J. M., van Houwelingen, H. C. (1993). Cross-validation in survival analysis.
#' Statistics in Medicine 12, 2305-2314. \doi{10.1002/sim.4780122407}
#' @seealso [l1_path()], [l1_solvers], [survival_times], [class_probabilities]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(50 * 100), 50, dimnames = list(NULL, paste0("gene", 1:100)))
#'
#' # counts, with the exposure as offset
#' exposure <- runif(50, 1, 3)
#' count <- rpois(50, exposure * exp(x[, 3] / 2))
#' counts <- l1_path(x, count, loss = "poisson", offset = log(exposure), folds = 5)
#' head(predict(counts, x, newoffset = log(exposure)))
#'
#' # censored times, in strata
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   time <- survival::Surv(rexp(50, exp(x[, 3])), rep(c(1, 1, 0, 1, 1), 10))
#'   cox <- l1_path(x, time, loss = "cox", strata = rep(1:2, 25), folds = 5)
#'   predict(cox, x[1:3, ], type = "survival", times = c(0.5, 1), newstrata = c(1, 2, 1))
#' }
#'
#' # ordered classes
#' pain <- cut(x[, 3] + rlogis(50), c(-Inf, -1, 1, Inf), c("none", "some", "much"), ordered = TRUE)
#' grades <- l1_path(x, pain, loss = "ordinal", folds = 5, nlambda = 20)
#' predict(grades, x[1:3, ], type = "prob")
#'
#' # an elastic net of three classes, and one that selects columns for all of them
#' l1_path(Species ~ ., iris, loss = "logistic", alpha = 0.5, folds = 5, nlambda = 20)
#' l1_path(Species ~ ., iris, loss = "multinomial", grouped = TRUE, folds = 5, nlambda = 20)
#' @name l1_losses
NULL

#' Solvers, screening and computing time of the l1 path
#'
#' How [l1_path()] computes its solutions, how exact they are, and what they cost.
#'
#' @details **`solver = "cd"`.** The lasso is solved by an active-set method with an updated and
#' downdated Cholesky factor, whose solutions are exact up to rounding error. For large active sets
#' coordinate descent with Anderson's extrapolation takes over (Bertrand and Massias 2021).
#' Logistic, Poisson, binomial and multinomial regression are solved by Newton's method on a working
#' set, with all classes of a softmax together. The hinge loss is solved by the simplex method on
#' the dual with column generation, and its solutions are vertices.
#'
#' **`solver = "ipm"`** has the interior-point methods of Kim and others (2007) and Koh and others
#' (2007), for `"squared"` and `"logistic"`. Their solutions have small nonzero coefficients that
#' [threshold_coef()] removes. Refused are `screen = "lazy"`, other losses, weights of 0, several
#' responses and more than two classes.
#'
#' **The elastic net** is computed as the lasso with a further row for every column, from which its
#' gaps and safe tests follow. The rows are not formed.
#'
#' **Exactness.** `fit$path$gap` is the duality gap of each solution, an upper bound of its
#' objective minus the optimum. A solution has converged when its gap is at most `tolerance` times
#' the objective of the null model (the model with covariates only). If one does not converge, a
#' warning of class `sparsels_warning_convergence` gives its gap. The default of 3e-4 moves held-out
#' errors by a small share of their standard errors, and the gaps of other programs at their
#' defaults are mostly larger. A smaller tolerance, down to about 1e-12, gives more digits of the
#' coefficients. The hinge loss, and least squares with few enough columns for a factor (see below),
#' are solved to rounding for any tolerance.
#'
#' **The end of the path.** Without `lambda`, for a single response, two classes or a softmax of
#' more, the path of `solver = "cd"` ends early: after the first solution that explains more than
#' 99.9 % of the null model's deviance (of the sum of squares, of the hinge loss), or if the fall of
#' lambda by a third has added less than a share of 5e-5 to the explained part. With `folds` it goes
#' on from there as long as the held-out error is smallest at the last lambda, down to 1e-7 of the
#' largest unless `lambda_min_ratio` is given, and with fewer columns than rows it does not end
#' early. All values of a given `lambda` are solved.
#'
#' **Screening.** Products of columns with the residual are computed only for columns that may have
#' a nonzero coefficient. The solutions are the same with each `screen`.
#' * `"lazy"` bounds the product of each column by its last computed value and the change of the
#'   residual since, for sparse columns by the changes of single rows. It is the fastest for
#'   `solver = "cd"`, and not available for `"ipm"`.
#' * `"safe1"`, `"safe2"` and `"gap"` are the tests of [safe_screen()], based on the null model, on
#'   all solutions so far, and on the current iterate. For `"logistic"` and `"hinge"` with `solver =
#'   "cd"` they cost more than they save, and are offered for comparison. The losses of counts, of
#'   shares, `"multinomial"` and `"cox"` have `"gap"` alone, from the curvature at the current
#'   iterate: a column is left out if the product plus \eqn{\sqrt{2 V g} + R g / 3}{sqrt(2 V g) + R
#'   g / 3} is below the penalty, with the gap \eqn{g}, the curvature \eqn{V} along the column and
#'   its largest absolute value \eqn{R}.
#' * `"none"` computes all products.
#' * `"auto"` is `"lazy"` for `solver = "cd"` and `"gap"` for `solver = "ipm"`.
#'
#' **Held-out errors.** Paths of up to ten folds are computed together. A path passes over `x` by
#' itself when it needs few columns, and together with the others when it needs all. With a future
#' plan or `BPPARAM` folds are spread over processes instead, see [parallel_runs]. The errors are
#' the same to the tolerance.
#'
#' **Time.** A round over the columns takes at most O(mn) time, or O(nonzeros) for sparse `x`, and a
#' lambda takes a few rounds. The factor of the lasso takes O(m s + s^2) for each column that enters
#' or leaves a model of s columns. With `alpha` below 1 every lambda takes O(s^3) for a factor, of
#' up to 512 columns. Threads share the products and their bounds. Two threads take two thirds of
#' the time of one for 200 x 100000, seven to eight tenths for 200 x 20000 (20 milliseconds with
#' one thread), and eight to nine tenths for 5000 x 20000 sparse columns (bench/l1.R, on a machine
#' without other load).
#'
#' **Memory** besides `x` is a few vectors of m and n doubles, and s^2 doubles for the factor. There
#' is a factor for up to 2048 columns, and for sparse columns for up to four times their mean number
#' of nonzeros, but at least 256. Larger models are solved by coordinate descent. With `folds` up to
#' ten paths each have this memory, and up to m/16, but at most 16, vectors of n doubles. For least
#' squares there are eight more, of which only the entries of the model's columns are used. For a
#' sparse `x` the columns of the model are copied.
#'
#' @references Bertrand, Q., Massias, M. (2021). Anderson acceleration of coordinate descent.
#' Proceedings of the 24th International Conference on Artificial Intelligence and Statistics, PMLR
#' 130, 1288-1296.
#'
#' Kim, S.-J., Koh, K., Lustig, M., Boyd, S., Gorinevsky, D. (2007). An interior-point method for
#' large-scale l1-regularized least squares. IEEE Journal of Selected Topics in Signal Processing 1,
#' 606-617. \doi{10.1109/JSTSP.2007.910971}
#'
#' Koh, K., Kim, S.-J., Boyd, S. (2007). An interior-point method for large-scale l1-regularized
#' logistic regression. Journal of Machine Learning Research 8, 1519-1555.
#'
#' @seealso [l1_path()], [safe_screen()], [clusters]
#' @srrstats {RE3.0} warnings of class `sparsels_warning_convergence`
#' @srrstats {RE3.1} `suppressWarnings(classes = )`. `fit$path$gap`, `fit$status`
#' @srrstats {RE3.2} `?l1_solvers`, with what the default costs
#' @name l1_solvers
NULL

#' Resamples, measures and baselines of outer cross-validation
#'
#' Which resamples [cross_validate()] takes as outer folds, its measures of error, and how its
#' baselines are trained.
#'
#' @details **Resamples.** `outer` takes the resamples of rsample if each holds out rows that it
#' does not train on: `vfold_cv()`, `group_vfold_cv()`, `loo_cv()`, and resamples that are no
#' partition of the rows, such as `bootstraps()`, `mc_cv()`, `validation_split()`,
#' `rolling_origin()` and their versions for groups. [make_folds()] and `size_folds` take partitions
#' only. These are refused: resamples without held-out rows, such as `permutations()`, resamples
#' that hold out their training rows, such as `apparent()`, and `nested_cv()`, whose inner resamples
#' would not be used.
#'
#' A row that occurs several times in a bootstrap sample is trained on once, with its case weight
#' multiplied, so inner folds never separate copies of a row. `method` must take case weights. A
#' bootstrap sample has only 63 % of the rows, which makes the error somewhat too large.
#'
#' Errors are means over the resamples, weighted by the held-out rows. Their standard errors treat
#' the resamples, or the outer folds, as independent. They are too small if training parts overlap
#' or if `repeats` is above 1. `held_out` is a mean over the resamples that hold the row out, `NA`
#' if none does. `predictions` has a layer for each resample.
#'
#' **Measures.** All are weighted by the case weights.
#' * `"error"`, the misclassification rate, and `"balanced"`, the mean of the misclassification
#'   rates of the classes;
#' * `"squared"`, the mean squared error, and `"absolute"`, the mean absolute error, with
#'   `loss = "ordinal"` the mean number of classes between the predicted and the observed one;
#' * `"auc"`, the area under the ROC curve, over pairs of rows within a fold and never across folds,
#'   whose models differ. For three and more classes it is the mean over pairs of classes (Hand and
#'   Till 2001);
#' * `"brier"` and `"logloss"`, the Brier score and the logarithmic loss of probabilities;
#' * `"concordance"`, of numbers or censored times, the share of the comparable pairs within a fold
#'   (of a ranking within a query) in the right order;
#' * `"deviance"`, of methods with a `loss` of counts or shares, the mean deviance of the predicted
#'   means, for all counts by the Poisson loss. With `loss = "cox"` it is the deviance of all rows
#'   less the deviance of the training rows, per event held out (Verweij and van Houwelingen 1993).
#'   With `loss = "ordinal"` it is by the cutpoints of the training rows. For classes take
#'   `"logloss"`, which is half of it;
#' * `"ndcg"` or `"ndcg@10"`, of grades, see [ranking].
#'
#' **Probabilities.** For `"brier"` and `"logloss"` scores become probabilities by
#' [class_probabilities]: Platt's calibration (or the model's own probabilities, with the logistic
#' loss). It is estimated in each outer fold from the held-out scores of the training rows, for the
#' model chosen there, and used for all sizes or lambdas. With `loss = "ordinal"` probabilities are
#' by the cutpoints of the training rows. Both measures are as in yardstick. The
#' Brier score is half the sum of squares over the classes, for two classes the mean squared error
#' of the probability of one class. The log loss is minus the mean logarithm of the probability of
#' the observed class, no less than 2.2e-16. Rows count by their case weights, without class
#' weights. The null model gives every class its share of the training rows. With covariates its
#' probabilities are from the covariates alone: by the logistic loss, or the loss of several classes
#' together, where the method has it, and otherwise by Platt's calibration of held-out scores.
#'
#' **Baselines.** The random model of `baselines` has the lambda of the method and is refitted if
#' the method refits. If the lambda of the method is 0, the random model uses 1e-8 times the sum of
#' the weights. For [l1_path()], whose lambda is an l1 penalty, [random_selection()] chooses its
#' own.
#'
#' @references Hand, D. J., Till, R. J. (2001). A simple generalisation of the area under the ROC
#' curve for multiple class classification problems. Machine Learning 45, 171-186.
#' \doi{10.1023/A:1010920819831}
#'
#' Verweij, P. J. M., van Houwelingen, H. C. (1993). Cross-validation in survival analysis.
#' Statistics in Medicine 12, 2305-2314. \doi{10.1002/sim.4780122407}
#' @seealso [cross_validate()], [make_folds()], [class_probabilities]
#' @name outer_cross_validation
NULL

#' The fields of a problem
#'
#' What [as_problem()] returns: two tables, the covariates, and how the data are coded.
#'
#' @details Entries after "if used" are there only if they are used.
#'
#' * `x` (m x n): the candidate columns, complete if `missing = "mean"`.
#' * `rows`, a data frame with a row for each of the m observations: `y` (matrix m x L, coded) and
#'   `weight`; if used `query`, `group` and `stratum` (factors), `start`, `time`, `event`,
#'   `offset` (matrix m x L),
#'   `name`, and `case_weight` (`weight` without the class weights).
#' * `columns`, a data frame with a row for each of the n candidate columns: `name`, `centre`,
#'   `squares` (weighted sum of squares about `centre`), `scale`, `rss` (weighted residual sum of
#'   squares given the covariates), `usable` (`FALSE` if excluded), `products` (matrix n x L,
#'   weighted cross products with the responses given the covariates); if used `penalty` (`scale`
#'   is multiplied by its roots), `group` (number of the group, 0 for none), `mean` and `missing`
#'   (replacements of missing values, and their numbers), `curve`, `direction`, `roughness`,
#'   `pair` and `product` (see [curves]).
#' * `z` (m x q): the covariates, the intercept first.
#' * `coding`, a list: `task` (`"regression"`, `"binary"` or `"multiclass"`), `levels`, `response`
#'   (its name), `intercept`, `standardize`, `missing`, `design` and `adjust_design`, which turn
#'   new data into columns; if used `response_scale` (L), `class_weights`, `column_groups`,
#'   `formula`, `assay` and others. Two classes are coded -1 and +1 (the second level), more
#'   classes by one -1/+1 column each. Numbers are minus `offset`, divided by `response_scale`.
#' * If used, `curves` and `pairs` (see [curves]), `hierarchy` (`column` and the column that it
#'   `needs`, by number) and `gaps` (the positions of missing values, a sparse m x n matrix).
#'
#' @seealso [as_problem()], [summary()][summary.sparsels_problem]
#' @examples
#' x <- matrix(rnorm(60), 12, 5, dimnames = list(NULL, paste0("gene", 1:5)))
#' problem <- as_problem(x, factor(rep(c("no", "yes"), 6)))
#' head(problem$rows, 3)
#' problem$columns[c("name", "centre", "scale", "usable")]
#' problem$coding$levels
#' @srrstats {RE4.12} In part: centres and scales are in `fit$problem$columns`. No function applies
#'   them alone, `model.matrix()` gives columns in the user's units
#' @srrstats {ML2.0b} class `sparsels_problem` with `print()`
#' @srrstats {ML2.3} `problem$columns`, see `docs/objects.md`
#' @name sparsels_problem
NULL

#' Results of outer cross-validation
#'
#' What [cross_validate()] returns, and the methods by which its fit on all rows predicts.
#'
#' @param object The result of [cross_validate()].
#' @param newdata New observations, see [predict.sparsels_fit()]. With `type = "prob"` they are
#'   calibrated on the scores of the outer folds.
#' @param size The model wanted: a number, `"min"` or `"1se"` by the test error of the outer folds;
#'   `NULL` for the size that the method chose on all rows. For `coef()` and `predict()` also
#'   several.
#' @param rule `"min"`, the size with the smallest test error, or `"1se"`, the smallest size within
#'   one standard error of it.
#' @param index,lambda See [selected()].
#' @param ... Arguments of the method for the fit on all rows, see [sparsels_fit].
#'
#' @details The result is a list:
#' * `curves`: data frame, a row per size (or lambda) reached in every fold: the size; `inner`, the
#'   method's own criterion, and `cv`, its own cross-validation, where it has them; `test`, the
#'   error on the outer folds; `random` and `majority`; each with its standard error, `inner_se`,
#'   ... . Values are means over the outer folds, weighted by their rows, or by the pairs that are
#'   compared. A fold without a model of a size contributes its largest smaller model. If the folds
#'   have no size in common there is one row, for the models that they chose.
#' * `measures`: such a data frame for every measure; `estimates`: a row per measure, as `estimate`,
#'   with the mean that is not corrected for models without columns (`uncorrected`), the error of
#'   the null model (`null`), the `difference` from it with `difference_se`, `difference_lower` and
#'   `difference_upper`, and the number of folds that are `unscored`, such as those without a pair
#'   of rows to compare, which no mean includes. `beside`: such a row of the absolute error beside
#'   the squared error, or of the balanced error rate beside the error rate.
#' * `interval`: list with the `level`, how the standard error was `measured` (`"folds"`, `"pairs"`,
#'   or `"rows"` where it may be too small), the number of `units` of rows, the share of rows
#'   predicted by models without columns (`no_column`) and their `optimism`, the share of a row in
#'   the sum of the first measure (`heaviest`, the largest), and the numbers of `rows` and of those
#'   `trained` on.
#' * `folds`: data frame, a row per outer fold, with `repetition`, `fold`, `rows` (held out),
#'   `lower` and `upper`, the interval of `test` over the rows of the fold, `group`, where each fold
#'   is a group of rows, `lambda`, `size` (chosen there), and at that size `inner`, `test`,
#'   `random`, `majority`.
#' * `estimate`: named double, the test error at the size chosen in each fold, the honest error of
#'   the method with its choices: `mean`, `se`, `lower`, `upper`, `row_se` and `jackknife_se`, see
#'   [error_intervals]. `at_choice`: a data frame with one row, the means of all the curves there.
#' * `fit`: the method on all rows, which `predict()`, `coef()`, `selected()` and `fitted()` of the
#'   result use.
#' * `held_out` (m x L): out-of-fold predictions at the size each fold chose, and for classes
#'   `held_out_class`, the number of the predicted class, of three and more classes in the first
#'   partition; with `keep`, `predictions` of every model (m x L x models x repetitions).
#' * `fold_models`: the models without each outer fold, as in a [sparse_fit], for
#'   `predict(interval = )` and `predict(type = "set")`.
#' * `chosen`: list with a character vector per outer fold, the names in the order chosen.
#' * `frequency`: data frame `feature` (column number, `NA` for a pair that all rows do not offer),
#'   `name`, `count` and `share` of the outer folds that chose it; most frequent first.
#' * `measure` (the first), `method`, `call`, `status` (`"complete"` or `"interrupted"`), `problem`
#'   (without its x), and in words `outer` and `inner`, the folds.
#'
#' `best_size()` and `size = "min"` or `"1se"` use the test error. The smallest of several errors is
#' slightly optimistic. The standard errors of curves are over folds, and too small with `repeats`
#' above 1.
#'
#' @return `predict()`, `coef()`, `selected()`, `fitted()`: as of the fit on all rows, see
#'   [sparsels_fit]. `residuals()`: the same, or of the outer folds. `nobs()`: the number of rows of
#'   positive weight. `best_size()`: a number.
#' @seealso [cross_validate()], [error_intervals], [tidiers], [plot()][plot.sparsels_result]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 20), 60, 20)
#' y <- x[, 3] - x[, 8] + rnorm(60)
#' cvd <- cross_validate(x, y, greedy_rls, k = 4, outer = 3, lambda = 1)
#' cvd$estimate
#' best_size(cvd, "1se")
#' predict(cvd, x[1:3, ], size = 2)
#' residuals(cvd, "held_out")[1:3]
#' @name cv_result
NULL

#' Intervals of cross-validated errors
#'
#' How [cross_validate()], [judge()] and [compare_methods()] with `outer` measure the standard error
#' of an error, and how an error rate is corrected for models without columns.
#'
#' @details
#' The interval of an estimate is of the error of *this* method on *new rows* of the same kind, by a
#' fit to about as many rows as the outer folds train on. Its variance is the sum of two variances,
#' \eqn{\mathrm{row\_se}^2 + \mathrm{jackknife\_se}^2 / 2}{row_se^2 + jackknife_se^2 / 2}.
#' * `row_se` is over the rows held out, or over groups of rows: \eqn{U \sum_u d_u^2 / (U - 1)}{U
#'   sum_u d_u^2 / (U - 1)} over the squared total weight, where \eqn{d_u} is the weighted sum over
#'   a unit of its losses less their mean. For AUC and concordance it is by the influence of each
#'   row on the pairs within folds.
#' * `jackknife_se` is \eqn{\sqrt{(K - 1)/K \sum_o (\theta_o - \bar\theta)^2}}{sqrt((K - 1)/K sum_o
#'   (theta_o - mean theta)^2)}, with \eqn{\theta_o}{theta_o} the error of the procedure on the data
#'   *without* fold o, by the inner folds of the fit without it, at its size and lambda. Rows held
#'   out tell nothing of the other columns that other training rows would have chosen. The jackknife
#'   does, and it needs no further fit.
#'
#' Ends are by t with U - 1 degrees of freedom, of error rates by Wilson's formula with the
#' effective number of rows \eqn{e(1 - e)/se^2}{e(1 - e)/se^2} of an error e, and of AUC and
#' concordance on the logit scale. Further partitions (`repeats`) do not narrow them: standard
#' errors are root mean squares over the partitions. The null model is compared row by row in the
#' same way.
#'
#' In 500 data sets of each of 28 designs of 40 to 200 rows, with up to six columns by
#' [greedy_rls()] or with [l1_path()] and ten outer folds, 95 % intervals of the error contained the
#' error of the fit in 92 to 100 %, in 97 % on average, and intervals of the AUC in 93 to 100 %. The
#' designs have numbers, two and three classes, noise, groups of rows, genotypes and skewed columns
#' (bench/coverage-error.R). By `row_se` alone intervals contained the error in 66 to 99 %, in 84 %
#' on average. Fits of [rls()], [kernel_rls()] and [lssvm()] have as \eqn{\theta_o}{theta_o} their
#' own held-out error. In 500 data sets of each of eight designs their intervals contained the error
#' in 93 to 100 %, in 96 % on average. The factor 1/2 is empirical: the whole jackknife is too wide.
#' The intervals assume independent rows or groups. They do not hold for a *squared error with heavy
#' tails* (73 and 79 % for t with 2.5 and 3 degrees of freedom, 66 % for a lognormal response, 81 %
#' for counts), of which a few rows have most: the absolute error, printed beside it where one row
#' has more than a quarter of the sum, has an interval that holds better (95, 97, 92 and 96 %).
#'
#' For methods whose fits hold nothing out, `interval = "pairs"` trains without every pair of outer
#' folds, \eqn{K(K - 1)/2} more fits, and takes the larger of `row_se` and the whole jackknife.
#' Without pairs the standard error is the larger of `row_se` and the corrected one over folds of
#' Nadeau and Bengio (2003), with K - 1 degrees of freedom, and may be too small: `print()` says so.
#' Nested cross-validation (Bates, Hastie and Tibshirani 2023) needs the same pairs of folds and
#' held less often.
#'
#' **Models without columns.** A model without columns predicts the most frequent class. In
#' stratified folds its error is the share of the other classes in the sample, which on noise is
#' below the error on new rows: .449 on average for 60 rows of two equally likely classes, where
#' every rule has .5. The error rate is therefore corrected by the mean of this difference, known
#' for the shares of the classes (which are themselves corrected once), for the rows that models of
#' size 0 predict, and the null model for all rows. The corrected error of models without columns is
#' at most the error for classes of equal size, 1/2 for two classes. `uncorrected` is the mean
#' without it, and print() gives both. In 120 draws of this noise with 500 columns the printed error
#' was .476 on average (standard error .004), and .451 uncorrected. Classes of exactly equal size
#' are not corrected: in 200 draws of 30 rows of each class it was .500. The balanced error rate,
#' printed beside a corrected one, needs no correction. Where no fold chose a column the difference
#' from the null model has no interval.
#'
#' @references Bates, S., Hastie, T. and Tibshirani, R. (2023). Cross-validation: what does it
#' estimate and how well does it do it? Journal of the American Statistical Association 119,
#' 1434-1445. \doi{10.1080/01621459.2023.2197686}
#'
#' Nadeau, C. and Bengio, Y. (2003). Inference for the generalization error. Machine Learning 52,
#' 239-281. \doi{10.1023/A:1024068626366}
#' @seealso [cross_validate()], [compare_methods()], [prediction_intervals] of new values
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 20), 40, 20)
#' y <- x[, 3] - x[, 8] + rnorm(40)
#' cross_validate(x, y, rls, outer = 5)$estimate
#' @name error_intervals
NULL

#' Losses of greedy search
#'
#' The models of [greedy_rls()] for counts, shares and censored times, and how their columns are
#' found.
#'
#' @details
#' **Counts and shares.** `loss = "poisson"` is for one response of counts, whose mean has the
#' linear predictor as its logarithm, `loss = "binomial"` for shares of successes from 0 to 1, with
#' the numbers of trials as `weights`, and `loss = "negbin"` for counts that vary more, with the
#' variance \eqn{\mu + \mu^2 / \theta}{mu + mu^2 / theta}. A known exposure (time, area, reads) is
#' given as `offset`, its logarithm. The model then minimises the deviance plus \eqn{\lambda
#' \|B\|^2}{lambda ||B||^2}. Each step adds the column, or the group of columns that move together,
#' with which this falls most on all rows (see [column_groups]). Columns are ranked by the gain of
#' one Newton step, and models are made of the columns for which a bound of their gain is above the
#' best gain so far, ten at most. `fit$path$exact` says whether the bounds prove that no other
#' column is better, and `fit$path$tried` how many models were made.
#' Every model without a fold is trained until its linear predictors have ten correct digits. The
#' criterion is the mean held-out deviance, by which the size, lambda and the lambda of the refit
#' are chosen as for squares. Lambda is a multiple of the mean second derivative along a column at
#' the null model. Of `"negbin"` theta is found by maximum likelihood, first at the null model, then
#' at the model that this search chose, with which the search is repeated; `"negbin(2)"` has a theta
#' of 2. The folds use the theta of all rows. `predict(type = "response")`, `fitted()` and
#' `residuals()` are on the scale of the response, and `predict()` requires the `newoffset` of new
#' rows. Other values of `search` and `criterion`, `cost`, `budget`, `keep`, `cluster`, hierarchies,
#' curves and pairs of columns, several responses, [exchange()] and [certify()] are for squares
#' alone. Negative counts are an error, and so are folds that hold out all counts above
#' 0. Counts that are not whole are accepted with a message.
#'
#' **Censored times.** By default models are of the logarithms of times, see [survival_times].
#' `loss = "cox"` gives Cox models, whose coefficients are logarithms of hazard ratios. They
#' minimise the deviance of the partial likelihood, as in [l1_losses], plus \eqn{\lambda
#' \|B\|^2}{lambda ||B||^2}. Their columns are the ones that the search by the leave-one-out errors
#' of log times finds, with all values of `search`, `cost` and `start`. The coefficients of each
#' size are then refitted by Cox ridge regression, at the lambda with the smallest held-out partial
#' deviance in `folds` (Verweij and van Houwelingen), which is `criterion` of the path. With
#' `criterion = "cox"`, the default with strata, late entry or an offset, the columns are the ones
#' that take most off the penalised partial deviance, searched as for counts. `predict(type =
#' "risk")`, `predict(type = "survival")` and `residuals()` are as for [l1_path()]. Cox models have
#' not predicted better than models of log times in `bench/outcomes.R` of the sources.
#'
#' **Covariates without an optimum.** If all rows of a level of a covariate have a count of 0, or no
#' event, its coefficient has no finite optimum. A warning names the covariate, a small ridge ends
#' the coefficient near the limit, and the columns found are the best for the other rows. A
#' covariate that only the rows of a fold determine keeps its coefficient in the model without the
#' fold.
#'
#' @references Verweij, P. J. M., van Houwelingen, H. C. (1993). Cross-validation in survival
#' analysis. Statistics in Medicine 12, 2305-2314. \doi{10.1002/sim.4780122407}
#' @seealso [greedy_rls()], [survival_times], [l1_losses], the losses of [l1_path()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 50), 40, dimnames = list(NULL, paste0("gene", 1:50)))
#' # counts, with the exposure as offset
#' exposure <- runif(40, 1, 3)
#' count <- rpois(40, exposure * exp(1 + x[, 3] / 2))
#' counts <- greedy_rls(x, count, loss = "poisson", offset = log(exposure), k = 5)
#' counts
#' head(predict(counts, x, newoffset = log(exposure)))
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   time <- survival::Surv(rexp(40, exp(2 * x[, 3])), rep(c(1, 1, 0, 1), 10))
#'   tidy(greedy_rls(x, time, loss = "cox", k = 3), exponentiate = TRUE)
#' }
#' @name greedy_losses
NULL

#' Parallel runs, random numbers and interrupts
#'
#' How functions that repeat a method on folds, splits, permutations or lists of columns run these
#' repetitions.
#'
#' @details **Processes.** The repetitions run on the plan set by `future::plan()` if the package
#' future.apply is installed, otherwise one after the other. Where a function has the argument
#' `BPPARAM`, such as `BiocParallel::MulticoreParam(2)`, BiocParallel runs them instead.
#'
#' **Threads and clusters.** `threads` is the number of OpenMP threads of one computation. A
#' `cluster` divides the columns, see [clusters].
#'
#' **Random numbers.** Each repetition has its own stream of random numbers: `set.seed()` before the
#' call gives the same result under any plan, except for measured times.
#'
#' **Ctrl-C** returns the completed repetitions, with a warning of class `sparsels_interrupted`.
#'
#' **Time limits** of [setTimeLimit()] or `R.utils::withTimeout()` are errors of class
#' `sparsels_error_time` in every method. The field `result` of the condition has what Ctrl-C would
#' have returned, or `NULL`.
#'
#' @seealso [cross_validate()], [permutation_test()], [stability_selection()], [compare_methods()]
#' @name parallel_runs
NULL
