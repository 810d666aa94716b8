#pragma once

// libtiff, and in C what Swift cannot call: functions with variable arguments. Used only if the package trait TIFF is enabled.
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <tiffio.h>

// A file in memory, and libtiff's messages about it.
typedef struct {
    const uint8_t *bytes;
    uint64_t count;
    uint64_t position;
    // Errors, and warnings while `watches_rows` is set. Warnings of the directory are about tags that the picture does not need.
    int problems;
    bool watches_rows;
    // The first of them.
    char message[200];
} ctiff_input;

static inline void ctiff_note(ctiff_input *input, const char *format, va_list arguments) {
    if (input->problems++ == 0) vsnprintf(input->message, sizeof input->message, format, arguments);
}

// A handler returns 1 to keep libtiff from writing to standard error.
static inline int ctiff_error(TIFF *file, void *input, const char *module, const char *format, va_list arguments) {
    (void)file, (void)module;
    ctiff_note((ctiff_input *)input, format, arguments);
    return 1;
}

static inline int ctiff_warning(TIFF *file, void *input, const char *module, const char *format, va_list arguments) {
    (void)file, (void)module;
    if (((ctiff_input *)input)->watches_rows) ctiff_note((ctiff_input *)input, format, arguments);
    return 1;
}

static inline tmsize_t ctiff_read(thandle_t handle, void *memory, tmsize_t count) {
    ctiff_input *input = (ctiff_input *)handle;
    uint64_t rest = input->position < input->count ? input->count - input->position : 0;
    uint64_t length = count < 0 ? 0 : (uint64_t)count < rest ? (uint64_t)count : rest;
    if (length > 0) memcpy(memory, input->bytes + input->position, length);
    input->position += length;
    return (tmsize_t)length;
}

static inline tmsize_t ctiff_write(thandle_t handle, void *memory, tmsize_t count) {
    (void)handle, (void)memory, (void)count;
    return -1;
}

static inline toff_t ctiff_seek(thandle_t handle, toff_t offset, int origin) {
    ctiff_input *input = (ctiff_input *)handle;
    uint64_t start = origin == SEEK_CUR ? input->position : origin == SEEK_END ? input->count : 0;
    input->position = start + offset;
    return input->position;
}

static inline int ctiff_close(thandle_t handle) {
    (void)handle;
    return 0;
}

static inline toff_t ctiff_size(thandle_t handle) { return ((ctiff_input *)handle)->count; }

static inline int ctiff_map(thandle_t handle, void **start, toff_t *count) {
    ctiff_input *input = (ctiff_input *)handle;
    // libtiff only reads there.
    *start = (void *)(uintptr_t)input->bytes;
    *count = input->count;
    return 1;
}

static inline void ctiff_unmap(thandle_t handle, void *start, toff_t count) { (void)handle, (void)start, (void)count; }

static inline const char *ctiff_message(const ctiff_input *input) { return input->message; }

// Opens a file at its first directory; NULL if that cannot be read. No allocation is larger than `largest` bytes.
static inline TIFF *ctiff_open(ctiff_input *input, tmsize_t largest) {
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options) return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, largest);
    TIFFOpenOptionsSetErrorHandlerExtR(options, ctiff_error, input);
    TIFFOpenOptionsSetWarningHandlerExtR(options, ctiff_warning, input);
    TIFF *file = TIFFClientOpenExt(
        "", "r", input, ctiff_read, ctiff_write, ctiff_seek, ctiff_close, ctiff_size, ctiff_map, ctiff_unmap, options);
    TIFFOpenOptionsFree(options);
    return file;
}

// A tag's value, or its default; `absent` if it has neither.
static inline uint32_t ctiff_short(TIFF *file, uint32_t tag, uint32_t absent) {
    uint16_t value = 0;
    return TIFFGetFieldDefaulted(file, tag, &value) ? value : absent;
}

static inline uint32_t ctiff_long(TIFF *file, uint32_t tag, uint32_t absent) {
    uint32_t value = 0;
    return TIFFGetField(file, tag, &value) ? value : absent;
}

// The meanings of samples beyond the colours, in libtiff's memory.
static inline const uint16_t *ctiff_extra_samples(TIFF *file, uint16_t *count) {
    uint16_t *kinds = NULL;
    *count = 0;
    return TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, count, &kinds) ? kinds : NULL;
}

// Red, green and blue of a palette, each with an entry for each value of a sample, in libtiff's memory.
static inline bool ctiff_palette(TIFF *file, const uint16_t **red, const uint16_t **green, const uint16_t **blue) {
    return TIFFGetField(file, TIFFTAG_COLORMAP, red, green, blue) && *red && *green && *blue;
}

static inline const void *ctiff_profile(TIFF *file, uint32_t *count) {
    void *bytes = NULL;
    return TIFFGetField(file, TIFFTAG_ICCPROFILE, count, &bytes) ? bytes : NULL;
}

static inline const char *ctiff_copyright(TIFF *file) {
    char *text = NULL;
    return TIFFGetField(file, TIFFTAG_COPYRIGHT, &text) ? text : NULL;
}

// Lets libtiff convert the YCbCr of JPEG to RGB.
static inline bool ctiff_convert_jpeg(TIFF *file) { return TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB); }

// For writers: sets a tag of one number, a text, or an array.
static inline bool ctiff_set(TIFF *file, uint32_t tag, uint32_t value) { return TIFFSetField(file, tag, value); }
static inline bool ctiff_set_text(TIFF *file, uint32_t tag, const char *text) { return TIFFSetField(file, tag, text); }
static inline bool ctiff_set_array(TIFF *file, uint32_t tag, uint32_t count, const void *values) {
    return TIFFSetField(file, tag, count, values);
}
static inline bool ctiff_set_palette(TIFF *file, const uint16_t *red, const uint16_t *green, const uint16_t *blue) {
    return TIFFSetField(file, TIFFTAG_COLORMAP, red, green, blue);
}
