import Foundation
import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

final class DiskTierCrashTests: XCTestCase {
    private let budgets = DiskBudgets(original: 1 << 20, variant: 1 << 20, metadata: 1 << 18)

    /// A round takes half a second, so `make nightly` asks for more of them.
    private let rounds = ProcessInfo.processInfo.environment["ONESHEET_KILLS"].flatMap(Int.init) ?? 60

    func testThatAfterKillsEveryEntryIsRightOrAbsentAndNothingIsLeftBehind() async throws {
        let folder = try temporaryDirectory()
        var random = SystemRandomNumberGenerator()
        var found = 0

        for round in 0..<rounds {
            let crasher = try Crasher(folder: folder.path, seed: round)
            let wanted = Int.random(in: 1...80, using: &random)
            let done = crasher.wait(for: wanted)
            let complaints = crasher.kill()
            XCTAssertGreaterThanOrEqual(done, wanted, "round \(round) ended by itself: \(complaints)")

            found += try await expectAllRight(in: folder.path, "round \(round), killed after \(done) operations")
        }

        XCTAssertGreaterThan(found, 5 * rounds, "too little was in the cache for this to say anything")
    }

    func testThatTwoProcessesOnOneFolderServeNothingWrong() async throws {
        let folder = try temporaryDirectory()

        let crashers = try (0..<2).map { try Crasher(folder: folder.path, seed: 1000 + $0) }
        for crasher in crashers { XCTAssertGreaterThanOrEqual(crasher.wait(for: 400), 400) }
        let inBetween = try await expectAllReadable(in: folder.path)
        let complaints = crashers.map { $0.kill() }

        XCTAssertEqual(complaints, ["", ""])
        XCTAssertGreaterThan(inBetween, 0)
        _ = try await expectAllRight(in: folder.path, "after two processes")
    }

    /// Every entry is intact, the index agrees with the files, and there are no other files.
    private func expectAllRight(in path: String, _ when: String) async throws -> Int {
        let tier = try DiskTier(path: path, budgets: budgets)
        let verification = try await tier.verify()
        XCTAssertEqual(verification.damaged, 0, when)
        XCTAssertEqual(verification.unknown, 0, when)
        let count = try await readAll(tier)
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.damaged, 0, when)
        XCTAssertEqual(figures.entries, verification.whole + verification.missing, when)
        try await tier.sweep()
        try await tier.close()
        for folder in ["tmp", "trash"] {
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)"), [], "\(folder) \(when)")
        }
        return count
    }

    /// The same during work of other processes: found entries are intact.
    private func expectAllReadable(in path: String) async throws -> Int {
        let tier = try DiskTier(path: path, budgets: budgets)
        let count = try await readAll(tier)
        let figures = try await tier.statistics().total
        XCTAssertEqual(figures.damaged, 0)
        try await tier.close()
        return count
    }

    private func readAll(_ tier: DiskTier) async throws -> Int {
        var count = 0
        for kind in CacheKind.allCases {
            for number in 0..<120 {
                let key = CacheKey(kind, "poster \(number)")
                guard let entry = try await tier.entry(for: key) else { continue }
                count += 1
                let bytes = Array(entry.body.readableBytesView)
                let start = Array("\(key)\n".utf8)
                XCTAssertEqual(Array(bytes.prefix(start.count)), start)
                XCTAssertEqual(entry.presentation.width, bytes.count)
                let filling = try XCTUnwrap(UInt8(entry.validator))
                XCTAssertTrue(bytes.dropFirst(start.count).allSatisfy { $0 == filling })
            }
        }
        return count
    }
}
