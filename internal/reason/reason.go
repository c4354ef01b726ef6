// Package reason takes from errors of the system why something failed, for sentences
// that say by themselves what was to be done with which file.
package reason

import (
	"io/fs"
	"net"
	"os"
)

// Of returns why an operation of the system failed, without the operation and the name
// that such an error begins with; any other error, and nil, as it is.
func Of(err error) error {
	for {
		switch e := err.(type) { // not errors.As: what others wrapped has words of theirs
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		case *net.OpError:
			err = e.Err
		case interface{ Unwrap() []error }:
			list := e.Unwrap()
			if len(list) != 1 { // else errors.Join, which had nothing to join
				return err
			}
			err = list[0]
		default:
			return err
		}
	}
}
