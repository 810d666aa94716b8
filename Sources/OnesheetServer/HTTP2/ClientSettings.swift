import NIOHTTP2

/// The settings of a client that a server acts on (RFC 9113 §6.5.2). Those that limit tables and lists of fields have no effect: fields are
/// encoded without a table.
struct ClientSettings {
    /// The window of new streams; `nil` if the client does not set it. Of several values the last counts, because each would change all
    /// streams.
    private(set) var firstWindow: Int?

    /// - Throws: if a value is outside of its range.
    init(_ settings: [(name: UInt16, value: Int)]) throws(ConnectionFailure) {
        for (name, value) in settings {
            switch name {
            case FrameSetting.enablesPush: guard value <= 1 else { throw .protocolError }
            case FrameSetting.firstWindow:
                guard value <= Int(Int32.max) else { throw ConnectionFailure(code: .flowControlError) }
                firstWindow = value
            case FrameSetting.longestFrame: guard FrameReader.longestPayload...(1 << 24) - 1 ~= value else { throw .protocolError }
            default: break
            }
        }
    }
}
