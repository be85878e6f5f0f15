# Panels as functions of other languages. Each language has one record: how it writes the parts of a
# term, and a function that puts the whole together. All compute in the order of panel_scores() and
# panel_probabilities().

#' A panel as code of another language
#'
#' The predictions of a [panel][as_panel] as a short function that needs neither R nor this package,
#' and that anybody can read.
#'
#' @param x A panel, or anything of which [as_panel()] makes one.
#' @param language `"python"`, `"javascript"`, `"c"`, `"sql"` or `"excel"`.
#' @param name The name of the function, or in SQL of the table of new rows, with the parts of a
#'   longer name one by one, such as `c("schema", "table")`; `NULL` for `"predict"` and `"newdata"`.
#' @param file The name of the file that the code is written to; `""` for the console.
#'
#' @details
#' * `"python"` and `"javascript"`: `predict(row)` of a dictionary (an object) with the variables,
#'   `None` (`null`) or NaN where a value is missing. It returns a dictionary with `response`, of
#'   several responses a dictionary; `lwr` and `upr`, of the highest level up to 0.9, if the panel
#'   has intervals; `prob` and `class` of classes. An unknown level and a text that is no number are
#'   errors.
#' * `"c"`: `predict(row, response, prob)` of a structure with the variables, `NAN` or `NULL` where
#'   a value is missing. It writes the responses, and after them `lwr` and `upr` if the panel has
#'   intervals, and the probabilities of classes. It returns the number of the class from 0, or -1.
#'   An unknown level gives `NAN`. The standard C11 (`-std=c11`) keeps the order of operations.
#' * `"sql"`: a query that adds the columns `response`, `lwr`, `upr`, `prob_1`, ... and `class` to a
#'   table, with `predicted_` before a name that a variable has. The columns before them, whose
#'   names begin with `panel_`, are steps of the computation. It needs the function `EXP` for
#'   classes and counts, and window functions for classes. Unknown levels give `NULL`.
#' * `"excel"`: two lines with cells separated by tabs, to be pasted into cell A1: the names, and
#'   the formulas of row 2, whose first cells are for the variables. Copy row 2 down for more rows.
#'   An unknown level or a missing value gives `#N/A`. Excel computes with 15 digits.
#'
#' Names and levels are quoted by the rules of each language. In Excel a name that begins like a
#' formula gets an apostrophe.
#'
#' @return The code, a string, invisibly.
#' @section Errors: `sparsels_error_panel` where a language has a limit: a formula of Excel of more
#'   than 8192 characters, a level of more than 255.
#' @examples
#' fit <- greedy_rls(mpg ~ ., mtcars, k = 3)
#' panel_code(fit, "python")
#' panel_code(fit, "sql", name = "cars")
#' @export
panel_code <- function(x, language = c("python", "javascript", "c", "sql", "excel"), name = NULL,
                       file = "") {
  languages <- panel_languages()
  language <- choice_or_first(language, "language", names(languages))
  panel <- as_panel(x)
  syntax <- languages[[language]]
  if (is.null(name)) name <- syntax$name
  parts <- is.character(name) && length(name) > 1L && !anyNA(name) && language == "sql"
  refuse_unless((is_string(name) || parts) && all(nzchar(name)), "name", "a name", name)
  refuse_unless(language == "sql" || grepl("^[A-Za-z_][A-Za-z0-9_]*$", name), "name",
                "a name of letters, digits and underscores", name)
  refuse_unless(is_string(file), "file", "the name of a file", file)
  code <- enc2utf8(syntax$write(panel, name, syntax))
  if (nzchar(file)) write_text(code, file) else writeLines(code)
  invisible(code)
}

# The records of the languages. `write`: a function of a panel, a name and the record that gives the
# code. `comment`: a format of one line. `number` and `indicator`: the value of a variable, which
# has a `place`, and of one of its levels. `curve`: a curve of a value. `filled`: a value with the
# mean in place of a missing one. `blocks`: the file of inst/panel with the parts of the code, see
# block_code().
panel_languages <- function() {
  # languages whose rows have variables by name
  by_name <- function(comment, pair, blocks, escape) {
    quote <- function(text) ascii_quoted(text, escape)
    list(
      name = "predict", write = block_code, comment = comment, quote = quote, brackets = "[%s]",
      pair = pair, blocks = blocks,
      number = function(v) sprintf("number(row, %s)", quote(v$name)),
      indicator = function(v, level) {
        sprintf("level(row, %s, %s, %s)", quote(v$name), quote(level), in_brackets(quote(v$levels)))
      },
      curve = function(value, curve) {
        sprintf("curve(%s, %s, %s, %s)", value, in_brackets(number_text(curve$range)),
                in_brackets(number_text(curve$start)), rows_code(curve$pieces))
      },
      filled = function(value, mean) sprintf("filled(%s, %s)", value, mean)
    )
  }
  list(
    python = by_name("# %s", "(%s, %s)", "python.txt", function(code) {
      sprintf(if (code < 65536L) "\\u%04x" else "\\U%08x", code)
    }),
    javascript = by_name("// %s", "[%s, %s]", "javascript.txt",
                         function(code) sprintf("\\u{%x}", code)),
    c = list(
      name = "predict", write = block_code, comment = "/* %s */", quote = c_quoted,
      brackets = "{%s}", pair = "{%s, %s}", blocks = "c.txt",
      number = function(v) sprintf("row->v%d", v$place),
      indicator = function(v, level) {
        sprintf("level(row->v%d, %s, (const char *[]){%s}, %d)", v$place, c_quoted(level),
                paste(c_quoted(v$levels), collapse = ", "), length(v$levels))
      },
      curve = function(value, curve) {
        sprintf("curve(%s, %s, %s, %d, (const double[])%s, (const double[][4])%s)", value,
                number_text(curve$range[1L]), number_text(curve$range[2L]), length(curve$start),
                in_brackets(number_text(curve$start), "{%s}"), rows_code(curve$pieces, "{%s}"))
      },
      filled = function(value, mean) sprintf("filled(%s, %s)", value, mean)
    ),
    sql = list(
      name = "newdata", write = sql_code, comment = "-- %s",
      number = function(v) sql_column(v$name),
      indicator = function(v, level) {
        of <- sql_column(v$name)
        blank <- sprintf("WHEN %s IS NULL THEN %d.0 ", of, level == level_of_missing)
        if (!level_of_missing %in% v$levels) blank <- ""
        sprintf("CASE %sWHEN %s = %s THEN 1.0 WHEN %s IN (%s) THEN 0.0 END", blank, of,
                sql_quoted(level), of, paste(sql_quoted(v$levels), collapse = ", "))
      },
      curve = function(value, curve) piece_formula(value, curve, sql_case),
      filled = function(value, mean) sprintf("COALESCE(%s, %s)", value, mean)
    ),
    excel = list(
      name = "predict", write = excel_code,
      number = function(v) sprintf("IF(ISBLANK(%1$s2),NA(),%1$s2)", excel_column(v$place)),
      indicator = function(v, level) {
        cell <- paste0(excel_column(v$place), "2")
        missing <- level_of_missing %in% v$levels
        blank <- if (missing) as.integer(level == level_of_missing) else "NA()"
        same <- sprintf("EXACT(%s,%s)", cell, excel_quoted(v$levels))
        sprintf("IF(ISBLANK(%s),%s,IF(EXACT(%s,%s),1,IF(OR(%s),0,NA())))", cell, blank, cell,
                excel_quoted(level), paste(same, collapse = ","))
      },
      curve = function(value, curve) piece_formula(value, curve, excel_case),
      filled = function(value, mean) sprintf("IF(ISNA(%1$s),%2$s,%1$s)", value, mean)
    )
  )
}

# Terms -------------------------------------------------------------------------------------------

# The value of each term in the syntax of a language.
term_code <- function(panel, syntax) {
  names <- vapply(panel$variables, `[[`, "", "name")
  variables <- Map(c, panel$variables, place = seq_along(names))
  vapply(panel$terms, function(term) {
    each <- vapply(term$factors, function(factor) {
      v <- variables[[match(factor$variable, names)]]
      if (!is.null(factor$level)) return(syntax$indicator(v, factor$level))
      if (is.null(factor$curve)) syntax$number(v) else syntax$curve(syntax$number(v), factor$curve)
    }, "")
    value <- paste(each, collapse = " * ")
    if (is.null(term$mean)) value else syntax$filled(value, number_text(term$mean))
  }, "")
}

# Whether each term is a curve.
are_curves <- function(panel) {
  vapply(panel$terms, function(term) any(lengths(lapply(term$factors, `[[`, "curve")) > 0L), NA)
}

# The lines of print() as comments, which no name may end.
panel_remarks <- function(panel, syntax) {
  words <- c(utils::capture.output(print(panel)),
             sprintf("written by sparsels %s", panel$about$sparsels))
  paste(sprintf(syntax$comment, comment_text(words)), collapse = "\n")
}

# Text without ends of lines, or begins or ends of comments.
comment_text <- function(text) {
  text <- gsub("[[:cntrl:]\u0085\u2028\u2029]", " ", text)
  gsub("/*", "/ *", gsub("*/", "* /", text, fixed = TRUE), fixed = TRUE)
}

# The half width of the interval that code gives, of the highest level up to 0.9, or NULL.
code_half_width <- function(panel) {
  usual <- panel$interval$level < 0.9 + 1e-9
  if (any(usual)) utils::tail(panel$interval$half_width[usual], 1L)
}

in_brackets <- function(texts, brackets = "[%s]") sprintf(brackets, paste(texts, collapse = ", "))

rows_code <- function(rows, brackets = "[%s]") {
  each <- apply(rows, 1L, function(row) in_brackets(number_text(row), brackets))
  in_brackets(each, brackets)
}

# Quoting -----------------------------------------------------------------------------------------

# Strings of plain ASCII characters, with `escape` of the code of any other character.
ascii_quoted <- function(text, escape) {
  vapply(enc2utf8(as.character(text)), function(text) {
    codes <- utf8ToInt(text)
    plain <- codes >= 32L & codes < 127L & !codes %in% utf8ToInt("\"\\'<>?&")
    each <- character(length(codes))
    each[plain] <- vapply(codes[plain], intToUtf8, "")
    each[!plain] <- vapply(codes[!plain], escape, "")
    sprintf("\"%s\"", paste(each, collapse = ""))
  }, "", USE.NAMES = FALSE)
}

c_quoted <- function(text) {
  ascii_quoted(text, function(code) {
    paste(sprintf("\\%03o", as.integer(charToRaw(intToUtf8(code)))), collapse = "")
  })
}

sql_quoted <- function(text) sprintf("'%s'", gsub("'", "''", enc2utf8(text), fixed = TRUE))

# A column of the rows of a query. SQLite takes a name alone for a text where there is no column.
sql_column <- function(name) sprintf("layer.%s", sql_name(name))

sql_name <- function(text) sprintf("\"%s\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE))

excel_quoted <- function(text) {
  stop_panel_if(any(nchar(text) > 255L), "Excel has no strings of more than 255 characters")
  sprintf("\"%s\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE))
}

# "A" to "Z", "AA" and so on
excel_column <- function(number) {
  name <- ""
  while (number > 0) {
    name <- paste0(LETTERS[(number - 1) %% 26 + 1], name)
    number <- (number - 1) %/% 26
  }
  name
}

# Code of blocks ----------------------------------------------------------------------------------

# The code of a language with `blocks`: the blocks that a panel needs, in order, with each <<name>>
# replaced by its value. A block of the file begins with a line of its name after "==". A language
# does not have blocks for which it has no need.
block_code <- function(panel, name, syntax) {
  values <- code_values(panel, name, syntax)
  lines <- readLines(system.file("panel", syntax$blocks, package = "sparsels", mustWork = TRUE))
  head <- grepl("^== ", lines)
  blocks <- split(lines[!head], factor(cumsum(head)[!head], seq_len(sum(head))))
  names(blocks) <- sub("== ", "", lines[head], fixed = TRUE)
  text <- paste(unlist(blocks[blocks_needed(panel)]), collapse = "\n")
  for (value in names(values)) {
    text <- gsub(sprintf("<<%s>>", value), values[[value]], text, fixed = TRUE)
  }
  text
}

blocks_needed <- function(panel) {
  form <- panel$probability
  has <- function(what, field) any(lengths(lapply(panel[[what]], `[[`, field)) > 0L)
  single <- length(panel$outputs) == 1L
  calibrated <- !is.null(form)
  joint <- panel$mean == "softmax" || calibrated && length(panel$levels) > 2L
  helpers <- c(
    number = TRUE, level = has("variables", "levels"), filled = has("terms", "mean"),
    curve = any(are_curves(panel)), exp = panel$mean != "identity" || calibrated,
    between = !is.null(form$maps), shares = joint, softmax = joint && is.null(form$maps),
    largest = !is.null(panel$levels) && !single
  )
  body <- c(
    start = TRUE, stats::setNames(TRUE, paste0("mean_", panel$mean)), response = single,
    responses = !single, interval = !is.null(code_half_width(panel))
  )
  rule <- panel$rule
  class <- if (!is.null(panel$levels)) {
    kind <- if (single && rule$by == "score") "_sign" else if (length(rule$weights)) "_weighted"
    c(paste0("class_", rule$by, kind), "class")
  }
  c("head", names(which(helpers)), names(which(body)),
    if (calibrated) c(paste0("prob_", form$kind, if (!single && !is.null(form$maps)) "s"), "prob"),
    class, "end")
}

code_values <- function(panel, name, syntax) {
  list_of <- function(texts) in_brackets(texts, syntax$brackets)
  numbers <- function(values) list_of(number_text(values))
  lines_of <- function(texts) paste0(texts, rep(",", length(texts)), collapse = "\n        ")
  coefficients <- vapply(panel$terms, function(term) numbers(term$coefficients), "")
  terms <- term_code(panel, syntax)
  form <- panel$probability
  rule <- panel$rule
  # the variables as members of a structure of C
  members <- vapply(seq_along(panel$variables), function(i) {
    v <- panel$variables[[i]]
    sprintf("    %sv%d; /* %s */", if (is.null(v$levels)) "double " else "const char *", i,
            comment_text(c_quoted(v$name)))
  }, "")
  if (!length(members)) members <- "    char unused;"
  points <- lengths(lapply(form$maps, `[[`, "at"))
  maps <- function(field) list_of(vapply(form$maps, function(map) numbers(map[[field]]), ""))
  values <- list(
    name = name, intercept = numbers(panel$intercept),
    terms = lines_of(sprintf(syntax$pair, terms, coefficients)), values = lines_of(terms),
    coefficients = lines_of(coefficients),
    n_terms = length(terms), n_scores = length(panel$intercept), n_classes = length(panel$levels),
    members = paste(members, collapse = "\n"), outputs = list_of(syntax$quote(panel$outputs)),
    half = number_text(code_half_width(panel)), classes = list_of(syntax$quote(panel$levels)),
    missing = syntax$quote(level_of_missing), a = numbers(form$intercept),
    b = if (!is.null(form$slope)) rows_code(form$slope, syntax$brackets),
    a1 = number_text(form$intercept[1L]), b1 = number_text(form$slope[1L]),
    at = maps("at"), level = maps("level"), lengths = list_of(points), points = max(0L, points),
    rule_a = numbers(rule$intercept),
    rule_b = if (!is.null(rule$slope)) rows_code(rule$slope, syntax$brackets),
    weights = numbers(rule$weights), threshold = number_text(rule$threshold),
    event = as.integer(rule$event) - 1L,
    no_class = if (is.null(panel$levels)) "    return -1;\n" else "",
    # last, as nothing in the names of variables is to be replaced
    remarks = panel_remarks(panel, syntax)
  )
  # the panel has no use for the others
  Filter(length, values)
}

# Columns of formulas -----------------------------------------------------------------------------

# Numbers that are no integers of SQL.
real_text <- function(value) {
  text <- number_text(value)
  ifelse(grepl("[.e]", text), text, paste0(text, ".0"))
}

# SQL and Excel have columns of formulas. Each layer of formulas reads the columns of the layers
# before it. `ops` writes their operations: `ref`, a column, `exp`, `choose`, the value of the first
# condition that holds, `largest`, and `known`, a formula whose value is missing where a column is.
formula_layers <- function(panel, syntax, ops) {
  coefficients <- do.call(rbind, lapply(panel$terms, `[[`, "coefficients"))
  values <- term_code(panel, syntax)
  curved <- are_curves(panel)
  curves <- stats::setNames(values[curved], sprintf("curve_%d", seq_len(sum(curved))))
  if (any(curved)) values[curved] <- ops$ref(names(curves))
  scores <- vapply(seq_along(panel$intercept), function(l) {
    paste(c(real_text(panel$intercept[l]),
            sprintf("(%s) * (%s)", number_text(coefficients[, l]), values)), collapse = " + ")
  }, "")
  named <- function(formulas, word, names = seq_along(formulas)) {
    stats::setNames(formulas, if (length(formulas) == 1L) word else paste(word, names, sep = "_"))
  }
  if (!is.null(panel$levels)) {
    return(c(list(curves, named(scores, "score")), class_layers(panel, ops)))
  }
  if (panel$mean == "identity") {
    half <- code_half_width(panel)
    ends <- if (!is.null(half)) {
      stats::setNames(paste(ops$ref("response"), c("-", "+"), number_text(half)), c("lwr", "upr"))
    }
    return(list(curves, named(scores, "response", panel$outputs), ends))
  }
  link <- ops$ref("link")
  response <- if (panel$mean == "exp") ops$exp(link) else logistic_formula(ops, link)
  list(curves, c(link = scores), c(response = response))
}

# The value of a curve, by `choose` of conditions, values and the value otherwise.
piece_formula <- function(value, curve, choose) {
  t <- sprintf("(%s - (%s))", value, number_text(curve$start))
  p <- matrix(sprintf("(%s)", number_text(curve$pieces)), nrow(curve$pieces))
  polynomials <- sprintf("((%s * %s + %s) * %s + %s) * %s + %s", p[, 4L], t, p[, 3L], t, p[, 2L],
                         t, p[, 1L])
  last <- length(polynomials)
  ends <- number_text(piece_values(curve, curve$range))
  conditions <- sprintf("%s %s (%s)", value, c("<=", ">=", rep("<", last - 1L)),
                        number_text(c(curve$range, curve$start[-1L])))
  choose(conditions, c(ends, polynomials[-last]), polynomials[last])
}

logistic_formula <- function(ops, link) sprintf("1 / (1 + %s)", ops$exp(sprintf("-(%s)", link)))

# The layers of probabilities and classes.
class_layers <- function(panel, ops) {
  count <- length(panel$intercept)
  score <- ops$ref(if (count == 1L) "score" else paste0("score_", seq_len(count)))
  form <- panel$probability
  prob <- paste0("prob_", seq_along(panel$levels))
  probability <- if (is.null(form)) NULL else if (length(prob) == 2L) {
    second <- if (!is.null(form$maps)) line_formula(ops, form$maps[[1L]], score) else
      logistic_formula(ops, sprintf("%s + (%s) * %s", number_text(form$intercept[1L]),
                                    number_text(form$slope[1L]), score))
    list(c(prob_2 = second), c(prob_1 = paste("1 -", ops$ref("prob_2"))))
  } else {
    share_layers(form, ops, score, prob)
  }
  rule <- sub("prob", "rule", prob)
  links <- if (panel$rule$by == "link") {
    list(stats::setNames(link_formulas(panel$rule, score), rule))
  }
  values <- ops$ref(if (is.null(links)) prob else rule)
  c(probability, links, list(rule_layer(panel, ops, score, values)))
}

# The probabilities of three and more classes as shares of a total.
share_layers <- function(form, ops, score, prob) {
  part <- sub("prob", "part", prob)
  parts <- if (is.null(form$maps)) {
    link <- sub("prob", "link", prob)
    list(stats::setNames(link_formulas(form, score), link), c(top = ops$largest(ops$ref(link))),
         stats::setNames(ops$exp(sprintf("%s - %s", ops$ref(link), ops$ref("top"))), part))
  } else {
    lines <- Map(function(map, score) line_formula(ops, map, score), form$maps, score)
    list(stats::setNames(unlist(lines), part))
  }
  total <- ops$ref("total")
  shares <- vapply(ops$ref(part), function(part) {
    ops$choose(sprintf("%s = 0", total), number_text(1 / length(prob)),
               sprintf("%s / %s", part, total))
  }, "")
  # the sum of integers would be an integer in SQL, and their shares 0
  c(parts, list(c(total = paste(c(real_text(0), ops$ref(part)), collapse = " + "))),
    list(stats::setNames(shares, prob)))
}

# The links of the classes, linear in the scores.
link_formulas <- function(form, score) {
  vapply(seq_along(form$intercept), function(k) {
    paste(c(number_text(form$intercept[k]),
            sprintf("(%s) * %s", number_text(form$slope[, k]), score)), collapse = " + ")
  }, "")
}

# The line between points, constant beyond them.
line_formula <- function(ops, map, score) {
  points <- length(map$at)
  at <- number_text(map$at)
  level <- number_text(map$level)
  below <- seq_len(points - 1L)
  lines <- sprintf("%s + (%s - (%s)) * ((%s - (%s)) / (%s - (%s)))", level[below], level[-1L],
                   level[below], score, at[below], at[-1L], at[below])
  conditions <- sprintf("%s %s %s", score, c("<=", rep("<", points - 1L)), at)
  ops$known(score, ops$choose(conditions, c(level[1L], lines), level[points]))
}

# `values`: the probabilities, or the links by which classes are chosen.
rule_layer <- function(panel, ops, score, values) {
  rule <- panel$rule
  levels <- ops$quote(panel$levels)
  class <- if (rule$by == "threshold") {
    event <- as.integer(rule$event)
    above <- sprintf("%s - %s > 1E-10", values[event], number_text(rule$threshold))
    ops$choose(above, levels[event], levels[3L - event])
  } else if (length(score) == 1L) {
    ops$choose(sprintf("%s > 1E-10", score), levels[2L], levels[1L])
  } else {
    if (rule$by == "score") values <- score
    if (!is.null(rule$weights)) values <- sprintf("(%s * %s)", values, number_text(rule$weights))
    # the first class whose value is the largest
    last <- length(levels)
    ops$choose(sprintf("%s >= %s - 1E-10", values[-last], ops$largest(values)), levels[-last],
               levels[last])
  }
  c(class = ops$known(paste(score, collapse = " + "), class))
}

# Each layer of a query is a subquery of the next. Columns that later layers read have names that no
# column of the table is likely to have, and the last layer has the predictions.
sql_code <- function(panel, name, syntax) {
  # the small letter of an I has a dot, also in Turkish
  small <- function(names) tolower(chartr("I", "i", names))
  inputs <- small(vapply(panel$variables, `[[`, "", "name"))
  prefix <- "panel_"
  while (any(startsWith(inputs, prefix))) prefix <- paste0(prefix, "_")
  ops <- list(
    ref = function(names) sql_column(sprintf("%s%s", prefix, names)), quote = sql_quoted,
    # databases stop at powers that are too large or too small for a double
    exp = function(x) {
      limits <- c("700", "-700")
      vapply(x, function(x) {
        sprintf("EXP(%s)", sql_case(sprintf("%s %s %s", x, c(">", "<"), limits), limits, x))
      }, "", USE.NAMES = FALSE)
    },
    choose = sql_case,
    largest = function(values) {
      last <- length(values)
      above <- vapply(seq_len(last - 1L), function(k) {
        paste(values[k], ">=", values[-seq_len(k)], collapse = " AND ")
      }, "")
      sprintf("(%s)", sql_case(above, values[-last], values[last]))
    },
    known = function(of, formula) sprintf("CASE WHEN %s IS NULL THEN NULL ELSE %s END", of, formula)
  )
  layers <- Filter(length, formula_layers(panel, syntax, ops))
  last <- length(layers)
  outputs <- grep("^(response|prob_)", names(unlist(layers[-last])), value = TRUE)
  # A database may put a formula into all formulas that read it. Where there are classes, lengths
  # multiply from layer to layer. A window function in a layer prevents this.
  layers[-last] <- lapply(seq_len(last - 1L), function(i) {
    rows <- if (!is.null(panel$levels)) stats::setNames("COUNT(*) OVER ()", paste0("rows_", i))
    stats::setNames(c(layers[[i]], rows), paste0(prefix, names(c(layers[[i]], rows))))
  })
  found <- c(stats::setNames(ops$ref(outputs), outputs), layers[[last]])
  taken <- small(names(found)) %in% inputs
  names(found)[taken] <- paste0("predicted_", names(found)[taken])
  query <- paste(sql_name(name), collapse = ".")
  for (layer in c(layers[-last], list(found))) {
    columns <- paste(sprintf("  %s AS %s", layer, sql_name(names(layer))), collapse = ",\n")
    query <- sprintf("(SELECT layer.*,\n%s\nFROM %s AS layer)", columns, query)
  }
  paste0(panel_remarks(panel, syntax), "\n", substr(query, 2L, nchar(query) - 1L), ";")
}

sql_case <- function(conditions, values, otherwise) {
  sprintf("CASE %s ELSE %s END", paste("WHEN", conditions, "THEN", values, collapse = " "),
          otherwise)
}

# Two lines of cells: the names and the formulas of row 2.
excel_code <- function(panel, name, syntax) {
  inputs <- vapply(panel$variables, `[[`, "", "name")
  formulas <- character()
  ops <- list(
    # a variable may have the name of a formula
    ref = function(column) {
      paste0(vapply(length(inputs) + match(column, formulas), excel_column, ""), "2")
    },
    quote = excel_quoted, exp = function(x) sprintf("EXP(MIN(%s,700))", x),
    choose = excel_case,
    largest = function(values) sprintf("MAX(%s)", paste(values, collapse = ",")),
    known = function(of, formula) sprintf("IF(ISNA(%s),NA(),%s)", of, formula)
  )
  # the first time for the names of all columns
  formulas <- names(unlist(formula_layers(panel, syntax, replace(ops, "ref", list(identity)))))
  cells <- c(inputs, formulas)
  formulas <- unlist(formula_layers(panel, syntax, ops))
  # copies in rows with longer numbers need a few characters more
  stop_panel_if(any(nchar(formulas) > 8000L),
                "Excel allows 8192 characters in a formula, and '%s' needs %s",
                names(formulas)[which.max(nchar(formulas))], whole_number(max(nchar(formulas))))
  head <- ifelse(grepl("^[=+@\t\r-]", cells), paste0("'", cells), cells)
  line <- function(cells) paste(cell_text(cells), collapse = "\t")
  paste(line(head), line(c(rep("", length(inputs)), paste0("=", formulas))), sep = "\n")
}

excel_case <- function(conditions, values, otherwise) {
  stop_panel_if(length(conditions) > 60L,
                "Excel has at most 64 conditions in a formula: use `calibration = \"platt\"`")
  paste0(paste0("IF(", conditions, ",", values, ",", collapse = ""), otherwise,
         strrep(")", length(conditions)))
}

# Cells of text separated by tabs.
cell_text <- function(text) {
  quoted <- grepl("[\t\r\n\"]", text)
  ifelse(quoted, sprintf("\"%s\"", gsub("\"", "\"\"", enc2utf8(text), fixed = TRUE)), text)
}
