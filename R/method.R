# A method, run once on some rows: what cross_validate() and compare_methods() share.

# A user's own method with `...` may take any name; the fitters of the package pass theirs to
# as_problem(), so all of theirs are known. `known`: the other arguments of the caller.
check_method_dots <- function(method, ..., known) {
  own <- setdiff(names(formals(method)), c("x", "y", "data", "..."))
  open <- "..." %in% names(formals(method)) && !identical(environment(method), topenv())
  allowed <- c(own, problem_arguments)
  check_dots(..., known = c(allowed, "data", known),
             allowed = if (open) names(list(...)) else allowed)
}

split_arguments <- function(arguments) {
  to_problem <- names(arguments) %in% problem_arguments
  list(problem = arguments[to_problem], method = arguments[!to_problem])
}

# arguments for do.call(), which would evaluate those that are language
quoted <- function(arguments) {
  lapply(arguments, function(value) if (is.language(value)) call("quote", value) else value)
}

method_name <- function(expression) {
  if (is.call(expression) && is.name(expression[[1L]]) &&
      as.character(expression[[1L]]) %in% c("::", ":::")) {
    expression <- expression[[3L]]
  }
  if (is.name(expression)) as.character(expression) else "a function"
}

# What the method makes of a problem, without a progress bar of its own. A fit that Ctrl-C cut short
# is an interrupt like any other.
run_method <- function(method, problem, arguments) {
  if ("progress" %in% names(formals(method))) arguments$progress <- FALSE
  withCallingHandlers(
    do.call(method, c(list(quote(problem)), quoted(arguments))),
    sparsels_interrupted = function(condition) {
      if (inherits(condition, "warning")) raise_interrupt()
    }
  )
}

# How often each column was chosen, most frequent first.
choice_frequency <- function(chosen, names) {
  count <- table(unlist(chosen))
  feature <- as.integer(names(count))
  table <- data.frame(
    feature = feature, name = names[feature], count = as.vector(count),
    share = as.vector(count) / length(chosen)
  )
  table <- table[order(-table$count, table$feature), ]
  row.names(table) <- NULL
  table
}
