# Class weights multiply the case weights of each class; those that balance the classes are made
# again wherever a method is trained on some of the rows.

set.seed(1)
x <- matrix(rnorm(60 * 8), 60, dimnames = list(NULL, paste0("g", 1:8)))
class <- factor(ifelse(x[, 1] - x[, 4] + rnorm(60) > 1, "ill", "well"), c("well", "ill"))
kind <- factor(c("a", "b", "b", "c", "c", "c")[1 + (seq_len(60) + (x[, 2] > 0)) %% 6])
cases <- rep(c(1, 2, 0.5, 0), 15)

# case weights times W / (K W_c)
oracle_balanced <- function(class, cases = rep(1, length(class))) {
  total <- vapply(split(cases, class), sum, 0)
  total <- total[total > 0]
  unname(cases * (sum(total) / (length(total) * total))[as.character(class)])
}

test_that("weights are the products written out", {
  given <- c(ill = 4, well = 0.5)
  for (w in list(rep(1, 60), cases)) {
    expect_identical(as_problem(x, class, weights = w, class_weights = given)$rows$weight,
                     w * c(0.5, 4)[class])
    pb <- as_problem(x, kind, weights = w, class_weights = "balanced")
    expect_equal(pb$rows$weight, oracle_balanced(kind, w), tolerance = 1e-15)
    expect_equal(sum(pb$rows$weight), sum(w))
    expect_identical(pb$rows$case_weight, w)
  }
  expect_null(as_problem(x, class)$rows$case_weight)
})

test_that("a fit is that with these weights, and its parts balance their own rows", {
  pb <- as_problem(x, class, weights = cases, class_weights = "balanced")
  same <- c("path", "coefficients", "held_out", "fitted")
  expect_identical(bare_rls(pb, k = 4)[same],
                   bare_rls(x, class, weights = pb$rows$weight, k = 4)[same])
  given <- as_problem(x, class, class_weights = c(ill = 4, well = 0.5))
  expect_identical(as_problem(x, class, class_weights = list(ill = 4, well = 0.5)), given)
  expect_identical(as_problem(x, class, class_weights = 1 / table(class))$rows$weight,
                   as.vector(1 / table(class)[as.character(class)]))
  folds <- make_folds(given, 5)
  for (loss in losses) {
    expect_identical(l1_path(given, loss = loss, folds = folds)[same],
                     l1_path(x, class, loss = loss, folds = folds,
                             weights = given$rows$weight)[same])
  }
  kernel <- as_problem(x, kind, class_weights = "balanced")
  expect_identical(rls(kernel)[same], rls(x, kind, weights = kernel$rows$weight)[same])

  rows <- c(3:40, 50)
  part <- pb[rows, 1:5]
  expect_equal(part$rows$weight, oracle_balanced(class[rows], cases[rows]))
  expect_identical(part$coding$class_weights, "balanced")
  absent <- as_problem(x, kind, class_weights = "balanced")[which(kind != "a"), ]
  expect_equal(absent$rows$weight, oracle_balanced(droplevels(kind[kind != "a"])))
})

test_that("outer folds, size folds and other weights balance the rows that are left", {
  pb <- as_problem(x, class, weights = cases, class_weights = "balanced")
  kept <- setdiff(seq_len(60), 11:20)
  without <- reweighted(pb, replace(cases, 11:20, 0))
  expect_equal(without$rows$weight[kept], oracle_balanced(class[kept], cases[kept]))
  expect_identical(without$rows$weight[11:20], rep(0, 10))

  run <- new_run(bare_rls, pb, list(k = 3))
  own <- bare_rls(x[kept, ], class[kept], k = 3,
                  weights = oracle_balanced(class[kept], cases[kept]))
  expect_equal(fit_rows(run, kept)$fit$coefficients, own$coefficients)

  folds <- make_folds(pb, 4)
  sized <- greedy_rls(pb, k = 3, size = "min", size_folds = folds, refit = FALSE, lambda = 1)
  sums <- sapply(1:4, function(fold) {
    train <- folds$ids[, 1] != fold & cases > 0
    model <- bare_rls(x[train, ], class[train], k = 3, lambda = 1,
                      weights = oracle_balanced(class[train], cases[train]))
    off <- pb$rows$y[!train, 1] - predict(model, x[!train, ], size = 2)
    here <- folds$ids[!train, 1] == fold
    c(sum((pb$rows$weight[!train] * off^2)[here]), sum(pb$rows$weight[!train][here]))
  })
  row <- sized$coefficients[[3]]$step + 1
  expect_equal(sized$path$cv[row], sum(sums[1, ]) / sum(sums[2, ]), tolerance = 1e-10)
  expect_true(verify(sized, x, class)$ok)
  expect_true(verify(sized, pb)$ok)
})

test_that("permuted classes take their weights with them", {
  pb <- as_problem(x, class, class_weights = "balanced")
  null <- null_response(pb)
  order <- rev(seq_len(60))
  permuted <- permuted_problem(null, order)
  expect_equal(permuted$rows$weight, oracle_balanced(class[order]))
  exchange <- exchange_of(null, rep(1:6, each = 10), NULL)
  expect_false(exchange$weighted)
})

test_that("classes with weights are said, saved and told apart", {
  pb <- as_problem(x, class, class_weights = "balanced")
  fit <- bare_rls(pb, k = 2)
  file <- tempfile()
  saveRDS(fit, file)
  expect_identical(predict(readRDS(file), x, type = "class"), predict(fit, x, type = "class"))
  unlink(file)
  expect_error(verify(fit, as_problem(x, class)), "the weight of row 1 is another")
  expect_snapshot({
    pb
    as_problem(x, class, weights = cases, class_weights = c(ill = 4, well = 0.5))
  })
})

test_that("an error rate with weights is called a weighted share of rows", {
  counted <- rep(c(1, 2), length.out = 60)
  for (arguments in list(list(class_weights = "balanced"), list(weights = counted))) {
    pb <- do.call(as_problem, c(list(x, class), arguments))
    cvd <- cross_validate(pb, rls, outer = 3)
    compared <- compare_methods(pb, methods = list(rls = rls), outer = 3)
    for (result in list(cvd, compared)) {
      expect_match(measure_label(result), "weighted share of rows")
    }
    wrong <- cvd$held_out_class != as.integer(class)
    expect_equal(generics::glance(cvd)$estimate, weighted.mean(wrong, pb$rows$weight))
  }
})

test_that("weights that do not suit the classes are refused", {
  expect_snapshot({
    refusal(as_problem(x, x[, 1], class_weights = "balanced"))
    refusal(as_problem(x, class, class_weights = "equal"))
    refusal(as_problem(x, class, class_weights = c(1, 2)))
    refusal(as_problem(x, class, class_weights = c(ill = 2)))
    refusal(as_problem(x, class, class_weights = c(ill = 2, well = 1, dead = 1)))
    refusal(as_problem(x, class, class_weights = c(ill = 2, ill = 1, well = 1)))
    refusal(as_problem(x, class, class_weights = c(ill = 2, well = 0)))
    refusal(greedy_rls(as_problem(x, class), class_weights = "balanced"))
  })
})

test_that("weights() are case weights, without the weights of classes", {
  set.seed(11)
  w <- rep(c(1, 2), 15)
  fit <- greedy_rls(matrix(rnorm(90), 30), gl(2, 10, 30), class_weights = "balanced", weights = w)
  expect_identical(weights(fit), w)
})
