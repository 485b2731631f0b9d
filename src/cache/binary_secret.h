/*
 * binary_secret.h: the secret that files of the binary store are sealed with: a file `.secret` of its folder, 0600, 16 random
 * bytes. What was sealed with another one was filed by another user, or copied from another machine.
 *
 * Called by binary_store.c and binary_list.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_CACHE_BINARY_SECRET_H
#define SVMX_CACHE_BINARY_SECRET_H

#include "base/text.h"
#include "cache/seal.h"

/* Reads it from the folder, and with `create` makes it where it is missing or no secret: others may read it, or it is not
 * 16 bytes long. UNKNOWN: there is none; PERMISSION, SYSTEM. */
enum svmx_status svmx__binary_secret_read(int folder, bool create, struct svmx__secret *secret, struct svmx__text *why);

#endif
