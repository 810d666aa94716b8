extension ShippedManifest {
    /// KMDb, the database of the Korean Film Archive, <https://www.kmdb.or.kr/info/api/apiDetail/6>. An id is `F-01764`: the service's
    /// `movieId` and `movieSeq`.
    static let kmdb = """
        baseURL: https://api.koreafilm.or.kr/openapi-data2/wisenut/search_api
        rate: 5
        quota: { perDay: 1000, timeZone: "+09:00" }
        faults:
          - { at: /TotalCount, equals: "0", reason: notFound }
        search:
          get: "/search_json2.jsp?collection=kmdb_new2&detail=Y&ServiceKey={key}&title={query}&listCount=20&startCount={offset}"
          items: /Data/0/Result
          total: /Data/0/TotalCount
          perPage: 20
          fields: &film
            id: { text: "{/movieId}-{/movieSeq}" }
            # A search marks its words, and leaves doubled spaces.
            name: &name { at: /title, replace: &marks [["!HS", ""], ["!HE", ""], ["   ", " "], ["  ", " "]] }
            originalName: [{ at: /titleOrg, replace: *marks }, { at: /titleEng, replace: *marks }]
            overview: /plots/plot/0/plotText
            releaseDate: /repRlsDate
            metadata:
              year: { at: /prodYear, as: integer }
              runtime: { at: /runtime, as: integer }
              genres: { at: /genre, split: "," }
              nations: { at: /nation, split: "," }
              directors: { at: /directors/director, each: { at: /directorNm, replace: *marks } }
              actors: { at: /actors/actor, each: { at: /actorNm, replace: *marks } }
              attribution: { text: "KMDb, 한국영상자료원" }
              page: /kmdbUrl
        cases:
          - id: "{letter}-{number}"
            title:
              get: &one "/search_json2.jsp?collection=kmdb_new2&detail=Y&ServiceKey={key}&movieId={letter}&movieSeq={number}"
              items: /Data/0/Result
              fields: *film
            candidates:
              get: *one
              items:
                poster: { at: /Data/0/Result/0/posters, split: "|", optional: true }
                still: { at: /Data/0/Result/0/stlls, split: "|" }
              fields:
                # Posters are those of Korean releases. The folder of a thumbnail says what it is one of.
                language: { at: "", after: /thm/, before: /, map: { "02": ko, "01": zxx } }
                # The service lists thumbnails; the address of the large picture follows from theirs.
                url:
                  at: ""
                  replace:
                    - ["http://file.koreafilm.or.kr", "https://file.koreafilm.or.kr"]
                    - [/thm/02/, /poster/]
                    - [/thm/01/, /still/]
                    - [/tn_, /]
                    - [.jpg, _01.jpg]
                    - [.JPG, _01.JPG]
                    - [_01_01., _01.]
        """
}
