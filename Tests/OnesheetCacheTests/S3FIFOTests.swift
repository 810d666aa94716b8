import OnesheetCache
import OnesheetCore
import XCTest

final class S3FIFOTests: XCTestCase {
    private func key(_ number: Int) -> CacheKey { CacheKey(.variant, "\(number)") }

    func testThatAScanDoesNotPushOutWhatIsUsed() {
        var policy = S3FIFO<Int>(weight: 100, count: 1000)
        for number in 0..<50 { policy.insert(number, for: key(number), weight: 1) }
        for number in 0..<50 { _ = policy.value(for: key(number)) }

        for number in 1000..<3000 { policy.insert(number, for: key(number), weight: 1) }

        XCTAssertEqual((0..<50).filter { policy.peek(key($0)) != nil }.count, 50)
    }

    func testThatAScanDoesNotPushOutWhatIsUsedIfOnlyTheCountIsLimited() {
        // Given used entries, half as many as there may be, far below the weight
        var policy = S3FIFO<Int>(weight: 1_000_000, count: 100)
        for number in 0..<50 { policy.insert(number, for: key(number), weight: 1) }
        for number in 0..<50 { _ = policy.value(for: key(number)) }
        // When many others are stored and never read
        for number in 1000..<3000 { policy.insert(number, for: key(number), weight: 1) }
        // Then the used ones are still there
        XCTAssertEqual((0..<50).filter { policy.peek(key($0)) != nil }.count, 50)
        XCTAssertEqual(policy.count, 100)
    }

    func testThatWhatComesBackSoonIsKept() {
        var policy = S3FIFO<Int>(weight: 100, count: 1000)
        for number in 0..<150 { policy.insert(number, for: key(number), weight: 1) }
        XCTAssertNil(policy.peek(key(20)))

        policy.insert(20, for: key(20), weight: 1)
        for number in 1000..<1200 { policy.insert(number, for: key(number), weight: 1) }

        XCTAssertNotNil(policy.peek(key(20)))
        XCTAssertNil(policy.peek(key(149)))
    }

    func testThatOfTwoEntriesTheDearOneOutlivesTheCheapOne() {
        var policy = S3FIFO<Int>(weight: 100, count: 1000)
        for number in 0..<100 { policy.insert(number, for: key(number), weight: 1, cost: number.isMultiple(of: 10) ? 100 : 1) }
        for number in 0..<100 { _ = policy.value(for: key(number)) }

        for number in 1000..<1130 {
            policy.insert(number, for: key(number), weight: 1, cost: 1)
            _ = policy.value(for: key(number))
        }

        let (dear, cheap) = ((0..<100).filter { $0.isMultiple(of: 10) }, (0..<100).filter { !$0.isMultiple(of: 10) })
        let keptDear = Double(dear.filter { policy.peek(key($0)) != nil }.count) / Double(dear.count)
        let keptCheap = Double(cheap.filter { policy.peek(key($0)) != nil }.count) / Double(cheap.count)
        XCTAssertGreaterThan(keptDear, keptCheap + 0.3)
    }

    func testThatWeightAndCountAreWhatIsThereAfterAnyMixOfChanges() {
        var policy = S3FIFO<Int>(weight: 1000, count: 40)
        var random = SystemRandomNumberGenerator()

        for _ in 0..<20_000 {
            let number = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: policy.remove(key(number))
            case 1...5: _ = policy.value(for: key(number))
            default: policy.insert(number, for: key(number), weight: Int.random(in: 1...90, using: &random), cost: Double(number))
            }
            XCTAssertLessThanOrEqual(policy.weight, 1000)
            XCTAssertLessThanOrEqual(policy.count, 40)
        }

        var (weight, count) = (0, 0)
        var position: Int? = 0
        while let start = position {
            position = policy.visit(from: start, limit: 7) { key, value, entry in
                XCTAssertEqual(key, self.key(value))
                weight += entry
                count += 1
            }
        }
        XCTAssertEqual([weight, count], [policy.weight, policy.count])
    }
}
