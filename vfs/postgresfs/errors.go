package postgresfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goliathfs/goliathfs/vfs"
)

// storeError is a sentence for people in front of a cause for programs. It keeps the
// driver's wording, with which users and hosts go along, out of the sentence.
type storeError struct {
	text   string
	causes []error
}

func (e *storeError) Error() string   { return e.text }
func (e *storeError) Unwrap() []error { return e.causes }

var errClosed = fmt.Errorf("the store was closed, open it again: %w", fs.ErrClosed)

// unsent is the failure to get a connection.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// Codes of the server; most that end a session have the class 57P.
const (
	undefinedTable        = "42P01"
	undefinedDatabase     = "3D000"
	insufficientPrivilege = "42501"
	readOnlyTransaction   = "25006"
	idleTooLong           = "25P03" // in a transaction; it ends the session, as the next one does
	transactionTooLong    = "25P04"
	diskFull              = "53100"
	tooManyConnections    = "53300"
	queryCanceled         = "57014"
	lockNotAvailable      = "55P03"
	cannotConnectNow      = "57P03"
	completionUnknown     = "40003"
	protocolViolation     = "08P01"
	statementIsThere      = "42P05" // a prepared one
	statementIsNotThere   = "26000"
)

// code returns the code of the server's error in err, "" when there is none.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// fate is what became of a statement that failed.
type fate int

const (
	refused fate = iota // by the server, which changed nothing
	clash               // refused because of others' transactions
	away                // it was never sent, for there is no server to send it to
	lost                // the connection ended, and the statement may have been carried out
	failed              // the driver failed, and would again; the statement may have been carried out
	ended               // by the context or the closing of the store, before it was sent
)

// fateOf tells what a failure means.
func fateOf(err error) fate {
	var none *unsent
	c := code(err)
	switch {
	case errors.As(err, &none):
		if errors.Is(err, context.Canceled) || errors.Is(err, fs.ErrClosed) || !passes(err) {
			return ended
		}
		return away
	case errors.Is(err, fs.ErrClosed):
		return ended
	case c == completionUnknown, c == idleTooLong, c == transactionTooLong, strings.HasPrefix(c, "57P"), strings.HasPrefix(c, "08"):
		return lost
	case strings.HasPrefix(c, "40"):
		return clash
	case c != "":
		return refused
	case pgconn.SafeToRetry(err):
		return away
	}
	var told *storeError
	if errors.As(err, &told) || errors.Is(err, pgx.ErrNoRows) {
		return refused
	}
	var cut *severed
	if broken(err) || errors.As(err, &cut) {
		return lost
	}
	return failed
}

// severed is a failure after which the connection was gone, whatever the driver calls it.
type severed struct{ error }

func (s *severed) Unwrap() error { return s.error }

// sever marks a failure after which its connection is gone.
func sever(conn *pgxpool.Conn, err error) error {
	if err != nil && conn.Conn().IsClosed() {
		return &severed{err}
	}
	return err
}

// passes reports whether a connection that could not be made may be made soon: the server
// starts or ends, has too many, or is not to be reached.
func passes(err error) bool {
	switch c := code(err); {
	case c == protocolViolation:
		return !misnamed(err)
	case c != "":
		return strings.HasPrefix(c, "57P") || strings.HasPrefix(c, "53") || strings.HasPrefix(c, "08")
	}
	var cut *severed
	return broken(err) || errors.As(err, &cut)
}

// misnamed reports whether pgbouncer does not know what a connection asks for. It has
// one code for that and for a server behind it that is away.
func misnamed(err error) bool {
	var pg *pgconn.PgError
	return errors.As(err, &pg) && slices.ContainsFunc([]string{"no such database", "no such user", "unsupported startup parameter"},
		func(said string) bool { return strings.HasPrefix(pg.Message, said) })
}

// broken reports whether a connection ended, or did not come about, as those of a
// network do; else the driver has not understood the server, or does not trust it.
func broken(err error) bool {
	var op *net.OpError
	if errors.As(err, &op) && (op.Op == "remote error" || op.Op == "local error") { // of TLS
		return false
	}
	var network net.Error
	return errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) || errors.Is(err, errReplica) || pgconn.SafeToRetry(err)
}

// innermost returns the cause of a driver's error, without the user and host that go
// along with it.
func innermost(err error) error {
	for {
		var next error
		switch e := err.(type) {
		case interface{ Unwrap() error }:
			next = e.Unwrap()
		case interface{ Unwrap() []error }:
			if all := e.Unwrap(); len(all) > 0 {
				next = all[len(all)-1]
			}
		}
		if next == nil {
			return err
		}
		err = next
	}
}

// nobody reports whether a connection failed because nothing answers there.
func nobody(err error) bool {
	var none *unsent
	var op *net.OpError
	var name *net.DNSError
	dialing := errors.As(err, &op) && op.Op == "dial" || errors.As(err, &name)
	return dialing && errors.As(err, &none) && code(err) == ""
}

// reason returns what the server or the system said, without user, host or URL.
func reason(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Message
	}
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err.Error()
	}
	var name *net.DNSError
	if errors.As(err, &name) && name.IsNotFound {
		return "there is no such host"
	}
	if errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) {
		return "no answer came in time"
	}
	var cut *severed
	if !broken(err) && !errors.As(err, &cut) {
		return innermost(err).Error()
	}
	return "the connection was lost"
}

// explain turns a driver's error into one sentence that says what to do.
func (d *database) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if over := ctx.Err(); over != nil {
		return over // the driver reports a lost connection, or a timeout
	}
	var told *storeError
	if errors.As(err, &told) || errors.Is(err, errClosed) || errors.Is(err, pgx.ErrNoRows) || vfs.Code(err) != "store" && vfs.Code(err) != "canceled" {
		return err
	}
	c := code(err)
	switch {
	case c == insufficientPrivilege, c == readOnlyTransaction:
		return d.lacking(err)
	case c == diskFull:
		return &storeError{"the server's disk is full, make room there and try again", []error{syscall.ENOSPC, err}}
	case c == queryCanceled, c == lockNotAvailable:
		return &storeError{fmt.Sprintf("the server gave up (%s), try again, or raise its statement_timeout and lock_timeout", reason(err)), []error{err}}
	case c == undefinedTable:
		d.ready.Store(false)
		return &storeError{"the tables of the store were removed while it was open, so open it again", []error{err}}
	case c == statementIsThere, c == statementIsNotThere:
		return &storeError{fmt.Sprintf("a pooler in between hands on connections and knows no prepared statements (%s): add default_query_exec_mode=simple_protocol to the URL, or go past it", reason(err)), []error{err}}
	case c == undefinedDatabase:
		return &storeError{fmt.Sprintf("the server has no such database (%s): create it, or name another", reason(err)), []error{fs.ErrNotExist, err}}
	case c == protocolViolation && misnamed(err):
		return &storeError{fmt.Sprintf("the pooler in between refused the connection (%s): look at database, user and parameters of the URL, and at pgbouncer.ini", reason(err)), []error{err}}
	case strings.HasPrefix(c, "28"):
		return &storeError{fmt.Sprintf("the server does not let this user in (%s): look at user, password and pg_hba.conf", reason(err)), []error{err}}
	case c == tooManyConnections:
		return &storeError{fmt.Sprintf("the server takes no more connections (%s): let others end, or raise max_connections", reason(err)), []error{vfs.ErrUnavailable, err}}
	}
	switch fateOf(err) {
	case away, lost, clash:
		return &storeError{fmt.Sprintf("the PostgreSQL server cannot be reached or does not answer (%s), try again when it does", reason(err)), []error{vfs.ErrUnavailable, err}}
	}
	if c != "" {
		return &storeError{fmt.Sprintf("the server refused it (%s, SQLSTATE %s)", reason(err), c), []error{err}}
	}
	var none *unsent
	if errors.As(err, &none) {
		return &storeError{fmt.Sprintf("no connection to the PostgreSQL server can be made (%s): look at sslmode, sslrootcert and sslcert of the URL, and at what listens there", reason(err)), []error{err}}
	}
	return &storeError{fmt.Sprintf("the PostgreSQL driver failed (%s), which is a fault of this program or of the server", reason(err)), []error{err}}
}
