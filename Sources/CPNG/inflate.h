#pragma once

#include "CPNG.h"

#include <isa-l/igzip_lib.h>

// Inflates IDATs with ISA-L (RFC 1950, RFC 1951), which keeps the 32 KiB that distances reach back. Here is what has not been taken yet.
typedef struct {
    struct inflate_state isal;
    const uint8_t *chunk;  // the next one
    const uint8_t *end;    // of the file
    const uint8_t *in;     // what is left of the chunk before
    size_t left;
    size_t work;  // bytes and chunks since the clock was read
    cpng_watch watch;
    bool is_late;    // whether time was up
    bool is_broken;  // whether the stream is damaged behind what is in the window
    uint8_t *window;
    size_t capacity, taken, filled;
} inflate_stream;

// Begins at `chunk`, the first IDAT of a file up to `end`. `largest` is what is taken at once. CPNG_DECLINED if this is no zlib stream.
cpng_status inflate_begin(inflate_stream *stream, const uint8_t *chunk, const uint8_t *end, size_t largest);
void inflate_end(inflate_stream *stream);

// The next `size` bytes, at most `largest`, which stay until the next call; a few more may be read. NULL if the stream has fewer or is
// damaged before them, or if time is up. All come from IDATs with right checksums.
const uint8_t *inflate_take(inflate_stream *stream, size_t size);

// Whether the stream ends here with the right checksum.
bool inflate_ends(inflate_stream *stream);
