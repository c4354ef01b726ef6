package vfs

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

// SearchOptions selects a page of the files that may hold a text.
type SearchOptions struct {
	// Text is what is looked for: valid UTF-8, never empty, without a line feed.
	Text string
	// Fold takes characters for equal that are so under Unicode simple case
	// folding, which maps each character to one: k, K and the Kelvin sign.
	Fold bool
	ListOptions
}

// Checked returns o with the default limit filled in, or an error that wraps
// fs.ErrInvalid. Backends call it first in Search.
func (o SearchOptions) Checked() (SearchOptions, error) {
	switch {
	case o.Text == "":
		return o, fmt.Errorf("%w: the text to search for is empty", fs.ErrInvalid)
	case strings.Contains(o.Text, "\n"):
		return o, fmt.Errorf("%w: the text to search for holds a line feed, search for one line of it", fs.ErrInvalid)
	case !utf8.ValidString(o.Text):
		return o, fmt.Errorf("%w: the text to search for is not valid UTF-8", fs.ErrInvalid)
	}
	var err error
	o.ListOptions, err = o.ListOptions.Checked()
	return o, err
}

// Searcher is implemented by a Backend that can tell, better than by reading
// every file, which files may hold a text.
type Searcher interface {
	// Search is List less files that cannot hold opts.Text: it returns every file
	// at or below dir whose content holds it and every file whose content cannot
	// be read as text; others may be among them, so the caller reads and looks. A
	// page may be short, or empty, while Next is set; then Next is the bound of
	// the next page: it sorts after opts.After, not before the last of Files, and
	// it is dir or begins with dir and "/". A change is seen by every search that
	// begins after Write or Remove returned.
	Search(ctx context.Context, dir string, opts SearchOptions) (Page, error)
}

// Search returns one page of the files at or below dir that may hold opts.Text:
// all that hold it and all that are no text, perhaps with others. Where b is no
// Searcher these are all files. Follow Page.Next until it is empty, also past
// pages that are short or empty. Errors: those of Backend.List, in a *fs.PathError.
func Search(ctx context.Context, b Backend, dir string, opts SearchOptions) (Page, error) {
	clean, err := begin(ctx, dir, vpath.Clean)
	if err != nil {
		return Page{}, wrap("search", dir, err)
	}
	if opts, err = opts.Checked(); err != nil {
		return Page{}, wrap("search", clean, err)
	}
	page, err := Inner{b}.Search(ctx, clean, opts)
	return page, wrap("search", clean, err)
}
