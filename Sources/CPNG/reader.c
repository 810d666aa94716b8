#include "chunk.h"
#include "rows.h"

#include <stdlib.h>
#include <string.h>

// The largest chunk except IDAT, and the largest profile. Larger ones are attacks.
static const png_alloc_size_t chunk_limit = 16 << 20;

static void keep_reason(cpng_reader *reader, const char *message) {
    strncpy(reader->reason, message, sizeof reader->reason - 1);
}

static void on_error(png_structp png, png_const_charp message) {
    cpng_reader *reader = png_get_error_ptr(png);
    if (reader->status == CPNG_OK) {
        bool memory = strstr(message, "emory") != NULL && strstr(message, "limit") == NULL;
        bool unsupported = strstr(message, "exceeds user limit") != NULL || strstr(message, "unhandled critical chunk") != NULL
            || strstr(message, "too many bytes to allocate") != NULL;
        reader->status = memory ? CPNG_OUT_OF_MEMORY : unsupported ? CPNG_UNSUPPORTED : CPNG_DAMAGED;
        keep_reason(reader, message);
    }
    png_longjmp(png, 1);
}

// Whether a warning means that pixels may be wrong: those about the rows, except behind the last one. Wrong headers and palettes are
// errors, and browsers show a file without other chunks that are damaged, misplaced or double, as libpng does.
static bool means_damage(const char *message) {
    static const char *const harmless[] = {"Extra compressed data", "Too much image data", "Too many IDATs found"};  // after the last row
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strstr(message, harmless[i]) != NULL) return false;
    return strncmp(message, "IDAT:", 5) == 0;
}

static void on_warning(png_structp png, png_const_charp message) {
    cpng_reader *reader = png_get_error_ptr(png);
    if (reader->weakness != CPNG_OK || !means_damage(message)) return;
    reader->weakness = CPNG_DAMAGED;
    keep_reason(reader, message);
}

// Whether a complete chunk has the right checksum.
static bool is_intact(const uint8_t *chunk) {
    size_t size = big_endian(chunk);
    return cpng_crc(0, chunk + 4, size + 4) == big_endian(chunk + 8 + size);
}

// Whether it is an sRGB chunk with a known intent (W3C, third edition, §11.3.2.5).
static bool is_srgb(const uint8_t *chunk) {
    return is_named(chunk, "sRGB") && big_endian(chunk) == 1 && chunk[8] < PNG_sRGB_INTENT_LAST && is_intact(chunk);
}

// Records whether there is sRGB before PLTE, the first profile, the first tRNS behind PLTE, the start of the IDATs and whether the last one is
// truncated.
static void find_chunks(cpng_reader *reader) {
    size_t palette = 0;
    for (size_t position = 8; reader->size - position >= 8;) {
        const uint8_t *chunk = reader->bytes + position;
        size_t size = big_endian(chunk), left = reader->size - position - 8;
        bool is_idat = is_named(chunk, "IDAT");
        reader->steps++;
        if (is_idat && reader->first_idat == 0) reader->first_idat = position;
        if (reader->first_idat != 0 && !is_idat) return;
        if (left < 4 || size > left - 4) {
            if (is_idat && size > left) reader->cut = position;
            return;
        }
        if (palette == 0 && is_named(chunk, "PLTE")) palette = position;
        reader->has_srgb |= palette == 0 && is_srgb(chunk);
        if (reader->profile == 0 && is_named(chunk, "iCCP") && is_intact(chunk)) {
            reader->profile = position;
            reader->overtaken = palette;
        }
        if (palette != 0 && reader->alphas == 0 && is_named(chunk, "tRNS") && is_intact(chunk)) reader->alphas = position;
        position += size + 12;
    }
}

// Whether all complete IDATs have correct checksums.
static bool has_right_idats(cpng_reader *reader) {
    for (size_t position = reader->first_idat; position != 0 && reader->size - position >= 12;) {
        const uint8_t *chunk = reader->bytes + position;
        size_t size = big_endian(chunk);
        reader->steps++;
        if (!is_named(chunk, "IDAT") || size > reader->size - position - 12) return true;
        if (!is_intact(chunk)) return false;
        position += size + 12;
    }
    return true;
}

// Bit 0 of the header's colour type is set if the pixels are entries of the palette.
static bool needs_palette(const cpng_reader *reader) { return (reader->bytes[25] & 1) != 0; }

// Whether libpng would refuse the file for this chunk, or take it for another one, although browsers pass over it: one that is not needed
// and has a name of other than letters, a profile that is not the first, and a suggested palette behind another one.
static bool is_passed_over(cpng_reader *reader, const uint8_t *chunk) {
    if (is_named(chunk, "iCCP")) return reader->position != reader->profile;
    if (is_named(chunk, "PLTE") && reader->position > 25) {
        bool is_second = reader->has_palette && !needs_palette(reader);
        reader->has_palette = true;
        return is_second;
    }
    bool is_needed = (chunk[4] & 0x20) == 0;
    for (int i = 4; i < 8; i++)
        if (((chunk[i] | 0x20) < 'a' || (chunk[i] | 0x20) > 'z') && !is_needed) return true;
    return false;
}

// Goes to the chunk that libpng reads next. A profile behind the palette comes before it, because libpng would ignore it there.
static void find_next(cpng_reader *reader) {
    if (reader->resumed != 0) {
        reader->position = reader->resumed;
        reader->resumed = 0;
    } else if (reader->overtaken != 0 && reader->position == reader->overtaken) {
        reader->resumed = reader->overtaken;
        reader->overtaken = 0;
        reader->position = reader->profile;
    }
    reader->next = reader->position;
}

// The bytes of the whole colours of a palette.
static uint32_t whole_colors(const uint8_t *chunk) { return big_endian(chunk) / 3 * 3; }

// Gives libpng the length and the name of the chunk at the position, at the start of the file its signature.
static void begin_chunk(cpng_reader *reader, png_bytep out) {
    const uint8_t *chunk = reader->bytes + reader->position;
    reader->next += reader->position == 0 ? 8 : (size_t)big_endian(chunk) + 12;
    if (reader->position == 0) return;
    if (is_passed_over(reader, chunk)) {
        memcpy(out + 4, "tEXt", 4);  // libpng skips texts unread
    } else if (is_named(chunk, "PLTE") && reader->position > 25 && needs_palette(reader) && big_endian(chunk) < 3 * PNG_MAX_PALETTE_LENGTH
               && whole_colors(chunk) < big_endian(chunk)) {
        // libpng refuses a palette with a part of a colour at its end, which browsers ignore.
        reader->trimmed = reader->position;
        put_big_endian(out, whole_colors(chunk));
    }
}

static void on_read(png_structp png, png_bytep out, size_t count) {
    cpng_reader *reader = png_get_io_ptr(png);
    bool begins = reader->position == reader->next && count == 8;  // libpng reads the length and the name of a chunk at once
    if (begins) find_next(reader);
    const uint8_t *palette = reader->trimmed != 0 ? reader->bytes + reader->trimmed : NULL;
    bool ends_trimmed = palette != NULL && count == 4 && reader->position == reader->trimmed + 8 + whole_colors(palette);
    if (ends_trimmed) reader->position = reader->trimmed + 8 + big_endian(palette);
    if (count > reader->size - reader->position) {
        reader->position = reader->size;
        reader->status = CPNG_TRUNCATED;
        png_error(png, "truncated");
    }
    memcpy(out, reader->bytes + reader->position, count);
    if (reader->cut != 0 && reader->position == reader->cut && count >= 4) {
        // Passes a truncated IDAT with its actual length: libpng accepts only full buffers.
        put_big_endian(out, (uint32_t)(reader->size - reader->cut - 8));
    } else if (begins) {
        begin_chunk(reader, out);
    } else if (ends_trimmed && is_intact(palette)) {
        put_big_endian(out, cpng_crc(0, palette + 4, whole_colors(palette) + 4));
    }
    reader->position += count;
}

cpng_reader *cpng_reader_make(const uint8_t *bytes, size_t size, bool lenient) {
    cpng_reader *reader = calloc(1, sizeof *reader);
    if (reader == NULL) return NULL;
    *reader = (cpng_reader){.bytes = bytes, .size = size, .lenient = lenient};
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, on_error, on_warning);
    reader->info = reader->png != NULL ? png_create_info_struct(reader->png) : NULL;
    if (reader->info == NULL) {
        cpng_reader_free(reader);
        return NULL;
    }
    return reader;
}

void cpng_reader_free(cpng_reader *reader) {
    fast_rows_free(reader);
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

const char *cpng_reader_reason(const cpng_reader *reader) { return reader->reason; }

static cpng_status outcome(cpng_reader *reader) { return reader->lenient ? CPNG_OK : reader->weakness; }

static void prepare(cpng_reader *reader) {
    // Chunks without an effect on pixels are skipped unread. eXIf may come after the rows and is found without libpng, and so is sRGB,
    // because libpng would refuse the profile beside it.
    static const png_byte unread[] = "bKGD\0eXIf\0hIST\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0zTXt";
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, unread, sizeof unread / 5);
    png_set_crc_action(reader->png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    png_set_benign_errors(reader->png, 1);
    png_set_check_for_invalid_index(reader->png, 0);  // cpng_expand does
    png_set_option(reader->png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);  // streams name too small ones
    png_set_chunk_malloc_max(reader->png, chunk_limit);
    png_set_chunk_cache_max(reader->png, 16);
    png_set_user_limits(reader->png, 1000000, PNG_UINT_31_MAX);
    png_set_read_fn(reader->png, reader, on_read);
}

static void read_colors(cpng_reader *reader, cpng_header *header) {
    int intent;
    bool is_known = png_get_sRGB(reader->png, reader->info, &intent) != 0;
    header->is_srgb = is_known || reader->has_srgb;
    png_charp name;
    int compression;
    png_bytep profile;
    png_uint_32 size;
    if (!is_known && png_get_iCCP(reader->png, reader->info, &name, &compression, &profile, &size) != 0) {
        header->profile = profile;
        header->profile_size = size;
    }
    png_fixed_point gamma;
    header->has_gamma = png_get_gAMA_fixed(reader->png, reader->info, &gamma) != 0;
    if (header->has_gamma) header->gamma = gamma;
    png_fixed_point c[8];
    header->has_chromaticities = png_get_cHRM_fixed(
        reader->png, reader->info, &c[0], &c[1], &c[2], &c[3], &c[4], &c[5], &c[6], &c[7]) != 0;
    if (header->has_chromaticities)
        for (int i = 0; i < 8; i++) header->chromaticities[i] = c[i];
}

static void read_palette(cpng_reader *reader) {
    png_colorp colors = NULL;
    int count = 0;
    png_get_PLTE(reader->png, reader->info, &colors, &count);
    // libpng ignores a tRNS with more alphas than colours; browsers take those that have one.
    const uint8_t *alpha = reader->alphas != 0 ? reader->bytes + reader->alphas + 8 : NULL;
    size_t alphas = alpha != NULL ? big_endian(alpha - 8) : 0;
    if (alphas > 256) alphas = 0;
    reader->has_trns = alphas > 0;
    for (int i = 0; i < 256; i++) {
        uint8_t entry[4] = {0, 0, 0, 255};
        if (i < count) {
            entry[0] = colors[i].red, entry[1] = colors[i].green, entry[2] = colors[i].blue;
            if ((size_t)i < alphas) entry[3] = alpha[i];
        }
        memcpy(&reader->palette[i], entry, 4);
    }
    reader->colors = count;
}

// Whether libpng applies a tRNS chunk. One before PLTE is misplaced: libpng keeps its flag and forgets its contents.
static bool has_transparency(const cpng_reader *reader) {
    int count = 0;
    return png_get_tRNS(reader->png, reader->info, NULL, &count, NULL) != 0 && count > 0;
}

cpng_status cpng_reader_header(cpng_reader *reader, cpng_header *header) {
    if (setjmp(png_jmpbuf(reader->png))) return reader->status;
    prepare(reader);
    if (reader->size > 8) find_chunks(reader);
    png_read_info(reader->png, reader->info);
    memset(header, 0, sizeof *header);
    header->width = png_get_image_width(reader->png, reader->info);
    header->height = png_get_image_height(reader->png, reader->info);
    header->depth = png_get_bit_depth(reader->png, reader->info);
    header->color_type = png_get_color_type(reader->png, reader->info);
    header->interlaced = png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_NONE;
    reader->has_trns = has_transparency(reader);
    reader->interlaced = header->interlaced;
    read_colors(reader, header);
    if (header->color_type == CPNG_PALETTE) read_palette(reader);
    header->has_trns = reader->has_trns;
    header->palette_size = reader->colors;
    header->steps = reader->steps;
    return outcome(reader);
}

cpng_status cpng_reader_start(cpng_reader *reader, size_t *row_size, int *passes) {
    fast_rows_free(reader);
    if (setjmp(png_jmpbuf(reader->png))) return reader->status;
    if (png_get_color_type(reader->png, reader->info) == PNG_COLOR_TYPE_PALETTE) {
        png_set_packing(reader->png);
    } else {
        png_set_expand(reader->png);
        png_set_scale_16(reader->png);
    }
    // The stream's checksum comes after the last row and may be wrong or missing if the checksums of the chunks are correct. Those of the
    // chunks may be wrong if that of the stream is correct.
    reader->needs_adler = !has_right_idats(reader);
    if (!reader->needs_adler) png_set_option(reader->png, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    png_set_crc_action(reader->png, PNG_CRC_QUIET_USE, PNG_CRC_NO_CHANGE);
    *passes = png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    *row_size = png_get_rowbytes(reader->png, reader->info);
    return outcome(reader);
}

// Whether the last row has been read: libpng reads beyond it before it returns.
static bool is_done(cpng_reader *reader) {
    return reader->interlaced ? png_get_current_pass_number(reader->png) >= 7
                              : png_get_current_row_number(reader->png) >= png_get_image_height(reader->png, reader->info);
}

cpng_status cpng_reader_row(cpng_reader *reader, uint8_t *row) {
    // Bytes after the last row may be damaged or missing. If the checksum of a chunk is wrong, the stream's must be there and correct:
    // libpng reports a wrong one as a warning after all rows.
    if (setjmp(png_jmpbuf(reader->png)))
        return is_done(reader) && (reader->lenient || !reader->needs_adler) ? outcome(reader) : reader->status;
    // As a display row, each pass fills the blocks of later passes, so that a truncated picture is coarse and has no holes.
    if (reader->interlaced && reader->lenient)
        png_read_row(reader->png, NULL, row);
    else
        png_read_row(reader->png, row, NULL);
    return outcome(reader);
}
