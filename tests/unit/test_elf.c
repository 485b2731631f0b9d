/*
 * test_elf.c: reading a data symbol out of a file (src/plugin/elf.c): shared objects as linkers make them, and damaged
 * in every place. The file lies at the very end of its memory, so that a sanitizer sees a read beyond it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/elf.h"
#include "plugin_fixture.h"

#include <elf.h>
#include <link.h>

static struct svmx_plugin data;
static struct svmx__text why;

static enum svmx_status read_plugin(const uint8_t *file, size_t bytes) {
    memset(&data, 0x5a, sizeof data);
    why.line[0] = '\0';
    return svmx__elf_read_symbol(file, bytes, SVMX_PLUGIN_SYMBOL, &data, sizeof data, &why);
}

/* Unchanged output, a status that says "no plugin", and a reason. */
static void expect_refused(const uint8_t *file, size_t bytes, const char *reason) {
    static const uint8_t untouched[2] = {0x5a, 0x5a};
    cr_expect_eq(read_plugin(file, bytes), SVMX_ERR_ABI);
    cr_expect(strstr(why.line, reason), "expected \"%s\" in: %s", reason, why.line);
    cr_expect_eq(memcmp(&data, untouched, 2), 0, "outputs are set on success only");
}

static uint8_t *first_abi(size_t *length) { return file_read(module_path("first_abi"), length); }

static ElfW(Ehdr) * header_of(uint8_t *file) { return (ElfW(Ehdr) *)(void *)file; }

/* The first program header of a type. */
static ElfW(Phdr) * segment_of(uint8_t *file, uint32_t type) {
    ElfW(Phdr) *segments = (ElfW(Phdr) *)(void *)(file + header_of(file)->e_phoff);
    for (unsigned i = 0; i < header_of(file)->e_phnum; i++)
        if (segments[i].p_type == type) return &segments[i];
    cr_assert_fail("no segment of type %u", type);
    return NULL;
}

static ElfW(Dyn) * dynamic_of(uint8_t *file, ElfW(Sxword) tag) {
    ElfW(Dyn) *entry = (ElfW(Dyn) *)(void *)(file + segment_of(file, PT_DYNAMIC)->p_offset);
    while (entry->d_tag != DT_NULL && entry->d_tag != tag) entry++;
    return entry->d_tag == tag ? entry : NULL;
}

/* Addresses below the first writable segment are offsets in what linkers make today; checked. */
static ElfW(Sym) * symbol_of(uint8_t *file, size_t length) {
    size_t symbols = dynamic_of(file, DT_SYMTAB)->d_un.d_ptr, strings = dynamic_of(file, DT_STRTAB)->d_un.d_ptr;
    for (size_t at = symbols; at + sizeof(ElfW(Sym)) <= length && at < strings; at += sizeof(ElfW(Sym))) {
        ElfW(Sym) *symbol = (ElfW(Sym) *)(void *)(file + at);
        if (strcmp((const char *)file + strings + symbol->st_name, SVMX_PLUGIN_SYMBOL) == 0) return symbol;
    }
    cr_assert_fail("svmx_plugin not found by the test itself");
    return NULL;
}

Test(elf, reads_what_the_plugin_says) {
    size_t length;
    uint8_t *file = first_abi(&length);
    cr_assert_eq(read_plugin(file, length), SVMX_OK, "%s", why.line);
    cr_assert_eq(data.magic, SVMX_PLUGIN_MAGIC);
    cr_assert_eq(data.abi_major, 1);
    cr_assert_str_eq(data.name, "first_abi");
    cr_assert_str_eq(data.version, "1.0");
    free(file);
}

Test(elf, copies_as_much_as_is_asked_for) {
    size_t length;
    uint64_t magic = 0;
    char more[4096];
    uint8_t *file = first_abi(&length);
    cr_assert_eq(svmx__elf_read_symbol(file, length, SVMX_PLUGIN_SYMBOL, &magic, sizeof magic, NULL), SVMX_OK);
    cr_assert_eq(magic, SVMX_PLUGIN_MAGIC);
    cr_assert_eq(svmx__elf_read_symbol(file, length, SVMX_PLUGIN_SYMBOL, more, sizeof more, &why), SVMX_ERR_ABI);
    cr_assert(strstr(why.line, "4096 are needed"), "%s", why.line);
    free(file);
}

Test(elf, alignment_of_the_file_does_not_matter) {
    size_t length;
    uint8_t *file = first_abi(&length), *moved = malloc(length + 1);
    cr_assert(moved);
    memcpy(moved + 1, file, length);
    cr_assert_eq(read_plugin(moved + 1, length), SVMX_OK, "%s", why.line);
    free(moved);
    free(file);
}

/* strip -R .shstrtab and the like: section headers are not needed. */
Test(elf, section_headers_are_not_needed) {
    size_t length;
    uint8_t *file = first_abi(&length);
    header_of(file)->e_shoff = UINT64_MAX;
    header_of(file)->e_shnum = header_of(file)->e_shstrndx = 0xffff;
    cr_assert_eq(read_plugin(file, length), SVMX_OK, "%s", why.line);
    free(file);
}

/* With the other hash table only. Linkers make one or both; DT_HASH is two words here: its head suffices. */
Test(elf, either_hash_table_will_do) {
    size_t length;
    uint8_t *file = first_abi(&length);
    ElfW(Dyn) *gnu = dynamic_of(file, DT_GNU_HASH), *sysv = dynamic_of(file, DT_HASH);
    cr_assert(gnu || sysv);
    if (gnu) {
        size_t symbols = dynamic_of(file, DT_SYMTAB)->d_un.d_ptr;
        size_t after = (size_t)((uint8_t *)symbol_of(file, length) - file) + sizeof(ElfW(Sym));
        uint32_t head[2] = {1, (uint32_t)((after - symbols) / sizeof(ElfW(Sym)))};
        memcpy(file + gnu->d_un.d_ptr, head, sizeof head);
        gnu->d_tag = DT_HASH;
    } else {
        cr_skip_test("this linker makes DT_HASH only");
    }
    cr_assert_eq(read_plugin(file, length), SVMX_OK, "%s", why.line);
    cr_assert_str_eq(data.name, "first_abi");
    free(file);
}

Test(elf, files_that_are_no_shared_objects) {
    static const uint8_t text[] = "#!/bin/sh\necho I am a plugin, honestly\n";
    expect_refused(text, sizeof text, "not a shared object");
    expect_refused(text, 0, "not a shared object");
    expect_refused((const uint8_t *)ELFMAG, SELFMAG, "cut off");
}

Test(elf, other_machines) {
    size_t length;
    uint8_t *file = first_abi(&length);
    ElfW(Half) machine = header_of(file)->e_machine;
    header_of(file)->e_machine = machine == EM_AARCH64 ? EM_X86_64 : EM_AARCH64;
    expect_refused(file, length, "another machine");
    header_of(file)->e_machine = machine;
    header_of(file)->e_ident[EI_DATA] ^= 3;
    expect_refused(file, length, "another machine");
    header_of(file)->e_ident[EI_DATA] ^= 3;
    header_of(file)->e_ident[EI_CLASS] ^= 3;
    expect_refused(file, length, "another machine");
    header_of(file)->e_ident[EI_CLASS] ^= 3;
    header_of(file)->e_type = ET_REL;
    expect_refused(file, length, "-shared");
    free(file);
}

Test(elf, symbols_that_are_not_it) {
    size_t length;
    uint8_t *file = file_read(module_path("no_symbol"), &length);
    expect_refused(file, length, "does not export the symbol 'svmx_plugin'");
    free(file);

    file = first_abi(&length);
    ElfW(Sym) *symbol = symbol_of(file, length);
    const ElfW(Sym) good = *symbol;
    symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    expect_refused(file, length, "not data");
    symbol->st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    expect_refused(file, length, "does not export");
    *symbol = good;
    symbol->st_other = STV_HIDDEN;
    expect_refused(file, length, "does not export");
    *symbol = good;
    symbol->st_shndx = SHN_UNDEF;
    expect_refused(file, length, "does not export");
    *symbol = good;
    symbol->st_size = 8;
    expect_refused(file, length, "has 8 bytes");
    *symbol = good;
    symbol->st_value = UINT64_MAX - 3;
    expect_refused(file, length, "no bytes in the file");
    *symbol = good;
    symbol->st_name = UINT32_MAX;
    expect_refused(file, length, "does not export");
    free(file);
}

Test(elf, tables_that_point_nowhere) {
    static const struct {
        ElfW(Sxword) tag;
        uint64_t value;
        const char *reason;
    } damages[] = {
        {DT_SYMTAB, UINT64_MAX - 7, "symbols"},      {DT_SYMTAB, 0, "exports no symbols"},
        {DT_STRTAB, UINT64_MAX, "names of symbols"}, {DT_STRTAB, 0, "exports no symbols"},
        {DT_STRSZ, UINT64_MAX, "names of symbols"},  {DT_STRSZ, 0, "does not export"},
    };
    size_t length;
    uint8_t *file = first_abi(&length);
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        ElfW(Dyn) *entry = dynamic_of(file, damages[i].tag);
        ElfW(Dyn) good = *entry;
        entry->d_un.d_ptr = damages[i].value;
        expect_refused(file, length, damages[i].reason);
        *entry = good;
    }
    free(file);
}

Test(elf, hash_tables_that_lie) {
    size_t length;
    uint8_t *file = first_abi(&length);
    ElfW(Dyn) *gnu = dynamic_of(file, DT_GNU_HASH), *sysv = dynamic_of(file, DT_HASH);
    if (!gnu) cr_skip_test("this linker does not make DT_GNU_HASH");
    if (sysv) sysv->d_tag = DT_DEBUG;
    uint64_t at = gnu->d_un.d_ptr;
    uint32_t head[4], wrong[4];
    memcpy(head, file + at, sizeof head);
    for (int i = 0; i < 3; i++) {
        memcpy(wrong, head, sizeof head);
        wrong[i] = UINT32_MAX;
        memcpy(file + at, wrong, sizeof wrong);
        cr_expect_eq(read_plugin(file, length), SVMX_ERR_ABI, "word %d", i);
    }
    memcpy(file + at, head, sizeof head);
    gnu->d_un.d_ptr = UINT64_MAX - 8;
    expect_refused(file, length, "hash table");
    gnu->d_tag = DT_HASH;
    expect_refused(file, length, "hash table");
    gnu->d_un.d_ptr = UINT64_MAX - 2;
    expect_refused(file, length, "hash table");
    gnu->d_un.d_ptr = at; /* read as DT_HASH it says "symoffset" symbols: too few to hold ours, or none at all */
    cr_expect_eq(read_plugin(file, length), SVMX_ERR_ABI);
    gnu->d_tag = DT_DEBUG;
    expect_refused(file, length, "exports no symbols");
    free(file);
}

Test(elf, program_headers_that_lie) {
    size_t length;
    uint8_t *file = first_abi(&length);
    const ElfW(Ehdr) good = *header_of(file);
    header_of(file)->e_phoff = UINT64_MAX - 16;
    expect_refused(file, length, "program headers");
    *header_of(file) = good;
    header_of(file)->e_phnum = 0;
    expect_refused(file, length, "program headers");
    header_of(file)->e_phnum = UINT16_MAX;
    expect_refused(file, length, "program headers");
    *header_of(file) = good;
    header_of(file)->e_phentsize = 1;
    expect_refused(file, length, "program headers");
    *header_of(file) = good;
    segment_of(file, PT_DYNAMIC)->p_filesz = UINT64_MAX;
    expect_refused(file, length, "dynamic section");
    segment_of(file, PT_DYNAMIC)->p_filesz = 8;
    expect_refused(file, length, "exports no symbols");
    free(file);
}

/* Every length: each byte that is missing is noticed, or was not needed. */
Test(elf, cut_off_anywhere) {
    size_t length, taken = 0;
    uint8_t *file = first_abi(&length);
    for (size_t cut = 0; cut < length; cut += cut < 8192 ? 1 : 61) {
        uint8_t *part = malloc(cut ? cut : 1);
        cr_assert(part);
        memcpy(part, file, cut);
        if (read_plugin(part, cut) == SVMX_OK) {
            cr_expect_str_eq(data.name, "first_abi");
            taken++;
        } else {
            cr_expect(why.line[0], "no reason at %zu", cut);
        }
        free(part);
    }
    cr_assert_lt(taken, length / 2, "half a plugin is no plugin");
    free(file);
}

/* Every byte of what is looked at, set to values that hurt. No crash, and no success without the right magic. */
Test(elf, damaged_anywhere) {
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t length, refused = 0;
    uint8_t *file = first_abi(&length);
    size_t dynamic = segment_of(file, PT_DYNAMIC)->p_offset;
    for (size_t at = 0; at < length; at++) {
        if (at == 4096 && dynamic > at) at = dynamic; /* code and unwind tables are not looked at */
        if (at > dynamic + 1024) break;
        uint8_t good = file[at];
        for (size_t i = 0; i < sizeof values; i++) {
            file[at] = values[i];
            if (read_plugin(file, length) != SVMX_OK) refused++;
        }
        file[at] = good;
    }
    cr_assert_gt(refused, 100, "the walk must have met what matters");
    cr_assert_eq(read_plugin(file, length), SVMX_OK);
    free(file);
}

/* Noise behind a good header. */
Test(elf, noise) {
    size_t length;
    uint8_t *file = first_abi(&length), noise[2048];
    uint64_t state = 88172645463325252u;
    for (int round = 0; round < 3000; round++) {
        for (size_t i = 0; i < sizeof noise; i += 8) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            memcpy(noise + i, &state, 8);
        }
        memcpy(noise, file, sizeof(ElfW(Ehdr)) + (round % 2 ? (size_t)8 * sizeof(ElfW(Phdr)) : 0));
        cr_expect_eq(read_plugin(noise, sizeof noise), SVMX_ERR_ABI);
    }
    free(file);
}
