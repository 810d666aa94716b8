import CLinux
import NIOCore
import OnesheetCore
import OnesheetImaging
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// A render process, as the server sees it. One thread uses it at a time.
///
/// Questions and answers are messages on a socket. The picture is in a file in memory that the process can only read. The bytes of an
/// answer are in another such file. The server copies a checked length of it and maps nothing, so later changes have no effect.
final class RenderProcess: Sendable {
    /// The time for one question.
    struct Times {
        /// The most processor time.
        var work: Duration
        /// The most time on the clock.
        var whole: Duration
    }

    /// An input or output that is larger is given back after its question.
    private static let keptBytes = 4 << 20
    /// The milliseconds between the end of the connection and the end of its process, which gives its memory back first.
    private static let patience: Int32 = 1000

    private let process: ccage_process
    private let formats: [ImageFormat]
    /// Bytes of the largest picture.
    private let capacity: Int
    /// The validator of the picture in the input; `nil` if there is none.
    private let present = Mutex<String?>(nil)
    private let wasAhead = Atomic(false)

    /// Starts a process, which gets its settings and locks itself in.
    /// - Parameters:
    ///   - program: the executable and its arguments, which `starter` starts.
    ///   - formats: the formats that an answer may name.
    /// - Throws: `ProcessStartError`.
    init(
        _ program: ProcessCommand, _ settings: ProcessSettings, startedBy starter: ProcessStarter, formats: [ImageFormat],
        within time: Duration
    ) throws(ProcessStartError) {
        self.formats = formats
        capacity = settings.inputCapacity
        process = try starter.start(program)
        var message = ByteBuffer()
        message.write(settings)
        do throws(ProcessLoss) {
            if let watermark = settings.watermark { try put(ByteBuffer(bytes: watermark.pixels)) }
            try send(message)
            guard case .ready = try receive(ProcessReply.start, Times(work: time, whole: time)) else { throw .garbage }
        } catch {
            let (loss, status) = Self.end(process, error)
            throw .ended(loss, status: status)
        }
    }

    /// The processor time of its life.
    var processorTime: Duration { .nanoseconds(Int64(clamping: ccage_processor_time(process.id))) }

    /// Whether its last message did not answer the question that it got. An earlier picture has taken it over.
    var isAhead: Bool { wasAhead.load(ordering: .relaxed) }

    /// Whether an idle process has ended, or has sent a message without a question.
    var isUnusable: Bool {
        var events = pollfd(fd: process.socket, events: Int16(POLLIN), revents: 0)
        return poll(&events, 1, 0) > 0
    }

    /// Whether the process still has its end of the socket open. If so, a read of 0 bytes is an empty message and not the end.
    private var isConnected: Bool {
        var events = pollfd(fd: process.socket, events: 0, revents: 0)
        return poll(&events, 1, 0) == 0
    }

    /// A picture that was the last one is not sent again.
    /// - Throws: how the loss of the process showed. The caller must end it.
    func answer(
        _ question: ProcessCall.Question, about file: PictureFile, within times: Times
    ) throws(ProcessLoss) -> ProcessAnswer {
        let (count, validator) = (file.bytes.readableBytes, file.validator)
        let isSame = present.withLock { $0 == validator }
        let call = ProcessCall(question, count: count, isSame: isSame)
        var message = ByteBuffer()
        message.write(call)
        let isKept = count <= Self.keptBytes
        if !isSame {
            present.withLock { $0 = isKept ? validator : nil }
            try put(file.bytes)
        }
        defer { if !isKept { ftruncate(process.input, 0) } }
        try send(message)
        return try receive(call.number, times)
    }

    /// The bytes of `variants`, in order, from the output.
    func images(_ variants: [RenderedVariant]) throws(ProcessLoss) -> [RenderedImage] {
        var images: [RenderedImage] = []
        var place = 0
        for variant in variants {
            guard let body = bytes(variant.count, at: place) else { throw .garbage }
            images.append(variant.image(body))
            place += variant.count
        }
        if place > Self.keptBytes { ftruncate(process.output, 0) }
        return images
    }

    /// Kills the process, which is idle.
    func end() { _ = ccage_end(process, 0) }

    /// Ends the process, which is lost.
    /// - Parameter seen: how the loss showed.
    /// - Returns: the reason.
    func end(_ seen: ProcessLoss) -> ProcessLoss { Self.end(process, seen).loss }

    private static func end(_ process: ccage_process, _ seen: ProcessLoss) -> (loss: ProcessLoss, status: Int32) {
        guard seen == .crash else { return (seen, ccage_end(process, 0)) }
        let status = ccage_end(process, patience)
        // It lives and has closed the connection.
        if status < 0 { return (.garbage, status) }
        let signal = status & 0x7f
        if signal == 0 { return (status >> 8 & 0xff == CCAGE_OUT_OF_MEMORY ? .memory : .crash, status) }
        if signal == SIGSYS { return (.forbidden, status) }
        return (signal == SIGKILL ? .killed : .crash, status)
    }

    /// Whether a picture fits into the input.
    func holds(_ picture: ByteBuffer) -> Bool { picture.readableBytes <= capacity }

    private func put(_ picture: ByteBuffer) throws(ProcessLoss) {
        let whole = picture.withUnsafeReadableBytes { bytes in
            var done = 0
            while done < bytes.count {
                let part = min(bytes.count - done, FileCall.longest)
                let written = pwrite(process.input, bytes.baseAddress.map { $0 + done }, part, off_t(done))
                if written < 0 && errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
        // The system has no memory for the bytes, which is not the picture's fault.
        guard whole else { throw .killed }
    }

    /// The part of the output; `nil` if it is shorter.
    private func bytes(_ count: Int, at place: Int) -> ByteBuffer? {
        var size = stat()
        guard fstat(process.output, &size) == 0, place <= Int(size.st_size), count <= Int(size.st_size) - place else { return nil }
        var bytes = ByteBufferAllocator().buffer(capacity: count)
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { room in
            var done = 0
            while done < count {
                let part = min(count - done, FileCall.longest)
                let got = pread(process.output, room.baseAddress.map { $0 + done }, part, off_t(place + done))
                if got < 0 && errno == EINTR { continue }
                guard got > 0 else { break }
                done += got
            }
            return done
        }
        return bytes.readableBytes == count ? bytes : nil
    }

    private func send(_ message: ByteBuffer) throws(ProcessLoss) {
        let sent = message.withUnsafeReadableBytes { bytes in
            while true {
                // A process that reads nothing must not hold this thread.
                let sent = Glibc.send(
                    process.socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
                if sent >= 0 || errno != EINTR { return sent }
            }
        }
        guard sent == message.readableBytes else { throw errno == EAGAIN ? .garbage : .crash }
    }

    /// Waits for the answer to the question with this number. A process that waits for a processor is not killed for it.
    private func receive(_ number: UInt64, _ times: Times) throws(ProcessLoss) -> ProcessAnswer {
        let clock = ContinuousClock()
        let (end, worked) = (clock.now + times.whole, processorTime)
        var wait = min(times.work, times.whole)
        while true {
            var events = pollfd(fd: process.socket, events: Int16(POLLIN), revents: 0)
            let ready = poll(&events, 1, Int32(clamping: max(Int(wait / .milliseconds(1)), 1)))
            if ready > 0 { break }
            if ready < 0 && errno != EINTR { throw .crash }
            guard processorTime - worked < times.work else { throw .deadline }
            guard clock.now < end else { throw .stalled }
            wait = min(max(times.work - (processorTime - worked), .milliseconds(50)), end - clock.now)
        }
        var message = ByteBufferAllocator().buffer(capacity: ProcessBounds.longestMessage)
        var isWhole = true
        message.writeWithUnsafeMutableBytes(minimumWritableBytes: ProcessBounds.longestMessage) { room in
            // With this flag it returns the length of the message, also if that is more than the room.
            var count = 0
            repeat {
                count = recv(process.socket, room.baseAddress, room.count, Int32(MSG_TRUNC))
            } while count < 0 && errno == EINTR
            isWhole = count <= room.count
            return isWhole ? max(count, 0) : 0
        }
        guard isWhole else { throw .garbage }
        guard message.readableBytes > 0 else { throw isConnected ? .garbage : .crash }
        let reply: ProcessReply
        do throws(WireError) { reply = try WireReader.read(from: message, formats: formats) } catch { throw .garbage }
        guard reply.number == number else {
            wasAhead.store(true, ordering: .relaxed)
            throw .garbage
        }
        return reply.answer
    }
}

/// A render process cannot be started.
enum ProcessStartError: Error, CustomStringConvertible {
    case system(String, Int32)
    case ended(ProcessLoss, status: Int32)

    var description: String {
        switch self {
        case .system(let what, let error): "\(what): \(String(cString: strerror(error)))"
        case .ended(_, let status) where status == CCAGE_NOT_LOCKED_IN << 8:
            "the system refuses to lock it in; it needs seccomp filters (a container's own profile may forbid them)"
        case .ended(_, let status) where status == CCAGE_NO_CODEC << 8: "a codec cannot be created there"
        case .ended(let loss, let status): "it ended before it was ready (\(loss.rawValue), status \(status))"
        }
    }
}
