/*
 * describe.c: what a device is: its name, limits and flags, as the core wants to know them.
 *
 * Questions to the driver only: nothing is made, so that all devices of a machine are described in milliseconds. What a
 * driver says is believed only where nothing hangs on it: an operation serves after its known answers, and a device
 * whose own words make no sense is not used. Called by device.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "opencl.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* Not in the headers of Debian 12. */
enum { PCI_BUS_ID_NV = 0x4008, PCI_SLOT_ID_NV = 0x4009, PCI_DOMAIN_ID_NV = 0x400A };

/* ---- text ------------------------------------------------------------------------------------------------- */

bool ocl_has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return true;
    return false;
}

/* ---- questions -------------------------------------------------------------------------------------------- */

static bool ask(cl_device_id id, cl_device_info what, void *answer, size_t bytes) {
    return clGetDeviceInfo(id, what, bytes, answer, NULL) == CL_SUCCESS;
}

static uint64_t ask_u64(cl_device_id id, cl_device_info what) {
    cl_ulong value = 0;
    return ask(id, what, &value, sizeof value) ? value : 0;
}

static uint32_t ask_u32(cl_device_id id, cl_device_info what) {
    cl_uint value = 0;
    return ask(id, what, &value, sizeof value) ? value : 0;
}

static void ask_text(cl_device_id id, cl_device_info what, char *text, size_t bytes) {
    if (!ask(id, what, text, bytes)) text[0] = '\0'; /* longer than the room that there is: an error as well */
    text[bytes - 1] = '\0';
}

/* ---- names ------------------------------------------------------------------------------------------------ */

/* AMD's name is that of an instruction set (gfx1030): the board's says more. */
static void find_name(struct ocl_device *device, const char *extensions) {
    char raw[256] = "";
    if (ocl_has_word(extensions, "cl_amd_device_attribute_query"))
        ask_text(device->id, CL_DEVICE_BOARD_NAME_AMD, raw, sizeof raw);
    if (!raw[0]) ask_text(device->id, CL_DEVICE_NAME, raw, sizeof raw);
    kernels_name_tidy(device->info.name, sizeof device->info.name, raw);
}

static void find_driver(struct ocl_device *device, const char *platform) {
    char version[256], raw[400];
    ask_text(device->id, CL_DRIVER_VERSION, version, sizeof version);
    (void)snprintf(raw, sizeof raw, "%s %s", platform, version);
    kernels_name_tidy(device->info.driver, sizeof device->info.driver, raw);
}

static void find_pci(struct ocl_device *device, const char *extensions) {
    cl_device_pci_bus_info_khr at = {0};
    bool known = false;
    if (ocl_has_word(extensions, "cl_khr_pci_bus_info"))
        known = ask(device->id, CL_DEVICE_PCI_BUS_INFO_KHR, &at, sizeof at);
    if (!known && ocl_has_word(extensions, "cl_nv_device_attribute_query")) {
        cl_uint slot = 0;
        known = ask(device->id, PCI_BUS_ID_NV, &at.pci_bus, sizeof at.pci_bus) &&
                ask(device->id, PCI_SLOT_ID_NV, &slot, sizeof slot);
        (void)ask(device->id, PCI_DOMAIN_ID_NV, &at.pci_domain, sizeof at.pci_domain); /* 0 on older drivers */
        at.pci_device = slot >> 3;
        at.pci_function = slot & 7;
    }
    if (!known && ocl_has_word(extensions, "cl_amd_device_attribute_query")) {
        cl_device_topology_amd topology;
        known = ask(device->id, CL_DEVICE_TOPOLOGY_AMD, &topology, sizeof topology) &&
                topology.raw.type == CL_DEVICE_TOPOLOGY_TYPE_PCIE_AMD;
        if (known)
            at = (cl_device_pci_bus_info_khr){0, (cl_uchar)topology.pcie.bus, (cl_uchar)topology.pcie.device,
                                              (cl_uchar)topology.pcie.function};
    }
    if (known)
        (void)snprintf(device->info.pci, sizeof device->info.pci, "%04x:%02x:%02x.%x", at.pci_domain & 0xffff,
                       at.pci_bus & 0xff, at.pci_device & 0x1f, at.pci_function & 7);
}

/* ---- limits and flags ------------------------------------------------------------------------------------- */

static uint32_t kind_of(cl_device_type type) {
    if (type & CL_DEVICE_TYPE_CPU) return SVMX_DEVICE_CPU;
    if (type & CL_DEVICE_TYPE_GPU) return SVMX_DEVICE_GPU;
    return SVMX_DEVICE_ACCELERATOR;
}

/* Rusticl reports eight units on two cores. */
static uint32_t units_in_use(uint32_t kind, uint32_t reported) {
    cpu_set_t mask;
    const int cores = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 0;
    return kind == SVMX_DEVICE_CPU && cores > 0 && reported > (uint32_t)cores ? (uint32_t)cores : reported;
}

static void find_limits(struct ocl_device *device) {
    struct svmx_device_info *info = &device->info;
    device->compute_units = units_in_use(info->kind, ask_u32(device->id, CL_DEVICE_MAX_COMPUTE_UNITS));
    if (!ask(device->id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &device->max_group, sizeof device->max_group))
        device->max_group = 0;
    info->compute_engines = 1;
    info->threads = device->compute_units;
    info->alignment = OCL_ALIGNMENT;
    info->memory_bytes = ask_u64(device->id, CL_DEVICE_GLOBAL_MEM_SIZE);
    info->max_alloc_bytes = ask_u64(device->id, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    if (info->max_alloc_bytes > info->memory_bytes) info->max_alloc_bytes = info->memory_bytes;
    info->max_in_flight = OCL_SLOTS;
    info->max_group = device->max_group < UINT32_MAX ? (uint32_t)device->max_group : UINT32_MAX;
    info->local_bytes = ask_u64(device->id, CL_DEVICE_LOCAL_MEM_SIZE);
    size_t timer_ns = 0;
    if (ask(device->id, CL_DEVICE_PROFILING_TIMER_RESOLUTION, &timer_ns, sizeof timer_ns))
        info->timer_ns = timer_ns < UINT32_MAX ? (uint32_t)timer_ns : UINT32_MAX;
}

static uint32_t fp_of(cl_device_fp_config said) {
    return (said & CL_FP_DENORM ? SVMX_FP_DENORMALS : 0u) | (said & CL_FP_INF_NAN ? SVMX_FP_INF_NAN : 0u) |
           (said & CL_FP_ROUND_TO_NEAREST ? SVMX_FP_ROUND_NEAREST : 0u) | (said & CL_FP_FMA ? SVMX_FP_FMA : 0u) |
           (said & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT ? SVMX_FP_EXACT_DIVIDE : 0u) |
           (said & CL_FP_SOFT_FLOAT ? SVMX_FP_SOFT : 0u);
}

static void find_flags(struct ocl_device *device, const char *platform) {
    struct svmx_device_info *info = &device->info;
    cl_device_fp_config f32 = 0, f64 = 0;
    (void)ask(device->id, CL_DEVICE_SINGLE_FP_CONFIG, &f32, sizeof f32);
    (void)ask(device->id, CL_DEVICE_DOUBLE_FP_CONFIG, &f64, sizeof f64);
    device->exact_divide = (f32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->fp32 = fp_of(f32);
    info->fp64 = fp_of(f64); /* that division of doubles is exact goes without saying there */
    const bool cpu = info->kind == SVMX_DEVICE_CPU;
    /* llvmpipe is a GPU that runs on the CPU: it puts work-items side by side into vectors by itself. */
    device->catalog_kind = cpu && strcmp(platform, "rusticl") != 0 ? CATALOG_CPU : CATALOG_GPU;
    device->inlines_all = strcmp(platform, "rusticl") == 0; /* Mesa has no calls in device code */
    device->has_bell = cpu;
    info->flags |= SVMX_DEVICE_LINKS;
    if (cpu) info->flags |= SVMX_DEVICE_SHARES_CORES;
    if (device->shared != OCL_SHARED_NONE) info->flags |= SVMX_DEVICE_SHARES_MEMORY;
    if (!f64) info->flags |= SVMX_DEVICE_NO_F64;
    if (strcmp(platform, "Oclgrind") == 0) info->flags |= SVMX_DEVICE_TEST;
}

/* The first thing that makes no sense, or that kernels cannot do without. */
static const char *unusable(const struct ocl_device *device) {
    char version[256];
    unsigned major = 0, minor = 0;
    ask_text(device->id, CL_DEVICE_VERSION, version, sizeof version);
    if (sscanf(version, "OpenCL %u.%u", &major, &minor) != 2 || major * 10 + minor < 12)
        return "it is older than OpenCL 1.2";
    if (!ask_u32(device->id, CL_DEVICE_AVAILABLE)) return "its driver says that it is not available";
    if (!ask_u32(device->id, CL_DEVICE_COMPILER_AVAILABLE)) return "it has no compiler";
    if (!ask_u32(device->id, CL_DEVICE_ENDIAN_LITTLE)) return "it is not little-endian";
    if (!device->info.name[0]) return "it has no name";
    if (!device->compute_units) return "it has no compute unit";
    if (!device->max_group) return "its work-groups have no size";
    if (!device->info.memory_bytes || !device->info.max_alloc_bytes) return "it has no memory";
    return NULL;
}

const char *ocl_describe(struct ocl_device *device) {
    char platform[128] = "", extensions[8192];
    cl_device_type type = 0;
    (void)clGetPlatformInfo(device->platform, CL_PLATFORM_NAME, sizeof platform, platform, NULL);
    platform[sizeof platform - 1] = '\0';
    ask_text(device->id, CL_DEVICE_EXTENSIONS, extensions, sizeof extensions);
    if (!ask(device->id, CL_DEVICE_TYPE, &type, sizeof type)) return "its driver does not say what it is";
    device->info.kind = kind_of(type);
    device->unified = device->info.kind == SVMX_DEVICE_CPU || ask_u32(device->id, CL_DEVICE_HOST_UNIFIED_MEMORY);
    find_name(device, extensions);
    find_driver(device, platform);
    find_pci(device, extensions);
    if (ocl_has_word(extensions, "cl_khr_device_uuid") &&
        !ask(device->id, CL_DEVICE_UUID_KHR, device->info.uuid, sizeof device->info.uuid))
        memset(device->info.uuid, 0, sizeof device->info.uuid);
    ocl_shared_find(device, extensions);
    find_limits(device);
    find_flags(device, platform);
    return unusable(device);
}
