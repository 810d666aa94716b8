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
}
