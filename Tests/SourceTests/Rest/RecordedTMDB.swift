import ConfigurationYAML
import OnesheetCore
import OnesheetTesting
import RestSource

/// TMDB in its recorded form.
enum RecordedTMDB {
    static let root = "https://api.themoviedb.org/3"

    static func list(_ page: Int, of pages: Int) -> String {
        let films = (0..<2).map { index in
            """
            {"adult":false,"backdrop_path":null,"genre_ids":[18],"id":\(page * 10 + index),"original_language":"ko",\
            "original_title":"원제 \(index)","overview":"","popularity":12.5,"poster_path":"/p\(index).jpg","release_date":"2026-10-28",\
            "title":"Film \(page * 10 + index)","video":false,"vote_average":7,"vote_count":3}
            """
        }
        return
            #"{"page":\#(page),"results":[\#(films.joined(separator: ","))],"total_pages":\#(pages),"total_results":\#(pages * 2)}"#
    }

    static let movie = """
        {"id":10,"imdb_id":null,"title":"Film 10","original_title":"원제 0","overview":" About it. ","release_date":"2026-10-28","runtime":118,\
        "tagline":"","genres":[{"id":18,"name":"Drama"},{"id":14,"name":"Fantasy"}],"original_language":"ko","vote_average":7.25,"vote_count":3,\
        "poster_path":"/p0.jpg"}
        """

    static let images = """
        {"id":10,"backdrops":[\
        {"aspect_ratio":1.778,"file_path":"/d.jpg","height":1080,"iso_3166_1":null,"iso_639_1":null,"vote_average":5.5,"vote_count":4,"width":1920}],\
        "logos":[\
        {"aspect_ratio":2.5,"file_path":"/l.png","height":200,"iso_3166_1":"BR","iso_639_1":"pt","vote_average":0,"vote_count":0,"width":500}],\
        "posters":[\
        {"aspect_ratio":0.667,"file_path":"/b.jpg","height":3000,"iso_3166_1":"KR","iso_639_1":"ko","vote_average":5.3,"vote_count":9,"width":2000},\
        {"aspect_ratio":0.667,"file_path":"/a.jpg","height":1500,"iso_3166_1":null,"iso_639_1":null,"vote_average":5.1,"vote_count":3,"width":1000},\
        {"aspect_ratio":0.667,"file_path":"/b.jpg","height":3000,"iso_639_1":"ko","vote_average":5.3,"vote_count":9,"width":2000},\
        {"file_path":null}]}
        """

    static let missing = #"{"success":false,"status_code":34,"status_message":"The resource you requested could not be found."}"#
    static let badKey = #"{"status_code":7,"status_message":"Invalid API key: You must be granted a valid key.","success":false}"#

    static func transport() -> FakeTransport {
        let transport = FakeTransport()
        transport.on(root, status: 404, missing)
        for page in 1...3 {
            transport.on("\(root)/movie/now_playing?language=en-US&page=\(page)", list(page, of: 3))
            transport.on("\(root)/search/movie?query=film%20%26%20co&language=en-US&page=\(page)", list(page, of: 3))
        }
        for id in 10...31 {
            transport.on("\(root)/movie/\(id)?", movie.replacing("\"id\":10,", with: "\"id\":\(id),"))
            transport.on("\(root)/movie/\(id)/images", images)
        }
        return transport
    }

    static func source(_ transport: any HTTPTransport = transport()) throws -> RestSource {
        try source("manifest: tmdb\nvariables: { token: t0ken }", .forTesting(transport: transport))
    }

    static func source(_ yaml: String, _ context: PluginContext = .forTesting()) throws -> RestSource {
        try RestSource(
            try ConfigurationDecoder().decode(RestSource.Configuration.self, from: try ConfigurationValue(yaml: yaml)),
            context: context)
    }
}
