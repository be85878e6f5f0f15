# Panels: one model of a fit with everything that its predictions need, as plain data without
# training data. A panel is written to a file, read again, and turned into code of other languages.

#' A panel: a model that travels
#'
#' A panel is the chosen model of a fit as plain data: the variables, their coefficients in the
#' user's units, the levels of factors, the calibration of probabilities, and how the error was
#' estimated. It predicts without the training data. `write_panel()` writes it to a text file,
#' `read_panel()` reads it again, and [panel_code()] gives it as a function of another language.
#'
#' @param x A fit of columns, such as of [greedy_rls()], [l1_path()] or [rls()]; a result of
#'   [cross_validate()] of such a fit, whose honest error and held-out scores the panel then has; or
#'   a panel.
#' @param file The name of the file, such as `"panel.json"`. An existing file is replaced.
#' @param size,lambda The model, as in [coef()][sparsels_fit]; `NULL` for the chosen model.
#' @param threshold,calibration For classes, as in [predict()][sparsels_fit]: how scores become
#'   probabilities, and above which probability the second class is predicted, a number or the
#'   result of [choose_threshold()].
#' @param object A panel.
#' @param newdata A data frame, matrix or experiment with a column for each variable of the panel,
#'   found by name. A fit to a matrix without names has the variables `V1`, `V2` and so on. New data
#'   without names must have all columns of the fit.
#' @param type `"response"`, as of the fit; `"link"`, the value of the linear model, of Cox models
#'   the logarithm of the hazard ratio in both; `"class"`; `"prob"`, a matrix with a column for each
#'   class.
#' @param interval `"none"`, or `"prediction"` for a matrix with `fit`, `lwr` and `upr`.
#' @param level The level of the interval, one of `x$interval$level`.
#' @param ... Not used.
#'
#' @details A term of the panel is a variable, an indicator of a level of a factor, a product of
#' these, or a direction of a [curve][curves], as cubic polynomials between knots. Covariates and
#' unpenalised columns are terms like others. `coef()` has the intercept and the coefficients of
#' the terms. An offset is a term of coefficient 1, whose variable is the one in the formula, as in
#' `offset(exposure)`, or is called `offset`. The score is computed as the intercept plus
#' coefficient times value, term after term, in double precision, so that every language gives the
#' same bits. `predict()` of the fit adds in another order and may differ in the last digits.
#'
#' A missing value is replaced by the mean of its column in the training rows if the fit has
#' `missing = "mean"`, and is a level of its own in factors that had missing values. Otherwise the
#' prediction is `NA`.
#'
#' Intervals are of the same width for every row: the prediction plus and minus the quantile of the
#' absolute held-out residuals. The intervals of [prediction_intervals], for which the fit is
#' required, are a little wider. On nine kinds of data of 40 to 200 rows (500 draws each,
#' bench/coverage.R), intervals of level 0.9 contained .89 to .91 of new values, and .90 to .92 by
#' the fit.
#'
#' The file is JSON, with numbers of up to 17 digits, which give every double back. Its last field
#' is the SHA-256 hash of the others. The hash finds damage, not forgery.
#'
#' @return `as_panel()` and `read_panel()`: an object of class `sparsels_panel`, a list with
#'   `response`, `levels` (of a class), `variables`, `intercept`, `terms` (each with `name`,
#'   `factors`, `coefficients`, one for each output, and the `mean` for missing values), `mean` (the
#'   name of the function from the score to the response), `probability`, `rule` (how classes are
#'   chosen), `interval` (a data frame of `level` and `half_width`), `error` and `about`.
#'   `write_panel()`: the panel, invisibly. `predict()`: as of the fit.
#' @section Errors: `sparsels_error_panel` for a model that is not a sum of such terms (kernels,
#'   transformed variables of a formula, several offsets), and for a file that is damaged, lacks a
#'   field or was written by a later version.
#' @seealso [panel_code()]
#' @examples
#' fit <- greedy_rls(mpg ~ ., mtcars)
#' panel <- as_panel(fit)
#' panel
#' predict(panel, mtcars[1:3, ])
#' if (requireNamespace("jsonlite", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".json")
#'   write_panel(panel, file)
#'   predict(read_panel(file), mtcars[1:3, ], interval = "prediction")
#' }
#' @srrstats {ML5.2b} `?as_panel`, `vignette("panel")`
#' @export
as_panel <- function(x, size = NULL, lambda = NULL, threshold = NULL, calibration = NULL) {
  check_given(x, "x")
  if (inherits(x, "sparsels_panel")) {
    check_sealed(x)
    given <- !vapply(list(size, lambda, threshold, calibration), is.null, NA)
    stop_argument_if(any(given), "a panel has one model: %s are for the fit",
                     "`size`, `lambda`, `threshold` and `calibration`")
    return(x)
  }
  fit <- if (inherits(x, "cv_result")) fit_of_folds(x) else x
  refuse_unless(inherits(fit, "sparsels_fit"), "x",
                "a fit of this package, a result of cross_validate() or a panel", x)
  check_sealed(x)
  stop_panel_if(!is.null(fit$kernel),
                "a panel has columns and their coefficients, and a fit with a kernel has none: %s",
                "predict() needs its basis vectors")
  problem <- settle_properties(fit$problem, "as_panel", "a panel")
  model <- model_of(fit, size, lambda)
  chosen <- model$step == model_of(fit)$step
  classes <- panel_classes(fit, model, chosen, threshold, calibration)
  new_panel(c(
    list(response = problem$coding$response, outputs = response_names(problem),
         levels = problem$coding$levels, mean = mean_name(loss_of(fit)$mean)),
    panel_terms(fit, model),
    classes,
    list(interval = if (chosen) panel_interval(x),
         error = if (chosen) panel_error_of(x, fit, classes), about = panel_about(fit))
  ))
}

new_panel <- function(fields) {
  panel <- complete_parts(c(list(format = panel_format), fields), panel_parts)
  if (!is.null(panel$interval)) panel$interval <- as.data.frame(panel$interval)
  seal(structure(panel, class = c("sparsels_panel", "sparsels_result")))
}

# A value with NULL for the parts that it lacks, and without names of its elements.
complete_parts <- function(value, part) {
  if (is.null(value)) return(NULL)
  if (!is.list(part)) return(unname(value))
  if (is.null(names(part))) return(lapply(value, complete_parts, part[[1L]]))
  names <- part_names(part)
  stats::setNames(Map(complete_parts, unname(value[names]), unname(part)), names)
}

panel_format <- 1

stop_panel <- function(...) stop_input(..., class = "sparsels_error_panel")
stop_panel_if <- function(condition, ...) if (condition) stop_panel(...)

# The functions from the score to the response, by the name that a panel gives them.
mean_functions <- function() list(exp = exp, logistic = stats::plogis, softmax = link_shares)

mean_name <- function(mean) {
  if (is.null(mean)) return("identity")
  link <- matrix(c(-0.3, 0.7), 1L)
  same <- vapply(mean_functions(), function(known) identical(known(link), mean(link)), NA)
  found <- names(which(same))
  if (length(found)) found else stop_panel("a panel cannot have the response of this loss")
}

# Terms -------------------------------------------------------------------------------------------

# list(variables, intercept, terms) of a model. Columns without penalty, covariates and an offset
# are terms as well.
panel_terms <- function(fit, model) {
  problem <- fit$problem
  columns <- model_terms(fit, model)
  free <- rownames(model$covariates)
  values <- in_user_units(problem, rbind(model$covariates, model$beta))
  of_x <- match(free, problem$columns$name)
  x_columns <- c(replace(of_x, free %in% given_covariates(problem), NA), columns)
  is_intercept <- c(free == "(Intercept)", logical(length(columns)))
  names <- c(free, problem$columns$name[columns])
  means <- means_of_new(problem, x_columns)
  terms <- lapply(which(!is_intercept), function(i) {
    factors <- if (!is.na(x_columns[i])) column_factors(problem, x_columns[i]) else
      design_factors(problem$coding$adjust_design, names[i])
    list(name = names[i], mean = if (!is.na(means[i])) means[i], coefficients = values[i, ],
         factors = factors)
  })
  intercept <- colSums(values[is_intercept, , drop = FALSE])
  if (is_cox(problem)) intercept <- intercept - reference_score(problem, model)
  offset <- problem$rows$offset
  if (!is.null(offset)) {
    stop_panel_if(ncol(offset) > 1L && any(offset != offset[, 1L]),
                  "a panel has one offset, and the responses of the fit have different ones")
    used <- unlist(lapply(terms, function(term) lapply(term$factors, `[[`, "variable")))
    given <- problem$coding$offset
    variable <- if (is.name(given)) as.character(given) else
      utils::tail(make.unique(c(as.character(used), "offset")), 1L)
    terms <- c(terms, list(list(name = variable, mean = NULL, coefficients = rep(1, ncol(offset)),
                                factors = list(term_factor(variable)))))
  }
  list(variables = panel_variables(problem, terms), intercept = unname(intercept), terms = terms)
}

# The factors of a term, whose product is its value: variables, with a level for an indicator, or
# with a curve for a function of the variable.
term_factor <- function(variable, level = NA) {
  list(variable = unname(variable), level = if (!is.na(level)) unname(level))
}

# The factors of a column: of a pair two, each a function of one column of the data.
column_factors <- function(problem, column) {
  of_pair <- is_of_pair(problem)[column]
  places <- if (of_pair) read_places(problem, column) else column
  direction <- if (of_pair) product_factors(problem$columns$product[column]) - 1L else
    problem$columns$direction[column]
  unlist(lapply(seq_along(places), function(i) {
    source <- source_names(problem)[places[i]]
    name <- problem$columns$name[places[i]]
    factors <- design_factors(problem$coding$design, source, places[i])
    curve <- problem$curves[[source]]
    pieces <- if (of_pair) clipped_pieces(problem$pairs$basis[[name]], direction[i]) else
      if (!is.null(curve)) curve_pieces(curve, direction)
    if (is.null(pieces)) return(factors)
    stop_panel_if(length(factors) > 1L, "the column '%s' is a curve of a product of variables: %s",
                  name, "fit the data with the product as a column")
    factors[[1L]]["curve"] <- list(pieces)
    factors
  }), recursive = FALSE)
}

# The factors of a column of a design, or of the variable of this name where there is no design.
design_factors <- function(design, name, place = match(name, design$columns$name)) {
  if (is.null(design$columns)) return(list(term_factor(name)))
  column <- design$columns[place, ]
  if (is.null(design$terms)) return(list(term_factor(column$variable, column$level)))
  factors <- attr(design$terms, "factors")
  codes <- stats::setNames(factors[, column$code], rownames(factors))
  codes <- codes[codes > 0]
  variables <- without_backticks(names(codes))
  classes <- attr(design$terms, "dataClasses")
  class <- classes[match(variables, without_backticks(names(classes)))]
  plain <- vapply(names(codes), function(code) is.name(str2lang(code)), NA) &
    class %in% c("numeric", "logical", "factor", "ordered", "character")
  stop_panel_if(!all(plain), "the column '%s' is computed by R from %s: %s", column$name,
                some_of(variables[!plain]), "fit the data with the computed values as a column")
  levels <- Map(function(variable, contrast) {
    known <- known_levels(design)[[variable]]
    if (is.null(known)) NA_character_ else if (contrast == 1) known[-1L] else known
  }, variables, codes)
  place <- arrayInd(column$place, lengths(levels))
  unname(Map(function(variable, level, at) term_factor(variable, level[at]), variables, levels,
             place))
}

# Names of variables of terms, which terms() writes as code.
without_backticks <- function(names) {
  code <- grepl("^`.*`$", names)
  replace(names, code, vapply(names[code], function(code) as.character(str2lang(code)), ""))
}

# The levels of the factors of designs, by the names of the variables.
known_levels <- function(...) {
  levels <- unlist(lapply(list(...), `[[`, "levels"), recursive = FALSE)
  if (length(levels)) stats::setNames(levels, without_backticks(names(levels)))
}

# The variables of the terms, each with its `name`, the `levels` of a factor, and its `position`
# among the columns of data without names.
panel_variables <- function(problem, terms) {
  factors <- unlist(lapply(terms, `[[`, "factors"), recursive = FALSE)
  names <- vapply(factors, `[[`, "", "variable")
  known <- known_levels(problem$coding$design, problem$coding$adjust_design)
  lapply(unique(names), function(name) {
    is_factor <- any(lengths(lapply(factors[names == name], `[[`, "level")))
    list(name = name, levels = if (is_factor) known[[name]],
         position = if (!problem$coding$named) as.double(match(name, data_names(problem))))
  })
}

# Classes and numbers -----------------------------------------------------------------------------

# list(probability, rule): how scores become probabilities, NULL where nothing was held out, and how
# they become classes.
panel_classes <- function(fit, model, chosen, threshold, calibration) {
  problem <- fit$problem
  if (problem$coding$task == "regression") {
    if (is.null(threshold) && is.null(calibration)) return(NULL)
    stop_argument("`threshold` and `calibration` need a fit with classes")
  }
  check_type(problem, "class", threshold, NULL)
  if (!is.null(threshold)) threshold <- as_threshold(threshold, calibration, problem)
  if (!is.null(threshold$calibration)) calibration <- threshold$calibration
  own <- calibration_kind(fit, calibration) == "none"
  held <- has_held_out(fit)
  stop_argument_if(!(own || held && chosen) && !(is.null(threshold) && is.null(calibration)),
                   "`threshold` and `calibration` need scores of rows held out, %s",
                   "which the fit has of its chosen model alone")
  form <- if (own || held && chosen) attr(calibrated(fit, calibration), "form")
  by_probability <- has_class_rule(fit) && !is_empty_model(model)
  weights <- if (by_probability && !is.null(problem$coding$class_weights))
    unname(weights_of_classes(problem))
  rule <- if (!is.null(threshold)) {
    list(by = "threshold", threshold = threshold$value, event = as.double(threshold$event))
  } else if (by_probability && form$kind != "softmax") {
    # the fit chooses its classes by the links, whatever the probabilities
    own <- attr(calibrated(fit), "form")
    list(by = "link", intercept = own$intercept + if (is.null(weights)) 0 else log(weights),
         slope = own$slope)
  } else {
    list(by = if (by_probability) "probability" else "score", weights = weights)
  }
  list(probability = form, rule = rule)
}

# The half widths of intervals of the levels that the held-out rows allow, or NULL.
panel_interval <- function(x) {
  same_width <- x$problem$coding$task == "regression" && !judged_at_mean(loss_name(fit_on_all(x)))
  if (!same_width || !has_intervals(x)) return(NULL)
  levels <- c(0.5, 0.8, 0.9, 0.95)
  half <- half_widths(x, levels)
  if (any(half < Inf)) list(level = levels[half < Inf], half_width = half[half < Inf])
}

# The error of the chosen model of `fit`, by the rule of its classes, and how it was estimated, or
# NULL.
panel_error_of <- function(x, fit, classes) {
  known <- function(value) if (isTRUE(!is.na(value))) unname(value)
  if (identical(classes$rule$by, "threshold")) {
    if (!has_held_out(fit)) return(NULL)
    rate <- held_out_rate(fit, panel_class_numbers(classes, fit$held_out))
    words <- paste(criteria$error$words, "at threshold", shown(classes$rule$threshold))
    return(list(measure = words, value = rate, how = "of rows held out"))
  }
  if (inherits(x, "cv_result")) {
    row <- generics::glance(x)
    return(list(measure = x$words, value = row$estimate,
                se = known(row$std.error),
                how = sprintf("honest, from %d outer folds", as.integer(row$folds))))
  }
  error <- printed_error(x)
  if (is.null(error)) return(NULL)
  list(measure = error$words, value = unname(error$value), se = known(error$se), how = error$how)
}

# The first error that print() shows of the chosen model, in words, with its value, its standard
# error and how it was estimated. NULL if nothing was held out.
printed_error <- function(fit) {
  row <- chosen_row(fit)
  if (!is.null(row$cv)) {
    measure <- reported_measure(fit)
    estimate <- if (!is.numeric(fit$size_by)) fit[[sub("cv", "estimate", measure$column)]]
    how <- paste0("of held-out folds", if (!is.null(estimate)) ", cross-fitted")
    if (is.null(estimate)) {
      estimate <- stats::setNames(row[paste0(measure$column, c("", "_se"))], c("mean", "se"))
    }
    return(list(words = measure$words, value = estimate[["mean"]], se = estimate[["se"]],
                how = how))
  }
  rate <- error_rate_of(fit, row)
  found <- if (!is.null(rate)) {
    list(words = criteria$error$words, value = rate, se = NA)
  } else if (is_training(fit)) {
    list(words = squared_label(fit$problem), value = row$squared, se = NA)
  } else {
    list(words = fit$criterion$words, value = row$criterion, se = row$se)
  }
  if (is.null(found$words) || !isTRUE(!is.na(found$value))) return(NULL)
  repeated <- is.null(chosen_features(fit)) || inherits(fit, "l1_path")
  c(found, how = paste0("of rows held out", if (!repeated) " after the selection"))
}

panel_about <- function(fit) {
  problem <- fit$problem
  kind <- if (isTRUE(problem$coding$ordered)) "ordered" else
    if (problem$coding$task != "regression") "class" else
    if (is_survival(problem)) "risk" else if (predicts_numbers(problem)) "number" else "rank"
  list(method = fit$method, loss = loss_name(fit), kind = kind,
       rows = as.double(trained_rows(problem)),
       columns = as.double(length(data_names(problem))), R = as.character(getRversion()),
       sparsels = as.character(utils::packageVersion("sparsels")))
}

# Predictions -------------------------------------------------------------------------------------

#' @exportS3Method
coef.sparsels_panel <- function(object, ...) {
  check_method_call(..., object = object, known = "object")
  parts <- c(list(object$intercept), lapply(object$terms, `[[`, "coefficients"))
  values <- matrix(unlist(parts), length(parts), byrow = TRUE, dimnames = list(
    c("(Intercept)", vapply(object$terms, `[[`, "", "name")), object$outputs
  ))
  drop_output(values)
}

#' @rdname as_panel
#' @export
predict.sparsels_panel <- function(object, newdata, type = c("response", "link", "class", "prob"),
                                   interval = "none", level = 0.9, ...) {
  check_method_call(..., object = object, known = names(formals(predict.sparsels_panel)))
  if (missing(newdata)) stop_newdata("`newdata` must be given: a panel has no data")
  type <- choice_or_first(type, "type", c("response", "link", "class", "prob"))
  check_choice(interval, "interval", c("none", "prediction"))
  score <- panel_scores(object, newdata)
  warn_missing_rows(score)
  if (interval != "none") {
    stop_argument_if(type != "response", "give either `type` or `interval`, not both")
    known <- object$interval$level
    stop_argument_if(is.null(known), "the panel has no intervals: its fit had none")
    at <- if (is_number(level)) which(abs(known - level) < 1e-9)
    refuse_unless(length(at) == 1L, "level", paste("one of", paste(known, collapse = ", ")), level)
    half <- object$interval$half_width[at]
    ends <- score[, c(1L, 1L, 1L), drop = FALSE] + rep(c(0, -half, half), each = nrow(score))
    colnames(ends) <- c("fit", "lwr", "upr")
    return(ends)
  }
  if (type == "link") return(drop_output(score))
  if (type == "response") {
    mean <- mean_functions()[[object$mean]]
    return(drop_output(if (is.null(mean)) score else mean(score)))
  }
  stop_input_if(is.null(object$levels), "`type = \"%s\"` needs a panel of classes", type)
  if (type == "prob") {
    p <- panel_probabilities(object, score)
    return(matrix(as.double(p), nrow(p), ncol(p), dimnames = list(rownames(score), object$levels)))
  }
  number <- panel_class_numbers(object, score)
  class <- factor(object$levels[number], object$levels, ordered = object$about$kind == "ordered")
  stats::setNames(class, rownames(score))
}

# The scores of new rows (rows x L): intercept plus coefficient times value, term after term.
panel_scores <- function(panel, newdata) {
  values <- panel_values(panel, newdata)
  score <- matrix(rep(panel$intercept, each = values$rows), values$rows, length(panel$intercept),
                  dimnames = list(values$names, panel$outputs))
  for (term in panel$terms) {
    value <- Reduce(`*`, lapply(term$factors, function(factor) {
      value <- values$variables[[factor$variable]]
      if (!is.null(factor$curve)) return(piece_values(factor$curve, as.double(value)))
      as.double(if (is.null(factor$level)) value else value == factor$level)
    }))
    if (!is.null(term$mean)) value[is.na(value)] <- term$mean
    for (l in seq_along(term$coefficients)) score[, l] <- score[, l] + term$coefficients[l] * value
  }
  score
}

# list(variables, rows, names): the variables of a panel in new data, checked.
panel_values <- function(panel, newdata) {
  names <- vapply(panel$variables, `[[`, "", "name")
  data <- as_valid(as_frame(newdata), "newdata")
  if (is_experiment(newdata)) {
    # the features and sample data that the panel reads, features first
    values <- read_experiment(newdata, NULL, "newdata")$values
    features <- as.matrix(values[, intersect(names, colnames(values)), drop = FALSE])
    samples <- row_data(newdata)
    data <- cbind(as.data.frame(features, optional = TRUE),
                  samples[setdiff(names(samples), colnames(features))])
  }
  refuse_unless(length(dim(data)) == 2L, "newdata", "a data frame or a matrix", newdata)
  if (!is.data.frame(data)) {
    # the columns of a matrix are known by their names or, without names, by their positions
    if (is.null(colnames(data))) {
      position <- unlist(lapply(panel$variables, `[[`, "position"))
      stop_newdata_if(anyNA(position) || length(position) < length(names) ||
                        ncol(data) != panel$about$columns,
                      "`newdata` must have names of columns: the panel needs %s", some_of(names))
      data <- data[, position, drop = FALSE]
      colnames(data) <- names
    }
    present <- filled_names(colnames(data))
    check_present(names, present, "newdata")
    columns <- lapply(match(names, present), function(column) as.vector(data[, column]))
    data <- list2DF(stats::setNames(columns, names), nrow(data))
  }
  check_present(names, names(data), "newdata")
  values <- Map(known_values, unclass(data)[names], lapply(panel$variables, `[[`, "levels"), names,
                "newdata")
  list(variables = stats::setNames(values, names), rows = nrow(data),
       names = names_of_rows(newdata))
}

# Probabilities of the classes, rows x classes, each operation in the order in which panel_code()
# writes it.
panel_probabilities <- function(panel, score) {
  form <- panel$probability
  stop_input_if(is.null(form), "the panel has no probabilities: its fit held no rows out")
  if (form$kind == "logistic") {
    return(of_two_classes(1 / (1 + exp(-(form$intercept + form$slope[1L] * score[, 1L])))))
  }
  if (form$kind == "isotonic") {
    p <- lapply(seq_along(form$maps), function(k) {
      interpolated(form$maps[[k]]$at, form$maps[[k]]$level, score[, k])
    })
    if (length(p) == 1L) return(of_two_classes(p[[1L]]))
    total <- Reduce(`+`, p)
    share <- lapply(p, function(p) ifelse(total == 0, 1 / length(form$maps), p / total))
    return(do.call(cbind, share))
  }
  link_shares(do.call(cbind, panel_links(form, score)))
}

# The links of the classes, linear in the scores, a vector each.
panel_links <- function(form, score) {
  lapply(seq_along(form$intercept), function(k) {
    link <- form$intercept[k]
    for (l in seq_len(ncol(score))) link <- link + form$slope[l, k] * score[, l]
    rep_len(link, nrow(score))
  })
}

panel_class_numbers <- function(panel, score) {
  rule <- panel$rule
  if (rule$by == "threshold") {
    above <- panel_probabilities(panel, score)[, rule$event] - rule$threshold > score_tie
    return(if (rule$event == 2L) 1L + above else 2L - above)
  }
  if (rule$by == "score") {
    return(if (ncol(score) == 1L) 1L + (score[, 1L] > score_tie) else first_largest(score))
  }
  if (rule$by == "link") return(first_largest(do.call(cbind, panel_links(rule, score))))
  p <- panel_probabilities(panel, score)
  first_largest(if (is.null(rule$weights)) p else p * rep(rule$weights, each = nrow(p)))
}

# Print -------------------------------------------------------------------------------------------

#' @exportS3Method
print_result.sparsels_panel <- function(x, ...) {
  about <- x$about
  values <- switch(about$kind, class = "classes", ordered = "ordered classes", risk = "risks",
                   rank = "ranks", "values")
  say(sprintf("panel: %s of %s from %s, by %s() on %s of %s", values, x$response,
              counted(length(x$variables), "variable"), about$method,
              counted(about$rows, "row"), counted(about$columns, "column")))
  if (!is.null(x$levels)) say("classes: ", some_of(x$levels, 8L, ""))
  say("variables: ", some_of(vapply(x$variables, `[[`, "", "name"), 12L, ""))
  if (!is.null(x$error)) {
    say(sprintf("%s %s%s (%s)", x$error$measure, shown(x$error$value),
                if (is.null(x$error$se)) "" else se_words(x$error$se), x$error$how))
  }
  if (!is.null(x$interval)) {
    say("new values are near the prediction: ",
        paste(sprintf("%.0f %% within %s", 100 * x$interval$level, shown(x$interval$half_width)),
              collapse = ", "))
  }
}

#' @exportS3Method
record.sparsels_panel <- function(x) {
  values <- as.matrix(stats::coef(x))
  table <- data.frame(response = rep(x$outputs, each = nrow(values)), term = rownames(values),
                      estimate = as.vector(values))
  list(rows = if (length(x$outputs) == 1L) table[-1L] else table, complete = TRUE,
       row = data.frame(method = x$about$method, kind = x$about$kind,
                        variables = length(x$variables), terms = length(x$terms),
                        nobs = x$about$rows))
}

# Files -------------------------------------------------------------------------------------------

# The parts of a panel in a file. "text" and "number" are single values, "texts" and "numbers"
# arrays, "rows" a matrix by rows. A named list is an object, a list of one object an array of such
# objects. "?" marks parts that may be null.
panel_parts <- list(
  format = "number", response = "text", outputs = "texts", "levels?" = "texts", mean = "text",
  variables = list(list(name = "text", "levels?" = "texts", "position?" = "number")),
  intercept = "numbers",
  terms = list(list(name = "text", "mean?" = "number", coefficients = "numbers",
                    factors = list(list(variable = "text", "level?" = "text", "curve?" = list(
                      range = "numbers", start = "numbers", pieces = "rows"
                    ))))),
  "probability?" = list(kind = "text", "intercept?" = "numbers", "slope?" = "rows",
                        "maps?" = list(list(at = "numbers", level = "numbers"))),
  "rule?" = list(by = "text", "threshold?" = "number", "event?" = "number", "weights?" = "numbers",
                 "intercept?" = "numbers", "slope?" = "rows"),
  "interval?" = list(level = "numbers", half_width = "numbers"),
  "error?" = list(measure = "text", value = "number", "se?" = "number", how = "text"),
  about = list(method = "text", loss = "text", kind = "text", rows = "number", columns = "number",
               sparsels = "text", R = "text")
)

part_names <- function(parts) sub("?", "", names(parts), fixed = TRUE)

#' @srrstats {ML5.2c} fits are plain lists for `saveRDS()`. `write_panel()` needs no R
#' @rdname as_panel
#' @export
write_panel <- function(x, file, size = NULL, lambda = NULL, threshold = NULL,
                        calibration = NULL) {
  panel <- as_panel(x, size, lambda, threshold, calibration)
  refuse_unless(is_string(file), "file", "the name of a file", file)
  lines <- panel_lines(panel)
  # the last field is the hash of the others
  hash <- sprintf("  \"hash\": \"%s\"", panel_hash(lines))
  write_text(paste0("{\n", paste(c(lines, hash), collapse = ",\n"), "\n}"), file)
  invisible(panel)
}

# Writes text to a file, which is complete or not there.
write_text <- function(text, file) {
  beside <- tempfile("panel", dirname(file))
  on.exit(unlink(beside))
  written <- suppressWarnings(tryCatch({
    writeLines(text, beside, useBytes = TRUE)
    bytes_written(beside) > nchar(text, "bytes") && file.rename(beside, file)
  }, error = function(e) FALSE))
  stop_panel_if(!written, "cannot write '%s': does its folder exist, %s?", file,
                "may you write there, and is there space")
}

panel_hash <- function(lines) cli::hash_sha256(paste(lines, collapse = ",\n"))

# The fields of a panel as JSON.
panel_lines <- function(panel) {
  names <- part_names(panel_parts)
  vapply(seq_along(names), function(i) {
    text <- json_of(panel[[names[i]]], panel_parts[[i]])
    # a line for each variable and each term
    text <- gsub("(},|^\\[) ?(\\{\"name\")", "\\1\n    \\2", text)
    sprintf("  %s: %s", json_quoted(names[i]), text)
  }, "")
}

# A value as JSON. jsonlite writes numbers with 15 digits at most, which do not give every double
# back.
json_of <- function(value, part) {
  if (is.null(value) || is.atomic(value) && length(value) == 1L && is.na(value)) return("null")
  if (is.list(part) && is.null(names(part))) {
    return(sprintf("[%s]", paste(vapply(value, json_of, "", part[[1L]]), collapse = ", ")))
  }
  if (is.list(part)) {
    names <- part_names(part)
    each <- vapply(seq_along(names), function(i) json_of(value[[names[i]]], part[[i]]), "")
    return(sprintf("{%s}", paste0(json_quoted(names), ": ", each, collapse = ", ")))
  }
  text <- if (part == "rows") apply(value, 1L, json_of, "numbers") else
    if (is.character(value)) json_quoted(value) else number_text(as.double(value))
  if (grepl("s$", part)) sprintf("[%s]", paste(text, collapse = ", ")) else text
}

# Numbers in the fewest digits that give the same double.
number_text <- function(value) {
  short <- pointed("%.15g", value)
  ifelse(as.double(short) == value, short, pointed("%.17g", value))
}

json_quoted <- function(text) {
  text <- gsub("([\\\\\"])", "\\\\\\1", enc2utf8(text))
  for (code in c(1:31, 127L)) {
    text <- gsub(rawToChar(as.raw(code)), sprintf("\\u%04x", code), text, fixed = TRUE)
  }
  paste0("\"", text, "\"")
}

#' @rdname as_panel
#' @export
read_panel <- function(file) {
  need_package("jsonlite")
  refuse_unless(is_string(file), "file", "the name of a file", file)
  stop_panel_if(is.na(file_facts(file)$size), "there is no file '%s'", file)
  lines <- readLines(file, encoding = "UTF-8", warn = FALSE)
  json <- tryCatch(jsonlite::fromJSON(lines, simplifyVector = FALSE), error = function(e) {
    stop_panel("'%s' is no panel, or is damaged: it is not JSON", file)
  })
  stop_panel_if(!is.list(json) || !is_number(json$format),
                "'%s' is no panel: it has no number `format`", file)
  stop_panel_if(json$format > panel_format,
                "'%s' has format %s, and this version of sparsels reads %d: update sparsels", file,
                json$format, panel_format)
  panel <- new_panel(from_json(json, panel_parts, sprintf("'%s'", file))[-1L])
  stop_panel_if(!identical(json$hash, panel_hash(panel_lines(panel))),
                "'%s' is damaged or was edited: its hash is not the hash of its contents", file)
  panel
}

# The value of a part of JSON. Stops where it lacks a part or has one of another type.
from_json <- function(json, part, where) {
  if (is.list(part) && is.null(names(part))) {
    stop_panel_if(!is.list(json) || !is.null(names(json)), "%s must be an array", where)
    return(lapply(seq_along(json), function(i) {
      from_json(json[[i]], part[[1L]], sprintf("%s[%d]", where, i))
    }))
  }
  if (is.list(part)) {
    stop_panel_if(!is.list(json) || is.null(names(json)), "%s must be an object", where)
    values <- lapply(seq_along(part), function(i) {
      name <- part_names(part)[i]
      value <- json[[name]]
      if (!is.null(value)) return(from_json(value, part[[i]], paste0(where, "$", name)))
      stop_panel_if(names(part)[i] == name, "%s lacks `%s`", where, name)
    })
    return(stats::setNames(values, part_names(part)))
  }
  if (part == "rows") {
    rows <- lapply(seq_along(json), function(i) {
      from_json(json[[i]], "numbers", sprintf("%s[%d]", where, i))
    })
    return(do.call(rbind, rows))
  }
  is_kind <- if (grepl("^text", part)) is_string else is_number
  each <- if (grepl("s$", part)) json else list(json)
  stop_panel_if(!is.list(each) || !all(vapply(each, is_kind, NA)), "%s must be %s", where,
                switch(part, text = "a string", number = "a number", texts = "an array of strings",
                       "an array of numbers"))
  if (grepl("^text", part)) as.character(unlist(each)) else as.double(unlist(each))
}
