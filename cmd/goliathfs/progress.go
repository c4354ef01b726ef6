package main

import (
	"fmt"
	"io"
	"time"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/transfer"
)

// progress shows on a terminal how far a copy is. Elsewhere it only passes on
// lines.
type progress struct {
	w      io.Writer
	counts transfer.Progress
	lines  chan string
	done   chan struct{} // closed when the display has ended
}

const progressEvery = 100 * time.Millisecond

func startProgress(w io.Writer) *progress {
	p := &progress{w: w, lines: make(chan string), done: make(chan struct{})}
	var tick <-chan time.Time // nil blocks for ever: no terminal, no display
	stop := func() {}
	if isTerminal(w) {
		ticker := time.NewTicker(progressEvery)
		tick, stop = ticker.C, ticker.Stop
	}
	go func() {
		defer close(p.done)
		defer stop()
		p.show(tick)
	}()
	return p
}

// show writes lines and the display until lines is closed.
func (p *progress) show(tick <-chan time.Time) {
	const clearLine = "\r\x1b[K"
	terminal, _ := unscreened(p.w)
	clear := "" // what removes the display, once there is one
	for {
		select {
		case <-tick:
			clear = clearLine
			fmt.Fprintf(terminal, "%s%d files, %d MB", clear, p.counts.Files.Load(), p.counts.Bytes.Load()/1e6)
		case line, ok := <-p.lines:
			if clear != "" {
				io.WriteString(terminal, clear)
			}
			io.WriteString(p.w, line)
			if !ok {
				return
			}
		}
	}
}

// line writes a line above the display.
func (p *progress) line(format string, args ...any) { p.lines <- fmt.Sprintf(format, args...) + "\n" }

// stop removes the display and waits for its end.
func (p *progress) stop() {
	close(p.lines)
	<-p.done
}
