// RemoteSource
