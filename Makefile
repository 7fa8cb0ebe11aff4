# SPDX-License-Identifier: Apache-2.0
# Stampede: one build file. `make help` lists what it can do.
#
# BUILD=release|debug|asan|tsan|cov|sim|fuzz live side by side in build/$(BUILD)/. Sources are found by
# folder: adding a file needs no edit here. A program is a .c file with a main(); every other .c file goes
# into a library: src/** into libstampede.a, tests/** into libtests.a, bench/** into libbench.a.
# To build a part while the rest is broken: make unit FOLDERS='base contract inventory' ONLY=inventory
# To stay out of somebody else's way: BUILD_ROOT=another/folder

# Units are quickest to build without optimizing; all else is about the release build unless it says otherwise.
BUILD ?= $(if $(filter unit,$(MAKECMDGOALS)),debug,release)
BUILD_ROOT ?= build
# Below this folder always in the same words: the lists of headers (*.d) name their targets by them.
override BUILD_ROOT := $(patsubst $(CURDIR)/%,%,$(abspath $(BUILD_ROOT)))
OUT := $(BUILD_ROOT)/$(BUILD)
JOBS ?= $(shell nproc)
PORT ?= 8080
PREFIX ?= /usr/local
DESTDIR ?=
ONLY ?=# run only tests whose name contains this
SEEDS ?= 1000
KILLS ?= 100
COMMANDS ?= 1000000
RUNS ?= 1000000
TARGET ?=# one fuzz target
MUTANTS ?=# only mutants whose name, table or file contains one of these words

ifeq ($(filter $(BUILD),release debug asan tsan cov sim fuzz),)
$(error BUILD=$(BUILD) is not one of release debug asan tsan cov sim fuzz)
endif

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory --no-builtin-rules
# Parallel below this level, unless the caller said how many jobs already.
SUBMAKE = $(MAKE) $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS) -Oline)

# ---- flags -------------------------------------------------------------------------------------------

LIBRARIES := openssl libturbojpeg libpng libwebp sqlite3 jansson inih libcurl libsystemd libpq libmariadb rdkafka zlib
LIBRARY_CFLAGS := $(shell pkg-config --cflags $(LIBRARIES) 2>/dev/null)
LIBRARY_LIBS := $(shell pkg-config --libs $(LIBRARIES) 2>/dev/null) -lwslay -lhiredis -lm # no .pc file, or one with flags that nobody needs
CMOCKA_LIBS = $(shell pkg-config --libs cmocka libjpeg 2>/dev/null) # libjpeg writes odd pictures for tests
DIFFERENTIAL_CFLAGS = $(patsubst -I%,-isystem %,$(shell pkg-config --cflags lua5.1 hiredis 2>/dev/null))
DIFFERENTIAL_LIBS = $(shell pkg-config --libs lua5.1 2>/dev/null)

WARNINGS := -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes \
    -Wvla -Wformat=2 -Wnull-dereference -Wswitch-enum -Wundef -Wcast-qual
WERROR ?= -Werror# WERROR= for a compiler that warns about more than ours
HARDENING := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection -fPIE -fno-plt
HARDENED_LINK := -pie -Wl,-z,relro,-z,now
# Static analysis of uninitialized and null values is only exact without sanitizers; sim does it. A sanitizer's report
# needs lines, not variables: -g1 compiles a sixth quicker and links half as many bytes.
SANITIZED := -O1 -g1 -fno-omit-frame-pointer -DSTAMPEDE_DEBUG -Wno-maybe-uninitialized -Wno-null-dereference
# Hundreds of test programs are linked: gold takes a third of what the usual linker takes, or a tenth.
GOLD := $(if $(shell command -v ld.gold),-fuse-ld=gold)

# Release objects carry no machine code: that is made when the server, or a bench, is linked. To link all test programs so
# would take an hour: BUILD=sim is what they have for optimized code.
CFLAGS.release := -O3 $(HARDENING) -flto=auto
LDFLAGS.release := $(HARDENED_LINK) -O3 -flto=auto -fno-plt
CFLAGS.debug := -O0 -DSTAMPEDE_DEBUG
LDFLAGS.debug := $(GOLD)
CFLAGS.asan := $(SANITIZED) -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS.asan := -fsanitize=address,undefined $(GOLD)
CFLAGS.tsan := $(SANITIZED) -fsanitize=thread
LDFLAGS.tsan := -fsanitize=thread $(GOLD)
CFLAGS.cov := -O0 --coverage
LDFLAGS.cov := --coverage $(GOLD)
CFLAGS.sim := -O2
LDFLAGS.sim := $(GOLD)
CFLAGS.fuzz := -O1 -DSTAMPEDE_DEBUG -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -w
LDFLAGS.fuzz := -fsanitize=address,undefined

CC := gcc
AR := gcc-ar
ifeq ($(BUILD),fuzz)
CC := clang
AR := ar
endif

INCLUDES := -Isrc
ALL_CFLAGS = -std=gnu11 -g -D_GNU_SOURCE -pthread $(INCLUDES) -ffile-prefix-map=$(CURDIR)=. \
    $(WARNINGS) $(WERROR) $(CFLAGS.$(BUILD)) $(LIBRARY_CFLAGS) $(CFLAGS)
ALL_LDFLAGS = -pthread $(LDFLAGS.$(BUILD)) $(LDFLAGS)

# ---- what there is -----------------------------------------------------------------------------------

find_c = $(if $(wildcard $(1)),$(sort $(shell find $(wildcard $(1)) -name node_modules -prune -o -name '*.c' -print)))
with_main = $(if $(1),$(shell grep -lw '^int main' $(1)))
objects = $(patsubst %.c,$(OUT)/%.o,$(1))
programs = $(patsubst %.c,$(OUT)/%,$(1))

FOLDERS ?= $(notdir $(patsubst %/,%,$(wildcard src/*/)))
SOURCES := $(filter-out src/server/main.c,$(call find_c,$(addprefix src/,$(FOLDERS))))

UNIT_SOURCES := $(filter %_test.c,$(call find_c,tests/unit))
SEAM_SOURCES := $(filter %_test.c,$(call find_c,tests/seam))
FUZZ_SOURCES := $(filter %_fuzz.c,$(call find_c,tests/fuzz))
# The second world of the simulator is a program of its own: it links other clients of Redis, and Lua.
CLUSTER_SOURCES := $(wildcard tests/simulation/cluster/*.c)
CLUSTER_OTHERS := $(patsubst %,tests/%.c,simulation/trace simulation/sim_arena differential/lua_host differential/map)
SIM_SOURCES := $(filter-out $(CLUSTER_SOURCES),$(call with_main,$(call find_c,tests/simulation)))
HELPER_FOLDERS := tests/support tests/unit tests/seam $(if $(filter sim,$(BUILD)),tests/simulation)
HELPER_SOURCES := $(filter-out %_test.c $(SIM_SOURCES) $(CLUSTER_SOURCES),$(call find_c,$(HELPER_FOLDERS))) \
    $(if $(filter sim,$(BUILD)),,$(wildcard tests/simulation/model_store*.c))
PROBE_SOURCES := $(wildcard tests/providers/*_probe.c)
DIFFERENTIAL_SOURCES := $(wildcard tests/differential/*.c)
BENCH_ALL := $(call find_c,bench)
BENCH_SOURCES := $(call with_main,$(BENCH_ALL))
BENCH_HELPERS := $(filter-out $(BENCH_SOURCES),$(BENCH_ALL))

# ThreadSanitizer has nothing to see where one thread does all. A test is built with it if a thread is started
# by it, by a helper whose header it includes, or by the file that it tests.
files_with = $(shell grep -rlE --include='*.c' $(1) $(2))
STARTS := 'thread_start\(|pthread_create\('
THREAD_HELPERS := $(filter-out %_test,$(basename $(notdir $(call files_with,$(STARTS),tests/unit tests/seam))))
empty :=
TSAN_SOURCES := $(filter $(call files_with,$(STARTS),tests/unit tests/seam) \
    $(call files_with,'"tests/.*/($(subst $(empty) $(empty),|,$(THREAD_HELPERS)))\.h"',tests/unit tests/seam) \
    $(patsubst src/%.c,tests/unit/%_test.c,$(call files_with,$(STARTS),src)),$(UNIT_SOURCES) $(SEAM_SOURCES))
# Units and seams run with ASan and UBSan. Those run in optimized code without sanitizers too (BUILD=sim) that start threads,
# which a sanitizer slows down, or that ask for one, themselves or in the file that they test.
ASKS := '__SANITIZE_'
PLAIN_SOURCES := $(filter $(TSAN_SOURCES) $(call files_with,$(ASKS),tests/unit tests/seam) \
    $(patsubst src/%.c,tests/unit/%_test.c,$(call files_with,$(ASKS),src)) tests/unit/media/media_service_test.c,\
    $(UNIT_SOURCES) $(SEAM_SOURCES))
sanitized = $(if $(filter tsan,$(BUILD)),$(filter $(TSAN_SOURCES),$(1)),$(1))
UNITS := $(call programs,$(call sanitized,$(UNIT_SOURCES)))
SEAMS := $(call programs,$(call sanitized,$(SEAM_SOURCES)))
SIMS := $(call programs,$(SIM_SOURCES))
SIM_CLUSTER := $(call programs,$(filter %/simulate_cluster.c,$(CLUSTER_SOURCES)))
FUZZERS := $(call programs,$(FUZZ_SOURCES))
PROBES := $(call programs,$(PROBE_SOURCES))
DIFFERENTIAL := $(call programs,$(filter %/differential.c,$(DIFFERENTIAL_SOURCES)))
BENCHES := $(call programs,$(BENCH_SOURCES))

# Pages (tools/bundle.py) and the API document are part of the binary (tools/embed.py).
EMBEDDED := $(if $(and $(wildcard src/edge/assets.h),$(filter edge,$(FOLDERS))),\
    $(OUT)/gen/assets.o $(OUT)/gen/assets_table.o)
# The script that Redis runs is part of it too, in this order (tools/embed_script.py).
SCRIPT_FILES := $(patsubst %,src/inventory/redis/script/%.lua,state draws purchase others settle control transfer room ask)
SCRIPT := $(if $(filter inventory,$(FOLDERS)),$(OUT)/gen/redis_script.o)
WEB_FILES := $(shell find web -name node_modules -prune -o -print 2>/dev/null) $(wildcard docs/openapi.json)

LIBRARY := $(OUT)/libstampede.a
TEST_LIBRARY := $(OUT)/libtests.a
BENCH_LIBRARY := $(OUT)/libbench.a
SERVER := $(OUT)/stampede
LIBRARY_OBJECTS := $(call objects,$(SOURCES)) $(EMBEDDED) $(SCRIPT)

# ---- build -------------------------------------------------------------------------------------------

.PHONY: all server programs fuzzers sims benches probes differentials
all: ## build the server (BUILD=release unless said otherwise)
	@tools/setup build
	+@$(SUBMAKE) server

server: $(SERVER)
programs: $(UNITS) $(SEAMS)
fuzzers: $(FUZZERS)
sims: $(SIMS) $(SIM_CLUSTER)
benches: $(BENCHES)
probes: $(PROBES)
differentials: $(DIFFERENTIAL)
server programs fuzzers sims benches probes differentials:
	@:

# Rewritten only when it differs, so that other flags or a removed source file rebuild what they must. (Where the
# tree stands makes no difference, nor does -Werror: tools/mutate builds in a copy, and its mutants may warn.)
write_if_changed = @mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ \
    || printf '%s\n' '$(subst ','\'',$(1))' > $@
.PHONY: FORCE
$(OUT)/flags: FORCE
	$(call write_if_changed,$(subst $(CURDIR),,$(CC) $(filter-out $(WERROR),$(ALL_CFLAGS)) $(ALL_LDFLAGS)))
$(OUT)/%.list: FORCE
	$(call write_if_changed,$(LIST))
$(OUT)/libstampede.list: LIST = $(LIBRARY_OBJECTS)
$(OUT)/libtests.list: LIST = $(call objects,$(HELPER_SOURCES))
$(OUT)/libbench.list: LIST = $(call objects,$(BENCH_HELPERS))

$(OUT)/%.o: %.c $(OUT)/flags
	@mkdir -p $(@D)
	@echo "  CC    $@"
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(OUT)/gen/%.o: $(OUT)/gen/%.c $(OUT)/flags
	@$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<
$(OUT)/gen/assets.o: $(OUT)/gen/assets.S
	@$(CC) -c -o $@ $<
$(OUT)/gen/assets.S $(OUT)/gen/assets_table.c &: tools/bundle.py tools/embed.py $(WEB_FILES)
	@echo "  EMBED $(OUT)/gen"
	@python3 tools/bundle.py $(OUT)/pages && python3 tools/embed.py $(OUT)/pages $(OUT)/gen

$(OUT)/gen/redis_script.c: tools/embed_script.py $(SCRIPT_FILES)
	@mkdir -p $(@D)
	@python3 tools/embed_script.py $@ $(SCRIPT_FILES)

# A fuzz target has no main and gets its prototype from nobody.
# (private: the flags file, which these depend on, must not see it.)
$(OUT)/tests/fuzz/%.o: private WARNINGS += -Wno-missing-prototypes
$(OUT)/tests/%.o $(OUT)/bench/%.o: private INCLUDES += -I.
# Only these see Lua and hiredis.
$(OUT)/tests/differential/%.o $(OUT)/tests/simulation/cluster/%.o: private INCLUDES += $(DIFFERENTIAL_CFLAGS)

archive = @rm -f $@; $(AR) rcs $@ $(filter %.o,$^)
$(LIBRARY): $(LIBRARY_OBJECTS) $(OUT)/libstampede.list
	$(archive)
$(TEST_LIBRARY): $(call objects,$(HELPER_SOURCES)) $(OUT)/libtests.list
	$(archive)
$(BENCH_LIBRARY): $(call objects,$(BENCH_HELPERS)) $(OUT)/libbench.list
	$(archive)

link = @echo "  LINK  $@"; $(CC) $(ALL_LDFLAGS) $(1) -o $@ $^ $(LIBRARY_LIBS) $(2)
$(SERVER): $(OUT)/src/server/main.o $(LIBRARY)
	$(call link)
$(UNITS) $(SEAMS) $(SIMS) $(PROBES): $(OUT)/%: $(OUT)/%.o $(TEST_LIBRARY) $(LIBRARY)
	$(call link,,$(CMOCKA_LIBS) -lm)
$(DIFFERENTIAL): $(call objects,$(DIFFERENTIAL_SOURCES)) $(LIBRARY)
	$(call link,,$(DIFFERENTIAL_LIBS) -lm)
$(SIM_CLUSTER): $(call objects,$(CLUSTER_SOURCES) $(CLUSTER_OTHERS)) $(LIBRARY)
	$(call link,,$(DIFFERENTIAL_LIBS) -lm)
$(BENCHES): $(OUT)/%: $(OUT)/%.o $(BENCH_LIBRARY) $(LIBRARY)
	$(call link,,-lm)
ifeq ($(BUILD),fuzz)
$(FUZZERS): $(OUT)/%: $(OUT)/%.o $(TEST_LIBRARY) $(LIBRARY)
	$(call link,-fsanitize=fuzzer)
else
$(FUZZERS): $(OUT)/%: $(OUT)/%.o $(OUT)/tests/fuzz/run_corpus.o $(TEST_LIBRARY) $(LIBRARY)
	$(call link)
endif

.SECONDARY:
DEPENDENCIES := $(shell find $(OUT) $(BUILD_ROOT)/analyze -name '*.d' 2>/dev/null)
-include $(DEPENDENCIES)

# ---- run ---------------------------------------------------------------------------------------------

.PHONY: setup demo demo-cluster
setup: ## install every Debian package that building, testing and benchmarking need
	@tools/setup build test fuzz cov bench

demo: ## a shop with visitors to play with on PORT=8080; Ctrl-C ends it and leaves nothing behind (DEMO_ARGS=--alone)
	@tools/setup build
	+@$(SUBMAKE) BUILD=release server
	@tools/demo $(BUILD_ROOT)/release/stampede $(PORT) $(DEMO_ARGS)

demo-cluster: ## the same on several processes: gateways, workers, Redis Cluster, Kafka if it can be had, PostgreSQL, nginx (DEMO_ARGS=--alone)
	@tools/setup build test
	+@$(SUBMAKE) BUILD=release server
	@tools/with-postgres --durable tools/with-redis --cluster tools/with-kafka --optional tools/demo-cluster $(abspath $(BUILD_ROOT)/release/stampede) $(PORT) $(DEMO_ARGS)

# ---- tests -------------------------------------------------------------------------------------------
# A list of tests for tools/run-tests: kind, seconds allowed, name, command.

define newline


endef
built = $(patsubst %.c,$(BUILD_ROOT)/$(1)/%,$(2))
# A test whose name ends in _SERVER_test runs beside a server of that kind: tools/with-SERVER.
SERVERS := postgres mariadb redis cluster kafka
beside = $(foreach server,$(SERVERS),$(if $(filter %_$(server)_test.c,$(1)),tools/with-$(server)))
# $(call each_program,BUILD,SOURCES,SECONDS): one line per test program of that build
each_program = $(foreach source,$(2),parallel $(3) $(source:.c=):$(1) $(call beside,$(source)) $(call built,$(1),$(source))$(newline))
fuzz_name = $(patsubst %_fuzz,%,$(basename $(notdir $(1))))
each_corpus = $(foreach source,$(FUZZ_SOURCES),parallel 120 $(source:.c=):corpus \
    $(call built,asan,$(source)) $(wildcard tests/fuzz/corpus/$(call fuzz_name,$(source)))$(newline))

E2E_SCRIPTS := $(sort $(wildcard tests/e2e/*/*_test.py))
WEB_TESTS := $(sort $(wildcard web/*.test.js web/*.test.mjs web/test/*.js tests/unit/web/*.test.mjs tests/unit/web/*/*.test.mjs))
SHELL_SCRIPTS = $(shell grep -lE '^\#!.*(ba)?sh$$' .ci/run tools/* tests/e2e/*/* tests/bars/* bench/* deploy/* 2>/dev/null)
SIMULATE := $(BUILD_ROOT)/sim/tests/simulation/simulate
HAS_SIMULATE := $(wildcard tests/simulation/simulate.c)
HAS_SERVER := $(wildcard src/server/main.c)

define STATIC_TESTS
background 3600 clang-tidy $(MAKE) -j$(JOBS) -k clang-tidy
background 1800 cppcheck $(MAKE) cppcheck
parallel 60 tidy tools/tidy
parallel 60 tidy-self-test tools/tidy --self-test
parallel 120 layout python3 tests/bars/check_rooms.py --bars 1,3
parallel 60 run-tests-self-test tools/run-tests --self-test
parallel 60 mutate-self-test tools/mutate --self-test
parallel 60 mutation/rows-fit tools/mutate --check
parallel 60 format $(MAKE) check-format
parallel 60 shellcheck shellcheck $(SHELL_SCRIPTS)

endef
define SIM_TESTS
parallel 300 simulation/model $(SIMULATE) --seeds 2000
parallel 300 simulation/sqlite $(SIMULATE) --seeds 100 --store sqlite
parallel 300 simulation/cluster $(SIMULATE) --world cluster --seeds 300
background 1800 mutation/sample tools/mutate --build-root $(BUILD_ROOT) --sample 2 --suite simulation --jobs 1

endef
# The script of Redis beside the engine: in Lua here, and in a real server.
differential = $(call built,$(1),tests/differential/differential.c)
define DIFFERENTIAL_TESTS
parallel 600 differential/lua $(call differential,release) --commands 200000
parallel 600 differential/lua:asan $(call differential,asan) --commands 20000 --from 100000
parallel 600 differential/redis tools/with-redis $(call differential,release) --server --commands 10000
parallel 600 differential/redis:asan tools/with-redis $(call differential,asan) --server --commands 2000
parallel 300 differential/fence python3 tests/differential/fence_test.py $(call differential,release)
parallel 600 differential/redis-cost tools/with-redis $(call differential,release) --server --bench

endef
# Those that need the whole machine; the others wait more than they compute.
E2E_ALONE := $(addprefix tests/e2e/,funnel/bots_test.py purchase/crowd_test.py funnel/forged_tokens_test.py)
e2e_kind = $(if $(filter $(1),$(E2E_ALONE)),serial,waiting)
# The long ones start first: the compilers of four languages, and rules that count for a minute.
E2E_LONG := $(addprefix tests/e2e/,api/generated_clients_test.py funnel/anomaly_rules_test.py)
e2e_seconds = $(if $(filter $(1),$(E2E_LONG)),1800,300)
# One line for each file of browser tests, the long ones first.
BROWSER_TESTS := $(wildcard tests/e2e/storefront/*.test.mjs)
BROWSER_LONG := $(patsubst %,tests/e2e/storefront/%.test.mjs,console payment console_sales console_live storefront front)
define E2E_TESTS
$(foreach file,$(BROWSER_LONG) $(filter-out $(BROWSER_LONG),$(BROWSER_TESTS)),browser 3600 $(file:.test.mjs=) tools/test-storefront $(notdir $(file))$(newline))
$(foreach script,$(E2E_LONG) $(filter-out $(E2E_LONG),$(E2E_SCRIPTS)),$(call e2e_kind,$(script)) $(call e2e_seconds,$(script)) $(basename $(script)) python3 $(script)$(newline))

endef
define TEST_LIST
$(STATIC_TESTS)
$(if $(HAS_SIMULATE),$(SIM_TESTS))
$(call each_program,asan,$(UNIT_SOURCES) $(SEAM_SOURCES),480)
parallel 300 tests/seam/driver_mariadb_test:odd-defaults tools/with-mariadb --latin1 --loose $(call built,asan,tests/seam/driver_mariadb_test.c)
parallel 300 tests/seam/driver_postgres_test:odd-defaults tools/with-postgres --odd-defaults $(call built,asan,tests/seam/driver_postgres_test.c)
$(call each_program,tsan,$(TSAN_SOURCES),300)
$(call each_program,sim,$(PLAIN_SOURCES) $(filter %_test.c,$(SIM_SOURCES)),300)
$(each_corpus)
$(DIFFERENTIAL_TESTS)
$(if $(WEB_TESTS),parallel 120 tests/unit/web node --test $(WEB_TESTS))
$(if $(HAS_SERVER),$(E2E_TESTS))
endef

# Tests find the server here; the ones that want sanitizers in it use the second.
export TEST_SERVER = $(abspath $(BUILD_ROOT)/release/stampede)
export TEST_SERVER_ASAN = $(abspath $(BUILD_ROOT)/asan/stampede)
export ASAN_OPTIONS ?= detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS ?= print_stacktrace=1
export TSAN_OPTIONS ?= halt_on_error=1:second_deadlock_stack=1

run_tests = $(shell mkdir -p $(BUILD_ROOT))$(file >$(BUILD_ROOT)/test-list,$(1))tools/run-tests --jobs $(JOBS) \
    --logs $(BUILD_ROOT)/test-logs --only '$(ONLY)' $(BUILD_ROOT)/test-list

.PHONY: test test-programs release-programs asan-programs tsan-programs sim-programs unit
test: ## everything: units, seams, sanitizers, simulation, corpora, end to end, static analysis
	@tools/setup build test
	+@$(SUBMAKE) test-programs
	@$(call run_tests,$(TEST_LIST))

test-programs: release-programs asan-programs tsan-programs sim-programs
release-programs:
	@$(MAKE) BUILD=release benches differentials $(if $(HAS_SERVER),server)
asan-programs:
	@$(MAKE) BUILD=asan programs fuzzers probes differentials $(if $(HAS_SERVER),server)
tsan-programs:
	@$(MAKE) BUILD=tsan programs
sim-programs:
	@$(MAKE) BUILD=sim sims $(call built,sim,$(PLAIN_SOURCES))

# What a developer runs before each commit: under two minutes when most of it is built. The slow units are
# those that draw pictures and fill rooms.
CHECK_SLOW := %/picture_solvers_test.c %/rooms_test.c %/line_test.c %/room_test.c %/altcha_test.c %/picture_test.c
CHECK_E2E := purchase/purchase orders/order_requests payments/payment_requests rooms/waiting_room admin/admin_api \
    push/push_text api/problems server/serve
define CHECK_LIST
parallel 120 tidy tools/tidy
parallel 120 mutation/rows-fit tools/mutate --check
parallel 120 format $(MAKE) check-format
parallel 120 shellcheck shellcheck $(SHELL_SCRIPTS)
parallel 300 simulation/model $(SIMULATE) --seeds 300
$(call each_program,debug,$(filter-out $(CHECK_SLOW),$(UNIT_SOURCES) $(SEAM_SOURCES)),120)
$(if $(WEB_TESTS),parallel 120 tests/unit/web node --test $(WEB_TESTS))
$(foreach name,$(CHECK_E2E),waiting 120 tests/e2e/$(name)_test python3 tests/e2e/$(name)_test.py$(newline))
endef

.PHONY: check
check: export E2E_SERVER = $(abspath $(BUILD_ROOT)/debug/stampede)
check: ## before each commit: form, units, seams, some sales in the simulator, some end to end (debug build)
	@tools/setup build test
	+@$(SUBMAKE) BUILD=debug programs server
	+@$(SUBMAKE) BUILD=sim sims
	@$(call run_tests,$(CHECK_LIST))

unit: ## units and seams of one BUILD (debug); ONLY=text picks by name, FOLDERS='base …' builds only these of src
	@tools/setup build test
	+@$(SUBMAKE) BUILD=$(BUILD) $(or $(call built,$(BUILD),$(PICKED)),FORCE)
	@$(call run_tests,$(call each_program,$(BUILD),$(PICKED),300))
PICKED = $(foreach source,$(if $(filter tsan,$(BUILD)),$(TSAN_SOURCES),$(UNIT_SOURCES) $(SEAM_SOURCES)),$(if $(or $(if $(ONLY),,all),\
    $(findstring $(ONLY),$(source))),$(source)))

.PHONY: sim differential mutate torture fuzz check-spine check-orders check-funnel check-mend check-rooms check-pages screens check-growth check-cluster check-policy headline bench bench-growth bench-pairs cov
sim: ## simulated sales: SEEDS=1000, SIM_ARGS='--store sqlite', '--store both', '--store server:URL', '--world cluster' or '--seed N'
	@tools/setup build test
	+@$(SUBMAKE) BUILD=sim sims
	$(SIMULATE) --seeds $(SEEDS) --jobs $(JOBS) --bench $(SIM_ARGS)

differential: ## the script of Redis beside the engine: COMMANDS=1000000 random commands, then some on a real server
	@tools/setup build test
	+@$(SUBMAKE) BUILD=release differentials
	$(call differential,release) --commands $(COMMANDS) $(DIFFERENTIAL_ARGS)
	tools/with-redis $(call differential,release) --server --commands 20000 $(DIFFERENTIAL_ARGS)
	python3 tests/differential/fence_test.py $(call differential,release)
	tools/with-redis $(call differential,release) --server --bench

mutate: ## break the program in each way of tests/mutation and see a test fail; MUTANTS=text picks some
	@tools/setup build test
	+@$(SUBMAKE) BUILD=sim sims
	tools/mutate --build-root $(BUILD_ROOT) --pick '$(MUTANTS)' $(MUTATE_ARGS)

torture: ## kill -9 the real server under load KILLS=100 times and compare told with recovered
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	python3 tests/e2e/kit/torture.py --kills $(KILLS) $(TORTURE_ARGS)

fuzz: ## libFuzzer with ASan and UBSan: RUNS=1000000 for each target, or TARGET=name
	@tools/setup build test fuzz
	+@$(SUBMAKE) BUILD=fuzz $(patsubst %,fuzz-%,$(or $(TARGET),$(foreach s,$(FUZZ_SOURCES),$(call fuzz_name,$(s)))))
	@echo "fuzz: $(words $(or $(TARGET),$(FUZZ_SOURCES))) targets, $(RUNS) runs each, no finding"

# New inputs go to build/; the committed corpus is only read.
fuzz-%: $(OUT)/tests/fuzz/%_fuzz
	@mkdir -p $(OUT)/corpus/$* $(OUT)/findings
	@$< -runs=$(RUNS) -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
	    -artifact_prefix=$(OUT)/findings/$*- $(patsubst %,-dict=%,$(wildcard tests/fuzz/$*.dict)) \
	    $(OUT)/corpus/$* $(wildcard tests/fuzz/corpus/$*) > $(OUT)/$*.log 2>&1 \
	    || { tail -n 60 $(OUT)/$*.log; echo "fuzz $*: FAIL, see $(OUT)/findings/"; exit 1; }
	@echo "fuzz $*: $$(sed -n 's/^stat::number_of_executed_units: *//p' $(OUT)/$*.log) runs, no finding"

check-spine: ## the bars of the spine in a quick form, one line each
	@tools/setup build test fuzz bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	+@$(SUBMAKE) BUILD=sim sims
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_spine.py $(SPINE_ARGS)

check-orders: ## the bars of an order's life in a quick form, one line each
	@tools/setup build test
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release probes
	+@$(SUBMAKE) BUILD=sim sims
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_orders.py $(ORDERS_ARGS)

check-funnel: ## the bars of the funnel in a quick form, one line each
	@tools/setup build test bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	+@$(SUBMAKE) BUILD=sim programs
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_funnel.py $(FUNNEL_ARGS)

check-mend: ## what an outside look at the product found, a line per finding
	@tools/setup build test
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches probes
	+@$(SUBMAKE) BUILD=sim programs
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_mend.py $(MEND_ARGS)

check-pages: ## the bars of storefront, console, exported pages and demo, one line each
	@tools/setup build test
	@$(MAKE) BUILD=release all
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_pages.py $(PAGES_ARGS)

screens: ## pictures of every page in both languages, on a phone and on a desktop, into docs/screens/
	@tools/setup build test
	@$(MAKE) BUILD=release all
	SHOTS=$(CURDIR)/docs/screens tools/test-storefront screens.mjs

check-rooms: ## the bars of the layout, one line each
	@tools/setup build test
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=sim sims
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_rooms.py $(ROOMS_ARGS)

check-growth: ## the bars of growth and speed, one line each, and a list of those that are missed
	@tools/setup build test bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_growth.py $(GROWTH_ARGS)

check-policy: ## the bars of merchant policy and operation, one line each (POLICY_ARGS='--bars 4')
	@tools/setup build test bench package
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	+@$(SUBMAKE) BUILD=sim programs sims
	BUILD_ROOT=$(BUILD_ROOT) python3 tests/bars/check_policy.py $(POLICY_ARGS)

headline: ## 100,000 connections beside the first source document's figures; HEADLINE_ARGS=--write puts them into docs/performance.md
	@tools/setup build bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	python3 bench/headline.py --binary $(BUILD_ROOT)/release/stampede --load $(BUILD_ROOT)/release/bench/load $(HEADLINE_ARGS)

bench-growth: ## what each operation costs as a data folder grows; long: GROWTH_SIZES=10000,100000,1000000,4000000
	@tools/setup build test bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	BUILD_ROOT=$(BUILD_ROOT) GROWTH_SIZES=$(GROWTH_SIZES) python3 tests/bars/bench_growth.py $(GROWTH_ARGS)

check-cluster: ## the bars of many machines, one line each: STEP=1 (databases), STEP=2 (Redis), STEP=3 (Kafka, faults; KILLS=100 for the long form), else all
	@tools/setup build test
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches probes $(if $(filter 3,$(STEP)),,differentials)
	$(if $(filter 3,$(STEP)),,+@$(SUBMAKE) BUILD=sim sims programs)
	BUILD_ROOT=$(BUILD_ROOT) STEP=$(STEP) python3 tests/bars/check_cluster.py $(CLUSTER_ARGS)

bench: ## side by side with nginx and nginx + lua + Redis: a table of ratios, build/bench.json (BENCH_ARGS='--quick')
	@tools/setup build bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	python3 bench/run.py --bin $(BUILD_ROOT)/release/bench --stampede $(BUILD_ROOT)/release/stampede \
	    --out $(BUILD_ROOT)/bench.json $(BENCH_ARGS)

bench-pairs: ## the benchmark for an older revision and this one in turns: OLD=revision, ROWS=win_64,…, TURNS=4, ROUNDS=8
	@tools/setup build bench
	@$(MAKE) BUILD=release all
	+@$(SUBMAKE) BUILD=release benches
	python3 bench/pairs.py --build $(BUILD_ROOT) --old $(or $(OLD),$(error say OLD=revision)) $(if $(ROWS),--rows $(ROWS)) \
	    $(if $(TURNS),--turns $(TURNS)) $(if $(ROUNDS),--rounds $(ROUNDS))

cov: ## which lines the units and seams reach: build/cov/report/index.html
	@tools/setup build test cov
	+@$(SUBMAKE) BUILD=cov programs
	@find $(BUILD_ROOT)/cov -name '*.gcda' -delete
	@$(call run_tests,$(call each_program,cov,$(UNIT_SOURCES) $(SEAM_SOURCES),300))
	@mkdir -p $(BUILD_ROOT)/cov/report
	@gcovr --root . --filter src/ --exclude '.*/gen/.*' --print-summary --txt $(BUILD_ROOT)/cov/report/lines.txt \
	    --html-details $(BUILD_ROOT)/cov/report/index.html $(BUILD_ROOT)/cov

# ---- static analysis and form ------------------------------------------------------------------------

C_FILES = $(sort $(shell find src tests bench -name node_modules -prune -o -name '*.[ch]' -print 2>/dev/null))
ANALYZED = $(sort $(SOURCES) $(wildcard src/server/main.c) $(UNIT_SOURCES) $(SEAM_SOURCES) $(HELPER_SOURCES) \
    $(FUZZ_SOURCES) $(wildcard tests/fuzz/run_corpus.c) $(BENCH_ALL) $(PROBE_SOURCES) \
    $(call find_c,tests/simulation) $(DIFFERENTIAL_SOURCES))
# How far clang's analyzer follows calls: a shallow look at all files takes two minutes of a core, a deep one 28.
# `make test` takes the shallow one, `make analyze` (before a release) the deep one.
DEPTH ?= shallow
ANALYSIS_FLAGS = -std=gnu11 -D_GNU_SOURCE -Isrc -I. $(LIBRARY_CFLAGS) $(DIFFERENTIAL_CFLAGS)

.PHONY: analyze clang-tidy cppcheck tidy format check-format
analyze: ## clang-tidy and cppcheck
	@tools/setup build test
	+@$(SUBMAKE) -k DEPTH=deep clang-tidy cppcheck

# One mark per file, so that only what changed is looked at again.
clang-tidy: $(ANALYZED:%.c=$(BUILD_ROOT)/analyze/$(DEPTH)/%.ok)
$(BUILD_ROOT)/analyze/$(DEPTH)/%.ok: %.c .clang-tidy
	@mkdir -p $(@D)
	@$(CC) $(ANALYSIS_FLAGS) -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@clang-tidy --quiet $< -- $(ANALYSIS_FLAGS) -Xclang -analyzer-config -Xclang mode=$(DEPTH) > $@.log 2>&1 \
	    || { grep -vE 'warnings? generated|^Suppressed|^Use -header' $@.log; exit 1; }
	@rm -f $@.log; touch $@

cppcheck:
	@mkdir -p $(BUILD_ROOT)/cppcheck
	@cppcheck --quiet -j $(JOBS) --enable=warning,performance,portability --std=c11 --error-exitcode=1 \
	    --inline-suppr --suppress=missingIncludeSystem --cppcheck-build-dir=$(BUILD_ROOT)/cppcheck \
	    -D_GNU_SOURCE -D__x86_64__ -D__ORDER_LITTLE_ENDIAN__=1234 -D__BYTE_ORDER__=1234 -Isrc src bench

tidy: ## the project's own rules: includes, banned functions, sizes, a test for each file
	@tools/tidy

format: ## rewrite the C files the way .clang-format says
	@clang-format -i $(C_FILES)

check-format:
	@out=$$(clang-format --dry-run --Werror $(C_FILES) 2>&1 </dev/null) || { \
	    echo "$$out" | grep -o '^[^ ]*: error' | sort -u -t: -k1,1; echo "make format would change these"; exit 1; }

# ---- the rest ----------------------------------------------------------------------------------------

.PHONY: install install-files install-units package-texts deb clean help
install: ## the server, its systemd units, manual pages and completion, under DESTDIR and PREFIX
	@$(MAKE) BUILD=release all
	@$(MAKE) install-files

install-files: package-texts install-units # of a server that is built
	install -D -m 755 $(BUILD_ROOT)/release/stampede $(DESTDIR)$(PREFIX)/bin/stampede
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man1 $(PACKAGE)/stampede.1
	install -D -m 644 -t $(DESTDIR)$(PREFIX)/share/man/man5 $(PACKAGE)/stampede.ini.5
	install -D -m 644 $(PACKAGE)/stampede.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/stampede

# Manual pages, completion and a file with every setting, from the program's own help and docs/configuration.md.
PACKAGE := $(BUILD_ROOT)/release/package
package-texts:
	python3 tools/package_texts.py $(BUILD_ROOT)/release/stampede $(PACKAGE)

deb: ## a Debian package of what is committed, in build/deb/
	@tools/setup build package
	@tools/deb $(BUILD_ROOT)/deb

# One unit for one machine, and one for each role of several machines, all of one file.
UNIT_FOLDER = $(DESTDIR)$(PREFIX)/lib/systemd/system
unit = sed -e 's|@PREFIX@|$(PREFIX)|g; s|@NAME@|$(1)|g; s|@TRIES_S@|$(2)|g; s|@ROLE@|$(3)|g' \
    deploy/stampede.service > $(UNIT_FOLDER)/$(1).service
install-units:
	install -d $(UNIT_FOLDER)
	$(call unit,stampede,300)
	$(call unit,stampede-gateway,0,--role gateway )
	$(call unit,stampede-worker,0,--role worker )

clean: ## remove everything that was built
	rm -rf $(BUILD_ROOT)

help: ## this list
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1@\2/p' Makefile | column -t -s '@'
