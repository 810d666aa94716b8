extension ShippedManifest {
    /// A server of Jellyfin or Emby, <https://api.jellyfin.org>. An id is that of a film there.
    static let jellyfin = """
        baseURL: "{server}"
        defaults: { server: "http://localhost:8096" }
        headers: { X-Emby-Token: "{token}" }
        rate: 20
        # The server tells the age of the file, after which most images would never be fresh.
        freshness: { minimum: 1h, staleIfError: 30d }
        files:
          url: "{server}{file}"
          ids:
            - "/Items/{item}/Images/{kind}"
            - "/Items/{item}/Images/{kind}/{index}"
            - "/Items/{item}/Images/{kind}?tag={tag}"
            - "/Items/{item}/Images/{kind}/{index}?tag={tag}"
        faults:
          - { status: 400, reason: notFound }
          - { status: 404, reason: notFound }
        list:
          get: "/Items?recursive=true&includeItemTypes=Movie&fields=ProviderIds,OriginalTitle,Overview&sortBy=SortName&startIndex={offset}&limit=100"
          items: &items /Items
          total: &total /TotalRecordCount
          perPage: 100
          fields: &film
            id: /Id
            name: /Name
            originalName: /OriginalTitle
            overview: /Overview
            releaseDate: { at: /PremiereDate, before: T }
            ids: { imdb: /ProviderIds/Imdb, tmdb: /ProviderIds/Tmdb, tvdb: /ProviderIds/Tvdb }
            metadata:
              year: /ProductionYear
              voteAverage: /CommunityRating
        search:
          get: "/Items?recursive=true&includeItemTypes=Movie&fields=ProviderIds,OriginalTitle,Overview&searchTerm={query}&startIndex={offset}&limit=100"
          items: *items
          total: *total
          perPage: 100
          fields: *film
        title:
          get: "/Items?ids={id}&fields=ProviderIds,OriginalTitle,Overview"
          items: { at: /Items, where: { at: /Type, equals: Movie } }
          fields: *film
        candidates:
          get: "/Items/{id}/Images"
          items: { at: "", where: { at: /ImageType, equals: [Primary, Backdrop, Logo, Banner] } }
          fields:
            # Images that a film has once have no index.
            url:
              - text: "{server}/Items/{id}/Images/{/ImageType}/{/ImageIndex}?tag={/ImageTag}"
              - text: "{server}/Items/{id}/Images/{/ImageType}?tag={/ImageTag}"
            imageKind: { at: /ImageType, map: { Primary: poster, Backdrop: backdrop, Logo: logo, Banner: banner } }
            width: /Width
            height: /Height
        """
}
