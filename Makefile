# Skill Router. `make help` lists what there is.
SHELL    := /bin/bash
GO       ?= go
TAGS     := nomsgpack
BIN      := bin/skillrouter
HOOK     := bin/skillrouter-hook
FUZZTIME ?= 60s
SOAKTIME ?= 10m
# The race detector needs cgo; the program itself never does.
export CGO_ENABLED ?= 0
# One set of flags for all that compiles: vet, tests and the program share what is compiled.
export GOFLAGS += -trimpath

.DEFAULT_GOAL := help
.PHONY: help quick nightly build size year test-postgres test-postgres-short test-cluster train-router train-router-check golden-search run test race lint fmt fuzz garbage bench leases soak soak-check bench-search-tidy bench-search-check bench-search browser conformance agents stories hook-cost run-agents cross recording dist dist-check try-install check clean

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/skillrouter and bin/skillrouter-hook
	$(GO) build -tags $(TAGS) -trimpath -ldflags="-s -w -X github.com/skillrouter/skillrouter/cmd/cli.release=$$(scripts/version.sh)" -o $(BIN) ./cmd/skillrouter
	$(GO) build -tags $(TAGS) -trimpath -ldflags='-s -w' -o $(HOOK) ./cmd/skillrouter-hook

# The hook's program starts at each tool call of an agent, so it stays small. The router may have what its libraries need.
MAXSIZE := 90000000
MAXHOOKSIZE := 6000000

size: build ## fail if the programs are larger than they may be
	@for limit in $(BIN):$(MAXSIZE) $(HOOK):$(MAXHOOKSIZE); do \
	  bytes=$$(wc -c < $${limit%:*}); echo "$${limit%:*}: $$bytes bytes of $${limit#*:}"; [ $$bytes -le $${limit#*:} ] || exit 1; done

run: build ## build, then start the router in the foreground
	$(BIN) serve

test: ## run every test, without the race detector
	$(GO) test -tags $(TAGS) -vet=off -timeout=40m ./...

# The contracts of the stores and of the transports, with PostgreSQL in place of SQLite. The server is found, or started and removed, by the script.
ONPOSTGRES := ./internal/database/... ./router/cluster/... ./operational/store ./learning/store ./comms/... ./router/client
test-postgres: ## run the contracts, the recorded answers and kills on a PostgreSQL server, found or started
	scripts/postgres.sh $(GO) test -tags $(TAGS) -vet=off -timeout=20m ./learning $(ONPOSTGRES) ./router/httpapi ./router/stream ./router/mcpserver
	scripts/postgres.sh $(GO) test -tags $(TAGS) -vet=off -timeout=20m ./cmd/app -run 'TestServer|TestMoveToServer|TestOneRouter|TestKill$$|TestRecorded|TestAccess|TestWalls'

# ROUNDS is how often each fault is made, STREAMS how many streams are open while the NATS server is killed.
ROUNDS ?= 2
STREAMS ?= 1000
test-cluster: ## kill, restart, stop and cut the node of a cluster that writes, and its NATS server, under load (ROUNDS=2), with mistakes that must be noticed, and hold the walls through another node
	SKILLROUTER_TEST_ROUNDS=$(ROUNDS) scripts/nats.sh $(GO) test -tags $(TAGS) -vet=off -timeout=20m -v ./cmd/app/nats
	SKILLROUTER_TEST_ROUNDS=$(ROUNDS) SKILLROUTER_TEST_STREAMS=$(STREAMS) scripts/postgres.sh scripts/nats.sh $(GO) test -tags $(TAGS) -vet=off -timeout=90m -v ./cmd/app -run 'TestCluster|TestOpened|TestRegister|TestFollower|TestStart|TestReadsWithout'
	SKILLROUTER_TEST_MISTAKES=1 scripts/postgres.sh $(GO) test -tags $(TAGS) -vet=off -timeout=40m -v ./cmd/app -run 'TestMistakes'
	SKILLROUTER_TEST_THROUGH=node scripts/postgres.sh $(GO) test -tags $(TAGS) -vet=off -timeout=20m ./cmd/app -run 'TestAccess|TestWalls'

year: ## let a team of 50 work for a year by a clock of its own: what is kept for a time ends, and all takes at most 1 GB
	SKILLROUTER_TEST_DAYS=365 SKILLROUTER_TEST_AGENTS=50 SKILLROUTER_TEST_CALLS=24 $(GO) test -tags $(TAGS) -vet=off -timeout=120m -v ./cmd/app -run 'TestGrowthEnds'

# A part of it that takes a minute or two.
test-postgres-short: ## run the shorter contracts on a PostgreSQL server, where one is found or can be started
	scripts/postgres.sh $(GO) test -tags $(TAGS) -vet=off -timeout=10m $(ONPOSTGRES)

# SQLite is C that was translated: the detector would watch each byte that it moves, and twice the time.
race: ## run the tests with the race detector (not those that run other programs)
	CGO_ENABLED=1 $(GO) test -tags $(TAGS) -vet=off -short -race -gcflags='modernc.org/...=-race=false' ./...

lint: ## gofumpt, vet and staticcheck
	@unformatted=$$($(GO) tool gofumpt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not formatted: $$unformatted"; exit 1; fi
	$(GO) vet -tags $(TAGS) ./...
	$(GO) tool staticcheck -tags $(TAGS) ./...

fmt: ## format every Go file
	$(GO) tool gofumpt -w $$(git ls-files '*.go')

fuzz: ## run each fuzz target for FUZZTIME (default 60s)
	@set -e; for pkg in $$($(GO) list ./...); do \
	  for target in $$($(GO) test -tags $(TAGS) -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "== $$pkg $$target"; $(GO) test -tags $(TAGS) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg; \
	  done; done

garbage: ## send a million broken datagrams to the mesh and look that nothing changes
	SKILLROUTER_GARBAGE=1000000 $(GO) test -tags $(TAGS) -count 1 -v -run '^TestGarbage' ./router/interlock

leases: build ## kill a router 200 times under eight agents that take leases and make 10,000 edits; then the negative control
	$(GO) run -tags $(TAGS) ./scripts/leases -binary $(BIN)
	$(GO) run -tags $(TAGS) ./scripts/leases -binary $(BIN) -blind -edits 300 -kills 2 -lapse=false
soak: build ## break a running router for SOAKTIME (default 10m); SOAK=kill,power runs only these
	$(GO) run -tags $(TAGS) ./scripts/soak -binary $(BIN) -time $(SOAKTIME) -only "$(SOAK)"

soak-check: ## vet and lint scripts/soak/powerdisk, a module of its own
	cd scripts/soak/powerdisk && $(GO) vet ./... && $(GO) tool -modfile=$(CURDIR)/go.mod staticcheck ./...

train-router: ## train the query classifier again, and write its figures
	$(GO) test -tags $(TAGS) -count 1 -v -run TestCommittedModel ./router/classify -update

train-router-check: ## fail if the committed classifier is not what training gives
	$(GO) test -tags $(TAGS) -count 1 -run TestCommittedModel ./router/classify

golden-search: ## accept the ranking as it is now: write its golden file, show what moved
	$(GO) test -tags $(TAGS) -count 1 -v -run '^TestJudgedGolden$$' ./router -update

bench: ## run the benchmarks (some minutes, on a quiet machine)
	$(GO) run -tags $(TAGS) ./scripts/bench/comms
	$(GO) run -tags $(TAGS) ./scripts/bench/memory
	$(GO) run -tags $(TAGS) ./scripts/bench/learning
	$(GO) run -tags $(TAGS) ./scripts/bench/facts
	$(GO) run -tags $(TAGS) ./scripts/bench/context
	$(GO) run -tags $(TAGS) ./scripts/bench/hook
	$(GO) test -tags $(TAGS) -run '^$$' -bench 'Search100k|Put' ./tfidf
	$(GO) test -tags $(TAGS) -run '^$$' -bench 'Classify' ./router
	$(GO) test -tags $(TAGS) -run '^$$' -bench 'GuardCheck' ./learning

# ARGS: -sizes 10000,100000,1000000, -collections DIR...
bench-search: ## compare the search with FTS5 and bleve (some minutes); ARGS="-sizes 10000"
	cd scripts/bench/search && $(GO) build -tags $(TAGS) -trimpath -o ../../../bin/bench-search . && cd $(CURDIR) && bin/bench-search $(ARGS)

bench-search-check: ## vet and lint scripts/bench/search, a module of its own
	cd scripts/bench/search && $(GO) vet -tags $(TAGS) ./... && $(GO) tool -modfile=$(CURDIR)/go.mod staticcheck -tags $(TAGS) ./...

bench-search-tidy: ## give scripts/bench/search the program's versions of libraries
	cd scripts/bench/search && $(GO) mod tidy

# Chromium is $CHROMIUM, or the one on the path. ENTRIES fills the memory first.
browser: build ## test the dashboard in Chromium (wants Node 20); ENTRIES=100000, SHOTS=dir for pictures
	cd scripts/browser && npm ci --ignore-scripts --no-audit --no-fund && npm test

# The suites, and the Inspector's command line. npm needs its registry the first time; -update writes docs/mcp.md.
conformance: build ## run the official MCP conformance suites (wants npm); CONFORMANCE_FLAGS=-update
	$(GO) run -tags $(TAGS) ./scripts/conformance $(CONFORMANCE_FLAGS)

AGENTS_DIR ?= bin/agents
# The agents run without a network where unshare can make such a place. npm needs its registry the first time.
agents: RUN = .
agents: run-agents ## run real coding agents beside the router (linux/amd64; wants npm and 1.2 GB)

stories: RUN = TestStories/^$(or $(AGENT),.*)$$/^$(STORY)
stories: run-agents ## play stories on real agents: told yesterday, known today (AGENT=codex STORY=07)

hook-cost: RUN = TestCost/^$(or $(AGENT),.*)$$
hook-cost: run-agents ## measure what the hooks add to a shell call of the real agents (AGENT=codex SKILLROUTER_COST=4)
hook-cost: export SKILLROUTER_COST ?= 4

run-agents: build
	npm install --prefix $(AGENTS_DIR) --ignore-scripts --no-audit --no-fund @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 opencode-ai@1.18.33 @google/gemini-cli@0.61.0
	$(GO) test -tags $(TAGS) -c -o bin/agents.test ./scripts/agents
	@cd scripts/agents && export SKILLROUTER_REAL_AGENTS=$(abspath $(AGENTS_DIR)) SKILLROUTER_BIN=$(abspath $(BIN)); \
	if unshare -rn ip link set lo up 2>/dev/null; then unshare -rn sh -c 'ip link set lo up && exec $(CURDIR)/bin/agents.test -test.v -test.timeout 90m -test.run "$(RUN)"'; \
	else echo "unshare makes no network of its own here: the agents are told to be quiet, and nothing holds them to it"; $(CURDIR)/bin/agents.test -test.v -test.timeout 90m -test.run "$(RUN)"; fi

CROSS ?= linux/arm64 darwin/arm64 windows/amd64
cross: ## compile for the platforms that the tests do not run on
	@set -e; for target in $(CROSS); do \
	  echo "== $$target"; GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -tags $(TAGS) -gcflags='all=-N -l' -o /dev/null ./cmd/skillrouter ./cmd/skillrouter-hook; done

recording: build ## draw docs/demo.svg anew: what the demo prints, as a picture that moves
	$(GO) run ./scripts/recording -program $(BIN)

# It wants GoReleaser, which it builds the first time, and npm for the npm packages. PLATFORMS="linux/amd64 darwin/arm64"
dist: ## make the packages of this commit for every platform in dist/; PLATFORMS=linux/amd64 for one
	nice scripts/package/dist.sh $(PLATFORMS)

dist-check: PLATFORMS ?= $(shell $(GO) env GOOS)/$(shell $(GO) env GOARCH)
dist-check: ## make this machine's packages twice in different places and compare the bytes
	scripts/package/dist.sh --check $(PLATFORMS)

try-install: ## install what make dist made in every way that this machine has, into empty homes, without a network
	scripts/package/try.sh

check: lint size test test-postgres-short ## run what CI runs: lint, build, test, the contracts on PostgreSQL

nightly: check cross race test-postgres test-cluster soak-check bench-search-check ## run what takes longer than people wait: other platforms, the race detector, all on PostgreSQL, a cluster

# The rooms that changed since main, or since BASE. Those that link the whole application are tested by the recorded answers alone.
BASE ?= main
quick: ## vet and test the rooms that changed since main (BASE=main), the laws, and the recorded answers
	@rooms=$$({ git diff --name-only --diff-filter=d $$(git merge-base $(BASE) HEAD) -- '*.go'; git ls-files -o --exclude-standard -- '*.go'; } | xargs -r -n 1 dirname | sort -u | grep -v testdata | while read -r d; do [ -e "$$d/go.mod" ] || echo "./$$d"; done); \
	tested=$$(echo "$$rooms" | grep -v -E '^\./(cmd/(app|cli|skillrouter|watch)|router/(client|web)|scripts/.*)$$'); \
	set -ex; [ -z "$$rooms" ] || $(GO) vet -tags $(TAGS) $$rooms; $(GO) test -tags $(TAGS) -vet=off ./internal/laws $$tested; $(GO) test -tags $(TAGS) -vet=off ./cmd/app -run 'TestRecorded$$'

clean: ## remove what was built
	rm -rf bin dist
