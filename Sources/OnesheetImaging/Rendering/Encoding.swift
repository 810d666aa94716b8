#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Foundation
#endif
import NIOCore
import OnesheetCore

extension Rendering {
    /// Encodes at the quality of the job, or at the one that it finds, and within `maxBytes`.
    func encode(_ job: Job, _ picture: borrowing PixelBuffer) throws(CodecError) -> ByteBuffer {
        var options = job.options
        options.deadline = deadline
        try deadline.check()
        let first =
            job.transform.findsQuality && job.encoder.usesQuality
                && picture.layout.width * picture.layout.height <= QualitySearch.largest
            ? try smallestAlike(job, picture, with: options)
            : Attempt(quality: options.quality, body: try job.encoder.encode(picture, options))
        let limit = job.transform.maxBytes
        guard limit > 0, first.body.readableBytes > limit else { return first.body }
        return try encode(job, picture, with: options, below: first, within: limit)
    }

    private struct Attempt {
        var quality: Int
        var body: ByteBuffer
    }

    /// The most encodings after the first to meet `maxBytes`, before the one at the lowest quality. It depends on the pixels alone, so that
    /// all machines make the same bytes: a whole binary search of a hundred qualities up to about a megapixel, and fewer beyond, so that no
    /// variant takes a worker for long.
    static func tries(pixels: Int) -> Int { min(max(8_000_000 / max(pixels, 1), 2), 7) }

    /// Encodes at the highest quality that fits into `limit`, or at a lower one if the tries do not find it, or at the lowest if none fits.
    private func encode(
        _ job: Job, _ picture: borrowing PixelBuffer, with options: EncodeOptions, below first: Attempt, within limit: Int
    ) throws(CodecError) -> ByteBuffer {
        var (options, best) = (options, first.body)
        var (low, high) = (1, first.quality - 1)
        var fits = false
        var guess = SizeGuess(first.quality, bytes: first.body.readableBytes)
        var tries = Self.tries(pixels: picture.layout.width * picture.layout.height)
        while low <= high, tries > 0 || !fits {
            try deadline.check()
            options.quality =
                if tries == 0 { low } else if high - low + 1 < 1 << tries { (low + high + 1) / 2 } else {
                    min(max(guess.quality(for: limit), low), high)
                }
            tries = max(tries - 1, 0)
            let body = try job.encoder.encode(picture, options)
            guess.note(options.quality, bytes: body.readableBytes)
            if body.readableBytes <= limit {
                (best, fits) = (body, true)
                low = options.quality + 1
            } else {
                if !fits, body.readableBytes < best.readableBytes { best = body }
                high = options.quality - 1
            }
        }
        return best
    }

    /// The smallest file that looks like a JPEG of the default quality, or the one that looks most like the picture if none does.
    ///
    /// Each attempt is decoded and compared with the picture. If that is impossible, the file of the default quality.
    private func smallestAlike(
        _ job: Job, _ picture: borrowing PixelBuffer, with options: EncodeOptions
    ) throws(CodecError) -> Attempt {
        var best = Attempt(quality: options.quality, body: try job.encoder.encode(picture, options))
        guard let original = try LumaPlane(picture, by: deadline),
            let first = try distance(of: best.body, from: original, job.encoder)
        else { return best }
        var (options, search, least) = (options, QualitySearch(best.quality, first), first)
        while let quality = search.next {
            try deadline.check()
            options.quality = quality
            let body = try job.encoder.encode(picture, options)
            guard let distance = try distance(of: body, from: original, job.encoder) else { return best }
            search.note(quality, distance)
            let (isAlike, wasAlike) = (distance <= .jpegOf80, least <= .jpegOf80)
            let isSmaller = body.readableBytes < best.body.readableBytes
            if isAlike ? !wasAlike || isSmaller : !wasAlike && distance < least {
                (best, least) = (Attempt(quality: quality, body: body), distance)
            }
        }
        return best
    }

    /// `nil` if the codec does not decode what it encodes, or decodes it to another size or to inks, or if the picture is tiny.
    private func distance(
        of body: ByteBuffer, from original: LumaPlane, _ codec: any Codec
    ) throws(CodecError) -> VisibleDistance? {
        var limits = renderer.limits
        limits.pixels = max(limits.pixels, limits.outputPixels)
        var sink = LumaSink(by: deadline)
        do throws(CodecError) {
            let request = DecodeRequest(acceptsPlanar: true, limits: limits, deadline: deadline)
            try codec.decode(body.readableBytesUInt8Span, request, into: &sink)
        } catch {
            guard error != .timedOut, error != .outOfMemory else { throw error }
            return nil
        }
        guard sink.luma.width == original.width, sink.luma.height == original.height else { return nil }
        return try VisibleDistance(original, sink.luma, by: deadline)
    }
}

/// Guesses the quality for a size. The logarithm of the size is about linear in the quality.
private struct SizeGuess {
    /// The typical fall of the logarithm from one quality to the next lower one, before it is measured.
    private var slope = 0.025
    private var last: (quality: Int, logarithm: Double)

    init(_ quality: Int, bytes: Int) { last = (quality, log(Double(max(bytes, 1)))) }

    mutating func note(_ quality: Int, bytes: Int) {
        let next = (quality: quality, logarithm: log(Double(max(bytes, 1))))
        if quality != last.quality {
            // A flat or falling curve would guess far away.
            slope = max((next.logarithm - last.logarithm) / Double(next.quality - last.quality), 0.005)
        }
        last = next
    }

    /// A quality that is a little too low rather than a little too high.
    func quality(for limit: Int) -> Int {
        last.quality - Int(((last.logarithm - log(Double(max(limit, 1)) * 0.95)) / slope).rounded(.up))
    }
}
