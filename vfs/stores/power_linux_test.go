package stores_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"unsafe"

	"github.com/goliathfs/goliathfs/internal/testsize"
	"github.com/goliathfs/goliathfs/vfs"
)

// TestPowerLoss cuts the power of a file system under a store that is written
// to: what was not synced is gone. A durable store has every acknowledged write
// then. A relaxed one may lack the last ones, and is sound; it does lack some
// here, which shows that the cut is one.
func TestPowerLoss(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting a file system to cut off needs root")
	}
	for _, command := range []string{"mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skipf("there is no command %s here", command)
		}
	}
	for _, kind := range kinds {
		for _, relaxed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s relaxed=%v", kind, relaxed), func(t *testing.T) {
				t.Parallel()
				j := job{Role: "power", Kind: kind, Dir: t.TempDir(), Rounds: testsize.Pick(2, 2, 6), Options: options{Relaxed: relaxed}}
				t.Log(j.finish(t))
			})
		}
	}
}

// losePower cuts the power of the store of a job again and again.
func losePower(ctx context.Context, j job, out io.Writer) error {
	d := disk{image: filepath.Join(j.Dir, "image"), at: filepath.Join(j.Dir, "mounted")}
	if err := d.make(ctx); err != nil {
		return err
	}
	l, changes, lost, round := newLedger(), 0, 0, 0
	more := func() bool { // a cut right after a sync takes nothing, so a relaxed store may need another
		return round < j.Rounds || j.Options.Relaxed && lost == 0 && round < 10*j.Rounds
	}
	for ; more(); round++ {
		if j.Options.Relaxed { // what is lost is not known, so begin anew
			l = newLedger()
		}
		dir := filepath.Join(d.at, fmt.Sprint("store", map[bool]int{true: round}[j.Options.Relaxed]))
		if err := d.writeAndCut(ctx, j, dir, l); err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		changes += l.writes
		n, err := afterCut(ctx, j, dir, l)
		if err != nil {
			return fmt.Errorf("round %d: %w", round, err)
		}
		lost += n
		l.writes = 0
		if err := syscall.Unmount(d.at, 0); err != nil {
			return err
		}
	}
	fmt.Fprintf(out, "%d cuts, %d acknowledged changes, %d paths behind", round, changes, lost)
	if j.Options.Relaxed && lost == 0 {
		return errors.New("no cut took anything, so it shows nothing")
	}
	return nil
}

// disk is a file system in a file.
type disk struct{ image, at string }

func (d disk) make(ctx context.Context) error {
	if err := os.Mkdir(d.at, 0o700); err != nil {
		return err
	}
	f, err := os.Create(d.image)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Truncate(512<<20), f.Close()); err != nil {
		return err
	}
	return run(ctx, "mkfs.ext4", "-q", "-F", d.image)
}

func (d disk) mount(ctx context.Context) error {
	if err := run(ctx, "mount", "-o", "loop", d.image, d.at); err != nil {
		return fmt.Errorf("%w: %w", errNoMount, err)
	}
	return nil
}

func run(ctx context.Context, name string, args ...string) error {
	if out, err := exec.CommandContext(ctx, name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// writeAndCut mounts the disk, has another process write to a store on it, cuts
// the power at a random moment, and mounts what is left.
func (d disk) writeAndCut(ctx context.Context, j job, dir string, l *ledger) error {
	if err := d.mount(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := syncFolder(d.at); err != nil {
		return err
	}
	writer := job{Role: "rewrite", Kind: j.Kind, Dir: dir, Options: j.Options}
	p, err := writer.start(ctx)
	if err != nil {
		return err
	}
	if _, err := p.line(); err != nil {
		return err
	}
	for range 20 + rand.IntN(200) {
		line, err := p.line()
		if err == nil {
			err = l.follow(line)
		}
		if err != nil {
			return err
		}
	}
	rest, err := p.kill()
	if err == nil {
		err = d.cut()
	}
	if err != nil {
		return err
	}
	for _, line := range rest {
		if err := l.follow(line); err != nil {
			return err
		}
	}
	if err := syscall.Unmount(d.at, 0); err != nil {
		return err
	}
	if err := d.mount(ctx); err != nil { // the same disk was mounted before
		return fmt.Errorf("after the cut: %v", err)
	}
	return newBoot(j.Dir)
}

func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Shutting an ext4 file system down without flushing its log: from then on
// nothing reaches the device, as if it had lost power.
const (
	ext4Shutdown   = 0x8004587d
	withoutLogging = 2
)

func (d disk) cut() error {
	f, err := os.Open(d.at)
	if err != nil {
		return err
	}
	defer f.Close()
	flags := uint32(withoutLogging)
	if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, f.Fd(), ext4Shutdown, uintptr(unsafe.Pointer(&flags))); code != 0 {
		return fmt.Errorf("shutting the file system down: %w", code)
	}
	return nil
}

// newBoot makes this process see another start of the operating system, as
// after a loss of power.
func newBoot(dir string) error {
	id := filepath.Join(dir, "boot_id")
	if err := os.WriteFile(id, fmt.Appendf(nil, "%08x-0000-4000-8000-000000000000\n", rand.Uint32()), 0o600); err != nil {
		return err
	}
	return syscall.Mount(id, "/proc/sys/kernel/random/boot_id", "", syscall.MS_BIND, "")
}

// afterCut opens the store and compares it with the ledger. It returns on how
// many paths a relaxed store is behind; a durable one may not be.
func afterCut(ctx context.Context, j job, dir string, l *ledger) (behind int, err error) {
	if !j.Options.Relaxed {
		return 0, verifyAt(ctx, j.Kind, dir, true, l)
	}
	s, err := openStore(ctx, j.Kind, dir, options{Relaxed: true})
	if err != nil {
		return 0, err
	}
	for path, e := range l.entries {
		f, err := s.Read(ctx, path)
		n := 0
		if err == nil {
			n, err = stepOf(path, f.Content)
		}
		if err != nil && !errors.Is(err, vfs.ErrNotFound) {
			return 0, err
		}
		if n != e.step && !(e.begun && n == e.next) {
			behind++
		}
	}
	return behind, errors.Join(check(ctx, s), s.Close())
}
