/*
 * common.cl: what every kernel begins with: its arguments, the table of tasks, walking units, the one NaN.
 *
 * In front of every source, as text for OpenCL (1.2 is enough) and by -include for SPIR-V. A kernel gets
 *
 *   in, out, scratch   memory of the dispatch; out and scratch may be NULL where an operation has none
 *   table, table_at    the rows of slots, and after them first_unit, `table_at` bytes into `table`
 *   units, tasks       how many there are of both
 *   grain              how many units (or tasks) one work-item (or work-group) takes: catalog.h
 *
 * A slot is two words: where it begins, in bytes from the start of `in` (inputs) or `out` (outputs), and its bytes;
 * of a scalar the first word has the value in its low bytes. Slots begin at multiples of 64 bytes. No kernel may
 * touch a byte outside of its slots and scratch, not even to read it.
 *
 * The same bits everywhere: a product and a sum are two roundings unless the source says fma; division is
 * svmx_divide; no exp, log, sqrt of the compiler's, no native_ or half_ function, no fast option.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#pragma OPENCL FP_CONTRACT OFF
#ifdef SVMX_F64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

/* For functions that work on arrays in registers, which they would find in memory if they were called; and for those that
 * get __local memory: where such a function is called and not inlined, PoCL 3.1 gives all work-groups that run at once the
 * same memory. */
#define SVMX_INLINE static inline __attribute__((always_inline))

/* The head of a kernel that is launched in work-groups of `local`. */
#define SVMX_KERNEL(name, local)                                                                                       \
    __kernel __attribute__((reqd_work_group_size(local, 1, 1))) void name(                                             \
        __global const uchar *in, __global uchar *out, __global uchar *scratch, __global const uchar *table,           \
        ulong table_at, ulong units, uint tasks, uint grain)

/* ---- the table ----------------------------------------------------------------------------------------------- */

struct svmx_table {
    __global const ulong *slots;      /* two words a slot, `width` slots a row, a row a task */
    __global const ulong *first_unit; /* tasks + 1 */
    uint width, tasks;
};

static inline struct svmx_table svmx_table_open(__global const uchar *table, ulong table_at, uint tasks, uint width) {
    struct svmx_table t;
    t.slots = (__global const ulong *)(table + table_at);
    t.first_unit = t.slots + (ulong)tasks * width * 2;
    t.width = width;
    t.tasks = tasks;
    return t;
}

/* Where slot `i` of a task begins, or the value of a scalar. */
static inline ulong svmx_at(const struct svmx_table *t, uint task, uint i) {
    return t->slots[2 * ((ulong)task * t->width + i)];
}

static inline ulong svmx_bytes(const struct svmx_table *t, uint task, uint i) {
    return t->slots[2 * ((ulong)task * t->width + i) + 1];
}

/* The task that owns a unit, never an empty one. `unit` is less than the count of all units. */
static inline uint svmx_task_of(const struct svmx_table *t, ulong unit) {
    uint low = 0, high = t->tasks - 1;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (t->first_unit[middle + 1] > unit)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- walking: a range of units, task by task ------------------------------------------------------------------ */

struct svmx_walk {
    ulong unit, end;
    uint task;
};

/* The units [begin, end) of one task, counted from the task's own first. */
struct svmx_piece {
    ulong begin, end;
    uint task;
};

/* The range that number g of the launch takes. */
static inline struct svmx_walk svmx_walk_start(const struct svmx_table *t, ulong g, uint grain, ulong units) {
    struct svmx_walk walk;
    walk.unit = g * grain;
    walk.end = min(walk.unit + grain, units);
    walk.task = walk.unit < walk.end ? svmx_task_of(t, walk.unit) : 0;
    return walk;
}

/* Gives the next piece, never an empty one; 0 when the range is done. */
static inline int svmx_walk_next(const struct svmx_table *t, struct svmx_walk *walk, struct svmx_piece *piece) {
    if (walk->unit >= walk->end) return 0;
    uint task = walk->task;
    while (t->first_unit[task + 1] <= walk->unit) task++;
    const ulong first = t->first_unit[task], stop = min(t->first_unit[task + 1], walk->end);
    piece->task = task;
    piece->begin = walk->unit - first;
    piece->end = stop - first;
    walk->unit = stop;
    walk->task = task + 1;
    return 1;
}

/* ---- floats --------------------------------------------------------------------------------------------------- */

/* Scalars of a slot. */
static inline float svmx_scalar_f32(const struct svmx_table *t, uint task, uint i) {
    return as_float((uint)svmx_at(t, task, i));
}

#ifdef SVMX_F64
static inline double svmx_scalar_f64(const struct svmx_table *t, uint task, uint i) {
    return as_double(svmx_at(t, task, i));
}
#endif

/*
 * The quotient, rounded to nearest. Compilers for devices may be some units off in the last place unless told otherwise,
 * and some do not know how: for them SVMX_SOFT_DIVIDE takes their quotient as a guess and corrects it with integers, which
 * are exact everywhere. Division of doubles is exact in OpenCL.
 */
#ifdef SVMX_SOFT_DIVIDE

/* A finite number but 0 is its 24 bits, the highest of them set, times 2^(exponent - 150). */
static inline uint svmx_split(uint magnitude, int *exponent) {
    if (magnitude >> 23) {
        *exponent = (int)(magnitude >> 23);
        return (magnitude & 0x7fffff) | 0x800000;
    }
    const int shift = (int)clz(magnitude) - 8;
    *exponent = 1 - shift;
    return magnitude << shift;
}

/* a 2^25 / b rounded down, of b <= a < 2 b; the lowest bit is also set where something is left. Good for a guess that
 * is up to 15 units off: `left` is what a 2^25 exceeds the guess by, and fits 32 bits though its parts do not. */
static inline uint svmx_quotient(uint a, uint b) {
    uint quotient = (uint)((float)a / (float)b * 0x1p25f);
    int left = (int)((a << 25) - quotient * b);
    const int more = (int)((float)left / (float)b);
    quotient += (uint)more;
    left -= more * (int)b;
    for (; left < 0; left += (int)b) quotient--;
    for (; left >= (int)b; left -= (int)b) quotient++;
    return quotient | (left != 0);
}

/* Two bits more than a float has, of a quotient from 1 on, and its exponent, which may be out of range. */
static inline uint svmx_round(uint quotient, int exponent) {
    const uint down = exponent > 0 ? 2 : (uint)min(3 - exponent, 27);
    const uint kept = quotient >> down, rest = quotient & ((1u << down) - 1), middle = 1u << (down - 1);
    const uint bits = kept + (exponent > 0 ? (uint)(exponent - 1) << 23 : 0);
    return exponent > 254 ? 0x7f800000 : bits + (rest > middle || (rest == middle && (kept & 1)));
}

static inline float svmx_divide(float a, float b) {
    const uint x = as_uint(a) & 0x7fffffff, y = as_uint(b) & 0x7fffffff, inf = 0x7f800000;
    const uint sign = (as_uint(a) ^ as_uint(b)) & 0x80000000;
    if (x > inf || y > inf || (x == y && (x == 0 || x == inf))) return as_float(0x7fc00000);
    if (x == inf || y == 0) return as_float(sign | inf);
    if (x == 0 || y == inf) return as_float(sign);
    int above, below;
    uint top = svmx_split(x, &above);
    const uint bottom = svmx_split(y, &below);
    const uint less = top < bottom;
    return as_float(sign | svmx_round(svmx_quotient(top << less, bottom), above - below + 127 - (int)less));
}

#else
static inline float svmx_divide(float a, float b) { return a / b; }
#endif
