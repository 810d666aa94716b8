import CLinux
import NIOCore
package import OnesheetCore
package import OnesheetImaging
import Synchronization

#if canImport(Glibc)
    import Glibc
#endif

/// The program of a render process. It reads questions until its server closes the connection.
package enum RenderProgram {
    /// The argument with which a server starts itself as a render process.
    private static let argument = "render-process"

    private static let isAvailable = Atomic(false)

    /// Starts this program as a render process; `nil` if its `main` does not call `runIfAsked`, as a test's, or outside of Linux.
    package static var command: ProcessCommand? {
        #if os(Linux)
            // The running program, also if its file has been replaced meanwhile.
            isAvailable.load(ordering: .relaxed)
                ? ProcessCommand(path: "/proc/self/exe", name: CommandLine.arguments[0], arguments: [argument]) : nil
        #else
            nil
        #endif
    }

    /// Becomes a render process if the arguments of this program say so, and does not return then.
    /// - Parameter codecs: creates the codecs from their own keys.
    package static func runIfAsked(_ codecs: (Limits, [String: ConfigurationValue]) throws -> CodecSet) {
        isAvailable.store(true, ordering: .relaxed)
        // Nothing that the server starts needs set-user-ID.
        ccage_forgo_privileges()
        guard Array(CommandLine.arguments.dropFirst()) == [argument] else { return }
        var type: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(CCAGE_SOCKET, SOL_SOCKET, SO_TYPE, &type, &length) == 0 else {
            // A person has typed it. There is no such command, and the command line says so.
            return
        }
        run(codecs)
    }

    private static func run(_ codecs: (Limits, [String: ConfigurationValue]) throws -> CodecSet) -> Never {
        // Threads that send responses run first, whatever priority the server has.
        _ = nice(ThreadPriority.work.rawValue)
        cmemory_keep_small_blocks()
        let messages = ServerSocket()
        do {
            guard let message = messages.receive() else { exit(0) }
            var settings: ProcessSettings = try WireReader.read(from: message, formats: [])
            let input = PictureInput(capacity: settings.inputCapacity)
            settings.readWatermark(from: input)
            let renderer = settings.renderer(try codecs(settings.limits, settings.codecs))
            // Load lazily initialised library state before entering the sandbox.
            renderer.exercise()
            var limits = ccage_limits()
            limits.memory = UInt64(settings.limits.memory + ProcessBounds.roomForLibraries)
            limits.output = UInt64(settings.limits.memory)
            limits.seconds = UInt64(ProcessBounds.seconds)
            let error = ccage_enter(&limits)
            guard error == 0 else { exit(CCAGE_NOT_LOCKED_IN) }
            guard messages.send(ProcessReply(to: ProcessReply.start, .ready)) else { exit(0) }
            serve(messages, input: input, renderer: renderer)
        } catch {
            exit(CCAGE_NO_CODEC)
        }
    }

    private static func serve(_ messages: ServerSocket, input: PictureInput, renderer: Renderer) -> Never {
        var file: RecognizedFile?
        while let message = messages.receive() {
            guard let call = try? WireReader.read(ProcessCall.self, from: message, formats: renderer.readableFormats) else {
                exit(CCAGE_BAD_MESSAGE)
            }
            if !call.isSame { file = nil }
            let answer = answer(call, input: input, renderer: renderer, recognized: &file)
            guard messages.send(ProcessReply(to: call.number, answer)) else { break }
        }
        exit(0)
    }

    /// - Parameter recognized: the known facts of the picture in the input.
    private static func answer(
        _ call: ProcessCall, input: PictureInput, renderer: Renderer, recognized: inout RecognizedFile?
    ) -> ProcessAnswer {
        do throws(RenderError) {
            return try input.with(count: call.count) { bytes throws(RenderError) in
                let file: RecognizedFile
                if let recognized { file = recognized } else { file = try renderer.recognize(bytes) }
                recognized = file
                switch call.question {
                case .outline: return .outline(file.outline)
                case .hash: return .hash(try renderer.hash(of: bytes, file))
                case .render(let transforms):
                    let images = try renderer.render(bytes, file, as: transforms)
                    guard write(images.map(\.body)) else { throw .codec(.outOfMemory, file.header.format) }
                    return .variants(images.map(RenderedVariant.init))
                }
            }
        } catch {
            return .failure(error)
        }
    }

    /// Writes `bodies` to the output, one after the other.
    private static func write(_ bodies: [ByteBuffer]) -> Bool {
        var place = 0
        for body in bodies {
            let isWritten = body.withUnsafeReadableBytes { bytes in
                var done = 0
                while done < bytes.count {
                    let part = min(bytes.count - done, FileCall.longest)
                    let written = pwrite(CCAGE_OUTPUT, bytes.baseAddress.map { $0 + done }, part, off_t(place + done))
                    guard written > 0 else { return false }
                    done += written
                }
                return true
            }
            guard isWritten else { return false }
            place += body.readableBytes
        }
        return true
    }
}

/// The connection to the server.
private struct ServerSocket {
    /// - Returns: `nil` when the server has closed it.
    func receive() -> ByteBuffer? {
        var message = ByteBufferAllocator().buffer(capacity: ProcessBounds.longestMessage)
        let count = message.writeWithUnsafeMutableBytes(minimumWritableBytes: ProcessBounds.longestMessage) { room in
            while true {
                let count = recv(CCAGE_SOCKET, room.baseAddress, room.count, 0)
                if count >= 0 || errno != EINTR { return max(count, 0) }
            }
        }
        return count > 0 ? message : nil
    }

    func send(_ reply: ProcessReply) -> Bool {
        var message = ByteBuffer()
        message.write(reply)
        return message.withUnsafeReadableBytes { bytes in
            Glibc.send(CCAGE_SOCKET, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }
}

/// The picture that a question is about.
private struct PictureInput {
    private let start: UnsafeMutableRawPointer?
    private let capacity: Int

    /// - Parameter capacity: the most bytes. The server makes the file as long as a picture needs.
    init(capacity: Int) {
        self.capacity = capacity
        let start = mmap(nil, max(capacity, 1), PROT_READ, MAP_SHARED, CCAGE_INPUT, 0)
        self.start = start == MAP_FAILED ? nil : start
    }

    func with<Outcome>(
        count: Int, _ body: (Span<UInt8>) throws(RenderError) -> Outcome
    ) throws(RenderError) -> Outcome {
        guard let start, count >= 0, count <= capacity else { exit(CCAGE_BAD_MESSAGE) }
        let bytes = UnsafeRawBufferPointer(start: start, count: count).assumingMemoryBound(to: UInt8.self)
        return try body(bytes.span)
    }
}

extension ProcessSettings {
    /// Takes the pixels of the watermark from the input.
    fileprivate mutating func readWatermark(from input: PictureInput) {
        guard let empty = watermark else { return }
        let (count, overflow) = empty.width.multipliedReportingOverflow(by: empty.height * 4)
        guard !overflow, count > 0, count <= WatermarkImage.mostPixels * 4 else { exit(CCAGE_BAD_MESSAGE) }
        let pixels = try? input.with(count: count) { bytes throws(RenderError) in bytes.withUnsafeBufferPointer { Array($0) } }
        watermark = WatermarkImage(
            width: empty.width, height: empty.height, pixels: pixels ?? [], opacity: empty.opacity, digest: empty.digest)
    }
}
