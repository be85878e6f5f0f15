#' sparsels: sparse least-squares learning with exact cross-validation
#'
#' Selects few features, or few basis vectors of a kernel, for regression, classification, survival
#' and ranking, and reports the exact cross-validated error of every model on the way.
#'
#' @details Start with [greedy_rls()], and with [cross_validate()] for the error of the whole
#' analysis. `vignette("which-method", package = "sparsels")` has examples, `"cheat-sheet"` has the
#' calls on a page, and `"coming-from"` those known from glmnet, caret, kernlab, RLScore and
#' scikit-learn.
#'
#' | **Question** | **Function** |
#' |---|---|
#' | How do I give data, weights, groups, survival times? | [as_problem()] |
#' | And data larger than memory? | [file_matrix()], [bed_matrix()], [as_file_matrix()] |
#' | Which rows are held out together? | [make_folds()] |
#' | Which few of many variables predict best? | [greedy_rls()] |
#' | Does a variable act by a curve, a threshold or with another? | [curves] |
#' | Which subset fits best? | [best_subset()], [poss()], [forward_regression()], [rfe()] |
#' | A lasso, elastic net or l1 classifier? | [l1_path()], [l1_size()] |
#' | Counts, shares, censored times, ordered classes? | `loss` of [l1_path()] and [greedy_rls()] |
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
#' | How important is a variable? | [variable_importance()] |
#' | What could replace a variable? | [exchange()] |
#' | Is another list of as many variables better? | [certify()], [alternatives()] |
#' | How good is a list from elsewhere? | [panel_error()] |
#' | Does a model hold in other studies? | [transfer()], [worst_study] |
#' | Are the numbers of a fit right? | [verify()] |
#' | How is a model used without R? | [as_panel()], [panel_code()] |
#' | From tidymodels? | [parsnip_engine], [step_select_sparsels()] |
#' | From caret, mlr3? | [caret_greedy_rls], [mlr3_learners] |
#'
#' Arguments that are words, such as `size = "cv"`, and names of columns and classes distinguish
#' upper from lower case.
#'
#' @useDynLib sparsels, .registration = TRUE
#' @importFrom stats coef predict fitted residuals nobs update formula terms model.matrix
#' @importFrom stats model.frame
#'   variable.names
#' @srrstats {G1.0} help pages and `inst/CITATION`. Every method names its paper
#' @srrstats {G1.1} help pages: which paper, and what differs. `README.md`, "How it compares"
#' @srrstats {G1.2} `CONTRIBUTING.md`, life cycle
#' @srrstats {G1.4} all exported functions, by roxygen2
#' @srrstats {G1.5} `bench/papers` repeats the experiments of the papers, `bench/results` has what
#'   came out
#' @srrstats {G1.6} `bench/peers.R`, `bench/l1.R`, `bench/classes.R`
#' @srrstats {G2.0a} each `@param` says the length
#' @srrstats {G2.1a} each `@param` says the type
#' @srrstats {G2.3b} `?sparsels` says that case counts. Another case is refused with the value that
#'   was meant
#' @srrstats {G5.4c} `bench/papers`: tables of the papers beside ours
#' @srrstats {G5.6b} In part: `make truth`: 2000 random problems, outside the ordinary tests
#' @srrstats {G5.12} `CONTRIBUTING.md`
#' @srrstats {ML1.0} `vignette("trust")`. Held-out rows and training rows in every help page
#' @srrstats {ML2.2b} `vignette("coming-from")`
#' @srrstats {ML3.3} `vignette("coming-from")`, `README.md`
#' @srrstats {ML5.1} `bench/peers.R`, `bench/classes.R`
#' @srrstats {ML5.2} `docs/objects.md`
#' @srrstats {ML6.0} `vignette("trust")`
#' @keywords internal
"_PACKAGE"

# Entries in the registers of other packages, made as soon as both packages are loaded.

#' @srrstatsTODO {G1.4a} inner functions have plain comments above them: nothing reads roxygen
#'   blocks of functions without a page
#' @srrstatsNA {G3.1} no covariance matrix of the data is estimated
#' @srrstatsNA {G3.1a} as G3.1
#' @srrstatsNA {G5.11} extended tests make their data
#' @srrstatsNA {G5.11a} as G5.11
#' @srrstatsNA {RE4.15} there is no horizon: rows are exchangeable, or grouped
#' @srrstatsNA {RE6.1} `plot()` is the generic
#' @srrstatsNA {RE6.3} as RE4.15
#' @srrstatsNA {RE7.0a} exact relations between columns are valid input of a ridge penalty
#' @srrstatsNA {RE7.5} as RE4.15
#' @srrstatsNA {ML1.0a} the terms are used
#' @srrstatsNA {ML1.1} parts are folds, given as numbers or made by `make_folds()`, not labels of
#'   rows
#' @srrstatsNA {ML1.1a} as ML1.1
#' @srrstatsNA {ML1.1b} as ML1.1
#' @srrstatsNA {ML1.4} one file has all rows
#' @srrstatsNA {ML2.1} nothing is broadcast
#' @srrstatsNA {ML3.4} no training rates
#' @srrstatsNA {ML3.4a} as ML3.4
#' @srrstatsNA {ML3.4b} as ML3.4
#' @srrstatsNA {ML3.7} plain C for processors
#' @srrstatsNA {ML4.3} no epochs. Blocks of rows give the same numbers
#' @srrstatsNA {ML4.4} as ML4.3
#' @srrstatsNA {ML7.0} as ML1.1
#' @srrstatsNA {ML7.4} as ML3.4
#' @srrstatsNA {ML7.5} as ML3.4
#' @srrstatsNA {ML7.6} as ML4.3
.onLoad <- function(libname, pkgname) { # nolint: object_name_linter.
  when_loaded("parsnip", register_parsnip)
  when_loaded("mlr3", register_mlr3)
  when_loaded("mlr3filters", function(...) mlr3filters::mlr_filters$add("greedy_rls", mlr3_filter))
}

when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}

#' Gene expression in 62 colon tissues
#'
#' Expression of 2000 genes in 40 tumour and 22 normal colon tissues, measured by Alon et al. (1999)
#' on oligonucleotide arrays: a small standard data set of gene selection, used in the examples.
#'
#' The intensities (arbitrary fluorescence units) are as published: raw, positive, from 5.8 to
#' 20903, neither logged nor normalised between arrays. Take `log2(colon_genes$x)` before a linear
#' model. The data set was called `colon` until the survival package's `colon` masked it.
#' The 2000 genes are those with the highest minimal intensity over the tissues, in descending order
#' of it.
#'
#' The normal tissues come from patients whose tumours are also among the samples. Which tissues
#' form a pair is not in the source used here, so folds cannot keep the pairs together, and
#' cross-validated errors on these data may be too low for that reason.
#'
#' @format A list of two elements:
#' \describe{
#'   \item{`x`}{numeric matrix, 62 tissues x 2000 genes, raw intensities. The column names are taken
#'     from the source, most of them UniGene clusters of the time, such as `Hsa.3004`. Where several
#'     spots of the array share a name, the second and later ones carry a number: `Hsa.13491_2`.
#'     `HSAC07`, `UMGAP` and `i` are control RNAs, and four spots of each hold identical values
#'     (nine duplicated columns). Three names are cut short in the source: `a.1000`, `sa.19001`,
#'     `sa.41198`.}
#'   \item{`tissue`}{factor of length 62, `normal` (22) or `tumour` (40).}
#' }
#' @source Data set `Colon` of the package plsgenomics 1.5-3 on CRAN, licence GPL (>= 2), values
#'   unchanged; it took them from the page of Alon et al.,
#'   `http://genomics-pubs.princeton.edu/oncology/affydata/index.html`. The script that makes this
#'   copy is `data-raw/colon_genes.R` in the source repository.
#' @references Alon, U., Barkai, N., Notterman, D. A., Gish, K., Ybarra, S., Mack, D. and Levine,
#'   A. J. (1999). Broad patterns of gene expression revealed by clustering analysis of tumor and
#'   normal colon tissues probed by oligonucleotide arrays. *Proceedings of the National Academy of
#'   Sciences* 96(12), 6745-6750. \doi{10.1073/pnas.96.12.6745}
#' @docType data
#' @keywords datasets
#' @examples
#' data(colon_genes)
#' table(colon_genes$tissue)
#' range(colon_genes$x)
#' @srrstats {G5.0} mtcars, iris, lung, ALL and `colon_genes`
#' @srrstats {G5.1} `colon_genes` is exported, others are made in the tests by fixed seeds
"colon_genes"
