# Two commands to know: `make serve` and `make test`. Each installs what is missing first, and says what it does.
.DEFAULT_GOAL := help

help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: ## Install the system packages that are missing
	@.ci/setup

serve: setup ## Build a release and serve the sample source on http://127.0.0.1:8080/
	@swift build -c release --scratch-path .build-release --product onesheet
	@exec .build-release/release/onesheet serve

test: ## Run all tests
	@.ci/setup python3 python3-pip openssl chromium
	@.ci/test

screenshots: ## Take pictures of the page's views into docs/images
	@.ci/setup python3 chromium fonts-noto-cjk
	@swift build -c release --scratch-path .build-release --product onesheet
	@.ci/screenshots .build-release/release/onesheet

bench-peers: setup ## Compare the renderer with libvips, and with libjpeg-turbo's floor
	@.ci/bench-peers

bench-http: setup ## Compare answers to cached pictures with nginx, Varnish and thumbor
	@.ci/bench-http

fuzz: setup ## Fuzz every decoder and the renderer for ten minutes each
	@.ci/fuzz 600

sanitize: ## Run what runs at the same time under ThreadSanitizer, and what reads bytes under AddressSanitizer
	@.ci/setup python3 openssl
	@.ci/sanitize thread
	@.ci/sanitize address

stress: setup ## Attack a release build beside an honest load: make stress SECONDS=600 ATTACKS=icc-stages,slow-readers
	@.ci/stress "$(or $(SECONDS),600)" "$(ATTACKS)"

fuzz-http: setup ## Mutate pictures and origins against a server under AddressSanitizer: make fuzz-http SECONDS=600
	@.ci/fuzz-http "$(or $(SECONDS),600)"

nightly: setup ## Run all that takes too long for each change, and say which passed
	@.ci/nightly

sbom: setup ## List what the server is made of, with versions and licences: .build/sbom.json
	@.ci/sbom

reference: setup ## Write the tables of docs/configuration.md anew
	@swift build --product onesheet --explicit-target-dependency-import-check error
	@.ci/reference .build/debug/onesheet

docs: setup ## Write the documentation of the public modules, for a browser: .build/docs
	@.ci/docs

format: ## Format the code
	@swift format -i -r Package.swift Sources Plugins Tests examples

.PHONY: help setup serve test screenshots bench-peers bench-http fuzz sanitize stress fuzz-http nightly sbom reference docs format
