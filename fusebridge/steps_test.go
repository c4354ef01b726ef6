//go:build linux

package fusebridge_test

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// stepCases are sequences of system calls that programs make seldom, each of which
// once lost or showed something wrong. Each begins with /keep, and want is what the
// store has in the end, beside that.
var stepCases = []struct {
	name, script string
	want         map[string]string
}{
	{"written while renamed to a backup and back", `
fd = os.open('keep', os.O_WRONLY | os.O_APPEND)
os.rename('keep', 'keep~')
os.rename('keep~', 'keep')
os.write(fd, b'more\n')
os.fsync(fd)
assert read('keep') == 'kept\nmore\n'
os.close(fd)`, map[string]string{"/keep": "kept\nmore\n"}},
	{"written through a backup's name and back", `
os.rename('keep', 'keep~')
fd = os.open('keep~', os.O_WRONLY | os.O_APPEND)
os.rename('keep~', 'keep')
os.write(fd, b'more\n')
os.close(fd)`, map[string]string{"/keep": "kept\nmore\n"}},
	{"a backup that is replaced by a new file of the same name", `
os.rename('keep', 'keep~')
fd = os.open('keep', os.O_WRONLY | os.O_CREAT)
os.rename('keep', 'keep~')
os.close(fd)
assert os.listdir('.') == ['keep~']
write('keep', 'again')
os.remove('keep~')
assert read('keep') == 'again'`, map[string]string{"/keep": "again"}},
	{"a new file removed in the place of a backup that is gone", `
os.rename('keep', 'keep~')
fd = os.open('keep', os.O_WRONLY | os.O_CREAT)
os.remove('keep~')
os.remove('keep')
os.close(fd)
assert os.listdir('.') == []`, map[string]string{"/keep": "-"}},
	{"a backup renamed over the new file", `
os.rename('keep', 'keep~')
fd = os.open('keep', os.O_WRONLY | os.O_CREAT)
os.rename('keep~', 'other~')
os.rename('other~', 'keep')
os.write(fd, b'to no one')
os.close(fd)`, nil},
	{"a text with a hole is not renamed into place", `
fd = os.open('new', os.O_WRONLY | os.O_CREAT)
os.write(fd, b'part')
refused(lambda: os.write(fd, b'\xff'))
refused(lambda: os.rename('new', 'keep'))
refused(lambda: os.close(fd))
assert os.listdir('.') == ['keep']`, nil},
	{"nor committed by another's close, or by truncate", `
a = os.open('keep', os.O_WRONLY)
b = os.open('keep', os.O_WRONLY)
os.write(a, b'part')
refused(lambda: os.write(a, b'\xff'))
refused(lambda: os.close(b))
refused(lambda: os.truncate('keep', 2))
refused(lambda: os.close(a))`, nil},
	{"after a refusal the file begins anew when emptied", `
fd = os.open('keep', os.O_WRONLY)
refused(lambda: os.write(fd, b'\xff'))
os.ftruncate(fd, 0)
os.pwrite(fd, b'anew', 0)
os.close(fd)`, map[string]string{"/keep": "anew"}},
	{"emptied by a process that ends without closing", `
import subprocess
read('keep')
subprocess.run(['sh', '-c', 'exec >keep'], check=True)
assert read('keep') == ''`, map[string]string{"/keep": ""}},
	{"truncated by name right after a close", `
for n in range(200):
    fd = os.open('keep', os.O_RDWR)
    read('keep')
    os.write(fd, b'%03d-' % n)
    os.close(fd)
    os.truncate('keep', n % 5)
    assert read('keep') == ('%03d-' % n)[:n % 5]`, map[string]string{"/keep": "199-"}},
	{"a file just made has a name, before and after it is synced", `
fd = os.open('new', os.O_RDWR | os.O_CREAT | os.O_EXCL)
assert os.fstat(fd).st_nlink == 1
os.write(fd, b'text')
os.fsync(fd)
assert os.fstat(fd).st_nlink == 1 and os.fstat(fd).st_size == 4
assert os.fstat(fd).st_ino == os.stat('new').st_ino
os.close(fd)
assert os.stat('new').st_nlink == 1`, map[string]string{"/new": "text"}},
	{"a directory made where one was renamed away", `
os.mkdir('a')
os.rename('a', 'b')
os.mkdir('a')
os.rename('b', 'a/b')
assert os.stat('a').st_ino != os.stat('a/b').st_ino
os.rmdir('a/b')
os.rmdir('a')`, nil},
}

func TestSteps(t *testing.T) {
	needTool(t, "python3")
	const before = `python3 -c "
import os
def read(name):
    with open(name, newline='') as f: return f.read()
def write(name, text):
    with open(name, 'w', newline='') as f: f.write(text)
def refused(do):
    try: do()
    except OSError: return
    raise AssertionError('not refused')
`
	for _, tt := range stepCases {
		t.Run(tt.name, func(t *testing.T) {
			mem := newMem(t, map[string]string{"/keep": "kept\n"})
			s := mount(t, mem, writable(t))
			if out, err := shell(t, s.Dir(), before+tt.script+"\n\""); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
			want := map[string]string{"/keep": "kept\n"}
			maps.Copy(want, tt.want)
			maps.DeleteFunc(want, func(_, text string) bool { return text == "-" })
			if diff := cmp.Diff(want, stored(t, mem)); diff != "" {
				t.Errorf("the store (-want +got):\n%s", diff)
			}
		})
	}
}
