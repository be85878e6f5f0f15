# Texts for printing and messages, with one rule of rounding and lines that fit the console.

# Errors have three significant digits. Parameters have four, so that they can be copied into a
# call.
shown <- function(value) format(value, digits = 3)

shown_parameter <- function(value) format(value, digits = 4)

# "1,234"
whole_number <- function(value) format(value, big.mark = ",", scientific = FALSE)

se_words <- function(se) {
  if (is.na(se)) "" else sprintf(" (standard error %s)", format(se, digits = 2))
}

# A sentence, broken to the width of the console.
say <- function(..., indent = 0L) {
  cat(strwrap(paste0(...), getOption("width"), indent = indent, exdent = indent + 2L), sep = "\n")
}

# a remark on the line above
remark <- function(...) say(..., indent = 2L)

# Text of at most `width` characters, of which `end` are the last characters of a longer text.
shortened <- function(text, width, end = 0L) {
  size <- nchar(text)
  long <- size > width
  text[long] <- paste0(substr(text[long], 1L, width - end - 3L), "...",
                       substring(text[long], size[long] - end + 1L))
  text
}

# names of classes often differ at the end
short_class <- function(class) shortened(class, 30L, 12L)

# "15.5 and 992" or "31 values between 0.01 and 100"
values_words <- function(values) {
  values <- sort(values)
  if (length(values) <= 4L) {
    text <- vapply(values, shown_parameter, "")
    last <- length(text)
    return(paste(c(if (last > 1L) paste(text[-last], collapse = ", "), text[last]),
                 collapse = " and "))
  }
  sprintf("%d values between %s and %s", length(values), shown_parameter(min(values)),
          shown_parameter(max(values)))
}

# the text after `what` for several values
at_the_end <- function(value, values, what) {
  if (length(values) > 1L && value %in% range(values)) sprintf(" (at the end of %s)", what) else ""
}

# "1 to 4 rows"
counted_range <- function(range, word) {
  paste0(if (range[1L] < range[2L]) paste(range[1L], "to "), counted(range[2L], word))
}

format_seconds <- function(seconds) {
  if (seconds < 90) sprintf("%.0f seconds", seconds) else sprintf("%.0f minutes", seconds / 60)
}
