# A method, run on some rows of a problem or on other responses, as cross_validate(), judge() and
# their parts do repeatedly.

# The method, its arguments and the data ----------------------------------------------------------

# A run holds all that fitting a method to rows of a problem requires: list(method, name, arguments,
# by_row, problem). `x`, `y`, `data`, `method` and `...` are the user's arguments. `y` may be the
# method, as no other value of `y` is a function. `expressions` are those given as `y` and `method`,
# which name the response and the method. `known` has the names of the caller's other arguments.
# `by_default` is the name of the caller's default method. Without `expressions` the caller's
# `progress` and `BPPARAM` are checked here.
as_run <- function(x, y, method, ..., data, by_default = NULL,
                   known = names(formals(sys.function(sys.parent()))), expressions = NULL) {
  force(known)
  caller <- parent.frame()
  check_given(x, "x")
  if (is.null(expressions)) {
    check_flag(caller$progress, "progress")
    check_bpparam(caller$BPPARAM)
    expressions <- lapply(c(y = "y", method = "method"), function(name) {
      do.call(substitute, list(as.name(name), caller))
    })
  }
  y <- evaluated_response(x, y)
  if (is.null(method) && is.function(y)) {
    expressions <- list(y = NULL, method = expressions$y)
    method <- y
    y <- NULL
  } else if (is.null(method) && !is.null(by_default)) {
    expressions$method <- as.name(by_default)
    method <- get(by_default)
  }
  if (inherits(x, "formula")) {
    data <- formula_data(y, data)
    y <- NULL
  }
  stop_argument_if(inherits(x, "sparsels_fit"),
                   paste("`x` is a fit, where the data and the method are given, as in",
                         "cross_validate(x, y, greedy_rls): judge(fit, x) takes a fit"))
  check_method(method)
  check_method_dots(method, ..., known = known)
  given <- dots_with_data(..., data = if (inherits(x, "formula")) data)
  problem <- run_problem(x, y, data, given, method)
  if (problem$coding$response == "y" && !inherits(x, "formula")) {
    problem$coding$response <- response_name(expressions$y)
  }
  new_run(method, problem, given[!names(given) %in% problem_arguments],
          method_name(expressions$method),
          !isFALSE(given$groups))
}

# Folds given row by row are completed here and later reduced to the rows of each fit. Their groups
# of rows become the groups of a problem without groups, unless `inherits` is FALSE.
new_run <- function(method, problem, arguments = list(), name = "a function", inherits = TRUE) {
  problem <- as_ordered(problem, arguments$loss)
  by_row <- names(arguments) %in% c("folds", "size_folds") & vapply(arguments, is_by_row, NA)
  arguments[by_row] <- lapply(arguments[by_row], as_folds, problem)
  run <- list(method = method, name = name, arguments = arguments,
              by_row = names(arguments)[by_row], problem = problem, inherits = inherits)
  if (inherits) {
    run$problem <- with_groups_of_folds(problem, arguments[by_row])
    run$together <- Find(Negate(is.null), lapply(arguments[by_row], kept_together))
  }
  # a part would count other rows of weight 0
  if (is_method(run, kernel_methods)) check_all_trained(problem, paste0(name, "()"))
  for (name in Filter(function(name) is_method(run, name), single_column_methods)) {
    run$problem <- single_columns(run$problem, paste0(name, "()"))
  }
  own <- identical(environment(method), topenv())
  if (own && is_file_matrix(problem$x) && !reads_in_place(run)) {
    check_memory(run, nrow(problem), ncol(problem))
  }
  run
}

# The loss of the method of a run, squared where it has none.
run_loss <- function(run) {
  loss <- run$arguments$loss
  if (is.null(loss) && is_method(run, c("l1_path", "l1_size"))) return(path_loss(run$problem))
  if (is.null(loss_record(loss))) "squared" else loss
}

# The search by which a run chooses columns. The columns of a Cox model are by default chosen by a
# search of log times, and the model is a refit. The problem of a fit has events as its response.
column_search <- function(run) {
  by_times <- is_method(run, "greedy_rls") && is_cox_loss(run_loss(run)) &&
    !identical(run$arguments$criterion, "cox") && has_plain_times(run$problem)
  if (!by_times) return(run)
  if (is_cox(run$problem)) run$problem <- as_log_times(run$problem)
  run$arguments[c("loss", "ties", "folds", "refit")] <- NULL
  run$by_times <- TRUE
  run$by_row <- setdiff(run$by_row, "folds")
  run
}

# The groups of rows that random parts of the rows of a run keep whole: groups and queries of its
# problem, or otherwise rows that the folds of its method keep together. A number for each row, or
# NULL.
run_units <- function(run) {
  units <- whole_units(run$problem)
  if (is.null(units)) run$together else units
}

# Whether the method of a run reads the columns of x in place. To such a method a row of weight 0 is
# absent.
reads_in_place <- function(run) {
  is_method(run, c("greedy_rls", "random_selection", "forward_regression", "omp", "foba", "l1_path",
                   "l1_size")) && !identical(run$arguments$solver, "ipm")
}

# whether the method of a run is a function of the package with one of these names
is_method <- function(run, names) {
  any(vapply(names, function(name) identical(topenv()[[name]], run$method), NA))
}

# Refuses a method that must hold more of a file in memory than the default limit.
check_memory <- function(run, rows, columns) {
  who <- if (run$name == "a function") "the method" else paste0(run$name, "()")
  check_taken(run$problem$x, rows, columns, who)
}

# whether folds are given row by row, not by their number
is_by_row <- function(folds) is.list(folds) || length(folds) > 1L

check_method <- function(method) {
  refuse_unless(is.function(method), "method", "a function such as greedy_rls", method)
  stop_argument_if(!arguments_of(method),
                   "`method` must be a function of a problem, but takes no argument")
}

# A user's own method with `...` may take any argument name. The fitters of the package pass theirs
# to as_problem(), so all of their names can be checked. `known` has the other arguments of the
# caller.
check_method_dots <- function(method, ..., known) {
  open <- "..." %in% names(formals(method)) && !identical(environment(method), topenv())
  allowed <- c(setdiff(names(formals(method)), c("x", "y", "data", "...")), problem_arguments)
  check_dots(..., known = c(allowed, "data", known),
             allowed = if (open) names(list(...)) else allowed)
}

run_problem <- function(x, y, data, given, method) {
  arguments <- given[names(given) %in% problem_arguments]
  if (!inherits(x, "sparsels_problem")) {
    # what the method would say about the problem by default, which may depend on its kernel
    own <- formals(method)[setdiff(c("intercept", "standardize"), names(given))]
    if (identical(environment(method), topenv())) {
      own <- lapply(own, eval, list(kernel = given$kernel))
    }
    arguments <- c(arguments, Filter(is.logical, own))
  }
  # symbols, so that no message and no name of a response deparses the data
  problem <- working_copy(for_loss(given$loss, do.call(as_problem, c(
    list(quote(x), quote(y), data = quote(data)), quoted(arguments)
  ))))
  if (identical(given$kernel, "precomputed")) square_kernel(problem) else problem
}

method_name <- function(expression) {
  if (is.call(expression) && is.name(expression[[1L]]) &&
      as.character(expression[[1L]]) %in% c("::", ":::")) {
    expression <- expression[[3L]]
  }
  if (is.name(expression)) as.character(expression) else "a function"
}

# A run with default values for the arguments that the user does not give.
with_defaults <- function(run, arguments) {
  run$arguments <- c(run$arguments, arguments[setdiff(names(arguments), names(run$arguments))])
  run
}

# A run whose fits choose a model. l1_path() chooses a lambda by folds alone, and has ten of them by
# default, fewer where it trains on few `rows`. `inner` has the names of the arguments by which the
# run draws folds of its own if the user gives none: the folds of its whole procedure, and the folds
# of a search by a likelihood.
choosing_run <- function(run, rows = trained_rows(run$problem)) {
  inner <- intersect("size_folds", names(formals(args(run$method))))
  if (length(inner) && run_loss(run) != "squared") inner <- c(inner, "folds")
  by_folds <- is_method(run, "l1_path") && length(run$arguments$lambda) != 1L
  run$inner <- setdiff(if (by_folds) "folds" else inner, names(run$arguments))
  if (by_folds) with_defaults(run, list(folds = max(2L, min(10L, rows %/% 3L)))) else run
}

# Fits --------------------------------------------------------------------------------------------

# The fit of a run on some rows alone: list(fit, train, folds, rows, problem) with the problem of
# these rows, the inner folds that the method was given, if any, the rows, and the problem from
# which path_scores() takes other rows, with the column means of the training rows for missing
# values. Warnings about the choice, the classes and lost digits are given by the fit on all rows
# and not repeated. A row that was drawn several `times` has its case weight multiplied by this
# number.
fit_rows <- function(run, rows, times = 1) {
  # a kernel matrix has a column for every training row
  columns <- if (identical(run$arguments$kernel, "precomputed")) rows else
    seq_len(ncol(run$problem))
  kept <- rows
  weights <- case_weights(run$problem)
  if (any(times > 1)) {
    weights[rows] <- weights[rows] * times
    run$problem <- put_weights(run$problem, weights)
  }
  if (is_file_matrix(run$problem$x) && reads_in_place(run)) {
    # the same x, with weight 0 on the other rows
    train <- reweighted(run$problem, replace(numeric(length(weights)), rows, weights[rows]))
    kept <- seq_along(weights)
  } else {
    if (is_file_matrix(run$problem$x)) check_memory(run, length(rows), length(columns))
    train <- run$problem[rows, columns]
    lost <- setdiff(colnames(train$left_out), colnames(run$problem$left_out))
    if (length(lost)) say_left_out(lost, "in these rows", of_part = TRUE)
  }
  run$arguments[run$by_row] <- lapply(run$arguments[run$by_row], cut_folds, rows, kept)
  fit <- suppressMessages(
    suppressWarnings(fit_run(run, train), own_warnings),
    c("sparsels_message_groups", "sparsels_message_time")
  )
  other <- if (ncol(train) < ncol(run$problem)) run$problem[, columns] else run$problem
  list(fit = fit, train = train, folds = run$arguments$folds, rows = rows,
       problem = filled_like(other, train))
}

# warnings that are for the fit on all rows
own_warnings <- c("sparsels_warning_edge", "sparsels_warning_class", "sparsels_warning_constant",
                  "sparsels_warning_precision", "sparsels_warning_separation")

# The fit of a run on its problem or another one, without a progress bar of its own. A fit that
# Ctrl-C stopped raises an interrupt.
fit_run <- function(run, problem = run$problem) {
  arguments <- run$arguments
  # a method may need more than a problem, such as x and y
  needed <- Filter(function(default) is.name(default) && !nzchar(default),
                   formals(args(run$method))[-1L])
  lacking <- setdiff(names(needed), c("...", names(arguments)))
  stop_argument_if(length(lacking), "`method` is called with a problem, %s: %s %s",
                   "as in function(problem, ...)", some_of(lacking, 5L, "`"),
                   if (length(lacking) == 1L) "has no value" else "have no values")
  if ("progress" %in% names(formals(run$method))) arguments$progress <- FALSE
  # what R says where a method sets an argument that it also passes on
  twice <- sprintf(gettext("formal argument \"%s\" matched by multiple actual arguments",
                           domain = "R"), names(arguments))
  fit <- withCallingHandlers(
    entered(do.call(run$method, c(list(quote(problem)), quoted(arguments)))),
    error = function(condition) {
      set <- names(arguments)[twice == conditionMessage(condition)]
      stop_argument_if(length(set), "`method` is called with `%s` and also sets it: %s", set,
                       "let it use what it is called with")
    },
    sparsels_interrupted = function(condition) {
      if (inherits(condition, "warning")) raise_interrupt()
    }
  )
  # the response is coded anew for such a loss, which only an argument tells
  coded <- inherits(fit, "sparsels_fit") && !is.null(loss_of(fit)$problem) &&
    fit$problem$coding$task != problem$coding$task
  stop_argument_if(coded, "give the loss of %s as an argument, as in %s", loss_of(fit)$needs,
                   sprintf("`l1_path, loss = \"%s\"`", fit$loss))
  fit
}

# How often each column was chosen, most frequent first, from the names of the chosen ones. Pairs
# that are not offered in all rows have no number.
choice_frequency <- function(chosen, names) {
  name <- as.character(unique(unlist(chosen)))
  count <- tabulate(match(unlist(chosen), name), length(name))
  table <- list2DF(list(
    feature = match(name, names), name = name, count = count, share = count / length(chosen)
  ))
  table <- table[order(-table$count, table$feature), ]
  row.names(table) <- NULL
  table
}
