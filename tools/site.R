# Builds the site of the package into ./site and checks it:  make site, or
#   Rscript tools/site.R        with the package installed
#
# pkgdown makes the pages, by pkgdown/_pkgdown.yml. Here they are finished: formulas become MathML,
# files that are named in the text become links to their copies on the site, and the search index a
# script that pages can load from a disk, too. So no page asks another server for anything, and
# neither does this script; pkgdown from 2.1 on downloads scripts when it runs for the first time.
#
# It fails where the index lacks a help page or an article, a link within the site leads nowhere, a
# picture has no words for those who cannot see it, and a script, style or picture is elsewhere.

options(pkgdown.internet = FALSE)
site <- file.path(getwd(), "site")
source_copy <- ".check/site"

# Pages -------------------------------------------------------------------------------------------

# The part of the checkout that the site is made of, apart, so that nothing is written beside it
copy_sources <- function() {
  unlink(source_copy, recursive = TRUE)
  dir.create(source_copy, recursive = TRUE)
  parts <- c("DESCRIPTION", "NAMESPACE", "LICENSE", "man", "inst", "vignettes", "pkgdown", "docs",
             Sys.glob("*.md"))
  file.copy(parts, source_copy, recursive = TRUE)
  dir.create(file.path(source_copy, "bench"))
  file.copy(c("bench/README.md", "bench/results"), file.path(source_copy, "bench"),
            recursive = TRUE)
  for (file in Sys.glob(file.path(source_copy, "man/*.Rd"))) join_values(file)
}

# pkgdown begins a paragraph of \value where a line ends in a tag: such lines go on instead.
join_values <- function(file) {
  text <- paste(readLines(file), collapse = "\n")
  value <- regexpr("(?s)\n[\\\\]value[{].*?\n[}]\n", text, perl = TRUE)
  line_end <- "[}]\n(?=[^\n}\\\\]|[\\\\](?!item))"
  regmatches(text, value) <- gsub(line_end, "} ", regmatches(text, value), perl = TRUE)
  writeLines(text, file)
}

build_pages <- function() {
  copy_sources()
  unlink(site, recursive = TRUE)
  package <- pkgdown::as_pkgdown(source_copy, override = list(destination = site))
  pkgdown::init_site(package)
  # these two stop where the index lacks a help page or an article
  pkgdown::build_reference_index(package)
  pkgdown::build_articles_index(package)
  pkgdown::build_home(package, preview = FALSE)
  pkgdown::build_reference(package, preview = FALSE, devel = FALSE)
  pkgdown::build_articles(package, preview = FALSE)
  pkgdown::build_news(package, preview = FALSE)
  add_markdown(package, c("docs", "bench"))
  pkgdown::build_search(package)
}

# Pages of text, and the measurements they name, at the addresses they have in the checkout
add_markdown <- function(package, folders) {
  files <- list.files(file.path(source_copy, folders), recursive = TRUE, full.names = TRUE)
  for (file in files) {
    address <- substring(file, nchar(source_copy) + 2)
    dir.create(file.path(site, dirname(address)), showWarnings = FALSE, recursive = TRUE)
    if (endsWith(file, ".md")) {
      add_page(package, file, sub("md$", "html", address))
    } else {
      file.copy(file, file.path(site, address))
    }
  }
}

add_page <- function(package, file, address) {
  html <- tempfile(fileext = ".html")
  rmarkdown::pandoc_convert(normalizePath(file), "html4", from = "gfm", output = html,
                            options = c("--section-divs", "--wrap=none"))
  page <- xml2::read_html(html, encoding = "UTF-8")
  heading <- xml2::xml_find_first(page, "//h1")
  title <- xml2::xml_text(heading)
  xml2::xml_remove(heading)
  body <- paste(as.character(xml2::xml_contents(xml2::xml_find_first(page, "//body"))),
                collapse = "\n")
  pkgdown::render_page(package, "title-body", list(pagetitle = title, body = body), address)
}

# Finish ------------------------------------------------------------------------------------------

list_pages <- function() list.files(site, "[.]html$", recursive = TRUE)

read_page <- function(address) {
  xml2::read_html(file.path(site, address), encoding = "UTF-8")
}

finish_pages <- function() {
  for (address in list_pages()) {
    page <- read_page(address)
    write_formulas(page)
    link_files(page, address)
    describe_pictures(page)
    open_to_keyboards(page)
    xml2::write_html(page, file.path(site, address), format = FALSE)
  }
  write_search_script()
}

not_in_code <- "[not(ancestor::pre or ancestor::code)]"

formula_pattern <- "(?s)\\\\\\(.+?\\\\\\)|\\\\\\[.+?\\\\\\]|[$]{2}.+?[$]{2}"

# Formulas between \( \), \[ \] or $$ $$, as pkgdown and pandoc leave them, become MathML.
write_formulas <- function(page) {
  places <- xml2::xml_find_all(page, paste0(
    "//main//text()[contains(., '\\(') or contains(., '\\[') or contains(., '$$')]", not_in_code
  ))
  text <- xml2::xml_text(places)
  spots <- gregexpr(formula_pattern, text, perl = TRUE)
  found <- regmatches(text, spots)
  if (!length(unlist(found))) return()
  written <- utils::relist(as_mathml(unlist(found)), found)
  between <- regmatches(text, spots, invert = TRUE)
  for (i in which(lengths(found) > 0)) {
    words <- vapply(between[[i]], escape_html, "", USE.NAMES = FALSE)
    pieces <- c(rbind(words, c(written[[i]], "")))
    xml2::xml_replace(places[[i]], make_node("span", paste(pieces, collapse = "")))
  }
}

make_node <- function(name, inside, attributes = "") {
  html <- sprintf("<%s %s>%s</%s>", name, attributes, inside, name)
  xml2::xml_find_first(xml2::read_html(html, encoding = "UTF-8"), paste0("//", name))
}

escape_html <- function(text) {
  gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE)
}

as_mathml <- function(formulas) {
  tex <- gsub("\\s+", " ", trimws(substr(formulas, 3, nchar(formulas) - 2)))
  dollars <- ifelse(startsWith(formulas, "\\("), "$", "$$")
  files <- tempfile(fileext = c(".md", ".html"))
  writeLines(paste0(dollars, tex, dollars, "\n"), files[1])
  rmarkdown::pandoc_convert(files[1], "html", from = "markdown", output = files[2],
                            options = "--mathml")
  paragraphs <- xml2::xml_find_all(xml2::read_html(files[2], encoding = "UTF-8"), "//p")
  math <- xml2::xml_find_first(paragraphs, ".//*[local-name() = 'math']")
  failed <- is.na(xml2::xml_name(math))
  if (length(math) != length(tex) || any(failed)) {
    stop("pandoc makes no MathML of ", paste(tex[failed], collapse = " and "))
  }
  text <- gsub("(<mo[^>]*)>\u2225<", "\\1 lspace=\"0\" rspace=\"0\">\u2225<", as.character(math))
  # brackets in a line of text are no taller than the line
  ifelse(dollars == "$", gsub("stretchy=\"true\"", "stretchy=\"false\"", text), text)
}

# A file that is named in code, from the root of the checkout, from the page or from the folder of
# measurements, is linked where the site has it.
link_files <- function(page, address) {
  codes <- xml2::xml_find_all(page, "//main//code[not(ancestor::a or ancestor::pre or *)]")
  named <- xml2::xml_text(codes)
  is_file <- grepl("^[A-Za-z0-9_./-]+[.](md|txt|png)$", named)
  for (i in which(is_file)) {
    target <- sub("[.]md$", ".html", named[i])
    places <- file.path(c(".", dirname(address), "bench/results"), target)
    there <- places[file.exists(file.path(site, places))]
    if (length(there) && normal_address(there[1]) != address) {
      up <- strrep("../", lengths(regmatches(address, gregexpr("/", address))))
      href <- sprintf("href=\"%s%s\"", up, normal_address(there[1]))
      xml2::xml_replace(codes[[i]], make_node("a", sprintf("<code>%s</code>", named[i]), href))
    }
  }
}

# An address without `.` and `..`
normal_address <- function(address) {
  parts <- character()
  for (part in strsplit(address, "/")[[1]]) {
    if (part == "..") parts <- parts[-length(parts)] else
      if (!part %in% c(".", "")) parts <- c(parts, part)
  }
  paste(parts, collapse = "/")
}

# pkgdown leaves a place for a logo, the words of a picture of README.md as a caption, and pictures
# of examples, which stand below the code that draws them, without words.
describe_pictures <- function(page) {
  xml2::xml_remove(xml2::xml_find_all(page, "//img[@src = '']"))
  captions <- xml2::xml_find_all(page, "//img[@alt = '']/following-sibling::p[@class = 'caption']")
  xml2::xml_set_attr(xml2::xml_find_first(captions, "preceding-sibling::img"), "alt",
                     xml2::xml_text(captions))
  xml2::xml_remove(captions)
  drawn <- xml2::xml_find_all(page, "//span[contains(@class, 'r-plt')]//img")
  xml2::xml_set_attr(drawn, "alt", "What the code above draws")
}

# What tools/accessibility.js finds in pages of pkgdown: bars and contents without names, empty
# headings of tables, third headings without second ones. pkgdown/extra.js opens what moves within
# itself, such as wide tables, to keys.
open_to_keyboards <- function(page) {
  xml2::xml_set_attr(xml2::xml_find_all(page, "//nav[contains(@class, 'navbar')]"), "aria-label",
                     "Site")
  xml2::xml_set_attr(xml2::xml_find_all(page, "//nav[@id = 'toc']"), "aria-label", "Contents")
  empty <- xml2::xml_find_all(page, "//th[not(normalize-space(.)) and not(*)]")
  xml2::xml_set_name(empty, "td")
  if (!length(xml2::xml_find_all(page, "//main//h2"))) {
    xml2::xml_set_name(xml2::xml_find_all(page, "//main//h3"), "h2")
  }
}

# The index as a script: pages on a disk may not read other files, but may load scripts.
write_search_script <- function() {
  index <- file.path(site, "search.json")
  entries <- jsonlite::read_json(index)
  url <- paste0(pkgdown::as_pkgdown(source_copy)$meta$url, "/")
  for (i in seq_along(entries)) entries[[i]]$path <- sub(url, "", entries[[i]]$path, fixed = TRUE)
  text <- jsonlite::toJSON(entries, auto_unbox = TRUE, null = "null")
  writeLines(paste0("const searchIndex = ", text, ";"), file.path(site, "search.js"),
             useBytes = TRUE)
  unlink(index)
}

# Checks ------------------------------------------------------------------------------------------

is_elsewhere <- function(link) grepl("^([a-z]+:|//)", link)

# What is wrong with the pages, a line each. 404.html has the links of the others, but from the root
# of the server.
find_faults <- function() {
  addresses <- setdiff(list_pages(), "404.html")
  pages <- lapply(stats::setNames(addresses, addresses), read_page)
  anchors <- lapply(pages, function(page) {
    xml2::xml_text(xml2::xml_find_all(page, "//@id | //a/@name"))
  })
  unlist(lapply(addresses, function(address) {
    faults <- c(dead_links(pages[[address]], address, anchors), foreign_parts(pages[[address]]),
                left_undone(pages[[address]]))
    if (length(faults)) paste0(address, ": ", faults)
  }))
}

dead_links <- function(page, address, anchors) {
  links <- unique(xml2::xml_text(xml2::xml_find_all(page, "//@href | //@src")))
  links <- links[!is_elsewhere(links) & links != "#"]
  file <- sub("[?#].*", "", links)
  target <- ifelse(file == "", address,
                   vapply(file.path(dirname(address), file), normal_address, ""))
  anchor <- ifelse(grepl("#", links), utils::URLdecode(sub(".*#", "", links)), "")
  there <- file.exists(file.path(site, target)) & !endsWith(links, "/")
  known <- mapply(function(target, anchor) anchor == "" || anchor %in% anchors[[target]],
                  target, anchor)
  c(sprintf("the link to %s leads nowhere", links[!there]),
    sprintf("there is no place %s", links[there & !known]))
}

foreign_parts <- function(page) {
  parts <- xml2::xml_text(xml2::xml_find_all(page, "//link[@rel = 'stylesheet']/@href | //@src"))
  sprintf("%s is not on the site", parts[is_elsewhere(parts)])
}

left_undone <- function(page) {
  silent <- xml2::xml_find_all(page, "//img[not(@alt) or normalize-space(@alt) = '']/@src")
  text <- xml2::xml_text(xml2::xml_find_all(page, paste0("//main//text()", not_in_code)))
  c(sprintf("the picture %s has no words (fig.alt)", xml2::xml_text(silent)),
    sprintf("a formula is left as %s", grep("\\\\\\(|[$]{2}", text, value = TRUE)))
}

# The whole ---------------------------------------------------------------------------------------

build_pages()
finish_pages()
faults <- find_faults()
writeLines(as.character(faults))
cat(length(list_pages()), "pages in site/index.html and beside it,", length(faults), "faults\n")
quit(status = as.integer(length(faults) > 0))
