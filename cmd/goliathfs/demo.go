package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/agentsim"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/demo"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/toolcall"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/walk"
)

func newDemo() *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Show everything once, with sample files, in a few seconds",
		Long: `Keep the files of an imaginary garden assistant in a Badger store, call tools on
them as a model would, replay a scenario, and mount the store. Nothing is needed
and nothing is left behind.`,
		Example: "  goliathfs demo",
		GroupID: groupAgent,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			dir, err := os.MkdirTemp("", "goliathfs-demo-")
			if err != nil {
				return fmt.Errorf("cannot make a temporary directory: %w", err)
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
			out := newOutput(cmd)
			defer out.Flush()
			return withOpener(func(o *storeurl.Opener) error {
				u := storeurl.URL{Scheme: storeurl.Badger, Target: filepath.Join(dir, "store")}
				s, err := o.Open(cmd.Context(), storeurl.Spec{URL: u}, storeurl.Want{Write: true, Create: true})
				if err != nil {
					return err
				}
				d := &demonstration{out: out, dir: dir, backend: s.Backend}
				return d.run(cmd.Context())
			})
		},
	}
}

// demoURL is the store as seen from the temporary directory.
const demoURL = "badger:./store"

// demonstration is one run of the demo.
type demonstration struct {
	out     *output
	dir     string // temporary
	backend vfs.Backend
}

func (d *demonstration) run(ctx context.Context) error {
	for _, part := range []func(context.Context) error{d.keep, d.call, d.replay, d.mount, d.next} {
		if err := part(ctx); err != nil {
			return err
		}
		if err := d.out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func (d *demonstration) title(text string) { d.out.Printf("\n%s\n\n", text) }

// block prints what a command or a tool wrote, set off from our own words.
func (d *demonstration) block(text string) {
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		d.out.Printf("    %s\n", line)
	}
}

func (d *demonstration) keep(ctx context.Context) error {
	files, err := demo.Files(ctx)
	if err != nil {
		return err
	}
	result, err := transfer.Copy(ctx, files, d.backend, transfer.Options{})
	if err != nil {
		return err
	}
	d.out.Printf("The files of a garden assistant, kept, read by a model, replayed and mounted.\nThe commands shown are run in %s, which is removed at the end.\n", d.dir)
	d.title("1. Keep")
	d.out.Printf("%d files (%d bytes) are now in %s:\n", result.Created, result.Bytes, demoURL)
	var names []string
	for entry, err := range walk.Dir(ctx, d.backend, "/") {
		if err != nil {
			return err
		}
		names = append(names, entry.Name+"/")
	}
	d.block(strings.Join(names, "  "))
	return nil
}

func (d *demonstration) call(ctx context.Context) error {
	d.title("2. What the model sees")
	d.out.Printf("Each result fits a budget of 512 tokens; a cursor continues it.\n")
	pages := 0
	for _, c := range []struct{ tool, input string }{
		{agenttool.Glob, `{"pattern":"/docs/**/*.md"}`},
		{agenttool.Grep, `{"pattern":"basil","path":"/notes"}`},
		{agenttool.ReadFile, `{"path":"/log/watering.log","limit":5}`},
	} {
		all, flag := c.tool == agenttool.ReadFile, ""
		if all {
			flag = "--all "
		}
		d.out.Printf("\n$ goliathfs call --store %s %s%s '%s'\n", demoURL, flag, c.tool, c.input)
		runner := toolcall.Runner{Backend: d.backend, All: all}
		pages = 0
		err := runner.Run(ctx, toolcall.Request{Tool: c.tool, Input: json.RawMessage(c.input)}, func(p toolcall.Page) error {
			if pages++; pages <= 2 {
				d.block(p.Text)
				d.out.Printf("    (%d of 512 tokens)\n", p.Tokens)
			}
			return d.out.Err()
		})
		if err != nil {
			return err
		}
	}
	d.out.Printf("    … and %d more pages to the end of the file\n", pages-2)
	return nil
}

func (d *demonstration) replay(ctx context.Context) error {
	d.title("3. Replay")
	sc, err := demo.Scenario()
	if err != nil {
		return err
	}
	d.out.Printf("A scenario scripts the calls, a golden file says what they must show:\n")
	d.block(sc.Description)
	transcript, err := agentsim.Replay(ctx, sc, nil)
	if err != nil {
		return err
	}
	difference, err := agentsim.Compare(demo.Golden(), transcript.Golden())
	switch {
	case err != nil:
		return err
	case difference != nil:
		return fmt.Errorf("the scenario shows something else than its golden at %s:\n%s", difference.Step, difference.Text)
	}
	d.out.Printf("\n%s replayed, all as in the golden.\n", count(len(transcript.Steps()), "step", "steps"))
	return nil
}

func (d *demonstration) mount(ctx context.Context) (err error) {
	d.title("4. Mount")
	dir := filepath.Join(d.dir, "mnt")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	server, err := fusebridge.Mount(ctx, d.backend, dir, &fusebridge.Options{Name: demoURL})
	if err != nil {
		d.out.Printf("Left out here: %v.\n", err)
		return nil
	}
	defer func() {
		if e := server.Unmount(); err == nil {
			err = e
		}
		if e := server.Wait(); err == nil {
			err = e
		}
	}()
	d.out.Printf("The same store as a directory, read by other programs:\n")
	if err := d.shell(ctx, dir, "ls", "-l", "plants"); err != nil {
		return err
	}
	if err := d.shell(ctx, dir, "grep", "-rn", "on Tuesday", "."); err != nil {
		return err
	}
	d.out.Printf("\nThe agent edits a note; the mount shows it at once:\n")
	if err := d.edit(ctx); err != nil {
		return err
	}
	return d.shell(ctx, dir, "grep", "-n", "basil", "notes/todo.md")
}

// edit changes a note as an agent does: with the revision it has read.
func (d *demonstration) edit(ctx context.Context) error {
	info, err := vfs.Stat(ctx, d.backend, "/notes/todo.md")
	if err != nil {
		return err
	}
	input, err := json.Marshal(map[string]any{"path": info.Path, "revision": info.Revision, "oldText": "on Tuesday", "newText": "on Saturday"})
	if err != nil {
		return err
	}
	runner := toolcall.Runner{Backend: d.backend, AllowWrites: true}
	return runner.Run(ctx, toolcall.Request{Tool: agenttool.EditFile, Input: input}, func(p toolcall.Page) error {
		d.block(agenttool.EditFile + " " + p.Text)
		return d.out.Err()
	})
}

// shell runs a program in the mount and shows what it writes.
func (d *demonstration) shell(ctx context.Context, dir string, name string, args ...string) error {
	var words []string
	for _, arg := range args {
		words = append(words, shellWord(arg))
	}
	d.out.Printf("\n$ %s %s\n", name, strings.Join(words, " "))
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		d.out.Printf("    (there is no %s here)\n", name)
		return nil
	case err != nil:
		return fmt.Errorf("%s in the mount failed: %w: %s", name, err, strings.TrimSpace(stderr.String()))
	}
	d.block(string(text))
	return nil
}

func (d *demonstration) next(context.Context) error {
	d.title("5. Your own files")
	d.out.Printf("With goliathfs installed (go install ./cmd/goliathfs in a checkout):\n\n")
	d.block(`goliathfs copy dir:./docs badger:./store
goliathfs call --store badger:./store grep '{"pattern":"TODO"}'
goliathfs mount badger:./store ./mnt
goliathfs --help`)
	return nil
}
