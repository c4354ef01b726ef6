package remotefs

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/semaphore"

	"github.com/goliathfs/goliathfs/vfs"
)

var exported = cmp.AllowUnexported(hello{}, welcome{}, request{}, result{}, batchResult{}, failure{}, event{})

var moments = []time.Time{{}, time.UnixMilli(1795975586431), time.Unix(-1, 999_999_999), time.Unix(0, 0)}

func files() []vfs.File {
	all := []vfs.File{{}}
	for _, moment := range moments {
		all = append(all, vfs.File{Info: vfs.Info{Path: "/ünï😀\xff", Revision: "r", Size: -1, ModTime: moment}, Content: "a\x00\r\n"})
	}
	return all
}

func body(t *testing.T, m message) []byte {
	t.Helper()
	b, err := frame(m)
	if err != nil {
		t.Fatal(err)
	}
	read, err := readFrame(bytes.NewReader(b), maxFrame)
	if err != nil {
		t.Fatal(err)
	}
	return read
}

func TestMessagesSurvive(t *testing.T) {
	for _, r := range []request{{op: opRead}, {op: opSearch, content: "needle", fold: true}, {op: opReadBatch, batch: []string{"/a", "", "/\xff"}}, {op: opReadBatch}, {id: math.MaxUint64, op: opWatch, timeout: math.MaxInt64, path: "/a", content: "c\xff", expected: "e", after: "\uffff", limit: -5}} {
		got, cancel, err := decodeClient(body(t, r))
		if diff := cmp.Diff(r, got, exported); diff != "" || cancel || err != nil {
			t.Errorf("%s, %t, %v", diff, cancel, err)
		}
	}
	got, cancel, err := decodeClient(body(t, cancellation(7)))
	if !cancel || got.id != 7 || err != nil {
		t.Errorf("%+v, %t, %v", got, cancel, err)
	}
	for _, f := range files() {
		r := result{id: 1, failure: failure{"c", "t"}, file: f, page: vfs.Page{Files: []vfs.Info{f.Info, {}}, Next: "/n"}, prefix: "/p", writable: true, shared: len(f.Content)%2 == 0}
		if !f.ModTime.IsZero() {
			r.batch = []batchResult{{file: f}, {failure: failure{"not-found", "none"}}, {}}
		}
		got, _, isEvent, err := decodeServer(body(t, r))
		if diff := cmp.Diff(r, got, exported); diff != "" || isEvent || err != nil {
			t.Errorf("%s, %t, %v", diff, isEvent, err)
		}
		for _, old := range []*vfs.File{nil, &f} {
			v := event{3, vfs.Event{Path: "/e", Info: f.Info, Old: old, Overflow: old == nil}}
			_, got, isEvent, err := decodeServer(body(t, v))
			if diff := cmp.Diff(v, got, exported); diff != "" || !isEvent || err != nil {
				t.Errorf("%s, %t, %v", diff, isEvent, err)
			}
		}
	}
	h, err := decodeHello(body(t, hello{9, "token"}))
	if h != (hello{9, "token"}) || err != nil {
		t.Errorf("%+v, %v", h, err)
	}
	w, err := decodeWelcome(body(t, welcome{9, "no"}))
	if w != (welcome{9, "no"}) || err != nil {
		t.Errorf("%+v, %v", w, err)
	}
}

func TestFrameLimits(t *testing.T) {
	if _, err := readFrame(bytes.NewReader([]byte{0xff, 0xff, 0xff, 0xff}), maxFrame); !errors.Is(err, errProtocol) {
		t.Errorf("a frame of 4 GiB: %v", err)
	}
	if _, err := readFrame(bytes.NewReader([]byte{1, 0, 0, 0, 'x'}), maxFrame); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a frame that is cut off: %v", err)
	}
	huge := make([]byte, maxFrame+1)
	if _, err := frame(request{content: string(huge)}); !errors.Is(err, vfs.ErrTooLarge) {
		t.Errorf("a message that is too large: %v", err)
	}
}

// TestOldThatDoesNotFit sends an event without it.
func TestOldThatDoesNotFit(t *testing.T) {
	p := &peer{out: newOutbox()}
	p.tell(1, &quota{dir: "/"}, vfs.Event{Path: "/a", Old: &vfs.File{Content: string(make([]byte, maxEventBytes))}})
	p.tell(1, &quota{dir: "/"}, vfs.Event{Path: "/b", Old: &vfs.File{Info: vfs.Info{Path: string(make([]byte, maxFrame))}}})
	batch, _ := p.out.take()
	for i, want := range []event{{1, vfs.Event{Path: "/a"}}, {1, vfs.Event{Path: "/b"}}} {
		b, err := batch[i].build()
		if err != nil {
			t.Fatal(err)
		}
		_, got, _, err := decodeServer(b[4:])
		if got.Path != want.Path || got.Overflow || err != nil || (got.Old != nil) != (i == 0) {
			t.Errorf("got %q, old %t, %v", got.Path, got.Old != nil, err)
		}
	}
}

// FuzzDecode feeds every decoder; what one takes, it must give back.
func FuzzDecode(f *testing.F) {
	for _, encode := range []func(*encoder){hello{1, "t"}.encode, welcome{1, "r"}.encode, request{op: opList, path: "/"}.encode, request{op: opSearch, content: "x", fold: true}.encode, request{op: opReadBatch, batch: []string{"/a"}}.encode, result{batch: []batchResult{{failure{"store", "s"}, vfs.File{Content: "c"}}}}.encode,
		result{page: vfs.Page{Files: []vfs.Info{{Path: "/a", ModTime: moments[1]}}}}.encode, event{1, vfs.Event{Old: &vfs.File{}}}.encode,
		cancellation(1).encode} {
		e := encoder{}
		encode(&e)
		f.Add(e.b)
	}
	again := func(t *testing.T, encode func(*encoder), decode func([]byte) (any, error), want any) {
		e := encoder{}
		encode(&e)
		got, err := decode(e.b)
		if diff := cmp.Diff(want, got, exported); diff != "" || err != nil {
			t.Errorf("%s, %v", diff, err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeHello(b); err == nil {
			again(t, h.encode, func(b []byte) (any, error) { return decodeHello(b) }, h)
		}
		if w, err := decodeWelcome(b); err == nil {
			again(t, w.encode, func(b []byte) (any, error) { return decodeWelcome(b) }, w)
		}
		if r, cancel, err := decodeClient(b); err == nil && !cancel {
			again(t, r.encode, func(b []byte) (any, error) { r, _, err := decodeClient(b); return r, err }, r)
		}
		if r, v, isEvent, err := decodeServer(b); err == nil && isEvent {
			again(t, v.encode, func(b []byte) (any, error) { _, v, _, err := decodeServer(b); return v, err }, v)
		} else if err == nil {
			again(t, r.encode, func(b []byte) (any, error) { r, _, _, err := decodeServer(b); return r, err }, r)
		}
		if body, err := readFrame(bytes.NewReader(b), maxFrame); err == nil && len(body)+4 > len(b) {
			t.Errorf("a frame of %d bytes from %d", len(body), len(b))
		}
	})
}

// TestResultsThatDoNotFit: where the memory for results is used up, the client is
// told so in place of the result, and what was sent makes room again.
func TestResultsThatDoNotFit(t *testing.T) {
	p := newPeer(&server{results: semaphore.NewWeighted(3000)}, nil, version)
	free := func() {}
	large := func() result { return result{file: vfs.File{Content: string(make([]byte, 2000))}} }
	p.finish(1, large(), free)
	p.finish(2, large(), free)
	p.finish(3, result{file: vfs.File{Content: string(make([]byte, maxFrame+1))}}, free)
	batch, _ := p.out.take()
	for i, want := range []string{"", "store", "too-large"} {
		b, err := batch[i].build()
		if err != nil {
			t.Fatal(err)
		}
		got, _, _, err := decodeServer(b[headLen:])
		if got.id != uint64(i+1) || got.failure.code != want || err != nil {
			t.Errorf("result %d has code %q (%s), %v, want %q", i+1, got.failure.code, got.failure.text, err, want)
		}
	}
	if since, ok := p.idle(); ok {
		t.Errorf("a client that is owed results is idle since %v", since)
	}
	for _, parcel := range batch {
		parcel.sent()
	}
	if _, ok := p.idle(); !ok || p.owed() != 0 || !p.server.results.TryAcquire(3000) {
		t.Errorf("%d bytes are still owed", p.owed())
	}
}
