package import Logging
import NIOCore
import NIOPosix
package import OnesheetCore
package import OnesheetImaging

/// Reads and makes pictures in render processes. If a picture ends its process, only the requests for it fail.
package final class IsolatedRenderer: PictureEngine {
    /// The time for parsing a header, whose cost is not known, if no render may take less.
    private static let inspection = RenderProcess.Times(work: .seconds(2), whole: .milliseconds(4500))
    /// The limit of a render: its predicted processor time times `factor`, and at least `least`.
    private static let slack = (factor: 10.0, least: Duration.seconds(2))
    /// The most variants in one question. A question must fit into a message.
    private static let mostVariants = 64
    /// The bytes in which a file's format can be recognised.
    private static let longestBeginning = 1024
    /// The most bytes of a variant: for each pixel, and for profile and EXIF.
    private static let mostBytes = (pixel: 8, metadata: 8 << 20, all: 1 << 30)

    /// Predicts costs and recognises answers. It decodes nothing in this process.
    private let renderer: Renderer
    private let lost: LostProcesses
    private let pool: RenderProcessPool
    private let fatal: FatalOriginals
    private let limits: Limits
    private let deadline: Duration
    private let logger: Logger

    /// - Parameters:
    ///   - command: starts a process that calls `RenderProgram.runIfAsked`.
    ///   - renderer: the renderer that the processes will have.
    ///   - settings: the same for the processes.
    ///   - fatal: the originals that are not read again.
    ///   - lost: counts lost processes.
    package init(
        _ command: ProcessCommand, renderer: Renderer, settings: ProcessSettings, fatal: FatalOriginals, lost: LostProcesses,
        logger: Logger
    ) {
        self.renderer = renderer
        limits = settings.limits
        deadline = settings.deadline
        self.fatal = fatal
        self.lost = lost
        self.logger = logger
        pool = RenderProcessPool(command, settings, formats: renderer.readableFormats, logger: logger)
    }

    /// The memory that the processes of a server have beside their pictures.
    package static func ownMemory(_ limits: Limits) -> Int {
        (limits.workers + RenderProcessPool.besideWorkers) * ProcessBounds.ownMemory
    }

    package var formats: [ImageFormat] { renderer.formats }
    package var isReady: Bool { pool.isReady }
    package var processes: Int { pool.count }
    package var copiesFiles: Bool { true }

    package func outline(of file: PictureFile) throws(RenderError) -> PictureOutline {
        try ask(.outline, about: file, within: inspectionTimes) { _, answer throws(ProcessLoss) in
            guard case .outline(let outline) = answer else { throw .garbage }
            // The original may be served under this type.
            let (pixels, overflow) = outline.width.multipliedReportingOverflow(by: outline.height)
            guard !overflow, pixels <= limits.pixels, begins(file.bytes, as: outline.format) else { throw .garbage }
            return plausible(outline, of: file.bytes.readableBytes)
        }
    }

    /// Limits an outline to what a file of `count` bytes can contain, because the queue and the memory budget trust predictions from it.
    private func plausible(_ outline: PictureOutline, of count: Int) -> PictureOutline {
        var header = outline.header
        header.scans = min(header.scans, max(count, 1))
        return PictureOutline(header, profile: min(outline.profile, ImageHeader.largestProfile), count: count)
    }

    package func cost(of outline: PictureOutline, as transforms: [Transform]) throws(RenderError) -> RenderCost {
        bounded(try renderer.cost(of: outline, as: transforms))
    }

    package func costOfHash(of outline: PictureOutline) throws(RenderError) -> RenderCost {
        bounded(try renderer.costOfHash(of: outline))
    }

    /// Limits the predicted time to the deadline.
    private func bounded(_ cost: RenderCost) -> RenderCost {
        RenderCost(milliseconds: min(cost.milliseconds, deadline / .milliseconds(1)), bytes: cost.bytes)
    }

    package func render(
        _ file: PictureFile, as transforms: [Transform], predicted cost: RenderCost
    ) throws(RenderError) -> [RenderedImage] {
        var images: [RenderedImage] = []
        for part in Self.parts(transforms) {
            images += try ask(.render(part), about: file, within: times(cost)) { process, answer throws(ProcessLoss) in
                guard case .variants(let variants) = answer, variants.count == part.count, variants.allSatisfy(isAllowed)
                else { throw .garbage }
                let images = try process.images(variants)
                guard zip(images, part).allSatisfy(isSound) else { throw .garbage }
                return images
            }
        }
        return images
    }

    package func hash(of file: PictureFile, predicted cost: RenderCost) throws(RenderError) -> PerceptualHash {
        try ask(.hash, about: file, within: times(cost)) { _, answer throws(ProcessLoss) in
            guard case .hash(let hash) = answer else { throw .garbage }
            return hash
        }
    }

    package func warmUp() {
        NIOSingletons.posixBlockingThreadPool.submit { [pool] _ in pool.warmUp() }
    }

    package func shutdown() { pool.shutdown() }

    /// Whether the size, format and length of a variant are within the limits. Only then are its bytes read.
    private func isAllowed(_ variant: RenderedVariant) -> Bool {
        let (pixels, overflow) = variant.width.multipliedReportingOverflow(by: variant.height)
        return !overflow && pixels <= limits.outputPixels && formats.contains(variant.format)
            && variant.count <= min(pixels * Self.mostBytes.pixel + Self.mostBytes.metadata, Self.mostBytes.all)
    }

    /// Whether an image begins as its format does, which is the one that was asked for.
    private func isSound(_ image: RenderedImage, _ transform: Transform) -> Bool {
        (transform.format == nil || transform.format == image.format)
            && begins(image.body, as: image.format)
    }

    /// Whether `bytes` begin as a file of `format` does. Decoders see no more of them in this process.
    private func begins(_ bytes: ByteBuffer, as format: ImageFormat) -> Bool {
        guard let start = bytes.getSlice(at: bytes.readerIndex, length: min(bytes.readableBytes, Self.longestBeginning))
        else { return false }
        return renderer.decoders.contains { $0.format == format && $0.recognizes(start.readableBytesUInt8Span) }
    }

    /// The time on the clock lies between the deadline that the process itself keeps and the one of the thread that waits.
    private func times(_ cost: RenderCost) -> RenderProcess.Times {
        let predicted = Duration.milliseconds(min(cost.milliseconds * Self.slack.factor, 1e9))
        return RenderProcess.Times(work: min(max(predicted, Self.slack.least), deadline), whole: deadline + deadline / 20)
    }

    /// A process ends by these limits before the thread that waits for it gives up.
    private var inspectionTimes: RenderProcess.Times {
        let (usual, most) = (Self.inspection, deadline * 9 / 10)
        return RenderProcess.Times(work: min(usual.work, most), whole: min(usual.whole, most))
    }

    private static func parts(_ transforms: [Transform]) -> [[Transform]] {
        stride(from: 0, to: transforms.count, by: mostVariants).map { start in
            Array(transforms[start..<min(start + mostVariants, transforms.count)])
        }
    }

    /// Asks a process about a picture. If the process is lost, another one is asked: once, or a few times if it was killed from outside.
    /// - Parameter read: checks the answer, and takes its bytes from the process.
    private func ask<Outcome>(
        _ question: ProcessCall.Question, about file: PictureFile, within times: RenderProcess.Times,
        _ read: (RenderProcess, ProcessAnswer) throws(ProcessLoss) -> Outcome
    ) throws(RenderError) -> Outcome {
        let standing = fatal.standing(of: file.bytes)
        if case .fatal(let loss) = standing { throw .lost(loss) }
        var losses = 0
        while true {
            let isSuspect = standing == .suspect || losses > 0
            let place = try isSuspect ? pool.acquireNew() : pool.acquire()
            let outcome: Result<Outcome, RenderError>
            do throws(ProcessLoss) {
                outcome = try askOnce(place.process, question, about: file, within: times, reading: read)
            } catch {
                losses += 1
                try end(place, seen: error, of: file, losses: losses, within: times)
                continue
            }
            // A header that can be parsed says nothing about decoding.
            if isSuspect, question != .outline { fatal.clear(file.bytes) }
            pool.release(place)
            return try outcome.get()
        }
    }

    private func askOnce<Outcome>(
        _ process: RenderProcess, _ question: ProcessCall.Question, about file: PictureFile,
        within times: RenderProcess.Times, reading read: (RenderProcess, ProcessAnswer) throws(ProcessLoss) -> Outcome
    ) throws(ProcessLoss) -> Result<Outcome, RenderError> {
        guard process.holds(file.bytes) else {
            return .failure(.tooManyBytes(bytes: file.bytes.readableBytes, limit: limits.originBytes))
        }
        let answer = try process.answer(question, about: file, within: times)
        if case .failure(let error) = answer { return .failure(error) }
        return .success(try read(process, answer))
    }

    /// Ends, counts and logs a lost process.
    /// - Throws: the error of the request, unless another process is to be asked.
    private func end(
        _ place: RenderProcessPool.Place, seen: ProcessLoss, of file: PictureFile, losses: Int,
        within times: RenderProcess.Times
    ) throws(RenderError) {
        let loss = pool.discard(place, seen)
        lost.add(loss)
        // What a process says before it is asked is not the fault of this picture, unless it is its first.
        let mayBePictures = loss.mayBePictures && (place.questions == 0 || !place.process.isAhead)
        let isFatal = mayBePictures && fatal.add(file.bytes, loss, isProven: place.questions == 0)
        let failure: RenderError? =
            if isFatal {
                .lost(loss)
            } else if loss == .deadline || loss == .stalled {
                .tooSlow(after: times.work)
            } else {
                losses > (loss == .killed ? ProcessBounds.mostKills : 1) ? .lost(loss) : nil
            }
        let next =
            isFatal ? "the image is not read again for a day" : failure == nil ? "another process reads it" : "the request fails"
        logger.warning(
            "a render process was lost",
            metadata: [
                "reason": "\(loss.rawValue)", "origin": "\(shown(file.origin))", "bytes": "\(file.bytes.readableBytes)",
                "next": "\(next)",
            ])
        if let failure { throw failure }
    }
}
