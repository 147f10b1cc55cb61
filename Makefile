# Everything that one does with this repository. `make help` lists it.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

MVN := build/maven

.PHONY: help
help: ## lists what make can do
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

.PHONY: demo
demo: tools build ## the main job with no cluster and no PMEM, in under three minutes
	bin/pmem-csi demo

.PHONY: build
build: ## compiles and packs the program that bin/pmem-csi starts
	@echo "building (the first time Maven also downloads; it says nothing unless something is wrong)"
	$(MVN) --quiet --threads 2 package -Dmaven.test.skip
	build/train-aot || true # it has said why, and the program runs without a cache

.PHONY: dist
dist: build ## lays the program out in target/dist as an image has it (see deploy/image/Containerfile)
	build/dist

.PHONY: check
check: ## the quick loop: format, compile, static checks, unit tests
	@echo "the first time Maven also downloads, and says nothing meanwhile"
	@SECONDS=0; $(MVN) --threads 3 test -Dunit-tests-only; echo "make check took $$SECONDS s"

.PHONY: test
test: setup ## every test, on real components, with all set-up
	@echo "compiling and testing (the first time Maven also downloads, and says nothing meanwhile)"
	@SECONDS=0; $(MVN) --threads 3 verify -Dguest-last; echo "make test took $$SECONDS s after its set-up"

.PHONY: campaign
campaign: setup ## the long versions of the tests: thousands of fault plans, full stress
	$(MVN) verify -Dpmem-csi.campaign=true -Dpmem-csi.guest.processors=2

.PHONY: bench
bench: setup build ## measures what users were promised about speed and size (BENCH="names" chooses)
	build/bench $(BENCH)

.PHONY: tools
tools: ## packages with the programs that the driver calls
	build/tools

.PHONY: setup
setup: ## packages, Kubernetes and guest that the tests on real components need
	build/setup

.PHONY: format
format: ## lays all Java files out as the build wants them
	$(MVN) --quiet --non-recursive validate -Dformat.mode=fix

.PHONY: generate
generate: ## writes deploy/, docs/api.md and the tests' expected YAML anew from the code
	$(MVN) --quiet --threads 3 test -Dunit-tests-only -Dpmem-csi.generate=true

.PHONY: clean
clean: ## removes what the build made (not the caches of the test beds)
	$(MVN) --quiet clean
