package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/internal/reason"
	"github.com/goliathfs/goliathfs/vfs/remotefs"
)

type serveOptions struct {
	storeFlags
	socket, listen string
	journal        string
	bounds         journalFlags
	remote         remotefs.ServeOptions
}

func newServe() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve STORE",
		Short: "Let other processes look into a store, over a socket",
		Long: `Serve a store to other processes of this machine until interrupted: on a Unix
socket that only this user can use, or on a TCP port of the loopback interface to
those who know the token in a file, which is made when it does not exist. Others
can only read unless --rw is given. One line on standard output says when it is
ready and gives the URL to use. With --journal FILE every revision is kept in a
journal (see goliathfs journal) before its write returns.`,
		Example: "  goliathfs serve badger:./store --socket /tmp/agent.sock\n  goliathfs serve badger:./store --rw --socket /tmp/agent.sock --journal agent.journal\n  goliathfs serve badger:./store --listen 127.0.0.1:7077 --token-file ~/.agent-token",
		GroupID: groupMount,
		Args:    takes(1, 1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	o.register(cmd)
	f := cmd.Flags()
	f.StringVar(&o.socket, "socket", "", "the `path` of the Unix socket")
	f.StringVar(&o.listen, "listen", "", "the TCP `address`, 127.0.0.1:PORT; port 0 takes a free one")
	f.StringVar(&o.remote.TokenFile, "token-file", "", "the `file` with the token that TCP clients must show")
	f.StringVar(&o.journal, "journal", "", "keep every revision in the journal `file`")
	o.bounds.register(cmd)
	f.BoolVar(&o.remote.Writable, "rw", false, "let others write and remove files")
	return cmd
}

// check refuses flags that do not go together.
func (o *serveOptions) check() error {
	switch {
	case o.socket == "" && o.listen == "":
		return usagef("say where: --socket PATH, or --listen 127.0.0.1:PORT with --token-file FILE")
	case o.socket != "" && o.listen != "":
		return usagef("--socket and --listen are two ways, choose one")
	case o.socket != "" && o.remote.TokenFile != "":
		return usagef("--token-file is for --listen, a socket is this user's alone")
	case o.listen != "" && o.remote.TokenFile == "":
		return usagef("--listen needs --token-file FILE, for every user of this machine can reach the port")
	case o.listen != "":
		if err := storeurl.CheckLoopback(o.listen); err != nil {
			return usagef("--listen: %w", err)
		}
	}
	return nil
}

func (o *serveOptions) run(cmd *cobra.Command, url string) error {
	if err := o.check(); err != nil {
		return err
	}
	if _, err := o.bounds.options(); err != nil {
		return err
	}
	for _, bound := range []string{"max-size", "max-age"} {
		if o.journal == "" && cmd.Flags().Changed(bound) {
			return usagef("--%s is about the journal, add --journal FILE", bound)
		}
	}
	want := storeurl.Want{Long: true}
	if o.remote.Writable {
		want.Write = true
	}
	return o.withStore(cmd, url, want, func(s *storeurl.Store) (err error) {
		if o.remote.Writable && s.Spec.NothingWritable() {
			return usagef("nothing in %s can be written, leave out --rw", storeWords(s.Spec))
		}
		if o.listen != "" {
			err := makeToken(o.remote.TokenFile)
			if err == nil {
				_, err = remotefs.ReadToken(o.remote.TokenFile) // else it fails when it is said to be ready
			}
			if err != nil {
				return err
			}
		}
		// Clients are not told what no list shows, so whoever serves it is.
		if err := tellUnlisted(cmd, s, "/"); err != nil {
			return err
		}
		ctx, served := cmd.Context(), s.Backend
		if o.journal != "" {
			following, behind, openErr := o.bounds.behind(cmd, o.journal, s.Backend)
			if openErr != nil {
				return openErr
			}
			defer func() { err = errors.Join(err, behind.end()) }()
			ctx, served = following, behind.store
		}
		listener, err := remotefs.Listen(o.address())
		if err != nil {
			return err
		}
		access := "read-only"
		if o.remote.Writable {
			access = "writable"
		}
		// Without a reader the server is of use all the same.
		_, _ = fmt.Fprintf(cmd.OutOrStdout(), "serving %s (%s), look into it with goliathfs ls %s\n",
			s.Spec.URL, access, shellWord(o.url(listener.Addr())))
		return remotefs.Serve(ctx, listener, served, &o.remote)
	})
}

func (o *serveOptions) address() string {
	if o.socket != "" {
		return "unix:" + o.socket
	}
	return "tcp:" + o.listen
}

// url is what clients call the server, with the port that it got.
func (o *serveOptions) url(addr net.Addr) string {
	if o.socket != "" {
		return storeurl.URL{Scheme: storeurl.Unix, Target: o.socket}.String()
	}
	return storeurl.URL{Scheme: storeurl.TCP, Target: addr.String(), TokenFile: o.remote.TokenFile}.String()
}

// makeToken makes a token file that only this user can read, unless there is
// one.
func makeToken(name string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot make the token file %s: %w", name, reason.Of(err))
	}
	_, err = fmt.Fprintln(f, rand.Text())
	if err = errors.Join(err, f.Close()); err != nil {
		// An empty one would be refused at every later start.
		return errors.Join(fmt.Errorf("cannot write the token file %s: %w", name, reason.Of(err)), os.Remove(name))
	}
	return nil
}
