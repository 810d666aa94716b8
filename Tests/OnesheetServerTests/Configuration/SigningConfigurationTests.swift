import OnesheetAddress
import XCTest

@testable import OnesheetServer

final class SigningConfigurationTests: XCTestCase {
    func testThatUnsafeNeedsLoopbackOrTheConfigurationsWord() {
        var allowed = SigningConfiguration()
        allowed.unsafe = true
        XCTAssertNoThrow(try Signature(SigningConfiguration(), needsKey: false).check("unsafe", of: "/plain/sample://1"))
        XCTAssertNoThrow(try Signature(allowed, needsKey: true).check("unsafe", of: "/plain/sample://1"))
        XCTAssertThrowsError(try Signature(SigningConfiguration(), needsKey: true).check("unsafe", of: "/plain/sample://1"))
    }

    func testThatASignatureThatIsTooShortToBeSafeIsRefused() {
        for size in ["7", "33", "-1", "ten"] {
            XCTAssertThrowsError(
                try ConfigurationFile(environment: [:]).parse("signing: { size: \(size) }\nsources: { a: { type: sample } }"), size)
        }
    }
}
