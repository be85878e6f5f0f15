# The seal of an object: the types, lengths, dimensions and names of all its parts, as a number for
# each field. Objects are plain lists that users may edit and files may damage. Constructors seal
# objects, and check_sealed() compares the seal where a user gives an object to a function. Values
# of the same type and length are not compared. C checks the values that it reads.

seal <- function(x) {
  attr(x, "seal") <- .Call(C_shape, x)
  x
}

# A working copy, which the package changes and check_sealed() accepts.
working_copy <- function(x) {
  attr(x, "seal") <- "working copy"
  x
}

# Stops if a field of x has changed since x was made. Fields may be added.
check_sealed <- function(x) {
  made <- attr(x, "seal", exact = TRUE)
  if (is_working_copy(x)) return(invisible(x))
  now <- .Call(C_shape, x)
  if (is.integer(made) && identical(now, made)) return(invisible(x))
  same <- names(now)[now == made[names(now)]]
  other <- if (is.integer(made)) setdiff(names(made), c(same, "call")) else NA
  if (length(other)) stop_edited(other[1L], sprintf("an object of class '%s'", class(x)[1L]))
  invisible(x)
}

# The seal of an object that was changed, unless it is a working copy.
seal_again <- function(x) if (is_working_copy(x)) x else seal(x)

is_working_copy <- function(x) identical(attr(x, "seal", exact = TRUE), "working copy")
