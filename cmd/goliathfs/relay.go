package main

import (
	"context"
	"fmt"
	"io"
	"net"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// newRelay joins an MCP client that starts a program to a server that runs
// already, as it does during a replay.
func newRelay() *cobra.Command {
	return &cobra.Command{
		Use:   "relay ADDRESS",
		Short: "Join standard input and output to a port of this machine",
		Long: `Join standard input and output to a port of the loopback interface, until either
ends. A scenario with wire: gives this as the command of an MCP server to agents
that start theirs: {goliathfs} relay {stdio}.`,
		Example: "  goliathfs relay 127.0.0.1:7077",
		GroupID: groupAgent,
		Hidden:  true,
		Args:    takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := storeurl.CheckLoopback(args[0]); err != nil {
				return usagef("%w", err)
			}
			var d net.Dialer
			conn, err := d.DialContext(cmd.Context(), "tcp", args[0])
			if err != nil {
				return fmt.Errorf("nothing answers at %s, relay runs only during a replay: %w", args[0], err)
			}
			return join(cmd.Context(), cmd.InOrStdin(), cmd.OutOrStdout(), conn.(*net.TCPConn)) // "tcp" gives no other
		},
	}
}

// join copies both ways. It returns when the connection or ctx ends; what comes from in
// after that goes nowhere.
func join(ctx context.Context, in io.Reader, out io.Writer, conn *net.TCPConn) error {
	defer conn.Close()
	go func() { // ends with in, or at the next line of it when the connection has gone
		_, _ = io.Copy(conn, in) // the other side notices what is missing
		_ = conn.CloseWrite()
	}()
	_, err := await(ctx, func() (int64, error) { return io.Copy(out, conn) })
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("the connection broke off: %w", err)
	}
	return ctx.Err()
}
