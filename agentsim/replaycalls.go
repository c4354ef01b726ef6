package agentsim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/goliathfs/goliathfs/agentsim/internal/archive"
	"github.com/goliathfs/goliathfs/agentsim/turn"
	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// maxPages bounds "pages: all", so that a store that never ends cannot hang a
// replay.
const maxPages = 10_000

func (r *replayer) runCalls(ctx context.Context) error {
	if r.tools == nil {
		return errors.New("there are no tools to call, name some in filesystem.tools")
	}
	limit, err := r.callBudget()
	if err != nil {
		return err
	}
	for i := range r.sc.spec.Calls {
		c := &r.sc.spec.Calls[i]
		r.clock.tick()
		r.use(c.Conversation)
		if err := r.call(ctx, i+1, c, limit); err != nil {
			return stepError(fmt.Sprintf("%d %s", i+1, c.Tool), c.Pos, err)
		}
	}
	return nil
}

// callBudget is the budget that a turn would give the same call.
func (r *replayer) callBudget() (int, error) {
	if set := r.sc.spec.Budgets.ToolResultTokens; set != nil {
		return *set, nil
	}
	budgets, err := turn.Budgets{}.For(r.window())
	return budgets.ToolResultTokens, err
}

func (r *replayer) window() int {
	if r.sc.spec.Window == nil {
		return turn.DefaultWindow
	}
	return *r.sc.spec.Window
}

// call runs one call and the calls for its further pages.
func (r *replayer) call(ctx context.Context, number int, c *callSpec, limit int) error {
	input := c.Input
	if input == nil {
		input = json.RawMessage("{}")
	}
	real, err := r.names.resolve(input)
	if err != nil {
		return err
	}
	if c.Cancel {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(ctx)
		cancel()
	}
	scope := agenttool.Scope{Conversation: c.Conversation, MaxTokens: limit}
	var pages []page
	var callErr error
	for {
		res, err := r.tools.Call(ctx, scope, c.Tool, real)
		if err != nil {
			callErr = err
			pages = append(pages, page{text: err.Error(), tokens: agenttool.EstimateTokens(err.Error()), failed: true})
			break
		}
		r.names.see(res.Output)
		pages = append(pages, page{text: r.names.text(res.Text), tokens: res.Tokens, limit: limit})
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
	head := []string{"input: " + r.names.input(input)}
	if c.Conversation != "" {
		head = append(head, fmt.Sprintf("conversation: %+q", c.Conversation))
	}
	if callErr != nil {
		head = append(head, "error: "+string(agenttool.CodeOf(callErr)))
	}
	r.t.addStep(fmt.Sprintf("%d %s", number, archive.Word(c.Tool)), head, pages)
	return c.Expect.check(results(pages), callErr)
}

// results leaves out the page that shows an error.
func results(pages []page) []page {
	if n := len(pages); n > 0 && pages[n-1].failed {
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
