/*
 * device.c: which devices there are, and their context and immediate lists.
 *
 * Found once, at open, by questions only (describe.c): a machine without a driver answers in milliseconds. What costs
 * memory or time is made when a device is first used; one that is gone by then says so at that moment. A device that has
 * tiles (sub-devices) is offered as its tiles, each with limits of its own: the device as a whole would share work among
 * them by rules that nobody sees.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "levelzero.h"

#include <string.h>

enum { MAX_DRIVERS = 16, MAX_DEVICES = 64, MAX_TILES = 16 };

static const uint64_t patience_ns = UINT64_C(10000000000);

/* ---- finding ---------------------------------------------------------------------------------------------- */

/* Devices of one model and driver get numbers, in the order in which the driver lists them. */
static void tell_apart(struct lz_backend *backend, struct lz_device *device) {
    char name[sizeof device->info.name];
    unsigned same = 1;
    memcpy(name, device->info.name, sizeof name);
    for (struct lz_device *other = backend->devices; other < device; other++)
        if (strcmp(other->info.name, device->info.name) == 0) {
            memcpy(device->info.name, name, sizeof name);
            kernels_name_number(device->info.name, sizeof device->info.name, ++same);
            other = backend->devices - 1; /* the new name may be taken as well */
        }
}

static void add(struct lz_backend *backend, ze_driver_handle_t driver, ze_device_handle_t id) {
    if (backend->device_count == MAX_DEVICES) return;
    struct lz_device *device = &backend->devices[backend->device_count];
    *device = (struct lz_device){.backend = backend, .driver = driver, .id = id, .patience_ns = patience_ns};
    atomic_init(&device->lost, false);
    atomic_init(&device->stuck, false);
    const char *reason = lz_describe(device);
    if (reason) {
        lz_log(backend, SVMX_LOG_WARN, "device %s (%s) is not used: %s",
               device->info.name[0] ? device->info.name : "without a name", device->info.driver, reason);
        return;
    }
    tell_apart(backend, device);
    pthread_mutex_init(&device->lock, NULL);
    for (size_t i = 0; i < LZ_ENGINES; i++) pthread_mutex_init(&device->engines[i].lock, NULL);
    backend->device_count++;
}

static void add_tiles(struct lz_backend *backend, ze_driver_handle_t driver, ze_device_handle_t id) {
    ze_device_handle_t tiles[MAX_TILES];
    uint32_t count = 0;
    if (zeDeviceGetSubDevices(id, &count, NULL) != ZE_RESULT_SUCCESS) count = 0;
    if (count > MAX_TILES) count = MAX_TILES;
    if (count > 1 && zeDeviceGetSubDevices(id, &count, tiles) != ZE_RESULT_SUCCESS) count = 0;
    if (count <= 1) add(backend, driver, id);
    for (uint32_t i = 0; count > 1 && i < count; i++) add(backend, driver, tiles[i]);
}

static void add_driver(struct lz_backend *backend, ze_driver_handle_t driver) {
    ze_device_handle_t ids[MAX_DEVICES];
    uint32_t count = MAX_DEVICES;
    const ze_result_t result = zeDeviceGet(driver, &count, ids);
    if (result != ZE_RESULT_SUCCESS) {
        lz_log(backend, SVMX_LOG_WARN, "a driver is not used: it cannot list its devices: %s (%#x)",
               lz_result_name(result), (unsigned)result);
        return;
    }
    for (uint32_t i = 0; i < count && i < MAX_DEVICES; i++) add_tiles(backend, driver, ids[i]);
}

/* GPUs only: a neural processor takes no kernels. */
static ze_result_t list_drivers(const struct lz_backend *backend, uint32_t *count, ze_driver_handle_t *drivers) {
    struct lz_init_driver_desc desc = {.stype = (ze_structure_type_t)LZ_STRUCTURE_INIT_DRIVER_TYPE,
                                       .flags = LZ_INIT_DRIVER_GPU};
    *count = MAX_DRIVERS;
    if (backend->newer.init_drivers) return backend->newer.init_drivers(count, drivers, &desc);
    const ze_result_t result = zeInit(ZE_INIT_FLAG_GPU_ONLY);
    return result == ZE_RESULT_SUCCESS ? zeDriverGet(count, drivers) : result;
}

enum svmx_status lz_devices_find(struct lz_backend *backend) {
    ze_driver_handle_t drivers[MAX_DRIVERS];
    uint32_t count = 0;
    const ze_result_t result = list_drivers(backend, &count, drivers);
    if (result != ZE_RESULT_SUCCESS || count == 0)
        return lz_refuse(backend, SVMX_ERR_UNSUPPORTED,
                         "no Level Zero driver (%s): install the Level Zero driver of your GPU (docs/LEVEL-ZERO.md)",
                         result == ZE_RESULT_SUCCESS ? "none listed" : lz_result_name(result));
    backend->devices = backend->host->alloc(backend->host, MAX_DEVICES * sizeof *backend->devices, 64);
    if (!backend->devices) return lz_refuse(backend, SVMX_ERR_MEMORY, "no memory for devices");
    for (uint32_t i = 0; i < count && i < MAX_DRIVERS; i++) add_driver(backend, drivers[i]);
    if (backend->device_count) return SVMX_OK;
    return lz_refuse(backend, SVMX_ERR_UNSUPPORTED, "no Level Zero driver of this machine (%u) has a usable device",
                     (unsigned)count);
}

enum svmx_status lz_device_info(void *self, uint32_t index, struct svmx_device_info *info) {
    const struct lz_backend *backend = self;
    if (index >= backend->device_count) return SVMX_ERR_UNKNOWN;
    struct svmx_device_info mine = backend->devices[index].info;
    mine.size = info->size;
    memcpy(info, &mine, info->size < sizeof mine ? info->size : sizeof mine);
    return SVMX_OK;
}

/* ---- context and lists ------------------------------------------------------------------------------------ */

/* With the lock held. */
static enum svmx_status context_open(struct lz_device *device) {
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_result_t result = zeContextCreate(device->driver, &desc, &device->context);
    if (result == ZE_RESULT_SUCCESS) return SVMX_OK;
    device->context = NULL;
    return lz_fail(device, result, "no context");
}

struct lz_device *lz_device_ready(struct lz_backend *backend, uint32_t index, enum svmx_status *status) {
    if (index >= backend->device_count) {
        *status = lz_refuse(backend, SVMX_ERR_UNKNOWN, "there is no device %u", (unsigned)index);
        return NULL;
    }
    struct lz_device *device = &backend->devices[index];
    if (atomic_load_explicit(&device->lost, memory_order_relaxed)) {
        *status = lz_refuse(backend, SVMX_ERR_DEVICE_LOST, "%s: was lost before", device->info.name);
        return NULL;
    }
    pthread_mutex_lock(&device->lock);
    *status = device->context ? SVMX_OK : context_open(device);
    pthread_mutex_unlock(&device->lock);
    return *status == SVMX_OK ? device : NULL;
}

ze_result_t lz_engine_open(struct lz_device *device, struct lz_engine *engine) {
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .ordinal = engine->ordinal,
                                          .flags = device->in_order ? LZ_QUEUE_IN_ORDER : 0,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    if (engine->list) return ZE_RESULT_SUCCESS;
    const ze_result_t result = zeCommandListCreateImmediate(device->context, device->id, &desc, &engine->list);
    if (result != ZE_RESULT_SUCCESS) engine->list = NULL;
    return result;
}

static void device_close(struct lz_device *device) {
    const bool ours = !lz_is_stuck(device);
    for (size_t i = 0; i < LZ_ENGINES; i++) {
        if (device->engines[i].list && ours) (void)zeCommandListDestroy(device->engines[i].list);
        pthread_mutex_destroy(&device->engines[i].lock);
    }
    lz_slots_free(device);
    lz_events_free(device);
    if (device->context && ours) (void)zeContextDestroy(device->context);
    pthread_mutex_destroy(&device->lock);
}

void lz_devices_free(struct lz_backend *backend) {
    for (uint32_t i = 0; i < backend->device_count; i++) device_close(&backend->devices[i]);
    backend->host->release(backend->host, backend->devices);
}
