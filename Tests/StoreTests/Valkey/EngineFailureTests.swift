import Foundation
import NIOCore
import NIOPosix
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ValkeyCoordinator

/// What happens when an engine is away, slow, closed, or none at all.
final class EngineFailureTests: EngineTestCase {
    func testThatAnEngineThatRestartsEmptyIsUsedAgain() async throws {
        // Given
        let engine = try engine()
        let store = try store([engine])
        let position = try await store.append("before", to: "log")
        let before = try await store.read("log", after: nil, limit: 1, waiting: 0)
        let old = try await store.acquire("work", for: "a", milliseconds: 600_000)

        // When
        engine.kill()
        let failure = await failure { () async throws(CoordinatorError) in try await store.count(of: "counter") }
        try engine.start()

        // Then
        guard case .unreachable(operation: "read a counter", _)? = failure else { return XCTFail("\(String(describing: failure))") }
        let after = try await eventually { try await store.read("log", after: position, limit: 10, waiting: 60_000) }
        XCTAssertNotEqual(after.epoch, before.epoch)
        XCTAssertFalse(after.isComplete)
        let new = try await store.acquire("work", for: "b", milliseconds: 600_000)
        guard case (.granted(let first, _), .granted(let second, _)) = (old, new) else { return XCTFail("\(old), \(new)") }
        XCTAssertGreaterThan(second, first, "a token of the empty engine is not newer")
    }

    func testThatAnEngineThatLostTheEndOfALogBeginsAnEpoch() async throws {
        // Given: the engine goes back to a snapshot, and others go on.
        let engine = try engine()
        let store = try store([engine])
        let first = try await store.append("one", to: "log")
        let before = try await store.read("log", after: first, limit: 10, waiting: 0)
        let lost = try await store.append("two", to: "log")
        let key = store.keys(.log, "log")[0]
        try engine.cli("XDEL", key, lost.id)
        try engine.cli("XSETID", key, first.id)
        _ = try await store.append("three", to: "log")

        // When
        let page = try await store.read("log", after: lost, limit: 10, waiting: 0)
        let other = try await store.read("log", after: first, limit: 10, waiting: 0)

        // Then
        XCTAssertFalse(page.isComplete)
        XCTAssertNotEqual(page.epoch, before.epoch)
        XCTAssertEqual(other.epoch, page.epoch, "a server that missed what was lost is not told")
    }

    func testThatALossBeginsOneEpochHoweverManyReadersNoticeIt() async throws {
        // Given an engine that restarts empty, and a reader that has noticed it
        let engine = try engine()
        let store = try store([engine])
        let position = try await store.append("before", to: "log")
        let old = try await store.read("log", after: position, limit: 1, waiting: 0).epoch
        try engine.cli("FLUSHALL")
        let epoch = try await store.read("log", after: position, of: old, limit: 1, waiting: 60_000).epoch
        let next = try await store.append("after", to: "log")

        // When others notice it later
        let late = try await store.read("log", after: position, of: old, limit: 10, waiting: 60_000)
        let present = try await store.read("log", after: next, of: epoch, limit: 10, waiting: 0)

        // Then
        XCTAssertNotEqual(epoch, old)
        XCTAssertEqual(late, LogPage(records: [], epoch: epoch, end: next, isComplete: false))
        XCTAssertEqual(present, LogPage(records: [], epoch: epoch, end: next, isComplete: true))
    }

    func testThatAnEngineThatRefusesWritesIsRead() async throws {
        // Given
        let engine = try engine()
        let store = try store([engine])
        let position = try await store.append("before", to: "log")
        for (setting, value, normal) in [("maxmemory", "1", "0"), ("min-replicas-to-write", "1", "0")] {
            try engine.cli("CONFIG", "SET", setting, value)

            // When
            let refused = await failure { () async throws(CoordinatorError) in try await store.append("more", to: "log") }
            let page = try await store.read("log", after: .start, limit: 10, waiting: 0)

            // Then
            XCTAssertNotNil(refused)
            XCTAssertEqual(page.records, [.init(position: position, text: "before")], setting)
            try engine.cli("CONFIG", "SET", setting, normal)
        }
    }

    func testThatAnIdleEngineMayEndAWaitLate() async throws {
        // Given an engine that does nothing else, and the usual deadline
        let engine = try engine()
        let store = try store([engine], deadline: .milliseconds(50))
        _ = try await eventually { try await store.read("log", after: nil, limit: 1, waiting: 0) }

        // When
        var (late, ended) = (0, 0)
        while ended < 20 {
            do throws(CoordinatorError) {
                _ = try await store.read("log", after: .start, limit: 1, waiting: 1)
                ended += 1
            } catch {
                // Any other call may be late because this machine is busy.
                guard error == .timedOut(operation: "wait for a record") else { continue }
                (late, ended) = (late + 1, ended + 1)
            }
        }

        // Then: without patience, every second wait is given up.
        XCTAssertLessThan(late, 4)
    }

    func testThatAnEngineThatHangsIsGivenUp() async throws {
        // Given
        let engine = try engine()
        let store = try store([engine], deadline: .milliseconds(50))
        _ = try await eventually { try await store.acquire("work", for: "a", milliseconds: 60_000) }

        // When
        engine.stop()
        var failures: [CoordinatorError] = []
        for _ in 0..<ValkeyNode.failures + 1 {
            if let error = await failure(of: { () async throws(CoordinatorError) in try await store.count(of: "counter") }) {
                failures.append(error)
            }
        }

        // Then
        XCTAssertEqual(failures.first, .timedOut(operation: "read a counter"))
        guard case .unreachable(_, let reason)? = failures.last, reason.contains("left alone") else {
            return XCTFail("\(failures)")
        }
        engine.goOn()
        let answer = try await eventually { try await store.acquire("work", for: "a", milliseconds: 60_000) }
        guard case .granted = answer else { return XCTFail("\(answer)") }
    }

    func testThatAWaitForARecordEndsIfTheEngineHangs() async throws {
        // Given
        let engine = try engine()
        let store = try store([engine], deadline: .seconds(1))
        _ = try await store.read("log", after: nil, limit: 1, waiting: 0)

        // When
        let wait = Task { try await store.read("log", after: .start, limit: 1, waiting: 2_000) }
        try await waitForBlockedClient(of: engine)
        engine.stop()
        let result = await wait.result

        // Then
        engine.goOn()
        XCTAssertThrowsError(try result.get()) {
            XCTAssertEqual($0 as? CoordinatorError, .timedOut(operation: "wait for a record"))
        }
    }

    func testThatLongWaitsDelayNobody() async throws {
        // Given
        let engine = try engine()
        let store = try store([engine])
        _ = try await store.read("log", after: nil, limit: 1, waiting: 0)
        let wait = Task { try await store.read("log", after: .start, limit: 1, waiting: 600_000) }
        try await waitForBlockedClient(of: engine)

        // When
        for number in 1...100 {
            let count = try await store.add(1, to: "counter", limit: 100, milliseconds: 60_000)
            XCTAssertEqual(count, number)
        }

        // Then
        wait.cancel()
        let result = await wait.result
        XCTAssertThrowsError(try result.get())
    }

    func testThatAWrongPasswordIsTold() async throws {
        // Given
        let engine = try engine(.redis, ["--requirepass", "right"], cli: ["-a", "right"])
        let none = try store([engine])
        let wrong = try store([engine]) { $0.password = "wrong" }
        let user = try store([engine]) { ($0.user, $0.password) = ("nobody", "right") }
        let right = try store([engine]) { $0.password = "right" }

        // When
        let failures = [
            await failure { () async throws(CoordinatorError) in try await none.probe() },
            await failure { () async throws(CoordinatorError) in try await wrong.probe() },
            await failure { () async throws(CoordinatorError) in try await user.probe() },
        ]
        _ = try await right.probe()

        // Then
        let texts = failures.map { $0?.description ?? "" }
        for (text, part) in zip(texts, ["set `password`", "check `user` and `password`", "check `user` and `password`"]) {
            XCTAssertTrue(text.contains("refuses to probe") && text.contains(part), text)
            XCTAssertFalse(text.contains("wrong") || text.contains("right"), "the error has the password: \(text)")
        }
    }

    func testThatAMissingRightIsTold() async throws {
        // Given
        let engine = try engine()
        try engine.cli("ACL", "SETUSER", "limited", "on", ">secret", "~onesheet:*", "+@all", "-eval", "-evalsha")
        let limited = try store([engine]) { ($0.user, $0.password) = ("limited", "secret") }
        let elsewhere = try store([engine]) { ($0.user, $0.password, $0.prefix) = ("limited", "secret", "other:") }

        // When
        let failures = [
            await failure { () async throws(CoordinatorError) in
                try await limited.acquire("work", for: "a", milliseconds: 1_000)
            }, await failure { () async throws(CoordinatorError) in try await elsewhere.count(of: "counter") },
        ]

        // Then
        for failure in failures {
            guard case .refused(_, let reason)? = failure, reason.contains("NOPERM"), reason.contains("README") else {
                return XCTFail("\(String(describing: failure))")
            }
        }
    }

    func testThatTheRightsOfTheREADMESuffice() async throws {
        // Given
        let engine = try engine()
        XCTAssertEqual(try engine.cli(["ACL", "SETUSER", "onesheet", "on", ">secret"] + ValkeyReadme.rights), "OK")
        let store = try store([engine]) { ($0.user, $0.password) = ("onesheet", "secret") }

        // When
        let notes = try await store.probe()

        // Then
        XCTAssertEqual(notes.filter { !$0.contains("append-only") }, [])
    }

    func testThatAReplicaIsNotUsedWhileThereIsAMaster() async throws {
        // Given
        let master = try engine()
        let replica = try engine(.redis, ["--replicaof", "127.0.0.1", "\(master.port)"])
        let both = try store([replica, master])
        let only = try store([replica])

        // When
        let answer = try await both.acquire("work", for: "a", milliseconds: 60_000)
        let position = try await both.append("record", to: "log")
        let failure = await failure { () async throws(CoordinatorError) in
            try await only.acquire("work", for: "b", milliseconds: 60_000)
        }

        // Then
        guard case .granted = answer else { return XCTFail("\(answer)") }
        XCTAssertGreaterThan(position, .start)
        XCTAssertTrue(failure?.description.contains("is a replica") ?? false, "\(String(describing: failure))")
    }

    func testThatTheProbeTellsWhatIsWrong() async throws {
        // Given
        let engine = try engine(.redis, ["--maxmemory-policy", "allkeys-lru"])
        let clock = ManualClock(Date(timeIntervalSince1970: 0))
        let store = try ValkeyCoordinator(
            .init(addresses: [ValkeyAddress(host: "127.0.0.1", port: engine.port)], deadline: Interval(.seconds(10))),
            context: .forTesting(clock: clock))
        addTeardownBlock { await store.shutdown() }

        // When
        let notes = try await store.probe()

        // Then
        for part in ["allkeys-lru", "appendonly", "its clock"] {
            XCTAssertEqual(notes.filter { $0.contains(part) }.count, 1, "\(part) in \(notes)")
        }
        XCTAssertEqual(try engine.cli("DBSIZE"), "0", "the probe leaves keys")
    }

    func testThatAnotherServerIsNoEngine() async throws {
        // Given
        let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Answering()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        addTeardownBlock { try await channel.close() }
        let port = try XCTUnwrap(channel.localAddress?.port)
        let store = try ValkeyCoordinator(
            .init(addresses: [ValkeyAddress(host: "127.0.0.1", port: port)], deadline: Interval(.seconds(10))),
            context: .forTesting())
        addTeardownBlock { await store.shutdown() }

        // When
        let failure = await failure { () async throws(CoordinatorError) in try await store.count(of: "counter") }

        // Then
        guard case .failed(_, let reason)? = failure, reason.contains("check `addresses`") else {
            return XCTFail("\(String(describing: failure))")
        }
    }

    func testThatNoErrorShowsThePassword() async throws {
        // Given engines that repeat what they were sent: the first knows no AUTH, and cuts long arguments
        let password = "secret-" + String(repeating: "x", count: 200)
        let errors = [
            "ERR unknown command 'AUTH', with args beginning with: 'me' '\(password.prefix(120))",
            "ERR it is not \(password)", "WRONGPASS \(password) is wrong",
        ]
        for error in errors {
            let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(Answering("-\(error)\r\n-\(error)\r\n"))
                    }
                }
                .bind(host: "127.0.0.1", port: 0).get()
            addTeardownBlock { try await channel.close() }
            let port = try XCTUnwrap(channel.localAddress?.port)
            let store = try ValkeyCoordinator(
                .init(
                    addresses: [ValkeyAddress(host: "127.0.0.1", port: port)], user: "me", password: password,
                    deadline: Interval(.seconds(10))), context: .forTesting())
            addTeardownBlock { await store.shutdown() }

            // When
            let failure = await failure { () async throws(CoordinatorError) in try await store.count(of: "counter") }

            // Then
            let text = failure?.description ?? ""
            XCTAssertTrue(text.contains(error.prefix(9)), text)
            XCTAssertFalse(text.contains("secret-"), text)
        }
    }

    func testThatNobodyListensIsTold() async throws {
        // Given
        let port = try CoordinatorEngine.freePort()
        let store = try ValkeyCoordinator(
            .init(addresses: [ValkeyAddress(host: "127.0.0.1", port: port)], deadline: Interval(.seconds(10))),
            context: .forTesting())

        // When
        let failure = await failure { () async throws(CoordinatorError) in try await store.probe() }
        await store.shutdown()
        let late = await self.failure { () async throws(CoordinatorError) in try await store.probe() }

        // Then
        XCTAssertTrue(failure?.description.contains("127.0.0.1:\(port)") ?? false, "\(String(describing: failure))")
        XCTAssertTrue(late?.description.contains("shutting down") ?? false, "\(String(describing: late))")
    }

    private func waitForBlockedClient(of engine: CoordinatorEngine) async throws {
        _ = try await eventually {
            let info = try engine.cli("INFO", "clients").split(whereSeparator: \.isNewline)
            if !info.contains("blocked_clients:1") { throw FixtureError("the engine has no waiting client: \(info)") }
        }
    }
}

/// Answers everything with one text; by default as a web server would.
private final class Answering: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    private let text: String

    init(_ text: String = "HTTP/1.1 400 Bad Request\r\n\r\n") { self.text = text }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
}
