/*
 * outcome_write.c: results, changes, roots; and how it went.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "outcome_write.h"
#include "block_file.h"

static const char *const status_words[] = {
    [VM_RUNNING] = "running",   [VM_PARKED] = "parked", [VM_SUCCEEDED] = "succeeded",
    [VM_REVERTED] = "reverted", [VM_FAILED] = "failed", [VM_INVALID] = "invalid"};

/* ---- for people ----------------------------------------------------------------------------------------------- */

static void print_hash(FILE *out, const char *name, const uint8_t hash[32]) {
    (void)fprintf(out, "%-9s 0x", name);
    for (int i = 0; i < 32; i++) (void)fprintf(out, "%02x", hash[i]);
    (void)fputc('\n', out);
}

/* The first transaction that failed, so that one need not search. */
static void print_first_error(FILE *out, const struct outcome *outcome) {
    for (size_t i = 0; i < outcome->count; i++) {
        if (!outcome->vms[i].error[0]) continue;
        (void)fprintf(out, "first     transaction %zu %s: %s\n", i, status_words[outcome->vms[i].status],
                      outcome->vms[i].error);
        return;
    }
}

void outcome_write_text(FILE *out, const struct outcome *outcome, const char *mode, double seconds) {
    size_t by_status[VM_INVALID + 1] = {0};
    for (size_t i = 0; i < outcome->count; i++) by_status[outcome->vms[i].status]++;
    (void)fprintf(out, "block     %zu transactions: %zu succeeded, %zu reverted, %zu failed, %zu invalid\n",
                  outcome->count, by_status[VM_SUCCEEDED], by_status[VM_REVERTED], by_status[VM_FAILED],
                  by_status[VM_INVALID]);
    print_first_error(out, outcome);
    (void)fprintf(out, "gas       %llu\n", (unsigned long long)outcome->gas_used);
    print_hash(out, "results", outcome->roots.results);
    print_hash(out, "changes", outcome->roots.changes);
    (void)fprintf(out, "%-9s %.3f ms; %llu requests in %llu batches, the largest of %llu; %llu ran again\n", mode,
                  1e3 * seconds, (unsigned long long)outcome->counts.requests,
                  (unsigned long long)outcome->counts.batches, (unsigned long long)outcome->counts.largest,
                  (unsigned long long)outcome->again);
}

/* ---- JSON ----------------------------------------------------------------------------------------------------- */

static void write_logs(FILE *out, const struct vm *vm) {
    (void)fputs(", \"logs\": [", out);
    for (size_t i = 0; i < vm->log_count; i++) {
        const struct vm_log *log = &vm->logs[i];
        (void)fputs(i ? ", {\"topics\": [" : "{\"topics\": [", out);
        for (uint32_t t = 0; t < log->topic_count; t++) {
            if (t) (void)fputs(", ", out);
            write_number(out, log->topics[t]);
        }
        (void)fputs("], \"data\": ", out);
        write_hex(out, vm->log_data.data + log->data_at, log->data_length);
        (void)fputc('}', out);
    }
    (void)fputc(']', out);
}

/* Errors have no quotes or backslashes in them. */
static void write_result(FILE *out, const struct vm *vm, const uint8_t hash[32]) {
    (void)fputs("{\"hash\": ", out);
    write_hex(out, hash, 32);
    (void)fputs(", \"sender\": ", out);
    write_hex(out, vm->sender, 20);
    (void)fprintf(out, ", \"status\": \"%s\", \"gasUsed\": %llu, \"output\": ", status_words[vm->status],
                  (unsigned long long)vm->gas_used);
    write_hex(out, vm->output.data, vm->output.length);
    if (vm->error[0]) (void)fprintf(out, ", \"error\": \"%s\"", vm->error);
    if (vm->log_count) write_logs(out, vm);
    (void)fputc('}', out);
}

static void write_change(FILE *out, const struct entry *entry) {
    static const char *const kinds[] = {"storage", "balance", "nonce"};
    (void)fputs("{\"address\": ", out);
    write_hex(out, entry->place.address, 20);
    (void)fprintf(out, ", \"kind\": \"%s\", ", kinds[entry->place.kind]);
    if (entry->place.kind == PLACE_STORAGE) {
        (void)fputs("\"slot\": ", out);
        write_number(out, entry->place.slot);
        (void)fputs(", ", out);
    }
    (void)fputs("\"value\": ", out);
    write_number(out, entry->value);
    (void)fputc('}', out);
}

void outcome_write_json(FILE *out, const struct outcome *outcome, const char *mode, double seconds) {
    (void)fprintf(out, "{\"gasUsed\": %llu,\n \"resultsRoot\": ", (unsigned long long)outcome->gas_used);
    write_hex(out, outcome->roots.results, 32);
    (void)fputs(",\n \"changesRoot\": ", out);
    write_hex(out, outcome->roots.changes, 32);
    (void)fputs(",\n \"transactions\": [", out);
    for (size_t i = 0; i < outcome->count; i++) {
        (void)fputs(i ? ",\n  " : "\n  ", out);
        write_result(out, &outcome->vms[i], outcome->prepared[i].hash);
    }
    (void)fputs("],\n \"changes\": [", out);
    for (size_t i = 0; i < outcome->change_count; i++) {
        (void)fputs(i ? ",\n  " : "\n  ", out);
        write_change(out, &outcome->changes[i]);
    }
    (void)fprintf(out,
                  "],\n \"how\": {\"mode\": \"%s\", \"ms\": %.3f, \"requests\": %llu, \"batches\": %llu, "
                  "\"largest\": %llu, \"full\": %llu, \"late\": %llu, \"again\": %llu}}\n",
                  mode, 1e3 * seconds, (unsigned long long)outcome->counts.requests,
                  (unsigned long long)outcome->counts.batches, (unsigned long long)outcome->counts.largest,
                  (unsigned long long)outcome->counts.full, (unsigned long long)outcome->counts.late,
                  (unsigned long long)outcome->again);
}
