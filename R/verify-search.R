# Checks of fits of columns for verify(): the search chose the best column at each step, and its
# errors without each fold.

# Steps --------------------------------------------------------------------------------------------

# No other column was better at a step, by the rule of the search. For searches for sets, no
# exchange of two columns is better.
step_kinds <- function(checker) {
  rule <- search_rule(checker$fit)
  if (is.null(rule)) return(NULL)
  if (rule == "exchange") return(list(exchange_kind(checker)))
  rows <- checked_steps(checker, rule)
  if (!length(rows)) return(NULL)
  candidates <- remembered(function(row) step_candidates(checker, row))
  count <- lengths(lapply(rows, function(row) other_moves(checker, row)))
  # half of the columns are among the first five runners-up
  draw <- function(n) {
    open <- which(count > 0L)
    at <- open[sample.int(length(open), n, replace = TRUE)]
    rank <- vapply(at, function(one) {
      sample.int(if (stats::runif(1L) < 0.5) min(5L, count[one]) else count[one], 1L)
    }, 0L)
    unique(c(0, cumsum(as.double(count)))[at] + rank)
  }
  list(check_kind("no better column at a step", NULL, function(at, cell) {
    compared_moves(checker, rule, rows[at], candidates(rows[at])[cell])
  }, checker$fit$path$size[rows], checker$fit$lambda, counts = count, draw = draw))
}

# the rule by which a search chooses columns, NULL where verify() checks none
search_rule <- function(fit) {
  if (!is.null(fit$path$price)) return(NULL)
  switch(fit$method,
    greedy_rls = if (!is_squared(fit)) "objective" else
      if (is_known_criterion(fit$criterion$name)) "criterion",
    wrapper_rls = , lowrank_lssvm =
      if (is_known_criterion(fit$criterion$name)) "criterion",
    forward_regression = "criterion", omp = , foba = "residual",
    scdp = if (is.null(fit$call$candidates)) {
      switch(fit$control$score, residual = "product", normalised = "normalised", ols = "criterion")
    },
    rfe = "weight", best_subset = , sequential_replacement = "exchange"
  )
}

# The rows of the path whose column was chosen by the rule, not given. A column dropped by rfe()
# must be the only one of its round, with more rows than columns.
checked_steps <- function(checker, rule) {
  path <- checker$fit$path
  control <- checker$fit$control
  actions <- if (rule == "weight") "drop" else
    c("add", if (!rule %in% c("residual", "normalised")) "drop")
  given <- if (!identical(control$search, "backward")) 1L + seq_along(control$start)
  rows <- setdiff(which(path$action %in% actions), given)
  if (rule == "objective") return(rows[path$exact[rows]])
  if (rule != "weight") return(rows)
  size <- path$size[rows] + 1L
  lone <- control$step <= 1 & control$step * size < 2 | size <= control$k | control$step == 1
  rows[lone & size < trained_rows(checker$problem) - ncol(checker$problem$z)]
}

# The columns that could have been moved in place of a column. Of several columns that move
# together, the first.
other_moves <- function(checker, row) {
  problem <- checker$problem
  before <- checker$sets[[row - 1L]]
  adding <- checker$fit$path$action[row] == "add"
  dependent <- checker$fit$dependent
  # a forward search leaves columns out once others determine them, other searches from the start
  known <- !identical(checker$fit$control$search, "forward") | dependent$size < row - 1L
  left_out <- c(checker$fit$copies$feature, dependent$feature[known])
  free <- setdiff(which(problem$columns$usable), left_out)
  others <- if (adding) setdiff(free, before) else before
  units <- setdiff(distinct_units(problem, others),
                   distinct_units(problem, checker$fit$path$feature[row]))
  (if (adding) joining_units else leaving_units)(problem, before, units)
}

# The other columns of a step, the most promising first: the runners-up of the search, then the
# columns most similar to the residual.
step_candidates <- function(checker, row) {
  fit <- checker$fit
  problem <- checker$problem
  others <- other_moves(checker, row)
  runners_up <- fit$alternatives$feature[fit$alternatives$step == fit$path$step[row]]
  if (fit$path$action[row] == "add") {
    model <- checker$trained(checker$sets[[row - 1L]], fit$lambda)
    residual <- minus_gradient(problem, loss_name(fit), model$pred)
    alike <- numeric(length(others))
    for (block in column_blocks(nrow(problem), length(others))) {
      alike[block] <- rowSums(crossprod(retrain_columns(problem, others[block])$values, residual)^2)
    }
    others <- others[order(-alike)]
  }
  c(intersect(runners_up, others), setdiff(others, runners_up))
}

# The value that the search minimises at a step, for the moved column and another one, relative to
# `null`.
compared_moves <- function(checker, rule, row, feature) {
  fit <- checker$fit
  moved <- c(fit$path$feature[row], feature)
  value <- lapply(moved, function(column) step_value(checker, rule, row, column))
  condition <- vapply(moved, function(column) {
    set <- union(checker$sets[[row - 1L]], searched_columns(fit, column))
    checker$trained(set, fit$lambda)$condition
  }, 0)
  # rfe() treats values that agree to 12 digits as equal
  tie <- if (rule == "weight") 1e-11 else 1e-12
  list(claimed = value[[1L]]$value, value = value[[2L]]$value,
       deviation = max(0, (value[[1L]]$loss - value[[2L]]$loss) / value[[1L]]$null),
       tolerance = max(tie, 100 * .Machine$double.eps * condition),
       feature = unit_names(fit$problem, feature))
}

# list(value: the value that the search compares, loss: the value to be minimised, null: its size)
step_value <- function(checker, rule, row, feature) {
  fit <- checker$fit
  before <- checker$sets[[row - 1L]]
  if (rule == "criterion") {
    set <- moved_set(fit, before, row, feature)
    value <- set_error(checker, set, fit$lambda, fit$criterion$name)[["value"]]
    passed <- is_training(fit) && is_collinear(checker, before, feature)
    return(list(value = value, loss = if (passed) Inf else criterion_loss(fit$criterion, value),
                null = max(checker$null(fit$criterion$name), 1e-300)))
  }
  if (rule == "objective") {
    set <- moved_set(fit, before, row, feature)
    value <- checker$trained(set, fit$lambda)$objective
    return(list(value = value, loss = value, null = checker$trained(integer(), 0)$objective))
  }
  if (rule == "weight") {
    weights <- rowSums(checker$trained(before, fit$lambda)$B^2)
    value <- weights[match(feature, before)]
    return(list(value = value, loss = value, null = max(value, 1e-12 * weights, 1e-300)))
  }
  # products of a column with the residual, orthogonal to the covariates
  problem <- checker$problem
  root_w <- sqrt(problem$rows$weight)
  residual <- root_w * (problem$rows$y - checker$trained(before, fit$lambda)$pred)
  x <- checker$residual(root_w * retrain_columns(problem, feature)$values)
  value <- sum(crossprod(x, residual)^2)
  null <- sum(problem$rows$weight * (problem$rows$y - checker$trained(integer(), 0)$pred)^2)
  if (rule == "product") null <- null * sum(x^2) else
    value <- value / (sum(x^2) + if (rule == "normalised") fit$lambda else 0)
  list(value = value, loss = if (is_collinear(checker, before, feature)) Inf else -value,
       null = null)
}

# whether a search by training rows skips a column, since it depends on the set
is_collinear <- function(checker, set, feature) {
  x <- retrain_columns(checker$problem, c(set, feature))$values
  s <- ncol(x)
  x <- checker$residual(sqrt(checker$problem$rows$weight) * x)
  design <- rbind(x, ridge_root(checker$fit$lambda, s))
  rest <- qr.resid(qr(design[, -s, drop = FALSE], tol = 1e-12), design[, s])
  sum(rest^2) <= 2 * dependent * sum(design[, s]^2)
}

# No exchange of a column of a set for another column has a larger R-squared.
exchange_kind <- function(checker) {
  fit <- checker$fit
  lambda <- fit$lambda
  usable <- which(fit$problem$columns$usable)
  rows <- which(fit$path$action == "found" & !vapply(checker$sets, is.null, NA))
  size <- fit$path$size[rows]
  check_kind("no better exchange of two columns", NULL, function(at, cell) {
    set <- checker$sets[[rows[at]]]
    pair <- arrayInd(cell, c(length(set), length(usable) - length(set)))
    feature <- setdiff(usable, set)[pair[2L]]
    other <- c(set[-pair[1L]], feature)
    claimed <- training_gain(checker, set, lambda)
    found <- if (is_collinear(checker, set[-pair[1L]], feature)) -Inf else
      training_gain(checker, other, lambda)
    condition <- checker$trained(other, lambda)$condition
    list(claimed = claimed, value = found, deviation = max(0, found - claimed),
         tolerance = max(1e-11, 100 * .Machine$double.eps * condition),
         feature = checker$names[feature])
  }, size, lambda, counts = as.double(size) * (length(usable) - size))
}

# The whole procedure in folds ---------------------------------------------------------------------

# Errors and predictions of fits whose search was repeated without each fold. The search of the fold
# is repeated for its columns and lambda, and its models are retrained here.
procedure_kinds <- function(checker) {
  fit <- checker$fit
  if (is.null(fit$size_folds) || !is_repeatable(fit) || fit$status == "interrupted") return(NULL)
  procedure <- fold_procedure(checker)
  path <- fit$path
  tried <- fit$lambda_table$lambda
  place <- max(1L, which.min(abs(log(tried / fit$lambda))))
  # training parts have fewer rows
  models <- without_null(fit$coefficients)
  condition <- 10 * max(procedure$condition(1L), vapply(models, function(model) {
    checker$trained(model$features, checker$lambda[model$step + 1L])$condition
  }, 0))
  # predictions are rounded relative to the response, which squared errors near 0 show
  unit_of <- function(error, reported) {
    squared <- !reported && fit$cv_criterion$name == "squared"
    if (squared) sqrt(error * checker$null("squared")) else error
  }
  error_kind <- function(words, claimed, size, lambda, place, reported = FALSE, part = "value") {
    check_kind(words, claimed, function(at, cell) {
      error <- procedure$errors(recycled(place, at), size[at], reported)
      list(value = error[[part]], unit = unit_of(error[["value"]], reported))
    }, size, lambda, condition = condition)
  }
  own <- list(kept_values(fit, "held_out"))
  held_out <- row_kind("held-out prediction of a fold's model", own, function(at) {
    list(pred = procedure$held_out(place), condition = condition)
  }, checker$held_out_unit, fit$size, fit$lambda)
  if (!is_known_criterion(fit$cv_criterion$name)) return(list(held_out))
  columns <- intersect(names(procedure_names), names(path))
  estimates <- c(fit$estimate, fit$estimate_error, fit$estimate_concordance)
  c(list(held_out), lapply(columns, function(column) {
    error_kind(procedure_names[[column]], path[[column]], path$size, fit$lambda, place,
               !column %in% c("cv", "cv_se"), if (endsWith(column, "_se")) "se" else "value")
  }), list(
    error_kind("cross-validated criterion at a lambda", fit$lambda_table$cv,
               fit$lambda_table$size, tried, seq_along(tried)),
    check_kind("cross-fitted error", estimates, function(at, ...) {
      found <- procedure$estimate(length(estimates) > 2L)
      list(value = found[at], unit = unit_of(found[[1L]], at > 2L))
    }, fit$size, condition = condition)
  ))
}

procedure_names <- c(cv = "cross-validated criterion", cv_se = "standard error of that criterion",
                     cv_error = "cross-validated error rate",
                     cv_error_se = "standard error of that rate",
                     cv_concordance = "cross-validated concordance",
                     cv_concordance_se = "standard error of that concordance")

# Functions of a lambda (its `place` in the table of a fit): the errors of a size, the predictions
# of rows at the size of the fit, and the estimates of the procedure with its choice. `reported`
# tells whether they use the reported measure instead of the criterion.
fold_procedure <- function(checker) {
  fit <- checker$fit
  problem <- checker$problem
  parts <- held_out_rows(fit$size_folds, problem$rows$weight > 0)
  # each training part is made, and its covariates are decomposed, once
  training <- remembered(function(part) part_without(checker, parts$rows[[part]]))
  scores <- remembered(function(part, place) {
    fold_scores(checker, training(part), parts$rows[[part]], fit$lambda_table$lambda[place])
  })
  over <- criteria[[fit$cv_criterion$name]]$over
  rules <- if (has_class_rule(fit)) rules_without(fit, parts$rows)
  # sums of the losses of each size, 2 x sizes
  sums <- remembered(function(part, place, reported) {
    name <- if (reported) measure_of(problem) else fit$cv_criterion$name
    loss_of <- retrain_sums
    if (!is.null(over) && !reported) {
      name <- criteria[[name]]$group_loss
      loss_of <- retrain_loss
    }
    rows <- parts$rows[[part]]
    if (reported && !is.null(rules)) {
      found <- scores(part, place)
      return(layer(class_error_sums(scored_rows(problem, rows), found, rules[[part]],
                                    attr(found, "columns")), 1L))
    }
    apply(scores(part, place), 3L, function(of_size) {
      pred <- problem$rows$y
      pred[rows, ] <- of_size
      loss_of(problem, name, pred, rep(1L, nrow(pred)), rows)
    })
  })
  errors <- remembered(function(place, size, reported) {
    rowMeans(vapply(unique(parts$repetition), function(r) {
      of_size <- function(size) {
        vapply(which(parts$repetition == r), function(part) {
          of_part <- sums(part, place, reported)
          of_part[, min(size + 1L, ncol(of_part))]
        }, c(0, 0))
      }
      if (is.null(over) || reported) return(retrain_mean(of_size(size)))
      below <- of_size(0L)[1L, ]
      c(value = plain_over(over, (of_size(size)[1L, ] / below)[below > 0]), se = NA_real_)
    }, c(value = 0, se = 0)))
  })
  held_out <- remembered(function(place) {
    model <- model_of(fit)
    pred <- checker$trained(model$features, checker$lambda[model$step + 1L])$pred
    total <- count <- 0 * pred
    for (part in seq_len(nrow(parts))) {
      found <- scores(part, place)
      rows <- parts$rows[[part]]
      total[rows, ] <- total[rows, ] + layer(found, min(fit$size + 1L, dim(found)[3L]))
      count[rows, ] <- count[rows, ] + 1
    }
    # rows of weight 0 are in no part
    ifelse(count > 0, total / count, pred)
  })
  estimate <- remembered(function(both) {
    made <- lapply(c(cv = FALSE, reported = TRUE)[seq_len(1L + both)], function(reported) {
      sums_of <- function(part, place) sums(part, place, reported)
      procedure_errors(fit, problem, parts, reported, sums_of, scores)
    })
    unlist(cross_fitted(made, cross_fitted_choices(made$cv, fit$size_by)))
  })
  condition <- remembered(function(all) {
    max(vapply(seq_len(nrow(parts)), function(part) {
      null_condition(training(part)$problem, loss_name(fit))
    }, 0))
  })
  list(errors = errors, held_out = held_out, estimate = estimate, condition = condition)
}

# The errors of every size, lambda and fold, in the form that the rule of choice reads. `sums` and
# `scores` are functions of a part and of the place of a lambda.
procedure_errors <- function(fit, problem, parts, reported, sums, scores) {
  places <- seq_len(nrow(fit$lambda_table))
  of_parts <- function(of) {
    lapply(seq_len(nrow(parts)), function(part) {
      do.call(cbind, lapply(places, function(place) of(part, place)))
    })
  }
  scorer <- gain_scorer(problem, fit$size_folds, loss_name(fit))
  of_scores <- function(value) {
    of_parts(function(part, place) {
      scored <- scored_rows(problem, parts$rows[[part]])
      value(residuals_of(scored, scores(part, place)), scored, parts$rows[[part]])
    })
  }
  by_pairs <- is_survival(problem) && fit$cv_criterion$name == "concordance"
  variance <- if (by_pairs) {
    vapply(parts$rows, function(rows) pair_variance(scored_rows(problem, rows)), 0)
  }
  higher <- if (reported) measure_of(problem) == "concordance" else isTRUE(fit$cv_criterion$higher)
  many <- !is_of_groups(fit$cv_criterion$name) &&
    are_many(list(rule = fit$size_by, folds = fit$size_folds))
  over <- if (!reported) criteria[[fit$cv_criterion$name]]$over
  fold_errors(of_parts(sums), parts$repetition, higher, slack_of(problem),
              shape = c(fit$control$k + 1L, length(places)),
              gains = if (!by_pairs) of_scores(scorer$gains), variance = variance, over = over,
              losses = if (!is.null(over)) of_scores(scorer$losses),
              clear = if (is_related(problem, fit$size_folds)) TRUE else if (many) fit$size > 0L)
}

# Whether the search of a fold can be repeated: it draws no random numbers, and its criterion is
# known.
is_repeatable <- function(fit) {
  random <- fit$method %in% c("poss", "random_selection") || !is.null(fit$call$candidates)
  !random && is_known_criterion(fit$criterion$name)
}

# The problem without some rows, and a function that computes the mean square of its columns.
part_without <- function(checker, rows) {
  without <- replace(case_weights(checker$problem), rows, 0)
  problem <- with_left_out(reweighted(checker$problem, without))$value
  problem <- searched_problem(regression_of_ranking(problem), checker$fit$control)
  list(problem = problem, mean_square = remembered(function(all) lambda_unit(checker$fit, problem)))
}

# Predictions of held-out rows by the models of the search without them, rows x L x sizes, with the
# number of columns of each model.
fold_scores <- function(checker, part, rows, lambda) {
  train <- part$problem
  fit <- checker$fit
  if (startsWith(fit$lambda_rule, "chosen by leave-one-out with all columns")) {
    lambda <- ridge_lambda(train)
  } else if (length(multiple <- default_multiple(checker, lambda))) {
    # the same multiple of the mean square of the training part
    lambda <- multiple * part$mean_square(1)
  }
  searched <- search_again(fit, train, lambda)
  loss <- loss_name(fit)
  scores <- vapply(searched, function(model) {
    x <- retrain_columns(train, model$features)$values
    pred <- if (loss != "squared") retrain_likelihood(train, loss, x, model$lambda)$pred else
      retrain_ridge(train, x, ridge_root(model$lambda, ncol(x)))$pred
    as_kept(train, about_query_means(checker$problem, pred))[rows, , drop = FALSE]
  }, matrix(0, length(rows), ncol(train$rows$y)))
  structure(scores, dim = c(length(rows), ncol(train$rows$y), length(searched)),
            columns = lengths(lapply(searched, `[[`, "features")))
}

# The columns and lambda of each size that the method chooses with other weights. A size without a
# model has the columns and lambda of the next smaller size.
search_again <- function(fit, train, lambda) {
  method <- get(fit$method, topenv())
  largest <- fit$control$k
  upper <- if (is_training(fit)) subset_bound(train)$upper else count_units(train)
  null <- list(list(features = integer(), lambda = 1))
  cost <- fit$control$cost
  if (upper < 1L) return(rep(null, largest + 1L))
  control <- fit$control[setdiff(intersect(names(fit$control), names(formals(method))),
                                 c("k", "lambda", "size", "keep", "cost", "progress"))]
  own <- list(k = min(largest, upper), lambda = lambda, size = "criterion", progress = FALSE,
              folds = fit$folds, criterion = fit$criterion$name,
              refit = !is.null(fit$path$refit_lambda), cost = if (!is.null(cost)) {
                data.frame(cost = cost$price, assay = replace(cost$assay, cost$assay < 0L, NA))
              })
  if (!is.null(fit$searched)) own$criterion <- fit$searched$criterion$name
  own <- own[names(own) %in% names(formals(method))]
  train$copies <- fit$copies
  train$folds_checked <- TRUE
  again <- suppressWarnings(do.call(method, c(list(quote(train)), control, own)))
  models <- lapply(again$coefficients, function(model) {
    if (is.null(model)) return(NULL)
    by <- again$path$refit_lambda[model$step + 1L]
    list(features = model$features, lambda = if (isTRUE(by > 0)) by else again$lambda)
  })
  fill_models(models, largest)
}

# the default multiple of the mean square of a column that this lambda is, if any
default_multiple <- function(checker, lambda) {
  if (endsWith(checker$fit$lambda_rule, "given")) return(numeric())
  multiple <- lambda / checker$mean_square(1)
  multiples <- lambda_multiples(searched_problem(checker$fit$problem, checker$fit$control))
  multiples[abs(multiple / multiples - 1) < 1e-4]
}

# Verify sparse ------------------------------------------------------------------------------------

# The checks of fits of columns, for verify().

#' @exportS3Method
checks_of.sparse_fit <- function(fit, x, y, ..., data) {
  checker <- column_checker(fit, problem_of_fit(fit, x, y, ..., data = data))
  kinds <- c(set_kinds(checker), model_kinds(checker), choice_kinds(checker),
             list(path_kind(checker)),
             if (is.null(fit$searched)) step_kinds(checker) else times_kinds(checker),
             procedure_kinds(checker))
  list(kinds = kinds, unchecked = c(if (!is_known_criterion(fit$criterion$name)) {
    "values of the `criterion` function, which the fit does not keep"
  }, if (!is.null(fit$path$price)) {
    "that no other column was better at a step, by what it gains per price"
  }, if (!is.null(fit$size_folds) && !is_repeatable(fit)) {
    "errors and predictions of the whole procedure, whose search draws at random"
  }, if (fit$status == "interrupted" && !is.null(fit$size_folds)) {
    "errors of the whole procedure, which was interrupted"
  }))
}

# The common parts of the checks of a fit: the fit, the problem, the set and lambda of each row of
# the path, and functions that store their retrained results.
column_checker <- function(fit, problem) {
  problem <- searched_problem(regression_of_ranking(problem), fit$control)
  refitted <- fit$path$refit_lambda
  if (is.null(refitted)) refitted <- NA
  checker <- list(fit = fit, problem = problem, sets = path_sets(fit), names = problem$columns$name,
                  lambda = rep_len(ifelse(is.na(refitted), fit$lambda, refitted), nrow(fit$path)),
                  rms = response_rms(problem), residual = covariate_residual(problem))
  loss <- loss_name(fit)
  # along flat covariates all predictions have the rounding error of the largest
  flat <- is_likelihood(loss) && plain_ridge(problem, loss) > 0
  checker$fitted_unit <- max(checker$rms, if (flat) 1000)
  # models by a likelihood without a fold end at ten digits of all predictions together
  checker$held_out_unit <- checker$rms * (if (is_likelihood(loss)) 1000 else 1)
  checker$trained <- remembered(function(set, lambda) {
    design <- column_design(problem, set)
    model <- retrain_design(problem, design, lambda, checker$residual, loss)
    replace(model, "pred", list(as_kept(problem, model$pred)))
  })
  checker$held_out <- remembered(function(set, lambda) {
    design <- column_design(problem, set)
    if (loss != "squared") {
      return(retrain_likelihood_out(problem, loss, design, lambda, fit$folds$ids))
    }
    retrain_design_out(problem, design, lambda, fit$folds$ids, checker$residual)
  })
  checker$null <- remembered(function(name) {
    if (name == "r_squared") 1 else abs(set_error(checker, integer(), 1, name)[["value"]])
  })
  checker$mean_square <- remembered(function(all) lambda_unit(fit, problem, checker$residual))
  checker$refit_unit <- remembered(function(all) {
    lambda_unit(fit[names(fit) != "searched"], problem, checker$residual)
  })
  checker
}

# What the default lambdas of a search are multiples of.
lambda_unit <- function(fit, problem, residual = covariate_residual(problem)) {
  if (!is.null(fit$searched)) return(retrain_mean_square(as_log_times(problem)))
  loss <- loss_name(fit)
  if (loss == "squared") retrain_mean_square(problem, residual) else
    retrain_mean_curvature(problem, loss)
}

# The checks of the search by log times that found the columns of a Cox model.
times_kinds <- function(checker) {
  fit <- checker$fit
  fit[c("loss", "searched")] <- NULL
  fit[c("criterion", "folds")] <- checker$fit$searched[c("criterion", "folds")]
  fit$path$criterion <- fit$path$search_criterion
  fit$path[c("search_criterion", "refit_lambda")] <- NULL
  times <- column_checker(fit, as_log_times(checker$problem))
  c(list(set_kind(times, "criterion of the search", fit$path$criterion, times$sets,
                  fit$criterion$name, fit$lambda)), step_kinds(times))
}

# The set after each row of the path, NULL where no model has this set.
path_sets <- function(fit) {
  path <- fit$path
  sets <- vector("list", nrow(path))
  if (!all(path$action %in% c("start", "add", "drop"))) {
    for (model in without_null(fit$coefficients)) sets[[model$step + 1L]] <- model$features
    return(sets)
  }
  start <- if (length(fit$control$start)) fit$control$start else
    which(searched_problem(fit$problem, fit$control)$columns$usable)
  sets[[1L]] <- if (path$size[1L] > 0L) setdiff(start, fit$dependent$feature) else integer()
  for (row in seq_len(nrow(path))[-1L]) {
    sets[row] <- list(moved_set(fit, sets[[row - 1L]], row, path$feature[row]))
  }
  sets
}

# the columns that the search of a fit moves together with one column
searched_columns <- function(fit, column) {
  unit_columns(searched_problem(fit$problem, fit$control), column)
}

# The set of a row of the path from the set before it, if the row moved `feature`.
moved_set <- function(fit, before, row, feature) {
  moved <- searched_columns(fit, feature)
  if (fit$path$action[row] == "add") union(before, moved) else setdiff(before, moved)
}

# Errors of sets ----------------------------------------------------------------------------------

# Value and standard error of a criterion of a set, over the folds of the fit.
set_error <- function(checker, set, lambda, name) {
  problem <- checker$problem
  folds <- checker$fit$folds
  if (name == "r_squared") return(c(value = training_gain(checker, set, lambda), se = NA_real_))
  if (name == "auc" && folds$loo) {
    pairs <- retrain_pairs(problem, retrain_columns(problem, set)$values,
                           ridge_root(lambda, length(set)))
    weight <- problem$rows$weight[pairs$up] * problem$rows$weight[pairs$down]
    return(c(value = sum(weight * pair_order(pairs$ahead)) / sum(weight), se = NA_real_))
  }
  held <- checker$held_out(set, lambda)
  if (is_cox_loss(name)) return(rowMeans(vapply(held$sums, retrain_mean, c(value = 0, se = 0))))
  pred <- held$pred
  if (name == "squared" && !is_squared(checker$fit)) {
    offset <- row_offset(problem)
    pred <- lapply(pred, function(f) plain_mean(loss_name(checker$fit), f + offset) - offset)
  }
  if (is_of_groups(name)) {
    return(retrain_groups(problem, name, pred, checker$held_out(integer(), 1)$pred))
  }
  retrain_error(problem, name, pred, folds)
}

# 1 less the penalised residual sum of squares divided by the residual sum of squares of the null
# model
training_gain <- function(checker, set, lambda) {
  rows <- checker$problem$rows
  squares <- function(model) sum(rows$weight * (rows$y - model$pred)^2)
  model <- checker$trained(set, lambda)
  1 - share_of(squares(model) + lambda * sum(model$B^2), squares(checker$trained(integer(), 0)), 1)
}

# A check of the errors of sets, with a number for each of `sets`.
set_kind <- function(checker, words, claimed, sets, name, lambda = checker$fit$lambda,
                     part = "value", feature = NA) {
  if (is.null(claimed) || !is_known_criterion(name)) return(NULL)
  model <- if (name == "r_squared") checker$trained else checker$held_out
  check_kind(words, claimed, function(at, cell) {
    set <- sets[[at]]
    by <- recycled(lambda, at)
    list(value = set_error(checker, set, by, name)[[part]], condition = model(set, by)$condition,
         unit = checker$null(name) * error_share[[part]], size = length(set))
  }, lambda = lambda, feature = feature, counts = !is.na(claimed) & !vapply(sets, is.null, NA))
}

# The errors of the path, of runners-up, of archives and of proofs.
set_kinds <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  name <- fit$criterion$name
  of_path <- function(words, column, name, lambda = checker$lambda, part = "value") {
    set_kind(checker, words, path[[column]], checker$sets, name, lambda, part)
  }
  others <- fit$alternatives
  moved <- lapply(seq_along(others$step), function(i) {
    row <- others$step[i] + 1L
    moved_set(fit, checker$sets[[row - 1L]], row, others$feature[i])
  })
  proof <- fit$proof
  of_proof <- match(proof$size, path$size)
  bound <- ifelse(path$action[of_proof] == "found", proof$bound, NA)
  list(
    of_path("criterion", "criterion", name),
    of_path("standard error", "se", name, part = "se"),
    of_path("mean squared error", "squared", "squared"),
    of_path("error rate", "error", "error"),
    if (is.null(fit$searched)) {
      of_path("criterion of the search", "search_criterion", name, fit$lambda)
    },
    set_kind(checker, "criterion of a runner-up", others$criterion, moved, name,
             feature = others$name),
    set_kind(checker, "R-squared of an archived set", fit$archive$criterion, fit$archive$columns,
             "r_squared"),
    if (!is.null(proof)) {
      set_kind(checker, "R-squared of a proof", c(proof$r_squared, bound),
               rep(checker$sets[of_proof], 2L), "r_squared")
    }
  )
}

# Models and the parameters -----------------------------------------------------------------------

# Coefficients, by retraining and by their gradient, and predictions of the rows, in sample and,
# unless the procedure was repeated in folds, held out.
model_kinds <- function(checker) {
  fit <- checker$fit
  models <- without_null(fit$coefficients)
  size <- lengths(lapply(models, `[[`, "features"))
  lambda <- checker$lambda[model_rows(models)]
  trained <- function(at) checker$trained(models[[at]]$features, lambda[at])
  chosen <- match(fit$size, model_sizes(fit))
  several <- if (is.null(fit$fitted_sizes)) list() else
    lapply(model_sizes(fit) + 1L, layer, values = kept_values(fit, "fitted_sizes"))
  held_out <- function(at) {
    out <- of_partitions(checker$held_out(models[[chosen]]$features, lambda[chosen]))
    idle <- checker$problem$rows$weight == 0
    out$pred <- as_kept(checker$problem, out$pred)
    out$pred[idle, ] <- trained(chosen)$pred[idle, ]
    out
  }
  c(coefficient_kinds(models, trained, size, lambda), list(
    check_kind("gradient", rep(0, length(models)), function(at, cell) {
      gradient(checker, models[[at]], lambda[at])
    }, size, lambda),
    row_kind("fitted value", list(kept_values(fit, "fitted")), function(at) trained(chosen),
             checker$fitted_unit, fit$size, lambda[chosen]),
    row_kind("fitted value of another size", several, trained, checker$fitted_unit,
             model_sizes(fit), lambda),
    if (is.null(fit$size_folds)) {
      row_kind("held-out prediction", list(kept_values(fit, "held_out")), held_out,
               checker$held_out_unit, fit$size, lambda[chosen])
    }
  ))
}

# The derivatives of the objective in the coefficients and the covariates, from the residuals of the
# coefficients of the fit.
gradient <- function(checker, model, lambda) {
  problem <- checker$problem
  w <- problem$rows$weight
  columns <- retrain_columns(problem, model$features)
  f <- plain_columns(problem, model$features) %*% model$beta + problem$z %*% model$covariates
  residual <- minus_gradient(problem, loss_name(checker$fit), f)
  slope <- rbind(crossprod(columns$values, residual) - lambda * model$beta * columns$scale,
                 crossprod(problem$z, residual))
  size <- sqrt(c(colSums(w * columns$values^2), colSums(w * problem$z^2)))
  value <- max(0, abs(slope) / pmax(size, 1e-300)) / sqrt(sum(w * problem$rows$y^2))
  list(value = value, deviation = value,
       condition = checker$trained(model$features, lambda)$condition)
}

# Minus the derivative of the loss by the linear predictors f (rows x responses).
minus_gradient <- function(problem, loss, f) {
  if (is_cox_loss(loss)) return(as.matrix(plain_cox(problem, f[, 1L])$slope))
  problem$rows$weight * plain_slope(loss, problem$rows$y, f, problem$rows$offset)
}

# Sizes and names in the path, and columns of the models, agree with the moves, as a number of rows.
path_kind <- function(checker) {
  fit <- checker$fit
  path <- fit$path
  check_kind("rows of the path with the columns named", nrow(path), function(...) {
    known <- !vapply(checker$sets, is.null, NA)
    good <- !known | path$size == vapply(checker$sets, count_units, 0L, problem = fit$problem)
    names <- unit_names(fit$problem, path$feature)
    good <- good & (is.na(path$feature) | mapply(identical, path$name, names))
    for (size in model_sizes(fit)) {
      model <- fit$coefficients[[size + 1L]]
      row <- model$step + 1L
      good[row] <- good[row] && count_units(fit$problem, model$features) == size &&
        setequal(model$features, checker$sets[[row]]) &&
        identical(rownames(model$beta), if (size) checker$names[model$features])
    }
    sum(good)
  })
}

# The ridge parameters: the parameter of the search, from the default rule or as given, the
# parameter of a refit, and the table of lambdas of a fit that tried several.
choice_kinds <- function(checker) {
  fit <- checker$fit
  lambdas <- c(fit$lambda, fit$lambda_table$lambda)
  table <- if (is.null(fit$size_folds)) fit$lambda_table
  of_size <- fit$coefficients[table$size + 1L]
  rows <- model_rows(of_size)
  list(
    if (!any(lambdas == 0)) check_kind("lambda", lambdas, function(at, ...) {
      multiple <- default_multiple(checker, lambdas[at])
      if (length(multiple)) multiple * checker$mean_square(1) else
        nearest(lambdas[at], unlist(fit$control$lambda))
    }),
    check_kind("lambda of a refit", fit$path$refit_lambda, function(at, ...) {
      best_refit(checker, checker$sets[[at]], fit$path$refit_lambda[at])
    }, lengths(checker$sets)),
    set_kind(checker, "criterion at a lambda", table$criterion, lapply(of_size, `[[`, "features"),
             fit$criterion$name, checker$lambda[rows])
  )
}

# The parameter with the smallest held-out error among the parameters that a refit tries. It is the
# reported parameter if the error of that parameter is equal.
best_refit <- function(checker, set, claimed) {
  name <- checker$fit$criterion$name
  if (!is_of_groups(name)) name <- loss_name(checker$fit)
  error_of <- function(lambda) set_error(checker, set, lambda, name)[["value"]]
  unit <- checker$refit_unit(1)
  lambdas <- refit_multiples * unit
  errors <- vapply(lambdas, error_of, 0)
  # 16ths of the smallest one as long as the error falls, or that is claimed
  while (lambdas[which.min(errors)] == min(lambdas) && min(lambdas) > 1.1 * least_multiple * unit) {
    smaller <- min(lambdas) / 16
    error <- error_of(smaller)
    if (error >= 0.999 * min(errors) && claimed > 1.1 * smaller) break
    lambdas <- c(lambdas, smaller)
    errors <- c(errors, error)
  }
  near <- which.min(abs(log(lambdas / claimed)))
  lambdas[if (errors[near] <= (1 + 1e-10) * min(errors)) near else which.min(errors)]
}

# Certificates -------------------------------------------------------------------------------------

# Checks of the certificates of certify(): the errors of the best sets by training, and the bounds
# of all sets in extended precision.

#' @exportS3Method
checks_of.certificate <- function(fit, x, y, ..., data) {
  check_sealed(fit)
  if (!missing(x)) stop_argument("a certificate has its data: give verify() the certificate alone")
  source <- certified_source(fit$problem, fit$lambda, fit$given)
  problem <- regression_of_ranking(fit$problem)
  residual <- covariate_residual(problem)
  proofs <- fit$proofs
  error_kind <- check_kind("error of the best set", proofs$value, function(at, ...) {
    design <- column_design(problem, fit$columns[[at]])
    squares <- function(pred) sum(problem$rows$weight * (problem$rows$y - pred)^2)
    if (proofs$criterion[at] == "penalised") {
      model <- retrain_design(problem, design, fit$lambda, residual)
      return(list(value = squares(model$pred) + fit$lambda * sum(model$B^2),
                  condition = model$condition))
    }
    rows <- matrix(seq_len(nrow(problem)))
    held_out <- retrain_design_out(problem, design, fit$lambda, rows, residual)
    list(value = squares(held_out$pred[[1L]]) / squared_divisor(problem),
         condition = held_out$condition)
  }, proofs$size, fit$lambda)
  nodes <- sum(proofs$nodes)
  list(kinds = c(list(error_kind), if (fit$lambda > 0) bound_kinds(fit, source)), unchecked = c(
    if (nodes > 0) sprintf("the bounds of %s", counted_nodes(nodes)),
    if (fit$lambda == 0) "the bounds without a penalty"
  ))
}

# The bounds of the sizes, and how many columns they settle.
bound_kinds <- function(certificate, source) {
  proofs <- certificate$proofs
  roots <- certificate$roots
  size <- vapply(roots, `[[`, 0L, "k")
  # a root whose bound and gains are computed in extended precision, less their rounding
  again <- remembered(function(i) {
    root <- roots[[i]]
    gain <- numeric(length(source$first))
    for (block in column_blocks(nrow(root$A), length(gain))) {
      part <- unit_part(source, block)
      gain[block] <- rowsum(.Call(C_certificate_gains, part$X, root$A), part$of) * (1 + 1e-15)
    }
    root$gain <- gain
    taken <- c(gain[source$given], utils::head(sort(gain[source$free], decreasing = TRUE),
                                               root$k - length(source$given)))
    root$bound <- .Call(C_certificate_constant, root$A, source$y) - sum(taken) * (1 + 1e-15)
    root
  })
  bound <- vapply(roots, `[[`, 0, "bound")
  list(check_kind("no set is below the bound", bound, function(at, ...) {
    found <- again(at)$bound
    list(value = found, deviation = max(0, bound[at] - found) / source$total, tolerance = 1e-13)
  }, size, certificate$lambda),
  check_kind("columns settled by the bound", proofs$certain_in + proofs$certain_out,
             function(at, ...) {
    limit <- proofs$limit[at] - proof_margin(source) / 2
    settled <- lengths(screened_units(source, again(match(proofs$size[at], size)), limit))
    found <- settled[["inside"]] + settled[["outside"]]
    claimed <- proofs$certain_in[at] + proofs$certain_out[at]
    list(value = found, deviation = max(0, claimed - found))
  }, proofs$size, certificate$lambda))
}
