# The searches, against twins written from the pseudo-code and on the usual test functions.

square <- function(half, d = 2) list(lower = rep(-half, d), upper = rep(half, d))

test_that("coupled annealing follows its pseudo-code", {
  for (case in list(list(d = 2, states = 5, inner = 3, heat = 1),
                    list(d = 1, states = 3, inner = 4, heat = 1),
                    list(d = 3, states = 4, inner = 20, heat = 50))) {
    box <- list(lower = -c(2, 3, 4)[1:case$d], upper = c(5, 1, 6)[1:case$d])
    start <- c(a = 1, b = -1, c = 0)[1:case$d]
    set.seed(1)
    found <- coupled_annealing(rastrigin, start, box, case$states * 41, case$states, case$inner,
                               case$heat)
    set.seed(1)
    tried <- oracle_annealing(of_one(rastrigin), start, box, 40, case$states, case$inner,
                              case$heat)
    expect_lt(relative_error(as.matrix(found$table), unname(tried)), 1e-9)
    expect_identical(names(found$table), c(names(start), "value"))
    expect_equal(found$value, min(tried[, case$d + 1]))
    expect_equal(unname(found$best), unname(tried[which.min(tried[, case$d + 1]), 1:case$d]))
    expect_identical(found$evaluations, as.integer(case$states * 41))
  }
})

test_that("a step within the box is a Cauchy step drawn until it is inside", {
  set.seed(2)
  box <- list(lower = c(-5, -1), upper = c(5, 3))
  x <- matrix(c(4.5, -1), 4000, 2, byrow = TRUE)
  steps <- cauchy_steps(x, 0.7, box)
  drawn <- x
  out <- rep(TRUE, nrow(x))
  while (any(out)) {
    drawn[out, ] <- x[out, ] + 0.7 * tan(pi * (matrix(runif(2 * sum(out)), ncol = 2) - 0.5))
    out <- drawn[, 1] < -5 | drawn[, 1] > 5 | drawn[, 2] < -1 | drawn[, 2] > 3
  }
  expect_true(all(t(steps) >= box$lower & t(steps) <= box$upper))
  expect_gt(ks.test(steps[, 1], drawn[, 1])$p.value, 0.01)
  expect_gt(ks.test(steps[, 2], drawn[, 2])$p.value, 0.01)
})

test_that("annealing finds the valleys of Rastrigin's function, and the simplex their floor", {
  box <- square(5.12)
  runs <- vapply(1:60, function(seed) {
    set.seed(seed)
    start <- runif(2, -5.12, 5.12)
    csa <- coupled_annealing(rastrigin, start, box, 1005)
    floor <- nelder_mead(rastrigin, csa$best, 200, box, tolerance = 1e-12)
    random <- min(rastrigin(matrix(runif(2010, -5.12, 5.12), ncol = 2)))
    c(csa = csa$value, floor = floor$value, random = random)
  }, numeric(3))
  middle <- apply(runs, 1, median)
  expect_lt(middle[["csa"]], 0.6)
  expect_lt(middle[["floor"]], 1e-9)
  expect_gt(middle[["random"]], 1)
  expect_true(all(runs["floor", ] < runs["csa", ]))
})

test_that("the simplex goes down Rosenbrock's valley", {
  textbook <- oracle_simplex(of_one(rosenbrock), c(-1.2, 1), 0.5, 1e-12)
  expect_length(textbook, 265)
  expect_equal(min(textbook), 5.68e-25, tolerance = 1e-3)
  found <- nelder_mead(rosenbrock, c(a = -1.2, b = 1), 1000, tolerance = 1e-12)
  expect_lt(found$value, 1e-9)
  expect_lte(found$evaluations, 265)
  expect_equal(unname(found$best), c(1, 1), tolerance = 1e-4)
  # the same first simplex
  expect_equal(as.matrix(found$table[1:3, 1:2]), cbind(a = c(-1.2, -0.7, -1.2), b = c(1, 1, 1.5)),
               ignore_attr = "dimnames")
  expect_equal(unname(found$table$value[1:3]), unname(textbook[1:3]))
  loose <- nelder_mead(rosenbrock, c(a = -1.2, b = 1), 1000)
  expect_lt(loose$evaluations, found$evaluations)
})

test_that("the simplex stays in the box and first goes away from its side", {
  box <- square(2)
  found <- nelder_mead(function(p) rowSums((p - 3)^2), c(a = 1.8, b = 0), 100, box)
  expect_equal(found$best, c(a = 2, b = 2))
  expect_equal(found$table$a[1:3], c(1.8, 1.3, 1.8))
  expect_equal(found$table$b[1:3], c(0, 0, 0.5))
  expect_lte(max(found$table[, 1:2]), 2)
  expect_warning(one <- nelder_mead(function(p) (p[, 1] - 0.3)^2, c(a = 0), 60), NA)
  expect_equal(one$best, c(a = 0.3), tolerance = 1e-3)
})

test_that("a grid is tried row by row of its first axis", {
  calls <- list()
  f <- function(points) {
    calls[[length(calls) + 1]] <<- points
    rosenbrock(points)
  }
  axes <- list(a = c(-1, 1, 3), b = c(0, 1))
  found <- grid_search(f, axes)
  expect_length(calls, 3)
  expect_equal(found$table$a, rep(axes$a, each = 2))
  expect_equal(found$table$b, rep(axes$b, 3))
  expect_equal(found$table$value, rosenbrock(as.matrix(found$table[, 1:2])))
  expect_equal(found$best, c(a = 1, b = 1))
  expect_identical(found$evaluations, 6L)
  single <- grid_search(function(p) abs(p[, 1] - 2), list(a = 1:4))
  expect_equal(single$best, c(a = 2))
  expect_equal(single$table$value, c(1, 0, 1, 2))
})

test_that("no search exceeds its budget", {
  for (budget in c(1, 2, 4, 5, 6, 11, 30)) {
    asked <- 0
    f <- function(points) {
      asked <<- asked + nrow(points)
      rastrigin(points)
    }
    csa <- coupled_annealing(f, c(3, 3), square(5), budget)
    expect_identical(asked, budget)
    expect_equal(csa$evaluations, budget)
    expect_identical(nrow(csa$table), csa$evaluations)
    expect_identical(csa$status, "complete")
    asked <- 0
    simplex <- nelder_mead(f, c(0.4, 0.4), budget, tolerance = 0)
    expect_identical(asked, budget)
    expect_equal(simplex$evaluations, budget)
  }
})

test_that("what is not finite is never the best while anything is", {
  holed <- function(points) {
    values <- rastrigin(points)
    values[points[, 1] < 0] <- NA
    values[points[, 2] < 0] <- -Inf
    values
  }
  set.seed(3)
  found <- coupled_annealing(holed, c(-1, -1), square(5), 200)
  expect_true(all(found$best >= 0))
  expect_equal(found$value, rastrigin(rbind(found$best)))
  expect_gt(sum(is.na(found$table$value)), 0)
  cliff <- function(p) ifelse(p[, 1] > 0.2, rowSums(p^2), NA)
  down <- nelder_mead(cliff, c(1.3, 1.4), 200)
  expect_equal(unname(down$best), c(0.2, 0), tolerance = 0.05)
  expect_true(anyNA(down$table$value))
  nothing <- function(points) rep(NaN, nrow(points))
  expect_identical(coupled_annealing(nothing, c(0, 0), square(5), 20)$evaluations, 20L)
  expect_lte(nelder_mead(nothing, c(0, 0), 20)$evaluations, 20)
  # equal values cool the acceptance until its temperature is nothing
  flat <- coupled_annealing(function(p) rep(1, nrow(p)), 0, square(1, 1), 5000, 3, heat = 1e-300)
  expect_identical(flat$value, 1)
})

test_that("set.seed() reproduces annealing, and the other searches draw nothing", {
  run <- function() {
    set.seed(4)
    coupled_annealing(rastrigin, c(1, 1), square(5), 53)
  }
  expect_identical(run(), run())
  set.seed(5)
  before <- .Random.seed
  nelder_mead(rastrigin, c(1, 1), 50)
  grid_search(rastrigin, list(a = 1:3, b = 1:3))
  expect_identical(.Random.seed, before)
})

test_that("Ctrl-C keeps what was tried", {
  stopping <- function(calls) {
    function(points) {
      calls <<- calls - 1
      if (calls < 0) raise_interrupt()
      rastrigin(points)
    }
  }
  set.seed(6)
  csa <- coupled_annealing(stopping(3), c(1, 1), square(5), 100)
  expect_identical(csa[c("evaluations", "status")], list(evaluations = 15L, status = "interrupted"))
  expect_identical(csa$value, min(csa$table$value))
  simplex <- nelder_mead(stopping(7), c(1.3, 1.2), 100)
  expect_identical(simplex$evaluations, 7L)
  grid <- grid_search(stopping(2), list(a = 1:3, b = 1:3))
  expect_identical(grid$evaluations, 6L)
  # with nothing to keep it is an interrupt like any other
  caught <- tryCatch(grid_search(stopping(0), list(a = 1:3)), interrupt = function(e) "caught")
  expect_identical(caught, "caught")
})
