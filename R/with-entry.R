# Every fitter and every function that judges a method runs as entered(). R reads this file after
# their files, as its name comes after theirs.

with_entry <- function(fun) {
  body(fun) <- call("entered", body(fun))
  fun
}

for (name in c(fitters, "added_value", "compare_methods", "cross_validate", "judge.default",
               "learning_curve", "permutation_test", "stability_selection", "transfer")) {
  assign(name, with_entry(get(name)))
}
rm(name)
