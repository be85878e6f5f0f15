#' Which sets are nearly as good?
#'
#' All sets of columns whose penalised error is nearly the least, which columns are in all, in some
#' or in none of them, and what it costs to leave a column out or to put one in.
#'
#' With \eqn{F} the penalised error of [certify()] and \eqn{F^*}{F*} the least of its size, the sets
#' meant are those with \eqn{F(S) \le F^* + w (F(\emptyset) - F^*)}{F(S) <= F* + w (F(empty) -
#' F*)}, \eqn{w} being `within`: they reach all but this share of the fall from the null model to
#' the best set. If the least error was not proved, \eqn{F^*}{F*} is the smallest error known.
#'
#' The bound of the certificate settles most columns at once. The others are settled by listing the
#' sets or, where there are more than 1000, by a search for the best set with the column and for the
#' best without it. The **price** of a column is exact: the least error of the sets with it, or
#' without it, less \eqn{F^*}{F*}, as a share of the fall. Every statement is about these rows at
#' this lambda. A column in all sets need not be relevant on new rows, and a column in none may be:
#' it may be the copy of another one, or its effect may be below `within`.
#'
#' @param cert A result of [certify()] with the penalised error.
#' @param within The share of the fall that sets may lack, from 0 to less than 1; 0.01 by default.
#' @param size A size of the certificate; `NULL` for its only one or the size of the fit.
#' @param without Columns, by name or number, that the sets shall not contain, such as a gene that
#'   no assay measures. Statuses and prices are then about the sets without them, and prices remain
#'   relative to the best set of all.
#' @param cost Prices of the columns, see [column_prices]: the sets are then sorted by their price.
#' @param nodes The largest number of nodes of each tree; `NULL` for 20000.
#' @param progress Logical: is a progress bar shown? By default in interactive sessions.
#' @param ... For `plot()`, graphical parameters such as `main`; otherwise not used.
#'
#' @return An object of class `alternatives`, a list:
#' * `features`: data frame with a row for each column, or group of columns that move together, that
#'   is in some set: `feature` (number), `name`, `status` (`"all"`, `"some"`, or `"open"` where
#'   `nodes` ended the search first), `chosen` (whether it is in the best set), `price_out` and
#'   `price_in`, what it costs to leave it out and to put it in, as shares of the fall (0 where this
#'   costs nothing; `NA` where a search ended first), and `sets`, the number of the listed sets that
#'   contain it.
#' * `none`: how many columns are in none of the sets, `NA` where the bound excludes no column: the
#'   question is then too wide, and `features` has the columns of the sets listed, in which all
#'   other columns may be.
#' * `sets`: data frame of the sets listed, up to 1000: `columns` (list of names), `value`, the
#'   penalised error, `lack`, what it lacks of the fall, and with `cost` the `price`; best first.
#' * `count`, how many sets there are, and `counted`, `FALSE` where there are at least so many.
#' * `size`, `within`, `value`, `null`, `proved` (whether the least error was proved), `lambda`,
#'   `status`, `problem` and `call`.
#'
#' `plot()` draws the prices, a bar for each column, and returns invisibly the data frame drawn.
#'
#' @section Cost: A tree as in [certify()], and one for each undecided column where there are more
#'   than 1000 sets: fractions of a second on thousands of genes for 1 % of the fall at the default
#'   lambdas, minutes for 5 %.
#'
#' @section Errors: `sparsels_error_input` for a certificate without the penalised error, `within`
#'   below 0 or from 1 on, and columns in `without` that are in all sets compared.
#'
#' @references Semenova, L., Rudin, C., Parr, R. (2022). On the existence of simpler machine
#' learning models. ACM Conference on Fairness, Accountability, and Transparency, 1827-1858.
#' \doi{10.1145/3531146.3533232}
#' @seealso [certify()]; [stability_selection()], which columns other samples choose; [exchange()]
#' @examples
#' set.seed(1)
#' x <- matrix(rnorm(60 * 300), 60, dimnames = list(NULL, paste0("gene", 1:300)))
#' x[, 9] <- x[, 7] + rnorm(60) / 4
#' y <- x[, 7] - x[, 50] + rnorm(60)
#' proof <- certify(greedy_rls(x, y, k = 4, size = 2), x, y)
#' near <- alternatives(proof, within = 0.05)
#' near
#' near$sets$columns
#' plot(near)
#' @export
alternatives <- function(cert, within = 0.01, size = NULL, without = NULL, cost = NULL,
                         nodes = NULL, progress = interactive(), ...) {
  check_given(cert, "cert")
  refuse_unless(is_number(within) && within >= 0 && within < 1, "within",
                "a number from 0 to less than 1", within)
  check_flag(progress, "progress")
  nodes <- check_nodes(nodes)
  check_dots(..., known = names(formals(alternatives)))
  refuse_unless(inherits(cert, "certificate"), "cert", "a result of certify()", cert)
  row <- certified_row(cert, size)
  stop_argument_if(cert$proofs$criterion[row] != "penalised",
                   "`cert` has no penalised error: make it with `criterion = \"penalised\"`")
  problem <- cert$problem
  without <- if (length(without)) in_context("`without`", columns_given(without, problem)) else
    integer()
  new_alternatives(cert, near_sets(cert, row, within, without, nodes, progress), within, without,
                   check_cost(cost, problem), short_call(match.call()))
}

# The sets near the best set of a row of a certificate, and the prices of their columns.
near_sets <- function(cert, row, within, without, nodes, progress) {
  proof <- cert$proofs[row, ]
  source <- certified_source(cert$problem, cert$lambda, cert$given)
  out <- set_units(source, intersect(without, source$terms$columns))
  stop_argument_if(any(out %in% source$given), "`without` has a column that all sets contain")
  source$free <- setdiff(source$free, out)
  near <- list(source = source, k = proof$size, best = set_units(source, cert$columns[[row]]),
               out = out, fall = source$total - proof$value, value = proof$value,
               proved = proof$proved)
  near$limit <- near$value + within * near$fall
  near$found <- list(sets = matrix(0L, near$k, 0L), values = numeric(), count = 0,
                     status = "complete", nodes = 0)
  bar <- progress_bar(progress, "Listing sets", steady = FALSE)
  if (length(source$free) + length(source$given) >= near$k) {
    # of a root its A alone was kept
    root <- cert$roots[[match(proof$size, unique(cert$proofs$size))]]
    if (is.null(source$whole)) {
      root$gain <- unit_gains(source, list(root$A))[, 1L]
      root$bound <- dual_bound(source, root$A, root$gain, root$k)
    } else {
      root <- whole_root(root$k, source)
    }
    near$screened <- screened_units(source, root, near$limit)
    near$found <- search_sets(source, "list", near$k, near$screened, near$limit, nodes = nodes,
                              kept = listed_sets, progress = bar)
  }
  # where the bound excludes nothing, a tree for each column would take hours
  near$too_wide <- !is_listed(near$found) && !length(near$screened$outside)
  near$units <- if (is_listed(near$found)) units_of_list(near) else if (near$too_wide)
    units_of_list(near, complete = FALSE) else units_by_trees(near, nodes, bar)
  near$units$price_out <- prices_out(near, nodes)
  near
}

# The units of some set with their status, and what it costs to put each in, by the sets listed. Of
# a list that is not complete the prices and units of other sets are not known.
units_of_list <- function(near, complete = TRUE) {
  sets <- near$found$sets
  unit <- sort(unique(c(sets)))
  count <- tabulate(match(sets, unit), length(unit))
  least <- vapply(unit, function(u) min(near$found$values[colSums(sets == u) > 0L]), 0)
  status <- ifelse(complete & count == ncol(sets), "all", "some")
  price_in <- share_of_fall(near, least)
  if (!complete) price_in[!unit %in% near$best] <- NA
  list2DF(list(unit = unit, status = status, price_in = price_in, sets = count))
}

# What an error lacks of the fall. Differences by rounding are 0.
share_of_fall <- function(near, value) {
  lack <- pmax(0, value - near$value)
  ifelse(lack <= proof_margin(near$source), 0, lack) / near$fall
}

# The same where there are too many sets: the best set with each undecided unit, where the search
# begins with the best of the sets listed.
units_by_trees <- function(near, nodes, progress) {
  screened <- near$screened
  listed <- near$found$sets[, order(near$found$values), drop = FALSE]
  part <- tree_part(near$source, screened)
  each <- lapply(screened$open, function(u) {
    if (near$source$state$stopped) return(list(set = integer(), status = "interrupted"))
    known <- which(colSums(listed == u) > 0L)
    search_sets(near$source, "penalised", near$k, list(inside = c(screened$inside, u)), near$limit,
                if (length(known)) listed[, known[1L]] else integer(), nodes = nodes,
                progress = progress, part = part)
  })
  value <- vapply(each, function(found) if (length(found$set)) found$value else Inf, 0)
  ended <- vapply(each, `[[`, "", "status") != "complete"
  inside <- c(near$source$given, screened$inside)
  kept <- value <= near$limit | ended
  unit <- c(inside, screened$open[kept])
  status <- ifelse(value <= near$limit, "some", "open")[kept]
  price_in <- share_of_fall(near, ifelse(ended, NA, value))[kept]
  sets <- near$found$sets
  list2DF(list(unit = unit, status = c(rep("all", length(inside)), status),
               price_in = c(rep(0, length(inside)), price_in),
               sets = tabulate(match(sets, unit), length(unit))))
}

# What it costs to leave each unit out: nothing if the best set is without it. NA for units that the
# user's `start` put into every set, and where the search ended first.
prices_out <- function(near, nodes) {
  best <- list(set = near$best, value = near$value, proved = TRUE)
  if (any(near$out %in% near$best) && nrow(near$units)) best <- best_without(near, integer(), nodes)
  vapply(near$units$unit, function(u) {
    if (u %in% near$source$given || near$source$state$stopped) return(NA_real_)
    without <- near$found$values[colSums(near$found$sets == u) == 0L]
    if (is_listed(near$found) && length(without)) return(share_of_fall(near, min(without)))
    found <- if (u %in% best$set) best_without(near, u, nodes) else best
    if (found$proved) share_of_fall(near, found$value) else NA_real_
  }, 0)
}

# The best set without a unit.
best_without <- function(near, unit, nodes) {
  source <- near$source
  source$free <- setdiff(source$free, unit)
  if (length(source$free) + length(source$given) < near$k) return(list(proved = FALSE))
  set <- intersect(near$best, c(source$given, source$free))
  set <- c(set, utils::head(setdiff(source$free, set), near$k - length(set)))
  root <- proof_roots(source, near$k, list(set))[[1L]]
  proof_of(source, root, "penalised", Inf, list(set), nodes, NULL)
}

# The result --------------------------------------------------------------------------------------

new_alternatives <- function(cert, near, within, without, cost, call) {
  problem <- cert$problem
  names_of <- function(units) unit_names(problem, near$source$first[units])
  units <- near$units
  columns <- near$source$first[units$unit]
  best <- units$unit %in% near$best
  features <- list2DF(list(
    feature = columns, name = unit_names(problem, columns), status = units$status, chosen = best,
    price_out = units$price_out, price_in = units$price_in, sets = units$sets
  ))
  features <- features[order(features$status, -features$price_out, features$price_in), ]
  none <- count_units(problem) - nrow(features) - length(near$out)
  row.names(features) <- NULL
  found <- near$found
  sets <- list2DF(list(
    columns = lapply(seq_len(ncol(found$sets)), function(i) names_of(sort(found$sets[, i]))),
    value = found$values, lack = share_of_fall(near, found$values)
  ))
  if (!is.null(cost)) {
    sets$price <- vapply(seq_len(ncol(found$sets)), function(i) {
      price_of(cost, whole_groups(problem, near$source$first[found$sets[, i]]))
    }, 0)
  }
  sets <- sets[order(if (is.null(cost)) 0 * sets$value else sets$price, sets$value), ]
  row.names(sets) <- NULL
  status <- if (near$source$state$stopped) "interrupted" else
    if (found$status == "move_limit") "node_limit" else found$status
  warn_if(status == "interrupted", "sparsels_interrupted",
          "interrupted: the sets and prices found so far")
  seal(structure(list(
    features = features, none = if (near$too_wide) NA_integer_ else none,
    sets = sets, count = found$count, counted = found$status == "complete", size = near$k,
    within = within, value = near$value, null = near$source$total, proved = near$proved,
    lambda = cert$lambda, without = problem$columns$name[without], method = cert$method,
    status = status, problem = without_x(problem), call = call
  ), class = c("alternatives", "sparsels_result")))
}

#' @exportS3Method
print_result.alternatives <- function(x, n = 20L, ...) {
  words <- counted_word(x$problem)
  say("alternatives: sets of ", counted(x$size, words), " within ", format(100 * x$within),
      " % of the fall of the penalised error, lambda ", shown_parameter(x$lambda))
  if (length(x$without)) say("without ", some_of(x$without, 5L))
  if (!x$proved) say("the best set is not proved to be the best: others are compared with it")
  if (!x$count && x$counted) return(say("there is no such set"))
  say(if (!x$counted) "at least ", whole_number(x$count), if (x$count == 1) " set: " else " sets: ",
      status_counts(x, words))
  percent <- function(share) {
    ifelse(is.na(share), "", ifelse(share == 0, "0", sprintf("%.2g %%", 100 * share)))
  }
  text <- utils::head(x$features, n)
  text <- data.frame(name = text$name, `in` = text$status, best = ifelse(text$chosen, "*", ""),
                     `out costs` = percent(text$price_out), `in costs` = percent(text$price_in),
                     check.names = FALSE)
  print(fitting_names(text), row.names = FALSE)
  print_more(nrow(x$features) - n, words, "$features")
  remark(paste("* in the best set; costs: what the best set without the column, or with it, lacks",
               "of the fall of the best set"))
  print_interrupted(x$status, "nodes")
}

status_counts <- function(x, word) {
  counts <- table(factor(x$features$status, c("all", "some", "open")))
  words <- c(all = "in all of them", some = "in some", open = "in some or none (not settled)")
  each <- sprintf("%s %s", vapply(counts, counted, "", word), words[names(counts)])[counts > 0L]
  if (is.na(x$none)) {
    return(sprintf("%s; too many for more, as the bound excludes no %s: give a smaller `within`",
                   paste(each, collapse = ", "), word))
  }
  paste(c(each, sprintf("%s in none", whole_number(x$none))), collapse = ", ")
}

#' @exportS3Method
record.alternatives <- function(x) {
  list(rows = x$features, row = data.frame(
    method = x$method, size = x$size, lambda = x$lambda, within = x$within, sets = x$count,
    counted = x$counted, all = sum(x$features$status == "all"),
    some = sum(x$features$status == "some"), none = x$none
  ), meaning = paste("price_out, price_in = error of the best set without or with the column less",
                     "the least error, as a share of the fall from the null model"))
}

# A bar for each column: what it costs to leave it out, or to put it in.
#' @exportS3Method
picture.alternatives <- function(x, ...) {
  data <- x$features[c("name", "status", "chosen", "price_out", "price_in")]
  data$price <- 100 * ifelse(data$chosen, data$price_out, data$price_in)
  data <- utils::head(data[!is.na(data$price), ], 40L)
  stop_input_if(!nrow(data), "there is no such set: there is nothing to draw")
  row.names(data) <- NULL
  height <- rev(seq_len(nrow(data)))
  bars <- unlist(lapply(c(TRUE, FALSE), function(chosen) {
    rows <- data$chosen == chosen
    as_layer("rects", 0 * data$price[rows], height[rows] - 0.4, x2 = data$price[rows],
             y2 = height[rows] + 0.4, col = price_colours[[if (chosen) "out" else "in"]],
             label = if (chosen) "in the best set: price of leaving it out" else
               "not in it: price of putting it in")
  }), recursive = FALSE)
  ticks <- pretty(c(0, data$price))
  new_picture(data, bars, list(
    main = sprintf("sets of %s within %s %% of the best", counted(x$size, counted_word(x$problem)),
                   format(100 * x$within)),
    xlab = "price, in % of the fall of the penalised error", ylab = "",
    xlim = c(0, max(data$price, 1e-6))
  ), list(...), list(x = ticks_at(ticks, ticks), y = ticks_of(rev(shortened(data$name, 20L, 8L)))))
}

price_colours <- c(out = "#0072B2", `in` = "#E69F00")
