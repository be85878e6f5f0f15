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

link_of <- function(problem) ordinal_links[[problem$coding$ordinal]]

# The problem of ordered classes. Their numbers are the response, and the cutpoints between the
# classes take the place of an intercept.
as_ordinal <- function(problem, link = "logit", threads = 1L) {
  coding <- problem$coding
  if (is_ordinal(problem)) {
    problem$coding$ordinal <- link
    return(problem)
  }
  stop_input_if(is.null(coding$ordered) || length(coding$levels) < 3L,
                "`loss = \"ordinal\"` needs three or more ordered classes, but `y` has %s",
                if (!is.null(coding$ordered)) "two: take \"logistic\"" else
                  if (coding$task == "regression") "none: give it as an ordered factor" else
                    "classes without order: give it as an ordered factor")
  stop_input_if(!coding$intercept,
                "`loss = \"ordinal\"` has no intercept to leave out: leave out `intercept`")
  stop_argument_if(!is.null(coding$class_weights),
                   "`loss = \"ordinal\"` takes no `class_weights`, which would move the cutpoints")
  problem$rows$y <- matrix(as.double(class_index(problem)))
  coding$classes <- coding$levels
  coding[c("task", "levels", "ordinal", "intercept")] <- list("regression", NULL, link, FALSE)
  problem$coding <- coding
  problem$z <- problem$z[, colnames(problem$z) != "(Intercept)", drop = FALSE]
  problem <- compile_rows(problem)
  stop_aliased(problem$compiled$covariates$aliased, problem)
  if (is.null(problem$x)) problem else measure_columns(problem, threads = threads)
}

# The cutpoints that are best for linear predictors f (rows x models), cutpoints x models, by
# Newton's method with steps that are halved while they lead upwards.
best_cutpoints <- function(problem, f) {
  w <- problem$rows$weight
  below <- cumsum(crossprod(of_classes(problem), w))
  start <- link_of(problem)$q(below[-length(below)] / sum(w))
  cuts <- outer(start, colSums(w * f) / sum(w), `+`)
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

# Measures of rows (rows x models) for some cutpoints: twice the loss, whether the most probable
# class is another one, and how many classes apart it is.
ordinal_errors <- list(
  deviance = function(problem, scores, cuts) 2 * ordinal_terms(problem, scores, cuts)$each,
  error = function(problem, scores, cuts) classes_apart(problem, scores, cuts) > 0,
  absolute = function(problem, scores, cuts) classes_apart(problem, scores, cuts)
)

classes_apart <- function(problem, scores, cuts) {
  own <- class_index(problem)
  vapply(seq_len(ncol(scores)), function(l) {
    abs(max.col(ordinal_shares(problem, scores[, l], cuts[, l]), "first") - own)
  }, numeric(length(own)))
}

# A measure of each row, with the cutpoints of the training rows, for each model. Without training
# rows the cutpoints are of the rows themselves.
ordinal_each <- function(problem, train, scores, name = "deviance") {
  if (!any(train$rows$weight > 0)) train <- problem
  ordinal_errors[[name]](problem, scores, best_cutpoints(train, scores))
}

# The sum of this measure over the rows held out, and their weight, for each model.
ordinal_held_out <- function(problem, train, scores, name = "deviance") {
  held <- problem$rows$weight - train$rows$weight
  rbind(colSums(held * ordinal_each(problem, train, scores, name)), sum(held))
}

# A measure of classes by the cutpoints of the training rows, which no rows alone have.
ordinal_measure <- function(name) {
  words <- c(error = "error rate", absolute = "mean absolute error of the number of the class")
  list(name = name, words = words[[name]], higher = FALSE,
       held_out = function(problem, train, scores) ordinal_held_out(problem, train, scores, name),
       sum = function(problem, score) c(0, 0))
}

# Prediction ---------------------------------------------------------------------------------------

# The probabilities of the classes (rows x classes) at linear predictors, for some cutpoints.
ordinal_shares <- function(problem, f, cuts) {
  up_to <- cbind(0, link_of(problem)$p(outer(-f, cuts, `+`)), 1)
  up_to[, -1L, drop = FALSE] - up_to[, -ncol(up_to), drop = FALSE]
}

# A function that gives these probabilities at the cutpoints that are best for the held-out linear
# predictors of some rows.
by_cutpoints <- function(fit, rows) {
  w <- fit$problem$rows$weight
  held <- rows[!is.na(fit$held_out[rows, ])]
  fit$problem$rows$weight <- replace(0 * w, held, w[held])
  cuts <- best_cutpoints(fit$problem, replace(fit$held_out, is.na(fit$held_out), 0))
  function(f) ordinal_shares(fit$problem, f[, 1L], cuts[, 1L])
}
