import CZlib
import NIOCore
import OnesheetCore
import OnesheetTransport

/// Decompresses deflate data with zlib.
enum Inflater {
    enum Format {
        /// RFC 1952, with one or more members.
        case gzip
        /// RFC 1950, or raw RFC 1951 without the wrapper, as some servers send it (RFC 9110 §8.4.1.2).
        case deflate

        /// The format of a content coding, whose name is in lower case.
        init?(coding: String) {
            switch coding {
            case "gzip", "x-gzip": self = .gzip
            case "deflate": self = .deflate
            default: return nil
            }
        }
    }

    enum Failure: Error {
        case damaged, tooLarge, noMemory
    }

    /// The most members of one body. More would cost unbounded work without output.
    private static let members = 100
    private static let piece = 64 << 10

    /// The decompressed bytes. Ignores bytes after the last member, as other decoders do.
    static func inflate(
        _ packed: ByteBuffer, _ format: Format, limit: Int, budget: MemoryBudget
    ) throws(Failure) -> BodyCollector {
        guard let memory = budget.reserve(0) else { throw .noMemory }
        var collector: BodyCollector
        do throws(BodyCollector.Refusal) {
            collector = try BodyCollector(announced: nil, limit: limit, memory: memory)
        } catch {
            throw Failure(error)
        }
        // zlib's window and tables, in addition to the pieces.
        guard let tables = budget.reserve(128 << 10) else { throw .noMemory }
        defer { withExtendedLifetime(tables) {} }
        var stream = z_stream()
        guard czlib_inflate_begin(&stream, windowBits(packed, format)) == Z_OK else { throw .noMemory }
        defer { inflateEnd(&stream) }
        var input: [UInt8] = []
        var rest = packed
        var output = [UInt8](repeating: 0, count: piece)
        var members = 0
        // After a full output buffer, inflating may continue without more input.
        var isFull = false
        while true {
            if input.isEmpty, !isFull {
                guard let next = rest.readBytes(length: min(piece, rest.readableBytes)), !next.isEmpty else { throw .damaged }
                input = next
            }
            let (status, used, made) = step(&stream, from: input, into: &output)
            input.removeFirst(used)
            isFull = made == piece
            if made > 0 {
                do throws(BodyCollector.Refusal) {
                    try collector.add(ByteBuffer(bytes: output[..<made]))
                } catch {
                    throw Failure(error)
                }
            }
            switch status {
            case Z_STREAM_END:
                members += 1
                let follows = input.prefix(2) + (rest.getBytes(at: rest.readerIndex, length: min(2, rest.readableBytes)) ?? [])
                guard format == .gzip, follows.prefix(2) == [0x1F, 0x8B] else { return collector }
                guard members < Self.members, inflateReset(&stream) == Z_OK else { throw .damaged }
            case Z_OK: break
            case Z_BUF_ERROR where input.isEmpty: break
            default: throw .damaged
            }
        }
    }

    private static func step(_ stream: inout z_stream, from input: [UInt8], into output: inout [UInt8]) -> (CInt, Int, Int) {
        var source = input
        return source.withUnsafeMutableBufferPointer { source in
            output.withUnsafeMutableBufferPointer { target in
                (stream.next_in, stream.avail_in) = (source.baseAddress, UInt32(source.count))
                (stream.next_out, stream.avail_out) = (target.baseAddress, UInt32(target.count))
                let status = zlibInflate(&stream)
                return (status, source.count - Int(stream.avail_in), target.count - Int(stream.avail_out))
            }
        }
    }

    private static func zlibInflate(_ stream: inout z_stream) -> CInt { CZlib.inflate(&stream, Z_NO_FLUSH) }

    /// The parameter that selects the format in zlib (zlib.h, inflateInit2).
    private static func windowBits(_ packed: ByteBuffer, _ format: Format) -> CInt {
        guard format == .deflate else { return 15 + 16 }
        guard let head = packed.getInteger(at: packed.readerIndex, as: UInt16.self) else { return 15 }
        return head & 0x0F00 == 0x0800 && head % 31 == 0 ? 15 : -15
    }
}

extension Inflater.Failure {
    fileprivate init(_ refusal: BodyCollector.Refusal) {
        switch refusal {
        case .tooLarge: self = .tooLarge
        case .noMemory: self = .noMemory
        }
    }
}
