package storeurl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/hostpath"
	"github.com/goliathfs/goliathfs/vfs"
)

// openAlone is a database that is opened once and seen by several views.
type openAlone struct {
	db       database.Database
	writable bool
}

// kind returns the kind of database that the URL names.
func (u URL) kind() (form, bool) {
	for _, f := range forms() {
		if f.scheme == u.Scheme {
			return f, f.kind != nil
		}
	}
	return form{}, false
}

// database opens the database of u, or takes a view of one that is open.
func (o *Opener) database(ctx context.Context, u URL, want Want) (vfs.Backend, error) {
	f, _ := u.kind()
	if f.alone {
		if open, ok := o.alone[hostpath.Real(u.Target)]; ok && (open.writable || !want.Write) {
			view, err := open.db.View(u.namespace())
			if err != nil {
				return nil, err
			}
			o.closeLater(view)
			return view, o.known(ctx, u, want, view)
		}
	}
	target := u.Target
	if f.server {
		target = PasswordsIn(ctx).connection(u)
	}
	db, err := f.kind.Open(ctx, database.Options{
		Want: want, Name: u.String(), Target: target, Namespace: u.Namespace, ReadOnly: u.ReadOnly,
		NewRevision: o.NewRevision, Now: o.Now, Note: func(text string) { o.notes = append(o.notes, text) }, Logger: o.Logger,
	})
	switch {
	case errors.Is(err, fs.ErrNotExist) && !want.Create && !f.server: // a server says what it lacks
		return nil, missing{u}
	case err != nil:
		return nil, err
	}
	o.closeLater(db)
	if f.alone {
		if o.alone == nil {
			o.alone = map[string]openAlone{}
		}
		o.alone[hostpath.Real(u.Target)] = openAlone{db, want.Write} // the path may be real only now
	}
	return db, o.known(ctx, u, want, db)
}

// all opens the database of u and shows every namespace.
func (o *Opener) all(ctx context.Context, u URL, want Want) (vfs.Backend, error) {
	one := u
	one.All = false
	b, err := o.database(ctx, one, Want{Long: want.Long})
	if err != nil {
		return nil, err
	}
	all, err := database.NewAll(ctx, b.(database.Database))
	if err == nil {
		o.closeLater(all)
	}
	return all, err
}

// allOf shows every namespace of something else than a database.
func (o *Opener) allOf(ctx context.Context, from database.Spaces) (vfs.Backend, error) {
	all, err := database.AllOf(ctx, from)
	if err == nil {
		o.closeLater(all)
	}
	return all, err
}

// Database returns the database that the part is of, in full or one namespace of it.
func (p Part) Database() (database.Database, bool) {
	if all, ok := p.Backend.(*database.All); ok {
		return all.Database()
	}
	db, ok := p.Backend.(database.Database)
	return db, ok
}

// Repair mends the database that the URL names, as its kind does. Its errors name
// the store.
func Repair(ctx context.Context, u URL, report func(database.Problem)) (database.Repaired, error) {
	f, ok := u.kind()
	switch {
	case !ok:
		return database.Repaired{}, Misuse{fmt.Errorf("%s cannot be repaired, badger: and sqlite: can", u)}
	case f.server:
		return database.Repaired{}, Misuse{fmt.Errorf("%s is not repaired from here: leave out --repair to see what is wrong, and mend that on the server", u)}
	}
	var opened Opener
	open := func(ctx context.Context, want Want) (database.Database, error) {
		b, err := opened.one(ctx, u, want)
		if err != nil {
			return nil, err
		}
		opened.opened, opened.alone = nil, nil // it is the repair that closes it
		return b.(database.Database), nil
	}
	done, err := f.kind.Repair(ctx, database.Repair{Name: u.String(), Target: u.Target, Open: open}, report)
	return done, errors.Join(err, opened.Close())
}
