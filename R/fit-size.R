# The number of columns and lambda, chosen by the error of the whole procedure (scaling, lambda,
# search, refit) repeated in folds. The criterion that chose the columns decides neither.
#
# A `search` is a function (problem, control) that gives a path for every lambda of control$lambda.
# Without the rows of a fold it runs on the same x with weight 0 on them, so no fold copies x.

# The size and its folds --------------------------------------------------------------------------

# The choice of size in every fitter of a path: `rule`, "cv", "min", "1se", "criterion" or a number,
# `folds`, the folds of the whole procedure, or NULL where it is not repeated, and `shared`, which
# run_without() gives to folds.
size_control <- function(problem, size, size_folds, folds, k = NULL, lambdas = 1L) {
  rules <- c("cv", "min", "1se", "criterion")
  if (is.numeric(size)) {
    upper <- if (is.null(k)) sum(problem$columns$usable) else k
    what <- if (is.null(k)) "the number of usable columns" else "`k`"
    size <- check_count(size, "size", upper, what, 0L)
  } else {
    refuse_unless(is.character(size) && length(size) == 1L && size %in% rules, "size",
                  paste("one of", some_of(rules, Inf, "\""), "or a number"), size)
  }
  repeated <- size != "criterion" || lambdas > 1L
  shared <- if (inherits(size_folds, "sparsels_folds")) size_folds$shared
  if (!is.null(shared)) size_folds$shared <- NULL
  list(rule = size, folds = if (repeated) procedure_folds(problem, size_folds, folds),
       shared = shared)
}

# what is held out as a whole, in words
unit_word <- function(whole, folds) {
  if (is.null(whole)) "row" else if (identical(whole, folds$together)) "given fold" else "group"
}

# Folds of the whole procedure. A number of folds is drawn stratified, with the groups of the user's
# folds kept together, from a separate stream. So the same call gives the same folds and R's
# generator is not changed. Rows of weight 0 are in the fold of their group, or else in any fold.
# `instead` is the way out where no folds can be drawn.
procedure_folds <- function(problem, size_folds, folds,
                            instead = "use `size = \"criterion\"`") {
  if (!is_number(size_folds)) return(in_context("`size_folds`", folds_of(problem, size_folds)))
  trained <- problem$rows$weight > 0
  whole <- whole_units(problem)
  if (is.null(whole)) whole <- kept_together(folds)
  groups <- whole[trained]
  upper <- if (is.null(groups)) sum(trained) else length(unique(groups))
  check_count(size_folds, "size_folds", lower = 2L)
  stop_input_if(upper < 3L,
                "%s %s too few to repeat the search in folds: %s",
                counted(upper, unit_word(whole, folds)),
                if (upper == 1L) "is" else "are", instead)
  # events are compared with later times of their fold
  pairs <- if (is_survival(problem)) min(sum(trained) %/% 2, sum(problem$rows$event[trained]))
  count <- min(size_folds, upper, if (!is.null(pairs)) max(2, pairs))
  strata <- if (count < sum(trained)) row_strata_of(problem)[trained]
  # the last event of a fold may have no later time there, so fewer folds are drawn until two have
  for (count in seq(count, if (is.null(pairs)) count else 2)) {
    drawn <- with_stream(fixed_stream, folds_of(sum(trained), count, groups, strata))
    at <- if (is.null(whole)) match(seq_along(trained), which(trained)) else match(whole, groups)
    ids <- replace(drawn$ids[at], is.na(at), 1L)
    name <- if (is_survival(problem)) "concordance" else "squared"
    if (diff(count_unscored(problem, list(ids = as.matrix(ids)), name)) > 1L) break
  }
  events <- ids[trained & problem$rows$event]
  stop_input_if(is_survival(problem) && all(events == events[1L]),
                "the %s would be held out together, without any to train on: %s",
                counted(length(events), "event"), instead)
  label <- if (drawn$loo) "leave-one-out" else unit_label(drawn$label, problem)
  if (is.null(whole_units(problem)) && is.null(folds$groups)) label <- label_as_given(label)
  new_folds(ids, label, whole)
}

# The search without each fold --------------------------------------------------------------------

# Searches, chooses the size by the rule in control$sizing, and makes the fit. `random` tells
# whether the search draws random numbers.
sized_fit <- function(method, problem, control, search, call, random = FALSE, BPPARAM = NULL) {
  check_bpparam(BPPARAM)
  chosen <- NULL
  if (!is.null(control$sizing$folds)) {
    chosen <- choose_functions(control, function(control) {
      problem <- searched_problem(problem, control)
      control <- control_without(control, problem)
      control$lambda <- control$lambda_values(problem)[seq_along(control$lambda)]
      choose_in_folds(problem, control, search, random, BPPARAM)
    })
    control$left_out <- chosen$left_out
    control <- control_without(control, searched_problem(problem, control))
    chosen$table <- list2DF(c(list(lambda = chosen$lambdas), chosen$table))
    chosen$folds <- control$sizing$folds
    control[c("k", "patience")] <- list(chosen$k, 0L)
    control$lambda <- chosen$lambdas[chosen$lambda]
  }
  path <- search(searched_problem(problem, control), control)[[1L]]
  # after Ctrl-C before the first model there is no result
  if (path$size < 0L) raise_interrupt()
  warn_precision(path, chosen$size)
  if (!is.null(chosen)) warn_edges(problem, control, chosen)
  reached <- max(path$path$size)
  determined <- NROW(path$dependent) + NROW(path$copies) > 0L
  warn_if(determined && is.numeric(control$sizing$rule) && reached < control$sizing$rule,
          "sparsels_warning_edge", "`size` is %d, but %s of the search determine all others",
          control$sizing$rule, counted(reached, "column"))
  new_sparse_fit(method, problem, path, control, call, chosen)
}

# The controls of a search of the problem without the functions that are left out.
control_without <- function(control, problem) {
  if (!length(control$left_out)) return(control)
  control$lambda_values <- control$lambda_choice(problem)$values
  control$products <- products_without(control$products, control$left_out)
  control
}

# Warns if the choice is at the end of the values tried, where a better value may lie beyond, or if
# Ctrl-C stopped the search.
warn_edges <- function(problem, control, chosen) {
  if (chosen$interrupted && nrow(chosen$parts) < chosen$wanted) {
    warn_interrupted(nrow(chosen$parts), chosen$wanted, "size fold")
  } else {
    warn_if(chosen$interrupted, "sparsels_interrupted",
            "interrupted: the size is chosen from 0 to %d, larger ones are untried", chosen$k)
  }
  more <- chosen$k < control$largest(problem) && !chosen$settled
  warn_if(!is.numeric(control$sizing$rule) && chosen$size == chosen$k && more,
          "sparsels_warning_edge",
          "the chosen size is the largest tried, %d: a larger `k` may be better", chosen$k)
  tried <- chosen$table$lambda
  warn_if(control$lambda_given && length(tried) > 2L && control$lambda %in% range(tried),
          "sparsels_warning_edge", "lambda = %s is the %s of those given: others may be better",
          format(control$lambda, digits = 4),
          if (control$lambda == max(tried)) "largest" else "smallest")
}

# Warns if held-out errors have few correct digits. Held-out errors are divided by pivots (1 minus a
# leverage). Near 0 the pivots lose digits, where a row is fitted almost exactly when it is in the
# training set. Steps after the model of a size that folds chose do not count.
warn_precision <- function(path, size = NULL) {
  pivot <- path$pivot
  model <- if (!is.null(size)) path$models[[min(size + 1L, length(path$models))]]
  if (!is.null(model)) pivot <- pivot[seq_len(model$row)]
  poor <- which(pivot < 1e-6)
  warn_if(length(poor), "sparsels_warning_precision",
          "held-out errors from step %d on have about %d correct digits, as %s: use %s",
          path$path$step[poor[1L]],
          floor(-log10(.Machine$double.eps / max(min(pivot), .Machine$double.eps))),
          "some rows are fitted almost exactly",
          "a larger `lambda`, fewer columns or less unequal `weights`")
}

# Repeats the search without each fold in turn, for larger and larger sizes as long as that may pay,
# unless the user gave the largest size, and for smaller and smaller default lambdas as long as the
# errors are mostly shrinkage.
choose_in_folds <- function(problem, control, search, random, BPPARAM = NULL) {
  parts <- held_out_rows(control$sizing$folds, problem$rows$weight > 0)
  # a function of the user has the predictions of all rows, and a cluster columns of all rows
  apart <- control$criterion$name == "user" || !is.null(control$shards)
  if (random || apart) control$sizing$shared <- NULL
  upper <- control$k
  if (control$grows) control$k <- min(upper, first_k + length(control$start))
  repeat_at <- function(places) {
    repeat_search(problem, control, search, parts, places, random, BPPARAM)
  }
  chosen <- NULL
  repeat {
    begun <- proc.time()[["elapsed"]]
    # messages that the folds of the first search have given are not repeated
    said <- if (is.null(chosen)) "" else "sparsels_message_covariates"
    held <- suppressMessages(repeat_at(seq_along(control$lambda)), said)
    # a partition with only one completed fold contains no information about the choice
    repetition <- held$parts$repetition
    several <- stats::ave(repetition, repetition, FUN = length) > 1L
    # after Ctrl-C the results for fewer columns are kept
    stopped <- sum(several) < nrow(parts)
    if (stopped && (!is.null(chosen) || sum(several) < 2L)) break
    first <- is.null(chosen) && !random
    if (first && is_related(problem, control$sizing$folds)) control$clear <- TRUE
    chosen <- choice_of(problem, control, held$each[several], held$parts[several, ])
    while (!stopped && !random && is_mostly_shrinkage(problem, control, chosen, held$each)) {
      place <- length(control$lambda) + 1L
      smaller <- suppressMessages(repeat_at(place), "sparsels_message_covariates")
      stopped <- nrow(smaller$parts) < nrow(parts)
      if (stopped) break
      held$each <- Map(join_lambdas, held$each, smaller$each)
      control$lambda <- control$lambda_values(problem)[seq_len(place)]
      chosen <- choice_of(problem, control, held$each, held$parts)
    }
    larger <- min(2L * control$k, upper)
    may_grow <- control$grows && control$k < upper
    enough <- !may_grow || !may_pay(chosen$least, larger)
    ten <- NULL
    ten_suffice <- is.null(control$criterion$over) && are_many(control$sizing)
    if (enough && !stopped && chosen$size > 0L && ten_suffice) {
      ten <- choice_in_ten(problem, control, search, random, BPPARAM)
      stopped <- is.null(ten)
      if (!stopped) control$clear <- ten$size > 0L
      chosen <- choice_of(problem, control, held$each, held$parts)
    }
    chosen["ten"] <- list(ten)
    chosen[c("k", "interrupted", "wanted")] <- list(control$k, stopped, nrow(parts))
    chosen[c("lambdas", "settled")] <- list(control$lambda, may_grow && enough)
    if (enough || stopped) return(chosen)
    parts$smaller <- held$each
    say_growth(control$k, larger, proc.time()[["elapsed"]] - begun)
    control$k <- larger
  }
  if (is.null(chosen)) {
    stop_lost(control$shards$lost)
    raise_interrupt()
  }
  chosen$interrupted <- TRUE
  chosen
}

# Pairs and the directions of curves may raise the error of other rows. The choice in folds by a
# search of all columns, or by a simpler search if its error is not clearly above: without the first
# of `control$optional`, then without the next one as well. Without their directions curves are
# lines. The element `left_out` says what is left out, and `cv_with` has the cross-validated errors
# with it. `choose` is a function of the controls. Ctrl-C leaves the searches before it.
choose_functions <- function(control, choose) {
  chosen <- choose(control)
  tried <- list(chosen)
  for (count in seq_along(control$optional)) {
    if (chosen$interrupted) break
    control$left_out <- control$optional[seq_len(count)]
    simpler <- until_stopped(choose(control), function(e) NULL)
    if (is.null(simpler) || simpler$interrupted) {
      warn_sparsels(sprintf("interrupted: a model without %s is untried",
                            control$optional[count]), "sparsels_interrupted")
      break
    }
    simpler$left_out <- control$left_out
    tried <- c(list(simpler), tried)
  }
  if (length(tried) > 1L) simplest_of(tried) else chosen
}

# The first of some choices in folds, with the simplest first, whose error is not clearly above the
# error of a later one: by more than one standard error of the difference, or by more than a
# twentieth of the gain over the model without columns.
simplest_of <- function(tried) {
  # the sums of losses of the chosen model in each fold
  sums_of_choice <- function(chosen) {
    chosen$errors$sum[chosen$size + 1L + chosen$errors$shape[1L] * (chosen$lambda - 1L), ]
  }
  # the model without columns, then the others
  models <- tried[[1L]]$errors
  models$sum <- rbind(models$sum[1L, ], t(vapply(tried, sums_of_choice, models$sum[1L, ])))
  models$shape <- c(nrow(models$sum), 1L)
  kept <- 1L
  for (fuller in seq_along(tried)[-1L]) {
    excess <- paired_excess(models, c(fuller + 1L, 1L))
    near <- excess$value[kept + 1L] <=
      min(excess$se[kept + 1L], most_lost[["long"]] * excess$value[1L])
    if (isFALSE(near)) kept <- fuller
  }
  chosen <- tried[[kept]]
  with <- error_curve(models)$value[-seq_len(kept + 1L)]
  if (length(with)) chosen$cv_with <- stats::setNames(with, rev(chosen$left_out))
  chosen
}

# search_without() each part, at the lambdas of some places.
repeat_search <- function(problem, control, search, parts, places, random, BPPARAM) {
  words <- if (max(parts$repetition) == 1L) paste("size fold", parts$fold) else
    sprintf("size fold %d of partition %d", parts$fold, parts$repetition)
  score <- fold_scorer(problem, control$criterion, control$sizing$folds, loss_name(control))
  held_out(parts, function(part) search_without(problem, part, control, search, places, score),
           words, "Repeating the search in folds", random, control$progress, BPPARAM,
           apart = is.null(control$shards))
}

# Whether a smaller default lambda is to be tried: at the smallest one so far the error of the
# search is more than four times the error of the refitted model, unless the cross-validated error
# has risen from the lambda before by more than a shorter list may lose, or this error is at most
# half of the one before.
is_mostly_shrinkage <- function(problem, control, chosen, each) {
  tried <- length(control$lambda)
  if (!isTRUE(tried < control$most_lambdas)) return(FALSE)
  ratio <- vapply(each, function(fold) fold$shrinkage[chosen$table$size[tried] + 1L, tried], 0)
  loss <- as_error(chosen_by(problem, control$criterion), chosen$table$cv)
  null <- as_error(chosen_by(problem, control$criterion), chosen$path$cv$value[1L])
  before <- loss[tried - 1L]
  if (isTRUE(loss[tried] - before > most_lost[["long"]] * (null - before))) return(FALSE)
  isTRUE(stats::median(ratio, na.rm = TRUE) > 4) || isTRUE(loss[tried] < before / 2)
}

# the results of one fold with the results for smaller lambdas
join_lambdas <- function(fold, smaller) {
  sums <- Map(function(one, other) array(c(one, other), dim(one) + c(0L, 0L, dim(other)[3L])),
              fold$sums, smaller$sums)
  list(models = c(fold$models, smaller$models), found = c(fold$found, smaller$found), sums = sums,
       gains = cbind(fold$gains, smaller$gains), losses = cbind(fold$losses, smaller$losses),
       variance = fold$variance, shrinkage = cbind(fold$shrinkage, smaller$shrinkage),
       state = join_states(fold$state, smaller$state))
}

improve_within <- 10L

# Whether a size up to `k` may be clearly better than all so far: whether the error falls by more
# than a shorter list may lose, if every ten sizes bring what the last ten have brought. On convex
# curves they bring less. `loss` has the smallest error of each size so far.
may_pay <- function(loss, k) {
  largest <- length(loss) - 1L
  gain <- loss[1L] - min(loss)
  last_gain <- min(loss[seq_len(max(1L, length(loss) - improve_within))]) - min(loss)
  last_gain * (k - largest) / improve_within > most_lost[["long"]] * gain
}

# Says how long larger sizes will take, if that is long. `seconds` is the time of the sizes so far.
say_growth <- function(k, larger, seconds) {
  message_if(seconds >= 15, "sparsels_message_time", paste(
    "the cross-validated error still falls at size %d: sizes up to %d will take %s or more,",
    "`k = %d` ends there"
  ), k, larger, format_seconds(2 * seconds), k)
}

# Whether there are so many folds that the searches without them are almost the same search. Their
# errors are then too much alike to say whether any column is better than none.
are_many <- function(sizing) {
  identical(sizing$rule, "cv") && length(unique(sizing$folds$ids[, 1L])) > 20L
}

# The choice in ten folds, NULL after Ctrl-C.
choice_in_ten <- function(problem, control, search, random, BPPARAM) {
  control$sizing$folds <- procedure_folds(problem, 10L, control$sizing$folds)
  # which are not the folds of the search
  if (!is.null(control$products)) control$products$shared <- FALSE
  parts <- held_out_rows(control$sizing$folds, problem$rows$weight > 0)
  done <- suppressMessages(
    repeat_search(problem, control, search, parts, seq_along(control$lambda), random, BPPARAM),
    "sparsels_message_covariates"
  )
  if (nrow(done$parts) < nrow(parts)) return(NULL)
  c(choice_of(problem, control, done$each, parts), list(folds = control$sizing$folds))
}

# How the models of each fold are scored: a function of their scores of the rows held out and of the
# numbers of these rows that gives for each criterion the sum over the rows and its weight (2 x
# models), and what the rule of choice compares. It goes to each worker without x.
fold_scorer <- function(problem, criterion, folds, loss) {
  problem["x"] <- list(NULL)
  judged <- path_criteria(problem, criterion)
  by_pairs <- is_survival(problem) && judged$cv$name == "concordance"
  scorer <- gain_scorer(problem, folds, loss)
  function(scores, rows) {
    scored <- scored_rows(problem, rows)
    residual <- residuals_of(scored, scores)
    list(sums = lapply(judged, score_sums, scores = scores, problem = scored, residual = residual),
         gains = if (!by_pairs) scorer$gains(residual, scored, rows),
         losses = if (!is.null(criterion$over)) scorer$losses(residual, scored, rows),
         variance = if (by_pairs) pair_variance(scored))
  }
}

# One fold: the models of each lambda (at `places` of its values) and size on the user's scale, the
# values of `score`, with sums of 2 x sizes x lambdas, the shrinkage of the errors of the models,
# the columns that a forward search has `found` for each lambda, and the result of state_by(). Where
# `part$smaller` has the same of smaller sizes, a forward search continues from its columns, and
# only the larger sizes are new.
search_without <- function(problem, part, control, search, places, score) {
  rows <- part$rows
  smaller <- if (!is.null(part$smaller) && all(places <= length(part$smaller$found))) part$smaller
  control$found <- smaller$found
  control$known <- if (!is.null(smaller)) length(smaller$models[[1L]])
  paths <- paths_by_products(problem, part, control, search, places)
  if (is.null(paths)) paths <- paths_trained_without(problem, rows, control, search, places)
  sizes <- 0:control$k
  sizes <- sizes[sizes == 0L | sizes >= max(0L, control$known)]
  models <- lapply(paths$models, function(models) fill_models(models, control$k)[sizes + 1L])
  # the models of all lambdas, each of which begin with the model without columns
  each <- unlist(models, recursive = FALSE)
  scores <- if (is.null(paths$given)) model_scores(each, problem, rows,
                                                   state_without(problem, paths$state)) else
    model_scores(of_places(each, paths$places), paths$given, rows)
  values <- score(scores, rows)
  values$sums <- lapply(values$sums, array, c(2L, length(sizes), length(models)))
  shrinkage <- vapply(paths$shrinkage, function(shrinkage) as.numeric(shrinkage)[sizes + 1L],
                      numeric(length(sizes)))
  larger <- c(list(models = models, found = paths$found, shrinkage = shrinkage,
                   state = paths$state), values)
  if (is.null(smaller)) larger else join_sizes(smaller, larger)
}

# The results of one fold for smaller sizes with the results for larger ones, which begin with those
# of the model without columns again.
join_sizes <- function(fold, larger) {
  lambdas <- length(fold$models)
  join <- function(one, other, height) {
    rbind(matrix(one, ncol = lambdas),
          matrix(other, ncol = lambdas)[-seq_len(height), , drop = FALSE])
  }
  larger$models <- Map(function(one, other) c(one, other[-1L]), fold$models, larger$models)
  larger$sums <- Map(function(one, other) {
    array(join(one, other, 2L), c(2L, lengths(larger$models[1L]), lambdas))
  }, fold$sums, larger$sums)
  for (name in intersect(c("gains", "losses"), names(without_null(fold)))) {
    height <- nrow(fold[[name]])
    larger[[name]] <- matrix(join(fold[[name]], larger[[name]], height), height)
  }
  larger$shrinkage <- join(fold$shrinkage, larger$shrinkage, 1L)
  larger$state <- join_states(fold$state, larger$state)
  larger
}

# The paths without a fold of the search itself, NULL where its products do not determine them.
# The columns of their models are in some `places` of the problem `given`.
paths_by_products <- function(problem, part, control, search, places) {
  left <- control$products$weight[-c(part$fold, control$products$folds + 1L)] > 0
  if (!isTRUE(control$products$shared) || sum(left) < 2L) return(NULL)
  train <- control$products$parts[[as.character(part$fold)]]
  if (is.null(train)) train <- part_by_products(problem, control$products, part$fold)
  if (is.null(train)) return(NULL)
  control$products <- train$products
  c(paths_of_training(train$problem, control, search, places, of = train$of),
    train[c("given", "places")])
}

# What search_without() keeps of the paths without some rows, with an element for each lambda. The
# fits without two outer folds share these paths: they are then trained on the other rows alone, in
# the order of the rows, so that it makes no difference which of the folds is the outer one. A
# matrix in a file has all rows in any case.
paths_trained_without <- function(problem, rows, control, search, places) {
  shared <- control$sizing$shared
  kept <- setdiff(trained_places(problem), rows)
  if (is.null(shared) || is_file_matrix(problem$x)) {
    train <- function() reweighted(problem, replace(case_weights(problem), rows, 0))
  } else {
    control$folds <- cut_folds(control$folds, kept)
    train <- function() reweighted(part_of(problem, kept), case_weights(problem)[kept])
  }
  if (is.null(shared)) return(paths_of_training(train(), control, search, places))
  # the settings in which the fits without different outer folds may differ
  own <- c(setdiff(internal_control, c("criterion", "folds", "copies")), "lambda", "patience")
  differing <- c(control[setdiff(names(control), own)], list(places = places))
  trained_once(shared, kept, differing, function() {
    paths_of_training(train(), control, search, places)
  })
}

# The same of a training set, as models of the columns `of` a problem.
paths_of_training <- function(train, control, search, places, of = train) {
  # paths_by_products() has made sure of this
  by_rows <- is.null(control$products$turn)
  if (by_rows) {
    check_folds_left(control$folds, trained_places(train),
                     "`size = \"criterion\"` does not repeat the search in folds")
  }
  if (by_rows) fold_basis_check(train, control$folds, said = TRUE)
  train <- searched_problem(train, control)
  control$criterion$null <- null_sums(train, control$criterion, control$folds)
  control$lambda <- control$lambda_values(train)[places]
  control$patience <- 0L
  control$k <- min(control$k, control$largest(train))
  control$progress <- FALSE
  control$of_part <- TRUE
  if (!is.null(train$x) && !is.null(control$products)) {
    control$products <- products_of(train, control)
  }
  paths <- if (control$k > 0L) {
    search(train, control)
  } else {
    none <- list(features = integer(), beta = matrix(0, 0L, ncol(train$rows$y)), row = 1L)
    rep(list(list(models = list(none), status = "complete")), length(control$lambda))
  }
  if (length(paths) < length(control$lambda) || paths[[length(paths)]]$status == "interrupted") {
    raise_interrupt()
  }
  models <- lapply(paths, function(path) user_coefficients(of, path$models))
  found <- if (identical(control$search, "forward")) {
    lapply(paths, function(path) path$models[[length(path$models)]]$features)
  }
  list(models = models, found = found, shrinkage = lapply(paths, `[[`, "shrinkage"),
       state = if (!is.null(train$x) || has_pairs(of)) state_by(of, models))
}

# Paths that outer folds share ---------------------------------------------------------------------

# Where the inner folds of an outer fold are the other outer folds, the paths without two outer
# folds are needed twice: each of the two is an inner fold of the fit without the other.

# The value of train(), or its value of an earlier call with the same rows and settings. A value is
# kept until it is used again.
trained_once <- function(shared, rows, settings, train) {
  key <- list(rows = shared$rows[rows], settings = settings)
  kept <- shared$store$kept
  there <- which(vapply(kept, function(one) identical(one$key, key), NA))
  if (!length(there)) {
    value <- train()
    shared$store$kept <- c(shared$store$kept, list(list(key = key, value = value)))
    return(value)
  }
  shared$store$kept <- kept[-there]
  kept[[there]]$value
}

# What the columns that some models (a list for each lambda) use take from the rows of a problem:
# `values`, the means that replace missing values of these `features`, their `curves` and `pairs`.
state_by <- function(problem, models) {
  state <- column_state(problem)
  if (is.null(state)) return(NULL)
  used <- needed_columns(problem, used_features(unlist(models, recursive = FALSE)))
  pairs <- problem$pairs
  if (!is.null(pairs)) {
    paired <- paired_names(pairs, problem$columns$pair[used])
    pairs$basis <- pairs$basis[names(pairs$basis) %in% paired]
  }
  list(features = used, values = state$mean[used],
       curves = state$curves[names(state$curves) %in% problem$columns$curve[used]], pairs = pairs)
}

# What more models use of the same training rows.
join_states <- function(state, more) {
  joined <- Map(c, state, more)
  if (is.null(joined$pairs)) return(joined)
  basis <- c(state$pairs$basis, more$pairs$basis)
  joined$pairs <- replace(more$pairs, "basis", list(basis[!duplicated(names(basis))]))
  joined
}

# The held-out criteria of every size: the one that chooses and, for classes, the error rate, for
# rankings the concordance.
path_criteria <- function(problem, criterion) {
  rate <- if (problem$coding$task != "regression") list(name = "error", higher = FALSE)
  cv <- chosen_by(problem, criterion)
  orders <- measure_of(problem) == "concordance"
  concordance <- if (orders && cv$name != "concordance") list(name = "concordance", higher = TRUE)
  without_null(list(cv = cv, cv_error = rate, cv_concordance = concordance))
}

# The held-out criterion that chooses a size: for censored times the concordance, unless the user
# gave a function, and the squared error if the search used the training rows.
chosen_by <- function(problem, criterion) {
  name <- if (is_survival(problem) && criterion$name != "user") "concordance" else
    if (criterion$name == "r_squared") "squared"
  if (is.null(name)) criterion else c(list(name = name), criteria[[name]][c("words", "higher")])
}

# The choice --------------------------------------------------------------------------------------

# The choice by the folds: lambda (its place) and size, the size with the smallest error (`best`),
# the errors of every size, at the chosen lambda and the smallest of all (`least`), and the errors
# of the procedure with its choice.
choice_of <- function(problem, control, done, parts) {
  criteria <- path_criteria(problem, control$criterion)
  errors <- lapply(stats::setNames(nm = names(criteria)), function(name) {
    fold_errors(lapply(done, function(fold) fold$sums[[name]]), parts$repetition,
                criteria[[name]]$higher, slack_of(problem), gains = lapply(done, `[[`, "gains"),
                variance = unlist(lapply(done, `[[`, "variance")), clear = control$clear,
                over = criteria[[name]]$over,
                losses = if (!is.null(criteria[[name]]$over)) lapply(done, `[[`, "losses"))
  })
  check_scored(errors$cv, problem)
  rule <- control$sizing$rule
  chosen <- choose_model(errors$cv, rule)
  best <- if (is.numeric(rule)) chosen else choose_model(errors$cv, "min")
  choices <- cross_fitted_choices(errors$cv, rule)
  value <- error_curve(errors$cv)$value
  best_sizes <- apply(criterion_loss(errors$cv, value), 2L, choose_row) - 1L
  list(
    lambda = chosen$lambda, size = chosen$size, best = best$size, parts = parts,
    least = apply(model_losses(errors$cv, rule), 1L, min),
    path = lapply(errors, function(one) {
      list2DF(lapply(error_curve(one), function(table) table[, chosen$lambda]))
    }),
    errors = errors$cv,
    table = list(size = best_sizes, cv = value[cbind(best_sizes + 1L, seq_along(best_sizes))]),
    estimate = cross_fitted(errors, choices),
    of_sizes = lapply(done, function(fold) fold$models[[chosen$lambda]]),
    models = lapply(done, function(fold) {
      models <- fold$models[[chosen$lambda]]
      models[[min(chosen$size + 1L, length(models))]]
    }),
    cross_fitted = if (!is.null(choices)) {
      Map(function(fold, size, lambda) fold$models[[lambda]][[size + 1]], done,
          choices[, "size"], choices[, "lambda"])
    },
    state = lapply(done, `[[`, "state")
  )
}

# An area under the ROC curve requires rows of both classes in a fold, and a concordance rows that
# can be compared. The choice without one fold uses the others, so two such folds are required.
check_scored <- function(errors, problem) {
  scored <- rowsum(as.integer(errors$weight > 0), errors$repetition)
  stop_input_if(any(scored < 2L), "`size_folds` must have %s in two folds or more, not %s: %s",
                if (is_survival(problem)) "times to compare" else if (!is.null(errors$over))
                  "groups in which the null model has an error" else "rows of both classes",
                if (min(scored)) "in one" else "in none", "use fewer folds, or another `size`")
}

# The values of of(columns, sizes) for some sets, a function of the first columns of a set for each
# of `sizes`, in a list. It is called once if each set is an initial part of the largest, otherwise
# for each set.
of_sets <- function(sets, of, sizes = lengths(sets)) {
  largest <- sets[[which.max(lengths(sets))]]
  leads <- vapply(sets, function(set) identical(set, largest[seq_along(set)]), NA)
  if (all(leads)) list(of(largest, sizes)) else Map(of, sets, sizes)
}

# The fit ------------------------------------------------------------------------------------------

# The fit of a method from its path. `chosen` is the result of choose_in_folds() if the whole
# procedure was repeated. `to_user` takes the models of the method to the user's scale.
new_sparse_fit <- function(method, problem, path, control, call, chosen = NULL,
                           to_user = user_coefficients) {
  rule <- control$sizing$rule
  features <- unique(unlist(lapply(path$models, `[[`, "features")))
  check_unchanged(problem, features)
  # the largest sizes may have copies alone, which are left out
  path$models <- path$models[seq_len(max(which(!vapply(path$models, is.null, NA))))]
  fit <- structure(list(
    method = method, path = path$path, coefficients = to_user(problem, path$models),
    size = path$size, held_out = path$held_out, fitted = path$fitted,
    lambda = path$lambda, lambda_rule = control$lambda_rule,
    lambda_table = new_table(list(
      lambda = path$lambda, size = path$size,
      criterion = path$path$criterion[path$models[[path$size + 1L]]$row]
    )),
    size_by = if (is.null(rule)) "criterion" else rule,
    criterion = control$criterion[intersect(c("name", "higher", "words", "label"),
                                            names(control$criterion))],
    cv_criterion = chosen_by(problem, control$criterion)[c("name", "higher", "words")],
    folds = control$folds, found = path$found, alternatives = path$alternatives,
    copies = path$copies, dependent = path$dependent, equal = equal_columns(problem, features),
    work = path$work, status = path$status,
    control = control[setdiff(names(control), internal_control)],
    call = call, problem = without_x(problem)
  ), class = c(fit_class(method), "sparse_fit", "sparsels_fit", "sparsels_result"))
  fit[c("loss", "searched")] <- control[c("loss", "searched")]
  fit <- if (is.null(chosen)) fill_unweighted(fit, problem) else
    take_choice(fit, problem, chosen, control$products$parts)
  if (is_cox(problem)) {
    # at the means of the training rows
    model <- fit$coefficients[[fit$size + 1L]]
    score <- model_scores(list(model), problem)[, 1L, 1L]
    fit$baseline <- cox_baseline(problem, score - reference_score(problem, model))
  }
  if (fit$criterion$name == "auc" && fit$size > 0L) warn_constant(problem, held_out_classes(fit))
  seal(warn_unfinished(with_user_units(fit), done_words(fit$path)))
}

internal_control <- c("criterion", "folds", "copies", "clear", "lambda_rule", "lambda_values",
                      "lambda_choice", "lambda_given", "most_lambdas", "sizing", "grows",
                      "largest", "BPPARAM", "shards", "products", "optional")

# The fit with the size that the folds of the whole procedure choose, the errors of every size in
# these folds, and predictions of each row by the models without it. `known` has results of
# part_by_products().
take_choice <- function(fit, problem, chosen, known = NULL) {
  if (is.numeric(fit$size_by) || fit$size_by != "criterion") {
    sizes <- model_sizes(fit)
    fit$size <- max(sizes[sizes <= chosen$size])
  } else {
    # the folds choose lambda alone
    chosen$models <- lapply(chosen$of_sizes, function(models) {
      models[[min(fit$size + 1L, length(models))]]
    })
  }
  scored <- model_sizes(fit)
  scored <- scored[scored < nrow(chosen$path$cv)]
  rows <- model_rows(fit$coefficients[scored + 1L])
  for (error in names(chosen$path)) {
    columns <- c(error, paste0(error, "_se"))
    fit$path[columns] <- NA_real_
    fit$path[rows, columns] <- chosen$path[[error]][scored + 1L, seq_along(columns)]
  }
  fit$lambda_table <- chosen$table
  fit$best <- chosen$best
  fit$cv_with <- chosen$cv_with
  fit$estimate <- chosen$estimate$cv
  fit$estimate_error <- chosen$estimate$cv_error
  fit$estimate_concordance <- chosen$estimate$cv_concordance
  fit$size_folds <- chosen$folds
  few <- length(problem$rows$y) * length(fit$coefficients) <= 1e6
  fitted <- scores_of_rows(problem, model_scores(
    fit$coefficients[if (few) TRUE else fit$size + 1L], problem
  ))
  fit$fitted <- layer(fitted, if (few) fit$size + 1L else 1L)
  if (few) fit$fitted_sizes <- fitted
  known <- lapply(chosen$parts$fold, function(fold) known[[as.character(fold)]])
  scores <- scores_of_parts(problem, chosen$parts$rows, chosen$models, chosen$state, known)
  # averaged over the partitions. Rows of folds that Ctrl-C left out have no predictions.
  fit$held_out <- mean_over_parts(chosen$parts, scores, nrow(problem))
  idle <- problem$rows$weight == 0
  fit$held_out[idle, ] <- fit$fitted[idle, ]
  if (!is.null(chosen$cross_fitted) && nrow(chosen$parts) == chosen$wanted) {
    # the models without few rows each have all chosen with nearly the same errors
    of <- if (is.null(chosen$ten) || chosen$size == 0L) chosen else chosen$ten
    rows <- of$parts$rows
    # mostly these are the models that were chosen
    if (!is.null(chosen$ten) || !identical(of$cross_fitted, chosen$models)) {
      if (!is.null(chosen$ten)) known <- list(NULL)
      scores <- scores_of_parts(problem, rows, of$cross_fitted, of$state, known)
    }
    scores <- judged_parts(problem, loss_name(fit), rows, scores)
    fit$fold_models <- models_without(problem, rows, of$cross_fitted, scores, of$state)
    fit$fold_models$folds <- of$folds
  }
  with_class_errors(fit, problem, chosen)
}

# Rows of weight 0 are predicted by the model, which was not trained on them.
fill_unweighted <- function(fit, problem) {
  rows <- which(problem$rows$weight == 0)
  if (!length(rows)) return(fit)
  scores <- layer(model_scores(fit$coefficients[fit$size + 1L], problem), 1L)
  if (!has_classes(problem)) scores <- scores_of_rows(problem, scores)
  fit$held_out[rows, ] <- fit$fitted[rows, ] <- scores[rows, ]
  fit
}

done_words <- function(path) {
  if (!is.null(path$lambda)) return(counted(nrow(path), "lambda"))
  counted(nrow(path) - 1L, if ("found" %in% path$action) "size" else "step")
}

# Coefficients of the user's columns and of the covariates from coefficients of working columns.
# `of_x`, if known, has the coefficients on the covariates of the columns used, in the order of
# these columns.
user_coefficients <- function(problem, models, of_x = NULL,
                              of_y = covariate_solver(problem)(problem$rows$y)) {
  used <- unique(unlist(lapply(models, `[[`, "features")))
  if (is.null(of_x)) of_x <- columns_on_covariates(problem, used)
  name_models(problem, models, function(model) {
    beta <- model$beta / problem$columns$scale[model$features]
    if (!is.null(model$u)) {
      return(list(beta = beta, covariates = covariates_of(problem, model$u, model$features, beta)))
    }
    of_terms <- of_x[, match(model$features, used), drop = FALSE]
    list(beta = beta, covariates = of_y - of_terms %*% beta)
  })
}

# The coefficients of columns of x on the covariates. On an intercept alone they are the means of
# the columns.
columns_on_covariates <- function(problem, columns) {
  if (problem$coding$intercept && ncol(problem$z) == 1L) {
    return(matrix(problem$columns$centre[columns], 1L))
  }
  covariate_solver(problem)(problem$x, columns)
}

# Models in the form that a fit stores. `to_user` brings the coefficients of one model to the user's
# scale.
name_models <- function(problem, models, to_user = identity) {
  names <- problem$columns$name
  covariates <- colnames(problem$z)
  responses <- colnames(problem$rows$y)
  lapply(models, function(model) {
    if (is.null(model)) return(NULL)
    scaled <- to_user(model)
    dimnames(scaled$covariates) <- list(covariates, responses)
    dimnames(scaled$beta) <- list(names[model$features], responses)
    list(features = model$features, beta = scaled$beta, covariates = scaled$covariates,
         step = model$row - 1L)
  })
}
