#pragma once

// libavif. Used only if the package trait AVIF is enabled.
#include <avif/avif.h>
