import OnesheetCache
import XCTest

final class S3FIFOTests: XCTestCase {
    func testThatAScanDoesNotPushOutWhatIsUsed() {
        var policy = S3FIFO<Int, Int>(weight: 100, count: 1000)
        for key in 0..<50 { policy.insert(key, for: Hashed(key), weight: 1) }
        for key in 0..<50 { _ = policy.value(for: Hashed(key)) }

        for key in 1000..<3000 { policy.insert(key, for: Hashed(key), weight: 1) }

        XCTAssertEqual((0..<50).filter { policy.peek(Hashed($0)) != nil }.count, 50)
    }

    func testThatWhatComesBackSoonIsKept() {
        var policy = S3FIFO<Int, Int>(weight: 100, count: 1000)
        for key in 0..<150 { policy.insert(key, for: Hashed(key), weight: 1) }
        XCTAssertNil(policy.peek(Hashed(20)))

        policy.insert(20, for: Hashed(20), weight: 1)
        for key in 1000..<1200 { policy.insert(key, for: Hashed(key), weight: 1) }

        XCTAssertNotNil(policy.peek(Hashed(20)))
        XCTAssertNil(policy.peek(Hashed(149)))
    }

    func testThatOfTwoEntriesTheDearOneOutlivesTheCheapOne() {
        var policy = S3FIFO<Int, Int>(weight: 100, count: 1000)
        for key in 0..<100 { policy.insert(key, for: Hashed(key), weight: 1, cost: key.isMultiple(of: 10) ? 100 : 1) }
        for key in 0..<100 { _ = policy.value(for: Hashed(key)) }

        for key in 1000..<1130 {
            policy.insert(key, for: Hashed(key), weight: 1, cost: 1)
            _ = policy.value(for: Hashed(key))
        }

        let (dear, cheap) = ((0..<100).filter { $0.isMultiple(of: 10) }, (0..<100).filter { !$0.isMultiple(of: 10) })
        let keptDear = Double(dear.filter { policy.peek(Hashed($0)) != nil }.count) / Double(dear.count)
        let keptCheap = Double(cheap.filter { policy.peek(Hashed($0)) != nil }.count) / Double(cheap.count)
        XCTAssertGreaterThan(keptDear, keptCheap + 0.3)
    }

    func testThatWeightAndCountAreWhatIsThereAfterAnyMixOfChanges() {
        var policy = S3FIFO<Int, Int>(weight: 1000, count: 40)
        var random = SystemRandomNumberGenerator()

        for _ in 0..<20_000 {
            let key = Int.random(in: 0..<200, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0: policy.remove(Hashed(key))
            case 1...5: _ = policy.value(for: Hashed(key))
            default: policy.insert(key, for: Hashed(key), weight: Int.random(in: 1...90, using: &random), cost: Double(key))
            }
            XCTAssertLessThanOrEqual(policy.weight, 1000)
            XCTAssertLessThanOrEqual(policy.count, 40)
        }

        var (weight, count) = (0, 0)
        var position: Int? = 0
        while let start = position {
            position = policy.visit(from: start, limit: 7) { key, value, entry in
                XCTAssertEqual(key.key, value)
                weight += entry
                count += 1
            }
        }
        XCTAssertEqual([weight, count], [policy.weight, policy.count])
    }
}
