// Package review asks a person at a terminal about each golden that would change.
package review

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/internal/visible"
)

// Reviewer shows changes and reads answers.
type Reviewer struct {
	out   io.Writer
	lines <-chan string // closed at the end of the input
	all   bool          // the rest is taken without being asked about
}

// New returns a reviewer. It reads the input until that ends, or until ctx does
// and one more line has come: a terminal cannot be interrupted while it waits.
func New(ctx context.Context, in io.Reader, out io.Writer) *Reviewer {
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(in); scanner.Scan(); {
			select {
			case lines <- scanner.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return &Reviewer{out: out, lines: lines}
}

const question = "write this golden? [y]es, [n]o, [a]ll of the rest, [q]uit: "

// Ask shows a change and returns whether it is taken. It is a Runner's Review.
func (r *Reviewer) Ask(ctx context.Context, c agentsim.GoldenChange) (take bool, err error) {
	if r.all {
		return true, nil
	}
	what := "changes"
	if c.New {
		what = "is new"
	}
	text := fmt.Sprintf("\n%s %s: %s\n%s", visible.Name(c.Location.Golden), what, strings.TrimSpace(c.Description), c.Text)
	if _, err := io.WriteString(r.out, visible.Text(text)); err != nil {
		return false, fmt.Errorf("the change cannot be shown: %w", err)
	}
	for {
		if _, err := io.WriteString(r.out, question); err != nil {
			return false, fmt.Errorf("the question cannot be shown: %w", err)
		}
		answer, err := r.line(ctx)
		if err != nil {
			return false, err
		}
		switch strings.ToLower(strings.TrimSpace(answer)) {
		case "y", "yes":
			return true, nil
		case "n", "no":
			return false, nil
		case "a", "all":
			r.all = true
			return true, nil
		case "q", "quit":
			return false, agentsim.ErrReviewEnded
		}
	}
}

// line waits for an answer. The end of the input ends the review.
func (r *Reviewer) line(ctx context.Context) (string, error) {
	select {
	case line, ok := <-r.lines:
		if !ok {
			return "", agentsim.ErrReviewEnded
		}
		return line, nil
	case <-ctx.Done():
		return "", errors.Join(errors.New("the review was stopped"), ctx.Err())
	}
}
