# judge() and report(): the parts are those of the functions called alone, whatever else is asked.

judged_data <- function(m = 40, n = 30) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("gene", seq_len(n))))
  list(x = x, y = x[, 3] - x[, 8] + rnorm(m))
}

few <- function(...) {
  judge(..., k = 3, size = "criterion", refit = FALSE, outer = 4, permutations = 19, pairs = 4,
        repeats = 2, keep = 3, claims = 12)
}

test_that("every part is that of its function", {
  set.seed(1)
  data <- judged_data()
  pb <- as_problem(data$x, data$y)
  judged <- few(pb, seed = 7)
  alone <- function(part, ...) {
    streams <- with_stream(seed_stream(7), task_streams(8L))
    with_stream(streams[[match(part, setdiff(names(part_words), "proof"))]], ...)
  }
  same <- function(value, expected) {
    value["call"] <- expected["call"] <- list(NULL)
    expect_identical(value, expected)
  }
  fit <- bare_rls(pb, k = 3)
  expect_identical(judged$fit$path, fit$path)
  expect_identical(judged$cross_validation$estimate,
                   cross_validate(pb, bare_rls, k = 3, outer = judged$folds)$estimate)
  same(judged$permutation, alone("permutation", permutation_test(
    pb, greedy_rls, k = 3, size = "criterion", refit = FALSE, permutations = 19
  )))
  same(judged$stability, alone("stability", stability_selection(pb, greedy_rls, pairs = 4,
                                                                refit = FALSE)))
  alone_curve <- alone("learning_curve", learning_curve(
    pb, greedy_rls, k = 3, size = "criterion", refit = FALSE, repeats = 2
  ))
  same(judged$learning_curve, join_outer(alone_curve, judged$cross_validation))
  # the outer error is one more point of the curve
  expect_equal(judged$learning_curve$outer$estimate, judged$error$estimate)
  rows <- c(10, 20, 30, 36)
  errors <- rbind(c(3, 2, 1.8, 1.5))
  expect_equal(fit_power_law(rows, errors, count = c(1, 1, 1, 2)),
               fit_power_law(rows[c(1:4, 4)], errors[, c(1:4, 4), drop = FALSE]))
  found <- exchange(judged$fit, pb, keep = 3)
  columns <- c("drop", "add", "criterion")
  expect_identical(judged$exchange[, columns], found[, columns])
  expect_true(judged$verification$ok)
  expect_identical(nrow(judged$verification$claims), 12L)

  chosen <- selected(judged$fit)
  expect_identical(judged$features$name, chosen)
  expect_identical(judged$features$probability, unname(judged$stability$probability[chosen]))
  without <- vapply(chosen, function(name) {
    found$criterion[found$drop %in% name & is.na(found$add)]
  }, 0)
  own <- found$criterion[is.na(found$drop) & is.na(found$add)]
  expect_equal(judged$features$dropped, unname(without) / own, tolerance = 1e-14)
  swaps <- found[!is.na(found$drop) & !is.na(found$add), ]
  best <- swaps[match(chosen, swaps$drop), ]
  expect_identical(judged$features$substitute, best$add)
  expect_equal(judged$features$swapped, best$criterion / own, tolerance = 1e-14)
})

test_that("every part has its words", {
  expect_identical(names(part_sentences), names(part_words))
  expect_identical(names(part_methods), names(part_words))
  expect_identical(names(part_titles), setdiff(names(part_words), c("proof", "verification")))
})

test_that("the seed alone decides, whatever is left out, and R's generator is left as it was", {
  set.seed(2)
  data <- judged_data()
  state <- .Random.seed
  whole <- few(data$x, data$y, seed = 3)
  expect_identical(.Random.seed, state)
  again <- few(data$x, data$y, seed = 3)
  expect_identical(again, whole)
  part <- judge(data$x, data$y, greedy_rls, k = 3, size = "criterion", refit = FALSE, outer = 0,
                permutations = 19, pairs = 0, repeats = 0, keep = 0, proof = 0, claims = 0,
                seed = 3)
  expect_identical(part$permutation, whole$permutation)
  expect_null(part$error)
  expect_identical(names(part$left_out), setdiff(names(part_words), "permutation"))
  expect_true(all(part$left_out == "not requested"))
  expect_identical(part$features$name, whole$features$name)
  expect_true(all(is.na(part$features[c("probability", "dropped", "substitute", "swapped")])))
  set.seed(5)
  drawn <- few(data$x, data$y)
  expect_identical(few(data$x, data$y, seed = drawn$seed)$permutation, drawn$permutation)
})

test_that("a fit is judged by the method and arguments of its call", {
  set.seed(3)
  data <- judged_data()
  pb <- as_problem(data$x, data$y)
  most <- 3
  fit <- greedy_rls(pb, k = most, size = "criterion", refit = FALSE)
  of_fit <- judge(fit, pb, outer = 4, permutations = 19, pairs = 4, repeats = 2, keep = 3,
                  claims = 12, seed = 7)
  of_data <- few(pb, seed = 7)
  for (part in setdiff(names(part_words), c("exchange", "proof", "verification"))) {
    expect_identical(of_fit[[part]], of_data[[part]], label = part)
  }
  expect_identical(of_fit$features, of_data$features)
  expect_identical(of_fit$fit, fit)
  for (given in list(list(data$x), list(data$x, data$y))) {
    again <- do.call(judge, c(list(fit), given, list(outer = 4, permutations = 0, pairs = 0,
                                                     repeats = 0, proof = 0, claims = 0,
                                                     seed = 7)))
    expect_identical(again$error$null, of_fit$error$null)
    expect_identical(dim(again$fit$problem), dim(fit$problem))
  }
  most <- 4
  expect_snapshot({
    refusal(judge(fit, pb))
    rm(most)
    refusal(judge(fit, pb))
    refusal(judge(fit, as_problem(data$x, rev(data$y))))
    refusal(judge(fit, as_problem(data$x[, -1], data$y)))
    refusal(judge(fit))
    refusal(judge(fit, data$x[, -1]))
    refusal(judge(pb, permutations = -1))
    refusal(judge(pb, seed = 1.5))
    refusal(judge(pb, groups = 1:3))
    refusal(judge(pb, nonsense = 1))
    refusal(judge(pb, outer = 1))
  })
})

test_that("intervals: Wilson's for error rates, t for other measures", {
  for (case in list(c(0, 20), c(3, 20), c(20, 20), c(7, 62))) {
    expected <- suppressWarnings(stats::prop.test(case[1], case[2], correct = FALSE)$conf.int)
    expect_equal(wilson_interval(case[1] / case[2], case[2]), as.vector(expected))
  }
  set.seed(4)
  data <- judged_data()
  only_error <- function(...) {
    judge(..., k = 2, size = "criterion", refit = FALSE, outer = 5, permutations = 0, pairs = 0,
          repeats = 0, keep = 0, claims = 0, seed = 1)
  }
  judged <- only_error(data$x, data$y)
  estimate <- judged$cross_validation$estimate
  expect_equal(c(judged$error$lower, judged$error$upper), pmax(
    estimate[["mean"]] + c(-1, 1) * stats::qt(0.975, 4) * estimate[["se"]], 0
  ))
  expect_identical(judged$error$null, judged$cross_validation$curves$majority[1])

  # of repeated folds those of one partition count
  pb <- as_problem(data$x, data$y)
  repeated <- judge(pb, k = 2, size = "criterion", refit = FALSE, permutations = 0, pairs = 0,
                    outer = make_folds(pb, 4, repeats = 2), repeats = 0, keep = 0, claims = 0)
  estimate <- repeated$cross_validation$estimate
  expect_equal(repeated$error$upper,
               estimate[["mean"]] + stats::qt(0.975, 3) * estimate[["se"]])

  # rows of weight 0 and 1, and groups, where inner folds measure the choices
  effective <- function(judged) {
    p <- judged$error$estimate
    p * (1 - p) / judged$error$se^2
  }
  inner <- list(k = 2, size_folds = 3, outer = 5, permutations = 0, pairs = 0, repeats = 0,
                keep = 0, claims = 0, seed = 1)
  by_inner <- function(...) do.call(judge, c(list(data$x, factor(data$y > 0), ...), inner))
  weighted <- by_inner(weights = rep(1:0, c(36, 4)))
  expect_equal(c(weighted$error$lower, weighted$error$upper), wilson_interval(
    weighted$error$estimate, effective(weighted), stats::qt(0.975, 35)
  ))
  groups <- rep(1:10, each = 4)
  grouped <- by_inner(groups = groups)
  expect_equal(c(grouped$error$lower, grouped$error$upper), wilson_interval(
    grouped$error$estimate, effective(grouped), stats::qt(0.975, 9)
  ))
  expect_true(all(tapply(grouped$folds$ids, groups, function(ids) length(unique(ids))) == 1))
  pb <- as_problem(data$x, data$y)
  alone <- judge(pb, lambda = 1, folds = make_folds(pb, 4, groups = groups), groups = FALSE,
                 permutations = 9, outer = 0, pairs = 0, repeats = 0, keep = 0, claims = 0,
                 seed = 1)
  expect_identical(alone$permutation$permuted, "responses")
})

test_that("what a method cannot do is left out and said, and an error leaves the other parts", {
  set.seed(5)
  data <- judged_data(30, 9)
  machine <- judge(data$x, data$y, rls, lambda = c(1, 10), outer = 3, repeats = 2, claims = 5,
                   seed = 1)
  expect_setequal(names(machine$left_out), c("permutation", "stability", "exchange", "proof"))
  expect_true(machine$verification$ok)
  count <- 0
  fails <- function(problem, k = 2) {
    count <<- count + 1
    if (count == 9) stop("out of luck")
    greedy_rls(problem, k = k, lambda = 1, size = "criterion")
  }
  expect_warning(
    judged <- judge(data$x, data$y, fails, outer = 3, permutations = 9, pairs = 3, repeats = 2,
                    claims = 3, seed = 1),
    "left out: the permutation test, by an error: permutation 3: out of luck",
    class = "sparsels_warning_part"
  )
  expect_identical(names(judged$left_out), "permutation")
  expect_false(is.null(judged$stability))
  none <- greedy_rls(data$x, data$y, k = 2, size = 0)
  nothing <- judge(none, as_problem(data$x, data$y), outer = 3, permutations = 9, pairs = 2,
                   repeats = 2, claims = 3, seed = 1)
  expect_identical(nothing$left_out, c(exchange = "the fit has chosen no feature",
                                       proof = "the fit has chosen no feature"))
  expect_identical(nrow(nothing$features), 0L)
  expect_snapshot({
    machine
    nothing
  })
})

test_that("Ctrl-C keeps the parts done", {
  set.seed(6)
  data <- judged_data(30, 9)
  for (stop_at in c(1, 3, 9)) {
    count <- 0
    stops <- function(problem, k = 2) {
      count <<- count + 1
      if (count == stop_at) raise_interrupt()
      greedy_rls(problem, k = k, lambda = 1, size = "criterion")
    }
    run <- quote(judge(data$x, data$y, stops, outer = 3, permutations = 9, pairs = 3, repeats = 2,
                       claims = 3, seed = 1))
    if (stop_at < 9) {
      expect_identical(tryCatch(eval(run), interrupt = function(e) "stopped"), "stopped")
      next
    }
    expect_warning(judged <- eval(run), class = "sparsels_interrupted")
    expect_identical(judged$status, "interrupted")
    expect_null(judged$stability)
    expect_identical(judged$left_out[["stability"]], "interrupted")
    expect_identical(judged$permutation$status, "interrupted")
    expect_length(judged$permutation$null, 2L)
    expect_identical(judged$cross_validation$status, "complete")
  }
})

test_that("an interrupted cross-validation counts the rows held out", {
  set.seed(10)
  data <- judged_data(30, 9)
  stopped <- function(y, at) {
    count <- 0
    stops <- function(problem, k = 2) {
      count <<- count + 1
      if (count == at) raise_interrupt()
      greedy_rls(problem, k = k, lambda = 1, size = "criterion")
    }
    suppressWarnings(judge(data$x, y, stops, outer = 3, seed = 1), "sparsels_interrupted")
  }
  # the first call is that of the fit, the second that of cross_validate()
  one <- stopped(data$y, 4)
  expect_identical(nrow(one$cross_validation$folds), 1L)
  expect_true(is.na(one$error$lower) && is.finite(one$error$estimate))
  expect_output(print(one), "on new rows, by fits to 20 of 30 rows; null\\s+model")
  two <- stopped(factor(data$y > 0), 5)
  p <- two$error$estimate
  expect_equal(c(two$error$lower, two$error$upper),
               wilson_interval(p, p * (1 - p) / two$error$se^2, stats::qt(0.975, 1)))
})

test_that("what is printed, drawn, tidied and reported", {
  set.seed(7)
  data <- judged_data()
  judged <- few(data$x, data$y, seed = 7)
  classed <- few(data$x, factor(ifelse(data$y > 0, "ill", "well")), seed = 8)
  expect_snapshot({
    judged
    print(classed, n = 1)
    cat(gsub("([.;]) ", "\\1\n", methods_paragraph(classed)))
  }, transform = function(lines) gsub("[0-9]+[.][0-9]+[.][0-9]+", "<version>", lines))
  before <- graphics::par("mfrow", "mar")
  expect_identical(plot(judged), judged)
  expect_identical(graphics::par("mfrow", "mar"), before)
  expect_identical(tidy(judged), judged$features)
  told <- glance(judged)
  expect_identical(told$p.value, judged$permutation$p.value)
  expect_identical(told$estimate, judged$error$estimate)
  nothing <- judge(data$x, data$y, k = 1, size = 1, outer = 0, permutations = 0, pairs = 0,
                   repeats = 0, keep = 0, claims = 0)
  expect_error(plot(nothing), class = "sparsels_error_input")

  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  page <- tempfile(fileext = ".html")
  writeLines("a page of others", page)
  expect_error(report(classed, page), "is there already", class = "sparsels_error_input")
  expect_identical(report(classed, page, title = "A page", overwrite = TRUE), normalizePath(page))
  text <- read_page(page)
  for (words in c("<h1[^>]*>A page</h1>", classed$features$name, "seed 8", "95\\s+%\\s+interval",
                  "Linear\\s+Time\\s+Feature\\s+Selection")) {
    expect_match(text, words)
  }
  expect_identical(lengths(gregexpr("<img ", text)), 5L)
  expect_snapshot({
    refusal(report(judged, "page.pdf"))
    refusal(report(judged, "no/such/folder.html"))
    refusal(report(judged$fit, page))
  })
})

test_that("a page shows names and titles as they are, and needs no part", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  set.seed(8)
  data <- judged_data(30, 9)
  odd <- c("g|<b>*`_1", "<script>x</script>", "a\\b&amp;", "$x^2$", "[l](u)", "~~s~~ \"q\"")
  colnames(data$x)[1:6] <- odd
  y <- rowSums(data$x[, 1:6])
  only <- function(...) {
    judge(..., outer = 0, permutations = 0, pairs = 0, repeats = 0, keep = 0, claims = 0, seed = 1)
  }
  page <- tempfile(fileext = ".html")
  page_of <- function(...) {
    suppressWarnings(report(..., page, overwrite = TRUE))
    read_page(page)
  }
  shown <- function(text) {
    marks <- c("&" = "&amp;", "<" = "&lt;", ">" = "&gt;", "\"" = "&quot;")
    for (mark in names(marks)) text <- gsub(mark, marks[[mark]], text, fixed = TRUE)
    text
  }
  text <- page_of(only(data$x, y, k = 6, size = 6), title = "\"a\": \\ <i> `c` # 1")
  for (words in shown(c(odd, "\"a\": \\ <i> `c` # 1"))) expect_match(text, words, fixed = TRUE)

  # a method of which no part is there, and one of the user
  expect_match(page_of(only(data$x, y, rls, lambda = 1)), "fitted by rls\\(\\)\\s+of\\s+the")
  own <- function(problem) greedy_rls(problem, k = 2, size = 2)
  expect_match(page_of(only(data$x, y, own)), "fitted by own\\(\\),\\s+and\\s+judged\\s+by")
  expect_match(page_of(only(data$x, y, function(problem) own(problem))), "method\\s+a function[.]")
})

test_that("what returns no fit of the package or takes no `k` leaves parts out by saying so", {
  set.seed(9)
  data <- judged_data(30, 9)
  few_of <- function(method, y = data$y, ...) {
    judge(data$x, y, method, ..., outer = 3, permutations = 9, pairs = 3, repeats = 2, claims = 3,
          seed = 1)
  }
  columns <- suppressWarnings(few_of(function(problem) 1:2), "sparsels_warning_part")
  expect_setequal(names(columns$left_out), names(part_words))
  fixed <- few_of(function(problem) greedy_rls(problem, k = 3, lambda = 1, size = 2))
  expect_identical(fixed$left_out, c(stability = "the method has no argument `k`"))
  machine <- few_of(fs_lssvm, factor(data$y > 0), kernel = kernel_gaussian(0.1), gamma = 1)
  expect_identical(machine$left_out[["permutation"]], "the method has no path of columns")
})

test_that("each chosen column has its direction and its mean in each class", {
  set.seed(1)
  x <- matrix(rnorm(60 * 12), 60)
  y <- factor(x[, 1] - x[, 2] + rnorm(60) / 2 > 0, labels = c("well", "ill"))
  j <- judge(x, y, seed = 1, outer = 3, permutations = 0, pairs = 0, repeats = 0, claims = 0)
  chosen <- j$features$feature
  spread <- apply(x[, chosen], 2, sd) * sqrt(59 / 60)
  expect_equal(j$features$effect, unname(coef(j$fit)[-1] * spread))
  expect_equal(j$features$mean.ill, colMeans(x[y == "ill", chosen]))
  expect_gt(j$features$effect[chosen == 1], 0)
  expect_lt(j$features$effect[chosen == 2], 0)
  # an end of an interval that is 0 or 1 is one
  expect_identical(wilson_interval(0, 23)[1], 0)
  expect_identical(wilson_interval(1, 23)[2], 1)
})

test_that("curves and pairs have no direction, and pairs the shares by their names", {
  set.seed(2)
  d <- data.frame(a = runif(120, -2, 2), b = rnorm(120), c = rnorm(120), g = rnorm(120))
  d$y <- factor(ifelse(2 * d$a * d$b + d$c^2 + d$g + rnorm(120) / 3 > 1, "ill", "well"))
  problem <- as_problem(y ~ s(c) + a + b + g, d, interactions = TRUE)
  j <- judge(problem, k = 5, size = 5, lambda = 1, refit = FALSE, seed = 1, outer = 0, pairs = 4,
             permutations = 0, repeats = 0, proof = 0, claims = 0, keep = 0)
  features <- j$features
  pair <- grepl(" x ", features$name)
  expect_true(any(pair) && all(c("c", "g") %in% features$name))
  expect_identical(is.na(features$effect), pair | features$name == "c")
  expect_identical(is.na(features$mean.ill), pair)
  shares <- j$stability$probability
  # some pair of the fit has another place in the halves, or none
  expect_false(identical(names(shares)[features$feature], features$name))
  known <- features$name %in% names(shares)
  expect_equal(features$probability[known], unname(shares[features$name[known]]))
  expect_true(all(features$probability[!known] == 0))
  printed <- capture.output(print(j))
  expect_false(any(grepl("NA", printed)))
})

test_that("a fit whose call draws folds is judged", {
  set.seed(1)
  x <- matrix(rnorm(240), 40)
  y <- x[, 1] + rnorm(40)
  problem <- as_problem(x, y)
  ask <- function(fit) {
    suppressWarnings(judge(fit, problem, seed = 1, outer = 3, permutations = 0, pairs = 0,
                           repeats = 0, claims = 0))
  }
  own <- make_folds(40, 4)
  for (fit in list(l1_path(x, y, folds = 4, nlambda = 5), greedy_rls(x, y, k = 2, folds = 4),
                   greedy_rls(x, y, k = 2,
                              size_folds = make_folds(40, 5, groups = rep(1:20, 2))),
                   l1_path(x, y, folds = own, nlambda = 5))) {
    expect_identical(ask(fit)$fit$size, fit$size)
  }
  own <- make_folds(40, 4)
  expect_error(ask(fit), "the call of the fit makes another one now")
})

test_that("report() does not write into a folder, and works inside a document", {
  set.seed(1)
  x <- matrix(rnorm(600), 60)
  judged <- judge(x, x[, 1] + rnorm(60), k = 2, lambda = 1, size = "criterion", outer = 3,
                  permutations = 0, pairs = 0, repeats = 0, progress = FALSE)
  folder <- tempfile(fileext = ".html")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  expect_error(report(judged, file.path(folder, "new.html"), overwrite = "no"), "`overwrite`",
               class = "sparsels_error_argument")
  expect_error(report(judged, folder, overwrite = TRUE), "not the folder",
               class = "sparsels_error_input")
  expect_identical(dir(folder), character())
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  page <- file.path(folder, "inner.html")
  expect_error(with_binding("bytes_written", function(path) 0, report(judged, page)),
               "is there space", class = "sparsels_error_input")
  outer <- file.path(folder, "outer.Rmd")
  writeLines(c("---", "title: Outer", "---", "```{r setup}", "x <- 1", "```", "```{r pictures}",
               "report(judged, page)", "report(judged, page, overwrite = TRUE)", "```"), outer)
  rmarkdown::render(outer, quiet = TRUE, envir = environment())
  expect_setequal(dir(folder), c("inner.html", "outer.Rmd", "outer.html"))
})

test_that("errors relative to an error of nearly 0 print in a few digits", {
  set.seed(1)
  x <- cbind(sep = rep(0:1, each = 10), a = rnorm(20), b = rnorm(20))
  judged <- judge(x, factor(rep(c("a", "b"), each = 10)), k = 2, seed = 1, outer = 3,
                  permutations = 0, pairs = 0, repeats = 0, claims = 0)
  expect_gt(judged$features$dropped, 1e10)
  expect_output(print(judged), "sep +[0-9.]+e[+]")
  expect_identical(judged$error$lower, 0)
})

test_that("near seeds have streams that are unlike", {
  drawn <- function(seed) with_stream(seed_stream(seed), stats::runif(50))
  draws <- vapply(0:200, drawn, numeric(50))
  expect_identical(drawn(7), draws[, 8])
  expect_lt(max(abs(stats::cor(draws)[upper.tri(diag(201))])), 0.65)
  expect_gt(min(abs(apply(draws, 1, diff))), 0)
  expect_gt(stats::ks.test(draws[1, ], "punif")$p.value, 0.01)
})

test_that("columns that are chosen together are one row of the printed features", {
  set.seed(3)
  d <- data.frame(f = factor(sample(letters[1:4], 80, TRUE)), a = rnorm(80), b = rnorm(80))
  d$y <- as.integer(d$f) + d$a + rnorm(80)
  judged <- judge(y ~ ., d, seed = 1, k = 2, size = 2, permutations = 0, pairs = 0, repeats = 0,
                  proof = 0, claims = 0, outer = 4)
  expect_identical(nrow(judged$features), 4L)
  of_f <- judged$features$effect[judged$features$name != "a"]
  lines <- capture.output(print(judged))
  expect_match(lines, "^2 terms \\(4 columns\\) chosen:$", all = FALSE)
  range <- sprintf("%+.3g to %+.3g", min(of_f), max(of_f))
  expect_match(lines, paste0("^ *f \\(3\\) .*", gsub("+", "\\+", range, fixed = TRUE), "$"),
               all = FALSE)
  expect_no_match(lines, "^ *fb ")
})

test_that("a learning curve of one repeat has no band", {
  set.seed(4)
  x <- matrix(rnorm(60 * 4), 60)
  judged <- judge(x, x[, 1] + rnorm(60), rls, outer = 0, permutations = 0, pairs = 0, claims = 0,
                  proof = 0, repeats = 1, seed = 1)
  forecast <- judged$learning_curve$forecast
  printed <- paste(trimws(capture.output(print(judged))), collapse = " ")
  expect_match(printed, sprintf("more samples: mean squared error %s with 60 rows, %s with 90 rows",
                                shown(forecast$error[1]), shown(forecast$error[2])), fixed = TRUE)
  expect_no_match(printed, "NA|band")
  file <- tempfile(fileext = ".html")
  report(judged, file)
  expect_no_match(paste(readLines(file), collapse = " "), "band holds")
})

# The problem of a Cox fit has events as its response, by which no column may be searched.
test_that("a Cox fit is judged as the method on its data", {
  set.seed(45)
  x <- matrix(rnorm(50 * 4), 50, dimnames = list(NULL, letters[1:4]))
  for (event in list(rep(1, 50), rbinom(50, 1, 0.8))) {
    times <- survival::Surv(rexp(50, exp(2 * x[, 1])), event)
    judge_few <- function(...) {
      judge(..., outer = 3, permutations = 9, pairs = 2, repeats = 0, keep = 0, proof = 0,
            claims = 0, seed = 1)
    }
    fit <- greedy_rls(x, times, loss = "cox")
    expect_silent(of_fit <- judge_few(fit, x, times))
    of_data <- judge_few(x, times, loss = "cox")
    expect_equal(of_fit$permutation$by_size, of_data$permutation$by_size)
    expect_equal(of_fit$stability$probability, of_data$stability$probability)
    expect_equal(of_fit$cross_validation$summary, of_data$cross_validation$summary)
    # a column on which the hazard depends as strongly is found by no permutation
    expect_equal(of_fit$permutation$p.value, 1 / 10)
    path <- greedy_rls(x, times, size = "criterion", refit = FALSE)$path
    expect_equal(of_fit$permutation$by_size$statistic, path$criterion / path$criterion[1])
  }
})

test_that("the page has the numbers of the table in any unit, and the names of classes", {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available())
  set.seed(3)
  x <- matrix(rnorm(80), 40, dimnames = list(NULL, c("<b>a", "100%")))
  y <- x[, 1] + rnorm(40) / 9
  # the table of the page as a matrix of text, header first
  table_of <- function(y) {
    judged <- judge(x, y, size = 1, outer = 0, permutations = 0, pairs = 0, repeats = 0, keep = 0,
                    claims = 0, seed = 1)
    page <- report(judged, tempfile(fileext = ".html"))
    text <- sub(".*<table[^>]*>(.*?)</table>.*", "\\1", gsub("\n", "", read_page(page)))
    rows <- strsplit(text, "</tr>", fixed = TRUE)[[1L]][1:2]
    cells <- lapply(strsplit(rows, "</t[hd]>"), function(row) trimws(gsub("<[^>]*>", "", row)))
    stats::setNames(cells[[2L]], cells[[1L]])
  }
  slope <- coef(lm(y ~ x[, 1]))[[2L]] * sqrt(mean((x[, 1] - mean(x[, 1]))^2))
  for (unit in c(1e-12, 1, 1e9)) {
    shown <- table_of(y * unit)
    expect_identical(shown[["name"]], "&lt;b&gt;a")
    expect_equal(as.numeric(shown[["effect"]]), slope * unit, tolerance = 0.02)
  }
  class <- factor(ifelse(y > 0, "<ill>", "50% |ok|"))
  shown <- table_of(class)
  expect_equal(as.numeric(shown[["mean.&lt;ill&gt;"]]), mean(x[class == "<ill>", 1]),
               tolerance = 0.006)
  expect_equal(as.numeric(shown[["mean.50% |ok|"]]), mean(x[class != "<ill>", 1]),
               tolerance = 0.006)
})

test_that("a permutation test that does not apply is left out with its reason, without a warning", {
  set.seed(25)
  x <- matrix(rnorm(360), 60, dimnames = list(NULL, letters[1:6]))
  for (y in list(gl(2, 1, 60, c("no", "yes")), survival::Surv(rexp(60), rep(1, 60)))) {
    pb <- as_problem(x, y, adjust = rnorm(60))
    expect_no_warning(page <- judge(l1_path(pb, folds = 3), pb, outer = 3, permutations = 3,
                                    pairs = 0, repeats = 0, proof = 0, claims = 0))
    expect_match(page$left_out[["permutation"]], "residuals are permuted, which are no")
    expect_error(permutation_test(pb, l1_path, permutations = 3), "residuals are permuted",
                 class = "sparsels_error_argument")
  }
})

test_that("folds of a fit are no groups in words, and a ranking has no learning curve", {
  set.seed(41)
  x <- matrix(rnorm(160), 40)
  y <- x[, 1] + rnorm(40)
  fit <- l1_path(x, y, folds = rep(1:8, 5))
  quick <- function(...) {
    expect_no_warning(found <- judge(..., permutations = 0, pairs = 0, repeats = 2, claims = 0,
                                     proof = 0))
    capture.output(print(found))
  }
  expect_match(paste(quick(fit, x, y), collapse = " "), "8 sets of rows kept whole as in `folds`",
               fixed = TRUE)
  expect_identical(cross_validate(x, y, l1_path, folds = rep(1:8, 5), outer = 4)$outer,
                   "4-fold, 8 sets of rows kept whole as in `folds`")
  few <- 1:16
  expect_match(cross_validate(x[few, ], y[few], l1_path, folds = rep(1:8, 2), outer = "loo")$outer,
               "leave-one-out")
  ranked <- greedy_rls(x, y, within = rep(1:8, 5))
  expect_match(quick(ranked, x), "left out: the learning curve (it does not support queries",
               fixed = TRUE, all = FALSE)
})
