# The terms of a model with curves: their shapes in words, and their picture.

# The parts of terms ------------------------------------------------------------------------------

# The part of a curve in the predictions at x, of mean 0 in the training rows, from the coefficients
# of some of its directions (0 for the line).
curve_part <- function(curve, direction, beta, x) {
  columns <- curve_columns(curve, x)
  centre <- c(curve$centre, -curve$origin * curve$scale)
  there <- direction < ncol(columns)
  about <- columns - rep(centre[seq_len(ncol(columns))], each = length(x))
  drop(about[, direction[there] + 1L, drop = FALSE] %*% beta[there])
}

# The part of the variable `name` in the predictions of a model at x, 0 if it is not in the model.
# `curves` are the curves of the training rows of the model.
part_of_term <- function(problem, model, name, x, curves = problem$curves) {
  of <- which(source_names(problem)[model$features] == name)
  if (!length(of)) return(0 * x)
  beta <- model$beta[of, 1L]
  if (is.null(curves[[name]])) return(beta * (x - problem$columns$centre[model$features[of]]))
  curve_part(curves[[name]], problem$columns$direction[model$features[of]], beta, x)
}

# Shapes ------------------------------------------------------------------------------------------

# The shape of a function with these values at x, in order, with %s for the name of the variable. It
# rises, falls, peaks, dips or waves, and the place is where it turns, or where it begins or ends to
# change. Swings of less than a tenth of the range do not count.
shape_of <- function(x, value) {
  if (all(value == value[1L])) return("does not change with %s")
  turns <- turning_points(value, diff(range(value)) / 10)
  if (length(turns) > 1L) return("waves with %s")
  if (length(turns) == 1L) {
    return(paste(if (value[turns] > value[1L]) "peaks" else "dips", "at %s =",
                 shown_parameter(signif(x[turns], 2L))))
  }
  up <- value[length(value)] >= value[1L]
  height <- if (up) value else -value
  near <- diff(range(value)) / 10
  begins <- x[max(which(height <= min(height) + near))]
  ends <- x[min(which(height >= max(height) - near))]
  place <- (c(begins, ends) - x[1L]) / (x[length(x)] - x[1L])
  paste0(if (up) "rises" else "falls", " with %s",
         if (place[1L] > 0.3) paste(" from", shown_parameter(signif(begins, 2L)), "on"),
         if (place[2L] < 0.7) paste(" up to", shown_parameter(signif(ends, 2L))))
}

# The places where values turn: extremes from which they move back by more than `swing` on both
# sides.
turning_points <- function(value, swing) {
  turns <- integer()
  highest <- lowest <- 1L
  up <- NA
  for (i in seq_along(value)[-1L]) {
    if (value[i] > value[highest]) highest <- i
    if (value[i] < value[lowest]) lowest <- i
    if (!isFALSE(up) && value[i] < value[highest] - swing) {
      if (isTRUE(up)) turns <- c(turns, highest)
      up <- FALSE
      lowest <- i
    } else if (!isTRUE(up) && value[i] > value[lowest] + swing) {
      if (isFALSE(up)) turns <- c(turns, lowest)
      up <- TRUE
      highest <- i
    }
  }
  turns
}

# The sentence about the terms of a fit, the most important of them.
print_terms <- function(fit, most = 8L) {
  terms <- fit$terms
  if (is.null(terms)) return(invisible())
  levels <- fit$problem$coding$levels
  response <- if (length(levels) == 2L) sprintf("the score of '%s'", short_class(levels[2L])) else
    fit$problem$coding$response
  top <- utils::head(terms, most)
  each <- sprintf("%s (%s)", mapply(sprintf, top$shape, top$term), top$kind)
  say(response, " ", paste(each, collapse = ", "),
      if (nrow(terms) > most) sprintf(", and %d more in fit$terms", nrow(terms) - most))
}

# Picture -----------------------------------------------------------------------------------------

# Every term of the chosen model over its range, with a band of two standard errors over the models
# without each fold. Of training rows that are given again there is a rug and a point for each row,
# the term plus the residual of the row held out.
terms_picture <- function(fit, newdata = NULL, most = 12L, ...) {
  if (is.null(fit$terms)) {
    stop_argument("`what = \"terms\"` is for greedy_rls() with curves (`smooth`), of one response")
  }
  most <- check_count(most, "most")
  terms <- utils::head(fit$terms, most)
  model <- model_of(fit)
  pieces <- lapply(seq_len(nrow(terms)), function(i) {
    x <- seq(terms$from[i], terms$to[i], length.out = 101L)
    value <- part_of_term(fit$problem, model, terms$term[i], x)
    se <- part_error(fit, terms$term[i], x)
    data.frame(term = terms$term[i], x = x, value = value, lower = value - 2 * se,
               upper = value + 2 * se)
  })
  points <- if (!is.null(newdata)) term_points(fit, model, terms$term, newdata)
  data <- do.call(rbind, pieces)
  ends <- range(data$lower, data$upper, unlist(lapply(points, function(one) {
    stats::quantile(one$y, c(0.01, 0.99), names = FALSE, na.rm = TRUE)
  })))
  panels <- lapply(seq_along(pieces), function(i) {
    term_panel(pieces[[i]], points[[i]], terms[i, ], ends, fit$problem$coding$response, list(...))
  })
  names(panels) <- vapply(panels, function(panel) panel$settings$main, "")
  columns <- ceiling(sqrt(length(panels)))
  new_panels(data, panels, grid = c(ceiling(length(panels) / columns), columns),
             mar = c(2.5, 4, 3.8, 1), shared = TRUE)
}

term_panel <- function(piece, points, term, ends, response, asked) {
  rows <- if (!is.null(points)) {
    inside <- points[points$y >= ends[1L] & points$y <= ends[2L], ]
    c(as_layer("points", inside$x, inside$y, col = "#00000033", cex = 0.5),
      as_layer("segments", points$x, rep(ends[1L], nrow(points)), x2 = points$x,
               y2 = rep(ends[1L] + 0.03 * diff(ends), nrow(points)), col = "#00000055"))
  }
  layers <- c(as_layer("line", piece$x, piece$value, col = "#0072B2", lwd = 2, main = TRUE), rows,
              as_layer("band", piece$x, piece$lower, y2 = piece$upper, col = "#0072B240"))
  new_picture(piece, layers, list(main = sprintf("%s (%s)", term$term, term$kind),
                                  xlab = "", ylab = paste("part of", response),
                                  ylim = ends), asked, axes = list())
}

# The jackknife's standard error of the part of a term at x, from the models without each fold, 0
# without such models.
part_error <- function(fit, name, x) {
  kept <- fit$fold_models
  if (is.null(kept)) return(0 * x)
  parts <- vapply(seq_along(kept$models), function(k) {
    part_of_term(fit$problem, kept$models[[k]], name, x, kept$state[[k]]$curves)
  }, x)
  count <- ncol(parts)
  sqrt((count - 1) / count * rowSums((parts - rowMeans(parts))^2))
}

# For each term its values in the training rows and its part plus the held-out residual of the row.
term_points <- function(fit, model, names, newdata) {
  problem <- fit$problem
  places <- match(names, problem$columns$name)
  x <- as.matrix(new_values(problem, newdata, places))
  if (nrow(x) != nrow(problem)) {
    stop_newdata("`newdata` must have the %d training rows of the fit, not %d", nrow(problem),
                 nrow(x))
  }
  residual <- drop(problem$rows$y - kept_values(fit, "held_out"))
  Map(function(name, j) {
    there <- which(!is.na(x[, j]))
    data.frame(x = x[there, j],
               y = part_of_term(problem, model, name, x[there, j]) + residual[there])
  }, names, seq_along(names))
}
