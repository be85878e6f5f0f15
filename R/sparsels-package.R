#' sparsels: sparse least-squares learning with exact cross-validation
#'
#' Selects few features, or few basis vectors of a kernel, for regression, classification, survival
#' and ranking, and reports the exact cross-validated error of every model on the way.
#'
#' @details Start with [greedy_rls()], and with [cross_validate()] for the error of the whole
#' analysis. `vignette("which-method", package = "sparsels")` has examples.
#'
#' | **Question** | **Function** |
#' |---|---|
#' | How do I give data, weights, groups, survival times? | [as_problem()] |
#' | And data larger than memory? | [file_matrix()], [bed_matrix()], [as_file_matrix()] |
#' | Which rows are held out together? | [make_folds()] |
#' | Which few of many variables predict best? | [greedy_rls()] |
#' | Which subset fits best? | [best_subset()], [poss()], [forward_regression()], [rfe()] |
#' | A lasso, elastic net or l1 classifier? | [l1_path()], [l1_size()] |
#' | Which columns can the lasso ignore? | [safe_screen()] |
#' | Ridge regression with all variables? | [rls()] |
#' | Kernel ridge regression on few rows? | [kernel_rls()], [select_basis()] |
#' | A least-squares support vector machine? | [lssvm()], [fs_lssvm()], [tune_lssvm()] |
#' | A sparse solution of a linear system? | [scdp()], [matching_pursuit()], [lars_path()] |
#' | What does a fit predict, and from what? | [sparsels_fit], [sparse_fit], [kernel_fit] |
#' | As a table, as a picture? | [tidiers], [autoplot] |
#' | How probable is each class? | [class_probabilities], [choose_threshold()] |
#' | Which rows are at high risk? | [risk_groups()] |
#' | The error for other folds, without refitting? | [cv_error()], [holdout()] |
#' | What is the error of the whole analysis? | [cross_validate()] |
#' | Which method is best on these data? | [compare_methods()] |
#' | Would more samples help? | [learning_curve()] |
#' | Do genes add to clinical variables? | [added_value()] |
#' | How far can a list of variables be trusted? | [judge()], [report()] |
#' | Is a selection better than chance, or stable? | [permutation_test()], [stability_selection()] |
#' | What could replace a variable? | [exchange()] |
#' | How good is a list from elsewhere? | [panel_error()] |
#' | Are the numbers of a fit right? | [verify()] |
#' | From tidymodels, caret, mlr3? | [step_select_sparsels()], [caret_greedy_rls], [mlr3_learners] |
#'
#' @useDynLib sparsels, .registration = TRUE
#' @importFrom stats coef predict fitted residuals nobs update formula terms model.matrix
#'   variable.names
#' @importFrom Matrix crossprod
#' @keywords internal
"_PACKAGE"
