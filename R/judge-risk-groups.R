# Rows of censored times in groups of low to high risk, and their Kaplan-Meier curves.

#' Kaplan-Meier curves of risk groups
#'
#' Cuts the rows into groups of low to high risk by predictions of models that were trained without
#' them, and draws the Kaplan-Meier curve of each group. Groups by the fitted values of the rows
#' themselves would differ even if nothing can be predicted.
#'
#' Each row is predicted by the whole procedure, repeated in folds without the row
#' ([cross_validate()], or the choice of the size, see [sparse_fit]). Predictions of different folds
#' come from different models, so groups differ somewhat less than groups by one model on new rows.
#' The risk by a Cox model is about the mean of the rows it was trained on, so that risks by
#' different models are comparable. For a test of whether there is any association see
#' [permutation_test()]: a log-rank test between such groups is not exact, as training sets share
#' rows.
#'
#' @param object The result of [cross_validate()], or a fit whose size was chosen in folds, such as
#'   a fit of [greedy_rls()]; the response must be `Surv(time, status)`.
#' @param groups Number of groups of about equal size, or the quantiles of the risk at which to cut,
#'   between 0 and 1.
#' @return A data frame of class `risk_groups` with a row for each row of the data, where rows of
#'   weight 0 have no part in the cuts: `time`, `event`,
#'   `risk` (the held-out prediction, higher for an earlier event) and `group` (an ordered factor).
#'   `survival::survfit(survival::Surv(time, event) ~ group, data = result)` accepts it. `plot()`
#'   draws the curves, and returns them invisibly: a data frame with `group`, `time`, `surv`.
#' @section Errors: `sparsels_error_input` where the response is not of censored times, where there
#'   are no held-out predictions, or fewer different ones than groups.
#' @seealso [as_problem()] for what stands for censored times
#' @examples
#' if (requireNamespace("survival", quietly = TRUE)) {
#'   set.seed(1)
#'   x <- matrix(rnorm(100 * 30), 100)
#'   time <- exp(-x[, 4] + rnorm(100))
#'   fit <- greedy_rls(x, survival::Surv(pmin(time, 2), time < 2), k = 5)
#'   low_high <- risk_groups(fit)
#'   low_high
#'   plot(low_high)
#' }
#' @export
risk_groups <- function(object, groups = 2) {
  check_given(object, "object")
  check_sealed(object)
  stop_input_if(!is_survival(object$problem), "`object` must be of a response Surv(time, status)")
  stop_input_if(is.null(object$held_out), "`object` has no predictions of rows held out")
  risk <- object$held_out[, 1L]
  trained <- risk[object$problem$rows$weight > 0]
  # as quantiles
  at <- groups
  if (is_number(groups) && groups >= 2 && groups == round(groups)) {
    if (groups > length(trained)) stop_uncut(groups)
    at <- seq_len(groups - 1) / groups
  }
  valid <- is.numeric(at) && length(at) > 0L && all(is.finite(at)) && all(at > 0 & at < 1) &&
    !is.unsorted(at, strictly = TRUE)
  refuse_unless(valid, "groups", "a number of groups, 2 or more, or rising quantiles", groups)
  place <- stats::quantile(trained, at, names = FALSE, na.rm = TRUE, type = 1L)
  ends <- range(trained, na.rm = TRUE)
  if (is.unsorted(c(place, ends[2L]), strictly = TRUE)) stop_uncut(length(at) + 1L)
  group <- findInterval(risk, place, left.open = TRUE) + 1L
  count <- length(place) + 1L
  labels <- if (count == 2L) c("low", "high") else if (count == 3L) c("low", "middle", "high") else
    as.character(seq_len(count))
  result <- data.frame(object$problem$rows[c("time", "event")], risk = risk,
                       group = factor(labels[group], labels, ordered = TRUE))
  rownames(result) <- object$problem$rows$name
  seal(structure(result, class = c("risk_groups", "sparsels_result", "data.frame")))
}

stop_uncut <- function(groups) {
  stop_input("the risks held out cannot be cut into %g groups: too many are equal", groups)
}

#' @exportS3Method
print_result.risk_groups <- function(x, ...) {
  counts <- data.frame(
    group = levels(x$group), rows = as.vector(table(x$group)),
    events = as.vector(tapply(x$event, x$group, sum)),
    median = vapply(split(x, x$group), function(part) {
      curve <- survival_curve(part)
      shown(curve$time[curve$surv <= 0.5 + 1e-12][1L])
    }, "")
  )
  say(counted(nrow(x), "row"), " by the risk held out:")
  print(counts, row.names = FALSE)
}

# The Kaplan-Meier curve of some rows, from 1 at time 0.
survival_curve <- function(part) {
  need_package("survival")
  found <- survival::survfit(survival::Surv(part$time, part$event) ~ 1)
  data.frame(time = c(0, found$time), surv = c(1, found$surv))
}

#' @exportS3Method
record.risk_groups <- function(x) {
  by_group <- function(values) as.vector(tapply(values, x$group, sum))
  list(rows = data.frame(group = factor(levels(x$group), levels(x$group), ordered = TRUE),
                         nobs = by_group(rep(1L, nrow(x))), events = by_group(as.integer(x$event))),
       row = data.frame(groups = nlevels(x$group), nobs = nrow(x), events = sum(x$event)),
       complete = TRUE, meaning = paste("median = time by which half have had the event, by the",
                                        "Kaplan-Meier curve; NA: fewer had it"))
}

#' @exportS3Method
picture.risk_groups <- function(x, ...) {
  curves <- lapply(split(x, x$group), survival_curve)
  data <- do.call(rbind, lapply(names(curves), function(name) {
    data.frame(group = name, curves[[name]])
  }))
  data$group <- factor(data$group, levels(x$group))
  colours <- grDevices::hcl.colors(length(curves) + 1L, "viridis")
  sizes <- sprintf("%s (%d)", levels(x$group), as.vector(table(x$group)))
  steps <- lapply(seq_along(curves), function(i) {
    time <- rep(curves[[i]]$time, each = 2L)[-1L]
    as_layer("line", time, utils::head(rep(curves[[i]]$surv, each = 2L), -1L), col = colours[i],
             lwd = 2, label = sizes[i])
  })
  censored <- x[!x$event, ]
  group <- as.integer(censored$group)
  height <- vapply(seq_along(group), function(i) {
    curve <- curves[[group[i]]]
    curve$surv[findInterval(censored$time[i], curve$time)]
  }, 0)
  layers <- c(
    unlist(steps, recursive = FALSE),
    as_layer("points", censored$time, height, pch = 3, cex = 0.7, col = "grey40",
             label = "censored")
  )
  words <- list(main = "Kaplan-Meier curves by the risk held out", xlab = "time",
                ylab = "share without the event", ylim = c(0, 1))
  new_picture(data, layers, words, list(...), axes = NULL)
}
