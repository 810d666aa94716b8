internal import Foundation
internal import Synchronization

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests with Foundation's `URLSession`, which on Linux uses libcurl. It keeps no cookies, no cache and no passwords, and follows
/// no redirects.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let transfers = Transfers()

    public init() {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        // The client has deadlines of its own, also for progress that takes hours.
        configuration.timeoutIntervalForRequest = 7 * 86_400
        configuration.timeoutIntervalForResource = 7 * 86_400
        session = URLSession(configuration: configuration, delegate: transfers, delegateQueue: nil)
    }

    deinit { session.invalidateAndCancel() }

    /// The text of the request is not a URL.
    public func send(
        _ request: TransportRequest, _ receive: @Sendable (TransportPart) async throws(ClientError) -> Void
    ) async throws {
        guard let url = URL(string: request.url), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            url.host() != nil
        else { throw SessionError(description: "“\(request.url)” is not a URL") }
        var outgoing = URLRequest(url: url)
        outgoing.httpMethod = request.method
        for (name, value) in request.fields { outgoing.setValue(value, forHTTPHeaderField: name) }
        outgoing.httpBody = request.body.map { Data($0) }
        let task = session.dataTask(with: outgoing)
        let transfer = Transfer()
        transfers.add(transfer, for: task.taskIdentifier)
        defer {
            transfers.remove(task.taskIdentifier)
            task.cancel()
        }
        task.resume()
        try await withTaskCancellationHandler {
            while let part = try await transfer.next() { try await receive(part) }
        } onCancel: {
            transfer.cancel()
        }
    }
}

/// The transfers of a session by their tasks' identifiers.
private final class Transfers: NSObject, URLSessionDataDelegate, Sendable {
    private let transfers = Mutex<[Int: Transfer]>([:])

    func add(_ transfer: Transfer, for task: Int) { transfers.withLock { $0[task] = transfer } }
    func remove(_ task: Int) { transfers.withLock { $0[task] = nil } }
    private func transfer(_ task: URLSessionTask) -> Transfer? { transfers.withLock { $0[task.taskIdentifier] } }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        if let response = response as? HTTPURLResponse { transfer(dataTask)?.add(.head(response)) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(dataTask)?.add(.bytes(Array(data)))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// A challenge ends the response, because a server that asks for a password says so with its status. On Linux, a task whose challenge
    /// nobody answers never ends.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if !canImport(FoundationNetworking)
            guard challenge.protectionSpace.authenticationMethod != NSURLAuthenticationMethodServerTrust else {
                return completionHandler(.performDefaultHandling, nil)
            }
        #endif
        if let response = challenge.failureResponse as? HTTPURLResponse {
            transfer(task)?.add(.head(response))
            transfer(task)?.end(with: nil)
        }
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        transfer(task)?.end(with: error.map { SessionError(description: $0.localizedDescription) })
    }
}

/// The reason in words. The errors of Foundation describe themselves with their dictionary.
private struct SessionError: Error, CustomStringConvertible {
    let description: String
}

extension TransportPart {
    fileprivate static func head(_ response: HTTPURLResponse) -> TransportPart {
        var fields: [String: String] = [:]
        for (name, value) in response.allHeaderFields { fields["\(name)"] = "\(value)" }
        return .head(status: response.statusCode, fields: fields)
    }
}

/// The parts of one response that have arrived and were not yet received.
private final class Transfer: Sendable {
    private struct State {
        var parts: [TransportPart] = []
        var bytes = 0
        var end: Result<Void, any Error>?
        var waiting: CheckedContinuation<TransportPart?, any Error>?
    }

    /// The session cannot be slowed down, so this bounds what it delivers ahead of the client.
    private static let mostBytes = 64 << 20
    private let state = Mutex(State())

    func add(_ part: TransportPart) {
        let waiting = state.withLock { state -> CheckedContinuation<TransportPart?, any Error>? in
            guard state.end == nil else { return nil }
            if let waiting = state.waiting {
                state.waiting = nil
                return waiting
            }
            if case .bytes(let bytes) = part { state.bytes += bytes.count }
            if state.bytes > Self.mostBytes {
                (state.parts, state.end) = ([], .failure(ClientError.tooLarge(limit: Self.mostBytes)))
            } else if case .bytes(let bytes) = part, case .bytes(var last) = state.parts.last {
                // One part for all: a server may send each byte alone.
                state.parts.removeLast()
                last += bytes
                state.parts.append(.bytes(last))
            } else {
                state.parts.append(part)
            }
            return nil
        }
        waiting?.resume(returning: part)
    }

    /// Ends the response at once.
    func cancel() {
        let waiting = state.withLock { state in
            (state.parts, state.end) = ([], .failure(CancellationError()))
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume(throwing: CancellationError())
    }

    /// Ends the response after the parts that have arrived.
    func end(with error: (any Error)?) {
        let waiting = state.withLock { state -> CheckedContinuation<TransportPart?, any Error>? in
            guard state.end == nil else { return nil }
            state.end = error.map { .failure($0) } ?? .success(())
            defer { state.waiting = nil }
            return state.waiting
        }
        if let error { waiting?.resume(throwing: error) } else { waiting?.resume(returning: nil) }
    }

    /// The next part; `nil` at the end.
    func next() async throws -> TransportPart? {
        try await withCheckedThrowingContinuation { continuation in
            let known = state.withLock { state -> Result<TransportPart?, any Error>? in
                if !state.parts.isEmpty {
                    let part = state.parts.removeFirst()
                    if case .bytes(let bytes) = part { state.bytes -= bytes.count }
                    return .success(part)
                }
                if let end = state.end { return end.map { nil } }
                state.waiting = continuation
                return nil
            }
            if let known { continuation.resume(with: known) }
        }
    }
}
