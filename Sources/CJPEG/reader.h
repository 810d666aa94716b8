// Shared by the files of the reader.
#pragma once

#include "errors.h"
#include "Corner/CJPEGReader.h"

struct cjpeg_reader {
    struct jpeg_decompress_struct codec;
    cjpeg_errors errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    int scan_limit;
    cjpeg_watch watch;
    bool planar, started;
    /// Rows of each plane delivered so far, and in total.
    int delivered[3], total[3];
    JSAMPARRAY rows[3];
    uint8_t *icc;
    /// The reader for shrinking, NULL if the library reads; its pictures, and the rows of each plane delivered so far.
    cjr_reader *corner;
    int pictures;
    cjpeg_corners corners[CJPEG_PICTURES];
    int corner_rows[CJPEG_PICTURES][CJR_COMPONENTS];
};

/// Lets the library read from memory. At the end it supplies an end marker and sets `errors.ended`.
void cjpeg_source_install(cjpeg_reader *reader, const uint8_t *bytes, size_t length);
/// Whether the reader for shrinking takes the file whose header was read, and the subsampling of its chroma.
bool cjpeg_fits_corner(j_decompress_ptr codec, int *x, int *y);
cjpeg_status cjpeg_read_corners(cjpeg_reader *reader, cjpeg_rows *rows);

/// The contents before the first scan, found in one pass. Pointers refer to the file.
typedef struct {
    /// The TIFF structure of the first EXIF segment.
    const uint8_t *exif;
    size_t exif_length;
    /// The pieces of the profile by their numbers, from 1 on; 0 pieces if there is no profile.
    int pieces;
    /// The pieces are inconsistent.
    bool unfit;
    const uint8_t *piece[256];
    size_t piece_length[256];
    /// The offset of the first scan.
    size_t first_scan;
    int segments;
    /// Examined positions.
    long steps;
} cjpeg_segments;

/// Finds metadata. Rejects files that the library would misread or cannot read, with the name of the process (ITU-T T.81 B.1.1).
cjpeg_status cjpeg_find_segments(const uint8_t *bytes, size_t length, cjpeg_segments *found, char *message);
/// Assembles the profile; false if it is incomplete or larger than CJPEG_PROFILE. The caller frees it.
bool cjpeg_join_profile(const cjpeg_segments *found, uint8_t **profile, size_t *length);
/// The number of scans from `first` on, at most CJPEG_COUNTED_SCANS.
int cjpeg_count_scans(const uint8_t *bytes, size_t length, size_t first);
