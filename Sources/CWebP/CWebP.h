#pragma once

// libwebp, read only where the package trait WebP is on.
#include <webp/decode.h>
#include <webp/demux.h>
#include <webp/encode.h>
