import NIOCore
import OnesheetCore
import OnesheetImaging
import OnesheetTesting
import Synchronization
import XCTest

@testable import OnesheetPipeline

/// A transform that takes too long.
final class SlowTransformTests: XCTestCase {
    private let transport = FakeTransport()
    private let clock = ManualClock()
    private let codec = SlowEncoder()
    private let title = TitleReference(source: "films", id: "1")

    func testSlowTransformFailsAlone() async throws {
        // Given an original and a transform of it that takes too long
        let pipeline = try pipeline()
        let failure = await failure(pipeline)
        XCTAssertEqual(failure, .render(.tooSlow(after: .seconds(20))))
        // When another size is requested, then it is made of the same original
        let answer = try await pipeline.image(for: request(.jpeg))
        XCTAssertEqual(answer.origin, .made)
        XCTAssertEqual(transport.count(), 1)
    }

    func testSlowTransformIsNotTriedAgainForTenMinutes() async throws {
        // Given a transform that takes too long
        let pipeline = try pipeline()
        _ = await failure(pipeline)
        // When it is requested again within ten minutes, then nothing is tried
        clock.advance(by: .seconds(599))
        let second = await failure(pipeline)
        XCTAssertEqual(second, .render(.tooSlow(after: .seconds(20))))
        XCTAssertEqual(codec.encodings, 1)
        // And later it is
        clock.advance(by: .seconds(1))
        _ = await failure(pipeline)
        XCTAssertEqual(codec.encodings, 2)
    }

    func testPrefetchMakesTheOtherVariants() async throws {
        // Given a prefetch of three sizes, one of which takes too long
        let pipeline = try pipeline()
        let transforms = [request(.jpeg).transform, request(codec.format).transform, request(.png).transform]
        // When it runs
        let summary = try await Prefetcher(pipeline: pipeline, concurrency: 1).run(films: [title], transforms) { _ in }
        // Then two are made
        XCTAssertEqual([summary.made, summary.failed], [2, 1])
        XCTAssertEqual(summary.failures.map(\.reason), ["the image was not made within 20.0 seconds"])
    }

    func testExplanationNamesTheFailureOfTheVariant() async throws {
        // Given a transform that takes too long
        let pipeline = try pipeline()
        _ = await failure(pipeline)
        // Then the explanation of it says so, and that of another does not
        let (slow, other) = (try await pipeline.explain(request(codec.format)), try await pipeline.explain(request(.jpeg)))
        XCTAssertEqual(slow.failure, "the image was not made within 20.0 seconds")
        XCTAssertNil(other.failure)
    }

    private func pipeline() throws -> Pipeline {
        let picture = try Pipeline.picture()
        transport.on("http://127.0.0.1/1") { _ in
            HTTPAnswer(status: 200, headers: ["cache-control": "max-age=86400"], body: picture)
        }
        let source = ScriptedSource { id in [PosterCandidate(.http(url: "http://127.0.0.1/\(id)"))] }
        return try .forTesting(
            source, transport: transport, clock: clock, pool: RenderPool(workers: 2, queue: 8), codecs: [codec], case: self)
    }

    private func request(_ format: ImageFormat) -> ImageRequest {
        var transform = Transform()
        (transform.width, transform.format) = (40, format)
        return ImageRequest(title, transform)
    }

    private func failure(_ pipeline: Pipeline) async -> Failure? {
        do throws(Failure) { _ = try await pipeline.image(for: request(codec.format)) } catch { return error }
        return nil
    }
}

/// A codec whose deadline passes while it encodes.
private final class SlowEncoder: Codec {
    let format = ImageFormat(name: "slow", mediaType: "image/slow", extensions: ["slow"], hasAlpha: false)
    private let count = Atomic(0)

    var encodings: Int { count.load(ordering: .acquiring) }

    func recognizes(_ bytes: Span<UInt8>) -> Bool { false }

    func header(of bytes: Span<UInt8>) throws(CodecError) -> ImageHeader { throw .unsupported("reading") }

    func decode<Sink: RowSink & ~Copyable>(
        _ bytes: Span<UInt8>, _ request: DecodeRequest, into sink: inout Sink
    ) throws(CodecError) {
        throw .unsupported("reading")
    }

    func encode(_ picture: borrowing PixelBuffer, _ options: EncodeOptions) throws(CodecError) -> ByteBuffer {
        count.add(1, ordering: .acquiringAndReleasing)
        throw .timedOut
    }
}
