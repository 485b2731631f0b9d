/*
 * svmx/types.h: the few words that embedders (svmx.h) and plugin authors (plugin.h) share.
 *
 * Included by both; never needed on its own. Every enumeration here is append-only: a value, once shipped,
 * keeps its meaning for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SVMX_TYPES_H
#define SVMX_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SVMX_MUST_CHECK        __attribute__((warn_unused_result))
#define SVMX_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define SVMX_EXPORT            __attribute__((visibility("default")))
#else
#define SVMX_MUST_CHECK
#define SVMX_PRINTF(fmt, args)
#define SVMX_EXPORT
#endif

/*
 * What a call answers. Zero is success, a positive value is no error but not "done" either, a negative value is
 * an error: what the call gives out is set on success only. Results of a batch are there once it has ended with SVMX_OK; of
 * one that failed or was cancelled while it ran they hold anything.
 */
enum svmx_status {
    SVMX_OK = 0,
    SVMX_BUSY = 1,      /* a full queue (submit) or work still under way (poll); ask again later */
    SVMX_TIMEOUT = 2,   /* the time given to a wait ran out; the work goes on */
    SVMX_CANCELLED = 3, /* the batch was taken back before it ran, or given up by svmx_close_now */

    SVMX_ERR_ARGUMENT = -1,     /* an argument breaks a rule; the text names it */
    SVMX_ERR_OVERFLOW = -2,     /* a size does not fit; the text names it */
    SVMX_ERR_STATE = -3,        /* right call, wrong moment (a batch submitted twice, say) */
    SVMX_ERR_MEMORY = -4,       /* no memory, on the host or on a device */
    SVMX_ERR_UNKNOWN = -5,      /* no operation, backend, device or entry of that name or number */
    SVMX_ERR_UNSUPPORTED = -6,  /* this backend or device does not do that */
    SVMX_ERR_BACKEND = -7,      /* a plugin failed; the text says in which call */
    SVMX_ERR_DEVICE_LOST = -8,  /* the device is gone; only a new instance of its backend may serve again */
    SVMX_ERR_WRONG_RESULT = -9, /* a known answer or a comparison disagreed */
    SVMX_ERR_PERMISSION = -10,  /* an owner or a mode makes a file unsafe to load */
    SVMX_ERR_ABI = -11,         /* a plugin speaks another major version, or is no plugin */
    SVMX_ERR_CLOSED = -12,      /* the executor was closed while this handle still lived, or the process forked */
    SVMX_ERR_SYSTEM = -13       /* the operating system refused; the text has its reason */
};

/* How grave a log line is. A threshold passes everything up to and including itself. */
enum svmx_log_level { SVMX_LOG_OFF = 0, SVMX_LOG_ERROR = 1, SVMX_LOG_WARN = 2, SVMX_LOG_INFO = 3, SVMX_LOG_DEBUG = 4 };

/* Element types of parameters, little-endian in memory. */
enum svmx_type { SVMX_U8 = 1, SVMX_U32 = 2, SVMX_U64 = 3, SVMX_F32 = 4, SVMX_F64 = 5 };

/* How the bytes of a parameter are to be read. */
enum svmx_shape {
    SVMX_ARRAY = 1,  /* elements of `type`, `record` of them to an item */
    SVMX_SCALAR = 2, /* one element, passed by value */
    SVMX_RAGGED = 3, /* items of any length, end to end; the SVMX_OFFSETS parameter after it cuts them */
    SVMX_OFFSETS = 4 /* n + 1 uint64_t: item i is bytes [offsets[i], offsets[i + 1]) of the parameter before it */
};

/* Which way a parameter's data goes. An output is written whole and never read. */
enum svmx_direction { SVMX_OUT = 1, SVMX_IN = 2 };

/* One parameter of an operation. */
struct svmx_param {
    const char *name;
    uint8_t direction; /* enum svmx_direction */
    uint8_t type;      /* enum svmx_type */
    uint8_t shape;     /* enum svmx_shape */
    uint8_t reserved;  /* 0 */
    uint32_t record;   /* elements to one item: 1 for a vector, 32 for a 32-byte digest */
};

/* What kind of thing a device is. A modelled device keeps a made-up clock and is labelled so everywhere. */
enum svmx_device_kind { SVMX_DEVICE_CPU = 1, SVMX_DEVICE_GPU = 2, SVMX_DEVICE_ACCELERATOR = 3, SVMX_DEVICE_MODEL = 4 };

/* Properties of a device that change what the core asks of it. */
enum svmx_device_flags {
    SVMX_DEVICE_HOST_MEMORY = 1 << 0,   /* works on host addresses in place; only with INLINE */
    SVMX_DEVICE_SHARES_MEMORY = 1 << 1, /* has memory of its own kind, but staging memory can be bound directly */
    SVMX_DEVICE_SHARES_CORES = 1 << 2,  /* computes on the host's cores: its speed and SIMD's do not add up */
    SVMX_DEVICE_INLINE = 1 << 3,        /* submit computes before it returns; any threads may call it at once */
    SVMX_DEVICE_NO_F64 = 1 << 4,        /* no double precision */
    SVMX_DEVICE_TEST = 1 << 5,          /* a driver or device made for tests: labelled so in every output */
    SVMX_DEVICE_CHAINS = 1 << 6,        /* takes SVMX_COMMAND_CHAIN; only with HOST_MEMORY */
    SVMX_DEVICE_LINKS = 1 << 7          /* builds chain_f32 (plugin.h); not with HOST_MEMORY */
};

/* What a driver says of the floats of its device. Nobody acts on it: an operation serves by the bits that it gave. */
enum svmx_fp {
    SVMX_FP_DENORMALS = 1 << 0,
    SVMX_FP_INF_NAN = 1 << 1,
    SVMX_FP_ROUND_NEAREST = 1 << 2,
    SVMX_FP_FMA = 1 << 3,
    SVMX_FP_EXACT_DIVIDE = 1 << 4, /* division and square root are correctly rounded */
    SVMX_FP_SOFT = 1 << 5          /* in software */
};

#ifdef __cplusplus
}
#endif
#endif
