/*
 * table.c: a hash table with open addressing, the entries apart from it in one array.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "table.h"
#include "bytes.h"

_Static_assert(sizeof(struct place) == 56, "no holes: places are compared and hashed as bytes");

struct place place_of(const uint8_t address[20], enum place_kind kind, struct u256 slot) {
    struct place place = {.kind = (uint32_t)kind, .slot = slot};
    memcpy(place.address, address, 20);
    return place;
}

static uint64_t hash_of(const struct place *place) {
    uint64_t words[7], hash = 0;
    memcpy(words, place, sizeof words);
    for (int i = 0; i < 7; i++) {
        hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return hash;
}

/* Where the entry of a place stands in the index, or would. */
static uint32_t *seek(const struct table *table, const struct place *place) {
    for (uint64_t at = hash_of(place);; at++) {
        uint32_t *found = &table->index[at & (table->index_size - 1)];
        if (*found == 0 || memcmp(&table->entries[*found - 1].place, place, sizeof *place) == 0) return found;
    }
}

struct entry *table_find(const struct table *table, const struct place *place) {
    if (table->count == 0) return NULL;
    const uint32_t found = *seek(table, place);
    return found ? &table->entries[found - 1] : NULL;
}

/* At most half of the index is in use, so that looking ends soon. */
static void grow(struct table *table) {
    table->room = table->room ? 2 * table->room : 8;
    table->entries = memory_resize(table->entries, table->room, sizeof *table->entries);
    table->index_size = 2 * table->room;
    table->index = memory_resize(table->index, table->index_size, sizeof *table->index);
    memset(table->index, 0, table->index_size * sizeof *table->index);
    for (size_t i = 0; i < table->count; i++) *seek(table, &table->entries[i].place) = (uint32_t)i + 1;
}

struct entry *table_add(struct table *table, const struct place *place) {
    if (table->count == table->room) grow(table);
    struct entry *entry = &table->entries[table->count++];
    *entry = (struct entry){.place = *place};
    *seek(table, place) = (uint32_t)table->count;
    return entry;
}

void table_clear(struct table *table) {
    table->count = 0;
    if (table->index) memset(table->index, 0, table->index_size * sizeof *table->index);
}

void table_free(struct table *table) {
    free(table->entries);
    free(table->index);
    *table = (struct table){0};
}

int entry_compare(const void *a, const void *b) {
    const struct place *x = &((const struct entry *)a)->place, *y = &((const struct entry *)b)->place;
    const int by_address = memcmp(x->address, y->address, 20);
    if (by_address) return by_address;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return u256_less(x->slot, y->slot) ? -1 : u256_less(y->slot, x->slot);
}
