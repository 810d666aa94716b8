internal import FoundationEssentials
public import OnesheetCore

/// Makes every kind of call to a source and passes its answers through the checks of the server.
public enum AnswerTrial {
    /// - Returns: the problems; empty if each answer is usable or a `SourceError`.
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
