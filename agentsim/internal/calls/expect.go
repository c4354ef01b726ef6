package calls

import (
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/agentsim/internal/scenario"
	"github.com/goliathfs/goliathfs/agentsim/internal/strictyaml"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
	"github.com/goliathfs/goliathfs/vfs/agenttool/codes"
)

// expect is what must hold of a call, whatever the golden says.
type expect struct {
	Pos       strictyaml.Pos
	MaxTokens *int                         `yaml:"maxTokens"` // of each page
	Pages     *int                         `yaml:"pages"`
	Error     scenario.Code                `yaml:"error"`
	Contains  scenario.Texts               `yaml:"contains"` // in the texts shown, all pages together
	Lacks     scenario.Texts               `yaml:"lacks"`
	Files     map[string]scenario.FileText `yaml:"files"` // after it
}

// check compares a call that ended, with its pages and the error of the last,
// which is no result.
func (e *expect) check(shown []golden.Page, err error) error {
	if got := agenttool.CodeOf(err); got != codes.Code(e.Error) {
		switch {
		case e.Error == "":
			return fmt.Errorf("the call failed with %w; if that is meant, write expect: {error: %s}", err, got)
		case err == nil:
			return fmt.Errorf("the call succeeded where expect.error is %s", e.Error)
		}
		return fmt.Errorf("the call failed with %w where expect.error is %s", err, e.Error)
	}
	pages, texts := shown, make([]string, len(shown))
	for i, p := range shown {
		if texts[i] = p.Text; p.Failed {
			pages = shown[:i]
		}
	}
	for i, p := range pages {
		if e.MaxTokens != nil && p.Tokens > *e.MaxTokens {
			return fmt.Errorf("page %d costs %d tokens where expect.maxTokens is %d", i+1, p.Tokens, *e.MaxTokens)
		}
	}
	if e.Pages != nil && len(pages) != *e.Pages {
		return fmt.Errorf("the call gave %d pages where expect.pages is %d", len(pages), *e.Pages)
	}
	return replay.CheckParts("what was shown", "expect", strings.Join(texts, "\n"), e.Contains, e.Lacks)
}
