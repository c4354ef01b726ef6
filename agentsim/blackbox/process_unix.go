//go:build unix

package blackbox

import (
	"os/exec"
	"syscall"
)

// ownGroup gives a process a group of its own, so that what it begins can be ended
// with it.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// endGroup asks a group to end, or makes it.
func endGroup(group int, now bool) {
	signal := syscall.SIGTERM
	if now {
		signal = syscall.SIGKILL
	}
	_ = syscall.Kill(-group, signal) // it may have ended
}

func endProcess(pid int) { _ = syscall.Kill(pid, syscall.SIGKILL) } // it may have ended
