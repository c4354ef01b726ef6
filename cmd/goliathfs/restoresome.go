package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/vpath"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

// restoreSome puts the files of a backup at and below some paths into a store. Where
// the backup names no namespace, it is that of the store.
func restoreSome(cmd *cobra.Command, backup storeurl.URL, spec storeurl.Spec, paths []string, force bool) error {
	return withOpener(func(o *storeurl.Opener) error {
		ctx := cmd.Context()
		from, err := openBackup(ctx, o, backup, spec.URL.Namespace)
		if err != nil {
			return err
		}
		if err := tellNamespaces(cmd, from); err != nil {
			return err
		}
		moves, err := movesBelow(ctx, from, paths)
		if err != nil {
			return explain(err, storeWords(from.Spec))
		}
		to, err := o.Open(ctx, spec, storeurl.Want{Write: true, Create: true, Lazy: true})
		if err != nil {
			return err
		}
		p := placer{cmd: cmd, src: from, dst: to, force: force, keepSame: true}
		plan, err := p.plan(ctx, moves)
		if err != nil {
			return explain(err, storeWords(spec))
		}
		for _, m := range plan {
			if _, err := p.put(ctx, m); err != nil {
				return fmt.Errorf("%w; %s of %d restored", err, count(p.placed, "file was", "files were"), len(plan))
			}
		}
		text := fmt.Sprintf("restored %s to %s", count(len(plan), "file", "files"), spec.URL)
		if same := len(moves) - len(plan); same > 0 {
			text += fmt.Sprintf(", %d unchanged", same)
		}
		_, err = fmt.Fprintln(cmd.OutOrStdout(), text)
		return err
	})
}

// openBackup opens a backup where its URL names a namespace, else a namespace of it;
// when it has but one, that is meant whatever it is called.
func openBackup(ctx context.Context, o *storeurl.Opener, u storeurl.URL, namespace string) (*storeurl.Store, error) {
	s, err := o.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{})
	if err != nil || u.Namespace != "" || namespace == "" {
		return s, err
	}
	spaces, ok := s.Parts[0].Spaces()
	if !ok {
		return s, nil
	}
	names, err := spaces.Namespaces(ctx)
	if err != nil {
		return nil, err
	}
	if len(names) == 1 {
		u.Namespace = names[0]
	} else {
		u.Namespace = namespace
	}
	return o.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{})
}

// movesBelow returns the files of a store at and below paths, each once, which keep
// their places.
func movesBelow(ctx context.Context, s *storeurl.Store, paths []string) ([]move, error) {
	var moves []move
	seen := map[string]bool{}
	for _, path := range paths {
		found := false
		for info, err := range walk.Files(ctx, s.Backend, path) {
			if err != nil {
				return nil, err
			}
			found = true
			if !seen[info.Path] {
				seen[info.Path] = true
				moves = append(moves, move{info.Path, info.Path})
			}
		}
		if _, err := vpath.Clean(path); err == nil && !found {
			return nil, fmt.Errorf("%s: the backup holds no file at or below it, goliathfs ls backup:FILE lists those that it holds", path)
		}
	}
	return moves, nil
}
