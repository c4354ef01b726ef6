package postgresfs

import (
	"context"
	"hash/fnv"
	"slices"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/gramindex"
	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// A file's row has the grams of its content as numbers, and one number for the
// namespace. A change takes them away, so that writers pay nothing for searches; a file
// without grams is a candidate of every search, and a search that meets many has them
// made in the background.
const (
	// selectAhead looks at the next files whatever they hold.
	selectAhead = `select key, revision, mtime, octet_length(content)::bigint, grams is null, grams is null or grams @> $5::int4[]
	from goliath_files_v1 where ns = $1::text and key > $2::bytea and key < $3::bytea order by key limit $4::int`
	selectSelf = `select key, revision, mtime, octet_length(content)::bigint, grams is null, grams is null or grams @> $3::int4[]
	from goliath_files_v1 where ns = $1::text and key = $2::bytea`
	// selectHolding asks the index first, whatever the server thinks of that. Files with
	// and without grams come from one statement, or one that is given its grams between
	// two would be in neither.
	selectHolding = `with m as materialized (
		select ns, key, revision, mtime, octet_length(content)::bigint as size from goliath_files_v1 where grams @> $5::int4[])
	select * from (
		(select key, revision, mtime, size, false from m
		where ns = $1::text and key > $2::bytea and key < $3::bytea order by key limit $4::int)
		union all
		(select key, revision, mtime, octet_length(content)::bigint, true from goliath_files_v1
		where ns = $1::text and key > $2::bytea and key < $3::bytea and grams is null order by key limit $4::int)
	) candidates order by key limit $4::int`
)

const (
	// ahead is how many files are looked at, at least, before the index is asked: where many hold
	// the text, that is cheaper than a list of them all.
	ahead = 64
	// dense is the share of those, one in so many, that must hold it for the page to end
	// there.
	dense = 16
)

// candidate is a row of a search.
type candidate struct {
	vfs.Info
	ok    bool // it keeps the rules
	plain bool // it has no grams
	may   bool // it may hold the text
}

// Search implements vfs.Searcher.
func (s *FS) Search(ctx context.Context, dir string, opts vfs.SearchOptions) (vfs.Page, error) {
	opts, err := opts.Checked()
	if err != nil {
		return vfs.Page{}, err
	}
	if err := vpath.Check(dir); err != nil {
		return vfs.Page{}, err
	}
	grams := append(gramindex.HashNeedle(opts.Text), namespaceGram(s.space.name))
	sp := spanOf(dir, opts.After)
	var page vfs.Page
	plain := 0
	err = s.db.ask(ctx, func(ctx context.Context, q querier) error {
		page, plain = vfs.Page{}, 0
		return s.search(ctx, q, &page, &plain, sp, opts.Limit, grams)
	})
	if err != nil {
		return vfs.Page{}, err
	}
	if s.db.opts.IndexFrom > 0 && plain >= s.db.opts.IndexFrom {
		s.makeGrams()
	}
	return page, nil
}

// namespaceGram is the number that the rows of a namespace have, so that the index
// passes over those of others.
func namespaceGram(name string) int32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return int32(h.Sum32())
}

// search fills a page, and counts the files without grams that it met.
func (s *FS) search(ctx context.Context, q querier, page *vfs.Page, plain *int, sp span, limit int, grams []int32) error {
	take := func(rows []candidate) (full bool) {
		for _, c := range rows {
			if c.plain {
				*plain++
			}
			if !c.may || !c.ok {
				continue
			}
			if len(page.Files) == limit {
				page.Next = page.Files[limit-1].Path
				return true
			}
			page.Files = append(page.Files, c.Info)
		}
		return false
	}
	if sp.self != nil {
		self, err := candidates(ctx, q, selectSelf, s.space.name, sp.self, grams)
		if err != nil {
			return err
		}
		take(self)
	}
	look := max(ahead, limit)
	next, err := candidates(ctx, q, selectAhead, s.space.name, sp.from, sp.end, look, grams)
	if err != nil || take(next) || len(next) < look {
		return err
	}
	last := next[len(next)-1]
	if len(page.Files) >= look/dense && last.ok {
		page.Next = last.Path
		return nil
	}
	for sp.from = keyOf(last.Path); ; {
		want := limit - len(page.Files) + 1
		found, err := candidates(ctx, q, selectHolding, s.space.name, sp.from, sp.end, want, grams)
		if err != nil || take(found) || len(found) < want {
			return err
		}
		sp.from = keyOf(found[len(found)-1].Path) // some broke the rules
	}
}

// candidates runs one of the queries of searches.
func candidates(ctx context.Context, q querier, query string, args ...any) ([]candidate, error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	c := candidate{may: true}
	more := []any{&c.plain, &c.may}
	var all []candidate
	for r := newInfoRow(more[:len(rows.FieldDescriptions())-4]...); rows.Next(); {
		if c.Info, c.ok, err = r.scan(rows); err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, rows.Err()
}

const (
	selectPlain = `select key, revision, mtime, octet_length(content)::bigint, case when octet_length(content) <= 1048576 then content end
	from goliath_files_v1 where ns = $1::text and key > $2::bytea and grams is null order by key limit $3::int`
	updateGrams = `update goliath_files_v1 set grams = $4::int4[]
	where ns = $1::text and key = $2::bytea and revision = $3::bytea and grams is null`
	cleanIndex = `select gin_clean_pending_list('goliath_files_grams_v1')`
	// collectMore has the server put more rows into its index at once than it does by
	// itself, for this transaction: that takes three quarters of the work, and searches
	// meanwhile look at what is collected.
	collectMore = `select set_config('gin_pending_list_limit', '16384', true)`
)

// plainPage is how many files are given their grams at once.
const plainPage = 32

// makeGrams gives the files of the namespace their grams, in the background, unless
// that is being done or cannot be.
func (s *FS) makeGrams() {
	if s.db.opts.ReadOnly || !s.space.indexing.CompareAndSwap(false, true) {
		return
	}
	begun := s.db.run(func(ctx context.Context) {
		err := s.makeAllGrams(ctx)
		if err != nil && ctx.Err() == nil {
			s.db.opts.Logger.Warn("searches go without their index for now", "reason", reason(err))
		}
		// A role that lacks the right would try again at every search.
		s.space.indexing.Store(code(err) == insufficientPrivilege || code(err) == readOnlyTransaction)
	})
	if !begun {
		s.space.indexing.Store(false)
	}
}

// makeAllGrams goes once through the files without grams. Those that are no text stay
// without, as candidates of every search.
func (s *FS) makeAllGrams(ctx context.Context) error {
	hasher := gramindex.NewHasher()
	after := []byte{}
	for {
		n := 0
		err := s.db.ask(ctx, func(ctx context.Context, q querier) error {
			page, last, err := scanRows(ctx, q, selectPlain, s.space.name, after, plainPage)
			if err != nil || len(page) == 0 {
				n = 0
				return err
			}
			b := &pgx.Batch{}
			b.Queue(collectMore)
			for _, f := range page {
				if int64(len(f.Content)) < f.Size || !utf8.ValidString(f.Content) {
					continue
				}
				grams := append(hasher.Text(f.Content), namespaceGram(s.space.name))
				b.Queue(updateGrams, s.space.name, keyOf(f.Path), []byte(f.Revision), slices.Compact(grams))
			}
			if err := q.SendBatch(ctx, b).Close(); err != nil {
				return err
			}
			after, n = last, len(page)
			return nil
		})
		if err != nil {
			return err
		}
		if n < plainPage {
			break
		}
	}
	return s.db.ask(ctx, func(ctx context.Context, q querier) error {
		if _, err := q.Exec(ctx, cleanIndex); code(err) == "" { // only its owner may, and it is no loss
			return err
		}
		return nil
	})
}
