package routefs_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/internal/teststore"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/routefs"
	"github.com/goliathfs/goliathfs/vfs/staticfs"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// readJSON reads worked cases from testdata.
func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	data, err := os.ReadFile("testdata/parity/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, v); err != nil {
		t.Fatal(err)
	}
}

func TestParityLists(t *testing.T) {
	var plain struct{ Files []string }
	readJSON(t, "files.json", &plain)
	var lists struct {
		Cases []struct {
			Store string
			Dir   string
			Limit int
			Pages [][]string
		}
	}
	readJSON(t, "lists.json", &lists)
	docs, err := staticfs.New(map[string]string{"/a": "", "/deep/hidden": "", "/z": "", "/😀": "", "/\uE000": ""})
	if err != nil {
		t.Fatal(err)
	}
	stores := map[string]vfs.Backend{
		"plain": teststore.Paths(t, plain.Files...),
		"composite": compose(t, teststore.Paths(t, append(plain.Files, "/docs/hidden", "/routeX/a", "/routeX-b", "/routeX")...),
			routefs.Route{Prefix: "/docs/", Backend: docs},
			routefs.Route{Prefix: "/docs/deep", Backend: teststore.Paths(t, "/b"), ReadOnly: true},
			routefs.Route{Prefix: "/routeX", Backend: teststore.Paths(t, "/n1", "/n2/x")}),
	}
	for _, c := range lists.Cases {
		t.Run(fmt.Sprintf("%s%s by %d", c.Store, strings.ReplaceAll(c.Dir, "/", "_"), c.Limit), func(t *testing.T) {
			pages := [][]string{}
			for opts := (vfs.ListOptions{Limit: c.Limit}); ; {
				page, err := vfs.List(t.Context(), stores[c.Store], c.Dir, opts)
				if err != nil {
					t.Fatal(err)
				}
				paths := []string{}
				for _, info := range page.Files {
					paths = append(paths, info.Path)
				}
				pages = append(pages, paths)
				if opts.After = page.Next; page.Next == "" {
					break
				}
			}
			if diff := cmp.Diff(c.Pages, pages); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		})
	}
	if len(lists.Cases) == 0 {
		t.Error("there are no cases")
	}
}

// visible is what a composite should list, by trying every file of every store.
func visible(stores map[string][]string, dir, after string) []string {
	owner := func(path string) string {
		best := "/"
		for prefix := range stores {
			if vpath.Within(path, prefix) && len(prefix) > len(best) {
				best = prefix
			}
		}
		return best
	}
	paths := []string{}
	for prefix, files := range stores {
		for _, file := range files {
			path := vpath.Join(prefix, file)
			if owner(path) == prefix && vpath.Within(path, dir) && vpath.Compare(path, after) > 0 && vpath.Units(path) <= vpath.MaxUnits {
				if _, isPrefix := stores[path]; !isPrefix {
					paths = append(paths, path)
				}
			}
		}
	}
	slices.SortFunc(paths, vpath.Compare)
	return paths
}

// words are segments that sort in trying ways.
var words = []string{"a", "b", "a-", "a0", "\uE000", "\U0001F600", "\U0010FFFF", strings.Repeat("long", 40)}

func anyPath(rng *rand.Rand) string {
	path := ""
	for range 1 + rng.IntN(3) {
		path += "/" + words[rng.IntN(len(words))]
	}
	return path
}

// Whatever the routes and the files, a list is what looking at each file gives.
func TestListModel(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		stores := map[string][]string{"/": nil}
		for range rng.IntN(6) {
			stores[anyPath(rng)] = nil
		}
		var routes []routefs.Route
		var def vfs.Backend
		for _, prefix := range slices.Sorted(maps.Keys(stores)) { // in an order, so that a seed is one case
			seen := map[string]bool{}
			for range 40 {
				seen[anyPath(rng)] = true
			}
			files := slices.Sorted(maps.Keys(seen))
			stores[prefix] = files
			b := teststore.Paths(t, files...)
			if prefix == "/" {
				def = b
				continue
			}
			routes = append(routes, routefs.Route{Prefix: prefix, Backend: b})
		}
		f := compose(t, def, routes...)
		for range 60 {
			dir, after, limit := "/", "", 1+rng.IntN(12)
			if rng.IntN(2) == 0 {
				dir = anyPath(rng)
			}
			switch rng.IntN(4) {
			case 0:
				after = anyPath(rng)
			case 1:
				after = anyPath(rng) + "/"
			case 2:
				after = vpath.Past(anyPath(rng))
			}
			if diff := cmp.Diff(visible(stores, dir, after), list(t, f, dir, after, limit)); diff != "" {
				t.Fatalf("seed %d: list of %q after %q in pages of %d (-want +got):\n%s", seed, dir, after, limit, diff)
			}
		}
	}
}

// counting counts the pages and files that a store is asked for.
type counting struct {
	vfs.Backend
	calls, files atomic.Int64
}

func (c *counting) List(ctx context.Context, dir string, opts vfs.ListOptions) (vfs.Page, error) {
	page, err := c.Backend.List(ctx, dir, opts)
	c.calls.Add(1)
	c.files.Add(int64(len(page.Files)))
	return page, err
}

func (c *counting) Read(ctx context.Context, path string) (vfs.File, error) {
	c.calls.Add(1)
	return c.Backend.Read(ctx, path)
}

// spent returns the calls and files since it was asked last.
func (c *counting) spent() (calls, files int64) { return c.calls.Swap(0), c.files.Swap(0) }

func numbered(prefix string, n int) []string {
	paths := make([]string, n)
	for i := range paths {
		paths[i] = fmt.Sprintf("%s/%06d", prefix, i)
	}
	return paths
}

func TestListAsksForWhatItNeeds(t *testing.T) {
	def := &counting{Backend: teststore.Paths(t, slices.Concat(numbered("/a", 1000), numbered("/m/hidden", 20_000), numbered("/z", 1000))...)}
	mid := &counting{Backend: teststore.Paths(t, numbered("/f", 1000)...)}
	last := &counting{Backend: teststore.Paths(t, "/x")}
	f := compose(t, def, routefs.Route{Prefix: "/m", Backend: mid}, routefs.Route{Prefix: "/y", Backend: last})
	for _, tt := range []struct {
		name, dir, after          string
		limit                     int
		want                      int // files on the page
		defCalls, midCalls, lasts int64
		most                      int64 // files that the stores gave
	}{
		{"nothing hidden", "/", "", 64, 64, 1, 0, 0, 65},
		{"the largest page", "/", "", 256, 256, 2, 0, 0, 257},
		{"up to a route", "/", "/a/000990", 9, 9, 1, 1, 0, 11},
		{"into a route", "/", "/a/000990", 20, 20, 1, 1, 0, 40},
		{"inside a route", "/", "/m/f/000500", 64, 64, 0, 1, 0, 65},
		{"over 20,000 hidden files", "/", "/m/f/000990", 64, 64, 2, 1, 1, 140},
		{"from within the hidden files", "/", "/m/hidden/000000", 64, 64, 2, 1, 1, 140},
		{"below a route", "/m", "", 64, 64, 0, 1, 0, 65},
		{"deep below a route", "/m/f", "", 64, 64, 0, 1, 0, 65},
		{"beside all routes", "/z", "", 64, 64, 1, 0, 0, 65},
		{"a missing directory", "/nothing", "", 64, 0, 1, 0, 0, 0},
		{"past everything", "/", "/zz", 64, 0, 1, 0, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			page, err := vfs.List(t.Context(), f, tt.dir, vfs.ListOptions{After: tt.after, Limit: tt.limit})
			if err != nil || len(page.Files) != tt.want {
				t.Fatalf("%d files, %v, want %d", len(page.Files), err, tt.want)
			}
			d, df := def.spent()
			m, mf := mid.spent()
			l, lf := last.spent()
			if d > tt.defCalls || m > tt.midCalls || l > tt.lasts || df+mf+lf > tt.most {
				t.Errorf("asked the stores %d, %d and %d times for %d files, want at most %d, %d and %d times for %d",
					d, m, l, df+mf+lf, tt.defCalls, tt.midCalls, tt.lasts, tt.most)
			}
		})
	}
}

// tooLong returns a composite whose route holds files that the prefix makes too
// long, and the visible path of the longest that fits.
func tooLong(t *testing.T) (*routefs.FS, string) {
	fits := "/f" + strings.Repeat("x", 512-len("/route/f"))
	return compose(t, teststore.Paths(t, "/a", "/route/hidden", "/z"),
		routefs.Route{Prefix: "/route", Backend: teststore.Paths(t, fits, fits+"x", fits+"/y", "/é"+fits[2:], "/g")}), "/route" + fits
}

func TestTooLongPathsAreLeftOut(t *testing.T) {
	f, fits := tooLong(t)
	fitsToo := "/route/é" + fits[len("/route/f"):]
	want := []string{"/a", fits, "/route/g", fitsToo, "/z"}
	for limit := 1; limit < 6; limit++ {
		if diff := cmp.Diff(want, list(t, f, "/", "", limit)); diff != "" {
			t.Errorf("list of / in pages of %d (-want +got):\n%s", limit, diff)
		}
	}
	for _, path := range want {
		if _, err := vfs.Read(t.Context(), f, path); err != nil {
			t.Errorf("read of a listed path of %d units: %v", vpath.Units(path), err)
		}
	}
}

func TestUnreachable(t *testing.T) {
	f, fits := tooLong(t)
	fits = strings.TrimPrefix(fits, "/route")
	const reason = "below /route its path is longer than 512 UTF-16 code units"
	want := []string{
		"/route of " + fits + "/y: " + reason,
		"/route of " + fits + "x: " + reason,
		"/ of /route/hidden: the route /route hides it",
	}
	var got []string
	for u, err := range f.Unreachable(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, u.Route+" of "+u.Error())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("unreachable files (-want +got):\n%s", diff)
	}
	for range f.Unreachable(t.Context()) {
		break // may be left early
	}
	bad := compose(t, teststore.Paths(t), routefs.Route{Prefix: "/r", Backend: failing{os.ErrClosed}})
	var errs []string
	for _, err := range bad.Unreachable(t.Context()) {
		errs = append(errs, fmt.Sprint(err))
	}
	if diff := cmp.Diff([]string{"below /r: list /: file already closed"}, errs); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
}
