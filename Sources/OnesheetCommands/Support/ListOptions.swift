import ArgumentParser
import OnesheetAddress
import OnesheetCore
import OnesheetPipeline
import OnesheetServer

/// The options for lists, sizes and formats that `prefetch` and `bundle` share.
struct ListOptions: ParsableArguments {
    @Argument(help: "The source's name in the configuration.")
    var source: String

    @Option(name: .long, help: ArgumentHelp("The list of this day, such as 2026-11-20.", valueName: "day"), transform: day)
    var date: CalendarDay?

    @Option(name: .long, help: ArgumentHelp("The first day of the lists. Needs --to.", valueName: "day"), transform: day)
    var from: CalendarDay?

    @Option(name: .long, help: ArgumentHelp("The last day of the lists. Needs --from.", valueName: "day"), transform: day)
    var to: CalendarDay?

    @Option(
        name: .long,
        help: "Sizes, separated by commas: \(SizeLadder.names.joined(separator: ", ")).")
    var sizes = PrefetchConfiguration.defaultSizes.joined(separator: ",")

    @Option(name: .long, help: "File extensions, separated by commas, such as jpg,avif; auto is for clients that prefer none.")
    var formats = PrefetchConfiguration.defaultFormats.joined(separator: ",")

    /// The order for the titles of these options, or for the titles that a command names by id, by a list or by a search. Each command makes it when
    /// it validates its arguments, which keep nothing else, and again when it runs.
    /// - Throws: `ValidationError` if the options make no order.
    func order(ids: [String] = [], list name: String? = nil, query: String? = nil) throws(ValidationError) -> PrefetchOrder {
        do throws(RequestError) {
            return try PrefetchOrder(
                source: source, date: date, from: from, to: to, ids: ids, list: name, query: query, sizes: list(sizes),
                formats: list(formats),
                naming: { $0 == .ids ? "--id" : "--\($0.rawValue)" })
        } catch {
            throw ValidationError(error.description)
        }
    }

    /// Says that there is nothing to do, and why.
    func sayEmpty(list name: String? = nil, query: String? = nil) {
        let what =
            if let query { "“\(source)” finds no title for “\(query)”" } else if let name {
                "the list “\(name)” of “\(source)” is empty"
            } else if let date {
                "“\(source)” has no list of \(date)"
            } else if let from, let to {
                "“\(source)” has no lists from \(from) to \(to)"
            } else {
                "the newest list of “\(source)” is empty"
            }
        StandardStreams.error("Warning:", as: .warning, " \(what)")
    }

    private func list(_ text: String) -> [String] { text.split(separator: ",").map { $0.filter { $0 != " " } } }

    @Sendable private static func day(_ text: String) throws -> CalendarDay { try CalendarDay(argument: text) }
}

extension CalendarDay {
    init(argument text: String) throws {
        guard let day = CalendarDay(text) else { throw ValidationError("“\(text)” is not a day such as 2026-11-20") }
        self = day
    }
}
