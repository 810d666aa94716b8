#pragma once

// libwebp. Used only if the package trait WebP is enabled.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
