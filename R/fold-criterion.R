# The criteria that a search can minimise or maximise: their names, their requirements and their
# means over folds. The losses of rows and of pairs of rows are in src/criterion.c.

# The table ---------------------------------------------------------------------------------------

# A criterion. `words` is its name in words, and `higher` is whether a larger value is better.
# `needs` is the required response: NULL, "classes" or "two classes". `use` has any of "search"
# (criterion of a fitter), "measure" (of cross_validate()) and "path" (loss of an l1 path).
# `constants` is a function of the problem that gives a list of the other inputs of its value.
# src/criterion.c has the same names.
#' @srrstats {G3.0} tolerances are in `src/tolerance.h`, ties in `R/fold-criterion.R`
new_criterion <- function(words, use, higher = FALSE, needs = NULL, constants = NULL) {
  list(words = words, use = use, higher = higher, needs = needs, constants = constants)
}

# A criterion of the errors of groups of rows by a `loss` of rows or of pairs of rows of a group,
# each divided by the error of the null model: `over` is what it takes over the groups.
group_criterion <- function(over, loss, words, needs = NULL) {
  ratio <- switch(over, worst = "largest relative %s of a group",
                  mean_sd = "mean plus standard deviation of groups' relative %s")
  c(new_criterion(sprintf(ratio, words), "search", needs = needs), over = over, group_loss = loss)
}

criteria <- list(
  squared = new_criterion("mean squared error", c("search", "measure", "path")),
  error = new_criterion("error rate", c("search", "measure"), needs = "classes"),
  absolute = new_criterion("mean absolute error", c("search", "measure")),
  auc = new_criterion("area under the ROC curve", c("search", "measure"), higher = TRUE,
                      needs = "two classes"),
  balanced = new_criterion("balanced error rate", c("search", "measure"), needs = "classes",
                           constants = function(problem) list(share = class_share(problem))),
  brier = new_criterion("Brier score", "measure", needs = "classes"),
  logloss = new_criterion("log loss", "measure", needs = "classes"),
  concordance = new_criterion("concordance", c("search", "measure"), higher = TRUE,
                              needs = "times or numbers"),
  deviance = new_criterion("mean deviance", "measure"),
  logistic = new_criterion("logistic loss", "path", needs = "two classes"),
  hinge = new_criterion("hinge loss", "path", needs = "two classes"),
  worst = group_criterion("worst", "squared", "squared error"),
  worst_error = group_criterion("worst", "error", "error rate", "classes"),
  worst_absolute = group_criterion("worst", "absolute", "absolute error"),
  mean_sd = group_criterion("mean_sd", "squared", "squared error"),
  mean_sd_error = group_criterion("mean_sd", "error", "error rate", "classes"),
  mean_sd_absolute = group_criterion("mean_sd", "absolute", "absolute error"),
  worst_concordance = group_criterion("worst", "concordance", "discordance",
                                      "numbers or two classes"),
  mean_sd_concordance = group_criterion("mean_sd", "concordance", "discordance",
                                        "numbers or two classes")
)

# the names of the criteria of each use
criteria_of_use <- lapply(c(search = "search", measure = "measure", path = "path"), function(use) {
  names(Filter(function(one) use %in% one$use, criteria))
})

# the criterion of a name that is an argument, for a response that meets its requirements
named_criterion <- function(name, argument, use, problem) {
  if (use == "measure" && is_gain(name)) {
    check_needs("concordance", "measure", problem)
    grade <- grades(problem)
    outside <- grade[grade < 0 | grade > 50]
    stop_argument_if(length(outside), "`measure = \"ndcg\"` needs grades from 0 to 50, %s %s",
                     "of which 2^y - 1 is gained, but the response has", format(outside[1L]))
    # the number of first rows that count
    k <- if (name == "ndcg") Inf else as.numeric(sub("ndcg@", "", name, fixed = TRUE))
    return(list(name = name, words = paste0("NDCG", if (is.finite(k)) {
      sprintf(" of the first %d", k)
    }), higher = TRUE, sum = function(problem, score) gain_sums(problem, score, k)))
  }
  check_choice(name, argument, criteria_of_use[[use]])
  check_allowed_criterion(name, argument, problem)
  if (use == "measure" && name == "auc" && problem$coding$task == "multiclass") {
    words <- "area under the ROC curve of pairs of classes"
    return(list(name = "auc", words = words, higher = TRUE, sum = class_pairs))
  }
  check_needs(name, argument, problem)
  made <- criteria[[name]]
  kept <- intersect(c("words", "higher", "over", "group_loss"), names(made))
  c(list(name = name), made[kept], if (!is.null(made$constants)) made$constants(problem))
}

check_needs <- function(name, argument, problem) {
  needs <- criteria[[name]]$needs
  valid <- is.null(needs) || switch(needs,
    classes = problem$coding$task != "regression",
    "two classes" = problem$coding$task == "binary",
    "times or numbers" = problem$coding$task == "regression" && ncol(problem$rows$y) == 1L,
    "numbers or two classes" = ncol(problem$rows$y) == 1L
  )
  if (!valid) {
    given <- if (problem$coding$task == "regression") {
      if (grepl("numbers", needs)) "several" else "numbers: give it as a factor"
    } else {
      if (needs == "times or numbers") "classes" else "more"
    }
    stop_argument("`%s = \"%s\"` needs a response with %s, not %s", argument, name, needs, given)
  }
}

squared_error <- list(name = "squared")

# A criterion to search by ------------------------------------------------------------------------

# A criterion as every fitter holds it. A kernel minimises a loss, which criterion_value() turns
# into the criterion.
as_criterion <- function(criterion, problem, folds) {
  if (is.function(criterion)) {
    check_allowed_criterion("user", "criterion", problem)
    return(user_criterion(criterion, problem, folds))
  }
  made <- named_criterion(criterion, "criterion", "search", problem)
  if (criterion == "squared") made$words <- squared_label(problem)
  if (criterion %in% c("error", "balanced") && problem$coding$task == "multiclass") {
    made$words <- paste(made$words, "of the largest score")
  }
  if (criterion == "concordance") check_ordered(problem, folds)
  if (criterion == "auc") check_auc(problem, folds)
  if (!is.null(made$over)) made <- compared_groups(made, problem, folds)
  made$label <- held_out_label(made$words, folds$label, criterion == "auc" && folds$loo)
  made
}

# The held-out loss as a criterion.
loss_criterion <- function(loss, folds) {
  words <- losses[[loss]]$criterion
  if (is.null(words)) words <- criteria[[loss]]$words
  list(name = loss, higher = FALSE, words = words, label = held_out_label(words, folds$label))
}

# The mean deviance as a measure of means of counts or shares, as judged_values() has them, or of
# events. Events held out have a deviance beside the rows trained on: `held_out` is as in the record
# of the loss, and no rows alone have a value.
deviance_measure <- function(loss) {
  record <- losses[[loss]]
  # means are compared by a loss without a parameter
  if (!is.null(record$compared)) record <- losses[[record$compared]]
  if (!is_likelihood(loss)) {
    needed <- sprintf("`loss = \"%s\"`", Filter(is_likelihood, names(losses)))
    stop_argument("`measure = \"deviance\"` needs a method with %s: for classes take \"logloss\"",
                  some_of(needed, Inf, ""))
  }
  if (!is.null(record$held_out)) {
    return(list(name = "deviance", words = record$criterion, higher = FALSE,
                held_out = record$held_out, sum = function(problem, score) c(0, 0)))
  }
  of_rows <- function(problem, score) {
    offset <- row_offset(problem)
    2 * record$value(problem$rows$y[, 1L], record$link(score[, 1L] + offset) - offset, offset)
  }
  with_row_loss(list(name = "deviance", words = record$criterion, higher = FALSE), of_rows)
}

# A measure with the `loss` of each row, a function of a problem and scores, and the `sum` of it
# over the rows with the sum of their weights.
with_row_loss <- function(measure, loss, weights = function(problem) problem$rows$weight) {
  measure$loss <- loss
  measure$sum <- function(problem, score) {
    w <- weights(problem)
    c(sum(w * loss(problem, score)), sum(w))
  }
  measure
}

# "leave-one-out mean squared error", "held-out mean squared error (10-fold, stratified)". An error
# of pairs of rows leaves out both rows.
held_out_label <- function(words, scheme, pairs = FALSE) {
  if (pairs) scheme <- "leave-pair-out"
  one_word <- startsWith(scheme, "leave-") && !grepl(" ", scheme, fixed = TRUE)
  if (one_word) paste(scheme, words) else sprintf("held-out %s (%s)", words, scheme)
}

check_auc <- function(problem, folds) {
  check_needs("auc", "criterion", problem)
  if (folds$loo) return(invisible())
  rows <- trained_places(problem)
  classes <- problem$rows$y[rows, 1L] > 0
  mixed <- function(ids) any(tapply(classes, ids[rows], function(one) any(one) && !all(one)))
  both <- apply(folds$ids, 2L, mixed)
  stop_input_if(!all(both), "`criterion = \"auc\"` needs a fold with rows of both classes")
}

# The user's function as a criterion. `evaluate` calls it and checks its answer. A kernel calls
# `loss` with the held-out residuals of all rows, and `loss` leaves out rows of weight 0.
user_criterion <- function(criterion, problem, folds) {
  better <- attr(criterion, "better", exact = TRUE)
  if (is.null(better)) better <- "lower"
  check_choice(better, "attr(criterion, \"better\")", c("lower", "higher"))
  stop_input_if(arguments_of(criterion) < 3,
                "a function as `%s` must take three arguments: y, prediction, fold",
                "criterion` or `measure")
  sign <- if (better == "higher") -1 else 1
  plain <- function(values) if (ncol(values) == 1L) values[, 1L] else values
  evaluate <- function(y, prediction, fold) {
    value <- criterion(plain(y), plain(prediction), fold)
    # its square must be finite
    if (is_number(value) && abs(value) <= 1 / sqrt(smallest_square)) return(value)
    large <- if (is_number(value) && is.finite(value)) " of at most 1e140" else ""
    stop_input("the `criterion` function must return one finite number%s, not %s", large,
               describe(value))
  }
  loss <- function(residual, repetition) {
    rows <- problem$rows$weight > 0
    prediction <- problem$rows$y - as.vector(residual)
    sign * evaluate(problem$rows$y[rows, , drop = FALSE], prediction[rows, , drop = FALSE],
                    folds$ids[rows, repetition])
  }
  words <- "value of the `criterion` function"
  list(name = "user", words = words, higher = better == "higher",
       label = held_out_label(words, folds$label), loss = loss, evaluate = evaluate)
}

# The value of a criterion, from the loss that a kernel minimises.
criterion_value <- function(criterion, loss) {
  if (criterion$name %in% c("auc", "concordance")) return(1 - loss)
  if (criterion$higher) -loss else loss
}

# A criterion as an error, where less is better. A criterion between 0 and 1 where more is better is
# subtracted from 1. A user's criterion where more is better is negated.
as_error <- function(criterion, value) {
  if (is_share(criterion)) 1 - value else criterion_loss(criterion, value)
}

is_share <- function(criterion) {
  criterion$name %in% c("auc", "concordance", "r_squared", "dev_ratio") || is_gain(criterion$name)
}

# The error divided by the error of the null model. For a user's criterion where more is better, the
# difference from the null model.
relative_error <- function(criterion, value, null = value[1L]) {
  if (criterion$higher && !is_share(criterion)) return(null - value)
  as_error(criterion, value) / as_error(criterion, null)
}

# p-values: how often an error of `null`, which has a column for each of `observed`, is as small as
# the observed error, which is counted too. Errors that are equal up to rounding are as small.
chance_of <- function(null, observed) {
  as_small <- null <= rep(observed + 1e-9 * abs(observed), each = nrow(null))
  (1 + colSums(as_small, na.rm = TRUE)) / (nrow(null) + 1)
}

# how many of `count` errors are as small as the observed error, from their p-value
count_as_small <- function(p, count) as.integer(round(p * (count + 1))) - 1L

# whether the criterion is one of the training rows
is_training <- function(fit) fit$criterion$name %in% c("r_squared", "dev_ratio")

# Groups of rows -----------------------------------------------------------------------------------

# Criteria of groups of rows, such as studies. The error of a group is divided by the error of the
# null model, the model of the covariates alone, both held out by the same folds.

# whether the criterion of a name is of groups
is_of_groups <- function(name) !is.null(criteria[[name]]$over)

# the values of such criteria from the ratios of groups (models x groups)
over_groups <- list(
  worst = function(ratios) apply(ratios, 1L, max),
  mean_sd = function(ratios) {
    rowMeans(ratios) + if (ncol(ratios) > 1L) apply(ratios, 1L, stats::sd) else 0
  }
)

# The sum of the losses of the null model over the rows of each group, a mean over partitions. 0 for
# a group without an error, which has no ratio. NULL for a criterion that is not of groups.
null_sums <- function(problem, criterion, folds) {
  if (is.null(criterion$over)) return(NULL)
  sums <- average(lapply(seq_len(ncol(folds$ids)), function(repetition) {
    residual <- null_held_out(problem, folds, repetition) / weight_divisor(problem)
    group_sums(problem, criterion$group_loss, residual)[1L, ]
  }))
  replace(sums, sums <= 1e-12 * max(sums), 0)
}

# The sum of a loss over the rows of each group, and of the weights (2 x groups). For the
# concordance it is a loss of pairs of rows within the group, 1 for a pair in the wrong order.
group_sums <- function(problem, loss, residual) {
  group <- problem$rows$group
  if (loss == "concordance") {
    score <- problem$rows$y - residual
    return(vapply(split(seq_along(group), group), function(rows) {
      discordant_pairs(scored_rows(problem, rows), score[rows, , drop = FALSE])
    }, c(0, 0)))
  }
  w <- problem$rows$weight
  # a row of zeros for each group, as groups may be without rows
  losses <- rbind(cbind(w * row_losses(problem, loss, residual), w), matrix(0, nlevels(group), 2L))
  unname(t(rowsum(losses, c(as.integer(group), seq_len(nlevels(group))))))
}

# The weight of the pairs of rows in the wrong order, and of all pairs.
discordant_pairs <- function(problem, score) {
  right <- ranked_pairs(problem, score)
  c(right[2L] - right[1L], right[2L])
}

# The residuals of the covariates alone in working coordinates, held out by one partition. Without
# the rows S they are (I - B_S B_S')^-1 times the residuals with all rows, for a basis B of the
# covariates.
null_held_out <- function(problem, folds, repetition) {
  own <- working_response(problem)
  basis <- fold_basis(problem, folds)
  if (!ncol(basis)) return(own)
  if (folds$loo) return(own / (1 - rowSums(basis^2)))
  fold <- match(folds$ids[, repetition], unique(folds$ids[, repetition]))
  # the inverse follows one covariate after the other
  out <- cbind(basis, own)
  for (l in seq_len(ncol(basis))) {
    sums <- rowsum(basis[, l] * out, fold)
    out <- out + out[, l] * (sums / (1 - sums[, l]))[fold, , drop = FALSE]
  }
  unname(out[, -seq_len(ncol(basis)), drop = FALSE])
}

# Held-out residuals of the covariates alone, averaged over repeated folds.
null_residuals <- function(problem, folds) {
  each <- lapply(seq_len(ncol(folds$ids)), null_held_out, problem = problem, folds = folds)
  Reduce(`+`, each) / (sqrt(problem$rows$weight) * ncol(folds$ids))
}

# A criterion of groups with the null_sums() of the rows. Refuses data without groups whose errors
# can be compared, and names groups that say little.
compared_groups <- function(criterion, problem, folds) {
  named <- sprintf("`criterion = \"%s\"`", criterion$name)
  stop_argument_if(is_survival(problem), "%s is for numbers and classes, not for times", named)
  stop_argument_if(is.null(problem$rows$group),
                   "%s compares the errors of groups of rows: give `groups`, such as studies",
                   named)
  group <- problem$rows$group
  rows <- tabulate(group[problem$rows$weight > 0], nlevels(group))
  counted <- rows > 0L
  rows <- stats::setNames(rows, levels(group))[counted]
  stop_argument_if(length(rows) < 2L || max(rows) < 2L, "%s needs groups of several rows, but %s",
                   named, if (length(rows) < 2L) "there is one group" else "each has one row")
  criterion$null <- null_sums(problem, criterion, folds)
  null <- criterion$null[counted]
  lack <- if (criterion$group_loss == "concordance") "no two rows have different responses" else
    "the null model has no error"
  stop_argument_if(all(null == 0), "%s: in any group %s", named, lack)
  message_if(any(null == 0), "sparsels_message_groups", "%s leaves out %s, in which %s", named,
             some_of(names(rows)[null == 0]), lack)
  message_if(
    min(rows) < few_of_group, "sparsels_message_groups",
    "%s: group '%s' has %s, so chance decides how its error compares with the null model's",
    named, names(rows)[which.min(rows)], counted(min(rows), "row")
  )
  criterion
}

# groups of fewer rows are named
few_of_group <- 5L

# Whether each fold is one group, of some rows in a single partition.
are_folds_groups <- function(problem, folds, rows = seq_len(nrow(problem))) {
  first <- rows[match(folds$ids[rows, 1L], folds$ids[rows, 1L])]
  unit <- whole_units(problem)
  ncol(folds$ids) == 1L && identical(unit[rows], unit[first])
}

# The groups of rows as C reads them, none for other criteria. `group_folds` is whether each is a
# fold, so that candidates can be skipped.
row_group_settings <- function(problem, control) {
  if (is.null(control$criterion$over)) {
    return(list(row_group = integer(), row_null = numeric(), group_folds = FALSE))
  }
  list(row_group = group_numbers(problem) - 1L, row_null = control$criterion$null,
       group_folds = are_folds_groups(problem, control$folds))
}

# The folds that choose a size or lambda by a criterion of groups, if it has to be chosen: each
# holds out one group.
group_size_folds <- function(problem, size, size_folds, name, lambdas) {
  stop_argument_if(identical(size, "1se"),
                   "`size = \"1se\"` needs a standard error, which `criterion = \"%s\"` lacks",
                   name)
  if (identical(size, "criterion") && lambdas == 1L) return(size_folds)
  stop_argument_if(nlevels(droplevels(problem$rows$group[problem$rows$weight > 0])) < 3L,
                   "`criterion = \"%s\"` needs three groups to choose a size: %s", name,
                   "use `size = \"criterion\"` and one `lambda`")
  if (is_number(size_folds)) return(folds_of(problem, "loo"))
  folds <- in_context("`size_folds`", folds_of(problem, size_folds))
  if (are_folds_groups(problem, folds)) return(folds)
  stop_argument("`size_folds` must hold out one group at a time for `criterion = \"%s\"`: %s", name,
                "leave it out")
}

# Measures of cross_validate() --------------------------------------------------------------------

# The measure by which a response is judged, of a method with a loss.
measure_of <- function(problem, loss = "squared") {
  if (judged_at_mean(loss)) return("deviance")
  orders <- is_survival(problem) || !is.null(stated_by_properties(problem, "criteria"))
  if (orders && ncol(problem$rows$y) == 1L) return("concordance")
  if (problem$coding$task == "regression") "squared" else "error"
}

# the weight of each class, which a balanced error divides out again, or 1 for a class without rows
class_share <- function(problem) {
  sums <- rowsum(problem$rows$weight, class_index(problem))
  share <- rep(1, length(problem$coding$levels))
  present <- sums[, 1L] > 0
  share[as.integer(rownames(sums))[present]] <- sums[present, 1L] / sum(problem$rows$weight)
  share
}

# Values ------------------------------------------------------------------------------------------

# the weights of rows in a criterion, where classes with a share have equal total weights
row_weights <- function(problem, criterion) {
  if (is.null(criterion$share)) return(problem$rows$weight)
  problem$rows$weight / criterion$share[class_index(problem)]
}

# m x L of an m x L x c array
layer <- function(values, l) array(values[, , l], dim(values)[1:2])

# The weighted mean squared error of each model: residuals are rows x responses x models.
mean_squared <- function(problem, residual) {
  squares <- matrix(problem$rows$weight * residual^2, length(problem$rows$y))
  colSums(squares) / (ncol(problem$rows$y) * sum(problem$rows$weight))
}

# 0 if the score of a positive row is above the score of a negative row, 1 if it is below, half for
# a tie
pair_losses <- function(positive, negative) .Call(C_pair_losses, positive, negative)

# Weight of the pairs of a positive and a negative row in the right order (a tie counts half), and
# of all pairs.
right_pairs <- function(rows, problem, score) {
  positive <- rows[problem$rows$y[rows, 1L] > 0]
  negative <- rows[problem$rows$y[rows, 1L] <= 0]
  .Call(C_pair_sum, score[positive, 1L], problem$rows$weight[positive],
        score[negative, 1L], problem$rows$weight[negative])
}

# The mean over pairs of classes of the area under the ROC curve, which for a pair is the mean of
# the areas by the scores of both (Hand and Till 2001), times the weight of all pairs of rows, and
# this weight.
class_pairs <- function(problem, score) {
  class <- class_index(problem)
  w <- problem$rows$weight
  area <- function(own, other, score) .Call(C_pair_sum, score[own], w[own], score[other], w[other])
  each <- apply(utils::combn(length(problem$coding$levels), 2L), 2L, function(pair) {
    first <- which(class == pair[1L])
    second <- which(class == pair[2L])
    right <- area(first, second, score[, pair[1L]]) + area(second, first, score[, pair[2L]])
    c(right[1L] / right[2L], right[2L] / 2)
  })
  each <- each[, each[2L, ] > 0, drop = FALSE]
  if (!ncol(each)) c(0, 0) else c(mean(each[1L, ]) * sum(each[2L, ]), sum(each[2L, ]))
}

# Weight of the comparable pairs of rows that scores put in the right order, a tie counting half,
# and of all comparable pairs. Of two censored times of a stratum the earlier has the higher score.
ordered_pairs <- function(problem, score) {
  if (!is_survival(problem)) return(ranked_pairs(problem, score))
  need_package("survival")
  score <- score + row_offset(problem)
  trained <- trained_places(problem)
  rowSums(vapply(split(trained, strata_of(problem)[trained]), function(rows) {
    if (length(rows) < 2L) return(c(0, 0))
    times <- problem$rows[rows, ]
    if (compares_all_pairs(times)) {
      return(colSums(compared_shares(times, tied_ranks(score[rows, 1L]))))
    }
    response <- survival::Surv(times$time, times$event)
    counted <- survival::concordancefit(response, tied_ranks(score[rows, 1L]),
                                        weights = times$weight, reverse = TRUE,
                                        std.err = FALSE)$count
    c(counted[[1L]] + counted[[3L]] / 2, sum(counted[1:3]))
  }, c(0, 0)))
}

# What ordered_pairs() sums, by rows: half of what the pairs of each row add (rows x 2).
time_shares <- function(problem, score) {
  need_package("survival")
  score <- score[, 1L] + row_offset(problem)
  trained <- trained_places(problem)
  shares <- matrix(0, nrow(problem), 2L)
  if (anyNA(score)) {
    none <- matrix(0, nrow(problem))
    return(replace(time_shares(problem, none), cbind(seq_along(score), 1L), NA))
  }
  for (rows in split(trained, strata_of(problem)[trained])) {
    times <- problem$rows[rows, ]
    rank <- tied_ranks(score[rows])
    shares[rows, ] <- if (length(rows) < 2L) 0 else if (compares_all_pairs(times)) {
      compared_shares(times, rank)
    } else {
      counts <- survival::concordancefit(survival::Surv(times$time, times$event), rank,
                                         weights = times$weight, reverse = TRUE,
                                         influence = 2L)$influence
      times$weight / 2 * cbind(counts[, 1L] + counts[, 3L] / 2, rowSums(counts[, 1:3]))
    }
  }
  shares
}

# Whether all pairs of times are compared: where that is done before survival::concordancefit()
# begins, which takes times that differ by rounding as equal, and with late entries, where it
# compares such pairs beyond its memory.
compares_all_pairs <- function(times) {
  if (!is.null(times$start)) return(TRUE)
  if (nrow(times) * sum(times$event) > 1e4) return(FALSE)
  distinct <- sort(unique(times$time))
  all(diff(distinct) > sqrt(.Machine$double.eps) * max(1, mean(abs(distinct))))
}

# The shares of the rows of a stratum from all pairs of an event and a row at risk after it.
compared_shares <- function(times, rank) {
  events <- which(times$event)
  shares <- matrix(0, nrow(times), 2L)
  for (block in column_blocks(nrow(times), length(events), 1e6)) {
    own <- events[block]
    weight <- pair_weights(times, own)
    right <- weight * (1 - sign(outer(rank, rank[own], "-"))) / 2
    shares <- shares + cbind(rowSums(right), rowSums(weight)) / 2
    shares[own, ] <- shares[own, ] + cbind(colSums(right), colSums(weight)) / 2
  }
  shares
}

# The variance of the weight of the pairs in the right order where scores are in a random order. Any
# two pairs with a row in common are both right with a chance of a third, or of a sixth if this row
# is the earlier one of one pair alone.
pair_variance <- function(problem) {
  trained <- trained_places(problem)
  sum(vapply(split(trained, strata_of(problem)[trained]), function(rows) {
    times <- problem$rows[rows, ]
    events <- which(times$event)
    net <- numeric(nrow(times))
    squares <- 0
    for (block in column_blocks(nrow(times), length(events), 1e6)) {
      own <- events[block]
      weight <- pair_weights(times, own)
      net[own] <- net[own] + colSums(weight)
      net <- net - rowSums(weight)
      squares <- squares + sum(weight^2)
    }
    (squares + sum(net^2)) / 12
  }, 0))
}

# The weights of the pairs of all rows of a stratum with some events, 0 of pairs that are not
# compared (rows x events).
pair_weights <- function(times, events) {
  at <- times$time[events]
  later <- outer(times$time, at, ">") | outer(times$time, at, "==") & !times$event
  entered <- if (is.null(times$start)) TRUE else outer(times$start, at, "<")
  (later & entered) * outer(times$weight, times$weight[events])
}

# The ranks of scores, where those that differ by rounding are equal.
tied_ranks <- function(score) {
  order <- order(score)
  replace(integer(length(score)), order, cumsum(c(1L, diff(score[order]) > score_tie)))
}

# Classes -----------------------------------------------------------------------------------------

# Scores nearer than this are equal, as in src/criterion.c. Equal scores go to the first class.
score_tie <- 1e-10

# what rounding does to a score, as a share of the numbers that it predicts, as in src/tolerance.h
score_rounding <- 1.5e-14

# The same for the scores of some rows, which of numbers are in the units of the rows with a weight.
score_tie_of <- function(problem, rows = seq_len(nrow(problem))) {
  y <- problem$rows$y[rows[problem$rows$weight[rows] > 0], 1L]
  if (is_survival(problem) || !length(y)) return(score_tie)
  score_tie * diff(range(y)) + score_rounding * max(abs(y))
}

# The number of the class of each row of scores.
class_number <- function(problem, score) {
  if (problem$coding$task == "binary") 1L + (score[, 1L] > score_tie) else first_largest(score)
}

first_largest <- function(score) {
  highest <- row_largest(score)
  first <- max.col(!is.na(score) & score >= highest - score_tie, "first")
  replace(first, is.na(highest), NA_integer_)
}

# Rankings -----------------------------------------------------------------------------------------

# Measures of a ranking: criteria of differences within queries, of pairs of rows, and of gains.

# Criteria ----------------------------------------------------------------------------------------

# Refuses criteria other than those that a property of the data allows.
check_allowed_criterion <- function(name, argument, problem) {
  allowed <- stated_by_properties(problem, "criteria")
  if (is.null(allowed) || name %in% allowed$allowed) return(invisible())
  known <- allowed[[argument]]
  stop_argument("`%s` must be %s%s for %s, not %s%s", argument,
                if (length(known) > 1L) "one of " else "", some_of(known, Inf, "\""), allowed$of,
                if (name == "user") "a function" else sprintf("\"%s\"", name), allowed$why)
}

# Pairs -------------------------------------------------------------------------------------------

# The numbers by which pairs of rows are compared: responses with their offsets. Twelve digits of
# them, as the sum of an offset and a response less the offset may not be the same for two rows of
# the same response.
compared_responses <- function(problem) {
  y <- problem$rows$y[, 1L]
  if (is.null(problem$rows$offset)) y else signif(y + row_offset(problem), 12L)
}

# Weight of the pairs of rows of one query whose scores are in the order of their responses, where a
# tie counts half, and weight of all pairs of different responses.
ranked_pairs <- function(problem, score) {
  y <- compared_responses(problem)
  score <- score[, 1L] + row_offset(problem)
  query <- query_numbers(problem)
  rows <- trained_places(problem)
  rows <- rows[order(query[rows], -y[rows])]
  .Call(C_ordered_sum, y[rows], score[rows], problem$rows$weight[rows], query[rows])
}

# Refuses a concordance where no pair of rows is held out together.
check_ordered <- function(problem, folds) {
  stop_argument_if(is_survival(problem),
                   paste("`criterion = \"concordance\"` is for numbers and rankings: search",
                         "censored times by \"squared\" and judge by `measure = \"concordance\"`"))
  stop_argument_if(!is.null(problem$rows$offset),
                   paste("`criterion = \"concordance\"` compares responses, which a search has",
                         "less their offset: search by \"squared\" and judge by",
                         "`measure = \"concordance\"`"))
  stop_argument_if(folds$loo,
                   paste("`criterion = \"concordance\"` needs folds of several rows, of which",
                         "pairs are compared, such as `folds = 10`, not leave-one-out"))
  trained <- problem$rows$weight > 0
  query <- query_numbers(problem)
  paired <- apply(folds$ids, 2L, function(ids) {
    any(tapply(problem$rows$y[trained, 1L], paste(ids, query)[trained],
               function(y) any(y != y[1L])))
  })
  stop_argument_if(!all(paired),
                   "`criterion = \"concordance\"` needs a fold with two rows of different %s%s",
                   "responses", if (max(query) > 1L) " in one query" else "")
}

# Folds with their rows in the order that a criterion in C requires.
ordered_folds <- function(problem, control) {
  folds <- control$folds
  criterion <- control$criterion
  within <- if (criterion$name == "concordance") query_numbers(problem) else
    if (identical(criterion$group_loss, "concordance")) group_numbers(problem)
  if (is.null(within)) return(folds)
  c(unclass(folds), list(rows = order(within, -problem$rows$y[, 1L])))
}

# Gains -------------------------------------------------------------------------------------------

# Sum over queries of the normalised discounted cumulative gain of their first `k` rows by score,
# and the number of queries: gain 2^y - 1, discount log2(1 + rank). Rows with tied scores share
# their ranks. Queries without a gain do not count.
gain_sums <- function(problem, score, k = Inf) {
  counted <- problem$rows$weight > 0
  gain <- 2^grades(problem)[counted] - 1
  query <- query_numbers(problem)[counted]
  each <- mapply(function(gain, score) {
    discount <- ifelse(seq_along(gain) <= k, 1 / log2(1 + seq_along(gain)), 0)
    ideal <- sum(sort(gain, decreasing = TRUE) * discount)
    # no gain has no value
    if (ideal == 0) return(NA_real_)
    if (anyNA(score)) return(NaN)
    place <- order(-score)
    tied <- max(tied_ranks(score)) + 1L - tied_ranks(score)[place]
    sum(gain[place] * stats::ave(discount, tied)) / ideal
  }, split(gain, query), split(score[counted, 1L], query))
  each <- each[!is.na(each) | is.nan(each)]
  c(sum(each), length(each))
}

# The grades of rows: the response, or 0 and 1 for two classes.
grades <- function(problem) {
  y <- problem$rows$y[, 1L]
  if (all(y == -1 | y == 1)) (y + 1) / 2 else y
}

is_gain <- function(name) is_string(name) && grepl("^ndcg(@[1-9][0-9]*)?$", name)

# Words and losses ---------------------------------------------------------------------------------

measure_label <- function(x) {
  w <- x$problem$rows$weight
  equal <- length(unique(w[w > 0])) < 2L
  switch(x$measure,
    error = sprintf("error rate (%sshare of rows)", if (equal) "" else "weighted "),
    squared = paste(criteria$squared$words, squared_scale(x$problem)),
    x$words
  )
}

# The loss that a search minimises, from the value of its criterion.
criterion_loss <- function(criterion, value) if (criterion$higher) -value else value

# the words of a mean squared error, which is of the logarithms of censored times
squared_label <- function(problem) {
  paste0(criteria$squared$words, if (is_survival(problem)) paste0(" ", squared_scale(problem)))
}

# the unit of a mean squared error
squared_scale <- function(problem) {
  if (problem$coding$task != "regression") return("of the class codes -1 and 1")
  if (is_survival(problem)) return("of log times")
  if (!is.null(problem$coding$response_scale)) return("in variances of the responses")
  paste("in squared units of", shortened(problem$coding$response, 30L))
}
