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
