// What the files of the reader share.
#pragma once

#include "errors.h"

struct cjpeg_reader {
    struct jpeg_decompress_struct codec;
    cjpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    int scan_limit;
    bool planar, started;
    /// Rows of each plane delivered so far, and in all.
    int delivered[3], total[3];
    JSAMPARRAY rows[3];
    uint8_t *icc;
};

/// Lets the library read from memory; at the end it gives an end marker and notes `errors.ended`.
void cjpeg_source_install(cjpeg_reader *reader, const uint8_t *bytes, size_t length);
/// Refuses what the library would misread or not read at all, by the name of its process.
cjpeg_status cjpeg_check_process(const uint8_t *bytes, size_t length, char *message);
