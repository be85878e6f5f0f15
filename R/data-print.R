# Printing a problem.

#' @export
print.sparsels_problem <- function(x, ...) {
  check_sealed(x)
  say("<sparsels problem> ", data_words(x), if (inherits(x$x, "dgCMatrix")) ", sparse")
  print_properties(x)
  if (!x$coding$intercept && !is_ranked(x)) cat("no intercept\n")
  if (length(x$coding$renamed)) {
    say(sprintf("made unique: the names of %s (%s)", counted(length(x$coding$renamed), "column"),
                some_of(names(x$coding$renamed), 5L, "")))
  }
  excluded <- x$columns$name[!x$columns$usable & !is_set_apart(x)]
  if (length(excluded)) {
    say(sprintf("excluded: %s, %s (%s)", counted(length(excluded), "column"), excluded_words(x),
                some_of(excluded, 5L, "")))
  }
  invisible(x)
}

print_data <- function(problem) {
  cat("data: ", data_words(problem), "\n", sep = "")
  print_properties(problem)
}
