/*
 * transpose.cl: a square of LANES x LANES becomes its transpose, in registers: 8 or 16 rows of the type W.
 *
 * Behind whatever defines W; nothing where LANES is 1.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#if LANES > 1

#if LANES == 8
#define ZIP_LOW(a, b)  (W)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3)
#define ZIP_HIGH(a, b) (W)((a).s4, (b).s4, (a).s5, (b).s5, (a).s6, (b).s6, (a).s7, (b).s7)
#else
#define ZIP_LOW(a, b)                                                                                                  \
    (W)((a).s0, (b).s0, (a).s1, (b).s1, (a).s2, (b).s2, (a).s3, (b).s3, (a).s4, (b).s4, (a).s5, (b).s5, (a).s6,        \
        (b).s6, (a).s7, (b).s7)
#define ZIP_HIGH(a, b)                                                                                                 \
    (W)((a).s8, (b).s8, (a).s9, (b).s9, (a).sa, (b).sa, (a).sb, (b).sb, (a).sc, (b).sc, (a).sd, (b).sd, (a).se,        \
        (b).se, (a).sf, (b).sf)
#endif

/* Rows become columns: row i is merged with row i + LANES / 2, until each has met all. */
SVMX_INLINE void transpose(W *r) {
    W s[LANES];
#pragma unroll
    for (uint step = 1; step < LANES; step *= 2) {
#pragma unroll
        for (uint i = 0; i < LANES / 2; i++) {
            s[2 * i] = ZIP_LOW(r[i], r[i + LANES / 2]);
            s[2 * i + 1] = ZIP_HIGH(r[i], r[i + LANES / 2]);
        }
#pragma unroll
        for (uint i = 0; i < LANES; i++) r[i] = s[i];
    }
}

#endif
