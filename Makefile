# Every task; each works as the first command in a fresh clone.
.DEFAULT_GOAL := help
.PHONY: help setup demo test lint gen install uninstall conformance interop secured simulate threads fuzz torture bench growth figures docs dist dist-check clean

# Not bash's variable of this name: what follows is handed on as an option.
SECONDS ?= 10
SERVER ?= embedded
HOSTS ?=
ROUNDS ?= 15
CYCLES ?= 200
WORKLOADS ?=
LIBRARIES ?=
TIME ?= 60
TARGET ?=
SEEDS ?= 2000
SEED ?=
PREFIX ?= /usr/local
DESTDIR ?=
LIBDIR ?= lib
INCLUDEDIR ?= include
DOCDIR ?= share/doc/zoolock
install-folders = 'PREFIX=$(PREFIX)' 'DESTDIR=$(DESTDIR)' 'LIBDIR=$(LIBDIR)' 'INCLUDEDIR=$(INCLUDEDIR)' 'DOCDIR=$(DOCDIR)'

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 14

setup: ## Install and build everything that demo and bench need
	@scripts/build.sh

demo: ## Rust, C, Python and Node take turns on one lock; SECONDS=10 SERVER=embedded|apache, or HOSTS=a:2181,b:2181
	@scripts/demo.sh --seconds '$(SECONDS)' --server '$(SERVER)' --hosts '$(HOSTS)'

test: ## Run all tests, and show which rules of the contract they covered
	@scripts/test.sh

lint: ## Check formatting, warnings, types and generated files
	@scripts/lint.sh

gen: ## Generate the C header and the Node addon's loader and types again
	@scripts/gen.sh

install: ## Install the C and C++ library, headers, pkg-config file and CMake package; PREFIX=/usr/local DESTDIR= LIBDIR=lib
	@scripts/install.sh install $(install-folders)

uninstall: ## Remove what install put there, for the same PREFIX, DESTDIR and LIBDIR
	@scripts/install.sh uninstall $(install-folders)

conformance: ## Run the same scenarios through every language, and mixed
	@tests/conformance/run.sh

interop: MINUTES ?= 1
interop: ## Take turns with Curator, kazoo and go-zookeeper on the same paths; MINUTES=1 (of each crowd)
	@tests/interop/run.sh --minutes '$(MINUTES)'

secured: ## Run every language against servers with TLS, identities and access control lists
	@tests/secured/run.sh

simulate: ## Play schedules with faults on simulated servers, network and clocks; SEEDS=2000, or SEED=n for one and its trace
	@scripts/simulate.sh 'SEEDS=$(SEEDS)' 'SEED=$(SEED)'

threads: ## Try every order in which the threads can meet (models run by loom)
	@tests/threads/run.sh

fuzz: ## Feed any bytes to what comes from outside, by libFuzzer; TIME=60 (seconds for each) TARGET=replies
	@tests/fuzz/run.sh '$(TIME)' '$(TARGET)'

torture: MINUTES ?= 5
torture: ## All languages on three servers under faults of every kind; MINUTES=5, SEED=n to repeat a run
	@scripts/torture.sh --minutes '$(MINUTES)' --seed '$(SEED)'

bench: ## Measure locks of all libraries beside a bare socket; WORKLOADS=hand-off,start LIBRARIES=c,kazoo ROUNDS=15 CYCLES=200
	@scripts/bench.sh results '$(LIBRARIES)' --rounds '$(ROUNDS)' --cycles '$(CYCLES)' --workloads '$(WORKLOADS)'

growth: ## Measure how costs grow with waiters, paths, processes and sessions; WORKLOADS=growth-paths LIBRARIES=rust-async
	@scripts/bench.sh growth '$(if $(LIBRARIES),$(LIBRARIES),rust-async)' --growth --workloads '$(WORKLOADS)'

figures: ## Put what bench and growth measured into README.md and docs
	@scripts/figures.sh

dist: ## Build wheel, sdist, npm packages, C tarball, crates, bills of materials and sums into target/dist
	@scripts/dist.sh

dist-check: ## Build them, install each into a clean place, and run the READMEs' programs from there
	@scripts/dist-check.sh

docs: ## Build the documentation's site into target/docs and check its links
	@scripts/docs.sh

clean: ## Remove everything that was built or installed here
	@scripts/clean.sh
