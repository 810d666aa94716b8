import Foundation
import OnesheetClient

// Prints the addresses of the posters of a source's titles, at a width and a scale. With the administrator's token in ONESHEET_TOKEN, it
// first lets the server make them, and prints the progress.

/// Prints a text to standard error, beside the addresses.
func tell(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count == 4, let url = arguments.first, let width = Double(arguments[3]), let scale = Double(arguments[4]) else {
    tell("usage: poster-addresses URL SOURCE WIDTH SCALE, such as: poster-addresses http://127.0.0.1:8080 sample 114 3")
    exit(64)
}
let source = arguments[2]
let token = ProcessInfo.processInfo.environment["ONESHEET_TOKEN"]
let server = PosterServer(at: url, token: token)
let addresses = PosterAddresses(at: server.url)

do throws(ClientError) {
    let list = try await server.titles(of: source)
    if token != nil {
        let order = PrefetchOrder(
            source: source, titles: .ids(list.titles.map(\.title.id)), sizes: [SizeLadder.name(forWidth: width, scale: scale)],
            formats: ["jpg"])
        tell("\(try await server.cost(of: order).missing) posters to make")
        for try await progress in server.prefetch(order) { tell("\(progress.done) of \(progress.total)") }
    }
    for listed in list.titles {
        let title = TitleReference(source: source, id: listed.title.id)
        print(addresses.poster(of: title, width: width, scale: scale, format: .jpeg), listed.title.name)
    }
} catch {
    tell("\(error)")
    exit(1)
}
