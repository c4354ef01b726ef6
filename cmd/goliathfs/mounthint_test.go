package main

import (
	"regexp"
	"testing"

	"github.com/goliathfs/goliathfs/cmd/goliathfs/internal/storeurl"
)

// TestHintWithoutMounts: what the command advises where nothing can be mounted are verbs
// that it has, with the store as it was named.
func TestHintWithoutMounts(t *testing.T) {
	u, err := storeurl.Parse("badger:./my store")
	if err != nil {
		t.Fatal(err)
	}
	text := errNoMounts(storeurl.Spec{URL: u}).Error()
	advised := regexp.MustCompile(`goliathfs (\w+) 'badger:\./my store'`).FindAllStringSubmatch(text, -1)
	if len(advised) != 3 {
		t.Fatalf("%q advises %q", text, advised)
	}
	for _, words := range advised {
		if cmd, _, err := newRoot().Find(words[1:]); err != nil || cmd.Name() != words[1] {
			t.Errorf("there is no verb %q: %v", words[1], err)
		}
	}
}
