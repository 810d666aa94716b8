extension ShippedManifest {
    /// TheTVDB, <https://thetvdb.github.io/v4-api/>. An id is a film's number, or `series-81189`.
    static let tvdb = """
        baseURL: https://api4.thetvdb.com/v4
        headers: { Authorization: "Bearer {token}" }
        defaults: { pin: "", pictures: "https://artworks.thetvdb.com" }
        rate: 10
        # What others call an id of TheTVDB is that of a series.
        ids: [{ tvdb: "series-{id}" }]
        # A token is valid for a month. A key that its users support needs their PIN.
        token:
          post: /login
          json: { apikey: { text: "{key}" }, pin: { text: "{pin}" } }
          at: /data/token
          lasts: 28d
        faults:
          - { status: 400, reason: notFound, message: /message }
          - { status: 404, reason: notFound, message: /message }
          - { status: 429, reason: rateLimited }
          - { status: 401, reason: unauthorized, message: /message }
        search:
          get: "/search?type=movie{&query}&offset={offset}&limit=50"
          items: /data
          total: /links/total_items
          next: /links/next
          perPage: 50
          fields:
            id: /tvdb_id
            name: /name
            overview: /overview
            originalLanguage: /primary_language
            releaseDate: /first_air_time
            metadata: { year: { at: /year, as: integer } }
        title:
          get: &film "/movies/{id}/extended"
          item: /data
          fields:
            id: { at: /id, as: text }
            name: /name
            originalLanguage: /originalLanguage
            releaseDate: /first_release/date
            metadata: &facts
              year: { at: /year, as: integer }
              runtime: /runtime
              genres: { at: /genres, each: /name }
              country: /originalCountry
              attribution: { text: "Metadata by TheTVDB, https://thetvdb.com" }
        candidates:
          get: *film
          items: { at: /data/artworks, where: { at: /type, equals: ["14", "15", "16", "25"] } }
          fields: &picture
            prefix: "{pictures}"
            # Some answers have only the path.
            url: { at: /image, replace: [["https://artworks.thetvdb.com", ""]] }
            imageKind: { at: /type, map: { 14: poster, 15: backdrop, 16: banner, 25: logo, 2: poster, 3: backdrop, 1: banner, 23: logo } }
            # Three letters, with two exceptions.
            language: { at: /language, map: { zhtw: zh-TW, pt: pt-BR } }
            width: /width
            height: /height
        cases:
          - id: "series-{number}"
            title:
              get: &series "/series/{number}/extended"
              item: /data
              fields:
                id: { text: "series-{/id}" }
                name: /name
                originalLanguage: /originalLanguage
                overview: /overview
                releaseDate: /firstAired
                ids: { tvdb: /id }
                metadata: *facts
            candidates:
              get: *series
              items: { at: /data/artworks, where: { at: /type, equals: ["1", "2", "3", "23"] } }
              fields: *picture
        """
}
