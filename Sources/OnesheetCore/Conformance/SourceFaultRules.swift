internal import NIOCore
internal import Synchronization

extension SourceConformance {
    /// Faults between a source and its service.
    enum Fault: Sendable {
        case html, tooLarge, timeOut

        func answer(_ request: HTTPRequest) throws(HTTPTransportError) -> HTTPAnswer {
            switch self {
            case .html:
                HTTPAnswer(
                    status: 200, headers: ["content-type": "text/html"], body: ByteBuffer(string: "<html>We are sorry.</html>"))
            case .tooLarge: throw .tooLarge(url: request.url, limit: 1)
            case .timeOut: throw .timedOut(url: request.url)
            }
        }

        func isAnswered(by error: SourceError) -> Bool {
            switch (self, error) {
            case (.html, .malformedAnswer), (.tooLarge, .malformedAnswer), (.tooLarge, .unavailable), (.tooLarge, .failed),
                (.timeOut, .unavailable), (.timeOut, .failed):
                true
            default: false
            }
        }
    }

    /// Every call that asks the service throws the error for the fault.
    func fault(_ fault: Fault) async throws {
        for (name, call) in calls {
            let broken = BrokenTransport { request async throws(HTTPTransportError) in try fault.answer(request) }
            let source = try make(broken)
            do throws(SourceError) {
                try await call(source)
            } catch {
                guard broken.requests == 0 || fault.isAnswered(by: error) else {
                    throw Violation("\(name) throws “\(error)” for \(fault)")
                }
                continue
            }
            guard broken.requests == 0 else { throw Violation("\(name) answers although the service did not (\(fault))") }
        }
    }

    /// Once the service reports an exhausted quota, the source throws that error. If the error names the time of the reset, the
    /// source sends no request before it.
    func quota() async throws {
        guard let exhausted else { throw NotTried("the service's response in that case is unknown") }
        for (name, call) in calls {
            let broken = BrokenTransport { _ in exhausted }
            let source = try make(broken)
            guard let until = try await moment(of: name, from: source, over: broken, call), until != nil else { continue }
            let asked = broken.requests
            _ = try await moment(of: name, from: source, over: broken, call)
            guard broken.requests == asked else {
                throw Violation("\(name) asks again although it knows that the quota is exhausted")
            }
        }
    }

    /// The time of the reset as the call reports it; `nil` if the call does not ask the service.
    private func moment(
        of name: String, from source: any ContentSource, over broken: BrokenTransport, _ call: Call
    ) async throws -> Double?? {
        do throws(SourceError) {
            try await call(source)
        } catch .quotaExhausted(let until) {
            return .some(until)
        } catch .rateLimited {
            // The server sends no call before the time is up.
            return .some(nil)
        } catch {
            guard broken.requests == 0 else { throw Violation("\(name) throws “\(error)” when the quota is exhausted") }
            return nil
        }
        guard broken.requests == 0 else { throw Violation("\(name) answers although the quota is exhausted") }
        return nil
    }

    /// A call ends when its task is cancelled while the service delays its answer.
    func cancellation() async throws {
        for (name, call) in calls {
            let (events, signal) = AsyncStream<Void>.makeStream()
            let (silence, end) = AsyncStream<Void>.makeStream()
            let slow = BrokenTransport { request async throws(HTTPTransportError) in
                signal.yield()
                // No answer ever comes. Only cancellation ends the wait.
                for await _ in silence {}
                throw .failed(url: request.url, reason: "cancelled")
            }
            let source = try make(slow)
            let task = Task { () async -> Bool in
                defer { signal.yield() }
                do throws(SourceError) { try await call(source) } catch { return true }
                return false
            }
            // A source without a service returns by itself. A source with one waits until it is cancelled.
            var first = events.makeAsyncIterator()
            await first.next()
            task.cancel()
            let threw = await task.value
            end.finish()
            guard threw || slow.requests == 0 else { throw Violation("\(name) answers although it was cancelled") }
        }
    }

    private typealias Call = @Sendable (any ContentSource) async throws(SourceError) -> Void

    private var calls: [(String, Call)] {
        let (id, list) = (knownID, list)
        return [
            ("title", { (source) async throws(SourceError) in _ = try await source.title(id) }),
            ("candidates", { (source) async throws(SourceError) in _ = try await source.candidates(for: id) }),
            ("titles", { (source) async throws(SourceError) in _ = try await source.titles(list ?? TitleQuery()) }),
        ]
    }
}

/// A network on which every request fails in the same way.
package final class BrokenTransport: HTTPTransport {
    typealias Responder = @Sendable (HTTPRequest) async throws(HTTPTransportError) -> HTTPAnswer

    private let count = Mutex(0)
    private let responder: Responder

    init(_ responder: @escaping Responder) { self.responder = responder }

    /// Requests so far.
    var requests: Int { count.withLock { $0 } }

    package func get(_ request: HTTPRequest, under policy: OriginPolicy) async throws(HTTPTransportError) -> HTTPAnswer {
        count.withLock { $0 += 1 }
        return try await responder(request)
    }
}
