/*
 * client.h: a small client of Level Zero, for the test driver's own suite (ze_cpu.sh): what its scenarios share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef TESTS_DRIVERS_ZE_CPU_CLIENT_H
#define TESTS_DRIVERS_ZE_CPU_CLIENT_H

#include "newer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { COUNT = 1000, BYTES = COUNT * 4, GROUP = 64 };

extern const char *client_folder; /* with *.spv */
extern ze_driver_handle_t client_driver;
extern ze_device_handle_t client_device;
extern ze_context_handle_t client_context;
extern ze_module_handle_t client_module;

/* A call that must succeed: if not, says so and ends the program with 2. */
#define MUST(call) client_must((call), #call)
void client_must(ze_result_t result, const char *call);

/* Something that must hold: if not, says so and ends the program with 1. */
#define EXPECT(condition) client_expect((condition), #condition, __FILE__, __LINE__)
void client_expect(bool condition, const char *text, const char *file, int line);

/* Driver, first device, context and the module client.spv. */
void client_open(void);
void client_close(void);
void client_open_driver(void);                      /* driver and first device only */
void client_open_context(void);                     /* the rest */
void *client_read(const char *name, size_t *bytes); /* a file of the folder */
ze_result_t client_build(const char *name, const ze_module_constants_t *constants, ze_module_handle_t *module,
                         char *log, size_t log_room);

void *client_device_memory(size_t bytes);
void *client_host_memory(size_t bytes);
void *client_shared_memory(size_t bytes);
void client_free(void *memory);
ze_kernel_handle_t client_kernel(ze_module_handle_t module, const char *name);
ze_command_list_handle_t client_list(void);
ze_command_list_handle_t client_immediate(ze_command_queue_mode_t mode, ze_command_queue_flags_t flags);
ze_command_queue_handle_t client_queue(void);

struct events {
    ze_event_pool_handle_t pool;
    ze_event_handle_t all[4];
};

void client_events_open(struct events *events, ze_event_pool_flags_t flags, const void *extension);
void client_events_close(struct events *events);

/* c = a + b: host to device, kernel, device to host. */
struct add {
    float *host_a, *host_b, *host_c;
    void *a, *b, *c;
    ze_kernel_handle_t kernel;
};

void client_add_open(struct add *add);
void client_add_close(struct add *add);
void client_add_reset(struct add *add);           /* inputs anew, no result */
unsigned client_add_wrong(const struct add *add); /* elements of the result */
void client_add_launch(const struct add *add, ze_command_list_handle_t list, ze_event_handle_t signal,
                       ze_event_handle_t wait);

/* All of it, with barriers between or without. */
void client_add_append(const struct add *add, ze_command_list_handle_t list, bool barriers, ze_event_handle_t signal);

struct scenario {
    const char *name;
    void (*play)(void);
};

extern const struct scenario client_work[], client_wrong[]; /* end with NULL */

#endif
