# The path object and its methods; invariance of what it says.

numbers <- function() {
  x <- cbind(age = c(1, 2, 3, 4, 5, 6, 7, 8), dose = c(0, 1, 0, 1, 1, 0, 1, 0),
             tall = c(2, 1, 1, 2, 1, 2, 2, 1))
  list(x = x, y = c(1, 3, 3, 5, 6, 6, 9, 8))
}

test_that("selected, coef, best_size and the figures of a fit", {
  d <- numbers()
  fit <- greedy_rls(d$x, d$y, k = 3, lambda = 1, size = "criterion")
  expect_s3_class(fit, c("greedy_rls", "sparse_fit", "sparsels_fit", "sparsels_result"),
    exact = TRUE)
  expect_identical(selected(fit, 0), character())
  expect_identical(selected(fit, 2), fit$path$name[2:3])
  expect_identical(selected(fit, 2, index = TRUE), fit$path$feature[2:3])
  expect_identical(selected(fit), selected(fit, fit$size))
  expect_identical(best_size(fit), fit$size)
  expect_identical(best_size(fit, rule = "min"), fit$size)
  expect_identical(fit$size, fit$path$size[which.min(fit$path$criterion)])
  sizes <- fit$path[!duplicated(fit$path$size), ]
  limit <- min(sizes$criterion) + sizes$se[which.min(sizes$criterion)]
  expect_identical(best_size(fit, "1se"), min(sizes$size[sizes$criterion <= limit]))
  expect_named(coef(fit, 2), c("(Intercept)", selected(fit, 2)))
  expect_equal(coef(fit, 0), c("(Intercept)" = mean(d$y)))
  expect_identical(nobs(fit), 8L)
  expect_equal(unname(residuals(fit)), d$y - unname(fitted(fit)))
  expect_equal(mean(residuals(fit, "held_out")^2), min(fit$path$squared))
  expect_identical(
    fit$call, quote(greedy_rls(x = d$x, y = d$y, k = 3, lambda = 1, size = "criterion"))
  )
  expect_null(fit$problem$x)
  expect_identical(selected(bare_rls(unname(d$x), d$y, k = 1, lambda = 1), 1), "V1")
})

test_that("best_size by one standard error, when more is better", {
  set.seed(70)
  pb <- random_problem(30, 8, "binary")
  fit <- bare_rls(pb, k = 6, lambda = 1, folds = rep(1:3, 10), criterion = "auc")
  row <- which.max(fit$path$criterion)
  limit <- fit$path$criterion[row] - fit$path$se[row]
  expect_identical(best_size(fit, "1se"), min(fit$path$size[fit$path$criterion >= limit]))
})

test_that("of sizes with the same criterion the one with the smaller squared error is best", {
  d <- numbers()
  flat <- bare_rls(d$x, d$y, k = 3, lambda = 1, criterion = function(y, prediction, fold) 7)
  expect_identical(flat$path$criterion, rep(7, 4))
  expect_identical(flat$size, flat$path$size[which.min(flat$path$squared)])
})

test_that("predictions of every type, columns by name", {
  set.seed(71)
  pb <- random_problem(20, 6, "three")
  x <- as.matrix(pb$x)
  colnames(x) <- letters[1:6]
  y <- factor(pb$coding$levels[max.col(pb$rows$y)])
  fit <- bare_rls(x, y, k = 3, lambda = 1)
  response <- predict(fit, x, size = 2)
  expect_identical(colnames(response), levels(y))
  expect_identical(predict(fit, x, size = 2, type = "link"), response)
  class <- predict(fit, x, size = 2, type = "class")
  expect_identical(unname(class), factor(levels(y)[class_rule(fit)(unname(response))], levels(y)))
  expect_equal(predict(fit, x, size = fit$size), fitted(fit))
  needed <- selected(fit, 2)
  few <- cbind(junk = 9, x[, rev(needed)])
  expect_equal(predict(fit, few, size = 2), response)
  expect_equal(unname(predict(fit, as.data.frame(few), size = 2)), unname(response))
  expect_identical(dim(predict(fit, x[0, ], size = 2)), c(0L, 3L))
  expect_identical(length(predict(fit, x[0, ], size = 2, type = "class")), 0L)
  two <- bare_rls(x, y == "a", k = 2, lambda = 1)
  expect_identical(levels(predict(two, x[1:2, ], type = "class")), c("FALSE", "TRUE"))
  expect_identical(unname(predict(two, x, type = "class") == "TRUE"),
                   unname(predict(two, x) > 0))
  expect_identical(unname(predict(two, x[0, ])), numeric())
})

test_that("new rows with missing values are predicted as NA, with a warning", {
  d <- numbers()
  fit <- bare_rls(d$x, d$y, k = 1, lambda = 1)
  expect_identical(selected(fit, 1), "age")
  holes <- d$x
  holes[c(2, 5), "age"] <- NA
  holes[1, "tall"] <- NA
  expect_warning(score <- predict(fit, holes, size = 1), "2 rows.*first: row 2",
                 class = "sparsels_warning_missing")
  expect_identical(unname(which(is.na(score))), c(2L, 5L))
  expect_equal(unname(score[-c(2, 5)]), unname(predict(fit, d$x, size = 1)[-c(2, 5)]))
})

test_that("covariates of new rows come from a matrix, a frame or the formula's variables", {
  set.seed(72)
  d <- data.frame(y = rnorm(16), a = rnorm(16), b = rnorm(16), age = 31:46,
                  sex = rep(c("f", "m"), 8))
  fit <- greedy_rls(y ~ a + b, data = d, adjust = ~ age + sex, k = 2, lambda = 1)
  expect_equal(unname(predict(fit, d, size = fit$size)), unname(fitted(fit)))
  expect_named(coef(fit, 0), c("(Intercept)", "age", "sexm"))
  reference <- coef(lm(y ~ age + sex, d))
  expect_equal(coef(fit, 0), reference)
  x <- as.matrix(d[c("a", "b")])
  given <- greedy_rls(x, d$y, adjust = d[c("age", "sex")], k = 2, lambda = 1)
  expect_equal(coef(given, 2), coef(fit, 2))
  new <- predict(given, x[1:3, ], adjust = d[1:3, c("age", "sex")], size = 2)
  expect_equal(unname(new), unname(predict(fit, d[1:3, ], size = 2)))
})

test_that("of several lambdas the best pair wins and the others stay in the table", {
  set.seed(73)
  pb <- random_problem(25, 10, "one")
  grid <- c(0.01, 1, 30, 1e4)
  # as many columns as there are, so that the best size is not at the end of what was tried
  run <- function(lambda) {
    greedy_rls(pb, k = 9, lambda = lambda, size = "min", folds = rep(1:5, 5))
  }
  fit <- run(grid)
  grid <- rev(grid) # the table has the largest first
  each <- lapply(grid, run)
  best <- vapply(each, function(one) min(one$path$cv), 0)
  expect_equal(fit$lambda_table, data.frame(
    lambda = grid, size = vapply(each, `[[`, 0L, "size"), cv = best
  ))
  chosen <- each[[which.min(best)]]
  for (part in c("lambda", "path", "coefficients", "held_out", "fitted", "size", "status")) {
    expect_identical(fit[[part]], chosen[[part]])
  }
  auc <- greedy_rls(random_problem(20, 6, "binary"), k = 6, lambda = c(0.1, 10), size = "min",
                    criterion = "auc")
  expect_identical(auc$lambda, auc$lambda_table$lambda[which.max(auc$lambda_table$cv)])
})

test_that("a summary has the best model of every size", {
  d <- numbers()
  fit <- greedy_rls(d$x, d$y, k = 3, lambda = 1, search = "floating")
  s <- summary(fit)
  expect_identical(s$path$size, 0:3)
  expect_identical(s$coefficients, coef(fit))
})

test_that("prints", {
  d <- numbers()
  sick <- factor(c("no", "no", "yes", "no", "yes", "yes", "yes", "yes"))
  kind <- c("a", "b", "c", "a", "b", "c", "a", "b")
  outputs <- cbind(up = d$y, down = c(4, 2, 5, 1, 2, 0, 1, 0))
  wide <- outer(1:16, 1:14, function(i, j) (i^2 * j + 7 * i * j^2) %% 11)
  expect_snapshot({
    bare_rls(d$x, d$y, k = 3, lambda = 1)
    print(bare_rls(d$x, sick, k = 3, lambda = c(1, 4), folds = rep(1:4, 2)), n = 1)
    bare_rls(d$x, kind, k = 1, lambda = 2, search = "backward", criterion = "error")
    bare_rls(d$x, outputs, k = 1, lambda = 2, search = "forward_backward")
    bare_rls(d$x, sick, k = 1, lambda = 2, criterion = "auc", folds = c(1, 1, 1, 2, 2, 1, 2, 2))
    wrapper_rls(d$x, d$y, k = 1, lambda = 2, shortcut = "dual")
    summary(bare_rls(d$x, d$y, k = 2, lambda = 1))
    bare_rls(wide, (1:16)^3 %% 7, lambda = 1, folds = rep(1:4, 4))
  })
})

# Invariance --------------------------------------------------------------------------------------

figures <- c("criterion", "se", "squared", "error")

test_that("the order of rows and columns does not matter", {
  set.seed(74)
  x <- matrix(rnorm(20 * 8), 20, dimnames = list(NULL, letters[1:8]))
  y <- factor(ifelse(x[, 2] + rnorm(20) > 0, "u", "v"))
  ids <- sample(rep(1:4, 5))
  w <- runif(20, 0.5, 2)
  rows <- sample(20)
  columns <- sample(8)
  for (search in c("forward", "backward", "floating")) {
    fit <- greedy_rls(x, y, k = 4, lambda = 1, folds = ids, weights = w, search = search)
    other <- greedy_rls(x[rows, columns], y[rows], k = 4, lambda = 1, folds = ids[rows],
                        weights = w[rows], search = search)
    expect_identical(other$path$name, fit$path$name)
    expect_equal(other$path[figures], fit$path[figures])
    expect_equal(coef(other, 4)[names(coef(fit, 4))], coef(fit, 4))
    expect_equal(unname(other$held_out), unname(fit$held_out)[rows, , drop = FALSE])
  }
})

test_that("units of the columns do not matter, nor their origin", {
  set.seed(75)
  x <- matrix(rnorm(18 * 6), 18)
  y <- x[, 4] + rnorm(18)
  fit <- greedy_rls(x, y, k = 3, lambda = 1)
  scale <- 10^(-3:2)
  moved <- sweep(sweep(x, 2, scale, "*"), 2, 100 * scale, "+")
  other <- greedy_rls(moved, y, k = 3, lambda = 1)
  expect_identical(other$path$feature, fit$path$feature)
  expect_equal(other$path$criterion, fit$path$criterion)
  expect_equal(coef(other, 3)[-1] * scale[selected(fit, 3, index = TRUE)], coef(fit, 3)[-1])
  expect_equal(predict(other, moved[1:4, ]), predict(fit, x[1:4, ]))
  raw <- greedy_rls(x, y, k = 3, lambda = 1, standardize = FALSE)
  shifted <- greedy_rls(sweep(x, 2, 5, "+"), y, k = 3, lambda = 1, standardize = FALSE)
  expect_equal(shifted$path$criterion, raw$path$criterion)
})

test_that("a row of weight two is the row twice, held out together", {
  set.seed(76)
  x <- matrix(rnorm(12 * 5), 12)
  y <- x[, 1] + rnorm(12)
  w <- rep(c(2, 1, 1), 4)
  twice <- rep(1:12, w)
  for (search in c("forward", "backward", "floating", "forward_backward")) {
    fit <- bare_rls(x, y, k = 3, lambda = 1, weights = w, search = search)
    other <- bare_rls(x[twice, ], y[twice], k = 3, lambda = 1, folds = twice, search = search)
    expect_identical(other$path$feature, fit$path$feature)
    expect_equal(other$path$criterion, fit$path$criterion)
    expect_equal(other$path$se, fit$path$se)
    expect_equal(coef(other, 3), coef(fit, 3))
  }
})

test_that("formula, frame, matrix, sparse matrix, problem and experiment are one", {
  set.seed(77)
  x <- matrix(rpois(20 * 5, 2), 20, dimnames = list(paste0("s", 1:20), paste0("g", 1:5)))
  group <- rep(c("ill", "well"), 10)
  d <- data.frame(group, x)
  same <- c("path", "coefficients", "size", "lambda", "status")
  fit <- greedy_rls(x, group, k = 3)
  others <- list(
    greedy_rls(group ~ ., data = d, k = 3),
    greedy_rls(d[-1], group, k = 3),
    greedy_rls(as_problem(x, group), k = 3),
    greedy_rls(Matrix::Matrix(x, sparse = TRUE), group, k = 3)
  )
  if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
    se <- SummarizedExperiment::SummarizedExperiment(
      list(counts = t(x)), colData = S4Vectors::DataFrame(group = group)
    )
    others <- c(others, list(greedy_rls(se, "group", k = 3)))
    expect_equal(predict(others[[5]], se), predict(fit, x))
  }
  for (other in others) {
    expect_equal(other[same], fit[same])
    expect_equal(unname(predict(other, d)), unname(predict(fit, x)))
  }
})

test_that("the number of threads changes nothing", {
  set.seed(78)
  turn <- 0
  for (task in c("one", "three")) for (sparse in c(FALSE, TRUE)) {
    pb <- random_problem(50, 40, task, weights = TRUE, sparse = sparse)
    for (search in c("forward", "floating", "backward")) {
      # by turns, of which every search, task and storage has both
      turn <- turn + 1
      folds <- if (turn %% 2) "loo" else rep(1:5, 10)
      fits <- lapply(1:2, function(threads) {
        fit <- bare_rls(pb, k = 6, lambda = 1, folds = folds, search = search, keep = 3,
                        threads = threads)
        fit$call <- fit$control$threads <- NULL
        fit
      })
      expect_identical(fits[[1]], fits[[2]])
    }
  }
})

test_that("deterministic methods leave the random numbers alone", {
  set.seed(79)
  x <- matrix(rnorm(60), 15)
  y <- rnorm(15)
  before <- .Random.seed
  greedy_rls(x, y, k = 2)
  greedy_rls(x, y, k = 2, search = "floating", folds = rep(1:3, 5))
  wrapper_rls(x, y, k = 1, lambda = 1)
  lowrank_lssvm(x, y, k = 1)
  predict(rls(x, y), x)
  expect_identical(.Random.seed, before)
})

test_that("a saved fit predicts in a new session", {
  skip_on_cran()
  home <- getNamespaceInfo("sparsels", "path")
  skip_if_not(file.exists(file.path(home, "Meta", "package.rds")), "the package is installed")
  d <- numbers()
  fit <- greedy_rls(d$x, d$y > 4, k = 2, lambda = 1)
  files <- tempfile(c("fit", "new", "code", "out"))
  on.exit(unlink(files))
  saveRDS(fit, files[1])
  new <- d$x[1:3, 3:1]
  saveRDS(list(dense = new, sparse = Matrix::Matrix(new, sparse = TRUE)), files[2])
  quoted <- encodeString(normalizePath(files, "/", mustWork = FALSE), quote = "\"")
  writeLines(c(
    sprintf(".libPaths(%s)", deparse1(c(dirname(home), .libPaths()))),
    # predict() is found through the class alone
    "loadNamespace('sparsels')",
    sprintf("fit <- readRDS(%s); new <- readRDS(%s)", quoted[1], quoted[2]),
    "out <- list(predict(fit, new$dense), predict(fit, new$dense, type = 'class'))",
    # Matrix takes long to load: nothing loads it but a matrix of it
    "out <- c(out, list(isNamespaceLoaded('Matrix'), predict(fit, new$sparse)))",
    sprintf("saveRDS(out, %s)", quoted[4])
  ), files[3])
  system2(file.path(R.home("bin"), "Rscript"), shQuote(files[3]), stdout = FALSE, stderr = FALSE)
  expect_identical(readRDS(files[4]),
                   list(predict(fit, d$x[1:3, ]), predict(fit, d$x[1:3, ], type = "class"), FALSE,
                        predict(fit, d$x[1:3, ])))
})
