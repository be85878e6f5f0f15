# Pictures are drawn on no screen and in no file.
if (!interactive()) options(device = function(...) grDevices::pdf(NULL))
# Sparse matrices are made by methods::as(), too.
loadNamespace("Matrix")
