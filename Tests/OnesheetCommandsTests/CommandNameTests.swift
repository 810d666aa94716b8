import ArgumentParser
import UnixSignals
import XCTest

@testable import OnesheetCommands

final class CommandNameTests: XCTestCase {
    func testThatKnownCommandsAndOptionsAreLeftToTheLibrary() {
        for arguments in [
            [], ["--help"], ["serve"], ["serve", "nobody"], ["help", "serv"], ["sources", "sample"], ["sources", "a-source"],
            ["config", "--help"],
        ] {
            XCTAssertNil(CommandName.unknown(in: arguments), "\(arguments)")
        }
    }

    func testThatASignalHasTheStatusOfShells() {
        XCTAssertEqual(ExitCode(UnixSignal.sigint).rawValue, 130)
        XCTAssertEqual(ExitCode(UnixSignal.sigterm).rawValue, 143)
    }
}
