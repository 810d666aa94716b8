/// The version of the server (Semantic Versioning 2.0.0): the newest one in `CHANGELOG.md`.
package enum ServerVersion {
    package static let current = "0.1.0"
}
