# The command and the library. The source is the tree that this recipe is in.
SUMMARY = "Tracer of Linux kernel events: command and library"
LICENSE = "GPL-2.0-only & LGPL-2.1-or-later"
LIC_FILES_CHKSUM = "file://LICENSE;md5=b234ee4d69f5fce4486a80fdaf4a4263"

inherit externalsrc pkgconfig python3-dir useradd
EXTERNALSRC = "${@os.path.realpath(d.getVar('THISDIR') + '/../../../../..')}"
EXTERNALSRC_BUILD = "${WORKDIR}/build"

DEPENDS = "liburing ncurses zstd"
RRECOMMENDS:${PN} = "kernel-module-ktape"

# Formats besides the native one, separated by spaces; empty for all.
KTAPE_FORMATS ?= ""

EXTRA_OEMAKE = "-C ${S}/userspace OUT=${B} MICROHTTPD= PREFIX=${prefix} BINDIR=${bindir} \
    LIBDIR=${libdir} INCLUDEDIR=${includedir} DATADIR=${datadir} MANDIR=${mandir} \
    SYSDIR=${nonarch_libdir} UNITDIR=${systemd_system_unitdir} \
    PYTHONDIR=${PYTHON_SITEPACKAGES_DIR} HOSTCC='${BUILD_CC} ${BUILD_LDFLAGS}' \
    ${@'FORMATS="%s"' % d.getVar('KTAPE_FORMATS') if d.getVar('KTAPE_FORMATS') else ''}"

do_compile() {
    oe_runmake all
}

do_install() {
    oe_runmake DESTDIR=${D} install
}

USERADD_PACKAGES = "${PN}"
GROUPADD_PARAM:${PN} = "--system tracing"

PACKAGES =+ "lib${BPN} python3-${BPN}"
FILES:python3-${BPN} = "${PYTHON_SITEPACKAGES_DIR}"
RDEPENDS:python3-${BPN} = "lib${BPN} python3-core python3-ctypes python3-json"
FILES:lib${BPN} = "${libdir}/libktape.so.*"
FILES:${PN} += "${nonarch_libdir} ${systemd_system_unitdir} ${datadir}"
