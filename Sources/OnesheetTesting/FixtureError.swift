/// Why a fixture, or a program that a test needs, is not there.
package struct FixtureError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
