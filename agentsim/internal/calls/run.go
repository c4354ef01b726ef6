package calls

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/internal/golden"
	"github.com/goliathfs/goliathfs/agentsim/internal/replay"
	"github.com/goliathfs/goliathfs/vfs"
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
		w.Begin(c.Conversation, c.Pos)
		if err := c.run(ctx, w, i+1, limit); err != nil {
			return replay.StepError(fmt.Sprintf("%d %s", i+1, c.Tool), c.Pos, err)
		}
	}
	return nil
}

// run runs one call and the calls for its further pages.
func (c *call) run(ctx context.Context, w *replay.World, number, limit int) error {
	name := fmt.Sprintf("%d %s", number, archive.Word(c.Tool))
	if lines, err := w.Change(ctx, c.Conversation, c.Change); err != nil {
		return err
	} else if lines != nil {
		w.Transcript.Add("change before "+name, strings.Join(lines, "\n")+"\n")
	}
	input := c.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	resolved, err := w.Names.Resolve(input, func(path string) (vfs.Revision, error) { return w.Latest(ctx, c.Conversation, path) })
	if err != nil {
		return err
	}
	pages, callErr, err := c.pages(ctx, w, resolved, limit)
	if err != nil {
		return err
	}
	head := []string{"input: " + w.Names.Input(input)}
	if c.Conversation != "" {
		head = append(head, fmt.Sprintf("conversation: %+q", c.Conversation))
	}
	if callErr != nil {
		head = append(head, "error: "+string(agenttool.CodeOf(callErr)))
	}
	w.Transcript.AddStep(name, head, pages)
	if err := c.Expect.check(pages, callErr); err != nil {
		return err
	}
	return w.CheckFiles(ctx, c.Conversation, c.Expect.Files)
}

// pages makes the call and those for further pages. An error of the tool is its
// last page, and callErr.
func (c *call) pages(ctx context.Context, w *replay.World, input json.RawMessage, limit int) (pages []golden.Page, callErr, err error) {
	if c.Cancel {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	scope := agenttool.Scope{Conversation: c.Conversation, MaxTokens: limit, CountTokens: w.Tokens}
	for {
		res, err := w.Tools.Call(ctx, scope, c.Tool, input)
		if err != nil {
			return append(pages, golden.Page{Text: err.Error(), Tokens: w.Tokens(err.Error()), Failed: true}), err, nil
		}
		w.Names.See(res.Output)
		pages = append(pages, golden.Page{Text: w.Names.Text(res.Text), Tokens: res.Tokens, Limit: limit})
		next := res.Output.Next()
		if c.Pages != "all" || next == "" {
			return pages, nil, nil
		}
		if len(pages) == maxPages {
			return nil, nil, fmt.Errorf("there are more than %d pages, narrow the call", maxPages)
		}
		if input, err = withCursor(input, next); err != nil {
			return nil, nil, err
		}
	}
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
