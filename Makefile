# make demo | test | check | campaign | format | clean. README.md says what each is for.
SHELL := /bin/bash
JDK := $(shell build/find-jdk)
MVN := JAVA_HOME=$(JDK) mvn -B -ntp -q

.PHONY: check
check: jdk
	$(MVN) verify -DskipITs

.PHONY: test
test: jdk
	$(MVN) verify

.PHONY: format
format: jdk
	$(MVN) validate -N -Dformat.mode=fix

.PHONY: clean
clean: jdk
	$(MVN) clean

.PHONY: jdk
jdk:
	@test -n "$(JDK)"
