# Everything here works on a machine that has Go, git and make.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# A path with a space is several names to make: it would write and remove files beside this folder.
ifneq ($(words $(CURDIR)),1)
$(error make needs a path without spaces: move the checkout out of $(CURDIR))
endif

# Git sets these for its hooks. A test that makes a repository would write into this one.
unexport GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY

BIN     := $(CURDIR)/bin
# Two examples are tested and linted with all else, the others with the long tests, as are modules that only these need.
EXAMPLES := examples/apiexample examples/app examples/cronjob examples/democrd examples/fleet examples/guestbook examples/ingress-manager examples/mycronjob examples/pipeline examples/podannotator examples/rediscluster examples/sample-controller examples/toy
SOME     := examples/cronjob examples/guestbook
MODULES  := . cluster operator bench release test/cronjob test/differential $(SOME)
REST     := $(filter-out $(SOME),$(EXAMPLES)) test/certmanager test/cri test/helm test/prove test/browser
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0
ACTIONLINT := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
GOLANGCI_LINT := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

# Compilers leave out what only debuggers read, a fifth of a compile from nothing, and the folders of sources. slipway
# builds its programs and images with the same settings, and so do scripts, so no package is compiled twice.
export GOFLAGS := $(strip $(shell env -u SLIPWAY_RELEASE_KEY go env GOFLAGS) -trimpath -gcflags=all=-dwarf=false)
export CGO_ENABLED := 0

.PHONY: help
help: ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(BIN)/slipway ## Build all programs; those of clusters and real nodes take some ten minutes the first time.
	$(BIN)/slipway cluster build
	$(BIN)/slipway cluster build --nodes real
	go build -C cluster -ldflags='-s -w' -o $(BIN)/check/slipway-check ./cmd/slipway-check

# Released programs name no folder of sources; this one compiles the programs of this checkout.
.PHONY: $(BIN)/slipway
$(BIN)/slipway: export GOGC = 200
$(BIN)/slipway:
	go build -ldflags="-X 'github.com/slipway-dev/slipway/internal/program.checkout=$(CURDIR)'" -o $@ ./cmd/slipway

.PHONY: web
web: ## Build the page of slipway explain --web from web/src into web/dist, which is committed; needs Node 20 or newer.
	cd web && npm ci && npm run build

.PHONY: demo
demo: $(BIN)/slipway ## From nothing to a running operator, narrated, in a temporary folder (CLUSTER=current: the current kubeconfig's cluster).
	CLUSTER=$(CLUSTER) ./examples/demo $(BIN)/slipway

# What go test says goes through testlog, which shows it as go test would and writes down what each test took.
# `make lint` vets.
EVENTS  := $(BIN)/tests.jsonl
TESTLOG := $(BIN)/testlog -log $(EVENTS)
GOTEST  := go test -json -vet=off

# The rules about words are checked by `make lint`, all others with the tests. The longest begin first.
CODE = ./internal/cli ./internal/ship $$(go list ./... | grep -v /internal/repotest/words$$)

.PHONY: $(BIN)/testlog
$(BIN)/testlog:
	go build -o $@ ./hack/testlog
	@rm -f $(EVENTS)

.PHONY: gofmt
gofmt:
	@files=$$(git ls-files '*.go') && other=$$(gofmt -l $$files) && test -z "$$other" || { echo "$$other"; exit 1; }

# Without the variables that name programs of clusters, a test that needs one skips itself. So the result is the same on
# every machine. Most of these processes end before garbage is worth collecting. Some tests that compile are left to
# `make test`.
CHECK = env -u SLIPWAY_CLUSTER -u SLIPWAY_NODE -u SLIPWAY_CHECK GOGC=800 FEW_ROUNDS=1
ONLY  = $(if $(value RUN),-run '$(value RUN)')

.PHONY: check
check: gofmt $(BIN)/testlog ## gofmt, go vet and the tests that need no cluster, in some three minutes (PACKAGES=./project RUN=TestFind for less).
	@$(CHECK) $(TESTLOG) go test -json -vet=all -short -parallel 4 -timeout 10m $(ONLY) $(or $(PACKAGES),$(CODE))
	$(if $(PACKAGES),,@$(CHECK) $(TESTLOG) -dir operator go test -json -vet=all -short -timeout 10m $(ONLY) ./...)
	$(if $(PACKAGES)$(value RUN),,@echo 'All checks passed. `make lint` checks words and pages; `make test` tests with clusters.')

# Every test that needs a cluster uses the programs that `make build` has compiled once for the whole run.
# The assignments stand before export, which would hide that a command in them failed: all those tests would be skipped.
PROGRAMS = SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) && SLIPWAY_NODE=$$($(BIN)/slipway cluster build --nodes real) && SLIPWAY_CHECK=$(BIN)/check/slipway-check && \
	export SLIPWAY_CLUSTER SLIPWAY_NODE SLIPWAY_CHECK

# These run in turn, the longest first, each with two packages at a time and two tests of a package: tests wait for
# clusters more than they compute. More at once would not end sooner, and each would take longer than the time that some
# commands give a cluster; so the packages of the cluster wait for each other. The examples' tests run as their users run
# them: with the tool. Linkers and most commands end before garbage is worth collecting.
.PHONY: test
test: build $(BIN)/testlog ## Run the tests of every module, without those that take long: a quarter of an hour to forty minutes.
	$(PROGRAMS) && \
	GOGC=400 $(TESTLOG) $(GOTEST) -short -parallel 2 -timeout 60m $(CODE) -- \
	-dir cluster $(GOTEST) -short -p 1 -timeout 60m ./... -- \
	-dir release $(GOTEST) -short -timeout 10m ./... -- \
	-dir operator $(GOTEST) -short -timeout 10m ./... -- \
	$(foreach e,$(SOME),-dir $(e) $(BIN)/slipway test -json -short -vet=off -timeout 10m ./... -- )\
	-dir test/cronjob $(GOTEST) -short -timeout 10m ./... -- \
	-dir bench $(GOTEST) -short -timeout 10m ./... -- \
	-dir test/differential $(GOTEST) -short -timeout 10m ./...

.PHONY: examples
examples: build ## Do what the README of each example says, in turn, and print a line for each.
	$(PROGRAMS) && go run ./hack/examples -bin $(BIN) $(EXAMPLES)

# Parts of at most forty minutes each, which run alone: docs/inside/contributing.md says when. A test that `make test`
# leaves out names its part.
LONG := scripts dev upgrades projects others pages examples nodes kills record matrix edits mutants versions real peers envtest suites certmanager critest helm prove browser web release lint

.PHONY: test-times
test-times: ## List the twenty slowest tests of the last run, and the parts of the long tests that have not passed for a week of commits.
	@go run ./hack/testlog -log $(EVENTS) -slowest 20
	@go run ./hack/testlog -parts $(LONG)

.PHONY: test-long
test-long: $(LONG:%=test-long-%) ## Run all parts of the long tests, which are called test-long-<part>; contributing.md lists them.

.PHONY: $(LONG:%=test-long-%)
$(LONG:%=test-long-%): $(BIN)/testlog

# Each part ends with PASSED, which writes down that it has: test-times lists that.
PASSED   = @$(TESTLOG) -passed $(@:test-long-%=%)
LONGTEST = $(PROGRAMS) && $(TESTLOG)

test-long-scripts: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout 40m -skip '^Test(DevLoop|Upgrades|Projects|EveryVerbInOthersProjects)$$' ./internal/cli
	$(PASSED)

test-long-dev: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^TestDevLoop$$' ./internal/cli
	$(PASSED)

# The operators of others are compiled with their own versions of Kubernetes' libraries, which takes the most of it.
test-long-upgrades: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^TestUpgrades$$' -parallel 1 ./internal/cli
	$(PASSED)

test-long-projects: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^TestProjects$$' -parallel 1 ./internal/cli
	$(PASSED)

test-long-others: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^TestEveryVerbInOthersProjects$$' ./internal/cli $(OTHERS)
	$(PASSED)

test-long-pages: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout 40m ./docs
	$(PASSED)

test-long-examples: build
	$(PROGRAMS) $(foreach e,$(EXAMPLES),&& $(TESTLOG) -dir $(e) $(BIN)/slipway test -json -count=1 -vet=off -timeout 20m ./...) && \
	$(TESTLOG) -dir test/cronjob $(GOTEST) -count=1 -timeout 20m ./... && \
	$(TESTLOG) -dir examples/cronjob $(BIN)/slipway test -json -count=1 -vet=off -timeout 40m ./internal/controller -run '^TestMonth$$' -args -months $(or $(MONTHS),20) -seed $(or $(SEED),1)
	$(PROGRAMS) && go run ./hack/examples -bin $(BIN) $(EXAMPLES)
	$(PASSED)

test-long-nodes: build
	$(LONGTEST) -dir cluster $(GOTEST) -count=1 -timeout 40m -run '^TestReal(Nodes|Many|ThreeClusters|EgressFlood)$$' ./test
	$(PASSED)

# KILLS are those of a durable cluster while clients write; FAULTS are rounds of kills of clusters with real nodes,
# their nodes and containers.
test-long-kills: build
	SLIPWAY_KILLS=$(or $(KILLS),50) SLIPWAY_FAULTS=$(or $(FAULTS),5) $(if $(SEED),SLIPWAY_SEED=$(SEED)) && export SLIPWAY_KILLS SLIPWAY_FAULTS $(if $(SEED),SLIPWAY_SEED) && \
	$(LONGTEST) -dir cluster $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^Test(AcknowledgedWritesSurviveKill|KilledResetIsFinished|Kill|RealKill.*)$$' ./test ./rollback && \
	$(TESTLOG) $(GOTEST) -count=1 -run '^TestKilledCommands$$' ./internal/cli
	$(PASSED)

# MINUTES are those for which a small record is written, ROUNDS those in which its cost is measured.
test-long-record: build
	export SLIPWAY_RECORD_MINUTES=$(or $(MINUTES),30) SLIPWAY_RECORD_ROUNDS=$(or $(ROUNDS),21) SLIPWAY_RECORD_FULL=1 && \
	$(LONGTEST) -dir cluster $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),90m) -v -run '^Test(Record(Cost|Turns)|Speed)$$' ./engine ./history
	$(PASSED)

test-long-matrix: build
	GOBIN=$(BIN) go install $(GOLANGCI_LINT)
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),90m) -run '^TestMatrix$$' ./internal/cli -matrix $(or $(MATRIX),pairs) -linter $(BIN)/golangci-lint
	$(PASSED)

test-long-edits: build
	$(LONGTEST) $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),90m) -run '^Test(Random|DeleteUndoesCreate)' ./internal/scaffold -edits $(or $(EDITS),1000) -seed $(or $(SEED),0)
	$(PASSED)

test-long-mutants:
	$(TESTLOG) -dir test/differential $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),40m) -v -run '^Test(Mutants|Mutated.*|Webhooks.*|SchemaPatch.*)$$' ./generate -mutants $(or $(MUTANTS),3000) -seed $(or $(SEED),0) $(if $(VERSION),-version $(VERSION)) \
		-webhook-mutations $(or $(MUTANTS),3000) -webhook-seed $(or $(SEED),0)
	$(PASSED)

# KEEP is a folder that keeps the nineteen programs; UPDATE=1 rewrites the golden files.
test-long-versions:
	$(TESTLOG) -dir test/differential $(GOTEST) -count=1 -timeout 60m -v -run '^TestEditions$$' ./generate $(if $(KEEP),-programs $(KEEP)) $(if $(UPDATE),-update)
	$(PASSED)

test-long-real:
	$(TESTLOG) -dir test/differential $(GOTEST) -count=1 -timeout 40m -v -run '^Test(RealProjects|PinnedProjects|.*OfRealAPI)$$' ./generate -real
	$(PASSED)

test-long-peers: build
	export KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=3m && \
	$(LONGTEST) -dir test/differential $(GOTEST) -count=1 -timeout 40m ./controllergen ./setupenvtest ./envtest ./deploy
	$(PASSED)

test-long-envtest: build
	$(PROGRAMS) && go run -C bench ./suites
	$(PASSED)

# The most of it goes into compiling operators with their own versions of Kubernetes' libraries.
test-long-suites: build
	$(PROGRAMS) && go run -C bench ./suites operators
	$(PASSED)

test-long-certmanager: build
	$(LONGTEST) -dir test/certmanager $(GOTEST) -count=1 -timeout 40m -v ./...
	$(PASSED)

test-long-critest:
	$(TESTLOG) -dir test/cri $(GOTEST) -count=1 -timeout 40m -v ./...
	$(PASSED)

test-long-helm: build
	$(LONGTEST) -dir test/helm $(GOTEST) -count=1 -timeout 40m ./...
	$(PASSED)

# Each operator is run some hundred times with a failure in another place.
test-long-prove: build
	$(LONGTEST) -dir test/prove $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),120m) -v ./...
	$(PASSED)

# It needs a Chromium that CHROME or PATH names, and fails without one.
test-long-browser:
	$(TESTLOG) -dir test/browser $(GOTEST) -count=1 -timeout 20m -v ./...
	$(PASSED)

# It needs Node 20 or newer, and npm's registry.
test-long-web:
	$(TESTLOG) $(GOTEST) -count=1 -timeout 10m -v -run '^TestRebuild$$' ./web -rebuild
	$(PASSED)

test-long-lint:
	@$(call EACH,$(REST),$(LINT))
	@$(call EACH,$(MODULES) $(REST),go mod tidy -diff)
	$(PASSED)

# RELEASE=complete compiles Kubernetes twice.
test-long-release:
	$(TESTLOG) -dir release $(GOTEST) -count=1 -timeout $(or $(TIMEOUT),90m) -v -run '^TestThisRepository$$' . $(if $(filter complete,$(RELEASE)),-complete)
	$(PASSED)

.PHONY: bench
bench: build ## Measure against the peers, side by side in one run.
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) SLIPWAY_CHECK=$(BIN)/check/slipway-check go run -C bench .

.PHONY: bench-compile
bench-compile: ## Measure the cold compile of the cluster program (hours: 7 rounds).
	go run -C bench ./compile

.PHONY: soak
soak: build ## Work a cluster hard, and fail when it grows (SOAK=30m).
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) go run -C bench ./soak -for $(or $(SOAK),30m)

.PHONY: bump-kubernetes
bump-kubernetes: ## Upgrade the embedded Kubernetes: modules, seed, wiring checks, tests (VERSION=v1.38.0; the newest when empty).
	go run ./hack/bump-kubernetes $(VERSION)

# The compiler and the linker have no use for the key that signs: only the finished program gets it.
.PHONY: $(BIN)/release
$(BIN)/release:
	env -u SLIPWAY_RELEASE_KEY go build -C release -o $@ .

.PHONY: release
release: $(BIN)/release ## Make the files of a release in dist (VERSION=v0.1.0 PUBLIC_KEY=...; TARGETS=linux/amd64 and ONLY=slipway-check make a part of it).
	$(BIN)/release -dir $(CURDIR) -version "$(VERSION)" -public-key "$(PUBLIC_KEY)" -targets "$(TARGETS)" -programs "$(ONLY)"

.PHONY: sign
sign: $(BIN)/release ## Sign what `make release` made, with SLIPWAY_RELEASE_KEY (VERSION=v0.1.0).
	$(BIN)/release -sign -dir $(CURDIR) -version "$(VERSION)" -public-key "$(PUBLIC_KEY)"

# Comments of an example's types are in what is generated from them, by the commands that its README shows if it has no
# PROJECT.
.PHONY: reflow
reflow: export SLIPWAY_CHECK = off
reflow: $(BIN)/slipway ## Break lines of prose anew that have more than 120 columns, in Go comments and Markdown.
	go run ./hack/reflow
	@set -e; for p in examples/*/PROJECT; do (cd $$(dirname $$p) && $(BIN)/slipway generate); done
	cd examples/sample-controller && $(BIN)/slipway controller-gen object crd paths=./pkg/apis/... output:crd:dir=manifests/crd && $(BIN)/slipway generate clients

# EACH runs a command in each of some modules, and fails at the end if it failed in any.
EACH = failed=; for m in $(1); do echo "\# $$m"; (cd $$m && $(2)) || failed="$$failed $$m"; done; test -z "$$failed" || { echo "failed in:$$failed"; exit 1; }

LINT = go vet ./... && go run $(STATICCHECK) ./...

.PHONY: lint
lint: gofmt ## gofmt, words and pages, go vet and staticcheck; actionlint for the workflows. test-long-lint does the remaining modules.
	go test -vet=off ./internal/repotest/words
	@$(call EACH,$(MODULES),$(LINT))
	go test -vet=off -count=1 -run '^TestActionlint$$' ./hack/ci

.PHONY: golangci-lint
golangci-lint: ## What .golangci.yml asks for, in the modules that users get (PACKAGES=./project for less).
	@$(call EACH,. cluster operator,go run $(GOLANGCI_LINT) run $(or $(PACKAGES),./...))

# Compiling Kubernetes takes twelve minutes for each system: what depends on it is type-checked. Real nodes need a Unix.
.PHONY: cross
cross: ## Build the command for macOS and Windows; all else is only type-checked.
	GOOS=darwin GOARCH=arm64 go build ./...
	GOOS=windows GOARCH=amd64 go build ./...
	go run ./hack/crosscheck -dir operator -for darwin/arm64,windows/amd64 ./...
	go run ./hack/crosscheck -dir cluster -for darwin/arm64 ./cmd/...
	go run ./hack/crosscheck -dir cluster -for windows/amd64 ./cmd/slipway-cluster ./cmd/slipway-kubectl ./cmd/slipway-check

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities, every module (needs the vulnerability database).
	@$(call EACH,$(MODULES) $(REST),go run $(GOVULNCHECK) ./...)
