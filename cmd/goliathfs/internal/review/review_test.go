package review_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/review"
)

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		in    string
		want  []string // of three changes
		asked int
	}{
		"yes and no":      {"y\nno\nYES\n", []string{"take", "leave", "take"}, 3},
		"what is no word": {"maybe\n\ny\nn\nn\n", []string{"take", "leave", "leave"}, 5},
		"all":             {"n\na\n", []string{"leave", "take", "take"}, 2},
		"quit":            {"y\nq\n", []string{"take", "end", "end"}, 3},
		"the input ends":  {"y\n", []string{"take", "end", "end"}, 3},
		"no input":        {"", []string{"end", "end", "end"}, 3},
	} {
		var out bytes.Buffer
		r := review.New(t.Context(), strings.NewReader(tt.in), &out)
		var got []string
		for range 3 {
			take, err := r.Ask(t.Context(), agentsim.GoldenChange{Location: agentsim.Location{Golden: "golden/a.txtar"}, Text: "-a\n+\x1b[2Jb\n"})
			switch {
			case errors.Is(err, agentsim.ErrReviewEnded):
				got = append(got, "end")
			case err != nil:
				t.Fatal(err)
			case take:
				got = append(got, "take")
			default:
				got = append(got, "leave")
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if n := strings.Count(out.String(), "[q]uit"); n != tt.asked || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: asked %d times, want %d:\n%s", name, n, tt.asked, out.String())
		}
	}
}

// A person who types nothing does not hold up the end of the run.
func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	in, typed := io.Pipe()
	defer typed.Close()
	r := review.New(ctx, in, writer(cancel))
	if take, err := r.Ask(ctx, agentsim.GoldenChange{Text: "x"}); take || !errors.Is(err, context.Canceled) {
		t.Errorf("the answer is %t, %v", take, err)
	}
}

// writer cancels when it is asked a question.
type writer context.CancelFunc

func (w writer) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "[q]uit") {
		w()
	}
	return len(p), nil
}
