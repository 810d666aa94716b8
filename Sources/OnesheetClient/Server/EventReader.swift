internal import OnesheetValues

/// Reads server-sent events from the pieces of a body (WHATWG HTML §9.2.6).
struct EventReader {
    struct Event: Equatable {
        var name = "message"
        var data: [UInt8] = []
    }

    /// The most bytes of an event.
    let limit: Int
    private var line: [UInt8] = []
    private var event = Event()
    private var hasData = false
    private var size = 0
    private var isAfterReturn = false
    private var isFirstLine = true

    init(limit: Int) { self.limit = limit }

    /// The events that end in `bytes`.
    /// - Throws: `ClientError.tooLarge`.
    mutating func read(_ bytes: [UInt8]) throws(ClientError) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let endsPair = isAfterReturn && byte == UInt8(ascii: "\n")
            isAfterReturn = byte == UInt8(ascii: "\r")
            if endsPair { continue }
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if let event = endLine() { events.append(event) }
                continue
            }
            size += 1
            guard size <= limit else { throw .tooLarge(limit: limit) }
            line.append(byte)
        }
        return events
    }

    /// Handles a line, and returns the event that ends with it.
    private mutating func endLine() -> Event? {
        if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        isFirstLine = false
        defer { line.removeAll(keepingCapacity: true) }
        guard !line.isEmpty else {
            defer { (event, hasData, size) = (Event(), false, 0) }
            return hasData ? event : nil
        }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "event": event.name = value.isEmpty ? "message" : String(decoding: value, as: UTF8.self)
        case "data":
            if hasData { event.data.append(UInt8(ascii: "\n")) }
            event.data += value
            hasData = true
        // Comments, and fields that nothing here needs.
        default: break
        }
        return nil
    }
}
