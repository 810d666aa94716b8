internal import OnesheetCore

/// The rules about leases and names.
extension CoordinatorConformance {
    @Sendable func oneHolder() async throws {
        let lease = name("one holder")
        try await granted(lease, to: "a", by: first, for: 60_000)
        try await expectHeld(lease, not: "b", by: second, within: 60_000)
        try await expectHeld(lease, not: "c", by: first, within: 60_000)
    }

    @Sendable func grantedAgain() async throws {
        let lease = name("granted again")
        let token = try await granted(lease, to: "a", by: first, for: 2_000)
        let again = try await granted(lease, to: "a", by: second, for: 60_000)
        try expect(again == token, "the token changed from \(token) to \(again)")
        try await engine.pass(2_100)
        try await expectHeld(lease, not: "b", by: second, within: 60_000)
    }

    @Sendable func tokensRise() async throws {
        let lease = name("tokens")
        var tokens: [Int] = []
        for holder in ["a", "b", "c", "a"] {
            tokens.append(try await granted(lease, to: holder, by: first, for: 60_000))
            try await second.release(lease, for: holder)
        }
        tokens.append(try await granted(lease, to: "d", by: first, for: 50))
        try await engine.pass(100)
        tokens.append(try await granted(lease, to: "e", by: second, for: 60_000))
        try expect(zip(tokens, tokens.dropFirst()).allSatisfy(<), "the tokens were \(tokens)")
    }

    @Sendable func leaseEnds() async throws {
        let lease = name("ends")
        try await granted(lease, to: "a", by: first, for: 50)
        try await engine.pass(100)
        let isRenewed = try await first.renew(lease, for: "a", milliseconds: 60_000)
        try expect(!isRenewed, "it was renewed after its end")
        try await granted(lease, to: "b", by: second, for: 60_000)
        try await first.release(lease, for: "a")
        try await expectHeld(lease, not: "a", by: first, within: 60_000)
    }

    @Sendable func renewal() async throws {
        let lease = name("renewed")
        try await granted(lease, to: "a", by: first, for: 2_000)
        let isRenewed = try await second.renew(lease, for: "a", milliseconds: 60_000)
        try expect(isRenewed, "the holder could not renew it")
        try await engine.pass(2_100)
        try await expectHeld(lease, not: "b", by: second, within: 60_000)
    }

    @Sendable func renewalByOthers() async throws {
        let lease = name("renewed by others")
        let isThere = try await first.renew(lease, for: "a", milliseconds: 60_000)
        try expect(!isThere, "a lease that nobody holds was renewed")
        try await granted(lease, to: "a", by: first, for: 60_000)
        let isRenewed = try await second.renew(lease, for: "b", milliseconds: 600_000)
        try expect(!isRenewed, "another than its holder renewed it")
        try await expectHeld(lease, not: "b", by: second, within: 60_000)
    }

    @Sendable func release() async throws {
        let lease = name("released")
        try await first.release(lease, for: "a")
        try await granted(lease, to: "a", by: first, for: 60_000)
        try await second.release(lease, for: "b")
        try await expectHeld(lease, not: "b", by: second, within: 60_000)
        try await second.release(lease, for: "a")
        try await granted(lease, to: "b", by: first, for: 60_000)
    }

    @Sendable func workDone() async throws {
        let lease = name("done")
        func expect(_ isDone: Bool, to holder: String, by coordinator: any Coordinator, _ moment: String) async throws {
            let answer = try await coordinator.acquire(lease, for: holder, milliseconds: 60_000)
            guard case .granted(_, isDone) = answer else { throw Violation("\(moment): \(answer)") }
        }
        try await expect(false, to: "a", by: first, "a first holder")
        try await second.release(lease, for: "a")
        try await expect(false, to: "b", by: second, "after a release without a result")
        try await first.release(lease, for: "b", doneFor: 2_000)
        try await expect(true, to: "c", by: second, "after the work was done")
        try await expect(true, to: "c", by: first, "when the holder asks again")
        try await second.release(lease, for: "c")
        try await expect(true, to: "d", by: second, "after another release")
        try await engine.pass(2_100)
        try await expect(false, to: "d", by: second, "after the time was over")
        // The work was done, even if the lease was lost before its end.
        try await first.release(lease, for: "lost", doneFor: 60_000)
        try await expectHeld(lease, not: "e", by: first, within: 60_000)
        try await expect(true, to: "d", by: second, "after a holder that had lost it")
    }

    @Sendable func manyAtOnce() async throws {
        let lease = name("many at once")
        let holders = try await withThrowingTaskGroup(of: String?.self) { group in
            for number in 0..<32 {
                group.addTask {
                    let coordinator = number % 2 == 0 ? first : second
                    let answer = try await coordinator.acquire(lease, for: "holder \(number)", milliseconds: 60_000)
                    if case .granted = answer { return "holder \(number)" }
                    return nil
                }
            }
            return try await group.reduce(into: []) { holders, holder in if let holder { holders.append(holder) } }
        }
        try expect(holders.count == 1, "it was granted to \(holders)")
    }

    @Sendable func strangeNames() async throws {
        let texts =
            [
                "", " ", "/", ":", "{", "}", "{}", "{a}", "}{", "a{b}c", "%7B", "%", "'; --", "*", "포스터 🎬", "기생충",
                String(repeating: "long", count: 5_000), String(repeating: "long", count: 5_000) + "er",
            ] + LookalikeTexts.pairs.flatMap { [$0.0, $0.1] }
        for (number, text) in texts.enumerated() {
            // Some names begin with the strange text and some end with it.
            for (place, name) in [text + name("strange"), name("odd") + text].enumerated() {
                try await granted(name, to: text, by: first, for: 60_000)
                let count = try await first.add(number + 1, to: name, limit: 1_000, milliseconds: 60_000)
                try expect(count == number + 1, "the counter \(number) begins with \(String(describing: count))")
                _ = try await first.append("\(number) \(place)", to: name)
                let page = try await second.read(name, after: .start, limit: 10, waiting: 0)
                let records = page.records.map(\.text)
                try expect(records == ["\(number) \(place)"], "the log “\(text.prefix(40))” has the records \(records)")
                let isRenewed = try await second.renew(name, for: text, milliseconds: 60_000)
                try expect(isRenewed, "the holder “\(text.prefix(40))” is not recognised")
            }
        }
    }

    @Sendable func kindsAreApart() async throws {
        let name = name("same")
        try await granted(name, to: "a", by: first, for: 60_000)
        _ = try await first.append("record", to: name)
        let count = try await first.add(5, to: name, limit: 5, milliseconds: 60_000)
        try expect(count == 5, "the count is \(String(describing: count))")
        try await first.release(name, for: "a")
        let records = try await second.read(name, after: .start, limit: 10, waiting: 0).records.count
        let left = try await second.count(of: name)
        try expect(records == 1 && left == 5, "after a release there are \(records) records, and the count is \(left)")
    }
}
