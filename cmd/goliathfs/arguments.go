package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// passwordsVariable is set for a process that --detach starts and that finds its
// passwords on standard input.
const passwordsVariable = "GOLIATHFS_PASSWORDS"

// takePasswords takes the passwords out of the URLs among the arguments of the process,
// also where others see them in its list. What stands behind "--" is for other programs.
// Before this has run, for a few milliseconds, others can see them.
func takePasswords(args []string, stdin io.Reader) (storeurl.Passwords, error) {
	var p storeurl.Passwords
	if os.Getenv(passwordsVariable) != "" {
		if err := json.NewDecoder(stdin).Decode(&p); err != nil {
			return p, fmt.Errorf("the process that started this one has given no passwords: %w", err)
		}
		return p, os.Unsetenv(passwordsVariable)
	}
	own := args
	if i := slices.Index(args, "--"); i >= 0 {
		own = args[:i]
	}
	var wrong error
	for i, arg := range own {
		clean, err := p.Take(arg)
		if err != nil && wrong == nil {
			wrong = usagef("%w", err)
		}
		if clean != arg {
			overwrite(arg, clean)
			own[i] = clean
		}
	}
	return p, wrong
}

// handPasswords has a process that runs this command again find the passwords on its
// standard input, where no one else sees them.
func handPasswords(ctx context.Context, child *exec.Cmd) error {
	p := storeurl.PasswordsIn(ctx)
	if len(p.Params) == 0 {
		return nil
	}
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	child.Env = append(os.Environ(), passwordsVariable+"=stdin")
	child.Stdin = bytes.NewReader(text)
	return nil
}
