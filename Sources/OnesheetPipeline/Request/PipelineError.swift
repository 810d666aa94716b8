package import OnesheetCore
package import OnesheetImaging

/// Why there is no image. Wraps the error of the layer below.
package enum PipelineError: Error, Sendable, Equatable {
    /// No source has this name; `known` are those that there are.
    case unknownSource(String, known: [String])
    /// The source could not answer.
    case source(String, SourceError)
    /// The title is there and has no poster.
    case noPoster(TitleReference)
    /// The original could not be fetched.
    case origin(HTTPTransportError)
    /// The origin does not have the picture, or refuses it; `answer` is its HTTP status.
    case originRefused(url: String, answer: Int)
    /// The original is not a picture, damaged or too large, or the variant cannot be made of it.
    case render(RenderError)
    /// Workers, memory or a queue are full. Room is likely after `retryAfter` seconds.
    case overloaded(retryAfter: Int)
    /// Looking at the original or making the variant was not done after this time, and is not waited for any longer.
    case timedOut(Duration)
    /// This client has used up its share of misses; it has some again after `retryAfter` seconds.
    case tooManyRequests(retryAfter: Int)
    /// The caller has left.
    case cancelled
}

extension PipelineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownSource(let name, let known): unknownName(name, kind: "source", known: known)
        case .source(let name, let error): "source \(name): \(error)"
        case .noPoster(let title): "\(title) has no poster"
        case .origin(let error): "\(error)"
        case .originRefused(let url, let answer): "\(shown(url)) answers \(answer)"
        case .render(let error): "\(error)"
        case .overloaded: "too many images are being fetched or made at the moment; try again shortly"
        case .timedOut(let limit): "the image was not made within \(limit)"
        case .tooManyRequests(let seconds):
            "this address asks for more new images than its share (configuration: clients.perAddress.misses); try again after \(seconds) s"
        case .cancelled: "the request was cancelled"
        }
    }
}

extension PipelineError {
    /// The reason in words that do not name the title, so that equal failures can be grouped.
    package var reason: String {
        if case .noPoster = self { return "there is no poster" }
        return description
    }

    /// Whether it may be well again without anyone's doing here, so that something stale serves meanwhile (RFC 5861 §4).
    var isOriginsFault: Bool {
        switch self {
        case .origin, .originRefused, .render, .overloaded, .timedOut, .source(_, .unavailable), .source(_, .quotaExhausted),
            .source(_, .malformedAnswer):
            true
        case .unknownSource, .source, .noPoster, .cancelled, .tooManyRequests: false
        }
    }

    /// Whether the original's bytes are to blame, which its header did not show.
    var isOriginals: Bool {
        switch self {
        case .render(.codec(.damaged, _)), .render(.codec(.truncated, _)), .render(.timedOut), .timedOut: true
        default: false
        }
    }

    /// Whether it says nothing of the poster: another candidate would fare no better.
    var isOurs: Bool {
        switch self {
        case .cancelled, .overloaded, .tooManyRequests: true
        default: false
        }
    }
}
