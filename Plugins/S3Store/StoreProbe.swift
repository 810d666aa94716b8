internal import NIOCore
internal import OnesheetCore

/// Writes two objects, reads, lists, tries conditions, and deletes both.
///
/// Conditions are tried, because stores exist that accept and ignore them: a write that must fail and succeeds is the proof.
struct StoreProbe {
    let store: S3Store
    let prefix: String

    func run() async throws(StoreError) -> StoreAbilities {
        // Other servers may probe at the same time.
        let unique = String(UInt64.random(in: .min ... .max), radix: 36)
        let names = ["\(prefix)probe-\(unique)-1", "\(prefix)probe-\(unique)-2"]
        let abilities: StoreAbilities
        do throws(StoreError) {
            abilities = StoreAbilities(hasConditions: try await tries(names[0], names[1]))
        } catch {
            let reason = error
            do throws(StoreError) { try await store.delete(names) } catch {
                // The first error says more.
            }
            throw reason
        }
        try await store.delete(names)
        for name in names where try await store.object(name, limit: 1024) != nil {
            throw .failed(operation: "delete \(name)", reason: "the store says that it is deleted, and still has it")
        }
        return abilities
    }

    /// - Returns: whether the store checks conditions.
    private func tries(_ first: String, _ second: String) async throws(StoreError) -> Bool {
        // With bytes that a store must not change.
        let body = ByteBuffer(bytes: Array("onesheet\r\n\0\u{FF}".utf8))
        _ = try await store.put(body, as: first, if: .none)
        guard let object = try await store.object(first, limit: 1024), object.body == body else {
            throw .failed(operation: "read \(first)", reason: "the store does not return what was written")
        }
        let listed = try await store.list(prefix: first, after: nil, limit: 10)
        guard listed.items.map(\.name) == [first] else {
            throw .failed(operation: "list \(first)", reason: "the list does not have the object that was written")
        }
        do throws(StoreError) {
            guard try await store.put(body, as: second, if: .absent) != nil,
                try await store.put(body, as: second, if: .absent) == nil,
                try await store.put(body, as: first, if: .revision("\"0123456789abcdef0123456789abcdef\"")) == nil
            else { return false }
            return try await store.put(body, as: first, if: .revision(object.revision)) != nil
        } catch {
            // Stores without conditions answer 400 or 501 to the headers.
            guard case .failed = error else { throw error }
            return false
        }
    }
}
