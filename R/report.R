#' Write a page about a judgement
#'
#' Makes a HTML page of the result of [judge()]: its results in sentences, the pictures, a table of
#' the features, a paragraph for the methods section of a paper, the versions, folds and seed to
#' reproduce it, and the works to cite.
#'
#' @param x The result of [judge()].
#' @param file The file to write, its name ending in `.html`.
#' @param title The title of the page; `NULL` for one that names the response.
#' @param overwrite Logical: may a file of this name be replaced?
#'
#' @return Invisibly, the path of the file. The page needs no other file.
#'
#' @section Errors: `sparsels_error_input` if the package rmarkdown or the program pandoc is
#'   missing, if the folder does not exist, and if the file exists without `overwrite`.
#'
#' @seealso [judge()]
#' @examples
#' \donttest{
#' if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) {
#'   set.seed(1)
#'   x <- matrix(rnorm(60 * 100), 60)
#'   judged <- judge(x, x[, 7] + rnorm(60), k = 5, permutations = 39, pairs = 10, repeats = 3)
#'   report(judged, file = tempfile(fileext = ".html"))
#' }
#' }
#' @export
report <- function(x, file, title = NULL, overwrite = FALSE) {
  check_given(x, "x")
  check_given(file, "file")
  if (!inherits(x, "judgement")) refuse("x", "the result of judge()", x)
  check_sealed(x)
  check_report_file(file, check_flag(overwrite, "overwrite"))
  if (is.null(title)) title <- sprintf("Prediction of %s by %s", x$problem$response, x$method)
  if (!is_string(title)) refuse("title", "a string", title)
  need_package("rmarkdown")
  need_package("knitr")
  if (!rmarkdown::pandoc_available()) {
    stop_input("the program pandoc is needed to write a page, and was not found")
  }
  folder <- tempfile("report")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  source <- file.path(folder, "report.Rmd")
  file.copy(system.file("report.Rmd", package = "sparsels", mustWork = TRUE), source)
  page <- rmarkdown::render(source, params = list(judgement = x, title = title), quiet = TRUE,
                            envir = new.env(parent = environment(report)))
  if (!file.copy(page, file, overwrite = overwrite)) {
    stop_input(sprintf("the page could not be written to '%s'", file))
  }
  invisible(normalizePath(file))
}

check_report_file <- function(file, overwrite) {
  if (!(is_string(file) && grepl("\\.html?$", file, ignore.case = TRUE))) {
    refuse("file", "the name of a file that ends in .html", file)
  }
  if (!dir.exists(dirname(file))) {
    stop_input(sprintf("the folder of `file` is not there: '%s'", dirname(file)))
  }
  if (file.exists(file) && !overwrite) {
    stop_input(sprintf("'%s' is there already: `overwrite = TRUE` replaces it", file))
  }
}

# Text with any characters, such as the name of a column, as markdown that shows it unchanged.
# Punctuation is replaced by entities.
markdown_text <- function(text) {
  text <- gsub("[[:space:]]+", " ", enc2utf8(as.character(text)))
  vapply(strsplit(text, ""), function(letters) {
    mark <- grepl("^[!-/:-@[-`{-~]$", letters, perl = TRUE)
    letters[mark] <- sprintf("&#%d;", vapply(letters[mark], utf8ToInt, 0L))
    paste(letters, collapse = "")
  }, "")
}

# The description of the fit for the methods section of a paper.
methods_paragraph <- function(x) {
  problem <- x$problem
  covariates <- setdiff(colnames(problem$z), "(Intercept)")
  arguments <- if (length(x$arguments)) {
    sprintf(", with %s", paste(names(x$arguments), "=", x$arguments, collapse = ", "))
  }
  groups <- if (!is.null(x$groups)) {
    sprintf(" Rows of one of %d groups were held out, permuted and drawn together.", max(x$groups))
  }
  sentences <- c(
    sprintf("Models of %s on %s (%s) were fitted by %s%s%s%s.", problem$response,
            counted(ncol(problem), "column"), counted(nrow(problem), "row"), software_words(x),
            none_if_null(arguments),
            if (length(covariates)) paste(", adjusted for", some_of(covariates, 8L, "")) else "",
            if (length(unique(problem$weights)) > 1L) ", rows being weighted" else ""),
    groups, error_method(x), chance_method(x$permutation), stability_method(x$stability),
    substitutes_method(x$exchange), curve_method(x$learning_curve),
    if (!is.null(x$verification)) {
      sprintf("%s of the fit were retrained by another route; %s.",
              counted(nrow(x$verification$claims), "figure"),
              if (x$verification$ok) "all agreed" else "some did not agree")
    },
    sprintf("Random numbers were those of L'Ecuyer's generator from the seed %d.", x$seed)
  )
  paste(trimws(sentences), collapse = " ")
}

# the function that made the models, and its package
software_words <- function(x) {
  version <- function(name) paste(name, x$versions[[name]])
  own <- x$method %in% getNamespaceExports("sparsels")
  paste0(called_method(x), if (own) sprintf(" of the R package %s in %s", version("sparsels"),
                                            version("R")) else
    sprintf(", and judged by the R package %s in %s", version("sparsels"), version("R")))
}

called_method <- function(x) {
  if (x$method == "a function") x$method else paste0(x$method, "()")
}

none_if_null <- function(text) if (is.null(text)) "" else text

error_method <- function(x) {
  if (is.null(x$error)) return(NULL)
  interval <- if (x$error$measure == "error") {
    sprintf("Wilson's for %s", if (is.null(x$groups)) "the rows" else "the groups")
  } else {
    "t with the standard error over folds"
  }
  sprintf(paste("The %s was estimated by outer cross-validation (%s): all that the method does,",
                "scaling, choices and selection, was repeated without each fold; intervals are %s,",
                "at 95 %%."), x$error$words, x$folds$label, interval)
}

chance_method <- function(permutation) {
  if (is.null(permutation)) return(NULL)
  sprintf(paste("The p-value is the share, among the data and %d permutations of the %s, of those",
                "whose smallest error on the path, relative to the null model's, was as small as",
                "that of the data; the whole selection was repeated for each."),
          length(permutation$null), permutation$permuted)
}

stability_method <- function(stability) {
  if (is.null(stability)) return(NULL)
  sprintf(paste("Selection probabilities are shares of the halves of %d complementary random",
                "splits on which a column is among the %d chosen; columns from %s on are called",
                "stable."), stability$pairs, stability$q, shown(stability$threshold))
}

substitutes_method <- function(exchange) {
  if (is.null(exchange)) return(NULL)
  set <- attr(exchange, "set")
  sprintf(paste("For every chosen column the %s without it, and with every other column in its",
                "place, was computed exactly at lambda %s."), set$measure$label,
          shown_parameter(set$lambda))
}

curve_method <- function(curve) {
  if (is.null(curve)) return(NULL)
  sprintf(paste("The learning curve is an inverse power law fitted to the errors of %s of random",
                "training sets, with %s held out in each; its band holds 90 %% of bootstrap",
                "samples of the repeats."), counted(counted_repeats(curve), "repeat"),
          counted(curve$test_rows, "row"))
}

# The works to cite for a judgement: the entries whose header in CITATION names the package or one
# of the functions used.
cited_works <- function(x) {
  works <- utils::citation("sparsels")
  used <- c(x$method, if (!is.null(x$stability)) "stability_selection",
            if (!is.null(x$learning_curve)) "learning_curve",
            if (any(startsWith(as.character(x$permutation$permuted), "residuals")))
              "permutation_test")
  named <- vapply(works$header, function(header) {
    grepl("package", header) || any(vapply(paste0(used, "()"), grepl, NA, header, fixed = TRUE))
  }, NA)
  works[named]
}
