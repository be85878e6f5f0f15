# make demo   sets up, installs into ./.library and shows gene selection on the colon data
# make test   sets up and runs every check; the last line counts them
# make quick  the daily round, in less than a minute: format, lints, structure, kernels once, quick tests;
#             TESTS="judge verify" adds the tests of two files
# make rehearse  what CRAN and other systems will say: locales, compilers, valgrind, Windows and ARM
# make truth  fits 2000 random problems and compares them with retraining in more digits
# make interrupts  Ctrl-C at random times, a hundred times
# make bench-changed  measures again what changed since its results were saved; DATA=DIR has the data
# make site   the web site, in ./site
# make setup-adapters  installs parsnip, tune and mlr3 from CRAN (minutes), so that make test tests them
# make fuzz   strange arguments and edited objects under sanitizers; SECONDS=3600 for longer

export R_LIBS := $(CURDIR)/.library$(if $(R_LIBS),:$(R_LIBS))

.PHONY: demo test quick rehearse install document format lint ctest fuzz interrupts truth coverage bench-changed site clean \
  setup-demo setup-test setup-rehearse setup-coverage setup-site setup-adapters

demo: install
	Rscript tools/demo.R

test: setup-test
	tools/check.sh

quick: setup-test
	tools/check.sh quick

rehearse: setup-rehearse
	tools/rehearse.sh

install: setup-demo
	tools/install.sh

document: setup-test
	Rscript -e 'roxygen2::roxygenise()'
	Rscript tools/standards.R

format: setup-test
	clang-format -i $(wildcard src/*.c src/*.h tools/ctest/*.c tools/ctest/*.h)

lint: setup-test
	Rscript tools/lint-r.R
	Rscript tools/lint-structure.R
	tools/lint-c.sh

ctest: setup-test
	tools/ctest/run.sh

fuzz: setup-test
	tools/fuzz/run.sh $(or $(SECONDS),120)

interrupts: install
	Rscript tools/fuzz/interrupts.R

truth: install
	Rscript tools/truth/truth.R

bench-changed: install
	Rscript tools/bench-changed.R $(DATA)

coverage: setup-coverage
	Rscript tools/coverage.R

site: setup-site install
	Rscript tools/site.R

setup-demo setup-test setup-rehearse setup-coverage setup-site setup-adapters: setup-%:
	tools/setup.sh $*

clean:
	rm -rf .check .library demo site sparsels_*.tar.gz src/*.o src/*.so
