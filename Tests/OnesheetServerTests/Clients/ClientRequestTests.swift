import Dispatch
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import OnesheetCore
import OnesheetHTTP
import Synchronization
import XCTest

@testable import OnesheetPipeline
@testable import OnesheetServer

final class ClientRequestTests: XCTestCase {
    func testThatARequestCountsOnceAlsoIfItIsRefused() async throws {
        // Given room for some requests that wait, and an address that may cause one miss
        var clients = ClientsConfiguration()
        (clients.perAddress.misses, clients.perAddress.burst) = (0.001, 1)
        let budget = MemoryBudget(limit: 1 << 20)
        let waiting = MemoryShare.waitingRequests(of: budget)
        let connections = OpenConnections(
            clients, memory: ResponseMemory(limit: 1 << 20), waiting: waiting, of: MemoryBudget(limit: 1 << 20),
            isEncrypted: false)
        let channel = NIOAsyncTestingChannel()
        XCTAssertTrue(connections.admit(channel))
        // When a request asks for several images at the same time
        try await Self.answer(on: channel, of: connections) {
            let errors = await Self.misses(3)
            // Then it counts once
            XCTAssertEqual(errors, [nil, nil, nil])
            XCTAssertEqual(budget.yielding, waiting.each)
        }
        XCTAssertEqual(budget.yielding, 0)
        // When the next one is beyond the share of its address
        try await Self.answer(on: channel, of: connections) {
            let errors = await Self.misses(3)
            // Then it is refused, each time it asks
            for error in errors {
                XCTAssertEqual(error?.title, "Too many requests", "\(errors)")
            }
            // And it counts once
            XCTAssertEqual(budget.yielding, waiting.each)
        }
        XCTAssertEqual(budget.yielding, 0)
        _ = try await channel.finish()
    }

    func testThatALongBodyWaitsForItsEventLoop() async throws {
        // Given a long body
        let body = ResponseBody(byteBuffer: ByteBuffer(repeating: 1, count: 1 << 20))
        // When it is written to a writer that takes everything, as far as that goes while the loop is busy, turn by turn
        let (loop, writer, executor) = (NIOAsyncTestingEventLoop(), UnboundedWriter(), SteppedExecutor())
        let writing = Task(executorPreference: executor) {
            try await body.write(PacedWriter(writer, pieceLength: 16 << 10, on: loop))
        }
        var (turns, seen) = (0, 0)
        while !writer.isFinished, turns < 100 {
            let door = DispatchSemaphore(value: 0)
            loop.execute { door.wait() }
            executor.runJobs()
            // Then no more than 64 KiB wait for each turn
            XCTAssertLessThanOrEqual(writer.bytes - seen, 64 << 10)
            seen = writer.bytes
            door.signal()
            await loop.run()
            turns += 1
        }
        XCTAssertEqual(writer.bytes, 1 << 20)
        XCTAssertTrue(writer.isFinished)
        guard writer.isFinished else { return writing.cancel() }
        try await writing.value
        await loop.shutdownGracefully()
    }

    private static func answer(
        on channel: NIOAsyncTestingChannel, of connections: OpenConnections, _ body: @escaping @Sendable () async -> Void
    ) async throws {
        let client = try XCTUnwrap(connections.client(of: channel))
        let request = ClientRequest(of: client, on: channel, isStream: false, [.forwardedFor: "192.0.2.1"])
        let writer = ResponseWriter(outbound: NIOAsyncChannelOutboundWriter.makeTestingWriter().0)
        try await request.answer(writer, endsEarly: true) {
            await body()
            return Response(status: .ok)
        }
    }

    /// Takes the permit of the request `count` times at the same time.
    private static func misses(_ count: Int) async -> [Failure?] {
        await withTaskGroup(of: Failure?.self) { group in
            for _ in 0..<count {
                group.addTask {
                    do throws(Failure) { try WorkContext.current.countMiss() } catch { return error }
                    return nil
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}

/// Counts what is written, and never makes anything wait: the queue of a loop that is busy.
private final class UnboundedWriter: ResponseBodyWriter, Sendable {
    private let state = Mutex((bytes: 0, isFinished: false))

    var bytes: Int { state.withLock { $0.bytes } }
    var isFinished: Bool { state.withLock { $0.isFinished } }

    func write(_ buffer: ByteBuffer) async throws { state.withLock { $0.bytes += buffer.readableBytes } }
    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { state.withLock { $0.isFinished = true } }
}

/// Runs tasks on the thread of the test, and only when it says so: until each waits for something else.
private final class SteppedExecutor: TaskExecutor {
    private let jobs = Mutex<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func runJobs() {
        while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
        }
    }
}
