import Foundation
import OnesheetAddress
import OnesheetConsole

/// What to request of each route, by its name. The stress test's `every-route` attacks with the same paths.
enum RouteExamples {
    /// The paths for the title with this id and this number.
    static func paths(_ id: String, number: Int) throws -> [String: [String]] {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "Stress/routes.json")
        let title = PercentEncoding.encode(id)
        return try JSONDecoder().decode([String: [String]].self, from: Data(contentsOf: file)).mapValues { paths in
            paths.map {
                $0.replacing("{title}", with: title).replacing("{twice}", with: PercentEncoding.encode(title))
                    .replacing("{width}", with: "\(number)").replacing("{console}", with: ConsoleAsset.folder + "main.js")
            }
        }
    }
}
