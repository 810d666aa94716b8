#include "errors.h"
#include <jerror.h>
#include <string.h>

static cjpeg_status status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
    case JERR_NO_BACKING_STORE:
    case JERR_TFILE_CREATE:
        return CJPEG_OUT_OF_MEMORY;
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_BAD_PRECISION:
    case JERR_CCIR601_NOTIMPL:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_NOTIMPL:
    case JERR_COMPONENT_COUNT:
    case JERR_IMAGE_TOO_BIG:
        return CJPEG_UNSUPPORTED;
    default:
        return CJPEG_DAMAGED;
    }
}

static void error_exit(j_common_ptr codec) {
    cjpeg_errors *errors = (cjpeg_errors *)codec->err;
    char text[JMSG_LENGTH_MAX];
    (*errors->base.format_message)(codec, text);
    cjpeg_status status = status_of(errors->base.msg_code);
    // After the end of the file, any error is a consequence of the truncation.
    if (errors->ended && status == CJPEG_DAMAGED) status = CJPEG_TRUNCATED;
    cjpeg_fail(codec, status, text);
}

// Whether the scan gives the samples that its file means, although it says something else of itself (ITU-T T.81 G.1.1.1).
static bool is_sound_progression(cjpeg_errors *errors, j_decompress_ptr reader) {
    int component = errors->base.msg_parm.i[0], place = errors->base.msg_parm.i[1];
    if (place == 0 && reader->Ss > 0) {
        // The first coefficients come later, which the end of the file shows.
        errors->owes_dc = true;
        return true;
    }
    // It repeats what is known, to the same bit or a finer one. A refinement of any other bit lacks the scan before it.
    int known = reader->coef_bits[component][place];
    return reader->Ah == 0 && known >= 0 && reader->Al <= known;
}

// The zeros and ones before `end`.
static long padding(const JOCTET *start, const JOCTET *end) {
    const JOCTET *at = end;
    while (at > start && (at[-1] == 0 || at[-1] == 0xFF)) at--;
    return end - at;
}

// Whether the bytes that the library has passed over are padding, so that no sample is missing. It reports those before several restart
// markers at once.
static bool is_padding(cjpeg_errors *errors, j_decompress_ptr reader) {
    const JOCTET *start = errors->passed, *end = reader->src->next_input_byte;
    if (errors->ended || !start || end < start) return false;
    long found = padding(start, end);
    for (const JOCTET *at = start; end - at >= 2; at++) {
        at = memchr(at, 0xFF, (size_t)(end - at - 1));
        if (!at) break;
        if (at[1] >= JPEG_RST0 && at[1] <= JPEG_RST0 + 7) found += padding(start, at);
    }
    errors->passed = end;
    return errors->base.msg_parm.i[0] <= found;
}

// Whether the library goes on behind a restart marker as if it had the expected number: if it is far from it.
static bool is_misnumbered(cjpeg_errors *errors) {
    int found = errors->base.msg_parm.i[0], distance = (found - JPEG_RST0 - errors->base.msg_parm.i[1]) & 7;
    return found >= JPEG_RST0 && found <= JPEG_RST0 + 7 && distance >= 3 && distance <= 5;
}

// Whether the end marker stands where there should be samples: the file was cut off and then closed.
static bool is_closed_early(j_common_ptr codec) {
    return codec->err->msg_code == JWRN_HIT_MARKER && codec->is_decompressor && ((j_decompress_ptr)codec)->unread_marker == JPEG_EOI;
}

// Level -1 is a warning: the library would continue with invented samples.
static void emit_message(j_common_ptr codec, int level) {
    cjpeg_errors *errors = (cjpeg_errors *)codec->err;
    errors->messages++;
    if (level >= 0) return;
    switch (errors->base.msg_code) {
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
        return; // Harmless: says nothing about samples.
    case JWRN_NOT_SEQUENTIAL:
        return; // The library ignores these bytes of a scan's header, which some telephones write wrongly.
    case JWRN_BOGUS_PROGRESSION:
        if (codec->is_decompressor && is_sound_progression(errors, (j_decompress_ptr)codec)) return;
        break;
    case JWRN_MUST_RESYNC:
        if (is_misnumbered(errors)) return;
        break;
    case JWRN_EXTRANEOUS_DATA: {
        // Stray bytes between segments before the first scan are harmless; within a scan they replace lost samples. After a scan
        // they are harmless if it was the last, which the next scan reveals.
        j_decompress_ptr reader = (j_decompress_ptr)codec;
        if (!codec->is_decompressor) break;
        if (is_padding(errors, reader)) return;
        if (reader->input_scan_number == 0) return;
        if (reader->input_iMCU_row < reader->total_iMCU_rows) break;
        if (errors->stray_scan == 0) errors->stray_scan = reader->input_scan_number;
        return;
    }
    default:
        break;
    }
    if (errors->accepts_truncated && (errors->ended || is_closed_early(codec))) return;
    char text[JMSG_LENGTH_MAX];
    (*errors->base.format_message)(codec, text);
    cjpeg_fail(codec, errors->ended ? CJPEG_TRUNCATED : CJPEG_DAMAGED, text);
}

static void output_message(j_common_ptr codec) { (void)codec; }

struct jpeg_error_mgr *cjpeg_errors_install(cjpeg_errors *errors) {
    memset(errors, 0, sizeof *errors);
    jpeg_std_error(&errors->base);
    errors->base.error_exit = error_exit;
    errors->base.emit_message = emit_message;
    errors->base.output_message = output_message;
    return &errors->base;
}

_Noreturn void cjpeg_fail(j_common_ptr codec, cjpeg_status status, const char *message) {
    cjpeg_errors *errors = (cjpeg_errors *)codec->err;
    errors->status = status;
    snprintf(errors->message, sizeof errors->message, "%s", message);
    longjmp(errors->escape, 1);
}
