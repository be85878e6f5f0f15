# Random fits against retraining, with errors counted in units of what rounding the data does.
#
# The unit of a figure is the rounding of the figure itself, 2^-52 of it, plus its largest change
# when the model is retrained on data of which every value of x, y and the covariates is moved by
# about 2^-52 of the largest in its column (the kernel matrix: of its largest). A backward stable
# method has errors of some units, whatever the condition of the problem; a method that has lost d
# digits beyond that has errors of 10^d units.

# A case at random: the data, lambda and what is fitted. Weights differ by a factor of 10^6 at most,
# where two columns are nearly equal by 10.
truth_case <- function() {
  m <- sample(8:30, 1)
  n <- sample(3:16, 1)
  pick <- function(...) sample(c(...), 1)
  method <- pick(rep("greedy_rls", 11), "forward_regression", "omp", "foba", "rfe", "poss",
                 "best_subset", "rls", "rls", "kernel_rls", "kernel_rls")
  x <- matrix(rnorm(m * n), m)
  kind <- pick("plain", "joint", "near", "scales", "sparse")
  if (kind == "joint") x <- x / 10 + rnorm(m)
  if (kind == "near") x[, 2] <- x[, 1] + 1e-4 * x[, 2]
  if (kind == "scales") x <- x * rep(10^runif(n, -2, 2), each = m) + 5
  if (kind == "sparse") x[abs(x) < 0.7] <- 0
  y <- x[, 1:3] %*% rnorm(3) + rnorm(m) * 10^runif(1, -3, 0)
  # columns that are nearly equal and such weights at once can cost seven digits, without a warning
  spread <- if (kind == "near") pick(0, 1) else pick(0, 1, 6)
  adjust <- if (runif(1) < 0.4) matrix(rnorm(m * sample(2, 1)), m)
  problem <- as_problem(x, y, weights = 10^(spread * runif(m)), adjust = adjust,
                        intercept = runif(1) < 0.8, standardize = runif(1) < 0.7)
  folds <- make_folds(m, if (runif(1) < 0.5) "loo" else rep_len(1:pick(3, 5), m))
  list(method = method, kind = kind, problem = problem, folds = folds, spread = spread,
       search = pick("forward", "backward", "floating", "forward_backward"),
       lambda = 10^runif(1, -12, 12), k = sample(6, 1))
}

# The fit, with the words of a refusal and whether there was a warning that digits are lost.
truth_fit <- function(case) {
  warned <- FALSE
  method <- get(case$method, asNamespace("sparsels"))
  arguments <- list(case$problem, lambda = case$lambda)
  k <- min(case$k, sum(case$problem$columns$usable), nrow(case$problem) - ncol(case$problem$z) - 1)
  arguments <- c(arguments, switch(case$method,
    greedy_rls = list(k = k, size = "criterion", refit = FALSE, search = case$search,
                      folds = case$folds),
    rls = list(folds = case$folds),
    kernel_rls = list(folds = case$folds, kernel = kernel_gaussian(1 / ncol(case$problem))),
    list(k = k, size = "criterion")
  ))
  fit <- withCallingHandlers(
    tryCatch(do.call(method, arguments), sparsels_error = conditionMessage),
    sparsels_warning = function(condition) {
      if (inherits(condition, "sparsels_warning_precision")) warned <<- TRUE
      invokeRestart("muffleWarning")
    }
  )
  list(fit = fit, warned = warned)
}

# Every value moved by about 2^-52 of the largest in its column
moved_values <- function(x) {
  x <- as.matrix(x)
  x + 2^-52 * rnorm(length(x)) * rep(apply(abs(x), 2, max), each = nrow(x))
}

moved_problem <- function(pb) {
  pb$x <- moved_values(pb$x)
  pb$rows$y <- moved_values(pb$rows$y)
  covariate <- colnames(pb$z) != "(Intercept)"
  if (any(covariate)) pb$z[, covariate] <- moved_values(pb$z[, covariate])
  pb
}

# Retraining in doubles: list(residual, held out (m), B, the coefficients from all rows)
truth_retrain <- function(x, pb, lambda, ids) {
  data <- pb
  data[c("x", "intercept", "standardize")] <- list(x, FALSE, FALSE)
  features <- seq_len(ncol(x))
  list(residual = pb$rows$y - oracle_held_out(data, features, lambda, ids),
       B = oracle_ridge(data, features, lambda)$B)
}

# The same for a kernel matrix; there are no coefficients.
truth_retrain_kernel <- function(K, pb, lambda, ids) {
  q <- ncol(pb$z)
  residual <- pb$rows$y
  for (fold in unique(ids)) {
    test <- which(ids == fold)
    z <- pb$z[-test, , drop = FALSE]
    A <- rbind(cbind(K[-test, -test] + diag(lambda / pb$rows$weight[-test]), z),
               cbind(t(z), matrix(0, q, q)))
    solved <- solve(A, c(pb$rows$y[-test, 1], numeric(q)), tol = 0)
    known <- cbind(K[test, -test, drop = FALSE], pb$z[test, , drop = FALSE])
    residual[test, ] <- pb$rows$y[test, ] - known %*% solved
  }
  list(residual = residual)
}

# What is compared, from a case and its fit: a list of list(value, exact(problem)), a function that
# retrains for a problem, the case's or one moved from it.
truth_errors <- function(case, fit, retrain, retrain_kernel) {
  pb <- case$problem
  squared <- function(residual) sum(pb$rows$weight * residual^2) / sum(pb$rows$weight)
  criterion <- function(set) {
    function(pb) {
      mean(apply(case$folds$ids, 2, function(ids) {
        squared(retrain(oracle_columns(pb, set), pb, case$lambda, ids)$residual)
      }))
    }
  }
  coefficients <- function(set) {
    function(pb) {
      retrain(oracle_columns(pb, set), pb, case$lambda, rep(1:2, length.out = nrow(pb)))$B
    }
  }
  if (case$method == "kernel_rls") {
    x <- if (pb$coding$standardize) {
      w <- pb$rows$weight / sum(pb$rows$weight)
      x <- sweep(pb$x, 2, colSums(w * pb$x))
      rms <- sqrt(colSums(w * x^2))
      sweep(x, 2, ifelse(rms > 0, rms, 1), "/")
    } else {
      pb$x
    }
    K <- exp(-as.matrix(dist(x))^2 / ncol(x))
    exact <- function(moved) {
      if (!identical(moved$x, pb$x)) {
        E <- 2^-52 * matrix(rnorm(length(K)), nrow(K))
        K <- K + (E + t(E)) / sqrt(2)
      }
      squared(retrain_kernel(K, moved, case$lambda, case$folds$ids[, 1])$residual)
    }
    return(list(list(value = fit$path$criterion, exact = exact)))
  }
  if (case$method == "rls") {
    set <- fit$features
    return(list(list(value = fit$path$criterion, exact = criterion(set)),
                list(value = fit$coefficients[[1]]$beta * pb$columns$scale[set],
                     exact = coefficients(set))))
  }
  if (case$method != "greedy_rls") case$folds <- make_folds(nrow(pb), "loo")
  models <- Filter(function(model) length(model$features) > 0, fit$coefficients)
  made <- lapply(models, function(model) {
    list(value = model$beta * pb$columns$scale[model$features],
         exact = coefficients(model$features))
  })
  whole <- if (case$method == "rfe" ||
               case$search == "backward") which(pb$columns$usable) else integer()
  sets <- if (case$method == "greedy_rls") {
    oracle_sets(fit$path, if (case$search == "backward") which(pb$columns$usable) else integer())
  } else {
    lapply(models, `[[`, "features")
  }
  rows <- if (case$method == "greedy_rls") seq_along(sets) else vapply(models, `[[`, 0, "step") + 1
  c(made, lapply(seq_along(sets), function(i) {
    list(value = fit$path$squared[rows[i]], exact = criterion(sets[[i]]))
  }))
}

# The largest error of a fit in units, NA where it was refused; `moves` perturbations for the unit.
truth_error <- function(case, made, retrain = truth_retrain, retrain_kernel = truth_retrain_kernel,
                        moves = 3) {
  if (is.character(made$fit)) return(NA_real_)
  figures <- truth_errors(case, made$fit, retrain, retrain_kernel)
  moved <- lapply(seq_len(moves), function(move) moved_problem(case$problem))
  errors <- vapply(figures, function(figure) {
    exact <- figure$exact(case$problem)
    change <- vapply(moved, function(pb) max(abs(figure$exact(pb) - exact)), 0)
    max(abs(figure$value - exact)) / (2^-52 * max(abs(exact)) + max(change))
  }, 0)
  max(errors)
}
