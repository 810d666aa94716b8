#include "reader.h"

static const JOCTET end_marker[2] = {0xFF, JPEG_EOI};

static void nothing(j_decompress_ptr codec) { (void)codec; }

static boolean fill(j_decompress_ptr codec) {
    ((cjpeg_errors *)codec->err)->ended = true;
    codec->src->next_input_byte = end_marker;
    codec->src->bytes_in_buffer = sizeof end_marker;
    return TRUE;
}

static void skip(j_decompress_ptr codec, long count) {
    struct jpeg_source_mgr *source = codec->src;
    if (count <= 0) return;
    if ((size_t)count > source->bytes_in_buffer) {
        fill(codec);
    } else {
        source->next_input_byte += count;
        source->bytes_in_buffer -= (size_t)count;
    }
}

void cjpeg_source_install(cjpeg_reader *reader, const uint8_t *bytes, size_t length) {
    reader->source = (struct jpeg_source_mgr){
        .next_input_byte = bytes,
        .bytes_in_buffer = length,
        .init_source = nothing,
        .fill_input_buffer = fill,
        .skip_input_data = skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = nothing,
    };
    reader->codec.src = &reader->source;
}

static const char *process_name(int marker) {
    switch (marker) {
    case 0xC3: return "lossless JPEG (SOF3)";
    case 0xC5: return "differential sequential JPEG (SOF5)";
    case 0xC6: return "differential progressive JPEG (SOF6)";
    case 0xC7: return "differential lossless JPEG (SOF7)";
    case 0xCB: return "lossless arithmetic JPEG (SOF11)";
    case 0xCD: return "differential arithmetic JPEG (SOF13)";
    case 0xCE: return "differential progressive arithmetic JPEG (SOF14)";
    case 0xCF: return "differential lossless arithmetic JPEG (SOF15)";
    case 0xF7: return "JPEG-LS (SOF55)";
    default: return NULL;
    }
}

// Walks the segments up to the frame header (ITU-T T.81 B.1.1).
cjpeg_status cjpeg_check_process(const uint8_t *bytes, size_t length, char *message) {
    for (size_t at = 2; at + 4 <= length;) {
        if (bytes[at] != 0xFF) {
            at++;
            continue;
        }
        int marker = bytes[at + 1];
        const char *name = process_name(marker);
        if (name) {
            snprintf(message, CJPEG_MESSAGE, "%s", name);
            return CJPEG_UNSUPPORTED;
        }
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) {
            if (at + 5 <= length && bytes[at + 4] != 8) {
                snprintf(message, CJPEG_MESSAGE, "JPEG with %d bits per sample", bytes[at + 4]);
                return CJPEG_UNSUPPORTED;
            }
            return CJPEG_OK;
        }
        if (marker == 0xFF) {
            at++;
        } else if (marker == 0 || marker == 1 || (marker >= 0xD0 && marker <= 0xD8)) {
            at += 2;
        } else if (marker == 0xDA || marker == 0xD9) {
            return CJPEG_OK; // The library says what is wrong with it.
        } else {
            at += 2 + (size_t)(bytes[at + 2] << 8 | bytes[at + 3]);
        }
    }
    return CJPEG_OK;
}
