# The tags of rOpenSci's standards, which tools/standards.R reads and the package srr knows. They
# are no part of a help page.
for (tag in c("srrstats", "srrstatsNA", "srrstatsTODO")) {
  registerS3method("roxy_tag_parse", paste0("roxy_tag_", tag), function(x) {
    x$val <- x$raw
    x
  }, asNamespace("roxygen2"))
}
list()
