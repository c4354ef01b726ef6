package wire

import (
	"cmp"
	"fmt"
	"slices"
)

// Report is what a server was asked and answered.
type Report struct {
	// Conversations are in order of their scripts, whichever was asked first.
	Conversations []Conversation
	// Problems are requests that fitted nothing, endpoints that there are not,
	// scripts that cannot be.
	Problems []Problem
	// LeftOver are replies that were not asked for. When both are empty all went as
	// scripted.
	LeftOver []Problem
	// Clients are the programs that asked, each as it names itself and its version,
	// without what it says of the machine. A Recorder keeps none.
	Clients []string
}

// Problem is something that did not go as scripted.
type Problem struct {
	Script int // whose it is, from 0; NoScript for none
	Text   string
}

// NoScript is the script of a problem that is of none.
const NoScript = -1

// String is the sentence alone.
func (p Problem) String() string { return p.Text }

// Texts are the sentences of problems.
func Texts(problems []Problem) []string {
	var texts []string
	for _, p := range problems {
		texts = append(texts, p.Text)
	}
	return texts
}

// Conversation is one that was held.
type Conversation struct {
	Script    int    // its place among the scripts, from 0
	When      string // of the script
	Side      bool   // of the script
	Names     Names  // as Options.NewNames made it; nil without
	Exchanges []Exchange
}

// Exchange is one request and what it was answered.
type Exchange struct {
	Request *Request
	New     int // how many of the messages the conversation had before; those after are new
	// Replies are what was answered: the last one, and before it the errors and
	// cuts after which the client sent the same request again.
	Replies []Reply
	Tokens  Tokens
}

// Retries is how often the request was sent again.
func (x *Exchange) Retries() int { return max(0, len(x.Replies)-1) }

// Tokens is what a request costs, by part, counted over its decoded text.
type Tokens struct {
	System   int
	Tools    int   // names, descriptions and schemas
	Messages []int // each: its text, and names and arguments of its calls
}

// Total is the sum of all parts.
func (t *Tokens) Total() int {
	sum := t.System + t.Tools
	for _, n := range t.Messages {
		sum += n
	}
	return sum
}

// Count counts what a request shows the model, with a counter of one's own.
func (r *Request) Count(count func(text string) int) Tokens {
	t := Tokens{System: countText(r.System, count), Tools: countTools(r.Tools, count)}
	for i := range r.Messages {
		t.Messages = append(t.Messages, r.Messages[i].count(count))
	}
	return t
}

func countTools(tools []Tool, count func(string) int) int {
	n := 0
	for _, t := range tools {
		n += count(t.Name + "\n" + t.Description + "\n" + string(t.Schema))
	}
	return n
}

// countText counts nothing for no text, whatever the counter says of it.
func countText(text string, count func(string) int) int {
	if text == "" {
		return 0
	}
	return count(text)
}

func (m *Message) count(count func(string) int) int {
	n := countText(m.Text, count)
	for _, c := range m.Calls {
		n += count(c.Name + " " + string(c.Input))
	}
	return n
}

// FourBytes counts a token for each four bytes of a text. It is the counter
// where none is given.
func FourBytes(text string) int { return (len(text) + 3) / 4 }

// report collects what the table has.
func (t *table) report(problems []Problem) Report {
	r := Report{Problems: problems, LeftOver: t.leftOver()}
	ordered := slices.Clone(t.all)
	slices.SortStableFunc(ordered, func(a, b *conversation) int {
		return cmp.Or(cmp.Compare(a.script, b.script), cmp.Compare(a.run, b.run))
	})
	for _, c := range ordered {
		s := t.scripts[c.script]
		held := Conversation{Script: c.script, When: s.When, Side: s.Side, Names: c.names}
		for _, x := range c.exchanges {
			x.Replies = slices.Clone(x.Replies)
			held.Exchanges = append(held.Exchanges, x)
		}
		r.Conversations = append(r.Conversations, held)
	}
	return r
}

// problems collects sentences, each once, in order.
type problems struct{ counts map[Problem]int }

func (p *problems) add(problem Problem) {
	if p.counts == nil {
		p.counts = map[Problem]int{}
	}
	p.counts[problem]++
}

func (p *problems) list() []Problem {
	var list []Problem
	for problem, n := range p.counts {
		if n > 1 {
			problem.Text += fmt.Sprintf(" (%d times)", n)
		}
		list = append(list, problem)
	}
	slices.SortFunc(list, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Script, b.Script)) })
	return list
}
