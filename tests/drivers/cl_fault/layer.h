/*
 * layer.h: what the parts of the OpenCL layer for tests share, and what a test asks of it (use.h finds it).
 *
 *   layer.c      the layer itself: calls that fail on demand, devices that say what the test wants
 *   harm.c       launches that the driver takes and that go wrong then: they hang, the device is lost, the data is not right
 *   alive.c      counts what was made of the driver and not given back
 *   oclgrind.c   keeps out of the way of faults of oclgrind's
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CL_FAULT_LAYER_H
#define CL_FAULT_LAYER_H

/* What svmx_layer_harm(harm, n) does to the n-th launch from now on; of data that is read back, to the n-th readback. */
enum layer_harm {
    LAYER_NONE,  /* no more: what hung goes on */
    LAYER_LOSE,  /* it fails with CL_DEVICE_NOT_AVAILABLE, and so does all of that context after it */
    LAYER_BREAK, /* its event ends with an error */
    LAYER_HANG,  /* no event of that context ends any more */
    LAYER_STAY,  /* the call that enqueues it does not return */
    LAYER_FLIP,  /* a bit of the results is wrong */
    LAYER_STALE, /* the results are what lay there before */
    LAYER_SHORT, /* the second half of what is read back does not arrive */
    LAYER_LONG   /* a byte behind the results is written */
};

#ifdef CL_TARGET_OPENCL_VERSION
#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <pthread.h>
#include <stdbool.h>

#define LAYER_EXPORT __attribute__((visibility("default")))

extern const cl_icd_dispatch *layer_next; /* what a call is passed on to */

/* A count that is read under its lock. */
static inline unsigned layer_read(pthread_mutex_t *lock, const unsigned *count) {
    pthread_mutex_lock(lock);
    const unsigned so_far = *count;
    pthread_mutex_unlock(lock);
    return so_far;
}

/* Adds the functions of alive.c to a table. */
void layer_count_in(cl_icd_dispatch *table);
/* So many objects more, or fewer. */
void layer_count(int more);
/* The same for an object that a call made, or not. */
void *layer_made(void *object);
cl_int layer_made_event(cl_int error, const cl_event *event);
/* Copies and fills of shared virtual memory, counted; of unified shared memory too, which this layer makes of the other. */
cl_int CL_API_CALL layer_svm_copy(cl_command_queue queue, cl_bool blocking, void *to, const void *from, size_t bytes,
                                  cl_uint count, const cl_event *events, cl_event *event);
cl_int CL_API_CALL layer_svm_fill(cl_command_queue queue, void *to, const void *pattern, size_t pattern_bytes,
                                  size_t bytes, cl_uint count, const cl_event *events, cl_event *event);

/* The error that a call on that context, or queue, has: CL_SUCCESS, or that it is lost. */
cl_int layer_context_error(cl_context context);
cl_int layer_queue_error(cl_command_queue queue);
/* A kernel is launched: the error that it shall have. May stay. */
cl_int layer_launch(cl_command_queue queue);
/* What the event says instead of `state`; spoils results that are there now. */
cl_int layer_event_state(cl_event event, cl_int state);

/* Of kernels in shared memory: where their results are is in their arguments. bytes = 0: a pointer. */
void layer_note_argument(cl_kernel kernel, cl_uint at, size_t bytes, const void *value);
/* Before a launch or a readback, and after it. A launch that has its results in shared memory only. */
void layer_before_kernel(cl_kernel kernel);
void layer_before_read(void *host, size_t bytes);
void layer_after(cl_int error, const cl_event *event);

/* Is SVMX_LAYER_OCLGRIND set? */
bool layer_is_for_oclgrind(void);
/* Then: before a call in which the driver may compute. */
void layer_be_at_home(cl_command_queue queue);
/* Then: in place of a write (pattern_bytes = bytes) or a fill. */
cl_int layer_write_whole(cl_command_queue queue, cl_mem buffer, size_t offset, size_t bytes, const void *pattern,
                         size_t pattern_bytes, cl_event *event);
#endif

#endif
