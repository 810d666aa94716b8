extension SourceError {
    /// What a failed request means for a source. Queries are left out of the reason: they carry keys.
    public init(_ error: HTTPTransportError) {
        switch error {
        case .forbidden(let url, let reason):
            self = .unavailable(reason: "\(shown(url)) may not be fetched: \(reason)")
        case .invalidURL(let url):
            self = .unavailable(reason: "“\(shown(url))” is not an http or https URL")
        case .timedOut(let url):
            self = .unavailable(reason: "\(shown(url)) did not answer in time")
        case .tooLarge(let url, let limit):
            self = .malformedAnswer(reason: "\(shown(url)) sends more than \(limit) bytes")
        case .tooManyRedirects(let url):
            self = .unavailable(reason: "\(shown(url)) redirects too often")
        case .unavailable(let url, let seconds):
            self = .unavailable(reason: "\(shown(url)) failed too often, or asked to be left alone, for \(seconds) s")
        case .crowded(let url, let seconds):
            self = .unavailable(reason: "too many requests wait for the host of \(shown(url)), for \(seconds) s")
        case .overloaded(let url):
            self = .unavailable(reason: "there is no memory for the answer of \(shown(url)) at the moment")
        case .failed(let url, let reason):
            self = .unavailable(reason: "\(shown(url)) cannot be fetched: \(reason)")
        }
    }
}
