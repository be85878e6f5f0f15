# Pictures as data: layers, axes and words. A class describes its picture once, and base graphics or
# ggplot2 draws it.

# The picture of an object. Arguments that the method of a class does not use are graphical
# parameters, which the method passes to new_picture() as `asked`.
picture <- function(x, ...) UseMethod("picture")

#' @exportS3Method
picture.default <- function(x, ...) {
  stop_argument("there is no picture of %s: problems, fits and other results have one", describe(x))
}

# `data` is returned by plot(). `layers` are ordered from the top one to the bottom one. `words` are
# settings of plot.default(), which the settings `asked` of the user replace. `axes` holds the ticks
# of the axes `x`, `y` and `top`: ticks_at(), or "whole" for ticks at whole numbers.
new_picture <- function(data, layers, words, asked = list(), axes = list(x = "whole")) {
  # par() has the same names, but opens a device
  known <- c(names(formals(graphics::plot.default)), get(".Pars", asNamespace("graphics")), styles)
  unknown <- setdiff(names(asked), setdiff(known, "type"))
  stop_argument_if(length(unknown),
                   "unknown argument `%s`: `what` chooses the picture, others are parameters of it",
                   unknown[1L])
  layers <- lapply(layers, function(layer) {
    style <- if (layer$main) intersect(names(asked), styles)
    layer$at[style] <- lapply(asked[style], rep_len, nrow(layer$at))
    layer
  })
  # without a point, such as a column that was ever chosen, the picture is an empty frame
  ends <- function(columns) {
    places <- unlist(lapply(layers, function(layer) layer$at[columns]))
    if (any(is.finite(places))) range(places, finite = TRUE) else c(0, 1)
  }
  given <- c("xlim", "ylim") %in% c(names(words), names(asked))
  limits <- c(if (!given[1L]) list(xlim = ends(c("x", "x2"))),
              if (!given[2L]) list(ylim = ends(c("y", "y2"))))
  settings <- utils::modifyList(c(words, limits), asked)
  list(data = data, layers = layers, axes = axes, settings = settings)
}

styles <- c("col", "lty", "lwd", "pch", "cex", "border")

# Several named pictures, side by side or in `grid` rows and columns. With `named` the first picture
# has names on its vertical axis, which apply to all. `shared` pictures have one vertical scale.
new_panels <- function(data, panels, main = NULL, grid = c(1L, length(panels)), named = FALSE,
                       mar = NULL, shared = named) {
  list(data = data, panels = panels, main = main, grid = grid, named = named, mar = mar,
       shared = shared)
}

# A list of one layer. `...` are its other columns: x2 and y2 (the other ends of segments,
# rectangles and bands), text, group (each is a line), col, lty, lwd, pch, cex and border. Layers of
# the same label share an entry of the legend. `main` tells whether the user's graphical parameters,
# such as col and pch, apply to this layer.
as_layer <- function(kind, x = NA, y = NA, ..., label = NA_character_, main = FALSE) {
  defaults <- list(x2 = NA, y2 = NA, text = NA, group = 1, col = "black", lty = 1, lwd = 1,
                   pch = 16, cex = 1, border = "white")
  at <- c(list(x = x, y = y), utils::modifyList(defaults, list(...)))
  places <- c("x", "y", "x2", "y2")
  at[places] <- lapply(at[places], as.double)
  rows <- if (all(lengths(at))) max(lengths(at)) else 0L
  list(list(kind = kind, at = list2DF(lapply(at, rep_len, rows)), label = label, main = main))
}

# A curve with marks and bars at no more than 31 places, so that a long path is legible. `style` has
# a colour, a line type and a mark.
curve_layers <- function(x, data, style, label = NA_character_) {
  line <- as_layer("line", x, data$mean, col = style$colour, lty = style$line, lwd = 2,
                   label = label)
  if (is.na(style$mark)) return(line)
  some <- seq(1, length(x), by = ceiling(length(x) / 31))
  c(as_layer("points", x[some], data$mean[some], col = style$colour, pch = style$mark, cex = 0.8,
             label = label),
    as_layer("segments", x[some], data$lower[some], x2 = x[some], y2 = data$upper[some],
             col = grDevices::adjustcolor(style$colour, 0.6)),
    line)
}

ticks_at <- function(at, labels) list(at = at, labels = labels)

# names at 1, 2, ... of an axis
ticks_of <- function(names) c(ticks_at(seq_along(names), names), named = TRUE)

whole_ticks <- function(ticks) ticks[ticks == round(ticks)]

# The entries of the legend: NA where an entry has no line, mark or filled area.
legend_keys <- function(layers) {
  labels <- vapply(layers, `[[`, "", "label")
  kinds <- list(line = c("line", "segments", "across", "up"), mark = "points",
                area = c("band", "rects", "boxes"))
  rows <- lapply(unique(labels[!is.na(labels)]), function(label) {
    drawn <- Filter(function(layer) nrow(layer$at) > 0L, layers[labels %in% label])
    if (!length(drawn)) return(NULL)
    first <- function(kinds, column) {
      found <- Filter(function(layer) layer$kind %in% kinds, drawn)
      if (length(found)) found[[1L]]$at[[column]][1L] else NA
    }
    data.frame(label = label, col = drawn[[1L]]$at$col[1L], lty = first(kinds$line, "lty"),
               lwd = first(kinds$line, "lwd"), pch = first(kinds$mark, "pch"),
               area = first(kinds$area, "col"))
  })
  do.call(rbind, rows)
}

# Heights of the names beside points of these heights, at least `gap` apart and not above `top`.
# With `up` no name is lower than its point.
names_heights <- function(height, gap, top, up) {
  if (!up) return(spread_labels(height, gap))
  steps <- gap * rank(-height, ties.method = "first")
  sorted <- order(steps)
  heights <- replace(height, sorted, rev(cummax(rev((height + steps)[sorted])))) - steps
  heights - max(0, heights - top + gap)
}

# Heights near the wanted ones and at least `gap` apart.
spread_labels <- function(height, gap) {
  if (length(height) < 2L) return(height)
  sorted <- order(height)
  # x - gap * (its rank) must not decrease, and the nearest such sequence is the isotonic regression
  steps <- gap * seq_along(height)
  replace(height, sorted, stats::isoreg(height[sorted] - steps)$yf + steps)
}

# Base graphics -----------------------------------------------------------------------------------

# The data of a picture, drawn on the device. R refuses devices that are too small. The picture is
# made first: an error in it is none of the device.
draw_made <- function(p) {
  force(p)
  user_value(draw_base(p), "the picture cannot be drawn on this device")
  invisible(p$data)
}

draw_base <- function(p) {
  if (!is.null(p$panels)) return(draw_panels(p))
  named <- Filter(function(side) is_named(p$axes[[side]]), c("x", "y"))
  if (length(named)) {
    mar <- graphics::par("mar")
    for (side in named) {
      most <- 0.4 * graphics::par("fin")[match(side, c("y", "x"))]
      p$axes[[side]]$labels <- names_within(p$axes[[side]]$labels, most)
    }
    lines <- vapply(named, function(side) {
      names_inches(p$axes[[side]]$labels) / graphics::par("csi") + 1.4 + 1.4 * (side == "x")
    }, 0)
    old <- graphics::par(mar = replace(mar, match(named, c("x", "y")), lines))
    on.exit(graphics::par(old))
  }
  draw_frame(p)
}

is_named <- function(axis) is.list(axis) && isTRUE(axis$named)

names_inches <- function(names) max(0, graphics::strwidth(names, "inches", cex = 0.8))

# Names in at most so many inches: longer ones without their middle.
names_within <- function(names, inches) {
  names <- as.character(names)
  width <- max(0L, nchar(names))
  while (width > 9L && names_inches(shortened(names, width, width %/% 3L)) > inches) {
    width <- width - 1L
  }
  shortened(names, width, width %/% 3L)
}

draw_frame <- function(p) {
  settings <- p$settings
  own <- c("main", "border", "ylab")
  if (is_named(p$axes$x)) settings$xlab <- ""
  free <- function(side) if (is.null(p$axes[[side]])) "s" else "n"
  frame <- list(x = NA, type = "n", xaxt = free("x"), yaxt = free("y"), ylab = "")
  do.call(graphics::plot.default, utils::modifyList(frame, settings[setdiff(names(settings), own)]))
  for (layer in rev(p$layers)) draw_layer(layer)
  graphics::box()
  draw_axes(p)
  # the title stands above the two lines that legend_above() may require, where there is room
  graphics::title(settings$main, line = min(2.4, graphics::par("mar")[3L] - 1.4),
                  cex.main = fitting_size(settings$main, 1L, 1.1, font = 2))
  size <- c(settings$cex.lab, graphics::par("cex.lab"))[1L]
  do.call(graphics::title, c(settings[intersect(names(settings), c("ylab", "col.lab", "font.lab"))],
                             cex.lab = fitting_size(settings$ylab, 2L, size)))
  keys <- legend_keys(p$layers)
  if (is.null(keys)) return(invisible())
  filled <- !is.na(keys$area)
  legend_above(keys$label, col = keys$col, pch = ifelse(filled, 15, keys$pch), lty = keys$lty,
               lwd = keys$lwd, pt.cex = ifelse(filled, 2, 1), seg.len = 2.5)
}

draw_axes <- function(p) {
  axes <- p$axes
  if (identical(axes$x, "whole")) {
    at <- whole_ticks(graphics::axTicks(1))
    axes$x <- ticks_at(at, at)
  }
  for (side in c("x", "y")) {
    axis <- axes[[side]]
    if (is_named(axis)) {
      graphics::axis(match(side, c("x", "y")), axis$at, axis$labels, las = 2, tick = FALSE,
                     cex.axis = 0.8, xpd = NA)
    } else if (length(axis$at)) {
      graphics::axis(match(side, c("x", "y")), axis$at, axis$labels)
    }
  }
  if (is_named(axes$x)) {
    graphics::title(xlab = p$settings$xlab, line = graphics::par("mar")[1L] - 1.2)
  }
  if (!is.null(axes$top)) {
    graphics::axis(3, axes$top$at, axes$top$labels, tcl = 0.25, mgp = c(0, -1.3, 0), cex.axis = 0.8)
  }
}

draw_layer <- function(layer) {
  at <- layer$at
  if (!nrow(at)) return()
  with(at, switch(layer$kind,
    line = for (one in split(at, group)) {
      graphics::lines(one$x, one$y, col = one$col[1L], lty = one$lty[1L], lwd = one$lwd[1L])
    },
    points = graphics::points(x, y, col = col, pch = pch, cex = cex, lwd = lwd),
    segments = graphics::segments(x, y, x2, y2, col = col, lty = lty, lwd = lwd),
    band = graphics::polygon(c(x, rev(x)), c(y, rev(y2)), col = col[1L], border = NA),
    across = graphics::abline(h = y, col = col, lty = lty, lwd = lwd),
    up = graphics::abline(v = x, col = col, lty = lty, lwd = lwd),
    text = graphics::text(x, y, text, col = col, cex = cex),
    names = {
      height <- names_heights(y, 1.4 * graphics::strheight("M", cex = 0.85),
                              graphics::par("usr")[4L], group[1L] == "up")
      graphics::segments(x, y, x2, height, col = "#BBBBBB")
      graphics::text(x2, height, text, pos = 4, offset = 0.2, cex = 0.85, col = col)
    },
    rects = {
      graphics::rect(x, y, x2, y2, col = col, border = border)
      # texts that would be too small to read are left out
      size <- 0.9 / max(graphics::strwidth(text), 1.5 * graphics::strheight(text))
      if (!all(is.na(text)) && size > 0.4) {
        graphics::text((x + x2) / 2, (y + y2) / 2, text, cex = min(size, 0.8), col = text_on(col))
      }
    },
    boxes = graphics::boxplot(split(x, y), at = sort(unique(y)), horizontal = TRUE, add = TRUE,
                              axes = FALSE, col = grDevices::adjustcolor(col[1L], 0.4),
                              border = border[1L], boxwex = 0.28)
  ))
}

# the text colour that is legible on other colours
text_on <- function(colours) {
  light <- as.vector(c(0.3, 0.6, 0.1) %*% grDevices::col2rgb(colours))
  ifelse(light > 128, "black", "white")
}

draw_panels <- function(p) {
  # without layout settings of the user, whose margins are made for one picture
  old <- graphics::par(no.readonly = TRUE)
  on.exit(graphics::par(old))
  graphics::par(mfrow = p$grid)
  if (!is.null(p$mar)) graphics::par(mar = p$mar)
  if (p$named) {
    names <- names_within(p$panels[[1L]]$axes$y$labels, 0.4 * graphics::par("din")[1L])
    p$panels[[1L]]$axes$y$labels <- names
    graphics::par(mar = c(4.5, 0.5, 4.1, 1), omi = c(0, names_inches(names) + 0.2, 0, 0))
  }
  for (panel in p$panels) if (p$named) draw_frame(panel) else draw_base(panel)
  graphics::mtext(p$main, line = -1.3, outer = TRUE, font = 2)
}

# The width (1) or height (2) of the picture about the middle of the frame.
centred_inches <- function(along) {
  graphics::par("pin")[along] + 2 * min(graphics::par("mai")[c(3L - along, 5L - along)])
}

# The size of a text as wanted, or smaller where it would leave the picture. Sizes of fonts are
# rounded.
fitting_size <- function(text, along, size, ...) {
  long <- max(0, graphics::strwidth(text, "inches", cex = size, ...))
  size * min(1, 0.93 * centred_inches(along) / long)
}

# The legend between the title and the frame, outside the data. A legend too long for one line has
# two lines, and a smaller font if it would still leave the picture.
legend_above <- function(text, ...) {
  place <- function(columns, size, plot = TRUE) {
    graphics::legend("bottom", paste0(text, "  "),
      ncol = columns, plot = plot, bty = "n", cex = size, xpd = NA, inset = c(0, 1), ...
    )
  }
  size <- 0.85
  # coordinates of the frame, outside which there are margins
  width <- function(columns) {
    place(columns, size, plot = FALSE)$rect$w / diff(graphics::par("usr")[1:2])
  }
  widest <- centred_inches(1L) / graphics::par("pin")[1L]
  columns <- if (width(length(text)) > 1) ceiling(length(text) / 2) else length(text)
  place(columns, size * min(1, widest / width(columns)))
}

# ggplot2 -----------------------------------------------------------------------------------------

draw_gg <- function(p) {
  stop_input_if(!is.data.frame(p$data), "ggplot2 draws the parts of the object one by one")
  panels <- if (is.null(p$panels)) list(p) else p$panels
  titles <- if (is.null(p$panels)) "" else names(panels)
  layers <- unlist(Map(function(panel, title) {
    lapply(panel$layers, function(layer) {
      layer$at$panel <- factor(rep(title, nrow(layer$at)), titles)
      layer
    })
  }, panels, titles), recursive = FALSE)
  keys <- legend_keys(layers)
  drawn <- ggplot2::ggplot(p$data)
  for (layer in rev(layers)) drawn <- drawn + gg_layer(layer, keys, p$settings$ylim)
  words <- panels[[1L]]$settings
  drawn + gg_legend(keys) + gg_axes(panels[[1L]]) + ggplot2::theme(legend.position = "bottom") +
    if (length(panels) > 1L) {
      same <- length(unique(lapply(panels, function(panel) panel$settings$xlab))) == 1L
      list(ggplot2::facet_wrap("panel", scales = if (p$shared) "free_x" else "free"),
           ggplot2::labs(title = p$main, x = if (!p$named && same) words$xlab, y = NULL))
    } else {
      list(ggplot2::coord_cartesian(xlim = words$xlim, ylim = words$ylim),
           ggplot2::labs(title = if (is.null(p$main)) words$main else p$main))
    }
}

# the aesthetics of the geom of each kind of layer
gg_styles <- list(
  line = c("colour", "linetype", "linewidth"), segments = c("colour", "linetype", "linewidth"),
  across = c("colour", "linetype", "linewidth"), up = c("colour", "linetype", "linewidth"),
  points = c("colour", "shape", "size"), band = "fill", rects = c("fill", "border"),
  boxes = c("fill", "border", "orientation", "width", "alpha"), text = c("colour", "size")
)

gg_layer <- function(layer, keys, ylim) {
  at <- layer$at
  # geom_path() refuses lines of one row
  if (layer$kind == "line") at <- at[at$group %in% at$group[duplicated(at$group)], ]
  if (!nrow(at)) return(NULL)
  at$label <- layer$label
  .data <- ggplot2::.data
  styles <- gg_styles[[layer$kind]]
  mapped <- if (!is.na(layer$label)) intersect(styles, c("colour", "linetype", "shape", "fill"))
  values <- list(colour = at$col, linetype = at$lty, linewidth = at$lwd / 2.2, shape = at$pch,
                 size = 2 * at$cex + 1 * (layer$kind == "text"), fill = at$col, border = at$border,
                 orientation = "y", width = 0.28, alpha = 0.4)
  constant <- lapply(values[setdiff(styles, mapped)], function(value) {
    if (length(unique(value)) == 1L) value[1L] else value
  })
  names(constant)[names(constant) == "border"] <- "colour"
  geom <- function(name, ..., key = "path") {
    of_label <- ggplot2::aes(colour = .data$label, linetype = .data$label, shape = .data$label,
                             fill = .data$label)
    places <- list(utils::modifyList(ggplot2::aes(...), of_label[mapped]), at)
    glyph <- if (length(mapped)) own_glyph(key, keys[keys$label == layer$label, ], mapped)
    do.call(getExportedValue("ggplot2", paste0("geom_", name)),
            c(places, constant, if (length(mapped)) list(key_glyph = glyph)))
  }
  switch(layer$kind,
    line = geom("path", .data$x, .data$y, group = .data$group),
    points = geom("point", .data$x, .data$y, key = "point"),
    segments = geom("segment", .data$x, .data$y, xend = .data$x2, yend = .data$y2),
    band = geom("ribbon", .data$x, ymin = .data$y, ymax = .data$y2, key = "rect"),
    across = geom("hline", yintercept = .data$y),
    up = geom("vline", xintercept = .data$x, key = "vline"),
    text = geom("text", .data$x, .data$y, label = .data$text),
    names = gg_names(at, ylim),
    rects = list(
      geom("rect", xmin = .data$x, xmax = .data$x2, ymin = .data$y, ymax = .data$y2, key = "rect"),
      if (!all(is.na(at$text))) {
        ggplot2::geom_text(ggplot2::aes((.data$x + .data$x2) / 2, (.data$y + .data$y2) / 2,
                                        label = .data$text), at, size = 2.5,
                           colour = text_on(at$col))
      }
    ),
    boxes = geom("boxplot", .data$x, .data$y, group = .data$y, key = "rect")
  )
}

# The glyph of a layer in the legend: ggplot2 would draw the glyphs of all layers in each entry.
own_glyph <- function(kind, key, mapped) {
  draw <- getExportedValue("ggplot2", paste0("draw_key_", kind))
  values <- list(colour = key$col, fill = key$area, shape = key$pch, linetype = key$lty)[mapped]
  function(data, params, size) {
    # a scale gives line types as text, which draw_key_path() would take for a pattern
    same <- all(vapply(mapped, function(name) as.character(values[[name]]) %in% data[[name]], NA))
    data[mapped] <- values
    if (same) draw(data, params, size) else ggplot2::zeroGrob()
  }
}

gg_names <- function(at, ylim) {
  at$height <- names_heights(at$y, 0.045 * diff(ylim), ylim[2L], at$group[1L] == "up")
  .data <- ggplot2::.data
  list(ggplot2::geom_segment(ggplot2::aes(.data$x, .data$y, xend = .data$x2, yend = .data$height),
                             at, colour = "#BBBBBB"),
       ggplot2::geom_text(ggplot2::aes(.data$x2, .data$height, label = paste0(" ", .data$text)), at,
                          colour = at$col, hjust = 0, size = 3))
}

gg_legend <- function(keys) {
  if (is.null(keys)) return(NULL)
  columns <- if (sum(nchar(keys$label) + 6) > 90) 2 else nrow(keys)
  scale <- function(name, values) {
    make <- getExportedValue("ggplot2", sprintf("scale_%s_manual", name))
    make(NULL, values = stats::setNames(values, keys$label), limits = keys$label,
         guide = ggplot2::guide_legend(ncol = columns))
  }
  list(scale("colour", keys$col), scale("fill", keys$area), scale("shape", keys$pch),
       scale("linetype", keys$lty))
}

gg_axes <- function(p) {
  words <- p$settings
  ticks <- function(side, scale, ...) {
    axis <- p$axes[[side]]
    if (identical(axis, "whole")) return(scale(breaks = function(ends) whole_ticks(pretty(ends))))
    if (!is.null(axis)) scale(breaks = axis$at, labels = axis$labels, ...)
  }
  top <- p$axes$top
  second <- if (is.null(top)) ggplot2::waiver() else
    ggplot2::dup_axis(name = "columns", breaks = top$at, labels = top$labels)
  list(
    ggplot2::labs(subtitle = words$sub, x = words$xlab, y = words$ylab),
    ticks("x", ggplot2::scale_x_continuous, sec.axis = second),
    ticks("y", ggplot2::scale_y_continuous),
    if (is_named(p$axes$x)) ggplot2::theme(
      axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5)
    )
  )
}

# Shared words and styles --------------------------------------------------------------------------

plot_title <- function(x) {
  sprintf("%s: %s, %s", x$method, x$problem$coding$response, data_words(x$problem))
}

mark_colour <- "#D55E00"

# colours between some colours, at shares of the way from the first to the last
blended <- function(colours, share) {
  grDevices::rgb(grDevices::colorRamp(colours)(share), maxColorValue = 255)
}

data_words <- function(problem) {
  # directions of curves and pairs are not columns of the data
  columns <- ncol(problem) - sum(problem$columns$direction > 0L) - sum(problem$columns$pair > 0L,
                                                                       na.rm = TRUE)
  sprintf("%s x %s", counted(nrow(problem), "row"), counted(columns, "column"))
}

# a single curve
plain_style <- list(colour = "#0072B2", line = 1, mark = 1)

with_bars <- function(data) {
  se <- ifelse(is.na(data$se), 0, data$se)
  data$lower <- data$mean - se
  data$upper <- data$mean + se
  data
}
