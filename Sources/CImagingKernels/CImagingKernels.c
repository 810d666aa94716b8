#include "CImagingKernels.h"
