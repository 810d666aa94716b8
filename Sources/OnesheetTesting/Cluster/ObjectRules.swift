internal import NIOCore
internal import OnesheetCore

/// The rules about single objects and their names.
extension ObjectStoreConformance {
    func writtenIsRead(_ prefix: String) async throws {
        let bodies = [
            "empty": ByteBuffer(), "one": ByteBuffer(bytes: [0]), "every": ByteBuffer(bytes: Array(UInt8.min...UInt8.max)),
            "lines": ByteBuffer(string: "a\r\nb\n\0 ä"), "large": Self.noise(3 << 20),
        ]
        for (name, body) in bodies {
            let revision = try await store.put(body, as: prefix + name, if: .none)
            try expect(revision?.isEmpty == false, "\(name): a write without a condition has the revision \(revision ?? "nil")")
            let found = try await store.object(prefix + name, limit: 3 << 20)
            try expect(found?.body == body, "\(name): wrote \(body.readableBytes) bytes, read \(found?.body.readableBytes ?? -1)")
            try expect(
                found?.revision == revision, "\(name): the write says \(revision ?? "nil"), the read \(found?.revision ?? "nil")")
        }
    }

    func unknownIsAbsent(_ prefix: String) async throws {
        let found = try await store.object(prefix + "missing", limit: 10)
        try expect(found == nil, "found \(String(describing: found))")
        _ = try await write("x", prefix + "a/b")
        do {
            let part = try await store.object(prefix + "a/", limit: 10)
            try expect(part == nil, "the folder of a name counts as an object")
        } catch StoreError.invalidName {}
    }

    func writeReplaces(_ prefix: String) async throws {
        let first = try await write("old and longer", prefix + "a")
        let second = try await write("new", prefix + "a")
        let found = try await text(prefix + "a")
        try expect(found == "new", "found \(found ?? "nothing")")
        try expect(first != second, "two writes of different bytes have the revision \(first ?? "nil")")
        let items = try await store.list(prefix: prefix, after: nil, limit: 10).items
        try expect(items == [.init(name: prefix + "a", bytes: 3)], "listed as \(items)")
    }

    func limits(_ prefix: String) async throws {
        let name = prefix + "a"
        _ = try await write("12345", name)
        let found = try await store.object(name, limit: 5)
        try expect(found?.body.readableBytes == 5, "an object of 5 bytes is not read with the limit 5")
        for limit in [0, 4] {
            do {
                _ = try await store.object(name, limit: limit)
                throw Violation("an object of 5 bytes is read with the limit \(limit)")
            } catch let error as StoreError {
                try expect(error == .tooLarge(name: name, limit: limit), "the limit \(limit) causes “\(error)”")
            }
        }
    }

    func starts(_ prefix: String) async throws {
        for (size, count) in [(0, 10), (1, 10), (9, 10), (10, 10), (11, 10), (300_000, 10), (300_000, 200_000)] {
            let (name, body) = ("\(prefix)\(size)", Self.noise(size))
            _ = try await store.put(body, as: name, if: .none)
            let start = try await store.start(of: name, count: count, limit: size)
            try expect(start?.size == size, "the start of \(size) bytes says that they are \(start?.size ?? -1)")
            try expect(
                start?.bytes == body.getSlice(at: 0, length: min(size, count)),
                "the first \(count) of \(size) bytes are read as \(start?.bytes.readableBytes ?? -1) bytes, or as others")
        }
        let missing = try await store.start(of: prefix + "missing", count: 10, limit: 10)
        try expect(missing == nil, "found the start \(String(describing: missing)) of nothing")
        let large = "\(prefix)11"
        do {
            _ = try await store.start(of: large, count: 1, limit: 10)
            throw Violation("an object of 11 bytes is read with the limit 10")
        } catch let error as StoreError {
            try expect(error == .tooLarge(name: large, limit: 10), "the limit 10 causes “\(error)”")
        }
    }

    func deletedIsGone(_ prefix: String) async throws {
        for name in ["a", "b", "c"] { _ = try await write(name, prefix + name) }
        try await store.delete([prefix + "a", prefix + "missing", prefix + "b", prefix + "a"])
        try await store.delete([prefix + "a"])
        try await store.delete([])
        let found = [try await text(prefix + "a"), try await text(prefix + "b"), try await text(prefix + "c")]
        try expect(found == [nil, nil, "c"], "found \(found)")
        _ = try await write("again", prefix + "a")
        let again = try await text(prefix + "a")
        try expect(again == "again", "after a deletion, a write is read as \(again ?? "nothing")")
    }

    func ordinaryNames(_ prefix: String) async throws {
        let names = [
            "a", "A", "a-b", "a_b", "a.b", "0", "v2/ab/9f/o-1", "v2/ab/9f/o-10", "v2/ab/9f/o", String(repeating: "n", count: 200),
        ]
        for name in names { _ = try await write("of \(name)", prefix + name) }
        for name in names {
            let found = try await text(prefix + name)
            try expect(found == "of \(name)", "under \(name) is \(found ?? "nothing")")
        }
    }

    func oddNames(_ prefix: String) async throws {
        let names = [
            "..", ".", "../up", "../../../../tmp/up", "x/../y", "x/./y", "x//y", "/x", "x/", " ", " x ", "a b", "a+b", "a%2Fb",
            "a%b", "%00",
            "a\0b", "a\nb", "a\u{7F}b", "포스터 🎬", "e\u{301}", "\u{E9}", "a?b#c", "a&b=<c>", "'\"`$(x)", "~x", "*", "a\\b", "a:b",
            ".hidden", "x.tmp",
            "\u{10FFFF}", "\u{FFFE}",
        ]
        var kept: [String] = []
        for name in names {
            do {
                _ = try await write("of \(name)", prefix + name)
                kept.append(name)
            } catch let error as StoreError {
                try expect(error == .invalidName(prefix + name), "“\(name)” causes “\(error)”")
            }
        }
        for name in kept {
            let found = try await text(prefix + name)
            try expect(found == "of \(name)", "under “\(name)” is \(found ?? "nothing")")
        }
        var listed: [String] = []
        var last: String?
        var hasMore = true
        while hasMore {
            let page = try await store.list(prefix: prefix, after: last, limit: 5)
            (listed, hasMore, last) = (listed + page.items.map(\.name), page.hasMore, page.items.last?.name ?? last)
        }
        try expect(
            Self.areSame(listed, Self.sorted(kept.map { prefix + $0 })), "kept \(kept.count) names, listed \(listed.count)")
    }

    func invalidNames(_ prefix: String) async throws {
        for name in ["", String(repeating: "n", count: 1025)] {
            do {
                _ = try await store.object(name, limit: 10)
                throw Violation("a name of \(name.utf8.count) bytes is read")
            } catch let error as StoreError {
                try expect(error == .invalidName(name), "a name of \(name.utf8.count) bytes causes “\(error)” in a read")
            }
            do {
                _ = try await write("x", name)
                throw Violation("a name of \(name.utf8.count) bytes is written")
            } catch let error as StoreError {
                try expect(error == .invalidName(name), "a name of \(name.utf8.count) bytes causes “\(error)” in a write")
            }
        }
    }

    func wholeWrites(_ prefix: String) async throws {
        let name = prefix + "a"
        _ = try await store.put(Self.uniform(0), as: name, if: .none)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 1...4 {
                group.addTask {
                    for round in 0..<10 { _ = try await store.put(Self.uniform(worker * 16 + round), as: name, if: .none) }
                }
                group.addTask {
                    for _ in 0..<20 {
                        guard let found = try await store.object(name, limit: 1 << 20) else {
                            throw Violation("the object is absent while it is replaced")
                        }
                        let first = found.body.readableBytesView.first.map { Int($0) } ?? -1
                        try expect(first >= 0 && found.body == Self.uniform(first), "an object has parts of two writes")
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    /// A body of one byte that also gives its length.
    private static func uniform(_ number: Int) -> ByteBuffer {
        ByteBuffer(repeating: UInt8(number), count: 20_000 + number * 1000)
    }

    private static func noise(_ count: Int) -> ByteBuffer {
        var random = SplitMix(seed: 7)
        var body = ByteBuffer()
        while body.readableBytes < count { body.writeInteger(random.next()) }
        body.moveWriterIndex(to: count)
        return body
    }

    static func sorted(_ names: [String]) -> [String] { names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }

    /// Whether the names have the same bytes. Strings with other bytes can be equal.
    static func areSame(_ left: [String], _ right: [String]) -> Bool {
        left.elementsEqual(right) { $0.utf8.elementsEqual($1.utf8) }
    }
}
