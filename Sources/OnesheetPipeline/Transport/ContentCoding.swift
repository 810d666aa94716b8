import NIOCore
import NIOHTTP1
import NIOPosix
import OnesheetCore
import OnesheetTransport

/// Decodes a body with a content coding that was not asked for (RFC 9110 §8.4), within the limits: a small body that unpacks to a
/// large one counts as large.
enum ContentCoding {
    /// The codings that IANA registers and this server does not undo. Names beyond them say nothing about the body: servers write
    /// `none`, `UTF-8`, `binary` or `aws-chunked` there, and browsers ignore them.
    private static let unsupported: Set = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "exi", "pack200-gzip", "x-compress", "zstd",
    ]
    /// The most codings of one body. curl allows as many.
    private static let most = 5

    /// The response without its content codings; unchanged if it has none.
    /// - Throws: `ExchangeFailure` if a coding is not supported, the body is damaged or too large, or there is no memory.
    static func undone(
        _ reply: OriginReply, limit: Int, budget: MemoryBudget, on threads: NIOThreadPool
    ) async throws(ExchangeFailure) -> OriginReply {
        let codings = reply.headers[canonicalForm: "content-encoding"].map { $0.lowercased() }
            .filter { unsupported.contains($0) || Inflater.Format(coding: $0) != nil }
        guard !codings.isEmpty, reply.body.readableBytes > 0 else { return reply }
        guard codings.count <= most else { throw ExchangeFailure(.unusable("it has more than \(most) content codings"), .answered) }
        var reply = reply
        // The last one was applied last.
        for coding in codings.reversed() {
            guard let format = Inflater.Format(coding: coding) else {
                throw ExchangeFailure(.unusable("it has the content coding “\(coding)”, which was not asked for"), .answered)
            }
            reply = try await undone(reply, coding, format, limit: limit, budget: budget, on: threads)
        }
        return reply
    }

    /// The response without its last content coding.
    private static func undone(
        _ reply: OriginReply, _ coding: String, _ format: Inflater.Format, limit: Int, budget: MemoryBudget,
        on threads: NIOThreadPool
    ) async throws(ExchangeFailure) -> OriginReply {
        let body = reply.body
        // Some servers claim gzip for every response. A body without gzip's magic bytes (RFC 1952 §2.3.1) is taken as it is.
        if format == .gzip, !body.readableBytesView.starts(with: [0x1F, 0x8B]) { return reply }
        let outcome: Result<BodyCollector, Inflater.Failure>
        do {
            outcome = try await threads.runIfActive { () -> Result<BodyCollector, Inflater.Failure> in
                ThreadPriority.work.apply()
                do throws(Inflater.Failure) {
                    return .success(try Inflater.inflate(body, format, limit: limit, budget: budget))
                } catch {
                    return .failure(error)
                }
            }
        } catch {
            throw ExchangeFailure(.unusable("the server is shutting down"), .answered)
        }
        switch outcome {
        case .success(let plain):
            var headers = reply.headers
            for name in ["content-encoding", "content-length"] { headers.remove(name: name) }
            return OriginReply(
                status: reply.status, headers: headers, body: plain.bytes, memory: plain.memory, isLast: reply.isLast)
        case .failure(.tooLarge): throw ExchangeFailure(.tooLarge(limit), .answered)
        case .failure(.noMemory): throw ExchangeFailure(.noMemory, .answered)
        case .failure(.damaged): throw ExchangeFailure(.unusable("its \(coding) coding is damaged"), .answered)
        }
    }
}
