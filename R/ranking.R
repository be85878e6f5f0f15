# Measures of a ranking: criteria of differences within queries, of pairs of rows, and of gains.

# Criteria ----------------------------------------------------------------------------------------

ranking_criteria <- c("squared", "concordance", "ndcg")

# The strata within which responses are permuted, by default the queries.
permutation_strata <- function(strata, problem) {
  strata <- check_strata(strata, problem)
  if (!is_ranked(problem)) return(strata)
  if (!is.null(problem$group)) {
    stop_input("`groups` cannot be used with `within`: responses are permuted within queries",
               "sparsels_error_argument")
  }
  if (is.null(strata)) whole_units(problem) else strata
}

# Refuses criteria that do not measure differences within queries.
check_ranking_criterion <- function(name, argument, problem) {
  if (!is_ranked(problem) || name %in% ranking_criteria) return(invisible())
  known <- if (argument == "measure") c("squared", "concordance", "ndcg", "ndcg@10") else
    c("squared", "concordance")
  given <- if (name == "user") "a function" else sprintf("\"%s\"", name)
  stop_input(sprintf("`%s` must be one of %s for a ranking within queries, not %s: %s", argument,
                     some_of(known, Inf, "\""), given,
                     "only differences of scores within a query mean something"),
             "sparsels_error_argument")
}

# Pairs -------------------------------------------------------------------------------------------

# Weight of the pairs of rows of one query whose scores are in the order of their responses, where a
# tie counts half, and weight of all pairs of different responses.
ranked_pairs <- function(problem, score) {
  rows <- which(problem$weights > 0)
  query <- if (is_ranked(problem)) as.integer(problem$query) else rep(1L, nrow(problem))
  rows <- rows[order(query[rows], -problem$y[rows, 1L])]
  .Call(C_ordered_sum, problem$y[rows, 1L], score[rows, 1L] + 0, problem$weights[rows], query[rows])
}

# Refuses a concordance where no pair of rows is held out together.
check_ordered <- function(problem, folds) {
  if (is_survival(problem)) {
    stop_input(paste("`criterion = \"concordance\"` is for numbers and rankings: search censored",
                     "times by \"squared\" and judge by `measure = \"concordance\"`"),
               "sparsels_error_argument")
  }
  if (folds$loo) {
    stop_input(paste("`criterion = \"concordance\"` needs folds of several rows, of which pairs",
                     "are compared, such as `folds = 10`, not leave-one-out"),
               "sparsels_error_argument")
  }
  trained <- problem$weights > 0
  query <- if (is_ranked(problem)) as.integer(problem$query) else 1L
  paired <- apply(folds$ids, 2L, function(ids) {
    any(tapply(problem$y[trained, 1L], paste(ids, query)[trained], function(y) any(y != y[1L])))
  })
  if (all(paired)) return(invisible())
  stop_input(paste0("`criterion = \"concordance\"` needs a fold with two rows of different ",
                    "responses", if (is_ranked(problem)) " in one query"),
             "sparsels_error_argument")
}

# Folds with their rows in the order that a criterion in C requires.
ordered_folds <- function(problem, control) {
  folds <- control$folds
  if (control$criterion$name != "concordance") return(folds)
  query <- if (is_ranked(problem)) as.integer(problem$query) else rep(1L, nrow(problem))
  c(unclass(folds), list(rows = order(query, -problem$y[, 1L])))
}

# Gains -------------------------------------------------------------------------------------------

# Sum over queries of the normalised discounted cumulative gain of their first `k` rows by score,
# and the number of queries: gain 2^y - 1, discount log2(1 + rank). Rows with tied scores share
# their ranks. Queries without a gain do not count.
gain_sums <- function(problem, score, k = Inf) {
  counted <- problem$weights > 0
  gain <- 2^grades(problem)[counted] - 1
  query <- if (is_ranked(problem)) droplevels(problem$query[counted]) else
    factor(rep(1L, sum(counted)))
  each <- mapply(normalised_gain, split(gain, query), split(score[counted, 1L], query),
                 MoreArgs = list(k = k))
  each <- each[!is.na(each) | is.nan(each)]
  c(sum(each), length(each))
}

# The grades of rows: the response, or 0 and 1 for two classes.
grades <- function(problem) {
  y <- problem$y[, 1L]
  if (all(y == -1 | y == 1)) (y + 1) / 2 else y
}

# NA where there is no gain.
normalised_gain <- function(gain, score, k) {
  discount <- ifelse(seq_along(gain) <= k, 1 / log2(1 + seq_along(gain)), 0)
  ideal <- sum(sort(gain, decreasing = TRUE) * discount)
  if (ideal == 0) return(NA_real_)
  if (anyNA(score)) return(NaN)
  place <- order(-score)
  tied <- max(tied_ranks(score)) + 1L - tied_ranks(score)[place]
  sum(gain[place] * stats::ave(discount, tied)) / ideal
}

# The number of first rows that "ndcg@10" uses, Inf for "ndcg".
gain_limit <- function(name) {
  if (name == "ndcg") Inf else as.numeric(sub("ndcg@", "", name, fixed = TRUE))
}

is_gain <- function(name) is_string(name) && grepl("^ndcg(@[1-9][0-9]*)?$", name)

gain_criterion <- function(name, problem) {
  check_needs("concordance", "measure", problem)
  check_grades(problem)
  k <- gain_limit(name)
  list(name = name, words = paste0("NDCG", if (is.finite(k)) sprintf(" of the first %d", k)),
       higher = TRUE, sum = function(problem, score) gain_sums(problem, score, k))
}

check_grades <- function(problem) {
  y <- grades(problem)
  if (all(y >= 0 & y <= 50)) return(invisible())
  outside <- format(y[which(y < 0 | y > 50)[1L]])
  stop_input(sprintf("`measure = \"ndcg\"` needs grades from 0 to 50, of which 2^y - 1 is %s %s",
                     "gained, but the response has", outside), "sparsels_error_argument")
}
