package vpath_test

import (
	"testing"

	"github.com/goliathfs/goliathfs/vfs/vpath"
)

func TestOfRepository(t *testing.T) {
	for name, want := range map[string]bool{
		".git": true, ".GIT": true, ".gIt": true, ".hg": true, ".HG": true, "HEAD": true, "head": true,
		".g\u200cit": true, "\ufeff.git": true, ".git\u206f": true, "H\u200dEAD": true,
		"git~1": true, "GIT~1": true, "hg~1": true, ".git.": true, ".git . .": true, ".git::$INDEX_ALLOCATION": true, "HEAD.": true,
		".gitignore": false, ".gitattributes": false, ".github": false, "git": false, "hg": false, ".hgignore": false,
		"git~2": false, "git~10": false, "HEAD.md": false, "HEADS": false, "AHEAD": false, "x.git": false, " .git": false,
		"": false, "…": false, "..": false,
	} {
		if got := vpath.OfRepository(name); got != want {
			t.Errorf("OfRepository(%q) = %v, want %v", name, got, want)
		}
	}
}
