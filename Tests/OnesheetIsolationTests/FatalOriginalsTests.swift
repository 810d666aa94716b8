import Foundation
import Logging
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetIsolation

final class FatalOriginalsTests: XCTestCase {
    private var path = ""
    private let clock = ManualClock()
    private let one = ByteBuffer(string: "one")

    override func setUpWithError() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "fatal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        addTeardownBlock { try FileManager.default.removeItem(at: folder) }
        path = folder.appending(path: "fatal-originals").path
    }

    func testThatASecondLossIsTheLast() {
        let originals = make()
        XCTAssertEqual(originals.standing(of: one), .harmless)
        XCTAssertFalse(originals.add(one, .crash, isProven: false))
        XCTAssertEqual(originals.standing(of: one), .suspect)
        XCTAssertTrue(originals.add(one, .memory, isProven: true))
        XCTAssertEqual(originals.standing(of: one), .fatal(.memory))
        XCTAssertEqual(originals.standing(of: ByteBuffer(string: "two")), .harmless)
    }

    func testThatProcessesThatReadOtherPicturesProveNothing() {
        let originals = make()
        for _ in 0..<5 { XCTAssertFalse(originals.add(one, .garbage, isProven: false)) }
        XCTAssertEqual(originals.standing(of: one), .suspect)
        // A new process has read it.
        originals.clear(one)
        XCTAssertEqual(originals.standing(of: one), .harmless)
        XCTAssertEqual(make().standing(of: one), .harmless)
    }

    func testThatARestartForgetsNothing() {
        let first = make()
        _ = first.add(one, .crash, isProven: true)
        XCTAssertTrue(make().add(one, .forbidden, isProven: true))
        XCTAssertEqual(make().standing(of: one), .fatal(.forbidden))
    }

    func testClockThatWasAheadKeepsNoOriginalLonger() {
        let originals = make()
        clock.advance(by: .seconds(864_000))
        for _ in 0..<2 { _ = originals.add(one, .crash, isProven: true) }
        XCTAssertEqual(originals.standing(of: one), .fatal(.crash))
        clock.advance(by: .seconds(-864_000))
        XCTAssertEqual(originals.standing(of: one), .harmless)
    }

    func testThatADayForgets() {
        let originals = make()
        for _ in 0..<2 { _ = originals.add(one, .crash, isProven: true) }
        clock.advance(by: .seconds(86_399))
        XCTAssertEqual(originals.standing(of: one), .fatal(.crash))
        clock.advance(by: .seconds(2))
        XCTAssertEqual(originals.standing(of: one), .harmless)
        XCTAssertEqual(make().standing(of: one), .harmless)
        XCTAssertFalse(originals.add(one, .crash, isProven: true), "the count begins again")
    }

    func testThatDamagedLinesAreSkipped() throws {
        let originals = make()
        for _ in 0..<2 { _ = originals.add(one, .crash, isProven: true) }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for damaged in [
            "", "x\n", "\u{0}\n" + text, text + "cut",
            text + "a b c d e\n" + String(repeating: "a", count: 64) + " 9 9 crash \(Int.max)\n",
            String(repeating: "z", count: 9999) + "\n" + text,
        ] {
            try Data(damaged.utf8).write(to: URL(filePath: path))
            XCTAssertEqual(make().standing(of: one) == .fatal(.crash), damaged.contains(text))
        }
    }

    func testThatTheyAreBounded() {
        let originals = make()
        for number in 0..<1005 {
            clock.advance(by: .seconds(1))
            _ = originals.add(ByteBuffer(integer: number), .crash, isProven: true)
        }
        let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count
        XCTAssertEqual(lines, 1000)
    }

    private func make() -> FatalOriginals { FatalOriginals(path: path, clock: clock.wallClock, logger: Logger(label: "test")) }
}
