package postgresfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// parse reads a URL as libpq does. Its error does not repeat the URL, in which there
// may be a password.
func parse(url string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err == nil {
		return config, nil
	}
	reason := "it has no form that libpq takes"
	var wrong *pgconn.ParseConfigError
	if errors.As(err, &wrong) {
		for _, known := range []string{"invalid port", "failed to read service", "failed to configure TLS", "unknown target_session_attrs", "invalid connect_timeout"} {
			if strings.Contains(err.Error(), known) {
				reason = known
				break
			}
		}
	}
	// The cause is left out: it holds the URL.
	return nil, fmt.Errorf("%w: the URL of the database cannot be understood (%s): write postgres://USER@HOST:PORT/DATABASE, with special characters percent-encoded", fs.ErrInvalid, reason)
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
		config.ConnConfig.RuntimeParams["application_name"] = "goliathfs"
	}
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
