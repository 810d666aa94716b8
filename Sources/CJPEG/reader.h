// What the files of the reader share.
#pragma once

#include "errors.h"

struct cjpeg_reader {
    struct jpeg_decompress_struct codec;
    cjpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    int scan_limit;
    cjpeg_watch watch;
    bool planar, started;
    /// Rows of each plane delivered so far, and in all.
    int delivered[3], total[3];
    JSAMPARRAY rows[3];
    uint8_t *icc;
};

/// Lets the library read from memory; at the end it gives an end marker and notes `errors.ended`.
void cjpeg_source_install(cjpeg_reader *reader, const uint8_t *bytes, size_t length);
/// What stands before the first scan, found in one pass. Pointers go into the file.
typedef struct {
    /// The TIFF structure of the first EXIF segment.
    const uint8_t *exif;
    size_t exif_length;
    /// The profile's pieces by their numbers, from 1 on; 0 pieces where there is no profile.
    int pieces;
    /// A piece contradicts another.
    bool unfit;
    const uint8_t *piece[256];
    size_t piece_length[256];
    /// Where the first scan begins.
    size_t first_scan;
    int segments;
    /// Places looked at.
    long steps;
} cjpeg_segments;

/// Finds metadata, and refuses what the library would misread or not read at all, by the name of its process (ITU-T T.81 B.1.1).
cjpeg_status cjpeg_find_segments(const uint8_t *bytes, size_t length, cjpeg_segments *found, char *message);
/// Puts the profile together; false where it is not whole, or larger than CJPEG_PROFILE. The caller frees it.
bool cjpeg_join_profile(const cjpeg_segments *found, uint8_t **profile, size_t *length);
/// Scans from `first` on, CJPEG_COUNTED_SCANS at most.
int cjpeg_count_scans(const uint8_t *bytes, size_t length, size_t first);
