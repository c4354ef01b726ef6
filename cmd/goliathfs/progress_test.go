package main

import (
	"testing"
	"time"
)

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		files, bytes, total int64
		taken               time.Duration
		want                string
	}{
		{0, 0, 0, 0, "0 files, 0 MB, 0 files/s, 0.0 MB/s"},
		{120, 3_000_000, 0, 2 * time.Second, "120 files, 3 MB, 60 files/s, 1.5 MB/s"},
		{120, 3_000_000, 3400, 2 * time.Second, "120 of 3400 files, 3 MB, 60 files/s, 1.5 MB/s"},
		{12, 0, 10, time.Second, "12 of 12 files, 0 MB, 12 files/s, 0.0 MB/s"}, // some came after they were counted
	} {
		var p progress
		p.counts.Files.Store(c.files)
		p.counts.Bytes.Store(c.bytes)
		p.counts.Total.Store(c.total)
		if got := p.text(c.taken); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
