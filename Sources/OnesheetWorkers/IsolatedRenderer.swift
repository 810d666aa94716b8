import Dispatch
package import Logging
package import NIOCore
package import OnesheetCore
package import OnesheetImaging

/// Reads and makes pictures in processes that reach nothing: no files, no network, no other processes, none of the server's memory. A
/// picture that ends such a process costs itself.
package final class IsolatedRenderer: PictureEngine {
    /// The processor time of work whose cost is not known: parsing a header, predicting a cost.
    private static let inspection = WorkerProcess.Times(work: .seconds(2), whole: .seconds(5))
    /// The bounds of `deadline` for a render: so many times its prediction, and at least so long.
    private static let slack = (factor: 10.0, least: Duration.seconds(2))
    /// A question holds this many variants at most, so that it fits into a message.
    private static let mostVariants = 64
    /// A question survives this many processes that are killed from outside.
    private static let mostKills = 3

    package let formats: [ImageFormat]
    package let lost: LostWorkers
    private let recognizers: [any ImageDecoder]
    private let workers: WorkerProcesses
    private let fatal: FatalOriginals
    private let limits: Limits
    private let deadline: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - command: starts a process that calls `WorkerProgram.run`.
    ///   - renderer: the same renderer as the processes will have.
    ///   - fatal: the originals that are not read again.
    ///   - lost: counts lost processes.
    package init(
        _ command: WorkerCommand, _ renderer: Renderer, _ settings: WorkerSettings, fatal: FatalOriginals, lost: LostWorkers,
        logger: Logger
    ) {
        formats = renderer.formats
        recognizers = renderer.decoders
        (limits, deadline) = (settings.limits, settings.deadline)
        (self.fatal, self.lost, self.logger) = (fatal, lost, logger)
        workers = WorkerProcesses(command, settings, formats: renderer.readableFormats, logger: logger)
    }

    package var isReady: Bool { workers.isReady }
    package var processes: Int { workers.count }

    package func facts(of bytes: ByteBuffer, from origin: String) throws(RenderError) -> PictureFacts {
        try ask(.facts, bytes, origin, within: Self.inspection) { _, answer throws(WorkerLoss) in
            guard case .facts(let facts) = answer else { throw .garbage }
            return facts
        }
    }

    package func open(_ bytes: ByteBuffer, from origin: String) throws(RenderError) -> any OpenPicture {
        IsolatedPicture(engine: self, bytes: bytes, origin: origin)
    }

    package func warmUp() {
        DispatchQueue.global().async { [workers, limits] in workers.warmUp(limits.workers) }
    }

    package func shutdown() { workers.shutdown() }

    fileprivate func cost(_ transforms: [Transform], of bytes: ByteBuffer, _ origin: String) throws(RenderError) -> RenderCost {
        var sum = RenderCost(milliseconds: 0, bytes: 0)
        for part in Self.parts(transforms) {
            let cost = try askCost(.cost(part), bytes, origin)
            sum.milliseconds += cost.milliseconds
            sum.bytes = max(sum.bytes, cost.bytes)
        }
        return sum
    }

    fileprivate func costOfHash(_ bytes: ByteBuffer, _ origin: String) throws(RenderError) -> RenderCost {
        try askCost(.costOfHash, bytes, origin)
    }

    private func askCost(
        _ question: WorkerCall.Question, _ bytes: ByteBuffer, _ origin: String
    ) throws(RenderError) -> RenderCost {
        try ask(question, bytes, origin, within: Self.inspection) { _, answer throws(WorkerLoss) in
            guard case .cost(let cost) = answer else { throw .garbage }
            return cost
        }
    }

    fileprivate func render(
        _ transforms: [Transform], of bytes: ByteBuffer, _ origin: String, _ cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] {
        var images: [RenderedImage] = []
        for part in Self.parts(transforms) { images += try renderPart(part, bytes, origin, cost) }
        return images
    }

    private func renderPart(
        _ transforms: [Transform], _ bytes: ByteBuffer, _ origin: String, _ cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] {
        try ask(.render(transforms), bytes, origin, within: times(cost)) { process, answer throws(WorkerLoss) in
            guard case .variants(let variants) = answer, variants.count == transforms.count else { throw .garbage }
            let images = try process.images(variants)
            guard zip(images, transforms).allSatisfy(isSound) else { throw .garbage }
            return images
        }
    }

    /// Whether an image is one of its format, and not larger than allowed.
    private func isSound(_ image: RenderedImage, _ transform: Transform) -> Bool {
        let (pixels, overflow) = image.width.multipliedReportingOverflow(by: image.height)
        guard !overflow, pixels <= limits.outputPixels, formats.contains(image.format),
            transform.format == nil || transform.format == image.format
        else { return false }
        return recognizers.contains { $0.format == image.format && $0.recognizes(image.body.readableBytesUInt8Span) }
    }

    fileprivate func hash(_ bytes: ByteBuffer, _ origin: String, _ cost: RenderCost) throws(RenderError) -> PerceptualHash {
        try ask(.hash, bytes, origin, within: times(cost)) { _, answer throws(WorkerLoss) in
            guard case .hash(let hash) = answer else { throw .garbage }
            return hash
        }
    }

    private func times(_ cost: RenderCost) -> WorkerProcess.Times {
        let predicted = Duration.milliseconds(min(cost.milliseconds * Self.slack.factor, 1e9))
        // The process has the same deadline and answers that it has passed.
        return WorkerProcess.Times(work: min(max(predicted, Self.slack.least), deadline), whole: deadline + deadline / 20)
    }

    private static func parts(_ transforms: [Transform]) -> [[Transform]] {
        stride(from: 0, to: transforms.count, by: mostVariants).map { start in
            Array(transforms[start..<min(start + mostVariants, transforms.count)])
        }
    }

    /// Asks a process about a picture. If the process is lost, another one is asked: once, or a few times if it was killed from outside.
    /// - Parameter read: checks the answer, and takes its bytes from the process.
    private func ask<Outcome>(
        _ question: WorkerCall.Question, _ bytes: ByteBuffer, _ origin: String, within times: WorkerProcess.Times,
        _ read: (WorkerProcess, WorkerAnswer) throws(WorkerLoss) -> Outcome
    ) throws(RenderError) -> Outcome {
        if let loss = fatal.loss(of: bytes) { throw .lost(loss) }
        var losses = 0
        while true {
            let place = try workers.take()
            guard place.process.holds(bytes) else {
                workers.giveBack(place)
                throw .tooManyBytes(bytes: bytes.readableBytes, limit: limits.originBytes)
            }
            let outcome: Result<Result<Outcome, RenderError>, WorkerLoss>
            do throws(WorkerLoss) {
                let answer = try place.process.answer(question, about: bytes, within: times)
                if case .failure(let error) = answer {
                    outcome = .success(.failure(error))
                } else {
                    outcome = .success(.success(try read(place.process, answer)))
                }
            } catch {
                outcome = .failure(error)
            }
            switch outcome {
            case .success(let result):
                workers.giveBack(place)
                return try result.get()
            case .failure(let seen):
                let loss = workers.discard(place, seen)
                let isFatal = note(loss, bytes, origin)
                if loss == .deadline, !isFatal { throw .timedOut(after: times.work) }
                losses += 1
                if isFatal || losses > (loss == .killed ? Self.mostKills : 1) { throw .lost(loss) }
            }
        }
    }

    /// Counts and logs a lost process.
    /// - Returns: whether its picture is not to be read again.
    private func note(_ loss: WorkerLoss, _ bytes: ByteBuffer, _ origin: String) -> Bool {
        lost.add(loss)
        // A process that is killed from outside says nothing about the picture.
        let isFatal = loss == .killed ? false : fatal.add(bytes, loss)
        logger.warning(
            "a render process was lost",
            metadata: [
                "reason": "\(loss.rawValue)", "origin": "\(shown(origin))", "bytes": "\(bytes.readableBytes)",
                "next": isFatal ? "the image is not tried again for a day" : "the image is tried once more",
            ])
        return isFatal
    }
}

/// A picture that processes look at.
private struct IsolatedPicture: OpenPicture {
    let engine: IsolatedRenderer
    let bytes: ByteBuffer
    let origin: String

    func cost(as transforms: [Transform]) throws(RenderError) -> RenderCost { try engine.cost(transforms, of: bytes, origin) }

    func render(as transforms: [Transform], predicted cost: RenderCost) throws(RenderError) -> [RenderedImage] {
        try engine.render(transforms, of: bytes, origin, cost)
    }

    func costOfHash() throws(RenderError) -> RenderCost { try engine.costOfHash(bytes, origin) }

    func hash(predicted cost: RenderCost) throws(RenderError) -> PerceptualHash { try engine.hash(bytes, origin, cost) }
}
