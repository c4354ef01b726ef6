//go:build linux

package mountpoint

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Subtype and FSType are how mounts of this module are recognised in mountinfo.
const (
	Subtype = "goliathfs"
	FSType  = "fuse." + Subtype
)

// Mount is one mount, as a line of /proc/self/mountinfo tells it.
type Mount struct {
	ID       int    // given to another mount as soon as this one is gone
	Unique   uint64 // given to no other one; 0 where it is not known, see Identify
	Device   string // major:minor, the latter the number of the FUSE connection
	Dir      string
	FSType   string
	Source   string
	ReadOnly bool
	UID      int // number of the user who mounted it, -1 where it is not told
}

// Ours reports whether the mount is one of this module.
func (m Mount) Ours() bool { return m.FSType == FSType }

// IsFuse reports whether any FUSE server stands behind the mount.
func (m Mount) IsFuse() bool { return m.FSType == "fuse" || strings.HasPrefix(m.FSType, "fuse.") }

// Connection returns the number of the FUSE connection.
func (m Mount) Connection() string {
	_, minor, _ := strings.Cut(m.Device, ":")
	return minor
}

// Read returns the mounts that this process sees, a later one above an earlier one
// of the same directory.
func Read() ([]Mount, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("the mounts of this machine cannot be read, is /proc mounted? %w", err)
	}
	defer f.Close()
	return Parse(f)
}

// Parse reads the format of proc_pid_mountinfo(5) and passes over lines that are not
// of it.
func Parse(r io.Reader) ([]Mount, error) {
	var mounts []Mount
	scanner := bufio.NewScanner(r)
	scanner.Buffer(nil, 1<<20) // overlay mounts have lines of many KiB
	for scanner.Scan() {
		before, after, ok := strings.Cut(scanner.Text(), " - ")
		head, tail := strings.Fields(before), strings.Fields(after)
		if !ok || len(head) < 6 || len(tail) < 2 {
			continue
		}
		id, err := strconv.Atoi(head[0])
		if err != nil {
			continue
		}
		mounts = append(mounts, Mount{
			ID:       id,
			Device:   head[2],
			Dir:      Unescape(head[4]),
			ReadOnly: slices.Contains(strings.Split(head[5], ","), "ro"),
			FSType:   tail[0],
			Source:   Unescape(tail[1]),
			UID:      ownerIn(tail[2:]),
		})
	}
	return mounts, scanner.Err()
}

// ownerIn finds the user in a file system's own options, which FUSE tells there.
func ownerIn(fields []string) int {
	for _, field := range fields {
		for option := range strings.SplitSeq(field, ",") {
			if value, ok := strings.CutPrefix(option, "user_id="); ok {
				if uid, err := strconv.Atoi(value); err == nil {
					return uid
				}
			}
		}
	}
	return -1
}

// Unescape undoes the kernel's \ooo for space, tab, newline, backslash and "#".
func Unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// Top returns the uppermost mount at a directory.
func Top(dir string) (Mount, bool, error) {
	mounts, err := Read()
	if err != nil {
		return Mount{}, false, err
	}
	m, found := topOf(mounts, dir)
	return m, found, nil
}

func topOf(mounts []Mount, dir string) (Mount, bool) {
	for _, m := range slices.Backward(mounts) {
		if m.Dir == dir {
			return m, true
		}
	}
	return Mount{}, false
}

// Identify returns m with its unique id, if the kernel tells it and m is the
// uppermost mount at its directory.
func (m Mount) Identify() Mount {
	m.Unique = uniqueAt(m.Dir)
	return m
}

// uniqueAt returns the unique id of the mount at a directory; 0 before Linux 6.8, and
// for a mount of another user. It asks the kernel alone, never the server.
func uniqueAt(dir string) uint64 {
	var st unix.Statx_t
	const flags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT | unix.AT_STATX_DONT_SYNC
	err := unix.Statx(unix.AT_FDCWD, dir, flags, unix.STATX_MNT_ID_UNIQUE, &st)
	if err != nil || st.Mask&unix.STATX_MNT_ID_UNIQUE == 0 {
		return 0
	}
	return st.Mnt_id
}

// Gone reports whether the mount is no more.
func (m Mount) Gone() bool {
	mounts, err := Read()
	return err == nil && m.goneFrom(mounts, uniqueAt)
}

// goneFrom is Gone for these mounts, where uniqueAt tells who is uppermost at a
// directory.
func (m Mount) goneFrom(mounts []Mount, uniqueAt func(dir string) uint64) bool {
	same := func(other Mount) bool { return other.ID == m.ID && other.Device == m.Device }
	at := slices.IndexFunc(mounts, same)
	if at < 0 {
		return true
	}
	dir := mounts[at].Dir // another one where it was moved, or where a stranger has its numbers
	if top, found := topOf(mounts, dir); m.Unique == 0 || !found || !same(top) {
		return false // not told, or another one covers it
	}
	now := uniqueAt(dir)
	return now != 0 && now != m.Unique // it has the numbers of the one that went
}
