import Foundation
import NIOCore
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import FolderStore

/// Calls of a file system that answers after the caller has given up.
final class LateWriteTests: XCTestCase {
    func testThatAWriteAndADeletionChangeNothingAfterTheirDeadline() throws {
        // Given an object
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        let objects = ObjectFolder(root: folder.path)
        let path = try ObjectPath("a/b")
        let early = ContinuousClock.now + .seconds(600)
        let revision = try objects.write(ByteBuffer(string: "old"), to: path, if: .none, by: early)
        // When it is written and deleted by callers whose time was over before the lock was free
        XCTAssertThrowsError(try objects.write(ByteBuffer(string: "new"), to: path, if: .none, by: .now)) {
            XCTAssertEqual($0 as? StoreError, .timedOut(operation: "put"))
        }
        XCTAssertThrowsError(try objects.delete(path, by: .now)) {
            XCTAssertEqual($0 as? StoreError, .timedOut(operation: "delete"))
        }
        // Then it is as before, and nothing is left behind
        let object = try objects.read(path, limit: 100)
        XCTAssertEqual(object?.body, ByteBuffer(string: "old"))
        XCTAssertEqual(object?.revision, revision)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder.path(".tmp")), [])
    }
}
