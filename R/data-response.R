# The response and the case weights: their coding, and the checks that refuse them.

# list(y = m x L coded, task, levels)
#' @srrstats {G2.4c} `R/data-response.R`, for classes
#' @srrstats {G2.5} the order of a response counts with `loss = "ordinal"`. Elsewhere a message says
#'   that it does not, and offers this loss or numbers
code_response <- function(y, rows, called, task = NULL, columns = 0L, centred = TRUE) {
  name <- called[["y"]]
  if (!is.null(task)) check_choice(task, "task", c("regression", "classification"))
  stop_input_if(is.null(y), "`%s` is missing: the response is needed", name)
  y <- single_column(plain_variable(y), name)
  if (NROW(y) != rows) {
    turned <- if (NROW(y) == columns && columns > 1L) {
      sprintf(": its %d columns may be the samples, then give t(x)", columns)
    } else if (NCOL(y) == rows) {
      sprintf(": its %d columns may be the samples, then give t(%s)", rows, name)
    } else {
      named_columns_hint(y, "a data frame", "%s ~ .")
    }
    stop_input("`%s` must have one value for each of the %d rows of `%s`, not %d%s", name, rows,
               called[["x"]], NROW(y), turned)
  }
  check_intervals(y, name)
  check_response_values(if (inherits(y, "Surv")) unclass(y) else y, name)
  if (inherits(y, "Surv")) return(code_times(y, name, task))
  task <- assumed_task(y, name, task)
  if (is.numeric(y) && !identical(task, "classification")) return(code_numbers(y, name, centred))
  code_classes(y, name)
}

# The task of a response, NULL where its type says it. Refuses a response that does not suit the
# task. For numbers that may be codes of classes a message names the assumed task.
assumed_task <- function(y, name, task) {
  stop_input_if(identical(task, "regression") && !is.numeric(y),
                "`task = \"regression\"` needs numbers, but `%s` is %s: %s", name, describe(y),
                "leave out `task` for classes, or make it numeric")
  stop_input_if(identical(task, "classification") && length(dim(y)) == 2L,
                "`task = \"classification\"` needs one column, but `%s` has %d: %s", name, ncol(y),
                "give the classes as one vector")
  if (!is.null(task)) return(task)
  if (is.numeric(y) && is.null(dim(y)) && has_few_codes(y)) return(task_of_codes(y, name))
  message_if(
    is.ordered(y) && nlevels(y) > 2L, "sparsels_message_task",
    "`%s` is an ordered factor, so %d classes without order are assumed: for their order %s %s",
    name, nlevels(y), "give l1_path() a loss of ordered classes (?l1_losses), or other methods",
    "as.integer() of it with `task = \"regression\"`"
  )
  # Text that is numbers, as files with a mark for missing values give it, is no class: hardly a row
  # would share its class.
  words <- if (is.character(y) || is.factor(y)) unique(as.character(y[!is.na(y)]))
  stop_input_if(
    length(words) > max(10, length(y) / 2) && are_numbers(words),
    "`%s` is %s of %d different numbers in %d rows: give as.numeric(as.character(%s)), %s", name,
    if (is.factor(y)) "a factor" else "text", length(words), length(y), name,
    "or for classes `task = \"classification\"`"
  )
  if (is.numeric(y) && NCOL(y) == 2L) say_two_columns(y, name)
  NULL
}

# The task of numbers that may be codes of classes: regression, unless for_loss() invokes the
# restart for a loss of classes.
task_of_codes <- function(y, name) {
  say <- function(...) {
    message_sparsels(sprintf("`%s` is numeric (%d values: %s), %s", name, length(unique(y)),
                             some_of(sort(unique(as.vector(y))), 10L, ""), paste0(...)),
                     "sparsels_message_task")
  }
  withRestarts({
    say("so regression is assumed: for classes give `task = \"classification\"` or a factor, ",
        "for numbers `task = \"regression\"`")
    "regression"
  }, sparsels_classes = function(loss) {
    say("so classes are assumed, as `loss = \"", loss, "\"` needs them")
    "classification"
  })
}

# The message about two columns of numbers that may be times and their status, or successes and
# failures, which have names, one sum in all rows or a count of 0.
say_two_columns <- function(y, name) {
  status <- apply(y, 2L, function(values) {
    length(unique(values)) == 2L && (all(values %in% 0:1) || all(values %in% 1:2))
  })
  times <- sum(status) == 1L && all(y >= 0)
  counts <- any(grepl("^(succ|fail)", colnames(y), ignore.case = TRUE)) ||
    all(y >= 0 & y == round(y)) && any(y[, 1L] != y[1L]) &&
      (length(unique(rowSums(y))) == 1L || any(y == 0) && any(y > 1))
  message_if(
    times || counts, "sparsels_message_task",
    "`%s` is a matrix of 2 columns%s, so 2 numeric responses are assumed: for %s", name,
    if (times) sprintf(", the %s with two values", c("first", "second")[status]) else "",
    if (times) "censored times give survival::Surv(time, status)" else
      paste("successes and failures give the share of successes, the sums as `weights` and",
            "`loss = \"binomial\"`, of greedy_rls() and l1_path()")
  )
}

# The vector in a matrix or data frame of one column. Anything else is returned unchanged.
#' @srrstats {G2.2} `single_column()` in `R/data-response.R` and the checks of `R/base-check.R`
single_column <- function(y, name) {
  if (inherits(y, "Surv")) return(y)
  if (is.data.frame(y) && length(y) == 1L) y <- y[[1L]]
  other <- if (is.data.frame(y)) which(!vapply(y, are_numeric, NA))
  stop_input_if(length(y) > 1L && length(other),
                "column '%s' of `%s` must be numeric, as several responses are, not %s",
                names(y)[other[1L]], name, describe(y[[other[1L]]]))
  if (is.data.frame(y)) y <- as.matrix(y)
  y <- plain_matrix(y)
  if (is.matrix(y) && ncol(y) == 1L) y <- y[, 1L]
  stop_input_if(length(dim(y)) == 2L && !ncol(y), "`%s` must have at least one column", name)
  is_numeric_response <- are_numeric(y) && length(dim(y)) %in% c(0L, 2L)
  is_class_response <- is.null(dim(y)) && (is.factor(y) || is.character(y) || is.logical(y))
  stop_input_if(!is_numeric_response && !is_class_response,
                "`%s` must be numeric, a factor, character, logical or Surv(), not %s%s", name,
                describe(y), number_hint(y))
  y
}

check_response_values <- function(y, name) {
  valid <- if (is.numeric(y)) is.finite(y) else !is.na(y)
  if (all(valid)) return(invisible())
  bad <- which(rowSums(!as.matrix(valid)) > 0)
  status <- colnames(y) %in% "status" & colSums(!as.matrix(valid)) == length(bad)
  stop_input_if(any(status), "the status of `%s` is missing in %s (first: row %d): %s", name,
                counted(length(bad), "row"), bad[1L],
                paste0("for other codes than 0 and 1 give such as Surv(time, status == 1)",
                       sub(":", ",", omit_hint)))
  kind <- if (!is.numeric(y)) "missing value" else
    if (anyNA(y)) "missing or infinite value" else "infinite value"
  stop_input("`%s` has %s (first: row %d)%s", name, counted(length(bad), kind), bad[1L],
             if (anyNA(y)) omit_hint else infinite_hint)
}

# Numbers must vary. Where models have no intercept (not `centred`), a constant other than 0 will
# do. One of several responses may be constant.
code_numbers <- function(y, name, centred) {
  y <- as.matrix(y)
  storage.mode(y) <- "double"
  constant <- which(are_constant(y, centred))
  where <- if (ncol(y) > 1L) sprintf(" of column %d", constant[1L]) else ""
  stop_input_if(length(constant) == ncol(y), "`%s` must vary, but is %s in every row%s", name,
                format(y[1L, constant[1L]]), where)
  check_encoding(colnames(y), sprintf("a name of `%s`", name), "column")
  nameless <- which(colnames(y) %in% c("", NA))
  colnames(y)[nameless] <- paste0(name, nameless)
  dimnames(y) <- if (!is.null(colnames(y))) list(NULL, colnames(y))
  list(y = y, task = "regression", levels = NULL)
}

#' @srrstats {G2.4d} `code_classes()` in `R/data-response.R`
code_classes <- function(y, name) {
  check_encoding(if (is.factor(y)) levels(y) else unique(as.character(y)),
                 sprintf("a class of `%s`", name), "class")
  y <- droplevels(as.factor(y))
  classes <- levels(y)
  stop_input_if(anyNA(classes), "`%s` has NA as a level: factor(as.character(%s)) %s", name, name,
                "makes missing values of it, and a name among its levels() makes it a class")
  stop_input_if(length(classes) < 2L, "`%s` must have at least two classes, but every row is '%s'",
                name, classes)
  coded <- 2 * outer(as.integer(y), seq_along(classes), "==") - 1
  colnames(coded) <- classes
  ordered <- if (is.ordered(y)) TRUE
  if (length(classes) > 2L) {
    return(list(y = coded, task = "multiclass", levels = classes, ordered = ordered))
  }
  list(y = unname(coded[, 2L, drop = FALSE]), task = "binary", levels = classes, ordered = ordered)
}

# Offset and units ---------------------------------------------------------------------------------

# Methods use the response less its offset. Several numeric responses are each divided by their
# weighted standard deviation, so that no search depends on their units. in_user_units() converts
# coefficients and predictions back.

# An offset for every row and response (m x L), or NULL.
check_offset <- function(offset, coded, rows) {
  if (is.null(offset)) return(NULL)
  stop_argument_if(coded$task != "regression",
                   "`offset` is for numbers and censored times, not for classes: %s",
                   "give two classes as 0 and 1 with `loss = \"binomial\"`")
  offset_matrix(offset, "offset", rows, max(1L, ncol(coded$y)))
}

# A vector is the offset of every response. New rows may lack it, whose predictions are NA.
offset_matrix <- function(offset, name, rows, responses, gaps = FALSE) {
  offset <- plain_variable(offset)
  if (is.data.frame(offset)) offset <- as.matrix(offset)
  refuse_unless(is.numeric(offset) && !is.object(offset), name, "numeric", offset)
  stop_argument_if(NROW(offset) != rows || !NCOL(offset) %in% c(1L, responses),
                   "`%s` must have a value for each of the %d rows%s, not %s", name, rows,
                   if (responses > 1L) sprintf(", or %d columns of them", responses) else "",
                   describe(offset))
  total <- rowSums(as.matrix(offset))
  bad <- which(!is.finite(total) & !(gaps & is.na(total)))
  stop_argument_if(length(bad), "`%s` must be finite, but is not in row %d%s", name, bad[1L],
                   if (is.na(total[bad[1L]])) omit_hint else "")
  matrix(as.double(offset), rows, responses)
}

# The offset of the rows of a problem of one response.
row_offset <- function(problem) {
  if (is.null(problem$rows$offset)) 0 else problem$rows$offset[, 1L]
}

# The weighted standard deviations of several numeric responses, or NULL. A constant response, which
# a model without an intercept can have, is divided by its size.
response_scales <- function(y, weights, task, standardize) {
  if (!standardize || task != "regression" || ncol(y) == 1L) return(NULL)
  mean_of <- function(values) colSums(weights * values) / sum(weights)
  size <- sqrt(mean_of(y^2))
  scale <- sqrt(mean_of((y - rep(mean_of(y), each = nrow(y)))^2))
  ifelse(scale > 1e-10 * size, scale, ifelse(size > 0, size, 1))
}

# Scores or coefficients (any x L, or x L x models) in the units of the responses, with an offset.
in_user_units <- function(problem, values, offset = NULL) {
  if (!is.null(problem$coding$response_scale)) {
    values <- values * rep(problem$coding$response_scale, each = nrow(values))
  }
  if (is.null(offset)) values else values + as.vector(offset)
}

# Scores (m x L) in the units of the responses as methods use them.
in_working_units <- function(problem, values, offset = problem$rows$offset) {
  if (!is.null(offset)) values <- values - as.vector(offset)
  if (is.null(problem$coding$response_scale)) return(values)
  values / rep(problem$coding$response_scale, each = nrow(values))
}

# The problem with its responses on another scale. A part of a problem has the scale of the whole.
with_response_scale <- function(problem, scale) {
  if (is.null(scale) || length(scale) != length(problem$coding$response_scale)) return(problem)
  ratio <- problem$coding$response_scale / scale
  problem$rows$y <- problem$rows$y * rep(ratio, each = nrow(problem))
  problem$columns$products <- problem$columns$products * rep(ratio, each = ncol(problem))
  problem$coding$response_scale <- scale
  problem
}

# The response in the user's units, for numeric responses.
user_response <- function(problem) in_user_units(problem, problem$rows$y, problem$rows$offset)

# The held-out R-squared of each response of a fit, or NULL for a single response.
response_r_squared <- function(problem, held_out) {
  if (ncol(problem$rows$y) > 1L) held_out_r_squared(problem, held_out)
}

# How columns of `where` that a response names are given, as formulas like `form`.
named_columns_hint <- function(y, where, form) {
  if (!is.character(y) || !length(y) || length(y) > 3L) return("")
  names <- paste(y, collapse = ", ")
  forms <- if (length(y) == 1L) names else sprintf(c("Surv(%s)", "cbind(%s)"), names)
  sprintf(": for %s of %s give the formula %s", if (length(y) == 1L) "a column" else "columns",
          where, paste(sprintf(form, forms), collapse = " or "))
}

# The weighted means of responses, 0 for numbers without an intercept.
null_means <- function(y, problem, weight = problem$rows$weight) {
  has_mean_null(problem) * colSums(weight * y) / sum(weight)
}

# Whether a model without columns and covariates is a mean, or the majority of the classes.
has_mean_null <- function(problem) problem$coding$task != "regression" || is_centred(problem)

# The held-out R-squared of one response or several: 1 less the squared errors divided by the
# squared deviations from the mean, as in lm() from 0 without an intercept. NULL for classes, ranks
# and censored times, and where nothing is held out.
held_out_r_squared <- function(problem, held_out) {
  if (!predicts_numbers(problem) || is.null(held_out)) return(NULL)
  rows <- problem$rows$weight > 0 & !is.na(rowSums(held_out))
  if (!any(rows)) return(NULL)
  w <- problem$rows$weight[rows]
  y <- problem$rows$y[rows, , drop = FALSE]
  about <- y - rep(null_means(y, problem, w), each = nrow(y))
  about <- colSums(w * about^2)
  # a constant response has none
  1 - colSums(w * (y - held_out[rows, , drop = FALSE])^2) / ifelse(about > 0, about, NA)
}

# The held-out R-squared of several responses, or for one response what a mean squared error
# `squared` that was printed is on other scales. `how` it was found is said where two were printed.
print_responses <- function(problem, held_out, squared = NULL, how = "") {
  scales <- squared_words(problem, squared)
  if (!is.null(scales)) say(how, scales)
  r_squared <- response_r_squared(problem, held_out)
  if (is.null(r_squared)) return(invisible())
  names <- colnames(problem$rows$y)
  if (is.null(names)) names <- seq_along(r_squared)
  shown_few <- utils::head(seq_along(r_squared), 8L)
  each <- paste(names[shown_few], vapply(r_squared[shown_few], shown_share, ""), collapse = ", ")
  say(sprintf("held-out R-squared of the responses%s: mean %s (%s%s)", beside_covariates(problem),
              shown(mean(r_squared, na.rm = TRUE)), each,
              if (length(r_squared) > 8L) ", ..." else ""))
}

# The R-squared of the columns alone, relative to the model of the covariates.
r_squared_words <- function(problem) {
  if (has_intercept_only(problem)) "R-squared" else "R-squared beyond the covariates"
}

# The words for the R-squared of columns and covariates, relative to the mean.
beside_covariates <- function(problem) {
  if (has_intercept_only(problem)) "" else " with the covariates"
}

has_intercept_only <- function(problem) ncol(problem$z) == problem$coding$intercept

# "root mean squared error 0.48, R-squared 0.93" of one numeric response, otherwise NULL. The
# R-squared is 1 less the error divided by the variance of the response, which a constant has not,
# or without an intercept by its mean square.
squared_words <- function(problem, squared) {
  if (!predicts_numbers(problem) || ncol(problem$rows$y) > 1L ||
      !isTRUE(is.finite(squared))) return(NULL)
  w <- problem$rows$weight
  y <- problem$rows$y[, 1L]
  variance <- sum(w * (y - null_means(problem$rows$y, problem))^2) / sum(w)
  paste0("root mean squared error ", shown(sqrt(squared)),
         if (variance > 0) paste0(", R-squared ", shown_share(1 - squared / variance),
                                  beside_covariates(problem)))
}

# Weights ------------------------------------------------------------------------------------------

check_weights <- function(weights, rows) {
  if (is.null(weights)) return(rep(1, rows))
  weights <- plain_variable(weights)
  stop_input_if(!is.numeric(weights) || is.object(weights),
                "`weights` must be a numeric vector of values of at least 0, not %s",
                describe(weights))
  stop_input_if(length(weights) != rows,
                "`weights` must have one value for each of the %d rows, not %d", rows,
                length(weights))
  bad <- which(!(is.finite(weights) & weights >= 0))
  stop_input_if(length(bad), "`weights` must be finite and at least 0, but weight %d is %s%s",
                bad[1L], format(weights[bad[1L]]), if (is.na(weights[bad[1L]])) omit_hint else "")
  bad <- which(weights > 0 & (weights < 1e-100 | weights > 1e100))
  stop_input_if(length(bad),
                "`weights` above 0 must be between 1e-100 and 1e+100, but weight %d is %s", bad[1L],
                format(weights[bad[1L]]))
  stop_input_if(sum(weights > 0) < 2L,
                "`weights` must leave at least 2 rows to train on, but %s above 0",
                if (any(weights > 0)) "only 1 is" else "none is")
  as.double(weights)
}

# Refuses a response that varies only in rows of weight 0, and responses whose sum of squares
# overflows or loses digits to underflow.
check_trained_response <- function(coded, weights, name, centred) {
  rows <- weights > 0
  values <- coded$y[rows, , drop = FALSE]
  # without logarithms of times the risk sets tell whether the times say anything
  stop_input_if(is.null(coded$no_logs) && all(are_constant(values, centred)),
                "`%s` must vary in the rows with a positive weight, but %s the same in all", name,
                if (is.null(coded$times)) "is" else
                  "the logarithms of its times, expected where they are censored, are")
  if (centred) values <- values - rep(values[1L, ], each = nrow(values))
  squares <- colSums(weights[rows] * values^2)
  large <- !all(is.finite(squares)) || any(squares > 1 / smallest_square) ||
    any(abs(coded$y) > 1e150)
  stop_input_if(large || any(squares < smallest_square & colSums(values != 0) > 0),
                "`%s` has values too %s to square: rescale it", name,
                if (large) "large" else "small")
}

# The problem with another coded response, to which its columns are not yet compared.
with_response <- function(problem, y) {
  problem$rows$y <- y
  problem
}

# The problem of one response, where a class is one against the rest, or of all of them together.
one_response <- function(problem, l) {
  if (ncol(problem$rows$y) == length(l)) return(problem)
  problem$rows$y <- problem$rows$y[, l, drop = FALSE]
  if (!is.null(problem$rows$offset)) problem$rows$offset <- problem$rows$offset[, l, drop = FALSE]
  problem$columns$products <- problem$columns$products[, l, drop = FALSE]
  if (problem$coding$task == "multiclass") {
    problem$coding$task <- "binary"
    problem$coding$levels <- c("others", problem$coding$levels[l])
  }
  problem
}

trained_places <- function(problem) which(problem$rows$weight > 0)

# Refuses weights of 0, for methods that cannot leave rows out of training.
check_all_trained <- function(problem, who = "this method") {
  untrained <- sum(problem$rows$weight == 0)
  stop_input_if(untrained, "`weights` must be positive for %s: leave out the %s of weight 0", who,
                counted(untrained, "row"))
  problem
}

# the problem restricted to the rows of positive weight, with centre and scale unchanged
weighted_rows <- function(problem) {
  rows <- trained_places(problem)
  if (length(rows) == nrow(problem)) problem else part_of(problem, rows)
}

# Classes -----------------------------------------------------------------------------------------

class_names <- function(problem) {
  if (has_cutpoints(problem)) problem$coding$classes else problem$coding$levels
}

# The classes with these numbers, as the response has them.
as_classes <- function(problem, number) {
  classes <- class_names(problem)
  factor(classes[number], classes, ordered = isTRUE(problem$coding$ordered))
}

# the class of each row as 1, 2, ..., or NULL for a numeric response
class_index <- function(problem) {
  if (has_cutpoints(problem)) return(as.integer(problem$rows$y[, 1L]))
  switch(problem$coding$task,
    binary = 1L + (problem$rows$y[, 1L] > 0),
    multiclass = max.col(problem$rows$y, "first")
  )
}

# the number of rows of each class, among all rows or among the rows that are `counted`
class_counts <- function(problem, counted = TRUE) {
  classes <- class_names(problem)
  stats::setNames(tabulate(class_index(problem)[counted], length(classes)), classes)
}

# the sum of the weights of each class
class_sums <- function(problem, weight = case_weights(problem)) {
  class <- factor(class_index(problem), seq_along(class_names(problem)))
  as.vector(tapply(weight, class, sum, default = 0))
}

# In a problem with class weights each weight is a case weight times a class weight. The problem
# keeps the case weights.

case_weights <- function(problem) {
  if (is.null(problem$coding$class_weights)) problem$rows$weight else problem$rows$case_weight
}

# the problem with these case weights
put_weights <- function(problem, case_weights) {
  problem$rows$weight <- case_weights
  if (is.null(problem$coding$class_weights)) return(problem)
  problem$rows$case_weight <- case_weights
  problem$rows$weight <- case_weights * unname(weights_of_classes(problem))[class_index(problem)]
  problem
}

# the weight of each class, by which its case weights are multiplied
weights_of_classes <- function(problem) {
  given <- problem$coding$class_weights
  if (is.numeric(given)) return(given[problem$coding$levels])
  total <- class_sums(problem)
  there <- total > 0
  stats::setNames(ifelse(there, sum(total) / (sum(there) * total), 1), problem$coding$levels)
}

check_class_weights <- function(class_weights, levels) {
  if (is.null(class_weights)) return(invisible())
  stop_argument_if(is.null(levels),
                   "`class_weights` needs a response with classes: give it as a factor")
  if (identical(class_weights, "balanced")) return(invisible())
  valid <- is.numeric(class_weights) && !is.object(class_weights) && !is.null(names(class_weights))
  must <- "NULL, \"balanced\" or numbers named by the classes"
  refuse_unless(valid, "class_weights", must, class_weights)
  absent <- setdiff(levels, names(class_weights))
  unknown <- setdiff(names(class_weights), levels)
  problem <- if (length(unknown)) {
    sprintf("names %s, which is no class: the classes are %s", some_of(unknown, 1L),
            some_of(levels, Inf))
  } else if (length(absent)) {
    sprintf("has no value for the class %s", some_of(absent, 1L))
  } else if (anyDuplicated(names(class_weights))) {
    sprintf("has several values for the class %s",
            some_of(names(class_weights)[duplicated(names(class_weights))], 1L))
  } else if (!all(is.finite(class_weights) & class_weights >= 1e-50 & class_weights <= 1e50)) {
    "must be positive finite numbers, between 1e-50 and 1e+50"
  }
  stop_argument_if(!is.null(problem), paste("`class_weights`", problem))
}

# "class weights (balanced) of fit and errors: normal 1.41, tumour 0.775"
class_weights_words <- function(problem) {
  weights <- weights_of_classes(problem)
  each <- paste(short_class(names(weights)), vapply(weights, shown, ""))
  balanced <- if (is.numeric(problem$coding$class_weights)) "" else " (balanced)"
  sprintf("class weights%s of fit and errors: %s", balanced, some_of(each, 10L, ""))
}

# Words --------------------------------------------------------------------------------------------

# Prints the units of the response, and the classes of which the rows are too few.
print_response <- function(problem) {
  if (!is.null(problem$coding$response_scale)) {
    say("responses divided by their standard deviations: errors are shares of variances")
  }
  if (!is.null(problem$rows$offset)) say("offset: a known part of the linear predictor")
  if (problem$coding$task == "regression") return(invisible())
  lone <- names(which(class_counts(problem, problem$rows$weight > 0) == 1L))
  if (length(lone)) {
    remark(sprintf("%s %s a single row: models trained without it never predict the class",
                   if (length(lone) == 1L) "class" else "each of the classes",
                   paste(some_of(short_class(lone), 3L), "has")))
  }
}

# The response in words, with the numbers of rows that count.
response_words <- function(problem) {
  response <- shortened(problem$coding$response, 60L)
  rows <- trained_places(problem)
  if (is_survival(problem)) {
    return(sprintf("%s, censored times, %s in %s", response,
                   counted(sum(problem$rows$event[rows]), "event"), counted(length(rows), "row")))
  }
  if (has_classes(problem)) {
    counts <- class_counts(problem, rows)
    return(sprintf("%s, %d %sclasses (rows): %s", response, length(counts),
                   if (has_cutpoints(problem)) "ordered " else "", counts_words(counts)))
  }
  if (!is.null(problem$coding$classes)) {
    above <- short_class(problem$coding$classes)
    return(sprintf("%s, '%s' to be above '%s'", response, above[2L], above[1L]))
  }
  count <- ncol(problem$rows$y)
  paste0(response, ", numeric", if (count > 1L) sprintf(", %d responses", count))
}

# "normal (22), tumour (40)". If the classes do not fit two lines, the largest classes and the
# number of other classes.
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
