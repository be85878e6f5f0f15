# Properties of rows: censored times and the working response that replaces them, strata, and when
# rows are at risk.

# Censored times -----------------------------------------------------------------------------------

# A Surv response of the survival package, coded as code_response() codes any other, but without
# `y`. coded_times() makes `y`, as it depends on the weights.
code_times <- function(y, name, task) {
  stop_input_if(identical(task, "classification"),
                "`task = \"classification\"` needs classes, but `%s` has censored times", name)
  check_times(y, name)
  late <- identical(attr(y, "type"), "counting")
  list(y = NULL, task = "regression", levels = NULL,
       times = c(if (late) list(start = unname(y[, "start"])),
                 list(time = unname(y[, if (late) "stop" else "time"]),
                      event = unname(y[, "status"]) == 1)))
}

# Refuses intervals that Surv() has left out, which it only warns of.
check_intervals <- function(y, name) {
  if (!inherits(y, "Surv") || !identical(attr(y, "type"), "counting")) return(invisible())
  bad <- which(is.na(y[, "start"]) & !is.na(y[, "stop"]) | y[, "start"] >= y[, "stop"])
  stop_input_if(length(bad),
                "`%s` has %s whose start is missing or not before its stop (first: row %d): %s",
                name, counted(length(bad), "interval"), bad[1L], "leave these rows out")
}

check_times <- function(y, name) {
  type <- attr(y, "type")
  stop_input_if(!type %in% c("right", "counting"), "`%s` must be %s or %s, not of type \"%s\"",
                name, "right-censored times, Surv(time, status)",
                "intervals, Surv(start, stop, status)", type)
  # Surv() itself refuses intervals that end before they start
  if (type == "counting") return(invisible())
  bad <- which(y[, "time"] <= 0)
  if (length(bad)) {
    times <- y[, "time"]
    hint <- if (any(times > 0) && all(times >= 0)) {
      sprintf("give half of the shortest other time, %s, or leave these rows out",
              shown_parameter(min(times[times > 0]) / 2))
    } else {
      "leave these rows out"
    }
    stop_input("`%s` must have times above 0, as their logarithm is taken, but %s %s: %s", name,
               if (length(bad) == 1L) "1 time is" else sprintf("%d times are", length(bad)),
               sprintf("not (first: row %d, %s)", bad[1L], format(times[bad[1L]])), hint)
  }
}

is_survival <- function(problem) !is.null(problem$rows$event)

# Whether rows enter late, by Surv(start, stop, status). Their times have no working response.
is_truncated <- function(problem) !is.null(problem$rows$start)

# The response of a problem of censored times: whether a row has an event for a Cox model, otherwise
# the working response.
response_of_times <- function(problem) {
  coded_times(problem$rows, problem$rows$weight, problem$coding$response, is_cox(problem))
}

# The working response of times for these weights. For an event it is minus the logarithm of the
# time. For a censored row it is minus the mean logarithm of the times beyond its own, by the
# Kaplan-Meier curve of the training rows. With `events`, and of intervals, it is the event.
coded_times <- function(times, weights, name, events = FALSE) {
  trained <- weights > 0
  stop_input_if(!any(times$event[trained]),
                "`%s` has no event in the %s trained on: every time is censored", name,
                counted(sum(trained), "row"))
  if (events || !is.null(times$start)) return(matrix(as.double(times$event)))
  log_time <- log(times$time)
  curve <- kaplan_meier(times, weights)
  # the mass beyond each time, and the sum of mass times log time there
  place <- findInterval(times$time, curve$time)
  beyond <- c(rev(cumsum(rev(curve$mass))), 0)[place + 1L]
  sums <- c(rev(cumsum(rev(curve$mass * log(curve$time)))), 0)[place + 1L]
  matrix(-ifelse(times$event | beyond <= 0, log_time, pmax(sums / beyond, log_time)))
}

# The distribution of times by Kaplan and Meier: the mass at each time of the rows of positive
# weight. The mass left after the last event is put on the largest time (Efron 1967).
kaplan_meier <- function(times, weights) {
  rows <- weights > 0
  time <- sort(unique(times$time[rows]))
  at <- match(times$time[rows], time)
  total <- function(w) as.vector(rowsum(w, at))
  leaving <- total(weights[rows])
  events <- total(weights[rows] * times$event[rows])
  at_risk <- rev(cumsum(rev(leaving)))
  curve <- cumprod(1 - events / at_risk)
  mass <- c(1, curve[-length(curve)]) - curve
  mass[length(mass)] <- mass[length(mass)] + curve[length(curve)]
  list(time = time, mass = mass)
}

# Strata -------------------------------------------------------------------------------------------

# Strata have baseline hazards of their own, so that rows are compared within a stratum alone.

is_stratified <- function(problem) !is.null(problem$rows$stratum)

# the stratum of each row as a number
strata_of <- function(problem) {
  if (is_stratified(problem)) as.integer(problem$rows$stratum) else rep(1L, nrow(problem))
}

# Whether the logarithms of the times say all of them: without late entry and strata.
has_plain_times <- function(problem) !is_truncated(problem) && !is_stratified(problem)

# Refuses data with late entry or strata, for what works on log times.
refuse_for_log_times <- function(problem, who, instead = "l1_path(loss = \"cox\")") {
  stop_input_if(is_truncated(problem), "%s works on the logarithms of times, not on %s: take %s",
                who, "intervals Surv(start, stop, status)", instead,
                class = "sparsels_error_truncation")
  stop_input_if(is_stratified(problem), "%s does not take `strata`: take %s, or `adjust`", who,
                instead, class = "sparsels_error_strata")
}

# Cox ----------------------------------------------------------------------------------------------

# A problem as a Cox model takes it has the events as its response, no intercept, and in `coding`
# how ties are dealt with.

is_cox <- function(problem) !is.null(problem$coding$ties)

# When the rows of positive weight are at risk. The times with an event are moments, which are
# numbered from 0, stratum by stratum. `first` is the first moment of the stratum of each moment. A
# row is at risk at the moments from `from` to before `to`, and at its own `event`, otherwise -1.
# `late` is whether rows enter after the first moment of their stratum.
risk_sets <- function(problem) {
  rows <- problem$rows
  start <- if (is_truncated(problem)) rows$start else rep(-Inf, nrow(problem))
  trained <- which(rows$weight > 0)
  from <- to <- integer(nrow(problem))
  event <- rep(-1L, nrow(problem))
  first <- time <- NULL
  late <- FALSE
  for (own in split(trained, strata_of(problem)[trained])) {
    died <- own[rows$event[own]]
    moments <- sort(unique(rows$time[died]))
    before <- length(first)
    from[own] <- before + findInterval(start[own], moments)
    to[own] <- before + findInterval(rows$time[own], moments)
    to[died] <- event[died] <- to[died] - 1L
    late <- late || any(from[own] > before & (from[own] < to[own] | event[own] >= 0L))
    first <- c(first, rep(before, length(moments)))
    time <- c(time, moments)
  }
  list(first = as.integer(first), from = from, to = to, event = event, late = late, time = time)
}

# the same as C reads it
risk_input <- function(problem) {
  risk <- risk_sets(problem)
  risk$late <- as.integer(risk$late)
  c(risk[c("first", "from", "to", "event", "late")],
    efron = as.integer(problem$coding$ties == "efron"))
}

# whether more than the rows of its events are at risk at each moment
informs <- function(problem, risk = risk_sets(problem)) {
  count <- length(risk$first)
  tied <- tabulate(risk$event + 1L, count)
  rows <- risk$from < risk$to
  changes <- tabulate(risk$from[rows] + 1L, count + 1L) - tabulate(risk$to[rows] + 1L, count + 1L)
  cumsum(changes)[seq_len(count)] > 0L | tied > 1L
}
