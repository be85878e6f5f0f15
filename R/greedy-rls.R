#' Greedy feature selection for ridge regression by exact cross-validation
#'
#' Adds features to (or removes them from) a ridge regression model one at a time, at each step the
#' one that gives the smallest exact cross-validated error, and chooses the number of features by
#' the cross-validated error of the whole search.
#'
#' For a set \eqn{S} of features the model minimises
#' \deqn{\sum_j w_j \| y_j - b' z_j - B' \tilde x_{j,S} \|^2 + \lambda \| B \|_F^2}{
#' sum_j w_j || y_j - b' z_j - B' xs_j[S] ||^2 + lambda ||B||_F^2}
#' with case weights \eqn{w}, unpenalised covariates \eqn{z} (the intercept is one) and
#' standardised columns \eqn{\tilde x}{xs}. There is no 1/m: for the same model
#' the lambda of `glmnet(alpha = 0, weights = w)` is `lambda * s / sum(w)`, where s is the weighted
#' standard deviation of the response with divisor `sum(w)`.
#'
#' **The size.** The criterion that chose the features has been minimised over all columns, so it is
#' optimistic for every model of the path; with many more columns than rows it tends to 0 even if no
#' column is related to the response. By default the whole procedure (scaling of the columns,
#' lambda, search and refit) is therefore repeated without each of ten folds, the models of every
#' size predict the held-out rows, and the size is chosen by their error. A model is called clearly
#' worse than the best one if its error is higher by more than two standard errors of the paired
#' difference over folds, which is smaller than the standard error of either. If the model without
#' features is not clearly worse than the best, the size is 0. Otherwise it is the size with the
#' smallest error; if that is above 20, it is the smallest size of at least 20 that is not clearly
#' worse, since long curves are flat and the position of their minimum is unstable. With fewer
#' columns n than rows m, the two standard errors are \eqn{2 \sqrt{n / m}}{2 sqrt(n / m)} in all
#' comparisons but the first (of size 0).
#'
#' `fit$path` has both errors of every size, `criterion` and `cv`. `fit$estimate` is the
#' cross-fitted error of the procedure including its choice of size and lambda: for each fold they
#' are chosen by the errors on the other folds. `size = "criterion"` with `refit = FALSE` is the
#' paper's algorithm, which does not repeat the search.
#'
#' **lambda.** With a large lambda the search prefers features that predict well individually, with
#' a small one features that predict well jointly. By default two values are tried, 16 and 1/4 times
#' the mean sum of squares of a column (which is m for standardised, unweighted columns), and the
#' largest is chosen whose smallest cross-validated error is not clearly worse than the best. The
#' coefficients of each size are then refitted by ridge regression on the chosen features alone, at
#' the lambda among `16^(-3:1)` times the mean sum of squares that has the smallest held-out squared
#' error. `bench/defaults.R` in the sources compares these rules with other packages.
#'
#' **Folds.** The held-out error is exact for any partition, be it leave-one-out, N-fold, grouped or
#' repeated: it equals retraining without each fold in turn. The errors of a repeated partition are
#' averaged. What a partition costs is in section Cost.
#'
#' **Search.** `"forward"` only adds. `"floating"` drops features after each addition as long as
#' that beats the best model of the smaller size seen so far. `"forward_backward"` drops the least
#' useful feature when that costs at most half of what the last addition gained (Zhang 2009, with
#' the held-out criterion instead of the training error). `"backward"` starts from all usable
#' features and drops one at a time until none remains; its models of size 0 to `k` are kept.
#'
#' **A given panel.** With `start` the search begins with columns that are known beforehand, such as
#' a published signature: `search = "forward", k = length(start)` scores the panel, a larger `k`
#' extends it, and `"backward"` prunes it. The panel itself is not searched for again in the folds
#' of `size_folds`, so `cv` and `estimate` are honest for a panel that comes from elsewhere. For one
#' that was chosen on the same rows they are as optimistic as that choice. A member that is constant
#' in a part of the rows is left out there. `"forward_backward"` counts a member that gained nothing
#' when it was added as one that gained 0: it is dropped where that costs nothing.
#'
#' **Groups of columns.** Where the problem has groups, such as the levels of a factor, which are a
#' group by default, or the `columns_group` of [as_problem()], each step adds or drops a whole
#' group: the one with the smallest held-out error of all its columns together, which is as exact as
#' that of a column. Sizes then count groups, a column without a group being a group of its own:
#' `k`, `size` and the rules of size, `fit$path$size`, and the `size` of `coef()` and `predict()`.
#' `fit$path` has a row for each group moved: its name in `name`, its first column in `feature` and
#' the number of its columns in `columns`. Nothing favours small groups but the held-out error: a
#' group of many columns that explains little more than a small one has a larger error. A group may
#' have collinear columns, among which ridge regression divides the coefficient.
#'
#' With `group_rule = "one"` sizes count columns, and no column is added to a model that has another
#' one of its group. `keep` records groups, `start` takes the whole group of each column that it
#' names. `cost` is not for groups that move together, `cluster` for no groups, nor `"backward"` for
#' `group_rule = "one"`.
#'
#' **Hierarchy.** Where columns ask for others, as interactions do with `hierarchy = "strong"` of
#' [as_problem()], a step adds only a column, or group, that has in the model all that it asks for,
#' and drops only one that no other asks for; of these it takes the best as always. `start` must
#' have what its columns ask for before them. An interaction is found only after its main effects
#' have come in by their own merit: where these say little without it, errors may rise on the way to
#' it, and `search = "backward"`, which begins with all columns, finds what forward search misses.
#' Not with `cluster`.
#'
#' **Prices.** With `cost` each step adds the column with the largest gain, the criterion now less
#' the criterion with the column, divided by its price, of those that the rest of `budget` allows.
#' Once an assay is paid for, its other columns are free: as long as one of them lowers the
#' criterion, the best of these comes before any column at a price. An assay of many columns has
#' many that lower it a little, and each counts as one of the `k`. Where no column lowers the
#' criterion, the one that raises it least is added, whatever its price. The path ends at size `k`
#' or when `budget` allows no other column; `fit$path$price` is the price of each model. The size is
#' chosen by the error as without prices: a smaller size costs no more.
#'
#' **Ties** go to the lowest column; differences below 1e-12 of the response's mean square are
#' ties. Ties of a criterion other than `"squared"` are broken by the squared error first. Scores
#' within 1e-10 of each other are equal: such a pair counts one half in the AUC, and equal scores go
#' to the first class.
#'
#' @param x,y,data The data, in any form that [as_problem()] takes: a matrix (dense or sparse) and
#'   its response; a formula and data; an experiment of Bioconductor, such as a
#'   `SummarizedExperiment`, and the name of its response; or an earlier problem.
#' @param ... Further arguments of [as_problem()]: `weights`, `subset`, `na.action`, `adjust`,
#'   `intercept`, `standardize`, `task`, `assay`, `make_unique`, `missing`, `columns_group`,
#'   `group_rule`, `hierarchy`. Any other name is an error.
#' @param k Largest number of features, between 1 and the number of usable columns; of groups, where
#'   columns move in groups, see Details. `NULL`, the
#'   default: 20, doubled for as long as the cross-validated error is still improving in the last 10
#'   sizes, and at most `min(usable columns, m - 1, 100)`; with a number for `size`, that number;
#'   with `size = "criterion"` up to that maximum, stopping when the criterion has not improved for
#'   10 steps, drops included.
#' @param lambda Positive ridge parameter of the search. Of several values one is chosen by the
#'   cross-validated error. `NULL`, the default: see Details; with `size = "criterion"` 16 times the
#'   mean sum of squares of a column. `"full"`, the paper's choice: among `2^(-15:15)` the value
#'   with the smallest leave-one-out squared error of the model with all features (see [rls()]),
#'   which takes O(mn min(m, n)) time and is an error where that would be minutes.
#' @param size How the number of features is chosen: by the cross-validated error of the whole
#'   procedure, `"cv"` as in Details, `"min"` at its minimum, or `"1se"`, the smallest size within
#'   one standard error of the minimum; `"criterion"`, the best value of the criterion that chose
#'   the features, which is optimistic; or a number.
#' @param size_folds The folds in which the procedure is repeated: a number (10 by default), drawn
#'   stratified by class and with the groups of `folds` kept together, from a random number stream
#'   with a fixed seed, so that the same call gives the same fit whatever `set.seed()` says; or any
#'   value of [make_folds()], repeated partitions included.
#' @param refit Whether the coefficients of each size are refitted by ridge regression on the chosen
#'   features at a lambda of their own. By default `TRUE` if `lambda` is not given.
#' @param folds Which rows are held out together in the search: `"loo"`, leave-one-out, or of a
#'   ranking leave-query-out; a number of folds (stratified for classes, of a ranking of whole
#'   queries); a vector of fold ids; a list of those; or the result of
#'   [make_folds()].
#' @param criterion The held-out criterion of the search: `"squared"`, the default, the weighted
#'   mean squared error; `"error"`, the misclassification rate; `"balanced"`, the mean of the
#'   classes' misclassification rates; `"absolute"`; `"concordance"`, for numbers the share of pairs
#'   of rows held out together (with a ranking of one query, see [as_problem()]) whose predictions
#'   are in the order of their responses, which needs folds of several rows and costs O(m log m) for
#'   each candidate; `"auc"`, the area under the ROC curve over
#'   pairs of rows held out together, which with `"loo"` means leave-pair-out and costs O(m^2) for
#'   each candidate; or a function `(y, prediction, fold)` of the coded response, the held-out
#'   predictions (vectors, or matrices for several responses) and the fold ids that returns one
#'   number, smaller being better unless `attr(f, "better")` is `"higher"`. Means are weighted by
#'   the case weights.
#' @param search `"forward"` (the default), `"backward"`, `"floating"` or `"forward_backward"`, see
#'   Details.
#' @param start Columns that the search begins with, by name or number; none by default. All
#'   searches but `"backward"` first add them, in the order given, whatever they gain, and go on:
#'   the path has the exact error of each beginning of the list. `"floating"` and
#'   `"forward_backward"` may then drop some. `"backward"` begins with these columns in place of
#'   all, and only prunes them; any other search needs a `k` of at least their number. Every
#'   repetition in folds begins with them, too: for its errors to be honest they must not have been
#'   chosen on these rows, see Details.
#' @param cost Price of each column, for a forward search by what is gained per price: positive
#'   numbers, with the names of the columns or one for each in order; or a data frame with the
#'   columns `cost`, `assay` and `name`, of which the last two may be left out. The columns of one
#'   assay are measured together: its price, the same in all their rows, is paid once, and `NA` is a
#'   column that is measured alone. See Details.
#' @param budget The most that the columns of a model may cost together; no limit by default.
#' @param keep Number of runners-up recorded at each step: the best candidates that were not chosen,
#'   with their exact criterion, in `fit$alternatives`. None by default.
#' @param threads Number of OpenMP threads over columns, 1 by default. Results are the same for any
#'   number. A `criterion` function runs on a single thread. The folds of `size_folds` run on the
#'   plan set by `future::plan()` when the package future.apply is installed, otherwise
#'   sequentially.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param BPPARAM `NULL`, or how BiocParallel runs the folds of `size_folds`, such as
#'   `BiocParallel::MulticoreParam(2)`; it goes before a future plan.
#' @param cluster A cluster of R's parallel package over which the columns are spread, such as
#'   `parallel::makeCluster(2)`; by default none. See section Clusters.
#'
#' @return An object of class `sparse_fit`, see [sparse_fit]. `fit$path` has a row for every step,
#'   `fit$coefficients` the best model of every size, `fit$size` is the chosen one and
#'   `fit$estimate` its cross-fitted error.
#'
#' @section Cost: The defaults run 21 searches, two lambdas in ten folds and the final one on all
#'   rows, each with five refits of O(m k^2); a training set is the same `x` with weight 0 on the
#'   held-out rows, so nothing is copied. What follows is the cost of one search.
#'
#' Forward search by the squared error, the default, computes the error of a candidate only if a
#' lower bound of it, which takes a few operations, does not rule the candidate out, by any `folds`
#' and at any `cost`. The result is the same as without bounds: a few passes over `x` suffice, in
#' place (integer and sparse columns too), and the working memory is k m + (k + 8) n doubles, up to
#' 32 MB more, and m doubles for each candidate computed. Folds of more than one row take m (k + q +
#' 12) more for each repeat, q being the number of covariates, the intercept among them, and two to
#' three times that if folds have only a few rows or about k. Up to 64 MB of the memory are kept for
#' the next call.
#'
#' Bounds rule out few candidates where columns are heavy-tailed, where `lambda` is small and rows
#' are few or folds few and large, and in steps far beyond the best size. With folds, the errors of
#' all candidates are then updated after each step, which takes one pass over `x` and (2 + 2 L) n F
#' doubles, for L responses and F folds, those of all repeats together. Where that would be more
#' memory than what follows, where digits are lost, and with leave-one-out, every candidate is
#' evaluated instead: O(mn) time for a step and, besides `x`, m x n doubles, with folds m x n more
#' for each repeat. Neither is done where it would take more than 4 GB, or the m x n doubles alone
#' more than 2 GB; candidates that are not ruled out are then computed one by one.
#' Backward, floating and forward-backward search, other criteria than `"squared"`, and an `x` of
#' fewer than 64 columns or 25000 values always have every candidate evaluated.
#'
#' Where `x` is a [file_matrix()] or sparse and m x n doubles would be more than 2 GB, they are not
#' kept: evaluating every candidate then reads `x` once for each step and computes each column anew
#' from the features chosen, O(smn) time for the step to s + 1 features, in k m doubles besides
#' those above. The errors are the same but for rounding. A backward search keeps m doubles for each
#' column that it begins with: from more of them than 2 GB hold it is an error.
#'
#' Where columns move in groups every candidate is always evaluated, with m x n doubles, with folds
#' m x n more for each repeat: a group of s columns takes O(m s^2) time to score and 3 m s more
#' doubles for each thread, and moving it is s sweeps over the m x n doubles. It is an error for a
#' [file_matrix()] or a sparse `x` where these would be more than 2 GB. At most one of a group is
#' searched for as single columns are.
#'
#' `fit$work` counts the operations: `candidates` (their number, summed over the steps), `evaluated`
#' (the number whose error was computed from the column), `passes` (over `x`, without that of
#' [as_problem()]: columns read divided by n), and the steps from which on the errors of all
#' candidates were updated, `recurrence_from`, every candidate was evaluated from the m x n doubles,
#' `dense_from`, or from `x` read again, `reread_from`, each `NA` if that was never so.
#'
#' `"backward"` adds O(mn min(m, n)) for the start, and `lambda = "full"` as much for the choice, in
#' one decomposition by LAPACK that Ctrl-C cannot interrupt. Ctrl-C during `size_folds` chooses the
#' size by the folds completed, if there are at least two; during the final search it returns the
#' path found so far, with a warning of class `sparsels_interrupted` and `fit$status ==
#' "interrupted"`.
#'
#' @section Clusters: With `cluster` each worker searches its own range of the columns, a shard, for
#'   forward search by the squared error without `cost` and `keep`, by any `folds`. It is any
#'   cluster that the functions of parallel take: of processes on this machine or on others
#'   (`parallel::makeCluster()`), of MPI processes (packages snow and Rmpi) or of mirai. The workers
#'   need this version of the package, and `threads` is the number for each.
#'
#'   The fit is that of one process, to the last bit for any number of shards, on processors with
#'   the same vector instructions: a column joins the model by its values alone, which go to all
#'   workers. Which one joins is decided by the scores of all shards, with ties to the lowest
#'   column. Scores may differ in their last digits between shards and one process, by far less than
#'   a tie. `fit$work` has the sums over the shards.
#'
#'   A matrix is sent to the workers once, each gets its columns. A [file_matrix()] is not sent:
#'   each opens the file, which must have the same path there, and reads its columns. In one step
#'   every worker sends its best score, one sends its column of m doubles, and each gets that. A
#'   shard reads its columns once for each column that comes from another, so it goes over them more
#'   often than a single process, about `k` times. A search of milliseconds runs in the calling
#'   process, as do refits.
#'
#'   Permutations, outer folds and other repeats can run on the same workers, as tasks: with
#'   `future::plan(future::cluster, workers = cl)` and no `cluster` in the call.
#'
#'   A worker that is lost ends the search under way as Ctrl-C does, with a warning of class
#'   `sparsels_warning_worker` that names it by its number, host and process; nothing to return is
#'   an error of class `sparsels_error_worker`. Later searches run in the calling process, and the
#'   cluster should be stopped, as its other workers may still have answers to give. Ctrl-C waits
#'   for the answers to the step under way, after which the cluster can be used again. Workers keep
#'   nothing when the call ends.
#'
#' @section Accuracy: Errors and coefficients equal those of retraining up to rounding error times
#' the condition number of the model: about 1e-12 for usual data and lambda, 1e-8 for exact
#' duplicates in a model of standardised columns at `lambda = 1e-3`. Searches that drop features
#' recompute their state from `x` when it has lost digits. Held-out errors lose more digits where a
#' row or fold is fitted almost exactly when it is in the training set: one weight of 1e8 and more
#' among ones, or a model with about as many columns as rows at a tiny `lambda`. Where fewer than 10
#' digits are left a warning of class `sparsels_warning_precision` says how many.
#'
#' @section Errors: Invalid input is an error of class `sparsels_error_input` that names the
#' argument, what it must be and what it was. So are covariates that cannot be estimated without
#' some fold, which the message names. A warning of class `sparsels_warning_edge` says that the size
#' is the largest that was tried, or that lambda is the first or last of those given.
#'
#' @references Pahikkala, T., Airola, A., Salakoski, T. (2010). Linear time feature selection for
#' regularized least-squares. \doi{10.48550/arXiv.1003.3570}
#'
#' Zhang, T. (2009). Adaptive forward-backward greedy algorithm for sparse learning with linear
#' models. Advances in Neural Information Processing Systems 21, 1921-1928.
#'
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(40 * 200), 40, dimnames = list(NULL, paste0("gene", 1:200)))
#' tumour <- factor(ifelse(x[, 7] - x[, 50] + rnorm(40) / 2 > 0, "yes", "no"))
#' fit <- greedy_rls(x, tumour)
#' fit
#' selected(fit)
#' table(predict(fit, x, type = "class"), tumour)
#' plot(fit)
#' selected(fit, "1se")
#'
#' # a panel from elsewhere, scored and extended
#' panel <- c("gene7", "gene9")
#' greedy_rls(x, tumour, start = panel, k = 6)
#' # what is gained per price: genes at 1, and a chip of 100 genes for 3
#' prices <- data.frame(cost = rep(c(1, 3), each = 100), assay = rep(c(NA, "chip"), each = 100))
#' greedy_rls(x, tumour, cost = prices, budget = 5, k = 10)
#' # pathways as a whole, and the best gene of each
#' pathways <- list(repair = 1:5, growth = 6:9, transport = 48:52)
#' greedy_rls(x, tumour, columns_group = pathways, k = 5)
#' greedy_rls(x, tumour, columns_group = pathways, group_rule = "one", k = 5)
#' # interactions only beside their main effects
#' d <- data.frame(x[, 1:5])
#' d$y <- d$gene1 + d$gene2 + 2 * d$gene1 * d$gene2 + rnorm(40)
#' greedy_rls(y ~ .^2, d, hierarchy = "strong", k = 8)
#' @export
greedy_rls <- function(x, y = NULL, ..., data = NULL, k = NULL, lambda = NULL, size = "cv",
                       size_folds = 10, refit = is.null(lambda), folds = "loo",
                       criterion = "squared", search = "forward", start = NULL, cost = NULL,
                       budget = Inf, keep = 0, threads = 1, progress = interactive(),
                       BPPARAM = NULL, cluster = NULL) {
  problem <- fitter_problem(x, y, ..., data = data, ranks = TRUE)
  check_choice(search, "search", searches)
  start <- check_start(start, problem)
  control <- path_control(problem, k, lambda, folds, criterion, size, size_folds, start,
                          pruned = search == "backward" && length(start))
  control$search <- search
  control$cost <- check_cost(cost, problem)
  if (!is.null(control$cost) && search != "forward") {
    stop_input("`cost` is for `search = \"forward\"` alone", "sparsels_error_argument")
  }
  control$budget <- check_budget(budget, control$cost, problem, start)
  check_group_search(problem, control, cluster)
  check_hierarchy_search(problem, control, cluster)
  search <- each_lambda(greedy_path)
  if (check_flag(refit, "refit")) search <- with_refit(search)
  control$keep <- min(check_count(keep, "keep", lower = 0L), ncol(problem))
  control$threads <- check_count(threads, "threads")
  control$progress <- check_flag(progress, "progress")
  control$shards <- shards_of(problem, check_search_cluster(cluster, control))
  on.exit(close_shards(control$shards))
  sized_fit("greedy_rls", problem, control, search, short_call(match.call()), BPPARAM = BPPARAM)
}

# Refuses what a search over groups cannot do.
check_group_search <- function(problem, control, cluster = NULL) {
  groups <- problem$column_groups
  if (is.null(groups)) return(invisible())
  together <- groups$rule == "together"
  hint <- if (groups$stated) "" else ": `columns_group = FALSE` takes levels of factors one by one"
  fail <- function(what) stop_input(paste0(what, hint), "sparsels_error_argument")
  if (together && !is.null(control$cost)) {
    fail("`cost` prices single columns, but these move in groups")
  }
  if (!is.null(cluster)) fail("`cluster` is for columns without groups")
  if (!together && control$search == "backward") {
    fail("`search = \"backward\"` begins with all columns of a group, which may have one at most")
  }
  if (together && rereads(problem)) {
    fail(sprintf("groups of columns need a double for each of %d x %d values, %.3g GB, %s",
                 nrow(problem), ncol(problem), 8e-9 * prod(dim(problem)),
                 "more than is kept beside a file or a sparse matrix"))
  }
  start <- groups$of[control$start]
  twice <- anyDuplicated(start[start > 0L])
  if (!together && twice) {
    fail(sprintf("`start` has two columns of group '%s', which may have one at most",
                 groups$names[start[start > 0L][twice]]))
  }
}

# what the search began with
#' @exportS3Method
search_words.greedy_rls <- function(fit) { # nolint: object_name_linter.
  count <- length(fit$control$start)
  if (count == 0L) return(NULL)
  sprintf("the search began with %s: no error accounts for how %s chosen",
          counted(count, "given column"), if (count == 1L) "it was" else "these were")
}

searches <- c("forward", "backward", "floating", "forward_backward")

# The columns that a search begins with, as numbers.
check_start <- function(start, problem) {
  if (is.null(start) || (is.character(start) || is.numeric(start)) && !length(start)) {
    return(integer())
  }
  columns <- start_columns(start, problem)
  if (anyDuplicated(columns)) {
    stop_input(sprintf("`start` has column '%s' twice",
                       problem$names[columns[anyDuplicated(columns)]]), "sparsels_error_argument")
  }
  whole_groups(problem, columns)
}

# the same of columns that may come more than once
start_columns <- function(start, problem) {
  columns <- in_context("`start`", positions(start, ncol(problem), problem$names, "column"))
  excluded <- columns[!problem$usable[columns]]
  if (length(excluded)) {
    stop_input(sprintf("`start` has column '%s', which is excluded: it is %s",
                       problem$names[excluded[1L]], excluded_words(problem)),
               "sparsels_error_argument")
  }
  columns
}

# The arguments shared by all methods with a path of sizes, checked. `grows`: whether larger sizes
# are tried as long as the error improves. `start`: columns that the search begins with; `pruned`:
# whether it has no others.
path_control <- function(problem, k, lambda, folds, criterion, size = "criterion",
                         size_folds = 10, start = integer(), pruned = FALSE) {
  folds <- as_folds(folds, problem)
  fold_basis_check(problem, folds)
  largest <- function(problem) {
    count_units(problem, if (pruned) start[problem$usable[start]] else which(problem$usable))
  }
  usable <- largest(problem)
  begun <- count_units(problem, start)
  if (!is.null(k)) {
    unit <- if (moves_together(problem)) "groups" else "columns"
    what <- sprintf(if (pruned) "the number of %s of `start`" else "the number of usable %s", unit)
    k <- check_count(k, "k", usable, what)
    if (k < begun && !pruned) {
      stop_input(sprintf("`k` is %d, but the search begins with the %d %s of `start`",
                         k, begun, unit), "sparsels_error_argument")
    }
  }
  choice <- lambda_choice(lambda, problem, grid = !identical(size, "criterion"))
  sizing <- size_control(problem, size, size_folds, folds, k, length(choice$lambda))
  grows <- is.null(k) && !is.numeric(sizing$rule)
  if (is.null(k)) {
    k <- if (grows) min(usable, trained_rows(problem) - 1L, 100L) else sizing$rule
    if (!pruned) k <- max(k, begun)
  }
  list(
    k = max(1L, k), largest = largest, grows = grows,
    start = start,
    patience = if (grows) improve_within else 0L, sizing = sizing,
    lambda = choice$lambda, lambda_values = choice$values, lambda_rule = choice$rule,
    lambda_given = is.numeric(lambda), folds = folds,
    criterion = as_criterion(criterion, problem, folds)
  )
}

# Runs a search for every lambda: `path` is a function (problem, control, lambda) that returns one
# path. An interrupted path is the last. control$found, if there is one, has for each lambda the
# columns with which a forward search goes on; a column of control$start may be constant in a part
# of the rows.
each_lambda <- function(path) {
  function(problem, control) {
    paths <- list()
    start <- usable_start(problem, control)
    for (i in seq_along(control$lambda)) {
      control$given <- if (is.null(control$found[[i]])) start else control$found[[i]]
      paths <- c(paths, list(path(problem, control, control$lambda[i])))
      if (paths[[length(paths)]]$status == "interrupted") break
    }
    paths
  }
}

usable_start <- function(problem, control) control$start[problem$usable[control$start]]

# The path for one lambda, as a list for new_sparse_fit(). `given`: columns that a search adds
# first, in this order, or that a backward search begins with; candidates for their places are not
# scored, so runners-up there are none. `skipping`: whether candidates are skipped, where the search
# allows it: "none", by "bounds" for as long as they pay, or at once by "recurrence" of the errors
# of all candidates, with folds.
greedy_path <- function(problem, control, lambda, given = control$given,
                        skipping = skipping_of(problem, control, given)) {
  bar <- progress_bar(control$progress, "Selecting features",
                      column_bytes = column_bytes(problem$x))
  settings <- greedy_settings(problem, control, lambda, given, skipping, bar)
  answer <- if (is_sharded(control, skipping)) {
    sharded_path(problem, control, lambda, settings)
  } else {
    .Call(C_greedy_rls, search_data(problem), settings)
  }
  unpack_path(check_answer(answer, problem, control, lambda), problem, control, lambda)
}

# A problem as a search reads it.
search_data <- function(problem) c(working(problem), list(response = problem$y))

# The path for each of many coded responses (a list of matrices like problem$y) on the same x, in
# one call: what the searches need of x alone is made once. The results are those of single searches
# but for rounding, as products with the chosen columns are then sums of other products. Ctrl-C
# leaves fewer paths. The criterion is one with a name: a function would know problem$y alone.
greedy_paths <- function(problem, control, lambda, responses) {
  several <- problem
  several$y <- do.call(cbind, responses)
  bar <- progress_bar(control$progress, "Selecting features",
                      column_bytes = column_bytes(problem$x))
  given <- usable_start(problem, control)
  settings <- greedy_settings(problem, control, lambda, given,
                              skipping_of(problem, control, given), bar)
  settings$searches <- length(responses)
  settings$shared_rows <- as.integer(min(ncol(problem), shared_values / ncol(problem)))
  answers <- .Call(C_greedy_responses, search_data(several), settings)
  done <- !vapply(answers, is.null, NA)
  Map(function(answer, response) {
    problem$y <- response
    unpack_path(check_answer(answer, problem, control, lambda), problem, control, lambda)
  }, answers[done], responses[done])
}

# Products of columns that many searches share: at most so many doubles.
shared_values <- 2^25

# The control list of a search as C reads it. `bar` is made by the caller: it ends with the function
# that made it.
greedy_settings <- function(problem, control, lambda, given, skipping, bar) {
  check_backward_values(problem, control, given)
  backward <- control$search == "backward"
  usable <- count_units(problem, if (length(given)) given else which(problem$usable))
  if (!backward) given <- unique(units_of(problem, given))
  c(list(
    lambda = lambda, nu = 0.5, k = control$k, keep = control$keep,
    patience = if (backward) 0L else control$patience,
    limit = if (control$search == "forward") control$k else if (backward) usable else
      20L * control$k + 100L,
    search = control$search, criterion = control$criterion$name, given = as.integer(given) - 1L,
    classes = problem$task != "regression", skipping = skipping,
    rereads = rereads(problem), folds = ordered_folds(problem, control), threads = control$threads,
    user_loss = control$criterion$loss, progress = bar
  ), price_settings(problem, control$cost, control$budget), group_settings(problem, control$k),
  needs_settings(problem))
}

# The columns given to the workers of a cluster; NULL where there is none, or so little to do that
# the calling process does it.
shards_of <- function(problem, cluster, count = length(cluster)) {
  if (count > 0L && skipping_pays(problem)) {
    open_shards(problem, cluster, count)
  }
}

skipping_of <- function(problem, control, given) {
  if (moves_together(problem)) return("none")
  if (length(given) < control$k && skipping_pays(problem)) "bounds" else "none"
}

# Bounds are not worth their cost with few columns, or if the search takes milliseconds.
skipping_pays <- function(problem) ncol(problem) >= 64L && prod(dim(problem)) >= 25000

# A matrix in a file, or a sparse one, is not followed by a larger one in memory: where every
# candidate must be evaluated, its columns are read again at each step if m x n doubles are more
# than the 2 GB that searches by bounds keep.
rereads <- function(problem) {
  (is_file_matrix(problem$x) || inherits(problem$x, "dgCMatrix")) &&
    prod(dim(problem)) > most_candidate_values
}

most_candidate_values <- 2^28

# A backward search begins with m doubles for each column of the set.
check_backward_values <- function(problem, control, given) {
  if (control$search != "backward" || !rereads(problem)) return(invisible())
  columns <- if (length(given)) length(given) else ncol(problem)
  values <- as.double(nrow(problem)) * columns
  if (values <= most_candidate_values) return(invisible())
  stop_input(sprintf(
    "%s from %d columns keeps a double for each of %d x %d values, %.3g GB: %s",
    "`search = \"backward\"`", columns, nrow(problem), columns, 8e-9 * values,
    "give fewer columns to begin with by `start`, or another `search`"
  ), "sparsels_error_argument")
}

# What C answers to a search; refused where it stopped short of a model.
check_answer <- function(answer, problem, control, lambda) {
  if (control$criterion$name == "squared") check_still_finite(problem, answer$fitted)
  if (answer$status == "not_positive") {
    stop_input(sprintf("the system is numerically singular at lambda = %g: use a larger `lambda`",
                       lambda), "sparsels_error_singular")
  }
  unstarted <- answer$model_entry[1L] < 0L && control$search != "backward"
  if (unstarted && answer$status != "interrupted") {
    stop_input(paste("the model without features has no held-out error: are covariates in `adjust`",
                     "determined by few rows?"), "sparsels_error_singular")
  }
  answer
}

unpack_path <- function(answer, problem, control, lambda) {
  keep <- seq_len(answer$moves + 1L)
  feature <- answer$feature[keep] + 1L
  size <- answer$size[keep]
  errors <- answer_errors(answer, keep, problem, control)
  path <- list2DF(c(list(
    step = keep - 1L, action = c("start", ifelse(diff(size) > 0L, "add", "drop")),
    feature = replace(feature, 1L, NA), name = c(NA, unit_names(problem, feature[-1L])),
    size = size
  ), errors[c("criterion", "se", "squared")]))
  if (moves_together(problem)) {
    path$columns <- c(0L, lengths(lapply(feature[-1L], unit_columns, problem = problem)))
  }
  if (!is.null(control$cost)) path$price <- cumsum(c(0, added_prices(control$cost, feature[-1L])))
  path$error <- errors$error
  list(
    lambda = lambda, status = answer$status, path = path, size = answer$best,
    models = unpack_models(answer, ncol(problem$y)),
    held_out = scores_of(problem, answer$held_out), fitted = scores_of(problem, answer$fitted),
    alternatives = unpack_others(answer, problem, control, length(keep)),
    work = unpack_work(answer$work, ncol(problem)), pivot = answer$pivot[keep]
  )
}

# The errors of some entries of a path, the error rate where the response is classes.
answer_errors <- function(answer, entries, problem, control) {
  se <- answer$se[entries]
  c(list(criterion = criterion_value(control$criterion, answer$loss[entries]),
         se = replace(se, is.nan(se), NA), squared = answer$squared[entries]),
    if (problem$task != "regression") list(error = answer$error[entries]))
}

unpack_work <- function(work, columns) {
  step <- function(number) if (number < 0) NA else as.integer(number)
  list(candidates = work[1L], evaluated = work[2L], passes = work[3L] / columns,
       recurrence_from = step(work[4L]), dense_from = step(work[5L]),
       reread_from = step(work[6L]))
}

# Per size 0..k: features in the order chosen, their coefficients in working units, the row of the
# path.
unpack_models <- function(answer, L) {
  lapply(seq_along(answer$model_entry) - 1L, unpack_model, answer = answer, L = L)
}

unpack_model <- function(size, answer, L) {
  entry <- answer$model_entry[size + 1L]
  if (entry < 0L) return(NULL)
  most <- length(answer$model) / length(answer$model_entry)
  count <- answer$model_columns[size + 1L]
  members <- seq_len(count)
  of_response <- most * (size * L + seq_len(L) - 1)
  list(features = answer$model[size * most + members] + 1L,
       beta = matrix(answer$beta[rep(of_response, each = count) + members], count, L),
       row = entry + 1L)
}

unpack_others <- function(answer, problem, control, entries) {
  if (control$keep == 0L) return(NULL)
  moves <- seq_len(entries)[-1L]
  feature <- matrix(answer$other, control$keep)[, moves, drop = FALSE] + 1L
  loss <- matrix(answer$other_loss, control$keep)[, moves, drop = FALSE]
  present <- feature > 0L
  data.frame(
    step = col(feature)[present], rank = row(feature)[present], feature = feature[present],
    name = unit_names(problem, feature[present]),
    criterion = criterion_value(control$criterion, loss[present])
  )
}
