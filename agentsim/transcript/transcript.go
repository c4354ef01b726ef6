package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goliathfs/goliathfs/internal/reason"
)

// Format is the name of a form in which transcripts are written.
type Format string

// The formats.
const (
	ATIF       Format = "atif"        // Agent Trajectory Interchange Format, JSON
	ClaudeCode Format = "claude-code" // a session of Claude Code, JSON lines
	Codex      Format = "codex"       // a rollout of Codex, JSON lines
	MCPFrames  Format = "mcp-frames"  // messages of the Model Context Protocol, a line each
	OpenCode   Format = "opencode"    // what opencode export prints, JSON
	OpenHands  Format = "openhands"   // a trajectory of OpenHands, JSON or JSON lines
	OTel       Format = "otel"        // spans and events of generative AI in OTLP/JSON
	SWEAgent   Format = "swe-agent"   // a .traj file of SWE-agent, JSON
)

// reader reads one format.
type reader struct {
	format Format
	// detects reports whether the beginning of a transcript is of this format.
	detects func(head []byte) bool
	// read passes what a transcript tells to a collector. It returns errors of
	// reading only; what cannot be understood is damaged.
	read func(in io.Reader, c *collector) error
}

// readers are in the order in which they are asked: what has an unmistakable
// mark comes first.
func readers() []reader {
	return []reader{
		{ATIF, hasAll(`"schema_version"`, `ATIF-`), readATIF},
		{OTel, hasAny(`"resourceSpans"`, `"resourceLogs"`, `"resource_spans"`), readOTel},
		{Codex, hasAll(`"session_meta"`, `"payload"`), readCodex},
		{OpenCode, hasAll(`"ses_`, `"directory"`), readOpenCode},
		{SWEAgent, hasAny(`"trajectory"`, `"swe_agent_hash"`, `"swe_agent_version"`), readSWEAgent},
		{ClaudeCode, detectClaudeCode, readClaudeCode},
		{MCPFrames, hasAll(`"jsonrpc"`), readMCPFrames},
		{OpenHands, detectOpenHands, readOpenHands},
	}
}

func hasAll(marks ...string) func([]byte) bool {
	return func(head []byte) bool {
		return !slices.ContainsFunc(marks, func(m string) bool { return !strings.Contains(string(head), m) })
	}
}

func hasAny(marks ...string) func([]byte) bool {
	return func(head []byte) bool {
		return slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(string(head), m) })
	}
}

// Formats returns the formats, in order of their names.
func Formats() []Format {
	var all []Format
	for _, r := range readers() {
		all = append(all, r.format)
	}
	slices.Sort(all)
	return all
}

// HeadSize is how many bytes of the beginning of a transcript Detect needs.
const HeadSize = 64 << 10

// Detect returns the format of a transcript from its beginning, false when it is
// none of those known.
func Detect(head []byte) (Format, bool) {
	for _, r := range readers() {
		if r.detects(head) {
			return r.format, true
		}
	}
	return "", false
}

// Options adjust Read; nil or the zero value is the default.
type Options struct {
	// Format is that of the transcript; "" means that it is detected.
	Format Format
	// File is the name of the transcript in messages.
	File string
}

// Transcript is what one agent did with files.
type Transcript struct {
	Format  Format
	File    string
	Dir     string    // the working folder, "" when it is not told
	Calls   []Call    // of tools that may mean the same as ours, in order
	LeftOut []LeftOut // other tools
	Damaged []Damaged // what was passed over
}

// Call is one call of a tool.
type Call struct {
	Line   int             // of the transcript, one-based
	Tool   string          // as the agent called it
	Input  json.RawMessage // the arguments
	Shown  bool            // a result is told
	Result string          // what the model was shown
	Failed bool            // the result is marked as an error

	resultLine int
	file       *fileContent
}

// fileContent is what a transcript tells about a file beside the text that was shown.
type fileContent struct {
	content string
	line    int  // of the first line of content, one-based
	whole   bool // content is all of the file
}

// LeftOut is a tool whose calls are not taken.
type LeftOut struct {
	Tool  string
	Calls int
	Why   string // "" when it is no tool that works on files
}

// Damaged is a part of a transcript that cannot be read.
type Damaged struct {
	Line int
	Why  string
}

// ErrUnknownFormat is matched by the error of Read for a transcript of no known
// format.
var ErrUnknownFormat = errors.New("no known format")

// Read reads a transcript. It keeps the calls and results of file tools only, so
// the memory it takes does not grow with the rest. An error means that the
// transcript cannot be read at all.
func Read(in io.Reader, opts *Options) (*Transcript, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	buffered := bufio.NewReaderSize(in, HeadSize)
	if mark, _ := buffered.Peek(3); string(mark) == "\ufeff" { // some programs begin a file with it
		_, _ = buffered.Discard(3) // they are there
	}
	if o.Format == "" {
		head, err := buffered.Peek(HeadSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("the transcript cannot be read: %w", reason.Of(err))
		}
		found, ok := Detect(head)
		if !ok {
			return nil, fmt.Errorf("it is of %w, which are %s", ErrUnknownFormat, join(Formats()))
		}
		o.Format = found
	}
	i := slices.IndexFunc(readers(), func(r reader) bool { return r.format == o.Format })
	if i < 0 {
		return nil, fmt.Errorf("there is no format %q, use one of %s", o.Format, join(Formats()))
	}
	c := newCollector()
	if err := readers()[i].read(buffered, c); err != nil {
		return nil, fmt.Errorf("the transcript cannot be read: %w", reason.Of(err))
	}
	t := &Transcript{Format: o.Format, File: o.File}
	c.into(t)
	return t, nil
}

func join(formats []Format) string {
	var names []string
	for _, f := range formats {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}
