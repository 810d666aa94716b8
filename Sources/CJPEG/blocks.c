#include "blocks.h"
#include <string.h>

// Each product and each sum is rounded alone, so that all processors compute the same.
#pragma STDC FP_CONTRACT OFF

#define INLINE static inline __attribute__((always_inline))

typedef float lanes __attribute__((vector_size(32)));
typedef int32_t integers __attribute__((vector_size(32)));
typedef int16_t results __attribute__((vector_size(16)));
typedef uint8_t bytes __attribute__((vector_size(16)));
typedef uint8_t row __attribute__((vector_size(8)));

INLINE bytes low(bytes a, bytes b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}

INLINE bytes high(bytes a, bytes b) {
    return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}

// The columns of a block of samples, around 0.
INLINE void load(const JSAMPROW *rows, int left, lanes *columns) {
    bytes a[4], b[4];
    for (int i = 0; i < 4; i++) {
        bytes upper = {0}, lower = {0};
        memcpy(&upper, rows[i] + left, DCTSIZE);
        memcpy(&lower, rows[i + 4] + left, DCTSIZE);
        a[i] = low(upper, lower);
    }
    for (int i = 0; i < 2; i++) b[2 * i] = low(a[i], a[i + 2]), b[2 * i + 1] = high(a[i], a[i + 2]);
    for (int i = 0; i < 2; i++) a[2 * i] = low(b[i], b[i + 2]), a[2 * i + 1] = high(b[i], b[i + 2]);
    for (int i = 0; i < DCTSIZE; i++) {
        row column;
        memcpy(&column, (const uint8_t *)a + DCTSIZE * i, DCTSIZE);
        columns[i] = __builtin_convertvector(column, lanes) - CENTERJSAMPLE;
    }
}

// Eight cosine transforms side by side (Arai, Agui and Nakajima 1988). `units` contain the scale of the results.
INLINE void transform(lanes *v) {
    lanes a0 = v[0] + v[7], a1 = v[1] + v[6], a2 = v[2] + v[5], a3 = v[3] + v[4];
    lanes b0 = v[0] - v[7], b1 = v[1] - v[6], b2 = v[2] - v[5], b3 = v[3] - v[4];
    lanes c0 = a0 + a3, c1 = a1 + a2, c2 = a1 - a2, c3 = a0 - a3;
    lanes d0 = b3 + b2, d1 = b2 + b1, d2 = b1 + b0;
    lanes even = (c2 + c3) * 0.707106781f, odd = d1 * 0.707106781f;
    lanes turn = (d0 - d2) * 0.382683433f;
    lanes e0 = d0 * 0.541196100f + turn, e1 = d2 * 1.306562965f + turn;
    lanes f0 = b0 + odd, f1 = b0 - odd;
    v[0] = c0 + c1, v[1] = f0 + e1, v[2] = c3 + even, v[3] = f1 - e0;
    v[4] = c0 - c1, v[5] = f1 + e0, v[6] = c3 - even, v[7] = f0 - e1;
}

INLINE void transpose(lanes *v) {
    lanes t[DCTSIZE];
    for (int i = 0; i < DCTSIZE; i += 2) {
        t[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        t[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    for (int half = 0; half < DCTSIZE; half += 4) {
        for (int i = half; i < half + 2; i++) {
            v[i] = __builtin_shufflevector(t[i], t[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            v[i + 2] = __builtin_shufflevector(t[i], t[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    for (int i = 0; i < 4; i++) {
        t[i] = __builtin_shufflevector(v[i], v[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        t[i + 4] = __builtin_shufflevector(v[i], v[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
    memcpy(v, t, sizeof t);
}

INLINE void quantise(const cjpeg_quantiser *by, const JSAMPROW *rows, int count, JBLOCKROW blocks) {
    for (int n = 0; n < count; n++) {
        lanes v[DCTSIZE];
        load(rows, DCTSIZE * n, v);
        transform(v);
        transpose(v);
        transform(v);
        for (int i = 0; i < DCTSIZE; i++) {
            lanes units, least;
            memcpy(&units, by->units + DCTSIZE * i, sizeof units);
            memcpy(&least, by->least + DCTSIZE * i, sizeof least);
            lanes level = v[i] * units, size = (lanes)((integers)level & 0x7FFFFFFF);
            integers sign = (integers)level >> 31, rounded = __builtin_convertvector(size + 0.5f, integers);
            rounded &= size >= least;
            results some = __builtin_convertvector((rounded ^ sign) - sign, results);
            memcpy(blocks[n] + DCTSIZE * i, &some, sizeof some);
        }
    }
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void quantise_avx2(
    const cjpeg_quantiser *by, const JSAMPROW *rows, int count, JBLOCKROW blocks) {
    quantise(by, rows, count, blocks);
}
#endif

void cjpeg_quantise(const cjpeg_quantiser *by, const JSAMPROW *rows, int count, JBLOCKROW blocks, bool portable) {
#if defined(__x86_64__)
    if (!portable && __builtin_cpu_supports("avx2")) return quantise_avx2(by, rows, count, blocks);
#endif
    quantise(by, rows, count, blocks);
}
