// libFuzzer, called instead of calling: SwiftPM gives executables a main of their own.
#pragma once
#include <stddef.h>
#include <stdint.h>

int cfuzzing_run(int argc, char **argv, int (*target)(const uint8_t *bytes, size_t count));

/// Reads a file with the reader for shrinking, with every instruction set, and with libjpeg-turbo, and aborts if they differ. The
/// last byte chooses the corners.
int cfuzzing_jpeg_corner(const uint8_t *bytes, size_t count);
