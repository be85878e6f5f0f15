#' Reference methods: wrapper, low-rank updated LS-SVM and random selection
#'
#' Reference methods for [greedy_rls()]: `wrapper_rls()` and `lowrank_lssvm()` choose the same
#' features by slower algorithms; `random_selection()` draws them at random.
#'
#' All fit the model of [greedy_rls()] and evaluate it by the same criterion on the same folds. By
#' default the size is the one with the best criterion (`size = "criterion"`), not chosen by
#' repeating the search, and `lambda = NULL` is then 16 times the mean sum of squares of a column.
#' Only `random_selection()` has `refit`.
#'
#' * `wrapper_rls()` treats the model as a black box: each candidate is retrained from scratch
#'   without each fold, O(k n) fits per fold. With leave-one-out, `shortcut` uses the closed forms
#'   of the held-out residual of one model instead: `"primal"`, \eqn{(y_j - f_j) / (1 - h_j)}{(y_j
#'   - f_j) / (1 - h_j)} with the leverage h, or `"dual"`, \eqn{a_j / G_{jj}}{a_j / G_jj}, so that
#'   a candidate costs one fit.
#' * `lowrank_lssvm()` keeps the m x m matrix G and updates it by a rank-one term for each feature
#'   (Ojeda, Suykens and De Moor 2008): O(k m^2 n) time and O(m^2) memory, leave-one-out and
#'   forward only.
#' * `random_selection()` adds features drawn without replacement from R's random numbers, O(k^2 m).
#'   Of `loss = "negbin"` theta is the one of the null model.
#'
#' The first two are meant for comparisons and checks with at most a few hundred rows and columns.
#'
#' @inheritParams greedy_rls
#' @param lambda Positive ridge parameter. `NULL`, the default, is 16 times the mean sum of squares
#'   of a column.
#' @param size How the number of features is chosen: `"criterion"`, the default here, by the
#'   criterion that chose the features, which is optimistic; or as in [greedy_rls()].
#' @param refit Logical: are the coefficients of each size refitted by ridge regression at a lambda
#'   of their own? `TRUE` by default if `lambda` is not given.
#' @param shortcut For leave-one-out, how the error of a candidate is computed: `"none"`, by
#'   refitting without each row, or by a closed form, `"primal"` or `"dual"`, see Details.
#' @return An object of class `sparse_fit`, as from [greedy_rls()].
#' @section Errors: As for [greedy_rls()]; `shortcut` with other folds than leave-one-out or with
#'   `criterion = "auc"`, and `criterion = "auc"` in `lowrank_lssvm()`.
#' @references Ojeda, F., Suykens, J. A. K., De Moor, B. (2008). Low rank updated LS-SVM
#' classifiers for fast variable selection. Neural Networks 21, 437-449.
#'
#' Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for regularized
#' least-squares. \doi{10.48550/arXiv.1003.3570}
#' @examples
#' x <- matrix(rnorm(20 * 6), 20)
#' y <- x[, 2] - x[, 5] + rnorm(20) / 4
#' selected(wrapper_rls(x, y, k = 3, lambda = 1), 3)
#' selected(lowrank_lssvm(x, y, k = 3, lambda = 1), 3)
#' selected(greedy_rls(x, y, k = 3, lambda = 1), 3)
#' @name baselines
NULL

#' @rdname baselines
#' @export
wrapper_rls <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL, size = "criterion",
                        size_folds = 10, folds = "loo", criterion = "squared", search = "forward",
                        shortcut = "none", progress = interactive(), BPPARAM = NULL) {
  problem <- fitter_problem("wrapper_rls", x, y, ..., data = data)
  control <- path_control(problem, k, lambda, folds, criterion, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  control$search <- check_choice(search, "search", searches)
  control$shortcut <- check_choice(shortcut, "shortcut", c("none", "primal", "dual"))
  stop_input_if(shortcut != "none" && (!control$folds$loo || control$criterion$name == "auc"),
                "`shortcut` needs `folds = \"loo\"` and a criterion other than \"auc\"")
  sized_fit("wrapper_rls", problem, control, each_lambda(wrapper_path), short_call(match.call()),
            BPPARAM = BPPARAM)
}

#' @rdname baselines
#' @export
lowrank_lssvm <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL,
                          size = "criterion", size_folds = 10, criterion = "squared",
                          progress = interactive(), BPPARAM = NULL) {
  problem <- fitter_problem("lowrank_lssvm", x, y, ..., data = data)
  control <- path_control(problem, k, lambda, "loo", criterion, size, size_folds)
  control$progress <- check_flag(progress, "progress")
  stop_input_if(control$criterion$name == "auc",
                "`criterion = \"auc\"` is not available in lowrank_lssvm(): use greedy_rls()")
  sized_fit("lowrank_lssvm", problem, control, each_lambda(lowrank_path), short_call(match.call()),
            BPPARAM = BPPARAM)
}

# The wrapper -------------------------------------------------------------------------------------

wrapper_path <- function(problem, control, lambda) {
  working_x <- matrix(0, nrow(problem), ncol(problem))
  working_x[, problem$columns$usable] <- working_matrix(problem)
  columns <- standardised_columns(problem)
  evaluate <- function(features) {
    residuals <- switch(control$shortcut,
      none = retrain_folds(problem, columns, features, lambda, control$folds),
      list(shortcut_loo(problem, working_x[, features, drop = FALSE], lambda, control$shortcut))
    )
    figure <- evaluate_set(problem, columns, features, lambda, control, residuals)
    list(value = figure$value, se = figure$se, residuals = residuals)
  }
  search_path(problem, control, lambda, evaluate, columns)
}

# Held-out residuals by retraining without each fold.
retrain_folds <- function(problem, columns, features, lambda, folds) {
  root_w <- weight_divisor(problem)
  lapply(seq_len(ncol(folds$ids)), function(repetition) {
    residual <- problem$rows$y
    for (rows in split(seq_len(nrow(residual)), folds$ids[, repetition])) {
      fit <- ridge_fit(problem, columns, features, lambda, -rows)
      error <- residual[rows, ] - ridge_predict(problem, columns, features, fit, rows)
      residual[rows, ] <- without_lost(root_w[rows] * error, problem, rows) / root_w[rows]
    }
    residual
  })
}

# Leave-one-out residuals: (y_j - f_j) / (1 - h_j) from the s x s system, or a_j / G_jj from the
# m x m system.
shortcut_loo <- function(problem, x, lambda, shortcut) {
  basis <- fold_basis(problem)
  y <- working_response(problem)
  if (shortcut == "dual") {
    G <- lambda * solve(tcrossprod(x) + diag(lambda, nrow(x))) - tcrossprod(basis)
    return((G %*% y) / diag(G) / weight_divisor(problem))
  }
  hat <- matrix(0, nrow(x), nrow(x))
  if (ncol(x)) hat <- x %*% solve(crossprod(x) + diag(lambda, ncol(x)), t(x))
  (y - hat %*% y) / (1 - diag(hat) - rowSums(basis^2)) / weight_divisor(problem)
}

# The criterion of a set. Leave-pair-out AUC retrains without every pair.
evaluate_set <- function(problem, columns, features, lambda, control, residuals) {
  if (control$criterion$name != "auc" || !control$folds$loo) {
    return(evaluate_folds(problem, control$folds, control$criterion, residuals))
  }
  pairs <- expand.grid(up = which(problem$rows$y > 0), down = which(problem$rows$y < 0))
  pair_counts <- mapply(function(up, down) {
    fit <- ridge_fit(problem, columns, features, lambda, -c(up, down))
    right_pairs(c(up, down), problem, {
      score <- problem$rows$y
      score[c(up, down), ] <- ridge_predict(problem, columns, features, fit, c(up, down))
      score
    })
  }, pairs$up, pairs$down)
  list(value = sum(pair_counts[1L, ]) / sum(pair_counts[2L, ]), se = NA_real_)
}

# The search in plain R ---------------------------------------------------------------------------

# The steps of the search in greedy.c, for any function evaluate(features) that returns list(value,
# se, residuals).
search_path <- function(problem, control, lambda, evaluate, columns) {
  divisor <- ncol(problem$rows$y) * sum(problem$rows$weight)
  score <- function(features) {
    out <- evaluate(features)
    squares <- vapply(out$residuals, function(r) sum(problem$rows$weight * r^2), 0)
    c(out, loss = criterion_loss(control$criterion, out$value), tie = mean(squares) / divisor)
  }
  usable <- which(problem$columns$usable)
  set <- if (control$search == "backward") usable else integer()
  s <- list(control = control, set = set, now = score(set), seen = list(), gain = numeric(),
            best = NULL, since_best = 0L, status = "", log = list())
  s <- note_model(s, list(feature = NA, action = "start"))
  tie <- 1e-12 * sum(working_response(problem)^2) / divisor
  s$tolerance <- c(if (control$criterion$name == "squared") tie else 1e-12 * abs(s$now$loss), tie)
  stopped <- was_stopped(while (s$status == "" && !is.null(move <- next_move(s, usable, score))) {
    adding <- move$action == "add"
    set <- if (adding) c(s$set, move$feature) else setdiff(s$set, move$feature)
    if (adding) s$gain[length(set)] <- s$now$loss - move$score$loss
    s <- note_model(replace(s, c("set", "now"), list(set, move$score)), move)
  })
  if (stopped) s$status <- "interrupted"
  path_of_log(problem, control, lambda, s, columns)
}

# The next step: a drop if the rule of the search requires one, otherwise the best addition. NULL at
# the end.
next_move <- function(s, usable, score) {
  size <- length(s$set)
  search <- s$control$search
  if (search != "forward" && size > (search != "backward")) {
    drop <- best_of(sort(s$set), function(i) score(setdiff(s$set, i)), s$tolerance)
    drops <- switch(search,
      backward = TRUE,
      floating = beats(drop$score, s$seen[[size]], s$tolerance),
      forward_backward = s$gain[size] > s$tolerance[1L] &&
        drop$score$loss - s$now$loss <= 0.5 * s$gain[size]
    )
    if (drops) return(c(drop, action = "drop"))
  }
  candidates <- setdiff(usable, s$set)
  if (search == "backward" || size == s$control$k || !length(candidates)) return(NULL)
  c(best_of(candidates, function(i) score(c(s$set, i)), s$tolerance), action = "add")
}

# Records the current model, and stops a search without improvement for `patience` steps.
note_model <- function(s, move) {
  size <- length(s$set)
  s$log <- c(s$log, list(list(set = s$set, feature = move$feature, action = move$action,
                              score = s$now)))
  if (size >= length(s$seen) || beats(s$now, s$seen[[size + 1L]])) s$seen[[size + 1L]] <- s$now
  s$since_best <- s$since_best + 1L
  if (size <= s$control$k && beats(s$now, s$best)) {
    s$best <- s$now
    s$since_best <- 0L
  }
  patience <- if (s$control$search == "backward") 0L else s$control$patience
  if (patience > 0L && s$since_best >= patience) s$status <- "early_stop"
  s
}

beats <- function(x, y, tolerance = c(0, 0)) {
  if (is.null(y)) return(TRUE)
  x$loss < y$loss - tolerance[1L] ||
    (x$loss <= y$loss + tolerance[1L] && x$tie < y$tie - tolerance[2L])
}

best_of <- function(features, score, tolerance) {
  best <- NULL
  for (i in features) {
    one <- score(i)
    if (beats(one, best$score, tolerance)) best <- list(feature = i, score = one)
  }
  best
}

# A path for new_sparse_fit() from the recorded sets and their scores.
path_of_log <- function(problem, control, lambda, s, columns) {
  log <- s$log
  field <- function(name) vapply(log, function(entry) entry$score[[name]], 0)
  feature <- vapply(log, function(entry) as.integer(entry$feature), 0L)
  size <- lengths(lapply(log, `[[`, "set"))
  path <- data.frame(
    step = seq_along(log) - 1L, action = vapply(log, `[[`, "", "action"), feature = feature,
    name = problem$columns$name[feature], size = size, criterion = field("value"), se = field("se"),
    squared = field("tie")
  )
  if (problem$coding$task != "regression") {
    path$error <- vapply(log, function(entry) {
      evaluate_folds(problem, control$folds, list(name = "error"), entry$score$residuals)$value
    }, 0)
  }
  loss <- field("loss")
  rows <- order(loss, field("tie"), size)
  rows <- rows[size[rows] <= control$k]
  if (!length(rows)) raise_interrupt()
  models <- lapply(0:control$k, function(s) {
    row <- rows[size[rows] == s][1L]
    if (is.na(row)) return(NULL)
    set <- log[[row]]$set
    list(features = set, row = row,
         beta = ridge_fit(problem, columns, set, lambda, seq_len(nrow(problem)))$beta)
  })
  best <- log[[rows[1L]]]
  fit <- ridge_fit(problem, columns, best$set, lambda, seq_len(nrow(problem)))
  list(
    lambda = lambda, status = if (s$status == "") "complete" else s$status, path = path,
    size = length(best$set), models = models,
    held_out = scores_unless_lost(problem, control$folds, average(best$score$residuals)),
    fitted = ridge_predict(problem, columns, best$set, fit, seq_len(nrow(problem)))
  )
}

# Low-rank updated LS-SVM -------------------------------------------------------------------------

# Updates the m x m matrix G = lambda (K + lambda I)^-1: adding x_i subtracts C_i C_i' / (lambda +
# x_i'C_i), where C = G X.
lowrank_path <- function(problem, control, lambda) {
  x <- matrix(0, nrow(problem), ncol(problem))
  x[, problem$columns$usable] <- working_matrix(problem)
  y <- working_response(problem)
  divisor <- weight_divisor(problem)
  G <- diag(nrow(problem)) - tcrossprod(fold_basis(problem, control$folds))
  a <- G %*% y
  C <- G %*% x
  in_model <- integer()
  advance <- function(i) {
    G <<- G - tcrossprod(C[, i]) / (lambda + sum(x[, i] * C[, i]))
    a <<- G %*% y
    C <<- G %*% x
    in_model <<- c(in_model, i)
  }
  evaluate <- function(features) {
    # features are the set and a candidate, and the set may have grown by one since the last call
    previous <- features[-length(features)]
    if (length(previous) > length(in_model)) advance(previous[length(previous)])
    dual <- a
    diagonal <- diag(G)
    for (i in setdiff(features, in_model)) {
      c <- C[, i]
      kappa <- lambda + sum(x[, i] * c)
      dual <- a - outer(c, drop(crossprod(a, x[, i])) / kappa)
      diagonal <- diagonal - c^2 / kappa
    }
    residuals <- list(dual / diagonal / divisor)
    value <- evaluate_folds(problem, control$folds, control$criterion, residuals)
    c(value, list(residuals = residuals))
  }
  control$search <- "forward"
  search_path(problem, control, lambda, evaluate, standardised_columns(problem))
}
