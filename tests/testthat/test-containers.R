# Experiments of Bioconductor, matrices on disk, and names that are not unique.

set.seed(20)
genes <- matrix(round(rnorm(20 * 8), 2), 20, 8,
                dimnames = list(paste0("g", 1:20), paste0("s", 1:8)))
genes["g4", ] <- round(genes["g4", ] + c(0, 3), 2)
facts <- data.frame(group = rep(c("x", "y"), 4), age = c(30, 50, 41, 28, 33, 44, 52, 61),
                    row.names = colnames(genes))

needs <- function(...) for (package in c(...)) skip_if_not_installed(package)

experiment <- function(..., samples = facts) {
  needs("SummarizedExperiment")
  SummarizedExperiment::SummarizedExperiment(list(...), colData = S4Vectors::DataFrame(samples))
}

counts <- function() matrix(rpois(20 * 8, 40), 20, 8, dimnames = dimnames(genes))

# three experiments, the second with the samples in another order
several <- function(..., rna = experiment(counts = genes, logcounts = genes + 1)) {
  needs("MultiAssayExperiment")
  MultiAssayExperiment::MultiAssayExperiment(
    list(rna = rna, protein = genes[1:5, 8:1],
         methyl = methods::as(genes * (genes > 1), "dgCMatrix")), ...,
    colData = S4Vectors::DataFrame(facts)
  )
}

test_that("a SummarizedExperiment is transposed, its colData holds the response", {
  se <- experiment(counts = genes)
  pb <- as_problem(se, "group", adjust = ~ age)
  expect_identical(pb$x, t(genes))
  expect_identical(pb$coding$response, "group")
  expect_identical(pb$rows$name, colnames(genes))
  expect_identical(unname(pb$z), cbind(1, facts$age))
  expect_identical(new_data_matrix(pb, se[3:1, 2:3], c(3, 1)), t(genes)[2:3, c(3, 1)])
  expect_identical(unname(new_covariates(pb, se[, 2:3])), cbind(1, c(50, 41)))
  expect_identical(make_folds(se, "loo")$ids, matrix(1:8))
})

test_that("panels and augment() take new experiments and matrices of every kind", {
  se <- experiment(counts = genes)
  fit <- suppressMessages(greedy_rls(se, facts$age, adjust = ~ group, k = 2, lambda = 1, size = 1))
  none <- suppressMessages(greedy_rls(se, "age", k = 1, lambda = 1, size = 0))
  new <- se[, 1:3]
  for (one in list(fit, none)) expect_equal(predict(as_panel(one), new), predict(one, new))
  expect_equal(augment(fit, newdata = new),
               cbind(facts[1:3, ], .fitted = unname(predict(fit, new)), row.names = NULL))
  plain <- greedy_rls(t(genes), facts$age, k = 2, lambda = 1, size = 1)
  same <- augment(plain, newdata = t(genes)[1:3, ])
  expect_equal(augment(plain, newdata = Matrix::Matrix(t(genes)[1:3, ], sparse = TRUE)), same)
  expect_equal(augment(plain, newdata = float_matrix(t(genes)[1:3, ])), same, tolerance = 1e-6)
  expect_error(augment(plain, newdata = 1:3), "must be a matrix or data frame",
               class = "sparsels_error_argument")
})

test_that("matrices with a class of their own are the matrices that they are", {
  set.seed(21)
  x <- matrix(rpois(120, 4), 20, dimnames = list(NULL, letters[1:6]))
  y <- x[, 1] - x[, 4] / 2 + rnorm(20)
  series <- stats::ts(x, start = 2000, frequency = 4)
  methods <- list(greedy_rls, l1_path, rls, best_subset, scdp, forward_regression,
                  function(...) poss(..., iterations = 50))
  forms <- list(series, structure(x, class = "table"), I(x), noquote(x),
                structure(x, class = "counts"))
  for (at in seq_along(methods)) {
    method <- methods[[at]]
    of <- function(x, y, ...) {
      set.seed(22)
      suppressWarnings(method(x, y, ...))
    }
    plain <- of(x, y)
    for (form in seq_along(forms)) {
      given <- forms[[form]]
      fit <- of(given, stats::ts(y))
      expect_equal(fit$fitted, plain$fitted)
      expect_equal(predict(fit, given), predict(plain, x))
      if (form != at %% 5L + 1L) next
      expect_false(isFALSE(verify(fit, given, y, claims = 10)$ok))
    }
    expect_equal(of(x[, -1], y, adjust = series[, 1])$fitted,
                 of(x[, -1], y, adjust = x[, 1])$fitted)
  }
  # as covariates and as responses, too
  for (given in list(series[, 1:2], I(x[, 1:2]), noquote(x[, 1:2]))) {
    expect_equal(suppressMessages(rls(x[, -(1:2)], y, adjust = given))$fitted,
                 suppressMessages(rls(x[, -(1:2)], y, adjust = x[, 1:2]))$fitted)
    expect_equal(unname(rls(x[, -(1:2)], given)$fitted), unname(rls(x[, -(1:2)], x[, 1:2])$fitted))
  }
  # a factor with rows and columns is no matrix of numbers
  expect_error(rls(structure(factor(x), dim = dim(x)), y), "not a numeric matrix of class 'factor'",
               class = "sparsels_error_input")
})

test_that("the matrix in a column of a frame is given as it is", {
  set.seed(23)
  d <- data.frame(octane = rnorm(20))
  plain <- outer(d$octane, 1:6) + rnorm(120)
  d$NIR <- I(plain)
  fit <- rls(d$NIR, d$octane, lambda = 1)
  expect_identical(fit$fitted, rls(plain, d$octane, lambda = 1)$fitted)
  expect_equal(unname(fitted(fit)), unname(fitted(rls(octane ~ NIR, d, lambda = 1))))
  expect_equal(predict(fit, d$NIR[1:3, ]), unname(fitted(fit))[1:3])
})

test_that("the response is a column, a formula or a vector", {
  se <- experiment(counts = genes)
  pb <- as_problem(t(genes), facts$group)
  same <- c("x", "rows", "columns", "z")
  named <- stats::setNames(facts$group, rownames(facts))
  for (y in list("group", ~ group, facts$group, factor(facts$group), named)) {
    expect_identical(unclass(as_problem(se, y))[same], unclass(pb)[same])
  }
  expect_identical(as_problem(se, ~ group)$coding$response, "group")
  expect_identical(as_problem(se, facts$age)$coding$response, "facts$age")
  limit <- 40
  older <- as_problem(se, ~ I(age > limit))
  expect_identical(older$coding$levels, c("FALSE", "TRUE"))
  expect_identical(greedy_rls(se, ~ log(age), k = 1)$problem$coding$response, "log(age)")
  expect_identical(greedy_rls(se, facts$age, k = 1)$problem$coding$response, "facts$age")
})

test_that("an assay is chosen by name or number, and found again in new data", {
  se <- experiment(counts = genes, logcounts = genes + 1)
  by_name <- as_problem(se, "group", assay = "logcounts")
  expect_identical(by_name$x, t(genes + 1))
  expect_identical(as_problem(se, "group", assay = 2), by_name)
  fit <- rls(se, "group", assay = "logcounts")
  plain <- rls(t(genes + 1), facts$group)
  swapped <- experiment(logcounts = genes + 1, other = genes)
  expect_identical(predict(fit, swapped[, 3:2]), predict(plain, t(genes + 1)[3:2, ]))
  expect_identical(predict(plain, experiment(genes + 1)), predict(plain, t(genes + 1)))
  expect_error(predict(fit, experiment(counts = genes)), class = "sparsels_error_newdata")

  unnamed <- experiment(genes, genes + 1)
  expect_identical(as_problem(unnamed, "group", assay = 2)$coding$assay, 2L)
  fit <- rls(unnamed, "group", assay = 2)
  expect_identical(predict(fit, unnamed), predict(plain, t(genes + 1)))
  judged <- cross_validate(se, "group", rls, assay = "counts", outer = 2)
  expect_identical(judged$problem$coding$assay, "counts")
})

test_that("a SingleCellExperiment is a SummarizedExperiment, sparse assays stay sparse", {
  needs("SingleCellExperiment")
  stored <- methods::as(pmax(genes, 0), "dgCMatrix")
  cells <- SingleCellExperiment::SingleCellExperiment(list(logcounts = stored), colData = facts)
  pb <- as_problem(cells, "group")
  expect_s4_class(pb$x, "dgCMatrix")
  expect_equal(as.matrix(pb$x), t(pmax(genes, 0)))
  expect_identical(pb$coding$assay, "logcounts")
  fit <- rls(pb)
  expect_equal(predict(fit, cells[, 4:1]), predict(fit, t(pmax(genes, 0))[4:1, ]))
})

test_that("an ExpressionSet", {
  needs("Biobase")
  set <- Biobase::ExpressionSet(genes, Biobase::AnnotatedDataFrame(facts))
  pb <- as_problem(set, "group", adjust = ~ age)
  expect_identical(pb$x, t(genes))
  expect_identical(pb$coding$assay, "exprs")
  fit <- rls(pb)
  expect_identical(predict(fit, set[, 5:4]), predict(fit, t(genes)[5:4, ], adjust = facts[5:4, ]))
  expect_identical(make_folds(set, "loo")$ids, matrix(1:8))
})

test_that("a DGEList is read as log counts per million", {
  needs("edgeR")
  list <- edgeR::DGEList(counts(), samples = facts)
  list$samples$norm.factors <- seq(0.8, 1.2, length.out = 8)
  pb <- as_problem(list, "age")
  expect_identical(pb$x, t(edgeR::cpm(list, log = TRUE)))
  expect_identical(pb$coding$assay, "logCPM")
  fit <- rls(pb)
  new <- list[, c(3, 1, 2)]
  expect_identical(predict(fit, new), predict(fit, t(edgeR::cpm(new, log = TRUE))))
  mask <- safe_screen(list, "age", lambda = 1)
  expect_identical(mask$keep, safe_screen(pb, lambda = 1)$keep)
})

test_that("an EList is read as its log expressions", {
  needs("limma")
  list <- methods::new("EList", list(E = genes, targets = facts))
  pb <- as_problem(list, "age")
  expect_identical(pb$x, t(genes))
  expect_identical(pb$coding$assay, "E")
  fit <- rls(pb)
  expect_identical(predict(fit, list[, c(3, 1)]), predict(fit, t(genes)[c(3, 1), ]))
  list$targets <- NULL
  expect_identical(as_problem(list, facts$age)$x, t(genes))
})

test_that("experiments of a MultiAssayExperiment are put side by side, samples matched", {
  mae <- several()
  one <- as_problem(mae, "group", assay = "protein")
  expect_identical(one$x, t(genes[1:5, ]))
  expect_identical(one$rows$name, rownames(facts))
  two <- as_problem(mae, "group", assay = c(rna = "logcounts", "protein"), adjust = ~ age)
  expect_identical(unname(two$x), unname(t(rbind(genes + 1, genes[1:5, ]))))
  expect_identical(two$columns$name, c(paste0("rna.g", 1:20), paste0("protein.g", 1:5)))
  expect_identical(two$coding$assay, list(rna = "logcounts", protein = NULL))
  expect_identical(as_problem(mae, "group", assay = list(rna = 2, 2), adjust = ~ age), two)

  mixed <- as_problem(mae, "group", assay = c("protein", "methyl"))
  expect_s4_class(mixed$x, "dgCMatrix")
  expect_equal(unname(as.matrix(mixed$x)), unname(t(rbind(genes[1:5, ], genes * (genes > 1)))))

  fit <- rls(two)
  new <- suppressMessages(mae[, c("s2", "s7"), ])
  expect_equal(predict(fit, new), fitted(fit)[c(2, 7)], ignore_attr = "names")
  expect_named(predict(fit, new), c("s2", "s7"))
})

test_that("names that occur more than once are numbered, also in new data", {
  twice <- genes
  rownames(twice)[c(2, 4, 9)] <- "TP53"
  unique_genes <- t(twice)
  colnames(unique_genes) <- make.unique(rownames(twice))
  pb <- as_problem(t(twice), facts$group, make_unique = TRUE)
  expect_identical(pb$x, unique_genes)
  expect_identical(unname(pb$coding$renamed), rep("TP53", 3))
  same <- c("x", "names", "renamed", "scale")
  of_experiment <- as_problem(experiment(twice), "group", make_unique = TRUE)
  expect_identical(unclass(of_experiment)[same], unclass(pb)[same])
  sparse <- as_problem(Matrix::Matrix(t(twice), sparse = TRUE), facts$group, make_unique = TRUE)
  expect_identical(colnames(sparse$x), pb$columns$name)
  expect_identical(sparse$coding$renamed, pb$coding$renamed)
  single <- as_problem(float_matrix(t(twice)), facts$group, make_unique = TRUE)
  expect_identical(colnames(single$x), pb$columns$name)
  expect_null(as_problem(t(genes), facts$group, make_unique = TRUE)$coding$renamed)
  expect_null(as_problem(unname(t(genes)), facts$group, make_unique = TRUE)$coding$renamed)

  fit <- rls(pb)
  for (new in list(t(twice), unique_genes, t(twice)[, c(20:10, 1:9)], experiment(twice))) {
    expect_equal(predict(fit, new), fitted(fit), ignore_attr = "names")
  }
  few <- rls(pb[, c("g1", "g3")])
  expect_silent(predict(few, t(twice)[, c("g1", "g3")]))
  expect_error(predict(fit, t(twice)[, -2]), class = "sparsels_error_newdata")
  expect_error(predict(fit, t(twice)[, c(1:20, 2)]), class = "sparsels_error_newdata")
  expect_error(predict(fit, unique_genes[, -4]), class = "sparsels_error_newdata")
})

test_that("a DelayedMatrix is read in blocks, sparse ones stay so, large ones are refused", {
  needs("DelayedArray")
  whole <- matrix(1:160, 20, 8)
  delayed <- DelayedArray::DelayedArray(whole)
  expect_identical(read_delayed(delayed, "x"), whole)
  expect_identical(read_delayed(delayed[, 0], "x"), whole[, 0])
  zeros <- methods::as(genes * (genes > 1), "dgCMatrix")
  for (seed in list(zeros, zeros > 0)) {
    sparse <- suppressMessages(as_values(DelayedArray::DelayedArray(seed)))
    expect_s4_class(sparse, "dgCMatrix")
    expect_equal(as.matrix(sparse), as.matrix(seed) + 0)
  }
  expect_error(as_values(DelayedArray::DelayedArray(matrix("a", 2, 2))), "not a character matrix")
  with_binding("max_realised", 159, {
    expect_error(as_problem(delayed, 1:20), class = "sparsels_error_input")
    pb <- as_problem(whole, 1:20 + 0)
    expect_identical(new_data_matrix(pb, delayed, 3:4), whole[, 3:4] + 0)
    expect_s4_class(as_values(DelayedArray::DelayedArray(zeros)), "dgCMatrix")
  })
  with_binding("max_realised", 10, {
    expect_error(as_values(DelayedArray::DelayedArray(zeros)), class = "sparsels_error_input")
  })
})

test_that("an assay in an HDF5 file", {
  se <- experiment(counts = genes)
  needs("HDF5Array")
  SummarizedExperiment::assay(se) <- methods::as(genes, "HDF5Array")
  pb <- as_problem(se, "group")
  expect_identical(pb$x, t(genes))
  fit <- rls(pb)
  expect_identical(predict(fit, se[, 2:1]), predict(fit, t(genes)[2:1, ]))
})

test_that("print says which assay was read", {
  se <- experiment(counts = genes, logcounts = genes + 1)
  rownames(se)[1:2] <- "TP53"
  mae <- several()
  expect_snapshot({
    as_problem(se, "group", assay = 2, make_unique = TRUE)
    as_problem(experiment(genes), ~ age)
    as_problem(mae, "group", assay = c(rna = "counts", "protein"))
  })
})

test_that("assays and responses that are not there", {
  se <- experiment(counts = genes, logcounts = genes + 1)
  fit <- rls(se, "group", assay = 2)
  of_matrix <- rls(t(genes), facts$group)
  hole <- experiment(counts = replace(genes, 43, NA))
  ages <- stats::setNames(facts$age, rownames(facts))
  several_groups <- experiment(counts = genes, samples = cbind(facts, site = 1:8))
  expect_snapshot({
    refusal(as_problem(se, "group"))
    refusal(as_problem(experiment(genes, genes), "group"))
    refusal(as_problem(se, "group", assay = "tpm"))
    refusal(as_problem(se, "group", assay = 3))
    refusal(as_problem(se, "group", assay = c("counts", "logcounts")))
    refusal(as_problem(t(genes), facts$group, assay = "counts"))
    refusal(as_problem(of_matrix$problem, assay = "counts"))
    refusal(predict(fit, experiment(counts = genes)))
    refusal(predict(of_matrix, se))
    refusal(as_problem(several_groups, "arm"))
    refusal(as_problem(several_groups))
    refusal(as_problem(several_groups, 1:5))
    refusal(as_problem(several_groups, rev(ages)))
    refusal(as_problem(several_groups, ~ age + group))
    refusal(as_problem(several_groups, ~ stage))
    refusal(as_problem(several_groups, group ~ age))
    refusal(as_problem(se, "group", data = facts))
    refusal(as_problem(hole, "group"))
    refusal(as_problem(experiment(), "group"))
    refusal(as_problem(several_groups, log(height)))
    refusal(rls(facts, log(height)))
    refusal(cross_validate(several_groups, log(height), rls))
  })
  # a formula has columns of the sample data, and the classes of other errors are kept
  expect_equal(as_problem(several_groups, ~ log(age))$rows$y[, 1], log(facts$age))
  expect_error(rls(genes, log(height)), "height", class = "simpleError")
  expect_error(as_problem(several_groups, as_problem(1)), class = "sparsels_error_input")
})

test_that("names that are not unique or not there", {
  twice <- genes
  rownames(twice)[c(3, 8)] <- "TP53"
  named <- as_problem(t(twice), facts$group, make_unique = TRUE)
  expect_snapshot({
    refusal(as_problem(experiment(twice), "group"))
    refusal(as_problem(t(twice), facts$group))
    refusal(as_problem(as.data.frame(t(genes)), facts$group, make_unique = TRUE))
    refusal(as_problem(t(genes), facts$group, make_unique = NA))
    refusal(new_data_matrix(named, t(twice)[, -3], 1:20))
  })
})

test_that("experiments that do not have the samples", {
  mae <- several()
  fewer <- suppressWarnings(suppressMessages(several(rna = genes[, 1:6])))
  map <- S4Vectors::DataFrame(assay = factor("rna"), primary = rep(paste0("s", 1:4), 2),
                              colname = colnames(genes))
  again <- MultiAssayExperiment::MultiAssayExperiment(
    list(rna = genes), colData = S4Vectors::DataFrame(facts[1:4, ]), sampleMap = map
  )
  fit <- rls(mae, "group", assay = c("protein", "methyl"))
  expect_snapshot({
    refusal(as_problem(mae, "group"))
    refusal(as_problem(mae, "group", assay = "tpm"))
    refusal(as_problem(mae, "group", assay = 4))
    refusal(as_problem(mae, "group", assay = c("rna", "rna")))
    refusal(as_problem(mae, "group", assay = "rna"))
    refusal(as_problem(mae, "group", assay = c(protein = "counts")))
    refusal(as_problem(fewer, "group", assay = c("rna", "protein")))
    refusal(as_problem(again, "group"))
    refusal(predict(fit, experiment(counts = genes)))
  })
})

test_that("matrices that are too large to read unasked", {
  needs("DelayedArray")
  dense <- DelayedArray::RleArray(S4Vectors::Rle(0, 2e9), c(2e4, 1e5))
  sparse <- DelayedArray::DelayedArray(methods::as(genes * (genes > 1), "dgCMatrix"))
  expect_snapshot({
    refusal(as_problem(dense, 1:2e4))
    refusal(with_binding("max_realised", 10, as_problem(sparse, 1:20)))
  })
})

test_that("an experiment is no matrix of a system, a basis or a file", {
  se <- experiment(counts = genes)
  for (call in list(quote(scdp(A = se, b = 1:2)), quote(lars_path(se, 1:2)),
                    quote(select_basis(se, 2)), quote(write_file_matrix(se, tempfile())))) {
    expect_error(eval(call), "must be a numeric matrix",
                 class = "sparsels_error_input")
  }
})
