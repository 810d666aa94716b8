import FolderStore
import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting

/// The endless operations of four workers on a store of objects in a folder.
enum StoreTraffic {
    static func run(folder: String) async throws {
        let store = try FolderStore(.init(path: folder), context: .forTesting())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0... {
                        let name = "a/\((worker + round) % 6)/b"
                        // One byte, and a length that belongs to it.
                        let number = Int.random(in: 0..<256)
                        let body = ByteBuffer(repeating: UInt8(number), count: 1000 * (number + 1))
                        _ = try await store.put(body, as: name, if: round.isMultiple(of: 2) ? .none : .absent)
                        if round % 5 == 0 { try await store.delete([name]) }
                        FileHandle.standardOutput.write(Data(".".utf8))
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}
