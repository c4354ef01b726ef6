package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionText(t *testing.T) {
	for _, test := range []struct {
		name string
		info debug.BuildInfo
		want string
	}{
		{"of nothing", debug.BuildInfo{GoVersion: "go1.2"}, "(unknown), go1.2"},
		{"of a release", debug.BuildInfo{GoVersion: "go1.2", Main: debug.Module{Version: "v1.0.0"}}, "v1.0.0, go1.2"},
		{"of a working tree", debug.BuildInfo{GoVersion: "go1.2", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: "abc"},
			{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"},
			{Key: "vcs.modified", Value: "true"},
		}}, "(devel), revision abc with changes, of 2026-01-02T03:04:05Z, go1.2"},
	} {
		if got := versionText(&test.info); got != test.want {
			t.Errorf("version %s: %q, want %q", test.name, got, test.want)
		}
	}
}
