# SPDX-License-Identifier: GPL-2.0-only
# make viewer: the page that converts in a browser.  ktape convert is compiled to
# WebAssembly with Debian's clang, lld, wasi-libc and libclang-rt-14-dev-wasm32, and goes
# into the page compressed.  README.md of this folder says what takes the place of Linux.

WASM_CC ?= clang
# Where wasi-libc has its headers.
WASI_INCLUDE ?= /usr/include/wasm32-wasi

$(OUT)/wasm/formats.inc: built-formats = $(FORMATS)

# Debian has zstd only for its own machines: here it is compiled from the source of the
# same package.  Nothing but the page needs that source.
ifneq ($(filter viewer,$(MAKECMDGOALS)),)
zstd-source := $(shell ../scripts/zstd-source)
ifeq ($(zstd-source),)
$(error make viewer needs the source of zstd)
endif
endif
zstd-src := $(if $(zstd-source),$(wildcard $(zstd-source)/lib/common/*.c \
	$(zstd-source)/lib/compress/*.c $(zstd-source)/lib/decompress/*.c))
zstd-obj := $(patsubst $(zstd-source)/lib/%.c,$(OUT)/wasm/zstd/%.o,$(zstd-src))
ZSTD_CFLAGS := -O2 -w -DXXH_NAMESPACE=ZSTD_ -DZSTD_LEGACY_SUPPORT=0

# What has to do with processes, devices and names on disks stays out.
wasm-src := $(wildcard wasm/*.c) \
	$(filter-out util/crew.c util/path.c util/pool.c util/stage.c util/temp.c,$(wildcard util/*.c)) \
	$(wildcard $(addprefix lib/, \
		$(addsuffix /*.c,format names parquet rtos show stats stream trace verify write))) \
	lib/filter/mask.c lib/filter/bits.c lib/filter/parse.c \
	$(addprefix tool/, \
		$(addprefix convert/,convert.c cut.c inputs.c page.c partial.c progress.c slices.c) \
		$(addprefix input/,input.c pieces.c range.c) log/piece.c \
		$(addprefix report/,json.c linux.c response.c rtos.c) \
		$(addprefix shared/,ctf2.c duration.c event_list.c loss.c message.c opt.c \
			terminal.c text.c) verify/json.c)
wasm-src += $(sort $(wildcard $(FORMATS:%=lib/format/%/*.c)))
wasm-obj := $(wasm-src:%.c=$(OUT)/wasm/obj/%.o)
wasm := $(OUT)/wasm/ktape.wasm

WASM_CFLAGS := --target=wasm32-wasi -nostdlibinc -isystem wasm/include \
	-isystem $(WASI_INCLUDE) $(if $(zstd-source),-isystem $(zstd-source)/lib) -std=gnu11 $(WARNINGS) -O2 -D_GNU_SOURCE \
	-DKTAPE_VERSION='"$(VERSION)"' \
	-I../uapi -Iinclude -I. -Ilib -I$(OUT)/wasm -I$(OUT)/obj
# A stack that is too deep must trap, and not write over data.
WASM_LDFLAGS := -Wl,--strip-all -Wl,--stack-first -Wl,-z,stack-size=1048576

wasm-flags := $(OUT)/wasm/flags
$(wasm-flags): FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(subst ','\'',$(WASM_CC) $(WASM_CFLAGS))' | cmp -s - $@ || \
		echo '$(subst ','\'',$(WASM_CC) $(WASM_CFLAGS))' >$@

$(OUT)/wasm/obj/%.o: %.c wasm/build.mk $(wasm-flags)
	$(Q)mkdir -p $(@D)
	$(Q)$(WASM_CC) $(WASM_CFLAGS) -MMD -MP -MT $@ -c -o $@ $<
$(OUT)/wasm/obj/lib/format/formats.o: $(OUT)/wasm/formats.inc
$(OUT)/wasm/obj/lib/format/html/page.o: $(OUT)/obj/viewer_head.inc \
	$(OUT)/obj/viewer_tail.inc

$(OUT)/wasm/zstd/%.o: $(zstd-source)/lib/%.c wasm/build.mk $(wasm-flags)
	$(Q)mkdir -p $(@D)
	$(Q)$(WASM_CC) --target=wasm32-wasi $(ZSTD_CFLAGS) -c -o $@ $<

$(wasm): $(wasm-obj) $(zstd-obj)
	$(Q)$(WASM_CC) --target=wasm32-wasi -O2 $(WASM_LDFLAGS) -o $@ $^

viewer-page := $(OUT)/viewer/ktape.html
viewer: $(viewer-page)
$(viewer-page): $(wasm) $(wildcard viewer/*.mjs viewer/convert/*) viewer/join
	$(Q)mkdir -p $(@D)
	$(Q)(viewer/join head convert && gzip -9nc $(wasm) | base64 && \
		viewer/join tail convert) >$@

-include $(wasm-obj:.o=.d)
