// KakaoSource
