package layout

import (
	"errors"
	"fmt"
	"strings"
)

// The reasons for which a store cannot be opened, which package badgerfs explains.
var (
	ErrForeign       = errors.New("this is no goliathfs store")
	ErrFormat        = errors.New("the store has another format")
	ErrDamaged       = errors.New("the store is damaged")
	ErrLoss          = errors.New("acknowledged writes or files of the store are missing")
	ErrNeedsRecovery = errors.New("the store was not closed")
)

// NeedsRecovery is the error of a store that Badger would have to write to.
func NeedsRecovery() error {
	return fmt.Errorf("%w: its last writer was killed, so open it once for writing", ErrNeedsRecovery)
}

// lossError is the error of a whole store of which a part is gone.
type lossError struct{ text string }

func (e *lossError) Error() string { return e.text }

func (e *lossError) Is(target error) bool { return target == ErrDamaged || target == ErrLoss }

// damagedStore makes one.
func damagedStore(format string, args ...any) error {
	return &lossError{fmt.Sprintf("%v: %s, so restore a backup, or open a copy with AcceptLoss and take out what is left", ErrDamaged, fmt.Sprintf(format, args...))}
}

// BeyondRepair is the error of a store that Badger cannot open.
func BeyondRepair(format string, args ...any) error {
	return fmt.Errorf("%w: %s, so restore a backup", ErrDamaged, fmt.Sprintf(format, args...))
}

// Guard runs a call into Badger, which panics on some damage, and makes such a
// panic an error.
func Guard(call func() error) error {
	err := rescue(call)
	if p := (panicError{}); errors.As(err, &p) {
		return BeyondRepair("Badger gave up, %v", p)
	}
	return err
}

// panicError is the message of a panic.
type panicError struct{ message string }

func (p panicError) Error() string { return p.message }

// rescue returns what call returns, or its panic.
func rescue(call func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			message := strings.Join(strings.Fields(fmt.Sprint(r)), " ") // Badger's have several lines
			if strings.HasPrefix(message, "==") {                       // notes for Badger's makers
				message = "its index is damaged"
			}
			err = panicError{fmt.Sprintf("%.160s", message)}
		}
	}()
	return call()
}
