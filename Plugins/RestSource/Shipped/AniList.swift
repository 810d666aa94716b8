extension ShippedManifest {
    /// AniList, <https://docs.anilist.co/>. Its braces are those of GraphQL: a text of a body is literal.
    static let anilist = """
        baseURL: https://graphql.anilist.co
        rate: 0.5
        ids: [anilist]
        faults:
          - { status: 404, reason: notFound }
          - { status: 403, reason: unavailable, message: /errors/0/message }
          - { status: 429, reason: rateLimited }
          - { at: /errors/0/message, reason: malformedAnswer, message: /errors/0/message }
        list:
          post: /
          json:
            query: >-
              query ($page: Int) { Page(page: $page, perPage: 50) { pageInfo { hasNextPage }
              media(type: ANIME, format: MOVIE, sort: TRENDING_DESC, isAdult: false)
              { id title { romaji english native } description(asHtml: false) startDate { year month day } } } }
            variables: { page: { text: "{page}", as: integer } }
          items: /data/Page/media
          next: /data/Page/pageInfo/hasNextPage
          fields: &row
            id: { at: /id, as: text }
            name: [/title/english, /title/romaji, /title/native]
            originalName: /title/native
            overview: &overview
              at: /description
              replace: [[<br>, ""], [<i>, ""], [</i>, ""], [<b>, ""], [</b>, ""]]
            releaseDate: { text: "{/startDate/year}-{/startDate/month}-{/startDate/day}" }
        search:
          post: /
          json:
            query: >-
              query ($page: Int, $search: String) { Page(page: $page, perPage: 50) { pageInfo { hasNextPage }
              media(type: ANIME, search: $search, isAdult: false)
              { id title { romaji english native } description(asHtml: false) startDate { year month day } } } }
            variables: { page: { text: "{page}", as: integer }, search: { text: "{query}" } }
          items: /data/Page/media
          next: /data/Page/pageInfo/hasNextPage
          fields: *row
        title:
          post: /
          json:
            query: >-
              query ($id: Int) { Media(id: $id, type: ANIME) { id idMal title { romaji english native } format averageScore siteUrl
              description(asHtml: false) startDate { year month day } countryOfOrigin } }
            variables: &id { id: { text: "{id}", as: integer } }
          item: /data/Media
          fields:
            id: { at: /id, as: text }
            name: [/title/english, /title/romaji, /title/native]
            originalName: /title/native
            overview: *overview
            releaseDate: { text: "{/startDate/year}-{/startDate/month}-{/startDate/day}" }
            metadata:
              format: /format
              averageScore: /averageScore
              country: /countryOfOrigin
              myAnimeList: /idMal
              page: /siteUrl
              attribution: { text: "AniList, https://anilist.co" }
        candidates:
          post: /
          json:
            query: >-
              query ($id: Int) { Media(id: $id, type: ANIME) { coverImage { extraLarge large } bannerImage siteUrl } }
            variables: *id
          items: { poster: { at: /data/Media/coverImage, optional: true }, banner: { at: /data/Media, optional: true } }
          fields: { url: [/extraLarge, /large, /bannerImage], page: /siteUrl }
        """
}
