# Predictions of Cox models: survival curves by the baseline hazard of the training rows, and risks
# relative to their average.

# The probabilities that the event of new rows is later than each of some times (rows x times): by
# Breslow's estimate of the baseline hazard, which deals with ties as the model did.
survival_curves <- function(fit, models, score, newdata, times, newstrata) {
  stop_input_if(!is_cox(fit$problem),
                "`type = \"survival\"` needs a fit with `loss = \"cox\"`, which has a hazard")
  stop_argument_if(length(models) > 1L || models[[1L]]$step != model_of(fit)$step,
                   "`type = \"survival\"` is of the chosen lambda, %s, %s",
                   format(fit$lambda, digits = 4),
                   "of which alone the fit has the risks of the training rows")
  baseline <- fit$baseline
  if (is.null(times)) times <- sort(unique(baseline$time))
  valid <- is.numeric(times) && !is.object(times) && length(times) > 0L && all(is.finite(times))
  refuse_unless(valid, "times", "finite numbers", times)
  stratum <- new_strata(fit$problem, newdata, newstrata, nrow(score))
  relative <- score[, 1L, 1L] - reference_score(fit$problem, models[[1L]])
  curves <- matrix(1, nrow(score), length(times),
                   dimnames = list(new_row_names(newdata), format(times, trim = TRUE)))
  for (own in split(seq_len(nrow(score)), stratum)) {
    of <- baseline[baseline$stratum == stratum[own[1L]], ]
    hazard <- c(0, of$hazard)[findInterval(times, of$time) + 1L]
    curves[own, ] <- exp(-exp(outer(relative[own], log(hazard), "+")))
  }
  curves[is.na(relative) | is.na(stratum), ] <- NA
  curves
}

# The stratum of new rows as a number.
new_strata <- function(problem, newdata, newstrata, rows) {
  if (!is_stratified(problem)) {
    stop_argument_if(!is.null(newstrata), "the fit has no strata: `newstrata` cannot be given")
    return(rep(1L, rows))
  }
  if (is.null(newstrata) && inherits(newdata, "sparsels_problem")) newstrata <- newdata$rows$stratum
  code <- problem$coding$strata
  frame <- as_frame(newdata)
  found <- is.null(newstrata) && is.data.frame(frame) && !is.null(code) &&
    all(all.vars(code) %in% names(frame))
  if (found) newstrata <- eval(code, frame, globalenv())
  stop_argument_if(is.null(newstrata),
                   "the fit has strata: give the stratum of each new row as `newstrata`")
  stop_argument_if(length(newstrata) != rows,
                   "`newstrata` must have a value for each of the %d rows, not %d", rows,
                   length(newstrata))
  known <- levels(problem$rows$stratum)
  number <- match(as.character(newstrata), known)
  bad <- which(is.na(number) & !is.na(newstrata))
  stop_argument_if(length(bad), "`newstrata` must be strata of the fit, %s, but is '%s' in row %d",
                   some_of(known), as.character(newstrata)[bad[1L]], bad[1L])
  number
}

# Printing ----------------------------------------------------------------------------------------

# How a Cox model deals with its ties, and its concordance in training where nothing is held out.
print_cox <- function(fit) {
  problem <- fit$problem
  tied <- tabulate(risk_sets(problem)$event + 1L)
  alone <- sum(tied[!informs(problem)])
  shared <- sum(tied[tied > 1L])
  say(sprintf("ties by %s: %s of %s tied%s",
              c(efron = "Efron", breslow = "Breslow")[[problem$coding$ties]],
              if (shared > 0L) shared else "none", counted(sum(tied), "event"),
              if (alone > 0L) sprintf(", %d at risk alone, which compares nothing", alone) else ""))
  if (!is_training(fit)) return(invisible())
  pairs <- ordered_pairs(problem, kept_values(fit, "fitted"))
  say("training concordance ", shown(pairs[1L] / pairs[2L]))
}
