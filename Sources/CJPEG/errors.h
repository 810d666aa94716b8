// Converts libjpeg's errors and warnings to a status. Included by the reader and the writer.
#pragma once

#include <stdio.h>
#include "CJPEG.h"
#include <jpeglib.h>
#include <setjmp.h>

/// Replaces libjpeg's error handler; `base` must come first.
typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    cjpeg_status status;
    char message[CJPEG_MESSAGE];
    /// The first scan, or the place up to which padding was counted.
    const JOCTET *passed;
    /// The source has no more bytes.
    bool ended;
    /// A truncated file is decoded as far as it goes.
    bool accepts_truncated;
    /// The scan before the stray bytes; 0 if there are none. They are harmless if it was the last.
    int stray_scan;
    /// A component had a scan of other coefficients before that of its first ones.
    bool owes_dc;
    /// The number of the library's messages, including harmless ones: it has one for each segment.
    long messages;
} cjpeg_errors;

/// Installs the handler. Errors jump to `escape`, which the caller sets before each call of the library.
struct jpeg_error_mgr *cjpeg_errors_install(cjpeg_errors *errors);
/// Records `status` and jumps.
_Noreturn void cjpeg_fail(j_common_ptr codec, cjpeg_status status, const char *message);
