/*
 * selection.c: see selection.h. Parsing first, then the three questions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "plugin/selection.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A piece of the user's text. */
struct piece {
    const char *at;
    size_t length;
};

/* Where the parser stands; what messages point at. */
struct cursor {
    const char *text, *origin;
    struct piece item; /* without the blanks around it */
    uint32_t number;   /* of the item, from 1 */
    struct svmx__text *why;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

static struct piece trim(struct piece piece) {
    while (piece.length && is_blank(*piece.at)) piece.at++, piece.length--;
    while (piece.length && is_blank(piece.at[piece.length - 1])) piece.length--;
    return piece;
}

static bool piece_is(struct piece piece, const char *word) {
    return piece.length == strlen(word) && memcmp(piece.at, word, piece.length) == 0;
}

static enum svmx_status refuse(const struct cursor *cursor, const char *reason) {
    int shown = cursor->item.length > 80 ? 80 : (int)cursor->item.length;
    return svmx__fail(cursor->why, SVMX_ERR_ARGUMENT, "%s: item %u at character %u, '%.*s': %s", cursor->origin,
                      (unsigned)cursor->number, (unsigned)(cursor->item.at - cursor->text) + 1, shown, cursor->item.at,
                      reason);
}

/* ---- names ------------------------------------------------------------------------------------------------ */

static bool name_chars_ok(struct piece name) {
    for (size_t i = 0; i < name.length; i++) {
        char c = name.at[i];
        if (!((c >= 'a' && c <= 'z') || is_digit(c) || c == '_')) return false;
    }
    return name.length > 0;
}

bool svmx__backend_name_ok(const char *name) {
    struct piece piece = {name, strlen(name)};
    return name_chars_ok(piece) && piece.length < 32 && !piece_is(piece, "none") && !piece_is(piece, "stop");
}

static enum svmx_status parse_name(const struct cursor *cursor, struct piece name, char out[32]) {
    if (name.length == 0) return refuse(cursor, "a backend's name is missing");
    if (piece_is(name, "none")) return refuse(cursor, "'none' stands alone: it means the reference code only");
    if (piece_is(name, "stop")) return refuse(cursor, "'stop' stands last, without a sign, a device or '^'");
    if (!name_chars_ok(name)) return refuse(cursor, "a name has lower-case letters, digits and '_' only");
    if (name.length >= 32) return refuse(cursor, "a name has at most 31 characters");
    memcpy(out, name.at, name.length);
    out[name.length] = '\0';
    return SVMX_OK;
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

/* "03:00.0" or "0000:03:00.0": bus, device and function in hex. */
static bool is_pci(const char *text) {
    static const char *const forms[] = {"hh:hh.h", "hhhh:hh:hh.h"};
    for (size_t f = 0; f < 2; f++) {
        size_t i = 0;
        while (forms[f][i] && text[i] && (forms[f][i] == 'h' ? is_hex(text[i]) : text[i] == forms[f][i])) i++;
        if (!forms[f][i] && !text[i]) return true;
    }
    return false;
}

/* A device text taken apart: base and, after the last '*', a count. "*" alone is a base. */
struct device_text {
    char base[64];
    bool counted;
    uint32_t count;
};

/* Up to nine digits, so that it fits. */
static bool parse_number(const char *text, uint32_t *number) {
    uint32_t value = 0;
    size_t length = 0;
    for (; is_digit(text[length]); length++) {
        if (length == 9) return false;
        value = value * 10 + (uint32_t)(text[length] - '0');
    }
    if (length == 0 || text[length]) return false;
    *number = value;
    return true;
}

/* false: a count that is no number from 1 on, or nothing before it. */
static bool device_split(const char *text, struct device_text *parts) {
    *parts = (struct device_text){.count = UINT32_MAX};
    strncpy(parts->base, text, sizeof parts->base - 1);
    char *star = strrchr(parts->base, '*');
    if (!star || strcmp(parts->base, "*") == 0) return true;
    *star = '\0';
    parts->counted = true;
    return star != parts->base && parse_number(star + 1, &parts->count) && parts->count > 0;
}

static enum svmx_status parse_device(const struct cursor *cursor, struct piece device, char out[64]) {
    struct device_text parts;
    if (device.length == 0) return refuse(cursor, "a device is missing after ':'; leave ':' away for all of them");
    if (device.length >= 64) return refuse(cursor, "a device has at most 63 characters");
    for (size_t i = 0; i < device.length; i++)
        if ((unsigned char)device.at[i] < ' ' || device.at[i] == 127)
            return refuse(cursor, "a device has no control characters");
    memcpy(out, device.at, device.length);
    out[device.length] = '\0';
    if (strchr(out, ':') && !is_pci(out))
        return refuse(cursor, "':' in a device is for PCI ids only, such as 0000:03:00.0");
    if (!device_split(out, &parts)) return refuse(cursor, "after '*' comes how many devices, 1 or more");
    return SVMX_OK;
}

/* ---- items ------------------------------------------------------------------------------------------------ */

/* Against the items before it. */
static enum svmx_status check_against(const struct cursor *cursor, const struct svmx__selection *selection,
                                      const struct svmx__selection_item *item) {
    for (uint32_t i = 0; i < selection->item_count; i++) {
        const struct svmx__selection_item *other = &selection->items[i];
        if (strcmp(other->name, item->name) != 0) continue;
        if (other->excluded != item->excluded)
            return refuse(cursor, "this backend is both wanted and left out; drop one of the two");
        if (strcmp(other->device, item->device) == 0) return refuse(cursor, "the same stands before already");
    }
    return SVMX_OK;
}

static enum svmx_status check_reference(const struct cursor *cursor, const struct svmx__selection_item *item) {
    if (strcmp(item->name, SVMX__REFERENCE_NAME) != 0) return SVMX_OK;
    if (item->excluded) return refuse(cursor, "the reference code cannot be left out");
    if (item->device[0]) return refuse(cursor, "the reference code has no devices to choose from");
    return SVMX_OK;
}

static enum svmx_status parse_item(const struct cursor *cursor, bool all_but, struct svmx__selection_item *item) {
    struct piece name = cursor->item;
    *item = (struct svmx__selection_item){.excluded = all_but};
    if (name.length == 0) return refuse(cursor, "an item is empty: a ',' too many or a name too few");
    if (*name.at == '^') return refuse(cursor, "'^' stands once, before the first name, and counts for all names");
    if (*name.at == '-' || *name.at == '+') {
        if (all_but) return refuse(cursor, "after '^' come plain names");
        item->excluded = *name.at == '-';
        item->required = *name.at == '+';
        name.at++, name.length--;
    }
    const char *colon = memchr(name.at, ':', name.length);
    struct piece device = {NULL, 0};
    if (colon) {
        device = trim((struct piece){colon + 1, (size_t)(name.at + name.length - colon - 1)});
        name.length = (size_t)(colon - name.at);
    }
    enum svmx_status status = parse_name(cursor, name, item->name);
    if (status != SVMX_OK) return status;
    if (colon && item->excluded) return refuse(cursor, "a backend is left out as a whole, without ':' and a device");
    if (colon) status = parse_device(cursor, device, item->device);
    return status == SVMX_OK ? check_reference(cursor, item) : status;
}

static size_t count_items(const char *text) {
    size_t count = 1;
    for (; *text; text++) count += *text == ',';
    return count;
}

/* `rest`: what follows '^', or all of it. */
static enum svmx_status parse_items(struct cursor *cursor, const char *rest, bool all_but,
                                    struct svmx__selection *selection) {
    for (;;) {
        size_t length = strcspn(rest, ",");
        bool last = rest[length] == '\0';
        cursor->item = trim((struct piece){rest, length});
        cursor->number++;
        if (last && !all_but && piece_is(cursor->item, "stop")) {
            selection->stop = true;
            return SVMX_OK;
        }
        struct svmx__selection_item *item = &selection->items[selection->item_count];
        enum svmx_status status = parse_item(cursor, all_but, item);
        if (status == SVMX_OK) status = check_against(cursor, selection, item);
        if (status != SVMX_OK) return status;
        selection->item_count++;
        if (last) return SVMX_OK;
        rest += length + 1;
    }
}

enum svmx_status svmx__selection_parse(struct svmx__selection *selection, const char *text, const char *origin,
                                       struct svmx__text *why) {
    struct cursor cursor = {.text = text, .origin = origin, .why = why};
    struct svmx__selection parsed = {.origin = origin};
    struct piece all = trim((struct piece){text, strlen(text)});
    if (all.length == 0 || piece_is(all, "none")) {
        parsed.none = all.length != 0;
        *selection = parsed;
        return SVMX_OK;
    }
    parsed.items = calloc(count_items(text), sizeof *parsed.items);
    if (!parsed.items) return svmx__fail(why, SVMX_ERR_MEMORY, "%s: no memory for its items", origin);
    bool all_but = *all.at == '^';
    enum svmx_status status = parse_items(&cursor, all_but ? all.at + 1 : text, all_but, &parsed);
    if (status == SVMX_OK)
        *selection = parsed;
    else
        svmx__selection_free(&parsed);
    return status;
}

void svmx__selection_free(struct svmx__selection *selection) {
    free(selection->items);
    *selection = (struct svmx__selection){0};
}

/* ---- questions -------------------------------------------------------------------------------------------- */

enum svmx__wish svmx__selection_backend(const struct svmx__selection *selection, const char *name, bool on_request,
                                        uint32_t *rank) {
    uint32_t place = selection->item_count;
    bool demanded = false;
    for (uint32_t i = selection->item_count; i-- > 0;) {
        const struct svmx__selection_item *item = &selection->items[i];
        if (strcmp(item->name, name) != 0) continue;
        if (item->excluded) return SVMX__UNWANTED;
        place = i;
        demanded |= item->required;
    }
    bool reference = strcmp(name, SVMX__REFERENCE_NAME) == 0;
    bool named = place < selection->item_count;
    if (!reference && !named && (selection->none || selection->stop || on_request)) return SVMX__UNWANTED;
    *rank = reference ? UINT32_MAX : place;
    return demanded ? SVMX__DEMANDED : SVMX__WANTED;
}

static bool contains_nocase(const char *text, const char *part) {
    size_t length = strlen(part);
    for (; strlen(text) >= length; text++)
        if (strncasecmp(text, part, length) == 0) return true;
    return false;
}

/* "03:00.0" means domain 0000. */
static bool pci_equal(const char *wanted, const char *pci) {
    if (strcasecmp(wanted, pci) == 0) return true;
    return strlen(wanted) == 7 && strncmp(pci, "0000:", 5) == 0 && strcasecmp(wanted, pci + 5) == 0;
}

static bool device_matches(const struct device_text *wanted, uint32_t index, const struct svmx_device_info *info) {
    uint32_t number;
    const char *base = wanted->base;
    if (base[0] == '\0' || strcmp(base, "*") == 0) return true;
    if (strcmp(base, "gpu") == 0) return info->kind == SVMX_DEVICE_GPU;
    if (strcmp(base, "cpu") == 0) return info->kind == SVMX_DEVICE_CPU;
    if (is_pci(base)) return pci_equal(base, info->pci);
    if (!wanted->counted && parse_number(base, &number)) return index == number;
    return contains_nocase(info->name, base);
}

bool svmx__selection_device(const struct svmx__selection *selection, const char *backend, uint32_t index,
                            const struct svmx_device_info *info, uint32_t *taken, uint32_t *rank) {
    bool named = false;
    *rank = selection->item_count;
    if (strcmp(backend, SVMX__REFERENCE_NAME) == 0) {
        *rank = UINT32_MAX;
        return true;
    }
    for (uint32_t i = 0; i < selection->item_count; i++) {
        const struct svmx__selection_item *item = &selection->items[i];
        struct device_text wanted;
        if (item->excluded || strcmp(item->name, backend) != 0) continue;
        named = true;
        if (!device_split(item->device, &wanted)) continue; /* never: parse_device refused such */
        if (taken[i] >= wanted.count || !device_matches(&wanted, index, info)) continue;
        taken[i]++;
        *rank = i;
        return true;
    }
    return !named;
}

bool svmx__selection_devices_text(const struct svmx__selection *selection, const char *backend, char *out,
                                  size_t out_bytes) {
    size_t used = 0;
    for (uint32_t i = 0; i < selection->item_count; i++) {
        const struct svmx__selection_item *item = &selection->items[i];
        size_t length = strlen(item->device);
        if (length == 0 || strcmp(item->name, backend) != 0) continue;
        if (used + length + 2 > out_bytes) return false;
        if (used) out[used++] = ',';
        memcpy(out + used, item->device, length);
        used += length;
    }
    if (used) out[used] = '\0';
    return used > 0;
}
