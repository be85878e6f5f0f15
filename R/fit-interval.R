# Predictions of new rows by the models trained without each part of the rows:
# list(at, pairs, held).
predictions_without <- function(fit, newdata, adjust = NULL) UseMethod("predictions_without")
