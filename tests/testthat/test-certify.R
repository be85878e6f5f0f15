# certify() and alternatives() against the errors of all sets.

# The numbers of the example by hand: 12 rows, 8 columns, lambda 1.
small <- local({
  i <- 1:12
  list(x = cbind(sin(i), cos(2 * i), (i %% 5) / 5, sin(3 * i), cos(i), (i^2 %% 7) / 7, sin(i / 2),
                 (3 * i %% 4) / 4), y = ((7 * i) %% 11) / 3)
})
small_fit <- function(sets) {
  pb <- as_problem(small$x, small$y, standardize = FALSE)
  greedy_rls(pb, k = 4, lambda = 1, size = sets)
}
small_problem <- function() as_problem(small$x, small$y, standardize = FALSE)

test_that("bounds and best sets of a small example are as computed apart", {
  proof <- certify(small_fit(3), small_problem(), size = 1:4)
  penalised <- proof$proofs[proof$proofs$criterion == "penalised", ]
  expect_equal(penalised$null, rep(12.6296296296, 4), tolerance = 1e-11)
  best <- c(4.2675855662, 3.2282009799, 2.9939029353, 2.8187607832)
  expect_equal(penalised$value, best, tolerance = 1e-10)
  expect_identical(penalised$bound, penalised$value)
  bounds <- vapply(proof$roots, `[[`, 0, "bound")
  expect_equal(bounds, c(3.8963931872, 3.0400834572, 2.8202499077, 2.7182909223),
               tolerance = 1e-9)
  expect_identical(unname(proof$columns[proof$proofs$criterion == "penalised"]),
                   list(2L, c(2L, 7L), c(1L, 2L, 7L), c(1L, 2L, 7L, 8L)))
  squared <- proof$proofs[proof$proofs$criterion == "squared" & proof$proofs$size == 3, ]
  expect_equal(squared$value * 12, 2.7750837101, tolerance = 1e-10)
  expect_true(all(proof$proofs$proved))
  expect_true(verify(proof, claims = Inf)$ok)
})

test_that("the sets within a share of the fall are as counted apart", {
  proof <- certify(small_fit(3), small_problem(), criterion = "penalised")
  near <- lapply(c(0.01, 0.05, 0.1), function(within) alternatives(proof, within))
  expect_identical(vapply(near, `[[`, 0, "count"), c(2, 6, 8))
  status <- function(near, of) sort(near$features$feature[near$features$status == of])
  expect_identical(lapply(near, status, "all"), list(c(2L, 7L), c(2L, 7L), 2L))
  expect_identical(status(near[[1]], "some"), c(1L, 8L))
  expect_identical(status(near[[2]], "some"), c(1L, 3L, 4L, 5L, 6L, 8L))
  expect_identical(vapply(near, `[[`, 0L, "none"), c(4L, 0L, 0L))
})

# What a drawn problem must give, by all sets. `units` are the columns of each unit.
expect_certified <- function(pb, lambda, k, units, start = NULL) {
  fit <- suppressMessages(greedy_rls(pb, lambda = lambda, k = k, size = k, start = start))
  given <- match(start, vapply(units, `[`, 0L, 1L))
  all <- all_sets(pb, lambda, k, units, given)
  proof <- certify(fit, pb)
  null <- trained_errors(pb, lambda, integer())
  per <- c(penalised = 1, squared = ncol(pb$rows$y) * sum(pb$rows$weight))
  for (criterion in c("penalised", "squared")) {
    row <- proof$proofs[proof$proofs$criterion == criterion, ]
    expect_true(row$proved)
    expect_lt(abs(row$value * per[[criterion]] / min(all[[criterion]]) - 1), 1e-9)
    expect_lt(abs(row$null * per[[criterion]] / null[[criterion]] - 1), 1e-9)
    own <- trained_errors(pb, lambda, selected(fit, index = TRUE))[[criterion]]
    expect_identical(row$better, min(all[[criterion]]) < own - 1e-11 * null[["penalised"]])
  }
  expect_identical(proof$roots[[1]]$bound <= min(all$penalised) * (1 + 1e-12), TRUE)
  best <- min(all$penalised)
  fall <- null[["penalised"]] - best
  near <- alternatives(proof, within = 0.2)
  inside <- all$penalised <= best + 0.2 * fall
  expect_identical(near$count, as.double(sum(inside)))
  counts <- tabulate(all$sets[, inside], length(units))
  first <- vapply(units, `[`, 0L, 1L)
  features <- near$features[order(near$features$feature), ]
  expect_identical(features$feature, first[counts > 0L])
  expect_identical(features$status == "all", (counts == sum(inside))[counts > 0L])
  lack <- function(keep) max(0, (min(all$penalised[keep]) - best) / fall)
  has <- function(u) colSums(all$sets == u) > 0L
  for (u in which(counts > 0L)) {
    row <- features[features$feature == first[u], ]
    expect_lt(abs(row$price_in - lack(has(u))), 1e-9)
    if (!u %in% given && !all(has(u))) expect_lt(abs(row$price_out - lack(!has(u))), 1e-9)
  }
  proof
}

test_that("certificates and alternatives equal training of all sets", {
  set.seed(461)
  cases <- random_cover(max(problems_to_try(120, 12)), task = c("one", "two", "binary", "three"),
                        weights = c(FALSE, TRUE), covariates = c(FALSE, TRUE),
                        sparse = c(FALSE, TRUE), duplicate = c(TRUE, FALSE),
                        factors = c(FALSE, TRUE), lambda = c(0.3, 3, 30, 100), k = 1:3,
                        grouped = c(FALSE, FALSE, TRUE), start = c(FALSE, FALSE, TRUE))
  for (i in seq_len(nrow(cases))) {
    case <- as.list(cases[i, ])
    n <- 8L
    group <- if (case$grouped) c("a", "b", "a", "c", "d", "d", "e", "c")
    factors <- if (case$factors) stats::setNames(stats::runif(n, 0.5, 2), seq_len(n))
    pb <- random_problem(20, n, task = case$task, weights = case$weights,
                         covariates = case$covariates, sparse = case$sparse,
                         duplicate = case$duplicate, columns_group = group,
                         penalty = unname(factors))
    usable <- which(pb$columns$usable)
    of <- if (case$grouped) match(group, unique(group)) else seq_len(n)
    units <- unname(split(usable, of[usable]))
    start <- if (case$start && !case$grouped) 1L
    expect_certified(pb, case$lambda, case$k, units, start)
  }
})

test_that("the leave-one-out error of all sets is that of training without each row", {
  set.seed(462)
  pb <- random_problem(15, 6, weights = TRUE, covariates = TRUE)
  expect_equal(trained_errors(pb, 2, c(1, 3)), trained_errors(pb, 2, c(1, 3), anew = TRUE),
               tolerance = 1e-10)
})

test_that("without a penalty sets are proved by a diagonal of X'X", {
  set.seed(463)
  for (i in 1:6) {
    pb <- random_problem(30, 8, task = c("one", "two")[1 + i %% 2], weights = i > 2,
                         covariates = i > 4, duplicate = FALSE)
    fit <- forward_regression(pb, k = 3)
    proof <- certify(fit, pb)
    expect_identical(proof$proofs$criterion, "penalised")
    all <- all_sets(pb, 0, 3)
    expect_lt(abs(proof$proofs$value / min(all$penalised) - 1), 1e-9)
    expect_true(proof$proofs$proved)
    null <- trained_errors(pb, 0, integer())[["penalised"]]
    near <- alternatives(proof, within = 0.3)
    expect_identical(near$count, as.double(sum(
      all$penalised <= min(all$penalised) + 0.3 * (null - min(all$penalised))
    )))
    expect_true(verify(proof, claims = Inf)$ok)
  }
})

test_that("copies, near copies and a size of all columns are settled", {
  set.seed(464)
  x <- matrix(rnorm(20 * 6), 20)
  x[, 2] <- x[, 1]
  x[, 3] <- x[, 1] + 1e-9 * x[, 4]
  pb <- as_problem(x, 2 * x[, 1] + rnorm(20) / 4)
  expect_certified(pb, 2, 2L, as.list(1:6))
  # both copies are in the best set, as the second one lowers the penalty
  fit <- greedy_rls(pb, lambda = 2, k = 2, size = 2, refit = FALSE)
  near <- alternatives(certify(fit, pb), within = 0.001)
  expect_identical(near$count, 3)
  whole <- certify(greedy_rls(pb, lambda = 2, k = 6, size = 6, refit = FALSE), pb)
  expect_true(all(whole$proofs$proved))
  expect_false(any(whole$proofs$better))
  expect_identical(sort(selected(whole, index = TRUE)), 1:6)
})

test_that("a better set is a fit, and a certificate holds what verify() recomputes", {
  set.seed(465)
  x <- matrix(rnorm(30 * 12), 30, dimnames = list(NULL, paste0("g", 1:12)))
  y <- x[, 1] + x[, 2] + rnorm(30) / 3
  x[, 12] <- x[, 1] + x[, 2] + rnorm(30) / 4
  pb <- as_problem(x, y)
  fit <- random_selection(pb, k = 3, lambda = 5)
  proof <- certify(fit, pb)
  expect_true(proof$proofs$better[1])
  expect_s3_class(proof$better, "sparse_fit")
  expect_identical(selected(proof$better), proof$sets[[2]])
  expect_identical(selected(proof), proof$sets[[1]])
  expect_equal(proof$better$path$squared[2], proof$proofs$value[2], tolerance = 1e-12)
  edited <- proof
  edited$proofs$value[1] <- 0.999 * edited$proofs$value[1]
  expect_false(verify(edited, claims = Inf)$ok)
  edited <- proof
  edited$roots[[1]]$bound <- edited$roots[[1]]$bound * 1.001
  expect_false(verify(edited, claims = Inf)$ok)
  edited <- proof
  edited$proofs$certain_out[1] <- 12L
  expect_false(verify(edited, claims = Inf)$ok)
  expect_error(verify(proof, pb), class = "sparsels_error_input")
})

test_that("the leave-one-out error of a certificate is the criterion of the path", {
  set.seed(466)
  for (task in c("one", "binary", "three")) {
    pb <- random_problem(24, 8, task = task, weights = TRUE)
    fit <- greedy_rls(pb, lambda = 3, k = 2, size = 2, refit = FALSE)
    row <- certify(fit, pb, criterion = "squared")$proofs
    expect_equal(row$own, fit$path$criterion[3], tolerance = 1e-10)
    expect_equal(row$null, fit$path$criterion[1], tolerance = 1e-10)
  }
})

test_that("files, sparse columns and clusters give the same certificate", {
  set.seed(467)
  x <- matrix(round(rnorm(40 * 300), 3), 40, dimnames = list(NULL, paste0("g", 1:300)))
  y <- x[, 3] - x[, 50] + rnorm(40)
  fit <- greedy_rls(x, y, k = 4, lambda = 160, size = 4, refit = FALSE)
  proof <- certify(fit, x, y)
  path <- tempfile(fileext = ".bin")
  file <- write_file_matrix(x, path)
  from_file <- certify(fit, file, y)
  same <- c("proofs", "sets", "near", "passes")
  expect_equal(unclass(from_file)[same], unclass(proof)[same], tolerance = 1e-12)
  sparse <- certify(fit, methods::as(x, "CsparseMatrix"), y)
  expect_equal(unclass(sparse)[same], unclass(proof)[same], tolerance = 1e-10)
  expect_lt(proof$passes, 2)
  skip_on_cran()
  cluster <- parallel::makeCluster(2)
  on.exit(parallel::stopCluster(cluster))
  on_cluster <- certify(fit, file, y, cluster = cluster)
  expect_identical(unclass(on_cluster)[same], unclass(from_file)[same])
})

test_that("a tree that ends early has a bound, and Ctrl-C keeps it", {
  set.seed(468)
  x <- matrix(rnorm(40 * 120), 40)
  y <- rowSums(x[, 1:8]) + rnorm(40)
  fit <- greedy_rls(x, y, k = 6, lambda = 2, size = 6, refit = FALSE)
  bounds <- vapply(c(1, 50, 2000), function(nodes) {
    proof <- certify(fit, x, y, criterion = "penalised", nodes = nodes)
    expect_false(proof$proofs$proved)
    expect_identical(proof$status, "node_limit")
    expect_gt(proof$proofs$gap, 0)
    expect_true(all(diff(proof$traces[[1]][2, ]) >= 0))
    expect_true(all(diff(proof$traces[[1]][3, ]) <= 0))
    proof$proofs$bound
  }, 0)
  expect_false(is.unsorted(bounds))
  expect_warning(
    stopped <- interrupted_at(0, certify(fit, x, y, criterion = "penalised", nodes = 1e6)),
    class = "sparsels_interrupted"
  )
  expect_identical(stopped$status, "interrupted")
  expect_false(stopped$proofs$proved)
  expect_true(stopped$proofs$bound <= stopped$proofs$value)
  # sizes after the one that was stopped have the bound before their tree
  expect_warning(several <- interrupted_at(0, certify(fit, x, y, size = 4:6, nodes = 1e6)),
                 class = "sparsels_interrupted")
  expect_identical(several$status, "interrupted")
  expect_identical(several$proofs$size, rep(4:6, each = 2))
  expect_true(all(several$proofs$bound <= several$proofs$value))
  expect_lte(sum(several$proofs$nodes[3:6]), 8)
  proof <- certify(fit, x, y, criterion = "penalised", nodes = 50)
  expect_warning(near <- interrupted_at(0, alternatives(proof, 0.3, nodes = 1e6)),
                 class = "sparsels_interrupted")
  expect_identical(near$status, "interrupted")
  expect_false(near$counted)
})

test_that("prices, wide questions and columns that are not wanted", {
  set.seed(469)
  x <- matrix(rnorm(40 * 50), 40, dimnames = list(NULL, paste0("g", 1:50)))
  x[, 9] <- x[, 7] + rnorm(40) / 4
  y <- x[, 7] - x[, 50] + rnorm(40)
  proof <- certify(greedy_rls(x, y, k = 2, lambda = 40, size = 2), x, y)
  near <- alternatives(proof, within = 0.2)
  expect_true(all(c("g7", "g9", "g50") %in% near$features$name))
  expect_identical(near$features$name[near$features$status == "all"], "g50")
  without <- alternatives(proof, within = 0.2, without = "g7")
  expect_identical(without$count, as.double(sum(!vapply(near$sets$columns, function(set) {
    "g7" %in% set
  }, NA))))
  expect_false("g7" %in% without$features$name)
  all <- all_sets(as_problem(x, y), 40, 2)
  null <- trained_errors(as_problem(x, y), 40, integer())[["penalised"]]
  fall <- null - min(all$penalised)
  for (j in match(c("g9", "g50"), colnames(x))) {
    row <- without$features[without$features$feature == j, ]
    has <- function(u) colSums(all$sets == u) > 0
    least <- function(keep) (min(all$penalised[keep & !has(7)]) - min(all$penalised)) / fall
    expect_equal(c(row$price_in, row$price_out), c(least(has(j)), least(!has(j))),
                 tolerance = 1e-9)
  }
  expect_identical(alternatives(proof, within = 0.2, without = "g50")$count, 0)
  # fewer columns are left than a set has
  none <- alternatives(proof, within = 0.2, without = -1)
  expect_identical(c(none$count, nrow(none$features), none$none), c(0, 0, 1))
  price <- rep(1:2, 25)
  priced <- alternatives(proof, within = 0.2, cost = price)
  expect_false(is.unsorted(priced$sets$price))
  expect_identical(priced$sets$price[1], min(vapply(near$sets$columns, function(set) {
    sum(price[match(set, colnames(x))])
  }, 0)))
  # more sets than are listed: the statuses come from trees and agree with the count
  x <- x[, c(1:22, 37:50)]
  broad <- alternatives(certify(greedy_rls(x, y, k = 3, lambda = 40, size = 3), x, y), 0.7)
  expect_gt(broad$count, 1000)
  all <- all_sets(as_problem(x, y), 40, 3)
  null <- trained_errors(as_problem(x, y), 40, integer())[["penalised"]]
  inside <- all$penalised <= min(all$penalised) + 0.7 * (null - min(all$penalised))
  expect_identical(broad$count, as.double(sum(inside)))
  counts <- tabulate(all$sets[, inside], ncol(x))
  if (!is.na(broad$none)) {
    expect_setequal(broad$features$feature, which(counts > 0))
    expect_identical(broad$features$status == "all",
                     counts[broad$features$feature] == sum(inside))
  }
})

test_that("what cannot be proved is refused with the reason", {
  set.seed(470)
  x <- matrix(rnorm(20 * 30), 20, dimnames = list(NULL, paste0("g", 1:30)))
  y <- x[, 1] + rnorm(20)
  fit <- greedy_rls(x, y, k = 2, lambda = 20, size = 2)
  proof <- certify(fit, x, y, criterion = "squared")
  expect_snapshot({
    refusal(certify(l1_path(x, y), x, y))
    refusal(certify(rls(x, y), x, y))
    refusal(certify(forward_regression(x, y, k = 2), x, y))
    refusal(certify(fit, x, y, criterion = "auc"))
    refusal(certify(fit, x, y, size = 9))
    refusal(certify(fit, x, y, size = c("a", NA)))
    refusal(certify(fit, x, y, criterion = character()))
    refusal(certify(fit, x, y, nodes = 0))
    refusal(certify(fit, x, rev(y)))
    refusal(certify(greedy_rls(x, y, k = 2, lambda = 20, size = 0), x, y))
    refusal(certify(fit, x, y, sise = 2))
    refusal(alternatives(fit))
    refusal(alternatives(proof))
    refusal(alternatives(certify(fit, x, y), within = 1))
    refusal(alternatives(certify(fit, x, y), size = 3))
    refusal(alternatives(certify(fit, x, y), without = "g99"))
    refusal(certify(greedy_rls(x, y, k = 2, lambda = 20, groups = rep(1:10, 2)), x, y,
                    criterion = "squared"))
  })
})

test_that("bounds are drawn below errors of the same lambda alone", {
  set.seed(472)
  x <- matrix(rnorm(20 * 8), 20)
  fit <- greedy_rls(x, x[, 1] + rnorm(20), k = 2, size = 1)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  proof <- certify(fit, x, fit$problem$rows$y[, 1])
  expect_error(plot(fit, proof = proof), "not the errors drawn", class = "sparsels_error_argument")
})

test_that("what is printed, tidied and drawn", {
  set.seed(471)
  x <- matrix(rnorm(40 * 60), 40, dimnames = list(NULL, paste0("g", 1:60)))
  x[, 9] <- x[, 7] + rnorm(40) / 4
  y <- x[, 7] - x[, 50] + rnorm(40)
  fit <- greedy_rls(x, y, k = 3, lambda = 40, size = 2, refit = FALSE)
  proof <- certify(fit, x, y)
  sizes <- certify(fit, x, y, size = 1:3)
  near <- alternatives(proof, 0.1)
  expect_snapshot({
    proof
    sizes
    near
    summary(near)
    glance(proof)
    tidy(sizes)[c("size", "criterion", "value", "null", "proved", "better")]
    glance(near)
    # numbers of nodes depend on rounding
  }, transform = function(lines) sub("proved +[0-9]+", "proved (nodes)", lines))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(nrow(plot(sizes)), 6L)
  expect_identical(names(plot(proof)), c("criterion", "nodes", "value", "bound"))
  bars <- plot(near)
  expect_identical(bars$name, near$features$name)
  expect_identical(plot(fit, proof = sizes), plot(fit))
})

test_that("copies that a search leaves out are in no better set and no swap", {
  set.seed(33)
  x <- matrix(rnorm(240), 40, dimnames = list(NULL, letters[1:6]))
  y <- x[, 1] + x[, 2] / 3 + rnorm(40)
  copies <- cbind(x, copy = 2 * x[, 1] + 1)
  fit <- greedy_rls(copies, y, size = 3)
  expect_identical(fit$copies$feature, 7L)
  proof <- certify(fit, copies, y)
  expect_equal(proof$proofs, certify(greedy_rls(x, y, size = 3), x, y)$proofs)
  expect_identical(count_units(proof$problem), 6L)
  swaps <- exchange(fit, copies, y)
  beside <- swaps$add %in% "copy" & !swaps$drop %in% "a"
  expect_false(any(beside))
  expect_true(any(swaps$add %in% "copy" & swaps$drop %in% "a"))
  # a set of all columns has no other
  all <- greedy_rls(x[, 1:2], y, size = 2)
  expect_identical(claim_words(certify(all, x[, 1:2], y)), "every usable column is in the set")
  expect_no_match(capture.output(print(exchange(all, x[, 1:2], y))), "certify()", fixed = TRUE)
})
