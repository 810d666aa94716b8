extension ShippedManifest {
    /// Trakt, <https://trakt.docs.apiary.io/>.
    static let trakt = """
        baseURL: https://api.trakt.tv
        headers: { trakt-api-version: "2", trakt-api-key: "{key}", User-Agent: "{agent}" }
        defaults: { agent: onesheet }
        rate: 3
        ids: [trakt, imdb]
        faults:
          - { status: 412, reason: unauthorized }
          - { status: 429, reason: rateLimited }
        list:
          get: "/movies/trending?extended=full&limit=20{&page}"
          items: ""
          total: { header: X-Pagination-Item-Count }
          pages: { header: X-Pagination-Page-Count }
          fields: &row
            id: { at: /movie/ids/trakt, as: text }
            name: /movie/title
            originalName: /movie/original_title
            originalLanguage: /movie/language
            overview: /movie/overview
            releaseDate: /movie/released
            metadata: { year: /movie/year }
        search:
          get: "/search/movie?extended=full&limit=20{&query,page}"
          items: ""
          total: { header: X-Pagination-Item-Count }
          pages: { header: X-Pagination-Page-Count }
          fields: *row
        title:
          get: "/movies/{id}?extended=full"
          fields:
            id: { at: /ids/trakt, as: text }
            name: /title
            originalName: /original_title
            originalLanguage: /language
            overview: /overview
            releaseDate: /released
            ids: { trakt: /ids/trakt, imdb: /ids/imdb, tmdb: /ids/tmdb }
            metadata:
              year: /year
              runtime: /runtime
              genres: /genres
              voteAverage: /rating
              voteCount: /votes
              imdb: /ids/imdb
              tmdb: /ids/tmdb
              attribution: { text: "Powered by Trakt, https://trakt.tv" }
        candidates:
          get: "/movies/{id}?extended=images"
          items: { poster: /images/poster, backdrop: /images/fanart, logo: /images/logo, banner: /images/banner }
          fields: { prefix: "https://", url: "" }
        cases:
          - id: "tt{number}"
            resolve: { get: "/search/imdb/{id}?type=movie", id: { at: /0/movie/ids/trakt, as: text } }
        """
}
