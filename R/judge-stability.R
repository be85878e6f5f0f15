#' Which columns does a method choose again and again?
#'
#' Stability selection with complementary pairs (Meinshausen and Buhlmann 2010; Shah and Samworth
#' 2013): the method chooses q columns on each half of the rows, for many random halves, and the
#' columns that it chooses often are reported, with bounds on the number chosen by chance.
#'
#' The rows are split at random into two halves `pairs` times, each class in half, and the method
#' chooses exactly `q` columns on each half. The selection probability of a column is the share of
#' the `2 * pairs` halves on which it was chosen. Columns with a probability of at least `threshold`
#' are stable. With `groups`, such as the samples of each patient, whole groups go into one half or
#' the other, with the rows and the rows of each class as equally divided as possible. With samples
#' of a patient in both halves, the halves would agree in the peculiarities of that patient.
#'
#' **Bounds.** With p usable columns and \eqn{\theta = q / p}{theta = q / p}, a column whose
#' selection probability is at most \eqn{\theta}{theta} is chosen no more often than by chance. The
#' expected number of such columns among the stable ones is at most
#' * `meinshausen_buehlmann`: \eqn{q^2 / ((2 \tau - 1) p)}{q^2 / ((2 tau - 1) p)} for a threshold
#'   \eqn{\tau}{tau} above one half, if columns without effect are exchangeable and the method is no
#'   worse than chance;
#' * `unimodal` and `r_concave`: the bounds of Shah and Samworth, which assume neither. They assume
#'   that for such a column the share of pairs in which both halves choose it has a unimodal
#'   distribution, or an r-concave one together with the share of halves. `NA` if a bound does not
#'   apply, such as `unimodal` for a threshold below `1 / 2 + 1 / pairs`.
#'
#' If a method returns more than `q` columns on some half, the bounds are for the largest number
#' that it returned, with a warning.
#'
#' The bounds are for exchangeable halves: independent rows, or independent groups of equal size. If
#' groups differ in size they hold approximately, but not with few groups or if `groups` is not
#' given.
#'
#' They count columns that are chosen no more often than by chance, not columns without effect: a
#' column that is correlated with one of effect is chosen more often than by chance. Correlated
#' columns share their probability, so each of two similar columns may stay below the threshold.
#' `correlated` lists the columns correlated with a stable one.
#'
#' **Signs and ranks.** On each half a column has the sign of its coefficient and its rank by the
#' size of the coefficient of the standardised column. The share of positive coefficients and the
#' ranks, over the halves that chose the column, say what the procedure does on other data of this
#' kind. They are not confidence statements about a coefficient: half of the rows choose more
#' variably than all rows.
#'
#' **Defaults.** `q` is the smaller of a quarter of the rows and the largest number for which the
#' r-concave bound is at most 1. Methods with an argument `refit`, such as [greedy_rls()], are
#' called with `size = "criterion"` unless it is given: one search on each half. The default
#' `lambda` of the search is half the mean sum of squares of a column in the half, with a refit as
#' on all rows, so that no column is chosen that others determine.
#'
#' The pairs run on a future plan and can be interrupted, see [parallel_runs].
#'
#' @inheritParams permutation_test
#' @param method A function such as [greedy_rls] that is called with `k = q` and whose fit has
#'   models by size, or that returns column numbers. Of `greedy_rls(loss = "cox")` the search of log
#'   times is repeated, if it chooses the columns.
#' @param ... Further arguments of the method, and of [as_problem()]: `r problem_dots()`. For
#'   `plot()`, graphical parameters such as `xlim` and `main`.
#' @param pairs Number of random splits into two halves.
#' @param q Number of columns chosen on each half; `NULL` for the default, see Details. It should
#'   not be chosen by looking at the result.
#' @param threshold Selection probability from which on a column is stable, above 0.5 and at most 1.
#' @param BPPARAM `NULL`, or how BiocParallel runs the pairs, such as
#'   `BiocParallel::MulticoreParam(2)`; it takes precedence over a future plan.
#'
#' @return An object of class `stability_selection`, a list:
#' * `probability`: the selection probability of each column, by name. With [groups][column_groups]
#'   that are selected together, groups are counted: a column has the probability of its group, `q`
#'   and the bounds count groups, and `stable` and `chosen` have the first column of each.
#' * `stable`: the stable columns, most frequent first: a data frame `feature` (number), `name`,
#'   `probability`, `positive`, the share of positive coefficients where it was chosen, `rank`, the
#'   median of its ranks there, and `correlated`, the names of the columns whose correlation with it
#'   is above 0.9 in size, most frequent first (at most five).
#' * `halves`: a data frame with a row for each half and column chosen there: `half`, `feature`,
#'   `sign` of its coefficient and its `rank` by size, `NA` for a method that returns columns only;
#'   the sign also for several responses and groups of several columns.
#' * `bounds`: the three bounds, by name.
#' * `stability`: the stability of the chosen sets, see [stability()].
#' * `chosen`: list of the columns chosen on each half, by number.
#'   Pairs that each half screens (see [curves]) are counted by name, and `problem` has the pairs
#'   that were chosen on a half. The bounds and `stability` count all pairs of the columns.
#' * `method`, `q` (the number chosen on each half), `threshold`, `pairs`, `groups` (their number,
#'   or `NULL`), `problem` (without its x), `status` (`"complete"` or `"interrupted"`), `call`.
#'
#' `selected()` gives the names (or with `index = TRUE` the numbers) of the stable columns. `plot()`
#' draws the largest selection probabilities and the threshold. With `what = "ranks"` it draws the
#' median rank of the most frequent columns and the range of nine tenths of the halves, the sign as
#' colour. It returns invisibly the data frame drawn.
#'
#' @section Cost: `2 * pairs` fits on half of the rows.
#'
#' @section Errors: `sparsels_error_input` for bad arguments and for a method that chooses no
#' columns. An error inside a method keeps its class and says in which pair it was.
#'
#' @references Meinshausen, N., Buhlmann, P. (2010). Stability selection. Journal of the Royal
#' Statistical Society B 72, 417-473. \doi{10.1111/j.1467-9868.2010.00740.x}
#'
#' Shah, R. D., Samworth, R. J. (2013). Variable selection with error control: another look at
#' stability selection. Journal of the Royal Statistical Society B 75, 55-80.
#' \doi{10.1111/j.1467-9868.2011.01034.x}
#'
#' @seealso [permutation_test()], whether there is anything to choose; [stability()]; [judge()],
#'   both and more in one call
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(80 * 200), 80, dimnames = list(NULL, paste0("gene", 1:200)))
#' y <- x[, 7] - x[, 50] + x[, 90] + rnorm(80)
#' chosen <- stability_selection(x, y, greedy_rls, pairs = 20)
#' chosen
#' selected(chosen)
#' plot(chosen)
#' plot(chosen, what = "ranks")
#' @export
stability_selection <- function(x, y = NULL, method = NULL, ..., data = NULL, pairs = 50, q = NULL,
                                threshold = 0.6, progress = interactive(), BPPARAM = NULL) {
  run <- as_run(x, y, method, ..., data = data)
  pairs <- check_repeats(pairs, "pairs")
  refuse_unless(is_number(threshold) && threshold > 0.5 && threshold <= 1, "threshold",
                "a number above 0.5 and at most 1", threshold)
  groups <- run_units(run)
  if (!is.null(groups)) {
    groups <- groups[trained_places(run$problem)]
    groups <- match(groups, unique(groups))
    stop_argument_if(max(groups) < 2L,
                     "`groups` must have at least 2 groups: a single one cannot be halved")
  }
  run <- half_run(column_search(run), q, threshold, pairs, groups)
  offered <- count_offered(run$problem)
  done <- repeat_tasks(pairs, "pair", function(i) {
    first <- half_of(run$problem, groups)
    lapply(list(first, setdiff(trained_places(run$problem), first)), function(rows) {
      part <- fit_rows(run, rows)
      model <- half_model(part$fit, run$arguments$k, ncol(run$problem))
      half_ranks(if (has_screened_pairs(run$problem)) part$train else run$problem, model)
    })
  }, progress, BPPARAM)
  halves <- unlist(done, recursive = FALSE)
  run$problem <- with_pairs_of(run$problem, halves)
  ranked <- lapply(halves, ranks_among, run$problem)
  new_stability_selection(run, offered, ranked, threshold, pairs, length(done), groups,
                          short_call(match.call()))
}

# The run with k = q and arguments that make the selection methods fast, where the user does not set
# them: no size is chosen on a half.
half_run <- function(run, q, threshold, pairs, groups) {
  problem <- run$problem
  p <- count_offered(problem)
  # halves of whole groups differ by at most the size of the largest group
  largest <- if (is.null(groups)) 1L else max(tabulate(groups))
  half <- floor((trained_rows(problem) + 1L - largest) / 2)
  upper <- as.integer(min(length(distinct_units(problem)), half - ncol(problem$z) - 1))
  stop_input_if(upper < 1L, "half of the rows are too few to choose a column")
  stop_argument_if("k" %in% names(run$arguments),
                   "`k` is `q` here, the number of columns chosen on each half: give that")
  if (is.null(q)) {
    # the largest number for at most one chance selection by the r-concave bound
    largest <- min(upper, floor(trained_rows(problem) / 4))
    q <- 1L
    while (q < largest && isTRUE(r_concave_bound(q + 1L, p, threshold, pairs) <= 1)) q <- q + 1L
  } else {
    q <- check_count(q, "q", upper, "what half of the rows allow")
  }
  takes <- names(formals(run$method))
  passed <- c("k", if (!identical(environment(run$method), topenv())) "...")
  stop_argument_if(!is.null(takes) && !any(passed %in% takes),
                   "`method` must have an argument `k`, the number of columns to choose, as %s has",
                   "greedy_rls()")
  run$arguments <- c(list(k = q), run$arguments)
  if (!"size_folds" %in% takes) return(run)
  if (!"refit" %in% takes) return(with_defaults(run, list(size = "criterion")))
  loss <- if (is_method(run, "greedy_rls")) run_loss(run) else "squared"
  if (is_cox_loss(loss)) problem <- as_cox(problem, "efron")
  lambda <- null_values(problem, loss)$unit
  with_defaults(run, list(lambda = lambda / 4, size = "criterion",
                          refit = is.null(run$arguments$lambda)))
}

# Among how many columns, or other terms `of` columns, a method chooses. Each training set screens
# its own pairs, so that all pairs count.
count_offered <- function(problem, of = distinct_units) {
  usable <- which(problem$columns$usable)
  if (!has_screened_pairs(problem)) return(length(of(problem, usable)))
  length(of(problem, usable[!is_of_pair(problem)[usable]])) + choose(length(problem$pairs$df), 2L)
}

# A random half of the training rows: half of each class, or of the groups.
half_of <- function(problem, groups = NULL) {
  rows <- trained_places(problem)
  rows[draw_ids(length(rows), 2L, groups, row_strata_of(problem)[rows]) == 1L]
}

# The columns of a model in increasing order, with the sign of their coefficients and their rank by
# the size of the coefficients of standardised columns. Groups of columns count as one. Pairs have
# the names of their two columns, as each half screens its own.
half_ranks <- function(problem, model) {
  feature <- sort(distinct_units(problem, model$features))
  table <- data.frame(feature = feature, sign = rep(NA_real_, length(feature)),
                      rank = rep(NA_real_, length(feature)))
  if (has_pairs(problem)) {
    place <- problem$columns$pair[feature]
    table[c("first", "second")] <- lapply(problem$pairs[c("first", "second")], `[`, place)
  }
  if (is.null(model$beta) || !length(feature)) return(table)
  own <- lapply(feature, function(one) which(model$features %in% unit_columns(problem, one)))
  squares <- rowSums((model$beta * problem$columns$scale[model$features])^2)
  table$rank <- rank(-vapply(own, function(rows) sum(squares[rows]), 0), ties.method = "min")
  single <- lengths(own) == 1L
  if (ncol(model$beta) == 1L) table$sign[single] <- sign(model$beta[unlist(own[single]), 1L])
  table
}

# The problem with all pairs that were chosen on a half. Each half has screened its own.
with_pairs_of <- function(problem, halves) {
  if (!has_screened_pairs(problem)) return(problem)
  chosen <- unique(stats::na.omit(do.call(rbind, halves)[c("first", "second")]))
  plain <- which(is.na(problem$columns$pair))
  whole <- problem
  problem <- settled_pairs(problem, plain)
  problem <- as_given(part_of(problem, columns = plain))
  problem$coding["design"] <- list(subset_design(problem$coding$design, plain))
  pairs <- unname(Map(c, chosen$first, chosen$second))
  if (length(pairs)) {
    problem <- with_pair_places(problem, c(pairs, list(df = whole$pairs$functions[1L])))
  }
  labels <- c(group_names(whole, plain), source_names(problem)[is_of_pair(problem)])
  measure_columns(regrouped(problem, labels, like = whole), part = TRUE)
}

# The ranks of a half with the numbers that its pairs have in a problem.
ranks_among <- function(ranks, problem) {
  names <- c("feature", "sign", "rank")
  if (!has_pairs(problem)) return(ranks[names])
  place <- match(pair_names(ranks), pair_names(problem$pairs))
  ranks$feature <- ifelse(is.na(place), ranks$feature, match(place, problem$columns$pair))
  ranks[names]
}

# The model of size k of a fit, or of the largest smaller size. Of column numbers there are only the
# features.
half_model <- function(fit, k, n) {
  if (is.numeric(fit)) {
    stop_input_if(!all(fit %in% seq_len(n)) || anyDuplicated(fit),
                  "`method` must return different column numbers from 1 to %d, not %s", n,
                  describe(fit), class = "sparsels_error_method")
    return(list(features = as.integer(fit)))
  }
  stop_input_if(is.null(chosen_features(fit)),
                "`method` must return a path of models by size, or column numbers",
                class = "sparsels_error_method")
  sizes <- size_table(fit)$size
  model_of(fit, max(sizes[sizes <= k]))
}

# Bounds ------------------------------------------------------------------------------------------

# Bounds of the expected number of columns, of p, that are stable at the threshold tau although
# chosen no more often than by chance, when q are chosen on each half of B pairs.
chance_bounds <- function(q, p, tau, B) {
  theta <- q / p
  unimodal <- NA_real_
  # the probabilities of B pairs are multiples of 1 / (2 B), and the theorem begins at 1 / 2 + 1 / B
  enough <- tau >= 1 / 2 + 1 / B - 1e-9
  above <- min(1 / 2 + theta^2, 1 / 2 + 1 / (2 * B) + 3 * theta^2 / 4)
  if (enough && theta <= 1 / sqrt(3) && tau > above) {
    factor <- if (tau <= 3 / 4) 1 / (2 * (2 * tau - 1 - 1 / (2 * B))) else
      4 * (1 - tau + 1 / (2 * B)) / (1 + 1 / B)
    unimodal <- factor * theta^2 * p
  }
  bounds <- c(meinshausen_buehlmann = q^2 / ((2 * tau - 1) * p), unimodal = unimodal,
              r_concave = r_concave_bound(q, p, tau, B))
  # there are no more than p columns
  pmin(bounds, p)
}

r_concave_bound <- function(q, p, tau, B) {
  theta <- q / p
  p * min(concave_tail(theta^2, 2 * tau - 1, B, -1 / 2), concave_tail(theta, tau, 2 * B, -1 / 4))
}

# The largest P(X >= t) of an r-concave distribution on {0, ..., B} / B with mean eta, r < 0. The
# extreme distributions have masses (a + i)^(1/r) on i = 0, ..., k and the rest on k + 1, with a
# between the roots at which nothing is left for k + 2 and for k + 1.
concave_tail <- function(eta, t, B, r) {
  mean <- eta * B
  below <- ceiling(t * B - 1e-9)
  # the extreme distributions have means below B / 2
  if (below <= 0 || mean >= below || 2 * mean >= B) return(1)
  mass <- function(a, k) (1 + (0:k) / a)^(1 / r)
  rest <- function(log_a, k) sum((0:k - mean) * mass(exp(log_a), k))
  root <- function(k) {
    if (k / 2 <= mean) return(Inf)
    stats::uniroot(rest, c(-300, 100), k = k, tol = 1e-12)$root
  }
  tail_of <- function(log_a, k) {
    m <- mass(exp(log_a), k)
    1 - (k + 1 - mean) * sum(m[seq_len(below)]) / sum((k + 1 - 0:k) * m)
  }
  roots <- vapply(seq(below - 1L, B), function(k) if (k < 1) Inf else root(k), 0)
  best <- 0
  for (k in seq(max(below - 1L, 1L), B)) {
    ends <- roots[c(min(k + 1L, B), k) - below + 2L]
    if (!is.finite(ends[1L])) next
    ends[2L] <- min(ends[2L], ends[1L] + 30)
    inside <- if (diff(ends) > 0) stats::optimize(tail_of, ends, k = k, maximum = TRUE)$objective
    best <- max(best, tail_of(ends[1L], k), tail_of(ends[2L], k), inside)
  }
  best
}

# Stability ---------------------------------------------------------------------------------------

#' How alike are several selections?
#'
#' The stability of lists of columns by Nogueira, Sechidis and Brown (2018): 1 if all lists are the
#' same, 0 in expectation if they are drawn at random. It accounts for lists of any lengths and for
#' agreement by chance.
#'
#' With M lists of n columns, \eqn{p_j} the share of lists that hold column j and \eqn{\bar k}{k}
#' the mean length, it is
#' \deqn{1 - \frac{\frac{1}{n} \sum_j \frac{M}{M - 1} p_j (1 - p_j)}{\frac{\bar k}{n} (1 -
#' \frac{\bar k}{n})}.}{1 - mean(M / (M - 1) p (1 - p)) / (k / n (1 - k / n)).}
#'
#' @param sets A list of at least two vectors of column numbers between 1 and `n`, such as the
#'   `chosen` of [stability_selection()], or of names.
#' @param n Number of columns to choose from.
#' @return A number, at most 1; `NA` where all lists are empty or hold every column.
#' @references Nogueira, S., Sechidis, K., Brown, G. (2018). On the stability of feature selection
#' algorithms. Journal of Machine Learning Research 18 (174), 1-54.
#' @examples
#' stability(list(c(1, 2, 3), c(1, 2, 4), c(1, 2, 3)), n = 100)
#' @export
stability <- function(sets, n) {
  valid <- is.list(sets) && length(sets) > 1L &&
    all(vapply(sets, function(set) is.atomic(set) && !anyNA(set) && !anyDuplicated(set), NA))
  refuse_unless(valid, "sets", "a list of two or more vectors of different columns", sets)
  check_given(n, "n")
  n <- check_count(n, "n")
  columns <- unlist(lapply(sets, as.character))
  stop_argument_if(length(unique(columns)) > n, "`sets` hold %d columns, more than `n` = %d",
                   length(unique(columns)), n)
  M <- length(sets)
  share <- as.vector(table(columns)) / M
  mean <- length(columns) / M / n
  if (mean %in% c(0, 1)) return(NA_real_)
  1 - sum(share * (1 - share)) * M / (M - 1) / n / (mean * (1 - mean))
}

# The result --------------------------------------------------------------------------------------

# `offered` is the number of columns, or groups that move together, to choose from.
new_stability_selection <- function(run, offered, ranked, threshold, wanted, done, groups, call) {
  problem <- run$problem
  chosen <- lapply(ranked, `[[`, "feature")
  halves <- data.frame(half = rep(seq_along(ranked), lengths(chosen)), do.call(rbind, ranked))
  q <- max(run$arguments$k, lengths(chosen))
  warn_if(q > run$arguments$k, "sparsels_warning_size",
          "the method returned %d columns on a half, more than `q` = %d: the bounds are for %d", q,
          run$arguments$k, q)
  n <- ncol(problem)
  columns <- as.integer(unlist(lapply(chosen, whole_groups, problem = problem)))
  probability <- stats::setNames(tabulate(columns, n) / length(chosen), problem$columns$name)
  found <- distinct_units(problem, order(-probability))
  found <- found[probability[found] >= threshold - 1e-9]
  new_result("stability_selection", list(
    probability = probability,
    stable = data.frame(
      feature = found, name = unit_names(problem, found), probability = unname(probability[found]),
      over_halves(halves, found)[c("positive", "rank")],
      correlated = correlated_names(problem, found, probability)
    ),
    bounds = chance_bounds(q, offered, threshold, done), stability = stability(chosen, offered),
    chosen = chosen, equal = equal_columns(problem, which(probability > 0)), halves = halves,
    method = run$name, q = q, threshold = threshold, pairs = done,
    groups = if (!is.null(groups)) max(groups)
  ), problem, call, done == wanted)
}

# For some columns the share of positive coefficients among the halves that chose them, and the
# median rank with the ends of nine tenths of the ranks.
over_halves <- function(halves, features) {
  summaries <- vapply(features, function(feature) {
    own <- halves[halves$feature == feature, ]
    ends <- if (anyNA(own$rank)) rep(NA_real_, 3L) else
      stats::quantile(own$rank, c(0.5, 0.05, 0.95), type = 1L, names = FALSE)
    c(if (nrow(own)) mean(own$sign > 0) else NA_real_, ends)
  }, numeric(4L))
  stats::setNames(as.data.frame(t(matrix(summaries, 4L))), c("positive", "rank", "lower", "upper"))
}

# Columns whose correlation with a stable one is above 0.9 in size, most frequent first.
correlated_names <- function(problem, found, probability) {
  if (!length(found)) return(character())
  usable <- which(problem$columns$usable)
  chosen <- working_matrix(problem, found)
  lengths <- function(columns) sqrt(colSums(columns^2))
  blocks <- column_blocks(nrow(problem), length(usable), 1e7)
  alike <- do.call(rbind, lapply(blocks, function(block) {
    columns <- working_matrix(problem, usable[block])
    abs(crossprod(columns, chosen)) > 0.9 * outer(lengths(columns), lengths(chosen))
  }))
  vapply(seq_along(found), function(i) {
    others <- setdiff(usable[alike[, i]], unit_columns(problem, found[i]))
    others <- others[order(-probability[others])]
    paste(problem$columns$name[utils::head(others, 5L)], collapse = ", ")
  }, "")
}

# How many columns are chosen on a half: "5", or where some halves have fewer "up to 5".
q_words <- function(x) paste0(if (any(lengths(x$chosen) < x$q)) "up to ", x$q)

#' @exportS3Method
print_result.stability_selection <- function(x, n = 20L, ...) {
  word <- counted_word(x$problem)
  say("stability selection: ", x$method, " chose ", q_words(x), " ",
      if (x$q == 1L) word else paste0(word, "s"), " on each half of ",
      counted(x$pairs, "random split"), if (!is.null(x$groups)) sprintf(" of %d groups", x$groups))
  splits <- if (is.null(x$groups)) Inf else choose(x$groups, x$groups %/% 2L) / (2 - x$groups %% 2L)
  if (splits < x$pairs) {
    remark(sprintf("so few groups have only %s into halves of equal numbers: splits were repeated",
                   counted(splits, "split")))
  }
  print_data(x$problem)
  count <- nrow(x$stable)
  say(if (count == 0L) paste("no", word) else counted(count, word),
      " with a selection probability of at least ", shown(x$threshold), if (count) ":")
  if (count) {
    table <- utils::head(x$stable[c("name", "probability", "positive", "rank", "correlated")], n)
    if (!any(nzchar(table$correlated))) table$correlated <- NULL
    table <- table[!vapply(table, function(column) all(is.na(column)), NA) | !nrow(table)]
    print_filled(table, digits = 3L)
    if (count > n) cat("... and ", count - n, " more, all in $stable\n", sep = "")
  }
  print_equal(x$problem, x$equal,
              unlist(lapply(x$stable$feature, unit_columns, problem = x$problem)))
  known <- x$bounds[!is.na(x$bounds)]
  say(sprintf("expected number of stable %ss that are chosen no more often than by chance, ", word),
      "at most: ", paste0(shown(known), " (", bound_words[names(known)], ")", collapse = ", "))
  remark(sprintf("%ss without effect may be more: one correlated with a %s of effect is chosen ",
                 word, word), "more often than by chance")
  say("stability of the lists: ", agreement_words(x))
  print_interrupted(x$status, "pairs")
}

agreement_words <- function(x) {
  if (is.na(x$stability)) return("not defined, as they are all empty or hold every column")
  paste(with_decimals(x$stability, 2), "(1: all the same, 0: as if drawn at random)")
}

bound_words <- c(meinshausen_buehlmann = "Meinshausen-Buhlmann", unimodal = "unimodal",
                 r_concave = "r-concave")

#' @exportS3Method
selected.stability_selection <- function(object, size = NULL, index = FALSE, lambda = NULL) {
  check_sealed(object)
  stable <- unlist(lapply(object$stable$feature, unit_columns, problem = object$problem))
  selected_of_set(stable, object$problem$columns$name, size, index, lambda, "the threshold decides")
}

#' @exportS3Method
record.stability_selection <- function(x) {
  list(rows = data.frame(term = names(x$probability), probability = unname(x$probability),
                         stable = seq_along(x$probability) %in% x$stable$feature,
                         over_halves(x$halves, seq_along(x$probability))[c("positive", "rank")]),
       row = data.frame(method = x$method, stable = nrow(x$stable), as.list(x$bounds),
                        stability = x$stability, q = x$q, threshold = x$threshold, pairs = x$pairs))
}

#' @exportS3Method
picture.stability_selection <- function(x, what = "probability", ...) {
  ranks <- check_choice(what, "what", c("probability", "ranks")) == "ranks"
  stop_argument_if(ranks && anyNA(x$halves$rank),
                   "`what = \"ranks\"` needs coefficients, and the method returned column numbers")
  # the most frequent columns, or groups of columns, at most 30
  top <- distinct_units(x$problem, order(-x$probability))
  top <- utils::head(top[x$probability[top] > 0], 30L)
  data <- data.frame(feature = top, name = unit_names(x$problem, top),
                     probability = unname(x$probability[top]))
  place <- rev(seq_len(nrow(data)))
  dots <- function(value, rows, colour, label, ...) {
    as_layer("points", value[rows], place[rows], col = colour, label = label, ...)
  }
  axes <- list(y = ticks_of(rev(data$name)))
  if (ranks) {
    # the ranks over the halves that chose a column
    data <- data.frame(data, over_halves(x$halves, data$feature))
    own <- function(rows, colour, label) {
      if (any(rows)) dots(data$rank, rows, colour, label, pch = 16)
    }
    positive <- data$positive >= 0.5
    layers <- c(
      as_layer("segments", data$lower, place, x2 = data$upper, y2 = place, col = "#BBBBBB",
               lwd = 2),
      own(positive %in% TRUE, "#0072B2", "mostly positive"),
      own(positive %in% FALSE, mark_colour, "mostly negative"),
      own(is.na(positive), "#555555", "no single sign")
    )
    words <- list(main = x$method, ylab = "",
                  xlab = "rank by the size of the coefficient, where chosen")
    return(new_picture(data, layers, words, list(...), c(list(x = "whole"), axes)))
  }
  data$stable <- data$probability >= x$threshold - 1e-9
  layers <- c(dots(data$probability, data$stable, mark_colour, "stable", main = TRUE),
              dots(data$probability, !data$stable, "#555555", "not stable", main = TRUE),
              as_layer("up", x$threshold, lty = 2, col = "#555555", label = "threshold"))
  words <- list(main = x$method, xlab = "selection probability", ylab = "", xlim = c(0, 1))
  new_picture(data, layers, words, list(...), axes)
}
