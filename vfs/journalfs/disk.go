package journalfs

import (
	"fmt"
	"sync"
)

// disk brings what was added onto the disk, in a goroutine of its own, as soon as
// there is something.
type disk struct {
	mu      sync.Mutex
	wanted  uint64        // number of entries ever added; guarded by mu
	done    uint64        // number of those on disk; guarded by mu
	err     error         // why no more come; guarded by mu
	moved   chan struct{} // closed and replaced when done or err changes; guarded by mu
	work    chan struct{} // one value: there is something
	end     chan struct{} // closed by stop
	stopped chan struct{} // closed when the goroutine has ended
}

func (d *disk) start(j *Journal) {
	d.moved, d.work = make(chan struct{}), make(chan struct{}, 1)
	d.end, d.stopped = make(chan struct{}), make(chan struct{})
	go d.run(j)
}

// stop ends the goroutine, which a second call does not.
func (d *disk) stop() error {
	d.mu.Lock()
	select {
	case <-d.end:
	default:
		close(d.end)
	}
	d.mu.Unlock()
	<-d.stopped
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *disk) run(j *Journal) {
	defer close(d.stopped)
	for {
		select {
		case <-d.work:
		case <-d.end:
			return
		}
		d.mu.Lock()
		wanted := d.wanted
		d.mu.Unlock()
		err := j.syncFile()
		if err != nil {
			err = fmt.Errorf("the journal cannot be brought onto the disk: %w", err)
			j.fail(err)
		}
		d.mu.Lock()
		if err == nil {
			d.done = max(d.done, wanted)
		}
		d.err = err
		close(d.moved)
		d.moved = make(chan struct{})
		d.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// syncFile brings the file onto the disk, unless a fold has brought another one there
// in its place meanwhile.
func (j *Journal) syncFile() error {
	j.mu.Lock()
	file := j.w.file
	j.mu.Unlock()
	err := syncData(file)
	if err != nil {
		j.mu.Lock()
		defer j.mu.Unlock()
		if file != j.w.file {
			return nil
		}
	}
	return err
}

// add says that one more entry is in the file.
func (d *disk) add() {
	d.mu.Lock()
	d.wanted++
	d.mu.Unlock()
	select {
	case d.work <- struct{}{}:
	default:
	}
}

// added returns the number of entries that were ever added.
func (d *disk) added() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.wanted
}

// wait returns when the first n entries are on disk.
func (d *disk) wait(n uint64) error {
	for {
		d.mu.Lock()
		done, err, moved := d.done, d.err, d.moved
		d.mu.Unlock()
		if done >= n || err != nil {
			return err
		}
		select {
		case <-moved:
		case <-d.stopped:
			return nil // whoever closes the journal brings the rest
		}
	}
}
