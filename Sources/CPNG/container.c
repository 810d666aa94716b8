#include "chunk.h"
#include "rows.h"

#include <libdeflate.h>
#include <string.h>

// What the fast path needs of a file: that every chunk is intact, so that libpng would accept it too.

uint32_t cpng_crc(uint32_t crc, const uint8_t *bytes, size_t size) { return libdeflate_crc32(crc, bytes, size); }

// The data size of the chunk at `position`, or SIZE_MAX if it is incomplete or its CRC is wrong.
static size_t whole_chunk(const cpng_reader *reader, size_t position) {
    if (reader->size - position < 12) return SIZE_MAX;
    const uint8_t *chunk = reader->bytes + position;
    size_t size = big_endian(chunk);
    if (size > reader->size - position - 12) return SIZE_MAX;
    return cpng_crc(0, chunk + 4, size + 4) == big_endian(chunk + 8 + size) ? size : SIZE_MAX;
}

// Whether libpng accepts this chunk after the rows without a warning.
static bool is_plain(const uint8_t *chunk, size_t size) {
    for (int i = 4; i < 8; i++)
        if (!((chunk[i] >= 'a' && chunk[i] <= 'z') || (chunk[i] >= 'A' && chunk[i] <= 'Z'))) return false;
    static const char *const misplaced[] = {"tRNS", "gAMA", "cHRM", "sRGB", "iCCP"};
    for (size_t i = 0; i < sizeof misplaced / sizeof *misplaced; i++)
        if (is_named(chunk, misplaced[i])) return false;
    return (chunk[4] & 0x20) != 0 && size < 8000000;
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

const uint8_t *container_rows(const cpng_reader *reader, size_t size, size_t *chunks) {
    // libpng has already read the name of the first IDAT.
    if (reader->position < 8 || !is_named(reader->bytes + reader->position - 8, "IDAT")) return NULL;
    size_t position = reader->position - 8, count;
    if (!find_rows(reader, position, chunks, &count)) return NULL;
    // A valid stream is not much larger than its contents, unless most of it comes after the rows.
    return count <= size + size / 512 + 4096 ? reader->bytes + position : NULL;
}
