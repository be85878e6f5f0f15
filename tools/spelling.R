# British spelling of the help, the articles, README.md, NEWS.md and DESCRIPTION. Words that are
# right and in no dictionary are in inst/WORDLIST.
#
#   Rscript tools/spelling.R
wrong <- spelling::spell_check_package(".")
print(wrong)
cat("spelling:", nrow(wrong), "words that neither the dictionary nor inst/WORDLIST has\n")
quit(status = nrow(wrong) > 0L)
