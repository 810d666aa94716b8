internal import NIOCore
internal import OnesheetCore

/// The rules about lists, conditions and the probe.
extension ObjectStoreConformance {
    func listOrder(_ prefix: String) async throws {
        let names = ["b", "a/2", "a/10", "a/1", "a-1", "a.1", "B", "ab/c", "a0"]
        for name in names { _ = try await write(name, prefix + name) }
        for part in ["", "a", "a/", "a/1", "ab", "b", "c", "a/10/"] {
            let expected = Self.sorted(names.filter { $0.hasPrefix(part) })
            let page = try await store.list(prefix: prefix + part, after: nil, limit: 100)
            try expect(
                page.items == expected.map { .init(name: prefix + $0, bytes: $0.utf8.count) } && !page.hasMore,
                "under “\(part)” are \(page.items.map { $0.name.dropFirst(prefix.count) }), not \(expected); more: \(page.hasMore)")
        }
        let behind = try await store.list(prefix: prefix, after: prefix + "a/15", limit: 100).items.map {
            $0.name.dropFirst(prefix.count)
        }
        try expect(behind == ["a/2", "a0", "ab/c", "b"], "behind “a/15” are \(behind)")
    }

    func listPages(_ prefix: String) async throws {
        let names = (0..<23).map { "\(prefix)\($0 % 3)/\($0)" }
        for name in names { _ = try await write("x", name) }
        for limit in [1, 5, 23, 24] {
            var listed: [String] = []
            var hasMore = true
            while hasMore {
                let page = try await store.list(prefix: prefix, after: listed.last, limit: limit)
                try expect(page.items.count <= limit, "\(page.items.count) objects with the limit \(limit)")
                try expect(!page.hasMore || !page.items.isEmpty, "a page without objects says that more follow")
                listed += page.items.map(\.name)
                hasMore = page.hasMore
            }
            try expect(Self.areSame(listed, Self.sorted(names)), "pages of \(limit) have \(listed.count) of 23 objects")
        }
    }

    func manyObjects(_ prefix: String) async throws {
        let names = (0..<many).map { "\(prefix)\($0 % 7)/\($0)" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for start in 0..<8 {
                group.addTask {
                    for index in stride(from: start, to: many, by: 8) { _ = try await write("x", names[index]) }
                }
            }
            try await group.waitForAll()
        }
        var listed: [String] = []
        var hasMore = true
        while hasMore {
            let page = try await store.list(prefix: prefix, after: listed.last, limit: 5000)
            try expect(!page.hasMore || !page.items.isEmpty, "a page without objects says that more follow")
            listed += page.items.map(\.name)
            hasMore = page.hasMore
        }
        try expect(Self.areSame(listed, Self.sorted(names)), "listed \(listed.count) of \(many)")
        try await store.delete(listed)
        let left = try await store.list(prefix: prefix, after: nil, limit: 5000).items.count
        try expect(left == 0, "\(left) of \(many) are left after their deletion")
    }

    func absentCondition(_ prefix: String) async throws {
        let first = try await write("first", prefix + "a", if: .absent)
        let second = try await write("second", prefix + "a", if: .absent)
        let found = try await text(prefix + "a")
        try expect(
            first != nil && second == nil && found == "first",
            "wrote \(first ?? "nil"), then \(second ?? "nil"); found \(found ?? "nil")")
        try await store.delete([prefix + "a"])
        let third = try await write("third", prefix + "a", if: .absent)
        try expect(third != nil, "a deleted object still counts as there")
    }

    func revisionCondition(_ prefix: String) async throws {
        let missing = try await write("x", prefix + "a", if: .revision("unknown"))
        try expect(missing == nil, "a revision of nothing is overwritten")
        let absent = try await text(prefix + "a")
        try expect(absent == nil, "a write whose condition does not hold writes “\(absent ?? "")”")
        guard let first = try await write("first", prefix + "a") else { throw Violation("an unconditional write is refused") }
        guard let second = try await write("second", prefix + "a", if: .revision(first)) else {
            throw Violation("the present revision is not accepted")
        }
        let stale = try await write("third", prefix + "a", if: .revision(first))
        let found = try await store.object(prefix + "a", limit: 100)
        try expect(
            stale == nil && found == StoredObject(body: ByteBuffer(string: "second"), revision: second),
            "a stale revision is overwritten: found \(String(describing: found))")
        try await store.delete([prefix + "a"])
        let gone = try await write("fourth", prefix + "a", if: .revision(second))
        try expect(gone == nil, "the revision of a deleted object is accepted")
    }

    func concurrentConditions(_ prefix: String) async throws {
        // The rounds too are at the same time, because stores let writers of one name wait for each other.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<5 { group.addTask { try await conditionsAtOnce("\(prefix)\(round)") } }
            try await group.waitForAll()
        }
    }

    private func conditionsAtOnce(_ name: String) async throws {
        for condition in [StoreCondition.absent, nil] {
            let expected: StoreCondition
            if let condition {
                expected = condition
            } else {
                expected = .revision(try await store.object(name, limit: 100)?.revision ?? "")
            }
            let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                for writer in 0..<16 {
                    group.addTask {
                        try await write("\(expected) \(writer)", name, if: expected).map { _ in "\(expected) \(writer)" }
                    }
                }
                return try await group.reduce(into: [String]()) { winners, winner in winners += [winner].compactMap(\.self) }
            }
            let found = try await text(name)
            try expect(winners.count == 1 && winners == [found], "\(winners.count) of 16 writes won; found \(found ?? "nothing")")
        }
    }

    func probing(_ prefix: String) async throws {
        _ = try await write("x", prefix + "mine")
        let abilities = [try await store.probe(prefix: prefix), try await store.probe(prefix: prefix)]
        try expect(
            abilities.allSatisfy { $0.hasConditions == hasConditions },
            "two probes say \(abilities.map(\.hasConditions)) of conditions")
        let left = try await store.list(prefix: prefix, after: nil, limit: 100).items.map(\.name)
        try expect(left == [prefix + "mine"], "after the probe there are \(left)")
    }
}
