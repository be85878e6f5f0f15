# Properties of rows: queries of a ranking, groups of rows, and censored times.

# Queries ------------------------------------------------------------------------------------------

# Queries: rows that are ranked among themselves. The loss of pairs of rows of a query equals the
# loss of rows about the weighted mean of their query. So a ranking is a fit in which the response,
# the covariates and every column are centred within queries.

is_ranked <- function(problem) !is.null(problem$rows$query)

# Whether the response is the numbers of ordered classes, between which a link has cutpoints.
has_cutpoints <- function(problem) !is.null(problem$coding$link)

# Whether the response has classes, also ordered ones.
has_classes <- function(problem) problem$coding$task != "regression" || has_cutpoints(problem)

# Whether the responses are numbers to be predicted: neither classes, nor ranks, nor censored times.
predicts_numbers <- function(problem) {
  !has_classes(problem) && !is_ranked(problem) && !is_survival(problem)
}

# The queries -------------------------------------------------------------------------------------

# The query of each row as a number. Without queries all rows are one query.
query_numbers <- function(problem) {
  if (is_ranked(problem)) as.integer(problem$rows$query) else rep(1L, nrow(problem))
}

# The sets of rows that are compared among themselves alone, the queries. None without a ranking.
compared_rows <- function(problem) {
  if (is_ranked(problem)) split(seq_len(nrow(problem)), problem$rows$query)
}

# The coded response of a ranking: two classes are ranked as -1 and +1.
code_ranked <- function(coded, name) {
  stop_input_if(!is.null(coded$times),
                "`within` ranks numbers or two classes, but `%s` has censored times: %s", name,
                "leave out `within`")
  stop_input_if(coded$task == "multiclass",
                "`within` ranks numbers or two classes, but `%s` has %d classes: %s", name,
                length(coded$levels), "give grades as numbers")
  coded$classes <- coded$levels
  replace(coded, c("task", "levels"), list("regression", NULL))
}

# Refuses queries whose rows cannot be ranked, and covariates that do not change the ranking.
check_ranking <- function(problem, name) {
  if (!is_ranked(problem)) return(invisible())
  trained <- problem$rows$weight > 0
  size <- tabulate(problem$rows$query[trained], nlevels(problem$rows$query))
  stop_input_if(all(size < 2L), "`within` has no query with two rows%s: there is nothing to rank",
                if (all(trained)) "" else " of positive weight")
  stop_input_if(sum(size > 0L) == 1L,
                paste("`within` has a single query: leave it out, any problem ranks all of its",
                      "rows, with `criterion = \"concordance\"`"))
  still <- which(colSums(sum_of_squares(problem, problem$rows$y)) == 0)
  where <- if (ncol(problem$rows$y) > 1L) sprintf(" in column %d", still[1L]) else ""
  stop_input_if(length(still), "`%s` must vary within a query, but is constant in each%s", name,
                where)
  idle <- colnames(problem$z)[colSums(sum_of_squares(problem, problem$z)) == 0]
  stop_input_if(length(idle), "`adjust` must vary within a query, but %s %s constant in each: %s",
                some_of(idle), if (length(idle) == 1L) "is" else "are", "leave it out")
}

# 1 x columns: weighted sums of squares about the means of queries, with rounding errors set to 0
sum_of_squares <- function(problem, values) {
  about <- colSums(problem$rows$weight * centre_within(problem, values)^2)
  matrix(ifelse(about <= 1e-20 * colSums(problem$rows$weight * values^2), 0, about), 1L)
}

# The record of the queries of a ranking, see property_records().
ranking_record <- function() {
  list(
    kind = "always",
    given = function(problem) problem$rows$query,
    print = function(problem) {
      sizes <- trained_counts(problem, problem$rows$query)
      say(sprintf("ranked within %d quer%s of %s: %s", length(sizes),
                  if (length(sizes) == 1L) "y" else "ies", counted_range(range(sizes), "row"),
                  "only differences of scores within a query mean something"))
    },
    words = "queries of a ranking", joint = "queries", joined = "ranked within queries",
    no_intervals = "a ranking has no intervals: only differences of its scores mean something",
    no_level = "a ranking says nothing of the level of a query",
    compared = c("greedy_rls", "rls"),
    criteria = list(allowed = c("squared", "concordance", "ndcg"),
                    measure = c("squared", "concordance", "ndcg", "ndcg@10"),
                    criterion = c("squared", "concordance"), of = "a ranking within queries",
                    why = ": only differences of scores within a query mean something"),
    settle = function(problem, who) {
      stop_input("`within` is for greedy_rls(), rls() and kernel_rls(), %s: %s cannot %s",
                 "cross_validate() and the like of them", who, "rank within queries",
                 class = "sparsels_error_ranking")
    },
    lacking = c(setdiff(fitters, c("greedy_rls", "random_selection", "rls", "kernel_rls")),
                "greedy_likelihood", "lambda_max", "panel_error", "judge", "learning_curve")
  )
}

# Centring ----------------------------------------------------------------------------------------

# The rows whose scores may all be moved by a constant: the query of each row in a ranking, its
# stratum in a Cox model, all rows for ordered classes. NULL where a constant matters.
free_units <- function(problem) {
  if (is_ranked(problem)) as.integer(problem$rows$query) else
    if (is_cox(problem)) strata_of(problem) else if (has_cutpoints(problem)) rep(1L, nrow(problem))
}

# Whether responses have one value in all rows, which is 0 where they are not `centred`.
are_constant <- function(y, centred = TRUE) {
  vapply(seq_len(ncol(y)), function(l) all(y[, l] == if (centred) y[1L, l] else 0), NA)
}

# Whether the data were given with an intercept. A baseline hazard or cutpoints may take its place.
has_given_intercept <- function(problem) {
  problem$coding$intercept || is_cox(problem) || has_cutpoints(problem)
}

# Whether columns are centred: by an intercept, or because no constant matters.
is_centred <- function(problem) problem$coding$intercept || !is.null(free_units(problem))

# Values of rows (rows x any) about the weighted means of the units within which no constant
# matters, or unchanged without such units. The second pass removes the rounding error of the first.
centre_within <- function(problem, values) {
  unit <- free_units(problem)
  if (is.null(unit)) return(values)
  w <- problem$rows$weight
  # rows of units without any weight are centred at their plain mean
  w[!unit %in% unit[w > 0]] <- 1
  total <- rowsum(w, unit)[, 1L]
  place <- match(unit, as.integer(names(total)))
  size <- dim(values)
  out <- matrix(values, NROW(values))
  for (pass in 1:2) out <- out - (rowsum(w * out, unit) / total)[place, , drop = FALSE]
  if (is.null(size)) unname(out[, 1L]) else array(out, size, dimnames(values))
}

# Covariates about the means of these units. Covariates that do not vary within them are exactly 0.
centred_covariates <- function(problem) {
  z <- centre_within(problem, problem$z)
  if (!is.null(free_units(problem))) z[, sum_of_squares(problem, problem$z) == 0] <- 0
  z
}

# Values of kernels (rows x terms) about the means of queries, in rows and, where the terms are the
# rows, also in terms.
centred_kernel <- function(problem, K, terms = TRUE) {
  if (!is_ranked(problem)) return(K)
  K <- centre_within(problem, K)
  if (terms) centre_within(problem, t(K)) else K
}

# why a column is excluded
excluded_words <- function(problem) {
  paste(if (is_ranked(problem)) "constant within queries" else "constant",
        "or collinear with the covariates")
}

# The scores that have these residuals (m x L). With queries they are centred at the mean of each,
# as a model contains no information about the level of a query.
scores_of <- function(problem, residual) centre_within(problem, problem$rows$y - residual)

# Scores of some rows of a problem as results keep them: centred where no constant matters, as by
# scores_of().
scores_of_rows <- function(problem, scores, rows = seq_len(nrow(problem))) {
  if (is.null(free_units(problem))) scores else centre_within(scored_rows(problem, rows), scores)
}

# Scores of rows held out from the scores of all rows by the Cox model without them, about the means
# of its training rows, so that the scores by different models are comparable.
held_out_scores <- function(problem, scores, rows) {
  problem$rows$weight[rows] <- 0
  centre_within(problem, scores)[rows, , drop = FALSE]
}

# Residuals of scores (m x L, or m x L x models) of all rows.
residuals_of <- function(problem, scores) {
  centre_within(problem, as.vector(problem$rows$y) - scores)
}

# The problem with some rows of everything but x, as scoring takes it.
scored_rows <- function(problem, rows) {
  count <- nrow(problem$rows)
  problem$rows <- some_rows(problem$rows, rows)
  problem$z <- problem$z[rows, , drop = FALSE]
  if (!is.null(problem$left_out)) problem$left_out <- problem$left_out[rows, , drop = FALSE]
  if (!identical(as.integer(rows), seq_len(count))) problem[c("kept", "na.action")] <- NULL
  problem
}

# Refusals ----------------------------------------------------------------------------------------

# Refuses sets of rows to be held out together that contain only a part of some query.
check_whole_rows <- function(problem, rows) {
  if (!is_ranked(problem)) return(invisible())
  rest <- seq_len(nrow(problem))[-rows]
  split <- rest[problem$rows$query[rest] %in% problem$rows$query[rows]]
  stop_input_if(length(split),
                "`rows` must hold whole queries, but row %d of query '%s' is not among them",
                split[1L], problem$rows$query[split[1L]])
}

# Refuses a partition of queries by other labels, and of a single query.
check_whole_queries <- function(problem, groups, strata) {
  if (!is_ranked(problem)) return(invisible())
  given <- c(groups = !is.null(groups), strata = !is.null(strata) && !isFALSE(strata))
  stop_input_if(any(given), "`%s` cannot be used with queries, which folds hold whole",
                names(which(given))[1L])
  stop_input_if(nlevels(problem$rows$query) < 2L,
                "`within` has a single query here: it leaves none to train on")
}

# The strata within which responses are permuted, as numbers: by default the queries.
permutation_strata <- function(problem, strata) {
  if (!is_ranked(problem)) return(strata)
  stop_argument_if(!is.null(problem$rows$group),
                   "`groups` cannot be used with `within`: responses are permuted within queries")
  if (is.null(strata)) query_numbers(problem) else strata
}

# Groups of rows -----------------------------------------------------------------------------------

# Labels of rows: the queries of a ranking and the groups of rows, such as the samples of a patient.
# The rows of a group are in the same part of every partition that a function draws.

#' Rows that belong together
#'
#' Rows of one patient, family, animal, plate or hospital are alike. An error estimate that trains
#' on some of them and tests on others is too small: the model recognises the patient. Groups of
#' rows are given once, by the argument `groups` of [as_problem()], and every function then keeps
#' them whole.
#'
#' `groups` is a vector with one value per row, the name of a column of `data`, of the data frame
#' `x` or of the sample data of an experiment, or a one-sided formula such as `~ patient`
#' (`~ site + patient`: the combinations of both). With a formula `x` it may be an expression, as
#' `weights` may. It follows `subset` and `na.action`. Variables in it are not candidates. `FALSE`
#' removes the groups.
#'
#' The groups are kept whole by the folds of a search (`folds`), the folds for the choice of size
#' (`size_folds`), the outer folds of [cross_validate()] and [judge()], the random splits of
#' [compare_methods()] and [learning_curve()], and the halves of [stability_selection()].
#' [permutation_test()] and [added_value()] exchange whole groups, and the interval of
#' [added_value()] counts groups, not rows. Leave-one-out becomes leave-one-group-out, and `print()`
#' says so. [class_probabilities] are calibrated on the scores held out by these folds.
#'
#' Drawn folds and splits have the classes of the groups in proportion. Without this, a fold with
#' more patients of one class leaves fewer of them to train on, and data without a signal have an
#' error above one half. [make_folds()] of a matrix has no classes: give it `strata`, too.
#'
#' **Other ways.** All functions that judge a method take `groups` among their arguments, also for a
#' problem. Folds made by `make_folds(x, groups = patient)` and grouped resamples of rsample say the
#' groups, too, wherever they are given (`folds`, `size_folds`, `outer`), for a problem without
#' groups. A number of folds above the number of groups gives as many folds as there are groups.
#' Folds given as ids, one for each row, do not say why rows are in one fold: folds for the
#' choice of size and random parts of the rows keep such rows together where they can, and tests and
#' intervals count single rows. Give `groups`.
#'
#' The learners of mlr3 take the groups from the role `group` of a column of the task, and
#' [step_select_sparsels()] from the column that its argument `groups` names.
#'
#' With a ranking ([ranking]) every query must lie in one group. Partitions keep the groups whole,
#' and so the queries.
#'
#' @section Errors: `sparsels_error_input` for a single group, missing labels, and for folds given
#'   that split a group. `sparsels_error_groups` by methods that hold out single rows only:
#'   [lowrank_lssvm()] and [cv_variance()].
#'
#' @seealso [make_folds()], [cross_validate()], [worst_study], criteria that compare groups
#' @examples
#' set.seed(1)
#' patient <- rep(1:12, each = 3)
#' x <- matrix(rnorm(12 * 20), 12)[patient, ] + matrix(rnorm(36 * 20, sd = 0.2), 36)
#' y <- factor(rep(c("ill", "well"), 6))[patient]
#' # x is independent of y, so an error rate below 0.5, as in the first line, is too small
#' cross_validate(x, y, rls, baselines = NULL)$estimate
#' cross_validate(x, y, rls, groups = patient, baselines = NULL)$estimate
#' problem <- as_problem(x, y, groups = patient)
#' problem
#' @name row_groups
NULL

# As given ----------------------------------------------------------------------------------------

# A factor with levels in order of appearance from an argument of as_problem(): a vector, the name
# of a column of `data`, or a one-sided formula in it. NULL if there is none.
read_row_labels <- function(labels, name, data, rows, hint = omit_hint) {
  if (is.null(labels) || isFALSE(labels)) return(NULL)
  if (rows > 1L) labels <- labels_in(data, labels, name)
  labels <- plain_labels(labels)
  place <- check_row_labels(labels, name, rows, hint)
  factor(place, labels = as.character(labels[!duplicated(place)]))
}

# Values of the rows by the name of a column or a formula, as a vector. Others are unchanged.
labels_in <- function(data, labels, name) {
  if (!inherits(labels, "formula")) {
    if (!is_string(labels)) return(labels)
    if (is.data.frame(data) && labels %in% names(data)) return(data[[labels]])
    stop_input("`%s` is \"%s\", %s", name, labels, no_column_words(data))
  }
  stop_input_if(length(labels) != 2L, "the formula `%s` must be one-sided, such as `~ %s`", name,
                c(within = "query", groups = "patient", strata = "class", weights = "weight",
                  offset = "log(size)")[[name]])
  unknown <- unknown_variables(labels, data, environment(labels))
  stop_input_if(length(unknown), "`%s`: no variable %s in `data`", name, some_of(unknown))
  code <- labels[[2L]]
  if (!name %in% c("weights", "offset")) code <- crossed_terms(code)
  user_value(eval(code, data, environment(labels)), sprintf("`%s`", name))
}

# The labels of ~ site + patient are the combinations of both, and so they are with the other
# operators of formulas, such as ~ site / patient.
crossed_terms <- function(code) {
  terms <- terms_to_cross(code)
  if (length(terms) == 1L) return(terms[[1L]])
  as.call(c(quote(base::interaction), terms, drop = TRUE, sep = " / "))
}

terms_to_cross <- function(code) {
  if (is_call_of(code, "(")) return(terms_to_cross(code[[2L]]))
  two <- is.call(code) && length(code) == 3L
  stop_input_if(two && is_call_of(code, "|") && is_number(code[[2L]]),
                "`%s` is no label of rows: write `~ %s`", deparse1(code), deparse1(code[[3L]]))
  crossed <- two && is_call_of(code, c("+", ":", "*", "/", "%in%")) &&
    !is_number(code[[2L]]) && !is_number(code[[3L]])
  if (crossed) c(terms_to_cross(code[[2L]]), terms_to_cross(code[[3L]])) else list(code)
}

# Whether an argument is an expression of variables of the data.
is_in_data <- function(expression, data) any(all.vars(expression) %in% names(data))

# The code of values of the rows that are an expression of variables of the data, the name of a
# variable, or a one-sided formula, whose right side of_formula() may change. NULL for values.
row_code <- function(value, data, expression = NULL, of_formula = identity) {
  given <- if (is_in_data(expression, data)) expression else value
  if (is_string(given) && given %in% names(data)) return(as.name(given))
  if (is_call_of(given, "~")) of_formula(given[[2L]]) else if (is.language(given)) given
}

# Variables of the data that label rows, and are therefore no candidates.
label_variables <- function(arguments) {
  unlist(lapply(arguments, function(labels) {
    if (inherits(labels, "formula")) all.vars(labels) else if (is_string(labels)) labels
  }))
}

# The message about rows that are copies of others, also in the response, as of samples that were
# measured once and entered twice. Whole numbers may agree by chance, and curves of them are not
# whole. `FALSE` as groups is no message.
say_copied_rows <- function(problem) {
  x <- if (is_computed(problem$x)) unclass(problem$x)$source else if (has_curves(problem)) {
    problem$x[, match(data_names(problem), problem$columns$name), drop = FALSE]
  } else {
    problem$x
  }
  whole <- is.integer(x) || is.logical(x)
  if (whole || is_read_in_place(x) || ncol(x) < 2L || length(x) > 1e8) return()
  if (is_ranked(problem)) return()
  key <- signif(as.vector(as.matrix(x %*% sin(seq_len(ncol(x))))), 10L)
  # texts take long, so only rows whose key comes again have one
  again <- which(key %in% key[duplicated(key)])
  pair <- paste(key[again], problem$rows$y[again, 1L])
  place <- replace(seq_along(key), again, again[match(pair, pair)])
  copies <- which(place != seq_along(place))
  if (length(copies) < 2L || length(copies) * ncol(x) > 1e7) return()
  values <- as.matrix(x[copies, , drop = FALSE])
  same <- rowSums(values != as.matrix(x[place[copies], , drop = FALSE])) == 0 &
    rowSums(values != round(values)) > 0
  message_if(sum(same) > 1L, "sparsels_message_copies",
             "%d rows are copies of other rows, also in the response (first: rows %d and %d): %s",
             sum(same), place[copies[same][1L]], copies[same][1L],
             "if they are of the same samples, give `groups`, which folds keep whole")
}

# The message about weights of classes that may count rows, as in the data frame of a table. Two
# values may be costs.
say_counted_rows <- function(problem) {
  weights <- case_weights(problem)
  counts <- all(weights == round(weights)) && length(unique(weights)) > 2L
  message_if(has_classes(problem) && counts, "sparsels_message_weights",
             "`weights` are whole numbers, up to %s: if they count rows, %s, as %s has",
             format(max(weights)), "held-out errors need a row for each",
             "d[rep(seq_along(weights), weights), ]")
}

# The problem with these groups of rows, FALSE for none. A query lies in one group.
with_row_groups <- function(problem, groups, data = NULL) {
  group <- read_row_labels(groups, "groups", data, nrow(problem))
  stop_input_if(!is.null(group) && nlevels(droplevels(group[problem$rows$weight > 0])) < 2L,
                "`groups` must have at least 2 groups: a single one leaves no row to train on")
  apart <- if (is_ranked(problem) && !is.null(group)) first_apart(problem$rows$query, group)
  stop_input_if(length(apart),
                "`groups` must hold whole queries, but rows %d and %d of query '%s' are %s",
                apart[1L], apart[2L], problem$rows$query[apart[1L]], "in two groups")
  problem$rows$group <- group
  problem
}

# The first two rows of one group or query that have different labels, or NULL.
first_apart <- function(unit, labels) {
  second <- which(labels != labels[match(unit, unit)])[1L]
  if (!is.na(second)) c(match(unit[second], unit), second)
}

# Centring within groups --------------------------------------------------------------------------

#' Columns centred within groups of rows
#'
#' Studies, laboratories and batches differ in place and scale: the same gene has other means and
#' other units in each. With `center_groups = "columns"` of [as_problem()], the mean of every column
#' over the rows of a group is subtracted from these rows. With `"scale"` the columns are then
#' divided by their standard deviation there (divisor: the number of rows), unless this is 0.
#'
#' The means are of the rows of the group alone, each counting once, whatever its weight. They need
#' no response. Partitions keep groups whole, so that no mean mixes rows to train on with rows held
#' out, and a group that is held out is centred by its own rows.
#'
#' **New rows** are a new cohort and are centred by their own means: `predict(newdata, groups = )`
#' has the cohort of each row, and without it all rows of `newdata` are one cohort. This assumes
#' that the cohort is as a whole like the groups of the training set, with cases in similar shares.
#' A prediction of a row depends on the other rows of its cohort. A cohort of one row has no mean to
#' be centred by, and is refused. A problem as `newdata` is centred already if it was made with the
#' same `center_groups`. Rows taken from a problem, `pb[rows, ]`, keep the values that they have.
#'
#' Models have an intercept as before. A difference between groups in the response is not removed:
#' covariates by group, such as `adjust = ~ study`, are for that, and a new study then has no
#' coefficient. Within a ranking ([ranking]) all columns are centred within queries by the search
#' itself, with weights.
#'
#' In `bench/center-groups.R` of the sources, six studies of 40 rows, the relative error of
#' [greedy_rls()] in a new study falls from 0.97 to 0.51 where the means of the columns differ
#' between studies, and with `"scale"` from 0.90 to 0.54 where their scales differ, too. It rises
#' from 0.534 to 0.541 where studies do not differ.
#'
#' @section Errors: `sparsels_error_input` for data without groups, for groups and cohorts of one
#' row, and for matrices that are sparse, of single precision or in files. [as_panel()] refuses such
#' a fit, as a panel predicts each row alone.
#'
#' @seealso [row_groups], [worst_study], [covariates]
#' @examples
#' set.seed(1)
#' study <- rep(1:4, each = 15)
#' signal <- rnorm(60)
#' x <- matrix(rnorm(60 * 20), 60) + 3 * rnorm(4)[study]
#' x[, 1] <- x[, 1] + signal
#' problem <- as_problem(x, signal, groups = study, center_groups = "columns")
#' problem
#' fit <- greedy_rls(problem, k = 3, size = 1)
#' # a new cohort, in other units
#' new <- matrix(rnorm(10 * 20), 10) + 7
#' predict(fit, new)
#' @name center_groups
NULL

center_rules <- c("none", "columns", "scale")

# x of as_problem(), centred within its groups of rows.
centered_in_groups <- function(x, groups, data, rule, called) {
  check_choice(rule, "center_groups", center_rules)
  if (rule == "none") return(x)
  group <- read_row_labels(groups, "groups", data, nrow(x))
  stop_argument_if(is.null(group), "`center_groups = \"%s\"` needs `groups`", rule)
  stop_argument_if(is_read_in_place(x) || inherits(x, "dgCMatrix"),
                   "`center_groups` is for a dense `%s` in memory, as it changes all values",
                   called)
  center_within(x, group, rule, "groups")
}

# A dense matrix with its columns centred, or centred and scaled, within groups of rows. Missing
# values stay missing.
center_within <- function(x, group, rule, called) {
  alone <- names(which(table(group) == 1L))
  stop_input_if(length(alone),
                "`%s` has one row in %s, which has no mean to be centred by: %s", called,
                some_of(alone), "give several rows of a group, or leave the row out")
  storage.mode(x) <- "double"
  for (rows in split(seq_len(nrow(x)), group)) {
    part <- x[rows, , drop = FALSE]
    # the second pass removes the rounding error of the first
    for (pass in 1:2) part <- part - rep(colMeans(part, na.rm = TRUE), each = length(rows))
    if (rule == "scale") {
      scale <- sqrt(colMeans(part^2, na.rm = TRUE))
      part <- part / rep(ifelse(is.na(scale) | scale <= 1e-13, 1, scale), each = length(rows))
    }
    x[rows, ] <- part
  }
  x
}

# Values of new rows, centred as the problem is: within the cohorts of the rows.
centered_cohorts <- function(problem, newdata, x) {
  rule <- problem$coding$center_groups
  cohort <- problem$cohorts
  if (inherits(newdata, "sparsels_problem")) {
    own <- newdata$coding$center_groups
    if (identical(own, rule)) return(x)
    stop_newdata_if(!is.null(own),
                    "`newdata` is a problem with `center_groups = \"%s\"`, not \"%s\" as the fit",
                    own, rule)
    if (is.null(cohort)) cohort <- newdata$rows$group
  }
  if (is.null(cohort)) cohort <- factor(rep("newdata", nrow(x)))
  stop_newdata_if(length(cohort) != nrow(x),
                  "`groups` must have %d values, as `newdata` has rows, not %d", nrow(x),
                  length(cohort))
  if (nrow(x)) center_within(as.matrix(x), droplevels(cohort), rule, "groups") else x
}

# A fit with the cohorts of new data, which `groups` of predict() has.
with_cohorts <- function(fit, groups, newdata) {
  if (is.null(groups)) return(fit)
  stop_newdata_if(is.null(fit$problem$coding$center_groups),
                  "`groups` is for fits to data with `center_groups`: leave it out")
  data <- as_frame(newdata)
  fit$problem$cohorts <- read_row_labels(groups, "groups", data, NROW(data), hint = "")
  fit$problem <- seal_again(fit$problem)
  seal_again(fit)
}

# Of a problem ------------------------------------------------------------------------------------

# The groups of rows that partitions keep whole, or else queries, as a number for each row. NULL
# where each row is by itself.
whole_units <- function(problem) {
  if (is_ranked(problem) && is.null(problem$rows$group)) query_numbers(problem) else
    group_numbers(problem)
}

# Words about units that are kept whole, in which a ranking without groups has queries.
unit_label <- function(words, problem) {
  if (!is_ranked(problem) || !is.null(problem$rows$group)) return(words)
  words <- sub("^leave-one-group-out, .*", "leave-query-out", words)
  sub("groups", "queries", words, fixed = TRUE)
}

# the group of each row as a number, or NULL
group_numbers <- function(problem) if (!is.null(problem$rows$group)) as.integer(problem$rows$group)

# The number of rows a model is trained on. A row of weight 0 is zero in working coordinates. It
# does not influence the model and is predicted like new data.
trained_rows <- function(problem) sum(problem$rows$weight > 0)

# The number of rows with a weight of each of the `labels` that has one.
trained_counts <- function(problem, labels) {
  counts <- table(labels[problem$rows$weight > 0])
  counts[counts > 0L]
}

# The rows with a weight of each of several sets.
with_weight <- function(sets, problem) {
  lapply(sets, function(rows) rows[problem$rows$weight[rows] > 0])
}

# Refuses folds that separate rows of one query or of one group.
check_whole_units <- function(problem, folds) {
  for (unit in c("query", "group")) {
    if (is.null(problem$rows[[unit]])) next
    for (repetition in seq_len(ncol(folds$ids))) {
      apart <- first_apart(problem$rows[[unit]], folds$ids[, repetition])
      if (!length(apart)) next
      stop_input(
        "`folds` must hold whole %s, but rows %d and %d of %s '%s' are in two folds: %s",
        if (unit == "query") "queries" else "groups", apart[1L], apart[2L], unit,
        problem$rows[[unit]][apart[1L]],
        if (unit == "query") "scores are compared within a query alone"
        else "the model would be tested on a group that it was trained on"
      )
    }
  }
}

# Refuses resamples that train on some rows of a query or group and hold out other rows of it.
check_whole_parts <- function(problem, parts) {
  unit <- if (is.null(problem$rows$group)) "query" else "group"
  label <- problem$rows[[unit]]
  for (i in seq_len(nrow(parts))) {
    shared <- intersect(label[parts$rows[[i]]], label[parts$trained[[i]]])
    stop_input_if(length(shared), "resample %d of the rsample object splits %s '%s': %s", i, unit,
                  shared[1L], "it trains on rows of it, too")
  }
}

# Censored times -----------------------------------------------------------------------------------

# A Surv response of the survival package, coded as code_response() codes any other, but without
# `y`. coded_times() makes `y`, as it depends on the weights.
code_times <- function(y, name, task) {
  stop_input_if(identical(task, "classification"),
                "`task = \"classification\"` needs classes, but `%s` has censored times", name)
  late <- attr(y, "type") == "counting"
  # Surv() itself refuses intervals that end before they start
  bad <- if (!late) which(y[, "time"] < 0)
  stop_input_if(length(bad), "`%s` has %s below 0 (first: row %d, %s): leave these rows out", name,
                counted(length(bad), "time"), bad[1L], format(y[bad[1L], "time"]))
  joined <- join_times(unclass(y)[, if (late) c("start", "stop") else "time", drop = FALSE])
  time <- unname(joined[, ncol(joined)])
  short <- if (late) which(joined[, "start"] >= time)
  stop_input_if(length(short), "`%s` has %s without length but for rounding (first: row %d): %s",
                name, counted(length(short), "interval"), short[1L], "leave these rows out")
  times <- c(if (late) list(start = unname(joined[, "start"])),
             list(time = time, event = unname(y[, "status"]) == 1))
  list(y = NULL, task = "regression", levels = NULL, times = times,
       no_logs = if (late || any(time <= 0) || all(time == time[1L])) TRUE)
}

# Times of which neighbours that differ by rounding alone are equal, as survival::coxph() takes
# them: computed times, such as differences of dates in years, would otherwise not be ties.
join_times <- function(times) {
  values <- sort(unique(as.vector(times)))
  distinct <- c(TRUE, diff(values) > rounding_of_times(values))
  times[] <- values[distinct][findInterval(times, values[distinct])]
  times
}

rounding_of_times <- function(values) sqrt(.Machine$double.eps) * mean(abs(values))

# Refuses other kinds of times, and intervals that Surv() has left out, which it only warns of.
check_intervals <- function(y, name) {
  if (!inherits(y, "Surv")) return(invisible())
  type <- attr(y, "type")
  stop_input_if(!type %in% c("right", "counting"),
                "`%s` must be %s or %s, not of type \"%s\": %s", name,
                "right-censored times, Surv(time, status)",
                "intervals, Surv(start, stop, status)", type,
                if (!startsWith(type, "m"))
                  "survival::survreg() takes left- and interval-censored times" else
                  "for one kind of event give Surv(time, event == \"death\")")
  if (type != "counting") return(invisible())
  bad <- which(is.na(y[, "start"]) & !is.na(y[, "stop"]) | y[, "start"] >= y[, "stop"])
  stop_input_if(length(bad),
                "`%s` has %s whose start is missing or not before its stop (first: row %d): %s",
                name, counted(length(bad), "interval"), bad[1L], "leave these rows out")
}

is_survival <- function(problem) !is.null(problem$rows$event)

# Whether rows enter late, by Surv(start, stop, status).
is_truncated <- function(problem) !is.null(problem$rows$start)

# Whether the times of the data have no working response: with intervals, with times of 0, or with
# one time, as conditional logistic regression has it.
has_no_logs <- function(problem) isTRUE(problem$coding$no_logs)

# The response of a problem of censored times: for a Cox model whether a row has an event, less its
# offset, otherwise the working response.
response_of_times <- function(problem) {
  y <- coded_times(problem$rows, problem$rows$weight, problem$coding$response,
                   is_cox(problem) || has_no_logs(problem))
  if (is_cox(problem)) in_working_units(problem, y) else y
}

# The working response of times in words.
words_of_times <- function(problem) {
  if (is_cox(problem) || has_no_logs(problem)) "events" else "minus log times"
}

# The working response of times for these weights. For an event it is minus the logarithm of the
# time. For a censored row it is minus the mean logarithm of the times beyond its own, by the
# Kaplan-Meier curve of the training rows. With `events` it is the event.
coded_times <- function(times, weights, name, events) {
  trained <- weights > 0
  stop_input_if(!any(times$event[trained]),
                "`%s` has no event in the %s trained on: every time is censored", name,
                counted(sum(trained), "row"))
  if (events) return(matrix(as.double(times$event)))
  log_time <- log(times$time)
  curve <- kaplan_meier(times, weights)
  # the mass beyond each time, and the sum of mass times log time there
  place <- findInterval(times$time, curve$time)
  beyond <- c(rev(cumsum(rev(curve$mass))), 0)[place + 1L]
  sums <- c(rev(cumsum(rev(curve$mass * log(curve$time)))), 0)[place + 1L]
  matrix(-ifelse(times$event | beyond <= 0, log_time, pmax(sums / beyond, log_time)))
}

# The distribution of times by Kaplan and Meier: the mass at each time of the rows of positive
# weight. The mass left after the last event is put on the largest time (Efron 1967).
kaplan_meier <- function(times, weights) {
  rows <- weights > 0
  time <- sort(unique(times$time[rows]))
  at <- match(times$time[rows], time)
  total <- function(w) as.vector(rowsum(w, at))
  leaving <- total(weights[rows])
  events <- total(weights[rows] * times$event[rows])
  at_risk <- rev(cumsum(rev(leaving)))
  curve <- cumprod(1 - events / at_risk)
  mass <- c(1, curve[-length(curve)]) - curve
  mass[length(mass)] <- mass[length(mass)] + curve[length(curve)]
  list(time = time, mass = mass)
}

# Strata -------------------------------------------------------------------------------------------

# Strata have baseline hazards of their own, so that rows are compared within a stratum alone.

is_stratified <- function(problem) !is.null(problem$rows$stratum)

# the stratum of each row as a number
strata_of <- function(problem) {
  if (is_stratified(problem)) as.integer(problem$rows$stratum) else rep(1L, nrow(problem))
}

# Whether an offset is of censored times, whose risk it is a part of.
has_risk_offset <- function(problem) is_survival(problem) && !is.null(problem$rows$offset)

# Whether the logarithms of the times say all of them.
has_plain_times <- function(problem) {
  !has_no_logs(problem) && !is_stratified(problem) && !has_risk_offset(problem)
}

# Refuses data without log times, with strata or an offset, for what works on log times.
refuse_for_log_times <- function(problem, who, instead = "l1_path(loss = \"cox\")") {
  stop_input_if(is_truncated(problem), "%s works on the logarithms of times, not on %s: take %s",
                who, "intervals Surv(start, stop, status)", instead,
                class = "sparsels_error_truncation")
  stop_input_if(is_stratified(problem), "%s does not take `strata`: take %s, or `adjust`", who,
                instead, class = "sparsels_error_strata")
  stop_input_if(has_risk_offset(problem),
                "%s works on the logarithms of times, and `offset` is of the risk: take %s", who,
                instead)
  if (!has_no_logs(problem)) return(invisible())
  time <- problem$rows$time
  zero <- which(time == 0)
  stop_input_if(all(time == time[1L]),
                "%s works on the logarithms of times, but all times are the same: take %s", who,
                instead)
  stop_input(paste("%s needs times above 0, as it takes their logarithms, but %s 0",
                   "(first: row %d): give half of the shortest other time, %s, leave these rows",
                   "out, or take %s"),
             who, if (length(zero) == 1L) "1 time is" else sprintf("%d times are", length(zero)),
             zero[1L], shown_parameter(min(time[time > 0]) / 2), instead)
}

# Cox ----------------------------------------------------------------------------------------------

# A problem as a Cox model takes it has the events as its response, no intercept, and in `coding`
# how ties are dealt with.

is_cox <- function(problem) !is.null(problem$coding$ties)

# When the rows of positive weight are at risk. The times with an event are moments, which are
# numbered from 0, stratum by stratum. `first` is the first moment of the stratum of each moment. A
# row is at risk at the moments from `from` to before `to`, and at its own `event`, otherwise -1.
# `late` is whether rows enter after the first moment of their stratum.
risk_sets <- function(problem) {
  rows <- problem$rows
  start <- if (is_truncated(problem)) rows$start else rep(-Inf, nrow(problem))
  trained <- which(rows$weight > 0)
  from <- to <- integer(nrow(problem))
  event <- rep(-1L, nrow(problem))
  first <- time <- NULL
  late <- FALSE
  for (own in split(trained, strata_of(problem)[trained])) {
    died <- own[rows$event[own]]
    moments <- sort(unique(rows$time[died]))
    before <- length(first)
    from[own] <- before + findInterval(start[own], moments)
    to[own] <- before + findInterval(rows$time[own], moments)
    to[died] <- event[died] <- to[died] - 1L
    late <- late || any(from[own] > before & (from[own] < to[own] | event[own] >= 0L))
    first <- c(first, rep(before, length(moments)))
    time <- c(time, moments)
  }
  list(first = as.integer(first), from = from, to = to, event = event, late = late, time = time)
}

# the same as C reads it
risk_input <- function(problem) {
  risk <- risk_sets(problem)
  risk$late <- as.integer(risk$late)
  c(risk[c("first", "from", "to", "event", "late")],
    efron = as.integer(problem$coding$ties == "efron"))
}

# whether more than the rows of its events are at risk at each moment
informs <- function(problem, risk = risk_sets(problem)) {
  count <- length(risk$first)
  tied <- tabulate(risk$event + 1L, count)
  rows <- risk$from < risk$to
  changes <- tabulate(risk$from[rows] + 1L, count + 1L) - tabulate(risk$to[rows] + 1L, count + 1L)
  cumsum(changes)[seq_len(count)] > 0L | tied > 1L
}
