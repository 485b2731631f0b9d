/*
 * check_script.h: what the check plugin shall do wrong, and when: the device part of SUPERVM_BACKENDS=check:SCRIPT.
 *
 *   script := word{;word}[*count]      word := plain | two | call@number=effect      number := 1, 2, ... | all
 *
 * `plain` does nothing wrong, `two` and *count make several devices with the same script; items after a ',' make further
 * devices with scripts of their own. Calls of open count for the instance, the others for the device:
 *
 *   open device_info memory_alloc pipeline_build pipeline_binary submit   the call with that number
 *   wait                                                                  the ticket of the submit with that number
 *   dispatch                                                              the dispatch that is computed with that number
 *
 *   backend memory unsupported system busy   fails with that status
 *   lost      fails with SVMX_ERR_DEVICE_LOST, and so does everything after it
 *   hang      (submit, wait) the ticket never finishes: wait says SVMX_TIMEOUT for ever
 *   slow      (submit, wait) the ticket takes CHECK_SLOW_NS longer
 *   block     the call itself takes CHECK_BLOCK_NS, whatever the time that it was given
 *   stuck     the call never returns
 *   abort     the call ends the process by abort(), as many a driver does; kill: by SIGKILL
 *   mute      (wait) the ticket tells no times; tick: it tells 1 ns, whatever it took
 *   bitflip   (dispatch) one bit of its first output is wrong
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CHECK_SCRIPT_H
#define CHECK_SCRIPT_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <svmx/plugin.h>

#define CHECK_SLOW_NS  UINT64_C(50000000)
#define CHECK_BLOCK_NS UINT64_C(3000000000)

enum check_call {
    CHECK_OPEN,
    CHECK_DEVICE_INFO,
    CHECK_MEMORY_ALLOC,
    CHECK_PIPELINE_BUILD,
    CHECK_SUBMIT,
    CHECK_WAIT,
    CHECK_DISPATCH,
    CHECK_PIPELINE_BINARY,
    CHECK_CALLS
};

enum check_effect {
    CHECK_NONE,
    CHECK_FAIL,
    CHECK_HANG,
    CHECK_SLOW,
    CHECK_BLOCK,
    CHECK_STUCK,
    CHECK_ABORT,
    CHECK_KILL,
    CHECK_MUTE,
    CHECK_TICK,
    CHECK_BITFLIP
};

struct check_rule {
    enum check_call call;
    uint64_t number; /* 0 = all */
    enum check_effect effect;
    enum svmx_status status; /* of CHECK_FAIL */
};

enum { CHECK_RULES = 8, CHECK_TEXT = 56 };

struct check_script {
    char text[CHECK_TEXT]; /* as the user wrote it, without *count */
    uint32_t devices;
    struct check_rule rules[CHECK_RULES];
    uint32_t rule_count;
};

static inline bool check_parse_call(const char *word, enum check_call *call) {
    static const char *const names[CHECK_CALLS] = {"open",   "device_info", "memory_alloc", "pipeline_build",
                                                   "submit", "wait",        "dispatch",     "pipeline_binary"};
    for (int i = 0; i < CHECK_CALLS; i++) {
        if (strcmp(word, names[i]) != 0) continue;
        *call = (enum check_call)i;
        return true;
    }
    return false;
}

static inline bool check_parse_effect(const char *word, struct check_rule *rule) {
    static const struct {
        const char *word;
        enum check_effect effect;
        enum svmx_status status;
    } effects[] = {{"backend", CHECK_FAIL, SVMX_ERR_BACKEND},
                   {"memory", CHECK_FAIL, SVMX_ERR_MEMORY},
                   {"unsupported", CHECK_FAIL, SVMX_ERR_UNSUPPORTED},
                   {"system", CHECK_FAIL, SVMX_ERR_SYSTEM},
                   {"busy", CHECK_FAIL, SVMX_BUSY},
                   {"lost", CHECK_FAIL, SVMX_ERR_DEVICE_LOST},
                   {"hang", CHECK_HANG, SVMX_OK},
                   {"slow", CHECK_SLOW, SVMX_OK},
                   {"block", CHECK_BLOCK, SVMX_OK},
                   {"stuck", CHECK_STUCK, SVMX_OK},
                   {"abort", CHECK_ABORT, SVMX_OK},
                   {"kill", CHECK_KILL, SVMX_OK},
                   {"mute", CHECK_MUTE, SVMX_OK},
                   {"tick", CHECK_TICK, SVMX_OK},
                   {"bitflip", CHECK_BITFLIP, SVMX_OK}};
    for (size_t i = 0; i < sizeof effects / sizeof effects[0]; i++) {
        if (strcmp(word, effects[i].word) != 0) continue;
        rule->effect = effects[i].effect;
        rule->status = effects[i].status;
        return true;
    }
    return false;
}

/* 1, 2, ...; false for anything else. */
static inline bool check_parse_number(const char *word, uint64_t *number) {
    char *end;
    if (*word < '0' || *word > '9') return false;
    *number = strtoull(word, &end, 10);
    return *end == '\0' && *number > 0;
}

/* Writes into `word`. */
static inline bool check_parse_word(char *word, struct check_script *script) {
    if (strcmp(word, "plain") == 0) return true;
    if (strcmp(word, "two") == 0) {
        script->devices = 2;
        return true;
    }
    char *at = strchr(word, '@'), *equals = at ? strchr(at, '=') : NULL;
    if (!equals || script->rule_count == CHECK_RULES) return false;
    *at = *equals = '\0';
    struct check_rule *rule = &script->rules[script->rule_count++];
    if (!check_parse_call(word, &rule->call) || !check_parse_effect(equals + 1, rule)) return false;
    return strcmp(at + 1, "all") == 0 || check_parse_number(at + 1, &rule->number);
}

/* One item; `text` is not kept. false: it is not a script, or too long. */
static inline bool check_parse_script(const char *text, size_t length, struct check_script *script) {
    char words[CHECK_TEXT], *rest, *star;
    uint64_t count;
    *script = (struct check_script){.devices = 1};
    if (length >= sizeof words) return false;
    memcpy(words, text, length);
    words[length] = '\0';
    star = strrchr(words, '*');
    if (star) {
        if (!check_parse_number(star + 1, &count) || count > 8) return false;
        script->devices = (uint32_t)count;
        *star = '\0';
    }
    strcpy(script->text, words);
    for (char *word = strtok_r(words, ";", &rest); word; word = strtok_r(NULL, ";", &rest))
        if (!check_parse_word(word, script)) return false;
    return script->text[0] != '\0';
}

#endif
