#pragma once

// libavif, read only where the package trait AVIF is on.
#include <avif/avif.h>
