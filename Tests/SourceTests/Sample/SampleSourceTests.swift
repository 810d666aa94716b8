import ConfigurationYAML
import NIOCore
import OnesheetCore
import OnesheetTesting
import SampleSource
import XCTest

final class SampleSourceTests: XCTestCase {
    private let source = SampleSource(NoConfiguration(), context: .forTesting())

    private func all(_ query: TitleQuery) async throws -> [Title] {
        var (query, titles) = (query, [Title]())
        while true {
            let page = try await source.titles(query)
            titles += page.titles
            guard let next = page.next else { return titles }
            query.page = next
        }
    }

    func testThatTheCatalogueHasTwentyFourFilmsWithAllFields() async throws {
        // Given
        let query = TitleQuery()

        // When
        let titles = try await all(query)

        // Then
        XCTAssertEqual(titles.map(\.id), (1...24).map(String.init))
        XCTAssertEqual(titles.map(\.rank), (1...24).map { $0 })
        XCTAssertEqual(Set(titles.map(\.name)).count, 24)
        XCTAssertEqual(Set(titles.map(\.originalName)).count, 24)
        XCTAssertTrue(titles.allSatisfy { $0.releaseDate != nil && $0.overview?.isEmpty == false && $0.metadata["minutes"] != nil })
    }

    func testThatADayHasAListOfItsOwnThatStays() async throws {
        // Given
        let (monday, tuesday) = (TitleQuery(date: CalendarDay("2026-11-16")), TitleQuery(date: CalendarDay("2026-11-17")))

        // When
        let lists = [try await all(monday), try await all(monday), try await all(tuesday)]

        // Then
        XCTAssertEqual(lists[0], lists[1])
        XCTAssertNotEqual(lists[0].map(\.id), lists[2].map(\.id))
        XCTAssertEqual(lists[0].map(\.rank), lists[0].indices.map { $0 + 1 })
    }

    func testThatADayListsOnlyFilmsThatWereOut() async throws {
        // Given
        let day = try XCTUnwrap(CalendarDay("2025-06-01"))

        // When
        let titles = try await all(TitleQuery(date: day))

        // Then
        XCTAssertFalse(titles.isEmpty)
        XCTAssertTrue(titles.allSatisfy { ($0.releaseDate ?? day) <= day })
    }

    func testThatAPhraseFindsBothNames() async throws {
        // Given
        let phrases = ["SALT", "소금", "달", "no such film"]

        // When
        var found: [[String]] = []
        for phrase in phrases { found.append(try await all(TitleQuery(phrase: phrase)).map(\.id)) }

        // Then
        XCTAssertEqual(found, [["1", "14"], ["1", "14"], ["4"], []])
    }

    func testThatAPageBeyondTheLastIsEmpty() async throws {
        // Given
        let pages = [4, 1_000_000, Int.max]

        for page in pages {
            // When
            let answer = try await source.titles(TitleQuery(page: page))

            // Then
            XCTAssertEqual(answer, TitlePage(titles: [], total: 24))
        }
    }

    func testThatAPosterIsTheSameBytesEachTime() async throws {
        // Given
        let candidate = try await source.candidates(for: "8")[0]

        // When
        let (first, second) = (try bytes(candidate), try bytes(candidate))

        // Then
        XCTAssertEqual(first, second)
    }

    func testThatEveryPosterIsAJPEGOfTheSaidSizeAndAPictureOfItsOwn() async throws {
        // Given
        var pictures: Set<ByteBuffer> = []

        for id in 1...24 {
            // When
            let candidate = try await source.candidates(for: String(id))[0]
            let picture = try bytes(candidate)

            // Then
            let size = try XCTUnwrap(Self.size(ofJPEG: picture), "\(id)")
            XCTAssertEqual(size.width, candidate.width)
            XCTAssertEqual(size.height, candidate.height)
            XCTAssertEqual(size.width * 3, size.height * 2)
            XCTAssertTrue(pictures.insert(picture).inserted, "\(id)")
        }
    }

    func testThatTheSampleConfigurationWorks() throws {
        // Given
        let value = try ConfigurationValue(yaml: SampleSource.sampleConfiguration)

        // When
        let decode = { try ConfigurationDecoder().decode(SampleSource.Configuration.self, from: value) }

        // Then
        XCTAssertNoThrow(try decode())
    }

    func testThatItConforms() async throws {
        // Given
        let suite = SourceConformance(transport: FakeTransport(), knownID: "7", unknownID: "25", list: TitleQuery()) {
            SampleSource(NoConfiguration(), context: .forTesting(transport: $0))
        }

        // When
        let report = await suite.run()

        // Then
        XCTAssertTrue(report.failures.isEmpty, report.description)
    }

    private func bytes(_ candidate: PosterCandidate) throws -> ByteBuffer {
        guard case .local(_, let bytes) = candidate.location else { throw SourceError.unsupported("the poster is elsewhere") }
        return try bytes()
    }

    /// Width and height from the frame header (ITU-T T.81, B.2.2).
    private static func size(ofJPEG buffer: ByteBuffer) -> (width: Int, height: Int)? {
        let bytes = Array(buffer.readableBytesView)
        guard bytes.starts(with: [0xFF, 0xD8]), bytes.suffix(2) == [0xFF, 0xD9] else { return nil }
        var at = 2
        while at + 9 < bytes.count, bytes[at] == 0xFF {
            if (0xC0...0xC2).contains(bytes[at + 1]) {
                return (Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
            }
            at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
        }
        return nil
    }
}
