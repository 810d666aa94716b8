import Dispatch
import NIOCore
import OnesheetCore
import OnesheetTesting
import Synchronization

/// Blocks threads until the test releases them, like foreign code that hangs. A thread waits for at most a minute.
final class ThreadDoor: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let count = Atomic(0)

    /// The number of arrivals.
    var arrived: Int { count.load(ordering: .acquiring) }

    func pass() {
        count.add(1, ordering: .acquiringAndReleasing)
        _ = semaphore.wait(timeout: .now() + 60)
        semaphore.signal()
    }

    /// Releases all present and future threads.
    func open() { semaphore.signal() }

    /// Waits for `number` arrivals. Only for arrivals that certainly happen.
    func hasBeenReached(by number: Int = 1) async { await waitWhile(arrived < number) }
}

/// A codec for files that begin with `HANG`. It hangs during parsing of the header or during decoding.
struct HangingCodec: Codec {
    enum Part: Sendable { case header, decoding }

    static let file = ByteBuffer(string: "HANG")
    let format = ImageFormat(name: "hang", mediaType: "image/hang", extensions: ["hang"], hasAlpha: false)

    let part: Part
    let door: ThreadDoor

    func recognizes(_ bytes: Span<UInt8>) -> Bool { bytes.count >= 4 && bytes[0] == 0x48 && bytes[1] == 0x41 }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader {
        if part == .header { door.pass() }
        return ImageHeader(format: format, width: 60, height: 90, model: .rgb)
    }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        if part == .decoding { door.pass() }
        throw .truncated
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        throw .unsupported("writing")
    }
}
