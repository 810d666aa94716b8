import NIOCore
import OnesheetCore
import OnesheetTesting

/// The databases of the built-in manifests, in the shape of their answers.
enum RecordedDatabases {
    /// Answers by the part of the URL after the base. A `*` stands for everything else.
    static func transport(_ base: String, _ answers: [(String, Int, String)]) -> FakeTransport {
        let transport = FakeTransport()
        for (path, status, body) in answers { transport.on(path == "*" ? base : base + path, status: status, body) }
        return transport
    }

    /// TMDB's answers to ids that are not films'.
    static func tmdb() -> FakeTransport {
        func images(_ kind: String, _ name: String) -> String {
            """
            {"id":1,"\(kind)":[{"aspect_ratio":0.667,"file_path":"/\(name).jpg","height":3000,"iso_3166_1":"KR","iso_639_1":"ko",\
            "vote_average":5.3,"vote_count":9,"width":2000}]}
            """
        }
        func found(_ kind: String, _ id: Int) -> String {
            let kinds = ["movie", "person", "tv", "tv_episode", "tv_season"]
            let lists = kinds.map { "\"\($0)_results\":[\($0 == kind ? "{\"id\":\(id),\"media_type\":\"\(kind)\"}" : "")]" }
            return "{\(lists.joined(separator: ","))}"
        }
        let transport = transport(
            RecordedTMDB.root,
            [
                ("*", 404, RecordedTMDB.missing),
                (
                    "/tv/7?", 200,
                    #"{"id":7,"name":"킹덤","original_name":"킹덤","original_language":"ko","first_air_date":"2019-01-25","seasons":[]}"#
                ),
                ("/tv/7/images", 200, images("posters", "show")),
                (
                    "/tv/7/season/2?", 200,
                    #"{"_id":"a","id":70,"name":"Season 2","air_date":"2020-03-13","season_number":2,"episodes":[]}"#
                ),
                ("/tv/7/season/2/images", 200, images("posters", "season")),
                (
                    "/person/5?", 200,
                    #"{"id":5,"name":"봉준호","biography":"","birthday":"1969-09-14","known_for_department":"Directing"}"#
                ),
                ("/person/5/images", 200, images("profiles", "person")),
                ("/collection/3?", 200, #"{"id":3,"name":"Trilogy","overview":"","parts":[]}"#),
                ("/collection/3/images", 200, images("posters", "collection")), ("/movie/10?", 200, RecordedTMDB.movie),
                ("/movie/10/images", 200, images("posters", "film")),
                ("/find/tt10?external_source=imdb_id", 200, found("movie", 10)),
                ("/find/tt7?external_source=imdb_id", 200, found("tv", 7)),
                ("/find/tt1?external_source=imdb_id", 200, found("", 0)),
            ])
        return transport
    }

    static func omdb() -> FakeTransport {
        let film = """
            {"Title":"Parasite","Year":"2019","Rated":"R","Released":"08 Nov 2019","Runtime":"132 min","Genre":"Drama, Thriller",\
            "Director":"Bong Joon Ho","Writer":"Bong Joon Ho, Han Jin-won","Plot":"Greed\tand class.","Language":"Korean, English",\
            "Country":"South Korea","Awards":"N/A","Poster":"https://m.media-amazon.com/images/M/MV5B._V1_SX300.jpg",\
            "Ratings":[{"Source":"Metacritic","Value":"97/100"}],"Metascore":"97","imdbRating":"8.5","imdbVotes":"1,012,233",\
            "imdbID":"tt6751668","Type":"movie","DVD":"N/A","BoxOffice":"$53,369,749","Production":"N/A","Website":"N/A","Response":"True"}
            """
        let bare = """
            {"Title":"Rare","Year":"1971–1972","Released":"N/A","Runtime":"N/A","Genre":"N/A","Director":"N/A","Plot":"N/A","Poster":"N/A",\
            "imdbRating":"N/A","imdbVotes":"N/A","imdbID":"tt0000002","Type":"movie","Response":"True"}
            """
        let rows = ["tt6751668", "tt0000002"].map {
            #"{"Title":"Parasite","Year":"2019","imdbID":"\#($0)","Type":"movie","Poster":"N/A"}"#
        }
        return transport(
            "https://www.omdbapi.com/?apikey=k",
            [
                ("*", 200, #"{"Response":"False","Error":"Incorrect IMDb ID."}"#),
                (
                    "&type=movie&s=parasite", 200,
                    #"{"Search":[\#(rows.joined(separator: ","))],"totalResults":"2","Response":"True"}"#
                ),
                ("&type=movie&s=nothing", 200, #"{"Response":"False","Error":"Movie not found!"}"#),
                ("&plot=full&i=tt6751668", 200, film),
                ("&plot=full&i=tt0000002", 200, bare),
            ])
    }

    static func trakt() -> FakeTransport {
        @Sendable func film(_ id: Int, _ more: String = "") -> String {
            """
            {"title":"Parasite \(id)","year":2019,"ids":{"trakt":\(id),"slug":"parasite-2019","imdb":"tt6751668","tmdb":496243},\
            "tagline":"","overview":"Greed.","released":"2019-05-30","runtime":132,"country":"kr","language":"ko","genres":["drama"],\
            "rating":8.3,"votes":27000,"original_title":"기생충"\(more)}
            """
        }
        let images = """
            ,"images":{"fanart":["media.trakt.tv/images/movies/000/1/fanarts/medium/f.jpg.webp"],\
            "poster":["media.trakt.tv/images/movies/000/1/posters/medium/p.jpg.webp"],\
            "logo":["media.trakt.tv/images/movies/000/1/logos/medium/l.png.webp"],"clearart":[],"banner":[],"thumb":[]}
            """
        let transport = transport(
            "https://api.trakt.tv",
            [
                ("*", 404, ""), ("/movies/1?extended=full", 200, film(1)), ("/movies/2?extended=full", 200, film(2)),
                ("/movies/1?extended=images", 200, film(1, images)),
                ("/search/imdb/tt6751668?type=movie", 200, #"[{"type":"movie","score":1000,"movie":\#(film(1))}]"#),
                ("/search/imdb/tt1?type=movie", 200, "[]"),
            ])
        for (page, id) in [(1, 1), (2, 2)] {
            transport.on("https://api.trakt.tv/movies/trending?extended=full&limit=20&page=\(page)") { _ in
                HTTPAnswer(
                    status: 200, headers: ["x-pagination-page-count": "2", "x-pagination-item-count": "2"],
                    body: ByteBuffer(string: #"[{"watchers":21,"movie":\#(film(id))}]"#))
            }
        }
        return transport
    }

    static func kmdb() -> FakeTransport {
        let film = """
            {"DOCID":"K23039","movieId":"K","movieSeq":"23039","title":" !HS 기생충 !HE   흑백판","titleEng":"PARASITE","titleOrg":"",\
            "titleEtc":"기생충^PARASITE","prodYear":"2019","directors":{"director":[{"directorNm":" !HS 봉준호 !HE","directorEnNm":"Bong Joon-ho",\
            "directorId":"00004544"}]},"actors":{"actor":[{"actorNm":"송강호","actorEnNm":"Song Kang-ho","actorId":"1"}]},"nation":"대한민국",\
            "company":"바른손","plots":{"plot":[{"plotLang":"한국어","plotText":"가난한 가족."}]},"runtime":"131","rating":"15세관람가",\
            "genre":"드라마,스릴러","kmdbUrl":"https://www.kmdb.or.kr/db/kor/detail/movie/K/23039","repRlsDate":"20190530",\
            "posters":"http://file.koreafilm.or.kr/thm/02/00/05/22/tn_DPK012345.jpg|http://file.koreafilm.or.kr/thm/02/00/05/22/tn_DPK012346.JPG",\
            "stlls":"http://file.koreafilm.or.kr/thm/01/copy/00/01/tn_DST1.jpg"}
            """
        func answer(_ rows: [String]) -> String {
            """
            {"Query":"q","KMAQuery":"k","TotalCount":\(rows.count),"Data":[{"CollName":"kmdb_new2","TotalCount":\(rows.count),\
            "Count":\(rows.count),"Result":[\(rows.joined(separator: ","))]}]}
            """
        }
        let base =
            "https://api.koreafilm.or.kr/openapi-data2/wisenut/search_api/search_json2.jsp?collection=kmdb_new2&detail=Y&ServiceKey=k"
        let none = #"{"Query":"q","KMAQuery":"k","TotalCount":0,"Data":[{"CollName":"kmdb_new2","TotalCount":0,"Count":0}]}"#
        return transport(
            base,
            [
                ("*", 200, none), ("&title=%EA%B8%B0%EC%83%9D%EC%B6%A9&listCount=20&startCount=0", 200, answer([film])),
                ("&movieId=K&movieSeq=23039", 200, answer([film])),
            ])
    }

    static func anilist() -> FakeTransport {
        let transport = FakeTransport()
        @Sendable func media(_ id: Int) -> String {
            """
            {"id":\(id),"idMal":199,"title":{"romaji":"Sen to Chihiro no Kamikakushi","english":"Spirited Away","native":"千と千尋の神隠し"},\
            "format":"MOVIE","averageScore":86,"siteUrl":"https://anilist.co/anime/\(id)","description":"A girl.<br>A <i>bath house</i>.",\
            "startDate":{"year":2001,"month":7,"day":20},"countryOfOrigin":"JP","bannerImage":"https://s4.anilist.co/banner/\(id).jpg",\
            "coverImage":{"extraLarge":"https://s4.anilist.co/large/\(id).jpg","large":"https://s4.anilist.co/medium/\(id).jpg"}}
            """
        }
        transport.on("https://graphql.anilist.co/") { request in
            let body = request.body.map { String(buffer: $0) } ?? ""
            func answer(_ status: Int, _ text: String) -> HTTPAnswer { HTTPAnswer(status: status, body: ByteBuffer(string: text)) }
            for id in [199, 200] where body.contains(#""id":\#(id)"#) { return answer(200, #"{"data":{"Media":\#(media(id))}}"#) }
            for (page, id, more) in [(1, 199, "true"), (2, 200, "false")] where body.contains(#""page":\#(page)"#) {
                return answer(200, #"{"data":{"Page":{"pageInfo":{"hasNextPage":\#(more)},"media":[\#(media(id))]}}}"#)
            }
            return answer(
                404,
                #"{"data":{"Media":null},"errors":[{"message":"Not Found.","status":404,"locations":[{"line":1,"column":2}]}]}"#)
        }
        return transport
    }

    static func tvdb() -> FakeTransport {
        func artwork(_ type: Int, _ language: String, _ image: String) -> String {
            """
            {"id":1,"image":"\(image)","thumbnail":"\(image)","language":\(language),"type":\(type),"score":100011,"width":680,\
            "height":1000,"includesText":true}
            """
        }
        let host = "https://artworks.thetvdb.com"
        let film = """
            {"status":"success","data":{"id":99,"name":"Parasite","slug":"parasite","year":"2019","score":1,"runtime":132,\
            "first_release":{"country":"kor","date":"2019-05-30","detail":null},"originalCountry":"kor","originalLanguage":"kor",\
            "genres":[{"id":1,"name":"Drama"}],"artworks":[\(artwork(14, #""kor""#, "\(host)/banners/p1.jpg")),\
            \(artwork(14, #""zhtw""#, "/banners/p2.jpg")),\(artwork(15, "null", "\(host)/banners/b1.jpg")),\
            \(artwork(18, "null", "\(host)/banners/icon.jpg")),\(artwork(25, #""pt""#, "\(host)/banners/l1.png"))]}}
            """
        let show = """
            {"status":"success","data":{"id":7,"name":"Kingdom","firstAired":"2019-01-25","originalLanguage":"kor","originalCountry":"kor",\
            "overview":"A plague.","year":"2019","genres":[],"artworks":[\(artwork(2, #""eng""#, "\(host)/banners/s1.jpg")),\
            \(artwork(5, "null", "\(host)/banners/icon.jpg"))]}}
            """
        let search = """
            {"status":"success","data":[{"objectID":"movie-99","tvdb_id":"99","name":"Parasite","year":"2019","primary_language":"kor",\
            "first_air_time":"2019-05-30","overview":"Greed."}],"links":{"prev":null,"self":"x","next":null,"total_items":1,"page_size":50}}
            """
        let transport = transport(
            "https://api4.thetvdb.com/v4",
            [
                ("*", 404, #"{"status":"failure","message":"Not Found","data":null}"#),
                ("/login", 200, #"{"status":"success","data":{"token":"eyJhbGciOi.x.y"}}"#), ("/movies/99/extended", 200, film),
                ("/series/7/extended", 200, show), ("/search?type=movie&query=parasite&offset=0&limit=50", 200, search),
            ])
        return transport
    }

    static func itunes() -> FakeTransport {
        let film = """
            {"wrapperType":"track","kind":"feature-movie","trackId":1488498054,"artistName":"Bong Joon-ho","trackName":"Parasite",\
            "trackViewUrl":"https://itunes.apple.com/us/movie/parasite/id1488498054","artworkUrl30":"https://is1.mzstatic.com/p.jpg/30x30bb.jpg",\
            "artworkUrl100":"https://is1.mzstatic.com/p.jpg/100x100bb.jpg","releaseDate":"2019-11-08T08:00:00Z","country":"USA",\
            "primaryGenreName":"Thriller","contentAdvisoryRating":"R","longDescription":"Greed.","trackTimeMillis":7940000}
            """
        return transport(
            "https://itunes.apple.com",
            [
                ("*", 200, #"{"resultCount":0,"results":[]}"#),
                (
                    "/search?media=movie&entity=movie&limit=50&country=us&term=parasite", 200,
                    "\n\n\n{\"resultCount\":1,\"results\":[\(film)]}"
                ),
                ("/lookup?id=1488498054&country=us", 200, "\n\n\n{\"resultCount\":1,\"results\":[\(film)]}"),
            ])
    }

    static func fanart() -> FakeTransport {
        func picture(_ name: String, _ language: String) -> String {
            """
            {"id":"\(name)","url":"https://assets.fanart.tv/fanart/movies/1/\(name).jpg","lang":"\(language)","likes":"4","width":"1000",\
            "height":"1426"}
            """
        }
        let film = """
            {"name":"Parasite","tmdb_id":"496243","imdb_id":"tt6751668","image_count":4,"movieposter":[\(picture("ko", "ko")),\
            \(picture("plain", "00"))],"hdmovielogo":[\(picture("logo", "en"))],"movielogo":[\(picture("old", "en"))],"moviebackground":[\(picture("background", ""))]}
            """
        let show = #"{"name":"Kingdom","thetvdb_id":"350903","tvposter":[\#(picture("show", "en"))]}"#
        return transport(
            "https://webservice.fanart.tv/v3.2",
            [
                ("*", 404, #"{"status":"error","error message":"Not found"}"#), ("/movies/496243", 200, film),
                ("/movies/tt6751668", 200, film),
                ("/movies/2", 200, #"{"name":"Disc","tmdb_id":"2","moviedisc":[\#(picture("disc", "en"))]}"#),
                ("/tv/350903", 200, show),
            ])
    }
}
