package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/backupfile"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/vfs"
)

// namespaced is one namespace of what may hold several.
type namespaced interface {
	Namespaces(ctx context.Context) ([]string, error)
}

// known refuses a namespace that a verb would only look at and that holds no
// file: a mistyped name would pass for an empty store.
func known(ctx context.Context, u URL, want Want, db namespaced) error {
	if u.Namespace == "" || want.Write {
		return nil
	}
	names, err := db.Namespaces(ctx)
	if err != nil {
		return err
	}
	if slices.Contains(names, u.Namespace) {
		return nil
	}
	there := "it holds no files at all"
	if len(names) > 0 {
		there = "those that hold files are " + quoted(names)
	}
	return unknownNamespace{u.Namespace, there}
}

// known is the same for a database; of one that is awaited it is only a note.
func (o *Opener) known(ctx context.Context, u URL, want Want, db namespaced) error {
	err := known(ctx, u, want, db)
	if unknown, ok := errors.AsType[unknownNamespace](err); ok && want.Await {
		o.notes = append(o.notes, fmt.Sprintf("%s: %v: there is nothing to see until someone writes to it", u, unknown))
		return nil
	}
	return err
}

// unknownNamespace matches fs.ErrNotExist, as missing does.
type unknownNamespace struct{ name, there string }

func (n unknownNamespace) Error() string {
	return fmt.Sprintf("the namespace %q holds no file, %s", n.name, n.there)
}

func (unknownNamespace) Unwrap() error { return fs.ErrNotExist }

// mostNames is how many namespaces a message lists.
const mostNames = 20

func quoted(names []string) string {
	var list []string
	for _, name := range names[:min(len(names), mostNames)] {
		list = append(list, strconv.Quote(name))
	}
	if more := len(names) - len(list); more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}

// Elsewhere is a database that shows no files because they are in namespaces
// that its URL does not name.
type Elsewhere struct {
	URL     URL
	Names   string // of the namespaces that hold files, quoted, for messages
	Example URL    // shows the first of them, or, of Others, all
}

// Elsewhere returns the parts of the store that look empty and are not.
func (s *Store) Elsewhere(ctx context.Context) ([]Elsewhere, error) {
	var found []Elsewhere
	for _, part := range s.Parts {
		db, ok := part.Backend.(namespaced)
		if !ok || part.URL.Namespace != "" {
			continue
		}
		page, err := vfs.List(ctx, part.Backend, "/", vfs.ListOptions{Limit: 1})
		if err != nil || len(page.Files) > 0 {
			continue // the verb itself says what is wrong
		}
		names, err := db.Namespaces(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.URL, err)
		}
		// Rows that no list shows are in the default one too.
		names = slices.DeleteFunc(names, func(name string) bool { return name == defaultNamespace })
		if len(names) == 0 {
			continue
		}
		example := part.URL
		example.Namespace = names[0]
		found = append(found, Elsewhere{part.URL, quoted(names), example})
	}
	return found, nil
}

// Others returns the parts of the store that show files of the default namespace,
// which their URLs do not name, and hold files in others.
func (s *Store) Others(ctx context.Context) ([]Elsewhere, error) {
	var found []Elsewhere
	for _, part := range s.Parts {
		db, ok := part.Backend.(namespaced)
		if !ok || part.URL.Namespace != "" {
			continue
		}
		names, err := db.Namespaces(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.URL, err)
		}
		all := len(names)
		names = slices.DeleteFunc(names, func(name string) bool { return name == part.URL.namespace() })
		if len(names) > 0 && len(names) < all { // else the store looks empty, see Elsewhere
			example := part.URL
			example.All = true
			found = append(found, Elsewhere{part.URL, quoted(names), example})
		}
	}
	return found, nil
}

// Spaces returns the namespaces of a database or a backup, and false when the part is
// neither.
func (p Part) Spaces() (database.Spaces, bool) {
	switch b := p.Backend.(type) {
	case *database.All:
		return b.Spaces(), true
	case database.Database:
		return database.SpacesOf(b), true
	case *backupfile.Files:
		return backupSpaces{b.Store()}, b.Store().HasNamespaces()
	}
	return nil, false
}

// EachNamespace calls fn with every namespace of the part that holds files, each
// with its name, or with the part alone and "" when it has none.
func (p Part) EachNamespace(ctx context.Context, fn func(name string, files vfs.Backend) error) error {
	spaces, ok := p.Spaces()
	if !ok {
		return fn("", p.Backend)
	}
	names, err := spaces.Namespaces(ctx)
	if err != nil {
		return err
	}
	for _, name := range names {
		view, err := spaces.Space(name)
		if errors.Is(err, fs.ErrInvalid) {
			continue // rows that another program wrote, which no store shows
		}
		if err != nil {
			return err
		}
		if err := errors.Join(fn(name, view), view.Close()); err != nil {
			return err
		}
	}
	return nil
}
