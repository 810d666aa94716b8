#include "CImagingKernels.h"
#include "arranged.h"

#if defined(__x86_64__)
#include <immintrin.h>

// Four outputs at a time: sixteen taps per step, then eight, and the partial sums of the four folded together at the end.
#define STEP16(sum, LOAD, f, w) \
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(LOAD(f), _mm256_loadu_si256((const __m256i *)(w))))
#define STEP8(sum, LOAD, f, w) \
    sum = _mm256_add_epi32(sum, _mm256_zextsi128_si256(_mm_madd_epi16(LOAD(f), _mm_loadu_si128((const __m128i *)(w)))))
#define SUMS(LOAD16, LOAD8, sample)                                                                                   \
    const int16_t *w0 = axis.weights + (size_t)i * axis.taps, *w1 = w0 + axis.taps, *w2 = w1 + axis.taps,             \
                  *w3 = w2 + axis.taps;                                                                               \
    const sample *f0 = from + axis.starts[i], *f1 = from + axis.starts[i + 1], *f2 = from + axis.starts[i + 2],       \
                 *f3 = from + axis.starts[i + 3];                                                                     \
    __m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;                                                          \
    int t = 0;                                                                                                        \
    for (; t + 16 <= axis.taps; t += 16) {                                                                            \
        STEP16(a, LOAD16, f0 + t, w0 + t);                                                                            \
        STEP16(b, LOAD16, f1 + t, w1 + t);                                                                            \
        STEP16(c, LOAD16, f2 + t, w2 + t);                                                                            \
        STEP16(d, LOAD16, f3 + t, w3 + t);                                                                            \
    }                                                                                                                 \
    if (t < axis.taps) {                                                                                              \
        STEP8(a, LOAD8, f0 + t, w0 + t);                                                                              \
        STEP8(b, LOAD8, f1 + t, w1 + t);                                                                              \
        STEP8(c, LOAD8, f2 + t, w2 + t);                                                                              \
        STEP8(d, LOAD8, f3 + t, w3 + t);                                                                              \
    }                                                                                                                 \
    __m256i pairs = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));                              \
    __m128i sums = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1))

#define U8_16(p) _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(p)))
#define U8_8(p) _mm_cvtepu8_epi16(_mm_loadl_epi64((const __m128i *)(p)))
#define I16_16(p) _mm256_loadu_si256((const __m256i *)(p))
#define I16_8(p) _mm_loadu_si128((const __m128i *)(p))

__attribute__((target("avx2"))) static int across_u8_avx2(const uint8_t *from, int16_t *to, ck_axis axis) {
    const __m128i half = _mm_set1_epi32(1 << (CK_WEIGHT_BITS - CK_FRACTION - 1));
    int i = 0;
    for (; i + 4 <= axis.outputs; i += 4) {
        SUMS(U8_16, U8_8, uint8_t);
        sums = _mm_srai_epi32(_mm_add_epi32(sums, half), CK_WEIGHT_BITS - CK_FRACTION);
        _mm_storel_epi64((__m128i *)(to + i), _mm_packs_epi32(sums, sums));
    }
    return i;
}

__attribute__((target("avx2"))) static int across_i16_avx2(const int16_t *from, int16_t *to, ck_axis axis) {
    const __m128i half = _mm_set1_epi32(1 << (CK_WEIGHT_BITS - 1));
    int i = 0;
    for (; i + 4 <= axis.outputs; i += 4) {
        SUMS(I16_16, I16_8, int16_t);
        sums = _mm_srai_epi32(_mm_add_epi32(sums, half), CK_WEIGHT_BITS);
        _mm_storel_epi64((__m128i *)(to + i), _mm_packs_epi32(sums, sums));
    }
    return i;
}
#endif

static int16_t clamped(int32_t value) { return (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value); }

#if defined(__aarch64__)
#include <arm_neon.h>

static int across_u8_neon(const uint8_t *from, int16_t *to, ck_axis axis) {
    for (int i = 0; i < axis.outputs; i++) {
        const int16_t *w = axis.weights + (size_t)i * axis.taps;
        const uint8_t *f = from + axis.starts[i];
        int32x4_t a = vdupq_n_s32(0), b = a;
        for (int t = 0; t < axis.taps; t += 8) {
            int16x8_t s = vreinterpretq_s16_u16(vmovl_u8(vld1_u8(f + t))), v = vld1q_s16(w + t);
            a = vmlal_s16(a, vget_low_s16(s), vget_low_s16(v));
            b = vmlal_high_s16(b, s, v);
        }
        int32_t sum = vaddvq_s32(vaddq_s32(a, b));
        to[i] = clamped((sum + (1 << (CK_WEIGHT_BITS - CK_FRACTION - 1))) >> (CK_WEIGHT_BITS - CK_FRACTION));
    }
    return axis.outputs;
}
#endif

void ck_across_u8(const uint8_t *from, int16_t *to, ck_axis axis) {
    int i = 0;
#if defined(__x86_64__)
    if (axis.arranged) {
        ck_across_arranged_u8(from, to, axis.arranged, axis.outputs);
        return;
    }
    if (__builtin_cpu_supports("avx2")) i = across_u8_avx2(from, to, axis);
#elif defined(__aarch64__)
    i = across_u8_neon(from, to, axis);
#endif
    for (; i < axis.outputs; i++) {
        const int16_t *w = axis.weights + (size_t)i * axis.taps;
        const uint8_t *f = from + axis.starts[i];
        int32_t sum = 1 << (CK_WEIGHT_BITS - CK_FRACTION - 1);
        for (int t = 0; t < axis.taps; t++) sum += w[t] * f[t];
        to[i] = clamped(sum >> (CK_WEIGHT_BITS - CK_FRACTION));
    }
}

void ck_across_i16(const int16_t *from, int16_t *to, ck_axis axis) {
    int i = 0;
#if defined(__x86_64__)
    if (axis.arranged) {
        ck_across_arranged_i16(from, to, axis.arranged, axis.outputs);
        return;
    }
    if (__builtin_cpu_supports("avx2")) i = across_i16_avx2(from, to, axis);
#endif
    for (; i < axis.outputs; i++) {
        const int16_t *w = axis.weights + (size_t)i * axis.taps;
        const int16_t *f = from + axis.starts[i];
        int32_t sum = 1 << (CK_WEIGHT_BITS - 1);
        for (int t = 0; t < axis.taps; t++) sum += w[t] * f[t];
        to[i] = clamped(sum >> CK_WEIGHT_BITS);
    }
}
