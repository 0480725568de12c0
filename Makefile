# Everything here works on a machine that has Go, git and make.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BIN     := $(CURDIR)/bin
MODULES := . cluster operator bench examples/cronjob test/certmanager test/helm
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

.PHONY: help
help: ## Say what can be made.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: $(BIN)/slipway ## Build all programs; those of clusters and real nodes take some eight minutes the first time.
	$(BIN)/slipway cluster build
	$(BIN)/slipway cluster build --nodes real
	go build -C cluster -ldflags='-s -w' -o $(BIN)/check/slipway-check ./cmd/slipway-check

.PHONY: $(BIN)/slipway
$(BIN)/slipway:
	go build -o $@ ./cmd/slipway

.PHONY: demo
demo: $(BIN)/slipway ## From nothing to a running operator, narrated, in a temporary folder (CLUSTER=current: the current kubeconfig's cluster).
	CLUSTER=$(CLUSTER) ./examples/demo $(BIN)/slipway

# The cluster program is compiled once for the whole run: every test that needs a cluster uses that one.
# The examples' tests run as their users run them: with the tool.
.PHONY: test
test: build ## Run every test of every module.
	export SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) SLIPWAY_NODE=$$($(BIN)/slipway cluster build --nodes real) SLIPWAY_CHECK=$(BIN)/check/slipway-check && \
	go test -timeout 40m ./... && \
	go test -C cluster -timeout 40m ./... && \
	go test -C operator -timeout 40m ./... && \
	(cd examples/cronjob && $(BIN)/slipway test -timeout 40m ./...) && \
	go test -C test/certmanager -timeout 20m ./... && \
	go test -C test/helm -timeout 40m ./... && \
	KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=3m go test -C bench -timeout 40m ./...

.PHONY: bench
bench: build ## Measure against the peers, side by side in one run.
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) go run -C bench .

.PHONY: bench-compile
bench-compile: ## Measure the cold compile of the cluster program (hours: 7 rounds).
	go run -C bench ./compile

.PHONY: soak
soak: build ## Work a cluster hard, and fail when it grows (SOAK=30m).
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) go run -C bench ./soak -for $(or $(SOAK),30m)

.PHONY: test-durability
test-durability: build ## Kill a durable cluster 50 times while clients write, and look for lost writes (KILLS=50).
	SLIPWAY_KILLS=$(or $(KILLS),50) SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) go test -C cluster -count=1 -v -run 'TestAcknowledgedWritesSurviveKill|TestKilledResetIsFinished|TestKill$$' ./test ./rollback

.PHONY: test-faults
test-faults: build ## Kill clusters with real nodes, their nodes and containers at random moments, and look for what is left (FAULTS=20, SEED=random).
	SLIPWAY_FAULTS=$(or $(FAULTS),20) $(if $(SEED),SLIPWAY_SEED=$(SEED)) SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) SLIPWAY_NODE=$$($(BIN)/slipway cluster build --nodes real) \
		go test -C cluster -count=1 -timeout 0 -v -run '^TestRealKill' ./test

.PHONY: test-envtest
test-envtest: build ## Run controller-runtime's own suites on our control plane and on stock programs, and compare (a quarter of an hour).
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) go run -C bench ./suites

.PHONY: test-mutants
test-mutants: ## Compare with controller-gen on thousands of packages that nobody would write, for each generator (MUTANTS=3000, SEED=0).
	go test -C bench -count=1 -timeout 0 -v -run '^Test(Mutants|Mutated.*|Webhooks.*)$$' ./generate -mutants $(or $(MUTANTS),3000) -seed $(or $(SEED),0) \
		-webhook-mutations $(or $(MUTANTS),3000) -webhook-seed $(or $(SEED),0)

.PHONY: test-matrix
test-matrix: build ## Make projects of every kind, build, lint and test them; try every verb on 1,000 random edits (MATRIX=pairs or all, EDITS=1000, SEED=0).
	GOBIN=$(BIN) go install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
	go test -count=1 -timeout 0 ./internal/scaffold -run 'TestRandom' -edits $(or $(EDITS),1000) -seed $(or $(SEED),0)
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) SLIPWAY_CHECK=$(BIN)/check/slipway-check go test -count=1 -timeout 0 -v -run TestMatrix ./internal/cli -matrix $(or $(MATRIX),pairs) -linter $(BIN)/golangci-lint

.PHONY: test-certmanager
test-certmanager: build ## Deploy the CronJob operator with everything on, beside cert-manager and Prometheus, in pods that run.
	SLIPWAY_CLUSTER=$$($(BIN)/slipway cluster build) SLIPWAY_NODE=$$($(BIN)/slipway cluster build --nodes real) go test -C test/certmanager -count=1 -v ./...

.PHONY: test-real
test-real: ## Compare with controller-gen on a dozen projects, from the module proxy.
	go test -C bench -count=1 -timeout 0 -v -run TestRealProjects ./generate -real

.PHONY: bump-kubernetes
bump-kubernetes: ## Upgrade the embedded Kubernetes: modules, seed, wiring checks, tests (VERSION=v1.38.0; the newest when empty).
	go run ./hack/bump-kubernetes $(VERSION)

.PHONY: lint
lint: ## gofmt, go vet and staticcheck, every module.
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	@for m in $(MODULES); do echo "# $$m"; (cd $$m && go vet ./... && go run $(STATICCHECK) ./...); done

.PHONY: vulncheck
vulncheck: ## Look for known vulnerabilities, every module (needs the vulnerability database).
	@for m in $(MODULES); do echo "# $$m"; (cd $$m && go run $(GOVULNCHECK) ./...); done
