/*
 * grid-objects.c: an operation of your own, and CPU code that goes on from its results: objects in grids of colours.
 *
 *   grids of 12 x 12 bytes       grid_clean (registered here):           objects (plain C, below):
 *   with single stray cells  ->  a cell whose eight neighbours are  ->   connected cells of one colour,
 *                                all of other colours becomes 0          counted by a flood fill
 *
 * The operation is the C function `clean`, which defines it, and the text `clean_cl`, which OpenCL devices compile. The
 * library compares the second with the first before it uses it. Cleaning is the same for every cell and runs on any
 * device; finding objects jumps about and stays on the CPU.
 *
 *   cc grid-objects.c $(pkg-config --cflags --libs svmx) -o grid-objects && ./grid-objects
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <stdio.h>
#include <string.h>
#include <svmx/svmx.h>

enum { SIDE = 12, CELLS = SIDE * SIDE, TASKS = 200, GRIDS_A_TASK = 5, GRIDS = TASKS * GRIDS_A_TASK };

/* ---- the operation ------------------------------------------------------------------------------------------ */

/* out and grids: any number of grids of `side` x `side` bytes, row by row. A unit is a grid. */
enum { OUT, IN, SIDE_OF, PARAMS };
static const struct svmx_param params[PARAMS] = {{"out", SVMX_OUT, SVMX_U8, SVMX_ARRAY, 0, 1},
                                                 {"grids", SVMX_IN, SVMX_U8, SVMX_ARRAY, 0, 1},
                                                 {"side", SVMX_IN, SVMX_U32, SVMX_SCALAR, 0, 1}};

static uint32_t side_of(const struct svmx_operand *args) {
    uint32_t side;
    memcpy(&side, args[SIDE_OF].data, sizeof side);
    return side;
}

/* The definition: colour (y, x) if a neighbour has it as well, else 0. */
static uint8_t clean_cell(const uint8_t *grid, int side, int y, int x) {
    for (int v = y - 1; v <= y + 1; v++)
        for (int u = x - 1; u <= x + 1; u++)
            if ((v != y || u != x) && v >= 0 && v < side && u >= 0 && u < side &&
                grid[v * side + u] == grid[y * side + x])
                return grid[y * side + x];
    return 0;
}

static void clean(const struct svmx_operand *args, void *user) {
    const int side = (int)side_of(args);
    const uint64_t cells = (uint64_t)side * (uint64_t)side;
    for (uint64_t at = 0; at < args[IN].bytes; at += cells)
        for (int y = 0; y < side; y++)
            for (int x = 0; x < side; x++)
                ((uint8_t *)args[OUT].data)[at + (uint64_t)(y * side + x)] =
                    clean_cell((const uint8_t *)args[IN].data + at, side, y, x);
    (void)user;
}

/* The same for devices: plugins/kernels/common.cl gives the head, the table of tasks and the walk over units. */
static const char clean_cl[] =
    "static uchar clean_cell(__global const uchar *grid, int side, int y, int x) {\n"
    "    for (int v = y - 1; v <= y + 1; v++)\n"
    "        for (int u = x - 1; u <= x + 1; u++)\n"
    "            if ((v != y || u != x) && v >= 0 && v < side && u >= 0 && u < side &&\n"
    "                grid[v * side + u] == grid[y * side + x])\n"
    "                return grid[y * side + x];\n"
    "    return 0;\n"
    "}\n"
    "SVMX_KERNEL(grid_clean, 16) {\n"
    "    const struct svmx_table t = svmx_table_open(table, table_at, tasks, 3);\n"
    "    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);\n"
    "    struct svmx_piece piece;\n"
    "    while (svmx_walk_next(&t, &walk, &piece)) {\n"
    "        const int side = (int)svmx_at(&t, piece.task, 2);\n"
    "        for (ulong g = piece.begin; g < piece.end; g++) {\n"
    "            const ulong at = g * (ulong)(side * side);\n"
    "            __global const uchar *from = in + svmx_at(&t, piece.task, 1) + at;\n"
    "            __global uchar *to = out + svmx_at(&t, piece.task, 0) + at;\n"
    "            for (int y = 0; y < side; y++)\n"
    "                for (int x = 0; x < side; x++) to[y * side + x] = clean_cell(from, side, y, x);\n"
    "        }\n"
    "    }\n"
    "}\n";

/* What a task must be; everything else the library has seen to. */
static enum svmx_status check(const struct svmx_operand *args, struct svmx_op_size *size, struct svmx_error *error,
                              void *user) {
    const uint64_t side = side_of(args), cells = side * side;
    (void)user;
    if (side < 1 || side > 1000 || args[OUT].bytes != args[IN].bytes || args[IN].bytes % cells != 0) {
        (void)snprintf(error->text, sizeof error->text, "side must be 1 to 1000, out and grids whole grids of it");
        return SVMX_ERR_ARGUMENT;
    }
    *size = (struct svmx_op_size){.units = args[IN].bytes / cells, .work = args[IN].bytes};
    return SVMX_OK;
}

/* Made-up tasks, which devices are compared by: of 7 x 7. */
static enum svmx_status shape(uint64_t size, uint64_t *bytes, void *user) {
    (void)user;
    if (size > UINT64_MAX / 49) return SVMX_ERR_OVERFLOW;
    bytes[OUT] = bytes[IN] = size * 49;
    bytes[SIDE_OF] = 7;
    return SVMX_OK;
}

/* Worked out by hand: the 2 has no neighbour of its colour, the 1s touch at a corner. */
static const uint8_t known_in[9] = {1, 0, 0, 0, 1, 0, 0, 0, 2}, known_out[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
static const uint32_t known_side = 3;
static const struct svmx_known known[PARAMS] = {{known_out, 9}, {known_in, 9}, {&known_side, 4}};

static const struct svmx_op_def grid_clean = {.size = sizeof grid_clean,
                                              .name = "grid_clean",
                                              .summary = "cells without a neighbour of their colour become 0",
                                              .unit = "grid",
                                              .params = params,
                                              .param_count = PARAMS,
                                              .exactness = SVMX_EXACT,
                                              .run = clean,
                                              .check = check,
                                              .shape = shape,
                                              .known = known,
                                              .known_count = 1,
                                              .trial_size = 200, /* grids: several work-groups */
                                              .opencl_c = clean_cl,
                                              .local = 16,
                                              .grain = 4};

/* ---- objects, on the CPU ------------------------------------------------------------------------------------ */

/* Takes the object at a cell away, cell by cell over the four sides; how large it was. */
static unsigned take_object(uint8_t *grid, int start) {
    int waiting[CELLS], count = 0;
    unsigned size = 0;
    const uint8_t colour = grid[start];
    waiting[count++] = start;
    grid[start] = 0;
    while (count > 0) {
        const int at = waiting[--count], y = at / SIDE, x = at % SIDE;
        const int near[4] = {y > 0 ? at - SIDE : at, y < SIDE - 1 ? at + SIDE : at, x > 0 ? at - 1 : at,
                             x < SIDE - 1 ? at + 1 : at};
        size++;
        for (int i = 0; i < 4; i++) {
            if (grid[near[i]] != colour) continue; /* also what was taken: that is 0 */
            grid[near[i]] = 0;
            waiting[count++] = near[i];
        }
    }
    return size;
}

static unsigned count_objects(uint8_t *grid, unsigned *largest) {
    unsigned objects = 0;
    for (int at = 0; at < CELLS; at++) {
        if (grid[at] == 0) continue;
        const unsigned size = take_object(grid, at);
        if (size > *largest) *largest = size;
        objects++;
    }
    return objects;
}

/* ---- the program -------------------------------------------------------------------------------------------- */

/* Two rectangles, whose place goes with the number of the grid, and three stray cells. */
static void draw(uint8_t *grid, unsigned number) {
    const int top = (int)(number % 4), left = (int)(number % 3);
    memset(grid, 0, CELLS);
    for (int y = 0; y < 3; y++) memset(grid + (top + y) * SIDE + left, 1, 4);
    for (int y = 0; y < 4; y++) memset(grid + (8 + y) * SIDE + 7, 2, 5);
    grid[7 * SIDE + 1] = 3;
    grid[9 * SIDE + 3] = 4;
    grid[1 * SIDE + 10] = 5;
}

static int fail(const char *what, const char *text) {
    fprintf(stderr, "%s: %s\n", what, text);
    return 1;
}

static void print_where(svmx_executor_t *executor, const svmx_batch_t *batch) {
    struct svmx_receipt receipt = {.size = sizeof receipt};
    struct svmx_device device = {.size = sizeof device};
    if (svmx_receipt_get(batch, 0, &receipt) == SVMX_OK &&
        svmx_device_get(executor, receipt.device, &device) == SVMX_OK)
        printf("cleaned on %s: %s\n", device.backend, device.name);
}

int main(void) {
    static uint8_t grids[GRIDS][CELLS], cleaned[GRIDS][CELLS];
    svmx_executor_t *executor;
    svmx_batch_t *batch;
    struct svmx_error error;
    uint32_t op;
    if (svmx_open(&executor, NULL, &error) != SVMX_OK) return fail("open", error.text);
    if (svmx_op_register(executor, &grid_clean, &op, &error) != SVMX_OK) return fail("register", error.text);
    if (svmx_batch_create(executor, &batch) != SVMX_OK) return fail("batch", "no memory");
    /* Devices compile now: this one batch would be answered by the CPU meanwhile. */
    if (svmx_prewarm(executor, op, GRIDS) != SVMX_OK) return fail("prewarm", "the executor was closed");

    for (unsigned g = 0; g < GRIDS; g++) draw(grids[g], g);
    for (unsigned t = 0; t < TASKS; t++) {
        const struct svmx_arg args[PARAMS] = {svmx_out(SVMX_U8, cleaned[t * GRIDS_A_TASK], GRIDS_A_TASK * CELLS),
                                              svmx_in(SVMX_U8, grids[t * GRIDS_A_TASK], GRIDS_A_TASK * CELLS),
                                              svmx_u32(SIDE)};
        if (svmx_batch_add(batch, op, args, PARAMS) != SVMX_OK) return fail("add", svmx_batch_error(batch));
    }
    if (svmx_run(batch) != SVMX_OK) return fail("run", svmx_batch_error(batch));

    unsigned objects = 0, largest = 0;
    for (unsigned g = 0; g < GRIDS; g++) objects += count_objects(cleaned[g], &largest);
    /* 1000 grids, 2000 objects, the largest of 20 cells */
    printf("%d grids, %u objects, the largest of %u cells\n", GRIDS, objects, largest);
    print_where(executor, batch);
    svmx_batch_destroy(batch);
    svmx_close(executor);
    return 0;
}
