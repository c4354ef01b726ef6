package postgresfs_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/postgresfs"
)

// refuser is a server on the loopback that refuses each connection with bytes; it counts
// them.
func refuser(t *testing.T, answer []byte) (url string, asked *atomic.Int64) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	asked = &atomic.Int64{}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			asked.Add(1)
			io.ReadFull(c, make([]byte, 8))
			c.Write(answer)
			c.Close()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return "postgres://someone:hunter2@" + l.Addr().String() + "/agents", asked
}

func pgbouncerSays(t *testing.T, text string) []byte {
	t.Helper()
	answer, err := (&pgproto3.ErrorResponse{Severity: "FATAL", Code: "08P01", Message: text}).Encode(nil)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// What fails for a reason that does not go away fails at once, however long the store
// would wait, and says the reason; what may go away is tried again.
func TestFailuresThatStay(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, params string
		answer       []byte
		says         string // "" means that it is tried again
	}{
		{"no TLS", "?sslmode=require", []byte("N"), "server refused TLS connection"},
		{"unknown to pgbouncer", "?sslmode=disable", pgbouncerSays(t, "no such database: agents"), "no such database: agents"},
		{"a parameter that pgbouncer refuses", "?sslmode=disable", pgbouncerSays(t, "unsupported startup parameter: x"), "unsupported startup parameter: x"},
		{"the server behind pgbouncer is away", "?sslmode=disable", pgbouncerSays(t, "pgbouncer cannot connect to server"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			url, asked := refuser(t, test.answer)
			timeout := time.Hour
			if test.says == "" {
				timeout = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			s, err := postgresfs.Open(ctx, url+test.params, &postgresfs.Options{Timeout: timeout})
			if err == nil {
				s.Close()
				t.Fatal("it opens")
			}
			again := test.says == ""
			if !strings.Contains(err.Error(), test.says) || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "someone") || errors.Is(err, vfs.ErrUnavailable) != again {
				t.Errorf("it says %v", err)
			}
			if n := asked.Load(); again != (n > 1) {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

// What the driver cannot read is not asked for again, and is no lost connection.
func TestUnreadableAnswer(t *testing.T) {
	t.Parallel()
	url := database(t)
	s := open(t, url, &postgresfs.Options{Timeout: time.Hour})
	write(t, s, "/f", "x", "")
	run(t, connect(t, url), `alter table goliath_files_v1 alter column mtime type text`)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err := vfs.Read(ctx, s, "/f")
	if err == nil || errors.Is(err, vfs.ErrUnavailable) || ctx.Err() != nil || !strings.Contains(err.Error(), "driver failed") {
		t.Errorf("reading says %v", err)
	}
}
