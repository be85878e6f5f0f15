# The columns of a search over the processes of a cluster. Each process has a range of columns and
# runs the search on that range. It uses every column that is chosen, from any range (src/greedy.h).
# The calling process has no columns and keeps the path. Only functions of parallel are used, so any
# of its clusters will do.

# What a cluster can search ------------------------------------------------------------------------

check_cluster <- function(cluster) {
  if (is.null(cluster)) return(NULL)
  if (!inherits(cluster, "cluster") || !length(cluster)) {
    refuse("cluster", "NULL or a cluster, such as parallel::makeCluster(2)", cluster)
  }
  cluster
}

check_search_cluster <- function(cluster, control) {
  if (is.null(check_cluster(cluster))) return(NULL)
  plain <- control$search == "forward" && control$criterion$name == "squared" &&
    is.null(control$cost) && control$keep == 0L
  if (!plain) {
    stop_input(paste("`cluster` is for forward search by the squared error, without `cost` and",
                     "`keep`"), "sparsels_error_argument")
  }
  cluster
}

# In the calling process ---------------------------------------------------------------------------

# Gives each worker its columns. `count` is the number of column ranges. Without a cluster, all
# column ranges are in this process.
open_shards <- function(problem, cluster, count) {
  count <- min(count, ncol(problem))
  ends <- as.integer(round(ncol(problem) * seq_len(count) / count))
  shards <- list2env(list(
    cluster = cluster, count = count, to = ends, from = c(0L, ends[-count]) + 1L,
    ids = sprintf("%d-%.6f-%d", Sys.getpid(), as.numeric(Sys.time()), seq_len(count)), lost = NULL
  ), parent = emptyenv())
  shards$workers <- if (is.null(cluster)) "this process" else greet_workers(cluster)
  for (shard in seq_len(count)) {
    columns <- shards$from[shard]:shards$to[shard]
    held <- shard_columns(problem$x, columns)
    if (!is.null(problem$gaps)) held$gaps <- problem$gaps[, columns, drop = FALSE]
    ask_shard(shards, shard, "hold", held)
  }
  shards
}

close_shards <- function(shards) {
  if (is.null(shards)) return(invisible())
  for (shard in seq_len(shards$count)) try(ask_shard(shards, shard, "drop"), silent = TRUE)
}

# The names of the workers in messages. All workers must have this version of the package.
greet_workers <- function(cluster) {
  who <- parallel::clusterCall(cluster, own_words)
  workers <- sprintf("worker %d (%s)", seq_along(who), unlist(who))
  versions <- unlist(parallel::clusterCall(cluster, installed_version))
  ours <- installed_version()
  other <- which(versions != ours)
  if (length(other)) {
    stop_input(sprintf("%s of `cluster` has %s, not version %s as here", workers[other[1L]],
                       if (nzchar(versions[other[1L]])) paste("sparsels", versions[other[1L]]) else
                         "no package sparsels", ours))
  }
  workers
}

# The next two functions run on workers that may not have this package, so they use R alone.
own_words <- function() sprintf("%s, process %d", Sys.info()[["nodename"]], Sys.getpid())
installed_version <- function() {
  tryCatch(as.character(getNamespaceVersion("sparsels")), error = function(e) "")
}
environment(own_words) <- environment(installed_version) <- baseenv()

# The columns of a column range in the form that it takes, and the number of columns before them. A
# file is given as a whole, since each worker opens the file itself.
shard_columns <- function(x, columns) {
  if (is_file_matrix(x)) return(list(x = x, first = columns[1L] - 1L))
  if (is_float_matrix(x)) {
    bytes <- unclass(x)$bytes[float_bytes(nrow(x), columns)]
    part <- list(bytes = bytes, dim = c(nrow(x), length(columns)), dimnames = NULL)
    return(list(x = structure(part, class = "float_matrix"), first = 0L))
  }
  part <- x[, columns, drop = FALSE]
  dimnames(part) <- list(NULL, NULL)
  list(x = part, first = 0L)
}

# The answer of one column range. A first Ctrl-C waits for the answer, since an unread answer would
# be taken for the answer to the next call. A second Ctrl-C does not wait.
ask_shard <- function(shards, shard, action, ...) {
  node <- (shard - 1L) %% max(1L, length(shards$cluster)) + 1L
  in_touch(shards, {
    if (is.null(shards$cluster)) list(answer_shard(shards$ids[shard], action, ...)) else
      parallel::clusterCall(shards$cluster[node], answer_shard, shards$ids[shard], action, ...)
  })[[1L]]
}

# The answers of all column ranges. `each` is a list with the first argument of the action for each
# column range.
ask_shards <- function(shards, action, each, ...) {
  given <- Map(list, shards$ids, each)
  in_touch(shards, {
    if (is.null(shards$cluster)) lapply(given, answer_given, action, ...) else
      parallel::clusterApply(shards$cluster, given, answer_given, action, ...)
  })
}

in_touch <- function(shards, call) {
  stopped <- FALSE
  answers <- withCallingHandlers(
    tryCatch(call, error = function(condition) lose_workers(shards)),
    interrupt = function(condition) {
      if (stopped) return()
      stopped <<- TRUE
      tryInvokeRestart("resume")
    }
  )
  if (stopped) raise_interrupt()
  for (shard in seq_along(answers)) {
    if (inherits(answers[[shard]], "error")) {
      in_context(shards$workers[(shard - 1L) %% length(shards$workers) + 1L],
                 stop(answers[[shard]]))
    }
  }
  answers
}

# lapply() in which each worker of a cluster has a range of the values.
lapply_on_cluster <- function(cluster, values, f) {
  workers <- list2env(list(cluster = cluster, workers = greet_workers(cluster), lost = NULL))
  ranges <- parallel::splitIndices(length(values), length(cluster))
  answers <- in_touch(workers, parallel::clusterApply(
    cluster, lapply(ranges, function(range) values[range]), lapply_or_error, f
  ))
  do.call(c, answers)
}

lapply_or_error <- function(values, f) tryCatch(lapply(values, f), error = identity)

# A call fails as a whole if a worker no longer answers. The error names the first worker that does
# not answer a call of its own.
lose_workers <- function(shards) {
  answers <- vapply(seq_along(shards$cluster), function(node) {
    tryCatch(is.list(parallel::clusterCall(shards$cluster[node], Sys.getpid)),
             error = function(e) FALSE)
  }, NA)
  shards$lost <- c(shards$workers[!answers], "a worker")[1L]
  stop_lost(shards$lost)
}

# an error if a worker was lost
stop_lost <- function(worker) {
  if (is.null(worker)) return(invisible())
  stop(structure(class = c("sparsels_error_worker", "sparsels_error", "error", "condition"), list(
    message = paste(worker, "of `cluster` does not answer any more"), call = NULL
  )))
}

# Whether a search runs on the cluster. Once a worker is lost the calling process goes on by itself.
is_sharded <- function(control, skipping) {
  !is.null(control$shards) && is.null(control$shards$lost) && skipping != "none"
}

# The search of greedy_path() ----------------------------------------------------------------------

# The path for one lambda. `rows` is the problem in working coordinates. Every step makes two
# requests to all column ranges. The first adds the column chosen before and returns the least
# criterion of each range. The second returns the lowest column that ties with the least criterion
# of all ranges. One process would choose the same column.
sharded_path <- function(problem, control, lambda, settings, rows) {
  shards <- control$shards
  given <- settings$given + 1L
  path <- .Call(C_greedy_open, working_part(rows, integer(), matrix(0, nrow(problem), 0L)),
                c(settings, first = 0L))
  chosen <- integer()
  ended <- tryCatch({
    start_shards(shards, rows, settings, given, problem$columns$mean)
    column <- NULL
    repeat {
      best <- ask_shards(shards, "score", addition_for(shards, column))
      step <- length(chosen) + 1L
      column <- if (any(lengths(best) == 0L)) NULL else if (step <= length(given)) {
        given_column(shards, given[step])
      } else {
        best_column(shards, min(unlist(best)))
      }
      if (is.null(column)) break
      chosen <- c(chosen, column$number)
      if (!.Call(C_greedy_add, path, 0L, column$x, column$read_norm2)) break
      if (!is.null(settings$progress)) settings$progress(step, control$k)
    }
    if (any(lengths(best) == 0L)) "interrupted"
  }, interrupt = function(condition) "interrupted", sparsels_error_worker = identity)
  answer <- .Call(C_greedy_close, path)
  done <- end_shards(shards)
  if (inherits(ended, "condition")) {
    warn_sparsels(paste0(conditionMessage(ended), ": the search ends there"),
                  "sparsels_warning_worker")
  }
  if (!is.null(ended)) answer$status <- "interrupted"
  of_all_columns(answer, chosen, done)
}

# The part of a problem of working() for some columns, with `x` as the values of these columns.
working_part <- function(rows, columns, x) {
  of_columns <- c("centre", "inv_scale", "squares", "rss", "usable")
  rows[of_columns] <- lapply(rows[of_columns], `[`, columns)
  rows$products <- matrix(rows$products, ncol = ncol(rows$y))[columns, , drop = FALSE]
  rows["x"] <- list(x)
  rows
}

# `means`: the values that replace missing values in this search, if there are any
start_shards <- function(shards, rows, settings, given, means) {
  settings["progress"] <- list(NULL)
  each <- Map(function(from, to) {
    # columns of other ranges have a number beyond the last column
    settings$given <- as.integer(ifelse(given >= from & given <= to, given - from, to - from + 1L))
    list(problem = working_part(rows, from:to, NULL), settings = settings, means = means[from:to])
  }, shards$from, shards$to)
  ask_shards(shards, "start", each)
}

# The column that each column range adds, if any: by its number in its own range, by its values in
# any other.
addition_for <- function(shards, column) {
  lapply(seq_len(shards$count), function(shard) {
    if (!is.null(column) && shard == column$shard) return(list(own = column$own))
    if (!is.null(column)) c(own = 0L, column[c("x", "read_norm2")])
  })
}

given_column <- function(shards, number) {
  shard <- which(number <= shards$to)[1L]
  found <- ask_shard(shards, shard, "column", number - shards$from[shard] + 1L)
  placed_column(shards, shard, found)
}

# the best column of all column ranges, or NULL if no column is left
best_column <- function(shards, best) {
  found <- ask_shards(shards, "best", best)
  shard <- which(lengths(found) > 0L)[1L]
  if (!is.na(shard)) placed_column(shards, shard, found[[shard]])
}

placed_column <- function(shards, shard, found) {
  c(found, list(shard = shard, number = shards$from[shard] + found$own - 1L))
}

# Ends the searches of all column ranges and returns their work.
end_shards <- function(shards) {
  if (!is.null(shards$lost)) return(NULL)
  tryCatch(do.call(rbind, ask_shards(shards, "end", vector("list", shards$count))),
           sparsels_error_worker = function(condition) NULL)
}

# The answer of the process without columns, which numbers columns in the order of their arrival.
# Here their numbers become the numbers in the whole matrix.
of_all_columns <- function(answer, chosen, done) {
  moves <- seq_len(answer$moves)
  answer$feature[moves + 1L] <- chosen[moves] - 1L
  # models beyond the sizes reached have no entries
  model <- matrix(answer$model, ncol = length(answer$model_entry))
  kept <- row(model) < col(model) & rep(answer$model_entry >= 0L, each = nrow(model))
  answer$model[kept] <- chosen[answer$model[kept] + 1L] - 1L
  if (!is.null(done)) {
    from <- done[, 4L]
    answer$work <- c(colSums(done[, 1:3, drop = FALSE]), c(from[from >= 0], -1)[1L], -1, -1)
  }
  answer
}

# In a worker --------------------------------------------------------------------------------------

# The parts of each column range in this process: x, first, and the current search.
held_shards <- new.env(parent = emptyenv())

answer_given <- function(given, action, ...) answer_shard(given[[1L]], action, given[[2L]], ...)

# errors are returned as answers, so that all answers are read
answer_shard <- function(id, action, ...) {
  tryCatch(shard_actions[[action]](id, ...), error = identity)
}

# the columns of a column range, with missing values replaced by these means
held_columns <- function(shard, means) {
  if (is.null(means)) return(shard$x)
  if (is_read_in_place(shard$x)) return(carrying(shard$x, means))
  if (is.null(shard$gaps)) shard$x else fill_gaps(shard$x, shard$gaps, means)
}

shard_products <- function(shard, part, r) {
  v <- part$root_w * r
  columns <- part$columns
  products <- matrix(0, length(columns$centre), ncol(r))
  for (block in column_blocks(nrow(r), nrow(products))) {
    values <- as.matrix(Matrix::crossprod(shard_values(shard, part$means, block), v))
    products[block, ] <- values - outer(columns$centre[block], colSums(v))
  }
  products <- products / columns$scale
  products[!columns$usable, ] <- 0
  products
}

shard_values <- function(shard, means, block) {
  if (!is_read_in_place(shard$x)) return(held_columns(shard, means)[, block, drop = FALSE])
  values <- shard$x[, shard$first + block, drop = FALSE]
  if (is.null(means)) values else complete_by(values, means[block])
}

shard_actions <- list(
  hold = function(id, columns) {
    held_shards[[id]] <- columns
    TRUE
  },
  start = function(id, part) {
    shard <- held_shards[[id]]
    part$problem["x"] <- list(held_columns(shard, part$means))
    shard$search <- .Call(C_greedy_open, part$problem, c(part$settings, first = shard$first))
    held_shards[[id]] <- shard
    TRUE
  },
  # adds the column chosen before, if any, and returns NULL if the search was interrupted
  score = function(id, added) {
    search <- held_shards[[id]]$search
    if (!is.null(added)) .Call(C_greedy_add, search, added$own, added$x, added$read_norm2)
    .Call(C_greedy_score, search)
  },
  best = function(id, best) {
    own <- .Call(C_greedy_first_tie, held_shards[[id]]$search, best)
    if (own > 0L) shard_actions$column(id, own)
  },
  column = function(id, own) c(.Call(C_greedy_column, held_shards[[id]]$search, own), own = own),
  end = function(id, nothing) {
    work <- .Call(C_greedy_close, held_shards[[id]]$search)$work
    held_shards[[id]]$search <- NULL
    work
  },
  # for l1 paths: `part` is how the columns are standardised
  prepare = function(id, part) {
    shard <- held_shards[[id]]
    shard$part <- part
    held_shards[[id]] <- shard
    TRUE
  },
  # products with residuals r (m x solutions), where the products with the last residual are kept
  multiply = function(id, set, r, weight) {
    shard <- held_shards[[id]]
    products <- abs(shard_products(shard, shard$part, r))
    shard$last <- products[, ncol(r)]
    held_shards[[id]] <- shard
    products[set, ] <- 0
    limit <- weight * (1 + 1e-9)
    list(largest = apply(products, 2L, max),
         violated = lapply(seq_len(ncol(r)), function(i) which(products[, i] > limit[i])))
  },
  above = function(id, level) which(held_shards[[id]]$last >= level),
  drop = function(id) {
    held_shards[[id]] <- NULL
    if (exists(id, held_shards, inherits = FALSE)) rm(list = id, envir = held_shards)
    TRUE
  }
)
