package blackbox

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// maxOutput is how much of an agent's output is kept, in bytes. More is read and goes
// nowhere: an agent that prints without end fills neither the memory nor the disk.
const maxOutput = 1 << 20

// beginning keeps of what is written as much as a replay does, and a bit more if there
// is more.
type beginning struct {
	kept    []byte
	written int64 // bytes, also of what is not kept
}

// Write implements io.Writer.
func (b *beginning) Write(p []byte) (int, error) {
	b.written += int64(len(p))
	b.kept = append(b.kept, p[:min(len(p), maxOutput+1-len(b.kept))]...)
	return len(p), nil
}

// output is one of an agent's two streams, which a goroutine reads until wait.
type output struct {
	name string
	file *os.File // what is read; the agent has the other end
	done chan struct{}
	text beginning // to be read when done is closed
}

// newOutput returns a stream, and the end of it that the agent writes to.
func newOutput(name string) (*output, *os.File, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("there is no pipe for the agent's output: %w", err)
	}
	o := &output{name: name, file: read, done: make(chan struct{})}
	go func() {
		defer close(o.done)
		_, _ = io.Copy(&o.text, read) // it ends with the agent, or when wait closes it
	}()
	return o, write, nil
}

// wait returns what was written. It is called when no process of the agent is left; one
// that could not be found may hold the other end, and is not waited for long.
func (o *output) wait() string {
	select {
	case <-o.done:
	case <-time.After(grace):
	}
	_ = o.file.Close() // it is only read
	<-o.done
	data := o.text.kept
	text := strings.ToValidUTF8(string(data[:min(len(data), maxOutput)]), "\ufffd")
	if len(data) > maxOutput {
		text += "\n… and more\n"
	}
	return strings.ReplaceAll(text, "\r\n", "\n")
}

// cut says that more was written than is kept, if it was. It is called after wait.
func (o *output) cut() string {
	if o.text.written <= maxOutput {
		return ""
	}
	return fmt.Sprintf("of %d bytes that it wrote to %s the first %d are kept", o.text.written, o.name, maxOutput)
}
