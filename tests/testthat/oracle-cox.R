# Cox's partial likelihood by its definition: all sums over risk sets as rows of a matrix, models by
# Newton's method, and survival times to try them on.

Surv <- function(...) survival::Surv(...) # nolint: object_name_linter.

by_hand <- function() {
  x <- outer(1:10, 1:4, function(i, j) (i^2 * j + 3 * i + j^3) %% 11 - 5)
  colnames(x) <- paste0("x", 1:4)
  list(x = x, w = c(1, 2, 1, 1, 0.5, 1, 1, 2, 1, 1), time = c(6, 12, 3, 5, 4, 9, 8, 8, 2, 4),
       status = c(1, 0, 1, 1, 1, 0, 1, 1, 1, 0), start = c(0, 1, 0, 4, 2, 0, 3, 0, 0, 1),
       stratum = rep(1:2, each = 5))
}

# Survival times of a few columns, tied, in strata, of late entry or with an offset by `number`.
draw_times <- function(number, m = 20 + number %% 40, n = 5 + number %% 20) {
  x <- matrix(rnorm(m * n), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  if (number %% 7 == 1) x <- x + 100
  if (number %% 7 == 2) x <- round(2 * x)
  time <- rexp(m, exp(scale(x[, 1])[, 1] - scale(x[, 2])[, 1])) + 0.01
  if (number %% 2 == 1) time <- ceiling(6 * time)
  event <- runif(m) < if (number %% 5 == 0) 0.3 else 0.7
  event[1:2] <- TRUE
  list(x = x, time = time, event = event,
       start = if (number %% 4 == 1) time * runif(m) * (runif(m) < 0.6) - 0.001,
       stratum = if (number %% 5 %in% 2:3) rep_len(c(1, 2, 2), m),
       w = if (number %% 3 == 1) runif(m, 0.5, 2) else rep(1, m),
       z = if (number %% 4 == 2) matrix(rnorm(m), m, dimnames = list(NULL, "age")),
       o = if (number %% 7 %in% c(3, 5, 6)) rnorm(m) + 2,
       alpha = c(1, 1, 0.5, 1, 0.9)[1 + number %% 5],
       ties = if (number %% 3 == 0) "breslow" else "efron")
}

as_times <- function(d) {
  if (is.null(d$start)) Surv(d$time, d$event) else Surv(d$start, d$time, d$event)
}

rows_of_times <- function(d, rows) {
  own <- c("time", "event", "start", "stratum", "w", "o")
  d[own] <- lapply(d[own], `[`, rows)
  if (!is.null(d$z)) d$z <- d$z[rows, , drop = FALSE]
  d
}

# Every sum over a risk set as a row of weights C (sums x rows), with its weight M and the shares Q
# of the saturated model. The exponential of an offset is a factor of the weights.
plain_sums <- function(d) {
  m <- length(d$time)
  o <- if (is.null(d$o)) numeric(m) else d$o
  start <- if (is.null(d$start)) rep(-Inf, m) else d$start
  stratum <- if (is.null(d$stratum)) rep(1, m) else d$stratum
  C <- Q <- NULL
  M <- level <- numeric()
  for (s in unique(stratum)) for (t in unique(d$time[d$event & stratum == s])) {
    at_risk <- stratum == s & start < t & d$time >= t
    died <- stratum == s & d$event & d$time == t
    n <- sum(died)
    W <- sum(d$w[died])
    for (r in if (d$ties == "efron") seq_len(n) - 1 else 0) {
      parts <- if (d$ties == "efron") n else 1
      C <- rbind(C, d$w * exp(o) * (at_risk - r / n * died))
      Q <- rbind(Q, d$w * died / parts)
      M <- c(M, W / parts)
      level <- c(level, W / parts * log(W * (1 - r / n)))
    }
  }
  died <- d$w * d$event
  list(C = C, Q = Q, M = M, level = sum(level) + sum(died * o), died = died)
}

plain_value <- function(sums, f) {
  sum(sums$M * log(drop(sums$C %*% exp(f - max(f))))) -
    sum(sums$died * (f - max(f))) - sums$level
}

plain_residual <- function(sums, f) {
  E <- t(t(sums$C) * exp(f - max(f)))
  sums$died - colSums(sums$M * E / rowSums(E))
}

# The minimum of the deviance of f = C b plus the squares of b times `penalty`: list(b, f,
# objective).
plain_cox_model <- function(sums, C, penalty) {
  at <- function(b) {
    f <- drop(C %*% b)
    list(b = b, f = f, objective = 2 * plain_value(sums, f) + sum(penalty * b^2))
  }
  now <- at(numeric(ncol(C)))
  for (step in seq_len(100 * (ncol(C) > 0))) {
    E <- t(t(sums$C) * exp(now$f - max(now$f)))
    share <- E / rowSums(E)
    mean <- share %*% C
    curvature <- crossprod(C, colSums(sums$M * share) * C) - crossprod(mean, sums$M * mean)
    gradient <- drop(crossprod(C, plain_residual(sums, now$f))) - penalty * now$b
    move <- solve(curvature + diag(penalty, ncol(C)), gradient, tol = 0)
    if (sum(move * gradient) < 1e-24 * now$objective) break
    by <- 1
    while (!isTRUE((new <- at(now$b + by * move))$objective <= now$objective * (1 + 1e-13)) &&
             by > 1e-10) by <- by / 2
    now <- new
  }
  now
}

# The held-out deviance per event by the models without each fold.
plain_cox_out <- function(d, C, penalty, ids) {
  whole <- plain_sums(d)
  sum(vapply(unique(ids), function(fold) {
    train <- plain_sums(rows_of_times(d, ids != fold))
    b <- plain_cox_model(train, C[ids != fold, , drop = FALSE], penalty)$b
    f <- drop(C %*% b)
    2 * (plain_value(whole, f) - plain_value(train, f[ids != fold]))
  }, 0)) / sum(d$w * d$event)
}
