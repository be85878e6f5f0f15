# The columns of a search over the processes of a cluster. Each process has a range of columns and
# runs the search on that range. It uses every column that is chosen, from any range (src/greedy.h).
# The calling process has no columns and keeps the path. Any cluster of parallel will do.

# What a cluster can search ------------------------------------------------------------------------

check_cluster <- function(cluster) {
  if (is.null(cluster)) return(NULL)
  refuse_unless(inherits(cluster, "cluster") && length(cluster), "cluster",
                "NULL or a cluster, such as parallel::makeCluster(2)", cluster)
  stop_argument_if(.Call(C_is_fork),
                   paste("`cluster` cannot be used in a forked process, as of mclapply(),",
                         "plan(multicore) and MulticoreParam(): forks share its connections"))
  cluster
}

check_search_cluster <- function(cluster, control) {
  if (is.null(check_cluster(cluster))) return(invisible())
  plain <- control$search == "forward" && control$criterion$name == "squared" &&
    is.null(control$cost) && control$keep == 0L
  stop_argument_if(!plain,
                   paste("`cluster` is for forward search by the squared error, without `cost` and",
                         "`keep`"))
}

# In the calling process ---------------------------------------------------------------------------

# Gives each worker its columns. `count` is the number of column ranges. Without a cluster, all
# column ranges are in this process. Whatever ends this call, no worker keeps columns.
open_shards <- function(problem, cluster, count) {
  count <- min(count, ncol(problem))
  ends <- as.integer(round(ncol(problem) * seq_len(count) / count))
  shards <- if (is.null(cluster)) new_link(NULL, "this process") else greet_workers(cluster)
  shards$count <- count
  shards$to <- ends
  shards$from <- c(0L, ends[-count]) + 1L
  shards$ids <- sprintf("%d-%.6f-%d", Sys.getpid(), as.numeric(Sys.time()), seq_len(count))
  complete <- FALSE
  on.exit(if (!complete) close_shards(shards))
  for (shard in seq_len(count)) {
    columns <- shards$from[shard]:shards$to[shard]
    held <- c(shard_columns(problem$x, columns), gaps_in(problem, columns))
    ask_shard(shards, shard, "hold", held)
  }
  complete <- TRUE
  shards
}

# All workers that can be reached drop their columns. After a second Ctrl-C or a time limit their
# answers are not waited for.
close_shards <- function(shards) {
  if (is.null(shards)) return(invisible())
  for (shard in seq_len(shards$count)) {
    node <- node_of(shards, shard)
    try(until_stopped(if (is.null(shards$cluster) || !shards$left) {
      ask_shard(shards, shard, "drop")
    } else {
      send_question(shards$cluster[[node]], 0L, answer_shard, list(shards$ids[shard], "drop"))
    }, function(condition) NULL), silent = TRUE)
  }
}

# A link to the workers of a cluster. All workers must have this version of the package.
greet_workers <- function(cluster) {
  link <- new_link(cluster, paste("worker", seq_along(cluster)))
  told <- ask_nodes(link, seq_along(cluster), introduce, lapply(cluster, function(node) list()))
  link$workers <- sprintf("%s (%s)", link$workers, vapply(told, `[[`, "", "who"))
  ours <- introduce()
  for (node in seq_along(told)) check_same_code(link$workers[node], told[[node]], ours)
  link
}

check_same_code <- function(worker, theirs, ours) {
  has <- if (nzchar(theirs$version)) paste("sparsels", theirs$version) else "no package sparsels"
  stop_input_if(theirs$version != ours$version,
                "%s of `cluster` has %s, not version %s as here", worker, has, ours$version)
  stop_input_if(nzchar(ours$code) && theirs$code != ours$code,
                "%s of `cluster` has another build of sparsels %s: install the same one %s", worker,
                ours$version, "everywhere, and start the workers again")
}

# Runs on workers that may not have this package, so it uses R alone.
introduce <- function() {
  mine <- function(value) tryCatch(value, error = function(e) "")
  list(who = sprintf("%s, process %d", Sys.info()[["nodename"]], Sys.getpid()),
       version = mine(as.character(getNamespaceVersion("sparsels"))),
       code = mine(getNamespace("sparsels")$code_number()))
}
environment(introduce) <- baseenv()

# A number by which installed builds of the same version differ: a sum over the texts of all
# definitions. "" if the package is not installed.
code_number <- function() {
  if (!is.null(code_cache$number)) return(code_cache$number)
  file <- file.path(getNamespaceInfo(topenv(), "path"), "R", "sparsels")
  if (!file.exists(paste0(file, ".rdb"))) return("")
  installed <- new.env()
  lazyLoad(file, installed)
  names <- sort(names(installed), method = "radix")
  text <- vapply(names, function(name) paste(deparse(installed[[name]]), collapse = "\n"), "")
  bytes <- as.integer(charToRaw(paste(names, text, collapse = "\n")))
  sum <- sum(bytes * ((7919 * seq_along(bytes)) %% 104729)) %% 2147483647
  code_cache$number <- format(sum, digits = 15)
  code_cache$number
}

code_cache <- new.env()

# The columns of a column range in the form that it takes, and the number of columns before them. A
# file is given as a whole, since each worker opens the file itself.
shard_columns <- function(x, columns) {
  if (is_file_matrix(x)) return(list(x = x, first = columns[1L] - 1L))
  if (is_float_matrix(x)) {
    bytes <- unclass(x)$bytes[float_bytes(nrow(x), columns)]
    part <- list(bytes = bytes, dim = c(nrow(x), length(columns)), dimnames = NULL)
    return(list(x = structure(part, class = class(x)), first = 0L))
  }
  part <- x[, columns, drop = FALSE]
  dimnames(part) <- list(NULL, NULL)
  list(x = part, first = 0L)
}

# The answer of one column range.
ask_shard <- function(shards, shard, action, ...) {
  ask_nodes(shards, node_of(shards, shard), answer_shard,
            list(list(shards$ids[shard], action, ...)))[[1L]]
}

# The answers of all column ranges. `each` is a list with the first argument of the action for each
# column range, or the same one for all.
ask_shards <- function(shards, action, each, ...) {
  ask_nodes(shards, node_of(shards, seq_len(shards$count)), answer_shard,
            Map(function(id, first) list(id, action, first, ...), shards$ids, each))
}

node_of <- function(shards, shard) (shard - 1L) %% max(1L, length(shards$cluster)) + 1L

# The list of of(block) for every block of the columns of a source, which may have a cluster.
each_block <- function(source, of) {
  if (is.null(source$cluster)) return(lapply(source$blocks, of))
  link <- greet_workers(source$cluster)
  # each worker has a range of the blocks
  ranges <- parallel::splitIndices(length(source$blocks), length(source$cluster))
  do.call(c, ask_nodes(link, seq_along(ranges), lapply_or_error,
                       lapply(ranges, function(range) list(source$blocks[range], of))))
}

lapply_or_error <- function(values, f) {
  tryCatch(lapply(values, f), error = identity, interrupt = identity)
}

# Questions and answers ----------------------------------------------------------------------------

# Each question has a number, which comes back with its answer. An answer of another number, which a
# call that was stopped has left, is not used. The messages have the form of parallel. They are sent
# and read as a whole, since a part of one would be taken for the next. Ctrl-C acts in between.

# `lost` is the worker that does not answer, `left` is whether answers were not waited for, and
# `limited` whether a time limit was reached.
new_link <- function(cluster, workers) {
  list2env(list(cluster = cluster, workers = workers, lost = NULL, left = FALSE, limited = FALSE),
           parent = emptyenv())
}

# The answers of some nodes (numbers, the same one perhaps several times) to a function of the lists
# `arguments`. An error of a worker is raised with its name.
ask_nodes <- function(link, nodes, fun, arguments) {
  # a node answers one question at a time
  rounds <- unname(split(seq_along(nodes), stats::ave(nodes, nodes, FUN = seq_along)))
  answers <- if (is.null(link$cluster)) {
    lapply(arguments, function(one) do.call(fun, one, quote = TRUE))
  } else {
    unlist(lapply(rounds, function(round) ask_each(link, nodes[round], fun, arguments[round])),
           recursive = FALSE)[order(unlist(rounds))]
  }
  for (i in seq_along(answers)) {
    if (inherits(answers[[i]], "interrupt")) raise_interrupt()
    if (!inherits(answers[[i]], "error")) next
    error <- as_host_error(answers[[i]])
    # errors of the package keep their class
    if (!inherits(error, "sparsels_error")) {
      class(error) <- c("sparsels_error_worker", "sparsels_error", class(error))
    }
    error$answered <- TRUE
    in_context(link$workers[nodes[i]], stop(error))
  }
  answers
}

# The answers of different nodes. A first Ctrl-C waits for the answers to the questions that were
# sent, a second one and a time limit do not. A lost worker is told after the others have answered.
ask_each <- function(link, nodes, fun, arguments) {
  number <- asked$count <- asked$count + 1L
  connected <- vapply(link$cluster[nodes], function(node) "con" %in% names(node), NA)
  if (!all(connected)) return(ask_by_parallel(link, nodes, fun, arguments, number))
  sent <- 0L
  answers <- list()
  silent <- logical(length(nodes))
  stopped <- FALSE
  talk <- function() {
    while (sent < length(nodes) && !stopped) {
      i <- sent + 1L
      silent[i] <<- is_lost(link, nodes[i], undisturbed({
        send_question(link$cluster[[nodes[i]]], number, fun, arguments[[i]])
        sent <<- i
      }))
      sent <<- i
    }
    while (length(answers) < sent) {
      i <- length(answers) + 1L
      node <- link$cluster[[nodes[i]]]
      if (!silent[i]) silent[i] <<- is_lost(link, nodes[i], {
        await_answer(node)
        undisturbed(answers <<- c(answers, read_answer(node, number)))
      })
      if (silent[i]) answers <<- c(answers, list(NULL))
    }
  }
  until_stopped(talk(), function(condition) stopped <<- link$left <- TRUE)
  if (stopped && !link$limited) tryCatch({
    talk()
    link$left <- FALSE
  }, interrupt = function(condition) NULL)
  if (stopped) raise_interrupt()
  stop_lost(link$lost)
  answers
}

# The answers of nodes that are no connections, such as processes of MPI, whose messages only
# parallel knows.
ask_by_parallel <- function(link, nodes, fun, arguments, number) {
  link$left <- TRUE
  answers <- NULL
  is_lost(link, nodes[1L], {
    answers <- parallel::clusterApply(link$cluster[nodes], arguments, numbered_answer, number, fun)
    if (!all(vapply(answers, function(answer) identical(answer$number, number), NA))) stop()
  })
  stop_lost(link$lost)
  link$left <- FALSE
  lapply(answers, `[[`, "value")
}

numbered_answer <- function(arguments, number, fun) {
  list(number = number, value = do.call(fun, arguments, quote = TRUE))
}
environment(numbered_answer) <- baseenv()

# the number of questions so far
asked <- new.env()
asked$count <- 0L

send_question <- function(node, number, fun, arguments) {
  # it may not be the connection that the node was made with, in this process
  connected <- tryCatch(identical(attr(getConnection(as.integer(node$con)), "conn_id"),
                                  attr(node$con, "conn_id")), error = function(e) FALSE)
  if (!connected) stop("no connection")
  serialize(list(type = "EXEC", tag = NULL,
                 data = list(fun = fun, args = arguments, return = TRUE, tag = number)), node$con)
}

await_answer <- function(node) while (!socketSelect(list(node$con), timeout = 0.5)) Sys.sleep(0)

# The next answer of a node in a list, or an empty list if it is an answer to another question.
read_answer <- function(node, number) {
  answer <- unserialize(node$con)
  if (!identical(answer$tag, number)) return(list())
  list(if (answer$success) answer$value else simpleError(paste(answer$value, collapse = " ")))
}

# Code that Ctrl-C does not disturb, but follows.
undisturbed <- function(expr) {
  .Call(C_hold_interrupts, TRUE)
  on.exit(.Call(C_hold_interrupts, FALSE))
  expr
}

# Whether an error between this process and a node shows that its worker is lost.
is_lost <- function(link, node, expr) {
  tryCatch({
    expr
    FALSE
  }, error = function(e) {
    link$limited <- is_time_limit(e)
    if (link$limited) stop(e)
    if (is.null(link$lost)) link$lost <- link$workers[node]
    TRUE
  })
}

# For handlers of the loss of a worker, which pass on the error of a worker that answers.
only_lost <- function(error) if (isTRUE(error$answered)) stop(error) else error

# an error if a worker was lost
stop_lost <- function(worker) {
  if (is.null(worker)) return(invisible())
  stop(error_of(paste(worker, "of `cluster` does not answer any more"), "sparsels_error_worker"))
}

# The search of greedy_path() ----------------------------------------------------------------------

# The path for one lambda. `rows` is the problem in working coordinates. Every step makes two
# requests to all column ranges. The first adds the column chosen before and returns the least
# criterion of each range. The second returns the lowest column that ties with the least criterion
# of all ranges. One process would choose the same column.
sharded_path <- function(problem, control, settings, rows) {
  shards <- control$shards
  given <- settings$given + 1L
  path <- .Call(C_greedy_open, working_part(rows, integer(), matrix(0, nrow(problem), 0L)),
                c(settings, first = 0L))
  chosen <- integer()
  ended <- until_stopped({
    start_shards(shards, rows, settings, given, column_state(problem)$mean)
    column <- NULL
    repeat {
      # by its number in its own range, by its values in any other
      added <- lapply(seq_len(shards$count), function(shard) {
        if (!is.null(column) && shard == column$shard) return(list(own = column$own))
        if (!is.null(column)) c(own = 0L, column[c("x", "read_norm2")])
      })
      best <- ask_shards(shards, "score", added)
      step <- length(chosen) + 1L
      if (any(lengths(best) == 0L)) break
      column <- next_column(shards, given[step], min(unlist(best)))
      if (is.null(column)) break
      chosen <- c(chosen, column$number)
      if (!.Call(C_greedy_add, path, 0L, column$x, column$read_norm2)) break
      if (!is.null(settings$progress)) settings$progress(step, control$k)
    }
    if (any(lengths(best) == 0L)) "interrupted"
  }, function(condition) "interrupted", sparsels_error_worker = only_lost)
  answer <- .Call(C_greedy_close, path)
  done <- if (!shards$left && is.null(shards$lost)) {
    lost <- function(condition) NULL
    until_stopped(do.call(rbind, ask_shards(shards, "end", vector("list", shards$count))), lost,
                  sparsels_error_worker = lost)
  }
  if (inherits(ended, "condition")) {
    if (!length(chosen)) stop(ended)
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
  replace(rows, "x", list(x))
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

# The column to add: the `given` one if there is one, otherwise the best column of all column
# ranges. NULL if no column is left.
next_column <- function(shards, given, best) {
  if (!is.na(given)) {
    shard <- which(given <= shards$to)[1L]
    found <- ask_shard(shards, shard, "column", given - shards$from[shard] + 1L)
  } else {
    of_ranges <- ask_shards(shards, "best", best)
    shard <- which(lengths(of_ranges) > 0L)[1L]
    if (is.na(shard)) return(NULL)
    found <- of_ranges[[shard]]
  }
  c(found, list(shard = shard, number = shards$from[shard] + found$own - 1L))
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

# errors and interrupts are returned as answers, so that all answers are read
answer_shard <- function(id, action, ...) {
  tryCatch(shard_actions[[action]](id, ...), error = identity, interrupt = identity)
}

shard_products <- function(shard, part, r) {
  v <- part$root_w * r
  columns <- part$columns
  products <- matrix(0, length(columns$centre), ncol(r))
  for (block in column_blocks(nrow(r), nrow(products))) {
    x <- if (is_read_in_place(shard$x)) {
      values <- shard$x[, shard$first + block, drop = FALSE]
      if (is.null(part$means)) values else complete_by(values, part$means[block])
    } else {
      completed_x(shard, part$means)[, block, drop = FALSE]
    }
    products[block, ] <- as.matrix(crossprod(x, v)) - outer(columns$centre[block], colSums(v))
  }
  products <- products / columns$scale
  products[!columns$usable, ] <- 0
  products
}

shard_actions <- list(
  hold = function(id, columns) {
    held_shards[[id]] <- columns
    TRUE
  },
  start = function(id, part) {
    shard <- held_shards[[id]]
    part$problem["x"] <- list(completed_x(shard, part$means))
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
