package import OnesheetCore

/// The reason for which a variant cannot be rendered.
package enum RenderError: Error, Sendable, Equatable {
    /// No codec recognises the bytes.
    case unrecognizedFormat
    /// The bytes are of a kind without a codec in this server.
    case foreignFormat(ForeignFormat)
    /// A codec could not decode or encode.
    case codec(CodecError, ImageFormat)
    /// The variant would have more pixels than allowed.
    case tooManyOutputPixels(width: Int, height: Int, limit: Int)
    /// The crop is outside the picture, which has this size.
    case outside(width: Int, height: Int)
    /// It needs more memory than all renders together may have.
    case tooMuchMemory(bytes: Int, limit: Int)
    /// The original has more bytes than the transform allows.
    case tooManyBytes(bytes: Int, limit: Int)
    /// No codec encodes this format.
    case noEncoder(for: ImageFormat)
    /// The transform names a watermark that is not this server's.
    case otherWatermark
    /// Reading the picture exceeded the deadline.
    case timedOut(after: Duration)
    /// Making this variant exceeded the deadline. Others of the same picture may take less time.
    case tooSlow(after: Duration)
    /// A render process was lost while it read the picture.
    case lost(ProcessLoss)
    /// No render process can be started; retry after `retryAfter` seconds.
    case noProcess(retryAfter: Int)
}

/// The way in which a render process ended.
package enum ProcessLoss: String, Error, Sendable, CaseIterable {
    /// It ended by itself or by a signal, such as for a bad access to memory.
    case crash
    /// It had no memory left.
    case memory
    /// A system call that a render does not need.
    case forbidden
    /// It worked for too long and was killed.
    case deadline
    /// It neither worked nor answered, and was killed.
    case stalled
    /// Its answer broke the protocol, or its bytes are not an image of the format.
    case garbage
    /// Killed from outside, for example by the OOM killer.
    case killed

    /// Whether it counts against the picture. A process that is killed from outside, or waits for a processor, says nothing about it.
    package var mayBePictures: Bool { self != .killed && self != .stalled }
}

extension RenderError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unrecognizedFormat: "the bytes are not an image of a known format"
        case .foreignFormat(let format): "\(format)"
        case .codec(let error, let format): "\(format): \(error)"
        case .tooManyOutputPixels(let width, let height, let limit):
            "the variant would have \(width) × \(height) pixels; at most \(limit) are allowed"
        case .outside(let width, let height): "the crop is outside the picture, which has \(width) × \(height) pixels"
        case .tooMuchMemory(let bytes, let limit): "rendering takes \(bytes) bytes; at most \(limit) are allowed"
        case .tooManyBytes(let bytes, let limit): "the image has \(bytes) bytes; at most \(limit) are allowed"
        case .noEncoder(let format): "no codec writes \(format)"
        case .otherWatermark: "this server has another watermark, or none"
        case .timedOut(let duration), .tooSlow(let duration): "the image was not made within \(duration)"
        case .lost(.memory): "the image takes more memory than a render process has; it is not read again for a day"
        case .lost(.killed): "the processes that made the image were killed"
        case .lost(.deadline): "the image takes too long; it is not read again for a day"
        case .lost(let reason): "the image ends the process that reads it (\(reason.rawValue)); it is not read again for a day"
        case .noProcess: "no render process can be started at the moment; the server's log has the reason"
        }
    }
}

extension Failure {
    /// The original is not a picture, is damaged or too large, or the variant cannot be made from it. A process that was taken over says only
    /// what has happened, so the judgement is here.
    package static func render(_ error: RenderError) -> Failure {
        func failure(
            _ title: String, by blame: Blame, status: Status, retry: Retry = .unknown, seconds: Double? = 30,
            traits: Traits = .allowsStale
        ) -> Failure {
            Failure(
                blame: blame, status: status, title: title, message: error.description, retry: retry,
                memory: Memory(image: seconds),
                traits: traits.union(.namesNoSource))
        }
        return switch error {
        case .codec(.damaged, _), .codec(.truncated, _):
            failure("Not a usable image", by: .image, status: .unusable, traits: [.allowsStale, .dropsOriginal])
        case .codec(.unsupported, _), .tooMuchMemory:
            failure("Not a usable image", by: .image, status: .unusable, traits: [.allowsStale, .mayFitOtherFormat])
        case .unrecognizedFormat, .foreignFormat, .codec, .tooManyBytes:
            failure("Not a usable image", by: .image, status: .unusable)
        case .tooManyOutputPixels, .outside: failure("Bad request", by: .request, status: .badRequest)
        case .noEncoder, .otherWatermark:
            failure("Bad request", by: .request, status: .badRequest, traits: [.allowsStale, .keepsOutline])
        // The job has occupied a worker for its whole deadline.
        case .timedOut:
            failure(
                "Rendering too slow", by: .image, status: .tooSlow, seconds: 600,
                traits: [.allowsStale, .dropsOriginal, .keepsChoice])
        case .tooSlow:
            failure("Rendering too slow", by: .image, status: .tooSlow, seconds: 600, traits: [.allowsStale, .keepsChoice])
        // These two say nothing about the picture.
        case .lost(.killed): failure("Render process lost", by: .server, status: .unavailable, retry: .after(1), seconds: nil)
        case .noProcess(let seconds):
            failure(
                "Cannot render", by: .server, status: .unavailable, retry: .after(seconds), seconds: nil,
                traits: [.allowsStale, .keepsOutline])
        case .lost: failure("Not a usable image", by: .image, status: .unusable, traits: [.allowsStale, .dropsOriginal])
        }
    }
}
