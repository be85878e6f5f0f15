# Random fits of every method against retraining; tools/truth does many more, in more digits.

#' @srrstats {G5.6} `tests/testthat/test-truth.R`
#' @srrstats {G5.6a} with tolerances
test_that("no fit is off by more than six digits without a warning", {
  set.seed(90)
  errors <- vapply(problems_to_try(60, 40), function(i) {
    case <- truth_case()
    made <- truth_fit(case)
    if (made$warned) NA else truth_error(case, made, moves = 2)
  }, 0)
  expect_lt(max(errors, na.rm = TRUE), 1e6)
  expect_lt(mean(is.na(errors)), 0.1)
})
