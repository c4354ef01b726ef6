package memory

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Version names a stored state, so that a save can say what it was built on. It
// is opaque; "" means that nothing is stored.
type Version string

// Loaded is what Load found.
type Loaded struct {
	State   State // never with a nil Recent
	Version Version
	// Damaged says why the stored value could not be read, nil when it could. The
	// state is empty then, and Save keeps the value aside before it overwrites it.
	Damaged error
}

// Memory holds the state of one conversation. It is safe for concurrent use.
type Memory interface {
	// Load returns the stored state. An error means that the store failed; a
	// value that cannot be read is Loaded.Damaged.
	Load(ctx context.Context) (Loaded, error)

	// Save replaces the version that the state was built on. ErrConflict: another
	// version is stored by now; load again and build on that. On every error the
	// stored state is as it was, except that after a failure of the store the
	// caller must load to know.
	Save(ctx context.Context, s State, on Version) error
}

// ErrConflict is matched by the error of a Save that was built on a state that
// is not stored any more.
var ErrConflict = errors.New("the stored memory changed meanwhile, load it and save again")

// Factory makes the memory of a conversation. It is told whether it is the
// default one, whose id is "". It must return separate memory for each.
type Factory func(ctx context.Context, id string, isDefault bool) (Memory, error)

// CheckID refuses a name that cannot identify a conversation: a blank one and
// one that is not valid UTF-8. Every other text is a name of its own; nothing is
// trimmed, folded or normalized.
func CheckID(id string) error {
	if strings.TrimSpace(id) == "" {
		return fmt.Errorf("the conversation %q is blank, give it a name or leave it out for the default one", id)
	}
	if !utf8.ValidString(id) {
		return fmt.Errorf("the conversation %q is not valid UTF-8, encode its name first", id)
	}
	return nil
}

// checkKey is CheckID for a factory's arguments.
func checkKey(id string, isDefault bool) error {
	if isDefault {
		if id != "" {
			return fmt.Errorf("the default conversation has no name, but %q was given", id)
		}
		return nil
	}
	return CheckID(id)
}
