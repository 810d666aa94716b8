import Foundation

// Prints the figures of the cache as Markdown tables. Arguments: any of `memory policy disk opening`, by default all. `--million`
// fills a folder with a million entries for `opening`, which takes minutes and five gigabytes.

let known = ["memory", "policy", "disk", "opening"]
let words = Array(CommandLine.arguments.dropFirst())
guard words.allSatisfy({ known.contains($0) || $0 == "--million" }) else {
    print("usage: cache-bench [\(known.joined(separator: "|"))] … [--million]")
    exit(64)
}
let chosen = Set(words).intersection(known)
func isChosen(_ name: String) -> Bool { chosen.isEmpty || chosen.contains(name) }

if isChosen("memory") { MemoryBench.run() }
if isChosen("policy") { PolicyBench.run() }
if isChosen("disk") { try await DiskBench.run() }
if isChosen("opening") {
    try await OpeningBench.run(sizes: words.contains("--million") ? [10_000, 100_000, 1_000_000] : [10_000, 100_000])
}
