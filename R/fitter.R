# The problem of a fitter, from its data arguments.

# The problem of a fitter, from the name of the fitter and its own x, y, ... and data, with the
# groups of rows that its own folds keep whole.
fitter_problem <- function(method, x, y, ..., data = NULL) {
  check_given(x, "x")
  fitter <- setdiff(names(formals(sys.function(sys.parent()))), c("x", "y"))
  threads <- if ("threads" %in% fitter) parent.frame()$threads else 1L
  check_dots(..., known = unique(c(problem_arguments, fitter)), allowed = problem_arguments)
  problem <- working_copy(as_problem(x, y, ..., data = data, threads = threads))
  problem <- settle_properties(problem, method)
  if (!isFALSE(substitute(list(...))$groups)) {
    folds <- mget(intersect(c("folds", "size_folds"), fitter), parent.frame())
    problem <- with_groups_of_folds(problem, folds)
  }
  # as_problem() saw the fitter's name for the response, and the user's expression is one call up
  if (problem$response == "y" && !inherits(x, "formula")) {
    problem$response <- response_name(do.call(substitute, list(quote(y), parent.frame())))
  }
  problem
}

# The value of `intercept` or `standardize`. NULL if x is a problem and the argument was not given:
# the value is then taken from the problem.
unless_stated <- function(x, value, by_default) {
  if (!(by_default && inherits(x, "sparsels_problem"))) value
}
