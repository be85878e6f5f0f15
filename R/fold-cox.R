# Cox's partial likelihood in plain R, for its record in `losses`: its value, slopes, curvature and
# dual values, and baseline hazards. src/l1-cox.c has the same.

# The problem of a Cox model: the events are its response, it has no intercept, and `coding` says
# how ties are dealt with.
as_cox <- function(problem, ties, threads = 1L) {
  if (!is_survival(problem)) {
    stop_input("`loss = \"cox\"` needs censored times, but `y` has none: %s",
               "give survival::Surv(time, status)")
  }
  if (!problem$coding$intercept) {
    stop_input("`loss = \"cox\"` has no intercept to leave out: leave out `intercept`")
  }
  problem$coding$ties <- ties
  problem$coding$intercept <- FALSE
  problem$rows$y <- response_of_times(problem)
  problem$z <- problem$z[, colnames(problem$z) != "(Intercept)", drop = FALSE]
  problem <- compile_rows(problem)
  stop_aliased(problem$compiled$covariates$aliased, problem, if (is_stratified(problem)) {
    " within the strata"
  })
  if (!any(informs(problem))) {
    stop_input("every event of `%s` is of a row that is at risk alone: it compares nothing",
               problem$coding$response)
  }
  if (is.null(problem$x)) problem else measure_columns(problem, threads = threads)
}

# A moment has one sum over the rows at risk by Breslow, and by Efron as many as it has tied events,
# the r-th with the share 1 - (r - 1) / n of these. Of each sum: its moment `of`, the `share` and
# the weight `part` of its events.
cox_sums <- function(problem, risk) {
  count <- length(risk$first)
  died <- which(risk$event >= 0L)
  moment <- factor(risk$event[died], seq_len(count) - 1L)
  weight <- as.vector(tapply(problem$rows$weight[died], moment, sum, default = 0))
  tied <- tabulate(moment, count)
  sums <- if (problem$coding$ties == "efron") tied else rep(1L, count)
  of <- rep(seq_len(count), sums)
  list(died = died, moment = as.integer(moment), sums = sums, of = of, weight = weight,
       share = 1 - (sequence(sums) - 1) / tied[of], part = (weight / sums)[of])
}

# Sums over the rows of each sum, from z (rows x any).
over_sums <- function(risk, parts, z) {
  own <- matrix(0, length(risk$first), ncol(z))
  own[sort(unique(parts$moment)), ] <- rowsum(z[parts$died, , drop = FALSE], parts$moment)
  full <- sum_at_risk(risk, z)
  list(full = full, own = own,
       all = full[parts$of, , drop = FALSE] + parts$share * own[parts$of, , drop = FALSE])
}

# The transpose of it: sums over the sums that each row is in, from g (sums x any).
over_rows <- function(risk, parts, g) {
  of_moment <- function(g) rowsum(g, parts$of)
  out <- sum_over_moments(risk, of_moment(g))
  own <- of_moment(parts$share * g)[parts$moment, , drop = FALSE]
  out[parts$died, ] <- out[parts$died, , drop = FALSE] + own
  out
}

# Half the deviance at the linear predictor f: list(loss, slope, curve, dual). `slope` is minus the
# derivative by f divided by the weight, `curve` a function of directions (rows x any) that gives
# the products with the second derivative, and `dual` one of s that gives the dual value of s times
# the dual point.
cox_point <- function(problem, f, risk = risk_sets(problem)) {
  w <- problem$rows$weight
  parts <- cox_sums(problem, risk)
  f <- f - stratum_peaks(problem, risk, f)
  a <- ifelse(is_at_risk(risk), w * exp(f), 0)
  S <- over_sums(risk, parts, matrix(a))$all[, 1L]
  died <- replace(numeric(length(f)), parts$died, w[parts$died])
  mean <- a * over_rows(risk, parts, matrix(parts$part / S))[, 1L]
  terms <- parts$part * log(S / (parts$weight[parts$of] * parts$share))
  list(
    loss = sum(terms) - sum(died * f),
    slope = (died - mean) / ifelse(w > 0, w, 1),
    curve = function(directions) {
      within <- over_sums(risk, parts, a * directions)$all / S
      mean * directions - a * over_rows(risk, parts, parts$part / S * within)
    },
    dual = function(s) {
      if (s <= 0) return(0)
      if (problem$coding$ties == "efron" || risk$late) {
        cox_mixture(risk, parts, f, a, w, S, s)
      } else {
        cox_conjugate(risk, parts, w, (1 - s) * died + s * mean)
      }
    }
  )
}

is_at_risk <- function(risk) risk$event >= 0L | risk$from < risk$to

# The largest f of the rows at risk of each row's stratum.
stratum_peaks <- function(problem, risk, f) {
  stratum <- strata_of(problem)
  there <- is_at_risk(risk)
  peak <- tapply(f[there], stratum[there], max)
  found <- as.vector(peak[match(stratum, as.integer(names(peak)))])
  ifelse(is.na(found), 0, found)
}

xlogx <- function(x) ifelse(x > 0, x * log(x), 0)

# The dual value of means a of the rows, where risk sets are nested and ties are Breslow's.
cox_conjugate <- function(risk, parts, w, a) {
  inside <- a > 0
  at_risk <- over_sums(risk, parts, matrix(a))$all[, 1L]
  W <- parts$weight
  later <- within_strata(risk, matrix(W), rev)[, 1L] - W
  rest <- pmax(at_risk - later - W, 0)
  rest[!duplicated(risk$first)] <- 0
  sum(xlogx(rest + W) - xlogx(rest) - xlogx(W)) - sum(a[inside] * log(a[inside] / w[inside]))
}

# A lower bound of the dual value: each sum shares its weight among its rows, s times as at the
# point and 1 - s times as in the saturated model. Where more than `many` events are tied it is the
# bound by concavity in s.
cox_mixture <- function(risk, parts, f, a, w, S, s, many = 200L) {
  logs <- over_sums(risk, parts, matrix(a * f))
  full <- over_sums(risk, parts, matrix(a))$full[parts$of, 1L]
  W <- parts$weight[parts$of]
  part <- parts$part
  share <- parts$share
  value <- ifelse(
    parts$sums[parts$of] > many,
    s * part * (log(S / (W * share)) - logs$all[, 1L] / S),
    s * part / S * (log(S / s) * full - logs$full[parts$of, 1L]) - part * log(W * share)
  )
  first <- cumsum(parts$sums) - parts$sums
  few <- which(parts$sums[parts$moment] <= many)
  sums <- parts$sums[parts$moment[few]]
  row <- rep(parts$died[few], sums)
  of <- rep(first[parts$moment[few]], sums) + sequence(sums)
  q <- (1 - s) / rep(sums, sums) + s * part[of] * share[of] * exp(f[row]) / S[of]
  sum(value) - sum(w[row] * q * log(q / (share[of] * part[of])))
}

# The held-out deviance of Verweij and van Houwelingen (1993): the deviance of all rows less the
# deviance of the training rows, for each model of these. Its weight counts the events held out.
cox_held_out <- function(problem, train, scores) {
  held <- problem$rows$weight - train$rows$weight
  sums <- 2 * (cox_losses(problem, scores) - cox_losses(train, scores))
  rbind(sums, sum(held * problem$rows$event))
}

# Half the deviance of each column of f (rows x models).
cox_losses <- function(problem, f) {
  risk <- risk_sets(problem)
  parts <- cox_sums(problem, risk)
  w <- problem$rows$weight
  f <- apply(f, 2L, function(f) f - stratum_peaks(problem, risk, f))
  f[!is_at_risk(risk), ] <- -Inf
  S <- over_sums(risk, parts, w * exp(f))$all
  colSums(parts$part * log(S / (parts$weight[parts$of] * parts$share))) -
    colSums(w[parts$died] * f[parts$died, , drop = FALSE])
}

# Prediction ---------------------------------------------------------------------------------------

# The cumulative baseline hazards of strata, from the linear predictor f of the training rows: a
# table of stratum, time and hazard, that of a row with f = 0.
cox_baseline <- function(problem, f) {
  risk <- risk_sets(problem)
  parts <- cox_sums(problem, risk)
  a <- ifelse(is_at_risk(risk), problem$rows$weight * exp(f), 0)
  S <- over_sums(risk, parts, matrix(a))$all[, 1L]
  hazard <- rowsum(parts$part / S, parts$of)
  stratum <- strata_of(problem)[parts$died[match(seq_along(risk$first), parts$moment)]]
  data.frame(stratum = stratum, time = risk$time,
             hazard = within_strata(risk, hazard)[, 1L])
}
