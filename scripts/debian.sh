# SPDX-License-Identifier: GPL-2.0-only
# Debian's archives, apart from the system's own apt: sourced after lib.sh.
# shellcheck shell=bash
# shellcheck disable=SC2154	# cache is of lib.sh

archive_keys=/usr/share/keyrings/debian-archive-keyring.gpg

# mirror_of REPOSITORY: print its address, from apt's sources here: the one of a
# release (repository "main"), of its updates or of its security archive
mirror_of()
{
	local suffix=${1#main}
	# shellcheck disable=SC2016	# apt's own dollars
	apt-get indextargets --format '$(ORIGIN) $(CODENAME) $(REPO_URI)' |
		awk -v suffix="${suffix:+-$suffix}" '
			$1 == "Debian" && $2 ~ "^[a-z]*" suffix "$" {
				print $3; exit }'
}

# bare_debian SUITE ROOT [PACKAGES]: make a minimal Debian with the mirrors used
# here, and with these packages, separated by commas
bare_debian()
{
	debootstrap --variant=minbase --keyring="$archive_keys" \
		${3:+--include="$3"} "$1" "$2" "$(mirror_of main)" </dev/null &&
		write_sources "$1" "$2" &&
		cp /etc/resolv.conf "$2/etc/resolv.conf"
}

# write_sources SUITE ROOT: write the sources of a fresh Debian, with the
# mirrors used here
write_sources()
{
	local repository uri
	for repository in main updates security; do
		uri=$(mirror_of "$repository")
		[ -z "$uri" ] || echo "deb [signed-by=$archive_keys] $uri" \
			"$1$([ "$repository" = main ] || echo "-$repository") main"
	done >"$2/etc/apt/sources.list"
	# The proxy settings of this machine.
	apt-config dump | grep -E '^Acquire::(Check|http|https)' \
		>"$2/etc/apt/apt.conf.d/90here" || true
}

# no_chroot: print why no Debian can be made in a chroot here, or return 1
no_chroot()
{
	if [ "$(id -u)" -ne 0 ]; then
		echo "a chroot needs root"
	elif ! command -v debootstrap >/dev/null; then
		echo "no debootstrap"
	elif [ -z "$(mirror_of main)" ]; then
		echo "apt has no sources of Debian here"
	elif ! unshare --mount --pid --fork mount -t proc proc /proc \
		2>/dev/null; then
		echo "mounts are not allowed here"
	else
		return 1
	fi
}

# in_root ROOT COMMAND...: run it in a chroot with its own mounts and processes,
# which end with it. The folders in the array shared are there, too.
shared=()
in_root()
{
	# shellcheck disable=SC2016	# the inner shell's own
	unshare --mount --pid --fork --kill-child bash -euc '
		root=$1 shared=$2
		shift 2
		mount -t proc proc "$root/proc"
		mount -t sysfs -o ro sysfs "$root/sys"
		mount -t tmpfs tmpfs "$root/dev/shm"
		mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
		ln -sf pts/ptmx "$root/dev/ptmx"
		while read -r folder; do
			[ -n "$folder" ] || continue
			mkdir -p "$root$folder"
			mount --bind "$folder" "$root$folder"
		done <<<"$shared"
		exec chroot "$root" "$@"' \
		in_root "$1" "$(printf '%s\n' "${shared[@]}")" "${@:2}"
}

# mirror_of_suite SUITE: print the address of the archive that has it
mirror_of_suite()
{
	case $1 in
	*-security) mirror_of security ;;
	*) mirror_of main ;;
	esac
}

# apt_root SUITE ARCH: print an apt configuration for one suite, of an
# architecture and of this machine's. Each has its own, because apt gives up all
# lists of an update when the mirror has not finished copying one of them.
apt_root()
{
	local root=$cache/debian/apt/$1-$2 uri native
	uri=$(mirror_of_suite "$1")
	[ -n "$uri" ] || { echo "apt has no sources of Debian here" >&2; return 1; }
	native=$(dpkg --print-architecture)
	mkdir -p "$root"/{lists,archives}/partial
	[ -e "$root/status" ] || : >"$root/status"
	echo "deb [signed-by=$archive_keys] $uri $1 main" >"$root/sources"
	cat >"$root/apt.conf" <<-EOT
		Dir::State "$root";
		Dir::State::status "$root/status";
		Dir::Cache "$root";
		Dir::Etc::sourcelist "$root/sources";
		Dir::Etc::sourceparts "-";
		APT::Architecture "$native";
		APT::Architectures { "$native"; "$2"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
	EOT
	echo "$root/apt.conf"
}

# apt_update CONFIG: fetch its lists, at most once a day; of several callers one
# does, while the others wait
apt_update()
{
	local stamp=${1%/*}/updated
	{
		flock 7
		[ -n "$(find "$stamp" -mtime -1 2>/dev/null)" ] ||
			{ APT_CONFIG=$1 apt-get update -qq --error-on=any \
				</dev/null >&2 && touch "$stamp"; }
	} 7>"$stamp.lock"
}

# triplet_of ARCH: print GNU's name of Debian's architecture, the beginning of the
# names of its cross compiler. i386 needs none here: gcc for amd64 compiles it.
triplet_of()
{
	case $1 in
	amd64) echo x86_64-linux-gnu ;;
	arm64) echo aarch64-linux-gnu ;;
	armhf) echo arm-linux-gnueabihf ;;
	riscv64) echo riscv64-linux-gnu ;;
	s390x) echo s390x-linux-gnu ;;
	*) return 1 ;;
	esac
}
