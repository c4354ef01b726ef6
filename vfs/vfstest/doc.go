// Package vfstest checks that a vfs.Backend keeps the contract of package vfs.
// It is for whoever writes a backend, in this module or elsewhere: one call of
// TestBackend from a test runs every rule as a subtest, on the backend itself
// and again behind a route, below a subtree and behind the read-only wrapper.
//
//	func TestBackend(t *testing.T) {
//		vfstest.TestBackend(t, vfstest.Config{
//			New: func(t *testing.T, seed map[string]string) vfs.Backend {
//				b := mystore.Open(t.TempDir())
//				t.Cleanup(func() { b.Close() })
//				vfstest.Seed(t, b, seed)
//				return b
//			},
//		})
//	}
//
// A failure names the rule it breaks, in the words of the contract. The suite
// checks behaviour, not speed, and nothing that a store may choose: what a
// revision looks like, whether it dates its files, where its size limit is.
// Config.BuiltIn adds what the backends of this module promise beyond that.
package vfstest
