# SPDX-License-Identifier: GPL-2.0-only
# The front door: what each target does is in its "## " comment (make help).

PREFIX ?= /usr/local
OUT ?= $(CURDIR)/out
DESTDIR ?=
export OUT

# Asked for when it is used, behind "packages".  An empty KDIR= is none.
default_kdir = $(shell bash -c '. scripts/lib.sh && default_kdir')
chosen_kdir := $(strip $(KDIR))
override KDIR = $(or $(chosen_kdir),$(default_kdir))

.DEFAULT_GOAL := all
.PHONY: all modules tools demo shell check check-rest check-sanitized check-debug check-race \
	check-persist check-fresh check-board check-ctf2 check-readme check-viewer check-long \
	check-hostile check-rounds model lint analyze matrix selftests bench bench-peers \
	bench-recorder install install-user viewer uninstall dkms-install dkms-uninstall \
	deb check-install clean help packages

# Each target has its packages before it begins, all that were asked for at once.
# What is built is built after "clean", and neither where packages are missing.
built := all modules tools demo shell check check-rest check-sanitized check-debug check-race \
	check-persist check-fresh check-board check-ctf2 check-readme check-viewer check-long \
	check-hostile check-rounds model lint analyze matrix selftests bench bench-peers \
	bench-recorder install install-user viewer dkms-install deb check-install
goals := $(filter $(built),$(or $(MAKECMDGOALS),all))
packages:
	@KDIR='$(chosen_kdir)' scripts/deps $(goals)

$(built): | packages $(filter clean,$(MAKECMDGOALS))
clean: | $(if $(goals),packages)

all: modules tools ## build the module and the tools (the default)

# No vmlinux in Debian's headers, hence no BTF for modules.
modules: ## build ktape.ko in the tree, for KDIR (V= W= C= pass through)
	+$(MAKE) -C $(KDIR) M=$(CURDIR) CONFIG_DEBUG_INFO_BTF_MODULES= modules

tools: ## build the ktape command and libktape below out/user
	+$(MAKE) -C userspace OUT=$(OUT)/user

viewer: ## build out/user/viewer/ktape.html, the page that converts in a browser
	+$(MAKE) -C userspace OUT=$(CURDIR)/out/user viewer

demo: ## record a workload in a guest: out/demo, and out/demo.html for a browser
	scripts/demo

shell: ## a root shell in a guest with module and command, to try what README.md says
	scripts/shell

check: ## what must hold on each change: lint, build, unit and guest tests, demo
	selftests/run check

check-rest: ## the tests that make check leaves out because they take longer
	selftests/run check-rest

check-sanitized: ## the unit tests that read and write traces, with ASan, UBSan, TSan
	selftests/run check-sanitized

check-debug: ## the guest tests on a kernel with KASAN, lockdep, kmemleak
	selftests/run check-debug

check-race: ## the guest tests on a kernel with KCSAN, which reports data races (2 hours)
	selftests/run check-race

check-persist: ## 20 crashes of each kind, and what is recovered after them
	selftests/run persist

check-fresh: ## README's commands in a bare Debian 12 and 13, by chroot (FRESH=demo: less)
	selftests/run $(if $(filter demo,$(FRESH)),fresh-demo,check-fresh)

check-board: ## the module and the tool on a board in QEMU (ARCH=arm64, armhf, riscv64)
	selftests/run check-board-$(or $(ARCH),arm64)

check-ctf2: ## CTF 2 for babeltrace2 2.1, in a chroot of Debian 13; needs root
	selftests/run check-ctf2

check-readme: ## README's commands for a machine, one after the other, in the guest of make shell
	selftests/run check-readme

check-viewer: ## the page of make demo in a browser, with pictures in out/viewer
	selftests/run check-viewer

check-long: ## what takes too long for make check: a trace of 10^8 events, an hour for each fuzzer (6 hours)
	selftests/run check-long

check-hostile: ## many more tries of hostile callers and of faults; takes hours
	selftests/run check-hostile

check-rounds: ## 50 rounds of random starts, stops, clears, hotplug under each load (days)
	selftests/run check-rounds

model: ## search every state of models of the ring, the want bits, the registry, the gates
	selftests/run model

matrix: ## build for many kernels, boot them, write README's table (TIER=1, 2, 3)
	selftests/run matrix$(or $(TIER),1)

lint: ## static checks: layers, shellcheck, format, sparse, sizes, headers
	scripts/lint

analyze: ## gcc's analyzer, clang-tidy and cppcheck on the user space (20 minutes)
	selftests/run analyze

selftests: ## only the guest tests, on Debian's kernel
	selftests/run guest

bench: ## measure cost and size of events and the speed of formats; fails if a budget is missed
	selftests/bench/run

bench-peers: ## ktape beside trace-cmd, perf, LTTng, BPF in one run; writes README's table
	selftests/bench/peers/run

bench-recorder: ## what the recorder takes for a GB, beside LTTng's; writes README's table
	selftests/bench/recorder/run --readme

# Folders as in userspace/Makefile: PREFIX, LIBDIR, ...  All honour DESTDIR.
# The kernel of KDIR: with Debian's headers of 6.1 neither the target kernelrelease nor
# kernel.release has its name.  They have no System.map either, without which kbuild
# leaves out depmod.
release = $(shell sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' \
	"$(KDIR)/include/generated/utsrelease.h" 2>/dev/null)

install: install-user modules ## install tool, library, man pages, module (DESTDIR, PREFIX)
	+$(MAKE) -C $(KDIR) M=$(CURDIR) INSTALL_MOD_PATH=$(DESTDIR) \
		INSTALL_MOD_STRIP=1 CONFIG_MODULE_SIG_ALL= DEPMOD=true modules_install
	[ -n "$(DESTDIR)" ] || PATH=$$PATH:/usr/sbin:/sbin depmod $(release)

install-user: tools ## the same without the module
	+$(MAKE) -C userspace OUT=$(OUT)/user DESTDIR=$(DESTDIR) \
		PREFIX=$(PREFIX) install

uninstall: ## remove what install has installed, with the same variables
	+$(MAKE) -C userspace OUT=$(OUT)/user DESTDIR=$(DESTDIR) \
		PREFIX=$(PREFIX) uninstall
	[ ! -d "$(KDIR)" ] || rm -f $(addsuffix /ktape.ko*,$(addprefix \
		$(DESTDIR)/lib/modules/$(release)/,extra updates))
	[ -n "$(DESTDIR)" ] || [ ! -d "$(KDIR)" ] || \
		PATH=$$PATH:/usr/sbin:/sbin depmod $(release)

dkms-install: ## hand the module's source to DKMS, which builds it for each kernel
	scripts/dkms install

dkms-uninstall: ## remove the module and its source from DKMS
	scripts/dkms uninstall

deb: ## build Debian packages in out/deb, and run lintian on them
	scripts/packaging/deb

check-install: ## the packages in a bare Debian 12 and 13, and in a guest
	selftests/run check-install

clean: ## remove everything that was built
	rm -rf $(OUT)
	+[ ! -d "$(KDIR)" ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-15s %s\n", $$1, $$2 }' \
		$(firstword $(MAKEFILE_LIST))
