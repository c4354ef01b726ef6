package routefs_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
)

// BenchmarkPage compares a page through a composite with the same page of the
// bare store.
func BenchmarkPage(b *testing.B) {
	bare := teststore.Paths(b, numbered("/d", 100_000)...)
	routed := compose(b, teststore.Paths(b, numbered("/a", 1000)...), routefs.Route{Prefix: "/m", Backend: bare}, routefs.Route{Prefix: "/z", Backend: teststore.Paths(b)})
	for _, bb := range []struct {
		name  string
		b     vfs.Backend
		after string
	}{
		{"bare", bare, "/d/050000"},
		{"default", compose(b, bare, routefs.Route{Prefix: "/z", Backend: teststore.Paths(b)}), "/d/050000"},
		{"route", routed, "/m/d/050000"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			b.ReportAllocs()
			opts := vfs.ListOptions{After: bb.after, Limit: 64}
			for b.Loop() {
				page, err := bb.b.List(b.Context(), "/", opts)
				if err != nil || len(page.Files) != 64 {
					b.Fatal(len(page.Files), err)
				}
			}
		})
	}
}
