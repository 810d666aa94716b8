internal import OnesheetCore

/// A tier's counters, source by source. A source is counted under a number, so that no name is looked up for a hit.
struct SourceCounts {
    /// More sources than these are counted together with what belongs to none: no server has as many.
    private static let limit = 1000

    private var numbers: [ExactText: Int] = ["": 0]
    private var figures = [CacheFigures()]

    /// The number of the source that `key` is of; without a key, of none.
    mutating func number(of key: CacheKey?) -> Int {
        guard let name = key?.source else { return 0 }
        let known = ExactText(name)
        if let number = numbers[known] { return number }
        guard figures.count < Self.limit else { return 0 }
        numbers[known] = figures.count
        figures.append(CacheFigures())
        return figures.count - 1
    }

    func contains(_ number: Int) -> Bool { number < figures.count }

    subscript(number: Int) -> CacheFigures {
        get { figures[number] }
        _modify { yield &figures[number] }
    }

    subscript(key: CacheKey?) -> CacheFigures {
        mutating get { figures[number(of: key)] }
        _modify {
            let number = number(of: key)
            yield &figures[number]
        }
    }

    mutating func evict(_ number: Int, reason: String) { figures[number].evictions[reason, default: 0] += 1 }

    /// Every counter by its source's name.
    var named: [String: CacheFigures] {
        Dictionary(uniqueKeysWithValues: numbers.map { ($0.key.description, figures[$0.value]) }).filter {
            $0.value != CacheFigures()
        }
    }
}
