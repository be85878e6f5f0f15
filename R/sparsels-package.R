#' sparsels: sparse least-squares learning with exact cross-validation
#'
#' Selects few features, or few basis vectors of a kernel, for regression and classification, and
#' reports the exact cross-validated error of every model on the way.
#'
#' Start with [greedy_rls()], which selects features, and [cross_validate()], which estimates the
#' error of the whole analysis. [best_subset()] and [poss()] search for the subset that fits best,
#' [l1_path()] fits the lasso and its relatives, and [safe_screen()] names the columns that these
#' can ignore. [kernel_rls()] fits kernel ridge regression on few basis vectors, [lssvm()] and
#' [fs_lssvm()] least-squares support vector machines, and [scdp()] solves linear systems sparsely.
#' All take data in the forms of [as_problem()] and folds from [make_folds()], and return a
#' [sparse_fit], a [kernel_fit], an [fs_lssvm_fit] or a [system_fit]; [sparsels_fit] describes their
#' common methods. `vignette("which-method", package = "sparsels")` says which method answers which
#' question.
#'
#' @useDynLib sparsels, .registration = TRUE
#' @importFrom stats coef predict fitted residuals nobs update formula terms model.matrix
#'   variable.names
#' @importFrom Matrix crossprod
#' @keywords internal
"_PACKAGE"
