#pragma once

// giflib. Used only if the package trait GIF is enabled.
#include <gif_lib.h>
