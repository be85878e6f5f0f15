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
                "`loss = \"cox\"` has no intercept to leave out: leave out `intercept`, or - 1")
  stop_input_if(!any(informs(problem)),
                "every event of `%s` is of a row that is at risk alone: it compares nothing",
                problem$coding$response)
  problem$coding$ties <- ties
  problem$rows$y <- response_of_times(problem)
  without_intercept(problem, threads)
}

# The problem without its intercept, whose place the baseline hazard or the cutpoints take. The
# other covariates remain independent of each other, except within strata.
without_intercept <- function(problem, threads) {
  problem$coding$intercept <- FALSE
  problem$z <- problem$z[, colnames(problem$z) != "(Intercept)", drop = FALSE]
  problem <- compile_rows(problem)
  stop_aliased(problem$compiled$covariates$aliased, problem, " within the strata")
  if (is.null(problem$x)) problem else measure_columns(problem, threads = threads)
}

# The problem of log times of a Cox problem.
as_log_times <- function(problem) {
  problem$coding$ties <- NULL
  problem$coding$intercept <- TRUE
  problem$z <- cbind("(Intercept)" = rep(1, nrow(problem)), problem$z)
  problem$rows$y <- response_of_times(problem)
  usable <- problem$columns$usable
  problem <- measure_columns(compile_rows(problem), part = TRUE)
  problem$columns$usable <- problem$columns$usable & usable
  problem
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
  decay <- ifelse(c(diff(risk$first) == 0L, FALSE), exp(c(diff(level), 0)), 0)
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
  offset <- row_offset(problem)
  scale <- cox_scale(parts, w, f + offset)
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
      value <- if (problem$coding$ties == "efron" || parts$risk$late)
        cox_mixture(parts, scale, w, s) else
          cox_conjugate(parts, w, (1 - s) * died + s * mean)
      value - s * sum((died - mean) * offset)
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

# The held-out deviance of Verweij and van Houwelingen (1993): the deviance of all rows less the
# deviance of the training rows, for each model of these. Its weight counts the events held out.
cox_held_out <- function(problem, train, scores) {
  # half the deviance of each column of scores, 0 without an event
  half <- function(problem) {
    if (!any(problem$rows$event & problem$rows$weight > 0)) return(numeric(ncol(scores)))
    rows <- list(response = as.vector(problem$rows$y), root_w = sqrt(problem$rows$weight),
                 risk = risk_input(problem))
    .Call(C_l1_losses, rows, "cox", as.matrix(scores) + row_offset(problem))
  }
  held <- problem$rows$weight - train$rows$weight
  rbind(2 * (half(problem) - half(train)), sum(held * problem$rows$event))
}

# Prediction ---------------------------------------------------------------------------------------

# The cumulative baseline hazards of strata, from the linear predictor f of the training rows: a
# table of stratum, time and hazard of a row with f = 0 and an offset of 0.
cox_baseline <- function(problem, f) {
  parts <- cox_sums(problem, risk_sets(problem))
  scale <- cox_scale(parts, problem$rows$weight, f + row_offset(problem))
  S <- over_sums(parts, scale, scale$a)$all[, 1L]
  hazard <- rowsum(parts$part / S, parts$of)[, 1L] * exp(-scale$level)
  first <- match(seq_along(parts$risk$first), parts$moment)
  data.frame(stratum = strata_of(problem)[parts$died[first]], time = parts$risk$time,
             hazard = stats::ave(hazard, parts$risk$first, FUN = cumsum))
}

# Ordered classes ----------------------------------------------------------------------------------

# Ordered classes by cumulative links in plain R, for their records in `losses`: value, slopes,
# curvature and dual values. src/l1-ordinal.c has the same.

# A link: the distribution function `p`, its quantiles `q`, and `of_rows(u, l, width)` of the ends u
# and l of the classes of rows at their linear predictors, -Inf of the first class and Inf of the
# last (rows x models). It gives the loss `each`, minus its derivative by u, `above`, and its
# derivative by l, `below`, and how much of the second derivatives goes with the linear predictor,
# `bent_above` and `bent_below`. The rest of these is the product of both slopes. `dual(s, terms)`
# is the conjugate of each row at s times the slopes.
ordinal_links <- list(
  logit = list(
    p = stats::plogis, q = stats::qlogis,
    of_rows = function(u, l, width) {
      above <- stats::plogis(-u)
      below <- stats::plogis(l)
      lean <- 1 / expm1(width)
      list(each = soft_plus(-u) + soft_plus(l) - log(-expm1(-width)), above = above + lean,
           below = below + lean, bent_above = above * (1 - above), bent_below = below * (1 - below))
    },
    dual = function(s, terms) {
      A <- s * terms$below
      B <- s * terms$above
      q <- 2 * A * B / (sqrt(1 + 4 * A * B) + 1)
      minus_entropy <- function(p) xlogx(p) + xlogx(1 - p)
      (1 + q) * log1p(q) - xlogx(q) - minus_entropy(A - q) - minus_entropy(B - q)
    }
  ),
  probit = list(
    p = stats::pnorm, q = stats::qnorm,
    # by the tail in which the digits are, or by the density where a class is narrow
    of_rows = function(u, l, width) {
      upper <- l > 0
      high <- stats::pnorm(ifelse(upper, -l, u), log.p = TRUE)
      low <- stats::pnorm(ifelse(upper, -u, l), log.p = TRUE)
      each <- ifelse(width < 1e-5, -stats::dnorm((u + l) / 2, log = TRUE) - log(width),
                     -high - log1p(-exp(low - high)))
      above <- exp(each + stats::dnorm(u, log = TRUE))
      below <- exp(each + stats::dnorm(l, log = TRUE))
      inside <- function(values, slope) replace(values, slope == 0, 0)
      list(each = each, above = above, below = below,
           bent_above = inside(above * (above - below + u), above),
           bent_below = inside(below * (below - above - l), below),
           dual = each + inside(above * u, above) - inside(below * l, below))
    },
    # a lower bound, as the conjugate is 0 at 0 and convex
    dual = function(s, terms) s * terms$dual
  )
)

link_of <- function(problem) ordinal_links[[problem$coding$link]]

# The problem of ordered classes. Their numbers are the response, and the cutpoints between the
# classes take the place of an intercept.
as_ordinal <- function(problem, link = "logit", threads = 1L) {
  coding <- problem$coding
  if (has_cutpoints(problem)) {
    problem$coding$link <- link
    return(problem)
  }
  stop_input_if(is.null(coding$ordered) || length(coding$levels) < 3L,
                "`loss = \"ordinal\"` needs three or more ordered classes, but `y` has %s",
                if (!is.null(coding$ordered)) "two: take \"logistic\"" else
                  if (coding$task == "regression") "none: give it as an ordered factor" else
                    "classes without order: give it as an ordered factor")
  stop_input_if(!coding$intercept,
                "`loss = \"ordinal\"` has no intercept to leave out: leave out `intercept`, or - 1")
  stop_argument_if(!is.null(coding$class_weights),
                   "`loss = \"ordinal\"` takes no `class_weights`, which would move the cutpoints")
  problem$rows$y <- matrix(as.double(class_index(problem)))
  coding$classes <- coding$levels
  coding[c("task", "levels", "link")] <- list("regression", NULL, link)
  problem$coding <- coding
  without_intercept(problem, threads)
}

# The cutpoints that are best for linear predictors f (rows x models), cutpoints x models, by
# Newton's method with steps that are halved while they lead upwards.
best_cutpoints <- function(problem, f) {
  w <- problem$rows$weight
  below <- cumsum(crossprod(of_classes(problem), w))
  cuts <- outer(link_of(problem)$q(below[-length(below)] / sum(w)), colSums(w * f) / sum(w), `+`)
  now <- ordinal_terms(problem, f, cuts)
  own <- w * of_classes(problem)
  for (iteration in 1:100) {
    # Newton's step of the cutpoints (cutpoints x models)
    slope <- below_cuts(own, now$above) - above_cuts(own, now$below)
    step <- solve_cutpoints(own, now, slope)
    by <- rep(1, ncol(f))
    for (halving in 1:60) {
      then <- ordinal_terms(problem, f, cuts + rep(by, each = nrow(cuts)) * step)
      up <- !(then$loss <= now$loss * (1 + 1e-12))
      if (!any(up)) break
      by[up] <- by[up] / 2
    }
    cuts <- cuts + rep(by, each = nrow(cuts)) * step
    now <- then
    # twice what the step promised for each model, of which the last step gives all digits
    if (!any(colSums(slope * step) > 1e-18 * sum(w))) break
  }
  cuts
}

# whether each row is of each class
of_classes <- function(problem) {
  outer(problem$rows$y[, 1L], seq_along(problem$coding$classes), `==`) + 0
}

# The terms of the loss that the link has of rows (rows x models), and the loss of all rows for each
# model, Inf where cutpoints do not ascend.
ordinal_terms <- function(problem, f, cuts) {
  f <- as.matrix(f)
  class <- problem$rows$y[, 1L]
  ends <- rbind(-Inf, cuts, Inf)
  width <- diff(ends)
  crossed <- colSums(!(width > 0)) > 0
  width[, crossed] <- 1
  terms <- link_of(problem)$of_rows(ends[class + 1L, , drop = FALSE] - f,
                                    ends[class, , drop = FALSE] - f,
                                    width[class, , drop = FALSE])
  c(terms, list(loss = ifelse(crossed, Inf, colSums(problem$rows$weight * terms$each))))
}

# Sums over the rows below each cutpoint, and over those above it (cutpoints x models).
below_cuts <- function(own, values) crossprod(own, values)[-ncol(own), , drop = FALSE]
above_cuts <- function(own, values) crossprod(own, values)[-1L, , drop = FALSE]

# The inverse of the curvature by the cutpoints, which is tridiagonal, times x (cutpoints x models).
# `own` has the weights of rows in their classes. Where no row is near a cutpoint it has next to
# none.
solve_cutpoints <- function(own, terms, x) {
  total <- colSums(own)
  last <- length(total)
  both <- terms$above * terms$below
  pivot <- below_cuts(own, terms$bent_above + both) + above_cuts(own, terms$bent_below + both) +
    1e-14 * (total[-last] + total[-1L])
  beside <- -below_cuts(own, both)
  for (k in seq_len(last - 1L)[-1L]) {
    ratio <- beside[k, ] / pivot[k - 1L, ]
    pivot[k, ] <- pivot[k, ] - ratio * beside[k, ]
    x[k, ] <- x[k, ] - ratio * x[k - 1L, ]
  }
  x[last - 1L, ] <- x[last - 1L, ] / pivot[last - 1L, ]
  for (k in rev(seq_len(last - 2L))) {
    x[k, ] <- (x[k, ] - beside[k + 1L, ] * x[k + 1L, ]) / pivot[k, ]
  }
  x
}

# Half the deviance at the linear predictor f, as cox_point() has it.
ordinal_point <- function(problem, f) {
  w <- problem$rows$weight
  class <- problem$rows$y[, 1L]
  terms <- ordinal_terms(problem, f, best_cutpoints(problem, as.matrix(f)))
  own <- w * of_classes(problem)
  list(
    loss = terms$loss, slope = (terms$below - terms$above)[, 1L],
    diagonal = w * (terms$bent_above + terms$bent_below)[, 1L],
    curve = function(directions) {
      alike <- lapply(terms, function(part) as.matrix(part)[, rep(1L, ncol(directions))])
      moved <- below_cuts(own, alike$bent_above * directions) +
        above_cuts(own, alike$bent_below * directions)
      cuts <- rbind(0, solve_cutpoints(own, alike, moved), 0)
      w * (alike$bent_above * (directions - cuts[class + 1L, ]) +
             alike$bent_below * (directions - cuts[class, ]))
    },
    dual = function(s) sum(w * link_of(problem)$dual(s, terms))
  )
}

# Measures of rows by the probabilities of their classes, beside the deviance: whether the most
# probable class is another one, how many classes apart it is, and losses of probabilities.
ordinal_errors <- list(
  error = function(problem, p) max.col(p, "first") != class_index(problem),
  absolute = function(problem, p) abs(max.col(p, "first") - class_index(problem)),
  brier = function(problem, p) rowSums((p - of_classes(problem))^2) / 2,
  logloss = function(problem, p) -log(pmax(rowSums(p * of_classes(problem)), .Machine$double.eps))
)

# A measure of each row, with the cutpoints of the training rows, for each model. Without training
# rows the cutpoints are of the rows themselves.
ordinal_each <- function(problem, train, scores, name = "deviance") {
  if (!any(train$rows$weight > 0)) train <- problem
  cuts <- best_cutpoints(train, scores)
  if (name == "deviance") return(2 * ordinal_terms(problem, scores, cuts)$each)
  vapply(seq_len(ncol(scores)), function(l) {
    as.double(ordinal_errors[[name]](problem, ordinal_shares(problem, scores[, l], cuts[, l])))
  }, numeric(nrow(scores)))
}

# The sum of this measure over the rows held out, and their weight, for each model.
ordinal_held_out <- function(problem, train, scores, name = "deviance") {
  held <- problem$rows$weight - train$rows$weight
  rbind(colSums(held * ordinal_each(problem, train, scores, name)), sum(held))
}

# A measure of classes by the cutpoints of the training rows, which no rows alone have. NULL for
# other measures.
ordinal_measure <- function(name, words) {
  if (!name %in% names(ordinal_errors)) return(NULL)
  if (name == "absolute") words <- paste(words, "of the number of the class")
  list(name = name, words = words, higher = FALSE,
       held_out = function(problem, train, scores) ordinal_held_out(problem, train, scores, name),
       sum = function(problem, score) c(0, 0))
}

# Prediction ---------------------------------------------------------------------------------------

# The probabilities of the classes (rows x classes) at linear predictors, for some cutpoints.
ordinal_shares <- function(problem, f, cuts) {
  up_to <- cbind(0, link_of(problem)$p(outer(-f, cuts, `+`)), 1)
  up_to[, -1L, drop = FALSE] - up_to[, -ncol(up_to), drop = FALSE]
}
