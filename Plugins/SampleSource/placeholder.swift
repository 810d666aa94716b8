// SampleSource
