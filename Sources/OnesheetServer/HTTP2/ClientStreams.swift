import NIOHTTP2

/// The streams of an HTTP/2 connection, and what the client may still send on them (RFC 9113 §5.1 and §5.2).
struct ClientStreams {
    /// A stream that is open, or whose response waits.
    struct Stream {
        let hasChannel: Bool
        fileprivate(set) var clientHasEnded: Bool
        fileprivate var serverHasEnded = false
        /// Bytes that the client may send.
        fileprivate(set) var window = ClientStreams.firstWindow
        /// Bytes of the request's body that are still to come; `nil` if the client has not declared its length.
        fileprivate(set) var rest: Int?

        init(hasChannel: Bool, clientHasEnded: Bool, contentLength: Int? = nil) {
            (self.hasChannel, self.clientHasEnded, rest) = (hasChannel, clientHasEnded, contentLength)
        }
    }

    /// A part of a request's body.
    enum Part {
        /// The client has sent it before it knew of the stream's end.
        case ignored
        /// The stream ends.
        case refused(HTTP2ErrorCode)
        /// - Parameter window: what the client may still send.
        case accepted(window: Int)
    }

    /// Bytes of each window at first (RFC 9113 §6.9.2). A server does not change it.
    static let firstWindow = 65_535
    /// The most streams at a time.
    static let most = 100
    /// The number of streams that the server has reset and whose further frames are ignored.
    private static let mostReset = 1000

    /// The last stream that the client has opened.
    private(set) var newest = HTTP2StreamID.rootStream
    private var streams: [HTTP2StreamID: Stream] = [:]
    private var reset: [HTTP2StreamID] = []
    /// Bytes that the client may send on all streams.
    private var window = firstWindow

    var isEmpty: Bool { streams.isEmpty }
    var isFull: Bool { streams.count >= Self.most }

    subscript(stream: HTTP2StreamID) -> Stream? { streams[stream] }

    /// Notes that the client opens a stream.
    /// - Returns: whether it is new. If not, the server has reset it.
    mutating func begin(_ stream: HTTP2StreamID) throws(ConnectionFailure) -> Bool {
        guard stream > newest, !Int(stream).isMultiple(of: 2) else {
            if reset.contains(stream) { return false }
            throw ConnectionFailure(code: stream == newest ? .streamClosed : .protocolError)
        }
        newest = stream
        return true
    }

    /// - Throws: if the client has never opened `stream`.
    func check(_ stream: HTTP2StreamID) throws(ConnectionFailure) {
        guard stream <= newest else { throw .protocolError }
    }

    mutating func add(_ stream: Stream, _ id: HTTP2StreamID) { streams[id] = stream }

    mutating func remove(_ stream: HTTP2StreamID) -> Stream? { streams.removeValue(forKey: stream) }

    /// Notes that the server has reset a stream.
    mutating func noteReset(_ stream: HTTP2StreamID) {
        if reset.count == Self.mostReset { reset.removeFirst() }
        reset.append(stream)
    }

    /// Notes the last frame of the client.
    /// - Returns: whether both have ended.
    mutating func endOfClient(_ stream: HTTP2StreamID) -> Bool {
        streams[stream]?.clientHasEnded = true
        return streams[stream]?.serverHasEnded ?? false
    }

    /// Notes the last frame of the server.
    /// - Returns: whether both have ended.
    mutating func endOfServer(_ stream: HTTP2StreamID) -> Bool {
        streams[stream]?.serverHasEnded = true
        return streams[stream]?.clientHasEnded ?? false
    }

    /// Notes a part of a request's body.
    /// - Parameters:
    ///   - bytes: its length.
    ///   - length: the same with its padding, which counts for the windows.
    mutating func receive(
        _ bytes: Int, length: Int, on id: HTTP2StreamID, isLast: Bool
    ) throws(ConnectionFailure) -> Part {
        // It is widened after each frame, and holds more than one.
        window -= length
        guard var stream = streams[id], !stream.clientHasEnded else {
            if reset.contains(id) { return .ignored }
            throw ConnectionFailure(code: id > newest ? .protocolError : .streamClosed)
        }
        stream.window -= length
        guard stream.window >= 0 else { return .refused(.flowControlError) }
        stream.rest = stream.rest.map { $0 - bytes }
        if let rest = stream.rest, rest < 0 || isLast && rest > 0 { return .refused(.protocolError) }
        streams[id] = stream
        return .accepted(window: stream.window)
    }

    /// The bytes by which the client may send more on the connection, if it is time to tell it. The windows of the streams bound what waits.
    mutating func allowMore() -> Int? {
        guard window < Self.firstWindow / 2 else { return nil }
        defer { window = Self.firstWindow }
        return Self.firstWindow - window
    }

    /// Lets the client send `bytes` more on a stream.
    /// - Returns: what it may send now.
    mutating func allowMore(_ stream: HTTP2StreamID, _ bytes: Int) -> Int? {
        streams[stream]?.window += bytes
        return streams[stream]?.window
    }
}
