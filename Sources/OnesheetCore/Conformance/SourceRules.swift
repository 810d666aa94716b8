extension SourceConformance {
    func stableIdentity() async throws {
        let (first, second) = (try source(), try source())
        let title = try await first.title(knownID)
        guard title.id.isExactly(knownID) else { throw Violation("asked for “\(knownID)”, it answers the title “\(title.id)”") }
        guard !title.name.isEmpty else { throw Violation("the title “\(knownID)” has no name") }
        guard try await second.title(knownID) == title else { throw Violation("“\(knownID)” is a different title the second time") }
        let places = Self.places(try await first.candidates(for: knownID))
        guard try await Self.places(second.candidates(for: knownID)) == places else {
            throw Violation("“\(knownID)” has different candidates the second time: the name of an original must not change")
        }
        guard Set(places.map { ExactText($0) }).count == places.count else {
            throw Violation("a candidate of “\(knownID)” comes twice")
        }
        guard let list else { return }
        for listed in try await first.titles(list).titles.prefix(3) {
            let found = try await first.title(listed.id)
            guard found.id.isExactly(listed.id) else {
                throw Violation("the listed title “\(listed.id)” is found as “\(found.id)”")
            }
        }
    }

    func unknownIsNotFound() async throws {
        guard let unknownID else { throw NotTried("every phrase is an id here") }
        let source = try source()
        try await expectNotFound(unknownID, of: "title") { () async throws(SourceError) in _ = try await source.title(unknownID) }
        try await expectNotFound(unknownID, of: "candidates") { () async throws(SourceError) in
            _ = try await source.candidates(for: unknownID)
        }
    }

    private func expectNotFound(_ id: String, of call: String, _ body: () async throws(SourceError) -> Void) async throws {
        do {
            try await body()
        } catch .notFound(id) {
            return
        } catch {
            throw Violation("\(call) of the unknown id “\(id)” throws “\(error)” instead of .notFound with that id")
        }
        throw Violation("\(call) of the unknown id “\(id)” answers instead of throwing .notFound")
    }

    func strangeIDs() async throws {
        let source = try source()
        for id in [
            "", " ", "한글 제목", "e\u{301}", "../../etc/passwd", "a/b?c=d&e#f", "a\u{0}b", "🎬", String(repeating: "x", count: 5000),
        ] {
            do {
                let title = try await source.title(id)
                guard title.id.isExactly(id) else { throw Violation("asked for “\(id)”, it answers the title “\(title.id)”") }
                _ = try await source.candidates(for: id)
            } catch let violation as Violation {
                throw violation
            } catch SourceError.malformedAnswer(let reason, _) {
                throw Violation("the id “\(id.prefix(40))” breaks the request: \(reason)")
            } catch {
                continue
            }
        }
    }

    func paging() async throws {
        guard var query = list else { throw NotTried("the source has no lists") }
        let source = try source()
        var seen: Set<ExactText> = []
        for _ in 0..<20 {
            let page = try await source.titles(query)
            for title in page.titles where !seen.insert(ExactText(title.id)).inserted {
                throw Violation("“\(title.id)” comes twice, the second time on page \(query.page)")
            }
            if page.titles.contains(where: \.id.isEmpty) { throw Violation("page \(query.page) has a title without an id") }
            if let total = page.total, total < seen.count { throw Violation("it counts \(total) titles and lists \(seen.count)") }
            guard let next = page.next else { return }
            guard next > query.page, next <= AnswerCheck.lastPage else {
                throw Violation("the page after \(query.page) is \(next)")
            }
            guard !page.titles.isEmpty else { throw Violation("page \(query.page) is empty but not the last") }
            query.page = next
        }
    }

    /// The answers of the source pass the server's checks unchanged: no value is too large, and every number is finite.
    func bounds() async throws {
        let source = try source()
        let title = try await source.title(knownID)
        guard try AnswerCheck.checked(title) == title else { throw Violation("“\(knownID)” has an invalid number") }
        let candidates = try await source.candidates(for: knownID)
        let checked = try AnswerCheck.checked(candidates)
        for candidate in candidates {
            guard let kept = checked.first(where: { $0.location.name.isExactly(candidate.location.name) }),
                kept.trust == candidate.trust,
                kept.facts == candidate.facts
            else {
                throw Violation(
                    "the candidate “\(candidate.location.name.prefix(100))” has an invalid size, date, trust or votes")
            }
            if let first = candidate.unreadable.first {
                throw Violation("the candidate “\(candidate.location.name.prefix(100))” has an unusable \(first.prefix(200))")
            }
        }
        guard let list else { return }
        let page = try await source.titles(list)
        guard try AnswerCheck.checked(page) == page else { throw Violation("its list has an invalid number") }
    }

    func concurrency() async throws {
        let source = try source()
        let expected = Self.places(try await source.candidates(for: knownID))
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<callsAtOnce { group.addTask { Self.places(try await source.candidates(for: knownID)) } }
            for try await places in group where places != expected {
                throw Violation("\(callsAtOnce) concurrent calls do not return the same candidates")
            }
        }
    }
}
