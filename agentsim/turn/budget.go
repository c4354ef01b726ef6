package turn

import (
	"fmt"
	"math"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// DefaultWindow is the context window assumed where none is given, in tokens.
const DefaultWindow = 4096

// The output caps of the stages, in tokens.
const (
	planOutput      = 256
	argumentsOutput = 512
	answerOutput    = 384
	scribeOutput    = 192
)

func outputCap(s Stage) int {
	switch s {
	case StagePlan:
		return planOutput
	case StageArguments:
		return argumentsOutput
	case StageScribe:
		return scribeOutput
	}
	return answerOutput
}

// promptLimit is the most tokens that a prompt may cost: seven tenths of the
// window, and never so many that the output and a reserve for the provider's
// own framing would not fit.
func promptLimit(window int, stage Stage) int {
	reserve := max(128, window/10+(window%10+9)/10) // a tenth, rounded up
	return min(window/10*7+window%10*7/10, window-outputCap(stage)-reserve)
}

// framing is what a provider adds to a request, in tokens.
const framing = 8

// Budgets bound what files put into prompts, in tokens. Zero means the default
// that follows from the window.
type Budgets struct {
	// ToolResultTokens is the most that one result costs: by default an eighth of
	// the window, at most 800.
	ToolResultTokens int
	// RetrievedContextTokens is what all results in one prompt share: by default a
	// quarter of the window, at most 2,000.
	RetrievedContextTokens int
}

// For returns the budgets with the defaults for a window filled in, or an error
// when a budget is negative or a single result may cost more than all share.
func (b Budgets) For(window int) (Budgets, error) {
	if window < 1 {
		return b, fmt.Errorf("the window is %d tokens, set it to a positive number", window)
	}
	if err := b.check(); err != nil {
		return b, err
	}
	if b.ToolResultTokens == 0 {
		b.ToolResultTokens = max(1, min(800, window/8))
	}
	if b.RetrievedContextTokens == 0 {
		b.RetrievedContextTokens = max(1, min(2000, window/4))
	}
	return b, b.check()
}

// check refuses what is wrong in any window. Zero is a default, not known here.
func (b Budgets) check() error {
	switch {
	case b.ToolResultTokens < 0 || b.RetrievedContextTokens < 0:
		return fmt.Errorf("the budgets are %d and %d tokens, set them to positive numbers", b.ToolResultTokens, b.RetrievedContextTokens)
	case b.RetrievedContextTokens > 0 && b.ToolResultTokens > b.RetrievedContextTokens:
		return fmt.Errorf("toolResultTokens is %d, above the %d of retrievedContextTokens that all results share: lower it or raise the other", b.ToolResultTokens, b.RetrievedContextTokens)
	}
	return nil
}

// counter counts tokens and says how.
type counter struct {
	count agenttool.TokenCounter
	kind  string // estimate or tokenizer
}

func newCounter(count agenttool.TokenCounter) counter {
	if count == nil {
		return counter{agenttool.EstimateTokens, "estimate"}
	}
	return counter{count, "tokenizer"}
}

// total is what a request of these texts costs.
func (c counter) total(texts ...string) (int, error) {
	sum := framing
	for _, text := range texts {
		n := c.count(text)
		if n < 0 {
			return 0, fmt.Errorf("the token counter gave %d, a count cannot be negative", n)
		}
		sum += min(n, math.MaxInt-sum)
	}
	return sum, nil
}

// clip cuts text to the longest prefix of whole characters that, with mark
// after it, costs at most limit tokens; "" when not even the mark fits. With a
// counter that is not monotone the cut fits but need not be the longest.
func (c counter) clip(text, mark string, limit int) string {
	if c.count(text) <= limit {
		return text
	}
	low, high := 0, len(text) // a cut at low fits, unless it is 0
	for low < high {
		mid := (low + high + 1) / 2
		if c.count(text[:boundary(text, mid)]+mark) <= limit {
			low = mid
		} else {
			high = mid - 1
		}
	}
	if clipped := text[:boundary(text, low)] + mark; c.count(clipped) <= limit {
		return clipped
	}
	return ""
}

// boundary returns the greatest start of a character of s that is at most i.
func boundary(s string, i int) int {
	if i >= len(s) {
		return len(s)
	}
	for i > 0 && s[i]&0xC0 == 0x80 {
		i--
	}
	return i
}
