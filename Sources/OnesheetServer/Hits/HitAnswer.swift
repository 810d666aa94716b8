import NIOCore
import OnesheetCache
import OnesheetCore

/// What a plain request is answered with.
enum HitAnswer {
    case head(ByteBuffer)
    case parts(ByteBuffer, HitBody)
    /// Head and body are in one file.
    case whole(ReadyFile)
}

/// What is sent after a head.
enum HitBody {
    case bytes(ByteBuffer)
    case file(ReadyFile)

    /// In bytes.
    var length: Int {
        switch self {
        case .bytes(let bytes): bytes.readableBytes
        case .file(let file): file.region.readableBytes
        }
    }

    /// `nil` where a file would have to be waited for.
    var bytes: ByteBuffer? {
        switch self {
        case .bytes(let bytes): bytes
        case .file(let file): file.read()
        }
    }
}
