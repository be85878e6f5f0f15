# l1_path(cluster = ): columns in shards, the path of one process to the tolerance

# The solutions of the path by `count` shards that this process plays.
l1_by_shards <- function(problem, count, loss, alpha = 1, lambda, tolerance = 1e-10) {
  problem <- absolute_penalty(problem)
  control <- l1_control(problem, loss, tolerance = tolerance, alpha = alpha)
  control$shards <- open_path_shards(problem, NULL, count)
  on.exit(close_shards(control$shards))
  control$lambda_max <- largest_lambda(problem, control)
  solve_path(problem, control, lambda)
}

wide_example <- function(loss, sparse = FALSE) {
  set.seed(91)
  m <- 60
  x <- matrix(rnorm(m * 150), m, dimnames = list(NULL, paste0("g", 1:150)))
  if (sparse) x[abs(x) < 1] <- 0
  x <- x * rep(exp(rnorm(150) / 2), each = m)
  x[, 77] <- x[, 5]
  x[, 50] <- 1
  score <- drop(scale(x[, c(5, 90, 149)]) %*% c(1, -1, 1)) + rnorm(m)
  list(x = if (sparse) as(x, "dgCMatrix") else x, z = rnorm(m), w = runif(m, 0.3, 2),
       y = if (loss == "squared") score else factor(score > 0))
}

expect_same_solutions <- function(problem, loss, alpha = 1, counts = c(1, 2, 7)) {
  whole <- l1_path(problem, loss = loss, alpha = alpha, nlambda = 7, lambda_min_ratio = 0.05,
                   tolerance = 1e-10, progress = FALSE)
  lambda <- whole$path$lambda
  for (count in counts) {
    found <- l1_by_shards(problem, count, loss, alpha, lambda)
    expect_length(found, length(lambda))
    expect_equal(vapply(found, `[[`, 0, "objective"), whole$path$objective, tolerance = 1e-9)
    expect_lte(max(vapply(found, `[[`, 0, "gap")), 1.01e-10 * whole$null_objective)
    for (i in seq_along(lambda)) {
      one <- solution_model(problem, found[[i]])
      scores <- function(solution) {
        solution_scores(problem, models_side_by_side(problem, list(solution)))
      }
      expect_equal(scores(found[[i]]), scores(whole$solutions[[i]]), tolerance = 1e-4)
      # no column breaks the optimality conditions
      at <- model_point(problem, loss, found[[i]]$features, as.vector(found[[i]]$beta))
      pull <- replace(numeric(ncol(problem)), found[[i]]$features,
                      lambda[i] * (1 - alpha) * found[[i]]$beta)
      expect_lt(max(abs(column_products(problem, at$r) - pull)), alpha * lambda[i] * (1 + 1e-4))
      expect_true(all(one$features %in% which(problem$columns$usable)))
    }
  }
}

test_that("1, 2 and 7 shards give the path of one process", {
  for (loss in c("squared", "logistic")) {
    for (sparse in c(FALSE, TRUE)) {
      d <- wide_example(loss, sparse)
      expect_same_solutions(as_problem(d$x, d$y), loss, counts = c(1, 7))
      expect_same_solutions(as_problem(d$x, d$y, weights = d$w, adjust = d$z), loss, counts = 2)
      expect_same_solutions(as_problem(d$x, d$y), loss, alpha = 0.6, counts = 2)
    }
  }
  d <- wide_example("squared")
  penalty <- replace(rep(1, 150), c(3, 9, 12), c(0, Inf, 2))
  expect_same_solutions(as_problem(d$x, d$y, penalty = penalty), "squared", counts = 2)
})

test_that("shards read their own columns of a file, completed where values are missing", {
  d <- wide_example("squared")
  file <- tempfile(fileext = ".bin")
  on.exit(unlink(file))
  full <- as_problem(write_file_matrix(d$x, file), d$y)
  expect_same_solutions(full, "squared", counts = c(2, 7))
  gaps <- d$x
  gaps[cbind(1:40, 101:140)] <- NA
  expect_same_solutions(as_problem(gaps, d$y, missing = "mean"), "squared", counts = 2)
  holey <- tempfile(fileext = ".bin")
  on.exit(unlink(holey), add = TRUE)
  expect_same_solutions(as_problem(write_file_matrix(gaps, holey), d$y, missing = "mean"),
                        "squared", counts = 2)
})

test_that("l1_path() runs on the processes of a cluster", {
  skip_on_cran()
  skip_if_not(file.exists(system.file("Meta", "package.rds", package = "sparsels")))
  cluster <- parallel::makeCluster(2)
  on.exit(parallel::stopCluster(cluster))
  use <- function(paths) .libPaths(paths)
  environment(use) <- globalenv()
  parallel::clusterCall(cluster, use, .libPaths())
  for (loss in c("squared", "logistic")) {
    d <- wide_example(loss)
    run <- function(...) {
      l1_path(d$x, d$y, loss = loss, lambda_min_ratio = 0.05, tolerance = 1e-10, progress = FALSE,
              ...)
    }
    spread <- run(nlambda = 10, cluster = cluster)
    whole <- run(lambda = spread$path$lambda)
    expect_equal(spread$lambda_max, whole$path$lambda[1])
    expect_equal(spread$path$objective, whole$path$objective, tolerance = 1e-9)
    clear <- coef(whole)[abs(coef(whole)) > 1e-6]
    expect_equal(coef(spread)[names(clear)], clear, tolerance = 1e-4)
    few <- run(nlambda = 10, cluster = cluster, k = 5)
    expect_lte(max(few$path$size), 5)
    expect_equal(few$path$lambda, whole$path$lambda[seq_len(nrow(few$path))])
  }
  responses <- l1_path(wide_example("squared")$x, cbind(a = d$w, b = d$z), nlambda = 8,
                       cluster = cluster, progress = FALSE)
  alone <- l1_path(wide_example("squared")$x, cbind(a = d$w, b = d$z), progress = FALSE,
                   lambda = responses$path$lambda)
  expect_equal(responses$path$objective, alone$path$objective, tolerance = 2e-4)
})

test_that("a worker that is lost, or Ctrl-C, ends the path with what is solved", {
  d <- wide_example("squared")
  pb <- as_problem(d$x, d$y)
  lambda <- lambda_max(pb) * 0.9^(0:20)
  ended_by <- function(condition, at = 6) {
    calls <- 0
    asked <- function(shards, action, each, ...) {
      calls <<- calls + (action == "multiply")
      if (calls == at) stop(condition)
      Map(function(id, given) shard_actions[[action]](id, given, ...), shards$ids, each)
    }
    with_binding("ask_shards", asked, l1_by_shards(pb, 2, "squared", lambda = lambda))
  }
  lost <- structure(class = c("sparsels_error_worker", "error", "condition"),
                    list(message = "worker 1 does not answer any more", call = NULL))
  expect_warning(found <- ended_by(lost), "the path ends there", class = "sparsels_warning_worker")
  # before there is a solution
  expect_error(ended_by(lost, 2), "does not answer any more", class = "sparsels_error_worker")
  interrupt <- structure(class = c("interrupt", "condition"), list(message = ""))
  expect_identical(tryCatch(ended_by(interrupt, 2), interrupt = function(e) "stopped"), "stopped")
  # Ctrl-C while this process solves
  solved <- 0
  fewer <- function(...) {
    solved <<- solved + 1
    found <- solve_together(...)
    if (solved == 8) list(found[[1L]][0]) else found
  }
  alone <- with_binding("solve_together", fewer, l1_by_shards(pb, 2, "squared", lambda = lambda))
  stopped <- ended_by(interrupt)
  whole <- l1_path(pb, lambda = lambda, progress = FALSE, tolerance = 1e-10)
  for (solutions in list(found, alone, stopped)) {
    expect_gt(length(solutions), 2)
    expect_lt(length(solutions), length(lambda))
    expect_equal(vapply(solutions, `[[`, 0, "objective"),
                 whole$path$objective[seq_along(solutions)], tolerance = 1e-9)
  }
})

test_that("what a cluster cannot do is refused", {
  cluster <- structure(list(1), class = "cluster")
  d <- wide_example("logistic")
  expect_snapshot(error = TRUE, {
    l1_path(d$x, d$y, cluster = 2)
    l1_path(d$x, d$y, loss = "hinge", cluster = cluster)
    l1_path(d$x, d$y, loss = "logistic", solver = "ipm", cluster = cluster)
    l1_path(d$x, d$y, loss = "logistic", folds = 5, cluster = cluster)
  })
})
