extension Manifest {
    /// The built-in manifests.
    static let shipped = [
        "tmdb": tmdb, "kobis-kakao": korea, "kobis-naver": koreaNaver, "anilist": ShippedManifest.anilist,
        "fanart": ShippedManifest.fanart,
        "itunes": ShippedManifest.itunes, "kmdb": ShippedManifest.kmdb, "omdb": ShippedManifest.omdb,
        "jellyfin": ShippedManifest.jellyfin, "plex": ShippedManifest.plex, "trakt": ShippedManifest.trakt,
        "tvdb": ShippedManifest.tvdb, "wikidata": ShippedManifest.wikidata,
    ]

    /// The Movie Database, <https://developer.themoviedb.org/reference>. This product uses the TMDB API but is not endorsed or
    /// certified by TMDB.
    private static let tmdb = """
        baseURL: https://api.themoviedb.org/3
        rate: 30
        ids: [tmdb, { tvdb: "tvdb-{id}" }, imdb]
        headers: { Authorization: "Bearer {token}" }
        query: { api_key: "{key}" }
        either: [token, key]
        defaults: { language: en-US, pictures: "https://image.tmdb.org/t/p/original" }
        files: "{pictures}{file}"
        faults:
          - { status: 401, reason: unauthorized, message: /status_message }
          - { status: 404, reason: notFound }
          - { status: 429, reason: rateLimited }
        list:
          get: "/movie/now_playing{?language,page}"
          items: /results
          total: /total_results
          pages: /total_pages
          lastPage: 500
          fields: &fields
            id: { at: /id, as: text }
            name: /title
            originalName: /original_title
            originalLanguage: /original_language
            overview: /overview
            releaseDate: /release_date
            metadata:
              voteAverage: /vote_average
              voteCount: /vote_count
              popularity: /popularity
              originalLanguage: /original_language
              posterPath: /poster_path
        genres:
          - { get: "/genre/movie/list{?language}", items: /genres, id: /id, name: /name }
          - { get: "/genre/tv/list{?language}", items: /genres, id: /id, name: /name }
        # The first 200 of each.
        lists:
          popular: { get: "/movie/popular{?language,page}", items: /results, pages: /total_pages, lastPage: 10, fields: *fields }
          top-rated: { get: "/movie/top_rated{?language,page}", items: /results, pages: /total_pages, lastPage: 10, fields: *fields }
          trending: { get: "/trending/movie/week{?language,page}", items: /results, pages: /total_pages, lastPage: 10, fields: *fields }
          "collection-{collection}": { get: "/collection/{collection}{?language}", items: /parts, fields: *fields }
          tv-popular:
            get: "/tv/popular{?language,page}"
            items: /results
            pages: /total_pages
            lastPage: 10
            fields: &shows
              id: { text: "tv-{/id}" }
              name: /name
              originalName: /original_name
              originalLanguage: /original_language
              overview: /overview
              releaseDate: /first_air_date
          tv-trending: { get: "/trending/tv/week{?language,page}", items: /results, pages: /total_pages, lastPage: 10, fields: *shows }
        search:
          get: "/search/movie{?query,language,page}"
          items: /results
          total: /total_results
          pages: /total_pages
          lastPage: 500
          fields: *fields
        title:
          get: "/movie/{id}?append_to_response=translations{&language}"
          fields:
            id: { at: /id, as: text }
            name: /title
            originalName: /original_title
            originalLanguage: /original_language
            overview: /overview
            releaseDate: /release_date
            ids: { tmdb: /id, imdb: /imdb_id }
            metadata:
              runtime: /runtime
              tagline: /tagline
              genres: { at: /genres, each: /name }
              voteAverage: /vote_average
              voteCount: /vote_count
              imdb: /imdb_id
              posterPath: /poster_path
              attribution: &attribution
                text: "This product uses the TMDB API but is not endorsed or certified by TMDB."
            # An empty text is that of the original language.
            translations: &translations
              items: /translations/translations
              language: /iso_639_1
              region: /iso_3166_1
              name: [/data/title, /data/name]
              overview: [/data/overview, /data/biography]
              metadata: { tagline: /data/tagline }
        candidates:
          get: "/movie/{id}/images"
          items: &lists { poster: /posters, backdrop: /backdrops, logo: /logos }
          fields: &picture
            prefix: "{pictures}"
            url: /file_path
            language: /iso_639_1
            region: /iso_3166_1
            votes: /vote_average
            count: /vote_count
            width: /width
            height: /height
        cases:
          - id: "tt{number}"
            resolve:
              get: "/find/{id}?external_source=imdb_id"
              id:
                - { at: /movie_results/0/id, as: text }
                - { text: "tv-{/tv_results/0/id}" }
                - &episode
                  text: "tv-{/tv_episode_results/0/show_id}-s{/tv_episode_results/0/season_number}-e{/tv_episode_results/0/episode_number}"
                - { text: "person-{/person_results/0/id}" }
          - id: "tt{number}-s{season}"
            resolve: { get: "/find/tt{number}?external_source=imdb_id", id: [{ text: "tv-{/tv_results/0/id}-s{season}" }] }
          - id: "tt{number}-s{season}-e{episode}"
            resolve:
              get: "/find/tt{number}?external_source=imdb_id"
              id: [{ text: "tv-{/tv_results/0/id}-s{season}-e{episode}" }]
          - id: "tvdb-{number}"
            resolve: { get: "/find/{number}?external_source=tvdb_id", id: [{ text: "tv-{/tv_results/0/id}" }, *episode] }
          - id: "tvdb-{number}-s{season}"
            resolve: { get: "/find/{number}?external_source=tvdb_id", id: [{ text: "tv-{/tv_results/0/id}-s{season}" }] }
          - id: "tvdb-{number}-s{season}-e{episode}"
            resolve:
              get: "/find/{number}?external_source=tvdb_id"
              id: [{ text: "tv-{/tv_results/0/id}-s{season}-e{episode}" }]
          - id: "movie-{movie}"
            title:
              get: "/movie/{movie}?append_to_response=translations{&language}"
              fields:
                id: { text: "movie-{/id}" }
                name: /title
                originalName: /original_title
                originalLanguage: /original_language
                overview: /overview
                releaseDate: /release_date
                ids: { tmdb: /id, imdb: /imdb_id }
                metadata: { runtime: /runtime, genres: { at: /genres, each: /name }, imdb: /imdb_id, attribution: *attribution }
                translations: *translations
            candidates: { get: "/movie/{movie}/images", items: *lists, fields: *picture }
          - id: "tv-{show}"
            title:
              get: "/tv/{show}?append_to_response=external_ids,translations{&language}"
              fields:
                id: { text: "tv-{/id}" }
                name: /name
                originalName: /original_name
                originalLanguage: /original_language
                overview: /overview
                releaseDate: /first_air_date
                # A show has the number of another film.
                ids: { tmdb: { text: "tv-{/id}" }, tvdb: /external_ids/tvdb_id, imdb: /external_ids/imdb_id }
                metadata: { seasons: /number_of_seasons, genres: { at: /genres, each: /name }, attribution: *attribution }
                translations: *translations
            candidates: { get: "/tv/{show}/images", items: *lists, fields: *picture }
          - id: "tv-{show}-s{season}"
            title:
              get: "/tv/{show}/season/{season}?append_to_response=translations{&language}"
              fields:
                id: { text: "tv-{show}-s{/season_number}" }
                name: /name
                overview: /overview
                releaseDate: /air_date
                metadata: { attribution: *attribution }
                translations: *translations
            candidates: { get: "/tv/{show}/season/{season}/images", items: /posters, fields: *picture }
          - id: "tv-{show}-s{season}-e{episode}"
            title:
              get: "/tv/{show}/season/{season}/episode/{episode}?append_to_response=translations{&language}"
              fields:
                id: { text: "tv-{show}-s{/season_number}-e{/episode_number}" }
                name: /name
                overview: /overview
                releaseDate: /air_date
                metadata: { attribution: *attribution }
                translations: *translations
            candidates: { get: "/tv/{show}/season/{season}/episode/{episode}/images", items: { still: /stills }, fields: *picture }
          - id: "person-{person}"
            title:
              get: "/person/{person}?append_to_response=translations{&language}"
              fields:
                id: { text: "person-{/id}" }
                name: /name
                overview: /biography
                metadata: { birthday: /birthday, knownFor: /known_for_department, imdb: /imdb_id, attribution: *attribution }
                translations: *translations
            candidates: { get: "/person/{person}/images", items: { profile: /profiles }, fields: *picture }
          - id: "collection-{collection}"
            title:
              get: "/collection/{collection}?append_to_response=translations{&language}"
              fields:
                id: { text: "collection-{/id}" }
                name: /name
                overview: /overview
                metadata: { attribution: *attribution }
                translations: *translations
            candidates: { get: "/collection/{collection}/images", items: *lists, fields: *picture }
        """
}

extension Manifest {
    /// KOBIS, for films, and the faults of the services that have pictures for it.
    private static let kobis = """
        baseURL: https://www.kobis.or.kr/kobisopenapi/webservice/rest
        rate: 10
        ids: [kobis]
        quota: { perDay: 3000, timeZone: "+09:00" }
        dates: { newest: -1, timeZone: "+09:00", first: 2003-11-11 }
        faults:
          - { at: /faultInfo/errorCode, equals: "320010", reason: unauthorized, message: /faultInfo/message }
          - { at: /faultInfo/errorCode, equals: "320011", reason: quotaExhausted }
          - { at: /faultInfo, reason: malformedAnswer, message: /faultInfo/message }
          - { status: 400, at: /code, equals: "-10", reason: quotaExhausted }
          - { at: /code, equals: "-401", reason: unauthorized, message: /msg }
          - { at: /errorCode, equals: "024", reason: unauthorized, message: /errorMessage }
          - { at: /errorCode, equals: ["010", "012"], reason: quotaExhausted }
        list:
          get: "/boxoffice/searchDailyBoxOfficeList.json{?key}&targetDt={day}"
          items: /boxOfficeResult/dailyBoxOfficeList
          fields: &row
            id: /movieCd
            name: /movieNm
            releaseDate: /openDt
            rank: /rank
            metadata:
              rankInten: { at: /rankInten, as: integer }
              rankOldAndNew: /rankOldAndNew
              salesAmt: { at: /salesAmt, as: integer }
              salesShare: { at: /salesShare, as: number }
              salesInten: { at: /salesInten, as: integer }
              salesChange: { at: /salesChange, as: number }
              salesAcc: { at: /salesAcc, as: integer }
              audiCnt: { at: /audiCnt, as: integer }
              audiInten: { at: /audiInten, as: integer }
              audiChange: { at: /audiChange, as: number }
              audiAcc: { at: /audiAcc, as: integer }
              scrnCnt: { at: /scrnCnt, as: integer }
              showCnt: { at: /showCnt, as: integer }
        periods:
          week:
            get: "/boxoffice/searchWeeklyBoxOfficeList.json{?key}&targetDt={day}&weekGb=0"
            items: &weeks /boxOfficeResult/weeklyBoxOfficeList
            fields: *row
          weekend: { get: "/boxoffice/searchWeeklyBoxOfficeList.json{?key}&targetDt={day}&weekGb=1", items: *weeks, fields: *row }
          weekdays: { get: "/boxoffice/searchWeeklyBoxOfficeList.json{?key}&targetDt={day}&weekGb=2", items: *weeks, fields: *row }
        search:
          get: "/movie/searchMovieList.json{?key}&movieNm={query}&curPage={page}&itemPerPage=20"
          items: /movieListResult/movieList
          total: /movieListResult/totCnt
          perPage: 20
          fields:
            id: /movieCd
            name: /movieNm
            originalName: /movieNmEn
            releaseDate: /openDt
            metadata:
              prdtYear: { at: /prdtYear, as: integer }
              typeNm: /typeNm
              prdtStatNm: /prdtStatNm
              nationAlt: /nationAlt
              genreAlt: /genreAlt
              repNationNm: /repNationNm
              repGenreNm: /repGenreNm
              directors: /directors
              companys: /companys
        title:
          get: "/movie/searchMovieInfo.json{?key}&movieCd={id}"
          item: /movieInfoResult/movieInfo
          fields:
            id: /movieCd
            name: /movieNm
            originalName: [/movieNmOg, /movieNmEn]
            releaseDate: /openDt
            metadata:
              movieNmEn: /movieNmEn
              showTm: { at: /showTm, as: integer }
              prdtYear: { at: /prdtYear, as: integer }
              prdtStatNm: /prdtStatNm
              typeNm: /typeNm
              nations: { at: /nations, each: /nationNm }
              genres: { at: /genres, each: /genreNm }
              directors: /directors
              actors: /actors
              showTypes: /showTypes
              companys: /companys
              audits: /audits
              staffs: /staffs
        """

    /// KOBIS for films and Kakao for pictures: the equivalent of `boxoffice`, as far as a manifest can express it.
    static let korea =
        kobis + """

            defaults: { kakao: "https://dapi.kakao.com" }
            candidates:
              with: { query: "{name} 포스터" }
              get: "{+kakao}/v2/search/image{?query}&sort=accuracy&page=1&size=30"
              headers: { Authorization: "KakaoAK {kakaoKey}" }
              items: /documents
              order: likeness
              fields:
                url: /image_url
                width: /width
                height: /height
                site: /display_sitename
                page: /doc_url
                kind: /collection
                published: /datetime
            """

    /// KOBIS for films and Naver for pictures, <https://api.ncloud-docs.com/docs/naverapihub-search-image>.
    static let koreaNaver =
        kobis + """

            defaults: { naver: "https://naverapihub.apigw.ntruss.com" }
            candidates:
              with: { query: "{name} 포스터" }
              get: "{+naver}/search/v1/image{?query}&display=30&start=1&sort=sim&filter=large"
              headers: { X-NCP-APIGW-API-KEY-ID: "{naverID}", X-NCP-APIGW-API-KEY: "{naverKey}" }
              items: /items
              order: likeness
              fields:
                url: /link
                width: { at: /sizewidth, as: integer }
                height: { at: /sizeheight, as: integer }
            """
}
