# `make help` lists the targets.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# Error Prone and the formatter run inside Maven, on JDK 25.
export JAVA_HOME := $(shell build/find-jdk)
# Maven's own libraries use sun.misc.Unsafe, of which JDK 25 warns at each start.
export MAVEN_OPTS ?= --sun-misc-unsafe-memory-access=allow --enable-native-access=ALL-UNNAMED
MVN := mvn

.PHONY: help
help: ## lists what make can do
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: demo
demo: tools build ## the main job with no cluster and no PMEM, in under three minutes
	bin/pmem-csi demo

.PHONY: build
build: ## compiles and packs the program that bin/pmem-csi starts
	$(MVN) --quiet --threads 2 package -Dmaven.test.skip=true
	build/train-aot || true # it reports why; the program runs without a cache, too

.PHONY: dist
dist: ## lays the program out in target/dist for the build of the image
	$(MVN) --quiet --threads 2 package -Dmaven.test.skip=true
	build/dist

.PHONY: image
image: dist ## builds the image with docker, podman or buildah (deploy/image/Containerfile)
	build/image

.PHONY: release-files
release-files: dist ## collects image, SBOM, YAML, chart, bundle, command line program and checksums in target/release
	build/release-files

.PHONY: check
check: ## the quick loop: format, compile, static checks, unit tests
	$(MVN) --threads 2 -Pchecks clean test

.PHONY: test
test: setup ## every test, on real components, with all set-up
	$(MVN) --threads 2 -Pchecks clean verify

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
format: ## formats all Java files (google-java-format)
	$(MVN) --quiet --threads 2 spotless:apply

.PHONY: generate
generate: ## writes deploy/, docs/api.md, docs/metrics.md and the tests' expected YAML from the code
	$(MVN) --quiet --threads 2 test -Dpmem-csi.generate=true

.PHONY: clean
clean: ## removes the build's output (not the caches of the test beds)
	$(MVN) --quiet clean
