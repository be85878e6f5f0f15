# Groups of rows: said once, kept whole by every partition.

# Twenty patients with three alike samples each, and classes that have nothing to do with them.
noise <- function(columns = 40) {
  set.seed(1)
  patient <- rep(1:20, each = 3)
  x <- matrix(rnorm(20 * columns), 20)[patient, ] + matrix(rnorm(60 * columns, sd = 0.2), 60)
  list(x = x, y = factor(rep(c("a", "b"), 10)[patient]), patient = paste0("p", patient))
}

# The ways to say groups: arguments of a function of data. `rows` are in no order of the patients.
ways <- function(data) {
  frame <- data.frame(data$x, y = data$y, patient = data$patient)
  list(
    vector = list(data$x, data$y, groups = data$patient),
    name = list(y ~ ., data = frame, groups = "patient"),
    formula = list(y ~ ., data = frame, groups = ~ patient),
    frame = list(frame[names(frame) != "y"], data$y, groups = "patient"),
    problem = list(as_problem(data$x, data$y, groups = data$patient)),
    later = list(as_problem(as_problem(data$x, data$y), groups = data$patient)),
    folds = list(data$x, data$y, folds = make_folds(60, "loo", groups = data$patient))
  )
}

test_that("groups are read from every form of data, and are no candidates", {
  data <- noise()
  for (way in ways(data)[-7]) {
    problem <- do.call(as_problem, way)
    expect_identical(as.character(problem$rows$group), data$patient)
    expect_identical(dim(problem), c(60L, 40L))
  }
  frame <- data.frame(data$x, y = data$y, patient = data$patient)
  expect_identical(as_problem(y ~ ., frame, groups = patient)$rows$group, problem$rows$group)
  frame$site <- rep(c("u", "v"), each = 30)
  both <- as_problem(y ~ ., frame, groups = ~ site + patient)
  expect_identical(as.integer(both$rows$group), as.integer(problem$rows$group))
  expect_identical(ncol(both), 40L)
  expect_null(as_problem(problem, groups = FALSE)$rows$group)
  expect_identical(nlevels(problem[1:10, ]$rows$group), 4L)
  expect_identical(as_problem(y ~ ., frame[1:12, ], subset = 1:9, groups = patient)$rows$group,
                   problem[1:9, ]$rows$group)
  frame$X1[5] <- NA
  omitted <- as_problem(y ~ ., frame, groups = patient, na.action = na.omit)
  expect_identical(as.character(omitted$rows$group), data$patient[-5])
})

# whether each partition of some parts holds every patient whole
are_whole <- function(ids, patient) {
  all(apply(as.matrix(ids), 2, function(id) {
    all(tapply(id, patient, function(one) length(unique(one))) == 1)
  }))
}

test_that("every function keeps whole patients, whichever way the groups were said", {
  data <- noise(12)
  order <- sample(60)
  data <- list(x = data$x[order, ], y = data$y[order], patient = data$patient[order])
  for (way in ways(data)) {
    call <- function(f, ...) suppressWarnings(do.call(f, c(way, list(...))))
    whole_parts <- function(parts) {
      for (rows in parts) {
        expect_length(intersect(data$patient[rows], data$patient[-rows]), 0)
      }
    }
    fit <- call(greedy_rls, k = 2, size = "cv", size_folds = 5)
    expect_true(are_whole(fit$folds$ids, data$patient))
    expect_true(are_whole(fit$size_folds$ids, data$patient))
    validated <- call(cross_validate, method = rls, lambda = 9, outer = 5, baselines = NULL)
    expect_match(validated$outer, "20 groups kept whole")
    # the classes of whole patients cannot be told: single rows would have an error near 0
    expect_gt(validated$estimate[["mean"]], 0.4)
    of_method <- way[names(way) %in% "folds"]
    compared <- do.call(compare_methods, c(replace(way, "folds", NULL), list(
      methods = list(rls = c(list(rls, lambda = 9), of_method)), splits = 2
    )))
    whole_parts(compared$test_rows)
    expect_true(call(learning_curve, method = rls, lambda = 9, repeats = 1)$grouped)
    halved <- call(stability_selection, method = greedy_rls, lambda = 9, pairs = 1, q = 2)
    expect_identical(halved$groups, 20L)
    tested <- call(permutation_test, method = greedy_rls, k = 1, lambda = 9, permutations = 2)
    expect_match(tested$permuted, "20 groups")
    judged <- call(judge, method = rls, lambda = 9, outer = 5, permutations = 0, pairs = 0,
                   repeats = 0, claims = 0, seed = 1)
    expect_true(are_whole(judged$folds$ids, data$patient))
    few <- if (is.null(way$folds)) list(folds = 4)
    added <- do.call(call, c(list(added_value, base = 1:2, permutations = 2, lambda = 9), few))
    expect_match(added$permuted, "20 groups")
  }
})

test_that("held-out figures of all fitters are those of whole groups", {
  set.seed(2)
  data <- noise(12)
  y <- data$x[, 1] + rnorm(60)
  pb <- as_problem(data$x, y, groups = data$patient)
  sized <- list(greedy_rls, random_selection, forward_regression, omp, foba, rfe, best_subset, poss,
                sequential_replacement, wrapper_rls)
  fits <- c(lapply(sized, function(method) suppressWarnings(method(pb, k = 2))),
            list(rls(pb), suppressWarnings(lssvm(pb)), scdp(pb, k = 2),
                 l1_path(pb, folds = 4, nlambda = 20),
                 kernel_rls(pb, kernel = kernel_gaussian(0.01)),
                 suppressMessages(suppressWarnings(fs_lssvm(pb)))))
  for (fit in fits) {
    expect_true(are_whole(fit$folds$ids, data$patient))
    expect_true(verify(fit, pb, claims = 12, progress = FALSE)$ok)
  }
  # by hand: least squares on the chosen columns without each patient; the last column is of one
  # patient alone, without which its coefficient is 0
  x <- cbind(data$x[, 1:3], data$patient == "p4")
  fit <- forward_regression(x, y, groups = data$patient, k = 4, size = 4)
  by_hand <- vapply(fit$coefficients[-1], function(model) {
    chosen <- cbind(1, x[, model$features])
    off <- lapply(unique(data$patient), function(one) {
      rest <- data$patient != one
      beta <- qr.coef(qr(chosen[rest, ]), y[rest])
      y[!rest] - chosen[!rest, , drop = FALSE] %*% ifelse(is.na(beta), 0, beta)
    })
    mean(unlist(off)^2)
  }, 0)
  expect_equal(fit$path$squared[-1], by_hand, tolerance = 1e-9)
})

test_that("patients of two classes, without a signal, have a null model and an error of one half", {
  set.seed(41)
  patient <- rep(1:20, each = 3)
  x <- matrix(rnorm(20 * 30), 20)[patient, ] + matrix(rnorm(60 * 30, sd = 0.2), 60)
  y <- rep(c("ill", "well"), 10)[patient]
  validated <- cross_validate(as_problem(x, y, groups = patient), method = greedy_rls, k = 3,
                              baselines = "majority")
  expect_identical(validated$outer, "10-fold, 20 groups kept whole, stratified")
  expect_identical(validated$estimates$null, 0.5)
  expect_lt(abs(validated$estimate[["mean"]] - 0.5), 0.2)
})

test_that("there are no more folds than groups", {
  data <- noise(5)
  few <- rep(1:4, 15)
  validated <- cross_validate(data$x, data$y, rls, groups = few, baselines = NULL)
  expect_identical(validated$outer, "4-fold, 4 groups kept whole, stratified")
  expect_identical(max(make_folds(as_problem(data$x, data$y, groups = few))$ids), 4L)
})

test_that("folds that split a group are refused, and so is what cannot keep them whole", {
  data <- noise()
  pb <- as_problem(data$x, data$y, groups = data$patient)
  expect_snapshot({
    refusal(greedy_rls(pb, folds = rep(1:5, 12)))
    refusal(greedy_rls(pb, size_folds = make_folds(60, 5)))
    refusal(cross_validate(pb, rls, outer = rep(1:5, 12)))
    refusal(lowrank_lssvm(pb, k = 2))
    refusal(cv_variance(pb, kernel = kernel_linear()))
    refusal(as_problem(data$x, data$y, groups = rep(1, 60)))
    refusal(as_problem(data$x, data$y, groups = 1:3))
    refusal(as_problem(data$x, data$y, groups = "patient"))
    refusal(as_problem(data$x, seq_len(60), within = rep(1:30, 2), groups = rep(1:20, 3)))
    pb
  })
  free <- as_problem(pb, groups = FALSE)
  expect_match(greedy_rls(free, folds = rep(1:5, 12), size = 1)$folds$label, "5 given folds")
})

test_that("folds are given as row numbers, for all rows of the data, and by rsample", {
  held <- split(sample(30), rep(1:5, 6))
  ids <- make_folds(30, held)$ids
  for (i in 1:5) expect_identical(sort(held[[i]]), which(ids == ids[held[[i]][1]]))
  trained <- lapply(held, setdiff, x = 1:30)
  expect_identical(make_folds(30, trained)$ids, ids)
  expect_error(make_folds(30, c(held[-1], list(1:3))), "must hold out each of 30 rows once")
  drawn <- list(Resample1 = sort(sample(30, replace = TRUE)), Resample2 = 1:30)
  expect_error(make_folds(30, drawn), "bootstrap samples", class = "sparsels_error_input")
  splits <- list(Resample1 = sample(30, 20), Resample2 = sample(30, 20))
  expect_error(make_folds(30, splits), "createDataPartition.*rsample::mc_cv",
               class = "sparsels_error_input")
  expect_error(make_folds(30, structure(list(1), class = "rsplit")), "a single split of rsample",
               class = "sparsels_error_input")
  again <- split(sample(30), rep(1:3, 10))
  repeated <- make_folds(30, c(held, again))
  expect_identical(repeated$ids, cbind(ids, make_folds(30, again)$ids))
  expect_identical(make_folds(30, lapply(c(held, again), setdiff, x = 1:30))$ids, repeated$ids)
  expect_identical(make_folds(30, repeated$ids)$ids, repeated$ids)
  d <- data.frame(y = rnorm(30), a = rnorm(30), b = rnorm(30), patient = rep(1:10, 3))
  d$b[5] <- NA
  both <- greedy_rls(y ~ a + b, d, na.action = na.omit, folds = repeated$ids, size = 1)
  expect_identical(both$folds$ids, repeated$ids[-5, ])
  kept <- greedy_rls(y ~ a + b, d, na.action = na.omit, folds = d$patient, size = 1)
  expect_identical(kept$folds$ids[, 1], match(d$patient[-5], unique(d$patient[-5])))
  of_numbers <- greedy_rls(y ~ a + b, d, na.action = na.omit, folds = held, size = 1)
  expect_identical(of_numbers$folds$ids, ids[-5, , drop = FALSE])
  folds <- make_folds(30, 5, groups = d$patient)
  fit <- greedy_rls(y ~ a + b, d, subset = 4:30, na.action = na.omit, size_folds = folds)
  expect_identical(as.integer(fit$problem$rows$group), match(d$patient[-(1:3)][-2],
                                                        unique(d$patient[-(1:3)][-2])))
  skip_if_not_installed("rsample")
  set.seed(3)
  grouped <- rsample::group_vfold_cv(d, "patient", v = 5)
  validated <- cross_validate(y ~ a, d, rls, outer = grouped, baselines = NULL)
  expect_identical(as.integer(validated$problem$rows$group), d$patient)
})

test_that("queries lie in groups", {
  set.seed(4)
  query <- rep(1:12, each = 4)
  site <- rep(1:6, each = 8)
  x <- matrix(rnorm(48 * 5), 48)
  pb <- as_problem(x, x[, 1] + rnorm(48), within = query, groups = site)
  fit <- greedy_rls(pb, k = 2, size_folds = 3)
  expect_identical(fit$folds$label, "leave-one-group-out, 6 groups")
  expect_true(are_whole(fit$size_folds$ids, site))
  expect_error(permutation_test(pb, greedy_rls, permutations = 2), "cannot be used with `within`")
})

test_that("a training part of one group says that it has no folds", {
  set.seed(1)
  x <- matrix(rnorm(240), 30)
  expect_error(cross_validate(x, rnorm(30), l1_path, groups = rep(1:2, each = 15), outer = 2),
               "all rows are of one group", class = "sparsels_error_input")
})

test_that("groups are left out of models without an intercept and without columns", {
  set.seed(5)
  x <- matrix(rnorm(30 * 4), 30)
  y <- x[, 1] + rnorm(30) + 1
  group <- rep(1:10, 3)
  pb <- as_problem(x, y, intercept = FALSE, groups = group)
  for (method in list(forward_regression, omp, foba, best_subset, rfe, sequential_replacement)) {
    path <- method(pb, size = "criterion")$path
    expect_equal(path$squared[path$size == 0], mean(y^2))
  }
  fit <- forward_regression(pb, k = 1, size = 1)
  own <- vapply(1:10, function(g) {
    b <- coef(lm.fit(x[group != g, 1, drop = FALSE], y[group != g]))
    sum((y[group == g] - x[group == g, 1] * b)^2)
  }, 0)
  expect_equal(fit$path$squared[2], sum(own) / 30)
})

test_that("a `.` that stands for more in the data given again is explained", {
  set.seed(1)
  d <- data.frame(a = rnorm(20), b = rnorm(20), site = rep(1:4, 5), y = rnorm(20))
  fit <- greedy_rls(y ~ ., d, groups = site, k = 1, size = 1)
  expect_error(verify(fit, y ~ ., d), "give its arguments that name variables again, such as `gro")
  expect_true(verify(fit, y ~ ., d, groups = "site", claims = 5)$ok)
})

test_that("rows of weight 0 stay with their group, and groups without weight are not counted", {
  set.seed(1)
  x <- matrix(rnorm(270), 90)
  counts <- rpois(90, exp(x[, 1] / 2))
  times <- survival::Surv(rexp(90, exp(x[, 1])), rep(1:0, c(60, 30)))
  patient <- rep(1:30, each = 3)
  w <- rep_len(c(1, 1, 0, 2), 90) * (patient > 2)
  for (case in list(list(counts, "poisson"), list(times, "cox"))) {
    fit <- greedy_rls(x, case[[1]], loss = case[[2]], groups = patient, weights = w, k = 2)
    expect_true(are_whole(fit$folds$ids, patient))
    expect_match(fit$folds$label, "28 groups")
  }
  cvd <- cross_validate(x, x[, 1] + rnorm(90), greedy_rls, groups = patient, weights = w, k = 2)
  expect_match(cvd$outer, "28 groups")
  expect_error(cross_validate(x, counts, rls, weights = w), "for rls\\(\\): leave out the 27 rows",
               class = "sparsels_error_input")
})

test_that("rows and groups of weight 0 are neither drawn, permuted nor counted", {
  set.seed(31)
  m <- 48
  x <- matrix(rnorm(m * 6), m)
  d <- list(y = x[, 1] + rnorm(m), class = factor(ifelse(x[, 2] + rnorm(m) > 0, "a", "b")),
            groups = rep(sprintf("p%02d", sample(12)), each = 4), age = rnorm(m),
            strata = rep(c("u", "v"), each = m / 2))
  counted <- rep(c(FALSE, TRUE, TRUE), each = 4, length.out = m)
  both <- function(f, names, ...) {
    given <- lapply(list(all = rep(TRUE, m), counted = counted), function(rows) {
      args <- lapply(d[names], function(v) v[rows])
      args$weights <- if (all(rows)) as.numeric(counted)
      set.seed(7)
      do.call(f, c(list(x[rows, ]), unname(args[1L]), args[-1L], list(...)))
    })
    lapply(given, function(one) if (is.list(one)) unclass(one) else one)
  }
  for (names in list("y", c("y", "groups"), c("class", "groups"), "class", c("y", "age"),
                     c("y", "groups", "age"), c("y", "strata", "groups"), c("y", "strata"))) {
    folds <- both(function(x, y, ..., age, strata) make_folds(as_problem(x, y, ...), 5), names)
    expect_identical(folds$all$ids[counted, ], folds$counted$ids[, 1L])
    expect_identical(folds$all$label, folds$counted$label)
    if (names[1L] == "class") next
    tested <- both(function(x, y, ..., age = NULL) {
      permutation_test(x, y, greedy_rls, ..., adjust = age, k = 2, lambda = 3, permutations = 9)
    }, names)
    expect_identical(tested$all$permuted, tested$counted$permuted)
    expect_equal(tested$all$null, tested$counted$null)
  }
  judged <- both(judge, c("y", "groups"), method = greedy_rls, permutations = 9, pairs = 0,
                 repeats = 0, claims = 0, seed = 1, progress = FALSE)
  folds <- lapply(judged, function(one) subset(one$cross_validation$folds, select = -group))
  expect_equal(folds$all, folds$counted)
  words <- lapply(judged, function(one) methods_paragraph(one))
  expect_match(words$all, "Rows of one of 8 groups were held out")
  expect_match(words$all, "leave-one-group-out, 8 groups", fixed = TRUE)
})

test_that("variables of a formula of groups are crossed, whatever its operator", {
  d <- data.frame(a = rnorm(60), y = rnorm(60), id = rep(1:6, 10), visit = rep(1:10, each = 6),
                  site = rep(c("A", "B"), 30), arm = gl(3, 20))
  groups_of <- function(labels) as.integer(as_problem(y ~ a, d, groups = labels)$rows$group)
  both <- as.integer(interaction(d$site, d$arm, drop = TRUE))
  for (labels in list(~ site + arm, ~ site:arm, ~ site * arm, ~ site / arm, ~ (site / arm))) {
    expect_identical(groups_of(labels), match(both, unique(both)))
  }
  expect_identical(max(groups_of(~ id / visit)), 60L)
  expect_identical(max(groups_of(~ id * visit)), 60L)
  # arithmetic with a number
  expect_identical(max(groups_of(~ (id + 1) %/% 2)), 3L)
  expect_identical(max(groups_of(~ id / 2)), 6L)
  expect_error(groups_of(~ (1 | id)), "write `~ id`", class = "sparsels_error_input")
  expect_error(as_problem(y ~ a, d, groups = factor(stop("no"))[id]), "no",
               class = "sparsels_error_input")
  expect_identical(as_problem(d["a"], d$y, data = d, weights = ~ visit * id)$rows$weight,
                   as.double(d$visit * d$id))
})
