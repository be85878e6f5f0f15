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
