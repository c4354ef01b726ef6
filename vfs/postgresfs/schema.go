package postgresfs

import (
	"context"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/vfs"
)

// layout is the version of the tables that this package reads and writes.
//
// A change that older programs can live with, such as a new index or a column with a
// default, keeps the version and is made by statements that do nothing the second
// time. Any other gets tables of a new name (_v2) and a new version in the same
// transaction that copies the rows and renames the old ones, before it copies
// (goliath_layout_v1 stays). So an older program stops with a sentence instead of
// writing where nobody looks, also one that looked at the version long ago.
const layout = 1

// schema makes the tables. Each statement does nothing the second time.
const schema = `create table if not exists goliath_files_v1 (
	ns text collate "C" not null,   -- namespace
	key bytea not null,             -- path, in a form whose byte order is that of UTF-16 code units
	content bytea not null,         -- UTF-8
	revision bytea not null,
	mtime bigint not null,          -- Unix milliseconds, 0 for unknown
	grams int4[],                   -- for searches; null until they are made
	primary key (ns, key));
alter table goliath_files_v1 alter column content set storage external, alter column grams set storage external;
create index if not exists goliath_files_grams_v1 on goliath_files_v1 using gin (grams) where grams is not null;
create index if not exists goliath_files_plain_v1 on goliath_files_v1 (ns, key) where grams is null;
create table if not exists goliath_namespaces_v1 (
	ns text collate "C" primary key,
	seq bigint not null             -- number of the last change
) with (fillfactor = 10);
create table if not exists goliath_changes_v1 (
	ns text collate "C" not null,
	seq bigint not null,
	key bytea not null,
	revision bytea not null,        -- empty when the file was removed
	mtime bigint not null,
	size bigint not null,           -- bytes
	old bytea not null,             -- the revision that was replaced, empty for a new file
	tag bigint not null,            -- of the statement that made the change
	primary key (ns, seq));
create table if not exists goliath_layout_v1 (version int primary key);
insert into goliath_layout_v1 values (1) on conflict do nothing;
`

// Schema returns the SQL that makes the tables, for whoever has the rights that a
// program lacks. It can be run again.
func Schema() string { return schema }

// The names of the tables, for messages.
var tables = []string{"goliath_files_v1", "goliath_namespaces_v1", "goliath_changes_v1", "goliath_layout_v1"}

// makeLock is the advisory lock under which the tables are made: two that create the
// same table at once disturb each other, even with "if not exists".
const makeLock = 0x676f6c6961746801

// ensure looks at the tables once, and makes them where they are missing and may be
// made.
func (d *database) ensure(ctx context.Context, q querier) error {
	if d.ready.Load() {
		return nil
	}
	newest, err := version(ctx, q)
	if code(err) == undefinedTable {
		if d.opts.ReadOnly || d.opts.MustExist {
			return ErrNoTables
		}
		err = d.makeTables(ctx, q)
		switch code(err) {
		case "":
			if err == nil {
				newest, err = version(ctx, q)
			}
		case insufficientPrivilege, readOnlyTransaction:
			err = d.unmade(err)
		}
	}
	switch {
	case err != nil:
		return err
	case newest > layout:
		return later(newest)
	}
	var r rights
	if err := r.look(ctx, q); err != nil {
		return err
	}
	if r.Replica && !d.opts.ReadOnly {
		return errReplica
	}
	d.ready.Store(true)
	return nil
}

func later(version int) error {
	return &storeError{fmt.Sprintf("the tables are of version %d and this program knows version %d, so use a newer program", version, layout), nil}
}

// upgraded returns the failure of a statement, or that the tables which it does not find
// have made way for those of a later version.
func (d *database) upgraded(ctx context.Context, conn *pgxpool.Conn, err error) error {
	if code(err) != undefinedTable {
		return sever(conn, err)
	}
	if newest, failed := version(ctx, conn); failed == nil && newest > layout {
		d.ready.Store(false)
		return later(newest)
	}
	return err
}

// ErrNoTables means that the database is there and has no tables of a store yet. It
// matches fs.ErrNotExist.
var ErrNoTables error = &storeError{"the database holds no agent files (it has no table goliath_files_v1), so name another one, or write a first file to it, which makes the tables", []error{fs.ErrNotExist}}

// errReplica may pass: a replica can become the primary.
var errReplica = &storeError{"the server is a replica, which may not show yet what was written: name the primary, or ask for a replica by target_session_attrs and open it read-only", []error{vfs.ErrUnavailable}}

// version returns the version of the tables, the newest of those named.
func version(ctx context.Context, q querier) (int, error) {
	var newest *int
	err := q.QueryRow(ctx, `select max(version) from goliath_layout_v1`).Scan(&newest)
	if err == nil && newest == nil {
		err = &storeError{"the table goliath_layout_v1 is empty, so it is not known what the others hold: run the SQL of Schema again", nil}
	}
	if err != nil {
		return 0, err
	}
	return *newest, nil
}

func (d *database) makeTables(ctx context.Context, q querier) error {
	_, err := q.Exec(ctx, fmt.Sprintf("begin isolation level read committed; select pg_advisory_xact_lock(%d);\n%s commit", int64(makeLock), schema), pgx.QueryExecModeSimpleProtocol)
	return err
}

// rights are what the role may do, and where.
type rights struct {
	Change  bool // every table
	Off     bool // transactions of this role are read-only
	Replica bool
}

func (r rights) write() bool { return r.Change && !r.Off && !r.Replica }

const selectRights = `select
	has_table_privilege('goliath_files_v1', 'insert') and has_table_privilege('goliath_files_v1', 'update')
	and has_table_privilege('goliath_files_v1', 'delete') and has_table_privilege('goliath_namespaces_v1', 'insert')
	and has_table_privilege('goliath_namespaces_v1', 'update') and has_table_privilege('goliath_changes_v1', 'insert'),
	current_setting('default_transaction_read_only') = 'on', pg_is_in_recovery()`

func (r *rights) look(ctx context.Context, q querier) error {
	return q.QueryRow(ctx, selectRights).Scan(&r.Change, &r.Off, &r.Replica)
}

// lacking explains that the role may not read or change the tables.
func (d *database) lacking(cause error) error {
	if code(cause) == readOnlyTransaction {
		return &storeError{"the server makes each transaction of this role read-only: look at default_transaction_read_only, which the server, the database, the role or the options of the URL may set", []error{vfs.ErrReadOnly, cause}}
	}
	return &storeError{fmt.Sprintf("this role lacks rights on the tables (%s): have their owner run: %s; where row security is on, use a namespace that it leaves to the role", reason(cause), d.grant()), []error{vfs.ErrReadOnly, cause}}
}

// unmade explains that the role may not make the tables. It matches ErrNoTables.
func (d *database) unmade(cause error) error {
	return &storeError{fmt.Sprintf("the database has no tables for agent files, and this role may not make them (%s): have someone who may run the SQL of Schema and then: %s", reason(cause), d.grant()), []error{vfs.ErrReadOnly, ErrNoTables, cause}}
}

func (d *database) grant() string {
	role := pgx.Identifier{d.pool.Config().ConnConfig.User}
	return "grant select, insert, update, delete on " + strings.Join(tables, ", ") + " to " + role.Sanitize()
}
