# Entries in the registers of other packages, made as soon as both packages are loaded.

.onLoad <- function(libname, pkgname) { # nolint: object_name_linter.
  when_loaded("parsnip", register_parsnip)
  when_loaded("mlr3", register_mlr3)
  when_loaded("mlr3filters", register_mlr3filters)
}

when_loaded <- function(package, register) {
  if (isNamespaceLoaded(package)) register()
  setHook(packageEvent(package, "onLoad"), register)
}
