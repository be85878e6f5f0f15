# Queries: rows that are ranked among themselves. The loss of pairs of rows of a query equals the
# loss of rows about the weighted mean of their query. So a ranking is a fit in which the response,
# the covariates and every column are centred within queries.

is_ranked <- function(problem) !is.null(problem$query)

# The queries -------------------------------------------------------------------------------------

# The coded response of a ranking: two classes are ranked as -1 and +1.
code_ranked <- function(coded, name) {
  if (!is.null(coded$survival)) {
    stop_input(sprintf("`within` ranks numbers or two classes, but `%s` has censored times: %s",
                       name, "leave out `within`"))
  }
  if (coded$task == "multiclass") {
    stop_input(sprintf("`within` ranks numbers or two classes, but `%s` has %d classes: %s", name,
                       length(coded$levels), "give grades as numbers"))
  }
  coded$classes <- coded$levels
  coded[c("task", "levels")] <- list("regression", NULL)
  coded
}

# Refuses queries whose rows cannot be ranked, and covariates that do not change the ranking.
check_ranking <- function(problem, name) {
  trained <- problem$weights > 0
  size <- tabulate(problem$query[trained], nlevels(problem$query))
  if (all(size < 2L)) {
    stop_input(sprintf("`within` has no query with two rows%s: there is nothing to rank",
                       if (all(trained)) "" else " of positive weight"))
  }
  if (sum(size > 0L) == 1L) {
    stop_input(paste("`within` has a single query: leave it out, any problem ranks all of its",
                     "rows, with `criterion = \"concordance\"`"))
  }
  still <- which(colSums(sum_of_squares(problem, problem$y)) == 0)
  if (length(still)) {
    where <- if (ncol(problem$y) == 1L) "" else sprintf(" in column %d", still[1L])
    stop_input(sprintf("`%s` must vary within a query, but is constant in each%s", name, where))
  }
  idle <- colnames(problem$z)[colSums(sum_of_squares(problem, problem$z)) == 0]
  if (length(idle)) {
    stop_input(sprintf("`adjust` must vary within a query, but %s %s constant in each: %s",
                       some_of(idle), if (length(idle) == 1L) "is" else "are", "leave it out"))
  }
}

# 1 x columns: weighted sums of squares about the means of queries, with rounding errors set to 0
sum_of_squares <- function(problem, values) {
  about <- colSums(problem$weights * centre_within(problem, values)^2)
  matrix(ifelse(about <= 1e-20 * colSums(problem$weights * values^2), 0, about), 1L)
}

# Centring ----------------------------------------------------------------------------------------

# Values of rows (rows x any) about the weighted means of their queries, or unchanged where there
# are no queries. The second pass removes the rounding error of the first.
centre_within <- function(problem, values) {
  if (!is_ranked(problem)) return(values)
  query <- as.integer(problem$query)
  w <- problem$weights
  # rows of queries without any weight are centred at their plain mean
  unweighted <- !query %in% query[w > 0]
  w[unweighted] <- 1
  total <- rowsum(w, query)[, 1L]
  place <- match(query, as.integer(names(total)))
  size <- dim(values)
  out <- matrix(values, NROW(values))
  for (pass in 1:2) out <- out - (rowsum(w * out, query) / total)[place, , drop = FALSE]
  if (is.null(size)) unname(out[, 1L]) else array(out, size, dimnames(values))
}

# Covariates about the means of queries. Covariates that do not vary within queries are exactly 0.
centred_covariates <- function(problem) {
  z <- centre_within(problem, problem$z)
  if (is_ranked(problem)) z[, sum_of_squares(problem, problem$z) == 0] <- 0
  z
}

# why a column is excluded
excluded_words <- function(problem) {
  paste(if (is_ranked(problem)) "constant within queries" else "constant",
        "or collinear with the covariates")
}

# The scores that have these residuals (m x L). With queries they are centred at the mean of each,
# as a model contains no information about the level of a query.
scores_of <- function(problem, residual) centre_within(problem, problem$y - residual)

# the queries of some rows, or NULL
queries_of <- function(problem, rows) if (is_ranked(problem)) problem$query[rows, drop = TRUE]

# Weighted sums of squares of all columns about their mean in each query.
within_squares <- function(problem, threads) {
  squares <- .Call(C_within_squares, problem$x, problem$centre, sqrt(problem$weights),
                   as.integer(problem$query), threads)
  if (is.null(squares)) raise_interrupt()
  squares
}

# Refusals ----------------------------------------------------------------------------------------

# Refuses sets of rows to be held out together that contain only a part of some query.
check_whole_rows <- function(problem, rows) {
  if (!is_ranked(problem)) return(invisible())
  rest <- seq_len(nrow(problem))[-rows]
  split <- rest[problem$query[rest] %in% problem$query[rows]]
  if (length(split)) {
    stop_input(sprintf("`rows` must hold whole queries, but row %d of query '%s' is not among them",
                       split[1L], problem$query[split[1L]]))
  }
}

# Refuses a ranking, for methods that do not support it. `who` names the method.
refuse_ranking <- function(problem, who) {
  stop_input(sprintf("`within` is for greedy_rls(), rls() and kernel_rls(), %s: %s cannot %s",
                     "cross_validate() and the like of them", who, "rank within queries"),
             "sparsels_error_ranking")
}

# Words -------------------------------------------------------------------------------------------

counted_queries <- function(n) sprintf("%d quer%s", n, if (n == 1L) "y" else "ies")

queries_words <- function(problem) {
  sizes <- range(table(problem$query))
  sprintf("ranked within %s of %s: only differences of scores within a query mean something",
          counted_queries(nlevels(problem$query)), counted_range(sizes, "row"))
}
