#pragma once

#include "CPNG.h"

#include <png.h>

struct cpng_reader {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t size, position;
    bool lenient;
    bool interlaced;
    size_t first_idat;      // where the first IDAT begins; 0 where there is none
    size_t cut;             // where an IDAT begins that ends beyond the file; 0 where all are whole
    long steps;             // chunks looked at beside libpng
    cpng_status status;     // of the last error
    cpng_status weakness;   // a warning that means damage
    uint32_t colors;        // entries of the palette
    uint32_t palette[256];  // in memory order R G B A
    char reason[120];
};
