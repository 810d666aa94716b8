package import OnesheetCore
package import OnesheetImaging

/// The reason for which there is no image. Wraps the errors of lower layers.
package enum PipelineError: Error, Sendable, Equatable {
    /// No source has this name; `known` lists the names.
    case unknownSource(String, known: [String])
    /// The source could not answer.
    case source(String, SourceError)
    /// The title exists and has no poster.
    case noPoster(TitleReference)
    /// The original could not be fetched.
    case origin(HTTPTransportError)
    /// The origin does not have the picture or refuses it; `answer` is its HTTP status.
    case originRefused(url: String, answer: Int)
    /// The original is not a picture, is damaged or too large, or the variant cannot be made from it.
    case render(RenderError)
    /// Workers, memory or a queue are full. Room is likely after `retryAfter` seconds.
    case overloaded(retryAfter: Int)
    /// Parsing the original or rendering exceeded this deadline.
    case timedOut(Duration)
    /// The client has exhausted its share of misses. It has some again after `retryAfter` seconds.
    case tooManyRequests(retryAfter: Int)
    /// The caller has left.
    case cancelled
}

extension PipelineError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownSource(let name, let known): unknownName(name, kind: "source", known: known)
        case .source(let name, let error): "source \(name): \(error)"
        case .noPoster(let title): "\(shown(title)) has no poster"
        case .origin(let error): "\(error)"
        case .originRefused(let url, let answer): "\(shown(url)) answers \(answer)"
        case .render(let error): "\(error)"
        case .overloaded: "the server has no room for this request at the moment; try again shortly"
        case .timedOut(let limit): "the image was not made within \(limit)"
        case .tooManyRequests(let seconds):
            "this address has exceeded its share of new images (configuration: clients.perAddress.misses); try again after \(seconds) s"
        case .cancelled: "the request was cancelled"
        }
    }
}

extension PipelineError {
    /// The failure of a call to a source.
    init(_ error: SourceError, of source: String) {
        self = if case .overloaded(let seconds) = error { .overloaded(retryAfter: seconds) } else { .source(source, error) }
    }

    /// The error for visitors: without details that may be private.
    package var withoutDetails: PipelineError {
        if case .source(let name, let error) = self { .source(name, error.withoutDetails) } else { self }
    }

    /// Whether there is no such title, or no such picture at its origin.
    package var isMissing: Bool {
        switch self {
        case .source(_, .notFound), .originRefused(_, 404), .originRefused(_, 410): true
        default: false
        }
    }

    /// The reason without the title, so that equal failures can be grouped.
    package var reason: String {
        if case .noPoster = self { return "there is no poster" }
        return description
    }

    /// Whether a stale image may be served instead (RFC 5861 §4), because the failure may pass by itself.
    var allowsStale: Bool {
        switch self {
        case .origin, .originRefused, .render, .overloaded, .timedOut, .source(_, .unavailable), .source(_, .failed),
            .source(_, .quotaExhausted), .source(_, .malformedAnswer):
            true
        case .unknownSource, .source, .noPoster, .cancelled, .tooManyRequests: false
        }
    }

    /// Whether the bytes of the original are to blame, which its header did not reveal.
    var isOriginals: Bool {
        switch self {
        case .render(.codec(.damaged, _)), .render(.codec(.truncated, _)), .render(.timedOut), .timedOut: true
        case .render(.lost(let loss)): loss != .killed
        default: false
        }
    }

    /// Whether the image in another format than `format` may be possible: that cannot hold it, or its encoder takes more memory than there is.
    package func isOnly(of format: ImageFormat) -> Bool {
        switch self {
        case .render(.codec(.unsupported, format)), .render(.tooMuchMemory): true
        default: false
        }
    }

    /// Whether it is unrelated to the poster, so that another candidate would fail too.
    var isOurs: Bool {
        switch self {
        case .cancelled, .overloaded, .tooManyRequests, .render(.noProcess), .render(.lost(.killed)): true
        default: false
        }
    }
}
