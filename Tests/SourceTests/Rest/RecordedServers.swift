import NIOCore
import OnesheetCore
import OnesheetTesting

/// Servers of one's own, and services that are asked for pictures, in the shape of their answers.
extension RecordedDatabases {
    static let jellyfinID = "f27caa37e5142225cceded48f6553502"

    static func jellyfin() -> FakeTransport {
        let film = """
            {"Name":"Parasite","OriginalTitle":"기생충","ServerId":"7f0","Id":"\(jellyfinID)","PremiereDate":"2019-05-30T00:00:00.0000000Z",\
            "Overview":"A family.","CommunityRating":8.5,"RunTimeTicks":79200000000,"ProductionYear":2019,"IsFolder":false,"Type":"Movie",\
            "ProviderIds":{"Tmdb":"496243","Imdb":"tt6751668","TmdbCollection":""},"ImageTags":{"Primary":"p1","Logo":"l1"},\
            "BackdropImageTags":["b1","b2"],"ImageBlurHashes":{},"LocationType":"FileSystem","MediaType":"Video"}
            """
        func items(_ list: String, _ count: Int) -> String {
            "{\"Items\":[\(list)],\"TotalRecordCount\":\(count),\"StartIndex\":0}"
        }
        return transport(
            "http://localhost:8096",
            [
                ("*", 404, #""Error processing request.""#), ("/Items?recursive=true&includeItemTypes=Movie&", 200, items(film, 1)),
                ("/Items?ids=", 200, items("", 0)), ("/Items?ids=\(jellyfinID)&", 200, items(film, 1)),
                (
                    "/Items/\(jellyfinID)/Images", 200,
                    """
                    [{"ImageType":"Primary","ImageTag":"p1","Path":"/films/p.jpg","BlurHash":"W","Height":1500,"Width":1000,"Size":9},\
                    {"ImageType":"Logo","ImageTag":"l1","Path":"/films/l.png","Height":310,"Width":800,"Size":9},\
                    {"ImageType":"Thumb","ImageTag":"t1","Path":"/films/t.jpg","Height":562,"Width":1000,"Size":9},\
                    {"ImageType":"Backdrop","ImageIndex":0,"ImageTag":"b1","Path":"/films/0.jpg","Height":2160,"Width":3840,"Size":9},\
                    {"ImageType":"Backdrop","ImageIndex":1,"ImageTag":"b2","Path":"/films/1.jpg","Height":2160,"Width":3840,"Size":9}]
                    """
                ),
            ])
    }

    static func plex() -> FakeTransport {
        let film = """
            {"ratingKey":"1024","key":"/library/metadata/1024","guid":"plex://movie/5d776b9a","studio":"Barunson","type":"movie",\
            "title":"Parasite","originalTitle":"기생충","contentRating":"R","summary":"A family.","rating":9.9,"year":2019,\
            "thumb":"/library/metadata/1024/thumb/1700000000","art":"/library/metadata/1024/art/1700000000","duration":7977000,\
            "originallyAvailableAt":"2019-05-30","addedAt":1700000000,"Guid":[{"id":"imdb://tt6751668"},{"id":"tmdb://496243"}],\
            "Genre":[{"tag":"Comedy"},{"tag":"Thriller"}],"Image":[\
            {"alt":"Parasite","type":"coverPoster","url":"/library/metadata/1024/thumb/1700000000"},\
            {"alt":"Parasite","type":"background","url":"/library/metadata/1024/art/1700000000"},\
            {"alt":"Parasite","type":"clearLogo","url":"/library/metadata/1024/clearLogo/1700000000"},\
            {"alt":"Parasite","type":"backgroundSquare","url":"/library/metadata/1024/squareArt/1700000000"}]}
            """
        return transport(
            "http://localhost:32400",
            [
                ("*", 404, "<html><head><title>Not Found</title></head><body><h1>404 Not Found</h1></body></html>"),
                (
                    "/library/sections/1/all?type=1&", 200,
                    "{\"MediaContainer\":{\"size\":1,\"totalSize\":1,\"offset\":0,\"Metadata\":[\(film)]}}"
                ),
                ("/library/sections/1/all?type=1&title=nothing&", 200, #"{"MediaContainer":{"size":0,"totalSize":0,"offset":0}}"#),
                ("/library/metadata/1024", 200, "{\"MediaContainer\":{\"size\":1,\"Metadata\":[\(film)]}}"),
            ])
    }

    static func wikidata() -> FakeTransport {
        @Sendable func rows(_ row: [String: String]) -> String {
            let members = row.sorted { $0.key < $1.key }.map { "\"\($0)\":{\"type\":\"literal\",\($1)}" }
            return "{\"head\":{\"vars\":[]},\"results\":{\"bindings\":[{\(members.joined(separator: ","))}]}}"
        }
        @Sendable func file(_ name: String) -> String { "http://commons.wikimedia.org/wiki/Special:FilePath/\(name)?width=1920" }
        let transport = transport(
            "https://www.wikidata.org/w/api.php?action=wbsearchentities&",
            [
                (
                    "*", 200,
                    """
                    {"searchinfo":{"search":"parasite"},"search":[{"id":"Q61448040","title":"Q61448040","pageid":1,\
                    "url":"//www.wikidata.org/wiki/Q61448040","label":"Parasite","description":"2019 film by Bong Joon-ho",\
                    "match":{"type":"label","language":"en","text":"Parasite"}}],"success":1}
                    """
                )
            ])
        transport.on("https://query.wikidata.org/sparql?format=json&query=SELECT%20") { request in
            let query = request.url
            let text: String
            if query.contains("wdt:P345%20%22tt6751668%22") {
                text = rows(["film": #""value":"http://www.wikidata.org/entity/Q61448040""#])
            } else if query.contains("wdt:P345%20%22") {
                text = #"{"head":{"vars":["film"]},"results":{"bindings":[]}}"#
            } else if !query.contains("wd:Q61448040") {
                text = rows(["known": #""value":"0""#, "posters": #""value":"""#])
            } else if query.contains("GROUP_CONCAT") {
                text = rows([
                    "known": #""value":"6""#, "posters": "\"value\":\"\(file("One.jpg"))|\(file("Two.png"))\"",
                    "logos": "\"value\":\"\(file("Logo%20of%20it.svg"))\"", "images": #""value":"""#,
                ])
            } else {
                text = rows([
                    "known": #""value":"6""#, "other": #""xml:lang":"en","value":"Parasite""#, "imdb": #""value":"tt6751668""#,
                    "original": #""xml:lang":"ko","value":"기생충""#, "date": #""value":"2019-05-21T00:00:00Z""#,
                    "tmdb": #""value":"496243""#,
                ])
            }
            return HTTPAnswer(status: 200, headers: ["content-type": "application/sparql-results+json"], body: .init(string: text))
        }
        return transport
    }

    /// KOBIS with Naver's pictures.
    static func naver() -> FakeTransport {
        let transport = RecordedKOBIS.transport()
        transport.on(
            "https://naverapihub.apigw.ntruss.com/search/v1/image?",
            """
            {"lastBuildDate":"Sat, 28 Nov 2026 17:00:00 +0900","total":2,"start":1,"display":2,"items":[\
            {"title":"<b>광해</b> 스틸","link":"https://blog.example/still.jpg","thumbnail":"https://search.pstatic.net/s","sizeheight":"500","sizewidth":"2000"},\
            {"title":"<b>광해</b> 포스터","link":"https://blog.example/poster.jpg","thumbnail":"https://search.pstatic.net/p","sizeheight":"1500","sizewidth":"1050"}]}
            """)
        return transport
    }
}
