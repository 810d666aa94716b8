import Foundation
import OnesheetCore

/// A reference resampler: slow, in Double, with two nested loops and weights computed for each pixel. The tests compare the fast
/// one with it.
struct ReferenceResampling {
    /// The resampled part of the picture.
    var region: (x: Double, y: Double, width: Double, height: Double)
    var width: Int
    var height: Int
    /// Whether light is averaged (IEC 61966-2-1) instead of stored values.
    var isLight = false

    private func opened(_ sample: Double) -> Double {
        let value = sample / 255
        return isLight ? 255 * (value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)) : sample
    }

    private func closed(_ light: Double) -> Double {
        let value = min(max(light, 0), 255) / 255
        return isLight ? 255 * (value <= 0.003_130_8 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055) : 255 * value
    }

    /// Samples of one packed picture, not rounded. Colours are premultiplied for averaging.
    func resample(_ picture: borrowing PixelBuffer) -> [Double] {
        let layout = picture.layout
        let channels = layout.planes[0].channels
        var samples = [Double](repeating: 0, count: layout.width * layout.height * channels)
        for y in 0..<layout.height {
            picture.withRow(y) { row in
                for index in 0..<row.count {
                    var value = Double(row[index])
                    let isColor = !layout.hasAlpha || index % channels < channels - 1
                    if isColor { value = opened(value) }
                    if layout.hasAlpha, isColor { value *= Double(row[index / channels * channels + channels - 1]) / 255 }
                    samples[y * layout.width * channels + index] = value
                }
            }
        }
        let across = pass(
            samples, lines: layout.height, length: layout.width, channels: channels, stride: (layout.width * channels, channels),
            region: (region.x, region.width), outputs: width)
        let down = pass(
            across, lines: width, length: layout.height, channels: channels, stride: (channels, width * channels),
            region: (region.y, region.height), outputs: height)
        // Column by column here; back to rows.
        var outcome = [Double](repeating: 0, count: width * height * channels)
        for x in 0..<width {
            for y in 0..<height {
                for channel in 0..<channels {
                    var value = down[(x * height + y) * channels + channel]
                    let alpha = down[(x * height + y) * channels + channels - 1]
                    if layout.hasAlpha, channel < channels - 1 { value = alpha > 0 ? value * 255 / alpha : 0 }
                    let isAlpha = layout.hasAlpha && channel == channels - 1
                    outcome[(y * width + x) * channels + channel] = isAlpha ? min(max(value, 0), 255) : closed(value)
                }
            }
        }
        return outcome
    }

    private func pass(
        _ samples: [Double], lines: Int, length: Int, channels: Int, stride: (line: Int, sample: Int),
        region: (start: Double, length: Double), outputs: Int
    ) -> [Double] {
        let scale = region.length / Double(outputs)
        var outcome = [Double](repeating: 0, count: lines * outputs * channels)
        for output in 0..<outputs {
            let center = region.start + (Double(output) + 0.5) * scale
            let weights = (0..<length).map { weight((Double($0) + 0.5 - center) / max(scale, 1), enlarging: scale < 1) }
            let total = weights.reduce(0, +)
            let counted = weights.indices.filter { weights[$0] != 0 }
            for line in 0..<lines {
                for channel in 0..<channels {
                    var sum = 0.0
                    for sample in counted {
                        sum += samples[line * stride.line + sample * stride.sample + channel] * weights[sample]
                    }
                    outcome[(line * outputs + output) * channels + channel] = sum / total
                }
            }
        }
        return outcome
    }

    private func weight(_ distance: Double, enlarging: Bool) -> Double {
        let x = abs(distance)
        if enlarging {
            if x < 1 { return 1.5 * pow(x, 3) - 2.5 * x * x + 1 }
            return x < 2 ? -0.5 * pow(x, 3) + 2.5 * x * x - 4 * x + 2 : 0
        }
        func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
        return x < 3 ? sinc(x) * sinc(x / 3) : 0
    }
}
