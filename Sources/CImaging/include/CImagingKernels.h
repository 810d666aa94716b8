// The inner loops of resampling and colour conversion: AVX2 if the processor has it, NEON, otherwise C for the compiler to
// vectorise.
//
// Between the two passes of resampling, samples have 16 bits with 6 fractional bits. Weights have 14 fractional bits.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define CK_FRACTION 6
#define CK_WEIGHT_BITS 14
/// The number of weights of a horizontal output is a multiple of this.
#define CK_TAPS 8

/// The weights of one direction: output i is the sum of `weights[i * taps + t] * from[starts[i] + t]`.
typedef struct {
    int outputs;
    /// A multiple of CK_TAPS; `starts[i] + taps` never passes the end of the row.
    int taps;
    const int32_t *starts;
    const int16_t *weights;
    /// The weights as ck_arrange has written them, or NULL.
    const int16_t *arranged;
} ck_axis;

/// Writes the weights of `axis` in the order in which ck_across_u8 and ck_across_i16 take them on this processor, for rows of `samples` samples. The
/// results are the same without it. The numbers must stay at their place.
/// Returns how many numbers they are: at most 32, and 32 + 8 * taps for each eight outputs or fewer. 0 if there is no such order. With
/// NULL for `to` it only counts them.
size_t ck_arrange(ck_axis axis, int samples, int16_t *to);

/// One row horizontally: 8-bit samples, or intermediate ones.
void ck_across_u8(const uint8_t *from, int16_t *to, ck_axis axis);
void ck_across_i16(const int16_t *from, int16_t *to, ck_axis axis);

/// One row vertically: the sum of `taps` rows (an even number), as 8-bit or intermediate samples.
void ck_down_u8(const int16_t *const *rows, const int16_t *weights, int taps, uint8_t *to, int width);
void ck_down_i16(const int16_t *const *rows, const int16_t *weights, int taps, int16_t *to, int width);

/// For very many rows per output: adds an intermediate row to sums of at most 32,768 rows, and makes the average of `count` rows
/// from the sums, which are reset to 0.
void ck_add(const int16_t *row, int32_t *sums, int width);
void ck_average(int32_t *sums, int16_t *to, int count, int width);

/// Packed samples to planes and back; `channels` is 2, 3 or 4.
void ck_split(const uint8_t *from, uint8_t *const *to, int channels, int width);
void ck_join(const uint8_t *const *from, uint8_t *to, int channels, int width);

/// A value of a curve: light, up to 255 << 6, and 2^15 times half of the curve's second derivative by the sample.
typedef struct {
    int16_t light, bend;
} ck_light;

/// Packed samples to intermediate planes. Each sample except alpha is mapped by `curve` (256 values; NULL keeps it). With alpha, the last
/// channel, the others are premultiplied.
void ck_open(const uint8_t *from, int16_t *const *to, int channels, int has_alpha, const ck_light *curve, int width);
/// The mean light around samples of one channel: each stands for others with a variance of up to 16,383.
void ck_open_means(const uint8_t *from, const uint16_t *variances, int16_t *to, const ck_light *curve, int width);
/// The inverse; `curve` has (255 << 6) + 1 values.
void ck_close(const int16_t *const *from, uint8_t *to, int channels, int has_alpha, const uint8_t *curve, int width);

/// Two rows to one of half the width, rounded up: averages of four intermediate samples each.
void ck_halve(const uint8_t *upper, const uint8_t *lower, int16_t *to, int width);

/// Full-range BT.601 (ITU-T T.871), chroma as wide as luma, to packed RGB.
void ck_rgb_from_ycbcr(const uint8_t *y, const uint8_t *cb, const uint8_t *cr, uint8_t *to, int width);
/// The inverse, with a chroma sample for each pixel.
void ck_ycbcr_from_rgb(const uint8_t *from, uint8_t *y, uint8_t *cb, uint8_t *cr, int width);
/// Inks (255 is full ink) to RGB without a profile.
void ck_rgb_from_cmyk(const uint8_t *from, uint8_t *to, int width);

/// Sums over 4 × 4 samples of two pictures: their samples, their squares together, and their products.
typedef struct {
    uint32_t a, b, squares, products;
} ck_cell;

/// A row of cells: four rows of samples of both pictures.
void ck_cells(const uint8_t *a, size_t a_stride, const uint8_t *b, size_t b_stride, ck_cell *to, int count);
/// How different two rows of cells are, in windows of 2 × 2 cells: `count` windows, one less than the cells of a row. Sums the fourth
/// powers of 1 - SSIM, times 2^48. Integers only, so that all processors give the same.
uint64_t ck_dissimilarity(const ck_cell *upper, const ck_cell *lower, int count);
