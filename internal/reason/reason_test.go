package reason_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/goliathfs/goliathfs/internal/reason"
)

func TestOf(t *testing.T) {
	_, open := os.Open(filepath.Join(t.TempDir(), "none"))
	link := os.Link(filepath.Join(t.TempDir(), "none"), filepath.Join(t.TempDir(), "new"))
	_, dial := net.Dial("unix", filepath.Join(t.TempDir(), "s"))
	for _, err := range []error{open, link, dial, errors.Join(open, nil)} {
		got := reason.Of(err)
		if want := "no such file or directory"; got == nil || got.Error() != want {
			t.Errorf("%v: %v, want %q", err, got, want)
		}
		if !errors.Is(got, fs.ErrNotExist) {
			t.Errorf("%v: %v is not fs.ErrNotExist any more", err, got)
		}
	}
	for _, err := range []error{nil, errors.New("text"), fmt.Errorf("words of someone: %w", open), errors.Join(open, link), fmt.Errorf("%w and %w", open, link)} {
		if got := reason.Of(err); !reflect.DeepEqual(got, err) {
			t.Errorf("%v is now %v", err, got)
		}
	}
}
