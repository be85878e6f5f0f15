# The terms of a model with curves: their shapes in words, their table and their picture.

# The parts of terms ------------------------------------------------------------------------------

# The part of the variable `name` in the predictions of a model at x, 0 if it is not in the model.
# `curves` are the curves of the training rows of the model.
part_of_term <- function(problem, model, name, x, curves = problem$curves) {
  of <- which(source_names(problem)[model$features] == name)
  if (!length(of)) return(0 * x)
  beta <- model$beta[of, 1L]
  if (is.null(curves[[name]])) return(beta * (x - problem$columns$centre[model$features[of]]))
  # of a curve the parts of its directions about their means, of which 0 is the line
  curve <- curves[[name]]
  direction <- problem$columns$direction[model$features[of]]
  columns <- curve_columns(curve, x)
  centre <- c(curve$centre, curve$means)
  there <- direction < ncol(columns)
  about <- columns - rep(centre[seq_len(ncol(columns))], each = length(x))
  drop(about[, direction[there] + 1L, drop = FALSE] %*% beta[there])
}

# The part of the pair at a place in the predictions at x, a matrix of its two columns by name, of
# mean 0 in the training rows. 0 where a value is missing.
pair_part <- function(problem, model, place, x) {
  of <- which(problem$columns$pair[model$features] == place)
  columns <- model$features[of]
  values <- pair_columns(problem$pairs, x, some_rows(problem$columns, columns))
  about <- values - rep(problem$columns$centre[columns], each = nrow(values))
  part <- drop(about %*% model$beta[of, 1L])
  ifelse(is.na(part), 0, part)
}

# Shapes ------------------------------------------------------------------------------------------

# The shape of a function with these values at x, in order, with %s for the name of the variable. It
# rises, falls, peaks, dips or waves, and the place is where it turns, or where it begins or ends to
# change, which is one place of a step. Swings of less than a tenth of the range do not count.
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
  if (signif(begins, 2L) == signif(ends, 2L)) {
    return(paste(if (up) "rises" else "falls", "at %s =", shown_parameter(signif(ends, 2L))))
  }
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
  pair <- top$kind == "pair"
  each <- sprintf("%s (%s)", top$shape[!pair], top$kind[!pair])
  pairs <- if (any(pair)) paste(if (sum(pair) == 1L) "pair" else "pairs",
                                paste(top$term[pair], collapse = ", "))
  alone <- if (length(each)) paste(each, collapse = ", ")
  say(response, " ", if (is.null(alone)) "depends on the ", paste(c(alone, pairs), collapse = "; "),
      if (nrow(terms) > most) sprintf(", and %d more in fit$terms", nrow(terms) - most))
}

# Table -------------------------------------------------------------------------------------------

# A fit with `terms`, a table of the terms of its chosen model, if the problem has curves or pairs:
# the name of the `term`, its `kind`, "curve", "line", "steps", "hinges" or "pair", its `error` as a
# line, held out, relative to the error of the model, its `shape`, the standard deviation of its
# part (`spread`), and the range of its values (`from`, `to`). A curve is a line if the held-out
# error without its directions, at the same lambda, is no higher. Steps and hinges remain what they
# are. The error of a pair is the error without it. `error_at` gives the error of some columns at a
# lambda. Of many rows `products` are known (R/fit-products.R).
with_terms <- function(fit, problem, error_at, products = NULL) {
  wanted <- has_terms(problem) && fit$size > 0L && ncol(problem$rows$y) == 1L
  if (!wanted || fit$status == "interrupted") return(fit)
  model <- model_of(fit)
  lambda <- chosen_row(fit)$refit_lambda
  if (is.null(lambda) || is.na(lambda)) lambda <- fit$lambda
  error_of <- function(features) {
    if (length(features)) error_at(features, lambda) else fit$path$squared[1L]
  }
  own <- error_of(model$features)
  sources <- source_names(problem)[model$features]
  rows <- lapply(unique(sources), function(name) {
    pair <- match(name, pair_names(problem$pairs))
    if (!is.na(pair)) {
      error <- error_of(model$features[sources != name]) / own
      place <- problem$columns$pair[model$features]
      spread <- part_moments(problem, model, place %in% pair, products = products)$spread
      return(list(term = name, kind = "pair", error = error, shape = "pair", spread = spread,
                  from = NA_real_, to = NA_real_))
    }
    line <- match(name, problem$columns$name)
    directions <- setdiff(model$features[sources == name], line)
    as_line <- union(setdiff(model$features, directions), line)
    error <- if (length(directions)) error_of(as_line) / own else 1
    at_threshold <- is_threshold(problem)[directions]
    kind <- if (isTRUE(error > 1)) "curve" else "line"
    if (any(at_threshold)) {
      kind <- thresholds_in(problem$curves[[name]])$basis
      if (!all(at_threshold)) kind <- paste("curve and", kind)
    }
    c(list(term = name, kind = kind, error = error),
      term_shape(problem, model, name, kind, products))
  })
  fit$terms <- do.call(rbind, lapply(rows, as.data.frame))
  seal(fit)
}

# The shape of the part of a variable between its 5 % and 95 % points, its spread and its range. A
# line rises or falls as the part does on the whole.
term_shape <- function(problem, model, name, kind, products) {
  trained <- trained_places(problem)
  line <- match(name, problem$columns$name)
  x <- problem$x[trained, line] + 0
  moments <- part_moments(problem, model, source_names(problem)[model$features] == name, line,
                          products)
  range <- range(x)
  shape <- if (moments$along >= 0) "rises with %s" else "falls with %s"
  if (kind != "line") {
    ends <- range(knots_of(x, problem$rows$weight[trained], 2L, c(0.05, 0.95)))
    grid <- seq(ends[1L], ends[2L], length.out = 201L)
    value <- part_of_term(problem, model, name, grid)
    if (any(value != value[1L])) shape <- shape_of(grid, value)
  }
  list(shape = sprintf(shape, name), spread = moments$spread, from = range[1L], to = range[2L])
}

# What some columns `of` a model add to its scores of the training rows: its standard deviation
# (`spread`), and the weighted sum of its products with a column, the `line`, about its mean. Both
# follow from the products of the columns.
part_moments <- function(problem, model, of, line = NULL, products = NULL) {
  features <- model$features[of]
  beta <- model$beta[of, 1L]
  total <- sum(problem$rows$weight)
  if (!is.null(products)) {
    places <- outer(products$variables[c(features, line)], products$variables[features],
                    packed_place)
    beta <- beta * problem$columns$scale[features]
    along <- matrix(products$of[places, products$folds + 1L], nrow(places)) %*% beta
    return(list(spread = sqrt(max(0, sum(beta * along[seq_along(beta)])) / total),
                along = along[-seq_along(beta)]))
  }
  own <- list(features = features, beta = as.matrix(beta),
              covariates = matrix(0, ncol(problem$z), 1L))
  trained <- trained_places(problem)
  w <- problem$rows$weight[trained]
  part <- as.vector(model_scores(list(own), problem))[trained] -
    sum(problem$columns$centre[features] * beta)
  x <- if (!is.null(line)) problem$x[trained, line] - problem$columns$centre[line]
  list(spread = sqrt(sum(w * part^2) / total), along = sum(w * part * x))
}

# Picture -----------------------------------------------------------------------------------------

# Every term of the chosen model over its range, with a band of two standard errors over the models
# without each fold, and pairs as areas of equal height. Of training rows that are given again there
# is a rug and a point for each row, the term plus the residual of the row held out, and pairs are
# drawn where rows are near.
terms_picture <- function(fit, newdata = NULL, most = 12L, ...) {
  stop_argument_if(is.null(fit$terms),
                   "`what = \"terms\"` is for greedy_rls() with curves (`smooth`), of one response")
  terms <- utils::head(fit$terms, check_count(most, "most"))
  model <- model_of(fit)
  is_pair <- terms$kind == "pair"
  alone <- terms[!is_pair, ]
  pieces <- lapply(seq_len(nrow(alone)), function(i) {
    x <- seq(alone$from[i], alone$to[i], length.out = 101L)
    value <- part_of_term(fit$problem, model, alone$term[i], x)
    se <- part_error(fit, alone$term[i], x)
    data.frame(term = alone$term[i], x = x, value = value, lower = value - 2 * se,
               upper = value + 2 * se)
  })
  points <- if (!is.null(newdata)) term_points(fit, model, alone$term, newdata)
  pairs <- lapply(terms$term[is_pair], pair_surface, fit, model, newdata)
  if (length(pairs)) pieces <- lapply(pieces, cbind, x2 = NA_real_)
  data <- do.call(rbind, c(pieces, lapply(pairs, `[[`, "data")))
  ends <- if (length(pieces)) scale_of_terms(do.call(rbind, pieces), points)
  heights <- pretty(range(unlist(lapply(pairs, function(pair) pair$data$value)), 0, na.rm = TRUE),
                    10L)
  panels <- c(lapply(seq_along(pieces), function(i) {
    term_panel(pieces[[i]], points[[i]], alone[i, ], ends, fit$problem$coding$response, list(...))
  }), lapply(pairs, pair_panel, heights, list(...)))
  panels <- panels[order(c(which(!is_pair), which(is_pair)))]
  names(panels) <- vapply(panels, function(panel) panel$settings$main, "")
  columns <- ceiling(sqrt(length(panels)))
  new_panels(data, panels, grid = c(ceiling(length(panels) / columns), columns),
             mar = c(if (length(pairs)) 4 else 2.5, 4, 2.2, 1), shared = !length(pairs))
}

# The ends of the scale of curves and lines. A band may leave it where rows are few.
scale_of_terms <- function(data, points) {
  ends <- range(data$value, unlist(lapply(points, function(one) {
    stats::quantile(one$y, c(0.01, 0.99), names = FALSE)
  })))
  beyond <- diff(ends) / 4
  c(max(min(data$lower, ends), ends[1L] - beyond), min(max(data$upper, ends), ends[2L] + beyond))
}

# The part of a pair on a grid of its two columns: a list of `data`, with a row for each cell
# (`term`, `x`, `x2`, `value`), NA where no row is near, the `names` of the columns, and the `rows`.
pair_surface <- function(name, fit, model, newdata, cells = 40L) {
  problem <- fit$problem
  place <- match(name, pair_names(problem$pairs))
  names <- paired_names(problem$pairs, place)
  rows <- if (!is.null(newdata))
    training_values(problem, newdata, match(names, problem$columns$name))
  sides <- lapply(names, function(one) {
    range <- problem$pairs$basis[[one]]$range
    range[1L] + (seq_len(cells) - 0.5) / cells * diff(range)
  })
  grid <- as.matrix(expand.grid(sides))
  colnames(grid) <- names
  value <- pair_part(problem, model, place, grid)
  if (!is.null(rows)) value[!is_near_rows(rows, sides)] <- NA
  data <- data.frame(term = name, x = grid[, 1L], value = value, lower = NA_real_,
                     upper = NA_real_, x2 = grid[, 2L])
  list(data = data, names = names, rows = rows, sides = sides)
}

# Whether a row is within a tenth of both sides of each point of the grid of two sides.
is_near_rows <- function(rows, sides) {
  rows <- rows[stats::complete.cases(rows), , drop = FALSE]
  cell <- vapply(1:2, function(j) {
    findInterval(rows[, j], (sides[[j]][-1L] + utils::head(sides[[j]], -1L)) / 2) + 1L
  }, integer(nrow(rows)))
  taken <- unique(matrix(cell, ncol = 2L))
  points <- expand.grid(lapply(sides, seq_along))
  squares <- outer(points[, 1L], taken[, 1L], `-`)^2 + outer(points[, 2L], taken[, 2L], `-`)^2
  apply(squares, 1L, min) <= (length(sides[[1L]]) / 10)^2
}

term_panel <- function(piece, points, term, ends, response, asked) {
  rows <- if (!is.null(points)) {
    inside <- points[points$y >= ends[1L] & points$y <= ends[2L], ]
    c(as_layer("points", inside$x, inside$y, col = "#00000033", cex = 0.5),
      as_layer("segments", points$x, rep(ends[1L], nrow(points)), x2 = points$x,
               y2 = rep(ends[1L] + 0.03 * diff(ends), nrow(points)), col = "#00000055"))
  }
  layers <- c(as_layer("line", piece$x, piece$value, col = "#0072B2", lwd = 2, main = TRUE), rows,
              as_layer("band", piece$x, pmin(pmax(piece$lower, ends[1L]), ends[2L]),
                       y2 = pmin(pmax(piece$upper, ends[1L]), ends[2L]), col = "#0072B240"),
              # the scale, also where panels beside this one have others
              as_layer("points", piece$x[1L], ends, col = "#00000000"))
  new_picture(piece, layers, list(main = sprintf("%s (%s)", term$term, term$kind),
                                  xlab = "", ylab = paste("part of", response),
                                  ylim = ends), asked, axes = list())
}

# The panel of a pair: cells in colours of their height, blue below and orange above 0, lines of
# equal height with their values, and the rows. `heights` are the same for all pairs.
pair_panel <- function(pair, heights, asked) {
  rows <- if (!is.null(pair$rows)) {
    as_layer("points", pair$rows[, 1L], pair$rows[, 2L], col = "#00000055", cex = 0.35)
  }
  cells <- pair$data[!is.na(pair$data$value), ]
  middle <- (heights[-1L] + heights[-length(heights)]) / 2
  colours <- blended(c("#0072B2", "#FFFFFF", "#D55E00"), (middle / max(abs(heights)) + 1) / 2)
  colour <- colours[findInterval(cells$value, heights, all.inside = TRUE)]
  half <- vapply(pair$sides, function(side) diff(side[1:2]) / 2, 0)
  cells <- as_layer("rects", cells$x - half[1L], cells$x2 - half[2L], x2 = cells$x + half[1L],
                    y2 = cells$x2 + half[2L], col = colour, border = colour)
  new_picture(pair$data, c(height_lines(pair, heights), rows, cells),
              list(main = sprintf("%s (pair)", pair$data$term[1L]), xlab = pair$names[1L],
                   ylab = pair$names[2L]), asked, axes = list())
}

# Lines of equal height. Longer ones have the height in a gap in their middle.
height_lines <- function(pair, heights) {
  lines <- grDevices::contourLines(pair$sides[[1L]], pair$sides[[2L]],
                                   matrix(pair$data$value, length(pair$sides[[1L]])),
                                   levels = heights)
  x <- lapply(lines, `[[`, "x")
  y <- unlist(lapply(lines, `[[`, "y"))
  count <- lengths(x)
  long <- count > 12L
  middle <- (cumsum(count) - count %/% 2L)[long]
  gap <- c(middle - 1L, middle, middle + 1L)
  c(as_layer("text", unlist(x)[middle], y[middle], cex = 0.7,
             text = vapply(lines[long], function(line) format(line$level), "")),
    as_layer("line", replace(unlist(x), gap, NA), y, group = rep(seq_along(lines), count),
             col = "#00000066"))
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
  x <- training_values(problem, newdata, match(names, problem$columns$name))
  residual <- drop(problem$rows$y - kept_values(fit, "held_out"))
  Map(function(name, j) {
    there <- which(!is.na(x[, j]))
    data.frame(x = x[there, j],
               y = part_of_term(problem, model, name, x[there, j]) + residual[there])
  }, names, seq_along(names))
}

# Columns of the data at some places in the training rows, given again.
training_values <- function(problem, newdata, places) {
  x <- as.matrix(new_values(problem, newdata, places))
  if (nrow(x) == nrow(problem)) return(x)
  stop_newdata("`newdata` must have the %d training rows of the fit, not %d", nrow(problem),
               nrow(x))
}
