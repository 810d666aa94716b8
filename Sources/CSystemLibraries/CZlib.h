#pragma once

#include <zlib.h>

// A macro of zlib that Swift does not import.
static inline int czlib_inflate_begin(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }

// The same for compression, in the gzip format (RFC 1952): zlib selects it if 16 is added to the window bits.
static inline int czlib_gzip_begin(z_stream *stream, int level) {
    return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
