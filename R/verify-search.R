# That a search chose the best column at each step, and its errors without each fold:
# claims of fits of columns for verify().

# Steps --------------------------------------------------------------------------------------------

# No other column was better at a step, by the rule of the search; no exchange is, of searches for
# sets.
step_claims <- function(bench) {
  rule <- search_rule(bench$fit)
  if (is.null(rule)) return(NULL)
  if (rule == "exchange") return(list(exchange_claims(bench)))
  path <- bench$fit$path
  rows <- which(path$action %in% if (rule == "weight") "drop" else c("add", "drop"))
  rows <- setdiff(rows, given_rows(bench$fit))
  if (rule %in% c("residual", "normalised")) rows <- which(path$action == "add")
  if (rule == "weight") rows <- rows[is_single_drop(bench, rows)]
  if (!length(rows)) return(NULL)
  score <- remembered(function(row) step_candidates(bench, row))
  count <- lengths(lapply(rows, function(row) candidates_of(bench, row)))
  list(claims_of_each(
    "no better column at a step", count,
    function(at, i) candidate_claim(bench, rule, rows[at], score(rows[at])[i]),
    # half of them among the first five runners-up
    function(n) {
      open <- which(count > 0L)
      at <- open[sample.int(length(open), n, replace = TRUE)]
      rank <- vapply(at, function(one) {
        sample.int(if (stats::runif(1L) < 0.5) min(5L, count[one]) else count[one], 1L)
      }, 0L)
      unique(c(0, cumsum(as.double(count)))[at] + rank)
    }
  ))
}

# rows of the path whose column was given, not chosen
given_rows <- function(fit) {
  if (identical(fit$control$search, "backward")) return(integer())
  1L + seq_along(fit$control$start)
}

# the rule by which a search chooses columns, NULL where there is none that is checked
search_rule <- function(fit) {
  if (!is.null(fit$path$price)) return(NULL)
  switch(fit$method,
    greedy_rls = , wrapper_rls = , lowrank_lssvm =
      if (is_known_criterion(fit$criterion$name)) "criterion",
    forward_regression = "criterion", omp = , foba = "residual",
    scdp = if (is.null(fit$call$candidates)) {
      switch(fit$control$score, residual = "product", normalised = "normalised", ols = "criterion")
    },
    rfe = "weight", best_subset = , sequential_replacement = "exchange"
  )
}

# drops of rfe() that are the only ones of their round, with more rows than columns
is_single_drop <- function(bench, rows) {
  control <- bench$fit$control
  size <- bench$fit$path$size[rows] + 1L
  lone <- control$step <= 1 & control$step * size < 2 | size <= control$k | control$step == 1
  lone & size < trained_rows(bench$problem) - ncol(bench$problem$z)
}

candidates_of <- function(bench, row) {
  before <- bench$sets[[row - 1L]]
  others <- if (bench$fit$path$action[row] == "add") {
    setdiff(which(bench$fit$problem$usable), before)
  } else {
    before
  }
  moved_apart(bench$fit$problem, before, others, bench$fit$path$feature[row])
}

# What could have been moved in the place of a column, of several that move together the first.
moved_apart <- function(problem, before, others, feature) {
  units <- setdiff(unique(units_of(problem, others)), units_of(problem, feature))
  movable <- if (feature %in% before) leaving_units else joining_units
  movable(problem, before, units)
}

# The other columns of a step, the most promising first: the runners-up of the search, then those
# that are most alike to the residual.
step_candidates <- function(bench, row) {
  others <- candidates_of(bench, row)
  step <- bench$fit$path$step[row]
  known <- bench$fit$alternatives$feature[bench$fit$alternatives$step == step]
  if (bench$fit$path$action[row] == "add") {
    model <- bench$trained(bench$sets[[row - 1L]], bench$fit$lambda)
    residual <- bench$problem$weights * (bench$problem$y - model$pred)
    alike <- numeric(length(others))
    for (block in column_blocks(nrow(bench$problem), length(others))) {
      x <- own_columns(bench$problem, others[block])$values
      alike[block] <- rowSums(crossprod(x, residual)^2)
    }
    others <- others[order(-alike)]
  }
  c(intersect(known, others), setdiff(others, known))
}

# What the search minimises at a step for one column: relative to `null`.
candidate_claim <- function(bench, rule, row, feature) {
  chosen <- bench$fit$path$feature[row]
  own <- step_value(bench, rule, row, chosen)
  other <- step_value(bench, rule, row, feature)
  # to rfe() values that agree to 12 digits are equal
  tie <- if (rule == "weight") 1e-11 else 1e-12
  before <- bench$sets[[row - 1L]]
  lambda <- bench$fit$lambda
  with <- function(column) union(before, unit_columns(bench$fit$problem, column))
  condition <- max(bench$trained(with(chosen), lambda)$condition,
                   bench$trained(with(feature), lambda)$condition)
  tolerance <- max(tie, 100 * .Machine$double.eps * condition)
  new_claim(own$value, other$value, tolerance,
            deviation = max(0, (own$loss - other$loss) / own$null),
            size = bench$fit$path$size[row], lambda = lambda,
            feature = unit_names(bench$fit$problem, feature))
}

# list(value: what the search compares; loss: the same to be minimised; null: its size)
step_value <- function(bench, rule, row, feature) {
  fit <- bench$fit
  problem <- bench$problem
  before <- bench$sets[[row - 1L]]
  if (rule == "criterion") {
    value <- set_error(bench, moved_set(bench, row, feature), fit$lambda,
                       fit$criterion$name)[["value"]]
    collinear <- is_training(fit) && is_collinear(bench, before, feature)
    return(list(value = value, loss = if (collinear) Inf else criterion_loss(fit$criterion, value),
                null = if (is_training(fit)) 1 else max(abs(bench$null$criterion), 1e-300)))
  }
  if (rule == "weight") {
    weights <- rowSums(bench$trained(before, fit$lambda)$B^2)
    value <- weights[match(feature, before)]
    return(list(value = value, loss = value, null = max(value, 1e-12 * weights, 1e-300)))
  }
  # products of a column with the residual, orthogonal to the covariates
  residual <- problem$y - bench$trained(before, fit$lambda)$pred
  root_w <- sqrt(problem$weights)
  x <- root_w * own_columns(problem, feature)$values
  if (ncol(problem$z)) x <- qr.resid(qr(root_w * problem$z, tol = 1e-12), x)
  value <- sum(crossprod(x, root_w * residual)^2)
  y <- root_w * (problem$y - bench$trained(integer(), 0)$pred)
  null <- sum(y^2)
  if (rule == "product") null <- null * sum(x^2) else
    value <- value / (sum(x^2) + if (rule == "normalised") fit$lambda else 0)
  list(value = value, loss = if (is_collinear(bench, before, feature)) Inf else -value, null = null)
}

# whether a search by training rows passes a column over, since it depends on the set
is_collinear <- function(bench, set, feature) {
  problem <- bench$problem
  root_w <- sqrt(problem$weights)
  values <- root_w * cbind(problem$z, own_columns(problem, c(set, feature))$values)
  lambda <- bench$fit$lambda
  s <- length(set) + 1L
  design <- rbind(values, cbind(matrix(0, s, ncol(problem$z)), ridge_root(lambda, s)))
  last <- ncol(design)
  before <- qr(design[, -last, drop = FALSE], tol = 1e-12)
  on_z <- qr(design[, seq_len(ncol(problem$z)), drop = FALSE], tol = 1e-12)
  sum(qr.resid(before, design[, last])^2) <= 2 * dependent * sum(qr.resid(on_z, design[, last])^2)
}

# Exchanges ----------------------------------------------------------------------------------------

# No exchange of a column of a set for another has a larger R-squared.
exchange_claims <- function(bench) {
  fit <- bench$fit
  rows <- which(fit$path$action == "found" & !vapply(bench$sets, is.null, NA))
  usable <- which(fit$problem$usable)
  count <- vapply(rows, function(row) {
    as.double(fit$path$size[row]) * (length(usable) - fit$path$size[row])
  }, 0)
  claims_of_each("no better exchange of two columns", count, function(at, i) {
    set <- bench$sets[[rows[at]]]
    pair <- arrayInd(i, c(length(set), length(usable) - length(set)))
    feature <- setdiff(usable, set)[pair[2L]]
    other <- c(set[-pair[1L]], feature)
    own <- training_gain(bench, set, fit$lambda)
    found <- if (is_collinear(bench, set[-pair[1L]], feature)) -Inf else
      training_gain(bench, other, fit$lambda)
    tolerance <- max(1e-11, 100 * .Machine$double.eps *
                       bench$trained(other, fit$lambda)$condition)
    new_claim(own, found, tolerance, deviation = max(0, found - own), size = length(set),
              lambda = fit$lambda, feature = bench$names[feature])
  })
}

# The whole procedure in folds ---------------------------------------------------------------------

# Errors and predictions of fits whose search was repeated without each fold. The fold's search is
# run again for its columns and lambda; its models are retrained here.
procedure_claims <- function(bench) {
  fit <- bench$fit
  if (is.null(fit$size_folds) || !bench$repeatable || fit$status == "interrupted") return(NULL)
  trained <- bench$problem$weights > 0
  parts <- held_out_rows(fit$size_folds, trained)
  tried <- fit$lambda_table$lambda
  place <- which.min(abs(log(tried / fit$lambda)))
  if (!length(place)) place <- 1L
  scores <- remembered(function(part, place) {
    fold_scores(bench, parts$rows[[part]], tried[place])
  })
  # the error of a fit whose search was interrupted is of the parts that were done
  sums_of <- remembered(function(part, place, reported) {
    own <- scores(part, place)
    rows <- parts$rows[[part]]
    vapply(seq_len(dim(own)[3L]), function(s) {
      pred <- bench$problem$y
      pred[rows, ] <- own[, , s]
      name <- if (reported) measure_of(bench$problem) else fit$cv_criterion$name
      own_fold_sums(bench$problem, name, pred, rep(1L, nrow(pred)), rows)[, 1L]
    }, c(0, 0))
  })
  errors_of <- remembered(function(place, size, reported) {
    each <- vapply(unique(parts$repetition), function(r) {
      own <- vapply(which(parts$repetition == r), function(part) {
        sums <- sums_of(part, place, reported)
        sums[, min(size + 1L, ncol(sums))]
      }, c(0, 0))
      own_fold_mean(own)
    }, c(value = 0, se = 0))
    rowMeans(each)
  })
  condition <- max(vapply(Filter(Negate(is.null), fit$coefficients), function(model) {
    bench$trained(model$features, row_lambda(fit, model$step + 1L))$condition
  }, 0))
  # training parts have fewer rows
  tolerance <- tolerance_of(10 * condition)
  curve <- function(column, reported, part) {
    rows <- which(!is.na(fit$path[[column]]))
    claim_kind(procedure_names[[column]], length(rows), function(i) {
      size <- fit$path$size[rows[i]]
      own <- errors_of(place, size, reported)
      new_claim(fit$path[[column]][rows[i]], own[[part]], tolerance, 1e-3 * own[["value"]],
                size = size, lambda = fit$lambda)
    })
  }
  held_out <- claim_kind("held-out prediction of a fold's model", length(fit$held_out),
                         function(i) {
    at <- arrayInd(i, dim(fit$held_out))
    row <- at[1L]
    own <- if (trained[row]) {
      mean(vapply(which(vapply(parts$rows, function(rows) row %in% rows, NA)), function(part) {
        found <- scores(part, place)
        found[match(row, parts$rows[[part]]), at[2L], min(fit$size + 1L, dim(found)[3L])]
      }, 0))
    } else {
      bench$trained(model_of(fit)$features, row_lambda(fit, model_of(fit)$step + 1L))$pred[i]
    }
    new_claim(fit$held_out[i], own, tolerance, 1e-3 * bench$null$rms, size = fit$size,
              lambda = fit$lambda, row = row)
  })
  if (!is_known_criterion(fit$cv_criterion$name)) return(list(held_out))
  other <- setdiff(names(path_criteria(bench$problem, fit$cv_criterion)), "cv")
  list(held_out, curve("cv", FALSE, "value"), curve("cv_se", FALSE, "se"),
       if (length(other)) curve(other, TRUE, "value"),
       if (length(other)) curve(paste0(other, "_se"), TRUE, "se"),
       lambda_claims(fit, errors_of, tolerance),
       estimate_claims(bench, parts, sums_of, tolerance))
}

procedure_names <- c(cv = "cross-validated criterion", cv_se = "standard error of that criterion",
                     cv_error = "cross-validated error rate",
                     cv_error_se = "standard error of that rate",
                     cv_concordance = "cross-validated concordance",
                     cv_concordance_se = "standard error of that concordance")

# the table of lambdas: the smallest error of each
lambda_claims <- function(fit, errors_of, tolerance) {
  claim_kind("cross-validated criterion at a lambda", nrow(fit$lambda_table), function(i) {
    size <- fit$lambda_table$size[i]
    own <- errors_of(i, size, FALSE)[["value"]]
    new_claim(fit$lambda_table$cv[i], own, tolerance, 1e-3 * own, size = size,
              lambda = fit$lambda_table$lambda[i])
  })
}

# The error of the procedure with its choice: chosen by the other folds, scored on each.
estimate_claims <- function(bench, parts, sums_of, tolerance) {
  fit <- bench$fit
  claimed <- c(fit$estimate, fit$estimate_error, fit$estimate_concordance)
  if (!length(claimed)) return(NULL)
  own <- remembered(function(all) {
    places <- seq_len(nrow(fit$lambda_table))
    kinds <- c(cv = FALSE, reported = TRUE)[seq_len(length(claimed) / 2)]
    errors <- lapply(kinds, function(reported) {
      sums <- lapply(seq_len(nrow(parts)), function(part) {
        of_lambda <- lapply(places, function(place) sums_of(part, place, reported))
        largest <- max(vapply(of_lambda, ncol, 0L))
        array(unlist(lapply(of_lambda, function(one) {
          one[, pmin(seq_len(largest), ncol(one))]
        })), c(2L, largest, length(places)))
      })
      widest <- max(vapply(sums, function(one) dim(one)[2L], 0L))
      sums <- lapply(sums, function(one) one[, pmin(seq_len(widest), dim(one)[2L]), , drop = FALSE])
      higher <- if (reported) measure_of(bench$problem) == "concordance" else
        isTRUE(fit$cv_criterion$higher)
      fold_errors(sums, parts$repetition, higher,
                  slack_of(bench$problem))
    })
    unlist(cross_fitted(errors, fit$size_by))
  })
  claim_kind("cross-fitted error", length(claimed), function(i) {
    new_claim(claimed[[i]], own(1)[[i]], tolerance, size = fit$size)
  })
}

# whether a fold's search can be run again: it does not draw, and its criterion is known
is_repeatable <- function(fit) {
  random <- fit$method %in% c("poss", "random_selection") || !is.null(fit$call$candidates)
  !random && is_known_criterion(fit$criterion$name)
}

# Predictions of rows held out by the models of the search without them, rows x L x sizes.
fold_scores <- function(bench, rows, lambda) {
  fit <- bench$fit
  problem <- bench$problem
  train <- reweighted(problem, replace(case_weights(problem), rows, 0))
  searched <- search_again(fit, train, fold_lambda(bench, train, lambda))
  scores <- vapply(searched, function(model) {
    columns <- own_columns(train, model$features)
    root <- ridge_root(model$lambda, length(model$features))
    pred <- trained_by_qr(train, columns$values, root)$pred
    own_about(problem, pred)[rows, ]
  }, matrix(0, length(rows), ncol(problem$y))[, TRUE, drop = TRUE])
  array(scores, c(length(rows), ncol(problem$y), length(searched)))
}

# The columns and lambda of each size that the method chooses on other weights; where it has no
# model of a size, those of the next smaller one.
search_again <- function(fit, train, lambda) {
  method <- get(fit$method, topenv())
  largest <- fit$control$k
  upper <- if (is_training(fit)) subset_bound(train)$upper else sum(train$usable)
  null <- list(list(features = integer(), lambda = 1))
  if (upper < 1L) return(rep(null, largest + 1L))
  control <- fit$control[setdiff(intersect(names(fit$control), names(formals(method))),
                                 c("k", "lambda", "size", "keep", "cost", "progress"))]
  own <- list(k = min(largest, upper), lambda = lambda, size = "criterion", progress = FALSE,
              folds = fit$folds, criterion = fit$criterion$name,
              refit = !is.null(fit$path$refit_lambda), cost = given_cost(fit$control$cost))
  own <- own[names(own) %in% names(formals(method))]
  again <- suppressWarnings(do.call(method, c(list(quote(train)), control, own)))
  models <- lapply(again$coefficients, function(model) {
    if (is.null(model)) return(NULL)
    list(features = model$features, lambda = row_lambda(again, model$step + 1L))
  })
  fill_models(models, largest)
}

# prices as a fit keeps them -> as an argument
given_cost <- function(cost) {
  if (is.null(cost)) return(NULL)
  data.frame(cost = cost$price, assay = replace(cost$assay, cost$assay < 0L, NA))
}

# The lambda of a training part: the same multiple of its mean square where it was such a one.
fold_lambda <- function(bench, train, lambda) {
  rule <- bench$fit$lambda_rule
  if (is_training(bench$fit) || rule == "given") return(lambda)
  if (startsWith(rule, "chosen by leave-one-out with all columns")) return(ridge_lambda(train))
  multiple <- default_multiple(bench, lambda)
  if (length(multiple)) multiple * own_mean_square(train) else lambda
}

# which of the default lambdas this is, in multiples of the mean square of a column, if any
default_multiple <- function(bench, lambda) {
  if (bench$fit$lambda_rule == "given") return(numeric())
  multiple <- lambda / own_mean_square(bench$problem)
  lambda_multiples[abs(multiple / lambda_multiples - 1) < 1e-4]
}
