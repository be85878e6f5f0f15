# Greedy search by a likelihood: the arguments and data that it takes, the search in C, and its
# errors.

# Checks ------------------------------------------------------------------------------------------

# The loss of a search: squares, or the deviance of numbers or times.
check_search_loss <- function(loss) {
  if (identical(loss, "squared")) return(loss)
  stop_argument_if(isTRUE(loss_record(loss)$needs %in% c("classes", "ordered classes")),
                   "`loss = \"%s\"` is for l1_path(): a search has the squares of class codes",
                   loss)
  searched <- function(loss) is_likelihood(loss) && losses[[loss]]$searched
  check_loss(loss, c("squared", Filter(searched, names(losses))))
}

# Whether the columns of a Cox model are searched by the squared errors of log times.
searches_times <- function(loss, criterion) is_cox_loss(loss) && !identical(criterion, loss)

# The problem as a search by a likelihood takes it. `given` are the values of arguments, of which
# only squares support all. A search of log times supports all but the first three.
settle_likelihood <- function(problem, loss, given, by_times = FALSE) {
  if (loss == "squared") return(problem)
  what <- sprintf("loss = \"%s\"", loss)
  supported <- list(lambda = NULL, keep = 0, cluster = NULL, search = "forward", criterion = loss,
                    cost = NULL, budget = Inf)
  for (name in intersect(names(if (by_times) supported[1:3] else supported), names(given))) {
    value <- given[[name]]
    if (is.null(value) || identical(value, supported[[name]])) next
    if (name == "lambda" && !identical(value, "full")) next
    shown <- if (is_string(value)) sprintf("%s = \"%s\"", name, value) else name
    stop_argument("`%s` is for `loss = \"squared\"`, not for `%s`", shown, what)
  }
  losses[[loss]]$check(problem, loss)
  settle_properties(problem, "greedy_likelihood", sprintf("greedy_rls(%s)", what))
}

# Ten folds, which are the same in every call.
default_folds <- function(problem) {
  in_context("`folds`", procedure_folds(problem, 10L, NULL, "more of them are needed"))
}

# The penalty --------------------------------------------------------------------------------------

# `unit`, which lambda is a multiple of: the mean over the columns of the second derivative of the
# loss along them, at the null model and given the covariates, of squares their mean sum of squares.
# `null`, but for squares: the null model of searchable_null().
null_values <- function(problem, loss) {
  if (loss == "squared") return(list(null = NULL, unit = mean_square(problem)))
  null <- searchable_null(problem, loss)
  basis <- covariate_basis(problem)
  h <- loss_at(problem, loss, basis_scores(problem, basis, null$u))$diagonal
  centred <- is_centred(problem)
  covariates <- centred_covariates(problem)
  if (!problem$coding$intercept && centred) covariates <- cbind(1, covariates)
  decomposed <- qr(sqrt(h) * covariates)
  basis <- sqrt(h) * qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE]
  # columns are centred by these weights, so that their products with a constant are 0
  moments <- column_moments(problem$x, h, centred, basis[, seq_len(ncol(basis)) > centred,
                                                         drop = FALSE])
  scale <- problem$columns$scale / penalty_divisor(problem)
  rss <- moments$squares - rowSums(moments$products^2)
  list(null = null, unit = mean((pmax(rss, 0) / scale^2)[problem$columns$usable]))
}

# The null model of null_covariates(). Refused if it explains all that there is.
searchable_null <- function(problem, loss) {
  null <- null_covariates(problem, loss)
  if (null$ridge > 0) {
    at_null <- model_point(problem, loss, integer(), numeric(), null$u)
    check_not_separated(problem, at_null$loss, loss)
  }
  null
}

# The parameter of a loss --------------------------------------------------------------------------

# The loss of a method that does not search: with its parameter at the null model where it is not
# given. The null model is fitted with it in turn.
with_null_parameter <- function(problem, loss) {
  if (!lacks_parameter(loss)) return(loss)
  record <- losses[[loss]]
  value <- record$parameter$value
  for (round in 1:100) {
    basis <- covariate_basis(problem)
    null <- null_covariates(problem, with_parameter(loss, value), basis)
    mean <- record$mean(basis_scores(problem, basis, null$u) + row_offset(problem))
    before <- value
    value <- record$parameter$fit(problem, mean)
    if (abs(value - before) <= 1e-7 * value) break
  }
  with_parameter(loss, value)
}

# The search with the parameter of a loss at the null model, and again with the parameter at the
# model that was chosen. The signal that the null model leaves out counts as dispersion at first.
# `search` is a function of the loss.
search_twice <- function(problem, loss, search) {
  first <- suppressWarnings(suppressMessages(search(with_null_parameter(problem, loss))))
  mean <- as_response(first, in_user_units(problem, kept_values(first, "fitted"),
                                           problem$rows$offset))
  parameter <- losses[[loss]]$parameter
  value <- parameter$fit(problem, mean[, 1L])
  message_if(value == parameter$range[2L], "sparsels_message_counts", parameter$last,
             sprintf("%s is %s", parameter$name, format(value)))
  # what there is to say of the counts has been said
  fit <- suppressMessages(search(with_parameter(loss, value)), "sparsels_message_counts")
  fit$parameter_fitted <- TRUE
  seal(fit)
}

# Cox models of columns that squares of log times chose --------------------------------------------

# How the columns of a Cox model are searched: by the criterion of log times, leave-one-out.
times_control <- function(problem, criterion, refit) {
  refuse_for_log_times(problem, sprintf("a search by `criterion = \"%s\"`", criterion),
                       "`criterion = \"cox\"`")
  stop_argument_if(!isTRUE(refit), "a Cox model of columns searched by log times is a refit: %s",
                   "`refit = FALSE` needs `criterion = \"cox\"`")
  times <- as_log_times(problem)
  folds <- as_folds("loo", times)
  list(criterion = as_criterion(criterion, times, folds), folds = folds)
}

# A search of the columns of a Cox problem by its log times.
by_log_times <- function(search) {
  force(search)
  function(problem, control) {
    times <- as_log_times(problem)
    control$criterion <- control$searched$criterion
    control$folds <- as_folds("loo", times)
    control[c("loss", "searched")] <- NULL
    search(times, control)
  }
}

# The search in C ----------------------------------------------------------------------------------

# The most candidates of a step whose models are made.
most_refits <- 10L

# `ceiling` has for each size the deviance above which its model is of no use, below 0 where none is
# of use: the models of the first control$known sizes are known.
likelihood_settings <- function(problem, control, lambda, given, progress) {
  null <- if (is.null(control$null)) searchable_null(problem, control$loss) else control$null
  known <- seq_len(max(1L, control$known))[-1L]
  c(loss_settings(control$loss), list(
    lambda = lambda, k = control$k, refits = most_refits,
    patience = control$patience, given = as.integer(distinct_units(problem, given)) - 1L,
    ceiling = replace(rep(.Machine$double.xmax, control$k + 1L), known, -1),
    observed = observed_response(problem, losses[[control$loss]]$limits),
    start = null$u, ridge = null$ridge, unit = response_unit(problem),
    folds = unclass(control$folds), threads = control$threads, user_loss = NULL,
    progress = progress
  ), group_settings(problem, control$k))
}

# The answer of a search in the form of a search by squares. In addition `u` has the coefficients of
# the basis of the covariates for each size, `scores` the linear predictors of all rows by the
# models without their fold (rows x repeats x sizes), `fits` the ones by the model of all rows (rows
# x sizes), `tried` the candidates of each step whose models were made, and `exact` whether no other
# candidate was better.
likelihood_answer <- function(problem, data, settings) {
  found <- .Call(C_greedy_likelihood, data, settings)
  if (found$moves < 0L && found$status != "interrupted") stop_unheld()
  k <- settings$k
  sizes <- seq_len(found$moves + 1L)
  y <- problem$rows$y
  scores <- array(found$held_out, c(nrow(y), ncol(settings$folds$ids), k + 1L))
  fits <- matrix(found$fitted, nrow(y))
  best <- if (length(sizes)) choose_row(found$loss[sizes]) else 1L
  in_steps <- function(values) replace(values, seq_len(min(length(settings$given), k) + 1L), NA)
  list(
    status = found$status, moves = found$moves, best = if (length(sizes)) best - 1L else -1L,
    feature = replace(found$feature, 1L, -1L), size = seq(0L, k), loss = found$loss,
    pivot = rep(1, k + 1L), model_entry = replace(rep(-1L, k + 1L), sizes, sizes - 1L),
    model = matrix(found$members, length(found$members), k + 1L), model_columns = found$columns,
    beta = found$beta,
    u = matrix(found$u, ncol(data$q), k + 1L), scores = scores, fits = fits,
    held_out = y - rowMeans(layer(scores, best)), fitted = y - fits[, best],
    deviance = matrix(found$deviance, ncol = k + 1L),
    tried = in_steps(found$refits), exact = in_steps(found$exact == 1L)
  )
}

# The errors of some entries of a path, by the deviances of the folds, of events per event held out.
# A path without the rows of a part (control$of_part) is judged by the criterion alone.
likelihood_errors <- function(answer, entries, problem, control) {
  errors <- list(criterion = answer$loss[entries])
  if (isTRUE(control$of_part)) return(errors)
  parts <- held_out_rows(control$folds)
  at_mean <- judged_at_mean(control$loss)
  counted <- problem$rows$weight * (if (at_mean) 1 else problem$rows$event)
  sums <- Map(function(rows, fold) {
    array(rbind(answer$deviance[fold, entries], sum(counted[rows])), c(2L, length(entries), 1L))
  }, parts$rows, seq_len(nrow(parts)))
  errors$se <- as.vector(error_curve(fold_errors(sums, parts$repetition))$se)
  if (!at_mean) return(errors)
  judged <- lapply(seq_len(ncol(control$folds$ids)), function(r) {
    score <- array(answer$scores[, r, entries], c(nrow(problem), 1L, length(entries)))
    judged_residuals(problem, control$loss, score)
  })
  c(errors, list(squared = evaluate_folds(problem, control$folds, squared_error, judged)$value))
}
