@testable import OnesheetCache
import XCTest

final class PositionTableTests: XCTestCase {
    func testThatPositionsAreFoundAmongCollisionsAfterAnyMixOfChanges() {
        var table = PositionTable()
        var model: [Int: UInt] = [:]
        var random = SystemRandomNumberGenerator()

        for _ in 0..<20_000 {
            let position = Int.random(in: 0..<300, using: &random)
            if let hash = model.removeValue(forKey: position) {
                table.remove(position, under: hash)
            } else {
                // Few hashes, many of which start at the end of the table, so that searches wrap around.
                let hash = UInt.random(in: 0..<20, using: &random) &- 10
                table.add(position, under: hash)
                model[position] = hash
            }
        }

        XCTAssertEqual(table.count, model.count)
        for position in 0..<300 {
            for hash in (0..<20).map({ UInt($0) &- 10 }) {
                let found = table.position(of: hash) { $0 == position }
                XCTAssertEqual(found, model[position] == hash ? position : nil)
            }
        }
    }
}
