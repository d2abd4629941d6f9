# The kernel module. The source is the tree that this recipe is in.
SUMMARY = "Tracer of Linux kernel events: kernel module"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://LICENSE;md5=b234ee4d69f5fce4486a80fdaf4a4263"

inherit module
SRC_URI = "file://Kbuild file://LICENSE file://module file://uapi"
FILESEXTRAPATHS:prepend := "${@os.path.realpath(d.getVar('THISDIR') + '/../../../../..')}:"
S = "${WORKDIR}/sources"
UNPACKDIR = "${S}"

# The class calls the makefile of the source, and this has only a Kbuild.
EXTRA_OEMAKE = "-C ${STAGING_KERNEL_BUILDDIR} M=${S}"
MAKE_TARGETS = "modules"
MODULES_INSTALL_TARGET = "modules_install"

RPROVIDES:${PN} += "kernel-module-ktape"
