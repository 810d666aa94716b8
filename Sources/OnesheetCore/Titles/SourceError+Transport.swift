extension SourceError {
    /// What a failed request means for a source. Queries are left out of the reason: they carry keys.
    public init(_ error: HTTPTransportError) {
        switch error {
        case .forbidden(let url, let reason):
            self = .unavailable(reason: "\(Self.withoutQuery(url)) may not be fetched: \(reason)")
        case .invalidURL(let url):
            self = .unavailable(reason: "“\(Self.withoutQuery(url))” is not an http or https URL")
        case .timedOut(let url):
            self = .unavailable(reason: "\(Self.withoutQuery(url)) did not answer in time")
        case .tooLarge(let url, let limit):
            self = .malformedAnswer(reason: "\(Self.withoutQuery(url)) sends more than \(limit) bytes")
        case .tooManyRedirects(let url):
            self = .unavailable(reason: "\(Self.withoutQuery(url)) redirects too often")
        case .unavailable(let url, let seconds):
            self = .unavailable(reason: "\(Self.withoutQuery(url)) failed too often, or asked to be left alone, for \(seconds) s")
        case .crowded(let url, let seconds):
            self = .unavailable(reason: "too many requests wait for the host of \(Self.withoutQuery(url)), for \(seconds) s")
        case .overloaded(let url):
            self = .unavailable(reason: "there is no memory for the answer of \(Self.withoutQuery(url)) at the moment")
        case .failed(let url, let reason):
            self = .unavailable(reason: "\(Self.withoutQuery(url)) cannot be fetched: \(reason)")
        }
    }

    // Bytes, because a combining mark behind a question mark would hide it, and the query would be told.
    private static func withoutQuery(_ url: String) -> Substring {
        url[..<(url.utf8.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? url.endIndex)]
    }
}
