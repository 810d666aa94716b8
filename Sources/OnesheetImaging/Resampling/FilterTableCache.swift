import OnesheetCore
import Synchronization

/// Tables of weights made recently: the same few sizes are asked for again and again, and a table costs hundreds of sines.
final class FilterTableCache: Sendable {
    private struct Key: Hashable {
        let resampling: ResamplingWindow
        let samples: Int
        let step: Int
    }

    /// Bytes of all tables that are kept, and of the largest.
    static let limit = 8 << 20
    private static let largest = 512 << 10

    private let tables = Mutex(BoundedCache<Key, FilterTable>(bytes: limit, entries: 256))

    /// Bytes that are kept.
    var bytes: Int { tables.withLock { $0.bytes } }

    /// - Throws: `CodecError.timedOut`.
    func table(_ resampling: ResamplingWindow, samples: Int, step: Int, by deadline: Deadline) throws(CodecError) -> FilterTable {
        let key = Key(resampling: resampling, samples: samples, step: step)
        if let known = tables.withLock({ $0.value(for: key) }) { return known }
        let table = try FilterTable(resampling, samples: samples, step: step, by: deadline)
        guard table.bytes <= Self.largest else { return table }
        tables.withLock { $0.keep(table, for: key, bytes: table.bytes) }
        return table
    }
}
