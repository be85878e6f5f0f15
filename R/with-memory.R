# Every fitter ends R's own lack of memory as an error of the package. R reads this file after the
# files of the fitters, as its name comes after theirs.

# A function whose body is evaluated with a handler of R's errors.
with_memory_errors <- function(fun) {
  body(fun) <- call("memory_classed", body(fun))
  fun
}

for (name in fitters) assign(name, with_memory_errors(get(name)))
rm(name)
