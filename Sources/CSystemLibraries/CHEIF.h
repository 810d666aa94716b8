#pragma once

// libheif. Used only if the package trait HEIC is enabled.
#include <libheif/heif.h>
