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
        let storage = TypedStorage<Slow>("slow", in: cache, reading: { .unlimited })
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
        let storage = TypedStorage<Sized>("sized", in: cache, reading: { .unlimited })
        for size in [0, 1, 64 << 10, 65_537, 1 << 20] {
            try await storage.store(Sized(size: size), forKey: "\(size)", expiration: .never)
            let value = await storage.value(forKey: "\(size)")
            XCTAssertEqual(value?.size, size)
        }
    }

    func testDecodedValueIsKeptUntilAnotherIsStored() async throws {
        // Given a storage that keeps what it has decoded
        let cache = Cache(memory: MemoryTier(expires: .never), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let storage = TypedStorage<Counted>("counted", in: cache, keeping: 1000, reading: { .unlimited })
        for (size, decoded) in [(10, 1), (20, 1), (501, 3)] {
            try await storage.store(Counted(size: size), forKey: "1", expiration: .never)
            let before = Counted.decoded.load(ordering: .relaxed)
            // When a value is read three times
            for _ in 0..<3 {
                let value = await storage.value(forKey: "1")
                XCTAssertEqual(value?.size, size)
            }
            // Then it was decoded once, unless it would take more than half of the room
            XCTAssertEqual(Counted.decoded.load(ordering: .relaxed) - before, decoded, "\(size)")
        }
    }

    /// A value of some bytes that counts how often one is decoded.
    private struct Counted: DataConvertible {
        static let mediaType = "text/plain"
        static let decoded = Atomic(0)
        let size: Int

        init(size: Int) { self.size = size }
        init(data: ByteBuffer) throws {
            Self.decoded.add(1, ordering: .relaxed)
            size = data.readableBytes
        }
        func data() throws -> ByteBuffer { ByteBuffer(repeating: 0x20, count: size) }
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
