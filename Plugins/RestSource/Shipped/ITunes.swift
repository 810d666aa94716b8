extension ShippedManifest {
    /// Apple's store, <https://performance-partners.apple.com/search-api>.
    static let itunes = """
        baseURL: https://itunes.apple.com
        defaults: { country: us }
        # Twenty calls a minute. The service answers further ones with 403 and does not say for how long.
        ids: [itunes]
        rate: 0.33
        faults:
          - { status: 403, reason: rateLimited }
          - { status: 429, reason: rateLimited }
          - { at: /resultCount, equals: "0", reason: notFound }
        search:
          get: "/search?media=movie&entity=movie&limit=50{&country}&term={query}"
          items: /results
          fields: &film
            id: { at: /trackId, as: text }
            name: /trackName
            overview: /longDescription
            releaseDate: /releaseDate
            metadata:
              directors: { at: /artistName, split: " & " }
              genre: /primaryGenreName
              rating: /contentAdvisoryRating
              page: /trackViewUrl
              attribution: { text: "Provided courtesy of iTunes" }
        title:
          get: &one "/lookup?id={id}{&country}"
          items: /results
          fields: *film
        candidates:
          get: *one
          items: { at: /results, where: { at: /kind, equals: feature-movie } }
          fields:
            # The service makes every size, but no larger picture than it has.
            url: { at: /artworkUrl100, replace: [[/100x100bb., /2000x3000bb.]] }
            page: /trackViewUrl
        """
}
