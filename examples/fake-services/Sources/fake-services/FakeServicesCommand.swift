public import ArgumentParser
public import FakeServices
internal import Foundation

@main
struct FakeServicesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fake-services",
        abstract: "Plays KOBIS, Kakao's image search and the hosts of pictures on this machine.",
        discussion: """
            Services: /kobis/… (baseURL of a boxoffice source), /kakao/… (baseURL of a kakao source), /pictures/….
            The key “bad” is refused and the key “exhausted” has used up its day, whatever --fault says.
            /_counts tells how many requests each service has had.
            Damaged pictures: /pictures/fault/{html|empty|truncated|broken|endless|silence|loop|moved|private|error}.
            """)

    @Option(help: "The port on 127.0.0.1; 0 takes a free one.")
    var port = 9090

    @Option(help: "A fault to play for every request: \(Fault.allCases.map(\.rawValue).joined(separator: ", ")).")
    var fault: Fault?

    func run() async throws {
        let server = try await Server.start(FakeServices(fault: fault), port: port)
        // Not buffered, because the caller waits for this line.
        try FileHandle.standardOutput.write(contentsOf: Data("fake services at \(server.address)\n".utf8))
        try await server.untilStopped()
    }
}

extension Fault: ExpressibleByArgument {}
