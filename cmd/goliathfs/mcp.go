package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/mcptool"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

type mcpOptions struct {
	storeFlags
	limits      limitFlags
	allowWrites bool
	approve     string
	server      mcptool.Options
	http        string
	stateless   bool
	tokenFile   string
	record      string
}

func newMCP() *cobra.Command {
	var o mcpOptions
	cmd := &cobra.Command{
		Use:   "mcp STORE",
		Short: "Offer a store's files to any agent, as an MCP server",
		Long: `Serve the tools glob, grep and readFile, and with --allow-writes writeFile,
editFile and deleteFile, to an agent that speaks the Model Context Protocol: over
standard input and output, for a client that starts this command, or with --http
at http://ADDR/mcp until interrupted. A result is the text that call prints, and
nothing beside it.

Who agrees to a change, --approve says: the client, by its own rules (client), a
person, whom the client is told to ask (ask), or nobody, so that every change is
answered not-approved (never).

With --http, whoever reaches the port works with the files, so ADDR must be of the
loopback interface unless clients show the token in --token-file, which is made
when it does not exist. Pages in browsers are refused by their origin.

With --record, each call and the files it needs become a scenario when the server
ends, which replays what the model was shown; calls then run one at a time.`,
		Example: `  goliathfs mcp badger:./store
  goliathfs mcp static:./docs --route /notes=sqlite:notes.db --allow-writes --approve ask
  goliathfs mcp badger:./store --http 127.0.0.1:7078`,
		GroupID: groupAgent,
		Args:    takes(1, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.register(cmd)
	return cmd
}

func (o *mcpOptions) register(cmd *cobra.Command) {
	o.storeFlags.register(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.allowWrites, "allow-writes", false, "offer writeFile, editFile and deleteFile")
	f.StringVar(&o.approve, "approve", string(mcptool.ApprovalClient), "`who` agrees to a change: client, ask or never")
	f.BoolVar(&o.server.Structured, "structured", false, "add structured content to results, which some clients show twice")
	f.BoolVar(&o.server.Resources, "resources", false, "show files as resources too, which keep to no budget")
	f.StringVar(&o.http, "http", "", "serve over HTTP at this `address`, 127.0.0.1:PORT; port 0: a free one")
	f.BoolVar(&o.stateless, "stateless", false, "keep no sessions over HTTP")
	f.StringVar(&o.tokenFile, "token-file", "", "the `file` with the token that HTTP clients must show")
	f.StringVar(&o.record, "record", "", "write the calls as a scenario to this `file`, and its golden")
	o.limits.register(cmd)
	// It fails only for a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("approve", cobra.FixedCompletions(approvals(), cobra.ShellCompDirectiveNoFileComp))
}

func approvals() []string {
	var names []string
	for _, a := range mcptool.Approvals() {
		names = append(names, string(a))
	}
	return names
}

// check refuses flags that do not go together.
func (o *mcpOptions) check(cmd *cobra.Command) error {
	switch {
	case !slices.Contains(approvals(), o.approve):
		return usagef("--approve is %q, it must be one of %s", o.approve, strings.Join(approvals(), ", "))
	case cmd.Flags().Changed("approve") && !o.allowWrites:
		return usagef("--approve is about changes, pass --allow-writes too or leave it out")
	case o.record != "" && filepath.Ext(o.record) != ".txtar":
		return usagef("--record %s is no name of a scenario, end it in .txtar", shellWord(o.record))
	case o.http == "" && (o.stateless || o.tokenFile != ""):
		return usagef("--stateless and --token-file are for --http, which is missing")
	case o.http != "" && o.tokenFile == "":
		if err := storeurl.CheckLoopback(o.http); err != nil {
			return usagef("--http: %w; or pass --token-file FILE, for everyone who reaches the port could use it", err)
		}
	}
	return nil
}

func (o *mcpOptions) run(cmd *cobra.Command, url string) error {
	if err := o.check(cmd); err != nil {
		return err
	}
	want := storeurl.Want{Long: true}
	if o.allowWrites {
		want.Write, want.Create, want.Lazy = true, true, true
	}
	return o.withStore(cmd, url, want, func(s *storeurl.Store) error {
		if o.allowWrites && s.Spec.NothingWritable() {
			return usagef("nothing in %s can be written, leave out --allow-writes", storeWords(s.Spec))
		}
		opts, err := o.limits.given(cmd.Flags()).Toolset(s.Backend, o.allowWrites)
		if err != nil {
			return limitError(err)
		}
		if o.record != "" {
			return o.serveRecorded(cmd, s, opts)
		}
		tools, err := agenttool.New(opts)
		if err != nil {
			return err
		}
		return o.serve(cmd, s, tools)
	})
}

// serve serves the tools until the client goes or the verb is interrupted.
func (o *mcpOptions) serve(cmd *cobra.Command, s *storeurl.Store, tools mcptool.Caller) error {
	o.server.Approval = mcptool.Approval(o.approve)
	o.server.Version, _, _ = strings.Cut(version(), ",")
	server, err := mcptool.New(tools, &o.server)
	if err != nil {
		return err
	}
	if o.http != "" {
		return o.serveHTTP(cmd, s, server)
	}
	if isTerminal(cmd.InOrStdin()) {
		fmt.Fprintln(cmd.ErrOrStderr(), "waiting for an MCP client on standard input: clients start this command themselves, give it to one as its server")
	}
	err = server.ServeStdio(cmd.Context(), io.NopCloser(cmd.InOrStdin()), cmd.OutOrStdout())
	return errors.Join(stopped(err), server.Close())
}

// stopped takes an interrupt for the orderly end that it is here.
func stopped(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// httpPath is where the server is.
const httpPath = "/mcp"

func (o *mcpOptions) serveHTTP(cmd *cobra.Command, s *storeurl.Store, server *mcptool.Server) error {
	opts := mcptool.HTTPOptions{Stateless: o.stateless}
	if o.tokenFile != "" {
		err := makeToken(o.tokenFile)
		if err == nil {
			opts.Token, err = remotefs.ReadToken(o.tokenFile)
		}
		if err != nil {
			return err
		}
	}
	var config net.ListenConfig
	network := "tcp"
	if addr, err := netip.ParseAddrPort(o.http); err == nil && addr.Addr().Is4() {
		network = "tcp4" // "tcp" takes 0.0.0.0 for all addresses of IPv6 too
	}
	listener, err := config.Listen(cmd.Context(), network, o.http)
	if err != nil {
		return fmt.Errorf("cannot listen at %s, perhaps the port is taken: %w", o.http, err)
	}
	mux := http.NewServeMux()
	mux.Handle(httpPath, server.Handler(&opts))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the MCP server is at "+httpPath, http.StatusNotFound)
	})
	web := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- web.Serve(listener) }()
	// Without a reader the server is of use all the same.
	_, _ = fmt.Fprintf(cmd.OutOrStdout(), "serving %s to MCP clients at http://%s%s\n", s.Spec.URL, listener.Addr(), httpPath)
	select {
	case err = <-ended:
	case <-cmd.Context().Done():
		_ = server.Close() // ends sessions first, since their streams stay open
		ctx, cancel := context.WithTimeout(context.WithoutCancel(cmd.Context()), 5*time.Second)
		defer cancel()
		if web.Shutdown(ctx) != nil {
			_ = web.Close() // a connection that would not end is cut
		}
		err = <-ended
	}
	if errors.Is(err, http.ErrServerClosed) || errors.Is(err, os.ErrClosed) {
		err = nil
	}
	return errors.Join(err, server.Close())
}
