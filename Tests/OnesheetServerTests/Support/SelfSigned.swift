import Foundation
import XCTest

/// A self-signed certificate, made by the `openssl` program.
struct SelfSigned {
    let certificate: String
    let key: String

    /// Makes one for 127.0.0.1, replacing the one in `folder`.
    init(in folder: String) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        (certificate, key) = (folder + "/certificate.pem", folder + "/key.pem")
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate,
        ]
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0, "openssl did not make a certificate")
    }

    /// For the configuration file.
    var yaml: String { "tls: { certificate: \"\(certificate)\", key: \"\(key)\" }" }
}
