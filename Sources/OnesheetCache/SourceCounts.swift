package import OnesheetCore

/// A tier's counters by source. Each source has a number, so that a hit needs no lookup of its name.
package struct SourceCounts {
    /// The maximum number of sources with counters of their own. Entries of further sources count as entries without a source.
    private static let limit = 1000

    private var numbers: [ExactText: Int] = ["": 0]
    private var figures = [CacheFigures()]

    package init() {}

    /// The number of the source of `key`; without a key, that of no source.
    package mutating func number(of key: CacheKey?) -> Int {
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

    package subscript(key: CacheKey?) -> CacheFigures {
        mutating get { figures[number(of: key)] }
        _modify {
            let number = number(of: key)
            yield &figures[number]
        }
    }

    package mutating func evict(_ number: Int, reason: String) { figures[number].evictions[reason, default: 0] += 1 }

    /// All counters by the names of the sources.
    package var named: [String: CacheFigures] {
        Dictionary(uniqueKeysWithValues: numbers.map { ($0.key.description, figures[$0.value]) }).filter {
            $0.value != CacheFigures()
        }
    }
}
