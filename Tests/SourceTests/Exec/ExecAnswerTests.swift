import OnesheetCore
import OnesheetTesting
import XCTest

@testable import ExecSource

final class ExecAnswerTests: XCTestCase {
    private func source(_ reaction: ScriptedLauncher.Reaction) -> ExecSource {
        ExecSource(launcher: ScriptedLauncher { _, _ in reaction }, context: .forTesting())
    }

    func testImageHasItsKindLanguageAndVotes() async throws {
        // Given
        let source = source(
            .answer(
                #"{"candidates":[{"url":"http://a/1","kind":"logo","language":"pt-br","votes":7.5,"count":3},{"url":"http://a/2","kind":7,"votes":{}}]}"#
            ))
        // When
        let found = try await source.candidates(for: "1")
        // Then
        XCTAssertEqual(found.map(\.kind), [.logo, .poster])
        XCTAssertEqual(found.map(\.language), [LanguageTag("pt-BR"), nil])
        XCTAssertEqual(found.map(\.votes), [7.5, nil])
        XCTAssertEqual(found.map(\.voteCount), [3, nil])
        XCTAssertEqual(found.map(\.unreadable.count), [0, 2])
    }

    func testThatEveryFieldIsRead() async throws {
        // Given
        let title = """
            {"id":"1","name":"One","originalName":"하나","originalLanguage":"ko","overview":"o","releaseDate":"2026-10-28","rank":3,"metadata":{"minutes":90}}
            """
        let pages = source(.answer(#"{"titles":[\#(title)],"total":7,"next":2}"#))
        let candidates = source(
            .answer(
                #"{"candidates":[{"url":"http://a.example/x?y=1","width":2,"height":3,"site":"s","page":"p","published":"2026-10-28T00:00:00Z"},{"url":"http://a.example/z"}]}"#
            ))

        // When
        let page = try await pages.titles(TitleQuery())
        let found = try await candidates.candidates(for: "1")

        // Then
        XCTAssertEqual(
            page,
            TitlePage(
                titles: [
                    Title(
                        id: "1", name: "One", originalName: "하나", originalLanguage: LanguageTag("ko"), overview: "o",
                        releaseDate: CalendarDay("20261028"), rank: 3,
                        metadata: ["minutes": 90])
                ], total: 7, next: 2))
        XCTAssertEqual(found.map(\.location.name), ["http://a.example/x?y=1", "http://a.example/z"])
        XCTAssertEqual(found.map(\.width), [2, nil])
        XCTAssertEqual(found[0].published?.timeIntervalSince1970, 1_793_145_600)
    }

    func testThatTheQueryIsHandedOver() async throws {
        // Given
        let launcher = ScriptedLauncher { _, _ in .answer(#"{"titles":[]}"#) }
        let source = ExecSource(launcher: launcher, context: .forTesting())

        // When
        _ = try await source.titles(TitleQuery(date: CalendarDay("20261120"), period: .week, phrase: "광해 \"x\"\n", page: 2))

        // Then
        XCTAssertEqual(
            launcher.lines.last,
            #"{"id":2,"jsonrpc":"2.0","method":"titles","params":{"date":"2026-11-20","page":2,"period":"week","phrase":"광해 \"x\"\n"}}"#
                + "\n")
    }

    func testThatErrorsBecomeTheReasonsTheyMean() async {
        // Given
        let cases: [(String, SourceError)] = [
            (#"{"code":-32001,"message":"m"}"#, .notFound(id: "1")),
            (#"{"code":-32002,"message":"m"}"#, .unauthorized(message: "m")),
            (#"{"code":-32003,"message":"m"}"#, .quotaExhausted(until: nil)),
            (#"{"code":-32003,"message":"m","data":{"until":1795273200}}"#, .quotaExhausted(until: 1_795_273_200)),
            (#"{"code":-32004,"message":"m"}"#, .failed(reason: "the program says so (-32004)", details: "m")),
            (#"{"code":-32006,"message":"m","data":{"retryAfter":1.5}}"#, .rateLimited(retryAfter: 2)),
            (#"{"code":-32006,"message":"m"}"#, .rateLimited(retryAfter: 1)),
            (#"{"code":-32005,"message":"m"}"#, .unsupported("this call, by the program (-32005)", details: "m")),
            (#"{"code":-32601,"message":"m"}"#, .unsupported("this call, by the program (-32601)", details: "m")),
            (#"{"code":-32600,"message":"m"}"#, .failed(reason: "the program rejected the call (-32600)", details: "m")),
        ]

        for (fault, expected) in cases {
            // When
            let error = await failure(source(.raw(#"{"jsonrpc":"2.0","id":ID,"error":\#(fault)}"#)))

            // Then
            XCTAssertEqual(error, expected, fault)
        }
    }

    func testThatAnAnswerOfAnotherShapeIsMalformed() async {
        // Given
        let reactions: [ScriptedLauncher.Reaction] = [
            .answer("null"), .answer("{}"), .answer(#"{"id":1,"name":"x"}"#), .answer(#"{"id":"2","name":"x"}"#), .raw("hello"),
            .raw(#"{"id":"x"}"#),
        ]

        for reaction in reactions {
            // When
            let error = await failure(source(reaction))

            // Then
            guard case .malformedAnswer? = error else { return XCTFail("\(reaction): \(String(describing: error))") }
        }
    }

    func testDamagedRowsDoNotTakeTheOthersWithThem() async throws {
        // Given a list and candidates of which some are damaged
        let launcher = ScriptedLauncher { _, call in
            .answer(
                call.method == "titles"
                    ? #"{"titles":[{"id":"1"},null,{"id":"2","name":"Two"},{"id":3,"name":"x"},{"id":"4","name":"y","rank":"first"}]}"#
                    : #"{"candidates":[{"url":5},{"url":"ftp://a.example/1"},{"url":"http://a.example/2"},{}]}"#)
        }
        let source = ExecSource(launcher: launcher, context: .forTesting())
        // When they are asked for, then the others are there
        let page = try await source.titles(TitleQuery())
        XCTAssertEqual(page.titles.map(\.id), ["2"])
        let candidates = try await source.candidates(for: "2")
        XCTAssertEqual(candidates.map(\.location.name), ["http://a.example/2"])
    }

    func testThatAPictureThatIsNoWebURLIsMalformed() async {
        // Given
        let source = source(.answer(#"{"candidates":[{"url":"file:///etc/passwd"}]}"#))

        // When
        do throws(SourceError) {
            _ = try await source.candidates(for: "1")
            XCTFail("it answered")
        } catch {
            // Then
            XCTAssertEqual(
                error,
                .malformedAnswer(
                    reason: "the place of a candidate is not an http or https URL", details: "“file:///etc/passwd”"))
        }
    }

    private func failure(_ source: ExecSource) async -> SourceError? {
        do throws(SourceError) {
            _ = try await source.title("1")
            return nil
        } catch {
            return error
        }
    }
}
