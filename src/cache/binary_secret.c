/*
 * binary_secret.c: see binary_secret.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cache/binary_secret.h"

#include "cache/folder.h"
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

static const char name[] = ".secret";

static enum svmx_status read_it(int folder, struct svmx__secret *secret, struct svmx__text *why) {
    struct svmx__folder_file file;
    struct svmx__secret read;
    enum svmx_status status = svmx__folder_open_file(folder, name, &file, why);
    if (status != SVMX_OK) return status;
    const bool sound = file.info.st_size == sizeof read && !(file.info.st_mode & 077) &&
                       svmx__folder_read(&file, &read, sizeof read) == sizeof read;
    (void)close(file.fd);
    if (!sound) return svmx__fail(why, SVMX_ERR_PERMISSION, "%s is none: others may read it, or it is cut short", name);
    *secret = read;
    return SVMX_OK;
}

/* Another process may make one at the same time: that of the first counts, for both. So it appears by link, which replaces
 * nothing, and whole. */
static enum svmx_status make(int folder, struct svmx__text *why) {
    struct svmx__secret made;
    char temporary[SVMX__TEMPORARY_BYTES];
    if (getrandom(&made, sizeof made, 0) != (ssize_t)sizeof made || !svmx__folder_temporary(temporary))
        return svmx__fail(why, SVMX_ERR_SYSTEM, "no random bytes: %s", strerror(errno));
    enum svmx_status status = svmx__folder_write(folder, temporary, &made, sizeof made, why);
    if (status != SVMX_OK) return status;
    if (linkat(folder, temporary, folder, name, 0) != 0 && errno != EEXIST)
        status = svmx__fail(why, SVMX_ERR_SYSTEM, "cannot make a secret: %s", strerror(errno));
    (void)unlinkat(folder, temporary, 0);
    return status;
}

enum svmx_status svmx__binary_secret_read(int folder, bool create, struct svmx__secret *secret,
                                          struct svmx__text *why) {
    enum svmx_status status = read_it(folder, secret, why);
    if (!create || (status != SVMX_ERR_UNKNOWN && status != SVMX_ERR_PERMISSION)) return status;
    if (status == SVMX_ERR_PERMISSION) (void)unlinkat(folder, name, 0); /* it is there, and none */
    status = make(folder, why);
    return status == SVMX_OK ? read_it(folder, secret, why) : status;
}
