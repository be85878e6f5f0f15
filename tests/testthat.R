library(testthat)
library(sparsels)

test_check("sparsels")
