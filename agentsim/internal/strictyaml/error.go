package strictyaml

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
)

// Pos is a place in a file. A struct field of this type receives where the
// mapping that fills the struct begins.
type Pos struct {
	File   string
	Line   int // one-based
	Column int // one-based, in characters
}

// String returns the form that editors and terminals make clickable.
func (p Pos) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Errorf returns an error at this place.
func (p Pos) Errorf(format string, args ...any) error {
	return &Error{Pos: p, Message: fmt.Sprintf(format, args...)}
}

// At returns err at this place, or as it is if it is nil or has a place already.
func (p Pos) At(err error) error {
	var located *Error
	if err == nil || errors.As(err, &located) {
		return err
	}
	return p.Wrap(err)
}

// Wrap returns err with this place before it.
func (p Pos) Wrap(err error) error { return &Error{p, err.Error(), err} }

// Error is what is wrong, and where.
type Error struct {
	Pos     Pos
	Message string
	Err     error // the cause, or nil
}

// Error returns place and message.
func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// syntaxError puts the parser's finding into this package's form.
func (d *decoder) syntaxError(err error) error {
	var ye yaml.Error
	if !errors.As(err, &ye) || ye.GetToken() == nil {
		return Pos{d.file, d.firstLine, 1}.Errorf("this is not YAML: %v", err)
	}
	return d.pos(ye.GetToken()).Errorf("this is not YAML: %s", ye.GetMessage())
}
