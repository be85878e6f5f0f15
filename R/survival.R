# Censored times, and the working response that replaces them.

# The response ------------------------------------------------------------------------------------

# A Surv response of the survival package, coded as code_response() codes any other, but without
# `y`. working_times() makes `y`, as it depends on the weights.
code_times <- function(y, name, task) {
  if (identical(task, "classification")) {
    stop_input(sprintf("`task = \"classification\"` needs classes, but `%s` has censored times",
                       name))
  }
  check_times(y, name)
  list(y = NULL, task = "regression", levels = NULL,
       survival = data.frame(time = unname(y[, "time"]), event = unname(y[, "status"]) == 1))
}

check_times <- function(y, name) {
  type <- attr(y, "type")
  if (!identical(type, "right")) {
    stop_input(sprintf("`%s` must be right-censored times, Surv(time, status), not of type \"%s\"",
                       name, type))
  }
  bad <- which(y[, "time"] <= 0)
  if (length(bad)) {
    stop_input(sprintf("`%s` must have times above 0, as their logarithm is taken, %s %s", name,
                       sprintf("but that of row %d is", bad[1L]), format(y[bad[1L], "time"])))
  }
}

# the times of some rows, or NULL
times_of <- function(problem, rows) {
  if (is_survival(problem)) list2DF(lapply(problem$survival, `[`, rows))
}

is_survival <- function(problem) !is.null(problem$survival)

# The problem with the working response for its weights. For an event it is minus the logarithm of
# the time. For a censored row it is minus the mean logarithm of the times beyond its own, by the
# Kaplan-Meier curve of the training rows.
with_working_times <- function(problem, name = problem$response) {
  if (!is_survival(problem)) return(problem)
  trained <- problem$weights > 0
  if (!any(problem$survival$event[trained])) {
    stop_input(sprintf("`%s` has no event in the %s trained on: every time is censored", name,
                       counted(sum(trained), "row")))
  }
  problem$y <- matrix(-expected_log_times(problem$survival, problem$weights))
  problem
}

expected_log_times <- function(survival, weights) {
  log_time <- log(survival$time)
  curve <- kaplan_meier(survival, weights)
  # the mass beyond each time, and the sum of mass times log time there
  place <- findInterval(survival$time, curve$time)
  beyond <- c(rev(cumsum(rev(curve$mass))), 0)[place + 1L]
  sums <- c(rev(cumsum(rev(curve$mass * log(curve$time)))), 0)[place + 1L]
  ifelse(survival$event | beyond <= 0, log_time, pmax(sums / beyond, log_time))
}

# The distribution of times by Kaplan and Meier: the mass at each time of the rows of positive
# weight. The mass left after the last event is put on the largest time (Efron 1967).
kaplan_meier <- function(survival, weights) {
  rows <- weights > 0
  time <- sort(unique(survival$time[rows]))
  at <- match(survival$time[rows], time)
  total <- function(w) as.vector(rowsum(w, at))
  leaving <- total(weights[rows])
  events <- total(weights[rows] * survival$event[rows])
  at_risk <- rev(cumsum(rev(leaving)))
  curve <- cumprod(1 - events / at_risk)
  mass <- c(1, curve[-length(curve)]) - curve
  mass[length(mass)] <- mass[length(mass)] + curve[length(curve)]
  list(time = time, mass = mass)
}

# Words -------------------------------------------------------------------------------------------

survival_words <- function(problem) {
  events <- sum(problem$survival$event)
  sprintf("%s, censored times, %s in %s", shortened(problem$response, 60L),
          counted(events, "event"), counted(nrow(problem), "row"))
}
