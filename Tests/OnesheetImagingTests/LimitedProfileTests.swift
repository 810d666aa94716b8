import OnesheetCore
import OnesheetTesting
import XCTest

@testable import OnesheetImaging

final class LimitedProfileTests: XCTestCase {
    /// The tags of a profile: names and bytes.
    private func tags(_ profile: [UInt8]) -> [(name: String, size: Int)] {
        func long(_ place: Int) -> Int { profile[place..<place + 4].reduce(0) { $0 << 8 | Int($1) } }
        return (0..<long(128)).map { index in
            let place = 132 + index * 12
            return (String(decoding: profile[place..<place + 4], as: UTF8.self), long(place + 8))
        }
    }

    private func set(_ profile: inout [UInt8], _ bytes: some Collection<UInt8>, at place: Int) {
        profile.replaceSubrange(place..<place + bytes.count, with: bytes)
    }

    func testThatUsualProfilesAreTakenAsTheyAre() {
        for profile in [
            DrawnProfile.sRGB, DrawnProfile.displayP3, DrawnProfile.linearSRGB, DrawnProfile.gray(gamma: 2.2),
            DrawnProfile.blackOnly,
        ] {
            XCTAssertEqual(LimitedProfile(profile)?.bytes, profile)
        }
    }

    func testThatStagesOfFloatingPointAreNotSeenHoweverManyThereAre() throws {
        for stages in [1, 10, 5000] {
            // Given a profile that Little CMS would sample at 33³ colours through all stages
            let profile = DrawnProfile.displayP3(stages: stages)
            // When
            let limited = try XCTUnwrap(LimitedProfile(profile)).bytes
            // Then the floating-point tags have unique unknown names, and the others are unchanged
            XCTAssertEqual(limited.count, profile.count)
            let names = tags(limited).map(\.name)
            XCTAssertFalse(names.contains { $0.hasPrefix("D2B") || $0.hasPrefix("B2D") })
            XCTAssertEqual(Set(names).count, 9)
            XCTAssertEqual(names.filter { !$0.hasPrefix("\0") }, tags(DrawnProfile.displayP3).map(\.name))
        }
    }

    func testThatSuchAProfileStillSaysWhatItsOtherTagsSay() throws {
        // Given
        let colors = [DrawnProfile.displayP3, DrawnProfile.displayP3(stages: 5000)]
        // When
        let converted = try colors.map { profile in
            let conversion = try XCTUnwrap(ColorConversion(.icc(profile), channels: 3, hasAlpha: false))
            var (from, to) = ([UInt8]([204, 51, 51, 20, 200, 90]), [UInt8](repeating: 0, count: 6))
            conversion.apply(&from, &to, pixels: 2)
            return to
        }
        // Then
        for (left, right) in zip(converted[0], converted[1]) { XCTAssertEqual(Int(left), Int(right), accuracy: 1) }
    }

    func testThatOtherKindsOfProfilesAreNone() {
        for kind in ["link", "abst", "nmcl", "cenc", "????"] {
            var profile = DrawnProfile.displayP3
            set(&profile, kind.utf8, at: 12)
            XCTAssertNil(LimitedProfile(profile), kind)
        }
    }

    func testThatMoreTagsThanThereMayBeAreNone() {
        var profile = DrawnProfile.displayP3
        set(&profile, [0, 0, 0, 101], at: 128)
        XCTAssertNil(LimitedProfile(profile + [UInt8](repeating: 0, count: 2000)))
        // And a table beyond the end of the profile, for any announced number of tags
        for count in [[0, 0, 0, 100], [0xFF, 0xFF, 0xFF, 0xFF]] as [[UInt8]] {
            set(&profile, count, at: 128)
            XCTAssertNil(LimitedProfile(profile))
        }
    }

    func testThatAProfileThatIsTooLargeOrTooSmallIsNone() {
        let (profile, largest) = (DrawnProfile.displayP3, ImageHeader.largestProfile)
        XCTAssertNotNil(LimitedProfile(profile + [UInt8](repeating: 0, count: largest - profile.count)))
        XCTAssertNil(LimitedProfile(profile + [UInt8](repeating: 0, count: largest - profile.count + 1)))
        for count in [0, 1, 127, 131, 200] { XCTAssertNil(LimitedProfile(Array(profile.prefix(count)))) }
    }

    func testATableThatIsLargerThanItsBytesIsNone() throws {
        // Given a table of four inputs, whose grid has two points in each direction
        let profile = DrawnProfile.blackOnly
        let start = try XCTUnwrap(profile.indices.first { profile[$0...].starts(with: "mft1".utf8) })
        // When its grid exceeds its bytes, or it has more inputs or outputs, or none
        for (place, value) in [(10, 3), (10, 255), (8, 5), (8, 15), (8, 0), (9, 5), (9, 0)] {
            var profile = profile
            profile[start + place] = UInt8(value)
            // Then
            XCTAssertNil(LimitedProfile(profile), "byte \(place) is \(value)")
        }
        // Or its type does not exist
        var other = profile
        set(&other, "mpet".utf8, at: start)
        XCTAssertNil(LimitedProfile(other))
        // Or it is not in the profile
        let tag = try XCTUnwrap(profile.indices.first { profile[$0...].starts(with: "A2B0".utf8) })
        let wrong: [(Int, [UInt8])] = [
            (4, [0, 0, 255, 0]), (8, [0, 0, 255, 0]), (4, [255, 255, 255, 255]), (8, [0, 0, 0, 31]),
        ]
        for (place, bytes) in wrong {
            var other = profile
            set(&other, bytes, at: tag + place)
            XCTAssertNil(LimitedProfile(other))
        }
    }

    func testADamagedTableThatIsNotNeededIsLeftOut() throws {
        // Given a profile with a table of a kind that cannot be
        var profile = DrawnProfile.displayP3(stages: 1)
        let tag = try XCTUnwrap(profile.indices.first { profile[$0...].starts(with: "D2B0".utf8) })
        for name in ["A2B2", "B2A0", "B2A2"] {
            set(&profile, name.utf8, at: tag)
            // When colours are converted with it, then the result is that without the table
            let conversions = [profile, DrawnProfile.displayP3].map { ColorConversion(.icc($0), channels: 3, hasAlpha: false) }
            let converted = try conversions.map { conversion in
                var (from, to) = ([UInt8]([204, 51, 51]), [UInt8](repeating: 0, count: 3))
                try XCTUnwrap(conversion, name).apply(&from, &to, pixels: 1)
                return to
            }
            XCTAssertEqual(converted[0], converted[1], name)
        }
    }

    func testThatAnyBytesAreAProfileOrNone() {
        var random = SplitMix(seed: 7)
        for profile in [DrawnProfile.blackOnly, DrawnProfile.displayP3(stages: 3)] {
            for _ in 0..<2000 {
                var damaged = profile
                for _ in 0..<Int.random(in: 1...6, using: &random) {
                    damaged[Int.random(in: 0..<300, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                if let limited = LimitedProfile(Array(damaged.prefix(Int.random(in: 100...damaged.count, using: &random)))) {
                    XCTAssertLessThanOrEqual(limited.bytes.count, profile.count)
                }
            }
        }
    }

    func testThatConversionsAreKeptByWhatTheyTakeAndNotByNumber() throws {
        // Given
        let conversions = ColorConversions()
        // When many different profiles are used
        for index in 0..<60 {
            let profile = DrawnProfile.displayP3 + [UInt8](repeating: 1, count: 50_000) + [UInt8(index & 255), UInt8(index >> 8)]
            _ = try XCTUnwrap(conversions.conversion(.icc(profile), model: .rgb, hasAlpha: false))
            XCTAssertLessThanOrEqual(conversions.bytes, ColorConversions.limit)
        }
        // Then some are stored, and the last one used is the same object
        XCTAssertGreaterThan(conversions.bytes, ColorConversions.limit / 2)
        let first = conversions.conversion(.icc(DrawnProfile.displayP3), model: .rgb, hasAlpha: false)
        XCTAssertTrue(first === conversions.conversion(.icc(DrawnProfile.displayP3), model: .rgb, hasAlpha: false))
        XCTAssertFalse(first === conversions.conversion(.icc(DrawnProfile.displayP3), model: .rgb, hasAlpha: true))
    }

    func testThatAKeyIsSixteenBytesAndTellsProfilesApart() {
        XCTAssertEqual(MemoryLayout<ColorDigest>.size, 16)
        let profile = DrawnProfile.displayP3
        XCTAssertEqual(ColorDigest(.icc(profile)), ColorDigest(.icc(Array(profile))))
        var all = Set([ColorDigest(.icc(profile)), ColorDigest(.gamma(2, chromaticities: nil))])
        for place in 0..<100 {
            var other = profile
            other[place] ^= 1
            all.insert(ColorDigest(.icc(other)))
        }
        XCTAssertEqual(all.count, 102)
    }
}
