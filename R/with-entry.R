# Every function that a user calls with data runs as entered(). R reads this file after their files,
# as its name comes after theirs.

with_entry <- function(fun) {
  body(fun) <- call("entered", body(fun))
  fun
}

generics <- paste("^(as[.]matrix|as_file_matrix|as_problem|augment|judge|plot|predict|update",
                  "variable_importance)[.]", sep = "|")
for (name in c(fitters, grep(generics, ls(), value = TRUE), "[.matrix_in_place", "added_value",
               "alternatives", "as_panel", "bed_matrix", "certify", "choose_threshold",
               "compare_methods", "cross_validate", "cv_error", "exchange", "file_matrix",
               "float_matrix", "holdout", "lambda_max", "lars_path", "learning_curve",
               "make_folds", "matching_pursuit", "nystrom_features", "panel_code", "panel_error",
               "permutation_test", "read_panel", "report", "risk_groups", "select_basis",
               "stability", "stability_selection", "threshold_coef", "transfer", "verify",
               "write_file_matrix", "write_panel")) {
  assign(name, with_entry(get(name)))
}
rm(generics, name)

# Verbs of R and broom for results without a model, and for what is no result, refuse these objects.
refuse_verb <- function(object, verb) {
  stop_argument("%s has no %s(): fits%s have one", describe(object), verb,
                if (verb %in% c("as.data.frame", "glance", "tidy")) " and results" else "")
}

#' @rawNamespace
#' S3method(augment,sparsels_result)
#' S3method(formula,sparsels_result)
#' S3method(logLik,sparsels_result)
#' S3method(nobs,sparsels_result)
#' S3method(predict,sparsels_result)
#' S3method(vcov,sparsels_result)
#' S3method(augment,sparsels_object)
#' S3method(formula,sparsels_object)
#' S3method(logLik,sparsels_object)
#' S3method(nobs,sparsels_object)
#' S3method(predict,sparsels_object)
#' S3method(vcov,sparsels_object)
#' S3method(as.data.frame,sparsels_object)
#' S3method(glance,sparsels_object)
#' S3method(tidy,sparsels_object)
for (class in c("sparsels_result", "sparsels_object")) {
  verbs <- c("augment", "formula", "logLik", "nobs", "predict", "vcov",
             if (class != "sparsels_result") c("as.data.frame", "glance", "tidy"))
  for (verb in verbs) {
    given <- formals(get(verb))
    assign(paste(verb, class, sep = "."), as.function(c(
      given, call("refuse_verb", as.name(names(given)[1L]), quote(.Generic))
    ), environment()))
  }
}
rm(class, given, verb, verbs)
