#include "chunk.h"
#include "inflate.h"

#include <stdlib.h>
#include <string.h>

// Moves on to the next chunk with bytes. False if there is none.
static bool next_chunk(bit_stream *stream) {
    while (stream->in == stream->end) {
        if (stream->chunks == 0) return false;
        stream->chunks--;
        // Behind a chunk is its checksum.
        const uint8_t *chunk = stream->end + 4;
        stream->in = chunk + 8;
        stream->end = stream->in + big_endian(chunk);
    }
    return true;
}

static __attribute__((noinline)) void refill_slowly(bit_stream *stream) {
    while (stream->count < 56) {
        uint64_t byte = 0;
        if (next_chunk(stream))
            byte = *stream->in++;
        else
            stream->missing++;
        stream->bits |= byte << stream->count;
        stream->count += 8;
    }
}

static inline uint64_t eight(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

// The lower byte first in memory.
static inline uint16_t little_endian(uint16_t two) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    two = __builtin_bswap16(two);
#endif
    return two;
}

// Afterwards there are at least 56 bits.
static void refill(bit_stream *stream) {
    if (stream->end - stream->in < 8) return refill_slowly(stream);
    stream->bits |= eight(stream->in) << stream->count;
    stream->in += (63 - stream->count) >> 3;
    stream->count |= 56;
}

// The next `size` bits, at most 32, of those that are there.
static unsigned take(bit_stream *stream, unsigned size) {
    unsigned bits = (unsigned)(stream->bits & ((1ull << size) - 1));
    stream->bits >>= size;
    stream->count -= size;
    return bits;
}

cpng_status inflate_begin(inflate_stream *stream, const uint8_t *chunk, size_t chunks, size_t size, size_t largest) {
    stream->input = (bit_stream){.in = chunk + 8, .end = chunk + 8 + big_endian(chunk), .chunks = chunks - 1};
    stream->stored = stream->blocks = 0;
    stream->taken = stream->filled = 0;
    stream->block = BLOCK_NONE;
    stream->is_last = stream->is_late = stream->has_fixed_codes = false;
    stream->watch = (cpng_watch){0};
    stream->window = NULL;
    refill(&stream->input);
    unsigned method = take(&stream->input, 8), flags = take(&stream->input, 8);
    // zlib rejects distances beyond the window of the stream. Here the largest window is everybody's.
    bool is_wide = method >> 4 == 7 || (method >> 4 < 7 && size <= (size_t)1 << ((method >> 4) + 8));
    if ((method & 15) != 8 || !is_wide || (method << 8 | flags) % 31 != 0 || (flags & 32) != 0) return CPNG_DECLINED;
    stream->capacity = INFLATE_REACH + (largest > 65536 ? largest : 65536);
    stream->window = malloc(stream->capacity + INFLATE_EXCESS);
    return stream->window != NULL ? CPNG_OK : CPNG_OUT_OF_MEMORY;
}

void inflate_end(inflate_stream *stream) { free(stream->window); }

static bool begin_stored(inflate_stream *stream) {
    take(&stream->input, stream->input.count & 7);
    if (stream->input.count < 32) refill(&stream->input);
    unsigned size = take(&stream->input, 16);
    if (take(&stream->input, 16) != (size ^ 0xffff)) return false;
    stream->stored = size;
    stream->block = BLOCK_STORED;
    return true;
}

static bool begin_fixed(inflate_stream *stream) {
    stream->block = BLOCK_CODED;
    // A file may have many such blocks, of ten bits each.
    if (stream->has_fixed_codes) return true;
    uint8_t lengths[288 + 32];
    for (int i = 0; i < 288; i++) lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
    memset(lengths + 288, 5, 32);
    stream->has_fixed_codes = true;
    return codes_of_literals(&stream->codes, lengths, 288) && codes_of_distances(&stream->codes, lengths + 288, 32);
}

static bool begin_dynamic(inflate_stream *stream) {
    static const uint8_t order[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    int literals = 257 + take(&stream->input, 5), distances = 1 + take(&stream->input, 5), codes = 4 + take(&stream->input, 4);
    if (literals > 286 || distances > 30) return false;
    uint8_t own[19] = {0}, lengths[288 + 32] = {0};
    for (int i = 0; i < codes; i++) {
        if (stream->input.count < 3) refill(&stream->input);
        own[order[i]] = (uint8_t)take(&stream->input, 3);
    }
    uint32_t table[128];
    if (!codes_of_lengths(table, own)) return false;
    int count = literals + distances;
    for (int i = 0; i < count;) {
        if (stream->input.count < 14) refill(&stream->input);
        uint32_t entry = table[stream->input.bits & 127];
        take(&stream->input, entry & 255);
        unsigned symbol = entry >> 16;
        if (symbol < 16) {
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        uint8_t repeated = symbol == 16 ? lengths[i - 1] : 0;
        int times = symbol == 16 ? 3 + take(&stream->input, 2) : symbol == 17 ? 3 + take(&stream->input, 3) : 11 + take(&stream->input, 7);
        if (times > count - i) return false;
        memset(lengths + i, repeated, times);
        i += times;
    }
    // Behind the literals are the distances, which need no symbols that are not there.
    stream->block = BLOCK_CODED;
    stream->has_fixed_codes = false;
    return codes_of_literals(&stream->codes, lengths, literals) && codes_of_distances(&stream->codes, lengths + literals, distances);
}

static bool begin_block(inflate_stream *stream) {
    // A file may have millions of blocks without contents.
    if (++stream->blocks % 64 == 0 && stream->watch.may_go_on != NULL && !stream->watch.may_go_on(stream->watch.context)) {
        stream->is_late = true;
        return false;
    }
    refill(&stream->input);
    stream->is_last = take(&stream->input, 1) != 0;
    switch (take(&stream->input, 2)) {
    case 0: return begin_stored(stream);
    case 1: return begin_fixed(stream);
    case 2: return begin_dynamic(stream);
    default: return false;
    }
}

static void end_block(inflate_stream *stream) { stream->block = stream->is_last ? BLOCK_LAST : BLOCK_NONE; }

static bool copy_stored(inflate_stream *stream) {
    size_t room = stream->capacity - stream->filled, size = stream->stored < room ? stream->stored : room;
    stream->stored -= size;
    uint8_t *to = stream->window + stream->filled;
    stream->filled += size;
    for (; size > 0 && stream->input.count > 0; size--) *to++ = (uint8_t)take(&stream->input, 8);
    if (size > 0) stream->input.bits = 0;
    while (size > 0) {
        if (!next_chunk(&stream->input)) {
            stream->filled -= size;
            return false;
        }
        size_t left = stream->input.end - stream->input.in, part = size < left ? size : left;
        memcpy(to, stream->input.in, part);
        to += part;
        stream->input.in += part;
        size -= part;
    }
    if (stream->stored == 0) end_block(stream);
    return true;
}

static inline __attribute__((always_inline)) uint8_t *copy_match(uint8_t *to, size_t distance, size_t length) {
    const uint8_t *from = to - distance;
    uint8_t *end = to + length;
    if (__builtin_expect(distance >= 8, 1)) {
        // Most matches are short: no loop, whose end is hard to predict.
        memcpy(to, from, 8);
        memcpy(to + 8, from + 8, 8);
        memcpy(to + 16, from + 16, 8);
        if (__builtin_expect(length > 24, 0)) {
            to += 24, from += 24;
            do {
                memcpy(to, from, 8);
                to += 8, from += 8;
            } while (to < end);
        }
    } else if (distance == 1) {
        uint64_t same = *from * 0x0101010101010101u;
        do {
            memcpy(to, &same, 8);
            to += 8;
        } while (to < end);
    } else {
        do {
            // The first `distance` bytes are right.
            uint64_t both;
            memcpy(&both, from, 8);
            memcpy(to, &both, 8);
            to += distance, from += distance;
        } while (to < end);
    }
    return end;
}

// Decodes until the window is full or the block ends. The state of the stream is in local variables, which stay in registers.
static inline __attribute__((always_inline)) bool decode(inflate_stream *stream) {
    bit_stream *input = &stream->input;
    const uint8_t *in = input->in, *end = input->end, *window = stream->window, *full = window + stream->capacity;
    uint64_t bits = input->bits;
    uint32_t count = (uint32_t)input->count;  // above its lowest byte is what entries left there
    uint8_t *to = stream->window + stream->filled;
    const uint32_t *literals = stream->codes.literals, *distances = stream->codes.distances;
    uint32_t entry;
    bool ends = false, fails = false;

#define REFILL                                                                                                                 \
    do {                                                                                                                       \
        if (__builtin_expect(end - in >= 8, 1)) {                                                                              \
            bits |= eight(in) << (count & 63);                                                                                 \
            in += (63 - (count & 63)) >> 3;                                                                                    \
            count |= 56;                                                                                                       \
        } else {                                                                                                               \
            input->in = in, input->bits = bits, input->count = count & 255;                                                    \
            refill_slowly(input);                                                                                              \
            in = input->in, end = input->end, bits = input->bits, count = (uint32_t)input->count;                              \
        }                                                                                                                      \
    } while (0)
#define LOOK_UP entry = literals[bits & ((1 << LITERAL_BITS) - 1)]
#define DROP bits >>= entry & 63, count -= entry
// Writes two bytes, of which the second may be none.
#define PUT                                                                                                                    \
    do {                                                                                                                       \
        uint32_t put = entry;                                                                                                  \
        DROP;                                                                                                                  \
        LOOK_UP;                                                                                                               \
        uint16_t two = little_endian((uint16_t)(put >> 16));                                                                   \
        memcpy(to, &two, 2);                                                                                                   \
        to += put >> 8 & 15;                                                                                                   \
    } while (0)

    REFILL;
    LOOK_UP;
    while (to < full) {
        if ((entry & CODES_LITERAL) != 0) {
            PUT;
            if ((entry & CODES_LITERAL) != 0) {
                PUT;
                if ((entry & CODES_LITERAL) != 0) {
                    PUT;
                    if ((entry & CODES_LITERAL) != 0) {
                        PUT;
                        REFILL;
                        LOOK_UP;
                        continue;
                    }
                }
            }
            // A length and a distance take at most 48 bits.
            REFILL;
        }
        if (__builtin_expect((entry & (CODES_FURTHER | CODES_END | CODES_INVALID)) != 0, 0)) {
            if ((entry & CODES_FURTHER) != 0) {
                DROP;
                entry = literals[(entry >> 16) + (bits & ((1u << (entry >> 8 & 15)) - 1))];
                if ((entry & CODES_LITERAL) != 0) {
                    PUT;
                    REFILL;
                    LOOK_UP;
                    continue;
                }
            }
            if ((entry & (CODES_END | CODES_INVALID)) != 0) {
                ends = (entry & CODES_END) != 0;
                fails = !ends;
                DROP;
                break;
            }
        }
        uint64_t code = bits;
        DROP;
        size_t length = (entry >> 16) + ((code & ((1ull << (entry & 63)) - 1)) >> (entry >> 8 & 15));
        entry = distances[bits & ((1 << DISTANCE_BITS) - 1)];
        if ((entry & CODES_FURTHER) != 0) {
            DROP;
            entry = distances[(entry >> 16) + (bits & ((1u << (entry >> 8 & 15)) - 1))];
        }
        code = bits;
        DROP;
        size_t distance = (entry >> 16) + ((code & ((1ull << (entry & 63)) - 1)) >> (entry >> 8 & 15));
        if ((entry & CODES_INVALID) != 0 || distance > (size_t)(to - window)) {
            fails = true;
            break;
        }
        REFILL;
        LOOK_UP;
        to = copy_match(to, distance, length);
    }
#undef REFILL
#undef LOOK_UP
#undef DROP
#undef PUT
    input->in = in, input->bits = bits, input->count = count & 255;
    stream->filled = to - window;
    if (ends) end_block(stream);
    return !fails;
}

#if defined(__x86_64__)
__attribute__((target("bmi,bmi2"))) static bool decode_bmi2(inflate_stream *stream) { return decode(stream); }
#endif

static bool decode_block(inflate_stream *stream) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("bmi2")) return decode_bmi2(stream);
#endif
    return decode(stream);
}

// Whether more was read than there is.
static bool is_short(const inflate_stream *stream) { return stream->input.missing * 8 > stream->input.count; }

static bool go_on(inflate_stream *stream) {
    switch (stream->block) {
    case BLOCK_NONE: return begin_block(stream);
    case BLOCK_STORED: return copy_stored(stream);
    case BLOCK_CODED: return decode_block(stream);
    default: return false;
    }
}

static bool fill_window(inflate_stream *stream, size_t wanted) {
    while (stream->filled < wanted) {
        bool is_right = go_on(stream);
        if (is_short(stream)) {
            // Some of it was made from the zeros behind the last chunk, and nobody knows where that begins.
            stream->block = BLOCK_BROKEN;
            stream->filled = stream->taken;
            return false;
        }
        if (!is_right) {
            // What was there before the damage is right.
            stream->block = BLOCK_BROKEN;
            return stream->filled >= wanted;
        }
    }
    return true;
}

bool inflate_has(inflate_stream *stream, size_t size) {
    if (stream->filled - stream->taken >= size) return true;
    if (stream->taken + size > stream->capacity) {
        // Keeps what distances reach.
        size_t from = stream->taken - INFLATE_REACH;
        memmove(stream->window, stream->window + from, stream->filled - from);
        stream->filled -= from;
        stream->taken = INFLATE_REACH;
    }
    return fill_window(stream, stream->taken + size);
}

const uint8_t *inflate_take(inflate_stream *stream, size_t size) {
    if (!inflate_has(stream, size)) return NULL;
    stream->taken += size;
    return stream->window + stream->taken - size;
}

bool inflate_ends(inflate_stream *stream) {
    if (stream->filled != stream->taken) return false;
    // There may be blocks without contents.
    while (stream->block != BLOCK_LAST) {
        // An end takes at most 15 bits: decode it as a window of nothing.
        size_t capacity = stream->capacity;
        stream->capacity = stream->filled + 1;
        bool is_right = go_on(stream);
        stream->capacity = capacity;
        if (!is_right || is_short(stream) || stream->filled != stream->taken) return false;
    }
    bit_stream *input = &stream->input;
    take(input, input->count & 7);
    // Four bytes of checksum: what is in the bits, and behind them.
    size_t left = input->count / 8 - input->missing;
    while (next_chunk(input)) {
        left += input->end - input->in;
        input->in = input->end;
    }
    return left == 4;
}
