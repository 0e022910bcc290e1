# `make demo` demonstrates tutti, `make test` tests it. Both install what is missing (as root; otherwise
# they say what to install), so a bare Debian 12 with git and make is enough.

JOBS ?= $(shell nproc)
# The compiler cache serves every checkout and the precompiled headers too.
export CCACHE_BASEDIR ?= $(CURDIR)
export CCACHE_NOHASHDIR ?= 1
export CCACHE_SLOPPINESS ?= pch_defines,time_macros,include_file_mtime,include_file_ctime
LAUNCHER := $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
# Full builds compile several sources together, which takes half the time.
BUILD = cmake --preset $(1) -DTUTTI_UNITY=ON $(LAUNCHER) > build/$(1).log 2>&1 || { cat build/$(1).log; exit 1; }; \
        cmake --build --preset $(1) -j $(JOBS) $(if $(2),--target $(2))

.PHONY: build install wheel deb docs demo test test-sanitized test-all bench results-doppler fuzz format tidy setup setup-demo setup-package setup-build clean

build: setup-build
	@mkdir -p build
	@$(call BUILD,release,tutti tutti_shared)

# The program, the library, headers and models: make install PREFIX=/opt/tutti.
PREFIX ?= /usr/local
install: setup-build
	@mkdir -p build
	@$(call BUILD,release,tutti tutti_shared)
	@cmake --install build/release --prefix $(PREFIX)

# For other machines (docs/install.md): build/tutti-VERSION-*.whl and build/tutti_VERSION_*.deb.
wheel: setup-package
	@mkdir -p build
	@$(call BUILD,release,portable)
	@packaging/make_wheel.py --build build/release --output build

deb: setup-package
	@mkdir -p build
	@$(call BUILD,release,portable manual)
	@cd build/release && cpack -G DEB -B .. > ../deb.log 2>&1 || { cat ../deb.log; exit 1; }
	@rm -rf build/_CPack_Packages; ls -l build/*.deb

# All documents and the reference as a site with a search: build/docs/index.html.
docs: setup-package
	@mkdir -p build
	@$(call BUILD,release,tutti)
	@packaging/docs/site_pages.py --program build/release/tutti --output build/docs

# Includes the page of tutti report, for which node and npm are installed too.
demo: setup-demo
	@mkdir -p build
	@$(call BUILD,release,tutti)
	@scripts/demo build/release/tutti

# Format, release build and its tests.
test: setup
	@scripts/test

# All suites under the address and undefined-behaviour sanitizers.
test-sanitized: setup
	@scripts/test sanitized

# Everything: both, the slow suites, the thread sanitizer and clang-tidy.
test-all: setup
	@scripts/test all

bench: setup
	@mkdir -p build
	@$(call BUILD,release,)
	@scripts/bench

# All runs of docs/results/doppler.md: many hours. It can be stopped at any time and continues from there.
results-doppler: setup
	@mkdir -p build
	@$(call BUILD,release,)
	@studies/doppler/scripts/results-doppler

# A minute of each fuzzer; FUZZ_SECONDS changes that.
fuzz: setup
	@mkdir -p build
	@$(call BUILD,fuzz,)
	@scripts/fuzz

format:
	@git ls-files --cached --others --exclude-standard '*.cc' '*.h' '*.cu' | xargs clang-format -i

setup:
	@scripts/setup

setup-demo:
	@scripts/setup demo

setup-package:
	@scripts/setup package

setup-build:
	@scripts/setup build

clean:
	rm -rf build
