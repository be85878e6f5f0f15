# What print methods share: one rounding, lines that fit the console, the words for errors.

# Errors have three significant digits. Parameters have four, with which they can be copied into a
# call.
shown <- function(value) format(value, digits = 3)

shown_parameter <- function(value) format(value, digits = 4)

se_words <- function(se) {
  if (is.na(se)) "" else sprintf(" (standard error %s)", format(se, digits = 2))
}

# A sentence, broken to the width of the console.
say <- function(..., indent = 0L) {
  cat(strwrap(paste0(...), getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
}

# a remark on the line above
remark <- function(...) say(..., indent = 2L)

# Text of at most `width` characters, of which `end` are the last of a longer one.
shortened <- function(text, width, end = 0L) {
  size <- nchar(text)
  long <- size > width
  text[long] <- paste0(substr(text[long], 1L, width - end - 3L), "...",
                       substring(text[long], size[long] - end + 1L))
  text
}

# names of classes often differ at the end
short_class <- function(class) shortened(class, 30L, 12L)

# "15.5 and 992" or "31 values between 0.01 and 100"
values_words <- function(values) {
  values <- sort(values)
  if (length(values) <= 4L) {
    text <- vapply(values, shown_parameter, "")
    last <- length(text)
    return(paste(c(if (last > 1L) paste(text[-last], collapse = ", "), text[last]),
                 collapse = " and "))
  }
  sprintf("%d values between %s and %s", length(values), shown_parameter(min(values)),
          shown_parameter(max(values)))
}

# at the end of `what` of several values
at_the_end <- function(value, values, what) {
  if (length(values) > 1L && value %in% range(values)) sprintf(" (at the end of %s)", what) else ""
}

# The data ----------------------------------------------------------------------------------------

print_data <- function(problem) {
  cat("data: ", data_words(problem), "\n", sep = "")
  print_response(problem)
}

print_response <- function(problem) {
  say("response: ", response_words(problem))
  if (problem$task == "regression") return(invisible())
  lone <- names(which(class_counts(problem, problem$weights > 0) == 1L))
  if (length(lone)) {
    remark(sprintf("%s %s a single row: models trained without it never predict the class",
                   if (length(lone) == 1L) "class" else "each of the classes",
                   paste(some_of(short_class(lone), 3L), "has")))
  }
}

data_words <- function(problem) {
  sprintf("%s x %s", counted(nrow(problem), "row"), counted(ncol(problem), "column"))
}

response_words <- function(problem) {
  response <- shortened(problem$response, 60L)
  if (problem$task == "regression") {
    responses <- if (ncol(problem$y) > 1L) sprintf(", %d responses", ncol(problem$y)) else ""
    return(paste0(response, ", numeric", responses))
  }
  counts <- class_counts(problem)
  sprintf("%s, %d classes (rows): %s", response, length(counts), counts_words(counts))
}

# "normal (22), tumour (40)"; where not all fit two lines, the largest classes and how many more
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

# "1 to 4 rows"
counted_range <- function(range, word) {
  paste0(if (range[1L] < range[2L]) paste(range[1L], "to "), counted(range[2L], word))
}

# Errors ------------------------------------------------------------------------------------------

# The held-out error of a row of a path: for classes the error rate, then what else the criterion
# is.
held_out_words <- function(fit, row) {
  training <- is_training(fit)
  name <- if (training) "squared" else fit$criterion$name
  value <- shown(if (training) row$squared else row$criterion)
  words <- paste(if (training) criteria$squared$words else fit$criterion$words, value)
  scheme <- fit$folds$label
  if (name == "error" || is.null(row$error) || is.na(row$error)) {
    return(held_out_label(words, scheme, name == "auc" && fit$folds$loo))
  }
  rate <- held_out_label(paste("error rate", shown(row$error)), scheme)
  if (name == "squared") return(sprintf("%s, %s of the class codes %s", rate,
                                        criteria$squared$words, value))
  paste0(held_out_label(words, scheme, name == "auc" && fit$folds$loo), ", ", rate)
}

# what the columns of a path mean, by name
column_meanings <- function(fit) {
  scheme <- fit$folds$label
  held_out <- function(words) if (!is.null(scheme)) held_out_label(words, scheme)
  squared <- criteria$squared$words
  c(
    criterion = fit$criterion$label, dev_ratio = fit$criterion$label, se = "its standard error",
    squared = held_out(squared), error = held_out("error rate"),
    training = paste("training", squared),
    cv = if (!is.null(fit$cv_criterion)) paste("cross-validated", fit$cv_criterion$words),
    cv_se = "its standard error", cv_error = "cross-validated error rate",
    prototypes = "number of prototypes"
  )
}

# what a mean squared error is measured in
squared_scale <- function(problem) {
  if (problem$task != "regression") return("of the class codes -1 and 1")
  paste("in squared units of", shortened(problem$response, 30L))
}

# A classifier that says one class for all rows, however good its scores are.
constant_class <- function(problem, score) {
  if (problem$task == "regression" || is.null(score) || anyNA(score)) return(NULL)
  said <- unique(class_number(problem, score))
  if (length(said) == 1L) problem$levels[said]
}

constant_words <- function(problem, class) {
  counts <- tapply(problem$weights, factor(problem$levels[class_index(problem)], problem$levels),
                   sum)
  sprintf("all rows are predicted to be '%s': the error rate is %s", short_class(class),
          if (counts[[class]] == max(counts)) "that of the null model" else
            "worse than that of the null model")
}

# the line of a fit whose held-out predictions are all of one class, though it is not the null model
print_constant <- function(problem, score) {
  class <- constant_class(problem, score)
  if (!is.null(class)) remark("note: ", constant_words(problem, class))
}

# AUC says nothing of the classes that are predicted.
warn_constant <- function(problem, score) {
  class <- constant_class(problem, score)
  if (!is.null(class)) warn_sparsels(constant_words(problem, class), "sparsels_warning_constant")
}

# Tables ------------------------------------------------------------------------------------------

# Some rows of a path of `total` rows, which are called `what`; `meaning` says in words what is in
# its columns, by name, with mean squared errors of the response of `problem`.
print_rows <- function(text, total, what, meaning = NULL, problem = NULL) {
  cat("path:\n")
  print(text, row.names = FALSE, right = TRUE)
  more <- total - nrow(text)
  if (more > 0L) cat(sprintf("... and %s, all in fit$path\n", counted(more, paste("more", what))))
  print_meaning(meaning, names(text), problem)
}

# What is in the columns of a table, and what its mean squared errors are of.
print_meaning <- function(meaning, columns, problem) {
  meaning <- meaning[names(meaning) %in% columns]
  if (!length(meaning)) return(invisible())
  units <- if (any(grepl(criteria$squared$words, meaning, fixed = TRUE))) {
    paste("; mean squared errors are", squared_scale(problem))
  }
  remark(paste(names(meaning), "=", meaning, collapse = "; "), units)
}

# errors of a table as they are printed; columns without any are left out
shown_table <- function(table, errors) {
  errors <- intersect(errors, names(table))
  empty <- errors[vapply(table[errors], function(one) all(is.na(one)), NA)]
  table <- table[setdiff(names(table), empty)]
  for (column in setdiff(errors, empty)) table[[column]] <- shown(table[[column]])
  table
}

# Names that fill what the other columns leave of the width of the console.
fitting_names <- function(table, name = "name") {
  others <- table[setdiff(names(table), name)]
  widths <- vapply(names(others), function(column) {
    max(nchar(c(column, format(others[[column]]))))
  }, 0L)
  table[[name]] <- shortened(table[[name]], max(12L, getOption("width") - sum(widths + 1L) - 2L))
  table
}
