import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore
import OnesheetHTTP

/// Server-sent events (WHATWG HTML §9.2). Each has a name and a JSON document.
enum EventStream {
    typealias Send = @Sendable (_ event: String, _ document: any Encodable & Sendable) -> Void

    /// A response that lasts as long as `work`. If the client disconnects, `work` is cancelled.
    static func response(_ work: @escaping @Sendable (@escaping Send) async -> Void) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/event-stream", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
                // nginx passes on each event at once.
                .xAccelBuffering: "no",
            ],
            body: ResponseBody { writer in
                // A slow client misses progress events but always receives the last event.
                let (events, signal) = AsyncStream<ByteBuffer>.makeStream(bufferingPolicy: .bufferingNewest(64))
                async let done: Void = {
                    await work { event, document in signal.yield(Self.event(event, document)) }
                    signal.finish()
                }()
                for await event in events { try await writer.write(event) }
                await done
                try await writer.finish(nil)
            })
    }

    private static func event(_ name: String, _ document: any Encodable & Sendable) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var event = ByteBuffer(string: "event: \(name)\ndata: ")
        do {
            event.writeBytes(try encoder.encode(document))
        } catch {
            // Report that an event could not be encoded, and continue the stream.
            event = ByteBuffer(string: "event: failed\ndata: \"an event cannot be encoded\"")
        }
        event.writeString("\n\n")
        return event
    }
}
