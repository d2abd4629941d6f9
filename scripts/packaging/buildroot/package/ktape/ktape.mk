################################################################################
#
# ktape
#
# The package of an external tree in the source of ktape itself:
#	make BR2_EXTERNAL=.../scripts/packaging/buildroot menuconfig
# For another source set KTAPE_OVERRIDE_SRCDIR in local.mk.
#
################################################################################

KTAPE_VERSION = 0.10.0
KTAPE_SITE = $(abspath $(BR2_EXTERNAL_KTAPE_PATH)/../../..)
KTAPE_SITE_METHOD = local
KTAPE_LICENSE = GPL-2.0 (module, command), \
	GPL-2.0 WITH Linux-syscall-note (uapi), LGPL-2.1+ (library)
KTAPE_LICENSE_FILES = LICENSE
KTAPE_INSTALL_STAGING = YES
KTAPE_DEPENDENCIES = liburing zstd $(if $(BR2_PACKAGE_NCURSES_WCHAR),ncurses) \
	$(if $(BR2_PACKAGE_LIBMICROHTTPD),libmicrohttpd)

KTAPE_FORMATS = $(call qstrip,$(BR2_PACKAGE_KTAPE_FORMATS))
KTAPE_USER_MAKE = $(TARGET_MAKE_ENV) $(MAKE) $(TARGET_CONFIGURE_OPTS) \
	-C $(@D)/userspace OUT=$(@D)/out/user PREFIX=/usr HOSTCC="$(HOSTCC)" \
	NCURSES=$(BR2_PACKAGE_NCURSES_WCHAR) NCURSES_LIBS=-lncursesw \
	MICROHTTPD=$(BR2_PACKAGE_LIBMICROHTTPD) \
	$(if $(KTAPE_FORMATS),FORMATS="$(KTAPE_FORMATS)")

define KTAPE_BUILD_CMDS
	$(KTAPE_USER_MAKE) all
endef

define KTAPE_INSTALL_STAGING_CMDS
	$(KTAPE_USER_MAKE) DESTDIR="$(STAGING_DIR)" install
endef

define KTAPE_INSTALL_TARGET_CMDS
	$(KTAPE_USER_MAKE) DESTDIR="$(TARGET_DIR)" install
endef

# Only a group: the udev rule gives it the devices.
define KTAPE_USERS
	- - tracing -1 * - - - Users of the kernel tracer
endef

# The last two select CONFIG_TRACEPOINTS, which has no prompt.
define KTAPE_LINUX_CONFIG_FIXUPS
	$(call KCONFIG_ENABLE_OPT,CONFIG_CRC32)
	$(call KCONFIG_ENABLE_OPT,CONFIG_FTRACE)
	$(call KCONFIG_ENABLE_OPT,CONFIG_ENABLE_DEFAULT_TRACERS)
endef

$(eval $(kernel-module))
$(eval $(generic-package))
