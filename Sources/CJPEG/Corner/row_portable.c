#include "reader.h"
#include <string.h>

#define ROWS cjr_rows_portable
#define PAIRED 1

#if defined(__aarch64__)
#include <arm_neon.h>
typedef int16x8x2_t vector;

// A doubled product shifted by 16 bits with rounding is the product shifted by 15.
static inline vector share(int16_t value, const int16_t *lanes) {
    int16x8_t all = vdupq_n_s16(value);
    return (vector){{vqrdmulhq_s16(all, vld1q_s16(lanes)), vqrdmulhq_s16(all, vld1q_s16(lanes + 8))}};
}

static inline vector product(int32_t value, const int16_t *lanes) { return share(vqmovns_s32(value), lanes); }

static inline vector sum(vector a, vector b) {
    return (vector){{vqaddq_s16(a.val[0], b.val[0]), vqaddq_s16(a.val[1], b.val[1])}};
}

static inline uint8x8_t bytes_of(int16x8_t samples) {
    samples = vqaddq_s16(samples, vdupq_n_s16(1 << (CJR_SAMPLE_BITS - 1)));
    return vqmovun_s16(vaddq_s16(vshrq_n_s16(samples, CJR_SAMPLE_BITS), vdupq_n_s16(128)));
}

static inline void narrow(const vector *samples, int count, uint8_t *bytes) {
    for (int i = 0; i < count; i++) {
        vst1_u8(bytes + i * CJR_LANES, bytes_of(samples[i].val[0]));
        vst1_u8(bytes + i * CJR_LANES + 8, bytes_of(samples[i].val[1]));
    }
}
#elif defined(__SSE2__)
#include <emmintrin.h>
typedef struct {
    __m128i half[2];
} vector;

// The upper half of a product, doubled, and what the lower half adds to it with rounding.
static inline vector products(__m128i all, const int16_t *lanes) {
    vector result;
    for (int i = 0; i < 2; i++) {
        __m128i others = _mm_load_si128((const __m128i *)lanes + i);
        __m128i high = _mm_mulhi_epi16(all, others), low = _mm_mullo_epi16(all, others);
        low = _mm_avg_epu16(_mm_srli_epi16(low, 14), _mm_setzero_si128());
        result.half[i] = _mm_add_epi16(_mm_add_epi16(high, high), low);
    }
    return result;
}

static inline vector share(int16_t value, const int16_t *lanes) { return products(_mm_set1_epi16(value), lanes); }

static inline vector product(int32_t value, const int16_t *lanes) {
    __m128i wide = _mm_cvtsi32_si128(value), all = _mm_packs_epi32(wide, wide);
    return products(_mm_shuffle_epi32(_mm_unpacklo_epi16(all, all), 0), lanes);
}

static inline vector sum(vector a, vector b) {
    return (vector){{_mm_adds_epi16(a.half[0], b.half[0]), _mm_adds_epi16(a.half[1], b.half[1])}};
}

static inline __m128i rounded(__m128i samples) {
    samples = _mm_adds_epi16(samples, _mm_set1_epi16(1 << (CJR_SAMPLE_BITS - 1)));
    return _mm_add_epi16(_mm_srai_epi16(samples, CJR_SAMPLE_BITS), _mm_set1_epi16(128));
}

static inline void narrow(const vector *samples, int count, uint8_t *bytes) {
    for (int i = 0; i < count; i++) {
        __m128i narrowed = _mm_packus_epi16(rounded(samples[i].half[0]), rounded(samples[i].half[1]));
        _mm_storeu_si128((__m128i *)(bytes + i * CJR_LANES), narrowed);
    }
}
#else
typedef struct {
    int16_t lane[CJR_LANES];
} vector;

static inline int16_t saturated(int32_t value) { return (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value); }

static inline vector share(int16_t value, const int16_t *lanes) {
    vector result;
    for (int i = 0; i < CJR_LANES; i++) result.lane[i] = (int16_t)((value * lanes[i] + 0x4000) >> 15);
    return result;
}

static inline vector product(int32_t value, const int16_t *lanes) { return share(saturated(value), lanes); }

static inline vector sum(vector a, vector b) {
    for (int i = 0; i < CJR_LANES; i++) a.lane[i] = saturated(a.lane[i] + b.lane[i]);
    return a;
}

static inline void narrow(const vector *samples, int count, uint8_t *bytes) {
    for (int i = 0; i < count * CJR_LANES; i++) {
        int sum = samples[i / CJR_LANES].lane[i % CJR_LANES];
        int value = (saturated(sum + (1 << (CJR_SAMPLE_BITS - 1))) >> CJR_SAMPLE_BITS) + 128;
        bytes[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}
#endif

#include "sharing.h"

// Loops over whole vectors, for the compiler to vectorise.
static inline void share_out(
    const vector *samples, const vector *means, int vectors, int count, int variance, uint16_t *shares) {
    int16_t sums[CJR_SHARED * CJR_LANES], grounds[CJR_SHARED * CJR_LANES];
    uint16_t weights[CJR_SHARED * CJR_LANES];
    memcpy(sums, samples, (size_t)vectors * sizeof *samples);
    memcpy(grounds, means, (size_t)vectors * sizeof *means);
    int darkness = CJR_WHITE - grounds[0], total = 0;
    darkness = darkness < 0 ? 0 : darkness > 2 * CJR_WHITE ? 2 * CJR_WHITE : darkness;
    for (int i = 0; i < vectors * CJR_LANES; i++) {
        int distance = 2 * (sums[i] - grounds[i]);
        distance = distance < -INT16_MAX ? -INT16_MAX : distance > INT16_MAX ? INT16_MAX : distance;
        int square = (distance * distance + 0x4000) >> 15, more = (square * darkness + 0x4000) >> 15;
        weights[i] = (uint16_t)(distance < 0 ? square - more : square + more);
        total += square;
    }
    int even = even_weight(total, count);
    float unit = share_of_weight(variance, total, even, count);
    for (int i = 0; i < vectors * CJR_LANES; i++) {
        int share = (int)((float)(weights[i] + even) * unit);
        shares[i] = (uint16_t)(share < CJR_VARIANCE ? share : CJR_VARIANCE);
    }
}

#include "row.h"

// The lowest bit is the next zero.
static inline uint64_t in_turn(uint64_t zeros) { return __builtin_bitreverse64(zeros); }

static inline int pass(uint64_t *turn, int steps, int left) {
    (void)left;
    while (--steps > 0) *turn &= *turn - 1;
    int k = __builtin_ctzll(*turn);
    *turn &= *turn - 1;
    return k;
}

static inline uint64_t deposit(uint64_t values, uint64_t bits, uint64_t wanted) {
    uint64_t result = 0;
    for (uint64_t rest = bits & wanted; rest; rest &= rest - 1) {
        uint64_t bit = rest & -rest;
        if (values >> __builtin_popcountll(bits & (bit - 1)) & 1) result |= bit;
    }
    return result;
}

static inline void change(
    int16_t *values, int places, uint64_t mask, uint64_t corrected, uint64_t added, uint64_t negative, int16_t step) {
    (void)places;
    for (uint64_t rest = (corrected | added) & mask; rest; rest &= rest - 1) {
        uint64_t bit = rest & -rest;
        int16_t *value = &values[__builtin_popcountll(mask & (bit - 1))];
        bool is_negative = added & bit ? (negative & bit) != 0 : *value < 0;
        *value = (int16_t)(*value + (is_negative ? -step : step));
    }
}

#define SCAN_ROWS cjr_scan_rows_portable
#include "scan.h"
