import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging
import Synchronization

/// Parses the headers of originals, and remembers the last ones, so that another variant of a known original needs no second look. Remembers
/// their perceptual hashes, too, once something needs them.
///
/// A purge forgets all of them, also if another server or process began it, because every purge raises the generation of memory.
package final class PictureOutlines: Sendable {
    private struct Known {
        let outline: PictureOutline
        /// The generation of memory before the look.
        let generation: Int
        var hash: PerceptualHash?
    }

    /// Half of the most outlines. An outline has about 300 bytes.
    private static let count = 2048

    private let engine: any PictureEngine
    private let pool: RenderPool
    private let memory: MemoryTier
    private let known = Mutex(SegmentedCache<String, Known>(count: PictureOutlines.count))

    /// - Parameter memory: the memory tier, whose generation every purge raises.
    init(engine: any PictureEngine, pool: RenderPool, memory: MemoryTier) {
        self.engine = engine
        self.pool = pool
        self.memory = memory
    }

    /// Predicts the cost of work on a file by its outline, and does the work on a render thread.
    ///
    /// If it fails, the outline is forgotten. A picture that has taken a process over may have answered anything about the next ones, and a
    /// wrong prediction must not last.
    func run<Value: Sendable>(
        on file: PictureFile, predicting predict: (PictureOutline) throws(RenderError) -> RenderCost,
        _ job: @escaping @Sendable (RenderCost) throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let outline = try await outline(of: file)
        do throws(Failure) {
            let cost: RenderCost
            do throws(RenderError) { cost = try predict(outline) } catch { throw .render(error) }
            return try await pool.run(cost: cost) { () throws(Failure) in
                try self.countingCopy(of: file) { () throws(Failure) in try job(cost) }
            }
        } catch {
            if !error.traits.contains(.keepsOutline) { known.withLock { $0.remove(file.validator) } }
            throw error
        }
    }

    /// Parses the header on a thread for it, unless the file is known.
    func outline(of file: PictureFile) async throws(Failure) -> PictureOutline {
        if let known = knownOutline(of: file) { return known }
        return try await pool.examine { () throws(Failure) in try self.look(at: file) }
    }

    /// Parses the header on the calling thread, unless the file is known.
    func look(at file: PictureFile) throws(Failure) -> PictureOutline {
        if let known = knownOutline(of: file) { return known }
        let generation = memory.generation
        do throws(RenderError) {
            let outline = try countingCopy(of: file) { () throws(RenderError) in try engine.outline(of: file) }
            known.withLock { $0.set(Known(outline: outline, generation: generation), for: file.validator) }
            return outline
        } catch {
            throw .render(error)
        }
    }

    /// Counts the engine's copy of `file` towards the memory budget during `work`. It is never refused: the original has room already, and
    /// would otherwise need twice as much.
    private func countingCopy<Value, Failure>(
        of file: PictureFile, _ work: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        guard engine.copiesFiles else { return try work() }
        let copy = pool.memory.charge(file.bytes.readableBytes)
        defer { copy.giveBack() }
        return try work()
    }

    /// The hash of the file with this validator, if it is known.
    func hash(of validator: String) -> PerceptualHash? { current(validator)?.hash }

    /// Remembers the hash of a file whose outline is known.
    func note(_ hash: PerceptualHash, of validator: String) {
        known.withLock { known in
            guard var found = known.value(for: validator) else { return }
            found.hash = hash
            known.set(found, for: validator)
        }
    }

    private func knownOutline(of file: PictureFile) -> PictureOutline? { current(file.validator)?.outline }

    private func current(_ validator: String) -> Known? {
        let found = known.withLock { $0.value(for: validator) }
        return found?.generation == memory.generation ? found : nil
    }
}

extension PictureFile {
    /// The bytes of an original.
    init(_ entry: CacheEntry) {
        self.init(bytes: entry.body, validator: entry.validator, origin: entry.provenance.location ?? "")
    }
}
