import Foundation
import Logging
import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import XCTest

@testable import OnesheetWorkers

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
        XCTAssertNil(originals.loss(of: one))
        XCTAssertFalse(originals.add(one, .crash))
        XCTAssertNil(originals.loss(of: one))
        XCTAssertTrue(originals.add(one, .memory))
        XCTAssertEqual(originals.loss(of: one), .memory)
        XCTAssertNil(originals.loss(of: ByteBuffer(string: "two")))
    }

    func testThatARestartForgetsNothing() {
        let first = make()
        _ = first.add(one, .crash)
        XCTAssertTrue(make().add(one, .forbidden))
        XCTAssertEqual(make().loss(of: one), .forbidden)
    }

    func testThatADayForgets() {
        let originals = make()
        for _ in 0..<2 { _ = originals.add(one, .crash) }
        clock.advance(by: .seconds(86_399))
        XCTAssertEqual(originals.loss(of: one), .crash)
        clock.advance(by: .seconds(2))
        XCTAssertNil(originals.loss(of: one))
        XCTAssertNil(make().loss(of: one))
        XCTAssertFalse(originals.add(one, .crash), "the count begins again")
    }

    func testThatDamagedLinesAreSkipped() throws {
        let originals = make()
        for _ in 0..<2 { _ = originals.add(one, .crash) }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        for damaged in [
            "", "x\n", "\u{0}\n" + text, text + "cut", text + "a b c d\n", String(repeating: "z", count: 9999) + "\n" + text,
        ] {
            try Data(damaged.utf8).write(to: URL(filePath: path))
            XCTAssertEqual(make().loss(of: one) != nil, damaged.contains(text))
        }
    }

    func testThatTheyAreBounded() {
        let originals = make()
        for number in 0..<1005 {
            clock.advance(by: .seconds(1))
            _ = originals.add(ByteBuffer(integer: number), .crash)
        }
        let lines = (try? String(contentsOfFile: path, encoding: .utf8))?.split(separator: "\n").count
        XCTAssertEqual(lines, 1000)
    }

    private func make() -> FatalOriginals { FatalOriginals(path: path, clock: clock.wallClock, logger: Logger(label: "test")) }
}
