#include "reader.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

// The fast path beside libpng. It accepts only intact files, which libpng would accept too. (libdeflate supports slightly more of
// deflate than zlib, such as 287 literal codes; the pixels are still those of the file.)

static uint32_t big_endian(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

uint32_t cpng_crc(uint32_t crc, const uint8_t *bytes, size_t size) { return libdeflate_crc32(crc, bytes, size); }

// The data size of the chunk at `position`, or SIZE_MAX if it is incomplete or its CRC is wrong.
static size_t whole_chunk(const cpng_reader *reader, size_t position) {
    if (reader->size - position < 12) return SIZE_MAX;
    const uint8_t *chunk = reader->bytes + position;
    size_t size = big_endian(chunk);
    if (size > reader->size - position - 12) return SIZE_MAX;
    return cpng_crc(0, chunk + 4, size + 4) == big_endian(chunk + 8 + size) ? size : SIZE_MAX;
}

static bool is_named(const uint8_t *chunk, const char *name) { return memcmp(chunk + 4, name, 4) == 0; }

// Whether libpng accepts this chunk after the rows without a warning.
static bool is_plain(const uint8_t *chunk, size_t size) {
    for (int i = 4; i < 8; i++)
        if (!((chunk[i] >= 'a' && chunk[i] <= 'z') || (chunk[i] >= 'A' && chunk[i] <= 'Z'))) return false;
    static const char *const misplaced[] = {"tRNS", "gAMA", "cHRM", "sRGB", "iCCP"};
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++)
        if (is_named(chunk, misplaced[i])) return false;
    return (chunk[4] & 0x20) != 0 && size < 8000000;
}

// Whether the stream's window covers `size` bytes or is the largest. zlib rejects distances beyond it, libdeflate does not check.
static bool has_wide_window(const uint8_t *stream, size_t count, size_t size) {
    if (count < 2) return false;
    unsigned bits = stream[0] >> 4;
    return bits == 7 || (bits < 7 && size <= (size_t)1 << (bits + 8));
}

static bool inflate_all(const uint8_t *stream, size_t count, uint8_t *out, size_t size) {
    if (!has_wide_window(stream, count, size)) return false;
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    if (decompressor == NULL) return false;
    size_t used = 0, made = 0;
    enum libdeflate_result result = libdeflate_zlib_decompress_ex(decompressor, stream, count, out, size, &used, &made);
    libdeflate_free_decompressor(decompressor);
    return result == LIBDEFLATE_SUCCESS && used == count && made == size;
}

// Walks over the IDATs from `first`. False if the file is not intact up to its end.
static bool find_rows(const cpng_reader *reader, size_t first, size_t *chunks, size_t *bytes) {
    size_t position = first, size;
    for (*chunks = 0, *bytes = 0;; position += size + 12) {
        if ((size = whole_chunk(reader, position)) == SIZE_MAX) return false;
        if (!is_named(reader->bytes + position, "IDAT")) break;
        *chunks += 1, *bytes += size;
    }
    while (!is_named(reader->bytes + position, "IEND")) {
        if (!is_plain(reader->bytes + position, size)) return false;
        position += size + 12;
        if ((size = whole_chunk(reader, position)) == SIZE_MAX) return false;
    }
    return size == 0 && *chunks > 0;
}

cpng_status cpng_reader_inflate(cpng_reader *reader, uint8_t *out, size_t size) {
    // libpng has already read the name of the first IDAT.
    if (reader->position < 8 || !is_named(reader->bytes + reader->position - 8, "IDAT")) return CPNG_DECLINED;
    size_t position = reader->position - 8, chunks, count;
    if (!find_rows(reader, position, &chunks, &count)) return CPNG_DECLINED;
    // A valid stream is not much larger than its contents, unless most of it comes after the rows.
    if (count > size + size / 512 + 4096) return CPNG_DECLINED;
    if (chunks == 1) return inflate_all(reader->bytes + position + 8, count, out, size) ? CPNG_OK : CPNG_DECLINED;

    uint8_t *stream = malloc(count + 1);
    if (stream == NULL) return CPNG_DECLINED;
    for (size_t filled = 0; chunks > 0; chunks--) {
        size_t length = big_endian(reader->bytes + position);
        memcpy(stream + filled, reader->bytes + position + 8, length);
        filled += length;
        position += length + 12;
    }
    bool inflated = inflate_all(stream, count, out, size);
    free(stream);
    return inflated ? CPNG_OK : CPNG_DECLINED;
}
