set.seed(11)
panel <- data.frame(y = rnorm(40), w = runif(40, 0.5, 2), age = rnorm(40, 50, 10),
                    sex = factor(sample(c("f", "m"), 40, TRUE)), a = rnorm(40), b = rnorm(40))
panel$y <- panel$y + 2 * panel$a
gaps <- replace(panel, "a", list(replace(panel$a, 3, NA)))
gaps$age[7] <- NA

same_problem <- function(given, expected) {
  fields <- c("x", "y", "z", "weights", "response", "names")
  expect_identical(unclass(given)[fields], unclass(expected)[fields])
}

test_that("data may come second, for every fitter", {
  by_name <- as_problem(y ~ ., data = panel)
  same_problem(as_problem(y ~ ., panel), by_name)
  expect_identical(greedy_rls(y ~ ., panel, k = 2, lambda = 1, size = 2)$problem$coding$response,
                   "y")
  expect_equal(coef(rls(y ~ a + b, panel)), coef(rls(y ~ a + b, data = panel)))
  expect_identical(cross_validate(y ~ a, panel, rls, outer = 3, lambda = 1)$problem$coding$response,
                   "y")
  expect_snapshot(error = TRUE, {
    as_problem(y ~ ., panel, data = panel)
    as_problem(y ~ a, as.matrix(panel["a"]))
  })
})

test_that("a formula removes the intercept as in lm()", {
  for (formula in list(y ~ 0 + a + b, y ~ a + sex - 1, y ~ -1 + sex + a, y ~ . - w - 1,
                       y ~ 0 + log(age) + a, y ~ (a + b) + 0, y ~ (0 + a) + b, y ~ a - 1 + b + 1,
                       y ~ sex * a - 1, y ~ 0 + offset(w) + a, y ~ a - 0)) {
    pb <- as_problem(formula, data = panel)
    linear <- lm(formula, panel)
    expect_setequal(c(pb$columns$name, if (pb$coding$intercept) "(Intercept)"),
                    names(coef(linear)))
    fit <- rls(pb, lambda = 1e-9)
    expect_equal(coef(fit)[names(coef(linear))], coef(linear), tolerance = 1e-6)
    expect_equal(unname(predict(fit, panel[1:3, ])), unname(predict(linear, panel[1:3, ])),
                 tolerance = 1e-6)
  }
  # the formula of a fit without intercept makes the fit again
  fit <- greedy_rls(y ~ . - w - 1, data = panel, k = 2, lambda = 1, size = 2)
  again <- rls(formula(fit), data = panel, lambda = 1e-9)
  expect_equal(coef(again)[selected(fit)], coef(lm(formula(fit), panel))[selected(fit)],
               tolerance = 1e-6)
  expect_true("(Intercept)" %in% names(coef(update(again, . ~ . + 1))))
})

test_that("weights and subset are expressions of variables in data, as in lm()", {
  some <- panel[panel$age > 45, ]
  pb <- as_problem(y ~ ., panel, weights = w, subset = age > 45)
  same_problem(pb, as_problem(y ~ age + sex + a + b, some, weights = some$w))
  fit <- rls(y ~ a + b, panel, weights = w^2, subset = age > 45, lambda = 1e-10, folds = "loo")
  expect_equal(coef(fit), coef(lm(y ~ a + b, panel, weights = w^2, subset = age > 45)),
               tolerance = 1e-6)
  run <- cross_validate(y ~ ., panel, rls, weights = w, subset = age > 45, lambda = 1, outer = 3)
  expect_identical(run$problem$rows$weight, some$w)
  expect_identical(run$problem$columns$name, pb$columns$name)
})

test_that("weights and subset that are no variables of data come from where the call was made", {
  own <- runif(40)
  call_it <- function(weights_here, rows_here) {
    as_problem(y ~ a, panel, weights = weights_here, subset = rows_here)
  }
  expect_identical(call_it(own, 1:30)$rows$weight, own[1:30])
  expect_identical(call_it(own, -1)$rows$weight, own[-1])
  named <- `row.names<-`(panel, paste0("s", 1:40))
  expect_identical(as_problem(y ~ a, named, subset = c("s3", "s1", "s9"))$rows$name,
                   c("s3", "s1", "s9"))
  missing <- replace(panel$age > 50, 2, NA)
  expect_identical(as_problem(y ~ a, panel, subset = missing)$rows$y[, 1], panel$y[which(missing)])
  passed <- function(...) cross_validate(y ~ a, panel, rls, lambda = 1, outer = 3, ...)
  expect_identical(passed(weights = own)$problem$rows$weight, own)
})

test_that("variables outside data follow subset and na.action", {
  y <- panel$y
  a <- gaps$a
  b <- panel$b
  pb <- as_problem(y ~ a + log(abs(b)), subset = b > 0, na.action = na.omit, weights = panel$w)
  rows <- which(b > 0 & !is.na(a))
  expect_identical(pb$rows$y[, 1], y[rows])
  expect_identical(unname(pb$x[, 2]), log(b[rows]))
  expect_identical(pb$rows$weight, panel$w[rows])
  covariates <- cbind(age = panel$age)
  pb <- as_problem(y ~ a, adjust = covariates, na.action = na.omit)
  expect_identical(unname(pb$z[, 2]), panel$age[!is.na(a)])
})

test_that("na.exclude leaves out rows, whose fitted values and residuals are NA as of lm()", {
  least <- lm(y ~ a + b, gaps, weights = panel$w, na.action = na.exclude)
  fit <- rls(y ~ a + b, gaps, weights = panel$w, na.action = na.exclude, lambda = 1e-9)
  expect_equal(fitted(fit), fitted(least), tolerance = 1e-6)
  expect_equal(residuals(fit), residuals(least), tolerance = 1e-6)
  expect_equal(weights(fit), weights(least))
  expect_identical(na.action(fit), na.action(least))
  omitted <- rls(y ~ a + b, gaps, weights = panel$w, na.action = na.omit, lambda = 1e-9)
  expect_equal(coef(omitted), coef(fit))
  expect_equal(fitted(fit)[-na.action(fit)], fitted(omitted))
  expect_true(verify(fit, gaps)$ok)
  shown <- generics::augment(fit, gaps)
  expect_equal(shown$.fitted, unname(fitted(least)), tolerance = 1e-6)
  expect_identical(shown$a, gaps$a)
  expect_identical(generics::augment(omitted, gaps)$a, gaps$a[-3])
  # by a matrix, with two responses, and in part
  x <- as.matrix(gaps[c("a", "b")])
  y <- cbind(u = gaps$y, v = gaps$y^2)
  several <- rls(x, y, na.action = na.exclude, lambda = 1e-9)
  expect_equal(fitted(several), fitted(lm(y ~ x, na.action = na.exclude)), tolerance = 1e-6,
               ignore_attr = TRUE)
  chosen <- greedy_rls(y ~ a + b, gaps, subset = 2:30, na.action = "na.exclude", k = 2, size = 2,
                       lambda = 1e-9)
  part <- lm(y ~ a + b, gaps, subset = 2:30, na.action = na.exclude)
  expect_equal(residuals(chosen), residuals(part), tolerance = 1e-6)
  expect_length(residuals(chosen, "held_out"), 29)
  some <- rls(as_problem(y ~ a + b, gaps, na.action = na.exclude)[, "b"], lambda = 1e-9)
  expect_identical(which(is.na(fitted(some))), na.action(some), ignore_attr = TRUE)
  expect_identical(na.action(as_problem(y ~ a + b, gaps, na.action = na.exclude)[1:9, ]), NULL)
  # rows of an x that is read in place have a weight of 0
  whole <- l1_path(float_matrix(as.matrix(panel["b"])), replace(panel$y, 4, NA), lambda = 1,
                   na.action = na.exclude)
  expect_identical(which(is.na(fitted(whole))), 4L, ignore_attr = TRUE)
  expect_length(fitted(whole), nrow(panel))
})

test_that("na.omit leaves out rows where a variable in use is missing, and says so", {
  complete <- gaps[-c(3, 7), ]
  generic <- if (requireNamespace("S4Vectors", quietly = TRUE)) S4Vectors::na.omit
  for (action in c(na.omit, "na.omit", generic)) {
    pb <- as_problem(y ~ ., gaps, na.action = action)
    same_problem(pb, as_problem(y ~ ., complete))
    expect_identical(unclass(na.action(pb)), c("3" = 3L, "7" = 7L))
  }
  expect_identical(dim(as_problem(y ~ b, gaps, na.action = na.omit)), c(40L, 1L))
  expect_identical(na.action(as_problem(y ~ b, gaps, na.action = na.omit)), NULL)
  by_age <- as_problem(y ~ b, gaps, adjust = ~ age, na.action = na.omit)
  expect_identical(nrow(by_age), 39L)
  weights <- replace(panel$w, 5, NA)
  expect_identical(nrow(as_problem(y ~ b, gaps, weights = weights, na.action = na.omit)), 39L)
  late <- as_problem(y ~ a, gaps, subset = 2:20, na.action = na.omit)
  expect_identical(names(na.action(late)), "3")
  expect_snapshot(error = TRUE, {
    as_problem(y ~ ., gaps)
    as_problem(y ~ ., gaps, na.action = na.fail)
    as_problem(y ~ ., gaps, na.action = na.pass)
    as_problem(as.matrix(panel["a"]), panel$y, subset = 1:5)
    as_problem(panel["a"], panel$y, na.action = na.omit)
    as_problem(y ~ a, panel, subset = age > 45, weights = 1:3)
    as_problem(y ~ a, panel, subset = "s77")
  })
  expect_snapshot(print(as_problem(y ~ ., gaps, na.action = na.omit)))
})

test_that("formula() of a fit is its model for other functions", {
  fit <- greedy_rls(y ~ ., panel, k = 3, lambda = 1e-9, adjust = ~ log(age), size = 2)
  chosen <- formula(fit)
  expect_equal(chosen, as.formula(paste("y ~ log(age) +", paste(sub("sexm", "sex", selected(fit)),
                                                                collapse = " + "))),
               ignore_attr = TRUE)
  expect_equal(unname(coef(fit)), unname(coef(lm(chosen, panel))), tolerance = 1e-6)
  expect_identical(formula(fit, size = 0), y ~ log(age), ignore_formula_env = TRUE)
  terms <- greedy_rls(log(age) ~ poly(b, 2) * sex + a, panel, k = 4, lambda = 1, size = 4)
  labels <- sub("sex:poly(b, 2)", "poly(b, 2):sex", attr(terms(terms), "term.labels"), fixed = TRUE)
  expect_setequal(labels, c("poly(b, 2)", "sex", "a", "poly(b, 2):sex"))
  plain <- greedy_rls(as.matrix(panel[5:6]), panel$y, k = 2, lambda = 1, size = 1,
                      intercept = FALSE)
  expect_identical(deparse(formula(plain)), sprintf("`panel$y` ~ 0 + %s", selected(plain)))
  path <- l1_path(y ~ ., panel)
  last <- path$path$lambda[nrow(path$path)]
  expect_setequal(all.vars(formula(path, lambda = last)),
                  c("y", sub("sexm", "sex", selected(path, lambda = last))))
})

test_that("formula() and terms() of a problem are those given, and follow its columns", {
  pb <- as_problem(y ~ . - w, panel, adjust = ~ age)
  expect_equal(formula(pb), y ~ . - w, ignore_attr = TRUE)
  expect_setequal(attr(terms(pb), "term.labels"), c("sex", "a", "b"))
  expect_equal(formula(pb[1:20, ]), y ~ . - w, ignore_attr = TRUE)
  expect_equal(formula(pb[, c("b", "a")]), y ~ b + a, ignore_attr = TRUE)
  expect_error(formula(as_problem(panel[5:6], panel$y)), "not made from a formula")
})

test_that("a formula keeps nothing large of where it was made", {
  make <- function() {
    large <- rnorm(1e5)
    shift <- 3
    as_problem(y ~ a + I(b + shift), panel)
  }
  pb <- make()
  expect_lt(length(serialize(pb$coding$formula, NULL)), 1e5)
  expect_equal(eval(quote(shift + 1), environment(formula(pb))), 4)
})

test_that("model.matrix() times coef() is predict(), for every kind of data", {
  x <- matrix(rnorm(200), 40, dimnames = list(paste0("r", 1:40), letters[1:5]))
  sparse <- Matrix::Matrix(x * (x > 0), sparse = TRUE)
  for (data in list(x, sparse, as.data.frame(x))) {
    pb <- as_problem(data, panel$y, adjust = panel["age"])
    fit <- greedy_rls(pb, k = 3, lambda = 1, size = 2)
    design <- model.matrix(fit, data, adjust = panel["age"])
    expect_identical(colnames(design), names(coef(fit)))
    expect_identical(colnames(design), variable.names(fit))
    expect_equal(as.vector(design %*% coef(fit)),
                 unname(predict(fit, data, adjust = panel["age"])))
    full <- model.matrix(pb)
    expect_identical(colnames(full), c("(Intercept)", "age", variable.names(pb)))
    expect_identical(rownames(full), rownames(x))
    expect_equal(unname(as.matrix(full[, -(1:2)])), unname(as.matrix(data)))
  }
  expect_s4_class(model.matrix(as_problem(sparse, panel$y)), "dgCMatrix")
  expect_error(model.matrix(fit), "keeps no data")
})

test_that("columns have the names that the user gave to variables, whatever the formula", {
  set.seed(31)
  d <- data.frame(`HLA-DRA` = rnorm(40), `Cer(d16:1/20:0)` = rnorm(40), check.names = FALSE)
  both <- names(d)
  d$y <- d[[1]] - d[[2]] + rnorm(40)
  d$`my site` <- factor(rep(c("u", "v"), 20))
  product <- paste(both, collapse = ":")
  pb <- as_problem(y ~ .^2, d[1:3])
  expect_identical(pb$columns$name, c(both, product))
  expect_identical(pb[, "HLA-DRA"]$columns$name, "HLA-DRA")
  expect_identical(as_problem(y ~ `my site` * `HLA-DRA`, d)$columns$name,
                   c("my sitev", "HLA-DRA", "my sitev:HLA-DRA"))
  fit <- greedy_rls(pb, size = 2, k = 3)
  expect_setequal(selected(fit), both)
  expect_identical(selected(greedy_rls(pb, start = "HLA-DRA", k = 2, size = 1)), "HLA-DRA")
  expect_identical(as_problem(y ~ .^2, d[1:3], penalty = c("HLA-DRA" = 0))$columns$penalty,
                   c(0, 1, 1))
  grouped <- as_problem(y ~ .^2, d[1:3], columns_group = list(g = both))
  expect_identical(grouped$columns$group, c(1L, 1L, 0L))
  asked <- as_problem(y ~ .^2, d[1:3], hierarchy = stats::setNames(list(both), product))
  expect_identical(asked$hierarchy$needs, 1:2)
  expect_identical(as_problem(y ~ .^2, d[1:3], hierarchy = "strong")$hierarchy$needs, 1:2)
  # formulas and new data still find the variables
  least <- lm(formula(fit, size = 3), d)
  expect_length(coef(least), 4)
  new <- cbind(as.matrix(d[5:6, both]), d[5:6, 1] * d[5:6, 2])
  colnames(new) <- pb$columns$name
  plain <- greedy_rls(pb$x, pb$rows$y[, 1], size = 2, k = 3)
  expect_equal(predict(fit, d[5:6, ]), predict(plain, new), ignore_attr = TRUE)
})

test_that("predict() gives the part of each term as lm() does", {
  set.seed(1)
  d <- data.frame(a = rnorm(60), b = rexp(60), c = rnorm(60), s = rep(letters[1:3], 20))
  d$y <- sin(2 * d$a) + log(d$b) + (d$s == "b") + rnorm(60) / 5
  fit <- rls(y ~ splines::ns(a, 3) + poly(b, 2) + c, d, adjust = ~s, lambda = 1e-9)
  linear <- predict(lm(y ~ s + splines::ns(a, 3) + poly(b, 2) + c, d), d[1:5, ], type = "terms")
  expect_equal(predict(fit, d[1:5, ], type = "terms"), linear, tolerance = 1e-6)
  chosen <- greedy_rls(y ~ splines::ns(a, 3) + poly(b, 2) + c, d, k = 2, size = 2)
  terms <- predict(chosen, d, type = "terms")
  expect_identical(colnames(terms), chosen$path$name[2:3])
  expect_equal(rowSums(terms) + attr(terms, "constant"), predict(chosen, d))
  expect_equal(dim(predict(chosen, d, type = "terms", size = 0)), c(60L, 0L))
  expect_error(predict(chosen, d, type = "terms", size = 1:2), "give one `size`",
               class = "sparsels_error_argument")
  machine <- kernel_rls(d[1:2], d$y, kernel = kernel_gaussian(1), lambda = 1)
  expect_error(predict(machine, d[1:2], type = "terms"), "one model of columns")
})

test_that("offset and adjust are expressions of variables in data, too", {
  by_term <- rls(y ~ a + offset(log(w)), panel, lambda = 1)
  expect_identical(coef(rls(y ~ a + b + offset(log(w)) - b, panel, lambda = 1)), coef(by_term))
  fit <- rls(y ~ a, panel, offset = log(w), lambda = 1)
  expect_identical(coef(fit), coef(by_term))
  expect_identical(predict(fit, panel), predict(by_term, panel))
  some <- rls(y ~ a, panel, offset = w, subset = age > 45, lambda = 1e-10)
  expect_equal(coef(some), coef(lm(y ~ a, panel, offset = w, subset = age > 45)), tolerance = 1e-6)
  outside <- log(panel$w)
  expect_equal(coef(rls(y ~ a, panel, offset = outside, lambda = 1)), coef(fit))
  adjusted <- greedy_rls(y ~ ., panel, adjust = sex, lambda = 1, size = 1)
  expect_identical(coef(adjusted), coef(greedy_rls(y ~ ., panel, adjust = ~ sex, lambda = 1,
                                                   size = 1)))
  expect_identical(predict(adjusted, panel), predict(adjusted, panel, adjust = panel["sex"]))
  for (method in list(rls, greedy_rls)) {
    run <- cross_validate(y ~ ., panel, method, offset = w, adjust = sex, lambda = 1, outer = 3)
    expect_identical(run$problem$rows$offset[, 1], panel$w)
    expect_identical(colnames(run$problem$z), c("(Intercept)", "sexm"))
  }
})

test_that("formula() of a problem and a fit has the offset", {
  fit <- greedy_rls(y ~ a + offset(log(w)) + b, panel, lambda = 1e-9, size = 2)
  expect_equal(formula(fit$problem), y ~ a + offset(log(w)) + b, ignore_attr = TRUE)
  expect_equal(coef(fit), coef(lm(formula(fit), panel))[names(coef(fit))], tolerance = 1e-6)
  pb <- as_problem(y ~ a + b, panel, offset = log(w))
  expect_equal(formula(pb[, "b"]), y ~ b + offset(log(w)), ignore_attr = TRUE)
})

test_that("update() changes the formula that was given, not the chosen model", {
  fit <- greedy_rls(y ~ . - w, panel, lambda = 1, size = 1)
  fewer <- update(fit, . ~ . - a)
  expect_identical(variable.names(fewer$problem), c("age", "sexm", "b"))
  expect_identical(fewer$path, greedy_rls(y ~ . - w - a, panel, lambda = 1, size = 1)$path)
  expect_identical(coef(update(fit, log(age) ~ . - age, size = 2)),
                   coef(greedy_rls(log(age) ~ . - w - age, panel, lambda = 1, size = 2)))
  kept <- update(rls(y ~ a + offset(w), panel), ~ . + b, lambda = 2)
  expect_identical(coef(kept), coef(rls(y ~ a + b + offset(w), panel, lambda = 2)))
  expect_identical(update(fit, size = 2, evaluate = FALSE),
                   quote(greedy_rls(x = y ~ . - w, data = panel, lambda = 1, size = 2)))
  within_function <- function() {
    hidden <- panel
    update(rls(y ~ a, hidden, lambda = 1), . ~ . + b)
  }
  expect_identical(coef(within_function()), coef(rls(y ~ a + b, panel, lambda = 1)))
  expect_snapshot(error = TRUE, {
    update(rls(panel["a"], panel$y), . ~ . + b)
    update(fit, "y ~ a")
  })
})

test_that("update() takes other data, wherever the call had the data", {
  half <- panel[1:20, ]
  wanted <- coef(rls(y ~ a + b, half, lambda = 1))
  model <- y ~ a + b
  expect_identical(coef(update(rls(y ~ a + b, panel, lambda = 1), data = half)), wanted)
  expect_identical(coef(update(rls(y ~ a + b, data = panel, lambda = 1), data = half)), wanted)
  expect_identical(coef(update(rls(model, panel, lambda = 1), data = half)), wanted)
  tested <- cross_validate(y ~ a + b, panel, rls, outer = 5, lambda = 1)
  expect_identical(nobs(update(tested, data = half)$fit), 20L)
  expect_error(rls(model, panel, data = half), "given twice", class = "sparsels_error_input")
})

test_that("formulas written for other functions are refused with what to write here", {
  twice <- stats::setNames(panel[c("y", "a", "b")], c("y", "a", "a"))
  expect_snapshot(error = TRUE, {
    greedy_rls(formula = y ~ ., data = panel)
    l1_path(formula = y ~ a, panel)
    cross_validate(formula = y ~ a, data = panel, method = rls)
    rls(panel$y ~ panel$a)
    rls(y ~ a + (1 | sex), panel)
    rls(y ~ a + (b | sex), panel)
    rls(y ~ . - nosuch, panel)
    rls(y ~ . - nosuch + log(a^2), panel)
    rls(y ~ a, as.matrix(panel["a"]))
    rls(y ~ a, Matrix::Matrix(1, 2, 2))
    predict(rls(y ~ big, transform(panel, big = a > 0)), data.frame(big = "TRUE"))
    rls(y ~ ., twice)
    rls(y ~ a, twice)
  })
  expect_equal(coef(rls(panel$y ~ a, panel)), coef(rls(y ~ a, panel)))
  x <- as.matrix(panel[c("a", "b")])
  expect_equal(unname(coef(rls(panel$y ~ x))), unname(coef(rls(y ~ a + b, panel))))
  expect_identical(names(coef(rls(y ~ b, cbind(panel, a = 1)))), c("(Intercept)", "b"))
})

test_that("dates, times and lists are refused with the way to numbers, in every place", {
  dated <- data.frame(panel[c("y", "a")], day = as.Date("2020-01-01") + 1:40)
  dated$wait <- as.difftime(1:40, units = "hours")
  dated$list <- as.list(1:40)
  expect_snapshot(error = TRUE, {
    rls(y ~ ., dated)
    rls(y ~ log(abs(a)) + wait, dated)
    rls(dated["list"], dated$y)
    rls(dated["a"], dated$day)
    predict(rls(y ~ a, dated), data.frame(a = dated$wait))
  })
  expect_equal(predict(rls(y ~ as.numeric(day), dated), dated[3:4, ]),
               predict(rls(y ~ day, transform(dated, day = as.numeric(day))),
                       transform(dated, day = as.numeric(day))[3:4, ]))
})

test_that("new data may be a list of variables, for every kind of prediction", {
  d <- transform(mtcars, kind = factor(cyl))
  d$M <- as.matrix(d[c("qsec", "drat")])
  variables <- as.list(d)
  for (f in list(mpg ~ wt + hp + kind, mpg ~ wt * hp, mpg ~ M + wt, factor(am) ~ wt + hp)) {
    for (fit in list(greedy_rls(f, d, size = 1), l1_path(f, d), rls(f, d),
                     kernel_rls(f, d, lambda = 1, kernel = kernel_linear()))) {
      expect_identical(unname(predict(fit, variables)), unname(predict(fit, d)))
    }
  }
  fit <- greedy_rls(mpg ~ wt + hp, d, size = 1)
  expect_equal(predict(fit, list(wt = 3, hp = 100)), predict(fit, data.frame(wt = 3, hp = 100)),
               ignore_attr = TRUE)
  expect_equal(predict(fit, variables, interval = "prediction"),
               predict(fit, d, interval = "prediction"), ignore_attr = TRUE)
  expect_equal(augment(fit, newdata = variables)$.fitted, augment(fit, newdata = d)$.fitted)
  expect_equal(deviance(fit, newdata = variables), deviance(fit, newdata = d))
  expect_error(predict(fit, list(wt = 1:3, hp = 1:2)), "3 of 'wt' and 2 of 'hp'",
               class = "sparsels_error_newdata")
  expect_error(predict(fit, list(hp = 3)), "lacks 1 needed column: 'wt'",
               class = "sparsels_error_newdata")
  expect_error(predict(fit, list(3, 100)), "must be a matrix or data frame")
})

test_that("model.frame() has the variables of the model, as of lm()", {
  d <- transform(mtcars, kind = factor(cyl))
  fit <- greedy_rls(log(mpg) ~ kind + poly(wt, 2) + offset(qsec / 100), d, k = 2,
                    size = 1)
  own <- model.frame(fit, d)
  expect_equal(own, model.frame(lm(formula(fit), d)), ignore_attr = TRUE)
  expect_named(model.frame(fit, d, size = 2), c("log(mpg)", "kind", "poly(wt, 2)",
                                                "offset(qsec/100)"), ignore.order = TRUE)
  expect_equal(model.response(own), log(d$mpg), ignore_attr = TRUE)
  expect_named(model.frame(rls(mpg ~ wt + hp, d), d), c("mpg", "wt", "hp"))
  expect_equal(formula(rls(mpg ~ wt + hp, d)), mpg ~ wt + hp, ignore_attr = TRUE)
  # a dot has its variables
  every <- rls(Species ~ ., iris)
  expect_equal(formula(every), Species ~ Sepal.Length + Sepal.Width + Petal.Length + Petal.Width,
               ignore_attr = TRUE)
  expect_equal(model.matrix(every, iris), model.matrix(Species ~ ., iris))
  expect_identical(names(model.frame(every, iris)), names(iris)[c(5, 1:4)])
  expect_named(model.frame(l1_path(mpg ~ wt + hp, d), d), c("mpg", "wt", "hp"))
  of_matrix <- greedy_rls(as.matrix(d[2:7]), d$mpg, size = 1)
  expect_named(model.frame(of_matrix, as.matrix(d[2:7])), selected(of_matrix))
  for (code in expression(model.frame(fit), model.frame(fit, d[1:2]), model.frame(fit$problem))) {
    expect_error(eval(code), class = "sparsels_error_input")
  }
})

test_that("update() has the formula that a function made", {
  fit_by <- function(name) greedy_rls(reformulate(name, "mpg"), mtcars, lambda = 1, size = 1)
  fit <- fit_by("wt")
  expect_identical(selected(update(fit, lambda = 2)), "wt")
  expect_identical(update(fit, lambda = 2)$lambda, 2)
})

test_that("a data set that was given as a value is asked for by update()", {
  fit <- do.call(greedy_rls, list(mpg ~ wt + hp, data = mtcars, size = 1))
  expect_error(update(fit, size = 2), "does not name its `data`.*update\\(fit, data = \\)",
               class = "sparsels_error_input")
  expect_identical(update(fit, size = 2, data = mtcars)$size, 2L)
  fit <- do.call(rls, list(as.matrix(mtcars[2:5]), mtcars$mpg))
  expect_error(update(fit, lambda = 1), "does not name its `x`", class = "sparsels_error_input")
  # R calls the arguments of a function around it ..1 and ..2
  fit <- (function(...) greedy_rls(...))(mpg ~ wt + hp, mtcars, lambda = 1, size = 1)
  expect_error(update(fit, size = 2), "does not name its `data`", class = "sparsels_error_input")
  expect_identical(update(fit, size = 2, data = mtcars)$size, 2L)
})

test_that("update() of a fit to a problem says that the problem is made again", {
  set.seed(1)
  d <- data.frame(a = rnorm(20), b = rnorm(20), y = rnorm(20))
  problem <- as_problem(y ~ ., d, weights = 1:20)
  fit <- rls(problem, lambda = 1)
  expect_error(update(fit, . ~ . - a), "update(fit, x = as_problem(y ~ . - a, data))", fixed = TRUE,
               class = "sparsels_error_input")
  again <- update(fit, x = as_problem(y ~ . - a, d, weights = 1:20))
  expect_identical(coef(again), coef(rls(y ~ b, d, weights = 1:20, lambda = 1)))
})

test_that("formulas with an offset or strata give the data of a fit again", {
  d <- transform(mtcars, time = mpg, kind = factor(am))
  fit <- greedy_rls(mpg ~ wt + hp + offset(qsec), d, size = 1)
  expect_true(verify(fit, mpg ~ wt + hp + offset(qsec), data = d)$ok)
  expect_s3_class(exchange(fit, mpg ~ wt + hp + offset(qsec), data = d), "exchange")
  expect_error(verify(fit, mpg ~ wt + hp + offset(drat), data = d), "data of the fit")
  skip_if_not_installed("survival")
  cox <- survival::Surv(time, vs) ~ wt + hp + strata(kind)
  fit <- l1_path(cox, d, loss = "cox", nlambda = 5)
  expect_true(verify(fit, cox, data = d)$ok)
})

test_that("the response is no variable of its own model", {
  d <- mtcars
  for (f in list(mpg ~ mpg + wt, mpg ~ mpg * wt, log(mpg) ~ log(mpg) + wt, `my y` ~ `my y` + wt,
                 `my y` ~ `my y` * wt)) {
    expect_error(as_problem(f, transform(d, `my y` = mpg, check.names = FALSE)),
                 "on the right side of the formula, too", class = "sparsels_error_input")
  }
  expect_identical(as_problem(log(mpg) ~ mpg, d)$columns$name, "mpg")
})

test_that("no rows of new data give no predictions, whatever a formula computes", {
  library(splines)
  d <- transform(mtcars, class = factor(am), share = am * 0.8 + 0.1)
  d$M <- as.matrix(d[c("qsec", "drat")])
  for (f in list(mpg ~ ns(wt, 3) + hp, mpg ~ cut(wt, c(1, 3, 6)), mpg ~ poly(wt, 2), mpg ~ M[, 1:2],
                 mpg ~ wt, class ~ wt + hp)) {
    for (fitter in c(greedy_rls, l1_path, rls)) {
      expect_length(predict(fitter(f, d), d[0, ]), 0L)
    }
  }
  expect_length(predict(l1_path(class ~ wt + hp, d, loss = "logistic"), d[0, ]), 0L)
  expect_length(predict(l1_path(share ~ wt + hp, d, loss = "binomial"), d[0, ]), 0L)
  expect_length(predict(l1_path(carb ~ wt + hp, d, loss = "poisson"), d[0, ]), 0L)
  fit <- rls(mpg ~ M[, 1:2] + wt, d)
  expect_equal(predict(fit, d[1, ]), predict(fit, d)[1])
  expect_error(predict(rls(mpg ~ wt + head(hp, 32), d), rbind(d, d)),
               "'head(hp, 32)' has 32 values for 64 rows of `newdata`", fixed = TRUE,
               class = "sparsels_error_input")
})

test_that("terms of survival's own models are refused with what to write here", {
  skip_if_not_installed("survival")
  d <- transform(survival::lung, id = inst)
  cluster <- survival::cluster
  frailty <- survival::frailty
  for (case in list(list(quote(cluster(id)), "`groups`"),
                    list(quote(survival::cluster(id)), "`groups`"),
                    list(quote(frailty(id)), "`groups`"), list(quote(tt(age)), "time"),
                    list(quote(survival::pspline(age)), "ns\\(\\)"),
                    list(quote(age * strata(sex)), "itself"),
                    list(quote(te(age, sex)), "s\\(x, z\\)"),
                    list(quote(mgcv::s(age)), "without its package"))) {
    f <- as.formula(bquote(time ~ age + .(case[[1]])))
    expect_error(as_problem(f, d), case[[2]], class = "sparsels_error_input")
  }
  cluster <- function(x) x^2
  expect_identical(as_problem(time ~ age + cluster(age), d)$columns$name, c("age", "cluster(age)"))
  expect_error(as_problem(time ~ age | sex, d), "`groups = ~ sex`", class = "sparsels_error_input")
})

test_that("a cross-validation has the formula, the frame and the matrix of its fit", {
  cv <- cross_validate(mpg ~ wt + hp + qsec, mtcars, greedy_rls, outer = 3, k = 3)
  for (size in list(NULL, 2)) {
    expect_equal(formula(cv, size = size), formula(cv$fit, size = size))
    expect_equal(terms(cv, size = size), terms(cv$fit, size = size))
    expect_equal(model.frame(cv, mtcars, size = size), model.frame(cv$fit, mtcars, size = size))
    expect_equal(model.matrix(cv, mtcars, size = size), model.matrix(cv$fit, mtcars, size = size))
  }
  for (code in expression(model.frame(cv), model.matrix(cv), confint(cv), vcov(cv))) {
    expect_error(eval(code), class = "sparsels_error_input")
  }
})

test_that("weights and offset are named as groups, strata and covariates are", {
  set.seed(1)
  d <- data.frame(a = rnorm(30), b = rnorm(30), w = runif(30), size = runif(30))
  d$y <- d$a + rnorm(30)
  x <- as.matrix(d[c("a", "b")])
  weighted <- as_problem(x, d$y, weights = d$w)
  shifted <- as_problem(x, d$y, offset = log(d$size))
  same <- function(problem, as) {
    expect_identical(problem$columns$name, c("a", "b"))
    expect_equal(problem$rows$weight, as$rows$weight)
    expect_equal(problem$rows$offset, as$rows$offset)
  }
  by_name <- "w"
  same(as_problem(x, d$y, data = d, weights = "w"), weighted)
  same(as_problem(x, d$y, data = d, weights = ~ w), weighted)
  same(as_problem(d[c("a", "b", "w")], d$y, weights = by_name), weighted)
  for (weights in list("w", by_name, ~ w)) {
    same(as_problem(y ~ . - size, d, weights = weights), weighted)
    same(as_problem(y ~ a + b, d, weights = weights, subset = 30:1)[30:1, ], weighted)
  }
  same(as_problem(x, d$y, data = d, offset = ~ log(size)), shifted)
  d$log_size <- log(d$size)
  same(as_problem(d[c("a", "b", "log_size")], d$y, offset = "log_size"), shifted)
  for (offset in list("log_size", ~ log_size)) {
    same(as_problem(y ~ . - w - size, d, offset = offset), shifted)
  }
  fit <- greedy_rls(y ~ . - w - size, d, offset = "log_size", k = 1, size = 1, lambda = 1)
  known <- greedy_rls(y ~ a + b + offset(log_size), d, k = 1, size = 1, lambda = 1)
  expect_equal(predict(fit, d[1:3, ]), predict(known, d[1:3, ]))
  # missing values of a named variable leave out their rows
  d$w[4] <- NA
  for (data in list(as_problem(x, d$y, data = d, weights = "w", na.action = na.omit),
                    as_problem(y ~ a + b, d, weights = "w", na.action = na.omit))) {
    expect_equal(data$rows$weight, d$w[-4])
  }
  expect_error(as_problem(x, d$y, weights = "w"), "`weights` is \"w\", but there is no `data`",
               class = "sparsels_error_input")
  expect_error(as_problem(y ~ a, d, offset = "v"), "`offset` is \"v\", which is not a column",
               class = "sparsels_error_input")
})

test_that("new values of another type or width are refused as lm() refuses them", {
  set.seed(12)
  d <- data.frame(a = rnorm(40), b = rnorm(40), l = runif(40) < 0.5)
  d$m <- matrix(rnorm(80), 40)
  d$y <- d$a * d$b + d$l * d$b + d$m[, 1] + rnorm(40) / 9
  fit <- greedy_rls(y ~ a * b + l:b + m, d, size = "criterion")
  new <- d[1:5, ]
  expected <- predict(fit, new)
  # model.matrix() makes several columns of text, which were taken for others by position
  for (value in list(as.character(new$a), factor(new$a))) {
    expect_error(predict(lm(y ~ a * b, d), replace(new, "a", list(value))))
    expect_error(predict(fit, replace(new, "a", list(value))), "'a' of `newdata` must be num",
                 class = "sparsels_error")
  }
  # functions of text are NA or of the numbers of its levels
  d$day <- as.Date("2020-01-01") + 1:40
  computed <- greedy_rls(y ~ I(a^2) + as.numeric(day) + b, d, size = 3, missing = "mean")
  of <- d[1:5, ]
  for (as_text in list(as.character, factor)) {
    expect_error(predict(computed, transform(of, a = as_text(a))), "'a' of `newdata` must be num",
                 class = "sparsels_error_input")
    expect_error(predict(computed, transform(of, day = as_text(day))), "of class 'Date'",
                 class = "sparsels_error_input")
  }
  wide <- narrow <- new
  wide$m <- cbind(new$m, 1)
  narrow$m <- new$m[, 1]
  expect_error(predict(fit, wide), "'m' has 3 columns in `newdata`, and 2",
               class = "sparsels_error_newdata")
  expect_error(predict(fit, narrow), "'m' has 1 column", class = "sparsels_error_newdata")
  expect_equal(predict(fit, transform(new, l = as.integer(l))), expected)
  expect_true(all(is.na(suppressWarnings(predict(fit, replace(new, "a", NA))))))
})

test_that("one new row is predicted as it is among others, whatever a formula computes", {
  set.seed(31)
  data <- data.frame(a = rnorm(30), b = rnorm(30))
  data$m <- matrix(rnorm(60), 30)
  data$y <- data$a + data$b^2 + rnorm(30) / 5
  for (formula in list(y ~ poly(a, b, degree = 2), y ~ poly(m, 2) + a,
                       y ~ I(rowSums(m[, 1:2])) + splines::ns(a, 3) * b)) {
    fit <- greedy_rls(formula, data, size = 4)
    expected <- predict(fit, data)
    expect_equal(vapply(1:3, function(i) unname(predict(fit, data[i, ])), 0), unname(expected[1:3]))
    expect_named(predict(fit, data[3, ]), names(expected)[3])
  }
})

test_that("a fit made under another name has the name of its function in the package", {
  fits <- lapply(list(greedy_rls, rls), function(m) m(as.matrix(mtcars[-1]), mtcars$mpg))
  expect_identical(lapply(fits, function(fit) fit$call[[1]]), list(quote(greedy_rls), quote(rls)))
  expect_identical(update(fits[[1]], k = 2, size = 2, evaluate = FALSE)[[1]], quote(greedy_rls))
  expect_true(verify(fits[[1]], as.matrix(mtcars[-1]), mtcars$mpg)$ok)
  expect_s3_class(suppressWarnings(judge(fits[[2]], as.matrix(mtcars[-1]), mtcars$mpg, outer = 3,
                                permutations = 0, pairs = 0, repeats = 0, proof = 0)), "judgement")
  rfe <- rls
  expect_identical(rfe(mpg ~ wt, mtcars)$call[[1]], quote(rls))
  expect_identical(sparsels::rls(mpg ~ wt, mtcars)$call[[1]], quote(sparsels::rls))
})

test_that("model.frame() of a fit names the data it needs where a problem is given", {
  pb <- as_problem(mpg ~ wt + hp, mtcars)
  expect_error(model.frame(rls(pb), pb), "columns and no variables", class = "sparsels_error_input")
})

test_that("a function is no variable of a formula, except as an argument", {
  d <- data.frame(y = sin(1:20), a = cos(1:20), b = rep(1:4, 5))
  expect_error(rls(y ~ a + time, d), "no variable 'time' in `data`", class = "sparsels_error_input")
  expect_error(rls(time ~ a, d), "no variable 'time' in `data`", class = "sparsels_error_input")
  expect_error(rls(y ~ a, d, groups = ~ time), "no variable 'time' in `data`",
               class = "sparsels_error_input")
  expect_warning(rls(y ~ ave(a, b, FUN = median), d), "depends on the other rows")
})

test_that("offsets, strata and numbers in parentheses and products are as in lm() and coxph()", {
  set.seed(1)
  d <- data.frame(y = rnorm(40), a = rnorm(40), b = rnorm(40), w = rnorm(40))
  new <- d[40:36, 4:2]
  for (formula in list(y ~ (a + b + offset(w)), y ~ a + (b + offset(w)),
                       y ~ a + ((b + (offset(w)))), y ~ (a + offset(w)) * b,
                       y ~ b + a * offset(w), y ~ (a + b + offset(w))^2,
                       y ~ (a + offset(w)) / b, y ~ a + offset(w) + offset(w), y ~ a + (b - 1),
                       y ~ a - (1), y ~ a + (0 + b + offset(w)))) {
    linear <- lm(formula, d)
    fit <- rls(formula, d, lambda = 1e-10)
    expect_equal(coef(fit)[names(coef(linear))], coef(linear), tolerance = 1e-6)
    expect_equal(predict(fit, new), predict(linear, new), tolerance = 1e-6)
    expect_equal(predict(update(fit, . ~ . + I(b^3)), new),
                 predict(update(linear, . ~ . + I(b^3)), new), tolerance = 1e-6)
    fit <- greedy_rls(formula, d, k = 1, size = "criterion", lambda = 1)
    expect_equal(exchange(fit, formula, data = d)[], exchange(fit, d)[])
    expect_true(verify(fit, formula, data = d)$ok)
  }
  for (formula in list(y ~ a - offset(w), y ~ a + (b - offset(w)), y ~ a + b - (b + offset(w)))) {
    expect_error(rls(formula, d), "takes offset() or strata() away", fixed = TRUE,
                 class = "sparsels_error_input")
  }
  expect_error(rls(y ~ a, d, adjust = ~ b + offset(w)), "give it as `offset = ~ w`",
               class = "sparsels_error_input")
  d$time <- rexp(40)
  d$g <- rep(1:2, 20)
  inside <- l1_path(survival::Surv(time) ~ a + (b + strata(g)), d, loss = "cox")
  plain <- l1_path(survival::Surv(time) ~ a + b + strata(g), d, loss = "cox")
  expect_identical(coef(inside), coef(plain))
})

test_that("a matrix that model.frame() does not take is given as x", {
  x <- matrix(sin(1:40), 20)
  y <- 1:20
  for (variable in list(Matrix::Matrix(x, sparse = TRUE), float_matrix(x))) {
    expect_error(rls(y ~ variable), "`variable` is an object of class '.*': give it as `x`",
                 class = "sparsels_error_input")
    expect_error(rls(y ~ log(variable) + x), "give it as `x`", class = "sparsels_error_input")
  }
})
