internal import FoundationEssentials
public import OnesheetCore

/// Asks a source for all that it can be asked, and holds what it answers against what the server does with answers.
public enum AnswerTrial {
    /// - Returns: what is wrong; empty where each answer can be used or is an error of a source's.
    public static func problems(of source: any ContentSource, id: String, _ query: TitleQuery = TitleQuery()) async -> [String] {
        var problems: [String] = []
        func note(_ error: SourceError) {
            if "\(AnswerCheck.checked(error))".utf8.count > 1500 { problems.append("an error of \("\(error)".utf8.count) bytes") }
        }
        do throws(SourceError) {
            problems += encoding(try AnswerCheck.checked(try await source.titles(query)))
        } catch { note(error) }
        do throws(SourceError) {
            problems += encoding(try AnswerCheck.checked(try await source.title(id)))
        } catch { note(error) }
        do throws(SourceError) {
            for candidate in try AnswerCheck.checked(try await source.candidates(for: id)) {
                let numbers = [candidate.width, candidate.height].compactMap(\.self)
                if !numbers.allSatisfy({ $0 > 0 }) { problems.append("a size of \(numbers)") }
                let scoring = PosterScore()
                if !scoring.score(candidate).isFinite { problems.append("a score of \(scoring.score(candidate))") }
            }
        } catch { note(error) }
        return problems
    }

    private static func encoding(_ answer: some Encodable) -> [String] {
        do {
            _ = try JSONEncoder().encode(answer)
            return []
        } catch {
            return ["an answer that cannot be written: \(error)"]
        }
    }
}
