# Draws docs/cheat-sheet.png from vignettes/cheat-sheet.Rmd:  Rscript data-raw/cheat-sheet.R

lines <- readLines("vignettes/cheat-sheet.Rmd")
titles <- grep("^## ", lines)
boxes <- lapply(titles, function(title) {
  fences <- grep("^```", lines)
  fences <- fences[fences > title][1:2]
  list(title = sub("^## ", "", lines[title]), code = lines[(fences[1] + 1):(fences[2] - 1)])
})

grDevices::png("docs/cheat-sheet.png", 2000, 1414, res = 150)
par(mar = c(0, 0, 0, 0), bg = "white")
plot.new()
plot.window(c(0, 2), c(0, 4.3), xaxs = "i", yaxs = "i")
text(0.03, 4.15, "sparsels", adj = 0, cex = 2.2, font = 2, col = "#005a8c")
text(1.97, 4.15, "few variables, and the error of the whole analysis", adj = 1, cex = 1.2)
for (i in seq_along(boxes)) {
  left <- (i - 1) %/% 4
  top <- 4 - (i - 1) %% 4
  rect(left + 0.02, top - 0.97, left + 0.98, top - 0.02, border = "#005a8c", lwd = 1.5)
  rect(left + 0.02, top - 0.2, left + 0.98, top - 0.02, col = "#005a8c", border = NA)
  # texts stand on a line, whatever their letters
  text(left + 0.04, top - 0.14, boxes[[i]]$title, adj = c(0, 0), cex = 1.25, font = 2,
       col = "white")
  for (row in seq_along(boxes[[i]]$code)) {
    height <- top - 0.22 - 0.1 * row
    parts <- strsplit(boxes[[i]]$code[row], " +# ")[[1]]
    # a joiner of no width keeps `fi` two letters of one width each
    text(left + 0.04, height, gsub("fi", "f\u200ci", parts[1]), adj = c(0, 0), cex = 0.8,
         family = "mono", col = "#222222")
    if (length(parts) > 1) {
      text(left + 0.96, height, parts[2], adj = c(1, 0), cex = 0.8, col = "#005a8c")
    }
  }
}
invisible(grDevices::dev.off())
