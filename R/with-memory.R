# Every fitter and every function that judges a method ends R's own lack of memory as an error of
# the package, and says each warning once. R reads this file after their files, as its name comes
# after theirs.

# A function whose body is evaluated with handlers of R's errors and of warnings.
with_conditions <- function(fun) {
  body(fun) <- call("memory_classed", body(fun))
  fun
}

for (name in c(fitters, "added_value", "compare_methods", "cross_validate", "judge.default",
               "learning_curve", "permutation_test", "stability_selection", "transfer")) {
  assign(name, with_conditions(get(name)))
}
rm(name)
