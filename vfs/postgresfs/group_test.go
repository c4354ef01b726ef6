package postgresfs_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// Changes that come while others wait for the server are made together, and each has
// its own outcome: made, refused for its revision, or given up by its caller.
func TestGroups(t *testing.T) {
	t.Parallel()
	url, ns := suite(t), namespace()
	for name, server := range map[string]string{"plain": url, "serializable": with(t, url, "default_transaction_isolation", "serializable")} {
		t.Run(name, func(t *testing.T) {
			ns := ns + name
			s := open(t, server, &postgresfs.Options{Namespace: ns, IndexFrom: 1})
			const files = 24
			revisions := make([]vfs.Revision, files)
			for i := range revisions {
				revisions[i] = write(t, s, fmt.Sprint("/old/", i), "old", "").Revision
			}
			search(t, s, "/", "old", false, 0)
			s.AwaitGrams() // which the changes take away
			events := watch(t, s, "/")
			admin := connect(t, url)
			run(t, admin, `begin`)
			run(t, admin, `select from goliath_namespaces_v1 where ns = $1 for update`, ns)
			gone, give := context.WithCancel(t.Context())
			errs := map[string]error{}
			var mu sync.Mutex
			var all sync.WaitGroup
			do := func(what string, i int, change func(ctx context.Context) error) {
				all.Go(func() {
					ctx := t.Context()
					if what == "given up" {
						ctx = gone
					}
					err := change(ctx)
					mu.Lock()
					defer mu.Unlock()
					errs[fmt.Sprint(what, i)] = err
				})
			}
			for i := range files {
				old := fmt.Sprint("/old/", i)
				write := func(ctx context.Context, path string, rev vfs.Revision) error {
					_, err := vfs.Write(ctx, s, path, "new", rev)
					return err
				}
				switch i % 4 {
				case 0:
					do("replaced", i, func(ctx context.Context) error { return write(ctx, old, revisions[i]) })
				case 1:
					do("removed", i, func(ctx context.Context) error { return vfs.Remove(ctx, s, old, revisions[i]) })
				case 2:
					do("refused", i, func(ctx context.Context) error { return write(ctx, old, "wrong") })
				case 3:
					do("given up", i, func(ctx context.Context) error { return write(ctx, fmt.Sprint("/given/", i), "") })
				}
				do("created", i, func(ctx context.Context) error { return write(ctx, fmt.Sprint("/new/", i%20), "") }) // some twice
			}
			until(t, func() bool { return s.Waiting() == 2*files-2 }) // all but those under way
			give()
			until(t, func() bool { return s.Waiting() <= 2*files-2-files/4+2 })
			run(t, admin, `commit`)
			all.Wait()
			made, created := 0, 0
			for i := range files {
				for what, want := range map[string]error{"replaced": nil, "removed": nil, "refused": vfs.ErrConflict, "given up": context.Canceled} {
					err, ok := errs[fmt.Sprint(what, i)]
					underWay := what == "given up" && err == nil // at most two
					if ok && !errors.Is(err, want) && !underWay {
						t.Errorf("%s %d: %v", what, i, err)
					}
					if ok && err == nil && what != "given up" {
						made++
					}
				}
				switch err := errs[fmt.Sprint("created", i)]; {
				case err == nil:
					created++
				case !errors.Is(err, vfs.ErrConflict):
					t.Errorf("created %d: %v", i, err)
				}
			}
			if made != files/2 || created != 20 {
				t.Errorf("%d changes and %d creates were made, want %d and 20", made, created, files/2)
			}
			for range made + created {
				if e := <-events; e.Overflow {
					t.Error("an overflow")
				}
			}
			if found, _ := search(t, s, "/", "new", false, 0); len(found) < files/4+created {
				t.Errorf("%d files hold what was written, want %d", len(found), files/4+created)
			}
			var transactions int
			if err := admin.QueryRow(t.Context(), `select count(distinct xmin::text) from goliath_changes_v1 where ns = $1 and seq > $2`, ns, files).Scan(&transactions); err != nil {
				t.Fatal(err)
			}
			if transactions > 8 {
				t.Errorf("%d transactions for %d changes", transactions, made+created)
			}
		})
	}
}

// until waits for a condition.
func until(t *testing.T, right func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !right(); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("what was waited for did not come")
		}
	}
}
