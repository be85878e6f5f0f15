# A few of the strange arguments and edited objects that tools/fuzz tries, in this process.

#' @srrstats {G5.8b} `tests/testthat/test-fuzz.R`, `tests/testthat/test-messages-input.R`
skip_on_cran()

source("fuzz-values.R", local = TRUE)

world <- fuzz_world()

# the same draw in every run
drawn <- function(from, size) {
  set.seed(1)
  sample(from, size, replace = TRUE)
}

expect_no_trouble <- function(found) {
  expect(nrow(found) == 0L, paste(c("not refused by name:", paste0(found$call, "\n  ", found$what)),
                                  collapse = "\n"))
}

test_that("every exported function is called", {
  called <- vapply(fuzz_calls, function(call) as.character(call[[1L]]), "")
  exports <- mget(getNamespaceExports("sparsels"), asNamespace("sparsels"), inherits = TRUE)
  expect_identical(setdiff(names(Filter(is.function, exports)), called), character())
})

test_that("a strange argument is taken or refused by name", {
  places <- argument_places()
  values <- drawn(fuzz_values, nrow(places))
  found <- lapply(seq_along(values), function(i) {
    try_value(fuzz_calls[[places$call[i]]], places$argument[i], values[[i]], world)
  })
  expect_no_trouble(do.call(rbind, found))
})

test_that("an object with an edited field is used or refused by name", {
  places <- field_places(world)
  at <- drawn(seq_along(places$path), 60)
  edits <- drawn(names(fuzz_edits), 60)
  found <- lapply(seq_along(at), function(i) {
    try_edit(places$object[at[i]], places$path[[at[i]]], edits[i], world)
  })
  expect_no_trouble(do.call(rbind, found))
})
