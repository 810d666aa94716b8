import JPEGCodec
import NIOCore
import OnesheetTesting
import XCTest

@testable import OnesheetClient

/// Prefetches with their progress.
final class PrefetchRunTests: ClientTestCase {
    private static let order = PrefetchOrder(source: "sample", titles: .ids(["1", "2"]), sizes: ["w92", "w154"], formats: ["jpg"])

    func testThatProgressIsReported() async throws {
        // Given a server
        let server = PosterServer(at: try await server(), token: "secret-for-tests")
        let before = try await server.cost(of: Self.order)
        XCTAssertEqual([before.total, before.there, before.missing], [4, 0, 4])
        // When two titles are prefetched in two sizes
        var reports: [PrefetchProgress] = []
        for try await report in server.prefetch(Self.order) { reports.append(report) }
        // Then each title is reported, and the end
        XCTAssertEqual(reports.map(\.total), [4, 4, 4])
        XCTAssertEqual(reports.map(\.done).sorted(), reports.map(\.done))
        XCTAssertEqual(reports.last?.made, 4)
        XCTAssertEqual(reports.last?.fraction, 1)
        XCTAssertEqual(reports.last?.failures, [])
        // And they are there
        let after = try await server.cost(of: Self.order)
        XCTAssertEqual(after.there, 4)
        let jobs = try await server.prefetches()
        XCTAssertEqual(jobs.map(\.state), [.done])
        XCTAssertEqual(jobs.map(\.progress.made), [4])
        XCTAssertNotNil(jobs.first?.ended)
    }

    func testThatEveryIterationIsAPrefetch() async throws {
        let server = PosterServer(at: try await server(), token: "secret-for-tests")
        let run = server.prefetch(Self.order)
        var last: [PrefetchProgress?] = []
        for _ in 0..<2 {
            var report: PrefetchProgress?
            for try await next in run { report = next }
            last.append(report)
        }
        XCTAssertEqual(last.map { $0?.made }, [4, 0])
        XCTAssertEqual(last.map { $0?.skipped }, [0, 4])
    }

    func testThatAllOrdersAreUnderstood() async throws {
        let server = PosterServer(at: try await server(), token: "secret-for-tests")
        let days = (try XCTUnwrap(CalendarDay("2026-11-19")), try XCTUnwrap(CalendarDay("2026-11-20")))
        for titles in [PrefetchOrder.Titles.newest, .day(days.0), .days(days.0, days.1), .search("e"), .ids(["3"])] {
            let cost = try await server.cost(of: PrefetchOrder(source: "sample", titles: titles, sizes: ["w92"], formats: ["jpg"]))
            XCTAssertGreaterThan(cost.total, 0, "\(titles)")
        }
        let standard = try await server.cost(of: PrefetchOrder(source: "sample"))
        XCTAssertGreaterThan(standard.total, 0)
    }

    func testThatRefusalsAndFailuresAreErrors() async throws {
        let url = try await server()
        let table: [(PrefetchOrder, token: String?, (ClientError) -> Bool)] = [
            (Self.order, nil, { if case .problem(let problem) = $0 { problem.status == 401 } else { false } }),
            (
                PrefetchOrder(source: "sample", sizes: ["w93"]), "secret-for-tests",
                { if case .problem(let problem) = $0 { problem.status == 400 } else { false } }
            ),
            (
                PrefetchOrder(source: "sample", titles: .list("popular")), "secret-for-tests",
                { if case .failed(let reason) = $0 { reason.contains("unknown list “popular”") } else { false } }
            ),
            (
                PrefetchOrder(source: "nobody"), "secret-for-tests",
                { if case .failed(let reason) = $0 { reason.contains("unknown source") } else { false } }
            ),
        ]
        for (order, token, isExpected) in table {
            let server = PosterServer(at: url, token: token)
            var reports = server.prefetch(order).makeAsyncIterator()
            let error = try await failure { () throws(ClientError) in _ = try await reports.next() }
            XCTAssertTrue(isExpected(error), "\(error)")
            let after = try await reports.next()
            XCTAssertNil(after)
        }
    }

    func testThatFailuresOfTitlesAreReported() async throws {
        let server = PosterServer(at: try await server(), token: "secret-for-tests")
        var last: PrefetchProgress?
        let order = PrefetchOrder(source: "sample", titles: .ids(["1", "999"]), sizes: ["w92"], formats: ["jpg"])
        for try await report in server.prefetch(order) { last = report }
        XCTAssertEqual([last?.made, last?.failed], [1, 1])
        XCTAssertEqual(last?.failures?.map(\.title), ["sample://999"])
    }

    func testThatALoopThatIsLeftStopsThePrefetch() async throws {
        // Given a prefetch that has begun, of a source that does not answer
        let (server, order) = try await slow()
        let left = Task {
            for try await _ in server.prefetch(order) { return }
        }
        let began = try await jobs(of: server) { $0 == [.running] }
        XCTAssertEqual(began, [.running])
        // When its loop is left
        left.cancel()
        let result = await left.result
        XCTAssertThrowsError(try result.get()) { XCTAssertEqual($0 as? ClientError, .cancelled) }
        // Then the server stops it
        let states = try await jobs(of: server) { !$0.contains(.running) }
        XCTAssertEqual(states.count, 1)
    }

    func testThatADroppedIteratorStopsThePrefetch() async throws {
        // Given an iterator that has asked once
        let (server, order) = try await slow(first: 1)
        var reports: PrefetchRun.AsyncIterator? = server.prefetch(order).makeAsyncIterator()
        let report = try await reports?.next()
        XCTAssertEqual(report?.done, 1)
        // When it is dropped midway
        reports = nil
        // Then the server stops the prefetch
        let states = try await jobs(of: server) { !$0.contains(.running) }
        XCTAssertEqual(states.count, 1)
    }

    func testThatTheAdministratorStopsAPrefetch() async throws {
        // Given a prefetch that has begun
        let (server, order) = try await slow()
        async let last = Self.last(of: server.prefetch(order))
        _ = try await jobs(of: server) { $0 == [.running] }
        // When it is stopped by its number
        let number = try await server.prefetches()[0].number
        let job = try await server.stopPrefetch(number)
        XCTAssertEqual(job.state, .stopped)
        // Then its loop gets the summary
        let summary = try await last
        XCTAssertEqual(summary?.made, 0)
        let error = try await failure { () throws(ClientError) in _ = try await server.stopPrefetch(99) }
        guard case .problem(let problem) = error else { return XCTFail("\(error)") }
        XCTAssertEqual(problem.status, 404)
    }

    func testThatAServerThatEndsMidwayIsAnError() async throws {
        // Given a server that ends after its first report, with and without the end of the body
        let report = "event: progress\ndata: {\"total\":4,\"made\":1,\"skipped\":0,\"failed\":0}\n\n"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
        for end in ["", "Content-Length: \(report.utf8.count)\r\n", "Content-Length: 9999\r\n"] {
            let origin = try await origin { _, _ in .raw(ByteBuffer(string: head + end + "\r\n" + report)) }
            var reports = PosterServer(at: origin.url).prefetch(Self.order).makeAsyncIterator()
            // When its progress is read
            let first = try await reports.next()
            XCTAssertEqual(first?.made, 1, end)
            // Then the end is an error
            let error = try await failure { () throws(ClientError) in _ = try await reports.next() }
            guard case .unreachable = error else { return XCTFail("\(error)") }
        }
    }

    func testThatSilenceEndsAtTheDeadline() async throws {
        // Given a server that stops to report
        let text =
            "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: progress\ndata: {\"total\":4,\"made\":1,\"skipped\":0,\"failed\":0}\n\n"
        let origin = try await origin { _, _ in .rawThenSilence(ByteBuffer(string: text)) }
        let server = PosterServer(at: origin.url, limits: PosterServer.Limits(idleTimeout: .milliseconds(300)))
        var reports = server.prefetch(Self.order).makeAsyncIterator()
        let first = try await reports.next()
        XCTAssertEqual(first?.made, 1)
        let error = try await failure { () throws(ClientError) in _ = try await reports.next() }
        XCTAssertEqual(error, .timedOut(after: .milliseconds(300)))
    }

    func testThatHostileEventsAreErrors() async throws {
        let table: [(FixedTransport, (ClientError) -> Bool)] = [
            (
                FixedTransport(type: "text/event-stream", "event: progress\ndata: {\n\n"),
                { if case .unreadable = $0 { true } else { false } }
            ),
            (
                FixedTransport(type: "text/event-stream", "event: done\ndata: {\"total\":\"4\"}\n\n"),
                { if case .unreadable = $0 { true } else { false } }
            ),
            (
                FixedTransport(type: "text/event-stream", "data: " + String(repeating: "x", count: 2000)),
                { $0 == .tooLarge(limit: 1000) }
            ),
            (FixedTransport(type: "text/event-stream", ""), { if case .unreachable = $0 { true } else { false } }),
            (FixedTransport(type: "text/html", "<html>"), { if case .unreadable = $0 { true } else { false } }),
            (FixedTransport([]), { if case .unreachable = $0 { true } else { false } }),
        ]
        for (transport, isExpected) in table {
            let server = PosterServer(at: "", limits: PosterServer.Limits(answerBytes: 1000), transport: transport)
            let error = try await failure { () throws(ClientError) in
                for try await _ in server.prefetch(Self.order) {}
            }
            XCTAssertTrue(isExpected(error), "\(error)")
        }
    }

    func testThatASlowLoopGetsTheLastReport() async throws {
        // Given more reports than are kept, and all at once
        let reports = (1...1000).map { "event: progress\ndata: {\"total\":1000,\"made\":\($0),\"skipped\":0,\"failed\":0}\n\n" }
        let transport = FixedTransport(
            type: "text/event-stream",
            reports.joined() + "event: done\ndata: {\"total\":1000,\"made\":1000,\"skipped\":0,\"failed\":0}\n\n")
        // When they are read
        var read: [PrefetchProgress] = []
        for try await report in PosterServer(at: "", transport: transport).prefetch(Self.order) { read.append(report) }
        // Then they are in order, and the last one is among them
        XCTAssertEqual(read.map(\.made), read.map(\.made).sorted())
        XCTAssertEqual(read.last?.made, 1000)
    }

    /// A server with a source whose originals do not come, except the first ones, and an order for three of them.
    private func slow(first: Int = 0) async throws -> (PosterServer, PrefetchOrder) {
        let poster = try DrawnPoster(width: 60, height: 90).file(JPEGCodec())
        let gate = Gate()
        addTeardownBlock { gate.open() }
        let origin = try await origin { target, _ in
            let answer = OriginAnswer.answer(type: "image/jpeg", body: ByteBuffer(bytes: poster))
            return target == "/0.jpg" && first > 0 ? answer : .held(gate, answer)
        }
        let url = try await server(sources: "web: { type: remote, allow: [\"\(origin.url)/\"], networks: [loopback] }")
        let ids = (0..<3).map { "\(origin.url)/\($0).jpg" }
        return (
            PosterServer(at: url, token: "secret-for-tests"),
            PrefetchOrder(source: "web", titles: .ids(ids), sizes: ["w92"], formats: ["jpg"])
        )
    }

    /// The states of all jobs as soon as they are as expected; the last ones after a bound of attempts.
    private func jobs(of server: PosterServer, until isExpected: ([PrefetchJob.State]) -> Bool) async throws -> [PrefetchJob.State]
    {
        var states: [PrefetchJob.State] = []
        for _ in 0..<5000 {
            states = try await server.prefetches().map(\.state)
            if !states.isEmpty, isExpected(states) { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        return states
    }

    private static func last(of run: PrefetchRun) async throws -> PrefetchProgress? {
        var last: PrefetchProgress?
        for try await report in run { last = report }
        return last
    }
}
