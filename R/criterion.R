# The criteria a search can minimise or maximise, and what they are called.

# A criterion as every fitter holds it. The kernel minimises a loss: `to_value()` turns it into the
# user's figure.
as_criterion <- function(criterion, problem, folds) {
  if (is.function(criterion)) return(user_criterion(criterion, problem, folds))
  check_choice(criterion, "criterion", c("squared", "error", "absolute", "auc"))
  if (criterion == "error" && problem$task == "regression") {
    stop_input(paste("`criterion = \"error\"` needs classes, but the response is numeric:",
                     "give it as a factor, or use \"squared\" or \"absolute\""))
  }
  if (criterion == "auc") check_auc(problem, folds)
  higher <- criterion == "auc"
  words <- c(squared = "squared error", error = "error rate", absolute = "absolute error",
             auc = "AUC")
  scheme <- if (higher && folds$loo) "leave-pair-out" else folds$label
  list(name = criterion, code = match(criterion, c("squared", "error", "absolute", "auc")) - 1L,
       higher = higher, label = held_out_label(words[[criterion]], scheme), judge = NULL)
}

# "leave-one-out squared error", "held-out squared error (10-fold, stratified)"
held_out_label <- function(figure, scheme) {
  if (startsWith(scheme, "leave-") && !grepl(" ", scheme)) return(paste(scheme, figure))
  sprintf("held-out %s (%s)", figure, scheme)
}

check_auc <- function(problem, folds) {
  if (problem$task != "binary") {
    stop_input(sprintf("`criterion = \"auc\"` needs a response with two classes, not %s",
                       if (problem$task == "regression") "numbers" else "more"))
  }
  if (folds$loo) return(invisible())
  classes <- problem$y[, 1L] > 0
  mixed <- function(ids) any(tapply(classes, ids, function(one) any(one) && !all(one)))
  both <- apply(folds$ids, 2L, mixed)
  if (!all(both)) stop_input("`criterion = \"auc\"` needs a fold with rows of both classes")
}

user_criterion <- function(criterion, problem, folds) {
  better <- attr(criterion, "better", exact = TRUE)
  if (is.null(better)) better <- "lower"
  check_choice(better, "attr(criterion, \"better\")", c("lower", "higher"))
  if (length(formals(args(criterion))) < 3L) {
    stop_input("a `criterion` function must take three arguments: y, prediction, fold")
  }
  sign <- if (better == "higher") -1 else 1
  plain <- function(values) if (ncol(values) == 1L) values[, 1L] else values
  judge <- function(residual, repetition) {
    prediction <- problem$y - residual
    value <- criterion(plain(problem$y), plain(prediction), folds$ids[, repetition])
    if (!is_number(value) || !is.finite(value)) {
      stop_input(sprintf("the `criterion` function must return one finite number, not %s",
                         describe(value)))
    }
    sign * value
  }
  list(name = "user", code = 4L, higher = better == "higher",
       label = held_out_label("value of the `criterion` function", folds$label), judge = judge)
}

# The user's figure of a loss of the kernel.
criterion_value <- function(criterion, loss) {
  if (criterion$name == "auc") 1 - loss else if (criterion$higher) -loss else loss
}

# What a search minimises, from the user's figure.
criterion_loss <- function(criterion, value) {
  if (criterion$higher) -value else value
}
