# Prices of columns, and costs of sets of columns. The price of an assay is paid once for any number
# of its columns.

# The user's `cost` as list(price, assay) with an element for each column, or NULL. The assay of a
# column is a number from 0, or -1 where the column is measured alone.
check_cost <- function(cost, problem) {
  if (is.null(cost)) return(NULL)
  table <- cost_table(cost)
  rows <- cost_rows(table, problem)
  price <- as.double(table$cost[rows])
  bad <- which(!(is.finite(price) & price > 0))
  stop_argument_if(length(bad),
                   "the `cost` of column '%s' must be a positive finite number, not %s",
                   problem$columns$name[bad[1L]], describe(table$cost[rows][bad[1L]]))
  stop_argument_if(!is.finite(max(price) / min(price)),
                   "`cost` has prices too different for one scale")
  list(price = price, assay = assay_numbers(table$assay[rows], price))
}

# A row for each price: `cost`, and if given `assay` and the column's `name`.
cost_table <- function(cost) {
  if (is.data.frame(cost)) {
    refuse_unless(is.numeric(cost$cost), "cost$cost", "a column of numbers", cost$cost)
    named <- .row_names_info(cost) > 0L
    table <- data.frame(cost = as.double(cost$cost))
    if (!is.null(cost$assay)) table$assay <- as.character(cost$assay)
    table$name <- if (!is.null(cost$name)) as.character(cost$name) else if (named) row.names(cost)
    return(table)
  }
  refuse_unless(is.numeric(cost) && !is.object(cost) && is.null(dim(cost)), "cost",
                "numbers, or a data frame whose columns are `cost` and perhaps `assay`", cost)
  table <- data.frame(cost = as.double(cost))
  table$name <- names(cost)
  table
}

# the row of each column: by name, or in order
cost_rows <- function(table, problem) {
  if (is.null(table$name)) {
    if (nrow(table) == ncol(problem)) return(seq_len(ncol(problem)))
    stop_argument("`cost` must have names or a price for each of the %s, not %d",
                  counted(ncol(problem), "column"), nrow(table))
  }
  rows <- match(problem$columns$name, table$name)
  stop_argument_if(anyNA(rows), "`cost` has no price of column '%s'",
                   problem$columns$name[is.na(rows)][1L])
  twice <- intersect(problem$columns$name, table$name[duplicated(table$name)])
  stop_argument_if(length(twice), "`cost` has two prices of column '%s'", twice[1L])
  rows
}

assay_numbers <- function(assay, price) {
  if (is.null(assay)) return(rep(-1L, length(price)))
  number <- match(assay, unique(assay[!is.na(assay)]))
  for (same in split(seq_along(price), number)) {
    prices <- unique(price[same])
    stop_argument_if(length(prices) > 1L,
                     "`cost` gives assay '%s' the prices %s and %s: it is paid for once",
                     assay[same[1L]], show_value(prices[1L]), show_value(prices[2L]))
  }
  ifelse(is.na(number), -1L, number - 1L)
}

# The largest cost of a set: Inf, or a number that is at least the price of the cheapest usable
# column and the cost of the columns `start` that the set must contain. NULL without prices.
check_budget <- function(budget, cost, problem, start = integer()) {
  if (identical(budget, Inf)) return(if (!is.null(cost)) Inf)
  budget <- check_positive(budget, "budget")
  stop_argument_if(is.null(cost), "`budget` needs `cost`")
  needed <- c(price_of(cost, start), min(cost$price[problem$columns$usable]))
  what <- c("the columns of `start` cost", "the cheapest column costs")
  short <- which(!within_budget(needed, budget))
  stop_argument_if(length(short), "`budget` is %s, but %s %s", show_value(budget), what[short[1L]],
                   show_value(needed[short[1L]]))
  budget
}

# allows for rounding in sums of prices
within_budget <- function(price, budget) price <= budget * budget_rounding

budget_rounding <- 1 + 1e-9

# the amount that each column of a set adds to the cost of the columns before it
added_prices <- function(cost, columns) {
  assay <- cost$assay[columns]
  cost$price[columns] * (assay < 0L | !duplicated(assay))
}

price_of <- function(cost, columns) sum(added_prices(cost, columns))

# Prices in the form that C reads, in units of the lowest price.
price_settings <- function(problem, cost, budget) {
  if (is.null(cost)) return(list(price = NULL, assay = integer(), budget = Inf))
  unit <- min(cost$price[problem$columns$usable])
  list(price = cost$price / unit, assay = cost$assay, budget = budget / unit * budget_rounding)
}
