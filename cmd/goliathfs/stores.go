package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// storeFlags are the flags of every verb that takes a store.
type storeFlags struct{ routes []string }

func (f *storeFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.routes, "route", nil, "put another store at a directory: `/prefix=URL[,ro]`, repeatable")
}

// open opens the store named by raw with the routes of the flags. The caller
// closes it.
func (f *storeFlags) open(ctx context.Context, raw string, intent storeurl.Intent) (*storeurl.Store, error) {
	spec, err := f.spec(raw)
	if err != nil {
		return nil, err
	}
	return storeurl.Open(ctx, spec, intent)
}

// spec reads the URL and the routes without opening anything.
func (f *storeFlags) spec(raw string) (storeurl.Spec, error) {
	u, err := storeurl.Parse(raw)
	if err != nil {
		return storeurl.Spec{}, usagef("%w", err)
	}
	spec := storeurl.Spec{URL: u}
	for _, r := range f.routes {
		route, err := storeurl.ParseRoute(r)
		if err != nil {
			return storeurl.Spec{}, usagef("%w", err)
		}
		spec.Routes = append(spec.Routes, route)
	}
	return spec, nil
}

// withStore opens a store, runs fn and closes the store, whose error counts
// when fn had none. Errors of package vfs come back as sentences.
func (f *storeFlags) withStore(ctx context.Context, raw string, intent storeurl.Intent, fn func(*storeurl.Store) error) error {
	store, err := f.open(ctx, raw, intent)
	if err != nil {
		return err
	}
	err = fn(store)
	if closeErr := store.Close(); err == nil {
		err = closeErr
	}
	return explain(err, raw)
}
