package postgresfs

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Rule names what a row breaks.
type Rule string

// The rules of Check.
const (
	RulePath     Rule = "path"     // the key is that of no canonical path: the row does not show
	RuleRevision Rule = "revision" // a file without one does not show
	RuleSize     Rule = "size"     // more than 1 MiB: it is listed, and cannot be read
	RuleText     Rule = "text"     // no UTF-8: it is listed, and cannot be read
	RuleLog      Rule = "log"      // counter and log disagree: watchers are told to look again
	RuleIndex    Rule = "index"    // an index of the tables is not valid
)

// Problem is one fault that Check found. Only other programs, or a damaged server, make
// them.
type Problem struct {
	Namespace string
	Path      string // as it is stored; "" for the database itself
	Rule      Rule
	Err       error
}

const (
	selectEvery = `select ns, key, revision, mtime, octet_length(content)::bigint, case when octet_length(content) <= 1048576 then content end
	from goliath_files_v1 where (ns, key) > ($1::text, $2::bytea) order by ns, key limit $3::int`
	selectLogFaults = `select n.ns, n.seq, coalesce(max(c.seq), 0) from goliath_namespaces_v1 n
	left join goliath_changes_v1 c on c.ns = n.ns group by n.ns, n.seq having coalesce(max(c.seq), 0) <> n.seq order by n.ns`
	selectIndexFaults = `select c.relname from pg_index i join pg_class c on c.oid = i.indexrelid
	where i.indrelid in ('goliath_files_v1'::regclass, 'goliath_namespaces_v1'::regclass, 'goliath_changes_v1'::regclass)
	and not (i.indisvalid and i.indisready) order by 1`
)

// Check reads every file of every namespace, as they are at one moment, and calls report
// for each row that breaks a rule, and for what is wrong with the tables. When the
// connection is lost it goes on with another one, where it was, so that the rest is of a
// later moment. Errors are those of the store.
func (s *FS) Check(ctx context.Context, report func(Problem)) error {
	namespace, after, tables, done := "", []byte{}, false, false
	err := s.db.whole(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, func(tx pgx.Tx, further func()) error {
		if !tables {
			found, err := checkTables(ctx, tx)
			if err != nil {
				return err
			}
			for _, p := range found {
				report(p)
			}
			tables = true
		}
		for !done {
			n, err := checkPage(ctx, tx, &namespace, &after, report)
			if err != nil {
				return err
			}
			done = n < snapshotPage
			further()
		}
		return nil
	})
	if done {
		return nil
	}
	return err
}

func checkTables(ctx context.Context, q querier) (found []Problem, err error) {
	rows, err := q.Query(ctx, selectLogFaults)
	if err != nil {
		return nil, err
	}
	var ns string
	var counted, logged int64
	_, err = pgx.ForEachRow(rows, []any{&ns, &counted, &logged}, func() error {
		found = append(found, Problem{Namespace: ns, Rule: RuleLog, Err: fmt.Errorf("%d changes are counted and the log ends at %d: the next change mends that, and watchers are told to look again", counted, logged)})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if rows, err = q.Query(ctx, selectIndexFaults); err != nil {
		return nil, err
	}
	_, err = pgx.ForEachRow(rows, []any{&ns}, func() error {
		found = append(found, Problem{Rule: RuleIndex, Err: fmt.Errorf("the index %s is not valid: run \"reindex index %s\"", ns, ns)})
		return nil
	})
	return found, err
}

// checkPage checks the files behind a key of a namespace, and moves both on.
func checkPage(ctx context.Context, q querier, namespace *string, after *[]byte, report func(Problem)) (n int, err error) {
	rows, err := q.Query(ctx, selectEvery, *namespace, *after, snapshotPage)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var f row
		key, err := f.scan(rows, namespace)
		if err != nil {
			return n, err
		}
		*after, n = key, n+1
		if rule, err := f.problem(); err != nil {
			report(Problem{*namespace, f.Path, rule, err})
		}
	}
	return n, rows.Err()
}
