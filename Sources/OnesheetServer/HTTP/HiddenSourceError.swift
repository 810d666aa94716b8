import OnesheetPipeline

/// The failure of an image whose address hides its source URL. The log has the error, the client only its kind.
struct HiddenSourceError: Error, CustomStringConvertible {
    let error: any Error

    var description: String { "\(error)" }

    /// Whether the text of the error may contain the source URL or what its origin has answered.
    var revealsSource: Bool {
        switch error as? PipelineError {
        case .unknownSource, .source, .noPoster, .origin, .originRefused: true
        case .render, .overloaded, .timedOut, .tooManyRequests, .cancelled, nil: false
        }
    }
}
