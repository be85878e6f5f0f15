# Panels: the same predictions as the fit, from a file and in other languages.

# fits of every kind that a panel can have, each with new rows
panel_cases <- function() {
  set.seed(31)
  n <- 60L
  d <- data.frame(round(matrix(rnorm(n * 6L), n, dimnames = list(NULL, letters[1:6])), 4))
  d$sex <- factor(sample(c("f", "m", "it's \"x\""), n, TRUE))
  d$`odd name` <- round(rnorm(n), 4)
  d$yes <- d$b > 0
  y <- round(d$a - d$b + (d$sex == "m") + d$`odd name` + rnorm(n) / 2, 4)
  class3 <- cut(y, c(-Inf, -0.7, 0.7, Inf), c("low", "mid", "high \u00e4<"))
  class2 <- factor(ifelse(y > 0, "ill", "well"))
  count <- rpois(n, exp(y / 3))
  x <- as.matrix(d[letters[1:6]])
  holes <- replace(x, cbind(1:12, rep(1:6, 2)), NA)
  frame_holes <- replace(d, "sex", list(replace(d$sex, 1:5, NA)))
  quietly <- function(expr) suppressMessages(suppressWarnings(expr))
  new <- d[c(3, 17, 42, 8), ]
  new_holes <- new
  new_holes[1, c("a", "b")] <- NA
  new_holes[2, "sex"] <- NA
  times <- survival::Surv(exp(y), rep(c(1, 1, 0), length.out = n))
  two <- quietly(greedy_rls(class2 ~ ., cbind(d, class2)))
  three <- quietly(greedy_rls(class3 ~ ., cbind(d, class3)))
  quietly(list(
    numbers = list(greedy_rls(y ~ ., d), new),
    products = list(greedy_rls(y ~ a * sex + `odd name`:b + yes, d), new),
    covariates = list(greedy_rls(y ~ a + b + c + sex, d, adjust = ~ `odd name` + yes), new),
    means = list(greedy_rls(holes, y, missing = "mean"), as.matrix(new_holes[letters[1:6]])),
    missing_level = list(greedy_rls(y ~ ., frame_holes, missing = "mean"), new_holes),
    responses = list(greedy_rls(x, cbind(one = y, two = y^2)), x[1:4, ]),
    classes2 = list(two, new), isotonic2 = list(two, new, calibration = "isotonic"),
    threshold = list(two, new, threshold = 0.3),
    classes3 = list(three, new), isotonic3 = list(three, new, calibration = "isotonic"),
    weighted3 = list(greedy_rls(class3 ~ ., cbind(d, class3), class_weights = "balanced"), new),
    # its classes are not the ones with the largest isotonic probability
    isotonic_classes = list(greedy_rls(d[c("a", "b")], class3,
                                       class_weights = "balanced"), d, calibration = "isotonic"),
    logistic = list(l1_path(x, class2, loss = "logistic"), x[1:4, ]),
    softmax = list(l1_path(x, class3, loss = "multinomial"), x[1:4, ]),
    counts = list(l1_path(count ~ a + b + c + offset(d), cbind(d, count), loss = "poisson"),
                  new),
    exposures = list(l1_path(count ~ a + b + offset(log(exp(d))), cbind(d, count),
                             loss = "poisson"), transform(new, offset = d)),
    ridge = list(rls(x, y), x[1:4, ]),
    lasso = list(l1_path(x, y), x[1:4, ]),
    risks = list(greedy_rls(x, times), x[1:4, ]),
    hazards = list(l1_path(x, times, loss = "cox"), x[1:4, ]),
    ranks = list(greedy_rls(x, y, within = rep(1:6, each = 10)), x[1:4, ]),
    none = list(greedy_rls(x, rnorm(n)), x[1:4, ]),
    curves = list(greedy_rls(y + a^2 ~ s(a) + s(b) + c + sex, d, k = 4, size = 4),
                  replace(new, "a", list(c(-9, 9, 0.1, -0.4)))),
    pairs = list(greedy_rls(y ~ s(a) + s(b) + c + sex + s(a, c) + s(a, b, df = 4), d,
                            k = 6, size = 6),
                 replace(new, "a", list(c(-9, 9, 0.1, -0.4)))),
    pairs_of_means = list(greedy_rls(holes, class2, missing = "mean", interactions = TRUE, k = 3,
                                     size = 3),
                          as.matrix(new_holes[letters[1:6]])),
    curves_of_means = list(greedy_rls(holes, class2, missing = "mean", smooth = TRUE, size = 2),
                           as.matrix(new_holes[letters[1:6]]))
  ))
}

panel_of <- function(case) do.call(as_panel, c(case[1L], case[-(1:2)]))

cases <- if (requireNamespace("survival", quietly = TRUE)) panel_cases()

test_that("a panel predicts as its fit does", {
  skip_if_not_installed("survival")
  for (kind in names(cases)) {
    case <- cases[[kind]]
    panel <- panel_of(case)
    new <- case[[2L]]
    quiet <- function(expr) suppressWarnings(expr)
    type <- if (kind %in% c("risks", "hazards")) "risk" else "response"
    expect_equal(quiet(predict(panel, new)), quiet(predict(case[[1L]], new, type = type)),
                 tolerance = 1e-12, info = kind)
    if (kind %in% c("numbers", "responses", "classes3")) {
      expect_equal(coef(panel), coef(case[[1L]]), info = kind)
    }
    if (is.null(panel$levels)) next
    expect_equal(quiet(predict(panel, new, type = "prob")),
                 quiet(predict(case[[1L]], new, type = "prob", calibration = case$calibration)),
                 tolerance = 1e-12, info = kind)
    expect_identical(quiet(predict(panel, new, type = "class")),
                     quiet(predict(case[[1L]], new, type = "class", threshold = case$threshold)),
                     info = kind)
  }
})

test_that("the terms of a curve are curves", {
  skip_if_not_installed("survival")
  expect_true(any(are_curves(panel_of(cases$curves))))
  expect_true(any(are_curves(panel_of(cases$curves_of_means))))
})

test_that("a file gives the panel back, to the bit", {
  skip_if_not_installed("survival")
  skip_if_not_installed("jsonlite")
  file <- tempfile(fileext = ".json")
  for (kind in names(cases)) {
    panel <- panel_of(cases[[kind]])
    write_panel(panel, file)
    expect_identical(read_panel(file), panel, info = kind)
  }
})

# Other languages ----------------------------------------------------------------------------------

# the rows of new data as lists of variables, missing values as NULL
rows_of_data <- function(new) {
  new <- as.data.frame(new)
  lapply(seq_len(nrow(new)), function(i) {
    lapply(new[i, , drop = FALSE], function(value) {
      if (is.na(value)) NULL else if (is.factor(value)) as.character(value) else value + 0
    })
  })
}

json_of_rows <- function(rows) {
  as.character(jsonlite::toJSON(rows, auto_unbox = TRUE, digits = NA, null = "null"))
}

# what an interpreter prints of the rows, an element each
run_script <- function(program, extension, lines) {
  script <- tempfile(fileext = extension)
  writeLines(enc2utf8(lines), script, useBytes = TRUE)
  text <- suppressWarnings(system2(program, script, stdout = TRUE, stderr = TRUE))
  lapply(text, function(line) {
    tryCatch(jsonlite::fromJSON(line), error = function(e) stop(paste(text, collapse = "\n")))
  })
}

# What the codes of all panels give for the rows of their data, by one process. Each code runs by
# itself, from a file. `script` makes the lines that run pairs of files, given as JSON.
run_together <- function(panels, data, language, program, extension, script) {
  folder <- tempfile()
  dir.create(folder)
  text <- function(lines, name) {
    file <- file.path(folder, name)
    writeLines(enc2utf8(lines), file, useBytes = TRUE)
    file
  }
  files <- Map(function(panel, new, at) {
    c(text(captured(panel, language), paste0(at, extension)),
      text(json_of_rows(rows_of_data(new)), paste0(at, ".json")))
  }, panels, data, seq_along(panels))
  said <- run_script(program, extension, script(jsonlite::toJSON(unname(files))))
  split(said, factor(rep(names(panels), vapply(data, nrow, 0L)), names(panels)))
}

run_python <- function(panels, data) {
  run_together(panels, data, "python", "python3", ".py", function(files) {
    c("import json, math",
      "def plain(value):",
      "    if isinstance(value, dict): return {k: plain(v) for k, v in value.items()}",
      "    return None if isinstance(value, float) and math.isnan(value) else value",
      sprintf("for code, rows in %s:", files),
      "    scope = {}",
      "    exec(open(code, encoding=\"utf-8\").read(), scope)",
      "    for row in json.load(open(rows, encoding=\"utf-8\")):",
      "        print(json.dumps(plain(scope[\"predict\"](row))))")
  })
}

run_javascript <- function(panels, data) {
  run_together(panels, data, "javascript", "node", ".js", function(files) {
    c("const read = (file) => require('fs').readFileSync(file, 'utf8');",
      sprintf("for (const [code, rows] of %s) {", files),
      "  const predict = new Function(read(code) + '\\nreturn predict;')();",
      "  for (const row of JSON.parse(read(rows))) console.log(JSON.stringify(predict(row)));",
      "}")
  })
}

captured <- function(panel, language, ...) {
  code <- NULL
  utils::capture.output(code <- panel_code(panel, language, ...))
  code
}

# the same of a program in C: responses, probabilities and the class
run_c <- function(panel, new) {
  folder <- tempfile()
  dir.create(folder)
  outputs <- length(panel$outputs) + 2L * !is.null(code_half_width(panel))
  classes <- if (is.null(panel$probability)) 0L else length(panel$levels)
  names <- vapply(panel$variables, `[[`, "", "name")
  values <- vapply(rows_of_data(new), function(row) {
    each <- vapply(seq_along(names), function(i) {
      value <- row[[names[i]]]
      is_factor <- !is.null(panel$variables[[i]]$levels)
      if (is.null(value)) return(if (is_factor) "NULL" else "NAN")
      if (is_factor) c_quoted(value) else number_text(value + 0)
    }, "")
    sprintf("{%s}", paste(c(each, if (!length(each)) "0"), collapse = ", "))
  }, "")
  writeLines(enc2utf8(c(
    captured(panel, "c"), "#include <stdio.h>", "int main(void) {",
    sprintf("  struct predict_row rows[] = {%s};", paste(values, collapse = ",\n    ")),
    sprintf("  for (int i = 0; i < %d; i++) {", nrow(new)),
    sprintf("    double response[%d], prob[%d];", outputs, classes + 1L),
    "    int k = predict(rows + i, response, prob);",
    sprintf("    for (int l = 0; l < %d; l++) printf(\"%%.17g \", response[l]);", outputs),
    sprintf("    for (int l = 0; l < %d; l++) printf(\"%%.17g \", prob[l]);", classes),
    "    printf(\"%d\\n\", k);", "  }", "  return 0;", "}"
  )), file.path(folder, "panel.c"), useBytes = TRUE)
  program <- file.path(folder, "panel")
  said <- system2("gcc", c("-std=c11", "-O2", "-Wall", "-Werror", "-o", program,
                           file.path(folder, "panel.c"), "-lm"), stdout = TRUE, stderr = TRUE)
  if (!file.exists(program)) stop(paste(said, collapse = "\n"))
  numbers <- do.call(rbind, strsplit(system2(program, stdout = TRUE), " "))
  mode(numbers) <- "numeric"
  list(response = numbers[, seq_len(outputs), drop = FALSE],
       prob = numbers[, outputs + seq_len(classes), drop = FALSE], class = numbers[, ncol(numbers)])
}

run_sql <- function(panel, new) {
  connection <- DBI::dbConnect(RSQLite::SQLite())
  on.exit(DBI::dbDisconnect(connection))
  RSQLite::initExtension(connection, "math")
  new <- as.data.frame(new)
  factors <- vapply(new, is.factor, NA)
  new[factors] <- lapply(new[factors], as.character)
  DBI::dbWriteTable(connection, "new \"rows\"", new)
  DBI::dbGetQuery(connection, captured(panel, "sql", name = "new \"rows\""))
}

has_program <- function(name) nzchar(Sys.which(name))

# the predictions of a panel as matrices without names
in_r <- function(panel, new) {
  quietly <- function(...) suppressWarnings(predict(panel, new, ...))
  response <- unname(as.matrix(quietly()))
  if (!is.null(code_half_width(panel))) {
    level <- max(panel$interval$level[panel$interval$level < 0.91])
    response <- unname(quietly(interval = "prediction", level = level))
  }
  list(response = response,
       prob = if (!is.null(panel$probability)) unname(quietly(type = "prob")),
       class = if (!is.null(panel$levels)) as.character(quietly(type = "class")))
}

# the same of what a script printed
of_rows <- function(rows, panel) {
  number <- function(value) if (is.null(value)) NA_real_ else value
  matrix_of <- function(each) unname(do.call(rbind, each))
  list(
    response = matrix_of(lapply(rows, function(row) {
      c(unlist(lapply(if (is.list(row$response)) row$response else list(row$response), number)),
        if (!is.null(code_half_width(panel))) c(number(row$lwr), number(row$upr)))
    })),
    prob = if (!is.null(panel$probability)) {
      matrix_of(lapply(rows, function(row) unlist(lapply(row$prob, number))))
    },
    class = if (!is.null(panel$levels)) {
      vapply(rows, function(row) if (is.null(row$class)) NA_character_ else row$class, "")
    }
  )
}

test_that("Python and JavaScript give the same bits", {
  skip_if_not_installed("survival")
  skip_if_not_installed("jsonlite")
  for (language in c("python", "javascript")) {
    if (!has_program(if (language == "python") "python3" else "node")) next
    run <- if (language == "python") run_python else run_javascript
    panels <- lapply(cases, panel_of)
    said <- run(panels, lapply(cases, `[[`, 2L))
    for (kind in names(cases)) {
      panel <- panels[[kind]]
      own <- in_r(panel, cases[[kind]][[2L]])
      there <- of_rows(said[[kind]], panel)
      # the exponential function of a JavaScript engine may differ in the last bit
      exact <- language == "python" || panel$mean == "identity"
      expect_equal(there$response, own$response, tolerance = if (exact) 0 else 1e-15,
                   info = paste(language, kind))
      expect_equal(there$prob, own$prob, tolerance = if (language == "python") 0 else 1e-15,
                   info = paste(language, kind))
      expect_identical(there$class, own$class, info = paste(language, kind))
    }
  }
})

test_that("C gives the same bits", {
  skip_if_not_installed("survival")
  skip_if(!has_program("gcc"))
  for (kind in names(cases)) {
    panel <- panel_of(cases[[kind]])
    own <- in_r(panel, cases[[kind]][[2L]])
    there <- run_c(panel, cases[[kind]][[2L]])
    expect_identical(is.na(there$response), is.na(own$response), info = kind)
    expect_equal(there$response, own$response, tolerance = 0, info = kind)
    if (length(own$prob)) expect_equal(there$prob, own$prob, tolerance = 0, info = kind)
    if (is.null(own$class)) next
    expect_identical(c(NA, panel$levels)[there$class + 2L], own$class, info = kind)
  }
})

test_that("a query gives the same to 15 digits", {
  skip_if_not_installed("survival")
  skip_if_not_installed("RSQLite")
  for (kind in names(cases)) {
    panel <- panel_of(cases[[kind]])
    new <- cases[[kind]][[2L]]
    own <- in_r(panel, new)
    there <- run_sql(panel, new)
    if (is.null(panel$levels)) {
      responses <- if (length(panel$outputs) == 1L) "response" else
        paste0("response_", panel$outputs)
      columns <- c(responses, if (!is.null(code_half_width(panel))) c("lwr", "upr"))
      expect_equal(unname(as.matrix(there[columns])), own$response, tolerance = 1e-14, info = kind)
    } else {
      prob <- there[paste0("prob_", seq_along(panel$levels))]
      expect_equal(unname(as.matrix(prob)), own$prob, tolerance = 1e-14, info = kind)
      expect_identical(there$class, own$class, info = kind)
    }
  }
})

# the two lines of Excel, the second once for each row with its variables
excel_lines <- function(panel, new) {
  lines <- strsplit(captured(panel, "excel"), "\n", fixed = TRUE)[[1L]]
  variables <- vapply(panel$variables, `[[`, "", "name")
  formulas <- strsplit(lines[2L], "\t", fixed = TRUE)[[1L]]
  rows <- vapply(seq_len(nrow(new)), function(i) {
    row <- rows_of_data(new)[[i]]
    inputs <- vapply(variables, function(name) {
      value <- row[[name]]
      if (is.null(value)) "" else if (is.character(value)) cell_text(value) else number_text(value)
    }, "")
    own <- gsub("([A-Z]+)2\\b", sprintf("\\1%d", i + 1L),
                formulas[seq_along(formulas) > length(variables)], perl = TRUE)
    paste(c(inputs, own), collapse = "\t")
  }, "")
  c(lines[1L], rows)
}

# the cells of each table as LibreOffice computes them, which takes seconds to start
run_excel <- function(tables) {
  folder <- tempfile()
  dir.create(folder)
  files <- file.path(folder, paste0(names(tables), ".csv"))
  Map(writeLines, lapply(tables, enc2utf8), files, useBytes = TRUE)
  # fields by tabs (9), text in double quotes (34), UTF-8 (76), formulas are evaluated. The
  # libraries of R are not for LibreOffice.
  system2("env", c(
    "-u", "LD_LIBRARY_PATH", "soffice", "--headless",
    paste0("-env:UserInstallation=file://", folder, "/profile"),
    shQuote("--infilter=CSV:9,34,76,1,,0,false,true,false"), "--convert-to",
    shQuote("csv:Text - txt - csv (StarCalc):9,34,76,1,,0,false,false"), "--outdir",
    file.path(folder, "out"), files
  ), stdout = FALSE, stderr = FALSE)
  lapply(stats::setNames(file.path(folder, "out", basename(files)), names(tables)),
         utils::read.delim, check.names = FALSE, na.strings = c("NA", "#N/A"), encoding = "UTF-8")
}

test_that("Excel's formulas give the same to 14 digits", {
  skip_if_not_installed("survival")
  skip_if(!has_program("soffice"))
  # many clipped curves are longer than a formula of Excel
  kinds <- setdiff(names(cases), c("isotonic2", "isotonic3", "isotonic_classes", "pairs",
                                     "pairs_of_means"))
  tables <- run_excel(lapply(cases[kinds], function(case) {
    excel_lines(panel_of(case), case[[2L]])
  }))
  for (kind in kinds) {
    panel <- panel_of(cases[[kind]])
    own <- in_r(panel, cases[[kind]][[2L]])
    there <- tables[[kind]]
    columns <- if (is.null(panel$levels)) grep("^(response|lwr|upr)", names(there)) else
      paste0("prob_", seq_along(panel$levels))
    values <- unname(as.matrix(there[columns]))
    expected <- if (is.null(panel$levels)) own$response else own$prob
    expect_equal(values, expected, tolerance = 1e-13, info = kind)
    if (!is.null(panel$levels)) expect_identical(as.character(there$class), own$class, info = kind)
  }
})

# Names, files and errors --------------------------------------------------------------------------

test_that("names and levels cannot end the code around them", {
  skip_if_not_installed("RSQLite")
  skip_if_not_installed("jsonlite")
  names <- c("a\"); --", "b'\n\"\"\"", "=1+1", "*/ x /* <<half>>", "\u00e9\u4e2d\U0001f600",
             "$\\\\{y}", "??=")
  set.seed(5)
  x <- matrix(round(rnorm(40 * 7), 3), 40, dimnames = list(NULL, names))
  y <- drop(x %*% c(3, -2, 1, 2, -3, 1, 2)) + rnorm(40)
  panel <- as_panel(greedy_rls(x, y, k = 7, size = 7))
  expect_length(panel$variables, 7L)
  own <- in_r(panel, x[1:3, ])
  file <- tempfile()
  write_panel(panel, file)
  expect_identical(read_panel(file), panel)
  if (has_program("python3")) {
    said <- run_python(list(one = panel), list(x[1:3, ]))$one
    expect_equal(of_rows(said, panel)$response, own$response, tolerance = 0)
  }
  if (has_program("node")) {
    said <- run_javascript(list(one = panel), list(x[1:3, ]))$one
    expect_equal(of_rows(said, panel)$response, own$response, tolerance = 0)
  }
  if (has_program("gcc")) {
    expect_equal(run_c(panel, x[1:3, ])$response, own$response, tolerance = 0)
  }
  there <- run_sql(panel, x[1:3, ])
  expect_equal(there$response, own$response[, 1L], tolerance = 1e-14)
  cells <- strsplit(captured(panel, "excel"), "\t", fixed = TRUE)[[1L]]
  expect_true("'=1+1" %in% cells)
})

test_that("in SQL a table may be in a schema", {
  skip_if_not_installed("RSQLite")
  fit <- greedy_rls(mpg ~ wt + hp, mtcars, size = 2)
  connection <- DBI::dbConnect(RSQLite::SQLite())
  on.exit(DBI::dbDisconnect(connection))
  DBI::dbExecute(connection, "ATTACH ':memory:' AS \"other.one\"")
  DBI::dbExecute(connection, "CREATE TABLE \"other.one\".cars (wt REAL, hp REAL)")
  DBI::dbExecute(connection, "INSERT INTO \"other.one\".cars VALUES (2, 100), (3.5, 200)")
  there <- DBI::dbGetQuery(connection, captured(fit, "sql", name = c("other.one", "cars")))
  expect_equal(there$response, unname(predict(fit, data.frame(wt = c(2, 3.5), hp = c(100, 200)))))
  for (name in list(c("a", NA), c("a", ""), character(), NA)) {
    expect_error(panel_code(fit, "sql", name = name), "`name` must be a name",
                 class = "sparsels_error_argument")
  }
  expect_error(panel_code(fit, "c", name = c("a", "b")), "`name` must", class = "sparsels_error")
})

test_that("variables may have the names of computed columns", {
  skip_if_not_installed("RSQLite")
  set.seed(6)
  n <- 80L
  names <- c("score", "Class", "response", "prob_1", "link", "panel_response", "total")
  x <- matrix(round(rnorm(n * 7), 3), n, dimnames = list(NULL, names))
  f <- drop(x %*% c(3, -2, 1, 2, -3, 1, 2))
  new <- x[1:4, ]
  last <- function(there, name) there[[utils::tail(which(names(there) == name), 1L)]]
  numbers <- as_panel(greedy_rls(x, f + rnorm(n), k = 7, size = 7))
  three <- as_panel(greedy_rls(x, cut(f, c(-Inf, -3, 3, Inf), letters[1:3]), k = 7, size = 7))
  counts <- as_panel(l1_path(x, rpois(n, exp(f / 9)), loss = "poisson"))
  there <- run_sql(numbers, new)
  ends <- predict(numbers, new, interval = "prediction")
  expect_equal(there$predicted_response, unname(ends[, "fit"]), tolerance = 1e-13)
  expect_equal(there$upr, unname(ends[, "upr"]), tolerance = 1e-13)
  there <- run_sql(three, new)
  expect_equal(there$prob_2, unname(predict(three, new, type = "prob")[, 2L]), tolerance = 1e-13)
  expect_identical(there$predicted_class, as.character(predict(three, new, type = "class")))
  expect_equal(run_sql(counts, new)$predicted_response, unname(predict(counts, new)),
               tolerance = 1e-13)
  # a column of the table that is no variable
  small <- as_panel(greedy_rls(x[, c("link", "total")], x[, "link"] + rnorm(n), size = 1))
  there <- run_sql(small, data.frame(new[, c("link", "total")], response = 0))
  expect_equal((there$lwr + there$upr) / 2, unname(predict(small, new)), tolerance = 1e-13)
  # SQLite takes "name" for a text where there is no such column
  expect_error(run_sql(small, data.frame(other = 1:2)), "no such column")
  skip_if(!has_program("soffice"))
  tables <- run_excel(list(numbers = excel_lines(numbers, new), three = excel_lines(three, new)))
  expect_equal(tables$numbers$upr, unname(ends[, "upr"]), tolerance = 1e-13)
  expect_equal(tables$three$prob_2, unname(predict(three, new, type = "prob")[, 2L]),
               tolerance = 1e-13)
})

test_that("shares of isotonic probabilities are no integers in SQL, and powers have limits", {
  skip_if_not_installed("RSQLite")
  set.seed(7)
  x <- cbind(a = rnorm(90), b = rnorm(90))
  three <- cut(x[, 1] + rnorm(90) / 3, c(-Inf, -0.5, 0.5, Inf), letters[1:3])
  fit <- greedy_rls(x, three, k = 2, size = 2)
  panel <- as_panel(fit, calibration = "isotonic")
  # every class has probability 1 where its score is positive
  panel$probability$maps <- lapply(1:3, function(k) list(at = c(-1, 0), level = c(1, 1)))
  panel <- seal(panel)
  there <- run_sql(panel, x[1:3, ])
  expect_equal(unname(as.matrix(there[paste0("prob_", 1:3)])), matrix(1 / 3, 3, 3))
  far <- 1000 * x[1:3, ]
  panel <- as_panel(l1_path(x, three, loss = "multinomial"))
  there <- run_sql(panel, far)
  expect_equal(unname(as.matrix(there[paste0("prob_", 1:3)])),
               unname(predict(panel, far, type = "prob")), tolerance = 1e-13)
})

test_that("text that is no number and NaN for a level are handled alike", {
  skip_if_not_installed("jsonlite")
  d <- data.frame(a = c(NA, 1:39), f = rep(c("u", "v"), 20))
  y <- 2 * (d$f == "u") + d$a / 10
  y[1] <- 1
  panel <- as_panel(greedy_rls(d, y, missing = "mean", size = 2, k = 2))
  after <- function(language, lines) c(captured(panel, language), lines)
  if (has_program("node")) {
    said <- run_script("node", ".js", after("javascript", c(
      "for (const a of [null, NaN, '', '1,5', undefined, '2'])",
      "  try { console.log(predict({a: a, f: 'u'}).response); }",
      "  catch (e) { console.log(JSON.stringify(e.message)); }",
      "console.log(predict({a: 1, f: NaN}).response === predict({a: 1, f: null}).response);"
    )))
    two <- predict(panel, data.frame(a = c(NA, 2), f = "u"))
    expect_equal(unlist(said[c(1, 2, 6)]), unname(two[c(1, 1, 2)]), tolerance = 1e-14)
    expect_match(unlist(said[3:5]), "no number .* of a")
  }
  if (has_program("python3")) {
    said <- run_script("python3", ".py", after("python", c(
      "print(str(math.isnan(predict({'a': 1, 'f': math.nan})['response'])).lower())"
    )))
    expect_true(said[[1L]])
  }
})

test_that("a panel predicts no row, one row and ordered classes as its fit does", {
  set.seed(8)
  x <- matrix(rnorm(120), 60, dimnames = list(paste0("r", 1:60), c("a", "b")))
  f <- x[, 1] + rnorm(60) / 3
  for (y in list(factor(f > 0), cut(f, c(-9, -0.4, 0.4, 9), letters[1:3], ordered_result = TRUE))) {
    fit <- suppressMessages(greedy_rls(x, y))
    for (calibration in c("platt", "isotonic")) {
      panel <- as_panel(fit, calibration = calibration)
      none <- expect_no_warning(predict(panel, x[0, ], type = "prob"))
      expect_identical(none, predict(fit, x[0, ], type = "prob"))
      for (rows in list(1L, 1:9)) {
        new <- x[rows, , drop = FALSE]
        expect_identical(predict(panel, new, type = "class"), predict(fit, new, type = "class"))
      }
    }
  }
  panel <- as_panel(greedy_rls(x, f))
  for (rows in list(0L, 1L, 1:3)) {
    new <- x[rows, , drop = FALSE]
    ends <- predict(panel, new, interval = "prediction")
    expect_identical(unname(ends[, "fit"]), unname(predict(panel, new)))
    expect_identical(dimnames(ends), list(if (nrow(new)) rownames(new), c("fit", "lwr", "upr")))
  }
})

test_that("a panel finds variables that formulas write as code", {
  set.seed(9)
  d <- data.frame(rnorm(60), rnorm(60))
  names(d) <- c("x`y", "new\nline")
  d$y <- d[[1]] * d[[2]] + rnorm(60) / 9
  fit <- greedy_rls(y ~ `x\`y` * `new\nline`, d, k = 3, size = 3)
  expect_equal(predict(as_panel(fit), d), predict(fit, d), tolerance = 1e-12)
})

test_that("what a panel cannot have is refused by name", {
  d <- data.frame(y = rnorm(30), a = exp(rnorm(30)), b = rnorm(30))
  d$y <- d$y + 3 * log(d$a)
  error <- "sparsels_error_panel"
  for (formula in c(y ~ log(a) + b, y ~ log(a))) {
    expect_error(as_panel(greedy_rls(formula, d)), "'log\\(a\\)' is computed by R", class = error)
  }
  bent <- kernel_rls(as.matrix(d[2:3]), d$y, kernel = kernel_gaussian(sigma2 = 1))
  expect_error(as_panel(bent), "kernel", class = error)
  expect_error(as_panel(lm(y ~ a, d)), "a fit of this package", class = "sparsels_error_input")
  fit <- greedy_rls(y ~ a + b, d)
  expect_error(as_panel(fit, threshold = 0.5), "classes")
  panel <- as_panel(fit)
  expect_error(as_panel(panel, size = 1), "one model")
  expect_error(predict(panel, d["b"]), "lacks 1 needed column: 'a'")
  expect_error(predict(panel), "has no data")
  expect_error(predict(panel, d, type = "class"), "needs a panel of classes")
  expect_error(predict(panel, d, interval = "prediction", level = 0.7), "one of 0.5, 0.8, 0.9")
  expect_error(panel_code(panel, "fortran"), "must be")
  expect_error(panel_code(panel, "c", name = "a b"), "letters, digits")
  panel$intercept <- "a"
  expect_error(predict(panel, d), class = "sparsels_error_object")
})

test_that("a file that is no panel of this version is a classed error", {
  skip_if_not_installed("jsonlite")
  fit <- greedy_rls(mpg ~ ., mtcars)
  file <- tempfile()
  write_panel(fit, file)
  lines <- readLines(file)
  error <- "sparsels_error_panel"
  refused <- function(changed, message) {
    writeLines(changed, file)
    expect_error(read_panel(file), message, class = error)
  }
  refused(lines[-length(lines)], "not JSON")
  refused("[1, 2]", "no number `format`")
  refused(sub("\"format\": 1", "\"format\": 2", lines), "has format 2.*update sparsels")
  refused(grep("\"intercept\"", lines, invert = TRUE, value = TRUE), "lacks `intercept`")
  refused(sub("\"mean\": \"identity\"", "\"mean\": 3", lines), "mean must be a string")
  refused(sub("(\"intercept\": \\[)", "\\11", lines), "damaged or was edited")
  refused(sub("\"intercept\": [", "\"intercept\": [\"a\", ", lines, fixed = TRUE),
          "intercept must be an array of numbers")
  refused(sub("\"outputs\": [\"mpg\"]", "\"outputs\": [1]", lines, fixed = TRUE),
          "outputs must be an array of strings")
  refused(sub("\"about\": {", "\"about\": [1], \"other\": {", lines, fixed = TRUE),
          "about must be an object")
  refused(sub("\"variables\": [", "\"variables\": {\"a\": 1}, \"other\": [", lines, fixed = TRUE),
          "variables must be an array")
  expect_error(read_panel(tempfile()), "there is no file", class = error)
  expect_error(write_panel(fit, file.path(tempfile(), "a.json")), "cannot write", class = error)
  expect_error(read_panel(tempdir()), "there is no file", class = error)
  # a full disk leaves the panel that was there
  before <- readLines(file)
  expect_error(with_binding("bytes_written", function(path) 0, write_panel(fit, file)),
               "is there space", class = error)
  expect_identical(readLines(file), before)
})

test_that("a limit of Excel is an error that names it", {
  error <- "sparsels_error_panel"
  set.seed(9)
  x <- matrix(rnorm(80 * 300), 80, dimnames = list(NULL, paste0("a_long_name_", 1:300)))
  many <- as_panel(rls(x, x[, 1] + rnorm(80), lambda = 10))
  expect_error(panel_code(many, "excel"), "8192 characters in a formula, and 'response'",
               class = error)
  long <- factor(rep(c("a", strrep("b", 300)), 40))
  expect_error(panel_code(greedy_rls(y ~ long, data.frame(y = rnorm(80) + 5 * (long == "a"), long),
                                     size = 1), "excel"), "255 characters", class = error)
  score <- sort(rnorm(400))
  steps <- factor(ifelse(runif(400) < plogis(3 * score), "yes", "no"))
  panel <- as_panel(greedy_rls(cbind(score), steps, size = 1))
  panel$probability <- list(kind = "isotonic", intercept = NULL, slope = NULL,
                            maps = list(list(at = seq_len(70) + 0, level = seq_len(70) / 70)))
  expect_error(panel_code(seal(panel), "excel"), "64 conditions", class = error)
})

test_that("the code of a panel is as it was", {
  panel <- as_panel(greedy_rls(mpg ~ wt + cyl, mtcars))
  panel$intercept[] <- 40
  panel$terms <- Map(function(term, value) replace(term, "coefficients", value), panel$terms,
                     c(-3, -1.5))
  panel$interval <- data.frame(level = 0.9, half_width = 5)
  panel$error <- NULL
  panel <- seal(panel)
  for (language in names(panel_languages())) expect_snapshot(panel_code(panel, language))
})

test_that("a panel of an honest error prints and tidies", {
  set.seed(1)
  panel <- as_panel(cross_validate(mpg ~ ., mtcars, greedy_rls))
  expect_match(panel$error$how, "honest")
  expect_output(print(panel), "50 % within")
  expect_identical(tidy(panel)$term[1L], "(Intercept)")
  expect_identical(glance(panel)$nobs, 32)
  expect_identical(as.data.frame(panel), tidy(panel))
})

test_that("a panel prints the error of its model that the fit prints", {
  skip_if_not_installed("survival")
  set.seed(21)
  x <- matrix(rnorm(240), 40, dimnames = list(NULL, letters[1:6]))
  f <- x[, 1] - x[, 2] + rnorm(40) / 2
  two <- factor(f > 0)
  three <- cut(f, c(-9, -0.5, 0.5, 9), letters[1:3])
  rate <- function(fit, y) mean(augment(fit)$.pred_class != y)
  expect_error_of <- function(fit, words, value, how) {
    expect_equal(as_panel(fit)$error[c("measure", "value", "how")],
                 list(measure = words, value = value, how = how))
    expect_match(paste(trimws(capture.output(print(fit))), collapse = " "),
                 paste(words, shown(value)), fixed = TRUE)
  }
  after <- "of rows held out after the selection"
  best <- best_subset(x, f, k = 2)
  expect_error_of(best, "mean squared error", mean((f - best$held_out)^2), after)
  for (y in list(two, three)) {
    fit <- greedy_rls(x, y, size = "criterion")
    expect_error_of(fit, "error rate", rate(fit, y), after)
    fit <- best_subset(x, y, k = 2)
    expect_error_of(fit, "error rate", rate(fit, y), after)
    fit <- rls(x, y)
    expect_error_of(fit, "error rate", rate(fit, y), "of rows held out")
    fit <- l1_path(x, y, folds = 4)
    expect_error_of(fit, "error rate", rate(fit, y), "of rows held out")
  }
  fit <- greedy_rls(x, two, size = 2, k = 3, size_folds = 4)
  expect_error_of(fit, "error rate", rate(fit, two), "of held-out folds")
  # held-out predictions of times are risks
  time <- survival::Surv(exp(f), rep(1, 40))
  fit <- rls(x, time)
  expect_error_of(fit, "mean squared error of log times", mean((f + fit$held_out)^2),
                  "of rows held out")
})

test_that("columns without a name have their numbers for a panel, as for the fit", {
  set.seed(5)
  x <- matrix(rnorm(60), 20, dimnames = list(NULL, c("", "b", "c")))
  fit <- greedy_rls(x, x[, 1] + rnorm(20) / 9, k = 2, lambda = 1, size = 1)
  expect_equal(predict(as_panel(fit), x), fitted(fit), ignore_attr = TRUE)
})

test_that("a panel with a threshold has the error rate of its own classes", {
  set.seed(6)
  x <- matrix(rnorm(240), 60, dimnames = list(NULL, letters[1:4]))
  class <- factor(ifelse(x[, 1] + rnorm(60) > 0, "ill", "well"))
  w <- rep(1:2, 30)
  fit <- greedy_rls(x, class, weights = w, size = 1)
  cvd <- cross_validate(x, class, greedy_rls, weights = w, size = 1, outer = 5)
  for (object in list(fit, cvd)) {
    chosen <- choose_threshold(object, sensitivity = 0.95, event = "well")
    panel <- as_panel(object, threshold = chosen)
    expect_equal(panel$error$value, chosen$cost)
    expect_match(panel$error$measure, paste("error rate at threshold", shown(chosen$threshold)))
  }
})
