import Foundation
import OnesheetCache
import OnesheetCore
import OnesheetPipeline
import OnesheetTesting
import StandardPlugins
import XCTest

@testable import OnesheetServer

/// The limits by count and the lives of entries, as the configuration file has them.
final class CacheConfigurationTests: ServerTestCase {
    private let clock = ManualClock()

    func testThatTheLimitsByCountReachTheTiers() async throws {
        // Given tiers for few entries
        let context = try context("memory: { entries: 3 }", "entries: 4")
        // When more are stored
        for number in 0..<20 {
            let key = CacheKey(.metadata, "\(number)")
            let isStored = try await context.pipeline.cache.disk?.store(.sample(at: clock), for: key, ifGeneration: nil)
            XCTAssertEqual(isStored, true)
            context.pipeline.cache.memory.storeNow(.sample(at: clock), for: key)
        }
        // Then each tier has as many as it may have
        let figures = await context.pipeline.cache.statistics()
        XCTAssertEqual(figures["memory"]?.total.entries, 3)
        XCTAssertEqual(figures["disk"]?.total.entries, 4)
    }

    func testThatAHitProlongsALifeAsConfigured() async throws {
        for (extends, end) in [("none", 100.0), ("cacheTime", 160), ("500s", 560)] {
            // Given entries that live for a hundred seconds, and are read after sixty
            let context = try context(
                "memory: { expires: 1h, extends: \(extends) }", "expires: 1h, extends: \(extends)")
            let (memory, key) = (context.pipeline.cache.memory, CacheKey(.variant, "poster"))
            let disk = try XCTUnwrap(context.pipeline.cache.disk)
            let entry = CacheEntry.sample(at: clock, cacheTime: .seconds(100))
            memory.storeNow(entry, for: key)
            _ = try await disk.store(entry, for: key, ifGeneration: nil)
            clock.advance(by: .seconds(60))
            let (inMemory, onDisk) = (memory.entryNow(for: key), try await disk.entry(for: key))
            XCTAssertNotNil(inMemory)
            XCTAssertNotNil(onDisk)
            // When the configured life is almost over, and over
            var there: [Bool] = []
            for seconds in [end - 61, 2] {
                clock.advance(by: .seconds(seconds))
                there += [await memory.contains(key), try await disk.contains(key)]
            }
            // Then they were there until its end
            XCTAssertEqual(there, [true, true, false, false], extends)
        }
    }

    func testThatTheKeysArePrintedAndReadAgain() throws {
        for (written, printed) in [
            ("memory: { entries: 2000 }", "entries: 2k"), ("disk: { entries: 70 }", "entries: 70"),
            ("disk: { extends: cacheTime }", "extends: cacheTime"), ("memory: { extends: 90s }", "extends: 90s"),
            ("memory: { extends: none }", "extends: none"),
        ] {
            // Given
            let configuration = try parse(written)
            // When
            let yaml = configuration.yaml
            // Then
            XCTAssertTrue(yaml.contains("    \(printed)\n"), "\(printed) in \(yaml)")
            XCTAssertEqual(try ConfigurationFile(environment: [:]).parse(yaml).cache, configuration.cache)
        }
    }

    func testThatWhatMakesNoSenseIsRefused() {
        for (written, message) in [
            ("memory: { entries: 0 }", "cache.memory.entries: needs at least 1"),
            ("disk: { entries: 0 }", "cache.disk.entries: needs at least 1"),
            ("disk: { entries: many }", "cache.disk.entries: “many” is not a count"),
            ("disk: { extends: always }", "cache.disk.extends: “always” is neither none nor cacheTime nor an interval such as 5m"),
            ("memory: { extends: 0s }", "cache.memory.extends: needs an interval greater than 0, such as 5m"),
        ] {
            XCTAssertThrowsError(try parse(written), written) { XCTAssertTrue("\($0)".hasPrefix(message), "\($0)") }
        }
    }

    private func parse(_ cache: String) throws -> ServerConfiguration {
        try ConfigurationFile(environment: [:]).parse("cache: { \(cache) }\nsources: { s: { type: sample } }")
    }

    private func context(_ memory: String, _ disk: String) throws -> ServerContext {
        let context = try ServerContext(
            try parse("\(memory), disk: { path: \"\(folder())\", \(disk) }"), .standard, clock: clock.wallClock,
            logger: RunningServer.silent)
        addTeardownBlock { try await context.shutdown() }
        return context
    }
}
