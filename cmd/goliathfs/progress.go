package main

import (
	"context"
	"fmt"
	"io"
	"sync"
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
	begun  time.Time
	end    context.CancelFunc // of counting the total
	group  sync.WaitGroup     // of it
}

const progressEvery = 100 * time.Millisecond

func startProgress(w io.Writer) *progress {
	p := &progress{w: w, lines: make(chan string), done: make(chan struct{}), begun: time.Now(), end: func() {}}
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
			io.WriteString(terminal, clear+p.text(time.Since(p.begun)))
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

// total has the files counted, meanwhile, if there is someone to see it. Without a total
// the display goes on.
func (p *progress) total(ctx context.Context, count func(context.Context) error) {
	if !isTerminal(p.w) {
		return
	}
	ctx, p.end = context.WithCancel(ctx)
	p.group.Go(func() { _ = count(ctx) })
}

// text says how far it is after so long: files of the total, what was written, and how
// fast that goes.
func (p *progress) text(taken time.Duration) string {
	files, written, total := p.counts.Files.Load(), p.counts.Bytes.Load(), p.counts.Total.Load()
	of := ""
	if total > 0 {
		of = fmt.Sprintf(" of %d", max(total, files))
	}
	seconds := max(taken.Seconds(), 0.001)
	return fmt.Sprintf("%d%s files, %d MB, %.0f files/s, %.1f MB/s", files, of, written/1e6, float64(files)/seconds, float64(written)/1e6/seconds)
}

// line writes a line above the display.
func (p *progress) line(format string, args ...any) { p.lines <- fmt.Sprintf(format, args...) + "\n" }

// stop removes the display and waits for its end.
func (p *progress) stop() {
	p.end()
	p.group.Wait()
	close(p.lines)
	<-p.done
}
