package calls

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// expect is what must hold of a call, whatever the golden says.
type expect struct {
	Pos       strictyaml.Pos
	MaxTokens *int          `yaml:"maxTokens"` // of each page
	Pages     *int          `yaml:"pages"`
	Error     scenario.Code `yaml:"error"`
	Contains  string        `yaml:"contains"` // somewhere in the texts shown
}

// check compares a call that ended, with its pages and the error of the last.
func (e *expect) check(pages []golden.Page, err error) error {
	if got := agenttool.CodeOf(err); got != codes.Code(e.Error) {
		switch {
		case e.Error == "":
			return fmt.Errorf("the call failed with %w; if that is meant, write expect: {error: %s}", err, got)
		case err == nil:
			return fmt.Errorf("the call succeeded where expect.error is %s", e.Error)
		}
		return fmt.Errorf("the call failed with %w where expect.error is %s", err, e.Error)
	}
	for i, p := range pages {
		if e.MaxTokens != nil && p.Tokens > *e.MaxTokens {
			return fmt.Errorf("page %d costs %d tokens where expect.maxTokens is %d", i+1, p.Tokens, *e.MaxTokens)
		}
	}
	if e.Pages != nil && len(pages) != *e.Pages {
		return fmt.Errorf("the call gave %d pages where expect.pages is %d", len(pages), *e.Pages)
	}
	for _, p := range pages {
		if strings.Contains(p.Text, e.Contains) {
			return nil
		}
	}
	if e.Contains != "" && (err == nil || !strings.Contains(err.Error(), e.Contains)) {
		return fmt.Errorf("nothing that was shown contains %q, as expect.contains asks", e.Contains)
	}
	return nil
}
