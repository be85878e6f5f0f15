# greedy_rls(cluster = ): columns in shards, the search of one process to the last bit

# the package must be installed for the workers to find it
new_cluster <- function(type = "PSOCK") {
  skip_if_not(file.exists(system.file("Meta", "package.rds", package = "sparsels")))
  cluster <- parallel::makeCluster(2, type = type)
  use <- function(paths) .libPaths(paths)
  environment(use) <- globalenv()
  parallel::clusterCall(cluster, use, .libPaths())
  cluster
}

# how many column ranges each worker keeps
held_by <- function(cluster) {
  held <- function() length(ls(asNamespace("sparsels")$held_shards))
  environment(held) <- globalenv()
  unlist(parallel::clusterCall(cluster, held))
}

# columns 30 and 170 are equal, as are 41 and 42; 50 is constant
columns_example <- function(m = 130, n = 200) {
  set.seed(83)
  x <- matrix(rpois(m * n, 4), m, dimnames = list(NULL, paste0("g", seq_len(n))))
  x[, 170] <- x[, 30]
  x[, 42] <- x[, 41]
  x[, 50] <- 1L
  y <- drop(x[, c(30, 41, 90, 199)] %*% c(1, -1, 1, 2)) + 2 * rnorm(m)
  list(x = x, y = y, class = factor(findInterval(y, stats::quantile(y, c(0.3, 0.7)))),
       weights = runif(m, 0.2, 3), z = rnorm(m))
}

search_control <- function(problem, k, folds, lambda, start = integer()) {
  c(path_control(problem, k, lambda, folds, "squared", start = start),
    list(search = "forward", keep = 0L, threads = 1L, progress = FALSE))
}

# The path by `count` shards that this process plays, or by one process where that is 0.
path_by_shards <- function(problem, count, k = 8L, folds = "loo", lambda = 2, start = integer(),
                           ...) {
  control <- search_control(problem, k, folds, lambda, start)
  control$shards <- shards_of(problem, NULL, count)
  on.exit(close_shards(control$shards))
  path <- greedy_path(problem, control, lambda, given = start, ...)
  path$work <- NULL
  path
}

expect_same_paths <- function(problem, counts = c(1, 2, 7), ...) {
  whole <- path_by_shards(problem, 0, ...)
  for (count in counts) expect_identical(path_by_shards(problem, count, ...), whole)
}

test_that("1, 2 and 7 shards give the path of one process, to the last bit", {
  d <- columns_example()
  groups <- rep(1:13, 10)
  plain <- as_problem(d$x, d$y)
  adjusted <- as_problem(d$x, d$y, weights = replace(d$weights, 3:5, 0), adjust = d$z)
  classes <- as_problem(d$x, d$class)
  for (folds in list("loo", rep(1:5, 26), groups)) {
    expect_same_paths(plain, folds = folds)
    expect_same_paths(adjusted, folds = folds)
    expect_same_paths(classes, folds = folds)
  }
  expect_same_paths(classes, folds = list(rep(1:5, 26), groups))
  expect_same_paths(plain, folds = rep(1:5, 26), skipping = "recurrence")
})

test_that("long paths at a small lambda are the same however candidates are scored", {
  d <- columns_example(60, 420)
  problem <- as_problem(d$x, d$y)
  for (folds in list("loo", rep(1:3, 20))) {
    path <- path_by_shards(problem, 2, k = 45L, folds = folds, lambda = 1e-2)
    expect_identical(path, path_by_shards(problem, 0, k = 45L, folds = folds, lambda = 1e-2))
    expect_lt(length(unique(path$path$feature)), 47L)
  }
})

test_that("shards take x of every kind, in memory and in a file", {
  d <- columns_example()
  sparse <- Matrix::Matrix(d$x * (d$x > 4), sparse = TRUE)
  file <- write_file_matrix(d$x, tempfile(), "uint8")
  for (x in list(d$x + 0.5, sparse, float_matrix(d$x), file)) {
    expect_same_paths(as_problem(x, d$y), counts = 7)
    expect_same_paths(as_problem(x, d$y), counts = 7, folds = rep(1:5, 26))
  }
  expect_identical(path_by_shards(as_problem(file, d$y), 2),
                   path_by_shards(as_problem(d$x, d$y), 0))
})

test_that("missing values are the means of each training part, in every shard", {
  d <- columns_example()
  x <- d$x + 0
  x[sample(length(x), 500)] <- NA
  path <- tempfile()
  on.exit(unlink(path))
  sparse <- methods::as(replace(x, !is.na(x) & x < 4, 0), "CsparseMatrix")
  for (values in list(x, sparse, float_matrix(x), write_file_matrix(x, path))) {
    problem <- as_problem(values, d$y, missing = "mean")
    train <- reweighted(problem, replace(rep(1, 130), 1:40, 0))
    control <- search_control(train, 8L, as_folds("loo", train), 2)
    whole <- greedy_path(train, control, 2)
    control$shards <- shards_of(problem, NULL, 3)
    expect_identical(replace(greedy_path(train, control, 2), "work", list(NULL)),
                     replace(whole, "work", list(NULL)))
    close_shards(control$shards)
  }
})

test_that("columns that are given join from any shard", {
  problem <- with(columns_example(), as_problem(x, y))
  for (folds in list("loo", rep(1:5, 26))) {
    expect_same_paths(problem, counts = c(2, 7), start = c(190L, 2L, 100L), folds = folds)
  }
})

test_that("shards are given up when the search ends, and small data are not sent out", {
  d <- columns_example()
  path_by_shards(as_problem(d$x, d$y), 7)
  expect_length(ls(held_shards), 0L)
  expect_null(shards_of(as_problem(d$x[, 1:20], d$y), NULL, 2))
  expect_null(shards_of(as_problem(d$x, d$y), NULL, 0))
})

test_that("a fit by a cluster is that of one process", {
  d <- columns_example()
  cluster <- new_cluster()
  on.exit(parallel::stopCluster(cluster))
  without <- function(fit) fit[setdiff(names(fit), c("work", "call"))]
  fit <- function(...) greedy_rls(d$x, d$class, k = 3, lambda = 20, size = 2, size_folds = 2, ...)
  one <- fit()
  many <- fit(cluster = cluster)
  expect_identical(without(many), without(one))
  expect_gte(many$work$evaluated, one$work$evaluated)
  ranking <- function(...) {
    greedy_rls(d$x, d$y, within = rep(1:26, 5), k = 3, lambda = 20, size = 2, ...)
  }
  # memory that is freed between two calls of a worker is used for something else
  expect_identical(without(ranking(cluster = cluster)), without(ranking()))
  expect_identical(held_by(cluster), c(0L, 0L))
})

test_that("a worker that dies ends the search with the path so far and is named", {
  skip_on_os("windows")
  d <- columns_example()
  cluster <- new_cluster("FORK")
  on.exit({
    parallel::stopCluster(cluster[1L])
    close(cluster[[2L]]$con)
  })
  pid <- parallel::clusterCall(cluster, Sys.getpid)[[2L]]
  ask <- ask_shards
  calls <- 0L
  kill_at <- function(last) {
    function(shards, action, ...) {
      calls <<- calls + (action == "score")
      if (calls == last) {
        tools::pskill(pid, tools::SIGKILL)
        Sys.sleep(0.1)
      }
      ask(shards, action, ...)
    }
  }
  messages <- character()
  fit <- with_binding("ask_shards", kill_at(4L), withCallingHandlers(
    bare_rls(d$x, d$y, k = 8, lambda = 2, cluster = cluster),
    warning = function(warning) {
      messages <<- c(messages, conditionMessage(warning))
      invokeRestart("muffleWarning")
    }
  ))
  expect_identical(fit$status, "interrupted")
  whole <- bare_rls(d$x, d$y, k = 8, lambda = 2)
  expect_identical(fit$path, whole$path[1:4, ])
  expect_match(messages[1L], paste0("^worker 2 [(].*, process ", pid, "[)] of `cluster` does not"))
  expect_match(messages[2L], "the 3 steps done so far")
  # what is asked of it from now on is an error that names it
  for (ask in list(function() bare_rls(d$x, d$y, k = 3, cluster = cluster),
                   function() l1_path(d$x, d$y, cluster = cluster),
                   function() safe_screen(d$x, d$y, lambda = 1, cluster = cluster))) {
    expect_error(ask(), "^worker 2 of `cluster` does not answer", class = "sparsels_error_worker")
  }
  # the worker that is left keeps nothing
  expect_identical(held_by(cluster[1L]), 0L)
  # before the first step there is no path
  other <- new_cluster("FORK")
  on.exit({
    parallel::stopCluster(other[1L])
    close(other[[2L]]$con)
  }, add = TRUE)
  pid <- parallel::clusterCall(other, Sys.getpid)[[2L]]
  ask <- ask_shards
  calls <- 0L
  expect_error(with_binding("ask_shards", kill_at(1L), bare_rls(d$x, d$y, k = 8, cluster = other)),
               "^worker 2 .* of `cluster` does not", class = "sparsels_error_worker")
  expect_identical(held_by(other[1L]), 0L)
})

# Has workers do something before an action, from now on.
before_action <- function(cluster, action, what) {
  change <- function(action, what) {
    space <- asNamespace("sparsels")
    actions <- space$shard_actions
    old <- actions[[action]]
    count <- 0
    actions[[action]] <- function(...) {
      count <<- count + 1
      what(count)
      old(...)
    }
    unlockBinding("shard_actions", space)
    assign("shard_actions", actions, space)
    NULL
  }
  environment(change) <- environment(what) <- globalenv()
  invisible(parallel::clusterCall(cluster, change, action, what))
}

test_that("whatever ends a call, workers keep nothing and the next call is right", {
  skip_on_os("windows")
  d <- columns_example()
  cluster <- new_cluster("FORK")
  on.exit(parallel::stopCluster(cluster))
  fit <- function() bare_rls(d$x, d$y, k = 8, lambda = 2, cluster = cluster)
  right <- fit()$path
  expect_identical(held_by(cluster), c(0L, 0L))
  l1_path(d$x, d$y, nlambda = 3, cluster = cluster)
  expect_identical(held_by(cluster), c(0L, 0L))
  # Ctrl-C once, twice: in a step of a worker that takes longer
  for (times in 1:2) {
    master <- Sys.getpid()
    press <- eval(bquote(function(count) {
      if (count != 5) return()
      for (i in seq_len(.(times))) {
        tools::pskill(.(master), tools::SIGINT)
        Sys.sleep(0.1)
      }
      Sys.sleep(0.2)
    }))
    before_action(cluster[2L], "score", press)
    expect_warning(stopped <- fit(), "the 4 steps done so far", class = "sparsels_interrupted")
    expect_identical(stopped$path, right[1:5, ])
    expect_identical(fit()$path, right)
    expect_identical(held_by(cluster), c(0L, 0L))
  }
  # Ctrl-C while x is sent
  before_action(cluster[1L], "hold", eval(bquote(function(count) {
    if (count == 1) tools::pskill(.(master), tools::SIGINT)
    Sys.sleep(0.1)
  })))
  expect_identical(tryCatch(fit(), interrupt = function(condition) "caught"), "caught")
  expect_identical(held_by(cluster), c(0L, 0L))
  # errors of a worker: its own, and of memory
  for (action in c("start", "prepare")) {
    before_action(cluster[2L], action, function(count) if (count == 1) stop("no such disk"))
  }
  expect_error(fit(), "^worker 2 .*no such disk", class = "sparsels_error_worker")
  expect_error(l1_path(d$x, d$y, nlambda = 3, cluster = cluster), "^worker 2 .*no such disk",
               class = "sparsels_error_worker")
  before_action(cluster[2L], "start", function(count) {
    if (count == 1) stop("cannot allocate vector of size 16.0 Gb")
  })
  expect_error(fit(), "^worker 2 .*cannot allocate", class = "sparsels_error_memory")
  expect_identical(held_by(cluster), c(0L, 0L))
  expect_identical(fit()$path, right)
  # a time limit does not wait for a worker
  limit <- function(...) stop(gettext("reached elapsed time limit", domain = "R"))
  early <- tryCatch(with_binding("await_answer", limit, fit()), sparsels_error_time = identity)
  expect_s3_class(early, "sparsels_error_time")
  expect_identical(fit()$path, right)
})

test_that("an answer to another question is not used", {
  skip_on_os("windows")
  cluster <- new_cluster("FORK")
  on.exit(parallel::stopCluster(cluster))
  for (i in 1:3) send_question(cluster[[1L]], -i, identity, list("old"))
  link <- greet_workers(cluster)
  expect_identical(ask_nodes(link, c(2, 1, 1, 2), `-`, list(list(5, 1), list(5, 2), list(5, 3),
                                                            list(5, 4))),
                   list(4, 3, 2, 1))
  expect_identical(ask_nodes(link, 1:2, function(x) NULL, list(list(1), list(2))),
                   list(NULL, NULL))
  expect_match(link$workers[2L], "^worker 2 [(].*, process [0-9]+[)]$")
})

test_that("nodes that are no connections are asked by the functions of parallel", {
  space <- asNamespace("parallel")
  answers <- new.env()
  register <- function(generic, f) registerS3method(generic, "made_up_node", f, envir = space)
  register("sendData", function(node, data) {
    value <- do.call(data$data$fun, data$data$args)
    answers$last <- list(type = "VALUE", value = value, success = TRUE, tag = data$data$tag)
  })
  register("recvData", function(node) answers$last)
  register("recvOneData", function(cl) list(node = 1L, value = answers$last))
  cluster <- structure(list(structure(list(), class = "made_up_node")), class = "cluster")
  d <- columns_example()
  expect_identical(bare_rls(d$x, d$y, k = 5, lambda = 2, cluster = cluster)$path,
                   bare_rls(d$x, d$y, k = 5, lambda = 2)$path)
  expect_length(ls(held_shards), 0L)
  register("recvData", function(node) list(value = list(number = 0L, value = 1), success = TRUE))
  register("recvOneData", function(cl) list(node = 1L, value = recvData(cl[[1L]])))
  expect_error(greet_workers(cluster), "does not answer", class = "sparsels_error_worker")
})

test_that("clusters that are stopped, of other processes, and with other code are refused", {
  skip_on_os("windows")
  d <- columns_example()
  fit <- function(cluster) bare_rls(d$x, d$y, k = 3, lambda = 2, cluster = cluster)
  cluster <- new_cluster("FORK")
  forked <- parallel::mclapply(1:2, function(i) tryCatch(fit(cluster), error = identity),
                               mc.cores = 2)
  for (error in forked) {
    expect_s3_class(error, "sparsels_error_argument")
    expect_match(conditionMessage(error), "forked process")
  }
  expect_identical(fit(cluster)$path, fit(NULL)$path)
  # another process has no such connections
  sent <- unserialize(serialize(cluster, NULL))
  expect_error(fit(sent), "does not answer", class = "sparsels_error_worker")
  introduction <- introduce()
  told <- function(...) {
    check_same_code("worker 1", utils::modifyList(introduction, list(...)), introduction)
  }
  expect_null(told())
  expect_error(told(code = "7"), "another build of sparsels", class = "sparsels_error_input")
  expect_error(told(version = "0.0.1"), "has sparsels 0.0.1, not version")
  expect_error(told(version = ""), "has no package sparsels")
  expect_match(introduction$code, "^[0-9]+$")
  parallel::stopCluster(cluster)
  expect_error(fit(cluster), "^worker 1 of `cluster` does not answer",
               class = "sparsels_error_worker")
})

test_that("Ctrl-C waits for the answers, and the cluster can be used again", {
  skip_on_os("windows")
  d <- columns_example()
  cluster <- new_cluster("FORK")
  on.exit(parallel::stopCluster(cluster))
  ask <- ask_shards
  calls <- 0L
  interrupting <- function(shards, action, ...) {
    calls <<- calls + (action == "score")
    answers <- ask(shards, action, ...)
    if (action == "score" && calls == 4L) tools::pskill(Sys.getpid(), tools::SIGINT)
    Sys.sleep(0.01)
    answers
  }
  fit <- with_binding("ask_shards", interrupting, suppressWarnings(
    bare_rls(d$x, d$y, k = 8, lambda = 2, cluster = cluster)
  ))
  expect_identical(fit$status, "interrupted")
  whole <- bare_rls(d$x, d$y, k = 8, lambda = 2)
  expect_identical(fit$path, whole$path[seq_len(nrow(fit$path)), ])
  again <- bare_rls(d$x, d$y, k = 8, lambda = 2, cluster = cluster)
  expect_identical(again$path, whole$path)
})

test_that("what is no cluster, and what a cluster cannot do, is refused", {
  d <- columns_example()
  cluster <- structure(list(NULL), class = "cluster")
  expect_snapshot({
    refusal(greedy_rls(d$x, d$y, cluster = 2))
    refusal(greedy_rls(d$x, d$y, cluster = structure(list(1), class = "cluster")))
    refusal(greedy_rls(d$x, d$y, search = "floating", cluster = cluster))
    refusal(greedy_rls(d$x, d$y, criterion = "absolute", cluster = cluster))
    refusal(greedy_rls(d$x, d$y, keep = 3, cluster = cluster))
    refusal(greedy_rls(d$x, d$y, cost = rep(1, 200), cluster = cluster))
  })
})

test_that("safe_screen() by a cluster is that of one process", {
  d <- columns_example(60)
  cluster <- new_cluster()
  on.exit(parallel::stopCluster(cluster))
  class <- factor(d$y > median(d$y))
  file <- write_file_matrix(d$x, tempfile())
  columns <- local({
    x <- d$x
    function(names) x[, names]
  }, list2env(list(d = d), parent = globalenv()))
  blocks <- function(rows, columns, values = 0) split(1:columns, (1:columns - 1) %/% 30)
  for (loss in c("squared", "logistic", "hinge")) {
    y <- if (loss == "squared") d$y else class
    most <- lambda_max(d$x, y, adjust = d$z, loss = loss)
    path <- l1_path(d$x, y, adjust = d$z, loss = loss, lambda = c(0.95, 0.7) * most)
    for (rule in c("safe1", "safe2", "gap")) {
      screen <- function(x, ...) {
        safe_screen(x, y, adjust = d$z, loss = loss, lambda = 0.8 * most, rule = rule,
                    fit = if (rule != "safe1") path, ...)
      }
      alone <- screen(d$x)
      with_binding("column_blocks", blocks, {
        expect_equal(screen(d$x, cluster = cluster), alone, tolerance = 1e-10)
        expect_identical(screen(file, cluster = cluster), screen(file))
        if (loss != "hinge") { # whose lambda_max is a bound for data in blocks
          expect_equal(screen(columns, columns = colnames(d$x), cluster = cluster), alone,
                       tolerance = 1e-7)
        }
      })
    }
  }
  # what a worker finds wrong is told with its name
  broken <- function(columns) stop("no such disk")
  environment(broken) <- globalenv()
  expect_error(safe_screen(broken, d$y, lambda = 1, columns = 200, cluster = cluster),
               "worker 1 .*no such disk")
  expect_snapshot(refusal(safe_screen(d$x, d$y, lambda = 1, cluster = 2)))
})
