// BoxOfficeSource
