import Foundation
import Logging
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import Synchronization
import XCTest

final class TypedStorageTests: XCTestCase {
    /// A value of this many bytes.
    private struct Sized: DataConvertible {
        static let mediaType = "text/plain"
        let size: Int

        init(size: Int) { self.size = size }
        init(data: ByteBuffer) throws { size = data.readableBytes }
        func data() throws -> ByteBuffer { ByteBuffer(repeating: 0x20, count: size) }
    }

    func testThatLargeValuesAreReadAndWrittenOffTheCooperativePool() async throws {
        // Given a large value of a source, and more readers than processors
        let cache = Cache(memory: MemoryTier(expires: .never), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let storage = TypedStorage<Slow>("slow", in: cache)
        try await storage.store(Slow(), forKey: "1", expiration: .never)
        let count = ProcessInfo.processInfo.activeProcessorCount + 4
        Slow.door.withLock { $0 = DispatchSemaphore(value: 0) }
        defer { Slow.door.withLock { $0 = nil } }
        // When all read it, for as long as the test wants
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = await storage.value(forKey: "1") } }
            await waitWhile(Slow.arrived.load(ordering: .acquiring) == 0)
            // Then other tasks continue, and the readers occupy one thread
            let sum = await withTaskGroup(of: Int.self) { group in
                for number in 0..<100 { group.addTask { number } }
                return await group.reduce(0, +)
            }
            XCTAssertEqual(sum, 4950)
            XCTAssertEqual(Slow.arrived.load(ordering: .acquiring), 1)
            Slow.door.withLock { $0 }?.signal()
        }
    }

    func testThatValuesOfEverySizeComeBack() async throws {
        let cache = Cache(memory: MemoryTier(expires: .never), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let storage = TypedStorage<Sized>("sized", in: cache)
        for size in [0, 1, 64 << 10, 65_537, 1 << 20] {
            try await storage.store(Sized(size: size), forKey: "\(size)", expiration: .never)
            let value = await storage.value(forKey: "\(size)")
            XCTAssertEqual(value?.size, size)
        }
    }

    /// A large value whose decoding waits for the test, or for at most a minute.
    private struct Slow: DataConvertible {
        static let mediaType = "text/plain"
        static let door = Mutex<DispatchSemaphore?>(nil)
        static let arrived = Atomic(0)

        init() {}

        init(data: ByteBuffer) throws {
            guard let door = Self.door.withLock({ $0 }) else { return }
            Self.arrived.add(1, ordering: .acquiringAndReleasing)
            _ = door.wait(timeout: .now() + 60)
            door.signal()
        }

        func data() throws -> ByteBuffer { ByteBuffer(repeating: 0x20, count: 1 << 20) }
    }
}
