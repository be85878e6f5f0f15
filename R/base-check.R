# Argument checks, classed conditions, the refusal of unknown arguments, and texts.

# An error with the text of sprintf(), or with a message as it is.
#' @srrstats {G2.1} `R/base-check.R`. `tests/testthat/test-fuzz.R` gives every argument values of
#'   every type
stop_input <- function(message, ..., class = NULL) {
  if (...length()) message <- sprintf(message, ...)
  stop(error_of(message, c(class, "sparsels_error_input")))
}

# an error condition of the package
error_of <- function(message, class = NULL, ...) {
  structure(class = c(class, "sparsels_error", "error", "condition"),
            list(message = message, call = NULL, ...))
}

stop_argument <- function(...) stop_input(..., class = "sparsels_error_argument")

# new data that do not fit the model
stop_newdata <- function(...) stop_input(..., class = "sparsels_error_newdata")

# The same errors where a condition holds. The values of the text are computed only then.
stop_input_if <- function(condition, ...) if (condition) stop_input(...)
stop_argument_if <- function(condition, ...) if (condition) stop_argument(...)
stop_newdata_if <- function(condition, ...) if (condition) stop_newdata(...)

# An object that differs from the object that the package made. C calls this if a field that it
# reads does not fit. `field` is NA if the object has no fields to compare.
stop_edited <- function(field, what = "an object", then = "") {
  if (!is.na(field)) what <- sprintf("the field `%s` of %s", field, what)
  stop_input("%s is not as it was made: was the object edited? Make it again%s", what, then,
             class = "sparsels_error_object")
}

# C calls this if it finds no memory for its work
stop_memory <- function(bytes) {
  message <- sprintf("cannot allocate %.1f GB of memory for the search", bytes / 1e9)
  stop(error_of(message, "sparsels_error_memory"))
}

warn_sparsels <- function(message, class = NULL) {
  classes <- c(class, "sparsels_warning", "warning", "condition")
  warning(structure(list(message = message, call = NULL), class = classes))
}

# the assumptions about the data, for the user to confirm or change. `...` are its other fields
message_sparsels <- function(message, class, ...) {
  classes <- c(class, "sparsels_message", "message", "condition")
  message(structure(list(message = paste0(message, "\n"), call = NULL, ...), class = classes))
}

# The message, or the warning, with the text of sprintf() where a condition holds.
message_if <- function(condition, class, text, ...) {
  if (condition) message_sparsels(sprintf(text, ...), class)
}
warn_if <- function(condition, class, text, ...) {
  if (condition) warn_sparsels(sprintf(text, ...), class)
}

# Covariates that some rows do not determine. `of_part`: the rows are a part of a problem.
say_left_out <- function(names, where, of_part = FALSE) {
  one <- length(names) == 1L
  text <- sprintf("covariate%s %s %s from the others %s and %s left out there",
                  if (one) "" else "s", some_of(names, 3L), if (one) "follows" else "follow", where,
                  if (one) "is" else "are")
  message_sparsels(text, "sparsels_message_covariates", covariates = names, of_part = of_part)
}

# An error keeps its class, and its message says where it occurred.
in_context <- function(where, expr) {
  tryCatch(expr, error = function(e) {
    e <- as_host_error(e)
    e$message <- paste0(where, ": ", conditionMessage(e))
    stop(e)
  })
}

# An error of the user's own function or expression is an error of the input.
user_value <- function(expr, what) {
  tryCatch(expr, error = function(e) {
    e <- as_host_error(e)
    if (inherits(e, "sparsels_error")) stop(e)
    stop_input("%s: %s", what, conditionMessage(e))
  })
}

# Refuses bytes that are no text in their encoding. They could not be printed or drawn.
check_encoding <- function(text, what, unit) {
  bad <- if (is.character(text)) which(!validEnc(text) | Encoding(text) == "bytes")
  stop_input_if(length(bad), "%s is no text in the encoding of this session (%s %d: '%s'): %s",
                what, unit, bad[1L], encodeString(text[bad[1L]]),
                "give the encoding where it was read, such as fileEncoding = \"latin1\"")
}

# Words -------------------------------------------------------------------------------------------

# a value in a few words, for the end of a message
describe <- function(x) {
  if (is.null(x)) return("NULL")
  if (is.function(x)) return("a function")
  if (is.data.frame(x)) return("a data frame")
  plain <- is.atomic(x) && is.null(dim(x)) && !is.object(x)
  if (plain && length(x) == 1L) return(show_value(x))
  kind <- if (is.object(x) || is.list(x)) class(x)[1L] else mode(x)
  if (is.matrix(x)) {
    of <- if (is.object(x)) sprintf(" of class '%s'", kind) else ""
    return(sprintf("%s matrix%s (%d x %d)", article(mode(x)), of, nrow(x), ncol(x)))
  }
  if (plain) return(sprintf("%s vector of length %d", article(kind), length(x)))
  if (is.factor(x)) return(sprintf("a factor of length %d", length(x)))
  if (is.object(x)) return(sprintf("an object of class '%s'", kind))
  article(if (is.array(x)) "array" else kind)
}

show_value <- function(x) {
  if (!is.character(x) || is.na(x)) return(format(x, digits = 7L))
  sprintf("\"%s\"", if (validEnc(x) && Encoding(x) != "bytes") x else encodeString(x))
}

article <- function(word) paste(if (grepl("^[aeiou]", word)) "an" else "a", word)

# 'a', 'b', 'c', ... : at most `max` of them
some_of <- function(x, max = 5L, quote = "'") {
  shown <- paste0(quote, utils::head(x, max), quote, collapse = ", ")
  if (length(x) > max) paste0(shown, ", ...") else shown
}

# how rows with missing values are left out, for the end of a message
omit_hint <- ": `na.action = na.omit` leaves out rows with missing values"

# the level of a factor for missing values
level_of_missing <- "missing"

# How something becomes a matrix or a formula, for the end of a message.
matrix_hint <- function(x) {
  if (is.numeric(x)) return(" (`drop = FALSE` keeps a single row or column a matrix)")
  if (is.list(x) && !is.object(x)) return(" (do.call(cbind, x) makes a matrix of its columns)")
  if (!is_string(x)) return("")
  if (grepl("~", x, fixed = TRUE)) return(" (as.formula() makes a formula of text)")
  if (file.exists(paste0(x, ".bed"))) return(sprintf(" (the path of the genotypes is '%s.bed')", x))
  if (file.exists(x)) " (read.csv() reads a table, file_matrix() opens a file of numbers)" else ""
}

# "1 row", "2 rows". `number` is n as text.
counted <- function(n, word, number = sprintf("%d", as.integer(n))) {
  paste0(number, " ", word, if (n == 1) "" else "s")
}

# an argument that has no default
check_given <- function(x, name) {
  if (!missing(x)) return(invisible())
  by_name <- "formula" %in% unlist(lapply(sys.calls(), names))
  stop_argument("`%s` is missing%s", name,
                if (by_name) paste0(": ", names(foreign_arguments)[1L]) else "")
}

# what is said of arguments of other packages
foreign_arguments <- list(
  "a formula is the first argument, `x`" = "formula",
  "coefficients have no bounds" = c("lower", "lower.limits", "upper", "upper.limits"),
  "the link is in the name of the loss, as ?l1_losses has them" = c("link", "ordinal_link"),
  "l1_path(), the engine \"sparsels_l1\", has the l1 penalty" = "mixture",
  "the response says whether it is classes, numbers or times, and `loss` the rest" = "family",
  "it is `criterion` of a search and `measure` of cross_validate()" =
    c("metric", "type.measure", "measure"),
  "new rows are `newdata`" = "newx", "`size` or `lambda` says which model" = "s",
  "`interval = \"prediction\"` has intervals that hold" = "se.fit", "it is `level`" = "conf.level",
  "the offset of counts is the logarithm of their exposure, `offset`" = "exposure",
  "`na.action = na.omit` leaves out rows with missing values" = "na.rm",
  "set.seed() before the call makes it reproducible" = "seed",
  "it is `threads`, or the processes of a future plan" =
    c("cores", "n_jobs", "parallel", "ncpus", "num.threads", "nthread"),
  "sigma of kernlab is `gamma` of kernel_gaussian(), and the squared width is `sigma2`" = "sigma",
  "`adjust` names columns of every model, and `penalty` of 0 does" = c("force.in", "mandatory"),
  "it is `progress`" = c("trace", "trace.it", "verbose"), "it is `tolerance`" = c("thresh", "eps"),
  "it is `standardize`" = c("scale", "center", "normalize", "scaled"),
  "the number of folds is `outer` of cross_validate(), and `folds` of a fit" =
    c("V", "nfold", "nfolds", "cv.folds"),
  "`k` is the largest size, `outer` and `folds` are numbers of folds" = "K",
  "it is `threshold`" = "cutoff", "it is `pairs`, of halves of the rows" = "B",
  "`q` and `threshold` give it, see ?stability_selection" = "PFER",
  "it is `k`" = c("nvmax", "dfmax", "pmax", "keepX", "support.size", "nsteps"),
  "it is `search`" = "direction", "predict(type = \"prob\") gives these" = "probability",
  "`penalty` has a factor for each column, and Inf leaves a column out" =
    c("penalty.factor", "exclude"),
  "it is `adjust`" = c("batch", "covariates"), "it is `groups`" = c("block", "study", "subject"),
  "it is `cost`" = c("price", "prices"),
  "`smooth` and `smooth_basis` give columns curves, steps or hinges" = c("knots", "thresholds")
)

# Single values -----------------------------------------------------------------------------------

is_number <- function(x) is.numeric(x) && length(x) == 1L && !is.object(x) && !is.na(x)

# the refusal of one tuning argument: its required form, and its value
refuse <- function(name, must, x, hint = "") {
  stop_argument("`%s` must be %s, not %s%s", name, must, describe(x), hint)
}

refuse_unless <- function(valid, name, must, x) if (!valid) refuse(name, must, x)

# `what` says in words what the upper bound is
#' @srrstats {G2.0} `R/base-check.R`: `check_count()`, `check_positive()` and others refuse wrong
#'   lengths
#' @srrstats {G2.4a} `check_count()`
check_count <- function(x, name, upper = .Machine$integer.max, what = NULL, lower = 1L) {
  whole <- is_number(x) && x == round(x) && x >= lower && x <= upper
  if (!whole) {
    range <- paste("of at least", lower)
    if (upper < .Machine$integer.max) range <- sprintf("between %d and %d", lower, upper)
    note <- if (is.null(what)) "" else sprintf(" (%s)", what)
    refuse(name, paste0("a whole number ", range, note), x)
  }
  as.integer(x)
}

# The largest size of a path. It ends at `upper`, what there is, with a message if `k` is above it.
check_largest <- function(k, upper, what) {
  above <- is_number(k) && k > upper
  message_if(above, "sparsels_message_size", "`k` is %s: the largest size is %d, %s", describe(k),
             upper, what)
  check_count(if (above) upper else k, "k", upper, what)
}

# More repetitions, splits or lambdas than anybody wants, and than memory is sure to hold.
most_repeats <- 10000L

check_repeats <- function(x, name, upper = most_repeats, what = NULL) {
  check_count(x, name, max(1, min(most_repeats, upper)), if (upper < most_repeats) what)
}

check_positive <- function(x, name, or_zero = FALSE) {
  valid <- is_number(x) && is.finite(x) && (x > 0 || or_zero && x == 0)
  must <- if (or_zero) "a finite number of at least 0" else "a positive finite number"
  refuse_unless(valid, name, must, x)
  as.double(x)
}

is_string <- function(x) is.character(x) && length(x) == 1L && !is.na(x)

has_numbers <- function(x) is.numeric(x) && !is.object(x) && all(is.finite(x))

check_flag <- function(x, name) {
  refuse_unless(isTRUE(x) || isFALSE(x), name, "TRUE or FALSE", x)
  x
}

#' @srrstats {G2.3a} `check_choice()` in `R/base-check.R`
check_choice <- function(x, name, choices) {
  if (!(is.character(x) && length(x) == 1L && x %in% choices)) {
    must <- some_of(choices, Inf, "\"")
    others <- c(accuracy = "error", mse = "squared", rmse = "squared", r2 = "squared",
                rsq = "squared", mae = "absolute", roc = "auc", cindex = "concordance",
                lp = "risk", probability = "prob")
    inside <- if (is_string(x)) grep(sprintf("(%s)", x), choices, fixed = TRUE, value = TRUE)
    near <- if (is_string(x)) intersect(c(others[x], inside, nearest_name(x, choices)), choices)
    refuse(name, if (length(choices) > 1L) paste("one of", must) else must, x,
           if (length(near)) sprintf(": did you mean \"%s\"?", near[1L]) else "")
  }
  x
}

# a choice among several, where the default lists all choices and means the first
choice_or_first <- function(x, name, choices) {
  if (identical(x, choices)) choices[1L] else check_choice(x, name, choices)
}

# more than any grid requires, and few enough for memory
most_lambdas <- 100000L

check_lambda <- function(lambda) {
  if (!is.null(lambda)) check_positives(lambda, "lambda", "NULL or positive finite numbers",
                                        most_lambdas)
}

# One positive finite number or several, `must` in words.
check_positives <- function(x, name, must, most) {
  refuse_unless(is.numeric(x) && !is.object(x) && length(x) > 0L, name, must, x)
  refuse_unless(length(x) <= most, name, sprintf("at most %d numbers", most), x)
  bad <- which(!(is.finite(x) & x > 0))
  if (length(bad)) refuse(name, must, x[[bad[1L]]])
  as.double(x)
}

# how many arguments a function can take: Inf with `...` and for primitives such as `[`, where R
# does not say
arguments_of <- function(f) {
  if (is.null(args(f))) return(Inf)
  arguments <- names(formals(args(f)))
  if ("..." %in% arguments) Inf else length(arguments)
}

# the smallest sum of squares that is computed to full precision
smallest_square <- 1e-280

# The smallest of some values at which the masses of the values up to it reach `level`. Inf where
# they never do.
mass_quantile <- function(values, mass, level) {
  ordered <- order(values)
  reached <- which(cumsum(mass[ordered]) >= level - 1e-9)
  if (length(reached)) values[ordered[reached[1L]]] else Inf
}

# A power of two near the largest of some numbers. Dividing by it is exact, and prevents overflow
# and underflow of squares.
exact_unit <- function(values) {
  largest <- max(abs(values), 0, na.rm = TRUE)
  if (largest > 0 && is.finite(largest)) 2^floor(log2(largest)) else 1
}

need_package <- function(package) {
  stop_input_if(!requireNamespace(package, quietly = TRUE),
                "package '%s' is needed for this input and is not installed", package)
}

# Rows and columns --------------------------------------------------------------------------------

# the row or column numbers an index means
positions <- function(index, size, names, what) {
  index <- plain_variable(index)
  known <- is.numeric(index) && !inherits(index, "Surv") || is.character(index) ||
    is.logical(index) || is.factor(index)
  stop_input_if(!known, "%ss are chosen by number, name or a logical vector, not by %s", what,
                describe(index))
  stop_input_if(is.logical(index) && length(index) != size,
                "a logical choice of %ss must have length %d, not %d", what, size, length(index))
  if (is.factor(index)) index <- as.character(index)
  mixed <- function(index) any(index < 0, na.rm = TRUE) && any(is.na(index) | index > 0)
  stop_input_if(is.numeric(index) && mixed(index),
                "a choice of %ss cannot mix positive and negative numbers", what)
  stop_input_if(is.numeric(index) && any(index != round(index), na.rm = TRUE),
                "a choice of %ss must be whole numbers, not %s", what,
                format(index[index != round(index)][1L]))
  chosen <- if (is.character(index)) match(index, names) else seq_len(size)[index]
  bad <- which(is.na(chosen))
  stop_input_if(length(bad), "no %s %s: the problem has %s", what,
                show_value(index[index != 0][bad[1L]]), counted(size, what))
  stop_input_if(!length(chosen), "the choice of %ss is empty", what)
  chosen
}

# Arguments by name -------------------------------------------------------------------------------

# Refuses arguments in `...` whose names are not `allowed`, and suggests the nearest of `known`.
# `caller` is the frame of the function that was called with them.
check_dots <- function(..., known, allowed = character(), caller = sys.parent()) {
  given <- as.list(substitute(list(...)))[-1L]
  labels <- if (is.null(names(given))) character(length(given)) else names(given)
  known <- known[known != "..."]
  if (any(labels == "")) {
    text <- deparse1(given[[which(labels == "")[1L]]])
    stop_argument("an argument without a name, %s: tuning arguments are named, one of %s",
                  if (nchar(text) <= 40L) sprintf("`%s`", text) else "after the first ones",
                  argument_words(setdiff(known, c("x", "y"))))
  }
  # R takes the beginning of a name for the name: `s`, the lambda of glmnet, for `size`
  own <- names(formals(sys.function(caller)))
  named <- c(labels, names(sys.call(caller)))
  unknown <- named[!named %in% c(allowed, own, "")]
  if (!length(unknown)) return(invisible())
  near <- nearest_name(unknown[1L], known)
  foreign <- names(Filter(function(names) unknown[1L] %in% names, foreign_arguments))
  hint <- if (length(foreign)) {
    foreign
  } else if (length(near)) {
    sprintf("did you mean `%s`?", near)
  } else if (length(known)) {
    paste("the arguments are", argument_words(known))
  } else {
    "there are no further arguments"
  }
  stop_argument("unknown argument `%s`: %s", unknown[1L], hint)
}

# What a method of a result checks first: the result, and the names of its other arguments.
check_method_call <- function(..., object, known) {
  check_sealed(object)
  caller <- sys.parent()
  check_dots(..., known = known, caller = caller)
}

# The known name nearest to a given one. A distant one is worse than none.
nearest_name <- function(name, known) {
  distance <- utils::adist(name, known, ignore.case = TRUE)
  near <- length(known) && min(distance) <= min(max(2, nchar(name) %/% 3), nchar(name) - 1L)
  if (near) known[which.min(distance)]
}

# The arguments of as_problem() besides x, y and data. Every method takes them too.
problem_arguments <- c("weights", "subset", "na.action", "adjust", "intercept", "standardize",
                       "task", "within", "assay", "make_unique", "missing", "penalty",
                       "columns_group", "group_rule", "hierarchy", "class_weights", "offset",
                       "standardize_response", "groups", "center_groups", "strata", "smooth",
                       "smooth_basis", "interactions")

# The methods, for the properties of the data that some of them do not support.

kernel_methods <- c("rls", "kernel_rls", "lssvm", "fs_lssvm", "tune_lssvm", "cv_variance")

single_column_methods <- c("forward_regression", "omp", "foba", "rfe", "sequential_replacement",
                           "best_subset", "poss", "scdp", "l1_path", "l1_size", "safe_screen",
                           "wrapper_rls", "lowrank_lssvm")

cox_methods <- c("greedy_rls", "random_selection", "l1_path", "l1_size", "safe_screen")

# in the order of the table
fitters <- c("greedy_rls", "random_selection", single_column_methods, kernel_methods)

# the arguments of as_problem() that may be expressions of variables of the data
data_expressions <- c("weights", "subset", "within", "groups", "strata", "offset", "adjust")

# the arguments of as_problem() that fitters pass on, for their help pages
problem_dots <- function() some_of(problem_arguments, Inf, "`")

# The names of arguments. The arguments of as_problem() are not listed for each function that takes
# them.
argument_words <- function(known) {
  own <- setdiff(known, c(problem_arguments, "data"))
  shares <- all(problem_arguments %in% known) && length(setdiff(own, c("x", "y", "threads")))
  if (shares) paste(some_of(own, Inf, "`"), "and the arguments of as_problem()") else
    some_of(known, Inf, "`")
}

# The call as a fit keeps it. do.call() puts values into the call where a user writes names. Short
# descriptions replace large values, so that no fit holds the data. The data of a formula are
# `data`, also as the second argument, so that update(, data = ) finds them. The function has its
# name in the package, as another name, such as of an argument of lapply(), is not known later.
short_call <- function(call) {
  called <- sys.function(sys.parent())
  name <- if (is.function(call[[1L]])) own_name(call[[1L]]) else call[[1L]]
  if (is.name(name) && !identical(get0(name, topenv(), inherits = FALSE), called)) {
    own <- own_name(called)
    if (as.character(own) %in% getNamespaceExports(topenv())) name <- own
  }
  arguments <- lapply(as.list(call)[-1L], function(value) {
    attributes(value) <- if (is.language(value)) NULL else attributes(value)
    plain <- is.null(value) || is.language(value) ||
      is.atomic(value) && is.null(attributes(value)) && length(value) <= 10L
    if (plain) value else as.name(sprintf("<%s>", sub("^an? ", "", describe(value))))
  })
  if (is_call_of(arguments$x, "~")) names(arguments)[names(arguments) == "y"] <- "data"
  as.call(c(name, arguments))
}

is_call_of <- function(code, names) {
  is.call(code) && is.name(code[[1L]]) && as.character(code[[1L]]) %in% names
}

# The names of the arguments of a short call of which the description alone is left, or their number
# among the arguments of a function around it.
described_arguments <- function(call) {
  arguments <- as.list(call)[-1L]
  text <- vapply(arguments, deparse1, "", backtick = FALSE)
  names(arguments)[grepl("^(<.*>|[.]{2}[0-9]+)$", text)]
}

# the name of a function of the package, searched among the exported names first, since most calls
# are of exported functions
own_name <- function(fun) {
  space <- topenv()
  for (name in c(getNamespaceExports(space), names(space))) {
    if (identical(space[[name]], fun)) return(as.name(name))
  }
  as.name("a function")
}

# the arguments for do.call(), which would evaluate language objects, formulas to themselves
quoted <- function(arguments) {
  lapply(arguments, function(value) {
    if (inherits(value, "in_data")) return(value[[1L]])
    if (is.language(value) && !inherits(value, "formula")) call("quote", value) else value
  })
}

# The vector in a data frame or numeric matrix of one column, in an array of one dimension, as
# tapply() makes, in an integer64, in an Rle of Bioconductor, or in numbers and text with a class of
# their own, such as the labelled columns of files of other programs. Anything else is unchanged,
# except that data frames become plain ones.
#' @srrstats {G2.6} `plain_variable()` in `R/base-check.R`. `tests/testthat/test-response-forms.R`
#' @srrstats {G2.12} a list column is refused by name
plain_variable <- function(value) {
  value <- as_frame(value)
  if (is.data.frame(value) && length(value) == 1L) value <- value[[1L]]
  if (length(dim(value)) == 1L) dim(value) <- NULL
  if (inherits(value, "integer64")) value <- doubles_of(value)
  if (isS4(value) && inherits(value, "Rle")) value <- rep(value@values, value@lengths)
  own_class <- is.object(value) && is.null(dim(value)) && !is_time(value)
  if (own_class && (is.numeric(value) || is.character(value))) {
    gaps <- declared_missing(value)
    value <- replace(as.vector(unclass(value)), gaps, NA)
  }
  if (is.matrix(value) && ncol(value) == 1L && is.numeric(value)) value[, 1L] else value
}

# The values that a variable of SPSS declares as missing, by the attributes of the package haven.
declared_missing <- function(value) {
  if (!inherits(value, "haven_labelled_spss")) return(FALSE)
  range <- attr(value, "na_range")
  plain <- as.vector(unclass(value))
  gaps <- plain %in% attr(value, "na_values")
  if (is.null(range)) gaps else gaps | plain >= range[1L] & plain <= range[2L]
}

# The numbers of an integer64 of the package bit64, which has integers in the bits of doubles.
doubles_of <- function(value) {
  bytes <- writeBin(as.vector(unclass(value)), raw())
  halves <- matrix(readBin(bytes, "integer", 2L * length(value)), 2L)
  halves <- halves[if (.Platform$endian == "little") 2:1 else 1:2, , drop = FALSE] + 0
  missing <- is.na(halves[1L, ]) & halves[2L, ] %in% 0
  # the largest negative half is R's missing integer
  halves[is.na(halves)] <- -2^31
  numbers <- halves[1L, ] * 2^32 + halves[2L, ] %% 2^32
  attributes(numbers) <- attributes(value)[c("dim", "dimnames", "names")]
  replace(numbers, missing, NA)
}

# Whether values are dates, times or differences of times, whose unit new data may not share. The
# package lubridate has timespans, of which the numbers of a period are the seconds alone.
is_time <- function(value) inherits(value, c("Date", "POSIXt", "difftime", "Timespan"))

# whether values are numbers, which timespans say of themselves, too
are_numeric <- function(value) is.numeric(value) && !is_time(value)

# Labels as plain_variable() gives them. Doubles have 53 bits only of an integer64.
plain_labels <- function(labels) {
  exact <- inherits(labels, "integer64") && isNamespaceLoaded("bit64")
  if (exact) as.character(labels) else plain_variable(labels)
}

# labels of rows as 1, 2, ... in order of appearance
check_row_labels <- function(labels, name, m, hint = "") {
  if (is.null(labels)) return(NULL)
  labels <- plain_labels(labels)
  stop_input_if(!is.atomic(labels) || !is.null(dim(labels)),
                "`%s` must be a vector with one value per row, not %s", name, describe(labels))
  stop_input_if(length(labels) != m, "`%s` must have one value for each of the %d rows, not %d",
                name, m, length(labels))
  bad <- which(is.na(labels))
  stop_input_if(length(bad), "`%s` has %s (first: row %d)%s", name,
                counted(length(bad), "missing value"), bad[1L], hint)
  match(labels, unique(labels))
}

# A data frame, a tibble, a data.table or a DataFrame of Bioconductor as a plain data frame, whose
# columns are vectors that base functions know. Anything else is returned unchanged.
as_frame <- function(x) {
  if (isS4(x) && inherits(x, "DataFrame")) x <- as.data.frame(x, optional = TRUE)
  if (!is.data.frame(x)) return(x)
  class(x) <- "data.frame"
  packed <- vapply(unclass(x), function(value) {
    isS4(value) || is.data.frame(value) || inherits(value, c("integer64", "haven_labelled_spss"))
  }, NA)
  for (column in which(packed)) {
    plain <- plain_variable(x[[column]])
    # labels of more than 53 bits are kept as they are
    if (!is.double(plain) || all(abs(plain) < 2^53, na.rm = TRUE)) x[[column]] <- plain
  }
  x
}

# Whether rows have no missing value in any of some variables. Lists and raw vectors, which no
# variable may be, have none.
complete_values <- function(values, count) {
  columns <- do.call(c, lapply(unname(values), function(value) {
    value <- plain_variable(value)
    if (is.data.frame(value)) unname(unclass(value)) else list(value)
  }))
  has_gaps <- function(value) is.atomic(value) && !is.raw(value)
  do.call(stats::complete.cases, c(list(logical(count)), Filter(has_gaps, columns)))
}

# why the data have no column of a name, for the end of a message
no_column_words <- function(data) {
  if (is.null(data)) return("but there is no `data` with such a column: give one value per row")
  sprintf("which is not a column of the data: they have %s", some_of(names(data), 4L))
}

# Whether two values are equal but for rounding, in any unit. all.equal() takes numbers below 1e-8
# for equal ones.
is_alike <- function(one, other) {
  scale <- if (is.numeric(other)) mean(abs(other[is.finite(other)]))
  if (!isTRUE(scale > 0)) scale <- NULL
  isTRUE(if (is.numeric(one)) all.equal(one, other, check.attributes = FALSE, scale = scale) else
    all.equal(one, other, check.attributes = FALSE))
}

# Texts --------------------------------------------------------------------------------------------

# Texts for printing and messages, with one rule of rounding and lines that fit the console.

# Errors have three significant digits. Parameters have four, so that they can be copied into a
# call.
shown <- function(value) format(value, digits = 3)

shown_parameter <- function(value) format(value, digits = 4)

# Numbers of one table with the same decimals. Where the largest number is below 1e-4 or has nine
# digits before the mark, they have three significant digits and a power of ten.
with_decimals <- function(value, digits, largest = max(abs(value), 0, na.rm = TRUE)) {
  if (largest >= 1e8 || largest > 0 && largest < 1e-4) return(marked("%.2e", value))
  # without the sign of a number that is shown as 0
  value <- replace(value, which(abs(value) < 0.5 * 10^-digits), 0)
  marked("%.*f", as.integer(digits), value)
}

# Numbers in a format of C, with the decimal mark that format() and print() have.
marked <- function(format, ...) sub(".", getOption("OutDec"), pointed(format, ...), fixed = TRUE)

# Numbers in a format of C, with a point in every locale.
pointed <- function(format, ...) {
  sub(Sys.localeconv()[["decimal_point"]], ".", sprintf(format, ...), fixed = TRUE)
}

# The decimals that show three significant digits of a number.
decimals_of <- function(largest) if (largest > 0) max(0, 2 - floor(log10(largest))) else 3

# A share below 1 is not shown as 1.
shown_share <- function(share) {
  # of a difference of equal errors only rounding remains
  if (!is.na(share) && abs(share) < 1e-12) share <- 0
  full <- !is.na(share) && share < 1 && signif(share, 3L) == 1
  if (full) format(1 - signif(1 - share, 1L), digits = 15L) else shown(share)
}

# Two numbers with as many digits, from three to seven, as tell them apart, or with three.
shown_apart <- function(one, other) {
  apart <- Find(function(digits) signif(one, digits) != signif(other, digits), 3:7, nomatch = 3L)
  vapply(c(one, other), format, "", digits = apart)
}

# "1,234", or "1 234" where the comma is the decimal mark
whole_number <- function(value) {
  format(value, big.mark = if (getOption("OutDec") == ",") " " else ",", scientific = FALSE)
}

se_words <- function(se) {
  if (is.na(se)) "" else sprintf(" (standard error %s)", format(se, digits = 2))
}

# A sentence, broken to the width of the console.
say <- function(..., indent = 0L) {
  cat(strwrap(paste0(...), getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
}

# a remark on the line above
remark <- function(...) say(..., indent = 2L)

# Text of at most `width` characters, of which `end` are the last characters of a longer text.
shortened <- function(text, width, end = 0L) {
  size <- nchar(text)
  long <- size > width
  text[long] <- paste0(substr(text[long], 1L, width - end - 3L), "...",
                       substring(text[long], size[long] - end + 1L))
  text
}

# names of classes often differ at the end
short_class <- function(class) shortened(class, 30L, 12L)

# "15.5 and 992" or "31 values between 0.01 and 100"
values_words <- function(values) {
  values <- sort(values)
  if (length(values) <= 4L) {
    text <- vapply(values, shown_parameter, "")
    last <- length(text)
    return(paste(c(if (last > 1L) paste(text[-last], collapse = ", "), text[last]),
                 collapse = " and "))
  }
  sprintf("%d values between %s and %s", length(values), shown_parameter(min(values)),
          shown_parameter(max(values)))
}

# the text after `what` for several values
at_the_end <- function(value, values, what) {
  if (length(values) > 1L && value %in% range(values)) sprintf(" (at the end of %s)", what) else ""
}

# "1 to 4 rows"
counted_range <- function(range, word) {
  paste0(if (range[1L] < range[2L]) paste(range[1L], "to "), counted(range[2L], word))
}

format_seconds <- function(seconds) {
  if (seconds < 90) sprintf("%.0f seconds", seconds) else sprintf("%.0f minutes", seconds / 60)
}

# lists of at most this number of columns are tried first, and count as short
first_k <- 20L
