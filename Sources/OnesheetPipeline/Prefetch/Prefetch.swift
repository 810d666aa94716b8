import NIOCore
import OnesheetCache
package import OnesheetCore
import Synchronization

/// Makes variants before anyone asks: so many titles at once, each original decoded once for all its sizes, what is there skipped.
package struct Prefetch: Sendable {
    let pipeline: Pipeline
    private let concurrency: Int

    /// - Parameter concurrency: titles worked on at the same time.
    package init(pipeline: Pipeline, concurrency: Int) {
        precondition(concurrency > 0, "somebody has to work")
        (self.pipeline, self.concurrency) = (pipeline, concurrency)
    }

    /// Makes every transform of every title.
    ///
    /// Ends early, with what was done so far, when its task is cancelled; started again it goes on where it was.
    /// - Parameter progress: called after each title, never twice at once.
    package func run(
        _ titles: [TitleReference], _ transforms: [Transform], progress: @escaping @Sendable (PrefetchSummary) -> Void
    ) async -> PrefetchSummary {
        // Near the wall of a quota, those who ask go first.
        await Urgency.$current.withValue(.prefetch) { await make(titles, transforms, progress) }
    }

    private func make(
        _ titles: [TitleReference], _ transforms: [Transform], _ progress: @escaping @Sendable (PrefetchSummary) -> Void
    ) async -> PrefetchSummary {
        let summary = Mutex(PrefetchSummary(total: titles.count * transforms.count))
        await withTaskGroup(of: PrefetchSummary.self) { group in
            var waiting = titles.makeIterator()
            func startNext() {
                guard !Task.isCancelled, let title = waiting.next() else { return }
                group.addTask { await prefetch(title, transforms) }
            }
            for _ in 0..<concurrency { startNext() }
            for await done in group {
                progress(
                    summary.withLock { summary in
                        summary.add(done)
                        return summary
                    })
                startNext()
            }
        }
        return summary.withLock { $0 }
    }

    private func prefetch(_ title: TitleReference, _ transforms: [Transform]) async -> PrefetchSummary {
        var summary = PrefetchSummary()
        var missing: [Transform] = []
        for transform in transforms {
            if await pipeline.cache.contains(ImageRequest(title, transform).key) {
                summary.skipped += 1
            } else {
                missing.append(transform)
            }
        }
        guard !missing.isEmpty else { return summary }
        do throws(PipelineError) {
            for answer in try await pipeline.images(of: title, as: missing) {
                // A visitor's request may have been quicker.
                guard !answer.isFromTier else {
                    summary.skipped += 1
                    continue
                }
                summary.made += 1
                summary.bytes += answer.size
            }
        } catch .cancelled {
            return summary
        } catch {
            summary.failures.append(.init(title: title.description, variants: missing.count, reason: error.reason))
        }
        return summary
    }
}

/// What a prefetch did.
package struct PrefetchSummary: Sendable, Equatable, Codable {
    /// A title that could not be prefetched.
    package struct Failure: Sendable, Equatable, Codable {
        package var title: String
        /// Variants that are missing for it.
        package var variants: Int
        package var reason: String
    }

    /// Variants asked for.
    package var total = 0
    package var made = 0
    /// Were there already.
    package var skipped = 0
    /// Bytes of the variants made.
    package var bytes = 0
    package var failures: [Failure] = []

    package init(total: Int = 0) { self.total = total }

    package var failed: Int { failures.reduce(0) { $0 + $1.variants } }
    package var done: Int { made + skipped + failed }

    mutating func add(_ other: Self) {
        made += other.made
        skipped += other.skipped
        bytes += other.bytes
        failures += other.failures
    }
}
