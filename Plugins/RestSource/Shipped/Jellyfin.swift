extension ShippedManifest {
    /// A server of Jellyfin or Emby, <https://api.jellyfin.org>. An id is that of a film there.
    static let jellyfin = """
        baseURL: http://localhost:8096
        defaults: { server: "http://localhost:8096" }
        headers: { X-Emby-Token: "{token}" }
        rate: 20
        faults:
          - { status: 400, reason: notFound }
          - { status: 404, reason: notFound }
        list:
          get: "{+server}/Items?recursive=true&includeItemTypes=Movie&fields=ProviderIds,OriginalTitle,Overview&sortBy=SortName&startIndex={offset}&limit=100"
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
          get: "{+server}/Items?recursive=true&includeItemTypes=Movie&fields=ProviderIds,OriginalTitle,Overview&searchTerm={query}&startIndex={offset}&limit=100"
          items: *items
          total: *total
          perPage: 100
          fields: *film
        title:
          get: "{+server}/Items?ids={id}&fields=ProviderIds,OriginalTitle,Overview"
          items: { at: /Items, where: { at: /Type, equals: Movie } }
          fields: *film
        candidates:
          get: "{+server}/Items/{id}/Images"
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
