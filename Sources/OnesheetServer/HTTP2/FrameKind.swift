import NIOHTTP2

/// The types of frames (RFC 9113 §6).
enum FrameKind: UInt8 {
    case data, headers, priority, reset, settings, pushPromise, ping, goAway, windowUpdate, continuation
}

/// The flags of frames.
enum FrameFlag {
    /// Of settings and pings.
    static let acknowledges: UInt8 = 0x1
    static let endsStream: UInt8 = 0x1
    static let endsFields: UInt8 = 0x4
    static let isPadded: UInt8 = 0x8
    static let hasPriority: UInt8 = 0x20
}

/// The names of settings that a server sends or acts on (RFC 9113 §6.5.2).
enum FrameSetting {
    static let enablesPush: UInt16 = 2
    static let mostStreams: UInt16 = 3
    static let firstWindow: UInt16 = 4
    static let longestFrame: UInt16 = 5
    static let longestFields: UInt16 = 6

    /// Checks the settings of a client. Those that limit tables and lists of fields have no effect: fields are encoded without a table.
    /// - Returns: the window of new streams, if the client sets it. Of several values the last counts, because each would change all streams.
    static func firstWindow(of settings: [(name: UInt16, value: Int)]) throws(ConnectionFailure) -> Int? {
        var window: Int?
        for (name, value) in settings {
            switch name {
            case enablesPush: guard value <= 1 else { throw .protocolError }
            case firstWindow:
                guard value <= Int(Int32.max) else { throw ConnectionFailure(code: .flowControlError) }
                window = value
            case longestFrame: guard FrameReader.longestPayload...(1 << 24) - 1 ~= value else { throw .protocolError }
            default: break
            }
        }
        return window
    }
}
