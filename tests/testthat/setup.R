# Pictures are drawn on no screen and in no file.
if (!interactive()) options(device = function(...) grDevices::pdf(NULL))
