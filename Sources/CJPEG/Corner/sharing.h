// How the variance of what a corner leaves out of a block is shared among the samples of the corner, the same for each instruction set.
//
// Light that a corner does not show is rarely spread evenly: where samples are far from the block's mean, there is an edge or a point,
// and most of what is left out belongs to it. So a sample's share is by the square of its distance from the mean, and a fifth of the
// whole is shared evenly. Where a dark block has a bright point, what is left out of the point is brighter still, and counts for more
// light than as much in the dark (the third moment): the weights of samples above the mean are up to half as large again, and those
// below as much smaller, the more the darker the block is.
#pragma once

#include "tables.h"

/// White as a sum, in which 0 is the middle gray. Twice as much, the distance from black, is a half with 15 fraction bits: how much
/// larger or smaller a weight becomes.
#define CJR_WHITE ((128 << CJR_SAMPLE_BITS) - 1)
/// The most vectors of a corner that leaves something out.
#define CJR_SHARED 4

/// The weight that each of `count` samples has beside that of its distance, from the total of all squares, which are halves of squares of
/// a step of a sample.
static inline int even_weight(int total, int count) { return total / (4 * count) + 1; }

/// The share for a weight of 1. Each step is one operation on whole numbers that float holds exactly, as is the product with a weight: the
/// results are the same everywhere.
static inline float share_of_weight(int variance, int total, int even, int count) {
    return (float)(variance * count) / (float)(total + even * count);
}
