import NIOCore
import NIOHTTP1
import NIOPosix
import OnesheetCore

/// Decodes a body with a content coding that was not asked for (RFC 9110 §8.4), within the limits: a small body that unpacks to a
/// large one counts as large.
enum ContentCoding {
    /// The response without its content coding; unchanged if it has none.
    /// - Throws: `ExchangeFailure` if the coding is not supported, the body is damaged or too large, or there is no memory.
    static func undone(
        _ reply: OriginReply, limit: Int, budget: MemoryBudget, on threads: NIOThreadPool
    ) async throws(ExchangeFailure) -> OriginReply {
        let codings = reply.headers[canonicalForm: "content-encoding"].map { $0.lowercased() }
            .filter { $0 != "identity" && !$0.isEmpty }
        guard let coding = codings.first, reply.body.readableBytes > 0 else { return reply }
        guard codings.count == 1, let format = Inflater.Format(coding: coding) else {
            let name = String(
                decoding: codings.joined(separator: ",").utf8.filter { (0x21..<0x7F).contains($0) }.prefix(20), as: UTF8.self)
            throw ExchangeFailure(.unusable("it has the content coding “\(name)”, which was not asked for"), .answered)
        }
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
                status: reply.status, headers: headers, body: plain.bytes, reservation: plain.reservation, isLast: reply.isLast)
        case .failure(.tooLarge): throw ExchangeFailure(.tooLarge(limit), .answered)
        case .failure(.noMemory): throw ExchangeFailure(.noMemory, .answered)
        case .failure(.damaged): throw ExchangeFailure(.unusable("its \(coding) coding is damaged"), .answered)
        }
    }
}
