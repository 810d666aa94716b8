internal import OnesheetCore

/// The rules about logs.
extension CoordinatorConformance {
    @Sendable func newLog() async throws {
        let log = name("new")
        let page = try await first.read(log, after: .start, limit: 10, waiting: 0)
        let again = try await second.read(log, after: nil, limit: 10, waiting: 0)
        for page in [page, again] {
            try expect(
                page.records.isEmpty && page.end == .start && page.isComplete && !page.epoch.isEmpty, "a new log reads as \(page)")
        }
        _ = try await second.append("first", to: log)
        let later = try await first.read(log, after: .start, limit: 10, waiting: 0)
        try expect(
            page.epoch == again.epoch && page.epoch == later.epoch,
            "its epoch changed from \(page.epoch) to \(again.epoch) to \(later.epoch)")
        try expect(later.records.map(\.text) == ["first"] && later.isComplete, "the first record reads as \(later)")
    }

    @Sendable func paging() async throws {
        let log = name("paging")
        var appended: [LogPage.Record] = []
        for number in 0..<25 {
            let text = "record \(number)"
            appended.append(.init(position: try await first.append(text, to: log), text: text))
        }
        let positions = appended.map(\.position)
        try expect(zip(positions, positions.dropFirst()).allSatisfy(<), "positions do not rise: \(positions)")
        var read: [LogPage.Record] = []
        for _ in 0..<3 {
            let page = try await second.read(log, after: read.last?.position ?? .start, limit: 10, waiting: 0)
            try expect(page.isComplete && page.end == positions.last, "a page reads as \(page)")
            read += page.records
        }
        try expect(read == appended, "appended \(appended), read \(read)")
        let last = try await second.read(log, after: positions.last, limit: 10, waiting: 0)
        try expect(last.records.isEmpty && last.isComplete, "behind the last record is \(last)")
        let middle = try await second.read(log, after: positions[11], limit: 1, waiting: 0)
        try expect(middle.records == [appended[12]] && middle.isComplete, "behind record 11 is \(middle)")
    }

    @Sendable func endOfLog() async throws {
        let log = name("end")
        for number in 0..<3 { _ = try await first.append("\(number)", to: log) }
        let position = try await first.append("last", to: log)
        let page = try await second.read(log, after: nil, limit: 10, waiting: 60_000)
        try expect(page.records.isEmpty && page.end == position && page.isComplete, "the end is \(position), read as \(page)")
    }

    @Sendable func strangeRecords() async throws {
        let log = name("records")
        let texts =
            ["", "\r\n", "$5\r\nhello\r\n", "a\0b", "포스터 🎬", String(repeating: "long ", count: 20_000), "\u{FEFF}x"]
            + LookalikeTexts.pairs.flatMap { [$0.0, $0.1] }
        for text in texts { _ = try await first.append(text, to: log) }
        let read = try await second.read(log, after: .start, limit: 100, waiting: 0).records.map(\.text)
        try expect(read.map { Array($0.utf8) } == texts.map { Array($0.utf8) }, "read \(read.map { $0.prefix(40) })")
    }

    @Sendable func oneLog() async throws {
        let log = name("one log")
        let positions = try await withThrowingTaskGroup(of: LogPosition.self) { group in
            for number in 0..<40 {
                group.addTask { try await (number % 2 == 0 ? first : second).append("\(number)", to: log) }
            }
            return try await group.reduce(into: Set<LogPosition>()) { $0.insert($1) }
        }
        let pages = [
            try await first.read(log, after: .start, limit: 100, waiting: 0),
            try await second.read(log, after: .start, limit: 100, waiting: 0),
        ]
        try expect(pages[0] == pages[1], "two servers read \(pages)")
        try expect(Set(pages[0].records.map(\.position)) == positions && positions.count == 40, "\(positions.count) positions")
        try expect(Set(pages[0].records.map(\.text)) == Set((0..<40).map(String.init)), "read \(pages[0].records)")
    }

    @Sendable func waiting() async throws {
        let log = name("waiting")
        let start = try await first.read(log, after: nil, limit: 10, waiting: 0).end
        async let early = first.read(log, after: start, limit: 10, waiting: 60_000)
        async let late = second.read(log, after: start, limit: 10, waiting: 60_000)
        let position = try await second.append("at last", to: log)
        for page in [try await early, try await late] {
            try expect(page.records == [.init(position: position, text: "at last")] && page.isComplete, "read \(page)")
        }
    }

    @Sendable func waitingInVain() async throws {
        let log = name("in vain")
        let isOver = Flag()
        async let waiting = { () async throws -> LogPage in
            defer { isOver.raise() }
            return try await first.read(log, after: .start, limit: 10, waiting: 50)
        }()
        while !isOver.isRaised { try await engine.pass(20) }
        let page = try await waiting
        try expect(page.records.isEmpty && page.isComplete && page.end == .start, "read \(page)")
    }

    @Sendable func cancelledWait() async throws {
        let log = name("cancelled")
        _ = try await first.read(log, after: nil, limit: 10, waiting: 0)
        let wait = Task { try await first.read(log, after: .start, limit: 10, waiting: 600_000) }
        wait.cancel()
        let result = await wait.result
        if case .success(let page) = result { throw Violation("a cancelled wait returned \(page)") }
        _ = try await first.append("afterwards", to: log)
        let records = try await first.read(log, after: .start, limit: 10, waiting: 0).records.map(\.text)
        try expect(records == ["afterwards"], "after a cancelled wait the log reads as \(records)")
    }

    @Sendable func unknownPosition() async throws {
        let log = name("unknown")
        let position = try await first.append("there", to: log)
        let beyond = LogPosition(milliseconds: position.milliseconds + 1_000_000, number: 3)
        let page = try await second.read(log, after: beyond, limit: 10, waiting: 60_000)
        try expect(page.records.isEmpty && !page.isComplete, "behind a position beyond the end is \(page)")
    }

    @Sendable func trimming() async throws {
        guard let trim = engine.trim else { return }
        let log = name("trimmed")
        var positions: [LogPosition] = []
        for number in 0..<10 { positions.append(try await first.append("\(number)", to: log)) }
        try await trim(log, 4)
        let cases: [(LogPosition, Bool, [String])] = [
            (.start, false, ["6", "7", "8", "9"]), (positions[2], false, ["6", "7", "8", "9"]),
            (positions[6], true, ["7", "8", "9"]),
            (positions[8], true, ["9"]), (positions[9], true, []),
        ]
        for (position, isComplete, texts) in cases {
            let page = try await second.read(log, after: position, limit: 10, waiting: 0)
            try expect(
                page.isComplete == isComplete && page.records.map(\.text) == texts && page.end == positions[9],
                "after the records up to 5 were trimmed, behind \(position) is \(page)")
        }
        let epochs = [
            try await first.read(log, after: nil, limit: 1, waiting: 0).epoch,
            try await first.read(log, after: .start, limit: 1, waiting: 0).epoch,
        ]
        try expect(epochs[0] == epochs[1], "a trim changed the epoch")
    }

    @Sendable func forgetting() async throws {
        guard let forget = engine.forget else { return }
        let name = name("forgotten")
        _ = try await first.append("before", to: name)
        let position = try await first.append("last", to: name)
        try await granted(name, to: "a", by: first, for: 600_000)
        _ = try await first.add(5, to: name, limit: 5, milliseconds: 600_000)
        let before = try await second.read(name, after: nil, limit: 1, waiting: 0)
        try await forget()
        let after = try await second.read(name, after: position, of: before.epoch, limit: 10, waiting: 0)
        try expect(after.epoch != before.epoch && after.records.isEmpty, "before \(before), after \(after)")
        _ = try await first.append("after", to: name)
        let page = try await second.read(name, after: .start, limit: 10, waiting: 0)
        try expect(page.records.map(\.text) == ["after"] && page.epoch != before.epoch, "before \(before), after an append \(page)")
        // A reader that notices the loss later begins no further epoch.
        let late = try await first.read(name, after: position, of: before.epoch, limit: 10, waiting: 60_000)
        let same = try await second.read(name, after: page.end, of: page.epoch, limit: 10, waiting: 0)
        try expect(
            late.epoch == page.epoch && late.records.isEmpty && !late.isComplete && same.epoch == page.epoch && same.isComplete,
            "after the loss \(page), for a late reader \(late), then \(same)")
        try await granted(name, to: "b", by: second, for: 600_000)
        let count = try await second.count(of: name)
        try expect(count == 0, "the count is \(count)")
    }
}
