package postgresfs

import (
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// unreadable are what can be wrong with a URL, by what pgx says of it, whose other words
// may hold a password.
var unreadable = []struct{ said, means string }{
	{"failed to read service", "the service that it names is in no service file, look into PGSERVICEFILE or ~/.pg_service.conf"},
	{"failed to configure TLS", "its TLS settings name a mode that does not exist or a file that cannot be read, look at sslmode, sslrootcert, sslcert and sslkey"},
	{"sslmode is invalid", "it has an sslmode that does not exist, write disable, require, verify-ca or verify-full"},
	{"invalid port", "its port is no number from 1 to 65535"},
	{"target_session_attrs", "it has a target_session_attrs that does not exist, write primary, or standby to read"},
	{"connect_timeout", "its connect_timeout is no number of seconds"},
}

// parse reads a URL as libpq does. Its error does not repeat the URL, in which there
// may be a password.
func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err == nil {
		return config, nil
	}
	means := "write postgres://USER@HOST:PORT/DATABASE, with special characters percent-encoded"
	for _, u := range unreadable {
		if strings.Contains(err.Error(), u.said) {
			means = u.means
			break
		}
	}
	// The cause is left out: it holds the URL.
	return nil, &storeError{"the URL of the database cannot be used: " + means, []error{fs.ErrInvalid}}
}

// connectTimeout bounds one attempt to connect where the URL does not.
const connectTimeout = 5 * time.Second

// adjust sets what the URL leaves open.
func adjust(config *pgxpool.Config, o Options) {
	c := config.ConnConfig
	if c.ConnectTimeout == 0 {
		c.ConnectTimeout = min(connectTimeout, o.Timeout)
	}
	if c.ValidateConnect == nil { // what was written must be seen, and a replica lags behind
		c.ValidateConnect = isPrimary
	}
	if _, ok := c.RuntimeParams["application_name"]; !ok {
		c.RuntimeParams["application_name"] = "goliathfs"
	}
	c.RuntimeParams["client_encoding"] = "UTF8" // whatever the role has, or namespaces would have other names
}

// isPrimary refuses a connection to a replica; of several hosts the next one is tried.
func isPrimary(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, `select pg_is_in_recovery()`).ReadAll()
	if err != nil {
		return err
	}
	if len(results) == 1 && len(results[0].Rows) == 1 && string(results[0].Rows[0][0]) == "t" {
		return errReplica
	}
	return nil
}
