# The main commands are `make serve` and `make test`. Both install missing system packages first, and say so.
.DEFAULT_GOAL := help

help: ## Print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

setup: ## Install missing system packages
	@.ci/setup

serve: setup ## Build a release and serve the sample source on http://127.0.0.1:8080/
	@swift build -c release -debug-info-format none --scratch-path .build-release --product onesheet
	@exec .build-release/release/onesheet serve

check: setup ## Run the quick tests, or only some: make check TESTS="SourceTests CoalescingTests"
	@.ci/check $(TESTS)

test: ## Run all tests
	@.ci/setup python3 python3-pip openssl chromium fonts-noto-cjk redis-tools
	@.ci/test

test-cluster: ## Run the tests with real engines: Redis, Valkey, SeaweedFS and rclone
	@.ci/setup python3 python3-pip openssl redis-tools
	@.ci/test StoreTests BucketSourceTests LeaseHolderTests LyingStoreTests SplitNetworkTests

test-clients: setup ## Try a server with thumbor, testssl, redbot, Prometheus, Varnish, nginx and client libraries
	@.ci/build --product onesheet
	@.ci/clients .build/debug/onesheet

screenshots: ## Take the README's screenshots into docs/images
	@.ci/setup python3 chromium fonts-noto-cjk
	@swift build -c release -debug-info-format none --scratch-path .build-release --product onesheet
	@.ci/screenshots .build-release/release/onesheet

bench-console: ## Measure the page: bytes of the first view, time until it is usable, frames while scrolling
	@.ci/setup python3 chromium
	@swift build -c release -debug-info-format none --scratch-path .build-release --product onesheet
	@.ci/bench-console .build-release/release/onesheet

bench-peers: setup ## Compare the renderer with libvips, and with libjpeg-turbo's floor
	@.ci/bench-peers

bench-quality: setup ## Score small images beside libvips and Pillow, compare bytes at equal quality, and measure quality: auto
	@.ci/bench-quality

bench-http: setup ## Compare cached responses with nginx, Varnish and thumbor
	@.ci/bench-http

bench-cold: setup ## Compare cold answers over HTTP with libvips and thumbor
	@.ci/bench-cold

bench-processes: setup ## Measure what render processes cost, beside threads
	@.ci/bench-processes

bench-cluster: setup ## Measure three servers with one cache, beside thumbor with thumbor-aws
	@.ci/bench-cluster

fuzz: setup ## Fuzz every decoder and the renderer for ten minutes each
	@.ci/fuzz 600

sanitize: ## Run concurrent code under ThreadSanitizer, and parsers under AddressSanitizer
	@.ci/setup python3 openssl
	@.ci/sanitize thread
	@.ci/sanitize address

stress: setup ## Attack a release build under normal load: make stress SECONDS=600 ATTACKS=icc-stages,slow-readers
	@.ci/stress "$(or $(SECONDS),600)" "$(ATTACKS)"

fuzz-http: setup ## Send mutated pictures and origin responses to a server under AddressSanitizer: make fuzz-http SECONDS=600
	@.ci/fuzz-http "$(or $(SECONDS),600)"

nightly: setup ## Run the long checks and print the results
	@.ci/nightly

release: setup ## Make a Debian package, a tarball and a container image: .build-package/onesheet-VERSION
	@.ci/release

release-check: ## Try a release on fresh Debian 12 and 13, and its container image: needs root
	@.ci/release-check "$$(ls -td .build-package/onesheet-* | head -n 1)"

sbom: setup ## List all components with versions and licences: .build/sbom.json
	@.ci/sbom

reference: setup ## Regenerate the tables of docs/configuration.md and docs/http-api.md
	@.ci/build --product onesheet
	@.ci/reference .build/debug/onesheet

docs: setup ## Build the documentation of the public modules as HTML: .build/docs
	@.ci/docs

format: ## Format the code
	@swift format -i -r Package.swift Sources Plugins Tests examples

.PHONY: help setup serve check test test-cluster test-clients screenshots bench-console bench-peers bench-quality bench-http bench-cold bench-processes bench-cluster fuzz sanitize stress fuzz-http nightly release release-check sbom reference docs format
