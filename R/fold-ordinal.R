# Ordered classes by proportional odds in plain R, for their record in `losses`: value, slopes,
# curvature and dual values. src/l1-ordinal.c has the same.

# The problem of ordered classes. Their numbers are the response, and the cutpoints between the
# classes take the place of an intercept.
as_ordinal <- function(problem, ties, threads = 1L) {
  if (is_ordinal(problem)) return(problem)
  coding <- problem$coding
  if (is.null(coding$ordered) || length(coding$levels) < 3L) {
    stop_input("`loss = \"ordinal\"` needs three or more ordered classes, but `y` has %s",
               if (!is.null(coding$ordered)) "two: take \"logistic\"" else
                 if (coding$task == "regression") "none: give it as an ordered factor" else
                   "classes without order: give it as an ordered factor")
  }
  stop_input_if(!coding$intercept,
                "`loss = \"ordinal\"` has no intercept to leave out: leave out `intercept`")
  stop_argument_if(!is.null(coding$class_weights),
                   "`loss = \"ordinal\"` takes no `class_weights`, which would move the cutpoints")
  problem$rows$y <- matrix(as.double(class_index(problem)))
  coding$classes <- coding$levels
  coding[c("task", "levels", "ordinal", "intercept")] <- list("regression", NULL, TRUE, FALSE)
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
  start <- stats::qlogis(below[-length(below)] / sum(w))
  cuts <- outer(start, colSums(w * f) / sum(w), `+`)
  now <- ordinal_terms(problem, f, cuts)
  for (step in 1:100) {
    move <- cutpoint_step(problem, now)
    by <- rep(1, ncol(f))
    for (halving in 1:60) {
      then <- ordinal_terms(problem, f, cuts + rep(by, each = nrow(cuts)) * move$step)
      up <- !(then$loss <= now$loss * (1 + 1e-12))
      if (!any(up)) break
      by[up] <- by[up] / 2
    }
    cuts <- cuts + rep(by, each = nrow(cuts)) * move$step
    now <- then
    # the last step gives all digits
    if (!any(move$promise > 1e-18 * sum(w))) break
  }
  cuts
}

# whether each row is of each class
of_classes <- function(problem) {
  outer(problem$rows$y[, 1L], seq_along(problem$coding$classes), `==`) + 0
}

# The terms of the loss: `above` and `below` (rows x models), the shares s(f - a_k) and
# s(a_(k-1) - f) of a row of class k, `lean` (classes x models), 1 / (exp(width) - 1) of each class,
# the loss of all rows for each model, Inf where cutpoints do not ascend, and of each row.
ordinal_terms <- function(problem, f, cuts) {
  f <- as.matrix(f)
  class <- problem$rows$y[, 1L]
  ends <- rbind(-Inf, cuts, Inf)
  width <- diff(ends)
  crossed <- colSums(!(width > 0)) > 0
  width[, crossed] <- 1
  above <- f - ends[class + 1L, , drop = FALSE]
  below <- ends[class, , drop = FALSE] - f
  each <- soft_plus(above) + soft_plus(below) - log(-expm1(-width))[class, , drop = FALSE]
  list(above = 1 / (1 + exp(-above)), below = 1 / (1 + exp(-below)), lean = 1 / expm1(width),
       each = each, loss = ifelse(crossed, Inf, colSums(problem$rows$weight * each)))
}

# The logarithm of 1 plus the exponential of x.
soft_plus <- function(x) pmax(x, 0) + log1p(exp(-abs(x)))

# Newton's step of the cutpoints (cutpoints x models), and twice what it promises for each model.
cutpoint_step <- function(problem, terms) {
  own <- problem$rows$weight * of_classes(problem)
  total <- colSums(own)
  last <- nrow(terms$lean)
  up <- function(values) crossprod(own, values)[-last, , drop = FALSE]
  down <- function(values) crossprod(own, values)[-1L, , drop = FALSE]
  differ <- function(values) values[-last, , drop = FALSE] - values[-1L, , drop = FALSE]
  slope <- up(terms$above) - down(terms$below) + differ(total * terms$lean)
  step <- solve_cutpoints(problem, terms, slope)
  list(step = step, promise = colSums(slope * step))
}

# The inverse of the curvature by the cutpoints, which is tridiagonal, times x (cutpoints x models).
# Where no row is near a cutpoint it has next to none.
solve_cutpoints <- function(problem, terms, x) {
  own <- problem$rows$weight * of_classes(problem)
  last <- nrow(terms$lean)
  total <- colSums(own)
  bent <- total * terms$lean * (1 + terms$lean)
  pivot <- crossprod(own, terms$above * (1 - terms$above))[-last, , drop = FALSE] +
    crossprod(own, terms$below * (1 - terms$below))[-1L, , drop = FALSE] +
    bent[-last, , drop = FALSE] + bent[-1L, , drop = FALSE] + 1e-14 * (total[-last] + total[-1L])
  beside <- -bent[-last, , drop = FALSE]
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
  above <- terms$above[, 1L]
  below <- terms$below[, 1L]
  lean <- terms$lean[class, 1L]
  bent <- list(above = w * above * (1 - above), below = w * below * (1 - below))
  own <- of_classes(problem)
  last <- ncol(own)
  list(
    loss = terms$loss, slope = below - above, diagonal = bent$above + bent$below,
    curve = function(directions) {
      moved <- crossprod(own, bent$above * directions)[-last, , drop = FALSE] +
        crossprod(own, bent$below * directions)[-1L, , drop = FALSE]
      alike <- lapply(terms[c("above", "below", "lean")],
                      function(part) part[, rep(1L, ncol(directions)), drop = FALSE])
      cuts <- rbind(0, solve_cutpoints(problem, alike, moved), 0)
      bent$above * (directions - cuts[class + 1L, ]) + bent$below * (directions - cuts[class, ])
    },
    dual = function(s) {
      A <- s * (below + lean)
      B <- s * (above + lean)
      q <- 2 * A * B / (sqrt(1 + 4 * A * B) + 1)
      minus_entropy <- function(p) xlogx(p) + xlogx(1 - p)
      sum(w * ((1 + q) * log1p(q) - xlogx(q) - minus_entropy(A - q) - minus_entropy(B - q)))
    }
  )
}

ordinal_measures <- c("concordance", "deviance", "error", "absolute")

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
    abs(max.col(ordinal_shares(scores[, l], cuts[, l]), "first") - own)
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
ordinal_shares <- function(f, cuts) {
  up_to <- cbind(0, stats::plogis(outer(-f, cuts, `+`)), 1)
  up_to[, -1L, drop = FALSE] - up_to[, -ncol(up_to), drop = FALSE]
}

# A function that gives these probabilities at the cutpoints that are best for the held-out linear
# predictors of some rows.
by_cutpoints <- function(fit, rows) {
  w <- fit$problem$rows$weight
  held <- rows[!is.na(fit$held_out[rows, ])]
  fit$problem$rows$weight <- replace(0 * w, held, w[held])
  cuts <- best_cutpoints(fit$problem, replace(fit$held_out, is.na(fit$held_out), 0))
  function(f) ordinal_shares(f[, 1L], cuts[, 1L])
}

cutpoint_names <- function(classes) paste(classes[-length(classes)], classes[-1L], sep = "|")
