// How libjpeg's errors and warnings become a status. Included by the reader and the writer.
#pragma once

#include <stdio.h>
#include "CJPEG.h"
#include <jpeglib.h>
#include <setjmp.h>

/// Takes the place of libjpeg's own error handler; `base` must come first.
typedef struct {
    struct jpeg_error_mgr base;
    jmp_buf escape;
    cjpeg_status status;
    char message[CJPEG_MESSAGE];
    /// The source has no more bytes.
    bool ended;
    /// A file that ends early is taken as far as it goes.
    bool accepts_truncated;
    /// The scan behind which stray bytes stand; 0 where there are none. Harmless if it was the last.
    int stray_scan;
    /// What the library had to say, harmless or not: it says something of each segment.
    long messages;
} cjpeg_errors;

/// Installs the handler; errors jump to `escape`, which the caller sets before each call into the library.
struct jpeg_error_mgr *cjpeg_errors_install(cjpeg_errors *errors);
/// Notes `status` and jumps.
_Noreturn void cjpeg_fail(j_common_ptr codec, cjpeg_status status, const char *message);
