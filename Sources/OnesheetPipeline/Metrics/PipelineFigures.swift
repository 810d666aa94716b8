import Synchronization

/// What the pipeline has done since it was made.
package final class PipelineFigures: Sendable {
    /// How long the stages of answering took, whoever shared the outcome.
    package let stages = Histograms()
    private let counted = Mutex(Counts())

    /// Counts since the start.
    package struct Counts: Sendable, Equatable {
        /// Variants made.
        package var renders = 0
    }

    package init() {}

    package var counts: Counts { counted.withLock { $0 } }

    func add(_ field: WritableKeyPath<Counts, Int>, _ number: Int = 1) { counted.withLock { $0[keyPath: field] += number } }
}
