/*
 * messages.cl: hashes of many messages, for any hash (keccak256.cl says what a hash defines).
 *
 * Slots: digests, data, offsets. A unit is a message; it may begin at any byte of the data. Two kernels: in
 * `messages_items` a work-item has one message, which is what GPUs like; in `messages_lanes` it has LANES of them, and
 * one that is done gives its lane to the next, which is what CPUs like.
 *
 * A message of n bytes is read in blocks, the last of which end in padding:
 *
 *   block 0 | ... | rest, MARK, zeros, what hash_last_raw adds
 *
 * SPDX-License-Identifier: Apache-2.0
 */
enum { DIGESTS, DATA, OFFSETS, SLOTS };

struct message {
    __global const uchar *data; /* the slot */
    ulong begin, end;           /* in it */
    __global uchar *digest;
};

SVMX_INLINE struct message message_of(const struct svmx_table *t, uint task, ulong unit, __global const uchar *in,
                                        __global uchar *out) {
    __global const ulong *offsets = (__global const ulong *)(in + svmx_at(t, task, OFFSETS));
    struct message m;
    m.data = in + svmx_at(t, task, DATA);
    m.begin = offsets[unit];
    m.end = offsets[unit + 1];
    m.digest = out + svmx_at(t, task, DIGESTS) + 32 * unit;
    return m;
}

#if LANES == 1

/*
 * A message as words, whatever its alignment. Only aligned words that lie inside of it to their end are read as such;
 * of its last one the bytes are. What is past the end is zero. Little is kept from block to block: the state of the
 * hash fills the registers.
 */
struct reader {
    __global const uint *next; /* the aligned word behind `held` */
    uint held, last, shift;    /* shift: bits of `held` that are not the message's */
};

/* Aligned words behind `held` that are whole, of a message with `rest` bytes left; -1 if `held` is the last. */
SVMX_INLINE int reader_whole(const struct reader *r, ulong rest) {
    return (int)clamp(((long)(rest + r->shift / 8) >> 2) - 1, -1l, 64l);
}

SVMX_INLINE struct reader reader_start(const struct message *m) {
    struct reader r;
    const ulong first = m->begin & ~3ul, last = m->end & ~3ul;
    r.next = (__global const uint *)(m->data + first);
    r.shift = 8 * (uint)(m->begin - first);
    r.last = 0;
    for (uint i = 0; i < 3; i++)
        if (last + i < m->end) r.last |= (uint)m->data[last + i] << 8 * i;
    r.held = first < last ? *r.next : r.last;
    r.next++;
    return r;
}

/* The next block, of a message with `rest` bytes left. */
SVMX_INLINE void reader_block(struct reader *r, uint *block, ulong rest) {
    const int whole = reader_whole(r, rest);
#pragma unroll
    for (uint j = 0; j < BLOCK_RAWS; j++) {
        const uint inside = (int)j < whole ? r->next[j] : 0, word = (int)j == whole ? r->last : inside;
        block[j] = (uint)(((ulong)word << 32 | r->held) >> r->shift);
        r->held = word;
    }
    r->next += BLOCK_RAWS;
}

SVMX_INLINE void message_hash(const struct message *m) {
    const ulong bytes = m->end - m->begin;
    struct reader r = reader_start(m);
    struct hash h;
    uint block[BLOCK_RAWS], digest[NODE_RAWS];
    hash_start(&h);
    ulong rest = bytes; /* wraps in a block of nothing but padding */
    for (ulong blocks = hash_blocks(bytes); blocks > 0; blocks--, rest -= BLOCK) {
        const uint mark = rest < BLOCK ? (uint)rest : BLOCK;
        reader_block(&r, block, rest);
#pragma unroll
        for (uint j = 0; j < BLOCK_RAWS; j++) {
            if (j == mark / 4) block[j] ^= MARK << 8 * (mark % 4);
            if (blocks == 1) block[j] ^= hash_last_raw(j, bytes);
        }
        hash_absorb(&h, block);
    }
    hash_digest(&h, digest);
#pragma unroll
    for (uint j = 0; j < NODE_RAWS; j++) ((__global uint *)m->digest)[j] = digest[j];
}

/* The grain is 1. */
SVMX_KERNEL(messages_items, 64) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    const ulong unit = get_global_id(0);
    if (unit >= units) return;
    const uint task = svmx_task_of(&t, unit);
    const struct message m = message_of(&t, task, unit - t.first_unit[task], in, out);
    message_hash(&m);
}

#else

/* ---- a group: LANES messages of one length, which lie end to end ---------------------------------------------- */

struct group {
    __global const uchar *at; /* the first message; the digests lie end to end too */
    __global uchar *digests;
    ulong bytes; /* of each */
};

/* Are the messages from `unit` on a group? Rows are read whole: what lies behind the last one must be in the slot. */
SVMX_INLINE bool group_take(struct group *g, const struct svmx_table *t, uint task, ulong unit, __global const uchar *in,
                            __global uchar *out) {
    __global const ulong *offsets = (__global const ulong *)(in + svmx_at(t, task, OFFSETS)) + unit;
    const ulong first = offsets[0], bytes = offsets[1] - first;
    ulong differ = 0;
#pragma unroll
    for (uint i = 1; i < LANES; i++) differ |= (offsets[i + 1] - offsets[i]) ^ bytes;
    if (differ || offsets[LANES] + sizeof(W) > svmx_bytes(t, task, DATA)) return false;
    g->at = in + svmx_at(t, task, DATA) + first;
    g->digests = out + svmx_at(t, task, DIGESTS) + 32 * unit;
    g->bytes = bytes;
    return true;
}

/* RAWs [i, i + LANES) of a block of each message, which begins at `at` in the first. */
SVMX_INLINE void group_rows(W *block, uint i, __global const uchar *at, ulong stride) {
    W r[LANES];
#pragma unroll
    for (uint l = 0; l < LANES; l++) r[l] = *(__global const W_ANY *)(at + l * stride + i * sizeof(RAW));
    transpose(r);
#pragma unroll
    for (uint j = 0; j < LANES && i + j < BLOCK_RAWS; j++) block[i + j] = r[j];
}

/* A block that has n bytes of the messages, and the mark behind them unless it was in the block before. */
SVMX_INLINE void group_block(W *block, __global const uchar *at, ulong stride, uint n, bool mark) {
    const uint whole = n / sizeof(RAW), shift = 8 * (n % sizeof(RAW));
    const RAW part = ((RAW)1 << shift) - 1, end = mark ? (RAW)MARK << shift : 0;
#pragma unroll
    for (uint i = 0; i < BLOCK_RAWS; i++) block[i] = (W)(0);
#pragma unroll
    for (uint i = 0; i < BLOCK_RAWS; i += LANES) {
        if (n > i * sizeof(RAW)) group_rows(block, i, at, stride);
        if (whole < i || whole >= i + LANES) continue;
#pragma unroll
        for (uint j = i; j < i + LANES && j < BLOCK_RAWS; j++)
            block[j] = (block[j] & (j < whole ? ~(RAW)0 : j == whole ? part : 0)) ^ (j == whole ? end : 0);
    }
}

/* Messages of fewer bytes end in the first LANES RAWs of a block that has more: what is behind is known here. */
enum { SHORT_BYTES = LANES < BLOCK_RAWS ? LANES * sizeof(RAW) : 0 };

SVMX_INLINE void group_hash_short(const struct group *g, W *digest) {
    const uint n = (uint)g->bytes, whole = n / sizeof(RAW), shift = 8 * (n % sizeof(RAW));
    const RAW part = ((RAW)1 << shift) - 1, end = (RAW)MARK << shift;
    struct hash h;
    W block[BLOCK_RAWS];
#pragma unroll
    for (uint i = 0; i < BLOCK_RAWS; i++) block[i] = (W)(i < LANES ? 0 : hash_last_raw(i, n));
    group_rows(block, 0, g->at, g->bytes);
#pragma unroll
    for (uint i = 0; i < LANES && i < BLOCK_RAWS; i++)
        block[i] = (block[i] & (i < whole ? ~(RAW)0 : i == whole ? part : 0)) ^ (i == whole ? end : 0);
    hash_only(&h, block);
    hash_digest(&h, digest);
}

SVMX_INLINE void group_hash_long(const struct group *g, W *digest) {
    const ulong blocks = hash_blocks(g->bytes);
    struct hash h;
    W block[BLOCK_RAWS];
    hash_start(&h);
    for (ulong b = 0; b < blocks; b++) {
        const ulong done = b * BLOCK, n = g->bytes > done ? min(g->bytes - done, (ulong)BLOCK) : 0;
        group_block(block, g->at + done, g->bytes, (uint)n, done <= g->bytes);
        if (b == blocks - 1)
#pragma unroll
            for (uint i = BLOCK_RAWS - 2; i < BLOCK_RAWS; i++) block[i] ^= (W)(hash_last_raw(i, g->bytes));
        hash_absorb(&h, block);
    }
    hash_digest(&h, digest);
}

SVMX_INLINE void group_hash(const struct group *g) {
    W digest[NODE_RAWS];
    NODE nodes[LANES];
    if (g->bytes < SHORT_BYTES)
        group_hash_short(g, digest);
    else
        group_hash_long(g, digest);
    lanes_to_nodes(nodes, digest);
#pragma unroll
    for (uint l = 0; l < LANES; l++) ((__global NODE *)g->digests)[l] = nodes[l];
}

/* ---- lanes with messages of any length ------------------------------------------------------------------------ */

struct lanes {
    __global const uchar *at[LANES]; /* the next block */
    __global uchar *digest[LANES];
    ulong bytes[LANES];  /* of the message */
    ulong left[LANES];   /* of the message from `at` on */
    ulong blocks[LANES]; /* still to come */
    RAW fresh[LANES];    /* all bits set in a lane that has absorbed nothing */
    W block[BLOCK_RAWS]; /* what is absorbed next; what is in idle lanes does not matter */
    uint busy;           /* a bit a lane */
};

SVMX_INLINE void lanes_init(struct lanes *l) {
    for (uint i = 0; i < LANES; i++) l->fresh[i] = 0;
    for (uint i = 0; i < BLOCK_RAWS; i++) l->block[i] = (W)(0);
    l->busy = 0;
}

SVMX_INLINE void lanes_take(struct lanes *l, uint lane, const struct message *m) {
    l->at[lane] = m->data + m->begin;
    l->digest[lane] = m->digest;
    l->bytes[lane] = l->left[lane] = m->end - m->begin;
    l->blocks[lane] = hash_blocks(l->bytes[lane]);
    l->fresh[lane] = ~(RAW)0;
    l->busy |= 1u << lane;
}

/* Less than a RAW of bytes. */
SVMX_INLINE RAW raw_part(__global const uchar *at, uint bytes) {
    RAW raw = 0;
    for (uint i = 0; i < bytes; i++) raw |= (RAW)at[i] << 8 * i;
    return raw;
}

/* The next block of one lane, a RAW in every LANES-th place of `to`. */
SVMX_INLINE void lane_block(RAW *to, struct lanes *l, uint lane) {
    __global const uchar *at = l->at[lane];
    const ulong left = l->left[lane];
    const uint n = (uint)min(left, (ulong)BLOCK), whole = n / sizeof(RAW), rest = n % sizeof(RAW);
    for (uint i = 0; i < whole; i++) to[i * LANES] = *(__global const RAW_ANY *)(at + i * sizeof(RAW));
    for (uint i = whole; i < BLOCK_RAWS; i++) to[i * LANES] = 0;
    if (rest) to[whole * LANES] = raw_part(at + whole * sizeof(RAW), rest);
    if (n < BLOCK && (n > 0 || l->bytes[lane] % BLOCK == 0)) to[whole * LANES] ^= (RAW)MARK << 8 * rest;
    if (l->blocks[lane] == 1)
        for (uint i = BLOCK_RAWS - 2; i < BLOCK_RAWS; i++) to[i * LANES] ^= hash_last_raw(i, l->bytes[lane]);
    l->at[lane] += n;
    l->left[lane] -= n;
}

/* Lanes that have just begun start from the hash's own state. */
SVMX_INLINE void lanes_start(struct lanes *l, struct hash *h) {
    struct hash start;
    const W fresh = *(const W_ANY *)l->fresh;
    hash_start(&start);
#pragma unroll
    for (uint i = 0; i < sizeof h->s / sizeof *h->s; i++) h->s[i] = (h->s[i] & ~fresh) | (start.s[i] & fresh);
#pragma unroll
    for (uint i = 0; i < LANES; i++) l->fresh[i] = 0;
}

/* One block in every busy lane. */
SVMX_INLINE void lanes_step(struct lanes *l, struct hash *h) {
    W digest[NODE_RAWS];
    NODE nodes[LANES];
    for (uint lane = 0; lane < LANES; lane++)
        if (l->busy >> lane & 1) lane_block((RAW *)l->block + lane, l, lane);
    lanes_start(l, h);
    hash_absorb(h, l->block);
    hash_digest(h, digest);
    lanes_to_nodes(nodes, digest);
    for (uint lane = 0; lane < LANES; lane++) {
        if (!(l->busy >> lane & 1) || --l->blocks[lane] > 0) continue;
        *(__global NODE *)l->digest[lane] = nodes[lane];
        l->busy &= ~(1u << lane);
    }
}

SVMX_KERNEL(messages_lanes, 1) {
    const struct svmx_table t = svmx_table_open(table, table_at, tasks, SLOTS);
    struct svmx_walk walk = svmx_walk_start(&t, get_global_id(0), grain, units);
    struct svmx_piece piece = {0, 0, 0};
    struct lanes l;
    struct hash h;
    struct group g;
    uint pending = 0; /* messages that are no group and wait for lanes */
    bool more = true;
    hash_start(&h);
    lanes_init(&l);
    while (more || l.busy) {
        if (pending == 0 && more) more = piece.begin < piece.end || svmx_walk_next(&t, &walk, &piece);
        if (pending == 0 && more) {
            pending = (uint)min(piece.end - piece.begin, (ulong)LANES);
            if (pending == LANES && group_take(&g, &t, piece.task, piece.begin, in, out)) {
                group_hash(&g);
                piece.begin += LANES;
                pending = 0;
                continue;
            }
        }
        for (uint lane = 0; lane < LANES && pending > 0; lane++) {
            if (l.busy >> lane & 1) continue;
            const struct message m = message_of(&t, piece.task, piece.begin++, in, out);
            lanes_take(&l, lane, &m);
            pending--;
        }
        if (l.busy && (pending > 0 || !more)) lanes_step(&l, &h);
    }
}

#endif
