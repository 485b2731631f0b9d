/*
 * stats_folder.c: counters of an executor as a file that is written again and again (SUPERVM_STATS_DIR).
 *
 * For those who watch a program that they did not write (scripts/profile-run): whatever embeds the library says what its
 * devices do, without a server and without a change to it. Each executor has a file of its own, stats-PROCESS-NUMBER.json,
 * which is replaced as a whole while it is open and once more when it closes, and stays.
 *
 * Called by executor.c. Reads what svmx_stats_write gives to everybody, in a thread of its own: no batch pays for it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "cache/folder.h"
#include "executor/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURN_MS = 200 };

static void gather(void *user, const char *piece, size_t length) { (void)fwrite(piece, 1, length, user); }

/* All counters; free() takes the text. */
static enum svmx_status text_make(const struct svmx_executor *executor, char **text, size_t *length) {
    FILE *stream = open_memstream(text, length);
    if (!stream) return SVMX_ERR_MEMORY;
    const enum svmx_status status = svmx_stats_write(executor, SVMX_STATS_JSON, gather, stream);
    const bool whole = ferror(stream) == 0;
    if (fclose(stream) == 0 && whole && status == SVMX_OK) return SVMX_OK;
    free(*text);
    return status == SVMX_OK ? SVMX_ERR_MEMORY : status;
}

static enum svmx_status file_put(const struct svmx_executor *executor, const char *text, size_t length,
                                 struct svmx__text *why) {
    char name[40];
    int folder;
    enum svmx_status status = svmx__folder_open(executor->config.text[SVMX__STATS_DIR], true, &folder, why);
    if (status != SVMX_OK) return status;
    (void)snprintf(name, sizeof name, "stats-%ld-%u.json", (long)getpid(), executor->stats_folder.number);
    status = svmx__folder_write(folder, name, text, length, why);
    (void)close(folder);
    return status;
}

/* The log has it once, not at every turn. */
static void refuse(struct svmx_executor *executor, const char *why) {
    if (!executor->stats_folder.refused)
        svmx__log(&executor->log, SVMX_LOG_WARN, "counters are not written to stats_dir: %s", why);
    executor->stats_folder.refused = true;
}

static void file_write(struct svmx_executor *executor) {
    struct svmx__text why = {"no memory"};
    char *text;
    size_t length;
    enum svmx_status status = text_make(executor, &text, &length);
    if (status == SVMX_OK) {
        status = file_put(executor, text, length, &why);
        free(text);
    }
    if (status != SVMX_OK) refuse(executor, why.line);
}

static void *keep_writing(void *user) {
    struct svmx_executor *executor = user;
    do {
        file_write(executor);
    } while (svmx__turns_next(&executor->stats_folder.turns, TURN_MS * SVMX__NS_PER_MS));
    return NULL;
}

void svmx__stats_folder_start(struct svmx_executor *executor) {
    static _Atomic unsigned executors;
    if (strcmp(executor->config.text[SVMX__STATS_DIR], "off") == 0) return;
    /* relaxed: a number that no other executor of this process has */
    executor->stats_folder.number = atomic_fetch_add_explicit(&executors, 1, memory_order_relaxed) + 1;
    if (!svmx__turns_start(&executor->stats_folder.turns, "svmx-stats", keep_writing, executor))
        refuse(executor, "no thread for it");
}

void svmx__stats_folder_stop(struct svmx_executor *executor) {
    if (!executor->stats_folder.turns.has_thread) return;
    svmx__turns_stop(&executor->stats_folder.turns);
    pthread_mutex_lock(&executor->admission); /* who closes without waiting for a batch wants it counted as well */
    while (executor->under_way > 0) pthread_cond_wait(&executor->room, &executor->admission);
    pthread_mutex_unlock(&executor->admission);
    file_write(executor);
}
