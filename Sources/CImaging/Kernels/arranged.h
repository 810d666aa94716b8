#pragma once

#include <stdint.h>

#if defined(__x86_64__)
/// One row horizontally, with weights that ck_arrange has written for so many outputs.
void ck_across_arranged_u8(const uint8_t *from, int16_t *to, const int16_t *arranged, int outputs);
void ck_across_arranged_i16(const int16_t *from, int16_t *to, const int16_t *arranged, int outputs);
#endif
