package fusebridge

// WithoutEpoch lets a writable mount be as on kernels before 6.16.
func WithoutEpoch(o *Options) *Options {
	o.noEpoch = true
	return o
}
