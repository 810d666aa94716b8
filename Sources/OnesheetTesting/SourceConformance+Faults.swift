internal import NIOCore
internal import OnesheetCore

extension SourceConformance {
    /// What goes wrong between a source and its service.
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
            case (.html, .malformedAnswer), (.tooLarge, .malformedAnswer), (.tooLarge, .unavailable), (.timeOut, .unavailable): true
            default: false
            }
        }
    }

    /// Every call that asks the service throws what the fault means.
    func fault(_ fault: Fault) async throws {
        for (name, call) in calls {
            let broken = FakeTransport()
            broken.on("http") { request async throws(HTTPTransportError) in try fault.answer(request) }
            let source = try make(broken)
            do throws(SourceError) {
                try await call(source)
            } catch {
                guard broken.requests.isEmpty || fault.isAnswered(by: error) else {
                    throw Violation("\(name) throws “\(error)” for \(fault)")
                }
                continue
            }
            guard broken.requests.isEmpty else { throw Violation("\(name) answers although the service did not (\(fault))") }
        }
    }

    /// A call whose task is cancelled while the service keeps it waiting ends.
    func cancellation() async throws {
        for (name, call) in calls {
            let slow = FakeTransport()
            let gate = Gate()
            let (events, signal) = AsyncStream<Void>.makeStream()
            slow.on("http") { request async throws(HTTPTransportError) in
                signal.yield()
                do { try await gate.pass() } catch { throw .failed(url: request.url, reason: "cancelled") }
                return HTTPAnswer(status: 200)
            }
            let source = try make(slow)
            let task = Task { () async -> Bool in
                defer { signal.yield() }
                do throws(SourceError) { try await call(source) } catch { return true }
                return false
            }
            // A source without a service ends by itself; one with a service waits until it is cancelled.
            var first = events.makeAsyncIterator()
            await first.next()
            task.cancel()
            let threw = await task.value
            guard threw || slow.requests.isEmpty else { throw Violation("\(name) answers although it was cancelled") }
        }
    }

    private var calls: [(String, @Sendable (any ContentSource) async throws(SourceError) -> Void)] {
        let (id, list) = (knownID, list)
        return [
            ("title", { (source) async throws(SourceError) in _ = try await source.title(id) }),
            ("candidates", { (source) async throws(SourceError) in _ = try await source.candidates(for: id) }),
            ("titles", { (source) async throws(SourceError) in _ = try await source.titles(list ?? TitleQuery()) }),
        ]
    }
}
