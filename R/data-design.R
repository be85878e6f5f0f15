# Designs: how the variables of a data frame become columns, and how new data become the same
# columns. A design has `columns`, a data frame with one row per column of the matrix, so that a
# subset of columns is a design as well and requires only the variables it uses in new data. There
# are two kinds:
# - a frame design: a column is a variable, or the indicator of one level of a variable. It is fast
#   for any number of columns.
# - a terms design: a column is one of model.matrix(), for transformations and interactions.

# Frame design ------------------------------------------------------------------------------------

#' @srrstats {G2.10} `R/data-design.R` takes columns as lists. `tests/testthat/test-design-forms.R`
frame_design <- function(frame, intercept, called = "x", gaps = FALSE) {
  levels <- stats::setNames(vector("list", length(frame)), names(frame))
  other <- !plain_numbers(frame)
  levels[other] <- Map(function(value, name) variable_levels(value, name, called, gaps),
                       unclass(frame)[other], names(frame)[other])
  coded <- !vapply(levels, is.null, NA)
  if (called != "adjust") say_many_levels(levels[coded], frame, called)
  say_contrasts(unclass(frame)[coded], called)
  # as in model.matrix(): treatment contrasts, and all levels of the first factor without intercept
  treated <- coded & (intercept | cumsum(coded) > 1L)
  shown_levels <- rep(list(NA_character_), length(frame))
  shown_levels[coded] <- Map(function(level, treated) if (treated) level[-1L] else level,
                             levels[coded], treated[coded])
  columns <- data.frame(
    variable = rep(names(frame), lengths(shown_levels)),
    level = as.character(unlist(shown_levels, use.names = FALSE))
  )
  columns$name <- distinct_names(
    paste0(columns$variable, ifelse(is.na(columns$level), "", columns$level)),
    !is.na(columns$level), paste(columns$variable, columns$level, sep = ".")
  )
  list(columns = columns, levels = levels[coded],
       unused = unused_levels(levels[coded], unclass(frame)[coded]))
}

# The messages about variables of many levels for their rows: numbers as text, the names of the
# rows, or of the subjects of few rows each.
say_many_levels <- function(levels, variables, called) {
  rows <- if (length(variables)) NROW(variables[[1L]]) else 0L
  counts <- lengths(lapply(lapply(variables[names(levels)], plain_variable), unique))
  numbers <- counts > max(10, rows / 2) & vapply(levels, are_numbers, NA)
  names <- !numbers & rows > 2L & counts == rows
  subjects <- !numbers & !names & counts >= 20L & counts > rows / 5
  verb <- function(which, one, several) if (sum(which) == 1L) one else several
  message_if(any(numbers), "sparsels_message_numbers",
             "%s of `%s` %s text of numbers, each of which becomes a column: %s",
             some_of(names(levels)[numbers]), called, verb(numbers, "is", "are"),
             "as.numeric(as.character()) makes numbers of it")
  message_if(any(names), "sparsels_message_names",
             "%s of `%s` %s another value in every row, each of which becomes a column: %s",
             some_of(names(levels)[names]), called, verb(names, "has", "have"),
             "if these are the names of the rows, give them as row names")
  several <- names(levels)[subjects]
  message_if(any(subjects), "sparsels_message_subjects",
             "%s of `%s` %s %s levels in %d rows, each of which becomes a column: %s",
             some_of(several), called, verb(subjects, "has", "have"),
             paste(unique(range(counts[subjects])), collapse = " to "), rows, sprintf(
               "if these are subjects with several rows each, give `groups = \"%s\"`", several[1L]
             ))
}

# The message about factors with other contrasts than treatment contrasts.
say_contrasts <- function(factors, called) {
  others <- vapply(factors, function(value) {
    given <- attr(value, "contrasts")
    treatment <- function() stats::contr.treatment(nlevels(value))
    !is.null(given) && !identical(given, "contr.treatment") &&
      !isTRUE(all.equal(unname(stats::contrasts(value)), unname(treatment())))
  }, NA)
  message_if(any(others), "sparsels_message_contrasts",
             "the contrasts of %s of `%s` are not used: %s", some_of(names(factors)[others]),
             called,
             "each level but the first becomes a column, and model.matrix() makes other columns")
}

# whether all of some words are numbers
are_numbers <- function(words) !anyNA(suppressWarnings(as.numeric(words)))

# The names of columns, where the `coded` ones whose names others have get other names: a factor V1
# with a level 2 beside a variable V12.
distinct_names <- function(names, coded, other = names) {
  clash <- coded & names %in% names[duplicated(names)]
  if (any(clash)) {
    kept <- sum(!clash)
    names[clash] <- make.unique(c(names[!clash], other[clash]))[kept + seq_len(sum(clash))]
  }
  names
}

# The levels of factors that no row has, where there are any.
unused_levels <- function(levels, values) {
  unused <- Map(function(level, value) {
    value <- as.character(value)
    setdiff(level, c(value, if (anyNA(value)) level_of_missing))
  }, levels, values)
  unused[lengths(unused) > 0L]
}

# A data frame without the levels that no row has, in some of its variables.
used_levels <- function(frame, variables) {
  for (name in intersect(variables, names(frame))) {
    if (is.factor(frame[[name]])) frame[[name]] <- droplevels(frame[[name]])
  }
  frame
}

# The levels of a factor, or NULL. With `gaps`, or if NA is a level, missing values are a level.
variable_levels <- function(value, name, called, gaps = FALSE) {
  value <- plain_variable(value)
  if (is.null(dim(value))) {
    if (are_numeric(value) || is.logical(value)) return(NULL)
    if (is.character(value)) value <- factor(value)
    if (is.factor(value)) {
      missing <- anyNA(levels(value)) || gaps && anyNA(value)
      return(union(levels(value)[!is.na(levels(value))], if (missing) level_of_missing))
    }
  }
  stop_input("column '%s' of `%s` must be numeric, logical, a factor or character, not %s%s", name,
             called, describe(value), number_hint(value))
}

# How values that are not numbers become numbers, for the end of a message.
number_hint <- function(value) {
  if (inherits(value, "difftime")) return(": as.numeric(, units = \"days\") makes numbers of it")
  if (is_time(value)) return(": as.numeric() makes numbers of it")
  if (inherits(value, "Surv")) return("")
  if (is.matrix(value) && is.numeric(value)) return(": a formula such as y ~ . takes matrices")
  if (is.complex(value)) return(": Re() or Mod() makes numbers of it")
  if (is.raw(value)) return(": as.integer() makes numbers of it")
  if (is.data.frame(value)) return(": as.matrix() makes a matrix of it")
  if (is.matrix(value) && is.logical(value)) return(": adding 0 makes numbers of it")
  if (is.character(value) || is.factor(value)) {
    words <- unique(as.character(value))
    if (all(words %in% c("TRUE", "FALSE", NA))) return(": as.logical() makes TRUE and FALSE of it")
    if (!are_numbers(words)) return("")
    return(if (is.matrix(value)) ": type.convert(, as.is = TRUE) makes numbers of it" else
      ": as.numeric(as.character()) makes numbers of it")
  }
  if (isS4(value)) return(": as.vector() makes a vector of it")
  singles <- is.vector(value, "list") && all(lengths(value) == 1L)
  if (singles) ": unlist() makes a vector of it" else ""
}

frame_matrix <- function(design, data, called) {
  columns <- design$columns
  used <- unique(columns$variable)
  check_present(used, names(data), called)
  # a list indexed by position: lookup by name would be quadratic in the number of columns
  values <- unclass(data)[used]
  other <- !plain_numbers(values) | used %in% names(design$levels)
  values[other] <- Map(function(value, levels, name) known_values(value, levels, name, called),
                       values[other], design$levels[used[other]], used[other])
  if (called == "newdata") warn_unused(values, design$unused[used])
  variable <- match(columns$variable, used)
  rows <- nrow(data)
  x <- vapply(seq_len(nrow(columns)), function(j) {
    value <- values[[variable[j]]]
    as.double(if (is.na(columns$level[j])) value else value == columns$level[j])
  }, numeric(rows))
  dim(x) <- c(rows, nrow(columns))
  colnames(x) <- columns$name
  x
}

# Which variables are plain vectors of numbers. Wide frames have thousands of them, which need no
# other look.
plain_numbers <- function(frame) {
  vapply(unclass(frame), function(value) is.numeric(value) && is.null(attributes(value)), NA)
}

# a variable of new data, checked against the type and levels of the training data
known_values <- function(value, levels, name, called) {
  value <- plain_variable(value)
  if (is.null(levels)) {
    if (is.null(dim(value)) && (are_numeric(value) || is.logical(value))) return(value)
    # a column of missing values only may have any type
    if (all(is.na(value))) return(as.double(value))
    stop_input("column '%s' of `%s` must be numeric or logical, not %s%s", name, called,
               describe(value), number_hint(value))
  }
  value <- as.character(value)
  if (level_of_missing %in% levels) value[is.na(value)] <- level_of_missing
  unknown <- setdiff(value, c(levels, NA))
  stop_newdata_if(length(unknown),
                  "column '%s' of `%s` has levels not seen before: %s (known are %s)", name, called,
                  some_of(unknown), some_of(levels))
  value
}

# Warns of new values of factors that are levels, but of no training row.
warn_unused <- function(values, unused) {
  for (name in intersect(names(values), names(unused))) {
    new <- intersect(values[[name]], unused[[name]])
    warn_if(length(new), "sparsels_warning_level",
            "column '%s' of `newdata` has levels that no training row has: %s, %s", name,
            some_of(new), "which have no coefficients")
  }
}

check_present <- function(needed, present, called) {
  absent <- setdiff(needed, present)
  stop_newdata_if(length(absent), "`%s` lacks %s: %s", called,
                  counted(length(absent), "needed column"), some_of(absent))
  twice <- intersect(needed, present[duplicated(present)])
  stop_newdata_if(length(twice), "`%s` has two columns named '%s'", called, twice[1L])
}

# Formulas ----------------------------------------------------------------------------------------

# The terms of a sum from left to right, each a list of its `sign` and its `code`.
signed_terms <- function(rhs) {
  if (is_call_of(rhs, "(")) return(signed_terms(rhs[[2L]]))
  if (!is_call_of(rhs, c("+", "-"))) return(list(list(sign = "+", code = rhs)))
  last <- list(sign = as.character(rhs[[1L]]), code = rhs[[length(rhs)]])
  c(if (length(rhs) == 3L) signed_terms(rhs[[2L]]), list(last))
}

# The right side of a formula without its numbers and its terms offset() and strata(): the `rest`,
# whether numbers leave it an `intercept` (0 and - 1 do not, and of several the last counts), the
# arguments of offset(), and the sum of the arguments of strata(), NULL without any.
split_terms <- function(rhs) {
  terms <- signed_terms(plain_sum(rhs))
  calls_of <- function(name) {
    vapply(terms, function(term) term$sign == "+" && is_term_of(term$code, name), NA)
  }
  offset <- calls_of("offset")
  strata <- calls_of("strata")
  number <- vapply(terms, function(term) is_number(term$code), NA)
  last <- utils::tail(terms[number], 1L)
  kept <- which(!number & !offset & !strata)
  rest <- 1
  for (i in kept) {
    term <- terms[[i]]
    rest <- if (i == kept[1L] && term$sign == "+") term$code else
      if (i == 1L) call("-", term$code) else call(term$sign, rest, term$code)
  }
  arguments <- function(term) unname(as.list(term$code)[-1L])
  variables <- unlist(lapply(terms[strata], arguments), recursive = FALSE)
  list(rest = rest, offset = unique(lapply(terms[offset], function(term) term$code[[2L]])),
       strata = if (length(variables)) sum_of_terms(variables),
       intercept = !length(last) || (last[[1L]]$code != 0) == (last[[1L]]$sign == "+"))
}

# whether code is a call of offset(), or of strata() with or without its package
is_term_of <- function(code, name) {
  heads <- list(as.name(name), call("::", quote(survival), as.name(name)))
  is.call(code) && any(vapply(heads, identical, NA, code[[1L]]))
}

# A right side whose offsets, strata and numbers are terms by themselves. Where the user has some in
# parentheses or products, it is the sum of the terms of terms(), which has no products of offsets.
plain_sum <- function(rhs) {
  of_rows <- function(code) is_term_of(code, "offset") || is_term_of(code, "strata")
  removed <- find_call(rhs, function(code) {
    is_call_of(code, "-") &&
      !is.null(find_call(code[[length(code)]], of_rows, formula_operators))
  }, formula_operators)
  stop_input_if(!is.null(removed),
                "`%s` takes offset() or strata() away: leave it out of the formula",
                deparse1(removed))
  is_nested <- function(code) {
    of_rows(code) ||
      is_call_of(code, c("+", "-", "(")) && any(vapply(as.list(code)[-1L], is_number, NA))
  }
  nested <- Find(function(term) {
    !of_rows(term$code) && !is.null(find_call(term$code, is_nested, formula_operators))
  }, signed_terms(rhs))
  if (is.null(nested)) return(rhs)
  terms <- user_value(stats::terms(stats::as.formula(call("~", rhs)), allowDotAsName = TRUE,
                                   keep.order = TRUE), "a formula has no valid right side")
  variables <- as.list(attr(terms, "variables"))[-1L]
  sum_of_terms(c(lapply(attr(terms, "term.labels"), str2lang), variables[attr(terms, "offset")],
                 attr(terms, "intercept")))
}

# the design of a formula's right side, where `.` represents the variables in `dot`
formula_design <- function(rhs, env, data, dot, intercept, called, gaps = FALSE) {
  plain <- plain_variables(rhs, dot)
  stop_input_if("." %in% all.vars(rhs) && is.null(data), "`.` in a formula needs `data`")
  if (!is.null(plain) && all(c(plain, setdiff(all.vars(rhs), ".")) %in% names(data))) {
    frame <- unclass(data)[plain]
    vectors <- all(vapply(frame, function(value) is.null(dim(value)), NA))
    if (vectors) return(frame_design(frame, intercept, called, gaps))
  }
  terms_design(rhs, env, data, dot, intercept, called, gaps)
}

# The variables of a right side that only adds and removes names, or NULL for any other formula. It
# avoids terms(), whose time and memory are quadratic in the number of variables.
plain_variables <- function(rhs, dot) {
  if (is.symbol(rhs)) return(if (identical(rhs, quote(.))) dot else as.character(rhs))
  if (is.numeric(rhs)) return(character())
  if (!is.call(rhs)) return(NULL)
  operator <- as.character(rhs[[1L]])[1L]
  if (operator == "(") return(plain_variables(rhs[[2L]], dot))
  if (!operator %in% c("+", "-")) return(NULL)
  rhs_part <- rhs[[length(rhs)]]
  lhs <- if (length(rhs) == 3L) plain_variables(rhs[[2L]], dot) else character()
  rhs_part <- plain_variables(rhs_part, dot)
  if (is.null(lhs) || is.null(rhs_part)) return(NULL)
  if (operator == "+") union(lhs, rhs_part) else setdiff(lhs, rhs_part)
}

terms_design <- function(rhs, env, data, dot, intercept, called, gaps = FALSE) {
  check_operators(rhs, env)
  # also of terms that are removed
  unknown <- setdiff(unknown_variables(rhs, data, env), ".")
  stop_input_if(length(unknown), "no variable %s in %s", some_of(unknown),
                if (is.null(data)) "the formula's environment" else sprintf("`%s`", called))
  refuse_containers(rhs, env, data, dot, called)
  formula <- stats::as.formula(call("~", rhs), env)
  empty <- stats::setNames(data.frame(matrix(0, 0L, length(dot))), dot)
  terms <- user_value(stats::terms(formula, data = empty), "a formula has no valid right side")
  stop_input_if(!length(attr(terms, "term.labels")),
                "the formula has no term in `%s`: arithmetic is written in I(), as in I(1/x)",
                deparse1(rhs))
  attr(terms, "intercept") <- as.integer(intercept)
  unknown <- Filter(function(name) !exists(name, env, mode = "function"), called_functions(rhs))
  stop_input_if(length(unknown), "no function %s in the formula's environment: %s",
                some_of(unknown), "for smooth terms use s(), splines::ns() or poly()")
  frame <- user_value(stats::model.frame(terms, data, na.action = stats::na.pass),
                      sprintf("`%s` does not give the variables of the formula", called))
  times <- Filter(function(value) is_time(value) || inherits(value, "Surv"), unclass(frame))
  Map(variable_levels, times, names(times), called)
  design <- list(terms = lean_terms(attr(frame, "terms"), env, data, nrow(frame)))
  coded <- names(stats::.getXlevels(attr(frame, "terms"), frame))
  design$levels <- Map(variable_levels, unclass(frame)[coded], coded, called, gaps)
  say_many_levels(design$levels, frame, called)
  say_contrasts(unclass(frame)[coded], called)
  design$unused <- unused_levels(design$levels, unclass(frame)[coded])
  single <- names(Filter(function(level) length(level) < 2L, design$levels))
  stop_input_if(length(single), "%s has one level only", some_of(single))
  variables <- attr(design$terms, "used")
  design$example <- lapply(variables, function(name) {
    value <- get_variable(name, data, env)
    if (is.matrix(value)) value[1L, , drop = FALSE] else value[1L]
  })
  names(design$example) <- variables
  design$columns <- terms_columns(design, frame)
  warn_of_other_rows(design$terms, frame, lapply(stats::setNames(variables, variables),
                                                 get_variable, data, env))
  design
}

# Refuses matrices and lists that model.frame() does not take as variables of a formula.
refuse_containers <- function(code, env, data, dot, called) {
  kinds <- c("Matrix", "big.matrix", "DelayedArray", "matrix_in_place", "FBM")
  names <- variables_in(code)
  for (name in c(setdiff(names, "."), if ("." %in% names) dot)) {
    value <- get_variable(name, data, env)
    stop_input_if(inherits(value, kinds), "`%s` is %s: give it as `x`, and the response as `y`",
                  name, describe(value))
    if (is.list(value)) variable_levels(value, name, called)
  }
}

# Warns of variables of terms, such as rank(x), whose values in some rows change where the other
# rows are left out. In new rows such a variable has other values than in training rows.
warn_of_other_rows <- function(terms, frame, variables) {
  code <- as.list(attr(terms, "predvars"))[-1L]
  computed <- which(!vapply(code, is.name, NA))
  is_same_in <- function(rows, j) {
    part <- tryCatch(suppressWarnings(eval(code[[j]], lapply(variables, taken_rows, rows),
                                           environment(terms))), error = function(e) NULL)
    plain <- function(value) if (is.factor(value)) as.character(value) else c(value)
    is_alike(plain(part), plain(taken_rows(frame[[j]], rows)))
  }
  # half of the rows, in no order in which classes or patients may be
  half <- (seq_len(nrow(frame)) * 0.618) %% 1 < 0.5
  changed <- Filter(function(j) !is_same_in(half, j) || !is_same_in(!half, j), computed)
  warn_if(
    length(changed) && nrow(frame) > 1L, "sparsels_warning_rows",
    "%s of the formula depends on the other rows, so that new rows would have other values: %s, %s",
    some_of(names(frame)[changed]), "give constants, such as the breaks of cut()",
    "or use scale(), poly() or splines::ns(), which keep what they take from the training rows"
  )
}

taken_rows <- function(value, rows) {
  if (length(dim(value)) == 2L) value[rows, , drop = FALSE] else value[rows]
}

# The variables in code, of `a$b` only `a`.
variables_in <- function(code) {
  if (!is.call(code)) return(all.vars(code))
  if (is_part(code)) return(variables_in(code[[2L]]))
  unique(unlist(lapply(as.list(code)[-1L], variables_in)))
}

# The variables of code that neither the data nor the environment has. A function of the environment
# is no variable, except as an argument of a call, as in ave(x, FUN = median).
unknown_variables <- function(code, data, env) {
  operators <- c(formula_operators, "|", "I", "~")
  Filter(function(name) {
    if (!exists(name, env)) return(TRUE)
    is.function(get(name, env)) && is.null(find_call(code, function(call) {
      !deparse1(call[[1L]]) %in% operators && list(as.name(name)) %in% as.list(call)[-1L]
    }))
  }, setdiff(variables_in(code), names(data)))
}

is_part <- function(code) is.call(code) && deparse1(code[[1L]]) %in% c("$", "@")

# Terms of the models of survival and of aov(), with the way to say the same.
special_terms <- c(
  Error = "`groups` keeps the rows of a stratum together",
  cluster = "`groups` keeps the rows of a cluster together",
  frailty = "`groups` keeps rows together, and `adjust` adjusts for a factor",
  ridge = "`penalty` has a factor for each column",
  pspline = "splines::ns() makes smooth terms",
  tt = "effects that change with time are not fitted",
  te = "s(x, z) offers the products of a pair", ti = "s(x, z) offers the products of a pair",
  t2 = "s(x, z) offers the products of a pair", `mgcv::s` = "s() is written without its package",
  strata = "strata() must be a term by itself, added to the others"
)

# Refuses parts of objects, which new data would not have, random effects and special terms.
check_operators <- function(rhs, env) {
  # a special term, rather than a function of the user of this name
  key <- function(code) {
    head <- deparse1(code[[1L]])
    if (head %in% names(special_terms)) head else sub("^(survival|mgcv)::", "", head)
  }
  special <- find_call(rhs, function(code) {
    name <- key(code)
    if (!name %in% names(special_terms)) return(FALSE)
    own <- if (is.name(code[[1L]])) get0(name, env, mode = "function")
    is.null(own) || environmentName(environment(own)) %in% c("survival", "mgcv")
  })
  stop_input_if(!is.null(special), "`%s` is no term here: %s", deparse1(special),
                special_terms[[key(special)]])
  part <- find_call(rhs, is_part)
  stop_input_if(!is.null(part),
                "the formula takes a variable out of `%s`: name it, and give `data = %s`",
                deparse1(part[[2L]]), deparse1(part[[2L]]))
  # a random effect, rather than `|` of logical values in the call of a function
  bar <- find_call(rhs, function(code) is_call_of(code, c("|", "||")), formula_operators)
  stop_input_if(!is.null(bar),
                "`%s` is no term here: %s, `groups = ~ %s` keeps rows of a group together",
                deparse1(bar), "`adjust` adjusts for a factor", deparse1(bar[[3L]]))
}

formula_operators <- c("+", "-", "*", "/", "^", ":", "%in%", "(")

# The first call in code for which a test is true, or NULL. With `inside` only the arguments of
# calls of these names are searched.
find_call <- function(code, test, inside = NULL) {
  if (!is.call(code) || test(code)) return(if (is.call(code)) code)
  if (!is.null(inside) && !is_call_of(code, inside)) return(NULL)
  Find(Negate(is.null), lapply(Filter(is.call, as.list(code)), find_call, test, inside))
}

# The names of the functions that code calls, except where it names their package.
called_functions <- function(code) {
  if (!is.call(code)) return(character())
  head <- if (is.symbol(code[[1L]])) as.character(code[[1L]])
  if (any(head %in% c("::", ":::"))) return(character())
  unique(c(head, unlist(lapply(Filter(is.call, as.list(code)), called_functions))))
}

# the sum of some terms as the code of a formula
sum_of_terms <- function(terms) Reduce(function(left, right) call("+", left, right), terms)

get_variable <- function(name, data, env) {
  if (name %in% names(data)) data[[name]] else get(name, envir = env)
}

# The terms with a separate environment for the objects that the formula needs besides its
# variables. The user's environment may hold x, which would be saved with every fit.
lean_terms <- function(terms, env, data, rows) {
  is_variable <- function(name) name %in% names(data) || NROW(get(name, envir = env)) == rows
  variables <- Filter(is_variable, all.vars(terms))
  lean <- new.env(parent = globalenv())
  for (name in setdiff(all.names(terms, unique = TRUE), c(variables, "~"))) {
    value <- get0(name, envir = env)
    if (!identical(value, get0(name, envir = globalenv()))) assign(name, value, envir = lean)
  }
  environment(terms) <- lean
  attr(terms, "used") <- variables
  terms
}

terms_columns <- function(design, frame) {
  x <- model_columns(design, frame)
  keep <- which(colnames(x) != "(Intercept)")
  uses <- lapply(rownames(attr(design$terms, "factors")), function(text) {
    intersect(all.vars(str2lang(text)), attr(design$terms, "used"))
  })
  assigned <- attr(x, "assign")[keep]
  variables <- rownames(attr(design$terms, "factors"))
  code <- attr(design$terms, "term.labels")[assigned]
  of_factors <- colSums(attr(design$terms, "factors")[variables %in% names(design$levels), ,
                                                      drop = FALSE]) > 0
  names <- distinct_names(unquoted(colnames(x)[keep], variables), of_factors[assigned])
  columns <- data.frame(position = keep, name = names,
                        term = unquoted(code, variables), code = code)
  columns$place <- stats::ave(assigned, assigned, FUN = seq_along)
  columns$uses <- lapply(assigned, function(term) {
    unique(unlist(uses[attr(design$terms, "factors")[, term] > 0L]))
  })
  columns
}

# The names of columns or terms with each variable as the user has named it. model.matrix() and
# terms() quote some names by backticks.
unquoted <- function(names, variables) {
  quoted <- variables[vapply(variables, function(text) is.name(str2lang(text)), NA)]
  for (variable in quoted[startsWith(quoted, "`")]) {
    names <- gsub(variable, as.character(str2lang(variable)), names, fixed = TRUE)
  }
  names
}

# model.matrix() with the levels of the training data, all other variables as numbers, and treatment
# contrasts. model.matrix() would make several columns of text in place of numbers.
model_columns <- function(design, frame, called = "data") {
  for (name in names(design$levels)) {
    values <- known_values(frame[[name]], design$levels[[name]], name, called)
    if (called == "newdata") warn_unused(stats::setNames(list(values), name), design$unused)
    frame[[name]] <- factor(values, levels = design$levels[[name]])
  }
  for (name in setdiff(names(frame), names(design$levels))) {
    value <- frame[[name]]
    several <- length(dim(value)) == 2L && (is.numeric(value) || is.logical(value))
    frame[[name]] <- if (several) value + 0 else known_values(value, NULL, name, called) + 0
  }
  contrasts <- lapply(design$levels, function(level) "contr.treatment")
  stats::model.matrix(design$terms, frame, contrasts.arg = contrasts)
}

# The model frame of terms. Each of its variables must have a value for each of the rows.
values_of_terms <- function(terms, variables, rows, called) {
  code <- attr(terms, "predvars")
  if (is.null(code)) code <- attr(terms, "variables")
  values <- eval(code, variables, environment(terms))
  odd <- which(vapply(values, NROW, 0L) != rows)[1L]
  if (is.na(odd)) return(stats::model.frame(terms, variables, na.action = stats::na.pass))
  stop_newdata("'%s' has %s for %s of `%s`: a term must have a value for each row",
               deparse1(attr(terms, "variables")[[odd + 1L]]),
               counted(NROW(values[[odd]]), "value"), counted(rows, "row"), called)
}

# Either kind -------------------------------------------------------------------------------------

# The columns of a design from data. `env`, given for training data only, has the variables that are
# not in `data`.
design_matrix <- function(design, data, called, env = NULL) {
  if (is.null(design$terms)) return(frame_matrix(design, data, called))
  # poly() takes a single value of its second variable as a degree, and `[` drops dimensions
  if (is.null(env) && nrow(data) == 1L) {
    return(design_matrix(design, data[c(1L, 1L), , drop = FALSE], called)[1L, , drop = FALSE])
  }
  used <- attr(design$terms, "used")
  needed <- unique(unlist(design$columns$uses))
  if (is.null(env)) check_present(needed, names(data), called)
  rows <- if (is.null(data)) NROW(get(used[1L], envir = env)) else nrow(data)
  # variables that no wanted column uses may be absent, and are replaced by the training value of
  # their first row
  variables <- lapply(stats::setNames(used, used), function(name) {
    if (!name %in% needed) {
      value <- design$example[[name]]
      return(if (is.matrix(value)) value[rep(1L, rows), , drop = FALSE] else rep(value, rows))
    }
    value <- get_variable(name, data, env)
    if (is.null(env)) refuse_text(value, design$example[[name]], name, called)
    known <- NCOL(design$example[[name]])
    stop_newdata_if(NCOL(value) != known, "'%s' has %s in `%s`, and %d in the training data", name,
                    counted(NCOL(value), "column"), called, known)
    value
  })
  names <- design$columns$name
  if (rows == 0L) return(matrix(0, 0L, length(names), dimnames = list(NULL, names)))
  frame <- user_value(values_of_terms(design$terms, variables, rows, called),
                      sprintf("`%s` does not give the variables of the formula", called))
  x <- model_columns(design, frame, called)[, design$columns$position, drop = FALSE]
  dimnames(x) <- list(NULL, names)
  x
}

# Refuses text where the training data have no text: a function of it, such as I(a^2), would be NA.
refuse_text <- function(value, example, name, called) {
  is_text <- function(value) is.character(value) || is.factor(value)
  if (!is_text(value) || is_text(example) || all(is.na(value))) return(invisible())
  kind <- if (is.numeric(example) || is.logical(example)) "numeric" else
    sprintf("of class '%s'", class(example)[1L])
  stop_input("column '%s' of `%s` must be %s, not %s%s", name, called, kind, describe(value),
             number_hint(value))
}

# Whether each column is a column of a factor or a product with one.
coded_columns <- function(design) {
  if (is.null(design)) return(FALSE)
  if (is.null(design$terms)) return(!is.na(design$columns$level))
  factors <- attr(design$terms, "factors")
  coded <- rownames(factors) %in% names(design$levels)
  design$columns$code %in% colnames(factors)[colSums(factors[coded, , drop = FALSE]) > 0]
}

# The variable or term of each column: a term that makes several columns of vectors, such as a
# factor, a basis of splines or cbind(), is a group of columns. The columns of a matrix in the data,
# and of a function of it, have "". NULL without a design.
design_groups <- function(design) {
  if (is.null(design$terms)) return(design$columns$variable)
  given <- names(Filter(is.matrix, design$example))
  of_data <- vapply(design$columns$uses, function(uses) any(uses %in% given), NA)
  ifelse(of_data & !coded_columns(design), "", design$columns$term)
}

subset_design <- function(design, columns) {
  if (!is.null(design)) design$columns <- design$columns[columns, , drop = FALSE]
  design
}

# Covariates and groups among the columns ----------------------------------------------------------

# Covariates that are not columns: the intercept and the covariates given by `adjust`.
given_covariates <- function(problem) {
  setdiff(colnames(problem$z), problem$columns$name[unpenalised(problem)])
}

# The factor of the penalty of each column, as given.
given_factors <- function(problem) {
  factors <- problem$columns$penalty
  if (is.null(factors)) rep(1, ncol(problem)) else factors
}

# The factor of the penalty of each column. Directions of curves have a larger one than their lines.
factors_of <- function(problem) given_factors(problem) * roughness_of(problem)

# what multiplies the penalty of each column as it is a function of others
roughness_of <- function(problem) {
  roughness <- problem$columns$roughness
  if (is.null(roughness)) rep(1, ncol(problem)) else roughness
}

# The columns without penalty, which are covariates.
unpenalised <- function(problem) which(problem$columns$penalty == 0)

# The columns whose values predictions from some columns need.
needed_columns <- function(problem, columns) c(unpenalised(problem), columns)

# The problem with groups from labels of its columns. A label of one column is not a group. Where a
# group is left, `columns$group` is the number of each column's group, 0 for none, and
# `coding$column_groups` has the names of the groups, the rule, and whether the user gave the
# groups, which otherwise come from factors.
put_column_groups <- function(problem, labels, rule, stated) {
  labels <- as.character(labels)
  labels[is.na(labels)] <- ""
  labels[!labels %in% labels[duplicated(labels)]] <- ""
  names <- unique(labels[labels != ""])
  problem$columns$group <- if (length(names)) match(labels, names, 0L)
  problem$coding$column_groups <-
    if (length(names)) list(names = names, rule = rule, stated = stated)
  problem
}

# The problem with these names of the groups that some columns are in.
with_group_names <- function(problem, columns, names) {
  group <- problem$columns$group[columns]
  own <- which(group > 0L)
  if (length(own)) problem$coding$column_groups$names[group[own]] <- names[own]
  problem
}

# The problem with groups of these labels, by default its own, as another problem has groups. A
# group of which a single column is left is none.
regrouped <- function(problem, labels = c("", groups$names)[problem$columns$group + 1L],
                      like = problem) {
  groups <- like$coding$column_groups
  if (is.null(groups)) problem else put_column_groups(problem, labels, groups$rule, groups$stated)
}
