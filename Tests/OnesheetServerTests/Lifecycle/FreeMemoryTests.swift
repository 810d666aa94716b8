import CLinux
import XCTest

@testable import OnesheetServer

final class FreeMemoryTests: XCTestCase {
    func testFreeBlocksReturnToTheSystem() throws {
        // Of these 64 MiB one block in 64 stays, so nearly none of what is free is at the end of the heap.
        let blocks = (0..<2_048).map { _ in UnsafeMutableRawBufferPointer.allocate(byteCount: 32 << 10, alignment: 16) }
        for block in blocks { block.initializeMemory(as: UInt8.self, repeating: 1) }
        for (index, block) in blocks.enumerated() where index % 64 != 63 { block.deallocate() }
        defer { for (index, block) in blocks.enumerated() where index % 64 == 63 { block.deallocate() } }

        let before = try XCTUnwrap(ProcessMemory.resident)
        cmemory_return_free_pages()
        let after = try XCTUnwrap(ProcessMemory.resident)
        XCTAssertLessThan(after, before - (32 << 20))
    }
}
