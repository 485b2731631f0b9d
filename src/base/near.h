/*
 * near.h: a thread on the CPUs whose memory a device is nearest to.
 *
 * On a machine with several memory nodes a bus belongs to one of them. A page lies where the thread that first writes it runs;
 * staging memory is first written by its device's submitter, so a submitter that stays on the device's node has it there, and
 * copies between the two stay off the links between nodes. By the kernel's files alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_BASE_NEAR_H
#define SVMX_BASE_NEAR_H

#include <pthread.h>
#include <stdbool.h>

/* Binds a thread to those CPUs of the device's node that it may use already. `sysfs` is "/sys"; `pci` as "0000:65:00.0". False:
 * left where it was, because there is one node, the device has none, or no CPU of it may be used. */
bool svmx__near_bind(pthread_t thread, const char *sysfs, const char *pci);

#endif
