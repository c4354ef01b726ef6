//go:build linux

package fusebridge_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goliathfs/goliathfs/fusebridge"
)

// evil is a store that would have git and hg run a program, in several ways.
func evil(program string) map[string]string {
	const head = "ref: refs/heads/main\n"
	config := "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"" + program + "; false\"\n"
	return map[string]string{
		"/.git/HEAD": head, "/.git/config": config, "/.git/objects/x": "", "/.git/refs/x": "",
		"/upper/.GIT/HEAD": head, "/upper/.GIT/config": config, "/upper/.GIT/objects/x": "", "/upper/.GIT/refs/x": "",
		"/bare/HEAD": head, "/bare/config": "[core]\n\tbare = false\n\tworktree = ..\n" + config, "/bare/objects/x": "", "/bare/refs/x": "",
		"/linked/HEAD": head, "/linked/commondir": "../bare\n",
		"/worktree/.git": "gitdir: ../bare\n",
		"/.hg/requires":  "store\n", "/.hg/hgrc": "[hooks]\npre-status = " + program + "\n", "/.hg/store/x": "",
		"/notes/a.md": "text\n",
	}
}

// visit runs a command in every directory of a mount.
func visit(t *testing.T, dir, command string) {
	t.Helper()
	script := `find . -type d | while read -r d; do (cd "$d" && ` + command + ` >/dev/null 2>&1); done; true`
	run(t, "env", "HOME="+t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "sh", "-c", "cd "+dir+" && "+script)
}

// TestRepositories: nothing that a store holds makes git or hg run anything in a
// mount, whichever directory it is started in, read-only and writable. What is held
// back shows under another name. Asked for, all is shown, and git then does run it.
func TestRepositories(t *testing.T) {
	needTool(t, "git")
	for _, rw := range []bool{false, true} {
		for _, asked := range []bool{false, true} {
			ran := filepath.Join(t.TempDir(), "ran")
			s := mount(t, newMem(t, evil("touch "+ran)), &fusebridge.Options{ReadWrite: rw, Repositories: asked})
			visit(t, s.Dir(), "git status")
			if _, err := exec.LookPath("hg"); err == nil && rw && !asked { // it takes its time
				visit(t, s.Dir(), "hg status")
			}
			if _, err := os.Stat(ran); (err == nil) != asked {
				t.Errorf("rw %v, asked for %v: a program ran: %v", rw, asked, err == nil)
			}
			shown := run(t, "find", s.Dir(), "-name", "*git*", "-o", "-name", "*HEAD*", "-o", "-name", "*GIT*", "-o", "-name", "*hg")
			if held := strings.Contains(shown, "/bare/HEAD@held\n") && strings.Contains(shown, "/.git@held/HEAD@held\n"); held == asked {
				t.Errorf("rw %v, asked for %v: find shows\n%s", rw, asked, shown)
			}
			if asked {
				continue
			}
			if got := run(t, "cat", under(s, "/worktree/.git@held"), under(s, "/notes/a.md")); got != "gitdir: ../bare\ntext\n" {
				t.Errorf("rw %v: what is held back reads %q", rw, got)
			}
		}
	}
}

// TestRepositoryNames: a name that is held back comes and goes as any other, makes
// room for one that is stored as it shows, and cannot be made through the mount.
func TestRepositoryNames(t *testing.T) {
	mem := newMem(t, map[string]string{"/a/.git@held": "stored so\n"})
	s := mount(t, mem, &fusebridge.Options{ReadWrite: true})
	write(t, mem, "/a/.git", "held\n")
	if got := run(t, "sh", "-c", "cd "+under(s, "/a")+" && ls -A && cat .git@held .git@@held"); got != ".git@@held\n.git@held\nstored so\nheld\n" {
		t.Errorf("the directory shows %q", got)
	}
	for _, command := range []string{"mkdir .git", "echo x >.git", "echo x >HEAD", "mv .git@held .git", "git init -q"} {
		if out, err := tryRun(t, "sh", "-c", "cd "+under(s, "/a")+" && "+command); err == nil {
			t.Errorf("%s succeeded: %s", command, out)
		}
	}
	remove(t, mem, "/a/.git")
	if got := run(t, "ls", "-A", under(s, "/a")); got != ".git@held\n" {
		t.Errorf("afterwards the directory shows %q", got)
	}
}
