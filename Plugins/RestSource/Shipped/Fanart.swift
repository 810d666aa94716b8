extension ShippedManifest {
    /// fanart.tv, <https://fanart.tv/api-docs/api-v3/>. An id is TMDB's of a film, IMDb's, or `tvdb-81189` for a show.
    static let fanart = """
        baseURL: https://webservice.fanart.tv/v3.2
        headers: { api-key: "{key}", client-key: "{personalKey}" }
        defaults: { personalKey: "" }
        rate: 5
        ids: [tmdb, { tvdb: "tvdb-{id}" }, imdb]
        faults:
          - { status: 404, reason: notFound }
          - { status: 429, reason: rateLimited }
        title:
          get: &film "/movies/{id}"
          fields:
            id: /tmdb_id
            name: /name
            ids: { tmdb: /tmdb_id, imdb: /imdb_id }
            metadata: { imdb: /imdb_id, attribution: &attribution { text: "Artwork by fanart.tv, https://fanart.tv" } }
        candidates:
          get: *film
          items: { poster: { at: /movieposter, optional: true }, backdrop: /moviebackground, logo: [/hdmovielogo, /movielogo], banner: /moviebanner }
          fields: &picture { url: /url, language: /lang, count: /likes, width: /width, height: /height }
        cases:
          - id: "tt{number}"
            resolve: { get: *film, id: /tmdb_id }
          - id: "tvdb-{show}"
            title:
              get: &show "/tv/{show}"
              fields:
                id: { text: "tvdb-{/thetvdb_id}" }
                name: /name
                ids: { tvdb: /thetvdb_id }
                metadata: { attribution: *attribution }
            candidates:
              get: *show
              items: { poster: { at: /tvposter, optional: true }, backdrop: /showbackground, logo: [/hdtvlogo, /clearlogo], banner: /tvbanner }
              fields: *picture
        """
}
