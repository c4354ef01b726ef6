// Package tiktoken counts tokens as models of OpenAI do, for agenttool.Options.
// CountTokens and the like: with the vocabularies of those models, which it
// carries along and never fetches. It is for programs whose budgets are meant in
// such tokens; who is content with agenttool.EstimateTokens does not import it,
// and so does not carry its twelve megabytes.
//
// Models of other vendors cut texts otherwise. For them the estimate, which errs
// on the high side, is the better guess.
package tiktoken

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer"

	"github.com/goliathfs/goliathfs/vfs/agenttool"
)

// Encoding is the name of a vocabulary.
type Encoding string

// The encodings.
const (
	O200k  Encoding = "o200k"  // of GPT-4o and what came after it
	CL100k Encoding = "cl100k" // of GPT-4 and GPT-3.5
)

// Encodings returns the encodings.
func Encodings() []Encoding { return []Encoding{O200k, CL100k} }

// New returns a counter, which is safe for concurrent use. The first of an
// encoding takes some ten milliseconds to set its vocabulary up. An encoding that
// is not known is an error.
func New(e Encoding) (agenttool.TokenCounter, error) {
	names := map[Encoding]tokenizer.Encoding{O200k: tokenizer.O200kBase, CL100k: tokenizer.Cl100kBase}
	name, known := names[e]
	if !known {
		return nil, fmt.Errorf("there is no encoding %q, use one of %v", e, Encodings())
	}
	codec, err := tokenizer.Get(name)
	if err != nil {
		return nil, err
	}
	missed, err := uncounted(codec)
	if err != nil {
		return nil, err
	}
	return func(text string) int {
		total := 0
		for _, c := range missed {
			total += strings.Count(text, c)
		}
		for part := range parts(text) {
			n, err := codec.Count(part)
			if err != nil {
				return -1 // refused as a counter that fails
			}
			total += n
		}
		return total
	}, nil
}

// uncounted returns the characters that the vocabulary counts as nothing, such as
// U+007F, though a model is sent a token for each.
func uncounted(codec tokenizer.Codec) (missed []string, err error) {
	for c := range rune(utf8.RuneSelf) {
		n, err := codec.Count(string(c))
		if err != nil {
			return nil, err
		}
		if n == 0 {
			missed = append(missed, string(c))
		}
	}
	return missed, nil
}

// maxRun is the greatest number of bytes without white space that is looked at as
// a whole: the time that one word takes grows with the square of its length. Of
// what is longer a few tokens too many are counted.
const maxRun = 1024

// parts cuts a text where a run is longer than maxRun, and nowhere else.
func parts(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start, run := 0, 0 // of the part, and of the run, in text
		for i := 0; i < len(text); {
			size := 1
			if text[i] >= utf8.RuneSelf {
				_, size = utf8.DecodeRuneInString(text[i:])
			}
			// A run is of one kind: words between spaces, or spaces.
			if i > 0 && isSpace(text[i]) != isSpace(text[i-1]) {
				run = i
			}
			if i+size-run > maxRun {
				if !yield(text[start:i]) {
					return
				}
				start, run = i, i
			}
			i += size
		}
		yield(text[start:])
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// Names returns what a person may choose from: estimate, then the encodings.
func Names() []string {
	names := []string{Estimate}
	for _, e := range Encodings() {
		names = append(names, string(e))
	}
	return names
}

// Estimate is the name of agenttool.EstimateTokens.
const Estimate = "estimate"

// Named returns the counter that a person chose: one of Names.
func Named(name string) (agenttool.TokenCounter, error) {
	if name == Estimate {
		return agenttool.EstimateTokens, nil
	}
	if !slices.Contains(Names(), name) {
		return nil, fmt.Errorf("there is no tokenizer %q, use one of %s", name, strings.Join(Names(), ", "))
	}
	return New(Encoding(name))
}
