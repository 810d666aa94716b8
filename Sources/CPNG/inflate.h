#pragma once

#include "CPNG.h"
#include "codes.h"

// Inflates the IDATs of an intact file (RFC 1950, RFC 1951) into a window: the 32 KiB that distances reach back, and what has not been
// taken yet.
typedef struct {
    const uint8_t *in, *end;  // what is left of the chunk
    size_t chunks;            // those behind it
    size_t missing;           // bytes of zeros that were added behind the last chunk
    uint64_t bits;            // the next ones, the first lowest; above `count` may be some that will come again
    size_t count;
} bit_stream;

typedef struct {
    bit_stream input;
    enum { BLOCK_NONE, BLOCK_STORED, BLOCK_CODED, BLOCK_LAST, BLOCK_BROKEN } block;  // BLOCK_LAST: behind it
    bool is_last;    // whether this block is the last
    size_t stored;   // bytes that are left of a stored block
    size_t blocks;   // how many there were
    cpng_watch watch;
    bool is_late;    // whether time was up
    uint8_t *window;
    size_t capacity;  // without what matches may write beyond
    size_t taken, filled;
    deflate_codes codes;
    bool has_fixed_codes;  // whether `codes` are those of fixed blocks
} inflate_stream;

// INFLATE_EXCESS is what one step of decoding may write when the window is full: eight literals, a match of 258 bytes, and what copies in
// words write too much. inflate_ends makes one step more.
enum { INFLATE_REACH = 32768, INFLATE_EXCESS = 2 * (8 + 258 + 32) };

// Begins at `chunk`, the first of `chunks` IDATs. `size` is what the stream should have, `largest` what is taken at once. CPNG_DECLINED
// if this is no zlib stream.
cpng_status inflate_begin(inflate_stream *stream, const uint8_t *chunk, size_t chunks, size_t size, size_t largest);
void inflate_end(inflate_stream *stream);

// Whether there are `size` more bytes, at most `largest`. False if the stream has fewer or is damaged, or if time is up.
bool inflate_has(inflate_stream *stream, size_t size);

// The next `size` bytes, which stay until the next call; a few more may be read. NULL if there are fewer.
const uint8_t *inflate_take(inflate_stream *stream, size_t size);

// Whether the stream ends here as it should, but for the value of its checksum.
bool inflate_ends(inflate_stream *stream);
