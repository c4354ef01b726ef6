//go:build linux

package fusebridge_test

import (
	"os/exec"
	"testing"
	"context"
	"time"
	"log/slog"
	"os"

	"github.com/goliathfs/goliathfs/fusebridge"
	"github.com/goliathfs/goliathfs/vfs"
)

func TestRWSmoke(t *testing.T) {
	mem := newMem(t, map[string]string{"/f.txt": "one\ntwo\n", "/d/x": "x\n"})
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelInfo}))
	s := mount(t, mem, &fusebridge.Options{ReadWrite: true, StateDir: t.TempDir(), Logger: log})
	sh := func(cmd string) {
		ctx, c := context.WithTimeout(t.Context(), 10*time.Second)
		defer c()
		x := exec.CommandContext(ctx, "sh", "-c", cmd)
		x.Dir = s.Dir()
		out, err := x.CombinedOutput()
		t.Logf("$ %s: %v\n%s", cmd, err, out)
		for i := range vfs.Walk(t.Context(), mem, "/") {
			f, _ := mem.Read(t.Context(), i.Path)
			t.Logf("   %s %.60q", i.Path, f.Content)
		}
	}
	sh("echo hi > new.txt; cat new.txt; echo more >> new.txt; cat new.txt; stat -c '%s %i' new.txt")
	sh("sed -i s/one/ONE/ f.txt; cat f.txt")
	sh("truncate -s 4 f.txt; cat f.txt")
	sh("mkdir -p e/g && cd e/g && pwd -P && echo q > q && ls -la")
	sh("mv f.txt h.txt; ls; cat h.txt")
	sh("cp -p h.txt i.txt; echo z > tmp; mv tmp i.txt; cat i.txt")
	sh("rm -r e d; ls")
	sh("vim -es -u NONE -c 'set backupcopy=auto writebackup' -c '%s/ONE/vimmed/' -c 'wq' h.txt; echo $?; ls -la; cat h.txt")
	sh("vim -es -u NONE -c 'set backupcopy=yes writebackup' -c '%s/vimmed/again/' -c 'wq' h.txt; echo $?; ls -la; cat h.txt")
	sh("printf '\\377' > bad; ls; head -c 2000000 /dev/zero > big; ls -l")
	sh("ln h.txt hl; ln -s h.txt sl; mkfifo p; mkdir dd; mv dd ee; ls; chmod 600 h.txt; chown 5 h.txt")
	t.Log(s.Counters())
}
