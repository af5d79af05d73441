# The short way to the presets of CMakePresets.json; `make help` lists the targets.
PREFIX  ?= /usr/local
DESTDIR ?=
ONLY    ?=

export ONLY

.DEFAULT_GOAL := build
.PHONY: build deps demo test test-all bench install package format clean help configure

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

configure:
	@cmake --preset release >/dev/null

build: configure ## build the commands (build/bin) and the libraries (build/lib)
	@cmake --build --preset release

deps: ## install all missing Debian packages
	@scripts/install-deps test

demo: ## show what Tidemark does, on a modelled card
	@scripts/install-deps build
	@cmake --preset release >/dev/null
	@cmake --build --preset release --target tidemark_installed
	@scripts/demo

test: deps ## check layers and format, run the suite with sanitizers, check what is installed
	@scripts/run-tests layers format check installed

test-all: deps ## run all that CI runs: also full sizes, the release build, threads, long fuzzing, ARM
	@scripts/run-tests layers format check installed full release tsan aarch64

bench: ## run the benchmarks, or only those that match ONLY=pattern; writes build/bench.json
	@scripts/install-deps bench
	@$(MAKE) --no-print-directory build
	@build/bin/tidemark-bench $(if $(ONLY),--only "$$ONLY") --json build/bench.json

install: ## install below PREFIX (default /usr/local), staged in DESTDIR
	@cmake --preset release -DCMAKE_INSTALL_PREFIX="$(PREFIX)" >/dev/null
	@cmake --build --preset release --target tidemark_installed tidemark_docs
	@DESTDIR="$(DESTDIR)" cmake --install build/release

package: build ## make a .deb in build/package
	@cd build/release && cpack -G DEB -B ../package

format: ## format the sources in place
	@scripts/format

clean: ## remove everything that was built
	@rm -rf build
