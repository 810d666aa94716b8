extension Manifest {
    /// The built-in manifests.
    static let shipped = ["tmdb": tmdb, "kobis-kakao": korea]

    /// The Movie Database, <https://developer.themoviedb.org/reference>. This product uses the TMDB API but is not endorsed or
    /// certified by TMDB.
    private static let tmdb = """
        baseURL: https://api.themoviedb.org/3
        headers: { Authorization: "Bearer {token}" }
        defaults: { language: en-US, pictures: "https://image.tmdb.org/t/p/original" }
        faults:
          - { status: 401, reason: unauthorized, message: /status_message }
          - { status: 404, reason: notFound }
          - { status: 429, reason: quotaExhausted }
        list:
          get: "/movie/now_playing{?language,page}"
          items: /results
          total: /total_results
          pages: /total_pages
          fields: &fields
            id: { at: /id, as: text }
            name: /title
            originalName: /original_title
            overview: /overview
            releaseDate: /release_date
            metadata:
              voteAverage: /vote_average
              voteCount: /vote_count
              popularity: /popularity
              originalLanguage: /original_language
              posterPath: /poster_path
        search:
          get: "/search/movie{?query,language,page}"
          items: /results
          total: /total_results
          pages: /total_pages
          fields: *fields
        title:
          get: "/movie/{id}{?language}"
          fields:
            id: { at: /id, as: text }
            name: /title
            originalName: /original_title
            overview: /overview
            releaseDate: /release_date
            metadata:
              runtime: /runtime
              tagline: /tagline
              genres: { at: /genres, each: /name }
              voteAverage: /vote_average
              voteCount: /vote_count
              imdb: /imdb_id
              posterPath: /poster_path
        candidates:
          get: "/movie/{id}/images"
          items: /posters
          fields:
            prefix: "{pictures}"
            url: /file_path
            width: /width
            height: /height
        """
}
