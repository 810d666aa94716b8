import NIOCore
import OnesheetCore
import OnesheetTesting
import S3Store
import XCTest

/// What a store can do wrong, told by a server on loopback.
final class S3FaultTests: S3TestCase {
    private static let short = Duration.milliseconds(300)

    func testThatAStoreThatHangsAnywhereTimesOut() async throws {
        // Given
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nETag: \"x\"\r\n\r\n"
        let origin = try await origin { target, _ in
            switch target {
            case "/onesheet/silent": .silence
            case "/onesheet/head": .rawThenSilence(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-"))
            case "/onesheet/body": .rawThenSilence(ByteBuffer(string: head + "some"))
            default: .drip(ByteBuffer(string: head), ByteBuffer(string: "x"))
            }
        }
        let store = try store(origin.url, deadline: Self.short)

        for name in ["silent", "head", "body", "drip"] {
            // When
            let error = await error { () async throws(StoreError) in _ = try await store.object(name, limit: 1000) }

            // Then
            XCTAssertEqual(error, .timedOut(operation: "read \(name)"))
        }
        let writing = await error { () async throws(StoreError) in
            _ = try await store.put(ByteBuffer(string: "x"), as: "silent", if: .none)
        }
        XCTAssertEqual(writing, .timedOut(operation: "write silent"))
        let listing = await error { () async throws(StoreError) in _ = try await store.list(prefix: "", after: nil, limit: 1) }
        XCTAssertEqual(listing, .timedOut(operation: "list "))
    }

    func testThatABodyAboveTheLimitIsNotKept() async throws {
        // Given
        let origin = try await origin { target, _ in
            target == "/onesheet/endless"
                ? .endless(type: "text/plain", bytes: 10_000)
                : .rawThenSilence(ByteBuffer(string: "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"))
        }
        let store = try store(origin.url)

        for name in ["endless", "announced"] {
            // When
            let error = await error { () async throws(StoreError) in _ = try await store.object(name, limit: 50_000) }

            // Then
            XCTAssertEqual(error, .tooLarge(name: name, limit: 50_000))
        }
    }

    func testThatAPartIsReadWhateverTheStoreMakesOfTheRange() async throws {
        // Given
        let body = ByteBuffer(string: "0123456789abcdef")
        let origin = try await origin { target, fields in
            guard let range = fields["range"] else { return .answer(body: target == "/onesheet/empty" ? ByteBuffer() : body) }
            XCTAssertEqual(range, "bytes=0-9")
            func part(_ range: String, _ length: Int) -> OriginAnswer {
                .answer(status: 206, fields: ["Content-Range": range], body: body.getSlice(at: 0, length: length)!)
            }
            return switch target {
            case "/onesheet/part": part("bytes 0-9/16", 10)
            case "/onesheet/short": part("bytes 0-4/5", 5)
            case "/onesheet/whole": .answer(body: body)
            case "/onesheet/refused": .answer(status: 416, fields: ["Content-Range": "bytes */16"], body: ByteBuffer())
            case "/onesheet/empty": .answer(status: 416, body: ByteBuffer(string: "<Error><Code>InvalidRange</Code></Error>"))
            case "/onesheet/missing": .answer(status: 404, body: ByteBuffer(string: "<Error><Code>NoSuchKey</Code></Error>"))
            case "/onesheet/large": part("bytes 0-9/1000", 10)
            case "/onesheet/less": part("bytes 0-9/16", 5)
            case "/onesheet/middle": part("bytes 3-12/16", 10)
            case "/onesheet/unsized": part("bytes 0-9/*", 10)
            default: .answer(status: 206, body: body)
            }
        }
        let store = try store(origin.url)
        let first = ObjectStart(bytes: body.getSlice(at: 0, length: 10)!, size: 16)
        let starts: [String: ObjectStart?] = [
            "part": first, "whole": first, "short": ObjectStart(bytes: body.getSlice(at: 0, length: 5)!, size: 5),
            "empty": ObjectStart(bytes: ByteBuffer(), size: 0), "missing": nil,
            // Answers that are not the part that was asked for: the whole object is read.
            "refused": first, "less": first, "middle": first, "unsized": first, "nowhere": first,
        ]
        for (name, expected) in starts {
            // When
            let start = try await store.start(of: name, count: 10, limit: 100)
            // Then
            XCTAssertEqual(start, expected, name)
        }
        let large = await error { () async throws(StoreError) in _ = try await store.start(of: "large", count: 10, limit: 100) }
        XCTAssertEqual(large, .tooLarge(name: "large", limit: 100))
    }

    func testThatAnAnswerThatBreaksOffIsNoObject() async throws {
        // Given
        let origin = try await origin { target, _ in
            target == "/onesheet/short"
                ? .brokenOff(type: "text/plain", body: ByteBuffer(string: "half"), missing: 4)
                : .raw(ByteBuffer(string: "220 smtp\r\n"))
        }
        let store = try store(origin.url)

        for name in ["short", "nonsense"] {
            // When
            let error = await error { () async throws(StoreError) in _ = try await store.object(name, limit: 1000) }

            // Then
            guard case .unreachable? = error else { return XCTFail("\(name): \(String(describing: error))") }
        }
    }

    func testThatAClosedConnectionIsTriedOnceMore() async throws {
        // Given
        let calls = CallNumbers()
        let origin = try await origin { target, _ in
            guard target == "/onesheet/once" else { return .hangUp }
            let call = calls.next()
            return call == 1 ? .hangUp : .answer(fields: ["ETag": "\"x\""], body: ByteBuffer(string: "hi"))
        }
        let store = try store(origin.url)

        // When
        let found = try await store.object("once", limit: 10)
        let always = await error { () async throws(StoreError) in _ = try await store.object("never", limit: 10) }
        let conditional = await error { () async throws(StoreError) in
            _ = try await store.put(ByteBuffer(string: "x"), as: "condition", if: .absent)
        }

        // Then
        XCTAssertEqual(found, StoredObject(body: ByteBuffer(string: "hi"), revision: "\"x\""))
        for error in [always, conditional] {
            guard case .unreachable? = error else { return XCTFail("\(String(describing: error))") }
        }
        XCTAssertEqual(origin.requests(for: "/onesheet/never"), 2)
        XCTAssertEqual(origin.requests(for: "/onesheet/condition"), 1, "the first may have been carried out")
    }

    func testThatAClosedPortIsUnreachable() async throws {
        // Given
        let origin = try await OriginServer.start { _, _ in .silence }
        try await origin.stop()
        let store = try store(origin.url)

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }

        // Then
        guard case .unreachable? = error else { return XCTFail("\(String(describing: error))") }
    }

    func testThatARedirectIsNotFollowed() async throws {
        // Given
        let elsewhere = try await origin { _, _ in .answer(body: ByteBuffer(string: "stolen")) }
        let place = elsewhere.url
        let origin = try await origin { _, _ in
            .answer(status: 307, fields: ["Location": "\(place)/onesheet/a", "x-amz-bucket-region": "eu-west-3"])
        }
        let store = try store(origin.url)

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }

        // Then
        XCTAssertEqual(elsewhere.requests(), 0)
        guard case .refused(_, let reason)? = error else { return XCTFail("\(String(describing: error))") }
        XCTAssertTrue(reason.contains("region: eu-west-3"), reason)
    }

    func testThatRefusalsSayWhatToDo() async throws {
        // Given
        let cases: [(Int, String, String)] = [
            (403, "InvalidAccessKeyId", "accessKey"), (403, "SignatureDoesNotMatch", "secretKey"),
            (403, "RequestTimeTooSkewed", "clock"), (400, "ExpiredToken", "sessionToken"), (404, "NoSuchBucket", "create it"),
            (400, "AuthorizationHeaderMalformed", "region: eu-west-2"), (403, "AccessDenied", "s3:ListBucket"),
        ]
        let answers = Dictionary(uniqueKeysWithValues: cases.map { ($0.1, $0.0) })
        let origin = try await origin { target, _ in
            let code = String(target.split(separator: "/").last ?? "")
            let body = "<Error><Code>\(code)</Code><Message>words\u{1B}[31m</Message><Region>eu-west-2</Region></Error>"
            return .answer(status: answers[code] ?? 500, type: "application/xml", body: ByteBuffer(string: body))
        }
        let store = try store(origin.url)

        for (_, code, advice) in cases {
            // When
            let error = await error { () async throws(StoreError) in _ = try await store.object(code, limit: 10) }

            // Then
            guard case .refused(_, let reason)? = error else {
                XCTFail("\(code): \(String(describing: error))")
                continue
            }
            XCTAssertTrue(reason.contains(advice) && reason.contains(code), reason)
            XCTAssertFalse(reason.contains("\u{1B}"), "control characters reach the log")
            XCTAssertFalse(reason.contains(StoreEngine.secretKey), reason)
        }
    }

    func testThatABusyStoreIsAwayAndIsNoRefusal() async throws {
        // Given
        let origin = try await origin { target, _ in
            target.hasSuffix("slow")
                ? .answer(status: 503, body: ByteBuffer(string: "<Error><Code>SlowDown</Code></Error>"))
                : .answer(
                    status: 502, type: "text/html", body: ByteBuffer(string: "<html>" + String(repeating: "x", count: 100_000)))
        }
        let store = try store(origin.url)

        // When
        let slow = await error { () async throws(StoreError) in _ = try await store.object("slow", limit: 10) }
        let proxy = await error { () async throws(StoreError) in _ = try await store.object("proxy", limit: 10) }

        // Then
        guard case .unreachable(_, let reason)? = slow else { return XCTFail("\(String(describing: slow))") }
        XCTAssertTrue(reason.contains("too many requests"), reason)
        XCTAssertEqual(proxy, .unreachable(operation: "read proxy", reason: "HTTP status 502"))
    }

    func testThatAListThatWasNotAskedForFails() async throws {
        // Given
        let entry = "<Contents><Key>b/1</Key><Size>1</Size></Contents>"
        let origin = try await origin { target, _ in
            let body =
                target.contains("prefix=empty")
                ? "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"
                : target.contains("prefix=page") ? "<html>" : "<ListBucketResult>\(entry)</ListBucketResult>"
            return .answer(type: "application/xml", body: ByteBuffer(string: body))
        }
        let store = try store(origin.url)

        for (prefix, after) in [("a/", nil), ("b/", "b/1"), ("empty", nil), ("page", nil)] as [(String, String?)] {
            // When
            let error = await error { () async throws(StoreError) in
                _ = try await store.list(prefix: prefix, after: after, limit: 10)
            }

            // Then
            guard case .failed? = error else { return XCTFail("\(prefix): \(String(describing: error))") }
        }
        let fine = try await store.list(prefix: "b/", after: "b/0", limit: 10)
        XCTAssertEqual(fine, ObjectListing(items: [.init(name: "b/1", bytes: 1)], hasMore: false))
    }

    func testThatAConflictOfWritesIsAskedAgainOnce() async throws {
        // Given
        let conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>"
        let calls = CallNumbers()
        let origin = try await origin { target, _ in
            let call = calls.next()
            return call == 2 && target.hasSuffix("once")
                ? .answer(status: 412) : .answer(status: 409, body: ByteBuffer(string: conflict))
        }
        let store = try store(origin.url)

        // When
        let once = try await store.put(ByteBuffer(string: "x"), as: "once", if: .absent)
        let always = await error { () async throws(StoreError) in
            _ = try await store.put(ByteBuffer(string: "x"), as: "always", if: .absent)
        }

        // Then
        XCTAssertNil(once)
        guard case .failed? = always else { return XCTFail("\(String(describing: always))") }
        XCTAssertEqual(origin.requests(for: "/onesheet/always"), 2)
    }

    func testThatAStoreThatWasShutDownFails() async throws {
        // Given
        let origin = try await origin { _, _ in .answer() }
        let store = try store(origin.url)
        await store.shutdown()

        // When
        let error = await error { () async throws(StoreError) in _ = try await store.object("a", limit: 10) }

        // Then
        XCTAssertEqual(error, .failed(operation: "read a", reason: "it has been shut down"))
    }
}
