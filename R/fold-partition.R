#' Partition rows into folds for cross-validation
#'
#' Makes one or several partitions of the rows into folds. Each fold is held out once per
#' partition, while models are trained on the other rows.
#'
#' Folds are drawn with R's random numbers, so `set.seed()` before the call reproduces them;
#' leave-one-out and given folds draw nothing. Sizes of drawn folds differ by at most one row. With
#' `strata`, so do the numbers of rows of each stratum. With `groups`, whole groups are dealt out,
#' large ones first, each to the fold that has the fewest rows (of its strata) so far. The groups of
#' a [ranking] are its queries. Time is O(m) for m rows, O(groups x folds) with groups.
#'
#' Ten folds of a problem are reduced to the number of its rows or groups, and of classes to the
#' number of rows or groups of the largest class. Each fold then has the largest class. Otherwise a
#' model without columns, which predicts the largest class of the training rows, could be wrong for
#' every row held out of classes of equal size.
#'
#' @param x What the rows belong to: the number of rows, a problem from [as_problem()], a matrix, a
#'   data frame, or an experiment of Bioconductor (its samples). An rsample object is used as its
#'   own folds.
#' @param folds One of:
#'   * `"loo"`: every row is a fold, or every group with `groups`;
#'   * a number of folds from 2 to the number of rows (or of groups), drawn at random;
#'   * a vector with one fold id per row, of any type: rows with the same id are one fold;
#'   * a list of such vectors, or a matrix of them as columns, one per partition;
#'   * a list of row numbers, the rows held out in each fold or the rows trained on, such as from
#'     `caret::createFolds()`, `caret::createMultiFolds()` and `caret::groupKFold()`;
#'   * an rsample object whose assessment sets hold every row exactly once per repeat, such as from
#'     `rsample::vfold_cv()`;
#'   * an earlier result of `make_folds()`.
#' @param ... Must be empty: the arguments below are given by name.
#' @param groups A vector with one value per row: rows with the same value, such as the samples of
#'   a patient, stay in one fold. By default the groups of the problem `x`, see [row_groups].
#' @param strata A vector with one class per row: classes are spread evenly over the folds. By
#'   default the classes of the response when `x` is a classification problem, or events and
#'   censored times. `FALSE` switches this off.
#' @param repeats Number of partitions drawn, a whole number of at least 1.
#'
#' @return A list of class `sparsels_folds`: `ids`, an integer matrix (rows x repeats) with values 1
#'   to the number of folds; `loo`, whether every row is its own fold; `label`, the partition in
#'   words; `groups`, a number per row for rows that belong together: the groups given, or with
#'   given folds the rows that no partition separates; else `NULL`.
#'
#' @section Errors:
#' Of class `sparsels_error_input`: vectors of the wrong length or with missing values, a single
#' fold (it would leave nothing to train on), more folds than rows or groups, `repeats` where
#' nothing is drawn, rsample objects that do not hold out each row exactly once.
#'
#' @examples
#' make_folds(12, 3)
#' make_folds(6, c("a", "a", "b", "b", "c", "c"))
#' make_folds(12, 4, groups = rep(1:6, each = 2), repeats = 2)
#' @srrstats {ML1.5} `print()` and `summary()` of a problem. `make_folds()` counts rows and classes
#'   of folds
#' @srrstats {ML4.7} `repeats` of `make_folds()`
#' @srrstats {ML4.8} stratified folds by default
#' @srrstats {ML4.8a} `make_folds()`, resamples of rsample
#' @export
make_folds <- function(x, folds = 10, ..., groups = NULL, strata = NULL, repeats = 1) {
  check_given(x, "x")
  check_dots(..., known = c("x", "folds", "groups", "strata", "repeats"))
  if (is.null(groups)) folds <- at_most_rows(folds, x)
  if (inherits(x, "rset")) folds <- x
  if (inherits(x, "sparsels_problem")) check_sealed(x)
  folds_of(x, folds, groups, strata, repeats)
}

# Ten folds, the number where the user gives none, are at most one for each row or group, and with
# classes at most one for each row or group of the largest class. A fold without the largest class
# leaves a training set in which another class of the same size is the larger one. Any other `folds`
# are unchanged.
at_most_rows <- function(folds, x) {
  if (!identical(folds, 10)) return(folds)
  problem <- if (inherits(x, "sparsels_problem")) x
  units <- whole_units(problem)
  if (is.null(units)) units <- seq_len(fold_rows(x))
  class <- if (!is.null(problem)) class_index(problem)
  if (is.null(class)) class <- rep(1L, length(units))
  units <- trained_labels(units, problem)
  class <- trained_labels(class, problem)
  first <- !duplicated(units + class * (max(units) + 1))
  max(2L, min(10L, max(tabulate(class[first]))))
}

# Folds as make_folds() returns them, for a problem that has been checked.
folds_of <- function(x, folds, groups = NULL, strata = NULL, repeats = 1) {
  m <- fold_rows(x)
  repeats <- check_repeats(repeats, "repeats", most_fold_ids %/% m, "a hundred million fold ids")
  problem <- if (inherits(x, "sparsels_problem")) x
  data <- row_data(x)
  groups <- labels_in(data, groups, "groups")
  strata <- labels_in(data, strata, "strata")
  folds <- by_kept_rows(folds, problem)
  if (!is_drawn(folds, m)) {
    others <- list(groups = groups, strata = strata, repeats = if (repeats > 1L) repeats)
    used <- names(Filter(function(value) !is.null(value) && !isFALSE(value), others))
    stop_input_if(length(used), "`folds` gives the folds already: %s cannot be used",
                  some_of(used, Inf, "`"))
    folds <- given_folds(folds, m, trained_labels(seq_len(m), problem))
    check_whole_units(problem, folds)
    if (is.null(problem$rows$group)) return(folds)
    return(new_folds(folds$ids, folds$label, whole_units(problem)))
  }
  if (is.null(groups) && !is.null(problem$rows$group)) {
    # a number of folds that is large for rows may be too large for groups
    if (is_number(folds)) folds <- min(folds, count_labels(group_numbers(problem), problem))
  } else {
    check_whole_queries(problem, groups, strata)
  }
  if (is.null(groups)) groups <- whole_units(problem)
  groups <- check_row_labels(by_kept_rows(groups, problem), "groups", m)
  counted <- trained_labels(seq_len(m), problem)
  loo <- identical(folds, "loo") ||
    (is.null(groups) && is_number(folds) && folds %in% c(length(counted), m))
  if (loo) {
    stop_input_if(repeats > 1L, "`repeats` must be 1 with leave-one-out: nothing is drawn")
    stop_input_if(!is.null(strata) && !isFALSE(strata),
                  "`strata` cannot be used with leave-one-out")
    return(leave_out_each(m, groups, problem))
  }
  # the classes of a problem unless others are given, or FALSE
  strata <- if (is.null(strata)) {
    if (!is.null(problem)) row_strata_of(problem)
  } else if (!isFALSE(strata)) {
    check_row_labels(by_kept_rows(strata, problem), "strata", m)
  }
  upper <- count_labels(if (is.null(groups)) seq_len(m) else groups, problem)
  what <- if (is.null(groups)) "the number of rows" else unit_label("the number of groups", problem)
  stop_input_if(upper < 2L, "all rows are of one group, so that no fold leaves rows to train on")
  count <- check_count(folds, "folds", upper, what, lower = 2L)
  ids <- vapply(seq_len(repeats), function(r) counted_ids(m, count, groups, strata, counted),
                integer(m))
  label <- drawn_label(count, groups[counted], strata, repeats)
  new_folds(ids, unit_label(label, problem), groups)
}

# the labels of the rows that count, and the number of different ones
trained_labels <- function(labels, problem) {
  if (is.null(problem)) labels else labels[problem$rows$weight > 0]
}

count_labels <- function(labels, problem) length(unique(trained_labels(labels, problem)))

# memory for partitions, m integers each
most_fold_ids <- 1e8

# `groups`: one number per row, for rows that belong together, or NULL. `together`: the same for
# rows that only probably belong together, since folds were given by their ids alone.
new_folds <- function(ids, label, groups = NULL, together = NULL) {
  ids <- matrix(as.integer(ids), NROW(ids))
  loo <- ncol(ids) == 1L && max(ids) == nrow(ids)
  folds <- list(ids = ids, loo = loo, label = if (loo) "leave-one-out" else label,
                groups = if (!loo) groups, together = if (!loo && is.null(groups)) together)
  seal(structure(folds, class = c("sparsels_folds", "sparsels_object")))
}

# Ids of folds each of which has a row that counts: the first fold takes the rows of the others,
# which are predicted alone. A single fold is refused by name where it is used.
counted_folds <- function(ids, counted) {
  apply(ids, 2L, function(id) {
    own <- sort(unique(id[counted]))
    if (length(own) < 2L) id else match(id, own, 1L)
  })
}

# The groups of rows that folds drawn beside the given folds keep whole.
kept_together <- function(folds) if (is.null(folds$groups)) folds$together else folds$groups

# An argument with a value for each row, or folds, for the rows of a problem. If the argument is for
# all rows of the data, the rows that `subset` and `na.action` remove are removed from it.
by_kept_rows <- function(value, problem) {
  rows <- problem$kept
  all_rows <- attr(rows, "of")
  if (is.null(rows) || length(rows) == all_rows) return(value)
  of_all <- function(one) NROW(one) == all_rows
  if (inherits(value, "rset") && isTRUE(fold_rows(value) == all_rows) && is_partition(value)) {
    value <- given_folds(value, all_rows)
  }
  if (is_row_list(value, all_rows) && max(unlist(value)) == all_rows) {
    value <- row_list_ids(value, all_rows)
  }
  if (inherits(value, "sparsels_folds")) {
    return(if (of_all(value$ids)) cut_folds(value, as.vector(rows)) else value)
  }
  if (is.list(value) && all(vapply(value, of_all, NA))) return(lapply(value, `[`, rows))
  if (!is.atomic(value) || is.null(value) || !of_all(value)) return(value)
  if (is.matrix(value)) value[rows, , drop = FALSE] else value[rows]
}

# strata of the rows of a problem, numbered
check_strata <- function(strata, problem) {
  check_row_labels(by_kept_rows(strata, problem), "strata", nrow(problem))
}

# The problem with the groups of rows that one of these folds keeps whole, if it has no groups yet.
with_groups_of_folds <- function(problem, folds) {
  # a number of folds has no groups
  folds <- folds[vapply(folds, is.list, NA)]
  if (!length(folds)) return(problem)
  groups <- Find(Negate(is.null), lapply(folds, function(one) {
    one <- by_kept_rows(one, problem)
    if (inherits(one, "sparsels_folds")) one$groups else if (inherits(one, "rset")) rset_groups(one)
  }))
  if (length(groups) != nrow(problem) || !is.null(whole_units(problem))) return(problem)
  with_row_groups(problem, groups)
}

# Folds in any form, for the rows of a problem, as fitters use them.
as_folds <- function(folds, problem) {
  drawn <- folds_of(problem, folds)
  warn_absent(problem, drawn)
  drawn
}

# Warns of classes of which a fold holds every row, since a model trained without them never
# predicts them.
warn_absent <- function(problem, folds) {
  if (problem$coding$task == "regression") return(invisible(character()))
  counted <- problem$rows$weight > 0
  class <- factor(class_index(problem)[counted], seq_along(problem$coding$levels))
  in_folds <- function(ids) tapply(ids, class, function(one) length(unique(one)))
  count <- apply(folds$ids[counted, , drop = FALSE], 2L, in_folds)
  absent <- problem$coding$levels[rowSums(count == 1L, na.rm = TRUE) > 0]
  one <- length(absent) == 1L
  warn_if(length(absent), "sparsels_warning_class",
          "all rows of %s %s are in one fold: the model trained without that fold never %s",
          if (one) "class" else "each of the classes", some_of(short_class(absent)),
          if (one) "predicts it" else "predicts them")
  invisible(absent)
}

# Warns of classes that a resample does not draw, from the rows that each resample trains on.
warn_not_drawn <- function(problem, trained) {
  if (problem$coding$task == "regression") return(character())
  counted <- problem$rows$weight > 0
  class <- factor(class_index(problem), seq_along(problem$coding$levels))
  held <- table(class[counted]) > 0
  lost <- rowSums(vapply(trained, function(rows) {
    held & table(class[rows[counted[rows]]]) == 0
  }, logical(nlevels(class)))) > 0
  absent <- problem$coding$levels[lost]
  warn_if(length(absent), "sparsels_warning_class",
          "class %s is in no row that one of the resamples trains on: its model never predicts it",
          some_of(short_class(absent)))
  absent
}

# Arguments ---------------------------------------------------------------------------------------

fold_rows <- function(x) {
  if (inherits(x, "rset")) return(nrow(x$splits[[1L]]$data))
  x <- row_data(x)
  m <- if (length(dim(x)) == 2L) nrow(x) else x
  stop_input_if(!is_number(m) || m != round(m) || m > most_fold_ids,
                "`x` must be a number of rows or have rows, not %s", describe(m))
  stop_input_if(m < 2L, "`x` must have at least 2 rows to make folds, not %s", format(m))
  as.integer(m)
}

is_drawn <- function(folds, m) {
  if (is.list(folds) || NROW(folds) == m) return(FALSE)
  if (identical(folds, "loo") || length(folds) == 1L && is.numeric(folds)) return(TRUE)
  stop_input_if(length(folds) > 1L && is.atomic(folds),
                "`folds` must have one id for each of the %d rows, not %d", m, length(folds))
  stop_input("`folds` must be \"loo\", a number of folds, ids or a list of ids, not %s%s",
             describe(folds), if (identical(folds, "groups"))
               ": with `groups` \"loo\" leaves out one group at a time" else "")
}

# The strata that parts of the rows have in proportion: classes, or events and censored times. NULL
# if there are none.
row_strata_of <- function(problem) {
  if (!is_survival(problem)) return(class_index(problem))
  event <- 1L + problem$rows$event
  if (length(unique(event)) > 1L) event
}

# Given -------------------------------------------------------------------------------------------

given_folds <- function(folds, m, counted = seq_len(m)) {
  if (inherits(folds, "sparsels_folds")) {
    check_folds(folds, m)
    parts <- if (!folds$loo) c("ids", if (!is.null(folds$together)) "together")
    folds[parts] <- lapply(folds[parts], function(part) {
      part[] <- counted_folds(as.matrix(part), counted)
      part
    })
    return(seal(folds))
  }
  groups <- if (inherits(folds, "rset")) rset_groups(folds)
  if (inherits(folds, "rset")) folds <- rset_ids(folds)
  stop_input_if(inherits(folds, "rsplit"), "`folds` is a single split of rsample: %s",
                "train on its training(), and predict() the rows of its testing()")
  if (length(names(folds)) && all(grepl("^Resample[0-9]+$", names(folds)))) {
    samples <- any(vapply(folds, anyDuplicated, 0L) > 0L)
    stop_input("`folds` are %s, and no folds: cross_validate() takes `outer = rsample::%s(data)`",
               if (samples) "bootstrap samples, as from caret::createResample()" else
                 "splits, as from caret::createDataPartition()",
               if (samples) "bootstraps" else "mc_cv")
  }
  # a column for each partition, as make_folds() has them
  if (is.matrix(folds) && is.atomic(folds)) {
    folds <- lapply(seq_len(ncol(folds)), function(r) folds[, r])
  }
  if (is_row_list(folds, m)) folds <- row_list_ids(folds, m)
  if (!is.list(folds)) folds <- list(folds)
  stop_input_if(!length(folds), "`folds` must hold at least one vector of ids, not an empty list")
  empty <- which(vapply(folds, is.null, NA))
  stop_input_if(length(empty), "`folds` must be a list of vectors of ids, but element %d is NULL",
                empty[1L])
  ids <- vapply(folds, check_row_labels, integer(m), name = "folds", m = m)
  dim(ids) <- c(m, length(folds))
  ids <- counted_folds(ids, counted)
  counts <- apply(ids, 2L, max)
  stop_input_if(any(counts < 2L),
                "`folds` must have at least 2 folds: a single one leaves no row to train on")
  times <- if (length(folds) > 1L) sprintf(", %d partitions", length(folds))
  sizes <- paste(unique(range(counts)), collapse = " to ")
  # rows that every partition keeps together may belong together, as the samples of a patient do
  pattern <- do.call(paste, as.data.frame(ids))
  new_folds(ids, paste0(sizes, " given folds", times), groups, match(pattern, unique(pattern)))
}

# Whether folds are row numbers: a list of vectors none of which has an id for each row.
is_row_list <- function(folds, m) {
  is.list(folds) && length(folds) > 1L && !inherits(folds, "sparsels_folds") &&
    all(vapply(folds, is.numeric, NA)) && all(lengths(folds) < m)
}

# The ids of folds given as the row numbers held out, or as the row numbers trained on, which are
# most of the rows. Partitions follow each other.
row_list_ids <- function(folds, m) {
  if (mean(lengths(folds)) > m / 2) folds <- lapply(folds, setdiff, x = seq_len(m))
  partition <- ceiling(cumsum(lengths(folds)) / m)
  lapply(unname(split(folds, partition)), function(sets) {
    times <- tabulate(unlist(sets), m)
    wrong <- which(times != 1L)[1L]
    stop_input_if(!is.na(wrong) || sum(lengths(sets)) != m,
                  "`folds` as a list of row numbers must hold out each of %d rows once%s", m,
                  if (is.na(wrong)) "" else
                    sprintf(", but row %d is held out %d times", wrong, times[wrong]))
    replace(integer(m), unlist(sets), rep(seq_along(sets), lengths(sets)))
  })
}

# The groups of the rows of a grouped rsample object, or NULL.
rset_groups <- function(rset) {
  column <- attr(rset, "group")
  data <- rset$splits[[1L]]$data
  if (is_string(column) && column %in% names(data)) {
    check_row_labels(as.character(data[[column]]), "groups", nrow(data))
  }
}

check_folds <- function(folds, m) {
  check_sealed(folds)
  stop_input_if(nrow(folds$ids) != m, "`folds` was made for %d rows, but there are %d",
                nrow(folds$ids), m)
  counts <- function(ids) !anyNA(ids) && min(ids) == 1L && all(tabulate(ids, max(ids)) > 0L)
  valid <- max(0L, folds$ids, na.rm = TRUE) <= m && all(apply(folds$ids, 2L, counts))
  if (!valid) stop_edited("ids", "an object of class 'sparsels_folds'")
  folds
}

# one vector of ids per repeat
rset_ids <- function(rset) {
  stop_input_if(!is_partition(rset),
                paste("the rsample object must hold out each row exactly once per repeat and train",
                      "on all others, as vfold_cv(); `outer` of cross_validate() takes others"))
  lapply(rset_repeats(rset), function(splits) {
    heldout <- lapply(splits, split_rows, "assessment")
    replace(integer(fold_rows(rset)), unlist(heldout), rep(seq_along(heldout), lengths(heldout)))
  })
}

# the splits of an rsample object by repeat
rset_repeats <- function(rset) {
  stop_input_if(!length(rset$splits), "the rsample object has no `splits`")
  stop_input_if("inner_resamples" %in% names(rset),
                paste("the rsample object has inner resamples, which would not be used: give the",
                      "outer ones alone, and `folds` or `size_folds` for inner folds"))
  # with repeats, `id` is the repeat and `id2` the fold
  part <- if ("id2" %in% names(rset)) rset$id else rep("", length(rset$splits))
  unname(split(rset$splits, factor(part, unique(part))))
}

# the numbers of the rows of one part of a split, with repeats, by the method of rsample
split_rows <- function(split, part) {
  need_package("rsample")
  as.integer(split, data = part)
}

# Whether the splits of each repeat hold out every row once and train on all others.
is_partition <- function(rset) {
  m <- fold_rows(rset)
  all(vapply(rset_repeats(rset), function(splits) {
    heldout <- lapply(splits, split_rows, "assessment")
    trained <- lapply(splits, split_rows, "analysis")
    rest <- Map(function(rows, held) identical(sort(c(rows, held)), seq_len(m)), trained, heldout)
    identical(sort(unlist(heldout)), seq_len(m)) && all(unlist(rest))
  }, NA))
}

# Resamples of rsample that are no partition, in the form of held_out_rows(): `rows` has the rows
# held out, `trained` the rows to train on, and `times` how often each of these was drawn.
resample_parts <- function(rset, m) {
  stop_input_if(fold_rows(rset) != m, "the rsample object is of %d rows, but there are %d",
                fold_rows(rset), m)
  splits <- unlist(rset_repeats(rset), recursive = FALSE)
  parts <- data.frame(repetition = rep(1L, length(splits)), fold = seq_along(splits))
  parts$rows <- lapply(splits, split_rows, "assessment")
  drawn <- lapply(splits, split_rows, "analysis")
  parts$trained <- lapply(drawn, function(rows) sort(unique(rows)))
  parts$times <- Map(function(rows, trained) tabulate(match(rows, trained)), drawn, parts$trained)
  refuse_resample <- function(bad, what) {
    stop_input_if(any(bad), "resample '%s' of the rsample object %s", rset$id[which(bad)[1L]], what)
  }
  stop_input_if(inherits(rset, "permutations"),
                "permutations() of rsample change the data: permutation_test() has its own")
  refuse_resample(lengths(parts$rows) == 0L, "holds out no row: leave it out")
  both <- mapply(function(rows, trained) any(rows %in% trained), parts$rows, parts$trained)
  refuse_resample(both, "holds out rows that it trains on, as apparent(): leave it out")
  refuse_resample(lengths(parts$trained) < 2L, "has fewer than 2 rows to train on")
  parts
}

# Drawn -------------------------------------------------------------------------------------------

leave_out_each <- function(m, groups, problem) {
  if (is.null(groups)) return(new_folds(seq_len(m), "leave-one-out"))
  stop_input_if(max(groups) < 2L,
                "`groups` must have at least 2 groups: a single one leaves no row to train on")
  label <- sprintf("leave-one-group-out, %d groups", count_labels(groups, problem))
  ids <- counted_folds(matrix(groups), trained_labels(seq_len(m), problem))
  new_folds(ids, unit_label(label, problem), groups)
}

# Folds drawn for the rows of positive weight. The other rows, or groups without a weight, are dealt
# out to the same folds.
counted_ids <- function(m, count, groups, strata, counted) {
  unit <- if (is.null(groups)) seq_len(m) else groups
  own <- if (!is.null(groups)) match(groups[counted], unique(groups[counted]))
  drawn <- draw_ids(length(counted), count, own, strata[counted])
  replace(rep_len(seq_len(count), max(unit)), unit[counted], drawn)[unit]
}

draw_ids <- function(m, count, groups, strata) {
  if (is.null(strata)) strata <- rep(1L, m)
  if (!is.null(groups)) return(deal_groups(groups, strata, count)[groups])
  # dealing on from stratum to stratum evens out both the strata and the sizes
  shuffled <- order(sample.int(max(strata))[strata], sample.int(m))
  replace(integer(m), shuffled, rep_len(seq_len(count), m))
}

# Fold of each group: large groups first, each to the fold with the fewest rows of its strata. Dealt
# again, in another order, while a fold has all rows of a stratum that is in several groups.
deal_groups <- function(groups, strata, count, tries = 20L) {
  n <- max(groups)
  strata <- match(strata, unique(strata))
  members <- matrix(tabulate((strata - 1) * n + groups, n * max(strata)), n)
  size <- rowSums(members)
  # sizes within a factor of two count as equal, so that repeats differ
  turns <- order(-floor(log2(size)), sample.int(n))
  fold <- integer(n)
  rows <- numeric(count)
  shares <- sweep(members, 2L, colSums(members), "/")
  # a group that lies in one stratum concerns this stratum alone
  stratum <- ifelse(rowSums(members > 0L) == 1L, max.col(members, "first"), 0L)
  dealt <- matrix(0, count, ncol(members))
  all <- sum(size) + 1
  for (group in turns) {
    if (own <- stratum[group]) {
      to <- which.min(all * dealt[, own] + rows)
      dealt[to, own] <- dealt[to, own] + size[group]
    } else {
      crowded <- dealt %*% shares[group, ]
      least <- which(crowded == min(crowded))
      to <- least[which.min(rows[least])]
      dealt[to, ] <- dealt[to, ] + members[group, ]
    }
    fold[group] <- to
    rows[to] <- rows[to] + size[group]
  }
  whole <- colSums(dealt > 0) == 1L & colSums(members > 0L) > 1L
  if (any(whole) && tries > 1L) deal_groups(groups, strata, count, tries - 1L) else fold
}

drawn_label <- function(count, groups, strata, repeats) {
  paste0(
    count, "-fold",
    if (!is.null(groups)) sprintf(", %d groups kept whole", length(unique(groups))),
    if (!is.null(strata)) ", stratified",
    if (repeats > 1L) sprintf(", repeated %d times", repeats)
  )
}

# The label of drawn folds that keep together the rows that given folds keep together.
label_as_given <- function(label) {
  label <- sub("^leave-one-group-out, (.*)", "leave-one-set-out, \\1 kept whole", label)
  sub("groups kept whole", "sets of rows kept whole as in `folds`", label, fixed = TRUE)
}

# Parts -------------------------------------------------------------------------------------------

# One row per fold of each partition. `rows` is a list column of the held-out rows among the rows
# that count.
held_out_rows <- function(folds, counted = rep(TRUE, nrow(folds$ids))) {
  rows <- lapply(seq_len(ncol(folds$ids)), function(r) split(which(counted), folds$ids[counted, r]))
  list2DF(list(repetition = rep(seq_along(rows), lengths(rows)),
               fold = as.integer(unlist(lapply(rows, names))),
               rows = unname(unlist(rows, recursive = FALSE))))
}

# Folds of all rows, restricted to some rows. Folds are renumbered, since a fold may have lost all
# its rows. Rows that are `kept` without being trained on come after the trained rows in the
# numbering.
cut_folds <- function(folds, rows, kept = rows) {
  check_folds_left(folds, rows)
  ids <- apply(folds$ids, 2L, function(id) match(id[kept], unique(id[c(rows, kept)])))
  cut <- new_folds(ids, folds$label, folds$groups[kept], folds$together[kept])
  if (!is.null(folds$shared)) {
    cut$shared <- list(store = folds$shared$store, rows = folds$shared$rows[kept])
  }
  cut
}

check_folds_left <- function(folds, rows, hint = "give folds of fewer rows") {
  alone <- apply(folds$ids, 2L, function(id) all(id[rows] == id[rows[1L]]))
  stop_input_if(any(alone), "`folds` leaves one inner fold only among the training rows: %s", hint)
}

# Methods and checks ------------------------------------------------------------------------------

#' @exportS3Method
print_result.sparsels_folds <- function(x, ...) {
  sizes <- range(unlist(apply(x$ids, 2L, tabulate, simplify = FALSE)))
  say("<sparsels folds> ", counted(nrow(x$ids), "row"), ": ", x$label,
      if (!x$loo) paste("; each fold has", counted_range(sizes, "row")))
}

# Covariates that are not estimable without a fold, such as a batch whose rows are all in the fold.
# With Q the orthonormal basis of the covariates, a direction u = Qv lies within the rows H of a
# fold if Q_H'Q_H has the eigenvalue 1. Models trained without the fold have no estimate of it. A
# part of a problem leaves such covariates out (see without_dependent()). Where held-out residuals
# are computed without training again, their part along u is 0. For H a single row, that is the row.

# Refuses folds without which no row has a weight. Says which covariates folds lose.
fold_basis_check <- function(problem, folds, said = FALSE) {
  # only all rows of positive weight together lose the intercept
  largest <- if (folds$loo) 1L else max(apply(folds$ids, 2L, function(id) max(tabulate(id))))
  if (largest >= trained_rows(problem)) {
    check_estimable(problem, rows_of_folds(folds), "fold", weights = TRUE)
  }
  if (!said) say_lost_sets(problem, rows_of_folds(folds))
}

# The rows of the folds of all partitions, by the numbers of the folds.
rows_of_folds <- function(folds) {
  parts <- held_out_rows(folds)
  stats::setNames(parts$rows, parts$fold)
}

# Refuses folds that lose a covariate, for methods that cannot leave it out.
refuse_lost_covariates <- function(problem, folds) {
  check_estimable(problem, rows_of_folds(folds), "fold",
                  ": merge rare levels, or give `folds` that divide their rows")
}

# The message about the sets of held-out rows that lose a covariate, if there are any.
say_lost_sets <- function(problem, sets) {
  if (has_intercept_only(problem)) return(invisible())
  parts <- decomposed_covariates(problem)
  directions <- lost_of_sets(parts$basis, sets)
  lost <- which(lengths(directions) > 0L)
  if (!length(lost)) return(invisible())
  # coefficients that change no row outside a set: the last covariate of each follows from others
  size <- sqrt(colSums(parts$factor^2))
  backward <- rev(seq_along(size))
  names <- unique(unlist(lapply(directions[lost], function(along) {
    combination <- size * backsolve(parts$factor, along)
    combination[abs(combination) < 1e-9 * max(abs(combination))] <- 0
    last <- qr(t(combination[backward, , drop = FALSE]))
    sort(backward[last$pivot[seq_len(last$rank)]])
  })))
  names <- colnames(problem$z)[names]
  rows <- sets[[lost[1L]]]
  say_left_out(names, if (length(sets) == 1L) "without these rows" else
    sprintf("without %d of %s (first: %s %s)", length(lost), counted(length(sets), "fold"),
            if (length(rows) == 1L) "row" else "rows", some_of(rows, 5L, "")))
}

# Sets of rows held out from a fit: refuses a set without which no row has a weight, and says which
# covariates are lost.
check_held_sets <- function(problem, sets) {
  check_estimable(problem, unname(sets), weights = TRUE)
  say_lost_sets(problem, sets)
}

# A problem in working coordinates, and the basis `held` by which the rows of folds are held out.
working_in_folds <- function(problem, folds) {
  work <- working(problem)
  held <- fold_basis(problem, folds)
  if (!identical(held, work$q)) work$held <- held
  work
}

# The basis of the covariates without the directions that lie within a fold, or by default within a
# row or group of rows.
fold_basis <- function(problem, folds = NULL) {
  basis <- covariate_basis(problem)
  if (has_intercept_only(problem)) return(basis)
  if (!is.null(folds)) return(held_basis(basis, held_out_rows(folds)$rows))
  rows <- seq_len(nrow(problem))
  unit <- if (is.null(problem$rows$group)) rows else problem$rows$group
  held_basis(basis, unname(split(rows, unit)))
}

# A basis of covariates without the directions that lie within one of some sets of rows.
held_basis <- function(basis, sets) {
  lost <- do.call(cbind, lost_of_sets(basis, sets))
  if (is.null(lost)) return(basis)
  # sets that share rows may share directions
  decomposed <- qr(lost)
  lost <- qr.Q(decomposed)[, seq_len(decomposed$rank), drop = FALSE]
  basis - tcrossprod(basis %*% lost, lost)
}

# The directions of covariates (q x any) that are 0 without some rows, for an orthonormal basis.
# These directions are among the few that lie within the rows but for rounding. LAPACK may find no
# singular values of all other rows, where nearly all of them are 1.
lost_directions <- function(basis, rows) {
  held <- basis[rows, , drop = FALSE]
  few <- length(rows) < ncol(basis)
  found <- eigen(if (few) tcrossprod(held) else crossprod(held), symmetric = TRUE)
  within <- found$values > 1 - 1e-6
  if (!any(within)) return(matrix(0, ncol(basis), 0L))
  along <- found$vectors[, within, drop = FALSE]
  if (few) along <- crossprod(held, along) / rep(sqrt(found$values[within]), each = ncol(basis))
  rest <- svd((basis %*% along)[-rows, , drop = FALSE], nu = 0L, nv = ncol(along))
  length <- c(rest$d, numeric(ncol(along)))[seq_len(ncol(along))]
  along %*% rest$v[, length < 1e-12, drop = FALSE]
}

# Predictions of rows from their held-out residuals. NA for the rows of a covariate that is lost
# with their fold: their residuals lack what it determines, in a fold of one row all of it.
scores_unless_lost <- function(problem, folds, residual) {
  scores <- scores_of(problem, residual)
  scores[rows_of_lost(problem, held_out_rows(folds)$rows), ] <- NA
  scores
}

# the rows of some sets that have a part along a direction of the covariates lost with the set
rows_of_lost <- function(problem, sets) {
  if (has_intercept_only(problem)) return(integer())
  basis <- covariate_basis(problem)
  unlist(Map(function(rows, lost) {
    if (!is.null(lost)) rows[rowSums(abs(basis[rows, , drop = FALSE] %*% lost)) > 1e-8]
  }, sets, lost_of_sets(basis, sets)))
}

# Held-out residuals of some rows (weighted) less their part along directions of the covariates that
# lie within the rows.
without_lost <- function(residual, problem, rows) {
  if (has_intercept_only(problem)) return(residual)
  basis <- covariate_basis(problem)
  lost <- basis[rows, , drop = FALSE] %*% lost_directions(basis, rows)
  residual - lost %*% crossprod(lost, residual)
}

# Refuses sets of rows, named or not, without which the covariates cannot be estimated, or with
# `weights` alone those without which no row has a weight. `what` is the name of one set in
# messages, which end with the `hint`. If the rows of a set outweigh the others, a share is rounded
# to 1. The other rows then decide.
check_estimable <- function(problem, sets, what = "these rows", hint = "", weights = FALSE) {
  if (!ncol(problem$z)) return(invisible())
  lost <- if (weights || ncol(problem$z) <= problem$coding$intercept) {
    # the intercept requires no more than a row with a weight
    weighs <- problem$rows$weight > 0
    vapply(sets, function(rows) sum(weighs[rows]), 0L) == sum(weighs)
  } else {
    loses_covariates(covariate_basis(problem), sets)
  }
  for (set in which(lost)) {
    rows <- sets[[set]]
    without <- sprintf(" without %s (%s %s)", paste(c(what, names(sets)[set]), collapse = " "),
                       if (length(rows) == 1L) "row" else "rows", some_of(rows, 5L, ""))
    stop_input_if(all(problem$rows$weight[-rows] == 0),
                  paste0("no row has a positive weight", without))
    rest <- weighted_covariates(problem)[-rows, , drop = FALSE]
    stop_aliased(aliased_columns(qr(rest, tol = 1e-10), problem$z), problem, without, hint)
  }
}

# The directions of the covariates, with this orthonormal basis, that lie within each set of rows,
# NULL for a set without any.
lost_of_sets <- function(basis, sets) {
  total <- c(0, cumsum(rowSums(basis^2)[unlist(sets)]))
  end <- cumsum(lengths(sets))
  # no direction has a larger share than all directions together
  may <- which(total[end + 1L] - total[end - lengths(sets) + 1L] > 1 - 1e-10)
  directions <- vector("list", length(sets))
  found <- lapply(sets[may], function(rows) lost_directions(basis, rows))
  some <- lengths(found) > 0L
  directions[may[some]] <- found[some]
  directions
}

# whether a direction of the covariates lies within each set of rows
loses_covariates <- function(basis, sets) lengths(lost_of_sets(basis, sets)) > 0L
