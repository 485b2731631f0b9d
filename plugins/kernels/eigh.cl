/*
 * eigh.cl: eigenvalues and eigenvectors of small symmetric matrices by Jacobi's method: eigh_f64.
 *
 * The recipe is that of docs/OPERATIONS.md, step by step: each operation is rounded once, and a matrix that has no rotation
 * to do keeps every bit. So results do not depend on who stands beside whom. Divisions and square roots of doubles are
 * correctly rounded by the standard; a device on which they are not fails the known answers.
 *
 * Two ways. With LANES (8), a work-item takes as many matrices of one order side by side, from whatever task they come,
 * which is what CPUs like. Without, a work-group of 32 takes as many as have a work-item for each row, in local memory.
 *
 * Slots: values, vectors, matrices, order. A unit is a matrix.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { VALUES, VECTORS, MATRICES, ORDER, EIGH_SLOTS };
enum { MAX_ORDER = 32, MAX_SWEEPS = 30, TRIANGLE = MAX_ORDER * (MAX_ORDER + 1) / 2 };

#define NOT_A_NUMBER as_double(0x7ff8000000000000UL)
#define TINY         0x1p-53
#define INFINITE     2047UL /* the biased exponent of infinities and NaNs */

/* Where an element of the lower triangle lies, row >= column. */
static inline uint triangle(uint row, uint column) { return row * (row + 1) / 2 + column; }

static inline double power_of_two(ulong biased) { return as_double(biased << 52); }

/* The biased exponent of what a matrix is multiplied by, so that its largest element is near 1; given that of the latter. */
static inline ulong exponent_up(ulong exponent) { return exponent == 0 ? 2045 : exponent >= 2046 ? 1 : 2046 - exponent; }

#ifdef LANES

/* ---- CPUs: LANES matrices side by side ---------------------------------------------------------------------------- */

/* Up to LANES matrices of one order: a[element][lane], v[row][column][lane]. */
struct group {
    uint order, count;
    __global const double *matrix[LANES];
    __global double *values[LANES], *vectors[LANES];
    double back[LANES]; /* values times this are those of the matrix as it was given; NaN for one that has none */
    double8 a[TRIANGLE];
    double8 v[MAX_ORDER * MAX_ORDER];
};

/* One lane. */
static inline double lane_get(__private const double8 *at, uint lane) { return ((__private const double *)at)[lane]; }

static inline void lane_set(__private double8 *at, uint lane, double x) { ((__private double *)at)[lane] = x; }

/* A matrix that is not finite leaves zeros, which are done at once. */
static inline void lane_load(__private struct group *g, uint lane) {
    __global const double *matrix = g->matrix[lane];
    ulong largest = 0; /* bits of magnitudes order as the magnitudes do */
    for (uint i = 0; i < g->order; i++)
        for (uint j = 0; j <= i; j++) largest = max(largest, as_ulong(matrix[i * g->order + j]) & LONG_MAX);
    const ulong exponent = largest >> 52, up = exponent_up(exponent);
    for (uint i = 0; i < g->order; i++)
        for (uint j = 0; j <= i; j++)
            lane_set(&g->a[triangle(i, j)], lane,
                     exponent == INFINITE ? 0 : matrix[i * g->order + j] * power_of_two(up));
    g->back[lane] = exponent == INFINITE ? NOT_A_NUMBER : power_of_two(2046 - up);
}

static inline void group_load(__private struct group *g) {
    for (uint i = 0; i < g->order; i++)
        for (uint j = 0; j < g->order; j++) g->v[i * g->order + j] = i == j;
    for (uint i = 0; i < triangle(g->order, 0); i++) g->a[i] = 0; /* also in lanes without a matrix */
    for (uint lane = 0; lane < g->count; lane++) lane_load(g, lane);
}

/* One rotation: which lanes do it, and their cosine and sine. */
struct rotation {
    long8 lanes;
    double8 c, s;
};

static inline void turn(__private double8 *x, __private double8 *y, const struct rotation *by) {
    const double8 g = *x, h = *y;
    *x = select(g, by->c * g - by->s * h, by->lanes);
    *y = select(h, by->s * g + by->c * h, by->lanes);
}

static inline void rotate_pair(__private struct group *g, uint i, uint j, long8 lanes) {
    __private double8 *at_ii = &g->a[triangle(i, i)], *at_jj = &g->a[triangle(j, j)], *at_ji = &g->a[triangle(j, i)];
    const double8 ii = *at_ii, jj = *at_jj, x = *at_ji;
    const double8 theta = (jj - ii) / (2 * x);
    const double8 size = 1 / (fabs(theta) + sqrt(theta * theta + 1));
    const double8 t = select(size, -size, theta < 0);
    struct rotation by;
    by.lanes = lanes;
    by.c = 1 / sqrt(t * t + 1);
    by.s = t * by.c;
    *at_ii = select(ii, ii - t * x, lanes);
    *at_jj = select(jj, jj + t * x, lanes);
    *at_ji = select(x, (double8)(0), lanes);
    const uint n = g->order;
    for (uint r = 0; r < i; r++) turn(&g->a[triangle(i, r)], &g->a[triangle(j, r)], &by);
    for (uint r = i + 1; r < j; r++) turn(&g->a[triangle(r, i)], &g->a[triangle(j, r)], &by);
    for (uint r = j + 1; r < n; r++) turn(&g->a[triangle(r, i)], &g->a[triangle(r, j)], &by);
    for (uint r = 0; r < n; r++) turn(&g->v[i * n + r], &g->v[j * n + r], &by);
}

/* Lanes in which a[j][i] is not negligible. */
static inline long8 worth(__private const struct group *g, uint i, uint j) {
    const double8 x = fabs(g->a[triangle(j, i)]);
    return ~(x <= fabs(g->a[triangle(i, i)]) * TINY) | ~(x <= fabs(g->a[triangle(j, j)]) * TINY);
}

/* A lane whose sweep had no rotation would have none in the next either: only all lanes together need an end. */
static inline void group_solve(__private struct group *g) {
    int turned = 1;
    for (uint sweep = 0; sweep < MAX_SWEEPS && turned; sweep++) {
        turned = 0;
        for (uint i = 0; i + 1 < g->order; i++)
            for (uint j = i + 1; j < g->order; j++) {
                const long8 lanes = worth(g, i, j);
                if (!any(lanes)) continue;
                rotate_pair(g, i, j, lanes);
                turned = 1;
            }
    }
}

/* Row `k` of the lane's vectors, its first component of largest magnitude made positive. */
static inline void vector_store(__private const struct group *g, uint lane, uint k, __global double *to) {
    const uint n = g->order;
    double largest = lane_get(&g->v[k * n], lane);
    for (uint r = 1; r < n; r++) {
        const double x = lane_get(&g->v[k * n + r], lane);
        if (fabs(x) > fabs(largest)) largest = x;
    }
    for (uint r = 0; r < n; r++) {
        const double x = lane_get(&g->v[k * n + r], lane);
        to[r] = largest < 0 ? -x : x;
    }
}

static inline void lane_store(__private const struct group *g, uint lane) {
    const uint n = g->order;
    uint at[MAX_ORDER];
    double value[MAX_ORDER];
    for (uint k = 0; k < n; k++) { /* inserted in ascending order, equal ones behind one another */
        uint place = k;
        value[k] = lane_get(&g->a[triangle(k, k)], lane) * g->back[lane];
        for (; place > 0 && value[at[place - 1]] > value[k]; place--) at[place] = at[place - 1];
        at[place] = k;
    }
    for (uint k = 0; k < n; k++) {
        g->values[lane][k] = value[at[k]];
        vector_store(g, lane, at[k], g->vectors[lane] + k * n);
    }
}

static inline void lane_store_nan(__private const struct group *g, uint lane) {
    for (uint k = 0; k < g->order; k++) g->values[lane][k] = NOT_A_NUMBER;
    for (uint k = 0; k < g->order * g->order; k++) g->vectors[lane][k] = NOT_A_NUMBER;
}

static inline void group_run(__private struct group *g) {
    group_load(g);
    group_solve(g);
    for (uint lane = 0; lane < g->count; lane++) {
        if (g->back[lane] == g->back[lane])
            lane_store(g, lane);
        else
            lane_store_nan(g, lane);
    }
    g->count = 0;
}

/* Takes the next matrix in, which is of the group's order. */
static inline void group_add(__private struct group *g, const struct svmx_table *t, uint task, ulong unit,
                             __global const uchar *in, __global uchar *out) {
    const ulong n = g->order;
    g->matrix[g->count] = (__global const double *)(in + svmx_at(t, task, MATRICES)) + unit * n * n;
    g->values[g->count] = (__global double *)(out + svmx_at(t, task, VALUES)) + unit * n;
    g->vectors[g->count] = (__global double *)(out + svmx_at(t, task, VECTORS)) + unit * n * n;
    g->count++;
}

SVMX_KERNEL(eigh_items, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, EIGH_SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece = {0, 0, 0};
    struct group g;
    g.order = g.count = 0;
    int more = 1;
    while (more) { /* a group is run where it is full, where another order comes and at the end: in one place */
        if (piece.begin >= piece.end) more = svmx_walk_next(&t, &walk, &piece);
        const uint order = more ? (uint)svmx_at(&t, piece.task, ORDER) : 0;
        if (g.count == LANES || (g.count > 0 && g.order != order)) group_run(&g);
        g.order = order;
        if (more) group_add(&g, &t, piece.task, piece.begin++, in, out);
    }
}

#else

/* ---- GPUs: teams of work-items in a work-group ---------------------------------------------------------------------- */

enum { GROUP = 32 };

/*
 * A team has a power of two of work-items, one for each row of its matrix, some of them idle. All teams of a work-group go
 * through the same pairs and meet at the same barriers; a team that has no rotation to do, or no matrix, only goes along.
 */
struct local_memory {
    double cells[TRIANGLE + MAX_ORDER * MAX_ORDER]; /* team after team: its triangle, then its vectors; enough for all */
    double value[GROUP];
    ulong largest[GROUP]; /* bits of the largest magnitude in each row */
    int turned[GROUP];    /* by team */
};

struct team {
    __local double *a, *v;
    uint order, row, first; /* the work-item's row; the team's first work-item */
    double back;
    int has_row; /* this work-item has one */
};

/* Reads a row, and gives it to the others scaled; zeros if the team is not given a matrix. False in the whole team if the
 * matrix is not finite. */
static inline int team_load(struct team *m, __local struct local_memory *memory, __global const double *matrix,
                            int given) {
    ulong largest = 0;
    if (m->has_row)
        for (uint j = 0; j <= m->row; j++) {
            const double x = given ? matrix[m->row * m->order + j] : 0;
            m->a[triangle(m->row, j)] = x;
            largest = max(largest, as_ulong(x) & LONG_MAX);
        }
    memory->largest[get_local_id(0)] = largest;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint r = 0; r < m->order; r++) largest = max(largest, memory->largest[m->first + r]);
    const ulong exponent = largest >> 52, up = exponent_up(exponent);
    m->back = power_of_two(2046 - up);
    if (m->has_row)
        for (uint j = 0; j < m->order; j++) {
            __local double *x = &m->a[triangle(m->row, j)];
            if (j <= m->row) *x = exponent == INFINITE ? 0 : *x * power_of_two(up);
            m->v[m->row * m->order + j] = j == m->row;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    return exponent != INFINITE;
}

static inline void turn(__local double *x, __local double *y, double c, double s) {
    const double g = *x, h = *y;
    *x = c * g - s * h;
    *y = s * g + c * h;
}

/* The work-item's part of a rotation. All have read x, ii and jj before one writes them. */
static inline void rotate_row(const struct team *m, uint i, uint j, double x, double ii, double jj) {
    const uint r = m->row, n = m->order;
    const double theta = (jj - ii) / (2 * x);
    const double size = 1 / (fabs(theta) + sqrt(theta * theta + 1));
    const double t = theta < 0 ? -size : size;
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    if (r == i) {
        m->a[triangle(i, i)] = ii - t * x;
        m->a[triangle(j, j)] = jj + t * x;
        m->a[triangle(j, i)] = 0;
    } else if (r != j) {
        turn(&m->a[triangle(max(r, i), min(r, i))], &m->a[triangle(max(r, j), min(r, j))], c, s);
    }
    turn(&m->v[i * n + r], &m->v[j * n + r], c, s);
}

/* One pair of all teams. Returns whether this team turned. */
static inline int team_pair(const struct team *m, uint i, uint j) {
    const double x = m->a[triangle(j, i)], ii = m->a[triangle(i, i)], jj = m->a[triangle(j, j)];
    const int worth = !(fabs(x) <= fabs(ii) * TINY) || !(fabs(x) <= fabs(jj) * TINY);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (worth && m->has_row) rotate_row(m, i, j, x, ii, jj);
    barrier(CLK_LOCAL_MEM_FENCE);
    return worth;
}

static inline void team_solve(const struct team *m, __local struct local_memory *memory) {
    int any_turned = 1;
    for (uint sweep = 0; sweep < MAX_SWEEPS && any_turned; sweep++) {
        int turned = 0;
        for (uint i = 0; i + 1 < m->order; i++)
            for (uint j = i + 1; j < m->order; j++) turned |= team_pair(m, i, j);
        memory->turned[get_local_id(0)] = turned;
        barrier(CLK_LOCAL_MEM_FENCE);
        any_turned = 0;
        for (uint item = 0; item < GROUP; item++) any_turned |= memory->turned[item];
    }
}

/* The work-item's own value and vector, at the place that they have in ascending order, equal values in theirs. */
static inline void row_store(const struct team *m, __local const double *values, int finite, __global double *to_values,
                             __global double *to_vectors) {
    const uint n = m->order, k = m->row;
    uint place = 0, largest = 0;
    for (uint l = 0; l < n; l++) place += values[l] < values[k] || (values[l] == values[k] && l < k);
    for (uint r = 1; r < n; r++)
        if (fabs(m->v[k * n + r]) > fabs(m->v[k * n + largest])) largest = r;
    const int down = m->v[k * n + largest] < 0;
    to_values[place] = finite ? values[k] : NOT_A_NUMBER;
    for (uint r = 0; r < n; r++) {
        const double x = m->v[k * n + r];
        to_vectors[place * n + r] = !finite ? NOT_A_NUMBER : down ? -x : x;
    }
}

/* Matrices [begin, end) of one task, as many at once as there are teams. */
static inline void piece_run(const struct svmx_table *t, const struct svmx_piece *piece, __global const uchar *in,
                             __global uchar *out, __local struct local_memory *memory) {
    const uint n = (uint)svmx_at(t, piece->task, ORDER), id = (uint)get_local_id(0);
    uint size = 2;
    while (size < n) size *= 2;
    const uint number = id / size;
    struct team m;
    m.order = n;
    m.row = id - number * size;
    m.first = number * size;
    m.has_row = m.row < n;
    m.a = memory->cells + number * (triangle(n, 0) + n * n);
    m.v = m.a + triangle(n, 0);
    for (ulong first = piece->begin; first < piece->end; first += GROUP / size) {
        const ulong unit = first + number;
        const int given = unit < piece->end;
        __global const double *matrix = (__global const double *)(in + svmx_at(t, piece->task, MATRICES));
        __global double *values = (__global double *)(out + svmx_at(t, piece->task, VALUES));
        __global double *vectors = (__global double *)(out + svmx_at(t, piece->task, VECTORS));
        const int finite = team_load(&m, memory, matrix + unit * n * n, given);
        team_solve(&m, memory);
        if (m.has_row) memory->value[id] = m.a[triangle(m.row, m.row)] * m.back;
        barrier(CLK_LOCAL_MEM_FENCE);
        if (m.has_row && given)
            row_store(&m, memory->value + m.first, finite, values + unit * n, vectors + unit * n * n);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

SVMX_KERNEL(eigh_groups, 32) {
    __local struct local_memory memory;
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, EIGH_SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_group_id(0), grain, units);
    struct svmx_piece piece;
    while (svmx_walk_next(&t, &walk, &piece)) piece_run(&t, &piece, in, out, &memory);
}

#endif
