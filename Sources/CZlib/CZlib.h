#pragma once

#include <zlib.h>

// A macro of zlib that Swift does not import.
static inline int czlib_inflate_begin(z_stream *stream, int window_bits) { return inflateInit2(stream, window_bits); }
