import NIOCore
import OnesheetCache
import OnesheetCore
import OnesheetImaging

/// Makes variants of originals: renews a stale one of the same bytes, takes an original that needs no change, and renders the others.
struct Variants: Sendable {
    let engine: any PictureEngine
    let pool: RenderPool
    let originals: Originals
    let facts: PosterFactsStorage
    let metrics: PipelineMetrics
    let clock: WallClock

    /// A variant, its provenance, and its memory until it is stored and sent.
    struct Variant: Sendable {
        let request: ImageRequest
        let entry: CacheEntry
        let origin: AnswerOrigin
        let reservation: MemoryReservation?

        func renewed(by original: Original) -> Variant {
            Variant(request: request, entry: entry.renewed(by: original), origin: origin, reservation: reservation)
        }
    }

    /// The variants of `original` that `fill` asks for. Omits those that another flight renders. An original that cannot be rendered is
    /// dropped.
    /// - Parameter isNew: whether the origin has just been asked for the original.
    func variants(for fill: Fill, of original: Original, isNew: Bool) async throws(Failure) -> [Variant] {
        var variants: [Variant] = []
        var requests: [ImageRequest] = []
        for miss in fill.misses {
            let request = miss.request
            if let stale = miss.stale, original.isOriginal(of: stale) {
                let origin: AnswerOrigin = original.standsIn ? .staleOnError : .revalidated
                variants.append(Variant(request: request, entry: stale.renewed(by: original), origin: origin, reservation: nil))
            } else if request.transform.isIdentity(for: original.entry.mediaType) {
                if original.entry.isDrawing { try Self.check(original.entry.body.readableBytes, request.transform) }
                let entry = original.entry.renewed(by: original)
                variants.append(Variant(request: request, entry: entry, origin: .made, reservation: nil))
            } else {
                requests.append(request)
            }
        }
        guard let request = requests.first else { return variants }
        for request in requests { try originals.failures.check(request.key, at: fill.generation) }
        let rendered: [Variant]
        do throws(Failure) {
            rendered = try await render(requests, of: original, for: fill)
        } catch {
            if error.traits.contains(.dropsOriginal) {
                await originals.drop(request, error, at: fill.generation)
            } else if requests.count == 1 {
                // Of several variants, any may be the reason.
                originals.failures.remember(error, of: request.key, at: fill.generation)
            }
            throw error
        }
        metrics.add(\.renders, rendered.count)
        if request.candidate == nil, let whole = rendered.first(where: { $0.request.transform.showsWhole }) {
            await facts.note(whole.entry, of: original, isNew: isNew, for: fill)
        }
        return variants + rendered
    }

    /// - Throws: if a drawing has more bytes than `transform` allows. Its pixels are those of the screen.
    private static func check(_ bytes: Int, _ transform: Transform) throws(Failure) {
        let limit = transform.maxSourceBytes
        if limit > 0, bytes > limit { throw .render(.tooManyBytes(bytes: bytes, limit: limit)) }
    }

    /// Renders on a worker thread, with one decode for all `requests` that no other flight has begun.
    private func render(
        _ requests: [ImageRequest], of original: Original, for fill: Fill
    ) async throws(Failure) -> [Variant] {
        let (engine, memory, clock, lifetime) = (engine, pool.memory, clock, originals.lifetime)
        let (flights, generation) = (fill.flights, fill.generation)
        let file = PictureFile(original.entry)
        // The job may outlive this call, so it captures the bytes, and neither the original with its reservation nor stale variants.
        let rendered = try await originals.outlines.run(
            on: file,
            predicting: { outline throws(RenderError) in try engine.cost(of: outline, as: requests.map(\.transform)) }
        ) { cost throws(Failure) -> [Variant] in
            let claimed = flights.begin()
            let requests = requests.filter { claimed.contains(FlightKey($0.key, at: generation)) }
            guard !requests.isEmpty else { return [] }
            let images: [RenderedImage]
            do throws(RenderError) {
                images = try engine.render(file, as: requests.map(\.transform), predicted: cost)
            } catch {
                throw .render(error)
            }
            // The predicted cost, so that what a cache keeps does not depend on how busy this machine was.
            let milliseconds = cost.milliseconds / Double(images.count)
            return zip(requests, images).map { request, image in
                // The hash of the validator is computed here too.
                let entry = CacheEntry(image, of: request.image, created: clock, lives: lifetime, cost: milliseconds)
                // Counted before the memory of the pixels is released. The bytes already exist and cannot be refused.
                let reservation = memory.charge(entry.body.readableBytes)
                return Variant(request: request, entry: entry, origin: .made, reservation: reservation)
            }
        }
        return rendered.map { $0.renewed(by: original) }
    }
}
