/*
 * samples.h: metrics in the text format of Prometheus, read: what `svmx top` shows, wherever it comes from.
 *
 *   svmx_tasks_total{operation="sha256",device="simd:0"} 12   ->   name, labels, value
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CLI_SAMPLES_H
#define SVMX_CLI_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>

struct cli_sample {
    const char *name, *labels; /* labels: what is between the braces; "" for none */
    double value;
};

/* All of a text, which it owns and cuts into pieces. */
struct cli_samples {
    char *text;
    struct cli_sample *list;
    size_t count;
};

/* Takes the text over (it is freed by free). False: a line is no sample; the text is freed. */
bool cli_samples_read(struct cli_samples *samples, char *text);
void cli_samples_free(struct cli_samples *samples);

struct cli_label {
    char text[128];
};
/* The value of a label; "" where the sample has none. */
struct cli_label cli_sample_label(const struct cli_sample *sample, const char *key);

/* The sum of all samples of a name whose labels are as wanted: any number of key, value, then NULL. */
double cli_samples_sum(const struct cli_samples *samples, const char *name, ...);

#endif
