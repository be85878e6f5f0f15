# A newcomer's first hour: what somebody types who knows R, lm() and glmnet, or Bioconductor, and
# has not read a page of help; and what must come out.
#
#   Rscript tools/newcomer.R
#
# The last line is "N passed, N failed". Packages that are not installed are skipped, and named.

suppressMessages(library(sparsels))
passed <- failed <- 0
skipped <- character()

# Evaluates and prints `code`. `says` are patterns of what must appear, in the printed value, a
# message or a warning; with `error = TRUE` in an error of the package. `holds` is a condition on
# the value, `it`.
typed <- function(code, says = character(), holds = TRUE, error = FALSE) {
  text <- paste(trimws(deparse(substitute(code), width.cutoff = 90L)), collapse = " ")
  condition <- substitute(holds)
  heard <- character()
  hear <- function(condition) heard <<- c(heard, conditionMessage(condition))
  printed <- utils::capture.output(
    it <- withCallingHandlers(
      tryCatch({
        value <- withVisible(code)
        if (value$visible) print(value$value)
        value$value
      }, error = identity),
      warning = function(w) {
        hear(w)
        tryInvokeRestart("muffleWarning")
      },
      message = function(m) {
        hear(m)
        tryInvokeRestart("muffleMessage")
      }
    )
  )
  is_error <- inherits(it, "error")
  if (is_error) hear(it)
  all <- paste(c(printed, heard), collapse = "\n")
  missing <- says[!vapply(says, grepl, NA, all, ignore.case = TRUE)]
  bad <- c(
    if (is_error && !error) "is an error",
    if (error && !is_error) "is no error",
    if (error && is_error && !inherits(it, "sparsels_error")) "is an error without a class",
    if (length(missing)) sprintf("does not say '%s'", missing),
    if (!is_error && !isTRUE(tryCatch(eval(condition, list(it = it), parent.frame()),
                                      error = conditionMessage))) {
      sprintf("%s does not hold", deparse1(condition))
    }
  )
  if (length(bad)) {
    failed <<- failed + 1
    cat(sprintf("FAILED  %s\n        %s\n%s\n", text, paste(bad, collapse = "; "),
                paste0("        | ", unlist(strsplit(all, "\n")), collapse = "\n")))
  } else {
    passed <<- passed + 1
  }
  invisible(it)
}

section <- function(title, needs = character()) {
  there <- vapply(needs, requireNamespace, NA, quietly = TRUE)
  if (!all(there)) skipped <<- c(skipped, sprintf("%s (no %s)", title, needs[!there][1L]))
  all(there)
}

# ---- data ---------------------------------------------------------------------------------------

set.seed(1)
x <- log2(colon_genes$x[, 1:60])
tissue <- colon_genes$tissue
d <- data.frame(tissue, x)
cars <- mtcars
cars$w <- runif(32, 0.5, 2)
gaps <- replace(mtcars, "hp", list(replace(mtcars$hp, 4, NA)))

# ---- conventions --------------------------------------------------------------------------------

fit <- typed(greedy_rls(tissue ~ ., d), "tissue")
typed(greedy_rls(mpg ~ ., mtcars), "mpg", inherits(it, "sparse_fit"))
typed(greedy_rls(mpg ~ ., cars, weights = w), holds = all(it$problem$rows$weight == cars$w))
typed(as_problem(mpg ~ ., cars, weights = w), c("10 columns", "weights"))
typed(greedy_rls(mpg ~ ., mtcars, subset = cyl > 4), "21 rows")
typed(greedy_rls(mpg ~ ., gaps), "na.omit", error = TRUE)
typed(as_problem(mpg ~ ., gaps, na.action = na.omit), "1 row.*Hornet 4 Drive", nrow(it) == 31)
typed(cross_validate(x, tissue, greedy_rls, outer = 3), "error rate")
typed(cross_validate(mpg ~ ., mtcars, greedy_rls, outer = 3), "mpg")
three <- greedy_rls(x, tissue, k = 8, size = 3)
typed(predict(three, x, size = 1:3), holds = identical(dim(it), c(62L, 3L)))
typed(coef(three, size = 1:3), holds = ncol(it) == 3)
linear <- greedy_rls(mpg ~ ., mtcars, k = 5, size = 3)
typed(predict(linear, mtcars, interval = "prediction"), c("lwr", "upr"),
      all(it[, "lwr"] < it[, "fit"] & it[, "fit"] < it[, "upr"]))
typed(predict(linear, mtcars, interval = "confidence"), "prediction", error = TRUE)
typed(confint(linear), "stability_selection", error = TRUE)
typed(predict(three, x[1:3, ], type = "set"), "tumour|normal", inherits(it, "prediction_set"))
typed(formula(linear), "mpg ~", inherits(it, "formula"))
typed(terms(linear), holds = length(attr(it, "term.labels")) == 3)
typed(variable.names(linear), holds = it[1] == "(Intercept)" && length(it) == 4)
typed(model.matrix(linear, mtcars), holds = identical(dim(it), c(32L, 4L)))
typed(deviance(linear), holds = all.equal(it, sum((mtcars$mpg - fitted(linear))^2)))
typed(logLik(linear), "likelihood", error = TRUE)
unpenalised <- forward_regression(mpg ~ wt + hp + qsec, mtcars, k = 2, lambda = 0, size = 2)
typed(logLik(unpenalised), holds = all.equal(it, logLik(lm(formula(unpenalised), mtcars)),
                                             check.attributes = FALSE))
typed(as.data.frame(linear), holds = is.data.frame(it) && all(c("size", "name") %in% names(it)))
typed(residuals(linear), holds = all.equal(unname(it), unname(mtcars$mpg - fitted(linear))))
typed(generics::augment(linear, mtcars),
      holds = all.equal(it$.resid, mtcars$mpg - it$.fitted) && ".held_out" %in% names(it))
typed(identical(names(generics::glance(linear)), names(generics::glance(rls(mpg ~ ., mtcars)))),
      "TRUE")
typed(summary(as_problem(x, tissue)), "22.*40|normal")
typed(summary(cross_validate(x, tissue, greedy_rls, outer = 3)), "error rate")
typed(summary(safe_screen(x, tissue, lambda = 20, loss = "logistic")), "column")
grDevices::pdf(NULL)
typed(plot(as_problem(x, tissue)))
typed(plot(fit))
invisible(grDevices::dev.off())

# ---- class codes --------------------------------------------------------------------------------

codes <- as.numeric(tissue == "tumour")
typed(as_problem(x, codes), c("regression", "classification"), it$coding$task == "regression")
typed(as_problem(x, 2 * codes - 1), "classification")
typed(as_problem(x, rep_len(1:5, 62)), "classification")
typed(as_problem(x, codes, task = "classification"), "2 classes", it$coding$task == "binary")
typed(as_problem(x, rep_len(1:5, 62), task = "classification"), "5 classes")
typed(as_problem(x, factor(codes)), "2 classes")
typed(as_problem(mpg ~ ., mtcars), "numeric", it$coding$task == "regression")

# ---- containers ---------------------------------------------------------------------------------

typed(as_problem(as.data.frame(x), tissue), "62 rows x 60 columns")
typed(as_problem(Matrix::Matrix(x * (x > 10), sparse = TRUE), tissue), "sparse")
typed(as_problem(x > 11, tissue), "60 columns")
twice <- x
colnames(twice)[2] <- colnames(twice)[1]
typed(as_problem(twice, tissue), "make_unique", error = TRUE)
typed(as_problem(twice, tissue, make_unique = TRUE), "made unique")
counts <- t(round(2^x))

if (section("SummarizedExperiment", "SummarizedExperiment")) {
  se <- SummarizedExperiment::SummarizedExperiment(
    list(counts = counts, logcounts = t(x)), colData = data.frame(tissue, batch = 1:62 %% 2)
  )
  typed(as_problem(se, "tissue"), c("assay", "logcounts"), error = TRUE)
  typed(as_problem(se, "tissue", assay = "logcounts"), "assay: logcounts")
  typed(as_problem(se, "tissue", assay = 2), "tumour")
  typed(as_problem(se, tissue, assay = 2, adjust = ~ batch), "adjusted for: batch")
  typed(as_problem(se, ~ tissue, assay = 2), "tumour [(]40[)]")
  typed(as_problem(se, "status", assay = 2), "tissue", error = TRUE)
  panel <- typed(greedy_rls(se, "tissue", assay = "logcounts", k = 5, size = 2), "logcounts")
  typed(predict(panel, se[, 1:4]), holds = length(it) == 4)
  double <- se
  rownames(double)[2] <- rownames(double)[1]
  typed(as_problem(double, "tissue", assay = 2), c("rows? named", "make_unique"), error = TRUE)
}
if (section("SingleCellExperiment", "SingleCellExperiment")) {
  sce <- methods::as(se, "SingleCellExperiment")
  typed(as_problem(sce, "tissue", assay = "logcounts"), "logcounts")
}
if (section("ExpressionSet", "Biobase")) {
  samples <- Biobase::AnnotatedDataFrame(data.frame(tissue, row.names = paste0("s", 1:62)))
  es <- Biobase::ExpressionSet(`colnames<-`(t(x), paste0("s", 1:62)), samples)
  typed(as_problem(es, "tissue"), "tumour [(]40[)]")
}
if (section("DGEList", "edgeR")) {
  dge <- edgeR::DGEList(counts, group = tissue)
  typed(as_problem(dge, "group"), "logCPM")
}
if (section("MultiAssayExperiment", "MultiAssayExperiment")) {
  named <- se
  colnames(named) <- paste0("s", 1:62)
  mae <- suppressMessages(MultiAssayExperiment::MultiAssayExperiment(
    list(rna = SummarizedExperiment::assay(named[1:40, ], 2),
         protein = SummarizedExperiment::assay(named[41:60, ], 2)),
    colData = data.frame(tissue, row.names = colnames(named))
  ))
  typed(as_problem(mae, "tissue", assay = c("rna", "protein")), "60 columns",
        grepl("^rna[.]", it$columns$name[1]))
}
if (section("DelayedMatrix", "DelayedArray")) {
  typed(as_problem(DelayedArray::DelayedArray(x), tissue), "60 columns")
  large <- DelayedArray::DelayedArray(Matrix::sparseMatrix(1, 1, x = 1, dims = c(62, 2e6)))
  typed(as_problem(large + 1, tissue), c("DelayedMatrix", "as.matrix"), error = TRUE)
}

# ---- limits that speak --------------------------------------------------------------------------

wide <- matrix(rnorm(62 * 2000), 62)
typed(best_subset(wide, tissue), c("screen|fewer", "poss"), error = TRUE)
typed(best_subset(x, tissue, k = 5, nodes = 3), "not proven|stopped")
typed(best_subset(wide, tissue, k = 4, lambda = 248), "proof: by dual bounds, all of 4 sizes")
proof <- certify(greedy_rls(wide, tissue, k = 3), wide, tissue, size = 2)
typed(proof, c("PROVED the least of all 2e.06 sets", "not about new rows"))
typed(alternatives(proof), c("in all of them|in some", "in none"))
typed(certify(l1_path(x, tissue), x, tissue), "there is no proof", error = TRUE)
# in processor time, which others on the machine lengthen little
seconds <- sum(system.time(typed(poss(wide, tissue, k = 5), "exchanges"))[1:2])
typed(seconds < 60, "TRUE")
typed(compare_methods(x, tissue, k = 3, splits = 2), "error rate")
typed(holdout(kernel_rls(x, tissue), rows = 1:5), "held.out")
typed(kernel_rls(x, tissue), "gamma: .* chosen from 7 values")
typed(kernel_rls(x, tissue, kernel = kernel_gaussian(1e3)), "constant|same|null model")
typed(tune_lssvm(x, tissue, method = "grid", budget = 12, prototypes = 10, k = 5), "gamma")

# ---- printed words ------------------------------------------------------------------------------

typed(fit, c("error", "cross-validat"))
typed(l1_path(x, tissue, folds = 5), c("best lambda", "class codes"))
rare <- factor(c("one", rep(c("a", "b"), c(30, 31))))
typed(greedy_rls(x, rare, folds = 5, k = 3), "one")
many <- factor(rep_len(paste("a rather long class name", LETTERS[1:14]), 62))
typed(greedy_rls(x, many, k = 2, size = 2),
      holds = max(nchar(utils::capture.output(print(it)))) <= getOption("width"))
typed(greedy_rls(matrix(rnorm(600), 60), factor(rep(c("no", "yes"), c(54, 6))), k = 2, size = 1,
                 criterion = "auc", folds = 5), "all rows|one class|every row")

# ---- a second newcomer -------------------------------------------------------------------------

# Twelve tasks of somebody who knows other packages. What the comments say was found, and mended.

samples <- data.frame(id = paste0("sample", 1:62), x[, 1:5])
# 1. a table with names of samples in a column became 61 columns without a word
typed(as_problem(samples, tissue), c("'id'", "row names"))
# 2. new rows in another order of columns, and with more of them
typed(predict(linear, mtcars[3:1, 11:1]), holds = all.equal(it, predict(linear, mtcars[3:1, ])))
# 3. dates
typed(as_problem(data.frame(when = Sys.Date() + 1:62, x), tissue), "as.numeric", error = TRUE)
# 4. the importance of variables had no function
typed(variable_importance(three), holds = setequal(it$variable, selected(three)))
typed(variable_importance(exchange(three, x, tissue, keep = 1)), holds = nrow(it) == 3)
# 5. intervals by broom's names were unknown arguments, without the reason
typed(generics::tidy(linear, conf.int = TRUE), "chosen on the same rows", error = TRUE)
typed(generics::augment(linear, interval = "prediction", conf.level = 0.8), ".lower")
# 6. grades in order: the message named no model of their order
grades <- factor(rep_len(c("low", "mid", "high"), 62), c("low", "mid", "high"), ordered = TRUE)
typed(as_problem(x, grades), c("ordered factor", "l1_losses", "regression"))
# 7. anova() was an error of R
typed(anova(linear), c("compare_methods", "added_value"), error = TRUE)
# 8. a family of glm() or glmnet()
typed(greedy_rls(tissue ~ ., d, family = "binomial"), "response says", error = TRUE)
# 9. `seed` was taken for `keep`
typed(greedy_rls(x, tissue, seed = 1), "set.seed", error = TRUE)
# 10. coefficients of one sign
typed(rls(x, tissue, lower.limits = 0), "no bounds", error = TRUE)
# 11. an unknown picture was drawn with six warnings
typed(plot(three, what = "importance"), "`what` must be", error = TRUE)
# 12. standard errors of predictions
typed(predict(linear, mtcars, se.fit = TRUE), "interval", error = TRUE)

# ---- a third newcomer --------------------------------------------------------------------------

# Twelve tasks, each written down from the help pages alone. What the comments say was found, and
# mended.

hospital <- rep(1:4, length.out = 62)
# 1. data first, as a pipe has them: no word said that a formula comes first
typed(greedy_rls(mtcars, mpg ~ .), "greedy_rls[(]y ~", error = TRUE)
typed(greedy_rls(mtcars, "mpg"), "formula mpg ~ [.]", error = TRUE)
typed(greedy_rls(mpg ~ ., data = mtcars, k = 2), "mpg")
# 2. the error of a fit at hand: it was said that `method` is NULL
typed(cross_validate(three, x, tissue), "is a fit", error = TRUE)
typed(permutation_test(three), "judge", error = TRUE)
# 3. measures by their common names were no measures
typed(cross_validate(x, tissue, greedy_rls, measure = "accuracy"), "mean \"error\"", error = TRUE)
typed(greedy_rls(x, tissue, criterion = "AUC"), "mean \"auc\"", error = TRUE)
typed(predict(three, x, type = "probs"), "mean \"prob\"", error = TRUE)
# 4. arguments of other packages had a list of all arguments
typed(greedy_rls(x, tissue, nvmax = 5), "is `k`", error = TRUE)
typed(greedy_rls(x, tissue, cores = 2), "threads", error = TRUE)
# 5. logistic regression by a search
typed(greedy_rls(x, tissue, loss = "logistic"), "l1_path", error = TRUE)
# 6. `method` shifted all arguments: "an argument without a name, `y`"
typed(best_subset(mpg ~ ., mtcars, method = "exhaustive"), "unknown argument `method`",
      error = TRUE)
best <- typed(best_subset(mpg ~ ., mtcars, k = 3), "all of 3 sizes")
typed(summary(lm(formula(best), mtcars))$r.squared, holds = all.equal(it, best$path$criterion[4]))
# 7. step() and drop1() were errors of R
typed(step(linear), "exchange|compare_methods", error = TRUE)
# 8. an unknown argument of a picture gave six warnings of R
typed(plot(three, xvar = "lambda"), "unknown argument `xvar`", error = TRUE)
typed(plot(three, type = "roc"), "`what` chooses", error = TRUE)
# 9. train on three hospitals, test on the fourth
by_hospital <- as_problem(x, tissue, groups = hospital)
away <- typed(greedy_rls(by_hospital[hospital < 4, ], k = 3, size = 2), "3 groups")
typed(predict(away, by_hospital[hospital == 4, ]),
      holds = all.equal(unname(it), unname(predict(away, x[hospital == 4, ]))))
typed(transfer(x, tissue, greedy_rls, groups = hospital, k = 3, size = 1),
      holds = identical(dim(it$error), c(4L, 4L)))
# 10. a Cox model without a penalty is that of coxph(), with its survival curves
if (section("survival", "survival")) {
  lung <- na.omit(survival::lung)
  model <- survival::Surv(time, status) ~ age + sex + ph.ecog
  cox <- typed(l1_path(model, lung, lambda = 1e-6, tolerance = 1e-12), "Efron|Cox")
  other <- survival::coxph(model, lung)
  typed(coef(cox), holds = all.equal(it, coef(other)[names(it)], tolerance = 1e-5))
  curves <- summary(survival::survfit(other, lung[1:2, ]), times = c(100, 365))$surv
  typed(predict(cox, lung[1:2, ], type = "survival", times = c(100, 365)),
        holds = all.equal(unname(it), unname(t(curves)), tolerance = 1e-5))
  typed(greedy_rls(survival::Surv(time, status) ~ ., survival::lung), c("na.omit", "mean"),
        error = TRUE)
}
# 11. a required sensitivity, and classes by it
typed(choose_threshold(three, sensitivity = c(tumour = 0.95)), holds = it$sensitivity >= 0.95)
typed(choose_threshold(three, cost = c(5, 1)), "named by the classes", error = TRUE)
# 12. counts with an exposure, as rates of new rows
set.seed(3)
days <- runif(62, 1, 3)
count <- rpois(62, days * exp(scale(x[, 3]) / 2))
rates <- typed(greedy_rls(x, count, loss = "poisson", offset = log(days), k = 3, size = 1))
typed(predict(rates, x[1:2, ]), "newoffset", error = TRUE)
typed(predict(rates, x[1:2, ], newoffset = log(c(2, 2))),
      holds = all.equal(it, 2 * predict(rates, x[1:2, ], newoffset = c(0, 0))))
typed(generics::tidy(rates, exponentiate = TRUE),
      holds = all.equal(it$estimate, unname(exp(coef(rates)))))

# ---- a newcomer with grades --------------------------------------------------------------------

# Twelve tasks about ordered classes, by the manual only.

flats <- if (section("MASS", "MASS")) MASS::housing
if (!is.null(flats)) {
  # 1. the table of polr()'s help, with its frequencies, and probabilities of new flats
  housing <- typed(l1_path(Sat ~ Infl + Type + Cont, flats, weights = Freq, loss = "ordinal",
                           lambda = 1e-6, tolerance = 1e-12), "Low[|]Medium")
  polr <- MASS::polr(Sat ~ Infl + Type + Cont, flats, weights = Freq)
  typed(predict(housing, flats[1:3, ], type = "prob"),
        holds = all.equal(unname(it), unname(predict(polr, flats[1:3, ], "probs")),
                          tolerance = 1e-3))
  # 2. odds ratios, and the cutpoints beside them
  typed(generics::tidy(housing, exponentiate = TRUE),
        holds = identical(it$term[it$coef.type == "scale"], names(polr$zeta)))
  # 3. the probit link
  typed(l1_path(Sat ~ Infl, flats, weights = Freq, loss = "probit"), "ordinal[(]probit[)]",
        error = TRUE)
  typed(l1_path(Sat ~ Infl, flats, weights = Freq, loss = "ordinal", link = "probit"),
        "link is in the name of the loss", error = TRUE)
  probit <- typed(l1_path(Sat ~ Infl, flats, weights = Freq, loss = "ordinal(probit)",
                          lambda = 1e-6), "ordered probit")
  typed(generics::tidy(probit, exponentiate = TRUE), "not", error = TRUE)
}
set.seed(4)
grade <- cut(as.vector(scale(x[, 3])) + stats::rlogis(62) / 2, c(-Inf, -0.5, 0.5, Inf),
             c("mild", "moderate", "severe"), ordered = TRUE)
# 4. a list of genes for a grade, with the error in grades
graded <- typed(l1_path(x, grade, loss = "ordinal", folds = 5, nlambda = 20),
                "cutpoints")
typed(summary(graded), "rows by class and held-out prediction")
typed(cross_validate(x, grade, l1_path, loss = "ordinal", folds = 5, nlambda = 10, outer = 3,
                     measure = c("absolute", "concordance")), "number of the class")
# 5. how often it is right, also where the order was ignored
typed(table(predict(graded, x, type = "class"), grade), holds = identical(dim(it), c(3L, 3L)))
typed(mean(predict(greedy_rls(x, grade, size = 2), x, type = "class") == grade), "order",
      it > 0.4)
# 6. noise has no list
typed(l1_path(x[sample(62), ], grade, loss = "ordinal", folds = 5, size = "cv"), "clearly better",
      it$size == 0)
# 7. patients with several samples, and gaps
typed(l1_path(x, grade, loss = "ordinal", folds = 5, groups = hospital, nlambda = 5), "4 groups")
typed(l1_path(replace(x, 5, NA), grade, loss = "ordinal", missing = "mean", lambda = 3), "missing")
# 8. grades as numbers
typed(l1_path(x, as.integer(grade), loss = "ordinal"), "ordered factor", error = TRUE)
# 9. greedy search of grades
typed(greedy_rls(x, grade, loss = "ordinal"), "l1_path", error = TRUE)
# 10. held-out probabilities for another package
typed(generics::augment(graded), c(".pred_mild", ".pred_class"),
      all.equal(rowSums(it[paste0(".pred_", levels(grade))]), rep(1, 62), check.attributes = FALSE))
# 11. the rule without the package
typed(as_panel(graded), "ordered classes", error = TRUE)
# 12. how far the list can be trusted
typed(judge(graded, x, grade, outer = 3, permutations = 3, pairs = 2, repeats = 0, claims = 3,
            seed = 1), c("concordance", "verified|retrained"))
if (section("parsnip", "parsnip") && "ordinal_reg" %in% getNamespaceExports("parsnip")) {
  spec <- parsnip::set_engine(parsnip::ordinal_reg(penalty = 3), "sparsels_l1", folds = NULL)
  wanted <- typed(parsnip::fit(spec, grade ~ ., data.frame(grade, x[, 1:5])), "proportional odds")
  typed(parsnip::fit(parsnip::set_engine(parsnip::ordinal_reg(ordinal_link = "probit"),
                                         "sparsels_l1"), grade ~ ., data.frame(grade, x[, 1:5])),
        "ordinal[(]probit[)]", error = TRUE)
}

# ---- a fourth newcomer -------------------------------------------------------------------------

# Twelve tasks on kinds of data, each written down from the help pages alone. What the comments say
# was found, and mended.

set.seed(11)
patients <- data.frame(age = round(runif(150, 20, 85)), bmi = rnorm(150, 27, 4),
                       sex = factor(rep_len(c("f", "m"), 150)))
patients$risk <- 2 * (patients$age >= 60) + 0.3 * pmax(patients$bmi - 30, 0) + rnorm(150) / 3
# 1. thresholds of age and of the body mass index: fit$terms had the pattern "rises with %s"
by_steps <- typed(greedy_rls(risk ~ s(age, basis = "steps") + s(bmi, basis = "hinges") + sex,
                             patients), "rises with age")
typed(summary(by_steps), "age>=5")
typed(selected(by_steps), holds = identical(it, c("age", "bmi")))
typed(by_steps$terms, "rises with age", !any(grepl("%s", it$shape)))
typed(greedy_rls(risk ~ ., patients, thresholds = "age"), "smooth_basis", error = TRUE)
typed(greedy_rls(risk ~ s(age, basis = "step"), patients), "did you mean \"steps\"", error = TRUE)
# 2. counts with an exposure: offset() before `- days` was refused, and one number was no offset
ward <- data.frame(days = runif(150, 1, 30), patients[1:2])
ward$falls <- rpois(150, ward$days / 20 * exp((ward$age - 55) / 20))
falls <- typed(greedy_rls(falls ~ . + offset(log(days)) - days, ward, loss = "poisson", k = 2),
               c("Poisson", "offset: a known part"))
typed(predict(falls, ward[1:3, ], newoffset = 0),
      holds = all.equal(it * ward$days[1:3], predict(falls, ward[1:3, ])))
typed(greedy_rls(falls ~ ., ward, loss = "poisson", exposure = days), "logarithm", error = TRUE)
typed(verify(falls, ward, claims = 9), "all of them hold")
# 3. missing values: with a formula `missing = "mean"` beside na.omit left rows out all the same,
# and verify() had to be told of na.omit again
air <- typed(greedy_rls(Ozone ~ ., airquality, missing = "mean", na.action = na.omit, k = 3),
             "left out: 37 rows", nobs(it) == 116)
typed(predict(air, replace(airquality[1:2, ], "Wind", NA)), holds = !anyNA(it))
typed(verify(air, Ozone ~ ., airquality, claims = 9), "all of them hold")
typed(greedy_rls(Ozone ~ ., airquality, na.rm = TRUE), "na[.]action = na[.]omit", error = TRUE)
# 4. studies: it was not said how to leave out one of them at a time
study <- rep(c("bonn", "leeds", "lyon", "oslo"), length.out = 62)
typed(cross_validate(x, tissue, greedy_rls, groups = study, outer = "groups"), "`groups` \"loo\"",
      error = TRUE)
typed(cross_validate(x, tissue, greedy_rls, groups = study, outer = "loo", k = 3),
      "leave-one-group-out, 4 groups")
typed(greedy_rls(x, tissue, study = study), "it is `groups`", error = TRUE)
centred <- greedy_rls(x, tissue, groups = study, center_groups = "columns", k = 2)
typed(predict(centred, x[1, , drop = FALSE]), "several rows", error = TRUE)
# 5. a panel of two genes: no function had its coefficients, and plot() was an error of R
genes <- typed(as_panel(greedy_rls(x, tissue, k = 4, size = 2)), c("2 variables", "error rate"))
typed(coef(genes), holds = all.equal(
  drop(cbind(1, x[, names(it)[-1]]) %*% it), predict(genes, x, type = "link")
))
typed(plot(genes), "no picture of .*panel", error = TRUE)
# 6. the price of a measurement
typed(greedy_rls(x, tissue, price = rep(1, 60)), "it is `cost`", error = TRUE)
typed(greedy_rls(x, tissue, cost = rep(1:4, 15), budget = 6, k = 4), "price of the model")
# 7. two responses in different units: the importance was of the one with the larger numbers
both <- cbind(il6 = x[, 1] + rnorm(62), crp = 1000 * (x[, 4] + rnorm(62)))
typed(variable_importance(greedy_rls(x, both, k = 2, size = 2)), holds = all(it$importance < 2))
# 8. intervals by the names of other functions
typed(predict(linear, mtcars[1:2, ], interval = "prediction", level = 95), "below 1", error = TRUE)
typed(predict(linear, mtcars[1:2, ], conf.level = 0.9), "it is `level`", error = TRUE)
typed(predict(linear, mtcars[1:2, ], interval = "prediction", level = 0.99), "needs 99 rows")
# 9. an experiment: a message about `data`, which an experiment has not, and no list of its columns
if (section("paired samples", "SummarizedExperiment")) {
  se$patient <- rep(1:31, 2)
  typed(as_problem(se, "tissue", assay = 2, groups = "subject"), "they have .*patient",
        error = TRUE)
  typed(greedy_rls(se, "tissue", assay = 2, groups = "patient", adjust = ~ batch, k = 3),
        c("31 groups", "adjusted for: batch"))
}
# 10. genotypes by the stem of their files, as plink has it, and the phenotype of the .fam file
set.seed(5)
stem <- tempfile("cohort")
copies <- matrix(rbinom(40 * 10, 2, 0.4), 40)
bytes <- colSums(matrix(c(3, 2, 0)[copies + 1], 4) * 4^(0:3))
writeBin(as.raw(c(0x6c, 0x1b, 1, bytes)), paste0(stem, ".bed"))
writeLines(sprintf("1 rs%d 0 %d A G", 1:10, 1:10), paste0(stem, ".bim"))
writeLines(sprintf("f%d i%d 0 0 1 %g", 1:40, 1:40, copies[, 3] + rnorm(40) / 3),
           paste0(stem, ".fam"))
phenotype <- read.table(paste0(stem, ".fam"))$V6
typed(greedy_rls(stem, phenotype), "genotypes is .*[.]bed", error = TRUE)
typed(bed_matrix(stem), "[.]bed", error = TRUE)
typed(greedy_rls(paste0(stem, ".bed"), phenotype, k = 2), holds = selected(it)[1] == "rs3")
# 11. a table in a file
table <- tempfile(fileext = ".csv")
write.csv(mtcars, table)
typed(greedy_rls(table, mtcars$mpg), "read[.]csv", error = TRUE)
# 12. what verify() says: every kind of claim, how many were checked, and the largest deviation
checked <- typed(verify(linear, mpg ~ ., mtcars, claims = Inf),
                 c("claims retrained from scratch: all of them hold", "available", "deviation"))
typed(table(checked$claims$ok), "TRUE")
typed(plot(checked), "no picture of .*verification", error = TRUE)

# ---- a fifth newcomer --------------------------------------------------------------------------

# Twelve tasks of a biologist on data of other packages, each written down from the help pages
# alone. What the comments say was found, and mended.

load_data <- function(name, package) {
  utils::data(list = name, package = package, envir = .GlobalEnv)
}

if (section("leukaemia", "multtest")) {
  load_data("golub", "multtest")
  by_gene <- `colnames<-`(t(golub), golub.gnames[, 2])
  leukaemia <- factor(golub.cl, labels = c("ALL", "AML"))
  # 1. genes in rows, codes of classes, genes of one name
  typed(greedy_rls(golub, golub.cl), "t[(]x[)]", error = TRUE)
  typed(as_problem(by_gene, leukaemia), c("two columns named", "make_unique"), error = TRUE)
  signature <- typed(greedy_rls(t(golub), leukaemia, k = 3, size = 3), "AML [(]11[)]")
  # 2. a table of right and wrong: no word said where the classes held out are
  typed(predict(signature, type = "class"), "augment", error = TRUE)
  typed(table(leukaemia, generics::augment(signature)$.pred_class),
        holds = sum(diag(it)) >= 34)
}
if (section("bladder", "bladderbatch")) {
  load_data("bladderdata", "bladderbatch")
  # 3. an experiment of two assays, batches as numbers, and one batch held out after the other
  typed(as_problem(bladderEset, "cancer"), c("2 assays", "exprs"), error = TRUE)
  bladder <- bladderEset[1:300, ]
  typed(as_problem(bladder, "cancer", assay = "exprs", adjust = ~ batch), "one slope is assumed")
  typed(as_problem(bladder, "cancer", assay = "exprs", adjust = ~ factor(batch)),
        "factor[(]batch[)]2")
  typed(cross_validate(bladder, "cancer", greedy_rls, assay = "exprs", groups = "batch",
                       outer = "loo", k = 2), c("by group", "worst, relative"))
}
if (section("acute lymphoblastic leukaemia", "ALL")) {
  load_data("ALL", "ALL")
  # 4. the first letter of a type, and relapses that are not known
  typed(as_problem(ALL, ~ substr(BT, 1, 1)), "B [(]95[)], T [(]33[)]")
  typed(as_problem(ALL, "relapse"), "na[.]omit", error = TRUE)
  typed(as_problem(ALL, "relapse", na.action = na.omit), "28 rows with missing", nrow(it) == 100)
  typed(greedy_rls(ALL, "mol.biol", subset = mol.biol != "NEG"), "problem[[]rows", error = TRUE)
}
if (section("survival of patients", "survival")) {
  liver <- survival::pbc
  alive <- survival::Surv(time, status == 2) ~ age + bili + edema + albumin
  # 5. three codes of an event, hazard ratios, survival after five years
  hazard <- typed(greedy_rls(alive, liver, loss = "cox", k = 3, size = 2), "Cox regression")
  typed(generics::tidy(hazard, exponentiate = TRUE), holds = it$estimate[it$term == "bili"] > 1)
  typed(predict(hazard, liver[1:2, ], type = "survival", times = 5 * 365.25),
        holds = it[1, ] < it[2, ])
  # 6. the patients of high risk: head() and rows of them were an error about an edited object
  risks <- typed(risk_groups(hazard, 3), c("middle", "median"))
  typed(head(risks, 3), holds = identical(class(it), "data.frame") && nrow(it) == 3)
  typed(risks[risks$group == "high", ], holds = nrow(it) > 100)
  # 7. hospitals, as groups and as strata
  lung <- na.omit(survival::lung)
  typed(greedy_rls(survival::Surv(time, status) ~ . - inst, lung, groups = inst, k = 3, size = 2),
        "groups of .* rows")
  typed(l1_path(survival::Surv(time, status) ~ age + sex + survival::strata(inst), lung,
                nlambda = 5), "strata of .* rows")
}
if (section("clinics", "MASS")) {
  pima <- MASS::Pima.tr
  # 8. a required sensitivity on other patients
  diabetes <- greedy_rls(type ~ ., pima)
  sensitive <- choose_threshold(diabetes, sensitivity = c(Yes = 0.9))
  found <- typed(predict(diabetes, MASS::Pima.te, type = "class", threshold = sensitive))
  typed(mean(found[MASS::Pima.te$type == "Yes"] == "Yes"), holds = it > 0.85)
  # 9. successes and failures as glm() has them
  girls <- MASS::menarche
  typed(l1_path(cbind(Menarche, Total - Menarche) ~ Age, girls, loss = "binomial"),
        "share of successes, .* trials as `weights`", error = TRUE)
  shares <- l1_path(Menarche / Total ~ Age, girls, weights = Total, loss = "binomial",
                    lambda = 1e-4)
  glm_fit <- glm(cbind(Menarche, Total - Menarche) ~ Age, binomial, girls)
  typed(coef(shares), holds = all.equal(it, coef(glm_fit), tolerance = 1e-4))
  # 10. the residual standard deviation of a chosen model was that of columns which were given, and
  # the weights of a weighted fit were NULL
  typed(sigma(linear), c("shrunk", "held_out"), error = TRUE)
  typed(weights(greedy_rls(mpg ~ ., cars, weights = w, k = 2)), holds = all(it == cars$w))
  # 11. an identifier among the columns, which names patients who occur more than once
  typed(tryCatch(greedy_rls(class ~ ., MASS::biopsy), error = function(e) NULL),
        "'ID' .* each of which becomes a column")
  typed(as_problem(class ~ ., MASS::biopsy, groups = ID, missing = "mean"),
        c("groups of 1 to 6 rows", "16 missing values"), ncol(it) == 9)
}
if (section("species", "modeldata")) {
  load_data("scat", "modeldata")
  load_data("meats", "modeldata")
  # 12. three species by rank, and three contents of meat by the same wavelengths
  typed(cross_validate(Species ~ d13C + d15N + CN + Diameter, scat, greedy_rls, outer = 3, k = 3,
                       na.action = na.omit, measure = c("error", "auc")),
        "area under the ROC curve +0[.]", it$estimate[["mean"]] < 0.5)
  typed(greedy_rls(cbind(water, fat, protein) ~ ., meats, k = 4, size = 4),
        c("22 rows are copies", "held-out R-squared of the responses"))
}

if (length(skipped)) cat(paste0("skipped: ", skipped, "\n"), sep = "")
cat(sprintf("%d passed, %d failed\n", passed, failed))
quit(status = as.integer(failed > 0))
