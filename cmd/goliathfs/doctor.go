package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/database"
	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
)

func newDoctor() *cobra.Command {
	var flags storeFlags
	var asJSON bool
	var fixes fixFlags
	cmd := &cobra.Command{
		Use:   "doctor [STORE]",
		Short: "Say what works here and what to do about what does not",
		Long: `Look within a second at what mounting needs, at the mounts that exist, and at a
store if one is given. The exit status is 1 when something does not work.

--fix mends what is safe to mend, and asks before each: mounts whose server is gone;
if a store is given, only that: a socket on which no one listens, or a store whose
writer was killed. What is alive is left alone.`,
		Example: "  goliathfs doctor\n  goliathfs doctor badger:./store\n  goliathfs doctor --fix unix:/tmp/agent.sock",
		GroupID: groupCare,
		Args:    takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := fixes.check(cmd); err != nil {
				return err
			}
			show := func(findings []finding) error {
				if fixes.fix {
					if err := fixes.mend(cmd, findings); err != nil {
						return err
					}
				}
				return printFindings(newOutput(cmd), findings, asJSON)
			}
			if len(args) == 0 {
				return show(examineMounting())
			}
			spec, err := flags.spec(args[0])
			if err != nil {
				return err
			}
			store := make(chan finding, 1) // at once, for each may wait up to its bound
			go func() { store <- examineStore(cmd.Context(), spec) }()
			findings := examineMounting()
			for i := range findings {
				findings[i].fix = nil // only the store is meant
			}
			findings = append(findings, <-store)
			return show(findings)
		},
	}
	fixes.register(cmd)
	flags.register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return cmd
}

// verdict is how bad a finding is.
type verdict string

const (
	good verdict = "ok"
	note verdict = "note" // works, but something else would not
	bad  verdict = "bad"

	fixed verdict = "fixed" // was bad, or could be mended
)

// finding is one thing that was looked at.
type finding struct {
	Verdict verdict `json:"verdict"`
	What    string  `json:"what"`
	Text    string  `json:"text"` // one sentence; says what to do unless all is well

	fix *fix // nil where nothing can be done safely
}

func printFindings(out *output, findings []finding, asJSON bool) error {
	ill := false
	for _, f := range findings {
		ill = ill || f.Verdict == bad
		if asJSON {
			out.JSON(f)
		} else {
			out.Printf("%-5s %-12s  %s\n", f.Verdict, f.What, f.Text)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if ill {
		return errReported
	}
	return nil
}

// examineMounting looks at what mounting needs and at the mounts there are.
func examineMounting() []finding {
	s := fusebridge.Probe()
	findings := []finding{{Verdict: good, What: "kernel", Text: fmt.Sprintf("%s %s on %s", runtime.GOOS, s.Kernel, runtime.GOARCH)}}
	add := func(v verdict, what, format string, args ...any) {
		findings = append(findings, finding{Verdict: v, What: what, Text: fmt.Sprintf(format, args...)})
	}
	switch {
	case s.Device != string(good):
		add(bad, "device", "%s", s.Device)
	case !isFuse(fuseDevice):
		add(bad, "device", "%s is another file in the place of the FUSE device, as in a container that may not mount: start it with the device", fuseDevice)
	default:
		add(good, "device", "%s can be opened", fuseDevice)
	}
	switch {
	case s.Fusermount != "":
		add(good, "fusermount3", "%s", s.Fusermount)
	case s.Direct:
		add(note, "fusermount3", "not installed, this user does not need it; other users need the package fuse3")
	default:
		add(bad, "fusermount3", "not installed, a normal user needs it to mount: install the package fuse3")
	}
	switch {
	case s.Err != nil && s.Device == string(good) && s.Fusermount != "":
		add(bad, "rights", "%v", s.Err)
	case s.Direct:
		add(good, "rights", "this user can mount by itself")
	case s.Fusermount != "" && s.Device == string(good):
		add(good, "rights", "this user can mount through fusermount3")
	}
	if s.AllowOther {
		add(good, "allow-other", "mount --allow-other is possible")
	} else {
		add(note, "allow-other", "mount --allow-other is not: add user_allow_other to /etc/fuse.conf for that")
	}
	return append(findings, examineMounts()...)
}

const fuseDevice = "/dev/fuse"

func examineMounts() []finding {
	mounts, err := fusebridge.List()
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return nil
	case err != nil:
		return []finding{{Verdict: bad, What: "mounts", Text: err.Error()}}
	case len(mounts) == 0:
		return []finding{{Verdict: good, What: "mounts", Text: "none"}}
	}
	findings := make([]finding, len(mounts))
	var asking sync.WaitGroup
	for i := range mounts {
		asking.Go(func() { findings[i] = examineMount(mounts[i]) })
	}
	asking.Wait()
	return findings
}

func examineMount(m fusebridge.Mounted) finding {
	f := finding{Verdict: good, What: "mount", Text: fmt.Sprintf("%s shows %s (process %s)", printable(m.Dir), printable(m.Name), pidText(m.PID))}
	switch err := agentOf(m); {
	case m.Health == fusebridge.Away && err == nil:
		f.Verdict = note
		f.Text += ", but shows an old state: its store cannot be reached"
	case m.Health == fusebridge.Away:
		f.Verdict = note
		f.Text += fmt.Sprintf(", but shows an old state until the agent is back: %v", err)
	case m.Health != fusebridge.Healthy:
		f.Verdict = bad
		f.fix = fixMount(m)
		f.Text += fmt.Sprintf(", it is %s: take it away with goliathfs unmount %s", m.Health, shellWord(m.Dir))
	case err != nil:
		f.Verdict = note
		f.Text += fmt.Sprintf(", but shows an old state until the agent is back: %v", err)
	}
	return f
}

// agentTime bounds how long doctor waits for the agent behind a mount.
const agentTime = 200 * time.Millisecond

// agentOf returns why the running agent that a mount shows does not answer; nil
// also for a mount of something else.
func agentOf(m fusebridge.Mounted) error {
	u, err := storeurl.Parse(m.Name)
	if err != nil || m.Health != fusebridge.Healthy && m.Health != fusebridge.Away || u.Scheme != storeurl.Unix && u.Scheme != storeurl.TCP {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), agentTime)
	defer cancel()
	return withOpener(func(o *storeurl.Opener) error {
		_, err := o.Open(ctx, storeurl.Spec{URL: u}, storeurl.Want{})
		return err
	})
}

// storeTime bounds how long doctor looks at a store.
const storeTime = 800 * time.Millisecond

// examineStore opens a store, lists its first files and closes it. A store that
// takes longer than storeTime is left behind: the process ends soon.
func examineStore(ctx context.Context, spec storeurl.Spec) finding {
	ctx, cancel := context.WithTimeout(ctx, storeTime)
	defer cancel()
	result := make(chan finding, 1)
	go func() { result <- openStore(ctx, spec) }()
	select {
	case f := <-result:
		return f
	case <-ctx.Done():
		return finding{Verdict: note, What: "store", Text: fmt.Sprintf("%s did not open within %v, look again with goliathfs ls %s", spec.URL, storeTime, shellWord(spec.URL.String()))}
	}
}

func openStore(ctx context.Context, spec storeurl.Spec) (f finding) {
	err := withOpener(func(o *storeurl.Opener) error {
		begin := time.Now()
		s, err := o.Open(ctx, spec, storeurl.Want{AsIs: true})
		if err != nil {
			return err
		}
		page, err := vfs.List(ctx, s.Backend, "/", vfs.ListOptions{})
		if err != nil {
			return explain(err, spec.URL.String())
		}
		holds := count(len(page.Files), "file", "files")
		if page.Next != "" {
			holds = fmt.Sprintf("more than %d files", len(page.Files))
		}
		f = finding{Verdict: good, What: "store", Text: fmt.Sprintf("%s opens in %v and holds %s", spec.URL, time.Since(begin).Round(time.Millisecond), holds)}
		elsewhere, err := s.Elsewhere(ctx)
		if err != nil {
			return err
		}
		for _, e := range elsewhere {
			f.Verdict, f.Text = note, f.Text+"; "+elsewhereText(e)
		}
		if n := len(o.LeftOut()); n > 0 {
			f.Verdict, f.Text = note, f.Text+fmt.Sprintf("; %s left out, goliathfs ls names them", count(n, "seed was", "seeds were"))
		}
		return nil
	})
	if err != nil {
		f = finding{Verdict: bad, What: "store", Text: err.Error()}
	}
	if f.fix = fixStore(spec.URL, err); f.fix == nil {
		return f
	}
	switch {
	case err == nil:
		f.Verdict, f.Text = note, f.Text+"; a killed writer has left a log, which goliathfs doctor --fix takes in"
	case errors.Is(err, database.ErrKilled):
		f.Verdict = note
		f.Text += ", and so does goliathfs doctor --fix"
	default:
		f.Text += "; goliathfs doctor --fix removes the socket"
	}
	return f
}
