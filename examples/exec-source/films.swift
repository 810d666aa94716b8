// The same source as films.py, in Swift. Compile it: swiftc -O films.swift -o films
import Foundation

struct Film: Encodable {
    var id: String
    var name: String
    var originalName: String
    var releaseDate: String
}

struct Picture: Encodable {
    var url: String
    var width = 1000
    var height = 1436
    var site = "films.example"
}

struct Fault: Error, Encodable {
    var code: Int
    var message: String
}

struct Call: Decodable {
    struct Parameters: Decodable {
        var id: String?
        var date: String?
        var phrase: String?
        var page: Int?
    }
    var id: Int
    var method: String
    var params: Parameters
}

struct Answer<Result: Encodable>: Encodable {
    var jsonrpc = "2.0"
    var id: Int
    var result: Result?
    var error: Fault?
}

struct Page: Encodable {
    var titles: [Film]
    var total: Int
}

let films = [
    Film(id: "1", name: "The Moon's Gardener", originalName: "달의 정원사", releaseDate: "2026-10-28"),
    Film(id: "2", name: "Galaxy Laundry", originalName: "은하 세탁소", releaseDate: "2026-11-04"),
    Film(id: "3", name: "Paper Spaceship", originalName: "종이 우주선", releaseDate: "2026-09-09"),
]

func film(_ id: String?) throws(Fault) -> Film {
    guard let film = films.first(where: { $0.id == id }) else { throw Fault(code: -32_001, message: "there is no such film") }
    return film
}

func answer(_ call: Call) throws -> any Encodable {
    switch call.method {
    case "initialize": return ["protocol": 1]
    case "titles":
        guard call.params.date == nil else { throw Fault(code: -32_005, message: "lists by day") }
        let phrase = call.params.phrase ?? ""
        let found = films.filter { phrase.isEmpty || $0.name.lowercased().contains(phrase.lowercased()) }
        return Page(titles: call.params.page == 1 ? found : [], total: found.count)
    case "title": return try film(call.params.id)
    case "candidates":
        let code = ["1": "2026A100", "2": "2026A107", "3": "2026A114"][try film(call.params.id).id] ?? ""
        return ["candidates": [Picture(url: "http://127.0.0.1:9090/pictures/films.example/\(code)/1000x1436/poster.jpg")]]
    default: throw Fault(code: -32_601, message: "unknown method \(call.method)")
    }
}

func write(_ answer: some Encodable) throws {
    try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(answer) + Data("\n".utf8))
}

func reply(_ result: some Encodable, to call: Call) throws { try write(Answer(id: call.id, result: result)) }

while let line = readLine() {
    let call = try JSONDecoder().decode(Call.self, from: Data(line.utf8))
    do {
        try reply(try answer(call), to: call)
    } catch let fault as Fault {
        try write(Answer<Page>(id: call.id, error: fault))
    }
}
