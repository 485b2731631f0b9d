/*
 * fill_cache.c: `fill_cache FOLDER` files three records in a cache, as executors with a GPU would. For cache.sh.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_store.h"

#include <stdio.h>
#include <svmx/types.h>

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    const struct svmx__log log = {.level = SVMX_LOG_WARN};
    struct svmx__binary_key key = {.kind = SVMX__BINARY_PIPELINE,
                                   .abi_major = 1,
                                   .abi_minor = 1,
                                   .backend = "opencl",
                                   .version = "0.1.0",
                                   .device = "Some \"GPU\"",
                                   .driver = "driver 1.2.3",
                                   .labels = SVMX_DEVICE_SHARES_CORES | SVMX_DEVICE_TEST,
                                   .op = "sha256"};
    static const char code[5000] = "code";
    struct svmx__binary_store store;
    svmx__binary_store_init(&store, argv[1], 1 << 20, &log);
    bool done = svmx__binary_store_put(&store, &key, code, sizeof code);
    key.op = "keccak256";
    key.labels = 0;
    key.variant = 3;
    done = svmx__binary_store_put(&store, &key, code, sizeof code) && done;
    key.kind = SVMX__BINARY_CHOICE;
    key.variant = 0;
    key.bucket = 16384;
    done = svmx__binary_store_put(&store, &key, "3", 1) && done;
    svmx__binary_store_fini(&store);
    if (!done) (void)fprintf(stderr, "fill_cache: no cache could be made in %s\n", argv[1]);
    return done ? 0 : 1;
}
