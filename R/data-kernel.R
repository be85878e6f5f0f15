# Kernels: their class, our own three kernels, kernels of other packages, and matrices of kernel
# values.

#' Kernel functions
#'
#' Specify the kernel of [kernel_rls()], [lssvm()], [fs_lssvm()], [select_basis()] and
#' [nystrom_features()].
#'
#' For two points \eqn{x} and \eqn{z}, rows of a matrix, the kernels are
#' \deqn{\exp(-\gamma \| x - z \|^2), \qquad (s\, x'z + c)^p, \qquad x'z}{
#' exp(-gamma ||x - z||^2),   (scale x'z + offset)^degree,   x'z}
#' for `kernel_gaussian(gamma)`, which is `kernel_gaussian(sigma2 = 1 / gamma)`, for
#' `kernel_polynomial(degree = p, scale = s, offset = c)` and for `kernel_linear()`. With
#' `normalize = TRUE` each is replaced by
#' \deqn{k(x, z) / \sqrt{k(x, x)\, k(z, z)},}{k(x, z) / sqrt(k(x, x) k(z, z)),}
#' so that every point has length one in feature space; a point of length zero stays there. A
#' Gaussian kernel is normalised as it is.
#'
#' **Other kernels.** Every argument `kernel` also accepts:
#' * a kernel of the kernlab package, such as `kernlab::laplacedot(sigma = 0.1)`;
#' * a function of two matrices with points in rows that returns the matrix of kernel values, a row
#'   for each row of the first and a column for each row of the second. It is called on parts of the
#'   data, so the value of two points must depend only on them. It must be symmetric and positive
#'   semidefinite, which is not checked;
#' * `"precomputed"`: the data themselves are then the kernel matrix of the rows.
#'
#' A matrix of values for m and n points with d columns costs O(mnd), one matrix product, and is
#' made in blocks of about a million values. Gaussian distances of dense points are taken about a
#' common centre, so an offset shared by all points costs no digits; points of a sparse matrix are
#' not shifted. Distances below rounding are zero: equal points have a Gaussian kernel of exactly 1.
#'
#' @param gamma The inverse of the squared width, a positive number, in units of one over the
#'   squared unit of the columns; or a vector of several different ones, for methods that choose the
#'   width.
#' @param sigma2 The squared width, `1 / gamma`, as in the literature on least-squares support
#'   vector machines; given instead of `gamma`.
#' @param degree The degree of the polynomial, a whole number of at least 1.
#' @param scale The factor of the inner product, a positive number.
#' @param offset The constant added to the scaled inner product, a number of at least 0.
#' @param normalize Logical: is every point scaled to length one in feature space?
#' @return A list of class `sparsels_kernel`: `name`, `parameters` (a named list), `normalize`,
#'   `values`, a function of two matrices (m x d and n x d, dense or `dgCMatrix`) that returns the
#'   m x n kernel matrix, and `diagonal`, a function of one matrix that returns the kernel of each
#'   row with itself; both are `NULL` where `gamma` has several values. Also `column`, a function of
#'   one matrix that returns a function of j, the j-th column of its kernel matrix, or `NULL`; and
#'   `shift`, whether the kernel depends on \eqn{x - z}{x - z} alone.
#'
#' @section Errors: Of class `sparsels_error_argument`: a parameter out of its range, repeated
#' values of `gamma` or `sigma2`, both of them given, and when kernel values are computed, a kernel
#' function that does not return a numeric matrix of the right size, and missing or infinite values.
#'
#' @references Pahikkala, T., Suominen, H., Boberg, J. (2012). Efficient cross-validation for
#' kernelized least-squares regression with sparse basis expansions. Machine Learning 87, 381-407.
#' \doi{10.1007/s10994-012-5287-6}
#'
#' @examples
#' kernel_gaussian(0.5)
#' kernel_gaussian(2^(-3:3))
#' kernel_gaussian(sigma2 = 2)
#' x <- rbind(c(0, 0), c(1, 0), c(1, 1))
#' kernel_gaussian(0.5)$values(x, x)
#' kernel_polynomial(degree = 3, normalize = TRUE)$diagonal(x)
#'
#' cauchy <- function(x, z) {
#'   squared <- outer(rowSums(x^2), rowSums(z^2), "+") - 2 * tcrossprod(x, z)
#'   1 / (1 + pmax(squared, 0))
#' }
#' select_basis(x, 2, method = "k_center", kernel = cauchy)
#' @name kernels
NULL

#' @rdname kernels
#' @export
kernel_gaussian <- function(gamma, normalize = FALSE, sigma2 = NULL) {
  check_dots(known = c("gamma", "normalize", "sigma2"))
  stop_argument_if(missing(gamma) && is.null(sigma2),
                   "`gamma` is missing: for example kernel_gaussian(gamma = 0.1)")
  stop_argument_if(!missing(gamma) && !is.null(sigma2),
                   "`gamma` is 1 / `sigma2`: give one of them, not both")
  gamma <- if (missing(gamma)) 1 / check_widths(sigma2, "sigma2") else check_widths(gamma, "gamma")
  normalize <- check_flag(normalize, "normalize")
  if (length(gamma) > 1L) {
    return(new_kernel("gaussian", list(gamma = gamma), normalize, shift = TRUE))
  }
  of_products <- function(products, x_norms, z_norms) {
    exp(-gamma * squared_distances(products, x_norms, z_norms))
  }
  product_kernel("gaussian", list(gamma = gamma), normalize, of_products, shift = TRUE)
}

#' @rdname kernels
#' @export
kernel_polynomial <- function(degree = 2, scale = 1, offset = 1, normalize = FALSE) {
  degree <- check_count(degree, "degree")
  scale <- check_positive(scale, "scale")
  offset <- check_positive(offset, "offset", or_zero = TRUE)
  normalize <- check_flag(normalize, "normalize")
  of_products <- function(products, x_norms, z_norms) (scale * products + offset)^degree
  parameters <- list(degree = degree, scale = scale, offset = offset)
  product_kernel("polynomial", parameters, normalize, of_products)
}

#' @rdname kernels
#' @export
kernel_linear <- function(normalize = FALSE) {
  normalize <- check_flag(normalize, "normalize")
  product_kernel("linear", list(), normalize, function(products, x_norms, z_norms) products)
}

check_widths <- function(x, name) {
  must <- "a positive finite number or several different ones"
  refuse_unless(is.null(dim(x)), name, must, x)
  widths <- check_positives(x, name, must, most_repeats)
  twice <- anyDuplicated(x)
  stop_argument_if(twice, "`%s` must be %s, but %s comes twice", name, must, show_value(x[[twice]]))
  widths
}

# The object --------------------------------------------------------------------------------------

# without `values` a kernel cannot be evaluated, as with several widths or a precomputed kernel
new_kernel <- function(name, parameters = list(), normalize = FALSE, values = NULL,
                       diagonal = NULL, column = NULL, shift = FALSE) {
  seal(structure(list(name = name, parameters = parameters, normalize = normalize, values = values,
                 diagonal = diagonal, column = column, shift = shift),
            class = c("sparsels_kernel", "sparsels_object")))
}

# A kernel that is a function of x'z, x'x and z'z. With `shift` it depends on x - z alone, and
# moving all points towards zero keeps the digits of their distances.
product_kernel <- function(name, parameters, normalize, of_products, shift = FALSE) {
  squared_norms <- function(x) unname(rowSums(x^2))
  inverse_root <- function(k) ifelse(k > 0, 1 / sqrt(k), 0)
  own <- function(norms) of_products(norms, norms, norms)
  values <- function(x, z) {
    if (shift && is.matrix(x) && is.matrix(z)) {
      centre <- colMeans(z)
      x <- moved(x, centre)
      z <- moved(z, centre)
    }
    x_norms <- squared_norms(x)
    z_norms <- squared_norms(z)
    k <- of_products(inner_products(x, z), x_norms, rep(z_norms, each = nrow(x)))
    if (!normalize) return(k)
    k * inverse_root(own(x_norms)) * rep(inverse_root(own(z_norms)), each = nrow(x))
  }
  diagonal <- function(x) {
    k <- own(squared_norms(x))
    if (normalize) as.double(k > 0) else k
  }
  column <- function(x) {
    if (shift && is.matrix(x)) x <- moved(x, colMeans(x))
    norms <- squared_norms(x)
    products <- product_column(x)
    root <- if (normalize) inverse_root(own(norms))
    function(j) {
      k <- of_products(products(j), norms, norms[j])
      if (normalize) k * root * root[j] else k
    }
  }
  new_kernel(name, parameters, normalize, values, diagonal, column, shift)
}

moved <- function(x, centre) x - rep(centre, each = nrow(x))

# x z', a plain matrix. The product of two sparse matrices is slower than the product with a dense
# matrix, so z is made dense unless it is larger than the answer.
inner_products <- function(x, z) {
  if (!is.matrix(x) && ncol(z) <= nrow(x)) z <- as.matrix(z)
  as.matrix(tcrossprod(x, z))
}

# x x[j, ]' as a function of j. With points in columns each product reads memory in sequence.
product_column <- function(x) {
  points <- t(x)
  if (is.matrix(points)) {
    return(function(j) drop(.Call(C_cross_columns, points, points[, j, drop = FALSE])))
  }
  function(j) {
    stored <- points@p[j] + seq_len(points@p[j + 1L] - points@p[j])
    point <- numeric(nrow(points))
    point[points@i[stored] + 1L] <- points@x[stored]
    as.vector(crossprod(points, point))
  }
}

# ||x - z||^2, where a value below rounding error is a zero distance
squared_distances <- function(products, x_norms, z_norms) {
  size <- x_norms + z_norms
  squared <- size - 2 * products
  replace(squared, squared < kernel_rounding * size, 0)
}

# squared distances, by the way of a kernel
distance_kernel <- function() {
  product_kernel("distance", list(), FALSE, squared_distances, shift = TRUE)
}

# sums of kernel values or inner products are exact to this share of the largest term
kernel_rounding <- 1e-14

#' @exportS3Method
print_result.sparsels_kernel <- function(x, ...) {
  cat("<sparsels kernel> ", kernel_words(x), "\n", sep = "")
}

# gaussian, gamma = 0.5
kernel_words <- function(kernel) {
  shown <- vapply(kernel$parameters, function(value) {
    value <- vapply(value, format, "", digits = 4L)
    paste0(if (length(value) > 1L) "one of ", some_of(value, quote = ""))
  }, "")
  paste(c(kernel$name, sprintf("%s = %s", names(shown), shown), if (kernel$normalize) "normalised"),
        collapse = ", ")
}

# From the user -----------------------------------------------------------------------------------

# Any form of a kernel as a sparsels_kernel. A "precomputed" kernel has no functions.
as_kernel <- function(kernel) {
  if (missing(kernel)) kernel <- NULL
  if (inherits(kernel, "sparsels_kernel")) return(check_sealed(kernel))
  # an S4 object for which is.function() is true
  if (inherits(kernel, "kernel") && is.function(kernel)) {
    need_package("kernlab")
    values <- function(x, z) kernlab::kernelMatrix(kernel, as.matrix(x), as.matrix(z))@.Data
    # a function that only has the class of a kernel has no parameters
    parameters <- if (isS4(kernel)) kernlab::kpar(kernel) else list()
    return(paired_kernel(paste(class(kernel), "of kernlab"), parameters, values))
  }
  if (identical(kernel, "precomputed")) return(new_kernel("precomputed"))
  refuse_unless(is.function(kernel), "kernel",
                paste("a kernel, for example kernel_gaussian(gamma = 0.1), a kernlab kernel, a",
                      "function(x, z) of two matrices or \"precomputed\""), kernel)
  makers <- list(kernel_gaussian, kernel_polynomial, kernel_linear)
  stop_argument_if(any(vapply(makers, identical, NA, kernel)),
                   "`kernel` must be a kernel, such as kernel_gaussian(gamma = 0.1), not its maker")
  stop_argument_if(arguments_of(kernel) < 2,
                   "a `kernel` function must take two arguments: the matrices x and z")
  paired_kernel("R function", list(), function(x, z) {
    answer <- kernel(x, z)
    if (inherits(answer, "Matrix")) answer <- as.matrix(as_valid(answer, "kernel(x1, x2)"))
    valid <- is.matrix(answer) && is.numeric(answer) && all(dim(answer) == c(nrow(x), nrow(z)))
    stop_argument_if(!valid,
                     "the kernel function must return a numeric matrix (%d x %d) for %s, not %s",
                     nrow(x), nrow(z), sprintf("%d and %d points", nrow(x), nrow(z)),
                     describe(answer))
    answer
  })
}

# a kernel known by its matrices alone
paired_kernel <- function(name, parameters, values) {
  diagonal <- function(x) {
    vapply(seq_len(nrow(x)), function(i) values(x[i, , drop = FALSE], x[i, , drop = FALSE])[1L], 0)
  }
  new_kernel(name, parameters, values = values, diagonal = diagonal)
}

# the kernels among which a method chooses: one for every width
each_kernel <- function(kernel) {
  gamma <- kernel$parameters$gamma
  if (length(gamma) < 2L) return(list(kernel))
  lapply(gamma, kernel_gaussian, normalize = kernel$normalize)
}

# the kernel for a method that cannot choose among widths
single_kernel <- function(kernel) {
  kernel <- as_kernel(kernel)
  widths <- length(each_kernel(kernel))
  stop_argument_if(widths > 1L, "`kernel` must have a single gamma here, not %d", widths)
  kernel
}

is_precomputed <- function(kernel) kernel$name == "precomputed"

# The problem of a kernel matrix without the columns of the rows that na.omit() leaves out.
square_kernel <- function(problem) {
  rows <- as.vector(problem$kept)
  cut <- identical(attr(problem$kept, "of"), ncol(problem)) && length(rows) == nrow(problem)
  if (cut) part_of(problem, columns = rows) else problem
}

# A kernel matrix given as the data: square and symmetric.
check_precomputed <- function(x) {
  stop_input_if(nrow(x) != ncol(x), "a precomputed kernel needs a square matrix `x`, not %d x %d",
                nrow(x), ncol(x))
  entry <- asymmetry(x)
  stop_input_if(length(entry),
                "a precomputed kernel must be symmetric, but x[%d, %d] is not x[%d, %d]", entry[1L],
                entry[2L], entry[2L], entry[1L])
  invisible(x)
}

# A place c(i, j) where a square matrix is not symmetric, beyond 1e-8 of the largest entry that its
# diagonal allows in a positive semidefinite matrix. NULL if there is none.
asymmetry <- function(x) {
  root <- sqrt(abs(diag(x)))
  if (is.matrix(x)) return(.Call(C_asymmetry, x, root, 1e-8))
  gap <- x - t(x)
  column <- rep(seq_len(ncol(gap)), diff(gap@p))
  first <- which(abs(gap@x) > 1e-8 * root[gap@i + 1L] * root[column])[1L]
  if (!is.na(first)) c(gap@i[first] + 1L, column[first])
}

# Values ------------------------------------------------------------------------------------------

# K (nrow(x) x nrow(z)), a plain matrix. Blocks are of rows of x, so that the centre of z is the
# same for all blocks, and no point is shifted twice.
kernel_matrix <- function(kernel, x, z) {
  K <- matrix(0, nrow(x), nrow(z))
  for (rows in value_blocks(seq_len(nrow(x)), nrow(z))) {
    K[rows, ] <- finite_values(kernel$values(x[rows, , drop = FALSE], z), kernel)
  }
  K
}

# K(x, x)[, j] as a function of j, for many j one after the other
kernel_column <- function(kernel, x) {
  if (is_precomputed(kernel)) return(function(j) unname(x[, j]))
  column <- if (is.null(kernel$column)) {
    function(j) drop(kernel_matrix(kernel, x, x[j, , drop = FALSE]))
  } else {
    kernel$column(x)
  }
  function(j) finite_values(column(j), kernel)
}

kernel_diagonal <- function(kernel, x) finite_values(unname(kernel$diagonal(x)), kernel)

# rows in blocks of about a million values, `each` for every one
value_blocks <- function(rows, each) {
  size <- max(1, 1e6 %/% max(each, 1))
  unname(split(rows, (seq_along(rows) - 1) %/% size))
}

finite_values <- function(values, kernel) {
  finite <- is.finite(values)
  stop_argument_if(!all(finite), "the kernel (%s) has %s", kernel_words(kernel),
                   counted(sum(!finite), "missing or infinite value"))
  values
}

# The problem as a kernel sees it -----------------------------------------------------------------

# x is given to a kernel as doubles, since a user's kernel could overflow with integers. With
# `in_place` a file remains a file, and its rows are read as they are needed.
kernel_problem <- function(problem, kernel, in_place = FALSE) {
  if (in_place && is_file_matrix(problem$x) && !is_precomputed(kernel)) {
    return(kernel_scale(problem, kernel$shift, in_place = TRUE))
  }
  problem <- with_doubles(problem)
  check_still_finite(problem, colSums(problem$x))
  if (is_precomputed(kernel)) {
    stop_input_if(problem$coding$standardize,
                  "`standardize` must be FALSE with a precomputed kernel")
    problem <- square_kernel(problem)
    check_precomputed(problem$x)
  }
  kernel_scale(problem, kernel$shift)
}

with_doubles <- function(problem) {
  if (is_read_in_place(problem$x)) return(part_of(problem))
  replace(problem, "x", list(as_doubles(problem$x)))
}

# The problem with centre and scale for a kernel. Columns are either unchanged, or centred and
# scaled, with or without an intercept. For a kernel that depends on differences only (`shift`),
# sparse columns are not centred unless their mean exceeds their standard deviation, since
# differences would lose digits. Such a column has few zeros.
kernel_scale <- function(problem, shift = FALSE, in_place = FALSE) {
  stop_argument_if(any(given_factors(problem) != 1),
                   paste("`penalty` is for columns, and a kernel has no penalty on single columns:",
                         "give covariates by `adjust`, and leave columns out"))
  if (!in_place || !is_file_matrix(problem$x)) problem <- with_doubles(problem)
  problem$columns$centre <- numeric(ncol(problem))
  problem$columns$scale <- rep(1, ncol(problem))
  if (problem$coding$standardize) {
    moments <- column_moments(problem$x, problem$rows$weight, TRUE)
    rms <- sqrt(moments$squares / sum(problem$rows$weight))
    uncentred <- shift && inherits(problem$x, "dgCMatrix") & abs(moments$centre) <= rms
    problem$columns$centre <- ifelse(uncentred, 0, moments$centre)
    varies <- rms > 1e-13 * abs(moments$centre)
    problem$columns$scale[varies] <- rms[varies]
  }
  problem
}

# rows of x, centred and scaled by the columns of the problem
kernel_points <- function(problem, x) {
  if (!problem$coding$standardize) return(x)
  centred <- which(problem$columns$centre != 0)
  if (!is.matrix(x) && length(centred) < ncol(problem) / 2) {
    m <- nrow(x)
    centre <- Matrix::sparseMatrix(rep(seq_len(m), length(centred)), rep(centred, each = m),
                                   x = rep(problem$columns$centre[centred], each = m),
                                   dims = dim(x))
    return((x - centre) %*% Matrix::Diagonal(x = 1 / problem$columns$scale))
  }
  moved(as.matrix(x), problem$columns$centre) / rep(problem$columns$scale, each = nrow(x))
}

# The median squared distance of two rows. Pairs of equal rows are excluded, since they contain no
# information about the width.
typical_distance <- function(problem) {
  rows <- spread_rows(nrow(problem), 500L)
  points <- kernel_points(problem, problem$x[rows, , drop = FALSE])
  distances <- kernel_matrix(distance_kernel(), points, points)
  distances <- distances[lower.tri(distances) & distances > 0]
  stop_input_if(!length(distances), "all rows of `x` are equal: give a `kernel`")
  stats::median(distances)
}

# number of basis vectors
basis_size <- function(basis) if (is.null(basis$rows)) nrow(basis$points) else length(basis$rows)

# a Gaussian kernel in the words of an LS-SVM
in_sigma2 <- function(kernel) {
  if (kernel$name == "gaussian") kernel$parameters <- list(sigma2 = 1 / kernel$parameters$gamma)
  kernel
}

# K_BB, exactly symmetric, where `rows` are the rows of K that are the basis
basis_kernel_matrix <- function(problem, kernel, basis, K, rows = basis$rows) {
  KBB <- if (is.null(basis$rows)) {
    points <- kernel_points(problem, basis$points)
    values <- kernel_matrix(kernel, points, points)
    diag(values) <- kernel_diagonal(kernel, points)
    values
  } else {
    K[rows, , drop = FALSE]
  }
  (KBB + t(KBB)) / 2
}

# K (m x n) between the rows and the basis
kernel_columns <- function(problem, kernel, basis) {
  if (is_precomputed(kernel)) return(unname(as.matrix(problem$x[, basis$rows, drop = FALSE])))
  K <- kernel_matrix(kernel, kernel_points(problem, problem$x),
                     kernel_points(problem, basis$points))
  diagonal <- cbind(basis$rows, seq_along(basis$rows))
  if (length(diagonal)) K[diagonal] <- kernel_diagonal(kernel, kernel_points(problem, basis$points))
  K
}

# forwardsolve() refuses an empty system
solve_lower <- function(L, b) if (nrow(L)) forwardsolve(L, b) else b

# U Lambda^(-1/2) (M x r) from the kernel matrix of the prototypes
nystrom_map <- function(KMM, tolerance = 1e-12) {
  decomposed <- eigen(KMM, symmetric = TRUE)
  lowest <- min(decomposed$values)
  stop_input_if(lowest < -1e-6 * mean(diag(KMM)),
                "the kernel matrix of the prototypes has a negative eigenvalue, %s: %s",
                format(lowest, digits = 3), "is it a kernel?", class = "sparsels_error_singular")
  kept <- which(decomposed$values > tolerance * decomposed$values[1L])
  decomposed$vectors[, kept, drop = FALSE] / rep(sqrt(decomposed$values[kept]), each = nrow(KMM))
}

# Bases and shifts ---------------------------------------------------------------------------------

# A basis as list(rows, points, all). `rows` are row numbers, or NULL for points that are not rows.
# `points` are on the user's scale. `all` is whether every row is a basis vector. `name` is the
# user's argument.
as_basis <- function(basis, problem, kernel, name = "basis") {
  if (length(dim(basis)) == 2L) {
    stop_input_if(is_precomputed(kernel),
                  "`%s` must be row numbers with a precomputed kernel, not points", name)
    points <- tryCatch(
      new_data_matrix(problem, basis, seq_len(ncol(problem))),
      sparsels_error_newdata = function(e) {
        stop_input(sub("newdata", name, conditionMessage(e), fixed = TRUE))
      }
    )
    refuse_unless(nrow(points), name, "at least one point", basis)
    bad <- which(rowSums(!is.finite(as.matrix(points))) > 0)
    stop_input_if(length(bad), "`%s` has missing or infinite values (row %d)", name, bad[1L])
    if (is.matrix(points)) points <- unclass(points)
    return(list(rows = NULL, points = points, all = FALSE))
  }
  m <- nrow(problem)
  rows <- if (is.null(basis)) {
    seq_len(m)
  } else if (is.numeric(basis) && length(basis) == 1L && !inherits(basis, "sparsels_basis")) {
    sample.int(m, check_count(basis, name, m, "the number of rows"))
  } else {
    basis_rows(basis, problem, name)
  }
  rows_basis(rows, problem, kernel)
}

basis_rows <- function(basis, problem, name = "basis") {
  refuse_unless(is.atomic(basis) && length(basis), name,
                "NULL, a number, row numbers or a matrix of points", basis)
  if (inherits(basis, "sparsels_basis")) basis <- as.integer(basis)
  rows <- positions(basis, nrow(problem), problem$rows$name, "row")
  stop_input_if(anyDuplicated(rows), "`%s` must not repeat rows, but row %d is there twice", name,
                rows[anyDuplicated(rows)])
  rows
}

rows_basis <- function(rows, problem, kernel) {
  points <- if (!is_precomputed(kernel)) problem$x[rows, , drop = FALSE]
  list(rows = rows, points = points, all = length(rows) == nrow(problem))
}

check_shift <- function(shift) {
  valid <- is_number(shift) && is.finite(shift) && shift >= 0 ||
    is.character(shift) && length(shift) == 1L && shift %in% c("auto", "paper")
  refuse_unless(valid, "shift", "\"auto\", \"paper\" or a number of at least 0", shift)
}

# The upper Cholesky factor of K_BB + shift * I, and the shift used.
shifted_cholesky <- function(KBB, shift) {
  mean_diagonal <- max(mean(diag(KBB)), 0)
  shifts <- switch(as.character(shift), auto = mean_diagonal * 10^(-10:-6), paper = 1e-7, shift)
  for (tau in shifts) {
    C <- tryCatch(chol(KBB + diag(tau, nrow(KBB))), error = function(e) NULL)
    if (!is.null(C)) {
      where <- if (identical(shift, "paper")) "kernel" else if (tau > 0) "regulariser" else "none"
      return(list(C = C, shift = list(value = tau, where = where)))
    }
  }
  stop_not_positive(eigen(KBB, symmetric = TRUE, only.values = TRUE)$values, tau)
}

# K, the kernel of rows with the basis vectors in `rows`, with a shift that is part of the kernel.
with_kernel_shift <- function(K, rows, shift) {
  if (shift$where != "kernel") return(K)
  diagonal <- cbind(rows, seq_along(rows))
  replace(K, diagonal, K[diagonal] + shift$value)
}

stop_not_positive <- function(values, tau) {
  stop_input("the kernel matrix is not positive definite: its lowest eigenvalue is %s, %s %s%s",
             format(min(values), digits = 3), "beyond the shift of", format(tau, digits = 3),
             ": is it a kernel, or should `shift` be larger?", class = "sparsels_error_singular")
}
