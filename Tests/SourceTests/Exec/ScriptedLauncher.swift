import Foundation
import OnesheetCore
import Synchronization

@testable import ExecSource

/// Starts simulated programs: a closure handles each line.
final class ScriptedLauncher: ChildLauncher {
    struct Call: Decodable {
        var id: Int
        var method: String
        var params: JSONValue
    }

    /// The reaction of a program to a call.
    enum Reaction {
        case answer(String)
        case raw(String)
        case end
        case nothing
    }

    struct Refused: Error, CustomStringConvertible { let description = "no such program" }

    private struct State {
        var starts = 0
        /// The numbers of the programs that were stopped, and of those that ended by themselves.
        var stopped: Set<Int> = []
        var ended: Set<Int> = []
        var lines: [String] = []
    }

    private let state = Mutex(State())
    /// The number of the start, from 1, and the call.
    private let react: @Sendable (Int, Call) -> Reaction
    private let mayStart: @Sendable (Int) -> Bool
    private let greet: @Sendable (Int) -> Reaction
    private let lastWords: String?

    /// - Parameters:
    ///   - lastWords: what a program writes to standard error before its end.
    ///   - greet: the reaction of the program of that start to the greeting.
    init(
        lastWords: String? = nil, mayStart: @escaping @Sendable (Int) -> Bool = { _ in true },
        greet: @escaping @Sendable (Int) -> Reaction = { _ in .answer(#"{"protocol":1}"#) },
        _ react: @escaping @Sendable (Int, Call) -> Reaction
    ) {
        self.lastWords = lastWords
        self.mayStart = mayStart
        self.greet = greet
        self.react = react
    }

    var starts: Int { state.withLock { $0.starts } }
    var stops: Int { state.withLock { $0.stopped.count } }
    var lines: [String] { state.withLock { $0.lines } }

    func launch(_ listener: Conversation) throws -> any Child {
        let number = state.withLock { state in
            state.starts += 1
            return state.starts
        }
        guard mayStart(number) else { throw Refused() }
        return Played(launcher: self, number: number, listener: listener)
    }

    private func handle(_ line: Data, _ number: Int, _ listener: Conversation) {
        state.withLock { $0.lines.append(String(decoding: line, as: UTF8.self)) }
        guard let call = try? JSONDecoder().decode(Call.self, from: line) else {
            return listener.ended("the test cannot read the call", lastWords: nil)
        }
        let reaction = call.method == "initialize" ? greet(number) : react(number, call)
        switch reaction {
        case .answer(let result): listener.received(Data(#"{"jsonrpc":"2.0","id":\#(call.id),"result":\#(result)}"#.utf8))
        case .raw(let text): listener.received(Data(text.replacing("ID", with: String(call.id)).utf8))
        case .end:
            state.withLock { _ = $0.ended.insert(number) }
            listener.ended("the program has ended", lastWords: lastWords)
        case .nothing: break
        }
    }

    private struct Played: Child {
        let launcher: ScriptedLauncher
        let number: Int
        let listener: Conversation

        func send(_ line: Data) { launcher.handle(line, number, listener) }
        func stop() { launcher.state.withLock { _ = $0.stopped.insert(number) } }
        func shutdown() async { stop() }
        var isRunning: Bool { launcher.state.withLock { !$0.stopped.contains(number) && !$0.ended.contains(number) } }
    }
}
