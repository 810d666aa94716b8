internal import NIOCore
public import OnesheetCore

/// The rules that every object store has to follow. The tests of a plugin run them; `report.failures` has to be empty.
public struct ObjectStoreConformance: Sendable {
    let store: any ObjectStore
    let prefix: String
    let hasConditions: Bool
    let many: Int

    /// - Parameters:
    ///   - prefix: the beginning of all names that the rules use. Nothing else has it, and nothing with it is left behind.
    ///   - hasConditions: whether the store checks conditions. If not, the probe has to say so.
    ///   - many: the number of objects of one list and one deletion; by default more than S3 takes at once.
    public init(
        _ store: any ObjectStore, prefix: String = "conformance-\(UInt64.random(in: 0 ... .max))", hasConditions: Bool = true,
        many: Int = 1100
    ) {
        self.store = store
        self.prefix = prefix
        self.hasConditions = hasConditions
        self.many = many
    }

    public typealias Finding = ConformanceFinding
    public typealias Report = ConformanceReport
    typealias Violation = ConformanceViolation

    /// Tries every rule. Deletes what it wrote.
    public func run() async -> Report {
        var rules: [(String, (String) async throws -> Void)] = [
            ("a written object is read back whole", writtenIsRead),
            ("an object that was never written is absent", unknownIsAbsent),
            ("a write replaces and gives another revision", writeReplaces),
            ("an object above the limit is refused", limits),
            ("the start of an object has its first bytes and the size of all", starts),
            ("a deleted object is gone", deletedIsGone),
            ("a list has the names of the prefix in the order of their bytes", listOrder),
            ("the pages of a list have every object once", listPages),
            ("many objects are listed and deleted", manyObjects),
            ("ordinary names are kept apart", ordinaryNames),
            ("an odd name is kept exactly or refused", oddNames),
            ("a name that is empty or too long is refused", invalidNames),
            ("at any time, a name has what one write wrote", wholeWrites),
            ("the probe says what the store can do and leaves nothing behind", probing),
        ]
        if hasConditions {
            rules += [
                ("“absent” writes only what is not there", absentCondition),
                ("“revision” writes only over that revision", revisionCondition),
                ("of many conditional writes at once, exactly one wins", concurrentConditions),
            ]
        }
        var findings: [Finding] = []
        for (number, (rule, check)) in rules.enumerated() {
            do {
                try await check("\(prefix)/\(number)/")
                findings.append(Finding(rule: rule, problem: nil))
            } catch let violation as Violation {
                findings.append(Finding(rule: rule, problem: violation.problem))
            } catch {
                findings.append(Finding(rule: rule, problem: "unexpectedly failed: \(error)"))
            }
        }
        findings.append(await tidying())
        return Report(findings: findings)
    }

    private func tidying() async -> Finding {
        let rule = "what was written can be deleted"
        do {
            try await deleteAll(prefix)
            let left = try await store.list(prefix: prefix, after: nil, limit: 10)
            return Finding(rule: rule, problem: left.items.isEmpty ? nil : "left: \(left.items.map(\.name))")
        } catch {
            return Finding(rule: rule, problem: "unexpectedly failed: \(error)")
        }
    }

    func deleteAll(_ prefix: String) async throws {
        var names: [String] = []
        repeat {
            names = try await store.list(prefix: prefix, after: nil, limit: 1000).items.map(\.name)
            if !names.isEmpty { try await store.delete(names) }
        } while !names.isEmpty
    }

    func expect(_ condition: Bool, _ problem: @autoclosure () -> String) throws {
        if !condition { throw Violation(problem()) }
    }

    func write(_ text: String, _ name: String, if condition: StoreCondition = .none) async throws -> String? {
        try await store.put(ByteBuffer(string: text), as: name, if: condition)
    }

    func text(_ name: String) async throws -> String? {
        try await store.object(name, limit: 1 << 20).map { String(buffer: $0.body) }
    }
}
