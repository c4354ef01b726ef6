//go:build linux

package mountpoint

// GoneFrom says whether m is none of these mounts, where the uppermost at its directory
// has a unique id.
func GoneFrom(m Mount, mounts []Mount, top uint64) bool {
	return m.goneFrom(mounts, func(string) uint64 { return top })
}
