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
  cases <- random_cover(24, task = c("one", "two", "binary", "three"), weights = c(FALSE, TRUE),
                        covariates = c(FALSE, TRUE), sparse = c(FALSE, TRUE),
                        duplicate = c(TRUE, FALSE), factors = c(FALSE, TRUE),
                        lambda = c(0.3, 3, 30, 100), k = 1:3, grouped = c(FALSE, FALSE, TRUE),
                        start = c(FALSE, FALSE, TRUE))
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
