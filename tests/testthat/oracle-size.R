# Slow and obvious: the whole procedure once more on each training part, as a problem of its own
# made from the rows that are left, and the rules that choose a size from its errors.

# `search(problem, lambda, ids)` gives the columns of each size in a list (size 0 first), `ids`
# being the inner folds of the rows left; `refit` are multiples of the sum of the weights. A list
# with an entry for each fold: rows and, for each lambda, their scores (rows x L x sizes).
loop_scores <- function(pb, ids, lambdas_of, search, refit = NULL, inner = seq_along(ids)) {
  lapply(sort(unique(ids[pb$rows$weight > 0])), function(fold) {
    out <- which(ids == fold & pb$rows$weight > 0)
    left <- which(ids != fold & pb$rows$weight > 0)
    train <- pb[left, ]
    weighted <- pb
    weighted$rows$weight[-left] <- 0
    inner_ids <- match(inner[left], unique(inner[left]))
    scores <- lapply(lambdas_of(train), function(lambda) {
      sets <- search(train, lambda, inner_ids)
      array(vapply(sets, function(set) {
        at <- if (is.null(refit)) lambda else oracle_refit(train, set, refit, inner_ids)
        oracle_ridge(weighted, set, at)$pred[out, , drop = FALSE]
      }, matrix(0, length(out), ncol(pb$rows$y))), c(length(out), ncol(pb$rows$y), length(sets)))
    })
    list(rows = out, scores = scores)
  })
}

# The ridge parameter of a set that has the smallest held-out squared error by retraining.
oracle_refit <- function(train, set, multiples, ids) {
  lambdas <- multiples * retrain_mean_square(train)
  if (!length(set)) return(1)
  error <- vapply(lambdas, function(lambda) {
    out <- oracle_held_out(train, set, lambda, ids)
    sum(train$rows$weight * (unname(train$rows$y) - out)^2)
  }, 0)
  lambdas[which.min(error)]
}

# The sum of the losses of each fold and its weight, folds x 2, of one lambda and size.
loop_sums <- function(pb, parts, at, size, name = "squared") {
  score <- unname(pb$rows$y)
  ids <- rep(NA, nrow(score))
  for (fold in seq_along(parts)) {
    score[parts[[fold]]$rows, ] <- parts[[fold]]$scores[[at]][, , size + 1]
    ids[parts[[fold]]$rows] <- fold
  }
  t(retrain_sums(pb, name, score, ids, which(!is.na(ids))))
}

# Value and standard error of every size of one lambda.
loop_curve <- function(pb, parts, at, name = "squared") {
  sizes <- dim(parts[[1]]$scores[[at]])[3]
  vapply(seq_len(sizes) - 1, function(s) retrain_mean(t(loop_sums(pb, parts, at, s, name))),
         c(value = 0, se = 0))
}

# The rules, for lambdas that fall; sums[[lambda]][[size + 1]] are the sums of the folds.
oracle_choice <- function(sums, rule, slack = 1, columns = seq_along(sums[[1]]) - 1) {
  value <- vapply(sums, function(of) vapply(of, function(s) sum(s[, 1]) / sum(s[, 2]), 0),
                  numeric(length(sums[[1]])))
  size <- 0
  place <- 1
  for (s in seq_len(nrow(value)) - 1) for (l in seq_len(ncol(value))) {
    if (value[s + 1, l] < value[size + 1, place]) {
      size <- s
      place <- l
    }
  }
  best <- sums[[place]][[size + 1]]
  if (rule == "min") return(c(size, place))
  if (rule == "1se") {
    allowed <- value[size + 1, place] + retrain_mean(t(best))[["se"]]
    return(c(which(value[, place] <= allowed)[1] - 1, place))
  }
  worse <- function(one, errors) {
    difference <- one[, 1] - best[, 1]
    sum(difference) > errors * sd(difference) * sqrt(length(difference))
  }
  if (size == 0 || !worse(sums[[place]][[1]], 2)) return(c(0, place))
  own <- apply(value, 2, which.min)
  fine <- vapply(seq_along(own), function(l) !worse(sums[[l]][[own[l]]], 2 * slack), NA)
  l <- which(fine)[1]
  for (s in seq_len(own[l])) {
    long <- columns[s] >= min(20, columns[own[l]])
    if (long && !worse(sums[[l]][[s]], 2 * slack)) return(c(s - 1, l))
  }
}

# the square root of columns to rows, where there are fewer columns
oracle_slack <- function(pb) sqrt(min(1, sum(pb$columns$usable) / sum(pb$rows$weight > 0)))
