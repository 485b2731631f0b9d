/*
 * harm.c: part of the OpenCL layer for tests: launches that the driver takes and that go wrong then.
 *
 *   svmx_layer_harm(harm, n)   see layer.h; what was before is over: a call that stayed goes on, late, as a driver would
 *   svmx_layer_harmed()        how often since then
 *
 * The results of a launch are what is read back; in shared memory, what its kernel is told to write: argument 1 is the memory of
 * outputs, 3 that of the table of slots, which begins at argument 4 with the place and size of the first output. They are spoilt when
 * their event is first seen to be over, before whoever asks hears of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 300
#include "layer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all of these */
static enum layer_harm harm;
static unsigned due, hits, armed; /* due: the launch with that number, 0: it was; armed: how often */
static cl_context victim;         /* that is lost or hangs; NULL: none */
static bool breaking;             /* the launch that is being enqueued */
static cl_event broken;           /* its event; NULL: none */

/* Results that are to be spoilt. */
static struct {
    unsigned char *at, *before; /* before: what lay there; NULL: there are none */
    size_t bytes;
    bool read;      /* back, with what stands around them */
    cl_event event; /* NULL: not enqueued yet */
} spoil;

/* Where a kernel has its results. */
static struct kernel {
    struct kernel *next;
    cl_kernel kernel;
    const unsigned char *table;
    unsigned char *outputs; /* NULL: not in shared memory */
    uint64_t table_at;
} * kernels;

static void forget_spoil(void) {
    if (spoil.event) (void)layer_next->clReleaseEvent(spoil.event);
    free(spoil.before);
    memset(&spoil, 0, sizeof spoil);
}

LAYER_EXPORT void svmx_layer_harm(int wanted, unsigned n);
LAYER_EXPORT void svmx_layer_harm(int wanted, unsigned n) {
    pthread_mutex_lock(&lock);
    harm = (enum layer_harm)wanted;
    due = n;
    hits = 0;
    armed++;
    victim = NULL;
    if (broken) (void)layer_next->clReleaseEvent(broken);
    broken = NULL;
    breaking = false;
    forget_spoil();
    pthread_mutex_unlock(&lock);
}

LAYER_EXPORT unsigned svmx_layer_harmed(void);
LAYER_EXPORT unsigned svmx_layer_harmed(void) { return layer_read(&lock, &hits); }

/* Under the lock. Is this the one? */
static bool is_due(void) {
    if (due == 0 || --due) return false;
    hits++;
    return true;
}

/* ---- contexts that are lost, or hang --------------------------------------------------------------------------- */

cl_int layer_context_error(cl_context context) {
    pthread_mutex_lock(&lock);
    const bool lost = harm == LAYER_LOSE && victim == context && context;
    pthread_mutex_unlock(&lock);
    return lost ? CL_DEVICE_NOT_AVAILABLE : CL_SUCCESS;
}

static cl_context context_of(cl_command_queue queue) {
    cl_context context = NULL;
    (void)layer_next->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    return context;
}

cl_int layer_queue_error(cl_command_queue queue) { return layer_context_error(context_of(queue)); }

/* Until the next svmx_layer_harm. Under the lock, which it lets go of. */
static void stay(void) {
    const unsigned since = armed;
    while (armed == since) {
        pthread_mutex_unlock(&lock);
        (void)nanosleep(&(struct timespec){0, 1000000}, NULL);
        pthread_mutex_lock(&lock);
    }
}

cl_int layer_launch(cl_command_queue queue) {
    const cl_context context = context_of(queue);
    pthread_mutex_lock(&lock);
    if ((harm == LAYER_LOSE || harm == LAYER_HANG) && is_due()) victim = context;
    if (harm == LAYER_BREAK && is_due()) breaking = true;
    if (harm == LAYER_STAY && is_due()) stay();
    pthread_mutex_unlock(&lock);
    return layer_context_error(context);
}

/* ---- results ------------------------------------------------------------------------------------------------------ */

/* Under the lock. */
static struct kernel *kernel_of(cl_kernel kernel) {
    struct kernel *at = kernels;
    while (at && at->kernel != kernel) at = at->next;
    if (at) return at;
    at = calloc(1, sizeof *at);
    if (!at) abort();
    at->next = kernels;
    at->kernel = kernel;
    return kernels = at;
}

void layer_note_argument(cl_kernel kernel, cl_uint at, size_t bytes, const void *value) {
    pthread_mutex_lock(&lock);
    struct kernel *found = kernel_of(kernel);
    if (at == 1) found->outputs = bytes ? NULL : (unsigned char *)(uintptr_t)value;
    if (at == 3) found->table = bytes ? NULL : value;
    if (at == 4 && bytes == sizeof found->table_at) memcpy(&found->table_at, value, bytes);
    pthread_mutex_unlock(&lock);
}

/* Under the lock. Keeps what is there. */
static void before(unsigned char *at, size_t bytes, bool read) {
    if (harm < LAYER_FLIP || spoil.before || bytes == 0 || !is_due()) return;
    spoil.before = malloc(bytes);
    if (!spoil.before) abort();
    memcpy(spoil.before, at, bytes);
    spoil.at = at;
    spoil.bytes = bytes;
    spoil.read = read;
}

void layer_before_kernel(cl_kernel kernel) {
    uint64_t slot[2]; /* place and size of the first output */
    pthread_mutex_lock(&lock);
    const struct kernel *found = kernel_of(kernel);
    if (found->outputs && found->table && harm != LAYER_SHORT) {
        memcpy(slot, found->table + found->table_at, sizeof slot);
        before(found->outputs + slot[0], (size_t)slot[1], false);
    }
    pthread_mutex_unlock(&lock);
}

void layer_before_read(void *host, size_t bytes) {
    pthread_mutex_lock(&lock);
    before(host, bytes, true);
    pthread_mutex_unlock(&lock);
}

void layer_after(cl_int error, const cl_event *event) {
    pthread_mutex_lock(&lock);
    if (breaking && !error && event && layer_next->clRetainEvent(*event) == CL_SUCCESS) broken = *event;
    breaking = false;
    if (spoil.before && !spoil.event) {
        if (error || !event || layer_next->clRetainEvent(*event) != CL_SUCCESS)
            forget_spoil();
        else
            spoil.event = *event;
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock. What is read back has other bytes around the results, which stay: whether these are seen is another harm. */
static void spoil_now(void) {
    const size_t quarter = spoil.read ? spoil.bytes / 4 : 0, half = spoil.bytes / 2;
    switch (harm) {
    case LAYER_FLIP: spoil.at[half] ^= 4; break;
    case LAYER_STALE: memcpy(spoil.at + quarter, spoil.before + quarter, spoil.bytes - 2 * quarter); break;
    case LAYER_SHORT: memcpy(spoil.at + half, spoil.before + half, spoil.bytes - half); break;
    default: spoil.at[spoil.read ? spoil.bytes - 1 : spoil.bytes] ^= 0x40; break;
    }
    forget_spoil();
}

cl_int layer_event_state(cl_event event, cl_int state) {
    cl_context context = NULL;
    (void)layer_next->clGetEventInfo(event, CL_EVENT_CONTEXT, sizeof context, &context, NULL);
    pthread_mutex_lock(&lock);
    if (state == CL_COMPLETE && spoil.before && spoil.event == event) spoil_now();
    const bool is_victim = victim && victim == context;
    if (event == broken && state == CL_COMPLETE) state = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    if (is_victim && harm == LAYER_HANG && state >= CL_COMPLETE) state = CL_RUNNING;
    if (is_victim && harm == LAYER_LOSE && state == CL_COMPLETE) state = CL_DEVICE_NOT_AVAILABLE;
    pthread_mutex_unlock(&lock);
    return state;
}
