/// The name among `names` that is most similar to `word`. `nil` if none is similar, or if `word` is longer than every name: the
/// comparison takes time proportional to both lengths, and words come from outside.
public func nearestName(to word: String, among names: some Sequence<String>) -> String? {
    guard word.utf8.count <= 64 else { return nil }
    let limit = max(1, word.count / 2)
    return names.map { ($0, editDistance(word.lowercased(), $0.lowercased())) }
        .filter { $0.1 <= limit }
        .min { ($0.1, $0.0) < ($1.1, $1.0) }?.0
}

/// The message for an unknown name, with the nearest known name, all known names, or that there are none.
/// - Parameter listsAll: whether all known names follow the nearest one too.
public func unknownName(_ word: String, kind: String, known: some Collection<String>, listsAll: Bool = false) -> String {
    let all = known.sorted().joined(separator: ", ")
    guard !all.isEmpty else { return "unknown \(kind) “\(word)”; there are none" }
    guard let near = nearestName(to: word, among: known) else { return "unknown \(kind) “\(word)”; known: \(all)" }
    return "unknown \(kind) “\(word)”; did you mean “\(near)”?" + (listsAll ? " Known: \(all)" : "")
}

/// Insertions, deletions, replacements and swaps of neighbours between two words (optimal string alignment).
private func editDistance(_ left: String, _ right: String) -> Int {
    let (a, b) = (Array(left), Array(right))
    var rows = [Array(0...b.count)]
    for i in 0..<a.count {
        var row = [i + 1]
        for j in 0..<b.count {
            var best = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
            if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
            row.append(best)
        }
        rows.append(row)
    }
    return rows[a.count][b.count]
}
