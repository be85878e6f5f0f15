# Experiments of Bioconductor: features in rows, samples in columns, with data about the samples.
# as_problem() and functions of new data read them as a matrix of samples x features.
#
# Another class of experiments is a row of `experiment_words`, and methods of row_data(),
# and of assay_names() and assay_values() or of read_experiment().

# For messages: where the data about the samples are, what is read, and whose names the features
# have (NA if they have no single name).
experiment_words <- list(
  SummarizedExperiment = c(samples = "colData(x)", values = "t(assay(x))", names = "rownames(x)"),
  eSet = c(samples = "pData(x)", values = "t(exprs(x))", names = "featureNames(x)"),
  DGEList = c(samples = "x$samples", values = "t(cpm(x, log = TRUE))", names = "rownames(x)"),
  EList = c(samples = "x$targets", values = "t(x$E)", names = "rownames(x)"),
  MultiAssayExperiment = c(samples = "colData(x)", values = "t(assays(x))", names = NA)
)

# For an object read from a file, R knows the parent classes only once its package is loaded.
is_experiment <- function(x) {
  package <- if (isS4(x)) attr(class(x), "package")
  if (is.character(package)) requireNamespace(package, quietly = TRUE)
  inherits(x, names(experiment_words))
}

# Samples -----------------------------------------------------------------------------------------

# The data about each row: about the samples of an experiment, as a data frame, or the data as they
# are.
row_data <- function(x) if (is_experiment(x)) UseMethod("row_data") else as_frame(x)

#' @export
row_data.SummarizedExperiment <- function(x) {
  need_package("SummarizedExperiment")
  as.data.frame(SummarizedExperiment::colData(x), optional = TRUE)
}

#' @export
row_data.eSet <- function(x) {
  need_package("Biobase")
  Biobase::pData(x)
}

#' @export
row_data.DGEList <- function(x) {
  need_package("edgeR")
  x$samples
}

#' @export
row_data.EList <- function(x) {
  need_package("limma")
  if (is.null(x$targets)) data.frame(row.names = seq_len(ncol(x$E))) else x$targets
}

#' @export
row_data.MultiAssayExperiment <- function(x) {
  need_package("MultiAssayExperiment")
  as.data.frame(MultiAssayExperiment::colData(x), optional = TRUE)
}

# The names of the rows of data, which are the samples of an experiment.
names_of_rows <- function(x) {
  if (!is_experiment(x) || inherits(x, "MultiAssayExperiment")) return(rownames(row_data(x)))
  colnames(x)
}

# Assays ------------------------------------------------------------------------------------------

# list(values, assay): `values` are samples x features, and a problem keeps `assay` to find the same
# assay in new data
read_experiment <- function(x, assay, called = "x", how = "`assay = \"...\"`") {
  UseMethod("read_experiment")
}

#' @export
read_experiment.default <- function(x, assay, called = "x", how = "`assay = \"...\"`") {
  names <- assay_names(x)
  if (!length(names)) stop_assay(called, "no assay")
  listed <- counted(length(names), "assay")
  if (any(names != "")) listed <- paste0(listed, ", ", some_of(names, 10L, "\""))
  if (is.null(assay)) {
    if (length(names) != 1L) stop_several(listed, called, how)
    assay <- 1L
  }
  position <- position_of(assay, names)
  if (is.na(position)) stop_no_assay(assay, "assay", listed, called)
  # an assay is known by its number if it has no name of its own
  unnamed <- names[position] == "" || sum(names == names[position]) > 1L
  assay <- if (unnamed) position else names[position]
  values <- assay_values(x, assay)
  stop_input_if(length(dim(values)) != 2L, "assay %s of `%s` must be a matrix, not %s",
                assay_words(assay), called, describe(values))
  list(values = t(as_valid(values, called)), assay = assay)
}

# the names of the assays, "" for one without a name
assay_names <- function(x) UseMethod("assay_names")

#' @export
assay_names.SummarizedExperiment <- function(x) {
  names <- SummarizedExperiment::assayNames(x)
  if (is.null(names)) character(length(SummarizedExperiment::assays(x))) else names
}

#' @export
assay_names.eSet <- function(x) Biobase::assayDataElementNames(x)

#' @export
assay_names.DGEList <- function(x) "logCPM"

#' @export
assay_names.EList <- function(x) "E"

# features x samples, by the name or number of the assay
assay_values <- function(x, assay) UseMethod("assay_values")

#' @export
assay_values.SummarizedExperiment <- function(x, assay) SummarizedExperiment::assay(x, assay)

#' @export
assay_values.eSet <- function(x, assay) Biobase::assayDataElement(x, assay)

#' @export
assay_values.DGEList <- function(x, assay) {
  need_package("edgeR")
  edgeR::cpm(x, log = TRUE)
}

#' @export
assay_values.EList <- function(x, assay) x$E

# the position of the assay with a name or number, NA if it does not exist
position_of <- function(assay, names) {
  if (is_string(assay)) return(match(assay, names))
  if (is_number(assay)) match(assay, seq_along(names)) else NA_integer_
}

stop_several <- function(listed, called, how) {
  how <- if (called != "newdata") paste("say which by", how) else
    "the fit, made of a matrix, needs one, such as t(assay(newdata, \"...\"))"
  stop_assay(called, paste0(listed, ": ", how))
}

stop_no_assay <- function(assay, what, listed, called) {
  if (called != "newdata" && !is_string(assay) && !is_number(assay)) {
    refuse("assay", sprintf("the name or number of one %s", what), assay)
  }
  shown <- if (is_string(assay)) show_value(assay) else assay_words(assay)
  used <- if (called == "newdata") ", which the fit uses" else ""
  stop_assay(called, sprintf("no %s %s%s: it has %s", what, shown, used, listed))
}

stop_assay <- function(called, has) {
  stop_input("`%s` has %s", called, has, class = if (called == "newdata") "sparsels_error_newdata")
}

# an assay as print() shows it, with the names of the experiments if there are several
assay_words <- function(assay) {
  if (is_string(assay)) return(assay)
  if (!is.list(assay)) return(if (is_number(assay)) paste("number", assay) else describe(assay))
  inner <- vapply(assay, function(one) if (is.null(one)) "" else assay_words(one), "")
  paste0(names(assay), ifelse(inner == "", "", sprintf(" (%s)", inner)), collapse = ", ")
}

# Several experiments on the same samples ---------------------------------------------------------

#' @export
read_experiment.MultiAssayExperiment <- function(x, assay, called = "x", how = NULL) {
  need_package("MultiAssayExperiment")
  wanted <- choose_experiments(assay, names(x), called)
  for (name in names(wanted)) check_sample_map(x, name, names(wanted), called)
  blocks <- Map(function(name, inner) read_block(x, name, inner, called), names(wanted), wanted)
  values <- lapply(blocks, `[[`, "values")
  if (length(values) > 1L) {
    # experiments side by side, with columns called <experiment>.<feature>
    values <- Map(function(values, name) {
      values <- as_values(values, name)
      features <- if (is.null(colnames(values))) seq_len(ncol(values)) else colnames(values)
      colnames(values) <- paste(name, features, sep = ".")
      values
    }, values, names(values))
    # sparse if one of them is
    sparse <- any(vapply(values, inherits, NA, "dgCMatrix"))
    if (sparse) values <- lapply(values, methods::as, "CsparseMatrix")
    values <- list(do.call(cbind, unname(values)))
  }
  list(values = values[[1L]], assay = lapply(blocks, `[[`, "assay"))
}

# The experiments that `assay` selects, as a list by their names. Each entry is NULL or an assay of
# the experiment.
choose_experiments <- function(assay, names, called) {
  listed <- sprintf("%s, %s", counted(length(names), "experiment"), some_of(names, 10L, "\""))
  if (is.null(assay)) {
    if (length(names) != 1L) {
      how <- "`assay = \"...\"` or, for several, `assay = c(\"...\", \"...\")`"
      stop_several(listed, called, how)
    }
    assay <- 1L
  }
  assay <- as.list(assay)
  of <- if (is.null(names(assay))) character(length(assay)) else names(assay)
  experiments <- vapply(seq_along(assay), function(i) {
    one <- if (of[i] == "") assay[[i]] else of[i]
    position <- position_of(one, names)
    if (is.na(position)) stop_no_assay(one, "experiment", listed, called)
    names[position]
  }, "")
  stop_input_if(!length(assay) || anyDuplicated(experiments),
                "`assay` must name one or several experiments, each once")
  assay[of == ""] <- list(NULL)
  stats::setNames(assay, experiments)
}

# One experiment with a row for every sample of colData(x), in that order.
read_block <- function(x, name, inner, called) {
  map <- sample_map(x, name)
  samples <- names_of_rows(x)
  block <- x[[name]]
  label <- sprintf("%s[[\"%s\"]]", called, name)
  read <- if (is_experiment(block)) {
    read_experiment(block, inner, label, sprintf("`assay = c(%s = \"...\")`", name))
  } else {
    stop_input_if(!is.null(inner), "`%s` is a matrix, which has no assays", label)
    list(values = t(as_valid(block, label)))
  }
  rows <- match(map$colname[match(samples, map$primary)], rownames(read$values))
  read$values <- read$values[rows, , drop = FALSE]
  rownames(read$values) <- samples
  read
}

# which column of the experiment is of which sample
sample_map <- function(x, name) {
  map <- MultiAssayExperiment::sampleMap(x)
  map[map$assay == name, ]
}

# Refuses samples that the experiment does not have, and samples with several columns in it.
# `wanted` are the experiments that are read together.
check_sample_map <- function(x, name, wanted, called) {
  samples <- names_of_rows(x)
  primary <- sample_map(x, name)$primary
  absent <- setdiff(samples, primary)
  twice <- unique(primary[duplicated(primary)])
  if (!length(absent) && !length(twice)) return(invisible())
  chosen <- sprintf("%s[, , %s]", called, deparse1(wanted))
  stop_input_if(length(absent),
                "%d of the %d samples of `%s` are not in experiment '%s' (%s): %s %s",
                length(absent), length(samples), called, name, some_of(absent, 3L, ""),
                "keep those that all have,",
                sprintf("MultiAssayExperiment::intersectColumns(%s)", chosen))
  stop_input("experiment '%s' of `%s` has several columns of %s (%s): %s %s", name, called,
             counted(length(twice), "sample"), some_of(twice, 3L, ""), "make one of them,",
             sprintf("MultiAssayExperiment::mergeReplicates(%s)", chosen))
}
