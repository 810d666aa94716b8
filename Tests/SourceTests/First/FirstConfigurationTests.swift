import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import XCTest

@testable import FirstSource

final class FirstConfigurationTests: XCTestCase {
    func testSampleIsDecoded() throws {
        let sample = try Self.configuration(FirstSource.sampleConfiguration)
        XCTAssertEqual(sample.sources, ["tmdb", "fanart", "kmdb"])
        XCTAssertEqual(sample.kinds, [.logo: ["fanart", "tmdb"]])
        XCTAssertEqual(sample.statedIDs, ["20124079": ["tmdb": "153397", "kmdb": "none"]])
        XCTAssertEqual(sample.leastScore, TitleMatch.leastScore)
        XCTAssertEqual(sample.wait, .seconds(8))
    }

    func testMistakesAreNamedWithTheirPlace() throws {
        for (yaml, path, message) in [
            ("sources: []", "sources", "is empty"), ("sources: [tmbd]", "sources.[0]", "did you mean “tmdb”"),
            ("sources: [tmdb]\nlogo: [tmdb, fnaart]", "logo.[1]", "did you mean “fanart”"),
            ("sources: [tmdb, tmdb]", "sources.[1]", "named twice"),
            ("sources: [tmdb]\nsameIDs: [fanart]", "sameIDs.[0]", "unknown member “fanart”"),
            ("sources: [tmdb]\nsameIDs: [tmdb]", "sameIDs", "one of them must have the ids"),
            ("sources: [tmdb]\nmatch: { titles: { \"1\": { tdmb: \"2\" } } }", "match.titles.1", "did you mean “tmdb”"),
            ("sources: [tmdb]\nmatch: { atLeast: 70 }", "match.atLeast", "from 0 to 1"),
            ("sources: [tmdb]\nwait: 0s", "wait", "such as 8s"),
            ("sources: [tmdb]\nlogos: [tmdb]", "", "logo"), ("{}", "", "sources"),
        ] {
            do {
                _ = try Self.source(yaml, ["tmdb": FakeDatabase(), "fanart": FakeDatabase()])
                XCTFail("no error in \(yaml)")
            } catch let error as ConfigurationError {
                XCTAssertEqual(error.path, path, yaml)
                XCTAssertTrue("\(error)".contains(message), "\(error)")
            }
        }
    }

    static func source(_ yaml: String, _ members: [String: any ContentSource]) throws -> FirstSource {
        var context = PluginContext.forTesting()
        context.findSource = { name in
            guard let member = members[name] else {
                throw ConfigurationError(path: "", message: unknownName(name, kind: "source", known: members.keys))
            }
            return member
        }
        return try FirstSource(configuration(yaml), context: context)
    }

    private static func configuration(_ yaml: String) throws -> FirstSource.Configuration {
        try ConfigurationDecoder().decode(FirstSource.Configuration.self, from: try ConfigurationValue(yaml: yaml))
    }
}
