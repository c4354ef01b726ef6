package remotefs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// The length of a token, in bytes without the space around it.
const (
	minToken = 16
	maxToken = 1024
)

// ReadToken returns the token in a file: what it holds but for the space around
// it, 16 to 1,024 bytes. It refuses a file that others than its owner can read.
func ReadToken(file string) (string, error) {
	token, err := readToken(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no token file %s, name the one that the agent was started with: %w", file, fs.ErrNotExist)
	case err != nil:
		return "", fmt.Errorf("the token file %s cannot be used, name another one or mend it: %w", file, reason.Of(err))
	}
	return token, nil
}

func readToken(file string) (token string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", errors.New("other users can read it, set its mode to 0600")
	}
	b, err := io.ReadAll(io.LimitReader(f, 2*maxToken))
	if err != nil {
		return "", err
	}
	token = strings.TrimSpace(string(b))
	if len(token) < minToken || len(token) > maxToken {
		return "", fmt.Errorf("it holds %d bytes where %d to %d random ones belong", len(token), minToken, maxToken)
	}
	return token, nil
}
