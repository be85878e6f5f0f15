# The data of a fit, which it does not keep, given again to exchange(), verify() or judge().

# The problem of a fit, with x. Refuses data that differ from the data of the fit.
problem_of_fit <- function(fit, x, y = NULL, ..., data = NULL) {
  check_sealed(fit)
  given <- !is.null(y) || !is.null(data) || ...length()
  if (!given && !inherits(x, c("sparsels_problem", "formula"))) {
    problem <- with_columns(working_copy(fit$problem), x)
    check_same_moments(problem, fit$problem)
    check_same_order(problem, fit)
    return(problem)
  }
  problem <- if (inherits(x, "sparsels_problem")) as_problem(x, y, ..., data = data) else
    problem_again(fit$problem, x, y, ..., data = data)
  problem <- working_copy(problem)
  if (!is.null(fit$blocks) && inherits(x, "sparsels_problem")) {
    problem <- with_block_ratios(problem, fit$blocks)
  }
  own <- loss_of(fit)$problem
  if (!is.null(own)) problem <- own(problem, fit$problem$coding$ties)
  if (isTRUE(fit$problem$coding$absolute)) problem <- absolute_penalty(problem)
  check_same_data(problem, fit$problem)
  problem <- with_groups_of(problem, fit$problem)
  problem$hierarchy <- fit$problem$hierarchy
  problem$rows$group <- fit$problem$rows$group
  problem
}

# The same, where x and y apart are of the same rows.
problem_in_order <- function(fit, x, ...) {
  problem <- problem_of_fit(fit, x, ...)
  if (!inherits(x, "sparsels_problem")) check_same_order(problem, fit)
  problem
}

# A problem with its columns, in any form that predict() takes. Nothing else changes. A file that
# has these columns remains a file.
with_columns <- function(problem, x) {
  columns <- seq_len(ncol(problem))
  if (!is.null(problem$coding$center_groups)) problem$cohorts <- problem$rows$group
  problem$x <- tryCatch(
    if (is_file_matrix(x) && identical(new_positions(problem, sound_file(x), columns), columns)) x
    else widened(problem, new_values(problem, x, columns)),
    sparsels_error_input = function(e) {
      e$message <- gsub("`newdata`", "`x`", conditionMessage(e), fixed = TRUE)
      stop(e)
    }
  )
  # columns that are functions of one column came with its name
  if (has_curves(problem) && problem$coding$named) colnames(problem$x) <- problem$columns$name
  stop_not_of_fit_if(nrow(problem$x) != nrow(problem$z), "%s, but the fit has %d",
                     counted(nrow(problem$x), "row"), nrow(problem$z))
  check_row_names(rownames(problem$x), problem$rows$name)
  problem$cohorts <- NULL
  measure_columns(problem)
}

# A problem made again from its data. Arguments that are not given keep their values.
problem_again <- function(own, x, y, ..., data) {
  given <- list(...)
  kept <- given_properties(own)
  if (inherits(x, "formula")) {
    parts <- split_terms(x[[length(x)]])
    kept[c(if (length(parts$offset)) "offset", if (!is.null(parts$strata)) "strata")] <- NULL
  }
  rows <- if (inherits(x, "formula")) NROW(if (is.null(data)) y else data) else
    if (is.matrix(x) || is.data.frame(x)) nrow(x)
  other_rows <- isTRUE(rows > 0L && rows != nrow(own))
  if (other_rows && length(own$na.action) && is.null(given$na.action)) {
    given$na.action <- stats::na.omit
  }
  fewer <- other_rows || !is.null(given$subset) || !is.null(given$na.action)
  kept <- kept[setdiff(names(kept), c(names(given), if (fewer) c("weights", "offset")))]
  problem <- do.call(as_problem, c(list(quote(x), quote(y), data = quote(data)), quoted(given),
                                   quoted(kept)))
  with_response_scale(problem, own$coding$response_scale)
}

stop_not_of_fit_if <- function(condition, ...) {
  stop_argument_if(condition, "the data differ from the data of the fit: %s", sprintf(...))
}

check_same_data <- function(problem, own) {
  dot <- "." %in% all.vars(problem$coding$formula) && ncol(problem) > ncol(own)
  stop_not_of_fit_if(!identical(dim(problem), dim(own)), "%s, but the fit has %s%s",
                     data_words(problem), data_words(own), if (dot)
                       ": give its arguments that name variables again, such as `groups`" else "")
  j <- which(problem$columns$name != own$columns$name)[1L]
  stop_not_of_fit_if(!is.na(j), "column %d is '%s', but '%s' in the fit", j,
                     problem$columns$name[j], own$columns$name[j])
  stop_not_of_fit_if(!identical(problem$coding$task, own$coding$task) ||
                       !identical(class_names(problem), class_names(own)),
                     "the response is of another kind or has other classes")
  check_row_names(problem$rows$name, own$rows$name)
  compare_rows(problem$rows$y, own$rows$y, "the response")
  compare_rows(problem$rows$weight, own$rows$weight, "the weight")
  given <- given_properties(problem)
  kept <- given_properties(own)
  stop_not_of_fit_if(!identical(as.integer(given$within), as.integer(kept$within)),
                     "the queries of `within` are others")
  words <- function(z) if (ncol(z)) some_of(colnames(z)) else "none"
  stop_not_of_fit_if(!identical(colnames(problem$z), colnames(own$z)),
                     "the covariates are %s, but %s in the fit", words(problem$z), words(own$z))
  compare_rows(problem$z, own$z, "a covariate")
  for (argument in c("intercept", "standardize", "penalty")) {
    stop_not_of_fit_if(!identical(given[[argument]], kept[[argument]]), "`%s` is another", argument)
  }
  check_same_moments(problem, own)
}

compare_rows <- function(values, own, what) {
  values <- as.matrix(values)
  own <- as.matrix(own)
  stop_not_of_fit_if(!identical(dim(values), dim(own)), "%s has another number of columns", what)
  row <- which(rowSums(abs(values - own) > 1e-14 * abs(own)) > 0)[1L]
  stop_not_of_fit_if(!is.na(row), "%s of row %d is another", what, row)
}

# In a model without columns, only names show that rows are in another order.
check_row_names <- function(given, own) {
  other <- which(given != own)[1L]
  stop_not_of_fit_if(!is.na(other) && setequal(given, own),
                     "row %d is '%s', not '%s', are rows in another order?", other, given[other],
                     own[other])
}

# Rows in another order have the same means and scales, but not the same fitted values.
check_same_order <- function(problem, fit) {
  scores <- scores_of_models(fit, list(model_of(fit)), problem)
  fitted <- kept_values(fit, "fitted")
  off <- abs(scores_of_rows(problem, layer(scores, 1L)) - scores_of_rows(problem, fitted))
  stop_not_of_fit_if(max(off) > 1e-6 * max(abs(fitted), abs(problem$rows$y)),
                     "row %d has another fitted value, are rows in another order?",
                     row(off)[which.max(off)])
}

# Compares means and sums of squares of all columns, in blocks of columns. Kernels leave all columns
# unchanged, or leave some columns uncentred.
check_same_moments <- function(problem, own) {
  w <- problem$rows$weight
  own$columns$scale <- own$columns$scale / penalty_divisor(own)
  for (block in column_blocks(nrow(problem), ncol(problem))) {
    x <- plain_columns(problem, block)
    centre <- weighted_means(x, w)
    about <- x - rep(if (is_centred(problem)) centre else 0 * centre, each = nrow(x))
    squares <- colSums(w * about^2)
    # what is too small to square counts as 0
    size <- sqrt(pmax(colSums(w * x^2) / sum(w), smallest_square))
    rms <- sqrt(sum_of_squares(problem, about)[1L, ] / sum(w))
    centred <- own$columns$centre[block] != 0
    scaled <- own$columns$scale[block] != 1
    # a kernel's scale is about the mean whether there is an intercept or not
    about_mean <- sqrt(colSums(w * (x - rep(centre, each = nrow(x)))^2) / sum(w))
    off <- abs(squares - own$columns$squares[block]) >
      1e-10 * squares + 1e-12 * size * rms * sum(w) |
      centred & abs(centre - own$columns$centre[block]) > 1e-10 * size |
      scaled & pmin(abs(rms - own$columns$scale[block]),
                    abs(about_mean - own$columns$scale[block])) >
        1e-10 * rms + 1e-12 * size
    stop_not_of_fit_if(any(off), "column '%s' has another mean or scale",
                       problem$columns$name[block[which(off)[1L]]])
  }
}
