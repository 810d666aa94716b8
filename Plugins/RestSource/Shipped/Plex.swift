extension ShippedManifest {
    /// A Plex Media Server. An id is the `ratingKey` of a film there. The token is a header of the configuration, because images need it too.
    static let plex = """
        baseURL: "{server}"
        defaults: { server: "http://localhost:32400", section: "1" }
        headers: { Accept: application/json }
        rate: 20
        # A changed image has another path.
        freshness: { minimum: 1h, staleIfError: 30d }
        # Only images: a request with the token can do more.
        files:
          url: "{server}{file}"
          ids:
            - "/library/metadata/{item}/art/{version}"
            - "/library/metadata/{item}/banner/{version}"
            - "/library/metadata/{item}/clearLogo/{version}"
            - "/library/metadata/{item}/composite/{version}"
            - "/library/metadata/{item}/squareArt/{version}"
            - "/library/metadata/{item}/thumb/{version}"
            - "/library/metadata/{item}/thumb"
            - "/library/metadata/{item}/art"
            - "/library/collections/{item}/composite/{version}"
            - "/library/sections/{item}/composite/{version}"
        faults:
          - { status: 404, reason: notFound }
        list:
          get: "/library/sections/{section}/all?type=1&X-Plex-Container-Start={offset}&X-Plex-Container-Size=100"
          items: &items { at: /MediaContainer/Metadata, optional: true }
          total: &total /MediaContainer/totalSize
          perPage: 100
          fields: &film
            id: { at: /ratingKey, as: text }
            name: /title
            originalName: /originalTitle
            overview: /summary
            releaseDate: /originallyAvailableAt
            metadata: { year: /year, runtime: /duration, studio: /studio, genres: { at: /Genre, each: /tag } }
        search:
          get: "/library/sections/{section}/all?type=1&title={query}&X-Plex-Container-Start={offset}&X-Plex-Container-Size=100"
          items: *items
          total: *total
          perPage: 100
          fields: *film
        title:
          get: "/library/metadata/{id}"
          items: /MediaContainer/Metadata
          fields: *film
        candidates:
          get: "/library/metadata/{id}"
          items:
            at: /MediaContainer/Metadata/0/Image
            where: { at: /type, equals: [coverPoster, background, clearLogo, snapshot] }
            optional: true
          fields:
            url: { text: "{server}{/url}" }
            imageKind: { at: /type, map: { coverPoster: poster, background: backdrop, clearLogo: logo, snapshot: still } }
        """
}
