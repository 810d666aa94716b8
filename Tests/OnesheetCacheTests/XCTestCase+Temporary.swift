import OnesheetTesting
import XCTest

extension XCTestCase {
    /// A folder that is gone after the test, however it ends.
    func temporaryDirectory() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        return folder
    }
}
