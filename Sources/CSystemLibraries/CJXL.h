#pragma once

// libjxl. Used only if the package trait JXL is enabled.
#include <jxl/decode.h>
#include <jxl/encode.h>
