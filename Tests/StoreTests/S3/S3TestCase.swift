import NIOCore
import OnesheetCore
import OnesheetTesting
import S3Store
import Synchronization
import XCTest

/// Tests of the store beside a server.
class S3TestCase: XCTestCase {
    /// A store that the end of the test shuts down.
    func store(
        _ url: String, bucket: String = StoreEngine.bucket, secretKey: String = StoreEngine.secretKey,
        deadline: Duration = .seconds(10),
        clock: WallClock = .system
    ) throws -> S3Store {
        var context = PluginContext.forTesting()
        context.clock = clock
        let store = try S3Store(
            .init(
                endpoint: url, bucket: bucket, accessKey: StoreEngine.accessKey, secretKey: secretKey, deadline: Interval(deadline)),
            context: context)
        addTeardownBlock { await store.shutdown() }
        return store
    }

    /// An origin that the end of the test stops.
    func origin(
        _ answer: @escaping @Sendable (_ target: String, _ fields: [String: String]) -> OriginAnswer
    ) async throws -> OriginServer {
        let origin = try await OriginServer.start(answer)
        addTeardownBlock { try await origin.stop() }
        return origin
    }

    /// The error of a call; fails if there is none.
    func error(_ call: () async throws(StoreError) -> Void, file: StaticString = #filePath, line: UInt = #line) async -> StoreError?
    {
        do throws(StoreError) {
            try await call()
            XCTFail("there is no error", file: file, line: line)
            return nil
        } catch {
            return error
        }
    }
}

/// Numbers calls from 1.
final class CallNumbers: Sendable {
    private let last = Mutex(0)

    func next() -> Int {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
