#include "reader.h"
#include <string.h>

#define ROWS cjr_rows_portable

#if defined(__aarch64__)
#include <arm_neon.h>
typedef int16x8x2_t vector;

// A doubled product shifted by 16 bits with rounding is the product shifted by 15.
static inline vector product(int32_t value, const int16_t *lanes) {
    int16x8_t all = vdupq_n_s16(vqmovns_s32(value));
    return (vector){{vqrdmulhq_s16(all, vld1q_s16(lanes)), vqrdmulhq_s16(all, vld1q_s16(lanes + 8))}};
}

static inline vector sum(vector a, vector b) {
    return (vector){{vqaddq_s16(a.val[0], b.val[0]), vqaddq_s16(a.val[1], b.val[1])}};
}

static inline uint8x8_t bytes_of(int16x8_t samples) {
    samples = vqaddq_s16(samples, vdupq_n_s16(1 << (CJR_SAMPLE_BITS - 1)));
    return vqmovun_s16(vaddq_s16(vshrq_n_s16(samples, CJR_SAMPLE_BITS), vdupq_n_s16(128)));
}

static inline void store(vector samples, uint8_t *rows, size_t stride, int corner) {
    uint8_t bytes[16];
    vst1_u8(bytes, bytes_of(samples.val[0]));
    vst1_u8(bytes + 8, bytes_of(samples.val[1]));
    if (corner == 1) rows[0] = bytes[0];
    else for (int y = 0; y < corner; y++) memcpy(rows + (size_t)y * stride, bytes + 4 * y, 4);
}
#else
typedef struct {
    int16_t lane[CJR_LANES];
} vector;

static inline int16_t saturated(int32_t value) { return (int16_t)(value < -32768 ? -32768 : value > 32767 ? 32767 : value); }

// The value with saturation to 16 bits, times each lane, shifted by 15 bits with rounding.
static inline vector product(int32_t value, const int16_t *lanes) {
    vector result;
    int32_t all = saturated(value);
    for (int i = 0; i < CJR_LANES; i++) result.lane[i] = (int16_t)((all * lanes[i] + 0x4000) >> 15);
    return result;
}

static inline vector sum(vector a, vector b) {
    for (int i = 0; i < CJR_LANES; i++) a.lane[i] = saturated(a.lane[i] + b.lane[i]);
    return a;
}

static inline void store(vector samples, uint8_t *rows, size_t stride, int corner) {
    uint8_t bytes[CJR_LANES];
    for (int i = 0; i < CJR_LANES; i++) {
        int value = (saturated(samples.lane[i] + (1 << (CJR_SAMPLE_BITS - 1))) >> CJR_SAMPLE_BITS) + 128;
        bytes[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
    if (corner == 1) rows[0] = bytes[0];
    else for (int y = 0; y < corner; y++) memcpy(rows + (size_t)y * stride, bytes + 4 * y, 4);
}
#endif

#include "row.h"

static inline int set_bit(uint64_t bits, int skip) {
    while (skip-- > 0) bits &= bits - 1;
    return bits ? __builtin_ctzll(bits) : 64;
}

#define SCAN_ROWS cjr_scan_rows_portable
#include "scan.h"
