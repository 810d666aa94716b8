#include "CImagingKernels.h"
#include "arranged.h"
#include <stdbool.h>
#include <string.h>

// An order of weights in which no lane is wasted: a shuffle takes two neighbouring samples for each of eight outputs, which one
// instruction multiplies and adds. The numbers are, from the first multiple of 32 bytes on,
//   groups, pairs, singles: eight outputs are a group, two weights of each output a pair, and singles are the first pairs, for which
//     samples are loaded alone; sixteen numbers with what is unused;
//   for each group:
//     two firsts: the first sample of outputs 0 to 3, and of 4 to 7; sixteen numbers with what is unused;
//     the places of the samples that the shuffle takes, from there on; sixteen numbers;
//     the pairs, each of eight outputs.
// The last group is of the last eight outputs, of which some may be in the group before too. Sixteen samples are loaded at a time, for two
// pairs up to four samples an output, and for one up to nearly five. Beyond that there are no groups.

#if defined(__x86_64__)
#include <immintrin.h>

enum { OUTPUTS = 8, HALF = 4, LOADED = 16, ALIGNED = 16, HEAD = 16, FIRSTS = 16, PLACES = 16 };

typedef struct {
    const ck_axis *axis;
    int samples, groups, pairs;
    // Whether the samples of two pairs are in one load.
    bool is_near;
} arrangement;

// The weights of an output that are not zero.
typedef struct {
    int first, end;
} span;

static span span_of(const ck_axis *axis, int output) {
    const int16_t *weights = axis->weights + (size_t)output * axis->taps;
    span used = {0, axis->taps};
    while (used.end > 1 && weights[used.end - 1] == 0) used.end--;
    while (used.first < used.end - 1 && weights[used.first] == 0) used.first++;
    return used;
}

static const int16_t *aligned(const int16_t *numbers) {
    return numbers + (-(uintptr_t)numbers / sizeof *numbers) % ALIGNED;
}

static size_t size_of_group(int pairs) { return FIRSTS + PLACES + 2 * OUTPUTS * (size_t)pairs; }

static int first_output(int group, int outputs) {
    return (group + 1) * OUTPUTS > outputs ? outputs - OUTPUTS : group * OUTPUTS;
}

// The first sample for half a group, from `output` on: the last load stays in the row.
static int first_sample(const arrangement *of, int output) {
    int last = of->is_near && of->pairs > 1 ? of->pairs - 2 : of->pairs - 1, first = of->samples - LOADED - 2 * last;
    for (int i = output; i < output + HALF; i++) {
        int start = of->axis->starts[i] + span_of(of->axis, i).first;
        if (start < first) first = start;
    }
    return first;
}

// The place of an output's samples behind the first one. At the end of a row windows are short, so they may begin with zeros.
static int place_of(const arrangement *of, int output, int first) {
    int place = of->axis->starts[output] + span_of(of->axis, output).first - first, last = LOADED - (of->is_near ? 4 : 2);
    return place < last ? place : last;
}

static bool reaches(const arrangement *of) {
    for (int group = 0; group < of->groups; group++)
        for (int half = 0; half < OUTPUTS; half += HALF) {
            int output = first_output(group, of->axis->outputs) + half, first = first_sample(of, output);
            if (first < 0) return false;
            for (int i = output; i < output + HALF; i++)
                if (first + place_of(of, i, first) + 2 * of->pairs < of->axis->starts[i] + span_of(of->axis, i).end) return false;
        }
    return true;
}

// Numbers of each kind lie beside those of the other half.
static void arrange_half(const arrangement *of, int output, int16_t *group, int half) {
    int32_t first = first_sample(of, output);
    memcpy(group + 2 * half, &first, sizeof first);
    uint8_t *places = (uint8_t *)(group + FIRSTS) + half * LOADED;
    group += FIRSTS + PLACES + OUTPUTS * half;
    for (int i = 0; i < HALF; i++, places += 4) {
        span used = span_of(of->axis, output + i);
        int place = place_of(of, output + i, first), tap = first + place - of->axis->starts[output + i];
        const int16_t *weights = of->axis->weights + (size_t)(output + i) * of->axis->taps;
        // A sample becomes a number of 16 bits.
        places[0] = (uint8_t)place;
        places[2] = (uint8_t)(place + 1);
        places[1] = places[3] = 0x80;
        for (int t = 0; t < 2 * of->pairs; t++, tap++)
            if (tap >= used.first && tap < used.end) group[2 * OUTPUTS * (t / 2) + 2 * i + t % 2] = weights[tap];
    }
}

size_t ck_arrange(ck_axis axis, int samples, int16_t *to) {
    if (axis.outputs < OUTPUTS || !__builtin_cpu_supports("avx2")) return 0;
    int longest = 0;
    for (int i = 0; i < axis.outputs; i++) {
        span used = span_of(&axis, i);
        if (used.end - used.first > longest) longest = used.end - used.first;
    }
    arrangement made = {&axis, samples, (axis.outputs + OUTPUTS - 1) / OUTPUTS, (longest + 1) / 2, true};
    if (!reaches(&made)) made.is_near = false;
    if (!made.is_near && !reaches(&made)) return 0;
    size_t size = ALIGNED + HEAD + (size_t)made.groups * size_of_group(made.pairs);
    if (to == NULL) return size;
    memset(to, 0, size * sizeof *to);
    to = (int16_t *)aligned(to);
    const int32_t head[] = {made.groups, made.pairs, made.is_near ? made.pairs % 2 : made.pairs};
    memcpy(to, head, sizeof head);
    for (int i = 0; i < made.groups; i++) {
        int16_t *group = to + HEAD + (size_t)i * size_of_group(made.pairs);
        int output = first_output(i, axis.outputs);
        arrange_half(&made, output, group, 0);
        arrange_half(&made, output + HALF, group, 1);
    }
    return size;
}

__attribute__((target("avx2"), always_inline)) static inline __m256i load(const uint8_t *low, const uint8_t *high) {
    __m256i samples = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)low));
    return _mm256_inserti128_si256(samples, _mm_loadu_si128((const __m128i *)high), 1);
}

__attribute__((target("avx2"), always_inline)) static inline __m256i add_pair(
    __m256i sums, __m256i samples, __m256i places, const int16_t *weights) {
    __m256i products = _mm256_madd_epi16(_mm256_shuffle_epi8(samples, places), _mm256_load_si256((const __m256i *)weights));
    return _mm256_add_epi32(sums, products);
}

// The three numbers at the beginning, and where the groups begin.
typedef struct {
    int groups, singles, doubles;
    const int16_t *next;
} opened;

static opened open_arranged(const int16_t *arranged) {
    int32_t head[3];
    arranged = aligned(arranged);
    memcpy(head, arranged, sizeof head);
    return (opened){head[0], head[2], (head[1] - head[2]) / 2, arranged + HEAD};
}

// Eight sums, in their order, as numbers of 16 bits.
__attribute__((target("avx2"), always_inline)) static inline void store(__m256i sums, int16_t *to) {
    sums = _mm256_permute4x64_epi64(_mm256_packs_epi32(sums, sums), 2 << 2);
    _mm_storeu_si128((__m128i *)to, _mm256_castsi256_si128(sums));
}

__attribute__((target("avx2"))) void ck_across_arranged_u8(const uint8_t *from, int16_t *to, const int16_t *arranged, int outputs) {
    const __m256i half = _mm256_set1_epi32(1 << (CK_WEIGHT_BITS - CK_FRACTION - 1)), two = _mm256_set1_epi16(2);
    opened of = open_arranged(arranged);
    int32_t firsts[2];
    arranged = of.next;
    for (int group = 0; group < of.groups; group++) {
        memcpy(firsts, arranged, sizeof firsts);
        const uint8_t *low = from + firsts[0], *high = from + firsts[1];
        __m256i places = _mm256_load_si256((const __m256i *)(arranged + FIRSTS)), next = _mm256_add_epi16(places, two), sums = half;
        arranged += FIRSTS + PLACES;
        for (int left = of.singles; left > 0; left--, low += 2, high += 2, arranged += 2 * OUTPUTS)
            sums = add_pair(sums, load(low, high), places, arranged);
        for (int left = of.doubles; left > 0; left--, low += 4, high += 4, arranged += 4 * OUTPUTS) {
            __m256i samples = load(low, high);
            sums = add_pair(sums, samples, places, arranged);
            sums = add_pair(sums, samples, next, arranged + 2 * OUTPUTS);
        }
        store(_mm256_srai_epi32(sums, CK_WEIGHT_BITS - CK_FRACTION), to + first_output(group, outputs));
    }
}

// Sixteen samples of each half of a group: the first eight and the others.
typedef struct {
    __m256i near, far;
} loaded;

__attribute__((target("avx2"), always_inline)) static inline loaded load_i16(const int16_t *low, const int16_t *high) {
    return (loaded){load((const uint8_t *)low, (const uint8_t *)high), load((const uint8_t *)(low + 8), (const uint8_t *)(high + 8))};
}

// `bytes` are the places of both bytes of a sample in 32 bytes. A shuffle gives zero for a place whose highest bit is set: for those
// behind 16, once 0x70 is added, and for those before, once 16 is subtracted.
__attribute__((target("avx2"), always_inline)) static inline __m256i add_pair_i16(
    __m256i sums, loaded samples, __m256i bytes, const int16_t *weights) {
    __m256i near = _mm256_shuffle_epi8(samples.near, _mm256_add_epi8(bytes, _mm256_set1_epi8(0x70)));
    __m256i far = _mm256_shuffle_epi8(samples.far, _mm256_sub_epi8(bytes, _mm256_set1_epi8(16)));
    __m256i products = _mm256_madd_epi16(_mm256_or_si256(near, far), _mm256_load_si256((const __m256i *)weights));
    return _mm256_add_epi32(sums, products);
}

__attribute__((target("avx2"))) void ck_across_arranged_i16(const int16_t *from, int16_t *to, const int16_t *arranged, int outputs) {
    const __m256i half = _mm256_set1_epi32(1 << (CK_WEIGHT_BITS - 1)), four = _mm256_set1_epi8(4);
    opened of = open_arranged(arranged);
    int32_t firsts[2];
    arranged = of.next;
    for (int group = 0; group < of.groups; group++) {
        memcpy(firsts, arranged, sizeof firsts);
        const int16_t *low = from + firsts[0], *high = from + firsts[1];
        __m256i places = _mm256_load_si256((const __m256i *)(arranged + FIRSTS)), sums = half;
        // A place becomes two: 2 * place and the next.
        __m256i twice = _mm256_slli_epi16(_mm256_and_si256(places, _mm256_set1_epi16(0xFF)), 1);
        __m256i bytes = _mm256_add_epi8(_mm256_or_si256(twice, _mm256_slli_epi16(twice, 8)), _mm256_set1_epi16(0x100));
        __m256i next = _mm256_add_epi8(bytes, four);
        arranged += FIRSTS + PLACES;
        for (int left = of.singles; left > 0; left--, low += 2, high += 2, arranged += 2 * OUTPUTS)
            sums = add_pair_i16(sums, load_i16(low, high), bytes, arranged);
        for (int left = of.doubles; left > 0; left--, low += 4, high += 4, arranged += 4 * OUTPUTS) {
            loaded samples = load_i16(low, high);
            sums = add_pair_i16(sums, samples, bytes, arranged);
            sums = add_pair_i16(sums, samples, next, arranged + 2 * OUTPUTS);
        }
        store(_mm256_srai_epi32(sums, CK_WEIGHT_BITS), to + first_output(group, outputs));
    }
}
#else
size_t ck_arrange(ck_axis axis, int samples, int16_t *to) {
    (void)axis, (void)samples, (void)to;
    return 0;
}
#endif
