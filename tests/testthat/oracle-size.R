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

# The ridge parameter of a set that has the smallest held-out squared error by retraining. Smaller
# ones than those given are tried as long as the error falls.
oracle_refit <- function(train, set, multiples, ids) {
  if (!length(set)) return(1)
  unit <- retrain_mean_square(train)
  falling_lambda(multiples * unit, 16^-7 * unit, function(lambda) {
    out <- oracle_held_out(train, set, lambda, ids)
    sum(train$rows$weight * (unname(train$rows$y) - out)^2)
  })
}

# The lambda with the smallest error, where 16ths of the smallest one are tried as long as the error
# falls by a thousandth, down to `least`.
falling_lambda <- function(lambdas, least, error_of) {
  errors <- vapply(lambdas, error_of, 0)
  best <- lambdas[which.min(errors)]
  smallest <- min(errors)
  while (best == min(lambdas) && best / 16 >= least * (1 - 1e-9)) {
    lambdas <- c(lambdas, best / 16)
    error <- error_of(best / 16)
    if (error >= 0.999 * smallest) break
    best <- best / 16
    smallest <- error
  }
  best
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
# `clear(size, place)` says whether the model is clearly better than none.
oracle_choice <- function(sums, rule, slack = 1, columns = seq_along(sums[[1]]) - 1,
                          clear = NULL) {
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
  if (size == 0 || !clear(size, place)) return(c(0, place))
  gain <- sum(sums[[place]][[1]][, 1] - best[, 1])
  worse <- function(s, l) {
    difference <- sums[[l]][[s]][, 1] - best[, 1]
    share <- if (columns[s] < 20) 1 / 100 else 1 / 20
    sum(difference) > min(2 * slack * sd(difference) * sqrt(length(difference)), gain * share)
  }
  own <- apply(value, 2, which.min)
  fine <- vapply(seq_along(own), function(l) {
    !worse(own[l], l) && columns[own[l]] <= columns[size + 1]
  }, NA)
  l <- which(fine)[1]
  for (s in seq_len(own[l])) if (!worse(s, l)) return(c(s - 1, l))
}

# Whether the column of the largest weighted correlation with a response is related to it.
oracle_related <- function(pb, unit) {
  if (!pb$coding$intercept || ncol(pb$z) > 1) return(FALSE)
  kept <- which(pb$rows$weight > 0)
  x <- as.matrix(pb$x)[kept, pb$columns$usable, drop = FALSE]
  means <- function(values) as.vector(tapply(values, unit[kept], mean))
  p <- apply(pb$rows$y[kept, , drop = FALSE], 2, function(y) {
    r <- stats::cov.wt(cbind(x, y), pb$rows$weight[kept], cor = TRUE)$cor[seq_len(ncol(x)), "y"]
    rank_test(means(x[, which.max(abs(r))]), means(y))
  })
  min(p) * ncol(x) * length(p) < 0.02
}

# Whether models are clearly better than none: by the relation of a column, or by the losses of the
# rows in some folds, the t test that Hall transforms for skewness. `parts` are those of
# loop_scores().
oracle_clear <- function(pb, parts, unit = seq_len(nrow(pb))) {
  related <- oracle_related(pb, unit)
  function(size, place) {
    if (related) return(TRUE)
    rows <- unlist(lapply(parts, `[[`, "rows"))
    length_at <- function(s) {
      sqrt(unlist(lapply(parts, function(part) {
        y <- unname(pb$rows$y[part$rows, , drop = FALSE])
        rowSums((y - matrix(part$scores[[place]][, , s + 1], nrow(y)))^2)
      })))
    }
    limit <- Inf
    if (pb$coding$task == "regression") {
      kept <- pb$rows$weight > 0
      fit <- stats::lm.wfit(cbind(pb$z[kept, , drop = FALSE], rep(0, sum(kept))),
                            pb$rows$y[kept, , drop = FALSE], pb$rows$weight[kept])
      null <- sqrt(rowSums(as.matrix(fit$residuals)^2))
      limit <- 2.5 * median(null) / qnorm(0.75)
    }
    loss <- function(r) ifelse(r <= limit, r^2, 2 * limit * r - limit^2)
    gain <- pb$rows$weight[rows] * (loss(length_at(0)) - loss(length_at(size)))
    gain <- tapply(gain, unit[rows], sum)
    n <- length(gain)
    centred <- gain - mean(gain)
    g <- mean(centred^3) / mean(centred^2)^1.5
    t <- mean(gain) / (sd(gain) / sqrt(n))
    t + g * t^2 / (3 * sqrt(n)) + g^2 * t^3 / (27 * n) + g / (6 * sqrt(n)) > qt(0.985, n - 1)
  }
}

# the square root of columns to rows, where there are fewer columns
oracle_slack <- function(pb) sqrt(min(1, sum(pb$columns$usable) / sum(pb$rows$weight > 0)))
