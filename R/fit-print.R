# Common parts of the print methods of fits: the page, the words for errors, and tables.

# Page --------------------------------------------------------------------------------------------

# The lines of print() of a fit.
page_lines <- 12L

# Prints a fit: its sentences, in the order given, and then rows of its table. The name of a part
# says where its sentences are printed: "always", "needed" or "wanted" in print() while lines are
# left, and "rare" in summary() only. `whole` is TRUE in summary(). `table` is a function of the
# number of rows, NULL without a table, `n` the number of rows that the user gave.
print_page <- function(whole, n, table, ...) {
  kind <- ...names()
  parts <- vector("list", ...length())
  for (i in which(whole | kind != "rare")) {
    lines <- utils::capture.output(invisible(...elt(i)))
    parts[[i]] <- split(lines, cumsum(!startsWith(lines, " ")))
  }
  kind <- rep(kind, lengths(parts))
  sentences <- unlist(parts, recursive = FALSE, use.names = FALSE)
  kept <- whole | kind == "always"
  # the last line is about what is left out
  space <- page_lines - sum(lengths(sentences[kept])) - 1L
  keep <- function(which) {
    for (i in which(kind == which & !kept & lengths(sentences) <= space)) {
      kept[i] <<- lengths(sentences)[i] <= space
      if (kept[i]) space <<- space - lengths(sentences)[i]
    }
  }
  keep("needed")
  if (isTRUE(n == 0L)) table <- NULL
  # a table has the names of its columns and at least two rows, if the path has them
  reserved <- if (is.null(table) || space < 3L) 0L else min(space, 4L, 1L + table(1L)$total)
  space <- space - reserved
  keep("wanted")
  cat(paste0(unlist(sentences[kept]), "\n"), sep = "")
  if (is.null(n)) n <- if (reserved > 0L) reserved - 1L + space else 0L
  left_out <- if (n > 0L && !is.null(table)) print_rows(table(n))
  if (!whole) left_out <- c(left_out, "summary() has more")
  if (length(left_out)) say("... ", paste(left_out, collapse = "; "))
}

# Errors ------------------------------------------------------------------------------------------

# The held-out error of a row of a path. For classes it is the error rate, followed by the
# criterion. `predicted` is the class of each row.
held_out_words <- function(fit, row, predicted = held_out_classes(fit)) {
  training <- is_training(fit)
  name <- if (training) "squared" else fit$criterion$name
  value <- shown(if (training) row$squared else row$criterion)
  words <- paste(if (training) squared_label(fit$problem) else fit$criterion$words, value)
  scheme <- fit$folds$label
  # folds of single rows have no pair
  if (isTRUE(row$concordance >= 0)) {
    words <- paste0(words, ", ", criteria$concordance$words, " ", shown(row$concordance))
  }
  rate <- error_rate_of(fit, row, predicted)
  if (is.null(rate)) return(held_out_label(words, scheme, name == "auc" && fit$folds$loo))
  rate <- held_out_label(paste("error rate", shown(rate)), scheme)
  if (name == "squared") return(sprintf("%s, %s of the class codes %s", rate,
                                        criteria$squared$words, value))
  paste0(held_out_label(words, scheme, name == "auc" && fit$folds$loo), ", ", rate)
}

# The error rate of the held-out classes of a row of a path, NULL for numbers and where it is the
# criterion of the row.
error_rate_of <- function(fit, row, predicted = held_out_classes(fit)) {
  if (is.null(row$error) || is.na(row$error)) return(NULL)
  if (has_class_rule(fit)) return(held_out_rate(fit, predicted))
  if (fit$criterion$name != "error") row$error
}

# The column of error rates that is printed. Classes by probability are not of the largest score,
# which these rates are of.
rate_column <- function(fit) if (!is_by_probability(fit)) "error"

# the meanings of the columns of a path, by name
column_meanings <- function(fit) {
  scheme <- fit$folds$label
  held_out <- function(words) if (!is.null(scheme)) held_out_label(words, scheme)
  squared <- squared_label(fit$problem)
  c(
    price = "price of all columns of the model",
    criterion = fit$criterion$label, dev_ratio = fit$criterion$label, se = "its standard error",
    squared = held_out(squared), concordance = held_out(criteria$concordance$words),
    error = held_out("error rate"),
    training = paste("training", squared),
    cv = if (!is.null(fit$cv_criterion)) paste("cross-validated", fit$cv_criterion$words),
    cv_se = "its standard error", cv_error = "cross-validated error rate",
    cv_concordance = "cross-validated concordance",
    prototypes = "number of prototypes"
  )
}

# A classifier that predicts one class for all rows, however good its scores are.
constant_class <- function(problem, predicted) {
  if (is.null(predicted) || anyNA(predicted)) return(NULL)
  predicted <- unique(predicted)
  if (length(predicted) == 1L) class_names(problem)[predicted]
}

constant_words <- function(problem, class) {
  share <- error_shares(problem)
  # weights that balance classes make their shares equal but for rounding
  most <- share[match(class, class_names(problem))] > max(share) - 1e-12
  sprintf("all rows are predicted to be '%s': the error rate is %s", short_class(class),
          if (most) "as high as for the null model" else "higher than for the null model")
}

# The shares of the classes by the weights that errors have.
error_shares <- function(problem) prop.table(class_sums(problem, problem$rows$weight))

# Without the rows held out their class is rarer, so that the null model errs on more rows than one
# class for all rows would. A sentence where the excess of its error rate is above the standard
# error of a share, otherwise NULL.
one_class_words <- function(problem, rate) {
  if (problem$coding$task == "regression" || is.null(rate)) return(NULL)
  least <- 1 - max(error_shares(problem))
  if (!isTRUE(rate > least + sqrt(least * (1 - least) / trained_rows(problem)))) return(NULL)
  paste0("one class for all rows has an error rate of ", shown(least), "; the null model errs ",
         "more, as without the rows held out their class is rarer")
}

# The warning that a model, not the null model, predicts one class for all rows.
print_constant <- function(problem, predicted) {
  class <- constant_class(problem, predicted)
  if (!is.null(class)) remark("note: ", constant_words(problem, class))
}

# The predicted classes of the rows of each class when held out, from the numbers of the classes,
# unless it is one class: a table, or in words which classes are confused most often.
print_classes <- function(problem, predicted, table = TRUE) {
  if (is.null(predicted) || !is.null(constant_class(problem, predicted))) return(invisible())
  rows <- problem$rows$weight > 0 & !is.na(predicted)
  if (!any(rows)) return(invisible())
  names <- make.unique(short_class(class_names(problem)))
  as_class <- function(numbers) factor(numbers[rows], seq_along(names), names)
  counts <- table(class = as_class(class_index(problem)), predicted = as_class(predicted))
  # the table if it fits the console, otherwise the classes that are confused most often
  if (table && length(names) <= 6L && sum(pmax(nchar(names), 5L) + 1L) + max(nchar(names)) < 70L) {
    cat("rows by class and held-out prediction:\n")
    return(print(counts))
  }
  wrong <- counts * (row(counts) != col(counts))
  top <- utils::head(order(-wrong), 5L)
  top <- top[wrong[top] > 0L]
  if (!length(top)) return(say("held-out predictions are right in every row"))
  say("held out, confused most often: ",
      paste(sprintf("%s taken for %s (%d)", names[row(wrong)[top]], names[col(wrong)[top]],
                    wrong[top]), collapse = ", "))
}

# AUC contains no information about the predicted classes.
warn_constant <- function(problem, predicted) {
  class <- constant_class(problem, predicted)
  if (!is.null(class)) warn_sparsels(constant_words(problem, class), "sparsels_warning_constant")
}

# The last line of a result that Ctrl-C stopped.
print_interrupted <- function(status, what) {
  if (status == "interrupted") cat("interrupted: the result is based on the", what, "done\n")
}

# How a Cox model deals with its ties, and its concordance in training where nothing is held out.
print_cox <- function(fit) {
  problem <- fit$problem
  tied <- tabulate(risk_sets(problem)$event + 1L)
  alone <- sum(tied[!informs(problem)])
  shared <- sum(tied[tied > 1L])
  say(sprintf("ties by %s: %s of %s tied%s",
              c(efron = "Efron", breslow = "Breslow")[[problem$coding$ties]],
              if (shared > 0L) shared else "none", counted(sum(tied), "event"),
              if (alone > 0L) sprintf(", %d at risk alone, which compares nothing", alone) else ""))
  if (!is_training(fit)) return(invisible())
  pairs <- ordered_pairs(problem, kept_values(fit, "fitted"))
  say("training concordance ", shown(pairs[1L] / pairs[2L]))
}

# Tables ------------------------------------------------------------------------------------------

# Prints some rows of a path, the `text` of `part`, and gives the words for the others. `part$total`
# rows of the path are called `part$what`.
print_rows <- function(part) {
  print(part$text, row.names = FALSE, right = TRUE)
  more_words(part$total - nrow(part$text), part$what, "fit$path")
}

# the rows of a table, of which `n` = 0 leaves none
print_filled <- function(table, ...) if (nrow(table)) print(table, row.names = FALSE, ...)

# How many rows of a table are not printed, and where they are, NULL if all are.
more_words <- function(more, what, where = NULL) {
  if (more > 0L) paste0("and ", counted(more, paste("more", what)),
                        if (!is.null(where)) paste(", all in", where))
}

print_more <- function(...) {
  words <- more_words(...)
  if (!is.null(words)) cat("... ", words, "\n", sep = "")
}

# The meaning of the columns of a table, and the unit of its mean squared errors. `problem` is NULL
# where the table already shows the unit.
meaning_words <- function(meaning, columns, problem = NULL) {
  meaning <- meaning[names(meaning) %in% columns]
  if (!length(meaning)) return(NULL)
  squares <- any(grepl(criteria$squared$words, meaning, fixed = TRUE))
  units <- if (squares && !is.null(problem) && !is_survival(problem)) {
    paste("; mean squared errors are", squared_scale(problem))
  }
  paste0(paste(names(meaning), "=", meaning, collapse = "; "), units)
}

# the errors of a table as text, without columns that have no values
shown_table <- function(table, errors) {
  errors <- intersect(errors, names(table))
  empty <- errors[vapply(table[errors], function(one) all(is.na(one)), NA)]
  table <- table[setdiff(names(table), empty)]
  for (column in setdiff(errors, empty)) {
    table[[column]] <- (if (endsWith(column, "se")) shown else shown_column)(table[[column]])
  }
  table
}

# Three digits, and up to six where the values of a column differ by less than a hundredth of the
# largest, so that a digit of what they differ by is shown.
shown_column <- function(value) {
  known <- value[is.finite(value)]
  # smaller ratios are rounding errors
  apart <- if (length(known) && any(known != 0)) diff(range(known)) / max(abs(known)) else 0
  digits <- if (apart > 1e-6) min(6L, max(3L, 1L - floor(log10(apart)))) else 3L
  format(value, digits = digits)
}

# Names shortened to the width of the console that the other columns leave.
fitting_names <- function(table, name = "name") {
  others <- table[setdiff(names(table), name)]
  widths <- vapply(names(others), function(column) {
    max(nchar(c(column, format(others[[column]]))))
  }, 0L)
  table[[name]] <- shortened(table[[name]], max(12L, getOption("width") - sum(widths + 1L) - 2L))
  table
}

majority_words <- function(problem, measure) {
  if (!has_intercept_only(problem)) return("the covariates alone")
  if (measure %in% c("deviance", "concordance")) return("without columns")
  if (has_cutpoints(problem) || measure %in% c("brier", "logloss")) return("shares of the classes")
  if (problem$coding$task != "regression") return("majority class")
  if (!has_mean_null(problem)) return("without columns or intercept")
  paste("mean of the", if (is_survival(problem)) "log times" else "response")
}
