#' sparsels: sparse least-squares learning with exact cross-validation
#'
#' Selects few features, or few basis vectors of a kernel, for regression, classification, survival
#' and ranking, and reports the exact cross-validated error of every model on the way.
#'
#' @details Start with [greedy_rls()], and with [cross_validate()] for the error of the whole
#' analysis.
#'
#' **Data**
#' * What forms of data are there, and which properties: [as_problem()] and its topic pages.
#' * Data larger than memory: [file_matrix()], [bed_matrix()], [as_file_matrix()], [float_matrix()].
#' * Which rows are held out together: [make_folds()].
#'
#' **Few variables**
#' * Which few of many variables predict best: [greedy_rls()].
#' * Which subset fits best: [best_subset()] with a proof, [poss()] with many variables,
#'   [forward_regression()], [sequential_replacement()], [rfe()].
#' * A lasso, elastic net, l1 logistic regression or l1 support vector machine: [l1_path()],
#'   [l1_size()]. Which columns it can ignore: [safe_screen()].
#' * Ridge regression with all variables: [rls()].
#' * From tidymodels, caret and mlr3: [step_select_sparsels()], [parsnip_engine],
#'   [caret_greedy_rls], [mlr3_learners].
#'
#' **Few rows of a kernel, sparse linear systems**
#' * Kernel ridge regression on few basis vectors: [kernel_rls()], [select_basis()].
#' * Least-squares support vector machines: [lssvm()], [fs_lssvm()].
#' * A sparse solution of a linear system: [scdp()], [matching_pursuit()], [lars_path()].
#'
#' **A fit**
#' * Coefficients, predictions, pictures and tables: [sparsels_fit], [sparse_fit], [kernel_fit],
#'   [tidiers], [autoplot].
#' * Probabilities, thresholds and risk groups: [class_probabilities], [choose_threshold()],
#'   [risk_groups()].
#' * The error for other folds, without refitting: [cv_error()], [holdout()].
#'
#' **Trust**
#' * The error of the whole analysis: [cross_validate()]. Which method is best:
#'   [compare_methods()]. Would more samples help: [learning_curve()]. Do genes add to clinical
#'   variables: [added_value()].
#' * How far can a list of variables be trusted: [judge()] and [report()], or one by one
#'   [permutation_test()], [stability_selection()], [exchange()] and [panel_error()].
#' * Are the numbers of a fit right: [verify()].
#'
#' `vignette("which-method", package = "sparsels")` has an example for each of the main questions.
#'
#' @useDynLib sparsels, .registration = TRUE
#' @importFrom stats coef predict fitted residuals nobs update formula terms model.matrix
#'   variable.names
#' @importFrom Matrix crossprod
#' @keywords internal
"_PACKAGE"
