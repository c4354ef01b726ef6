package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// maxPages bounds "pages: all", so that a store that never ends cannot hang a
// replay.
const maxPages = 10_000

// Run implements replay.Script.
func (s *script) Run(ctx context.Context, w *replay.World) error {
	if w.Tools == nil {
		return errors.New("there are no tools to call, name some in filesystem.tools")
	}
	limit, err := w.Scenario.ToolResultTokens()
	if err != nil {
		return err
	}
	for i := range s.Calls {
		c := &s.Calls[i]
		w.Begin(c.Conversation)
		if err := c.run(ctx, w, i+1, limit); err != nil {
			return replay.StepError(fmt.Sprintf("%d %s", i+1, c.Tool), c.Pos, err)
		}
	}
	return nil
}

// run runs one call and the calls for its further pages.
func (c *call) run(ctx context.Context, w *replay.World, number, limit int) error {
	input := c.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	real, err := w.Names.Resolve(input)
	if err != nil {
		return err
	}
	if c.Cancel {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	scope := agenttool.Scope{Conversation: c.Conversation, MaxTokens: limit}
	var pages []golden.Page
	var callErr error
	for {
		res, err := w.Tools.Call(ctx, scope, c.Tool, real)
		if err != nil {
			callErr = err
			pages = append(pages, golden.Page{Text: err.Error(), Tokens: w.Tokens(err.Error()), Failed: true})
			break
		}
		w.Names.See(res.Output)
		pages = append(pages, golden.Page{Text: w.Names.Text(res.Text), Tokens: res.Tokens, Limit: limit})
		next := res.Output.Next()
		if c.Pages != "all" || next == "" {
			break
		}
		if len(pages) == maxPages {
			return fmt.Errorf("there are more than %d pages, narrow the call", maxPages)
		}
		if real, err = withCursor(real, next); err != nil {
			return err
		}
	}
	head := []string{"input: " + w.Names.Input(input)}
	if c.Conversation != "" {
		head = append(head, fmt.Sprintf("conversation: %+q", c.Conversation))
	}
	if callErr != nil {
		head = append(head, "error: "+string(agenttool.CodeOf(callErr)))
	}
	w.Transcript.AddStep(fmt.Sprintf("%d %s", number, archive.Word(c.Tool)), head, pages)
	return c.Expect.check(results(pages), callErr)
}

// results leaves out the page that shows an error.
func results(pages []golden.Page) []golden.Page {
	if n := len(pages); n > 0 && pages[n-1].Failed {
		return pages[:n-1]
	}
	return pages
}

// withCursor continues a call: the cursor goes in, and the offset, which only
// says where the first page begins, goes out.
func withCursor(input json.RawMessage, cursor string) (json.RawMessage, error) {
	args := map[string]json.RawMessage{}
	if err := json.Unmarshal(input, &args); err != nil {
		return nil, fmt.Errorf("the input is no JSON object: %w", err)
	}
	delete(args, "offset")
	quoted, err := json.Marshal(cursor)
	if err != nil {
		return nil, err
	}
	args["cursor"] = quoted
	return json.Marshal(args)
}
