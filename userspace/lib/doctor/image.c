// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Find the file of the module, and read what kernel it was built for: the word behind
 * "vermagic=" in the section .modinfo of an ELF file, which may be signed and
 * compressed.
 *
 * Paths are those of the running system (@real of struct ktape_doctor), or below a folder that
 * stands for one.
 */
#include <dirent.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "util/bits.h"
#include "internal.h"

static const char signed_end[] = "~Module signature appended~\n";

/* Where a module is installed below /lib/modules/RELEASE, as depmod searches. */
static const char *const folders[] = { "updates/dkms", "updates", "extra" };
static const char *const endings[] = { "", ".xz", ".zst", ".gz" };

/**
 * struct elf - an ELF file
 * @data: its bytes
 * @len: bytes of @data
 * @wide: it has 64 bits, else 32
 * @sections: offset of the section headers
 * @section_size: bytes of a section header
 * @nr: number of section headers
 * @names: number of the section that has the names of sections
 */
struct elf {
	const unsigned char *data;
	size_t len;
	bool wide;
	uint64_t sections;
	unsigned int section_size;
	unsigned int nr;
	unsigned int names;
};

static uint64_t get_image_number(const struct elf *e, uint64_t at, unsigned int bytes)
{
	uint64_t v = 0;

	if (at > e->len || bytes > e->len - at)
		return 0;
	for (unsigned int i = bytes; i-- > 0;)
		v = v << 8 | e->data[at + i];
	return v;
}

/* Read a member of the ELF header or of the header of section @nr. */
#define ELF_HEADER(e, m)                                              \
	((e)->wide ? get_image_number(e, offsetof(Elf64_Ehdr, m),     \
				      sizeof(((Elf64_Ehdr *)0)->m)) : \
		     get_image_number(e, offsetof(Elf32_Ehdr, m),     \
				      sizeof(((Elf32_Ehdr *)0)->m)))
#define ELF_SECTION(e, nr, m)                                                          \
	((e)->wide ?                                                                   \
		 get_image_number(e,                                                   \
				  (e)->sections + (uint64_t)(nr) * (e)->section_size + \
					  offsetof(Elf64_Shdr, m),                     \
				  sizeof(((Elf64_Shdr *)0)->m)) :                      \
		 get_image_number(e,                                                   \
				  (e)->sections + (uint64_t)(nr) * (e)->section_size + \
					  offsetof(Elf32_Shdr, m),                     \
				  sizeof(((Elf32_Shdr *)0)->m)))

/* Read the header of a file.  Return: false if it is no little-endian object file. */
static bool elf_open(struct elf *e)
{
	if (e->len < sizeof(Elf64_Ehdr) || memcmp(e->data, ELFMAG, SELFMAG) ||
	    e->data[EI_DATA] != ELFDATA2LSB)
		return false;
	e->wide = e->data[EI_CLASS] == ELFCLASS64;
	e->sections = ELF_HEADER(e, e_shoff);
	e->section_size = (unsigned int)ELF_HEADER(e, e_shentsize);
	e->nr = (unsigned int)ELF_HEADER(e, e_shnum);
	e->names = (unsigned int)ELF_HEADER(e, e_shstrndx);
	return ELF_HEADER(e, e_type) == ET_REL && e->sections < e->len;
}

/* Find a section by its name.  Return: its bytes, or NULL. */
static const char *elf_section(const struct elf *e, const char *name, size_t *len)
{
	uint64_t names = ELF_SECTION(e, e->names, sh_offset);

	for (unsigned int i = 0; i < e->nr; i++) {
		uint64_t at = names + ELF_SECTION(e, i, sh_name);
		uint64_t begin = ELF_SECTION(e, i, sh_offset);
		uint64_t size = ELF_SECTION(e, i, sh_size);

		if (at > e->len || e->len - at <= strlen(name) ||
		    memcmp(e->data + at, name, strlen(name) + 1) ||
		    begin > e->len || size > e->len - begin)
			continue;
		*len = (size_t)size;
		return (const char *)e->data + begin;
	}
	return NULL;
}

/* Find the value of a key in "key=value\0key=value\0".  Return: false if there is none. */
static bool find_value(const char *info, size_t len, const char *key,
		       char *value, size_t room)
{
	size_t key_len = strlen(key);

	while (len) {
		size_t n = strnlen(info, len);

		if (n > key_len && !strncmp(info, key, key_len) && n < len) {
			snprintf(value, room, "%s", info + key_len);
			return true;
		}
		n += n < len;
		info += n;
		len -= n;
	}
	return false;
}

/* Machines of uname(2) that the module runs on, and their numbers in ELF files. */
static const struct {
	const char *name;
	unsigned int number;
} machines[] = {
	{ "x86_64", EM_X86_64 }, { "i686", EM_386 },
	{ "i586", EM_386 },	 { "aarch64", EM_AARCH64 },
	{ "armv7l", EM_ARM },	 { "armv6l", EM_ARM },
	{ "riscv64", EM_RISCV }, { "riscv32", EM_RISCV },
};

/* Is the machine of an ELF file known to be another one than this?  If not known: false. */
static bool is_other_machine(const struct ktape_doctor *d, unsigned int elf)
{
	char word[KT_DOCTOR_WORD] = "";
	struct utsname n;

	/* Kernels before 6.1 do not have this file. */
	if (!kt_doctor_word(d, "/proc/sys/kernel/arch", word) && d->real &&
	    !uname(&n))
		snprintf(word, sizeof(word), "%s", n.machine);
	for (size_t i = 0; i < KT_ARRAY_SIZE(machines); i++) {
		if (!strcmp(machines[i].name, word))
			return machines[i].number != elf;
	}
	return false;
}

/* Find out by its content what a module is, and keep what it says of itself in @d. */
static enum kt_image check_kernel_image(struct ktape_doctor *d,
					const unsigned char *data, size_t len)
{
	struct elf e = { .data = data, .len = len };
	size_t end = sizeof(signed_end) - 1, info_len = 0;
	char magic[256], version[KT_DOCTOR_WORD];
	const char *info;

	if (!elf_open(&e))
		return KT_IMAGE_FOREIGN;
	info = elf_section(&e, ".modinfo", &info_len);
	if (!info || !find_value(info, info_len, "vermagic=", magic, sizeof(magic)))
		return KT_IMAGE_FOREIGN;
	d->image_signed = len > end && !memcmp(data + len - end, signed_end, end);
	kt_text_word(magic, d->image_release);
	if (find_value(info, info_len, "version=", version, sizeof(version)))
		kt_text_word(version, d->image_version);
	if (is_other_machine(d, (unsigned int)ELF_HEADER(&e, e_machine))) {
		d->image_machine = true;
		return KT_IMAGE_FOREIGN;
	}
	if (!strcmp(d->image_release, d->release))
		return KT_IMAGE_GOOD;
	/* Such a module has a checksum of each symbol, which may fit this kernel as well. */
	return strstr(magic, " modversions") ? KT_IMAGE_LIKELY : KT_IMAGE_FOREIGN;
}

/* Look for the module in modules.dep, which names what modprobe finds. */
static bool find_listed(struct ktape_doctor *d)
{
	char *text = kt_doctor_text(d, "/lib/modules/%s/modules.dep", d->release);
	const char *line = text, *name;

	/* "updates/dkms/ktape.ko.xz: ..." */
	for (; line && *line; line = strchr(line, '\n')) {
		size_t len;

		line += *line == '\n';
		len = strcspn(line, ":\n");
		name = memrchr(line, '/', len);
		name = name ? name + 1 : line;
		if (strncmp(name, "ktape.ko", 8) || len > 256)
			continue;
		snprintf(d->path, sizeof(d->path), "/lib/modules/%s/%.*s",
			 d->release, (int)len, line);
		d->listed = true;
		break;
	}
	free(text);
	return d->listed;
}

/*
 * Look for the module of kernel @release where modules are installed, without its modules.dep.
 * Return: false with @path "" if there is none.
 */
bool kt_doctor_find_file(const struct ktape_doctor *d, const char *release,
			 char *path, size_t room)
{
	for (size_t i = 0; i < KT_ARRAY_SIZE(folders); i++) {
		for (size_t k = 0; k < KT_ARRAY_SIZE(endings); k++) {
			snprintf(path, room, "/lib/modules/%s/%s/ktape.ko%s",
				 release, folders[i], endings[k]);
			if (kt_doctor_exists(d, "%s", path))
				return true;
		}
	}
	path[0] = '\0';
	return false;
}

static void find_image(struct ktape_doctor *d)
{
	if (d->o->module) {
		snprintf(d->path, sizeof(d->path), "%s", d->o->module);
		return;
	}
	if (d->release[0] &&
	    (find_listed(d) ||
	     kt_doctor_find_file(d, d->release, d->path, sizeof(d->path))))
		return;
	/* Just built. */
	if (d->real && kt_doctor_exists(d, "./ktape.ko"))
		strcpy(d->path, "./ktape.ko");
}

/* Find a version of the module in DKMS's tree or, before "dkms add", in /usr/src. */
static void find_dkms(struct ktape_doctor *d)
{
	static const struct {
		const char *folder;
		const char *begin;
		const char *has;
	} places[] = {
		{ "/var/lib/dkms/ktape", "", "source" },
		{ "/usr/src", "ktape-", "dkms.conf" },
	};

	for (size_t i = 0; i < KT_ARRAY_SIZE(places) && !d->dkms[0]; i++) {
		size_t begin = strlen(places[i].begin);
		struct dirent *e;
		char path[4096];
		DIR *dir;

		dir = kt_doctor_path(d, path, "%s", places[i].folder) ?
			      opendir(path) :
			      NULL;
		while (dir && !d->dkms[0] && (e = readdir(dir))) {
			if (!strncmp(e->d_name, places[i].begin, begin) &&
			    kt_text_plain(e->d_name) &&
			    kt_doctor_exists(d, "%s/%s/%s", places[i].folder,
					     e->d_name, places[i].has))
				kt_text_word(e->d_name + begin, d->dkms);
		}
		if (dir)
			closedir(dir);
	}
}

/* Find the module, which kernel its file is for, and the version of its source. */
void kt_doctor_image(struct ktape_doctor *d)
{
	unsigned char *data;
	char path[4096];
	struct stat st;
	size_t len = 0;

	find_dkms(d);
	find_image(d);
	if (!d->path[0])
		return;
	if (kt_text_plain(d->path))
		strcpy(d->shown, d->path);
	data = kt_doctor_unpacked(d, d->path, KT_DOCTOR_FILE, &len);
	d->image = data ? check_kernel_image(d, data, len) : KT_IMAGE_UNREAD;
	if (kt_doctor_path(d, path, "%s", d->path) && !stat(path, &st))
		d->image_time = st.st_mtime;
	else
		d->image = KT_IMAGE_NONE;
	free(data);
}
