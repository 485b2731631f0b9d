/*
 * elf.c: see elf.h.
 *
 *   file header -> program headers -> PT_LOAD     where addresses lie in the file
 *                                  -> PT_DYNAMIC  -> DT_SYMTAB, DT_STRTAB, DT_STRSZ
 *                                                 -> DT_HASH or DT_GNU_HASH: how many symbols there are
 *
 * Every read goes through `at_offset` or `at_address`, which check it against the file's end, and copies, because nothing
 * need be aligned. Loops are bounded by the file's size: each round reads bytes further on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/elf.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>

/* What e_machine must say. 0: not known here; the dynamic linker checks it too, before it runs anything. */
#if defined(__x86_64__)
#define HOST_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define HOST_MACHINE EM_AARCH64
#elif defined(__riscv)
#define HOST_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define HOST_MACHINE EM_PPC64
#elif defined(__s390x__)
#define HOST_MACHINE EM_S390
#elif defined(__i386__)
#define HOST_MACHINE EM_386
#elif defined(__arm__)
#define HOST_MACHINE EM_ARM
#else
#define HOST_MACHINE 0
#endif

#define HOST_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define HOST_DATA  (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB)

typedef ElfW(Ehdr) file_header;
typedef ElfW(Phdr) segment_header;
typedef ElfW(Dyn) dynamic_entry;
typedef ElfW(Sym) symbol_entry;

/* Real objects have a dozen segments. Keeps the search for an address short whatever the file says. */
enum { MAX_SEGMENTS = 256 };

struct image {
    const uint8_t *file;
    size_t bytes;
    file_header header;
    struct svmx__text *why;
};

/* What the dynamic section says. Addresses; 0 = not there. */
struct dynamic {
    uint64_t symbols, strings, string_bytes, hash, gnu_hash;
};

static enum svmx_status broken(const struct image *image, const char *what) {
    return svmx__fail(image->why, SVMX_ERR_ABI, "the file is broken or cut off (%s): install it again", what);
}

static const uint8_t *at_offset(const struct image *image, uint64_t offset, uint64_t length) {
    if (offset > image->bytes || length > image->bytes - offset) return NULL;
    return image->file + offset;
}

static bool segment_read(const struct image *image, uint32_t index, segment_header *segment) {
    const uint8_t *from = at_offset(image, image->header.e_phoff + (uint64_t)index * sizeof *segment, sizeof *segment);
    if (from) memcpy(segment, from, sizeof *segment);
    return from != NULL;
}

/* Where an address of the loaded object lies in the file; NULL if it does not, as in .bss. */
static const uint8_t *at_address(const struct image *image, uint64_t address, uint64_t length) {
    segment_header segment;
    for (uint32_t i = 0; i < image->header.e_phnum && segment_read(image, i, &segment); i++) {
        if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
        uint64_t inside = address - segment.p_vaddr, offset;
        if (inside > segment.p_filesz || length > segment.p_filesz - inside) continue;
        if (__builtin_add_overflow((uint64_t)segment.p_offset, inside, &offset)) continue;
        return at_offset(image, offset, length);
    }
    return NULL;
}

static bool word_read(const struct image *image, uint64_t address, uint32_t *word) {
    const uint8_t *from = at_address(image, address, sizeof *word);
    if (from) memcpy(word, from, sizeof *word);
    return from != NULL;
}

/* ---- header ----------------------------------------------------------------------------------------------- */

static enum svmx_status check_header(struct image *image) {
    const file_header *header = &image->header;
    if (image->bytes < SELFMAG || memcmp(image->file, ELFMAG, SELFMAG) != 0)
        return svmx__fail(image->why, SVMX_ERR_ABI, "not a shared object: the file does not begin as ELF does");
    if (image->bytes < sizeof *header) return broken(image, "file header");
    memcpy(&image->header, image->file, sizeof image->header);
    if (header->e_ident[EI_CLASS] != HOST_CLASS || header->e_ident[EI_DATA] != HOST_DATA ||
        (HOST_MACHINE && header->e_machine != HOST_MACHINE))
        return svmx__fail(image->why, SVMX_ERR_ABI,
                          "built for another machine (class %u, byte order %u, machine %u): build it for this one",
                          header->e_ident[EI_CLASS], header->e_ident[EI_DATA], header->e_machine);
    if (header->e_type != ET_DYN)
        return svmx__fail(image->why, SVMX_ERR_ABI, "an ELF file, but not a shared object: link it with -shared");
    if (header->e_phentsize != sizeof(segment_header) || !header->e_phnum || header->e_phnum > MAX_SEGMENTS)
        return broken(image, "program headers");
    if (header->e_phoff > image->bytes ||
        !at_offset(image, header->e_phoff, (uint64_t)header->e_phnum * sizeof(segment_header)))
        return broken(image, "program headers");
    return SVMX_OK;
}

/* ---- dynamic section -------------------------------------------------------------------------------------- */

static void dynamic_note(struct dynamic *dynamic, const dynamic_entry *entry) {
    switch (entry->d_tag) {
    case DT_SYMTAB: dynamic->symbols = entry->d_un.d_ptr; break;
    case DT_STRTAB: dynamic->strings = entry->d_un.d_ptr; break;
    case DT_STRSZ: dynamic->string_bytes = entry->d_un.d_val; break;
    case DT_HASH: dynamic->hash = entry->d_un.d_ptr; break;
    case DT_GNU_HASH: dynamic->gnu_hash = entry->d_un.d_ptr; break;
    default: break;
    }
}

static enum svmx_status dynamic_read(const struct image *image, struct dynamic *dynamic) {
    segment_header segment;
    *dynamic = (struct dynamic){0};
    for (uint32_t i = 0; i < image->header.e_phnum && segment_read(image, i, &segment); i++) {
        if (segment.p_type != PT_DYNAMIC) continue;
        const uint8_t *from = at_offset(image, segment.p_offset, segment.p_filesz);
        if (!from) return broken(image, "dynamic section");
        dynamic_entry entry;
        for (uint64_t at = 0; segment.p_filesz - at >= sizeof entry; at += sizeof entry) {
            memcpy(&entry, from + at, sizeof entry);
            if (entry.d_tag == DT_NULL) break;
            dynamic_note(dynamic, &entry);
        }
    }
    if (!dynamic->symbols || !dynamic->strings || !(dynamic->hash || dynamic->gnu_hash))
        return broken(image, "it exports no symbols");
    return SVMX_OK;
}

/* ---- how many symbols ------------------------------------------------------------------------------------- */

/* DT_HASH: [buckets][symbols]... */
static bool count_by_hash(const struct image *image, uint64_t hash, uint64_t *count) {
    uint32_t symbols;
    if (hash > UINT64_MAX - 8 || !word_read(image, hash + 4, &symbols)) return false;
    *count = symbols;
    return true;
}

/*
 * DT_GNU_HASH: [buckets][first][bloom words][shift] bloom... bucket... chain...
 * A bucket holds the first symbol of its chain; a chain has a word for each symbol from `first` on, whose lowest bit
 * ends it. So the last symbol ends the chain of the highest bucket. Sums may wrap around; the reads are checked.
 */
static bool count_by_gnu_hash(const struct image *image, uint64_t table, uint64_t *count) {
    uint32_t head[4], last = 0, word = 0;
    const uint8_t *from = at_address(image, table, sizeof head);
    if (!from) return false;
    memcpy(head, from, sizeof head);
    uint64_t buckets = table + sizeof head + (uint64_t)head[2] * sizeof(ElfW(Addr));
    uint64_t chains = buckets + (uint64_t)head[0] * 4;
    from = at_address(image, buckets, (uint64_t)head[0] * 4);
    if (!from) return false;
    for (uint32_t i = 0; i < head[0]; i++) {
        memcpy(&word, from + (size_t)i * 4, 4);
        if (word > last) last = word;
    }
    *count = 0;
    if (last < head[1]) return true; /* all buckets are empty */
    do {
        if (!word_read(image, chains + (uint64_t)(last - head[1]) * 4, &word)) return false;
    } while (!(word & 1) && last++ < UINT32_MAX);
    *count = (uint64_t)last + 1;
    return true;
}

/* ---- the symbol ------------------------------------------------------------------------------------------- */

/* Is it the definition that dlsym would find? */
static bool symbol_is(const symbol_entry *candidate, const char *strings, uint64_t string_bytes, const char *symbol) {
    size_t length = strlen(symbol) + 1;
    unsigned binding = ELF64_ST_BIND(candidate->st_info), visibility = ELF64_ST_VISIBILITY(candidate->st_other);
    if (candidate->st_shndx == SHN_UNDEF || binding == STB_LOCAL) return false;
    if (visibility == STV_HIDDEN || visibility == STV_INTERNAL) return false;
    if (candidate->st_name >= string_bytes || string_bytes - candidate->st_name < length) return false;
    return memcmp(strings + candidate->st_name, symbol, length) == 0;
}

static enum svmx_status symbol_find(const struct image *image, const struct dynamic *dynamic, const char *symbol,
                                    symbol_entry *found) {
    uint64_t count = 0;
    bool counted = dynamic->hash ? count_by_hash(image, dynamic->hash, &count)
                                 : count_by_gnu_hash(image, dynamic->gnu_hash, &count);
    if (!counted) return broken(image, "hash table");
    const char *strings = (const char *)at_address(image, dynamic->strings, dynamic->string_bytes);
    if (!strings) return broken(image, "names of symbols");
    const uint8_t *symbols = at_address(image, dynamic->symbols, count * sizeof *found); /* count < 2^33 */
    if (!symbols) return broken(image, "symbols");
    for (uint64_t i = 0; i < count; i++) {
        memcpy(found, symbols + i * sizeof *found, sizeof *found);
        if (symbol_is(found, strings, dynamic->string_bytes, symbol)) return SVMX_OK;
    }
    return svmx__fail(image->why, SVMX_ERR_ABI,
                      "not a plugin: it does not export the symbol '%s' (is it static, or hidden?)", symbol);
}

static enum svmx_status symbol_copy(const struct image *image, const symbol_entry *found, const char *symbol, void *out,
                                    size_t out_bytes) {
    unsigned type = ELF64_ST_TYPE(found->st_info);
    if (type != STT_OBJECT && type != STT_NOTYPE)
        return svmx__fail(image->why, SVMX_ERR_ABI, "'%s' is not data: define it as a struct", symbol);
    if (found->st_size < out_bytes)
        return svmx__fail(image->why, SVMX_ERR_ABI, "'%s' has %llu bytes, %zu are needed", symbol,
                          (unsigned long long)found->st_size, out_bytes);
    const uint8_t *from = at_address(image, found->st_value, out_bytes);
    if (!from)
        return svmx__fail(image->why, SVMX_ERR_ABI, "'%s' has no bytes in the file: initialise it where it is defined",
                          symbol);
    memcpy(out, from, out_bytes);
    return SVMX_OK;
}

enum svmx_status svmx__elf_read_symbol(const uint8_t *file, size_t bytes, const char *symbol, void *out,
                                       size_t out_bytes, struct svmx__text *why) {
    struct image image = {.file = file, .bytes = bytes, .why = why};
    struct dynamic dynamic;
    symbol_entry found;
    enum svmx_status status = check_header(&image);
    if (status == SVMX_OK) status = dynamic_read(&image, &dynamic);
    if (status == SVMX_OK) status = symbol_find(&image, &dynamic, symbol, &found);
    if (status == SVMX_OK) status = symbol_copy(&image, &found, symbol, out, out_bytes);
    return status;
}
