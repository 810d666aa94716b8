#pragma once

#include "CPNG.h"

#include <png.h>

typedef struct fast_rows fast_rows;

struct cpng_reader {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t size, position;
    bool lenient;
    bool interlaced;
    bool has_trns;          // whether libpng applies a tRNS chunk
    size_t alphas;          // the offset of the tRNS of a palette; 0 if there is none
    size_t next;            // the offset of the next chunk that libpng reads
    size_t profile;         // the offset of the first intact iCCP; 0 if there is none
    size_t overtaken;       // the offset of the palette before that profile, which is read first; 0 if there is none, or it was
    size_t resumed;         // the offset of that palette while the profile is read; 0 otherwise
    size_t trimmed;         // the offset of a palette whose last bytes are no whole colour; 0 if there is none
    bool has_palette;       // whether libpng has read a palette
    bool has_srgb;          // whether there is a valid sRGB chunk
    bool needs_adler;       // whether the checksum of an IDAT is wrong, so that only the stream's tells that the rows are right
    size_t first_idat;      // the offset of the first IDAT; 0 if there is none
    size_t cut;             // the offset of a truncated IDAT; 0 if all are complete
    long steps;             // chunks examined outside of libpng
    cpng_status status;     // of the last error
    cpng_status weakness;   // of a warning that means damage
    uint32_t colors;        // entries of the palette
    uint32_t palette[256];  // in memory order R G B A
    fast_rows *rows;        // NULL unless the fast path has begun
    char reason[120];
};
