import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetTransport

/// The bounded cost of any response.
final class OriginBoundsTests: TransportTestCase {
    private let patient = OriginPolicy(networks: [.loopback], timeout: .seconds(60))

    func testThatSilenceBeforeTheFirstByteEndsToo() async throws {
        // Given an origin that accepts connections and stays silent
        let origin = try await origin { _, _ in .silence }
        let transport = transport(Limits(originTimeout: .seconds(60), originIdleTimeout: .milliseconds(200)))
        // When it is requested with a much longer total time
        let error = try await failureSooner(than: .seconds(20), of: origin.url + "/", transport)
        // Then the request is aborted
        XCTAssertEqual(error, .timedOut(url: origin.url + "/"))
    }

    func testThatInterimAnswersAreNoAnswer() async throws {
        // Given origins that send interim responses, fast and slowly
        let hint = ByteBuffer(string: "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")
        let flood = try await origin { _, _ in .rawWithoutEnd(hint, hint) }
        let drip = try await origin { _, _ in .drip(hint, hint) }
        let patientTransport = transport(Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(30)))
        let impatientTransport = transport(Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(1)))
        // When they are requested
        let flooded = await Self.failure(of: flood.url + "/", patient, patientTransport)
        let dripped = try await failureSooner(than: .seconds(20), of: drip.url + "/", impatientTransport)
        // Then both requests end
        XCTAssertEqual(flooded, .tooLarge(url: flood.url + "/", limit: 256 << 10))
        XCTAssertEqual(dripped, .timedOut(url: drip.url + "/"))
    }

    func testThatAnAnswerAfterAnInterimOneArrives() async throws {
        // Given an origin that responds after an interim response
        let bytes = ByteBuffer(
            string: "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let origin = try await origin { _, _ in .rawThenSilence(bytes) }
        // When it is requested
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
        // Then the final response is returned
        XCTAssertEqual(String(buffer: answer.body), "ok")
    }

    func testThatAHeadWithoutEndEnds() async throws {
        // Given origins with endless heads, trailers and chunk extensions
        let line = "X-Field: \(String(repeating: "a", count: 100))\r\n"
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        let cases: [(String, String)] = [
            ("HTTP/1.1 200 OK\r\n", line), (chunked + "0\r\n", line), (chunked + "1;", "extension=a;"),
            (chunked, "1\r\na\r\n"), ("HTTP/1.0 200 OK\r\n\r\n", "body"),
        ]
        for (first, then) in cases {
            let origin = try await origin { _, _ in
                .rawWithoutEnd(ByteBuffer(string: first), ByteBuffer(string: String(repeating: then, count: 1000)))
            }
            // When they are requested
            let error = await failure(
                of: origin.url + "/", OriginPolicy(networks: [.loopback], timeout: .seconds(60), maxBytes: 1 << 20))
            // Then each is aborted
            switch error {
            case .tooLarge, .failed: break
            default: XCTFail("\(first): \(String(describing: error))")
            }
        }
    }

    func testThatLengthsThatDisagreeAreNoAnswer() async throws {
        for head in [
            "Content-Length: 2\r\nContent-Length: 3\r\n", "Content-Length: -1\r\n", "Content-Length: 99999999999999999999\r\n",
            "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        ] {
            let origin = try await origin { _, _ in .raw(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\(head)\r\nok")) }
            let error = await failure(of: origin.url + "/", loopback)
            guard case .failed = error else { return XCTFail("\(head): \(String(describing: error))") }
        }
    }

    func testThatAnAnswerWithoutALengthEndsWithItsConnection() async throws {
        let origin = try await origin { _, _ in .raw(ByteBuffer(string: "HTTP/1.0 200 OK\r\n\r\nall of it")) }
        let answer = try await transport().get(HTTPRequest(url: origin.url + "/"), under: loopback)
        XCTAssertEqual(String(buffer: answer.body), "all of it")
    }

    func testThatABodyThatDripsIsGivenUp() async throws {
        // Given a body that would take half a day
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
        let origin = try await origin { _, _ in .drip(head, ByteBuffer(string: "a")) }
        let limits = Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(20))
        // When it is requested with little patience for slow bodies
        let transport = transport(limits, grace: .milliseconds(300))
        let error = try await failureSooner(than: .seconds(10), of: origin.url + "/", transport)
        // Then it does not hold its slot
        XCTAssertEqual(error, .timedOut(url: origin.url + "/"))
    }

    func testThatWhatAnswersSayOfThemselvesOccupiesNoMemory() async throws {
        // Given a budget of 64 MiB, and sixteen slow responses that announce 32 MiB each
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 33554432\r\n\r\n")
        let memory = MemoryBudget(limit: 64 << 20)
        let origins = try await [
            origin { _, _ in .drip(head, ByteBuffer(string: "a")) }, origin { _, _ in .drip(head, ByteBuffer(string: "a")) },
        ]
        let picture = ByteBuffer(repeating: 7, count: 3 << 20)
        let good = try await origin { _, _ in .answer(body: picture) }
        let (transport, patient) = (transport(Limits(originTimeout: .seconds(60)), memory: memory), patient)
        let dripping = (0..<16).map { number in
            Task { await Self.failure(of: origins[number % 2].url + "/\(number)", patient, transport) }
        }
        // When all have begun, and a picture is requested
        while memory.reserved < 16 << 10 { try await Task.sleep(for: .milliseconds(5)) }
        let bytes = try await transport.get(HTTPRequest(url: good.url + "/"), under: loopback).body.readableBytes
        // Then there is room for it, and its memory is released with it
        XCTAssertEqual(bytes, 3 << 20)
        for _ in 0..<1000 where memory.reserved > 16 * (256 << 10) { try await Task.sleep(for: .milliseconds(5)) }
        XCTAssertLessThanOrEqual(memory.reserved, 16 * (256 << 10))
        for task in dripping { task.cancel() }
        for task in dripping { _ = await task.value }
        XCTAssertEqual(memory.reserved, 0)
    }

    func testThatABodyForWhichThereIsNoMemoryIsRefusedAsItComes() async throws {
        // Given a budget smaller than a picture
        let memory = MemoryBudget(limit: 2 << 20)
        let origin = try await origin { _, _ in .answer(body: ByteBuffer(repeating: 0, count: 4 << 20)) }
        // When it is requested
        let error = await Self.failure(of: origin.url + "/", loopback, transport(memory: memory))
        // Then the error names our memory, and nothing stays reserved
        XCTAssertEqual(error, .overloaded(url: origin.url + "/"))
        XCTAssertEqual(memory.reserved, 0)
    }

    func testThatPicturesThatHangDoNotKeepTheRestOfTheirHostAway() async throws {
        // Given a host with eight hanging pictures, as many as may be requested at a time
        let origin = try await origin { target, _ in target.hasPrefix("/hangs") ? .silence : .answer(body: ByteBuffer(string: "ok"))
        }
        let limits = Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(60), originConcurrency: 8)
        let (transport, patient) = (transport(limits, patience: .milliseconds(100)), patient)
        let hanging = (0..<8).map { number in
            Task { await Self.failure(of: "\(origin.url)/hangs\(number)", patient, transport) }
        }
        await waitWhile(origin.requests() < 8)
        // When twenty others are requested
        for number in 0..<20 {
            let answer = try await transport.get(HTTPRequest(url: "\(origin.url)/\(number)"), under: patient)
            // Then they are fetched
            XCTAssertEqual(answer.status, 200)
        }
        for task in hanging { task.cancel() }
        for task in hanging { _ = await task.value }
    }

    func testBodiesThatHangDoNotKeepTheRestOfTheirHostAway() async throws {
        // Given a host with two responses that hang in their body, as many as may be requested at a time
        let part = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nsome")
        let origin = try await origin { target, _ in
            target.hasPrefix("/hangs") ? .rawThenSilence(part) : .answer(body: ByteBuffer(string: "ok"))
        }
        let limits = Limits(originTimeout: .seconds(60), originIdleTimeout: .seconds(60), originConcurrency: 2)
        let (transport, patient) = (transport(limits), patient)
        let hanging = (0..<2).map { number in
            Task { await Self.failure(of: "\(origin.url)/hangs\(number)", patient, transport) }
        }
        await waitWhile(origin.requests() < 2)
        // When others are requested
        for number in 0..<3 {
            let answer = try await transport.get(HTTPRequest(url: "\(origin.url)/\(number)"), under: patient)
            // Then they are fetched
            XCTAssertEqual(answer.status, 200)
        }
        for task in hanging { task.cancel() }
        for task in hanging { _ = await task.value }
    }

    func testTimeInLineIsNotTheHosts() async throws {
        // Given a host with one place and a line of requests that take their whole time, longer together than one may take
        let origin = try await origin { target, _ in target == "/slow" ? .silence : .answer(body: ByteBuffer(string: "ok")) }
        let limits = Limits(originTimeout: .seconds(2), originIdleTimeout: .seconds(60), originConcurrency: 1)
        let (transport, short) = (transport(limits), OriginPolicy(networks: [.loopback], timeout: .milliseconds(500)))
        let slow = (0..<5).map { _ in Task { await Self.failure(of: origin.url + "/slow", short, transport) } }
        await waitWhile(origin.requests() < 1)
        // When another one waits behind them
        let answer = try await transport.get(HTTPRequest(url: origin.url + "/good"), under: loopback)
        // Then it has its own time for its exchange
        XCTAssertEqual(answer.status, 200)
        for task in slow { _ = await task.value }
    }

    /// The failure of a fetch with a minute's time; `nil` if it does not end within `time`.
    private func failureSooner(
        than time: Duration, of url: String, _ transport: WebTransport
    ) async throws -> HTTPTransportError? {
        let head = ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 30000000\r\n\r\n")
        let slow = try await origin { _, _ in .drip(head, ByteBuffer(repeating: 7, count: 1000)) }
        let (other, patient) = (self.transport(), patient)
        return await withTaskGroup(of: HTTPTransportError?.self) { group in
            group.addTask { await Self.failure(of: url, patient, transport) }
            group.addTask {
                _ = await Self.failure(of: slow.url + "/", OriginPolicy(networks: [.loopback], timeout: time), other)
                return nil
            }
            defer { group.cancelAll() }
            return await group.next() ?? nil
        }
    }
}
