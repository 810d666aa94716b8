import NIOCore
import OnesheetCache
import OnesheetCore

/// Reads objects of the store, or only their headers, and judges whether they may be served.
extension SharedTier {
    /// The content of a name: a whole object, or only its header.
    enum Reading<Content: Sendable>: Sendable {
        case absent
        case damaged
        case expired(Content)
        case purged(Content)
        case entry(Content)

        var outcome: String {
            switch self {
            case .absent: "miss"
            case .damaged: "damaged"
            case .expired: "expired"
            case .purged: "purged"
            case .entry: "hit"
            }
        }

        /// The content, whether or not it may be served.
        var content: Content? {
            switch self {
            case .absent, .damaged: nil
            case .expired(let content), .purged(let content), .entry(let content): content
            }
        }
    }

    func read(
        _ name: String, _ digest: Digest128, isRequest: Bool
    ) async throws(StoreCalls.Failure) -> Reading<SharedObject> {
        try await get(isRequest: isRequest) { [self] () async throws(StoreError) in
            guard let object = try await store.object(name, limit: objectLimit) else { return .absent }
            calls.count { $0.bytesRead += object.body.readableBytes }
            return judged(\.header) { () throws(EntryDamage) in try SharedObject(object, named: digest) }
        }
    }

    func readHeader(_ name: String, _ digest: Digest128) async throws(StoreCalls.Failure) -> Reading<EntryHeader> {
        try await get(isRequest: true) { [self] () async throws(StoreError) in
            // Longer than nearly every header.
            var count = 4096
            while true {
                guard let start = try await store.start(of: name, count: count, limit: objectLimit) else { return .absent }
                calls.count { $0.bytesRead += start.bytes.readableBytes }
                // Too few bytes are the store's fault, not damage of the object.
                guard start.bytes.readableBytes == min(count, start.size) else {
                    throw StoreError.failed(
                        operation: "read the start of \(name)",
                        reason: "the store gave \(start.bytes.readableBytes) of \(min(count, start.size)) bytes")
                }
                if let length = EntryHeader.length(in: start.bytes), length > count {
                    count = length
                    continue
                }
                return judged(\.self) { () throws(EntryDamage) in
                    let header = try EntryHeader(start.bytes, named: digest)
                    guard header.length + header.bodyLength == start.size else { throw .length }
                    return header
                }
            }
        }
    }

    private var objectLimit: Int { settings.bodyLimit + EntryHeader.lengthLimit }

    private func get<Content>(
        isRequest: Bool, _ read: @escaping @Sendable () async throws(StoreError) -> Reading<Content>
    ) async throws(StoreCalls.Failure) -> Reading<Content> {
        try await calls.call(.get, isRequest: isRequest, outcome: { $0.outcome }) { () async throws(StoreError) in
            do throws(StoreError) { return try await read() } catch {
                // Larger than any object of this tier.
                if case .tooLarge = error { return .damaged }
                throw error
            }
        }
    }

    /// - Parameter content: throws if the object is damaged.
    private func judged<Content>(
        _ header: (Content) -> EntryHeader, _ content: () throws(EntryDamage) -> Content
    ) -> Reading<Content> {
        do throws(EntryDamage) {
            let content = try content()
            let header = header(content)
            if isPurged(try header.purgeStamp(), header.facts.tags) { return .purged(content) }
            return header.isAlive(at: clock.now) ? .entry(content) : .expired(content)
        } catch {
            return .damaged
        }
    }
}
