# Cox's partial likelihood in plain R, for its record in `losses`: its value, slopes, curvature and
# dual values, and baseline hazards. src/l1-cox.c has the same.

# The problem of a Cox model: the events are its response, it has no intercept, and `coding` says
# how ties are dealt with.
as_cox <- function(problem, ties, threads = 1L) {
  if (is_cox(problem)) return(problem)
  stop_input_if(!is_survival(problem),
                "`loss = \"cox\"` needs censored times, but `y` has none: %s",
                "give survival::Surv(time, status)")
  stop_input_if(!problem$coding$intercept,
                "`loss = \"cox\"` has no intercept to leave out: leave out `intercept`")
  problem$coding$ties <- ties
  problem$coding$intercept <- FALSE
  problem$rows$y <- response_of_times(problem)
  problem$z <- problem$z[, colnames(problem$z) != "(Intercept)", drop = FALSE]
  problem <- compile_rows(problem)
  stop_aliased(problem$compiled$covariates$aliased, problem, if (is_stratified(problem)) {
    " within the strata"
  })
  stop_input_if(!any(informs(problem)),
                "every event of `%s` is of a row that is at risk alone: it compares nothing",
                problem$coding$response)
  if (is.null(problem$x)) problem else measure_columns(problem, threads = threads)
}

# A moment has one sum over the rows at risk by Breslow, and by Efron as many as it has tied events,
# the r-th with the share 1 - (r - 1) / n of these. Of each sum: its moment `of`, the `share` and
# the weight `part` of its events. `last` is the last moment of each row, 0 of rows never at risk.
cox_sums <- function(problem, risk) {
  count <- length(risk$first)
  died <- which(risk$event >= 0L)
  moment <- risk$event[died] + 1L
  weight <- rowsum(problem$rows$weight[died], moment)[, 1L]
  tied <- tabulate(moment, count)
  sums <- if (problem$coding$ties == "efron") tied else rep(1L, count)
  of <- rep(seq_len(count), sums)
  last <- ifelse(risk$event >= 0L, risk$event + 1L, ifelse(risk$from < risk$to, risk$to, 0L))
  list(risk = risk, died = died, moment = moment, sums = sums, of = of, last = last,
       weight = weight, share = 1 - (sequence(sums) - 1) / tied[of], part = (weight / sums)[of])
}

# The scale on which sums of exp(f) are made. `level` is the largest f of the rows at risk at each
# moment, or of the stratum where rows enter late. `decay` is exp() of how much less the next level
# is, 0 for the last moment of a stratum. `f` is less the level of the row's last moment, and `a` is
# the weight times exp(f).
cox_scale <- function(parts, w, f) {
  risk <- parts$risk
  rows <- which(parts$last > 0L)
  level <- rep(-Inf, length(risk$first))
  highest <- tapply(f[rows], parts$last[rows], max)
  level[as.integer(names(highest))] <- highest
  level <- stats::ave(level, risk$first, FUN = function(own) {
    if (risk$late) rep(max(own), length(own)) else rev(cummax(rev(own)))
  })
  joined <- c(diff(risk$first) == 0L, FALSE)
  decay <- ifelse(joined, exp(c(diff(level), 0)), 0)
  f[rows] <- f[rows] - level[parts$last[rows]]
  a <- replace(numeric(length(f)), rows, w[rows] * exp(f[rows]))
  list(level = level, decay = decay, f = f, a = a)
}

# Sums over the rows of each sum, from z (rows x any), which has the factor a of the scale: over the
# rows in `full`, over the moment's `own` events, and over `all` with the share of the events.
over_sums <- function(parts, scale, z) {
  risk <- parts$risk
  z <- as.matrix(z)
  total <- function(rows, moment) {
    out <- matrix(0, length(risk$first), ncol(z))
    sums <- rowsum(z[rows, , drop = FALSE], moment)
    out[as.integer(rownames(sums)), ] <- sums
    out
  }
  own <- total(parts$died, parts$moment)
  rows <- which(risk$from < risk$to)
  if (risk$late) {
    full <- 0 * own
    for (block in column_blocks(length(rows), nrow(own), 1e6)) {
      full[block, ] <- crossprod(are_at_risk(risk, rows, block - 1L), z[rows, , drop = FALSE])
    }
  } else {
    rows <- setdiff(rows, parts$died)
    full <- total(rows, parts$last[rows])
    for (t in rev(seq_len(nrow(own) - 1L))) {
      full[t, ] <- full[t, ] + scale$decay[t] * (full[t + 1L, ] + own[t + 1L, ])
    }
  }
  list(full = full, own = own,
       all = full[parts$of, , drop = FALSE] + parts$share * own[parts$of, , drop = FALSE])
}

# The transpose of it: sums over the sums that each row is in, from g (sums x any).
over_rows <- function(parts, scale, g) {
  risk <- parts$risk
  g <- as.matrix(g)
  each <- rowsum(g, parts$of)
  out <- matrix(0, length(risk$from), ncol(g))
  rows <- which(risk$from < risk$to)
  if (risk$late) {
    for (block in column_blocks(nrow(each), length(rows), 1e6)) {
      own <- rows[block]
      out[own, ] <- are_at_risk(risk, own, seq_len(nrow(each)) - 1L) %*% each
    }
  } else {
    for (t in seq_len(nrow(each))[-1L]) {
      each[t, ] <- each[t, ] + scale$decay[t - 1L] * each[t - 1L, ]
    }
    before <- ifelse(risk$event[rows] >= 0L, scale$decay[risk$to[rows]], 1)
    out[rows, ] <- before * each[risk$to[rows], , drop = FALSE]
  }
  own <- rowsum(parts$share * g, parts$of)[parts$moment, , drop = FALSE]
  out[parts$died, ] <- out[parts$died, , drop = FALSE] + own
  out
}

# rows x moments
are_at_risk <- function(risk, rows, moments) {
  outer(risk$from[rows], moments, "<=") & outer(risk$to[rows], moments, ">")
}

# Half the deviance at the linear predictor f: list(loss, slope, diagonal, curve, dual). `slope` is
# minus the derivative by f divided by the weight, `diagonal` of a matrix that is nowhere below the
# second derivative, `curve` a function of directions (rows x any) that gives the products with the
# second derivative, and `dual` one of s that gives the dual value of s times the dual point.
cox_point <- function(problem, f) {
  w <- problem$rows$weight
  parts <- cox_sums(problem, risk_sets(problem))
  scale <- cox_scale(parts, w, f)
  S <- over_sums(parts, scale, scale$a)$all[, 1L]
  died <- replace(numeric(length(f)), parts$died, w[parts$died])
  mean <- scale$a * over_rows(parts, scale, parts$part / S)[, 1L]
  list(
    loss = sum(parts$part * log(S / (parts$weight[parts$of] * parts$share))) - sum(died * scale$f),
    slope = (died - mean) / ifelse(w > 0, w, 1), diagonal = mean,
    curve = function(directions) {
      within <- over_sums(parts, scale, scale$a * directions)$all / S
      mean * directions - scale$a * over_rows(parts, scale, parts$part / S * within)
    },
    dual = function(s) {
      if (s <= 0) return(0)
      if (problem$coding$ties == "efron" || parts$risk$late) return(cox_mixture(parts, scale, w, s))
      cox_conjugate(parts, w, (1 - s) * died + s * mean)
    }
  )
}

# The dual value of means a of the rows, where risk sets are nested and ties are Breslow's.
cox_conjugate <- function(parts, w, a) {
  inside <- a > 0
  first <- parts$risk$first
  sums <- rowsum(a[parts$last > 0L], parts$last[parts$last > 0L])
  leaving <- replace(numeric(length(first)), as.integer(rownames(sums)), sums)
  W <- parts$weight
  rest <- stats::ave(leaving - W, first, FUN = function(own) rev(cumsum(rev(own))))
  rest <- ifelse(duplicated(first), pmax(rest, 0), 0)
  sum(xlogx(rest + W) - xlogx(rest) - xlogx(W)) - sum(a[inside] * log(a[inside] / w[inside]))
}

# A lower bound of the dual value: each sum shares its weight among its rows, s times as at the
# point and 1 - s times as in the saturated model. Where more than `many` events are tied it is the
# bound by concavity in s.
cox_mixture <- function(parts, scale, w, s, many = 200L) {
  level <- scale$level[parts$of]
  rows <- parts$last > 0L
  f <- scale$f
  f[rows] <- f[rows] + scale$level[parts$last[rows]]
  f[rows] <- f[rows] - max(f[rows])
  level <- level - max(scale$level)
  sums <- over_sums(parts, scale, scale$a)
  logs <- over_sums(parts, scale, scale$a * f)
  S <- sums$all[, 1L]
  full <- sums$full[parts$of, 1L]
  of_full <- logs$full[parts$of, 1L] - level * full
  of_all <- logs$all[, 1L] - level * S
  W <- parts$weight[parts$of]
  part <- parts$part
  share <- parts$share
  value <- ifelse(
    parts$sums[parts$of] > many, s * part * (log(S / (W * share)) - of_all / S),
    s * part / S * (log(S / s) * full - of_full) - part * log(W * share)
  )
  first <- cumsum(parts$sums) - parts$sums
  few <- which(parts$sums[parts$moment] <= many)
  sums <- parts$sums[parts$moment[few]]
  row <- rep(parts$died[few], sums)
  of <- rep(first[parts$moment[few]], sums) + sequence(sums)
  q <- (1 - s) / rep(sums, sums) + s * part[of] * share[of] * exp(scale$f[row]) / S[of]
  sum(value) - sum(w[row] * q * log(q / (share[of] * part[of])))
}

# The log partial likelihood of the saturated model.
cox_saturated <- function(problem) {
  parts <- cox_sums(problem, risk_sets(problem))
  -sum(parts$part * log(parts$weight[parts$of] * parts$share))
}

# The held-out deviance of Verweij and van Houwelingen (1993): the deviance of all rows less the
# deviance of the training rows, for each model of these. Its weight counts the events held out.
cox_held_out <- function(problem, train, scores) {
  # half the deviance of each column of scores, 0 without an event
  half <- function(problem) {
    if (!any(problem$rows$event & problem$rows$weight > 0)) return(numeric(ncol(scores)))
    rows <- list(response = as.vector(problem$rows$y), root_w = sqrt(problem$rows$weight),
                 risk = risk_input(problem))
    .Call(C_l1_losses, rows, "cox", as.matrix(scores))
  }
  held <- problem$rows$weight - train$rows$weight
  rbind(2 * (half(problem) - half(train)), sum(held * problem$rows$event))
}

# Prediction ---------------------------------------------------------------------------------------

# The cumulative baseline hazards of strata, from the linear predictor f of the training rows: a
# table of stratum, time and hazard of a row with f = 0.
cox_baseline <- function(problem, f) {
  parts <- cox_sums(problem, risk_sets(problem))
  scale <- cox_scale(parts, problem$rows$weight, f)
  S <- over_sums(parts, scale, scale$a)$all[, 1L]
  hazard <- rowsum(parts$part / S, parts$of)[, 1L] * exp(-scale$level)
  first <- match(seq_along(parts$risk$first), parts$moment)
  data.frame(stratum = strata_of(problem)[parts$died[first]], time = parts$risk$time,
             hazard = stats::ave(hazard, parts$risk$first, FUN = cumsum))
}
