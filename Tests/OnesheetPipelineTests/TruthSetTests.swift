import FirstSource
import Foundation
import Logging
import OnesheetCache
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetPipeline

/// The choice among the images of three databases, in ten languages, against a truth that is told in another way. A tenth of the ten thousand
/// titles; all of them with `ONESHEET_TRUTH=1`.
final class TruthSetTests: TransportTestCase {
    private static let titles: UInt64 = ProcessInfo.processInfo.environment["ONESHEET_TRUTH"] == nil ? 1000 : 10_000

    private let databases = [
        TruthDatabase("tmdb", seed: 1, lists: true), TruthDatabase("fanart", seed: 2, lists: false),
        TruthDatabase("kmdb", seed: 3, lists: false),
    ]
    private let clock = ManualClock()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private lazy var cache = Cache(memory: MemoryTier(expires: .never, clock: clock.wallClock), logger: logger)

    func testChoiceIsTheRuleWithOneCallADay() async throws {
        var catalog = try catalog()
        for number in 0..<Self.titles {
            // Given a title, and for some a database that is down
            let up = databases.enumerated().filter { number % 11 != 4 || $0.offset != Int(number) % 3 }.map(\.element)
            for database in databases { database.isDown(!up.contains { $0 === database }) }
            let films = up.map { database in (database: database.name, film: database.film(number)) }
            let title = TitleReference(source: "all", id: "\(number)")
            // When its images are chosen in each language
            let images = try await Self.images(of: title, catalog)
            let original = try await self.original(of: title, catalog)
            for language in TruthDatabase.languages {
                let languages = try LanguageList("\(language).original.en.none")
                let rule = ImageRule(.poster, in: languages, original: original)
                let ranked = rule.ranked(images).map(\.candidate)
                let again = rule.ranked(images.shuffled()).map(\.candidate)
                // Then the first is the one of the truth, and it depends on no order of an answer
                let best = Self.best(of: films, in: language)
                XCTAssertEqual(ranked.first?.location.name, best, "title \(number) in \(language)")
                XCTAssertEqual(
                    Self.merit(again.first, by: rule), Self.merit(ranked.first, by: rule), "title \(number) in \(language)")
            }
            assertOneCall(title: number, failing: up.count < 3)
            guard number.isMultiple(of: 25) else { continue }
            // When the server starts again, and asks for all of it on the same day
            catalog = try self.catalog()
            clock.advance(by: .seconds(23 * 3600))
            let kept = try await Self.images(of: title, catalog)
            // Then the answer is the same, and no database is asked
            XCTAssertEqual(Set(kept.map(\.location.name)), Set(images.map(\.location.name)))
            if up.count == 3, films.allSatisfy({ $0.film?.images.isEmpty == false }) {
                XCTAssertEqual(databases.flatMap { $0.takeCalls().keys }, [], "title \(number)")
            }
            for database in databases { _ = database.takeCalls() }
        }
    }

    func testDatabaseIsAskedAgainTheNextDay() async throws {
        // Given a title that all databases know
        let number = try XCTUnwrap(
            (0..<Self.titles).first { number in databases.allSatisfy { $0.film(number)?.images.isEmpty == false } })
        let title = TitleReference(source: "all", id: "\(number)")
        let catalog = try catalog()
        _ = try await Self.images(of: title, catalog)
        for database in databases { XCTAssertEqual(database.takeCalls(), ["candidates": 1]) }

        // When
        clock.advance(by: .seconds(86_401))
        _ = try await Self.images(of: title, catalog)

        // Then
        for database in databases { XCTAssertEqual(database.takeCalls(), ["candidates": 1]) }
    }

    func testNoDatabaseIsAskedAboveItsRate() async throws {
        // Given databases that ask services, each with a rate, of which one fails
        let (transport, titles) = (transport(), 0..<40)
        var services: [(database: TruthDatabase, origin: OriginServer, rate: Double, times: AskedTimes)] = []
        for (database, rate) in zip(databases, [60, 90, 40.0]) {
            let times = AskedTimes()
            let origin = try await origin { _, _ in
                times.note()
                return .answer(status: database.name == "fanart" ? 503 : 200)
            }
            var policy = loopback
            policy.rate = rate
            database.asks(origin.url, through: transport, under: policy)
            services.append((database, origin, rate, times))
        }
        let catalog = try catalog()
        for _ in 0..<2 {
            // When many titles are asked for at once, and all of them again on the same day
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in titles {
                    group.addTask { _ = try await Self.images(of: TitleReference(source: "all", id: "\(number)"), catalog) }
                }
                try await group.waitForAll()
            }
        }
        // Then each service was asked once for each title, the failing one again for some, and none faster than its rate
        for service in services {
            XCTAssertNil(service.times.early(at: service.rate), service.database.name)
            if service.database.name == "fanart" {
                XCTAssertGreaterThan(service.times.count, titles.count)
            } else {
                XCTAssertEqual(titles.map { service.origin.requests(for: "/candidates/\($0)") }, titles.map { _ in 1 })
            }
        }
    }

    /// Each question was asked at most once. A database that is down may be asked again, after its pause.
    private func assertOneCall(title: UInt64, failing: Bool) {
        for database in databases {
            for (question, count) in database.takeCalls() {
                XCTAssertLessThanOrEqual(count, 1, "\(database.name) \(question) of \(title)")
            }
        }
    }

    private static func images(of title: TitleReference, _ catalog: Catalog) async throws -> [PosterCandidate] {
        do throws(Failure) { return try await catalog.candidates(for: title) } catch {
            guard error.status == .notFound || error.status == .badGateway else { throw error }
            return []
        }
    }

    private func original(of title: TitleReference, _ catalog: Catalog) async throws -> LanguageTag? {
        do throws(Failure) { return try await catalog.title(title).originalLanguage } catch {
            guard error.status == .notFound || error.status == .badGateway else { throw error }
            return nil
        }
    }

    /// A source of all three, as a server makes it.
    private func catalog() throws -> Catalog {
        let answers = Catalog(
            sources: [:], cache: cache, counting: MemoryBudget(limit: 64 << 20), clock: clock.wallClock, logger: logger)
        var context = PluginContext.forTesting(name: "all")
        context.findSource = { [databases] name in
            guard let database = databases.first(where: { $0.name == name }) else {
                throw ConfigurationError(path: "", message: "there is no \(name)")
            }
            return CatalogedSource(name, database, in: answers)
        }
        let configuration = try ConfigurationDecoder().decode(
            FirstSource.Configuration.self,
            from: .mapping(["sources": .list(databases.map { .scalar($0.name) })]))
        return answers.with(["all": try FirstSource(configuration, context: context)])
    }

    /// The name of the best poster, found without the rule: language by language, then by numbers.
    private static func best(of films: [(database: String, film: TruthDatabase.Film?)], in language: String) -> String? {
        let original = films.compactMap { $0.film }.first?.original?.description
        let posters = films.enumerated().flatMap { order, known in
            (known.film?.images ?? []).filter { $0.kind == .poster }.map { (order: order, image: $0) }
        }
        let wanted: [(PosterCandidate) -> Bool] = [
            { $0.language?.description == language }, { $0.language != nil && $0.language?.description == original },
            { $0.language?.description == "en" }, { $0.language == nil }, { _ in true },
        ]
        for isWanted in wanted {
            let group = posters.filter { isWanted($0.image) }
            guard !group.isEmpty else { continue }
            return group.min { one, other in
                let (left, right) = (numbers(one.image), numbers(other.image))
                if left != right { return left > right }
                if one.order != other.order { return one.order < other.order }
                return one.image.location.name < other.image.location.name
            }?.image.location.name
        }
        return nil
    }

    private static func numbers(_ image: PosterCandidate) -> (Int, Int) {
        let count = image.voteCount ?? 1
        let votes = ((image.votes ?? 0) * Double(count) + 12) / Double(count + 4)
        return (Int((votes * 10).rounded()), min(image.width ?? 780, 780))
    }

    /// What the rule compares, except the order.
    private static func merit(_ image: PosterCandidate?, by rule: ImageRule) -> [String] {
        image.map { image in
            let place = rule.languages?.place(of: image.language, original: rule.original)
            return ["\(String(describing: place))", "\(numbers(image))"]
        } ?? []
    }
}
