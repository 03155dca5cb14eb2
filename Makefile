# The commands of this project. CI runs these and no others, see .ci/run.

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# A linter is a program like any other: pinned, checked by the Go checksum database, built on first
# use and cached by Go, never installed. Point LINTER at a binary to skip the build.
LINTER ?= go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
VULNCHECK ?= go run golang.org/x/vuln/cmd/govulncheck@v1.9.0 -db=$(VULNDB)
# Point it at a copy, file:///folder, where the Internet is out of reach.
VULNDB    ?= https://vuln.go.dev

PKG         ?= ./...
TESTTIMEOUT ?= 30m
BENCH       ?= .
BENCHTIME   ?= 200ms
BENCHRAW    ?= /dev/null
BENCHFLAGS  ?=
# What needs other modules than Elasticron's users do: the browser that tests the pages, the bundler of them,
# gocron, beside which a page shows the same job, and Prometheus' parser, which tests alert rules and the dashboard.
MODULES     := console/browser console/web/build internal/docs/gocron deploy/observability
# The image, the chart and the units. Its tests compile Helm and Kubernetes, so they are a target of their own, and without
# the race detector, which would compile all that a second time.
DEPLOY      := deploy
IMAGE       ?= elasticron-image
# The comparison with other libraries, a module of its own for it needs them.
PEERS       := integration/peers
PEERSFLAGS  ?= -peers.page=$(abspath docs/figures.md)
FUZZTIME    ?= 20s

##@ Every day

.PHONY: help
help: ## List these targets
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# What a package printed, if the race detector broke down in it and no test failed. Go 1.26's does so on a busy
# machine, once in a long while: two goroutines of one synctest bubble that find a timer due at the same moment use
# one context of the detector at once, which then dies in one of several ways. That says nothing of the tests.
define broke_down
/^(ok|\?|FAIL)[ \t]+[^ \t]+/ { \
	if ($$1 == "FAIL") { if ((broke || bubble && fault) && !failed) print $$2; else exit 1 } \
	broke = bubble = fault = failed = 0; next \
} \
/^ThreadSanitizer: CHECK failed/ { broke = 1 } \
/^SIGSEGV: segmentation violation|^unexpected fault address/ { fault = 1 } \
/^fatal error: (unsafe.Slice: len out of range|traceback did not unwind completely)/ { fault = 1 } \
/^goroutine .*synctest bubble/ { bubble = 1 } \
/^[ \t]*--- FAIL|^panic: |DATA RACE|\[build failed\]/ { failed = 1 }
endef
export broke_down

.PHONY: test
# The race detector has every test program, and every program that a test starts, sleep for a second before it exits,
# in case a goroutine that is left races then. Tests leave none: bubbles and packages that start goroutines look for leaks.
test: export GORACE := atexit_sleep_ms=0 $(GORACE)
# One package more at a time than there are processors: those that wait for servers and sessions leave one of them
# idle, and compiling and linking is a large part of the work. The modules go two at a time for the same reason; the
# one that waits for a browser begins first. make lint vets.
test: ## Run all tests, with the race detector and in random order
	@out=$$(mktemp); trap 'rm -f "$$out"' EXIT; \
	test=(go test -race -vet=off -shuffle=on -timeout=$(TESTTIMEOUT) -p $$(($$(getconf _NPROCESSORS_ONLN) + 1))); \
	"$${test[@]}" $(PKG) 2>&1 | tee "$$out" || { \
		again=$$(awk "$$broke_down" "$$out") && [ -n "$$again" ] || exit 1; \
		echo "the race detector broke down, once more: $$again"; \
		"$${test[@]}" $$again; \
	}
	@[ "$(PKG)" != ./... ] || printf '%s\n' $(MODULES) | xargs -P 2 -I{} \
		go -C {} test -race -vet=off -shuffle=on -timeout=$(TESTTIMEOUT) ./...

.PHONY: lint
lint: ## Check modules, code and its format; change nothing
	go mod tidy -diff
	go vet ./...
	$(LINTER) run --allow-parallel-runners ./...
	@for module in $(MODULES) $(DEPLOY) $(PEERS); do \
		(cd $$module && echo "in $$module" && go mod tidy -diff && go vet ./... && $(LINTER) run --allow-parallel-runners ./...); \
	done

.PHONY: fmt
fmt: ## Format the code as lint wants it
	$(LINTER) fmt

.PHONY: demo
demo: ## Show a cluster at work on this machine
	go run ./cmd/elasticron demo

##@ Now and then

# A fault in a dependency counts if the code that has it is called. The other modules hold tests and tools.
.PHONY: vuln
vuln: ## Look whether the code calls anything with a known vulnerability; asks vuln.go.dev
	$(VULNCHECK) ./...

.PHONY: image
image: ## Build the container image into the folder IMAGE=elasticron-image
	go -C $(DEPLOY) run ./image -o "$(abspath $(IMAGE))"

.PHONY: deploy-test
deploy-test: ## Test the image, the Helm chart and the systemd units
	go -C $(DEPLOY) test -vet=off -shuffle=on -timeout=$(TESTTIMEOUT) ./...

.PHONY: web
web: ## Build the console's script and style, console/web/dist, from console/web/src
	go -C console/web/build run .

.PHONY: site
site: ## Build the pages of docs as a site, site/build; needs Python
	site/build.sh
	go run ./site/foreign site/build

.PHONY: web-check
web-check: ## Have TypeScript's checker look at the console's script; needs npm
	go -C console/browser test -count=1 -run '^TestTypes$$' .

# One package at a time, so that none disturbs another's numbers; the curve of wanted against run comes
# first. benchstat reads BENCHRAW.
.PHONY: bench
bench: ## Run benchmarks: BENCH=regexp BENCHTIME=200ms PKG=./... BENCHRAW=file BENCHFLAGS=-short
	@go test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime $(BENCHTIME) -benchmem -timeout 1h $(BENCHFLAGS) \
		$$(go list $(PKG) | awk '{ print !/integration\/overload$$/, $$0 }' | sort -sn -k1,1 | cut -d' ' -f2) \
		| tee $(BENCHRAW) | go run ./integration/bench/benchtable

.PHONY: bench-peers
bench-peers: ## Compare with other libraries, half an hour; writes docs/figures.md
	go -C $(PEERS) test -count=1 -v -timeout=2h . $(PEERSFLAGS)

.PHONY: fuzz
fuzz: ## Run every fuzz target: FUZZTIME=20s for each, PKG=./...
	@go test -list '^Fuzz' $(PKG) \
		| awk '/^Fuzz/ { name[n++] = $$1 } /^ok/ { for (i = 0; i < n; i++) print $$2, name[i]; n = 0 }' \
		| while read -r pkg name; do \
			echo "== $$pkg $$name"; \
			go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$pkg" </dev/null; \
		done

.PHONY: cover
cover: ## Tell which share of each package's statements its own tests run
	go test -cover $(PKG)

.PHONY: golden
golden: ## Ask real Quartz again for what cronexpr is held to; needs a JDK
	./cronexpr/testdata/quartz/generate.sh
