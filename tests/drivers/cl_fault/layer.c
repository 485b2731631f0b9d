/*
 * layer.c: an OpenCL layer for tests, between the loader and a real driver (OPENCL_LAYERS=this file): calls fail on
 * demand, devices say of themselves what the test wants.
 *
 *   svmx_layer_fail(name, n, error)   the n-th call of `name` from now on fails; n = 0: every call; name = NULL: none. Of
 *                                     clGetEventInfo it is the state of the event that becomes `error`, and stays so; of
 *                                     clGetEventInfo:call it is the call that fails, whatever the event is at.
 *   svmx_layer_hits()                 how many calls failed since then
 *   svmx_layer_launching()            how many calls there were that launch and ask: enqueue, set an argument, flush, look at an
 *   svmx_layer_making()               event; and how many others
 *
 *   svmx_layer_card(is)               it is a GPU with memory of its own; or as SVMX_LAYER_CARD says
 *
 *   SVMX_LAYER_ZERO=PARAM          clGetDeviceInfo answers PARAM with zeros
 *   SVMX_LAYER_IDS=khr|nv|amd      the device has a UUID and a place on the PCI bus, told by that extension
 *   SVMX_LAYER_CARD=1              it is a GPU with memory of its own
 *   SVMX_LAYER_OCLGRIND=1          see oclgrind.c
 *   SVMX_LAYER_USM=1               no SVM, but cl_intel_unified_shared_memory, made of the driver's SVM
 *
 * What changes while the driver's threads run is told by a function (dlopen of the same file finds it): a variable that
 * is set while another thread reads the environment may be freed under its eyes. Only functions that the plugin uses are
 * here. What goes wrong after the driver took a launch is in harm.c, what is alive in alive.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include "layer.h"
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_layer.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT LAYER_EXPORT

const cl_icd_dispatch *layer_next;
static cl_icd_dispatch mine;

/* ---- what the test wants ----------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards these */
static char failing[64];                                 /* "": none */
static unsigned due, calls, hits;
static cl_int failing_with;

EXPORT void svmx_layer_fail(const char *name, unsigned n, int error) {
    pthread_mutex_lock(&lock);
    (void)snprintf(failing, sizeof failing, "%s", name ? name : "");
    due = n;
    failing_with = error;
    calls = hits = 0;
    pthread_mutex_unlock(&lock);
}

EXPORT unsigned svmx_layer_hits(void) { return layer_read(&lock, &hits); }

static unsigned launching, making; /* under the lock */

EXPORT unsigned svmx_layer_launching(void) { return layer_read(&lock, &launching); }
EXPORT unsigned svmx_layer_making(void) { return layer_read(&lock, &making); }

static int launches(const char *name) {
    static const char *const starts[] = {"clEnqueue", "clSetKernelArg", "clFlush", "clGetEvent", "clSetEventCallback"};
    int found = 0;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        found |= strncmp(name, starts[i], strlen(starts[i])) == 0;
    return found && strcmp(name, "clEnqueueMapBuffer") != 0; /* which makes memory */
}

/* The error that this call shall have; CL_SUCCESS: none. */
static cl_int fault(const char *name) {
    cl_int error = CL_SUCCESS;
    pthread_mutex_lock(&lock);
    if (strchr(name, ':')) { /* counted by its name alone */
    } else if (launches(name)) {
        launching++;
    } else {
        making++;
    }
    if (strcmp(failing, name) == 0) {
        const int sticky = strcmp(name, "clGetEventInfo") == 0; /* an event that failed stays so */
        calls++;
        if (calls == due || due == 0 || (sticky && calls > due)) error = failing_with;
        if (error) hits++;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int wants(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

static int card; /* under the lock */

EXPORT void svmx_layer_card(int is) {
    pthread_mutex_lock(&lock);
    card = is;
    pthread_mutex_unlock(&lock);
}

static int is_card(void) {
    pthread_mutex_lock(&lock);
    const int is = card;
    pthread_mutex_unlock(&lock);
    return is || wants("SVMX_LAYER_CARD", "1");
}

/* ---- devices ------------------------------------------------------------------------------------------------ */

static cl_int CL_API_CALL get_platforms(cl_uint entries, cl_platform_id *platforms, cl_uint *count) {
    const cl_int error = fault("clGetPlatformIDs");
    return error ? error : layer_next->clGetPlatformIDs(entries, platforms, count);
}

static cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint entries,
                                      cl_device_id *devices, cl_uint *count) {
    const cl_int error = fault("clGetDeviceIDs");
    return error ? error : layer_next->clGetDeviceIDs(platform, type, entries, devices, count);
}

static cl_int answer(const void *data, size_t bytes, size_t room, void *value, size_t *length) {
    if (length) *length = bytes;
    if (value && room < bytes) return CL_INVALID_VALUE;
    if (value) memcpy(value, data, bytes);
    return CL_SUCCESS;
}

/* The driver's extensions and those that are made up. */
static cl_int extensions(cl_device_id device, size_t room, void *value, size_t *length) {
    char text[8192] = "";
    (void)layer_next->clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text - 200, text, NULL);
    if (wants("SVMX_LAYER_USM", "1")) strcat(text, " cl_intel_unified_shared_memory");
    if (getenv("SVMX_LAYER_IDS")) strcat(text, " cl_khr_device_uuid");
    if (wants("SVMX_LAYER_IDS", "khr")) strcat(text, " cl_khr_pci_bus_info");
    if (wants("SVMX_LAYER_IDS", "nv")) strcat(text, " cl_nv_device_attribute_query");
    if (wants("SVMX_LAYER_IDS", "amd")) strcat(text, " cl_amd_device_attribute_query");
    return answer(text, strlen(text) + 1, room, value, length);
}

/* Bus 0x41, device 2, function 1, three times over. */
static cl_int made_up_id(cl_device_info what, size_t room, void *value, size_t *length) {
    static const cl_device_pci_bus_info_khr khr = {0, 0x41, 2, 1};
    static const cl_uint nv_bus = 0x41, nv_slot = 2 << 3 | 1, nv_domain = 0;
    static const char board[] = "  Made-up   Board ";
    cl_uchar uuid[16];
    cl_device_topology_amd amd = {.pcie = {CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD, {0}, 0x41, 2, 1}};
    for (size_t i = 0; i < sizeof uuid; i++) uuid[i] = (cl_uchar)(i + 1);
    switch (what) {
    case CL_DEVICE_UUID_KHR: return answer(uuid, sizeof uuid, room, value, length);
    case CL_DEVICE_PCI_BUS_INFO_KHR: return answer(&khr, sizeof khr, room, value, length);
    case 0x4008: return answer(&nv_bus, sizeof nv_bus, room, value, length);
    case 0x4009: return answer(&nv_slot, sizeof nv_slot, room, value, length);
    case 0x400A: return answer(&nv_domain, sizeof nv_domain, room, value, length);
    case CL_DEVICE_TOPOLOGY_AMD: return answer(&amd, sizeof amd, room, value, length);
    case CL_DEVICE_BOARD_NAME_AMD: return answer(board, sizeof board, room, value, length);
    default: return CL_INVALID_VALUE;
    }
}

static cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *value,
                                      size_t *length) {
    const char *zero = getenv("SVMX_LAYER_ZERO");
    const cl_bitfield host_memory = CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL, none = 0;
    const cl_device_type gpu = CL_DEVICE_TYPE_GPU;
    const cl_bool unified = CL_FALSE;
    if (zero && strtoul(zero, NULL, 0) == what && value) {
        memset(value, 0, room);
        return CL_SUCCESS;
    }
    if (is_card() && what == CL_DEVICE_TYPE) return answer(&gpu, sizeof gpu, room, value, length);
    if (is_card() && what == CL_DEVICE_HOST_UNIFIED_MEMORY)
        return answer(&unified, sizeof unified, room, value, length);
    if (what == CL_DEVICE_EXTENSIONS) return extensions(device, room, value, length);
    if (wants("SVMX_LAYER_USM", "1") && what == CL_DEVICE_SVM_CAPABILITIES)
        return answer(&none, sizeof none, room, value, length);
    if (wants("SVMX_LAYER_USM", "1") && what == CL_DEVICE_HOST_MEM_CAPABILITIES_INTEL)
        return answer(&host_memory, sizeof host_memory, room, value, length);
    if (getenv("SVMX_LAYER_IDS") && made_up_id(what, room, value, length) == CL_SUCCESS) return CL_SUCCESS;
    return layer_next->clGetDeviceInfo(device, what, room, value, length);
}

/* ---- unified shared memory, made of SVM ---------------------------------------------------------------------- */

static void *CL_API_CALL usm_alloc(cl_context context, const cl_mem_properties_intel *properties, size_t bytes,
                                   cl_uint alignment, cl_int *error) {
    (void)properties;
    void *memory = layer_next->clSVMAlloc(context, CL_MEM_READ_WRITE | CL_MEM_SVM_FINE_GRAIN_BUFFER, bytes, alignment);
    *error = memory ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
    if (memory) (void)setenv("SVMX_LAYER_USM_USED", "1", 1);
    return layer_made(memory);
}

static cl_int CL_API_CALL usm_free(cl_context context, void *memory) {
    layer_next->clSVMFree(context, memory);
    layer_count(-1);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL usm_argument(cl_kernel kernel, cl_uint at, const void *value) {
    return layer_next->clSetKernelArgSVMPointer(kernel, at, value);
}

static void *CL_API_CALL extension_function(cl_platform_id platform, const char *name) {
    if (!wants("SVMX_LAYER_USM", "1")) return layer_next->clGetExtensionFunctionAddressForPlatform(platform, name);
    if (strcmp(name, "clHostMemAllocINTEL") == 0) return (void *)usm_alloc;
    if (strcmp(name, "clMemFreeINTEL") == 0) return (void *)usm_free;
    if (strcmp(name, "clSetKernelArgMemPointerINTEL") == 0) return (void *)usm_argument;
    if (strcmp(name, "clEnqueueMemcpyINTEL") == 0) return (void *)layer_svm_copy;
    if (strcmp(name, "clEnqueueMemFillINTEL") == 0) return (void *)layer_svm_fill;
    return NULL;
}

/* ---- calls that may fail ------------------------------------------------------------------------------------- */

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
                                             const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                                             void *user, cl_int *error) {
    const cl_int wish = fault("clCreateContext");
    if (!wish) return layer_made(layer_next->clCreateContext(properties, count, devices, notify, user, error));
    *error = wish;
    return NULL;
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties, cl_int *error) {
    const cl_int wish = fault("clCreateCommandQueue");
    if (!wish) return layer_made(layer_next->clCreateCommandQueue(context, device, properties, error));
    *error = wish;
    return NULL;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host,
                                        cl_int *error) {
    cl_int wish = fault("clCreateBuffer");
    if (!wish) wish = layer_context_error(context);
    if (!wish) return layer_made(layer_next->clCreateBuffer(context, flags, bytes, host, error));
    *error = wish;
    return NULL;
}

static void *CL_API_CALL svm_alloc(cl_context context, cl_svm_mem_flags flags, size_t bytes, cl_uint alignment) {
    if (fault("clSVMAlloc") || layer_context_error(context)) return NULL;
    return layer_made(layer_next->clSVMAlloc(context, flags, bytes, alignment));
}

static cl_program CL_API_CALL program_of_source(cl_context context, cl_uint count, const char **strings,
                                                const size_t *lengths, cl_int *error) {
    const cl_int wish = fault("clCreateProgramWithSource");
    if (!wish) return layer_made(layer_next->clCreateProgramWithSource(context, count, strings, lengths, error));
    *error = wish;
    return NULL;
}

static cl_program CL_API_CALL program_of_binary(cl_context context, cl_uint count, const cl_device_id *devices,
                                                const size_t *lengths, const unsigned char **binaries, cl_int *status,
                                                cl_int *error) {
    const cl_int wish = fault("clCreateProgramWithBinary");
    if (!wish)
        return layer_made(
            layer_next->clCreateProgramWithBinary(context, count, devices, lengths, binaries, status, error));
    *error = wish;
    return NULL;
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *devices,
                                        const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                        void *user) {
    const cl_int error = fault("clBuildProgram");
    return error ? error : layer_next->clBuildProgram(program, count, devices, options, notify, user);
}

static cl_int CL_API_CALL program_info(cl_program program, cl_program_info what, size_t room, void *value,
                                       size_t *length) {
    const cl_int error = fault("clGetProgramInfo");
    return error ? error : layer_next->clGetProgramInfo(program, what, room, value, length);
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *error) {
    const cl_int wish = fault("clCreateKernel");
    if (!wish) return layer_made(layer_next->clCreateKernel(program, name, error));
    *error = wish;
    return NULL;
}

static cl_int CL_API_CALL kernel_argument(cl_kernel kernel, cl_uint at, size_t bytes, const void *value) {
    const cl_int error = fault("clSetKernelArg");
    if (!error) layer_note_argument(kernel, at, bytes, value);
    return error ? error : layer_next->clSetKernelArg(kernel, at, bytes, value);
}

static cl_int CL_API_CALL kernel_pointer(cl_kernel kernel, cl_uint at, const void *value) {
    const cl_int error = fault("clSetKernelArgSVMPointer");
    if (!error) layer_note_argument(kernel, at, 0, value);
    return error ? error : layer_next->clSetKernelArgSVMPointer(kernel, at, value);
}

static cl_int CL_API_CALL enqueue_kernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint count,
                                         const cl_event *events, cl_event *event) {
    cl_int error = fault("clEnqueueNDRangeKernel");
    if (!error) error = layer_launch(queue);
    if (error) return error;
    layer_before_kernel(kernel);
    error = layer_next->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, count, events, event);
    layer_after(error, event);
    return layer_made_event(error, event);
}

static cl_int CL_API_CALL enqueue_write(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t bytes, const void *host, cl_uint count, const cl_event *events,
                                        cl_event *event) {
    cl_int error = fault("clEnqueueWriteBuffer");
    if (!error) error = layer_queue_error(queue);
    if (!error && layer_is_for_oclgrind())
        error = layer_write_whole(queue, buffer, offset, bytes, host, bytes, event);
    else if (!error)
        error = layer_next->clEnqueueWriteBuffer(queue, buffer, blocking, offset, bytes, host, count, events, event);
    return layer_made_event(error, event);
}

static cl_int CL_API_CALL enqueue_read(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t bytes, void *host, cl_uint count, const cl_event *events,
                                       cl_event *event) {
    cl_int error = fault("clEnqueueReadBuffer");
    if (!error) error = layer_queue_error(queue);
    if (error) return error;
    layer_before_read(host, bytes);
    error = layer_next->clEnqueueReadBuffer(queue, buffer, blocking, offset, bytes, host, count, events, event);
    layer_after(error, event);
    return layer_made_event(error, event);
}

static cl_int CL_API_CALL enqueue_fill(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                       size_t offset, size_t bytes, cl_uint count, const cl_event *events,
                                       cl_event *event) {
    cl_int error = fault("clEnqueueFillBuffer");
    if (!error) error = layer_queue_error(queue);
    if (!error && layer_is_for_oclgrind())
        error = layer_write_whole(queue, buffer, offset, bytes, pattern, pattern_bytes, event);
    else if (!error)
        error =
            layer_next->clEnqueueFillBuffer(queue, buffer, pattern, pattern_bytes, offset, bytes, count, events, event);
    return layer_made_event(error, event);
}

static void *CL_API_CALL enqueue_map(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t bytes, cl_uint count, const cl_event *events,
                                     cl_event *event, cl_int *error) {
    const cl_int wish = fault("clEnqueueMapBuffer");
    layer_be_at_home(queue);
    if (!wish)
        return layer_next->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, bytes, count, events, event,
                                              error);
    *error = wish;
    return NULL;
}

static cl_int CL_API_CALL flush(cl_command_queue queue) {
    const cl_int error = fault("clFlush");
    layer_be_at_home(queue);
    return error ? error : layer_next->clFlush(queue);
}

static cl_int CL_API_CALL event_info(cl_event event, cl_event_info what, size_t room, void *value, size_t *length) {
    const cl_int refusal = fault("clGetEventInfo:call");
    if (refusal) return refusal;
    const cl_int error = layer_next->clGetEventInfo(event, what, room, value, length);
    if (error || what != CL_EVENT_COMMAND_EXECUTION_STATUS || !value) return error;
    cl_int real;
    memcpy(&real, value, sizeof real);
    pthread_mutex_lock(&lock);
    const int early = failing_with < 0 && real > CL_COMPLETE; /* no driver says of a command that runs that it failed */
    pthread_mutex_unlock(&lock);
    const cl_int wish = early ? CL_SUCCESS : fault("clGetEventInfo"),
                 state = wish ? wish : layer_event_state(event, real);
    memcpy(value, &state, sizeof state);
    return CL_SUCCESS;
}

static cl_int CL_API_CALL event_callback(cl_event event, cl_int state,
                                         void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *user) {
    const cl_int error = fault("clSetEventCallback");
    return error ? error : layer_next->clSetEventCallback(event, state, notify, user);
}

static cl_event CL_API_CALL user_event(cl_context context, cl_int *error) {
    const cl_int wish = fault("clCreateUserEvent");
    if (!wish) return layer_made(layer_next->clCreateUserEvent(context, error));
    *error = wish;
    return NULL;
}

/* ---- the layer ------------------------------------------------------------------------------------------------ */

EXPORT CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *value, size_t *length) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    static const char name[] = "svmx test layer";
    if (what == CL_LAYER_API_VERSION) return answer(&version, sizeof version, room, value, length);
    if (what == CL_LAYER_NAME) return answer(name, sizeof name, room, value, length);
    return CL_INVALID_VALUE;
}

EXPORT CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint entries, const cl_icd_dispatch *target, cl_uint *entries_ret,
                                                   const cl_icd_dispatch **layer) {
    if (!target || !layer || !entries_ret || entries < sizeof mine / sizeof(void *)) return CL_INVALID_VALUE;
    layer_next = target;
    mine = (cl_icd_dispatch){.clGetPlatformIDs = get_platforms,
                             .clGetDeviceIDs = get_devices,
                             .clGetDeviceInfo = device_info,
                             .clGetExtensionFunctionAddressForPlatform = extension_function,
                             .clCreateContext = create_context,
                             .clCreateCommandQueue = create_queue,
                             .clCreateBuffer = create_buffer,
                             .clSVMAlloc = svm_alloc,
                             .clCreateProgramWithSource = program_of_source,
                             .clCreateProgramWithBinary = program_of_binary,
                             .clBuildProgram = build_program,
                             .clGetProgramInfo = program_info,
                             .clCreateKernel = create_kernel,
                             .clSetKernelArg = kernel_argument,
                             .clSetKernelArgSVMPointer = kernel_pointer,
                             .clEnqueueNDRangeKernel = enqueue_kernel,
                             .clEnqueueWriteBuffer = enqueue_write,
                             .clEnqueueReadBuffer = enqueue_read,
                             .clEnqueueFillBuffer = enqueue_fill,
                             .clEnqueueMapBuffer = enqueue_map,
                             .clFlush = flush,
                             .clGetEventInfo = event_info,
                             .clSetEventCallback = event_callback,
                             .clCreateUserEvent = user_event};
    layer_count_in(&mine);
    *entries_ret = sizeof mine / sizeof(void *);
    *layer = &mine;
    return CL_SUCCESS;
}
