#' sparsels: sparse least-squares learning with exact cross-validation
#'
#' Chooses few features or few basis vectors for regression and classification, and reports the
#' exact cross-validated error of every model on the way.
#'
#' Start with [greedy_rls()], which selects features, and [cross_validate()], which tells how good
#' the selection really is; or with [kernel_rls()], which learns a kernel expansion on few rows, and
#' [cv_error()], which holds any rows out of it; or with [poss()] and [best_subset()], which search
#' for the subset that fits best; or with [l1_path()], the lasso and its relatives, and
#' [safe_screen()], which tells what they can ignore. Data are stated once with [as_problem()], rows
#' are held out by [make_folds()]; methods return a [sparse_fit] or a [kernel_fit].
#'
#' @useDynLib sparsels, .registration = TRUE
#' @importFrom stats coef predict fitted residuals nobs update formula terms model.matrix variable.names
#' @importFrom Matrix crossprod
#' @keywords internal
"_PACKAGE"
