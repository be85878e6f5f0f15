# The rules of the searches, by retraining for every move that could be made.

# Loss of a set and the squared error that breaks ties.
oracle_score <- function(pb, features, lambda, folds, name) {
  squared <- oracle_squared(pb, features, lambda, folds)
  loss <- squared
  if (name != "squared") loss <- oracle_figure(pb, features, lambda, folds, name)[["value"]]
  c(loss = if (name == "auc") 1 - loss else loss, squared = squared)
}

oracle_beats <- function(x, y, tie = 1e-10) {
  x[["loss"]] < y[["loss"]] - tie ||
    x[["loss"]] <= y[["loss"]] + tie && x[["squared"]] < y[["squared"]] - tie
}

# The best of the moves to `sets`, the first of equals: list(at, score).
oracle_best <- function(sets, score) {
  best <- NULL
  for (at in seq_along(sets)) {
    one <- score(sets[[at]])
    if (is.null(best) || oracle_beats(one, best$score)) best <- list(at = at, score = one)
  }
  best
}

# The signed columns of the moves a search makes: i for adding column i, -i for dropping it.
# `start`: the columns it adds first, or that a backward search begins with.
oracle_search <- function(pb, search, k, lambda, folds, name = "squared", nu = 0.5,
                          start = integer()) {
  score <- function(set) oracle_score(pb, set, lambda, folds, name)
  usable <- which(pb$columns$usable)
  set <- if (search != "backward") integer() else if (length(start)) start else usable
  now <- score(set)
  seen <- list()
  gain <- numeric()
  moves <- integer()
  repeat {
    size <- length(set)
    first <- size + 1 > length(seen) || is.null(seen[[size + 1]])
    if (first || oracle_beats(now, seen[[size + 1]], 0)) seen[[size + 1]] <- now
    if (search != "backward" && length(moves) < length(start)) {
      given <- start[length(moves) + 1]
      moves <- c(moves, given)
      set <- c(set, given)
      before <- now
      now <- score(set)
      gain[size + 1] <- max(before[["loss"]] - now[["loss"]], 4e-10)
      next
    }
    members <- sort(set)
    drop <- oracle_best(lapply(members, function(i) setdiff(set, i)), score)
    dropping <- switch(search,
      forward = FALSE,
      backward = size > 0,
      floating = size > 1 && oracle_beats(drop$score, seen[[size]]),
      forward_backward = size > 1 && gain[size] > 1e-10 &&
        drop$score[["loss"]] - now[["loss"]] <= nu * gain[size]
    )
    if (dropping) {
      moves <- c(moves, -members[drop$at])
      set <- setdiff(set, members[drop$at])
      now <- drop$score
      next
    }
    others <- setdiff(usable, set)
    if (search == "backward" || size == k || !length(others)) return(moves)
    add <- oracle_best(lapply(others, function(i) c(set, i)), score)
    gain[size + 1] <- now[["loss"]] - add$score[["loss"]]
    moves <- c(moves, others[add$at])
    set <- c(set, others[add$at])
    now <- add$score
  }
}

# The same of a fit's path.
signed_moves <- function(path) {
  path <- path[-1, ]
  ifelse(path$action == "add", path$feature, -path$feature)
}

# The sets of columns that move as one: groups of columns, and terms with a factor.
oracle_units <- function(problem) {
  of <- if (is.null(problem$coding$column_groups)) rep(0L, ncol(problem)) else problem$columns$group
  unname(c(split(seq_along(of), replace(of, of == 0L, NA)), as.list(which(of == 0L))))
}

# Each move of a path is to an allowed set, which is the best of these after the moves `given`.
expect_best_moves <- function(fit, problem, given = 0L, is_allowed = function(problem, set) TRUE) {
  all <- Filter(function(unit) all(problem$columns$usable[unit]), oracle_units(problem))
  set <- if (fit$path$size[1L] > 0L) which(problem$columns$usable) else integer()
  for (row in seq_len(nrow(fit$path))[-1L]) {
    adding <- fit$path$action[row] == "add"
    open <- Filter(function(unit) (unit[1L] %in% set) != adding, all)
    moved <- lapply(open, function(unit) if (adding) c(set, unit) else setdiff(set, unit))
    allowed <- vapply(moved, is_allowed, NA, problem = problem)
    taken <- which(vapply(open, function(unit) fit$path$feature[row] %in% unit, NA))
    expect_true(allowed[taken])
    error <- vapply(moved[allowed], function(columns) {
      oracle_figure(problem, columns, fit$lambda, fit$folds, fit$criterion$name)[["value"]]
    }, 0)
    of_taken <- error[match(taken, which(allowed))]
    expect_equal(fit$path$criterion[row], of_taken, tolerance = 1e-9)
    if (row > given + 1L) expect_equal(min(error), of_taken, tolerance = 1e-9)
    if (!is.null(fit$path$columns)) expect_identical(fit$path$columns[row], length(open[[taken]]))
    set <- moved[[taken]]
  }
}
