# Problems from formulas, and the formulas of problems and fits.

# From a formula ----------------------------------------------------------------------------------

#' @export
# nolint start: object_name_linter.
as_problem.formula <- function(x, y = NULL, ..., data = NULL, weights = NULL, subset = NULL,
                               na.action = NULL, adjust = NULL, intercept = TRUE,
                               within = NULL, groups = NULL, strata = NULL, offset = NULL,
                               missing = "error", smooth = NULL, interactions = NULL) {
  # nolint end
  stop_input_if(length(x) != 3L, "the formula `x` must have a response on its left side")
  parts <- split_terms(x[[3L]])
  intercept <- check_flag(intercept, "intercept") && parts$intercept
  stop_input_if(is.null(parts$rest), "the right side of the formula `x` is NULL: name variables")
  stated <- x
  curves <- split_curves(parts$rest)
  x[[3L]] <- curves$rest
  data <- formula_data(as_frame(y), as_frame(data))
  check_repeated(x, data)
  added <- row_code(offset, data, substitute(offset))
  if (!is.null(added)) offset <- NULL
  parts$offset <- c(parts$offset, added)
  stop_argument_if(length(parts$offset) && !is.null(offset), "`offset` is in the formula already")
  if (any(variables_in(substitute(adjust)) %in% names(data))) {
    code <- substitute(adjust)
    adjust <- stats::as.formula(if (is_call_of(code, "~")) code else call("~", code),
                                environment(x))
  }
  adjust <- named_adjust(adjust, data)
  stop_argument_if(!is.null(parts$strata) && !is.null(strata),
                   "`strata` are in the formula already")
  omit <- omits_missing(na.action)
  strata_code <- if (is.null(parts$strata)) substitute(strata) else crossed_terms(parts$strata)
  expressions <- list(weights = substitute(weights), within = substitute(within),
                      groups = substitute(groups), strata = strata_code)
  of_rows <- list(
    adjust = adjust, weights = data_value(expressions$weights, weights, x, data),
    within = data_value(expressions$within, within, x, data),
    groups = data_value(expressions$groups, groups, x, data),
    strata = data_value(expressions$strata, strata, x, data)
  )
  subset <- data_value(substitute(subset), subset, x, data)
  in_data <- expressions[vapply(expressions, is_in_data, NA, data)]
  apart <- c(all.vars(x[[2L]]), unlist(lapply(c(in_data, parts$offset), all.vars)),
             label_variables(of_rows))
  kept <- list(data = data, of_rows = of_rows)
  gaps <- identical(missing, "mean")
  if (!is.null(subset) || !is.null(omit)) {
    stop_argument_if(!is.null(offset),
                     "with `subset` or `na.action` give the offset by offset() in the formula")
    kept <- kept_rows(x, data, subset, omit, of_rows, apart, gaps)
  }
  data <- kept$data
  env <- environment(x)
  dot <- as.character(setdiff(names(data), apart))
  design <- formula_design(x[[3L]], env, data, dot, intercept, "data", gaps)
  refuse_own_response(x[[2L]], design)
  is_pair <- vapply(curves$found, function(term) !is.null(term$pair), NA)
  smooth <- formula_smooth(smooth, curves$found[!is_pair], dot, env)
  interactions <- formula_pairs(interactions, curves$found[is_pair], env)
  added <- if (length(parts$offset)) sum_of_terms(parts$offset)
  # the user's environment may hold large data, which would be saved with every fit
  of_terms <- environment(design$terms)
  environment(stated) <- if (length(of_terms)) of_terms else globalenv()
  new_problem(design_matrix(design, data, "data", env), formula_response(x, data),
              response_name(x[[2L]]), ..., data = data, weights = kept$of_rows$weights,
              adjust = kept$of_rows$adjust, within = kept$of_rows$within,
              groups = kept$of_rows$groups, strata = kept$of_rows$strata, intercept = intercept,
              design = design, kept = kept$rows, missing = missing, smooth = smooth,
              interactions = interactions, row_codes = list(
                offset = added, strata = row_code(strata, data, expressions$strata, crossed_terms)
              ), offset = if (is.null(added)) offset else eval(added, data, env),
              row_names = given_row_names(data), formula = stated,
              omitted = kept$omitted, called = c(x = "data", y = response_name(x[[2L]])))
}

# Refuses the response as a variable of its own model.
refuse_own_response <- function(left, design) {
  variables <- if (is.null(design$terms)) design$columns$variable else
    rownames(attr(design$terms, "factors"))
  name <- deparse1(left, backtick = !is.null(design$terms))
  stop_input_if(name %in% variables,
                "the response `%s` is on the right side of the formula, too: leave it out there",
                response_name(left))
}

# The right side of a formula with the argument of each term s() in its place, and these terms: a
# list of `of`, the argument, `df`, its degrees of freedom, and `basis`, if they are given, and of a
# pair `pair`, its two arguments, whose sum is in its place.
split_curves <- function(rhs) {
  if (is_call_of(rhs, "s")) {
    term <- curve_term(rhs)
    return(list(rest = term$of, found = list(term)))
  }
  if (!is_call_of(rhs, c("+", "-", "("))) {
    inner <- find_call(rhs, function(code) is_call_of(code, "s"))
    stop_input_if(!is.null(inner),
                  "`%s` must be a term by itself, added to the others, not a part of `%s`",
                  deparse1(inner), deparse1(rhs))
    return(list(rest = rhs, found = list()))
  }
  found <- list()
  for (i in seq_along(rhs)[-1L]) {
    part <- split_curves(rhs[[i]])
    rhs[[i]] <- part$rest
    if (is_call_of(rhs, "-") && i == length(rhs)) {
      found <- Filter(function(term) !identical(term$of, part$rest), found)
      # the columns of a pair that is left out are not
      if (i == 3L && any(lengths(lapply(part$found, `[[`, "pair")))) {
        return(list(rest = rhs[[2L]], found = found))
      }
    } else {
      found <- c(found, part$found)
    }
  }
  list(rest = rhs, found = found)
}

# The argument and the degrees of freedom of a term s().
curve_term <- function(code) {
  arguments <- as.list(code)[-1L]
  named <- names(arguments)
  if (is.null(named)) named <- rep("", length(arguments))
  other <- setdiff(named, c("", "df", "basis"))
  stop_input_if(length(other),
                "`%s`: `%s` is no argument of s() here: use `df`, the degrees of freedom, %s",
                deparse1(code), other[1L], "or `basis`")
  of <- unname(arguments[named == ""])
  pair <- length(of) == 2L && !"basis" %in% named && !any(vapply(of, identical, NA, quote(.)))
  if (pair) {
    return(c(list(of = call("(", call("+", of[[1L]], of[[2L]])), pair = of),
             arguments[intersect("df", named)]))
  }
  stop_input_if(length(of) != 1L,
                "`%s` must have one variable, or two alone: s() is a curve or a pair",
                deparse1(code))
  c(list(of = of[[1L]]), arguments[setdiff(named, "")])
}

# The value of an argument of a term s() in `env`, NULL if it is not given.
term_value <- function(term, name, env) {
  value <- user_value(eval(term[[name]], env), sprintf("`%s` of s() must be a value", name))
  stop_input_if(name == "df" && !is.null(value) && !is_number(value),
                "`df` of s() must be a number, not %s", describe(value))
  value
}

# `interactions` with the terms s(a, b) of a formula in `env`, which are given pairs.
formula_pairs <- function(interactions, found, env) {
  if (!length(found)) return(interactions)
  pairs <- lapply(found, function(term) {
    vapply(term$pair, function(of) if (is.name(of)) as.character(of) else deparse1(of), "")
  })
  df <- lapply(found, function(term) c(term_value(term, "df", env), pair_functions)[1L])
  given <- split_functions(if (!isFALSE(interactions)) interactions)
  if (is.null(given$pairs)) return(c(pairs, list(df = unlist(df))))
  stop_argument_if(!is.list(given$pairs),
                   "`interactions` screens pairs, and the formula has `s(%s, %s)`: %s",
                   pairs[[1L]][1L], pairs[[1L]][2L], "give pairs, or let all be screened")
  own <- check_functions(given$df, length(given$pairs), FALSE)
  c(pairs, given$pairs, list(df = c(unlist(df), own)))
}

# `smooth` with the terms s() of a formula in `env`, which take precedence. `dot` has the variables
# of `.`.
formula_smooth <- function(smooth, found, dot, env) {
  if (!length(found)) return(smooth)
  own <- lapply(found, function(term) {
    df <- term_value(term, "df", env)
    one <- list(basis = term_value(term, "basis", env))
    if (identical(term$of, quote(.))) {
      return(c(one, list(among = dot, smooth = if (is.null(df)) TRUE else df)))
    }
    name <- if (is.name(term$of)) as.character(term$of) else deparse1(term$of)
    c(one, list(smooth = if (is.null(df)) name else stats::setNames(df, name)))
  })
  structure(c(own, list(list(smooth = smooth))), class = "smooth_terms")
}

# The data frame of a formula. It may be the second argument, where other calls have the response.
formula_data <- function(y, data) {
  stop_input_if(!is.null(y) && !is.null(data),
                if (is.data.frame(y)) "the data are given twice, as `y` and as `data`" else
                  "`y` is the left side of the formula `x`: do not give it again")
  if (is.null(data)) data <- y
  stop_input_if(!is.null(data) && !is.data.frame(data), "`data` must be a data frame, not %s%s",
                describe(data), if (is.matrix(data)) ": as.data.frame() makes one" else if
                (isS4(data)) ": give it as `x`, and the response as `y`" else "")
  if (anyNA(names(data))) check_names(names(data), "data")
  check_encoding(names(data), "a name of `data`", "column")
  data
}

# Refuses data with two columns of the same name, of which a formula would use the first alone.
check_repeated <- function(formula, data) {
  twice <- names(data)[duplicated(names(data))]
  if (!"." %in% all.vars(formula[[3L]])) twice <- intersect(twice, all.vars(formula))
  names <- names(data)
  check_names(ifelse(names %in% twice, names, make.unique(names)), "data")
}

# The value of an argument that may be an expression of variables of the data, as in lm(). Any other
# argument is an ordinary value.
data_value <- function(expression, value, formula, data) {
  if (!is_in_data(expression, data)) return(value)
  user_value(eval(expression, data, environment(formula)), sprintf("`%s`", deparse1(expression)))
}

# list(...), in which expressions of variables of the data, such as `weights`, stay expressions
dots_with_data <- function(..., data) {
  expressions <- as.list(substitute(list(...)))[-1L]
  in_data <- names(expressions) %in% data_expressions & vapply(expressions, is_in_data, NA, data)
  given <- lapply(seq_along(expressions), function(i) {
    if (in_data[i]) structure(list(expressions[[i]]), class = "in_data") else ...elt(i)
  })
  stats::setNames(given, names(expressions))
}

# How rows with missing values are left out, the class of stats::na.action(): "omit", "exclude", or
# NULL where they are not, as by na.fail and na.pass: missing values that stay are an error or are
# replaced. `na.action` has the same values as in lm(): a function of the package stats, or its
# name. S4Vectors makes an S4 generic of na.omit().
omits_missing <- function(action) {
  given <- if (inherits(action, "standardGeneric")) as.character(action@generic) else action
  is_same <- function(name) {
    identical(given, name) ||
      is.function(given) && identical(given, getExportedValue("stats", name))
  }
  if (is.null(given) || is_same("na.fail") || is_same("na.pass")) return(NULL)
  if (is_same("na.omit")) return("omit")
  if (is_same("na.exclude")) return("exclude")
  refuse("na.action", "na.fail, na.pass, na.omit or na.exclude", action)
}

# The rows in `subset` less the rows with missing values: list(data, of_rows, rows, omitted). `data`
# includes the formula's other variables. The attribute `of` of `rows` is the number of all rows.
# `of_rows` has the arguments with a value for each row. `apart` has variables that `.` does not
# represent. Missing values of the candidates are replaced, not omitted, with `gaps`.
kept_rows <- function(formula, data, subset, omit, of_rows, apart, gaps) {
  count <- if (is.null(data)) NROW(formula_response(formula, data)) else nrow(data)
  named <- all.vars(formula[[3L]])
  variables <- union(apart, if ("." %in% named) names(data) else named)
  if (is.null(data)) data <- list2DF(list(), count)
  frames <- character()
  for (name in setdiff(setdiff(variables, "."), names(data))) {
    value <- get0(name, environment(formula))
    if (NROW(value) == count && !is.function(value)) data[[name]] <- value
    if (is.data.frame(value)) frames <- c(frames, name)
  }
  by_row <- given_by_row(of_rows, count)
  subset <- if (is.null(subset)) seq_len(count) else plain_variable(subset)
  if (is.logical(subset)) subset <- subset & !is.na(subset)
  rows <- positions(subset, count, row.names(data), "row")
  omitted <- NULL
  if (!is.null(omit)) {
    # in d$y ~ a other variables of the data frame d do not count
    needed <- setdiff(if (gaps) apart else variables, frames)
    values <- c(unclass(data)[intersect(needed, names(data))], by_row)
    if (length(frames)) values$response <- formula_response(formula, data)
    complete <- complete_values(values, count)[rows]
    omitted <- omitted_rows(complete, row.names(data)[rows], omit)
    rows <- rows[complete]
  }
  of_rows[names(by_row)] <- lapply(by_row, taken_rows, rows)
  list(data = data[rows, , drop = FALSE], of_rows = of_rows, rows = structure(rows, of = count),
       omitted = omitted)
}

# the arguments that have a value for each of the rows
given_by_row <- function(of_rows, count) {
  Filter(function(value) NROW(value) == count && !inherits(value, "formula"), of_rows)
}

# The numbers of the rows that are not complete, by name, as stats::na.action() gives them, or NULL.
# Refuses to leave out all rows but one, or all.
omitted_rows <- function(complete, names, class) {
  stop_input_if(sum(complete) < 2L && !all(complete),
                "`na.action = na.omit` leaves %s: for missing values of x give %s",
                counted(sum(complete), "row"), "`missing = \"mean\"`")
  omitted <- stats::setNames(which(!complete), names[!complete])
  if (length(omitted)) structure(omitted, class = class)
}

# Of a matrix or data frame with the rows that `subset` and na.omit() left out of a problem, the
# rows of the problem.
without_omitted <- function(problem, data) {
  rows <- problem$kept
  whole <- (is.data.frame(data) || is.matrix(data)) && length(rows) == nrow(problem) &&
    nrow(data) == attr(rows, "of")
  if (whole) data[as.vector(rows), , drop = FALSE] else data
}

# The rows without missing values of x (a matrix), its arguments with a value for each row, and
# variables of `data` in these: list(x, of_rows, data, row_names, kept, omitted). Missing values of
# x count if `of_x`. Rows of an x that is read in place get weight 0 instead, and the values of
# another row.
complete_rows <- function(x, of_rows, data, row_names, of_x, class) {
  count <- nrow(x)
  variables <- label_variables(of_rows[c("weights", "offset", "within", "groups", "strata")])
  if (inherits(of_rows$adjust, "formula")) variables <- c(variables, all.vars(of_rows$adjust))
  if (is.character(of_rows$adjust)) variables <- c(variables, of_rows$adjust)
  by_row <- given_by_row(of_rows, count)
  complete <- complete_values(c(by_row, unclass(data)[intersect(variables, names(data))]), count)
  in_place <- is_read_in_place(x)
  if (of_x && !in_place) complete <- complete & !is.na(rowSums(x))
  names <- if (is.null(row_names)) as.character(seq_len(count)) else row_names
  omitted <- omitted_rows(complete, names, class)
  rows <- which(complete)
  kept <- structure(rows, of = count)
  if (in_place) {
    weights <- labels_in(data, of_rows$weights, "weights")
    weights <- if (is.null(weights)) rep(1, count) else plain_variable(weights)
    rows <- replace(seq_len(count), !complete, rows[1L])
    kept <- NULL
    of_rows$weights <- replace(weights, !complete, 0)
    by_row$weights <- NULL
  } else {
    x <- x[rows, , drop = FALSE]
    if (!is.null(row_names)) row_names <- row_names[rows]
  }
  of_rows[names(by_row)] <- lapply(by_row, taken_rows, rows)
  if (is.data.frame(data) && nrow(data) == count) data <- data[rows, , drop = FALSE]
  list(x = x, of_rows = of_rows, data = data, row_names = row_names, kept = kept, omitted = omitted)
}

formula_response <- function(formula, data) {
  unknown <- unknown_variables(formula[[2L]], data, environment(formula))
  stop_input_if(length(unknown), "no variable %s in `data`", some_of(unknown))
  user_value(eval(formula[[2L]], data, environment(formula)), "the response of the formula fails")
}

# Back to a formula --------------------------------------------------------------------------------

# The formula of the response by some columns, with the covariates of a design, the offset and the
# strata.
column_formula <- function(problem, columns, adjust = NULL) {
  terms <- c(if (!is.null(adjust)) column_terms(adjust, problem, seq_along(adjust_names(adjust))),
             candidate_terms(problem, columns))
  intercept <- has_given_intercept(problem)
  of_rows <- without_null(problem$coding[c("offset", "strata")])
  terms <- c(if (!intercept || !length(terms)) as.numeric(intercept), unique(terms),
             unname(Map(function(name, code) call(name, code), names(of_rows), of_rows)))
  given <- problem$coding$formula
  left <- if (is.null(given)) as.name(problem$coding$response) else given[[2L]]
  formula <- call("~", left, sum_of_terms(terms))
  stats::as.formula(formula, if (is.null(given)) globalenv() else environment(given))
}

# The terms of a formula that some columns of a design belong to, as language.
column_terms <- function(design, problem, columns) {
  if (is.null(design$terms)) {
    names <- if (is.null(design$columns)) adjust_names(design) else design$columns$variable
    return(lapply((if (is.null(names)) source_names(problem) else names)[columns], as.name))
  }
  chosen <- design$columns[columns, ]
  lapply(chosen$code, function(code) {
    term <- str2lang(code)
    # of a variable that is a matrix, the columns alone
    values <- if (is.name(term)) design$example[[as.character(term)]]
    if (!is.matrix(values) || ncol(values) == 1L) return(term)
    place <- chosen$place[chosen$code == code]
    if (!is.null(colnames(values))) place <- colnames(values)[place]
    call("[", term, quote(expr = ), place) # nolint: spaces_inside_linter.
  })
}

# The terms of some columns of a problem, where columns of a curve, and of a pair, are s() of their
# sources.
candidate_terms <- function(problem, columns) {
  if (!has_terms(problem)) return(column_terms(problem$coding$design, problem, columns))
  lapply(columns, function(column) {
    terms <- column_terms(problem$coding$design, problem, read_places(problem, column))
    curve <- problem$curves[[source_names(problem)[column]]]
    if (length(terms) == 2L) {
      curve <- list(df = problem$pairs$functions[problem$columns$pair[column]], basis = "curve")
    }
    if (is.null(curve)) return(terms[[1L]])
    plain <- if (length(terms) == 2L) pair_functions else basis_df[[curve$basis]]
    as.call(c(list(quote(s)), terms, if (curve$df != plain) list(df = as.double(curve$df)),
              if (curve$basis != "curve") list(basis = curve$basis)))
  })
}

adjust_names <- function(design) if (is.null(design$columns)) design$names else design$columns$name
