import OnesheetTesting
import XCTest

extension XCTestCase {
    /// A folder that is removed after the test.
    func temporaryDirectory() throws -> TemporaryDirectory {
        let folder = try TemporaryDirectory()
        addTeardownBlock { folder.remove() }
        return folder
    }
}
