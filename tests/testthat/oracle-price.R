# Forward search by what is gained per price, by retraining for every candidate. `price` and `assay`
# have an element for each column, NA being no assay.

oracle_price <- function(set, price, assay) {
  alone <- set[is.na(assay[set])]
  shared <- setdiff(set, alone)
  sum(price[alone], price[shared][!duplicated(assay[shared])])
}

# The column that is added to a set, NULL where the budget allows none. Free columns that lower the
# criterion come first, then those with the largest gain per price; if none gains, the least loss.
oracle_priced_step <- function(pb, set, lambda, folds, price, assay, budget, name, tie = 1e-10) {
  now <- oracle_score(pb, set, lambda, folds, name)[["loss"]]
  spent <- oracle_price(set, price, assay)
  others <- setdiff(which(pb$columns$usable), set)
  more <- vapply(others, function(i) oracle_price(c(set, i), price, assay) - spent, 0)
  fits <- spent + more <= budget + 1e-8
  others <- others[fits]
  more <- more[fits]
  if (!length(others)) return(NULL)
  score <- vapply(others, function(i) oracle_score(pb, c(set, i), lambda, folds, name),
                  c(loss = 0, squared = 0))
  gain <- now - score["loss", ]
  free <- more < 1e-8
  # of those that count, the largest `value`, of equal ones the least squared error
  first <- function(value, among) {
    among <- among & value >= max(value[among]) - tie
    among <- among & score["squared", ] <= min(score["squared", among]) + tie
    others[among][1L]
  }
  if (any(free & gain > tie)) return(first(gain, free & gain > tie))
  if (any(gain > tie)) return(first(gain / more, gain > tie))
  first(pmin(gain, 0), rep(TRUE, length(gain)))
}

oracle_priced <- function(pb, k, lambda, folds, price, assay, budget = Inf, start = integer(),
                          name = "squared") {
  set <- start
  while (length(set) < k) {
    i <- oracle_priced_step(pb, set, lambda, folds, price, assay, budget, name)
    if (is.null(i)) break
    set <- c(set, i)
  }
  set
}
